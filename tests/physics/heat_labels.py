#!/usr/bin/python3
"""What scalars meet at the labels of a voxel image.

A slab of two materials, labels 1 and 2 of an image, and fluid: three lines, exact but for rounding and what is left of the transient, 1e-10,
as for slabs of boxes (heat_walls.py). Two boxes in place of the labels: the same hashes.
Plates with labels 1 (a value) and 2 (a flux): a line, 1e-10 (fp64). The image's rest, label 3, is adiabatic.
Labels at random: the hashes of the flow and of scalars are those of three images of one label each. Pores that become solid (isolated: fill)
meet what the rest of the body meets. Where all labels conduct, the heat of the body is the sum of the heats of the three.
The flow and the forces on the body are those of the image without labels.
"""
import json
import os
import subprocess

import numpy

import case
import heat

LINES = 1e-10
_images = 0


def image(labels, solid, **more):
    """The keys of a raw image of labels [x, y, z]."""
    global _images
    _images += 1
    path = os.path.join(case.scratch(), f"labels{_images}.raw")
    numpy.asarray(labels, dtype=numpy.uint8).transpose(2, 1, 0).tofile(path)
    return {"file": path, "size": list(numpy.shape(labels)), "solid": solid} | more


def solid(conductivity, capacity=1.0, **more):
    return {"t": {"conduct": {"conductivity": conductivity, "capacity": capacity} | more}}


def report(result):
    with open(os.path.join(result.folder, "report.json")) as file:
        return json.load(file)


def series(result, name):
    return numpy.genfromtxt(os.path.join(result.folder, "series", name + ".csv"), delimiter=",", names=True)


def same(what, a, b):
    a, b = report(a)["hashes"], report(b)["hashes"]
    case.at_most(f"{what}: sets that differ, of {len(a)}", sum(a[name] != b[name] for name in a), 0)


def box(axis, low, high, across):
    return {"box": {"from": heat.along(axis, low, 0, 0), "to": heat.along(axis, high, *across)}}


def slab(axis, capacities, n=16, first=5, second=11, k=(0.4, 0.05, 0.1)):
    labels = numpy.full(heat.along(axis, second, 2, 3), 1)
    numpy.moveaxis(labels, axis, 0)[first:] = 2
    force = {"acceleration": [1e-6 if a == (axis + 1) % 3 else 0 for a in range(3)]}
    steps = 60000  # of the slowest part less than 1e-12 is left

    def run(bodies):
        return heat.run(heat.settings(heat.along(axis, n, 2, 3), heat.plates(axis, {"value": 1}, {"value": 0}),
                                      {"t": {"kind": "heat", "diffusivity": k[2]}}, bodies=bodies, force=force, run={"steps": steps}))
    result = run({"slab": {"image": image(labels, [1, 2]), "scalars": solid(k[0], capacities[0]),
                           "labels": {"2": {"scalars": solid(k[1], capacities[1])}}}})
    boxes = run({"one": {"shape": box(axis, 0, first, (2, 3)), "scalars": solid(k[0], capacities[0])},
                 "two": {"shape": box(axis, first, second, (2, 3)), "scalars": solid(k[1], capacities[1])}})
    x = numpy.arange(n) + 0.5
    capacity = numpy.select([x < first, x < second], capacities, 1) / min(1, *capacities)
    capacity = capacity.reshape(heat.along(axis, n, 1, 1))
    values, across = heat.line(result.value(capacity=capacity), axis)
    flux = 1 / (first / k[0] + (second - first) / k[1] + (n - second) / k[2])
    exact = numpy.select([x < first, x < second], [1 - flux * x / k[0], 1 - flux * (first / k[0] + (x - first) / k[1])], flux * (n - x) / k[2])
    what = f"slab of two labels along {'xyz'[axis]}, C {capacities[0]} and {capacities[1]}"
    case.at_most(f"{what}: largest error", abs(values - exact).max(), LINES)
    case.at_most("     difference in a plane", across, 1e-12)
    same(f"{what} and of two boxes", result, boxes)


slab(0, (1, 1))
slab(1, (2, 0.5))
slab(2, (0.5, 3))

# Plates of a value and of a flux; a layer of label 3 covers neither.
N, D, Q, V = 16, 1.0, 6e-3, 0.3
labels = numpy.zeros((20, 2, 3), int)
labels[:2], labels[18:] = 1, 2
labels[0] = 3
result = heat.run(heat.settings([20, 2, 3], {"x": "wall", "y": "periodic", "z": "periodic"}, {"t": {"kind": "heat", "diffusivity": D, "reference": V}},
                                bodies={"plates": {"image": image(labels, [1, 2, 3]),
                                                   "labels": {"2": {"scalars": {"t": {"flux": Q}}}, "1": {"scalars": {"t": {"value": V}}}}}},
                                run={"steps": 3500}, output={"log": {"every": 0}, "series": {
                                    "plates": {"every": 100, "of": "heat", "scalar": "t", "body": "plates"}}}))
values, across = heat.line(result.value()[2:18], 0)
case.at_most("plates with labels, a value and a flux: largest error", abs(values - Q / D * (numpy.arange(N) + 0.5)).max(), LINES)
rows = series(result, "plates")
case.at_most("     flux through the body's surface at first, that of one label: relative error", abs(rows["heat"][0] / (Q * 6) - 1), 1e-9)
case.at_most("     flux through the body's surface at last, over that of this label", abs(rows["heat"][-1]) / (Q * 6), 1e-9)

