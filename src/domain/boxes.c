/* Boxes of a level; see boxes.h. */
#include "domain/boxes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/message.h"

/* Is brick (x, y, z) of the level's box of bricks in the level? */
static bool has_brick(const struct refined *r, int level, int x, int y, int z)
{
    const int *const n = r->level[level].n;
    const size_t bit = ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
    return x < n[0] && r->level[level].in[bit / 64] >> (bit % 64) & 1;
}

/* Bricks that follow one another along x; boxes count bricks. False: no memory. */
static bool make_runs(struct boxes *b, const struct refined *r, int level)
{
    const int *const n = r->level[level].n;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0, from = -1; x <= n[0]; x++) {
                const bool in = has_brick(r, level, x, y, z);
                if (in && from < 0)
                    from = x;
                if (in || from < 0)
                    continue;
                const struct box run = {{from, y, z}, {x, y + 1, z + 1}};
                if (!ARRAY_ADD(b->box, b->count, run))
                    return false;
                from = -1;
            }
    return true;
}

/* The order that puts boxes with equal bounds along all other axes one after the other along this
 * one. */
static int along(int axis, const struct box *a, const struct box *b)
{
    for (int k = 0; k < 3; k++) {
        if (k == axis)
            continue;
        if (a->lo[k] != b->lo[k])
            return a->lo[k] < b->lo[k] ? -1 : 1;
        if (a->hi[k] != b->hi[k])
            return a->hi[k] < b->hi[k] ? -1 : 1;
    }
    return (a->lo[axis] > b->lo[axis]) - (a->lo[axis] < b->lo[axis]);
}

static int along_y(const void *a, const void *b)
{
    return along(1, a, b);
}

static int along_z(const void *a, const void *b)
{
    return along(2, a, b);
}

static int by_first_cell(const void *left, const void *right)
{
    const struct box *const a = left, *const b = right;
    for (int axis = 2; axis > 0; axis--)
        if (a->lo[axis] != b->lo[axis])
            return a->lo[axis] < b->lo[axis] ? -1 : 1;
    return (a->lo[0] > b->lo[0]) - (a->lo[0] < b->lo[0]);
}

/* Joins boxes that lie side by side along the axis and have the same bounds along the others. */
static void join(struct boxes *b, int axis)
{
    int kept = 0;
    qsort(b->box, (size_t)b->count, sizeof *b->box, axis == 1 ? along_y : along_z);
    for (int i = 1; i < b->count; i++) {
        struct box *const last = &b->box[kept], *const next = &b->box[i];
        bool same = last->hi[axis] == next->lo[axis];
        for (int k = 0; k < 3; k++)
            same =
                same && (k == axis || (last->lo[k] == next->lo[k] && last->hi[k] == next->hi[k]));
        if (same)
            last->hi[axis] = next->hi[axis];
        else
            b->box[++kept] = *next;
    }
    b->count = kept + 1;
}

/* Turns bricks into cells, without those outside lo .. hi. */
static void clip(struct boxes *b, const struct refined *r, int level, const int lo[3],
                 const int hi[3])
{
    int kept = 0;
    for (int i = 0; i < b->count; i++) {
        struct box box = b->box[i];
        bool any = true;
        for (int a = 0; a < 3; a++) {
            const int first = r->level[level].first[a], end = r->level[level].cells[a];
            box.lo[a] = (first + box.lo[a]) * BRICK;
            box.hi[a] = (first + box.hi[a]) * BRICK < end ? (first + box.hi[a]) * BRICK : end;
            box.lo[a] = box.lo[a] > lo[a] ? box.lo[a] : lo[a];
            box.hi[a] = box.hi[a] < hi[a] ? box.hi[a] : hi[a];
            any = any && box.lo[a] < box.hi[a];
        }
        if (any)
            b->box[kept++] = box;
    }
    b->count = kept;
}

enum status boxes_make(struct boxes *b, const struct refined *r, int level, const int lo[3],
                       const int hi[3])
{
    *b = (struct boxes){0};
    if (level == 0) {
        b->box = malloc(sizeof *b->box);
        if (!b->box)
            return fail_machine("out of memory for the boxes of a level");
        b->box[0] = (struct box){{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
        b->count = 1;
        return STATUS_OK;
    }
    if (!make_runs(b, r, level)) {
        boxes_destroy(b);
        return fail_machine("out of memory for the boxes of a level");
    }
    if (b->count == 0)
        return STATUS_OK;
    join(b, 1);
    join(b, 2);
    clip(b, r, level, lo, hi);
    qsort(b->box, (size_t)b->count, sizeof *b->box, by_first_cell);
    return STATUS_OK;
}

void boxes_destroy(struct boxes *b)
{
    free(b->box);
    *b = (struct boxes){0};
}
