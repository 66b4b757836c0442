#!/usr/bin/python3
"""scripts/render.py: pictures of a small run have the body, colours, axes and bar where they belong; animations; errors.

Skipped without Debian's python3-vtk9, or where there is neither a display nor Xvfb. Movies are left out without ffmpeg.
"""
import os
import re
import shutil
import subprocess
import sys

try:
    import vtkmodules.vtkCommonCore  # noqa: F401
except ImportError as error:
    print(f"skipped: no VTK ({error}): apt install python3-vtk9")
    sys.exit(77)

import matplotlib.image
import numpy

import runs
from runs import ROOT, check, tagflow, tree, write

if not os.environ.get("DISPLAY") and not shutil.which("Xvfb"):
    runs.skip("neither a display nor Xvfb (apt install xvfb)")

# A bar of square cross-section in a stream, three-dimensional.
write("case.yaml", """\
units:   {dx: 20 mm, dt: 1 ms, density: 1 kg/m3}
domain:  {cells: [40, 20, 16]}
fluid:   {viscosity: 0.02}
initial: {flow: uniform, velocity: [0.04, 0, 0]}
faces:
  xmin: {velocity: {value: [0.04, 0, 0]}}
  xmax: pressure
  y: slip
  z: periodic
bodies:  {block: {shape: {box: {from: [10, 6, 4], to: [16, 14, 12]}}}}
run:     {steps: 200}
output:
  log: {every: 0}
  series: {flow: {every: 10, of: kinetic_energy}}
  fields: {main: {every: 100, of: [velocity, density]}, p: {every: 200, of: pressure}}
  averages: {mean: {every: 5, of: velocity, from: 100}}
""")
said = tagflow("run", "case.yaml", "--output", "run")
if not check(said.code == 0, f"a run: {said}"):
    runs.finish()
said = tagflow("run", "case.yaml", "--output", "flat", "--set", "domain.cells=[40, 20, 1]", "--set", "run.steps=100", "--set",
               "bodies.block.shape.box.from=[10, 6, -1]", "--set", "bodies.block.shape.box.to=[16, 14, 2]", "--set", "units={dx: 20 mm}")
check(said.code == 0, f"one of a single layer, in lattice units: {said}")
said = tagflow("run", "case.yaml", "--output", "refined", "--set", "run.steps=20", "--set", "refine={block: {level: 1, box: {from: [4, 0, 0], to: [28, 20, 16]}}}",
               "--set", "output.fields={main: {every: 10, of: [velocity, tags, vorticity], precision: fp64}, low: {every: 20, of: velocity, levels: 0}}",
               "--set", "output.averages.mean.from=10", "--set", "bodies.block.shape.box={from: [10, 6, 4], to: [16, 14, 12]}")
check(said.code == 0, f"one on a refined grid: {said}")


# Scalars: a bar that conducts heat and gives off a dye, 42 cells long, so that the last value of a stride of 4 is a cell before the end.
SCALARS = {"domain.cells": "[42, 20, 16]", "units": "{dx: 20 mm, dt: 1 ms, density: 1 kg/m3, heat_capacity: 1000 J/kg/K}", "scalars": "{body_heat: {kind: heat, "
           "diffusivity: 0.05, reference: 293 K}, dye: {kind: species, diffusivity: 0.05}}", "bodies.block.scalars": "{body_heat: {conduct: {conductivity: 0.4, source: 0.1}}, dye: {value: 1}}",
           "faces.xmin.velocity.scalars": "{body_heat: {value: 293 K}, dye: {value: 0}}", "output.fields": "{main: {every: 200, of: [velocity, body_heat, dye]}, heat: {every: 200, "
           "of: body_heat}, thin: {every: 200, of: [velocity, body_heat], stride: 4}, part: {every: 200, of: velocity, stride: 5, region: {from: [8, 0, 0], to: [39, 20, 16]}}}",
           "output.averages.mean": "{every: 5, of: [velocity, stress, body_heat], from: 100}"}
said = tagflow("run", "case.yaml", "--output", "warm", *runs.sets(SCALARS))
check(said.code == 0, f"one with scalars: {said}")


def render(*arguments, env=None):
    return subprocess.run([ROOT + "/scripts/render.py", *map(str, arguments)], capture_output=True, text=True, timeout=runs.HANGS,
                          stdin=subprocess.DEVNULL, env={k: v for k, v in os.environ.items() if k != "DISPLAY"} |
                          {"PYTHONDONTWRITEBYTECODE": "1"} | (env or {}))


