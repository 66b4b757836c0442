/* The velocity that a force or pressures are estimated to drive, beside formulas; and what follows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/case.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void read(const char *text, struct flow_case *c)
{
    char all[1024];
    snprintf(all, sizeof all, "run: {steps: 1000}\n%s", text);
    if (case_read("driven.yaml", all, (long)strlen(all), 0, NULL, c))
        fail_msg("not read: %s", text);
}

#define CHANNEL "domain: {cells: [4, 32, 4]}\nfaces: {x: periodic, y: wall, z: periodic}\n"
#define DUCT "domain: {cells: [40, 24, 24]}\nfluid: {viscosity: 0.01}\n"
#define PIPE(D)                                                                                    \
    "bodies: {p: {shape: {complement: {b: {cylinder: {center: [20, 12, 12], axis: x, radius: " D   \
    "}}}}}}\n"
#define PUSH "force: {acceleration: [1e-5, 0, 0]}\n"
#define BETWEEN "faces: {xmin: {pressure: {density: 1.003}}, xmax: pressure, y: wall, z: wall}\n"

/* g = 1e-5, or a difference of density of 0.003, 0.001 of pressure, over 40 cells: g = 2.5e-5. */
static void estimates_are_near_formulas(void **state)
{
    static const struct {
        const char *text;
        double velocity, within; /* relative */
    } cases[] = {
        /* a plane channel: g H^2 / (8 nu); half of one; a round pipe: g D^2 / (16 nu) */
        {CHANNEL "fluid: {viscosity: 0.05}\n" PUSH, 1e-5 * 32 * 32 / 0.4, 1e-6},
        {"domain: {cells: [4, 16, 4]}\nfaces: {x: periodic, ymin: wall, ymax: slip, z: periodic}\n"
         "fluid: {viscosity: 0.05}\n" PUSH,
         1e-5 * 32 * 32 / 0.4, 1e-6},
        {DUCT "faces: {x: periodic, y: wall, z: wall}\n" PUSH PIPE("9"), 1e-5 * 18 * 18 / 0.16,
         1e-6},
        {DUCT BETWEEN PIPE("9"), 2.5e-5 * 18 * 18 / 0.16, 1e-6},
        /* a square duct: 0.0737 g H^2 / nu (White, Viscous Fluid Flow, section 3-3) */
        {DUCT BETWEEN, 0.0737 * 2.5e-5 * 24 * 24 / 0.01, 0.2},
        /* the narrow half of a channel takes 8/9 of the pressure */
        {"domain: {cells: [64, 32, 1]}\nfluid: {viscosity: 0.2}\nfaces: {x: periodic, y: wall, z: "
         "periodic}\n" PUSH "bodies: {b: {shape: {box: {from: [0, 0, 0], to: [32, 16, 1]}}}}\n",
         1e-5 * 16 * 16 / 1.6 * 2 * 8 / 9, 0.1},
        /* an oscillating force in a wide channel: g period / (2 pi) */
        {CHANNEL "fluid: {viscosity: 0.001}\nforce: {acceleration: [1e-5, 0, 0], sine: {period: "
                 "1000}}\n",
         1e-5 * 1000 / 6.2831853, 1e-6},
        /* a plate with a slit: 2 dp = u^2 (1 - share)^2, share 1/4 */
        {"domain: {cells: [64, 32, 1]}\nfluid: {viscosity: 1e-4}\nfaces: {xmin: {pressure: "
         "{density: 1.003}}, xmax: pressure, y: wall, z: periodic}\nbodies: {b: {shape: {box: "
         "{from: [30, 0, 0], to: [34, 24, 1]}}}}\n",
         0.0447214 / 0.75, 1e-4},
        /* no straight way: 2 dp = u^2 */
        {"domain: {cells: [40, 40, 1]}\nfluid: {viscosity: 1e-4}\nfaces: {xmin: {pressure: "
         "{density: 1.003}}, xmax: wall, ymin: wall, ymax: pressure, z: periodic}\n",
         0.0447214, 1e-4},
        /* the case names a velocity, or nothing drives a flow */
        {CHANNEL "fluid: {viscosity: 0.05, velocity: 0.02}\n" PUSH, 0.02, 0},
        {CHANNEL "fluid: {viscosity: 0.05}\n", 0, 0},
        {"domain: {cells: [4, 32, 4]}\nfaces: {x: wall, y: wall, z: periodic}\nfluid: {viscosity: "
         "0.05}\n" PUSH,
         0, 0},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct flow_case c;
        read(cases[i].text, &c);
        const double found = case_fastest_velocity(&c), wanted = cases[i].velocity;
        if (c.driven.free || !(fabs(found - wanted) <= cases[i].within * wanted))
            fail_msg("%g, not %g: %s", found, wanted, cases[i].text);
        case_destroy(&c);
    }
}

