/* What the fuzz targets share; see fuzz.h. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/sections.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);

enum { SAID = 1 << 19 }; /* `tagflow keys` alone says 137 KB */

static struct {
    size_t length;
    char text[SAID + 1];
} said;

void fuzz_wrong(const char *format, ...)
{
    va_list list;
    dprintf(STDERR_FILENO, "\nfuzz: ");
    va_start(list, format);
    vdprintf(STDERR_FILENO, format, list);
    va_end(list);
    dprintf(STDERR_FILENO, "\nfuzz: said: %s\n", said.text);
    abort();
}

static ssize_t take(void *cookie, const char *data, size_t size)
{
    (void)cookie;
    if (said.length + size > SAID)
        fuzz_wrong("more than %d bytes said", SAID);
    memcpy(said.text + said.length, data, size);
    said.length += size;
    said.text[said.length] = '\0';
    return (ssize_t)size;
}

/* libFuzzer and the sanitizers hold on to the real stderr. */
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    FILE *caught = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
    if (!caught || setvbuf(caught, NULL, _IOLBF, 4096) != 0)
        fuzz_wrong("cannot catch stderr");
    stderr = caught;
    stdout = caught;
    return 0;
}

void said_clear(void)
{
    fflush(stderr);
    said.length = 0;
    said.text[0] = '\0';
}

const char *said_text(void)
{
    fflush(stderr);
    return said.text;
}

void said_check_lines(void)
{
    fflush(stderr);
    for (const char *c = said.text; c < said.text + said.length; c++)
        if (*c != '\n' && (*c < ' ' || *c > '~'))
            fuzz_wrong("a message holds byte 0x%02x", (unsigned char)*c);
    if (said.length && said.text[said.length - 1] != '\n')
        fuzz_wrong("half a line");
}

void said_check(enum status s)
{
    static const char prefix[] = "tagflow: ";
    said_check_lines();
    if (!s && said.length)
        fuzz_wrong("status OK, but a message");
    if (!s)
        return;
    const char *end = strchr(said.text, '\n');
    if (strncmp(said.text, prefix, strlen(prefix)) != 0 || !end || end[1])
        fuzz_wrong("status %d and not one line that begins with \"%s\"", s, prefix);
}

void said_check_place(const char *text, size_t length)
{
    long line = 0, column = 0, lines = 1, longest = 1, run = 0;
    int end = 0;
    said_check_lines();
    if (sscanf(said.text, "tagflow: " FUZZ_PATH ":%ld:%ld: %n", &line, &column, &end) != 2 ||
        !end) {
        if (strncmp(said.text, "tagflow: --set '", 16) != 0)
            fuzz_wrong("a message without place");
        return;
    }
    /* libyaml breaks lines at CR, NEL, LS and PS too: bytes that may belong to one count as one */
    for (size_t i = 0; i < length; i++) {
        const bool breaks = strchr("\n\r\x85\xa8\xa9", text[i]) && text[i];
        lines += breaks;
        run = text[i] == '\n' ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    /* what is missing at the end of an unfinished last line, libyaml misses in the next */
    if (line < 1 || line > lines + (length && text[length - 1] != '\n') || column < 1 ||
        column > longest + 1)
        fuzz_wrong("the place %ld:%ld is outside the text (%ld lines)", line, column, lines);
}

static char *copy(const void *data, size_t size, size_t room)
{
    char *to = malloc(room ? room : 1);
    if (!to)
        fuzz_wrong("no memory");
    memcpy(to, data, size);
    return to;
}

void fuzz_cut(const uint8_t *data, size_t size, struct fuzz_input *in)
{
    static const char mark[] = "--set ";
    const size_t skip = strlen(mark);
    *in = (struct fuzz_input){0};
    while (in->set_count < FUZZ_SETS && size >= skip && !memcmp(data, mark, skip)) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t line = end ? (size_t)(end - data) : size;
        char *set = copy(data + skip, line - skip, line - skip + 1);
        set[line - skip] = '\0';
        for (char *c = set; *c; c++) /* a line feed within an argument */
            *c = *c == '\v' ? '\n' : *c;
        in->set[in->set_count++] = set;
        data += line + (end != NULL);
        size -= line + (end != NULL);
    }
    in->text = copy(data, size, size);
    in->length = size;
}

void fuzz_cut_free(struct fuzz_input *in)
{
    for (int i = 0; i < in->set_count; i++)
        free(in->set[i]);
    free(in->text);
}

static bool is_zero(const struct flow_case *c)
{
    const unsigned char *bytes = (const unsigned char *)c;
    for (size_t i = 0; i < sizeof *c; i++)
        if (bytes[i])
            return false;
    return true;
}

