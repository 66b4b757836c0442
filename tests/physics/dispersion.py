#!/usr/bin/python3
"""Dispersion of a scalar with a mean gradient in periodic boxes.

Without flow: open box 1; layers 0 across, 1 along; plates on a diagonal 0 across (a staircase); in the square array of cylinders
Rayleigh's series (Phil. Mag. 34:481, 1892; with the terms of Perrins et al., Proc. R. Soc. A 369:207, 1979), in the cubic array of spheres
Maxwell's formula 1 / (1 + f/2) per pore at a share of f = 0.1, where the next term of Rayleigh's series is 2e-4. The share is that
of the cells. A staircase and a smooth surface differ: 0.038 at a radius of 4 cells, 0.020 at 8 were found, of first order.

With flow: plates, D (1 + 2/105 Pe^2), Pe = U h / D with half the gap h (Taylor, Proc. R. Soc. A 219:186, 1953; Aris 235:67, 1956), 16
cells, Pe by the force and the parabola: 1 % at Pe 10, 3 % at 20, and order 2. Tube, D (1 + Pe^2 / 48), Pe = U R / D, interpolated wall: 5 % at
R = 10, staircase as the scalar's walls are. Uniform flow, 0.085 cells a step: 1 up to its fourth power, for any
direction of the gradient.

With TAGFLOW_LONG a random pack of spheres at Peclet numbers of 0.05 to 6, and on half of the cells: no reference.
"""
import math
import os
import random

import numpy

import case
import heat

FP32 = {"storage": "fp32", "arithmetic": "fp32"}
TRT = {"collision": "trt", "magic": 0.1875}


def measure(cells, gradients, d, steps, faces=None, change=1e-7, every=200, solver=None, length=1.0, **more):
    """The last rows of the series of each gradient, as maps. The run ends when the ratio along the first gradient settles."""
    scalars = {f"c{k}": {"diffusivity": d, "gradient": list(g)} for k, g in enumerate(gradients)}
    series = {f"s{k}": {"every": every, "of": "dispersion", "scalar": f"c{k}", "length": length} for k in range(len(gradients))}
    run = {"steps": steps}
    if change:
        run["stop"] = {"of": "s0.ratio", "change": change, "over": every}
    text = heat.settings(cells, faces or heat.PERIODIC, scalars, run=run,
                         solver=TRT | (solver or {"storage": "fp64", "arithmetic": "fp64"}), **more)
    text["output"] = {"log": {"every": 0}, "series": series}
    result = heat.run(text)
    rows = []
    for name in series:
        table = numpy.genfromtxt(f"{result.folder}/series/{name}.csv", delimiter=",", names=True)
        rows.append({key: float(numpy.atleast_1d(table[key])[-1]) for key in table.dtype.names})
    return rows


def rayleigh(f):
    """Square array of insulating cylinders, per volume of the array."""
    t = 1
    return 1 - 2 * f / (t + f - 0.305827 * t * f**4 / (t * t - 1.402958 * f**8) - 0.013362 * f**8 / t)


def porosity(row):
    return row["effective"] / row["ratio"]


def still():
    row, = measure([6, 5, 4], [(1e-3, 2e-3, -1e-3)], 0.1, 20, change=None, every=10)
    case.at_most("open box, oblique gradient: ratio from 1", abs(row["ratio"] - 1), 1e-12)
    case.at_most("     and of the column from its direction", max(abs(row[f"ratio_{a}"] - g / math.sqrt(6)) for a, g in zip("xyz", (1, 2, -1))), 1e-12)
    layer = {"layer": {"shape": {"box": {"from": [3, 0, 0], "to": [7, 8, 4]}}}}
    across, along = measure([12, 8, 4], [(1e-3, 0, 0), (0, 1e-3, 0)], 0.2, 4000, change=None, bodies=layer)
    case.at_most("layers, across: ratio", abs(across["ratio"]), 1e-10)
    case.at_most("layers, along: ratio from 1", abs(along["ratio"] - 1), 1e-12)
    case.near("     effective is the porosity", along["effective"], 8 / 12, 1e-12)
    plates = {f"p{k}": {"shape": {"box": {"from": [k, k, 0], "to": [k + 2, k + 1, 2]}}} for k in range(12)}
    across, along = measure([12, 12, 2], [(1e-3, 1e-3, 0), (1e-3, -1e-3, 0)], 0.2, 6000, change=None, bodies=plates)
    rows = sorted((across["ratio"], along["ratio"]))
    case.at_most("plates on a diagonal, across: ratio", abs(rows[0]), 1e-10)
    print(f"     along the staircase {rows[1]:.4f}")
    errors = []
    for n in (16, 32):  # cells of the square
        rod = {"rod": {"shape": {"cylinder": {"center": [n / 2, n / 2, 0.5], "axis": "z", "radius": n / 4}}}}
        row, = measure([n, n, 1], [(1e-3, 0, 0)], 0.5, 40000, change=1e-9, bodies=rod)
        errors.append(abs(row["effective"] / rayleigh(1 - porosity(row)) - 1))
        case.at_most(f"square array of cylinders, share {1 - porosity(row):.3f}, {n} cells: effective over Rayleigh's, from 1", errors[-1], 0.8 / n)
    case.at_most("     the finer one over the coarser one", errors[1] / errors[0], 0.8)
    ball = {"ball": {"shape": {"pack": {"lattice": "simple", "length": 24, "center": [12] * 3, "share": 0.1}}}}
    row, = measure([24] * 3, [(1e-3, 0, 0)], 0.5, 20000, change=1e-8, every=100, bodies=ball)
    case.near("cubic array of spheres, share 0.1: ratio over Maxwell's", row["ratio"] * (1 + (1 - porosity(row)) / 2), 1, 0.02)


