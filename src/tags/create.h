/* Makes a rank's block with its tags: cut by domain/, filled from the case by the other files here.
 */
#ifndef TAGFLOW_TAGS_CREATE_H
#define TAGFLOW_TAGS_CREATE_H

#include "domain/domain.h"

/* Cuts the box among the ranks of comm, into blocks with about equal numbers of fluid cells, and
 * makes this rank's tags from the case. */
enum status domain_create(struct domain *d, const struct flow_case *c, MPI_Comm comm);
/* The same for a level of a refined grid; c: the case in units of the level. Cells that do not
 * belong to the level are TAG_ABSENT. Levels above 0 do not reach openings: theirs are walls at
 * rest. r NULL: one level. row_bytes: see domain_align_rows. *c and *r must outlive *d.
 * STATUS_USAGE, reported, also when the level has no fluid cell, or too few cells for the ranks. */
enum status domain_create_level(struct domain *d, const struct flow_case *c,
                                const struct refined *r, int level, int row_bytes, MPI_Comm comm);
/* Chooses how many blocks along each axis `ranks` ranks have of the box, or of a level of a refined
 * grid; r NULL: one level. STATUS_USAGE, reported: too few cells for them. */
enum status domain_cuts(const struct flow_case *c, const struct refined *r, int level, int ranks,
                        int cuts[3]);
/* The whole box on this process, whatever the case says of ranks. */
enum status domain_whole(struct domain *d, const struct flow_case *c);
/* The cells lo <= cell < hi of the box on this process alone, with bodies as walls at rest, without
 * faces and regions: to see what a part of a large box takes. d->fluid_cells: of the tile. */
enum status domain_tile(struct domain *d, const struct flow_case *c, const int lo[3],
                        const int hi[3]);

#endif
