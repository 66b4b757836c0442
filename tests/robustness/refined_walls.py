#!/usr/bin/python3
"""Walls that move along edges of levels: mass is that of one grid, but for what a warning names.

Random small boxes with a moving wall, a whole face or a part of one, beside walls, planes of symmetry and periodic faces, and
with levels anywhere: at ends of the box, one cell before them, around each other. Each runs with levels and on one grid.
"""
import concurrent.futures
import csv
import os
import random
import re

import runs
from runs import check

CASES = 300 if os.environ.get("TAGFLOW_LONG") else 40


def flow(seed):
    """Settings of a random case. Numbers of cells are of all kinds: whole bricks, one cell more, less than a brick."""
    chance = random.Random(seed)
    cells = [chance.choice([1, 2, 3, 5, 8, 9, 12, 13, 14, 17, 18]) for _ in range(3)]
    if max(cells) < 9:
        cells[chance.randrange(3)] = chance.choice([16, 17, 18])
    lid, *others = chance.sample(range(3), 3)
    velocity = [chance.choice([0, 0.03, -0.02, 0.05]) for _ in range(3)]
    velocity[lid] = 0
    velocity[others[0]] = velocity[others[0]] or 0.04
    side, other = chance.sample(["min", "max"], 2)
    faces, patches = {"xyz"[lid] + other: chance.choice(["wall", "slip"])}, {}
    if chance.random() < 0.5:
        faces["xyz"[lid] + side] = {"wall": {"velocity": velocity}}
    else:
        long = [cells[a] for a in range(3) if a != lid]
        faces["xyz"[lid] + side] = "wall"
        patches["belt"] = {"face": "xyz"[lid] + side, "wall": {"velocity": velocity}, "rectangle": {
            "from": [chance.choice([0, 0, 4]) if n > 8 else 0 for n in long], "to": [chance.choice([n, n, n - 2]) if n > 8 else n for n in long]}}
    for a in others:
        low, high = chance.choice([("periodic", "periodic"), ("wall", "wall"), ("slip", "slip"), ("wall", "slip")])
        faces |= {"xyz"[a] + "min": low, "xyz"[a] + "max": high}
    regions = {}
    for k in range(chance.randrange(1, 4)):
        low = [first if first < n else 0 for first, n in zip(chance.choices([0, 4, 8], k=3), cells)]
        high = [min(n, first + chance.choice([4, 8, 99])) for first, n in zip(low, cells)]
        regions[f"region_{k}"] = {"level": chance.choice([1, 1, 1, 2]), "box": {"from": low, "to": high}}
    return {"domain.cells": cells, "fluid": {"viscosity": 0.02, "velocity": 0.03}, "faces": faces, "refine": regions, "run.steps": 2,
            "solver": {"collision": "bgk", "storage": "fp64", "arithmetic": "fp64"}, "check.hang": "none", "checkpoint.every": 0,
            "output": {"log": {"every": 0}, "series": {"flow": {"every": 1, "of": ["mass"]}}}} | ({"patches": patches} if patches else {})


runs.write("nothing.yaml", "domain: {cells: [8, 8, 8]}\nfluid: {viscosity: 0.1}\nrun: {steps: 1}\n")
flows = [flow(seed) for seed in range(CASES)]


def with_levels(seed):
    return runs.tagflow("run", "nothing.yaml", "--output", f"levels_{seed}", *runs.sets(flows[seed]))


with concurrent.futures.ThreadPoolExecutor(3) as pool:
    levels = list(pool.map(with_levels, range(CASES)))
one = runs.together([(["nothing.yaml", "--output", f"one_{seed}", *runs.sets({key: value for key, value in flows[seed].items() if key != "refine"})],
                      0, None, None) for seed in range(CASES)])


def gained(name):
    with open(name + "/series/flow.csv") as file:
        mass = [float(row["mass"]) for row in csv.DictReader(file)]
    return mass[1] - mass[0]


seen = {"refused": 0, "kept": 0, "warned": 0}
for seed in range(CASES):
    if levels[seed].code == 2 and ("covers the whole box" in levels[seed].err or "must end at whole cells of level" in levels[seed].err):
        seen["refused"] += 1
        continue
    if levels[seed].code or one[seed][0]:
        check(False, f"case {seed}: {levels[seed]}; one grid: exit status {one[seed][0]}: {flows[seed]}")
        continue
    told = re.findall(r"each step (adds|takes) ([0-9.e-]+) of a cell's mass", levels[seed].err)
    warned = sum(float(mass) * (1 if what == "adds" else -1) for what, mass in told)
    off = gained(f"levels_{seed}") - gained(f"one_{seed}")
    seen["warned" if told else "kept"] += 1
    if abs(off - warned) > 1e-10 + 0.006 * abs(warned):
        check(False, f"case {seed}: levels add {off:.6g} of a cell's mass, the warning says {warned:.6g}: {flows[seed]}")
check(min(seen.values()) >= 3, f"of {CASES} cases with moving walls: {seen}")
runs.finish()
