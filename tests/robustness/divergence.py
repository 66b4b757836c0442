#!/usr/bin/python3
"""A flow that diverges: exit status 3, a message that says where, the same on 1 to 4 ranks, the state in
status.json and report.json, and nothing written from a bad state, however far apart the looks at it are.
A number that is not finite is put into one cell, too: by way of a checkpoint, and of the memory of a running
process."""
import math
import os
import re
import shutil
import signal
import struct
import subprocess

import runs
from reseal import set_population
from runs import CASE, check, load, tagflow, write

write("case.yaml", CASE)
LOUD = {"faces.ymax.wall.velocity": [0.5, 0, 0.2], "fluid.viscosity": 1e-6, "run.steps": 2000}
CASES = {
    # name: settings, words of the message, the step that must not be passed
    "limit": ({"check.max_velocity": 0.002}, r"\|u\| = \S+ \(Mach \S+\) above check\.max_velocity 0\.002", 5),
    "interval": (LOUD | {"check.every": 1000, "output.log.every": 1000, "output.series": {}}, None, 1000),
    "not finite": (LOUD | {"check.every": 2000, "output": {"log": {"every": 0}}}, "not a finite number", 2000),
    "series": (LOUD | {"check.every": 1000, "output.log.every": 1000, "output.series.flow.every": 1,
                       "output.fields": {}, "output.images": {}}, None, 1000),
}

for name, (settings, words, limit) in CASES.items():
    messages, files = {}, {}
    for ranks in [0, 2, 3, 4] if name == "interval" else [0, 3]:
        folder = f"{name}_{ranks}"
        said = tagflow("run", "case.yaml", "--output", folder, *runs.sets(settings), ranks=ranks)
        messages[ranks] = said.errors
        if not check(said.code == 3 and len(said.errors) == 1, f"{name}, {ranks} ranks: {said}"):
            continue
        found = re.search(r"diverged.* at step (\d+) in cell \[(\d+), (\d+), (\d+)\], after step (\d+) ", said.err)
        if not check(found and re.search(words or "diverged", said.err), "it says what and where, and since when"):
            continue
        step, *cell, good = map(int, found.groups())
        check(good < step <= limit and all(c < n for c, n in zip(cell, [16, 12, 4])),
              f"after step {good}, by step {step}, in cell {cell}")
        status, report = load(folder, "status.json"), load(folder, "report.json")
        check([status["state"], status["step"], report["state"], report["step"], report["state_hash"]] ==
              ["diverged", step, "diverged", step, None], "the state is in status.json and report.json")
        log = open(os.path.join(folder, "log.txt")).read().splitlines()
        check("diverged" in log[-1], "and in the log")
        torn = runs.faults(folder)  # values that are not finite, too
        late = [file for file in runs.tree(folder) if re.search(r"_(\d{10})\.", file) and
                int(re.search(r"_(\d{10})\.", file)[1]) > good]
        files[ranks] = [file for file in runs.tree(folder) if "_" in file]
        check(not torn and not late, f"{len(files[ranks])} sound files, none after step {good} {torn + late}")
        if "flow" in settings.get("output.series", {"flow": 0}) and "output" not in settings:
            rows = runs.series_text(folder).decode().splitlines()
            check(int(rows[-1].split(",")[0]) <= good, f"{len(rows) - 1} rows, none after step {good}")
    check(all(message == messages[0] for message in messages.values()), f"{name}: the same message on all ranks")
    check(all(file == files.get(0) for file in files.values()), f"{name}: the same files on all ranks")

OFF = {"check.every": 0, "check.max_velocity": 0.002}
said = tagflow("run", "case.yaml", "--output", "off", *runs.sets(OFF | {"checkpoint.every": 0}))
check(said.code == 0 and load("off", "status.json")["state"] == "done", f"with check.every=0 nobody looks: {said}")
for ranks in 0, 2:
    folder = f"off_{ranks}"
    said = tagflow("run", "case.yaml", "--output", folder, *runs.sets(OFF | {"checkpoint.every": 10}), ranks=ranks)
    check(said.code == 3 and len(said.errors) == 1 and "at step 10 in cell" in said.err and
          not os.listdir(f"{folder}/checkpoints"), f"but before a checkpoint, {ranks} ranks: {said}")

said = tagflow("run", "case.yaml", "--output", "units", *runs.sets({
    "units": {"dx": "1 mm", "dt": "1 ms"}, "check.max_velocity": "0.002 m/s"}))
