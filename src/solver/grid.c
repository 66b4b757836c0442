/* The grid of a run; see grid.h. */
#include "solver/grid.h"

#include <math.h>

#include "base/agree.h"
#include "tags/create.h"

enum status grid_create(struct grid *g, const struct flow_case *c, MPI_Comm comm)
{
    *g = (struct grid){.levels = 1};
    g->level[0].c = c;
    return domain_create(&g->level[0].domain, c, comm);
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
    }
    return status;
}

void grid_destroy(struct grid *g)
{
    for (int l = g->levels - 1; l >= 0; l--)
        solver_destroy(&g->level[l].solver);
    for (int l = g->levels - 1; l >= 0; l--) { /* that of level 0 last: it has the queues */
        struct backend *const b = g->level[l].backend;
        if (b)
            b->type->close(b);
        domain_destroy(&g->level[l].domain);
    }
    *g = (struct grid){0};
}

enum status grid_initialise(struct grid *g, const struct given_flow *given)
{
    enum status status = STATUS_OK;
    for (int l = 0; l < g->levels && !status; l++)
        status = solver_initialise(&g->level[l].solver, g->level[l].c, given);
    return status;
}

enum status grid_sweep(struct grid *g, int64_t most)
{
    return solver_sweep(&g->level[0].solver, most);
}

enum status grid_sweep_timed(struct grid *g, int64_t most, double seconds[PHASES])
{
    return solver_sweep_timed(&g->level[0].solver, most, seconds);
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

int64_t grid_cells(const struct grid *g, int level)
{
    const int *const n = g->level[level].domain.cells;
    return (int64_t)n[0] * n[1] * n[2];
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

struct halo_bytes grid_messages(const struct grid *g)
{
    struct halo_bytes sum = {0, 0};
    for (int l = 0; l < g->levels; l++) {
        const struct halo_bytes one = halo_bytes(&g->level[l].solver.halo);
        sum.all += ldexp(one.all, l);
        sum.between_hosts += ldexp(one.between_hosts, l);
    }
    return sum;
}

double grid_bytes(const struct grid *g)
{
    double bytes = 0;
    for (int l = 0; l < g->levels; l++) {
        const struct level *const level = &g->level[l];
        bytes += solver_bytes(&level->domain) + (level->backend ? level->backend->lists : 0);
    }
    return bytes;
}
