#!/usr/bin/python3
"""Scalars from an earlier result (initial.from): the same values on the same grid, also where bodies conduct; on other grids as
numpy interpolates them, linear fields exactly; absolute values for any reference; the same bits for every cut and after a
restart; a pressure that fits the buoyancy; the case's own initial values where it gives them or the file has none.
"""
import csv
import shutil

import h5py
import numpy

import runs
from runs import check, load, sets, tagflow, write

# Heat that rises, in a box with a ball that is adiabatic and two plates that conduct; fuel turns into ash.
COARSE = """\
units:   {dx: 2 mm, dt: 1 ms, density: 1000 kg/m3, heat_capacity: 4000 J/kg/K}
domain:  {cells: [20, 12, 10]}
fluid:   {viscosity: 0.05}
solver:  {storage: fp64}
force:   {gravity: [0, -1e-4, 0], acceleration: [2e-6, 0, 0]}
scalars:
  temperature: {kind: heat, diffusivity: 0.03, reference: 300 K, expansion: 0.01, source: 1e-3,
                initial: {linear: {from: [0, 0, 0], to: [20, 0, 0], values: [310 K, 290 K]}, wave: {amplitude: 2 K, waves: [0, 1, 1]}}}
  fuel: {diffusivity: 0.05, decay: 0.003, initial: {value: 0.2, wave: {amplitude: 0.1, waves: [1, 0, 1]}}}
  ash:  {diffusivity: 0.05, made_from: fuel, rate: 0.02}
faces:
  xmin: {wall: {scalars: {temperature: {value: 310 K}}}}
  xmax: {wall: {scalars: {temperature: {value: 290 K}}}}
  y:    wall
  z:    periodic
bodies:
  ball: {shape: {sphere: {center: [8, 7, 5], radius: 2.2}}}
  thin: {shape: {box: {from: [14, 0, 0], to: [17, 3, 10]}}, scalars: {temperature: {conduct: {conductivity: 0.2, capacity: 0.4, source: 0.002}}}}
  thick: {shape: {box: {from: [14, 9, 0], to: [17, 12, 10]}}, scalars: {temperature: {conduct: {conductivity: 0.3, capacity: 3}}}}
run:     {steps: 60}
checkpoint: {every: 60}
output:
  log:   {every: 0}
  fields:
    main: {every: 60, of: [velocity, pressure, temperature, fuel, ash, tags], precision: fp64}
    flow: {every: 60, of: [velocity, pressure], precision: fp64}
    mean: {every: 60, of: [velocity, pressure, temperature]}
  averages: {average: {every: 60, of: [velocity, density, temperature, fuel, ash], from: 60, precision: fp64}}
"""
write("coarse.yaml", COARSE)
CHECKPOINT, SNAPSHOT = "coarse/checkpoints/step_0000000060.h5", "coarse/fields/main_0000000060.vtkhdf"
FLOW, AVERAGE = "coarse/fields/flow_0000000060.vtkhdf", "coarse/fields/average_0000000060.vtkhdf"
SINGLE = "coarse/fields/mean_0000000060.vtkhdf"
NAMES = "temperature", "fuel", "ash"
# of the later case: its scalars without initial values, which the file has
SCALARS = {f"scalars.{name}.{key}": value for name, keys in {
    "temperature": {"kind": "heat", "diffusivity": 0.03, "reference": "300 K", "expansion": 0.01, "source": 1e-3},
    "fuel": {"diffusivity": 0.05, "decay": 0.003}, "ash": {"diffusivity": 0.05, "made_from": "fuel", "rate": 0.02}}.items()
    for key, value in keys.items()}
NOW = {"run.steps": 1, "checkpoint.every": 0, "output.averages": {},
       "output.fields": {"main": {"every": 1, "of": ["velocity", "pressure", "temperature", "fuel", "ash", "tags"], "precision": "fp64"}}}
write("later.yaml", COARSE.replace(COARSE[COARSE.index("scalars:"):COARSE.index("faces:")], ""))


def run(folder, case, settings=(), ranks=0):
    said = tagflow("run", case, "--output", folder, *sets(dict(settings)), ranks=ranks)
    check(said.code == 0 and not said.errors, f"{folder}: {said}")
    return said


def fields(path):
    with h5py.File(path) as file:
        nx, ny, nz = file["provenance"].attrs["cells"]
        return {name: data[:nz, :ny, :nx].astype(float) for name, data in file["VTKHDF/PointData"].items()}


def start_of(folder):
    return fields(f"{folder}/fields/main_0000000000.vtkhdf")


