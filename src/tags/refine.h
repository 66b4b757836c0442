/* Makes the levels of a refined grid from the regions of the case. */
#ifndef TAGFLOW_REFINE_H
#define TAGFLOW_REFINE_H

#include <mpi.h>

#include "case/case.h"
#include "domain/refined.h"

/* Cells of a level that lie at least between its edge and the edge of the next finer level, and
 * between open faces and the edge of level 1. */
enum { REFINE_APART = 4 };

/* Makes the bricks of all levels from c->refines, the same on all ranks. A brick belongs to a level
 * if the centre of one of its cells is in a region of the level, or if the edge of a finer level
 * would come too near otherwise. Checks what edges_fit() does. Collective. STATUS_USAGE or
 * STATUS_MACHINE, reported. *c may have no regions: one level. *c must outlive *r. */
enum status refine_make(struct refined *r, const struct flow_case *c, MPI_Comm comm);

#endif
