#!/usr/bin/python3
"""What a run leaves for people and programs: report.json, status.json, the log, the series' header, and a
progress line on a terminal only."""
import datetime
import os
import pty
import re
import select
import signal
import subprocess

import runs
from runs import CASE, check, load, tagflow, write

write("case.yaml", CASE)
version, commit = re.search(r"tagflow (\S+) \((\S+)\)", tagflow("--version").out).groups()
HOST = os.uname().nodename


def near(a, b, tolerance=1e-6):
    return abs(a - b) <= tolerance * abs(b)


# A box whose lower half is solid is cut in the middle of the rest, and says so.
write("half.yaml", """\
domain:  {cells: [8, 8, 16]}
fluid:   {viscosity: 0.05}
initial: {flow: uniform, velocity: [0.01, 0, 0]}
faces:   {x: periodic, y: periodic, z: wall}
bodies:  {floor: {shape: {box: {from: [0, 0, 0], to: [8, 8, 8]}}}}
run:     {steps: 5}
""")
hashes = set()
dense = tagflow("run", "half.yaml", "--output", "half_dense", "--set", "run.sparse=never")
if check(dense.code == 0 and not dense.errors, f"half, dense: {dense}"):
    r = load("half_dense", "report.json")
    check(r["sparse"] is False and r["kept_share"] == 1, f"half, dense: {r['sparse']}, {r['kept_share']}")
    hashes.add(r["state_hash"])
for ranks, cut, imbalance, above in [(1, "[1, 1, 1]", 1, None), (2, "[1, 1, 2]", 1, "0.0"), (3, "[1, 1, 3]", 1.125, "12.5")]:
    said = tagflow("run", "half.yaml", "--output", f"half{ranks}", "--set", f"run.ranks={cut}", ranks=ranks)
    if not check(said.code == 0 and not said.errors, f"half, {ranks} ranks: {said}"):
        continue
    r, log = load(f"half{ranks}", "report.json"), open(f"half{ranks}/log.txt").read()
    found = re.findall(r"^load imbalance: the rank with most fluid cells has (\S+) % more than the mean$", log, re.M)
    check(near(r["imbalance"], imbalance) and found == ([above] if above else []),
          f"half, {ranks} ranks: imbalance {r['imbalance']}, log {found}")
    hashes.add(r["state_hash"])
    if ranks == 1: # of 16 + 2 planes the 8 fluid ones, and the links into a wall
        check(r["sparse"] is True and near(r["kept_share"], 9 / 18) and
              "sparse: fluid cells need 50.0 % of the populations of all cells" in log, f"half: kept {r['kept_share']}")
check(len(hashes) == 1, f"half: one state for all cuts: {hashes}")
said = tagflow("check", "--verbose", "half.yaml", "--ranks", "2", "--set", "run.ranks=[1, 1, 2]")
check("rank 1: cells [0, 0, 12] to [7, 7, 15]" in said.out and "with most fluid cells has 0.0 % more" in said.out, f"half, check: {said}")
said = tagflow("check", "--verbose", "half.yaml")
check("(50.0 % of the populations of all cells are needed)" in said.out and said.out.count("storage: sparse, fluid cells alone: ") == 1 and
      "\n  dense would take " in said.out, f"half, check: {said}")
check("bodies: 512 of 1024 cells are fluid, 50 %" in said.out, f"half, check: the fluid that is left: {said}")

# What there is to say of a mesh is in the log, too.
subprocess.run([os.path.join(runs.ROOT, "scripts", "make_mesh.py"), "horn.stl"], check=True)
MESH = runs.sets({"bodies": {"horn": {"mesh": {"file": "horn.stl", "size": 6, "center": [8, 6, 2]}}}})
said, checked = tagflow("run", "case.yaml", "--output", "horn", *MESH), tagflow("check", "--verbose", "case.yaml", *MESH)
found = [re.findall(r"^ *(body horn: mesh of 912 triangles, parts 1, .* cells hold it .*)$", text, re.M)
         for text in (open("horn/log.txt").read() if said.code == 0 else "", checked.out)]
check(len(found[0]) == 1 and found[0] == found[1], f"horn: of its mesh the log says {found[0]}, check {found[1]}: {said}")