def picture(what, *arguments):
    """[y, x, 3] colours, the first row on top; None if there is none."""
    said = render(*arguments, "--output", "x.png")
    if not check(said.returncode == 0 and not said.stderr and said.stdout.startswith("x.png: "), f"{what}: {said.returncode} {said.stdout}{said.stderr[-300:]}"):
        return None
    image = matplotlib.image.imread("x.png")[..., :3]
    os.remove("x.png")
    return image


def near(image, color, by=0.06):
    return (abs(image - numpy.array(color)) < by).all(axis=-1)


def frame_of(image):
    """left, right, top, bottom of the frame: the darkest long lines."""
    dark = (image.max(axis=2) < 0.2)
    across = numpy.flatnonzero(dark.sum(axis=0) > 0.9 * dark.sum(axis=0).max())
    down = numpy.flatnonzero(dark.sum(axis=1) > 0.9 * dark.sum(axis=1).max())
    return across[0], across[-1], down[0], down[-1]


GREY = (0.62,) * 3
full = picture("a slice", "run")
if full is not None:
    # The box is 40 x 20 cells in the frame.
    left, right, top, bottom = frame_of(full)
    cell = (right - left) / 40
    check(abs((bottom - top) / cell - 20) < 0.1, f"the frame has the shape of the box: a cell has {cell:.2f} pixels")
    rows, columns = numpy.nonzero(near(full, GREY, 0.01)[top + 3:bottom - 2, left + 3:right - 2])
    rows, columns = rows + top + 3, columns + left + 3
    found = [(columns.min() - left) / cell, (columns.max() - left) / cell, (bottom - rows.max()) / cell, (bottom - rows.min()) / cell]
    check(numpy.allclose(found, [10, 16, 6, 14], atol=0.25), f"the body is grey and where it is, in cells: {numpy.round(found, 2)}")
    outside = full[:, right + 5:]
    colored = (outside.max(axis=2) - outside.min(axis=2)) > 0.15
    check(colored.any(axis=1).sum() > 0.5 * (bottom - top), "a bar of colours is beside it")
    bar = outside[colored.any(axis=1)]
    ends = [bar[k][(bar[k].max(axis=1) - bar[k].min(axis=1)) > 0.15].mean(axis=0) for k in (3, -4)]
    check(numpy.allclose(ends, numpy.array([(253, 231, 37), (68, 1, 84)]) / 255, atol=0.06),
          f"from the highest to the lowest colour {numpy.round(ends, 2).tolist()}")
    beyond, rows = colored.any(axis=0).nonzero()[0].max() + 3, colored.any(axis=1).nonzero()[0]
    dark = outside[rows[0] - 3:rows[-1] + 4, beyond].max(axis=1) < 0.5
    stubs = numpy.flatnonzero(dark[1:] & ~dark[:-1])
    check(len(stubs) == 5 and numpy.ptp(numpy.diff(stubs)) <= 2, f"with five ticks {stubs}")
for what, arguments in (("pressure", ["--of", "pressure", "--axis", "y"]), ("vorticity by the velocity", ["--of", "vorticity_z"]),
                        ("streamlines in it", ["--streamlines", "--at", "0.1", "--range", "0,2", "--size", "400x300"]),
                        ("an average", ["--fields", "mean", "--axis", "x", "--at", "0.1"]), ("a title", ["--title", "any $words$ é", "--step", "100"])):
    image = picture(what, "run", "slice", *arguments)
    check(image is None or len(numpy.unique((image * 20).astype(int).reshape(-1, 3), axis=0)) > 20, f"{what}: many colours")
image = picture("a single layer", "flat", "--streamlines")
check(image is not None and near(image, GREY, 0.01).sum() > 1000, "with its body")
shapes = {}
for kind, more in (("streamlines", []), ("vortices", []), ("pores", ["--count", "30"]), ("vortices", ["--level", "1", "--view=0,0,1"])):
    image = picture(f"{kind} {' '.join(more)}", "run", kind, "--size", "500x400", *more)
    if image is not None:
        plain = (image.max(axis=2) - image.min(axis=2)) < 0.03
        solid = plain & (image.max(axis=2) > 0.25) & (image.max(axis=2) < 0.9)
        shapes[kind] = (~plain[:, :380]).sum(), solid[:, :380].sum()
        check(image.shape[:2] == (400, 500) and shapes[kind][0] > 300 and solid.sum() > 100, f"{kind}: coloured pixels and grey ones: {shapes[kind]}")

