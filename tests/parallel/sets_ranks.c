/* A second set of populations, D3Q7, beside the flow: streamed in place on any number of ranks
 * against two arrays of the whole box, bit for bit.
 *
 *     mpirun -n N sets_ranks
 *
 * Every rank makes the two arrays of the whole box, and the reference of the flow. Before each step
 * of the solver the test itself does what a kernel would do with the set, cells in a random order.
 * The solver's messages then carry both sets. All memory is NaN before. At the end solver_get and
 * solver_hash are asked for the set, and a checkpoint brings both sets back to other blocks. For
 * every way to cut into N blocks, of boxes with blocks one cell thin and others, with obstacles,
 * elements of 32 and 64 bits.
 *
 * Exit status: 0, or 1 after a line from each rank that found something. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "reference.h"
#include "run/checkpoint.h"

enum { STEPS = 5 };

/* The set of the whole box: what arrives in each cell before a step, [cell][Q_AXES]. */
struct box_set {
    const struct reference *r;
    size_t cells;
    double *now, *next;
};

static int failures;

static void complain(const struct flow_case *c, int bits, int step, const char *what)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    failures++;
    fprintf(stderr,
            "rank %d: %d x %d x %d cells cut into %d x %d x %d, %d bits, after step %d: %s\n", rank,
            c->cells[0], c->cells[1], c->cells[2], c->run.ranks[0], c->run.ranks[1],
            c->run.ranks[2], bits, step, what);
}

/* What leaves a cell, of what arrived: any function will do that tells directions and cells apart.
 * Whole numbers, exact in 32 bits. */
enum { VALUES = 1 << 20 };

static void mix(const double in[Q_AXES], size_t cell, double out[Q_AXES])
{
    for (int i = 0; i < Q_AXES; i++)
        out[i] = (double)((3 * (int)in[(i + 1) % Q_AXES] + 5 * (int)in[i] + (int)(cell % 251) +
                           1000 * i) %
                          VALUES);
}

/* The finaliser of splitmix64. */
static uint64_t hash_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static bool is_fluid(const struct reference *r, int x, int y, int z, int i, size_t *from)
{
    const int at[3] = {x - reference_velocity(i, 0), y - reference_velocity(i, 1),
                       z - reference_velocity(i, 2)};
    return !reference_wall(r, at, from);
}

#define EACH_CELL(r)                                                                               \
    for (int z = 0; z < (r)->cells[2]; z++)                                                        \
        for (int y = 0; y < (r)->cells[1]; y++)                                                    \
            for (int x = 0; x < (r)->cells[0]; x++)

static void box_create(struct box_set *b, const struct reference *r, uint64_t seed)
{
    b->r = r;
    b->cells = (size_t)r->cells[0] * (size_t)r->cells[1] * (size_t)r->cells[2];
    b->now = calloc(b->cells * Q_AXES, sizeof *b->now);
    b->next = calloc(b->cells * Q_AXES, sizeof *b->next);
    if (!b->now || !b->next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t k = 0; k < b->cells * Q_AXES; k++)
        b->now[k] = (double)(reference_random(&seed) % VALUES);
}

/* Two arrays: every population goes to its neighbour, or comes back half-way from what is not
 * fluid. */
static void box_step(struct box_set *b)
{
    EACH_CELL(b->r)
    {
        const size_t cell = reference_cell(b->r, x, y, z);
        double here[Q_AXES];
        size_t from;
        if (!is_fluid(b->r, x, y, z, 0, &from))
            continue;
        mix(b->now + cell * Q_AXES, cell, here);
        for (int i = 0; i < Q_AXES; i++) {
            double there[Q_AXES];
            const bool fluid = is_fluid(b->r, x, y, z, i, &from);
            if (fluid)
                mix(b->now + from * Q_AXES, from, there);
            b->next[cell * Q_AXES + (size_t)i] = fluid ? there[i] : here[reference_opposite(i)];
        }
    }
    double *const now = b->now;
    b->now = b->next;
    b->next = now;
}

