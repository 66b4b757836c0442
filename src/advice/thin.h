/* Warnings about parts of bodies that the grid loses. */
#ifndef TAGFLOW_THIN_H
#define TAGFLOW_THIN_H

#include "body/solid.h"

/* Warns if parts of a body are thinner than a cell, or hold no cell centre, or lie partly in
 * another part and are inside out. In cells of the finest level that has cells of the body. */
void thin_warn(const struct case_body *body);

#endif