found = re.search(r"above check.max_velocity 0.002 m/s at step \d+ in cell \[(\d+), (\d+), (\d+)\] \((.*) m\)", said.err)
check(said.code == 3 and found and
      [float(x) for x in found[4].split(",")] == [round(1e-3 * (int(found[i]) + 0.5), 9) for i in (1, 2, 3)],
      f"with units, in units: {said}")


# ---- the remedies, on flows that a user begins with: the line names one that works ----

RIB = {"domain": {"cells": [120, 24, 1]}, "fluid": {"viscosity": 1e-3}, "solver": {"subgrid": "none"}, "run": {"steps": 10000}, "check": {"every": 100},
       "faces": {"xmin": {"velocity": {"value": [0.05, 0, 0]}}, "xmax": "pressure", "ymin": "wall", "ymax": "slip", "z": "periodic"},
       "initial": {"flow": "uniform", "velocity": [0.05, 0, 0]},
       "bodies": {"rib": {"shape": {"box": {"from": [24, 0, 0], "to": [30, 6, 1]}}}}, "output": {"log": {"every": 0}}}
STEP = {"domain": {"cells": [80, 32, 1]}, "fluid": {"viscosity": 8e-4}, "solver": {"subgrid": "none"}, "run": {"steps": 10000}, "check": {"every": 100},
        "faces": {"xmin": "wall", "xmax": {"nonreflecting": {"reflection": 0.0018}}, "y": "wall", "z": "periodic"},
        "patches": {"in": {"face": "xmin", "rectangle": {"from": [16, 0], "to": [32, 1]},
                           "velocity": {"value": [0.08, 0, 0], "profile": "parabola", "ramp": 1000}}}, "output": {"log": {"every": 0}}}
SQUARE = {"domain": {"cells": [100, 40, 1]}, "fluid": {"viscosity": 0.05 / 75}, "solver": {"subgrid": "none"}, "run": {"steps": 12000}, "check": {"every": 100},
          "faces": {"xmin": {"velocity": {"value": [0.05, 0, 0], "ramp": 2000}}, "xmax": "pressure", "y": "slip", "z": "periodic"},
          "bodies": {"b": {"shape": {"box": {"from": [26, 16, 0], "to": [34, 24, 1]}}}}, "output": {"log": {"every": 0}}}
WAKE = SQUARE | {"fluid": {"viscosity": 0.05 / 30}, "faces": SQUARE["faces"] | {"xmax": "outflow"}}
LID = {"domain": {"cells": [32, 32, 1]}, "fluid": {"viscosity": 1e-3}, "run": {"steps": 5000}, "check": {"every": 100}, "solver": {"collision": "trt"},
       "faces": {"x": "wall", "ymin": "wall", "ymax": {"wall": {"velocity": [0.1, 0, 0]}}, "z": "periodic"}, "output": {"log": {"every": 0}}}
PIPE = {"domain": {"cells": [1, 16, 16]}, "fluid": {"viscosity": 0.02}, "run": {"steps": 10000}, "check": {"every": 100},
        "faces": {"x": "periodic", "y": "wall", "z": "wall"}, "force": {"acceleration": [1e-3, 0, 0]}, "output": {"log": {"every": 0}}}
PLUME = {"domain": {"cells": [32, 32, 1]}, "fluid": {"viscosity": 0.03}, "run": {"steps": 3000}, "check": {"every": 20},
         "force": {"gravity": [0, -0.01, 0]}, "scalars": {"t": {"kind": "heat", "diffusivity": 0.04, "reference": 300, "expansion": 0.02}},
         "faces": {"xmin": {"wall": {"scalars": {"t": {"value": 300}}}}, "xmax": "wall", "y": "wall", "z": "periodic"}, "output": {"log": {"every": 0}},
         "bodies": {"chip": {"shape": {"box": {"from": [12, 0, 0], "to": [20, 4, 1]}}, "scalars": {"t": {"conduct": {"conductivity": 0.4, "source": 1}}}}}}
