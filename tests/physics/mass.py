#!/usr/bin/python3
"""Mass of a cavity over 100,000 steps. Argument: fp64 | fp32; or of boxes with interpolated walls: held.

Reference: the mass at step 0, walls and lid adding none. The series' mass is an exact sum of what the
cells hold, so what drifts is the rounding of the steps. Tolerance: 1e-12 of the mass in fp64 and 1e-6 in
fp32; a rounding error of one sign, 1.1e-16 and 6e-8 a step, would make 1e-11 and 6e-3. A lid whose
momentum is scaled with the cell's density adds mass: 7 % in 40,000 steps.

held: interpolated walls make mass at every step, which the solver takes back (docs/bodies.md). Without, the bearing gains
1.9 % in 2000 steps, the row loses 0.1 %, and of two chambers one takes from the other. A pump that is two velocity patches
gives denser fluid than it draws: without, the circuit gains 1.3 % in 8000 steps. Tolerance: the least change that is
taken back, 1e-5 (fp16: 1e-4), and some steps of leak.
"""
import sys

import numpy

import case


def series(more=()):
    return {"series": {"flow": {"every": 100, "of": ["mass", "max_velocity"]}}, "log": {"every": 0}} | dict(more)


def cylinder(x, y, radius, **more):
    return {"shape": {"cylinder": {"center": [x, y, 0.5], "axis": "z", "radius": radius}}, "wall": "interpolated"} | more


def hole(*places):
    holes = {f"c{k}": {"cylinder": {"center": [x, y, 0.5], "axis": "z", "radius": 13}} for k, (x, y) in enumerate(places)}
    return {"shape": {"complement": {"all": {"union": holes}} if len(holes) > 1 else holes}, "wall": "interpolated"}


TURNS = {"rotation": {"rate": [0, 0, 0.006]}}
CLOSED = {"faces": {"x": "wall", "y": "wall", "z": "periodic"}, "fluid": {"viscosity": 0.025},
          "solver": {"collision": "trt", "storage": "fp64"}, "output": series(), "run.steps": 2000}
BEARING = CLOSED | {"domain.cells": [30, 30, 1],
                    "bodies": {"hole": hole((15, 15)), "shaft": cylinder(17.2, 14.7, 6, **TURNS)}}


def held(what, settings, tolerance=3e-4):
    """The largest relative change of mass."""
    run = case.run("couette", settings)
    flow = run.series()
    case.at_most(f"{what}: largest relative change of mass", numpy.abs(flow["mass"] / flow["mass"][0] - 1).max(), tolerance)
    return run, flow


def all_held():
    _, flow = held("bearing", BEARING)
    case.near("bearing: largest velocity over the shaft's", flow["max_velocity"][-1] / 0.036, 1, 0.01)
    held("bearing, fp16", BEARING | {"solver": {"collision": "trt", "storage": "fp16"}}, 5e-4)
    held("row", CLOSED | {"domain.cells": [40, 28, 1], "faces": {axis: "periodic" for axis in "xyz"},
                          "force": {"acceleration": [2e-5, 5e-6, 0]}, "bodies": {"c": cylinder(20.3, 14.1, 6.3)},
                          "solver": {"collision": "trt", "storage": "fp32"}}, 3e-5)
    held("body within two levels", CLOSED | {
        "domain.cells": [40, 40, 4], "refine": {"fine": {"level": 1, "box": {"from": [8, 8, 0], "to": [32, 32, 4]}}},
        "fluid": {"viscosity": 0.0125}, "run.steps": 1000, "bodies": {"shaft": cylinder(20.2, 19.7, 6, **TURNS)}}, 3e-5)
    run, _ = held("two chambers that lead through two levels", CLOSED | {
        "domain.cells": [60, 24, 4], "fluid": {"viscosity": 0.0125}, "run.steps": 1000,
        "refine": {"fine": {"level": 1, "box": {"from": [20, 0, 0], "to": [40, 24, 4]}}},
        "output": series({"fields": {"main": {"every": 1000, "of": "density", "levels": 0}}}),
        "bodies": {"wall": {"shape": {"box": {"from": [27.3, -5, -5], "to": [32.6, 29, 9]}}, "wall": "interpolated"},
                   "shaft": cylinder(9.2, 11.7, 6, **TURNS), "other": cylinder(50, 11.7, 6)}})
    density = run.field("density")
    for name, half in (("left", numpy.s_[:20]), ("right", numpy.s_[40:])):
        case.near(f"two chambers on levels: mean density on the {name}", density[half].mean(), 1, 2e-4)
    run, _ = held("two chambers", CLOSED | {
        "domain.cells": [60, 30, 1], "output": series({"fields": {"main": {"every": 2000, "of": "density"}}}),
        "bodies": {"hole": hole((15, 15), (45, 15)), "shaft": cylinder(17.2, 14.7, 6, **TURNS), "other": cylinder(45, 14.7, 6)}})
    density = run.field("density")  # 1 in solid cells
    for name, half in (("left", numpy.s_[:30]), ("right", numpy.s_[30:])):
        case.near(f"two chambers: mean density on the {name}", density[half].mean(), 1, 1e-4)

    patch = {"face": "xmin", "rectangle": {"from": [4, 0], "to": [12, 1]}}
    _, flow = held("circuit with a pump", CLOSED | {
        "domain.cells": [64, 32, 1], "run.steps": 8000, "bodies": {"wall": {"shape": {"box": {"from": [-1, 14, -1], "to": [40, 18, 2]}}}},
        "solver": {"collision": "trt", "storage": "fp32"},
        "patches": {"give": patch | {"velocity": {"value": [0.05, 0, 0]}},
                    "draw": patch | {"rectangle": {"from": [20, 0], "to": [28, 1]}, "velocity": {"value": [-0.05, 0, 0]}}}}, 3e-4)


if sys.argv[1] == "held":
    all_held()
    case.finish()
precision = sys.argv[1]
CELLS = 16
run = case.run("cavity_cube", {
    "domain.cells": [CELLS] * 3, "fluid": {"reynolds": 100, "velocity": 0.1, "length": CELLS},
    "solver": {"collision": "trt", "storage": precision}, "run.steps": 100000,
    "output": {"series": {"flow": {"every": 5000, "of": ["mass", "kinetic_energy", "max_velocity"]}}}})
flow = run.series()
drift = numpy.abs(flow["mass"] - CELLS**3).max() / CELLS**3
case.at_most(f"largest relative change of mass, {precision}", drift, 1e-12 if precision == "fp64" else 1e-6)
case.at_least("largest velocity over the lid's: the fluid moves", flow["max_velocity"][-1] / 0.1, 0.5)
case.finish()
