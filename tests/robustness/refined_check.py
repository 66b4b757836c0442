#!/usr/bin/python3
"""`tagflow check` of refined grids: its numbers are those of a run, and it refuses what a run refuses, in the same words."""
import glob
import os
import re
import shutil

import runs
from runs import check, load, tagflow, write

CASE = """\
domain:  {cells: [48, 32, 32]}
fluid:   {viscosity: 0.02}
faces:   {xmin: {velocity: {value: [0.03, 0, 0]}}, xmax: pressure, y: wall, z: periodic}
initial: {flow: inlet}
run:     {steps: 2}
bodies:  {ball: {shape: {sphere: {center: [24, 16, 16], radius: 2}}}}
refine:
  ball: {level: 2, around: ball, distance: 2}
output:
  log: {every: 0}
  fields:
    main: {every: 2, of: [velocity, tags]}
    one:  {every: 2, of: [velocity, density], levels: 1, region: {from: [6, 5, 3], to: [30, 20, 20]}}
    thin: {every: 2, of: [velocity, density], levels: 1, stride: 2}
  averages:
    mean: {every: 1, of: [velocity, stress]}
"""
write("case.yaml", CASE)
write("run.yaml", CASE)
SLOWER = int(os.environ.get("TAGFLOW_SLOWER", "1"))
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found.group(1)) * (UNITS[found.group(2)] if found.lastindex == 2 else 1) if found else float("nan")


def near(a, b, part):
    return abs(a - b) <= part * abs(b)


def table(text):
    """Of the table of levels: {column: its words}, without units and signs of percent."""
    lines = [line.replace(" %", "").replace(" MB", "").replace(" kB", "") for line in text.splitlines()]
    at = next(n for n, line in enumerate(lines) if line.startswith("level "))
    names, rows = re.split("  +", lines[at].strip()), []
    while re.match(r" *\d+ ", lines[at + 1]):
        at += 1
        rows.append(lines[at].split())
    return {name: [row[n] for row in rows] for n, name in enumerate(names)}


