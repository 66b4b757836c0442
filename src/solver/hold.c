/* The mass of a box whose density nothing holds; see hold.h. */
#include "solver/hold.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "solver/grid.h"
#include "solver/state.h"
#include "tags/level_parts.h"
#include "tags/pumped.h"

/* Least change of density. A step of 1e-4 in density is 5 % of rho u^2 / 2 at a velocity of 0.036.
 * In fp16 w_i d must not be small beside the last place of a population. */
static const double least = 1e-5, least_fp16 = 1e-4;

static bool interpolated(const struct flow_case *c)
{
    bool any = false;
    for (int k = 0; k < c->body_count; k++)
        any = any || c->bodies[k].wall == BODY_WALL_interpolated;
    return any;
}

/* Change of the mean density in a step by walls that move, above which the mass is not held: it is
 * no error of the walls' rule, and the run is to end with the reason (run/sanity.h). */
static const double most_pumped = 1e-8;

static bool pumps(const struct grid *g)
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
        sum += ldexp(exact_value(&one), -2 * l); /* 2^l steps of cells of 8^-l */
    }
    return fabs(sum) > most_pumped * g->hold.cells[0];
}

/* ---- parts ---- */

/* The parts of the fluid of one level. */
static enum status find_parts(struct grid *g)
{
    struct hold *const h = &g->hold;
    struct solver *const s = &g->level->solver;
    const struct domain *const d = &g->level->domain;
    const size_t cells = d->view.cells;
    uint8_t *const of_cell = malloc(cells);
    struct chambers found;
    enum status status = status_agree(
        d->comm, of_cell ? STATUS_OK : fail_machine("out of memory for the parts of the fluid"));
    if (!status)
        status = chambers_find(d, g->level->c, &found, of_cell);
    if (!status && found.count > 1) {
        h->parts = found.count;
        for (int k = 0; k < h->parts; k++)
            h->cells[k] = (double)found.cells[k];
        h->part = solver_alloc(s, cells, 1, 1, "the parts of the fluid");
        status = h->part ? solver_copy_in(s, h->part, of_cell, cells) : STATUS_MACHINE;
        status = status_agree(d->comm, status);
    }
    free(of_cell);
    return status;
}

/* The parts of the fluid of a refined grid are counted alone. */
static enum status count_parts(const struct grid *g)
{
    struct paths_level level[LEVELS];
    struct level_part *part;
    size_t mine;
    for (int l = 0; l < g->levels; l++)
        level[l] = (struct paths_level){&g->level[l].domain, g->level[l].c};
    const enum status status = level_parts_make(level, g->levels, &part, &mine);
    if (status)
        return status;
    int64_t parts = (int64_t)mine;
    free(part);
    MPI_Allreduce(MPI_IN_PLACE, &parts, 1, MPI_INT64_T, MPI_SUM, g->level->domain.comm);
    if (parts > 1)
        warn(
            "the fluid is in %lld parts that do not touch, beside interpolated walls: with refine "
            "the mass of all is held together, and that of each may drift (take wall: halfway, one "
            "level, or a case for each part)",
            (long long)parts);
    return STATUS_OK;
}

enum status hold_create(struct grid *g)
{
    const struct flow_case *const c = g->level->c;
    struct hold *const h = &g->hold;
    *h = (struct hold){.on = interpolated(c) && !case_holds_density(c),
                       .least = c->solver.storage == PRECISION_fp16 ? least_fp16 : least,
                       .parts = 1,
                       .next = HOLD_STEPS,
                       .every = HOLD_STEPS};
    for (int l = 0; l < g->levels; l++)
        h->cells[0] += ldexp((double)g->level[l].domain.fluid_cells, -3 * l);
    h->on = h->on && !pumps(g);
    if (!h->on)
        return STATUS_OK;
    return g->levels == 1 ? find_parts(g) : count_parts(g);
}

void hold_destroy(struct grid *g)
{
    struct backend *const b = g->level->backend;
    if (b && g->hold.part)
        b->type->free(b, g->hold.part);
    g->hold = (struct hold){.on = false};
}

/* ---- mass ---- */

static struct task task_of(const struct hold *h, int part)
{
    return (struct task){.body = h->part ? 1 + part : 0, .before = h->part};
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
            all.failed += add_mine(&g->level[l].solver, task_of(&g->hold, p), &sum) != STATUS_OK;
            exact_split(&sum.drho, all.drho[p][l]);
            all.bad += sum.bad;
        }
    MPI_Allreduce(MPI_IN_PLACE, &all, 2 + parts * 3 * LEVELS, MPI_INT64_T, MPI_SUM, comm);
    for (int p = 0; p < parts; p++) {
        mass[p] = all.bad ? NAN : 0;
        for (int l = 0; l < g->levels; l++) {
            const struct exact_sum drho = exact_join(all.drho[p][l]);
            mass[p] += ldexp(exact_value(&drho), -3 * l);
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
    struct task task = task_of(&g->hold, part);
    task.scale.value = drho;
    for (int l = 0; l < g->levels; l++) {
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
