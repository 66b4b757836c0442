/* Distances of open faces and bodies from the edges of the levels of a refined grid. */
#ifndef TAGFLOW_EDGES_H
#define TAGFLOW_EDGES_H

#include "domain/domain.h"

/* Cells of a level between a body and the edge of the next finer level, outside of it; cells of a
 * level between its edge and a body inside. */
enum { EDGES_OUTSIDE = 3, EDGES_INSIDE = 2 };

/* Level 1, in which all finer levels are, keeps its distance from the openings of the case, and
 * leaves cells to level 0. The same on all ranks. STATUS_USAGE or STATUS_MACHINE, reported. */
enum status edges_fit(const struct refined *r, const struct flow_case *c);

/* Warns of parts of faces that move and cross an edge once only. */
void edges_advise(const struct refined *r, const struct flow_case *c);

/* The bodies on this level keep their distance from its edge and from the edge of the next finer
 * level; c: the case in units of the level. Before cells are TAG_ABSENT. Collective. STATUS_USAGE,
 * reported, with the cell. */
enum status edges_clear(const struct domain *d, const struct flow_case *c);

/* The first cell of a body on this level that is so near to the level's edge that the drag is off
 * by 1 % and more with operators that are not on pairs. */
struct edges_close {
    int64_t cell; /* its number, (z ny + y) nx + x; INT64_MAX: there is none */
    int body;
    int least; /* cells of the coarser level that ought to be between */
};

/* Collective. */
void edges_look(const struct domain *d, const struct flow_case *c, struct edges_close *close);

#endif
