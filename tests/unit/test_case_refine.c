/* Key refine: what is read, its defaults, how levels follow from wishes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advice/advice.h"
#include "case/case.h"
#include "case/keys.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define BOX "domain: {cells: [64, 32, 32]}\n"
#define FLUID "fluid: {viscosity: 0.1}\n"
#define CLOSED "faces: {x: periodic, y: wall, z: periodic}\n"
#define RUN "run: {steps: 1000}\n"
#define BALL "bodies: {ball: {shape: {sphere: {center: [20, 16, 16], radius: 4}}}}\n"
#define PLAIN BOX FLUID CLOSED RUN BALL
#define REGION "refine: {a: {level: 1, box: {to: [32, 32, 32]}}}\n"

/* What was said on stderr. */
static char said[8192];
static int saved;
static FILE *file;

static void capture(void)
{
    file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
}

static void release(void)
{
    fflush(NULL);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
}

static enum status read_case(const char *text, const char *set, struct flow_case *c)
{
    capture();
    const enum status s =
        case_read("dir/case.yaml", text, (long)strlen(text), set != NULL, &set, c);
    release();
    return s;
}

static void must_read(const char *text, const char *set, struct flow_case *c)
{
    if (read_case(text, set, c))
        fail_msg("%s", said);
}

/* One line, and it holds every fragment ("a|b"). */
static void must_say(const char *fragments)
{
    char copy[512];
    const char *const newline = strchr(said, '\n');
    snprintf(copy, sizeof copy, "%s", fragments);
    char *rest = copy;
    for (char *f = strsep(&rest, "|"); f; f = strsep(&rest, "|"))
        if (!newline || newline[1] || !strstr(said, f))
            fail_msg("expected one line with '%s', got: %s", f, said);
}

static void a_case_without_regions_has_one_level(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(PLAIN, NULL, &c);
    assert_int_equal(c.levels, 1);
    assert_int_equal(c.refine_count, 0);
    assert_null(strstr(c.resolved, "refine"));
    case_destroy(&c);
    must_read(PLAIN, "refine={}", &c);
    assert_int_equal(c.levels, 1);
    assert_null(strstr(c.resolved, "refine"));
    case_destroy(&c);
}

static void boxes_and_shapes_are_read(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(PLAIN "refine:\n"
                    "  wake: {level: 1, box: {from: [8, 4.5, 0], to: [60, 28, 32]}}\n"
                    "  all: {level: 2, box: {}}\n"
                    "  tip: {level: 4, shape: {capsule: {from: [9, 6, 12], to: [9, 10, 12], "
                    "radius: 5}, move: [0, 1, 0]}}\n",
              NULL, &c);
    assert_int_equal(c.levels, 5);
    assert_int_equal(c.refine_count, 3);
    const struct case_refine *const r = c.refines;
    assert_string_equal(r[0].name, "wake");
    assert_int_equal(r[0].level, 1);
    assert_int_equal(r[0].of, REFINE_box);
    assert_true(r[0].from[0] == 8 && r[0].from[1] == 4.5 && r[0].from[2] == 0);
    assert_true(r[0].to[0] == 60 && r[0].to[1] == 28 && r[0].to[2] == 32);
    assert_true(r[1].from[0] == 0 && r[1].to[0] == 64 && r[1].to[2] == 32);
    assert_int_equal(r[2].of, REFINE_shape);
    assert_int_equal(r[2].shape.kind, SHAPE_capsule);
    assert_true(r[2].shape.radius == 5 && r[2].shape.move[1] == 1);
    assert_string_equal(r[2].place, "dir/case.yaml:9:3");
    case_destroy(&c);
}

static void lengths_may_have_units(void **state)
{
    struct flow_case c;
    (void)state;
    must_read("units: {dx: 2 cm}\n" PLAIN
              "refine: {a: {level: 3, around: ball, distance: 8 cm, behind: 0.3 m, before: 1}}\n",
              NULL, &c);
    assert_true(c.refines[0].distance == 4);
    assert_true(fabs(c.refines[0].behind - 15) < 1e-12);
    assert_true(c.refines[0].before == 1);
    case_destroy(&c);
}

