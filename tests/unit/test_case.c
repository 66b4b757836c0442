/* Cases: what is read, how it is resolved, and which one line every mistake gets. */
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

/* What case_read said on stderr. */
static char said[8192];

static FILE *capture_start(int stream, int *saved)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    *saved = dup(stream);
    assert_true(*saved >= 0 && dup2(fileno(file), stream) >= 0);
    return file;
}

static void capture_stop(int stream, int saved, FILE *file)
{
    fflush(NULL);
    assert_true(dup2(saved, stream) >= 0);
    close(saved);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
}

/* The text is copied to a block of exactly its size, so that a sanitizer sees reads behind it. */
static enum status read_bytes(const char *text, size_t length, int set_count,
                              const char *const *sets, struct flow_case *c)
{
    int saved;
    char *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, text, length);
    FILE *file = capture_start(STDERR_FILENO, &saved);
    const enum status s = case_read("dir/case.yaml", exact, (long)length, set_count, sets, c);
    capture_stop(STDERR_FILENO, saved, file);
    free(exact);
    return s;
}

static enum status read_text(const char *text, const char *set, struct flow_case *c)
{
    return read_bytes(text, strlen(text), set != NULL, &set, c);
}

static void must_read(const char *text, const char *set, struct flow_case *c)
{
    const enum status s = read_text(text, set, c);
    if (s)
        print_error("unexpected: %s", said);
    assert_int_equal(s, STATUS_OK);
    assert_string_equal(said, "");
}

/* The same with several settings, separated by |. */
static void must_read_sets(const char *text, const char *together, struct flow_case *c)
{
    char copy[512];
    const char *sets[4];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", together);
    char *rest = copy;
    for (char *one = strsep(&rest, "|"); one; one = strsep(&rest, "|"))
        sets[count++] = one;
    assert_int_equal(case_read("dir/case.yaml", text, (long)strlen(text), count, sets, c),
                     STATUS_OK);
}

/* Is it one line that begins with the place and holds every fragment ("a|b")? */
static bool message_is(const char *where, const char *fragments)
{
    char copy[512], prefix[512];
    bool found = true;
    snprintf(copy, sizeof copy, "%s", fragments);
    snprintf(prefix, sizeof prefix, "tagflow: %s", where);
    const char *newline = strchr(said, '\n');
    if (!newline || newline[1] || strncmp(said, prefix, strlen(prefix)) != 0)
        found = false;
    char *rest = copy;
    for (char *f = strsep(&rest, "|"); f; f = strsep(&rest, "|"))
        found = found && strstr(said, f);
    if (!found)
        print_error("expected '%s' with '%s', got: %s\n", prefix, fragments, said);
    return found;
}

static void check_zeroed(const struct flow_case *c)
{
    static const struct flow_case zero;
    assert_memory_equal(c, &zero, sizeof zero);
}

/* A case in which each line is one section, for the positions below. */
#define DOMAIN "domain: {cells: [16, 16, 16]}\n"
#define FLUID "fluid: {viscosity: 0.1}\n"
#ifdef __x86_64__ /* of another architecture */
#define FOREIGN_ISA "neon"
#else
#define FOREIGN_ISA "v3"
#endif
#define FACES "faces: {x: periodic, y: wall, z: periodic}\n"
#define BOX "faces: {x: periodic, y: periodic, z: periodic}\n"
#define RUN "run: {steps: 1000}\n"
#define UNITS "units: {dx: 5 mm, dt: 1 ms, density: 1000 kg/m3}\n"
#define BASE DOMAIN FLUID FACES RUN
#define BALL                                                                                       \
    BASE "bodies: {ball: {shape: {sphere: {center: [8, 8, 8], radius: 3}}}}\n"                     \
         "output: {series: {drag: {every: 3, of: forces, body: ball"
/* Series that run.stop may watch, and may not. */
#define WATCHED                                                                                    \
    "output: {series: {probe: {every: 3, of: probe, point: [1, 1, 1]}, line: {every: 3, of: "      \
    "line, from: [0, 0, 0], to: [1, 1, 1], points: 2}}}\n"

static const char cavity[] =
    "domain:   {cells: [128, 128, 4]}\n"
    "fluid:    {reynolds: 1000, velocity: 0.1, length: 128}\n"
    "solver:   {collision: trt, magic: 0.1875, storage: fp32, arithmetic: fp32}\n"
    "initial:  {flow: rest}\n"
    "faces:\n"
    "  x: wall\n"
    "  ymin: wall\n"
    "  ymax: {wall: {velocity: [0.1, 0, 0]}}\n"
    "  z: periodic\n"
    "run:      {steps: 100000, ranks: auto, threads: 1}\n"
    "check:    {every: 1000, max_velocity: 0.4}\n"
    "output:\n"
    "  log:    {every: 1000}\n"
    "  series: {flow: {every: 100, of: [mass, kinetic_energy, enstrophy, max_velocity]}}\n"
    "  fields: {main: {every: 20000, of: [velocity, density], precision: fp32}}\n"
    "  images: {mid: {every: 20000, of: speed, axis: z, at: 2, range: [0, 0.1]}}\n";

static const char channel[] =
    "units:    {dx: 5 mm, dt: 1 ms, density: 1 kg/m3}\n"
    "domain:   {size: [2.5 m, 0.41 m, 41 cm]}\n"
    "fluid:    {viscosity: 1e-3 m2/s, velocity: 0.2 m/s, length: 0.1 m}\n"
    "solver:   {storage: fp64}\n"
    "faces:    {x: periodic, y: wall, zmin: wall, zmax: {wall: {velocity: [0.1 m/s, 0, 0]}}}\n"
    "force:    {acceleration: [0.02 m/s2, 0, 0]}\n"
    "run:      {duration: 0.5 min, ranks: [4, 2, 1], threads: 3, isa: generic}\n"
    "check:    {every: 10 ms, max_velocity: 1 m/s}\n"
    "output:\n"
    "  log:    {every: 0.1 s}\n"
    "  images:\n"
    "    spin: {every: 1 s, of: vorticity, axis: x, range: [-100 1/s, 100 s^-1]}\n";

static const char shear[] =
    "domain:   {cells: [64, 3, 48]}\n"
    "fluid:    {viscosity: 0.001}\n"
    "solver:   {collision: bgk, arithmetic: fp64}\n"
    "initial:  {flow: shear_layer, axis: y, amplitude: 0.0412345678901234567}\n"
    "faces:    {x: periodic, y: wall, z: periodic}\n"
    "run:      {steps: 7}\n";

static void reads_the_cavity(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(cavity, NULL, &c);
    assert_string_equal(c.name, "case");
    assert_false(c.units.given);
    assert_true(c.units.dx == 1 && c.units.dt == 1 && c.units.density == 1);
    assert_true(c.cells[0] == 128 && c.cells[1] == 128 && c.cells[2] == 4);
    assert_true(c.fluid.viscosity == 0.1 * 128 / 1000 && c.fluid.reynolds == 1000);
    assert_true(case_tau(&c) == 3 * c.fluid.viscosity + 0.5);
    assert_int_equal(c.solver.collision, COLLISION_trt);
    assert_true(c.solver.magic == 0.1875);
    assert_int_equal(c.solver.storage, PRECISION_fp32);
    assert_int_equal(c.initial.flow, INITIAL_rest);
    for (int f = 0; f < 4; f++)
        assert_int_equal(c.faces[f].kind, FACE_wall);
    assert_true(c.faces[3].velocity[0] == 0.1 && c.faces[2].velocity[0] == 0);
    assert_int_equal(c.faces[4].kind, FACE_periodic);
    assert_int_equal(c.faces[5].kind, FACE_periodic);
    assert_int_equal(c.run.steps, 100000);
    assert_true(c.run.ranks[0] == 0 && c.run.threads == 1 && c.run.isa == ISA_auto);
    assert_true(c.check.every == 1000 && c.check.max_velocity == 0.4 && c.log.every == 1000);
    assert_true(c.series_count == 1 && c.fields_count == 1 && c.images_count == 1);
    assert_string_equal(c.series[0].name, "flow");
    assert_int_equal(c.series[0].of, 15);
    assert_int_equal(c.fields[0].of, 1u << FIELD_velocity | 1u << FIELD_density);
    assert_true(c.images[0].of == IMAGE_speed && c.images[0].at == 2 && c.images[0].fixed_range);
    case_destroy(&c);
    check_zeroed(&c);
}

static void converts_physical_units(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(channel, NULL, &c);
    assert_true(c.units.given && c.units.dx == 0.005 && c.units.dt == 0.001);
    assert_true(c.cells[0] == 500 && c.cells[1] == 82 && c.cells[2] == 82);
    /* relative rounding of a handful of products */
    assert_true(fabs(c.fluid.viscosity - 0.04) < 1e-16);
    assert_true(fabs(c.fluid.velocity - 0.04) < 1e-16);
    assert_true(fabs(c.fluid.length - 20) < 1e-13);
    assert_true(fabs(c.fluid.reynolds - 20) < 1e-13);
    assert_true(fabs(c.acceleration[0] - 4e-6) < 1e-20);
    assert_true(fabs(c.faces[5].velocity[0] - 0.02) < 1e-16);
    assert_int_equal(c.run.steps, 30000);
    assert_true(c.run.ranks[0] == 4 && c.run.ranks[1] == 2 && c.run.ranks[2] == 1);
    assert_true(c.run.threads == 3 && c.run.isa == ISA_generic);
    assert_int_equal(c.check.every, 10);
    assert_true(fabs(c.check.max_velocity - 0.2) < 1e-15);
    assert_int_equal(c.log.every, 100);
    assert_true(c.solver.storage == PRECISION_fp64 && c.solver.arithmetic == PRECISION_fp64);
    assert_true(c.images[0].every == 1000 && c.images[0].axis == 0 && c.images[0].at == 250);
    assert_true(fabs(c.images[0].range[0] + 0.1) < 1e-16 && c.images[0].range[1] > 0.09);
    case_destroy(&c);

    must_read("units: {dx: 1 mm, velocity: {physical: 2 m/s, lattice: 0.05}}\n" BASE, NULL, &c);
    assert_true(fabs(c.units.dt - 2.5e-5) < 1e-20);
    assert_true(c.units.density == 1);
    case_destroy(&c);
}

/* Lengths alone, as of an image whose voxels have a size. */
static void an_edge_of_a_cell_makes_lengths(void **state)
{
    static const char text[] =
        "units: {dx: 5 um}\ndomain: {size: [20 um, 40 um, 5 um]}\n" FLUID FACES RUN
        "output: {series: {p: {every: 1, of: probe, point: [10 um, 1, 0.5]}}}\n";
    struct flow_case c, again;
    (void)state;
    must_read(text, NULL, &c);
    assert_true(c.cells[0] == 4 && c.cells[1] == 8 && c.cells[2] == 1);
    assert_true(!c.units.given && c.units.dx == 1 && c.units.dt == 1 && c.units.cell == 5e-6);
    assert_true(c.series[0].from[0] == 2);
    must_read(c.resolved, NULL, &again);
    assert_true(!again.units.given && again.units.cell == 5e-6 && again.cells[1] == 8);
    case_destroy(&again);
    case_destroy(&c);
}

static void fills_in_defaults(void **state)
{
    static const char *const nothing[] = {"output={}", "output=none", "output.log.every=7"};
    struct flow_case c, again;
    (void)state;
    must_read(BASE, NULL, &c);
    assert_true(c.solver.collision == COLLISION_trt && c.solver.magic == 0.1875);
    assert_true(c.solver.storage == PRECISION_fp32 && c.solver.arithmetic == PRECISION_fp32);
    assert_true(c.initial.flow == INITIAL_rest && c.initial.axis == 2);
    assert_true(c.check.every == 1000 && c.check.max_velocity == 0.4);
    assert_true(c.log.every == 50 && c.run.threads == 0 && c.run.ranks[2] == 0);
    assert_true(c.series_count == 1 && !c.fields_count && c.images_count == 1);
    assert_true(c.series[0].every == 200 && c.images[0].every == 500);
    assert_true(c.series[0].of ==
                (1u << SERIES_mass | 1u << SERIES_kinetic_energy | 1u << SERIES_max_velocity));
    assert_true(c.images[0].of == IMAGE_speed && c.images[0].axis == 2 && c.images[0].at == 8);
    must_read(c.resolved, NULL, &again); /* it says all this in words */
    assert_string_equal(c.resolved, again.resolved);
    assert_non_null(strstr(again.resolved, "flow: {every: 200, of: [mass, kinetic_energy, "
                                           "max_velocity]}\n"));
    case_destroy(&again);
    case_destroy(&c);
    must_read(BASE, "run.steps=1e6", &c);
    assert_true(c.series[0].every == 5000 && c.images[0].every == 100000);
    case_destroy(&c);
    must_read(BASE, "run.steps=3", &c);
    assert_true(c.series[0].every == 1 && c.images[0].every == 2);
    case_destroy(&c);
    must_read(BASE, "domain.cells=[9, 40, 9]", &c);
    assert_true(c.images[0].axis == 2 && c.images[0].at == 4);
    case_destroy(&c);
    must_read(BASE, "domain.cells=[9, 8, 9]", &c);
    assert_true(c.images[0].axis == 1 && c.images[0].at == 4);
    case_destroy(&c);
    for (size_t i = 0; i < LENGTH(nothing); i++) {
        must_read(BASE, nothing[i], &c);
        assert_true(!c.series && !c.fields && !c.images && c.log.every > 0);
        case_destroy(&c);
    }

    must_read(DOMAIN BOX RUN "fluid: {viscosity: 0.1, velocity: 0.03, length: 10}\n"
                             "initial: {flow: abc}\n",
              NULL, &c);
    assert_true(c.initial.amplitude == 0.03);
    assert_true(fabs(c.fluid.reynolds - 3) < 1e-15);
    case_destroy(&c);

    must_read(shear, NULL, &c);
    assert_true(c.initial.thickness == 80 && c.initial.perturbation == 0.05);
    assert_true(c.initial.axis == 1 && c.solver.storage == PRECISION_fp64 && c.log.every == 1);
    case_destroy(&c);
}

