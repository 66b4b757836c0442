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

# A body that is cut by a wall and moves along its normal pumps fluid into a closed box.
write("pump.yaml", """\
domain:  {cells: [24, 24, 1]}
fluid:   {viscosity: 0.05}
faces:   {x: wall, y: wall, z: periodic}
bodies:  {piston: {shape: {box: {from: [8, 0, 0], to: [16, 8, 1]}}, velocity: [0, 0.001, 0]}}
run:     {steps: 800}
check:   {every: 10}
checkpoint: {every: 100}
output:  {log: {every: 500}, series: {}, fields: {}, images: {}}
""")


def pumped(folder, *more, **how):
    """The warnings of mass, and how it ended."""
    said = tagflow("run", "pump.yaml", "--output", folder, *more, **how)
    report = json.load(open(folder + "/report.json"))
    return [w["text"] for w in report["warnings"] if w["name"] == "mass_changes"], said, report


for wall in "halfway", "interpolated":
    warnings, said, report = pumped(wall, "--set", f"bodies.piston.wall={wall}")
    log = open(wall + "/log.txt").read()
    check(len(warnings) == 1 and "warning: " + warnings[0] in said.err and "warning: " + warnings[0] in log,
          f"{wall}: a warning on the terminal, in the log and in report.json: {warnings}")
    check(said.code == 3 and len(said.errors) == 1 and "the mass of the box changed by 1 %" in said.errors[0]
          and report["state"] == "diverged" and report["reason"] in said.errors[0], f"{wall}: ends at 1 %: {said}")
step = report["step"]
warnings, said, report = pumped("half", "--set", f"run.steps={step // 2}", ranks=2)
check(said.code == 0 and len(warnings) == 1, f"ended at half of it: {said}")
warnings, said, report = pumped("half", "--restart", "auto")
check(said.code == 3 and report["step"] == step, f"gone on from there it ends at the same step {step}: {report['step']}, {said}")
warnings, said, report = pumped("still", "--set", "bodies.piston.velocity=[0.001, 0, 0]")
check(said.code == 0 and not warnings, f"along the wall it does not pump: {said}")
runs.finish()
