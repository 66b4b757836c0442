#!/usr/bin/python3
"""What a case says of an inlet is what flows in: profiles, signals in time, parts of faces.

On the nodes of a regularised face, or part of one, what is written at step t is profile times signal of time t,
worked out here anew: White's series for the duct with hyperbolic functions, files written by other libraries. In fp64 only
the rounding of a sum of 19 populations of about 1/36 to 1/3 is between them: 1e-15, for the densities 1e-14. Numbers in
files differ in every cell, so that no exchange of axes or directions goes unseen.

Through a part of a wall flows what is given, and through every plane the same: to 1e-9 of it in steady state, which the
steps below reach by 1e-11. The start is a ramp: links give back and forth a flow that alternates from step to step, which
a sudden start leaves. What flows is compared with the sum over the part's cells of rho u as given:
- nodes: the neighbours in the wall's cells flow along, so that more comes in, first order in cell over width: measured 2.8 %
  uniform, 1.1 % parabola at 6 cells, at most 5 %; 4.9 % for the mask, whose arms are 2 cells wide, at most 10 %;
- links, uniform: each link of a part's cell has u, only that the wall's have density 1 in place of the cell's: at most 0.1 %;
- links, parabola: diagonal links have u half-way to the next cell, which beyond the rim is 0: trapezoids in place of
  midpoints, 3.0 % less at 6 cells, at most 5 %.

A slow inlet of a duct, tau 0.503: the largest velocity is 1.26 of that given. It doubled every 45 steps while nodes kept all of
the stress within the face (docs/lab/open_faces.md, "A slow inlet").
"""
import os
import sys

import h5py
import numpy

import case

sys.path.insert(0, os.path.join(case.ROOT, "tests", "robustness"))
import runs

NX, NY, NZ = 8, 9, 12
VALUE = numpy.array([0.06, 0.004, -0.003])
ROUNDING = 1e-14
y, z = numpy.arange(NY) + 0.5, numpy.arange(NZ) + 0.5


def path(name):
    return os.path.join(runs.WORK, name)


