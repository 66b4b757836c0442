/* Caps on the grid; see caps.h. */
#include "tags/caps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "boundary.h"
#include "exact.h"

static const int velocities[Q][3] = LATTICE_VELOCITIES;

/* The body that has caps; -1: none. */
static int capped(const struct bodies *b)
{
    int body = -1;
    for (int k = 0; k < b->count; k++)
        body = b->c->bodies[k].cap_count ? k : body;
    return body;
}

/* ---- cells ---- */

static enum status add_row(struct domain *d, const struct case_cap *cap, int number, uint8_t *type)
{
    if (d->row_count == TAG_ROWS)
        return fail_case(cap->place,
                         "the cap %s: faces, bodies and caps together make more than %d kinds of "
                         "cells (fewer bodies, labels, or parts of faces)",
                         cap->name, TAG_ROWS);
    *type = (uint8_t)d->row_count;
    struct tag_row *const row = &d->rows[d->row_count];
    *row = (struct tag_row){.drho = cap->density - 1};
    row->boundary = cap->kind == CAP_velocity ? BOUNDARY_cap_velocity : BOUNDARY_cap_pressure;
    tag_row_move(row, cap->at.normal);
    d->row_cap[d->row_count++] = (uint8_t)(1 + number);
    return domain_signal(d, &cap->signal,
                         cap->kind == CAP_velocity ? &row->signal_velocity : &row->signal_density);
}

/* Where the link from the centre of a cell along c leaves the mesh; false: it does not. */
static bool leaves_at(const struct body *b, const int cell[3], const int c[3], double at[3])
{
    const double q = body_crossing(b, cell, c);
    for (int a = 0; a < 3; a++)
        at[a] = cell[a] + 0.5 + q * c[a];
    return q <= 1;
}

/* The cap behind which solid cell g lies; -1: none. */
static int cap_of(const struct body *b, const int g[3])
{
    int links[CASE_CAPS] = {0}, others = 0, best = -1;
    for (int i = 1; i < Q; i++) {
        const int *const c = velocities[i];
        const int from[3] = {g[0] - c[0], g[1] - c[1], g[2] - c[2]};
        uint8_t inside = 0;
        double at[3];
        int found = -1;
        body_row(b, from[0], 1, from[1], from[2], &inside);
        if (!inside || !leaves_at(b, from, c, at))
            continue;
        for (int k = 0; k < b->what->cap_count && found < 0; k++)
            if (mesh_cap_holds(&b->what->caps[k].at, at))
                found = k;
        if (found < 0)
            others++;
        else
            links[found]++;
    }
    for (int k = 0; k < b->what->cap_count; k++)
        if (links[k] > others && (best < 0 || links[k] > links[best]))
            best = k;
    return best;
}

/* Tags the cells of the body behind a cap, in the block and its ghost cells. Returns how many the
 * block owns. */
static int64_t tag_cells(struct domain *d, const struct body *b, int body, int cap, uint8_t type)
{
    const struct view *const v = &d->view;
    const struct mesh_cap *const at = &b->what->caps[cap].at;
    int lo[3], hi[3];
    int64_t cells = 0;
    for (int a = 0; a < 3; a++) {
        const int low = (int)floor(at->lo[a]) - 2 - d->lo[a],
                  high = (int)ceil(at->hi[a]) + 2 - d->lo[a];
        lo[a] = low > -v->ghost[a] ? low : -v->ghost[a];
        hi[a] = high < v->n[a] + v->ghost[a] ? high : v->n[a] + v->ghost[a];
    }
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++) {
                uint8_t *const tag = &d->tags[view_index(v, x, y, z)];
                const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                const bool owned =
                    x >= 0 && x < v->n[0] && y >= 0 && y < v->n[1] && z >= 0 && z < v->n[2];
                if (v->rows[*tag & TAG_ROW].body != 1 + body || cap_of(b, g) != cap)
                    continue;
                *tag = type;
                cells += owned;
            }
    return cells;
}

static enum status no_link(const struct case_cap *cap)
{
    return fail_case(
        cap->place,
        "the cap %s: no link crosses it: its area of %.3g cells is too small, or other "
        "bodies cover it (a finer grid, or another center)",
        cap->name, cap->at.area);
}

enum status caps_place(const struct bodies *b, struct domain *d)
{
    const int body = capped(b);
    enum status status = STATUS_OK;
    for (int k = 0; body >= 0 && k < b->c->bodies[body].cap_count && !status; k++) {
        const struct case_cap *const cap = &b->c->bodies[body].caps[k];
        uint8_t type = 0;
        status = add_row(d, cap, k, &type);
        if (status)
            break;
        int64_t cells = tag_cells(d, &b->body[body], body, k, type);
        MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPI_INT64_T, MPI_SUM, d->comm);
        d->cap[k].cells = cells;
        if (!cells && !d->refined)
            status = no_link(cap);
    }
    return status;
}

enum status caps_found(const struct flow_case *c, const int64_t links[CASE_CAPS])
{
    for (int k = 0; k < case_caps(c); k++)
        if (!links[k])
            return no_link(case_cap(c, k));
    return STATUS_OK;
}

/* ---- links ---- */

/* A link into a cap. */
struct cap_link {
    size_t at; /* its place in the list of links */
    int cap;
    double weight; /* 6 w c.n: mass that a velocity of 1 brings */
    double depth;  /* distance of its crossing from the outline */
};

