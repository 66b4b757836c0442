/* Solid bodies: their cell types and tags. */
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

/* Do fluid cells beside the body need the list of near_list.h: is its wall interpolated, or does it
 * rotate? */
bool bodies_has_surface(const struct case_body *body);
/* Does a series ask for the heat of the body, and with it for its area, which its cells do not
 * give? */
bool bodies_want_area(const struct flow_case *c, int body);
/* The periodic images of a body along an axis that have cells in the box, as shifts in box lengths:
 * first to last, 0 is the body itself. A body from lo to hi without an end along the axis has no
 * images. */
void bodies_images(const struct domain *d, int axis, double lo, double hi, int *first, int *last);

void bodies_close(struct bodies *b);

#endif
