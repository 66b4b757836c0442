#!/usr/bin/python3
"""A heated cylinder in a channel with inlet and outlet on a refined grid, beside one grid as fine as the finest level: Nusselt
number, heat balance and outlet temperature; files beside the checkpoint of the same step; the same bits on other ranks and after a
kill; results of one grid as the initial values of levels, and of levels as those of one grid.

Tolerances: inlet and outlet lie in cells of level 0, twice as wide as those of the fine grid, so what the flow brings to the
cylinder differs by their truncation, 1 % here. Heat passes an edge exactly: the balance is as good as the flow is steady.
"""
import json
import os
import struct
import sys

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, finish, load, near, run, table

CELLS, CENTER, RADIUS = [44, 24, 4], [16.0, 12.0, 2.0], 2.5
VELOCITY, VISCOSITY, DIFFUSIVITY, STEPS = 0.05, 0.025, 0.03, 2400
INLET, WALL = 301.0, 302.0


def flow(finer, levels, steps=STEPS, **changes):
    """The case with cells `finer` times finer than those of level 0; steps of level 0."""
    n, every = finer, 40 * finer
    rod = {"wall": "interpolated", "scalars": {"t": {"value": WALL}, "c": "adiabatic"},
           "shape": {"cylinder": {"center": [n * x for x in CENTER], "axis": "z", "radius": n * RADIUS}}}
    heat = {"every": every, "of": "heat", "scalar": "t"}
    case = {"domain": {"cells": [n * x for x in CELLS]}, "fluid": {"viscosity": VISCOSITY * n},
            "solver": {"collision": "trt", "storage": "fp64"},
            "scalars": {"t": {"kind": "heat", "diffusivity": DIFFUSIVITY * n, "reference": 300, "initial": INLET},
                        "c": {"kind": "species", "diffusivity": 2 * DIFFUSIVITY * n, "decay": 1e-3 / n, "initial": 0.2}},
            "faces": {"xmin": {"velocity": {"value": [VELOCITY, 0, 0], "profile": "parabola",
                                            "scalars": {"t": {"value": INLET}, "c": {"value": 0.2}}}},
                      "xmax": "pressure", "y": "wall", "z": "periodic"},
            "initial": {"flow": "inlet"}, "bodies": {"rod": rod}, "run": {"steps": steps * n},
            "check": {"every": 100 * n, "hang": "none"}, "checkpoint": {"every": steps * n // 2},
            "output": {"log": {"every": 0}, "series": {
                "rod": heat | {"body": "rod", "length": 2 * RADIUS * n, "difference": WALL - INLET},
                "in": heat | {"face": "xmin"}, "out": heat | {"face": "xmax"},
                "rate": {"every": every, "of": "flow_rate", "axis": "x", "at": n * CELLS[0] - 1},
                "t": {"every": every, "of": "scalar", "scalar": "t"}, "c": {"every": every, "of": "scalar", "scalar": "c"},
                "near": {"every": every, "of": "probe", "point": [n * 13.25, n * 9.75, n * 2.25]},
                "far": {"every": every, "of": "probe", "point": [n * 39.5, n * 4.5, n * 1.5]},
                "wake": {"every": steps * n // 2, "of": "line", "from": [n * 19.25, n * 12.25, n * 2.25],
                         "to": [n * 23.25, n * 12.25, n * 2.25], "points": 9}},
                "fields": {"one": {"every": steps * n, "of": ["velocity", "density", "t", "c"], "precision": "fp64",
                                   **({"levels": 1} if levels > 1 else {})}},
                "averages": {"late": {"every": every, "from": max(0, steps * n - 5 * every), "of": ["velocity", "t", "c"], "precision": "fp64"}},
                "images": {"middle": {"every": steps * n, "of": "t", "axis": "z", "at": 2 * n + n // 2, "range": [300, 302]}}}}
    if levels > 1:
        case["refine"] = {"rod": {"level": 1, "around": "rod", "distance": 4}}
        case["output"]["fields"]["all"] = {"every": steps, "of": ["velocity", "t", "c"], "precision": "fp64"}
        case["output"]["fields"]["plane"] = {"every": steps, "of": ["velocity", "density", "t"], "precision": "fp64", "levels": 1,
                                             "region": {"from": [0, 0, 2], "to": [*CELLS[:2], 3]}}
    for path, value in changes.items():
        case[path] = value
    return case


def outlet(folder):
    """Mean temperature of what leaves, above the reference, by the heat and the volume that leave."""
    return -table(folder, "out")["heat"][-1] / table(folder, "rate")["volume_flow"][-1]


def picture(folder):
    """Pixels of the only picture of the last step, as indices of the palette, [row, column]."""
    path = sorted(p for p in runs.tree(folder) if p.startswith("images/"))[-1]
    with open(os.path.join(folder, path), "rb") as file:
        header, _, data = runs.png_pixels(file.read())
    width, height = struct.unpack(">II", header[:8])
    rows = numpy.frombuffer(data, numpy.uint8).reshape(height, width + 1)
    check(not rows[:, 0].any(), f"{folder}: rows of the picture are not filtered")
    return rows[:, 1:].astype(int)


def beside_one_grid(folder, fine):
    near("Nusselt number", table(folder, "rod")["nusselt"][-1], table(fine, "rod")["nusselt"][-1], 0.01)
    near("flux of the cylinder", table(folder, "rod")["flux"][-1], table(fine, "rod")["flux"][-1], 0.01)
    near("heat of the cylinder", table(folder, "rod")["heat"][-1], table(fine, "rod")["heat"][-1] / 4, 0.01)
    near("heat of the inlet", table(folder, "in")["heat"][-1], table(fine, "in")["heat"][-1] / 4, 0.01)
    near("outlet temperature less that of the inlet", outlet(folder) - (INLET - 300), outlet(fine) - (INLET - 300), 0.01)
    for grid in folder, fine:
        through = [table(grid, name)["heat"][-2:].mean() for name in ("in", "rod", "out")]
        stored = numpy.diff(table(grid, "t")["sum"][-2:]) / numpy.diff(table(grid, "t")["step"][-2:])
        check(abs(sum(through) - stored) < 0.01 * through[1],
              f"{grid}: heat in {through[0]:.5g} + {through[1]:.5g}, out {-through[2]:.5g}, stored {float(stored):.5g}")
    area = table(folder, "rod")["heat"][-1] / table(folder, "rod")["flux"][-1] / (2 * numpy.pi * RADIUS * CELLS[2])
    check(abs(area - 1) < 0.01, f"area of the cylinder: {area:.4f} of the true one")
    for name in "t", "c":
        one, other = table(folder, name), table(fine, name)
        near(f"mean of {name}", one["mean"][-1], other["mean"][-1], 1e-4 if name == "t" else 0.005)
        near(f"sum of {name}", one["sum"][-1], other["sum"][-1] / 8, 0.005)
        near(f"variance of {name}", one["variance"][-1], other["variance"][-1], 0.02)
        for end in "minimum", "maximum":
            near(f"{end} of {name}", one[end][-1], other[end][-1], 1e-4 if name == "t" else 0.01)
    for name in "near", "far":
        near(f"probe {name}", table(folder, name)["t"][-1] - 300, table(fine, name)["t"][-1] - 300, 0.01)
    near("line", table(folder, "wake")["t"][-9:] - 300, table(fine, "wake")["t"][-9:] - 300, 0.01)
    one, other = picture(folder), picture(fine)
    if check(one.shape == other.shape, f"pictures of {one.shape} and {other.shape} pixels"):
        check((numpy.abs(one - other) > 4).mean() < 0.02, f"pictures: {(numpy.abs(one - other) > 4).mean():.4f} of the pixels differ by more than 1.6 % of the range")


def values(folder, name, level, step=STEPS):
    """Values of a scalar in a checkpoint, above the reference, [z, y, x] in the level's box, and its first cell. Fluid of capacity 1
    without sources: the sum of the populations, and half a step of decay."""
    with h5py.File(f"{folder}/checkpoints/step_{step:010d}.h5") as file:
        data = file[f"cells/sets/{name}_{level}"]
        half = 0 if name == "t" else 0.5e-3 / 2**level
        return data[:].sum(1) / (1 + half), data.attrs["first_cell"]


def as_in_the_checkpoint(folder):
    for name, reference in ("t", 300), ("c", 0):
        (coarse, _), (fine, (x, y, z)) = values(folder, name, 0), values(folder, name, 1)
        nz, ny, nx = fine.shape
        held = fine != 0
        with h5py.File(f"{folder}/fields/one_{STEPS:010d}.vtkhdf") as file:
            data = file["VTKHDF/PointData"][name][:] - reference
        near(f"{name} of level 1 in cells of level 1", data[z:z + nz, y:y + ny, x:x + nx][held], fine[held], 1e-12)
        copies = coarse.repeat(2, 0).repeat(2, 1).repeat(2, 2)
        near(f"{name} of level 0 in cells of level 1", data[copies != 0], copies[copies != 0], 1e-12)
        with h5py.File(f"{folder}/fields/all_{STEPS:010d}.vtkhdf") as file:
            data = file["VTKHDF/Level0/CellData"][name][:].reshape(coarse.shape) - reference
            boxes = file["VTKHDF/Level1/AMRBox"][:]
            finer = file["VTKHDF/Level1/CellData"][name][:] - reference
        near(f"{name} of level 0 in the file of all levels", data[coarse != 0], coarse[coarse != 0], 1e-12)
        parts = fine.reshape(nz // 2, 2, ny // 2, 2, nx // 2, 2)
        count = (parts != 0).sum((1, 3, 5))
        mean = parts.sum((1, 3, 5)) / numpy.maximum(count, 1)
        inside = data[z // 2:(z + nz) // 2, y // 2:(y + ny) // 2, x // 2:(x + nx) // 2]
        near(f"means of {name} in covered cells", inside[count > 0], mean[count > 0], 1e-12)
        at = 0
        for x0, x1, y0, y1, z0, z1 in boxes:
            part = fine[z0 - z:z1 - z + 1, y0 - y:y1 - y + 1, x0 - x:x1 - x + 1]
            size = part.size
            worst = numpy.abs(finer[at:at + size].reshape(part.shape) - part).max()
            check(worst < 1e-12, f"{name} in the box of level 1 from {x0}, {y0}, {z0}: {worst:.1e}")
            at += size
    fine, (x, y, z) = values(folder, "t", 1)
    coarse = values(folder, "t", 0)[0]
    near("the probe of level 1", table(folder, "near")["t"][-1] - 300, fine[4 - z, 19 - y, 26 - x], 1e-12)
    near("the probe of level 0", table(folder, "far")["t"][-1] - 300, coarse[1, 4, 39], 1e-12)
    near("the line", table(folder, "wake")["t"][-9:] - 300, fine[4 - z, 24 - y, 38 - x:47 - x], 1e-12)
    with h5py.File(f"{folder}/fields/plane_{STEPS:010d}.vtkhdf") as file:
        data = file["VTKHDF/PointData/t"][:] - 300
    held = fine[4 - z:6 - z] != 0
    ny, nx = fine.shape[1:]
    near("the plane", data[:, y:y + ny, x:x + nx][held], fine[4 - z:6 - z][held], 1e-12)
    with h5py.File(f"{folder}/fields/late_{STEPS:010d}.vtkhdf") as file:
        mean, flux = [file["VTKHDF/Level0/CellData"][name][:] for name in ("t_mean", "t_flux")]
    near("the average of a steady flow", mean.reshape(coarse.shape)[coarse != 0] - 300, coarse[coarse != 0], 1e-3)
    check(numpy.abs(flux).max() < 1e-4, f"the average's flux of fluctuations in a steady flow: {numpy.abs(flux).max():.1e}")


def same(folder, other):
    different = runs.differences(runs.results(folder), runs.results(other))
    check(not different and load(folder, "report.json")["hashes"] == load(other, "report.json")["hashes"], f"{other}: the same as {folder}: {different}")


def go_on(name, finer, levels, earlier):
    """Goes on from a result of another grid: sums and the cylinder's heat, of level 0, hardly change."""
    case = flow(finer, levels, 80)
    case["initial"] = {"from": earlier}
    for scalar in case["scalars"].values():
        del scalar["initial"]
    if run(name, case):
        for scalar in "t", "c":
            now, then = table(name, scalar), table("levels", scalar)
            near(f"{name}: sum of {scalar}", now["sum"] / finer**3, then["sum"][-1] + 0 * now["sum"], 0.005)
            near(f"{name}: variance of {scalar}", now["variance"], then["variance"][-1] + 0 * now["variance"], 0.05)
        near(f"{name}: heat of the cylinder", table(name, "rod")["heat"][-1] / finer**2, table("levels", "rod")["heat"][-1], 0.03)


def cavity(finer, levels, steps, expansion, **initial):
    """A cavity heated at one side, with finer cells there; buoyancy drives its flow."""
    n, every = finer, 10 * finer
    t = {"kind": "heat", "diffusivity": 0.02 * n, "reference": 300, "expansion": expansion} | ({} if initial else {"initial": 300})
    wall = {side: {"wall": {"scalars": {"t": {"value": value}}}} for side, value in (("xmin", 301), ("xmax", 299))}
    heat = {"every": every, "of": "heat", "scalar": "t", "length": 24 * n, "difference": 2}
    case = {"domain": {"cells": [24 * n, 24 * n, 4 * n]}, "fluid": {"viscosity": 0.02 * n}, "scalars": {"t": t},
            "solver": {"collision": "trt", "storage": "fp64"}, "force": {"gravity": [0, -1e-5 / n, 0]},
            "faces": wall | {"y": "wall", "z": "periodic"}, "run": {"steps": steps * n}, "check": {"every": 100 * n, "hang": "none"},
            "output": {"log": {"every": 0}, "series": {"flow": {"every": every, "of": ["kinetic_energy", "max_velocity"]},
                                                       "hot": heat | {"face": "xmin"}, "cold": heat | {"face": "xmax"}}}}
    if levels > 1:
        case["refine"] = {"hot": {"level": 1, "box": {"from": [0, 0, 0], "to": [8, 24, 4]}}}
    return case | ({"initial": initial} if initial else {})


def convection():
    """Heat through a cavity; and with twice the buoyancy from there, whose pressure is balanced at once: no sound runs through it."""
    steps = 1500
    if run("cavity", cavity(1, 2, steps, 0.2), ranks=2) and run("cavity_fine", cavity(2, 1, steps, 0.2), ranks=2):
        near("Nusselt number of a cavity", table("cavity", "hot")["nusselt"][-1], table("cavity_fine", "hot")["nusselt"][-1], 0.01)
        balance = table("cavity", "hot")["heat"][-1] / table("cavity", "cold")["heat"][-1]
        check(abs(balance + 1) < 0.01, f"heat out of a cavity over heat into it: {-balance:.4f}")
        near("velocity of a cavity", table("cavity", "flow")["max_velocity"][-1], table("cavity_fine", "flow")["max_velocity"][-1], 0.01)
        earlier = {"from": f"cavity_fine/checkpoints/step_{2 * steps:010d}.h5"}
        if run("stronger", cavity(1, 2, 40, 0.4, **earlier)) and run("stronger_fine", cavity(2, 1, 40, 0.4, **earlier)):
            for column, unit in ("kinetic_energy", 8), ("max_velocity", 1):
                one, other = table("stronger", "flow")[column], table("stronger_fine", "flow")[column] / unit
                near(f"{column} after the buoyancy has doubled", one, other, 0.01)


convection()
whole = flow(1, 2)
if run("levels", whole, ranks=2) and run("fine", flow(2, 1), ranks=2):
    beside_one_grid("levels", "fine")
    as_in_the_checkpoint("levels")
    end = f"{2 * STEPS:010d}"
    for earlier in f"fine/checkpoints/step_{end}.h5", f"fine/fields/one_{end}.vtkhdf":
        go_on("levels_from_" + earlier.split("/")[1], 1, 2, earlier)
    go_on("fine_from_levels", 2, 1, f"levels/fields/one_{STEPS:010d}.vtkhdf")
    go_on("levels_from_levels", 1, 2, f"levels/fields/one_{STEPS:010d}.vtkhdf")
    for name, words in ("all", "several levels of cells (take a snapshot of the whole box with `levels: 0`"), \
                       ("plane", "a region of its box (take a snapshot of all of it)"):
        said = runs.tagflow("check", "--verbose", "levels_from_levels.yaml", *runs.sets({"initial.from": f"levels/fields/{name}_{STEPS:010d}.vtkhdf"}))
        check(said.code == 2 and len(said.errors) == 1 and words in said.errors[0], f"from {name}: {said}")
short = flow(1, 2, 120)
if run("short", short) and run("ranks", short, ranks=3):
    same("short", "ranks")
    job = runs.Job("killed", ranks=2, restart=None, case="short.yaml", settings={"run.steps": 4000})
    if job.wait_for(lambda: 60 in runs.checkpoint_steps("killed"), "a checkpoint"):
        job.signal_ranks(9)
        job.end()
        for step in runs.checkpoint_steps("killed"):
            if step > 60:
                os.remove(f"killed/checkpoints/step_{step:010d}.h5")
        if run("killed", short, "--restart", "auto", ranks=3):
            same("short", "killed")
stopped = flow(1, 2, 600)
stopped["run"]["stop"] = {"of": "rod.heat", "over": 80, "change": 0.1}
if run("stopped", stopped):
    steps = load("stopped", "report.json")["step"]
    check(80 < steps < 600, f"stops by the heat of the cylinder at step {steps}")
finish()
