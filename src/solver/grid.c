/* The grid of a run; see grid.h. */
#include "solver/grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "solver/scalar_range.h"
#include "solver/step.h"
#include "tags/bodies.h"
#include "tags/caps.h"
#include "tags/create.h"
#include "tags/refine.h"
#include "tags/refine_room.h"

/* Lists of cells beside bodies are made for series of forces and of heat, which the case of a level
 * lacks. */
static enum status want_sums(struct flow_case *own, const struct flow_case *c)
{
    if (own->series_count > 0 || c->series_count == 0)
        return STATUS_OK;
    own->series = calloc((size_t)c->series_count, sizeof *own->series);
    if (!own->series)
        return fail_machine("out of memory for the series of a level");
    for (int k = 0; k < c->series_count; k++)
        if (c->series[k].kind == SERIES_KIND_forces || c->series[k].kind == SERIES_KIND_heat)
            own->series[own->series_count++] =
                (struct case_series){.kind = c->series[k].kind,
                                     .body = c->series[k].body,
                                     .opening = c->series[k].opening};
    return STATUS_OK;
}

/* The case and the block of a level; level 0 has its case. */
static enum status create_level(struct grid *g, int l, int row_bytes, MPI_Comm comm)
{
    struct level *const level = &g->level[l];
    enum status status = STATUS_OK;
    if (l > 0) {
        status = case_of_level(g->level[0].c, l, &level->own);
        level->c = &level->own;
        if (!status)
            status = want_sums(&level->own, g->level[0].c);
    }
    status = status_agree(comm, status);
    return status ? status
                  : domain_create_level(&level->domain, level->c,
                                        g->refined.levels > 1 ? &g->refined : NULL, l, row_bytes,
                                        comm);
}

/* Each body has cells on some level, and each cap links. */
static enum status find_bodies(const struct grid *g)
{
    int64_t cells[CASE_BODIES] = {0}, links[CASE_CAPS] = {0};
    for (int l = 0; l < g->levels; l++) {
        for (int k = 0; k < CASE_BODIES; k++)
            cells[k] += g->level[l].domain.body_cells[k];
        for (int k = 0; k < CASE_CAPS; k++)
            links[k] += g->level[l].domain.cap[k].links;
    }
    const enum status status = bodies_found(g->level[0].c, cells);
    return status ? status : caps_found(g->level[0].c, links);
}

enum status grid_create(struct grid *g, const struct flow_case *c, int row_bytes, MPI_Comm comm)
{
    *g = (struct grid){.level[0].c = c};
    enum status status = refine_look(c, true, comm);
    if (!status)
        status = refine_make(&g->refined, c, comm);
    if (!status)
        status = refine_room(&g->refined, comm);
    const int levels = g->refined.levels;
    while (!status && g->levels < levels) {
        status = create_level(g, g->levels, row_bytes, comm);
        if (status) /* that level has no domain */
            case_destroy(&g->level[g->levels].own);
        else
            g->levels++;
    }
    if (!status && levels > 1)
        status = find_bodies(g);
    if (status)
        grid_destroy(g);
    return status;
}

enum status grid_open(struct grid *g, const struct backend_type *type, bool share)
{
    const MPI_Comm comm = g->level[0].domain.comm;
    enum status status = STATUS_OK;
    for (int l = 0; l < g->levels && !status; l++) {
        struct level *const level = &g->level[l];
        struct backend_wanted wanted = backend_wanted(level->c, comm, share);
        wanted.beside = l > 0 ? g->level[0].backend : NULL;
        status = status_agree(comm, type->open(&level->backend, &wanted));
    }
    return status;
}

enum status grid_start(struct grid *g, enum transport transport)
{
    enum status status = STATUS_OK;
    for (int l = 0; l < g->levels && !status; l++) {
        struct level *const level = &g->level[l];
        status = solver_create(&level->solver, &level->domain, level->backend, transport);
        level->solver.driven = &g->drive.acceleration;
        if (g->levels > 1) /* the seams come between two steps */
            level->solver.sweep = 1;
    }
    for (; g->seams + 1 < g->levels && !status; g->seams += status ? 0 : 1) {
        struct level *const coarse = &g->level[g->seams], *const fine = coarse + 1;
        status = seam_create(&g->seam[g->seams], &g->refined, coarse->c, fine->c, &coarse->solver,
                             &fine->solver);
    }
    if (!status)
        shares_create(&g->shares, &g->level->solver, g->level->c);
    return status ? status : hold_create(g);
}

