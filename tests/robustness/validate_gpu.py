#!/usr/bin/python3
"""scripts/validate_gpu.py on the CPU and small grids: rows run, stop and go on to the same bits, fail when the physics is wrong, and
print the table. What it measures with Python alone is compared with numpy and h5py.

    validate_gpu.py all      the rows that take minutes, and the sizes in the table of rows; not in CI
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

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
TEMPORARY = os.path.abspath("temporary")
os.makedirs(TEMPORARY)


HANGS = runs.JOB_HANGS * (10 if ALL else 1)


def start(*arguments, folder=REAL, backend="cpu"):
    line = [SCRIPT, *map(str, arguments), "--build", folder] + (["--backend", backend] if backend else [])
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, start_new_session=True,
                            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": TEMPORARY})


def ended(process):
    out, err = process.communicate(timeout=HANGS)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def call(*arguments, **how):
    return ended(start(*arguments, **how))


def first_step(folder, process, after=0):
    """Waits until the row's tagflow is beyond a step; returns its process, None if it does not come there."""
    limit = time.monotonic() + runs.JOB_HANGS
    before = os.stat(folder + "/status.json").st_mtime_ns if os.path.exists(folder + "/status.json") else 0
    while process.poll() is None and time.monotonic() < limit:
        try:
            status = runs.load(folder, "status.json")
            if status["state"] == "running" and status["step"] > after and os.stat(folder + "/status.json").st_mtime_ns > before:
                return status["pid"]
        except (OSError, ValueError, KeyError):
            pass
        time.sleep(0.02)
    return None


def result(folder, key):
    return runs.load(folder, "validate_gpu.json")["rows"].get(key, {}) if os.path.exists(folder + "/validate_gpu.json") else {}


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
listed = [line for line in said.stdout.splitlines()[1:-1] if not line.startswith(" ")]
check(said.returncode == 0 and [line.split()[0] for line in listed] == NAMES, "--list has every row")
check(all(abs(float(line.split()[4]) - 1e3 * float(line.split()[2][:-3]) / float(line.split()[3])) <= 0.03 * float(line.split()[4]) + 1 and
          abs(float(line.split()[4]) + float(line.split()[5]) - float(line.split()[6])) <= 1 for line in listed), "and seconds that follow from its updates")
check("largest -dE/dt: reference 0.0128575 V³/L (spectral, van Rees et al. 2011), gate 0.0131175 to 0.0131965" in said.stdout and
      "do not meet 1 %" in said.stdout, "gates of a right program: Taylor-Green at 256^3, which a CPU has 2.3 % high")
tgv = row("tgv_256").quantities[0]
check(tgv.near(0.013157, tgv.gate) and not tgv.near(0.013088, tgv.gate) and not tgv.near(script.PEAK, tgv.gate), "its gate has a CPU's value, not that of rr")
check(abs(row("sphere_20").quantities[0].reference - 2.735) < 5e-4 and abs(row("sphere_100").quantities[0].reference - 1.087) < 5e-4, "Clift's formula")
QUICK = ["rock", "tgv_256", "sphere_20"]
for name in QUICK:
    scale = {"rock": 0.125, "tgv_256": 0.25}.get(name, 0.2)
    said = call(name, "--scale", scale, "--out", "small")
    entry = result("small", f"{name}@{scale:g}")
    check(said.returncode == 0 and said.stdout.startswith("small ") and "small grid" in said.stdout and entry["passed"] is False and entry["state"] == "done"
          and all(q["within_limits"] for q in entry["quantities"]), f"{name}: {said.stdout}{said.stderr}")
    check(all(f"{q['name']}: {q['value']:.6g}" in said.stdout and f"reference {q['reference']:.6g}, error {q['error_percent']:+.2f} %, gate {q['gate'][0]:.6g} to " in said.stdout
              for q in entry["quantities"]) and len(said.stdout.splitlines()) == 2 + len(entry["quantities"]), "with value, reference, error and gate")
entry = result("small", "rock@0.125")
check(entry["device"] and entry["commit"] and entry["date"] and entry["glups"] > 0 and entry["joules"] is None and len(entry["state_hash"]) == 16
      and not os.path.exists("small/rows/rock@0.125/checkpoints"), "the JSON says what it was run on")
