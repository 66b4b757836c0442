#!/usr/bin/python3
"""Outlets with a given share of the flow (faces.*.pressure.share): the share is reached, by the pressure that a run with this pressure
and without a controller needs for it; a run that was interrupted, on other ranks, or with several steps a sweep ends in the same bits.

A T of channels, 16 and 20 cells wide: the inlet is at xmin, the outlets are at ymin and ymax. By the PI controller deviations fall
exponentially once the flow is developed; tolerances are several times what was found.
"""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__))))
import runs
from runs import check, load, tagflow, write

TEE = write("tee.yaml", """\
domain:  {cells: [80, 64, 1]}
fluid:   {viscosity: 0.05}
solver:  {storage: fp64, collision: trt}
faces:
  xmin: {velocity: {value: [0.04, 0, 0]}}
  xmax: wall
  ymin: {pressure: {share: 0.3}}
  ymax: pressure
  z: periodic
bodies:
  low:  {shape: {box: {from: [0, 0, 0], to: [60, 24, 1]}}}
  high: {shape: {box: {from: [0, 40, 0], to: [60, 64, 1]}}}
run:     {steps: 20000}
check:   {hang: none}
output:
  log: {every: 0}
  series: {low: {every: 1000, of: outlet, face: ymin}, high: {every: 1000, of: outlet, face: ymax}}
""")


def series(folder, name):
    """{column: values}"""
    with open(f"{folder}/series/{name}.csv", newline="") as file:
        rows = list(csv.reader(file))
    return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}


def run(folder, settings=None, ranks=0, more=("--overwrite",), case=TEE):
    said = tagflow("run", case, "--output", folder, *runs.sets(settings or {}), *more, ranks=ranks)
    check(said.code == 0, f"{folder}: {said}")
    return said.code == 0


def reached(folder, wanted, within, name="low", since=-1):
    share = series(folder, name)["share"]
    # the sum of the shares is 1 at any time, so this is the controller's work
    check(abs(share[since] - wanted) < within, f"{folder}, {name}: share {share[since]:.10g}, wanted {wanted}; "
          f"off by {[f'{abs(share[k] - wanted):.0e}' for k in (2, 5, 10, -1)]} after 2000, 5000, 10000 steps and at the end")


# Without a controller both branches get as much. With one: by pressure and by nonreflecting outlets.
run("free", {"faces.ymin": "pressure"})
reached("free", 0.5, 1e-12)
run("pressure")
reached("pressure", 0.3, 1e-3, since=10)
reached("pressure", 0.3, 1e-6)
run("most", {"faces.ymin.pressure.share": 0.8})
reached("most", 0.8, 1e-5)
run("links", {"faces.ymin": "{pressure: {rule: links, share: 0.3}}", "faces.ymax": "{pressure: {rule: links}}"})
reached("links", 0.3, 1e-6)
run("sound", {"faces.ymin": "{nonreflecting: {share: 0.3}}", "faces.ymax": "nonreflecting"})
reached("sound", 0.3, 1e-6)
run("soon", {"faces.ymin.pressure.share_time": 300})
reached("soon", 0.3, 1e-6, since=10)
reached("soon", 0.3, 1e-12)
# A run that ends before: a warning.
run("early", {"run.steps": 1000})
missed = [w["text"] for w in load("early", "report.json")["warnings"] if w["name"] == "share_missed"]
check(len(missed) == 1 and missed[0].startswith("ymin: a share of") and "not 0.3" in missed[0], f"an early end: {missed}")
missed = [w for w in load("soon", "report.json")["warnings"] if w["name"] == "share_missed"]
check(not missed, f"the share is reached: {missed}")
# The pressure that it found, held without a controller.
pressure = series("soon", "low")["mean_pressure"][-1]
run("held", {"faces.ymin": f"{{pressure: {{value: {pressure!r}}}}}", "run.steps": 40000})
share = series("held", "low")["share"][-1]
check(abs(share - 0.3) < 1e-6 and abs(pressure) > 1e-4, f"without a controller the pressure {pressure:.10g} gives the share {share:.10g}")
# The inlet has a pressure, too: the flow follows from the pressures.
run("driven", {"faces.xmin": "{pressure: {density: 1.01}}"})
reached("driven", 0.3, 1e-6)
# Three outlets, one a part of a wall; the share of the third follows.
run("three", {"patches": "{side: {face: xmax, rectangle: {from: [20, 0], to: [44, 1]}, pressure: {share: 0.5}}}", "faces.ymin.pressure.share": 0.2,
              "output.series.side": "{every: 1000, of: outlet, patch: side}"})
for name, wanted in ("low", 0.2), ("side", 0.5), ("high", 0.3):
    reached("three", wanted, 1e-5, name)
# Much friction: the same share by a short time.
run("thick", {"fluid.viscosity": 0.5, "faces.xmin.velocity.value": [0.004, 0, 0], "faces.ymin.pressure.share_time": 100})
reached("thick", 0.3, 1e-6)

# ---- the same bits ----

SHORT = {"run.steps": 437, "output.series.low.every": 10, "output.series.high.every": 10}


def same(folder, other):
    one, two = load(folder, "report.json"), load(other, "report.json")
    good = one["state_hash"] == two["state_hash"] and all(runs.series_text(folder, n) == runs.series_text(other, n) for n in ("low", "high"))
    check(good, f"{folder}: state and series are those of {other}, {one['state_hash']} and {two['state_hash']}")


for name, settings in {"plain": {}, "sound": {"faces.ymin": "{nonreflecting: {share: 0.3}}", "faces.ymax": "nonreflecting"},
                       "refined": {"domain.cells": [80, 64, 4], "bodies": "{}", "refine.near": "{level: 1, box: {from: [32, 24, 0], to: [56, 40, 4]}}"}
                       }.items():
    settings = SHORT | settings
    run(f"{name}_whole", settings)
    for k, more in enumerate(({"run.sweep": 1}, {"run.sweep": 4}) if name == "plain" else ()):
        run(f"{name}_sweep{k}", settings | more)
        same(f"{name}_sweep{k}", f"{name}_whole")
    for cut in [3, 1, 1], [1, 2, 1]:
        folder = f"{name}_{cut[0]}x{cut[1]}"
        run(folder, settings | {"run.ranks": cut}, cut[0] * cut[1])
        same(folder, f"{name}_whole")
    # stopped between two measurements, and at one; continued on other ranks
    for end, ranks in (155, 2), (200, 0):
        folder = f"{name}_{end}"
        run(folder, settings | {"run.steps": end})
        run(folder, settings | {"run.ranks": [ranks or 1, 1, 1]}, ranks, more=("--restart", "auto"))
        same(folder, f"{name}_whole")
run("other", SHORT | {"faces.ymin.pressure.share": 0.31})
check(load("other", "report.json")["state_hash"] != load("plain_whole", "report.json")["state_hash"], "another share gives another state")
said = tagflow("run", TEE, "--output", "plain_155", *runs.sets(SHORT | {"run.steps": 500, "faces.ymin.pressure.share": 0.31}), "--restart", "auto")
check(said.code == 2 and "faces.ymin.pressure.share is 0.31, but" in said.err, f"another share after a restart is refused: {said}")
runs.finish()
