#!/usr/bin/python3
"""Files of refined grids: what they hold, on any number of ranks, and that a run goes on from its checkpoints.

Three levels: the middle one is a union of two boxes, the finest one holds a sphere. Compared with numpy are the boxes and
their cells, the means of covered cells, snapshots of one level, the averages, and the cells of images. Runs on 1 to 4
ranks, killed runs and restarts on other ranks give the same bits: there is no tolerance.
"""
import concurrent.futures
import glob
import os
import signal

import h5py
import numpy

import runs
from runs import check, load, tagflow, write

CELLS = (28, 20, 16)  # of level 0
FACES = "faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.08, 0, 0]}}, z: periodic}\n"
CASE = f"""\
domain:  {{cells: [{", ".join(map(str, CELLS))}]}}
fluid:   {{viscosity: 0.02, velocity: 0.08, length: 20}}
initial: {{flow: uniform, velocity: [0.05, 0.01, -0.02]}}
{FACES}bodies:
  ball: {{shape: {{sphere: {{center: [12.3, 9.6, 8.2], radius: 1.4}}}}, rotation: {{rate: [0, 0.01, 0.02]}}}}
refine:
  near: {{level: 1, box: {{from: [4, 4, 0], to: [24, 16, 16]}}}}
  top:  {{level: 1, box: {{from: [8, 12, 4], to: [16, 20, 12]}}}}
  ball: {{level: 2, box: {{from: [8, 6, 4], to: [16, 14, 12]}}}}
run:     {{steps: 20}}
checkpoint: {{every: 10}}
output:
  log:    {{every: 0}}
  fields:
    main: {{every: 10, of: [velocity, density, pressure, vorticity, tags], precision: fp64}}
    part: {{every: 20, of: [density, tags], region: {{from: [2, 3, 1], to: [15, 11, 9]}}}}
    low:  {{every: 20, of: [velocity, vorticity, tags], levels: 0, precision: fp64}}
    mid:  {{every: 20, of: [velocity, density], levels: 1, precision: fp64}}
    high: {{every: 20, of: [velocity, density, tags], levels: 2, precision: fp64, region: {{from: [2, 3, 1], to: [15, 11, 9]}}}}
    thin: {{every: 20, of: [velocity, tags], levels: 1, stride: 3, precision: fp64}}
    few:  {{every: 20, of: [velocity, density], levels: 2, stride: 5, precision: fp64, region: {{from: [2, 3, 1], to: [15, 11, 9]}}}}
    wide: {{every: 20, of: [velocity, density], levels: 1, stride: 2}}
  averages:
    mean: {{every: 2, from: 3, of: [velocity, density, stress], precision: fp64}}
    some: {{every: 3, of: velocity, levels: 1, region: {{from: [0, 0, 3], to: [28, 20, 13]}}, precision: fp64}}
  images:
    mid:  {{every: 20, of: speed, axis: z, at: 8}}
    curl: {{every: 20, of: vorticity, axis: y, at: 9}}
"""
BALL = 4  # the type of its cells; 5: fluid cells beside its surface
write("case.yaml", CASE)


def run(folder, ranks=0, *more):
    count = ranks[0] * ranks[1] * ranks[2] if ranks else 0
    settings = {"run.ranks": ranks} if ranks else {}
    return tagflow("run", "case.yaml", "--output", folder, *runs.sets(settings), *more, ranks=count)


class Levels:
    """A file of all levels: for each level `shape` (z, y, x) of the whole box, `held`, and arrays with NaN elsewhere."""

    def __init__(self, path):
        with h5py.File(path) as file:
            top = file["VTKHDF"]
            self.attributes = dict(top.attrs)
            self.levels, self.boxes, self.spacing, self.held = [], [], [], []
            for level in range(sum(name.startswith("Level") for name in top)):
                group = top[f"Level{level}"]
                shape = tuple(n << level for n in CELLS[::-1])
                held, arrays, first = numpy.zeros(shape, int), {}, 0
                for name, data in group["CellData"].items():
                    arrays[name] = numpy.full(shape + data.shape[1:], numpy.nan)
                for x0, x1, y0, y1, z0, z1 in group["AMRBox"][...]:
                    where = numpy.s_[z0:z1 + 1, y0:y1 + 1, x0:x1 + 1]
                    n = held[where].size
                    held[where] += 1
                    for name, data in group["CellData"].items():
                        arrays[name][where] = data[first:first + n].reshape(held[where].shape + data.shape[1:])
                    first += n
                self.whole = all(data.shape[0] == first for data in group["CellData"].values())
                self.held.append(held)
                self.levels.append(arrays)
                self.boxes.append(group["AMRBox"][...])
                self.spacing.append(group.attrs["Spacing"])


