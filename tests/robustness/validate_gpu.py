#!/usr/bin/python3
"""scripts/validate_gpu.py on the CPU and small grids: rows run, stop and go on to the same bits, fail when the physics is wrong, and
print the table. What it measures with Python alone is compared with numpy and h5py.

    validate_gpu.py all      the rows that take minutes, and the sizes in the table of rows; not in CI
"""
import json
import os
import re
import subprocess
import sys

import h5py
import numpy

import runs
from runs import ROOT, TAGFLOW, check, write

sys.path[:0] = [ROOT + "/scripts", ROOT + "/tests/physics"]
import channel
import reference
import validate_gpu as script

ALL = "all" in sys.argv[1:]
SCRIPT = ROOT + "/scripts/validate_gpu.py"
NAMES = [row.name for row in script.ROWS]


def build(name, text=None):
    """A build folder with the real program, or with a script in whose text REAL stands for it."""
    os.makedirs(name)
    if text is None:
        os.symlink(TAGFLOW, name + "/tagflow")
    else:
        write(name + "/tagflow", "#!/bin/bash\n" + text.replace("REAL", f"'{TAGFLOW}'"))
        os.chmod(name + "/tagflow", 0o755)
    return name


REAL = build("real")


def call(*arguments, folder=REAL, backend="cpu"):
    line = [SCRIPT, *map(str, arguments), "--build", folder] + (["--backend", backend] if backend else [])
    return subprocess.run(line, capture_output=True, text=True, timeout=runs.JOB_HANGS * (10 if ALL else 1), stdin=subprocess.DEVNULL,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"})


def result(folder, key):
    return runs.load(folder, "validate_gpu.json")["rows"][key]


def row(name):
    return next(row for row in script.ROWS if row.name == name)


def refused(said, words, code=2):
    lines = said.stderr.splitlines()
    return said.returncode == code and len(lines) == 1 and lines[0].startswith("validate_gpu.py: ") and words in lines[0]


# ---- the references, and what is measured without numpy ----

curve = reference.TAYLOR_GREEN
top = curve[:, 2].argmax()
check(script.PEAK == curve[top, 2] and script.PEAK_TIME == curve[top, 0] and numpy.array_equal(script.CHANNEL, channel.DNS),
      "references are those of the tests and of scripts/channel.py")
t = numpy.arange(0, 3, 0.01)
energy = 0.1 - 0.01 * t + 0.002 * numpy.sin(2.1 * t) + 1e-5 * numpy.cos(40 * t)
found = numpy.array(script.decay(list(t), list(energy), 0.2))
fit = [-numpy.polyfit(t[i - 20:i + 21] - t[i], energy[i - 20:i + 21], 4)[3] for i in range(20, len(t) - 20)]
check(numpy.allclose(found[:, 0], t[20:-20]) and numpy.allclose(found[:, 1], fit, rtol=1e-9, atol=1e-12), "-dE/dt is numpy.polyfit's")

small = {"domain.cells": [24, 12, 8], "fluid.length": 6, "fluid.viscosity": 0.0045 * 6 / 180, "force.acceleration": [0.0045**2 / 6, 0, 0],
         "run.steps": 300, "output.averages.mean": {"every": 5, "of": ["velocity", "stress"], "from": 100}}
said = runs.tagflow("run", ROOT + "/configs/channel_180.yaml", "--output", "channel", *runs.sets(small))
check(said.code == 0, f"a small channel: {said}")
path = "channel/fields/mean_0000000300.vtkhdf"
with h5py.File(path) as file:
    for name in "velocity_mean", "reynolds_stress":
        shape, values = script.dataset(path, ["VTKHDF", "PointData", name])
        check(numpy.array_equal(numpy.reshape(values, shape), file["VTKHDF/PointData/" + name][...]), f"{name} is read as by h5py")
known = channel.Channel("channel")
there = script.Run("channel").average("mean", ["velocity_mean", "reynolds_stress"])
u, uv = map(numpy.array, script.Channel.profiles(there, 24, 12, 8))
check(numpy.allclose((u + u[::-1])[:6] / 2, known.u, rtol=1e-6) and numpy.allclose((uv - uv[::-1])[:6] / 2, known.uv, rtol=1e-4, atol=1e-10) and
      abs(known.uv).max() > 1e-7, f"profiles are those of scripts/channel.py, <u'v'> {abs(known.uv).max():.2g}")
for names, words in ((["VTKHDF", "PointData", "other"], "there is no"), (["VTKHDF"], "in one piece")):
    try:
        script.dataset(path, names)
        check(False, f"{names} is read")
    except script.Failed as error:
        check(words in str(error), f"{error}")
check(script.change_of_sign([(1, -1), (2, -0.5), (3, 0.5), (4, 1)], 0.5) == 2.0 and numpy.isnan(script.change_of_sign([(1, 1), (2, 2)], 0)),
      "length of the recirculation")

# ---- rows ----

said = call("--list", backend=None)
check(said.returncode == 0 and [line.split()[0] for line in said.stdout.splitlines()[1:-1]] == NAMES, "--list has every row")
QUICK = ["rock", "tgv_256", "sphere_20"]
for name in QUICK:
    scale = {"rock": 0.125, "tgv_256": 0.25}.get(name, 0.2)
    said = call(name, "--scale", scale, "--out", "small")
    entry = result("small", f"{name}@{scale:g}")
    check(said.returncode == 0 and said.stdout.startswith("small ") and "small grid" in said.stdout and entry["passed"] is False and entry["state"] == "done"
          and all(q["passed"] for q in entry["quantities"]), f"{name}: {said.stdout.splitlines()[0]}{said.stderr}")
entry = result("small", "rock@0.125")
check(entry["device"] and entry["commit"] and entry["date"] and entry["glups"] > 0 and entry["joules"] is None and len(entry["state_hash"]) == 16
      and not os.path.exists("small/rows/rock@0.125/checkpoints"), "the JSON says what it was run on")
before = os.stat("small/rows/rock@0.125/report.json").st_mtime_ns
said = call("rock", "--scale", 0.125, "--out", "small")
check(said.returncode == 0 and "permeability" in said.stdout and os.stat("small/rows/rock@0.125/report.json").st_mtime_ns == before,
      "a row that is done is not run again")

# In pieces: the first call stops at once, later ones after some seconds.
STEPS = row("sphere_20").settings(0.2)["run.steps"]
pieces = build("pieces", 'case "$*" in "run "*) if [ ! -e once ]; then touch once; exec REAL "$@" --set "run.time_limit=1 s"; fi ;; esac\nexec REAL "$@"\n')
codes, stopped = [], None
while len(codes) < 20 and codes[-1:] in ([], [75]):
    said = call("sphere_20", "--scale", 0.2, "--out", "parts", "--seconds", 10, folder=pieces)
    codes.append(said.returncode)
    stopped = stopped or result("parts", "sphere_20@0.2").get("step")
whole, parts = result("small", "sphere_20@0.2"), result("parts", "sphere_20@0.2")
check(len(codes) > 1 and set(codes[:-1]) == {75} and codes[-1] == 0 and 0 < stopped < STEPS, f"calls end with {codes}, the first at step {stopped} of {STEPS}")
check(whole["state_hash"] == parts["state_hash"] and whole["quantities"] == parts["quantities"] and
      open("small/rows/sphere_20@0.2/series/drag.csv").read() == open("parts/rows/sphere_20@0.2/series/drag.csv").read(),
      f"and with the same bits as in one call: {parts['state_hash']}")

# Without the time, and without a checkpoint that would be kept.
said = call("tgv_512", "--seconds", 40, "--largest", 16, "--out", "none")
check(said.returncode == 75 and said.stdout.startswith("left  tgv_512") and "too large" in said.stdout and not os.path.exists("none/rows"), said.stdout)
said = call("sphere_20", "--scale", 0.2, "--seconds", 4, "--largest", 0.01, "--out", "none")
check(said.returncode == 75 and "out of time" in said.stdout and result("none", "sphere_20@0.2")["state"] == "left", said.stdout)
said = call("sphere_20", "--scale", 0.2, "--out", "none", folder=build("begins", 'case "$*" in "run "*"--overwrite"*) exit 1 ;; *) exec REAL "$@" ;; esac\n'))
check(said.returncode == 1, "what was ended begins anew")

# A solver that is wrong, diverges, or writes nothing.
for name, text, words in (("off", 'case "$*" in "run "*) exec REAL "$@" --set solver.magic=0.25 ;; esac\nexec REAL "$@"\n', "at 0.372942 to 0.373017"),
                          ("diverges", 'case "$*" in "run "*) echo "tagflow: the flow diverged"; exit 3 ;; esac\nexec REAL "$@"\n', "the flow diverged"),
                          ("killed", 'case "$*" in "run "*) kill -9 $$ ;; esac\nexec REAL "$@"\n', "status -9"),
                          ("mute", 'case "$*" in "run "*) REAL "$@" && rm "$4"/series/k.csv; exit ;; esac\nexec REAL "$@"\n', "cannot be measured")):
    said = call("rock", "--scale", 0.125, "--out", "wrong_" + name, folder=build(name, text))
    check(said.returncode == 1 and said.stdout.startswith("FAIL  rock") and words in said.stdout and len(said.stdout.splitlines()) == 2 and not said.stderr,
          f"{name}: {said.stdout.splitlines()[0][:150]}")
said = call("rock", "--scale", 0.125, "--out", "wrong_diverges")
check(said.returncode == 0, f"and a row that failed is run again: {said.stdout}")

# ---- the table ----

document = runs.load("small", "validate_gpu.json")
full = {"rows": {}}
for name, key in ("rock", "rock@0.125"), ("tgv_256", "tgv_256@0.25"):
    entry = document["rows"][key] | {"scale": 1}
    for q, mine in zip(entry["quantities"], row(name).quantities):
        q["passed"] = mine.near(q["value"], mine.gate)
    full["rows"][name] = entry
os.makedirs("full")
write("full/validate_gpu.json", json.dumps(full))
said = call("--table", "--out", "full", backend=None)
lines = said.stdout.splitlines()
check(said.returncode == 0 and len(lines) == 2 + 1 + 2 and all(line.count("|") == 7 for line in lines), f"a table of {len(lines)} lines")
rock_line = next((line for line in lines if "`validate_gpu.py rock`" in line), "")
tgv_line = next((line for line in lines if "`validate_gpu.py tgv_256`" in line), "")
check("0.37298 (+0.00 %)" in rock_line and "**outside**" not in rock_line and "**outside**" in tgv_line and "0.012729 to 0.012986" in tgv_line,
      "with value, gate, and what is outside")
check(refused(call("--table", "--out", "small", backend=None), "no row at full size"), "no table of small grids")
check(refused(call("--table", "--out", "nowhere", backend=None), "there is no nowhere/validate_gpu.json"), "no table of nothing")

# ---- usage ----

for arguments, words in ((["rocks"], "there is no row 'rocks'"), (["--scale", 2], "--scale"), (["--scale", 0], "--scale"), (["--scale", "nan"], "--scale"),
                         (["--seconds", -1], "--seconds"), (["--largest", "x"], "--largest"), (["--what"], "--what"), (["--backend", "tpu"], "--backend")):
    check(refused(call(*arguments, "--out", "usage", backend=None if "--backend" in arguments else "cpu"), words), f"{arguments}")
check(refused(call("rock", folder="nothing_here"), "there is no tagflow"), "no program")
os.makedirs("broken")
write("broken/validate_gpu.json", "{")
check(refused(call("rock", "--out", "broken"), "is not a file of this script"), "a damaged file of results")
write("file", "")
check(refused(call("rock", "--out", "file/x"), "--out"), "a folder that cannot be made")
lacks = build("lacks", 'REAL "$@" | grep -v cuda:\n')
check(refused(call("rock", "--out", "usage", folder=lacks, backend="cuda"), "was built without cuda", 1), "no GPU")
check(not os.path.exists("usage/validate_gpu.json"), "and nothing is written")

# ---- all rows, and what the table of rows says of them ----

if ALL:
    for name in NAMES:
        if name in QUICK or name == "channel_fine":
            continue
        scale = {"tgv_512": 0.125, "channel": 0.15, "heated_cube": 0.25, "cylinder_3900": 0.125, "sphere_644": 0.2, "sphere_2000": 0.2}.get(name, 0.25)
        said = call(name, "--scale", scale, "--out", "small")
        check(said.returncode == 0 and said.stdout.startswith("small "), f"{name}: {said.stdout.splitlines()[0]}")
for mine in script.ROWS if ALL else [row("heated_cube"), row("sphere_644")]:
    settings = mine.settings(1.0)
    if hasattr(mine.measure.__self__, "prepare"):
        settings |= mine.measure.__self__.prepare(".")
        settings["bodies.rock.image.file"] = os.path.abspath("rock.raw")
    said = runs.tagflow("check", f"{ROOT}/configs/{mine.case}.yaml", "--json", "check.json", *runs.sets(settings))
    known = runs.load(".", "check.json") if said.code == 0 else {}
    levels = known.get("levels")
    cells = sum(level["cells"] for level in levels) if levels else numpy.prod(known["cells"])
    each = sum(level["updates"] for level in levels) if levels else known["fluid_cells"]
    steps = 2000 if mine.name == "rock" else settings.get("run.steps") or settings["run"]["steps"]
    check(said.code == 0 and not re.search("warning", said.err), f"{mine.name}: {said}, {said.err}")
    check(abs(cells / 1e6 - mine.cells) <= 0.06 and abs(each * steps / 1e12 / mine.updates - 1) < 0.05 and
          abs(known["checkpoint_bytes"] / 1e6 / mine.checkpoint - 1) < 0.01, f"{mine.name}: {cells / 1e6:.1f}e6 cells, {each * steps / 1e12:.3f}e12 updates, "
          f"{known['checkpoint_bytes'] / 1e6:.0f} MB a checkpoint, as listed")
runs.finish()