enum status fuzz_read(const struct fuzz_input *in, struct flow_case *c)
{
    said_clear();
    memset(c, 0xa5, sizeof *c);
    const enum status s = case_read(FUZZ_PATH, in->text, (long)in->length, in->set_count,
                                    (const char *const *)in->set, c);
    said_check(s);
    if (s == STATUS_USAGE)
        said_check_place(in->text, in->length);
    if (s && !is_zero(c))
        fuzz_wrong("status %d, but the case is not zeroed", s);
    if (!s && !c->resolved)
        fuzz_wrong("no resolved text");
    return s;
}

/* Two structs, each with the members that the rows of a map name. They must be equal. */
struct pair {
    const void *a, *b;
};

static void same_keys(const char *row, unsigned kind, struct pair p);

/* The members at this offset. */
static struct pair at(struct pair p, size_t offset)
{
    return (struct pair){(const char *)p.a + offset, (const char *)p.b + offset};
}

/* Numbers are compared bit by bit: -0 is not 0. */
static void same_bytes(const struct key *key, struct pair p, size_t size)
{
    if (memcmp(p.a, p.b, size) != 0)
        fuzz_wrong("the resolved text changes %s", key->path);
}

static void same_text(const struct key *key, struct pair p)
{
    const char *const a = *(char *const *)p.a, *const b = *(char *const *)p.b;
    if (!a != !b || (a && strcmp(a, b) != 0))
        fuzz_wrong("the resolved text changes %s", key->path);
}

static void same_signal(const struct key *key, struct pair p)
{
    const struct case_signal *const a = p.a, *const b = p.b;
    const size_t size = (size_t)a->points * sizeof *a->times;
    if (a->kind != b->kind || a->points != b->points || a->duration != b->duration ||
        (size && (memcmp(a->times, b->times, size) || memcmp(a->values, b->values, size))))
        fuzz_wrong("the resolved text changes the signal at %s", key->path);
    same_keys("force.sine", ALL_KINDS, p); /* these rows are the same everywhere */
    same_keys("force.table", ALL_KINDS, p);
}

static void same_stop(struct pair p)
{
    const struct case_stop *const a = p.a, *const b = p.b;
    if (a->given != b->given || strcmp(a->name, b->name) != 0 || a->series != b->series ||
        a->column != b->column)
        fuzz_wrong("the resolved text changes what stops the run");
    same_keys("run.stop", ALL_KINDS, p);
}

/* The keys of the maps directly below `row`, which are all in one struct. */
static void same_maps(const char *row, struct pair p)
{
    for (const struct key *k = keys_child(row, NULL); k; k = keys_child(row, k))
        if (k->type == KEY_MAP || k->type == KEY_VALUE)
            same_keys(k->path, ALL_KINDS, p);
}

/* What scalars meet: the member is an array, or a pointer to one or to none. */
static void same_walls(const struct key *key, struct pair p)
{
    const struct case_scalar_wall *a, *b;
    p = at(p, key->at);
    if (key->size == sizeof a) {
        memcpy(&a, p.a, sizeof a);
        memcpy(&b, p.b, sizeof b);
        if (!a != !b)
            fuzz_wrong("the resolved text changes whether %s is there", key->path);
        p = (struct pair){a, b};
    }
    for (size_t k = 0; p.a && k < CASE_SCALARS; k++) {
        const struct pair wall = at(p, k * sizeof *a);
        same_bytes(key, wall, offsetof(struct case_scalar_wall, signal));
        same_signal(key, at(wall, offsetof(struct case_scalar_wall, signal)));
    }
}

static void same_initial(const struct key *key, struct pair p)
{
    /* `given` changes: a resolved text gives all initial values */
    const size_t first = offsetof(struct case_scalar_initial, earlier);
    same_bytes(key, at(p, first), offsetof(struct case_scalar_initial, part_count) - first);
    same_keys(key->path, ALL_KINDS, p); /* parts */
}

static void same_opening(struct pair p)
{
    const struct case_face *const a = p.a, *const b = p.b;
    if (a->kind != b->kind || a->table_components != b->table_components)
        fuzz_wrong("the resolved text changes an opening");
    same_maps("faces.<face>", p);
}

static void same_shape(struct pair p)
{
    if (((const struct case_shape *)p.a)->kind != ((const struct case_shape *)p.b)->kind)
        fuzz_wrong("the resolved text changes the kind of a shape");
    same_maps("bodies.*.shape", p);
    same_keys("bodies.*.shape", ALL_KINDS, p); /* parts, and how it is placed */
}

static void same_patch(struct pair p)
{
    if (((const struct case_patch *)p.a)->shape != ((const struct case_patch *)p.b)->shape)
        fuzz_wrong("the resolved text changes the shape of a patch");
    same_keys("patches.*.rectangle", ALL_KINDS, p);
    same_keys("patches.*.disc", ALL_KINDS, p);
    same_keys("patches.*.mask", ALL_KINDS, p);
    same_opening(at(p, offsetof(struct case_patch, opening)));
}

