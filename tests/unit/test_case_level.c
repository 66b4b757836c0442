/* The case of a level above 0: every key of the table in units of the level, what follows from the
 * keys, what level 0 read from files, and the flow at step 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body/stl.h"
#include "case/document.h"
#include "case/heights.h"
#include "case/level.h"
#include "case/sections.h"
#include "scratch.h"
#include "solver/initial_make.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
enum { N = 16 }; /* cells of the boxes along each axis */

/* ---- files, which no level may read again ---- */

static int reads;

#define FACET(a, b, c)                                                                             \
    "facet normal 0 0 0 outer loop vertex " a " vertex " b " vertex " c " endloop endfacet\n"
static const char tetrahedron[] =
    "solid\n" FACET("0 0 0", "0 1 0", "1 0 0") FACET("0 0 0", "1 0 0", "0 0 1")
        FACET("0 0 0", "0 0 1", "0 1 0") FACET("1 0 0", "0 1 0", "0 0 1")
    /* twice, which is left out */
    FACET("1 0 0", "0 1 0", "0 0 1") "endsolid\n";

static double factor_at(int i, int j, int component)
{
    return 0.1 + (i + 0.5) / 20 + (j + 0.5) / 40 - 0.05 * component;
}

static void write_factors(char **text, size_t *size, int components)
{
    FILE *const to = open_memstream(text, size);
    assert_non_null(to);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < components * N; i++)
            fprintf(to, "%.17g%s", factor_at(i / components, j, i % components),
                    i == components * N - 1 ? "\n" : " ");
    assert_int_equal(fclose(to), 0);
}

static int read_file(void *context, const char *path, size_t limit, char **bytes, size_t *length,
                     char **absolute)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    (void)context, (void)limit;
    reads++;
    if (!strcmp(name, "one.csv") || !strcmp(name, "three.csv"))
        write_factors(bytes, length, *name == 'o' ? 1 : 3);
    else {
        const char *const text = !strcmp(name, "t.csv")   ? "0 0.25\n7.5 1\n40 0.25\n"
                                 : !strcmp(name, "a.stl") ? tetrahedron
                                 : !strcmp(name, "a.h5")  ? "\x89HDF\r\n\x1a\n"
                                                          : "picture";
        *bytes = strdup(text);
        *length = strlen(text);
    }
    *absolute = strdup(path);
    return *bytes && *absolute ? 0 : ENOMEM;
}

static enum status read_dataset(void *context, const char *path, const char *dataset,
                                struct case_numbers *n, char reason[CASE_REASON])
{
    (void)context, (void)path, (void)dataset, (void)reason;
    reads++;
    *n = (struct case_numbers){.axes = 3, .size = {N, N, 3}};
    n->value = malloc(sizeof(double[N][N][3]));
    assert_non_null(n->value);
    for (int k = 0; k < N * N * 3; k++)
        n->value[k] = factor_at(k / 3 % N, k / 3 / N, k % 3);
    return STATUS_OK;
}

static bool in_mask(int i, int j)
{
    return i > 4 && i < 12 && (i + 2 * j) % 5 < 3;
}

static bool read_png(const char *bytes, size_t length, const int size[2], uint8_t **mask,
                     char reason[CASE_REASON])
{
    (void)bytes, (void)length, (void)reason;
    *mask = malloc((size_t)size[0] * (size_t)size[1]);
    assert_non_null(*mask);
    for (int j = 0; j < size[1]; j++)
        for (int i = 0; i < size[0]; i++)
            (*mask)[j * size[0] + i] = in_mask(size[0] == 1 ? 6 : i, j);
    return true;
}

static void read_text(const char *text, const char *set, struct flow_case *c)
{
    const struct case_files files = {.read = read_file, .hdf5 = read_dataset, .png = read_png};
    const enum status s =
        case_read_files("dir/case.yaml", text, (long)strlen(text), set != NULL, &set, &files, c);
    if (s)
        fail_msg("%s%s", text, set ? set : "");
}

static void of_level(const struct flow_case *c, int level, struct flow_case *to)
{
    const int before = reads;
    assert_int_equal(case_of_level(c, level, to), STATUS_OK);
    assert_int_equal(reads, before);
    assert_int_equal(to->levels, 1);
    assert_int_equal(to->refine_count, 0);
    assert_string_equal(to->name, c->name);
}

/* ---- every key ---- */

/* A key without a unit whose number differs on levels is in this list, with its factor on level 1;
 * 0: a share that each step removes. */
static const struct {
    const char *end;
    double factor;
} special[] = {
    {"domain.cells", 2},
    {"run.steps", 2},
    {".sponge.strength", 0},
    {".reflection", 0},
};

/* Sections that levels above 0 do not have, and keys that no case with `refine` has. */
static const char *const absent[] = {"refine",         "checkpoint",       "output",
                                     "run.stop",       "run.time_limit",   "force.flow_rate",
                                     "initial.from",   "initial.checksum", "initial.relax",
                                     "bodies.*.image", "bodies.*.labels",  "scalars.*.gradient"};

static bool is_absent(const char *path)
{
    for (size_t k = 0; k < LENGTH(absent); k++) {
        const size_t length = strlen(absent[k]);
        if (!strncmp(path, absent[k], length) && (!path[length] || path[length] == '.'))
            return true;
    }
    return false;
}

/* The number of a key on the level: one lattice unit of it is another one there. */
static double expected(const struct key *key, double value, int level)
{
    const double finer = pow(2, level);
    const struct case_units coarse = {.cell = 1, .dt = 1, .density = 1, .heat_capacity = 1},
                            fine = {.cell = 1 / finer,
                                    .dt = 1 / finer,
                                    .density = 1,
                                    .heat_capacity = 1};
    const double ratio = lattice_unit(&coarse, key->unit) / lattice_unit(&fine, key->unit);
    const size_t length = strlen(key->path);
    for (size_t k = 0; k < LENGTH(special); k++) {
        const size_t end = strlen(special[k].end);
        if (length < end || strcmp(key->path + length - end, special[k].end) != 0)
            continue;
        return special[k].factor > 0 ? value * pow(special[k].factor, level)
                                     : 1 - pow(1 - value, 1 / finer);
    }
    return key->type == KEY_PHYSICAL ? value / ratio : value * ratio;
}

enum { KEYS = 1024 };
static bool compared[KEYS]; /* by the row's index in the table */