/* Structs equal but for the pointers, and what those point to equal. */
static void check_equal(const struct flow_case *a, const struct flow_case *b)
{
    struct flow_case x = *a, y = *b;
    assert_string_equal(a->resolved, b->resolved);
    if (a->series)
        assert_memory_equal(a->series, b->series, sizeof *a->series * (size_t)a->series_count);
    if (a->fields)
        assert_memory_equal(a->fields, b->fields, sizeof *a->fields * (size_t)a->fields_count);
    if (a->surfaces)
        assert_memory_equal(a->surfaces, b->surfaces,
                            sizeof *a->surfaces * (size_t)a->surfaces_count);
    if (a->images)
        assert_memory_equal(a->images, b->images, sizeof *a->images * (size_t)a->images_count);
    if (a->averages)
        assert_memory_equal(a->averages, b->averages,
                            sizeof *a->averages * (size_t)a->averages_count);
    x.series = y.series = NULL;
    x.fields = y.fields = NULL;
    x.images = y.images = NULL;
    x.averages = y.averages = NULL;
    x.surfaces = y.surfaces = NULL;
    x.resolved = y.resolved = NULL;
    x.unitless = y.unitless = (struct case_unitless){.others = 0}; /* not of a resolved text */
    x.units.density_given = y.units.density_given = false;         /* and a density */
    x.units.lattice = y.units.lattice = 0;                         /* the resolved case has dt */
    x.solver.chosen = y.solver.chosen = false; /* the resolved case names the operator */
    x.solver.subgrid_given = y.solver.subgrid_given = false;
    x.solver.magic_given = y.solver.magic_given = false; /* it names solver.magic, too */
    for (int f = 0; f < 6; f++)
        x.faces[f].place = y.faces[f].place = NULL;
    assert_memory_equal(&x, &y, sizeof x);
}

static const char everything[] = UNITS
    "domain: {cells: [16, 12, 5]}\n" FLUID FACES
    "run: {steps: 1000, time_limit: 11h50m, stop: {of: enstrophy, change: 1e-6, every: 0.5 s}}\n"
    "checkpoint: {every: 00:01:30, keep: 3}\n"
    "check: {hang: none}\n"
    "output:\n"
    "  series:\n"
    "    flow: {every: 1, of: [mass, enstrophy]}\n"
    "    one: {every: 1, of: mass}\n"
    "    probe: {every: 2, of: probe, point: [8, 0.041 m, 25 mm]}\n"
    "    line: {every: 3, of: line, from: [0, 0, 0], to: [16, 12, 5], points: 100000}\n"
    "    middle: {every: 4, of: flow_rate}\n"
    "    plane: {every: 4, of: flow_rate, axis: z, at: 0}\n"
    "    rest: {every: 10 ms, of: residual}\n"
    "  fields:\n"
    "    all: {every: 10, of: vorticity}\n"
    "    word: {every: 10, of: vorticity, region: all, stride: 3}\n"
    "    part: {every: 10, of: tags, region: {from: [0.5, 0.6, 7.5 mm], to: [0.5, 11.4, 12.5 "
    "mm]}}\n"
    "    half: {every: 10, of: tags, region: {to: [16, 6, 5]}}\n"
    "  averages:\n"
    "    long: {every: 7, of: velocity}\n"
    "    short: {every: 10, of: [stress, density], from: 0.1 s, to: 200, precision: fp64,\n"
    "            region: {from: [1, 2, 3]}}\n"
    "    once: {every: 1000, of: velocity, from: 0 s, to: 0}\n";

static void resolved_reads_back_to_the_same(void **state)
{
    static const char *const texts[] = {
        cavity,
        channel,
        shear,
        BASE,
        DOMAIN BOX RUN "fluid: {reynolds: 777.77, velocity: 0.0333, length: 12.7}\n"
                       "initial: {flow: taylor_green_3d}\n",
        DOMAIN BOX RUN FLUID "initial: {flow: taylor_green_2d, axis: x, amplitude: 1e-3}\n",
        DOMAIN BOX RUN FLUID "initial: {flow: uniform, velocity: [0.1, 0.1, -0.3]}\n"
                             "output: {log: {every: 0}, images: {a: {every: 3, of: density}, "
                             "b: {every: 4, of: speed, range: [-1e-300, 1.0000000000000002]}}}\n",
        "units: {dx: 3.3333333 um, velocity: {physical: 7 cm/s, lattice: 0.0123456789}}\n" BASE,
        everything,
        DOMAIN FLUID FACES
        "run: {steps: 5, time_limit: 0.1 s, stop: {of: max_velocity, change: "
        "0.1234567890123456}}\n"
        "checkpoint: {every: 1e-9 d}\ncheck: {hang: 3.3333333333333333 h}\n"
        "output: {series: {a: {every: 1, of: probe, point: [0.1, 1e-300, 15.9]}}}\n",
        BASE "checkpoint: {every: 9999999999, keep: 1000000}\n",
        UNITS DOMAIN FLUID FACES WATCHED
        "run: {steps: 5, stop: {of: probe.velocity_z, change: 1e-3, over: 7 ms}}\n",
        DOMAIN FLUID FACES "run: {steps: 5, stop: {of: residual, change: 1e-3, over: 2001}}\n",
        UNITS BASE
        "output: {series: {a: {every: 1, of: mass, statistics: {from: 0.3 s}}, b: {every: 2, "
        "of: residual, statistics: none}}}\n",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct flow_case first, second;
        must_read(texts[i], NULL, &first);
        assert_memory_equal(first.resolved, "# as resolved by tagflow", 24);
        must_read(first.resolved, NULL, &second);
        check_equal(&first, &second);
        case_destroy(&first);
        case_destroy(&second);
    }
}

static bool region_is(const struct case_region *r, int x0, int y0, int z0, int x1, int y1, int z1)
{
    return r->lo[0] == x0 && r->lo[1] == y0 && r->lo[2] == z0 && r->hi[0] == x1 && r->hi[1] == y1 &&
           r->hi[2] == z1;
}

static void reads_what_jobs_and_outputs_need(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(everything, NULL, &c);
    assert_true(c.run.time_limit == 42600);
    assert_true(c.run.stop.given && c.run.stop.of == STOP_enstrophy);
    assert_true(c.run.stop.change == 1e-6 && c.run.stop.every == 500);
    assert_true(c.checkpoint.every == 0 && c.checkpoint.seconds == 90 && c.checkpoint.keep == 3);
    assert_true(c.check.hang == 0);

    assert_int_equal(c.series_count, 7);
    const struct case_series *s = c.series;
    assert_true(s[0].kind == SERIES_KIND_flow);
    assert_int_equal(s[0].of, 1u << SERIES_mass | 1u << SERIES_enstrophy);
    assert_true(s[1].kind == SERIES_KIND_flow && s[1].of == 1u << SERIES_mass);
    assert_true(s[2].kind == SERIES_KIND_probe && s[2].every == 2 && s[2].of == 0);
    /* 41 mm of 5 mm is 8.2, up to rounding; 25 mm is 5, the face of the box, exactly */
    assert_true(s[2].from[0] == 8 && fabs(s[2].from[1] - 8.2) < 1e-14 && s[2].from[2] == 5);
    assert_true(s[3].kind == SERIES_KIND_line && s[3].points == 100000);
    assert_true(s[3].from[2] == 0 && s[3].to[0] == 16 && s[3].to[1] == 12 && s[3].to[2] == 5);
    assert_true(s[4].kind == SERIES_KIND_flow_rate && s[4].axis == 0 && s[4].at == 8);
    assert_true(s[5].kind == SERIES_KIND_flow_rate && s[5].axis == 2 && s[5].at == 0);
    assert_true(s[6].kind == SERIES_KIND_residual && s[6].every == 10);

    assert_int_equal(c.fields_count, 4);
    assert_int_equal(c.fields[0].of, 1u << FIELD_vorticity);
    assert_true(c.fields[0].stride == 1 && region_is(&c.fields[0].region, 0, 0, 0, 16, 12, 5));
    assert_true(c.fields[1].stride == 3 && region_is(&c.fields[1].region, 0, 0, 0, 16, 12, 5));
    /* a centre on the corner is within: x 0.5 to 0.5 is cell 0; z 1.5 to 2.5 are cells 1 and 2 */
    assert_true(region_is(&c.fields[2].region, 0, 1, 1, 1, 11, 3));
    assert_true(region_is(&c.fields[3].region, 0, 0, 0, 16, 6, 5));

    assert_int_equal(c.averages_count, 3);
    const struct case_average *a = c.averages;
    assert_string_equal(a[0].name, "long");
    assert_true(a[0].every == 7 && a[0].from == 0 && a[0].to == 1000);
    assert_true(a[0].of == 1u << AVERAGE_velocity && a[0].precision == PRECISION_fp32);
    assert_true(region_is(&a[0].region, 0, 0, 0, 16, 12, 5));
    assert_true(a[1].from == 100 && a[1].to == 200 && a[1].precision == PRECISION_fp64);
    assert_int_equal(a[1].of, 1u << AVERAGE_stress | 1u << AVERAGE_density);
    assert_true(region_is(&a[1].region, 1, 2, 3, 16, 12, 5));
    assert_true(a[2].from == 0 && a[2].to == 0); /* step 0 is a multiple of 1000 */
    case_destroy(&c);
    check_zeroed(&c);

    must_read(BASE, NULL, &c);
    assert_true(c.run.time_limit == 0 && !c.run.stop.given && c.check.hang == 600);
    assert_true(c.checkpoint.every == 0 && c.checkpoint.seconds == 1800 && c.checkpoint.keep == 2);
    assert_true(c.averages_count == 0 && !c.averages);
    case_destroy(&c);

    must_read(BASE "checkpoint: {every: 20000}\n", "run.stop={of: residual, change: 1}", &c);
    assert_true(c.checkpoint.every == 20000 && c.checkpoint.seconds == 0);
    assert_true(c.run.stop.given && c.run.stop.every == 1000 && c.run.stop.change == 1);
    case_destroy(&c);

    must_read(UNITS BASE WATCHED, "run.stop={of: probe.density, change: 1e-3, over: 7 ms}", &c);
    assert_true(c.run.stop.of == STOP_COLUMN && c.run.stop.series == 0 && c.run.stop.column == 5);
    assert_true(c.run.stop.every == 3 && c.run.stop.over == 7);
    case_destroy(&c);

    must_read(BALL ", area: 9, velocity: 0.1}}}\n", NULL, &c);
    assert_int_equal(c.series[0].density_face, -1);
    case_destroy(&c);
    must_read(DOMAIN FLUID RUN
              "faces: {x: outflow, y: wall, z: wall}\n"
              "bodies: {ball: {shape: {sphere: {center: [8, 8, 8], radius: 3}}}}\n"
              "output: {series: {drag: {every: 3, of: forces, body: ball, area: 9, "
              "velocity: 0.1, density: xmax}}}\n",
              NULL, &c);
    assert_int_equal(c.series[0].density_face, 1);
    assert_non_null(strstr(c.resolved, ", velocity: 0.1, density: xmax}"));
    case_destroy(&c);

    must_read(UNITS BASE WATCHED, "output.series.probe.statistics.from=0.3 s", &c);
    assert_true(c.series[0].statistics && c.series[0].statistics_from == 300);
    assert_true(!c.series[1].statistics);
    case_destroy(&c);

    must_read(BASE, "checkpoint.every=0", &c);
    assert_true(c.checkpoint.every == 0 && c.checkpoint.seconds == 0);
    case_destroy(&c);
}

/* Planes by lengths: the cell that a length lies in, the upper one of two that meet there. */
static void planes_may_be_lengths(void **state)
{
    static const struct {
        const char *at;
        int plane;
    } good[] = {{"0 mm", 0},  {"4.9 mm", 0}, {"5 mm", 1}, {"7.5 mm", 1}, {"15 mm", 3},
                {"35 mm", 7}, {"80 mm", 15}, {"3e0", 3},  {"1e1", 10},   {"0.08 m", 15}};
    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++) {
        char set[128];
        struct flow_case c;
        snprintf(set, sizeof set, "output.images.a.at=%s", good[i].at);
        must_read(UNITS BASE "output: {images: {a: {every: 1, of: speed}}, series: {p: {every: 1, "
                             "of: flow_rate, axis: y, at: 1 cm}}}\n",
                  set, &c);
        if (c.images[0].at != good[i].plane)
            fail_msg("%s is plane %d", good[i].at, c.images[0].at);
        assert_int_equal(c.series[0].at, 2);
        case_destroy(&c);
    }
}

/* Whole numbers with an exponent, and pressures: 1 Pa is 4e-5 of the 1000 kg/m3 (5 m/s)^2 of these
 * units. */
static void numbers_as_people_write_them(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(UNITS BASE "checkpoint: {every: 2.5e4}\noutput: {log: {every: 1e2}}\n",
              "run.steps=1e6", &c);
    assert_true(c.run.steps == 1000000 && c.checkpoint.every == 25000 && c.log.every == 100);
    case_destroy(&c);
    must_read(BASE "output: {log: {wall_time: 1m30s}}\n", NULL, &c);
    assert_true(c.log.seconds == 90);
    case_destroy(&c);
    must_read(BASE "output: {log: {every: 0}}\n", NULL, &c);
    assert_true(c.log.every == 0 && c.log.seconds == 0);
    case_destroy(&c);
    must_read(UNITS DOMAIN FLUID RUN "faces: {xmin: {pressure: 250 Pa}, xmax: {pressure: {value: "
                                     "-0.5 kPa}}, ymin: {nonreflecting: {pressure: 100 N/m2}}, "
                                     "ymax: {pressure: 0.01}, z: wall}\n",
              NULL, &c);
    assert_true(fabs(c.faces[0].density - 1.03) < 1e-15 && fabs(c.faces[1].density - 0.94) < 1e-15);
    assert_true(fabs(c.faces[2].density - 1.012) < 1e-15 && c.faces[3].density == 1 + 3 * 0.01);
    case_destroy(&c);
}

