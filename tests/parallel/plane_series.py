#!/usr/bin/python3
"""Series of planes and outlets (pressure_drop, mixing_cup, outlet), with bodies in the planes: the values are those that numpy finds in
the snapshots of the same steps, on one grid, in sparse memory and on levels; and the same bytes on any number of ranks.
"""
import csv
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, write

sys.path.insert(0, os.path.join(runs.ROOT, "python", "src"))
import tagflow

DX = 1e-3
EVERY, STEPS = 60, 180
CASE = """\
units:   {dx: 1 mm, dt: 0.1 ms, density: 1.2 kg/m3, heat_capacity: 1000 J/kg/K}
domain:  {cells: [40, 16, 16]}
fluid:   {viscosity: 200 mm2/s}
solver:  {storage: fp64}
scalars: {temperature: {kind: heat, reference: 293 K, diffusivity: 300 mm2/s}}
faces:
  xmin: {velocity: {value: [0.3 m/s, 0, 0], scalars: {temperature: {value: 300 K}}}}
  xmax: pressure
  y: {wall: {scalars: {temperature: {value: 310 K}}}}
  z: {wall: {scalars: {temperature: {value: 280 K}}}}
patches:
  side: {face: ymax, rectangle: {from: [32 mm, 4 mm], to: [38 mm, 12 mm]}, pressure: {}}
  low: {face: zmin, rectangle: {from: [31 mm, 2 mm], to: [39 mm, 6 mm]}, outflow: {}}
bodies:
  ball: {shape: {sphere: {center: [18.2 mm, 8.1 mm, 7.7 mm], radius: 3.3 mm}}}
  rod: {shape: {box: {from: [33 mm, 0 mm, 12 mm], to: [40 mm, 5 mm, 16 mm]}}, scalars: {temperature: {conduct: {conductivity: 0.4 W/m/K}}}}
run:     {steps: 180}
check:   {hang: none}
output:
  log: {every: 0}
  series:
    drop: {every: 60, of: pressure_drop, axis: x, at: 15, second: 35}
    back: {every: 60, of: pressure_drop, axis: y, at: 15, second: 0}
    cup: {every: 60, of: mixing_cup, scalar: temperature, axis: x, at: 18}
    behind: {every: 60, of: mixing_cup, scalar: temperature, axis: x, at: 36 mm}
    across: {every: 60, of: mixing_cup, scalar: temperature, axis: z, at: 4}
    rate: {every: 60, of: flow_rate, axis: x, at: 39}
    out: {every: 60, of: outlet, face: xmax}
    in: {every: 60, of: outlet, face: xmin}
    side: {every: 60, of: outlet, patch: side}
    low: {every: 60, of: outlet, patch: low}
  fields: {all: {every: 60, of: [velocity, density, pressure, temperature, tags], precision: fp64}}
"""
PLAIN = {"bodies.rod.scalars": "{}"}  # sparse memory has no place for bodies that conduct
WAYS = {"one": [], "plain": runs.sets(PLAIN), "sparse": runs.sets(PLAIN | {"run.sparse": "always"}),
        "levels": runs.sets({"refine.ball": "{level: 1, box: {from: [10, 0, 0], to: [23, 16, 16]}}"})}
NAMES = ["drop", "back", "cup", "behind", "across", "rate", "out", "in", "side", "low"]
CUTS = [(2, 1, 1), (1, 3, 1), (2, 1, 2), (1, 2, 3)]


def table(folder, name):
    with open(f"{folder}/series/{name}.csv", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], numpy.array([[float(value) for value in row] for row in rows[1:]])


def boxes_of(snapshot):
    """[(level, box)] of a snapshot; one grid is a box without covered cells."""
    if isinstance(snapshot, tagflow.Refined):
        return [(level.number, box, box.first, ~box.covered()) for level in snapshot.levels for box in level.boxes]
    return [(0, snapshot, (0, 0, 0), numpy.ones(snapshot["tags"].shape, bool))]


def fluid_tags(snapshot):
    """{level: tags of fluid}: of cells that move somewhere."""
    found = {}
    for level, box, _, own in boxes_of(snapshot):
        found.setdefault(level, set()).update(box["tags"][own & (abs(box["velocity"]).max(-1) > 0)])
    return found


class Plane:
    """The cells of a plane of cells of level 0, or of a part of it, {axis: (from, to)}: values of the fluid cells, and volumes in
    cells of level 0."""

    def __init__(self, snapshot, fluid, axis, at, part=None):
        self.values = {name: [] for name in ("velocity", "density", "pressure", "temperature")}
        self.volume = []
        for level, box, first, own in boxes_of(snapshot):
            here = own & numpy.isin(box["tags"], list(fluid[level]))
            for a, (low, high) in {axis: (at, at + 1), **(part or {})}.items():
                place = numpy.indices(here.shape)[2 - a] + first[a] >> level
                here &= (low <= place) & (place < high)
            for name, found in self.values.items():
                found.append(box[name][here])
            self.volume.append(numpy.full(here.sum(), 8.0**-level))
        self.values = {name: numpy.concatenate(found) for name, found in self.values.items()}
        self.volume = numpy.concatenate(self.volume)

    def mean(self, name):
        return (self.values[name] * self.volume).sum() / self.volume.sum()

    def flow(self, axis, times=1.0):
        return (self.values["velocity"][:, axis] * times * self.volume).sum() * DX**2


