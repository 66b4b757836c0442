"""Flows in each pair of storage and arithmetic, for precision.py and scripts/precision.py: what rounding does to them.

An error is an rms over cells relative to that of the reference. "Beside fp64" means beside the same run with fp64 storage
and arithmetic, of which the error is the grid's: what is left is rounding. Lattice units.
"""
import numpy

import case
from centre import at, line
from reference import CAVITY_U, CAVITY_V
from vortex import Vortex

PAIRS = ("fp64", "fp64"), ("fp32", "fp64"), ("fp32", "fp32"), ("fp16", "fp32")  # storage, arithmetic
ONCE = 10**9  # every so many steps: at the end of the run alone
LAST = {"fields": {"main": {"every": ONCE, "of": "velocity", "precision": "fp64"}}}
CHANNEL = 16  # cells along a channel, which all do the same: a vector of the processor holds them


def solver(pair):
    return {"solver.storage": pair[0], "solver.arithmetic": pair[1]}


def relative(found, reference):
    return numpy.sqrt(((found - reference)**2).sum() / (reference**2).sum())


def channel(pair, height, viscosity, speed, start=0):
    """Plane Poiseuille flow driven by a force, `speed` in the middle, TRT with magic 3/16: u and the exact u in its cells,
    which fp64 has to rounding (poiseuille.py). From rest, or from a channel's profile `start` times as fast."""
    force = 8 * viscosity * speed / height**2
    initial = {"flow": "channel", "amplitude": start * speed, "perturbation": 0} if start else {"flow": "rest"}
    y = numpy.arange(height) + 0.5
    return straight(pair, height, viscosity, {"force.acceleration": [force, 0, 0], "initial": initial}), \
        force / (2 * viscosity) * y * (height - y)


def couette(pair, height, viscosity, speed):
    """Plane Couette flow from rest, a wall moving, likewise."""
    u = straight(pair, height, viscosity, {"force.acceleration": [0, 0, 0], "faces": {
        "x": "periodic", "ymin": "wall", "ymax": {"wall": {"velocity": [speed, 0, 0]}}, "z": "periodic"}})
    return u, speed * (numpy.arange(height) + 0.5) / height


def straight(pair, height, viscosity, settings):
    """u across a plane channel along x, once it is steady."""
    run = case.run("poiseuille", solver(pair) | settings | {
        "domain.cells": [CHANNEL, height, 1], "fluid": {"viscosity": viscosity},
        # exp(-pi^2 nu t / H^2) is left of the start, 1e-13
        "run.steps": round(3 * height**2 / viscosity), "output": LAST})
    u = run.field()[..., 0].mean(axis=(0, 2))
    run.remove()
    return u


def vortices(pair, cells, amplitude, viscosity=0.02):
    """Taylor's vortices until their velocity is 1/e of the start: velocity [x, y, component], kinetic energy over that of
    the start, relative change of mass."""
    steps = round(cells**2 / (2 * viscosity * (2 * numpy.pi)**2))
    run = case.run("taylor_green_2d", solver(pair) | {
        "domain.cells": [cells, cells, 1], "fluid": {"viscosity": viscosity}, "run.steps": steps,
        "initial": {"flow": "taylor_green_2d", "axis": "z", "amplitude": amplitude},
        "output": LAST | {"series": {"flow": {"every": steps, "of": ["mass", "kinetic_energy"]}}}})
    u, flow = run.field()[:, :, 0, :2], run.series()
    run.remove()
    return u, flow["kinetic_energy"][-1] / flow["kinetic_energy"][0], flow["mass"][-1] / flow["mass"][0] - 1


def cavity(pair, cells, steps, speed=0.1):
    """The square cavity at Re 1000: velocities over the lid's on its centre lines (u, v), at the places of Botella and
    Peyret's tables."""
    run = case.run("cavity", solver(pair) | {
        "domain.cells": [cells, cells, 1], "fluid": {"reynolds": 1000, "velocity": speed, "length": cells},
        "faces.ymax": {"wall": {"velocity": [speed, 0, 0]}}, "run.steps": steps, "output": LAST})
    velocity = run.field() / speed
    run.remove()
    return at(CAVITY_U[1:-1, 0], line(velocity[..., 0], 1, 1)), at(CAVITY_V[1:-1, 0], line(velocity[..., 1], 0, 0))


def box(pair, cells, steps):
    """A cube with a lid that moves, Re 100: by step, the mass over that of the start less 1, and the largest velocity
    over the lid's at the end."""
    run = case.run("cavity_cube", solver(pair) | {
        "domain.cells": [cells] * 3, "fluid": {"reynolds": 100, "velocity": 0.1, "length": cells}, "run.steps": steps,
        "output": {"series": {"flow": {"every": max(1, steps // 100), "of": ["mass", "max_velocity"]}}}})
    flow = run.series()
    run.remove()
    return dict(zip(flow["step"].astype(int), flow["mass"] / cells**3 - 1)), flow["max_velocity"][-1] / 0.1


def turbulence(pair, cells, end, operator):
    """The Taylor-Green vortex at Re 1600, V = 0.05, to t V/L = end: tests/physics/vortex.py."""
    found = Vortex(cells, 0.05, end, {"storage": pair[0], "arithmetic": pair[1], "collision": operator})
    found.run.remove()
    return found


def rock(pair):
    """Permeability of configs/rock.yaml along x, in cells squared."""
    run = case.run("rock", solver(pair) | {"output": {"series": {"k": {"every": 500, "of": "permeability", "axis": "x",
                                                                       "length": 64}}}}, large=True)
    k = run.series("k")["permeability"][-1]
    run.remove()
    return k