def check_against_run(ranks, case="run"):
    """What check says for `ranks` ranks, and what a run on these says of itself."""
    folder, file = f"{case}_{ranks}", f"{case}_{ranks}.json"
    said = tagflow("check", "--verbose", case + ".yaml", "--ranks", str(ranks), "--json", file)
    done = tagflow("run", case + ".yaml", "--output", folder, ranks=ranks if ranks > 1 else 0)
    if not check(said.code == 0 == done.code, f"{ranks} ranks: {said} {done}"):
        return
    report, levels = load(folder, "report.json"), load(".", file)["levels"]
    for key in ("cells", "fluid_cells", "updates", "tau", "cell_reynolds", "imbalance"):
        check(all(near(a[key], b[key], 1e-8) for a, b in zip(levels, report["levels"])) and len(levels) == 3 == len(report["levels"]),
              f"{ranks} ranks: {key} of the levels is that of the run: {[a[key] for a in levels]}, {[b[key] for b in report['levels']]}")
    parts = report["phases"]
    check(0 < parts["seam"] and sum(parts[name] for name in ("interior", "shell", "pack", "unpack", "seam")) <= parts["step"],
          f"{ranks} ranks: the seam is a phase of the step: {parts}")
    whole = load(".", file)
    check(whole["updates_per_step"] == report["updates_per_step"] and whole["fluid_cells"] == report["fluid_cells"] and
          near(whole["imbalance"], report["imbalance"], 1e-8), f"{ranks} ranks: updates, fluid cells and imbalance in all")
    log = open(f"{folder}/log.txt").read()
    # Messages of halos and between levels, of all ranks.
    sent = number(r"messages: ([\d.e+-]+) MB a step", log) if ranks > 1 else 0
    check(near(whole["mean"]["bytes"] * ranks, 1e6 * sent, 1e-3) and ("those between levels included" in said.out) == (ranks > 1),
          f"{ranks} ranks: messages of {whole['mean']['bytes'] * ranks} bytes are those of the run, {sent} MB")
    # The run's memory does not count averages; sums are 9 numbers of 8 bytes in each cell.
    gigabytes = number(r"([\d.e+-]+) GB a rank", log) * 1e9
    memory = number(r"memory: ([\d.]+) (\w+) a rank", said.out)
    averages = number(r"averages and residuals: ([\d.]+) (\w+) a rank", said.out)
    check(near(memory - averages, gigabytes, 0.05), f"{ranks} ranks: memory {memory} without averages {averages} is that of the run, {gigabytes}")
    # Sizes of files; HDF5 adds its own bytes.
    size = os.path.getsize(glob.glob(f"{folder}/checkpoints/*.h5")[0])
    check(near(number(r"checkpoint: ([\d.]+) (\w+) a file", said.out), size, 0.02), f"{ranks} ranks: a checkpoint of {size} bytes")
    for name, pattern in ("main", r"fields.main: 2 files of ([\d.]+) (\w+)"), ("one", r"fields.one: 2 files of ([\d.]+) (\w+)"), \
                         ("thin", r"fields.thin: 2 files of ([\d.]+) (\w+)"), \
                         ("mean", r"averages.mean: 3 samples, a file of ([\d.]+) (\w+)"):
        size = os.path.getsize(f"{folder}/fields/{name}_0000000002.vtkhdf")
        check(near(number(pattern, said.out), size, 0.05), f"{ranks} ranks: {name} has {size} bytes: {re.findall(pattern, said.out)}")
    columns = table(said.out)
    check(columns["cells"] == [str(level["cells"]) for level in report["levels"]] and
          columns["fluid"] == [str(level["fluid_cells"]) for level in report["levels"]] and
          [float(t) for t in columns["tau"]] == [0.56, 0.62, 0.74] and [float(u) for u in columns["u/nu"]] == [1.5, 0.75, 0.375] and
          abs(sum(map(float, columns["volume"])) - 100) < 0.3 and abs(sum(map(float, columns["share"])) - 100) < 0.3 and
          columns["links"][0] == "-" and all(int(n) > 1000 for n in columns["links"][1:]) and ("blocks" in columns) == (ranks > 1),
          f"{ranks} ranks: the table has these numbers: {columns}")
    cells, updates = sum(level["cells"] for level in report["levels"]), report["updates_per_step"]
    one = 48 * 32 * 32 * 64
    check(f"one grid with the cells of level 2: {one:.4g} cells, {one / cells:.3g} times as many; {4 * one:.4g} updates, "
          f"{4 * one / updates:.3g} times as many" in said.out, f"{ranks} ranks: one grid beside it")
    scalars = [level.get("scalars") for level in levels]
    check(scalars == [level.get("scalars") for level in report["levels"]], f"{ranks} ranks: scalars of the levels are those of the run: {scalars}")
    if case == "heat":
        check([s["heat"]["diffusivity"] for s in scalars] == [0.04, 0.08, 0.16] and [float(t) for t in columns["tau heat"]] == [0.66, 0.82, 1.14] and
              all(near(float(u), s["heat"]["cell_peclet"], 0.01) for u, s in zip(columns["u/D heat"], scalars)) and
              near(scalars[0]["heat"]["cell_peclet"], 4 * scalars[2]["heat"]["cell_peclet"], 1e-8), f"{ranks} ranks: scalars in the table: {columns}")
    grown = [level["grown"] for level in levels]
    check(grown[2] == 0 < grown[1] and f"level 1: {grown[1]} of its {levels[1]['bricks']} bricks of 8^3 cells were added" in said.out,
          f"{ranks} ranks: level 1 was grown, {grown}")
    seconds = number(r"time: ([\d.]+) us", said.out) * 1e-6 if " us if" in said.out else number(r"time: ([\d.]+) ms", said.out) * 1e-3
    fluid = sum(level["fluid_cells"] * 2 ** l for l, level in enumerate(report["levels"]))
    times = 1.6 if scalars[0] else 1  # a scalar without the limiter
    check(near(seconds, 2 * times * fluid / (150e6 * ranks), 0.01), f"{ranks} ranks: time {seconds} of {fluid} updates")