# Several ranks, threads, precisions, operators; with units and without.
for name, ranks, settings, words in [
        ("plain", 0, {}, {"collision": "trt", "storage": "fp32", "arithmetic": "fp32", "bytes": 153, "time": 20}),
        ("other", 2, {"solver": "{collision: bgk, storage: fp64, arithmetic: fp64}", "run.threads": 2,
                      "units": "{dx: 2 mm, dt: 1 ms}"},
         {"collision": "bgk", "storage": "fp64", "arithmetic": "fp64", "bytes": 305, "time": 0.02})]:
    begin = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    said = tagflow("run", "case.yaml", "--output", name, *runs.sets(settings | {"output.log.wall_time": "none"}), ranks=ranks,
                   env={"OMP_NUM_THREADS": "2"} if ranks else None)
    end = datetime.datetime.now(datetime.timezone.utc)
    if not check(said.code == 0 and not said.errors, f"{name}: {said}"):
        continue
    r, s = load(name, "report.json"), load(name, "status.json")
    count, threads = max(1, ranks), settings.get("run.threads", 1)
    exact = {"state": "done", "step": 20, "steps": 20, "cells": [16, 12, 4], "fluid_cells": 768, "imbalance": 1, "ranks": count,
             "threads": threads, "backend": "cpu", "collision": words["collision"], "storage": words["storage"],
             "arithmetic": words["arithmetic"], "bytes_per_update": words["bytes"], "version": version, "commit": commit}
    wrong = {key: r.get(key) for key in exact if r.get(key) != exact[key]}
    check(not wrong, f"{name}, report.json: {len(exact)} values are right {wrong}")
    check(r["seconds"] > 0 and near(r["mlups"], 768 * 20 / r["seconds"] / 1e6) and near(r["mflups"], r["mlups"]) and
          near(r["bandwidth_gbs"], r["mlups"] * words["bytes"] / 1000) and re.fullmatch("[0-9a-f]{16}", r["state_hash"]),
          f"rates follow from {r['seconds']:.3g} s; state {r['state_hash']}")
    exact = {"state": "done", "step": 20, "steps": 20, "checkpoint": {"file": "checkpoints/step_0000000020.h5", "step": 20},
             "host": HOST, "eta_seconds": 0}
    wrong = {key: s.get(key, "?") for key in exact if s.get(key, "?") != exact[key]}
    updated = datetime.datetime.fromisoformat(s["updated"].replace("Z", "+00:00"))
    check(not wrong and near(s["time"], words["time"]) and s["glups"] > 0 and s["pid"] > 1 and begin <= updated <= end,
          f"{name}, status.json: all values are right {wrong}")
    log = open(name + "/log.txt").read()
    for what, pattern in {
            "version, commit, date": rf"^tagflow {re.escape(version)} \({commit}\), \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC$",
            "ranks with host and device": r"^rank 0 on %s: cpu, |^ranks 0 to 1 on %s: cpu, " % (HOST, HOST),
            "grid": r"^grid: 16 x 12 x 4 = 768 cells, 20 steps$",
            "derived numbers": r"^relaxation: viscosity 0.05, tau 0.65, omega 1.53846$",
            "Mach": r"^Mach: 0\.0866025 ", "Reynolds": r"^Reynolds: 16 ", "memory": r"GB a rank",
            "units": r"^units: dx 0.002 m, dt 0.001 s" if "units" in settings else "^grid",
            "the hash": rf"^done: step 20; 20 steps .* state {r['state_hash']}$"}.items():
        check(re.search(pattern, log, re.M), f"{name}, log: {what}")
    lines = re.findall(r"^step (\d+)  ([\d.]+) %(?:  time (\S+) s)?  ([\d.]+ MLUPS|[1-9][\d.]* GLUPS)  left .*  energy (\S+)  max \|u\| (\S+)$",
                       log, re.M)
    rows = [row.split(",") for row in runs.series_text(name).decode().splitlines()]
    check(rows[0] == "step,time,mass,kinetic_energy,enstrophy,max_velocity".split(","), f"{name}, series: its columns")
    check([int(row[0]) for row in rows[1:]] == list(range(0, 21, 2)), "and its rows")
    rows = {int(row[0]): [float(value) for value in row[1:]] for row in rows[1:]}
    check([int(line[0]) for line in lines] == [0, 5, 10, 15, 20] and
          all(float(line[1]) == 5 * int(line[0]) for line in lines) and
          all(near(float(line[4]), rows[int(line[0])][2]) and near(float(line[5]), rows[int(line[0])][4], 1e-5)
              for line in lines if int(line[0]) in rows),
          f"{name}: a line an interval, with the series' energy and velocity")
    check(all(near(rows[step][0], step * words["time"] / 20) for step in rows if step), f"{name}: the series' time")
    check(log.splitlines() == [re.sub("^tagflow: (?=warning)", "", line) for line in log.splitlines()] and
          [line for line in log.splitlines() if not line.startswith("warning: ")] == said.out.splitlines(),
          f"{name}: the log is what was said on stdout, and the warnings")

