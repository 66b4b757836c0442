#!/usr/bin/python3
"""What the program writes of scalars: the same bytes on any number of ranks, for any cut, with threads, and after a
restart; the series are those that numpy finds in the snapshots, fluxes balance the sum of enthalpy, and averages are
those of the sampled snapshots.
"""
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, tagflow, write

CASE = """\
units:   {dx: 1 mm, dt: 1 ms, density: 1000 kg/m3, heat_capacity: 4000 J/kg/K}
domain:  {cells: [30, 16, 8]}
fluid:   {viscosity: 2e-5 m2/s, length: 10 mm}
solver:  {storage: STORAGE}
force:   {gravity: [0, -1 m/s2, 0]}
scalars:
  heat:  {kind: heat, diffusivity: 3e-5 m2/s, reference: 300 K, expansion: 0.003 1/K, initial: 300 K}
  smoke: {kind: species, diffusivity: 1e-5 m2/s, decay: 2 1/s, initial: 0.3}
  ash:   {kind: species, diffusivity: 2e-5 m2/s, made_from: smoke, rate: 10 1/s}
faces:
  xmin: {velocity: {value: [0.03 m/s, 0, 0], scalars: {heat: {value: 310 K}, smoke: {value: 1}, ash: {value: 0}}}}
  xmax: {pressure: {scalars: {heat: outflow, smoke: outflow, ash: outflow}}}
  ymin: {wall: {scalars: {heat: {flux: 4000 W/m2}}}}
  ymax: {wall: {scalars: {heat: {transfer: {coefficient: 100 W/m2/K, outside: 290 K}}}}}
  z:    periodic
patches:
  spot: {face: ymax, disc: {center: [20 mm, 4 mm], radius: 3 mm}, wall: {scalars: {heat: {value: 320 K}}}}
bodies:
  chip: {shape: {box: {from: [5 mm, 0, 2 mm], to: [9 mm, 4 mm, 6 mm]}}, scalars: {heat: {conduct: {conductivity: 500 W/m/K, capacity: 2e6 J/m3/K, source: 1e6 W/m3}}}}
  rod:  {shape: {cylinder: {center: [15.3 mm, 7.2 mm, 3 mm], axis: z, radius: 2.4 mm}}, wall: interpolated, scalars: {heat: {value: 315 K}, smoke: {flux: 0.003 m/s}}}
run:     {steps: 40}
check:   {every: 10, hang: none}
output:
  log: {every: 10}
  series:
    warm:   {every: 1, of: scalar, scalar: heat}
    smoke:  {every: 1, of: scalar, scalar: smoke}
    inlet:  {every: 1, of: heat, scalar: heat, face: xmin}
    outlet: {every: 1, of: heat, scalar: heat, face: xmax}
    floor:  {every: 1, of: heat, scalar: heat, face: ymin}
    roof:   {every: 1, of: heat, scalar: heat, face: ymax, difference: 20 K}
    spot:   {every: 1, of: heat, scalar: heat, patch: spot}
    chip:   {every: 1, of: heat, scalar: heat, body: chip}
    rod:    {every: 1, of: heat, scalar: heat, body: rod}
    point:  {every: 5, of: probe, point: [7.3 mm, 2.2 mm, 4.1 mm]}
    across: {every: 20, of: line, from: [7 mm, 0 mm, 4 mm], to: [7 mm, 16 mm, 4 mm], points: 33}
    wall:   {every: 5, of: line, from: [20.5 mm, 15.5 mm, 4.5 mm], to: [20.5 mm, 16 mm, 4.5 mm], points: 5}
  fields:
    all: {every: 5, of: [velocity, heat, smoke, ash], precision: fp64}
  averages:
    mean: {every: 5, of: [velocity, heat, smoke], precision: fp64}
  images:
    heat: {every: 20, of: heat, at: 4}
"""
CUTS = [(2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 1), (2, 2, 1), (1, 3, 2)]
WATT = 1e-9 * 1000 * 4000  # kelvin times a cell's volume, in joule


