/* Snapshots of fields as VTKHDF: the cells of a region, or every stride-th of them. */
#ifndef TAGFLOW_FIELD_H
#define TAGFLOW_FIELD_H

#include "solver/solver.h"

/* Write dir/fields/<name>_<step>.vtkhdf. Collective; the same status on all ranks, failures
 * reported. */
enum status field_write(struct solver *s, const struct flow_case *c, const struct case_field *field,
                        const char *dir);

#endif