static void compare_scalar(const struct node *before, const struct node *now, const struct key *key,
                           int level)
{
    const char *end, *end_now;
    double value, is;
    const bool text = key->type == KEY_TEXT || key->type == KEY_CHECKSUM;
    if (text || number_parse(before->text, &end, &value)) {
        if (strcmp(before->text, now->text) != 0)
            fail_msg("%s: %s became %s", key->path, before->text, now->text);
        return;
    }
    const double should = expected(key, value, level);
    const bool rounded = strstr(key->path, ".strength") || strstr(key->path, ".reflection");
    if (number_parse(now->text, &end_now, &is) || strcmp(end, end_now) != 0 ||
        fabs(is - should) > (rounded ? 1e-14 : 0))
        fail_msg("%s: %s became %s on level %d, not %.17g", key->path, before->text, now->text,
                 level, should);
}

/* `opened`: open faces and patches are left as they are. */
static void compare_map(const struct node *before, const struct node *now, const char *pattern,
                        int level, bool opened)
{
    for (const struct node *n = before->first; n; n = n->next) {
        char child[KEYS_PATH];
        const struct node *const other = node_get(now, n->key);
        assert_true(keys_step(pattern, n->key, child));
        const struct key *const key = keys_row(child);
        const bool closes =
            !opened && (!strncmp(child, "faces.", 6) || !strncmp(child, "patches", 7));
        if (is_absent(child) || (closes && (!other || other->kind != n->kind)))
            continue;
        if (!other)
            fail_msg("%s is missing on level %d", child, level);
        if (n->kind != other->kind)
            fail_msg("%s is of another kind on level %d", child, level);
        compared[key - key_table] = true;
        if (n->kind == NODE_MAPPING) {
            compare_map(n, other, child, level, opened);
            continue;
        }
        if (n->kind == NODE_SCALAR) {
            compare_scalar(n, other, key, level);
            continue;
        }
        assert_int_equal(n->count, other->count);
        const struct node *b = other->first;
        for (const struct node *a = n->first; a; a = a->next, b = b->next)
            compare_scalar(a, b, key, level);
    }
}

static void check_case(const char *text, const char *set)
{
    struct flow_case c, of;
    struct document before, now;
    read_text(text, set, &c);
    const struct case_face *const inlet = &c.faces[c.initial.inlet];
    const bool opened = c.initial.flow == INITIAL_inlet && inlet->profile != PROFILE_uniform;
    assert_int_equal(document_read(&before, "level 0", c.resolved, strlen(c.resolved)), STATUS_OK);
    for (int level = 1; level <= 8; level += level < 3 ? 1 : 5) {
        of_level(&c, level, &of);
        assert_int_equal(document_read(&now, "level", of.resolved, strlen(of.resolved)), STATUS_OK);
        compare_map(before.root, now.root, "", level, opened);
        document_destroy(&now);
        case_destroy(&of);
    }
    document_destroy(&before);
    case_destroy(&c);
}

#define HEAD(faces) "domain: {cells: [16, 16, 16]}\nrun: {steps: 1000}\nfaces: {" faces "}\n"
#define FLUID "fluid: {viscosity: 0.013, velocity: 0.05, length: 12.3}\n"
#define WALLS "x: periodic, y: wall, z: periodic"
#define PERIODIC "x: periodic, y: periodic, z: periodic"
#define VESSEL(keys)                                                                               \
    "bodies={b: {mesh: {file: a.stl, size: 12, min: [2, 2, 2], fluid: inside}, caps: {in: "        \
    "{center: [4, 4, 2], " keys "}}}}"
#define BODY(shape) "bodies={b: {shape: {" shape "}}}"

#define SINE "sine: {period: 33, phase: 0.1, mean: 1, amplitude: 0.2}"
#define STEER "steer: {name: n, start: 0.5, min: -1, max: 2}"
#define TABLE "table: {file: t.csv, time: 2, repeat: true}"
#define SCALARS                                                                                    \
    "scalars: {t: {kind: heat, prandtl: 0.7, reference: 1.5, expansion: 0.003, source: 0.0003, "   \
    "turbulent_prandtl: 0.9, magic: 0.2, limiter: none, initial: {linear: {from: [0, 1, 0], to: "  \
    "[0, 13, 0], values: [1, 2]}, wave: {amplitude: 0.1, waves: [1, 2, 0], phase: 0.3}}}, a: "     \
    "{diffusivity: 0.0003, decay: 0.003, limiter: on, turbulent_schmidt: 0.8, initial: {value: "   \
    "2, shapes: {s: {sphere: {center: [8, 8, 7], radius: 3.1}, value: 7}}}}, b: {diffusivity: "    \
    "0.01, made_from: a, rate: 0.007}}\nforce: {gravity: [0, -1e-3, 0]}\n"
#define MEETS                                                                                      \
    "scalars: {t: {value: 3, ramp: 55}, a: {flux: 0.02, " SINE "}, b: {transfer: {coefficient: "   \
    "0.1, outside: 2}, " TABLE "}}"
#define BRINGS                                                                                     \
    "scalars: {t: {value: 3, ramp: 55}, a: {value: 0.02, " SINE "}, b: {value: 1, " TABLE "}}"

#define VARIES                                                                                     \
    "scalars: {t: {value: {height: {file: t.csv, axis: x, length: 0.7, from: -0.3}, unit: K}, "    \
    "ramp: 55}, a: {value: {radius: {file: t.csv, length: 0.3}}}, b: {value: {height: {file: "     \
    "t.csv, axis: x}}, " TABLE "}}"
#define VARIES_IN                                                                                  \
    "scalars: {t: {value: {height: {file: t.csv, axis: y, length: 0.7, from: -0.3}, unit: K}, "    \
    "ramp: 55}, a: {value: {radius: {file: t.csv, length: 0.3}}}, b: {value: {height: {file: "     \
    "t.csv, axis: y}}, " TABLE "}}"

#define STEERED "scalars: {t: {value: 3, " STEER "}, a: {value: 0.02, " STEER "}, b: {value: 1}}"