SUBGRID = "solver.subgrid {smagorinsky: {constant: 0.1}}"
GIVEN = {"solver.subgrid": {"smagorinsky": {"constant": 0.1}}}
for name, case, words, others, works in [
        ("rib", RIB, ["try " + SUBGRID, "finer grid"], ["solver.collision", "outlet", "a ramp"], GIVEN),
        ("step", STEP, ["try " + SUBGRID + "; a finer grid or a larger viscosity; at xmax a sponge before the outlet"], ["solver.collision", "velocity or", "pressure"], GIVEN),
        ("square", SQUARE, ["try " + SUBGRID + "; a finer grid or a larger viscosity"], ["nonreflecting"], GIVEN),
        ("wake", WAKE, ["try at xmax nonreflecting in place of outflow, or a sponge before the outlet (regions); " + SUBGRID], ["pressure"], {"faces.xmax": "nonreflecting"}),
        ("lid", LID, ["try solver.collision rr with " + SUBGRID], ["outlet", "a ramp", "relax"], GIVEN | {"solver.collision": "rr"}),
        ("pipe", PIPE, ["smaller force", SUBGRID], ["solver.collision", "outlet"], {"force.acceleration": [1e-5, 0, 0]}),
        ("plume", PLUME, ["try a smaller time step, or smaller scalars.t.expansion times its differences, as buoyancy may drive velocities of Mach "],
         ["solver.", "outlet"], {"scalars.t.expansion": 2e-5})]:
    write(name + ".yaml", runs.json.dumps(case))
    said = tagflow("run", name + ".yaml", "--output", name)
    line = said.errors[0] if said.errors else ""
    check(said.code == 3 and all(word in line for word in words) and not any(word in line.split(": try ")[-1] for word in others), f"{name}: {said}")
    said = tagflow("run", name + ".yaml", "--output", name + " mended", *runs.sets(works))
    check(said.code == 0, f"{name}, mended by {works}: {said}")


# `check` estimates what a source alone drives, and says so before the run.
for settings, warns in ({}, True), ({"scalars.t.expansion": 2e-5}, False):
    said = tagflow("check", "--verbose", "plume.yaml", *runs.sets(settings))
    check(said.code == 0 and ("warning: scalars.t: buoyancy may drive velocities of Mach " in said.err and
                              ", and sources and fluxes may make differences of " in said.err) == warns, f"plume, {settings}: {said.err}")


# ---- one bad number in one cell, by way of a checkpoint that is whole otherwise ----

PLACE = r"diverged.* at step (\d+) in cell \[(\d+), (\d+), (\d+)\]"
CHECKPOINTS = {"checkpoint": {"every": 10, "keep": 9}, "output": {"log": {"every": 0}}}


def checkpoints(folder):
    names = sorted(name for name in runs.tree(folder) if name.startswith("checkpoints/"))
    return {name: open(os.path.join(folder, name), "rb").read() for name in names}


said = tagflow("run", "case.yaml", "--output", "clean", *runs.sets(CHECKPOINTS | {"run.steps": 20}))
check(said.code == 0 and len(checkpoints("clean")) == 2, f"a run with checkpoints: {said}")
said = tagflow("run", "case.yaml", "--output", "clean", "--restart", "auto", *runs.sets(CHECKPOINTS | {"run.steps": 60}))
check(said.code == 0 and len(checkpoints("clean")) == 6, f"it goes on: {said}")
for what, value, i, cell, ranks, every in [
        ("NaN", math.nan, 0, (9, 7, 2), 0, 5), ("NaN", math.nan, 7, (0, 0, 0), 2, 5), ("infinite", math.inf, 3, (15, 11, 3), 4, 0),
        ("-infinite", -math.inf, 18, (5, 5, 1), 0, 0), ("huge", 3e38, 1, (8, 1, 3), 2, 0), ("too fast", 0.9, 1, (3, 9, 0), 0, 7)]:
    folder = f"bad_{what}_{ranks}_{every}"
    shutil.copytree("clean", folder)
    for step in range(30, 70, 10):
        os.remove(f"{folder}/checkpoints/step_{step:010d}.h5")
    set_population(f"{folder}/checkpoints/step_0000000020.h5", *cell, i, value)
    kept = checkpoints(folder)
    check(tagflow("info", f"{folder}/checkpoints/step_0000000020.h5").code == 0, f"{what} in cell {cell}: sealed, it is whole")
    said = tagflow("run", "case.yaml", "--output", folder, "--restart", "auto", ranks=ranks,
                   *runs.sets(CHECKPOINTS | {"run.steps": 100, "check.every": every}))
    found = re.search(PLACE, said.err)
    near = found and int(found[1]) <= 20 + (every or 10) and all(
        min((int(f) - c) % n, (c - int(f)) % n) <= int(found[1]) - 20 for f, c, n in zip(found.groups()[1:], cell, (16, 12, 4)))
    check(said.code == 3 and len(said.errors) == 1 and near, f"{what} on {ranks} ranks, check.every {every}: {said}")
    check(checkpoints(folder) == kept, f"no checkpoint from it, the earlier ones stay: {sorted(checkpoints(folder))}")
    check(load(folder, "status.json")["state"] == load(folder, "report.json")["state"] == "diverged" and
          not runs.faults(folder), f"the state is written, nothing is torn: {runs.faults(folder)}")
    again = tagflow("run", "case.yaml", "--output", folder, "--restart", "auto", ranks=ranks,
                    *runs.sets(CHECKPOINTS | {"run.steps": 100, "check.every": every}))
    check(again.code == 3 and len(again.errors) == 1 and checkpoints(folder) == kept, f"again: {again}")
    good = tagflow("run", "case.yaml", "--output", folder, "--restart", f"{folder}/checkpoints/step_0000000010.h5",
                   *runs.sets(CHECKPOINTS | {"run.steps": 60, "check.every": every}))
    check(good.code == 0 and load(folder, "report.json")["state_hash"] == load("clean", "report.json")["state_hash"],
          f"from the checkpoint before, to the same state: {good}")

