/* Solid bodies: their cell types and tags, and the list of fluid cells beside bodies with
 * interpolated or rotating walls, or whose force is asked for. */
#ifndef TAGFLOW_BODIES_H
#define TAGFLOW_BODIES_H

#include "body/body.h"
#include "domain/domain.h"

struct bodies {
    const struct flow_case *c;
    int count;
    struct body *body; /* [count] */
};

/* Opens all bodies of the case and tags the cells with their centre in a body. After the faces,
 * before the regions. Collective; STATUS_USAGE or STATUS_MACHINE, reported. Close it after errors
 * too. */
enum status bodies_place(struct bodies *b, struct domain *d, const struct flow_case *c);

/* Beyond planes of symmetry, cells whose mirror images are in a body get its type, so that links
 * which cross the plane meet the body with its wall and its forces. Bodies that conduct a scalar
 * are left out: nothing is conducted beyond the box. After cells are TAG_ABSENT. */
void bodies_mirror(struct domain *d, const struct flow_case *c);

/* On a refined grid: does each body have cells on any level? cells: the sums of body_cells of the
 * domains of all levels. STATUS_USAGE, reported. */
enum status bodies_found(const struct flow_case *c, const int64_t cells[CASE_BODIES]);

/* Tags the cells of all bodies as walls at rest, without types of their own. Collective; errors as
 * above. */
enum status bodies_solid(struct domain *d, const struct flow_case *c);

/* Makes the list of this rank's cells, those of the shells first, and changes the types of the
 * cells that the list's kernel steps. After all tags are final. Collective; errors as above. */
enum status bodies_list(const struct bodies *b, struct domain *d);

void bodies_close(struct bodies *b);

#endif
