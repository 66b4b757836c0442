/* Disjoint sets; see sets.h. */
#include "base/sets.h"

#include <stdlib.h>

uint32_t *sets_create(size_t count)
{
    uint32_t *const parent = malloc((count + 1) * sizeof *parent);
    for (size_t k = 0; parent && k < count; k++)
        parent[k] = (uint32_t)k;
    return parent;
}

/* Each number on the way gets its grandparent as parent: the way becomes short. */
uint32_t sets_root(uint32_t *parent, uint32_t k)
{
    while (parent[k] != k)
        k = parent[k] = parent[parent[k]];
    return k;
}

void sets_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    const uint32_t p = sets_root(parent, a), q = sets_root(parent, b);
    parent[p < q ? q : p] = p < q ? p : q;
}
