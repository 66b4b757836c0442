#!/usr/bin/python3
"""What a batch system and its user do to a run: signals, a time limit, and starting it again; nothing is lost.

A job that is asked to stop ends with exit status 75 and a good checkpoint, and another one goes on from there, on
another number of ranks and cut in another way: its results are those of the run that was never stopped, bit by bit.
"""
import os
import re
import shutil
import signal
import subprocess
import time

import h5py

import runs
from runs import Job, bytes_of, check, checkpoint_steps, differences, load, results, sets, tagflow, write

STEPS = 400
write("case.yaml", runs.LONG_CASE)
MORE = {"run.steps": STEPS, "checkpoint.every": 200, "output.fields.main.every": 100, "output.fields.wide.every": 50}


def log_of(folder):
    with open(os.path.join(folder, "log.txt")) as file:
        return file.read()


def go_on(folder, ranks, cut, settings=(), restart="auto", more=()):
    """The job after, to the end of the run."""
    return Job(folder, MORE | {"run.ranks": cut} | dict(settings), ranks, restart, more=more).end()


def came_to_its_end(folder, said, what, good=True, wanted=None):
    """Is the run in this folder done, and its results as those of the one that was never stopped?"""
    if said.code == 0:
        found = differences(wanted or undisturbed, results(folder))[:5] + runs.faults(folder)
        good = good and not found and load(folder, "status.json")["state"] == "done"
        return check(good, f"{folder}: {what}: done, but for {found}; {said}")
    return check(False, f"{folder}: {what}: {said}")


def stop(folder, ranks, settings, ask):
    """A job that is asked to stop after some steps. One that was done before it was asked is tried again."""
    for attempt in range(3):
        shutil.rmtree(folder, ignore_errors=True)
        job = Job(folder, MORE | settings, ranks)
        if ask and job.wait_for_line("step 20 "):
            ask(job)
        said = job.end()
        if said.code and load(folder, "status.json")["state"] != "done":  # mpirun says 1 when it was asked too late
            break
    return said


def several(job):
    """As batch systems do; and all ranks are not asked at the same time."""
    while job.process.poll() is None:
        job.signal_ranks(signal.SIGTERM)


def stopped_well(name, said, code, why):
    """Is all there that a job that was asked to stop leaves?"""
    status, report = load(name, "status.json"), load(name, "report.json")
    found = re.search(r"^stopped at step (\d+): (\S+?)[;,]? ", log_of(name), re.M)
    steps, faults = checkpoint_steps(name), runs.faults(name, quick=True)
    good = (said.code == code and found and found[2] == why and int(found[1]) == status["step"] == report["step"] and
            status["state"] == report["state"] == "stopped" and report["state_hash"] and
            status["checkpoint"] == {"file": f"checkpoints/step_{status['step']:010}.h5", "step": status["step"]} and
            steps and steps[-1] == status["step"] < STEPS and not faults and not said.errors)
    return check(good, f"{name}: exit status {said.code}, {found and found[0]!r}, status {status['state']} {status['step']}, "
                 f"checkpoints {steps}, {said.errors} {faults}")


# ---- the run that is never stopped ----

said = tagflow("run", "case.yaml", "--output", "undisturbed", *sets(MORE))
check(said.code == 0 and not runs.faults("undisturbed") and checkpoint_steps("undisturbed") == [200, 400],
      f"the run that is never stopped: {said}, checkpoints {checkpoint_steps('undisturbed')}")
undisturbed = results("undisturbed")

# ---- stopping ----

