#!/usr/bin/python3
"""Plane Couette flow from rest, in every cell, at three relaxation times, the moving wall at either side.

Reference: the line from 0 to the wall's velocity, walls half a cell beyond the last cells. Half-way
bounce-back has a line exactly, whatever the relaxation times. So the tolerance, 1e-12 of the wall's
velocity, is for rounding alone. A series along a line from wall to wall is the same straight line, up to the walls and
with the walls' velocities at its ends, also where levels of finer cells lie beside one wall or both.
"""
import numpy

import case

HEIGHT = 16
SPEED = 0.05


def largest(values):
    return numpy.abs(values).max() / SPEED


# Eight points a cell: some lie in the half cell beside the walls, on every level.
ACROSS = {"of": "line", "from": [2.3, 0, 1], "to": [2.3, HEIGHT, 1], "points": 8 * HEIGHT + 1}


def check_across(name, run, side):
    found = run.series("across")[-ACROSS["points"]:]
    share = found["y"] / HEIGHT if side == "ymax" else 1 - found["y"] / HEIGHT
    case.at_most(f"{name}: relative error of u along a line to the walls", largest(found["velocity_x"] - SPEED * share), 1e-12)
    ends = found[[0, -1] if side == "ymax" else [-1, 0]]
    case.near(f"{name}: u at the wall at rest", ends["velocity_x"][0], 0, 0)
    case.near(f"{name}: w at the moving wall", ends["velocity_z"][1], SPEED / 2, 0)


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
            "output": {"fields": {"main": {"every": steps, "of": ["velocity", "density"], "precision": "fp64"}},
                       "series": {"across": ACROSS | {"every": steps + 1}}}})
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
        check_across(name, run, side)

# Finer cells beside a wall: the line is exact across their edges, too.
for walls in (["low"], ["low", "high"]):
    regions = {"low": {"level": 2, "box": {"from": [0, 0, 0], "to": [8, 4, 8]}}, "high": {"level": 1, "box": {"from": [0, 12, 0], "to": [8, HEIGHT, 8]}}}
    run = case.run("couette", case.FP64 | {
        "domain.cells": [8, HEIGHT, 8], "fluid": {"viscosity": 0.2}, "refine": {wall: regions[wall] for wall in walls},
        "faces": {"x": "periodic", "z": "periodic", "ymin": "wall", "ymax": {"wall": {"velocity": [SPEED, 0, SPEED / 2]}}},
        "run.steps": 5200, "output": {"series": {"across": ACROSS | {"every": 5200}}}})
    check_across(f"levels beside {' and '.join(walls)}", run, "ymax")
case.finish()
