#!/usr/bin/python3
"""Levels of a flow in two dimensions: along a periodic axis of one cell all levels have one cell. The same flow in a box of two cells
along the axis, whose levels are 2^(l + 1) cells thick, has the same values in all layers, and twice the sums, to the last bit. A
cylinder turns and heats a stream in a channel with a moving wall.
"""
import json
import os
import sys

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import reseal
from runs import check, finish, load, near, run, table, tagflow, write

STEPS, LEVELS = 40, 4
HALF = f"checkpoints/step_{STEPS // 2:010}.h5"
# Columns of sums over cells, faces or links: a box of two layers has twice as much.
SUMS = {"flow": ["mass", "kinetic_energy", "enstrophy"], "force": ["force_x", "force_y", "force_z", "pressure_x", "pressure_y", "pressure_z"],
        "heat": ["heat"], "scalar": ["sum"], "rate": ["area", "volume_flow", "mass_flow"], "cup": ["area", "volume_flow"]}
LINES = ["line", "skin"]  # interpolated: weights of layers are added with a rounding


def turned(axis, x, y, z):
    """A place, or a vector, of a flow that is flat along z, in the same flow that is flat along the axis."""
    return {"z": [x, y, z], "y": [x, z, y], "x": [z, x, y]}[axis]


def flow(axis, layers):
    names = turned(axis, 0, 1, 2)
    along, over = "xyz"[names.index(0)], "xyz"[names.index(1)]

    def at(x, y, z):
        return turned(axis, x, y, z)

    series = {"flow": {"of": ["mass", "kinetic_energy", "enstrophy", "max_velocity", "acceleration"]},
              "force": {"of": "forces", "body": "rod"}, "heat": {"of": "heat", "scalar": "t", "body": "rod"},
              "scalar": {"of": "scalar", "scalar": "t"}, "residual": {"of": "residual"},
              "rate": {"of": "flow_rate", "axis": along, "at": 36}, "cup": {"of": "mixing_cup", "scalar": "t", "axis": along, "at": 36},
              "flat": {"of": "flow_rate", "axis": axis, "at": 0},
              "line": {"of": "line", "from": at(1, 20.2, layers / 2), "to": at(55, 18.3, layers / 2), "points": 60},
              "skin": {"of": "surface", "body": "rod", "axis": axis, "points": 24}}
    return {"domain": {"cells": at(56, 36, layers)}, "fluid": {"viscosity": 0.01}, "solver": {"collision": "rr"},
            "scalars": {"t": {"kind": "heat", "diffusivity": 0.02, "initial": 0.1}},
            "force": {"flow_rate": {"velocity": 0.03, "axis": along}}, "initial": {"flow": "uniform", "velocity": at(0.03, 0, 0)},
            "faces": {along: "periodic", over + "min": "wall", over + "max": {"wall": {"velocity": at(0.04, 0, 0)}}, axis: "periodic"},
            "bodies": {"rod": {"shape": {"cylinder": {"center": at(20.3, 17.1, layers / 2), "axis": axis, "radius": 3.2}},
                               "wall": "interpolated", "rotation": {"rate": at(0, 0, 0.002)}, "scalars": {"t": {"value": 1}}}},
            "refine": {"near": {"level": LEVELS - 1, "around": "rod", "distance": 1.5},
                       "lid": {"level": 1, "box": {"from": at(30, 30, 0), "to": at(42, 36, layers)}}},
            "run": {"steps": STEPS}, "checkpoint": {"every": STEPS // 2},
            "output": {"log": {"every": 0}, "series": {name: {"every": 10} | what for name, what in series.items()},
                       "fields": {"all": {"every": STEPS, "of": ["velocity", "density", "vorticity", "tags", "t"]},
                                  "one": {"every": STEPS, "of": ["velocity"], "levels": 1}}}}


def same_series(one, two, axis):
    for name in sorted(os.listdir(f"{one}/series")):
        name = name[:-len(".csv")]
        a, b = table(one, name), table(two, name)
        torques = [f"torque_{other}" for other in "xyz" if other != axis]  # the middles of the two boxes differ
        for column in sorted(set(a.dtype.names) - {"step", "time", "x", "y", "z", *torques}):
            sum_of_layers = column in SUMS.get(name, []) + ["torque_" + axis]
            u, v = a[column] * (2 if sum_of_layers else 1), b[column]
            known = ~(numpy.isnan(u) & numpy.isnan(v))
            if name not in LINES:
                check((u == v)[known].all(), f"{one}: {name}.{column}: {'half of' if sum_of_layers else 'as'} with two layers, to the bit")
            elif (v[known] != 0).any():
                near(f"{one}: {name}.{column}", u[known], v[known], 2e-7)
            else:
                check((u[known] == 0).all(), f"{one}: {name}.{column}: 0")


def columns_of(level, name, axis):
    """{first cell along the other two axes: the values in all layers} of the columns of cells along the axis."""
    found, first, values = {}, 0, level["CellData/" + name][...]
    flat = 2 - "xyz".index(axis)
    for box in level["AMRBox"][...]:
        low, size = box[4::-2], (box[5::-2] - box[4::-2] + 1)
        part = values[first:first + size.prod()].reshape(tuple(size) + values.shape[1:])
        first += size.prod()
        part, (j, i) = numpy.moveaxis(part, flat, 0), numpy.delete(low, flat)
        found |= {(j + y, i + x): part[:, y, x] for y in range(part.shape[1]) for x in range(part.shape[2])}
    return found


def same_fields(one, two, axis):
    for step in 0, STEPS:
        with h5py.File(f"{one}/fields/all_{step:010}.vtkhdf") as a, h5py.File(f"{two}/fields/all_{step:010}.vtkhdf") as b:
            for l in range(LEVELS):
                level, other = a[f"VTKHDF/Level{l}"], b[f"VTKHDF/Level{l}"]
                bad, layers = [], set()
                for name in level["CellData"]:
                    u, v = columns_of(level, name, axis), columns_of(other, name, axis)
                    layers |= {len(column) for column in u.values()}
                    if u.keys() != v.keys() or any((u[k] != v[k][0]).any() or (v[k] != v[k][0]).any() for k in u):
                        bad.append(name)
                check(not bad, f"{one}: level {l}, step {step}: all layers have the values of those of two layers {bad or ''}")
                check(layers == {2**l} and (level.attrs["Spacing"] == 2.0**-l).all(), f"{one}: a file has level {l} halved along all axes")
        with h5py.File(f"{one}/fields/one_{step:010}.vtkhdf") as a, h5py.File(f"{two}/fields/one_{step:010}.vtkhdf") as b:
            u, v = (numpy.moveaxis(file["VTKHDF/PointData/velocity"][...], 2 - "xyz".index(axis), 0) for file in (a, b))
            check(len(u) == 2 and len(v) == 4, f"{one}: a file in cells of level 1 has 2 layers")
            near(f"{one}: velocity in cells of level 1, step {step}", u, v[:2], 2e-7)


def counts(one, axis):
    found = []
    for layers in 1, 2:
        said = tagflow("check", write("check.yaml", json.dumps(flow(axis, layers))), "--json", "check.json")
        check(said.code == 0, f"check, {layers} layers along {axis}: {said}")
        found.append(load(".", "check.json")["levels"])
    for l, (few, many) in enumerate(zip(*found)):
        check(few["cells"] * 2**(l + 1) == many["cells"] and few["fluid_cells"] * 2**(l + 1) == many["fluid_cells"],
              f"{one}: level {l} has {few['cells']:g} cells, in a box of two layers {many['cells']:g}")
    check([level["cells"] for level in load(one, "report.json")["levels"]] == [level["cells"] for level in found[0]], f"{one}: as many as in check")


def state(folder):
    return load(folder, "report.json")["state_hash"]


for axis in "zyx":
    one, two = "one_" + axis, "two_" + axis
    if run(one, flow(axis, 1)) and run(two, flow(axis, 2)):
        same_series(one, two, axis)
        same_fields(one, two, axis)
        counts(one, axis)

sparse = flow("z", 1)
sparse["run"]["sparse"] = "always"
for name, what, good in (("ranks", "3 ranks", run("ranks", flow("z", 1), ranks=3)), ("sparse", "memory for fluid alone", run("sparse", sparse)),
                         ("again", "a restart on 2 ranks", run("again", flow("z", 1), "--restart", f"one_z/{HALF}", ranks=2))):
    check(good and state(name) == state("one_z"), f"{what}: the same state")

# What holds the middle of the axis need not span it: as if it did.
def belt(low, high, **more):
    return {"domain": {"cells": [48, 32, 1]}, "fluid": {"viscosity": 0.02}, "faces": {"x": "periodic", "y": "wall", "z": "periodic"},
            "patches": {"belt": {"face": "ymin", "rectangle": {"from": [12, low], "to": [30, high]}, "wall": {"velocity": [0.04, 0, 0]}}},
            "scalars": {"t": {"diffusivity": 0.02, "initial": {"value": 0, "shapes": {"a": {"box": {"from": [10, 8, low], "to": [20, 16, high]}, "value": 1}}}}},
            "refine": {"a": {"level": 2, "box": {"from": [8, 0, low], "to": [36, 20, high]}}},
            "run": {"steps": STEPS}, "output": {"log": {"every": 0}, "series": {"flow": {"every": STEPS, "of": ["mass", "kinetic_energy"]}}}} | more


if run("thin", belt(0.4, 0.6)) and run("whole", belt(0, 1)):
    check(state("thin") == state("whole"), "a patch, a part with another value and a region that do not span the axis")
    check(table("thin", "flow")["kinetic_energy"][-1] > 0, "the belt moves")
scalar = {"diffusivity": 0.02}
if run("slope", belt(0, 1, scalars={"t": scalar | {"initial": {"linear": {"from": [0, 0, 0], "to": [0, 0, 1], "values": [0, 1]}}}})) and \
        run("even", belt(0, 1, scalars={"t": scalar | {"initial": 0.5}})):
    check(state("slope") == state("even"), "a scalar that is linear along the axis has the value of the middle")

# The voxels of a box are the box: forces, and torques about their middle.
numpy.save("box.npy", numpy.ones((1, 12, 8), numpy.uint8))
rods = {"image": {"image": {"file": "box.npy", "solid": 1, "at": [12, 6, 0]}}, "box": {"shape": {"box": {"from": [12, 6, 0], "to": [20, 18, 1]}}}}
for name, rod in rods.items():
    run(name, belt(0, 1, bodies={"b": rod | {"rotation": {"rate": [0, 0, 0.002]}}}, refine={"a": {"level": 2, "around": "b", "distance": 2}}) |
        {"output": {"log": {"every": 0}, "series": {"b": {"every": STEPS, "of": "forces", "body": "b"}}}})
one, other = table("image", "b"), table("box", "b")
for column in "force_x", "force_y", "torque_z":
    near(f"voxels, {column}", one[column][-1:], other[column][-1:], 1e-9)

# Waves of a channel have the same size on levels; a sponge along the axis the same strength.
for name, more in (("channel", {"initial": {"flow": "channel", "amplitude": 0.03}}),
                   ("sponge", {"initial": {"flow": "uniform", "velocity": [0.03, 0.03, 0]},
                               "regions": {"s": {"box": {"from": [0, 0, 0], "to": [48, 32, 1]}, "sponge": {"towards": "zmin", "strength": 0.02}}}})):
    energy = []
    for levels in {"a": {"level": 2, "box": {"from": [8, 0, 0], "to": [36, 20, 1]}}}, {}:
        if run(f"{name}_{len(levels)}", belt(0, 1, **more) | {"refine": levels}):
            energy.append(table(f"{name}_{len(levels)}", "flow")["kinetic_energy"][-1])
    if len(energy) == 2:
        near(f"{name}: kinetic energy with levels and without", energy[:1], energy[1:], 0.03)

# As those of versions whose levels were thicker.
with reseal.edited(f"one_z/{HALF}") as file:
    place = file["cells/populations_1"].attrs["first_cell"]
    file["cells/populations_1"].attrs.modify("first_cell", place + numpy.array([0, 0, 1], place.dtype))
said = tagflow("run", "one_z.yaml", "--output", "refused", "--restart", f"one_z/{HALF}")
check(said.code == 2 and len(said.errors) == 1 and "its populations_1 are not of the cells that the case has" in said.errors[0], f"a checkpoint of other cells: {said}")
finish()
