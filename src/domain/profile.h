/* How the velocity of an opening varies over its face. */
#ifndef TAGFLOW_PROFILE_H
#define TAGFLOW_PROFILE_H

#include "case/case.h"

/* The stretch over which a profile varies along one axis of a face. Positions are those of cells'
 * centres, cell 0 at 0.5.
 *
 *     wall, velocity by links: at the face of the outermost cell, 0 or n;
 *     regularised velocity: at the centre of the outermost cell, 0.5 or n - 0.5;
 *     slip and other open edges: a plane of symmetry, at 0 or n (regularised pressure 0.5, n -
 * 0.5), so that the stretch goes on as far again behind it; periodic, or symmetric at both ends:
 * nothing varies. */
struct profile_stretch {
    bool varies;
    double low, high; /* where the profile vanishes */
};

/* Of axis `axis` of the box, which lies in the plane of the face. */
struct profile_stretch profile_stretch(const struct flow_case *c, int axis);

/* Velocities in lattice units for every cell of the face, [cells of its second axis][cells of its
 * first axis][3], axes ascending; `what` is the face's own or the opening of one of its patches,
 * whose cells alone then count. Without the signal. They are symmetric to the bit where the case
 * is, and the same on every machine. STATUS_MACHINE, reported, without memory. */
enum status profile_values(const struct flow_case *c, int face, const struct case_face *what,
                           double *values);

#endif
