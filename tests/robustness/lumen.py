#!/usr/bin/python3
"""The flow in a mesh (bodies.*.mesh.fluid: inside): the same as in the same tube by a shape, wherever the mesh ends and whichever way its
triangles turn; with caps in a bent tube and in an aorta with a pulse; what is refused.

Tube of radius 7.3 along x in a periodic box, driven by a force. The mesh has 96 facets and the area of the circle: its
surface is within 5e-3 of a cell of the cylinder's.

Bent tube of 16 cells, 30 degrees, both caps oblique to all axes, Re 5: mass in and out by the links of the caps; two diameters before
the outlet, and two behind the bend, the profile of momentum is Poiseuille's. Found, with half-way walls: 2e-5 between in and out,
rms of the profile 1.3 % of its peak; interpolated: 0.58 % lost through the wall, rms 0.13 %.

Straight tube with caps: a scalar that comes in with 1 fills it with 1 to rounding, where that is its reference, also where fluid is drawn in
through the cap of a pressure; what comes in less what goes out is what stays, to rounding.

Aorta of 12 cells, half-way walls, pulse of 2000 steps: over a period as much goes in as out, found to 8e-7 of the mean. With a thin fluid
(Reynolds number of a cell 48) it does not diverge; with anti-bounce-back at the outlets it did before step 1000.
"""
import json
import math
import os
import struct
import subprocess
import sys

import numpy

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


def vessels(**more):
    return {"vessel": {"wall": "interpolated", "mesh": MESH | more}}


def states(name):
    return load(name, "report.json")["state_hash"]


runs.run("long", CASE)
runs.run("exact", case(bodies=vessels(file="exact.stl")), ranks=3)
runs.run("turned", case(bodies=vessels(file="turned.stl")), ranks=2)
runs.run("shape", case(bodies={"vessel": {"wall": "interpolated", "shape": SHAPE}}))
check(states("long") == states("exact") == states("turned"), "the state depends on where the mesh ends, or on how its triangles turn")
flow, wall = (float(table("long", name)[column][-1]) for name, column in (("flow", "volume_flow"), ("wall", "force_x")))
shape = float(table("shape", "flow")["volume_flow"][-1])
check(abs(flow / shape - 1) < 2e-4, f"flow rate {flow:.8g}, in the cylinder {shape:.8g}")
poiseuille = math.pi * RADIUS**4 / 8 / 0.05 * 1e-5
check(abs(flow / poiseuille - 1) < 0.01, f"flow rate {flow:.8g}, by Poiseuille's law {poiseuille:.8g}")
cells = load("long", "report.json")["fluid_cells"]
check(abs(wall / (1e-5 * cells) - 1) < 1e-5, f"force on the wall {wall:.8g}, on the fluid {1e-5 * cells:.8g}")

# Caps. The script prints where the flat ends are.
def made(shape, scale):
    """{end: its middle in cells}, and the cells of a box."""
    said = subprocess.run([os.path.join(runs.ROOT, "scripts", "make_mesh.py"), shape + ".stl", "--shape", shape], check=True,
                          capture_output=True, text=True).stdout
    ends = {line.split()[0]: [scale * x for x in json.loads(line.split(" ", 1)[1])] for line in said.splitlines()}
    return ends, [math.ceil(x + scale / 4) for x in ends.pop("highest")]


def outlets(names, every):
    return {name: {"every": every, "of": "outlet", "cap": name} for name in names}


D, SPEED = 16, 0.01
ENDS, CELLS = made("vessel", D)
CAPS = {"inlet": {"center": ENDS["inlet"], "velocity": {"mean": SPEED, "ramp": 500}}, "outlet": {"center": ENDS["outlet"], "pressure": 0}}
BENT = {
    "domain": {"cells": CELLS}, "fluid": {"viscosity": SPEED * D / 5}, "faces": {"x": "wall", "y": "wall", "z": "wall"},
    "bodies": {"vessel": {"mesh": {"file": "vessel.stl", "scale": D, "fluid": "inside"}, "caps": CAPS}},
    "run": {"steps": 6000}, "check": {"hang": "none"},
    "output": {"log": {"every": 0}, "series": outlets(CAPS, 6000), "fields": {"end": {"every": 6000, "of": ["velocity", "density"]}}}}


def axis():
    """Of the leg before the outlet: away from it, by the file's triangles of its end, whose normals are along it."""
    with open("vessel.stl", "rb") as file:
        data = numpy.frombuffer(file.read()[84:], [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])["corners"].astype(float)
    last = data[-48:]
    normals = numpy.cross(last[:, 1] - last[:, 0], last[:, 2] - last[:, 0]).sum(axis=0)
    return normals / numpy.linalg.norm(normals)


