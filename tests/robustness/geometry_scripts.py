#!/usr/bin/python3
"""scripts/permeability.py, make_mesh.py and make_rock.py: what they make, and one line where they cannot."""
import os
import re
import subprocess

import numpy

import runs
from runs import check, load, write

# Its permeability is the same along all axes.
PACK = """\
domain:  {cells: [12, 12, 12]}
fluid:   {viscosity: 0.1}
solver:  {storage: fp64, arithmetic: fp64}
faces:   {x: periodic, y: periodic, z: periodic}
bodies:  {pack: {shape: {pack: {length: 12, share: 0.2, center: [6, 6, 6]}}}}
run:     {steps: 4000, stop: {of: permeability, change: 1e-4, every: 100}}
output:  {series: {k: {every: 100, of: permeability, axis: x}}}
"""
write("pack.yaml", PACK)
write("endless.yaml", re.sub(r", stop: .*", "}", PACK).replace("4000", "100"))


def script(name, *arguments):
    return subprocess.run([os.path.join(runs.ROOT, "scripts", name), *arguments], capture_output=True, text=True,
                          timeout=runs.HANGS, env=os.environ | {"TAGFLOW": runs.TAGFLOW})


def table(said):
    """Rows of the table at the end, by axis."""
    return {row[0]: row[1:] for row in map(str.split, said.stdout.splitlines()) if len(row) == 6 and row[0] in list("xyz")}


# 1e-6 has more digits here than a short number would keep.
FORCE = "1.23456789e-06"
first = script("permeability.py", "pack.yaml", "--acceleration", FORCE)
rows = table(first)
if check(first.returncode == 0 and list(rows) == ["x", "y", "z"], f"three directions: {first}"):
    found = [load(f"pack_{axis}", "report.json")["permeability"]["cells2"] for axis in "xyz"]
    check(max(found) - min(found) <= 1e-9 * found[0] and found[0] > 1, f"a cubic pack has one permeability: {found}")
    check([float(rows[a][0]) for a in "xyz"] == [float(f"{k:.6g}") for k in found], f"the table holds them: {rows}")
    for k, axis in enumerate("xyz"):
        force = ", ".join(FORCE if a == k else "0" for a in range(3))
        resolved = open(f"pack_{axis}/case.yaml").read()
        check(f"acceleration: [{force}]" in resolved, f"{axis} is driven along {axis}, by the number that was given")
    again = script("permeability.py", "pack.yaml", "--acceleration", FORCE)
    check(again.returncode == 0 and table(again) == rows, f"started again, it goes on from what there is: {again}")
one = script("permeability.py", "pack.yaml", "--axes", "y", "--output", "one", "--", "--set", "fluid.viscosity=0.2")
check(one.returncode == 0 and list(table(one)) == ["y"] and "viscosity: 0.2" in open("one_y/case.yaml").read(),
      f"one direction, and options of tagflow: {one}")


def refuses(words, code, name, *arguments):
    """Ends so, its last line says that, and no line is Python's."""
    said = script(name, *arguments)
    lines = said.stderr.splitlines() or [""]
    check(said.returncode == code and words in lines[-1] and "Traceback" not in said.stderr,
          f"{name} {' '.join(arguments)}: exit status {said.returncode}, {lines[-1]}")


refuses("none: No such file or directory (--tagflow says what to start)", 1, "permeability.py", "pack.yaml",
        "--tagflow", "none")
refuses("--tagflow: what to start", 2, "permeability.py", "pack.yaml", "--tagflow", "")
refuses("--acceleration nan: a number other than 0", 2, "permeability.py", "pack.yaml", "--acceleration", "nan")
refuses("--acceleration 0.0: a number other than 0", 2, "permeability.py", "pack.yaml", "--acceleration", "0")
refuses("--axes w: letters x, y, z", 2, "permeability.py", "pack.yaml", "--axes", "w")
refuses("pack2.yaml: No such file", 2, "permeability.py", "pack2.yaml")
refuses("the case has no run.stop of permeability", 1, "permeability.py", "endless.yaml")
if os.path.exists("pack_z/report.json"):
    os.remove("pack_z/report.json")
    again = script("permeability.py", "pack.yaml", "--acceleration", FORCE, "--axes", "z")
    check(again.returncode == 0 and table(again).get("z") == rows.get("z") and "it is not taken as ended" in again.stderr,
          f"a report that was lost is written again: {again}")

said = script("make_mesh.py", "horn.stl")
with open("horn.stl", "rb") as made, open(os.path.join(runs.ROOT, "configs", "horn.stl"), "rb") as kept:
    check(made.read() == kept.read(), f"make_mesh.py makes configs/horn.stl: {said}")
said = script("make_mesh.py", "car.stl", "--shape", "car")
with open("car.stl", "rb") as made, open(os.path.join(runs.ROOT, "configs", "car.stl"), "rb") as kept:
    data = made.read()
    check(data == kept.read(), f"and configs/car.stl: {said}")
