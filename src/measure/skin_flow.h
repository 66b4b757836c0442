/* Pressure and shear stress of the fluid on points of a body's surface.
 *
 * Probes sample the flow 1, 2 and 3 cells of the body's finest level away from the surface along
 * its normal. The pressure at the surface is extrapolated by a parabola through the three samples.
 * The shear stress is the viscosity at the surface times the slope there of the tangential velocity.
 * A cubic through the three samples and the surface's velocity gives the slope; for a surface
 * that turns, the slope of rigid rotation is subtracted. If the third sample is not in the fluid,
 * the polynomials have one degree less; if the second is not, two degrees less. */
#ifndef TAGFLOW_SKIN_FLOW_H
#define TAGFLOW_SKIN_FLOW_H

#include "body/skin.h"
#include "measure/probe.h"

enum { SKIN_SAMPLES = 3, SKIN_VALUES = 4 };

struct skin_flow {
    const struct skin *skin;
    const struct case_body *body;
    const struct flow_case *c;
    double pivot[3];
    double apart; /* distance between samples: a cell of the finest level that has the body */
    struct probe probe;
    /* Rank 0: */
    int (*sample)[SKIN_SAMPLES]; /* [points] number of the probe's position, -1: out of the box */
    double *values;              /* [probe positions][4], see probe.h */
};

/* For body number `body` of the case. `skin` must outlive `f`. Collective, as skin_flow_measure():
 * one status on all ranks, failures reported. */
enum status skin_flow_create(struct skin_flow *f, const struct flow_case *c,
                             const struct levels *all, const struct skin *skin, int body);
void skin_flow_destroy(struct skin_flow *f);

/* to[points][SKIN_VALUES] on rank 0 (NULL on others): pressure minus the pressure at density 1, and
 * the tangential stress vector. Of the state before the next step, in lattice units. NaN where the
 * nearest sample is not in the fluid. */
enum status skin_flow_measure(struct skin_flow *f, const struct levels *all,
                              double (*to)[SKIN_VALUES]);

#endif
