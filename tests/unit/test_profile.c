/* Profiles of openings: against closed forms and a published ratio, symmetric to the bit, zero
 * where walls are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "elementary.h"
#include "tags/profile.h"

/* A box of cells all of whose faces are walls at rest, but for xmin, with a profile. */
static struct flow_case box(int x, int y, int z, enum profile profile)
{
    struct flow_case c = {.cells = {x, y, z}};
    for (int f = 0; f < 6; f++)
        c.faces[f].kind = FACE_wall;
    c.faces[0] = (struct case_face){
        .kind = FACE_velocity, .profile = profile, .velocity = {1, 0, 0}, .power = 7};
    return c;
}

/* The component along x of xmin's profile, [nz][ny], to be freed. */
static double *values_of(const struct flow_case *c, const struct case_face *what)
{
    const size_t cells = (size_t)c->cells[1] * (size_t)c->cells[2];
    double *values = malloc(3 * cells * sizeof *values);
    assert_non_null(values);
    assert_int_equal(profile_values(c, 0, what, NULL, values), STATUS_OK);
    for (size_t n = 0; n < cells; n++) {
        assert_true(values[3 * n + 1] == 0 && values[3 * n + 2] == 0);
        values[n] = values[3 * n];
    }
    return values;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t n = 0; n < count; n++)
        sum += values[n];
    return sum / (double)count;
}

/* The logarithm undoes the exponential; exact where it has to be. */
static void logarithms_are_right(void **state)
{
    (void)state;
    assert_true(exact_log(1) == 0);
    for (double x = 1e-300; x < 1e300; x *= 1.37)
        assert_true(fabs(exact_log(x) - log(x)) <= 4e-16 * fmax(1, fabs(log(x))));
}

/* Square duct: u_max / u_mean = 2.0962 (Shah and London, Laminar Flow Forced Convection in Ducts,
 * table 42, to five digits; six by the series). Means by the midpoint rule, whose error is of
 * second order, at two sizes, extrapolated: 1e-6 is what remains of fourth order at 64 cells. */
static void a_square_duct_has_the_known_ratio(void **state)
{
    double mean[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const int n = 32 << k;
        struct flow_case c = box(4, n, n, PROFILE_duct);
        double *values = values_of(&c, &c.faces[0]);
        mean[k] = mean_of(values, (size_t)n * (size_t)n);
        free(values);
    }
    const double extrapolated = (4 * mean[1] - mean[0]) / 3;
    if (fabs(1 / extrapolated - 2.096256) > 2e-6)
        fail_msg("u_max / u_mean is %.8f", 1 / extrapolated);
}

/* The double Fourier series of the same flow, summed far and plainly: all positions, three shapes.
 * Its terms fall as 1 / (m n (m^2 + n^2)), so that 400 of each leave 1e-6 of an error. */
static void ducts_agree_with_the_double_series(void **state)
{
    static const int sizes[][2] = {{7, 7}, {5, 12}, {12, 5}};
    const double pi = acos(-1.0);
    (void)state;
    for (size_t t = 0; t < 3; t++) {
        const int ny = sizes[t][0], nz = sizes[t][1];
        struct flow_case c = box(4, ny, nz, PROFILE_duct);
        double *values = values_of(&c, &c.faces[0]);
        for (int k = 0; k < nz; k += 2)
            for (int j = 0; j < ny; j += 2) {
                double here = 0, middle = 0;
                for (int n = 1; n < 800; n += 2)
                    for (int m = 1; m < 800; m += 2) {
                        const double a = m * pi / ny, b = n * pi / nz;
                        const double weight = 1.0 / (m * (double)n * (a * a + b * b));
                        here += weight * sin(a * (j + 0.5)) * sin(b * (k + 0.5));
                        middle += weight * ((m + n) % 4 == 2 ? 1 : -1);
                    }
                const double is = values[k * ny + j];
                if (fabs(is - here / middle) > 2e-6)
                    fail_msg("%d x %d, cell %d, %d: %.9f, not %.9f", ny, nz, j, k, is,
                             here / middle);
            }
        free(values);
    }
}

