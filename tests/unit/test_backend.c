/* The CPU backend against two-lattice streaming, bit for bit: every boundary, size, instruction set
 * and collision operator, from odd and from even steps. One process; cuts: tests/parallel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "reference.h"
#include "tags/create.h"

enum { STEPS = 5 };

/* Boxes at random: fewer where sanitizers look at every access. */
#ifdef __SANITIZE_ADDRESS__
enum { BOXES = 40 };
#else
enum { BOXES = 200 };
#endif

static bool has(enum isa isa)
{
    const struct backend_type *const tested = &TAGFLOW_BACKEND;
    if (strcmp(tested->name, "cpu") != 0) /* the first stands for all */
        return isa == ISA_FIRST;
    return isa_runs(isa);
}

/* How a case is run. */
struct how {
    uint64_t seed;
    int obstacles;      /* one cell of so many; 0: none */
    bool regions;       /* cells with other parameters and another operator too */
    int first;          /* number of the first step; then once more from the next */
    size_t piece_cells; /* of get and put; 0: as the solver chooses */
};

/* Mark the address of everything that fluid cells own: what they load at even and at odd steps. */
static void mark_owned(const struct reference *r, const struct view *v, char *owned)
{
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                if (!r->row[r->tag[reference_cell(r, x, y, z)]].fluid)
                    continue;
                for (int i = 0; i < Q; i++) {
                    const int from[3] = {x - reference_velocity(i, 0), y - reference_velocity(i, 1),
                                         z - reference_velocity(i, 2)};
                    size_t cell;
                    const int bounce = i > 0 && reference_wall(r, from, &cell);
                    for (int odd = 0; odd < 2; odd++)
                        owned[load_address(v, SET_flow, odd, i, x, y, z, bounce)] = 1;
                }
            }
}

/* Nothing but what cells own may have been written: the rest still is what poison left there. */
static bool untouched(const struct reference *r, struct solver *s)
{
    const size_t count = Q * s->view.set[SET_flow].stride;
    char *const owned = calloc(count, 1);
    stored *const values = malloc(count * sizeof *values);
    const stored poison = stored_of((number)NAN);
    bool ok = owned && values;
    mark_owned(r, &s->domain->view, owned);
    reference_memory_get(s->backend, values, s->view.set[SET_flow].populations,
                         count * sizeof *values);
    for (size_t k = 0; ok && k < count; k++)
        ok = owned[k] || memcmp(&values[k], &poison, sizeof poison) == 0;
    free(owned);
    free(values);
    return ok;
}

/* What the reference makes of a random state: its populations after every step, and the last hash.
 */
struct course {
    stored *after[STEPS + 1];
    uint64_t hash;
};

static void course_create(struct course *course, struct reference *r, uint64_t seed)
{
    const size_t bytes = Q * r->count * sizeof *r->now;
    reference_fill(r, seed);
    for (int step = 0; step <= STEPS; step++) {
        if (step > 0)
            reference_step(r);
        course->after[step] = malloc(bytes);
        assert_non_null(course->after[step]);
        memcpy(course->after[step], r->now, bytes);
    }
    course->hash = reference_hash(r);
}

static void course_destroy(struct course *course)
{
    for (int step = 0; step <= STEPS; step++)
        free(course->after[step]);
}