static void same_body(struct pair p)
{
    const struct case_body *const a = p.a, *const b = p.b;
    if (a->image.format != b->image.format || a->image.label_count != b->image.label_count)
        fuzz_wrong("the resolved text changes an image");
    same_shape(at(p, offsetof(struct case_body, shape)));
    same_keys("bodies.*.mesh", ALL_KINDS, at(p, offsetof(struct case_body, mesh)));
    same_keys("bodies.*.image", ALL_KINDS, at(p, offsetof(struct case_body, image)));
}

/* A thing of the map whose row is `key`. */
static void same_thing(const struct key *key, struct pair p)
{
    unsigned kind = ALL_KINDS;
    if (strcmp(p.a, p.b) != 0)
        fuzz_wrong("the resolved text changes a name in %s", key->path);
    if (key->read == shape_read)
        same_shape(p);
    if (key->read == patch_read)
        same_patch(p);
    if (key->read == body_read)
        same_body(p);
    if (key->read == scalar_part_read)
        same_shape(at(p, offsetof(struct case_scalar_part, shape)));
    if (key->read == refine_read) {
        const struct case_refine *const a = p.a, *const b = p.b;
        if (a->of != b->of || a->level != b->level)
            fuzz_wrong("the resolved text changes a region of finer cells");
        same_shape(at(p, offsetof(struct case_refine, shape)));
    }
    if (key->read == series_read) {
        same_bytes(key, at(p, offsetof(struct case_series, of)), sizeof(unsigned));
        kind = series_kinds(p.a);
    }
    if (key->read != shape_read)
        same_keys(keys_below(key->path, "*").text, kind, p);
}

static void same_things(const struct key *key, struct pair p)
{
    const struct things a = things_of(key, p.a), b = things_of(key, p.b);
    if (a.count != b.count)
        fuzz_wrong("the resolved text changes the number of %s", key->path);
    for (size_t i = 0; i < (size_t)a.count; i++)
        same_thing(key, at((struct pair){a.first, b.first}, i * a.size));
}

/* The value of a key, whose member is at p; a map in place of a word is in the same struct. */
static void same_value(const struct key *key, struct pair p)
{
    if (key->write == scalar_initial_write) {
        same_initial(key, at(p, key->at));
        return;
    }
    if (key->write == signal_write)
        same_signal(key, at(p, key->at));
    else if (key->write == stop_write)
        same_stop(at(p, key->at));
    else if (key->type == KEY_TEXT && key->size)
        same_text(key, at(p, key->at));
    else
        same_bytes(key, at(p, key->at), key->size);
    if (key->type == KEY_OR_MAP && key->write != stop_write)
        same_keys(key->path, ALL_KINDS, p);
    if (key->beside)
        same_bytes(key, at(p, key->beside),
                   key->type == KEY_DUE                                ? sizeof(double)
                   : key->type == KEY_LABELS || key->type == KEY_SHOWN ? sizeof(int)
                   : key->type == KEY_ARRAYS                           ? sizeof(unsigned)
                                                                       : sizeof(bool));
}

/* The keys of these kinds whose rows are directly below `row`. */
static void same_keys(const char *row, unsigned kind, struct pair p)
{
    for (const struct key *k = keys_child(row, NULL); k; k = keys_child(row, k)) {
        if (k->where && !(k->where & kind))
            continue;
        if (k->write == scalar_walls_write)
            same_walls(k, p);
        else if (k->type == KEY_NAMES)
            same_things(k, p);
        else
            same_value(k, p);
        if (k->within && k->type != KEY_OR_MAP)
            same_keys(k->path, kind, p);
    }
}

static void same_case(struct pair p)
{
    const struct flow_case *const a = p.a, *const b = p.b;
    if (strcmp(a->name, b->name) != 0)
        fuzz_wrong("the case's name changes");
    if (a->units.given != b->units.given)
        fuzz_wrong("the resolved text changes units.given");
    same_keys("", ALL_KINDS, p); /* things with names */
    for (const struct key *k = keys_child("", NULL); k; k = keys_child("", k))
        if (k->type == KEY_MAP && strcmp(k->path, "initial") != 0)
            same_keys(k->path, ALL_KINDS, p);
    same_keys("initial", ALL_KINDS, at(p, offsetof(struct flow_case, initial)));
    for (size_t f = 0; f < 6; f++)
        same_opening(at(p, offsetof(struct flow_case, faces) + f * sizeof *a->faces));
}

void fuzz_check_resolved(const struct flow_case *c)
{
    struct fuzz_input again;
    struct flow_case d;
    fuzz_cut((const uint8_t *)c->resolved, strlen(c->resolved), &again);
    if (again.set_count || fuzz_read(&again, &d))
        fuzz_wrong("the resolved text does not read back:\n%s", c->resolved);
    same_case((struct pair){c, &d});
    if (strcmp(c->resolved, d.resolved) != 0)
        fuzz_wrong("resolved:\n%sresolves to:\n%s", c->resolved, d.resolved);
    case_destroy(&d);
    fuzz_cut_free(&again);
}
