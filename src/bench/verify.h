/* Verifies the program's steps: each is compared with a plain step (plain.h) of the same state, bit
 * for bit, on all ranks. */
#ifndef TAGFLOW_BENCH_VERIFY_H
#define TAGFLOW_BENCH_VERIFY_H

#include "solver/solver.h"

enum { VERIFY_WHY = 256 };

/* Bytes that verify_steps takes on a rank for its block. */
double verify_bytes(const struct domain *d, const struct flow_case *c);

/* Does the plain step support all that this case has? If not, `why` names what it lacks. The same
 * on all ranks. */
bool verify_knows(const struct domain *d, const struct flow_case *c, char why[VERIFY_WHY]);

/* Advance the solver by so many steps and compare each of them. *right: all populations of all
 * fluid cells of all ranks are equal; otherwise `why` says where the first difference is. Only for
 * cases that verify_knows() accepts. Collective; the same status and answer on all ranks:
 * STATUS_MACHINE, reported, when memory or the backend failed. spoil (or NULL), for tests: called
 * on each rank with the solver's populations before they are compared. */
struct verify_spoil {
    void (*call)(void *context, int step, int set, const struct box *piece, void *populations);
    void *context;
};
enum status verify_steps(struct solver *s, const struct flow_case *c, int steps,
                         const struct verify_spoil *spoil, bool *right, char why[VERIFY_WHY]);

#endif
