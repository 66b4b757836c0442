/* Several steps in one sweep over memory against plain steps, bit for bit: any box, walls, open
 * faces, tiles and number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "cpu/sweep.h"
#include "reference.h"

/* Boxes at random: fewer where sanitizers look at every access. */
#ifdef __SANITIZE_ADDRESS__
enum { BOXES = 40 };
#else
enum { BOXES = 120 };
#endif

/* The kernels of this precision for each instruction set. */
#define VARIANT_OF(isa, storage, arithmetic) cpu_variant_##isa##_##storage##_##arithmetic
#define KERNELS_OF(isa, storage, arithmetic) VARIANT_OF(isa, storage, arithmetic)
#define THIS(isa) KERNELS_OF(isa, TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)
#define X(isa) extern const struct cpu_variant THIS(isa);
#include "cpu_isas.h"
#undef X
static const struct cpu_variant *const variants[ISAS] = {
#define X(isa) [ISA_##isa] = &THIS(isa),
#include "cpu_isas.h"
#undef X
};

struct setting {
    struct flow_case c;
    uint64_t seed;
    char faces[8];
    int obstacles; /* one cell of so many; 0: none */
    int first;     /* number of the first step */
    struct sweep sweep;
};

/* Makes sweeps of 1 to sweep.steps steps on a state at random, and the reference the same number of
 * steps; then compares. */
