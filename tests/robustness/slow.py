#!/usr/bin/python3
"""A slow disk: snapshots and images come to disk beside the steps. A checkpoint waits for those of its step and before;
whatever instant a job is killed at, the run goes on to the same files. A sync that fails ends the run as it does
everywhere else: exit status 1, one reason. On a disk without locks two jobs never run in one folder either.

    slow.py FAILING_SO [KILLS [SEED]]     FAILING_SO is built from tests/robustness/failing.c
"""
import glob
import os
import random
import re
import signal
import subprocess
import sys

import runs
from runs import CASE, Job, check, load, tagflow, write

SHIM = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
STEPS, FIELDS, IMAGES, CHECKPOINTS = 120, 8, 4, 20
# The folder's own name may end in "s", and then all files would be slow, see slow().
os.mkdir("here")
os.chdir("here")
write("case.yaml", CASE)
SETTINGS = {"run.steps": STEPS, "checkpoint": {"every": CHECKPOINTS, "keep": 2}, "output.log.every": 1,
            "output.fields.main.every": FIELDS, "output.images.mid.every": IMAGES}


def slow(milliseconds):
    """Of fields/main_.. and images/mid_.. every sync takes so long."""
    return {"LD_PRELOAD": SHIM, "SLOW_IN": "s/m", "SLOW_MS": str(milliseconds)}


# Steps go on while the first snapshot is on its way to a disk that takes minutes, and it has no name yet.
for ranks in 0, 2:
    job = Job(f"meanwhile_{ranks}", SETTINGS | {"checkpoint": {"every": 0}, "output.fields.main.every": 1000,
                                              "output.images.mid.every": 1000}, ranks, env=slow(100000))
    reached = job.wait_for_line("step 30 ")
    there = sorted(os.listdir(f"meanwhile_{ranks}/fields"))
    job.signal_ranks(signal.SIGKILL)
    job.end()
    check(reached and there == ["main_0000000000.vtkhdf.tmp"], f"steps beside a slow disk, {ranks} ranks: {reached}, {there}")

# The same files as on a quick disk.
said = tagflow("run", "case.yaml", "--output", "quick", *runs.sets(SETTINGS))
check(said.code == 0, f"a quick disk: {said}")
wanted = runs.results("quick")


def checkpoints(folder):
    """Their steps."""
    return [int(re.search(r"step_(\d+)", name)[1]) for name in glob.glob(folder + "/checkpoints/step_*.h5")]


def missing(folder):
    """Files of the newest checkpoint's step and before that are not there: it may not refer to them."""
    steps = checkpoints(folder)
    names = [f"fields/main_{step:010}.vtkhdf" for step in range(0, max(steps) + 1, FIELDS)] + \
            [f"images/mid_{step:010}.png" for step in range(0, max(steps) + 1, IMAGES)] if steps else []
    return [name for name in names if not os.path.exists(f"{folder}/{name}")]


# A checkpoint gets its name after all files of its step and before.
for ranks in 0, 2:
    names = os.path.abspath(f"names_{ranks}")
    said = tagflow("run", "case.yaml", "--output", f"order_{ranks}", ranks=ranks, env=slow(300) | {"NAMES_TO": names},
                   *runs.sets(SETTINGS | {"run.steps": 60, "output.fields.main.every": 20, "output.images.mid.every": 20}))
    with open(names) as file:
        found = re.findall(r"/(fields|images|checkpoints)/\w+?_(\d+)\.", file.read())
    early = [(int(step), int(other)) for k, (what, step) in enumerate(found) if what == "checkpoints"
             for kind, other in found[k:] if kind != "checkpoints" and int(other) <= int(step)]
    check(said.code == 0 and len(found) == 2 * 4 + 3 and not early,
          f"{ranks} ranks: {said}, {len(found)} files; checkpoints before files of their step: {early}")

killed, resumed, number = 0, 0, 0
while killed < KILLS:
    folder, number, done = f"run_{number}", number + 1, False
    while not done:
        begin = max(checkpoints(folder), default=0)
        job = Job(folder, SETTINGS, chance.choice([0, 2]), env=slow(chance.choice([2, 20, 100])))
        at = chance.randrange(begin + 1, min(begin + 60, STEPS) + 1)
        if killed < KILLS and job.wait_for_line(f"step {at} "):
            try:
                job.process.wait(chance.uniform(0, 0.1))
            except subprocess.TimeoutExpired:
                job.signal_ranks(signal.SIGKILL)
                killed += 1
        said = job.end()
        resumed += "\ngoes on from" in said.out
        lost = missing(folder)
        check(not lost, f"{folder}, killed after step {at}: a checkpoint, but not {lost}")
        done = said.code == 0
        if not done and said.code not in (-9, 137):
            check(False, f"{folder}: {said}")
            break
    check(not runs.faults(folder) and not runs.differences(wanted, runs.results(folder)),
          f"{folder}: killed {killed} times in all, it is the undisturbed run: {runs.faults(folder)} "
          f"{runs.differences(wanted, runs.results(folder))[:3]}")
check(resumed > 0, f"{resumed} jobs went on from a checkpoint")

# The sync of a snapshot or an image fails.
for where, rank in ("/fields/", 0), ("/fields/", 1), ("/images/", 0):
    for at in 1, 3:
        folder = f"fails_{where.strip('/')}_{rank}_{at}"
        said = tagflow("run", "case.yaml", "--output", folder, *runs.sets(SETTINGS), ranks=2, env={
            "LD_PRELOAD": SHIM, "FAIL_IN": where, "FAIL_CALL": "sync", "FAIL_AT": str(at), "FAIL_RANK": str(rank)})
        left = [name for name in runs.tree(folder) if name.endswith(".tmp")]
        check(said.code == 1 and len(said.errors) == 1 and "Input/output error" in said.err and where in said.err and not left
              and load(folder, "report.json")["state"] == "failed" and not missing(folder),
              f"a sync in {where} fails on rank {rank}: {said}, left {left}")

# A disk without locks: the note in .lock alone keeps a second job out, and lets the next one in when the first is dead.
NO_LOCKS = {"LD_PRELOAD": SHIM, "LOCKS": "none"}
MORE = {"run.steps": 10 ** 6, "checkpoint.every": 100, "output": {"log": {"every": 100}}}
job = Job("lockless", MORE, env=NO_LOCKS)
job.wait_for(lambda: checkpoints("lockless"), "a checkpoint")
said = Job("lockless", MORE, env=NO_LOCKS).end()
check(said.code == 75 and len(said.errors) == 1 and "is in use by another run (process " in said.err and job.process.poll() is None,
      f"no locks: a second job: {said}")
job.signal_ranks(signal.SIGKILL)
job.end()
end = max(checkpoints("lockless")) + 100
said = Job("lockless", MORE | {"run.steps": end}, env=NO_LOCKS).end()
with open("lockless/.lock") as file:
    note = file.read()
check(said.code == 0 and "did not end in order (process " in said.out and "goes on from" in said.out and note == "" and
      "cannot be locked (No locks available)" in said.err, f"no locks: the next job: {said}, {note!r}")

runs.finish()
