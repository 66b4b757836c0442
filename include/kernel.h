/* The list of kernels. Each takes a view, a box of its cells and a task. In brackets: the member of
 * the task with the arguments of this kernel.
 *
 *   step    one lattice update of the fluid cells of the box
 *   pack    [direction] populations that leave the box along it, after a step -> buffer
 *   unpack  [direction] buffer -> populations; the box lies in the ghost layer opposite to it
 *   get     [set] canonical populations -> buffer            [q][cells of the box], stored type
 *   put     [set] buffer -> canonical populations            [q][cells of the box], stored type
 *   begin   [initial] initial flow, see initial.h -> populations
 *           buffer: density - 1 in place of the flow's       [cells of the box], double; or NULL
 *   flow    density - 1 and velocity -> buffer               [cells of the box][4], double
 *   curl    curl u -> buffer                                 [cells of the box][3], double
 *   average [average] density - 1, velocity and scalars, added to the sums in the buffer, see
 *           means.h                                          [components][cells of the box], double
 *   sums    sums and largest values, see sums.h -> buffer    [workers] struct sums
 *   drift   sum of velocities -> buffer                      [workers] struct drift
 *   near    one lattice update of listed cells, see surface.h
 *   forces  [body] momentum that the coming step gives to it -> buffer  [workers] struct forces
 *   cap_flow    [body] what leaves in the coming step through a cap, whose cells have this type,
 *           -> buffer                                        [workers] struct cap_flow
 *   enstrophy   sum of |curl u|^2 / 2 -> buffer              [workers] struct enstrophy
 *   scalar_put  [set] values of a scalar, and the flow's velocity -> populations of its set
 *           buffer: values                                   [cells of the box], double
 *   scalar  [set] values of a scalar -> buffer               [cells of the box], double
 *   scalar_sums [scalar_sums] sums and extremes of a scalar, see scalar_sums.h -> buffer
 *                                                            [workers] struct scalar_sums
 *   heat    [heat] what the coming step of a scalar brings into the fluid through a face, a patch
 *           or the surface of a body -> buffer               [workers] struct heat
 *   heat_near   [heat] the same of listed cells, which heat leaves out
 *   dispersion  [dispersion] the flux of a scalar with a mean gradient in the coming step -> buffer
 *                                                            [workers] struct dispersion
 *   change  [change] sums of |u - before|^2 and |u|^2 -> buffer  [workers] struct change
 *           u is rounded to the type of `before`, and replaces it if `replace`
 *   mass    [mass] sum of density - 1, see sums.h -> buffer  [workers] struct mass
 *   raise   [mass] `by` times w_i added to all populations
 *   gather, slope, enter, share, coalesce   [seam] between two levels of a refined grid, see seam.h
 *
 * Values of scalars are relative to their reference.
 *
 * Cells of a box are ordered x fastest, then y, z. For cells that are not fluid, get, flow and curl
 * write zeros; average adds zeros; unpack, put and begin change nothing; sums leave them out. Pack
 * takes what lies there, or zeros where there is no place: unpack leaves it out. `odd` is the
 * parity of the current step for step, near, pack and unpack, and of the coming step for the
 * others.
 *
 * Near, forces, cap_flow and heat_near go over the view's list, gather to coalesce over lists of
 * the seam. Their boxes are from list_range.
 *
 * A launch of sums has one box. Its `workers` (threads of a GPU or of the host) share the cells,
 * and each writes one partial result. So no worker waits for another, and no result depends on an
 * order. */
#ifndef TAGFLOW_KERNEL_H
#define TAGFLOW_KERNEL_H

#include "cap_flow.h"
#include "cell.h"
#include "curl.h"
#include "dispersion.h"
#include "initial.h"
#include "mass.h"
#include "means.h"
#include "seam.h"
#include "sums.h"
#include "values.h"

/* X(name, loop, open, result)
 *
 *   loop    what a thread of a GPU works on. cells: one cell of a box, in order, by cell_<name>;
 *           list: one entry of a list, by entry_<name>; sums, list_sums: as a worker, some cells or
 *           entries into one partial result; values: one value of a message, by value_<name>
 *           (values.h), which does as cell_<name>; step: see cuda/kernels.h
 *   open    GPU kernel for cases with open boundaries or buoyancy. never: the same kernel; either:
 *           a second one; always: the only one; own: see cuda/kernels.h
 *   result  of cells: bytes of the results for each cell, `set` being the task's; 0: none. Of sums:
 *           struct of a partial result, which begins as <result>_none() */
