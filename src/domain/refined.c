/* Cells of the levels of a refined grid; see refined.h. */
#include "domain/refined.h"

#include <math.h>
#include <stdlib.h>

#include "case/case.h"

void refined_none(struct refined *r, const int cells[3], const bool periodic[3])
{
    *r = (struct refined){.levels = 1};
    for (int a = 0; a < 3; a++) {
        r->periodic[a] = periodic[a];
        r->flat[a] = case_axis_flat(cells[a], periodic[a]);
        r->level[0].cells[a] = r->level[0].hi[a] = cells[a];
    }
}

void refined_destroy(struct refined *r)
{
    for (int level = 0; level < LEVELS; level++)
        free(r->level[level].in);
    *r = (struct refined){0};
}

double refined_place(const struct refined *r, int level, int axis, double at)
{
    const double middle = r && r->flat[axis] ? 0.5 : 0;
    return middle + ldexp(at - middle, -level);
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

/* The cells of brick `brick` of an axis within lo <= cell < hi. */
static int brick_part(const struct refined *r, int level, int axis, int brick, int lo, int hi)
{
    const int n = r->level[level].cells[axis];
    const int from = brick * BRICK, to = from + BRICK < n ? from + BRICK : n;
    const int first = from > lo ? from : lo, last = to < hi ? to : hi;
    return first < last ? last - first : 0;
}

int64_t refined_held(const struct refined *r, int level, const int lo[3], const int hi[3])
{
    int64_t cells = 0;
    int from[3], to[3]; /* bricks */
    if (level >= r->levels)
        return 0;
    if (level == 0)
        return (int64_t)(hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]);
    for (int a = 0; a < 3; a++) {
        const int first = r->level[level].first[a], end = first + r->level[level].n[a];
        from[a] = lo[a] / BRICK > first ? lo[a] / BRICK : first;
        to[a] = (hi[a] + BRICK - 1) / BRICK < end ? (hi[a] + BRICK - 1) / BRICK : end;
    }
    for (int z = from[2]; z < to[2]; z++)
        for (int y = from[1]; y < to[1]; y++) {
            const int64_t area = (int64_t)brick_part(r, level, 1, y, lo[1], hi[1]) *
                                 brick_part(r, level, 2, z, lo[2], hi[2]);
            for (int x = from[0]; x < to[0]; x++)
                if (refined_holds(r, level, x * BRICK, y * BRICK, z * BRICK))
                    cells += area * brick_part(r, level, 0, x, lo[0], hi[0]);
        }
    return cells;
}

int64_t refined_own(const struct refined *r, int level, const int lo[3], const int hi[3])
{
    int from[3], to[3];
    if (level + 1 >= r->levels)
        return refined_held(r, level, lo, hi);
    for (int a = 0; a < 3; a++) {
        from[a] = lo[a] << refined_halved(r, 1, a);
        to[a] = hi[a] << refined_halved(r, 1, a);
    }
    return refined_held(r, level, lo, hi) -
           (refined_held(r, level + 1, from, to) >> refined_dimensions(r, 3));
}

int64_t refined_cells(const struct refined *r, int level)
{
    static const int begin[3] = {0, 0, 0};
    return refined_own(r, level, begin, r->level[level].cells);
}