/* One element of the solver's set, which is memory of the host. */
static double element(const struct solver *s, int set, size_t at)
{
    const struct population_set *const p = &s->view.set[set];
    return p->bits == 64 ? ((const double *)p->populations)[at]
                         : (double)((const float *)p->populations)[at];
}

static void put_element(const struct solver *s, int set, size_t at, double value)
{
    const struct population_set *const p = &s->view.set[set];
    if (p->bits == 64)
        ((double *)p->populations)[at] = value;
    else
        ((float *)p->populations)[at] = (float)value;
}

/* The addresses of what arrives in a cell of the block at its next step; false: it is not fluid. */
static bool arriving(const struct solver *s, const struct reference *r, int set, int x, int y,
                     int z, size_t at[Q_AXES], size_t *cell)
{
    const struct domain *const d = s->domain;
    const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
    size_t from;
    if (!is_fluid(r, g[0], g[1], g[2], 0, &from))
        return false;
    *cell = reference_cell(r, g[0], g[1], g[2]);
    for (int i = 0; i < Q_AXES; i++)
        at[i] = load_address(&d->view, set, (int)(s->step & 1), i, x, y, z,
                             !is_fluid(r, g[0], g[1], g[2], i, &from));
    return true;
}

/* What a kernel would do with the set at this step, cells in any order. */
static void step_set(const struct solver *s, const struct reference *r, int set, uint64_t *random)
{
    const int *const n = s->domain->view.n, odd = (int)(s->step & 1);
    const size_t cells = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    size_t *const order = malloc(cells * sizeof *order);
    if (!order)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t k = 0; k < cells; k++) {
        const size_t other = (size_t)(reference_random(random) % (k + 1));
        order[k] = k;
        order[k] = order[other];
        order[other] = k;
    }
    for (size_t k = 0; k < cells; k++) {
        const int x = (int)(order[k] % (size_t)n[0]), y = (int)(order[k] / (size_t)n[0]) % n[1],
                  z = (int)(order[k] / (size_t)n[0]) / n[1];
        size_t at[Q_AXES], cell;
        double in[Q_AXES], out[Q_AXES];
        if (!arriving(s, r, set, x, y, z, at, &cell))
            continue;
        for (int i = 0; i < Q_AXES; i++)
            in[i] = element(s, set, at[i]);
        mix(in, cell, out);
        for (int i = 0; i < Q_AXES; i++)
            put_element(s, set, store_address(&s->domain->view, set, odd, i, x, y, z), out[i]);
    }
    free(order);
}

/* Everything NaN but what arrives in fluid cells. */
static void put_set(const struct solver *s, const struct box_set *b, int set)
{
    const int *const n = s->domain->view.n;
    size_t at[Q_AXES], cell;
    for (size_t k = 0; k < s->view.set[set].stride * Q_AXES; k++)
        put_element(s, set, k, (double)NAN);
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                if (arriving(s, b->r, set, x, y, z, at, &cell))
                    for (int i = 0; i < Q_AXES; i++)
                        put_element(s, set, at[i], b->now[cell * Q_AXES + (size_t)i]);
}

/* Populations of this rank that differ from the two arrays. */
static size_t count_wrong(const struct solver *s, const struct box_set *b, int set)
{
    const int *const n = s->domain->view.n;
    size_t wrong = 0, at[Q_AXES], cell;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                if (arriving(s, b->r, set, x, y, z, at, &cell))
                    for (int i = 0; i < Q_AXES; i++) /* NaN differs */
                        wrong += !(element(s, set, at[i]) == b->now[cell * Q_AXES + (size_t)i]);
    return wrong;
}

