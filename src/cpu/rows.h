/* Common parts of a variant's step: addresses of a row's populations, the constants of a
 * run, the loops of the operators (rows.c), and the queue of single cells (queue.c). */
#ifndef TAGFLOW_CPU_ROWS_H
#define TAGFLOW_CPU_ROWS_H

#include "cpu/lanes.h" /* first: it defines `real` */

#include <string.h>

#include "boundary.h"
#include "cpu/kernels.h"
#include "sponge.h"
#include "subgrid.h"

/* Distances of prefetches, in populations. A step reads 19 streams, more than the processor's own
 * prefetcher follows. A few cache lines ahead go to the nearest cache. Far ahead, about the latency
 * of memory when all cores are busy, lines go to the next cache. */
enum { AHEAD = 4 * 64 / sizeof(stored), FAR_AHEAD = 16 * 64 / sizeof(stored) };

TAGFLOW_FN void prefetch(const stored *p)
{
    __builtin_prefetch(p + AHEAD, 1);
    __builtin_prefetch(p + FAR_AHEAD, 1, 2);
}

/* Addresses of a row's populations at this step, per pair of directions: those of direction i at
 * `own`, in the row itself, those of i + 1 at `next`, in the row at c_i. The population of a link
 * from a wall is in the other slot of its pair: at own + flip, or at next - flip. pitch: from a
 * cell to the same cell of the next row. */
struct row {
    stored *rest, *own[9], *next[9];
    ptrdiff_t flip, pitch;
    int nx;
};

/* The same for cell 0 of the whole array: the common part of all rows of a step. */
TAGFLOW_FN struct row rows_at(const struct view *v, int odd)
{
    const struct slots s = slots_at(v, odd, sizeof(stored));
    const ptrdiff_t stride = (ptrdiff_t)v->set[SET_flow].stride;
    struct row r = {
        .rest = (stored *)s.rest,
        .flip = odd ? stride : -stride,
        .pitch = v->row,
        .nx = v->n[0],
    };
    for (int k = 0; k < Q / 2; k++) {
        r.own[k] = (stored *)s.own[k];
        r.next[k] = (stored *)s.next[k];
    }
    return r;
}

/* Constants of a run. */
struct run_parameters {
    struct collision_parameters collision;
    struct wall_parameters wall;
    const uint32_t *links, *ruled; /* [x - first] masks of mixed runs; of runs with a wall */
    int first;                     /* the run's first cell */
    const double *damping_along;   /* [x] damping of the subgrid model along x, NULL: none */
    real damping;                  /* the rest of the damping: a factor */
    const double *target;          /* target of a sponge, NULL: no sponge */
    const double *sponge;          /* its strengths, [x] or one for the row */
    int sponge_along;              /* the strength varies along the row */
    const double *resist;          /* from resist_of */
    int subgrid, loops;            /* for operators that are compiled for all */
    /* With scalars, [x]: */
    const number *lift;            /* factor on gravity of the buoyancy, NULL: none */
    number *u[3], *eddy;           /* out: velocity and eddy viscosity of the flow */
    const struct scalars *scalars; /* these arrays, of a row of cells; NULL: there are none */
    int odd, y, z;                 /* parity of the step, and that row */
    const struct view *view;       /* with the gravity */
};

/* `operate` as a function, one per operator: for mixed runs, moving walls, sponges and ends of
 * rows. Loops for each of these and each operator would be too many. */
typedef void lanes_operation(const real f[Q], real out[Q], const struct run_parameters *p,
                             ptrdiff_t x);

/* Strength of a sponge in the cells from x on. */
TAGFLOW_FN real sponge_of_lanes(const struct run_parameters *p, ptrdiff_t x)
{
    if (p->sponge_along)
        return __builtin_convertvector(*(const unaligned_doubles *)(p->sponge + x), real);
    return (real){0} + (number)*p->sponge;
}

/* Steps whole vectors of cells from x0 on, with all populations where fluid would have stored them.
 * This is the loop that determines the speed: one for each operator, subgrid model, and with or
 * without force. Returns the first cell that is left. wraps: the
 * neighbour of cell x1 - 1 along +x is cell 0. */
