#!/usr/bin/python3
"""Pressure and shear stress on surfaces: exact where the flow is known, together the force that links measure, the same on
any number of ranks and after restarts; files that h5py and VTK read; and what is refused.
"""
import json
import math
import os
import struct
import subprocess
import sys

import numpy

if len(sys.argv) > 2:  # VTK may end the process where it fails
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader
    reader = vtkHDFReader()
    reader.SetFileName(sys.argv[1])
    can = reader.CanReadFile(sys.argv[1])
    reader.Update()
    grid = reader.GetOutput()
    data = grid.GetCellData()
    arrays = {data.GetArray(k).GetName(): vtk_to_numpy(data.GetArray(k)) for k in range(data.GetNumberOfArrays())}
    ids = [[grid.GetCell(k).GetPointId(c) for c in range(3)] for k in range(grid.GetNumberOfCells())]
    numpy.savez(sys.argv[2], points=vtk_to_numpy(grid.GetPoints().GetData()), triangles=numpy.array(ids), **arrays)
    print(json.dumps({"can": can, "class": grid.GetClassName(), "types": sorted({grid.GetCellType(k) for k in range(grid.GetNumberOfCells())})}))
    sys.exit()

import h5py

import runs
from runs import check, load, sets, tagflow, write


def stl(triangles):
    """A binary STL file of [triangle][corner][axis], counterclockwise from outside."""
    return bytes(80) + struct.pack("<I", len(triangles)) + b"".join(
        bytes(12) + numpy.asarray(t, "<f4").tobytes() + b"\0\0" for t in triangles)


def box(lo, hi):
    corners = numpy.array([[(lo, hi)[k >> a & 1][a] for a in range(3)] for k in range(8)], float)
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return [corners[list(t)] for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]


def ball(times):
    """Triangles of a ball of radius 1, an octahedron's divided into four so often."""
    x, y, z = numpy.eye(3)
    found = [(sx * x, sy * y, sz * z) if sx * sy * sz > 0 else (sy * y, sx * x, sz * z)
             for sx in (1, -1) for sy in (1, -1) for sz in (1, -1)]
    for _ in range(times):
        middles = [(a, b, c, *((p + q) / numpy.linalg.norm(p + q) for p, q in ((a, b), (b, c), (c, a)))) for a, b, c in found]
        found = [t for a, b, c, ab, bc, ca in middles for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    return numpy.array(found)


def run(folder, case, settings=(), ranks=0, restart=None):
    said = tagflow("run", case, "--output", folder, *(["--restart", restart] if restart else []), *sets(dict(settings)), ranks=ranks)
    check(said.code == 0 and not said.errors, f"{folder}: {said}")
    return said


def read(path):
    with h5py.File(path) as file:
        f = file["VTKHDF"]
        check(f.attrs["Type"] == b"UnstructuredGrid" and list(f.attrs["Version"]) == [1, 0] and (f["Types"][...] == 5).all() and
              f["NumberOfPoints"][0] == len(f["Points"]) and f["NumberOfCells"][0] == len(f["Types"]) and
              (f["Offsets"][...] == 3 * numpy.arange(len(f["Types"]) + 1)).all() and f["NumberOfConnectivityIds"][0] == len(f["Connectivity"]) and
              {"case", "step", "version"} <= set(file["provenance"].attrs), f"{path}: its form")
        return f["Points"][...], f["Connectivity"][...].reshape(-1, 3), {name: f["CellData"][name][...] for name in f["CellData"]}


def areas(points, triangles):
    """Of triangles, as vectors out of the body."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return numpy.cross(b - a, c - a) / 2


def table(folder, name):
    return numpy.genfromtxt(f"{folder}/series/{name}.csv", delimiter=",", names=True)


# Between a plate and a lid the shear stress is the same everywhere; half-way walls and linear flow are exact.
write("plate.stl", stl(box((0, 0, 0), (8, 4, 6))))
write("couette.yaml", """\
units:   {dx: 2 mm, dt: 1 ms, density: 1000 kg/m3}
domain:  {cells: [8, 12, 6]}
fluid:   {viscosity: 0.2, velocity: 0.05, length: 8}
solver:  {storage: fp64}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.02]}}, z: periodic}
bodies:  {plate: {mesh: {file: plate.stl}, velocity: [0.01, 0, 0]}}
run:     {steps: 1500}
checkpoint: {every: 700}
output:
  log: {every: 0}
  surfaces:
    skin: {every: 700, body: plate, of: [pressure, shear_stress], precision: fp64}
    less: {every: 1000, body: plate, of: shear_stress}
  series: {ring: {every: 500, of: surface, body: plate, points: 8, axis: z}}
