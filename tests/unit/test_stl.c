/* STL files: what is read, and what is refused and why. */
#include "body/stl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FACET(a, b, c)                                                                             \
    " facet normal 0 0 1\n  outer loop\n   vertex " a "\n   vertex " b "\n   vertex " c            \
    "\n  endloop\n endfacet\n"
#define SOLID(facets) "solid a b\n" facets "endsolid a b\n"
#define ONE FACET("0 0 0", "1 0 0", "0 1e0 -.5")

static void put_32(char *to, uint32_t value)
{
    for (int k = 0; k < 4; k++)
        to[k] = (char)(value >> 8 * k);
}

/* A binary file of the triangles whose corners are given, to be freed. */
static char *binary(const char *head, uint32_t count, const float (*corner)[3], size_t *length)
{
    *length = 84 + 50 * (size_t)count;
    char *const bytes = calloc(1, *length + 1);
    assert_non_null(bytes);
    memcpy(bytes, head, strlen(head));
    put_32(bytes + 80, count);
    for (uint32_t k = 0; k < 9 * count; k++) {
        uint32_t bits;
        memcpy(&bits, &corner[k / 3][k % 3], sizeof bits);
        put_32(bytes + 84 + 50 * (k / 9) + 12 + 4 * (k % 9), bits);
    }
    return bytes;
}

static const float two[6][3] = {{0, 0, 0},     {1, 0, 0}, {0, 1, -0.5f},
                                {0, 1, -0.5f}, {1, 0, 0}, {1, -0.0f, 2}};

static void check_two(const struct stl *m)
{
    static const double vertex[4][3] = {{0, 0, 0}, {0, 1, -0.5}, {1, 0, 0}, {1, 0, 2}};
    static const uint32_t triangle[2][3] = {{0, 2, 1}, {1, 2, 3}};
    assert_int_equal(m->vertices, 4);
    assert_int_equal(m->triangles, 2);
    assert_memory_equal(m->vertex, vertex, sizeof vertex);
    assert_memory_equal(m->triangle, triangle, sizeof triangle);
}

static void binary_and_text_give_the_same(void **state)
{
    static const char *const texts[] = {
        SOLID(ONE FACET("0 1 -0.5", "1 0 0", "1 -0 2")),
        "\xef\xbb\xbf" SOLID(ONE FACET("0 1 -0.5", "1 0 0", "1 -0 2")), /* a mark of UTF-8 */
        "\n\n SOLID\n" ONE
        "endsolid\nsolid b\r\n" FACET("0 1 -0.5", "+1 0 0", "1 -0.0 2e0") "endsolid",
        "solid facet\nfacet normal nan nan nan outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 -.5 "
        "endloop endfacet FACET Normal 0 0 0 Outer Loop Vertex 0 1 -5e-1 vertex 1 0 0 vertex 1 0 "
        "2.\tendloop endfacet endsolid\n\n",
    };
    struct stl m;
    char reason[STL_REASON];
    size_t length;
    (void)state;
    char *const bytes = binary("made by a test", 2, two, &length);
    assert_true(stl_read(bytes, length, &m, reason));
    check_two(&m);
    stl_destroy(&m);
    memcpy(bytes, "solid", 5); /* many programs write that into binary files */
    assert_true(stl_read(bytes, length, &m, reason));
    check_two(&m);
    stl_destroy(&m);
    free(bytes);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        if (!stl_read(texts[k], strlen(texts[k]), &m, reason))
            fail_msg("text %zu%s", k, reason);
        check_two(&m);
        stl_destroy(&m);
    }
}

static void many_corners_become_few_vertices(void **state)
{
    enum { COUNT = 3000 };
    float(*const corner)[3] = calloc(3 * COUNT, sizeof *corner);
    struct stl m;
    char reason[STL_REASON];
    size_t length;
    (void)state;
    assert_non_null(corner);
    for (int k = 0; k < 3 * COUNT; k++)
        for (int a = 0; a < 3; a++)
            corner[k][a] = (float)((k * 7919 >> a) % 5) - 2;
    char *const bytes = binary("", COUNT, (const float(*)[3])corner, &length);
    assert_true(stl_read(bytes, length, &m, reason));
    assert_in_range(m.vertices, 5, 125);
    for (int k = 0; k < 3 * COUNT; k++)
        for (int a = 0; a < 3; a++)
            assert_true(m.vertex[m.triangle[k / 3][k % 3]][a] == corner[k][a]);
    stl_destroy(&m);
    free(bytes);
    free(corner);
}

