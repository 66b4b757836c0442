/* The mass of a box whose density nothing holds.
 *
 * Interpolated walls make or lose mass at every step (include/surface.h). So do velocities that are
 * given at openings: as much volume comes in as goes out, but at a higher density where a pump
 * gives than where it draws. Where no outlet, pressure or sponge holds the density, it would drift
 * without limit. So the mass M of the fluid, in cells of
 * level 0 at density 1, is compared with its value at the start, M_0. If it differs by `least` per
 * cell or more, the density of all the fluid changes at once by
 *
 *   d = (M_0 - M) / N,  N: fluid cells,
 *
 * that is, w_i d is added to every population i. A uniform density has no gradient, drives no flow
 * and is orthogonal to every sound wave of a closed box. M is the sum of what is stored. So nothing
 * adds up: neither rounding nor a part of d that rounding takes away.
 *
 * M is measured at multiples of HOLD_STEPS steps: every HOLD_STEPS while it drifts, up to HOLD_MOST
 * while it hardly does. All sums are exact, so the bits are the same for every decomposition.
 *
 * Connected parts of the fluid (tags/chambers.h) have an M each. Parts beyond the largest CHAMBERS
 * stay as they are. On a refined grid all levels change at once, between two steps of level 0. */
#ifndef TAGFLOW_HOLD_H
#define TAGFLOW_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "domain/refined.h"
#include "tags/chambers.h"

struct flow_case;
struct grid;
struct state;

enum { HOLD_STEPS = 8, HOLD_MOST = 64 };

struct hold {
    bool on; /* has the case such walls or openings, none that pumps, and nothing that holds the
              * density? */
    double least; /* change of density that is taken back */
    int parts;
    double cells[CHAMBERS]; /* N of each */
    uint8_t *part[LEVELS];  /* number of each cell's part, in memory of the level's backend; NULL:
                             * there is one part */
    /* State: M_0 - N of each part; step of the next measurement, steps from one to the next. */
    double first[CHAMBERS], next, every;
};

/* Finds out what the case needs, when solvers exist. Collective. STATUS_MACHINE, reported. */
enum status hold_create(struct grid *g);
void hold_destroy(struct grid *g);

/* Measures M_0 of the initial flow. Collective. STATUS_MACHINE, reported, when the backend failed.
 */
enum status hold_start(struct grid *g);

/* Measures M if the step is due, and changes the density if need be. Errors as hold_start; the
 * other ranks do not hang then. */
enum status hold_adjust(struct grid *g);

/* Steps to the next measurement; 0: there is none. */
int64_t hold_next(const struct grid *g);

/* Registers the state, if there is any. */
enum status hold_register(struct grid *g, struct state *state);

#endif
