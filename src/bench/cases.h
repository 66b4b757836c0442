/* The flows that `tagflow bench` measures, as case files. */
#ifndef TAGFLOW_BENCH_CASES_H
#define TAGFLOW_BENCH_CASES_H

#include "case/case.h"

/* X(name, fewest cells along an axis, meaning) */
/* clang-format off */
#define BENCH_CASE_LIST(X)                                                                        \
    X(periodic, 1, "vortices in a periodic box")                                                  \
    X(refined,  16, "the same, cells of half the width in its middle: two levels")                \
    X(cavity,   1, "closed box under a lid that moves")                                           \
    X(heat,     1, "closed box, hot at xmin and cold at xmax: a scalar with buoyancy")            \
    X(channel,  1, "between two walls, driven by a force")                                        \
    X(slip,     1, "between planes of symmetry across y and z")                                   \
    X(inlet,    3, "duct with a velocity at xmin and a pressure at xmax")                         \
    X(sphere,   4, "a sphere in a periodic box, driven by a force, walls half-way")               \
    X(curved,   4, "the same with an interpolated surface")                                       \
    X(tunnel,   8, "wind tunnel: inlet, outlet, planes of symmetry, an interpolated sphere")      \
    X(rock,     8, "between overlapping spheres at random, driven by a force")
/* clang-format on */

enum bench_case {
#define X(name, fewest, meaning) BENCH_CASE_##name,
    BENCH_CASE_LIST(X)
#undef X
        BENCH_CASES
};

/* Names of the cases; NULL at the end. */
extern const char *const bench_cases[];

/* Fewest cells of a case along an axis. */
int bench_fewest(enum bench_case which);

/* The configuration of one row of the table. */
struct bench_subject {
    enum bench_case which;
    int cells[3];
    enum collision collision;
    enum precision storage, arithmetic;
    int threads;             /* in each rank */
    double porosity, radius; /* of the rock; 0: its default */
};

/* The rock's share of fluid that is asked for, and the radius of its spheres in cells. */
struct bench_rock {
    double porosity, radius;
};
struct bench_rock bench_rock(const struct bench_subject *s);

/* The case file's text, allocated, its length in *length: a flow in which no population is zero
 * everywhere, lattice units, no output. STATUS_USAGE, reported: the box is too small for it, or the
 * rock has too many spheres; STATUS_MACHINE, reported: without memory. */
enum status bench_case_text(const struct bench_subject *s, char **text, size_t *length);

#endif