/* A duct a thousand times wider than high is a pair of plates, far from its ends; and nothing in it
 * is too large or too small for a number. */
static void a_wide_duct_is_a_channel(void **state)
{
    (void)state;
    struct flow_case c = box(4, 4000, 4, PROFILE_duct);
    double *values = values_of(&c, &c.faces[0]);
    for (int k = 0; k < 4; k++) {
        const double p = (k + 0.5) / 4;
        assert_true(fabs(values[k * 4000 + 2000] - 4 * p * (1 - p)) < 1e-14);
        assert_true(values[k * 4000] > 0 && values[k * 4000] < 0.5 * values[k * 4000 + 2000]);
    }
    free(values);
}

/* Reflections, and in a square the swap of the axes, change no bit. */
static void profiles_are_symmetric_to_the_bit(void **state)
{
    static const enum profile profiles[] = {PROFILE_uniform, PROFILE_parabola, PROFILE_duct,
                                            PROFILE_power};
    static const int sizes[][2] = {{9, 9}, {16, 16}, {7, 24}, {33, 10}, {1, 5}};
    (void)state;
    for (size_t p = 0; p < 4; p++)
        for (size_t t = 0; t < 5; t++)
            for (int wet = 0; wet < 2; wet++) {
                const int ny = sizes[t][0], nz = sizes[t][1];
                struct flow_case c = box(4, ny, nz, profiles[p]);
                if (wet && ny > 1)
                    c.faces[2].kind = c.faces[3].kind = FACE_velocity;
                double *v = values_of(&c, &c.faces[0]);
                for (int k = 0; k < nz; k++)
                    for (int j = 0; j < ny; j++) {
                        const double here = v[k * ny + j];
                        assert_true(here == v[k * ny + ny - 1 - j]);
                        assert_true(here == v[(nz - 1 - k) * ny + j]);
                        assert_true(ny != nz || wet || here == v[j * ny + k]);
                        assert_true(here >= 0 && here <= 1);
                    }
                free(v);
            }
}

static void parabolas_and_powers_are_what_they_say(void **state)
{
    (void)state;
    struct flow_case c = box(4, 6, 8, PROFILE_parabola);
    double *v = values_of(&c, &c.faces[0]);
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 6; j++) {
            const double y = (j + 0.5) / 6, z = (k + 0.5) / 8;
            assert_true(fabs(v[k * 6 + j] - 16 * y * (1 - y) * z * (1 - z)) < 1e-15);
        }
    free(v);

    c = box(4, 6, 8, PROFILE_power);
    c.faces[4].kind = c.faces[5].kind = FACE_periodic; /* nothing varies along z */
    v = values_of(&c, &c.faces[0]);
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 6; j++) {
            const double s = (j < 3 ? j + 0.5 : 5.5 - j) / 3;
            assert_true(fabs(v[k * 6 + j] - pow(s, 1.0 / 7)) < 1e-14);
        }
    free(v);

    /* with edges periodic along z, a duct is a parabola between plates */
    c.faces[0].profile = PROFILE_duct;
    v = values_of(&c, &c.faces[0]);
    for (int j = 0; j < 6; j++) {
        const double y = (j + 0.5) / 6;
        assert_true(v[j] == v[7 * 6 + j] && fabs(v[j] - 4 * y * (1 - y)) < 1e-15);
    }
    free(v);
}

