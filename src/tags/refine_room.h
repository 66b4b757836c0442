/* Is there memory for the levels of a refined grid? A level too many makes eight times the cells,
 * and its bricks would take minutes to find. */
#ifndef TAGFLOW_REFINE_ROOM_H
#define TAGFLOW_REFINE_ROOM_H

#include <mpi.h>

#include "case/case.h"
#include "domain/refined.h"

/* Before the levels are made. What finds their cells must have room on each rank. For a run the
 * tags must have, too, of all cells of the boxes that hold the regions: of boxes that are certain,
 * by the cells of level 0. Without `run` this is a warning, as the run may have other hosts. Takes
 * microseconds unless the regions' bounding boxes are too large. Collective. STATUS_USAGE,
 * STATUS_MACHINE or STATUS_STOPPED, reported. */
enum status refine_look(const struct flow_case *c, bool run, MPI_Comm comm);

/* After they were made, for a run: the tags, of the boxes that are known now. Collective.
 * STATUS_USAGE, reported. */
enum status refine_room(const struct refined *r, MPI_Comm comm);

#endif
