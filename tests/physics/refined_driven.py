#!/usr/bin/python3
"""A flow at a given rate past a ball: the flow-rate controller, permeability, residual, stress on a surface and their stops on a
refined grid, beside one grid as fine as the finest level, on several ranks and across a restart; and results of one grid as the
initial flow of levels, and of levels as that of one grid.

Tolerances: a cell of level 0 is twice as wide as one of the fine grid, so what depends on the flow far from the ball differs by
its truncation, 1 % here. The stress is that of the same fine cells.
"""
import json
import os
import sys

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
from runs import check, finish, load, near, run, table, write

CELLS, CENTER, RADIUS = [32, 24, 24], [14.0, 12.0, 12.0], 3.0
VISCOSITY, VELOCITY, STEPS = 0.1, 0.02, 600


def ball(center, radius, rings=24):
    """A sphere as a binary STL."""
    theta = numpy.linspace(0, numpy.pi, rings + 1)
    phi = numpy.linspace(0, 2 * numpy.pi, 2 * rings + 1)
    at = numpy.stack([numpy.sin(theta)[:, None] * numpy.cos(phi), numpy.sin(theta)[:, None] * numpy.sin(phi),
                      numpy.cos(theta)[:, None] + 0 * phi], -1)
    at[:, -1] = at[:, 0]
    at[0], at[-1] = (0, 0, 1), (0, 0, -1)
    at = numpy.array(center) + radius * at
    corners = [t for i in range(rings) for j in range(2 * rings)
               for t in ((at[i, j], at[i + 1, j], at[i + 1, j + 1]), (at[i, j], at[i + 1, j + 1], at[i, j + 1]))
               if not any((t[k] == t[k - 1]).all() for k in range(3))]
    triangles = numpy.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("more", "<u2")])
    triangles["corner"] = corners
    return bytes(80) + len(corners).to_bytes(4, "little") + triangles.tobytes()


