/* The table of keys: complete, found by path, printed, and searched for the nearest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/keys.h"
#include "case/nearest.h"

static void every_row_is_complete(void **state)
{
    (void)state;
    for (const struct key *k = key_table; k->path; k++) {
        char pattern[KEYS_PATH], range[128], type[KEYS_TYPE];
        const int says = k->required + (k->fallback != NULL) + (k->otherwise != NULL);
        if (says != 1)
            fail_msg("%s: one of required, fallback and otherwise", k->path);
        if (!k->meaning || !k->example)
            fail_msg("%s: no meaning or example", k->path);
        if (keys_row(k->path) != k)
            fail_msg("%s: described twice", k->path);
        const char *face = strstr(k->path, "<face>");
        if (!face && (!keys_match(k->path, pattern) || strcmp(pattern, k->path) != 0))
            fail_msg("%s: not found by its own path", k->path);
        if (face && keys_match(k->path, pattern))
            fail_msg("%s: <face> is no face", k->path);
        const bool map = k->type == KEY_MAP || k->type == KEY_NAMES || type_is(k, TYPE_MAP);
        if (map != keys_inner(k->path))
            fail_msg("%s: a map has keys below it, others do not", k->path);
        const bool choice = k->type == KEY_CHOICE || k->type == KEY_CHOICES ||
                            k->type == KEY_ARRAYS || k->type == KEY_SHOWN ||
                            k->type == KEY_WATCHED || k->type == KEY_COLUMNS ||
                            k->type == KEY_AXIS || (type_is(k, TYPE_MAP) && k->type != KEY_VALUE);
        if (choice != (k->choices != NULL))
            fail_msg("%s: choices", k->path);
        if ((k->type == KEY_COLUMNS) != (k->alone != NULL))
            fail_msg("%s: words that stand alone", k->path);
        type_text(k, type, sizeof type);
        if (strlen(type) + 1 >= sizeof type)
            fail_msg("%s: its type is too long: %s", k->path, type);
        range_text(k, range, sizeof range);
        const bool numeric = (!map || k->type == KEY_VALUE) && !choice && k->type != KEY_RANGE &&
                             k->type != KEY_EMPTY && k->type != KEY_TEXT &&
                             k->type != KEY_CHECKSUM && k->type != KEY_BODY &&
                             k->type != KEY_SCALAR;
        if (numeric != (*range != '\0'))
            fail_msg("%s: range", k->path);
        if (k->within && (k->size || !map))
            fail_msg("%s: only a map without a value is within another", k->path);
        if (k->late && !k->size && !k->write)
            fail_msg("%s: nothing is read late", k->path);
        const char *dot = strrchr(k->path, '.');
        if (dot) {
            char parent[KEYS_PATH];
            snprintf(parent, sizeof parent, "%.*s", (int)(dot - k->path), k->path);
            if (!keys_row(parent))
                fail_msg("%s: its map is not in the table", k->path);
        }
    }
}

/* Bytes of the member that holds a value of this type; 0: of any size. */
static size_t member_bytes(enum key_type type)
{
    switch (type) {
    case KEY_NUMBER:
    case KEY_AUTO:
    case KEY_PHYSICAL:
    case KEY_WALL:
        return sizeof(double);
    case KEY_VECTOR:
    case KEY_POSITION:
    case KEY_AXIS:
        return 3 * sizeof(double);
    case KEY_RANGE:
    case KEY_POINT:
        return 2 * sizeof(double);
    case KEY_INTEGERS:
    case KEY_RANKS:
        return 3 * sizeof(int);
    case KEY_INTERVAL:
    case KEY_STEP:
    case KEY_DUE:
        return sizeof(int64_t);
    case KEY_CHOICES:
    case KEY_ARRAYS:
        return sizeof(unsigned);
    case KEY_PLANE:
    case KEY_BODY:
    case KEY_SCALAR:
        return sizeof(int);
    case KEY_TEXT:
        return sizeof(char *);
    case KEY_CHECKSUM:
        return sizeof(uint64_t);
    default:
        return 0;
    }
}

