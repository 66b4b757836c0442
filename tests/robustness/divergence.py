#!/usr/bin/python3
"""A flow that diverges: exit status 3, a message that says where, the same on 1 to 4 ranks, the state in
status.json and report.json, and nothing written from a bad state, however far apart the looks at it are."""
import os
import re

import runs
from runs import CASE, check, load, tagflow, write

write("case.yaml", CASE)
LOUD = {"faces.ymax.wall.velocity": [0.5, 0, 0.2], "fluid.viscosity": 1e-6, "run.steps": 2000}
CASES = {
    # name: settings, words of the message, the step that must not be passed
    "limit": ({"check.max_velocity": 0.002}, r"\|u\| = \S+ above check\.max_velocity 0\.002", 5),
    "interval": (LOUD | {"check.every": 1000, "output.log.every": 1000, "output.series": {}}, None, 1000),
    "not finite": (LOUD | {"check.every": 2000, "output": {"log": {"every": 0}}}, "not a finite number", 2000),
    "series": (LOUD | {"check.every": 1000, "output.log.every": 1000, "output.series.flow.every": 1,
                       "output.fields": {}, "output.images": {}}, None, 1000),
}

for name, (settings, words, limit) in CASES.items():
    messages, files = {}, {}
    for ranks in [0, 2, 3, 4] if name == "interval" else [0, 3]:
        folder = f"{name}_{ranks}"
        said = tagflow("run", "case.yaml", "--output", folder, *runs.sets(settings), ranks=ranks)
        messages[ranks] = said.errors
        if not check(said.code == 3 and len(said.errors) == 1, f"{name}, {ranks} ranks: {said}"):
            continue
        found = re.search(r"diverged.* at step (\d+) in cell \[(\d+), (\d+), (\d+)\], after step (\d+) ", said.err)
        if not check(found and re.search(words or "diverged", said.err), "it says what and where, and since when"):
            continue
        step, *cell, good = map(int, found.groups())
        check(good < step <= limit and all(c < n for c, n in zip(cell, [16, 12, 4])),
              f"after step {good}, by step {step}, in cell {cell}")
        status, report = load(folder, "status.json"), load(folder, "report.json")
        check([status["state"], status["step"], report["state"], report["step"], report["state_hash"]] ==
              ["diverged", step, "diverged", step, None], "the state is in status.json and report.json")
        log = open(os.path.join(folder, "log.txt")).read().splitlines()
        check("diverged" in log[-1], "and in the log")
        torn = runs.faults(folder)  # values that are not finite, too
        late = [file for file in runs.tree(folder) if re.search(r"_(\d{10})\.", file) and
                int(re.search(r"_(\d{10})\.", file)[1]) > good]
        files[ranks] = [file for file in runs.tree(folder) if "_" in file]
        check(not torn and not late, f"{len(files[ranks])} sound files, none after step {good} {torn + late}")
        if "flow" in settings.get("output.series", {"flow": 0}) and "output" not in settings:
            rows = runs.series_text(folder).decode().splitlines()
            check(int(rows[-1].split(",")[0]) <= good, f"{len(rows) - 1} rows, none after step {good}")
    check(all(message == messages[0] for message in messages.values()), f"{name}: the same message on all ranks")
    check(all(file == files.get(0) for file in files.values()), f"{name}: the same files on all ranks")

said = tagflow("run", "case.yaml", "--output", "off", *runs.sets({"check.every": 0, "check.max_velocity": 0.002}))
check(said.code == 0 and load("off", "status.json")["state"] == "done", f"with check.every=0 nobody looks: {said}")

said = tagflow("run", "case.yaml", "--output", "units", *runs.sets({
    "units": {"dx": "1 mm", "dt": "1 ms"}, "check.max_velocity": "0.002 m/s"}))
found = re.search(r"above check.max_velocity 0.002 m/s at step \d+ in cell \[(\d+), (\d+), (\d+)\] \((.*) m\)", said.err)
check(said.code == 3 and found and
      [float(x) for x in found[4].split(",")] == [round(1e-3 * (int(found[i]) + 0.5), 9) for i in (1, 2, 3)],
      f"with units, in units: {said}")

runs.finish()