# ---- in the memory of a running process: a cosmic ray ----


def poison(pid, nan=struct.pack("<f", math.nan)):
    """NaN over the largest block of memory that is written to, the populations; how many bytes, 0: not allowed."""
    largest = (0, 0)
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            place, rights, _, _, inode, *name = line.split()
            low, high = (int(x, 16) for x in place.split("-"))
            if rights.startswith("rw") and rights.endswith("p") and inode == "0" and (not name or name[0] == "[heap]"):
                largest = max(largest, (high - low, low))
    bytes, low = largest
    middle = low + bytes // 2 // 4096 * 4096
    try:
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(middle)
            return memory.write(nan * 1024)
    except PermissionError:
        return 0


# The populations (38 MB) are by far the largest block; the run is stopped at a step when they are changed.
large = runs.sets({"domain.cells": [80, 80, 80], "fluid.length": 80, "run.steps": 100000, "checkpoint": {"every": 40, "keep": 2},
                   "check.every": 20, "output": {"log": {"every": 20}}})
for ranks in [0]:
    folder = f"ray_{ranks}"
    with open("ray.err", "w") as err, \
            subprocess.Popen(runs.command(["run", "case.yaml", "--output", folder] + large, ranks), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=err, text=True) as process:
        for line in process.stdout:
            if line.startswith("step 60 "):
                break
        process.send_signal(signal.SIGSTOP)
        written = poison(process.pid)
        process.send_signal(signal.SIGCONT)
        if not written:
            print("     not tried: the memory of another process may not be written here")
            process.kill()
        process.stdout.read()
        code = process.wait()
    if written:
        said = runs.Said(code, "", open("ray.err").read())
        found = re.search(PLACE + r", after step (\d+)", said.err)
        check(code == 3 and len(said.errors) == 1 and found and 60 < int(found[1]) <= 120 and
              int(found[1]) - 20 <= int(found[5]) < int(found[1]), f"NaN in the memory of a running process: {said}")
        left = sorted(checkpoints(folder))
        check(found and left and all(int(name[-13:-3]) <= int(found[5]) for name in left) and
              all(tagflow("info", f"{folder}/{name}").code == 0 for name in left), f"checkpoints: {left}")

# Scalars: values outside of all given ones are a warning, a temperature below 0 K is the end; with the limiter there are none.
write("pulse.yaml", """\
domain: {cells: [32, 32, 1]}
fluid: {viscosity: 0.02}
faces: {x: periodic, y: periodic, z: periodic}
initial: {flow: uniform, velocity: [0.05, 0.03, 0]}
scalars: {T: {kind: heat, diffusivity: 5.0e-5, initial: {value: 20, shapes: {a: {box: {from: [8, 8, 0], to: [16, 16, 1]}, value: 300}}}}}
run: {steps: 200}
check: {every: 20}
""")
OUTSIDE = "is outside of all values given, 20 to 300"
for name, settings, code in ("kelvin", {"limiter": "none"}, 3), ("species", {"limiter": "none", "kind": "species"}, 0), ("limited", {}, 0):
    said = tagflow("run", "pulse.yaml", "--output", name, *runs.sets({f"scalars.T.{key}": value for key, value in settings.items()}))
    log, report = open(f"{name}/log.txt").read(), load(name, "report.json")
    check(said.code == code and ("scalars.T is wrong: -" in said.err) == (code == 3), f"{name}: exit status {said.code} {said.err[-300:]}")
    warned = [log.count(OUTSIDE), sum(OUTSIDE in one["text"] and one["name"] == "scalar_outside" and one["step"] > 0 for one in report["warnings"])]
    check(warned == ([1, 1] if settings else [0, 0]), f"values outside of those given: {warned} warnings")

runs.finish()
