/* Scalars in cases: what is read, in which units, how it is resolved, and what every mistake gets.
 */
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
#include <unistd.h>

#include "advice/advice.h"
#include "case/case.h"
#include "case/record.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* What was said on stderr. */
static char said[8192];

struct capture {
    FILE *file;
    int stream, saved;
};

static struct capture capture_start(int stream)
{
    struct capture c = {tmpfile(), stream, dup(stream)};
    assert_non_null(c.file);
    fflush(NULL);
    assert_true(c.saved >= 0 && dup2(fileno(c.file), stream) >= 0);
    return c;
}

static void capture_stop(struct capture c)
{
    fflush(NULL);
    assert_true(dup2(c.saved, c.stream) >= 0);
    close(c.saved);
    rewind(c.file);
    said[fread(said, 1, sizeof said - 1, c.file)] = '\0';
    fclose(c.file);
}

/* Files that cases name. */
static int read_file(void *context, const char *path, size_t limit, char **bytes, size_t *length,
                     char **absolute)
{
    static const struct {
        const char *name, *text;
    } files[] = {{"air.csv", "# height, temperature\n1 290\n2 310\n8 295\n"},
                 {"cold.csv", "0 -300\n9 20\n"},
                 {"mild.csv", "0 10\n9 20\n"},
                 {"large.csv", "0 1\n9 1e10\n"},
                 {"flat.csv", "0 300\n9 300\n"},
                 {"three.csv", "0 1 2\n9 1 2\n"},
                 {"one.csv", "0 1\n"},
                 {"m.png", "a picture"}};
    (void)context, (void)limit;
    for (size_t k = 0; k < LENGTH(files); k++)
        if (!strcmp(strrchr(path, '/') + 1, files[k].name)) {
            *bytes = strdup(files[k].text);
            *length = strlen(files[k].text);
            if (asprintf(absolute, "/%s", files[k].name) < 0)
                *absolute = NULL;
            return *bytes && *absolute ? 0 : ENOMEM;
        }
    return ENOENT;
}

static bool read_png(const char *bytes, size_t length, const int size[2], uint8_t **mask,
                     char reason[CASE_REASON])
{
    const size_t cells = (size_t)size[0] * (size_t)size[1];
    (void)bytes, (void)length, (void)reason;
    *mask = malloc(cells);
    assert_non_null(*mask);
    memset(*mask, 1, cells);
    return true;
}

static enum status read_text(const char *text, struct flow_case *c)
{
    const struct case_files files = {.read = read_file, .png = read_png};
    const struct capture capture = capture_start(STDERR_FILENO);
    const enum status s = case_read_files("dir/case.yaml", text, (long)strlen(text), 0, NULL,
                                          strstr(text, ".csv") ? &files : NULL, c);
    capture_stop(capture);
    return s;
}

static void must_read(const char *text, struct flow_case *c)
{
    if (read_text(text, c))
        fail_msg("unexpected: %s", said);
    assert_string_equal(said, "");
}

#define BOX "domain: {cells: [16, 8, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 10}\n"
#define FACES "faces: {x: periodic, y: wall, z: periodic}\n"
#define PLAIN BOX FACES
/* dx 1 mm, dt 0.1 ms: a velocity of 1 m/s is 0.1, a diffusivity of 1 m2/s is 100; rho cp 1206 */
#define UNITS "units: {dx: 1 mm, dt: 0.1 ms, density: 1.2 kg/m3, heat_capacity: 1005 J/(kg K)}\n"
#define AIR UNITS "domain: {cells: [16, 8, 4]}\nfluid: {viscosity: 1.5e-5 m2/s}\nrun: {steps: 10}\n"
#define T "scalars: {t: {kind: heat, diffusivity: 0.1, reference: 300}}\n"

static bool near(double value, double expected)
{
    return fabs(value - expected) <= 1e-12 * fabs(expected);
}

static void defaults_are_filled_in(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(PLAIN, &c);
    assert_true(!c.scalar_count && !c.scalars);
    assert_null(strstr(c.resolved, "scalars"));
    assert_null(strstr(c.resolved, "gravity"));
    case_destroy(&c);
    must_read(PLAIN "scalars: {}\n", &c);
    assert_int_equal(c.scalar_count, 0);
    case_destroy(&c);
    must_read(PLAIN "scalars: {s: {diffusivity: 0.02}}\n"
                    "bodies: {a: {shape: {sphere: {center: [4, 4, 2], radius: 1}}}}\n",
              &c);
    const struct case_scalar *const s = c.scalars;
    assert_int_equal(c.scalar_count, 1);
    assert_string_equal(s->name, "s");
    assert_int_equal(s->kind, SCALAR_KIND_species);
    assert_true(s->diffusivity == 0.02 && s->reference == 0 && s->expansion == 0);
    assert_true(s->turbulent_prandtl == 0.85 && s->source == 0 && s->decay == 0 && s->magic == 0);
    assert_true(s->made_from == -1 && s->rate == 0);
    assert_true(s->initial.value == 0 && !s->initial.linear && s->initial.amplitude == 0);
    for (int f = 0; f < 6; f++)
        assert_int_equal(c.faces[f].scalar[0].kind, SCALAR_WALL_adiabatic);
    assert_non_null(c.bodies->scalar);
    assert_int_equal(c.bodies->scalar[0].kind, SCALAR_WALL_adiabatic);
    case_destroy(&c);
}

static void scalars_are_sorted(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(PLAIN
              "scalars: {smoke: {schmidt: 2}, ash: {made_from: smoke, rate: 0.1, schmidt: 4},\n"
              "          heat: {kind: heat, prandtl: 0.5, turbulent_prandtl: 0.9}}\n",
              &c);
    assert_int_equal(c.scalar_count, 3);
    assert_string_equal(c.scalars[0].name, "heat");
    assert_string_equal(c.scalars[1].name, "smoke");
    assert_string_equal(c.scalars[2].name, "ash");
    assert_int_equal(c.scalars[2].made_from, 1);
    assert_true(c.scalars[2].rate == 0.1);
    assert_true(c.scalars[2].diffusivity == 0.1 / 4 && c.scalars[0].diffusivity == 0.1 / 0.5);
    assert_true(c.scalars[0].turbulent_prandtl == 0.9);
    case_destroy(&c);
}

