#!/usr/bin/python3
"""Scalars at openings, walls that change in time, units.

Openings by links: a fluid of uniform velocity with decay comes in with value 1: T = exp(m x), m = (u - sqrt(u^2 + 4 D decay))/2 D, far from
the outlet: 5e-5, and a relative error below 1e-4 at small diffusivities, where the rule of a wall would be off by 1 to 9 %; 5e-3 at 0.0005
(27 %). Without decay T is 1 everywhere, 1e-11. With the limiter an inlet lets u T in, without the diffusion through it: D decay / u^2 less.

Heat from a plate of 64 cells in a plug stream, limiter on: over 2 sqrt(D U L/pi) 0.985 at a Peclet number of a cell of 10, 0.86 at 100,
where the layer is thinner than a cell; that through the inlet is U H to 1e-12, no value is outside of those given, and the fluxes balance.
By a layer of little resistance the same. A coarse room with buoyancy, at a Peclet number of 700: the heat through the inlet to 1e-5; values
5 % of the range outside at most, as the flow's divergence at inlets and outlets makes (0.5 % were found).

Walls whose value, flux or outside value is a sine: a layer of 16 cells against the solution by sinh of a complex argument, 3 % of the
largest amplitude (D is 1 and the period 400 steps: the set's own memory of 4 steps shows). A ramp ends at what a constant gives.
Differences from the reference are what a time function multiplies: reference 300 and 0 give the same populations, bit for bit.

Cases in degrees Celsius, kelvin, watts and metres give the numbers of the case in lattice units: 1e-12 of the largest.
"""
import cmath
import math

import numpy

import case
import heat

# Openings.
D, U, DECAY = 0.05, 0.05, 0.0005


def stream(n, decay, rule, outlet, d=None, limiter="auto"):
    d, u = d or D * n / 32, U  # D/(u n) is kept
    faces = {"xmin": {"velocity": {"value": [u, 0, 0], "rule": rule, "scalars": {"t": {"value": 1}}}}, "xmax": outlet, "y": "slip", "z": "periodic"}
    result = heat.run(heat.settings([n, 3, 2], faces, {"t": {"diffusivity": d, "decay": decay, "limiter": limiter}}, fluid={"viscosity": 0.1},
                                    initial={"flow": "uniform", "velocity": [u, 0, 0]}, run={"steps": int(40 * n / u)}))
    return result, d, u, decay


