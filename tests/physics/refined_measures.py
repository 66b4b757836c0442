#!/usr/bin/python3
"""What is measured on a refined grid, in units of level 0: beside one grid as fine as the finest level, beside the snapshot of all
levels, and by the balance of momentum. A ball turns in a periodic box, in a stream that a force drives.
"""
import json
import os
import sys

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
from runs import check, finish, load, tagflow, write

CELLS, CENTER, RADIUS = [28, 24, 24], [14.2, 12.1, 11.7], 2.6
VISCOSITY, ACCELERATION, SPIN, STEPS = 0.05, 4e-5, [2e-3, 3e-3, 4e-3], {2: 160, 3: 40}
POINTS = {"before": [8.3, 12.4, 12.1], "edge": [20.05, 12.3, 11.9], "wake": [17.9, 12.2, 11.6]}


def flow(finer, levels, steps):
    """The case with cells `finer` times finer than those of level 0; steps of these."""
    n = finer
    series = {"flow": {"every": n, "of": ["mass", "kinetic_energy", "enstrophy", "max_velocity"]},
              "force": {"every": n, "of": "forces", "body": "ball"},
              "line": {"every": 20 * n, "of": "line", "from": [0.5 * n, 5.1 * n, 11.2 * n], "to": [27.5 * n, 17.3 * n, 12.8 * n], "points": 80}}
    series |= {name: {"every": n, "of": "probe", "point": [n * x for x in at]} for name, at in POINTS.items()}
    series |= {f"plane{x}": {"every": 1, "of": "flow_rate", "axis": "x", "at": x} for x in range(CELLS[0]) if n == 1}
    case = {"domain": {"cells": [n * x for x in CELLS]}, "fluid": {"viscosity": VISCOSITY * n},
            "solver": {"collision": "trt", "storage": "fp64"}, "force": {"acceleration": [ACCELERATION / n, 0, 0]},
            "faces": {axis: "periodic" for axis in "xyz"}, "run": {"steps": steps * n}, "check": {"every": 40 * n},
            "bodies": {"ball": {"shape": {"sphere": {"center": [n * x for x in CENTER], "radius": n * RADIUS}},
                                "rotation": {"rate": [w / n for w in SPIN]}, "wall": "interpolated"}},
            "output": {"log": {"every": 0}, "series": series}}
    if levels > 1:
        case["refine"] = {"ball": {"level": levels - 1, "around": "ball", "distance": 4}}
        case["output"]["fields"] = {"all": {"every": steps, "of": ["velocity", "density"], "precision": "fp64"}}
    return case


def table(folder, name):
    return numpy.genfromtxt(f"{folder}/series/{name}.csv", delimiter=",", names=True)


def run(name, finer, levels, steps):
    said = tagflow("run", write(name + ".yaml", json.dumps(flow(finer, levels, steps))), "--output", name)
    check(said.code == 0, f"{name}: {said}")
    return said.code == 0


def columns(rows, names):
    return numpy.stack([rows[name] for name in names], -1)


def near(name, one, other, tolerance):
    """Compares values in time or along a line, beside the largest of them."""
    worst = numpy.abs(one - other).max() / numpy.abs(other).max()
    check(worst < tolerance, f"{name}: {worst:.2e} of the largest, below {tolerance:g}")


def beside_one_grid(folder, fine, finer):
    """Quantities of the fine grid times their unit in cells of level 0."""
    units = {"mass": finer**-3, "kinetic_energy": finer**-3, "enstrophy": 1 / finer, "max_velocity": 1}
    one, other = table(folder, "flow"), table(fine, "flow")
    half = len(one) // 2  # the start is a jump
    for name, unit in units.items():
        near(f"{folder}: {name}", one[name][half:], other[name][half:] * unit, 1e-7 if name == "mass" else 2e-3)
    one, other = table(folder, "force"), table(fine, "force")
    for what, unit, tolerance in ("force", finer**-2, 0.01), ("pressure", finer**-2, 0.02), ("torque", finer**-3, 2e-3):
        names = [f"{what}_{a}" for a in "xyz"]
        near(f"{folder}: {what}", columns(one, names)[half:], columns(other, names)[half:] * unit, tolerance)
    for name in list(POINTS) + ["line"]:
        one, other = table(folder, name), table(fine, name)
        names = [f"velocity_{a}" for a in "xyz"]
        good = ~numpy.isnan(one["velocity_x"]) & ~numpy.isnan(other["velocity_x"]) & (one["step"] > one["step"][-1] / 2)
        near(f"{folder}: velocity at {name}", columns(one, names)[good], columns(other, names)[good], 5e-3)


