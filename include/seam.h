/* Where two levels of a refined grid meet: populations pass from coarse to fine cells and back.
 *
 * A coarse cell is 2^3 fine cells; a coarse step is two substeps of the fine level. Links that
 * cross the edge of a level end in a cell that is absent. Each such link has a slot of its own, the
 * link's mailbox: what leaves lies there after a step, what arrives is read there in the next one.
 * The kernels of this file read and fill the mailboxes between the steps.
 *
 * A coarse population that crosses the edge is followed for two substeps as if fine cells were
 * there; it enters the fine level at the first, at the second or never. This was done once, see
 * solver/seam_make.c; the lists below are the result. Mass and momentum are kept, because what
 * leaves one level arrives in the other one.
 *
 *   gather    populations that left coarse cells -> `sent`
 *   slope     `sent` -> the same with slopes
 *   enter     after substep 1 and 2: what left the fine level -> `left`; what arrives there
 *   share     values of `left` that other ranks need -> its end
 *   coalesce  `left` -> what arrives in coarse cells
 *
 * A kernel works on one set: the flow or a scalar. A scalar's populations move along axes and have
 * the same weights on all levels, so nothing is rescaled. Their paths meet no wall and cross each
 * edge at a right angle: a group of theirs has 8 values. */
#ifndef TAGFLOW_SEAM_H
#define TAGFLOW_SEAM_H

#include "boundary.h"
#include "scalar.h"
#include "slot.h"
#include "stored.h"

/* No number. */
#define SEAM_NONE UINT32_MAX

/* Offsets are in these parts of a coarse cell. */
#define SEAM_PARTS 32

/* Walls that populations meet on their way: the cell type, and the direction into it. Numbers from
 * 1 on; 0: none. Walls at rest are not listed. */
struct seam_wall {
    uint8_t type, into;
};
enum { SEAM_WALLS = 256 };

/* A population that leaves a coarse cell. */
struct seam_value {
    uint64_t at[2]; /* where it lies after an even and an odd step, in elements from the start of
                     * the populations */
    uint32_t place; /* its place in `sent` */
    uint32_t wall;  /* wall that it leaves into */
};

/* A population that enters the fine level. */
struct seam_entry {
    uint32_t from;    /* number in `spread` of the coarse population; with SEAM_HANDED: number in
                       * `left`: it left the fine level at the first substep */
    int8_t offset[3]; /* from the coarse cell's centre, SEAM_PARTS */
    uint8_t wall;     /* wall that it meets on its way */
};
#define SEAM_HANDED 0x80000000u

/* The link of a fine cell from an absent one, after a substep. */
struct seam_link {
    uint64_t at;             /* its mailbox, in elements from the start of the populations */
    struct seam_entry entry; /* what arrives. Its wall after substep 1: the wall that meets what
                              * left at substep 1; what arrives then meets none */
};

/* A population that arrives in a coarse cell from the fine level: the mean of 8 values of `left`;
 * or `count` eighths of it are taken, as `count` entries have them, and as many values come back.
 */
struct seam_group {
    uint64_t at[2];   /* where the coarse cell reads it before an even and an odd step */
    uint32_t first;   /* of its values in `exit` */
    uint32_t entries; /* first of its entries in `entry`, if count < 8 */
    uint32_t count;   /* 2, 4 or 8 */
    uint32_t wall;    /* of a coarse link into a wall */
};

/* All lists of a rank for one pair of levels and one set, in memory of the backend. Stored type: of
 * the set's populations. */
struct seam_lists {
    const struct seam_value *value;  /* populations that this rank sends */
    const uint32_t *beside;          /* [needed][6] numbers in `sent` of the same population of the
                                      * neighbours at -x +x -y +y -z +z; SEAM_NONE: not needed, or
                                      * no fluid cell of the level */
    const struct seam_link *link[2]; /* after substep 1 and 2, which is before an odd and an even
                                      * step */
    const struct seam_group *group;
    const uint32_t *exit;           /* numbers in `left` */
    const struct seam_entry *entry; /* of groups with count < 8 */
    const uint32_t *shared;         /* numbers in `left` that other ranks need */
    const struct seam_wall *wall; /* [SEAM_WALLS] of the fine level; after them of the coarse one */
    void *sent;                   /* [needed], and what others need; stored type */
    void *spread; /* [needed][4] population, and its slopes along x, y, z; type number */
    void *left;   /* [links] after substep 1, [links] after substep 2, from other ranks, to them */
    uint32_t links, share_to; /* share_to: first place in `left` for other ranks */
    int set;
    int limited; /* of a scalar with the limiter */
};

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Populations of the set in memory, in the unit in which the step computes. */
TAGFLOW_FN number seam_read(const struct seam_lists *s, const void *memory, size_t n)
{
    if (TAGFLOW_STORAGE == 16 && s->set == SET_flow)
        return raw_of(((const stored *)memory)[n]);
    return (number)((const set_stored *)memory)[n];
}

TAGFLOW_FN void seam_write(const struct seam_lists *s, void *memory, size_t n, number f)
{
    if (TAGFLOW_STORAGE == 16 && s->set == SET_flow)
        ((stored *)memory)[n] = stored_raw(f);
    else
        ((set_stored *)memory)[n] = (set_stored)f;
}