# Arrows, in a plane where there is fluid, and in space; surfaces of scalars.
image, without = picture("arrows in a slice", "run", "--arrows"), picture("the same without", "run")
if image is not None and without is not None:
    left, right, top, bottom = frame_of(without)
    cell, inner = (right - left) / 40, (slice(top + 3, bottom - 2), slice(left + 3, right - 2))
    differ = (abs(image - without) > 0.1).any(axis=2)[inner]
    body = differ[round(7 * cell):round(13 * cell), round(11 * cell):round(15 * cell)]
    # 40 pixels apart: each has its place, and its dark pixels are more along than across it.
    dark = near(image, (0.15, 0.15, 0.17))[inner] & differ
    tiles = dark[:, :round(5 * cell)]  # in the stream ahead of the body
    wide, high = (numpy.diff(numpy.flatnonzero(numpy.diff(tiles.any(axis=k).astype(int)) != 0))[::2].mean() for k in (0, 1))
    check(differ.sum() > 2000 and not body.any() and wide > 1.2 * high, f"arrows along the stream, none in the body: {differ.sum()} pixels, {wide:.1f} x {high:.1f}")
for what, arguments in (("arrows in space", ["arrows", "--colors", "dye"]), ("a surface of a scalar", ["isosurface", "--of", "dye", "--level", "0.2"]),
                        ("a surface of the speed, coloured by heat", ["isosurface", "--colors", "body_heat"]), ("streamlines with the colours of a scalar", ["streamlines", "--colors", "dye"]),
                        ("a surface of a component", ["isosurface", "--of", "vorticity_z", "--level", "0.05"])):
    image = picture(what, "warm", *arguments, "--size", "500x400")
    check(image is None or ((image.max(axis=2) - image.min(axis=2))[:, :380] > 0.1).sum() > 300, f"{what}: has colours")
ends = []
for more in ([], ["--celsius"]):
    said = render("warm", "--of", "body_heat", "--output", "x.png", *more)
    ends.append([float(n) for n in re.findall(r"body_heat ([-0-9.e+]+) to ([-0-9.e+]+)", said.stdout)[0]])
    os.remove("x.png")
check(abs(ends[0][0] - ends[1][0] - 273.15) < 0.11 and abs(ends[0][1] - ends[1][1] - 273.15) < 0.11 and ends[1][1] > ends[1][0], f"temperatures in K and degC: {ends}")

# Scalars and other arrays, by their names: a body that conducts has its own colours, hotter than all fluid; one that only gives a value is grey.
for what, arguments, grey in (("heat", ["--of", "body_heat"], False), ("heat alone in its file", ["--of", "body_heat", "--fields", "heat"], False), ("dye", ["--of", "dye"], True),
                              ("the mean heat", ["--of", "body_heat", "--fields", "mean"], False), ("its variance", ["--of", "body_heat_variance"], True),
                              ("a vector of an average", ["--of", "body_heat_flux"], True), ("a stress", ["--of", "reynolds_stress_xy"], True)):
    image = picture(what, "warm", *arguments)
    if image is None:
        continue
    left, right, top, bottom = frame_of(image)
    cell = (right - left) / 42
    inner = image[top + 3:bottom - 2, left + 3:right - 2]
    body = inner[round(8 * cell):round(12 * cell), round(11 * cell):round(15 * cell)]
    check((near(body, GREY, 0.01).all() if grey else (body[..., 0].mean() > inner[..., 0].mean() + 0.2 and not near(inner, GREY, 0.01).any())) and
          len(numpy.unique((inner * 20).astype(int).reshape(-1, 3), axis=0)) > 10, f"{what}: the body is {'grey' if grey else 'coloured'}")
# With a stride the picture is the box, or the region, from end to end.
for what, arguments, cells in (("a stride", ["--fields", "thin", "--of", "body_heat"], (42, 20)), ("a stride in a region", ["--fields", "part"], (31, 20)), ("across x", ["--fields", "thin", "--axis", "x", "--at", 0.835], (20, 16))):
    image = picture(what, "warm", *arguments, "--size", "500x400")  # the bar of colours is clearly shorter than the frame
    if image is not None:
        left, right, top, bottom = frame_of(image)
        check(abs((right - left) / (bottom - top) / (cells[0] / cells[1]) - 1) < 0.01, f"{what}: the frame has the shape of {cells[0]} x {cells[1]} cells: {(right - left) / (bottom - top):.3f}")
