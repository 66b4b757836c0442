/* The benchmark's check on any number of ranks: right steps of every case and of every rule of open
 * faces are right, and one bit of one population of one cell, cells in each other's place, a lid of
 * another speed, a wall in place of a plane of symmetry, another pressure at a face or a surface
 * elsewhere on a link are found.
 *
 *     mpirun -n N bench_ranks [STORAGE]    with every pair of precisions, or those of this storage
 *
 * Exit status: 0, or 1 after a line for each thing that is not so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "bench/bench.h"
#include "bench/verify.h"
#include "boundary.h"
#include "case/keys.h"
#include "solver/transport.h"
#include "tags/create.h"
#include "tags/inputs.h"

enum { STEPS = 2, FLIPS = 4 };

static int failures;

struct flow {
    struct flow_case c;
    struct domain domain;
    struct backend *backend;
    struct solver solver;
};

static void complain(const struct bench_subject *s, const char *what, const char *why)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    failures++;
    if (rank == 0)
        fprintf(stderr, "%s, %d x %d x %d cells, %s, %s: %s (%s)\n", bench_cases[s->which],
                s->cells[0], s->cells[1], s->cells[2], key_collisions[s->collision],
                precision_name(s->storage), what, why);
}

static enum status make(struct flow *f, const struct bench_subject *s, int set_count,
                        const char *const *sets)
{
    static MPI_Comm comm;
    char *text, why[128];
    size_t length;
    enum transport transport;
    *f = (struct flow){0};
    comm = MPI_COMM_WORLD;
    enum status status = bench_case_text(s, &text, &length);
    if (status)
        return status;
    const struct case_files files = inputs(&comm);
    status = case_read_files("bench.yaml", text, (long)length, set_count, sets, &files, &f->c);
    free(text);
    if (!status)
        status = domain_create(&f->domain, &f->c, comm);
    if (status)
        return status;
    const struct backend_wanted wanted = backend_wanted(&f->c, comm, true);
    status = backend_cpu.open(&f->backend, &wanted);
    if (!status)
        status = transport_choose(&f->c, f->backend, comm, &transport, why);
    if (!status)
        status = solver_create(&f->solver, &f->domain, f->backend, transport);
    return status ? status : solver_initialise(&f->solver, &f->c, NULL);
}

static void destroy(struct flow *f)
{
    solver_destroy(&f->solver);
    if (f->backend)
        f->backend->type->close(f->backend);
    domain_destroy(&f->domain);
    case_destroy(&f->c);
}

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* One bit of population i of a cell of the whole box, at a step. */
struct flip {
    const struct flow *flow;
    size_t bytes;
    int at[3], i, bit, step, set;
};

/* Of that cell in a piece the place of population i; NULL: another's. */
static unsigned char *place(const struct flow *f, const struct box *piece, void *populations,
                            const int at[3], int i, size_t bytes)
{
    size_t cell = 0;
    for (int a = 2; a >= 0; a--) {
        const int here = at[a] - f->domain.lo[a];
        if (here < piece->lo[a] || here >= piece->hi[a])
            return NULL;
        cell = cell * (size_t)(piece->hi[a] - piece->lo[a]) + (size_t)(here - piece->lo[a]);
    }
    return (unsigned char *)populations + ((size_t)i * box_cells(piece) + cell) * bytes;
}

static void flip_bit(void *context, int step, int set, const struct box *piece, void *populations)
{
    const struct flip *const f = context;
    if (set != f->set)
        return;
    unsigned char *const value = place(f->flow, piece, populations, f->at, f->i, f->bytes);
    if (value && step == f->step)
        value[f->bit / 8] ^= (unsigned char)(1u << (f->bit % 8));
}