before = os.stat("small/rows/rock@0.125/report.json").st_mtime_ns
said = call("rock", "--scale", 0.125, "--out", "small")
check(said.returncode == 0 and "permeability" in said.stdout and "done earlier, 20" in said.stdout and "1 of them earlier" in said.stdout and
      os.stat("small/rows/rock@0.125/report.json").st_mtime_ns == before, "a row that is done is not run again, and marked")

# In pieces: the first call stops at once, the next by signals, one is killed, and the last goes on to the end.
SPHERE = ("sphere_20", "--scale", 0.2)
FOLDER, STEPS = "parts/rows/sphere_20@0.2", row("sphere_20").settings(0.2)["run.steps"]
pieces = build("pieces", 'case "$*" in "run "*) if [ ! -e once ]; then touch once; exec REAL "$@" --set "run.time_limit=1 s"; fi ;; esac\nexec REAL "$@"\n')
said = call(*SPHERE, "--out", "parts", folder=pieces)
stopped = [result("parts", "sphere_20@0.2").get("step", 0)]
check(said.returncode == 75 and 0 < stopped[0] < STEPS, f"out of time at step {stopped[0]} of {STEPS}")
seconds = [runs.load(FOLDER, "report.json")["seconds"]]
for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
    process = start(*SPHERE, "tgv_512", "--out", "parts")
    pid = first_step(FOLDER, process, stopped[-1])
    os.killpg(process.pid, number)  # as a terminal does it
    said, name = ended(process), signal.Signals(number).name
    entry = result("parts", "sphere_20@0.2")
    seconds.append(runs.load(FOLDER, "report.json")["seconds"])
    check(pid and said.returncode == 128 + number and f"stopped by {name} at step {entry['step']}, with a checkpoint" in said.stdout and
          said.stderr.splitlines()[-1].startswith(f"validate_gpu.py: ended by {name}; to go on: ") and "--scale 0.2" in said.stderr.splitlines()[-1] and
          entry["state"] == "stopped" and entry["step"] > stopped[-1] and not os.path.exists(f"/proc/{pid}") and not result("parts", "tgv_512@0.2"),
          f"{name}: {said.returncode}, step {entry['step']}")
    stopped.append(entry["step"])
shutil.copytree("parts", "gone")
shutil.rmtree("gone/rows/sphere_20@0.2/checkpoints")
said = call(*SPHERE, "--out", "gone", "--seconds", 7)
entry = result("gone", "sphere_20@0.2")
check(f"its checkpoint of step {stopped[-1]} is no longer in" in said.stdout and
      entry["seconds"] == runs.load("gone/rows/sphere_20@0.2", "report.json")["seconds"], f"without its checkpoint it begins anew: {said.stdout}")
process = start(*SPHERE, "--out", "parts")
pid = first_step(FOLDER, process, stopped[-1])
other = call(*SPHERE, "--out", "parts")
check(refused(other, f"another call of this script runs there, process {process.pid} on "), f"a second call: {other.stderr}")
process.kill()
ended(process)
said = call(*SPHERE, "--out", "parts", "--seconds", 600)
killed = re.search(r"left a checkpoint at step (\d+)", said.stdout)
check(pid and said.returncode == 0 and killed and stopped[-1] < int(killed[1]) < STEPS and not os.path.exists(f"/proc/{pid}"),
      f"killed: tagflow stops with its script, and the next call goes on: {said.stdout}{said.stderr}")
whole, parts = result("small", "sphere_20@0.2"), result("parts", "sphere_20@0.2")
check(whole["state_hash"] == parts["state_hash"] and whole["quantities"] == parts["quantities"] and
      open("small/rows/sphere_20@0.2/series/drag.csv").read() == open("parts/rows/sphere_20@0.2/series/drag.csv").read(),
      f"and with the same bits as in one call: {parts['state_hash']}")
last = runs.load(FOLDER, "report.json")["seconds"]
check(parts["seconds"] > sum(seconds) + last, f"seconds of all calls: {parts['seconds']} > {seconds} + {last}")

# A second signal ends a program that does not stop; signals before and after the run of a row.
deaf = build("deaf", 'case "$*" in "run "*) trap "" TERM; echo $$ >deaf_pid; while :; do sleep 0.1; done ;; esac\nexec REAL "$@"\n')
process = start(*SPHERE, "--out", "deaf_out", folder=deaf)
while process.poll() is None and (not os.path.exists("deaf_pid") or not open("deaf_pid").read().strip()):
    time.sleep(0.02)
