/* Faces, parts of faces, profiles and signals of a case: what is read, that the resolved case is
 * the same case, and which one line every mistake gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hdf5.h>
#include <math.h>
#include <png.h>

#include "case/case.h"
#include "foreign/hdf5.h"
#include "scratch.h"
#include "tags/inputs.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* xmin has 6 x 4 cells. */
#define BOX                                                                                        \
    "domain: {cells: [8, 6, 4]}\n"                                                                 \
    "fluid: {viscosity: 0.1}\n"                                                                    \
    "run: {steps: 100}\n"
#define UNITS "units: {dx: 5 mm, dt: 1 ms, density: 1000 kg/m3}\n"
#define FACES(xmin) "faces: {xmin: " xmin ", xmax: {pressure: {}}, y: wall, z: wall}\n"
#define INLET(keys) BOX FACES("{velocity: {value: [0.1, 0, 0]" keys "}}")
#define PATCH(entry) BOX "faces: {x: wall, y: wall, z: periodic}\npatches:\n  p: " entry "\n"

static char said[8192];

static enum status read_text(const char *text, const char *set, struct flow_case *c)
{
    char *exact = malloc(strlen(text) + 1);
    const struct case_files files = inputs(NULL);
    assert_non_null(exact);
    memcpy(exact, text, strlen(text));
    scratch_listen();
    const enum status s = case_read_files(scratch_path("case.yaml"), exact, (long)strlen(text),
                                          set != NULL, &set, &files, c);
    snprintf(said, sizeof said, "%s", scratch_heard());
    free(exact);
    return s;
}