/* A cell of the whole box with populations, the same on all ranks. */
static void any_fluid_cell(const struct flow *f, uint64_t *state, int at[3])
{
    int fluid = 0;
    while (!fluid) {
        bool mine = true;
        int here[3];
        for (int a = 0; a < 3; a++) {
            at[a] = (int)(draw(state) % (uint64_t)f->c.cells[a]);
            here[a] = at[a] - f->domain.lo[a];
            mine = mine && here[a] >= 0 && here[a] < f->domain.view.n[a];
        }
        const struct view *const v = &f->domain.view;
        fluid = mine && view_fluid(v, view_index(v, here[0], here[1], here[2]));
        MPI_Allreduce(MPI_IN_PLACE, &fluid, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

/* One flipped bit is found, where it is, and nothing else. */
static void flip_some(struct flow *f, const struct bench_subject *s, uint64_t seed)
{
    for (int k = 0; k < FLIPS; k++) {
        char why[VERIFY_WHY] = "", wanted[96];
        bool right;
        struct flip flip = {.flow = f, .bytes = precision_bytes(s->storage)};
        flip.set = k % f->solver.view.sets;
        flip.bytes = f->solver.view.set[flip.set].bits / 8;
        any_fluid_cell(f, &seed, flip.at);
        flip.i = (int)(draw(&seed) % (flip.set ? Q_AXES : Q));
        flip.bit = (int)(draw(&seed) % (8 * flip.bytes));
        flip.step = k % STEPS;
        const struct verify_spoil spoil = {flip_bit, &flip};
        if (verify_steps(&f->solver, &f->c, STEPS, &spoil, &right, why))
            complain(s, "failed", why);
        snprintf(wanted, sizeof wanted, "population %d%s of cell %d %d %d is", flip.i,
                 flip.set ? " of scalar 1" : "", flip.at[0], flip.at[1], flip.at[2]);
        if (right)
            complain(s, "a flipped bit was not seen", wanted);
        else if (!strstr(why, wanted) || !strstr(why, "(1 of them"))
            complain(s, "a flipped bit was told wrongly", why);
    }
}

/* Two cells that follow each other along x are in each other's place. */
static void swap_cells(void *context, int step, int set, const struct box *piece, void *populations)
{
    const struct flip *const f = context;
    if (set != f->set)
        return;
    const int next[3] = {f->at[0] + 1, f->at[1], f->at[2]};
    for (int i = 0; i < Q && step == 0; i++) {
        unsigned char *const a = place(f->flow, piece, populations, f->at, i, f->bytes),
                             *const b = place(f->flow, piece, populations, next, i, f->bytes);
        for (size_t k = 0; a && b && k < f->bytes; k++) {
            const unsigned char swap = a[k];
            a[k] = b[k];
            b[k] = swap;
        }
    }
}

static void check_right(struct flow *f, const struct bench_subject *s)
{
    char why[VERIFY_WHY] = "";
    bool right = verify_knows(&f->domain, &f->c, why);
    if (!right)
        complain(s, "is not known", why);
    /* one at a time as well: the first may be even or odd */
    for (int k = 0; k < 3 && right; k++)
        if (verify_steps(&f->solver, &f->c, k == 2 ? 3 : 1, NULL, &right, why) || !right)
            complain(s, "is not right", why);
    if (f->solver.step != 5 && right)
        complain(s, "is not at step 5", "");
}

static void check_wrong(struct flow *f, const struct bench_subject *s)
{
    char why[VERIFY_WHY] = "";
    bool right;
    flip_some(f, s, 7);
    /* where no two cells are the same, and no cut between them */
    struct flip swap = {.flow = f,
                        .bytes = precision_bytes(s->storage),
                        .at = {s->cells[0] / 2 - 3, s->cells[1] / 2, s->cells[2] / 2}};
    const struct verify_spoil spoil = {swap_cells, &swap};
    if (s->which == BENCH_CASE_periodic && s->cells[0] > 6 && s->cells[1] > 1) {
        if (verify_steps(&f->solver, &f->c, 1, &spoil, &right, why) || right)
            complain(s, "cells in each other's place were not seen", why);
    }
    /* links along the lid end in its edges where the box is one cell wide */
    if (s->which == BENCH_CASE_cavity && s->cells[1] > 1) {
        f->c.faces[3].velocity[0] *= 1.01;
        if (verify_steps(&f->solver, &f->c, 1, NULL, &right, why) || right)
            complain(s, "a lid of another speed was not seen", why);
    }
}

/* A wall of another value, and another gravity, are found. */
static void check_wrong_heat(struct flow *f, const struct bench_subject *s)
{
    char why[VERIFY_WHY] = "";
    bool right;
    f->c.faces[0].scalar[0].value *= 1.01;
    if (verify_steps(&f->solver, &f->c, 1, NULL, &right, why) || right ||
        !strstr(why, "of scalar 1"))
        complain(s, "a wall of another value was not seen", why);
    f->c.faces[0].scalar[0].value /= 1.01;
    f->solver.view.scalars.gravity[1] *= 1.5;
    if (verify_steps(&f->solver, &f->c, 1, NULL, &right, why) || right)
        complain(s, "another gravity was not seen", why);
}

/* One step with this view in place of the solver's, which has an error: it is found. */
static void check_spoilt(struct flow *f, const struct bench_subject *s, const struct view *spoilt,
                         const char *what)
{
    const struct view view = f->solver.view;
    char why[VERIFY_WHY] = "";
    bool right;
    f->solver.view = *spoilt;
    if (verify_steps(&f->solver, &f->c, 1, NULL, &right, why) || right)
        complain(s, what, "was not seen");
    f->solver.view = view;
}

/* The rule of a face that holds the density holds another one. */
static void check_pressure(struct flow *f, const struct bench_subject *s)
{
    static struct tag_row rows[TAG_ROWS];
    struct view view = f->solver.view;
    memcpy(rows, f->domain.rows, sizeof rows);
    for (int k = 0; k < TAG_ROWS; k++)
        if (rows[k].boundary == BOUNDARY_pressure_regularised)
            rows[k].drho += 1e-2;
    view.rows = rows;
    check_spoilt(f, s, &view, "another pressure");
}

/* One link of the rank's, if it has any, meets the surface elsewhere. */
static void check_surface(struct flow *f, const struct bench_subject *s)
{
    struct view view = f->solver.view;
    float *const crossing = malloc((view.near.crossings + 1) * sizeof *crossing);
    if (!crossing) {
        complain(s, "out of memory", "");
        return;
    }
    for (size_t k = 0; k < view.near.crossings; k++)
        crossing[k] = view.near.crossing[k];
    /* of a link into the surface: the rule of others takes no fraction */
    const float middle = 0.5f;
    size_t at = 0;
    while (at < view.near.crossings && memcmp(&crossing[at], &middle, sizeof middle) == 0)
        at++;
    if (at < view.near.crossings)
        crossing[at] = crossing[at] < middle ? 0.9f : 0.1f;
    view.near.crossing = crossing;
    check_spoilt(f, s, &view, "a surface elsewhere");
    free(crossing);
}

static void check_wrong_faces(struct flow *f, const struct bench_subject *s)
{
    char why[VERIFY_WHY] = "";
    bool right;
    if (s->which == BENCH_CASE_slip && s->cells[1] > 1) {
        f->c.faces[2].kind = FACE_wall;
        if (verify_steps(&f->solver, &f->c, 1, NULL, &right, why) || right)
            complain(s, "a wall in place of a plane of symmetry was not seen", why);
        f->c.faces[2].kind = FACE_slip;
    }
    if (s->which == BENCH_CASE_inlet || s->which == BENCH_CASE_tunnel)
        check_pressure(f, s);
    if (s->which == BENCH_CASE_curved || s->which == BENCH_CASE_tunnel)
        check_surface(f, s);
}

static void all_cases(int ranks, const struct bench_subject *like)
{
    const int shapes[][3] = {{20, 11, 13}, {ranks, 1, 3}, {67 * ranks + 1, 9, 8}, {16, 16, 16}};
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        for (int which = 0; which < BENCH_CASES; which++) {
            struct bench_subject s = *like;
            struct flow f;
            if (which == BENCH_CASE_refined)
                continue; /* the plain step has one level */
            s.which = (enum bench_case)which;
            memcpy(s.cells, shapes[shape], sizeof s.cells);
            if (shape == 1 && (which >= BENCH_CASE_sphere || which == BENCH_CASE_inlet))
                continue; /* too thin for bodies and inlets */
            if (make(&f, &s, 0, NULL)) {
                complain(&s, "cannot be made", "");
                destroy(&f);
                continue;
            }
            check_right(&f, &s);
            check_wrong(&f, &s);
            check_wrong_faces(&f, &s);
            if (which == BENCH_CASE_heat)
                check_wrong_heat(&f, &s);
            destroy(&f);
        }
}

/* Other rules, and where faces of several kinds meet beside walls, planes of symmetry and bodies.
 */
static void check_rules(const struct bench_subject *like)
{
    static const char *const sets[][2] = {
        {"faces.xmin={velocity: {value: [0.02, 0, 0], rule: links}}",
         "faces.xmax={pressure: {rule: links}}"},
        {"faces.y={wall: {velocity: [0.02, 0, 0]}}", "faces.xmax=outflow"},
        {"faces={xmin: {velocity: {value: [0.02, 0, 0]}}, xmax: nonreflecting, ymin: slip, ymax: "
         "outflow, zmin: wall, zmax: {wall: {velocity: [0, 0.02, 0]}}}",
         "run.sparse=always"},
        {"faces={xmin: wall, xmax: pressure, ymin: {velocity: {value: [0, 0.01, 0]}}, ymax: slip, "
         "zmin: slip, zmax: {pressure: {density: 1.001}}}",
         "bodies.sphere.rotation={rate: [0.001, 0, 0.002]}"},
        {"faces.z=periodic", "bodies.sphere.velocity=[0.01, 0.02, 0]"},
        {"solver.subgrid={smagorinsky: {constant: 0.1}}", "force={acceleration: [1e-5, 2e-5, 0]}"},
    };
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct bench_subject s = *like;
        struct flow f;
        s.which = BENCH_CASE_tunnel;
        memcpy(s.cells, (const int[3]){19, 12, 14}, sizeof s.cells);
        const char *const all[] = {"initial={flow: uniform, velocity: [0.02, 0.004, 0.006]}",
                                   sets[k][0], sets[k][1]};
        if (make(&f, &s, 3, all)) {
            complain(&s, "cannot be made", sets[k][0]);
        } else {
            check_right(&f, &s);
            flip_some(&f, &s, 11 + k);
        }
        destroy(&f);
    }
}

/* What the plain step cannot do is said, not passed. */
static void check_unknown(const struct bench_subject *like)
{
    static const char *const sets[] = {
        "force={acceleration: [1e-5, 0, 0], ramp: 10}",
        "force={flow_rate: {velocity: 0.01, axis: x}}",
        "regions={a: {box: {from: [0, 0, 0], to: [4, 4, 4]}, collision: rr}}",
        "solver.subgrid={smagorinsky: {van_driest: 0.01}}",
    };
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct bench_subject s = *like;
        struct flow f;
        char why[VERIFY_WHY] = "";
        s.which = BENCH_CASE_channel;
        memcpy(s.cells, (const int[3]){12, 12, 12}, sizeof s.cells);
        const char *const all[] = {"initial={flow: uniform, velocity: [0.01, 0, 0]}", sets[k]};
        if (make(&f, &s, 2, all))
            complain(&s, "cannot be made", sets[k]);
        else if (verify_knows(&f.domain, &f.c, why))
            complain(&s, "is said to be known", sets[k]);
        else if (!strstr(why, "does not know"))
            complain(&s, "is not known without a reason", why);
        destroy(&f);
    }
}

int main(int count, char **arguments)
{
    int rank, ranks;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    int tried = 0;
    for (int storage = 0; key_storages[storage]; storage++)
        for (int arithmetic = 0; key_precisions[arithmetic]; arithmetic++) {
            struct bench_subject s = {.collision = tried % 2 ? COLLISION_rr : COLLISION_trt,
                                      .arithmetic = (enum precision)arithmetic,
                                      .threads = ranks == 1 ? 1 + tried % 2 : 1};
            precision_find(key_storages[storage], &s.storage);
            if (!bench_has(s.storage, s.arithmetic))
                continue;
            if (count > 1 && strcmp(arguments[1], key_storages[storage]) != 0)
                continue;
            all_cases(ranks, &s);
            check_rules(&s);
            check_unknown(&s);
            tried++;
        }
    if (tried < (count > 1 ? 1 : 2))
        failures++;
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d pairs of precisions on %d ranks: %d failures\n", tried, ranks, failures);
    MPI_Finalize();
    return failures > 0;
}
