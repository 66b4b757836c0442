#!/usr/bin/python3
"""Double shear layer at Re 10^4, kappa 80, on 256^2 cells to t U/L = 1.

Reference: Minion, Brown, J. Comput. Phys. 138:734, 1997: each layer rolls up into one vortex; where the
grid does not resolve the layers, further ones appear between them (here with 128^2 cells). So at t = 1 the
vorticity exceeds 0.6, 0.75 and 0.9 of its largest magnitude in two places each.
The energy can only fall. Two symmetries of the start last: half a turn about (1/4, 1/4), and a mirror
y -> 1 - y with a shift of half the box along x, which reverses the vorticity. They are exact but for rounding
(1e-16 in fp64), which the roll-up, as all that is not symmetric, lets grow by e^(2 pi t U/L) or so; 1e-9 of the
largest vorticity is far from either and from any error of the scheme.
"""
import numpy

import case
from reference import islands

CELLS, SPEED = 256, 0.05


def slope(u, axis):
    return (numpy.roll(u, -1, axis) - numpy.roll(u, 1, axis)) / 2


run = case.run("shear_layer", {
    "domain.cells": [CELLS, CELLS, 1], "fluid": {"reynolds": 10000, "velocity": SPEED, "length": CELLS},
    "solver.storage": "fp64", "run.steps": round(CELLS / SPEED),
    "output": {"series": {"flow": {"every": 64, "of": ["kinetic_energy"]}},
               "fields": {"main": {"every": 10**9, "of": "velocity", "precision": "fp64"}}}})
energy = run.series()["kinetic_energy"]
case.at_most("largest relative increase of the energy over 64 steps", (energy[1:] / energy[:-1] - 1).max(), 0)

velocity = run.field()[:, :, 0]
vorticity = slope(velocity[..., 1], 0) - slope(velocity[..., 0], 1)
largest = numpy.abs(vorticity).max()
for threshold in 0.6, 0.75, 0.9:
    case.near(f"places with more than {threshold} of the largest vorticity",
              islands(numpy.abs(vorticity) > threshold * largest), 2, 0)
# Cell i lies at (i + 1/2) / CELLS: reversed, cells are mirrored at 1/2.
turned = numpy.roll(vorticity[::-1, ::-1], (CELLS // 2, CELLS // 2), (0, 1))
case.at_most("half a turn: relative difference", numpy.abs(vorticity - turned).max() / largest, 1e-9)
mirrored = numpy.roll(vorticity[:, ::-1], CELLS // 2, 0)
case.at_most("mirror and shift: relative difference", numpy.abs(vorticity + mirrored).max() / largest, 1e-9)
case.finish()
