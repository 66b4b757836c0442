/* Tables of viscosity laws for the step; see law.h of the kernels. */
#ifndef TAGFLOW_LAWS_H
#define TAGFLOW_LAWS_H

#include "case/case.h"
#include "domain/domain.h"

/* If the case has a viscosity law: makes its table, and sets it in the fluid cell type, whose rates
 * are set. */
enum status domain_law(struct domain *d, const struct flow_case *c, struct tag_row *row);

/* 1 / tau of a cell with sqrt(N:N) / rho = x, N the non-equilibrium second moments: the solution of
 *
 *   g tau = 3/sqrt(2) x,   tau = 3 (viscosity(g) + constant^2 g) + 1/2
 *
 * with the constant of a subgrid model, if there is one. */
double law_solve(const struct flow_case *c, double x);

/* Make the tables of a case with a law: [LAW_VALUES]. */
void law_table(const struct flow_case *c, double *table);

#endif
