#!/usr/bin/python3
"""Fluids whose viscosity depends on the shear rate, between plates, by each law and operator.

References, with h half the distance of the plates, a the acceleration, y from the middle, k = nu / shear_rate^(n - 1), y0 = yield / a:

  power             u = n/(n + 1) (a/k)^(1/n) (h^(1 + 1/n) - |y|^(1 + 1/n))
  herschel_bulkley  the same with h - y0 and max(|y| - y0, 0) in place of h and |y|
  casson            u = a/(2 nu) (h^2 - y^2 - 8/3 sqrt(y0) (h^(3/2) - |y|^(3/2)) + 2 y0 (h - |y|)) where |y| > y0, constant within
  carreau           the integral of the shear rate g(a y), by bisection of g viscosity(g) = a y

(Bird, Armstrong, Hassager, Dynamics of Polymeric Liquids 1, 1987, chapter 4; Chhabra, Richardson, Non-Newtonian Flow and Applied Rheology,
2008, chapter 3.) Order 2 in the number of cells; with index 1.5 the profile's curvature is infinite in the middle, which leaves 5/3.
The other operators, fp32, a level at a wall, limits, Smagorinsky's model with a law, and scalars: each beside its own reference.
"""
import numpy

import case

NU = 0.1


def power(n, rate):
    return {"power": {"index": n, "shear_rate": rate}}


def profile(law, a, h, y):
    """The velocity at y."""
    (name, values), = law.items()
    n, nu = values.get("index", 1), NU
    if name == "casson":
        edge = values["yield"] / a
        y = numpy.maximum(abs(y), edge)
        return a / (2 * nu) * (h**2 - y**2 - 8 / 3 * edge**0.5 * (h**1.5 - y**1.5) + 2 * edge * (h - y))
    if name == "carreau":
        def viscosity(g):
            bend = 1 + (values["time"] * g)**values["transition"]
            return values["infinite"] + (nu - values["infinite"]) * bend**((n - 1) / values["transition"])
        fine = (numpy.arange(20000) + 0.5) * h / 20000
        low, high = numpy.zeros_like(fine), a * fine / min(nu, values["infinite"])
        for _ in range(80):
            middle = (low + high) / 2
            under = middle * viscosity(middle) < a * fine
            low, high = numpy.where(under, middle, low), numpy.where(under, high, middle)
        below = numpy.concatenate([[0], numpy.cumsum(low)]) * h / 20000
        return below[-1] - numpy.interp(abs(y), numpy.arange(20001) * h / 20000, below)
    edge = values.get("yield", 0) / a
    k = nu / values.get("shear_rate", 1)**(n - 1)
    return n / (n + 1) * (a / k)**(1 / n) * ((h - edge)**(1 + 1 / n) - numpy.maximum(abs(y) - edge, 0)**(1 + 1 / n))


def flow(law, a, cells, limits=None, solver=None, **more):
    """The profile that is reached from rest."""
    steps = int(8 * cells**2 / NU)
    run = case.run("poiseuille", {
        "solver": {"collision": "trt", "storage": "fp64"} | (solver or {}), "domain.cells": [4, cells, 1],
        "fluid": {"viscosity": NU} | ({"law": law | (limits or {})} if law else {}),
        "force.acceleration": [a, 0, 0], "faces": {"x": "periodic", "y": "wall", "z": "periodic"}, "run.steps": steps + 1,
        "output": {"fields": {"main": {"every": steps, "of": ["velocity"], "precision": "fp64"}}}} | more)
    u = run.field()[0, :, 0, 0]
    return u, abs(u - run.field(number=-2)[0, :, 0, 0]).max() / abs(u).max()


def places(cells):
    return numpy.arange(cells) + 0.5 - cells / 2