static const struct {
    const char *text, *set;
} plain[] = {
    {HEAD("x: periodic, y: {wall: {" STEERED "}}, z: wall") FLUID SCALARS,
     "patches={a: {face: zmin, disc: {center: [8, 7.5], radius: 3.3}, wall: {" STEERED "}}}"},
    {HEAD(WALLS) FLUID SCALARS,
     "bodies={b: {shape: {sphere: {center: [8, 8, 7], radius: 3.1}}, " STEERED "}}"},
    {HEAD("xmin: {velocity: {value: [0.05, 0, 0], profile: parabola, " STEERED "}}, xmax: "
          "{pressure: {" STEERED "}}, y: wall, z: wall") FLUID SCALARS "initial: {flow: inlet}\n",
     "patches={a: {face: zmin, disc: {center: [8, 7.5], radius: 2}, velocity: {value: [0, 0, "
     "0.01], " STEERED "}}, b: {face: zmax, disc: {center: [8, 7.5], radius: 2}, pressure: "
     "{" STEERED "}}}"},
    {HEAD("x: periodic, y: {wall: {" VARIES "}}, z: wall") FLUID SCALARS,
     "patches={a: {face: zmin, disc: {center: [8, 7.5], radius: 3.3}, wall: {" VARIES "}}}"},
    {HEAD("xmin: {velocity: {value: [0.05, 0, 0], profile: parabola, " VARIES_IN "}}, xmax: "
          "{pressure: {" VARIES_IN "}}, y: wall, z: wall") FLUID SCALARS "initial: {flow: inlet}\n",
     "patches={a: {face: zmin, disc: {center: [8, 7.5], radius: 2}, velocity: {value: [0, 0, "
     "0.01], " VARIES "}}, b: {face: zmax, disc: {center: [8, 7.5], radius: 2}, pressure: {" VARIES
     "}}}"},
    {HEAD(WALLS) FLUID, "force={acceleration: [1e-5, 3e-6, 0], " STEER "}"},
    {HEAD("x: periodic, y: {wall: {" MEETS "}}, z: wall") FLUID SCALARS,
     "patches={a: {face: zmin, disc: {center: [8, 7.5], radius: 3.3}, wall: {" MEETS "}}}"},
    {HEAD(WALLS) FLUID SCALARS,
     "bodies={b: {shape: {sphere: {center: [8, 8, 7], radius: 3.1}}, " MEETS "}}"},
    {HEAD("xmin: {velocity: {value: [0.05, 0, 0], profile: parabola, " BRINGS "}}, xmax: "
          "{pressure: {" BRINGS "}}, y: wall, z: wall") FLUID SCALARS "initial: {flow: inlet}\n",
     "patches={a: {face: zmin, disc: {center: [8, 7.5], radius: 2}, velocity: {value: [0, 0, "
     "0.01], " BRINGS "}}, b: {face: zmax, disc: {center: [8, 7.5], radius: 2}, pressure: "
     "{" BRINGS "}}}"},
    {HEAD(WALLS) FLUID, NULL},
    {HEAD(WALLS) FLUID,
     "units={dx: 3 mm, dt: 0.7 ms, density: 998 kg/m3, heat_capacity: 4180 J/kg/K}"},
    {HEAD(WALLS) "fluid: {reynolds: 77, velocity: 0.05, length: 12.3}\n", NULL},
    {HEAD(WALLS) FLUID, "fluid.law={power: {index: 0.6, shear_rate: 0.013}, least: 0.003}"},
    {HEAD(WALLS) FLUID,
     "fluid.law={carreau: {infinite: 0.013, time: 77, index: 0.3, transition: 1.7}}"},
    {HEAD(WALLS) FLUID, "fluid.law={casson: {yield: 1.3e-4}, most: 3.3}"},
    {HEAD(WALLS) FLUID,
     "fluid.law={herschel_bulkley: {yield: 1.3e-4, index: 0.7, shear_rate: 0.013}}"},
    {HEAD(WALLS) FLUID, "fluid.law={herschel_bulkley: {yield: 1.3e-4, index: 1}}"},
    {HEAD(WALLS) FLUID, "solver={collision: trt, magic: 0.21, storage: fp64, arithmetic: fp64}"},
    {HEAD(WALLS) FLUID, "solver={collision: central, rates: {bulk: 1.3, third: 1.1, fourth: 0.9}}"},
    {HEAD(WALLS) FLUID, "solver.subgrid={smagorinsky: {constant: 0.13, van_driest: 0.003}}"},
    {HEAD(PERIODIC) FLUID, "initial={flow: taylor_green_2d, amplitude: 0.03, axis: x}"},
    {HEAD(PERIODIC) FLUID, "initial={flow: shear_layer, thickness: 33, perturbation: 0.07}"},
    {HEAD(PERIODIC) FLUID,
     "initial={flow: pulse, density: 0.002, velocity: [0.01, 0.02, 0.03], center: [3, 4.5, 5], "
     "width: 2.2, pressure: uniform}"},
    {HEAD(WALLS) FLUID,
     "force={acceleration: [1e-5, 3e-6, 0], gravity: [0, -1e-3, 0], rotation: [1e-3, 0, -2e-3], "
     "ramp: 123.4}"},
    {HEAD(WALLS) FLUID,
     "force={acceleration: [1e-5, 3e-6, 0], sine: {period: 77.7, phase: 0.3, mean: 1.1, amplitude: "
     "0.4}}"},
    {HEAD(WALLS) FLUID,
     "force={acceleration: [1e-5, 0, 0], table: {file: t.csv, time: 3.3, repeat: true}}"},
    {HEAD(WALLS) FLUID,
     "regions={r: {box: {from: [1, 2, 3], to: [9, 8, 16]}, collision: trt, magic: 0.3, viscosity: "
     "0.07}, s: {box: all, sponge: {towards: xmax, strength: 0.37, power: 3, density: 1.01, "
     "velocity: [0.01, 0, 0.02]}}}"},
    {HEAD(WALLS) FLUID,
     "regions={r: {box: all, resistance: {permeability: 0.7, loss: [0, 0.3, 7]}}, u: {box: all, "
     "resistance: {loss: 0}}, s: {box: {from: "
     "[1, 2, 3], to: [9, 8, 16]}, resistance: {permeability: [1, 2.2, 3]}}, t: {box: {from: [1, 2, "
     "3], to: [9, 8, 16]}, screen: {axis: y, loss: 1.3}}}"},
    {HEAD(WALLS) FLUID,
     "patches={a: {face: ymin, rectangle: {from: [1.5, 2], to: [8, 9.25]}, wall: {velocity: [0.01, "
     "0, 0]}}, b: {face: ymax, disc: {center: [8, 7.5], radius: 3.3}, slip: {}}, c: {face: ymax, "
     "mask: {file: m.png}, wall: {velocity: [0, 0, 0.02]}}, d: {face: ymin, disc: {center: [13, "
     "13], radius: 2}, outflow: {}}}"},
    {HEAD(WALLS) FLUID, BODY("box: {from: [2, 3, 4], to: [7, 8, 9.5]}, move: [0.5, 0, 1]")},
    {HEAD(WALLS) FLUID, BODY("sphere: {center: [8, 8, 7], radius: 3.1}")},
    {HEAD(WALLS) FLUID,
     BODY("ellipsoid: {center: [8, 8, 7], radii: [3, 2.5, 4]}, rotate: [10, 20, 30], scale: 1.1, "
          "about: [8, 8, 8]")},
    {HEAD(WALLS) FLUID,
     BODY("cylinder: {center: [8, 8, 7], axis: [1, 0, 2], radius: 3, length: 6}")},
    {HEAD(WALLS) FLUID, BODY("cylinder: {center: [8, 8, 7], radius: 3}")},
    {HEAD(WALLS) FLUID, BODY("capsule: {from: [6, 8, 7], to: [9, 8, 8], radius: 2}")},
    {HEAD(WALLS) FLUID, BODY("torus: {center: [8, 8, 7], axis: y, radius: 4, tube: 1.5}")},
    {HEAD(WALLS) FLUID, BODY("half_space: {point: [0, 3, 0], normal: [0, 1, 0.1]}")},
    {HEAD(WALLS) FLUID,
     BODY("pack: {lattice: body_centred, length: 8, center: [1, 2, 3], radius: 2}")},
    {HEAD(WALLS) FLUID,
     BODY("difference: {a: {sphere: {center: [8, 8, 7], radius: 4}}, b: {union: {x: {box: {from: "
          "[7, "
          "7, 0], to: [9, 9, 16]}}, y: {box: {from: [7, 0, 7], to: [9, 16, 9]}}}}}")},
    {HEAD(WALLS) FLUID,
     BODY("intersection: {a: {sphere: {center: [8, 8, 7], radius: 4}}, b: {complement: {x: {box: "
          "{from: [7, 7, 0], to: [9, 9, 16]}}}}}")},
    {HEAD(WALLS) FLUID,
     "bodies={b: {shape: {sphere: {center: [8, 8, 7], radius: 3}}, wall: interpolated, velocity: "
     "[0.01, 0, 0], rotation: {rate: [0, 0.001, 0.003], about: [7, 8, 8]}}}"},
    {HEAD(WALLS) FLUID,
     "bodies={b: {mesh: {file: a.stl, scale: 7, rotate: [10, 0, 30], center: [8, 8, 8], open: "
     "accept}}}"},
    {HEAD(WALLS) FLUID, "bodies={b: {mesh: {file: a.stl, size: 7, min: [2, 3, 4]}}}"},
    {HEAD(WALLS) FLUID, VESSEL("velocity: {mean: 0.02, profile: flat, ramp: 30}")},
    {HEAD(WALLS) FLUID, VESSEL("radius: 2, velocity: {flow_rate: 0.2, sine: {period: 40, phase: "
                               "0.1, mean: 1, amplitude: 0.3}}")},
    {HEAD(WALLS) FLUID,
     VESSEL("velocity: {mean: 0.02, table: {file: t.csv, time: 2, repeat: true}}")},
    {HEAD(WALLS) FLUID, VESSEL("pressure: {density: 1.01, ramp: 30}")},
    {HEAD(WALLS) FLUID SCALARS, VESSEL("velocity: {mean: 0.02, " BRINGS "}")},
    {HEAD(WALLS) FLUID SCALARS, VESSEL("pressure: {density: 1.01, " BRINGS "}")},
    {HEAD(WALLS) FLUID SCALARS, VESSEL("velocity: {mean: 0.02, " STEERED "}")},
    {HEAD(WALLS) FLUID SCALARS, VESSEL("pressure: {density: 1.01, " STEERED "}")},
    {HEAD(WALLS) FLUID, VESSEL("velocity: {mean: 0.02, " STEER "}")},
    {HEAD(WALLS) FLUID, VESSEL("pressure: {density: 1.01, " STEER "}")},
    {HEAD(WALLS) FLUID, VESSEL("pressure: {density: 1.01, sine: {period: 40, phase: 0.1, mean: 1, "
                               "amplitude: 0.3}}")},
    {HEAD(WALLS) FLUID,
     VESSEL("pressure: {density: 1.01, table: {file: t.csv, time: 2, repeat: true}}")},
    {HEAD(WALLS) FLUID,
     "run={steps: 777, ranks: [2, 1, 1], threads: 3, isa: generic, transport: host, exchange: all, "
     "sparse: never, sweep: 2}"},
    {HEAD(WALLS) FLUID, "check={every: 100, max_velocity: 0.3, hang: 30 s}"},
    {HEAD(WALLS) FLUID "scalars: {t: {kind: heat, diffusivity: 0.01}}\n",
     "bodies={b: {shape: {sphere: {center: [8, 8, 7], radius: 3.1}}, scalars: {t: {conduct: "
     "{conductivity: 0.7, capacity: 2.5, source: 0.011}}}}}"},
};