def children(array):
    """[8, z, y, x, ..]: the finer cells of each cell, x fastest."""
    return numpy.stack([array[k >> 2::2, k >> 1 & 1::2, k & 1::2] for k in range(8)])


def means(array, fluid):
    """Of the fluid ones of the finer cells; 0 where there is none."""
    some = fluid.reshape(fluid.shape + (1,) * (array.ndim - 3))
    count = children(some).sum(axis=0)
    return numpy.where(count > 0, children(numpy.where(some, array, 0)).sum(axis=0) / numpy.maximum(count, 1), 0)


def upward(array, level, to):
    for _ in range(to - level):
        array = array.repeat(2, 0).repeat(2, 1).repeat(2, 2)
    return array


said = run("one")
if not check(said.code == 0, f"one process: {said}"):
    runs.finish()
one = runs.results("one")
main = Levels("one/fields/main_0000000020.vtkhdf")

# ---- boxes and covered cells ----
check(main.attributes["Type"] == b"OverlappingAMR" and main.attributes["GridDescription"] == b"XYZ" and
      list(main.attributes["Version"]) == [1, 0] and not main.attributes["Origin"].any(), f"attributes: {main.attributes}")
check(len(main.levels) == 3 and all((spacing == 0.5**k).all() for k, spacing in enumerate(main.spacing)), "three levels")
check(all(held.max() == 1 for held in main.held) and main.whole and (main.held[0] == 1).all(), "boxes do not overlap")
inside = {1: numpy.s_[0:32, 8:32, 8:48], 2: numpy.s_[16:48, 24:56, 32:64]}
check(all((main.held[k][where] == 1).all() for k, where in inside.items()), "boxes hold the regions")
check(len(main.boxes[1]) > 1 and main.held[1].sum() < 4 * CELLS[0] * CELLS[1] * CELLS[2], "level 1 is no box, and not everything")
for level in 0, 1:
    finer = main.levels[level + 1]
    covered = children(main.held[level + 1]).all(axis=0)
    check((children(main.held[level + 1]).any(axis=0) == covered).all(), f"level {level + 1} covers whole cells")
    fluid = finer["tags"] != BALL
    for name in "velocity", "density", "pressure", "vorticity":
        expected = means(numpy.nan_to_num(finer[name] - (name == "density")), fluid)[covered] + (name == "density")
        error = abs(main.levels[level][name][covered] - expected).max()
        check(error < 1e-15, f"level {level}: {name} of covered cells: {error}")
    tags = children(finer["tags"])[:, covered]
    first = (tags != BALL).argmax(axis=0)  # 0 if none is fluid
    expected = numpy.take_along_axis(tags, first[None], axis=0)[0]
    check((main.levels[level]["tags"][covered] == expected).all(), f"level {level}: tags of covered cells")
held = [arrays["tags"][held == 1] for arrays, held in zip(main.levels, main.held)]
check(all((tags != 2).all() and numpy.isfinite(tags).all() for tags in held), "no cell is absent")
check(abs((held[2] == BALL).sum() / 735.6 - 1) < 0.01 and (held[0] == BALL).any(), "the ball is there")
check(numpy.isfinite(main.levels[2]["vorticity"][main.held[2] == 1]).all() and main.levels[2]["vorticity"][inside[2]].any(),
      "vorticity")

# ---- velocity and density of a level's own cells: those of the checkpoint ----
c = numpy.zeros((19, 3), int)
for k, v in enumerate([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (0, 1, -1)]):
    c[2 * k + 1], c[2 * k + 2] = v, numpy.negative(v)
