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
 *   gather    populations that left coarse cells -> values
 *   enter     after substep 1 and 2: what left the fine level -> values; values -> what arrives
 * there share     values that other ranks need -> the end of the values coalesce  values -> what
 * arrives in coarse cells */
#ifndef TAGFLOW_SEAM_H
#define TAGFLOW_SEAM_H

#include "boundary.h"
#include "slot.h"
#include "stored.h"

/* Populations of a coarse cell in `sent`: directions 1 .. 18. */
enum { SEAM_SENT = Q - 1 };

/* No number. */
#define SEAM_NONE UINT32_MAX

/* Slopes: in these parts of a coarse cell. */
#define SEAM_PARTS 32

/* A population that enters the fine level. */
struct seam_entry {
    uint32_t from;    /* number of the coarse cell that sent it, in `sent`; or, if `handed`, of a
                       * value in `left`: it left the fine level at the first substep */
    uint8_t i;        /* its direction when the coarse cell sent it */
    uint8_t handed;   /* it came from the fine level */
    uint8_t wall;     /* cell type of the wall that it meets on its way; TAG_NONE: none */
    uint8_t into;     /* its direction into that wall */
    int8_t offset[3]; /* where slopes are evaluated, from the coarse cell's centre, SEAM_PARTS */
};

/* The link of a fine cell from an absent one. */
struct seam_link {
    uint64_t at[2]; /* its mailbox, elements from the start of the populations, for an even and an
                     * odd coming step */
    struct seam_entry entry[2]; /* what arrives after substep 1 and 2 */
    uint8_t wall, into;         /* of what leaves at substep 1, as in seam_entry */
};

/* A population that arrives in a coarse cell from the fine level: the mean of 8 exits; or an
 * eighth of it is taken by each of `count` entries, and given back by as many exits. */
struct seam_group {
    uint64_t at[2]; /* where the coarse cell reads it, as in seam_link */
    uint32_t first; /* of its exits, and of its entries if count < 8 */
    uint32_t entries;
    uint8_t count;      /* 2 or 8 */
    uint8_t wall, into; /* of a coarse link into a wall: its type, and the direction */
};

/* All lists of a rank for one pair of levels, in memory of the backend. */
struct seam_lists {
    const int32_t *cell;    /* [cells][3] coarse cells that this rank sends */
    const uint32_t *place;  /* [cells] their place in `sent` */
    const uint32_t *beside; /* [cells that are used][6] numbers in `sent` of the neighbours at
                             * -x +x -y +y -z +z; SEAM_NONE: not fluid of the level */
    const struct seam_link *link;
    const struct seam_group *group;
    const uint32_t *exit;           /* what leaves the fine level: numbers in `left` */
    const struct seam_entry *entry; /* of groups with count < 8 */
    const uint32_t *shared;         /* values of `left` that other ranks need */
    void *sent;                     /* [cells][SEAM_SENT], stored type */
    void *left;  /* [links] after substep 1, [links] after substep 2, from other ranks, to them */
    void *later; /* [links] what enters after substep 2 */
    uint32_t links, share_to; /* share_to: first place in `left` for other ranks */
};

/* A cell type that no cell has. */
enum { TAG_NONE = 0xff };

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* The population of direction i that comes back from a wall, or passes it by. */
TAGFLOW_FN scalar seam_wall(const struct view *v, int wall, int i, scalar f)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    if (wall == TAG_NONE)
        return f;
    const struct tag_row *const row = &v->rows[wall];
    return boundary_leave(row->boundary, c[i][0], c[i][1], c[i][2], f,
                          wall_parameters(v, row, STORED_ONE));
}

/* f*_i of a coarse cell at the centre of one of its fine cells and at the time at which it crosses
 * the edge: linear across the link. */