/* Boundary conditions that the face xmax and a patch of zmax get. */
static const char *const openings[] = {
    "wall: {velocity: [0, 0.01, 0]}",
    "slip: {}",
    "velocity: {value: [0.01, 0, 0.02], profile: {power: 7}, rule: links}",
    "velocity: {value: [0.01, 0, 0.02], profile: {file: one.csv}, ramp: 33}",
    "velocity: {value: [0.01, 0, 0.02], profile: {height: {file: t.csv, axis: y, length: 0.7, "
    "from: "
    "-0.3}}}",
    "velocity: {value: [0.01, 0, 0.02], profile: {radius: {file: t.csv, length: 0.7}}}",
    "velocity: {value: [0.01, 0, 0.02], profile: {log: {axis: y, roughness: 0.3, reference: 7, "
    "from: 0.1}}}",
    "velocity: {value: [0.01, 0, 0.02], profile: {shear: {axis: y, exponent: 0.14, reference: 7, "
    "from: 0.1}}}",
    "pressure: {density: 1.002, velocity: [0, 0.01, 0], profile: {log: {axis: y, roughness: 0.3, "
    "reference: 7}}}",
    "pressure: {density: 1.002, velocity: [0, 0.01, 0], profile: {radius: {file: t.csv}}}",
    "velocity: {value: [0.01, 0, 0.02], profile: {file: a.h5, dataset: d}, table: {file: t.csv, "
    "time: 2, repeat: true}}",
    "velocity: {value: [0.01, 0, 0.02], sine: {period: 33, phase: 0.1, mean: 1, amplitude: 0.2}}",
    "pressure: {density: 1.002, velocity: [0, 0.01, 0], profile: {power: 5}, ramp: 44}",
    "pressure: {density: 1.002, velocity: [0, 0.01, 0], profile: {file: a.h5, dataset: d}, table: "
    "{file: t.csv, time: 2, repeat: true}}",
    "pressure: {density: 1.002, velocity: [0, 0.01, 0], profile: parabola}",
    "pressure: {density: 1.002, rule: links, sine: {period: 33, phase: 0.1, mean: 1, amplitude: "
    "0.2}}",
    "velocity: {value: [0.01, 0, 0.02], " STEER "}",
    "pressure: {density: 1.002, rule: links, " STEER "}",
    "outflow: {density: 1.001, reflection: 0.03}",
    "nonreflecting: {density: 1.001, reflection: 0.03, velocity: [0, 0.01, 0]}",
    "pressure: {density: 1.002, share: 0.3, share_time: 55}",
    "nonreflecting: {density: 1.002, share: 0.3, share_time: 55}",
};

