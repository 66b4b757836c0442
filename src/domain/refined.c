/* Cells of the levels of a refined grid; see refined.h. */
#include "domain/refined.h"

#include <stdlib.h>

void refined_none(struct refined *r, const int cells[3], const bool periodic[3])
{
    *r = (struct refined){.levels = 1};
    for (int a = 0; a < 3; a++) {
        r->periodic[a] = periodic[a];
        r->level[0].cells[a] = r->level[0].hi[a] = cells[a];
    }
}

void refined_destroy(struct refined *r)
{
    for (int level = 0; level < LEVELS; level++)
        free(r->level[level].in);
    *r = (struct refined){0};
}

/* Moves a coordinate into the box along a periodic axis. False: it is beyond a face. */
static bool wrap(const struct refined *r, int level, int axis, int *at)
{
    const int n = r->level[level].cells[axis];
    if (*at >= 0 && *at < n)
        return true;
    *at = (*at % n + n) % n;
    return r->periodic[axis];
}

bool refined_holds(const struct refined *r, int level, int x, int y, int z)
{
    int at[3] = {x, y, z};
    if (level >= r->levels)
        return false;
    for (int a = 0; a < 3; a++)
        if (!wrap(r, level, a, &at[a]))
            return false;
    if (level == 0)
        return true;
    const int *const n = r->level[level].n, *const first = r->level[level].first;
    for (int a = 0; a < 3; a++) {
        at[a] = at[a] / BRICK - first[a];
        if (at[a] < 0 || at[a] >= n[a])
            return false;
    }
    const size_t bit =
        ((size_t)at[2] * (size_t)n[1] + (size_t)at[1]) * (size_t)n[0] + (size_t)at[0];
    return r->level[level].in[bit / 64] >> bit % 64 & 1;
}

bool refined_has(const struct refined *r, int level, int x, int y, int z)
{
    return refined_holds(r, level, x, y, z) && !refined_holds(r, level + 1, 2 * x, 2 * y, 2 * z);
}
