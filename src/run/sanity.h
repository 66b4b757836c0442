/* Checks for flows that are finite but wrong. Around each divergence check (check.every) it looks
 * for velocities and forces that alternate from step to step, and for densities far from 1;
 * whenever the flow is measured for gain or loss of mass. A wrong flow ends the run as a divergence
 * does; docs/physics.md, "When a flow is wrong", has the limits and reasons. */
#ifndef TAGFLOW_SANITY_H
#define TAGFLOW_SANITY_H

#include "measure/alternation.h"
#include "measure/forces.h"
#include "run/narrate.h"
#include "solver/state.h"

struct sanity {
    const struct flow_case *c;
    struct grid *grid;
    struct solver *solver; /* of level 0 */
    struct alternation alternation;
    struct force_triple *forces; /* [series_count], used by series of forces */
    double warned;               /* the share in the last warning */
    bool warned_forces, warned_density, warned_mass, warned_velocity, warned_range[CASE_SCALARS];
    struct scalar_given first[CASE_SCALARS]; /* values at the first look, if `any` */
    int64_t noisy;                           /* step since which the flow is noisy, -1: it is not */
    int64_t dense; /* step since which the density differs much, -1: it does not */
    double mass;   /* at the previous log line, at step mass_step; 0: none yet */
    int64_t mass_step;
    /* State, also in checkpoints: */
    int64_t above;     /* step since which the flow is wrong, -1: it is not */
    double first_mass; /* at the first step; 0: not measured yet */
};

/* Collective: one status on all ranks, failures reported. Registers its state in `state`. */
enum status sanity_create(struct sanity *s, const struct flow_case *c, struct grid *grid,
                          struct state *state);
void sanity_destroy(struct sanity *s);

/* Steps to the next sample; INT64_MAX: none. */
int64_t sanity_next(const struct sanity *s, int64_t step);

/* Is this step between the samples of one check? Then a requested checkpoint waits, so that a
 * restart decides as the run would have done. */
bool sanity_waits(const struct sanity *s, int64_t step);

/* The check whose samples have begun is left out: a checkpoint of this step does not hold them. */
void sanity_forget(struct sanity *s);

/* Samples this step if one is due, and checks when three samples are there. STATUS_DIVERGED,
 * reported, when the flow has been wrong for 100 steps. Collective. */
enum status sanity_look(struct sanity *s, const struct narrator *n);

/* Warns, once, of a velocity that the case does not let expect: above Mach 0.3, or far above what
 * its operator was tested for. */
void sanity_velocity(struct sanity *s, const struct narrator *n, const struct flow_sums *sums);

/* Warns, once for each scalar, of values outside of all that the case gives. STATUS_DIVERGED,
 * reported: a temperature at or below 0 K. */
enum status sanity_scalars(struct sanity *s, const struct narrator *n);

/* Judges the mass. A box without openings and sponges keeps it: a change by 1e-3 is a warning, from
 * 1 % on STATUS_DIVERGED, reported. With openings, if `log`: a line if it has changed by more than
 * 1 % since the previous one. */
enum status sanity_mass(struct sanity *s, double mass, bool log);

#endif
