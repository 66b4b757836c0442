#!/usr/bin/python3
"""Square ducts and plane channels with an inlet and an outlet, along every axis and either way.

The inlet gives the developed profile, the outlet the density: regularised, with nodes on the faces, so that the length is
one less than the number of cells, or by links, half a cell outside. Reference: the same profile all along (series
solution: White, Viscous Fluid Flow; parabola), and whatever comes in goes out.

What the start lacks dies by friction at the walls, by a factor e in N^2 / (20 nu) steps in the duct and N^2 / (10 nu) in the
channel (the sound between the faces twice as slowly): 4 N^2 / nu steps leave 1e-9. The viscosity is fixed and the speed
falls as 1/N, so that errors of compressibility fall with N^2, too. Limits: flow in and out agree to 1e-6 (fp64) at steady state; order
of the largest error at half length, and in the duct anywhere, edges and corners included, at least 1.8. Orientations
differ in the order of sums only, at any time: 1e-9 of the velocity after 200 steps.
"""
import numpy

import case

AXES = "xyz"
VISCOSITY = 0.2


def flow(cells, width, axis=0, across=1, sign=1, rule="regularised", steps=None):
    """Velocity along over the largest, [along, across, other], and what flows through each plane of cells; `width` cells
    along the other axis, 1: a plane channel."""
    speed = 0.4 / cells
    other = 3 - axis - across
    extent, value, start = [1, 1, 1], [0, 0, 0], [0, 0, 0]
    extent[axis], extent[across], extent[other] = cells + 1, cells, width
    value[axis], start[axis] = sign * speed, sign * speed / 2
    near, far = (AXES[axis] + end for end in ("min", "max")[::sign])
    run = case.run("open_duct", case.FP64 | {
        "domain.cells": extent, "fluid": {"viscosity": VISCOSITY}, "initial.velocity": start,
        "faces": {near: {"velocity": {"value": value, "profile": "parabola" if width == 1 else "duct", "rule": rule}},
                  far: {"pressure": {"rule": rule}},
                  AXES[across]: "wall", AXES[other]: "periodic" if width == 1 else "wall"},
        "run.steps": steps or int(4 * cells**2 / VISCOSITY),
        "output": {"log": {"every": 0}, "fields": {
            "main": {"every": 10**9, "of": ["velocity", "density"], "precision": "fp64"}}}})
    order = [axis, across, other]
    u = run.field().transpose(order + [3])[..., axis][::sign] * sign
    rho = run.field("density").transpose(order)[::sign]
    return u / speed, (rho * u).sum(axis=(1, 2))


def developed(cells, width):
    """At the cells' centres, over the largest."""
    y = (numpy.arange(cells) + 0.5) / cells - 0.5
    if width == 1:
        return (1 - 4 * y * y)[:, None]
    n = numpy.arange(1, 80, 2)
    term = (-1)**((n - 1) // 2) / n**3

    def at(a, b):
        return (term * (1 - numpy.cosh(n * numpy.pi * b) / numpy.cosh(n * numpy.pi / 2)) * numpy.cos(n * numpy.pi * a)).sum(-1)

    return at(y[:, None, None], y[None, :, None]) / at(numpy.zeros(1), numpy.zeros(1))


def converges(name, cells, wide, rule):
    middle, anywhere = [], []
    for n in cells:
        u, rate = flow(n, n if wide else 1, rule=rule)
        error = numpy.abs(u - developed(n, n if wide else 1)).max(axis=(1, 2))
        middle.append(error[len(error) // 2])
        anywhere.append(error.max())
        case.near(f"{name}, {n} cells: flow out over flow in", rate[-1] / rate[0], 1, 1e-6)
    if rule == "regularised":  # with links it is below 2e-3 there and changes sign
        case.at_least(f"{name}: order at half length", case.order(cells, middle), 1.8)
    case.at_least(f"{name}: order anywhere", case.order(cells, anywhere), 1.8)


def main():
    converges("duct", (6, 8, 12), True, "regularised")
    converges("channel", (6, 12, 24), False, "regularised")
    converges("channel with links", (6, 12, 24), False, "links")
    for width in 1, 6:
        reference = flow(6, width, steps=200)[0]
        for axis, across, sign in (0, 1, -1), (0, 2, 1), (1, 0, 1), (1, 2, -1), (2, 1, 1), (2, 0, -1):
            u = flow(6, width, axis, across, sign, steps=200)[0]
            case.at_most(f"difference of a {'channel' if width == 1 else 'duct'} along {'+-'[sign < 0]}{AXES[axis]}",
                         numpy.abs(u - reference).max(), 1e-9)
    case.finish()


if __name__ == "__main__":
    main()