image = picture("a stride in space", "warm", "vortices", "--fields", "thin", "--size", "300x200")

# A refined grid: cells of 1 outside 4 < x < 28, of 1/2 inside.
image, plain = picture("edges of levels", "refined", "--fields", "main", "--edges"), picture("without them", "refined", "--fields", "main")
if image is not None and plain is not None:
    left, right, top, bottom = frame_of(image)
    cell = (right - left) / 40
    check(image.shape == plain.shape and abs((bottom - top) / cell - 20) < 0.1, f"a refined grid: a cell of level 0 has {cell:.2f} pixels")
    white = (image.min(axis=2) > 0.9)[top + 3:bottom - 2, left + 3:right - 2]
    lines = numpy.flatnonzero(white.sum(axis=0) > 0.9 * len(white)) + left + 3
    check(len(lines) <= 4 and numpy.allclose([(lines.min() - left) / cell, (lines.max() - left) / cell], [4, 28], atol=0.15) and
          not (plain.min(axis=2) > 0.9)[top + 3:bottom - 2, left + 3:right - 2].any(), f"lines where levels end, in cells: {numpy.round((lines - left) / cell, 2)}")
    rows, columns = numpy.nonzero(near(image, GREY, 0.01)[top + 3:bottom - 2, left + 3:right - 2])
    found = [(columns.min() + 3) / cell, (columns.max() + 3) / cell, (bottom - top - rows.max() - 3) / cell, (bottom - top - rows.min() - 3) / cell]
    check(numpy.allclose(found, [10, 16, 6, 14], atol=0.25), f"and the body where it is: {numpy.round(found, 2)}")
image = picture("vortices of a refined grid", "refined", "vortices", "--fields", "main", "--cells", "0", "--size", "300x200")
sys.path[:0] = [ROOT + "/scripts", ROOT + "/python/src"]
sys.dont_write_bytecode = True
import render as drawing
import tagflow as package

every = package.open_run("refined").fields["main"][-1]
for axis, at in (("z", 0.17), ("y", 0.05)):
    stored, place = drawing.quantity_plane(every, "vorticity_" + axis, axis, at)
    found = drawing.in_plane(every, axis, at, lambda part, known, at: drawing.curl_plane(part, known, axis, axis, at))[0]
    levels, fluid = every.plane_levels(axis, at), every.fluid_plane(axis, at)
    far = numpy.ones_like(fluid)  # differences of the run end at levels and walls
    for k, by in ((k, by) for k in (0, 1) for by in range(-6, 7)):
        far &= numpy.roll(levels, by, k) == levels
        far &= numpy.roll(fluid, by, k)
    far[:6], far[-6:], far[:, :6], far[:, -6:] = False, False, False, False
    error = abs(found - stored)[far].max() / abs(stored[far]).max()
    check(error < 1e-9 and {0, 1} == set(numpy.unique(levels[far])), f"the curl of the velocity across {axis} is that of the run: {far.sum()} cells, off by {error:.1e}")
ramp = numpy.arange(6.0)[:, None, None] + 10 * numpy.arange(4.0)[:, None] + 100 * numpy.arange(3.0)
fine = drawing.doubled(ramp, 3)
places = [numpy.arange(2 * n) / 2 - 0.25 for n in ramp.shape]
expected = places[0][:, None, None] + 10 * places[1][:, None] + 100 * places[2]
inner = (slice(1, -1),) * 3
known = numpy.ones(ramp.shape, bool)
known[2:4, 1] = False
check(numpy.allclose(fine[inner], expected[inner]) and (drawing.derivative(ramp, 0, 0.5, known)[known] == numpy.where(known, 2, 0)[known]).all() and
      fine.shape == (12, 8, 6), "coarser cells are drawn linear; differences take cells of the level")

spin = numpy.zeros((3, 4, 5, 3))
spin[..., 0], spin[..., 1], spin[..., 2] = -2.0 * 0.5 * numpy.arange(4)[:, None], 3.0 * 0.5 * numpy.arange(5), 0.25 * numpy.arange(4)[:, None]
check(numpy.allclose(drawing.curl(spin, [0.5] * 3, None), [0.5, 0, 5.0]), "the curl of a turning flow in space")

