#!/usr/bin/python3
"""A run that is killed leaves nothing torn even when it writes something at every step, and can be repeated.

SIGKILL comes when the log has reached a step drawn by chance (with a fixed seed), so that it meets the run at whatever
it is doing then; kills.py kills runs that are gone on with, and signals.py asks them to stop.
"""
import random
import signal

import runs
from runs import CASE, Job, check, load, tagflow, write

write("case.yaml", CASE)
EVERYTHING = {"run.steps": 20000, "check.every": 100, "output.log.every": 1, "output.series.flow.every": 1,
              "output.fields.main.every": 3, "output.images.mid.every": 2, "checkpoint.every": 0}
chance = random.Random(1)

for ranks, times in [(0, 3), (2, 2)]:
    for _ in range(times):
        step = chance.randrange(0, 120)
        folder = f"{ranks}_{step}"
        job = Job(folder, EVERYTHING, ranks, restart=None)
        if job.wait_for_line(f"step {step} "):
            processes = job.processes()
            job.signal_ranks(signal.SIGKILL)
        said = job.end()
        torn = runs.faults(folder, temporary=True)
        status = load(folder, "status.json")
        left = [name for name in runs.tree(folder) if name.endswith(".tmp")]
        check(said.code in (-9, 137) and runs.all_gone(processes) and not torn and status["state"] == "running" and
              step <= status["step"] + 1,
              f"killed after step {step}, {ranks} ranks: exit status {said.code}, {len(runs.tree(folder))} entries, "
              f"unfinished {left}, torn {torn}")
    said = tagflow("run", "case.yaml", "--output", folder, "--overwrite")
    check(said.code == 0 and not runs.faults(folder), f"the last one is repeated: {said}")

runs.finish()