TAGFLOW_FN scalar seam_explode(const struct seam_lists *s, const struct seam_entry *e)
{
    const stored *const sent = (const stored *)s->sent;
    const scalar here = raw_of(sent[(size_t)e->from * SEAM_SENT + e->i - 1]);
    scalar f = here;
    for (int axis = 0; axis < 3; axis++) {
        if (e->offset[axis] == 0)
            continue;
        const uint32_t *const beside = s->beside + (size_t)e->from * 6 + (size_t)(2 * axis);
        const int down = beside[0] != SEAM_NONE, up = beside[1] != SEAM_NONE;
        const scalar low = down ? raw_of(sent[(size_t)beside[0] * SEAM_SENT + e->i - 1]) : here;
        const scalar high = up ? raw_of(sent[(size_t)beside[1] * SEAM_SENT + e->i - 1]) : here;
        const scalar slope = down && up ? (high - low) * (scalar)0.5 : high - low;
        f += (scalar)e->offset[axis] * (scalar)(1.0 / SEAM_PARTS) * slope;
    }
    return f;
}

/* Entry as it is stored: the fine level gets exactly what the coarse one loses. */
TAGFLOW_FN scalar seam_rounded(scalar f)
{
    return raw_of(stored_raw(f));
}

/* The kernels' work on number n of a list. The view is that of the level named. */

/* Coarse level, after its step. */
TAGFLOW_FN void seam_gather(const struct view *v, const struct seam_lists *s, int odd, size_t n)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const stored *const populations = (const stored *)v->set[SET_flow].populations;
    stored *const sent = (stored *)s->sent + (size_t)s->place[n] * SEAM_SENT;
    const int x = s->cell[3 * n], y = s->cell[3 * n + 1], z = s->cell[3 * n + 2];
    const int beside = v->tags[view_index(v, x, y, z)] & TAG_BESIDE;
    for (int i = 1; i < Q; i++) {
        const stored f = populations[store_address(v, SET_flow, odd, i, x, y, z)];
        sent[i - 1] = f;
        if (!beside)
            continue;
        const int tag = v->tags[view_index(v, x + c[i][0], y + c[i][1], z + c[i][2])] & TAG_ROW;
        if (type_in(&v->pushing, tag)) /* the slot has what comes back from the wall */
            sent[i - 1] = stored_raw(raw_of(f) - seam_wall(v, tag, i, 0));
    }
}

/* Fine level, after a substep; odd: parity of the coming one. */
TAGFLOW_FN void seam_enter(const struct view *v, const struct seam_lists *s, int substep, int odd,
                           size_t n)
{
    stored *const populations = (stored *)v->set[SET_flow].populations;
    stored *const left = (stored *)s->left, *const later = (stored *)s->later;
    const struct seam_link *const link = &s->link[n];
    const struct seam_entry *const second = &link->entry[1];
    stored *const mailbox = populations + link->at[odd];
    if (substep == 1) {
        left[n] = *mailbox;
        *mailbox = stored_raw(seam_explode(s, &link->entry[0]));
        if (!second->handed)
            later[n] =
                stored_raw(seam_wall(v, second->wall, second->into, seam_explode(s, second)));
        return;
    }
    left[s->links + n] = *mailbox;
    *mailbox = second->handed ? left[second->from] : later[n];
    if (link->wall != TAG_NONE) /* nobody is handed this */
        left[n] = stored_raw(seam_wall(v, link->wall, link->into, raw_of(left[n])));
}

TAGFLOW_FN void seam_share(const struct seam_lists *s, size_t n)
{
    stored *const left = (stored *)s->left;
    left[s->share_to + n] = left[s->shared[n]];
}

/* Coarse level, before its next step, of parity `odd`. */
TAGFLOW_FN void seam_coalesce(const struct view *v, const struct seam_lists *s, int odd, size_t n)
{
    stored *const populations = (stored *)v->set[SET_flow].populations;
    const stored *const left = (const stored *)s->left;
    const struct seam_group *const g = &s->group[n];
    stored *const f = populations + g->at[odd];
    scalar given = 0, taken = 0;
    for (uint32_t k = 0; k < g->count; k++)
        given += raw_of(left[s->exit[g->first + k]]);
    given *= (scalar)0.125;
    if (g->count == 8) {
        *f = stored_raw(given);
        return;
    }
    for (uint32_t k = 0; k < g->count; k++)
        taken += seam_wall(v, g->wall, g->into,
                           seam_rounded(seam_explode(s, &s->entry[g->entries + k])));
    *f = stored_raw((raw_of(*f) - taken * (scalar)0.125) + given);
}

#endif
#endif