def profile(name, flow):
    """Rms of rho u along the axis against Poiseuille's, relative to the peak; two diameters before the outlet."""
    field = runs.snapshots(name)["end_0000006000.vtkhdf"]
    u, rho, t = field["velocity"].astype(float), field["density"].astype(float), axis()
    z, y, x = numpy.indices(rho.shape) + 0.5
    from_end = numpy.stack([x, y, z], axis=-1) - ENDS["outlet"]
    along = from_end @ t
    r = numpy.linalg.norm(from_end - along[..., None] * t, axis=-1)
    there = (abs(along + 2 * D) < D / 4) & (r < D / 2) & (u != 0).any(axis=-1)
    peak = 2 * flow / (math.pi * D * D / 4)
    return numpy.sqrt(((rho[there] * (u[there] @ t) / peak - (1 - (2 * r[there] / D)**2))**2).mean()), int(there.sum())


for wall, lost, rms in (("halfway", 1e-4, 0.02), ("interpolated", 0.01, 0.004)):
    vessel = BENT["bodies"]["vessel"] | {"wall": wall}
    if not runs.run(wall, BENT | {"bodies": {"vessel": vessel}}):
        continue
    flow = {name: float(table(wall, name)["mass_flow"][-1]) for name in CAPS}
    given = SPEED * math.pi * D * D / 4
    check(abs(-flow["inlet"] / given - 1) < 1e-5, f"{wall}: {-flow['inlet']:.8g} comes in, of {given:.8g} given")
    check(abs(flow["outlet"] / given - 1) < lost, f"{wall}: {flow['outlet']:.8g} leaves, {1 - flow['outlet'] / given:.2e} is lost")
    found, cells = profile(wall, flow["outlet"])
    check(found < rms and cells > 1000, f"{wall}: the profile is Poiseuille's to {found:.4f} of its peak, in {cells} cells")
short = BENT | {"run": {"steps": 600}}
runs.run("short", short)
runs.run("cut", short, ranks=3)
tagflow("run", write("half.yaml", json.dumps(BENT | {"run": {"steps": 250}})), "--output", "half")
tagflow("run", "short.yaml", "--output", "half", "--restart", "auto", ranks=2)
check(states("short") == states("cut") == states("half"), "the same state on one rank, on three, and after a restart on two")

# Scalars at the caps of a straight tube, 37.5 cells long.
tube("capped.stl", 3.2, 40.7)
FILL = {"scalars": {"s": {"value": 1}}}


def filled(name, scalar, inlet, outlet, steps=11000, ranks=None, **more):
    """A tube whose inlet and outlet are these caps; what its series have, and the fields of the end."""
    every = {"every": 1 if steps < 20000 else steps, "scalar": "s"}
    text = {"domain": {"cells": [44, 20, 20]}, "fluid": {"viscosity": 0.05}, "faces": BENT["faces"], "check": {"hang": "none"},
            "solver": {"storage": "fp64", "arithmetic": "fp64"}, "scalars": {"s": {"diffusivity": 0.05} | scalar}, "run": {"steps": steps},
            "bodies": {"vessel": {"mesh": {"file": "capped.stl", "scale": 1, "fluid": "inside"}, "caps": {
                "inlet": {"center": [3.2, 10.2, 9.9]} | inlet, "outlet": {"center": [40.7, 10.2, 9.9]} | outlet}}},
            "output": {"log": {"every": 0}, "fields": {"end": {"every": steps, "of": "s", "precision": "fp64"}}, "series": {
                "room": every | {"of": "scalar"}, "in": every | {"of": "heat", "cap": "inlet"}, "out": every | {"of": "heat", "cap": "outlet"}}}}
    runs.run(name, text | more, ranks=ranks)
    return {series: table(name, series) for series in ("room", "in", "out")}


