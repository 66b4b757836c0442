#!/usr/bin/python3
"""Porous regions, screens and rotating frames.

References: a is the acceleration, D = nu/k, f = 2 Omega.

  a porous channel      nu u'' - D u + a = 0: u = a/D (1 - cosh(m y)/cosh(m h)), m^2 = D/nu (Brinkman, Appl. Sci. Res. A 1:27, 1947)
  a layer in a channel  the same in the layer, nu u'' + a = 0 beside it; velocity and stress are continuous
  a plug                the pressure falls by D u + loss u^2/2 in a length, at a screen by loss u_n^2/2
  inertial oscillation  the velocity turns by -2 Omega a step
  Ekman layer           U = u + i v: i f U = a + nu U'' between a wall and a plane of symmetry
                        (Greenspan, The Theory of Rotating Fluids, 1968, section 1.4)
  through a frame       U v' = -f U + nu v'': v falls by f in a length while U is constant, and the pressure rises by f v
"""
import numpy

import case

NU = 0.1


def places(cells):
    return numpy.arange(cells) + 0.5 - cells / 2


def porous(**numbers):
    return {"plug": {"box": "all", "resistance": numbers}}


def channel(cells, steps, solver=None, **more):
    """The profile across a channel between walls, and its change in the last step."""
    run = case.run("poiseuille", {
        "solver": {"collision": "trt", "storage": "fp64"} | (solver or {}), "domain.cells": [4, cells, 1], "fluid": {"viscosity": NU},
        "faces": {"x": "periodic", "y": "wall", "z": "periodic"}, "run.steps": steps + 1,
        "output": {"fields": {"main": {"every": steps, "of": ["velocity"], "precision": "fp64"}}}} | more)
    u = run.field()[0, :, 0, 0]
    return u, abs(u - run.field(number=-2)[0, :, 0, 0]).max() / abs(u).max()


