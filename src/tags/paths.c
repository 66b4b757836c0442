/* Paths of the fluid between faces; see paths.h. */
#include "tags/paths.h"

#include <math.h>

#include "base/message.h"
#include "tags/faces.h"
#include "tags/pore_labels.h"

/* A part of the fluid, or all of it. */
struct reach {
    double cells, inflow; /* inflow: mean over the run, cells^3 a step */
    uint64_t openings;    /* as in struct pore_part */
};

/* Possible errors. */
enum wrong { WRONG_nothing, WRONG_blocked, WRONG_drift };

/* Openings with open cells that let any mass in or out, as they hold a density. */
static uint64_t outlets_of(const struct domain *d, const struct flow_case *c)
{
    uint64_t bits = 0;
    for (int k = 0; k < d->openings; k++) {
        if (d->opening[k].open && face_holds_density(case_opening(c, k)))
            bits |= (uint64_t)1 << k;
    }
    return bits;
}

/* All openings with open cells. */
static uint64_t open_of(const struct domain *d, const struct flow_case *c)
{
    uint64_t bits = 0;
    for (int k = 0; k < d->openings; k++)
        if (d->opening[k].open && face_open(case_opening(c, k)->kind))
            bits |= (uint64_t)1 << k;
    return bits;
}

static bool has_sponge(const struct flow_case *c)
{
    for (int k = 0; k < c->zone_count; k++)
        if (c->zones[k].sponge.given)
            return true;
    return false;
}

/* Relative change of the density by the end of the run. */
static double drift_of(const struct flow_case *c, const struct reach *r)
{
    return r->inflow * (double)c->run.steps / r->cells;
}

static enum wrong judge(const struct domain *d, const struct flow_case *c, const struct reach *r,
                        uint64_t outlets)
{
    double beside = 0;
    for (int k = 0; k < d->openings; k++)
        beside += r->openings >> k & 1 ? (double)d->opening[k].open : 0;
    /* smaller values are rounding of the sums in pore_labels.h */
    if (r->openings & outlets || !(fabs(r->inflow) > 0x1p-29 * beside))
        return WRONG_nothing;
    if (outlets)
        return WRONG_blocked;
    return fabs(drift_of(c, r)) > PATHS_DRIFT ? WRONG_drift : WRONG_nothing;
}

/* The first opening of a part with a given inflow. */
static int giver_of(const struct domain *d, const struct reach *r)
{
    int k = 0;
    while (k < d->openings - 1 && !(r->openings >> k & 1 && d->opening[k].inflow != 0))
        k++;
    return k;
}

static enum status report(const struct domain *d, const struct flow_case *c, const struct reach *r,
                          enum wrong wrong)
{
    const int k = giver_of(d, r);
    const char *const place = case_opening(c, k)->place;
    char name[FACES_NAME];
    faces_name(c, k, name);
    if (wrong == WRONG_blocked)
        return fail_case(place,
                         "%s: no fluid leads from it to an open face through which that could "
                         "%s: bodies close every way (open one, or remove %s)",
                         name, r->inflow > 0 ? "leave" : "come", name);
    return fail_case(place,
                     "%s: the velocities that the faces give bring %.4g cells^3 a step more %s "
                     "than %s, which would change the density by %+.3g %% in the %lld steps of the "
                     "run (make one of the faces pressure, outflow or nonreflecting, or let "
                     "velocities balance)",
                     name, fabs(r->inflow), r->inflow > 0 ? "in" : "out",
                     r->inflow > 0 ? "out" : "in", 100 * drift_of(c, r), (long long)c->run.steps);
}

/* Cells of all ranks that belong to another level. */
static int64_t absent_cells(const struct domain *d)
{
    const struct view *const v = &d->view;
    int64_t cells = 0;
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++)
                cells += (v->tags[view_index(v, x, y, z)] & TAG_ROW) == TAG_ABSENT;
    MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPI_INT64_T, MPI_SUM, d->comm);
    return cells;
}