/* clang-format off */
#define KERNEL_LIST(X)                                                                             \
    X(step,        step,      own,    0)                                                           \
    X(pack,        values,    never,  0)                                                           \
    X(unpack,      values,    never,  0)                                                           \
    X(get,         cells,     never,  set_cell_bytes(set))                                         \
    X(put,         cells,     never,  0)                                                           \
    X(begin,       cells,     always, 0)                                                           \
    X(flow,        cells,     either, 4 * sizeof(double))                                          \
    X(curl,        cells,     either, 3 * sizeof(double))                                          \
    X(average,     cells,     either, 0)                                                           \
    X(sums,        sums,      either, sums)                                                        \
    X(drift,       sums,      either, drift)                                                       \
    X(enstrophy,   sums,      either, enstrophy)                                                   \
    X(near,        list,      always, 0)                                                           \
    X(forces,      list_sums, always, forces)                                                      \
    X(cap_flow,    list_sums, always, cap_flow)                                                    \
    X(scalar_put,  cells,     always, 0)                                                           \
    X(scalar,      cells,     never,  sizeof(double))                                              \
    X(scalar_sums, sums,      always, scalar_sums)                                                 \
    X(heat,        sums,      always, heat)                                                        \
    X(heat_near,   list_sums, always, heat)                                                        \
    X(dispersion,  sums,      always, dispersion)                                                  \
    X(change,      sums,      always, change)                                                      \
    X(mass,        sums,      always, mass)                                                        \
    X(raise,       cells,     always, 0)                                                           \
    X(gather,      list,      never,  0)                                                           \
    X(slope,       list,      never,  0)                                                           \
    X(enter,       list,      never,  0)                                                           \
    X(share,       list,      never,  0)                                                           \
    X(coalesce,    list,      never,  0)
/* clang-format on */

enum kernel {
#define X(name, ...) KERNEL_##name,
    KERNEL_LIST(X)
#undef X
        KERNELS
};

/* Arguments of kernels that take several. */
struct average_task {
    struct average_layout layout;
    double samples; /* their number, this one included */
};
struct change_task {
    void *before; /* [3][cells of the box], type `remembered` */
    int replace;
};
struct mass_task {
    const uint8_t *parts; /* number of each cell's part of the fluid, by host_index; NULL: the
                           * kernel takes all fluid */
    int part;             /* the part that the kernel takes */
    double by;            /* raise: added to the density */
};
struct scalar_sums_task {
    int set;
    struct scalar_scale scale;
};
struct heat_task {
    int set, surface; /* see heat_behind */
};
struct dispersion_task {
    int set;
    double scale; /* power of two, by which sums are multiplied */
};
struct seam_task {
    const struct seam_lists *lists; /* in memory of the backend */
    int substep;                    /* enter: 1 or 2 */
};

struct task {
    int odd;
    int open;    /* set by the backend: there may be open boundaries, or scalars */
    int workers; /* sums: number of workers, at least 1; 0 for other kernels */
    void *buffer;
    union {            /* one for each kernel, named in its line above */
        int direction; /* 1..18, towards the receiver */
        int set;
        int body; /* 1 + its number */
        const struct initial *initial;
        struct average_task average;
        struct change_task change;
        struct mass_task mass;
        struct scalar_sums_task scalar_sums;
        struct heat_task heat;
        struct dispersion_task dispersion;
        struct seam_task seam;
    };
};

/* A box, or a range of a list, and the task on it. */
struct work {
    struct box box;
    struct task task;
};
enum { WORK_MOST = Q - 1 }; /* boxes of a launch: one message per direction */

/* Entries from <= k < to of a list, as the box of a work. */
TAGFLOW_FN struct box list_range(int from, int to)
{
    const struct box range = {{from, 0, 0}, {to, 1, 1}};
    return range;
}

/* Does population i travel in the message along `direction`? A message along an axis carries the 5
 * populations that cross the face, one along a diagonal carries 1. */
TAGFLOW_FN int travels(int direction, int i)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    for (int a = 0; a < 3; a++)
        if (c[direction][a] && c[i][a] != c[direction][a])
            return 0;
    return 1;
}

/* Bytes of a set's populations in a cell; the most that any set of the view has. */
TAGFLOW_FN size_t set_cell_bytes(const struct population_set *set)
{
    return (size_t)set->q * set->bits / 8;
}