void grid_destroy(struct grid *g)
{
    hold_destroy(g);
    while (g->seams > 0)
        seam_destroy(&g->seam[--g->seams]);
    for (int l = g->levels - 1; l >= 0; l--)
        solver_destroy(&g->level[l].solver);
    for (int l = g->levels - 1; l >= 0; l--) { /* level 0's last: others are beside it */
        struct backend *const b = g->level[l].backend;
        if (b)
            b->type->close(b);
        domain_destroy(&g->level[l].domain);
        case_destroy(&g->level[l].own);
    }
    refined_destroy(&g->refined);
    *g = (struct grid){0};
}

/* The controllers of the flow. */
static enum status adjust_flow(struct grid *g)
{
    const enum status status = drive_adjust(g);
    return status_worse(status, shares_adjust(&g->shares, &g->level->solver, g->level->c));
}

enum status grid_initialise(struct grid *g, const struct given_flow given[])
{
    const struct levels all = levels_of(g);
    const struct flow_case *c[LEVELS];
    g->drive = (struct drive){0};
    for (int l = 0; l < g->levels; l++)
        c[l] = g->level[l].c;
    enum status status = levels_initialise(&all, c, given);
    shares_create(&g->shares, &g->level->solver, g->level->c);
    if (!status)
        status = adjust_flow(g);
    return status ? status : hold_start(g);
}

void grid_resume(struct grid *g)
{
    const struct levels all = levels_of(g);
    scalar_range_share(all.solver, all.count);
}

/* A step of level l and the steps of all finer levels within it. A failure does not end it, as in
 * solver_step. */
static enum status advance(struct grid *g, int l)
{
    struct solver *const s = &g->level[l].solver;
    struct seam *const seam = &g->seam[l];
    enum status status = STATUS_OK;
    const bool first = s->step % ((int64_t)1 << l) == 0;
    for (const struct grid_watch *w = first ? NULL : g->watch; w; w = w->next)
        status = status_worse(status, w->look(w->own, l));
    status = status_worse(status, solver_advance(s));
    if (l + 1 == g->levels)
        return status;
    status = status_worse(status, seam_gathered(seam));
    for (int substep = 1; substep <= 2; substep++) {
        status = status_worse(status, advance(g, l + 1));
        status = status_worse(status, seam_entered(seam, substep));
    }
    return status_worse(status, seam_coalesced(seam));
}

/* Most steps of a sweep of at most `most`, with regard to what follows it. */
static int64_t sweep_most(const struct grid *g, int64_t most)
{
    const int64_t next[] = {hold_next(g), drive_next(g),
                            shares_next(&g->shares, g->level->solver.step)};
    for (size_t k = 0; k < sizeof next / sizeof *next; k++)
        most = next[k] > 0 && next[k] < most ? next[k] : most;
    return most;
}

/* Measurements on all levels that change the next steps. */
static enum status adjust(struct grid *g)
{
    const enum status status = adjust_flow(g);
    return status_worse(status, hold_adjust(g));
}

/* A sweep without adjust. */
static enum status sweep(struct grid *g, int64_t most)
{
    if (g->levels == 1)
        return solver_sweep(&g->level[0].solver, most);
    const struct levels all = levels_of(g);
    const enum status status = advance(g, 0);
    return status_worse(status, levels_adjust(&all));
}

enum status grid_sweep(struct grid *g, int64_t most)
{
    const enum status status = sweep(g, sweep_most(g, most));
    return status_worse(status, adjust(g));
}

/* Adds the phases of a level. On a GPU these are of the last of its steps, but for those of the
 * host. */
static void add_phases(const struct grid *g, int l, double seconds[PHASES])
{
    struct backend *const b = g->level[l].backend;
    double more[PHASES];
    b->timing = false;
    b->type->phases(b, more);
    for (int k = 0; k < PHASES; k++) {
        const bool host = k == PHASE_step || k == PHASE_exchange || k == PHASE_wait;
        seconds[k] += b->type->asynchronous && !host ? ldexp(more[k], l) : more[k];
    }
}