static void every_key_has_a_rule(void **state)
{
    (void)state;
    for (const struct key *k = key_table; k->path; k++)
        if (level_rule_of(k) == LEVEL_UNKNOWN)
            fail_msg("%s: its row needs the rule by which it scales between levels (.level)",
                     k->path);
}

static void every_key_scales(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(plain); i++)
        check_case(plain[i].text, plain[i].set);
    for (size_t i = 0; i < LENGTH(openings); i++) {
        char text[2048];
        /* the profile of an inlet is needed at step 0: open faces stay as they are */
        snprintf(text, sizeof text,
                 HEAD("xmin: {velocity: {value: [0.05, 0, 0], profile: parabola}}, xmax: {%s}, y: "
                      "wall, z: wall") FLUID "initial: {flow: inlet}\n"
                                             "patches: {p: {face: zmax, rectangle: {from: [4, 4], "
                                             "to: [12, 12]}, %s}, "
                                             "q: {face: zmin, rectangle: {from: [4, 4], "
                                             "to: [12, 12]}, outflow: {}}}\n",
                 openings[i], openings[i]);
        check_case(text, NULL);
    }
    for (const struct key *k = key_table; k->path; k++) {
        assert_true(k - key_table < KEYS);
        /* without a member it is another way to say what the resolved case says */
        const bool map = k->type == KEY_MAP || k->type == KEY_NAMES || k->type == KEY_EMPTY;
        if (!map && k->size && !is_absent(k->path) && !compared[k - key_table])
            fail_msg("%s is in no case of this test", k->path);
    }
}

/* ---- what does not go with levels, by files ---- */

static enum status find_earlier(void *context, const char *path, struct case_earlier *e,
                                char reason[CASE_REASON])
{
    (void)context, (void)reason;
    *e = (struct case_earlier){.file = strdup(path), .checksum = 1, .cells = {N, N, N}};
    return e->file ? STATUS_OK : STATUS_MACHINE;
}

static enum status find_header(void *context, const char *path, struct voxel_image *v,
                               char reason[CASE_REASON])
{
    (void)context, (void)reason;
    v->file = strdup(path);
    return v->file ? STATUS_OK : STATUS_MACHINE;
}

static enum status find_labels(void *context, struct voxel_image *v, char reason[CASE_REASON])
{
    (void)context, (void)reason;
    v->labels = calloc(1, sizeof *v->labels);
    assert_non_null(v->labels);
    v->labels[0].label = 1;
    v->label_count = 1;
    return STATUS_OK;
}

static void what_files_have_goes_with_levels(void **state)
{
    static const struct {
        const char *set, *says; /* NULL: it goes */
    } cases[] = {
        {"initial={from: old.h5}", NULL},
        {"bodies={b: {image: {file: a.raw, size: [4, 4, 4], solid: 1}}}", NULL},
        {"bodies={b: {image: {file: a.raw, size: [4, 4, 4], solid: 1, isolated: fill}}}",
         "refine does not go with bodies.b.image.isolated ("},
    };
    const struct case_files files = {.read = read_file,
                                     .earlier = find_earlier,
                                     .voxel_header = find_header,
                                     .voxel_survey = find_labels};
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        for (int refined = 0; refined < 2; refined++) {
            struct flow_case c;
            char text[1024];
            snprintf(text, sizeof text, "%s%s",
                     HEAD(WALLS) FLUID
                     "bodies: {m: {mesh: {file: a.stl, size: 7, min: [2, 3, 4]}}}\n",
                     refined ? "refine: {r: {level: 1, box: {}}}\n" : "");
            scratch_listen();
            const enum status s = case_read_files("dir/case.yaml", text, (long)strlen(text), 1,
                                                  &cases[i].set, &files, &c);
            const char *const heard = scratch_heard();
            const bool refused = refined && cases[i].says;
            assert_int_equal(s, refused ? STATUS_USAGE : STATUS_OK);
            if (refused)
                assert_one_line(heard, cases[i].says);
            case_destroy(&c);
        }
}

/* ---- open faces ---- */

static void open_faces_become_planes_of_symmetry(void **state)
{
    struct flow_case c, of;
    (void)state;
    read_text(
        HEAD("xmin: {velocity: {value: [0.05, 0.01, 0]}}, xmax: pressure, y: wall, z: periodic")
            FLUID
        "initial: {flow: inlet}\n"
        "patches: {a: {face: ymin, disc: {center: [4, 4], radius: 2}, outflow: {}},\n"
        "  b: {face: ymin, disc: {center: [12, 12], radius: 2}, wall: {velocity: [0.01, 0, "
        "0]}}}\n",
        NULL, &c);
    of_level(&c, 2, &of);
    assert_int_equal(of.faces[0].kind, FACE_slip);
    assert_int_equal(of.faces[1].kind, FACE_slip);
    assert_int_equal(of.faces[2].kind, FACE_wall);
    assert_int_equal(of.faces[4].kind, FACE_periodic);
    assert_int_equal(of.patch_count, 1);
    assert_string_equal(of.patches[0].name, "b");
    /* the flow from a uniform inlet is uniform */
    assert_int_equal(of.initial.flow, INITIAL_uniform);
    assert_memory_equal(of.initial.velocity, c.faces[0].velocity, sizeof of.initial.velocity);
    case_destroy(&of);
    case_destroy(&c);
}

/* A periodic axis of one cell has one on each level. What lies at a place along it lies there on
 * all levels: seen from the middle. */