/* 10.5 mm in cells of 3 mm come out as 3.5 or a last bit beside it, and yet are a cell's centre;
 * and the end of a box of 141 mm is not outside it. */
static void lengths_meet_faces_and_centres(void **state)
{
    enum { CELLS = 47 };
    int inexact = 0;
    (void)state;
    for (int cell = 0; cell < CELLS; cell++) {
        char text[512];
        struct flow_case c;
        const double centre = (cell + 0.5) * 3;
        inexact += centre / 1e3 / (3 / 1e3) != cell + 0.5;
        snprintf(text, sizeof text,
                 "units: {dx: 3 mm, dt: 1 s}\ndomain: {cells: [47, 1, 1]}\n" FLUID FACES RUN
                 "output: {fields: {a: {every: 1, of: tags, region: {from: [%g mm, 0, 0], to: [%g "
                 "mm, 1, 1]}}}, series: {a: {every: 1, of: probe, point: [%d mm, 0, 3 mm]}}}\n",
                 centre, centre, 3 * (cell + 1));
        must_read(text, NULL, &c);
        assert_true(region_is(&c.fields[0].region, cell, 0, 0, cell + 1, 1, 1));
        assert_true(c.series[0].from[0] == cell + 1 && c.series[0].from[2] == 1);
        case_destroy(&c);
    }
    assert_true(inexact > 0);
}

static void set_turns_words_into_maps_and_back(void **state)
{
    static const char part[] =
        BASE "output: {fields: {main: {every: 1, of: tags, region: {to: [2, 2, 2]}}}}\n";
    static const char word[] = BASE "output: {fields: {main: {every: 1, of: tags, region: all}}}\n";
    static const struct {
        const char *text, *set;
        int hi; /* of z */
        int lo; /* of x */
    } cases[] = {
        {part, "output.fields.main.region=all", 16, 0},
        {part, "output.fields.main.region={from: [0,0,0], to: [8,8,4]}", 4, 0},
        {part, "output.fields.main.region.from=[1, 0, 0]", 2, 1},
        {word, "output.fields.main.region.from=[3, 0, 0]", 16, 3},
        {word, "output.fields.main.region.to=[4, 4, 3]", 3, 0},
        {BASE, "output.fields.main={every: 1, of: tags, region: {to: [16, 16, 1]}}", 1, 0},
    };
    struct flow_case c;
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        must_read(cases[i].text, cases[i].set, &c);
        assert_int_equal(c.fields[0].region.hi[2], cases[i].hi);
        assert_int_equal(c.fields[0].region.lo[0], cases[i].lo);
        case_destroy(&c);
    }
    must_read(DOMAIN FLUID FACES "run: {steps: 9, stop: {of: residual, change: 0.1}}\n",
              "run.stop=none", &c);
    assert_false(c.run.stop.given);
    case_destroy(&c);
}

/* What every checkpoint has to hold is limited, or no checkpoint could be read again. */
static void averages_and_residuals_are_limited(void **state)
{
    char text[16384];
    struct flow_case c;
    (void)state;
    for (int count = CASE_REMEMBERED; count <= CASE_REMEMBERED + 1; count++) {
        int n = sprintf(text, "%s",
                        DOMAIN FLUID FACES "run: {steps: 9}\noutput:\n  series:\n"
                                           "    r: {every: 1, of: residual}\n"
                                           "    f: {every: 1, of: mass}\n"
                                           "  averages:\n");
        for (int i = 1; i < count; i++)
            n += sprintf(text + n, "    a%d: {every: 1, of: velocity}\n", i);
        const enum status s = read_bytes(text, (size_t)n, 0, NULL, &c);
        assert_int_equal(s, count > CASE_REMEMBERED ? STATUS_USAGE : STATUS_OK);
        if (s)
            assert_true(message_is("dir/case.yaml:", "55 averages and residuals|at most 54"));
        else
            case_destroy(&c);
    }
}

/* On levels the sets of scalars take room, too: of 6 scalars and the flow on 8 levels 56 arrays, a
 * residual of run.stop 8 more. */
static void scalars_of_levels_leave_less_room(void **state)
{
    char text[16384];
    struct flow_case c;
    (void)state;
    for (int count = 1; count <= 2; count++) {
        int n = sprintf(text, "%s",
                        DOMAIN FLUID FACES
                        "run: {steps: 9}\n"
                        "refine: {r: {level: 7, box: {from: [7, 7, 7], to: [9, 9, 9]}}}\n"
                        "scalars:\n");
        for (int i = 0; i < 6; i++)
            n += sprintf(text + n, "  s%d: {diffusivity: 1e-4}\n", i);
        n += sprintf(text + n, "output:\n  averages:\n");
        for (int i = 0; i < count; i++)
            n += sprintf(text + n, "    a%d: {every: 1, of: velocity}\n", i);
        const enum status s = read_bytes(text, (size_t)n, 0, NULL, &c);
        assert_int_equal(s, count > 1 ? STATUS_USAGE : STATUS_OK);
        if (s)
            assert_true(
                message_is("dir/case.yaml:", "16 averages and residuals on all levels|at most 8"));
        else
            case_destroy(&c);
    }
}

/* As many entries as there may be, with the longest text each, still make a resolved case that is
 * small enough to be read; one more is refused. */
static void the_longest_resolved_case_is_read(void **state)
{
    enum { MOST = 1024, ENTRY = 512 };
    char *text = malloc((MOST + 2) * ENTRY);
    struct flow_case c, again;
    (void)state;
    assert_non_null(text);
    for (int count = MOST; count <= MOST + 1; count++) {
        int n = sprintf(text, "%s",
                        "domain: {cells: [2147483647, 1, 1]}\n" FLUID FACES
                        "run: {steps: 9999999999}\noutput:\n  fields:\n");
        for (int i = 0; i < count; i++)
            n += sprintf(text + n,
                         "    a%062d: {every: 9999999998, of: [velocity, density, pressure, "
                         "vorticity, tags], stride: 2147483640, region: {from: [2147483640, 0, "
                         "0]}}\n",
                         i);
        const enum status s = read_bytes(text, (size_t)n, 0, NULL, &c);
        if (count > MOST) {
            assert_int_equal(s, STATUS_USAGE);
            assert_true(message_is("dir/case.yaml:6:3: ", "1025 entries|at most 1024"));
            continue;
        }
        assert_int_equal(s, STATUS_OK);
        must_read(c.resolved, NULL, &again);
        assert_string_equal(c.resolved, again.resolved);
        case_destroy(&c);
        case_destroy(&again);
    }
    free(text);
}

static void other_line_ends_are_read(void **state)
{
    struct flow_case c;
    (void)state;
    must_read("\xef\xbb\xbf" DOMAIN FLUID FACES "run:\r\n  steps: 3 # three\r\n", NULL, &c);
    assert_int_equal(c.run.steps, 3);
    case_destroy(&c);
}

static void set_reaches_every_value(void **state)
{
    static const char *const sets[] = {
        "domain.cells=[32, 16, 8]",
        "fluid.reynolds=400",
        "solver={storage: fp64}",
        "faces.ymax.wall.velocity=[0.05, 0, 0]",
        "faces.ymin.wall.velocity=[0.02,0,0.01]",
        "output.log.every=7",
        "run.steps=10",
        "run.steps=20",
        "output.series.extra.every=5",
        "output.series.extra.of=mass",
        "output.images={}",
        "check.every=0",
    };
    struct flow_case c;
    (void)state;
    assert_int_equal(read_bytes(cavity, strlen(cavity), LENGTH(sets), sets, &c), STATUS_OK);
    assert_true(c.cells[0] == 32 && c.cells[2] == 8);
    assert_true(c.fluid.reynolds == 400);
    assert_int_equal(c.solver.arithmetic, PRECISION_fp64);
    assert_true(c.faces[3].velocity[0] == 0.05);
    assert_true(c.faces[2].velocity[0] == 0.02 && c.faces[2].velocity[2] == 0.01);
    assert_true(c.log.every == 7 && c.log.seconds == 600);
    assert_int_equal(c.run.steps, 20);
    assert_true(c.series_count == 2 && c.series[1].every == 5 && c.series[1].of == 1);
    assert_string_equal(c.series[1].name, "extra");
    assert_int_equal(c.images_count, 0);
    assert_int_equal(c.check.every, 0);
    case_destroy(&c);

    must_read(cavity, "output={}", &c);
    assert_true(!c.series_count && !c.fields_count && !c.images_count);
    assert_int_equal(c.log.every, 5000);
    case_destroy(&c);

    must_read(BASE, "force.acceleration=[1e-6, 0, 0]", &c);
    assert_true(c.acceleration[0] == 1e-6);
    case_destroy(&c);

    must_read(cavity, "faces.ymax=wall", &c); /* a map becomes a word again */
    assert_true(c.faces[3].velocity[0] == 0);
    case_destroy(&c);
}

struct mistake {
    const char *text, *set; /* set may be NULL */
    const char *where;      /* the line begins so, after "tagflow: " */
    const char *fragments;  /* "a|b": all in the line */
};

#define AT(line, column) "dir/case.yaml:" #line ":" #column ": "