/* The same steps from the same state, the first of them even or odd. `r` is made to hold them. */
static void compare_steps(const struct flow_case *c, struct how how, const struct course *course,
                          struct reference *r, struct solver *s)
{
    const size_t bytes = Q * r->count * sizeof *r->now;
    char where[256] = "";
    uint64_t hash = 0;
    bool same = true;
    reference_poison(s);
    s->step = how.first;
    memcpy(r->now, course->after[0], bytes);
    reference_put(r, s);
    for (int step = 0; same && step <= STEPS; step++) {
        if (step > 0)
            assert_int_equal(solver_step(s), STATUS_OK);
        memcpy(r->now, course->after[step], bytes);
        same = reference_same(r, s, where, sizeof where);
    }
    assert_int_equal(solver_hash(s, SET_flow, &hash), STATUS_OK);
    if (same && hash == course->hash && untouched(r, s))
        return;
    char faces[128] = "";
    for (int face = 0; face < 6; face++) {
        const struct case_face *const f = &c->faces[face];
        snprintf(faces + strlen(faces), sizeof faces - strlen(faces),
                 f->kind == FACE_periodic ? " periodic" : " %g,%g,%g", f->velocity[0],
                 f->velocity[1], f->velocity[2]);
    }
    fail_msg("%d x %d x %d cells, faces%s, operator %d, force %g, subgrid model %d, %s, "
             "%d threads, obstacles %d "
             "(seed %llu), "
             "first step %d, sparse %d, step %lld: %s",
             c->cells[0], c->cells[1], c->cells[2], faces, (int)c->solver.collision,
             c->acceleration[0], (int)c->solver.subgrid, isa_name(c->run.isa), c->run.threads,
             how.obstacles, (unsigned long long)how.seed, how.first, s->view.place != NULL,
             (long long)s->step,
             !same                  ? where
             : hash != course->hash ? "the hash is wrong"
                                    : "memory of no cell was written");
}

