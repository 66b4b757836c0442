/* An earlier result as the initial flow (initial.from): a checkpoint, a snapshot or an average, of
 * any grid and precision.
 *
 * The two boxes are made to coincide. Density and velocity are interpolated linearly along x, y and
 * z between cell centres. Cells that are not fluid are left out and the weights of the others
 * scaled up, as for probes; without any fluid around, the flow is at rest. Files hold zeros for
 * cells that are not fluid: a cell with density exactly 1 and velocity exactly 0 counts as such. If
 * both cases have units, velocities and pressures are equal in m/s and m2/s2 (pressure over
 * density), else in lattice units. */
#ifndef TAGFLOW_EARLIER_H
#define TAGFLOW_EARLIER_H

#include "solver/grid.h"

/* Read the file's header, for struct case_files. context: an MPI_Comm. */
enum status earlier_header(void *context, const char *path, struct case_earlier *e,
                           char reason[CASE_REASON]);

/* Load the flow of this rank's block of each level, flow[LEVELS]; free it with earlier_free(). A
 * checkpoint is verified first. Collective, one status on all ranks: STATUS_USAGE, STATUS_MACHINE
 * or STATUS_STOPPED, reported. */
enum status earlier_load(const struct grid *g, struct given_flow flow[]);
void earlier_free(struct given_flow flow[]);

#endif