/* clang-format off */
static const struct mistake mistakes[] = {
    /* the text */
    {"", NULL, AT(1, 1), "empty|domain"},
    {"# nothing\n", NULL, AT(1, 1), "empty"},
    {"---\n", NULL, AT(1, 1), "empty"},
    {"hello\n", NULL, AT(1, 1), "not a case|map"},
    {"- a\n- b\n", NULL, AT(1, 1), "not a case"},
    {"a: [1, 2\nb: 3\n", NULL, AT(2, 2), "not YAML"},
    {DOMAIN "\tfluid: 3\n", NULL, AT(2, 1), "not YAML"},
    {"a: \"\xff\"\n", NULL, AT(1, 5), "not YAML|UTF-8"},
    {"a: \x01\n", NULL, AT(1, 4), "not YAML|control"},
    {BASE "---\na: 1\n", NULL, AT(5, 1), "second document"},
    {"domain: &d {cells: [1, 1, 1]}\n", NULL, AT(1, 9), "anchors"},
    {"domain: *d\n", NULL, AT(1, 9), "aliases"},
    {"domain: !!map {}\n", NULL, AT(1, 9), "tags"},
    {"domain: !x y\n", NULL, AT(1, 9), "tags"},
    {"[a, b]: c\n", NULL, AT(1, 1), "key must be plain text"},
    {"? {a: b}\n: c\n", NULL, AT(1, 3), "key must be plain text"},
    {"a: [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n", NULL, AT(1, 19), "nested"},
    {BASE "run: {steps: 5}\n", NULL, AT(5, 1), "'run'|twice|line 4"},
    {DOMAIN "fluid: {viscosity: 1, viscosity: 2}\n", NULL, AT(2, 23), "'viscosity'|twice"},
    {"domain: {\"cells\\0\": 1}\n", NULL, AT(1, 10), "NUL"},

    /* keys and names */
    {DOMAIN FACES RUN "fluid: {viscosty: 0.1}\n", NULL, AT(4, 9),
     "unknown key 'fluid.viscosty'|did you mean fluid.viscosity?"},
    {BASE "viscosity: 0.1\n", NULL, AT(5, 1), "'viscosity'|did you mean fluid.viscosity?"},
    {BASE "Solver: {}\n", NULL, AT(5, 1), "did you mean solver?"},
    {BASE "bodies: {b: {shape: {union: {sphere: {center: [3, 3, 3], radius: 2}, c: {box: {}}}}}}\n",
     NULL, AT(5, 22),
     "bodies.b.shape.union: each part has a name that you choose, and sphere stands where|union: "
     "{a: {sphere: {...}}, b: ...}"},
    {BASE "bodies: {b: {shape: {complement: {box: {from: [3, 3, 3]}}}}}\n", NULL, AT(5, 22),
     "complement: {a: {box: {...}}, b: ...}"},
    {BASE "bodies: {ball: {center: [3, 3, 3]}}\n", NULL, AT(5, 17),
     "unknown key 'bodies.ball.center' (known in bodies.ball: shape, mesh, image"},
    {BASE "frobnicate: 1\n", NULL, AT(5, 1), "known: units, domain"},
    {BASE "solids: {}\n", NULL, AT(5, 1), "unknown key 'solids'"},
    {BASE "output: {serie: {}}\n", NULL, AT(5, 10), "did you mean output.series?"},
    {BASE "output: {series: {a: {evry: 3}}}\n", NULL, AT(5, 23),
     "did you mean output.series.a.every?"},
    {BASE "output: {series: {a: {zzzzz: 3}}}\n", NULL, AT(5, 23), "known in output.series.a: every, of"},
    {DOMAIN FLUID RUN "faces: {xmn: wall}\n", NULL, AT(4, 9), "did you mean faces.xmin?"},
    {DOMAIN FLUID RUN "faces: {<face>: wall}\n", NULL, AT(4, 9), "unknown key 'faces.<face>'"},
    {BASE "output: {series: {a/b: {every: 3}}}\n", NULL, AT(5, 19), "'a/b'|name"},
    {BASE "output: {series: {a.b: {every: 3}}}\n", NULL, AT(5, 19), "'a.b'|name"},
    {BASE "output: {series: {'': {every: 3}}}\n", NULL, AT(5, 19), "''|name"},
    {BASE "output: {series: {a23456789012345678901234567890123456789012345678901234567890123x: "
          "{every: 3}}}\n",
     NULL, AT(5, 19), "name|63"},
    {BASE "\"a\\nb\\e[1m\\u2028\": 1\n", NULL, AT(5, 1), "'a?b?[1m?\?\?'"},

    /* types */
    {BASE "solver: trt\n", NULL, AT(5, 9), "solver is 'trt'|a map|collision"},
    {BASE "solver:\n", NULL, AT(5, 8), "solver is nothing|a map"},
    {BASE "output: {series: [a, b]}\n", NULL, AT(5, 18), "a list|a map from names"},
    {FLUID FACES RUN "domain: {cells: 16}\n", NULL, AT(4, 17), "'16'|three whole numbers|[128,"},
    {FLUID FACES RUN "domain: {cells: [16, 16]}\n", NULL, AT(4, 17), "a list of 2|three whole"},
    {FLUID FACES RUN "domain: {cells: [16, 1.5, 16]}\n", NULL, AT(4, 22), "'1.5'|whole"},
    {FLUID FACES RUN "domain: {cells: [16, [1], 16]}\n", NULL, AT(4, 22), "a list|whole"},
    {DOMAIN FACES RUN "fluid: {viscosity: thick}\n", NULL, AT(4, 20), "'thick'|a number|0.01"},
    {DOMAIN FACES RUN "fluid: {viscosity: nan}\n", NULL, AT(4, 20), "'nan'|a number"},
    {DOMAIN FACES RUN "fluid: {viscosity: -inf}\n", NULL, AT(4, 20), "'-inf'|a number"},
    {DOMAIN FACES RUN "fluid: {viscosity: 0x1p-3}\n", NULL, AT(4, 20), "a number"},
    {DOMAIN FACES RUN "fluid: {viscosity: 1e999}\n", NULL, AT(4, 20), "too large"},
    {DOMAIN FACES RUN "fluid: {viscosity: }\n", NULL, AT(4, 20), "nothing|a number"},
    {DOMAIN FACES RUN "fluid: {viscosity: {a: 1}}\n", NULL, AT(4, 20), "a map|a number"},
    {DOMAIN FLUID FACES "run: {steps: 1e3s}\n", NULL, AT(4, 14), "'1e3s'|a whole number"},
    {DOMAIN FLUID FACES "run: {steps: 1.5e0}\n", NULL, AT(4, 14), "'1.5e0'|a whole number"},
    {DOMAIN FLUID FACES "run: {steps: 1e-1}\n", NULL, AT(4, 14), "'1e-1'|a whole number"},
    {DOMAIN FLUID FACES "run: {steps: 1.0}\n", NULL, AT(4, 14), "'1.0'|a whole number"},
    {DOMAIN FLUID FACES "run: {steps: 1e30}\n", NULL, AT(4, 14), "'1e30' is out of range"},
    {DOMAIN FLUID FACES "run: {steps: 1e400}\n", NULL, AT(4, 14), "'1e400'"},
    {DOMAIN FLUID FACES "run: {steps: 0x10}\n", NULL, AT(4, 14), "a whole number"},
    {BASE "solver: {collision: [trt]}\n", NULL, AT(5, 21), "a list|one of bgk, trt"},
    {BASE "solver: {collision: tert}\n", NULL, AT(5, 21), "'tert'|bgk, trt|did you mean trt?"},
    {BASE "initial: {flow: shearlayer}\n", NULL, AT(5, 17), "did you mean shear_layer?"},
    {BASE "force: {acceleration: 3}\n", NULL, AT(5, 23), "'3'|list of three numbers"},
    {BASE "force: {acceleration: [1e-3, x, 0]}\n", NULL, AT(5, 30), "'x'"},
    {BASE "output: {log: {every: often}}\n", NULL, AT(5, 23), "'often'|steps or a time"},
    {BASE "output: {log: {every: 1.5}}\n", NULL, AT(5, 23), "'1.5'|steps or a time"},
    {BASE "output: {log: {wall_time: 30}}\n", NULL, AT(5, 27), "'30' has no unit|90 s"},

    /* units */
    {DOMAIN FACES RUN "fluid: {viscosity: 1 m2/s}\n", NULL, AT(4, 20), "has a unit|units"},
    {UNITS DOMAIN FACES RUN "fluid: {viscosity: 1 m/s}\n", NULL, AT(5, 20),
     "'1 m/s' is not a viscosity|1e-6 m2/s"},
    {UNITS DOMAIN FACES RUN "fluid: {viscosity: 1 yd2/s}\n", NULL, AT(5, 20), "unknown unit|mm"},
    {UNITS BASE "solver: {magic: 1 m}\n", NULL, AT(6, 17), "a number without unit"},
    {BASE "units: {dx: 5, dt: 1 s}\n", NULL, AT(5, 13), "'5' has no unit|5 mm"},
    {BASE "units: {dx: 5 s, dt: 1 s}\n", NULL, AT(5, 13), "not a length"},
    {BASE "units: {dx: 0 m, dt: 1 s}\n", NULL, AT(5, 13), "out of range|above 0"},
    {BASE "units: {dx: 1 m, density: 1 kg/m3}\n", NULL, AT(5, 18), "units.density has no effect"},
    {BASE "units: {dt: 1 s}\n", NULL, AT(5, 1), "units.dx is missing"},
    {BASE "units: {dx: 1 m, dt: 1 s, velocity: {physical: 1 m/s, lattice: 0.1}}\n", NULL,
     AT(5, 27), "both units.dt and units.velocity"},
    {BASE "units: {dx: 1 m, velocity: {physical: 1 m/s}}\n", NULL, AT(5, 18),
     "units.velocity.lattice is missing"},
    {BASE "units: {dx: 1e300 m, velocity: {physical: 1e-300 m/s, lattice: 0.1}}\n", NULL,
     AT(5, 32), "step of inf"},
    {UNITS DOMAIN FLUID FACES "run: {duration: 1 us}\n", NULL, AT(5, 17), "0.001 steps"},
    {UNITS BASE "output: {log: {every: 1 us}}\n", NULL, AT(6, 23),
     "'1 us', 0.001 steps, is out of range"},
    {UNITS BASE "output: {log: {every: 1 mm}}\n", NULL, AT(6, 23), "not a time"},

    /* domain */
    {FLUID FACES RUN, NULL, AT(1, 1), "domain is missing|cells"},
    {FLUID FACES RUN "domain: {}\n", NULL, AT(4, 1), "domain.cells or domain.size is missing"},
    {FLUID FACES RUN "domain: {cells: [0, 1, 1]}\n", NULL, AT(4, 18), "'0'|range|1 to 2147483647"},
    {FLUID FACES RUN "domain: {cells: [2147483648, 1, 1]}\n", NULL, AT(4, 18), "out of range"},
    {FLUID FACES RUN "domain: {cells: [99999999999999999999, 1, 1]}\n", NULL, AT(4, 18),
     "out of range"},
    {FLUID FACES RUN "domain: {cells: [2147483647, 2147483647, 1]}\n", NULL, AT(4, 17),
     "out of range"},
    {FLUID FACES RUN "domain: {size: [1 m, 1 m, 1 m]}\n", NULL, AT(4, 16), "needs units"},
    {UNITS FLUID FACES RUN "domain: {size: [1, 1, 1]}\n", NULL, AT(5, 17), "no unit"},
    {UNITS FLUID FACES RUN "domain: {size: [1 m, 0.413 m, 1 m]}\n", NULL, AT(5, 16),
     "along y|82.6 cells|0.41 m or 0.415 m"},
    {UNITS FLUID FACES RUN "domain: {size: [1 m, 1 mm, 1 m]}\n", NULL, AT(5, 16), "less than"},
    {UNITS FLUID FACES RUN "domain: {size: [1e9 m, 1 m, 1 m]}\n", NULL, AT(5, 16), "2147483647"},
    {UNITS FLUID FACES RUN "domain: {size: [1 m, 1 m, 1 m], cells: [1, 1, 1]}\n", NULL, AT(5, 33),
     "both domain.cells and domain.size"},

    /* fluid */
    {DOMAIN FACES RUN, NULL, AT(1, 1), "fluid is missing"},
    {DOMAIN FACES RUN "fluid: {length: 3}\n", NULL, AT(4, 1), "fluid.viscosity or fluid.reynolds"},
    {DOMAIN FACES RUN "fluid: {viscosity: 1, reynolds: 3}\n", NULL, AT(4, 23), "both"},
    {DOMAIN FACES RUN "fluid: {reynolds: 10, length: 8}\n", NULL, AT(4, 1),
     "fluid.velocity|fluid.reynolds needs|missing"},
    {DOMAIN FACES RUN "fluid: {reynolds: 10, velocity: 0.1}\n", NULL, AT(4, 1), "fluid.length"},
    {DOMAIN FACES RUN "fluid: {viscosity: 0}\n", NULL, AT(4, 20), "'0'|out of range|above 0"},
    {DOMAIN FACES RUN "fluid: {viscosity: -1}\n", NULL, AT(4, 20), "out of range"},
    {DOMAIN FACES RUN "fluid: {reynolds: 1e308, velocity: 1e-9, length: 1e-9}\n", NULL, AT(4, 19),
     "viscosity of 0"},
    {DOMAIN FACES RUN "fluid: {viscosity: 1, velocity: 0.6}\n", NULL, AT(4, 33), "at most 0.577"},
    {UNITS DOMAIN FACES RUN "fluid: {viscosity: 1, velocity: 10 m/s}\n", NULL, AT(5, 33),
     "'10 m/s', 2 in lattice units, is out of range"},

    /* viscosity laws */
#define UNITS_ONLY "units: {dx: 1 mm, dt: 1 ms}\n" DOMAIN FACES RUN
#define LAW(keys) DOMAIN FACES RUN "fluid: {viscosity: 0.1, law: " keys "}\n"
    {LAW("power"), NULL, AT(4, 30), "fluid.law|a map"},
    {LAW("{}"), NULL, AT(4, 30), "which law? (power, carreau, casson or herschel_bulkley)"},
    {LAW("{least: 0.1}"), NULL, AT(4, 30), "which law?"},
    {LAW("{power: {index: 0.6}}"), NULL, AT(4, 31), "shear_rate"},
    {LAW("{power: {shear_rate: 0.01}}"), NULL, AT(4, 31), "index"},
    {LAW("{carreau: {infinite: 0.01, time: 100, index: 1.1}}"), NULL, AT(4, 75), "0 to 1"},
    {LAW("{power: {index: 0.05, shear_rate: 0.01}}"), NULL, AT(4, 46), "0.1 to 3"},
    {LAW("{power: {index: 0.5, shear_rate: 0}}"), NULL, AT(4, 63), "above 0"},
    {LAW("{power: {index: 0.5, shear_rate: 0.01}, casson: {yield: 1e-4}}"), NULL, AT(4, 70),
     "has both power and casson|keep one"},
    {LAW("{carreau: {time: 1, index: 0.5}}"), NULL, AT(4, 31), "infinite"},
    {LAW("{casson: {}}"), NULL, AT(4, 31), "yield"},
    {LAW("{casson: {yield: 0}}"), NULL, AT(4, 47), "above 0"},
    {UNITS_ONLY "fluid: {viscosity: 1e-6 m2/s, law: {casson: {yield: 5 mPa}}}\n", NULL, AT(5, 53), "yield: '5 mPa' has a unit of mass|needs units.density"},
    {LAW("{herschel_bulkley: {yield: 1e-4, index: 0.6}}"), NULL, AT(4, 31),
     "shear_rate, which an index other than 1 needs"},
    {LAW("{herschel_bulkley: {yield: 1e-4, index: 1, shear_rate: 0.01}}"), NULL, AT(4, 73),
     "shear_rate|no effect with index 1"},
    {LAW("{casson: {yield: 1e-4}, least: 0.2, most: 0.15}"), NULL, AT(4, 61),
     "the least viscosity is 0.2 and the most is 0.15"},
    {LAW("{casson: {yield: 1e-4}}") "regions: {r: {box: all, viscosity: 0.2}}\n", NULL, AT(5, 25),
     "regions.r.viscosity|no effect with fluid.law"},
    {LAW("{casson: {yield: 1e-4}}") "solver: {subgrid: {smagorinsky: {van_driest: 0.01}}}\n", NULL,
     AT(5, 34), "van_driest|no effect with fluid.law"},
    {LAW("{casson: {yield: 1e-4}}") "solver: {subgrid: {smagorinsky: {}}}\n"
     "scalars: {t: {schmidt: 1}}\n", NULL, AT(5, 10), "solver.subgrid|no effect with fluid.law and scalars"},
#undef LAW
#undef UNITS_ONLY
    /* solver */
    {BASE "solver: {collision: bgk, magic: 0.1}\n", NULL, AT(5, 26), "no effect with collision bgk"},
    {BASE "solver: {magic: 0}\n", NULL, AT(5, 17), "above 0"},
    {BASE "solver: {collision: cumulant, magic: 0.1}\n", NULL, AT(5, 31),
     "no effect with collision cumulant"},
    {BASE "solver: {rates: {bulk: 1}}\n", NULL, AT(5, 10), "solver.rates|no effect with collision auto"},
    {BASE "solver: {collision: rr, rates: {third: 1}}\n", NULL, AT(5, 33),
     "solver.rates.third|no effect with collision rr"},
    {BASE "solver: {collision: mrt, rates: {third: 2}}\n", NULL, AT(5, 41), "solver.rates.third|below 2"},
    {BASE "solver: {subgrid: smagorinsky}\n", NULL, AT(5, 19), "solver.subgrid"},
    {BASE "solver: {subgrid: {smagorinsky: 0.1}}\n", NULL, AT(5, 33), "a map"},
    {DOMAIN FACES RUN "fluid: {viscosity: 1e5}\n", NULL, AT(4, 20),
     "tau is 300000|1.2e+07 steps|at most 10000"},
    {DOMAIN BOX RUN "fluid: {viscosity: 100}\nsolver: {storage: fp16}\n", NULL, AT(4, 20),
     "tau is 300.5|at most 300"},
    {DOMAIN FACES RUN "fluid: {reynolds: 0.1, velocity: 0.05, length: 4}\nsolver: {collision: bgk}\n",
     NULL, AT(4, 19), "tau is 6.5: with collision bgk|2.12 times as much|trt"},
    {DOMAIN FACES RUN "fluid: {viscosity: 22}\nsolver: {collision: rr}\n", NULL, AT(4, 20),
     "with collision rr walls|2.03 times as much"},
    {DOMAIN FACES RUN "fluid: {viscosity: 22}\nsolver: {collision: hermite}\n", NULL, AT(4, 20),
     "with collision hermite walls"},
    {BASE "regions: {r: {box: all, viscosity: 3334}}\n", NULL, AT(5, 11),
     "regions.r: tau is 10002.5"},
    {BASE "solver: {subgrid: {smagorinsky: {constant: 1.1}}}\n", NULL, AT(5, 44), "at most 1"},
    {DOMAIN FLUID BOX RUN "solver: {subgrid: {smagorinsky: {van_driest: 0.01}}}\n", NULL, AT(5, 34),
     "van_driest|no effect without a face that is a wall"},
    {BASE "solver: {storage: fp64, arithmetic: fp32}\n", NULL, AT(5, 37),
     "fp32 does not go with solver.storage fp64|fp64 with fp64"},
    {BASE "solver: {storage: fp16, arithmetic: fp64}\n", NULL, AT(5, 37),
     "fp64 does not go with solver.storage fp16|fp16 with fp32"},
    {BASE "solver: {storage: fp8}\n", NULL, AT(5, 19), "none of fp16, fp32, fp64"},
    {BASE "solver: {arithmetic: fp16}\n", NULL, AT(5, 22), "none of fp32, fp64"},

    /* faces */
    {DOMAIN FLUID RUN, NULL, AT(1, 1), "faces is missing"},
    {DOMAIN FLUID RUN "faces: {x: wall, y: wall, zmin: wall}\n", NULL, AT(4, 1), "zmax is missing"},
    {DOMAIN FLUID RUN "faces: {x: wall, xmin: wall, y: wall, z: wall}\n", NULL, AT(4, 18),
     "xmin is named twice, by x and xmin"},
    {DOMAIN FLUID RUN "faces: {xmin: wall, x: wall, y: wall, z: wall}\n", NULL, AT(4, 21),
     "named twice"},
    {DOMAIN FLUID RUN "faces: {xmin: wall, xmax: periodic, y: wall, z: wall}\n", NULL, AT(4, 27),
     "xmax is periodic but xmin is not"},
    {DOMAIN FLUID RUN "faces: {x: walls, y: wall, z: wall}\n", NULL, AT(4, 12),
     "'walls'|periodic, wall|did you mean wall?"},
    {DOMAIN FLUID RUN "faces: {x: {}, y: wall, z: wall}\n", NULL, AT(4, 12), "a map"},
    {DOMAIN FLUID RUN "faces: {x: , y: wall, z: wall}\n", NULL, AT(4, 12), "nothing|wall"},
    {DOMAIN FLUID RUN "faces: {x: {wall: 3}, y: wall, z: wall}\n", NULL, AT(4, 19), "'3'|a map"},
    {DOMAIN FLUID RUN "faces: {x: {wall: {velocity: [0.2, 0, 0]}}, y: wall, z: wall}\n", NULL,
     AT(4, 30), "faces.x.wall.velocity|Mach 0.346|at most Mach 0.3"},
    {DOMAIN FLUID RUN "faces: {x: {wall: {velocity: [0, 0.5, 0.5]}}, y: wall, z: wall}\n", NULL,
     AT(4, 30), "magnitude 0.707107 is out|magnitude at most 0.577"},

    /* initial */
    {BASE "initial: {flow: rest, amplitude: 0.1}\n", NULL, AT(5, 23), "no effect with flow rest"},
    {BASE "initial: {axis: z}\n", NULL, AT(5, 11), "no effect with flow rest"},
    {BASE "initial: {flow: uniform}\n", NULL, AT(5, 1), "initial.velocity|uniform needs|missing"},
    {BASE "initial: {flow: abc}\n", NULL, AT(5, 1), "initial.amplitude or fluid.velocity"},
    {BASE "initial: {flow: abc, amplitude: 0.1}\n", NULL, AT(5, 17), "periodic faces along y"},
    {BASE "initial: {flow: taylor_green_2d, amplitude: 0.1}\n", NULL, AT(5, 17),
     "periodic faces along y"},
    {BASE "initial: {flow: taylor_green_2d, amplitude: 0.1, thickness: 3}\n", NULL, AT(5, 50),
     "no effect"},
    {"domain: {cells: [8, 8, 9]}\n" FLUID BOX RUN "initial: {flow: abc, amplitude: 0.1}\n", NULL,
     AT(5, 17), "needs a cube, not 8 x 8 x 9"},
    {BASE "initial: {flow: uniform, velocity: [1, 0, 0]}\n", NULL, AT(5, 36), "0.577"},
    {BASE "initial: {flow: pulse}\n", NULL, AT(5, 1), "initial.width"},
    {BASE "initial: {flow: pulse, width: 0}\n", NULL, AT(5, 31), "'0'|above 0"},
    {BASE "initial: {flow: pulse, width: 2, axis: z}\n", NULL, AT(5, 34), "no effect with flow pulse"},
    {BASE "initial: {flow: wave, width: 2, density: 0.6}\n", NULL, AT(5, 42), "'0.6'|0.5"},
    {BASE "initial: {flow: wave, width: 2, center: [1, 2, 300]}\n", NULL, AT(5, 48), "300"},
    {BASE "initial: {flow: vortex, width: 2}\n", NULL, AT(5, 1), "initial.amplitude"},
    {DOMAIN BOX RUN FLUID "initial: {flow: channel, amplitude: 0.1}\n", NULL, AT(5, 17),
     "walls at both ends of one axis, and there are 0"},

    /* run, check, force */
    {DOMAIN FLUID FACES, NULL, AT(1, 1), "run is missing"},
    {DOMAIN FLUID FACES "run: {}\n", NULL, AT(4, 1), "run.steps or run.duration is missing"},
    {DOMAIN FLUID FACES "run: {steps: 3, duration: 4}\n", NULL, AT(4, 17), "both"},
    {DOMAIN FLUID FACES "run: {steps: -3}\n", NULL, AT(4, 14), "'-3'|1 to 9999999999"},
    {DOMAIN FLUID FACES "run: {steps: 10000000000}\n", NULL, AT(4, 14), "1 to 9999999999"},
    {DOMAIN FLUID FACES "run: {duration: 1e300}\n", NULL, AT(4, 17), "1e+300 steps"},
    {DOMAIN FLUID FACES "run: {steps: 1, ranks: [17, 1, 1]}\n", NULL, AT(4, 24), "17 ranks"},
    {DOMAIN FLUID FACES "run: {steps: 1, ranks: many}\n", NULL, AT(4, 24), "auto or a list"},
    {DOMAIN FLUID FACES "run: {steps: 1, ranks: [0, 1, 1]}\n", NULL, AT(4, 25), "range"},
    {DOMAIN FLUID FACES "run: {steps: 1, exchange: [z, y]}\n", NULL, AT(4, 27), "y is not periodic"},
    {DOMAIN FLUID FACES "run: {steps: 1, exchange: [z, w]}\n", NULL, AT(4, 31),
     "'w' is none of x, y, z, cut, all"},
    {DOMAIN FLUID FACES "run: {steps: 1, threads: 1025}\n", NULL, AT(4, 26), "1 to 1024"},
    {DOMAIN FLUID FACES "run: {steps: 1, threads: 0}\n", NULL, AT(4, 26), "1 to 1024"},
    {DOMAIN FLUID FACES "run: {steps: 1, threads: all}\n", NULL, AT(4, 26), "auto or a whole number"},
    {DOMAIN FLUID FACES "run: {steps: 1, isa: v5}\n", NULL, AT(4, 22), "auto, generic, v3, v4, neon, sve512"},
    {DOMAIN FLUID FACES "run: {steps: 1, isa: " FOREIGN_ISA "}\n", NULL, AT(4, 22),
     "run.isa: this program has no kernels for " FOREIGN_ISA ", only for generic|auto takes"},
    {BASE "check: {max_velocity: 0.6}\n", NULL, AT(5, 23), "at most 0.577"},
    {BASE "check: {every: -1}\n", NULL, AT(5, 16), "0 to"},
    {BASE "force: {acceleration: [1, 0, 0]}\n", NULL, AT(5, 23), "magnitude at most 0.1"},
    {BASE "force: {acceleration: [1e-6, 0, 0], ramp: 0}\n", NULL, AT(5, 43), "above 0"},
    {BASE "force: {acceleration: [1e-6, 0, 0], ramp: 9, sine: {period: 9}}\n", NULL, AT(5, 46),
     "force has both ramp and sine"},
    {BASE "force: {flow_rate: {velocity: 0.1, axis: y}}\n", NULL, AT(5, 9), "y, which is not periodic"},
    {BASE "force: {acceleration: [1e-6, 0, 0], flow_rate: {velocity: 0.1}}\n", NULL, AT(5, 9),
     "force.acceleration has no effect with force.flow_rate"},
    {BASE "force: {ramp: 9, flow_rate: {velocity: 0.1}}\n", NULL, AT(5, 9),
     "force.ramp has no effect"},
    {BASE "force: {flow_rate: {velocity: 0.1, every: 2000}}\n", NULL, AT(5, 9), "time 1000 is shorter"},
    {BASE "force: {flow_rate: {axis: x}}\n", NULL, AT(5, 9), "force.flow_rate.velocity is missing"},
    {BASE "regions: {a: {box: {to: [99, 1, 1]}}}\n", NULL, AT(5, 26), "'99' is outside the box (0 to 16 along x)"},
    {BASE "regions: {a: {box: {from: [3, 3, 3], to: [3.2, 9, 9]}}}\n", NULL, AT(5, 20), "no cell has its centre"},
    {BASE "regions: {a: {box: {from: [9, 0, 0], to: [3, 9, 9]}}}\n", NULL, AT(5, 20), "swap them"},
    {BASE "regions: {a: {viscosity: 0.1}}\n", NULL, AT(5, 11), "regions.a.box is missing"},
    {BASE "regions: {a: {box: all, collision: btk}}\n", NULL, AT(5, 36), "'btk'|did you mean bgk?"},
    {BASE "regions: {a: {box: all, collision: bgk, magic: 1}}\n", NULL, AT(5, 41), "with collision bgk"},
    {BASE "regions: {a: {box: all, viscosity: 0}}\n", NULL, AT(5, 36), "above 0"},
    {BASE "regions: {a: {box: all, sponge: {strength: 0.1}}}\n", NULL, AT(5, 25), "towards is missing"},
    {BASE "regions: {a: {box: all, sponge: {towards: x, strength: 0.1}}}\n", NULL, AT(5, 43), "'x'"},
    {BASE "regions: {a: {box: all, sponge: {towards: xmax, strength: 1.5}}}\n", NULL, AT(5, 59), "at most 1"},
    {BASE "force: {ramp: 9}\n", NULL, AT(5, 9), "force.ramp has no effect without force.acceleration"},
    {BASE "force: {acceleration: [1e-6, 0, 0], sine: {phase: 0.5}}\n", NULL, AT(5, 37),
     "force.sine.period is missing"},
    {BASE "force: {acceleration: [1e-6, 0, 0], table: [0, 1]}\n", NULL, AT(5, 44), "a list of 2|a map"},
    {BASE "output: {series: {a: {of: mass}}}\n", NULL, AT(5, 19),
     "output.series.a.every is missing|a: {every: 100}"},
    {BASE "output: {series: {a: {every: 5}}}\n", NULL, AT(5, 19), "output.series.a.of is missing"},
    {BASE "output: {series: {a: }}\n", NULL, AT(5, 22), "nothing|a map"},
    {BASE "output: {series: {a: {every: 0, of: mass}}}\n", NULL, AT(5, 30), "(1 to 9999999999 steps)"},
    {BASE "output: {series: {a: {every: 1, of: []}}}\n", NULL, AT(5, 37), "a list|mass"},
    {BASE "output: {series: {a: {every: 1, of: [mass, mas]}}}\n", NULL, AT(5, 44),
     "did you mean mass?"},
    {BASE "output: {series: {a: {every: 1, of: [mass, mass]}}}\n", NULL, AT(5, 44), "twice"},
    {BASE "output: {fields: {a: {every: 1, of: speed}}}\n", NULL, AT(5, 37), "velocity, density"},

    /* series of other kinds */
    {BASE "output: {series: {a: {every: 1, of: [probe, mass]}}}\n", NULL, AT(5, 38),
     "'probe' stands alone|of: probe"},
    {BASE "output: {series: {a: {every: 1, of: [mass, line]}}}\n", NULL, AT(5, 44),
     "'line' stands alone"},
    {BASE "output: {series: {a: {every: 1, of: [residual]}}}\n", NULL, AT(5, 38), "stands alone"},
    {BASE "output: {series: {a: {every: 1, of: flow}}}\n", NULL, AT(5, 37),
     "'flow' is none of mass|residual"},
    {BASE "output: {series: {a: {every: 1, of: flowrate}}}\n", NULL, AT(5, 37),
     "did you mean flow_rate?"},
    {BASE "output: {series: {a: {every: 1, of: [[mass]]}}}\n", NULL, AT(5, 38), "a list of 1"},
    {BASE "output: {series: {a: {every: 1, of: {probe: 1}}}}\n", NULL, AT(5, 37),
     "a map|or one of probe, line"},
    {BASE "output: {series: {a: {every: 1, of: }}}\n", NULL, AT(5, 37), "nothing"},
    {BASE "output: {series: {a: {every: 1, of: probe}}}\n", NULL, AT(5, 19),
     "output.series.a.point, which of: probe needs, is missing|point: [8"},
    {BASE "output: {series: {a: {every: 1, of: mass, point: [1, 1, 1]}}}\n", NULL, AT(5, 43),
     "point has no effect with columns of the flow, only with of: probe"},
    {BASE "output: {series: {a: {every: 1, of: residual, points: 3}}}\n", NULL, AT(5, 47),
     "points has no effect with of: residual, only with of: line"},
    {BASE "output: {series: {a: {every: 1, of: probe, point: [1, 1, 1], at: 3}}}\n", NULL, AT(5, 62),
     "at has no effect with of: probe, only with of: flow_rate"},
    {BASE "output: {series: {a: {every: 1, of: probe, point: [1, 1]}}}\n", NULL, AT(5, 51),
     "a list of 2|three numbers"},
    {BASE "output: {series: {a: {every: 1, of: probe, point: [1, 1, 16.001]}}}\n", NULL, AT(5, 58),
     "'16.001' is outside the box (0 to 16 along z)"},
    {BASE "output: {series: {a: {every: 1, of: probe, point: [1, -1e-9, 1]}}}\n", NULL, AT(5, 55),
     "outside the box (0 to 16 along y)"},
    {BASE "output: {series: {a: {every: 1, of: probe, point: [nan, 1, 1]}}}\n", NULL, AT(5, 52),
     "'nan'"},
    {BASE "output: {series: {a: {every: 1, of: probe, point: [1e400, 1, 1]}}}\n", NULL, AT(5, 52),
     "too large"},
    {BASE "output: {series: {a: {every: 1, of: probe, point: [[1], 1, 1]}}}\n", NULL, AT(5, 52),
     "a list of 1|three numbers"},
    {BASE "output: {series: {a: {every: 1, of: probe, point: [1 m, 1, 1]}}}\n", NULL, AT(5, 52),
     "needs units"},
    {UNITS BASE "output: {series: {a: {every: 1, of: probe, point: [1 s, 1, 1]}}}\n", NULL,
     AT(6, 52), "not a length"},
    {UNITS BASE "output: {series: {a: {every: 1, of: probe, point: [1, 8.1 cm, 1]}}}\n", NULL,
     AT(6, 55), "'8.1 cm', 16.2 cells, is outside the box (0 to 16 cells along y)"},
    {BASE "output: {series: {a: {every: 1, of: line, from: [1, 1, 1], points: 3}}}\n", NULL,
     AT(5, 19), "output.series.a.to, which of: line needs"},
    {BASE "output: {series: {a: {every: 1, of: line, from: [1, 1, 0], to: [1, 1, -0], points: 3}}}\n",
     NULL, AT(5, 64), "output.series.a.to is where the line begins|must differ"},
    {BASE "output: {series: {a: {every: 1, of: line, from: [1, 1, 0], to: [1, 1, 2], points: 1}}}\n",
     NULL, AT(5, 83), "2 to 100000"},
    {BASE "output: {series: {a: {every: 1, of: line, from: [1, 1, 0], to: [1, 1, 2], points: "
          "100001}}}\n",
     NULL, AT(5, 83), "2 to 100000"},
    {BASE "output: {series: {a: {every: 1, of: flow_rate, at: 16}}}\n", NULL, AT(5, 52), "0 to 15"},
    {BASE "output: {series: {a: {every: 1, of: flow_rate, axis: 1}}}\n", NULL, AT(5, 54), "x, y, z"},

    /* regions, strides and averages */
    {BASE "output: {fields: {a: {every: 1, of: tags, region: some}}}\n", NULL, AT(5, 51),
     "output.fields.a.region is 'some'; expected all or a map|from: [0, 0, 0]"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: }}}\n", NULL, AT(5, 51), "nothing"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: {}}}}\n", NULL, AT(5, 51), "empty map"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: [all]}}}\n", NULL, AT(5, 51), "a list"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: {form: [0, 0, 0]}}}}\n", NULL,
     AT(5, 52), "did you mean output.fields.a.region.from?"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: {to: [0, 0, 17]}}}}\n", NULL, AT(5, 63),
     "'17' is outside the box"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: {from: [3, 0, 0], to: [2, 9, 9]}}}}\n",
     NULL, AT(5, 51), "from 3 is above to 2 along x"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: {from: [0, 1.6, 0], to: [1, 2.4, "
          "9]}}}}\n",
     NULL, AT(5, 51), "no cell has its centre between 1.6 and 2.4 along y"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: {from: [16, 0, 0]}}}}\n", NULL,
     AT(5, 51), "no cell has its centre"},
    {BASE "output: {fields: {a: {every: 1, of: tags, stride: 0}}}\n", NULL, AT(5, 51), "1 to"},
    {BASE "output: {fields: {a: {every: 1, of: tags, stride: -1}}}\n", NULL, AT(5, 51), "1 to"},
    {BASE "output: {fields: {a: {every: 1, of: tags, stride: 2147483648}}}\n", NULL, AT(5, 51),
     "1 to 2147483647"},
    {BASE "output: {averages: {a: {of: velocity}}}\n", NULL, AT(5, 21), "every is missing"},
    {BASE "output: {averages: {a: {every: 1}}}\n", NULL, AT(5, 21), "of is missing"},
    {BASE "output: {averages: {a: {every: 0, of: velocity}}}\n", NULL, AT(5, 32), "1 to"},
    {BASE "output: {averages: {a: {every: 1, of: pressure}}}\n", NULL, AT(5, 39),
     "velocity, density, stress"},
    {BASE "output: {averages: {a: {every: 1, of: velocity, stride: 2}}}\n", NULL, AT(5, 49),
     "unknown key"},
    {BASE "output: {averages: {a: {every: 1, of: velocity, from: -1}}}\n", NULL, AT(5, 55), "0 to"},
    {BASE "output: {averages: {a: {every: 1, of: velocity, from: 1001}}}\n", NULL, AT(5, 55),
     "from step 1001 to step 1000|the last step"},
    {BASE "output: {averages: {a: {every: 1, of: velocity, to: 1001}}}\n", NULL, AT(5, 53),
     "step 1001 is after the last one, 1000"},
    {BASE "output: {averages: {a: {every: 1, of: velocity, from: 9, to: 8}}}\n", NULL, AT(5, 62),
     "from step 9 to step 8"},
    {BASE "output: {averages: {a: {every: 10, of: velocity, from: 11, to: 19}}}\n", NULL, AT(5, 64),
     "no multiple of every, 10, is between step 11 and step 19"},
    {BASE "output: {averages: {a: {every: 1001, of: velocity, from: 1}}}\n", NULL, AT(5, 58),
     "no multiple"},
    {BASE "output: {averages: {a: {every: 1, of: velocity, to: 99999999999999999999}}}\n", NULL,
     AT(5, 53), "out of range"},
    {BASE "output: {fields: {a: {every: 1, of: tags}}, averages: {a: {every: 1, of: velocity}}}\n",
     NULL, AT(5, 56), "output.averages.a and output.fields.a have the same name"},
    {BASE "output: {averages: {a.b: {every: 1, of: velocity}}}\n", NULL, AT(5, 21), "name"},

    /* jobs */
    {BASE "checkpoint: {every: none}\n", NULL, AT(5, 21), "'none'|steps or a wall time"},
    {BASE "checkpoint: {every: -1}\n", NULL, AT(5, 21), "0 to 9999999999 steps"},
    {BASE "checkpoint: {every: 1.5}\n", NULL, AT(5, 21), "'1.5'|steps or a wall time"},
    {BASE "checkpoint: {every: 99999999999999999999}\n", NULL, AT(5, 21), "out of range"},
    {BASE "checkpoint: {every: 0 s}\n", NULL, AT(5, 21), "above 0"},
    {BASE "checkpoint: {every: 5 mm}\n", NULL, AT(5, 21), "unknown unit|11h50m"},
    {BASE "checkpoint: {every: [30 min]}\n", NULL, AT(5, 21), "a list of 1"},
    {BASE "checkpoint: {every: nan}\n", NULL, AT(5, 21), "'nan'"},
    {BASE "checkpoint: {every: 1e400 s}\n", NULL, AT(5, 21), "too large"},
    {BASE "checkpoint: {keep: 0}\n", NULL, AT(5, 20), "1 to"},
    {BASE "checkpoint: {evry: 5}\n", NULL, AT(5, 14), "did you mean checkpoint.every?"},
    {BASE "checkpoint: 5\n", NULL, AT(5, 13), "a map"},
    {BASE "check: {hang: 600}\n", NULL, AT(5, 15), "'600' has no unit|90 s|or none"},
    {BASE "check: {hang: 0}\n", NULL, AT(5, 15), "has no unit"},
    {BASE "check: {hang: -5 min}\n", NULL, AT(5, 15), "above 0"},
    {BASE "check: {hang: }\n", NULL, AT(5, 15), "nothing"},
    {DOMAIN FLUID FACES "run: {steps: 1, time_limit: 11:60:00}\n", NULL, AT(4, 29), "HH:MM:SS"},
    {DOMAIN FLUID FACES "run: {steps: 1, time_limit: 12}\n", NULL, AT(4, 29), "'12' has no unit"},
    {DOMAIN FLUID FACES "run: {steps: 1, time_limit: 40 y}\n", NULL, AT(4, 29), "unknown unit"},
    {DOMAIN FLUID FACES "run: {steps: 1, time_limit: 11575 d}\n", NULL, AT(4, 29),
     "at most 1000000000 s"},
    {DOMAIN FLUID FACES "run: {steps: 1, time_limit: {h: 3}}\n", NULL, AT(4, 29), "a map"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: residual}\n", NULL, AT(4, 23),
     "'residual'; expected none or a map|change: 1e-6"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {}}\n", NULL, AT(4, 23), "empty map"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {change: 1e-6}}\n", NULL, AT(4, 17),
     "run.stop.of is missing"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: residual}}\n", NULL, AT(4, 17),
     "run.stop.change is missing"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: mass, change: 1e-6}}\n", NULL, AT(4, 28),
     "residual, kinetic_energy"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: residual, change: 0}}\n", NULL, AT(4, 46),
     "above 0, at most 1"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: residual, change: 1.1}}\n", NULL, AT(4, 46),
     "above 0, at most 1"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: residual, change: nan}}\n", NULL, AT(4, 46),
     "'nan'"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: residual, change: 1, every: 0}}\n", NULL,
     AT(4, 56), "1 to"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: residual, change: 1, every: 9, over: 8}}\n", NULL,
     AT(4, 65), "8 steps are less than the 9 between two checks"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: residual, change: 1, every: 1, over: 100000}}\n",
     NULL, AT(4, 65), "at most 100000; check less often"},
    {DOMAIN FLUID FACES "run: {steps: 1, stop: {of: mas, change: 1}}\n", NULL, AT(4, 28),
     "permeability, or a column of a series such as drag.c_x"},
    {BASE WATCHED, "output.series.probe.statistics={}", "--set ", "empty map"},
    {BASE WATCHED, "output.series.probe.statistics=yes", "--set ", "none or a map"},
    {BASE WATCHED, "output.series.probe.statistics={from: -1}", "--set ", "out of range"},
    {BASE WATCHED, "output.series.probe.statistics={from: 1001}", "--set ",
     "statistics.from: step 1001 is after the last one, 1000"},
    {BASE WATCHED, "output.series.line.statistics={from: 1}", "--set ",
     "statistics has no effect with of: line"},
    {BASE WATCHED, "run.stop={of: probe.density, change: 1}", "--set ",
     "run.stop.over, which a column needs, is missing"},
    {BASE WATCHED, "run.stop={of: probe.density, change: 1, over: 9, every: 9}", "--set ",
     "run.stop.every has no effect with a column"},
    {BASE WATCHED, "run.stop={of: q.density, change: 1, over: 9}", "--set ",
     "there is no series 'q' (for example probe)"},
    {BASE WATCHED, "run.stop={of: prob.density, change: 1, over: 9}", "--set ",
     "there is no series 'prob' (did you mean probe?)"},
    {BASE "output: none\n", "run.stop={of: probe.density, change: 1, over: 9}", "--set ",
     "output.series is empty"},
    {BASE "output: nothing\n", NULL, AT(5, 9), "'nothing'|none or a map"},
    {BASE "output:\n", NULL, AT(5, 8), "nothing|none or a map"},
    {BASE WATCHED, "run.stop={of: probe.densty, change: 1, over: 9}", "--set ",
     "series probe has no column 'densty' (did you mean density?)"},
    {BASE WATCHED, "run.stop={of: probe.step, change: 1, over: 9}", "--set ",
     "no column 'step' (it has velocity_x, velocity_y, velocity_z, density, pressure)"},
    {BASE WATCHED, "run.stop={of: line.density, change: 1, over: 9}", "--set ",
     "line is a line, which has a value at each of its points"},
    {BASE WATCHED, "run.stop={of: probe.density, change: 1, over: 2}", "--set ",
     "2 steps are less than the 3"},
    {BASE WATCHED, "run.stop={of: probe.density.x, change: 1, over: 3}", "--set ",
     "no column 'density.x'"},
    {BALL "}}}\n", "output.series.drag.density=xmin", "--set ", "density has no effect without area"},
    {BALL ", area: 9, velocity: 0.1}}}\n", "output.series.drag.density=xmin", "--set ",
     "face xmin is periodic, and no flow comes in there (reference, or an open face)"},
    {BALL ", area: 9, velocity: 0.1}}}\n", "output.series.drag.density=1", "--set ",
     "'1' is none of reference, xmin"},
    {BASE WATCHED, "output.series.probe.density=xmin", "--set ", "only with of: forces"},
    {BALL "}}}\n",
     "run.stop={of: drag.c_x, change: 1, over: 3}", "--set ",
     "series drag has no coefficient 'c_x' (it needs output.series.drag.area"},
    {BASE "output: {images: {a: {every: 1, of: speed, at: 16}}}\n", NULL, AT(5, 48), "0 to 15"},
    {BASE "output: {images: {a: {every: 1, of: speed, at: 2.5}}}\n", NULL, AT(5, 48),
     "a whole number or a length with a unit"},
    {BASE "output: {images: {a: {every: 1, of: speed, at: 5 mm}}}\n", NULL, AT(5, 48),
     "needs units"},
    {UNITS BASE "output: {images: {a: {every: 1, of: speed, at: 81 mm}}}\n", NULL, AT(6, 48),
     "'81 mm', 16.2 cells, is outside the box (0 to 16 cells along z)"},
    {UNITS BASE "output: {images: {a: {every: 1, of: speed, at: 5 s}}}\n", NULL, AT(6, 48),
     "not a length"},
    {UNITS BASE "output: {images: {a: {every: 1, of: speed, at: -1 mm}}}\n", NULL, AT(6, 48),
     "outside the box"},
    {BASE "output: {images: {a: {every: 1, of: speed, at: -1}}}\n", NULL, AT(5, 48), "range"},
    {BASE "output: {images: {a: {every: 1, of: speed, range: [1, 1]}}}\n", NULL, AT(5, 51),
     "lower end"},
    {BASE "output: {images: {a: {every: 1, of: speed, range: [1]}}}\n", NULL, AT(5, 51), "two"},
    {UNITS BASE "output: {images: {a: {every: 1, of: speed, range: [0 psi, 1 m]}}}\n", NULL,
     AT(6, 52), "unknown unit"},
    {UNITS BASE "output: {images: {a: {every: 1, of: speed, range: [0, 1 m]}}}\n", NULL, AT(6, 55),
     "not a velocity"},

    /* --set */
    {BASE, "run.steps", "--set 'run.steps': ", "PATH=VALUE"},
    {BASE, "=3", "--set '=3': ", "PATH=VALUE"},
    {BASE, "run.steps=", "--set 'run.steps=': ", "no value"},
    {BASE, "run.steps=[1", "--set 'run.steps=[1': ", "not YAML"},
    {BASE, "run.steps=abc", "--set 'run.steps=abc': ", "run.steps is 'abc'; expected a whole"},
    {BASE, "run.step=3", "--set 'run.step=3': ", "did you mean run.steps or run.stop?"},
    {BASE, "steps=3", "--set 'steps=3': ", "did you mean run.steps?"},
    {BASE, "run..steps=3", "--set 'run..steps=3': ", "unknown key"},
    {BASE, "run.=3", "--set 'run.=3': ", "unknown key"},
    {BASE, "run.steps.more=3", "--set 'run.steps.more=3': ", "run.steps has no keys"},
    {BASE, "faces.ymax=wall", "--set 'faces.ymax=wall': ", "named twice, by y and ymax"},
    {cavity, "faces.ymax.wall=3", "--set 'faces.ymax.wall=3': ", "a map"},
    {cavity, "faces.ymax.wall.velocity=[0,1,0]", "--set 'faces.ymax.wall.velocity=[0,1,0]': ",
     "magnitude"},
    {cavity, "fluid.viscosity=0.1", "--set 'fluid.viscosity=0.1': ", "both"},
    {BASE, "fluid.viscosity={a: 1, a: 2}", "--set 'fluid.viscosity={a: 1, a: 2}': ", "twice"},
    {BASE, "output={log: {evry: 3}}", "--set 'output={log: {evry: 3}}': ", "output.log.every?"},
    {BASE, "output.series.a b.every=3", "--set 'output.series.a b.every=3': ", "name"},
    {BASE, "solver.magic=\xff", "--set 'solver.magic=?': ", "not YAML"},
    {DOMAIN FLUID FACES "run: 5\n", "run.steps=5", AT(4, 6), "not a map"},
    {BASE, "run.stop.of=residual", "--set 'run.stop.of=residual': ", "run.stop.change is missing"},
    {BASE, "run.time_limit=30", "--set 'run.time_limit=30': ", "has no unit"},
    {BASE "output: {averages: {a: {every: 10, of: velocity, to: 8}}}\n", "output.averages.a.from=9",
     "--set 'output.averages.a.from=9': ", "from step 9 to step 8"},
    {BASE "output: {fields: {a: {every: 1, of: tags, region: [1]}}}\n",
     "output.fields.a.region.from=[16, 16, 16]", "--set 'output.fields.a.region.from=[16, 16, 16]': ",
     "no cell"},
};
/* clang-format on */

