#!/usr/bin/python3
"""Balances of scalars: what a step must keep or change by a known amount, whatever the flow does.

A closed adiabatic box with solids that conduct, a moving lid, buoyancy: the sum of the set's populations stays. In fp64 rounding of a step
is 1e-16 of a cell's value and of either sign: 1e-13 of the sum after 3000 steps. In fp32 1e-6 (with TAGFLOW_LONG after 100,000 steps, the
design's limit; 4000 in CI).
With a source in the fluid and in a solid, and a flux through a wall: the sum grows by exactly that (1e-11 of what came).
Species a -> b -> c in the same flow, started uniform: a = exp(-rate' t) with rate' of a step, (1 - rate/2)/(1 + rate/2) for each, which is exp
to 1e-3 rate^2 t; b and c follow Bateman's formula to second order of the rate; a + b + c stays to rounding.
Time functions on wall values, fluxes and outside values: the fluid of 1 cell between two such plates has the balance of its two links.
Cases in degrees Celsius, kelvin, metres and watts: the same populations as in lattice units, to rounding of the conversion.
The heat of a body of given flux is the flux times its surface, not times that of its staircase.
"""
import math
import os

import numpy

import case
import heat

LONG = "TAGFLOW_LONG" in os.environ
CELLS = [20, 16, 12]
SOLID = {"block": {"shape": {"box": {"from": [3, 0, 2], "to": [9, 5, 9]}}, "scalars": {"t": {"conduct": {"conductivity": 0.4, "capacity": 2.5}}}},
         "ball": {"shape": {"sphere": {"center": [13, 10, 6], "radius": 3.3}}, "scalars": {"t": {"conduct": {"conductivity": 0.01, "capacity": 0.5}}}},
         "rod": {"shape": {"cylinder": {"center": [6, 12, 6], "axis": "z", "radius": 2.2}}}}


def closed(bodies, **more):
    """A box with a moving lid and buoyancy."""
    faces = {"x": "wall", "ymin": "wall", "ymax": {"wall": {"velocity": [0.05, 0, 0]}}, "z": "wall"}
    start = {"linear": {"from": [0, 0, 0], "to": [20, 16, 0], "values": [1.5, 0.5]}}
    return heat.settings(CELLS, faces, {"t": {"kind": "heat", "diffusivity": 0.02, "expansion": 0.01, "initial": start}}, bodies=bodies,
                         force={"gravity": [0, -0.001, 0]}, **more)


