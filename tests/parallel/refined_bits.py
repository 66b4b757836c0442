#!/usr/bin/python3
"""Refined grids at random: regions, bodies, faces, operators, precisions, scalars. The same state and the same series on any number of
ranks, however the levels are cut, with memory for fluid alone or for all cells, for other instruction sets; mass stays where nothing
can leave. A flow has two of the four numbers of ranks, in turn; all of them with TAGFLOW_LONG in the environment. Runs of as many ranks
share starts of MPI.

    refined_bits.py [FIRST [COUNT]]
"""
import json
import os
import random
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, finish, load, write

LONG = "TAGFLOW_LONG" in os.environ
CUTS = {1: [(1, 1, 1)], 2: [(2, 1, 1), (1, 2, 1), (1, 1, 2)], 3: [(3, 1, 1), (1, 3, 1)], 4: [(2, 2, 1), (1, 2, 2), (4, 1, 1)],
        6: [(3, 2, 1), (1, 2, 3), (2, 1, 3)]}
ROUNDING = {"fp64": 1e-13, "fp32": 3e-5, "fp16": 1e-2}  # of the mass, per run


def faces(r):
    """Faces by axis, and whether the box is closed."""
    out, closed = {}, True
    for axis in "xyz":
        kind = r.choice(["periodic", "wall", "moving", "slip"] + (["open"] if axis == "x" else []))
        if kind == "open":
            closed = False
            out |= {"xmin": {"velocity": {"value": [0.04, 0, 0]}}, "xmax": {"pressure": {}}}
        elif kind == "moving":
            along = [0.05 if axis != "x" else 0, 0, 0.03 if axis == "x" else 0]
            out |= {axis + "min": "wall", axis + "max": {"wall": {"velocity": along}}}
        else:
            out[axis] = kind
    return out, closed


