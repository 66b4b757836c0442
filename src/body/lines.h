/* Where a triangle mesh crosses the lines through the centres of cells along one direction of the
 * lattice: all that is asked of a mesh on the grid, cells inside and links cut, is looked up there.
 *
 * A line runs along c, whose main axis k is its first with c_k != 0. In the frame sheared by
 * u = x_i - s_i x_k, v = x_j - s_j x_k, with i, j after k in turn and s = c_k c, it is a point:
 *
 *       v |    / \                    A triangle is crossed once when the point is in its shadow.
 *         |   / o \-----> u           Of an edge that has the point's v between its ends, the lower
 *         |  /_____\                  end included, is the point on the lower-u side? Both
 *         +-----------                triangles at an edge ask the same of the same numbers, so
 *                                     that a line gets through no closed mesh unseen. */
#ifndef TAGFLOW_LINES_H
#define TAGFLOW_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hit {
    double at; /* x_k */
    int turn;  /* 1: into what the triangles enclose when x_k grows, -1: out of it */
};

struct lines {
    int main, other[2], shear[2]; /* k; i and j; s_i and s_j */
    int first[2], count[2];       /* lines, by the whole part of u and v */
    size_t *begin;                /* [count v][count u] + 1: hits of each line, at ascending */
    struct hit *hit;
};

/* The triangles, of vertices in lattice units, |coordinates| <= LINES_FAR. */
#define LINES_FAR 1e7
struct triangles {
    size_t vertices, count;
    const double (*vertex)[3];
    const uint32_t (*corner)[3];
};

/* Lines along c (one of the lattice's velocities but 0) that have a point with lo <= x < hi. False:
 * out of memory, *l is zeroed. */
bool lines_create(struct lines *l, const struct triangles *t, const int c[3], const int lo[3],
                  const int hi[3]);
void lines_destroy(struct lines *l);

/* The line through the centre of a cell: its hits and how many. */
const struct hit *lines_at(const struct lines *l, const int cell[3], size_t *count);

/* The first cell along axis k whose centre is not before this place. */
int64_t lines_cell(double at);

#endif
