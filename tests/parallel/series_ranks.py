#!/usr/bin/python3
"""Series of the program, from the case file to the CSV: the same bytes on any number of ranks and for any cut,
and the values are those that numpy finds in the snapshots of the same steps.
"""
import csv
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, write

DX = 1e-3
CASE = """\
units:   {dx: 1 mm, dt: 0.1 ms, density: 1.2 kg/m3}
domain:  {cells: [18, 10, 7]}
fluid:   {viscosity: 0.02}
solver:  {storage: STORAGE}
FLOW
force:   {acceleration: [5 m/s2, 0, -2 m/s2]}
run:     {steps: 24}
check:   {hang: none}
output:
  log:    {every: 0}
  series:
    flow:    {every: 3, of: [mass, kinetic_energy, enstrophy, max_velocity]}
    inside:  {every: 4, of: probe, point: [7.3 mm, 4.1 mm, 2.9 mm]}
    centre:  {every: 1, of: probe, point: [3.5 mm, 9.5 mm, 6.5 mm]}
    corner:  {every: 4, of: probe, point: [18 mm, 10 mm, 7 mm]}
    across:  {every: 4, of: line, from: [9 mm, 0 mm, 3.5 mm], to: [9 mm, 10 mm, 3.5 mm], points: 41}
    slanted: {every: 8, of: line, from: [17.9 mm, 0.2 mm, 7 mm], to: [0.1 mm, 9.7 mm, 0 mm], points: 500}
    through: {every: 4, of: flow_rate, axis: x, at: 17}
    side:    {every: 8, of: flow_rate, axis: z, at: 0}
    change:  {every: 4, of: residual}
  fields:
    all: {every: 4, of: [velocity, density, pressure], precision: fp64}
"""
FLOWS = {
    "layers": """\
initial: {flow: shear_layer, amplitude: 0.5 m/s}
faces:   {x: periodic, y: periodic, z: periodic}""",
    "box": """\
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.4 m/s, 0, 0.1 m/s]}}, z: wall}""",
}
NAMES = ["flow", "inside", "centre", "corner", "across", "slanted", "through", "side", "change"]
CUTS = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 1), (1, 3, 1), (1, 1, 3), (2, 2, 1), (1, 1, 5), (3, 1, 2), (1, 2, 3)]
STEPS = 24
DT = 1e-4


def table(folder, name):
    """Header and numbers, whose text must be plain: one sign, no spaces."""
    with open(f"{folder}/series/{name}.csv", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], numpy.array([[float(value) for value in row] for row in rows[1:]])


def interpolated(field, at, periodic):
    """Of an array [z, y, x, ...] at a position [x, y, z] in cells."""
    total = 0.0
    for corner in numpy.ndindex(2, 2, 2):
        weight, index = 1.0, []
        for axis, n in enumerate(field.shape[2::-1]):
            t = at[axis] - 0.5
            t = min(max(t, 0), n - 1) if not periodic else t
            low = int(numpy.floor(t))
            weight *= t - low if corner[axis] else 1 - (t - low)
            index.append((low + corner[axis]) % n)
        if weight > 0:
            total = total + weight * field[index[2], index[1], index[0]]
    return total


def point_row(snapshot, at, periodic):
    velocity, density, pressure = (interpolated(snapshot[name], at, periodic) for name in ("velocity", "density", "pressure"))
    # linear to the walls' velocities, within half a cell of them; where walls meet, the slower one counts
    for axis, high in () if periodic else ((1, True), (0, False), (0, True), (1, False), (2, False), (2, True)):
        share = 1 - 2 * (snapshot["density"].shape[2 - axis] - at[axis] if high else at[axis])
        if share > 0:
            velocity = (1 - share) * velocity + share * numpy.array([0.4, 0, 0.1] if (axis, high) == (1, True) else [0, 0, 0])
    return [*velocity, density, pressure]


def expect(name, header, rows, wanted, tolerance=1e-12, terms=None):
    """Row by row; wanted: columns after step. Relative to the largest of the column, or, of sums that may cancel, to
    the largest sum of absolute terms."""
    wanted = numpy.array(wanted)
    worst = numpy.inf
    if rows[:, 1:].shape == wanted.shape and (numpy.isnan(rows[:, 1:]) == numpy.isnan(wanted)).all():
        scale = numpy.nanmax(abs(wanted if terms is None else numpy.array(terms)), axis=0)
        off = numpy.where(numpy.isnan(wanted), 0, abs(rows[:, 1:] - wanted))
        worst = (off / numpy.where(scale > 0, scale, 1)).max()
    check(worst < tolerance, f"{name}: {','.join(header[1:])}: {rows.shape[0]} rows within {worst:.1e} of the snapshots")


