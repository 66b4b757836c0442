/* The controller of shares: it adjusts the pressure of outlets so that a given share of the flow
 * out of the box leaves through each of them.
 *
 * At every multiple of SHARES_EVERY it measures U, the mass flow out through the outlet over its
 * area, and what it is to be, U_wanted = share (mass flow through all outlets) / area, and changes
 * the outlet's pressure p for the next steps (lattice units, reference density 1):
 *
 *   p += Z (V - V_before) + Z (SHARES_EVERY / time) (U - U_wanted),   Z = c_s / 2
 *   V += (U - V) / SHARES_LOOKS
 *
 * V is U without its fast changes: the controller answers them too late, and would feed the
 * resonance of a cavity before the outlet, such as that before a body near it. Otherwise this is a PI controller in velocity form, like that of drive.h: p stays constant while U is
 * U_wanted. A rigid column of fluid of length l behind the outlet answers a pressure with
 * l dU/dt = -p; in one interval sound reaches l = c_s SHARES_EVERY, so that U changes by p / c_s at
 * once. Z is half of this impedance: the first term damps slow sound: an outlet of this impedance
 * reflects (Z - c_s) / (Z + c_s) = -1/3 of a wave. The second term takes the
 * deviation away, in `time` steps while inertia holds the flow back.
 *
 * The sums for U are exact, so p is bit-identical for every decomposition. */
#ifndef TAGFLOW_SHARES_H
#define TAGFLOW_SHARES_H

#include "solver/outflow.h"
#include "solver/state.h"

enum { SHARES_EVERY = 10, SHARES_LOOKS = 5 };

/* State of the controller, by opening. */
struct outlet_shares {
    int count;                         /* of openings with a share; 0: there is no controller */
    double drho[OUTFLOW_OPENINGS];     /* density - 1 of the next steps */
    double velocity[OUTFLOW_OPENINGS]; /* V */
    double looks;                      /* number of measurements */
};

/* State at step 0. s: of level 0. Afterwards the state must not move. */
void shares_create(struct outlet_shares *h, struct solver *s, const struct flow_case *c);

/* Steps to the next measurement; 0: there is no controller. */
int64_t shares_next(const struct outlet_shares *h, int64_t step);

/* Measures and sets the pressures if the step is one of these. s, c: of level 0. Collective.
 * STATUS_MACHINE, reported, when the backend failed. */
enum status shares_adjust(struct outlet_shares *h, struct solver *s, const struct flow_case *c);

/* Warns of outlets through which another share leaves at the end of a run. Collective.
 * STATUS_MACHINE, reported, when the backend failed. */
enum status shares_judge(const struct outlet_shares *h, struct solver *s,
                         const struct flow_case *c);

/* Registers the controller in a run's state, if there is one. */
enum status shares_register(struct outlet_shares *h, const struct flow_case *c,
                            struct state *state);

#endif