def series(folder, name):
    return numpy.genfromtxt(f"{folder}/series/{name}.csv", delimiter=",", names=True)


def inside(x, y, z):
    return (x >= 5) & (x < 9) & (y < 4) & (z >= 2) & (z < 6)


def check_values(folder, tolerance):
    shots = [arrays for _, arrays in sorted(runs.snapshots(folder).items()) if "heat" in arrays]
    z, y, x = numpy.indices(shots[0]["heat"].shape)
    chip, rod = inside(x, y, z), ((x + 0.5 - 15.3)**2 + (y + 0.5 - 7.2)**2 < 2.4**2)
    fluid = ~chip & ~rod
    warm, smoke = series(folder, "warm"), series(folder, "smoke")
    for k, shot in enumerate(shots):
        for rows, array in (warm, shot["heat"]), (smoke, shot["smoke"]):
            row, t = rows[5 * k], array[fluid]
            worst = max(abs(row["mean"] - t.mean()), abs(row["minimum"] - t.min()), abs(row["maximum"] - t.max()),
                        abs(row["variance"] - t.var()))
            if worst > 1e-10 * abs(t).max():
                check(False, f"{folder}: step {5 * k}: {row} is not {t.mean(), t.min(), t.max(), t.var()}")
        row, t = warm[5 * k], shot["heat"][chip]
        if abs(row["solid_mean"] - t.mean()) > 1e-10 * t.mean() or abs(row["solid_variance"] - t.var()) > 1e-8:
            check(False, f"{folder}: step {5 * k}: solid {row} is not {t.mean(), t.var()}")
    check(len(shots) == 9 and len(warm) == 41, f"{folder}: sums of 9 snapshots")
    flux = sum(series(folder, name)["heat"] for name in ("inlet", "outlet", "floor", "roof", "spot", "rod"))
    source = 1e6 * 1e-9 * chip.sum()  # watts
    change, through = numpy.diff(warm["sum"]) / 1e-3, flux[:-1] + source
    worst = abs(change - through).max() / abs(flux).max()
    check(worst < tolerance, f"{folder}: the sum changes by fluxes and sources, within {worst:.1e}")
    roof = series(folder, "roof")
    check(abs(roof["nusselt"] - roof["flux"] * 0.01 / (0.03 * 1e-3 * 4e6 * 20)).max() < 1e-9 * abs(roof["nusselt"]).max(),
          f"{folder}: Nusselt number")
    point, at = series(folder, "point"), (7.3, 2.2, 4.1)
    for k, shot in enumerate(shots):
        value = 0
        for corner in numpy.ndindex(2, 2, 2):
            low = [int(numpy.floor(a - 0.5)) for a in at]
            part = [a - 0.5 - n for a, n in zip(at, low)]
            weight = numpy.prod([p if c else 1 - p for p, c in zip(part, corner)])
            value += weight * shot["heat"][low[2] + corner[2], low[1] + corner[1], low[0] + corner[0]]
        if abs(point["heat"][k] - value) > 1e-10 * value:
            check(False, f"{folder}: probe in the chip, step {5 * k}: {point['heat'][k]}, not {value}")
    wall, shares = series(folder, "wall").reshape(-1, 5), numpy.arange(5) / 4  # from a cell's centre to the spot, which gives heat alone
    for k, shot in enumerate(shots):
        cell = {name: shot[name][4, 15, 20] for name in ("heat", "smoke")} | {"velocity_x": shot["velocity"][4, 15, 20, 0]}
        for name, value in ("heat", 320), ("velocity_x", 0), ("smoke", cell["smoke"]):
            wanted = (1 - shares) * cell[name] + shares * value
            if abs(wall[k][name] - wanted).max() > 1e-10 * abs(wanted).max() or wall[k][name][-1] != value:
                check(False, f"{folder}: {name} along a line to the wall, step {5 * k}: {wall[k][name]}, not {wanted}")
    mean = [arrays for name, arrays in runs.snapshots(folder).items() if "heat_mean" in arrays][-1]
    t, u = numpy.array([s["heat"] for s in shots]), numpy.array([s["velocity"] for s in shots])
    wanted = {"heat_mean": t.mean(axis=0), "heat_variance": t.var(axis=0),
              "heat_flux": ((t - t.mean(axis=0))[..., None] * (u - u.mean(axis=0))).mean(axis=0)}
    for name, value in wanted.items():
        worst = abs(mean[name] - value).max() / abs(value).max()
        check(worst < 1e-9, f"{folder}: {name} within {worst:.1e}")


