/* The mass of a box whose density nothing holds; see hold.h. */
#include "solver/hold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "case/signal.h"
#include "solver/grid.h"
#include "solver/state.h"
#include "tags/paths.h"
#include "tags/pumped.h"

/* Least change of density. A step of 1e-4 in density is 5 % of rho u^2 / 2 at a velocity of 0.036.
 * In fp16 w_i d must not be small beside the last place of a population. */
static const double least = 1e-5, least_fp16 = 1e-4;

/* Do given velocities or interpolated walls make or lose mass? */
static bool drifts(const struct flow_case *c)
{
    bool any = case_is_open(c);
    for (int k = 0; k < c->body_count; k++)
        any = any || c->bodies[k].wall == BODY_WALL_interpolated;
    return any;
}

/* Change of the mean density in a step by walls that move, above which the mass is not held: it is
 * no error of a rule, and the run is to end with the reason (run/sanity.h). */
static const double most_pumped = 1e-8;

/* Flow into the box, at a factor of 1, through all openings and caps of this time function. */
static double inflow_with(const struct grid *g, const struct case_signal *signal)
{
    const struct domain *const d = &g->level->domain;
    const struct flow_case *const c = g->level->c;
    double net = 0;
    for (int k = 0; k < d->openings; k++)
        if (signal_same(signal, &case_opening(c, k)->signal))
            net += d->opening[k].inflow;
    for (int k = 0; k < case_caps(c); k++)
        if (case_cap(c, k)->kind == CAP_velocity && signal_same(signal, &case_cap(c, k)->signal))
            net += case_cap(c, k)->flow_rate;
    return net;
}

/* May factors that are set (`steer`) let more in than out? Only openings with the same name balance
 * each other whatever the factor is. */
static bool steering_pumps(const struct grid *g)
{
    const struct flow_case *const c = g->level->c;
    bool pumps = false;
    for (int k = 0; k < case_gates(c); k++) {
        const struct case_signal *const s = case_gate(c, k).signal;
        pumps = pumps || (s->kind == SIGNAL_steer &&
                          fabs(inflow_with(g, s)) > most_pumped * g->hold.cells[0]);
    }
    return pumps;
}

/* Do the openings change the density by more than a case may? */
static bool openings_pump(const struct grid *g)
{
    int64_t step;
    if (steering_pumps(g))
        return true;
    const double drift = paths_drift(&g->level->domain, g->level->c, g->hold.cells[0], &step);
    return fabs(drift) > PATHS_DRIFT;
}

static bool walls_pump(const struct grid *g)
{
    double sum = 0;
    for (int l = 0; l < g->levels; l++) {
        const struct domain *const d = &g->level[l].domain;
        struct exact_sum one = {0};
        int64_t parts[3];
        pumped_add(d, &one);
        exact_split(&one, parts);
        MPI_Allreduce(MPI_IN_PLACE, parts, 3, MPI_INT64_T, MPI_SUM, d->comm);
        one = exact_join(parts);
        sum += ldexp(exact_value(&one),
                     -refined_dimensions(d->refined, 2) * l); /* 2^l steps of cells of 8^-l */
    }
    return fabs(sum) > most_pumped * g->hold.cells[0];
}

/* ---- parts ---- */

/* Puts the number of the part of each cell of a level into memory of its backend. */
static enum status number_cells(struct grid *g, int l, const struct chambers *found)
{
    struct level *const level = &g->level[l];
    const size_t cells = level->domain.view.cells;
    uint8_t *const of_cell = malloc(cells + 1);
    uint8_t **const part = &g->hold.part[l];
    *part = solver_alloc(&level->solver, cells + 1, 1, 1, "the parts of the fluid");
    enum status status = *part ? STATUS_OK : STATUS_MACHINE;
    if (!of_cell)
        status = fail_machine("out of memory for the parts of the fluid");
    status = status_agree(level->domain.comm, status);
    if (!status)
        status = chambers_number(found, &(struct paths_level){&level->domain, level->c}, of_cell);
    if (!status)
        status = solver_copy_in(&level->solver, *part, of_cell, cells);
    free(of_cell);
    return status_agree(level->domain.comm, status);
}

/* Several parts have a mass each. */
static enum status find_parts(struct grid *g)
{
    struct hold *const h = &g->hold;
    struct paths_level level[LEVELS];
    struct chambers found;
    for (int l = 0; l < g->levels; l++)
        level[l] = (struct paths_level){&g->level[l].domain, g->level[l].c};
    enum status status = chambers_find(level, g->levels, &found);
    if (status)
        return status;
    if (found.count > 1) {
        h->parts = found.count;
        memcpy(h->cells, found.cells, sizeof h->cells);
        for (int l = 0; l < g->levels && !status; l++)
            status = number_cells(g, l, &found);
    }
    chambers_free(&found);
    return status;
}

