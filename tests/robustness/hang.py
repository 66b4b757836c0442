#!/usr/bin/python3
"""Ranks that hang or are lost end the job in a bounded time, jobs that are suspended go on, and two jobs never run in
one folder.

A rank is stopped in its tracks (SIGSTOP), as by a file system or a device that does not answer: the others see that
nothing goes on for check.hang and end, mpirun takes the stopped one with it, and the next job goes on from the
checkpoint before.
"""
import signal
import subprocess
import time

import runs
from runs import Job, check, checkpoint_steps, differences, load, results, sets, tagflow, write

write("case.yaml", runs.LONG_CASE)
STEPS = 400
MORE = {"run.steps": STEPS, "checkpoint.every": 10, "output.fields.main.every": 100, "output.fields.wide.every": 200}

said = tagflow("run", "case.yaml", "--output", "undisturbed", *sets(MORE))
check(said.code == 0, f"undisturbed: {said}")
undisturbed = results("undisturbed")


def came_to_its_end(folder, said, what):
    found = differences(undisturbed, results(folder))[:5] + runs.faults(folder) if said.code == 0 else []
    check(said.code == 0 and not found, f"{folder}: {what}: {said}, {found}")


# ---- one rank of a job ----


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
    state = load(name, "status.json")["state"]
    torn = runs.faults(name, temporary=True)
    check(good(said) and gone and steps and not torn and state in ("running", "stopped", "failed"),
          f"{name}: exit status {said.code}, {said.errors}; all ranks are gone: {gone}; checkpoints {steps}, status {state}, "
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

# ---- the whole job is suspended for longer ----

HANG = 3
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
        check(said.code == 2 and len(said.errors) == 1 and alone in said.err and not said.out, f"a second job: {said}")
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