/* The number that is read after f was written. */
TAGFLOW_FN number seam_rounded(const struct seam_lists *s, number f)
{
    if (TAGFLOW_STORAGE == 16 && s->set == SET_flow)
        return raw_of(stored_raw(f));
    return (number)(set_stored)f;
}

/* Population returned by a wall of the view; f itself where there is none. */
TAGFLOW_FN number seam_reflect(const struct view *v, const struct seam_wall *wall, uint32_t link,
                               number f)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    if (link == 0)
        return f;
    const struct tag_row *const row = &v->rows[wall[link].type];
    const int i = wall[link].into;
    return boundary_leave(row->boundary, c[i][0], c[i][1], c[i][2], f,
                          wall_parameters(v, row, STORED_ONE));
}

/* A coarse population in one of the cell's fine cells, at the time at which it crosses the edge:
 * linear across the link. Rounded as it is stored: the fine level gets what the coarse one loses.
 */
TAGFLOW_FN number seam_explode(const struct seam_lists *s, const struct seam_entry *e)
{
    const number part = (number)(1.0 / SEAM_PARTS);
    const number *const f = (const number *)s->spread + (size_t)4 * e->from;
    const number x = (number)e->offset[0] * part, y = (number)e->offset[1] * part,
                 z = (number)e->offset[2] * part;
    return seam_rounded(s, ((f[0] + x * f[1]) + y * f[2]) + z * f[3]);
}

/* The slope along an axis of a scalar with the limiter, from that to the neighbours on both sides:
 * all parts of the population lie between it and those of its neighbours. Both are 0 at an end. */
TAGFLOW_FN number seam_limit(number below, number above, number slope)
{
    const number zero = 0, two = 2;
    const number a = below < zero ? -below : below, b = above < zero ? -above : above;
    const number most = two * (a < b ? a : b), size = slope < zero ? -slope : slope;
    if (!(below * above > zero))
        return zero;
    return size <= most ? slope : slope < zero ? -most : most;
}

/* The kernels' work on number n of a list. The view belongs to the level named. */

/* Coarse level, after its step, of parity `odd`. */
TAGFLOW_FN void seam_gather(const struct view *v, const struct seam_lists *s, int odd, size_t n)
{
    const struct seam_value *const value = &s->value[n];
    number f = seam_read(s, v->set[s->set].populations, value->at[odd]);
    if (value->wall) /* what comes back from the wall lies there */
        f = f - seam_reflect(v, s->wall + SEAM_WALLS, value->wall, 0);
    seam_write(s, s->sent, value->place, f);
}

TAGFLOW_FN void seam_slope(const struct seam_lists *s, size_t n)
{
    const uint32_t *const beside = s->beside + 6 * n;
    number *const to = (number *)s->spread + 4 * n;
    const number here = seam_read(s, s->sent, n);
    to[0] = here;
    for (int axis = 0; axis < 3; axis++) {
        const uint32_t below = beside[2 * axis], above = beside[2 * axis + 1];
        const number low = below != SEAM_NONE ? seam_read(s, s->sent, below) : here;
        const number high = above != SEAM_NONE ? seam_read(s, s->sent, above) : here;
        const int both = below != SEAM_NONE && above != SEAM_NONE;
        number slope = both ? (high - low) * (number)0.5 : high - low;
        if (s->limited)
            slope = seam_limit(here - low, high - here, slope);
        to[1 + axis] = slope;
    }
}

/* Fine level, after a substep. */
TAGFLOW_FN void seam_enter(const struct view *v, const struct seam_lists *s, int substep, size_t n)
{
    const struct seam_link *const link = &s->link[substep - 1][n];
    void *const populations = v->set[s->set].populations;
    number out = seam_read(s, populations, link->at), in;
    if (substep == 2 && (link->entry.from & SEAM_HANDED))
        in = seam_read(s, s->left, link->entry.from & ~SEAM_HANDED);
    else
        in = seam_explode(s, &link->entry);
    if (link->entry.wall && substep == 1)
        out = seam_reflect(v, s->wall, link->entry.wall, out);
    if (link->entry.wall && substep == 2)
        in = seam_reflect(v, s->wall, link->entry.wall, in);
    seam_write(s, s->left, (size_t)(substep - 1) * s->links + n, out);
    seam_write(s, populations, link->at, in);
}

TAGFLOW_FN void seam_share(const struct seam_lists *s, size_t n)
{
    seam_write(s, s->left, s->share_to + n, seam_read(s, s->left, s->shared[n]));
}

/* Coarse level, before its next step, of parity `odd`. */
TAGFLOW_FN void seam_coalesce(const struct view *v, const struct seam_lists *s, int odd, size_t n)
{
    const struct seam_group *const g = &s->group[n];
    void *const populations = v->set[s->set].populations;
    number given = 0, taken = 0;
    for (uint32_t k = 0; k < g->count; k++)
        given += seam_read(s, s->left, s->exit[g->first + k]);
    given *= (number)0.125;
    if (g->count == 8) {
        seam_write(s, populations, g->at[odd], given);
        return;
    }
    for (uint32_t k = 0; k < g->count; k++)
        taken += seam_reflect(v, s->wall + SEAM_WALLS, g->wall,
                              seam_explode(s, &s->entry[g->entries + k]));
    seam_write(s, populations, g->at[odd],
               (seam_read(s, populations, g->at[odd]) - taken * (number)0.125) + given);
}

#endif
#endif
