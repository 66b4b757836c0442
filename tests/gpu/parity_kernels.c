/* What parity tries of each kernel. A kernel that is in KERNEL_LIST and not here does not compile.
 *
 * For a kernel <name>: element_, buffer_, moved_ and plan_<name>, MODEL_<name> and, of sums,
 * settle_<name>, as struct kernel_test has them. */
#include "parity.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "domain/domain.h"

static const int velocities[Q][3] = LATTICE_VELOCITIES;

/* Bytes of a population of the flow. */
static size_t flow_bytes(const struct view *v)
{
    return v->set[SET_flow].bits / 8;
}

struct box message_box(const struct view *v, int direction, bool ghost)
{
    struct box b;
    for (int a = 0; a < 3; a++) {
        const int c = velocities[direction][a], n = v->n[a];
        b.lo[a] = c == 0 ? 0 : ghost ? (c > 0 ? -1 : n) : (c > 0 ? n - 1 : 0);
        b.hi[a] = c == 0 ? n : b.lo[a] + 1;
    }
    return b;
}

/* ---- launches ---- */

static struct launch *add_launch(struct plan *p, const char *what)
{
    assert(p->count < LAUNCHES_MOST);
    struct launch *const l = &p->launch[p->count++];
    *l = (struct launch){0};
    snprintf(l->what, sizeof l->what, "%s", what);
    return l;
}

static void add_work(struct launch *l, struct box box, int direction)
{
    assert(l->count < 2 * WORK_MOST);
    l->work[l->count++] = (struct work){box, {.direction = direction}};
}

static bool is_empty(const struct box *b)
{
    return box_cells(b) == 0;
}

/* Some of the cells of a box: at least one. */
static struct box part_of(struct box b, uint64_t *random)
{
    for (int a = 0; a < 3; a++) {
        const int n = b.hi[a] - b.lo[a], from = random_below(random, n);
        b.lo[a] += from;
        b.hi[a] -= random_below(random, n - from);
    }
    return b;
}

/* Two halves of a part of the block and, between them, a box without cells. */
static void plan_parts(struct plan *p, const struct ground *g, uint64_t *random, int direction)
{
    struct launch *const l = add_launch(p, "parts");
    struct box low = part_of(ground_all(g), random), high = low, none = low;
    const int axis = random_below(random, 3);
    const int at = low.lo[axis] + random_below(random, low.hi[axis] - low.lo[axis] + 1);
    low.hi[axis] = high.lo[axis] = at;
    none.hi[axis] = none.lo[axis];
    add_work(l, low, direction);
    add_work(l, none, direction);
    add_work(l, high, direction);
}

/* The whole block, pieces of whole planes in one launch, and parts. */
static void plan_pieces(struct plan *p, const struct ground *g, uint64_t *random)
{
    const struct box all = ground_all(g);
    struct launch *l = add_launch(p, "whole");
    add_work(l, all, 0);
    l = add_launch(p, "planes");
    for (int k = 0; k < 3; k++) {
        struct box piece = all;
        piece.lo[2] = all.hi[2] * k / 3;
        piece.hi[2] = all.hi[2] * (k + 1) / 3;
        if (k == 1) /* at once with the others */
            l->shell = l->count;
        add_work(l, piece, 0);
    }
    plan_parts(p, g, random, 0);
}

/* The same for each set from `first` on. */
static void plan_sets(struct plan *p, const struct ground *g, uint64_t *random, int first)
{
    for (int set = first; set < g->view.sets; set++) {
        int k = p->count;
        plan_pieces(p, g, random);
        for (; k < p->count; k++)
            for (int i = 0; i < p->launch[k].count; i++)
                p->launch[k].work[i].task.set = set;
    }
}

/* As a step with neighbours does it: the shell and, perhaps at the same time, the interior, as a
 * whole or in slabs. */