static void must_read(const char *text, const char *set, struct flow_case *c)
{
    if (read_text(text, set, c))
        fail_msg("unexpected: %s for %s", said, text);
    assert_string_equal(said, "");
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(scratch_path(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* A picture in which the bits of `white` are, from the left of the lowest row on. */
static void write_png(const char *name, unsigned width, unsigned height, unsigned white)
{
    unsigned char grey[64];
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_GRAY};
    for (unsigned y = 0; y < height; y++)
        for (unsigned x = 0; x < width; x++)
            grey[(height - 1 - y) * width + x] = white >> (y * width + x) & 1 ? 200 : 100;
    assert_true(png_image_write_to_file(&image, scratch_path(name), 0, grey, (int)width, NULL));
}

static void add_dataset(hid_t file, const char *name, int axes, const hsize_t *size, hid_t type,
                        const void *values)
{
    const hid_t space = H5Screate_simple(axes, size, NULL);
    const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static int setup(void **state)
{
    static const hsize_t flat[2] = {4, 6}, deep[3] = {4, 6, 3}, four[4] = {2, 2, 2, 2};
    static const unsigned char rgb[] = {1, 2, 3};
    double values[72];
    int whole[24];
    char text[4096] = "# a comment\n\n";
    if (scratch_setup(state))
        return -1;
    for (int i = 0; i < 72; i++)
        values[i] = 1 - i / 80.0;
    for (int i = 0; i < 24; i++)
        whole[i] = i % 2;
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 6; i++)
            sprintf(text + strlen(text), "%.17g%s", values[6 * j + i], i < 5 ? ", " : " # end\r\n");
    write_file("p.csv", text);
    *text = '\0';
    for (int i = 0; i < 72; i++)
        sprintf(text + strlen(text), "%.17g%c", values[i], i % 18 == 17 ? '\n' : '\t');
    write_file("three.csv", text);
    write_file("short.csv", "1 1\n1 1\n");
    write_file("ragged.csv", "1 1 1\n1 1\n");
    write_file("word.csv", "1, 2, 3\n4, five, 6\n");
    write_file("nan.csv", "1 nan 3\n");
    write_file("large.csv", "1 1e999\n");
    write_file("comma.csv", "1, 2\n3,, 4\n");
    write_file("last.csv", "1, 2,\n");
    write_file("hex.csv", "0x10 1\n");
    write_file("empty.csv", "# nothing\n\n");
    write_file("fast.csv", "3 3 3 3 3 3\n3 3 3 3 3 3\n3 3 3 3 3 3\n3 3 3 3 3 3\n");
    write_file("t.csv", "\xef\xbb\xbf# time, factor\n0 0\n2 -0.5\n3,1\n");
    write_file("back.csv", "0 0\n2 1\n2 0\n");
    write_file("three_columns.csv", "0 0 0\n");
    write_file("strong.csv", "0 1\n5 2.5\n");
    write_file("wind.csv", "# height, factor\n1 0.5\n2,0.9\n4 -1.2\n");
    write_file("falls.csv", "0 0\n3 1\n2 1\n");
    write_file("alone.csv", "1 1\n");
    write_file("below.csv", "-1 1\n3 1\n");
    write_file("not.csv", "0 1\n1 nan\n");
    write_file("far.csv", "9 1\n12 2\n");
    write_file("bad.h5", "\x89HDF\r\n\x1a\n and no more");
    write_file("bad.png", "\x89PNG\r\n\x1a\n and no more");
    write_png("m.png", 8, 4, 0x30c);
    write_png("square.png", 4, 4, 1);
    write_png("black.png", 8, 4, 0);
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = 1, .height = 1, .format = PNG_FORMAT_RGB};
    if (!png_image_write_to_file(&image, scratch_path("colour.png"), 0, rgb, 3, NULL))
        return -1;
    const hid_t file = H5Fcreate(scratch_path("p.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    add_dataset(file, "profile", 2, flat, H5T_NATIVE_DOUBLE, values);
    add_dataset(file, "group/three", 3, deep, H5T_NATIVE_DOUBLE, values);
    add_dataset(file, "whole", 2, flat, H5T_NATIVE_INT, whole);
    add_dataset(file, "four", 4, four, H5T_NATIVE_INT, whole);
    add_dataset(file, "line", 1, deep, H5T_NATIVE_INT, whole);
    values[3] = NAN;
    add_dataset(file, "nan", 2, flat, H5T_NATIVE_DOUBLE, values);
    return H5Fclose(file) < 0 ? -1 : 0;
}

static void faces_are_read(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(
        UNITS BOX
        "faces:\n"
        "  xmin: {velocity: {value: [0.25 m/s, 0, -0.1 m/s], profile: duct, ramp: 1 s}}\n"
        "  xmax: {pressure: {density: 1.01, rule: links, sine: {period: 0.5 s, phase: 0.25}}}\n"
        "  ymin: {nonreflecting: {density: 1010 kg/m3, reflection: 0.5}}\n"
        "  ymax: outflow\n"
        "  zmin: {slip: {}}\n"
        "  zmax: {wall: {velocity: [0, 0.01, 0.02]}}\n",
        NULL, &c);
    const struct case_face *f = c.faces;
    assert_true(f[0].kind == FACE_velocity && f[0].rule == FACE_RULE_regularised);
    assert_true(f[0].profile == PROFILE_duct && fabs(f[0].velocity[0] - 0.05) < 1e-16);
    assert_true(fabs(f[0].velocity[2] + 0.02) < 1e-16);
    assert_true(f[0].signal.kind == SIGNAL_ramp && f[0].signal.duration == 1000);
    assert_true(f[1].kind == FACE_pressure && f[1].rule == FACE_RULE_links && f[1].density == 1.01);
    assert_true(f[1].signal.kind == SIGNAL_sine && f[1].signal.period == 500 &&
                f[1].signal.phase == 0.25 && f[1].signal.mean == 0 && f[1].signal.amplitude == 1);
    assert_true(f[2].kind == FACE_nonreflecting && f[2].density == 1.01 && f[2].reflection == 0.5);
    assert_true(f[3].kind == FACE_outflow && f[4].kind == FACE_slip && f[5].kind == FACE_wall);
    assert_true(f[5].velocity[1] == 0.01 && f[5].velocity[2] == 0.02);
    assert_true(signal_peak(&f[0].signal) == 1 && signal_peak(&f[1].signal) == 1);
    assert_true(fabs(face_speed(&f[0]) - sqrt(0.05 * 0.05 + 0.02 * 0.02)) < 1e-16);
    case_destroy(&c);

    must_read(BOX "faces: {x: nonreflecting, y: pressure, z: {outflow: {}}}\n", NULL, &c);
    for (int face = 0; face < 6; face++) {
        const double held = 1 / sqrt(3.0) / (4 * c.cells[face / 2]);
        assert_true(c.faces[face].density == 1);
        assert_true(c.faces[face].reflection == (c.faces[face].kind == FACE_pressure ? 0 : held));
    }
    assert_true(c.faces[2].kind == FACE_pressure && c.faces[5].kind == FACE_outflow);
    case_destroy(&c);

    /* flows that are driven: by an inlet, by a difference of densities; one outflow */
    must_read(BOX "faces: {xmin: {velocity: {value: [0.05, 0, 0]}}, xmax: nonreflecting, "
                  "ymin: {pressure: {rule: links}}, ymax: {nonreflecting: {reflection: 0}}, "
                  "z: {pressure: 0.001}}\n",
              NULL, &c);
    assert_true(c.faces[1].reflection == 1 / sqrt(3.0) / c.cells[0]);
    assert_true(c.faces[2].reflection == 0 && c.faces[3].reflection == 0);
    case_destroy(&c);
    must_read(BOX
              "faces: {xmin: nonreflecting, xmax: {outflow: {density: 1.01}}, y: wall, z: wall}\n",
              NULL, &c);
    assert_true(c.faces[0].reflection == 1 / sqrt(3.0) / c.cells[0]);
    assert_true(c.faces[1].reflection == 1 / sqrt(3.0) / c.cells[0]);
    case_destroy(&c);
    must_read(
        BOX
        "faces: {xmin: {velocity: {value: [0.05, 0, 0]}}, xmax: nonreflecting, y: wall, z: wall}\n",
        NULL, &c);
    assert_true(c.faces[1].reflection == 1 / sqrt(3.0) / c.cells[0]);
    case_destroy(&c);
    must_read(BOX "faces: {xmin: {velocity: {value: [0.05, 0, 0]}}, xmax: outflow, y: wall, z: "
                  "wall}\n",
              NULL, &c);
    assert_true(c.faces[1].reflection == 1 / sqrt(3.0) / (4 * c.cells[0]));
    case_destroy(&c);

    must_read(BOX FACES("{pressure: {velocity: [0, 0.1, -0.02], profile: duct, ramp: 8}}"), NULL,
              &c);
    f = c.faces;
    assert_true(f[0].kind == FACE_pressure && f[0].density == 1 && f[0].profile == PROFILE_duct);
    assert_true(f[0].velocity[0] == 0 && f[0].velocity[1] == 0.1 && f[0].velocity[2] == -0.02);
    assert_true(f[0].signal.kind == SIGNAL_ramp && face_speed(&f[0]) > 0.1);
    assert_true(f[1].velocity[1] == 0 && face_speed(&f[1]) == 0);
    case_destroy(&c);

    must_read(INLET(", profile: {power: 7}"), "faces.xmin.velocity.rule=links", &c);
    assert_true(c.faces[0].profile == PROFILE_power && c.faces[0].power == 7);
    assert_true(c.faces[0].rule == FACE_RULE_links && c.faces[0].signal.kind == SIGNAL_constant);
    assert_true(c.faces[1].density == 1);
    case_destroy(&c);
}

static void tables_of_profiles_are_read(void **state)
{
    static const struct {
        const char *text;
        int components;
        bool hdf5, whole;
    } cases[] = {
        {INLET(", profile: {file: p.csv}"), 1, false, false},
        {INLET(", profile: {file: three.csv}"), 3, false, false},
        {INLET(", profile: {file: p.h5}"), 1, true, false},
        {INLET(", profile: {file: p.h5, dataset: group/three}"), 3, true, false},
        {INLET(", profile: {file: p.h5, dataset: /whole}"), 1, true, true},
    };
    uint64_t sums[5];
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct flow_case c;
        must_read(cases[i].text, NULL, &c);
        const struct case_face *f = &c.faces[0];
        assert_int_equal(f->profile, PROFILE_table);
        assert_int_equal(f->table_components, cases[i].components);
        assert_true(f->table_size[0] == 6 && f->table_size[1] == 4);
        assert_true(*f->file == '/' && cases[i].hdf5 == (f->dataset != NULL));
        for (int n = 0; n < 24 * cases[i].components; n++)
            assert_true(f->table[n] == (cases[i].whole ? n % 2 : 1 - n / 80.0));
        sums[i] = f->checksum;
        case_destroy(&c);
    }
    /* what the numbers are counts, not how they are written, but how they are arranged does */
    assert_true(sums[0] == sums[2] && sums[1] != sums[0] && sums[4] != sums[0]);
}

static void tables_of_signals_are_read(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(UNITS INLET(", table: {file: t.csv, time: 10 ms}"), NULL, &c);
    const struct case_signal *s = &c.faces[0].signal;
    assert_true(s->kind == SIGNAL_table && s->points == 3);
    assert_true(s->times[0] == 0 && s->times[1] == 20 && s->times[2] == 30);
    assert_true(s->values[0] == 0 && s->values[1] == -0.5 && s->values[2] == 1);
    assert_true(signal_peak(s) == 1);
    case_destroy(&c);
}

/* Heights in units of the file; the largest factor is that of the opening's cells. */
static void profiles_by_height_are_read(void **state)
{
    static const char *const texts[] = {
        INLET(", profile: {height: {file: wind.csv, axis: y, length: 2, from: -1}}"),
        INLET(", profile: {radius: {file: wind.csv, length: 0.5}}"),
        INLET(", profile: {log: {axis: z, roughness: 0.01, reference: 2}}"),
        INLET(", profile: {shear: {axis: y, from: 0.5, exponent: 0.25, reference: 1}}"),
        BOX "faces: {x: wall, y: wall, z: periodic}\npatches:\n"
            "  p: {face: xmin, disc: {center: [3, 2], radius: 1}, velocity: {value: [0.1, 0, 0], "
            "profile: {height: {file: wind.csv, axis: y}}}}\n",
    };
    struct case_heights h[LENGTH(texts)];
    double speed[LENGTH(texts)];
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct flow_case c;
        must_read(texts[i], NULL, &c);
        const struct case_face *const what = case_opening(&c, c.patch_count ? 6 : 0);
        assert_true(what->profile == (enum profile)(PROFILE_height + i % 4));
        h[i] = what->heights;
        speed[i] = face_speed(what) / 0.1;
        if (i == 0) {
            assert_true(h[i].points == 3 && h[i].at[0] == 2 && h[i].at[2] == 8 &&
                        h[i].value[1] == 0.9 && h[i].unit == 2);
            assert_true(*h[i].file == '/' && h[i].checksum);
        }
        case_destroy(&c);
    }
    assert_true(h[0].axis == 1 && h[0].from == -1 && h[1].from == 0 && h[2].axis == 2);
    assert_true(h[1].center[0] == 3 && h[1].center[1] == 2);
    assert_true(h[2].roughness == 0.01 && h[2].reference == 2);
    assert_true(h[3].exponent == 0.25 && h[3].reference == 1 && h[3].from == 0.5);
    /* 6 cells along y: the last is at height 6.5, between rows at 4 and 8 */
    assert_true(fabs(speed[0] - 0.9) < 1e-15);
    /* the corner is at sqrt(2.5^2 + 1.5^2) = 2.92, beyond the last row, at 2 */
    assert_true(fabs(speed[1] - 1.2) < 1e-15);
    assert_true(fabs(speed[2] - log(3.51 / 0.01) / log(2.01 / 0.01)) < 1e-14);
    assert_true(fabs(speed[3] - pow(5, 0.25)) < 1e-14);
    /* the patch has cells 2 and 3 along y, at 2.5 and 3.5 */
    assert_true(fabs(speed[4] - (1.2 * 0.75 - 0.9 * 0.25)) < 1e-15);
    assert_true(h[4].axis == 1);
}

static void patches_are_read(void **state)
{
    struct flow_case c;
    (void)state;
    must_read(UNITS BOX
              "faces: {x: wall, y: wall, z: wall}\n"
              "patches:\n"
              "  in: {face: xmin, disc: {center: [15 mm, 2], radius: 1 cm}, velocity: {value: "
              "[0.1, 0, 0], profile: parabola}}\n"
              "  out: {face: xmax, rectangle: {from: [1, 0], to: [5, 4]}, pressure: {}}\n"
              "  vent: {face: ymin, mask: {file: m.png}, outflow: {}}\n"
              "  lid: {face: zmax, rectangle: {from: [0, 0], to: [8, 3]}, wall: {velocity: [0.1, "
              "0, 0]}}\n",
              NULL, &c);
    const struct case_patch *p = c.patches;
    assert_int_equal(c.patch_count, 4);
    assert_string_equal(p[0].name, "in");
    assert_true(p[0].face == 0 && p[0].shape == PATCH_disc && p[0].radius == 2);
    assert_true(p[0].center[0] == 3 && p[0].center[1] == 2);
    assert_true(p[0].opening.kind == FACE_velocity && p[0].opening.profile == PROFILE_parabola);
    assert_true(p[1].face == 1 && p[1].from[0] == 1 && p[1].to[1] == 4);
    assert_true(p[1].opening.kind == FACE_pressure && p[1].opening.density == 1);
    assert_true(p[2].face == 2 && p[2].shape == PATCH_mask && p[2].opening.kind == FACE_outflow);
    assert_true(p[3].opening.kind == FACE_wall && p[3].opening.velocity[0] == 0.1);
    for (int z = 0; z < 4; z++) /* 0x30c: cells 2 and 3 of the lowest row, 0 and 1 of the next */
        for (int x = 0; x < 8; x++)
            assert_int_equal(patch_holds(&p[2], c.cells, x, z), 0x30c >> (8 * z + x) & 1);
    assert_true(patch_holds(&p[1], c.cells, 1, 0) && patch_holds(&p[1], c.cells, 4, 3));
    assert_false(patch_holds(&p[1], c.cells, 0, 0) || patch_holds(&p[1], c.cells, 5, 0));
    case_destroy(&c);
}

/* A resolved case is the same case, wherever it is read from, as long as its files are. */
static void resolved_reads_back_to_the_same(void **state)
{
    static const char *const texts[] = {
        UNITS BOX "faces: {xmin: {velocity: {value: [0.25 m/s, 0, 0], profile: duct, ramp: 1 s}}, "
                  "xmax: {pressure: {density: 1001 kg/m3, rule: links, sine: {period: 0.3 s, mean: "
                  "0.1, amplitude: 0.7}}}, ymin: outflow, ymax: slip, zmin: {nonreflecting: "
                  "{reflection: 0.3}}, zmax: {wall: {velocity: [0, 0, 1e-3]}}}\n",
        INLET(", profile: {power: 6.6}, table: {file: t.csv, time: 0.9}"),
        INLET(", profile: {file: p.csv}"),
        BOX FACES("{pressure: {velocity: [0, 0.01, 0.02], profile: {file: p.csv}, ramp: 3}}"),
        INLET(", profile: {file: p.h5, dataset: 'group/three'}, rule: links"),
        INLET(", profile: {height: {file: wind.csv, axis: z, length: 0.9, from: 0.3}}"),
        INLET(", profile: {radius: {file: wind.csv}}"),
        UNITS BOX FACES(
            "{velocity: {value: [0.1, 0, 0], profile: {log: {axis: y, roughness: 0.1 mm, "
            "reference: 20 mm}}}}"),
        BOX FACES("{pressure: {velocity: [0, 0.01, 0], profile: {shear: {axis: y, exponent: 0.14, "
                  "reference: 3.3}}}}"),
        BOX "faces: {x: wall, y: wall, z: wall}\n"
            "patches:\n"
            "  a: {face: ymin, mask: {file: m.png}, slip: {}}\n"
            "  b: {face: ymin, rectangle: {from: [0.1, 0], to: [7.3, 1]}, velocity: {value: [0, "
            "0.01, 0], profile: {power: 3}, sine: {period: 12}}}\n"
            "  c: {face: zmax, disc: {center: [0, 0], radius: 1}, nonreflecting: {}}\n",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct flow_case first, second;
        const struct case_files files = inputs(NULL);
        must_read(texts[i], NULL, &first);
        assert_int_equal(case_read_files("elsewhere/other.yaml", first.resolved,
                                         (long)strlen(first.resolved), 0, NULL, &files, &second),
                         STATUS_OK);
        assert_string_equal(first.resolved, second.resolved);
        for (int f = 0; f < 6; f++) {
            struct case_face a = first.faces[f], b = second.faces[f];
            if (a.table)
                assert_memory_equal(a.table, b.table,
                                    24 * sizeof *a.table * (size_t)a.table_components);
            if (a.signal.times)
                assert_memory_equal(a.signal.times, b.signal.times, 3 * sizeof(double));
            a.file = a.dataset = a.signal.file = b.file = b.dataset = b.signal.file = NULL;
            a.place = b.place = NULL;
            if (a.heights.at) {
                assert_memory_equal(a.heights.at, b.heights.at, 3 * sizeof(double));
                assert_memory_equal(a.heights.value, b.heights.value, 3 * sizeof(double));
            }
            a.heights.file = b.heights.file = NULL;
            a.heights.at = a.heights.value = b.heights.at = b.heights.value = NULL;
            a.table = a.signal.times = a.signal.values = NULL;
            b.table = b.signal.times = b.signal.values = NULL;
            assert_memory_equal(&a, &b, sizeof a);
        }
        assert_int_equal(first.patch_count, second.patch_count);
        for (int p = 0; p < first.patch_count; p++) {
            struct case_patch a = first.patches[p], b = second.patches[p];
            if (a.mask)
                assert_memory_equal(a.mask, b.mask, 32);
            a.file = b.file = a.opening.place = b.opening.place = NULL;
            a.mask = b.mask = NULL;
            assert_memory_equal(&a, &b, sizeof a);
        }
        case_destroy(&first);
        case_destroy(&second);
    }
}

/* A resolved case does not read any more when its file holds something else. */
static void a_changed_file_is_noticed(void **state)
{
    struct flow_case c, again;
    (void)state;
    write_file("change.csv", "0 0\n5 1\n");
    must_read(INLET(", table: {file: change.csv}"), NULL, &c);
    write_file("change.csv", "0 0\n5 1 # still the same\n");
    must_read(c.resolved, NULL, &again);
    case_destroy(&again);
    write_file("change.csv", "0 0\n5 1.0000000000000002\n");
    assert_int_equal(read_text(c.resolved, NULL, &again), STATUS_USAGE);
    assert_one_line(said, "it has changed");
    case_destroy(&c);
}

/* Names with letters of any kind come back; files may lie in another folder. */
static void names_of_files_may_be_odd(void **state)
{
    struct flow_case c, again;
    (void)state;
    write_file("\xc3\xa4 \"b\" \xf0\x9f\x8c\x8a\\.csv", "0 0\n5 1\n");
    must_read(INLET(", table: {file: '\xc3\xa4 \"b\" \xf0\x9f\x8c\x8a\\.csv'}"), NULL, &c);
    must_read(c.resolved, NULL, &again);
    assert_string_equal(c.faces[0].signal.file, again.faces[0].signal.file);
    assert_string_equal(c.resolved, again.resolved);
    case_destroy(&again);
    case_destroy(&c);
}

/* clang-format off */
static const struct mistake {
    const char *text, *set;
    const char *place;     /* ":LINE:COLUMN: ", or what begins the line */
    const char *fragments; /* "a|b": all in the line */
} mistakes[] = {
    /* what a face is */
    {BOX FACES("{}"), NULL, ":4:15: ", "faces.xmin is a map; expected one of periodic, wall"},
    {BOX FACES("velocity"), NULL, ":4:15: ", "which velocity?"},
    {BOX FACES("inlet"), NULL, ":4:15: ", "'inlet' is none of periodic, wall, slip"},
    {BOX FACES("outflows"), NULL, ":4:15: ", "did you mean outflow?"},
    {BOX FACES("{wall: {}, slip: {}}"), NULL, ":4:26: ", "faces.xmin is both wall and slip"},
    {BOX FACES("{periodic: {}}"), NULL, ":4:16: ", "unknown key 'faces.xmin.periodic'"},
    {BOX FACES("{outflow: {speed: 1}}"), NULL, ":4:26: ", "unknown key 'faces.xmin.outflow.speed'"},
    {BOX FACES("{nonreflecting: {velocity: [0.1, 0, 0]}}"), NULL, ":4:42: ", "only that along the face is given here: 0 for x"},
    {BOX FACES("{nonreflecting: {velocity: [0, 0.2, 0]}}"), NULL, ":4:42: ", "at most Mach 0.3"},
    {BOX FACES("{slip: 1}"), NULL, ":4:22: ", "'1'; expected an empty map"},
    {BOX FACES("{velocity: 0.1}"), NULL, ":4:26: ", "faces.xmin.velocity is '0.1'; expected a map"},
    {BOX FACES("{velocity: {}}"), NULL, ":4:16: ", "faces.xmin.velocity.value is missing"},
    {BOX "faces: {xmin: outflow, xmax: periodic, y: wall, z: wall}\n", NULL, ":4:30: ", "xmax is periodic but xmin is not"},
    {BOX "faces: {x: outflow, xmin: wall, y: wall, z: wall}\n", NULL, ":4:21: ", "named twice"},
    {BOX FACES("{wall: {profile: duct}}"), NULL, ":4:23: ", "unknown key 'faces.xmin.wall.profile'"},
    {BOX FACES("{outflow: {}, velocity: {value: [0, 0, 0]}}"), NULL, ":4:16: ", "both velocity and outflow"},

    /* velocity */
    {INLET(", profile: ducts"), NULL, ":4:56: ", "'ducts'; expected uniform, parabola, duct or a map"},
    {INLET(", profile: power"), NULL, ":4:56: ", "'power'"},
    {INLET(", profile: {}"), NULL, ":4:56: ", "empty map"},
    {INLET(", profile: {power: 0}"), NULL, ":4:64: ", "1 to 100"},
    {INLET(", profile: {power: 7, file: p.csv}"), NULL, ":4:67: ", "both"},
    {INLET(", profile: {dataset: a}"), NULL, ":4:47: ", "faces.xmin.velocity.profile.power or faces.xmin.velocity.profile.file is missing"},
    {INLET(", profile: {power: 7, dataset: a}"), NULL, ":4:67: ", "dataset has no effect"},
    {INLET(", rule: wet"), NULL, ":4:53: ", "'wet' is none of regularised, links"},
    {INLET(", density: 1"), NULL, ":4:47: ", "unknown key"},
    {BOX FACES("{velocity: {value: [0.2, 0, 0]}}"), NULL, ":4:34: ", "0.2 cells a step, Mach 0.346 (at most Mach 0.3, 0.173"},
    {BOX FACES("{velocity: {value: [0.1, 0.1, 0.11]}}"), NULL, ":4:34: ", "Mach 0.31"},
    {BOX FACES("{velocity: {value: [0.6, 0, 0]}}"), NULL, ":4:34: ", "magnitude 0.6 is out of range"},
    {BOX FACES("{velocity: {value: [0.1, 0]}}"), NULL, ":4:34: ", "three numbers"},
    {BOX FACES("{velocity: {value: 0.1}}"), NULL, ":4:34: ", "three numbers"},
    {BOX FACES("{velocity: {value: [0.1 m/s, 0, 0]}}"), NULL, ":4:35: ", "needs units"},
    {UNITS BOX FACES("{velocity: {value: [1 m/s, 0, 0]}}"), NULL, ":5:34: ", "Mach 0.346|smaller units.dt"},
    {INLET(", profile: {file: fast.csv}"), NULL, ":4:34: ", "0.3 cells a step, Mach 0.52"},
    {INLET(", table: {file: strong.csv}"), NULL, ":4:34: ", "0.25 cells a step, Mach 0.433"},
    {INLET(", sine: {period: 5, mean: 1, amplitude: 1}"), NULL, ":4:34: ", "0.2 cells a step"},
    {BOX FACES("{wall: {velocity: [0.2, 0, 0]}}"), NULL, ":4:33: ", "Mach 0.346"},
    {BOX "faces: {xmin: {velocity: {value: [0.1, 0, 0], profile: duct}}, xmax: pressure, y: slip, z: periodic}\n", NULL, ":4:56: ", "neither a wall nor a velocity face beside xmin"},
    {"domain: {cells: [1, 4, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 3}\n" FACES("{velocity: {value: [0.1, 0, 0]}}"), NULL, ":4:15: ", "one cell along x"},

    /* profiles from files */
    {INLET(", profile: {file: none.csv}"), NULL, ":4:63: ", "'none.csv': No such file"},
    {INLET(", profile: {file: }"), NULL, ":4:63: ", "expected text"},
    {INLET(", profile: {file: [a]}"), NULL, ":4:63: ", "expected text"},
    {INLET(", profile: {file: .}"), NULL, ":4:63: ", "Is a directory"},
    {INLET(", profile: {file: /dev/zero}"), NULL, ":4:63: ", "is not a file"},
    {INLET(", profile: {file: short.csv}"), NULL, ":4:63: ", "has 2 lines of 2 numbers, but the face has 6 x 4 cells (4 lines of 6, or of 18"},
    {INLET(", profile: {file: ragged.csv}"), NULL, ":4:63: ", "'ragged.csv':2:1: a line of 2 numbers after lines of 3"},
    {INLET(", profile: {file: word.csv}"), NULL, ":4:63: ", "'word.csv':2:4: 'five' is not a number"},
    {INLET(", profile: {file: nan.csv}"), NULL, ":4:63: ", ":1:3: 'nan' is not a number"},
    {INLET(", profile: {file: large.csv}"), NULL, ":4:63: ", "'1e999' is too large"},
    {INLET(", profile: {file: comma.csv}"), NULL, ":4:63: ", ":2:3: a comma and no number"},
    {INLET(", profile: {file: last.csv}"), NULL, ":4:63: ", ":1:6: no number after the last comma"},
    {INLET(", profile: {file: hex.csv}"), NULL, ":4:63: ", "'0x10' is not a number"},
    {INLET(", profile: {file: empty.csv}"), NULL, ":4:63: ", "holds no numbers"},
    {INLET(", profile: {file: m.png}"), NULL, ":4:63: ", "'m.png'"},
    {INLET(", profile: {file: p.csv, dataset: profile}"), NULL, ":4:70: ", "dataset has no effect with a CSV file"},
    {INLET(", profile: {file: bad.h5}"), NULL, ":4:63: ", "cannot be read as an HDF5 file"},
    {INLET(", profile: {file: p.h5, dataset: none}"), NULL, ":4:63: ", "holds no dataset 'none'"},
    {INLET(", profile: {file: p.h5, dataset: group}"), NULL, ":4:63: ", "holds no dataset 'group'"},
    {INLET(", profile: {file: p.h5, dataset: four}"), NULL, ":4:63: ", "does not have 2 axes, or 3"},
    {INLET(", profile: {file: p.h5, dataset: line}"), NULL, ":4:63: ", "does not have 2 axes, or 3"},
    {INLET(", profile: {file: p.h5, dataset: nan}"), NULL, ":4:63: ", "not a finite number"},
    {"domain: {cells: [8, 4, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 3}\n" FACES("{velocity: {value: [0, 0, 0], profile: {file: p.h5}}}"), NULL, ":4:61: ", "'profile' is of 4 x 6, but the face has 4 x 4 cells"},
    {INLET(", profile: {file: p.csv, checksum: 12}"), NULL, ":4:80: ", "'12' is not a checksum"},
    {INLET(", profile: {file: p.csv, checksum: 0123456789abcdef}"), NULL, ":4:80: ", "it has changed"},

    /* profiles by height or radius */
    {INLET(", profile: {height: wind.csv}"), NULL, ":4:65: ", "expected a map"},
    {INLET(", profile: {height: {}}"), NULL, ":4:57: ", "height.axis is missing (for example height: {axis: z})"},
    {INLET(", profile: {height: {axis: z}}"), NULL, ":4:57: ", "height.file is missing"},
    {INLET(", profile: {height: {file: wind.csv, axis: x}}"), NULL, ":4:88: ", "x is across face xmin (y or z)"},
    {INLET(", profile: {height: {file: wind.csv, axis: z}, log: {axis: z, roughness: 1, reference: 9}}"), NULL, ":4:92: ", "has both height and log (keep one)"},
    {INLET(", profile: {height: {file: wind.csv, axis: z}, power: 7}"), NULL, ":4:92: ", "power has no effect"},
    {INLET(", profile: {height: {file: falls.csv, axis: z}}"), NULL, ":4:72: ", "'falls.csv': height 2 is not above the one before, 3 (they must rise)"},
    {INLET(", profile: {height: {file: alone.csv, axis: z}}"), NULL, ":4:72: ", "'alone.csv' has one line (at least two: each has a height and a factor)"},
    {INLET(", profile: {height: {file: three_columns.csv, axis: z}}"), NULL, ":4:72: ", "has 3 numbers in a line, not 2: a height and a factor"},
    {INLET(", profile: {height: {file: not.csv, axis: z}}"), NULL, ":4:72: ", ":2:3: 'nan' is not a number"},
    {INLET(", profile: {height: {file: p.h5, axis: z}}"), NULL, ":4:72: ", "is an HDF5 file, not CSV"},
    {INLET(", profile: {height: {file: wind.csv, axis: z, length: 0.1}}"), NULL, ":4:72: ", "its heights, from 0.1 to 0.4 cells, are all below those of the cells here, from 0.5 to 3.5 (length: 1 m if they are in m; from:"},
    {INLET(", profile: {height: {file: far.csv, axis: z}}"), NULL, ":4:72: ", "from 9 to 12 cells, are all above those of the cells here, from 0.5 to 3.5"},
    {INLET(", profile: {height: {file: wind.csv, axis: z, length: 1e308}}"), NULL, ":4:72: ", "height 2 is too large"},
    {INLET(", profile: {height: {file: wind.csv, axis: z, length: 0}}"), NULL, ":4:99: ", "out of range"},
    {INLET(", profile: {height: {file: wind.csv, axis: z, checksum: 0123456789abcdef}}"), NULL, ":4:101: ", "it has changed"},
    {INLET(", profile: {radius: {file: below.csv}}"), NULL, ":4:72: ", "distance -1 is negative"},
    {INLET(", profile: {radius: {file: wind.csv, axis: z}}"), NULL, ":4:82: ", "unknown key 'faces.xmin.velocity.profile.radius.axis'"},
    {INLET(", profile: {log: {axis: z, roughness: 0, reference: 3}}"), NULL, ":4:83: ", "out of range (above 0"},
    {INLET(", profile: {log: {axis: z, roughness: 0.1}}"), NULL, ":4:57: ", "log.reference is missing"},
    {INLET(", profile: {shear: {axis: z, exponent: -1, reference: 3}}"), NULL, ":4:84: ", "0 to 2"},
    {INLET(", profile: {shear: {axis: z, exponent: 0.5, reference: 0.1}}"), NULL, ":4:34: ", "0.5916 cells a step, Mach 1.02"},
    {PATCH("{face: ymin, mask: {file: m.png}, velocity: {value: [0, 0.1, 0], profile: {radius: {file: wind.csv}}}}"), NULL, ":6:80: ", "not over a mask"},

    /* signals */
    {INLET(", ramp: 0"), NULL, ":4:53: ", "above 0"},
    {INLET(", ramp: 1 s"), NULL, ":4:53: ", "needs units"},
    {UNITS INLET(", ramp: 1 m"), NULL, ":5:53: ", "not a time"},
    {INLET(", ramp: 10, sine: {period: 5}"), NULL, ":4:57: ", "faces.xmin.velocity has both ramp and sine"},
    {INLET(", sine: {phase: 0.5}"), NULL, ":4:47: ", "sine.period is missing"},
    {INLET(", sine: {period: 5, phase: 2}"), NULL, ":4:72: ", "-1 to 1"},
    {INLET(", sine: 5"), NULL, ":4:53: ", "a map"},
    {INLET(", table: {time: 5}"), NULL, ":4:47: ", "table.file is missing"},
    {INLET(", table: {file: back.csv}"), NULL, ":4:61: ", "time 2 is not after the one before, 2"},
    {INLET(", table: {file: three_columns.csv}"), NULL, ":4:61: ", "3 numbers in a line, not 2"},
    {INLET(", table: {file: p.h5}"), NULL, ":4:61: ", "is an HDF5 file, not CSV"},
    {INLET(", table: {file: t.csv, time: 1e308}"), NULL, ":4:61: ", "time 2 is too large"},

    /* pressure */
    {BOX FACES("{pressure: {density: 0}}"), NULL, ":4:36: ", "0.5 to 1.5"},
    {BOX FACES("{pressure: 0.2}"), NULL, ":4:26: ", "'0.2' is out of range (-0.1666666667 to 0.1666666667 in lattice units; pressures are relative"},
    {BOX FACES("{pressure: high}"), NULL, ":4:26: ", "expected a number or a map"},
    {BOX FACES("{pressure: 5 Pa}"), NULL, ":4:26: ", "needs units"},
    {BOX FACES("{pressure: {value: 0.01, density: 1}}"), NULL, ":4:40: ", "both faces.xmin.pressure.density and faces.xmin.pressure.value are given"},
    {BOX FACES("{pressure: {value: 5 m}}"), NULL, ":4:34: ", "is a height, not a pressure"},
    {BOX FACES("{pressure: {value: 0, ramp: 10}}"), NULL, ":4:34: ", "with density 1 a variation in time has no effect"},
    {BOX FACES("{nonreflecting: {pressure: 0.01, density: 1}}"), NULL, ":4:48: ", "nonreflecting.pressure are given"},
    {BOX FACES("{pressure: {density: -1}}"), NULL, ":4:36: ", "out of range"},
    {BOX FACES("{pressure: {density: 3}}"), NULL, ":4:36: ", "0.5 to 1.5"},
    {BOX FACES("{pressure: {ramp: 10}}"), NULL, ":4:16: ", "with density 1 a variation in time has no effect"},
    {BOX FACES("{pressure: {density: 1.4, sine: {period: 10, amplitude: 2}}}"), NULL, ":4:36: ", "as far as 0.8 from 1"},
    {BOX FACES("{pressure: {velocity: 0.1}}"), NULL, ":4:37: ", "three numbers"},
    {BOX FACES("{pressure: {velocity: [0, 0.1, 0], rule: links}}"), NULL, ":4:37: ", "faces.xmin.pressure: rule links does not prescribe the velocity along"},
    {BOX FACES("{pressure: {velocity: [1e-9, 0.1, 0]}}"), NULL, ":4:37: ", "the velocity along x, across face xmin, follows"},
    {BOX FACES("{pressure: {velocity: [0, 0.2, 0]}}"), NULL, ":4:37: ", "Mach 0.346"},
    {BOX FACES("{pressure: {velocity: [0, 0.1, 0], profile: {file: short.csv}}}"), NULL, ":4:66: ", "the face has 6 x 4 cells"},
    {BOX FACES("{pressure: {profile: duct}}"), NULL, ":4:27: ", "a profile but no velocity that has it (for example velocity: [0, "},
    {BOX "faces: {xmin: wall, xmax: {pressure: {velocity: [0, 0, 0.1], profile: duct}}, y: slip, z: periodic}\n", NULL, ":4:71: ", "neither a wall nor a velocity face beside xmax"},
    {BOX FACES("{nonreflecting: {reflection: 2}}"), NULL, ":4:44: ", "0 to 1"},
    {BOX FACES("{nonreflecting: {density: 0}}"), NULL, ":4:41: ", "0.5 to 1.5"},

    /* patches */
    {PATCH("{}"), NULL, ":6:3: ", "patches.p.face is missing"},
    {PATCH("{face: x, disc: {center: [1, 1], radius: 1}, outflow: {}}"), NULL, ":6:13: ", "'x' is none of xmin, xmax"},
    {PATCH("{face: zmin, disc: {center: [1, 1], radius: 1}, outflow: {}}"), NULL, ":6:13: ", "zmin is periodic, so it can have no parts"},
    {PATCH("{face: xmin, outflow: {}}"), NULL, ":6:3: ", "patches.p has no shape"},
    {PATCH("{face: xmin, disc: {center: [1, 1], radius: 1}}"), NULL, ":6:3: ", "patches.p does not say what it is"},
    {PATCH("{face: xmin, disc: {center: [1, 1], radius: 1}, periodic: {}}"), NULL, ":6:54: ", "unknown key"},
    {PATCH("{face: xmin, disc: {center: [1, 1], radius: 1}, mask: {file: m.png}, outflow: {}}"), NULL, ":6:54: ", "both disc and mask"},
    {PATCH("{face: xmin, disc: {center: [7, 1], radius: 1}, outflow: {}}"), NULL, ":6:35: ", "'7' is outside the box (0 to 6 along y)"},
    {PATCH("{face: xmin, disc: {center: [1, 1, 1], radius: 1}, outflow: {}}"), NULL, ":6:34: ", "a list of two numbers"},
    {PATCH("{face: xmin, disc: {center: [1, 1], radius: 0.7}, outflow: {}}"), NULL, ":6:25: ", "no cell has its centre in it"},
    {PATCH("{face: xmin, disc: {center: [1, 1], radius: 0}, outflow: {}}"), NULL, ":6:50: ", "above 0"},
    {PATCH("{face: xmin, rectangle: {from: [3, 0], to: [2, 4]}, outflow: {}}"), NULL, ":6:30: ", "from 3 is above to 2 along y (swap them)"},
    {PATCH("{face: xmin, rectangle: {from: [0, 0.6], to: [2, 1.4]}, outflow: {}}"), NULL, ":6:30: ", "no cell has its centre between 0.6 and 1.4 along z"},
    {PATCH("{face: xmin, rectangle: {from: [0, 0], to: [2, 5]}, outflow: {}}"), NULL, ":6:53: ", "outside the box (0 to 4 along z)"},
    {PATCH("{face: xmin, rectangle: {from: [0, 0]}, outflow: {}}"), NULL, ":6:19: ", "rectangle.to is missing"},
    {PATCH("{face: ymin, mask: {file: square.png}, outflow: {}}"), NULL, ":6:32: ", "has 4 x 4 pixels, but the face has 8 x 4 cells"},
    {PATCH("{face: ymin, mask: {file: black.png}, outflow: {}}"), NULL, ":6:32: ", "no white in it"},
    {PATCH("{face: ymin, mask: {file: bad.png}, outflow: {}}"), NULL, ":6:32: ", "is not a PNG picture"},
    {PATCH("{face: ymin, mask: {file: p.csv}, outflow: {}}"), NULL, ":6:32: ", "is not a PNG picture"},
    {PATCH("{face: ymin, mask: {}, outflow: {}}"), NULL, ":6:19: ", "mask.file is missing"},
    {PATCH("{face: xmin, disc: {center: [3, 2], radius: 2}, velocity: {value: [0.1, 0, 0], profile: duct}}"), NULL, ":6:94: ", "not over a disc"},
    {PATCH("{face: ymin, mask: {file: m.png}, velocity: {value: [0, 0.1, 0], profile: {power: 7}}}"), NULL, ":6:80: ", "not over a mask"},
    {PATCH("{face: xmin, disc: {center: [3, 2], radius: 2}, velocity: {value: [0.3, 0, 0]}}"), NULL, ":6:72: ", "Mach 0.52"},
    {"domain: {cells: [1, 1, 1]}\nfluid: {viscosity: 1}\nrun: {steps: 1}\nfaces: {x: wall, y: wall, z: wall}\npatches: {colour: {face: xmin, mask: {file: colour.png}, slip: {}}}\n", NULL, ":5:45: ", "in colour"},
    {PATCH("{face: xmin, disc: {center: [3, 2], radius: 1.5}, outflow: {}}\n  q: {face: xmin, rectangle: {from: [1, 0], to: [5, 2]}, slip: {}}\n  r: {face: xmin, rectangle: {from: [1, 2], to: [5, 4]}, slip: {}}"), NULL, ":6:3: ", "patches.p has no cell left: later patches cover all of it"},
    {BOX FACES("wall"), "patches.a b.face=xmin", "--set 'patches.a b.face=xmin': ", "name"},
    {INLET(""), "faces.xmin.velocity.profile.file=none.h5", "--set 'faces.xmin.velocity.profile.file=none.h5': ", "No such file"},
};
/* clang-format on */

static void every_mistake_gets_its_line(void **state)
{
    int wrong = 0;
    static const struct flow_case zero;
    (void)state;
    for (size_t i = 0; i < LENGTH(mistakes); i++) {
        const struct mistake *m = &mistakes[i];
        char start[640], copy[512], *rest = copy;
        struct flow_case c;
        const enum status s = read_text(m->text, m->set, &c);
        if (s != STATUS_USAGE)
            fail_msg("status %d for: %s %s", s, m->text, said);
        assert_memory_equal(&c, &zero, sizeof c);
        snprintf(start, sizeof start, "tagflow: %s%s",
                 *m->place == ':' ? scratch_path("case.yaml") : "", m->place);
        const char *end = strchr(said, '\n');
        bool right = end && !end[1] && !strncmp(said, start, strlen(start));
        snprintf(copy, sizeof copy, "%s", m->fragments);
        for (char *f = strsep(&rest, "|"); f; f = strsep(&rest, "|"))
            right = right && strstr(said, f);
        if (!right)
            print_error("expected '%s' with '%s', got: %s\n", m->place, m->fragments, said);
        wrong += !right;
    }
    assert_int_equal(wrong, 0);
}

/* Without a reader of files (a fuzzer has none) a case that names one is refused. */
static void files_need_a_reader(void **state)
{
    static const char text[] = INLET(", table: {file: t.csv}");
    struct flow_case c;
    (void)state;
    scratch_listen();
    assert_int_equal(case_read("case.yaml", text, (long)strlen(text), 0, NULL, &c), STATUS_USAGE);
    assert_one_line(scratch_heard(), "files cannot be read here");
}

/* A profile's file with any byte changed, or cut anywhere, is read or refused in one line. */
static void damaged_files_get_one_line(void **state)
{
    static const char *const texts[] = {
        INLET(", profile: {file: damaged}"),
        PATCH("{face: ymin, mask: {file: damaged}, outflow: {}}"),
        INLET(", profile: {height: {file: damaged, axis: z}}"),
    };
    static const char *const names[] = {"p.csv", "m.png", "wind.csv"};
    uint64_t seed = 1;
    (void)state;
    for (size_t t = 0; t < LENGTH(texts); t++) {
        static char whole[8192], text[8192];
        FILE *file = fopen(scratch_path(names[t]), "r");
        assert_non_null(file);
        const size_t length = fread(whole, 1, sizeof whole, file);
        fclose(file);
        for (int i = 0; i < 600; i++) {
            struct flow_case c;
            size_t cut = length;
            memcpy(text, whole, length);
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            if (i % 3)
                text[(seed >> 33) % length] = (char)(seed >> 24);
            else
                cut = (seed >> 33) % length;
            file = fopen(scratch_path("damaged"), "w");
            assert_non_null(file);
            assert_int_equal(fwrite(text, 1, cut, file), cut);
            fclose(file);
            if (read_text(texts[t], NULL, &c))
                assert_one_line(said, "tagflow: ");
            case_destroy(&c);
        }
    }
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], FOREIGN_COMMAND) == 0)
        return foreign_serve(count - 2, arguments + 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_are_read),
        cmocka_unit_test(tables_of_profiles_are_read),
        cmocka_unit_test(profiles_by_height_are_read),
        cmocka_unit_test(tables_of_signals_are_read),
        cmocka_unit_test(patches_are_read),
        cmocka_unit_test(resolved_reads_back_to_the_same),
        cmocka_unit_test(a_changed_file_is_noticed),
        cmocka_unit_test(names_of_files_may_be_odd),
        cmocka_unit_test(every_mistake_gets_its_line),
        cmocka_unit_test(files_need_a_reader),
        cmocka_unit_test(damaged_files_get_one_line),
    };
    return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