static void units_are_converted(void **state)
{
    static const double capacity = 1.2 * 1005; /* J/m3/K */
    struct flow_case c;
    (void)state;
    must_read(AIR "force: {gravity: [0, -9.81 m/s2, 0]}\n"
                  "scalars:\n"
                  "  t: {kind: heat, diffusivity: 2.2e-5 m2/s, reference: 27 degC, expansion: "
                  "3.3e-3 1/K, source: 5 K/s, decay: 0.2 1/s,\n"
                  "      initial: {value: 20 degC, wave: {amplitude: 0.5 K, waves: [1, 2, 3]}}}\n"
                  "  s: {diffusivity: 1e-5 m2/s, source: 0.3 1/s, reference: 1.5, initial: 2}\n"
                  "faces:\n"
                  "  xmin: {velocity: {value: [1 m/s, 0, 0], scalars: {t: {value: 310 K}, s: "
                  "{value: 4}}}}\n"
                  "  xmax: outflow\n"
                  "  ymin: {wall: {scalars: {t: {flux: 100 W/m2}, s: {flux: 0.02 m/s}}}}\n"
                  "  ymax: {wall: {scalars: {t: {transfer: {coefficient: 10 W/m2/K, outside: 290 "
                  "K}}, s: {transfer: {coefficient: 0.1 m/s, outside: 1}}}}}\n"
                  "  zmin: {wall: {scalars: {t: {transfer: {resistance: 0.1 m2 K/W, outside: 17 "
                  "degC}}, s: {transfer: {resistance: 10 s/m, outside: 1}}}}}\n"
                  "  zmax: slip\n"
                  "bodies:\n"
                  "  chip: {shape: {box: {from: [4, 0, 0], to: [8, 2, 4]}}, scalars: {t: {conduct: "
                  "{conductivity: 148 W/(m K), capacity: 1.6 MJ/m3/K, source: 1e5 W/m3}}, s: "
                  "{conduct: {conductivity: 1e-6 m2/s, source: 0.1 1/s}}}}\n",
              &c);
    const struct case_scalar *const s = &c.scalars[0], *const t = &c.scalars[1];
    const struct case_face *const f = c.faces;
    assert_true(near(c.gravity[1], -9.81 * 1e-8 / 1e-3));
    assert_true(near(t->diffusivity, 2.2e-5 * 100) && near(s->diffusivity, 1e-5 * 100));
    assert_true(t->reference == 27 + 273.15 && t->initial.value == 20 + 273.15 - (27 + 273.15));
    assert_true(t->expansion == 3.3e-3 && near(t->source, 5e-4) && near(t->decay, 2e-5));
    assert_true(t->initial.amplitude == 0.5 && t->initial.wave[2] == 3);
    assert_true(near(s->source, 3e-5) && s->initial.value == 0.5);
    assert_true(f[0].scalar[1].value == 310 - 300.15 && f[0].scalar[0].value == 2.5);
    assert_int_equal(f[1].scalar[0].kind, SCALAR_WALL_outflow);
    assert_true(near(f[2].scalar[1].flux, 100 / capacity * 0.1) &&
                near(f[2].scalar[0].flux, 0.02 * 0.1));
    assert_true(near(f[3].scalar[1].coefficient, 10 / capacity * 0.1) &&
                f[3].scalar[1].outside == 290 - 300.15);
    assert_true(near(f[3].scalar[0].coefficient, 0.1 * 0.1));
    assert_true(near(f[4].scalar[1].coefficient, f[3].scalar[1].coefficient) &&
                near(f[4].scalar[0].coefficient, 0.1 * 0.1));
    const struct case_scalar_wall *const chip = c.bodies->scalar;
    assert_true(near(chip[1].conductivity, 148 / capacity * 100) &&
                near(chip[1].capacity, 1.6e6 / capacity) &&
                near(chip[1].source, 1e5 / capacity * 1e-4));
    assert_true(near(chip[0].conductivity, 1e-4) && chip[0].capacity == 1 &&
                near(chip[0].source, 1e-5));
    case_destroy(&c);
    /* temperatures and differences need no units */
    must_read(PLAIN "scalars: {t: {kind: heat, prandtl: 1, reference: 300 K, initial: 20 degC}}\n",
              &c);
    assert_true(c.scalars->initial.value == 20 + 273.15 - 300);
    case_destroy(&c);
}

/* Structs equal, but for pointers, and what those point to equal. */
static void check_walls(const struct case_scalar_wall *a, const struct case_scalar_wall *b)
{
    for (int k = 0; k < CASE_SCALARS; k++)
        assert_memory_equal(&a[k], &b[k], sizeof *a);
}

static void check_same(const struct flow_case *a, const struct flow_case *b)
{
    assert_string_equal(a->resolved, b->resolved);
    assert_memory_equal(a->gravity, b->gravity, sizeof a->gravity);
    assert_int_equal(a->scalar_count, b->scalar_count);
    for (int k = 0; k < a->scalar_count; k++) {
        struct case_scalar x = a->scalars[k], y = b->scalars[k];
        for (int i = 0; i < x.initial.part_count; i++) {
            const struct case_scalar_part *const p = &x.initial.parts[i], *const q =
                                                                              &y.initial.parts[i];
            assert_string_equal(p->name, q->name);
            assert_memory_equal(&p->value, &q->value, sizeof p->value);
            assert_int_equal(p->shape.kind, q->shape.kind);
        }
        x.initial.parts = y.initial.parts = NULL;
        x.initial.given = y.initial.given; /* a resolved case gives all initial values */
        assert_memory_equal(&x, &y, sizeof x);
    }
    for (int f = 0; f < 6; f++)
        check_walls(a->faces[f].scalar, b->faces[f].scalar);
    for (int i = 0; i < a->patch_count; i++)
        check_walls(a->patches[i].opening.scalar, b->patches[i].opening.scalar);
    for (int i = 0; i < a->body_count; i++)
        if (a->scalar_count)
            check_walls(a->bodies[i].scalar, b->bodies[i].scalar);
    assert_memory_equal(a->series, b->series, sizeof *a->series * (size_t)a->series_count);
    assert_memory_equal(a->images, b->images, sizeof *a->images * (size_t)a->images_count);
    assert_memory_equal(a->fields, b->fields, sizeof *a->fields * (size_t)a->fields_count);
    assert_memory_equal(a->averages, b->averages, sizeof *a->averages * (size_t)a->averages_count);
}

static void resolved_again(const char *text)
{
    struct flow_case first, second;
    must_read(text, &first);
    must_read(first.resolved, &second);
    check_same(&first, &second);
    assert_int_equal(case_same_flow(first.resolved, second.resolved, "itself"), STATUS_OK);
    case_destroy(&first);
    case_destroy(&second);
}

#define EVERYTHING                                                                                 \
    AIR "force: {gravity: [0, -9.81 m/s2, 0.1 m/s2]}\n"                                            \
        "scalars:\n"                                                                               \
        "  t: {kind: heat, prandtl: 0.71, reference: 27.03 degC, expansion: 3.3e-3 1/K, "          \
        "turbulent_prandtl: 0.9, magic: 0.2,\n"                                                    \
        "      initial: {linear: {from: [0, 0, 0], to: [16 mm, 0, 0], values: [310.1 K, 20.7 "     \
        "degC]}, wave: {amplitude: 0.1 K, waves: [1, 0, 0.5], phase: 0.25}, shapes: {z: {sphere: " \
        "{center: [8, 4, 2], radius: 3}, rotate: [0, 0, 30], value: 311.7 K}, a: {union: {q: "     \
        "{sphere: {center: [8, 4, 2], radius: 2}}, b: {box: {from: [1, 1, 1], to: [3, 3, 3]}}}, "  \
        "value: 1.3 degC}}}}\n"                                                                    \
        "  smoke: {diffusivity: 1e-5 m2/s, decay: 0.1 1/s}\n"                                      \
        "  ash: {made_from: smoke, rate: 0.2 1/s, schmidt: 2, source: 0.1 1/s, initial: 0.3}\n"    \
        "faces:\n"                                                                                 \
        "  xmin: {velocity: {value: [1 mm/s, 0, 0], scalars: {t: {value: 310.33 K, ramp: 100}, "   \
        "smoke: {value: 1}, ash: {value: 0.2}}}}\n"                                                \
        "  xmax: {velocity: {value: [1 mm/s, 0, 0], scalars: {t: outflow, smoke: outflow, ash: "   \
        "{value: 0.1}}}}\n"                                                                        \
        "  ymin: {wall: {scalars: {t: {flux: 10 W/m2, sine: {period: 100, mean: 1, amplitude: "    \
        "0.1}}}}}\n"                                                                               \
        "  ymax: {wall: {scalars: {t: {transfer: {coefficient: 10 W/m2/K, outside: 290.7 K}, "     \
        "ramp: 7}, smoke: {transfer: {resistance: 100 s/m, outside: 0.3}}}}}\n"                    \
        "  z: slip\n"                                                                              \
        "patches:\n"                                                                               \
        "  hole: {face: ymax, disc: {center: [8, 2], radius: 1}, pressure: {value: 0, scalars: "   \
        "{t: {value: 20 degC}}}}\n"                                                                \
        "bodies:\n"                                                                                \
        "  chip: {shape: {box: {from: [9, 0, 0], to: [12, 2, 4]}}, scalars: {t: {conduct: "        \
        "{conductivity: 148 W/(m K), capacity: 1.6e6 J/m3/K, source: 1e5 W/m3}}, smoke: {value: "  \
        "0.1}}}\n"                                                                                 \
        "output:\n"                                                                                \
        "  series:\n"                                                                              \
        "    t: {every: 5, of: scalar, scalar: t}\n"                                               \
        "    nu: {every: 5, of: heat, scalar: t, face: ymin, length: 8 mm, difference: 20 K}\n"    \
        "    q: {every: 5, of: heat, scalar: smoke, patch: hole}\n"                                \
        "    b: {every: 5, of: heat, scalar: t, body: chip}\n"                                     \
        "  fields: {main: {every: 5, of: [ash, velocity, t]}, only: {every: 5, of: smoke}}\n"      \
        "  averages: {mean: {every: 1, of: [velocity, t]}, ashes: {every: 1, of: [ash]}}\n"        \
        "  images: {hot: {every: 5, of: t, range: [20.3 degC, 320.1 K]}, grey: {every: 5, of: "    \
        "smoke, range: [0, 1]}, u: {every: 5, of: speed}}\n"

