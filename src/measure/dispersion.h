/* Dispersion of a scalar with a mean gradient: the definition.
 *
 * The scalar is T + G . x with the mean gradient G; T is periodic and stored. In one step each link
 * between two cells that hold the scalar carries
 *
 *   j = (g*_i - (G . c_i) h*_i / 2) - (g*_k + (G . c_i) h*_k / 2)
 *
 * from the cell from which it leads along c_i, whose g*_i leaves, to the other one, whose g*_k, k =
 * opposite(i), leaves; h*_i = 1/8 + c_i . u / 2 (scalar.h). This is the exact flux in the lattice
 * Boltzmann step, less the flux of G . x by the velocity on the link. J is the sum of c_i j over
 * the links, U the sum of the velocities on them per fluid cell, N the number of fluid cells:
 *
 *   D* G = -J / N + U (<T> - G . U / 2),   <T> = sum T / N
 *
 * where the bracket is the mean of T in the middle of the step, in which the flow changes it by
 * -G . U. In the continuum, with means over the pores, this is the flux D (G + <grad T>) - <(u - U)
 * T>: dispersion of mass in the pore space (Whitaker, AIChE J. 13:420, 1967; Brenner, Phil. Trans.
 * R. Soc. A 297:81, 1980). A uniform part of T changes it only as far as the
 * velocities on links differ from the flux of a uniform scalar: T must stay small. */
#ifndef TAGFLOW_MEASURE_DISPERSION_H
#define TAGFLOW_MEASURE_DISPERSION_H

#include "solver/solver.h"

/* Lattice units; in the step from the solver's time to the next one. NaN if a term is not sane. */
struct dispersion_found {
    double velocity[3]; /* U */
    double column[3];   /* D* G / |G|, per volume of the pores */
    double along;       /* G . D* G / |G|^2 */
    double mean;        /* of T over the fluid */
    double porosity;    /* fluid cells over cells of the box */
};

/* Collective, the same on all ranks, bit-identical for every decomposition. STATUS_MACHINE,
 * reported, when the backend failed. */
enum status dispersion_measure(struct solver *s, int set, struct dispersion_found *found);

#endif