static void a_region_around_a_body_has_defaults(void **state)
{
    struct flow_case c;
    (void)state;
    for (int level = 1; level <= 8; level++) {
        char set[64];
        snprintf(set, sizeof set, "refine.a={level: %d, around: ball}", level);
        must_read(PLAIN, set, &c);
        const struct case_refine *const r = c.refines;
        assert_int_equal(c.levels, level + 1);
        assert_int_equal(r->of, REFINE_around);
        assert_int_equal(r->body, 0);
        assert_true(r->distance == 4 / pow(2, level));
        assert_true(r->behind == r->distance && r->before == r->distance);
        case_destroy(&c);
    }
    must_read(PLAIN, "refine.a={level: 2, around: ball, distance: 3, behind: 9}", &c);
    assert_true(c.refines[0].distance == 3);
    assert_true(c.refines[0].behind == 9 && c.refines[0].before == 3);
    case_destroy(&c);
}

static void the_stream_follows_from_the_flow(void **state)
{
#define OPEN(velocity)                                                                             \
    BOX FLUID RUN BALL                                                                             \
        "faces: {xmin: wall, xmax: wall, ymin: slip, ymax: {velocity: {value: " velocity           \
        "}}, zmin: pressure, zmax: wall}\n"
    static const struct {
        const char *text, *set;
        double stream[3];
    } cases[] = {
        {PLAIN, NULL, {1, 0, 0}},
        {PLAIN, "initial={flow: uniform, velocity: [0.03, 0, -0.04]}", {0.6, 0, -0.8}},
        {PLAIN, "refine.a.stream=y", {0, 1, 0}},
        {PLAIN, "refine.a.stream=[0, -3, 4]", {0, -0.6, 0.8}},
        {OPEN("[0, -0.05, 0]"), NULL, {0, -1, 0}},
        {OPEN("[0, 0.05, 0]"), NULL, {1, 0, 0}}, /* the fluid leaves there */
        {OPEN("[0, -0.05, 0]"), "initial={flow: uniform, velocity: [0, 0, 0.1]}", {0, 0, 1}},
        {PLAIN,
         "patches={p: {face: ymin, disc: {center: [8, 8], radius: 4}, velocity: {value: [0, 0.04, "
         "0.03]}}, q: {face: ymax, disc: {center: [8, 8], radius: 4}, outflow: {}}}",
         {0, 0.8, 0.6}},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[2048];
        struct flow_case c;
        snprintf(text, sizeof text, "%s%s", cases[i].text,
                 "refine: {a: {level: 1, around: ball}}\n");
        must_read(text, cases[i].set, &c);
        const double *const v = c.refines[0].stream;
        for (int a = 0; a < 3; a++)
            if (fabs(v[a] - cases[i].stream[a]) > 1e-15)
                fail_msg("case %zu: stream %g %g %g", i, v[0], v[1], v[2]);
        case_destroy(&c);
    }
}

static void the_level_follows_from_cells_across(void **state)
{
    /* a plate of 3 x 10 x 20 cells in a box of 64 x 32 x 32; a cylinder from end to end */
#define PLATE                                                                                      \
    BOX FLUID CLOSED RUN "bodies: {b: {shape: {box: {from: [9, 9, 2], to: [12, 19, 22]}}}}\n"
#define ROD                                                                                        \
    BOX FLUID CLOSED RUN "bodies: {b: {shape: {cylinder: {center: [9, 9, 9], radius: 4}}}}\n"
    static const struct {
        const char *text, *set;
        int level;
    } cases[] = {
        {PLATE, "{around: b, cells_across: 20}", 1}, /* 10 cells along y */
        {PLATE, "{around: b, cells_across: 20.1}", 2},
        {PLATE, "{around: b, cells_across: 10.1}", 1},
        {PLATE, "{around: b, cells_across: 2560}", 8},
        {PLATE, "{around: b, cells_across: 12, stream: y}", 2}, /* 3 cells along x */
        {PLATE, "{around: b, cells_across: 12, stream: [0.6, 0.1, -0.7]}", 2},
        {ROD, "{around: b, cells_across: 60}", 3}, /* 8 cells along y; z does not count */
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char set[256];
        struct flow_case c;
        snprintf(set, sizeof set, "refine.a=%s", cases[i].set);
        must_read(cases[i].text, set, &c);
        assert_int_equal(c.refines[0].level, cases[i].level);
        assert_true(c.refines[0].cells_across > 0);
        assert_true(c.refines[0].distance == 4 / pow(2, cases[i].level));
        case_destroy(&c);
    }
}

