/* Flux of a scalar through a face, a patch or the surface of a body: the definition.
 *
 * Through a surface pass two kinds of links of the scalar's lattice (D3Q7):
 *
 * - Links from cells that hold the scalar, fluid or conducting, into cells that do not: beyond the
 *   face, patch or cap, or in a body that does not conduct. Each brings what comes back minus what
 * left.
 * - Links between cells of a body that conducts and other cells that hold the scalar. Each brings
 *   what leaves the body minus what enters it. (Links of such a body into a face belong to the
 *   face.)
 *
 * Heat is the sum over all links of the surface in one step, from the state at the solver's time to
 * the next one; positive: from the surface into the fluid, or through the face into the box. At
 * open faces it includes what the flow carries. So the sum of enthalpy (measure/scalar.h) changes
 * in this step by the heat of all faces and of all bodies that do not conduct, and by the sources.
 * With several levels the later steps of finer levels belong to it, too.
 *
 * The area, in squares of a cell's edge, is the number of links. Each link from outside into a body
 * counts by the component along it of the normal of the body's surface where it enters, so that
 * oblique surfaces have their own area, not the area of their cells' faces.
 *
 *   flux = heat / area,   Nusselt (species: Sherwood) number = flux length / (diffusivity
 * difference)
 */
#ifndef TAGFLOW_MEASURE_HEAT_H
#define TAGFLOW_MEASURE_HEAT_H

#include "solver/levels.h"

enum { HEAT_BODY = -1, HEAT_NOWHERE = -2 };

struct heat_surface {
    int opening[LEVELS]; /* number of the face or patch in the case of each level, see
                          * case_opening(); SERIES_CAP + k: of cap k; HEAT_BODY: the surface of a
                          * body; HEAT_NOWHERE: the level does not have it */
    int side;            /* face of the opening, 0 .. 5; -1: of a cap */
    int body;            /* number of the body */
};

struct heat_found {
    double heat; /* lattice units of level 0 with capacity 1 of the fluid; NaN if a term is not
                  * finite */
    double area; /* in faces of cells of level 0 */
};

/* Heat of a step of level 0. */
struct heat_step {
    struct heat all[LEVELS]; /* this rank's sums over the steps of each level until now */
    struct heat_found first; /* from the first step of each level */
    bool more;               /* there were later ones */
};

/* Begins a step: each level gives the heat of its own next step, for the whole step of level 0: a
 * link of level l counts 2^-2l. Collective, the same on all ranks, bit-identical for every
 * decomposition. STATUS_MACHINE, reported, when the backend failed. */
enum status heat_begin(const struct levels *all, int set, const struct heat_surface *at,
                       struct heat_step *step);

/* Adds the next step of a level, later in the same step of level 0. A rank may fail alone. */
enum status heat_add_later(const struct levels *all, int level, int set,
                           const struct heat_surface *at, struct heat_step *step);

/* Heat of all steps that were added: a link of level l counts 2^-3l in each. Collective, as
 * heat_begin. Without later steps it is the heat of the first. */
double heat_whole(const struct levels *all, int set, const struct heat_step *step);

#endif