def close(name, got, wanted, scale):
    """Column by column beside its scale."""
    got, wanted, scale = map(numpy.asarray, (got, wanted, scale))
    good = numpy.isnan(got) == numpy.isnan(wanted)
    off = numpy.where(numpy.isnan(wanted), 0, abs(got - wanted) / scale)
    check(good.all() and off.max() < 1e-11, f"{name}: within {off.max():.1e} of the snapshots")


def check_values(folder):
    snapshots = {s.step: s for s in tagflow.open_run(folder).fields["all"]}
    steps, fluid = range(EVERY, STEPS + 1, EVERY), fluid_tags(snapshots[STEPS])
    close(f"{folder}: steps", table(folder, "drop")[1][:, 0], range(0, STEPS + 1, EVERY), 1)
    for name, axis, first, second in ("drop", 0, 15, 35), ("back", 1, 15, 0):
        header, rows = table(folder, name)
        check(header[2:] == ["mean_pressure", "second_pressure", "pressure_drop"], f"{name}: header")
        for k, step in enumerate(steps, 1):
            one, two = (Plane(snapshots[step], fluid, axis, at).mean("pressure") for at in (first, second))
            close(f"{folder}: {name} at step {step}", rows[k, 2:], [one, two, one - two], abs(one) + abs(two))
    check(abs(table(folder, "drop")[1][-1, 4]) > 0.1, f"{folder}: the pressures differ")
    for name, axis, at in ("cup", 0, 18), ("behind", 0, 36), ("across", 2, 4):
        header, rows = table(folder, name)
        check(header[2:] == ["mixing_cup", "mean", "volume_flow", "area"], f"{name}: header")
        check(name == "across" or numpy.isnan(rows[0, 2]) and rows[0, 4] == 0, f"{name}: nothing flows at step 0, so there is no mean of the flow")
        for k, step in enumerate(steps, 1):
            plane = Plane(snapshots[step], fluid, axis, at)
            rate, size = plane.flow(axis), (abs(plane.values["velocity"][:, axis]) * plane.volume).sum() * DX**2
            cup, mean = plane.flow(axis, plane.values["temperature"]) / rate, plane.mean("temperature")
            close(f"{folder}: {name} at step {step}", rows[k, 2:], [cup, mean, rate, plane.volume.sum() * DX**2],
                  [20 * size / abs(rate), 20, size, 1e-6])
    rows = table(folder, "cup")[1]
    check(abs(rows[-1, 2] - rows[-1, 3]) > 0.05, f"{folder}: both means of the plane differ, {rows[-1, 2]:.3f} and {rows[-1, 3]:.3f} K")
    outlets = {"out": (0, 39, 1, None), "in": (0, 0, -1, None), "side": (1, 15, 1, {0: (32, 38), 2: (4, 12)}),
               "low": (2, 0, -1, {0: (31, 39), 1: (2, 6)})}
    found = {}
    for name, (axis, at, sign, part) in outlets.items():
        for step in steps:
            plane = Plane(snapshots[step], fluid, axis, at, part)
            found[name, step] = [sign * plane.flow(axis), sign * plane.flow(axis, plane.values["density"]), plane.mean("pressure"),
                                 plane.volume.sum() * DX**2]
    for name in outlets:
        header, rows = table(folder, name)
        check(header[2:] == ["volume_flow", "mass_flow", "mean_pressure", "area", "share"], f"{name}: header")
        for k, step in enumerate(steps, 1):
            leaves = sum(max(found[other, step][1], 0) for other in outlets)
            share = max(found[name, step][1], 0) / leaves
            close(f"{folder}: {name} at step {step}", rows[k, 2:], [*found[name, step], share],
                  [1e-4, 1e-4, 3, 1e-4, 1])
    shares = [table(folder, name)[1][-1, 6] for name in ("out", "side", "low")]
    check(abs(sum(shares) - 1) < 1e-14 and min(shares) > 0.01, f"{folder}: shares {shares}")
    rate = table(folder, "rate")[1]
    check((rate[:, 2:6] == table(folder, "out")[1][:, 2:6]).all(), f"{folder}: out is the flow rate through the last plane, to the bit")


jobs = {}
case = write("case.yaml", CASE)
for way, extra in WAYS.items():
    jobs[way] = [case, "--output", way, *extra], 0, None, None
    for cut in CUTS:
        folder = f"{way}_{'x'.join(map(str, cut))}"
        settings = {"run.ranks": list(cut), "output.fields": "{}"}
        jobs[folder] = [case, "--output", folder, *extra, *runs.sets(settings)], cut[0] * cut[1] * cut[2], None, None
bad = [folder for folder, (code, said) in zip(jobs, runs.together(list(jobs.values()))) if not check(code == 0, f"{folder}: {said}")]
if bad:
    runs.finish()
for way in WAYS:
    check_values(way)
    for folder in (name for name in jobs if name.startswith(way + "_")):
        wrong = [name for name in NAMES if runs.series_text(folder, name) != runs.series_text(way, name)]
        check(not wrong, f"{folder}: {', '.join(wrong) or 'the same bytes'}")
wrong = [name for name in NAMES if runs.series_text("sparse", name) != runs.series_text("plain", name)]
check(not wrong, f"sparse: {', '.join(wrong) or 'the same bytes as without'}")
runs.finish()
