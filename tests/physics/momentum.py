#!/usr/bin/python3
"""The force on a body is what the fluid loses.

- Spheres in a periodic box, driven by a force: at steady state they bear g times the mass of the fluid. The walls of a
  duct, all that is not in a box, bear g V. Both by momentum exchange, which counts what populations carry, so to rounding:
  1e-10 (fp64; the runs end when the velocity changes by less than 1e-13 in 50 steps).
- A sphere between an inlet and an outlet with slip on the sides: the force is what pressure, momentum and normal stress
  p + rho u^2 - 2 rho nu du/dx bring in through one plane of cells more than they take out through another. Cells'
  centres have these up to second differences of the flow: 2e-4 of the force at two radii from the sphere, Reynolds number
  10, and 0.5 % asked for. Interpolated walls take and give some mass, 4e-4 of the stream here, at most 1e-3; half-way
  ones none, 1e-7 as the runs end before the last of the start has left.
- Fluid in a closed box with a sphere and gravity, fp32, 10,000 steps from rest: velocities below 1e-7 at any time that is
  looked at (1e-9 while the sound of the start dies, then 3e-12), and buoyancy g V, V that of the solid cells, to 1e-4: the
  density is 1 up to 1e-5.
- A stream that a sphere in a periodic box begins to stop, fp64: in each row the force is half of the momentum that the fluid
  loses in the step before and the step after (at step 0 all that it loses in the first step), by the sum of rho u over
  the cells, to 1e-12 of the first momentum; also where rows are four steps apart.
"""
import math

import numpy

import case

WALLS = "halfway", "interpolated"
PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}


def run(body, wall, cells, settings):
    """configs/pack.yaml with another body, in a box of these cells."""
    return case.run("pack", case.FP64 | {"domain.cells": cells, "bodies": {"body": {"shape": body, "wall": wall}}} | settings)


def driven(name, body, wall, cells):
    """From rest to the end."""
    force = 1e-6
    result = run(body, wall, cells, {
        "fluid.viscosity": 0.5, "force.acceleration": [force, 0, 0],
        "run": {"steps": 100000, "stop": {"of": "residual", "change": 1e-13, "every": 50}},
        "output": {"log": {"every": 0}, "series": {"mass": {"every": 50, "of": "mass"},
                                                   "body": {"every": 50, "of": "forces", "body": "body"}}}})
    borne = result.series("body")["force_x"][-1] / (force * result.series("mass")["mass"][-1])
    case.near(f"{name}, {wall}: force on the walls over g times the fluid's mass", borne, 1, 1e-10)


def open_channel(wall):
    u, length, radius, cells = 0.04, 40, 4, 20
    viscosity = u * 2 * radius / 10
    result = run({"sphere": {"center": [14.2, 10, 10], "radius": radius}}, wall, [length, cells, cells], {
        "fluid": {"viscosity": viscosity}, "initial": {"flow": "uniform", "velocity": [u, 0, 0]},
        "faces": {"xmin": {"velocity": {"value": [u, 0, 0]}}, "xmax": {"nonreflecting": {"reflection": 0}}, "y": "slip", "z": "slip"},
        "force.acceleration": [0, 0, 0], "run": {"steps": 2000}, "output": {
            "log": {"every": 0}, "series": {"body": {"every": 1000, "of": "forces", "body": "body"}},
            "fields": {"main": {"every": 2000, "of": ["density", "velocity"], "precision": "fp64"}}}})
    rho, v = result.field("density"), result.field()[..., 0]

    def carried(x):
        stress = (v[x + 1] - v[x - 1]) * rho[x] * viscosity
        return ((rho[x] - 1) / 3 + rho[x] * v[x]**2 - stress).sum()

    force = result.series("body")["force_x"][-1]
    for first, last in (4, length - 6), (6, length - 10):
        case.near(f"sphere in a stream, {wall}, cells {first} to {last}: momentum lost over force",
                  (carried(first) - carried(last)) / force, 1, 0.005)
    flow = (rho * v).sum(axis=(1, 2))
    case.near(f"sphere in a stream, {wall}: flow behind it over that before it", flow[-6] / flow[4], 1,
              1e-7 if wall == "halfway" else 1e-3)


def at_rest(wall):
    gravity, cells, radius = [1e-6, -5e-7, 3e-7], 20, 5.2
    result = run({"sphere": {"center": [9.3, 10.6, 10.1], "radius": radius}}, wall, [cells] * 3, case.FP32 | {
        "fluid.viscosity": 1 / 6, "faces": {"x": "wall", "y": "wall", "z": "wall"}, "force.acceleration": gravity,
        "run": {"steps": 10000}, "output": {"log": {"every": 0}, "series": {
            "flow": {"every": 1000, "of": ["mass", "max_velocity"]},
            "body": {"every": 1000, "of": "forces", "body": "body"}}}})
    flow, body = result.series(), result.series("body")
    case.at_most(f"gravity, {wall}: largest velocity", flow["max_velocity"].max(), 1e-7)
    case.at_most(f"gravity, {wall}: change of mass", abs(flow["mass"][-1] / flow["mass"][0] - 1), 1e-6)
    solid = cells**3 - round(flow["mass"][0])
    for a in range(3):
        case.near(f"gravity, {wall}: buoyancy along {'xyz'[a]} over g V", -body["force_" + "xyz"[a]][-1] / (gravity[a] * solid),
                  1, 1e-4)
    case.near(f"gravity, {wall}: cells of the sphere", solid / (4 / 3 * math.pi * radius**3), 1, 0.01)


def each_step(wall, cells=16, steps=12):
    result = run({"sphere": {"center": [8.3, 7.6, 8.1], "radius": 4.2}}, wall, [cells] * 3, {
        "fluid.viscosity": 0.02, "faces": PERIODIC, "initial": {"flow": "uniform", "velocity": [0.05, 0.02, -0.01]},
        "force.acceleration": [0, 0, 0], "run": {"steps": steps}, "output": {
            "log": {"every": 0}, "series": {name: {"every": every, "of": "forces", "body": "body"} for name, every in (("all", 1), ("some", 4))},
            "fields": {"main": {"every": 1, "of": ["density", "velocity"], "precision": "fp64"}}}})
    momentum = numpy.array([numpy.nansum(result.field("density", number=n)[..., None] * result.field(number=n), axis=(0, 1, 2))
                            for n in range(steps + 1)])
    lost = numpy.concatenate([momentum[:1] - momentum[1:2], (momentum[:-2] - momentum[2:]) / 2]) / abs(momentum[0]).max()
    for name, every in ("all", 1), ("some", 4):
        rows = result.series(name)
        force = numpy.stack([rows["force_" + a] for a in "xyz"], axis=1) / abs(momentum[0]).max()
        force = force[:len(force) - (rows["step"][-1] == steps)]  # nothing is known after the last step
        case.at_most(f"stream, {wall}, every {every}: force less momentum lost", abs(force - lost[::every][:len(force)]).max(), 1e-12)
    case.at_most(f"stream, {wall}: rows of the same steps differ by",
                 abs(result.series("all")["force_x"][::4] - result.series("some")["force_x"]).max(), 0)


DUCT = {"complement": {"hole": {"box": {"from": [-20, 1.3, 2], "to": [20, 8.2, 9.6]}}}}
for wall in WALLS:
    driven("spheres", {"pack": {"lattice": "simple", "length": 16, "center": [8, 8, 8], "share": 0.216}}, wall, [16] * 3)
    driven("duct", DUCT, wall, [4, 10, 11])
    open_channel(wall)
    at_rest(wall)
each_step("halfway")
case.finish()
