/* Crossings of a triangle mesh with the lines through the centres of cells along one direction of
 * the lattice. Cells inside and wall distances of links are looked up in them.
 *
 * A line runs along c, whose main axis k is its first with c_k != 0. In the frame sheared by
 * u = x_i - s_i x_k, v = x_j - s_j x_k, with i, j after k in cyclic order and s = c_k c, the line
 * is a point:
 *
 *       v |    / \                    The line crosses a triangle if the point is in its shadow.
 *         |   / o \-----> u           For each edge that crosses the point's v (lower end
 *         |  /_____\                  included): is the point on its lower-u side? Both triangles
 *         +-----------                at an edge make the same test with the same numbers, so
 *                                     that no line passes through a closed mesh unnoticed. */
#ifndef TAGFLOW_LINES_H
#define TAGFLOW_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hit {
    double at; /* x_k */
    int turn;  /* 1: the line enters the enclosed volume as x_k grows, -1: it leaves */
    /* Component along the line of the triangle's unit normal, without its sign; lines along axes */
    float facing;
};

struct lines {
    int main, other[2], shear[2]; /* k; i and j; s_i and s_j */
    int first[2], count[2];       /* range of lines, by the integer parts of u and v */
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

/* The first cell along axis k whose centre is at or beyond this position. */
int64_t lines_cell(double at);

#endif
