/* Porous regions, screens and rotating frames as parameters of cell types; see resist.h of
 * include/. */
#ifndef TAGFLOW_TAGS_RESIST_H
#define TAGFLOW_TAGS_RESIST_H

#include "domain/domain.h"

/* Gives a fluid cell type the accelerations that depend on its velocity. zone: the region of its
 * cells; NULL: none. */
enum status domain_resist(struct domain *d, const struct flow_case *c,
                          const struct case_zone *zone, struct tag_row *row);

#endif
