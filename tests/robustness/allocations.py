#!/usr/bin/python3
"""Memory that is refused once: one allocation of the program's own code after the other returns NULL, on each of two ranks, in
`check`, `keys`, `info` and in runs with everything that a run reads and writes. Each ends with exit status 1 and one line, or ends
as if nothing had happened where it can do without the memory; no crash, no hang, no torn result; a run that failed goes on to the
same bits when there is memory again.

    allocations.py ALLOCATIONS_SO    the library is built from tests/robustness/allocations.c. Of allocations with the same callers one
                                     is refused, and of these some; with TAGFLOW_LONG each.
"""
import collections
import concurrent.futures
import os
import random
import shutil
import sys

import h5py
import numpy

import runs
from runs import ROOT, check, load, tagflow, write

SHIM = os.path.abspath(sys.argv[1])
# Of the allocations with different callers one in so many is refused, by ranks: starting these takes longer.
STRIDE = {0: 20, 2: 60} if "TAGFLOW_LONG" not in os.environ else {0: 1, 2: 1}
# Seconds: a run that takes longer waits for a rank that failed.
LIMIT = 30 * int(os.environ.get("TAGFLOW_SLOWER", "1"))

# A case with all that one grid reads and writes.
GRID = """\
domain: {cells: [24, 12, 8]}
fluid:  {viscosity: 0.05, velocity: 0.05, length: 12}
force:  {gravity: [0, -1e-4, 0], acceleration: [1e-6, 0, 0]}
scalars:
  warm: {kind: heat, diffusivity: 0.05, reference: 300 K, expansion: 0.01,
         initial: {value: 301 K, shapes: {hot: {sphere: {center: [5, 5, 4], radius: 2}, value: 305 K}}}}
  fuel: {diffusivity: 0.05, decay: 0.003, initial: 0.2}
  ash:  {diffusivity: 0.05, made_from: fuel, rate: 0.02}
faces:
  xmin: {velocity: {value: [0.05, 0, 0], profile: {file: inlet.csv}, table: {file: pulse.csv},
                    scalars: {warm: {value: 302 K}, fuel: {value: 1}, ash: {value: 0}}}}
  xmax: {pressure: {value: 0}}
  ymin: wall
  ymax: {wall: {scalars: {warm: {flux: 1e-4}}}}
  z: wall
patches:
  vent: {face: ymax, mask: {file: mask.png},
         velocity: {value: [0, -0.01, 0], scalars: {warm: {value: 300 K}, fuel: {value: 1}, ash: {value: 0}}}}
regions: {out: {box: {from: [20, 0, 0]}, sponge: {towards: xmax, strength: 0.1}}}
bodies:
  tetra: {mesh: {file: tetra.stl, center: [8, 6, 4]}, wall: interpolated}
  rock:  {image: {file: rock.h5, dataset: rock, solid: 1, at: [13, 4, 2], isolated: fill}}
  chip:  {shape: {union: {a: {box: {from: [4, 0, 2], to: [7, 2, 6]}}, b: {sphere: {center: [5, 2, 4], radius: 1}}}},
          scalars: {warm: {conduct: {conductivity: 0.2, capacity: 0.4}}}}
run:    {steps: 20}
check:  {every: 5}
checkpoint: {every: 10, keep: 3}
output:
  log: {every: 5}
  series:
    flow:   {every: 2, of: [mass, kinetic_energy, enstrophy, max_velocity]}
    point:  {every: 3, of: probe, point: [17.3, 6.1, 4.5], statistics: {from: 3}}
    line:   {every: 7, of: line, from: [1, 10, 4], to: [23, 10, 4], points: 5}
    rate:   {every: 3, of: flow_rate, axis: x}
    change: {every: 9, of: residual}
    drag:   {every: 3, of: forces, body: tetra, area: 4}
    k:      {every: 5, of: permeability, axis: x}
    ring:   {every: 5, of: surface, body: tetra, axis: z, points: 4, point: [7.2, 5.2, 3.2]}
    t:      {every: 5, of: scalar, scalar: warm}
    nu:     {every: 5, of: heat, scalar: warm, face: ymax}
  fields:
    main: {every: 10, of: [velocity, density, pressure, tags, warm], precision: fp64}
    part: {every: 5, of: vorticity, region: {from: [3, 5, 2], to: [20, 10, 7]}, stride: 2}
  averages: {mean: {every: 3, of: [velocity, density, stress, fuel], from: 3, to: 17}}
  surfaces: {skin: {every: 7, body: tetra, of: [pressure, shear_stress]}}
  images:   {mid: {every: 10, of: speed}, curl: {every: 10, of: vorticity, axis: x}}
"""
# The same for levels, from an earlier result.
LEVELS = """\
domain: {cells: [24, 12, 8]}
fluid:  {viscosity: 0.05, velocity: 0.05, length: 12}
initial: {from: earlier/fields/main_0000000005.vtkhdf}
force:  {flow_rate: {velocity: 0.01, axis: x, every: 7, time: 200}}
faces:  {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}, z: periodic}
bodies:
  ball: {shape: {sphere: {center: [12, 6, 4], radius: 1.5}}, wall: interpolated}
  rock: {image: {file: rock.raw, size: [4, 4, 4], solid: 1, at: [4, 4, 2]}}
refine:
  near: {level: 1, box: {from: [6, 3, 0], to: [18, 9, 8]}}
  part: {level: 1, shape: {sphere: {center: [6, 6, 4], radius: 4}}}
  skin: {level: 2, around: ball, distance: 0.5, behind: 0.5}
run:    {steps: 10}
check:  {every: 5}
checkpoint: {every: 5, keep: 3}
output:
  log: {every: 5}
  series:
    flow:   {every: 2, of: [mass, kinetic_energy]}
    line:   {every: 7, of: line, from: [1, 10, 4], to: [23, 10, 4], points: 5}
    rate:   {every: 3, of: flow_rate, axis: x}
    change: {every: 4, of: residual}
    drag:   {every: 3, of: forces, body: ball, area: 4}
  fields:
    main: {every: 10, of: [velocity, density, tags]}
    low:  {every: 5, of: [velocity, vorticity], levels: 0, region: {from: [3, 5, 2], to: [20, 10, 7]}}
    high: {every: 5, of: [velocity, tags], levels: 2, region: {from: [2, 3, 1], to: [15, 11, 7]}}
  averages: {mean: {every: 3, of: [velocity, stress], from: 3, to: 9}}
  images:   {mid: {every: 10, of: speed, axis: z, at: 4}}
"""
EARLIER = """\
domain: {cells: [24, 12, 8]}
fluid:  {viscosity: 0.05, velocity: 0.05, length: 12}
faces:  {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}, z: periodic}
run:    {steps: 5}
output: {fields: {main: {every: 5, of: [velocity, density]}}}
"""

