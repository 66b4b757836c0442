#!/usr/bin/python3
"""Lifted rows (run.rows) on the stand-in for CUDA's runtime: the CPU's bits in every state, series, snapshot and image, in all
precisions, on 1 to 3 ranks cut along each axis, in every way of halos; on refined grids; after restarts from plain rows and
back. Rows that cannot be lifted are plain, and the log says why.

    TAGFLOW_STANDIN_PROGRAM  the program with the stand-in (required)
    TAGFLOW_THOROUGH         set: every case in every way
    TAGFLOW_ONLY             set: only this case, and no restarts
"""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, sets, tagflow, write

PROGRAM = os.environ["TAGFLOW_STANDIN_PROGRAM"]
THOROUGH = "TAGFLOW_THOROUGH" in os.environ
ONLY = os.environ.get("TAGFLOW_ONLY")
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OMP_WAIT_POLICY"] = "passive"
OUTPUT = """\
check:   {every: 10, hang: none}
output:
  log:    {every: 0}
  series:
    flow:  {every: 3, of: [mass, kinetic_energy, enstrophy, max_velocity]}
    point: {every: 5, of: probe, point: [65.3, 2.1, 1.5]}
  fields:
    main: {every: 14, of: [velocity, density, vorticity, tags], precision: fp64}
  averages:
    mean: {of: [velocity, density], every: 4}
  images:
    side: {every: 20, of: velocity_x, axis: z}
"""
CASES = {
    # 8 lines; 4 with two halves. Nothing is listed, and no cell is beside a wall.
    "vortices": """\
domain:  {cells: [256, 4, 5]}
fluid:   {viscosity: 0.01, velocity: 0.05, length: 16}
solver:  {collision: bgk}
initial: {flow: shear_layer}
faces:   {x: periodic, y: periodic, z: periodic}
run:     {steps: 21}
""",
    # 6 lines, 3 with two halves: no power of two. A force that depends on the mean flow, subgrid model and sponge.
    "sponge": """\
domain:  {cells: [192, 5, 4]}
fluid:   {viscosity: 0.02}
solver:  {collision: rr, subgrid: {smagorinsky: {constant: 0.1}}}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, y: wall, z: periodic}
force:   {flow_rate: {velocity: -0.03, axis: x, every: 4, time: 9}}
regions: {along: {box: {from: [100, 2, 1], to: [190, 4, 3]}, sponge: {towards: xmax, strength: 0.2, power: 2.5, velocity: [0.02, 0, 0]}}}
run:     {steps: 21}
""",
    # Closed; obstacles, of which one slides, so that walls of several types meet in a cell; a list of cells.
    "lid": """\
domain:  {cells: [256, 7, 5]}
fluid:   {viscosity: 0.04}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.01]}}, zmin: {wall: {velocity: [0.02, 0, 0]}}, zmax: wall}
bodies:
  low:  {shape: {box: {from: [40, 0, 0], to: [71, 2, 3]}}}
  post: {shape: {box: {from: [200, 3, 2], to: [203, 7, 4]}}, velocity: [0.01, 0, -0.02]}
  rod:  {shape: {cylinder: {center: [127.2, 3, 2], axis: z, radius: 1.7}}, wall: interpolated, rotation: {rate: [0, 0, -0.02]}}
run:     {steps: 21}
""",
    # Open along x: the layers beside it are cells 0 and n - 1 of each row.
    "inlet": """\
domain:  {cells: [256, 9, 6]}
fluid:   {viscosity: 0.03}
faces:
  zmax: nonreflecting
  xmin: {velocity: {value: [0.04, 0.003, 0], rule: links}}
  xmax: {pressure: {density: 1.001}}
  y: wall
  zmin: slip
patches:
  jet: {face: ymin, disc: {center: [60.2, 2.9], radius: 1.7}, velocity: {value: [0, 0.03, 0], profile: parabola, ramp: 9}}
run:     {steps: 21}
""",
    "heat": """\
domain:  {cells: [256, 6, 5]}
fluid:   {viscosity: 0.03}
force:   {gravity: [0, -1.0e-3, 0]}
scalars:
  temperature: {kind: heat, prandtl: 0.71, expansion: 0.5, initial: {value: 0, wave: {amplitude: 0.1, waves: [1, 1, 0]}}}
  dye: {schmidt: 2, decay: 1.0e-3, initial: 1}
bodies:
  block: {shape: {sphere: {center: [64, 3, 2], radius: 2.2}}, scalars: {temperature: {conduct: {conductivity: 0.2, capacity: 2, source: 1.0e-4}}}}
faces:
  xmin: {wall: {scalars: {temperature: {value: 0.5}}}}
  xmax: {wall: {scalars: {temperature: {value: -0.5}, dye: {flux: 1.0e-3}}}}
  y: wall
  z: periodic
run:     {steps: 21}
""",
    # One scalar, which the step loads with the flow.
    "plume": """\
domain:  {cells: [256, 6, 5]}
fluid:   {viscosity: 0.03}
force:   {gravity: [0, -1.0e-3, 0]}
scalars:
  temperature: {kind: heat, prandtl: 0.71, expansion: 0.5, initial: {value: 0, wave: {amplitude: 0.1, waves: [1, 1, 0]}}}
bodies:
  block: {shape: {sphere: {center: [130, 3, 2], radius: 2.2}}, scalars: {temperature: {value: 0.3}}}
faces:
  xmin: {wall: {scalars: {temperature: {value: 0.5}}}}
  xmax: {wall: {scalars: {temperature: {value: -0.5}}}}
  y: wall
  z: periodic
run:     {steps: 21}
""",
    # Two chambers that moving walls could pump between: their masses are held, cell by cell.
    "chambers": """\
domain:  {cells: [128, 11, 6]}
fluid:   {viscosity: 0.04}
faces:   {x: wall, y: wall, z: wall}
bodies:
  between: {shape: {box: {from: [0, 5, 0], to: [128, 6, 6]}}}
  low:     {shape: {cylinder: {center: [40.3, 2.4, 3], axis: z, radius: 1.6}}, wall: interpolated, rotation: {rate: [0, 0, 0.02]}}
  high:    {shape: {cylinder: {center: [90.1, 8.6, 3], axis: z, radius: 1.6}}, wall: interpolated, rotation: {rate: [0, 0, -0.015]}}
run:     {steps: 21}
""",
    # Both levels are lifted on one rank, and level 0 on two: the fine one has rows of 128 cells.
    "levels": """\
domain:  {cells: [256, 8, 6]}
fluid:   {viscosity: 0.02}
solver:  {collision: rr}
initial: {flow: uniform, velocity: [0.03, 0.002, -0.01]}
scalars: {dye: {schmidt: 1, initial: {value: 0.5, wave: {amplitude: 0.1, waves: [2, 1, 0]}}}}
faces:   {x: periodic, ymin: slip, ymax: {wall: {velocity: [0.05, 0, 0.03]}}, z: periodic}
refine:  {low: {level: 1, box: {from: [32, 0, 0], to: [96, 4, 6]}}}
run:     {steps: 20}
""",
}
PRECISIONS = {"fp32": {"solver.storage": "fp32"}, "fp16": {"solver.storage": "fp16"}, "fp64": {"solver.storage": "fp64"},
              "fp32/64": {"solver.storage": "fp32", "solver.arithmetic": "fp64"}}
