/* How fast the CPU's loops go through rock: spheres of one radius at random, overlapping, in a
 * periodic box, until so much of it is solid; the pores are fluid, driven by a body force.
 *
 *   rock CELLS POROSITY RADIUS fp16|fp32|fp64 THREADS SECONDS
 *
 * In turn, so that all see the same state of a shared machine: the same box without rock, the rock
 * with memory for all cells, and with memory for fluid alone (domain/sparse.h); medians of five
 * rounds of SECONDS each. Exit status: 0 done, 1 the machine failed or the two differ, 2 wrong
 * usage. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "boundary.h"
#include "domain/sparse.h"
#include "solver/solver.h"
#include "tags/create.h"

enum { ROUNDS = 5, WAYS = 3 };

/* One flow through the box. */
struct flow {
    const char *name;
    struct domain domain;
    struct backend *backend;
    struct view view;
    size_t bytes; /* of populations */
    long long fluid, steps;
    bool sparse;
    double rate[ROUNDS];
};

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* Mark the cells of one sphere in a periodic box of n^3; returns how many were not yet. */
static long long add_sphere(uint8_t *solid, int n, const double centre[3], double radius)
{
    const int reach = (int)radius + 1;
    long long more = 0;
    for (int k = -reach; k <= reach; k++)
        for (int j = -reach; j <= reach; j++)
            for (int i = -reach; i <= reach; i++) {
                const int at[3] = {(int)centre[0] + i, (int)centre[1] + j, (int)centre[2] + k};
                double square = 0;
                size_t cell = 0;
                for (int a = 2; a >= 0; a--) {
                    const double d = at[a] + 0.5 - centre[a];
                    square += d * d;
                    cell = cell * (size_t)n + (size_t)((at[a] % n + n) % n);
                }
                more += square < radius * radius && !solid[cell];
                solid[cell] |= square < radius * radius;
            }
    return more;
}

static void set_tags(struct flow *f, const uint8_t *solid, int n)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct view *const v = &f->domain.view;
    f->fluid = 0;
    for (int z = 0, k = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++, k++) {
                f->domain.tags[view_index(v, x, y, z)] = solid[k] ? TAG_WALL : TAG_FLUID;
                f->fluid += !solid[k];
            }
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                for (int i = 1; i < Q; i++)
                    if (!view_fluid(v, view_index(v, x + c[i][0], y + c[i][1], z + c[i][2])))
                        f->domain.tags[view_index(v, x, y, z)] |= TAG_BESIDE;
}

static enum status create(struct flow *f, struct flow_case *c, const uint8_t *solid)
{
    const struct backend_wanted wanted = backend_wanted(c, MPI_COMM_SELF, true);
    c->run.sparse = SPARSE_never;
    enum status status = domain_create(&f->domain, c, MPI_COMM_SELF);
    if (!status)
        status = backend_cpu.open(&f->backend, &wanted);
    if (status)
        return status;
    set_tags(f, solid, c->cells[0]);
    c->run.sparse = f->sparse ? SPARSE_always : SPARSE_never;
    status = sparse_choose(&f->domain, c);
    if (!status)
        status = backend_cpu.prepare(f->backend, &f->domain.view, &f->view);
    if (status)
        return status;
    f->bytes = Q * f->view.set[SET_flow].stride * precision_bytes(c->solver.storage);
    f->view.set[SET_flow].populations = backend_cpu.alloc(f->backend, f->bytes, Q);
    if (f->view.set[SET_flow].populations)
        return STATUS_OK;
    fputs("out of memory\n", stderr);
    return STATUS_MACHINE;
}

static void step(struct flow *f)
{
    struct work work = {domain_all(&f->domain), {.odd = (int)(f->steps & 1), .open = 1}};
    backend_cpu.launch(f->backend, QUEUE_INTERIOR, KERNEL_step, &f->view, &work, 1);
    f->steps++;
}

/* Processor time, so that what else the machine does counts little. */
static double seconds_now(const struct flow *f)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec) / f->backend->workers;
}

