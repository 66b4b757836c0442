#!/usr/bin/python3
"""Snapshots as VTK reads them: geometry, arrays and values to the bit, those of flows that are known, and a picture.

Skipped without Debian's python3-vtk9. The picture needs a display or xvfb-run, and is left out without.
"""
import json
import math
import os
import shutil
import subprocess
import sys

import numpy

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkVersion
    from vtkmodules.vtkIOHDF import vtkHDFReader
except ImportError as error:
    print(f"skipped: no VTK ({error}): apt install python3-vtk9")
    sys.exit(77)

# Pixels of the picture, and the colours (red, green, blue) at 0 and at the wall's speed.
WIDTH, HEIGHT = 240, 160
SLOW, FAST, GROUND = (0, 0, 1), (1, 0, 0), (0, 1, 0)


def draw(path, picture, highest):
    """A picture of the plane z of the middle cell, looked at along -z: velocity along x from 0 to highest, over the ground."""
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401 (registers what the classes below are made of)
    from vtkmodules.vtkCommonCore import vtkLookupTable
    from vtkmodules.vtkFiltersGeometry import vtkImageDataGeometryFilter
    from vtkmodules.vtkIOImage import vtkPNGWriter
    from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow, vtkWindowToImageFilter

    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    nx, ny, nz = reader.GetOutput().GetDimensions()
    plane = vtkImageDataGeometryFilter()
    plane.SetInputConnection(reader.GetOutputPort())
    plane.SetExtent(0, nx - 1, 0, ny - 1, nz // 2, nz // 2)
    colors = vtkLookupTable()
    colors.SetNumberOfTableValues(256)
    for k in range(256):
        colors.SetTableValue(k, *(a + (b - a) * k / 255 for a, b in zip(SLOW, FAST)), 1)
    colors.SetVectorModeToComponent()
    colors.SetVectorComponent(0)
    colors.SetTableRange(0, highest)
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(plane.GetOutputPort())
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SelectColorArray("velocity")
    mapper.SetLookupTable(colors)
    mapper.UseLookupTableScalarRangeOn()
    mapper.InterpolateScalarsBeforeMappingOn()
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().LightingOff()
    renderer = vtkRenderer()
    renderer.SetBackground(*GROUND)
    renderer.AddActor(actor)
    # The plane fills the picture from top to bottom but for a twentieth on either side.
    _, _, low, high, _, _ = actor.GetBounds()
    camera = renderer.GetActiveCamera()
    camera.ParallelProjectionOn()
    renderer.ResetCamera()
    camera.SetParallelScale((high - low) / 2 / 0.9)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(WIDTH, HEIGHT)
    window.AddRenderer(renderer)
    window.Render()
    pixels = vtkWindowToImageFilter()
    pixels.SetInput(window)
    pixels.ReadFrontBufferOff()
    writer = vtkPNGWriter()
    writer.SetInputConnection(pixels.GetOutputPort())
    writer.SetFileName(picture)
    writer.Write()


def read(path):
    """What VTK finds in a snapshot: a dictionary, and {array: values} with (z, y, x[, component])."""
    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    data = image.GetPointData()
    values = {}
    for k in range(data.GetNumberOfArrays()):
        array = data.GetArray(k)
        shape = image.GetDimensions()[::-1] + ((array.GetNumberOfComponents(),) if array.GetNumberOfComponents() > 1 else ())
        values[array.GetName()] = vtk_to_numpy(array).reshape(shape)
    return {"can": reader.CanReadFile(path), "class": image.GetClassName(), "dimensions": image.GetDimensions(),
            "spacing": image.GetSpacing(), "origin": image.GetOrigin(), "bounds": image.GetBounds(),
            "types": {data.GetArray(k).GetName(): data.GetArray(k).GetDataTypeAsString() for k in range(data.GetNumberOfArrays())},
            }, values


# VTK may end the process where it fails, so reading and drawing are done in another.
if len(sys.argv) > 2:
    if sys.argv[1] == "draw":
        draw(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    else:
        found, arrays = read(sys.argv[2])
        numpy.savez(sys.argv[3], **arrays)
        print(json.dumps(found))
    sys.exit()

import runs
from runs import check, same_bits, snapshots, tagflow, write


def read_apart(path):
    """read() in a process of its own, which may die."""
    process = subprocess.run([sys.executable, os.path.abspath(__file__), "read", path, "arrays.npz"], capture_output=True,
                             text=True, timeout=runs.HANGS)
    if not check(process.returncode == 0 and not process.stderr.strip(),
                 f"{path}: VTK {vtkVersion.GetVTKVersion()} reads it {process.stderr.strip()[-300:]}"):
        return None, {}
    with numpy.load("arrays.npz") as arrays:
        return json.loads(process.stdout), dict(arrays)


def near(a, b, relative=1e-14):
    return all(math.isclose(x, y, rel_tol=relative, abs_tol=1e-300) for x, y in zip(a, b, strict=True))


def check_snapshots(folder, cells, dx, types):
    """All of a run; {file: arrays} as VTK finds them."""
    out = {}
    for name, expected in snapshots(folder).items():
        found, arrays = read_apart(os.path.join(folder, "fields", name))
        if not found:
            continue
        check(found["can"] == 1 and found["class"] == "vtkImageData" and found["dimensions"] == cells, f"it has {cells} points")
        check(near(found["spacing"], [dx] * 3) and near(found["origin"], [dx / 2] * 3) and
              near(found["bounds"], [end for n in cells for end in (dx / 2, (n - 0.5) * dx)]),
              f"{dx} apart, the first {dx / 2} from the box's corner")
        check(found["types"] == types, f"arrays and types: {found['types']}")
        check(same_bits(arrays, expected), "values are those that h5py reads, to the bit")
        out[name] = arrays
    return out


# Taylor-Green vortices at step 0, in a box with three different sides, in physical units and double precision: known values.
cells, dx, dt, density, amplitude = (24, 20, 14), 0.002, 0.001, 1.2, 0.05
write("vortices.yaml", """\
units:   {dx: 2 mm, dt: 1 ms, density: 1.2 kg/m3}
domain:  {cells: [24, 20, 14]}
fluid:   {viscosity: 0.05}
solver:  {storage: fp64}
initial: {flow: taylor_green_2d, amplitude: 0.05}
faces:   {x: periodic, y: periodic, z: periodic}
run:     {steps: 3}
output:
  fields: {all: {every: 3, of: [velocity, density, pressure, tags], precision: fp64}}
""")
said = tagflow("run", "vortices.yaml", "--output", "vortices", ranks=3)
check(said.code == 0, f"Taylor-Green vortices on 3 ranks: {said}")
found = check_snapshots("vortices", list(cells), dx, {"density": "double", "pressure": "double", "tags": "unsigned char",
                                                      "velocity": "double"})
x, y = (2 * math.pi * (numpy.arange(n) + 0.5) / n for n in cells[:2])
ratio = cells[1] / cells[0]  # of the wave numbers along x and y
u = numpy.zeros(cells[::-1] + (3,))
u[..., 0] = -amplitude * numpy.cos(x) * numpy.sin(y)[:, None]
u[..., 1] = amplitude * ratio * numpy.sin(x) * numpy.cos(y)[:, None]
rise = -0.75 * amplitude**2 * (numpy.cos(2 * x) + ratio**2 * numpy.cos(2 * y)[:, None]) * numpy.ones((cells[2], 1, 1))
if "all_0000000000.vtkhdf" in found:
    first, last = found["all_0000000000.vtkhdf"], found["all_0000000003.vtkhdf"]
    # What a sum over 19 populations rounds.
    for name, expected, error in (("velocity", u * dx / dt, 1e-15 * dx / dt), ("density", density * (1 + rise), 1e-15),
                                  ("pressure", density * rise / 3 * (dx / dt)**2, 1e-15 * (dx / dt)**2)):
        off = abs(first[name] - expected).max()
        check(off < error, f"step 0: {name} is that of the vortices, to {off:.1e} (below {error:.1e})")
    check(0 < abs(last["velocity"] - first["velocity"]).max() < 0.1 * amplitude * dx / dt,
          "step 3: the vortices have decayed a little")
    check((first["tags"] == first["tags"][0, 0, 0]).all(), "all cells are fluid")

# Couette flow between walls, single precision: a straight line after 3.5 H^2 / nu steps.
cells, top = (18, 10, 6), 0.04
write("couette.yaml", """\
units:  {dx: 0.5 m, dt: 0.01 s}
domain: {cells: [18, 10, 6]}
fluid:  {viscosity: 0.2}
faces:
  x: periodic
  ymin: wall
  ymax: {wall: {velocity: [0.04, 0, 0]}}
  z: periodic
run:    {steps: 1750}
output:
  fields: {main: {every: 1750, of: velocity}}
""")
said = tagflow("run", "couette.yaml", "--output", "couette", ranks=4)
check(said.code == 0, f"Couette flow on 4 ranks: {said}")
found = check_snapshots("couette", list(cells), 0.5, {"velocity": "float"})
highest = top * 0.5 / 0.01
if "main_0000001750.vtkhdf" in found:
    expected = numpy.zeros(cells[::-1] + (3,))
    expected[..., 0] = (highest * (numpy.arange(cells[1]) + 0.5) / cells[1])[:, None]
    off = abs(found["main_0000001750.vtkhdf"]["velocity"] - expected).max() / highest
    check(off < 1e-5, f"the profile is a straight line, to {off:.1e} of the wall's velocity (below 1e-5)")

# A picture of it: colours from slow at the bottom to fast at the top, the right way up, and the ground around.
display = ["env"] if os.environ.get("DISPLAY") else ["xvfb-run", "-a"] if shutil.which("xvfb-run") else None
if display is None:
    print("left out: the picture (neither DISPLAY nor xvfb-run: apt install xvfb xauth)")
    runs.finish()
picture = os.environ.get("TAGFLOW_PICTURE", "picture.png")
process = subprocess.run(display + [sys.executable, os.path.abspath(__file__), "draw",
                                    "couette/fields/main_0000001750.vtkhdf", picture, str(highest)], capture_output=True, text=True, timeout=runs.HANGS)
if check(process.returncode == 0 and os.path.isfile(picture), f"VTK draws it {process.stderr.strip()[-300:]}"):
    import matplotlib.image
    image = matplotlib.image.imread(picture)[::-1, :, :3]  # from the bottom
    check(image.shape == (HEIGHT, WIDTH, 3), f"a picture of {image.shape[1]} x {image.shape[0]} pixels")
    middle = image[:, WIDTH // 2]
    rows = numpy.flatnonzero(abs(middle - GROUND).max(axis=1) > 0.1)
    check(abs(len(rows) / HEIGHT - 0.9) < 0.02 and numpy.array_equal(rows, numpy.arange(rows[0], rows[-1] + 1)) and
          abs(image[[0, 0, -1, -1], [0, -1, 0, -1]] - GROUND).max() < 0.01,
          f"the plane covers {len(rows)} of its rows, and the ground is seen around")
    # Points are the cells' centres: half a cell of the gap is missing at either end.
    part = (0.5 + (cells[1] - 1) * (numpy.arange(len(rows)) + 0.5) / len(rows)) / cells[1]
    off = abs(middle[rows] - (numpy.outer(1 - part, SLOW) + numpy.outer(part, FAST))).max()
    check(off < 0.03, f"and its colours are those of the profile, to {off:.3f}")

runs.finish()
