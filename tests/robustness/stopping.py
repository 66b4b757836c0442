#!/usr/bin/python3
"""run.stop on a column of a series: the run ends at the row at which the rows themselves say so, with a last row in every
series, on any number of ranks, and however often it was ended on the way. A criterion that is not met is told.
"""
import numpy

import runs
from runs import check, load, sets, tagflow, write

LAST = 3000
write("case.yaml", f"""\
domain:  {{cells: [12, 10, 8]}}
fluid:   {{viscosity: 0.1, velocity: 0.01, length: 8}}
solver:  {{storage: fp64}}
faces:   {{x: periodic, y: wall, z: periodic}}
bodies:  {{ball: {{shape: {{sphere: {{center: [6, 5, 4], radius: 2.2}}}}}}}}
force:   {{acceleration: [1e-5, 0, 0]}}
run:     {{steps: {LAST}, stop: {{of: drag.c_x, change: 1e-3, over: 98}}}}
output:
  log:    {{every: 0}}
  series:
    drag: {{every: 4, of: forces, body: ball, area: 12.6}}
    flow: {{every: 7, of: [mass, enstrophy]}}
    change: {{every: 9, of: residual}}
    wake: {{every: 50, of: line, from: [8.5, 5, 4], to: [12, 5, 4], points: 3}}
  fields: {{main: {{every: 1000, of: velocity}}}}
""")
NAMES = ("drag", "flow", "change", "wake")


def run(folder, settings=(), ranks=0, restart=None, case="case.yaml"):
    said = tagflow("run", case, "--output", folder, *(["--restart", restart] if restart else []), *sets(dict(settings)), ranks=ranks)
    check(said.code == 0 and not said.errors, f"{folder}: {said}")
    return said


def rows(folder, name):
    lines = runs.series_text(folder, name).decode().splitlines()
    return lines[0].split(","), numpy.array([line.split(",") for line in lines[1:]], dtype=float)


def end_of(folder, column, change, over):
    """The step at which the rows of drag say that the run is steady."""
    names, values = rows(folder, "drag")
    value = values[:, names.index(column)]
    for k in range(len(value)):
        window = value[max(0, k - -(-over // 4)):k + 1]
        if len(window) > over / 4 and window.any() and numpy.ptp(window) / abs(value[k]) < change:
            return int(values[k, 0])
    return None


def same_rows(a, b):
    return [name for name in NAMES if runs.series_text(a, name) != runs.series_text(b, name)]


said = run("whole")
END = end_of("whole", "c_x", 1e-3, 98)
report = load("whole", "report.json")
check(END and 100 < END < LAST and report["step"] == END and load("whole", "status.json")["state"] == "done",
      f"whole: its rows say step {END}, it ended at {report['step']}")
check(report["stop"] == {"of": "drag.c_x", "change": 1e-3, "over": 98, "met": True, "last_change": report["stop"]["last_change"]}
      and report["stop"]["last_change"] < 1e-3, f"whole: report {report.get('stop')}")
check(f"steady at step {END}: in 98 steps a change of" in said.out and "in drag.c_x, below run.stop.change 0.001" in said.out,
      "whole: the log says so")
for name in NAMES:
    values = rows("whole", name)[1]
    check(values[-1, 0] == END and (values[:-1, 0] < END).sum() == len(values) - (3 if name == "wake" else 1),
          f"whole: the last row of {name} is that of the last step, once")
check("fields/main_%010d.vtkhdf" % END in runs.tree("whole"), "whole: a snapshot of the end")
check(tagflow("run", "case.yaml", "--output", "whole", "--restart", "auto").out.count("is done at step") == 1,
      "whole: there is nothing left to do")

run("ranks", ranks=3)
check(not runs.differences(runs.results("whole"), runs.results("ranks")), "on three ranks it is the same")

# Ended on the way, after a look and between two, and gone on.
for cut in (END - 40, END - 3):
    folder = f"cut_{cut}"
    said = run(folder, {"run.steps": cut})
    stop = load(folder, "report.json")["stop"]
    change = stop["last_change"]
    check(stop["met"] is False and (change is None or change >= 1e-3) and
          f"run.stop was not met: the change of drag.c_x in the last 98 steps is {change:.3g}, and run.stop.change is 0.001"
          in said.err, f"{folder}: it is told that it was not met: {said.err!r} {stop}")
    check("run.stop was not met" in open(folder + "/log.txt").read(), f"{folder}: in its log, too")
    run(folder, restart="auto", ranks=cut % 2 * 2)
    check(load(folder, "report.json")["step"] == END and not same_rows(folder, "whole") and
          load(folder, "report.json")["state_hash"] == report["state_hash"],
          f"{folder}: gone on, it ends at the same step with the same rows: {same_rows(folder, 'whole')}")

# A run that has ended and is to be steadier has the rows that it would have had.
STRICTER = {"run.stop.change": 1e-4}
run("strict", STRICTER)
run("whole", STRICTER, restart="auto")
strict = load("strict", "report.json")["step"]
check(strict == end_of("strict", "c_x", 1e-4, 98) and strict > END, f"strict: it ends at step {strict}")
check(not same_rows("whole", "strict") and load("whole", "report.json")["step"] == strict,
      f"whole: made stricter, it is the same: {same_rows('whole', 'strict')}")

said = run("whole", STRICTER | {"run.steps": LAST + 500}, restart="auto")
check(f"run.stop is still met at step {strict}, and the run ends there" in said.err and "a smaller run.stop.change, or remove" in said.err
      and load("whole", "report.json")["step"] == strict and not same_rows("whole", "strict"), f"whole: more steps do not go on: {said}")

# Not known: a force that is 0 all the time; too few looks.
said = run("zero", {"run.stop": {"of": "drag.c_y", "change": 1, "over": 8}, "run.steps": 40, "force.acceleration": [0, 0, 0]})
check(load("zero", "report.json")["stop"]["last_change"] is None and "drag.c_y in the last 8 steps is not known" in said.err,
      f"zero: nothing acts on the body, which is no steady force: {said.err!r}")
said = run("short", {"run.steps": 40})
check(load("short", "report.json")["stop"]["last_change"] is None and "is not known" in said.err, f"short: {said.err!r}")

# The words, over more than two looks, and as they were.
for word, stop in (("energy", {"of": "kinetic_energy", "change": 1e-3, "every": 10, "over": 200}),
                   ("energy_2", {"of": "kinetic_energy", "change": 1e-3, "every": 10}),
                   ("residual", {"of": "residual", "change": 1e-5, "every": 9, "over": 90})):
    run(word, {"run.stop": stop, "output.series.flow": {"every": 1, "of": "kinetic_energy"},
               "output.series.change": {"every": 9, "of": "residual"}})
    every, over = stop["every"], stop.get("over", stop["every"])
    names, values = rows(word, "flow" if stop["of"] == "kinetic_energy" else "change")
    at = values[values[:, 0] % every == 0]
    step, value = at[:, 0], at[:, 2]
    looks = over // every
    if stop["of"] == "residual":
        good = [k for k in range(looks, len(value)) if value[k - looks + 1:k + 1].max() < stop["change"]]
    else:
        good = [k for k in range(looks, len(value)) if numpy.ptp(value[k - looks:k + 1]) / value[k] < stop["change"]]
    check(good and step[good[0]] == load(word, "report.json")["step"] < LAST,
          f"{word}: ended at step {load(word, 'report.json')['step']}, as the rows say {step[good[0]] if good else None}")

runs.finish()