#define AROUND                                                                                     \
    "faces: {x: periodic, y: periodic, z: periodic}\nfluid: {viscosity: 0.1}\n"                    \
    "force: {acceleration: [1e-6, 0, 0]}\n"
#define ROD(AT, R) "{shape: {cylinder: {center: [" AT ", 0.5], axis: z, radius: " R "}}}"

#define LONG_ROD(R) "{shape: {cylinder: {center: [4, 16, 16], axis: x, radius: " R "}}}"
#define BED(CELLS, BODIES) "domain: {cells: [" CELLS "]}\n" AROUND "bodies: {a: " BODIES "}\n"

/* Between bodies the estimate is a bound. Largest velocities of runs with trt until they were
 * steady (docs/lab/own_flows.md); where bodies stand in a periodic box does not matter. */
static void between_bodies_estimates_are_bounds(void **state)
{
    static const struct {
        const char *text;
        double measured, low, high; /* largest velocity; the estimate over it */
    } cases[] = {
        /* square arrays of porosity 0.405, 0.6, 0.802, 0.95 */
        {BED("40, 40, 1", ROD("20, 20", "17.4808")), 1.025e-4, 1, 1.2},
        {BED("40, 40, 1", ROD("0, 0", "17.4808")), 1.025e-4, 1, 1.2},
        {BED("40, 40, 1", ROD("20, 20", "14.2730")), 3.578e-4, 1, 1.3},
        {BED("40, 40, 1", ROD("20, 20", "10.0925")), 8.834e-4, 1, 1.7},
        {BED("40, 40, 1", ROD("20, 20", "5.0463")), 1.839e-3, 1, 2.9},
        /* a row across the flow in a long box; one along it */
        {BED("96, 24, 1", ROD("48, 12", "9.5746")), 2.928e-4, 1, 1.5},
        {BED("24, 72, 1", ROD("12, 36", "9.5746")), 3.774e-3, 1, 1.5},
        /* staggered, porosity 0.945: nothing bounds a few lines of cells between */
        {BED("48, 24, 1", ROD("12, 12", "3.0278") ", b: " ROD("36, 24", "3.0278")), 5.954e-4, 1,
         3.1},
        /* a cubic array of spheres, porosity 0.8 */
        {BED("20, 20, 20", "{shape: {sphere: {center: [10, 10, 10], radius: 7.2557}}}"), 2.541e-4,
         1, 2.3},
        /* rods along the flow, 4 and 8 cells of 32 across */
        {BED("8, 32, 32", LONG_ROD("2")), 2.994e-3, 0.9, 1.2},
        {BED("8, 32, 32", LONG_ROD("4")), 1.825e-3, 0.9, 1.2},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct flow_case c;
        read(cases[i].text, &c);
        const double times = c.driven.velocity / cases[i].measured;
        if (!(times >= cases[i].low && times <= cases[i].high))
            fail_msg("%.3g times the velocity: %s", times, cases[i].text);
        case_destroy(&c);
    }
}

