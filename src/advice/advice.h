/* Advice: warnings of cases that run, and may give something else than was meant. A rule says
 * nothing where it does not apply; a new one is a function and a row. Estimates by which a case
 * chooses defaults are in case/, what a run finds is in run/sanity.h. */
#ifndef TAGFLOW_ADVICE_H
#define TAGFLOW_ADVICE_H

#include "domain/domain.h"

/* Mach numbers above it are warned of: a velocity of 0.1 is usual; its error is a percent or two
 * (docs/validation.md). */
#define ADVICE_MACH 0.175

/* Rules on the case alone, in the order of their messages. */
#define ADVICE_CASE_LIST(X)                                                                        \
    X(mach)                                                                                        \
    X(free)                                                                                        \
    X(law)                                                                                         \
    X(resistance)                                                                                  \
    X(rotation)                                                                                    \
    X(operator)                                                                                    \
    X(tau)                                                                                         \
    X(wakes)                                                                                       \
    X(signals)                                                                                     \
    X(pumps)                                                                                       \
    X(storage)                                                                                     \
    X(settling)                                                                                    \
    X(surfaces)                                                                                    \
    X(neighbours)                                                                                  \
    X(force)                                                                                       \
    X(bare)                                                                                        \
    X(outflows)                                                                                    \
    X(rings)                                                                                       \
    X(samples)                                                                                     \
    X(forces)                                                                                      \
    X(statistics)                                                                                  \
    X(strides)                                                                                     \
    X(scalars)                                                                                     \
    X(edges)                                                                                       \
    X(density)                                                                                     \
    X(tables)                                                                                      \
    X(earlier)
#define X(name) void advise_##name(const struct flow_case *c);
ADVICE_CASE_LIST(X)
#undef X

/* Rules on the cells of level 0, too. */
#define ADVICE_CELLS_LIST(X)                                                                       \
    X(no_inflow)                                                                                   \
    X(drawn)                                                                                       \
    X(along)                                                                                       \
    X(density)                                                                                     \
    X(settling)                                                                                    \
    X(pulse)                                                                                       \
    X(outflow_walls)                                                                               \
    X(small)                                                                                       \
    X(drag)                                                                                        \
    X(wake)                                                                                        \
    X(inlet)                                                                                       \
    X(caps)                                                                                        \
    X(outside)
#define X(name) void advise_cells_##name(const struct domain *d, const struct flow_case *c);
ADVICE_CELLS_LIST(X)
#undef X

/* The Reynolds number of a cell above which the rule of interpolated walls leaks; INFINITY: there
 * is no such wall, or the operator does not leak. */
double advice_surface_limit(const struct flow_case *c);

void advice_case(const struct flow_case *c);

/* After domain_create. */
void advice_cells(const struct domain *d, const struct flow_case *c);

/* Warns if only a small part of the body's mesh is in the box. cells: those in the box; of the size
 * in which *body is given. */
void advice_outside(const struct flow_case *c, const struct case_body *body, double cells);

#endif
