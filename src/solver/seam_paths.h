/* Where populations go, and where they came from, on a level that has cells everywhere: by
 * streaming, and by the rules of walls and planes of symmetry. In integers, from the faces of the
 * box alone, so that any rank can follow any path. No body is near the paths that seams ask for. */
#ifndef TAGFLOW_SEAM_PATHS_H
#define TAGFLOW_SEAM_PATHS_H

#include "domain/domain.h"
#include "domain/refined.h"
#include "seam.h"

/* The cells of a level and what lies beyond the box. */
struct paths {
    const struct refined *r;
    int level;
    const struct flow_case *c; /* of the level */
    const struct domain *d;
};

/* A population of a cell. wall: the type of a moving wall that the last hop met, TAG_NONE: none;
 * into: its direction into that wall. */
enum { TAG_NONE = 0xff };
struct hop {
    int at[3]; /* global coordinates in the box */
    int i;
    uint8_t wall, into;
};

/* Wraps coordinates into the box along periodic axes. */
void paths_wrap(const struct paths *p, int at[3]);

/* Where the population that arrives at a cell along i came from: the cell that sent it, and its
 * direction there. */
struct hop paths_back(const struct paths *p, const int at[3], int i);

/* Where the population that a cell sends along i arrives. */
struct hop paths_forward(const struct paths *p, const int at[3], int i);

/* The face of the plane of symmetry beyond which a cell outside of the box lies; -1: none. */
int paths_plane(const struct paths *p, const int at[3]);

/* The substep, 1 or 2, at which the population that fine cell `at` would send along i, if a coarse
 * cell's population were spread there, enters the fine level; 0: never. `p`: of the fine level. */
int paths_enters(const struct paths *p, const int at[3], int i);

/* The fine cell number s, 0 to 7, x fastest, of a coarse cell. */
void paths_child(const int coarse[3], int s, int fine[3]);

/* Offset at which slopes are taken for that fine cell's part of population i of a coarse cell, in
 * SEAM_PARTS of a coarse cell. `p`: of the fine level. */
void paths_offset(const struct paths *p, const int coarse[3], int i, int s, int8_t offset[3]);

#endif