errors = []
for n in (32, 64):
    result, d, u, decay = stream(n, DECAY * 32 / n, "links", "outflow")
    values, across = heat.line(result.value(decay=decay), 0)
    m = (u - math.sqrt(u * u + 4 * d * decay)) / (2 * d)
    exact = numpy.exp(m * (numpy.arange(n) + 0.5))
    errors.append(abs(values - exact)[:n // 2].max())
print(f"     inlet by links, decay: largest errors {errors}")
case.at_most("inlet by links, 32 and 64 cells: largest error", max(errors), 5e-5)
# Little diffusion: the even part of the populations lags by many steps.
for d, decay, limit in (0.01, 1e-3, 1e-4), (0.002, 1e-3, 1e-4), (0.002, 1e-4, 1e-5), (0.0005, 1e-3, 5e-3):
    for limiter in "none", "on":
        result, d, u, decay = stream(64, decay, "links", "outflow", d, limiter)
        values, across = heat.line(result.value(decay=decay), 0)
        m = (u - math.sqrt(u * u + 4 * d * decay)) / (2 * d)
        exact = numpy.exp(m * (numpy.arange(64) + 0.5))
        case.at_most(f"inlet, diffusivity {d}, decay {decay}, limiter {limiter}: largest relative error", abs(values / exact - 1)[:16].max(),
                     limit if limiter == "none" else 1.1 * d * decay / u**2 + 1e-4)
for rule in "links", "regularised":
    for outlet in "outflow", {"pressure": {}}, "nonreflecting":
        result, d, u, _ = stream(32, 0, rule, outlet)
        values, across = heat.line(result.value(), 0)
        case.at_most(f"inlet by {rule}, outlet {outlet}: T - 1 everywhere", abs(values - 1).max(), 1e-11)


# A plate in a plug stream.
def row(result, name):
    return numpy.genfromtxt(f"{result.folder}/series/{name}.csv", delimiter=",", names=True)


def plate(peclet, wall, **more):
    length, height, u = 64, 24, 0.05
    d = u / peclet
    faces = {"xmin": {"velocity": {"value": [u, 0, 0], "scalars": {"t": {"value": 1}}}}, "xmax": "outflow", "ymax": "slip", "z": "periodic",
             "ymin": {"wall": {"velocity": [u, 0, 0], "scalars": {"t": wall}}}}
    flux = {"every": 100, "of": "heat", "scalar": "t"}
    result = heat.run(heat.settings([length, height, 1], faces, {"t": {"diffusivity": d, "limiter": "on", "initial": 0.3} | more},
                                    initial={"flow": "uniform", "velocity": [u, 0, 0]}, run={"steps": int(4 * length / u)},
                                    output={"log": {"every": 0}, "series": {"plate": flux | {"face": "ymin"}, "inlet": flux | {"face": "xmin"},
                                            "outlet": flux | {"face": "xmax"}, "t": {"every": 100, "of": "scalar", "scalar": "t"}}}))
    heats = [row(result, name)["heat"][-1] for name in ("plate", "inlet", "outlet")]
    t, name = row(result, "t"), f"plate, Peclet {peclet}, {wall}"
    case.at_most(f"{name}: heat through the inlet over U H - 1", abs(heats[1] / (u * height) - 1), 1e-12)
    case.at_most("     values outside of those given", max(-t["minimum"].min(), t["maximum"].max() - 1), 1e-12)
    case.at_most("     sum of the fluxes", abs(sum(heats)) / heats[1], 1e-6)
    return -heats[0] / (2 * math.sqrt(d * u * length / math.pi))


for peclet, expected in (10, 0.985), (100, 0.857), (1000, 0.421):
    found = plate(peclet, {"value": 0})
    case.at_most(f"     heat of the plate over the exact one: {found:.4f}, from {expected}", abs(found - expected), 2e-3)
found = plate(100, {"transfer": {"coefficient": 100, "outside": 0}})
case.at_most("     heat by transfer with little resistance over the exact one, from 0.857", abs(found - 0.857), 2e-3)


# A room: air in high up, out low down, a warm body; gravity, species beside it, obstacles between. Coarse: 710 and more in a cell.
def room(name, cells, **more):
    u, d = 0.05, 7e-5
    n = [cells * a // 10 for a in (16, 10, 10)]
    third = n[1] // 3
    given = {"t": {"value": 291}, "smoke": {"value": 1}}
    text = {"domain": {"cells": n}, "fluid": {"viscosity": 5e-5, "velocity": u}, "force": {"gravity": [0, 0, -1e-4]},
            "scalars": {"t": {"kind": "heat", "diffusivity": d, "reference": 293, "expansion": 3.4e-3},
                        "smoke": {"diffusivity": d}, "ash": {"diffusivity": 2 * d, "made_from": "smoke", "rate": 1e-3}},
            "faces": {"x": "wall", "y": "wall", "z": "wall"}, "output": {"log": {"every": 0}, "series": {
                "in": {"every": 100, "of": "heat", "scalar": "t", "patch": "inlet"},
                **{f"{s}": {"every": 100, "of": "scalar", "scalar": s} for s in ("t", "smoke", "ash")}}},
            "patches": {"inlet": {"face": "xmin", "rectangle": {"from": [third, n[2] - 5], "to": [2 * third, n[2] - 2]},
                                  "velocity": {"value": [u, 0, 0], "scalars": given | {"ash": {"value": 0}}}},
                        "outlet": {"face": "xmax", "rectangle": {"from": [third, 2], "to": [2 * third, 5]}, "nonreflecting": {}}},
            "bodies": {"person": {"shape": {"box": {"from": [n[0] // 2 - 2, third, 0], "to": [n[0] // 2 + 2, 2 * third, n[2] // 2]}},
                                  "scalars": {"t": {"value": 306}}}}, "run": {"steps": 2000}, "check": {"every": 200, "hang": "none"}}
    for key, value in more.items():
        text[key] = text.get(key, {}) | value
    result = heat.run(text)
    area = third * 3  # links of the inlet
    case.at_most(f"room, {name}: heat through the inlet over U A (18 - 20) - 1", abs(row(result, "in")["heat"][-1] / (-2 * u * area) - 1), 1e-5)
    for scalar, low, high in (("t", 291, 306), ("smoke", 0, 1)):
        t = row(result, scalar)
        case.at_most(f"     values of {scalar} outside of those given, over the range",
                     max(low - t["minimum"].min(), t["maximum"].max() - high) / (high - low), 0.05)
    case.at_least("     least of ash", row(result, "ash")["minimum"].min(), -1e-6)


room("fp32", 20, solver={"storage": "fp32"})
ball = {"ball": {"shape": {"sphere": {"center": [8, 10, 12], "radius": 3}}, "wall": "interpolated", "scalars": {"t": {"value": 300}}},
        "oblique": {"shape": {"sphere": {"center": [24, 10, 12], "radius": 3}},
                    "scalars": {"t": {"transfer": {"coefficient": 1e-3, "outside": 300}}, "smoke": "adiabatic"}}}
room("fp16, a subgrid model, interpolated and oblique bodies", 20, solver={"storage": "fp16", "subgrid": {"smagorinsky": {"constant": 0.1}}},
     bodies=ball)


# Time functions.
def layer(wall, steps=3200, reference=0.0, every=100, d=1.0, n=16):
    """One layer, its far side at the reference."""
    return heat.run(heat.settings([n, 1, 1], heat.plates(0, wall, {"value": reference}),
                                  {"t": {"kind": "heat", "diffusivity": d, "reference": reference, "initial": reference}}, run={"steps": steps}), every=every)


PERIOD, N = 400, 16
w = 2 * math.pi / PERIOD
root = cmath.sqrt(1j * w / 1.0)
x = numpy.arange(N) + 0.5
shape = numpy.sinh(root * (N - x))  # d/dx: - root cosh
sine = {"sine": {"period": PERIOD}}
for what, wall, amplitude in (("value", {"value": 1} | sine, 1 / cmath.sinh(root * N)),
                              ("flux", {"flux": 0.1} | sine, 0.1 / (root * cmath.cosh(root * N))),
                              ("outside value", {"transfer": {"coefficient": 0.2, "outside": 1}} | sine,
                               0.2 / (root * cmath.cosh(root * N) + 0.2 * cmath.sinh(root * N)))):
    result = layer(wall)
    found = result.value()[:, 0, 0], result.value(number=-2)[:, 0, 0]  # phases 0 and -1/4 period
    step = result.steps()[-1], result.steps()[-2]
    lags = {}
    for offset in (-1, -0.5, 0, 0.5, 1):
        exact = [(amplitude * shape * cmath.exp(1j * w * (s + offset))).imag for s in step]
        lags[offset] = max(abs(a - b).max() for a, b in zip(found, exact)) / abs(amplitude * shape).max()
    print(f"     {what}: error for walls taken so many steps late: " + ", ".join(f"{-o}: {e:.3g}" for o, e in lags.items()))
    case.at_most(f"{what} of a sine at a wall: largest error over the largest amplitude", lags[0], 0.03)
ramp, constant = layer({"value": 1, "ramp": 1000}), layer({"value": 1})
case.at_most("ramp: after it, from a constant value", abs(ramp.value() - constant.value()).max(), 1e-11)
case.at_least("     before it ends, from a constant value", abs(ramp.value(number=1) - constant.value(number=1)).max(), 0.1)
for wall, moved in (({"value": 1} | sine, {"value": 301} | sine), ({"value": 1, "ramp": 700}, {"value": 301, "ramp": 700}),
                    ({"transfer": {"coefficient": 0.2, "outside": 1}} | sine, {"transfer": {"coefficient": 0.2, "outside": 301}} | sine)):
    one, other = layer(wall, 300), layer(moved, 300, 300.0)
    case.at_most("reference 300 and 0: populations", abs(one.populations("t") - other.populations("t")).max(), 0)

# Units: dx 1 mm, dt 0.1 ms, water-like numbers.
DX, DT, RHO, CP = 1e-3, 1e-2, 1000.0, 4000.0
alpha, flux, h, k_solid, c_solid, heating = 2e-5, 5000.0, 3000.0, 200.0, 2e6, 4e7
unit_flux = RHO * CP * DX / DT  # of a K x velocity
physical = heat.settings(
    ["16 mm", "12 mm", "4 mm"],
    {"xmin": heat.wall(t={"flux": f"{flux} W/m2"}), "xmax": heat.wall(t={"transfer": {"coefficient": f"{h} W/m2/K", "outside": "20 degC"}}),
     "ymin": heat.wall(t={"value": "310 K"}), "ymax": heat.wall(t={"transfer": {"resistance": f"{1 / h} m2 K/W", "outside": "293.15 K"}}), "z": "periodic"},
    {"t": {"kind": "heat", "diffusivity": f"{alpha} m2/s", "reference": "300 K", "expansion": "2e-3 1/K", "source": "0.5 K/s", "decay": "0.01 1/s",
           "initial": {"linear": {"from": ["0 mm", "0 mm", "0 mm"], "to": ["16 mm", "0 mm", "0 mm"], "values": ["30 degC", "290 K"]}}}},
    units={"dx": f"{DX} m", "dt": f"{DT} s", "density": f"{RHO} kg/m3", "heat_capacity": f"{CP} J/kg/K"}, fluid={"viscosity": "1e-5 m2/s"},
    force={"gravity": [0, "-0.02 m/s2", 0]}, run={"steps": 200},
    bodies={"chip": {"shape": {"box": {"from": ["5 mm", "0 mm", "0 mm"], "to": ["9 mm", "3 mm", "4 mm"]}},
                     "scalars": {"t": {"conduct": {"conductivity": f"{k_solid} W/m/K", "capacity": f"{c_solid} J/m3/K", "source": f"{heating} W/m3"}}}}})
physical["domain"] = {"size": physical["domain"]["cells"]}
lattice = heat.settings(
    [16, 12, 4],
    {"xmin": heat.wall(t={"flux": flux / unit_flux}), "xmax": heat.wall(t={"transfer": {"coefficient": h / unit_flux, "outside": 293.15}}),
     "ymin": heat.wall(t={"value": 310}), "ymax": heat.wall(t={"transfer": {"coefficient": h / unit_flux, "outside": 293.15}}), "z": "periodic"},
    {"t": {"kind": "heat", "diffusivity": alpha * DT / DX**2, "reference": 300, "expansion": 2e-3, "source": 0.5 * DT, "decay": 0.01 * DT,
           "initial": {"linear": {"from": [0, 0, 0], "to": [16, 0, 0], "values": [303.15, 290]}}}},
    fluid={"viscosity": 1e-5 * DT / DX**2}, force={"gravity": [0, -0.02 * DT**2 / DX, 0]}, run={"steps": 200},
    bodies={"chip": {"shape": {"box": {"from": [5, 0, 0], "to": [9, 3, 4]}},
                     "scalars": {"t": {"conduct": {"conductivity": k_solid / (RHO * CP) * DT / DX**2, "capacity": c_solid / (RHO * CP),
                                                   "source": heating / (RHO * CP) * DT}}}}})
one, other = heat.run(physical), heat.run(lattice)
for name in "t", None:
    a, b = one.populations(name), other.populations(name)
    case.at_most(f"units: populations of {name or 'the flow'}, largest difference over the largest", abs(a - b).max() / abs(b).max(), 1e-12)
case.at_least("     largest |T - reference|", abs(other.sums("t")).max(), 1.0)
case.finish()