/* Where the plane of each kind of edge lies. */
static void edges_are_where_their_rules_put_them(void **state)
{
    static const struct {
        enum face_kind low, high;
        enum face_rule rule;
        bool varies;
        double from, to;
    } cases[] = {
        {FACE_wall, FACE_wall, FACE_RULE_regularised, true, 0, 10},
        {FACE_velocity, FACE_velocity, FACE_RULE_regularised, true, 0.5, 9.5},
        {FACE_velocity, FACE_velocity, FACE_RULE_links, true, 0, 10},
        {FACE_wall, FACE_velocity, FACE_RULE_regularised, true, 0, 9.5},
        {FACE_wall, FACE_slip, FACE_RULE_regularised, true, 0, 20},
        {FACE_slip, FACE_wall, FACE_RULE_regularised, true, -10, 10},
        {FACE_outflow, FACE_velocity, FACE_RULE_regularised, true, -9.5, 9.5},
        {FACE_wall, FACE_pressure, FACE_RULE_regularised, true, 0, 19},
        {FACE_slip, FACE_slip, FACE_RULE_regularised, false, 0, 0},
        {FACE_periodic, FACE_periodic, FACE_RULE_regularised, false, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct flow_case c = box(4, 10, 4, PROFILE_parabola);
        c.faces[2] = (struct case_face){.kind = cases[i].low, .rule = cases[i].rule};
        c.faces[3] = (struct case_face){.kind = cases[i].high, .rule = cases[i].rule};
        const struct profile_stretch s = profile_stretch(&c, 1);
        assert_int_equal(s.varies, cases[i].varies);
        if (s.varies)
            assert_true(s.low == cases[i].from && s.high == cases[i].to);
    }
    /* half a channel below a plane of symmetry is half of the whole one */
    struct flow_case whole = box(4, 12, 3, PROFILE_duct), half = box(4, 6, 3, PROFILE_duct);
    half.faces[3].kind = FACE_slip;
    double *all = values_of(&whole, &whole.faces[0]), *part = values_of(&half, &half.faces[0]);
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 6; j++)
            assert_true(part[k * 6 + j] == all[k * 12 + j]);
    free(all);
    free(part);
}

/* A flow that comes in through wet nodes on both axes vanishes on the outermost of them. */
static void wet_edges_hold_the_flow_on_their_nodes(void **state)
{
    (void)state;
    struct flow_case c = box(4, 9, 7, PROFILE_duct);
    for (int f = 2; f < 6; f++)
        c.faces[f].kind = FACE_velocity;
    double *v = values_of(&c, &c.faces[0]);
    for (int k = 0; k < 7; k++)
        for (int j = 0; j < 9; j++) {
            const bool edge = j == 0 || j == 8 || k == 0 || k == 6;
            assert_true(edge ? v[k * 9 + j] == 0 : v[k * 9 + j] > 0.1);
        }
    assert_true(fabs(v[3 * 9 + 4] - 1) < 1e-14); /* the node in the middle */
    free(v);
}

static void patches_have_profiles_of_their_own(void **state)
{
    (void)state;
    struct flow_case c = box(4, 16, 16, PROFILE_uniform);
    struct case_patch patches[2] = {
        {.shape = PATCH_disc, .center = {8, 8}, .radius = 5},
        {.shape = PATCH_rectangle, .from = {2, 4}, .to = {8, 16}},
    };
    c.patches = patches;
    c.patch_count = 2;
    for (int p = 0; p < 2; p++)
        patches[p].opening = (struct case_face){
            .kind = FACE_velocity, .profile = PROFILE_parabola, .velocity = {1, 0, 0}};
    double *v = values_of(&c, &patches[0].opening);
    for (int k = 0; k < 16; k++)
        for (int j = 0; j < 16; j++) {
            const double square = (j - 7.5) * (j - 7.5) + (k - 7.5) * (k - 7.5);
            const bool in = patch_holds(&patches[0], c.cells, j, k);
            assert_int_equal(in, square <= 25);
            assert_true(fabs(v[k * 16 + j] - (in ? 1 - square / 25 : 0)) < 1e-15);
        }
    free(v);
    v = values_of(&c, &patches[1].opening);
    for (int k = 4; k < 16; k++)
        for (int j = 2; j < 8; j++) {
            const double y = (j - 1.5) / 6, z = (k - 3.5) / 12;
            assert_true(patch_holds(&patches[1], c.cells, j, k));
            assert_true(fabs(v[k * 16 + j] - 16 * y * (1 - y) * z * (1 - z)) < 1e-15);
        }
    free(v);
    /* the upper edge along z now is that of the face, which is a plane of symmetry */
    c.faces[5].kind = FACE_slip;
    v = values_of(&c, &patches[1].opening);
    for (int k = 4; k < 16; k++) {
        const double y = 3.5 / 6, z = (k - 3.5) / 24;
        assert_true(fabs(v[k * 16 + 5] - 16 * y * (1 - y) * z * (1 - z)) < 1e-15);
    }
    free(v);
}

