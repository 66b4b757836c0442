/* The flows that `tagflow bench` measures, as case files. */
#ifndef TAGFLOW_BENCH_CASES_H
#define TAGFLOW_BENCH_CASES_H

#include "case/case.h"

/* X(name, fewest cells along an axis, meaning) */
/* clang-format off */
#define BENCH_CASE_LIST(X)                                                                        \
    X(periodic, 1, "vortices in a periodic box")                                                  \
    X(cavity,   1, "closed box under a lid that moves")                                           \
    X(channel,  1, "between two walls, driven by a force")                                        \
    X(sphere,   4, "a sphere in a periodic box, driven by a force")                               \
    X(rock,     8, "between overlapping spheres at random, porosity 0.4, driven by a force")
/* clang-format on */

enum bench_case {
#define X(name, fewest, meaning) BENCH_CASE_##name,
    BENCH_CASE_LIST(X)
#undef X
        BENCH_CASES
};

/* Names of the cases; NULL at the end. */
extern const char *const bench_cases[];

/* The configuration of one row of the table. */
struct bench_subject {
    enum bench_case which;
    int cells[3];
    enum collision collision;
    enum precision storage, arithmetic;
    int threads; /* in each rank */
};

/* The case file's text, allocated, its length in *length: a flow in which no population is zero
 * everywhere, lattice units, no output. STATUS_USAGE, reported: the box is too small for it;
 * STATUS_MACHINE, reported: without memory. */
enum status bench_case_text(const struct bench_subject *s, char **text, size_t *length);

#endif