def run(steps, every=None, more=(), **faces):
    """Of a box with walls all round but for the faces given."""
    box = {name: "wall" for name in ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")}
    return case.run("duct", case.FP64 | {
        "domain.cells": [NX, NY, NZ], "fluid": {"viscosity": 0.1}, "force": {}, "faces": box | faces, "run.steps": steps,
        "output": {"log": {"every": 0}, "fields": {"main": {
            "every": every or steps, "of": ["velocity", "density"], "precision": "fp64"}}}} | dict(more))


def inlet(**keys):
    return {"velocity": {"value": list(VALUE)} | keys}


# ---- profiles ----

def parabola(at, width):
    return 4 * at / width * (1 - at / width)


def duct(a, b, width, height):
    """White, Viscous Fluid Flow, 3-3.3, over its value in the middle. The sum as it stands, of terms that fall with n^3:
    20,000 of them leave 1e-14."""
    n = numpy.arange(1, 40000, 2)[:, None, None]
    k = n * numpy.pi / width

    def at(a, b):
        a, b = abs(a - width / 2)[None, :, None], abs(b - height / 2)[None, None, :]
        ratio = numpy.exp(k * (b - height / 2)) * (1 + numpy.exp(-2 * k * b)) / (1 + numpy.exp(-k * height))
        return ((2 - n % 4) / n**3 * (1 - ratio) * numpy.cos(k * a)).sum(axis=0)

    return at(a, b) / at(numpy.array([width / 2]), numpy.array([height / 2]))


def power(at, width, n):
    return (2 * numpy.minimum(at, width - at) / width) ** (1 / n)


chance = numpy.random.default_rng(3)
numbers = chance.uniform(0.1, 1, (NZ, NY))  # a line for each z
three = chance.uniform(-1, 1, (NZ, NY, 3))
runs.write(path("one.csv"), "# y along a line\n" + "\n".join(",".join(map(repr, map(float, line))) for line in numbers) + "\n")
runs.write(path("three.csv"), "\n".join(" ".join(map(repr, map(float, line.ravel()))) for line in three) + "\n")
with h5py.File(path("both.h5"), "w") as file:
    file["profile"], file["deep/three"] = numbers, three
one = numbers.T[..., None] * VALUE
PROFILES = {
    "uniform": ("uniform", numpy.ones((NY, NZ, 1)) * VALUE),
    "parabola": ("parabola", numpy.outer(parabola(y, NY), parabola(z, NZ))[..., None] * VALUE),
    "duct": ("duct", duct(y, z, NY, NZ)[..., None] * VALUE),
    "power law": ({"power": 7}, numpy.outer(power(y, NY, 7), power(z, NZ, 7))[..., None] * VALUE),
    "CSV": ({"file": path("one.csv")}, one),
    "CSV of three": ({"file": path("three.csv")}, three.transpose(1, 0, 2) * VALUE),
    "HDF5": ({"file": path("both.h5")}, one),
    "HDF5 of three": ({"file": path("both.h5"), "dataset": "/deep/three"}, three.transpose(1, 0, 2) * VALUE),
}
for name, (profile, wanted) in PROFILES.items():
    u = run(3, xmin=inlet(profile=profile), xmax="pressure").field()[0]
    case.at_most(f"{name}: error on the nodes", abs(u - wanted).max(), ROUNDING)
# Along another axis: x along a line, y from line to line.
across = chance.uniform(0.1, 1, (NY, NX))
runs.write(path("across.csv"), "\n".join(" ".join(map(repr, map(float, line))) for line in across) + "\n")
u = run(3, zmax=inlet(profile={"file": path("across.csv")}), zmin="pressure").field()[:, :, -1]
case.at_most("CSV on zmax: error on the nodes", abs(u - across.T[..., None] * VALUE).max(), ROUNDING)
# Beside a plane of symmetry, half of a wider face.
u = run(3, xmin=inlet(profile="duct"), xmax="pressure", zmin="slip").field()[0]
case.at_most("duct beside slip", abs(u - duct(y, z + NZ, NY, 2 * NZ)[..., None] * VALUE).max(), ROUNDING)

# By height or radius: on the nodes of two grids the same function of the place in metres, with the ground 0.7 m up.
HEIGHTS, FACTORS = numpy.array([0.5, 2, 3.1, 6]), numpy.array([0.1, 0.7, 0.65, 1.2])
runs.write(path("wind.csv"), "# height, factor\n" + "\n".join(f"{h} {f}" for h, f in zip(HEIGHTS, FACTORS)) + "\n")
ROUGHNESS, REFERENCE, GROUND = 0.03, 5.0, 0.7
GROUNDED = {"axis": "z", "from": f"{GROUND} m"}
BY_PLACE = {
    "height": (GROUNDED | {"file": path("wind.csv"), "length": "1 m"}, lambda y, z: numpy.interp(z - GROUND, HEIGHTS, FACTORS)),
    "radius": ({"file": path("wind.csv"), "length": "1 m"},
               lambda y, z: numpy.interp(numpy.hypot(y - NY / 2, z - NZ / 2), HEIGHTS, FACTORS)),
    "log": (GROUNDED | {"roughness": f"{ROUGHNESS} m", "reference": f"{REFERENCE} m"},
            lambda y, z: numpy.log1p(numpy.maximum(z - GROUND, 0) / ROUGHNESS) / numpy.log1p(REFERENCE / ROUGHNESS)),
    "shear": (GROUNDED | {"exponent": 0.14, "reference": f"{REFERENCE} m"},
              lambda y, z: (numpy.maximum(z - GROUND, 0) / REFERENCE)**0.14),
}
for name, (keys, factor) in BY_PLACE.items():
    for finer in 1, 2:
        grid = {"domain.cells": [finer * NX, finer * NY, finer * NZ], "units": {"dx": f"{1 / finer} m", "dt": f"{1 / finer} s"}}
        at = [(numpy.arange(finer * n) + 0.5) / finer for n in (NY, NZ)]
        wanted = factor(at[0][:, None], at[1][None, :]) * numpy.ones((finer * NY, finer * NZ))
        result = run(3, more=grid, xmin=inlet(profile={name: keys}), xmax="pressure")
        u = result.field()[0]
        case.at_most(f"{name}, {finer} cells a metre: error on the nodes", abs(u - wanted[..., None] * VALUE).max(), ROUNDING)

# ---- signals: the face's velocity and density over time ----

STEPS = 40
t = numpy.arange(STEPS + 1)
runs.write(path("table.csv"), "# time, factor\n2, 0.5\n5, -0.4\n5.5, 1\n14, 0.2\n")
s = numpy.minimum(t / 17, 1)
SIGNALS = {
    "ramp": ({"ramp": 17}, s * s * (3 - 2 * s)),
    "sine": ({"sine": {"period": 12.7, "phase": 0.2, "mean": 0.7, "amplitude": 0.3}},
             0.7 + 0.3 * numpy.sin(2 * numpy.pi * (t / 12.7 + 0.2))),
    "table": ({"table": {"file": path("table.csv"), "time": 2}}, numpy.interp(t / 2, [2, 5, 5.5, 14], [0.5, -0.4, 1, 0.2])),
}
PROBES = {"output.series": {"in": {"every": 1, "of": "probe", "point": [0.5, 4.5, 6.5]},
                            "out": {"every": 1, "of": "probe", "point": [7.5, 4.5, 6.5]}}}
for name, (signal, factor) in SIGNALS.items():
    result = run(STEPS, STEPS, PROBES, xmin=inlet(**signal), xmax={"pressure": {"density": 1.01} | signal})
    found = result.series("in")
    u = numpy.stack([found["velocity_" + a] for a in "xyz"], axis=1)
    case.near(f"{name}: steps", len(u), STEPS + 1, 0)
    case.at_most(f"{name}: error of the velocity over time", abs(u[1:] - factor[1:, None] * VALUE).max(), ROUNDING)
    case.at_most(f"{name}: error of the density over time",
                 abs(result.series("out")["density"][1:] - 1 - 0.01 * factor[1:]).max(), ROUNDING)

# ---- parts of a wall ----

RADIUS, CENTER = 3.2, (4.5, 6)
square = ((y[:, None] - CENTER[0])**2 + (z - CENTER[1])**2) / RADIUS**2
mask = numpy.zeros((NY, NZ), bool)
mask[1:7, 3:5] = mask[4:6, 2:10] = mask[2, 8] = True
runs.write(path("mask.png"), runs.grey_png(numpy.where(mask.T[::-1], 255, 0)))  # rows from the top: the second axis up
rectangle = numpy.outer((y > 2) & (y < 7), (z > 3) & (z < 9))
PARTS = {
    "disc": ({"disc": {"center": CENTER, "radius": RADIUS}}, square <= 1, numpy.maximum(1 - square, 0)),
    "rectangle": ({"rectangle": {"from": [2, 3], "to": [7, 9]}}, rectangle,
                  rectangle * numpy.outer(parabola(y - 2, 5), parabola(z - 3, 6))),
    "mask": ({"mask": {"file": path("mask.png")}}, mask, None),
}
SPEED = 0.02


def through(name, shape, factor, profile, rule, limit):
    """Runs to the steady state; the velocity along x."""
    part = {"face": "xmin", "velocity": {"value": [SPEED, 0, 0], "rule": rule, "profile": profile, "ramp": 200}} | shape
    # the outlet is a part, too, of another face
    out = {"face": "zmax", "rectangle": {"from": [4, 2], "to": [8, 7]}, "pressure": {"rule": rule}}
    result = run(2400, 2400, {"patches": {"in": part, "out": out}})
    u, rho = result.field(), result.field("density")
    planes = (rho * u[..., 0]).sum(axis=(1, 2))[:4]  # what lies before the outlet
    up = (rho * u[..., 2]).sum(axis=(0, 1))[-1]
    given = (SPEED * factor * rho[0]).sum()
    what = f"{name}, {profile}, {rule}"
    case.at_most(f"{what}: planes differ, relative", numpy.ptp(planes) / given, 1e-9)
    case.at_most(f"{what}: difference of what comes in from what is given", abs(planes[0] / given - 1), limit)
    if rule == "regularised":
        case.at_most(f"{what}: difference of what goes out", abs(up / planes[0] - 1), 1e-9)
        case.at_most(f"{what}: error on the nodes", abs(u[0][factor > 0] - (SPEED * factor[factor > 0])[:, None] * [1, 0, 0]).max(),
                     ROUNDING)
        beside = u[0, :, :, 0][factor == 0]
        case.at_most(f"{what}: largest velocity in the wall's cells over that given", abs(beside).max() / SPEED, 0.5)
    return u


for name, (shape, uniform, profile) in PARTS.items():
    through(name, shape, uniform.astype(float), "uniform", "regularised", 0.1 if name == "mask" else 0.05)
through("disc", PARTS["disc"][0], PARTS["disc"][2], "parabola", "regularised", 0.05)
through("rectangle", PARTS["rectangle"][0], PARTS["rectangle"][1].astype(float), "uniform", "links", 0.001)
u = through("rectangle", PARTS["rectangle"][0], PARTS["rectangle"][2], "parabola", "links", 0.05)
# All is symmetric about the plane y = 4.5, but for the order of sums.
case.at_most("symmetry", abs(u - u[:, ::-1] * [1, -1, 1]).max(), 1e-14)

for collision in "rr", "cumulant":
    slow = case.run("duct", case.FP32 | {
        "domain.cells": [40, 24, 1], "fluid": {"viscosity": 0.001}, "solver": {"collision": collision}, "run.steps": 3000, "force": {}, "initial": {"flow": "rest"},
        "faces": {"xmin": {"velocity": {"value": [0.001, 0, 0]}}, "xmax": "nonreflecting", "y": "wall", "z": "periodic"},
        "output": {"series": {"flow": {"every": 1000, "of": "max_velocity"}}}}).series()["max_velocity"][-1]
    case.at_most(f"slow inlet, {collision}: largest velocity over that given", slow / 0.001, 1.5)
case.finish()
