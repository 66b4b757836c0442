"""What the tests of refined grids share: a flow is described once, for the reference and for tagflow.

A flow is a dictionary, in units of level 0:

    cells      [nx, ny, nz]
    faces      {"x": "periodic", "ymax": ["wall", [0.1, 0, 0]], "z": "slip", ...}, as `faces` of a case file
    boxes      [(level, from, to)], in cells of level - 1, whole bricks of four of these
    tau        of level 0
    initial    as `initial` of a case file
    steps, and if given magic, acceleration, collision, every, noise

refined_reference.c says what it does; the script that imports this gets its path as the first argument.
"""
import functools
import os
import random
import subprocess
import sys

import h5py
import numpy

import case

MAGIC = 3 / 16
_runs = 0


def face_of(flow, face):
    """Kind and velocity of one of the six faces."""
    given = flow["faces"].get(face, flow["faces"].get(face[0]))
    kind, velocity = (given, [0, 0, 0]) if isinstance(given, str) else given
    return kind, velocity


def _lines(flow):
    yield "cells", flow["cells"]
    for face in "xmin", "xmax", "ymin", "ymax", "zmin", "zmax":
        kind, velocity = face_of(flow, face)
        yield face, [kind] + (velocity if kind == "wall" else [])
    for level, lower, upper in flow["boxes"]:
        yield "box", [level, *lower, *upper]
    for key in "tau", "steps", "every", "noise", "acceleration", "collision", "magic":
        if key in flow:
            yield key, flow[key]
    for key, value in flow.get("initial", {}).items():
        yield key, value


def _text(value):
    if isinstance(value, (list, tuple)):
        return " ".join(_text(v) for v in value)
    return value if isinstance(value, str) else repr(value)


