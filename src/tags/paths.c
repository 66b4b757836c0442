/* Paths of the fluid between faces; see paths.h. */
#include "tags/paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/message.h"
#include "case/signal.h"
#include "tags/faces.h"
#include "tags/pore_labels.h"

/* A part of the fluid. */
struct reach {
    double cells, inflow; /* inflow: mean over the run, cells^3 a step */
    uint64_t openings;    /* as in struct pore_part */
};

/* Possible errors. */
enum wrong { WRONG_nothing, WRONG_blocked, WRONG_drift };

/* Gates: the openings, and caps from PORE_CAP down, as in struct pore_part. The cap of a gate;
 * NULL: it is an opening. */
static const struct case_cap *cap_of(const struct domain *d, const struct flow_case *c, int gate)
{
    return gate < d->openings ? NULL : case_cap(c, PORE_CAP - gate);
}

/* The gate after this one; -1: before the first. More than PORE_CAP: there is none. */
static int next_gate(const struct domain *d, const struct flow_case *c, int gate)
{
    const int first_cap = PORE_CAP + 1 - case_caps(c);
    return ++gate >= d->openings && gate < first_cap ? first_cap : gate;
}

static const char *place_of(const struct domain *d, const struct flow_case *c, int gate)
{
    const struct case_cap *const cap = cap_of(d, c, gate);
    return cap ? cap->place : case_opening(c, gate)->place;
}

/* "faces.xmin", "patches.inlet", "the cap outlet". */
static void gate_name(const struct domain *d, const struct flow_case *c, int gate,
                      char name[FACES_NAME])
{
    const struct case_cap *const cap = cap_of(d, c, gate);
    if (cap)
        snprintf(name, FACES_NAME, "the cap %s", cap->name);
    else
        faces_name(c, gate, name);
}

/* The given flow into the box, where its time function is 1. */
static double given_of(const struct domain *d, const struct flow_case *c, int gate)
{
    const struct case_cap *const cap = cap_of(d, c, gate);
    return cap ? cap->flow_rate : d->opening[gate].inflow;
}

static const struct case_signal *signal_of(const struct domain *d, const struct flow_case *c,
                                           int gate)
{
    const struct case_cap *const cap = cap_of(d, c, gate);
    return cap ? &cap->signal : &case_opening(c, gate)->signal;
}

/* Gates with open cells that let any mass in or out, as they hold a density. */
static uint64_t outlets_of(const struct domain *d, const struct flow_case *c)
{
    uint64_t bits = 0;
    for (int k = next_gate(d, c, -1); k <= PORE_CAP; k = next_gate(d, c, k)) {
        const struct case_cap *const cap = cap_of(d, c, k);
        if (cap ? cap->kind == CAP_pressure
                : d->opening[k].open && face_holds_density(case_opening(c, k)))
            bits |= (uint64_t)1 << k;
    }
    return bits;
}

/* All gates with open cells. */
static uint64_t open_of(const struct domain *d, const struct flow_case *c)
{
    uint64_t bits = 0;
    for (int k = next_gate(d, c, -1); k <= PORE_CAP; k = next_gate(d, c, k))
        if (cap_of(d, c, k) || (d->opening[k].open && face_open(case_opening(c, k)->kind)))
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
    for (int k = 0; k < CASE_CAPS; k++) /* on any level */
        beside += (double)d->cap[k].links;
    /* smaller values are rounding of the sums in pore_labels.h */
    if (r->openings & outlets || !(fabs(r->inflow) > 0x1p-29 * beside))
        return WRONG_nothing;
    if (outlets)
        return WRONG_blocked;
    return fabs(drift_of(c, r)) > PATHS_DRIFT ? WRONG_drift : WRONG_nothing;
}

/* The first gate of a part with a given inflow; else the first of all. */
static int giver_of(const struct domain *d, const struct flow_case *c, const struct reach *r)
{
    for (int k = next_gate(d, c, -1); k <= PORE_CAP; k = next_gate(d, c, k))
        if (r->openings >> k & 1 && given_of(d, c, k) != 0)
            return k;
    return 0;
}

/* k: a gate that gives a velocity. volume: brought into the fluid by a step, in cells^3; cells:
 * of the fluid. */
static enum status report_drift(const struct domain *d, const struct flow_case *c, int k,
                                double volume, double cells, int64_t step)
{
    char name[FACES_NAME];
    gate_name(d, c, k, name);
    return fail_case(place_of(d, c, k),
                     "%s: the velocities that the %s give bring %.4g cells^3 more %s than %s by "
                     "step %lld, which would change the density by %+.3g %% (make one of the %s "
                     "pressure%s, or let velocities balance at any time)",
                     name, case_caps(c) ? "caps" : "faces", fabs(volume), volume > 0 ? "in" : "out",
                     volume > 0 ? "out" : "in", (long long)step, 100 * volume / cells,
                     case_caps(c) ? "caps" : "faces",
                     case_caps(c) ? "" : ", outflow or nonreflecting");
}

static enum status report(const struct domain *d, const struct flow_case *c, const struct reach *r,
                          enum wrong wrong)
{
    const int k = giver_of(d, c, r);
    char name[FACES_NAME];
    if (wrong == WRONG_drift)
        return report_drift(d, c, k, drift_of(c, r) * r->cells, r->cells, c->run.steps);
    gate_name(d, c, k, name);
    return fail_case(place_of(d, c, k),
                     "%s: no fluid leads from it to an open face through which that could "
                     "%s: bodies close every way (open one, or remove %s)",
                     name, r->inflow > 0 ? "leave" : "come", name);
}