TAGFLOW_FN size_t view_cell_bytes(const struct view *v)
{
    size_t most = 0;
    for (int k = 0; k < v->sets; k++)
        most = set_cell_bytes(&v->set[k]) > most ? set_cell_bytes(&v->set[k]) : most;
    return most;
}

/* Populations per cell in the message along `direction`, for a set with q velocities. */
TAGFLOW_FN int travellers(int direction, int q)
{
    return direction <= 6 ? (q == Q ? 5 : 1) : q == Q;
}

/* A message holds one set after the other, each [travellers][cells], aligned to its elements.
 * Returns the offset of `set` in bytes; with set = v->sets, the size of the message. */
TAGFLOW_FN size_t message_at(const struct view *v, int direction, size_t cells, int set)
{
    size_t at = 0;
    for (int k = 0; k < v->sets && k <= set; k++) {
        const size_t bytes = v->set[k].bits / 8;
        at = (at + bytes - 1) / bytes * bytes;
        if (k < set)
            at += (size_t)travellers(direction, v->set[k].q) * cells * bytes;
    }
    return at;
}

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Copies one element of 32 or 64 bits. */
TAGFLOW_FN void element_copy(int bits, void *to, size_t at, const void *from, size_t place)
{
    if (bits == 64)
        ((uint64_t *)to)[at] = ((const uint64_t *)from)[place];
    else
        ((uint32_t *)to)[at] = ((const uint32_t *)from)[place];
}

/* Has the cell places for its populations? */
TAGFLOW_FN int view_has_place(const struct view *v, cell_index cell)
{
    return !v->place || has_place(v->place, cell);
}

/* Packs the one population of a D3Q7 set that travels along the message's direction, if any.
 * Elements of sets other than the flow have 32 or 64 bits. */
TAGFLOW_FN void set_pack(const struct view *v, int set, struct task t, size_t cell, size_t cells,
                         int x, int y, int z)
{
    const struct population_set s = v->set[set];
    char *const buffer = (char *)t.buffer + message_at(v, t.direction, cells, set);
    if (t.direction >= s.q)
        return;
    const uint64_t zero = 0;
    if (view_has_place(v, view_index(v, x, y, z)))
        element_copy(s.bits, buffer, cell, s.populations,
                     store_address(v, set, t.odd, t.direction, x, y, z));
    else
        element_copy(s.bits, buffer, cell, &zero, 0);
}

TAGFLOW_FN void set_unpack(const struct view *v, int set, struct task t, size_t cell, size_t cells,
                           int x, int y, int z)
{
    const struct population_set s = v->set[set];
    const char *const buffer = (const char *)t.buffer + message_at(v, t.direction, cells, set);
    if (t.direction < s.q && view_holds(v, set, view_index(v, x, y, z)))
        element_copy(s.bits, s.populations, store_address(v, set, t.odd, t.direction, x, y, z),
                     buffer, cell);
}

/* The canonical populations of a set beside the flow. */
TAGFLOW_FN void set_get(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                        int y, int z)
{
    const struct population_set s = v->set[t.set];
    const uint64_t zero = 0;
    for (int i = 0; i < s.q; i++)
        if (view_holds(v, t.set, view_index(v, x, y, z)))
            element_copy(s.bits, t.buffer, (size_t)i * cells + cell, s.populations,
                         closed_address(v, t.set, t.odd, i, x, y, z));
        else
            element_copy(s.bits, t.buffer, (size_t)i * cells + cell, &zero, 0);
}

TAGFLOW_FN void set_put(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                        int y, int z)
{
    const struct population_set s = v->set[t.set];
    for (int i = 0; i < s.q && view_holds(v, t.set, view_index(v, x, y, z)); i++)
        element_copy(s.bits, s.populations, closed_address(v, t.set, t.odd, i, x, y, z), t.buffer,
                     (size_t)i * cells + cell);
}

/* The kernels' work on one cell, which is number `cell` of the box's `cells`. */

TAGFLOW_FN void cell_pack(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z)
{
    const stored *const populations = (const stored *)v->set[SET_flow].populations;
    stored *const buffer = (stored *)t.buffer;
    const int found = view_has_place(v, view_index(v, x, y, z));
    size_t place = cell;
    for (int i = 1; i < Q; i++)
        if (travels(t.direction, i)) {
            buffer[place] =
                found ? populations[store_address(v, SET_flow, t.odd, i, x, y, z)] : stored_of(0);
            place += cells;
        }
    for (int set = 1; set < v->sets; set++)
        set_pack(v, set, t, cell, cells, x, y, z);
}

