/* Images of a plane of cells, written during the run. */
#ifndef TAGFLOW_PLANE_H
#define TAGFLOW_PLANE_H

#include "solver/grid.h"

/* Gather the plane on rank 0, where `b` makes dir/images/<name>_<step>.png of it. Collective; the
 * same status on all ranks, failures reported. background_wait returns the failures of `b`. */
struct background;
enum status plane_image(struct grid *g, const struct flow_case *c, const struct case_image *image,
                        const char *dir, struct background *b);

#endif
