#!/usr/bin/python3
"""Plane Poiseuille flow from rest, by TRT with magic 3/16, in every cell, at three relaxation times.

Reference: the parabola u = g/(2 nu) (h^2 - y^2) between walls half a cell beyond the last cells. TRT
with (tau+ - 1/2)(tau- - 1/2) = 3/16 has it in the cells without any error (Ginzburg, d'Humieres,
Phys. Rev. E 68:066614, 2003). So the tolerance, 1e-12 of the largest velocity, is for rounding alone.
BGK must miss it, by the error of half-way bounce-back with tau: (tau - 1/2)^2 in place of 3/16 moves
the parabola by 4/3 ((tau - 1/2)^2 - 3/16) g / (2 nu).
"""
import numpy

import case

HEIGHT = 16
SPEED = 0.05


def flow(tau, solver):
    viscosity = (tau - 0.5) / 3
    force = 2 * viscosity * SPEED / (HEIGHT / 2)**2
    # From rest, exp(-pi^2 nu t / H^2) remains of what is missing: 1e-17 after 40 H^2 / (pi^2 nu).
    steps = int(4 * HEIGHT**2 / viscosity)
    run = case.run("poiseuille", {
        "solver": solver | {"storage": "fp64"}, "domain.cells": [4, HEIGHT, 2], "fluid": {"viscosity": viscosity},
        "force.acceleration": [force, 0, 0], "run.steps": steps + 1,
        "output": {"fields": {"main": {"every": steps, "of": ["velocity", "density"], "precision": "fp64"}}}})
    y = numpy.arange(HEIGHT) + 0.5 - HEIGHT / 2
    parabola = force / (2 * viscosity) * (HEIGHT**2 / 4 - y**2)
    slip = force / (2 * viscosity) * 4 / 3 * ((tau - 0.5)**2 - 3 / 16)
    return run, parabola, slip


def largest(values):
    return numpy.abs(values).max() / SPEED


for tau in 0.55, 1, 2:
    run, parabola, _ = flow(tau, {"collision": "trt", "magic": 0.1875})
    velocity = run.field()
    case.at_most(f"tau {tau}: change in the last step", largest(velocity - run.field(number=-2)), 1e-15)
    case.at_most(f"tau {tau}: relative error of u in the worst cell",
                 largest(velocity[..., 0] - parabola[:, None]), 1e-12)
    case.at_most(f"tau {tau}: relative size of v and w", largest(velocity[..., 1:]), 1e-12)
    case.at_most(f"tau {tau}: change of density", numpy.abs(run.field("density") - 1).max(), 1e-12)

run, parabola, slip = flow(2, {"collision": "bgk"})
error = run.field()[..., 0] - parabola[:, None]
case.near("BGK, tau 2: slip at the wall by its tau", numpy.median(error), slip, 1e-12)
case.finish()