class Reference:
    """What the reference found.

    table      [state][step, mass, momentum x, y, z]; mass: beyond that at density 1
    states     [state][level][x, y, z, 4]: density - 1 and velocity; NaN: not a cell of the level
    """

    def __init__(self, flow):
        global _runs
        _runs += 1
        start = os.path.join(case.scratch(), f"reference_{_runs}")
        with open(start + ".in", "w") as file:
            for key, value in _lines(flow):
                file.write(f"{key} {_text(value)}\n")
        result = subprocess.run([sys.argv[1], start + ".in", start + ".out"], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            print(result.stdout)
            print(f"FAIL reference: exit status {result.returncode}, input:")
            with open(start + ".in") as file:
                print(file.read())
            sys.exit(1)
        self.table = numpy.array([[float(v) for v in line.split()] for line in result.stdout.splitlines()])
        values = numpy.fromfile(start + ".out").reshape(len(self.table), -1)
        os.remove(start + ".out")
        self.states = []
        for state in values:
            levels, at = [], 0
            for level in range(levels_of(flow)):
                shape = [n << level for n in flow["cells"][::-1]] + [4]
                levels.append(state[at:at + numpy.prod(shape)].reshape(shape).swapaxes(0, 2))
                at += numpy.prod(shape)
            self.states.append(levels)
        self.levels = self.states[-1]


def settings(flow):
    """The flow as settings of a tagflow case, with all cells of the last state as `fields.main`."""
    faces = {}
    for name in "xmin", "xmax", "ymin", "ymax", "zmin", "zmax":
        kind, velocity = face_of(flow, name)
        faces[name] = {"wall": {"velocity": velocity}} if kind == "wall" and any(velocity) else kind
    return case.FP64 | {
        "domain": {"cells": flow["cells"]}, "fluid": {"viscosity": (flow["tau"] - 0.5) / 3}, "faces": faces, "refine": _regions(flow),
        "solver.collision": flow.get("collision", "trt"), "initial": flow.get("initial", {"flow": "rest"}),
        **({"solver.magic": flow.get("magic", MAGIC)} if flow.get("collision", "trt") == "trt" else {}),
        "force": {"acceleration": flow.get("acceleration", [0, 0, 0])}, "run": {"steps": flow["steps"]},
        "output": {"log": {"every": 0}, "fields": {"main": {
            "every": flow.get("every", flow["steps"]), "of": ["density", "velocity"], "precision": "fp64"}}}}


def _regions(flow):
    return {f"region{n}": {"level": level, "box": {"from": [x / 2**(level - 1) for x in lower], "to": [x / 2**(level - 1) for x in upper]}}
            for n, (level, lower, upper) in enumerate(flow["boxes"])}


def snapshots(run, flow, name="main"):
    """States of a refined run, as those of Reference: [(step, levels)]; NaN: not a cell of a level, or of no box of it."""
    def state(values):
        return numpy.concatenate([values("density") - 1, values("velocity")], axis=-1)

    return [(step, [state(values) for values in levels]) for step, levels in _files(run, flow, name)]


def vorticity(run, flow, name="main"):
    """The vorticity that the program wrote last: [level][x, y, z, 3], in one step of level 0; NaN as for snapshots."""
    return [values("vorticity") for values in _files(run, flow, name)[-1][1]]


def _files(run, flow, name):
    """[(step, levels)] of the snapshots; a level is a function that gives an array of that name [x, y, z, components]."""
    found = []
    for step in run.steps_of(name):
        path = os.path.join(run.folder, "fields", f"{name}_{step:010d}.vtkhdf")
        found.append((step, [functools.partial(_array, path, level, [n << level for n in flow["cells"]])
                             for level in range(levels_of(flow))]))
    return found


def _array(path, level, cells, name):
    with h5py.File(path) as file:
        group = file[f"VTKHDF/Level{level}"]
        array = group["CellData"][name]
        components = array.shape[1] if array.ndim > 1 else 1
        values = numpy.full(cells + [components], numpy.nan)
        at = 0
        for box in group["AMRBox"][()]:
            lower, upper = box[0::2], box[1::2] + 1
            shape = (upper - lower)[::-1]
            part = array[at:at + numpy.prod(shape)]
            values[tuple(slice(a, b) for a, b in zip(lower, upper))] = part.reshape(*shape, components).swapaxes(0, 2)
            at += len(part)
        assert at == len(array)
    return values


def uncovered(flow, levels):
    """The same states without what finer levels cover, which snapshots have as means."""
    alone = []
    for level, values in enumerate(levels):
        values = values.copy()
        if level + 1 < len(levels):
            finer = numpy.isnan(levels[level + 1][::2, ::2, ::2, 0])
            values[~finer] = numpy.nan
        alone.append(values)
    return alone


def levels_of(flow):
    return 1 + max([box[0] for box in flow["boxes"]], default=0)


def centres(flow, level):
    """Cell centres, in cells of level 0: [x, y, z, 3]."""
    axes = [(numpy.arange(n << level) + 0.5) / 2**level for n in flow["cells"]]
    return numpy.stack(numpy.meshgrid(*axes, indexing="ij"), axis=-1)


def rms(flow, levels, exact):
    """Root of the mean square of velocity less exact(centres)[..., 3], weighted by volume."""
    square = volume = 0
    for level, values in enumerate(levels):
        there = ~numpy.isnan(values[..., 0])
        error = values[there][:, 1:] - exact(centres(flow, level)[there])
        square += (error**2).sum() / 8**level
        volume += there.sum() / 8**level
    return numpy.sqrt(square / volume)


def worst(flow, levels, exact):
    """Largest difference of a component of the velocity."""
    found = 0
    for level, values in enumerate(levels):
        there = ~numpy.isnan(values[..., 0])
        found = max(found, numpy.abs(values[there][:, 1:] - exact(centres(flow, level)[there])).max())
    return found


def run(flow, ranks=1, large=False, **more):
    """Runs tagflow. Returns states as those of Reference, [(step, levels)], and the run. `more`: further settings."""
    done = case.run("couette", settings(flow) | more, ranks=ranks, large=large)
    if flow["boxes"]:
        return [(step, uncovered(flow, levels)) for step, levels in snapshots(done, flow)], done
    return [(step, [numpy.concatenate([done.field("density", number=number)[..., None] - 1, done.field(number=number)], axis=-1)])
            for number, step in enumerate(done.steps_of())], done


def twice(flow):
    """The same flow on one grid with cells half as wide, in as many substeps."""
    initial = dict(flow["initial"])
    for key in "center", "width":
        if key in initial:
            initial[key] = (2 * numpy.array(initial[key])).tolist()
    return flow | {"cells": [2 * n for n in flow["cells"]], "tau": 2 * flow["tau"] - 0.5, "steps": 2 * flow["steps"],
                   "every": 2 * flow.get("every", flow["steps"]), "boxes": [], "initial": initial}


def eight(values):
    """Means of the 8 cells of each cell of the level before: [x, y, z, ...]."""
    x, y, z = (n // 2 for n in values.shape[:3])
    return values.reshape(x, 2, y, 2, z, 2, *values.shape[3:]).mean(axis=(1, 3, 5))


def within(cells, reach):
    """Cells at most `reach` away from one of `cells`, [x, y, z] of a periodic box."""
    for axis in range(3):
        cells = numpy.any([numpy.roll(cells, n, axis) for n in range(-reach, reach + 1)], axis=0)
    return cells


def random_flow(number):
    """A flow in a box with random faces and regions; each third one has three levels."""
    chance = random.Random(number)
    cells = [4 * chance.randint(2, 3) + chance.choice([0, 0, -1, 1]) for _ in range(3)]
    faces, kinds = {}, [chance.choice(["periodic", "periodic", "walls", "lid", "slip", "both"]) for _ in range(3)]
    slips = [kind in ("slip", "both") for kind in kinds]
    for axis, kind in enumerate(kinds):
        name = "xyz"[axis]
        if kind in ("periodic", "slip"):
            faces[name] = kind
            continue
        # A wall does not move into a plane of symmetry.
        speed = [0 if a == axis or kind == "walls" or slips[a] else chance.uniform(-0.1, 0.1) for a in range(3)]
        faces[name + "min"] = "slip" if kind == "both" else ["wall", [0, 0, 0]]
        faces[name + "max"] = ["wall", speed]
    boxes = []
    for _ in range(chance.randint(1, 4)):
        lower = [4 * chance.randrange((n + 3) // 4) for n in cells]
        upper = [min(n, b + 4 * chance.randint(1, 2)) for n, b in zip(cells, lower)]
        boxes.append((1, lower, upper))
    if number % 3 == 0:  # a finest brick in the middle of each axis that is periodic, from the lower face on others
        cells = [12 - n % 2 for n in cells]
        inner = [0 if kind != "periodic" else 4 for kind in kinds]
        boxes = [(1, [0, 0, 0], [n if i else 8 for i, n in zip(inner, cells)]), (2, inner, [12 if i else 8 for i in inner])]
    left = numpy.ones(cells, bool)  # some cells remain on level 0
    for _, lower, upper in boxes:
        left[tuple(slice(a, b) for a, b in zip(lower, upper))] = False
    if not left.any():
        cells[0] += 4
    return {"cells": cells, "faces": faces, "tau": chance.choice([0.55, 0.6, 0.8]), "boxes": boxes}


def box_in_the_middle(cells, axes, level=1):
    """From a quarter to three quarters along the axes, the whole box along the others."""
    lower = [n // 4 if a in axes else 0 for a, n in enumerate(cells)]
    upper = [n - n // 4 if a in axes else n for a, n in enumerate(cells)]
    return level, lower, upper


def half_along(cells, axis, level=1):
    """The lower half along an axis."""
    return level, [0, 0, 0], [n // 2 if a == axis else n for a, n in enumerate(cells)]


def taylor_green(cells, nu, time, boxes, axis="z"):
    """Taylor-Green vortices, one cell thick, for `time` L^2 / nu, so that errors are as 1 / cells^2 at second order. `boxes`: of
    (cells, axes across). Returns the flow and the exact velocity, a function of positions and the step."""
    across = "xyz".index(axis)
    size = [1 if a == across else cells for a in range(3)]
    a, b = (across + 1) % 3, (across + 2) % 3
    amplitude, k = 0.02 * 16 / cells, 2 * numpy.pi / cells

    def exact(x, step):
        u, now = numpy.zeros_like(x), amplitude * numpy.exp(-2 * nu * k * k * step)
        u[..., a] = -now * numpy.cos(k * x[..., a]) * numpy.sin(k * x[..., b])
        u[..., b] = now * numpy.sin(k * x[..., a]) * numpy.cos(k * x[..., b])
        return u

    steps = round(time * cells**2 / nu)
    flow = {"cells": size, "faces": {"x": "periodic", "y": "periodic", "z": "periodic"}, "tau": 3 * nu + 0.5,
            "boxes": boxes(size, (a, b)), "steps": steps, "every": max(1, steps // 20),
            "initial": {"flow": "taylor_green_2d", "amplitude": amplitude, "axis": axis}}
    return flow, exact


def stream(cells, radius, boxes, speed=0.1, viscosity=1e-3, peak=0.03):
    """A vortex in a stream along x, from a quarter of the box to its middle; one cell thick, rr."""
    return {"cells": [cells, cells, 1], "faces": {axis: "periodic" for axis in "xyz"}, "tau": 3 * viscosity + 0.5, "boxes": boxes,
            "steps": round(cells / 4 / speed), "collision": "rr",
            "initial": {"flow": "vortex", "axis": "z", "amplitude": peak, "velocity": [speed, 0, 0],
                        "center": [cells / 4, cells / 2, 0.5], "width": radius}}


def shear_layer(cells, boxes, thickness, speed=0.1):
    """Double shear layer at Re 10^4 to t U/L = 1, rr: vorticity across it in U/L, [level][x, y, z], and the kinetic energy every
    32 steps."""
    flow = {"cells": [cells, cells, 1], "boxes": boxes}
    run = case.run("shear_layer", {
        "domain.cells": flow["cells"], "fluid": {"reynolds": 10000, "velocity": speed, "length": cells}, "solver": {"collision": "rr"},
        "initial.thickness": thickness, "refine": _regions(flow), "run.steps": round(cells / speed),
        "output": {"log": {"every": 0}, "series": {"flow": {"every": 32, "of": "kinetic_energy"}},
                   "fields": {"main": {"every": 10**9, "of": "vorticity"}}}})
    levels = vorticity(run, flow) if boxes else [run.field("vorticity")]
    return [values[..., 2] * cells / speed for values in levels], run.series()["kinetic_energy"]


def finest(levels):
    """The finest of two levels as one grid, [x, y, z]; coarse cells are copied."""
    copied = levels[0].repeat(2, 0).repeat(2, 1).repeat(2, 2)
    return numpy.where(numpy.isnan(levels[1]), copied, levels[1])


def rms_in_time(flow, states, exact):
    """Root of the mean square over the states [(step, levels)], over the velocity's rms at the start. A single state would not do:
    sound comes and goes in it."""
    start = rms(flow, states[0][1], lambda x: numpy.zeros_like(x))
    squares = [rms(flow, levels, lambda x: exact(x, step))**2 for step, levels in states]
    return numpy.sqrt(numpy.mean(squares)) / start


def driven(cells, across, along, nu, boxes, steps, lid=0, acceleration=0):
    """Couette (lid: velocity of the upper wall) or Poiseuille flow between walls. Returns the flow and its steady velocity."""
    height = cells[across]
    names = "xyz"
    faces = {name: "periodic" for name in names if name != names[across]}
    push, drive = [0, 0, 0], [0, 0, 0]
    push[along], drive[along] = lid, acceleration
    faces |= {names[across] + "min": ["wall", [0, 0, 0]], names[across] + "max": ["wall", push]}

    def exact(x):
        u, y = numpy.zeros_like(x), x[..., across]
        u[..., along] = lid * y / height + acceleration / (2 * nu) * y * (height - y)
        return u

    return {"cells": cells, "faces": faces, "tau": 3 * nu + 0.5, "boxes": boxes, "steps": steps, "acceleration": drive}, exact