static void every_mistake_gets_its_line(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(mistakes); i++) {
        struct flow_case c;
        const enum status s = read_text(mistakes[i].text, mistakes[i].set, &c);
        if (s != STATUS_USAGE)
            fail_msg("status %d for: %s (%s)", s, mistakes[i].text,
                     mistakes[i].set ? mistakes[i].set : "");
        wrong += !message_is(mistakes[i].where, mistakes[i].fragments);
        check_zeroed(&c);
    }
    assert_int_equal(wrong, 0);
}

static void a_nul_byte_is_no_text(void **state)
{
    static const char text[] = "domain:\n  \0 {}\n";
    struct flow_case c;
    (void)state;
    assert_int_equal(read_bytes(text, sizeof text - 1, 0, NULL, &c), STATUS_USAGE);
    assert_true(message_is("dir/case.yaml:2:3: ", "NUL"));
}

/* Every text that a case is cut to, and every one with a byte changed, is read or refused with
 * one line. */
static void damaged_text_gets_one_line(void **state)
{
    struct flow_case c;
    char text[sizeof cavity];
    (void)state;
    for (size_t length = 0; length < strlen(cavity); length++) {
        if (read_bytes(cavity, length, 0, NULL, &c))
            assert_true(message_is("dir/case.yaml:", ""));
        case_destroy(&c);
    }
    uint64_t seed = 1;
    for (int i = 0; i < 2000; i++) {
        memcpy(text, cavity, sizeof text);
        for (int changes = 0; changes < 1 + i % 3; changes++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[(seed >> 33) % strlen(cavity)] = (char)(seed >> 24);
        }
        if (read_bytes(text, strlen(cavity), 0, NULL, &c))
            assert_true(message_is("dir/case.yaml:", ""));
        case_destroy(&c);
    }
}

