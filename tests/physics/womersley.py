#!/usr/bin/python3
"""A channel pushed by a sine in time (Womersley, J. Physiol. 127:553, 1955, for a channel): with walls at y = +-h and an
acceleration a cos(w t),

    u = Re[ a / (i w) (1 - cosh(k y) / cosh(k h)) exp(i w t) ],   k = sqrt(i w / nu),

once the beginning is forgotten: after eleven periods, 4.3 h^2 / nu, exp(-pi^2/4 4.3) of it is left. The Womersley number is 4. With steps and cells made
finer together as in diffusion (T ~ h^2), the error falls as h^-2; the value at a step is that of the step's own time, which
a shift by half a step would miss by a first-order error."""
import numpy

from case import at_most, at_least, finish, order, run, FP64

ALPHA = 4.0
NU = 0.015


def exact(y, h, time, period, a):
    w = 2 * numpy.pi / period
    k = numpy.sqrt(1j * w / NU)
    return (a / (1j * w) * (1 - numpy.cosh(k * y) / numpy.cosh(k * h)) * numpy.exp(1j * w * time)).real


errors, sizes = [], [8, 16, 32]
for cells in sizes:
    h = cells / 2
    period = 2 * numpy.pi * h**2 / (NU * ALPHA**2)
    a = 0.004 * 2 * numpy.pi / period
    every = max(1, round(period / 7))
    last = round(12 * period)
    result = run("womersley", FP64 | {
        "domain.cells": [2, cells, 1], "force.acceleration": [a, 0, 0], "force.sine.period": period,
        "run.steps": last, "output.series": {"profile": {
            "every": every, "of": "line", "from": [1, 0.5, 0.5], "to": [1, cells - 0.5, 0.5], "points": cells}}})
    rows = result.series("profile")
    worst = 0
    for step in sorted(set(rows["step"])):
        if step < 11 * period:
            continue
        now = rows[rows["step"] == step]
        reference = exact(now["y"] - h, h, step, period, a)
        worst = max(worst, numpy.abs(now["velocity_x"] - reference).max())
    scale = max(numpy.abs(exact(numpy.linspace(-h, h, 65), h, t, period, a)).max() for t in numpy.linspace(0, period, 33))
    errors.append(worst / scale)
    at_most(f"{cells} cells: largest error of the velocity over a period, of its largest value", errors[-1], 0.6 / cells)
at_least("order of convergence", order(sizes, errors), 1.9)
at_most("32 cells", errors[-1], 2e-3)
finish()
