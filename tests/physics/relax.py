#!/usr/bin/python3
"""Initial relaxation of the pressure (Mei et al., Computers & Fluids 35:855, 2006): Taylor-Green vortices started from a
uniform density get the pressure of the exact solution, for any operator and viscosity, on any ranks; a box with walls gets
one that settles. The bound is the scheme's own error: of second order in the cells across a vortex, and of the square of
the Mach number."""
import numpy

from case import at_most, at_least, finish, order, run, FP32, FP64

U = 0.02


def density(cells, relax, more):
    result = run("taylor_green_2d", more | {
        "domain.cells": [cells, cells, 1], "initial.amplitude": U, "initial.pressure": "uniform",
        "initial.relax": relax, "run.steps": 1,
        "output": {"fields": {"main": {"every": 1, "of": ["density", "velocity"], "precision": "fp64"}}}})
    found = result.field("density", number=0)[:, :, 0] - 1, result.field("velocity", number=0)[:, :, 0, :2]
    result.remove()
    return found


def exact(cells):
    x = 2 * numpy.pi * (numpy.arange(cells) + 0.5) / cells
    return -0.75 * U**2 * (numpy.cos(2 * x)[:, None] + numpy.cos(2 * x)[None, :])


def velocity(cells):
    x = 2 * numpy.pi * (numpy.arange(cells) + 0.5) / cells
    return numpy.stack([-U * numpy.cos(x)[:, None] * numpy.sin(x)[None, :], U * numpy.sin(x)[:, None] * numpy.cos(x)[None, :]], -1)


def error(cells, relax, more):
    found, u = density(cells, relax, more)
    if relax:
        at_most(f"{cells} cells: the velocity stays what it was", numpy.abs(u - velocity(cells)).max() / U,
                1e-12 if more.get("solver.storage") == "fp64" else 1e-5)
    return numpy.abs(found - exact(cells)).max() / numpy.abs(exact(cells)).max()


without = error(32, 0, FP64)
at_least("32 cells, not relaxed: error of the density", without, 0.99)
errors, sizes = [], [16, 32, 64]
for cells in sizes:  # the pressure's waves are half as long as the box: e-folds of 1.5 / pi^2 (cells / 2)^2
    errors.append(error(cells, round(14 * 1.5 / numpy.pi**2 * cells**2 / 4), FP64 | {"fluid.viscosity": 0.01}))
    at_most(f"{cells} cells: error of the density", errors[-1], 9 / cells**2)
at_least("order of convergence", order(sizes, errors), 1.75)
for what, more in ("viscosity 0.3", {"fluid.viscosity": 0.3}), ("bgk", {"solver.collision": "bgk"}), \
        ("viscosity 1e-4", {"fluid.viscosity": 1e-4}):
    at_most(f"{what}: error of the density", error(32, 600, FP64 | more), 9 / 32**2)
at_most("fp32: error of the density", error(32, 600, FP32), 0.02)

# The same bits on any ranks.
states = {ranks: run("taylor_green_2d", {"domain.cells": [17, 12, 3], "initial.pressure": "uniform", "initial.relax": 31,
                                         "faces": {"x": "periodic", "y": "periodic", "z": "wall"}, "run.steps": 3,
                                         "output": {}}, ranks).report["state_hash"] for ranks in (1, 2)}
at_most("different states of 1 and 2 ranks", len(set(states.values())) - 1, 0)
finish()