static void resolved_reads_back_to_the_same(void **state)
{
    (void)state;
    resolved_again(EVERYTHING);
    resolved_again(PLAIN T);
    resolved_again(PLAIN "scalars: {s: {schmidt: 3}}\nforce: {flow_rate: {velocity: 0.01}, "
                         "gravity: [1e-3, 0, 0]}\n");
}

/* Temperatures as the user gave them, whatever the reference is. */
static void values_keep_their_bits(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        double number[2];
        for (int k = 0; k < 2; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const double share = (double)(random >> 11) * 0x1p-53;
            const int kind = (int)(random % 7);
            number[k] = kind == 0   ? ldexp(share - 0.5, (int)(random >> 8 & 63) - 33)
                        : kind == 1 ? round(share * 1000)
                        : kind == 2 ? round(share * 10000) / 100
                        : kind == 3 ? round(share * 1000) / 10 + 273.15
                        : kind == 4 ? 0
                                    : 2000 * (share - 0.5);
        }
        const struct case_scalar s = {.reference = number[0]};
        const double value = number[1] - s.reference + 0.0;
        const double again = scalar_absolute(&s, value) - s.reference + 0.0;
        if (memcmp(&value, &again, sizeof value) != 0)
            fail_msg("%.17g relative to %.17g came back as %.17g", value, s.reference, again);
    }
}

static void outputs_name_scalars(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(EVERYTHING, &c); /* smoke 0, t 1, ash 2 */
    assert_int_equal(c.series[0].kind, SERIES_KIND_scalar);
    assert_int_equal(c.series[0].scalar, 1);
    assert_int_equal(c.series[1].kind, SERIES_KIND_heat);
    assert_true(c.series[1].opening == 2 && near(c.series[1].length, 8) &&
                c.series[1].difference == 20);
    assert_true(c.series[2].opening == 6 && c.series[2].scalar == 0 && c.series[2].length == 0);
    assert_true(c.series[3].opening == -1 && c.series[3].body == 0);
    assert_true(c.fields[0].of == 1u << FIELD_velocity && c.fields[0].scalars == 6);
    assert_true(c.fields[1].of == 0 && c.fields[1].scalars == 1);
    assert_true(c.averages[0].of == 1u << AVERAGE_velocity && c.averages[0].scalars == 2);
    assert_true(c.averages[1].of == 0 && c.averages[1].scalars == 4);
    assert_true(c.images[0].of == IMAGE_scalar && c.images[0].scalar == 1);
    assert_true(c.images[0].range[0] == 20.3 + 273.15 - (27.03 + 273.15));
    assert_true(c.images[1].of == IMAGE_scalar && c.images[1].scalar == 0 &&
                c.images[1].range[1] == 1);
    assert_int_equal(c.images[2].of, IMAGE_speed);
    assert_true(c.images[0].heat && c.images[0].unit == TEMPERATURE_UNIT_degC);
    assert_false(c.images[1].heat || c.images[2].heat);
    case_destroy(&c);
}

/* An image is in degC if a value of its scalar is, or its own range; and by its key. */
static void temperatures_are_shown_as_given(void **state)
{
    static const struct {
        const char *a, *image;
        enum temperature_unit unit;
    } cases[] = {{"initial: 300 K", "", TEMPERATURE_UNIT_K},
                 {"initial: 20 degC", "", TEMPERATURE_UNIT_degC},
                 {"initial: 300 K", ", range: [20 degC, 30 degC]", TEMPERATURE_UNIT_degC},
                 {"initial: 20 degC", ", unit: K", TEMPERATURE_UNIT_K},
                 {"initial: 300 K", ", unit: degC", TEMPERATURE_UNIT_degC}};
    (void)state;
    for (size_t k = 0; k < LENGTH(cases); k++) {
        char text[1024];
        struct flow_case c, again;
        snprintf(text, sizeof text,
                 "units: {dx: 1 mm, dt: 1 ms}\n"
                 "domain: {cells: [16, 8, 4]}\nfluid: {viscosity: 1e-6 m2/s}\nrun: {steps: 10}\n"
                 "faces: {x: periodic, y: wall, z: periodic}\n"
                 "scalars: {a: {kind: heat, prandtl: 1, reference: 290 K, %s},\n"
                 "          b: {kind: heat, prandtl: 1, initial: 290 K}}\n"
                 "output: {images: {a: {every: 1, of: a%s}, b: {every: 1, of: b}}}\n",
                 cases[k].a, cases[k].image);
        must_read(text, &c);
        assert_true(c.images[0].heat && c.images[0].unit == cases[k].unit);
        assert_true(c.images[1].heat && c.images[1].unit == TEMPERATURE_UNIT_K);
        must_read(c.resolved, &again);
        assert_true(again.images[0].heat && again.images[0].unit == cases[k].unit);
        assert_int_equal(again.images[1].unit, TEMPERATURE_UNIT_K);
        case_destroy(&again);
        case_destroy(&c);
    }
}

#define WALL(text) BOX T "faces: {x: periodic, ymin: wall, ymax: {wall: " text "}, z: periodic}\n"
#define INLET(text)                                                                                \
    BOX T "faces: {xmin: {velocity: " text "}, xmax: outflow, y: wall, z: periodic}\n"
#define BODY(text)                                                                                 \
    PLAIN T "bodies: {a: {shape: {sphere: {center: [4, 4, 2], radius: 1}}, " text "}}\n"
#define LABEL(text)                                                                                \
    PLAIN T "bodies: {a: {image: {file: a.raw, size: [4, 4, 4], solid: 1}, labels: {" text "}}}\n"
#define ONE(keys) PLAIN "scalars: {t: {" keys "}}\n"
#define OUT(text) PLAIN T "output: {" text "}\n"
#define HOT_WALL                                                                                   \
    BOX T "faces: {x: periodic, ymin: wall, ymax: {wall: {scalars: {t: {value: 310}}}}, z: "       \
          "periodic}\n"