static void measure(struct flow *f, double seconds, int round)
{
    const double begin = seconds_now(f);
    long long steps = 0;
    double now = begin;
    for (; now - begin < seconds || steps % 2; now = seconds_now(f), steps++)
        step(f);
    f->rate[round] = 1e-6 * (double)f->fluid * (double)steps / (now - begin);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Have all fluid cells the same populations? */
static bool alike(const struct flow *f, const struct flow *g)
{
    const size_t bytes = f->bytes / (Q * f->view.set[SET_flow].stride);
    const int *const n = f->view.n, odd = (int)(f->steps & 1);
    bool same = f->steps == g->steps;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                for (int i = 0; i < Q && view_fluid(&f->view, view_index(&f->view, x, y, z)); i++) {
                    const int bounce = view_bounces(&f->view, i, x, y, z);
                    const size_t a = load_address(&f->view, SET_flow, odd, i, x, y, z, bounce);
                    const size_t b = load_address(&g->view, SET_flow, odd, i, x, y, z, bounce);
                    same = same &&
                           !memcmp((char *)f->view.set[SET_flow].populations + a * bytes,
                                   (char *)g->view.set[SET_flow].populations + b * bytes, bytes);
                }
    return same;
}

static uint8_t *make_rock(int n, double porosity, double radius)
{
    const size_t cells = (size_t)n * (size_t)n * (size_t)n;
    uint8_t *const solid = calloc(cells, 1);
    uint64_t seed = 1;
    for (double count = 0; solid && count < (1 - porosity) * (double)cells;) {
        double centre[3];
        for (int a = 0; a < 3; a++)
            centre[a] = n * uniform(&seed);
        count += (double)add_sphere(solid, n, centre, radius);
    }
    return solid;
}

int main(int argc, char **argv)
{
    enum precision storage;
    if (argc != 7 || atoi(argv[1]) < 2 || atof(argv[3]) >= atoi(argv[1]) / 2 ||
        !precision_find(argv[4], &storage) || atoi(argv[5]) < 1) {
        fputs("usage: rock CELLS POROSITY RADIUS fp16|fp32|fp64 THREADS SECONDS\n", stderr);
        return 2;
    }
    const int n = atoi(argv[1]);
    struct flow_case c = {.name = "rock", .cells = {n, n, n}};
    struct flow flows[WAYS] = {{.name = "box"},
                               {.name = "rock, all cells"},
                               {.name = "rock, fluid alone", .sparse = true}};
    enum status status = STATUS_OK;
    MPI_Init(&argc, &argv);
    c.units.dx = c.units.dt = c.units.density = 1;
    c.fluid.viscosity = 0.1;
    c.acceleration[0] = 1e-6;
    c.solver.magic = 3.0 / 16;
    c.solver.collision = COLLISION_trt;
    c.solver.storage = storage;
    c.solver.arithmetic = precision_computed(storage);
    c.run.threads = atoi(argv[5]);
    uint8_t *const none = calloc((size_t)n * (size_t)n, (size_t)n);
    uint8_t *const solid = make_rock(n, atof(argv[2]), atof(argv[3]));
    if (!none || !solid)
        return 1;
    for (int k = 0; !status && k < WAYS; k++)
        status = create(&flows[k], &c, k ? solid : none);
    if (status)
        return 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < WAYS; k++)
            measure(&flows[k], atof(argv[6]), round);
    long long most = 0;
    for (int k = 1; k < WAYS; k++)
        most = flows[k].steps > most ? flows[k].steps : most;
    for (int k = 1; k < WAYS; k++)
        while (flows[k].steps < most)
            step(&flows[k]);

    double median[WAYS];
    for (int k = 0; k < WAYS; k++) {
        qsort(flows[k].rate, ROUNDS, sizeof(double), compare);
        median[k] = flows[k].rate[ROUNDS / 2];
        printf("%s: %.1f MLUPS of fluid cells (%.1f to %.1f), %.0f %% of the box, %.1f bytes a "
               "fluid cell\n",
               flows[k].name, median[k], flows[k].rate[0], flows[k].rate[ROUNDS - 1],
               100 * median[k] / median[0], (double)flows[k].bytes / (double)flows[k].fluid);
    }
    printf("porosity %.3f\n", (double)flows[1].fluid / (double)flows[0].fluid);
    if (!alike(&flows[1], &flows[2])) {
        puts("the ways through the rock differ");
        return 1;
    }
    MPI_Finalize();
    return 0;
}
