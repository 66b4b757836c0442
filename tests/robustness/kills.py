#!/usr/bin/python3
"""Jobs that are killed at any instant and started again, until the run is done, give what one never killed gives.

    kills.py [KILLS [SEED]]

SIGKILL comes at an instant drawn by chance, with a fixed seed, uniform in time from the start of mpirun: to a rank, to
all of them, or to mpirun alone, whose ranks may then live on for a moment; the next job has to do with that. Each job
goes on with `--restart auto` on another number of ranks, cut in another way. A chain of jobs ends when the run is done;
chains follow each other until so many kills are done, one with checkpoints every few steps, the next with checkpoints
every few tenths of a second in double precision, in turn.

At the end of a chain: state hash, CSV files and image pixels, byte by byte, every dataset, and the list of files are
those of the run that was never killed; nothing temporary is left, and the checkpoints are as many as are to be kept, and
sound.
"""
import collections
import os
import random
import re
import signal
import subprocess
import sys
import time

import runs
from runs import Job, check, load, tagflow, write

KILLS = int(sys.argv[1]) if len(sys.argv) > 1 else 12
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
chance = random.Random(SEED)

STEPS = 300
write("case.yaml", runs.LONG_CASE)
COMMON = {"run.steps": STEPS, "check.every": 20, "output.fields.main.every": 40, "output.fields.wide.every": 50,
          "output.images.mid.every": 20, "output.images.side.every": 50,
          "output.averages.end": {"every": 10, "of": "velocity", "precision": "fp64"}}
KINDS = {
    "steps": COMMON | {"checkpoint.every": 8, "checkpoint.keep": 2, "solver.storage": "fp32", "solver.arithmetic": "fp32"},
    "wall time": COMMON | {"checkpoint.every": "0.2 s", "checkpoint.keep": 3, "solver.storage": "fp64",
                           "solver.arithmetic": "fp64"},
}
CUTS = [[a, b, c] for a in (1, 2, 3, 4) for b in (1, 2, 3, 4) for c in (1, 2, 3, 4) if a * b * c <= 4]

met = collections.Counter()  # (who was killed, what it was doing)
in_use = 0  # jobs that found the folder in use
resumed = 0  # jobs that went on from a checkpoint
stuck = 0  # mpiruns that did not end though all their ranks had
orphans = []  # processes whose mpirun was killed


def undisturbed(kind):
    """Its results, how long it took to start, and how long it ran."""
    folder = "undisturbed " + kind
    job = Job(folder, KINDS[kind], 2)
    job.wait_for_line("step 0 ")
    started = time.monotonic() - job.started
    said = job.end()
    check(said.code == 0 and not runs.faults(folder), f"undisturbed, checkpoints in {kind}: {said}")
    return runs.results(folder), started, time.monotonic() - job.started - started


def kill(job):
    """Kills some of it; says whom."""
    processes = job.processes()
    whom = chance.choice(["a rank", "all ranks", "mpirun"]) if job.ranks else "the process"
    chosen = chance.random()
    if whom == "mpirun" or not processes:  # it has not started them yet
        whom = "mpirun"
        orphans.extend(processes)
        job.signal(signal.SIGKILL, [job.process.pid])
    elif whom == "a rank":
        job.signal(signal.SIGKILL, [processes[int(chosen * len(processes))][0]])
    else:
        job.signal(signal.SIGKILL, [pid for pid, _ in processes])
    return whom


def doing(job):
    """What a job that was killed left unfinished."""
    left = [name for name in runs.tree(job.folder) if name.endswith(".tmp")] if os.path.isdir(job.folder) else []
    if any(name.startswith("checkpoints/") for name in left):
        return "a checkpoint"
    if any("/" in name for name in left):
        return "output"
    if left:
        return "a report"
    return "steps" if "\nstep " in "\n" + job.text() else "start-up"


def torn(folder):
    return runs.faults(folder, temporary=True, quick=True) if os.path.isdir(folder) else []