/* Over faces and patches a value may vary, by a file. */
static void values_vary_over_faces(void **state)
{
    static const double at[2] = {3.5, 2.5}, low[2] = {0, 0};
    struct flow_case c, again;
    double range[2];
    (void)state;
    must_read(
        BOX
        "scalars: {t: {kind: heat, diffusivity: 0.1, reference: 300}, s: {diffusivity: 0.004}}\n"
        "faces: {xmin: {velocity: {value: [0.05, 0, 0], scalars: {t: {value: {height: {file: "
        "air.csv, axis: y, length: 2, from: -1}, unit: K}, ramp: 9}, s: {value: 290}}}},\n"
        "        xmax: {pressure: {scalars: {t: {value: {radius: {file: mild.csv}, unit: "
        "degC}}}}}, y: wall, z: periodic}\n"
        "patches: {p: {face: ymin, disc: {center: [4, 2], radius: 2}, wall: {scalars: {s: {value: "
        "{radius: {file: air.csv}}}}}}}\n",
        &c);
    const struct case_scalar_wall *const in = &c.faces[0].scalar[1], *const out =
                                                                         &c.faces[1].scalar[1];
    const struct case_scalar_wall *const plate = &c.patches[0].opening.scalar[0];
    assert_string_equal(c.scalars[1].name, "t");
    assert_true(in->profile == PROFILE_height && plate->profile == PROFILE_radius);
    /* at y 3.5 the height is 4.5, after 4, where it is 310, and before 16, where it is 295 */
    assert_true(near(scalar_wall_at(in, 0, at), 10 - 15 * 0.5 / 12));
    assert_true(scalar_wall_at(in, 0, low) == -10);
    assert_true(near(scalar_wall_at(out, 1, at), 10 * hypot(0.5, 0.5) / 9 - 300 + 10 + 273.15));
    /* over all of the face, from y 0, below the file's first height, to y 8, and over the disc */
    assert_true(scalar_wall_values(in, range) && range[0] == -10 && range[1] == 10);
    assert_true(scalar_wall_values(plate, range) && range[0] == 290 && range[1] == 310);
    const struct scalar_given t = scalar_given(&c, 1);
    assert_true(near(t.low, 283.15 - 300) && t.high == 10);
    assert_true(near(scalar_difference(&c, 1), 10 - (283.15 - 300)));
    assert_true(scalar_limited(&c, 0));
    const struct scalar_given s = scalar_given(&c, 0);
    assert_true(s.low == 0 && s.high == 310);
    must_read(c.resolved, &again);
    assert_string_equal(c.resolved, again.resolved);
    assert_true(scalar_wall_at(&again.faces[1].scalar[1], 1, at) == scalar_wall_at(out, 1, at));
    const struct capture capture = capture_start(STDOUT_FILENO);
    case_say_derived(&c);
    capture_stop(capture);
    assert_non_null(strstr(said, "t: xmin value 16.85 degC (290 K) to 36.85 degC (310 K) by height "
                                 "along y from a file, xmax value 10 degC (283.15 K) to "));
    assert_non_null(strstr(said, "s: xmin value 290, p value 290 to 310 by radius from a file"));
    case_destroy(&again);
    case_destroy(&c);
}

#define VARY(text) INLET("{value: [0.01, 0, 0], scalars: {t: {value: {" text "}}}}")