/* With the case's instruction set, from an even and an odd step. */
static void compare_isa(const struct flow_case *c, struct how how, const struct course *course,
                        struct reference *r)
{
    struct domain d;
    struct backend *b = NULL;
    struct solver s;
    assert_int_equal(reference_domain(r, &d, c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_open(&b, c, MPI_COMM_SELF), STATUS_OK);
    if (d.rows[TAG_FLUID].resist)
        memcpy(d.table + d.rows[TAG_FLUID].resist - 1, r->resist, sizeof r->resist);
    assert_int_equal(reference_solver(&s, &d, b, c), STATUS_OK);
    if (how.piece_cells)
        s.piece_cells = how.piece_cells;
    compare_steps(c, how, course, r, &s);
    how.first++;
    compare_steps(c, how, course, r, &s);
    solver_destroy(&s);
    TAGFLOW_BACKEND.close(b);
    domain_destroy(&d);
}

/* With the case's instruction set, or with every one that this processor has. */
static void compare(struct flow_case c, struct how how, bool every_isa)
{
    struct reference r;
    struct course course;
    reference_create(&r, &c);
    for (int a = 0; a < 3 && r.row[TAG_FLUID].resist; a++) { /* a porous medium, too */
        r.resist[RESIST_D + a] = 0.1 + a;
        r.resist[RESIST_F + a] = r.resist[RESIST_LARGEST_F] = 1 + 2 * a;
        r.resist[RESIST_G + a] = a != 1;
    }
    if (how.obstacles)
        reference_obstacles(&r, how.seed, how.obstacles, how.regions);
    course_create(&course, &r, how.seed + 1);
    if (!every_isa)
        compare_isa(&c, how, &course, &r);
    for (int isa = ISA_FIRST; every_isa && isa < ISAS; isa++) {
        c.run.isa = (enum isa)isa;
        if (has(c.run.isa))
            compare_isa(&c, how, &course, &r);
    }
    course_destroy(&course);
    reference_destroy(&r);
}

static const struct case_law thinning = {
    .kind = LAW_power, .index = 0.5, .shear_rate = 0.01, .least = 1e-3, .most = 10};

/* Every operator with every instruction set: without and with force and subgrid model, with a
 * viscosity law or without, in turn, from one box to the next, or all four of each with
 * TAGFLOW_LONG. Every third in a rotating frame full of a porous medium. */
static void compare_all(struct flow_case c, struct how how)
{
    static int box;
    const bool all = getenv("TAGFLOW_LONG") != NULL;
    for (int collision = 0; collision < COLLISIONS; collision++)
        for (int kind = 0; kind < 4; kind++) {
            const bool forced = kind & 1, subgrid = kind & 2;
            if (!all && kind != (box + collision) % 4)
                continue;
            c.solver.collision = (enum collision)collision;
            for (int a = 0; a < 3; a++)
                c.acceleration[a] = forced ? 1e-3 * (2 - a) : 0;
            c.solver.subgrid = subgrid ? SUBGRID_smagorinsky : SUBGRID_none;
            c.solver.smagorinsky = subgrid ? 0.2 : 0;
            const bool law = subgrid && box % 2;
            c.solver.van_driest = subgrid && forced && !law ? 0.01 : 0;
            for (int a = 0; a < 3; a++)
                c.rotation[a] = (box + collision) % 3 == 0 ? 0.01 * (a - 2) : 0;
            c.fluid.law = law ? thinning : (struct case_law){.kind = LAW_constant};
            compare(c, how, true);
        }
    box++;
}

/* One cell along an axis, and lengths about one and two vectors of 2 to 16 lanes. */
static const int lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void periodic_boxes_of_every_length(void **state)
{
    (void)state;
    for (int k = 0; k < LENGTHS; k++)
        compare_all(reference_case(lengths[k], 1 + k % 4, 1 + (k + 1) % 3),
                    (struct how){.seed = 1});
}

static void closed_boxes_of_every_length(void **state)
{
    (void)state;
    for (int k = 0; k < LENGTHS; k++) {
        struct flow_case c = reference_case(lengths[k], 1 + (k + 2) % 4, 1 + k % 3);
        reference_faces(&c, "wwwwww");
        compare_all(c, (struct how){.seed = 2});
    }
}

static void boxes_one_cell_thick(void **state)
{
    static const char *const faces[] = {"pppppp", "wwwwww", "ccpppp", "ppaapp",
                                        "ppppbb", "pppppp", "wapppp"};
    static const int sizes[][3] = {{1, 1, 1}, {1, 5, 4},  {18, 1, 3}, {18, 3, 1}, {1, 1, 7},
                                   {1, 7, 1}, {19, 1, 1}, {2, 2, 2},  {1, 2, 1}};
    (void)state;
    for (size_t f = 0; f < sizeof faces / sizeof *faces; f++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct flow_case c = reference_case(sizes[k][0], sizes[k][1], sizes[k][2]);
            reference_faces(&c, faces[f]);
            compare_all(c, (struct how){.seed = 3});
        }
}

static void a_lid_at_every_face(void **state)
{
    (void)state;
    for (int face = 0; face < 6; face++)
        for (const char *motion = "abc"; *motion; motion++) {
            char faces[] = "wwwwww";
            struct flow_case c = reference_case(18, 5, 4);
            faces[face] = *motion;
            reference_faces(&c, faces);
            compare_all(c, (struct how){.seed = 4});
        }
}

static void lids_that_meet_and_mixed_faces(void **state)
{
    static const char *const faces[] = {
        "ppwwww", "wwppww", "wwwwpp", "ppppww", "ppwwpp", "wwpppp",           /* mixed */
        "ccwwww", "wwccww", "wwwwcc", "aapppp", "ppabpp", "ppppbc",           /* opposite lids */
        "cwcwcw", "wcwcwc", "cwwccw", "cccccc", "abcabc", "bacbac", "ppcccc", /* lids that meet */
    };
    (void)state;
    for (size_t f = 0; f < sizeof faces / sizeof *faces; f++) {
        struct flow_case c = reference_case(f % 2 ? 19 : 6, 4, 3);
        reference_faces(&c, faces[f]);
        compare_all(c, (struct how){.seed = 5});
    }
}

static void obstacles_at_rest_and_moving(void **state)
{
    static const char *const faces[] = {"pppppp", "cccccc", "ppwwpp", "wwppcc"};
    static const int density[] = {2, 4, 10, 40};
    (void)state;
    for (size_t f = 0; f < sizeof faces / sizeof *faces; f++)
        for (int k = 0; k < 4; k++) {
            struct flow_case c = reference_case(k % 2 ? 67 : 35, 4, 3);
            reference_faces(&c, faces[f]);
            compare_all(c, (struct how){.seed = 60 + f, .obstacles = density[k]});
        }
}

static void regions_of_other_fluids_among_obstacles(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        struct flow_case c = reference_case(k % 2 ? 50 : 17, 5, 3);
        reference_faces(&c, k % 3 ? "wcpppp" : "ppcwbb");
        compare_all(
            c, (struct how){.seed = (uint64_t)(70 + k), .obstacles = 3 + 6 * k, .regions = true});
    }
}

