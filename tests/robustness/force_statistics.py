#!/usr/bin/python3
"""Statistics of series in report.json: those of the rows, by numpy, with the frequency that drives the flow; the same on any
number of ranks and however often the run was ended; and scripts/plot.py finds the same. Coefficients by the density at an
inlet.
"""
import os
import re
import subprocess

import numpy

import runs
from runs import check, load, sets, tagflow, write

PERIOD, FROM = 40, 200
write("case.yaml", f"""\
units:   {{dx: 5 mm, dt: 2 ms, density: 1 kg/m3}}
domain:  {{cells: [12, 10, 8]}}
fluid:   {{viscosity: 0.1, velocity: 0.01, length: 8}}
solver:  {{storage: fp64}}
faces:   {{x: periodic, y: wall, z: periodic}}
bodies:  {{ball: {{shape: {{sphere: {{center: [6, 5, 4], radius: 2.2}}}}}}}}
force:   {{acceleration: [1e-5, 0, 0], sine: {{period: {PERIOD}, mean: 1, amplitude: 0.8}}}}
run:     {{steps: 603}}
output:
  log:    {{every: 0}}
  series:
    drag: {{every: 3, of: forces, body: ball, area: 12.6, velocity: 0.02, length: 4, statistics: {{from: {FROM * 2} ms}}}}
    point: {{every: 2, of: probe, point: [1, 5, 4], statistics: {{from: 0}}}}
    flow: {{every: 2, of: mass}}
""")
TOLERANCE = 1e-8  # of numbers that are written with 9 digits


def run(folder, settings=(), ranks=0, restart=None):
    said = tagflow("run", "case.yaml", "--output", folder, *(["--restart", restart] if restart else []), *sets(dict(settings)),
                   ranks=ranks)
    check(said.code == 0 and not said.errors, f"{folder}: {said}")
    return said


def near(a, b, tolerance=TOLERANCE):
    return a is not None and abs(a - b) <= tolerance * max(abs(b), 1e-12)


def table(folder, name):
    lines = runs.series_text(folder, name).decode().splitlines()
    return lines[0].split(","), numpy.array([line.split(",") for line in lines[1:]], dtype=float)


said = run("whole")
found = load("whole", "report.json")["statistics"]
check(sorted(found) == ["drag", "point"] and said.out.count("statistics of ") == 2, f"of two series: {sorted(found)}")
for name, begin, scale in ("drag", FROM, 4 / 0.02), ("point", 0, 8 / 0.01):
    names, values = table("whole", name)
    rows = values[values[:, 0] >= begin]
    of = found[name]
    check((of["first_step"], of["last_step"], of["rows"]) == (rows[0, 0], rows[-1, 0], len(rows)) and list(of["columns"]) == names[2:],
          f"{name}: {of['rows']} rows from step {of['first_step']} to {of['last_step']}")
    for column, s in of["columns"].items():
        value = rows[:, names.index(column)]
        good = [near(s["mean"], value.mean()), near(s["min"], value.min()), near(s["max"], value.max()),
                near(s["rms"], numpy.sqrt((value**2).mean())), near(s["deviation"], value.std())]
        if not all(good):
            check(False, f"{name}.{column}: mean, min, max, rms, deviation: {good} {s}")
    check(True, f"{name}: compared with numpy")
    for column in ("c_x", "force_x") if name == "drag" else ("velocity_x",):
        s = of["columns"][column]
        # 10 periods or more: within 1e-4, with what is left of the flow's beginning
        check(near(s["frequency"], 1 / PERIOD / 2e-3, 1e-3) and near(s["strouhal"], scale / PERIOD, 1e-3) and
              near(s["amplitude"], numpy.sqrt(2) * s["deviation"], 0.03 if name == "drag" else 1),
              f"{name}.{column}: frequency {s['frequency']} 1/s, Strouhal {s['strouhal']}, amplitude {s['amplitude']}")

few = {"run.steps": 90, "output.series.drag.statistics.from": 30}
run("few", few)
run("ranks", few, ranks=2)
check(load("ranks", "report.json")["statistics"] == load("few", "report.json")["statistics"], "on two ranks they are the same")
for end in 44, 45, 46:  # rows of forces have two steps: before, at and after a row
    run(f"cut at {end}", few | {"run.steps": end})
    run(f"cut at {end}", few, restart="auto", ranks=2 if end == 44 else 0)
    check(runs.series_text(f"cut at {end}", "drag") == runs.series_text("few", "drag"), f"cut at step {end}: the same rows of forces")