TAGFLOW_FN void cell_unpack(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                            int y, int z)
{
    stored *const populations = (stored *)v->set[SET_flow].populations;
    const stored *const buffer = (const stored *)t.buffer;
    const int fluid = view_fluid(v, view_index(v, x, y, z));
    size_t place = cell;
    for (int i = 1; i < Q && fluid; i++)
        if (travels(t.direction, i)) {
            populations[store_address(v, SET_flow, t.odd, i, x, y, z)] = buffer[place];
            place += cells;
        }
    for (int set = 1; set < v->sets; set++)
        set_unpack(v, set, t, cell, cells, x, y, z);
}

TAGFLOW_FN void cell_get(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                         int y, int z)
{
    const stored *const populations = (const stored *)v->set[SET_flow].populations;
    stored *const buffer = (stored *)t.buffer;
    const int fluid = view_fluid(v, view_index(v, x, y, z));
    if (t.set != SET_flow) {
        set_get(v, t, cell, cells, x, y, z);
        return;
    }
    for (int i = 0; i < Q; i++)
        buffer[(size_t)i * cells + cell] =
            fluid ? populations[canonical_address(v, t.odd, i, x, y, z)] : stored_of(0);
}

TAGFLOW_FN void cell_put(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                         int y, int z)
{
    stored *const populations = (stored *)v->set[SET_flow].populations;
    const stored *const buffer = (const stored *)t.buffer;
    if (t.set != SET_flow) {
        set_put(v, t, cell, cells, x, y, z);
        return;
    }
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    for (int i = 0; i < Q; i++)
        populations[canonical_address(v, t.odd, i, x, y, z)] = buffer[(size_t)i * cells + cell];
}

TAGFLOW_FN void cell_begin(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                           int y, int z)
{
    stored *const populations = (stored *)v->set[SET_flow].populations;
    const double *const drho = (const double *)t.buffer;
    double f[Q];
    (void)cells;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    initial_populations(t.initial, v, drho ? drho + cell : NULL, x, y, z, f);
    for (int i = 0; i < Q; i++)
        populations[canonical_address(v, t.odd, i, x, y, z)] = stored_of_double(f[i]);
}

/* The value of a scalar in a cell, 0 where no set is held. In the variant's arithmetic, as the step
 * has it. */
TAGFLOW_RARE double value_of_scalar(const struct view *v, int set, int odd, int x, int y, int z)
{
    const struct around a = around(v, x, y, z);
    const cell_index n = view_index(v, x, y, z);
    const struct set_places p = set_places_of(v, n, &a);
    return (double)cell_value(v, set, odd, n, &a, &p);
}

/* The equilibrium of the value in the flow. */
TAGFLOW_FN void cell_scalar_put(const struct view *v, struct task t, size_t cell, size_t cells,
                                int x, int y, int z)
{
    set_stored *const g = (set_stored *)v->set[t.set].populations;
    const struct scalar_row *const row =
        scalar_row(v, t.set, v->tags[view_index(v, x, y, z)] & TAG_ROW);
    const double value = ((const double *)t.buffer)[cell];
    double flow[4], f[Q_AXES];
    (void)cells;
    if (!row->holds)
        return;
    flow_of(v, t.odd, t.open, x, y, z, flow);
    f[0] = (value / row->inverse - 0.5 * row->source) - 0.75 * value;
    if (row->from) /* its set comes before this one */
        f[0] -= 0.5 * row->gain * value_of_scalar(v, row->from, t.odd, x, y, z);
    for (int k = 0; k < 3; k++) {
        const double carried = row->flow * value * flow[1 + k];
        f[2 * k + 1] = 0.125 * value + 0.5 * carried;
        f[2 * k + 2] = 0.125 * value - 0.5 * carried;
    }
    for (int i = 0; i < Q_AXES; i++)
        g[closed_address(v, t.set, t.odd, i, x, y, z)] = (set_stored)f[i];
}

TAGFLOW_FN void cell_scalar(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                            int y, int z)
{
    (void)cells;
    ((double *)t.buffer)[cell] = value_of_scalar(v, t.set, t.odd, x, y, z);
}

TAGFLOW_FN void cell_flow(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z)
{
    double flow[4];
    (void)cells;
    flow_of(v, t.odd, t.open, x, y, z, flow);
    for (int k = 0; k < 4; k++)
        ((double *)t.buffer)[4 * cell + (size_t)k] = flow[k];
}