CELLS = 16, 32
for name, law, order in [
        ("power, index 0.5", lambda g: power(0.5, g), 1.9),
        ("power, index 0.8", lambda g: power(0.8, g), 1.9),
        ("power, index 1.5", lambda g: power(1.5, g), 1.6),
        ("carreau", lambda g: {"carreau": {"infinite": NU / 10, "time": 4 / g, "index": 0.36, "transition": 2}}, 1.9),
        ("casson", lambda g: {"casson": {"yield": 0.2 * g * NU}}, 1.9),
        ("Bingham", lambda g: {"herschel_bulkley": {"yield": 0.3 * g * NU, "index": 1}}, 1.9),
        ("herschel_bulkley", lambda g: {"herschel_bulkley": {"yield": 0.2 * g * NU, "index": 0.7, "shear_rate": g}}, 1.9)]:
    errors = []
    for cells in CELLS:
        shear = 0.32 / cells**2  # at the walls, of a Newtonian fluid
        a = 2 * NU * shear / cells
        u, change = flow(law(shear), a, cells)
        exact = profile(law(shear), a, cells / 2, places(cells))
        errors.append(abs(u - exact).max() / exact.max())
        case.at_most(f"{name}, {cells} cells: change in the last step", change, 1e-6)
    case.at_most(f"{name}: error with {CELLS[-1]} cells", errors[-1], 0.002)
    case.at_least(f"{name}: order", case.order(CELLS, errors), order)

# The rest: one fluid in a channel of 32 cells.
SHEAR = 0.32 / 32**2
FORCE = 2 * NU * SHEAR / 32
THIN = power(0.5, SHEAR)
exact = profile(THIN, FORCE, 16, places(32))
for collision in "bgk", "mrt", "central", "hermite", "central_hermite", "cumulant", "gauss_hermite", "rr":
    u, _ = flow(THIN, FORCE, 32, solver={"collision": collision})
    case.at_most(f"{collision}: relative error", abs(u - exact).max() / exact.max(), 0.03 if collision == "bgk" else 0.002)
u, _ = flow(THIN, FORCE, 32, solver={"storage": "fp32"})
case.at_most("fp32: relative error", abs(u - exact).max() / exact.max(), 0.002)

newton, _ = flow(None, FORCE, 32)
u, _ = flow(power(1, SHEAR), FORCE, 32)
case.at_most("index 1: difference from the fluid without a law", abs(u - newton).max() / newton.max(), 1e-11)

# Cells of half the width at one wall: rates of shear and viscosities have other numbers there.
u, _ = flow(THIN, FORCE, 32, refine={"wall": {"level": 1, "box": {"from": [0, 0, 0], "to": [4, 8, 1]}}}, **{"output.fields.main.levels": 0})
case.at_most("with a level at a wall: relative error", abs(u - exact).max() / exact.max(), 0.004)

# A limit that the whole channel reaches is a Newtonian fluid of that viscosity.
u, _ = flow(THIN, FORCE, 32, limits={"most": NU / 4})
case.at_most("most: difference from a fluid of that viscosity", abs(u - 4 * newton).max() / newton.max(), 1e-6)

# Eddies are added to the law: constant^2 g is a law of index 2.
constant, nu = 0.5, 0.01
g = numpy.sqrt((nu / (2 * constant**2))**2 + FORCE * (numpy.arange(160000) + 0.5) / 10000 / constant**2) - nu / (2 * constant**2)
exact = numpy.interp(abs(places(32)), numpy.arange(160001) / 10000, g.sum() / 10000 - numpy.concatenate([[0], numpy.cumsum(g)]) / 10000)
for law in None, power(1, SHEAR):
    u, _ = flow(law, FORCE, 32, solver={"subgrid": {"smagorinsky": {"constant": constant}}}, **{"fluid.viscosity": nu})
    case.at_most(f"Smagorinsky's model, {'a law' if law else 'no law'}: relative error", abs(u - exact).max() / exact.max(), 0.01)