# Cut, exchange, transport, order.
WAYS = [([1, 1, 1], "cut", "host", "lazy"), ([1, 1, 1], "all", "host", "random"), ([1, 1, 1], "all", "ipc", "lazy"),
        ([2, 1, 1], "cut", "ipc", "random"), ([1, 2, 1], "cut", "host", "lazy"), ([1, 1, 2], "all", "ipc", "random"),
        ([1, 3, 1], "cut", "ipc", "lazy"), ([2, 1, 1], "all", "host", "eager")]


def left(folder):
    """What a run left, as far as it must not depend on the order of memory."""
    found = {"hash": load(folder, "report.json")["state_hash"]}
    for path in glob.glob(folder + "/series/*.csv"):
        found[path[len(folder):]] = runs.series_text(folder, os.path.basename(path)[:-4])
    for path in glob.glob(folder + "/images/*.png"):
        with open(path, "rb") as file:
            found[path[len(folder):]] = file.read().rpartition(b"IDAT")[2]
    if load(folder, "report.json").get("levels"):
        return found  # the hash and the series have all levels
    return found | {f"snapshot {name}": data for name, data in runs.snapshots(folder).items()}


def differs(a, b):
    if a.keys() != b.keys():
        return [f"not the same results: {sorted(a.keys() ^ b.keys())}"]
    return [name for name in a if not (runs.same_bits(a[name], b[name]) if name.startswith("snapshot") else a[name] == b[name])]


expected, names, jobs = {}, [], []
for number, (name, text) in enumerate(CASES.items()):
    if ONLY and name != ONLY:
        continue
    case = write(name + ".yaml", text + OUTPUT)
    for turn, (precision, settings) in enumerate(PRECISIONS.items()):
        first = f"{name}_{precision.replace('/', '_')}"
        said = tagflow("run", case, "--output", first, *sets(settings))
        if not check(said.code == 0, f"{name}, {precision}: {said}"):
            continue
        expected[first] = left(first)
        for k, (cut, exchange, transport, order) in enumerate(WAYS):
            more = settings | {"run.ranks": cut, "run.exchange": exchange, "run.transport": transport, "run.rows": "lifted"}
            if exchange == "all" and "periodic" not in text:
                continue
            if THOROUGH or k == 0 and turn < 3 or (k + number + turn) % 8 == 0 or (ONLY and turn < 2):
                cells = int(re.search(r"cells: \[(\d+)", text)[1]) // cut[0]
                lifts = cells >= 128 and cells % (64 if precision == "fp16" else 32) == 0
                # Bodies and levels may move the cuts.
                known = cut == [1, 1, 1] or name in ("vortices", "sponge", "inlet", "heat", "plume")
                names.append((first, f"{cut}, exchange {exchange}, {transport}, {order}", lifts if known else None))
                jobs.append(([case, "--output", f"run_{len(jobs)}", "--backend", "cuda", "--share-gpu", *sets(more)],
                             cut[0] * cut[1] * cut[2], PROGRAM, f"leaks=1,late=1,uuid=same,order={order},ipc={int(transport == 'ipc')}"))