/* clang-format off */
static const struct mistake {
    const char *text, *where, *fragments; /* the fragments are joined by | */
} mistakes[] = {
    {PLAIN "scalars: {a: {schmidt: 1}, b: {schmidt: 1}, c: {schmidt: 1}, d: {schmidt: 1}, e: "
           "{schmidt: 1}, f: {schmidt: 1}, g: {schmidt: 1}}\n",
     "dir/case.yaml:5:1: ", "scalars has 7 entries (at most 6)"},
    {PLAIN "scalars: {velocity: {schmidt: 1}}\n", "dir/case.yaml:5:11: ",
     "scalars.velocity|take another name"},
    {PLAIN "scalars: {a b: {schmidt: 1}}\n", "dir/case.yaml:5:11: ", "cannot be a name"},
    {ONE("kind: mass"), "dir/case.yaml:5:21: ", "none of heat, species"},
    {ONE("kind: heat"), "dir/case.yaml:5:11: ", "scalars.t.diffusivity or scalars.t.prandtl is missing"},
    {ONE("source: 1"), "dir/case.yaml:5:11: ", "scalars.t.diffusivity or scalars.t.schmidt is missing"},
    {ONE("diffusivity: 1, schmidt: 1"), "dir/case.yaml:5:31: ", "both|keep one"},
    {ONE("prandtl: 1"), "dir/case.yaml:5:15: ", "with kind species, which has schmidt"},
    {ONE("kind: heat, prandtl: 1, turbulent_schmidt: 1"), "dir/case.yaml:5:39: ",
     "which has turbulent_prandtl"},
    {ONE("diffusivity: 0"), "dir/case.yaml:5:28: ", "out of range (above 0"},
    {ONE("diffusivity: 1 m2/s"), "dir/case.yaml:5:28: ", "needs units"},
    {ONE("schmidt: 1, decay: -1"), "dir/case.yaml:5:34: ", "out of range (0 to 1"},
    {ONE("schmidt: 1, magic: 0"), "dir/case.yaml:5:34: ", "out of range (0.001 to 10"},
    {ONE("schmidt: 1, magic: some"), "dir/case.yaml:5:34: ", "expected auto or a number"},
    {ONE("schmidt: 1, reference: 300 K"), "dir/case.yaml:5:38: ", "not a number without unit"},
    {ONE("kind: heat, prandtl: 1, reference: -3 K"), "dir/case.yaml:5:50: ", "absolute zero|degC"},
    {ONE("kind: heat, prandtl: 1, reference: -300 degC"), "dir/case.yaml:5:50: ", "absolute zero"},
    {ONE("kind: heat, prandtl: 1, reference: 3 m"), "dir/case.yaml:5:50: ", "not a temperature"},
    {ONE("kind: heat, prandtl: 1, initial: {wave: {amplitude: 1 degC, waves: [1, 0, 0]}}"),
     "dir/case.yaml:5:67: ", "not a difference of temperatures (write K)"},
    {ONE("kind: heat, prandtl: 1, initial: {wave: {amplitude: 0, waves: [1, 0, 0]}}"),
     "dir/case.yaml:5:67: ", "no wave"},
    {ONE("schmidt: 1, expansion: 0.1"), "dir/case.yaml:5:38: ", "force.gravity (for example"},
    {ONE("schmidt: 1, rate: 0.1"), "dir/case.yaml:5:27: ", "without made_from"},
    {ONE("schmidt: 1, made_from: u, rate: 0.1"), "dir/case.yaml:5:38: ", "no scalar 'u'|for example t"},
    {ONE("schmidt: 1, made_from: t, rate: 0.1"), "dir/case.yaml:5:38: ", "made from itself"},
    {PLAIN "scalars: {a: {schmidt: 1, made_from: b, rate: 1}, b: {schmidt: 1, made_from: a, rate: "
           "1}}\n", "dir/case.yaml:5:", "made from itself"},
    {PLAIN "scalars: {a: {schmidt: 1, made_from: b}, b: {schmidt: 1}}\n", "dir/case.yaml:5:11: ",
     "scalars.a.rate, which made_from needs, is missing"},
    {PLAIN "scalars: {a: {schmidt: 1, made_from: b, rate: 1}, b: {kind: heat, prandtl: 1}}\n",
     "dir/case.yaml:5:38: ", "heat is no species"},
    {ONE("schmidt: 1, gradient: [0, 0, 0]"), "dir/case.yaml:5:37: ", "which is no gradient"},
    {ONE("schmidt: 1, gradient: [1 K, 0, 0]"), "dir/case.yaml:5:", "gradient"},
    {ONE("schmidt: 1, source: 1, gradient: [1, 0, 0]"), "dir/case.yaml:5:35: ",
     "scalars.t.source does not go with a mean gradient"},
    {ONE("schmidt: 1, initial: {}"), "dir/case.yaml:5:36: ", "expected a number or a map"},
    {ONE("schmidt: 1, initial: {value: 1, linear: {from: [0, 0, 0], to: [1, 0, 0], values: [1, 2]}}"),
     "dir/case.yaml:5:47: ", "both|keep one"},
    {ONE("schmidt: 1, initial: {linear: {from: [0, 0, 0], to: [1, 0, 0]}}"), "dir/case.yaml:5:37: ",
     "values is missing"},
    {ONE("schmidt: 1, initial: {linear: {from: [0, 0, 0], to: [0, 0, 0], values: [1, 2]}}"),
     "dir/case.yaml:5:67: ", "must differ"},
    {ONE("schmidt: 1, initial: {linear: {from: [0, 0, 0], to: [0, 9, 0], values: [1, 2]}}"),
     "dir/case.yaml:5:71: ", "outside the box"},
    {ONE("schmidt: 1, initial: {shapes: {a: {value: 1}}}"), "dir/case.yaml:5:46: ", "does not say which"},
    {ONE("schmidt: 1, initial: {shapes: {a: {sphere: {center: [1, 1, 1], radius: 1}}}}"),
     "dir/case.yaml:5:46: ", "value is missing"},
    {ONE("schmidt: 1, initial: {shapes: {a: {wall: 1}}}"), "dir/case.yaml:5:50: ", "unknown key"},
    {WALL("{scalars: {u: {value: 1}}}"), "dir/case.yaml:5:", "no scalar 'u'|for example t"},
    {BOX "faces: {x: periodic, ymin: wall, ymax: {wall: {scalars: {u: {value: 1}}}}, z: periodic}\n",
     "dir/case.yaml:4:", "scalars is empty"},
    {WALL("{scalars: {t: {value: 1, flux: 1}}}"), "dir/case.yaml:5:", "has both value and flux (keep one)"},
    {WALL("{scalars: {t: {ramp: 1}}}"), "dir/case.yaml:5:", "does not say what it meets"},
    {WALL("{scalars: {t: warm}}"), "dir/case.yaml:5:", "expected adiabatic or a map"},
    {WALL("{scalars: {t: {}}}"), "dir/case.yaml:5:", "expected adiabatic or a map"},
    {WALL("{scalars: {t: outflow}}"), "dir/case.yaml:5:", "expected adiabatic or a map"},
    {WALL("{scalars: {t: {conduct: {conductivity: 1}}}}"), "dir/case.yaml:5:", "unknown key"},
    {WALL("{scalars: {t: {transfer: {outside: 1}}}}"), "dir/case.yaml:5:", "coefficient or |resistance is missing"},
    {WALL("{scalars: {t: {transfer: {coefficient: 1}}}}"), "dir/case.yaml:5:", "outside is missing"},
    {WALL("{scalars: {t: {transfer: {coefficient: 1, resistance: 1, outside: 1}}}}"), "dir/case.yaml:5:",
     "both|keep one"},
    {WALL("{scalars: {t: {value: 300, ramp: 10}}}"), "dir/case.yaml:5:", "no effect|reference"},
    {WALL("{scalars: {t: {flux: 0, ramp: 10}}}"), "dir/case.yaml:5:", "no effect|the flux"},
    {WALL("{scalars: {t: {flux: 1 W/m2}}}"), "dir/case.yaml:5:", "needs units"},
    {WALL("{velocity: [0, 0.01, 0]}"), "dir/case.yaml:5:", "no scalars (take a velocity face)"},
    {"units: {dx: 1 mm, dt: 1 ms, density: 1 kg/m3}\n" WALL("{scalars: {t: {flux: 1 W/m2}}}"),
     "dir/case.yaml:6:", "needs units.heat_capacity"},
    {"units: {dx: 1 mm, dt: 1 ms, heat_capacity: 1 J/kg/K}\n" PLAIN, "dir/case.yaml:1:1: ",
     "units.density, which units.heat_capacity needs, is missing"},
    {"units: {dx: 1 mm, heat_capacity: 1 J/kg/K}\n" PLAIN, "dir/case.yaml:1:", "no unit of time"},
    {UNITS WALL("{scalars: {t: {flux: 1 W/m3}}}"), "dir/case.yaml:6:", "not a flux of heat|100 W/m2"},
    {INLET("{value: [0.01, 0, 0]}"), "dir/case.yaml:5:",
     "faces.xmin.velocity.scalars.t is missing|{value: 300 K}"},
    {INLET("{value: [0.01, 0, 0], scalars: {t: outflow}}"), "dir/case.yaml:5:", "does not point out"},
    {INLET("{value: [0.01, 0, 0], scalars: {t: {flux: 1}}}"), "dir/case.yaml:5:", "unknown key"},
    {BOX T "faces: {xmin: pressure, xmax: {outflow: {scalars: {t: {value: 1}}}}, y: wall, z: periodic}\n",
     "dir/case.yaml:5:", "unknown key"},
    {BODY("scalars: {t: {conduct: {capacity: 1}}}"), "dir/case.yaml:6:", "conductivity is missing"},
    {BODY("scalars: {t: {conduct: {conductivity: 1}, ramp: 1}}"), "dir/case.yaml:6:", "with conduct"},
    {BODY("velocity: [0.01, 0, 0], scalars: {t: {conduct: {conductivity: 1}}}"), "dir/case.yaml:6:",
     "surface moves"},
    {BODY("scalars: {u: adiabatic}"), "dir/case.yaml:6:", "no scalar 'u'"},
    {BODY("labels: {1: {scalars: {t: {value: 310}}}}"), "dir/case.yaml:6:", "bodies.a.labels|without an image"},
    {LABEL("1a: {scalars: {t: {value: 310}}}"), "dir/case.yaml:6:", "bodies.a.labels.1a|not the number of a label"},
    {LABEL("01: {scalars: {t: {value: 310}}}"), "dir/case.yaml:6:", "bodies.a.labels.01|not the number of a label"},
    {LABEL("-40000: {scalars: {t: {value: 310}}}"), "dir/case.yaml:6:", "-40000|-32768 to 65535"},
    {LABEL("99999999999999999999: {scalars: {t: {value: 310}}}"), "dir/case.yaml:6:", "not the number of a label"},
    {LABEL("1: {scalars: {t: adiabatic}}, 1: {scalars: {t: {value: 310}}}"), "dir/case.yaml:6:", "1|given twice"},
    {LABEL("1: {scalar: {t: {value: 310}}}"), "dir/case.yaml:6:", "bodies.a.labels.1.scalar'|did you mean"},
    {OUT("series: {a: {every: 1, of: scalar}}"), "dir/case.yaml:6:", "scalar, which of: scalar needs"},
    {OUT("series: {a: {every: 1, of: scalar, scalar: u}}"), "dir/case.yaml:6:", "no scalar 'u'"},
    {OUT("series: {a: {every: 1, of: mass, scalar: t}}"), "dir/case.yaml:6:", "only with of: scalar or heat"},
    {OUT("series: {a: {every: 1, of: heat, scalar: t}}"), "dir/case.yaml:6:", "or patch, body or cap"},
    {OUT("series: {a: {every: 1, of: heat, scalar: t, face: ymin}}"), "dir/case.yaml:6:", "adiabatic for t"},
    {BOX T "faces: {x: periodic, y: wall, z: periodic}\n"
     "patches: {in: {face: ymin, rectangle: {from: [2, 0], to: [6, 4]}, velocity: {value: [0, 0.01, 0], scalars: {t: {value: 310}}}},"
     " out: {face: ymax, rectangle: {from: [2, 0], to: [6, 4]}, pressure: {}}}\n"
     "output: {series: {a: {every: 1, of: heat, scalar: t, face: ymin}}}\n", "dir/case.yaml:", "patch in lies on it: write `patch: in`"},
    {OUT("series: {a: {every: 1, of: heat, scalar: t, face: xmin}}"), "dir/case.yaml:6:", "periodic"},
    {OUT("series: {a: {every: 1, of: heat, scalar: t, patch: p}}"), "dir/case.yaml:6:", "no patch 'p'"},
    {OUT("series: {a: {every: 1, of: heat, scalar: t, face: ymin, patch: p}}"), "dir/case.yaml:6:", "keep one"},
    {HOT_WALL "output: {series: {a: {every: 1, of: heat, scalar: t, face: ymax, difference: 1}}}\n",
     "dir/case.yaml:6:", "length or fluid.length"},
    {HOT_WALL "output: {series: {a: {every: 1, of: heat, scalar: t, face: ymax, length: 1}}}\n",
     "dir/case.yaml:6:", "without difference"},
    {OUT("fields: {a: {every: 1, of: [velocity, u]}}"), "dir/case.yaml:6:", "'u' is none of|tags, t"},
    {OUT("fields: {a: {every: 1, of: [t, t]}}"), "dir/case.yaml:6:", "named twice"},
    {OUT("images: {a: {every: 1, of: scalar}}"), "dir/case.yaml:6:", "'scalar' is none of|vorticity, t"},
    {OUT("images: {a: {every: 1, of: t, range: [310, 300]}}"), "dir/case.yaml:6:", "not below"},
    {OUT("images: {a: {every: 1, of: t, unit: C}}"), "dir/case.yaml:6:", "none of K, degC"},
    {OUT("images: {a: {every: 1, of: speed, unit: K}}"), "dir/case.yaml:6:", "no effect on a quantity that is no temperature"},
    {"domain: {cells: [16, 8, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 10, sparse: always}\n"
     FACES T "bodies: {a: {shape: {sphere: {center: [4, 4, 2], radius: 1}}, scalars: {t: {conduct: "
     "{conductivity: 1}}}}}\n", "dir/case.yaml:3:26: ", "run.sparse: always|bodies.a conducts t"},
    {PLAIN T "force: {gravity: [0, 1 m/s, 0]}\n", "dir/case.yaml:6:", "not an acceleration"},
    /* values over faces */
    {VARY(""), "dir/case.yaml:5:", "does not say how it varies"},
    {VARY("unit: K"), "dir/case.yaml:5:", "scalars.t.value does not say how it varies (for example value: {height: {file: air.csv, axis: z}}; or radius)"},
    {VARY("height: {file: air.csv}"), "dir/case.yaml:5:", "value.height.axis is missing"},
    {VARY("height: {axis: z}"), "dir/case.yaml:5:", "value.height.file is missing"},
    {VARY("height: {file: air.csv, axis: x}"), "dir/case.yaml:5:", "x is across face xmin (y or z)"},
    {VARY("height: {file: air.csv, axis: z}, radius: {file: air.csv}"), "dir/case.yaml:5:", "has both height and radius (keep one)"},
    {VARY("height: {file: gone.csv, axis: z}"), "dir/case.yaml:5:", "gone.csv"},
    {VARY("height: {file: three.csv, axis: z}"), "dir/case.yaml:5:", "has 3 numbers in a line, not 2: a height and a value"},
    {VARY("radius: {file: one.csv}"), "dir/case.yaml:5:", "has one line (at least two: each has a distance and a value)"},
    {VARY("height: {file: air.csv, axis: z, from: 9}"), "dir/case.yaml:5:", "are all above those of the cells here"},
    {VARY("height: {file: large.csv, axis: z}"), "dir/case.yaml:5:", "1e+10 is out of range (-1e+09 to 1e+09)"},
    {VARY("height: {file: cold.csv, axis: z}, unit: degC"), "dir/case.yaml:5:", "-300 degC is below the absolute zero"},
    {VARY("height: {file: cold.csv, axis: z}, unit: K"), "dir/case.yaml:5:", "-300 K is below the absolute zero"},
    {VARY("height: {file: air.csv, axis: z}, unit: C"), "dir/case.yaml:5:", "none of K, degC"},
    {VARY("log: {axis: z, roughness: 1, reference: 9}"), "dir/case.yaml:5:", "unknown key 'faces.xmin.velocity.scalars.t.value.log'"},
    {VARY("height: {file: flat.csv, axis: z}}, ramp: {"), "dir/case.yaml:5:", "ramp"},
    {INLET("{value: [0.01, 0, 0], scalars: {t: {value: {height: {file: flat.csv, axis: z}}, ramp: 9}}}"), "dir/case.yaml:5:", "no effect|reference"},
    {BOX "scalars: {t: {kind: heat, diffusivity: 0.1, reference: 20 degC}}\n"
     "faces: {x: periodic, y: wall, z: {wall: {scalars: {t: {value: {height: {file: air.csv, axis: x}}}}}}}\n", "dir/case.yaml:5:",
     "the file's values are in K, as it has no unit, and other temperatures are in degC (unit: degC, or unit: K)"},
    {BOX "scalars: {s: {diffusivity: 0.1}}\n"
     "faces: {x: periodic, y: wall, z: {wall: {scalars: {s: {value: {height: {file: air.csv, axis: x}, unit: K}}}}}}\n", "dir/case.yaml:5:",
     "unit has no effect with a species"},
    {WALL("{scalars: {t: {transfer: {coefficient: 1, outside: {height: {file: air.csv, axis: z}}}}}}"), "dir/case.yaml:5:", "outside is a map; expected a number"},
    {WALL("{scalars: {t: {flux: {height: {file: air.csv, axis: z}}}}}"), "dir/case.yaml:5:", "flux is a map; expected a number"},
    {BODY("scalars: {t: {value: {height: {file: air.csv, axis: z}}}}"), "dir/case.yaml:6:", "bodies.a.scalars.t.value is a map; expected a number"},
    {BOX T "faces: {x: periodic, y: wall, z: periodic}\n"
     "patches: {p: {face: ymin, mask: {file: m.png}, wall: {scalars: {t: {value: {radius: {file: air.csv}}}}}}}\n", "dir/case.yaml:6:", "patches.p.wall.scalars.t.value: radius: not over a mask (height)"},
};
/* clang-format on */