typedef int bulk_function(const struct row *, const struct run_parameters *, int x0, int x1,
                          int wraps);

/* The loops of an operator. */
struct operator_loops {
    bulk_function *bulk;
    lanes_operation *operate;
};
/* Bits: there may be an acceleration; scalars are told the flow, and may add buoyancy to the
 * acceleration; the acceleration depends on the velocity. */
enum { LOOP_forced = 1, LOOP_carries = 2, LOOPS = 4, LOOP_resists = 4 };
#define row_loops VARIANT(row_loops)
extern const struct operator_loops row_loops[COLLISIONS][SUBGRIDS][LOOPS];
/* With LOOP_resists, for all subgrid models. */
#define resisting_loops VARIANT(resisting_loops)
extern const struct operator_loops resisting_loops[COLLISIONS];

TAGFLOW_FN int loop_bits(const struct view *v, const struct tag_row *cells)
{
    return (cells->forced ? LOOP_forced : 0) | (v->scalars.row ? LOOP_carries : 0) |
           (cells->resist ? LOOP_resists : 0);
}

TAGFLOW_FN const struct operator_loops *loops_of(const struct view *v, const struct tag_row *cells)
{
    const int loops = loop_bits(v, cells);
    return loops & LOOP_resists ? &resisting_loops[cells->collision]
                                : &row_loops[cells->collision][cells->subgrid][loops];
}

/* Steps cells x0 <= x < x1 of a row, as a bulk_function would, but any number of them and with
 * sponges. */
#define step_rest VARIANT(step_rest)
void step_rest(const struct row *row, const struct run_parameters *p, int x0, int x1,
               lanes_operation *by);

/* Sets the parameters of one cell type in the row at (y, z). Does not set masks and walls. */
TAGFLOW_FN void set_parameters(struct run_parameters *p, const struct view *v,
                               const struct tag_row *cells, int y, int z)
{
    p->collision = collision_parameters(v, cells);
    p->damping_along = cells->damped ? damping_along(v, cells) : NULL;
    p->damping = real_of(cells->damped ? damping_of_row(v, cells, y, z) : 1);
    p->target = cells->sponge ? sponge_target(v, cells) : NULL;
    p->sponge = cells->sponge ? sponge_of_row(v, cells, y, z) : NULL;
    p->sponge_along = cells->sponge == 1;
    p->resist = resist_of(v, cells);
    p->subgrid = cells->subgrid;
    p->loops = loop_bits(v, cells);
    p->lift = NULL;
    p->scalars = NULL;
    p->view = v;
}

/* The collision's parameters with the buoyancy of the cells from x on. */
TAGFLOW_FN struct collision_parameters lifted(const struct run_parameters *p, ptrdiff_t x)
{
    struct collision_parameters c = p->collision;
    if (p->lift)
        accelerate(&c, p->view, *(const unaligned_reals *)(p->lift + x));
    return c;
}

/* Cells of one type, anywhere, that are stepped as one vector. Lanes from `count` on repeat the
 * first cell. */
struct gathered {
    int count, at[LANES][3];
    const struct near_cell *near[LANES]; /* in the list of cells beside surfaces; NULL: not there */
    ptrdiff_t in_arrays[LANES];          /* used by tell_lift() */
    double sponge[LANES];
    number damping[LANES];
    number lift[LANES];              /* with scalars: factor on gravity of the buoyancy, */
    number u[3][LANES], eddy[LANES]; /* velocity and eddy viscosity of the flow */
};

TAGFLOW_FN void gather(struct gathered *g, int x, int y, int z, const struct near_cell *near)
{
    g->at[g->count][0] = x;
    g->at[g->count][1] = y;
    g->at[g->count][2] = z;
    g->near[g->count++] = near;
}

