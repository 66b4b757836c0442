/* The benchmark's cases as texts: every one is read on its smallest box, and a rock has the
 * porosity that is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "body/shape.h"

static enum status read_subject(const struct bench_subject *s, struct flow_case *c)
{
    char *text;
    size_t length;
    enum status status = bench_case_text(s, &text, &length);
    if (status)
        return status;
    status = case_read("bench.yaml", text, (long)length, 0, NULL, c);
    free(text);
    return status;
}

static void smallest_boxes(void **state)
{
    (void)state;
    for (int which = 0; which < BENCH_CASES; which++)
        for (int more = -1; more <= 1; more++) {
            const int n = bench_fewest((enum bench_case)which) + more;
            struct bench_subject s = {.which = (enum bench_case)which,
                                      .cells = {n, n + 3, n},
                                      .storage = PRECISION_fp32,
                                      .arithmetic = PRECISION_fp32,
                                      .threads = 1};
            struct flow_case c;
            if (n < 1)
                continue;
            assert_int_equal(read_subject(&s, &c), more < 0 ? STATUS_USAGE : STATUS_OK);
            if (more >= 0)
                case_destroy(&c);
        }
}

/* The part of the box's cells whose centres are in no sphere; of a large box each ninth row. */
static double porosity_of(const struct flow_case *c)
{
    struct shape shape;
    const int *const n = c->cells;
    const int apart = (double)n[0] * n[1] * n[2] > 2e6 ? 3 : 1;
    long long solid = 0, cells = 0;
    uint8_t *const inside = malloc((size_t)n[0]);
    assert_int_equal(c->body_count, 1);
    assert_true(inside && shape_create(&shape, &c->bodies[0].shape));
    for (int z = 0; z < n[2]; z += apart)
        for (int y = 0; y < n[1]; y += apart) {
            memset(inside, 0, (size_t)n[0]);
            shape_row(&shape, 0, n[0], y, z, inside);
            for (int x = 0; x < n[0]; x++)
                solid += inside[x];
            cells += n[0];
        }
    shape_destroy(&shape);
    free(inside);
    return 1 - (double)solid / (double)cells;
}

static void porosities(void **state)
{
    static const struct {
        int cells[3];
        double porosity, radius, off;
    } rocks[] = {
        {{64, 64, 64}, 0.2, 12, 0.01},     {{64, 64, 64}, 0.05, 3.3, 0.001},
        {{40, 56, 24}, 0.5, 4, 0.005},     {{40, 56, 24}, 0.95, 2, 0.001},
        {{100, 130, 70}, 0.3, 9, 0.01},    {{200, 12, 30}, 0.6, 2.5, 0.01},
        {{30, 30, 30}, 0.9, 15, 0.45},     /* one sphere alone leaves 0.48 */
        {{150, 150, 150}, 0.4, 7.5, 0.01}, /* more than fit into one list, measured at some cells */
        {{64, 64, 64}, 0, 0, 0.005},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rocks / sizeof *rocks; k++) {
        struct bench_subject s = {.which = BENCH_CASE_rock,
                                  .storage = PRECISION_fp32,
                                  .arithmetic = PRECISION_fp32,
                                  .threads = 1,
                                  .porosity = rocks[k].porosity,
                                  .radius = rocks[k].radius};
        struct flow_case c;
        memcpy(s.cells, rocks[k].cells, sizeof s.cells);
        assert_int_equal(read_subject(&s, &c), STATUS_OK);
        const double porosity = porosity_of(&c), wanted = bench_rock(&s).porosity;
        printf("%d x %d x %d, radius %g: %.4f, asked for %g\n", s.cells[0], s.cells[1], s.cells[2],
               bench_rock(&s).radius, porosity, wanted);
        assert_true(fabs(wanted - (rocks[k].porosity > 0 ? rocks[k].porosity : 0.4)) < 1e-12);
        assert_true(fabs(porosity - wanted) <= rocks[k].off);
        case_destroy(&c);
    }
}

static void refused(void **state)
{
    static const struct {
        int n;
        double porosity, radius;
    } rocks[] = {{16, 0.2, 8.01}, {64, 0.2, 1.5}, {512, 0.2, 12}, {16, 0, 9}};
    (void)state;
    for (size_t k = 0; k < sizeof rocks / sizeof *rocks; k++) {
        const int n = rocks[k].n;
        const struct bench_subject s = {.which = BENCH_CASE_rock,
                                        .cells = {n, n, n},
                                        .storage = PRECISION_fp32,
                                        .arithmetic = PRECISION_fp32,
                                        .threads = 1,
                                        .porosity = rocks[k].porosity,
                                        .radius = rocks[k].radius};
        struct flow_case c;
        assert_int_equal(read_subject(&s, &c), STATUS_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_boxes),
        cmocka_unit_test(porosities),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