static void large_text_is_refused(void **state)
{
    enum { MANY = 1 << 21 };
    struct flow_case c;
    char *text = malloc(MANY);
    (void)state;
    assert_non_null(text);
    memset(text, 'a', MANY);
    assert_int_equal(read_bytes(text, MANY, 0, NULL, &c), STATUS_USAGE);
    assert_true(message_is("dir/case.yaml:1:1: ", "bytes"));
    assert_int_equal(read_bytes(text, 1 << 20, 0, NULL, &c), STATUS_USAGE);
    assert_true(message_is("dir/case.yaml:1:1: ", "too long"));
    memset(text, '[', MANY);
    assert_int_equal(read_bytes(text, 1 << 20, 0, NULL, &c), STATUS_USAGE);
    assert_true(message_is("dir/case.yaml:1:17: ", "nested"));
    for (int i = 0; i < 5000; i++)
        memcpy(text + 8 * i, "- 1    \n", 8);
    assert_int_equal(read_bytes(text, 8 * 5000, 0, NULL, &c), STATUS_USAGE);
    assert_true(message_is("dir/case.yaml:4097:3: ", "entries"));
    free(text);
}

static void derived_numbers_are_said(void **state)
{
    static const char *const lines[] = {"grid: 128 x 128 x 4 = 65536 cells", "tau 0.5384",
                                        "omega 1.857", "Mach: 0.1732", "Reynolds: 1000"};
    int saved;
    struct flow_case c;
    (void)state;
    must_read(cavity, NULL, &c);
    FILE *file = capture_start(STDOUT_FILENO, &saved);
    case_say_derived(&c);
    capture_stop(STDOUT_FILENO, saved, file);
    for (size_t i = 0; i < LENGTH(lines); i++)
        assert_non_null(strstr(said, lines[i]));
    assert_null(strstr(said, "units"));
    case_destroy(&c);

    must_read(channel, NULL, &c);
    file = capture_start(STDOUT_FILENO, &saved);
    case_say_derived(&c);
    capture_stop(STDOUT_FILENO, saved, file);
    assert_non_null(strstr(said, "dx 0.005 m, dt 0.001 s"));
    assert_non_null(strstr(said, "2.5 x 0.41 x 0.41 m, duration 30 s"));
    assert_non_null(strstr(said, "dx: the length 0.1 m is 20 cells"));
    assert_non_null(strstr(said, "dt: the velocity 0.2 m/s is 0.04 cells a step, Mach 0.069282"));
    case_destroy(&c);
}

