#!/usr/bin/python3
"""Flows that are wrong and finite: velocities that alternate from step to step end a run as a divergence does.

With rates.bulk near 2 the trace of the stress alternates beside a lid at a Reynolds number of a cell of 31. Any ranks, and a
run that was ended on the way, find the same at the same step.
"""
import json

import runs
from runs import check, tagflow, write

write("case.yaml", """\
domain:  {cells: [32, 32, 1]}
fluid:   {viscosity: 0.0025806}
solver:  {collision: rr, rates: {bulk: 1.9}}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.08, 0, 0]}}, z: periodic}
run:     {steps: 3000}
check:   {every: 200}
checkpoint: {every: 500}
output:  {log: {every: 1000}, series: {}, fields: {}, images: {}}
""")


def wrong(folder, *more, **how):
    """The line that says so."""
    said = tagflow("run", "case.yaml", "--output", folder, *more, **how)
    lines = [line for line in said.errors if "the flow is wrong" in line]
    check(said.code == 3 and len(lines) == 1 and "alternates from step to step" in lines[0] and "solver.rates.bulk 1" in lines[0],
          f"{folder}: {said}")
    check(json.load(open(folder + "/status.json"))["state"] == "diverged", f"{folder}: its state is diverged")
    return lines


found = wrong("whole")
check(wrong("ranks", ranks=3) == found, "on three ranks the same")
step = int(found[0].split("at step ")[1].split(",")[0])
said = tagflow("run", "case.yaml", "--output", "parts", "--set", f"run.steps={step - 100}")
check(said.code == 0 and "of the velocity alternates" in said.err, f"ended before: it is warned of: {said}")
check(wrong("parts", "--restart", "auto", ranks=2) == found, "gone on from there the same")
check(tagflow("run", "case.yaml", "--output", "parts", "--restart", "auto").code == 3, "and again")

said = tagflow("run", "case.yaml", "--output", "right", "--set", "solver.rates.bulk=1")
check(said.code == 0 and "alternates" not in said.err, f"with rates.bulk 1: {said}")
runs.finish()
