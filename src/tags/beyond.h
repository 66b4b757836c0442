/* Numbers of the cells one beyond a block, which the ranks that own these cells send. */
#ifndef TAGFLOW_BEYOND_H
#define TAGFLOW_BEYOND_H

#include "domain/domain.h"

/* side[2 a], side[2 a + 1]: the layers below and above the block along axis a. They reach one cell
 * beyond it along axes before a, and end with it along later ones. */
struct beyond {
    const struct domain *d;
    uint32_t *side[6];
};

/* The number of an owned cell. */
typedef uint32_t beyond_own(const void *context, int x, int y, int z);

/* Exchanges the numbers, axis after axis, which includes edges and corners. Cells beyond the box
 * get 0. Collective; STATUS_MACHINE, reported, the same on all ranks; then there is nothing to
 * free. */
enum status beyond_exchange(struct beyond *b, const struct domain *d, beyond_own *own,
                            const void *context);
void beyond_free(struct beyond *b);

/* The number of a cell in one of the layers. */
uint32_t beyond_at(const struct beyond *b, int x, int y, int z);

#endif
