#!/usr/bin/python3
"""Halos, and messages between levels, that GPUs of one host write into each other's memory, on the stand-in: the CPU's bits
on 2 to 8 ranks, with any cut and order of work; ranks whose driver refuses exchange through MPI; and if one rank's GPU or process fails, all ranks
end soon with the right exit status.

    TAGFLOW_STANDIN_PROGRAM  the program with the stand-in (required)
    TAGFLOW_THOROUGH         set: every cut in every order
"""
import concurrent.futures
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import Job, check, load, sets, tagflow, write

PROGRAM = os.environ["TAGFLOW_STANDIN_PROGRAM"]
THOROUGH = "TAGFLOW_THOROUGH" in os.environ
os.environ["OMP_WAIT_POLICY"] = "passive"
os.environ["OMP_NUM_THREADS"] = "1"
OUTPUT = """\
check:   {every: 7}
output:
  log:    {every: 0}
  series:
    flow:  {every: 3, of: [mass, kinetic_energy, enstrophy]}
    point: {every: 5, of: probe, point: [5.3, 4.1, 2.5]}
run:     {steps: 21}
"""
CASES = {
    "vortices": """\
domain:  {cells: [12, 12, 12]}
fluid:   {viscosity: 0.003, velocity: 0.1, length: 12}
initial: {flow: taylor_green_3d}
faces:   {x: periodic, y: periodic, z: periodic}
""",
    "bodies": """\
domain:  {cells: [37, 18, 14]}
fluid:   {viscosity: 0.05}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.02, 0, 0.01]}}, z: periodic}
force:   {flow_rate: {velocity: 0.02, axis: x, every: 4, time: 9}}
bodies:
  big:   {shape: {sphere: {center: [30, 9, 3], radius: 7.6}}}
  low:   {shape: {box: {from: [0, 0, 0], to: [37, 18, 3.2]}}}
  moves: {shape: {sphere: {center: [18, 6, 10], radius: 2.6}}, velocity: [0.01, 0, -0.02]}
""",
    # one message each way, longer than a page of memory
    "closed": """\
domain:  {cells: [24, 20, 12]}
fluid:   {viscosity: 0.05}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.02, 0, 0.01]}}, z: wall}
""",
    # messages of 1.3 MB, which the trial sends in two pieces
    "long": """\
domain:  {cells: [256, 256, 4]}
fluid:   {viscosity: 0.05}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, y: wall, z: periodic}
""",
    # what leaves level 1 at a rank enters it again at another one
    "levels": """\
domain:  {cells: [16, 12, 8]}
fluid:   {viscosity: 0.02}
solver:  {collision: rr}
initial: {flow: uniform, velocity: [0.02, 0.01, 0]}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.03]}}, z: periodic}
refine:
  low:   {level: 1, box: {from: [4, 4, 0], to: [12, 12, 4]}}
  high:  {level: 1, box: {from: [4, 8, 4], to: [8, 12, 8]}}
""",
}
# Two ranks that are neighbours through both sides, three in a row, edges, uneven cuts, all axes.
CUTS = [[2, 1, 1], [1, 1, 3], [1, 2, 2], [2, 2, 2], [3, 1, 1], [1, 2, 1], [1, 4, 2], [5, 1, 1]]
# One rank that is late, with all others ahead, and the reverse, besides those for all.
ORDERS = ["order=lazy", "order=random", "order=eager,rank=1,order=lazy", "order=lazy,rank=1,order=eager"]
for name, text in CASES.items():
    write(name + ".yaml", text + OUTPUT)


def result(folder):
    return load(folder, "report.json")["state_hash"], runs.series_text(folder), runs.series_text(folder, "point")


def gpu(case, folder, ranks, options, settings):
    return tagflow("run", case, "--output", folder, "--backend", "cuda", "--share-gpu", *sets(settings), ranks=ranks,
                   env={"TAGFLOW_STANDIN": "leaks=1,late=1,uuid=same," + options}, program=PROGRAM)


def halos(said):
    found = re.findall("^halos: (.*)", said.out, re.M)
    return found[0] if len(found) == 1 else str(found)


expected = {}
for name in CASES:
    for bits in "fp32", "fp16":
        said = tagflow("run", name + ".yaml", "--output", f"{name}_{bits}", *sets({"solver.storage": bits}))
        check(said.code == 0, f"{name}, {bits}, on the CPU: {said}")
        expected[name, bits] = result(f"{name}_{bits}")
check(len(set(expected.values())) == 2 * len(CASES), "what differs, differs")


