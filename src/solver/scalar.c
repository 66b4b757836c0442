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
    const struct domain *domain;
    struct shape *shape;
    int shapes;
};

static void start_destroy(struct scalar_start *a)
{
    for (int k = 0; k < a->shapes; k++)
        shape_destroy(&a->shape[k]);
    free(a->shape);
}

static enum status start_create(struct scalar_start *a, const struct domain *d,
                                const struct flow_case *c, int scalar)
{
    *a = (struct scalar_start){.what = &c->scalars[scalar].initial, .domain = d};
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
    const struct domain *const d = a->domain;
    double at[3], turns = w->phase;
    for (int axis = 0; axis < 3; axis++) {
        /* as the case was read, with 2^level cells along flat axes */
        at[axis] = ldexp(refined_place(d->refined, d->level, axis, g[axis] + 0.5), d->level);
        turns += w->wave[axis] * (g[axis] + 0.5) / d->cells[axis];
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
        status = start_create(&a, s->domain, c, k);
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

/* Sums of lifts over the planes across an axis, of cells of the finest level: of this case, and of
 * a flow from elsewhere; and the cells. */
struct lifts {
    int axis, planes, across; /* across: of a plane, the axes that are not flat */
    struct exact_sum *now, *then;
    int64_t *cells;
    double gravity, gravity_then;
};

/* Adds the lift of cell (x, y, z) of a level to a sum. It covers 2^finer planes. */
static void add_cell(struct lifts *l, struct exact_sum *sum, const struct domain *d, int finer,
                     const int at[3], double lift)
{
    const int first = (d->lo[l->axis] + at[l->axis]) << finer;
    for (int plane = first; plane < first + (1 << finer); plane++) {
        exact_add(&sum[plane], ldexp(lift, l->across * finer));
        l->cells[plane] += (int64_t)1 << l->across * finer;
    }
}

/* Adds the lift of a scalar's set in the fluid cells of a level. */
static enum status add_lift(struct lifts *l, struct solver *s, int finer, int set, double expansion)
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
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, value++)
                    if (view_fluid(&d->view, view_index(&d->view, x, y, z)))
                        add_cell(l, l->now, d, finer, (const int[3]){x, y, z}, -expansion * *value);
    return fetch_end(&f);
}

/* Adds the lift that the pressure of a flow from elsewhere balances. */
static void add_earlier(struct lifts *l, const struct domain *d, int finer,
                        const struct given_flow *given)
{
    for (int z = 0; z < d->view.n[2]; z++)
        for (int y = 0; y < d->view.n[1]; y++)
            for (int x = 0; x < d->view.n[0]; x++)
                if (view_fluid(&d->view, view_index(&d->view, x, y, z)))
                    add_cell(l, l->then, d, finer, (const int[3]){x, y, z},
                             given->lift[given_place(given, x, y, z)]);
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

/* Adds the density of its planes to each cell of a level. */
static void add_profile(const struct domain *d, int axis, int finer, const double *profile,
                        double *drho)
{
    for (int z = 0; z < d->view.n[2]; z++)
        for (int y = 0; y < d->view.n[1]; y++)
            for (int x = 0; x < d->view.n[0]; x++, drho++) {
                const int first = (d->lo[axis] + (axis == 0 ? x : axis == 1 ? y : z)) << finer;
                double sum = 0;
                for (int plane = first; plane < first + (1 << finer); plane++)
                    sum += profile[plane];
                *drho += ldexp(sum, -finer);
            }
}

static enum status sum_lifts(struct lifts *l, const struct levels *all,
                             const struct flow_case *const c[], const struct given_flow given[])
{
    const size_t count = (size_t)l->planes;
    const MPI_Comm comm = all->solver[0]->domain->comm;
    enum status status = STATUS_OK;
    for (int k = 0; k < c[0]->scalar_count && !status; k++) {
        if (c[0]->scalars[k].expansion == 0)
            continue;
        memset(l->cells, 0, count * sizeof *l->cells);
        for (int level = 0; level < all->count && !status; level++)
            status = add_lift(l, all->solver[level], all->count - 1 - level, 1 + k,
                              c[level]->scalars[k].expansion);
        status = status_agree(comm, status);
    }
    if (status || !given)
        return status;
    memset(l->cells, 0, count * sizeof *l->cells);
    for (int level = 0; level < all->count; level++)
        add_earlier(l, all->solver[level]->domain, all->count - 1 - level, &given[level]);
    return status;
}

static enum status balance_axis(const struct levels *all, const struct flow_case *const c[],
                                const struct given_flow given[], int axis, double *const drho[])
{
    const int finest = all->count - 1;
    const MPI_Comm comm = all->solver[0]->domain->comm;
    const int planes = all->solver[finest]->domain->cells[axis];
    const size_t count = (size_t)planes;
    struct lifts l = {.axis = axis,
                      .planes = planes,
                      .across = refined_dimensions(all->refined, 2),
                      .now = calloc(count, sizeof *l.now),
                      .then = calloc(count, sizeof *l.then),
                      .cells = calloc(count, sizeof *l.cells),
                      .gravity = c[finest]->gravity[axis],
                      .gravity_then = given ? given[finest].gravity[axis] : 0};
    int64_t *const parts = malloc(3 * count * sizeof *parts);
    double *const profile = calloc(count, sizeof *profile);
    enum status status = STATUS_OK;
    if (!l.now || !l.then || !l.cells || !parts || !profile)
        status = fail_machine("out of memory for the pressure of %d planes", planes);
    status = status_agree(comm, status);
    if (!status)
        status = sum_lifts(&l, all, c, given);
    if (!status) {
        add_ranks(l.now, planes, parts, comm);
        add_ranks(l.then, planes, parts, comm);
        MPI_Allreduce(MPI_IN_PLACE, l.cells, planes, MPI_INT64_T, MPI_SUM, comm);
        integrate(&l, profile);
        for (int level = 0; level < all->count; level++)
            add_profile(all->solver[level]->domain, axis, finest - level, profile, drho[level]);
    }
    free(l.now);
    free(l.then);
    free(l.cells);
    free(parts);
    free(profile);
    return status;
}

enum status scalar_balance(const struct levels *all, const struct flow_case *const c[],
                           const struct given_flow given[], double *const drho[])
{
    const struct domain *const d = all->solver[0]->domain;
    const int only = given ? -1 : axis_of_gravity(d, c[0]);
    enum status status = STATUS_OK;
    for (int axis = 0; axis < 3 && !status; axis++)
        if (given ? !d->periodic[axis] && (c[0]->gravity[axis] != 0 || given->gravity[axis] != 0)
                  : axis == only)
            status = balance_axis(all, c, given, axis, drho);
    return status;
}
