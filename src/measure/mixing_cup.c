/* Means of a scalar over a plane of cells; see mixing_cup.h. */
#include "measure/mixing_cup.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "measure/scalar.h"
#include "solver/through.h"

/* Larger velocities mean that the flow has diverged; larger values of scalars than this, too. */
static const double sane = 1e5, sane_value = 1e12;

/* This rank's part of a level's plane. */
struct cup_plane {
    struct box box;
    double *u, *value; /* of the fluid cells, in the order of the box */
    int64_t fluid;
    bool bad;
    double most; /* largest |value| */
};

/* Takes component `component` of `components` of a kernel's result in the plane's fluid cells;
 * *count: their number. */
static enum status take(struct solver *s, enum kernel kernel, int set, const struct box *box,
                        int components, int component, double *to, int64_t *count)
{
    const struct view *const view = &s->domain->view;
    struct box piece;
    struct fetch f;
    const double *from;
    *count = 0;
    for (fetch_start_set(&f, s, kernel, set, box, NULL, NULL); (from = fetch_next(&f, &piece));)
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, from += components)
                    if (view_fluid(view, view_index(view, x, y, z)))
                        to[(*count)++] = from[component];
    return fetch_end(&f);
}

static enum status look(struct solver *s, int set, int axis, struct cup_plane *p)
{
    const size_t cells = (size_t)box_cells(&p->box);
    enum status status;
    if (cells == 0)
        return STATUS_OK;
    p->u = malloc(cells * sizeof *p->u);
    p->value = malloc(cells * sizeof *p->value);
    if (!p->u || !p->value)
        return fail_machine("out of memory for a plane of %zu cells", cells);
    if ((status = take(s, KERNEL_flow, SET_flow, &p->box, 4, 1 + axis, p->u, &p->fluid)) ||
        (status = take(s, KERNEL_scalar, set, &p->box, 1, 0, p->value, &p->fluid)))
        return status;
    for (int64_t k = 0; k < p->fluid; k++) {
        p->bad = p->bad || !(fabs(p->u[k]) < sane && fabs(p->value[k]) < sane_value);
        p->most = fmax(p->most, fabs(p->value[k]));
    }
    return STATUS_OK;
}

/* Sums that ranks add. */
struct cup_parts {
    int64_t carried[3], value[3], u[3], fluid;
};

static struct cup_parts parts_of(const struct cup_plane *p, double scale)
{
    struct exact_sum carried = {0}, value = {0}, u = {0};
    struct cup_parts parts = {.fluid = p->fluid};
    for (int64_t k = 0; k < p->fluid; k++) {
        exact_add(&carried, p->u[k] * (p->value[k] * scale));
        exact_add(&value, p->value[k] * scale);
        exact_add(&u, p->u[k]);
    }
    exact_split(&carried, parts.carried);
    exact_split(&value, parts.value);
    exact_split(&u, parts.u);
    return parts;
}

static struct mixing_cup means_of(const struct levels *all, const struct cup_parts *parts,
                                  double scale)
{
    struct exact_sum carried[LEVELS], value[LEVELS], u[LEVELS];
    struct mixing_cup found = {.area = 0};
    for (int l = 0; l < all->count; l++) {
        carried[l] = exact_join(parts[l].carried);
        value[l] = exact_join(parts[l].value);
        u[l] = exact_join(parts[l].u);
        found.area += ldexp((double)parts[l].fluid, -refined_dimensions(all->refined, 3) * l);
    }
    found.volume = levels_sum(all, u, 3);
    found.cup = found.volume == 0 ? NAN : levels_sum(all, carried, 3) / found.volume / scale;
    found.mean = found.area == 0 ? NAN : levels_sum(all, value, 3) / found.area / scale;
    return found;
}

enum status mixing_cup_measure(const struct levels *all, int set, int axis, int at,
                               struct mixing_cup *found)
{
    MPI_Comm const comm = all->solver[0]->domain->comm;
    struct cup_plane plane[LEVELS] = {{.fluid = 0}};
    struct cup_parts parts[LEVELS];
    double most[2] = {0, 0}; /* value; 1: something is not sane */
    enum status status = STATUS_OK;
    for (int l = 0; l < all->count; l++) {
        plane[l].box = through_box(all->solver[l]->domain, axis, at,
                                   1 << refined_halved(all->refined, l, axis));
        status = status_worse(status, look(all->solver[l], set, axis, &plane[l]));
        most[0] = fmax(most[0], plane[l].most);
        most[1] = plane[l].bad ? 1 : most[1];
    }
    status = status_agree(comm, status);
    if (!status) {
        MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, comm);
        const double scale = scalar_scale_of(most[0]);
        for (int l = 0; l < all->count; l++)
            parts[l] = most[1] > 0 ? (struct cup_parts){.fluid = plane[l].fluid}
                                   : parts_of(&plane[l], scale);
        MPI_Allreduce(MPI_IN_PLACE, parts, all->count * (int)(sizeof *parts / sizeof(int64_t)),
                      MPI_INT64_T, MPI_SUM, comm);
        *found = means_of(all, parts, scale);
        if (most[1] > 0)
            found->cup = found->mean = found->volume = NAN;
    }
    for (int l = 0; l < all->count; l++) {
        free(plane[l].u);
        free(plane[l].value);
    }
    return status;
}