static void plan_shell(struct plan *p, const struct ground *g, int slabs)
{
    struct domain d = {.view = g->view};
    struct box shell[6], interior;
    for (int a = 0; a < 3; a++)
        d.exchanged[a] = g->view.ghost[a];
    const int shells = domain_shell(&d, shell, &interior);
    struct launch *const l = add_launch(p, slabs > 1 ? "shell and slabs" : "shell and interior");
    for (int k = 0; k < shells; k++)
        add_work(l, shell[k], 0);
    l->shell = l->count;
    for (int k = 0; k < slabs; k++) {
        struct box slab = interior;
        slab.lo[2] = interior.lo[2] + (interior.hi[2] - interior.lo[2]) * k / slabs;
        slab.hi[2] = interior.lo[2] + (interior.hi[2] - interior.lo[2]) * (k + 1) / slabs;
        add_work(l, slab, 0);
    }
}

/* Each direction alone, then all of them at once. Only ghost layers that exist can be unpacked. */
static void plan_messages(struct plan *p, const struct ground *g, bool ghost)
{
    struct launch all = {.what = "all directions"};
    for (int i = 1; i < Q; i++) {
        bool there = true;
        for (int a = 0; a < 3; a++)
            there = there && (!ghost || velocities[i][a] == 0 || g->view.ghost[a]);
        if (!there)
            continue;
        char what[sizeof all.what];
        snprintf(what, sizeof what, "direction %d", i);
        add_work(add_launch(p, what), message_box(&g->view, i, ghost), i);
        add_work(&all, message_box(&g->view, i, ghost), i);
    }
    all.shell = all.count;
    if (all.count)
        *add_launch(p, all.what) = all;
}

/* ---- step: no buffer ---- */

static size_t element_step(const struct view *v)
{
    (void)v;
    return 1;
}

static size_t buffer_step(const struct work *w, const struct view *v)
{
    (void)w, (void)v;
    return 0;
}

#define MODEL_step "a cell: 19 populations loaded, 19 stored, 7 and 7 of each scalar, a tag"

static double moved_step(const struct work *w, const struct view *v)
{
    double bytes = 0;
    for (int k = 0; k < v->sets; k++)
        bytes += (double)set_cell_bytes(&v->set[k]);
    return (double)box_cells(&w->box) * (2 * bytes + 1);
}

static void plan_step(struct plan *p, const struct ground *g, uint64_t *random)
{
    struct launch *const l = add_launch(p, "whole");
    add_work(l, ground_all(g), 0);
    plan_shell(p, g, 1);
    plan_shell(p, g, 3);
    plan_parts(p, g, random, 0);
}

/* ---- pack, unpack: travellers(direction) populations a cell ---- */

/* Of the sets' elements the largest: no smaller one lies across two of them. */
static size_t element_pack(const struct view *v)
{
    size_t most = 0;
    for (int k = 0; k < v->sets; k++)
        most = v->set[k].bits > 8 * most ? v->set[k].bits / 8 : most;
    return most;
}

static size_t buffer_pack(const struct work *w, const struct view *v)
{
    return message_at(v, w->task.direction, box_cells(&w->box), v->sets);
}

#define MODEL_pack "a cell: its travellers loaded and stored"

static double moved_pack(const struct work *w, const struct view *v)
{
    return 2 * (double)buffer_pack(w, v);
}

static void plan_pack(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_messages(p, g, false);
    plan_parts(p, g, random, 1 + random_below(random, Q - 1));
}

#define element_unpack element_pack
#define buffer_unpack buffer_pack
#define MODEL_unpack "a cell: its travellers loaded and stored, a tag"

static double moved_unpack(const struct work *w, const struct view *v)
{
    return 2 * (double)buffer_pack(w, v) + (double)box_cells(&w->box);
}

static void plan_unpack(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_messages(p, g, true);
    plan_parts(p, g, random, 1 + random_below(random, Q - 1));
}

/* ---- get, put: Q populations a cell ---- */

#define element_get element_pack

static size_t buffer_get(const struct work *w, const struct view *v)
{
    return box_cells(&w->box) * set_cell_bytes(&v->set[w->task.set]);
}

#define MODEL_get "a cell: 19 populations loaded and stored, a tag"

static double moved_get(const struct work *w, const struct view *v)
{
    return 2 * (double)buffer_get(w, v) + (double)box_cells(&w->box);
}

/* Of each set. */
static void plan_get(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_sets(p, g, random, SET_flow);
}