static void every_mistake_gets_its_line(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(mistakes); i++) {
        struct flow_case c;
        char prefix[256], copy[256];
        const struct mistake *const m = &mistakes[i];
        if (read_text(m->text, &c) != STATUS_USAGE)
            fail_msg("no error for: %s", m->text);
        const char *const newline = strchr(said, '\n');
        snprintf(prefix, sizeof prefix, "tagflow: %s", m->where);
        snprintf(copy, sizeof copy, "%s", m->fragments);
        bool found = newline && !newline[1] && !strncmp(said, prefix, strlen(prefix));
        char *rest = copy;
        for (char *f = strsep(&rest, "|"); f; f = strsep(&rest, "|"))
            found = found && strstr(said, f);
        if (!found)
            print_error("expected '%s' with '%s', got: %s", prefix, m->fragments, said);
        wrong += !found;
    }
    assert_int_equal(wrong, 0);
}

#define SIDES                                                                                      \
    BOX "force: {gravity: [0, -1e-6, 0]}\n"                                                        \
        "faces: {xmin: {wall: {scalars: {t: {value: 0.5}}}}, xmax: {wall: {scalars: {t: {value: "  \
        "-0.5}}}}, y: wall, z: periodic}\n"
#define TAME SIDES "scalars: {t: {kind: heat, diffusivity: 0.05, expansion: 1}}\n"
#define SLAB(keys)                                                                                 \
    PLAIN                                                                                          \
    "scalars: {t: {kind: heat, diffusivity: 0.05}}\nbodies: {a: {shape: {box: {from: [0, 0, "      \
    "0], to: [16, 2, 4]}}, " keys "}}\n"