def chain(number, kind, wanted):
    """Jobs until the run is done; at most `wanted` of them are killed. Returns the folder, how many were, and whether it
    came to its end."""
    global in_use, resumed, stuck
    folder, killed, refused = f"chain {number}", 0, 0
    while True:
        cut = chance.choice(CUTS)
        ranks = cut[0] * cut[1] * cut[2]
        if ranks == 1 and chance.random() < 0.5:
            ranks = 0
        delay = chance.uniform(0, window[kind])
        job = Job(folder, KINDS[kind] | {"run.ranks": cut}, ranks)
        try:
            job.process.wait(delay if killed < wanted else runs.JOB_HANGS)
            whom = None
        except subprocess.TimeoutExpired:
            whom = kill(job) if killed < wanted else None
        said = job.end()
        stuck += job.stuck
        resumed += "\ngoes on from" in said.out
        if whom and said.code == 0 and load(folder, "status.json")["state"] != "done":
            check(False, f"{folder}: {whom} was killed, and it answers 0")
            return folder, killed, False
        if said.code == 0:
            window[kind] *= 0.8 if killed < 4 else 1
            return folder, killed, True
        if whom:
            killed += 1
            refused = 0
            what = doing(job)
            met[whom, what] += 1
            window[kind] *= 1.1 if what == "start-up" else 1
            # The ranks of a mpirun that was killed may still be writing.
            if whom != "mpirun" and (fault := torn(folder)):
                check(False, f"{folder}: {whom} was killed, torn is {fault}")
        elif said.code == 2 and "in use" in said.err and refused < 10:
            in_use += 1
            refused += 1
        else:
            check(False, f"{folder} on {ranks} ranks, cut {cut}: {said} {said.err[-2000:]}")
            return folder, killed, False


def checkpoints_wanted(folder, keep):
    """How many have to be there: those the log tells of, but no more than are kept."""
    with open(os.path.join(folder, "log.txt")) as file:
        return min(keep, len(set(re.findall(r"^checkpoint checkpoints/step_(\d+)\.h5", file.read(), re.M))))


reference, window = {}, {}  # results; jobs are killed before so many seconds have passed
for kind in KINDS:
    reference[kind], started, ran = undisturbed(kind)
    # Follows how fast the machine is just now, so that some jobs are killed at their start and runs take some jobs.
    window[kind] = started + ran / 4
kills, number = 0, 0
while kills < KILLS:
    kind = list(KINDS)[number % len(KINDS)]
    folder, killed, done = chain(number, kind, KILLS - kills)
    kills += killed
    number += 1
    if not done:
        break
    different = runs.differences(reference[kind], runs.results(folder))
    faults = runs.faults(folder)
    steps = runs.checkpoint_steps(folder)
    keep = checkpoints_wanted(folder, KINDS[kind]["checkpoint.keep"])
    before = runs.bytes_of(folder)
    again = tagflow("run", "case.yaml", "--output", folder, "--restart", "auto", *runs.sets(KINDS[kind]))
    check(not different and not faults and len(steps) == keep and steps[-1] == STEPS and again.code == 0 and
          runs.bytes_of(folder) == before,
          f"{folder}, checkpoints in {kind}: {killed} kills; checkpoints {steps}, {keep} wanted; different {different[:5]}, "
          f"faults {faults}; once more: {again}")
    if not different and not faults:
        subprocess.run(["rm", "-r", folder], check=True)

check(kills >= KILLS, f"{kills} kills in {number} chains: " +
      ", ".join(f"{whom} in {what}: {count}" for (whom, what), count in sorted(met.items())))
check(resumed > 0, f"{resumed} jobs went on from a checkpoint, {in_use} found the folder in use and were repeated")
check(stuck <= KILLS // 20 + 1, f"{stuck} mpiruns did not end by themselves after all ranks had")
check(runs.all_gone(orphans), f"{len(orphans)} ranks lost their mpirun and have ended")

runs.finish()