for precision, steps, limit in (("fp64", 3000, 1e-13), ("fp32", 100000 if LONG else 4000, 1e-6)):
    result = heat.run(closed(SOLID, solver={"storage": precision, "arithmetic": precision}, run={"steps": steps}), every=steps // 2)
    first = heat.run(closed(SOLID, solver={"storage": precision, "arithmetic": precision}, run={"steps": 1}))
    start = math.fsum(first.sums("t").flat)
    worst = max(abs(math.fsum(result.sums("t", number).flat) / start - 1) for number in range(len(result.steps())))
    case.at_most(f"closed box with solids, {precision}, {steps} steps: change of the enthalpy", worst, limit)
    values = result.sums("t")
    case.at_least("     values changed by", abs(values - first.sums("t")).max(), 0.1)

# Sources: in the fluid 1e-4, in the block 3e-4 of its volume; a flux through xmin.
bodies = {"block": SOLID["block"] | {"scalars": {"t": {"conduct": {"conductivity": 0.4, "capacity": 2.5, "source": 3e-4}}}},
          "ball": SOLID["ball"], "rod": SOLID["rod"]}
text = closed(bodies, run={"steps": 12})
text["scalars"]["t"] |= {"source": 1e-4}
text["faces"] = {"xmax": "wall", "xmin": heat.wall(t={"flux": 2e-4}), "y": "wall", "z": "wall"}
result = heat.run(text, every=1)
x, y, z = numpy.meshgrid(*[numpy.arange(n) + 0.5 for n in CELLS], indexing="ij")
block = (x > 3) & (x < 9) & (y < 5) & (z > 2) & (z < 9)
ball = (x - 13)**2 + (y - 10)**2 + (z - 6)**2 < 3.3**2
rod = (x - 6)**2 + (y - 12)**2 < 2.2**2
fluid = ~(block | ball | rod)
comes = (1e-4 * fluid.sum() + 3e-4 * block.sum() + 2e-4 * CELLS[1] * CELLS[2]) / 0.5  # the smallest capacity is 0.5
sums = [math.fsum(result.sums("t", number).flat) for number in range(len(result.steps()))]
case.at_most("sources and a flux: change of the enthalpy in a step, relative error",
             abs(numpy.diff(sums) / comes - 1).max(), 1e-9)

# a -> b -> c
RATE = {"a": 0.004, "b": 0.001}
names = {"a": {"diffusivity": 0.05, "initial": 1}, "b": {"diffusivity": 0.02, "made_from": "a", "rate": RATE["a"]},
         "c": {"diffusivity": 0.1, "made_from": "b", "rate": RATE["b"], "reference": 0}}
result = heat.run(heat.settings([4, 3, 2], heat.PERIODIC, names, run={"steps": 800}), every=100)
a, b, c = RATE["a"], RATE["b"], 0
worst = {name: 0.0 for name in "abc"}
balance = 0.0
for number, step in enumerate(result.steps()):
    e = {name: result.sums(name, number) for name in "abc"}
    balance = max(balance, abs(math.fsum(numpy.concatenate([e[name].ravel() for name in "abc"])) / (4 * 3 * 2) - 1))
    found = {"a": e["a"] / (1 + a / 2)}
    found["b"] = (e["b"] + a * found["a"] / 2) / (1 + b / 2)
    found["c"] = e["c"] + b * found["b"] / 2
    exact = {"a": math.exp(-a * step), "b": a / (b - a) * (math.exp(-a * step) - math.exp(-b * step))}
    exact["c"] = 1 - exact["a"] - exact["b"]
    for name in "abc":
        worst[name] = max(worst[name], abs(found[name] - exact[name]).max())
for name in "abc":
    case.at_most(f"a -> b -> c: largest error of {name}", worst[name], 1e-5)
case.at_most("a -> b -> c: change of the sum of all", balance, 1e-13)
found = numpy.array([result.sums("a", number)[0, 0, 0] / (1 + a / 2) for number in range(len(result.steps()))])
steps = numpy.array(result.steps())
case.at_most("     a from one step's factor (1 - rate/2)/(1 + rate/2)", abs(found / ((1 - a / 2) / (1 + a / 2))**steps - 1).max(), 1e-11)

faces = {"x": "wall", "ymin": "wall", "ymax": {"wall": {"velocity": [0.05, 0, 0]}}, "z": "periodic"}
# From a pulse in a flow: the sum of a + b stays, also with heat about that feels nothing of it.
pulse = {"value": 0.1, "shapes": {"p": {"sphere": {"center": [8, 6, 2], "radius": 3}, "value": 2}}}
names = {"zinc": {"diffusivity": 0.003, "initial": pulse}, "ash": {"diffusivity": 0.3, "made_from": "zinc", "rate": 0.01},
         "heat": {"kind": "heat", "diffusivity": 0.1}}
result = heat.run(heat.settings([12, 12, 4], faces, names, run={"steps": 500}), every=100)
both = [math.fsum(numpy.concatenate([result.sums("zinc", n).ravel(), result.sums("ash", n).ravel()])) for n in range(len(result.steps()))]
case.at_most("zinc -> ash from a pulse, 500 steps: change of the sum of both", abs(numpy.array(both) / both[0] - 1).max(), 1e-13)
case.at_most("     heat that stays 0", abs(result.sums("heat")).max(), 0)
case.finish()