static void warnings_come_when_due(void **state)
{
    static const struct {
        const char *text, *set, *expected; /* "": nothing is said */
    } cases[] = {
        {TAME, NULL, ""},
        {PLAIN "scalars: {t: {schmidt: 1}}\n", NULL, ""},
        {TAME, "fluid.velocity=0.06", ""},
        {TAME, "scalars.t.diffusivity=0.0055", ""},
        {PLAIN
         "scalars: {t: {diffusivity: 0.0055}}\ninitial: {flow: uniform, velocity: [0.09, 0, 0]}\n",
         NULL, ""}, /* the limiter */
        {PLAIN "scalars: {t: {diffusivity: 0.0055, limiter: none}}\n"
               "initial: {flow: uniform, velocity: [0.09, 0, 0]}\n",
         NULL, "Peclet number of a cell, velocity / diffusivity, is 16.4, above 10"},
        {PLAIN "scalars: {t: {diffusivity: 0.0055, magic: 0.25, limiter: none}}\n"
               "initial: {flow: uniform, velocity: [0.09, 0, 0]}\n",
         NULL, "inlets values may lie far outside those given"},
        {BOX "faces: {xmin: {pressure: {scalars: {t: {value: 1}}}}, xmax: {velocity: {value: "
             "[0.05, 0, 0], scalars: {t: outflow}}}, y: wall, z: periodic}\n"
             "scalars: {t: {diffusivity: 0.005, decay: 1e-3}}\n",
         NULL, "at openings of a given value it is off by some 2.5 %"},
        {PLAIN
         "scalars: {t: {diffusivity: 0.01}}\ninitial: {flow: uniform, velocity: [0.099, 0, 0]}\n",
         NULL, ""},
        {PLAIN
         "scalars: {t: {diffusivity: 0.02}}\ninitial: {flow: uniform, velocity: [0.101, 0, 0]}\n",
         NULL, "four times its square, 4.1 %"},
        {TAME, "scalars.t.diffusivity=1.2e-3",
         "0.0012 is below 0.00125, and a part of the scalar lags by 52.1 steps: values at walls "
         "and fronts may be off by some 0.72 %"},
        {TAME, "scalars.t.diffusivity=1.3e-3", ""},
        {TAME, "scalars.t.diffusivity=1.88", "tau- is 8.02, above 8"},
        {TAME, "scalars.t.diffusivity=1.87", ""},
        /* 3 g beta dT L = 0.01 */
        {TAME, "force.gravity=[0, -4.16e-4, 0]", ""},
        {TAME, "force.gravity=[0, -4.18e-4, 0]", "velocities of Mach 0.1"},
        {TAME, "scalars.t.expansion=0", "force.gravity has no effect"},
        {TAME,
         "scalars.t={kind: heat, diffusivity: 0.05, expansion: 1, reference: 2.1, initial: 0}",
         "about 2.1 from the reference|reference: 0)"},
        {TAME,
         "scalars.t={kind: heat, diffusivity: 0.05, expansion: 1, reference: 0.9, initial: 0}", ""},
        {PLAIN "scalars: {t: {schmidt: 1, reference: 3}}\n",
         "scalars.t.initial={linear: {from: [0, "
         "0, 0], to: [1, 0, 0], values: [1000, 1001]}}",
         "costs digits (take reference: 1000.5)"},
        {SLAB("scalars: {t: {value: 303}}"),
         "scalars.t={kind: heat, diffusivity: 0.05, initial: 300}",
         "fluxes may be wrong by percents and more (take reference: 301.5)"},
        {SLAB("scalars: {t: {value: 303}}"),
         "scalars.t={kind: heat, diffusivity: 0.05, initial: 300, reference: 297}", ""},
        {SLAB("scalars: {t: {value: 300}}"),
         "scalars.t={kind: heat, diffusivity: 0.05, initial: 300}",
         "its values are 300 from the reference, 0"},
        {PLAIN "solver: {storage: fp64}\nscalars: {t: {schmidt: 1, reference: 3}}\n",
         "scalars.t.initial={linear: {from: [0, 0, 0], to: [1, 0, 0], values: [1000, 1001]}}", ""},
        {PLAIN
         "scalars: {a: {schmidt: 1, decay: 0.06}, b: {schmidt: 1, made_from: a, rate: 0.05}}\n",
         NULL, "scalars.a: a step takes 0.11 of its value"},
        {PLAIN
         "scalars: {a: {schmidt: 1, decay: 0.06}, b: {schmidt: 1, made_from: a, rate: 0.03}}\n",
         NULL, ""},
        {SLAB("scalars: {t: {conduct: {conductivity: 1, capacity: 50}}}"), NULL, ""},
        {SLAB("scalars: {t: {conduct: {conductivity: 51}}}"), NULL,
         "conductivity and capacity are 1.02e+03 and 1 times"},
        {SLAB("scalars: {t: {conduct: {conductivity: 1, capacity: 1001}}}"), NULL,
         "some 4e+03 steps to settle, the run has 10"},
        {SLAB("scalars: {t: {conduct: {conductivity: 2}}}"), NULL, "tau- is 8.5 in the body"},
        {SLAB("wall: interpolated, scalars: {t: {flux: 1}}"), NULL, "act half-way between cells"},
        {SLAB("wall: interpolated, scalars: {t: {value: 1}}"), NULL, ""},
        {AIR FACES "scalars: {t: {kind: heat, diffusivity: 2.2e-4, initial: 0.3}}\n", NULL,
         "scalars.t.diffusivity is 0.00022 without a unit"},
        {AIR "faces: {x: periodic, ymin: {wall: {scalars: {t: {flux: 100}}}}, ymax: wall, z: "
             "periodic}\n"
             "scalars: {t: {kind: heat, prandtl: 1}}\n",
         NULL,
         "faces.ymin.wall.scalars.t.flux is 100 without a unit: that is in K cells a step, here "
         "1.21e+06 W/m2 (write 100 W/m2"},
        {"units: {dx: 1 mm, dt: 0.1 ms}\ndomain: {cells: [16, 8, 4]}\n"
         "fluid: {viscosity: 1.5e-5 m2/s}\nrun: {steps: 10}\n"
         "faces: {x: periodic, ymin: {wall: {scalars: {t: {flux: 100}}}}, ymax: wall, z: "
         "periodic}\n"
         "scalars: {t: {kind: heat, prandtl: 1}}\n",
         NULL,
         "that is in K cells a step (write 100 W/m2 if you mean that, with units.heat_capacity)"},
        {AIR
         "force: {gravity: [0, -9.81 m/s2, 0]}\n"
         "scalars: {t: {kind: heat, prandtl: 1, expansion: 3e-3 1/K, reference: 300}}\n"
         "faces: {x: periodic, ymin: {wall: {scalars: {t: {value: 280}}}}, ymax: {wall: {scalars: "
         "{t: {value: 320}}}}, z: periodic}\n",
         NULL, "largest difference is 0.12, above 0.1"},
        {AIR FACES "scalars: {t: {kind: heat, prandtl: 1}}\n", NULL, "scalars.t: begins at 0 K"},
        {AIR FACES
         "scalars: {t: {kind: heat, prandtl: 1, reference: 300}}\nsolver: {collision: rr}\n",
         NULL, ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct flow_case c;
        const struct capture capture = capture_start(STDERR_FILENO);
        const enum status s = case_read("case.yaml", cases[i].text, (long)strlen(cases[i].text),
                                        cases[i].set != NULL, &cases[i].set, &c);
        if (!s)
            advice_case(&c);
        capture_stop(capture);
        if (s)
            fail_msg("%zu: %s", i, said);
        case_destroy(&c);
        char copy[256];
        snprintf(copy, sizeof copy, "%s", cases[i].expected);
        char *rest = copy;
        if (!*copy && *said)
            fail_msg("%s by %s: %s", cases[i].text, cases[i].set ? cases[i].set : "", said);
        for (char *f = strsep(&rest, "|"); f; f = strsep(&rest, "|"))
            if (!strstr(said, f))
                fail_msg("%s by %s: expected '%s', got: %s", cases[i].text,
                         cases[i].set ? cases[i].set : "", f, said);
    }
}

static void the_limiter_knows_its_range(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(
        "domain: {cells: [8, 8, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 1}\n"
        "scalars: {a: {diffusivity: 0.004, reference: 2, initial: 3}, b: {diffusivity: 0.004, "
        "made_from: a, rate: 0.1}, d: {diffusivity: 0.006, decay: 0.1, initial: 1}}\n"
        "faces: {x: wall, ymax: wall, z: periodic, ymin: {wall: {velocity: [0.05, 0, 0], "
        "scalars: {a: {value: 6, ramp: 9}, d: {flux: 0.5}}}}}\n",
        &c);
    const struct scalar_given a = scalar_given(&c, 0), b = scalar_given(&c, 2);
    const struct scalar_given d = scalar_given(&c, 1);
    assert_string_equal(c.scalars[2].name, "b");
    assert_true(a.low == 0 && a.high == 4 && !a.opens_up && !a.opens_down);
    assert_true(b.low == 0 && b.high == 0 && b.opens_up && !b.opens_down);
    assert_true(d.low == 0 && d.high == 1 && d.opens_up && d.rises == 3 && d.falls == 0);
    assert_true(scalar_limited(&c, 0) && scalar_limited(&c, 2) && !scalar_limited(&c, 1));
    case_destroy(&c);
}

static void derived_numbers_are_said(void **state)
{
    static const char *const lines[] = {
        /* 1/(24 D) + 1/2, 4 D + 1/2; g beta dT L^3 / (nu D) = 1e-6 16^3 / (0.1 0.05) */
        "t: diffusivity 0.05, Prandtl 2, tau+ 1.33333, tau- 0.7 (magic 0.1667 by auto)",
        "t: Rayleigh 0.8192 (difference 1, length 16)",
        "t: xmin value 0.5 K, xmax value -0.5 K\n",
    };
    struct flow_case c;
    (void)state;
    must_read(TAME, &c);
    struct capture capture = capture_start(STDOUT_FILENO);
    case_say_derived(&c);
    capture_stop(capture);
    for (size_t i = 0; i < LENGTH(lines); i++)
        if (!strstr(said, lines[i]))
            fail_msg("expected '%s', got: %s", lines[i], said);
    assert_true(scalar_magic(c.scalars) == 1.0 / 6);
    case_destroy(&c);
    must_read("domain: {cells: [16, 8, 4]}\nrun: {steps: 10}\n" FACES
              "fluid: {viscosity: 0.1, velocity: 0.02, length: 8}\n"
              "scalars: {s: {diffusivity: 4e-3}, u: {diffusivity: 0.02, magic: 0.125}}\n",
              &c);
    capture = capture_start(STDOUT_FILENO);
    case_say_derived(&c);
    capture_stop(capture);
    assert_non_null(strstr(said, "s: diffusivity 0.004, Schmidt 25, tau+ 16.125, tau- 0.516 (magic "
                                 "0.25 by auto)"));
    assert_non_null(strstr(said, "s: Peclet 40 (velocity 0.02, length 8)"));
    assert_non_null(strstr(said, "u: diffusivity 0.02, Schmidt 5, tau+ 2.0625, tau- 0.58 (magic "
                                 "0.125)"));
    assert_true(scalar_magic(&c.scalars[0]) == 0.25 && scalar_magic(&c.scalars[1]) == 0.125);
    case_destroy(&c);
}

/* Numbers of walls and bodies are said with their unit: of the case, or of the lattice. */
static void numbers_of_walls_have_their_unit(void **state)
{
#define SLABS                                                                                      \
    "domain: {cells: [16, 8, 4]}\nfluid: {viscosity: 0.05}\nrun: {steps: 10}\n"                    \
    "bodies: {b: {shape: {box: {from: [4, 0, 0], to: [8, 4, 4]}}, scalars: {t: {conduct: "         \
    "{conductivity: 0.1, source: 0.01}}}}}\n"                                                      \
    "faces: {x: periodic, ymin: {wall: {scalars: {t: {flux: 0.02}}}}, ymax: {wall: {scalars: {t: " \
    "{transfer: {coefficient: 0.04, outside: 300}}}}}, z: periodic}\n"
#define OF(KIND) "scalars: {t: {kind: " KIND ", diffusivity: 0.05, reference: 300}}\n"
#define SCALES "units: {dx: 2 mm, dt: 0.1 ms, density: 10 kg/m3"
    static const struct {
        const char *text, *said;
    } cases[] = {
        {SLABS OF("heat"),
         "t: ymin flux 0.02 K cells a step, ymax transfer 0.04 cells a step from "
         "26.85 degC (300 K), b conducts 0.1 cells^2 a step with a source of 0.01 K a step\n"},
        {SLABS OF("species"),
         "t: ymin flux 0.02 cells a step, ymax transfer 0.04 cells a step from "
         "300, b conducts 0.1 cells^2 a step with a source of 0.01 parts a "
         "step\n"},
        /* dx / dt is 20 m/s, dx^2 / dt 0.04 m2/s; a heat capacity of 10000 J/m3/K */
        {SCALES ", heat_capacity: 1000 J/(kg K)}\n" SLABS OF("heat"),
         "t: ymin flux 4000 W/m2, ymax transfer 8000 W/m2/K from 26.85 degC (300 K), b conducts 40 "
         "W/m/K with a "
         "source of 1e+06 W/m3\n"},
        {SCALES "}\n" SLABS OF("heat"), "t: ymin flux 0.4 K m/s, ymax transfer 0.8 m/s from 26.85 "
                                        "degC (300 K), b conducts 0.004 m2/s with a "
                                        "source of 100 K/s\n"},
        {SCALES "}\n" SLABS OF("species"),
         "t: ymin flux 0.4 m/s, ymax transfer 0.8 m/s from 300, b conducts 0.004 m2/s with a "
         "source of 100 1/s\n"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct flow_case c;
        must_read(cases[i].text, &c);
        struct capture capture = capture_start(STDOUT_FILENO);
        case_say_derived(&c);
        capture_stop(capture);
        if (!strstr(said, cases[i].said))
            fail_msg("expected '%s', got: %s", cases[i].said, said);
        if (i == 2 && !strstr(said, "t: diffusivity 0.05 (0.002 m2/s), "))
            fail_msg("no diffusivity in m2/s: %s", said);
        case_destroy(&c);
    }
}

/* Every text that a case is cut to is read or refused with one line; a sanitizer sees leaks. */
static void cut_text_gets_one_line(void **state)
{
    (void)state;
    for (size_t length = strlen(EVERYTHING); length > 150; length -= 3) {
        struct flow_case c;
        char *const text = strndup(EVERYTHING, length);
        if (!read_text(text, &c))
            case_destroy(&c);
        else if (strchr(said, '\n') != strrchr(said, '\n'))
            fail_msg("several lines: %s", said);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(scalars_are_sorted),
        cmocka_unit_test(units_are_converted),
        cmocka_unit_test(resolved_reads_back_to_the_same),
        cmocka_unit_test(values_keep_their_bits),
        cmocka_unit_test(outputs_name_scalars),
        cmocka_unit_test(temperatures_are_shown_as_given),
        cmocka_unit_test(values_vary_over_faces),
        cmocka_unit_test(every_mistake_gets_its_line),
        cmocka_unit_test(warnings_come_when_due),
        cmocka_unit_test(the_limiter_knows_its_range),
        cmocka_unit_test(derived_numbers_are_said),
        cmocka_unit_test(numbers_of_walls_have_their_unit),
        cmocka_unit_test(cut_text_gets_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