corners = numpy.frombuffer(data[84:], [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])["corners"].astype(float)
points = [[tuple(point) for point in triangle] for triangle in corners]
edges = [(triangle[k], triangle[(k + 1) % 3]) for triangle in points for k in range(3)]
check(len(edges) == len(set(edges)) and {(b, a) for a, b in edges} == set(edges),
      f"the car's {len(points)} triangles are a closed surface: each edge is in two, once each way")
volume = (numpy.cross(corners[:, 0], corners[:, 1]) * corners[:, 2]).sum() / 6
low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
check(0.5 < volume / (4.4 * 1.8 * 1.53) < 0.8 and numpy.allclose(low, [0, -0.9, 0], atol=1e-6) and numpy.allclose(high, [4.4, 0.9, 1.53], atol=1e-6),
      f"seen from outside, {volume:.3f} m3 between {low} and {high}")
check({tuple(point) for point in corners.reshape(-1, 3)} == {(x, -y, z) for x, y, z in corners.reshape(-1, 3)}, "its left is as its right")
refuses("--around has no effect on a car", 2, "make_mesh.py", "car.stl", "--shape", "car", "--around", "5")
refuses("invalid choice: 'bus'", 2, "make_mesh.py", "car.stl", "--shape", "bus")
refuses("none/horn.stl: No such file or directory", 1, "make_mesh.py", "none/horn.stl")
refuses("--bend: -360 to 360", 2, "make_mesh.py", "horn.stl", "--bend", "nan")
refuses("at least 3 points around it", 2, "make_mesh.py", "horn.stl", "--around", "2")

said = script("make_rock.py", "rock.raw", "--size", "16", "12", "8", "--radius", "2", "4")
labels = numpy.fromfile("rock.raw", numpy.uint8)
check(said.returncode == 0 and labels.size == 16 * 12 * 8 and set(labels) == {0, 1, 2}, f"make_rock.py: {said}")
for options, wanted, words in (("--size 64 --porosity 0.2", 0.2, ""), ("--size 32 --porosity 0.4", 0.4, ""), ("--size 24 --porosity 0.93", 0.93, ""),
                               ("--size 48 32 24 --porosity 0.1 --radius 3 5", 0.1, ""), ("--size 64", 0.285, ""),
                               ("--size 16 --porosity 0.1 --noise 5", 0.1, "instead of 0.1: the noise makes pores")):
    said = script("make_rock.py", "rock.raw", *options.split())
    labels = numpy.fromfile("rock.raw", numpy.uint8)
    share = (labels == 0).mean()
    check(said.returncode == 0 and (abs(share - wanted) <= 0.005) == (not words) and words in said.stderr and bool(words) == bool(said.stderr),
          f"spheres, {options}: porosity {share:.4f} {said.stderr}")
    if options == "--size 64":
        check(labels.tobytes() == open(runs.ROOT + "/configs/rock.raw", "rb").read(), "by default it is configs/rock.raw")
FIELD = ("--kind", "field", "--size", "48", "40", "32", "--porosity", "0.4", "--length", "4", "1.5", "1.5", "--tilt", "90")
said, again = script("make_rock.py", "field.raw", *FIELD), script("make_rock.py", "again.raw", *FIELD)
labels = numpy.fromfile("field.raw", numpy.uint8).reshape(32, 40, 48)
check(said.returncode == 0 and (labels == 0).sum() == round(0.4 * labels.size) and set(labels.ravel()) == {0, 1} and
      open("field.raw", "rb").read() == open("again.raw", "rb").read(), f"a field: exactly its porosity, the same again: {said}")
changes = [(labels != numpy.roll(labels, 1, axis)).mean() for axis in (2, 1, 0)]
check(changes[0] > 1.5 * changes[1] and changes[2] > 1.5 * changes[1] and abs(changes[0] / changes[2] - 1) < 0.2,
      f"long along x, turned by 90 degrees to y: surface across x, y, z {changes}")
check(abs((labels[:, :, 0] != labels[:, :, -1]).mean() / changes[0] - 1) < 0.3, "and it repeats")
said = script("make_rock.py", "field.raw", "--kind", "field", "--size", "64", "--length", "3")
labels = numpy.fromfile("field.raw", numpy.uint8).reshape(64, 64, 64)
chord = [(labels == 0).sum() / ((labels == 0) & (numpy.roll(labels, 1, axis) == 1)).sum() / 3 for axis in range(3)]
check(all(2.7 < length < 3.5 for length in chord), f"its pores are 3.1 lengths wide: {chord}")
refuses("--length and --tilt have no effect on spheres (--kind field)", 2, "make_rock.py", "rock.raw", "--tilt", "3")
refuses("--length: one number or three, 0.5 to 1000", 2, "make_rock.py", "rock.raw", "--kind", "field", "--length", "1", "2")
refuses("none/rock.raw: No such file or directory", 1, "make_rock.py", "none/rock.raw", "--size", "8")
refuses("--porosity: 0.05 to 1", 2, "make_rock.py", "rock.raw", "--porosity", "0")
runs.finish()