def triangles_of_box(lo, hi):
    """The triangles of a box, seen from outside."""
    corners = [[(lo, hi)[n >> a & 1][a] for a in range(3)] for n in range(8)]
    for a, b, c, d in (0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6):
        yield [corners[a], corners[b], corners[c]]
        yield [corners[a], corners[c], corners[d]]


for count in 1, 3:
    check_against_run(count)
write("heat.yaml", CASE.replace("[0.03, 0, 0]", "[0.03, 0, 0], scalars: {heat: {value: 2}}") +
      "scalars: {heat: {kind: heat, diffusivity: 0.04, initial: 1}}\n")
for count in 1, 3:
    check_against_run(count, "heat")

# The processes of check share the tags: nothing else changes, but for lists of edges, which cuts enlarge.
alone, shared = (tagflow("check", "--verbose", "case.yaml", "--ranks", "3", ranks=ranks) for ranks in (0, 3))
sends = [re.findall("halo: .*", said.out) for said in (alone, shared)]
check(len(sends[0]) == 1 and sends[0] == sends[1], f"check on three processes, messages: {sends}")
numbers = [{name: words for name, words in table(said.out).items() if name != "memory"} for said in (alone, shared)]
check(alone.code == 0 == shared.code and numbers[0] == numbers[1], f"check on three processes: {numbers}")

# A machine file: the model has the time of all levels.
write("machine.yaml", "updates: 100 MLUPS\nlaunch: 1 ns\n")
said = tagflow("check", "--verbose", "case.yaml", "--machine", "machine.yaml", "--json", "machine.json")
file = load(".", "machine.json")
fluid = sum(level["fluid_cells"] * 2 ** l for l, level in enumerate(file["levels"]))
check(said.code == 0 and near(file["model"]["step"], fluid / 100e6, 0.01), f"a step by the model takes {file['model']['step']}, for {fluid} updates")

# With ranks messages between levels take time: of each of four steps of level 1 in two of level 0, two or three waits.
write("slow.yaml", "updates: 100 MLUPS\nlaunch: 1 ns\nnode_latency: 1 s\nmessage: 1 ns\nranks_per_node: 2\n")
said = tagflow("check", "--verbose", "case.yaml", "--ranks", "2", "--machine", "slow.yaml", "--json", "slow.json")
model = load(".", "slow.json")["model"] if said.code == 0 else {}
check(near(model.get("seam", 0), 3 * round(model.get("seam", 0) / 3), 1e-3) and 6 <= model["seam"] <= 9.01 and model["step"] > model["seam"] and
      re.search(r"messages between levels [\d.]+ s;", said.out), f"the model counts messages between levels: {model} {said.err}")

# What is refused: the same line from both, and nothing is run.
REFUSED = [
    ({"refine.ball.distance": 17}, 1, "within 4 cells of an opening"),
    ({"refine.ball": "{level: 1, box: {from: [24, 8, 8], to: [36, 24, 24]}}"}, 1, "bodies.ball comes within"),
    ({"refine.ball": "{level: 1, box: {from: [12, 12, 12], to: [16, 16, 16]}}"}, 3, "too few to cut them among 3 ranks"),
    ({"refine.ball": "{level: 1, box: {from: [22.1, 15, 15], to: [22.2, 17, 17]}}"}, 1, "holds the centre of no cell"),
    ({"refine.ball.level": 9}, 1, "refine.ball.level"),
    ({"bodies.dot": "{shape: {sphere: {center: [40, 16, 16], radius: 0.5}}}"}, 1, "bodies.dot holds the centre of no cell of any level"),
]
for settings, ranks, why in REFUSED:
    said = tagflow("check", "--verbose", "case.yaml", "--ranks", str(ranks), *runs.sets(settings))
    done = tagflow("run", "case.yaml", "--output", "refused", *runs.sets(settings), ranks=ranks if ranks > 1 else 0)
    last = [text.err.strip().splitlines()[-1:] if ranks == 1 else [line for line in text.err.splitlines() if why in line] for text in (said, done)]
    check(said.code == 2 == done.code and last[0] == last[1] and why in "".join(last[0]) and not os.path.exists("refused"),
          f"{settings}: {said} {done}")

