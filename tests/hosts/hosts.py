#!/usr/bin/python3
"""A run on several hosts has the bits of one on a single host, and what fails between hosts ends it in a bounded time or
not at all. The hosts are namespaces of this machine (cluster.py beside this file).

- Ranks spread unevenly over hosts, restarts on other hosts, other mappings of ranks.
- Bytes that cross a link are those that the log tells of.
- GPUs (the stand-in for CUDA): which one a rank takes, hosts with fewer GPUs than ranks, --share-gpu.
- A link that stalls or is slow: the run goes on. A host that dies: the job ends by itself, and the next one goes on from the
  checkpoint on the hosts that are left.

    TAGFLOW_STANDIN_PROGRAM  the program with the stand-in (optional)
"""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import cluster

cluster.enter()
import runs
from runs import check, differences, load, results, sets, tagflow, write

Job = cluster.job_class(runs)
hosts = cluster.Cluster(3)
STEPS = 60
MORE = {"run.steps": STEPS, "checkpoint.every": 20, "output.fields.main.every": 30, "output.fields.wide.every": 60,
        "output.averages.mean.to": 50, "check.every": 20}
write("case.yaml", runs.LONG_CASE)
said = tagflow("run", "case.yaml", "--output", "alone", *sets(MORE))
check(said.code == 0, f"on one host: {said}")
alone = results("alone")


def as_alone(folder, said, what):
    wrong = [str(said)] if said.code else differences(alone, results(folder))[:5] + runs.faults(folder, quick=True)
    return check(not wrong, f"{folder}: {what}: {wrong or 'as on one host'}")


def places(said):
    """{rank: host} as the log tells."""
    found = {}
    for first, last, host in re.findall(r"^ranks? (\d+)(?: to (\d+))? on (\S+): ", said.out, re.M):
        found |= {rank: host for rank in range(int(first), int(last or first) + 1)}
    return [found[rank] for rank in sorted(found)]


def run(where, folder, settings=(), **more):
    return Job(hosts, where, folder, MORE | dict(settings), **more).end()


# ---- ranks on hosts ----

said = run({1: 1, 2: 3, 3: 2}, "uneven")
as_alone("uneven", said, "1, 3 and 2 ranks")
check(places(said) == ["node1"] + 3 * ["node2"] + 2 * ["node3"], f"uneven: places {places(said)}")
said = run({3: 2, 2: 2}, "in turn", {"run.ranks": [2, 1, 2]}, options=["--map-by", "node"])
as_alone("in turn", said, "2 hosts, ranks in turn")
check(places(said) == ["node3", "node2"] * 2, f"in turn: places {places(said)}")

# Stopped by a signal to one rank, away from mpirun's host; goes on elsewhere.
job = Job(hosts, {1: 2, 2: 1}, "moved", MORE)
if job.wait_for_line("step 20 "):
    job.signal_rank(signal.SIGTERM, 2)
said = job.end()
status = load("moved", "status.json")
check(said.code == 75 and status["state"] == "stopped" and status["host"] == "node1", f"moved: stopped at step {status['step']}: {said.code}, {said.errors}")
said = run({3: 2, 1: 1, 2: 1}, "moved", {"run.ranks": [1, 4, 1]})
check("\ngoes on from " in said.out and load("moved", "status.json")["host"] == "node3", f"moved: {said}")
as_alone("moved", said, "3 ranks, then 4 on other hosts")

# A case that is wrong is one line from one rank, whatever host it is on.
said = run({2: 1, 1: 2}, "wrong", {"domain.cells": [4, 4]})
check(said.code == 2 and len(said.errors) == 1 and not os.path.exists("wrong"), f"wrong: {said}")

# ---- bytes on the link ----

write("box.yaml", """\
domain:  {cells: [64, 64, 16]}
fluid:   {viscosity: 0.01, velocity: 0.05, length: 64}
initial: {flow: uniform, velocity: [0.02, 0.01, 0.03]}
faces:   {x: periodic, y: periodic, z: periodic}
run:     {steps: 100}
check:   {every: 0}
checkpoint: {every: 0}
output:  {log: {every: 0}}
""")