enum status grid_sweep_timed(struct grid *g, int64_t most, double seconds[PHASES])
{
    if (g->levels == 1) {
        const enum status timed =
            solver_sweep_timed(&g->level[0].solver, sweep_most(g, most), seconds);
        return status_worse(timed, adjust(g));
    }
    struct backend *const b = g->level[0].backend;
    enum status status = grid_wait(g);
    for (int l = 0; l < g->levels; l++)
        g->level[l].backend->timing = true;
    b->type->phase(b, QUEUE_INTERIOR, PHASE_step, true);
    status = status_worse(status, grid_sweep(g, most));
    status = status_worse(status, grid_wait(g));
    b->type->phase(b, QUEUE_INTERIOR, PHASE_step, false);
    for (int l = 0; l < g->levels; l++)
        add_phases(g, l, seconds);
    return status;
}

enum status grid_wait(struct grid *g)
{
    enum status status = STATUS_OK;
    for (int l = 0; l < g->levels; l++)
        if (solver_wait(&g->level[l].solver))
            status = STATUS_MACHINE;
    return status;
}

enum status grid_hash(struct grid *g, int set, uint64_t *hash)
{
    enum status status = STATUS_OK;
    *hash = 0;
    for (int l = 0; l < g->levels; l++) {
        uint64_t one = 0;
        if (solver_hash(&g->level[l].solver, set, &one))
            status = STATUS_MACHINE;
        *hash += one;
    }
    return status;
}

struct levels levels_of(struct grid *g)
{
    struct levels all = {.count = g->levels, .refined = g->levels > 1 ? &g->refined : NULL};
    for (int l = 0; l < g->levels; l++)
        all.solver[l] = &g->level[l].solver;
    return all;
}

int64_t grid_cells(const struct grid *g, int level)
{
    return refined_cells(&g->refined, level);
}

double grid_updates(const struct grid *g, bool fluid)
{
    double updates = 0, steps = 1;
    for (int l = 0; l < g->levels; l++, steps *= 2)
        updates += steps * (double)(fluid ? g->level[l].domain.fluid_cells : grid_cells(g, l));
    return updates;
}

double grid_imbalance(const struct grid *g)
{
    double most = 0;
    if (g->levels == 1)
        return g->level[0].domain.imbalance;
    for (int l = 0; l < g->levels; l++)
        most += ldexp((double)g->level[l].domain.fluid_cells, l) * g->level[l].domain.imbalance;
    return most / grid_updates(g, true);
}

static void add_bytes(struct exchange_bytes *sum, struct exchange_bytes one, int level)
{
    sum->all += ldexp(one.all, level);
    sum->between_hosts += ldexp(one.between_hosts, level);
}

struct exchange_bytes grid_messages(const struct grid *g)
{
    struct exchange_bytes sum = {0, 0};
    for (int l = 0; l < g->levels; l++)
        add_bytes(&sum, exchange_bytes(&g->level[l].solver.halo, (const int[]){1, 0}), l);
    for (int l = 0; l < g->seams; l++) {
        const int times[] = {1, g->seam[l].hands ? 2 : 1};
        add_bytes(&sum, exchange_bytes(&g->seam[l].exchange, times), l);
    }
    return sum;
}

const char *grid_transport(const struct grid *g)
{
    const bool device = g->level->solver.transport == TRANSPORT_device;
    int pairs = 0, open = 0;
    bool some = false;
    for (int l = 0; l < g->levels; l++) {
        const struct exchanges *const halo = &g->level[l].solver.halo;
        pairs += halo->peers.pairs;
        open += halo->peers.open;
        some = some || exchange_any(halo);
    }
    for (int l = 0; l < g->seams; l++) {
        pairs += g->seam[l].exchange.peers.pairs;
        open += g->seam[l].exchange.peers.open;
        some = some || g->seam[l].messages > 0;
    }
    if (!some)
        return "none";
    if (g->level->backend->shares && open == pairs)
        return "ipc";
    if (open > 0)
        return device ? "ipc, device" : "ipc, host";
    return device ? "device" : "host";
}

double grid_bytes(const struct grid *g)
{
    double bytes = 0;
    for (int l = 0; l < g->levels; l++) {
        const struct level *const level = &g->level[l];
        bytes += solver_bytes(&level->domain) + (level->backend ? level->backend->lists : 0);
    }
    for (int l = 0; l < g->seams; l++)
        bytes += g->seam[l].bytes;
    return bytes;
}
