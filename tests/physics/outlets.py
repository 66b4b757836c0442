#!/usr/bin/python3
"""What each outlet sends back of a plane sound pulse that meets it head on, with fluid at rest and in flow.

A pulse drho = 1e-3 exp(-r^2/b^2), b = 10 cells, runs along +x at 1 / sqrt(3) into xmax. By the time it
would have come back to where it started, the largest deviation of the density left over, against that
of the pulse as it arrived, is the reflection, 20 log10 dB. It is linear: 1e-3 is small.
Limits: what was measured when the rules were written, with a few dB to spare; the best is to be at
least 40 dB down (a given pressure or velocity reflects all).
"""
import numpy

import case

CELLS, HALF, START = 400, 10, 250


def reflection(outlet, flow):
    """dB of what comes back."""
    travel = int((CELLS - START) * 2 * 3**0.5)
    run = case.run("duct", case.FP64 | {
        "domain.cells": [CELLS, 1, 1], "fluid": {"viscosity": 0.001}, "solver.collision": "bgk", "force": {},
        "faces": {"xmin": {"nonreflecting": {}}, "xmax": outlet, "y": "periodic", "z": "periodic"},
        "initial": {"flow": "wave", "velocity": [flow, 0, 0], "density": 1e-3, "axis": "x",
                    "center": [START, 0.5, 0.5], "width": HALF},
        "run.steps": travel // 3 * 3, "output": {"fields": {"main": {
            "every": travel // 3, "of": ["velocity", "density"], "precision": "fp64"}}}})
    density = run.field("density").ravel() - 1
    before = run.field("density", number=0).ravel() - 1
    inside = slice(30, CELLS - 30)
    return 20 * numpy.log10(numpy.abs(density[inside]).max() / numpy.abs(before[inside]).max())


LIMITS = {"outflow": ({"outflow": {}}, -35), "nonreflecting": ({"nonreflecting": {}}, -40),
          "held": ({"nonreflecting": {"reflection": 0.001}}, -30),
          "pressure": ({"pressure": {}}, 1), "links": ({"pressure": {"rule": "links"}}, 1)}
for flow in 0, 0.05:
    for name, (outlet, limit) in LIMITS.items():
        case.at_most(f"{name}, flow {flow}: reflection in dB", reflection(outlet, flow), limit)
case.finish()
