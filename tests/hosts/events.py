#!/usr/bin/python3
"""Jobs on several hosts to which something happens at an instant drawn by chance, and which go on elsewhere until the run is
done, give what a run gives to which nothing happened.

    events.py [EVENTS [SEED]]

A rank is killed; a host dies (that of mpirun, or another one); the link of a host goes down for good, for some seconds, or
becomes slow. The next job runs on other hosts, with other ranks, as soon as mpirun has ended; ranks of the job before may
still be there. Every job must end by itself. Hosts are namespaces of this machine (cluster.py).
"""
import collections
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import cluster

cluster.enter()
import runs
from runs import check, differences, load, results, sets, tagflow, write

EVENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
chance = random.Random(SEED)
HOSTS, STEPS = 4, 200
SETTINGS = {"run.steps": STEPS, "checkpoint.every": 20, "check.every": 20, "check.hang": "20 s", "output.log.every": 20,
            "output.fields.main.every": 50, "output.fields.wide.every": 100, "output.images.mid.every": 25, "output.averages.mean.to": 180}
# The daemons of Open MPI notice a connection that is dead after 2 + 3 * 1 s.
ALIVE = {"oob_tcp_keepalive_time": 2, "oob_tcp_keepalive_intvl": 1, "oob_tcp_keepalive_probes": 3}
KINDS = ["rank", "host", "host of mpirun", "link down", "stall", "slow"]
# Exit statuses of a job to which this happened; 0 and 75 are always good. -9: mpirun was killed.
ENDS = {"rank": {137, 1}, "host": {205, 1}, "host of mpirun": {-9, 137}, "link down": {205, 1}, "stall": {205}, "slow": set()}
LIMIT = 120  # seconds from an event to the end of the job

Job = cluster.job_class(runs)
hosts = cluster.Cluster(HOSTS)
write("case.yaml", runs.LONG_CASE)
began = time.monotonic()
said = tagflow("run", "case.yaml", "--output", "undisturbed", *sets(SETTINGS))
check(said.code == 0, f"undisturbed: {said}")
undisturbed = results("undisturbed")
window = 3 * (time.monotonic() - began)  # events come in so many seconds
met = collections.Counter()


def place():
    """Two or three hosts in some order, and ranks on each, not more than 4 in all."""
    chosen = chance.sample(range(1, HOSTS + 1), chance.choice([2, 2, 3]))
    where = {k: 1 for k in chosen}
    for k in chosen:
        where[k] += sum(where.values()) < 4 and chance.random() < 0.4
    return where


def happen(kind, job, where):
    """What is to be done when the job is over."""
    head, *others = where
    other = chance.choice(others)
    either = chance.choice(list(where))
    if kind == "rank":
        processes = job.processes()
        job.signal(signal.SIGKILL, [pid for pid, _ in chance.sample(processes, min(1, len(processes)))])
    elif kind in ("host", "host of mpirun"):
        dead = hosts[head if kind != "host" else other]
        dead.kill()
        return dead.start
    elif kind == "link down":
        hosts[either].link(False)
        return lambda: hosts[either].link(True)
    elif kind == "stall":
        hosts[either].link(False)
        time.sleep(chance.uniform(0.2, 3))  # this is what is tested, and waits for nothing
        hosts[either].link(True)
    elif hosts[either].slow("20mbit"):
        return lambda: hosts[either].slow(None)
    return lambda: None


def chain(number, wanted):
    """Jobs until the run is done, at most `wanted` events; returns how many there were, and whether it came to its end."""
    folder, events, refused = f"chain {number}", 0, 0
    while True:
        where = place()
        kind = chance.choice(KINDS) if events < wanted else None
        delay = chance.uniform(0, window)
        job = Job(hosts, where, folder, SETTINGS, mca=ALIVE)
        mend, at = None, time.monotonic()
        try:
            job.process.wait(delay if kind else runs.JOB_HANGS)
            kind = None
        except subprocess.TimeoutExpired:
            mend, at = happen(kind, job, where) if kind else None, time.monotonic()
        said = job.end()
        seconds = time.monotonic() - at
        if mend:
            mend()
        if kind:
            events += 1
            met[kind, said.code] += 1
            print(f"     {folder}: {kind} on {where}: {said.code} after {seconds:.1f} s", flush=True)
        if job.stuck or (kind and said.code not in (0, 75) and seconds > LIMIT):
            check(False, f"{folder}: {kind} on {where}: mpirun ended only after {seconds:.0f} s: {said}")
        if said.code == 0:
            return folder, events, load(folder, "status.json")["state"] == "done"
        refused = refused + 1 if said.code == 75 and "in use" in said.err else 0
        if refused > 5 or said.code not in (ENDS[kind] if kind else set()) | {75}:
            check(False, f"{folder} on {where}, {kind}: {said} {said.err[-2000:]}")
            return folder, events, False
        met["in use"] += refused > 0


events = number = 0
while events < EVENTS:
    folder, some, done = chain(number, EVENTS - events)
    events, number = events + some, number + 1
    different = differences(undisturbed, results(folder)) if done else ["not done"]
    faults = runs.faults(folder)
    if not check(not different and not faults, f"{folder}: {some} events: {different[:5] or 'as undisturbed'}, {faults}"):
        break
    subprocess.run(["rm", "-r", folder], check=True)
check(events >= EVENTS, f"{events} events in {number} chains: {dict(met)}")
runs.finish()
