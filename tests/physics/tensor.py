#!/usr/bin/python3
"""The permeability tensor by scripts/permeability.py, of media whose axes lie at 45 degrees to the grid's.

Cylinders along (1, 1, 0), a square array that fills a tenth of space. Along them: Laplace's equation in the unit cell, solved here by
a series whose terms meet the symmetry at the cell's edge (Sparrow, Loeffler, AIChE J. 5:325, 1959). Across them: Drummond, Tahir,
Int. J. Multiphase Flow 10:515, 1984, k/a^2 = (-ln c - 1.476 + (2 c - 0.796 c^2)/(1 + 0.489 c - 1.605 c^2)) / 8 c; it is 0.03 % from
the number of Sangani, Acrivos (Int. J. Multiphase Flow 8:193, 1982), F = 24.83, here. The array repeats in a box of 34 x 34 x 24 cells:
34 / 24 is 1.0017 of the root of 2, so that it is a square to 0.17 %. Interpolated walls on cylinders of 8.6 cells: elements within
0.6 % of the largest (0.40 % was found); with TAGFLOW_LONG on 58 x 58 x 41 cells within 0.2 % (0.13 %). Plane slits across (1, 1, 0):
w^2/12 times the porosity in the plane, 0 across it: within 0.5 % (0.33 %).

Slow flow has a symmetric tensor. Runs end when the permeability changes by less than 1e-7 in 100 steps: half the difference of
opposite elements is at most 3e-5 of the largest principal value (4e-6, 1.1e-5 on the finer grid). Directions are right to 0.01 degrees.
"""
import json
import math
import os
import subprocess
import sys

import numpy

import case


def along(c, terms=8):
    """k / a^2 along a square array of cylinders that fills c."""
    a, half = math.sqrt(c / math.pi), 0.5  # of a unit cell of edge 1
    y = numpy.linspace(0, half, 60)
    r, t = numpy.hypot(half, y), numpy.arctan2(y, half)
    # u = A ln(r/a) - (r^2 - a^2)/4 + sum of B_m (r^n - a^2n r^-n) cos n t, n = 4 m; du/dx is 0 at x = 1/2.
    columns = [numpy.cos(t) / r]
    for n in range(4, 4 * terms + 1, 4):
        columns.append(n * ((r**(n - 1) + a**(2 * n) * r**(-n - 1)) * numpy.cos(n * t) * numpy.cos(t)
                            + (r**n - a**(2 * n) * r**-n) * numpy.sin(n * t) * numpy.sin(t) / r) / half**n)
    b = numpy.linalg.lstsq(numpy.array(columns).T, r / 2 * numpy.cos(t), rcond=None)[0]
    x, w = numpy.polynomial.legendre.leggauss(40)
    flow = 0.0
    for angle, weight in zip((x + 1) * math.pi / 8, w * math.pi / 8):
        end = half / math.cos(angle)
        r = a + (x + 1) * (end - a) / 2
        u = b[0] * numpy.log(r / a) - (r**2 - a**2) / 4
        for m in range(1, terms + 1):
            u += b[m] * (r**(4 * m) - a**(8 * m) * r**(-4 * m)) / half**(4 * m) * math.cos(4 * m * angle)
        flow += 8 * weight * (w * (end - a) / 2 * r * u).sum()
    return flow / a**2


def across(c):
    return (-math.log(c) - 1.476 + (2 * c - 0.796 * c**2) / (1 + 0.489 * c - 1.605 * c**2)) / (8 * c)


def tensor(name, cells, parts, wall="interpolated"):
    """The object `tensor` of the script's JSON, and the porosity."""
    case_text = {"domain": {"cells": cells}, "fluid": {"viscosity": 0.5}, "solver": {"collision": "trt", "storage": "fp64", "arithmetic": "fp64"},
                 "faces": {axis: "periodic" for axis in "xyz"}, "bodies": {"solid": {"shape": {"union": parts}, "wall": wall}},
                 "run": {"steps": 20000, "stop": {"of": "permeability", "change": 1e-7, "every": 100}},
                 "output": {"log": {"every": 0}, "series": {"k": {"every": 100, "of": "permeability", "axis": "x"}}}}
    file = os.path.join(case.scratch(), name + ".yaml")
    with open(file, "w") as to:
        json.dump(case_text, to)
    done = subprocess.run([case.ROOT + "/scripts/permeability.py", file, "--output", file[:-len(".yaml")], "--no-flow"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(done.stdout)
        sys.exit(f"FAIL {name}: exit status {done.returncode}")
    with open(file[:-len(".yaml")] + "_permeability.json") as made:
        found = json.load(made)
    return numpy.array(found["tensor"]["cells2"]), found["tensor"], found["porosity"]


def compare(name, found, exact, limit):
    largest = numpy.linalg.eigvalsh(exact).max()
    k = found[0]
    print(f"     {name}: found {(k / largest).round(5).tolist()}, reference {(exact / largest).round(5).tolist()}")
    case.at_most(f"{name}: largest difference of an element, over the largest principal value", abs(k - exact).max() / largest, limit)
    case.near(f"{name}: K_xy", k[0, 1] / largest, exact[0, 1] / largest, limit)
    case.at_most(f"{name}: asymmetry", found[1]["asymmetry"], 3e-5)


def turned(length):
    """The first principal direction of the cylinders, in degrees from their axis."""
    return math.degrees(math.acos(min(1.0, abs(numpy.dot(length, [math.sqrt(0.5), math.sqrt(0.5), 0])))))


SHARE = 0.1
for n, m, limit in ((34, 24, 0.006), (58, 41, 0.002))[:2 if "TAGFLOW_LONG" in os.environ else 1]:
    radius = math.sqrt(SHARE * n / math.sqrt(2) * m / math.pi)
    centre = numpy.array([n / 2 + 0.23, n / 2 - 0.31, m / 2 + 0.17])
    rods = {f"rod{k + 1}": {"cylinder": {"center": (centre + [0, k * n, 0]).tolist(), "axis": [1, 1, 0], "radius": radius}} for k in (-1, 0, 1)}
    found = tensor(f"rods{n}", [n, n, m], rods)
    t = numpy.array([1, 1, 0]) / math.sqrt(2)
    exact = radius**2 * (along(SHARE) * numpy.outer(t, t) + across(SHARE) * (numpy.eye(3) - numpy.outer(t, t)))
    compare(f"cylinders of radius {radius:.2f}", found, exact, limit)
    case.at_most(f"cylinders of radius {radius:.2f}: first direction, degrees off", turned(found[1]["principal"][0]["direction"]), 0.01)
    case.near(f"cylinders of radius {radius:.2f}: porosity", found[2], 1 - SHARE, 0.002)

n, thick = 24, 6.3
middle = numpy.array([n / 2 + 0.4, n / 2 + 0.13, 0])
slabs = {f"slab{k + 1}": {"box": {"from": (middle + [k * n - thick / 2, -200, -200]).tolist(),
                                  "to": (middle + [k * n + thick / 2, 200, 200]).tolist()}, "rotate": [0, 0, 45]} for k in (-1, 0, 1)}
period = n / math.sqrt(2)
width = period - thick
normal = numpy.array([1, 1, 0]) / math.sqrt(2)
compare(f"slits of {width:.2f} cells", tensor("slits", [n, n, 4], slabs),
        width / period * width**2 / 12 * (numpy.eye(3) - numpy.outer(normal, normal)), 0.005)
case.finish()
