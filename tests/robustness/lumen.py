#!/usr/bin/python3
"""The flow in a mesh (bodies.*.mesh.fluid: inside): the same as in the same tube by a shape, wherever the mesh ends and whichever way its
triangles turn; what is refused.

Tube of radius 7.3 along x in a periodic box, driven by a force. The mesh has 96 facets and the area of the circle: its
surface is within 5e-4 of a cell of the cylinder's.
"""
import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__))))
import runs
from runs import check, load, table, tagflow, write

FACETS = 96
RADIUS = 7.3


def tube(name, begin, end, turned=False):
    """A straight tube along x; its facets have the area of the circle."""
    radius = RADIUS * math.sqrt(2 * math.pi / FACETS / math.sin(2 * math.pi / FACETS))
    ring = [(10.2 + radius * math.cos(2 * math.pi * k / FACETS), 9.9 + radius * math.sin(2 * math.pi * k / FACETS)) for k in range(FACETS)]
    triangles = []
    for (y, z), (v, w) in zip(ring, ring[1:] + ring[:1]):
        a, b, c, d = (begin, y, z), (begin, v, w), (end, v, w), (end, y, z)
        triangles += [(a, b, c), (a, c, d), ((begin, 10.2, 9.9), b, a), ((end, 10.2, 9.9), d, c)]
    with open(name, "wb") as file:
        file.write(bytes(80) + struct.pack("<I", len(triangles)))
        for corners in triangles:
            corners = corners[::-1] if turned else corners
            file.write(struct.pack("<12fH", 0, 0, 0, *(x for corner in corners for x in corner), 0))


os.chdir(runs.WORK)
tube("long.stl", -3, 35)
tube("exact.stl", 0, 32)
tube("turned.stl", -3, 35, turned=True)
MESH = {"file": "long.stl", "scale": 1, "fluid": "inside"}
CASE = {
    "domain": {"cells": [32, 20, 20]}, "fluid": {"viscosity": 0.05}, "faces": {"x": "periodic", "y": "wall", "z": "wall"},
    "solver": {"storage": "fp64"}, "force": {"acceleration": [1e-5, 0, 0]},
    "bodies": {"vessel": {"wall": "interpolated", "mesh": MESH}}, "run": {"steps": 4000}, "check": {"hang": "none"},
    "output": {"log": {"every": 0},
               "series": {"flow": {"every": 4000, "of": "flow_rate", "axis": "x", "at": 12}, "wall": {"every": 4000, "of": "forces", "body": "vessel"}}}}
SHAPE = {"complement": {"tube": {"cylinder": {"center": [16, 10.2, 9.9], "axis": "x", "radius": RADIUS}}}}


def case(**more):
    return {**CASE, **more}


def vessel(**more):
    return {"vessel": {"wall": "interpolated", "mesh": MESH | more}}


def states(name):
    return load(name, "report.json")["state_hash"]


runs.run("long", CASE)
runs.run("exact", case(bodies=vessel(file="exact.stl")), ranks=3)
runs.run("turned", case(bodies=vessel(file="turned.stl")), ranks=2)
runs.run("shape", case(bodies={"vessel": {"wall": "interpolated", "shape": SHAPE}}))
check(states("long") == states("exact") == states("turned"), "the state depends on where the mesh ends, or on how its triangles turn")
flow, wall = (float(table("long", name)[column][-1]) for name, column in (("flow", "volume_flow"), ("wall", "force_x")))
shape = float(table("shape", "flow")["volume_flow"][-1])
check(abs(flow / shape - 1) < 2e-4, f"flow rate {flow:.8g}, in the cylinder {shape:.8g}")
poiseuille = math.pi * RADIUS**4 / 8 / 0.05 * 1e-5
check(abs(flow / poiseuille - 1) < 0.01, f"flow rate {flow:.8g}, by Poiseuille's law {poiseuille:.8g}")
cells = load("long", "report.json")["fluid_cells"]
check(abs(wall / (1e-5 * cells) - 1) < 1e-5, f"force on the wall {wall:.8g}, on the fluid {1e-5 * cells:.8g}")

# What cannot be.
for name, settings, text in (
        ("two", {"bodies": vessel() | {"other": {"mesh": MESH}}}, "bodies.other: fluid: inside is given for vessel, too"),
        ("none", {"bodies": vessel(center=[16, 10.2, 400])}, "outside of the box"),
        ("full", {"bodies": vessel(scale=8, center=[16, 10, 10])}, "its mesh holds the whole box")):
    said = tagflow("check", write(name + ".yaml", json.dumps(case(**settings))))
    check(said.code == 2 and text in said.err, f"{name}: {said}")
runs.finish()