STORAGES = [("fp64", 1e-9), ("fp32", 2e-2)]
jobs = {}  # by folder
for storage, _ in STORAGES:
    case = write(f"{storage}.yaml", CASE.replace("STORAGE", storage))
    ways = [("", {}, 0)] + [("_" + "x".join(map(str, cut)), {"run.ranks": list(cut)}, cut[0] * cut[1] * cut[2])
                            for cut in (CUTS if storage == "fp64" else CUTS[3::2])]
    for folder, settings, ranks in ways + [("_threads", {"run.threads": 3}, 0)]:
        jobs[storage + folder] = [case, "--output", storage + folder, *runs.sets(settings)], ranks, None, None
bad = [folder for folder, (code, said) in zip(jobs, runs.together(list(jobs.values()))) if not check(code == 0, f"{folder}: {said}")]
if bad:
    runs.finish()

for storage, tolerance in STORAGES:
    check_values(storage, tolerance)
    hashes, first = load(storage, "report.json")["hashes"], runs.results(storage)
    check(sorted(hashes) == ["ash", "flow", "heat", "smoke"] and hashes["flow"] == load(storage, "report.json")["state_hash"]
          and len(set(hashes.values())) == 4, f"{storage}: {hashes}")
    for folder in (name for name in jobs if name.startswith(storage + "_")):
        wrong = runs.differences(runs.results(folder), first)
        wrong += [] if load(folder, "report.json")["hashes"] == hashes else ["hashes"]
        check(not wrong, f"{folder}: {', '.join(wrong) or 'the same'}")

# half the way, then on from its checkpoint on other ranks
said = tagflow("run", "fp64.yaml", "--output", "half", "--set", "run.steps=20", "--set", "checkpoint.every=20")
check(said.code == 0, f"half: {said}")
said = tagflow("run", "fp64.yaml", "--output", "half", "--restart", "auto", "--set", "checkpoint.every=20", ranks=2)
wrong = runs.differences(runs.results("half"), runs.results("fp64")) if said.code == 0 else [str(said)]
wrong = [name for name in wrong if "mean_0000000020" not in name]  # of the run that ended there
check(not wrong, f"restart: {', '.join(wrong) or 'the same'}")

# a column ends a run
said = tagflow("run", "fp64.yaml", "--output", "stop", "--set", "run.stop={of: roof.heat, change: 1, over: 4}")
check(said.code == 0 and load("stop", "report.json")["stop"]["met"], f"stop: {said}")

# a scalar that the grid cannot carry ends the run by its name, while the flow is fine
case = write("thin.yaml", """\
domain:  {cells: [32, 32, 1]}
fluid:   {viscosity: 0.02}
scalars: {dye: {limiter: none, kind: species, diffusivity: 1e-7, initial: {shapes: {b: {box: {from: [8, 8, 0], to: [20, 20, 1]}, value: 1}}}}}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.28, 0, 0]}}, z: periodic}
run:     {steps: 20000}
""")
said = tagflow("run", case, "--output", "thin")
check(said.code == 3 and "scalars.dye diverged: " in str(said.errors) and "a larger diffusivity" in str(said.errors), f"thin: {said}")
check(load("thin", "report.json")["hashes"] == {"flow": None, "dye": None}, "thin: no hashes after a divergence")
runs.finish()
