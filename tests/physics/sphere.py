#!/usr/bin/python3
"""A sphere in a uniform stream at Reynolds number 100: a quarter of it, between planes of symmetry.

Reference: drag coefficient 1.087 (Johnson, Patel, J. Fluid Mech. 378:19, 1999). The flow is axisymmetric, so slip faces
through the centre do: D = 10 cells, 5 D behind the inlet, in a box of 12 x 5 x 5 diameters. The sphere has 3 % of its section,
which adds about 3 %; in one of 16 x 12 x 12 the drag is 3 % lower, in one of 6 x 5 x 5 7 % higher. Sound between the inlet and the
sphere moves the drag by 1.5 % up and down: the mean of the last quarter. Within 8 % with the interpolated wall and 16 % with the
half-way one; found 4.6 and 12 %, 0.38 times as far off; 0.6 is asked for. The forces along y and z of the quarter are equal,
to 1e-5, as one is the mirror image of the other (fp32). `trt`, as `auto` takes `rr` at this Reynolds number of a cell, 10, whose
drag is 11 and 22 % too high.

    sphere.py 20          another diameter; not in CI
"""
import math
import sys

import case

SPEED = 0.08


def drag(diameter, wall):
    cells = [12 * diameter, int(2.5 * diameter), int(2.5 * diameter)]
    steps = int(2 * cells[0] / SPEED)
    run = case.run("sphere", {
        "solver.collision": "trt", "domain.cells": cells, "fluid": {"reynolds": 100, "velocity": SPEED, "length": diameter},
        "initial.velocity": [SPEED, 0, 0], "faces.xmin": {"velocity": {"value": [SPEED, 0, 0]}},
        "bodies.sphere": {"shape": {"sphere": {"center": [5 * diameter, 0, 0], "radius": diameter / 2}}, "wall": wall},
        "run.steps": steps, "check.every": 100, "output": {"log": {"every": 0}, "series": {
            "drag": {"every": 20, "of": "forces", "body": "sphere", "area": math.pi * diameter**2 / 16}}}}, large=True)
    forces = run.series("drag")
    last = forces["step"] > 0.75 * steps
    case.near(f"{wall}, D = {diameter}: force along y over that along z",
              forces["c_y"][last].mean() / forces["c_z"][last].mean(), 1, 1e-5)
    return forces["c_x"][last].mean()


diameter = int(sys.argv[1]) if len(sys.argv) > 1 else 10
found = {wall: drag(diameter, wall) for wall in ("interpolated", "halfway")}
for wall, c in found.items():
    case.near(f"{wall}, D = {diameter}: drag coefficient", c, 1.087, 1.087 * (0.16 if wall == "halfway" else 0.08))
case.at_most("off with the interpolated wall over off with the half-way one",
             abs(found["interpolated"] - 1.087) / abs(found["halfway"] - 1.087), 0.6)
case.finish()