def hashes(folder):
    report = load(folder, "report.json")
    return report["state_hash"], str(report["hashes"])


run("coarse", "coarse.yaml")
then = fields(SNAPSHOT)
check(abs(then["velocity"]).max() > 1e-4 and numpy.ptp(then["temperature"]) > 15, "the earlier flow moves, and is warm and cold")

# The same grid: fluid and the plates of both capacities alike.
ball = then["tags"] == then["tags"][5, 7, 8]
for name, path, tolerance in ("snapshot", SNAPSHOT, 1e-12), ("average", AVERAGE, 1e-12), ("checkpoint", CHECKPOINT, 1e-12), ("single", SINGLE, 4e-5):
    said = run(name, "later.yaml", NOW | SCALARS | {"initial.from": path})
    now = start_of(name)
    held = [k for k in NAMES if name != "single" or k == "temperature"]
    errors = [float(abs(now[k] - then[k]).max() / abs(then[k]).max()) for k in held + ["velocity", "pressure"]]
    told = all(f"{k}: begins with " + ("the values of initial.from" if k in held else "its reference, as initial.from has no values of it") in said.out
               for k in NAMES)
    check(max(errors) < tolerance and told, f"{name}: the same values, errors {errors}")
    resolved = open(f"{name}/case.yaml").read()
    check(("initial" in resolved.split("  ash:")[1].split("\n")[0]) == (name == "single"), f"{name}: its resolved case has no initial values of them")
    shutil.copy(f"{name}/case.yaml", "resolved.yaml")
    run(name + "_resolved", "resolved.yaml")
    check(hashes(name + "_resolved") == hashes(name), f"{name}: the same from its resolved case")


def interpolated(then, shape, holds, cells=(10, 12, 20)):
    """Values [z][y][x] on a grid of that shape; z is periodic. Cells that do not hold are left out; NaN: none does."""
    index = []
    for axis in range(3):
        n = cells[axis]
        at = (numpy.arange(shape[axis]) + 0.5) * n / shape[axis] - 0.5
        low = numpy.floor(at).astype(int)
        weight = at - low
        if axis == 0:
            index.append((low % n, (low + 1) % n, weight))
        else:
            weight = numpy.where((low < 0) | (low >= n - 1), 0, weight)
            index.append((numpy.clip(low, 0, n - 1), numpy.clip(low + 1, 0, n - 1), weight))
    total = sums = 0
    for corner in numpy.ndindex(2, 2, 2):
        place = numpy.ix_(*[index[a][corner[a]] for a in range(3)])
        w = [index[a][2] if corner[a] else 1 - index[a][2] for a in range(3)]
        weight = w[0][:, None, None] * w[1][None, :, None] * w[2][None, None, :] * holds[place]
        total, sums = total + weight, sums + weight * then[place]
    return sums / numpy.where(total > 0, total, numpy.nan)


# Other grids, precisions and references; what the ball covered is taken from beside it.
plates = (then["tags"] == then["tags"][0, 0, 15]) | (then["tags"] == then["tags"][0, 11, 15])
HOLDS = {"temperature": ~ball, "fuel": ~ball & ~plates, "ash": ~ball & ~plates}
for name, path, cells, dt, reference, storage, tolerance in [
        ("finer", SNAPSHOT, (30, 18, 15), 0.5e-3, 300, "fp64", 1e-12), ("twice", CHECKPOINT, (40, 24, 20), 0.25e-3, 295, "fp32", 1e-6),
        ("coarser", CHECKPOINT, (10, 6, 5), 1e-3, 310, "fp64", 1e-12), ("lattice", AVERAGE, (30, 18, 15), None, 300, "fp16", 1e-6)]:
    f = cells[0] / 20
    size = SCALARS | NOW | {
        "domain": {"cells": cells}, "bodies.ball.shape.sphere": {"center": [8 * f, 7 * f, 5 * f], "radius": 2.2 * f},
        "bodies.thin.shape.box": {"from": [14 * f, 0, 0], "to": [17 * f, 3 * f, cells[2]]},
        "bodies.thick.shape.box": {"from": [14 * f, 9 * f, 0], "to": [17 * f, cells[1], cells[2]]},
        "bodies.thick.scalars.temperature.conduct.capacity": 5, "solver.storage": storage, "initial.from": path, "run.steps": 3,
        "units": {"dx": f"{2e-3 / f} m", "dt": f"{dt} s", "density": "500 kg/m3", "heat_capacity": "4000 J/kg/K"} if dt else "{dx: 1 mm}",
        "scalars.temperature.reference": reference, "scalars.temperature.source": 0}
    run(name, "later.yaml", size)
    now = start_of(name)
    errors = []
    for k in NAMES:
        want = interpolated(then[k], cells[::-1], HOLDS[k])
        inner = now["tags"] != now["tags"][tuple(int(f * n) for n in (5, 7, 8))]
        if k != "temperature":
            inner &= (now["tags"] != now["tags"][0, 0, int(15 * f)]) & (now["tags"] != now["tags"][0, -1, int(15 * f)])
        inner &= ~numpy.isnan(want)
        errors.append(float(abs(now[k] - want)[inner].max() / abs(want[inner]).max()))
        check(inner.sum() > 0.8 * inner.size, f"{name}: {k} in {inner.sum()} of {inner.size} cells")
    check(max(errors) < tolerance, f"{name}: as numpy interpolates them, errors {errors}")
    if name in ("finer", "twice"):
        for ranks, cuts in (2, [2, 1, 1]), (4, [1, 2, 2]), (3, [1, 1, 3]):
            run(f"{name}{ranks}", "later.yaml", size | {"run.ranks": cuts, "run.threads": 2}, ranks=ranks)
        check(len({hashes(f"{name}{ranks}") for ranks in ("", 2, 3, 4)}) == 1, f"{name}: one state for all cuts")

