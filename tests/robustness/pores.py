#!/usr/bin/python3
"""The pores that `tagflow check` and report.json describe, beside a flood by numpy: images in part and whole, filled pores,
shapes with a series of the permeability; the same integers on any number of ranks, and none in a case without pores."""
import re

import numpy

import runs
from runs import check, load, sets, tagflow, write

CASE = """\
domain:  {cells: [20, 12, 14]}
fluid:   {viscosity: 0.16}
solver:  {storage: fp64, arithmetic: fp64}
faces:   {x: periodic, y: wall, z: periodic}
bodies:
  grains: {image: {file: grains.raw, size: [16, 12, 14], solid: [1], at: [2, 0, 0]}}
force:   {acceleration: [1e-6, 0, 0]}
run:     {steps: 20}
output:  none
"""
write("case.yaml", CASE)
random = numpy.random.default_rng(7)
grains = (random.random((14, 12, 16)) < 0.62).astype(numpy.uint8)
grains[:, :4] |= random.random((14, 4, 16)) < 0.5  # nearly closed there
write("grains.raw", grains.tobytes())
LINKS = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if 0 < abs(a) + abs(b) + abs(c) < 3]


def parts(fluid, periodic):
    """[(cells as an array [cell, axis], {axis: goes round it})] of a mask [x, y, z], joined by the 18 links."""
    left, found, size = {tuple(at): None for at in numpy.argwhere(fluid)}, [], fluid.shape
    for first in list(left):
        if left[first] is not None:
            continue
        left[first], queue, rounds = (0, 0, 0), [first], set()
        for at in queue:
            for link in LINKS:
                to = [a + b for a, b in zip(at, link)]
                turns = [t // n for t, n in zip(to, size)]
                if any(turn and not p for turn, p in zip(turns, periodic)):
                    continue
                there = tuple(t % n for t, n in zip(to, size))
                if there not in left:
                    continue
                place = tuple(a + b for a, b in zip(left[at], turns))
                if left[there] is None:
                    left[there] = place
                    queue.append(there)
                rounds |= {axis for axis in range(3) if left[there][axis] != place[axis]}
        found.append((numpy.array(queue), rounds))
    return found


def expected(fluid, periodic):
    """What report.json says of a mask [x, y, z]; periodic: axes of which it is the whole."""
    found = parts(fluid, periodic)
    said = {"cells": fluid.size, "fluid_cells": int(fluid.sum()), "parts": len(found), "largest": max(len(cells) for cells, _ in found)}
    for a, axis in enumerate("xyz"):
        kinds = {"connected": 0, "dead_end": 0, "closed": 0}
        for cells, rounds in found:
            low, high = (cells[:, a] == 0).any(), (cells[:, a] == fluid.shape[a] - 1).any()
            joins = a in rounds if periodic[a] else low and high
            kinds["connected" if joins else "dead_end" if low or high else "closed"] += len(cells)
        said[axis] = kinds | {"through": kinds["connected"] > 0, "planes": fluid.sum(axis=tuple({0, 1, 2} - {a})).tolist()}
    return said, found


def agrees(said, wanted):
    """Has the object of report.json all that is wanted, and a porosity?"""
    return all(said[key] == value for key, value in wanted.items()) and abs(said["porosity"] - wanted["fluid_cells"] / wanted["cells"]) < 1e-8


image = grains.swapaxes(0, 2) == 0
box = numpy.ones((20, 12, 14), dtype=bool)
box[2:18] = image
wanted = {"images": expected(image, [False, False, True])[0], "box": expected(box, [True, False, True])[0]}
for ranks in 0, 2, 3, 4:
    said = tagflow("run", "case.yaml", "--output", f"r{ranks}", ranks=ranks)
    pores = load(f"r{ranks}", "report.json")["pores"]
    check(said.code == 0 and agrees(pores["images"]["grains"], wanted["images"]) and agrees(pores["box"], wanted["box"]),
          f"{ranks or 1} ranks: report.json has the pores of the flood: {pores['images']['grains']}")
    check(pores["images"]["grains"]["from"] == [2, 0, 0] and pores["images"]["grains"]["to"] == [18, 12, 14] and pores["filled_cells"] == 0,
          "and where they are")
isolated = [len(cells) for cells, rounds in expected(box, [True, False, True])[1] if not rounds]
check(pores["box"]["isolated_parts"] == len(isolated) and pores["box"]["isolated_cells"] == sum(isolated) > 0,
      f"isolated: {pores['box']['isolated_parts']} parts of {sum(isolated)} cells")
text = open("r0/report.json").read()
check(re.search(r'"planes": \[\d+(, \d+)+\]\n', text) and '"cells": [20, 12, 14],\n' in text and len(text.splitlines()) < 130,
      "arrays are on one line each")

said = tagflow("check", "--verbose", "case.yaml")
kinds = wanted["images"]["x"]
line = (f"  fluid along x: {kinds['connected']} cells, {100 * kinds['connected'] / image.sum():.4g} %, connect the ends; "
        f"{kinds['dead_end']}, {100 * kinds['dead_end'] / image.sum():.3g} %, reach an end only; "
        f"{kinds['closed']}, {100 * kinds['closed'] / image.sum():.3g} %, reach none\n")
slabs = " ".join(f"{image[s * 16 // 10:(s + 1) * 16 // 10].mean():.3f}" for s in range(10))
check(said.code == 0 and line in said.out and f"  porosity of 10 slabs along x: {slabs}\n" in said.out, f"check says so: {line}{slabs}")

# What is filled is no pore any more, and says how much it was.
said = tagflow("run", "case.yaml", "--output", "filled", "--set", "bodies.grains.image.isolated=fill", ranks=2)
filled = load("filled", "report.json")["pores"]
check(said.code == 0 and filled["filled_cells"] == sum(isolated) and filled["box"]["isolated_cells"] == 0 and
      filled["box"]["fluid_cells"] == box.sum() - sum(isolated), f"filled: {filled['filled_cells']} cells")

# What check says does not depend on the processes that it runs on, and it counts the memory as the log does.
for extra in {}, {"bodies.grains.image.isolated": "fill"}, {"bodies.grains.image.flip": "[x, z]", "run.sparse": "always"}, {"run.sparse": "never"}:
    more = [word for key, value in extra.items() for word in ("--set", f"{key}={value}")]
    for wanted, cut in (1, "auto"), (4, "[2, 2, 1]"), (6, "[1, 3, 2]"):
        texts = [tagflow("check", "--verbose", "case.yaml", *more, "--ranks", wanted, "--set", f"run.ranks={cut}", ranks=ranks) for ranks in (0, 2, 3)]
        check(texts[0].code == 0 and len({text.out for text in texts}) == 1, f"check of {wanted} ranks, {extra}, on 1, 2 and 3: {texts[0]}")
        said = tagflow("run", "case.yaml", "--output", "counted", "--overwrite", *more, "--set", f"run.ranks={cut}", ranks=wanted)
        log, checked = open("counted/log.txt").read(), texts[0].out
        counted = float(re.search(r"([0-9.e+-]+) GB a rank", log)[1])
        amount, unit = re.search(r"^memory: (\S+) (\S+) a rank", checked, re.M).groups()
        need = float(amount) * {"kB": 1e-6, "MB": 1e-3, "GB": 1}[unit]
        images = 12 * 2 * -(-14 // wanted) * 1e-9  # a bit a voxel
        check(said.code == 0 and abs(need - images - counted) < 2e-3 * counted, f"check says {need} GB a rank, the log {counted}")

# A shape, whose permeability is asked for; else nothing is looked for.
BALL = {"bodies": {"ball": {"shape": {"sphere": {"center": [10, 6, 7], "radius": 4}}}}}
K = {"output": {"series": {"k": {"every": 10, "of": "permeability", "axis": "x"}}}}
ball = sum((numpy.arange(n).reshape([-1 if a == b else 1 for b in range(3)]) + 0.5 - c)**2
           for a, (n, c) in enumerate(zip((20, 12, 14), (10, 6, 7)))) >= 16
said = tagflow("run", "case.yaml", "--output", "ball", *sets(BALL | K))
pores = load("ball", "report.json")["pores"]
check(said.code == 0 and agrees(pores["box"], expected(ball, [True, False, True])[0]) and pores["images"] == {}, f"a shape: {said}")
said = tagflow("check", "--verbose", "case.yaml", *sets(BALL | K))
check(f"pores of the box:\n  porosity {ball.mean():.4f} (" in said.out, f"and check: {said}")
said, checked = tagflow("run", "case.yaml", "--output", "plain", *sets(BALL)), tagflow("check", "--verbose", "case.yaml", *sets(BALL))
check(said.code == 0 and "pores" not in load("plain", "report.json") and "porosity" not in checked.out, f"without a series: {said}")

# With run.stop of the permeability its parts are there: k = viscosity times velocity over gradient.
said = tagflow("run", "case.yaml", "--output", "k", *sets(K | {"run": {"steps": 400, "stop": {"of": "permeability", "change": 1e-3, "every": 10}}}))
k = load("k", "report.json")["permeability"]
check(said.code == 0 and len(k["mean_velocity"]) == 3 and
      abs(k["viscosity"] * k["mean_velocity"][0] / k["gradient"] / k["cells2"] - 1) < 1e-7 and abs(k["mean_velocity"][1]) > 0,
      f"the parts of the permeability: {k}")
runs.finish()