static void flat_axes_keep_their_cell(void **state)
{
    enum { FLAT = 1 };
    struct flow_case c, of;
    (void)state;
    read_text("domain: {cells: [16, 1, 16]}\nrun: {steps: 1000}\n"
              "faces: {x: wall, y: periodic, z: wall}\n" FLUID
              "initial: {flow: pulse, density: 0.01, center: [8, 0.75, 7], width: 3}\n"
              "patches: {m: {face: xmin, mask: {file: m.png}, wall: {velocity: [0, 0, 0.01]}},\n"
              "  d: {face: xmax, disc: {center: [0.5, 8], radius: 2}, wall: {velocity: [0, 0, "
              "0.01]}}}\n"
              "bodies:\n"
              "  rod: {shape: {cylinder: {center: [4, 0.5, 4], axis: y, radius: 1}}}\n"
              "  about: {shape: {cylinder: {center: [4, 0.5, 12], axis: y, radius: 1}}, "
              "rotation: {rate: [0, 0.001, 0], about: [4, 0, 12]}}\n"
              "  ball: {shape: {sphere: {center: [10, 0.5, 4], radius: 2}}}\n",
              NULL, &c);
    for (int level = 1; level <= 3; level++) {
        const int finer = 1 << level;
        double pivot[3];
        of_level(&c, level, &of);
        assert_int_equal(of.cells[0], 16 * finer);
        assert_int_equal(of.cells[1], 1);
        assert_int_equal(of.cells[2], 16 * finer);
        assert_true(of.initial.center[0] == 8 * finer);
        assert_true(of.initial.center[1] == 0.5 + 0.25 * finer);
        const struct case_patch *const disc = &of.patches[1];
        assert_true(disc->center[0] == 0.5 && disc->center[1] == 8 * finer);
        for (int j = 0; j < 16 * finer; j++)
            assert_int_equal(patch_holds(&of.patches[0], of.cells, 0, j), in_mask(6, j / finer));
        /* given ones and those of bodies without ends from the middle of the cell, others as the
         * shape is */
        for (int k = 0; k < 3; k++) {
            double first[3];
            case_pivot(&c, &c.bodies[k], first);
            case_pivot(&of, &of.bodies[k], pivot);
            const bool ends = isfinite(c.bodies[k].hi[FLAT]) && !c.bodies[k].pivot_given;
            const double shift = ends ? 0 : 0.5 * (finer - 1);
            assert_true(fabs(pivot[FLAT] - (finer * first[FLAT] - shift)) < 1e-5);
            assert_true(fabs(pivot[0] - finer * first[0]) < 1e-5);
        }
        case_destroy(&of);
    }
    case_destroy(&c);
}

/* ---- what follows from the keys ---- */

static void derived_values_scale(void **state)
{
    struct flow_case c, of;
    (void)state;
    read_text(
        HEAD(WALLS) FLUID
        "units: {dx: 3 mm, dt: 0.7 ms}\n"
        "force: {acceleration: [1e-6, 0, 0], sine: {period: 37.7, mean: 1.1, amplitude: 0.3}}\n"
        "regions: {s: {box: {from: [3, 0, 0]}, sponge: {towards: xmax, strength: 0.4}}}\n"
        "bodies:\n"
        "  a: {shape: {torus: {center: [8, 8, 7], axis: [1, 2, 3], radius: 4, tube: 1.37}}, "
        "rotation: {rate: [0, 0.001, 0.003]}}\n"
        "  b: {mesh: {file: a.stl, scale: 7, rotate: [10, 0, 30], center: [8, 8, 8]}}\n",
        NULL, &c);
    assert_int_equal(c.bodies[1].mesh.facts.twice, 1);
    for (int level = 1; level <= 8; level++) {
        const double finer = pow(2, level);
        of_level(&c, level, &of);
        assert_true(of.fluid.viscosity == finer * c.fluid.viscosity);
        assert_true(fabs(case_tau(&of) - 0.5 - finer * (case_tau(&c) - 0.5)) <
                    1e-14 * case_tau(&of));
        assert_true(of.fluid.reynolds == c.fluid.reynolds);
        assert_int_equal(of.run.steps, c.run.steps << level);
        assert_true(of.units.given && of.units.dx == c.units.dx / finer);
        assert_true(of.units.dt == c.units.dt / finer);
        assert_int_equal(of.zones[0].cells.lo[0], 3 << level);
        assert_int_equal(of.zones[0].cells.hi[2], N << level);
        /* after 2^l steps as much of the difference is left as after one step of level 0 */
        assert_true(fabs(pow(1 - of.zones[0].sponge.strength, finer) - 0.6) < 1e-13);
        assert_true(case_fastest_velocity(&of) == case_fastest_velocity(&c));
        assert_true(fabs(signal_mean(&of.force_signal, of.run.steps) -
                         signal_mean(&c.force_signal, c.run.steps)) < 1e-15);
        for (int k = 0; k < 2; k++) {
            const struct case_body *const a = &c.bodies[k], *const b = &of.bodies[k];
            assert_true(b->speed == a->speed);
            assert_string_equal(b->place, a->place);
            for (int x = 0; x < 3; x++) {
                assert_true(fabs(b->lo[x] - finer * a->lo[x]) <= 1e-13 * finer * N);
                assert_true(fabs(b->hi[x] - finer * a->hi[x]) <= 1e-13 * finer * N);
            }
        }
        const struct case_mesh *const m = &c.bodies[1].mesh, *const n = &of.bodies[1].mesh;
        assert_int_equal(m->stl->triangles, n->stl->triangles);
        assert_memory_equal(m->stl->vertex, n->stl->vertex,
                            m->stl->vertices * sizeof *m->stl->vertex);
        assert_memory_equal(m->stl->triangle, n->stl->triangle,
                            m->stl->triangles * sizeof *m->stl->triangle);
        assert_true(m->stl->vertex != n->stl->vertex);
        assert_true(fabs(n->facts.volume / m->facts.volume / pow(finer, 3) - 1) < 1e-12);
        assert_true(fabs(n->facts.area / m->facts.area / pow(finer, 2) - 1) < 1e-12);
        assert_int_equal(n->facts.twice, 1);
        case_destroy(&of);
    }
    case_destroy(&c);
}

/* A level of a level: two times finer twice is four times finer. */
static void levels_may_be_made_one_after_the_other(void **state)
{
    struct flow_case c, one, two, both;
    (void)state;
    for (size_t i = 0; i < LENGTH(plain); i++) {
        read_text(plain[i].text, plain[i].set, &c);
        of_level(&c, 1, &one);
        of_level(&one, 1, &two);
        of_level(&c, 2, &both);
        assert_string_equal(two.resolved, both.resolved);
        case_destroy(&both);
        case_destroy(&two);
        case_destroy(&one);
        case_destroy(&c);
    }
}