/* What a body leaves of a face is as a face of that size: a step of 4 cells below, then one more
 * beside it. A plane of symmetry stays one where the open part reaches it. */
static void a_covered_face_has_the_profile_of_its_open_part(void **state)
{
    static const enum profile profiles[] = {PROFILE_parabola, PROFILE_duct, PROFILE_power};
    (void)state;
    for (size_t p = 0; p < 3; p++)
        for (int slip = 0; slip < 2; slip++) {
            const struct profile_open open = {{4, 0}, {12, 7}};
            struct flow_case c = box(4, 12, 9, profiles[p]), part = box(4, 8, 7, profiles[p]);
            double values[3 * 12 * 9];
            if (slip)
                c.faces[3].kind = part.faces[3].kind = FACE_slip;
            double *v = values_of(&part, &part.faces[0]);
            assert_int_equal(profile_values(&c, 0, &c.faces[0], &open, values), STATUS_OK);
            for (int k = 0; k < 7; k++)
                for (int j = 0; j < 8; j++)
                    if (fabs(values[3 * (k * 12 + j + 4)] - v[k * 8 + j]) > 1e-14)
                        fail_msg("profile %d, slip %d, cell %d, %d: %.17g, not %.17g",
                                 (int)profiles[p], slip, j, k, values[3 * (k * 12 + j + 4)],
                                 v[k * 8 + j]);
            free(v);
        }
}

/* A rectangle of 2.5 to 9 has cells 2 to 8; what is left of it, 4 to 8, begins at the face of cell
 * 4, and ends where the rectangle does. */
static void a_covered_patch_has_the_profile_of_its_open_part(void **state)
{
    const struct profile_open whole = {{2, 1}, {9, 4}}, open = {{4, 1}, {9, 4}};
    double values[3 * 12 * 5], same[3 * 12 * 5];
    (void)state;
    struct flow_case c = box(4, 12, 5, PROFILE_uniform);
    struct case_patch patch = {.shape = PATCH_rectangle, .from = {2.5, 1}, .to = {9, 4}};
    c.patches = &patch;
    c.patch_count = 1;
    patch.opening = (struct case_face){
        .kind = FACE_velocity, .profile = PROFILE_parabola, .velocity = {1, 0, 0}};
    assert_int_equal(profile_values(&c, 0, &patch.opening, NULL, values), STATUS_OK);
    assert_int_equal(profile_values(&c, 0, &patch.opening, &whole, same), STATUS_OK);
    assert_memory_equal(values, same, sizeof values);
    assert_int_equal(profile_values(&c, 0, &patch.opening, &open, values), STATUS_OK);
    for (int j = 4; j < 9; j++) {
        const double y = (j + 0.5 - 4) / 5;
        assert_true(fabs(values[3 * (2 * 12 + j)] - 4 * y * (1 - y)) < 1e-15);
    }
}

static void tables_are_taken_as_they_are(void **state)
{
    double table[3 * 6 * 3], values[3 * 6 * 3];
    (void)state;
    struct flow_case c = box(4, 6, 3, PROFILE_table);
    struct case_face *f = &c.faces[0];
    for (int i = 0; i < 54; i++)
        table[i] = i;
    f->velocity[1] = 0.5;
    f->table = table;
    f->table_size[0] = 6;
    f->table_size[1] = 3;
    f->table_components = 1;
    assert_int_equal(profile_values(&c, 0, f, NULL, values), STATUS_OK);
    for (int n = 0; n < 18; n++)
        assert_true(values[3 * n] == n && values[3 * n + 1] == 0.5 * n && values[3 * n + 2] == 0);
    f->table_components = 3;
    assert_int_equal(profile_values(&c, 0, f, NULL, values), STATUS_OK);
    for (int n = 0; n < 18; n++)
        assert_true(values[3 * n] == 3 * n && values[3 * n + 1] == 0.5 * (3 * n + 1) &&
                    values[3 * n + 2] == 0);
}

/* The laws of the height against the C library, and a table, at the same heights on two grids, of
 * which the finer one has its cells elsewhere. Nothing varies along the other axis. */