# Filled with the value of the inlet, which is the reference: to rounding. What comes in, less what goes out, is what stays.
IN = {"velocity": {"mean": 0.04} | FILL}
BACK = {"velocity": {"mean": -0.04, "scalars": {"s": "outflow"}}}
LIMITED = {"diffusivity": 2e-3, "limiter": "on"}
for name, scalar, inlet, outlet in (
        ("filled", {}, IN, {"pressure": 0}), ("filled_limited", LIMITED, IN, {"pressure": 0}),
        ("drawn", {}, BACK, {"pressure": {"value": 0} | FILL}), ("drawn_limited", LIMITED, BACK, {"pressure": {"value": 0} | FILL})):
    found = filled(name, {"reference": 1, "initial": 0} | scalar, inlet, outlet)
    room, heat = found["room"], found["in"]["heat"] + found["out"]["heat"]
    away = max(abs(room["minimum"][-1] - 1), abs(room["maximum"][-1] - 1))
    check(away < 1e-12 and room["minimum"][0] == 0, f"{name}: the tube is filled to {away:.2g}")
    lost = abs(numpy.diff(room["sum"]) - heat[:-1]).max() / abs(room["sum"]).max()
    check(lost < 1e-13, f"{name}: what comes in less what goes out is what stays, to {lost:.2g} of it")
# With another reference: as much as the flow carries; it expands by half a percent on its way.
for limiter, diffusivity in (("none", 0.02), ("on", 2e-3)):
    found = filled("carried_" + limiter, {"limiter": limiter, "diffusivity": diffusivity}, {"velocity": {"mean": 0.005} | FILL}, {"pressure": 0}, 24000)
    given = 0.005 * math.pi * RADIUS**2
    share = [float(found[end]["heat"][-1]) / given for end in ("in", "out")]
    check(abs(share[0] - 1) < 6e-3 and abs(share[0] + share[1]) < 1e-3,
          f"limiter {limiter}: {share[0]:.5f} of the flow rate comes in, {-share[1]:.5f} goes out")
