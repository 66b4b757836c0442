#!/usr/bin/python3
"""The flow-rate controller in a laminar channel: the mean velocity is reached to 1e-6 and better, and the acceleration that
holds it is the one of Poiseuille's parabola. At the centres of n cells between walls half a cell beyond them its mean is
U = a / (2 nu) (2/3 h^2 + 1/12), which TRT with magic 3/16 has exactly; so is a to round-off. The deviation falls as
exp(-t / time) where the friction changes slowly. Ranks, axis and sign change nothing."""
import numpy

from case import at_most, at_least, finish, near, run, FP32, FP64

NU, U = 0.1, 0.05
for precision, bound in (FP64, 1e-12), (FP32, 1e-6):
    name = precision["solver.storage"]
    for axis, wall, cells, sign, ranks in ("x", "y", [4, 20, 4], 1, 2), ("z", "x", [20, 3, 5], -1, 2), ("y", "z", [1, 7, 20], 1, 1):
        other = ({"x", "y", "z"} - {axis, wall}).pop()
        result = run("flow_rate", precision | {
            "domain.cells": cells, "faces": {axis: "periodic", wall: "wall", other: "periodic"},
            "force.flow_rate.axis": axis, "force.flow_rate.velocity": sign * U, "run.steps": 16000,
            "output.series.rate.axis": axis}, ranks=ranks)
        rate, flow = result.series("rate"), result.series("flow")
        mean = sign * rate["volume_flow"] / rate["area"]
        exact = 2 * NU * U / (2 / 3 * 10**2 + 1 / 12)
        what = f"{name}, flow along {sign * 1:+d} {axis}"
        near(f"{what}: mean velocity", mean[-1], U, U * bound)
        near(f"{what}: acceleration", sign * flow["acceleration"][-1], exact, exact * 100 * bound)
        at_most(f"{what}: overshoot", mean.max() / U - 1, 1e-6)
        # Late, where the friction follows the flow, one e-th in the time that was asked for.
        late = (mean > 0.9 * U) & (mean < 0.99 * U)
        slope = numpy.polyfit(rate["time"][late], numpy.log(1 - mean[late] / U), 1)[0]
        near(f"{what}: time of the deviation", -1 / slope, 500, 50)
        result.remove()
finish()
