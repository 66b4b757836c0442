#!/usr/bin/python3
"""Never two jobs in one folder, and no folder that stays locked by a dead host: with locks, with locks that other hosts do
not see (some mounts of Lustre and NFS), and without any. The hosts are namespaces of this machine (cluster.py).

    locks.py FAILING_SO    preloaded, takes the locks away (tests/robustness/failing.c)
"""
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
FAILING = os.path.abspath(sys.argv[1])
import cluster

cluster.enter()
import runs
from runs import check, differences, load, results, sets, tagflow, write

Job = cluster.job_class(runs)
hosts = cluster.Cluster(3)
MORE = {"run.steps": 10 ** 6, "checkpoint.every": 20, "check.every": 20, "output.log.every": 20, "output.fields": {},
        "output.averages": {}, "output.images": {}}
write("case.yaml", runs.LONG_CASE)


def locks(kind):
    return {"LD_PRELOAD": FAILING, "LOCKS": kind} if kind else None


def started(where, folder, kind, **settings):
    """A job that has written its second checkpoint."""
    job = Job(hosts, where, folder, MORE | settings, env=locks(kind))
    first = len(runs.checkpoint_steps(folder)) and runs.checkpoint_steps(folder)[-1]
    job.wait_for(lambda: runs.checkpoint_steps(folder)[-1:] > [first + 20], "checkpoints")
    return job


def note(folder):
    with open(folder + "/.lock") as file:
        return file.read()


def goes_on(where, folder, kind, watched):
    """The next job, to an end: does it go on, with the bits of a run in one piece?"""
    before = runs.checkpoint_steps(folder)[-1]
    end = before + 40
    said = Job(hosts, where, folder, MORE | {"run.steps": end}, env=locks(kind)).end()
    whole = tagflow("run", "case.yaml", "--output", folder + ", alone", *sets(MORE | {"run.steps": end}))
    wrong = differences(results(folder + ", alone"), results(folder)) if said.code == whole.code == 0 else [said, whole]
    was_watched = "did not end in order (process " in said.out
    check("\ngoes on from " in "\n" + said.out and not wrong and was_watched == watched and note(folder) == "",
          f"{folder}: goes on from {before} to {end}, watched before: {was_watched}: {wrong or 'same bits'}")
    return said


def refused(where, folder, kind, more=(), code=75):
    began = time.monotonic()
    said = Job(hosts, where, folder, MORE, env=locks(kind), more=more, restart=None if more else "auto").end()
    check(said.code == code and len(said.errors) == 1 and re.search(
        r"is in use by another run \(process \d+ on node1(, job 4711)?\): wait for its end.*; if its host is down for good, remove "
        + re.escape(folder) + "/.lock", said.err), f"{folder}: a second job {more}: {said} after {time.monotonic() - began:.1f} s")


# ---- the host that holds the folder dies ----

os.environ["SLURM_JOB_ID"] = "4711"
for kind in "", "own", "none":
    name = f"locks {kind or 'of the system'}"
    job = started({1: 2}, name, kind)
    refused({2: 1, 3: 1}, name, kind)
    if not kind:
        refused({2: 1}, name, kind, ["--overwrite"], code=2)
    check(job.process.poll() is None and note(name).startswith("process ") and " on node1, job 4711\n" in note(name),
          f"{name}: the first one goes on: {note(name)!r}")
    hosts[1].kill()
    job.end()
    said = goes_on({2: 2}, name, kind, watched=True)
    check(("cannot be locked (No locks available)" in said.err) == (kind == "none") and not said.errors, f"{name}: {said.lines}")
    hosts[1].start()
del os.environ["SLURM_JOB_ID"]

# ---- a job that seems to be dead, and wakes up ----

name = "wakes up"
sleeper = started({1: 2}, name, "own")
sleeper.signal_ranks(signal.SIGSTOP)
job = started({2: 1, 3: 1}, name, "own")
holder = note(name).split("\n")[0]
sleeper.signal_ranks(signal.SIGCONT)
said = sleeper.end()
told = [line for line in said.errors if re.search(r"wakes up was taken by another run \(" + holder + r"\), for which this one seemed", line)]
check(said.code == 1 and len(told) == len(said.errors) == 1, f"{name}: the first one ends: {said}")
if not check(job.process.poll() is None and load(name, "status.json")["state"] == "running", f"{name}: the second one goes on"):
    print(job.end(), load(name, "status.json"), note(name))
job.signal_rank(signal.SIGTERM, 0)
said = job.end()
check(said.code == 75 and load(name, "status.json")["state"] == "stopped", f"{name}: to its stop: {said.code}, {said.errors}")
goes_on({1: 3}, name, "own", watched=False)

# ---- ranks that live on when rank 0 is dead do not write what the next job writes ----

name = "lives on"
job = started({1: 1, 2: 1}, name, "", **{"check.hang": "25 s"})
began, left = time.monotonic(), job.processes()[1:]
hosts[1].kill()
said = goes_on({3: 1}, name, "", watched=True)
alive = not all(runs._process(pid)[2] != began for pid, began in left)
check(runs.all_gone(left) and alive, f"{name}: the other rank ended after {time.monotonic() - began:.0f} s, behind the next job: {alive}")
job.end()
ended = [load(name, file) for file in ("status.json", "report.json")]
check(all(x["state"] == "done" for x in ended), f"{name}: {[x['state'] for x in ended]}")

runs.finish()
