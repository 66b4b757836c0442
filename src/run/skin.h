/* Files of output.surfaces: pressure and shear stress on the triangles of a body's mesh. */
#ifndef TAGFLOW_RUN_SKIN_H
#define TAGFLOW_RUN_SKIN_H

#include "solver/grid.h"

struct skin_file;

/* Prepare one entry of output.surfaces. Collective, as below: one status on all ranks, failures
 * reported. */
enum status skin_file_create(struct skin_file **out, const struct flow_case *c,
                             const struct case_surface *what, struct grid *g);

/* Write dir/fields/<name>_<step>.vtkhdf, of the state before the next step. */
enum status skin_file_write(struct skin_file *f, const char *dir);

/* NULL: nothing. */
void skin_file_destroy(struct skin_file *f);

#endif
