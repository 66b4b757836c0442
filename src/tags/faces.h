/* Cell types and tags at the bounds of the box: walls, planes of symmetry, open faces and their
 * patches. */
#ifndef TAGFLOW_FACES_H
#define TAGFLOW_FACES_H

#include "domain/domain.h"

/* Sets the tags of the cells one beyond the faces that are not periodic, and of fluid cells that
 * are nodes of an open face. Before: all cells have tags and are fluid. STATUS_USAGE or
 * STATUS_MACHINE, reported. */
enum status domain_faces(struct domain *d, const struct flow_case *c);

/* The type of the cell at these global coordinates, which may lie one cell beyond the box along any
 * axis; TAG_FLUID inside. After domain_faces(). */
uint8_t faces_beyond(const struct domain *d, const struct flow_case *c, const int g[3]);

/* After bodies have their tags: counts the cells that bodies and later patches leave of each
 * opening (d->opening), and fits its profile to them. Collective. STATUS_USAGE, reported: an open
 * face is covered completely, or the open part of one with a profile is no rectangle;
 * STATUS_MACHINE. Levels above 0 have no openings: nothing is counted. */
enum status faces_fit(struct domain *d, const struct flow_case *c);

/* Makes d->opening for a case without bodies, on this process, without tags; *d must be destroyed
 * afterwards. *known: false if faces have too many cells for this. Errors as in faces_fit. */
enum status faces_alone(struct domain *d, const struct flow_case *c, bool *known);

/* Openings are numbered: the six faces, then the patches. */

/* "faces.xmin", "patches.inlet" */
enum { FACES_NAME = CASE_NAME + 16 };
void faces_name(const struct flow_case *c, int opening, char name[FACES_NAME]);

/* The opening of a face at cell g of the box; coordinates outside of the box are moved into it. */
int faces_opening_at(const struct domain *d, const struct flow_case *c, int face, const int g[3]);

/* The velocity into the box that this opening gives at cell g of the box, in this block, without
 * its time function; 0 if it gives none. */
double faces_inward(const struct domain *d, const struct flow_case *c, int opening, int face,
                    const int g[3]);

#endif