# A restart does not read the values again.
both = SCALARS | {"initial.from": "copy.vtkhdf", "run.steps": 7, "checkpoint.every": 3, "output.fields": {}, "output.averages": {}}
shutil.copy(SNAPSHOT, "copy.vtkhdf")
run("whole", "later.yaml", both)
run("ended", "later.yaml", both | {"run.steps": 3})
said = tagflow("run", "later.yaml", "--output", "ended", "--restart", "auto", *sets(both))
check(said.code == 0 and hashes("ended") == hashes("whole"), f"ended: goes on to the same bits: {said}")

# A linear field is linear on every grid, from the first cell's centre to the last one's.
LINE = """\
domain:  {cells: [16, 1, 1]}
fluid:   {viscosity: 0.05}
solver:  {storage: fp64}
scalars: {t: {kind: heat, diffusivity: 0.1, reference: 20}}
faces:
  xmin: {wall: {scalars: {t: {value: 300}}}}
  xmax: {wall: {scalars: {t: {value: 316}}}}
  y: periodic
  z: periodic
run:     {steps: 1}
checkpoint: {every: 1}
output:  {log: {every: 0}, fields: {main: {every: 1, of: [velocity, density, t], precision: fp64}}}
"""
write("line.yaml", LINE)
# between walls of its end values it does not change
run("line", "line.yaml", {"scalars.t.initial": {"linear": {"from": [0, 0, 0], "to": [16, 0, 0], "values": [300, 316]}}})
for path in "line/fields/main_0000000001.vtkhdf", "line/checkpoints/step_0000000001.h5":
    for cells in 8, 24, 40, 16:
        run(f"line{cells}{path[-3:]}", "line.yaml", {"domain.cells": [cells, 3, 2], "initial.from": path, "scalars.t.reference": 310})
        t = start_of(f"line{cells}{path[-3:]}")["t"]
        want = 300 + numpy.clip((numpy.arange(cells) + 0.5) * 16 / cells, 0.5, 15.5)
        error = abs(t - want[None, None, :]).max()
        check(error < 1e-12 * 316, f"line of {cells} cells: error {error:.3g} K")

# The pressure fits another buoyancy, too: a layered fluid at rest stays so.
LAYERS = """\
domain:  {cells: [8, 24, 8]}
fluid:   {viscosity: 0.05}
solver:  {storage: fp64}
force:   {gravity: [0, -1e-3, 0]}
scalars: {t: {kind: heat, diffusivity: 0.02, reference: 300, expansion: 0.01}}
faces:
  x: periodic
  ymin: {wall: {scalars: {t: {value: 299}}}}
  ymax: {wall: {scalars: {t: {value: 301}}}}
  z: periodic
run:     {steps: 40}
checkpoint: {every: 40}
check:   {every: 0}
output:  {log: {every: 0}, series: {flow: {every: 1, of: [max_velocity]}}, fields: {bare: {every: 40, of: [velocity, density], precision: fp64}}}
"""
write("layers.yaml", LAYERS)


def fastest(folder):
    rows = list(csv.DictReader(line for line in runs.series_text(folder).decode().splitlines() if line[0] != "#"))
    return max(float(row["max_velocity"]) for row in rows)