static void members_fit_their_type(void **state)
{
    (void)state;
    for (const struct key *k = key_table; k->path; k++) {
        const size_t bytes = member_bytes(k->type);
        const bool whole = k->type == KEY_CHOICE || k->type == KEY_WATCHED ||
                           k->type == KEY_SHOWN || k->type == KEY_INTEGER;
        if (k->size && !k->write && bytes && k->size != bytes)
            fail_msg("%s: its member has %zu bytes, not %zu", k->path, k->size, bytes);
        if (whole && k->size != sizeof(bool) && k->size != sizeof(int) &&
            k->size != sizeof(int64_t))
            fail_msg("%s: no member for a whole number has %zu bytes", k->path, k->size);
    }
}

static void paths_are_matched(void **state)
{
    char pattern[KEYS_PATH];
    (void)state;
    assert_true(keys_match("fluid.viscosity", pattern));
    assert_string_equal(pattern, "fluid.viscosity");
    assert_true(keys_match("faces.ymax.wall.velocity", pattern));
    assert_string_equal(pattern, "faces.<face>.wall.velocity");
    assert_true(keys_match("faces.x", pattern));
    assert_true(keys_match("output.series.any-name_1.every", pattern));
    assert_string_equal(pattern, "output.series.*.every");
    assert_true(keys_match("output", pattern));
    assert_true(keys_match("bodies.a.shape.union.b.difference.c.sphere.radius", pattern));
    assert_string_equal(pattern, "bodies.*.shape.sphere.radius");
    assert_false(keys_match("bodies.a.shape.union.b.wall", pattern));
    assert_true(keys_match("scalars.t.initial.shapes.a.value", pattern));
    assert_string_equal(pattern, "scalars.*.initial.shapes.*.value");
    assert_true(keys_match("scalars.t.initial.shapes.a.union.b.sphere.radius", pattern));
    assert_string_equal(pattern, "bodies.*.shape.sphere.radius");
    assert_false(keys_match("scalars.t.initial.shapes.a.wall", pattern));
    assert_false(keys_match("faces.top", pattern));
    assert_false(keys_match("fluid.visc", pattern));
    assert_false(keys_match("fluid.viscosity.x", pattern));
    assert_false(keys_match("fluid.", pattern));
    assert_false(keys_match(".fluid", pattern));
    assert_false(keys_match("output.series..every", pattern));
}

static void ranges_are_said_in_words(void **state)
{
    char text[128];
    (void)state;
    range_text(keys_row("fluid.viscosity"), text, sizeof text);
    assert_string_equal(text, "above 0");
    range_text(keys_row("fluid.velocity"), text, sizeof text);
    assert_string_equal(text, "above 0, at most 0.577");
    range_text(keys_row("run.threads"), text, sizeof text);
    assert_string_equal(text, "1 to 1024");
    range_text(keys_row("initial.velocity"), text, sizeof text);
    assert_string_equal(text, "magnitude at most 0.577");
    range_text(keys_row("solver.collision"), text, sizeof text);
    assert_string_equal(text, "");
}

static void keys_are_printed_by_prefix(void **state)
{
    static const struct {
        const char *prefix, *held; /* held: in what is printed; NULL: nothing is */
    } cases[] = {
        {NULL, "output.images.*.range"},
        {"", "units.dx"},
        {"fluid", "fluid.length"},
        {"fluid.v", "fluid.velocity"},
        {"faces.ymax", "wall.velocity"},
        {"output.series.mine.every", "output.series.*.every"},
        {"nothing", NULL},
        {"fluid.viscosities", NULL},
    };
    int rows = 0;
    (void)state;
    for (const struct key *k = key_table; k->path; k++)
        rows++;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&text, &size);
        assert_non_null(to);
        const int count = keys_print(to, cases[i].prefix);
        fclose(to);
        assert_int_equal(count > 0, cases[i].held != NULL);
        assert_int_equal(size > 0, cases[i].held != NULL);
        if (cases[i].held)
            assert_non_null(strstr(text, cases[i].held));
        if (i < 2)
            assert_int_equal(count, rows);
        else
            assert_true(count < rows);
        free(text);
    }
}

static void distances_count_edits(void **state)
{
    char longest[80];
    (void)state;
    assert_int_equal(edit_distance("", ""), 0);
    assert_int_equal(edit_distance("trt", "trt"), 0);
    assert_int_equal(edit_distance("tert", "trt"), 1);
    assert_int_equal(edit_distance("trt", "ttr"), 1);
    assert_int_equal(edit_distance("every", "evrey"), 1);
    assert_int_equal(edit_distance("kitten", "sitting"), 3);
    assert_int_equal(edit_distance("", "abc"), 3);
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(edit_distance(longest, "a"), INT_MAX);
    assert_int_equal(edit_distance("a", longest), INT_MAX);
}

