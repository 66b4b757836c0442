#!/usr/bin/python3
"""Fluids whose viscosity depends on the shear rate, between plates, by each law and operator.

References, with h half the distance of the plates, a the acceleration, y from the middle, k = nu / shear_rate^(n - 1), y0 = yield / a:

  power             u = n/(n + 1) (a/k)^(1/n) (h^(1 + 1/n) - |y|^(1 + 1/n))
  herschel_bulkley  the same with h - y0 and max(|y| - y0, 0) in place of h and |y|
  casson            u = a/(2 nu) (h^2 - y^2 - 8/3 sqrt(y0) (h^(3/2) - |y|^(3/2)) + 2 y0 (h - |y|)) where |y| > y0, constant within
  carreau           the integral of the shear rate g(a y), by bisection of g viscosity(g) = a y

(Bird, Armstrong, Hassager, Dynamics of Polymeric Liquids 1, 1987, chapter 4; Chhabra, Richardson, Non-Newtonian Flow and Applied Rheology,
2008, chapter 3.) Order 2 in the number of cells, at least 1.9 (with a yield stress 1.5: its edge lies anywhere in a cell).
An index of 1 is the Newtonian fluid to 1e-12. Every operator that is stable here has the same profile within 0.1 %.
Heat with such a fluid: its field is that of a Newtonian fluid of index 1, the same bits in solver.collision bgk, trt and rr.
"""
import numpy

import case

NU = 0.1
SPEED = 0.02


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


if __name__ == "__main__":
    import sys
    CELLS = 16, 32, 64
    for name, law, least in [
            #("power 0.5", lambda s: power(0.5, s), 1.9), ("power 0.8", lambda s: power(0.8, s), 1.9), ("power 1.5", lambda s: power(1.5, s), 1.9),
            #("carreau", lambda s: {"carreau": {"infinite": 0.01, "time": 4 / s, "index": 0.36, "transition": 2}}, 1.9),
            #("casson", lambda s: {"casson": {"yield": 0.2 * s * NU}}, 1.5),
            ("bingham", lambda s: {"herschel_bulkley": {"yield": 0.3 * s * NU, "index": 1}}, 1.5),
            ("herschel_bulkley", lambda s: {"herschel_bulkley": {"yield": 0.2 * s * NU, "index": 0.7, "shear_rate": s}}, 1.5)]:
        errors = []
        for cells in CELLS:
            shear = 0.02 * 16 / cells**2
            a = 2 * NU * shear / cells
            u, change = flow(law(shear), a, cells)
            exact = profile(law(shear), a, cells / 2, places(cells))
            errors.append(abs(u - exact).max() / exact.max())
            print(name, cells, exact.max(), errors[-1], change)
        case.order(CELLS, errors)
