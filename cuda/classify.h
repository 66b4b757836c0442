/* Makes the kinds of a view's cells, see include/kinds.h. */
#ifndef TAGFLOW_CUDA_CLASSIFY_H
#define TAGFLOW_CUDA_CLASSIFY_H

#include <stddef.h>

#include "base/status.h"
#include "kinds.h"

struct kinds {
    void *number;           /* [places], by the place of a cell; 0 for cells that are not owned */
    size_t places;          /* of cells: all cells of the view, or its fluid cells (view_place) */
    int bytes;              /* of a number: 1, 2 or 4 */
    struct cell_kind *kind; /* [count], the most frequent first */
    size_t count;
    int type; /* the most frequent cell type that is swept; 0: none is */
};

/* v: from view_derive, with tags of the host. Reported, STATUS_MACHINE: out of memory. */
enum status kinds_create(struct kinds *k, const struct view *v);
void kinds_destroy(struct kinds *k);

#endif
