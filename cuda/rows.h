/* Lifted rows of cells, see slot.h: which views have them, and arrays of the host in their order.
 */
#ifndef TAGFLOW_CUDA_ROWS_H
#define TAGFLOW_CUDA_ROWS_H

#include "cuda_backend.h"

/* Lifts the rows of a view as from view_derive, if they can be. bits: of a stored population.
 * Returns why they cannot; NULL: they are lifted. */
const char *rows_lift(struct view *v, int bits);

/* Reorders an array of the host from plain rows to the rows of the view, if these are others;
 * [cells] elements of `bytes` bytes. Returns false, with the array spoilt, when memory runs out. */
bool rows_permute(const struct view *v, void *array, size_t bytes);

#endif