# A small body near the edge of its level is warned of, with operators that are not on pairs: by 17 over its size in cells of the level, at most 3
# cells of the level before (drag, docs/lab/refinement.md).
def close(settings, ranks=1):
    """Warnings of check about bodies close to an edge; a run's are the same."""
    words = runs.sets({"solver.collision": "rr", "output": "none"} | settings)
    said = tagflow("check", "--verbose", "case.yaml", "--ranks", str(ranks), *words)
    found = [line for line in said.err.splitlines() if "close to the edge of level" in line]
    if said.code == 0 and ranks == 1:
        done = tagflow("run", "case.yaml", "--output", "close", *words, ranks=2)
        check(done.code == 0 and [line for line in done.err.splitlines() if "close to the edge of level" in line] == found, f"{settings}: a run says {done}, not {found}")
        shutil.rmtree("close", ignore_errors=True)
    return found if said.code == 0 else said


def in_box(half, level=1, lo=(16, 8, 8), hi=(32, 24, 24), collision="rr"):
    return {"bodies.ball.shape.sphere": {"center": [24, 16, 16], "radius": half}, "solver.collision": collision,
            "refine": {"near": {"level": level, "box": {"from": list(lo), "to": list(hi)}}}}


SMALL = {"lo": (20, 12, 12), "hi": (28, 20, 20)}
for settings, words in [(in_box(3, **SMALL), "bodies.ball is close to the edge of level 1, first at (23.25, 15.25, 13.25): its drag may be 1 to 2 % too high (leave 2 cells of level 0 between it and that edge)"),
                        (in_box(2, **SMALL), "bodies.ball is close to the edge of level 1, first at (23.75, 15.25, 14.25)"), (in_box(2), None), (in_box(7), None), (in_box(4.3), None),
                        (in_box(3, collision="trt", **SMALL), None), (in_box(3, collision="cumulant", **SMALL), "close to the edge of level 1"),
                        (in_box(1.5, 2, (22, 14, 14), (26, 18, 18)), "close to the edge of level 2, first at (23.625, 15.625, 14.625)"), (in_box(1.5, 2, **SMALL), None)]:
    found = close(settings)
    check(isinstance(found, list) and len(found) == bool(words) and all(words in line for line in found), f"a body of {settings['bodies.ball.shape.sphere']['radius']}: {found}")
check(close(in_box(3, **SMALL), 3) == close(in_box(3, **SMALL)), "the same on ranks")

# A body that conducts keeps its inside away from edges, too; others may have regions inside, which have no fluid.
for meets, why in ("{conduct: {conductivity: 0.1}}", "bodies.block comes within 3 coarse cells"), ("{value: 1}", "has no fluid cell"):
    write("inside.yaml", "{domain: {cells: [48, 32, 32]}, faces: {x: periodic, y: wall, z: wall}, fluid: {viscosity: 0.05}, scalars: "
          "{t: {diffusivity: 0.02}}, bodies: {block: {shape: {box: {from: [4, 4, 4], to: [28, 28, 28]}}, scalars: {t: %s}}}, "
          "refine: {a: {level: 1, box: {from: [12, 12, 12], to: [20, 20, 20]}}}, run: {steps: 1}, output: none}\n" % meets)
    said = tagflow("check", "--verbose", "inside.yaml")
    check(said.code == 2 and why in said.err, f"a region inside a body that meets scalars with {meets}: {said}")

# A part of a face that ends between cells of level 0 on an edge. A run knows when it has made its folder.
part = runs.sets({"refine.low": "{level: 1, box: {from: [16, 0, 8], to: [32, 8, 24]}}",
                  "patches": "{free: {face: ymin, rectangle: {from: [10, 2], to: [38, 15.3]}, slip: {}}}"})
for said in tagflow("check", "--verbose", "case.yaml", *part), tagflow("run", "case.yaml", "--output", "part", *part):
    check(said.code == 2 and "must end at whole cells of level 0" in said.err, f"a part of a face on an edge: {said}")