/* Calls `each` for all links into caps of the list. */
static void each_link(const struct bodies *b, const struct domain *d, int body,
                      void (*each)(const struct cap_link *l, void *to), void *to)
{
    const struct view *const v = &d->view;
    for (size_t n = 0; n < v->near.count; n++) {
        const struct near_cell *const cell = &d->near[n];
        size_t at = cell->first;
        for (int i = 1; i < Q; i++) {
            const int *const c = velocities[i];
            if (!(cell->links >> i & 1))
                continue;
            const uint8_t type =
                v->tags[view_index(v, cell->at[0] - c[0], cell->at[1] - c[1], cell->at[2] - c[2])] &
                TAG_ROW;
            struct cap_link l = {.at = at++, .cap = d->row_cap[type] - 1};
            if (l.cap < 0)
                continue;
            const struct mesh_cap *const cap = &b->c->bodies[body].caps[l.cap].at;
            const double q = (double)d->crossing[l.at];
            double p[3];
            for (int a = 0; a < 3; a++) {
                l.weight += 6 * LATTICE_WEIGHT(double, i) * c[a] * cap->normal[a];
                p[a] = d->lo[a] + cell->at[a] + 0.5 - q * c[a];
            }
            l.depth = mesh_cap_depth(cap, p);
            each(&l, to);
        }
    }
}

/* Sums over the links of each cap. */
struct cap_sums {
    const struct case_cap *caps;
    double deepest[CASE_CAPS], factor[CASE_CAPS], fastest[CASE_CAPS];
    struct exact_sum area[CASE_CAPS], flow[CASE_CAPS]; /* of the profile with a peak of 1 */
    int64_t links[CASE_CAPS];
    float *speed;
};

static void find_deepest(const struct cap_link *l, void *to)
{
    struct cap_sums *const s = to;
    s->deepest[l->cap] = fmax(s->deepest[l->cap], l->depth);
}

/* The profile where the link crosses the cap. */
static double profile(const struct cap_sums *s, const struct cap_link *l)
{
    const double deepest = s->deepest[l->cap], rest = 1 - l->depth / deepest;
    if (!(l->weight > 0))
        return 0;
    return s->caps[l->cap].profile == CAP_PROFILE_flat || !(deepest > 0) ? 1 : 1 - rest * rest;
}

static void add_link(const struct cap_link *l, void *to)
{
    struct cap_sums *const s = to;
    s->links[l->cap]++;
    exact_add(&s->area[l->cap], l->weight);
    exact_add(&s->flow[l->cap], l->weight * profile(s, l));
}

static void put_speed(const struct cap_link *l, void *to)
{
    struct cap_sums *const s = to;
    const double speed = s->factor[l->cap] * profile(s, l);
    s->speed[l->at] = s->caps[l->cap].kind == CAP_velocity ? (float)speed : 1;
    s->fastest[l->cap] = fmax(s->fastest[l->cap], fabs(speed));
}

static double joined(const struct domain *d, const struct exact_sum *sum)
{
    int64_t parts[3];
    exact_split(sum, parts);
    MPI_Allreduce(MPI_IN_PLACE, parts, 3, MPI_INT64_T, MPI_SUM, d->comm);
    const struct exact_sum all = exact_join(parts);
    return exact_value(&all);
}

static enum status check_speed(const struct case_body *body, const struct case_cap *cap,
                               double fastest)
{
    const double speed = fastest * signal_peak(&cap->signal);
    if (speed * sqrt(3.0) <= MACH_MAX)
        return STATUS_OK;
    return fail_case(cap->place,
                     "bodies.%s.caps.%s: fluid comes in with a velocity of %.4g cells a step, Mach "
                     "%.3g (at most Mach %g: more cells across the cap, or a smaller velocity)",
                     body->name, cap->name, speed, speed * sqrt(3.0), MACH_MAX);
}

enum status caps_links(const struct bodies *b, struct domain *d)
{
    const int number = capped(b);
    if (number < 0)
        return STATUS_OK;
    const struct case_body *const body = &b->c->bodies[number];
    struct cap_sums s = {.caps = body->caps};
    enum status status = STATUS_OK;
    s.speed = malloc((d->view.near.crossings + 1) * sizeof *s.speed);
    status = status_agree(d->comm, s.speed ? STATUS_OK
                                           : fail_machine("out of memory for the links of caps"));
    if (status)
        return status;
    for (size_t k = 0; k < d->view.near.crossings; k++)
        s.speed[k] = 1;
    d->view.near.speed = d->speed = s.speed;
    each_link(b, d, number, find_deepest, &s);
    MPI_Allreduce(MPI_IN_PLACE, s.deepest, CASE_CAPS, MPI_DOUBLE, MPI_MAX, d->comm);
    each_link(b, d, number, add_link, &s);
    MPI_Allreduce(MPI_IN_PLACE, s.links, CASE_CAPS, MPI_INT64_T, MPI_SUM, d->comm);
    for (int k = 0; k < body->cap_count; k++) {
        const double flow = joined(d, &s.flow[k]);
        d->cap[k].links = s.links[k];
        d->cap[k].area = joined(d, &s.area[k]);
        s.factor[k] = flow > 0 ? body->caps[k].flow_rate / flow : 0;
    }
    each_link(b, d, number, put_speed, &s);
    MPI_Allreduce(MPI_IN_PLACE, s.fastest, CASE_CAPS, MPI_DOUBLE, MPI_MAX, d->comm);
    for (int k = 0; k < body->cap_count && !status; k++) {
        d->cap[k].fastest = s.fastest[k];
        status = check_speed(body, &body->caps[k], s.fastest[k]);
    }
    return status;
}
