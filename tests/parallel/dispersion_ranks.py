#!/usr/bin/python3
"""Scalars with a mean gradient through a pack of spheres: the same bytes on any number of ranks, with memory for fluid alone or for all
cells, for other instruction sets, and after a restart one step before and one after a measurement of the mean velocity. The
deviation does not drift, and dispersion does not depend on the size of the gradient. Cases that do not go with a gradient are refused.
"""
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, tagflow, write

CASE = """\
domain:  {cells: [24, 12, 12]}
fluid:   {viscosity: 0.1, length: 6}
solver:  {collision: trt, magic: 0.1875, storage: STORAGE}
force:   {acceleration: [2e-5, 1e-5, 0]}
scalars:
  along:  {diffusivity: 0.02, gradient: [1e-3, 0, 0]}
  high:   {diffusivity: 0.02, gradient: [2e-3, 0, 0], reference: 5}
  across: {diffusivity: 0.01, gradient: [0, 1e-3, 2e-3]}
faces:   {x: periodic, y: periodic, z: periodic}
bodies:
  pack: {shape: {pack: {lattice: body_centred, length: 12, center: [3.3, 4.1, 6], share: 0.5}}, wall: WALL}
run:     {steps: 259}
check:   {every: 50, hang: none}
output:
  log: {every: 0}
  series:
    along:  {every: 1, of: dispersion, scalar: along}
    high:   {every: 1, of: dispersion, scalar: high}
    across: {every: 7, of: dispersion, scalar: across}
  fields:
    all: {every: 37, of: [velocity, along, across], precision: fp64}
"""
CUTS = [(2, 1, 1), (1, 2, 1), (1, 1, 2), (2, 2, 1), (3, 2, 1)]


def series(folder, name):
    return numpy.genfromtxt(f"{folder}/series/{name}.csv", delimiter=",", names=True)


STORAGES = [("fp64", "halfway", 1e-9), ("fp32", "interpolated", 2e-3), ("fp16", "halfway", 2e-3)]
jobs = {}  # by folder
for storage, wall, _ in STORAGES:
    case = write(f"{storage}.yaml", CASE.replace("STORAGE", storage).replace("WALL", wall))
    ways = [("", {}, 0)] + [("_" + "x".join(map(str, cut)), {"run.ranks": list(cut)}, cut[0] * cut[1] * cut[2])
                            for cut in (CUTS if storage == "fp32" else CUTS[3:4])]
    ways += [(f"_{sparse}", {"run.sparse": sparse, "run.threads": 3}, 0) for sparse in ("always", "never")]
    for folder, settings, ranks in ways + [("_generic", {"run.isa": "generic"}, 0)]:
        jobs[storage + folder] = [case, "--output", storage + folder, *runs.sets(settings)], ranks, None, None
bad = [folder for folder, (code, said) in zip(jobs, runs.together(list(jobs.values()))) if not check(code == 0, f"{folder}: {said}")]
if bad:
    runs.finish()

for storage, _, tolerance in STORAGES:
    hashes, first = load(storage, "report.json")["hashes"], runs.results(storage)
    for folder in (name for name in jobs if name.startswith(storage + "_")):
        wrong = runs.differences(runs.results(folder), first)
        wrong += [] if load(folder, "report.json")["hashes"] == hashes else ["hashes"]
        check(not wrong, f"{folder}: {', '.join(wrong) or 'the same'}")
    along, high = series(storage, "along"), series(storage, "high")
    worst = max(abs(along[name][-1] / high[name][-1] - 1) for name in ("ratio", "effective", "dispersion"))
    check(worst < tolerance, f"{storage}: twice the gradient, {worst:.1e}")
    check(abs(high["mean"][-1] - 5 - 2 * along["mean"][-1]) < 5 * tolerance, f"{storage}: mean {high['mean'][-1]}, {along['mean'][-1]}")
    check(len(along) == 260 and (abs(along["peclet"] - 6 / 0.02 * numpy.sqrt(sum(along["velocity_" + a]**2 for a in "xyz")))
                                 <= 1e-12 * along["peclet"]).all(), f"{storage}: Peclet number up to {along['peclet'][-1]:.3f}")
    shots = [arrays for _, arrays in sorted(runs.snapshots(storage).items()) if "along" in arrays]
    fluid = (shots[-1]["velocity"] != 0).any(axis=-1)
    for name in ("along", "across"):
        check(abs(shots[-1][name][fluid].mean()) < 1e-3, f"{storage}: {name} does not drift: {shots[-1][name][fluid].mean():.2e}")

for stop in 127, 129:  # half the way, then on from its checkpoint on other ranks
    folder = f"half{stop}"
    said = tagflow("run", "fp32.yaml", "--output", folder, "--set", f"run.steps={stop}")
    check(said.code == 0, f"{folder}: {said}")
    said = tagflow("run", "fp32.yaml", "--output", folder, "--restart", "auto", ranks=2)
    same = said.code == 0 and load(folder, "report.json")["hashes"] == load("fp32", "report.json")["hashes"]
    texts = [runs.series_text(f, name) for name in ("along", "high", "across") for f in (folder, "fp32")]
    check(same and texts[0] == texts[1] and texts[2] == texts[3], f"{folder}: goes on as if it had not stopped {'' if same else said}")

said = tagflow("run", "fp32.yaml", "--output", "stop", "--set", "run.stop={of: along.ratio, change: 1e-2, over: 20}")
check(said.code == 0 and load("stop", "report.json")["stop"]["met"], f"stop: {said}")

BAD = [({"scalars.along.gradient": [0, 0, 0]}, "no gradient"),
       ({"scalars.along.gradient": [1, 0]}, "three numbers"),
       ({"scalars.along.gradient": ["1 K", 0, 0]}, "along.gradient"),
       ({"scalars.along.decay": 0.1}, "scalars.along.decay does not go with a mean gradient"),
       ({"scalars.along.source": 0.1}, "scalars.along.source does not go with a mean gradient"),
       ({"scalars.along.initial": 0.1}, "scalars.along.initial does not go with a mean gradient"),
       ({"scalars.ash": {"diffusivity": 0.1, "made_from": "along", "rate": 0.1}}, "along has a mean gradient"),
       ({"scalars.along.expansion": 0.1, "force.gravity": [0, 1e-4, 0]}, "scalars.along.expansion does not go with a mean gradient"),
       ({"faces": {"x": "wall", "y": "periodic", "z": "periodic"}}, "face xmin is of kind wall"),
       ({"faces": {"x": "periodic", "ymin": "outflow", "ymax": "wall", "z": "periodic"}, "scalars.across.gradient": [1, 0, 0]}, "no opening goes with a gradient"),
       ({"faces": {"x": "periodic", "y": {"wall": {"scalars": {"along": {"value": 1}}}}, "z": "periodic"}, "scalars.across.gradient": [1, 0, 0]},
        "scalars.along is not adiabatic"),
       ({"bodies.pack.scalars": {"along": {"flux": 1e-3}}}, "bodies.pack.scalars.along is not adiabatic"),
       ({"bodies.pack.scalars": {"along": {"conduct": {"conductivity": 1}}}}, "bodies.pack.scalars.along is not adiabatic"),
       ({"scalars.plain": {"diffusivity": 0.1}, "output.series.along.scalar": "plain"}, "dispersion needs a mean gradient"),
       ({"output.series.along.area": 3}, "with of: dispersion")]
for settings, words in BAD:
    said = tagflow("check", "--verbose", "fp32.yaml", *runs.sets(settings))
    text = str(said)
    check(said.code == 2 and words in text, f"{settings}: {words if words in text else said}")
runs.finish()