process.send_signal(signal.SIGTERM)
check("waits for sphere_20 to stop" in process.stderr.readline() and process.poll() is None, "the first signal: the script waits")
process.send_signal(signal.SIGINT)
said = ended(process)
check(said.returncode == 130 and "ended at once" in said.stderr and result("deaf_out", "sphere_20@0.2")["state"] == "left" and
      not os.path.exists(f"/proc/{open('deaf_pid').read().strip()}"), f"the second one: {said.returncode}, {said.stderr}")
info = build("info", 'if [ $1 = info ]; then kill -HUP $PPID; fi\nexec REAL "$@"\n')
said = call(*SPHERE, "--out", "early", folder=info)
check(said.returncode == 129 and "to go on" in said.stderr and not os.path.exists("early/rows"), f"before the first row: {said.returncode}, {said.stderr}")
# Killed when the row was done and not measured yet.
shutil.copytree("small", "unmeasured")
document = runs.load("unmeasured", "validate_gpu.json")
entry = document["rows"]["rock@0.125"]
entry.update(state="running", seconds=0)
for name in "step", "glups", "state_hash", "quantities":
    del entry[name]
write("unmeasured/validate_gpu.json", json.dumps(document))
said = call("rock", "--scale", 0.125, "--out", "unmeasured")
check(said.returncode == 0 and result("unmeasured", "rock@0.125")["quantities"] == result("small", "rock@0.125")["quantities"] and
      result("unmeasured", "rock@0.125")["seconds"] == result("small", "rock@0.125")["seconds"], f"done, not measured: {said.stdout}")
check(not os.listdir(TEMPORARY) and not os.path.exists("parts/work"), "nothing temporary stays")

# Without the time, and without a checkpoint that would be kept.
said = call("tgv_512", "--seconds", 40, "--largest", 16, "--out", "none")
check(said.returncode == 75 and said.stdout.startswith("left  tgv_512") and "too large" in said.stdout and not os.path.exists("none/rows"), said.stdout)
said = call("sphere_20", "--scale", 0.3, "--seconds", 10, "--largest", 0.01, "--out", "none")
check(said.returncode == 75 and "out of time" in said.stdout and "its work is lost: a checkpoint of" in said.stdout and
      result("none", "sphere_20@0.3")["state"] == "left", said.stdout)
said = call("rock", "--scale", 0.5, "--seconds", 5, "--out", "none")
check(said.returncode == 75 and re.search("needs 5 s at least, and there are [012] s left; 3 of the 5 s are for the end of the call", said.stdout), said.stdout)
said = call("sphere_20", "--scale", 0.3, "--out", "none", folder=build("begins", 'case "$*" in "run "*"--overwrite"*) exit 1 ;; *) exec REAL "$@" ;; esac\n'))
check(said.returncode == 1, "what was ended begins anew")

# A solver that is wrong, diverges, or writes nothing.
for name, text, words in (("off", 'case "$*" in "run "*) exec REAL "$@" --set solver.magic=0.25 ;; esac\nexec REAL "$@"\n', "gate 0.372942 to 0.373017: outside"),
                          ("diverges", 'case "$*" in "run "*) echo "tagflow: the flow diverged"; exit 3 ;; esac\nexec REAL "$@"\n', "the flow diverged"),
                          ("killed", 'case "$*" in "run "*) kill -9 $$ ;; esac\nexec REAL "$@"\n', "status -9"),
                          ("mute", 'case "$*" in "run "*) REAL "$@" && rm "$4"/series/k.csv; exit ;; esac\nexec REAL "$@"\n', "cannot be measured")):
    said = call("rock", "--scale", 0.125, "--out", "wrong_" + name, folder=build(name, text))
    check(said.returncode == 1 and said.stdout.startswith("FAIL  rock") and words in said.stdout and len(said.stdout.splitlines()) == (3 if name == "off" else 2) and not said.stderr,
          f"{name}: {said.stdout.splitlines()[0][:150]}")
said = call("rock", "--scale", 0.125, "--out", "wrong_diverges")
check(said.returncode == 0, f"and a row that failed is run again: {said.stdout}")

# ---- the table ----

