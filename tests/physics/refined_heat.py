#!/usr/bin/python3
"""Scalars on refined grids, in fp64, by the values in checkpoints.

- sums: what a scalar holds stays in a closed box to rounding, but for the flux of a wall and the source of a body that conducts: regions at
  random, a wall that moves, buoyancy.
- conduction: a linear profile between two walls of given value, or of heat transfer, is kept, whatever edges cross it (all are exact).
- waves: a sine that flows at an angle across a box of level 1 and decays converges at second order, with an error near that of one grid.
- cavity: a side-heated cavity at Ra = 10^4 with two levels at the walls has the Nusselt number 2.2448 (de Vahl Davis 1983: 2.243;
  Le Quere 1991: 2.2448) within 1 %.
- rows: in a cavity whose flow runs along the edges of a level at its hot wall, the rows of `heat` add up to the change of `sum`, though the
  steps of a level differ there; rows at intervals are those of every step, and after a restart, with the limiter, too.
- labels: two labels of an image, one that conducts and one whose value follows a table, give the hashes of two boxes.
- limiter: a block at a cell Peclet number of 10^4 crosses both edges of a level and stays between the given values.
"""
import json
import os
import random
import subprocess

import h5py
import numpy

import case
import heat

WALLS = {"x": "wall", "y": "wall", "z": "wall"}


class Levels:
    """Values of a checkpoint, [level][x, y, z] in the box of the level; NaN: not a cell that holds the scalar on this level."""

    def __init__(self, result, name="t", number=-1, source=0.0, decay=0.0):
        self.sums, self.first, self.moving = [], [], []
        with h5py.File(result._files()[number]) as file:
            for level in range(9):
                if f"cells/sets/{name}_{level}" not in file:
                    break
                data = file[f"cells/sets/{name}_{level}"]
                g = data[...].astype(float).transpose(3, 2, 0, 1)
                held = (g != 0).any(axis=-1)
                self.sums.append(numpy.where(held, g.sum(axis=-1), numpy.nan))
                self.first.append(data.attrs["first_cell"])
        # half a step's source is not in the populations
        self.values = [(e + source / 2**(l + 1)) / (1 + decay / 2**(l + 1)) for l, e in enumerate(self.sums)]

    def total(self):
        """The sum of the populations of all levels in cells of level 0."""
        return sum(numpy.nansum(e.astype(numpy.longdouble)) / 8**l for l, e in enumerate(self.sums))

    def centres(self, level):
        """Cell centres [x, y, z, axis] in cells of level 0."""
        axes = [(f + numpy.arange(n) + 0.5) / 2**level for f, n in zip(self.first[level], self.values[level].shape)]
        return numpy.stack(numpy.meshgrid(*axes, indexing="ij"), axis=-1)

    def errors(self, exact):
        """Largest and root mean square difference from exact(x, y, z)."""
        worst, square, volume = 0, 0, 0
        for level, values in enumerate(self.values):
            difference = values - exact(*numpy.moveaxis(self.centres(level), -1, 0))
            worst = max(worst, numpy.nanmax(numpy.abs(difference)))
            square += numpy.nansum(difference**2) / 8**level
            volume += (~numpy.isnan(values)).sum() / 8**level
        return worst, numpy.sqrt(square / volume)


def box(level, lower, upper):
    return {"level": level, "box": {"from": lower, "to": upper}}


# ---- sums ----

