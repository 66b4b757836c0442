#!/usr/bin/python3
"""Scalars whose values vary over faces: by height and by radius (docs/boundaries.md).

Conduction: T = A + B x z solves Laplace's equation, and is linear along each wall: xmin and zmin have A, xmax and zmax A and a line by
height along z and x. The steady field has no error but rounding and what is left of the transient, with magic 1/6 and with 1/4: 1e-11
of the largest value; on two grids with one file in m and degC, with a region of finer cells at one of the walls, and with a time
function (a ramp, which multiplies the difference from the reference).

A stratified stream: uniform, between walls that move with it and have the values of the stratification there. T = A + G z at the inlet
stays so down to the outlet: 1e-11, without and with the limiter.

An inlet by radius, beside a limited scalar: the value at the walls' surface, which lines give, is that of the file at any distance.
"""
import numpy

import case
import heat

A, B, W, H = 290.0, 0.05, 16, 8  # K, K/m2, m


def table(name, lines):
    path = case.scratch() + "/" + name
    with open(path, "w") as file:
        file.write("# position, value\n" + "".join(f"{at!r} {value!r}\n" for at, value in lines))
    return path


def heights(path, axis, **more):
    return {"value": {"height": {"file": path, "axis": axis, "length": "1 m"}} | more}


KELVIN = table("upright.csv", [(0, A), (H, A + B * W * H)])
CELSIUS = table("lying.csv", [(-4.0, A - 273.15 - 4 * B * H), (W, A - 273.15 + B * W * H)])  # one line that goes on beyond the box


def plate(n, steps, refine=None, **more):
    """n: cells in a metre."""
    at = {"value": f"{A} K"}
    faces = {"xmin": heat.wall(t=at), "zmin": heat.wall(t=at), "y": "periodic",
             "xmax": heat.wall(t=heights(KELVIN, "z", unit="K") | more), "zmax": heat.wall(t=heights(CELSIUS, "x", unit="degC"))}
    text = heat.settings([W * n, 2, H * n], faces, {"t": {"kind": "heat", "diffusivity": 1.0, "reference": f"{A} K"}},
                         units={"dx": f"{1 / n} m", "dt": "1 s"}, run={"steps": steps})
    if refine:
        text["refine"] = refine
    return text


def exact(n):
    x, z = (numpy.arange(W * n) + 0.5) / n, (numpy.arange(H * n) + 0.5) / n
    return B * x[:, None, None] * z[None, None, :]


for n, steps, more in (1, 1500, {}), (1, 3000, {"ramp": "500 s"}), (2, 6000, {}):
    values = heat.run(plate(n, steps, **more)).value()
    case.at_most(f"conduction, {n} cells a metre{', ramp' if more else ''}: largest error over the largest value",
                 abs(values - exact(n)).max() / exact(n).max(), 1e-11)

# A level: lines along z and x through the fine cells and the others, and at the wall itself.
text = plate(1, 3000, {"fine": {"box": {"from": [10, 0, 0], "to": [16, 2, 8]}, "level": 1}})
text["output"] = {"log": {"every": 0}, "series": {
    "up": {"every": 3000, "of": "line", "from": [15.75, 0.5, 0], "to": [15.75, 0.5, 8], "points": 33},
    "along": {"every": 3000, "of": "line", "from": [0, 0.5, 6.75], "to": [16, 0.5, 6.75], "points": 65},
    "wall": {"every": 3000, "of": "line", "from": [16, 0.5, 0], "to": [16, 0.5, 8], "points": 33}}}
folder = heat.run(text).folder
for name in "up", "along", "wall":
    line = numpy.genfromtxt(f"{folder}/series/{name}.csv", delimiter=",", names=True)
    line = line[line["step"] == 3000]
    case.at_most(f"conduction, a level at the wall: line {name}", abs(line["t"] - A - B * line["x"] * line["z"]).max(), 1e-11)

# A stream that keeps its stratification.
LOW, HIGH = 1.0, 1.0 + 0.3 * 12
slope = table("slope.csv", [(0, LOW), (12, HIGH)])
for limiter, diffusivity in ("none", 0.02), ("on", 0.02):
    moving = {face: {"wall": {"velocity": [0.05, 0, 0], "scalars": {"s": {"value": value}}}} for face, value in (("zmin", LOW), ("zmax", HIGH))}
    faces = moving | {"y": "periodic", "xmax": "outflow",
                      "xmin": {"velocity": {"value": [0.05, 0, 0], "scalars": {"s": {"value": {"height": {"file": slope, "axis": "z"}}}}}}}
    text = heat.settings([24, 1, 12], faces, {"s": {"diffusivity": diffusivity, "limiter": limiter, "initial": 2}},
                         initial={"flow": "uniform", "velocity": [0.05, 0, 0]}, run={"steps": 12000})
    values = heat.run(text).value("s")
    case.at_most(f"a stratified stream, limiter {limiter}: largest error", abs(values - LOW - 0.3 * (numpy.arange(12) + 0.5)).max(), 1e-11)

# By radius, on a face and a disc of it, at all positions of lines along the walls.
RADII, VALUES = (0, 2.5, 6), (1, 3.5, -2)
ring = table("ring.csv", zip(RADII, VALUES))
radius = {"value": {"radius": {"file": ring}}}
text = heat.settings([6, 12, 10], {"x": heat.wall(s=radius), "y": "wall", "z": "wall"}, {"s": {"diffusivity": 0.1}}, run={"steps": 10})
text["patches"] = {"spot": {"face": "xmax", "disc": {"center": [3.2, 4.1], "radius": 2}} | heat.wall(s=radius)}
text["output"] = {"log": {"every": 0}, "series": {
    name: {"every": 10, "of": "line", "from": [x, 0.1, z], "to": [x, 11.9, z], "points": 50} for name, x, z in (("face", 0, 3.3), ("spot", 6, 4.6))}}
folder = heat.run(text).folder
for name, center in ("face", (6, 5)), ("spot", (3.2, 4.1)):
    line = numpy.genfromtxt(f"{folder}/series/{name}.csv", delimiter=",", names=True)
    line = line[line["step"] == 10]
    cell = numpy.floor(line["y"]) + 0.5
    inside = numpy.hypot(cell - 3.2, 4.5 - 4.1) <= 2 if name == "spot" else numpy.full(len(line), True)
    wanted = numpy.interp(numpy.hypot(line["y"] - center[0], line["z"] - center[1]), RADII, VALUES)
    case.at_least(f"     positions of {name}", inside.sum(), 12)
    case.at_most(f"by radius, {name}: largest error at the wall", abs(line["s"] - wanted)[inside].max(), 1e-12)
case.finish()
