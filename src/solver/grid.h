/* The grid of a run: its levels, and the seams between them. A case without `refine` has one level.
 *
 * Levels have cells of half the width, one after the other, and make two steps in each step of the
 * level before. Each level is a solver with a domain, a case and a backend of its own: cells, steps
 * and rates of its case are those of the level. Steps of a run are steps of level 0. All levels
 * stand at the same time between two calls of grid_sweep. */
#ifndef TAGFLOW_GRID_H
#define TAGFLOW_GRID_H

#include "domain/refined.h"
#include "solver/drive.h"
#include "solver/hold.h"
#include "solver/levels.h"
#include "solver/seam.h"
#include "solver/shares.h"
#include "solver/solver.h"

/* One cell size, and the flow on it. */
struct level {
    const struct flow_case *c; /* in units of the level; level 0: the case of the run */
    struct flow_case own;      /* levels above 0: c points here */
    struct domain domain;
    struct backend *backend;
    struct solver solver;
};

/* Called before the later steps of a level within a step of level 0, once the level has all that it
 * got from others: for measurements of whole steps. The first step is measured
 * between two sweeps. */
struct grid_watch {
    enum status (*look)(void *own, int level); /* on all ranks, which may fail alone */
    void *own;
    struct grid_watch *next;
};

struct grid {
    int levels;
    struct refined refined;
    struct level level[LEVELS];
    struct seam seam[LEVELS - 1]; /* between level k and k + 1 */
    int seams;                    /* those that exist */
    struct drive drive;           /* the flow-rate controller */
    struct outlet_shares shares;  /* the controller of shares of outlets */
    struct hold hold;
    struct grid_watch *watch; /* a list; entries are added by those who have them */
};

/* Makes the regions of all levels and the tags of this rank's blocks. row_bytes: of the type of
 * backend that will step them. The case must outlive the grid. Collective. STATUS_USAGE or
 * STATUS_MACHINE, reported; then there is nothing to destroy. */
enum status grid_create(struct grid *g, const struct flow_case *c, int row_bytes, MPI_Comm comm);

/* Opens a backend for each level; they share one device and its queues. share: several ranks may
 * use one device. Collective. STATUS_MACHINE, reported. */
enum status grid_open(struct grid *g, const struct backend_type *type, bool share);

/* Allocates populations, at rest, and makes the seams. Afterwards the grid must not move.
 * Collective; errors as solver_create. */
enum status grid_start(struct grid *g, enum transport transport);

/* An empty grid, all zero: nothing. */
void grid_destroy(struct grid *g);

/* The flow at step 0 on all levels. given: of each level, as solver_initialise, or NULL. Errors as
 * there. */
enum status grid_initialise(struct grid *g, const struct given_flow given[]);

/* After the state was read from a checkpoint: gives all levels the scalar ranges of level 0. */
void grid_resume(struct grid *g);

/* As solver_sweep, solver_sweep_timed, solver_wait, for steps of level 0 and all levels. With
 * several levels a sweep makes one step. */
enum status grid_sweep(struct grid *g, int64_t most);
enum status grid_sweep_timed(struct grid *g, int64_t most, double seconds[PHASES]);
enum status grid_wait(struct grid *g);

/* Sum of solver_hash over the levels. Collective, STATUS_MACHINE as there. */
enum status grid_hash(struct grid *g, int set, uint64_t *hash);

/* The solvers of all levels, for measurements. */
struct levels levels_of(struct grid *g);

/* Cells of a level that no finer level covers, fluid or not. */
int64_t grid_cells(const struct grid *g, int level);

/* Lattice updates in a step of level 0: cells times steps, of all levels. fluid: of fluid cells
 * alone. */
double grid_updates(const struct grid *g, bool fluid);

/* Time of the rank with most fluid cells over the mean: of each level, one after the other. */
double grid_imbalance(const struct grid *g);

/* Bytes that all ranks send through MPI in a step of level 0, for halos and between levels.
 * Collective. */
struct exchange_bytes grid_messages(const struct grid *g);

/* How messages of halos and between levels are transferred, the same on all ranks: in a word or
 * two, for files. */
const char *grid_transport(const struct grid *g);

/* Bytes of backend memory on this rank, lists and seams included; before grid_start without them.
 */
double grid_bytes(const struct grid *g);

#endif
