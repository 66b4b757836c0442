#!/usr/bin/python3
"""Plane Couette flow from rest, in every cell, at three relaxation times, the moving wall at either side.

Reference: the line from 0 to the wall's velocity, walls half a cell beyond the last cells. Half-way
bounce-back has a line exactly, whatever the relaxation times. So the tolerance, 1e-12 of the wall's
velocity, is for rounding alone.
"""
import numpy

import case

HEIGHT = 16
SPEED = 0.05


def largest(values):
    return numpy.abs(values).max() / SPEED


for tau in 0.55, 1, 2:
    for side in "ymin", "ymax":
        viscosity = (tau - 0.5) / 3
        # From rest, exp(-pi^2 nu t / H^2) remains of what is missing: 1e-17 after 40 H^2 / (pi^2 nu).
        steps = int(4 * HEIGHT**2 / viscosity)
        run = case.run("couette", case.FP64 | {
            "domain.cells": [4, HEIGHT, 2], "fluid": {"viscosity": viscosity},
            "faces": {"x": "periodic", "z": "periodic", "ymin": "wall", "ymax": "wall",
                      side: {"wall": {"velocity": [SPEED, 0, SPEED / 2]}}},
            "run.steps": steps + 1,
            "output": {"fields": {"main": {"every": steps, "of": ["velocity", "density"], "precision": "fp64"}}}})
        line = SPEED * (numpy.arange(HEIGHT) + 0.5)[:, None] / HEIGHT
        if side == "ymin":
            line = line[::-1]
        velocity = run.field()
        name = f"tau {tau}, {side} moves"
        case.at_most(f"{name}: change in the last step", largest(velocity - run.field(number=-2)), 1e-15)
        case.at_most(f"{name}: relative error of u in the worst cell", largest(velocity[..., 0] - line), 1e-12)
        case.at_most(f"{name}: relative error of w in the worst cell", largest(velocity[..., 2] - line / 2), 1e-12)
        case.at_most(f"{name}: relative size of v", largest(velocity[..., 1]), 1e-12)
        case.at_most(f"{name}: change of density", numpy.abs(run.field("density") - 1).max(), 1e-12)
case.finish()
