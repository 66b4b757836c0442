#!/usr/bin/python3
"""Bodies across planes of symmetry: a part of a flow between `slip` faces is the same flow as the whole.

A sphere and a capsule that turns are computed whole, and as a quarter or a half, 40 steps, fp64. Velocities, and the force along x
times the number of parts, are the same to 1e-12: links of the part that cross a plane meet the body's mirror image. Half-way walls, at
rest and moving, and interpolated ones; planes below and above; on levels, too; two ranks.
"""
import numpy

import case

N, MIDDLE, STEPS = 24, 12, 40
SPHERE = {"sphere": {"center": [MIDDLE] * 3, "radius": 3.2}}
CAPSULE = {"capsule": {"from": [8, MIDDLE, 7], "to": [15, MIDDLE, 18], "radius": 2.3}}
TURN = {"rotation": {"rate": [0, 0.01, 0], "about": [11, MIDDLE, 12]}}


def flow(body, refine, cells, shift, ranks):
    """Velocity and the force along x in a box of `cells`, in which everything lies lower by `shift`."""

    def lower(value, key=None):
        if isinstance(value, dict):
            return {k: lower(v, k) for k, v in value.items()}
        return [v - s for v, s in zip(value, shift)] if key in ("center", "from", "to", "about") else value

    run = case.run("couette", case.FP64 | {
        "domain.cells": cells, "fluid": {"viscosity": 0.05}, "initial": {"flow": "uniform", "velocity": [0.05, 0, 0]},
        "faces": {"x": "periodic", "y": "slip", "z": "slip"}, "run.steps": STEPS, "bodies": {"body": lower(body)},
        **({"refine": {"near": {"level": 1, "around": "body", "distance": 4}}} if refine else {}),
        "output": {"log": {"every": 0}, "series": {"drag": {"every": STEPS, "of": "forces", "body": "body"}}, "fields": {
            "main": {"every": STEPS, "of": "velocity", "precision": "fp64", **({"levels": 0} if refine else {})}}}}, ranks=ranks)
    return run.field(), run.series("drag")["force_x"][-1]


def parts(name, body, planes, above=False, refine=False, ranks=1, limit=1e-12):
    cells = [MIDDLE if a in planes else N for a in range(3)]
    shift = [MIDDLE if a in planes and not above else 0 for a in range(3)]
    whole, part = flow(body, refine, [N] * 3, [0] * 3, 1), flow(body, refine, cells, shift, ranks)
    there = whole[0][tuple(slice(s, s + n) for s, n in zip(shift, cells))]
    case.at_most(f"{name}: difference of the velocity", numpy.abs(part[0] - there).max(), limit)
    case.near(f"{name}: force of the parts", part[1] * 2**len(planes), whole[1], limit * abs(whole[1]))


for wall in "halfway", "interpolated":
    parts(f"quarter of a sphere, {wall}", {"shape": SPHERE, "wall": wall}, [1, 2], ranks=2)
    parts(f"half a capsule that turns, {wall}", {"shape": CAPSULE, "wall": wall} | TURN, [1], above=True)
parts("quarter of a sphere with a moving wall", {"shape": SPHERE, "velocity": [0.03, 0, 0]}, [1, 2], above=True)
parts("quarter of a sphere on level 1", {"shape": SPHERE, "wall": "interpolated"}, [1, 2], refine=True, ranks=2)
parts("half a capsule that turns on level 1", {"shape": CAPSULE} | TURN, [1], above=True, refine=True)
case.finish()
