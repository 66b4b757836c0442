/* The product on any number of ranks against two-lattice streaming of the whole box, bit for bit.
 *
 *     mpirun -n N reference_ranks [random cases [seed]]
 *
 * Every rank makes the reference of the whole box and compares its own block after every step, for
 * every way to cut into N blocks, of boxes with blocks one cell thin, blocks with an interior, and
 * all kinds of faces and obstacles; then some cases at random. Before, the addresses that the
 * shell's step, the interior's step and the unpacking of one step touch must be disjoint, and
 * unpacking must write all of its own and no other. After, the hash must be that of the reference,
 * and change with any change of the state.
 *
 * Exit status: 0, or 1 after a line from each rank that found something. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "reference.h"

enum { STEPS = 4 };

struct setting {
    struct flow_case c;
    char faces[7];
    int obstacles, first;
    int changes; /* of the state, which the hash must see */
    uint64_t seed;
};

static int failures;

static void complain(const struct setting *t, int64_t step, const char *what)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    failures++;
    fprintf(stderr,
            "rank %d: %d x %d x %d cells cut into %d x %d x %d, faces %s, operator %d, force %g, "
            "obstacles %d "
            "(seed %llu), first step %d, after step %lld: %s\n",
            rank, t->c.cells[0], t->c.cells[1], t->c.cells[2], t->c.run.ranks[0], t->c.run.ranks[1],
            t->c.run.ranks[2], t->faces, (int)t->c.solver.collision, t->c.acceleration[0],
            t->obstacles, (unsigned long long)t->seed, t->first, (long long)step, what);
}

/* True on all ranks as soon as it is on one. */
static bool anywhere(bool mine)
{
    int flag = mine, any;
    MPI_Allreduce(&flag, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any != 0;
}

/* Who touches an address in a step. */
enum { SHELL = 1, INTERIOR = 2, UNPACK = 4, PACK = 8 };

static bool touch(unsigned char *users, size_t addresses, size_t address, int who)
{
    if (address >= addresses)
        return false;
    users[address] |= (unsigned char)who;
    return true;
}

/* Loads and stores of the fluid cells of a box. */
static bool touch_step(const struct reference *r, const struct solver *s, const struct box *b,
                       int odd, unsigned char *users, int who)
{
    const struct view *const v = &s->domain->view;
    const int *const lo = s->domain->lo;
    const size_t addresses = Q * v->set[SET_flow].stride;
    bool inside = true;
    for (int z = b->lo[2]; z < b->hi[2]; z++)
        for (int y = b->lo[1]; y < b->hi[1]; y++)
            for (int x = b->lo[0]; x < b->hi[0]; x++) {
                const int at[3] = {lo[0] + x, lo[1] + y, lo[2] + z};
                if (!r->row[r->tag[reference_cell(r, at[0], at[1], at[2])]].fluid)
                    continue;
                for (int i = 0; i < Q; i++) {
                    size_t cell;
                    const int from[3] = {at[0] - reference_velocity(i, 0),
                                         at[1] - reference_velocity(i, 1),
                                         at[2] - reference_velocity(i, 2)};
                    const int bounce = i > 0 && reference_wall(r, from, &cell);
                    inside &= touch(users, addresses,
                                    load_address(v, SET_flow, odd, i, x, y, z, bounce), who);
                    inside &=
                        touch(users, addresses, store_address(v, SET_flow, odd, i, x, y, z), who);
                }
            }
    return inside;
}

/* Populations of one message, where they lie for the sender (its own last layer) or for the
 * receiver (the same cells in its ghost layer). */
static bool touch_message(const struct reference *r, const struct solver *s, int direction,
                          bool ghost, int odd, unsigned char *users, int who)
{
    const struct view *const v = &s->domain->view;
    const struct domain *const d = s->domain;
    int lo[3], hi[3];
    bool inside = true;
    for (int a = 0; a < 3; a++) {
        const int e = reference_velocity(direction, a);
        lo[a] = 0;
        hi[a] = v->n[a];
        if (e > 0) {
            lo[a] = ghost ? -1 : v->n[a] - 1;
            hi[a] = lo[a] + 1;
        } else if (e < 0) {
            lo[a] = ghost ? v->n[a] : 0;
            hi[a] = lo[a] + 1;
        }
    }
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++) {
                const int at[3] = {(d->lo[0] + x + d->cells[0]) % d->cells[0],
                                   (d->lo[1] + y + d->cells[1]) % d->cells[1],
                                   (d->lo[2] + z + d->cells[2]) % d->cells[2]};
                if (!r->row[r->tag[reference_cell(r, at[0], at[1], at[2])]].fluid)
                    continue;
                for (int i = 1; i < Q; i++) {
                    bool along = true;
                    for (int a = 0; a < 3; a++)
                        along =
                            along && (reference_velocity(direction, a) == 0 ||
                                      reference_velocity(direction, a) == reference_velocity(i, a));
                    if (along)
                        inside &= touch(users, Q * v->set[SET_flow].stride,
                                        store_address(v, SET_flow, odd, i, x, y, z), who);
                }
            }
    return inside;
}

