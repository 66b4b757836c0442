/* The solids in the flow: their rows and tags, and the list of fluid cells beside those whose
 * surface the case wants more of than a wall half-way. */
#ifndef TAGFLOW_BODIES_H
#define TAGFLOW_BODIES_H

#include "body/body.h"
#include "domain/domain.h"

struct bodies {
    const struct flow_case *c;
    int count;
    struct body *body; /* [count] */
};

/* Opens all bodies of the case and gives cells whose centre is in one its row; after the faces,
 * before the regions. Collective; STATUS_USAGE or STATUS_MACHINE, reported; then, too, to be
 * closed. */
enum status bodies_place(struct bodies *b, struct domain *d, const struct flow_case *c);

/* The list, of this rank's cells: those that shells hold first. Rows of cells that its kernel steps
 * say so from then on. After all tags are made. Collective, as above. */
enum status bodies_list(const struct bodies *b, struct domain *d);

void bodies_close(struct bodies *b);

#endif