#define element_put element_pack
#define buffer_put buffer_get
#define MODEL_put MODEL_get
#define moved_put moved_get
#define plan_put plan_get

/* ---- begin: a double a cell, read ---- */

static size_t element_begin(const struct view *v)
{
    (void)v;
    return sizeof(double);
}

static size_t buffer_begin(const struct work *w, const struct view *v)
{
    (void)v;
    return box_cells(&w->box) * sizeof(double);
}

#define MODEL_begin "a cell: a double loaded, 19 populations stored, a tag"

static double moved_begin(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (Q * (double)flow_bytes(v) + 1) +
           (double)buffer_begin(w, v);
}

#define plan_begin plan_pieces

/* ---- flow: 4 doubles a cell ---- */

static size_t element_flow(const struct view *v)
{
    (void)v;
    return sizeof(double);
}

static size_t buffer_flow(const struct work *w, const struct view *v)
{
    (void)v;
    return box_cells(&w->box) * 4 * sizeof(double);
}

#define MODEL_flow "a cell: 19 populations loaded, 4 doubles stored, a tag"

static double moved_flow(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (Q * (double)flow_bytes(v) + 1) + (double)buffer_flow(w, v);
}

#define plan_flow plan_pieces

/* ---- curl: 3 doubles a cell ---- */

#define element_curl element_flow

static size_t buffer_curl(const struct work *w, const struct view *v)
{
    (void)v;
    return box_cells(&w->box) * 3 * sizeof(double);
}

#define MODEL_curl                                                                                 \
    "a cell: 19 populations loaded, its neighbours' from a cache, 3 doubles stored, a tag"

static double moved_curl(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (Q * (double)flow_bytes(v) + 1) + (double)buffer_curl(w, v);
}

#define plan_curl plan_pieces

/* ---- average: sums of a cell, updated ---- */

#define element_average element_flow

static size_t buffer_average(const struct work *w, const struct view *v)
{
    (void)v;
    return box_cells(&w->box) * (size_t)w->task.average.layout.components * sizeof(double);
}

#define MODEL_average "a cell: 19 populations loaded, its sums loaded and stored, a tag"

static double moved_average(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (Q * (double)flow_bytes(v) + 1) +
           2 * (double)buffer_average(w, v);
}

/* Each layout of the sums; first and later samples. */
static void plan_average(struct plan *p, const struct ground *g, uint64_t *random)
{
    const struct average_layout layouts[] = {average_layout(1, 1, 1), average_layout(1, 0, 0),
                                             average_layout(0, 1, 0), average_layout(0, 0, 1)};
    for (int round = 0; round < 4; round++) {
        const int first = p->count;
        plan_pieces(p, g, random);
        for (struct launch *l = p->launch + first; l < p->launch + p->count; l++)
            for (int k = 0; k < l->count; k++) {
                l->work[k].task.average =
                    (struct average_task){layouts[(round + k) % 4], 1 + random_below(random, 4)};
            }
    }
}

/* ---- sums: a struct a worker ---- */

static size_t element_sums(const struct view *v)
{
    (void)v;
    return sizeof(exact_units); /* as struct sums is aligned */
}

static size_t buffer_sums(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct sums);
}

#define MODEL_sums "a cell: 19 populations loaded, a tag; a worker: its sums"

static double moved_sums(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (Q * (double)flow_bytes(v) + 1) + (double)buffer_sums(w, v);
}

/* By one worker, by a few, by more than there are cells in most blocks. */
static void plan_sums(struct plan *p, const struct ground *g, uint64_t *random)
{
    static const int workers[] = {1, 3, 300};
    for (int k = 0; k < 6; k++) {
        char what[32];
        const struct box all = ground_all(g);
        snprintf(what, sizeof what, "%s, %d workers", k < 3 ? "whole" : "part", workers[k % 3]);
        struct launch *const l = add_launch(p, what);
        add_work(l, k < 3 ? all : part_of(all, random), 0);
        l->work[0].task.workers = workers[k % 3];
    }
}

/* Who found what is the backend's affair, what they found together is not. Gaps in the struct are
 * zeroed. */
