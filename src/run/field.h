/* Snapshots of fields: the cells of a region, every so many of them, as VTKHDF. */
#ifndef TAGFLOW_FIELD_H
#define TAGFLOW_FIELD_H

#include "solver/solver.h"

/* Write dir/fields/<name>_<step>.vtkhdf. Collective; the same status on all ranks, failures
 * reported. */
enum status field_write(struct solver *s, const struct flow_case *c, const struct case_field *field,
                        const char *dir);

/* This rank's part of a region of the whole grid, in cells of its block; empty if it has none. */
struct box field_part(const struct domain *d, const struct case_region *region);

#endif