/* The same flow with other steps and cells: velocities are proportional to dt / dx, tau - 1/2 to
 * dt / dx^2; open faces stay. */
static void other_steps_and_cells_scale_the_numbers(void **state)
{
    (void)state;
    struct flow_case c, other;
    must_read(channel, NULL, &c);
    const double over = case_tau(&c) - 0.5, velocity = case_fastest_velocity(&c);
    for (int finer = 0; finer < 2; finer++)
        for (int shorter = -1; shorter < 3; shorter++) {
            assert_int_equal(case_with_steps(&c, finer, shorter, &other), STATUS_OK);
            assert_true(fabs(case_tau(&other) - 0.5 - ldexp(over, 2 * finer - shorter)) < 1e-12);
            assert_true(fabs(case_fastest_velocity(&other) - ldexp(velocity, finer - shorter)) <
                        1e-12);
            assert_true(fabs(other.units.dx - ldexp(c.units.dx, -finer)) < 1e-15);
            assert_true(fabs(other.units.dt - ldexp(c.units.dt, -shorter)) < 1e-15);
            assert_int_equal(other.cells[0], c.cells[0] << finer);
            assert_int_equal(other.run.steps, (int64_t)ldexp((double)c.run.steps, shorter));
            for (int f = 0; f < 6; f++)
                assert_int_equal(other.faces[f].kind, c.faces[f].kind);
            case_destroy(&other);
        }
    case_destroy(&c);
}

/* What case_warn says has these words; "": it says nothing. sets: as of must_read_sets, or NULL. */
static void expect_warning(const char *text, const char *sets, const char *expected)
{
    int saved;
    struct flow_case c;
    if (sets)
        must_read_sets(text, sets, &c);
    else
        must_read(text, NULL, &c);
    FILE *file = capture_start(STDERR_FILENO, &saved);
    advice_case(&c);
    capture_stop(STDERR_FILENO, saved, file);
    if (*expected)
        assert_non_null(strstr(said, expected));
    else
        assert_string_equal(said, "");
    case_destroy(&c);
}

