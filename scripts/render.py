#!/usr/bin/python3
"""Draws pictures of a run's fields by VTK, off the screen: slices, streamlines, arrows, surfaces, vortices, pores, and animations of them.

    scripts/render.py RUN                                  the middle plane across z, coloured by speed
    scripts/render.py RUN slice --axis y --of pressure --streamlines
    scripts/render.py RUN slice --of temperature           any array of the snapshot: a scalar, a component (NAME_x, NAME_xy)
    scripts/render.py RUN slice --edges                    of a refined grid, with the edges of its levels
    scripts/render.py RUN slice --arrows                   with arrows of the velocity in the plane
    scripts/render.py RUN streamlines                      around the bodies, in perspective
    scripts/render.py RUN arrows --colors temperature      arrows of the velocity in space, coloured by a scalar
    scripts/render.py RUN isosurface --of temperature --level 40    where a quantity has a value, coloured by speed
    scripts/render.py RUN vortices                         iso-surface of the Q-criterion, coloured by speed
    scripts/render.py RUN pores                            streamlines through a rock, whose surface is translucent
    scripts/render.py RUN slice --animate --output flow.gif

RUN is the folder of a run with output.fields that have velocity (or output.averages). Solid cells are grey; those that hold a scalar have
its colours. Lengths are in m, mm or um, or in cells in a run without units; --at is in m or cells. Temperatures are in degC with --celsius, and
where the run's own images of the scalar are, else in K. --animate draws all snapshots with the same colours; ffmpeg makes a .gif, .webm or .mp4 of them.
Without ffmpeg the pictures stay in a folder. No display is needed where Xvfb is installed. Of a refined grid the finest cell there is
is drawn; in space in cells of the finest level that has at most 8 million in the whole box, or of level --cells.
"""
import argparse
import atexit
import ctypes
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

try:
    import numpy
    import vtkmodules.vtkInteractionStyle  # noqa: F401 (registers parts of the classes below)
    import vtkmodules.vtkRenderingFreeType  # noqa: F401
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonCore import vtkFloatArray, vtkLookupTable, vtkPoints, vtkVersion
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkImageData, vtkPolyData, vtkRectilinearGrid
    from vtkmodules.vtkFiltersCore import vtkClipPolyData, vtkContourFilter, vtkFlyingEdges3D, vtkGlyph3D, vtkTubeFilter
    from vtkmodules.vtkFiltersFlowPaths import vtkEvenlySpacedStreamlines2D, vtkStreamTracer
    from vtkmodules.vtkFiltersGeometry import vtkRectilinearGridGeometryFilter
    from vtkmodules.vtkFiltersModeling import vtkOutlineFilter
    from vtkmodules.vtkFiltersSources import vtkArrowSource
    from vtkmodules.vtkIOImage import vtkPNGWriter
    from vtkmodules.vtkRenderingCore import (vtkActor, vtkActor2D, vtkPolyDataMapper, vtkPolyDataMapper2D, vtkRenderer, vtkRenderWindow,
                                             vtkTextActor, vtkWindowToImageFilter)
except ImportError as error:
    print(f"render: needs Python's VTK and numpy ({error}): apt install python3-vtk9 python3-numpy", file=sys.stderr)
    sys.exit(1)

from command_line import Parser, Wrong, check_output, ended, quoted
from svg_chart import linear_axis, with_offset
from tagflow.errors import FileError, no_name
from tagflow.files import write_whole
from tagflow.folder import Run
from tagflow.refined import Refined

PICTURES = ("slice", "streamlines", "arrows", "isosurface", "vortices", "pores")
QUANTITIES = ("speed", "velocity_x", "velocity_y", "velocity_z", "pressure", "density", "vorticity", "vorticity_x", "vorticity_y", "vorticity_z")
COMPONENTS = {3: ("x", "y", "z"), 6: ("xx", "yy", "zz", "xy", "xz", "yz")}
MOVIES = (".gif", ".webm", ".mp4")
# Of quantities, in a run with units and without.
UNITS = {"speed": ("m/s", "cells/step"), "velocity": ("m/s", "cells/step"), "vorticity": ("1/s", "1/step"), "pressure": ("Pa", "lattice units"),
         "density": ("kg/m³", "of the reference")}
# Colours at equal distances: dark to light for magnitudes, blue over white to red for values with a sign.
LIGHTER = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
SIGNED = ((33, 72, 150), (106, 160, 210), (246, 246, 246), (222, 128, 104), (150, 24, 43))
GREY, DARK = (0.62, 0.62, 0.62), (0.15, 0.15, 0.17)
TICKS = 5  # of a colour bar
ICE = 273.15  # K
LONG = 1000  # pixels of a slice's longer side, unless --size says so
FAST = 10  # pictures a second
MOST = 1 << 23  # cells of a refined grid in space
FONT = next(filter(os.path.isfile, (folder + "/DejaVuSans.ttf" for folder in (
    "/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/TTF"))), None)


# ---- the display ----

def display_works():
    """Can a window be made? VTK would end the process if not."""
    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError:
        return True  # VTK draws without it, or says so
    x11.XOpenDisplay.restype = ctypes.c_void_p
    return bool(os.environ.get("DISPLAY")) and bool(x11.XOpenDisplay(None))