# Ranks and what they are asked by; the reason in the log; ranks and cut of the job after; settings of the first.
STOPS = {
    "SIGTERM to a rank": (3, lambda job: job.signal_rank(signal.SIGTERM, 2), "SIGTERM", 2, [1, 2, 1], {"checkpoint.every": 0}),
    "SIGUSR1 to mpirun": (2, lambda job: job.process.send_signal(signal.SIGUSR1), "SIGUSR1", 0, [1, 1, 1],
                          {"checkpoint.keep": 1}),
    "SIGUSR1 to all ranks": (2, lambda job: job.signal_ranks(signal.SIGUSR1), "SIGUSR1", 3, [3, 1, 1],
                             {"checkpoint.every": 50, "checkpoint.keep": 3}),
    "SIGINT to the process": (0, lambda job: job.process.send_signal(signal.SIGINT), "SIGINT", 2, [2, 1, 1], {}),
    "SIGHUP to the process": (0, lambda job: job.process.send_signal(signal.SIGHUP), "SIGHUP", 0, [1, 1, 1], {}),
    "SIGXCPU to the process": (0, lambda job: job.process.send_signal(signal.SIGXCPU), "SIGXCPU", 2, [1, 2, 1], {}),
    "SIGHUP to a rank": (2, lambda job: job.signal_rank(signal.SIGHUP, 1), "SIGHUP", 0, [1, 1, 1], {}),
    "SIGTERM again and again": (2, several, "SIGTERM", 4, [2, 2, 1], {}),
    "time limit": (2, None, "run.time_limit", 1, [1, 1, 1], {"run.time_limit": "1.4 s"}),
}
for name, (ranks, ask, why, after, cut, settings) in runs.some(STOPS.items(), 2):
    said = stop(name, ranks, settings, ask)
    if not stopped_well(name, said, 75, why):
        continue
    keep = settings.get("checkpoint.keep", 2)
    check(len(checkpoint_steps(name)) <= keep, f"{len(checkpoint_steps(name))} checkpoints, {keep} are kept")
    said = go_on(name, after, cut)
    came_to_its_end(name, said, f"goes on, cut {cut}")

