/* Scalars at step 0; see scalar.h. */
#include "solver/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "body/shape.h"
#include "elementary.h"
#include "exact.h"

/* The initial values of a scalar; shape: [part_count]. */
struct start {
    const struct case_scalar_initial *what;
    const int *cells;
    struct shape *shape;
    int shapes;
};

static void start_destroy(struct start *a)
{
    for (int k = 0; k < a->shapes; k++)
        shape_destroy(&a->shape[k]);
    free(a->shape);
}

static enum status start_create(struct start *a, const struct flow_case *c, int scalar)
{
    *a = (struct start){.what = &c->scalars[scalar].initial, .cells = c->cells};
    if (!a->what->part_count)
        return STATUS_OK;
    a->shape = calloc((size_t)a->what->part_count, sizeof *a->shape);
    for (; a->shape && a->shapes < a->what->part_count; a->shapes++)
        if (!shape_create(&a->shape[a->shapes], &a->what->parts[a->shapes].shape))
            break;
    if (a->shapes == a->what->part_count)
        return STATUS_OK;
    return fail_machine("out of memory for the initial values of scalars.%s",
                        c->scalars[scalar].name);
}

/* Between the ends of the linear part, by the distance along their line. */
static double linear_at(const struct case_scalar_initial *w, const double at[3])
{
    double along = 0, square = 0;
    for (int a = 0; a < 3; a++) {
        along += (at[a] - w->from[a]) * (w->to[a] - w->from[a]);
        square += (w->to[a] - w->from[a]) * (w->to[a] - w->from[a]);
    }
    const double s = along <= 0 ? 0 : along >= square ? 1 : along / square;
    return w->ends[0] + s * (w->ends[1] - w->ends[0]);
}

/* The value at the centre of a cell of the box. */
static double value_at(const struct start *a, const int g[3])
{
    const struct case_scalar_initial *const w = a->what;
    double at[3], turns = w->phase;
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = g[axis] + 0.5;
        turns += w->wave[axis] * at[axis] / a->cells[axis];
    }
    double value = w->linear ? linear_at(w, at) : w->value;
    if (w->amplitude != 0)
        value += w->amplitude *
                 sin_turns((int64_t)rint((turns - floor(turns)) * 0x1p50), (int64_t)1 << 50);
    for (int k = 0; k < a->shapes; k++)
        if (shape_holds(&a->shape[k], at))
            value = w->parts[k].value;
    return value;
}

static enum status fill_piece(struct solver *s, const struct start *a, int set,
                              const struct box *piece)
{
    const struct domain *const d = s->domain;
    double *to = solver_host(s);
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++)
                *to++ = value_at(a, (const int[3]){d->lo[0] + x, d->lo[1] + y, d->lo[2] + z});
    return solver_put_scalar(s, set, piece);
}

enum status scalar_initialise(struct solver *s, const struct flow_case *c)
{
    const struct box all = domain_all(s->domain);
    enum status status = STATUS_OK;
    for (int k = 0; k < c->scalar_count && !status; k++) {
        struct start a;
        struct box piece;
        status = start_create(&a, c, k);
        for (int number = 0; !status && solver_piece(s, &all, number, &piece); number++) {
            watchdog_progress();
            status = fill_piece(s, &a, 1 + k, &piece);
        }
        start_destroy(&a);
        status = status_agree(s->domain->comm, status);
    }
    return status;
}

/* ---- balance ---- */

/* The axis of gravity; -1: none, or not along an axis, or periodic. */
static int axis_of_gravity(const struct domain *d, const struct flow_case *c)
{
    int axis = -1, components = 0;
    for (int a = 0; a < 3; a++)
        if (c->gravity[a] != 0) {
            axis = a;
            components++;
        }
    return components == 1 && !d->periodic[axis] ? axis : -1;
}

/* Adds the lift of a scalar's set in the fluid cells of each plane, and their number. */
static enum status add_lift(struct solver *s, int set, double expansion, int axis,
                            struct exact_sum *sum, int64_t *cells)
{
    const struct domain *const d = s->domain;
    const struct box all = domain_all(d);
    struct box piece;
    struct fetch f;
    const double *value;
    for (fetch_start_set(&f, s, KERNEL_scalar, set, &all, NULL, NULL);
         (value = fetch_next(&f, &piece));)
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, value++) {
                    const int at[3] = {x, y, z}, plane = d->lo[axis] + at[axis];
                    if (!view_fluid(&d->view, view_index(&d->view, x, y, z)))
                        continue;
                    exact_add(&sum[plane], -expansion * *value);
                    cells[plane]++;
                }
    return fetch_end(&f);
}

/* Makes of the sums over planes the density at which the pressure balances them, with mean 0. */
static void integrate(const struct exact_sum *sum, const int64_t *cells, int planes, double gravity,
                      double *drho)
{
    double before = 0, mean = 0, all = 0;
    for (int k = 0; k < planes; k++) {
        const double a =
            cells[k] ? 3 * gravity * (exact_value(&sum[k]) / (double)cells[k]) : before;
        drho[k] = k ? drho[k - 1] + 0.5 * (before + a) : 0;
        before = a;
        mean += (double)cells[k] * drho[k];
        all += (double)cells[k];
    }
    for (int k = 0; k < planes; k++)
        drho[k] -= mean / all;
}

enum status scalar_balance(struct solver *s, const struct flow_case *c, double *drho)
{
    const struct domain *const d = s->domain;
    const int axis = axis_of_gravity(d, c), planes = axis < 0 ? 0 : d->cells[axis];
    if (axis < 0)
        return STATUS_OK;
    const size_t count = (size_t)planes;
    struct exact_sum *const sum = calloc(count, sizeof *sum);
    int64_t *const cells = calloc(count, sizeof *cells), *const parts =
                                                             malloc(3 * count * sizeof *parts);
    double *const profile = calloc(count, sizeof *profile);
    enum status status = STATUS_OK;
    if (!sum || !cells || !parts || !profile)
        status = fail_machine("out of memory for the pressure of %d planes", planes);
    status = status_agree(d->comm, status);
    for (int k = 0; k < c->scalar_count && !status; k++)
        if (c->scalars[k].expansion != 0) {
            memset(cells, 0, count * sizeof *cells);
            status = add_lift(s, 1 + k, c->scalars[k].expansion, axis, sum, cells);
            status = status_agree(d->comm, status);
        }
    if (!status) {
        for (size_t k = 0; k < count; k++)
            exact_split(&sum[k], parts + 3 * k);
        MPI_Allreduce(MPI_IN_PLACE, parts, 3 * planes, MPI_INT64_T, MPI_SUM, d->comm);
        MPI_Allreduce(MPI_IN_PLACE, cells, planes, MPI_INT64_T, MPI_SUM, d->comm);
        for (size_t k = 0; k < count; k++)
            sum[k] = exact_join(parts + 3 * k);
        integrate(sum, cells, planes, c->gravity[axis], profile);
        for (int z = 0; z < d->view.n[2]; z++)
            for (int y = 0; y < d->view.n[1]; y++)
                for (int x = 0; x < d->view.n[0]; x++)
                    *drho++ += profile[d->lo[axis] + (axis == 0 ? x : axis == 1 ? y : z)];
    }
    free(sum);
    free(cells);
    free(parts);
    free(profile);
    return status;
}