def flow(finer, levels, steps, stop=None):
    """The case with cells `finer` times finer than those of level 0; steps of these."""
    n = finer
    write(f"ball{n}.stl", ball([n * x for x in CENTER], n * RADIUS))
    every = 20 * n
    series = {"flow": {"every": every, "of": ["mass", "kinetic_energy", "max_velocity", "acceleration"]},
              "k": {"every": every, "of": "permeability", "axis": "x"},
              "change": {"every": every, "of": "residual"},
              "skin": {"every": steps * n // 2, "of": "surface", "body": "ball", "axis": "z", "points": 24}}
    case = {"domain": {"cells": [n * x for x in CELLS]}, "fluid": {"viscosity": VISCOSITY * n},
            "solver": {"collision": "trt", "storage": "fp64"},
            "force": {"flow_rate": {"velocity": VELOCITY, "axis": "x", "every": 10 * n, "time": 40 * n}},
            "faces": {"x": "periodic", "y": "periodic", "z": "periodic"}, "run": {"steps": steps * n},
            "check": {"every": 100 * n, "hang": "none"}, "checkpoint": {"every": steps * n // 2},
            "bodies": {"ball": {"mesh": {"file": f"ball{n}.stl"}, "wall": "interpolated"}},
            "output": {"log": {"every": 0}, "series": series,
                       "fields": {"all": {"every": steps * n, "of": ["velocity", "density"], "precision": "fp64",
                                          **({"levels": 1} if levels > 1 else {})}},
                       "surfaces": {"stress": {"every": steps * n, "body": "ball", "of": ["pressure", "shear_stress"], "precision": "fp64"}}}}
    if levels > 1:
        case["refine"] = {"ball": {"level": levels - 1, "around": "ball", "distance": 4}}
    if stop:
        case["run"]["stop"] = stop
    return case


def stress_of(folder):
    name = sorted(f for f in os.listdir(folder + "/fields") if f.startswith("stress_"))[-1]
    with h5py.File(f"{folder}/fields/{name}") as file:
        data = file["VTKHDF/CellData"]
        return data["pressure"][:], data["shear_stress"][:]


def beside_one_grid(folder, fine, finer):
    one, other = table(folder, "flow"), table(fine, "flow")
    half = len(one) // 2
    near("acceleration of the controller", one["acceleration"][half:], finer * other["acceleration"][half:], 0.01)
    near("kinetic energy", one["kinetic_energy"][half:], other["kinetic_energy"][half:] / finer**3, 0.01)
    one, other = table(folder, "k"), table(fine, "k")
    names = [x for x in one.dtype.names if x not in ("step", "time")]
    near("permeability", one[names[-1]][half:], other[names[-1]][half:] / finer**2, 0.01)
    one, other = table(folder, "change"), table(fine, "change")
    near("residual", one[one.dtype.names[-1]][2:], other[other.dtype.names[-1]][2:], 0.05)
    one, other = table(folder, "skin"), table(fine, "skin")
    last = one["step"] == one["step"][-1]
    fields = [x for x in one.dtype.names if x.startswith(("pressure", "shear"))]
    check(len(fields) >= 4, f"columns of the ring: {one.dtype.names}")
    for k in fields:
        scale = max(numpy.abs(other[f][last]).max() for f in fields if f[:4] == k[:4])
        worst = numpy.abs(one[k][last] - other[k][last]).max() / scale
        check(worst < 0.03, f"{k} on the ring: {worst:.3f} of the largest")
    (p, shear), (q, wanted) = stress_of(folder), stress_of(fine)
    p, q = p - p.mean(), q - q.mean()
    good = ~numpy.isnan(p) & ~numpy.isnan(q)
    check(good.mean() > 0.99, f"pressure on {good.mean():.3f} of the triangles")
    near("pressure on the mesh", p[good], q[good], 0.03)
    near("shear stress on the mesh", shear[good], wanted[good], 0.03)


def same(folder, other):
    one, two = load(folder, "report.json"), load(other, "report.json")
    check(one["hash"] == two["hash"] if "hash" in one else one["state_hash"] == two["state_hash"], f"{other}: the state of {folder}")
    for name in ("flow", "k", "change", "skin"):
        with open(f"{folder}/series/{name}.csv") as a, open(f"{other}/series/{name}.csv") as b:
            check(a.read() == b.read(), f"{other}: series {name} of {folder}")


def go_on(name, finer, levels, steps, earlier, energy, acceleration):
    """Goes on from an earlier result of another grid with the force that it had: its kinetic energy, of level 0, hardly changes."""
    case = flow(finer, levels, steps)
    case["initial"] = {"from": earlier}
    case["force"] = {"acceleration": [acceleration / finer, 0, 0]}
    if run(name, case):
        found = table(name, "flow")["kinetic_energy"] / finer**3
        check(abs(found[0] / energy - 1) < 5e-3, f"{name}: begins with a kinetic energy of {found[0] / energy:.5f} of the result's")
        near(f"{name}: kinetic energy afterwards", found, energy + 0 * found, 0.01)
        mass = table(name, "flow")["mass"]
        check(abs(mass[-1] / mass[0] - 1) < 1e-3, f"{name}: mass {mass[-1] / mass[0] - 1:.1e}")
    return load(name, "report.json")


def image(finer, levels, steps):
    """The ball as an image of its voxels on level 0, each of which spans several cells of the fine grid."""
    n, size = finer, 8
    at = numpy.indices((size, size, size)) + 0.5 - size / 2
    voxels = ((at**2).sum(0) < RADIUS**2).astype(numpy.uint8)
    voxels[0, 3, 5] = 1  # neither symmetric nor one piece
    for axis in range(3):
        voxels = voxels.repeat(n, axis)
    numpy.save(f"ball{n}.npy", voxels)
    case = flow(finer, levels, steps)
    case["bodies"] = {"ball": {"image": {"file": f"ball{n}.npy", "solid": [1], "at": [n * 10, n * 8, n * 8], "flip": ["y"]}}}
    case["output"] = {"log": {"every": 0}, "series": {
        "flow": {"every": 20 * n, "of": ["mass", "kinetic_energy", "acceleration"]},
        "force": {"every": 20 * n, "of": "forces", "body": "ball"}}}
    return case


whole = flow(1, 2, STEPS)
if run("levels", whole) and run("fine", flow(2, 1, STEPS)):
    beside_one_grid("levels", "fine", 2)
    if run("ranks", whole, ranks=3):
        same("levels", "ranks")
    part = json.loads(json.dumps(whole))
    part["run"]["steps"] = STEPS // 2
    if run("restarted", part, ranks=2) and run("restarted", whole, "--restart", "auto"):
        same("levels", "restarted")
    last = table("levels", "flow")[-1]
    for earlier in (f"fine/checkpoints/step_{2 * STEPS:010d}.h5", f"fine/fields/all_{2 * STEPS:010d}.vtkhdf"):
        name = "levels_from_" + earlier.split("/")[1]
        go_on(name, 1, 2, 60, earlier, last["kinetic_energy"], last["acceleration"])
    go_on("fine_from_levels", 2, 1, 60, f"levels/fields/all_{STEPS:010d}.vtkhdf", last["kinetic_energy"], last["acceleration"])
    go_on("levels_from_levels", 1, 2, 60, f"levels/fields/all_{STEPS:010d}.vtkhdf", last["kinetic_energy"], last["acceleration"])
    case = flow(1, 2, 60) | {"initial": {"from": f"fine/checkpoints/step_{2 * STEPS:010d}.h5"}}
    if run("from_one", case) and run("from_three", case, ranks=3):
        same("from_one", "from_three")
        near("kinetic energy with the controller", table("from_one", "flow")["kinetic_energy"], last["kinetic_energy"] + numpy.zeros(4), 0.02)
if run("image", image(1, 2, STEPS)) and run("image_fine", image(2, 1, STEPS)) and run("image_ranks", image(1, 2, STEPS), ranks=3):
    one, other = table("image", "force"), table("image_fine", "force")
    half = len(one) // 2
    near("force on an image", one["force_x"][half:], other["force_x"][half:] / 4, 0.01)
    near("lift of an image", one["force_y"][half:], other["force_y"][half:] / 4, 0.03)
    share = numpy.abs(one["force_y"][half:]).max() / one["force_x"][half:].max()
    check(share > 1e-4, f"lift of an image that is not symmetric: {share:.1e} of the force")
    check(load("image", "report.json")["state_hash"] == load("image_ranks", "report.json")["state_hash"], "an image on 3 ranks")
# A uniform flow stays uniform, whether a formula or a file gives it: no edge is felt.
uniform = {"domain": {"cells": [16, 16, 16]}, "fluid": {"viscosity": 0.1}, "solver": {"storage": "fp64"}, "run": {"steps": 4},
           "initial": {"flow": "uniform", "velocity": [0.03, 0.01, 0]}, "faces": {axis: "periodic" for axis in "xyz"},
           "refine": {"mid": {"level": 1, "box": {"from": [4, 4, 4], "to": [12, 12, 12]}}}, "output": {
               "series": {"flow": {"every": 1, "of": "max_velocity"}},
               "fields": {"one": {"every": 4, "of": ["velocity", "density"], "levels": 1, "precision": "fp64"}}}}
for name, initial in ("formula", uniform["initial"]), ("file", {"from": "formula/fields/one_0000000004.vtkhdf"}):
    if run(name, uniform | {"initial": initial}):
        most = table(name, "flow")["max_velocity"]
        check(numpy.abs(most / 0.1e-2**0.5 - 1).max() < 1e-13, f"a uniform flow by a {name}: largest velocity {most}")
for of in "residual", "permeability":
    name = "stop_" + of
    stop = {"of": of, "every": 20, "over": 40, "change": 2e-3}
    if run(name, flow(1, 2, 3000, stop)):
        steps = load(name, "report.json")["steps"]
        check(STEPS // 4 < steps < 3000, f"{name}: stops at step {steps}")
finish()