TAGFLOW_FN void cell_curl(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z)
{
    double w[3] = {0, 0, 0};
    (void)cells;
    if (view_fluid(v, view_index(v, x, y, z)))
        curl_of(v, t.odd, t.open, x, y, z, w);
    for (int a = 0; a < 3; a++)
        ((double *)t.buffer)[3 * cell + (size_t)a] = w[a];
}

/* Adds the scalars of a cell to averages, before its velocity; sums: of this cell. */
TAGFLOW_RARE void average_scalars(const struct view *v, struct task t, double *sums, size_t cells,
                                  int x, int y, int z, const double u[3])
{
    const struct average_layout l = t.average.layout;
    const double *const velocity =
        l.velocity == AVERAGE_NONE ? NULL : sums + (size_t)l.velocity * cells;
    const struct around a = around(v, x, y, z);
    double *sum = sums + (size_t)l.scalar * cells;
    const cell_index n = owned_index(v, x, y, z);
    for (int set = 1; set < v->sets; set++) {
        if (!(l.sets >> set & 1))
            continue;
        average_scalar(sum, velocity, cells, t.average.samples,
                       (double)set_value(v, set, t.odd, n, &a), u);
        sum += (size_t)average_of_scalar(l) * cells;
    }
}

TAGFLOW_FN void cell_average(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                             int y, int z)
{
    const struct average_layout l = t.average.layout;
    double *const sums = (double *)t.buffer + cell;
    double flow[4];
    flow_of(v, t.odd, t.open, x, y, z, flow);
    if (l.density != AVERAGE_NONE)
        average_mean(sums + (size_t)l.density * cells, t.average.samples, flow[0]);
    if (t.open && l.sets)
        average_scalars(v, t, sums, cells, x, y, z, flow + 1);
    if (l.velocity != AVERAGE_NONE)
        average_velocity(sums, cells, l, t.average.samples, flow + 1);
}

/* The work of sums: adds a cell to the worker's partial result. */
TAGFLOW_FN void cell_sums(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z, struct sums *sums)
{
    double flow[4];
    (void)cells;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    flow_of(v, t.odd, t.open, x, y, z, flow);
    sums_add(sums, flow[0], flow_square(flow[1], flow[2], flow[3]), (int64_t)cell);
}

TAGFLOW_FN void cell_drift(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                           int y, int z, struct drift *sum)
{
    double flow[4];
    (void)cell, (void)cells;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    flow_of(v, t.odd, t.open, x, y, z, flow);
    drift_add(sum, flow + 1);
}

/* Does kernel mass or raise take the cell? */
TAGFLOW_FN int part_counts(const struct view *v, struct mass_task of, int x, int y, int z)
{
    const cell_index n = owned_index(v, x, y, z);
    return view_fluid(v, n) && (!of.parts || of.parts[host_index(v, x, y, z)] == of.part);
}

TAGFLOW_FN void cell_mass(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z, struct mass *sum)
{
    stored *at[Q];
    double drho = 0;
    (void)cell, (void)cells;
    if (!part_counts(v, t.mass, x, y, z))
        return;
    cell_lies(v, t.odd, x, y, z, at);
    for (int i = 0; i < Q; i++)
        drho += (double)value_of(*at[i]);
    mass_add(sum, drho);
}

TAGFLOW_FN void cell_raise(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                           int y, int z)
{
    stored *at[Q];
    (void)cell, (void)cells;
    if (!part_counts(v, t.mass, x, y, z))
        return;
    cell_lies(v, t.odd, x, y, z, at);
    for (int i = 0; i < Q; i++)
        *at[i] = raised(*at[i], raise_by(t.mass.by, i));
}

TAGFLOW_FN void cell_scalar_sums(const struct view *v, struct task t, size_t cell, size_t cells,
                                 int x, int y, int z, struct scalar_sums *sums)
{
    const struct around a = around(v, x, y, z);
    const cell_index n = owned_index(v, x, y, z);
    const int set = t.scalar_sums.set, type = v->tags[n] & TAG_ROW;
    const struct scalar_row *const row = scalar_row(v, set, type);
    number g[Q_AXES];
    (void)cells;
    if (!row->holds)
        return;
    set_arrived(v, set, t.odd, n, &a, g);
    const double value =
        (double)scalar_value(g, scalar_parameters(row), set_value(v, row->from, t.odd, n, &a));
    const double e = ((((double)g[1] + (double)g[2]) + ((double)g[3] + (double)g[4])) +
                      ((double)g[5] + (double)g[6])) +
                     (double)g[0];
    scalar_sums_add(sums, v->rows[type].fluid, value, e, t.scalar_sums.scale, (int64_t)cell);
}