corners = [(0, 0, 0), (3, 0, 0), (0, 3, 0), (0, 0, 3)]
facets = "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex %g %g %g\n" % corners[k] for k in facet) + "endloop\nendfacet\n"
                 for facet in [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
write("tetra.stl", f"solid t\n{facets}endsolid t\n")
rock = (numpy.random.default_rng(1).random((4, 4, 4)) < 0.4).astype("u1")
write("rock.raw", rock.tobytes())
with h5py.File("rock.h5", "w") as file:
    file["rock"] = rock
write("inlet.csv", (",".join("1" * 12) + "\n") * 8)
write("pulse.csv", "0 0.5\n10 1\n30 1.1\n")
mask = numpy.zeros((8, 24), int)
mask[3:5, 10:14] = 255
write("mask.png", runs.grey_png(mask))
for name, text in ("grid", GRID), ("levels", LEVELS), ("earlier", EARLIER):
    write(name + ".yaml", text)
for name in "earlier", "grid", "levels":
    said = tagflow("run", name + ".yaml", "--output", name)
    if not check(said.code == 0 and not said.errors, f"{name}: {said}"):
        runs.finish()
WANTED = {name: runs.results(name) for name in ("grid", "levels")}
CHECKPOINT = "grid/checkpoints/step_0000000010.h5"
for name in "grid", "levels":  # as a job leaves it that was killed: there is something to go on from
    shutil.copytree(name, name + "_killed")
    os.remove(f"{name}_killed/report.json")
    write(f"{name}_killed/status.json", runs.json.dumps(load(name, "status.json") | {"state": "running"}))
    os.remove(sorted(runs.glob.glob(name + "_killed/checkpoints/*.h5"))[-1])

# Name: arguments ({}: the folder), ranks, the rank whose memory is refused, the folder it begins with, its results.
COMMANDS = {
    "check": (["check", "grid.yaml", "--ranks", "3"], 0, 0, None, None),
    "check levels": (["check", "levels.yaml", "--ranks", "3"], 0, 0, None, None),
    "keys": (["keys"], 0, 0, None, None),
    "info": (["info", CHECKPOINT], 0, 0, None, None),
    "grid": (["run", "grid.yaml", "--output", "{}"], 0, 0, None, "grid"),
    "levels": (["run", "levels.yaml", "--output", "{}"], 0, 0, None, "levels"),
    "grid on, rank 0": (["run", "grid.yaml", "--output", "{}", "--restart", "auto"], 2, 0, "grid_killed", "grid"),
    "grid on, rank 1": (["run", "grid.yaml", "--output", "{}", "--restart", "auto"], 2, 1, "grid_killed", "grid"),
    "levels, rank 0": (["run", "levels.yaml", "--output", "{}"], 2, 0, None, "levels"),
    "levels, rank 1": (["run", "levels.yaml", "--output", "{}"], 2, 1, None, "levels"),
}


def start(name, folder, more):
    """The command; its folder is made anew."""
    arguments, ranks, rank, begin, _ = COMMANDS[name]
    env = {"LD_PRELOAD": SHIM, "ALLOCATION_OF": arguments[0], "ALLOCATION_RANK": str(rank)}
    shutil.rmtree(folder, ignore_errors=True)
    if begin:
        shutil.copytree(begin, folder)
    return tagflow(*[a.format(folder) for a in arguments], ranks=ranks, env=env | more, limit=LIMIT)


def allocations(name):
    """The numbers of those that are refused."""
    listed = os.path.abspath(name.replace(" ", "_") + ".list")
    said = start(name, name + " listed", {"ALLOCATION_LIST": listed})
    if not check(said.code == 0, f"{name}, none refused: {said}"):
        return []
    first = {}
    with open(listed) as file:
        for line in file:
            number, callers = line.split(maxsplit=1)
            first.setdefault(callers, int(number))
    stride = max(1, min(STRIDE[COMMANDS[name][1]], len(first)))
    return sorted(first.values())[random.Random(name).randrange(stride)::stride]


def attempt(name, number):
    """How it ended (None: there is no such allocation), and what is wrong."""
    folder = f"{name} {number}".replace(" ", "_")
    hit = os.path.abspath(folder + ".hit")
    said = start(name, folder, {"ALLOCATION_AT": str(number), "ALLOCATION_HIT": hit})
    wanted, wrong = COMMANDS[name][4], ""
    if not os.path.exists(hit):
        return None
    os.remove(hit)
    if said.code == 1:
        if len(said.errors) != 1:
            wrong += "; not a reason in a line"
    elif said.code != 0 or said.errors:
        wrong += "; neither failed nor right"
    if wanted and os.path.exists(folder):
        torn = runs.faults(folder, temporary=True, quick=True)
        if torn:
            wrong += f"; torn: {torn}"
        if said.code == 1:
            if os.path.exists(folder + "/status.json") and load(folder, "status.json")["state"] not in ("failed", "starting", "running"):
                wrong += f"; its state is {load(folder, 'status.json')['state']}"
            again = tagflow("run", wanted + ".yaml", "--output", folder, "--restart", "auto")
            if again.code != 0:
                wrong += f"; with memory again: {again}"
        if not wrong:
            differ = runs.differences(WANTED[wanted], runs.results(folder))
            wrong += f"; not the same results: {differ[:5]}" if differ else ""
    shutil.rmtree(folder, ignore_errors=True)
    if wrong or "-v" in sys.argv:
        check(not wrong, f"{name}, allocation {number}: {said}{wrong} {said.lines[:3]}")
    return said.code


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    chosen = {name: pool.submit(allocations, name) for name in COMMANDS}
    ended = {name: [pool.submit(attempt, name, number) for number in numbers.result()] for name, numbers in chosen.items()}
    for name, codes in ended.items():
        count = collections.Counter(code.result() for code in codes)
        check(name == "keys" and not count or count[1] > 0 and count[None] * 10 < max(len(codes), 11),
              f"{name}: {len(codes)} allocations refused in turn; told {count[1]}, of no consequence {count[0]}, not reached {count[None]}")

runs.finish()