""")
said = run("couette", "couette.yaml")
check([name for name in runs.tree("couette/fields")] == [f"{name}_{step:010d}.vtkhdf" for name, steps in (("less", (0, 1000, 1500)), ("skin", (0, 700, 1400, 1500)))
                                                         for step in steps], "couette: files when they are due, and at the end")
points, triangles, values = read("couette/fields/skin_0000001500.vtkhdf")
check(numpy.allclose(points.max(axis=0), [16e-3, 8e-3, 12e-3]) and len(triangles) == 12 and values["pressure"].dtype == "f8", "couette: the mesh in m")
middle = points[triangles].mean(axis=1)
top = middle[:, 1] > 7.9e-3
mu = 1000 * 0.2 * 2e-3**2 / 1e-3
want = mu * numpy.array([0.05 - 0.01, 0, 0.02]) * 2 / (8 * 2e-3)
error = abs(values["shear_stress"][top] - want).max() / want.max()
check(top.sum() == 2 and error < 1e-11 and abs(values["pressure"][top]).max() < 1e-11 * 4000, f"couette: the stress on the plate, error {error:.2g}")
check(numpy.isnan(values["shear_stress"][~top]).all() and numpy.isnan(values["pressure"][~top]).all(), "couette: nothing where there is no fluid")
less = read("couette/fields/less_0000001500.vtkhdf")[2]
check(list(less) == ["shear_stress"] and less["shear_stress"].dtype == "f4" and numpy.allclose(less["shear_stress"][top], want), "couette: in single precision")
ring = table("couette", "ring")
last = ring[ring["step"] == 1500]
up = last[last["angle"] == 90]
check(len(last) == 8 and abs(up["shear_x"][0] / want[0] - 1) < 1e-11 and abs(up["y"][0] - 8e-3) < 1e-15 and numpy.isnan(last["pressure"][last["angle"] == 0]).all(),
      "couette: the ring's point on top has it, too")
few = {"run.steps": 40, "output.surfaces.skin.every": 15, "output.series.ring.every": 10}
run("few", "couette.yaml", few)
run("few3", "couette.yaml", few, ranks=3)
check(not runs.differences(runs.results("few"), runs.results("few3")), "couette: on three ranks the same")
run("cut", "couette.yaml", {"run.steps": 900})
run("cut", "couette.yaml", restart="auto")
whole = runs.results("couette")
check(not {name for name in runs.differences(whole, runs.results("cut")) if "0000000900" not in name}, "couette: ended and gone on, the same")

# A ball in a stream: pressure and shear, added up, are the force of momentum exchange.
write("ball.stl", stl(ball(4)))
write("ball.yaml", """\
domain:  {cells: [44, 32, 32]}
fluid:   {reynolds: 8, velocity: 0.04, length: 12}
solver:  {storage: fp64}
initial: {flow: inlet}
faces:   {xmin: {velocity: {value: [0.04, 0, 0]}}, xmax: pressure, y: slip, z: periodic}
bodies:  {ball: {mesh: {file: ball.stl, scale: 6, center: [18.3, 16.1, 15.7]}, wall: interpolated}}
run:     {steps: 1600}
checkpoint: {every: 0}
output:
  log: {every: 0}
  surfaces: {skin: {every: 800, body: ball, of: [pressure, shear_stress]}}
  series:
    drag: {every: 100, of: forces, body: ball, area: 113.1}
    mesh: {every: 800, of: surface, body: ball, points: 24}
    tilt: {every: 800, of: surface, body: ball, points: 12, axis: x, point: [18.3, 18, 15.7], velocity: 0.05}