static void compare(struct setting *t)
{
    struct reference r;
    struct domain d;
    struct backend *b;
    struct solver s;
    struct runs runs;
    char where[256] = "";
    reference_create(&r, &t->c);
    if (t->obstacles)
        reference_obstacles(&r, t->seed, t->obstacles, t->seed & 1 && !strpbrk(t->faces, "VDn"));
    reference_fill(&r, t->seed + 1);
    assert_int_equal(reference_domain(&r, &d, &t->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_open(&b, &t->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_solver(&s, &d, b, &t->c), STATUS_OK);
    assert_int_equal(runs_create(&runs, &d.view), STATUS_OK);
    reference_poison(&s);
    s.step = t->first;
    reference_put(&r, &s);
    uint64_t random = t->seed;
    /* Layers are left out as where ranks exchange halos; here no message is due before their step.
     */
    struct domain left_out = d;
    for (int a = 0; a < 3; a++)
        left_out.exchanged[a] =
            t->seed >> 33 & 1 && d.view.ghost[a] && d.view.n[a] >= 4 * (t->sweep.steps - 1);
    for (int k = 0; k < 3; k++) {
        const int steps = 1 + (int)(reference_random(&random) % (uint64_t)t->sweep.steps);
        struct view v[SWEEP_STEPS];
        struct box cells[SWEEP_STEPS], layers[SWEEP_STEPS][6];
        int count[SWEEP_STEPS];
        for (int n = 0; n < steps; n++) {
            v[n] = s.view;
            count[n] = domain_layers(&left_out, n, layers[n], &cells[n]);
            reference_step(&r);
        }
        sweep_steps(&t->sweep, variants[t->c.run.isa]->kernel[KERNEL_step], v, cells, &runs,
                    (int)(s.step & 1), steps);
        for (int n = 1; n < steps; n++)
            for (int l = 0; l < count[n]; l++)
                if (box_cells(&layers[n][l]) > 0)
                    variants[t->c.run.isa]->kernel[KERNEL_step](
                        &v[n], &runs, &layers[n][l], (struct task){.odd = (int)((s.step + n) & 1)});
        s.step += steps;
        if (!reference_same(&r, &s, where, sizeof where))
            fail_msg("%d x %d x %d cells, faces %s, operator %d, force %g, %s, %d threads, "
                     "obstacles %d (seed %llu), sweeps of at most %d steps along axis %d, tiles of "
                     "%d rows, step %lld after a sweep of %d: %s",
                     t->c.cells[0], t->c.cells[1], t->c.cells[2], t->faces,
                     (int)t->c.solver.collision, t->c.acceleration[0], isa_name(t->c.run.isa),
                     t->c.run.threads, t->obstacles, (unsigned long long)t->seed, t->sweep.steps,
                     t->sweep.along, t->sweep.rows, (long long)s.step, steps, where);
    }
    runs_destroy(&runs);
    solver_destroy(&s);
    b->type->close(b);
    domain_destroy(&d);
    reference_destroy(&r);
}

/* A box at random; letters: of faces that are not periodic. False: sweeps of 2 steps or more are
 * not possible. */
static bool draw(struct setting *t, uint64_t *random, const char *letters)
{
    *t = (struct setting){.seed = reference_random(random), .faces = "pppppp"};
    t->c = reference_case(1, 1, 1);
    for (int a = 0; a < 3; a++) {
        static const uint64_t most[3] = {40, 24, 30};
        const uint64_t index = reference_random(random) >> 8;
        t->c.cells[a] = 1 + (int)(index % most[a]);
        for (int side = 0; side < 2 && (index >> 8) % 2; side++)
            t->faces[2 * a + side] =
                letters[(index >> (10 + 8 * side)) % (t->c.cells[a] > 1 ? strlen(letters) : 4)];
    }
    reference_faces(&t->c, t->faces);
    t->c.solver.collision = (enum collision)(t->seed % COLLISIONS);
    if (t->seed >> 6 & 1) {
        t->c.solver.subgrid = SUBGRID_smagorinsky;
        t->c.solver.smagorinsky = 0.2;
        t->c.solver.van_driest = t->seed >> 7 & 1 ? 0.01 : 0;
    }
    for (int a = 0; a < 3; a++)
        t->c.acceleration[a] = t->seed & 16 ? 1e-3 * reference_uniform(random) : 0;
    t->c.run.threads = 1 + (int)(reference_random(random) % 3);
    t->c.run.isa = reference_isa(reference_random(random));
    t->first = (int)(t->seed >> 5 & 1);
    t->obstacles = t->seed & 1024 ? 2 + (int)(t->seed >> 12 & 31) : 0;
    t->sweep.along = t->seed >> 20 & 1 ? 1 : 2;
    t->sweep.rows = 1 + (int)((t->seed >> 21) % 10);
    return true;
}

static void boxes_at_random(const char *letters, uint64_t seed)
{
    int of_steps[SWEEP_STEPS + 1] = {0};
    for (int k = 0; k < BOXES; k++) {
        struct setting t;
        draw(&t, &seed, letters);
        const struct view v = {
            .n = {t.c.cells[0], t.c.cells[1], t.c.cells[2]},
            .ghost = {t.faces[0] != 'p', t.faces[2] != 'p', t.faces[4] != 'p'},
        };
        t.sweep.steps = SWEEP_STEPS - (int)((t.seed >> 30) % (SWEEP_STEPS - 1));
        while (!sweep_possible(&t.sweep, &v, t.c.run.threads))
            t.sweep.steps--;
        of_steps[t.sweep.steps]++;
        compare(&t);
    }
    for (int steps = 2; steps <= SWEEP_STEPS; steps++)
        assert_true(of_steps[steps] > BOXES / 20);
}

static void closed_and_periodic_boxes(void **state)
{
    (void)state;
    boxes_at_random("wabc", 3);
}

static void boxes_with_open_faces_and_planes_of_symmetry(void **state)
{
    (void)state;
    boxes_at_random("wabcsvdonVDs", 4);
}

/* The solver: sweeps as a run makes them, against single steps. */
static void hash_after(const struct flow_case *c, bool sweeps, int64_t steps, uint64_t *hash)
{
    struct reference r;
    struct domain d;
    struct backend *b;
    struct solver s;
    reference_create(&r, c);
    reference_fill(&r, 5);
    assert_int_equal(reference_domain(&r, &d, c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_open(&b, c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_solver(&s, &d, b, c), STATUS_OK);
    assert_int_equal(s.sweep, c->run.sparse == SPARSE_always ? 1 : c->run.sweep);
    reference_put(&r, &s);
    int64_t most = 0;
    while (s.step < steps) {
        const int64_t before = s.step;
        assert_int_equal(sweeps ? solver_sweep(&s, steps - s.step) : solver_step(&s), STATUS_OK);
        most = s.step - before > most ? s.step - before : most;
    }
    assert_int_equal(s.step, steps);
    assert_int_equal(most, sweeps ? s.sweep : 1);
    assert_int_equal(solver_hash(&s, SET_flow, hash), STATUS_OK);
    solver_destroy(&s);
    b->type->close(b);
    domain_destroy(&d);
    reference_destroy(&r);
}

/* kind: 0 a steady force, 1 a force that changes in time, 2 a flow rate that is held, 3 sparse
 * memory. */
static void the_solver_makes_the_same_steps(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (int threads = 1; threads <= 3; threads++) {
            struct flow_case c = reference_case(19, 9, 26);
            uint64_t wanted, hash;
            reference_faces(&c, "ppwwpp");
            c.acceleration[0] = 1e-4;
            c.run.threads = threads;
            if (kind == 1)
                c.force_signal = (struct case_signal){
                    .kind = SIGNAL_sine, .mean = 0.3, .amplitude = 1, .period = 7};
            if (kind == 2)
                c.flow_rate = (struct case_flow_rate){
                    .given = true, .axis = 0, .velocity = 0.02, .every = 6, .time = 50};
            c.run.sparse = kind == 3 ? SPARSE_always : SPARSE_never;
            c.run.sweep = 1;
            hash_after(&c, false, 23, &wanted);
            for (c.run.sweep = 1; c.run.sweep <= SWEEP_STEPS; c.run.sweep++) {
                hash_after(&c, true, 23, &hash);
                if (hash != wanted)
                    fail_msg("kind %d, %d threads, sweeps of %d steps: another state", kind,
                             threads, c.run.sweep);
            }
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_and_periodic_boxes),
        cmocka_unit_test(boxes_with_open_faces_and_planes_of_symmetry),
        cmocka_unit_test(the_solver_makes_the_same_steps),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
