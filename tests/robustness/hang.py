#!/usr/bin/python3
"""Ranks that hang or are lost end the job in a bounded time, jobs that are suspended go on, and two jobs never run in
one folder.

A rank is stopped in its tracks (SIGSTOP), as by a file system or a device that does not answer: the others see that
nothing goes on for check.hang and end, mpirun takes the stopped one with it, and the next job goes on from the
checkpoint before. The files of the run's folder say how it ended, whoever hung.
"""
import fcntl
import glob
import os
import signal
import subprocess
import time

import runs
from runs import Job, check, checkpoint_steps, differences, load, results, sets, tagflow, write

write("case.yaml", runs.LONG_CASE)
STEPS = 300
MORE = {"run.steps": STEPS, "checkpoint.every": 10, "output.fields.main.every": 100, "output.fields.wide.every": 200}

said = tagflow("run", "case.yaml", "--output", "undisturbed", *sets(MORE))
check(said.code == 0, f"undisturbed: {said}")
undisturbed = results("undisturbed")


def came_to_its_end(folder, said, what):
    found = differences(undisturbed, results(folder))[:5] + runs.faults(folder) if said.code == 0 else []
    check(said.code == 0 and not found, f"{folder}: {what}: {said}, {found}")


# ---- one rank of a job ----


def told(folder, ended):
    """What is wrong with what status.json and report.json say of a run that hung (ended: they tell of it)."""
    status = load(folder, "status.json")
    if not ended:
        return [] if status["state"] == "running" and status["reason"] is None else [status]
    report = load(folder, "report.json")
    good = [x["state"] == "failed" and x["exit_status"] == 1 and x["reason"].startswith("no progress for 2 s (check.hang)") and
            x["step"] >= checkpoint_steps(folder)[-1] for x in (status, report)]
    left = glob.glob(os.path.join(folder, "*.hang.tmp"))
    return [] if all(good) and status["step"] == report["step"] and not left else [status, report, left]


def lose(name, ranks, which, what, good):
    """A job one rank of which gets a signal, how it ended, and the job after."""
    job = Job(name, MORE | {"check.hang": "2 s"}, ranks)
    if not job.wait_for(lambda: checkpoint_steps(name) and "\ncheckpoint " in job.text(), "a checkpoint"):
        return
    processes = job.processes()
    job.signal(what, [processes[which][0]])
    said = job.end()
    gone = runs.all_gone(processes)
    steps = checkpoint_steps(name)
    wrong = told(name, bool(said.errors))
    torn = runs.faults(name, temporary=True)
    check(good(said) and gone and steps and not torn and not wrong,
          f"{name}: exit status {said.code}, {said.errors}; all ranks are gone: {gone}; checkpoints {steps}, told {wrong}, "
          f"torn {torn}")
    said = Job(name, MORE | {"run.ranks": [1, 1, 2]}, 2).end()
    came_to_its_end(name, said, "the next job")


def hangs(said, code=1):
    """A line from a rank that waited, and none that says anything else."""
    return said.code in (1, code) and said.errors and all("no progress for 2 s (check.hang)" in line for line in said.errors)


lose("rank 0 hangs", 2, 0, signal.SIGSTOP, hangs)
lose("rank 2 hangs", 3, 2, signal.SIGSTOP, hangs)
# mpirun notices within moments as a rule; where it takes longer than check.hang, the others say so themselves.
lose("rank 1 is lost", 3, 1, signal.SIGKILL, lambda said: said.code == 137 and not said.errors or hangs(said, 137))

# ---- a run by itself, in a place where no time limit is of use ----


def clog(name, meanwhile=lambda: None):
    """A run whose standard output nobody reads and nobody closes: it hangs in a write."""
    read, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    line = runs.command(["run", "case.yaml", "--output", name] +
                        sets(MORE | {"output.log.every": 1, "check.hang": "2 s", "run.steps": 1000000}))
    with open(name + ".err", "wb") as errors:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=write_end, stderr=errors)
    os.close(write_end)
    while process.poll() is None and not checkpoint_steps(name):
        time.sleep(0.01)
    meanwhile()
    process.wait(runs.HANGS)
    os.close(read)
    with open(name + ".err") as file:
        return runs.Said(process.returncode, "", file.read())


said = clog("clogged")
wrong = told("clogged", True)
check(hangs(said) and said.code == 1 and not wrong and not runs.faults("clogged", temporary=True),
      f"clogged: {said}, told {wrong}")
said = clog("clogged twice", lambda: write("clogged twice/status.json.hang.tmp", ""))
wrong = [x for x in [load("clogged twice", "status.json")] if x["state"] != "running"]
check(hangs(said) and said.code == 1 and not wrong,
      f"clogged, and another rank hangs as it writes: no second writer, and an end all the same: {said}, {wrong}")
for name in "clogged", "clogged twice":
    for _ in range(2):
        said = tagflow("run", "case.yaml", "--output", name, "--restart", "auto", *sets(MORE | {"run.steps": STEPS}))
    came_to_its_end(name, said, "the next job")
    ends = [load(name, file) for file in ("status.json", "report.json")]
    check(all(x["reason"] == "run.steps" and x["exit_status"] == 0 for x in ends), f"{name}: {ends}")

# ---- the whole job is suspended for longer ----

HANG = 2
for ranks in [0, 2]:
    name = f"suspended, {ranks} ranks"
    job = Job(name, MORE | {"check.hang": f"{HANG} s"}, ranks)
    if job.wait_for_line("step 20 "):
        job.signal_ranks(signal.SIGSTOP)
        time.sleep(3 * HANG)  # this is what is tested, and waits for nothing
        check(job.process.poll() is None, f"{name}: it is still there")
        job.signal_ranks(signal.SIGCONT)
    came_to_its_end(name, job.end(), f"for {3 * HANG} s, and woken up")

# ---- two jobs in one folder ----

job = Job("shared", MORE | {"run.steps": 1000000, "output.fields": {}, "output.averages": {}}, 2)
if job.wait_for_line("step 20 "):
    line = runs.command(["run", "case.yaml", "--output", "shared"] + sets(MORE))
    others = [subprocess.Popen(line + more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
              for more in ([], ["--restart", "auto"], ["--overwrite"], ["--restart", "shared/checkpoints/step_0000000010.h5"])]
    for other in others:
        out, err = other.communicate(timeout=runs.HANGS)
        said = runs.Said(other.returncode, out, err)
        alone = "holds a run" if other is others[0] else "is in use by another run (process "
        goes_on = other in (others[1], others[3])  # a later job may
        check(said.code == (75 if goes_on else 2) and len(said.errors) == 1 and alone in said.err and not said.out, f"a second job: {said}")
    check(job.process.poll() is None, "and the first one goes on")
    job.signal_rank(signal.SIGTERM, 1)
said = job.end()
stopped = load("shared", "status.json")
check(said.code == 75 and stopped["state"] == "stopped" and checkpoint_steps("shared")[-1] == stopped["step"] and
      not runs.faults("shared"), f"to its stop at step {stopped['step']}: {said.code} {runs.faults('shared')}")
alone = MORE | {"run.steps": stopped["step"], "output.fields": {}, "output.averages": {}}
said = tagflow("run", "case.yaml", "--output", "alone", *sets(alone))
check(said.code == 0 and load("alone", "report.json")["state_hash"] == load("shared", "report.json")["state_hash"] and
      runs.series_text("alone", "each") == runs.series_text("shared", "each"), f"as if it had been alone: {said}")

runs.finish()