with h5py.File("one/checkpoints/step_0000000020.h5") as file:
    check(file.attrs["levels"] == 3 and file.attrs["step"] == 20 and list(file.attrs["grid"]) == list(CELLS), "checkpoint")
    total = 0
    for level, arrays in enumerate(main.levels):
        data = file[f"cells/populations_{level}"]
        f, (x, y, z) = data[...].astype(float), data.attrs["first_cell"]
        where = numpy.s_[z:z + f.shape[0], y:y + f.shape[2], x:x + f.shape[3]]
        covered = children(main.held[level + 1]).all(axis=0) if level < 2 else numpy.zeros(arrays["tags"].shape, bool)
        own = (main.held[level] == 1) & ~covered & (arrays["tags"] != BALL)
        density = 1 + f.sum(axis=1)
        velocity = numpy.einsum("zjyx,jk->zyxk", f, c) / density[..., None]
        outside = own.sum() - own[where].sum()
        error = max(abs(density - arrays["density"][where])[own[where]].max(),
                    abs(velocity - arrays["velocity"][where])[own[where]].max())
        check(outside == 0 and error < 1e-14, f"level {level}: flow of its own cells, off by {error}")
        check(not f.transpose(0, 2, 3, 1)[~own[where]].any(), f"level {level}: absent cells are zeros")
        total += int(data.attrs["hash"], 16)
    check(f"{total % 2**64:016x}" == file.attrs["state_hash"].decode() == load("one", "report.json")["state_hash"], "hashes add up")


# ---- one level ----
def image(name):
    with h5py.File(f"one/fields/{name}") as file:
        return ({key: data[...] for key, data in file["VTKHDF/PointData"].items()}, file["VTKHDF"].attrs["Origin"],
                file["VTKHDF"].attrs["Spacing"])


low, origin, spacing = image("low_0000000020.vtkhdf")
check((origin == 0.5).all() and (spacing == 1).all(), "levels: 0, where it lies")
check(all((low[name] == main.levels[0][name]).all() for name in low), "levels: 0 is level 0 with its covered cells")


def expected(name, to):
    """Cells of a level: its own, or copies."""
    result = numpy.full_like(main.levels[to][name], numpy.nan)
    for level in range(to + 1):
        mask = upward(main.held[level], level, to) == 1
        result[mask] = upward(main.levels[level][name], level, to)[mask]
    return result


mid, origin, spacing = image("mid_0000000020.vtkhdf")
check((origin == 0.25).all() and (spacing == 0.5).all(), "levels: 1, where it lies")
check(all((mid[name] == expected(name, 1)).all() for name in mid), "levels: 1, means and copies")
high, origin, spacing = image("high_0000000020.vtkhdf")
region = numpy.s_[4:36, 12:44, 8:60]
check((origin == [2.125, 3.125, 1.125]).all() and (spacing == 0.25).all(), "levels: 2, where it lies")
check(all((high[name] == expected(name, 2)[region]).all() for name in high), "levels: 2 of a region, copies")
thin, origin, spacing = image("thin_0000000020.vtkhdf")
check((origin == 0.25).all() and (spacing == 1.5).all(), "a stride on level 1, where it lies")
check(all((thin[name] == expected(name, 1)[::3, ::3, ::3]).all() for name in thin), "a stride on level 1: means and copies")
few, origin, spacing = image("few_0000000020.vtkhdf")
check((origin == [2.125, 3.125, 1.125]).all() and (spacing == 1.25).all(), "a stride on level 2 of a region, where it lies")
check(all((few[name] == expected(name, 2)[region][::5, ::5, ::5]).all() for name in few), "a stride on level 2 of a region")

# ---- a region ----
part = Levels("one/fields/part_0000000020.vtkhdf")
for level in range(3):
    (x0, y0, z0), (x1, y1, z1) = ([n << level for n in corner] for corner in ((2, 3, 1), (15, 11, 9)))
    where = numpy.zeros(main.held[level].shape, int)
    where[z0:z1, y0:y1, x0:x1] = main.held[level][z0:z1, y0:y1, x0:x1]
    same = all((part.levels[level][name].astype("f4") == main.levels[level][name].astype("f4"))[where == 1].all()
               for name in part.levels[level])
    check((part.held[level] == where).all() and same, f"a region, level {level}")

# ---- averages ----
mean = Levels("one/fields/mean_0000000020.vtkhdf")
steps = [step for step in range(3, 21) if step % 2 == 0]
settings = runs.sets({"output.fields": {"all": {"every": 1, "of": ["velocity", "density"], "precision": "fp64"}},
                      "output.averages": {}, "output.images": {}, "checkpoint.every": 0})
