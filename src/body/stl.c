/* STL files; see stl.h. Format: 3D Systems, StereoLithography Interface Specification (1989). */
#include "body/stl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"

/* Bytes of a binary file: header and count, offset of the count, a triangle (normal, corners, 2
 * more), offset of its corners. */
enum { HEAD = 84, COUNT_AT = 80, FACET = 50, CORNERS_AT = 12 };

/* Indices of corners are 32-bit. */
#define TRIANGLES_MAX ((size_t)UINT32_MAX / 3)

struct stl_corners {
    double (*at)[3];
    size_t count;
};

static uint32_t little_32(const char *bytes)
{
    const unsigned char *const b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double little_float(const char *bytes)
{
    const uint32_t bits = little_32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool read_binary(const char *bytes, size_t triangles, struct stl_corners *c,
                        char reason[STL_REASON])
{
    static const char axes[] = "xyz";
    c->at = malloc(3 * triangles * sizeof *c->at);
    if (!c->at)
        return false;
    for (size_t t = 0; t < triangles; t++)
        for (int k = 0; k < 9; k++) {
            const double value = little_float(bytes + HEAD + FACET * t + CORNERS_AT + 4 * k);
            if (!isfinite(value)) {
                snprintf(reason, STL_REASON,
                         ": triangle %zu of %zu: %c of corner %d is no finite number", t + 1,
                         triangles, axes[k % 3], k / 3 + 1);
                return false;
            }
            c->at[c->count + (size_t)k / 3][k % 3] = value + 0.0;
            if (k == 8)
                c->count += 3;
        }
    return true;
}

/* Position in an ASCII file: words between blanks, lines for messages. */
struct scanner {
    const char *next, *line_begin; /* after the word; start of its line */
    const char *word;
    size_t length; /* of the word; 0 at the end of the text */
    int64_t line;
    char *reason;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static void next_word(struct scanner *s)
{
    const char *c = s->next;
    for (; is_blank(*c); c++)
        if (*c == '\n') {
            s->line++;
            s->line_begin = c + 1;
        }
    s->word = c;
    while (*c && !is_blank(*c))
        c++;
    s->length = (size_t)(c - s->word);
    s->next = c;
}

static bool word_is(const struct scanner *s, const char *what)
{
    return s->length == strlen(what) && !strncasecmp(s->word, what, s->length);
}

/* "FILE:3:7: 'word' WHAT", or that the file ends too soon. */
static bool wrong(const struct scanner *s, const char *what)
{
    char word[TEXT_QUOTE], quoted[TEXT_QUOTE];
    const int length = s->length < sizeof word ? (int)s->length : (int)sizeof word - 1;
    snprintf(word, sizeof word, "%.*s", length, s->word);
    if (s->length)
        snprintf(s->reason, STL_REASON, ":%lld:%lld: %s %s", (long long)s->line,
                 (long long)(s->word - s->line_begin) + 1, quote_text(word, quoted), what);
    else
        snprintf(s->reason, STL_REASON, " ends in the middle, in line %lld (is it whole?)",
                 (long long)s->line);
    return false;
}

static bool expect(struct scanner *s, const char *what)
{
    char text[48];
    next_word(s);
    if (word_is(s, what))
        return true;
    snprintf(text, sizeof text, "where %s should be", what);
    return wrong(s, text);
}

static bool read_number(struct scanner *s, double *value)
{
    const char *end;
    next_word(s);
    if (!s->length)
        return wrong(s, "");
    const char *const problem = number_parse(s->word, &end, value);
    if (problem)
        return wrong(s, problem);
    return end == s->next ? true : wrong(s, "is not a number");
}

static bool read_corner(struct scanner *s, struct stl_corners *c)
{
    if (!ARRAY_ROOM(c->at, c->count))
        return false;
    double *const at = c->at[c->count];
    if (!expect(s, "vertex"))
        return false;
    for (int a = 0; a < 3; a++) {
        if (!read_number(s, &at[a]))
            return false;
        at[a] += 0.0; /* no -0 */
    }
    c->count++;
    return true;
}

/* Reads a facet after the word facet. Normals may be anything: those of triangles without area are
 * often nan. */
static bool read_facet(struct scanner *s, struct stl_corners *c)
{
    if (!expect(s, "normal"))
        return false;
    for (int a = 0; a < 3; a++) {
        next_word(s);
        if (!s->length)
            return wrong(s, "");
    }
    if (!expect(s, "outer") || !expect(s, "loop"))
        return false;
    for (int k = 0; k < 3; k++)
        if (!read_corner(s, c))
            return false;
    return expect(s, "endloop") && expect(s, "endfacet");
}

/* Skips the rest of the line, a solid's name, which may be anything. */
static void skip_line(struct scanner *s)
{
    s->next += strcspn(s->next, "\n");
}

static bool read_ascii(const char *text, struct stl_corners *c, char reason[STL_REASON])
{
    struct scanner s = {.next = text, .line_begin = text, .line = 1, .reason = reason};
    for (next_word(&s); s.length; next_word(&s)) {
        if (!word_is(&s, "solid"))
            return wrong(&s, "where solid or the end of the file should be");
        skip_line(&s);
        for (next_word(&s); word_is(&s, "facet"); next_word(&s))
            if (!read_facet(&s, c))
                return false;
        if (!word_is(&s, "endsolid"))
            return wrong(&s, "where facet or endsolid should be");
        skip_line(&s);
    }
    return true;
}

/* Order by coordinates; equal corners in the order of the file. */
static int compare_corners(const void *a, const void *b, void *corners)
{
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const double *const p = ((const double(*)[3])corners)[i], *const q =
                                                                  ((const double(*)[3])corners)[j];
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k])
            return p[k] < q[k] ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* Makes one vertex of corners with equal coordinates. False: out of memory. */
static bool merge(const struct stl_corners *c, struct stl *m)
{
    uint32_t *const order = malloc(c->count * sizeof *order);
    bool done = false;
    m->triangles = c->count / 3;
    m->triangle = malloc(m->triangles * sizeof *m->triangle);
    m->vertex = malloc(c->count * sizeof *m->vertex);
    if (!order || !m->triangle || !m->vertex)
        goto out;
    for (size_t k = 0; k < c->count; k++)
        order[k] = (uint32_t)k;
    qsort_r(order, c->count, sizeof *order, compare_corners, c->at);
    for (size_t k = 0; k < c->count; k++) {
        const double *const at = c->at[order[k]];
        if (!k || memcmp(at, m->vertex[m->vertices - 1], sizeof *m->vertex) != 0)
            memcpy(m->vertex[m->vertices++], at, sizeof *m->vertex);
        m->triangle[order[k] / 3][order[k] % 3] = (uint32_t)(m->vertices - 1);
    }
    done = true;
out:
    free(order);
    return done;
}

/* Bytes of the mark with which some programs begin text in UTF-8. */
static size_t mark_length(const char *bytes)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(bytes, mark, sizeof mark - 1) ? 0 : sizeof mark - 1;
}

/* Is the file binary, and how many triangles has it? False: it is no STL file, with the reason. */
static bool look(const char *bytes, size_t length, bool *binary, size_t *triangles,
                 char reason[STL_REASON])
{
    size_t blank = 0;
    *binary = false;
    if (!length) {
        snprintf(reason, STL_REASON, " is empty");
        return false;
    }
    *triangles = length < HEAD ? 0 : little_32(bytes + COUNT_AT);
    if (length >= HEAD && (uint64_t)length == HEAD + FACET * (uint64_t)*triangles) {
        *binary = true;
        return true;
    }
    if (length >= 2 && (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2))) {
        snprintf(reason, STL_REASON, " is text in UTF-16 (save it in ASCII or UTF-8)");
        return false;
    }
    blank = mark_length(bytes);
    while (is_blank(bytes[blank]))
        blank++;
    const bool text = strlen(bytes) == length && !strncasecmp(bytes + blank, "solid", 5);
    if (text)
        return true;
    if (length < HEAD)
        snprintf(reason, STL_REASON,
                 " is no STL file: it has %zu bytes (a binary one has 84 and 50 for each triangle) "
                 "and is not text that begins with solid",
                 length);
    else
        snprintf(reason, STL_REASON,
                 " has %zu bytes, but should have %llu for the %zu triangles that it says, and is "
                 "not text that begins with solid (is it whole, is it STL?)",
                 length, HEAD + (unsigned long long)FACET * *triangles, *triangles);
    return false;
}

bool stl_read(const char *bytes, size_t length, struct stl *m, char reason[STL_REASON])
{
    struct stl_corners c = {0};
    size_t triangles = 0;
    bool binary, done = false;
    *m = (struct stl){0};
    *reason = '\0';
    if (!look(bytes, length, &binary, &triangles, reason))
        return false;
    if (length / FACET > TRIANGLES_MAX) {
        snprintf(reason, STL_REASON, " is too large (at most %zu triangles)", TRIANGLES_MAX);
        return false;
    }
    if (binary && triangles ? !read_binary(bytes, triangles, &c, reason)
                            : !binary && !read_ascii(bytes + mark_length(bytes), &c, reason))
        goto out;
    if (!c.count) {
        snprintf(reason, STL_REASON, " holds no triangles");
        goto out;
    }
    done = merge(&c, m);
out:
    free(c.at);
    if (!done)
        stl_destroy(m);
    return done;
}

void stl_destroy(struct stl *m)
{
    free(m->vertex);
    free(m->triangle);
    *m = (struct stl){0};
}