/* A wall that moves slowly does not name the velocity. */
static void auto_goes_by_the_estimate(void **state)
{
    static const struct {
        const char *text;
        enum collision collision;
        bool free;
    } cases[] = {
        {CHANNEL "fluid: {viscosity: 0.05}\n" PUSH, COLLISION_accurate, false},
        {CHANNEL "fluid: {viscosity: 0.009}\n" PUSH, COLLISION_robust, false},
        {CHANNEL "fluid: {viscosity: 0.009, velocity: 0.05}\n" PUSH, COLLISION_accurate, false},
        {CHANNEL "fluid: {viscosity: 0.009}\nsolver: {magic: 0.1875}\n" PUSH, COLLISION_accurate,
         false},
        {"domain: {cells: [4, 32, 4]}\nfaces: {x: periodic, ymin: wall, ymax: {wall: {velocity: "
         "[0.001, 0, 0]}}, z: periodic}\nfluid: {viscosity: 0.009}\n" PUSH,
         COLLISION_robust, false},
        {"domain: {cells: [4, 32, 4]}\nfaces: {x: periodic, y: slip, z: periodic}\nfluid: "
         "{viscosity: 0.1}\n" PUSH,
         COLLISION_robust, true},
        {DUCT BETWEEN, COLLISION_robust, false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct flow_case c, again;
        read(cases[i].text, &c);
        if (c.solver.collision != cases[i].collision || c.driven.free != cases[i].free)
            fail_msg("operator %d: %s", (int)c.solver.collision, cases[i].text);
        /* the resolved case names it */
        assert_int_equal(
            case_read("case.yaml", c.resolved, (long)strlen(c.resolved), 0, NULL, &again), 0);
        assert_true(again.solver.collision == c.solver.collision && !again.solver.chosen);
        assert_string_equal(again.resolved, c.resolved);
        case_destroy(&again);
        case_destroy(&c);
    }
}

#define BODY(A, B) "bodies: {b: {shape: {box: {from: [" A "], to: [" B "]}}}}\n"

/* The estimate says which bound it is. */
static void estimates_name_their_bound(void **state)
{
    static const struct {
        const char *text;
        enum driven_by by;
    } cases[] = {
        {CHANNEL "fluid: {viscosity: 0.05}\n" PUSH, DRIVEN_friction},
        {DUCT BETWEEN, DRIVEN_friction},
        {CHANNEL "fluid: {viscosity: 0.001}\nforce: {acceleration: [1e-5, 0, 0], sine: {period: "
                 "1000}}\n",
         DRIVEN_swing},
        {BED("40, 40, 1", ROD("20, 20", "10")), DRIVEN_bodies},
        /* two baffles: no straight line leads through */
        {"domain: {cells: [60, 40, 1]}\nfluid: {viscosity: 0.05}\nfaces: {x: periodic, y: wall, z: "
         "periodic}\n" PUSH "bodies: {a: {shape: {box: {from: [14, 0, 0], to: [18, 28, 1]}}}, b: "
         "{shape: {box: {from: [44, 12, 0], to: [48, 40, 1]}}}}\n",
         DRIVEN_detour},
        /* a plate with a slit; and a bend */
        {"domain: {cells: [64, 32, 1]}\nfluid: {viscosity: 1e-4}\nfaces: {xmin: {pressure: "
         "{density: 1.003}}, xmax: pressure, y: wall, z: periodic}\n" BODY("30, 0, 0", "34, 24, 1"),
         DRIVEN_narrow},
        {"domain: {cells: [40, 40, 1]}\nfluid: {viscosity: 1e-4}\nfaces: {xmin: {pressure: "
         "{density: 1.003}}, xmax: wall, ymin: wall, ymax: pressure, z: periodic}\n",
         DRIVEN_pressure},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct flow_case c;
        read(cases[i].text, &c);
        if (!(c.driven.velocity > 0) || c.driven.by != cases[i].by)
            fail_msg("%g by %d, not %d: %s", c.driven.velocity, (int)c.driven.by, (int)cases[i].by,
                     cases[i].text);
        case_destroy(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_near_formulas),
        cmocka_unit_test(between_bodies_estimates_are_bounds),
        cmocka_unit_test(estimates_name_their_bound),
        cmocka_unit_test(auto_goes_by_the_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
