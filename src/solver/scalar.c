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
struct scalar_start {
    const struct case_scalar_initial *what;
    const int *cells;
    struct shape *shape;
    int shapes;
};

static void start_destroy(struct scalar_start *a)
{
    for (int k = 0; k < a->shapes; k++)
        shape_destroy(&a->shape[k]);
    free(a->shape);
}

static enum status start_create(struct scalar_start *a, const struct flow_case *c, int scalar)
{
    *a = (struct scalar_start){.what = &c->scalars[scalar].initial, .cells = c->cells};
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
static double value_at(const struct scalar_start *a, const int g[3])
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

static enum status fill_piece(struct solver *s, const struct scalar_start *a,
                              const struct given_flow *given, int set, const struct box *piece)
{
    const struct domain *const d = s->domain;
    const double *const values = given ? given->scalar[set - 1] : NULL;
    double *to = solver_host(s);
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++, to++) {
                *to = values ? values[given_place(given, x, y, z)] : NAN;
                if (isnan(*to))
                    *to = value_at(a, (const int[3]){d->lo[0] + x, d->lo[1] + y, d->lo[2] + z});
            }
    return solver_put_scalar(s, set, piece);
}

enum status scalar_initialise(struct solver *s, const struct flow_case *c,
                              const struct given_flow *given)
{
    const struct box all = domain_all(s->domain);
    enum status status = STATUS_OK;
    for (int k = 0; k < c->scalar_count && !status; k++) {
        struct scalar_start a;
        struct box piece;
        status = start_create(&a, c, k);
        for (int number = 0; !status && solver_piece(s, &all, number, &piece); number++) {
            watchdog_progress();
            status = fill_piece(s, &a, given, 1 + k, &piece);
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

/* Adds the lift that the pressure of a flow from elsewhere balances, and the number of cells. */
static void add_earlier(const struct domain *d, const struct given_flow *given, int axis,
                        struct exact_sum *sum, int64_t *cells)
{
    for (int z = 0; z < d->view.n[2]; z++)
        for (int y = 0; y < d->view.n[1]; y++)
            for (int x = 0; x < d->view.n[0]; x++) {
                const int plane = d->lo[axis] + (axis == 0 ? x : axis == 1 ? y : z);
                if (!view_fluid(&d->view, view_index(&d->view, x, y, z)))
                    continue;
                exact_add(&sum[plane], given->lift[given_place(given, x, y, z)]);
                cells[plane]++;
            }
}

/* The sums of all ranks; parts: room for three numbers a plane. */
static void add_ranks(struct exact_sum *sum, int planes, int64_t *parts, MPI_Comm comm)
{
    for (int k = 0; k < planes; k++)
        exact_split(&sum[k], parts + 3 * k);
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * planes, MPI_INT64_T, MPI_SUM, comm);
    for (int k = 0; k < planes; k++)
        sum[k] = exact_join(parts + 3 * k);
}

/* Sums of lifts over planes across an axis: of this case, and of a flow from elsewhere. */
struct lifts {
    int planes;
    struct exact_sum *now, *then;
    int64_t *cells;
    double gravity, gravity_then;
};

/* Makes of them the density at which the pressure balances the difference, with mean 0. */
static void integrate(const struct lifts *l, double *drho)
{
    const int64_t *const cells = l->cells;
    const int planes = l->planes;
    double before = 0, mean = 0, all = 0;
    for (int k = 0; k < planes; k++) {
        double a =
            cells[k] ? 3 * l->gravity * (exact_value(&l->now[k]) / (double)cells[k]) : before;
        if (cells[k] && l->gravity_then != 0)
            a -= 3 * l->gravity_then * (exact_value(&l->then[k]) / (double)cells[k]);
        drho[k] = k ? drho[k - 1] + 0.5 * (before + a) : 0;
        before = a;
        mean += (double)cells[k] * drho[k];
        all += (double)cells[k];
    }
    for (int k = 0; k < planes; k++)
        drho[k] -= mean / all;
}

static enum status balance_axis(struct solver *s, const struct flow_case *c,
                                const struct given_flow *given, int axis, double *drho)
{
    const struct domain *const d = s->domain;
    const int planes = d->cells[axis];
    const size_t count = (size_t)planes;
    struct lifts l = {.planes = planes,
                      .now = calloc(count, sizeof *l.now),
                      .then = calloc(count, sizeof *l.then),
                      .cells = calloc(count, sizeof *l.cells),
                      .gravity = c->gravity[axis],
                      .gravity_then = given ? given->gravity[axis] : 0};
    int64_t *const parts = malloc(3 * count * sizeof *parts);
    double *const profile = calloc(count, sizeof *profile);
    enum status status = STATUS_OK;
    if (!l.now || !l.then || !l.cells || !parts || !profile)
        status = fail_machine("out of memory for the pressure of %d planes", planes);
    status = status_agree(d->comm, status);
    for (int k = 0; k < c->scalar_count && !status; k++)
        if (c->scalars[k].expansion != 0) {
            memset(l.cells, 0, count * sizeof *l.cells);
            status = add_lift(s, 1 + k, c->scalars[k].expansion, axis, l.now, l.cells);
            status = status_agree(d->comm, status);
        }
    if (!status) {
        if (given) {
            memset(l.cells, 0, count * sizeof *l.cells);
            add_earlier(d, given, axis, l.then, l.cells);
        }
        add_ranks(l.now, planes, parts, d->comm);
        add_ranks(l.then, planes, parts, d->comm);
        MPI_Allreduce(MPI_IN_PLACE, l.cells, planes, MPI_INT64_T, MPI_SUM, d->comm);
        integrate(&l, profile);
        for (int z = 0; z < d->view.n[2]; z++)
            for (int y = 0; y < d->view.n[1]; y++)
                for (int x = 0; x < d->view.n[0]; x++)
                    *drho++ += profile[d->lo[axis] + (axis == 0 ? x : axis == 1 ? y : z)];
    }
    free(l.now);
    free(l.then);
    free(l.cells);
    free(parts);
    free(profile);
    return status;
}

enum status scalar_balance(struct solver *s, const struct flow_case *c,
                           const struct given_flow *given, double *drho)
{
    const struct domain *const d = s->domain;
    const int only = given ? -1 : axis_of_gravity(d, c);
    enum status status = STATUS_OK;
    for (int axis = 0; axis < 3 && !status; axis++)
        if (given ? !d->periodic[axis] && (c->gravity[axis] != 0 || given->gravity[axis] != 0)
                  : axis == only)
            status = balance_axis(s, c, given, axis, drho);
    return status;
}
