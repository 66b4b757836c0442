#!/usr/bin/python3
"""Sponge layers: a plane pulse of sound, of width 8, runs into a layer that ends at a wall. Of its amplitude
exp(-2 integral(s) / c_s) is left after two passes, with the integral of the strength over the layer; the rest of what
comes back is reflected by the growth of the strength, the less the smoother and thicker that is (Israeli and Orszag,
J. Comput. Phys. 41:115, 1981). In dB of the pulse's own amplitude, as it comes back from the wall alone. A layer at the
flow's own state does nothing; and one draws a flow to its state."""
import numpy

from case import at_most, at_least, finish, near, run, FP64


def back(thickness, strength, power, axis="x", side="max", more={}):
    """The pulse on its way back, in the part without a layer."""
    n = 400
    cells = {"x": [n, 1, 1], "y": [1, n, 1], "z": [2, 1, n]}[axis]
    a = "xyz".index(axis)
    center, start = [0.5] * 3, [0, 0, 0]
    center[a] = 120
    start[a] = n - thickness
    settings = FP64 | {
        "domain.cells": cells, "initial.axis": axis, "initial.center": center,
        "faces": {x: "wall" if x == axis else "periodic" for x in "xyz"},
        "regions": {"outlet": {"box": {"from": start}, "sponge": {"towards": axis + side, "strength": strength, "power": power}}}
        if strength else {}} | more
    result = run("sponge", settings)
    rho = numpy.abs(result.field("density").swapaxes(0, a)[:n - 128, 0, 0] - 1).max()
    result.remove()
    return rho


whole = back(16, 0, 2)
near("without a layer the pulse comes back: density", whole, 1e-4, 5e-6)
print("     reflection in dB, by thickness and strength; power 2, then 3")
found = {}
for power in 2, 3:
    for thickness in 16, 32, 64, 128:
        row = []
        for strength in 0.05, 0.1, 0.2, 0.4:
            found[thickness, strength, power] = 20 * numpy.log10(back(thickness, strength, power) / whole)
            row.append(found[thickness, strength, power])
        print(f"     power {power}, {thickness:3d} cells: " + "  ".join(f"{x:6.1f}" for x in row))
for thickness in 32, 64, 128:
    passes = -20 * numpy.log10(numpy.e) * 2 * numpy.sqrt(3) * 0.05 * thickness / 3
    if passes > -30:
        near(f"{thickness} cells, strength 0.05: attenuation by two passes", found[thickness, 0.05, 2], passes, 3)
at_most("best of 64 cells in dB", min(v for k, v in found.items() if k[0] == 64), -40)
at_most("best of 128 cells in dB", min(v for k, v in found.items() if k[0] == 128), -55)
for axis in "yz":
    at_most(f"along {axis} it is the same, in dB", abs(20 * numpy.log10(back(64, 0.1, 2, axis) / whole) - found[64, 0.1, 2]), 1e-6)

# It holds its state, and draws the flow to it: a uniform flow through a periodic box whose layer has that velocity.
flow = FP64 | {"faces": {"x": "periodic", "y": "periodic", "z": "periodic"}, "domain.cells": [64, 2, 1], "run.steps": 3000,
               "output": {"fields": {"main": {"every": 3000, "of": ["density", "velocity"], "precision": "fp64"}}},
               "regions": {"layer": {"box": {"from": [16, 0, 0], "to": [48, 2, 1]}, "sponge": {
                   "towards": "xmax", "strength": 0.1, "density": 1.01, "velocity": [0.03, 0.01, -0.02]}}}}
for what, velocity, bound in ("with the layer's", [0.03, 0.01, -0.02], 1e-5), ("at rest", [0, 0, 0], 2e-4):
    result = run("sponge", flow | {"initial": {"flow": "uniform", "velocity": velocity}})
    u = result.field("velocity").reshape(-1, 3)
    at_most(f"a flow that begins {what}: distance from the layer's velocity", numpy.abs(u - [0.03, 0.01, -0.02]).max(), bound)
    at_most("and density", numpy.abs(result.field("density") - 1.01).max(), 1e-5)
finish()