# A porous channel, and a porous layer over half of one: heights of 8 lengths sqrt(k).
CELLS = 16, 32, 64
errors, layers = [], []
for cells in CELLS:
    k, a, h = (cells / 8)**2, 0.01 * NU / cells**2, cells / 2
    steps = 4 * cells**2
    u, change = channel(cells, steps, regions=porous(permeability=k), **{"force.acceleration": [a, 0, 0]})
    exact = a * k / NU * (1 - numpy.cosh(places(cells) / k**0.5) / numpy.cosh(h / k**0.5))
    errors.append(abs(u - exact).max() / exact.max())
    u, change = channel(cells, 3 * steps, **{"force.acceleration": [a, 0, 0], "regions": {
        "layer": {"box": {"from": [0, 0, 0], "to": [4, cells // 2, 1]}, "resistance": {"permeability": k}}}})
    case.at_most(f"porous layer, {cells} cells: change in the last step", change, 1e-5)
    # below: A (cosh(m (y + h)) - 1) + B sinh(m (y + h)) - ..., above: a parabola through the wall; two conditions at y = 0
    m, s, c = k**-0.5, numpy.sinh(h * k**-0.5), numpy.cosh(h * k**-0.5)
    # u = a k/nu (1 - cosh(m (y + h))) + B sinh(m (y + h)) below, C (h - y) + a/(2 nu) (h^2 - y^2) above
    matrix = numpy.array([[s, -h], [m * c, 1]])
    right = numpy.array([a * h**2 / (2 * NU) - a * k / NU * (1 - c), a * k / NU * m * s])
    B, C = numpy.linalg.solve(matrix, right)
    y = places(cells)
    exact = numpy.where(y < 0, a * k / NU * (1 - numpy.cosh(m * (y + h))) + B * numpy.sinh(m * (y + h)), C * (h - y) + a / (2 * NU) * (h**2 - y**2))
    layers.append(abs(u - exact).max() / exact.max())
case.at_most(f"porous channel: error with {CELLS[-1]} cells", errors[-1], 0.002)
case.at_least("porous channel: order", case.order(CELLS, errors), 1.9)
case.at_most(f"porous layer: error with {CELLS[-1]} cells", layers[-1], 0.002)
case.at_least("porous layer: order", case.order(CELLS, layers), 1.7)

# Permeabilities far below a cell, and the same in fp32; a start state that such a region stops at once.
for k, storage in (1e-1, "fp64"), (1e-3, "fp64"), (1e-1, "fp32"):
    u, _ = channel(16, 3000, {"storage": storage}, regions=porous(permeability=k), **{"force.acceleration": [1e-6, 0, 0]})
    case.at_most(f"permeability {k:g}, {storage}: difference from Darcy's velocity", abs(u[8] * NU / (1e-6 * k) - 1), 1e-4)
u, _ = channel(16, 1000, regions=porous(permeability=1e-5), initial={"flow": "uniform", "velocity": [0.1, 0.05, 0]})
case.at_most("a stopped flow: largest velocity", abs(u).max(), 1e-4)

# A plug, a screen and both kinds of resistance along other axes: the force on the fluid is what they take.
A = 1e-6
through = {"cells": [64, 2, 2], "lo": [20, 0, 0], "hi": [36, 2, 2], "length": 16}


def periodic(region, steps, solver=None, acceleration=(A, 0, 0), **more):
    run = case.run("poiseuille", {
        "solver": {"collision": "trt", "storage": "fp64"} | (solver or {}), "domain.cells": [64, 4, 4], "fluid": {"viscosity": NU},
        "faces": {"x": "periodic", "y": "periodic", "z": "periodic"}, "run.steps": steps, "force.acceleration": list(acceleration),
        "regions": {"plug": {"box": {"from": [20, 0, 0], "to": [36, 4, 4]}} | region},
        "output": {"fields": {"main": {"every": steps, "of": ["velocity", "density"], "precision": "fp64"}}}} | more)
    rho = run.field("density")
    return run.field()[..., 0] * rho, rho


D, loss = 0.05, 8.
for name, region, wanted in [
        ("Darcy", {"resistance": {"permeability": NU / D}}, 64 * A / (16 * D)),
        ("Darcy and Forchheimer", {"resistance": {"permeability": NU / D, "loss": loss}},
         (-D + (D**2 + 2 * loss * 64 * A / 16)**0.5) / loss),
        ("Forchheimer", {"resistance": {"loss": loss}}, (2 * 64 * A / (16 * loss))**0.5),
        ("screen", {"screen": {"axis": "x", "loss": 4}}, (2 * 64 * A / 4)**0.5),
        ("along x of three", {"resistance": {"permeability": [NU / D, 1e-3, 2e-3], "loss": [loss, 3, 50]}},
         (-D + (D**2 + 2 * loss * 64 * A / 16)**0.5) / loss)]:
    flux, rho = periodic(region, 60000 if "Darcy" in name or "three" in name else 300000)
    case.at_most(f"{name}: difference of the mass flux", abs(flux / wanted - 1).max(), 1e-3)

# An oscillation of the whole fluid: no part of the speed is lost, and the angle is that of the trapezoidal rule, 2 atan(Omega) a step.
for storage, tolerance in ("fp64", 1e-9), ("fp32", 1e-4):
    omega, steps = 0.003, 1000
    run = case.run("poiseuille", {
        "solver": {"collision": "trt", "storage": storage}, "domain.cells": [4, 4, 4], "fluid": {"viscosity": NU},
        "faces": {"x": "periodic", "y": "periodic", "z": "periodic"}, "run.steps": steps, "force": {"rotation": [0, 0, omega]},
        "initial": {"flow": "uniform", "velocity": [0.03, 0, 0.01]},
        "output": {"fields": {"main": {"every": steps, "of": ["velocity"], "precision": "fp64"}}}})
    u = run.field()[0, 0, 0]
    angle = -2 * steps * numpy.arctan(omega)
    wanted = numpy.array([0.03 * numpy.cos(angle), 0.03 * numpy.sin(angle), 0.01])
    case.at_most(f"inertial oscillation, {storage}: error of the velocity", abs(u - wanted).max() / 0.03, tolerance)


# An Ekman layer on a wall, by several operators, with a level and with a law of the viscosity.
def ekman(cells, **more):
    solver = {"collision": "trt", "storage": "fp64"} | more.pop("solver", {})
    delta = cells / 5  # sqrt(nu/Omega)
    omega, steps = NU / delta**2, int(8 * cells**2 / NU)
    speed = 0.01
    run = case.run("poiseuille", {
        "solver": solver, "domain.cells": [4, 4, cells], "fluid": {"viscosity": NU}, "run.steps": steps,
        "faces": {"x": "periodic", "y": "periodic", "zmin": "wall", "zmax": "slip"},
        "force": {"acceleration": [0, 2 * omega * speed, 0], "rotation": [0, 0, omega]},
        "initial": {"flow": "uniform", "velocity": [speed, 0, 0]},
        "output": {"fields": {"main": {"every": steps, "of": ["velocity"], "precision": "fp64"}}}} | more)
    u = run.field()[0, 0]
    root = (2j * omega / NU)**0.5
    z = numpy.arange(cells) + 0.5
    wanted = speed * (1 - numpy.cosh(root * (cells - z)) / numpy.cosh(root * cells))
    return abs(u[:, 0] + 1j * u[:, 1] - wanted).max() / speed


CELLS = 20, 40
errors = [ekman(cells) for cells in CELLS]
case.at_most(f"Ekman layer: error with {CELLS[-1]} cells", errors[-1], 0.002)
case.at_least("Ekman layer: order", case.order(CELLS, errors), 1.9)
for collision in "bgk", "mrt", "central", "hermite", "central_hermite", "cumulant", "gauss_hermite", "rr":
    case.at_most(f"Ekman layer, {collision}: error", ekman(20, solver={"collision": collision}), 0.02)
case.at_most("Ekman layer, fp32: error", ekman(20, solver={"storage": "fp32"}), 0.02)
case.at_most("Ekman layer, a law of index 1: error", ekman(
    20, fluid={"viscosity": NU, "law": {"power": {"index": 1, "shear_rate": 0.001}}}), 0.02)
case.at_most("Ekman layer, a level on the wall: error", ekman(
    20, refine={"wall": {"level": 1, "box": {"from": [0, 0, 0], "to": [4, 4, 8]}}}, **{"output.fields.main.levels": 0}), 0.02)

# From an inlet to an outlet of a rotating frame, and of a porous one: the nodes have the velocity that is given.
for kind in "rotating", "porous":
    omega, D, speed, length, steps = 2e-4, 0.01, 0.02, 32, 20000
    x = numpy.arange(length)  # from node to node
    falls = ((speed**2 + 4 * NU * D)**0.5 - speed) / (2 * NU)
    along = -2 * omega * x if kind == "rotating" else 0.01 * numpy.exp(-x * falls)
    for outlet in "pressure", "nonreflecting":
        run = case.run("poiseuille", {
            "solver": {"collision": "trt", "storage": "fp64"}, "domain.cells": [length, 4, 4], "fluid": {"viscosity": NU}, "run.steps": steps,
            "force": {"rotation": [0, 0, omega]} if kind == "rotating" else {}, "initial": {"flow": "rest"},
            **({} if kind == "rotating" else {"regions": porous(permeability=NU / D)}),
            "faces": {"xmin": {"velocity": {"value": [speed, float(along[0]), 0], "ramp": 2000}},
                      "xmax": {outlet: {"velocity": [0, float(along[-1]), 0]}}, "y": "periodic", "z": "periodic"},
            "output": {"fields": {"main": {"every": steps, "of": ["velocity", "density"], "precision": "fp64"}}}})
        u, rho = run.field()[:, 0, 0], run.field("density")[:, 0, 0]
        case.at_most(f"from an inlet, {kind}, {outlet}: error across", abs(u[:, 1] - along).max() / 0.01, 0.01)
        case.at_most(f"from an inlet, {kind}, {outlet}: change of the flow rate", abs(u[:, 0] * rho / (u[0, 0] * rho[0]) - 1).max(), 1e-3)


# A Taylor column: slow flow over a step of a third of the depth goes round it at all heights. With weak rotation it goes over it.
def over_step(omega, speed=0.005, cells=(64, 64, 24), radius=8, height=8):
    steps = 6000
    run = case.run("poiseuille", {
        "solver": {"collision": "trt", "storage": "fp32"}, "domain.cells": list(cells), "fluid": {"viscosity": 0.01}, "run.steps": steps,
        "faces": {"x": "periodic", "y": "periodic", "z": "slip"},
        "force": {"acceleration": [0, 2 * omega * speed, 0], "rotation": [0, 0, omega]}, "initial": {"flow": "uniform", "velocity": [speed, 0, 0]},
        "bodies": {"step": {"shape": {"cylinder": {"center": [32, 32, 4], "axis": "z", "radius": radius, "length": height}}}},
        "output": {"fields": {"main": {"every": steps, "of": ["velocity"], "precision": "fp64"}}}})
    u = run.field()[28:36, 28:36, height + 2:]  # within half of its radius
    return numpy.hypot(u[..., 0], u[..., 1]).mean(axis=(0, 1)) / speed


column = over_step(0.005)
free = over_step(0.0001)
case.at_most("Taylor column: speed over the step", column.max(), 0.3)
case.at_most("Taylor column: its change with the height", column.max() - column.min(), 0.05)
case.at_least("weak rotation: speed over the step near the surface", free[-1], 0.9)
case.finish()