# Labels at random, in grains of 3 cells; a closed pore.
generator = numpy.random.default_rng(7)
CELLS = [18, 15, 12]
labels = numpy.kron(generator.choice([0, 0, 1, 2, 3], [n // 3 for n in CELLS]), numpy.ones((3, 3, 3), int))
labels[6:11, 6:11, 4:9] = 2
labels[8, 8, 6] = 0
faces = {"x": "periodic", "ymin": "wall", "ymax": {"wall": {"velocity": [0.04, 0, 0], "scalars": {"t": {"value": 0.5}}}}, "z": "periodic"}
scalars = {"s": {"kind": "heat", "diffusivity": 0.04, "initial": {"linear": {"from": [0, 0, 0], "to": [18, 0, 0], "values": [1, 0]}}},
           "t": {"kind": "heat", "diffusivity": 0.02, "expansion": 0.01}}


def rock(bodies, names):
    outputs = {name: {"every": 10, "of": "heat", "scalar": "s", "body": name} for name in names}
    outputs["force"] = {"every": 10, "of": "forces", "body": names[0]}
    return heat.run(heat.settings(CELLS, faces, scalars, bodies=bodies, force={"gravity": [0, -0.001, 0]}, run={"steps": 61},
                                  output={"log": {"every": 0}, "series": outputs}))


WALLS = [{"t": {"value": 0.2}, "s": {"conduct": {"conductivity": 0.3, "capacity": 2}}},
         {"t": {"value": 0.7, "ramp": 30}, "s": {"conduct": {"conductivity": 0.01, "capacity": 0.5, "source": 1e-4}}},
         {"t": {"conduct": {"conductivity": 0.5, "capacity": 3}}, "s": {"conduct": {"conductivity": 2, "capacity": 1}}}]
whole = rock({"rock": {"image": image(labels, [1, 2, 3], isolated="fill"), "scalars": WALLS[0],
                       "labels": {"3": {"scalars": WALLS[2]}, "2": {"scalars": WALLS[1]}}}}, ["rock"])
parts = rock({f"rock{k + 1}": {"image": image(labels, [k + 1], **({} if k else {"isolated": "fill"})), "scalars": WALLS[k]} for k in range(3)},
             ["rock1", "rock2", "rock3"])
same("labels at random, as one image and as three", whole, parts)
one, three = series(whole, "rock"), [series(parts, f"rock{k}") for k in (1, 2, 3)]
case.at_most("     heat of the body and the sum of three, relative difference",
             abs(one["heat"] - sum(rows["heat"] for rows in three)).max() / abs(one["heat"]).max(), 1e-12)
case.at_least("     heats of the three over that of the body", sum(abs(rows["heat"]).max() for rows in three) / abs(one["heat"]).max(), 1.1)

# Scalars that the flow does not feel: the flow is that of the image alone.
scalars["t"].pop("expansion")
passive = {"rock": {"image": image(labels, [1, 2, 3], isolated="fill"), "scalars": WALLS[0],
                    "labels": {"3": {"scalars": WALLS[2]}, "2": {"scalars": WALLS[1]}}}}
text = heat.settings(CELLS, faces, scalars, run={"steps": 61}, bodies=passive,
                     output={"log": {"every": 0}, "series": {"force": {"every": 10, "of": "forces", "body": "rock"}}})
with_labels = heat.run(text)
without = heat.run(text | {"bodies": {"rock": {"image": passive["rock"]["image"], "scalars": WALLS[0]}}})
case.at_most("the flow with labels and without: hashes that differ", report(with_labels)["state_hash"] != report(without)["state_hash"], 0)
a, b = series(with_labels, "force"), series(without, "force")
case.at_most("     forces on the body: columns that differ", sum((a[name] != b[name]).any() for name in a.dtype.names), 0)
case.at_least("     values of t that differ", abs(with_labels.sums("t") - without.sums("t")).max(), 0.01)

# What `check` says of labels: their conditions, a condition that acts nowhere, and which label a warning is about.
path = os.path.join(case.scratch(), "check.yaml")
plates = {"image": image(numpy.kron([[[1]], [[0]], [[2]]], numpy.ones((5, 6, 6), int)), [1, 2]), "scalars": {"t": {"flux": 0.1}},
          "labels": {"1": {"scalars": solid(0.5, 3000)}, "2": {"scalars": {"t": {"value": 0.5}}}}}
with open(path, "w") as file:
    json.dump(heat.settings([15, 6, 6], heat.PERIODIC, {"t": {"kind": "heat", "diffusivity": D}}, bodies={"plates": plates}, run={"steps": 50}), file)
done = subprocess.run([os.environ["TAGFLOW"], "check", "--verbose", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for words in ("t: plates flux 0.1 K cells a step, plates label 1 conducts 0.5 cells^2 a step, plates label 2 value 0.5 K", "label 2, solid: 180 voxels, 33.33 %",
              "bodies.plates.scalars.t has no effect: labels gives all labels of image.solid another condition",
              "bodies.plates.labels.1.scalars.t: conductivity and capacity are 0.5 and 3e+03 times those of the fluid"):
    case.at_least(f"check says '{words}': lines", done.stdout.count(words), 1)
case.finish()