said = run("steps", 0, *settings)
check(said.code == 0, f"snapshots of each step: {said}")
each = [Levels(f"steps/fields/all_{step:010}.vtkhdf") for step in steps]
for level in range(3):
    held = main.held[level] == 1
    u = numpy.stack([one_of.levels[level]["velocity"][held] for one_of in each])
    rho = numpy.stack([one_of.levels[level]["density"][held] for one_of in each])
    wrong = max(abs(mean.levels[level]["velocity_mean"][held] - u.mean(axis=0)).max(),
                abs(mean.levels[level]["density_mean"][held] - rho.mean(axis=0)).max())
    check(wrong < 1e-14, f"averages, level {level}: means off by {wrong}")
    stress = numpy.einsum("sci,scj->cij", u - u.mean(axis=0), u - u.mean(axis=0)) / len(each)
    own = (main.levels[level]["tags"][held] != BALL) & ~(children(main.held[level + 1]).all(axis=0)[held] if level < 2 else
                                                      numpy.zeros(held.sum(), bool))
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    wrong = max(abs(mean.levels[level]["reynolds_stress"][held][own, k] - stress[own, i, j]).max()
                for k, (i, j) in enumerate(pairs))
    check(wrong < 1e-15 and stress.max() > 1e-7, f"averages, level {level}: stress off by {wrong}")

# ---- images ----
GREY, COLORS = 251, 235  # src/io/canvas.h
with open("one/images/mid_0000000020.png", "rb") as file:
    head, _, pixels = runs.png_pixels(file.read())
width, height = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big")
pixels = numpy.frombuffer(pixels, "u1").reshape(height, width + 1)[:, 1:]
u = expected("velocity", 2)[4 * 8 + 2]  # the plane above the middle of cells 8 of level 0
solid = expected("tags", 2)[4 * 8 + 2] == BALL
speed = numpy.sqrt((u**2).sum(axis=-1))
low_speed, high_speed = speed[~solid].min(), speed[~solid].max()
low_speed = 0 if low_speed < 0.1 * high_speed else low_speed
index = numpy.floor((speed - low_speed) / (high_speed - low_speed) * (COLORS - 1) + 0.5).astype(int)
# The plane: below and right of the corner of the first long line of ink. The image's upper row is the last.
INK, SIDE = 250, 6
y = next(k for k, row in enumerate(pixels) if (row == INK).sum() >= SIDE * index.shape[1]) + 1
x = next(k for k in range(width) if (pixels[y - 1, k:k + SIDE * index.shape[1]] == INK).all()) + 1
shown = pixels[y:y + SIDE * index.shape[0], x:x + SIDE * index.shape[1]].astype(int)
shown = shown.reshape(index.shape[0], SIDE, index.shape[1], SIDE)[::-1, ::-1]
middle = shown[:, 2:4, :, 2:4].transpose(0, 2, 1, 3)  # around the centre of each cell
check(((middle == GREY).all(axis=(2, 3)) == solid).all() and ((middle == GREY).any(axis=(2, 3)) == solid).all(), "an image shows the solid")
# Fine cells between fine ones have their values in the middle; all others are near the values around them.
fine = main.held[2][4 * 8 + 2] > 0
inner = fine & ~solid
for axis in range(2):
    for by in (1, -1):
        inner &= numpy.roll(fine & ~solid, by, axis)
mean = middle.mean(axis=(2, 3))
check(inner.sum() > 50 and abs(mean - index)[inner].max() <= 0.05 * COLORS,
      f"an image shows the finest cells: {abs(mean - index)[inner].max() if inner.any() else inner.sum()}")
check(abs(mean - index)[~solid].max() <= 0.2 * COLORS and numpy.median(abs(mean - index)[~solid]) <= 3, "an image shows all levels")
check(not runs.faults("one"), f"files are whole: {runs.faults('one')}")

# ---- ranks ----
WAYS = [[1, 2, 1], [1, 1, 3], [2, 1, 2]]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    done = list(pool.map(lambda k: run(f"ranks {k}", WAYS[k]), range(len(WAYS))))
for k, said in enumerate(done):
    wrong = f"{said}" if said.code else runs.differences(one, runs.results(f"ranks {k}"))[:5]
    check(not wrong, f"ranks {WAYS[k]}: {wrong or 'the same'}")
    for step in 10, 20:
        with h5py.File(f"one/checkpoints/step_{step:010}.h5") as a, h5py.File(f"ranks {k}/checkpoints/step_{step:010}.h5") as b:
            names = []
            a.visititems(lambda name, found: names.append(name) if isinstance(found, h5py.Dataset) else None)
            names = [name for name in names if not name.startswith("numbers/files/")]  # their sizes: files name their ranks
            check(names and all((a[name][...] == b[name][...]).all() for name in names), f"ranks {WAYS[k]}: checkpoint {step}")

