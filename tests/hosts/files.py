#!/usr/bin/python3
"""A run's folder on a file system with faults, which each host mounts by itself: locks and caches of its own, an fsync that is
slow, a quota that is full, a time in which it does not answer. The hosts are namespaces of this machine (cluster.py).

    files.py FAULTY_FS    the file system (faulty_fs.c beside this file)
"""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
FAULTY = os.path.abspath(sys.argv[1])
import cluster

cluster.enter()
import runs
from runs import check, differences, load, results, sets, tagflow, write

if not os.path.exists("/dev/fuse"):
    runs.skip("there is no /dev/fuse")
Job = cluster.job_class(runs)
hosts = cluster.Cluster(2)
STEPS = 60
MORE = {"run.steps": STEPS, "checkpoint.every": 20, "output.fields.main.every": 30, "output.fields.wide.every": 60,
        "output.averages.mean.to": 50, "check.every": 20}
write("case.yaml", runs.LONG_CASE)
DISK, REAL = "disk", ".disk/data"  # as hosts see it; its files
os.makedirs(REAL)
os.mkdir(DISK)
mounted = []
for host in hosts.hosts:
    mounted.append(subprocess.Popen(host.command(FAULTY, os.path.abspath(REAL), os.path.abspath(DISK), "-f"), stdin=subprocess.DEVNULL))
for host in hosts.hosts:
    for _ in range(200):
        if subprocess.run(host.command("mountpoint", "-q", os.path.abspath(DISK)), check=False).returncode == 0:
            break
        time.sleep(0.05)
    else:
        runs.skip("FUSE cannot be mounted")
said = tagflow("run", "case.yaml", "--output", "alone", *sets(MORE))
check(said.code == 0, f"on a disk without faults: {said}")
alone = results("alone")


def fault(name, value=None):
    path = ".disk/" + name
    if value is None:
        os.remove(path)
    else:
        write(path + ".new", str(value))
        os.rename(path + ".new", path)


def job(where, name, settings=(), **more):
    return Job(hosts, where, f"{DISK}/{name}", MORE | dict(settings), **more)


def same(name, said, what):
    wrong = [str(said)] if said.code else differences(alone, results(f"{REAL}/{name}"))[:5] + runs.faults(f"{REAL}/{name}", quick=True)
    check(not wrong, f"{name}: {what}: {wrong or 'the same bits'}")


def status(name):
    return load(f"{REAL}/{name}", "status.json")


same("two hosts", job({1: 1, 2: 2}, "two hosts").end(), "3 ranks, each host with a mount of its own")

# Locks that the other host does not see.
first = job({1: 1}, "locked", {"run.steps": 10 ** 6, "output": {"log": {"every": 20}}})
first.wait_for(lambda: len(runs.checkpoint_steps(f"{REAL}/locked")) >= 2, "checkpoints")
said = job({2: 1}, "locked", {"run.steps": 10 ** 6, "output": {"log": {"every": 20}}}).end()
check(said.code == 75 and len(said.errors) == 1 and "disk/locked is in use by another run (process " in said.err and " on node1)" in said.err,
      f"locked: a second job: {said}")
check(first.process.poll() is None, "locked: the first one goes on")
first.signal_ranks(15)
check(first.end().code == 75, "locked: to its stop")

fault("sync_ms", 200)
same("slow", job({2: 2, 1: 1}, "slow").end(), "each fsync takes 200 ms more")
fault("sync_ms")

# A quota that lets one checkpoint in, and the beginning of a second.
taken = sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(REAL) for name in names)
fault("quota", taken + 6000000)
said = job({1: 1, 2: 1}, "full").end()
told = [line for line in said.errors if re.search(r"Disk quota exceeded", line)]
check(said.code == 1 and len(said.errors) == len(told) >= 1 and runs.checkpoint_steps(f"{REAL}/full"),
      f"full: {said}, checkpoints {runs.checkpoint_steps(f'{REAL}/full')}")
fault("quota")
said = job({2: 2}, "full").end()
check("\ngoes on from " in said.out, f"full: goes on: {said}")
same("full", said, "with more quota")

# It does not answer for some seconds; or not at all.
run = job({1: 1, 2: 1}, "stalls")
if run.wait_for(lambda: runs.checkpoint_steps(f"{REAL}/stalls"), "a checkpoint"):
    fault("stall", 1)
    time.sleep(4)  # this is what is tested, and waits for nothing
    fault("stall")
same("stalls", run.end(), "no answer for 4 s")
run = job({1: 1, 2: 1}, "hangs", {"check.hang": "5 s", "run.steps": 10 ** 6})
if run.wait_for(lambda: runs.checkpoint_steps(f"{REAL}/hangs"), "a checkpoint"):
    # Nothing ends a process whose call does not return; but it is said, and they end as soon as it does.
    fault("stall", 1)
    run.wait_for(lambda: "check.hang" in open(run.out + ".err").read(), "a line")
    fault("stall")
    at = time.monotonic()
    said = run.end()
    check(said.code == 1 and said.errors and all("no progress for 5 s (check.hang): a rank, a device or a file system hangs" in line
                                                 for line in said.errors), f"hangs: {time.monotonic() - at:.0f} s after it answers: {said}")
runs.finish()