static void settle_sums(const struct work *w, void *buffer)
{
    struct sums *const partial = (struct sums *)buffer;
    struct sums all = sums_none();
    for (int k = 0; k < w->task.workers; k++)
        sums_join(&all, &partial[k]);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    partial->drho = all.drho;
    partial->energy = all.energy;
    partial->max_square = all.max_square;
    partial->max_cell = all.max_cell;
    partial->bad_cell = all.bad_cell;
}

/* ---- drift: the same ---- */

#define element_drift element_sums

static size_t buffer_drift(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct drift);
}

#define MODEL_drift MODEL_sums
#define moved_drift moved_sums
#define plan_drift plan_sums

static void settle_drift(const struct work *w, void *buffer)
{
    struct drift *const partial = (struct drift *)buffer, all = drift_none();
    for (int k = 0; k < w->task.workers; k++)
        drift_join(&all, &partial[k]);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    memcpy(partial->u, all.u, sizeof all.u);
    partial->bad = all.bad;
}

/* ---- mass: the same, of all cells or of a part ---- */

/* A part: the tag of one of the cells; none: all cells. */
static struct mass_task part_of_ground(const struct ground *g, int k)
{
    const size_t cell = owned_index(&g->view, k % g->view.n[0], 0, 0);
    return (struct mass_task){.parts = k % 2 ? g->tags : NULL, .part = g->tags[cell]};
}

#define element_mass element_sums

static size_t buffer_mass(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct mass);
}

#define MODEL_mass MODEL_sums
#define moved_mass moved_sums

/* All cells, and parts: of one type each, see work_in(). */
static void plan_mass(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_sums(p, g, random);
    for (int k = 0; k < p->count; k++)
        p->launch[k].work[0].task.mass = part_of_ground(g, k);
}

static void settle_mass(const struct work *w, void *buffer)
{
    struct mass *const partial = (struct mass *)buffer, all = mass_none();
    for (int k = 0; k < w->task.workers; k++)
        mass_join(&all, &partial[k]);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    partial->drho = all.drho;
    partial->bad = all.bad;
}

/* ---- raise: no buffer ---- */

#define element_raise element_step
#define buffer_raise buffer_step
#define MODEL_raise "a cell: 19 populations loaded and stored, a tag"

static double moved_raise(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (2.0 * Q * (double)flow_bytes(v) + 1);
}

/* By small and large numbers, all cells and parts. */
static void plan_raise(struct plan *p, const struct ground *g, uint64_t *random)
{
    const double drho[] = {1e-5, -0.013, 700};
    plan_pieces(p, g, random);
    for (int k = 0; k < p->count; k++)
        for (int i = 0; i < p->launch[k].count; i++) {
            p->launch[k].work[i].task.mass = part_of_ground(g, k);
            p->launch[k].work[i].task.mass.by = drho[(k + i) % 3];
        }
}

/* ---- enstrophy: the same ---- */

#define element_enstrophy element_sums

static size_t buffer_enstrophy(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct enstrophy);
}

#define MODEL_enstrophy MODEL_sums
#define moved_enstrophy moved_sums
#define plan_enstrophy plan_sums

static void settle_enstrophy(const struct work *w, void *buffer)
{
    struct enstrophy *const partial = (struct enstrophy *)buffer, all = enstrophy_none();
    for (int k = 0; k < w->task.workers; k++)
        enstrophy_join(&all, &partial[k]);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    partial->sum = all.sum;
    partial->bad = all.bad;
}

/* ---- change: the same, and behind the structs the velocities before ---- */

#define element_change element_sums

static size_t remembered_bytes(const struct view *v)
{
    return flow_bytes(v) == sizeof(double) ? sizeof(double) : sizeof(float);
}