# Paths of the fluid lead through all levels: with boxes at whole cells a refined grid is refused as one grid, word by word.
LOCK = "{faces: {xmin: {velocity: {value: [0.03, 0, 0]}}, xmax: %s, y: wall, z: wall}, run: {steps: 1000}, domain: {cells: [80, 16, 16]}, " \
       "fluid: {viscosity: 0.02}, output: {log: {every: 0}}, %s bodies: {%s}%s}\n"
LEVELS = ", refine: {a: {level: 1, box: {from: [12, 0, 0], to: [32, 16, 16]}}, b: {level: 2, box: {from: [40, 0, 0], to: [56, 16, 16]}}}"
GATES = "a: {shape: {box: {from: [20, 0, 0], to: [24, 16, %d]}}}, b: {shape: {box: {from: [47, 0, %d], to: [49, 16, 16]}}}"
ROOM = "patches: {door: {face: ymin, rectangle: {from: [71, 6], to: [74, 10]}, velocity: {value: [0, 0.01, 0]}}},"
CHAMBER = "c: {shape: {difference: {a: {box: {from: [68, -1, 3], to: [77, 8, 13]}}, b: {box: {from: [70, -1, 5], to: [75, %d, 11]}}}}}"
PATHS = [
    ("pressure", "", GATES % (8, 8), None),
    ("pressure", "", GATES % (16, 8), "faces.xmin: no fluid leads from it to an open face through which that could leave"),  # level 1 closes it
    ("pressure", "", GATES % (8, 0), "faces.xmin: no fluid leads from it"),  # level 2
    ("wall", "", GATES % (8, 8), "which would change the density by"),
    ("wall", "", GATES % (16, 8), "which would change the density by"),  # of the part before the gate
    ("pressure", ROOM, GATES % (8, 8) + ", " + CHAMBER % 9, None),
    ("pressure", ROOM, GATES % (8, 8) + ", " + CHAMBER % 6, "patches.door: no fluid leads from it"),  # a pocket on level 0
]
for outlet, patches, bodies, why in PATHS:
    write("one.yaml", LOCK % (outlet, patches, bodies, ""))
    write("levels.yaml", LOCK % (outlet, patches, bodies, LEVELS))
    lines = []
    for file, ranks in ("one.yaml", 0), ("levels.yaml", 0), ("levels.yaml", 3 if why else 2):
        said = tagflow("check", "--verbose", file, ranks=ranks)
        lines.append((said.code, [re.sub(r".*yaml:[0-9:]* ", "", line) for line in said.err.splitlines() if "bodies close" in line or "density by" in line]))
    check(lines[0] == lines[1] == lines[2] and lines[0][0] == (2 if why else 0) and (why or "") in "".join(lines[0][1]), f"paths, {why}: {lines}")
done = tagflow("run", "levels.yaml", "--output", "pocket", ranks=2)
check(done.code == 2 and "patches.door: no fluid leads from it" in done.err and not os.path.exists("pocket"), f"a run with a pocket: {done}")

# A part of a face that moves into a level and ends there: its mass is known before the run.
BELT = {"faces.y": "wall", "patches": "{belt: {face: ymin, rectangle: {from: [10, 2], to: [%d, 10]}, wall: {velocity: [0.06, 0, 0]}}}",
        "refine.low": "{level: 1, box: {from: [16, 0, 0], to: [32, 8, 32]}}"}
for end, why in (38, ""), (24, "patches.belt: each step takes 0.04 of a cell's mass where the moving wall"):
    said = tagflow("check", "--verbose", "case.yaml", *runs.sets(BELT | {"patches": BELT["patches"] % end}))
    check(said.code == 0 and said.err.count("patches.belt") == bool(why) and why in said.err, f"a belt to {end}: {said}")

# Warnings name the level, and come once: of walls that of the body, of an operator the worst.
said = tagflow("check", "--verbose", "case.yaml", *runs.sets({"solver.collision": "trt", "fluid.viscosity": 0.0005, "bodies.ball.wall": "interpolated"}))
check(said.code == 0 and "of level 0 is 60, above 8" in said.err and said.err.count("noisy or unstable") == 1 and
      "of level 2 is 15, above 5: with magic" in said.err and "may diverge where levels meet" in said.err, f"warnings: {said.err}")