early = few | {"run.stop": "{of: drag.c_x, change: 1, over: 14}", "output.series.drag.every": 7,
               "output.series.each": "{every: 1, of: forces, body: ball}"}
run("off schedule", early | {"output.series.seldom": "{every: 60, of: forces, body: ball}"})
last = {name: table("off schedule", name)[1][-1] for name in ("each", "seldom")}
check(last["each"][0] % 7 == 0 and last["each"][0] % 60 != 0 and (last["each"] == last["seldom"]).all(),
      f"a row that is written because the run ends early has two steps, too: {last['each'][:3]} {last['seldom'][:3]}")
said = run("cut", {"run.steps": 307})
check(load("cut", "report.json")["statistics"]["drag"]["rows"] == 36, "cut: those so far")
run("cut", {"run.steps": 440}, restart="auto")
run("cut", restart="auto")
check(load("cut", "report.json")["statistics"] == found, "ended twice and gone on, they are the same")
said = run("early", {"run.stop": {"of": "kinetic_energy", "change": 1, "every": 50}})
check("there are no statistics of drag: the run has no row from step 200 on" in said.err and
      load("early", "report.json")["statistics"]["drag"]["rows"] == 0 and
      load("early", "report.json")["statistics"]["drag"]["columns"]["c_x"]["mean"] is None, f"early: {said.err!r}")

# The script, by time where there are units.
PLOT = os.path.join(runs.ROOT, "scripts", "plot.py")
for folder, begin, time in ("whole", FROM, 1), ("whole", f"{FROM * 2} ms", 1), ("lattice", FROM, 2e-3):
    if folder == "lattice":
        run(folder, {"units": "{dx: 5 mm}", "output.series.drag.statistics": {"from": FROM}})
    said = subprocess.run([PLOT, f"{folder}/series/drag.csv", "--begin", str(begin)], capture_output=True, text=True)
    told = {line.split(":")[0].strip(): dict(re.findall(r"(\w+) ([-+.\w]+)", line.split(":", 1)[1]))
            for line in said.stdout.splitlines() if line.startswith("  ")}
    wanted = load(folder, "report.json")["statistics"]["drag"]["columns"]
    bad = [(column, name, told.get(column, {}).get(name), value) for column, all_of in wanted.items() for name, value in all_of.items()
           if value is not None and not near(float(told.get(column, {}).get(name, "nan")), value, 1e-6)
           and abs(value) > 1e-15]
    check(said.returncode == 0 and not said.stderr and told.keys() == wanted.keys() and not bad and os.path.exists("drag.png"),
          f"plot.py --begin {begin}, {folder}: {bad[:3]} {said.stderr[:200]!r}")
    check(near(float(told["c_x"]["frequency"]), time / PERIOD / 2e-3, 1e-3), f"plot.py: frequency {told['c_x']['frequency']}")
said = subprocess.run([PLOT, "whole/series/drag.csv", "--begin", "9 s"], capture_output=True, text=True)
check(said.returncode == 2 and "has no rows from 9 s on" in said.stderr, f"plot.py: {said.stderr!r}")

# Coefficients by the density at a face: that of the flow rate through it.
for ranks in 0, 3:
    run(f"inlet{ranks}", {
        "faces": {"xmin": {"velocity": {"value": [0.02, 0, 0]}}, "xmax": "pressure", "y": "slip", "z": "periodic"}, "force": {},
        "run.steps": 30, "output.series": {
            "plain": {"every": 10, "of": "forces", "body": "ball", "area": 12.6, "velocity": 0.02, "length": 4},
            "drag": {"every": 10, "of": "forces", "body": "ball", "area": 12.6, "velocity": 0.02, "length": 4, "density": "xmin"},
            "out": {"every": 10, "of": "forces", "body": "ball", "area": 12.6, "velocity": 0.02, "density": "xmax"},
            "in": {"every": 10, "of": "flow_rate", "axis": "x", "at": 0}}}, ranks=ranks)
(names, plain), (_, drag), (_, out), (rate, inlet) = (table("inlet0", name) for name in ("plain", "drag", "out", "in"))
density = 1 + 3 * inlet[:, rate.index("mean_pressure")] / 2.5**2
first = names.index("c_x")
check(density.max() > 1.001 and numpy.allclose(drag[:, first:] * density[:, None], plain[:, first:], rtol=1e-12, atol=0) and
      (drag[:, :first] == plain[:, :first]).all() and (out[:, :first + 3] == plain[:, :first + 3]).all(), f"coefficients by densities of {density}")
check(all(runs.series_text("inlet0", name) == runs.series_text("inlet3", name) for name in ("plain", "drag", "out", "in")),
      "the same on three ranks")

runs.finish()