static size_t buffer_change(const struct work *w, const struct view *v)
{
    const size_t before = 3 * box_cells(&w->box) * remembered_bytes(v);
    return (size_t)w->task.workers * sizeof(struct change) +
           (before + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

#define MODEL_change                                                                               \
    "a cell: 19 populations loaded, its velocity before loaded and stored, a tag; a worker: its "  \
    "sums"

static double moved_change(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) *
               (Q * (double)flow_bytes(v) + 1 + 6 * (double)remembered_bytes(v)) +
           (double)w->task.workers * sizeof(struct change);
}

static void plan_change(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_sums(p, g, random);
    for (int k = 0; k < p->count; k++)
        p->launch[k].work[0].task.change.replace = k % 2;
}

static void settle_change(const struct work *w, void *buffer)
{
    struct change *const partial = (struct change *)buffer, all = change_none();
    for (int k = 0; k < w->task.workers; k++)
        change_join(&all, &partial[k]);
    change_carry(&all);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    *partial = all;
}

/* ---- near: no buffer, stretches of the list ---- */

/* All of the list; without cells where there are none. */
static struct box whole_list(const struct ground *g)
{
    return list_range(0, (int)g->view.near.count);
}

#define element_near element_step
#define buffer_near buffer_step
#define MODEL_near                                                                                 \
    "a cell: 19 populations loaded, 19 stored, 19 tags, 6 crossings of its links, its place"

static double moved_near(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) *
           (2.0 * Q * (double)flow_bytes(v) + Q + 6.0 * sizeof(float) + sizeof(struct near_cell));
}

/* The whole; a part in three stretches, one of them empty; and as a step with neighbours does it:
 * a stretch with the shell, the rest perhaps at the same time. */
static void plan_near(struct plan *p, const struct ground *g, uint64_t *random)
{
    const struct box all = whole_list(g);
    if (is_empty(&all))
        return;
    add_work(add_launch(p, "whole list"), all, 0);
    struct launch *l = add_launch(p, "parts of the list");
    struct box low = part_of(all, random), high = low, none = low;
    low.hi[0] = high.lo[0] = low.lo[0] + random_below(random, low.hi[0] - low.lo[0] + 1);
    none.hi[0] = none.lo[0];
    add_work(l, low, 0);
    add_work(l, none, 0);
    add_work(l, high, 0);
    l = add_launch(p, "shell and interior");
    low = high = all;
    low.hi[0] = high.lo[0] = random_below(random, all.hi[0] + 1);
    add_work(l, low, 0);
    add_work(l, high, 0);
    l->shell = 1;
}

/* ---- forces: sums over the list, of one body ---- */

#define element_forces element_sums

static size_t buffer_forces(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct forces);
}

#define MODEL_forces                                                                               \
    "a cell: 19 populations loaded, 19 tags, 6 crossings of its links, its place; a worker: its "  \
    "sums"

static double moved_forces(const struct work *w, const struct view *v)
{
    return moved_near(w, v) - (double)box_cells(&w->box) * Q * (double)flow_bytes(v) +
           (double)buffer_forces(w, v);
}

/* Bodies that have a surface, and one half-way. */
static void plan_forces(struct plan *p, const struct ground *g, uint64_t *random)
{
    static const int workers[] = {1, 3, 300};
    const struct box all = whole_list(g);
    for (int k = 0; k < 6 && !is_empty(&all); k++) {
        char what[sizeof p->launch->what];
        const int body = 1 + k % 3, count = workers[(k + k / 3) % 3];
        snprintf(what, sizeof what, "%s of the list, body %d, %d workers", k < 3 ? "all" : "part",
                 body, count);
        struct launch *const l = add_launch(p, what);
        add_work(l, k < 3 ? all : part_of(all, random), 0);
        l->work[0].task.workers = count;
        l->work[0].task.body = body;
    }
}

static void settle_forces(const struct work *w, void *buffer)
{
    struct forces *const partial = (struct forces *)buffer, all = forces_none();
    for (int k = 0; k < w->task.workers; k++)
        forces_join(&all, &partial[k]);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    memcpy(partial->force, all.force, sizeof all.force);
    memcpy(partial->pressure, all.pressure, sizeof all.pressure);
    memcpy(partial->torque, all.torque, sizeof all.torque);
    partial->bad = all.bad;
}

/* ---- cap_flow: sums over the links into a cap ---- */

#define element_cap_flow element_sums

static size_t buffer_cap_flow(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct cap_flow);
}

#define MODEL_cap_flow MODEL_forces