/* Checks all of the fluid as one part. */
static enum status check_whole(const struct domain *d, const struct flow_case *c)
{
    const int64_t absent = d->refined ? absent_cells(d) : 0;
    struct reach all = {.cells = (double)(d->fluid_cells + absent), .openings = open_of(d, c)};
    for (int k = 0; k < d->openings; k++) {
        all.inflow += d->opening[k].inflow * signal_mean(&case_opening(c, k)->signal, c->run.steps);
        if (d->opening[k].inflow != 0)
            all.openings |= (uint64_t)1 << k;
    }
    const enum wrong wrong = has_sponge(c) ? WRONG_nothing : judge(d, c, &all, outlets_of(d, c));
    return wrong ? report(d, c, &all, wrong) : STATUS_OK;
}

/* Is more than one bit set? */
static bool several(uint64_t bits)
{
    return bits & (bits - 1);
}

/* Result of this rank's parts: the first part in the box with an error, and whether any part joins
 * two open faces. */
struct verdict {
    int64_t cell; /* its first cell; INT64_MAX: no error */
    struct reach reach;
    enum wrong wrong;
    int joined;
};

static void look_at_parts(struct pore_labels *l, struct verdict *v)
{
    const uint64_t open = open_of(l->d, l->c), outlets = outlets_of(l->d, l->c);
    const bool takes = has_sponge(l->c);
    uint32_t at = 0;
    *v = (struct verdict){.cell = INT64_MAX};
    for (const struct pore_part *p; (p = pore_labels_next(l, &at));) {
        const struct reach r = {.cells = (double)p->cells,
                                .inflow = (double)p->inflow * 0x1p-30,
                                .openings = p->openings};
        const enum wrong wrong = takes ? WRONG_nothing : judge(l->d, l->c, &r, outlets);
        v->joined |= several(r.openings & open);
        if (!wrong || p->cell > v->cell)
            continue;
        v->cell = p->cell;
        v->reach = r;
        v->wrong = wrong;
    }
}

/* Makes the verdict the same on all ranks: that of the rank with the first cell. */
static void agree(const struct domain *d, struct verdict *v)
{
    int64_t first = v->cell;
    int root = d->ranks;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, &v->joined, 1, MPI_INT, MPI_MAX, d->comm);
    if (first != INT64_MAX && v->cell == first)
        root = d->rank;
    MPI_Allreduce(MPI_IN_PLACE, &root, 1, MPI_INT, MPI_MIN, d->comm);
    const int joined = v->joined;
    if (root < d->ranks)
        MPI_Bcast(v, (int)sizeof *v, MPI_BYTE, root, d->comm);
    v->joined = joined;
}

static enum status check_parts(const struct domain *d, const struct flow_case *c)
{
    const struct case_region all = {{0, 0, 0}, {c->cells[0], c->cells[1], c->cells[2]}};
    const uint64_t open = open_of(d, c);
    struct pore_labels l;
    struct verdict v;
    char name[FACES_NAME];
    int64_t largest;
    const enum status status = pore_labels_make(&l, d, c, &all, &largest);
    if (status)
        return status;
    look_at_parts(&l, &v);
    pore_labels_free(&l);
    agree(d, &v);
    if (v.wrong)
        return report(d, c, &v.reach, v.wrong);
    if (v.joined || !several(open))
        return STATUS_OK;
    const int k = __builtin_ctzll(open);
    faces_name(c, k, name);
    return fail_case(case_opening(c, k)->place,
                     "%s: no fluid leads from any open face to another one: bodies close every "
                     "way, so that nothing flows (open one)",
                     name);
}

enum status paths_check(const struct domain *d, const struct flow_case *c)
{
    bool flows = open_of(d, c) != 0;
    for (int k = 0; k < d->openings; k++)
        flows = flows || d->opening[k].inflow != 0;
    if (!flows)
        return STATUS_OK;
    /* Other levels join parts of this one. */
    return c->body_count && !d->refined ? check_parts(d, c) : check_whole(d, c);
}