# Without a value what comes in at a pressure cap is as the fluid is.
found = filled("plain", {"initial": 0.3}, BACK, {"pressure": 0}, 600)
check(abs(found["room"]["mean"][-1] - 0.3) < 0.01, f"as the fluid is: {found['room']['mean'][-1]}")
VARIES = {"velocity": {"mean": 0.02, "scalars": {"s": {"value": 1, "sine": {"period": 70, "mean": 1, "amplitude": 0.3}}}}}
parts = {"scalar": {"limiter": "on", "diffusivity": 0.01}, "inlet": VARIES, "outlet": {"pressure": {"value": 0} | FILL}}
for name, steps, more in (("vary", 300, {}), ("vary_level", 60, {"refine": {"near": {"around": "vessel", "distance": 4, "level": 1}}})):
    room = filled(name, steps=steps, **parts, **more)["room"]
    check(0 < room["mean"][-1] and -1e-12 < room["minimum"][-1] and room["maximum"][-1] < 1.31, f"{name}: {room[-1]}")
    filled(name + "_cut", steps=steps, ranks=3, **parts, **more)
    filled(name + "_half", steps=steps // 2 + 1, **parts, **more)
    tagflow("run", name + ".yaml", "--output", name + "_half", "--restart", "auto", ranks=2)
    hashes = [load(run, "report.json")["hashes"] for run in (name, name + "_cut", name + "_half")]
    check(hashes[0] == hashes[1] == hashes[2] and "s" in hashes[0], f"{name}: the same on one rank, on three, and after a restart on two: {hashes}")

# An aorta with a pulse.
PERIOD = 2000
ENDS, CELLS = made("aorta", 12)
PULSE = {
    "domain": {"cells": CELLS}, "fluid": {"viscosity": 0.05}, "faces": BENT["faces"],
    "bodies": {"aorta": {"mesh": {"file": "aorta.stl", "scale": 12, "fluid": "inside"}, "caps": {
        name: {"center": end} | ({"velocity": {"mean": 0.015, "sine": {"period": PERIOD, "mean": 1, "amplitude": 0.6}}} if name == "inlet" else
                                 {"pressure": 0}) for name, end in ENDS.items()}}},
    "run": {"steps": 3 * PERIOD}, "check": {"hang": "none"}, "output": {"log": {"every": 0}, "series": outlets(ENDS, 10)}}
if runs.run("aorta", PULSE):
    flows = {name: table("aorta", name)["mass_flow"] for name in ENDS}
    means = [{name: flow[first:first + PERIOD // 10].mean() for name, flow in flows.items()} for first in (1 + PERIOD // 10, 1 + 2 * PERIOD // 10)]
    for period in means:
        check(abs(sum(period.values())) < 1e-3 * -period["inlet"], f"over a period as much goes in as out: {period}")
    check(all(abs(means[0][name] / means[1][name] - 1) < 1e-3 for name in ENDS), "the flow repeats")
    check(min(-flows["inlet"][200:]) < 0.5 * max(-flows["inlet"][200:]), "it pulsates")
    share = sum(float(table("aorta", name)["share"][-1]) for name in ENDS)
    check(abs(share - 1) < 1e-9, f"the shares add up to {share}")
runs.run("thin", PULSE | {"fluid": {"viscosity": 0.001}, "run": {"steps": 3000}})

# What cannot be.
def bent(caps, **more):
    return BENT | {"output": {}, "bodies": {"vessel": BENT["bodies"]["vessel"] | {"caps": caps} | more}}


ENDS, CELLS = made("vessel", D)
IN, OUT, INK = CAPS["inlet"], CAPS["outlet"], {"scalars": {"s": {"diffusivity": 0.1}}}
for name, wrong, text in (
        ("two", case(bodies=vessels() | {"other": {"mesh": MESH}}), "bodies.other: fluid: inside is given for vessel, too"),
        ("none", case(bodies=vessels(center=[16, 10.2, 400])), "outside of the box"),
        ("full", case(bodies=vessels(scale=8, center=[16, 10, 10])), "its mesh holds the whole box"),
        ("far", bent({"inlet": IN | {"center": [60, 4, 4]}, "outlet": OUT}), "inlet.center: the surface of the mesh is "),
        ("same", bent({"inlet": IN, "outlet": OUT | {"center": IN["center"]}}), "caps.outlet is the same flat part of the surface as inlet"),
        ("what", bent({"inlet": {"center": IN["center"]}, "outlet": OUT}), "caps.inlet does not say what holds there"),
        ("both", bent({"inlet": IN | {"pressure": 0}, "outlet": OUT}), "is both velocity and pressure"),
        ("speed", bent({"inlet": IN | {"velocity": {"profile": "flat"}}, "outlet": OUT}), "how fast?"),
        ("fast", bent({"inlet": IN | {"velocity": {"mean": 0.1}}, "outlet": OUT}), "Mach"),
        ("shut", bent({"inlet": IN}), "the velocities that the caps give bring"),
        ("outside", BENT | {"bodies": {"vessel": {"mesh": {"file": "vessel.stl", "scale": D}, "caps": CAPS}}}, "mesh: {fluid: inside}"),
        ("edge", bent({name: cap | {"center": [cap["center"][0] - 12, *cap["center"][1:]]} for name, cap in CAPS.items()},
                      mesh=BENT["bodies"]["vessel"]["mesh"] | {"min": [-8, 4, 4]}), "it must lie in the box"),
        ("levels", BENT | {"refine": {"all": {"around": "vessel", "distance": 9, "level": 1}}}, "leave no fluid cell of level 0"),
        ("heat", BENT | {"scalars": {"t": {"kind": "heat", "diffusivity": 0.1}}},
         "bodies.vessel.caps.inlet.velocity.scalars.t is missing, the value of the fluid that comes in"),
        ("leaves", bent({"inlet": IN | {"velocity": {"mean": 0.01, "scalars": {"s": "outflow"}}}, "outlet": OUT}) | INK, "does not point out"),
        ("flux", bent({"inlet": IN | {"velocity": {"mean": 0.01, "scalars": {"s": {"flux": 1}}}}, "outlet": OUT}) | INK, "unknown key"),
        ("heights", bent({"inlet": IN | {"velocity": {"mean": 0.01, "scalars": {"s": {"value": {"height": {"file": "a.csv", "axis": "x"}}}}}},
                          "outlet": OUT}) | INK, "s.value is a map; expected a number"),
        ("other", bent({"inlet": IN | {"velocity": {"mean": 0.01} | FILL}, "outlet": OUT | {"pressure": {"value": 0, "scalars": {"u": {"value": 1}}}}}) | INK, "there is no scalar 'u'"),
        ("gradient", bent({name: cap | {"pressure": 0} for name, cap in (("inlet", {"center": ENDS["inlet"]}), ("outlet", OUT))}) |
         {"scalars": {"s": {"diffusivity": 0.1, "gradient": [0, 0, 0.1]}}, "faces": BENT["faces"] | {"z": "periodic"}}, "no opening goes with a gradient"),
        ("series", BENT | {"output": {"series": {"s": {"every": 10, "of": "outlet", "cap": "side"}}}}, "there is no cap 'side'"),
        ("closed", BENT | {"output": {}, "bodies": {"vessel": {"mesh": BENT["bodies"]["vessel"]["mesh"]}}}, "")):
    said = tagflow("check", write(name + ".yaml", json.dumps(wrong)))
    check(said.code == (2 if text else 0) and text in said.err, f"{name}: {said}")
    if name == "closed":
        check("[lumen_closed]" in said.out, f"nothing drives it: {said.out}")
runs.finish()
