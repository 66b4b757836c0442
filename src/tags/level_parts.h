/* Connected parts of the fluid of a refined grid: those of each level, joined where levels meet. */
#ifndef TAGFLOW_LEVEL_PARTS_H
#define TAGFLOW_LEVEL_PARTS_H

#include "domain/domain.h"

/* A level: its domain with tags, and the case in units of the level. */
struct paths_level {
    const struct domain *d;
    const struct flow_case *c;
};

struct level_part {
    uint64_t name;     /* level << 32 | label */
    double cells;      /* of all levels, in cells of level 0 */
    int64_t cell;      /* first cell on level 0; INT64_MAX: none */
    int64_t inflow;    /* as in struct pore_part */
    uint64_t openings; /* likewise; of level 0 and, of caps, all levels */
};

/* Parts within one level are those of pores.h. Bodies keep away from edges of levels
 * (tags/edges.h), so fluid beside an edge leads across it. */
struct joined_parts {
    struct level_part *part; /* [count] each part on exactly one rank */
    size_t count;
    /* Names of parts of one level that meet those of others, ascending, and of the part that each
     * belongs to; the same on all ranks. */
    uint64_t *name, *whole;
    size_t names;
};

/* Collective. STATUS_MACHINE, reported, the same on all ranks, as pore_labels_make(); then there is
 * nothing to free. One level is a list of one. */
enum status level_parts_make(const struct paths_level *level, int levels, struct joined_parts *p);
void level_parts_free(struct joined_parts *p);

/* The name of the part that holds a whole part of a level; label: see pore_labels_whole(). */
uint64_t level_parts_name(const struct joined_parts *p, int level, uint32_t label);

#endif