enum status hold_create(struct grid *g)
{
    const struct flow_case *const c = g->level->c;
    struct hold *const h = &g->hold;
    *h = (struct hold){.on = drifts(c) && !case_holds_density(c),
                       .least = c->solver.storage == PRECISION_fp16 ? least_fp16 : least,
                       .parts = 1,
                       .next = HOLD_STEPS,
                       .every = HOLD_STEPS};
    for (int l = 0; l < g->levels; l++)
        h->cells[0] +=
            ldexp((double)g->level[l].domain.fluid_cells, -refined_dimensions(&g->refined, 3) * l);
    h->on = h->on && !walls_pump(g) && !openings_pump(g);
    const enum status status = h->on ? find_parts(g) : STATUS_OK;
    h->on = h->on && (h->parts == 1 || !case_is_open(c)); /* each would need a balance of its own */
    return status;
}

void hold_destroy(struct grid *g)
{
    for (int l = 0; l < g->levels; l++) {
        struct backend *const b = g->level[l].backend;
        if (b && g->hold.part[l])
            b->type->free(b, g->hold.part[l]);
    }
    g->hold = (struct hold){.on = false};
}

/* ---- mass ---- */

static struct task task_of(const struct hold *h, int part, int level)
{
    return (struct task){.mass = {.parts = h->part[level], .part = part}};
}

static enum status add_mine(struct solver *s, struct task task, struct mass *sum)
{
    const struct box all = domain_all(s->domain);
    int workers;
    const struct mass *const partial = solver_partials(s, KERNEL_mass, &all, task, &workers);
    for (int k = 0; partial && k < workers; k++)
        mass_join(sum, &partial[k]);
    return partial ? STATUS_OK : STATUS_MACHINE;
}

/* M - N of each part; NaN if the flow has diverged, which is reported later, with its cell. */
static enum status measure(struct grid *g, double mass[CHAMBERS])
{
    const MPI_Comm comm = g->level->domain.comm;
    const int parts = g->hold.parts;
    struct {
        int64_t failed, bad, drho[CHAMBERS][LEVELS][3];
    } all = {.failed = 0};
    for (int p = 0; p < parts; p++)
        for (int l = 0; l < g->levels; l++) {
            struct mass sum = mass_none();
            all.failed += add_mine(&g->level[l].solver, task_of(&g->hold, p, l), &sum) != STATUS_OK;
            exact_split(&sum.drho, all.drho[p][l]);
            all.bad += sum.bad;
        }
    MPI_Allreduce(MPI_IN_PLACE, &all, 2 + parts * 3 * LEVELS, MPI_INT64_T, MPI_SUM, comm);
    for (int p = 0; p < parts; p++) {
        mass[p] = all.bad ? NAN : 0;
        for (int l = 0; l < g->levels; l++) {
            const struct exact_sum drho = exact_join(all.drho[p][l]);
            mass[p] += ldexp(exact_value(&drho), -refined_dimensions(&g->refined, 3) * l);
        }
    }
    return all.failed ? STATUS_MACHINE : STATUS_OK;
}

enum status hold_start(struct grid *g)
{
    return g->hold.on ? measure(g, g->hold.first) : STATUS_OK;
}

/* Adds `drho` to the density of a part. */
static void raise_part(struct grid *g, int part, double drho)
{
    for (int l = 0; l < g->levels; l++) {
        struct task task = task_of(&g->hold, part, l);
        task.mass.by = drho;
        const struct box all = domain_all(&g->level[l].domain);
        solver_launch(&g->level[l].solver, KERNEL_raise, &all, task);
    }
}

enum status hold_adjust(struct grid *g)
{
    struct hold *const h = &g->hold;
    const double step = (double)g->level->solver.step;
    double mass[CHAMBERS], largest = 0;
    if (!h->on || step < h->next)
        return STATUS_OK;
    if (measure(g, mass))
        return STATUS_MACHINE;
    for (int p = 0; p < h->parts; p++) {
        const double drho = (h->first[p] - mass[p]) / h->cells[p];
        if (fabs(drho) >= h->least)
            raise_part(g, p, drho);
        largest = fmax(largest, fabs(drho));
    }
    if (largest >= h->least)
        h->every = HOLD_STEPS;
    else if (largest < h->least / 4 && h->every < HOLD_MOST)
        h->every *= 2;
    h->next = step + h->every;
    return STATUS_OK;
}

int64_t hold_next(const struct grid *g)
{
    return g->hold.on ? (int64_t)g->hold.next - g->level->solver.step : 0;
}

enum status hold_register(struct grid *g, struct state *state)
{
    if (!g->hold.on)
        return STATUS_OK;
    return state_add_numbers(state, "run/mass",
                             "mass held: of each part at the start, less its cells; next "
                             "measurement; steps between two",
                             SAMPLE_float64, CHAMBERS + 2, g->hold.first);
}