coarse = {"solver.collision": "rr", "solver.subgrid": "{smagorinsky: {constant: 0.1}}", "fluid.viscosity": 0.00005}
for settings, level, number_of in ({}, 2, 150), ({"refine.ball": "{level: 2, shape: {sphere: {center: [24, 16, 16], radius: 5}}}"}, 2, 150), \
                                  ({"fluid.viscosity": 0.0001}, 0, 300):
    said = tagflow("check", "--verbose", "case.yaml", *runs.sets(coarse | settings))
    check(said.code == 0 and f"of level {level} is {number_of}, above 100: there is no model" in said.err and
          said.err.count("no model of the layers at walls") == 1, f"walls, {settings}: {said.err}")

# Bodies and their cells are on their level; the lines of a run are the same.
said = tagflow("check", "--verbose", "case.yaml", *runs.sets({"bodies.post": "{shape: {box: {from: [40, 4, 4], to: [41, 8, 8]}}}"}))
check("  body ball: 2176 cells of level 2\n  body post: 16 cells of level 0\n" in said.out and
      "bodies.post is 4 cells of level 0 across" in said.err and "bodies.ball is" not in said.err, f"cells of bodies: {said}")
check("body ball: 2176 cells of level 2" in open("run_1/log.txt").read(), "cells of bodies in the log")
mesh = "\n".join(["solid box"] + ["facet normal 0 0 0\nouter loop\n" + "\n".join(f"vertex {x} {y} {z}" for x, y, z in corners) + "\nendloop\nendfacet"
                  for corners in triangles_of_box((0, 0, 0), (4, 4, 4))] + ["endsolid"]) + "\n"
write("box.stl", mesh)
said = tagflow("check", "--verbose", "case.yaml", *runs.sets({"bodies.ball": "{mesh: {file: box.stl, scale: 1, min: [22, 14, 14]}}"}))
check("  body ball: 4096 cells of level 2; mesh of 12 triangles, parts 1, volume 4096" in said.out, f"a mesh on its level: {said}")

# Levels for which no host has memory: known at once, by bounding boxes. A run refuses them, check may be for other hosts, but
# refuses what it would have to make itself.
deep = {"domain.cells": [600, 400, 400], "bodies": {}, "output": "none"}
regions = {"around": ({"bodies.rock": "{shape: {sphere: {center: [300, 200, 200], radius: 90}}}"}, "{level: 8, around: rock, distance: 2}"),
           "box": ({}, "{level: 8, box: {from: [60, 40, 40], to: [540, 360, 360]}}"),
           "shape": ({}, "{level: 8, shape: {difference: {a: {sphere: {center: [300, 200, 200], radius: 180}}, b: {half_space: {point: [300, 200, 200], normal: x}}}}}")}
for name, (more, region) in regions.items():
    for command, ranks, words in ("run", 0, "whose description alone needs|and to find them needs"), ("run", 2, "whose description alone needs|and to find them needs"), \
                                 ("check", 0, "and to find them needs"):
        said = tagflow(command, "case.yaml", *runs.sets(deep | more | {"refine": f"{{deep: {region}}}"}), ranks=ranks, limit=60 * SLOWER)
        check(said.code == 2 and len(said.errors) == 1 and re.search(rf"refine\.deep: level 8 spans at least [\dx ]+ cells, ({words}).*a lower level", said.err),
              f"level 8 of a region, {name}, {command} on {ranks} ranks: {said}")

# Too many cells for tags: it says what it does not know.
said = tagflow("check", "--verbose", "case.yaml", "--json", "huge.json", *runs.sets({"domain.cells": [1000, 800, 800]}))
file = load(".", "huge.json")
check(said.code == 0 and "Fluid cells, the distance of bodies from edges, lists, the edges of levels and the imbalance are not known" in said.out and
      all(level["fluid_cells"] is None and level["links"] is None and level["imbalance"] is None for level in file["levels"]) and
      sum(level["cells"] / 8 ** l for l, level in enumerate(file["levels"])) == 640e6, f"a huge case: {said}")

runs.finish()
