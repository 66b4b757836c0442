/* Rows and tags of what bounds the box: walls, planes of symmetry, open faces and parts of them. */
#ifndef TAGFLOW_FACES_H
#define TAGFLOW_FACES_H

#include "domain/domain.h"

/* All cells are fluid and have their tags: set those of the cells one beyond the faces that are not
 * periodic, and of fluid cells that are nodes of an open face. STATUS_USAGE or STATUS_MACHINE,
 * reported. */
enum status domain_faces(struct domain *d, const struct flow_case *c);

#endif