run("layers", "layers.yaml", {"scalars.t.initial": {"linear": {"from": [0, 0, 0], "to": [0, 24, 0], "values": [299, 301]}}})
FROM = {"initial.from": "layers/checkpoints/step_0000000040.h5"}
still = fastest("layers")
for name, changes in [("same", {}), ("reference", {"scalars.t.reference": 302}), ("gravity", {"force.gravity": [0, -2e-3, 0]}),
                      ("without", {"scalars.t.expansion": 0}), ("finer_layers", {"domain.cells": [16, 48, 16]}),
                      ("new", {"scalars.t.initial": 303})]:
    run(name, "layers.yaml", FROM | changes)
    run(name + "_level", "layers.yaml", FROM | changes | {"initial.pressure": "uniform"})
    found, level = fastest(name), fastest(name + "_level")
    # without a buoyancy there is nothing to balance: then level is right, too
    check(found < 6 * still and (name == "without" or level > 8 * found),
          f"{name}: at most {found:.3g}, with a uniform pressure {level:.3g}, before {still:.3g}")
said = run("bare", "layers.yaml", {"initial.from": "layers/fields/bare_0000000040.vtkhdf"})
check("warning: initial.from: the pressure in " in said.err and "balances a buoyancy by t, whose values the file does not hold" in said.err, f"bare: {said}")

# The case's own values; a file without values; another kind; values that are wrong.
said = run("own", "later.yaml", NOW | SCALARS | {"initial.from": SNAPSHOT, "scalars.temperature.initial": "301 K"})
now = start_of("own")
check("temperature: begins with scalars.temperature.initial; initial.from has values of it, which are not taken\n" in said.out and
      abs(now["temperature"][~ball] - 301).max() < 1e-12 and abs(now["fuel"] - then["fuel"]).max() < 1e-14, f"own: {said}")
said = run("none", "later.yaml", NOW | SCALARS | {"initial.from": FLOW})
now = start_of("none")
check(said.out.count("begins with its reference, as initial.from has no values of it\n") == 3 and
      abs(now["temperature"] - 300).max() < 1e-12 and abs(now["fuel"]).max() == 0 and abs(now["velocity"] - then["velocity"]).max() < 1e-15, f"none: {said}")
said = tagflow("check", "--verbose", "later.yaml", *sets(SCALARS | {"initial.from": SNAPSHOT, "scalars.fuel.initial": 0.1}))
check(said.code == 0 and said.out.count("begins with the values of initial.from\n") == 2 and "fuel: begins with scalars.fuel.initial;" in said.out, f"check: {said}")
SPECIES = {k: v for k, v in SCALARS.items() if "temperature" not in k} | {
    "scalars.temperature.diffusivity": 0.03, "bodies.thin.scalars": {}, "bodies.thick.scalars": {}, "faces.xmin": "wall", "faces.xmax": "wall", "force": {}}
before = runs.tree()
for name, change in [
        ("nan", lambda f: f["VTKHDF/PointData/fuel"].__setitem__((4, 4, 4), numpy.nan)),
        ("huge", lambda f: f["VTKHDF/PointData/temperature"].__setitem__((4, 4, 4), 1e12)),
        ("small", lambda f: (f["VTKHDF/PointData"].__delitem__("fuel"), f["VTKHDF/PointData"].__setitem__("fuel", then["fuel"][1:])))]:
    shutil.copy(SNAPSHOT, name + ".h5")
    with h5py.File(name + ".h5", "r+") as file:
        change(file)
before = runs.tree()
for settings, words, ranks in [
        ({"initial.from": "nan.h5"}, ["has values of fuel as far as inf from their reference"], 3),
        ({"initial.from": "huge.h5"}, ["has values of temperature as far as 1e+12 from their reference"], 0),
        ({"initial.from": "small.h5"}, ["no snapshot of tagflow"], 0)]:
    said = tagflow("run", "later.yaml", "--output", "no", *sets(NOW | SCALARS | settings), ranks=ranks)
    check(said.code == 2 and len(said.errors) == 1 and "initial.from: " in said.errors[0] and all(word in said.errors[0] for word in words) and
          runs.tree() == before, f"{settings}: {said}")
for settings, good in ({}, False), ({"scalars.temperature.initial": 1}, True):
    said = tagflow("check", "--verbose", "later.yaml", *sets(SPECIES | {"initial.from": SNAPSHOT} | settings))
    check(said.code == (0 if good else 2) and (good or len(said.errors) == 1 and
          " has temperature of the kind heat, which is species here (give scalars.temperature.initial, or another name)" in said.errors[0]), f"another kind: {said}")

runs.finish()