for number, ((first, what, lifts), (code, said)) in enumerate(zip(names, runs.together(jobs))):
    wrong = [f"exit status {code}: {said}"] if code != 0 else differs(expected[first], left(f"run_{number}"))
    check(not wrong, f"{first}, {what}: {wrong or 'the bits of the CPU'}")
    with open(f"run_{number}/log.txt", encoding="utf-8") as file:
        said_rows = re.findall("rows: (.*)", file.read())
    check(len(said_rows) == 1 and (lifts is None or (said_rows == ["lifted"]) == lifts), f"{first}, {what}: the log says rows {said_rows}")
if ONLY:
    runs.finish()
check(len({of["hash"] for of in expected.values()}) == len(expected), "cases and precisions differ")


def lifted(*arguments, rows="lifted", ranks=0, options="order=random,leaks=1,late=1,uuid=same"):
    return tagflow(*arguments, "--backend", "cuda", "--share-gpu", *sets({"run.rows": rows}), ranks=ranks, program=PROGRAM,
                   env={"TAGFLOW_STANDIN": options})


# Why rows are plain. One cell holds no wave.
STREAM = {"initial": {"flow": "uniform", "velocity": [0.05, 0, 0]}}
for settings, why in [({"domain.cells": [131, 4, 4]}, r"plain \(a rank's cells along x are no multiple of 32\)"),
                      ({"domain.cells": [160, 4, 4], "solver.storage": "fp16"}, r"plain \(a rank's cells along x are no multiple of 64\)"),
                      ({"domain.cells": [96, 4, 4]}, r"plain \(a rank has fewer than 128 cells along x\)"),
                      ({"domain.cells": [65568, 1, 1]} | STREAM, r"plain \(a rank has more than 65536 cells along x\)"),
                      ({"domain.cells": [65536, 1, 1]} | STREAM, "lifted"),
                      ({"domain.cells": [160, 4, 4]}, "lifted"),
                      ({"domain.cells": [128, 4, 4], "run.sparse": "always"}, r"plain \(sparse memory\)")]:
    settings = settings | {"output": {"log": {"every": 0}}, "run.steps": 5}
    cpu = tagflow("run", "vortices.yaml", "--output", "why_cpu", "--overwrite", *sets(settings))
    said = lifted("run", "vortices.yaml", "--output", "why", "--overwrite", *sets(settings))
    check(cpu.code == 0 and said.code == 0 and re.search(f"rows: {why}\n", said.out) and
          load("why", "report.json")["state_hash"] == load("why_cpu", "report.json")["state_hash"], f"{settings}: {why}: {said}")
said = lifted("run", "vortices.yaml", "--output", "why", "--overwrite", *sets({"run.steps": 2}), rows="plain")
check(said.code == 0 and "rows:" not in said.out, f"nothing is said of rows that are plain by choice: {said}")
said = tagflow("run", "vortices.yaml", "--output", "on_cpu", *sets({"run.rows": "lifted", "run.steps": 2}))
check(said.code == 0 and "rows:" not in said.out, f"a CPU ignores run.rows: {said}")

# Checkpoints: of lifted rows for plain ones, of plain ones for lifted ones.
for name, before, after in [("lid", "lifted", "plain"), ("sponge", "plain", "lifted"), ("heat", "lifted", "plain")]:
    for precision in "fp32", "fp16":
        folder = f"again_{name}_{precision}"
        settings = PRECISIONS[precision] | {"checkpoint": {"every": 9, "keep": 4}}
        first = lifted("run", name + ".yaml", "--output", folder, *sets(settings), rows=before)
        if not check(first.code == 0 and runs.checkpoint_steps(folder) == [9, 18, 21], f"{folder}: {first}"):
            continue
        os.remove(folder + "/report.json")
        for step in 18, 21:
            os.remove(f"{folder}/checkpoints/step_{step:010}.h5")
        said = lifted("run", name + ".yaml", "--output", folder, "--restart", "auto", *sets(settings), rows=after)
        wrong = [str(said)] if said.code else differs(expected[f"{name}_{precision}"], left(folder))
        check(not wrong and "step 9" in said.out, f"{folder}, {before}, then {after}: {wrong or 'as uninterrupted'}")
shutil.rmtree("why", ignore_errors=True)
runs.finish()