# Without a word about threads a rank has one on each core that it may use; the log says what would use more.
CORES = {}
for cpu in os.sched_getaffinity(0):
    siblings = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    CORES.setdefault(open(siblings).read() if os.path.exists(siblings) else cpu, cpu)
FREE = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
large = runs.sets({"domain.cells": [64, 32, 32], "run.steps": 3, "output": {}})
one = ["taskset", "-c", str(min(CORES.values()))]
hashes = set()
for name, line, env, threads, word in [
        ("all", [], {}, min(len(CORES), 8), ""), ("one", one, {}, 1, "this job may use no more"),
        ("asked", [], {"OMP_NUM_THREADS": "3"}, 3, ""), ("set", [], {"OMP_NUM_THREADS": "1"}, 1, "without OMP_NUM_THREADS it uses")]:
    process = subprocess.run(line + runs.command(["run", "case.yaml", "--output", "by_" + name] + large), capture_output=True,
                             text=True, env=FREE | env)
    if check(process.returncode == 0, f"threads, {name}: {process.stderr}"):
        r = load("by_" + name, "report.json")
        said = re.findall(r"^cores: .*", open(f"by_{name}/log.txt").read(), re.M)
        check(r["threads"] == threads, f"threads, {name}: {r['threads']} of {threads}, {said}")
        check(not word or len(CORES) == 1 or (len(said) == 1 and word in said[0]), f"threads, {name}: the log says {said}")
        hashes.add(r["state_hash"])
subprocess.run(runs.command(["run", "case.yaml", "--output", "by_size"]), env=FREE, stdout=subprocess.DEVNULL, check=True)
check(load("by_size", "report.json")["threads"] == 1, "768 cells have one thread")
check("threads: auto" in open("by_all/case.yaml").read(), "the resolved case leaves the threads to the machine")
check(len(hashes) == 1, f"one state for all numbers of threads: {hashes}")

# A case without output leaves a series and a picture of the last step, one with an empty map or none neither.
write("bare.yaml", CASE[:CASE.index("output:")])
for name, settings, left in [("bare", {}, {"flow.csv", "speed_0000000000.png", "speed_0000000010.png", "speed_0000000020.png"}),
                             ("empty", {"output": {}}, set()), ("none", {"output": "none"}, set())]:
    said = tagflow("run", "bare.yaml", "--output", name, *runs.sets(settings))
    found = {file for folder in ("series", "images", "fields") for file in runs.tree(f"{name}/{folder}")}
    check(said.code == 0 and not said.errors and found == left and not runs.faults(name), f"output {settings or 'of a bare case'}: {found}")
    again = tagflow("run", f"{name}/case.yaml", "--output", name + "_again")
    check(again.code == 0 and runs.results(name) == runs.results(name + "_again"), f"and so does its resolved case: {again}")
rows = runs.series_text("bare").decode().splitlines()
check(rows[0] == "step,time,mass,kinetic_energy,max_velocity" and [row.split(",")[0] for row in rows[1:]] == ["0", "5", "10", "15", "20"],
      f"the rows of a bare case: {rows}")

# A run that fails: no memory for it.
line = runs.command(["run", "case.yaml", "--output", "large", "--set", "domain.cells=[256, 256, 256]"])
process = subprocess.run(["sh", "-c", 'ulimit -v 600000; exec "$@"', "sh"] + line, capture_output=True, text=True)
said = runs.Said(process.returncode, process.stdout, process.stderr)
check(said.code == 1 and len(said.errors) == 1 and "out of memory" in said.err, f"without memory: {said}")
if os.path.isdir("large"):
    r, s = load("large", "report.json"), load("large", "status.json")
    check([r["state"], s["state"], r["step"], r["state_hash"], r["fluid_cells"]] == ["failed", "failed", 0, None, 256**3],
          "it says so in report.json and status.json")