/* The set as a hash and as pieces, beside the two arrays. */
static void compare_pieces(const struct flow_case *c, int bits, struct solver *s,
                           const struct box_set *b, int set)
{
    const struct domain *const d = s->domain;
    const struct box all = domain_all(d);
    const int *const n = b->r->cells;
    struct box piece;
    size_t wrong = 0, from;
    uint64_t hash, expected = 0;
    for (int index = 0; solver_piece(s, &all, index, &piece); index++) {
        const void *const got = solver_get(s, set, &piece);
        const size_t cells = box_cells(&piece);
        size_t k = 0;
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, k++)
                    for (size_t i = 0; i < Q_AXES; i++) {
                        const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                        const double value = bits == 64
                                                 ? ((const double *)got)[i * cells + k]
                                                 : (double)((const float *)got)[i * cells + k];
                        const bool fluid = is_fluid(b->r, g[0], g[1], g[2], 0, &from);
                        wrong +=
                            !(value ==
                              (fluid ? b->now[reference_cell(b->r, g[0], g[1], g[2]) * Q_AXES + i]
                                     : 0));
                    }
    }
    if (wrong)
        complain(c, bits, STEPS, "solver_get gives other populations of the set");
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                for (size_t i = 0; i < Q_AXES && is_fluid(b->r, x, y, z, 0, &from); i++) {
                    const uint64_t g =
                        ((uint64_t)z * (uint64_t)n[1] + (uint64_t)y) * (uint64_t)n[0] + (uint64_t)x;
                    const double value = b->now[reference_cell(b->r, x, y, z) * Q_AXES + i];
                    const float single = (float)value;
                    uint64_t wide = 0;
                    uint32_t narrow = 0;
                    memcpy(&wide, &value, sizeof wide);
                    memcpy(&narrow, &single, sizeof narrow);
                    expected += hash_mix((bits == 64 ? wide : narrow) ^ hash_mix(7 * g + i + 1));
                }
    if (solver_hash(s, set, &hash) || hash != expected)
        complain(c, bits, STEPS, "the hash of the set is another one");
}

/* Writes the state, and reads it back into a solver of other blocks. */
static void go_on(const struct flow_case *c, int bits, const struct reference *r,
                  struct solver *before, const struct box_set *b, int set)
{
    char path[32]; /* other tests run beside this one */
    struct flow_case other = *c;
    struct domain d;
    struct backend *backend = NULL;
    struct solver s;
    struct state state = {0};
    struct checkpoint k;
    struct checkpoint_times times;
    static struct grid grid; /* the solver's copy stands for it in files */
    char where[256] = "", reason[CHECKPOINT_REASON];
    snprintf(path, sizeof path, "sets_ranks_%d.h5", before->domain->ranks);
    other.resolved = (char *)"a case";
    grid.levels = 1;
    grid.level[0].solver = *before;
    if (checkpoint_register_populations(&state, &grid) ||
        checkpoint_write(&grid, &other, &state, path, &times))
        complain(c, bits, STEPS, "no checkpoint");
    state_destroy(&state);

    for (int a = 0; a < 3; a++)
        other.run.ranks[a] = c->run.ranks[2 - a];
    for (int a = 0; a < 3; a++)
        if (other.run.ranks[a] > c->cells[a])
            memcpy(other.run.ranks, c->run.ranks, sizeof other.run.ranks);
    if (reference_domain(r, &d, &other, MPI_COMM_WORLD) ||
        reference_open(&backend, &other, MPI_COMM_WORLD) ||
        domain_add_set(&d, "second", Q_AXES, bits) != set ||
        reference_solver(&s, &d, backend, &other))
        MPI_Abort(MPI_COMM_WORLD, 1);
    reference_poison(&s);
    grid.level[0].solver = s;
    if (checkpoint_register_populations(&state, &grid) ||
        !checkpoint_open(&k, MPI_COMM_WORLD, path, reason))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (checkpoint_load(&k, path, &grid, &state))
        complain(c, bits, STEPS, "the checkpoint cannot be loaded");
    s = grid.level[0].solver;
    checkpoint_close(&k);
    if (s.step != before->step || count_wrong(&s, b, set) > 0 ||
        !reference_same(r, &s, where, sizeof where))
        complain(c, bits, STEPS, "a checkpoint brings back another state");
    if (d.rank == 0)
        remove(path);
    state_destroy(&state);
    solver_destroy(&s);
    TAGFLOW_BACKEND.close(backend);
    domain_destroy(&d);
}