def find_display():
    """Starts a display that nobody sees, where there is none and this VTK needs one."""
    if vtkVersion.GetVTKMajorVersion() * 100 + vtkVersion.GetVTKMinorVersion() >= 904 or display_works():
        return
    program = shutil.which("Xvfb")
    if not program:
        print("render: there is no display here, and this VTK needs one: apt install xvfb", file=sys.stderr)
        sys.exit(1)
    read, write = os.pipe()
    server = subprocess.Popen([program, "-displayfd", str(write), "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-noreset"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(write,))
    os.close(write)
    atexit.register(server.wait)
    atexit.register(server.terminate)
    with open(read) as file:
        number = file.readline().strip()
    if not number:
        print("render: Xvfb does not start, and this VTK needs a display", file=sys.stderr)
        sys.exit(1)
    os.environ["DISPLAY"] = ":" + number
    os.environ.pop("WAYLAND_DISPLAY", None)


# ---- values ----

def array_of(snapshot, name):
    """The name of the array: of an average it ends in _mean."""
    return next((word for word in (name, name + "_mean") if word in snapshot), None)


def stored_array(snapshot, quantity):
    """(array, component) of any array of the snapshot, by its name or with a component at the end; (None, None): there is none."""
    for name, component in ((quantity, None), quantity.rpartition("_")[::2]):
        found = array_of(snapshot, name)
        shape = snapshot.stored[found][1] if found else ()
        known = COMPONENTS.get(shape[3], ()) if len(shape) == 4 else ()
        if found and (component is None or component in known):
            return found, component
    return None, None


def words_of(quantity):
    """A quantity as words; other arrays keep their names."""
    return quantity.replace("_", " ") if quantity in QUANTITIES else quantity


def scalar_of(snapshot, quantity):
    """The scalar of the case whose values, or their mean, an array holds, and its keys; (None, {})."""
    scalars = snapshot.case.get("scalars") or {}
    name = next((n for n in (quantity, quantity[:-5]) if n in scalars and quantity in (n, n + "_mean")), None)
    return name, scalars.get(name, {})


def zero_of(snapshot, quantity, celsius):
    """What is subtracted from values of a quantity: of temperatures in degC, else 0."""
    name, keys = scalar_of(snapshot, quantity)
    if keys.get("kind") != "heat":
        return 0.0
    images = snapshot.case.get("output.images") or {}
    return ICE if celsius or any(image.get("of") == name and image.get("unit") == "degC" for image in images.values()) else 0.0


class Source:
    """The snapshots that are drawn, their mask and units."""

    def __init__(self, run, o, needed):
        self.run, self.cells, self.in_space, self.celsius = run, o.cells, o.picture != "slice", o.celsius
        asked, step = o.fields, o.step
        every = {**dict(run.fields), **dict(run.averages)}
        if not every:
            raise Wrong(f"{quoted(run.folder)} has no fields: add output.fields with velocity to the case")
        if asked is not None and asked not in every:
            raise Wrong(no_name("fields", asked, every))
        self.every = every
        good = [name for name in ([asked] if asked else every) if any(stored_array(every[name][-1], n)[0] for n in needed)]
        if not good:
            raise Wrong(f"{quoted(asked or run.folder)}: no snapshots with {' or '.join(needed)}; there are "
                        + ", ".join(f"{name} ({', '.join(every[name][-1].arrays)})" for name in every))
        self.name, self.series = good[0], every[good[0]]
        self.last = self.shown(self.series[-1] if step is None else self.series.at(step))
        self.physical = self.last.physical
        self._solid = {}

    def shown(self, snapshot):
        """The snapshot in the cells that are drawn."""
        if not isinstance(snapshot, Refined):
            if self.cells is not None:
                raise Wrong(f"--cells {self.cells}: {quoted(snapshot.path)} has one level")
            return snapshot
        if self.cells is not None:
            return snapshot.part(self.cells)
        level = snapshot.level
        while self.in_space and level > 0 and math.prod(snapshot.cells) >> 3 * (snapshot.level - level) > MOST:
            level -= 1
        return snapshot.part(level)

    def _known(self, key, fluid, shape):
        """The mask of solid cells. Bodies do not move, so any snapshot that knows will do."""
        if key not in self._solid:
            self._solid[key] = numpy.zeros(shape, dtype=bool)
            for snapshot in (self.last, self.series[-1], self.series[0], *(series[-1] for series in self.every.values())):
                try:
                    found = self.shown(snapshot)
                    if found.cells == self.last.cells and numpy.allclose(found.origin, self.last.origin) and numpy.allclose(found.spacing, self.last.spacing):
                        self._solid[key] = ~fluid(found)
                        break
                except (FileError, Wrong):
                    pass
        return self._solid[key]

    def solid(self):
        """[z, y, x]: is the cell solid?"""
        return self._known(None, lambda snapshot: snapshot.fluid(), self.last.cells[::-1])

    def solid_plane(self, axis, at):
        """The same in a plane of cells."""
        shape = [self.last.cells[k] for k in (2, 1, 0) if k != "xyz".index(axis)]
        return self._known((axis, at), lambda snapshot: snapshot.fluid_plane(axis, at), shape)

    def length(self, longest):
        """The unit in which lengths up to the longest, in m, are numbers that read well, and how many of it are 1 m; ("cells", 1)."""
        if not self.physical:
            return "cells", 1
        return ("m", 1) if longest >= 0.5 else ("mm", 1e3) if longest >= 5e-4 else ("um", 1e6)

    def place(self, value, longest):
        unit, scale = self.length(longest)
        return f"{scale * value:.4g} {unit}"

    def axis(self, name, low, high, longest, about):
        """Ticks of an axis, [(place, text)], and its label."""
        unit, scale = self.length(longest)
        ticks, offset = linear_axis(scale * low, scale * high, about)
        return [(value / scale, words) for value, words in ticks], with_offset(f"{name} [{unit}]", offset)

    def zero(self, quantity):
        return zero_of(self.last, quantity, self.celsius)

    def label(self, quantity):
        """The quantity, and its unit on a second line."""
        unit = self.unit(quantity)
        return words_of(quantity) + (f"\n[{unit}]" if unit else "")

    def unit(self, quantity):
        """As in UNITS, or of an array of the file; empty: not known, or a number."""
        if quantity in QUANTITIES:
            return UNITS[quantity.split("_")[0]][0 if self.physical else 1]
        if scalar_of(self.last, quantity)[0]:
            return "" if scalar_of(self.last, quantity)[1].get("kind") != "heat" else "degC" if self.zero(quantity) else "K"
        unit = self.last.unit(stored_array(self.last, quantity)[0] or quantity)
        return "" if unit in (None, "1") else unit

    def when(self, snapshot):
        return f"step {snapshot.step}" + (f", time {snapshot.time:.6g} s" if self.physical else "")


def filled(values, solid, deep=2):
    """Values in solid cells beside fluid ones are those of their fluid neighbours, so that colours do not fade at walls; so many cells deep."""
    values = numpy.where(solid, 0, values).astype(numpy.float64)
    known = ~solid
    for _ in range(deep):
        if known.all():
            break
        total, count = numpy.zeros_like(values), numpy.zeros(values.shape)
        for axis in range(values.ndim):
            for by in (1, -1):
                to = [slice(None)] * values.ndim
                of = list(to)
                to[axis], of[axis] = (slice(1, None), slice(None, -1)) if by == 1 else (slice(None, -1), slice(1, None))
                total[tuple(to)] += numpy.where(known[tuple(of)], values[tuple(of)], 0)
                count[tuple(to)] += known[tuple(of)]
        new = ~known & (count > 0)
        values[new] = total[new] / count[new]
        known = known | new
    return values


def smoothed(solid):
    """The mask as numbers whose level 0.5 is a surface smoother than that of the cells, with the same cells on either side."""
    found = solid.astype(numpy.float64)
    for axis in range(solid.ndim):
        if solid.shape[axis] > 1:
            padded = numpy.pad(found, [(int(k == axis),) * 2 for k in range(solid.ndim)], mode="edge")
            before, after = (numpy.take(padded, range(start, start + solid.shape[axis]), axis) for start in (0, 2))
            found = (before + 2 * found + after) / 4
    return numpy.where(solid, numpy.maximum(found, 0.55), numpy.minimum(found, 0.45))


def finer(values, factor):
    """Bilinear values in a plane at `factor` points a cell: triangles of few large cells would show."""
    for axis in (0, 1):
        count = values.shape[axis]
        at = numpy.linspace(0, count - 1, (count - 1) * factor + 1)
        low = numpy.minimum(at.astype(int), max(count - 2, 0))
        part = (at - low).reshape((-1, 1) if axis == 0 else (1, -1))
        values = (1 - part) * numpy.take(values, low, axis) + part * numpy.take(values, numpy.minimum(low + 1, count - 1), axis)
    return values


def places_apart(speed, most=40):
    """The fastest cell of each connected part of a plane, the cells of a part all being in motion."""
    left, found = speed > 1e-6 * speed.max(), []
    while left.any() and len(found) < most:
        start = numpy.unravel_index(int(numpy.where(left, speed, 0).argmax()), speed.shape)
        part = numpy.zeros_like(left)
        part[start] = True
        size = 0
        while part.sum() > size:
            size = part.sum()
            for _ in range(8):
                grown = part.copy()
                grown[1:] |= part[:-1]
                grown[:-1] |= part[1:]
                grown[:, 1:] |= part[:, :-1]
                grown[:, :-1] |= part[:, 1:]
                part = grown & left
        left &= ~part
        if size > 8:
            found.append(start)
    return found


def derivative(values, axis, spacing, known=None):
    """Central differences, one-sided at the ends and beside cells that are not known; 0 where there is one cell."""
    if values.shape[axis] < 2:
        return numpy.zeros_like(values)
    if known is None or known.all():
        return numpy.gradient(values, spacing, axis=axis)
    total, count = numpy.zeros_like(values), numpy.zeros(values.shape)
    low, high = ([slice(None)] * values.ndim for _ in range(2))
    low[axis], high[axis] = slice(None, -1), slice(1, None)
    both = known[tuple(low)] & known[tuple(high)]
    step = numpy.where(both, values[tuple(high)] - values[tuple(low)], 0)
    for side in low, high:
        total[tuple(side)] += step
        count[tuple(side)] += both
    return total / numpy.maximum(count, 1) / spacing


def doubled(values, axes):
    """Twice as many cells along the first axes, linear between the centres of the coarser cells."""
    for axis in range(axes):
        padded = numpy.pad(values, [(int(k == axis),) * 2 for k in range(values.ndim)], mode="edge")
        count = values.shape[axis]
        before, after = (numpy.take(padded, range(start, start + count), axis) for start in (0, 2))
        pair = numpy.stack([0.75 * values + 0.25 * before, 0.75 * values + 0.25 * after], axis=axis + 1)
        values = pair.reshape(values.shape[:axis] + (2 * count,) + values.shape[axis + 1:])
    return values


def on_levels(snapshot, read, held):
    """read(snapshot, known): values in its cells. Of a refined grid they are read level by level, each in cells of the level, and the
    finest level there is counts; values of coarser levels are linear between their cells' centres. held(snapshot): from which level its
    cells are. known: which cells are of the level; None: all."""
    if not isinstance(snapshot, Refined):
        return read(snapshot, None)
    found = None
    for level in range(snapshot.level + 1):
        part = snapshot.part(level)
        own = held(part) == level
        values = read(part, own)
        if found is not None:
            own = own.reshape(own.shape + (1,) * (values.ndim - own.ndim))
            values = numpy.where(own, values, doubled(found, held(part).ndim))
        found = values
    return found


def in_plane(snapshot, axis, at, read):
    """on_levels() in a plane of cells: (values of read(snapshot, known, place), place)."""
    place = snapshot.place(axis, at)
    return on_levels(snapshot, lambda part, known: read(part, known, place), lambda part: part.plane_levels(axis, place)), place


def velocity_plane(snapshot, axis, at):
    name = array_of(snapshot, "velocity")
    return in_plane(snapshot, axis, at, lambda part, _, place: part.plane(name, axis, place)[0].astype(numpy.float64))[0]


def quantity_plane(snapshot, quantity, axis, at):
    """(values [v, u] of a quantity in a plane of cells, its place)"""
    return in_plane(snapshot, axis, at, lambda part, known, place: level_plane(part, known, quantity, axis, place))


def level_plane(snapshot, known, quantity, axis, at):
    """The values of one level."""
    if quantity not in QUANTITIES:
        return array_plane(snapshot, quantity, axis, at)
    kind, _, component = quantity.partition("_")
    name = array_of(snapshot, "velocity" if kind == "speed" else kind)
    if name is None and kind == "vorticity":
        return curl_plane(snapshot, known, component or axis, axis, at)
    if name is None:
        raise Wrong(f"{quoted(snapshot.path)}: " + no_name("array", kind, snapshot.arrays))
    values = snapshot.plane(name, axis, at)[0].astype(numpy.float64)
    if kind == "speed" or (kind == "vorticity" and not component):
        return numpy.sqrt((values**2).sum(axis=-1))
    return values[..., "xyz".index(component)] if component else values


def array_plane(snapshot, quantity, axis, at):
    """Any array of the snapshot: a number, a component, or the magnitude of a vector."""
    name, component = stored_array(snapshot, quantity)
    if name is None:
        raise Wrong(f"{quoted(snapshot.path)}: " + no_name("array", quantity, [*snapshot.arrays, "speed", "vorticity"]))
    return one_of(snapshot.plane(name, axis, at)[0].astype(numpy.float64), len(snapshot.stored[name][1]) == 4, quantity, component)


def one_of(values, several, quantity, component):
    """Of an array with several numbers in a cell: a component, or the magnitude of a vector."""
    if not several:
        return values
    known = COMPONENTS.get(values.shape[-1], ())
    if component is None and values.shape[-1] != 3:
        raise Wrong(f"{quoted(quantity)}: choose a component" + (f", {quoted(quantity)}_{known[0]} to {quoted(quantity)}_{known[-1]}" if known else ""))
    return numpy.sqrt((values**2).sum(axis=-1)) if component is None else values[..., known.index(component)]


def quantity_volume(snapshot, quantity):
    """The values [z, y, x] of a quantity."""
    return on_levels(snapshot, lambda part, known: level_volume(part, known, quantity), lambda part: part.cell_levels())


def level_volume(snapshot, known, quantity):
    """The values of one level."""
    name, component = (None, None) if quantity in QUANTITIES else stored_array(snapshot, quantity)
    if quantity in QUANTITIES:
        kind, _, component = quantity.partition("_")
        name = array_of(snapshot, "velocity" if kind == "speed" else kind)
        if name is None and kind == "vorticity" and array_of(snapshot, "velocity"):
            return one_of(curl(snapshot[array_of(snapshot, "velocity")].astype(numpy.float64), snapshot.spacing, known), True, quantity, component or None)
    if name is None:
        raise Wrong(f"{quoted(snapshot.path)}: " + no_name("array", quantity, [*snapshot.arrays, "speed", "vorticity"]))
    return one_of(snapshot[name].astype(numpy.float64), len(snapshot.stored[name][1]) == 4, quantity, component or None)


def curl(velocity, spacing, known):
    """[z, y, x, component]"""
    def slope(i, j):
        return derivative(velocity[..., i], 2 - j, spacing[j], known)

    return numpy.stack([slope(2, 1) - slope(1, 2), slope(0, 2) - slope(2, 0), slope(1, 0) - slope(0, 1)], axis=-1)


def curl_plane(snapshot, known, component, axis, at):
    """Vorticity across a plane, by differences in it."""
    name = array_of(snapshot, "velocity")
    if name is None or component != axis:
        raise Wrong(f"{quoted(snapshot.path)} has no vorticity" + (f"; of the velocity in this plane follows vorticity_{axis} alone" if name else ""))
    velocity = snapshot.plane(name, axis, at)[0].astype(float)
    a = "xyz".index(axis)
    u, v = [k for k in range(3) if k != a]  # along [.., u] and [v, ..]
    curl = derivative(velocity[..., v], 1, snapshot.spacing[u], known) - derivative(velocity[..., u], 0, snapshot.spacing[v], known)
    return -curl if axis == "y" else curl  # x and z are not in the order of a right-handed turn about y


def q_criterion(velocity, spacing, known=None):
    """Q [z, y, x] = (|rotation|^2 - |strain|^2) / 2 = -(dui/dxj duj/dxi) / 2 for a flow without divergence."""
    slopes = [[derivative(velocity[..., i], 2 - j, spacing[j], known) for j in range(3)] for i in range(3)]
    q = numpy.zeros(velocity.shape[:3])
    for i in range(3):
        for j in range(3):
            strain, turn = (slopes[i][j] + slopes[j][i]) / 2, (slopes[i][j] - slopes[j][i]) / 2
            q += (turn**2 - strain**2) / 2
    return q


def signed(quantity):
    return quantity in QUANTITIES and quantity not in ("speed", "density", "vorticity")


def range_of(values, quantity, share=0.999):
    """The range of colours: from 0 for magnitudes, symmetric about 0 for values with a sign; of the density, and of other arrays, that of
    the values. This share of cells is within."""
    values = values[numpy.isfinite(values)]
    if not len(values):
        raise Wrong("there is no finite value to draw")
    low, high = numpy.quantile(values, (1 - share, share))
    if quantity == "density" or quantity not in QUANTITIES:
        return (low, high) if high > low else (low - 0.5, high + 0.5)
    high = max(abs(low), abs(high)) or float(abs(values).max()) or 1.0
    # Round numbers at the ticks.
    parts = (TICKS - 1) // 2 if signed(quantity) else TICKS - 1
    power = 10.0 ** math.floor(math.log10(high / parts))
    high = parts * power * next(m for m in (1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10) if m * power * parts >= 0.999 * high)
    return (-high if signed(quantity) else 0.0), high


# ---- drawing ----

def colors(quantity, low, high):
    """The table of colours of a quantity."""
    stops = numpy.array(SIGNED if signed(quantity) else LIGHTER) / 255
    table = vtkLookupTable()
    table.SetNumberOfTableValues(256)
    for k in range(256):
        at = k / 255 * (len(stops) - 1)
        i = min(int(at), len(stops) - 2)
        table.SetTableValue(k, *(stops[i] + (at - i) * (stops[i + 1] - stops[i])), 1)
    table.SetTableRange(low, high)
    table.SetNanColor(1, 0, 1, 1)
    return table


def actor_of(source, table=None, color=None, opacity=1.0, lit=True):
    mapper = vtkPolyDataMapper()
    if isinstance(source, vtkPolyData):
        mapper.SetInputData(source)
    else:
        mapper.SetInputConnection(source.GetOutputPort())
    if table is None:
        mapper.ScalarVisibilityOff()
    else:
        mapper.SetLookupTable(table)
        mapper.UseLookupTableScalarRangeOn()
        mapper.InterpolateScalarsBeforeMappingOn()
    actor = vtkActor()
    actor.SetMapper(mapper)
    surface = actor.GetProperty()
    if color is not None:
        surface.SetColor(*color)
    surface.SetOpacity(opacity)
    if lit:
        surface.SetAmbient(0.25)
        surface.SetDiffuse(0.75)
    else:
        surface.LightingOff()
    return actor


def colored(source, table):
    """The actor of points coloured by their array `colour`."""
    actor = actor_of(source, table)
    actor.GetMapper().SetScalarModeToUsePointFieldData()
    actor.GetMapper().SelectColorArray("colour")
    return actor


def text(renderer, words, x, y, size=16, across="left", up="bottom", bold=False, turned=False):
    """Words at a pixel."""
    actor = vtkTextActor()
    actor.SetInput(words)
    look = actor.GetTextProperty()
    look.SetFontSize(size)
    look.SetColor(*DARK)
    if FONT:
        look.SetFontFamily(4)  # a file: VTK's own fonts have odd brackets
        look.SetFontFile(FONT.replace(".ttf", "-Bold.ttf") if bold and os.path.isfile(FONT.replace(".ttf", "-Bold.ttf")) else FONT)
    else:
        look.SetFontFamilyToArial()
        look.SetBold(bold)
    getattr(look, f"SetJustificationTo{across.capitalize()}")()
    getattr(look, f"SetVerticalJustificationTo{up.capitalize()}")()
    look.SetOrientation(90 if turned else 0)
    actor.SetPosition(x, y)
    renderer.AddActor2D(actor)
    return actor


def image_of(snapshot, arrays):
    """vtkImageData whose points are the cells' centres; arrays: {name: [z, y, x] or [z, y, x, component]}."""
    image = vtkImageData()
    image.SetDimensions(*snapshot.cells)
    image.SetOrigin(*snapshot.origin)
    image.SetSpacing(*snapshot.spacing)
    for name, values in arrays.items():
        flat = numpy.ascontiguousarray(values, dtype=numpy.float32)
        array = numpy_to_vtk(flat.reshape((-1,) + values.shape[3:]), deep=True)
        array.SetName(name)
        image.GetPointData().AddArray(array)
    return image


def picture_of(window, path):
    """Writes what is in the window as a PNG file."""
    window.Render()
    pixels = vtkWindowToImageFilter()
    pixels.SetInput(window)
    pixels.ReadFrontBufferOff()

    def write(name):
        writer = vtkPNGWriter()
        writer.SetInputConnection(pixels.GetOutputPort())
        writer.SetFileName(name)
        with open(name, "wb"):
            pass  # VTK does not say why it cannot write
        writer.Write()
        if writer.GetErrorCode() or not os.path.getsize(name):
            raise OSError(0, "VTK cannot write the picture (is the disk full?)")

    write_whole(path, write)


def window_of(renderer, width, height):
    renderer.SetBackground(1, 1, 1)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetAlphaBitPlanes(1)
    window.SetSize(width, height)
    window.AddRenderer(renderer)
    return window


def lines_of(paths):
    """vtkPolyData of lines, [[(x, y, z), ..], ..]."""
    points, cells = vtkPoints(), vtkCellArray()
    for path in paths:
        cells.InsertNextCell(len(path))
        for point in path:
            cells.InsertCellPoint(points.InsertNextPoint(*point))
    lines = vtkPolyData()
    lines.SetPoints(points)
    lines.SetLines(cells)
    return lines


def points_of(places):
    points = vtkPoints()
    for place in places:
        points.InsertNextPoint(*map(float, place))
    found = vtkPolyData()
    found.SetPoints(points)
    return found


def streamlines(image, seeds, longest, step):
    """Streamlines of `velocity`, both ways from the seeds."""
    image.GetPointData().SetActiveVectors("velocity")
    tracer = vtkStreamTracer()
    tracer.SetInputData(image)
    tracer.SetSourceData(points_of(seeds))
    tracer.SetIntegrationDirectionToBoth()
    tracer.SetIntegratorTypeToRungeKutta4()
    tracer.SetInitialIntegrationStep(step)
    tracer.SetIntegrationStepUnit(1)  # of length
    tracer.SetMaximumPropagation(longest)
    tracer.SetMaximumNumberOfSteps(20000)
    tracer.SetTerminalSpeed(1e-30)
    tracer.SetComputeVorticity(False)
    tracer.Update()
    return tracer


def color_bar(renderer, table, label, left, bottom, width, height, size=15):
    """A bar of colours with TICKS ticks; places in pixels."""
    low, high = table.GetTableRange()
    plane = numpy.linspace(low, high, 256)
    for k, value in enumerate(plane):
        color = [0, 0, 0]
        table.GetColor(value, color)
        strip = polygon([(left, bottom + k * height / 256), (left + width, bottom + k * height / 256),
                         (left + width, bottom + (k + 1) * height / 256 + 0.5), (left, bottom + (k + 1) * height / 256 + 0.5)])
        flat(renderer, strip, color)
    flat(renderer, lines_of([[(left, bottom, 0), (left + width, bottom, 0), (left + width, bottom + height, 0), (left, bottom + height, 0),
                              (left, bottom, 0)]]), DARK)
    values = numpy.linspace(low, high, TICKS)
    for value, words in zip(values, tick_texts(values)):
        y = bottom + height * (value - low) / (high - low)
        flat(renderer, lines_of([[(left + width, y, 0), (left + width + 5, y, 0)]]), DARK)
        text(renderer, words, left + width + 9, y, size, up="centered")
    text(renderer, label, left, bottom + height + 12, size)


def tick_texts(values):
    """Texts of numbers, all with the same number of digits, as many as they need to differ."""
    largest = max(map(abs, values))
    for digits in range(2, 12):
        words = [f"{0.0 if abs(v) < 1e-12 * largest else v:.{digits}g}" for v in values]
        if all(abs(float(w) - v) <= 2e-3 * (values[-1] - values[0]) for w, v in zip(words, values)):
            break
    return words


def polygon(corners):
    points, cells = vtkPoints(), vtkCellArray()
    cells.InsertNextCell(len(corners))
    for x, y in corners:
        cells.InsertCellPoint(points.InsertNextPoint(x, y, 0))
    found = vtkPolyData()
    found.SetPoints(points)
    found.SetPolys(cells)
    return found


def flat(renderer, data, color):
    """Draws lines or polygons whose points are pixels."""
    mapper = vtkPolyDataMapper2D()
    mapper.SetInputData(data)
    actor = vtkActor2D()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(*color)
    renderer.AddActor2D(actor)


# ---- a slice ----

class Slice:
    """A plane of cells across an axis."""

    def __init__(self, source, o):
        self.source, self.o, self.axis = source, o, o.axis
        a = "xyz".index(o.axis)
        self.u, self.v = [k for k in range(3) if k != a]

    def values(self, snapshot):
        return self.plane(snapshot)[0][~self.mask(snapshot)]

    def plane(self, snapshot):
        """The values that are drawn, and the place of the plane."""
        values, place = quantity_plane(snapshot, self.o.of, self.axis, self.o.at)
        return values - self.source.zero(self.o.of), place

    def mask(self, snapshot):
        """The cells without a value: solid ones, of a scalar those that do not hold it. Files have its reference there."""
        solid = self.solid(snapshot)
        name, keys = scalar_of(snapshot, self.o.of)
        if name is None or not solid.any():
            return solid
        array = stored_array(snapshot, self.o.of)[0]
        values = snapshot.plane(array, self.axis, self.o.at)[0]
        return solid & (values == values.dtype.type(keys.get("reference", 0.0)))

    def solid(self, snapshot):
        return self.source.solid_plane(self.axis, snapshot.place(self.axis, self.o.at))

    def draw(self, snapshot, low, high, path):
        values, place = self.plane(snapshot)
        solid = self.mask(snapshot)
        if solid.all():
            raise Wrong(f"no cell at {self.axis} = {place:g} is fluid: choose another plane with --at")
        spacing = snapshot.spacing
        nu, nv = values.shape[1], values.shape[0]
        low_corner, high_corner = snapshot.bounds
        left, bottom = (low_corner[k] for k in (self.u, self.v))
        right, top = (high_corner[k] for k in (self.u, self.v))
        width, height = right - left, top - bottom
        pixels = self.o.size or (LONG, LONG)
        scale = min(pixels[0] / width, pixels[1] / height)
        if self.o.size is None:
            scale = min(scale, max(1, round(LONG / max(nu, nv))) / min(spacing[self.u], spacing[self.v]))
        plot = max(60, round(width * scale)), max(60, round(height * scale))
        margin = {"left": 92, "right": 150, "bottom": 66, "top": 66}
        w, h = plot[0] + margin["left"] + margin["right"], max(plot[1], 240 if self.o.size is None else 60) + margin["bottom"] + margin["top"]
        shift = margin["bottom"] + (h - margin["bottom"] - margin["top"] - plot[1]) // 2  # of the plot's lower edge

        renderer = vtkRenderer()
        table = colors(self.o.of, low, high)
        self.factor = max(1, min(16, round(min(spacing[self.u], spacing[self.v]) * scale / 3)))
        plane = self.grid(snapshot, filled(values, solid), left, bottom, right, top)
        surface = vtkRectilinearGridGeometryFilter()
        surface.SetInputData(plane)
        renderer.AddActor(actor_of(surface, table, lit=False))
        if self.o.edges:
            edges = actor_of(self.edges(snapshot, left, bottom, place), color=(1, 1, 1) if not signed(self.o.of) else DARK, lit=False)
            edges.SetPosition(0, 0, 1.5 / scale)
            renderer.AddActor(edges)
        if self.o.streamlines:
            self.add_lines(renderer, snapshot, place, self.solid(snapshot), 1 / scale)
        note = self.add_arrows(renderer, snapshot, place, self.solid(snapshot), scale) if self.o.arrows else ""
        for cells, filled_ in ((solid, True), (self.solid(snapshot), False)):
            if not cells.any():
                continue
            mask = vtkRectilinearGridGeometryFilter()
            mask.SetInputData(self.grid(snapshot, smoothed(cells), left, bottom, right, top))
            if filled_:
                clip = vtkClipPolyData()
                clip.SetInputConnection(mask.GetOutputPort())
                clip.SetValue(0.5)
                body = actor_of(clip, color=GREY, lit=False)
                body.SetPosition(0, 0, 2 / scale)
                renderer.AddActor(body)
                continue
            edge = vtkContourFilter()
            edge.SetInputConnection(mask.GetOutputPort())
            edge.SetValue(0, 0.5)
            line = actor_of(edge, color=DARK, lit=False)
            line.SetPosition(0, 0, 3 / scale)
            renderer.AddActor(line)

        camera = renderer.GetActiveCamera()
        camera.ParallelProjectionOn()
        camera.SetParallelScale(h / 2 / scale)
        middle = left + (w / 2 - margin["left"]) / scale, bottom + (h / 2 - shift) / scale
        camera.SetFocalPoint(*middle, 0)
        camera.SetPosition(*middle, 1000 / scale)
        camera.SetClippingRange(1 / scale, 2000 / scale)

        self.add_axes(renderer, (left, right), (bottom, top), margin["left"], shift, plot)
        bar = max(plot[1], 180)
        color_bar(renderer, table, self.source.label(self.o.of), margin["left"] + plot[0] + 28, shift + (plot[1] - bar) // 2, 22, bar - 50)
        title = self.o.title or f"{self.source.run.name}: {words_of(self.o.of)} at {self.axis} = {self.source.place(place, max(width, height))}"
        text(renderer, title, margin["left"], h - 12, 19, up="top", bold=True)
        text(renderer, ", ".join(filter(None, [self.source.when(snapshot), note])), margin["left"], h - 38, 15, up="top")
        picture_of(window_of(renderer, w, h), path)

    def grid(self, snapshot, values, left, bottom, right, top):
        """Values at the cells' centres, and the same at the box's edge half a cell away."""
        values = finer(values, self.factor)
        grid = vtkRectilinearGrid()
        grid.SetDimensions(values.shape[1] + 2, values.shape[0] + 2, 1)
        for k, count, (low, high), put in ((self.u, values.shape[1], (left, right), grid.SetXCoordinates),
                                           (self.v, values.shape[0], (bottom, top), grid.SetYCoordinates)):
            places = snapshot.coordinates()[k]
            put(numpy_to_vtk(numpy.concatenate([[low], numpy.linspace(places[0], places[-1], count), [high]]), deep=True))
        zero = vtkFloatArray()
        zero.InsertNextValue(0)
        grid.SetZCoordinates(zero)
        padded = numpy.pad(values, 1, mode="edge")
        grid.GetPointData().SetScalars(numpy_to_vtk(numpy.ascontiguousarray(padded).ravel(), deep=True))
        return grid

    def edges(self, snapshot, left, bottom, place):
        """Lines between cells of different levels."""
        levels = snapshot.plane_levels(self.axis, place)
        du, dv = snapshot.spacing[self.u], snapshot.spacing[self.v]
        lines = []
        for turned in (False, True):
            rows = levels.T if turned else levels
            for k in range(len(rows) - 1):
                differ = numpy.concatenate([[False], rows[k] != rows[k + 1], [False]])
                ends = numpy.flatnonzero(differ[1:] != differ[:-1]).reshape(-1, 2)
                for begin, end in ends:
                    pair = [(begin, k + 1), (end, k + 1)]
                    lines.append([(left + du * (v if turned else u), bottom + dv * (u if turned else v), 0) for u, v in pair])
        return lines_of(lines)

    def add_lines(self, renderer, snapshot, place, solid, pixel):
        """Streamlines of the velocity in the plane."""
        velocity = velocity_plane(snapshot, self.axis, place)
        flat_velocity = numpy.stack([velocity[..., self.u], velocity[..., self.v], numpy.zeros(velocity.shape[:2])], -1)[None]
        image = vtkImageData()
        image.SetDimensions(velocity.shape[1], velocity.shape[0], 1)
        image.SetOrigin(snapshot.origin[self.u], snapshot.origin[self.v], 0)
        image.SetSpacing(snapshot.spacing[self.u], snapshot.spacing[self.v], 1)
        array = numpy_to_vtk(numpy.ascontiguousarray(flat_velocity, dtype=numpy.float32).reshape(-1, 3), deep=True)
        array.SetName("velocity")
        image.GetPointData().AddArray(array)
        image.GetPointData().SetActiveVectors("velocity")
        speed = numpy.where(solid, 0, numpy.hypot(velocity[..., self.u], velocity[..., self.v]))
        # Lines spread from a place in the fluid to all that is connected with it.
        for start in places_apart(speed):
            self.add_lines_from(renderer, image, snapshot, speed, start, pixel)

    def add_lines_from(self, renderer, image, snapshot, speed, start, pixel):
        tracer = vtkEvenlySpacedStreamlines2D()
        tracer.SetInputData(image)
        tracer.SetStartPosition(*(snapshot.coordinates()[k][n] for k, n in ((self.u, start[1]), (self.v, start[0]))), 0)
        tracer.SetIntegrationStepUnit(2)  # of cells
        tracer.SetInitialIntegrationStep(0.25)
        tracer.SetSeparatingDistance(max(1.5, max(speed.shape) / 32))
        tracer.SetSeparatingDistanceRatio(0.4)
        tracer.SetTerminalSpeed(1e-6 * speed.max())
        tracer.SetClosedLoopMaximumDistance(0.4)
        tracer.SetMaximumNumberOfSteps(4000)
        tracer.SetComputeVorticity(False)
        lines = actor_of(tracer, color=(1, 1, 1) if not signed(self.o.of) else DARK, lit=False)
        lines.GetProperty().SetLineWidth(1.4)
        lines.GetProperty().SetOpacity(0.75)
        lines.SetPosition(0, 0, pixel)
        renderer.AddActor(lines)

    def add_arrows(self, renderer, snapshot, place, solid, scale):
        """Arrows of the velocity in the plane, about 40 pixels apart, dark on light; how long the longest one is."""
        velocity = velocity_plane(snapshot, self.axis, place)
        along = numpy.where(solid[..., None], 0, velocity[..., [self.u, self.v]])
        speed = numpy.hypot(along[..., 0], along[..., 1])
        fastest = float(numpy.quantile(speed[~solid], 0.995)) or float(speed.max())
        if not fastest > 0:
            return "no velocity in the plane"
        spacing = snapshot.spacing[self.u], snapshot.spacing[self.v]
        every = [max(1, round(40 / (scale * side))) for side in spacing]
        apart = min(n * side for n, side in zip(every, spacing))
        at = [numpy.arange((count - 1) % n // 2, count, n) for count, n in zip(speed.shape[::-1], every)]
        bodies = {}
        for color, wider, above in (((1, 1, 1), 0.9 / scale, 1.0), (DARK, 0.0, 1.2)):
            points, cells = vtkPoints(), vtkCellArray()
            for k in at[1]:
                for i in at[0]:
                    long = min(speed[k, i] / fastest, 1.2) * 0.95 * apart
                    if long < 0.12 * apart:
                        continue
                    direction = along[k, i] / speed[k, i]
                    middle = snapshot.coordinates()[self.u][i], snapshot.coordinates()[self.v][k]
                    for corners in arrow(long, max(1 / scale, 0.05 * apart), wider):
                        cells.InsertNextCell(len(corners))
                        for x, y in corners:
                            cells.InsertCellPoint(points.InsertNextPoint(middle[0] + x * direction[0] - y * direction[1],
                                                                         middle[1] + x * direction[1] + y * direction[0], 0))
            bodies[color] = vtkPolyData()
            bodies[color].SetPoints(points)
            bodies[color].SetPolys(cells)
            actor = actor_of(bodies[color], color=color, lit=False)
            actor.SetPosition(0, 0, above / scale)
            renderer.AddActor(actor)
        return f"an arrow of full length: {fastest:.3g} {self.source.unit('velocity_x')}"

    def add_axes(self, renderer, across, up, left, bottom, plot):
        """The frame, ticks and lengths."""
        frame = [(left, bottom, 0), (left + plot[0], bottom, 0), (left + plot[0], bottom + plot[1], 0), (left, bottom + plot[1], 0), (left, bottom, 0)]
        flat(renderer, lines_of([frame]), DARK)
        longest = max(across[1] - across[0], up[1] - up[0])
        for (low, high), length, name, is_up in ((across, plot[0], "xyz"[self.u], False), (up, plot[1], "xyz"[self.v], True)):
            ticks, label = self.source.axis(name, low, high, longest, max(2, min(8, length // (60 if is_up else 110))))
            for value, words in ticks:
                at = (value - low) / (high - low) * length
                if is_up:
                    flat(renderer, lines_of([[(left - 6, bottom + at, 0), (left, bottom + at, 0)]]), DARK)
                    text(renderer, words, left - 10, bottom + at, 15, across="right", up="centered")
                else:
                    flat(renderer, lines_of([[(left + at, bottom - 6, 0), (left + at, bottom, 0)]]), DARK)
                    text(renderer, words, left + at, bottom - 10, 15, across="centered", up="top")
            if is_up:
                text(renderer, label, 10, bottom + plot[1] / 2, 15, across="centered", up="top", turned=True)
            else:
                text(renderer, label, left + plot[0] / 2, bottom - 34, 15, across="centered", up="top")


def arrow(length, thickness, wider):
    """Polygons of an arrow to the right around 0, [[(x, y), ..], ..], wider by some length on all sides."""
    head = min(0.5 * length, 6 * thickness)
    tail, tip, neck = -length / 2 - wider, length / 2 + 2.2 * wider, length / 2 - head - wider
    half, barb = thickness / 2 + wider, 0.42 * head + 1.5 * wider
    return [[(tail, -half), (neck + wider, -half), (neck + wider, half), (tail, half)], [(neck, -barb), (tip, 0), (neck, barb)]]


# ---- in space ----

class Space:
    """Streamlines, arrows, surfaces, vortices or pores in perspective."""

    def __init__(self, source, o):
        self.source, self.o = source, o
        if min(source.last.cells) < 2:
            raise Wrong(f"{quoted(source.last.path)} is one cell thick: only a slice shows it")
        if o.picture == "pores" and not source.solid().any():
            raise Wrong(f"{quoted(source.last.path)}: no cell is solid, so there are no pores")
        self.colors = o.colors
        # Of an animation the pictures are comparable: the same level in all, and those at rest are empty.
        self.level = o.level
        if o.picture == "vortices" and o.level is None:
            self.level = self.usual_level(source.last)
        elif o.picture == "isosurface" and o.level is None:
            fluid = self.quantity(source.last, o.of)[~source.solid()]
            self.level = float((fluid.min() + fluid.max()) / 2)
        elif o.picture not in ("vortices", "isosurface") and not self.velocity(source.last).any():
            raise Wrong(f"{quoted(source.last.path)}: the fluid is at rest")

    def quantity(self, snapshot, name):
        return quantity_volume(snapshot, name) - self.source.zero(name)

    def usual_level(self, snapshot):
        """The value of Q that 3 % of the cells exceed."""
        q = self.q(snapshot)
        positive = q[q > 0]
        if not len(positive):
            raise Wrong(f"{quoted(snapshot.path)}: the flow has no vortices: Q is nowhere above 0")
        return float(numpy.quantile(positive, 1 - min(1.0, 0.03 * q.size / len(positive))))

    def q(self, snapshot):
        name = array_of(snapshot, "velocity")
        q = on_levels(snapshot, lambda part, known: q_criterion(part[name].astype(numpy.float64), part.spacing, known),
                      lambda part: part.cell_levels())
        q[self.source.solid()] = 0
        return q

    def velocity(self, snapshot):
        name = array_of(snapshot, "velocity")
        return on_levels(snapshot, lambda part, _: part[name].astype(numpy.float64), lambda part: part.cell_levels())

    def values(self, snapshot):
        """Of the quantity that gives the colours."""
        return self.quantity(snapshot, self.colors)[~self.source.solid()]

    def draw(self, snapshot, low, high, path):
        solid = self.source.solid()
        shown = self.quantity(snapshot, self.colors)
        table = colors(self.colors, low, high)
        renderer = vtkRenderer()
        cell = min(snapshot.spacing)
        sides = snapshot.spacing * numpy.array(snapshot.cells)
        note = ""
        if self.o.picture == "vortices":
            note = self.add_surface(renderer, snapshot, self.q(snapshot), "Q", shown, solid, table)
        elif self.o.picture == "isosurface":
            values = filled(self.quantity(snapshot, self.o.of), solid, max(solid.shape))
            note = self.add_surface(renderer, snapshot, values, words_of(self.o.of), shown, solid, table)
        elif self.o.picture == "arrows":
            note = self.add_arrows(renderer, snapshot, self.velocity(snapshot), shown, solid, table)
        elif self.velocity(snapshot).any():
            velocity = self.velocity(snapshot)
            seeds = self.seeds(snapshot, velocity, solid)
            image = image_of(snapshot, {"velocity": velocity, "colour": filled(shown, solid)})
            traced = streamlines(image, seeds, (3 if self.o.picture == "pores" else 2) * sides.max(), cell / 3)
            tubes = vtkTubeFilter()
            tubes.SetInputConnection(traced.GetOutputPort())
            tubes.SetRadius(self.o.radius or max(0.15 * cell, 0.0022 * sides.max()))
            tubes.SetNumberOfSides(8)
            renderer.AddActor(colored(tubes, table))
        if solid.any():
            self.add_solid(renderer, snapshot, solid)
        width, height = self.o.size or (1200, 800)
        window = window_of(renderer, width, height)
        self.look(renderer, snapshot)
        self.add_box(renderer, snapshot)
        color_bar(renderer, table, self.source.label(self.colors), width - 130, 140, 22, max(120, height - 330))
        what = {"streamlines": "streamlines", "arrows": "velocity", "isosurface": words_of(self.o.of), "vortices": "vortices (Q-criterion)",
                "pores": "streamlines in the pores"}[self.o.picture]
        text(renderer, self.o.title or f"{self.source.run.name}: {what}", 24, height - 14, 21, up="top", bold=True)
        text(renderer, ", ".join(filter(None, [self.source.when(snapshot), note])), 24, height - 44, 15, up="top")
        if solid.any() and self.o.picture == "pores":
            renderer.SetUseDepthPeeling(1)
            renderer.SetMaximumNumberOfPeels(12)
        else:
            window.SetMultiSamples(4)
        picture_of(window, path)

    def seeds(self, snapshot, velocity, solid):
        """Points where streamlines pass: before and behind the bodies, or spread over the fluid."""
        cells, spacing = numpy.array(snapshot.cells), snapshot.spacing
        generator = numpy.random.default_rng(1)  # the same picture each time
        if self.o.picture == "streamlines" and solid.any() and solid.mean() < 0.3:
            mean = velocity[~solid].mean(axis=0)
            along = int(numpy.argmax(abs(mean)))
            at = numpy.argwhere(solid)[:, ::-1]  # x, y, z
            low, high = at.min(axis=0), at.max(axis=0)
            grow = numpy.maximum(2, 0.3 * (high - low))
            rest = [k for k in range(3) if k != along]
            # Two rows through the middle before the bodies, which leave the bodies visible, and points in the wake.
            third = max(2, self.o.count // 3)
            found = numpy.tile((low + high) / 2, (3 * third, 1))
            found[:2 * third, along] = (low if mean[along] > 0 else high)[along] - 2 * numpy.sign(mean[along])
            for k, axis in enumerate(rest):
                found[k * third:(k + 1) * third, axis] = numpy.linspace(low[axis] - grow[axis], high[axis] + grow[axis], third)
            length = (high - low)[along] / 2 + 2
            found[2 * third:, along] = (high if mean[along] > 0 else low)[along] + numpy.sign(mean[along]) * length * generator.random(third)
            for axis in rest:
                found[2 * third:, axis] += ((high - low)[axis] / 2) * generator.uniform(-0.9, 0.9, third)
        else:
            fluid = numpy.argwhere(~solid)[:, ::-1].astype(float)
            if self.o.picture == "pores":  # where most flows, for the tubes to be the ways through the rock
                speed = numpy.sqrt((velocity[~solid]**2).sum(axis=-1))
                found = fluid[generator.choice(len(fluid), self.o.count, p=speed / speed.sum())]
            else:
                found = fluid[generator.choice(len(fluid), self.o.count)]
        inside = ((found >= 0) & (found <= cells - 1)).all(axis=1)
        return snapshot.origin + found[inside] * spacing

    def add_surface(self, renderer, snapshot, values, name, shown, solid, table):
        """The surface where values are self.level; a text with the level."""
        unit = ("1/s²" if self.source.physical else "1/step²") if name == "Q" else self.source.unit(self.o.of)
        inside = values[~solid]
        if not inside.min() < self.level < inside.max() and not self.o.animate:
            raise Wrong(f"--level {self.level:g}: {name} is between {inside.min():.4g} and {inside.max():.4g} at step {snapshot.step}")
        image = image_of(snapshot, {"level": values, "colour": filled(shown, solid)})
        image.GetPointData().SetActiveScalars("level")
        surface = vtkFlyingEdges3D()
        surface.SetInputData(image)
        surface.SetValue(0, self.level)
        surface.InterpolateAttributesOn()
        renderer.AddActor(colored(surface, table))
        return f"{name} = {self.level:.4g}" + (f" {unit}" if unit else "")

    def add_arrows(self, renderer, snapshot, velocity, shown, solid, table):
        """Arrows of the velocity in a grid of about --count fluid cells; how long the longest one is."""
        fluid, cells = ~solid, numpy.array(snapshot.cells)
        speed = numpy.sqrt((velocity**2).sum(axis=-1))
        fastest = float(numpy.quantile(speed[fluid], 0.995)) or float(speed.max())
        if not fastest > 0:
            return "at rest"
        sides = snapshot.spacing * cells
        apart = (sides.prod() / self.o.count) ** (1 / 3)
        at = [numpy.unique(((numpy.arange(n) + 0.5) * count / n).astype(int)) for count, n in zip(cells, numpy.maximum(1, numpy.round(sides / apart)).astype(int))]
        x, y, z = (a.ravel() for a in numpy.meshgrid(*at, indexing="ij"))
        kept = fluid[z, y, x] & (speed[z, y, x] > 0.03 * fastest)
        x, y, z = x[kept], y[kept], z[kept]
        found = points_of(snapshot.origin + numpy.stack([x, y, z], axis=-1) * snapshot.spacing)
        vectors = velocity[z, y, x] / numpy.maximum(fastest, speed[z, y, x])[:, None]
        for name, array in (("velocity", vectors), ("colour", shown[z, y, x])):
            stored = numpy_to_vtk(numpy.ascontiguousarray(array, dtype=numpy.float32), deep=True)
            stored.SetName(name)
            found.GetPointData().AddArray(stored)
        found.GetPointData().SetActiveVectors("velocity")
        found.GetPointData().SetActiveScalars("colour")
        one = vtkArrowSource()
        one.SetTipResolution(16)
        one.SetShaftResolution(10)
        glyphs = vtkGlyph3D()
        glyphs.SetInputData(found)
        glyphs.SetSourceConnection(one.GetOutputPort())
        glyphs.SetVectorModeToUseVector()
        glyphs.SetScaleModeToScaleByVector()
        glyphs.SetColorModeToColorByScalar()
        glyphs.SetScaleFactor(1.1 * apart)
        renderer.AddActor(colored(glyphs, table))
        return f"an arrow of full length: {fastest:.3g} {self.source.unit('velocity_x')}"

    def add_solid(self, renderer, snapshot, solid):
        """The surface of the solid cells, smoothed over about a cell."""
        image = image_of(snapshot, {"solid": smoothed(solid)})
        image.GetPointData().SetActiveScalars("solid")
        surface = vtkFlyingEdges3D()
        surface.SetInputData(image)
        surface.SetValue(0, 0.5)
        porous = self.o.picture == "pores"
        renderer.AddActor(actor_of(surface, color=(0.72, 0.68, 0.6) if porous else GREY, opacity=0.3 if porous else 1.0))

    def add_box(self, renderer, snapshot):
        """The box with lengths along three of its edges. The renderer is in its window, and the camera is where it stays."""
        low, high = snapshot.bounds
        corners = vtkImageData()
        corners.SetDimensions(2, 2, 2)
        corners.SetOrigin(*low)
        corners.SetSpacing(*(high - low))
        outline = vtkOutlineFilter()
        outline.SetInputData(corners)
        renderer.AddActor(actor_of(outline, color=(0.45, 0.45, 0.48), lit=False))

        def pixel(place):
            renderer.SetWorldPoint(*place, 1)
            renderer.WorldToDisplay()
            return numpy.array(renderer.GetDisplayPoint()[:2])

        middle = pixel((low + high) / 2)
        up = int(numpy.argmax(numpy.abs(renderer.GetActiveCamera().GetViewUp())))
        for axis in range(3):
            rest = [k for k in range(3) if k != axis]
            edges = []
            for side in range(4):
                begin = low.copy()
                begin[rest[0]], begin[rest[1]] = (low, high)[side % 2][rest[0]], (low, high)[side // 2][rest[1]]
                end = begin.copy()
                end[axis] = high[axis]
                edges.append((begin, pixel(begin), pixel(end)))
            # The edge in front below, or the one on the left.
            begin, first, last = min(edges, key=lambda e: (e[1] + e[2])[0 if axis == up else 1])
            length = numpy.linalg.norm(last - first)
            if length < 40:  # looked along
                continue
            outward = numpy.array([first[1] - last[1], last[0] - first[0]]) / length
            outward *= numpy.sign(outward @ ((first + last) / 2 - middle)) or 1
            ticks, label = self.source.axis("xyz"[axis], low[axis], high[axis], max(high - low), max(2, min(8, length // 75)))
            for value, words in ticks:
                place = begin.copy()
                place[axis] = value
                at = pixel(place)
                flat(renderer, lines_of([[(*at, 0), (*(at + 6 * outward), 0)]]), DARK)
                text(renderer, words, *(at + (20 + 10 * abs(outward[0])) * outward), 14, across="centered", up="centered")
            text(renderer, label, *((first + last) / 2 + (46 + 22 * abs(outward[0])) * outward), 15, across="centered", up="centered")

    def look(self, renderer, snapshot):
        """The camera: from --view, with z up (y up where the view is along z)."""
        low, high = snapshot.bounds
        sides, middle = high - low, (low + high) / 2
        view = numpy.array(self.o.view, dtype=float)
        view /= numpy.linalg.norm(view)
        camera = renderer.GetActiveCamera()
        camera.SetFocalPoint(*middle)
        camera.SetPosition(*(middle + view * 3 * numpy.linalg.norm(sides)))
        camera.SetViewUp(*((0, 0, 1) if abs(view[2]) < 0.99 else (0, 1, 0)))
        camera.SetViewAngle(18)
        renderer.ResetCamera(*(value for k in range(3) for value in (middle[k] - sides[k] / 2, middle[k] + sides[k] / 2)))
        # Room for the bar on the right and the lengths below.
        camera.SetWindowCenter(0.09, -0.02)


# ---- the script ----

def movie(frames, output):
    """Makes a movie of pictures; what was made."""
    program = shutil.which("ffmpeg")
    if not program:
        folder = os.path.splitext(output)[0] + "_frames"
        shutil.copytree(os.path.dirname(frames), folder, dirs_exist_ok=True)
        return folder + "/ (PNG frames: there is no ffmpeg here to make a movie)"
    ending = os.path.splitext(output)[1]
    how = {".gif": ["-filter_complex", "split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=none"],
           ".webm": ["-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-pix_fmt", "yuv420p", "-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2"],
           ".mp4": ["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2"]}[ending]

    def write(name):
        said = subprocess.run([program, "-hide_banner", "-loglevel", "error", "-y", "-framerate", str(FAST), "-i", frames, *how, "-f",
                               ending[1:], name], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if said.returncode:
            raise OSError(0, f"ffmpeg: {(said.stderr.strip().splitlines() or ['failed'])[-1]}")

    write_whole(output, write)
    return output


def needed_for(quantity):
    """One of these arrays has to be in the snapshots."""
    if quantity in ("pressure", "density") or quantity not in QUANTITIES:
        return [quantity]
    return ["vorticity", "velocity"] if quantity.startswith("vorticity") else ["velocity"]


def render(o):
    run = Run(o.run)
    if o.colors is None and o.picture != "slice":
        o.colors = "speed"
    if o.count is None:
        o.count = 900 if o.picture == "arrows" else 90
    source = Source(run, o, needed_for(o.of if o.picture in ("slice", "isosurface") else "speed"))
    if o.edges and not (o.picture == "slice" and isinstance(source.last, Refined)):
        raise Wrong("--edges: " + (f"{quoted(source.last.path)} has one level" if o.picture == "slice" else "only a slice shows edges of levels"))
    for asked, what in ((o.streamlines, "streamlines"), (o.arrows, "arrows")):
        if o.picture == "slice" and asked and not array_of(source.last, "velocity"):
            raise Wrong(f"{quoted(source.last.path)}: {what} need velocity")
    if o.picture == "slice" and o.axis is None:
        box = run.case["domain"]["cells"]  # files of levels repeat its one cell
        thin = [k for k in range(3) if 1 in (source.last.cells[k], box[k])]
        o.axis = "xyz"[thin[0]] if thin else "z"
    output = o.output or f"{run.name}_{o.picture}" + (".gif" if o.animate else ".png")
    check_output(output, MOVIES if o.animate else (".png",))
    snapshots = [source.shown(snapshot) for snapshot in source.series] if o.animate else [source.last]
    if o.animate and len(snapshots) < 2:
        raise Wrong(f"{quoted(source.name)} has one snapshot; an animation needs two or more")
    find_display()
    drawing = (Slice if o.picture == "slice" else Space)(source, o)
    quantity = o.of if o.picture == "slice" else o.colors
    last = source.last
    note = f", cells of level {last.level} of 0 to {len(last.levels) - 1}" if isinstance(last, Refined) else ""
    if o.range:
        low, high = o.range
    else:
        share = 0.99 if o.picture == "pores" else 0.999
        ends = [range_of(drawing.values(snapshot), quantity, share) for snapshot in snapshots]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if not o.animate:
        drawing.draw(source.last, low, high, output)
        print(f"{quoted(output)}: {o.picture} of {source.name}, step {source.last.step}, {quantity} {low:.4g} to {high:.4g}{note}")
        return
    with tempfile.TemporaryDirectory(prefix="tagflow_render_") as folder:
        frames = os.path.join(folder, "frame_%04d.png")
        number = 0
        for snapshot in snapshots:
            drawing.draw(snapshot, low, high, frames % number)
            number += 1
        made = movie(frames, output)
    print(f"{quoted(made)}: {number} pictures of {source.name}, steps {snapshots[0].step} to {snapshots[-1].step}, "
          f"{quantity} {low:.4g} to {high:.4g}{note}")


def numbers(text_, count, separator=","):
    words = text_.split(separator)
    try:
        found = [float(word) for word in words]
    except ValueError:
        found = []
    if len(found) != count or not all(map(math.isfinite, found)):
        raise argparse.ArgumentTypeError(f"{text_!r}: {count} numbers with {separator!r} between are needed")
    return found


def range_option(words):
    low, high = numbers(words, 2)
    if not low < high:
        raise argparse.ArgumentTypeError(f"{words!r}: the first number has to be below the second")
    return low, high


def view_option(words):
    found = numbers(words, 3)
    if not any(found):
        raise argparse.ArgumentTypeError("a view of 0,0,0 has no direction")
    return found


def size_option(words):
    found = numbers(words, 2, "x")
    if not all(100 <= n <= 8000 and n == int(n) for n in found):
        raise argparse.ArgumentTypeError(f"{words!r}: pixels from 100x100 to 8000x8000")
    return int(found[0]), int(found[1])


def count_option(words):
    if not words.isdigit() or not 1 <= int(words) <= 100000:
        raise argparse.ArgumentTypeError(f"{words!r} is not a whole number from 1 to 100000")
    return int(words)


def main():
    parser = Parser("render.py", __doc__, "fields that cannot be drawn")
    parser.add_argument("run", metavar="RUN", help="folder of a run")
    parser.add_argument("picture", nargs="?", choices=PICTURES, default="slice", help="what to draw (slice)")
    parser.add_argument("--fields", metavar="NAME", help="the snapshots or averages of this name; the first with what is needed unless given")
    parser.add_argument("--step", metavar="N", type=int, help="the snapshot of this step; the last unless given")
    parser.add_argument("--of", metavar="NAME", default="speed",
                        help="slice, isosurface: the quantity (speed): " + ", ".join(QUANTITIES) + ", or any array of the snapshot, such as a scalar")
    parser.add_argument("--colors", metavar="NAME", help="in space: the quantity that gives the colours (speed)")
    parser.add_argument("--celsius", action="store_true", help="temperatures in degC, those of --level and --range, too")
    parser.add_argument("--axis", choices=("x", "y", "z"), help="slice: across this axis (z, or the axis with one cell)")
    parser.add_argument("--at", metavar="PLACE", type=float, help="slice: the place along the axis, in m or cells; the middle unless given")
    parser.add_argument("--streamlines", action="store_true", help="slice: streamlines of the velocity in the plane")
    parser.add_argument("--arrows", action="store_true", help="slice: arrows of the velocity in the plane, their lengths as its magnitude")
    parser.add_argument("--edges", action="store_true", help="slice: the edges of levels of a refined grid")
    parser.add_argument("--cells", metavar="K", type=int, help="of a refined grid: in cells of level K")
    parser.add_argument("--level", metavar="VALUE", type=float, help="isosurface: the value on it; the middle of all unless given. "
                        "vortices: of Q; 3 %% of the cells are inside unless given")
    parser.add_argument("--count", metavar="N", type=count_option, help="in space: about so many streamlines (90) or arrows (900)")
    parser.add_argument("--radius", metavar="LENGTH", type=float, help="streamlines: of the tubes")
    parser.add_argument("--view", metavar="X,Y,Z", type=view_option, default=[-0.9, -1.5, 0.8],
                        help="in space: direction from the box to the eye (-0.9,-1.5,0.8; write --view=-1,0,0)")
    parser.add_argument("--range", metavar="LOW,HIGH", type=range_option, help="of the colours")
    parser.add_argument("--size", metavar="WxH", type=size_option, help="in pixels: of the picture in space, of a slice without its margins")
    parser.add_argument("--title", metavar="TEXT", help="in place of the run's name and the quantity")
    parser.add_argument("--animate", action="store_true", help="all snapshots, as a movie")
    parser.add_argument("--output", metavar="FILE", help="the picture, .png, or the movie, .gif, .webm or .mp4; <run>_<picture> here unless given")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return ended("render", "picture", lambda: render(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