/* The shell's step, the interior's and unpack may overlap in time: what they touch must be
 * disjoint. Pack reads only what the shell has stored. */
static const char *check_owners(const struct reference *r, const struct solver *s)
{
    const size_t addresses = Q * s->view.set[SET_flow].stride;
    unsigned char *const users = malloc(addresses);
    const char *wrong = users ? NULL : "out of memory";
    for (int odd = 0; odd < 2 && !wrong; odd++) {
        bool inside = true;
        memset(users, 0, addresses);
        for (int k = 0; k < s->shells; k++)
            inside &= touch_step(r, s, &s->shell[k], odd, users, SHELL);
        inside &= touch_step(r, s, &s->interior, odd, users, INTERIOR);
        for (int i = 1; i < Q; i++) {
            if (s->domain->neighbour[i] != MPI_PROC_NULL)
                inside &= touch_message(r, s, i, false, odd, users, PACK);
            if (s->domain->neighbour[reference_opposite(i)] != MPI_PROC_NULL)
                inside &= touch_message(r, s, i, true, odd, users, UNPACK);
        }
        if (!inside)
            wrong = "an address lies outside the allocation";
        for (size_t k = 0; k < addresses && !wrong; k++) {
            if ((users[k] & SHELL) && (users[k] & INTERIOR))
                wrong = "shell and interior touch the same address";
            else if ((users[k] & UNPACK) && (users[k] & (SHELL | INTERIOR | PACK)))
                wrong = "unpack touches an address of the step";
            else if ((users[k] & PACK) && !(users[k] & SHELL))
                wrong = "pack reads what the shell did not store";
        }
    }
    free(users);
    return wrong;
}

/* What unpack writes must be what was counted as its own above: with a wall in the ghost layer, the
 * slot belongs to a link of this rank. All is zero before, and messages are made of ones. */