def plates(n, peclet, gradients, solver=None):
    h, speed, nu = n / 2, 0.32 / n, 0.1
    d = speed * h / peclet
    return measure([1, n, 1], gradients, d, int(8 * h * h / d) + 8000, heat.PERIODIC | {"y": "wall"}, every=500, length=h,
                   change=1e-8 if not solver else 1e-5, fluid={"viscosity": nu}, solver=solver, force={"acceleration": [3 * nu * speed / h**2, 0, 0]})


def taylor():
    for peclet, limit in (10, 0.01), (20, 0.03):
        errors = []
        for n in (8, 16):
            row = plates(n, peclet, [(1e-3, 0, 0)])[0]
            errors.append(abs(row["ratio"] / (1 + 2 / 105 * peclet**2) - 1))
        case.near(f"plates: Peclet number with {peclet}", row["peclet"], peclet, 0.02 * peclet)
        case.at_most("     16 cells: ratio over Taylor's, from 1", errors[1], limit)
        case.at_least("     order", case.order((8, 16), errors), 1.7)
    row = plates(16, 10, [(1e-3, 0, 0)], FP32)[0]
    case.at_most("     in fp32", abs(row["ratio"] / (1 + 2 / 105 * 10**2) - 1), 0.01)
    n, radius = 22, 10
    tube = {"wall": {"shape": {"complement": {"pipe": {"cylinder": {"center": [n / 2, n / 2, 0.5], "axis": "z", "radius": radius}}}},
                     "wall": "interpolated"}}
    nu, speed, peclet = 0.1, 0.02, 15
    row, across = measure([n, n, 1], [(0, 0, 1e-3), (1e-3, 0, 0)], speed * radius / peclet, 30000, every=500, change=None, length=radius,
                          fluid={"viscosity": nu}, bodies=tube, force={"acceleration": [0, 0, 8 * nu * speed / radius**2]})
    case.near(f"tube, Peclet number {row['peclet']:.2f}: ratio over Taylor's", row["ratio"] / (1 + row["peclet"]**2 / 48), 1, 0.05)
    case.at_most("     across", abs(across["ratio"]), 1e-3)
    for g in ((1e-3, 0, 0), (1e-3, -1e-3, 5e-4)):
        row, = measure([6, 5, 4], [g], 0.05, 300, change=None, every=100, initial={"flow": "uniform", "velocity": [0.08, 0.03, 0.0]})
        case.at_most(f"uniform flow, gradient {g}: ratio from 1", abs(row["ratio"] - 1), 1e-3)


def spheres(n, count, radius, seed, gap=0.06):
    """A periodic pack of spheres, `gap` apart so that no fluid is isolated, in a cube of 1, as a body of n cells."""
    r, at = random.Random(seed), []
    while len(at) < count:
        p = [r.random() for _ in range(3)]
        if all(sum(min(abs(a - b), 1 - abs(a - b))**2 for a, b in zip(p, q)) > (2 * radius + gap)**2 for q in at):
            at.append(p)
    parts = {}
    for k, p in enumerate(at):
        for s in numpy.ndindex(3, 3, 3):
            c = [a + b - 1 for a, b in zip(p, s)]
            if all(-radius < a < 1 + radius for a in c):
                parts[f"s{k}_{s[0]}{s[1]}{s[2]}"] = {"sphere": {"center": [a * n for a in c], "radius": radius * n}}
    return {"pack": {"shape": {"union": parts}}}


def pack(n, peclet, count=8, radius=0.18, seed=1):
    """Peclet number of the diameter, Reynolds number at most 1; slow flow along x. Ratios along x and y."""
    nu, diameter, permeability, open_part = 0.5, 2 * radius * n, 0.0099 * n * n, 0.805  # about: the series has the Peclet number
    d = min(max(0.01 * diameter / peclet, 0.004), 0.2)
    force = peclet * d / diameter * open_part * nu / permeability
    over = 200 * math.ceil(n * n / d / 20 / 200)
    return measure([n] * 3, [(1e-3, 0, 0), (0, 1e-3, 0)], d, 400000, every=over, change=2e-3, length=diameter, solver=FP32,
                   fluid={"viscosity": nu}, bodies=spheres(n, count, radius, seed), force={"acceleration": [force, 0, 0]})


def packs():
    """Both grids are coarse, 5.8 and 11.5 cells to a sphere: 3.1 % apart at a Peclet number of 0.55."""
    found = {}
    for n, numbers in (16, (0.1, 1, 10)), (32, (0.1, 1)):
        for peclet in numbers:
            along, across = pack(n, peclet)
            found[n, peclet] = along["ratio"]
            print(f"     pack, {n} cells, porosity {porosity(along):.4f}, Peclet {along['peclet']:.3f}: D_L/D {along['ratio']:.4f}, "
                  f"D_T/D {across['ratio']:.4f}, step {along['step']:.0f}", flush=True)
    for peclet in (0.1, 1):
        case.near(f"pack, Peclet number about {peclet / 2}: 16 over 32 cells", found[16, peclet] / found[32, peclet], 1, 0.06)
    case.at_least("pack: D_L at the largest Peclet number over that at the smallest", found[16, 10] / found[16, 0.1], 1.3)


still()
taylor()
if "TAGFLOW_LONG" in os.environ:
    packs()
case.finish()
