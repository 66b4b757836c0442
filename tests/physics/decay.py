#!/usr/bin/python3
"""Flows that only decay: order of convergence and viscosity. Arguments: taylor_green_2d | abc [AXIS].

References, in a periodic box with k = 2 pi / L:
- taylor_green_2d: u = -U cos kx sin ky, v = U sin kx cos ky, times exp(-2 nu k^2 t) (Taylor, Phil. Mag.
  46:671, 1923), the axis across being x, y or z;
- abc: u = U (sin kz + cos ky, sin kx + cos kz, sin ky + cos kx), times exp(-nu k^2 t), whose vorticity
  is k u (Dombre et al., J. Fluid Mech. 167:353, 1986).

Diffusive scaling: U falls as 1/L, the relaxation time stays, so that errors of space, time and
compressibility all fall as 1/L^2: order at least 1.9 between any two of three grids. U is
small, for the sound that the start makes falls only as 1/L. The kinetic energy falls at twice the rate
of the velocity; on the finest grid the viscosity it tells is within 0.1 %.
"""
import sys

import numpy

import case

kind = sys.argv[1]
axis = "xyz".index(sys.argv[2]) if len(sys.argv) > 2 else 2
viscosity = 0.02
flat = kind == "taylor_green_2d"
CELLS = (16, 32, 64) if flat else (12, 24, 48)
DECAY = 2 if flat else 1  # the velocity falls as exp(-DECAY nu k^2 t)


def exact(cells):
    """The velocity at the start over U, [x, y, z, component]."""
    turn = 2 * numpy.pi * (numpy.arange(cells) + 0.5) / cells
    u = numpy.zeros([1 if flat and b == axis else cells for b in range(3)] + [3])
    if flat:
        a, b = (axis + 1) % 3, (axis + 2) % 3
        x, y = (numpy.expand_dims(turn, tuple(c for c in range(3) if c != d)) for d in (a, b))
        u[..., a] = -numpy.cos(x) * numpy.sin(y)
        u[..., b] = numpy.sin(x) * numpy.cos(y)
    else:
        x, y, z = turn[:, None, None], turn[:, None], turn
        u[..., 0] = numpy.sin(z) + numpy.cos(y)
        u[..., 1] = numpy.sin(x) + numpy.cos(z)
        u[..., 2] = numpy.sin(y) + numpy.cos(x)
    return u


errors, viscosities = [], []
for cells in CELLS:
    k = 2 * numpy.pi / cells
    speed = (0.32 if flat else 0.16) / cells
    steps = round(0.5 / (DECAY * viscosity * k**2) / 2) * 2
    initial = {"flow": kind, "amplitude": speed} | ({"axis": "xyz"[axis]} if flat else {})
    start = exact(cells)
    run = case.run(kind, case.FP64 | {
        "domain.cells": list(start.shape[:3]), "fluid": {"viscosity": viscosity}, "initial": initial,
        "run.steps": steps,
        "output": {"series": {"flow": {"every": steps // 2, "of": ["kinetic_energy"]}},
                   "fields": {"main": {"every": steps, "of": "velocity", "precision": "fp64"}}}},
        large=start.size > 5e5)
    reference = speed * numpy.exp(-DECAY * viscosity * k**2 * steps) * start
    errors.append(numpy.sqrt(((run.field() - reference)**2).sum() / (reference**2).sum()))
    energy, step = run.series()["kinetic_energy"], run.series()["step"]
    # The second half, when what the start has of sound and the like is gone.
    viscosities.append(-numpy.log(energy[-1] / energy[-2]) / (step[-1] - step[-2]) / (2 * DECAY * k**2))
    print(f"     {cells} cells: relative error {errors[-1]:.4g}, viscosity {viscosities[-1]:.7g}")

case.at_least("order of convergence", case.order(CELLS, errors), 1.9)
case.at_most("relative error in the mean square on the finest grid", errors[-1], 2e-3)
case.near(f"viscosity from the decay with {CELLS[-1]} cells", viscosities[-1], viscosity, 1e-3 * viscosity)
case.finish()