static void profiles_by_height_are_what_they_say(void **state)
{
    static const enum profile profiles[] = {PROFILE_height, PROFILE_log, PROFILE_shear};
    double at[] = {1, 2.5, 4}, value[] = {0.2, 1, -0.4};
    (void)state;
    for (size_t p = 0; p < 3; p++)
        for (int finer = 1; finer <= 3; finer += 2) {
            const int ny = 3, nz = 8 * finer;
            struct flow_case c = box(4, ny, nz, profiles[p]);
            struct case_heights *const h = &c.faces[0].heights;
            *h = (struct case_heights){.axis = 2,
                                       .from = 0.75 * finer,
                                       .roughness = 0.03 * finer,
                                       .reference = 5.0 * finer,
                                       .exponent = 0.14,
                                       .points = 3};
            double scaled[3];
            for (int k = 0; k < 3; k++)
                scaled[k] = at[k] * finer;
            h->at = scaled;
            h->value = value;
            double *v = values_of(&c, &c.faces[0]);
            for (int k = 0; k < nz; k++) {
                const double z = (k + 0.5) / finer - 0.75;
                const double law = profiles[p] == PROFILE_log
                                       ? log((z + 0.03) / 0.03) / log(5.03 / 0.03)
                                       : pow(z / 5, 0.14);
                const double table = z <= 1     ? 0.2
                                     : z <= 2.5 ? 0.2 + 0.8 * (z - 1) / 1.5
                                     : z <= 4   ? 1 - 1.4 * (z - 2.5) / 1.5
                                                : -0.4;
                const double should = profiles[p] == PROFILE_height ? table : z > 0 ? law : 0;
                for (int j = 0; j < ny; j++)
                    if (fabs(v[k * ny + j] - should) > 2e-15)
                        fail_msg("profile %d, %d times finer, z %g: %.17g, not %.17g",
                                 (int)profiles[p], finer, z, v[k * ny + j], should);
            }
            free(v);
        }
}

/* By the distance from the middle of a disc, whatever other openings its face has. */
static void profiles_by_radius_go_round(void **state)
{
    double at[] = {0, 2, 4.5}, value[] = {1, 0.6, 0.1};
    (void)state;
    struct flow_case c = box(4, 12, 10, PROFILE_uniform);
    struct case_patch patch = {.shape = PATCH_disc, .center = {6.2, 5.1}, .radius = 4};
    c.patches = &patch;
    c.patch_count = 1;
    patch.opening = (struct case_face){
        .kind = FACE_velocity,
        .profile = PROFILE_radius,
        .velocity = {1, 0, 0},
        .heights = {.center = {6.2, 5.1}, .points = 3, .at = at, .value = value}};
    double *v = values_of(&c, &patch.opening);
    for (int k = 0; k < 10; k++)
        for (int j = 0; j < 12; j++) {
            const double r = hypot(j + 0.5 - 6.2, k + 0.5 - 5.1);
            const double should = r <= 2 ? 1 - 0.2 * r : r <= 4.5 ? 0.6 - 0.2 * (r - 2) : 0.1;
            assert_true(fabs(v[k * 12 + j] - should) < 2e-15);
        }
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_are_right),
        cmocka_unit_test(a_square_duct_has_the_known_ratio),
        cmocka_unit_test(ducts_agree_with_the_double_series),
        cmocka_unit_test(a_wide_duct_is_a_channel),
        cmocka_unit_test(profiles_are_symmetric_to_the_bit),
        cmocka_unit_test(parabolas_and_powers_are_what_they_say),
        cmocka_unit_test(edges_are_where_their_rules_put_them),
        cmocka_unit_test(wet_edges_hold_the_flow_on_their_nodes),
        cmocka_unit_test(patches_have_profiles_of_their_own),
        cmocka_unit_test(a_covered_face_has_the_profile_of_its_open_part),
        cmocka_unit_test(a_covered_patch_has_the_profile_of_its_open_part),
        cmocka_unit_test(tables_are_taken_as_they_are),
        cmocka_unit_test(profiles_by_height_are_what_they_say),
        cmocka_unit_test(profiles_by_radius_go_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
