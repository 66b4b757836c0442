/* The CPU's step of scalars: of a run of plain cells (scalars.c), and of single cells (cells.c). */
#ifndef TAGFLOW_CPU_SCALARS_H
#define TAGFLOW_CPU_SCALARS_H

#include "cpu/rows.h" /* first: it defines `real` */

/* Arrays of a thread, for the cells of a row: values of each set, the factor on gravity of their
 * buoyancy, velocity and eddy viscosity of the flow. */
struct scalars {
    number *t[SETS], *lift, *u[3], *eddy;
};

/* Of this thread. */
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
    p->lift = v->lifts ? a->lift : NULL;
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

/* The same of single cells (cells.c): the factor on gravity of a cell's buoyancy, before its flow
 * is stepped; then the step of its scalars. u, eddy: of its flow, 0 in a solid; near: its entry in
 * the list of cells beside surfaces, NULL: none. */
#define scalars_lift PRECISION(scalars_lift)
number scalars_lift(const struct view *v, int odd, int x, int y, int z);
#define scalars_alone PRECISION(scalars_alone)
void scalars_alone(const struct view *v, int odd, int x, int y, int z, const number u[3],
                   number eddy, const struct near_cell *near);

/* The step of a cell's scalars, with its flow at k in the arrays. */
TAGFLOW_FN void scalars_at(const struct view *v, const struct scalars *a, ptrdiff_t k, int odd,
                           int x, int y, int z)
{
    const number u[3] = {a->u[0][k], a->u[1][k], a->u[2][k]};
    scalars_alone(v, odd, x, y, z, u, a->eddy[k], NULL);
}

/* Coordinates of the cells of a vector. */
typedef const int *const lane_cells[LANES];

/* What a vector of gathered cells needs beside populations, and velocity and eddy viscosity of its
 * flow, for scalars. */
struct cell_inputs {
    double sponge[LANES];
    number damping[LANES], lift[LANES], u[3][LANES], eddy[LANES];
};

/* Damping of the subgrid model, strength of the sponge and buoyancy of the cells `at`, which are of
 * type `row`; p: from set_parameters; in->lift is set. */
TAGFLOW_FN void set_inputs(struct run_parameters *p, struct cell_inputs *in, const struct view *v,
                           const struct tag_row *row, lane_cells at)
{
    for (int k = 0; k < LANES && (p->damping_along || p->target); k++) {
        const int x = at[k][0], y = at[k][1], z = at[k][2];
        if (p->damping_along)
            in->damping[k] = damping_of_row(v, row, y, z) * (number)damping_along(v, row)[x];
        if (p->target)
            in->sponge[k] = sponge_of_cell(v, row, x, y, z);
    }
    if (p->damping_along)
        p->damping = *(const unaligned_reals *)in->damping;
    p->damping_along = NULL;
    p->sponge = in->sponge;
    p->sponge_along = 1;
    p->lift = v->lifts ? in->lift : NULL;
    for (int a = 0; a < 3; a++)
        p->u[a] = in->u[a];
    p->eddy = in->eddy;
}

/* The step of the scalars of the cell `at`, with its flow in lane k. */
TAGFLOW_FN void scalars_gathered(const struct view *v, const struct cell_inputs *in, int k, int odd,
                                 const int at[3], const struct near_cell *near)
{
    const number u[3] = {in->u[0][k], in->u[1][k], in->u[2][k]};
    scalars_alone(v, odd, at[0], at[1], at[2], u, in->eddy[k], near);
}

#endif