def on_a_terminal(line):
    """What the command shows on a terminal."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvp(line[0], line)
    shown = b""
    while select.select([terminal], [], [], runs.HANGS)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the end, on Linux
            part = b""
        if not part:
            break
        shown += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown.decode()


# The first progress line comes with the first step, the others half a second apart: percent, rate, time left, step, velocity.
long = runs.sets({"domain.cells": [32, 32, 32], "run.steps": 100, "output": {}})
LIVE = r"\r\x1b\[K[\d.]+ %  [\d.]+ [MG]LUPS  \S+ ?s? left  step \d+ of 100  max \|u\| [\d.e-]+(?=\r)"
for ranks in 0, 2:
    name = f"live{ranks}"
    code, shown = on_a_terminal(runs.command(["run", "case.yaml", "--output", name] + long, ranks))
    live = re.findall(LIVE, shown)
    check(code == 0 and live and "\ndone:" in shown and shown.count("\x1b") >= len(live),
          f"{ranks} ranks on a terminal: a progress line, shown {len(live)} times: {shown[-600:]!r}")
    check("\x1b" not in open(name + "/log.txt").read(), "and not in the log")
    said = tagflow("run", "case.yaml", "--output", "piped" + name, *long, ranks=ranks)
    check(said.code == 0 and "\x1b" not in said.out + said.err, f"{ranks} ranks into pipes: none")
with open("out", "wb") as out:
    code = subprocess.run(runs.command(["run", "case.yaml", "--output", "file"] + long, 2), stdout=out, stderr=out,
                          stdin=subprocess.DEVNULL).returncode
check(code == 0 and b"\ndone:" in open("out", "rb").read() and b"\x1b" not in open("out", "rb").read(),
      "2 ranks into a file: none")
code, shown = on_a_terminal(["sh", "-c", '. "$0"; exec "$TAGFLOW_MPIRUN" ' + runs.TAG_OUTPUT + ' -n "$@"', runs.ROOT + "/scripts/environment.sh"] +
                            ["2"] + runs.command(["run", "case.yaml", "--output", "tagged"] + long))
check(code == 0 and "done:" in shown and "\x1b" not in shown, f"with mpirun's words before each line: none {shown[-600:]!r}")

# Lines of the log that only the time can have asked for, after 1 and 2 s, and what is left in status.json by then.
job = runs.Job("timed", {"domain.cells": [32, 32, 32], "run.steps": 1000000, "output": {"log": {"every": 1000000}}}, ranks=2,
               restart=None)
if job.wait_for(lambda: len(re.findall(r"^step [1-9]", job.text(), re.M)) >= 2, "lines after 1 and 2 s"):
    waited, s = datetime.datetime.now(datetime.timezone.utc), load("timed", "status.json")
    age = waited - datetime.datetime.fromisoformat(s["updated"].replace("Z", "+00:00"))
    check(s["state"] == "running" and 0 < s["step"] < 1000000 and s["glups"] > 0 and age.total_seconds() < 10,
          f"status.json meanwhile, {age} old: {s}")
    # the pace is that of all steps since the first: what is left at the rate of the moment may differ by a factor
    check(1e6 * 32**3 / (s["glups"] * 1e9) / 10 < (s["eta_seconds"] or 0) < 1e6 * 32**3 / (s["glups"] * 1e9) * 10,
          f"and the time left in it: {s['eta_seconds']} s")
    job.signal_ranks(signal.SIGTERM)
said = job.end()
lines = re.findall(r"^step ([1-9]\d*) .* left (\S+)", said.out, re.M)
check(len(lines) >= 2 and "-" not in [left for _, left in lines], f"a log that the steps would leave silent has {lines}: {said}")
said = tagflow("run", "case.yaml", "--output", "silent", *long, "--set", "output.log={every: 0}")
check(re.findall(r"^step (\d+)", said.out, re.M) == ["0", "100"], f"with every: 0 there are the first and the last line: {said}")

runs.finish()