/* Steps until a time function repeats or stays. */
static double span_of(const struct case_signal *s)
{
    const double table = s->points ? s->times[s->points - 1] : 0;
    return fmax(fmax(s->duration, s->period), table);
}

static double net_inflow(const struct domain *d, const struct flow_case *c, int64_t step)
{
    double net = 0;
    for (int k = next_gate(d, c, -1); k <= PORE_CAP; k = next_gate(d, c, k))
        if (given_of(d, c, k) != 0)
            net += given_of(d, c, k) * signal_at(signal_of(d, c, k), step);
    return net;
}

double paths_drift(const struct domain *d, const struct flow_case *c, double cells, int64_t *step)
{
    static const double times = 0x1p16;
    double mean = 0, span = 0, sum = 0;
    for (int k = next_gate(d, c, -1); k <= PORE_CAP; k = next_gate(d, c, k)) {
        const struct case_signal *const s = signal_of(d, c, k);
        if (given_of(d, c, k) == 0)
            continue;
        mean += given_of(d, c, k) * signal_mean(s, c->run.steps);
        span = fmax(span, span_of(s));
    }
    double most = mean * (double)c->run.steps / cells;
    *step = c->run.steps;
    span = fmin(2 * span, (double)c->run.steps);
    const int64_t apart = (int64_t)fmax(1, span / times);
    for (int64_t t = 0; (double)t < span; t += apart) {
        sum += net_inflow(d, c, t) * (double)apart / cells;
        if (fabs(sum) > fabs(most)) {
            most = sum;
            *step = t + apart;
        }
    }
    return most;
}

/* Without an outlet all that the faces give stays in the fluid. cells: of it. */
static enum status check_whole(const struct domain *d, const struct flow_case *c, double cells)
{
    const struct reach all = {.openings = UINT64_MAX};
    int64_t step;
    const double drift = paths_drift(d, c, cells, &step);
    if (case_holds_density(c) || fabs(drift) <= PATHS_DRIFT)
        return STATUS_OK;
    return report_drift(d, c, giver_of(d, c, &all), drift * cells, cells, step);
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

/* Facts by which the parts are judged. */
struct measure {
    const struct domain *d;
    const struct flow_case *c;
    uint64_t open, outlets;
    bool takes; /* mass: there is a sponge */
};

static struct measure measure_of(const struct domain *d, const struct flow_case *c)
{
    return (struct measure){d, c, open_of(d, c), outlets_of(d, c), has_sponge(c)};
}

/* cell: the first of the part. */
static void look_at_part(struct verdict *v, const struct measure *m, const struct reach *r,
                         int64_t cell)
{
    const enum wrong wrong = m->takes ? WRONG_nothing : judge(m->d, m->c, r, m->outlets);
    v->joined |= several(r->openings & m->open);
    if (!wrong || cell > v->cell)
        return;
    v->cell = cell;
    v->reach = *r;
    v->wrong = wrong;
}

/* The velocities into a part, from units of the sums in pore_labels.h. */
static double inflow_of(int64_t sum)
{
    return (double)sum * 0x1p-30;
}

/* Gives all ranks the verdict of the rank with the first cell; joined: if true on one, on all. */
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

/* Judges the parts of all ranks by the verdicts on their own. */
static enum status conclude(const struct domain *d, const struct flow_case *c, struct verdict *v)
{
    const uint64_t open = open_of(d, c);
    char name[FACES_NAME];
    agree(d, v);
    if (v->wrong)
        return report(d, c, &v->reach, v->wrong);
    if (v->joined || !several(open))
        return STATUS_OK;
    const int k = __builtin_ctzll(open);
    gate_name(d, c, k, name);
    return fail_case(place_of(d, c, k),
                     "%s: no fluid leads from any open face to another one: bodies close every "
                     "way, so that nothing flows (open one)",
                     name);
}

static enum status check_parts(const struct paths_level *level, int levels)
{
    const struct measure m = measure_of(level->d, level->c);
    struct verdict v = {.cell = INT64_MAX};
    struct joined_parts p;
    const enum status status = level_parts_make(level, levels, &p);
    if (status)
        return status;
    for (size_t k = 0; k < p.count; k++) {
        const struct level_part *const part = &p.part[k];
        const struct reach r = {part->cells, inflow_of(part->inflow), part->openings};
        look_at_part(&v, &m, &r, part->cell);
    }
    level_parts_free(&p);
    return conclude(level->d, level->c, &v);
}

/* Can anything flow through faces? */
static bool flows(const struct domain *d, const struct flow_case *c)
{
    bool any = open_of(d, c) != 0;
    for (int k = next_gate(d, c, -1); k <= PORE_CAP; k = next_gate(d, c, k))
        any = any || given_of(d, c, k) != 0;
    return any;
}

enum status paths_check(const struct paths_level *level, int levels)
{
    double cells = 0;
    if (!flows(level->d, level->c))
        return STATUS_OK;
    for (int l = 0; l < levels; l++)
        cells +=
            ldexp((double)level[l].d->fluid_cells, -refined_dimensions(level[l].d->refined, 3) * l);
    const enum status status = level->c->body_count ? check_parts(level, levels) : STATUS_OK;
    return status ? status : check_whole(level->d, level->c, cells);
}