/* Constants of gathered cells of type `row`, for `operate`; g->lift is set. */
TAGFLOW_FN void set_gathered(struct run_parameters *p, const struct view *v,
                             const struct tag_row *row, struct gathered *g)
{
    set_parameters(p, v, row, g->at[0][1], g->at[0][2]);
    for (int k = g->count; k < LANES; k++) {
        memcpy(g->at[k], g->at[0], sizeof g->at[k]);
        g->near[k] = g->near[0];
    }
    for (int k = 0; k < LANES && (p->damping_along || p->target); k++) {
        const int x = g->at[k][0], y = g->at[k][1], z = g->at[k][2];
        if (p->damping_along)
            g->damping[k] = damping_of_row(v, row, y, z) * (number)damping_along(v, row)[x];
        if (p->target)
            g->sponge[k] = sponge_of_cell(v, row, x, y, z);
    }
    if (p->damping_along)
        p->damping = *(const unaligned_reals *)g->damping;
    p->damping_along = NULL;
    p->sponge = g->sponge;
    p->sponge_along = 1;
    p->lift = v->scalars.lifts ? g->lift : NULL;
    for (int a = 0; a < 3; a++)
        p->u[a] = g->u[a];
    p->eddy = g->eddy;
}

#define mirrored_at VARIANT(mirrored_at)
/* Where population `from` lies that link `link` of a cell brings from a plane of symmetry, as
 * cell_arrived finds it; `s`: the slots of this step. */
const stored *mirrored_at(const struct view *v, const struct slots *s, int link, int from, int x,
                          int y, int z);

/* Cells of a group that wait until a vector is full of them. Their populations are loaded already:
 * the loop over the row may then change them where they lie, see runs.h. The index differences to
 * their neighbours are the same. */
struct waiting {
    uint32_t group;
    struct gathered cells;
    uint64_t added; /* number of the last cell that was added */
    int seams;      /* see seams_of */
    /* Population i is loaded from from[i] + place and stored to to[i] + place; `place`: of the
     * cell, or if only fluid cells have places, as struct places. */
    const stored *from[Q];
    stored *to[Q];
    cell_index own[LANES], next[Q / 2][LANES];
    stored f[Q][LANES] __attribute__((aligned(64)));
};

/* The waiting cells of a thread. */
enum { WAITING = 10, ROW_ENDS = 2 };
struct queue {
    struct waiting waiting[WAITING];
    int odd;            /* parity of the step */
    uint64_t added;     /* cells */
    int full, empty;    /* numbers of `waiting` */
    uint8_t latest[64]; /* [group % 64] which of `waiting` the latest cell of the group went to */
};

TAGFLOW_FN void queue_start(struct queue *q, int odd)
{
    for (int k = 0; k < WAITING; k++) {
        q->waiting[k].group = UINT32_MAX; /* none */
        q->waiting[k].cells.count = 0;
    }
    memset(q->latest, 0, sizeof q->latest);
    q->odd = odd;
    q->added = 0;
    q->full = 0;
    q->empty = WAITING;
}

/* Adds cells x0 <= x < x1 of a row, which are of run `run`, to the queue. Steps each vector that is
 * full, except of cells at an end of the row: queue_settle steps these. */
#define queue_cells VARIANT(queue_cells)
void queue_cells(const struct view *v, const struct slots *s, const struct runs *runs,
                 struct queue *q, const struct row_run *run, int x0, int x1, int y, int z);

/* Steps each vector that is full, and makes room for cells at both ends of a row. */
#define queue_settle VARIANT(queue_settle)
void queue_settle(const struct view *v, const struct runs *runs, struct queue *q);

/* Steps the cells that still wait. */
#define queue_finish VARIANT(queue_finish)
void queue_finish(const struct view *v, const struct runs *runs, struct queue *q);

/* The step of one cell of the list beside surfaces (cells.c). */
#define near_alone PRECISION(near_alone)
void near_alone(const struct view *v, int odd, const struct near_cell *cell);

/* The step of a box where only fluid cells have places (pores.c). */
#define step_pores VARIANT(step_pores)
void step_pores(const struct view *v, const struct runs *runs, const struct box *b, int odd);

#endif