# From an inlet to an outlet: the profile that belongs to the inlet's mean velocity, far from both and in the wall's cells near them. One
# fluid by two reference shear rates: the viscosity of the wall's cells at the openings is the law's, not that of the reference.
def through(viscosity, law, outlet):
    speed, length, height, steps = 0.04, 96, 24, 12000
    run = case.run("poiseuille", {
        "solver": {"collision": "trt", "storage": "fp64"}, "domain.cells": [length, height, 1], "fluid": {"viscosity": viscosity, "law": law},
        "force": {}, "initial": {"flow": "rest"}, "run.steps": steps, "faces": {
            "xmin": {"velocity": {"value": [speed, 0, 0], "profile": "parabola", "ramp": 2000}}, "xmax": {outlet: {}}, "y": "wall", "z": "periodic"},
        "output": {"fields": {"main": {"every": steps, "of": ["velocity"], "precision": "fp64"}}}})
    return run.field()[:, :, 0, 0]


def developed(u, index):
    y = abs(places(24)) / 12
    shape = 1 - y**(1 + 1 / index)
    return shape * (u[48].mean() / shape.mean())


thin = 0.05, power(0.5, 0.01)
other = 0.05 * (1e-4 / 0.01)**-0.5, power(0.5, 1e-4)
for outlet in "pressure", "nonreflecting":
    for name, (viscosity, law) in ("at 0.01", thin), ("at 1e-4", other):
        u = through(viscosity, law, outlet)
        wanted = developed(u, 0.5)
        case.at_most(f"{outlet}, reference {name}: relative error in the middle", abs(u[72] - wanted).max() / wanted.max(), 0.01)
        case.at_most(f"{outlet}, reference {name}: error in the last cells", abs(u[-1] - wanted).max() / wanted.max(), 0.05)
        case.at_most(f"{outlet}, reference {name}: change of the flow rate", abs(u.mean(axis=1) / u[48].mean() - 1).max(), 0.01)
carreau = {"carreau": {"infinite": 0.01, "time": 300, "index": 0.36}}
u = through(0.17, carreau, "pressure")
case.at_most("carreau: largest velocity near the openings", u.max() / u[48].max(), 1.6)
case.at_least("carreau: least velocity", u.min(), 0)

# The start state of a vortex has the stress that belongs to its viscosity: one fluid by two reference rates.
energies = []
for viscosity, law in thin, other:
    run = case.run("taylor_green_2d", {
        "solver": {"collision": "trt", "storage": "fp64"}, "domain.cells": [32, 32, 1], "fluid": {"viscosity": viscosity, "law": law},
        "initial.amplitude": 0.03, "run.steps": 400, "output": {"series": {"flow": {"every": 100, "of": ["kinetic_energy"]}}}})
    energies.append(run.series()["kinetic_energy"])
case.at_most("vortex: difference between two reference rates", abs(energies[1] / energies[0] - 1).max(), 1e-6)

# A scalar diffuses across the flow as in any fluid: the model's rate is none of eddies.
values = []
for law in None, THIN:
    run = case.run("poiseuille", {
        "solver": {"collision": "trt", "storage": "fp64"}, "domain.cells": [4, 32, 1], "fluid": {"viscosity": NU} | ({"law": law} if law else {}),
        "force.acceleration": [FORCE, 0, 0], "faces": {"x": "periodic", "y": "wall", "z": "periodic"}, "run.steps": 3000,
        "scalars": {"t": {"diffusivity": 0.02, "initial": {"value": 1, "wave": {"amplitude": 0.5, "waves": [0, 1, 0]}}}},
        "output": {"fields": {"main": {"every": 3000, "of": ["velocity", "t"], "precision": "fp64"}}}})
    values.append((run.field("t"), run.field()[..., 0].max()))
case.at_least("the flows differ", abs(values[0][1] - values[1][1]) / values[0][1], 0.1)
case.at_most("scalar: difference from a Newtonian fluid", abs(values[0][0] - values[1][0]).max(), 1e-9)
case.finish()
