#!/usr/bin/python3
"""Plane Poiseuille flow between interpolated walls that lie anywhere between the cells.

Both walls are faces of one box, which goes on beyond the periodic ends: parts q of a link away from the outermost cells,
0.1 < q < 1. Reference: the parabola u = g/(2 nu) (y - y0)(y1 - y), which the rule of include/surface.h has in the cells
where magic = 3/16, at any viscosity. With another product Lambda = (tau+ - 1/2)(tau- - 1/2) the closure of a link keeps
(16/3) q^2 (Lambda - 3/16) times half the second derivative, so that the walls slip by that times g/(2 nu): at q = 1/2 the
known 4/3 (Lambda - 3/16) of half-way walls (Ginzburg, d'Humieres, Phys. Rev. E 68:066614, 2003). Between the walls it is
linear. Lambda is (tau - 1/2)^2 for BGK and (tau - 1/2)/2 for RR, whose third moments relax with 1. RR has the bulk rate omega
here: with another one the pressure varies across a channel by a part of u^2 (1.3e-4 at u = 0.05 and tau 2).

Tolerance: q is kept in fp32, off by 3e-8 at most, and the velocity beside a wall by that times the gradient 4 U/H there:
1.2e-8 U for the narrowest channel, H = 10; 2e-8 asked for. What the start lacks, exp(-pi^2 nu t / H^2), is below 1e-16.
The walls bear what the force gives to the fluid, g V, V the number of fluid cells: 1e-12, rounding of fp64.
"""
import numpy

import case

CELLS = 14
SPEED = 0.05
# Where the faces are: both q below 1/2, one above, both above; one very near a cell, one very far.
WALLS = (1.25, 11.6), (1.4, 12.3), (1.75, 12.2), (1.501, 11.499)
TRT, HALF = {"collision": "trt"}, (1, 11)


def slip(q, tau, solver):
    """Over g / (2 nu)."""
    magic = {"trt": solver.get("magic", 3 / 16), "bgk": (tau - 0.5)**2, "rr": (tau - 0.5) / 2}[solver["collision"]]
    return 16 / 3 * q**2 * (magic - 3 / 16)


def expected(low, high, tau, solver, unit):
    """Velocities in the fluid cells, and which those are."""
    y = numpy.arange(CELLS) + 0.5
    fluid = (y > low) & (y < high)
    y = y[fluid]
    slips = [slip(q, tau, solver) for q in (y[0] - low, high - y[-1])]
    return unit * ((y - low) * (high - y) + numpy.interp(y, (low, high), slips)), fluid


def across(values, axis):
    """Three numbers, of which the one along `axis` differs."""
    return [values[1] if a == axis else values[0] for a in range(3)]


def look_at(walls, tau, solver, axis=1, along=0):
    low, high = walls
    viscosity, height = (tau - 0.5) / 3, high - low
    force = 2 * viscosity * SPEED / (height / 2)**2
    steps = int(4 * height**2 / viscosity)
    push = [force if a == along else 0 for a in range(3)]
    run = case.run("poiseuille", {
        "solver": solver | {"storage": "fp64"}, "domain.cells": across((2, CELLS), axis),
        "fluid": {"viscosity": viscosity}, "faces": {"x": "periodic", "y": "periodic", "z": "periodic"},
        "bodies": {"walls": {"shape": {"box": {"from": across((-2, high), axis), "to": across((4, CELLS + low), axis)}},
                             "wall": "interpolated"}},
        "force.acceleration": push, "run.steps": steps,
        "output": {"log": {"every": 0}, "fields": {"main": {"every": steps, "of": "velocity", "precision": "fp64"}},
                   "series": {"walls": {"every": steps, "of": "forces", "body": "walls"}}}})
    velocity = numpy.moveaxis(run.field(), axis, 0)
    reference, fluid = expected(low, high, tau, solver, force / (2 * viscosity))
    name = f"walls at {low} and {high}, tau {tau}, {solver}, {'xyz'[along]}, {'xyz'[axis]}"
    error = numpy.abs(velocity[fluid][..., along] - reference[:, None, None]).max() / SPEED
    case.at_most(f"{name}: error in the worst cell", error, 2e-8)
    case.at_most(f"{name}: velocity across", numpy.abs(numpy.delete(velocity, along, -1)).max() / SPEED, 1e-12)
    borne = run.series("walls")["force_" + "xyz"[along]][-1] / (force * 4 * fluid.sum())
    case.near(f"{name}: force on the walls over g V", borne, 1, 1e-12)


for walls in WALLS:
    look_at(walls, 0.55, TRT)
    look_at(walls, 2, TRT)
look_at(HALF, 0.7, TRT)
look_at(WALLS[0], 0.7, TRT, axis=2, along=1)
look_at(WALLS[1], 0.7, TRT, axis=0, along=2)
for walls in WALLS[:3]:
    look_at(walls, 0.8, {"collision": "bgk"})
    look_at(walls, 1, {"collision": "trt", "magic": 0.01})
    look_at(walls, 2, {"collision": "rr", "rates": {"bulk": 0.5}})
case.finish()