static void more_steps_than_the_key_allows_are_possible(void **state)
{
    struct flow_case c, of;
    (void)state;
    read_text(HEAD(WALLS) FLUID, "run.steps=9999999999", &c);
    of_level(&c, 8, &of);
    assert_true(of.run.steps == INT64_C(9999999999) * 256);
    case_destroy(&of);
    case_destroy(&c);
}

static void lengths_beyond_the_range_of_level_0_are_possible(void **state)
{
    struct flow_case c, of;
    (void)state;
    read_text(HEAD(WALLS) FLUID, BODY("half_space: {point: [0, 3, 9e6], normal: y}"), &c);
    of_level(&c, 8, &of);
    assert_true(of.bodies[0].shape.center[2] == 9e6 * 256);
    case_destroy(&of);
    case_destroy(&c);
}

/* ---- what was in files ---- */

static void tables_of_time_scale(void **state)
{
    struct flow_case c, of;
    (void)state;
    read_text(HEAD(WALLS) FLUID,
              "force={acceleration: [1e-5, 0, 0], table: {file: t.csv, time: 3.3, repeat: true}}",
              &c);
    of_level(&c, 3, &of);
    assert_int_equal(of.force_signal.points, 3);
    assert_true(of.force_signal.repeat);
    for (int i = 0; i < 3; i++) {
        assert_true(of.force_signal.times[i] == 8 * c.force_signal.times[i]);
        assert_true(of.force_signal.values[i] == c.force_signal.values[i]);
    }
    assert_true(of.force_signal.times[1] == 8 * (7.5 * 3.3));
    assert_int_equal(of.force_signal.checksum, c.force_signal.checksum);
    case_destroy(&of);
    case_destroy(&c);
}

static void masks_are_refined(void **state)
{
    struct flow_case c, of;
    (void)state;
    read_text(HEAD(WALLS) FLUID,
              "patches={c: {face: ymax, mask: {file: m.png}, wall: {velocity: [0, 0, 0.02]}}}", &c);
    of_level(&c, 2, &of);
    for (int j = 0; j < 4 * N; j++)
        for (int i = 0; i < 4 * N; i++)
            assert_int_equal(patch_holds(&of.patches[0], of.cells, i, j), in_mask(i / 4, j / 4));
    case_destroy(&of);
    case_destroy(&c);
}

/* The factors are linear in both coordinates: so they are on the finer cells, but for the outermost
 * half of a cell of level 0. */
static void tables_of_profiles_are_refined(void **state)
{
    static const char *const files[] = {"one.csv", "three.csv", "a.h5"};
    (void)state;
    for (size_t f = 0; f < LENGTH(files); f++) {
        char text[1024];
        struct flow_case c, of;
        snprintf(text, sizeof text,
                 HEAD("xmin: {velocity: {value: [0.05, 0.01, 0], profile: {file: %s}}}, xmax: "
                      "pressure, y: wall, z: wall") FLUID "initial: {flow: inlet}\n",
                 files[f]);
        read_text(text, NULL, &c);
        of_level(&c, 2, &of);
        const struct case_face *const face = &of.faces[0];
        const int parts = face->table_components;
        assert_int_equal(parts, f ? 3 : 1);
        assert_int_equal(face->table_size[0], 4 * N);
        assert_int_equal(face->table_size[1], 4 * N);
        for (int j = 0; j < 4 * N; j++)
            for (int i = 0; i < 4 * N; i++)
                for (int k = 0; k < parts; k++) {
                    const double x = fmin(fmax((i + 0.5) / 4, 0.5), N - 0.5),
                                 y = fmin(fmax((j + 0.5) / 4, 0.5), N - 0.5);
                    const double should = 0.1 + x / 20 + y / 40 - 0.05 * k;
                    assert_true(fabs(face->table[(j * 4 * N + i) * parts + k] - should) < 1e-14);
                }
        assert_int_equal(of.initial.flow, INITIAL_inlet);
        case_destroy(&of);
        case_destroy(&c);
    }
}

/* Factors at the same place are the same on all levels, to the bit: all numbers differ by powers of
 * two. */
static void profiles_by_height_are_the_same_on_all_levels(void **state)
{
    static const char *const profiles[] = {
        "height: {file: t.csv, axis: y, length: 0.3, from: -0.3}",
        "radius: {file: t.csv, length: 0.2}",
        "log: {axis: z, roughness: 0.03, reference: 7, from: 1}",
        "shear: {axis: z, exponent: 0.14, reference: 7, from: 1}",
    };
    (void)state;
    for (size_t k = 0; k < LENGTH(profiles); k++) {
        char text[1024];
        struct flow_case c, of;
        snprintf(
            text, sizeof text,
            HEAD("xmin: {velocity: {value: [0.05, 0.01, 0], profile: {%s}}}, xmax: pressure, y: "
                 "wall, z: wall") FLUID "initial: {flow: inlet}\n",
            profiles[k]);
        read_text(text, NULL, &c);
        of_level(&c, 2, &of);
        const struct case_face *const one = &c.faces[0], *const fine = &of.faces[0];
        assert_true(one->profile == fine->profile);
        for (double at = 0.125; at < N; at += 0.25) {
            const double value = heights_at(one->profile, &one->heights, at);
            assert_true(value == heights_at(one->profile, &fine->heights, 4 * at));
        }
        assert_true(one->heights.center[0] * 4 == fine->heights.center[0]);
        assert_true(one->heights.checksum == fine->heights.checksum);
        case_destroy(&of);
        case_destroy(&c);
    }
}

/* The same of values of scalars, which do not change with the level. */
static void values_over_faces_are_the_same_on_all_levels(void **state)
{
    struct flow_case c, of;
    (void)state;
    read_text(HEAD("x: periodic, y: {wall: {" VARIES "}}, z: wall") FLUID SCALARS, NULL, &c);
    of_level(&c, 2, &of);
    for (int k = 0; k < c.scalar_count; k++) {
        const struct case_scalar_wall *const one = &c.faces[2].scalar[k], *const fine =
                                                                              &of.faces[2]
                                                                                   .scalar[k];
        double range[2], again[2];
        assert_true(one->profile && one->profile == fine->profile);
        assert_true(one->heights.points == 3 && fine->heights.points == 3);
        for (double x = 0.125; x < N; x += 0.25)
            for (double z = 0.5; z < N; z += 2) {
                const double at[2] = {x, z}, there[2] = {4 * x, 4 * z};
                assert_true(scalar_wall_at(one, 2, at) == scalar_wall_at(fine, 2, there));
            }
        assert_true(scalar_wall_values(one, range) && scalar_wall_values(fine, again));
        assert_memory_equal(range, again, sizeof range);
        assert_true(range[1] == 1 - c.scalars[k].reference && range[0] < range[1]);
        assert_true(one->heights.checksum == fine->heights.checksum);
    }
    case_destroy(&of);
    case_destroy(&c);
}