static double moved_cap_flow(const struct work *w, const struct view *v)
{
    return moved_near(w, v) - (double)box_cells(&w->box) * Q * (double)flow_bytes(v) +
           (double)buffer_cap_flow(w, v);
}

/* All caps of the ground, and a type that is none. */
static void plan_cap_flow(struct plan *p, const struct ground *g, uint64_t *random)
{
    static const int workers[] = {1, 3, 300};
    const struct box all = whole_list(g);
    int count = 0;
    for (int type = 0; type < TAG_ROWS && !is_empty(&all) && count < 6; type++) {
        const int boundary = g->rows[type].boundary;
        char what[sizeof p->launch->what];
        if (type && boundary != BOUNDARY_cap_velocity && boundary != BOUNDARY_cap_pressure)
            continue;
        snprintf(what, sizeof what, "%s of the list, type %d, %d workers",
                 count % 2 ? "part" : "all", type, workers[count % 3]);
        struct launch *const l = add_launch(p, what);
        add_work(l, count % 2 ? part_of(all, random) : all, 0);
        l->work[0].task.workers = workers[count++ % 3];
        l->work[0].task.body = type;
    }
}

static void settle_cap_flow(const struct work *w, void *buffer)
{
    struct cap_flow *const partial = (struct cap_flow *)buffer, all = cap_flow_none();
    for (int k = 0; k < w->task.workers; k++)
        cap_flow_join(&all, &partial[k]);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    *partial = all;
}

/* ---- scalar_sums: sums over the cells of a set; heat: over the links of a surface; dispersion:
 * over all links ---- */

#define element_scalar_sums element_sums

static size_t buffer_scalar_sums(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct scalar_sums);
}

#define MODEL_scalar_sums "a cell: 7 populations loaded, a tag; a worker: its sums"

static double moved_scalar_sums(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) *
               ((double)set_cell_bytes(&v->set[w->task.scalar_sums.set]) + 1) +
           (double)buffer_scalar_sums(w, v);
}

/* With extremes alone, and with sums. */
static void plan_scalar_sums(struct plan *p, const struct ground *g, uint64_t *random)
{
    for (int set = 1; set < g->view.sets; set++) {
        int k = p->count;
        plan_sums(p, g, random);
        for (; k < p->count; k++) {
            p->launch[k].work[0].task.scalar_sums.set = set;
            if (k % 2)
                p->launch[k].work[0].task.scalar_sums.scale =
                    (struct scalar_scale){0.25, 0x1p-20, 0x1p-20};
        }
    }
}

static void settle_scalar_part(struct scalar_part *to, const struct scalar_part *from)
{
    to->deviation = from->deviation;
    to->square = from->square;
    to->least = from->least;
    to->most = from->most;
    to->least_cell = from->least_cell;
    to->most_cell = from->most_cell;
    to->cells = from->cells;
}

static void settle_scalar_sums(const struct work *w, void *buffer)
{
    struct scalar_sums *const partial = (struct scalar_sums *)buffer, all = scalar_sums_none();
    for (int k = 0; k < w->task.workers; k++)
        scalar_sums_join(&all, &partial[k]);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    settle_scalar_part(&partial->fluid, &all.fluid);
    settle_scalar_part(&partial->solid, &all.solid);
    partial->enthalpy = all.enthalpy;
    partial->most_enthalpy = all.most_enthalpy;
    partial->bad_cell = all.bad_cell;
}

#define element_heat element_sums

static size_t buffer_heat(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct heat);
}

#define MODEL_heat "a cell: 7 tags; a worker: its sums"

static double moved_heat(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * 7 + (double)buffer_heat(w, v);
}

/* Through bodies and faces. */
static void plan_surfaces(struct plan *p, const struct ground *g, uint64_t *random, struct box all)
{
    static const int workers[] = {1, 3, 300}, surfaces[] = {1, 2, -1, 3, -2, -6};
    for (int set = 1; set < g->view.sets; set++)
        for (int k = 0; k < 6 && !is_empty(&all); k++) {
            const int count = workers[(k + k / 3) % 3];
            char what[sizeof p->launch->what];
            snprintf(what, sizeof what, "%s, surface %d, %d workers", k < 3 ? "all" : "part",
                     surfaces[k], count);
            struct launch *const l = add_launch(p, what);
            add_work(l, k < 3 ? all : part_of(all, random), 0);
            l->work[0].task.workers = count;
            l->work[0].task.heat = (struct heat_task){set, surfaces[k]};
        }
}

