#!/usr/bin/python3
"""Plane and square ducts with an inlet and an outlet, along every axis and either way.

The inlet gives the developed profile (regularised velocity), the outlet the density (regularised
pressure): nodes lie on the faces, so that the length is one less than the number of cells. Reference:
the same profile all along, whatever comes in goes out.

From rest the sound between the two faces, which reflect all of it, has to die: 20 h^2 / nu.
Limits: what flows in and out is to agree to 1e-6 in fp64 at steady state. Against the parabola, error in
the velocity at half length over 6, 12 and 24 cells at a fixed viscosity and Reynolds number (speed
~ 1/N, so that compressibility errors fall with N^2, too): order at least 1.8. Orientations differ in the
order of sums: 1e-9 of the velocity, which transients must have reached.
"""
import numpy

import case

AXES = "xyz"


def channel(cells, axis=0, across=1, sign=1, inlet="regularised", outlet="regularised"):
    """Velocity along over the largest, [along, across], and what flows half a width from the ends."""
    speed, viscosity = 0.4 / cells, 0.1
    other = 3 - axis - across
    extent, value = [1, 1, 1], [0, 0, 0]
    extent[axis], extent[across] = 2 * cells, cells
    value[axis] = sign * speed
    near, far = ("min", "max") if sign > 0 else ("max", "min")
    run = case.run("duct", case.FP64 | {
        "domain.cells": extent, "fluid": {"viscosity": viscosity}, "force": {},
        "faces": {AXES[axis] + near: {"velocity": {"value": value, "profile": "parabola", "rule": inlet}},
                  AXES[axis] + far: {"pressure": {"rule": outlet}},
                  AXES[across]: "wall", AXES[other]: "periodic"},
        "run.steps": int(20 * cells**2 / viscosity),
        "output": {"fields": {"main": {"every": 10**9, "of": ["velocity", "density"], "precision": "fp64"}}}})
    order = [axis, across, other]
    u = run.field().transpose(order + [3])[:, :, 0, axis][::sign] * sign
    rho = run.field("density").transpose(order)[:, :, 0][::sign]
    flow = (rho * u).sum(axis=1)
    return u / speed, flow[0], flow[-1]


def error(u):
    n = u.shape[1]
    y = (numpy.arange(n) + 0.5) / n
    return numpy.abs(u[len(u) // 2] - 4 * y * (1 - y)).max()


CELLS = 6, 12, 24
for inlet, outlet in ("regularised", "regularised"), ("links", "links"):
    errors = []
    for cells in CELLS:
        u, flow_in, flow_out = channel(cells, inlet=inlet, outlet=outlet)
        errors.append(error(u))
        if inlet == "regularised":
            case.near(f"{cells} cells: flow out over flow in", flow_out / flow_in, 1, 1e-6)
    if inlet == "regularised":
        case.at_least(f"{inlet}: order of convergence", case.order(CELLS, errors), 1.8)
    else:  # rho u is what links let in, so that less of the error is the fall of the density
        case.order(CELLS, errors)
        case.at_most(f"{inlet}: error at {CELLS[-1]} cells", errors[-1], 2e-4)
reference = channel(8)[0]
for axis, across, sign in (0, 1, -1), (0, 2, 1), (1, 0, 1), (1, 2, -1), (2, 1, 1), (2, 0, -1):
    u = channel(8, axis, across, sign)[0]
    case.at_most(f"difference of a channel along {'+-'[sign < 0]}{AXES[axis]}", numpy.abs(u - reference).max(), 1e-9)
case.finish()