static void boxes_at_random(void **state)
{
    uint64_t random = 8;
    (void)state;
    for (int k = 0; k < BOXES; k++) {
        char faces[] = "pppppp";
        struct flow_case c = reference_case(1, 1, 1);
        struct how how = {.seed = reference_random(&random)};
        for (int a = 0; a < 3; a++) {
            c.cells[a] = 1 + (int)(reference_random(&random) % (a ? 6 : 40));
            if (reference_random(&random) % 2)
                for (int side = 0; side < 2; side++)
                    faces[2 * a + side] = "wabc"[reference_random(&random) % 4];
            c.acceleration[a] = how.seed & 1 ? 1e-3 * reference_uniform(&random) : 0;
        }
        reference_faces(&c, faces);
        how.first = (int)(reference_random(&random) % 4);
        how.obstacles = how.seed & 2 ? 1 + (int)(reference_random(&random) % 30) : 0;
        how.regions = how.seed & 4;
        how.piece_cells = how.seed & 8 ? 1 + reference_random(&random) % 100 : 0;
        if (how.piece_cells && how.piece_cells < (size_t)c.cells[0])
            how.piece_cells = (size_t)c.cells[0];
        c.solver.collision = (enum collision)(reference_random(&random) % COLLISIONS);
        if (how.seed & 16) {
            c.solver.subgrid = SUBGRID_smagorinsky;
            c.solver.smagorinsky = 0.2;
            c.solver.van_driest = how.seed & 32 ? 0.01 : 0;
        }
        c.run.threads = 1 + (int)(reference_random(&random) % 3);
        c.run.sparse = how.seed & 64 ? SPARSE_always : SPARSE_never;
        c.fluid.viscosity = 0.005 + 0.1 * fabs(reference_uniform(&random));
        c.run.isa = reference_isa(reference_random(&random));
        compare(c, how, false);
    }
}

/* Threads share rows, whatever the operator. */
static void any_number_of_threads(void **state)
{
    static const int sizes[][3] = {{33, 7, 5}, {16, 2, 1}, {5, 1, 1}};
    (void)state;
    for (int threads = 1; threads <= 3; threads++)
        for (int k = 0; k < 3; k++) {
            struct flow_case c = reference_case(sizes[k][0], sizes[k][1], sizes[k][2]);
            reference_faces(&c, k == 1 ? "pppppp" : "ppcawb");
            c.run.threads = threads;
            for (int collision = COLLISION_trt; collision < COLLISIONS; collision += 3) {
                c.solver.collision = (enum collision)collision;
                compare(c, (struct how){.seed = 9, .obstacles = k ? 0 : 12}, false);
            }
        }
}

static void pieces_tile_the_box_in_order(void **state)
{
    struct solver s = {0};
    (void)state;
    for (int nx = 1; nx <= 4; nx++)
        for (int ny = 1; ny <= 5; ny++)
            for (int nz = 1; nz <= 4; nz++)
                for (int most = nx; most <= nx * ny * nz + 1; most++) {
                    const struct box box = {{2, 3, 4}, {2 + nx, 3 + ny, 4 + nz}};
                    struct box b;
                    int row = 0;
                    s.piece_cells = (size_t)most;
                    for (int index = 0; solver_piece(&s, &box, index, &b); index++) {
                        assert_true(box_cells(&b) >= 1 && box_cells(&b) <= s.piece_cells);
                        assert_true(b.lo[0] == 2 && b.hi[0] == 2 + nx);
                        assert_true(b.hi[2] - b.lo[2] == 1 || (b.lo[1] == 3 && b.hi[1] == 3 + ny));
                        assert_int_equal((b.lo[2] - 4) * ny + b.lo[1] - 3, row);
                        row += (b.hi[1] - b.lo[1]) * (b.hi[2] - b.lo[2]);
                    }
                    assert_int_equal(row, ny * nz);
                }
    struct box b;
    assert_false(solver_piece(&s, &(struct box){{0, 0, 0}, {3, 0, 3}}, 0, &b));
}

/* The finaliser that the hash is defined by, against published outputs of splitmix64. */
static void the_hash_is_made_of_splitmix64(void **state)
{
    uint64_t seed = 1234567;
    (void)state;
    assert_true(reference_random(&seed) == UINT64_C(6457827717110365317));
    assert_true(reference_random(&seed) == UINT64_C(3203168211198807973));
}