def flow(number):
    """The case of this number; whether its box is closed."""
    r = random.Random(number)
    cells = [r.choice([32, 36, 41, 48]), r.choice([24, 28, 30]), r.choice([24, 26, 29])]
    around, closed = faces(r)
    regions = {}
    for k in range(r.randrange(1, 4)):
        low = [r.uniform(0.2, 0.6) * n for n in cells]
        high = [min(n - (6 if a == 0 else 0), l + r.uniform(3, 12)) for a, (n, l) in enumerate(zip(cells, low))]
        if k == 0 and closed:  # to a face
            low[r.randrange(3)] = 0
        regions[f"region{k}"] = {"level": r.choice([1, 1, 2]), "box": {"from": low, "to": high}}
    case = {"domain": {"cells": cells}, "fluid": {"viscosity": r.choice([0.01, 0.02])},
            "solver": {"collision": r.choice(["bgk", "trt", "rr", "cumulant"]), "storage": r.choice(["fp16", "fp32", "fp64", "fp64"])},
            "initial": {"flow": "uniform", "velocity": [0.02, 0.01, 0]}, "faces": around, "run": {"steps": r.choice([5, 8])},
            "check": {"every": 4, "hang": "none"}}
    if closed and r.random() < 0.5:
        case["force"] = {"acceleration": [1e-6, 2e-6, 0]}
    if r.random() < 0.3:
        case["solver"]["subgrid"] = {"smagorinsky": {"constant": 0.15}}
    middle = [0.5 * n for n in cells]
    series = {"flow": {"every": 3, "of": ["mass", "kinetic_energy", "enstrophy", "max_velocity"]},
              "line": {"every": 3, "of": "line", "from": [1.5, 0.3, 0.7], "to": [n - 1.3 for n in cells], "points": 60},
              "point": {"every": 1, "of": "probe", "point": middle},
              "plane": {"every": 2, "of": "flow_rate", "axis": "x", "at": cells[0] // 2}}
    if number % 2 == 0:
        case["bodies"] = {"ball": {"shape": {"sphere": {"center": [x + r.uniform(-1, 1) for x in middle], "radius": r.uniform(1.5, 2.5)}},
                                   "wall": r.choice(["halfway", "interpolated"])}}
        regions["ball"] = {"level": r.choice([1, 2]), "around": "ball", "distance": 5}
        series["force"] = {"every": 1, "of": "forces", "body": "ball"}
    case["refine"] = regions
    if number % 4 == 1:
        case.setdefault("force", {})["rotation"] = [0.0005, -0.001, 0.002]
    if number % 5 == 2:
        case["regions"] = {"plug": {"box": {"from": [2, 0, 0], "to": [n - 2 for n in cells]}, "resistance": {"permeability": 2, "loss": 3}}}
    if number % 3:
        add_scalars(number, case)
    elif number % 2:
        case["fluid"]["law"] = {"carreau": {"infinite": 0.003, "time": 300, "index": 0.4}}
    case["output"] = {"log": {"every": 0}, "series": series}
    return case, closed


def conducts(number):
    return number % 4 == 0 and number % 3 > 0


HEIGHTS = os.path.abspath(write("heights.csv", "0 0.3\n1.7 0.9\n4 0.2\n9 0.6\n"))


def by_height(face):
    """A value that varies over the face."""
    return {"value": {"height": {"file": HEIGHTS, "axis": "y" if face[0] == "x" else "x", "length": 4}}}


def add_scalars(number, case):
    """Heat with buoyancy, and species of which one has the limiter; conditions at walls, at an inlet and at the ball."""
    r = random.Random(1000 + number)
    cells = case["domain"]["cells"]
    case["scalars"] = {
        "heat": {"diffusivity": 0.02, "expansion": 0.01, "source": 1e-4,
                 "initial": {"value": 1, "wave": {"amplitude": 0.3, "waves": [1, 2, 1]}}},
        "ink": {"diffusivity": 1e-5, "limiter": "on", "decay": 1e-3,
                "initial": {"shapes": {"a": {"sphere": {"center": [0.5 * n for n in cells], "radius": 8}, "value": 1}}}},
        "made": {"diffusivity": 0.01, "made_from": "ink", "rate": 1e-2}}
    case["force"] = case.get("force", {}) | {"gravity": [0, 0, -1e-4]}
    meets = {"heat": r.choice([{"value": 2}, {"flux": 1e-3}, {"transfer": {"coefficient": 0.1, "outside": 2}}]),
             "ink": r.choice([{"value": 0.5}, "adiabatic"])}
    for name, face in case["faces"].items():
        if face == "wall":
            case["faces"][name] = {"wall": {"scalars": meets | ({"made": by_height(name)} if number % 2 else {})}}
        elif "velocity" in face:
            face["velocity"]["scalars"] = {one: by_height(name) if one == "heat" else {"value": 0.5} for one in case["scalars"]}
    if "bodies" in case:
        inside = {"conduct": {"conductivity": 0.1, "capacity": 2}}
        case["bodies"]["ball"]["scalars"] = {"heat": inside if conducts(number) else {"value": 2}, "ink": "adiabatic"}


def ways(number):
    """Other ways to run this flow: {folder: (ranks, settings)}."""
    r = random.Random(number)
    out = {}
    for ranks, cuts in CUTS.items():
        settings = {"run.ranks": list(r.choice(cuts)), "run.sparse": r.choice(["auto" if conducts(number) else "always", "never", "auto"]),
                    "run.isa": r.choice(["auto", "generic"]), "run.threads": r.choice([1, 2]) if ranks < 3 else 1}
        if LONG or ranks == 1 or ranks in ((2, 6), (3, 4))[number % 2]:
            out[f"{number}_{ranks}_{'x'.join(map(str, settings['run.ranks']))}"] = ranks, settings
    return out


def look(number, case, closed, first, others):
    """Compares what the runs of a flow have left, the first and the others: {folder: settings}."""
    report = load(first, "report.json")
    levels = report["levels"]
    check(report["updates_per_step"] == sum(level["cells"] << l for l, level in enumerate(levels)) and
          sum(level["cells"] / 8**l for l, level in enumerate(levels)) == numpy.prod(case["domain"]["cells"]) and
          report["fluid_cells"] == sum(level["fluid_cells"] for level in levels), f"{number}: {len(levels)} levels, {levels}")
    table = numpy.genfromtxt(f"{first}/series/flow.csv", delimiter=",", names=True)
    volume = sum(level["fluid_cells"] / 8**l for l, level in enumerate(levels))
    drift = numpy.abs(table["mass"] / table["mass"][0] - 1).max()
    check(abs(table["mass"][0] / volume - 1) < 2e-3 and (not closed or drift < ROUNDING[case["solver"]["storage"]]),
          f"{number}: mass {table['mass'][0]} of {volume} cells changes by {drift:.1e}")
    for folder, settings in others.items():
        wrong = [name for name in case["output"]["series"] if runs.series_text(folder, name) != runs.series_text(first, name)]
        hashes = load(folder, "report.json")["hashes"]
        wrong += [name for name in hashes if hashes[name] != report["hashes"][name]]
        check(not wrong, f"{folder} {settings}: {', '.join(wrong) or 'the same'}")
    return len(levels)


start, count = (int(a) for a in (sys.argv[1:] + ["1", "6"][len(sys.argv) - 1:]))
flows = {number: flow(number) for number in range(start, start + count)}
jobs = {}  # by folder
for number, (case, _) in flows.items():
    file = write(f"{number}.yaml", json.dumps(case))  # JSON is YAML
    for folder, (ranks, settings) in ({f"{number}_1": (0, {})} | ways(number)).items():
        jobs[folder] = [file, "--output", folder, *runs.sets(settings)], ranks, None, None
bad = [folder for folder, (code, said) in zip(jobs, runs.together(list(jobs.values()))) if not check(code == 0, f"{folder}: {said}")]
if bad:
    finish()
depths = [look(number, *flows[number], f"{number}_1", {folder: settings for folder, (_, settings) in ways(number).items()})
          for number in flows]
check(max(depths) >= 3 and min(depths) >= 2, f"levels: {depths}")
finish()