def balance(folder):
    """What the force gives, less what the ball takes, is what the momentum grows by; centred in time."""
    momentum = sum(table(folder, f"plane{x}")["mass_flow"] for x in range(CELLS[0]))
    mass, force = table(folder, "flow")["mass"], table(folder, "force")["force_x"]
    growth = (momentum[2:] - momentum[:-2]) / 2
    wanted = ACCELERATION * mass[1:-1] - force[1:-1]
    half = len(growth) // 2
    near(f"{folder}: balance of momentum", growth[half:], wanted[half:], 1e-4)
    check(force[-1] > 0.01 * ACCELERATION * mass[-1], f"{folder}: the ball takes {force[-1] / (ACCELERATION * mass[-1]):.2f} of the force")


def near_edge():
    """The balance of momentum of a cylinder two cells from the edge of its level, whose steps differ there, in the mean."""
    cells, acceleration, steps = [64, 40, 4], 2e-5, 800
    series = {"flow": {"every": 1, "of": ["mass"]}, "force": {"every": 1, "of": "forces", "body": "rod"},
              "seldom": {"every": 30, "of": "forces", "body": "rod"}}
    series |= {f"plane{x}": {"every": 1, "of": "flow_rate", "axis": "x", "at": x} for x in range(cells[0])}
    case = {"domain": {"cells": cells}, "fluid": {"viscosity": 0.003}, "solver": {"collision": "rr", "storage": "fp64"},
            "force": {"acceleration": [acceleration, 0, 0]}, "faces": {axis: "periodic" for axis in "xyz"}, "run": {"steps": steps},
            "initial": {"flow": "uniform", "velocity": [0.08, 0, 0]}, "refine": {"rod": {"level": 1, "around": "rod", "distance": 2}},
            "bodies": {"rod": {"shape": {"cylinder": {"center": [20.3, 20.2, 2], "axis": "z", "radius": 4.1}}, "wall": "interpolated"}},
            "output": {"log": {"every": 0}, "series": series}}
    said = tagflow("run", write("edge.yaml", json.dumps(case)), "--output", "edge")
    check(said.code == 0, f"edge: {said}")
    momentum = sum(table("edge", f"plane{x}")["mass_flow"] for x in range(cells[0]))
    mass, force = table("edge", "flow")["mass"], table("edge", "force")["force_x"]
    off = (acceleration * mass[1:-1] - force[1:-1] - (momentum[2:] - momentum[:-2]) / 2)[steps // 2:] / force[steps // 2:].mean()
    check(abs(off.mean()) < 1e-4, f"edge: the mean force differs by {off.mean():.1e}")
    seldom = table("edge", "seldom")
    check(len(seldom) == 27 and all(seldom["force_x"] == force[::30]), "edge: a row every 30 steps is that of every step")


def beside_snapshot(folder, steps):
    """Sums over the cells of the snapshot that no finer level covers."""
    mass = energy = fastest = 0
    with h5py.File(f"{folder}/fields/all_{steps:010d}.vtkhdf") as file:
        levels = [file["VTKHDF"][name] for name in sorted(file["VTKHDF"]) if name.startswith("Level")]
        whole = []
        for level, group in enumerate(levels):
            shape = [x << level for x in CELLS][::-1]
            rho, u, here = numpy.zeros(shape), numpy.zeros(shape + [3]), numpy.zeros(shape, bool)
            at = 0
            for box in group["AMRBox"]:
                place = tuple(slice(box[k], box[k + 1] + 1) for k in (4, 2, 0))
                count = rho[place].size
                rho[place] = group["CellData/density"][at:at + count].reshape(rho[place].shape)
                u[place] = group["CellData/velocity"][at:at + count].reshape(u[place].shape)
                here[place] = True
                at += count
            whole.append((rho, u, here))
    for level, (rho, u, here) in enumerate(whole):
        if level + 1 < len(whole):
            here &= ~whole[level + 1][2][::2, ::2, ::2]
        here &= (u != 0).any(-1)
        square = (u**2).sum(-1)
        mass += rho[here].sum() / 8**level
        energy += (rho * square)[here].sum() / 2 / 8**level
        fastest = max(fastest, numpy.sqrt(square[here].max()))
    row = table(folder, "flow")[-1]
    for name, value in ("mass", mass), ("kinetic_energy", energy), ("max_velocity", fastest):
        check(abs(row[name] / value - 1) < 1e-12, f"{folder}: {name} {row[name]!r}, by the snapshot {value!r}")


for levels, steps in STEPS.items():
    folder, fine = f"levels{levels}", f"fine{levels}"
    if run(folder, 1, levels, steps):
        check(len(load(folder, "report.json")["levels"]) == levels, f"{folder}: levels")
        balance(folder)
        beside_snapshot(folder, steps)
        if levels == 2 and run(fine, 2, 1, steps):
            beside_one_grid(folder, fine, 2)
near_edge()
finish()