# `tagflow launch` turns what ends a program into what launchers forward.
for number in runs.some([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 3):
    name = f"{number.name} to launch"
    job = subprocess.Popen([runs.TAGFLOW, "launch", "case.yaml", "--ranks", "2", "--output", name, *sets(MORE | {"run.steps": 100000000})],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
    for line in job.stdout:
        if line.startswith("step 20 "):
            job.send_signal(number)
    code, steps = job.wait(), checkpoint_steps(name)
    check(code == 75 and load(name, "status.json")["state"] == "stopped" and steps and steps[-1] == load(name, "status.json")["step"],
          f"{name}: exit status {code}, checkpoints {steps}")

# mpirun tells the ranks up to a second later, kills them 2 s after that, and says 1 whatever they say: the checkpoint has to
# be there by then. The run takes longer than that second; it ends soon after the step at which it stopped.
name, ages = "SIGTERM to mpirun", {"run.steps": 100000, "checkpoint.every": 0}
said = stop(name, 2, ages, lambda job: job.process.send_signal(signal.SIGTERM))
steps = checkpoint_steps(name)
check(said.code != 0 and steps and steps[-1] < ages["run.steps"] and
      load(name, "status.json")["checkpoint"]["step"] == steps[-1] and not runs.faults(name),
      f"{name}: {said}, status {load(name, 'status.json')['state']}, checkpoints {steps}")
if steps:
    last = ages | {"run.steps": max(steps[-1] + 100, 300)}  # the average needs 280
    unstopped = tagflow("run", "case.yaml", "--output", "as long", *sets(MORE | last))
    said = go_on(name, 1, [1, 1, 1], last)
    came_to_its_end(name, said, f"goes on, {unstopped}", "goes on from" in said.out, results("as long"))


def leave_at_once(job):
    """SIGINT twice; the second when the first was taken notice of, and not both as one."""
    pid, bit = job.process.pid, 1 << (signal.SIGINT - 1)

    def caught():
        try:
            with open(f"/proc/{pid}/status") as file:
                return int(re.search(r"^SigCgt:\s*(\w+)", file.read(), re.M)[1], 16) & bit
        except (OSError, TypeError):
            return 0

    job.process.send_signal(signal.SIGINT)
    while caught():
        pass
    job.process.send_signal(signal.SIGINT)


for attempt in range(5):  # the first may have ended it before the second comes
    said = stop("SIGINT twice", 0, {"checkpoint.every": 10}, leave_at_once)
    if said.code != 75:
        break
check(said.code == -signal.SIGINT and load("SIGINT twice", "status.json")["state"] == "running" and
      not runs.faults("SIGINT twice", temporary=True), f"a second SIGINT leaves at once: {said}")
said = go_on("SIGINT twice", 2, [1, 1, 2])
came_to_its_end("SIGINT twice", said, "goes on")

# ---- nobody listens any more ----

# As under nohup.
signal.signal(signal.SIGHUP, signal.SIG_IGN)
job = Job("nohup", MORE)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if job.wait_for_line("step 20 "):
    job.process.send_signal(signal.SIGHUP)
came_to_its_end("nohup", job.end(), "SIGHUP is ignored")

for name, ranks, lines in ("unread", 0, 0), ("read in part", 0, 2), ("read in part by ranks", 2, 2):
    said = runs.unread("run", "case.yaml", "--output", name, *sets(MORE), ranks=ranks, lines=lines)
    told = log_of(name).count("warning: cannot write to standard output (Broken pipe)")
    came_to_its_end(name, said, f"said in the log: {told}", told == 1 and log_of(name).splitlines()[-1].startswith("results"))

# ---- before the run has begun ----

# An image of 64 GB that takes nothing on the disk and some time to read: nothing may be written for it.
with open("large.raw", "wb") as file:
    os.truncate(file.name, 4000**3)
with h5py.File("large.h5", "w") as file:
    file.create_dataset("labels", (4000, 4000, 4000), "u1", chunks=(64, 64, 64), compression="gzip")
write("large.yaml", """\
domain: {cells: [4000, 4000, 4000]}
fluid:  {viscosity: 0.05}
faces:  {x: periodic, y: periodic, z: periodic}
run:    {steps: 10}
""")
LARGE = {"raw": {"file": "large.raw", "size": [4000, 4000, 4000], "solid": 1},
         "HDF5": {"file": "large.h5", "dataset": "labels", "solid": 1}}


def bytes_read(pid):
    try:
        with open(f"/proc/{pid}/io") as file:
            return int(re.search(r"rchar: (\d+)", file.read())[1])
    except (OSError, TypeError):
        return 0


for kind, ranks, which in ("raw", 0, signal.SIGTERM), ("HDF5", 0, signal.SIGHUP), ("HDF5", 2, signal.SIGUSR1):
    name = f"{kind} input, {ranks} ranks"
    job = Job(name, {"bodies": {"rock": {"image": LARGE[kind]}}}, ranks, case="large.yaml")
    if job.wait_for(lambda: job.processes() and all(bytes_read(pid) > 100e6 for pid, _ in job.processes()), "much that is read"):
        job.signal_ranks(which)
    said = job.end()
    check(said.code == 75 and not said.errors and not os.path.exists(name) and
          said.out.count(f"{which.name} came while it was read; nothing was written: start again") == 1,
          f"{name}, {which.name}: {said}, {said.out!r}")

# As soon as there is a handler, before MPI_Init(); and while the tags of a box of many shapes are made.
write("shapes.yaml", """\
domain: {cells: [300, 240, 180]}
fluid:  {viscosity: 0.05}
faces:  {x: periodic, y: wall, z: periodic}
bodies: {rock: {shape: {union: {""" + ", ".join(f"s{k}: {{sphere: {{center: [{k * 37 % 300}, {k * 53 % 240}, {k * 71 % 180}], radius: 9}}}}" for k in range(200)) +
      """}}, wall: interpolated}}
run:    {steps: 10, sparse: always}
""")


def catches(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            return int(re.search(r"^SigCgt:\s*(\w+)", file.read(), re.M)[1], 16) >> (signal.SIGTERM - 1) & 1
    except (OSError, TypeError):
        return 0


def worked(pid):
    """Seconds of a processor."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[11]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0


# The same while regions of a level too many are found.
LEVELS = """\
domain: {cells: [60, 40, 40]}
fluid:  {viscosity: 0.05}
faces:  {x: periodic, y: wall, z: wall}
bodies: {rock: {image: {file: ball.raw, size: [20, 20, 20], solid: 1, at: [20, 10, 10]}}}
refine: {skin: {level: 6, REGION}}
run:    {steps: 10}
"""
write("ball.raw", bytes((x - 10)**2 + (y - 10)**2 + (z - 10)**2 < 64 for z in range(20) for y in range(20) for x in range(20)))
write("around.yaml", LEVELS.replace("REGION", "around: rock, distance: 2"))
write("ball.yaml", LEVELS.replace("REGION", "shape: {sphere: {center: [30, 20, 20], radius: 9}}"))

for name, ranks, which, there, case in runs.some((
        ("as it starts", 0, signal.SIGTERM, catches, "shapes"), ("while it makes tags", 0, signal.SIGXCPU, lambda pid: worked(pid) > 0.7, "shapes"),
        ("while ranks make tags", 2, signal.SIGTERM, lambda pid: worked(pid) > 0.7, "shapes"),
        ("while it looks around a body", 0, signal.SIGTERM, lambda pid: worked(pid) > 0.7, "around"),
        ("while ranks look around a body", 2, signal.SIGUSR1, lambda pid: worked(pid) > 0.7, "around"),
        ("while it looks at a region", 0, signal.SIGTERM, lambda pid: worked(pid) > 0.7, "ball"),
        ("while levels are cut", 0, signal.SIGTERM, lambda pid: worked(pid) > 4, "ball")), 3):
    job = Job(name, {}, ranks, case=case + ".yaml")
    if job.wait_for(lambda: job.processes() and all(there(pid) for pid, _ in job.processes()), "its time"):
        job.signal_ranks(which)
    asked = time.monotonic()
    said = job.end()
    took = time.monotonic() - asked
    check(said.code == 75 and not os.path.exists(name) and took < 20 and (ranks or not said.errors) and
          sum(said.out.count(words) for words in (f"stopped before the run began: {which.name}; nothing was written: start again",
                                                  f"ball.raw: {which.name} came while it was read; nothing was written: start again")) == 1, f"{name}, {which.name}: {said}, {said.out!r}, {took:.1f} s after it")

# ---- a checkpoint when asked ----

for name, ranks, ask in [("SIGUSR2 to a rank", 2, lambda job: job.signal_rank(signal.SIGUSR2, 1)),
                         ("SIGUSR2 to mpirun", 2, lambda job: job.process.send_signal(signal.SIGUSR2))]:
    job = Job(name, MORE | {"checkpoint.every": 0}, ranks)
    if job.wait_for_line("step 20 "):
        ask(job)
        job.wait_for(lambda: checkpoint_steps(name), "a checkpoint")
    said = job.end()
    steps = checkpoint_steps(name)
    came_to_its_end(name, said, f"checkpoints {steps}", len(steps) == 1 and 20 <= steps[0] < STEPS)

# ---- starting again ----


def untouched(folder, code, *words, settings=(), restart="auto", ranks=0):
    """A job that must answer so, in one line, and leave everything as it is."""
    before = bytes_of(folder)
    said = tagflow("run", "case.yaml", "--output", folder, "--restart", restart, *sets(MORE | dict(settings)), ranks=ranks)
    check(said.code == code and len(said.errors) == (code != 0) and all(word in said.out + said.err for word in words) and
          bytes_of(folder) == before, f"{folder}, {restart}, {dict(settings)}: {said}")


untouched("undisturbed", 0, "is done")
untouched("undisturbed", 0, "is done", ranks=2)
untouched("undisturbed", 2, "fluid.viscosity", settings={"fluid.viscosity": 0.03})
untouched("undisturbed", 2, "solver.storage", settings={"solver.storage": "fp64", "solver.arithmetic": "fp64"}, ranks=2)
untouched("undisturbed", 2, "domain.cells", "--overwrite", "--output", settings={"domain.cells": [36, 28, 21]})

# Finished by an older version of the physics, which resolved the operator otherwise.
shutil.copytree("undisturbed", "older")
with open("undisturbed/case.yaml") as file:
    text = file.read()
text, count = re.subn(r", physics \d+;(.*?collision:) trt", r", physics 1;\1 bgk", text, count=1, flags=re.S)
check(count == 1, "the resolved case names the version and the operator")
write("older/case.yaml", text)
untouched("older", 0, "is done")
untouched("older", 2, "fluid.viscosity", "--overwrite", "--output", settings={"fluid.viscosity": 0.03})
untouched("older", 2, "domain.cells", settings={"domain.cells": [36, 28, 21]}, ranks=2)
untouched("older", 2, "version 1 of the physics", "--overwrite", settings={"run.steps": STEPS + 10})

loud = {"check.max_velocity": 0.01, "check.every": 5, "checkpoint.every": 5}
said = tagflow("run", "case.yaml", "--output", "diverged", "--restart", "auto", *sets(MORE | loud))
check(said.code == 3, f"one that diverges: {said}")
untouched("diverged", 3, "diverged", settings=loud)
untouched("diverged", 3, "diverged", ranks=3)

# Checkpoints that do not verify: the older one is used, and without any nothing is touched.
os.makedirs("damaged")
shutil.copytree("undisturbed", "damaged", dirs_exist_ok=True)
status = load("damaged", "status.json") | {"state": "running"}
write("damaged/status.json", runs.json.dumps(status))


def spoil(step):
    path = f"damaged/checkpoints/step_{step:010}.h5"
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


spoil(200)
spoil(400)
untouched("damaged", 1, "none of the checkpoints")
untouched("damaged", 1, "none of the checkpoints", ranks=2)
untouched("damaged", 2, "checkpoints/step_0000000200.h5", restart="damaged/checkpoints/step_0000000200.h5")
spoil(200)  # back as it was
said = go_on("damaged", 2, [1, 2, 1])
came_to_its_end("damaged", said, "the older one is used", "goes on from damaged/checkpoints/step_0000000200.h5" in said.out and
                "step_0000000400.h5 is not used" in said.err)

# No checkpoint at all: from the beginning.
name = "no checkpoint"
said = stop(name, 2, {"checkpoint.every": 0}, lambda job: job.signal_ranks(signal.SIGKILL))
check(said.code == 137 and not checkpoint_steps(name), f"killed without a checkpoint: {said}")
said = go_on(name, 3, [1, 3, 1], {"checkpoint.every": 0})
came_to_its_end(name, said, "begins anew", "goes on from" not in said.out and not checkpoint_steps(name))

# More steps after the end; the first end is at a step at which all is due.
said = tagflow("run", "case.yaml", "--output", "more", "--restart", "auto", *sets(MORE | {"run.steps": 300}))
check(said.code == 0 and load("more", "status.json")["state"] == "done", f"half of the steps: {said}")
said = go_on("more", 3, [1, 1, 3])
came_to_its_end("more", said, "the others", "goes on from" in said.out)

# From a certain checkpoint, in the same folder and in another.
older = "undisturbed/checkpoints/step_0000000200.h5"
said = go_on("elsewhere", 2, [2, 1, 1], restart=older)
hashes = [load(folder, "report.json")["state_hash"] for folder in ("undisturbed", "elsewhere")]
rows = [runs.series_text(folder, "each").splitlines()[-200:] for folder in ("undisturbed", "elsewhere")]
check(said.code == 0 and hashes[0] == hashes[1] and rows[0] == rows[1] and not runs.faults("elsewhere") and
      checkpoint_steps("elsewhere") == [400], f"from step 200 in a new folder: {said}, {hashes}")
said = go_on("undisturbed", 2, [1, 1, 2], restart=older)
aside = [name for name in runs.tree("undisturbed/checkpoints") if not name.endswith(".h5")]
came_to_its_end("undisturbed", said, f"from step 200 in the same folder, {aside}",
                checkpoint_steps("undisturbed") == [200, 400] and aside == ["step_0000000400.h5.aside"])

# In double precision.
wide = {"solver.storage": "fp64", "solver.arithmetic": "fp64",
        "output.averages": {"mean": {"every": 4, "of": ["velocity", "stress"], "to": 90}}}
said = tagflow("run", "case.yaml", "--output", "wide", *sets(MORE | wide | {"run.steps": 200}))
check(said.code == 0, f"in double precision: {said}")
said = Job("wide stopped", MORE | wide | {"run.steps": 100}, 2).end()
check(said.code == 0, f"half of it: {said}")
said = go_on("wide stopped", 3, [1, 1, 3], wide | {"run.steps": 200})
came_to_its_end("wide stopped", said, "the rest", wanted=results("wide"))

# Ended by the flow itself.
steady = {"run.stop": {"of": "kinetic_energy", "change": 0.1, "every": 50}, "checkpoint.every": 70}
said = tagflow("run", "case.yaml", "--output", "steady", *sets(MORE | steady))
ended = load("steady", "status.json")
check(said.code == 0 and ended["state"] == "done" and 100 < ended["step"] < STEPS and ended["step"] % 50 == 0 and
      not runs.faults("steady"), f"ended by run.stop at step {ended['step']}: {said}")
untouched("steady", 0, "is done", settings=steady)
# As a job leaves it that is killed after the last checkpoint and before the report.
wanted = results("steady")
write("steady/status.json", runs.json.dumps(ended | {"state": "running"}))
os.remove("steady/report.json")
said = go_on("steady", 2, [1, 2, 1], steady)
came_to_its_end("steady", said, "killed before its report", load("steady", "status.json")["step"] == ended["step"], wanted)
# And killed between the look that ended it and that: the look is repeated.
stopped_at = f"steady/checkpoints/step_{ended['step']:010}.h5"
write("steady/status.json", runs.json.dumps(ended | {"state": "running"}))
os.remove("steady/report.json")
os.remove(stopped_at)
said = go_on("steady", 3, [1, 1, 3], steady)
came_to_its_end("steady", said, "and killed before its last checkpoint", os.path.exists(stopped_at), wanted)

runs.finish()