static void compare(const struct flow_case *c, int bits, uint64_t seed)
{
    struct reference r;
    const uint64_t seed_of_case = seed;
    struct domain d;
    struct backend *b = NULL;
    struct solver s;
    struct box_set box;
    char where[256];
    reference_create(&r, c);
    if (seed % 3)
        reference_obstacles(&r, seed, 4, false);
    reference_fill(&r, seed + 1);
    box_create(&box, &r, seed + 2);
    if (reference_domain(&r, &d, c, MPI_COMM_WORLD) || reference_open(&b, c, MPI_COMM_WORLD))
        MPI_Abort(MPI_COMM_WORLD, 1);
    const int set = domain_add_set(&d, "second", Q_AXES, bits);
    if (reference_solver(&s, &d, b, c))
        MPI_Abort(MPI_COMM_WORLD, 1);
    reference_poison(&s);
    s.step = (int64_t)(seed & 1);
    reference_put(&r, &s);
    put_set(&s, &box, set);
    for (int step = 1; step <= STEPS; step++) {
        step_set(&s, &r, set, &seed);
        box_step(&box);
        reference_step(&r);
        if (solver_step(&s) || solver_wait(&s))
            complain(c, bits, step, "the step failed");
    }
    const size_t wrong = count_wrong(&s, &box, set);
    if (wrong) {
        snprintf(where, sizeof where, "%zu populations of the set differ", wrong);
        complain(c, bits, STEPS, where);
    }
    if (!reference_same(&r, &s, where, sizeof where))
        complain(c, bits, STEPS, where);
    compare_pieces(c, bits, &s, &box, set);
    if (seed_of_case % 5 == 0)
        go_on(c, bits, &r, &s, &box, set);
    solver_destroy(&s);
    TAGFLOW_BACKEND.close(b);
    domain_destroy(&d);
    reference_destroy(&r);
    free(box.now);
    free(box.next);
}

/* Every cut; blocks of one cell along the axes that are cut, or more. */
static int every_cut(int ranks)
{
    static const char *const faces[] = {"pppppp", "wwwwww", "ppwwpp", "wwppcc"};
    static const int extra[3][3] = {{0, 0, 0}, {1, 1, 1}, {9, 4, 3}};
    int cases = 0;
    uint64_t seed = 1;
    for (int pz = 1; pz <= ranks; pz++)
        for (int py = 1; ranks % pz == 0 && py <= ranks / pz; py++)
            for (int kind = 0; ranks / pz % py == 0 && kind < 3; kind++)
                for (size_t f = 0; f < sizeof faces / sizeof *faces; f++, seed++) {
                    const int cuts[3] = {ranks / pz / py, py, pz};
                    int n[3];
                    for (int a = 0; a < 3; a++)
                        n[a] = kind == 0 && cuts[a] == 1 ? 3 : cuts[a] + extra[kind][a];
                    struct flow_case c = reference_case(n[0], n[1], n[2]);
                    reference_faces(&c, faces[f]);
                    memcpy(c.run.ranks, cuts, sizeof cuts);
                    c.run.exchange = seed % 5 == 0 ? EXCHANGE_all : (unsigned)(seed / 5 % 8);
                    c.run.sparse = seed % 4 == 0 ? SPARSE_always : SPARSE_never;
                    compare(&c, seed % 2 ? 64 : 32, seed);
                    cases++;
                }
    return cases;
}

int main(int argc, char **argv)
{
    int rank, ranks, any;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    const int cases = every_cut(ranks);
    MPI_Allreduce(&failures, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d cases on %d ranks: %s\n", cases, ranks, any ? "FAILED" : "all as two arrays");
    MPI_Finalize();
    return any > 0;
}
