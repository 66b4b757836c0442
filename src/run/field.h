/* Snapshots of fields as VTKHDF: the cells of a region, or every stride-th of them; of all levels
 * of a refined grid. */
#ifndef TAGFLOW_FIELD_H
#define TAGFLOW_FIELD_H

#include "solver/grid.h"

/* Write dir/fields/<name>_<step>.vtkhdf. `b` brings it to disk: h5file_close(*left) after
 * background_wait gives it its name. Collective; the same status on all ranks, failures reported;
 * *left is set only on success. */
struct background;
struct h5file;
enum status field_write(struct grid *g, const struct flow_case *c, const struct case_field *field,
                        const char *dir, struct background *b, struct h5file **left);

#endif