def compare(number, name, bits, cut, options, more=None, words="by CUDA IPC, all [0-9]+ pairs of ranks$", transport="ipc"):
    """What was run, and what is wrong if GPUs do not write what the CPU does, or do not say how."""
    folder = f"ipc_{number}"
    ranks = cut[0] * cut[1] * cut[2]
    settings = {"solver.storage": bits, "run.ranks": cut, "run.transport": "ipc"} | (more or {})
    said = gpu(name + ".yaml", folder, ranks, f"seed={number}," + options, settings)
    wrong = [] if said.code == 0 else [str(said)]
    if not wrong:
        wrong += [] if re.match(words, halos(said)) else [f"halos: {halos(said)}"]
        named = load(folder, "report.json")["transport"]
        wrong += [] if named == transport else [f"transport {named}"]
        between = re.findall("^messages between levels: (.*)", said.out, re.M)
        wrong += [] if len(between) == (name == "levels" and ranks > 1) else [f"between levels: {between}"]
        wrong += [f"between levels: {text}" for text in between if not re.match(words, text)]
        wrong += [] if result(folder) == expected[name, bits] else ["other bits"]
    return f"{name}, {bits}, {cut}, {options}, {more or ''}", wrong


jobs = [(100, "vortices", "fp32", [1, 1, 1], "order=lazy", {"run.exchange": "all"}, "within the memory of the GPU$")]
number = 0
for turn, cut in enumerate(CUTS):
    for place, order in enumerate(ORDERS):
        if not THOROUGH and place != (turn + turn // 4) % 4:
            continue
        number += 1
        name = ["vortices", "bodies"][number % 2]
        more = [{}, {"run.exchange": ["all", ["x", "z"], "z"][number // 3 % 3]}, {"run.transport": "auto"}][number % 3]
        jobs.append((number, name, ["fp32", "fp16"][number // 2 % 2], cut, order, more))

# Between levels: every order, ranks that have nothing of the fine level.
for place, (cut, order) in enumerate(zip([[2, 1, 1], [1, 1, 3], [4, 1, 1], [2, 2, 1], [1, 1, 2]], [*ORDERS, "order=others"])):
    jobs.append((150 + place, "levels", ["fp32", "fp16"][place % 2], cut, order, {"run.exchange": ["cut", "all"][place // 2 % 2]}))

# ---- what is refused goes through MPI ----

HOST = "through MPI, by way of host memory: this MPI does not read that of GPUs"
SOME = "by CUDA IPC, [1-9] of [0-9]+ pairs of ranks; others "
REFUSED = [
    ("ipc=0", HOST + "; not by CUDA IPC: memory cannot be shared: not supported$", "host"),
    ("peers=0", HOST + "; not by CUDA IPC: another GPU's memory cannot be used: ", "host"),
    ("aware=1,ipc=0", "through MPI, from GPU memory: this MPI reads it; not by CUDA IPC: ", "device"),
    ("deaf=1", HOST + "; not by CUDA IPC: what one GPU wrote did not reach another's memory$", "host"),
    ("rank=2,deaf=1", HOST + "; not by CUDA IPC: what one GPU wrote did not reach another's memory$", "host"),
    ("rank=1,ipc=0", SOME + HOST + "$", "ipc, host"),
    ("rank=2,peers=0", SOME + HOST + "$", "ipc, host"),
    ("order=random,aware=1,rank=1,peers=0", SOME + "through MPI, from GPU memory", "ipc, device"),
    ("rank=0,fail=cudaIpcGetMemHandle:1", SOME + HOST + "$", "ipc, host"),
    ("rank=3,fail=cudaIpcGetEventHandle:2", SOME + HOST + "$", "ipc, host"),
    ("order=random,rank=2,fail=cudaIpcOpenMemHandle:1", SOME + HOST + "$", "ipc, host"),
    ("rank=0,fail=cudaIpcOpenEventHandle:3,fail=cudaIpcCloseMemHandle:1", SOME + HOST + "$", "ipc, host"),
]
for turn, (options, words, transport) in enumerate(REFUSED):
    jobs.append((200 + turn, ["vortices", "bodies"][turn % 2], "fp32", [1, 1, 4], options, None, words, transport))
# Only the beginning of what is written arrives, at all ranks or at one.
LOST = HOST + "; not by CUDA IPC: what one GPU wrote did not reach another's memory$"
for turn, (options, bits) in enumerate([("deaf=2", "fp32"), ("order=random,rank=1,deaf=2", "fp16")]):
    jobs.append((250 + turn, "closed", bits, [1, 1, 2], options, None, LOST, "host"))
jobs.append((252, "closed", "fp32", [1, 1, 2], "order=random", None))
jobs.append((253, "long", "fp32", [1, 1, 2], "order=lazy", None))
jobs.append((300, "bodies", "fp32", [1, 1, 2], "order=lazy", {"run.transport": "host"}, HOST + "$", "host"))
for number, options, words, transport in [
        (301, "order=random,rank=1,ipc=0", SOME + HOST + "$", "ipc, host"),
        (302, "order=lazy,aware=1,rank=2,peers=0", SOME + "through MPI, from GPU memory", "ipc, device"),
        (303, "deaf=1", HOST + "; not by CUDA IPC: what one GPU wrote did not reach another's memory$", "host")]:
    jobs.append((number, "levels", "fp32", [4, 1, 1], options, None, words, transport))
with concurrent.futures.ThreadPoolExecutor(3) as pool:  # starting MPI is waiting mostly
    for text, wrong in pool.map(lambda job: compare(*job), jobs):
        check(not wrong, f"{text}: {wrong or 'as on the CPU'}")

# ---- a rank that fails ----

ENDLESS = {"run.steps": 1000000, "check.every": 0, "run.transport": "ipc", "output": {"log": {"every": 0}}}


def fail(what, ranks, order, first=1, last=500000, case="vortices", how="ipc"):
    """One GPU fails, far from the next look at the flow: it says so, and all end."""
    folder = f"fail_{case}_{how}_{what}_{ranks}_{order}".replace(":", "_")
    began = time.monotonic()
    # The others leave what may be in use for ever.
    said = gpu(case + ".yaml", folder, ranks, f"leaks=0,aware={int(how == 'device')},order={order},rank={ranks - 1},fail={what}",
               ENDLESS | {"run.transport": how})
    state = load(folder, "status.json")
    check(said.code == 1 and len(said.errors) == 1 and "the GPU failed: " in said.errors[0] and state["state"] == "failed" and
          first <= state["step"] <= last,
          f"{case}, {how}, {what} fails on one of {ranks} ranks, {order}: {said}, {state}, {time.monotonic() - began:.1f} s")


fail("kernel:1500", 3, "lazy")
fail("kernel:1501", 2, "random")
fail("cudaStreamWaitEvent:2000", 3, "random")
# When the ranks try the way.
fail("cudaMemcpyAsync:3", 3, "lazy", 0, 0)
# On two levels, in a kernel or a copy.
fail("kernel:500", 3, "random", case="levels")
fail("cudaMemcpyAsync:300", 3, "lazy", case="levels")
fail("kernel:501", 3, "lazy", case="levels", how="device")
fail("cudaMemcpyAsync:301", 3, "random", case="levels", how="host")
if THOROUGH:
    fail("cudaEventRecord:1", 3, "random", 0, 0)
    fail("cudaEventRecord:2100", 2, "lazy")
    fail("cudaEventQuery:2200", 2, "lazy")
    for n in range(1400, 1430):
        fail(f"kernel:{n}", 2 + n % 3, ["lazy", "random", "eager"][n % 7 % 3])
        fail(f"{['kernel', 'cudaMemcpyAsync', 'cudaEventRecord'][n % 3]}:{n}", 2 + n % 3, ["lazy", "random", "eager"][n % 7 % 3],
             case="levels", how=["ipc", "device", "host"][n // 2 % 3])

# One process dies: mpirun ends the others.
job = Job("killed", ENDLESS | {"output.log.every": 50}, 3, case="vortices.yaml", more=["--backend", "cuda", "--share-gpu"],
          program=PROGRAM, env={"TAGFLOW_STANDIN": "uuid=same,order=lazy"})
if job.wait_for_line("step 50 "):
    job.signal_rank(signal.SIGKILL, 1)
said = job.end()
check(said.code == 137, f"a rank is killed: {said}")

# One process stops: the watchdog of the others ends them.
job = Job("stopped", ENDLESS | {"output.log.every": 50, "check.hang": "2 s"}, 3, case="vortices.yaml",
          more=["--backend", "cuda", "--share-gpu"], program=PROGRAM, env={"TAGFLOW_STANDIN": "uuid=same,order=lazy"})
if job.wait_for_line("step 50 "):
    job.signal_rank(signal.SIGSTOP, 1)
said = job.end()
check(said.code == 1 and load("stopped", "status.json")["state"] == "failed", f"a rank stops: {said}")

runs.finish()