/* A flat plate of length 100 at 0.05 and viscosity 1e-4: Re 5e4, c_f = 0.027 / Re^(1/7). */
static void the_level_follows_from_y_plus(void **state)
{
    static const char *const sets[] = {
        "fluid={viscosity: 1e-4, velocity: 0.05, length: 100}",
        /* the length of the body along the stream, the velocity of the flow at step 0 */
        "fluid={viscosity: 1e-4}",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(sets); i++)
        for (double wish = 0.2; wish < 12; wish *= 1.07) {
            char text[1024];
            struct flow_case c;
            snprintf(text, sizeof text,
                     "domain: {cells: [200, 64, 64]}\n" FLUID CLOSED RUN
                     "initial: {flow: uniform, velocity: [0.05, 0, 0]}\n"
                     "bodies: {b: {shape: {box: {from: [20, 20, 20], to: [120, 24, 40]}}}}\n"
                     "refine: {a: {around: b, y_plus: %.17g}}\n",
                     wish);
            must_read(text, sets[i], &c);
            const double shear = 0.05 * sqrt(0.027 / pow(5e4, 1.0 / 7) / 2);
            const double finest = 0.5 * shear / 1e-4; /* y+ on level 0 */
            const int level = c.refines[0].level;
            assert_true(finest / pow(2, level) <= wish * (1 + 1e-12));
            assert_true(finest / pow(2, level - 1) > wish * (1 - 1e-12));
            assert_true(c.refines[0].y_plus == wish);
            case_destroy(&c);
        }
}

/* The resolved case has the level, too, and reads back to the same text and the same regions. */
static void a_resolved_case_reads_back(void **state)
{
    static const char *const sets[] = {
        NULL,
        "refine={a: {level: 2, around: ball, distance: 0.3, behind: 1, before: 7.7, stream: [1, 2, "
        "3]}}",
        "refine={a: {around: ball, cells_across: 33.3, stream: [0.1, 0.7, 0.3]}}",
        "refine={a: {around: ball, y_plus: 0.01}, b: {level: 3, shape: {union: {x: {sphere: "
        "{center: "
        "[9, 9, 9], radius: 3}}, y: {torus: {center: [9, 9, 9], radius: 6, tube: 2}}}, rotate: "
        "[10, "
        "20, 30]}}}",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(sets); i++) {
        struct flow_case c, again;
        must_read(PLAIN REGION "initial: {flow: uniform, velocity: [0.05, 0.01, 0.02]}\n", sets[i],
                  &c);
        must_read(c.resolved, NULL, &again);
        assert_string_equal(again.resolved, c.resolved);
        assert_int_equal(again.levels, c.levels);
        assert_int_equal(again.refine_count, c.refine_count);
        for (int k = 0; k < c.refine_count; k++) {
            struct case_refine *const a = &c.refines[k], *const b = &again.refines[k];
            assert_int_equal(a->level, b->level);
            assert_true(a->cells_across == b->cells_across && a->y_plus == b->y_plus);
            assert_memory_equal(a->stream, b->stream, sizeof a->stream);
            assert_memory_equal(a->from, b->from, sizeof a->from);
            assert_memory_equal(a->to, b->to, sizeof a->to);
            assert_true(a->distance == b->distance && a->behind == b->behind &&
                        a->before == b->before);
            assert_int_equal(a->shape.kind, b->shape.kind);
        }
        case_destroy(&c);
        case_destroy(&again);
    }
}

