#!/usr/bin/python3
"""A run that is killed at any moment leaves nothing torn, and can be repeated.

The run writes something at every step; a signal comes when the log has reached a step drawn by chance
(with a fixed seed), so that it meets the run at whatever it is doing then.
"""
import os
import random
import signal
import subprocess

import runs
from runs import CASE, check, load, tagflow, write

write("case.yaml", CASE)
EVERYTHING = runs.sets({"run.steps": 20000, "check.every": 100, "output.log.every": 1, "output.series.flow.every": 1,
                        "output.fields.main.every": 3, "output.images.mid.every": 2})
chance = random.Random(1)


def interrupt(folder, which, step, ranks):
    """Starts a run and sends it a signal after a step: to all its processes, as a batch system or a terminal does."""
    line = runs.command(["run", "case.yaml", "--output", folder] + EVERYTHING, ranks)
    with open(folder + ".err", "w") as err, \
            subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err, text=True,
                             start_new_session=True) as process:
        for said in process.stdout:
            if said.startswith(f"step {step} "):
                break
        os.killpg(process.pid, which)
        process.stdout.read()  # until the last process has ended
        try:
            return process.wait(runs.HANGS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "hangs"


for ranks, times in [(0, 2), (2, 1)]:
    for which in [signal.SIGTERM, signal.SIGINT, signal.SIGKILL]:
        for _ in range(times):
            step = chance.randrange(0, 120)
            folder = f"{which.name}_{ranks}_{step}"
            code = interrupt(folder, which, step, ranks)
            torn = runs.faults(folder, temporary=True)
            status = load(folder, "status.json")
            left = [name for name in runs.tree(folder) if name.endswith(".tmp")]
            check(code not in (0, "hangs") and not torn and status["state"] == "running" and step <= status["step"] + 1,
                  f"{which.name} after step {step}, {ranks} ranks: exit status {code}, {len(runs.tree(folder))} entries, "
                  f"unfinished {left}, torn {torn}")
    said = tagflow("run", "case.yaml", "--output", folder, "--overwrite")
    check(said.code == 0 and not runs.faults(folder), f"the last one is repeated: {said}")

runs.finish()