def sums(number, storage="fp64", every=12):
    """Relative changes of the sums of two scalars between two checkpoints, the first less what the body and a wall add, which is added."""
    r = random.Random(number)
    cells = [48, 32, 32]
    flux, source = 2e-3, 1e-3
    faces = {a: r.choice(["periodic", "wall", "slip"]) for a in "xy"}
    faces |= {"zmin": {"wall": {"scalars": {"t": {"flux": flux}}}}, "zmax": {"wall": {"velocity": [0.05, 0.02, 0]}}}
    regions = {"around": {"level": 1, "around": "ball", "distance": 6}}
    for k in range(3):
        lower = [r.randrange(0, n // 2) for n in [20, 32, 32]]
        regions[f"r{k}"] = box(r.choice([1, 1, 2]), lower, [min(n, a + r.randrange(3, 14)) for a, n in zip(lower, [21, 32, 32])])
    text = heat.settings(
        cells, faces, {"t": {"diffusivity": 0.02, "expansion": 0.01, "initial": {
            "value": 1, "wave": {"amplitude": 0.5, "waves": [1, 1, 1]},
            "shapes": {"a": {"sphere": {"center": [r.uniform(5, n - 5) for n in cells], "radius": 4}, "value": 2}}}},
                       "u": {"diffusivity": 1e-4, "limiter": "on", "initial": {"value": 0.5, "wave": {"amplitude": 0.5, "waves": [2, 1, 0]}}}},
        refine=regions, run={"steps": 3 * every}, force={"gravity": [0, -0.01, 0]},
        bodies={"ball": {"shape": {"sphere": {"center": [36, 16, 16], "radius": 3}},
                         "scalars": {"t": {"conduct": {"conductivity": 0.3, "capacity": 2, "source": source}}}}})
    text["solver"] = {"storage": storage, "arithmetic": "fp64" if storage == "fp64" else "fp32"}
    done = heat.run(text, every=every)
    with h5py.File(done._files()[-1]) as file:
        g, f = file["cells/sets/t_1"][...], file["cells/populations_1"][...]
    solid = ((g != 0).any(axis=1) & (f == 0).all(axis=1)).sum()
    made = (solid * source / 8 + flux * cells[0] * cells[1]) * 2 * every
    t, u = ([Levels(done, name, number).total() for number in (0, -1)] for name in "tu")
    return float((t[1] - t[0] - made) / t[0]), float(u[1] / u[0] - 1), made


# ---- conduction ----

def conduction(regions, lower, upper, exact):
    """Largest error of a profile after the flux has settled, which it does by a factor e in 26 steps."""
    faces = {"x": "periodic", "z": "periodic", "ymin": {"wall": {"scalars": {"t": lower}}}, "ymax": {"wall": {"scalars": {"t": upper}}}}
    text = heat.settings([16, 16, 8], faces, {"t": {"diffusivity": 1, "initial": {
        "linear": {"from": [0, 0, 0], "to": [0, 16, 0], "values": [exact(0, 0, 0), exact(0, 16, 0)]}}}}, refine=regions, run={"steps": 500})
    return Levels(heat.run(text)).errors(exact)[0]


# ---- waves ----

def wave(cells, regions, limiter="none"):
    """Error of a decaying sine after it has moved by a quarter of the box, over its amplitude then."""
    n, diffusivity = cells, 0.04
    u = [0.08 * 16 / n, 0.04 * 16 / n, 0]
    steps = 50 * (n // 16)**2
    faces = heat.PERIODIC
    text = heat.settings([n, n, 4], faces, {"t": {"diffusivity": diffusivity, "limiter": limiter, "initial": {
        "value": 3, "wave": {"amplitude": 1, "waves": [1, 1, 0]}}}}, initial={"flow": "uniform", "velocity": u}, run={"steps": steps})
    if regions:
        text["refine"] = regions
    k = 2 * numpy.pi / n
    left = numpy.exp(-2 * diffusivity * k**2 * steps)
    exact = lambda x, y, z: 3 + left * numpy.sin(k * (x + y - (u[0] + u[1]) * steps))
    done = heat.run(text)
    if regions:
        return Levels(done).errors(exact)[1] / left
    x = numpy.arange(n) + 0.5
    difference = done.value()[:, :, 0] - exact(x[:, None], x[None, :], 0)
    return numpy.sqrt((difference**2).mean()) / left


# ---- cavity ----

def cavity(cells, regions):
    """Nusselt number of the side-heated cavity at Ra = 10^4, Pr = 0.71, at both walls."""
    rayleigh, prandtl, viscosity = 1e4, 0.71, 0.02
    diffusivity = viscosity / prandtl
    gravity = rayleigh * viscosity * diffusivity / cells**3
    faces = {"xmin": {"wall": {"scalars": {"t": {"value": 1}}}}, "xmax": {"wall": {"scalars": {"t": {"value": 0}}}},
             "y": "wall", "z": "periodic"}
    text = heat.settings([cells, cells, 4], faces, {"t": {"kind": "heat", "diffusivity": diffusivity, "reference": 0.5, "expansion": 1,
                                                         "initial": {"linear": {"from": [0, 0, 0], "to": [cells, 0, 0], "values": [1, 0]}}}},
                         fluid={"viscosity": viscosity}, force={"gravity": [0, -gravity, 0]}, run={"steps": int(0.35 * cells**2 / diffusivity)})
    if regions:
        text["refine"] = regions
    done = heat.run(text)
    if not regions:
        t = done.value()[:, :, 0]
        return [side * 2 * (wall - t[at]).mean() * cells for side, at, wall in ((1, 0, 0.5), (-1, -1, -0.5))]
    t = Levels(done).values[-1]
    finer = 2**(len(Levels(done).values) - 1)
    return [side * 2 * numpy.nanmean(wall - t[at]) * cells * finer for side, at, wall in ((1, 0, 0.5), (-1, -1, -0.5))]


# ---- rows ----

def rows(level, every=1):
    """The rows of both walls; and how much their sum differs from the change of the scalar, over the heat, from step 400 on."""
    n, rayleigh, prandtl, speed = 32, 1e5, 0.71, 0.1
    viscosity = speed * n * (prandtl / rayleigh)**0.5
    faces = {"xmin": {"wall": {"scalars": {"t": {"value": 305}}}}, "xmax": {"wall": {"scalars": {"t": {"value": 295}}}},
             "y": "wall", "z": "periodic"}
    series = {face: {"every": every, "of": "heat", "scalar": "t", "face": face} for face in ("xmin", "xmax")}
    series["t"] = {"every": every, "of": "scalar", "scalar": "t"}
    done = heat.run(heat.settings(
        [n, n, 4], faces, {"t": {"kind": "heat", "diffusivity": viscosity / prandtl, "reference": 295, "expansion": 1, "limiter": "none",
                                 "initial": {"value": 300}}},
        fluid={"viscosity": viscosity}, force={"gravity": [0, -speed**2 / n / 10, 0]}, run={"steps": 1200},
        output={"log": {"every": 0}, "series": series}, refine={"r": box(level, [0, 8, 0], [8, 24, 4])}))
    table = {name: numpy.genfromtxt(os.path.join(done.folder, "series", name + ".csv"), delimiter=",", names=True) for name in series}
    walls = numpy.stack([table[face]["heat"] for face in ("xmin", "xmax")])
    first, total = 400 // every, table["t"]["sum"]
    change = total[-1] - total[first]
    return walls, (walls[:, first:-1].sum() * every - change) / numpy.abs(walls[:, first:-1]).sum() / every


def resumed():
    """Rows of a run and of one that goes on from its checkpoint that differ, of a body that conducts and of a wall."""
    faces = {"x": "periodic", "z": "periodic", "ymin": {"wall": {"scalars": {"t": {"value": 310}}}},
             "ymax": {"wall": {"scalars": {"t": {"value": 300}}}}}
    chip = {"shape": {"box": {"from": [8, 8, 0], "to": [16, 16, 1]}},
            "scalars": {"t": {"conduct": {"conductivity": 0.05, "capacity": 1, "source": 0.002}}}}
    series = {name: {"every": 1, "of": "heat", "scalar": "t"} | where for name, where in (("chip", {"body": "chip"}), ("wall", {"face": "ymin"}))}
    text = heat.settings([24, 24, 1], faces, {"t": {"kind": "heat", "diffusivity": 0.02, "reference": 300, "initial": 300, "limiter": "on"}},
                         initial={"flow": "uniform", "velocity": [0.03, 0, 0]}, bodies={"chip": chip}, run={"steps": 24},
                         output={"log": {"every": 0}, "series": series},
                         refine={"a": {"level": 1, "around": "chip", "distance": 3}, "b": box(1, [4, 0, 0], [12, 4, 1])})
    text["solver"] = {"storage": "fp32", "arithmetic": "fp32"}
    whole = heat.run(text, every=20)
    done = subprocess.run([os.environ["TAGFLOW"], "run", whole.folder + ".yaml", "--output", whole.folder + "_on", "--restart", whole._files()[0]],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return done.stdout
    rows = [[open(os.path.join(folder, "series", name + ".csv")).read().splitlines()[-4:] for name in series]
            for folder in (whole.folder, whole.folder + "_on")]
    return sum(a != b for one, other in zip(*rows) for a, b in zip(one, other))


# ---- labels ----

def labels(as_boxes):
    """Hashes of a body of two parts on level 2."""
    number, table = numpy.full([6, 6, 6], 1, dtype=numpy.uint8), os.path.join(case.scratch(), "values.csv")
    number[3:] = 2
    path = os.path.join(case.scratch(), "labels.raw")
    number.transpose(2, 1, 0).tofile(path)
    with open(table, "w") as file:
        file.write("0,1\n10,0.5\n30,1\n")
    first, second = ({"t": {"conduct": {"conductivity": 0.4, "capacity": 2, "source": 1e-3}}},
                     {"t": {"value": 2, "table": {"file": table, "time": 1}}})
    bodies = {"a": {"image": {"file": path, "size": [6, 6, 6], "solid": [1, 2], "at": [13, 13, 9]},
                    "labels": {"1": {"scalars": first}, "2": {"scalars": second}}}}
    if as_boxes:
        bodies = {"a": {"shape": {"box": {"from": [13, 13, 9], "to": [16, 19, 15]}}, "scalars": first},
                  "b": {"shape": {"box": {"from": [16, 13, 9], "to": [19, 19, 15]}}, "scalars": second}}
    done = heat.run(heat.settings([32, 32, 24], heat.PERIODIC, {"t": {"diffusivity": 0.05, "initial": {"value": 1}}}, bodies=bodies,
                                  initial={"flow": "uniform", "velocity": [0.03, 0.01, 0]}, run={"steps": 20},
                                  refine={"r": box(2, [8, 8, 4], [24, 24, 20])}))
    with open(os.path.join(done.folder, "report.json")) as file:
        return json.load(file)["hashes"]


# ---- limiter ----

def limited(regions):
    """Least and most of a block that has crossed both edges, and how much of it there is."""
    text = heat.settings([48, 16, 8], heat.PERIODIC, {"t": {"diffusivity": 1e-5, "limiter": "on", "initial": {
        "value": 1, "shapes": {"a": {"box": {"from": [4, 3, 0], "to": [12, 11, 8]}, "value": 2}}}}},
        initial={"flow": "uniform", "velocity": [0.1, 0.03, 0]}, run={"steps": 320}, refine=regions)
    done = heat.run(text, every=80)
    found = [Levels(done, number=k) for k in range(len(done.steps()))]
    return (min(numpy.nanmin(v) for one in found for v in one.values), max(numpy.nanmax(v) for one in found for v in one.values),
            float(found[-1].total() / found[0].total() - 1))


def main():
    for number in range(2):
        t, u, made = sums(number)
        case.at_most(f"sum of a scalar in random regions {number}, change", abs(t), 1e-13)
        case.at_most("  of one with the limiter", abs(u), 1e-13)
        case.at_least("  added by a body and a wall", made, 10)
    changes = sums(1, "fp32", 40)
    case.at_most("fp32, change of the sum", abs(changes[0]), 1e-6)
    case.at_most("  of one with the limiter", abs(changes[1]), 1e-6)

    linear = lambda x, y, z: 1 + y / 16
    along, across = box(1, [0, 0, 0], [16, 8, 8]), box(1, [4, 0, 0], [12, 16, 8])
    inside, deep = box(1, [4, 4, 0], [12, 8, 4]), box(2, [4, 0, 0], [8, 4, 4])
    given = ({"value": 1}, {"value": 2})
    for name, region in ("along", along), ("across", across), ("inside", inside), ("of two levels", deep):
        case.at_most(f"conduction, edges {name}", conduction({"r": region}, *given, linear), 1e-10)
    flux = 1 / 16
    outside = {"transfer": {"coefficient": 0.5, "outside": 1 - flux / 0.5}}
    case.at_most("conduction to heat transfer", conduction({"r": deep}, outside, {"value": 2}, linear), 1e-8)

    sizes, found = [16, 32], []
    for n in sizes:
        found.append(wave(n, {"r": box(1, [n // 4, n // 4, 0], [3 * n // 4, 3 * n // 4, 4])}))
    case.at_least("waves, order", case.order(sizes, found), 1.85)
    case.at_most("waves, error over that of one grid", found[-1] / wave(sizes[-1], None), 1.2)

    edges = {"left": box(1, [0, 0, 0], [4, 20, 4]), "right": box(1, [16, 0, 0], [20, 20, 4])}
    for name, nusselt in zip(("hot", "cold"), cavity(20, edges)):
        case.near(f"cavity, Nusselt number at the {name} wall", nusselt, 2.2448, 0.0224)

    for level in 1, 2:
        walls, error = rows(level)
        case.at_most(f"rows of heat beside the edges of level {level}, sum less the change of the scalar", abs(error), 1e-4)
        seldom, _ = rows(level, 100)
        case.at_most("  rows every 100 steps that differ", int((seldom[:, 1:-1] != walls[:, 100:-1:100]).sum()), 0)

    case.at_most("rows of heat that differ after a restart, with the limiter", resumed(), 0)

    by_image, by_boxes = labels(False), labels(True)
    case.at_most("labels, sets that differ from those of two boxes", sum(by_image[k] != by_boxes[k] for k in by_boxes), 0)

    least, most, change = limited({"r": box(1, [16, 4, 0], [32, 12, 8])})
    case.at_most("limiter, below the least value", 1 - least, 1e-9)
    case.at_most("limiter, above the most", most - 2, 1e-9)
    case.at_most("limiter, change of the sum", abs(change), 1e-13)
    case.finish()


main()
