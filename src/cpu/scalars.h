/* The CPU's step of scalars: of a run of plain cells (scalars.c), and of gathered ones
 * (gathered.c). */
#ifndef TAGFLOW_CPU_SCALARS_H
#define TAGFLOW_CPU_SCALARS_H

#include "cpu/rows.h" /* first: it defines `real` */

/* Arrays of a thread, for the cells of a row: values of each set, the factor on gravity of their
 * buoyancy, velocity and eddy viscosity of the flow. */
struct scalars {
    number *t[SETS], *lift, *u[3], *eddy;
};

/* Arrays of this thread, in its part of runs->room. */
TAGFLOW_FN struct scalars scalars_of_thread(const struct view *v, const struct runs *runs,
                                            int thread)
{
    number *at = (number *)((char *)runs->room + (size_t)thread * runs_room(v));
    struct scalars a;
    for (int set = 0; set < SETS; set++, at += runs_room_cells(v))
        a.t[set] = at;
    for (int k = 0; k < 3; k++, at += runs_room_cells(v))
        a.u[k] = at;
    a.eddy = at;
    a.lift = at + runs_room_cells(v);
    return a;
}

/* The loops of the flow find lift in these arrays, and leave velocity and eddy viscosity there. */
TAGFLOW_FN void tell_scalars(struct run_parameters *p, const struct view *v,
                             const struct scalars *a, int odd, int y, int z)
{
    p->scalars = a;
    p->odd = odd;
    p->y = y;
    p->z = z;
    p->lift = v->scalars.lifts ? a->lift : NULL;
    for (int k = 0; k < 3; k++)
        p->u[k] = a->u[k];
    p->eddy = a->eddy;
}

/* Steps the scalars of cells x0 <= x < x1 of a bulk or ruled run: before the loop of the flow,
 * which feels them, and after it. */
#define scalars_before VARIANT(scalars_before)
void scalars_before(const struct view *v, const struct runs *runs, const struct row_run *run,
                    const struct scalars *a, int odd, int x0, int x1, int y, int z);
#define scalars_after VARIANT(scalars_after)
void scalars_after(const struct view *v, const struct runs *runs, const struct row_run *run,
                   const struct scalars *a, int odd, int x0, int x1, int y, int z);

/* The same of gathered cells: the factors on gravity of their buoyancy, g->lift, before their flow
 * is stepped; then the step of their scalars, which empties `g`. */
#define gathered_lift VARIANT(gathered_lift)
void gathered_lift(const struct view *v, int odd, struct gathered *g);
#define gathered_step VARIANT(gathered_step)
void gathered_step(const struct view *v, int odd, struct gathered *g);

/* Gathers a cell that is at k in the arrays of `struct scalars`. */
TAGFLOW_FN void gather_for(struct gathered *g, ptrdiff_t k, int x, int y, int z)
{
    g->in_arrays[g->count] = k;
    gather(g, x, y, z, NULL);
}

/* Tells the loops of the flow the buoyancy of gathered cells; empties `g`. */
static inline void tell_lift(const struct view *v, const struct scalars *a, int odd,
                             struct gathered *g)
{
    gathered_lift(v, odd, g);
    for (int k = 0; k < g->count; k++)
        a->lift[g->in_arrays[k]] = g->lift[k];
    g->count = 0;
}

/* Gathers a cell with its flow, which is at k in the arrays. Steps the scalars of a vector that is
 * full. */
TAGFLOW_FN void gather_told(const struct view *v, const struct scalars *a, int odd,
                            struct gathered *g, ptrdiff_t k, int x, int y, int z)
{
    for (int axis = 0; axis < 3; axis++)
        g->u[axis][g->count] = a->u[axis][k];
    g->eddy[g->count] = a->eddy[k];
    gather(g, x, y, z, NULL);
    if (g->count == LANES)
        gathered_step(v, odd, g);
}

#endif