document = runs.load("small", "validate_gpu.json")
full = {"rows": {}}
for name, key in ("rock", "rock@0.125"), ("tgv_256", "tgv_256@0.25"):
    entry = document["rows"][key] | {"scale": 1}
    full["rows"][name] = entry
os.makedirs("full")
write("full/validate_gpu.json", json.dumps(full))
said = call("--table", "--out", "full", backend=None)
lines = said.stdout.splitlines()
check(said.returncode == 0 and len(lines) == 2 + 1 + 2 and all(line.count("|") == 7 for line in lines), f"a table of {len(lines)} lines")
rock_line = next((line for line in lines if "`validate_gpu.py rock`" in line), "")
tgv_line = next((line for line in lines if "`validate_gpu.py tgv_256`" in line), "")
check("0.37298 (+0.00 %)" in rock_line and "**outside**" not in rock_line and "**outside**" in tgv_line and "0.0131175 to 0.0131965" in tgv_line,
      "with value, gate, and what is outside")
said = call("--table", "--out", "small", backend=None)
check(said.returncode == 0 and said.stdout.startswith("| case | scale | ") and "| rock of 64³ voxels, repeated to 512³ | 0.125 | " in said.stdout and
      "`validate_gpu.py rock --scale 0.125`" in said.stdout and all(line.count("|") == 8 for line in said.stdout.splitlines()), "a table of small grids says so")
os.makedirs("undone")
write("undone/validate_gpu.json", '{"rows": {}}')
check(refused(call("--table", "--out", "undone", backend=None), "no row that is done"), "no table of nothing")
check(refused(call("--table", "--out", "nowhere", backend=None), "there is no nowhere/validate_gpu.json"), "no table of nothing")

# ---- usage ----

for arguments, words in ((["rocks"], "there is no row 'rocks'"), (["--scale", 2], "--scale"), (["--scale", 0], "--scale"), (["--scale", "nan"], "--scale"),
                         (["--seconds", -1], "--seconds"), (["--seconds", "nan"], "--seconds"), (["--largest", "x"], "--largest"), (["--what"], "--what"), (["--backend", "tpu"], "--backend")):
    check(refused(call(*arguments, "--out", "usage", backend=None if "--backend" in arguments else "cpu"), words), f"{arguments}")
check(refused(call("rock", folder="nothing_here"), "there is no tagflow"), "no program")
os.makedirs("broken")
write("broken/validate_gpu.json", "{")
check(refused(call("rock", "--out", "broken"), "is not a file of this script"), "a damaged file of results")
for name, change, words in (("lacks quantities", lambda entry: entry.pop("quantities"), "row rock@0.125: no 'quantities'"),
                            ("lacks a state", lambda entry: entry.pop("state"), "row rock@0.125: no 'state'"),
                            ("has no quantities", lambda entry: entry.update(quantities=[]), "row rock@0.125: its quantities are not those"),
                            ("has a text", lambda entry: entry["quantities"][0].update(value="much"), "row rock@0.125: permeability is no number"),
                            ("is another row", lambda entry: entry.update(row="marble"), "row rock@0.125: no 'marble'")):
    document = runs.load("small", "validate_gpu.json")
    change(document["rows"]["rock@0.125"])
    write("broken/validate_gpu.json", json.dumps(document))
    for arguments in ("rock", "--scale", 0.125), ("--table",):
        said = call(*arguments, "--out", "broken", backend=None if arguments == ("--table",) else "cpu")
        check(refused(said, words), f"a row that {name}: {said.stderr}")
write("file", "")
check(refused(call("rock", "--out", "file/x"), "--out file/x: cannot be written: Not a directory", 1), "a folder that cannot be made")
os.makedirs("blocked/validate_gpu.json.new")
check(refused(call("rock", "--scale", 0.125, "--out", "blocked"), "--out blocked: cannot be written: Is a directory", 1), "a file that cannot be written")
check(refused(call("rock", "--out", "channel"), "has other files, and no validate_gpu.json") and os.path.exists("channel/report.json"), "the folder of another run")
os.makedirs("foreign/rows")
shutil.copytree("channel", "foreign/rows/rock@0.125")
write("foreign/validate_gpu.json", '{"rows": {}}')
check(refused(call("rock", "--scale", 0.125, "--out", "foreign"), "rock@0.125 is not of this script") and os.path.exists("foreign/rows/rock@0.125/report.json"),
      "and one in rows/")
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
