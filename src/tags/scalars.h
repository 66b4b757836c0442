/* Cell types of scalars. */
#ifndef TAGFLOW_TAGS_SCALARS_H
#define TAGFLOW_TAGS_SCALARS_H

#include "domain/domain.h"

/* Does any scalar of the case make buoyancy? */
bool scalars_lift(const struct flow_case *c);

/* Makes the parameters of all scalars in all cell types of the block, when these are known.
 * STATUS_MACHINE and STATUS_USAGE, reported. */
enum status scalars_rows(struct domain *d, const struct flow_case *c);

#endif