/* A small periodic flow that exchanges with itself. */
struct one {
    struct flow_case c;
    struct domain d;
    struct backend *b;
    struct solver s;
};

static void one_create(struct one *o)
{
    *o = (struct one){.c = reference_case(9, 4, 6)};
    reference_faces(&o->c, "pppppp");
    o->c.run.exchange = EXCHANGE_all;
    assert_int_equal(domain_create(&o->d, &o->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_open(&o->b, &o->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_solver(&o->s, &o->d, o->b, &o->c), STATUS_OK);
}

static void one_destroy(struct one *o)
{
    solver_destroy(&o->s);
    TAGFLOW_BACKEND.close(o->b);
    domain_destroy(&o->d);
}

/* What is put into place k with that number; below 1. */
static stored numbered(double index, size_t k)
{
    return stored_of((number)(0.25 * index + 1e-5 * (double)k));
}

/* Fill the host's memory of a piece with numbers by this one. */
static void fill_host(struct solver *s, const struct box *piece, double index)
{
    stored *const host = solver_host(s);
    for (size_t k = 0; k < Q * box_cells(piece); k++)
        host[k] = numbered(index, k);
}

/* For work in any queue, at once. */
static void its_memory_is_zeroed(void **state)
{
    (void)state;
    struct one o;
    enum { BYTES = 1000 };
    one_create(&o);
    const struct backend_type *const type = o.b->type;
    char *const host = type->host_memory ? NULL : type->alloc_host(o.b, BYTES);
    for (int k = 0; k < 3; k++) {
        char *const memory = type->alloc(o.b, BYTES, 1);
        assert_non_null(memory);
        if (!type->host_memory) {
            assert_non_null(host);
            memset(host, 1, BYTES);
            type->copy(o.b, QUEUE_SHELL, host, memory, BYTES);
            assert_int_equal(type->wait(o.b, QUEUE_SHELL), STATUS_OK);
        }
        for (size_t i = 0; i < BYTES; i++)
            assert_int_equal((host ? host : memory)[i], 0);
        type->free(o.b, memory);
    }
    if (host)
        type->free_host(o.b, host);
    one_destroy(&o);
}

static bool no_peer_failed(void *peers)
{
    (void)peers;
    return false;
}

/* Else the host runs ahead of its own work until the device takes no more, and does not look at its
 * peers any more. */
static void a_mark_is_set_after_another_was_reached(void **state)
{
    (void)state;
    struct one o;
    struct peer_handle handle;
    struct peer own;
    char why[128];
    enum { BYTES = 1000 };
    if (!TAGFLOW_BACKEND.share)
        return;
    one_create(&o);
    const struct backend_type *const type = o.b->type;
    char *const memory = type->alloc(o.b, PEER_BLOCK, 1), *const host =
                                                              type->alloc_host(o.b, BYTES);
    assert_true(memory && host && type->share(o.b, memory, &own, &handle, why));
    o.b->peers = &o;
    o.b->peer_failed = no_peer_failed;
    for (int k = 0; k < 20; k++) {
        memset(host, 1, BYTES);
        type->copy(o.b, QUEUE_SHELL, host, memory, BYTES);
        const int mark = k % PEER_MARKS, other = (k + 1) % PEER_MARKS;
        assert_int_equal(type->mark(o.b, QUEUE_SHELL, &own, mark, mark), STATUS_OK);
        assert_int_equal(type->mark(o.b, QUEUE_SHELL, &own, other, mark), STATUS_OK);
        for (int i = 0; i < BYTES; i++)
            assert_int_equal(host[i], 0);
    }
    o.b->peers = NULL;
    type->peer_close(o.b, &own);
    type->free_host(o.b, host);
    type->free(o.b, memory);
    one_destroy(&o);
}

/* Messages of the step before must not reach the populations after they are set. */
static void what_is_put_after_a_step_stays(void **state)
{
    (void)state;
    struct one o;
    one_create(&o);
    const struct box all = domain_all(&o.d);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(solver_step(&o.s), STATUS_OK);
        fill_host(&o.s, &all, k);
        assert_int_equal(solver_put(&o.s, SET_flow, &all), STATUS_OK);
        assert_int_equal(solver_wait(&o.s), STATUS_OK);
        const stored *const got = solver_get(&o.s, SET_flow, &all);
        assert_non_null(got);
        for (size_t i = 0; i < Q * box_cells(&all); i++) {
            const stored wanted = numbered(k, i);
            if (memcmp(&got[i], &wanted, sizeof wanted) != 0)
                fail_msg("after step %d value %zu is %g", k, i, (double)value_of(got[i]));
        }
    }
    one_destroy(&o);
}

/* A second set, of 7 populations: what is put is got, whatever the step's parity, and neither set
 * changes the other. */
static void a_second_set_is_put_and_got(void **state)
{
    (void)state;
    for (int bits = 32; bits <= 64; bits += 32)
        for (int obstacles = 0; obstacles < 2; obstacles++) {
            struct reference r;
            struct domain d;
            struct backend *b;
            struct solver s;
            struct flow_case c = reference_case(9, 5, 4);
            char where[256] = "";
            reference_faces(&c, "ppwwpp");
            reference_create(&r, &c);
            if (obstacles)
                reference_obstacles(&r, 5, 4, false);
            reference_fill(&r, 3);
            assert_int_equal(reference_domain(&r, &d, &c, MPI_COMM_WORLD), STATUS_OK);
            assert_int_equal(reference_open(&b, &c, MPI_COMM_WORLD), STATUS_OK);
            const int set = domain_add_set(&d, "second", Q_AXES, bits);
            assert_int_equal(reference_solver(&s, &d, b, &c), STATUS_OK);
            const struct box all = domain_all(&d);
            const size_t cells = box_cells(&all);
            for (int step = 0; step < 2; step++) {
                s.step = step;
                reference_put(&r, &s);
                for (size_t i = 0; i < Q_AXES * cells; i++)
                    if (bits == 64)
                        ((double *)solver_host(&s))[i] = 1 + (double)i;
                    else
                        ((float *)solver_host(&s))[i] = 1 + (float)i;
                assert_int_equal(solver_put(&s, set, &all), STATUS_OK);
                assert_true(reference_same(&r, &s, where, sizeof where));
                const void *const got = solver_get(&s, set, &all);
                assert_non_null(got);
                for (size_t i = 0; i < Q_AXES * cells; i++) {
                    const int x = (int)(i % cells % 9), y = (int)(i % cells / 9 % 5),
                              z = (int)(i % cells / 45);
                    const double value =
                        bits == 64 ? ((const double *)got)[i] : (double)((const float *)got)[i];
                    const bool fluid = r.row[r.tag[reference_cell(&r, x, y, z)]].fluid;
                    assert_true(value == (fluid ? 1 + (double)i : 0));
                }
            }
            solver_destroy(&s);
            b->type->close(b);
            domain_destroy(&d);
            reference_destroy(&r);
        }
}

/* What is summed up right after a step is what its messages have brought. */
static void sums_are_those_after_the_step(void **state)
{
    (void)state;
    struct one o;
    one_create(&o);
    const struct box all = domain_all(&o.d);
    fill_host(&o.s, &all, 0);
    assert_int_equal(solver_put(&o.s, SET_flow, &all), STATUS_OK);
    for (int k = 0; k < 3; k++) {
        struct exact_sum sum[2] = {{0}};
        assert_int_equal(solver_step(&o.s), STATUS_OK);
        for (int again = 0; again < 2; again++) {
            int workers;
            const struct sums *const partial =
                solver_partials(&o.s, KERNEL_sums, &all, (struct task){0}, &workers);
            assert_non_null(partial);
            for (int w = 0; w < workers; w++)
                sum[again].units += partial[w].drho.units;
            assert_int_equal(solver_wait(&o.s), STATUS_OK);
        }
        assert_true(sum[0].units == sum[1].units);
    }
    one_destroy(&o);
}

/* Nothing that was asked for may still come into the host's memory once a fetch has ended. */
static void a_fetch_that_is_given_up_leaves_the_memory_alone(void **state)
{
    (void)state;
    struct one o;
    struct fetch f;
    struct box piece;
    one_create(&o);
    o.s.piece_cells = 36; /* a plane */
    const struct box all = domain_all(&o.d);
    const struct box plane = {{0, 0, 0}, {9, 4, 1}};
    for (int used = 0; used < 3; used++) {
        fetch_start_set(&f, &o.s, KERNEL_get, SET_flow, &all, NULL, NULL);
        for (int k = 0; k < used; k++)
            assert_non_null(fetch_next(&f, &piece));
        assert_int_equal(fetch_end(&f), STATUS_OK);
        stored *const host[2] = {o.s.host[0], o.s.host[1]};
        const stored mark = numbered(used + 1, 0);
        for (int k = 0; k < 2 && !o.b->type->host_memory; k++)
            for (size_t i = 0; i < Q * 36; i++)
                host[k][i] = mark;
        assert_int_equal(solver_wait(&o.s), STATUS_OK);
        for (int k = 0; k < 2 && !o.b->type->host_memory; k++)
            for (size_t i = 0; i < Q * 36; i++)
                assert_memory_equal(&host[k][i], &mark, sizeof mark);
        assert_non_null(solver_get(&o.s, SET_flow, &plane));
    }
    one_destroy(&o);
}

/* Density and velocity as the solver reports them, against sums over the populations. */
static void reports_density_and_velocity_with_half_the_force(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct flow_case c = reference_case(9, 4, 3);
        struct reference r;
        struct domain d;
        struct backend *b = NULL;
        struct solver s;
        reference_faces(&c, "ppcwpp");
        for (int a = 0; a < 3; a++)
            c.acceleration[a] = 1e-3 * (a - 0.5);
        reference_create(&r, &c);
        reference_obstacles(&r, 11, 9, false);
        reference_fill(&r, 12);
        assert_int_equal(reference_domain(&r, &d, &c, MPI_COMM_SELF), STATUS_OK);
        assert_int_equal(reference_open(&b, &c, MPI_COMM_SELF), STATUS_OK);
        assert_int_equal(reference_solver(&s, &d, b, &c), STATUS_OK);
        s.step = first;
        reference_put(&r, &s);
        const struct box all = domain_all(&d);
        const double *const flow = solver_flow(&s, &all);
        assert_non_null(flow);
        for (size_t n = 0; n < r.count; n++) {
            double drho = 0, j[3] = {0, 0, 0};
            const bool fluid = r.row[r.tag[n]].fluid;
            for (int i = 0; i < Q; i++) {
                const double f = (double)value_of(r.now[(size_t)i * r.count + n]);
                drho += f;
                for (int a = 0; a < 3; a++)
                    j[a] += reference_velocity(i, a) * f;
            }
            assert_true(fabs(flow[4 * n] - drho) < 1e-14);
            for (int a = 0; a < 3; a++)
                assert_true(fabs(flow[4 * n + 1 + (size_t)a] -
                                 (fluid ? j[a] / (1 + drho) + 0.5 * c.acceleration[a] : 0)) <
                            1e-14);
        }
        solver_destroy(&s);
        TAGFLOW_BACKEND.close(b);
        domain_destroy(&d);
        reference_destroy(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_made_of_splitmix64),
        cmocka_unit_test(pieces_tile_the_box_in_order),
        cmocka_unit_test(reports_density_and_velocity_with_half_the_force),
        cmocka_unit_test(its_memory_is_zeroed),
        cmocka_unit_test(a_mark_is_set_after_another_was_reached),
        cmocka_unit_test(what_is_put_after_a_step_stays),
        cmocka_unit_test(a_second_set_is_put_and_got),
        cmocka_unit_test(sums_are_those_after_the_step),
        cmocka_unit_test(a_fetch_that_is_given_up_leaves_the_memory_alone),
        cmocka_unit_test(periodic_boxes_of_every_length),
        cmocka_unit_test(closed_boxes_of_every_length),
        cmocka_unit_test(boxes_one_cell_thick),
        cmocka_unit_test(a_lid_at_every_face),
        cmocka_unit_test(lids_that_meet_and_mixed_faces),
        cmocka_unit_test(obstacles_at_rest_and_moving),
        cmocka_unit_test(regions_of_other_fluids_among_obstacles),
        cmocka_unit_test(boxes_at_random),
        cmocka_unit_test(any_number_of_threads),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