/* Is a cell of this type one for heat_near? */
TAGFLOW_FN int heat_listed(const struct view *v, int set, int type)
{
    return v->rows[type].fluid == FLUID_listed || scalar_row(v, set, type)->holds == HOLDS_listed;
}

TAGFLOW_FN void cell_heat(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z, struct heat *sum)
{
    (void)cell, (void)cells;
    if (!heat_listed(v, t.heat.set, v->tags[owned_index(v, x, y, z)] & TAG_ROW))
        heat_of_cell(v, t.odd, t.heat.set, t.heat.surface, x, y, z, NULL, sum);
}

TAGFLOW_FN void cell_dispersion(const struct view *v, struct task t, size_t cell, size_t cells,
                                int x, int y, int z, struct dispersion *sum)
{
    (void)cell, (void)cells;
    dispersion_of_cell(v, t.odd, t.dispersion.set, t.dispersion.scale, x, y, z, sum);
}

TAGFLOW_FN void cell_enstrophy(const struct view *v, struct task t, size_t cell, size_t cells,
                               int x, int y, int z, struct enstrophy *sum)
{
    double w[3];
    (void)cell, (void)cells;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    curl_of(v, t.odd, t.open, x, y, z, w);
    enstrophy_add(sum, w);
}

/* How a velocity is kept, to compare a later one with it. */
#if TAGFLOW_STORAGE == 64
typedef double remembered;
#else
typedef float remembered;
#endif

/* |u - before|^2 and |u|^2 of a cell. before: of this cell; `apart`: numbers between its
 * components. */
TAGFLOW_FN void change_squares(const double u[3], remembered *before, size_t apart, int replace,
                               double *change, double *whole)
{
    *change = *whole = 0;
    for (size_t a = 0; a < 3; a++) {
        const remembered rounded = (remembered)u[a];
        const double now = (double)rounded, difference = now - (double)before[a * apart];
        *change += difference * difference;
        *whole += now * now;
        if (replace)
            before[a * apart] = rounded;
    }
}

TAGFLOW_FN void cell_change(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                            int y, int z, struct change *sum)
{
    double flow[4], change, whole;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    flow_of(v, t.odd, t.open, x, y, z, flow);
    change_squares(flow + 1, (remembered *)t.change.before + cell, cells, t.change.replace, &change,
                   &whole);
    change_add(sum, change, whole);
}

/* The kernels' work on entry k of a list. */

TAGFLOW_FN void entry_near(const struct view *v, struct task t, size_t k)
{
    near_step(v, t.odd, &v->near.cell[k]);
}

TAGFLOW_FN void entry_forces(const struct view *v, struct task t, size_t k, struct forces *sum)
{
    near_forces(v, t.odd, &v->near.cell[k], t.body, sum);
}

TAGFLOW_FN void entry_cap_flow(const struct view *v, struct task t, size_t k, struct cap_flow *sum)
{
    near_cap_flow(v, t.odd, &v->near.cell[k], t.body, sum);
}

TAGFLOW_FN void entry_heat_near(const struct view *v, struct task t, size_t k, struct heat *sum)
{
    const struct near_cell *const near = &v->near.cell[k];
    const int x = near->at[0], y = near->at[1], z = near->at[2];
    if (heat_listed(v, t.heat.set, v->tags[owned_index(v, x, y, z)] & TAG_ROW))
        heat_of_cell(v, t.odd, t.heat.set, t.heat.surface, x, y, z, near, sum);
}

TAGFLOW_FN void entry_gather(const struct view *v, struct task t, size_t k)
{
    seam_gather(v, t.seam.lists, t.odd, k);
}

TAGFLOW_FN void entry_slope(const struct view *v, struct task t, size_t k)
{
    (void)v;
    seam_slope(t.seam.lists, k);
}

TAGFLOW_FN void entry_enter(const struct view *v, struct task t, size_t k)
{
    seam_enter(v, t.seam.lists, t.seam.substep, k);
}

TAGFLOW_FN void entry_share(const struct view *v, struct task t, size_t k)
{
    (void)v;
    seam_share(t.seam.lists, k);
}

TAGFLOW_FN void entry_coalesce(const struct view *v, struct task t, size_t k)
{
    seam_coalesce(v, t.seam.lists, t.odd, k);
}

#endif
#endif