static void plan_heat(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_surfaces(p, g, random, ground_all(g));
}

static void settle_heat(const struct work *w, void *buffer)
{
    struct heat *const partial = (struct heat *)buffer, all = heat_none();
    for (int k = 0; k < w->task.workers; k++)
        heat_join(&all, &partial[k]);
    heat_carry(&all);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    *partial = all;
}

#define element_heat_near element_sums
#define buffer_heat_near buffer_heat
#define MODEL_heat_near "a cell: its place; a worker: its sums"
#define settle_heat_near settle_heat

static double moved_heat_near(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * sizeof(struct near_cell) + (double)buffer_heat(w, v);
}

static void plan_heat_near(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_surfaces(p, g, random, whole_list(g));
}

#define element_dispersion element_sums

static size_t buffer_dispersion(const struct work *w, const struct view *v)
{
    (void)v;
    return (size_t)w->task.workers * sizeof(struct dispersion);
}

#define MODEL_dispersion "a cell: 19 and 7 populations loaded, 7 tags; a worker: its sums"

static double moved_dispersion(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (Q * (double)flow_bytes(v) + 7) +
           (double)box_cells(&w->box) * (double)set_cell_bytes(&v->set[w->task.dispersion.set]) +
           (double)buffer_dispersion(w, v);
}

static void plan_dispersion(struct plan *p, const struct ground *g, uint64_t *random)
{
    static const int workers[] = {1, 3, 300};
    for (int set = 1; set < g->view.sets; set++)
        for (int k = 0; k < 3; k++) {
            const struct box all = ground_all(g);
            char what[sizeof p->launch->what];
            snprintf(what, sizeof what, "%s, %d workers", k < 2 ? "all" : "part", workers[k]);
            struct launch *const l = add_launch(p, what);
            add_work(l, k < 2 ? all : part_of(all, random), 0);
            l->work[0].task.workers = workers[k];
            l->work[0].task.dispersion = (struct dispersion_task){set, 1};
        }
}

static void settle_dispersion(const struct work *w, void *buffer)
{
    struct dispersion *const partial = (struct dispersion *)buffer, all = dispersion_none();
    for (int k = 0; k < w->task.workers; k++)
        dispersion_join(&all, &partial[k]);
    memset(buffer, 0, (size_t)w->task.workers * sizeof *partial);
    *partial = all;
}

/* ---- scalar_put: a double a cell, read; scalar: the same, written ---- */

#define element_scalar_put element_begin
#define buffer_scalar_put buffer_begin
#define MODEL_scalar_put "a cell: a double and 19 populations loaded, 7 populations stored, a tag"

static double moved_scalar_put(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (Q * (double)flow_bytes(v) + 1) +
           (double)box_cells(&w->box) * (double)set_cell_bytes(&v->set[w->task.set]) +
           (double)buffer_begin(w, v);
}

static void plan_scalar_put(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_sets(p, g, random, 1);
}

#define element_scalar element_begin
#define buffer_scalar buffer_begin
#define MODEL_scalar "a cell: 7 populations loaded, a double stored, a tag"

static double moved_scalar(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * ((double)set_cell_bytes(&v->set[w->task.set]) + 1) +
           (double)buffer_begin(w, v);
}

#define plan_scalar plan_scalar_put

/* ---- gather, slope, enter, share, coalesce: ranges of lists of a seam, in the buffer ---- */

static size_t element_gather(const struct view *v)
{
    return flow_bytes(v);
}

#define buffer_gather seam_bytes
#define MODEL_gather "a value: loaded and stored, where it lies"

static double moved_gather(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) *
           (2.0 * (double)flow_bytes(v) + (double)sizeof(struct seam_value));
}

/* A range of a list, with places behind it: the whole; a part; several, one of them empty, two at
 * once. There are not more mailboxes than populations. */