def check_values(folder, storage, periodic):
    snapshots = {int(name[-17:-7]): arrays for name, arrays in runs.snapshots(folder).items()}
    for name, at, every in ("inside", (7.3, 4.1, 2.9), 4), ("corner", (18, 10, 7), 4):
        header, rows = table(folder, name)
        check(header == ["step", "time", "velocity_x", "velocity_y", "velocity_z", "density", "pressure"], f"{name}: header")
        expect(name, header, rows, [[step * DT, *point_row(snapshots[step], at, periodic)] for step in range(0, STEPS + 1, every)])
    header, rows = table(folder, "centre")
    check(rows.shape == (STEPS + 1, 7), "centre: a row each step")
    same = all(tuple(rows[step, 2:5]) == tuple(snapshots[step]["velocity"][6, 9, 3]) and
               rows[step, 5] == snapshots[step]["density"][6, 9, 3] and rows[step, 6] == snapshots[step]["pressure"][6, 9, 3]
               for step in range(0, STEPS + 1, 4))
    check(same, "centre: to the bit what its cell has")
    for name, start, end, points, every in (("across", (9, 0, 3.5), (9, 10, 3.5), 41, 4),
                                            ("slanted", (17.9, 0.2, 7), (0.1, 9.7, 0), 500, 8)):
        header, rows = table(folder, name)
        start, end, wanted = numpy.array(start, float), numpy.array(end, float), []
        for step in range(0, STEPS + 1, every):
            for k in range(points):
                share = k / (points - 1)
                at = start + (end - start) * share
                wanted.append([step * DT, numpy.linalg.norm(end - start) * share * DX, *(at * DX), *point_row(snapshots[step], at, periodic)])
        check(header[2:6] == ["distance", "x", "y", "z"] and list(rows[:, 0]) == [s for s in range(0, STEPS + 1, every) for _ in range(points)],
              f"{name}: {points} rows a step")
        expect(name, header, rows, wanted, 2e-12)
    for name, axis, cut, every in ("through", 0, numpy.s_[:, :, 17], 4), ("side", 2, numpy.s_[0], 8):
        header, rows = table(folder, name)
        wanted, terms = [], []
        for step in range(0, STEPS + 1, every):
            u, rho = snapshots[step]["velocity"][..., axis][cut], snapshots[step]["density"][cut]
            p, area = snapshots[step]["pressure"][cut], u.size * DX**2
            wanted.append([step * DT, u.sum() * DX**2, (rho * u).sum() * DX**2, p.mean(), area])
            terms.append([step * DT, abs(u).sum() * DX**2, abs(rho * u).sum() * DX**2, abs(p).mean(), area])
        expect(name, header, rows, wanted, terms=terms)
    header, rows = table(folder, "change")
    wanted, before = [], None
    for step in range(0, STEPS + 1, 4):
        u = snapshots[step]["velocity"]
        wanted.append([step * DT, numpy.nan if before is None else
                       numpy.sqrt(((u - before)**2).sum() / (u**2).sum())])
        before = u
    # what a residual remembers is rounded to the storage
    expect("change", header, rows, wanted, 1e-12 if storage == "fp64" else 1e-5)


jobs = {}  # by folder
for flow, text in FLOWS.items():
    for storage in "fp64", "fp32":
        alone = f"{flow}_{storage}"
        case = write(f"{alone}.yaml", CASE.replace("STORAGE", storage).replace("FLOW", text))
        jobs[alone] = [case, "--output", alone], 0, None, None
        for cut in CUTS if storage == "fp64" else CUTS[4::3]:
            folder = f"{alone}_{'x'.join(map(str, cut))}"
            settings = {"run.ranks": list(cut), "output.fields": "{}"}
            jobs[folder] = [case, "--output", folder, *runs.sets(settings)], cut[0] * cut[1] * cut[2], None, None
bad = [folder for folder, (code, said) in zip(jobs, runs.together(list(jobs.values()))) if not check(code == 0, f"{folder}: {said}")]
if bad:
    runs.finish()

for flow in FLOWS:
    for storage in "fp64", "fp32":
        alone = f"{flow}_{storage}"
        check_values(alone, storage, flow == "layers")
        for folder in (name for name in jobs if name.startswith(alone + "_")):
            wrong = [name for name in NAMES if runs.series_text(folder, name) != runs.series_text(alone, name)]
            check(not wrong, f"{folder}: {', '.join(wrong) or 'the same bytes'}")

runs.finish()