def cross(where, cut, steps, precision):
    """Bytes and packets that leave node2 in a run, and what its report tells of a step."""
    folder = f"cross {len(where)} {cut} {steps} {precision}"
    before = hosts[2].sent()
    said = Job(hosts, where, folder, {"run.steps": steps, "run.ranks": cut, "solver.storage": precision}, restart=None,
               case="box.yaml").end()
    time.sleep(0.1)
    after = hosts[2].sent()
    if not check(said.code == 0, f"{folder}: {said}"):
        runs.finish()
    report = load(folder, "report.json")
    return [b - a for a, b in zip(before, after)], report, said


# Two blocks, each across both ends of the box: 5 populations of 64 x 64 cells through 2 faces from each.
for precision, where, cut, faces, between in [("fp64", {1: 1, 2: 1}, [1, 1, 2], 4, 4), ("fp32", {1: 1, 2: 2}, [1, 1, 3], 6, 4)]:
    size = int(precision[2:]) // 8
    (few, _), report, _ = cross(where, cut, 50, precision)
    (many, packets), report, said = cross(where, cut, 350, precision)
    told = report["message_bytes_between_hosts"]
    check(report["message_bytes"] == faces * 5 * 64 * 64 * size and told == between * 5 * 64 * 64 * size and
          f"{1e-6 * told:.4g} MB of them between hosts" in said.out, f"{where}, {precision}: {told} bytes a step between hosts")
    # Half of them leave node2. Headers: Ethernet, IP, TCP with its options and that of ob1 take 66 + 64 bytes of at most 64 KiB
    # (segments are cut by the link), acknowledgements 66; ranks agree ten times a second, and the log goes to mpirun.
    ratio = (many - few) / (300 * told / 2)
    check(0.999 < ratio < 1.10, f"{where}, {precision}: {(many - few) / 300:.0f} bytes a step left node2, {ratio:.3f} of those told")

# ---- GPUs ----

PROGRAM = os.environ.get("TAGFLOW_STANDIN_PROGRAM")
if PROGRAM and os.path.exists(PROGRAM):
    write("small.yaml", runs.CASE)
    said = tagflow("run", "small.yaml", "--output", "small")
    small = load("small", "report.json")["state_hash"]
    GPU = {"case": "small.yaml", "restart": None, "program": PROGRAM}

    def on_gpus(name, where, options, more=(), settings=()):
        return Job(hosts, where, name, settings, more=["--backend", "cuda", *more], env={"TAGFLOW_STANDIN": "leaks=1,late=1," + options},
                   **GPU).end()

    def devices(said):
        return [(host, int(gpu)) for host, gpu in re.findall(r"^ranks? \d+ on (\S+): cuda, GPU (\d+): ", said.out, re.M)]

    # Number k is the same device on all hosts by its UUID here; hosts must be told apart all the same.
    said = on_gpus("gpus", {1: 2, 2: 2}, "devices=2")
    check(said.code == 0 and devices(said) == [("node1", 0), ("node1", 1), ("node2", 0), ("node2", 1)] and
          load("gpus", "report.json")["state_hash"] == small, f"gpus: 2 on each of 2 hosts: {devices(said)}, {said}")
    check(re.search("^halos: by CUDA IPC, 2 of 3 pairs of ranks; others through MPI", said.out, re.M),
          f"gpus: within hosts by CUDA IPC: {re.findall('^halos.*', said.out, re.M)}")
    said = on_gpus("too many", {1: 1, 2: 3}, "devices=2")
    check(said.code == 1 and len(said.errors) == 1 and re.match(r"tagflow: rank 1 on node2: 3 ranks on node2 and 2 GPUs for them \(.*\): "
          r"rank 3 would share one \(one rank a GPU, or --share-gpu\)", said.errors[0]), f"too many: {said}")
    said = on_gpus("shared", {1: 1, 2: 3}, "devices=2", ["--share-gpu"])
    check(said.code == 0 and devices(said) == [("node1", 0), ("node2", 0), ("node2", 1), ("node2", 0)] and
          load("shared", "report.json")["state_hash"] == small, f"shared: {devices(said)}, {said}")
    said = on_gpus("one without", {1: 1, 2: 1}, "devices=1,rank=1,devices=0")
    check(said.code == 1 and len(said.errors) == 1 and "no NVIDIA GPU to be seen (rank 1 on node2)" in said.err, f"one without: {said}")

    # Energy: each of the 4 GPUs once, those that ranks share too (tests/gpu/nvml/energy_ranks.c compares).
    nvml = os.path.dirname(PROGRAM) + "/nvml"
    if os.path.exists(nvml + "/energy_ranks"):
        done = subprocess.run(hosts.mpirun({1: 2, 2: 3}, [nvml + "/energy_ranks", 4, "whole"]), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, env=os.environ | {"TAGFLOW_STANDIN": "devices=2", "LD_LIBRARY_PATH": nvml + "/whole"})
        check(done.returncode == 0, f"energy of 2 GPUs on each of 2 hosts, 5 ranks: {done.returncode} {done.stderr[-300:]}")
