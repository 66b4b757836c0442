#!/usr/bin/python3
"""Lid-driven cavities against published results. Argument: 100 | 1000 | cube.

- 100: square, N = 64. Extrema of u and v on the centre lines (Marchi, Suero, Araki 2009) within 0.003 of
  the lid's velocity;
- 1000: square, N = 128. Velocities on the centre lines (Botella, Peyret 1998): at most 0.012 off, 0.006 in
  the root mean square; extrema within 0.012;
- cube: Re 1000, N = 64. The same on the lines through the centre (Albensoeder, Kuhlmann 2005), within four
  times that, as the grid is half as fine.

Tolerances: half-way bounce-back and TRT (the cube: rr) are of second order, but the lid's velocity jumps at its edges,
and what happens there decides: with edges that belong to the lid instead of the side walls the errors are
0.007 at Re 100 and 0.0185 (0.0114) at Re 1000. The gates lie between that and what a sound scheme has.
The references' numbers: reference.py.
"""
import sys

import numpy

import case
from centre import at, line
from reference import CAVITY_EXTREMA, CAVITY_U, CAVITY_V, CUBE_U, CUBE_V

KINDS = {
    #        case            cells           steps    extrema  largest  rms
    "100": ("cavity_re100", [64, 64, 1], 25000, 0.003, None, None),
    "1000": ("cavity", [128, 128, 1], 60000, 0.012, 0.012, 0.006),
    "cube": ("cavity_cube", [64, 64, 64], 32000, 0.048, 0.048, 0.024),
}

kind = sys.argv[1]
name, cells, steps, tolerance, largest, rms = KINDS[kind]
settings = {"domain.cells": cells, "fluid": {"reynolds": 100 if kind == "100" else 1000, "velocity": 0.1,
                                             "length": cells[0]}, "run.steps": steps}
run = case.run(name, (case.FP32 if kind == "cube" else case.FP64) | settings | {"output": {
    "series": {"flow": {"every": steps // 100, "of": ["kinetic_energy"]}},
    "fields": {"main": {"every": 10**9, "of": "velocity", "precision": "fp64"}}}}, large=kind == "cube")
energy = run.series()["kinetic_energy"]
case.at_most("change of the kinetic energy in the last hundredth", abs(energy[-1] / energy[-2] - 1), 2e-4)

velocity = run.field() / 0.1
u, v = line(velocity[..., 0], 1, 1), line(velocity[..., 1], 0, 0)
if kind == "cube":
    extrema = {"u_min": CUBE_U[:, 1].min(), "v_max": CUBE_V[:, 1].max(), "v_min": CUBE_V[:, 1].min()}
    tables = CUBE_U, CUBE_V
else:
    extrema, tables = CAVITY_EXTREMA[int(kind)], (CAVITY_U, CAVITY_V)
fine = numpy.linspace(0.01, 0.99, 9801)
for what, where, extremum in (("u_min", u, min), ("v_max", v, max), ("v_min", v, min)):
    case.near(what, extremum(at(fine, where)), extrema[what], tolerance)
if largest:
    for what, where, table in (("u", u, tables[0]), ("v", v, tables[1])):
        error = at(table[1:-1, 0], where) - table[1:-1, 1]
        case.at_most(f"{what} on the centre line, largest error", numpy.abs(error).max(), largest)
        case.at_most(f"{what} on the centre line, rms error", numpy.sqrt((error**2).mean()), rms)
case.finish()