static void warnings_come_when_due(void **state)
{
    static const struct {
        const char *sets, *expected; /* separated by |; "": no warning */
    } cases[] = {
        {"fluid={viscosity: 0.1, velocity: 0.1}", ""},
        {"fluid={viscosity: 0.1, velocity: 0.102}", "Mach is 0.177"},
        {"faces={x: periodic, y: {wall: {velocity: [0.11, 0, 0]}}, z: periodic}", "Mach is 0.191"},
        {"faces={xmin: {velocity: {value: [0.05, 0, 0]}}, xmax: outflow, y: wall, z: wall}", ""},
        {"faces={xmin: {pressure: {density: 1.002}}, xmax: outflow, y: wall, z: wall}", ""},
        {"faces={xmin: {pressure: {density: 1.04}}, xmax: outflow, y: wall, z: wall}",
         "Mach is 0.231 by the estimated velocity"},
        {"faces={xmin: {pressure: {density: 0.9}}, xmax: outflow, y: wall, z: wall}",
         "the density of faces.xmin differs by up to 10 % from the reference"},
        {"fluid={viscosity: 0.0017}", ""},
        {"fluid={viscosity: 0.0016}", "tau is 0.5048: trt may become noisy"},
        /* auto takes rr; BGK and TRT up to 40 without walls, 12 beside them, 8 with open faces */
        {"fluid={viscosity: 0.001, velocity: 0.081}", ""},
        {"solver.collision=trt|faces={x: periodic, y: periodic, z: periodic}|fluid={viscosity: "
         "0.001, velocity: 0.039}",
         ""},
        {"solver.collision=trt|faces={x: periodic, y: periodic, z: periodic}|fluid={viscosity: "
         "0.001, velocity: 0.041}",
         "is 41, above 40: trt becomes noisy"},
        {"solver.collision=rr|regions={thin: {box: {from: [0, 0, 0], to: [4, 4, 4]}, collision: "
         "trt}}|fluid={viscosity: 0.01, velocity: 0.081}",
         "regions.thin: trt and rr meet, and the Reynolds number of a cell of trt is 8.1"},
        {"solver.collision=rr|regions={thin: {box: {from: [0, 0, 0], to: [4, 4, 4]}, collision: "
         "trt}}|fluid={viscosity: 0.01, velocity: 0.079}",
         ""},
        {"solver.collision=bgk|faces={x: periodic, y: wall, z: periodic}|"
         "fluid={viscosity: 0.005, velocity: 0.061}",
         "is 12.2, above 12: bgk"},
        {"solver.collision=trt|faces={x: periodic, y: wall, z: periodic}|"
         "fluid={viscosity: 0.005, velocity: 0.059}",
         ""},
        {"solver.collision=trt|fluid.viscosity=0.0061|faces={xmin: {velocity: {value: [0.05, 0, "
         "0]}}, xmax: outflow, y: wall, z: wall}",
         "is 8.2, above 8: trt"},
        {"solver.collision=trt|fluid.viscosity=0.0063|faces={xmin: {velocity: {value: [0.05, 0, "
         "0]}}, xmax: outflow, y: wall, z: wall}",
         ""},
        {"force.acceleration=[0, 0, 0.011]",
         "force.acceleration is 0.011 cells per step^2 along z, above 0.01: within 16 steps"},
        {"force.acceleration=[0, 0, -0.009]|fluid={viscosity: 0.1, velocity: 0.1}", ""},
        {"force.acceleration=[0, 0, -0.009]", "Mach is 4.99 by the estimated velocity"},
        {"force.acceleration=[0.0011, 0, 0]|faces={x: wall, y: wall, z: periodic}",
         "at rest the density changes by 0.053 across the box, above 0.05"},
        {"force.acceleration=[0.001, 0, 0]|faces={x: wall, y: wall, z: periodic}", ""},
        {"fluid={viscosity: 0.0001, velocity: 0.011}|solver.subgrid={smagorinsky: {}}|faces={x: "
         "periodic, y: wall, z: periodic}",
         "is 110, above 100: there is no model of the layers at walls"},
        {"fluid={viscosity: 0.0001, velocity: 0.009}|solver.subgrid={smagorinsky: {}}|faces={x: "
         "periodic, y: wall, z: periodic}",
         ""},
        {"fluid.viscosity=0.0004|solver.collision=rr|faces={xmin: {velocity: {value: [0.05, 0, "
         "0]}}, xmax: outflow, y: wall, z: wall}",
         "is 125, above 100: flows with open faces"},
        {"fluid.viscosity=0.0004|solver.subgrid=none|faces={xmin: {velocity: {value: [0.05, 0, "
         "0]}}, xmax: outflow, y: wall, z: wall}",
         "is 125, above 100: flows with open faces"},
        {"fluid.viscosity=0.0004|faces={xmin: {velocity: {value: [0.05, 0, 0]}}, xmax: outflow, y: "
         "wall, z: wall}",
         "is 125, above 100: there is no model of the layers at walls"},
        {"solver={collision: rr, rates: {bulk: 1.8}}|faces={x: periodic, y: wall, z: periodic}|"
         "fluid={viscosity: 0.005, velocity: 0.051}",
         "solver.rates.bulk is 1.8"},
        {"fluid.viscosity=0.001|faces={x: wall, ymin: wall, ymax: {wall: {velocity: [0.026, 0, "
         "0]}}, z: periodic}",
         "is 26, above 25: beside moving walls"},
        {"fluid.viscosity=0.001|faces={x: wall, ymin: wall, ymax: {wall: {velocity: [0.024, 0, "
         "0]}}, z: periodic}",
         ""},
        {"domain.cells=[8, 8, 1]|fluid.viscosity=0.001|faces={x: wall, ymin: wall, ymax: {wall: "
         "{velocity: [0.039, 0, 0]}}, z: periodic}",
         ""},
        {"fluid={viscosity: 1}", ""},
    };
    /* walls: with magic 3/16 an interpolated one may have u / nu up to 5 */
    static const struct {
        const char *wall, *solver, *set, *expected;
    } walls[] = {
        {"interpolated", "", "fluid={viscosity: 0.01, velocity: 0.0501}",
         "of a cell is 5.01, above 5: with magic 0.1875"},
        {"interpolated", "", "fluid={viscosity: 0.01, velocity: 0.0499}", ""},
        {"halfway", "", "fluid={viscosity: 0.01, velocity: 0.0501}", ""},
        {"interpolated", "solver: {magic: 0.1}\n", "fluid={viscosity: 0.01, velocity: 0.0501}", ""},
        {"interpolated", "solver: {magic: 0.1}\n", "fluid={viscosity: 0.005, velocity: 0.0501}",
         "above 9.38: with magic 0.1"},
        {"interpolated", "solver: {collision: rr}\n", "fluid={viscosity: 0.01, velocity: 0.0501}",
         ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        expect_warning(BASE, cases[i].sets, cases[i].expected);
    }
    for (size_t i = 0; i < LENGTH(walls); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%sbodies: {b: {shape: {sphere: {center: [4, 4, 4], radius: 2}}, wall: %s}}\n%s",
                 BASE, walls[i].wall, walls[i].solver);
        expect_warning(text, walls[i].set, walls[i].expected);
    }
    /* operators that are known to fail there, and others that are not */
    static const struct {
        const char *solver, *expected;
    } solvers[] = {
        {"solver: {collision: bgk}\n", "noisy or unstable"},
        {"solver: {collision: trt, magic: 0.001}\n", "noisy or unstable"},
        {"solver: {collision: trt, subgrid: {smagorinsky: {}}}\n",
         "no model of the layers at walls"},
        {"solver: {collision: mrt}\n", "with mrt short waves grow below 0.505"},
        {"solver: {collision: central}\n", "solver.collision central_hermite"},
        {"solver: {collision: central, subgrid: {smagorinsky: {}}}\n", "short waves grow"},
        {"solver: {collision: hermite}\n", ""},
        {"solver: {collision: cumulant}\n", ""},
        {"solver: {collision: rr}\n", ""},
    };
    int saved;
    struct flow_case c;
    for (size_t i = 0; i < LENGTH(solvers); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", BASE, solvers[i].solver);
        expect_warning(text, "fluid={viscosity: 0.00032, velocity: 0.05}", solvers[i].expected);
    }
    /* tau above 1, where walls are off unless magic holds them (docs/lab/large_tau.md) */
    static const struct {
        const char *text, *set, *expected;
    } large[] = {
        {BASE "solver: {collision: bgk}\n", "fluid.viscosity=0.4", ""},
        {BASE "solver: {collision: bgk}\n", "fluid.viscosity=0.6", "lets through 9.5 % too much"},
        {DOMAIN BOX RUN "fluid: {viscosity: 3}\nsolver: {collision: bgk}\n", NULL, ""},
        {BASE "solver: {collision: rr}\n", "fluid.viscosity=1", ""},
        {BASE "solver: {collision: rr}\n", "fluid.viscosity=2", "with rr walls are off"},
        {BASE "solver: {collision: cumulant, rates: {third: 1.9}}\n", "fluid.viscosity=7", ""},
        {BASE, "fluid.viscosity=8.1", ""},
        {BASE, "fluid.viscosity=8.5", "some 1e+03 steps to settle, the run has 1000"},
        {BASE, "fluid={viscosity: 3, velocity: 0.06}", "keep velocity times tau below 0.5"},
        {BASE, "fluid={viscosity: 3, velocity: 0.05}", ""},
    };
    for (size_t i = 0; i < LENGTH(large); i++) {
        expect_warning(large[i].text, large[i].set, large[i].expected);
    }

    /* with units the advice has numbers: a third of dt, a fifth of dx */
    must_read(UNITS BASE, "fluid={viscosity: 1 m2/s, velocity: 1.515544 m/s}", &c);
    FILE *file = capture_start(STDERR_FILENO, &saved);
    advice_case(&c);
    capture_stop(STDERR_FILENO, saved, file);
    assert_non_null(strstr(said, "Mach is 0.525"));
    assert_non_null(strstr(said, "units.dt 0.00033 s, which makes tau 40.5"));
    case_destroy(&c);
    /* a velocity without a unit beside numbers with one; and in a case without any */
    expect_warning(UNITS BASE, "fluid={viscosity: 1 m2/s, velocity: 0.1}",
                   "fluid.velocity is 0.1 without a unit: that is in cells a step, here 0.5 m/s");
    expect_warning(UNITS BASE, "fluid={viscosity: 0.1, velocity: 0.1}", "");
    must_read(UNITS BASE, "fluid={viscosity: 8.3333333e-6 m2/s}", &c);
    file = capture_start(STDERR_FILENO, &saved);
    advice_case(&c);
    capture_stop(STDERR_FILENO, saved, file);
    assert_non_null(strstr(said, "tau is 0.501"));
    assert_non_null(strstr(said, "units.dx 0.001 m at the same Mach number"));
    case_destroy(&c);
}

static void storage_says_in_what_is_computed(void **state)
{
    static const struct {
        const char *given;
        enum precision storage, arithmetic;
    } pairs[] = {
        {"{}", PRECISION_fp32, PRECISION_fp32},
        {"{storage: fp16}", PRECISION_fp16, PRECISION_fp32},
        {"{storage: fp16, arithmetic: fp32}", PRECISION_fp16, PRECISION_fp32},
        {"{storage: fp32}", PRECISION_fp32, PRECISION_fp32},
        {"{storage: fp32, arithmetic: fp64}", PRECISION_fp32, PRECISION_fp64},
        {"{storage: fp64}", PRECISION_fp64, PRECISION_fp64},
        {"{arithmetic: fp64}", PRECISION_fp64, PRECISION_fp64},
        {"{arithmetic: fp32}", PRECISION_fp32, PRECISION_fp32},
    };
    (void)state;
    for (size_t k = 0; k < LENGTH(pairs); k++) {
        struct flow_case c;
        char text[64];
        const char *const set[] = {text};
        snprintf(text, sizeof text, "solver=%s", pairs[k].given);
        assert_int_equal(read_bytes(cavity, strlen(cavity), 1, set, &c), STATUS_OK);
        assert_int_equal(c.solver.storage, pairs[k].storage);
        assert_int_equal(c.solver.arithmetic, pairs[k].arithmetic);
        case_destroy(&c);
    }
}

static void precisions_have_names_and_bytes(void **state)
{
    static const struct {
        const char *name;
        enum precision is;
        size_t bytes;
    } all[] = {
        {"fp16", PRECISION_fp16, 2}, {"fp32", PRECISION_fp32, 4}, {"fp64", PRECISION_fp64, 8}};
    enum precision p = PRECISION_fp32;
    (void)state;
    for (size_t k = 0; k < LENGTH(all); k++) {
        assert_true(precision_find(all[k].name, &p) && p == all[k].is);
        assert_string_equal(precision_name(p), all[k].name);
        assert_int_equal(precision_bytes(p), all[k].bytes);
        assert_int_equal(precision_bits(p), 8 * all[k].bytes);
    }
    assert_false(precision_find("fp8", &p) || precision_find("fp", &p) || precision_find("", &p));
}

static void names_match_the_lists(void **state)
{
    struct flow_case c;
    (void)state;
    assert_string_equal(precision_name(PRECISION_fp64), "fp64");
    assert_string_equal(key_flows[INITIAL_shear_layer], "shear_layer");
    assert_string_equal(key_series[SERIES_enstrophy], "enstrophy");
    assert_string_equal(key_fields[FIELD_tags], "tags");
    assert_string_equal(image_name(IMAGE_vorticity), "vorticity");
    assert_string_equal(isa_name(ISA_v4), "v4");
    assert_string_equal(face_name(0), "xmin");
    assert_string_equal(face_name(5), "zmax");
#define X(name, ...)                                                                               \
    must_read(BASE, "solver.collision=" #name, &c);                                                \
    assert_int_equal(c.solver.collision, COLLISION_##name);                                        \
    case_destroy(&c);
    COLLISION_LIST(X)
#undef X
}

/* Rates that are not given are 1, a subgrid model that is not given is none. */
static void reads_rates_and_subgrid_model(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(BASE, "solver={collision: hermite, rates: {third: 1.5}}", &c);
    assert_true(c.solver.rates.bulk == 1 && c.solver.rates.third == 1.5 &&
                c.solver.rates.fourth == 1);
    assert_int_equal(c.solver.subgrid, SUBGRID_none);
    case_destroy(&c);
    must_read(BASE, "solver={subgrid: {smagorinsky: {constant: 0.17}}}", &c);
    assert_int_equal(c.solver.subgrid, SUBGRID_smagorinsky);
    assert_true(c.solver.smagorinsky == 0.17 && c.solver.van_driest == 0);
    case_destroy(&c);
    must_read(BASE, "solver={subgrid: {smagorinsky: {van_driest: 0.02}}}", &c);
    assert_true(c.solver.smagorinsky == 0.1 && c.solver.van_driest == 0.02);
    case_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rates_and_subgrid_model),
        cmocka_unit_test(reads_the_cavity),
        cmocka_unit_test(converts_physical_units),
        cmocka_unit_test(an_edge_of_a_cell_makes_lengths),
        cmocka_unit_test(fills_in_defaults),
        cmocka_unit_test(resolved_reads_back_to_the_same),
        cmocka_unit_test(reads_what_jobs_and_outputs_need),
        cmocka_unit_test(lengths_meet_faces_and_centres),
        cmocka_unit_test(planes_may_be_lengths),
        cmocka_unit_test(numbers_as_people_write_them),
        cmocka_unit_test(set_turns_words_into_maps_and_back),
        cmocka_unit_test(averages_and_residuals_are_limited),
        cmocka_unit_test(scalars_of_levels_leave_less_room),
        cmocka_unit_test(the_longest_resolved_case_is_read),
        cmocka_unit_test(other_line_ends_are_read),
        cmocka_unit_test(set_reaches_every_value),
        cmocka_unit_test(every_mistake_gets_its_line),
        cmocka_unit_test(a_nul_byte_is_no_text),
        cmocka_unit_test(damaged_text_gets_one_line),
        cmocka_unit_test(large_text_is_refused),
        cmocka_unit_test(derived_numbers_are_said),
        cmocka_unit_test(other_steps_and_cells_scale_the_numbers),
        cmocka_unit_test(warnings_come_when_due),
        cmocka_unit_test(storage_says_in_what_is_computed),
        cmocka_unit_test(precisions_have_names_and_bytes),
        cmocka_unit_test(names_match_the_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