static void plan_range(struct plan *p, const struct ground *g, uint64_t *random, int substep)
{
    const struct population_set *const flow = &g->view.set[SET_flow];
    const size_t mailboxes = flow->q * flow->stride / 8;
    const int most = mailboxes < 300 ? (int)mailboxes : 300;
    const struct box all = list_range(0, 1 + random_below(random, most));
    const int first = p->count;
    add_work(add_launch(p, "whole list"), all, 0);
    add_work(add_launch(p, "part of the list"), part_of(all, random), 0);
    struct launch *const l = add_launch(p, "ranges");
    for (int k = 0; k < 4; k++) {
        struct box part = part_of(all, random);
        if (k == 1)
            part.hi[0] = part.lo[0];
        add_work(l, part, 0);
    }
    l->shell = 2;
    for (int k = first; k < p->count; k++)
        for (int i = 0; i < p->launch[k].count; i++)
            p->launch[k].work[i].task.seam.substep = substep;
}

static void plan_gather(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_range(p, g, random, 0);
}

#define element_slope element_gather
#define buffer_slope seam_bytes
#define MODEL_slope "a value: 7 loaded, 4 numbers stored, 6 numbers of neighbours"

static double moved_slope(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) *
           (7.0 * (double)flow_bytes(v) + 4.0 * (double)remembered_bytes(v) + 6 * sizeof(uint32_t));
}

#define plan_slope plan_gather

#define element_enter element_gather
#define buffer_enter seam_bytes
#define MODEL_enter                                                                                \
    "a link: a population with slopes loaded, another one loaded, 2 stored, the link"

static double moved_enter(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) *
           (3.0 * (double)flow_bytes(v) + 4.0 * (double)remembered_bytes(v) +
            (double)sizeof(struct seam_link));
}

static void plan_enter(struct plan *p, const struct ground *g, uint64_t *random)
{
    plan_range(p, g, random, 1);
    plan_range(p, g, random, 2);
}

#define element_share element_gather
#define buffer_share seam_bytes
#define MODEL_share "a value: loaded and stored, its number"

static double moved_share(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) * (2.0 * (double)flow_bytes(v) + sizeof(uint32_t));
}

#define plan_share plan_gather

#define element_coalesce element_gather
#define buffer_coalesce seam_bytes
#define MODEL_coalesce "a group: 8 numbers and values loaded, a population stored"

static double moved_coalesce(const struct work *w, const struct view *v)
{
    return (double)box_cells(&w->box) *
           (9.0 * (double)flow_bytes(v) + (double)sizeof(struct seam_group) + 8 * sizeof(uint32_t));
}

#define plan_coalesce plan_gather

/* ---- all of them ---- */

/* Partial results of sums may be shared in any way among the workers. */
#define SETTLE_step(name) NULL
#define SETTLE_cells(name) NULL
#define SETTLE_list(name) NULL
#define SETTLE_values(name) NULL
#define SETTLE_sums(name) settle_##name
#define SETTLE_list_sums(name) settle_##name

const struct kernel_test kernel_tests[KERNELS] = {
#define X(name, loop, ...)                                                                         \
    [KERNEL_##name] = {#name,        MODEL_##name, element_##name,     buffer_##name,              \
                       moved_##name, plan_##name,  SETTLE_##loop(name)},
    KERNEL_LIST(X)
#undef X
};

/* So many numbers lie before, between and behind the buffers of a launch: not a multiple of any
 * vector, so that buffers begin anywhere. */
enum { BETWEEN = 17 };

void plan_make(struct plan *p, enum kernel kernel, const struct ground *g, uint64_t seed)
{
    const struct kernel_test *const test = &kernel_tests[kernel];
    const struct view *const v = &g->view;
    const size_t between = BETWEEN * test->element(v);
    p->count = 0;
    test->plan(p, g, &seed);
    for (struct launch *l = p->launch; l < p->launch + p->count; l++) {
        l->whole = between;
        l->seed = random_bits(&seed);
        for (int k = 0; k < l->count; k++) {
            l->at[k] = l->whole;
            l->bytes[k] = is_empty(&l->work[k].box) ? 0 : test->buffer(&l->work[k], v);
            l->whole += l->bytes[k] + between;
        }
    }
}
