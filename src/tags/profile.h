/* How the velocity of an opening varies over its face. */
#ifndef TAGFLOW_PROFILE_H
#define TAGFLOW_PROFILE_H

#include "case/case.h"

/* The stretch over which a profile varies along one axis of a face. Positions: the centre of cell 0
 * is at 0.5. An end is
 *
 * - at the side of the outermost cell, 0 or n: wall, velocity with `links`;
 * - at the centre of the outermost cell, 0.5 or n - 0.5: regularised velocity;
 * - beyond a plane of symmetry at 0 or n (regularised pressure: 0.5 or n - 0.5): slip and other
 *   open edges; the stretch continues as far again behind the plane.
 *
 * Nothing varies along a periodic axis, or with symmetry at both ends. */
struct profile_stretch {
    bool varies;
    double low, high; /* where the profile vanishes */
};

/* For axis `axis` of the box, one in the plane of the face. */
struct profile_stretch profile_stretch(const struct flow_case *c, int axis);

/* A rectangle of the face's cells, lo <= cell < hi along its axes, ascending: the part of a face or
 * rectangular patch that bodies and later patches leave. Covered cells act like walls. */
struct profile_open {
    int lo[2], hi[2];
};

/* Velocities, lattice units, for every cell of the face: [cells of its second axis][cells of its
 * first axis][3], axes ascending. `what`: the opening of the face or of one of its patches,
 * outside of which values have no meaning. open: the part that is left; NULL: all; ignored for a
 * table. Without the time function. Bit-identical on every machine, and symmetric to the bit where
 * the case is. STATUS_MACHINE, reported, without memory. */
enum status profile_values(const struct flow_case *c, int face, const struct case_face *what,
                           const struct profile_open *open, double *values);

#endif