static const char *check_unpack(const struct reference *r, struct solver *s)
{
    const struct backend_type *const type = s->backend->type;
    const size_t addresses = Q * s->view.set[SET_flow].stride, bytes = addresses * sizeof(stored);
    unsigned char *const users = calloc(addresses, 1);
    stored *const values = calloc(addresses, sizeof *values);
    const char *wrong = users && values ? NULL : "out of memory";
    for (int odd = 0; odd < 2 && !wrong; odd++) {
        memset(values, 0, bytes);
        memset(users, 0, addresses);
        reference_memory_put(s->backend, s->view.set[SET_flow].populations, values, bytes);
        for (size_t k = 0; k < addresses; k++)
            values[k] = stored_of(1);
        for (int k = 0; k < s->halo.receives; k++) {
            const struct exchange_message *const m = &s->halo.receive[k];
            char *const buffer = exchange_buffer(&s->halo, m);
            const struct work work = {domain_layer(&s->view, m->number, true),
                                      {.odd = odd, .direction = m->number, .buffer = buffer}};
            reference_memory_put(s->backend, buffer, values, m->bytes);
            type->launch(s->backend, QUEUE_SHELL, KERNEL_unpack, &s->view, &work, 1);
            touch_message(r, s, m->number, true, odd, users, UNPACK);
        }
        reference_memory_get(s->backend, values, s->view.set[SET_flow].populations, bytes);
        for (size_t k = 0; k < addresses && !wrong; k++)
            if ((value_of(values[k]) != 0) != (users[k] != 0))
                wrong = users[k] ? "unpack leaves a population out"
                                 : "unpack writes into a slot that is not its own";
    }
    free(users);
    free(values);
    return wrong;
}

static bool hash_is(const struct reference *r, struct solver *s, uint64_t *hash)
{
    return solver_hash(s, SET_flow, hash) == STATUS_OK && *hash == reference_hash(r);
}

/* One bit of one population, two cells, two directions: each gives another hash, and the product's
 * is the reference's every time. */
static const char *check_hash(struct reference *r, struct solver *s, uint64_t seed, int changes)
{
    uint64_t before, after;
    if (!hash_is(r, s, &before))
        return "the hash is not that of the reference";
    for (int change = 0; change < changes; change++) {
        const size_t a = reference_random(&seed) % r->count, b = reference_random(&seed) % r->count;
        const size_t i = reference_random(&seed) % Q, j = reference_random(&seed) % Q;
        if (!r->row[r->tag[a]].fluid || !r->row[r->tag[b]].fluid)
            continue;
        bool changed = true;
        stored *const f = r->now;
        if (change % 3 == 0) {
            unsigned char bytes[sizeof *f];
            memcpy(bytes, &f[i * r->count + a], sizeof *f);
            bytes[j % sizeof *f] ^= (unsigned char)(1u << (b % 8));
            memcpy(&f[i * r->count + a], bytes, sizeof *f);
        } else if (change % 3 == 1) {
            changed = a != b;
            for (size_t k = 0; k < Q; k++) {
                const stored swap = f[k * r->count + a];
                f[k * r->count + a] = f[k * r->count + b];
                f[k * r->count + b] = swap;
            }
        } else {
            changed = memcmp(&f[i * r->count + a], &f[j * r->count + a], sizeof *f) != 0;
            const stored swap = f[i * r->count + a];
            f[i * r->count + a] = f[j * r->count + a];
            f[j * r->count + a] = swap;
        }
        reference_put(r, s);
        if (!hash_is(r, s, &after))
            return "the hash of a changed state is not that of the reference";
        if (changed == (after == before))
            return change % 3 == 0   ? "the hash does not see a bit"
                   : change % 3 == 1 ? "the hash does not see that cells were swapped"
                                     : "the hash does not see that directions were swapped";
        before = after;
    }
    return NULL;
}

static int swept; /* sweeps of several steps */