static void refuse(const char *bytes, size_t length, const char *fragment)
{
    struct stl m;
    char reason[STL_REASON];
    char *const exact = malloc(length + 1); /* the sanitizer guards its end */
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    exact[length] = '\0';
    memset(&m, 0xa5, sizeof m);
    if (stl_read(exact, length, &m, reason))
        fail_msg("not refused: %s", fragment);
    if (!strstr(reason, fragment))
        fail_msg("'%s' does not say '%s'", reason, fragment);
    assert_true(!m.vertex && !m.triangle && !m.triangles);
    free(exact);
}

static void wrong_text_is_refused_where_it_is_wrong(void **state)
{
    static const struct {
        const char *text, *fragment;
    } wrong[] = {
        {"", " is empty"},
        {"mesh", "is no STL file: it has 4 bytes"},
        {"solid a\nendsolid a\n", " holds no triangles"},
        {"solid a\n" ONE, " ends in the middle, in line 9"},
        {"solid a\n facet normal 0 0", " ends in the middle, in line 2"},
        {"solid", " ends in the middle"},
        {"solid a\n" ONE "endsolid\nmore", ":10:1: 'more' where solid or the end of the file"},
        {"solid a\nfacets", ":2:1: 'facets' where facet or endsolid should be"},
        {"solid a\n facet norm", ":2:8: 'norm' where normal should be"},
        {"solid a\n facet normal 0 0 0 inner", "'inner' where outer should be"},
        {"solid a\n facet normal 0 0 0 outer ring", "'ring' where loop should be"},
        {"solid a\n facet normal 0 0 0 outer loop vertex 1 2 three",
         ":2:43: 'three' is not a number"},
        {"solid a\n facet normal 0 0 0 outer loop vertex 1 2 3x", "'3x' is not a number"},
        {"solid a\n facet normal 0 0 0 outer loop vertex 1 2 nan", "'nan' is not a number"},
        {"solid a\n facet normal 0 0 0 outer loop vertex 1 inf 2", "'inf' is not a number"},
        {"solid a\n facet normal 0 0 0 outer loop vertex 1 1e999 2", "too large for a number"},
        {"solid a\n facet normal 0 0 0 outer loop vertex 1 2", " ends in the middle"},
        {SOLID("facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 endloop endfacet "),
         "'endloop' where vertex should be"},
        {SOLID("facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 vertex 1 1 1 "
               "endloop endfacet "),
         "'vertex' where endloop should be"},
        {SOLID("facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop "),
         "'endsolid' where endfacet should be"},
        {"solid a\n\x01\x02", "' where facet or endsolid"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        refuse(wrong[k].text, strlen(wrong[k].text), wrong[k].fragment);
    refuse("solid a\0endsolid", 16, "is no STL file");
    refuse("\xff\xfes\0o\0l\0i\0d\0", 12, " is text in UTF-16 (save it in ASCII or UTF-8)");
}

static void wrong_binaries_are_refused(void **state)
{
    static float bad[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {1, 0, 0}, {1, 0, 2}};
    size_t length;
    (void)state;
    char *const bytes = binary("x", 2, two, &length);
    refuse(bytes, length - 1, "has 183 bytes, but should have 184 for the 2 triangles");
    refuse(bytes, length - 60, "should have 184");
    refuse(bytes, 83, "is no STL file: it has 83 bytes");
    put_32(bytes + 80, 3);
    refuse(bytes, length, "has 184 bytes, but should have 234 for the 3 triangles");
    put_32(bytes + 80, 0xffffffff);
    refuse(bytes, length, "should have 214748364834 for the 4294967295 triangles");
    put_32(bytes + 80, 0);
    refuse(bytes, 84, " holds no triangles");
    free(bytes);
    for (int k = 0; k < 2; k++) {
        bad[4][1] = k ? NAN : -INFINITY;
        char *const holed = binary("x", 2, (const float(*)[3])bad, &length);
        refuse(holed, length, ": triangle 2 of 2: y of corner 2 is no finite number");
        free(holed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_and_text_give_the_same),
        cmocka_unit_test(many_corners_become_few_vertices),
        cmocka_unit_test(wrong_text_is_refused_where_it_is_wrong),
        cmocka_unit_test(wrong_binaries_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