# ---- restarts ----
for k, (before, after) in enumerate([(0, [2, 2, 1]), ([1, 3, 1], [1, 1, 2])]):
    said = run(f"restart {k}", before, "--set", "run.steps=11")
    again = run(f"restart {k}", after, "--restart", "auto")
    found = {key: value for key, value in runs.results(f"restart {k}").items() if "_0000000011" not in key}
    wrong = f"{said}, {again}" if said.code or again.code else runs.differences(one, found)[:5]
    check(not wrong and "step_0000000011.h5, step 11" in again.out, f"restart on ranks {before}, {after}: {wrong or 'the same'}")
job = runs.Job("killed", {"run.steps": 100000, "checkpoint.every": 5, "output": "{log: {every: 0}}"}, ranks=2)
job.wait_for(lambda: len(glob.glob("killed/checkpoints/step_*5.h5")) > 0, "checkpoints")
job.signal_ranks(signal.SIGKILL)
job.end()
last = max(int(name[-13:-3]) for name in glob.glob("killed/checkpoints/step_*.h5"))
settings = runs.sets({"run.steps": last + 7, "output": "{log: {every: 0}}"})
said, whole = run("killed", [1, 3, 1], "--restart", "auto", *settings), run("not killed", 0, *settings)
check(said.code == whole.code == 0 and load("killed", "report.json")["state_hash"] == load("not killed", "report.json")["state_hash"],
      f"killed after step {last}: {said}, {whole}")

# ---- what is refused ----
said = run("one", 0, "--restart", "auto", "--set", "run.steps=22", "--set", "refine.near.box.to=[20, 16, 16]")
check(said.code == 2 and len(said.errors) == 1 and "refine" in said.err, f"a restart with other regions: {said}")
said = tagflow("run", "case.yaml", "--output", "from", *runs.sets({"refine": {}, "output": "{}", "initial": {
    "from": "one/checkpoints/step_0000000020.h5"}}))
check(said.code == 2 and len(said.errors) == 1 and "levels: 0" in said.err, f"initial.from a checkpoint: {said}")
said = tagflow("run", "case.yaml", "--output", "from", *runs.sets({"refine": {}, "output": "{}", "initial": {
    "from": "one/fields/main_0000000020.vtkhdf"}}))
check(said.code == 2 and len(said.errors) == 1 and "levels: 0" in said.err, f"initial.from a snapshot of all levels: {said}")
for part in "high", "few":
    said = tagflow("run", "case.yaml", "--output", "from", *runs.sets({"refine": {}, "output": "{}", "initial": {
        "from": f"one/fields/{part}_0000000020.vtkhdf"}}))
    check(said.code == 2 and len(said.errors) == 1 and "holds a region of its box" in said.err, f"initial.from a region of level 2: {said}")
said = tagflow("run", "case.yaml", "--output", "from", *runs.sets({"refine": {}, "output": "{}", "run.steps": 1, "bodies": {},
                                                                  "initial": {"from": "one/fields/mid_0000000020.vtkhdf"}}))
check(said.code == 0, f"initial.from a snapshot of level 1: {said}")
said = tagflow("run", "case.yaml", "--output", "fine", *runs.sets({
    "domain.cells": [2 * n for n in CELLS], "refine": {}, "output": "{fields: {begin: {every: 1, of: velocity}}}", "run.steps": 1,
    "bodies": {}, "initial": {"from": "one/fields/wide_0000000020.vtkhdf"}}))
with h5py.File("fine/fields/begin_0000000000.vtkhdf") as file:
    begin, wide = file["VTKHDF/PointData/velocity"][::2, ::2, ::2], image("wide_0000000020.vtkhdf")[0]["velocity"]
fluid = wide.any(axis=-1)
check(said.code == 0 and fluid.mean() > 0.9 and abs(begin - wide)[fluid].max() < 1e-6, f"initial.from every second cell of level 1: {said}")
said = tagflow("check", "--verbose", "case.yaml", "--set", "output.fields.main.levels=3")
check(said.code == 2 and len(said.errors) == 1 and "at most 2" in said.err, f"a level that the case lacks: {said}")
said = tagflow("info", "one/checkpoints/step_0000000020.h5")
check(said.code == 0 and "populations_2" in said.out and "levels      3" in said.out, f"tagflow info: {said}")

runs.finish()