static void compare(const struct setting *t)
{
    struct reference r;
    struct domain d;
    struct backend *b = NULL;
    struct solver s;
    char where[256] = "";
    reference_create(&r, &t->c);
    if (t->obstacles)
        reference_obstacles(&r, t->seed, t->obstacles, t->seed & 1 && !strpbrk(t->faces, "VDn"));
    reference_fill(&r, t->seed + 1);
    if (reference_domain(&r, &d, &t->c, MPI_COMM_WORLD) ||
        reference_open(&b, &t->c, MPI_COMM_WORLD)) {
        complain(t, 0, "cannot be made");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (reference_solver(&s, &d, b, &t->c)) {
        complain(t, 0, "no solver");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const char *wrong = check_owners(&r, &s);
    if (!wrong)
        wrong = check_unpack(&r, &s);
    if (wrong)
        complain(t, 0, wrong);
    reference_poison(&s);
    s.step = t->first;
    reference_put(&r, &s);
    bool same = true; /* so far: only the first step that differs is told */
    for (int64_t left = STEPS;;) {
        /* Looking waits for all that is under way: in half of the cases steps follow one another.
         */
        const bool look = t->seed % 2 || left == STEPS || left == 0;
        if (look && same && !(same = reference_same(&r, &s, where, sizeof where)))
            complain(t, s.step, where);
        const int64_t before = s.step;
        if (left == 0)
            break;
        if (solver_sweep(&s, left))
            complain(t, s.step, "the step failed");
        for (int64_t k = before; k < s.step; k++)
            reference_step(&r);
        swept += s.step - before > 1;
        left -= s.step - before;
    }
    wrong = anywhere(!same) ? NULL : check_hash(&r, &s, t->seed, t->changes);
    if (wrong)
        complain(t, s.step, wrong);
    solver_destroy(&s);
    TAGFLOW_BACKEND.close(b);
    domain_destroy(&d);
    reference_destroy(&r);
}

/* Sizes of the box for a cut: blocks of one cell along every cut axis, one of two among them,
 * blocks with an interior, long rows. */
static void sizes_of(const int cuts[3], int kind, int cells[3])
{
    static const int extra[4][3] = {{0, 0, 0}, {1, 1, 1}, {6, 5, 4}, {30, 2, 3}};
    for (int a = 0; a < 3; a++)
        if (kind == 0)
            cells[a] = cuts[a] == 1 ? 3 : cuts[a];
        else if (kind == 3 && a == 0 && cuts[a] <= 4) /* an interior between thick shells */
            cells[a] = 67 * cuts[a] + 1;
        else
            cells[a] = cuts[a] + extra[kind][a];
}

static void every_cut(int ranks, int *cases)
{
    static const char *const faces[] = {"pppppp", "wwwwww", "ppwcpp", "cpwaab",
                                        "wwppcc", "ssppss", "VDsbns"};
    uint64_t seed = 1;
    for (int pz = 1; pz <= ranks; pz++)
        for (int py = 1; ranks % pz == 0 && py <= ranks / pz; py++)
            for (int kind = 0; ranks / pz % py == 0 && kind < 4; kind++)
                for (size_t f = 0; f < sizeof faces / sizeof *faces; f++) {
                    if (ranks > 4 &&
                        (f + (size_t)(pz + py + kind)) % 5 > 1) /* more cuts, fewer faces of each */
                        continue;
                    struct setting t = {.seed = ++seed, .changes = f == 0 ? 6 : 0};
                    const int cuts[3] = {ranks / pz / py, py, pz};
                    int cells[3];
                    sizes_of(cuts, kind, cells);
                    t.c = reference_case(cells[0], cells[1], cells[2]);
                    memcpy(t.faces, faces[f], sizeof t.faces);
                    if (t.faces[0] != t.faces[1] && (t.faces[0] == 'p' || t.faces[1] == 'p'))
                        t.faces[1] = t.faces[0] = 'w';
                    reference_faces(&t.c, t.faces);
                    memcpy(t.c.run.ranks, cuts, sizeof cuts);
                    t.c.solver.collision = (enum collision)(seed % COLLISIONS);
                    t.c.acceleration[seed % 3] = seed & 4 ? 1e-3 : 0;
                    if (seed & 8) {
                        t.c.solver.subgrid = SUBGRID_smagorinsky;
                        t.c.solver.smagorinsky = 0.2;
                        t.c.solver.van_driest = 0.01;
                    }
                    t.c.run.sweep = 1 + (int)(seed % 4);
                    t.c.run.exchange = seed % 5 == 0   ? EXCHANGE_all
                                       : seed % 5 == 1 ? (unsigned)(seed / 5 % 8)
                                                       : EXCHANGE_cut;
                    t.first = (int)(seed / 2 % 2);
                    t.obstacles = seed % 3 == 0 ? 0 : 3 + (int)(seed % 20);
                    if (kind == 3 && seed % 2) /* few: walls beside parts of rows without any */
                        t.obstacles = 300;
                    compare(&t);
                    ++*cases;
                }
}

static void at_random(int ranks, uint64_t seed, int *cases)
{
    for (int tries = 0; tries < 1000; tries++) {
        struct setting t = {.seed = reference_random(&seed), .changes = 3, .faces = "pppppp"};
        int cells[3];
        for (int a = 0; a < 3; a++) {
            const uint64_t draw = reference_random(&seed) >> 8;
            cells[a] = 1 + (int)(draw % (t.seed >> 21 & 1 ? (a == 0 ? 140 : 30) : a == 0 ? 40 : 7));
            for (int side = 0; side < 2 && (draw >> 8) % 2; side++)
                t.faces[2 * a + side] = "wabcwabcsvdonVDs"[(draw >> (10 + 4 * side)) %
                                                           (t.seed & 64 && cells[a] > 1 ? 16 : 4)];
        }
        t.c = reference_case(cells[0], cells[1], cells[2]);
        reference_faces(&t.c, t.faces);
        /* cuts along any axis: the largest that fits, of what is left */
        int left = ranks;
        for (int k = 0; k < 3; k++) {
            const int a = (int)((t.seed >> 40) + (uint64_t)k) % 3;
            int most = left;
            while (left % most || most > cells[a] ||
                   (k == 0 && most == ranks && t.seed >> 50 & 1 && most > 1))
                most--;
            t.c.run.ranks[a] = most;
            left /= most;
        }
        if (left > 1)
            continue;
        t.c.solver.collision = (enum collision)(t.seed % COLLISIONS);
        if (t.seed >> 6 & 1) {
            t.c.solver.subgrid = SUBGRID_smagorinsky;
            t.c.solver.smagorinsky = 0.2;
            t.c.solver.van_driest = t.seed >> 7 & 1 ? 0.01 : 0;
        } else if (t.seed >> 7 & 1) {
            t.c.fluid.law = (struct case_law){
                .kind = LAW_power, .index = 0.5, .shear_rate = 0.01, .least = 1e-3, .most = 10};
        }
        t.c.run.threads = 1 + (int)(t.seed >> 9 & 1);
        t.c.run.sweep =
            t.seed >> 21 & 1 ? 2 + (int)(t.seed >> 22 & 1) + (int)(t.seed >> 23 & 1) : 1;
        t.c.run.exchange = t.seed >> 18 & 1 ? EXCHANGE_all : (unsigned)(t.seed >> 24 & 7);
        t.c.run.sparse = t.seed >> 19 & 1 ? SPARSE_always : SPARSE_never;
        for (int a = 0; a < 3; a++)
            t.c.acceleration[a] = t.seed & 16 ? 1e-3 * reference_uniform(&seed) : 0;
        t.first = (int)(t.seed >> 5 & 3);
        t.obstacles = t.seed & 1024 ? 2 + (int)(t.seed >> 12 & 31) : 0;
        compare(&t);
        ++*cases;
        return;
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, cases = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    const int random_cases = argc > 1 ? atoi(argv[1]) : 20;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    every_cut(ranks, &cases);
    for (int k = 0; k < random_cases; k++)
        at_random(ranks, seed * 1000003 + (uint64_t)k, &cases);
    const bool failed = anywhere(failures > 0) || (TAGFLOW_BACKEND.sweep && !swept);
    if (rank == 0)
        printf("%d cases on %d ranks, %d sweeps of several steps: %s\n", cases, ranks, swept,
               failed ? "FAILED" : "all as the reference");
    MPI_Finalize();
    return failed;
}