# Animations: frames or a movie, whose colours are the same.
no_ffmpeg = {"PATH": os.path.abspath("tools")}
os.makedirs("tools")
for program in ("Xvfb", "python3", "env"):
    if shutil.which(program):
        os.symlink(shutil.which(program), "tools/" + program)
said = render("run", "--animate", "--size", "200x100", "--output", "flow.gif", env=no_ffmpeg)
check(said.returncode == 0 and "no ffmpeg" in said.stdout and tree("flow_frames") == [f"frame_{k:04d}.png" for k in range(3)] and not os.path.exists("flow.gif"),
      f"without ffmpeg the frames stay: {said.stdout}{said.stderr[-200:]}")
if shutil.which("ffmpeg"):
    for ending, head in ((".gif", b"GIF8"), (".webm", b"\x1aE\xdf\xa3")):
        said = render("run", "vortices", "--animate", "--size", "201x151", "--output", "flow" + ending)
        check(said.returncode == 0 and "3 pictures of main, steps 0 to 200" in said.stdout and open("flow" + ending, "rb").read(4) == head,
              f"a movie {ending}: {said.stdout}{said.stderr[-200:]}")
else:
    print("left out: movies (no ffmpeg)")

# What cannot be drawn.
os.makedirs("empty")
before = tree()
for arguments, words in [
        ([], ["RUN"]), (["nowhere"], ["nowhere", "no such folder"]), (["empty"], ["no run of tagflow"]), (["run", "slyce"], ["slyce"]),
        (["run", "--of", "speeed"], ["speeed", "there are main (density, velocity)"]), (["warm", "--of", "reynolds_stress"], ["choose a component", "reynolds_stress_xx"]),
        (["warm", "--of", "velocity_w"], ["no snapshots with velocity_w"]), (["warm", "--fields", "thin", "--axis", "x", "--at", "0.845"], ["outside the box", "0 to 0.84"]), (["run", "--step", "150"], ["no snapshot of step 150", "nearest"]), (["run", "--at", "3"], ["outside the box"]),
        (["run", "--fields", "man"], ["did you mean mean?"]), (["run", "--fields", "p"], ["no snapshots with velocity", "p (pressure)"]),
        (["run", "--range", "2,1"], ["below the second"]), (["run", "--range", "a"], ["2 numbers"]), (["run", "--size", "5x5"], ["100x100"]),
        (["run", "--output", "x.gif"], [".png"]), (["run", "--animate", "--output", "x.png"], [".gif, .webm or .mp4"]),
        (["run", "--output", "nowhere/x.png"], ["no such folder"]), (["flat", "streamlines"], ["one cell thick"]),
        (["run", "--edges"], ["has one level"]), (["run", "--cells", "0"], ["has one level"]), (["refined", "--fields", "main", "--cells", "2"], ["no level 2"]),
        (["refined", "--fields", "low", "--edges"], ["has one level"]), (["refined", "vortices", "--edges"], ["only a slice"]), (["run", "--at", "0.16", "--axis", "x", "--of", "vorticity_z"], ["vorticity_x alone"]), (["run", "vortices", "--level", "1e9"], ["--level 1e+09: Q is between"]),
        (["warm", "isosurface", "--of", "dye", "--level", "9"], ["--level 9: dye is between"]), (["warm", "arrows", "--colors", "die"], ["die", "did you mean dye?"]),
        (["warm", "isosurface", "--of", "smoke"], ["no snapshots with smoke"]), (["run", "arrows", "--count", "0"], ["not a whole number from 1"])]:
    said = render(*arguments)
    check(said.returncode == 2 and said.stderr.startswith("render: ") and said.stderr.count("\n") == 1 and all(word in said.stderr for word in words) and not said.stdout,
          f"render {' '.join(arguments)}: {said.returncode} {said.stderr.strip()[-200:]}")
check(tree() == before, f"and nothing was written {sorted(set(tree()) - set(before))}")
os.remove("tools/Xvfb") if os.path.lexists("tools/Xvfb") else None
said = render("run", "--output", "x.png", env=no_ffmpeg)
check(said.returncode in (0, 1) and (said.returncode == 0 or "apt install xvfb" in said.stderr) and said.stderr.count("\n") == said.returncode,
      f"without a display and Xvfb: {said.returncode} {said.stderr.strip()[-200:]}")
said = render("run", "--output", "x.png", env={"DISPLAY": ":987"})
check(said.returncode == 0 and os.path.isfile("x.png"), f"with a display that is not there: {said.stderr.strip()[-200:]}")

runs.finish()
