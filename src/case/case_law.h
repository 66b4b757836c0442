/* Viscosity laws of a case: fluids whose viscosity depends on the shear rate. */
#ifndef TAGFLOW_CASE_LAW_H
#define TAGFLOW_CASE_LAW_H

#include "case/case.h"

/* The viscosity at a shear rate of at least 0, sqrt(2 S:S) with S the rate of strain; lattice
 * units. With `nu` fluid.viscosity, g the shear rate:
 *
 *   power            nu (g / shear_rate)^(index - 1)
 *   carreau          infinite + (nu - infinite) (1 + (time g)^transition)^((index - 1) / transition)
 *   casson           (sqrt(nu) + sqrt(yield / g))^2
 *   herschel_bulkley yield / g + nu (g / shear_rate)^(index - 1)
 *
 * within the law's limits. Powers are made of + - * / alone: the same bits on every machine. */
double case_viscosity_at(const struct flow_case *c, double shear_rate);

/* The viscosity where the shear stress is that, at least 0. */
double case_viscosity_under(const struct flow_case *c, double stress);

/* The least viscosity that limits the method: the fluid's, or a law's at the largest shear rate
 * that is to be expected, that of the case's fastest velocity over a few cells. */
double case_thinnest(const struct flow_case *c);

/* Can the eddies of a subgrid model be told from the law, as scalars need? */
bool law_mixes(const struct flow_case *c);

/* Words after the Reynolds number: with a law " by fluid.viscosity". */
const char *law_reynolds(const struct flow_case *c);

/* Print what the law makes of the case: for `check`. */
void law_say(const struct flow_case *c);

#endif