""")
run("ball", "ball.yaml")
points, triangles, values = read("ball/fields/skin_0000001600.vtkhdf")
area = areas(points, triangles)
drag = table("ball", "drag")[-1]
pressure = -(values["pressure"][:, None] * area).sum(axis=0)
viscous = (values["shear_stress"] * numpy.linalg.norm(area, axis=1)[:, None]).sum(axis=0)
wanted = drag["pressure_x"], drag["force_x"] - drag["pressure_x"]
errors = pressure[0] / wanted[0] - 1, viscous[0] / wanted[1] - 1
check(not numpy.isnan(values["pressure"]).any() and (area * (points[triangles].mean(axis=1) - [18.3, 16.1, 15.7])).sum(axis=1).min() > 0,
      "ball: a value on every triangle")
# With 12 cells across, while sound still goes to and fro: -5 to +7 % of either, 1 to 4 % of the sum.
check(max(map(abs, errors)) < 0.09 and abs((pressure + viscous)[0] / drag["force_x"] - 1) < 0.06 and
      abs((pressure + viscous)[1:]).max() < 0.01 * drag["force_x"],
      f"ball: pressure {errors[0]:+.2%} and shear {errors[1]:+.2%} of the force of momentum exchange")
normal = area / numpy.linalg.norm(area, axis=1)[:, None]
check(abs((values["shear_stress"] * normal).sum(axis=1)).max() < 1e-6 * abs(values["shear_stress"]).max(), "ball: shear stresses lie in the surface")

run("some", "ball.yaml", {"run.steps": 20})
run("some2", "ball.yaml", {"run.steps": 20}, ranks=2)
check(not runs.differences(runs.results("some"), runs.results("some2")), "ball: on two ranks the same")

# The same ball as a shape: rings agree.
run("shape", "ball.yaml", {"bodies.ball": {"shape": {"sphere": {"center": [18.3, 16.1, 15.7], "radius": 6}}, "wall": "interpolated"}, "output.surfaces": {}})
for name in "mesh", "tilt":
    one, other = table("ball", name), table("shape", name)
    one, other = one[one["step"] == 1600], other[other["step"] == 1600]
    far = max(abs(one[k] - other[k]).max() for k in "xyz")
    off = abs(one["c_p"] - other["c_p"]).max() / abs(other["c_p"]).max()
    check(far < 0.03 and off < 0.05 and (one["angle"] == numpy.arange(len(one)) * 360 / len(one)).all(),
          f"{name}: ring of the mesh and of the shape, {far:.3f} cells and {off:.1%} of the pressure apart")
ring = table("shape", "mesh")
ring = ring[ring["step"] == 1600]
radius = [math.dist(p, (18.3, 16.1, 15.7)) for p in zip(ring["x"], ring["y"], ring["z"])]
check(max(abs(r - 6) for r in radius) < 1e-9 and ring["z"].std() < 1e-12, "the ring lies on the ball, across the axis through its middle")
check(abs(ring["pressure"] / ring["c_p"] / (0.5 * 0.04**2) - 1).max() < 1e-12 and ring["c_p"].argmax() == 12 and 1 < ring["c_p"].max() < 6,
      f"c_p at the front is {ring['c_p'].max():.3f}, where the ring's angle is 180")
tilt = table("shape", "tilt")
check(abs(tilt["pressure"] / tilt["c_p"] / (0.5 * 0.05**2) - 1)[12:].max() < 1e-12 and tilt["x"].std() < 1e-12 and
      abs(tilt["y"][0] - 16.1 - 6) < 1e-9 and abs(tilt["z"][3] - 15.7 - math.sqrt(36 - 1.9**2)) < 1e-9, "a ring about another point, across x: y, then z")

# A surface that turns with the fluid around it, as a rigid body, is under no stress.
run("turning", "ball.yaml", {
    "domain.cells": [32, 32, 1], "faces": {"x": "wall", "y": "wall", "z": "periodic"}, "initial": {"flow": "rest"}, "run.steps": 6000, "output.surfaces": {},
    "fluid": {"viscosity": 0.3, "velocity": 0.01, "length": 8},
    "bodies": {"drum": {"shape": {"difference": {"all": {"box": {"from": [-9, -9, -9], "to": [40, 40, 9]}},
                                                 "hole": {"cylinder": {"center": [16, 16, 0.5], "radius": 14}}}},
                        "rotation": {"rate": [0, 0, 0.002], "about": [16, 16, 0]}, "wall": "interpolated"},
               "core": {"shape": {"cylinder": {"center": [16, 16, 0.5], "radius": 5}}, "rotation": {"rate": [0, 0, 0.002], "about": [16, 16, 0]},
                        "wall": "interpolated"}},
    "output.series": {"ring": {"every": 6000, "of": "surface", "body": "core", "points": 16}}})
last = table("turning", "ring")[-16:]
shear = numpy.hypot(last["shear_x"], last["shear_y"]).max() / (0.3 * 0.002)
# Samples leave solid cells out: an error of 0.05 of the surface's velocity over a cell, here 5 cells times the rate. Without
# the rigid body's part the stress would be 1.
check(shear < 0.4, f"turning: the stress is {shear:.2g} of viscosity times rate")
check(run("none", "ball.yaml", {"run.steps": 1, "output.series": {"r": {"every": 1, "of": "surface", "body": "ball", "points": 4, "point": [40, 16, 16]}},
                                                           "output.surfaces": {}}).err.count("warning: series r: 3 of 4 rays from (40, 16, 16) do not meet ball") == 1,
      "rays that miss the body are warned of")

# VTK.
try:
    import vtkmodules.vtkIOHDF  # noqa: F401
    process = subprocess.run([sys.executable, os.path.abspath(__file__), "ball/fields/skin_0000001600.vtkhdf", "vtk.npz"], capture_output=True, text=True,
                             timeout=runs.HANGS)
    good = check(process.returncode == 0 and not process.stderr.strip(), f"VTK reads it {process.stderr.strip()[-300:]}")
    if good:
        found = numpy.load("vtk.npz")
        check(json.loads(process.stdout) == {"can": 1, "class": "vtkUnstructuredGrid", "types": [5]} and (found["triangles"] == triangles).all() and
              numpy.allclose(found["points"], points) and runs.same_bits({k: found[k] for k in values}, values), "VTK: triangles, points and values")
except ImportError:
    print("left out: VTK (apt install python3-vtk9)")

# What is refused.
before = runs.tree()
SHAPE = {"bodies.ball": {"shape": {"sphere": {"center": [20, 20, 20], "radius": 7}}}}
write("voxels.raw", bytes(8) + b"\1" * 19)
VOXELS = {"bodies.ball": {"image": {"file": "voxels.raw", "size": [3, 3, 3], "solid": [1], "at": [10, 10, 10]}}, "output.surfaces": {}}
before = runs.tree()
for settings, words in [
        (SHAPE, "output.surfaces.skin.body: ball is no mesh, so it has no triangles"),
        ({"output.surfaces.skin.body": "bal"}, "there is no body 'bal' (for example ball)"), ({"output.surfaces.skin.of": "velocity"}, "'velocity' is none of pressure, shear_stress"),
        ({"output.surfaces.skin": {"every": 5, "body": "ball"}}, "output.surfaces.skin.of is missing"), ({"output.fields.skin": {"every": 5, "of": "tags"}}, "the same name"),
        ({"output.averages.skin": {"every": 5, "of": "velocity"}}, "output.averages.skin have the same name"),
        ({"output.series.mesh": {"every": 5, "of": "surface", "body": "ball"}}, "output.series.mesh.points, which of: surface needs, is missing"),
        ({"output.series.mesh.area": 3}, "area has no effect with of: surface, only with of: forces"), ({"output.series.mesh.points": 1}, "2 to 100000"),
        ({"output.series.mesh.point": [1, 2, 99]}, "outside the box"), (VOXELS, "is made of voxels"), ({"output.series.drag.points": 9}, "only with of: line or surface"),
        ({"output.series.mesh.statistics": {"from": 3}}, "with of: surface, which has many rows"),
        ({"run.stop": {"of": "mesh.pressure", "change": 1, "over": 200}}, "mesh is a surface, which has a value at each")]:
    said = tagflow("run", "ball.yaml", "--output", "none2", *sets(settings))
    check(said.code == 2 and len(said.errors) == 1 and words in said.errors[0] and runs.tree() == before, f"{settings}: {said}")
said = tagflow("check", "--verbose", "ball.yaml")
# 2048 triangles of 4 numbers in float32, 3 corners and an offset of 8 bytes and a type; 1026 points
check("output: surfaces.skin: 3 files of 125 kB, 374.9 kB in all" in said.out, f"check: {said.out[-900:]}")

runs.finish()