/* Where a level comes from may change on a restart, the level may not. */
static void levels_do_not_change_on_a_restart(void **state)
{
    static const struct {
        const char *before, *now;
        bool goes;
    } changes[] = {
        {"{level: 3, around: ball}", "{level: 3, around: ball}", true},
        {"{level: 3, around: ball}", "{around: ball, cells_across: 60}", true},
        {"{around: ball, cells_across: 60}", "{around: ball, cells_across: 59}", true},
        {"{around: ball, cells_across: 60}", "{around: ball, cells_across: 65}", false},
        {"{level: 3, around: ball}", "{level: 2, around: ball, distance: 0.5}", false},
        {"{level: 3, around: ball}", "{level: 3, around: ball, distance: 0.6}", false},
        {"{level: 3, around: ball}", "{level: 3, around: ball, behind: 0.6}", false},
        {"{level: 3, around: ball}", "{level: 3, box: {to: [8, 8, 8]}}", false},
        {"{level: 3, box: {to: [9, 8, 8]}}", "{level: 3, box: {to: [8, 8, 8]}}", false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(changes); i++) {
        struct flow_case before, now;
        char set[256];
        snprintf(set, sizeof set, "refine.a=%s", changes[i].before);
        must_read(PLAIN, set, &before);
        snprintf(set, sizeof set, "refine.a=%s", changes[i].now);
        must_read(PLAIN, set, &now);
        capture();
        const enum status s = case_same_flow(before.resolved, now.resolved, "whose");
        release();
        assert_int_equal(s, changes[i].goes ? STATUS_OK : STATUS_USAGE);
        if (s)
            must_say("refine.a|it may not change on a restart");
        case_destroy(&before);
        case_destroy(&now);
    }
}

static void mistakes_get_one_line(void **state)
{
    static const struct {
        const char *set, *says;
    } mistakes[] = {
        {"refine=1", "refine is '1'; expected a map"},
        {"refine.a=1", "refine.a is '1'; expected a map"},
        {"refine.a={}", "refine.a does not say where"},
        {"refine.a={level: 1}", "refine.a does not say where|or around: a body"},
        {"refine.a={box: {}}", "refine.a.level is missing"},
        {"refine.a={around: ball}", "refine.a.level, cells_across or y_plus is missing"},
        {"refine.a={level: 0, box: {}}", "refine.a.level: '0' is out of range (1 to 8)"},
        {"refine.a={level: 9, box: {}}", "refine.a.level: '9' is out of range (1 to 8)"},
        {"refine.a={level: 1.5, box: {}}", "refine.a.level is '1.5'; expected a whole number"},
        {"refine.a={level: 1, box: {}, around: ball}", "refine.a has both box and around"},
        {"refine.a={level: 1, cells_across: 40, around: ball}",
         "both refine.a.level and refine.a.cells_across are given"},
        {"refine.a={y_plus: 1, cells_across: 40, around: ball}",
         "both refine.a.cells_across and refine.a.y_plus are given"},
        {"refine.a={level: 1, box: {from: [0, 0, 9], to: [9, 9, 9]}}",
         "refine.a.box: from 9 is not below to 9 along z"},
        {"refine.a={level: 1, box: {from: [0, 32, 0]}}", "from 32 is not below to 32 along y"},
        {"refine.a={level: 1, box: {to: [65, 1, 1]}}",
         "refine.a.box.to: '65' is outside the box (0 to 64 along x)"},
        {"refine.a={level: 1, box: {from: [0, -1, 0]}}", "'-1' is outside the box"},
        {"refine.a={level: 1, box: {}, distance: 3}", "refine.a.distance has no effect with box"},
        {"refine.a={level: 1, box: {}, stream: x}", "refine.a.stream has no effect with box"},
        {"refine.a={y_plus: 30, box: {}}", "refine.a.y_plus has no effect with box"},
        {"refine.a={level: 1, shape: {}}", "refine.a.shape does not say which"},
        {"refine.a={level: 1, shape: {sphere: {radius: 3}}}", "sphere.center is missing"},
        {"refine.a={level: 1, shape: {sphere: {center: [9, 40, 9], radius: 3}}}",
         "refine.a.shape is outside of the box|along y"},
        {"refine.a={level: 1, around: bal}", "refine.a.around: there is no body 'bal'|ball"},
        {"refine.a={level: 1, around: ball, distance: 0}", "distance: '0' is out of range"},
        {"refine.a={level: 1, around: ball, behind: -1}", "behind: '-1' is out of range"},
        {"refine.a={level: 1, around: ball, stream: [0, 0, 0]}", "which is no direction"},
        {"refine.a={around: ball, cells_across: 8}",
         "refine.a.cells_across: the cells of level 0 have that already, 8 across (remove a)"},
        {"refine.a={around: ball, cells_across: 2049}",
         "refine.a.cells_across needs cells 256.1 times finer|at most 256 times, level 8"},
        {"refine.a={around: ball, y_plus: 100}",
         "refine.a.y_plus: the friction follows from a velocity and a length|sets no velocity"},
        {"refine.a={levle: 1, box: {}}", "unknown key 'refine.a.levle'|level"},
        {"refine.a={level: 1, bxo: {}}", "unknown key 'refine.a.bxo'|box"},
        {"refine.a.b={level: 1, box: {}}", "unknown key 'refine.a.b'"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(mistakes); i++) {
        struct flow_case c;
        if (read_case(PLAIN, mistakes[i].set, &c) != STATUS_USAGE)
            fail_msg("%s: %s", mistakes[i].set, said);
        must_say(mistakes[i].says);
    }
}

static void grids_that_cannot_be_numbered_are_refused(void **state)
{
    static const struct {
        const char *set, *says;
    } grids[] = {
        {"domain.cells=[4194305, 32, 32]", "level 8 would have 1.07374e+09 cells along x"},
        {"domain.cells=[4194304, 4194304, 32]", "more than can be numbered"},
        {"solver.storage=fp16",
         "tau is 768.5 on level 8, the viscosity 256 in lattice units|take a coarser level"},
        {"solver={collision: bgk}",
         "tau is 768.5 on level 8: with collision bgk walls are so far off|or a coarser level"},
        {"regions={r: {box: all, viscosity: 14}}",
         "regions.r: tau is 10752.5 there on level 8 (at most 10000"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(grids); i++) {
        struct flow_case c;
        assert_int_equal(read_case(BOX "fluid: {viscosity: 1}\n" CLOSED RUN
                                       "refine: {a: {level: 8, box: {}}}\n",
                                   grids[i].set, &c),
                         STATUS_USAGE);
        must_say(grids[i].says);
    }
}

/* Every key that has a remedy in its row; those that need a file are tried in test_case_level.c. */
static void what_does_not_go_with_levels_is_refused(void **state)
{
#define SERIES(of) "output={series: {s: {every: 10, of: " of "}}}"
    static const char *const by_files[] = {"bodies.*.image.isolated", NULL};
    static const struct {
        const char *row, *set, *says;
    } cases[] = {
        {"scalars.*.gradient", "scalars={t: {diffusivity: 0.1, gradient: [1e-3, 0, 0]}}",
         "scalars.t.gradient ("},
        {"initial.relax", "initial.relax=10", "initial.relax ("},
    };
    static const char *const allowed[] = {
        "run.stop={of: kinetic_energy, change: 1e-6}",
        "run.stop={of: residual, change: 1e-6}",
        "force={flow_rate: {velocity: 0.05, axis: x}}",
        SERIES("residual"),
        SERIES("surface, body: ball, points: 9"),
        "force={acceleration: [1e-6, 0, 0], sine: {period: 100}}",
        SERIES("forces, body: ball"),
        SERIES("flow_rate"),
        SERIES("probe, point: [1, 1, 1]"),
        "output={fields: {f: {every: 10, of: density}}, averages: {a: {every: 1, of: velocity}}}",
        "regions={r: {box: all, viscosity: 0.2}}",
        "initial.relax=+0", /* values that are the default in other words */
        "output={fields: {f: {every: 10, of: density, stride: 2, levels: 1}}}",
        "run.stop=none",
        "scalars={t: {diffusivity: 0.1}}",
    };
    struct flow_case c;
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *const drive = "force: {acceleration: [1e-6, 0, 0]}\n";
        char text[2048];
        snprintf(text, sizeof text, "%s%s", PLAIN REGION, drive);
        if (read_case(text, cases[i].set, &c) != STATUS_USAGE)
            fail_msg("%s: %s", cases[i].set, said);
        char says[64];
        snprintf(says, sizeof says, "refine does not go with %s", cases[i].says);
        must_say(says);
        snprintf(text, sizeof text, "%s%s", PLAIN, drive);
        must_read(text, cases[i].set, &c); /* but without refine it goes */
        case_destroy(&c);
    }
    for (const struct key *k = key_table; k->path; k++) {
        bool tried = !k->refine || choice_index(by_files, k->path) >= 0;
        for (size_t i = 0; i < LENGTH(cases); i++)
            tried = tried || !strcmp(cases[i].row, k->path);
        if (!tried)
            fail_msg("%s is not tried beside refine", k->path);
    }
    assert_int_equal(
        read_case(PLAIN REGION, "output={fields: {f: {every: 10, of: density, stride: 2}}}", &c),
        STATUS_USAGE);
    must_say("output.fields.f.stride: a file of all levels has every cell (levels: 0");
    for (size_t i = 0; i < LENGTH(allowed); i++) {
        must_read(PLAIN REGION, allowed[i], &c);
        case_destroy(&c);
    }
}

/* docs/lab/refinement.md, "What to do": trt up to a cell Reynolds number of 4 on level 0. */
static void auto_chooses_one_operator_for_all_levels(void **state)
{
    static const struct {
        const char *set;
        bool refined;
        enum collision collision;
    } cases[] = {
        {"fluid={viscosity: 0.01, velocity: 0.06}", false, COLLISION_trt},
        {"fluid={viscosity: 0.01, velocity: 0.06}", true, COLLISION_rr},
        {"fluid={viscosity: 0.01, velocity: 0.03999}", true, COLLISION_trt},
        {"fluid={viscosity: 0.01, velocity: 0.04001}", true, COLLISION_rr},
        {"solver={subgrid: {smagorinsky: {constant: 0.1}}}", true, COLLISION_rr},
    };
    struct flow_case c, of;
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        must_read(cases[i].refined ? PLAIN REGION : PLAIN, cases[i].set, &c);
        assert_int_equal(c.solver.collision, cases[i].collision);
        assert_int_equal(case_of_level(&c, 3, &of), STATUS_OK);
        assert_int_equal(of.solver.collision, cases[i].collision);
        case_destroy(&of);
        case_destroy(&c);
    }
}

static void trt_at_large_cell_reynolds_numbers_is_warned_of(void **state)
{
    struct flow_case c;
    (void)state;
    for (int refined = 0; refined < 2; refined++) {
        must_read(refined ? PLAIN REGION "solver: {collision: trt}\n"
                          : PLAIN "solver: {collision: trt}\n",
                  "fluid={viscosity: 0.01, velocity: 0.06}", &c);
        capture();
        advice_case(&c);
        release();
        assert_int_equal(strstr(said, "where levels meet") != NULL, refined);
        case_destroy(&c);
    }
}

static void the_log_shows_the_formula(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(PLAIN
              "refine: {a: {around: ball, y_plus: 0.1}, b: {around: ball, cells_across: 30}}\n",
              "fluid={viscosity: 1e-3, velocity: 0.05, length: 8}", &c);
    fflush(NULL);
    FILE *const to = tmpfile();
    assert_non_null(to);
    const int out = dup(STDOUT_FILENO);
    assert_true(out >= 0 && dup2(fileno(to), STDOUT_FILENO) >= 0);
    capture();
    case_say_derived(&c);
    release();
    fflush(NULL);
    assert_true(dup2(out, STDOUT_FILENO) >= 0);
    close(out);
    rewind(to);
    const size_t begin = strlen(said);
    said[begin + fread(said + begin, 1, sizeof said - begin - 1, to)] = '\0';
    fclose(to);
    assert_non_null(strstr(said, "refine a: level"));
    assert_non_null(strstr(said, "c_f = 0.027 / Re^(1/7), Re 400 (velocity 0.05, length 8)"));
    assert_non_null(strstr(said, "30 cells across are wanted, there are 32"));
    case_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_case_without_regions_has_one_level),
        cmocka_unit_test(boxes_and_shapes_are_read),
        cmocka_unit_test(lengths_may_have_units),
        cmocka_unit_test(a_region_around_a_body_has_defaults),
        cmocka_unit_test(the_stream_follows_from_the_flow),
        cmocka_unit_test(the_level_follows_from_cells_across),
        cmocka_unit_test(the_level_follows_from_y_plus),
        cmocka_unit_test(a_resolved_case_reads_back),
        cmocka_unit_test(levels_do_not_change_on_a_restart),
        cmocka_unit_test(mistakes_get_one_line),
        cmocka_unit_test(grids_that_cannot_be_numbered_are_refused),
        cmocka_unit_test(what_does_not_go_with_levels_is_refused),
        cmocka_unit_test(auto_chooses_one_operator_for_all_levels),
        cmocka_unit_test(trt_at_large_cell_reynolds_numbers_is_warned_of),
        cmocka_unit_test(the_log_shows_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
