/* A case's initial flow for the kernels: its parameters and tables (include/initial.h). */
#ifndef TAGFLOW_SOLVER_INITIAL_MAKE_H
#define TAGFLOW_SOLVER_INITIAL_MAKE_H

#include "case/case.h"
#include "domain/domain.h"
#include "initial.h"

/* Fills in the initial flow of a case and its table, in initial_bytes(c) of memory. openings: of
 * the domain, by face; NULL: the case has no flow from an inlet. Errors of the inlet's profile are
 * reported. */
size_t initial_bytes(const struct flow_case *c);
enum status initial_make(struct initial *in, const struct flow_case *c,
                         const struct domain_opening *openings);

#endif
