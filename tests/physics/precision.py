#!/usr/bin/python3
"""What rounding does to flows in each pair of storage and arithmetic, and that fp16's limits are where docs/physics.md,
"Precision", says.

Storing rounds a population to a part E of itself: E = 2^-53, 2^-24, 2^-11. What the tolerances come from:

- Steady straight flow: of the momentum of a cell, whose populations are 3 w_i c.u, a step rounds off at most
  E sum w_i 3 |c_x| u = E u, which stands against the g that the force gives. So the flow is wrong by at most E u / g,
  u / g = H^2 / (8 nu) = 320 here. In arithmetic of the storage's own precision several operations round, each as much:
  four times that.
- What moves: roundings of one cell in successive steps are independent, those of T steps grow as sqrt(T): E sqrt(T).
- The cavity's eddies and those of the Taylor-Green vortex renew themselves within some hundred steps, and many cells
  average: one rounding, E, of the velocity; twice that of the energy. `rr` goes to moments and back, sums of 19
  numbers: sixteen times in place of four.
- Mass: roundings of one sign would change it by about E times what the cells hold beyond rest (2 % of it, as velocities
  are 0.02 and more), 1e-5 a step in fp16: 1e-1 in 10^4 steps. Independent in cells and steps, they are
  E 0.02 / 19 sqrt(19 cells^3 steps) / cells^3 = 3e-6. The tolerance is ten times that.

Lower limits hold what fp16 cannot: a steady flow that creeps to its end stops before, on the side on which it began, and a
slow decay goes wrong where T is far beyond 2^11 steps: then a population stays in one step of the fp16 numbers for several
time steps, and rounds the same way. Whoever mends that has to change the documentation too.
"""
import numpy

import case
import rounding
from rounding import PAIRS, relative

EPSILON = {"fp64": 2.0**-53, "fp32": 2.0**-24, "fp16": 2.0**-11}


def part(pair, operations=4):
    """The part of itself to which a step rounds a population, storing and computing."""
    return EPSILON[pair[0]] * (operations if pair[0] == pair[1] else 1)


# ---- steady and driven: Poiseuille and Couette, 16 cells, viscosity 0.1 ----
SLOW = 16**2 / (8 * 0.1)
START = 1e-12  # what 3 H^2 / nu steps leave of the start, exp(-3 pi^2), and more
for pair in PAIRS:
    name = "/".join(pair)
    for flow in rounding.channel, rounding.couette:
        u, exact = flow(pair, 16, 0.1, 0.05)
        case.at_most(f"{name}: {flow.__name__}, relative error of u", relative(u, exact), part(pair) * SLOW + START)
        if pair[0] == "fp16":
            case.at_least(f"{name}: {flow.__name__} from rest, relative lack of flow", 1 - u.sum() / exact.sum(), 0.01)
u, exact = rounding.channel(("fp16", "fp32"), 16, 0.1, 0.05, 2)
case.at_least("fp16/fp32: channel from twice the velocity, relative excess of flow", u.sum() / exact.sum() - 1, 0.01)

# ---- decaying: vortices, T = cells^2 / (8 pi^2 nu) steps ----
for cells, amplitude in (32, 1e-1), (32, 1e-2), (32, 1e-4):
    steps = cells**2 / (8 * numpy.pi**2 * 0.02)
    reference = rounding.vortices(PAIRS[0], cells, amplitude)[0]
    for pair in PAIRS[1:]:
        u = rounding.vortices(pair, cells, amplitude)[0]
        case.at_most(f"{'/'.join(pair)}: vortices of {amplitude:g}, {cells}^2 cells, beside fp64", relative(u, reference),
                     part(pair) * numpy.sqrt(steps))
reference = rounding.vortices(PAIRS[0], 128, 1e-2)[0]
u = rounding.vortices(("fp32", "fp32"), 128, 1e-2)[0]
case.at_most("fp32/fp32: vortices of 0.01, 128^2 cells", relative(u, reference), 4 * EPSILON["fp32"] * numpy.sqrt(10375))
u = rounding.vortices(("fp16", "fp32"), 128, 1e-2)[0]
case.at_least("fp16/fp32: the same is too slow for it", relative(u, reference), 0.01)

# ---- steady, but carried around: cavity Re 1000 ----
reference = rounding.cavity(PAIRS[0], 48, 15000)
for pair in PAIRS[1:]:
    found = rounding.cavity(pair, 48, 15000)
    error = numpy.sqrt((numpy.subtract(found, reference)**2).mean())
    case.at_most(f"{'/'.join(pair)}: cavity, velocity on the centre lines beside fp64, rms", error, part(pair))
case.at_least("cavity: the fluid moves", -reference[0].min(), 0.2)

# ---- turbulent: Taylor-Green, Re 1600 ----
reference = rounding.turbulence(PAIRS[0], 32, 5, "rr").energy
for pair in PAIRS[1:]:
    energy = rounding.turbulence(pair, 32, 5, "rr").energy
    case.at_most(f"{'/'.join(pair)}: Taylor-Green, largest relative change of the energy",
                 numpy.abs(energy / reference - 1).max(), 2 * part(pair, 16))

# ---- mass of a closed box ----
for pair in PAIRS:
    change, speed = rounding.box(pair, 16, 10000)
    limit = 10 * part(pair) * 0.02 / 19 * numpy.sqrt(19 * 16**3 * 10000.) / 16**3
    case.at_most(f"{'/'.join(pair)}: relative change of mass in 10000 steps", max(map(abs, change.values())), limit + 1e-15)
    case.at_least(f"{'/'.join(pair)}: largest velocity over the lid's", speed, 0.5)
case.finish()