/* ---- the flow at step 0 ---- */

static struct initial *make_initial(const struct flow_case *c)
{
    const struct domain_opening openings_[6 + CASE_PATCHES] = {{0}};
    struct initial *const in = malloc(initial_bytes(c));
    assert_non_null(in);
    assert_int_equal(initial_make(in, c, openings_), STATUS_OK);
    return in;
}

static void note(double *largest, double value)
{
    *largest = fmax(*largest, fabs(value));
}

/* The mean over the finer cells in a cell is that of the cell, but for the curvature within the
 * cell. Gradients are per cell of the level. */
static void the_flow_at_step_0_is_the_same(void **state)
{
#define CUBE(faces) "domain: {cells: [48, 48, 48]}\nrun: {steps: 1}\nfaces: {" faces "}\n" FLUID
#define INLET "xmin: {velocity: {value: [0.05, 0.01, 0], profile: duct}}, xmax: pressure, y: wall"
    static const struct {
        const char *text, *set;
        double curvature; /* largest, as a part of the largest value */
    } flows[] = {
        {CUBE(PERIODIC), "initial={flow: taylor_green_2d, axis: y}", 0.01},
        {CUBE(PERIODIC), "initial={flow: taylor_green_3d}", 0.01},
        {CUBE(PERIODIC), "initial={flow: abc}", 0.01},
        {CUBE(PERIODIC), "initial={flow: shear_layer, thickness: 8, perturbation: 0.2}", 0.02},
        {CUBE(WALLS), "initial={flow: channel, perturbation: 0.1}", 0.04},
        {CUBE(PERIODIC),
         "initial={flow: vortex, velocity: [0.01, 0.02, 0], center: [20, 24, 9], width: 9}", 0.02},
        {CUBE(PERIODIC), "initial={flow: pulse, center: [20, 24, 9], width: 9}", 0.02},
        {CUBE(PERIODIC), "initial={flow: wave, axis: y, center: [20, 24, 9], width: 9}", 0.02},
        {CUBE(PERIODIC), "initial={flow: uniform, velocity: [0.01, 0.02, 0.03]}", 1e-14},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(flows); i++)
        for (int level = 1; level <= 2; level++) {
            struct flow_case c, of;
            const int finer = 1 << level, all = finer * finer * finer;
            double u = 0, du = 0, rho = 0, drho = 0, slope = 0, dslope = 0;
            read_text(flows[i].text, flows[i].set, &c);
            of_level(&c, level, &of);
            struct initial *const coarse = make_initial(&c), *const fine = make_initial(&of);
            for (int n = 0; n < 48 * 48 * 48; n += 37) {
                const int g[3] = {n % 48, n / 48 % 48, n / 48 / 48};
                const struct initial_cell whole = initial_by_formula(coarse, g);
                struct initial_cell mean = initial_rest();
                for (int s = 0; s < all; s++) {
                    const int at[3] = {g[0] * finer + s % finer, g[1] * finer + s / finer % finer,
                                       g[2] * finer + s / finer / finer};
                    const struct initial_cell part = initial_by_formula(fine, at);
                    mean.drho += part.drho / all;
                    for (int a = 0; a < 3; a++) {
                        mean.u[a] += part.u[a] / all;
                        for (int b = 0; b < 3; b++)
                            mean.gradient[a][b] += part.gradient[a][b] * finer / all;
                    }
                }
                note(&rho, whole.drho);
                note(&drho, whole.drho - mean.drho);
                for (int a = 0; a < 3; a++) {
                    note(&u, whole.u[a]);
                    note(&du, whole.u[a] - mean.u[a]);
                    for (int b = 0; b < 3; b++) {
                        note(&slope, whole.gradient[a][b]);
                        note(&dslope, whole.gradient[a][b] - mean.gradient[a][b]);
                    }
                }
            }
            if (!(u > 0 || rho > 0) || du > flows[i].curvature * u ||
                drho > flows[i].curvature * rho || dslope > 4 * flows[i].curvature * slope)
                fail_msg("%s: velocity %g of %g, density %g of %g, gradient %g of %g", flows[i].set,
                         du, u, drho, rho, dslope, slope);
            free(coarse);
            free(fine);
            case_destroy(&of);
            case_destroy(&c);
        }
}

/* The profile of an inlet, at step 0 everywhere, on the finer cells. */
static void the_flow_from_an_inlet_is_the_same(void **state)
{
    struct flow_case c, of;
    double most = 0;
    (void)state;
    read_text(CUBE(INLET ", z: wall"), "initial={flow: inlet}", &c);
    of_level(&c, 1, &of);
    struct initial *const coarse = make_initial(&c), *const fine = make_initial(&of);
    for (size_t j = 0; j < 48; j++)
        for (size_t i = 0; i < 48; i++)
            for (size_t a = 0; a < 3; a++) {
                double mean = 0;
                for (size_t s = 0; s < 4; s++)
                    mean +=
                        initial_table(
                            fine)[fine->inlet + 3 * ((2 * j + s / 2) * 96 + 2 * i + s % 2) + a] /
                        4;
                const double whole = initial_table(coarse)[coarse->inlet + 3 * (j * 48 + i) + a];
                note(&most, whole);
                assert_true(fabs(mean - whole) < 2e-5);
            }
    assert_true(most > 0.03);
    free(coarse);
    free(fine);
    case_destroy(&of);
    case_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_has_a_rule),
        cmocka_unit_test(every_key_scales),
        cmocka_unit_test(what_files_have_goes_with_levels),
        cmocka_unit_test(open_faces_become_planes_of_symmetry),
        cmocka_unit_test(flat_axes_keep_their_cell),
        cmocka_unit_test(derived_values_scale),
        cmocka_unit_test(levels_may_be_made_one_after_the_other),
        cmocka_unit_test(more_steps_than_the_key_allows_are_possible),
        cmocka_unit_test(lengths_beyond_the_range_of_level_0_are_possible),
        cmocka_unit_test(tables_of_time_scale),
        cmocka_unit_test(masks_are_refined),
        cmocka_unit_test(tables_of_profiles_are_refined),
        cmocka_unit_test(profiles_by_height_are_the_same_on_all_levels),
        cmocka_unit_test(values_over_faces_are_the_same_on_all_levels),
        cmocka_unit_test(the_flow_at_step_0_is_the_same),
        cmocka_unit_test(the_flow_from_an_inlet_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