else:
    print("note: no program with the stand-in for CUDA: GPUs are not tried")

# ---- links that stall or are slow ----

job = Job(hosts, {1: 1, 2: 1, 3: 1}, "stalls", MORE)
if job.wait_for_line("step 20 "):
    for host in 2, 3:
        hosts[host].link(False)
        time.sleep(2)  # this is what is tested, and waits for nothing
        hosts[host].link(True)
as_alone("stalls", job.end(), "two links down for 2 s each")

job = Job(hosts, {1: 1, 2: 2}, "slow", MORE)
slowed = job.wait_for_line("step 20 ") and hosts[2].slow("30mbit")
print("note: the link is slowed" if slowed else "note: this kernel cannot slow a link (tc tbf)")
as_alone("slow", job.end(), "a link of 30 Mbit/s")
if slowed:
    hosts[2].slow(None)

# ---- a host dies ----

# The daemons of Open MPI look at each other's connections; by default only after 8 min.
ALIVE = {"oob_tcp_keepalive_time": 4, "oob_tcp_keepalive_intvl": 2, "oob_tcp_keepalive_probes": 3}


def loses(number, where, name, after):
    """A job one host of which dies, and the next one on those that are left."""
    job = Job(hosts, where, name, MORE | {"run.steps": 1000000, "check.hang": "60 s", "output.log.every": 20}, mca=ALIVE)
    if not job.wait_for(lambda: len(runs.checkpoint_steps(name)) >= 2, "two checkpoints"):
        return
    began, processes = time.monotonic(), job.processes()
    hosts[number].kill()
    said = job.end()
    seconds = time.monotonic() - began
    gone = runs.all_gone(processes)
    steps, status = runs.checkpoint_steps(name), load(name, "status.json")
    torn = runs.faults(name, temporary=True, quick=True)
    check(said.code == 205 and "ORTE has lost communication with a remote daemon" in said.err and node(number) in said.err and
          not said.errors and gone and not torn and status["state"] == "running",
          f"{name}: exit status {said.code} after {seconds:.1f} s, {said.errors}; gone: {gone}; {steps}, torn {torn}")
    end = (steps[-1] // 60 + 2) * 60
    said = run(after, name, {"run.steps": end})
    whole = tagflow("run", "case.yaml", "--output", name + ", alone", *sets(MORE | {"run.steps": end}))
    wrong = differences(results(name + ", alone"), results(name)) if said.code == whole.code == 0 else [said, whole]
    check("\ngoes on from " in said.out and not wrong, f"{name}: goes on from {steps[-1]} to {end} on other hosts: {wrong or 'same bits'}")
    hosts[number].start()


def node(number):
    return f"node{number}"


loses(3, {1: 1, 2: 1, 3: 2}, "host 3 dies", {1: 1, 2: 2})
runs.finish()