static void the_nearest_key_is_found(void **state)
{
    static const char *const cases[][2] = {
        {"fluid.viscosty", "did you mean fluid.viscosity?"},
        {"viscosity", "did you mean fluid.viscosity?"},
        {"fluids.viscosity", "did you mean fluid"},
        {"solver.viscosity", "did you mean fluid.viscosity?"},
        {"solvr", "did you mean solver?"},
        {"threads", "did you mean run.threads?"},
        {"faces.zmaxx", "did you mean faces.zmax?"},
        {"output.fields.a.precison", "did you mean output.fields.a.precision?"},
        {"fluid.qqqqqq", "known in fluid: viscosity, reynolds, velocity, length"},
        {"qqqqqq", "known: units, domain"},
        {"faces.qqqqqq", "known in faces: xmin"},
        {"solver.density", "did you mean units.density or initial.density?"},
        {"output.every", "known in output: log, series"},
        {"solver.qqqqqq", "known in solver: collision, magic"},
        {"solver.smagorinsky", "did you mean solver.subgrid.smagorinsky?"},
        /* things with names: only their own keys */
        {"bodies.ball.center", "known in bodies.ball: shape, mesh, image, wall"},
        {"bodies.ball.rate", "did you mean bodies.ball.rotation.rate? known in bodies.ball: shape"},
        {"bodies.ball.sphere.radius", "did you mean bodies.ball.shape.sphere? known in"},
        {"bodies.ball.file", "did you mean bodies.ball.mesh.file or bodies.ball.image.file?"},
        {"bodies.b.shape.union.a.center", "known in bodies.b.shape.union.a: box, sphere"},
        {"bodies.b.shape.union.a.box.form", "did you mean bodies.b.shape.union.a.box.from?"},
        {"faces.xmax.value", "did you mean faces.xmax.velocity.value or faces.xmax.pressure.value? "
                             "known in faces.xmax: "
                             "wall"},
        {"faces.y.pressure.pressure", "known in faces.y.pressure: value, density"},
        {"patches.hole.type", "known in patches.hole: face, rectangle"},
        {"output.series.k.qqqqqq", "known in output.series.k: every, of"},
        {"scalars.t.initial.shapes.a.spere", "did you mean scalars.t.initial.shapes.a.sphere?"},
        {"scalars.t.initial.shapes.a.valu", "did you mean scalars.t.initial.shapes.a.value?"},
        {"scalars.t.prandl", "did you mean scalars.t.prandtl?"},
        {"faces.xmin.wall.scalars.t.vale", "did you mean faces.xmin.wall.scalars.t.value?"},
        {"run.steps.qqqqqq", "run.steps has no keys below it"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char advice[KEYS_PATH];
        nearest_key(cases[i][0], advice, sizeof advice);
        if (strncmp(advice, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("%s: %s", cases[i][0], advice);
    }
}

/* docs/cases.md ends with what `tagflow keys` prints. TAGFLOW_SOURCE_ROOT names the source tree. */
static void the_manual_has_the_table(void **state)
{
    const char *root = getenv("TAGFLOW_SOURCE_ROOT");
    char path[4096], *text = NULL;
    static char manual[1 << 18];
    size_t size = 0;
    (void)state;
    if (!root)
        skip();
    snprintf(path, sizeof path, "%s/docs/cases.md", root);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    manual[fread(manual, 1, sizeof manual - 1, file)] = '\0';
    fclose(file);
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    keys_print(to, NULL);
    fclose(to);
    if (!strstr(manual, text))
        fail_msg("the table in docs/cases.md is not that of `tagflow keys`");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),      cmocka_unit_test(members_fit_their_type),
        cmocka_unit_test(paths_are_matched),          cmocka_unit_test(ranges_are_said_in_words),
        cmocka_unit_test(keys_are_printed_by_prefix), cmocka_unit_test(distances_count_edits),
        cmocka_unit_test(the_nearest_key_is_found),   cmocka_unit_test(the_manual_has_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
