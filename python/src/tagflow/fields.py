"""Snapshots, averages and surfaces of a run (fields/*.vtkhdf) as numpy arrays with coordinates, units and masks."""
from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy

from .errors import FileError, MissingPackage, OneLevel, TagflowError, UnknownName, no_name, quoted
from .files import check_trailer, open_regular
from .resolved import ResolvedCase
from .units import array_unit

if TYPE_CHECKING:
    import pyvista
    import xarray

Array = Any
Where = Tuple[Union[int, slice], ...]
FILE_NAME = re.compile(r"(.+)_(\d{10})\.vtkhdf")
ALL_LEVELS = b"OverlappingAMR"  # the type of files of refined grids
AT_ONCE = 64 << 20  # bytes of a file that are verified whenever it is opened
OF_LEVELS = ("part", "levels", "level", "first", "cell_levels", "plane_levels")  # what only files of all levels have (refined.py)
GEOMETRY = ("WholeExtent", "Origin", "Spacing", "Direction")


def h5py_module() -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingPackage("h5py", "reading fields and checkpoints") from None
    return h5py


class _File:
    """What the two kinds of files have in common. Values stay in the file until they are asked for."""

    type = b""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)
        match = FILE_NAME.fullmatch(os.path.basename(self.path))
        self.name = match[1] if match else os.path.splitext(os.path.basename(self.path))[0]
        try:
            # h5py gives one error for whatever is wrong with a file; that it cannot be opened at all says more.
            check_trailer(self.path, AT_ONCE)
            with h5py_module().File(self.path, "r") as file:
                self._read(file)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else "it is damaged or no HDF5 file"
            raise FileError(f"{quoted(self.path)}: {why}") from None
        except TagflowError:
            raise
        except (KeyError, IndexError, AttributeError, RuntimeError, ValueError, TypeError) as error:
            raise FileError(f"{quoted(self.path)} is no snapshot of tagflow: {quoted(' '.join(str(error).split()))}") from None

    def _read(self, file: Any) -> None:
        root, provenance = file["VTKHDF"], file["provenance"].attrs
        if root.attrs["Type"] == ALL_LEVELS != self.type:
            raise FileError(f"{quoted(self.path)} holds all levels of a refined grid: tagflow.open_snapshot() reads it, or write snapshots "
                            "with `levels: 0` or another level")
        if root.attrs["Type"] != self.type or "Steps" in root or root.attrs["Version"][0] != 1:
            raise ValueError(f"it is not a static {self.type.decode()} of version 1")
        self.provenance: Dict[str, Any] = dict(provenance)
        self.step, self.time = int(provenance["step"]), float(provenance["time"])

    def verify(self) -> None:
        """FileError if a byte is not as tagflow wrote it. Files up to 64 MiB are verified when they are opened."""
        check_trailer(self.path)

    def open(self) -> Any:
        """The h5py.File."""
        try:
            return h5py_module().File(self.path, "r")
        except OSError:
            raise self._changed() from None

    def read(self, file: Any, name: str, where: Any = ...) -> Array:
        """A part of a dataset of the opened file; name: below VTKHDF."""
        try:
            return file["VTKHDF"][name][where]
        except (OSError, KeyError, RuntimeError, ValueError):
            raise self._changed() from None

    def _changed(self) -> FileError:
        return FileError(f"{quoted(self.path)} cannot be read: it is damaged, or was changed meanwhile")

    @functools.cached_property
    def case(self) -> ResolvedCase:
        """The case of the run."""
        return ResolvedCase(str(self.provenance.get("case", "")), f"{quoted(self.path)}: its case")

    @property
    def physical(self) -> bool:
        """Has the run units? Else numbers are in lattice units."""
        return self.case.physical

    def unit(self, name: str) -> Optional[str]:
        """The unit of an array; None in lattice units, or if it is not known."""
        unit = array_unit(name) or self._scalar_unit(name)
        return unit if unit == "1" or self.physical else None

    def _scalar_unit(self, name: str) -> Optional[str]:
        """Of a scalar, its mean or its variance."""
        scalar, _, what = name.rpartition("_") if name.endswith(("_mean", "_variance")) else (name, "", "")
        kind = self.case.get(f"scalars.{scalar}.kind")
        if kind is None:
            return None
        return "1" if kind != "heat" else "K²" if what == "variance" else "K"

    @property
    def length_unit(self) -> Optional[str]:
        """The unit of coordinates: "m", or None in lattice units. With `units.dx` alone files are in lattice units."""
        return "m" if self.physical else None


class _Arrays(_File):
    """A file with named arrays."""

    stored: Dict[str, Any]  # their types

    @property
    def arrays(self) -> List[str]:
        """Names of the arrays."""
        return list(self.stored)

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __contains__(self, name: object) -> bool:
        return name in self.stored

    def need(self, name: str) -> None:
        """UnknownName if there is no such array."""
        if name not in self.stored:
            raise UnknownName(f"{quoted(self.path)}: {no_name('array', name, self.stored)}")


class Snapshot(_Arrays):
    """One file of fields or averages. `snapshot["velocity"]` is [z, y, x, component], `snapshot["density"]` is [z, y, x].

    cells: along x, y, z. origin: the centre of the first cell. spacing: between cells. In m, or in cells in lattice units.
    """

    type = b"ImageData"

    def _read(self, file: Any) -> None:
        super()._read(file)
        self._read_cells(file["VTKHDF"])

    if not TYPE_CHECKING:  # a type checker knows that these names are of a Refined alone
        def __getattr__(self, name: str) -> Any:
            if name in OF_LEVELS and "path" in self.__dict__:
                raise OneLevel(f"{quoted(self.path)} has cells of one level, so it has no {name!r}: files with all levels of a refined "
                               "grid have it (cut() and plane() read a part of this one)")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _read_cells(self, root: Any) -> None:
        self.geometry: Dict[str, Array] = {name: root.attrs[name] for name in GEOMETRY}
        extent = self.geometry["WholeExtent"]
        if extent.shape != (6,) or (extent[1::2] < extent[::2]).any():
            raise ValueError("WholeExtent is no box")
        # Points along z, y, x. A box of one cell has two points along that axis, both with the cell's values.
        self.points: Tuple[int, ...] = tuple(int(extent[2 * a + 1]) - int(extent[2 * a]) + 1 for a in (2, 1, 0))
        self.stored: Dict[str, Tuple[Any, Tuple[int, ...]]] = {
            name: (data.dtype, data.shape) for name, data in root["PointData"].items()}
        for name, (_, shape) in self.stored.items():
            if shape[:3] != self.points or len(shape) > 4:
                raise ValueError(f"array {name} has not the shape of the box")
        if not self.stored:
            raise ValueError("it has no arrays")
        cells = self.provenance.get("cells")
        cells = self.points[::-1] if cells is None else tuple(int(n) for n in cells)
        if len(cells) != 3 or any(n != m and (n, m) != (1, 2) for n, m in zip(cells, self.points[::-1])):
            raise ValueError("cells are not those of the box")
        self.cells: Tuple[int, ...] = cells
        single = numpy.array(cells) == 1
        self.spacing: Array = numpy.array(self.geometry["Spacing"], dtype=float)
        self.origin: Array = self.geometry["Origin"] + numpy.where(single & (numpy.array(self.points[::-1]) == 2), 0.5, 0) * self.spacing

    def __getitem__(self, name: str) -> Array:
        return self.cut(name, tuple(slice(n) for n in self.cells[::-1]))

    def cut(self, name: str, where: Where) -> Array:
        """A part of an array, and nothing else is read. where: a slice or a number for each of z, y, x, in cells."""
        self.need(name)
        with self.open() as file:
            return self.read(file, "PointData/" + name, where)

    def plane(self, name: str, axis: str, at: Optional[float] = None) -> Tuple[Array, float]:
        """(values, place): the plane of cells across an axis whose centres are nearest to `at`, by default the middle plane.

        Across z the values are [y, x], across y [z, x], across x [z, y], of vectors [.., component]. Nothing else is read.
        """
        self.need(name)
        where, place = self._plane(axis, at)
        return self.cut(name, where), place

    def place(self, axis: str, at: Optional[float] = None) -> float:
        """The place of the plane of cells that plane() gives: of the cells' centres."""
        return self._plane(axis, at)[1]

    def _plane(self, axis: str, at: Optional[float]) -> Tuple[Where, float]:
        """Where a plane of cells is, and its place along the axis."""
        if axis not in ("x", "y", "z"):
            raise UnknownName(f"axis {axis!r} is none of x, y, z")
        a = "xyz".index(axis)
        places = self.coordinates()[a]
        if at is not None:
            low, high = (ends[a] for ends in self.bounds)
            if not low - 1e-4 * self.spacing[a] <= at <= high + 1e-4 * self.spacing[a]:
                raise UnknownName(f"{axis} = {at:g} is outside the box of {quoted(self.path)}: {low:g} to {high:g}")
        index = (self.cells[a] - 1) // 2 if at is None else int(numpy.argmin(abs(places - at)))
        where: List[Union[int, slice]] = [slice(n) for n in self.cells[::-1]]
        where[2 - a] = index
        return tuple(where), float(places[index])

    def coordinates(self) -> Tuple[Array, Array, Array]:
        """x, y, z of the cells' centres, one array an axis."""
        return tuple(self.origin[a] + self.spacing[a] * numpy.arange(self.cells[a]) for a in range(3))

    def _entry(self) -> Dict[str, Any]:
        """What the case says of these files."""
        found = next((self.case[path] for path in (f"output.fields.{self.name}", f"output.averages.{self.name}") if path in self.case), None)
        return found if isinstance(found, dict) else {}

    @property
    def width(self) -> float:
        """The side of a cell. With a stride the spacing is so many of it."""
        level = self._entry().get("levels") if self.case.get("refine") else 0
        return (self.case.dx if self.physical else 1.0) / 2.0**(level if isinstance(level, int) else 0)

    @property
    def bounds(self) -> Tuple[Array, Array]:
        """Two corners: where the first cell begins along x, y, z, and where the last one ends; with a stride, where the part of the box
        ends that the last one stands for."""
        cell = numpy.minimum(self.width, self.spacing)
        low = self.origin - cell / 2
        high = low + self.spacing * numpy.array(self.cells)
        region = self._entry().get("region")
        end = region.get("to") if isinstance(region, dict) else self.case.get("domain.cells")
        if isinstance(end, list) and len(end) == 3 and all(isinstance(n, (int, float)) for n in end):
            box = (self.case.dx if self.physical else 1.0) * numpy.array(end, dtype=float)
            high = numpy.where(self.spacing > 1.5 * cell, numpy.maximum(numpy.minimum(high, box), high - self.spacing + cell), high)
        return low, high

    @property
    def x(self) -> Array:
        return self.coordinates()[0]

    @property
    def y(self) -> Array:
        return self.coordinates()[1]

    @property
    def z(self) -> Array:
        return self.coordinates()[2]

    @property
    def samples(self) -> Optional[int]:
        """How many samples an average has; None of a snapshot."""
        return int(self.provenance["samples"]) if "samples" in self.provenance else None

    def fluid(self) -> Array:
        """The mask [z, y, x] of the fluid cells. Cells that are not fluid are stored at rest, with the reference density.

        With `tags`: all cells whose tag is that of a cell which moves, or has another density or pressure. Without: these
        cells alone, so that a fluid cell exactly at rest is missed; the same with `levels: k` of a refined grid. A FileError if no
        cell moves, as at the first step.
        """
        found = self._moving(self.__getitem__)
        if found is None or not found.any():
            raise self._no_fluid()
        # Each level of a refined grid has its own numbers.
        if "tags" in self.stored and not self.case.get("refine"):
            tags = self["tags"]
            found = numpy.isin(tags, numpy.unique(tags[found]))
        return found

    def fluid_plane(self, axis: str, at: Optional[float] = None) -> Array:
        """fluid() in the plane of cells that plane() gives."""
        return self.fluid()[self._plane(axis, at)[0]]

    def _moving(self, read: Callable[[str], Array]) -> Optional[Array]:
        """Which cells are not as solid ones are stored; read: gives their values of an array. None: no array tells."""
        found = None
        for name, rest in (("velocity", 0.0), ("pressure", 0.0), ("density", self.case.density)):
            for word in (name, name + "_mean"):
                if word in self.stored:
                    values = read(word)
                    moves = values != values.dtype.type(rest)
                    moves = moves.any(axis=-1) if len(self.stored[word][1]) == 4 else moves
                    found = moves if found is None else found | moves
        return found

    def _no_fluid(self) -> FileError:
        return FileError(f"{quoted(self.path)} does not tell which cells are fluid: no cell moves")

    def dataset(self) -> "xarray.Dataset":
        """The arrays as an xarray Dataset with coordinates x, y, z (and `component`), units, step and time."""
        try:
            import xarray
        except ImportError:
            raise MissingPackage("xarray", "Snapshot.dataset()") from None
        arrays = {}
        for name in self.stored:
            values = self[name]
            dimensions = ("z", "y", "x") if values.ndim == 3 else ("z", "y", "x", "stress" if values.shape[-1] == 6 else "component")
            arrays[name] = (dimensions, values, {"units": self.unit(name) or "lattice units"})
        length = {"units": self.length_unit or "cells"}
        places = {axis: (axis, values, length) for axis, values in zip("xyz", self.coordinates())}
        lasts = {d for dimensions, _, _ in arrays.values() for d in dimensions[3:]}
        names = {"component": list("xyz"), "stress": ["xx", "yy", "zz", "xy", "xz", "yz"]}
        return xarray.Dataset(arrays, {**places, **{d: names[d] for d in sorted(lasts)}},
                              {"name": self.name, "step": self.step, "time": self.time})

    def mesh(self) -> "pyvista.ImageData":
        """The snapshot as a PyVista mesh: points are the cells' centres, arrays are point data."""
        try:
            import pyvista
        except ImportError:
            raise MissingPackage("pyvista", "Snapshot.mesh()", debian=False) from None
        mesh = pyvista.ImageData(dimensions=self.cells, spacing=tuple(self.spacing), origin=tuple(self.origin))
        for name in self.stored:
            values = self[name]
            mesh.point_data[name] = values.reshape((-1,) + values.shape[3:])
        mesh.field_data["step"], mesh.field_data["time"] = [self.step], [self.time]
        return mesh

    def __repr__(self) -> str:
        cells = " x ".join(map(str, self.cells))
        return f"Snapshot({self.path!r}: step {self.step}, {cells} cells, {', '.join(self.stored)})"


class Surface(_Arrays):
    """One file of output.surfaces: the triangles of a body's mesh. `surface["pressure"]` is one value for each triangle."""

    type = b"UnstructuredGrid"

    def _read(self, file: Any) -> None:
        super()._read(file)
        root = file["VTKHDF"]
        self.points: Array = root["Points"][...]
        corners = root["Connectivity"][...]
        if corners.size % 3 or corners.dtype.kind not in "iu" or (root["Types"][...] != 5).any():
            raise ValueError("its cells are no triangles")
        self.triangles: Array = corners.reshape(-1, 3)
        if self.points.ndim != 2 or self.points.shape[1] != 3 or self.points.dtype.kind != "f":
            raise ValueError("its points are no places")
        if corners.size and not 0 <= corners.min() <= corners.max() < len(self.points):
            raise ValueError("a corner is no point")
        self.stored = {name: data.dtype for name, data in root["CellData"].items()}
        for name, data in root["CellData"].items():
            if data.shape[:1] != (len(self.triangles),) or data.dtype.kind != "f":
                raise ValueError(f"array {name} has not a number for each triangle")

    def __getitem__(self, name: str) -> Array:
        self.need(name)
        with self.open() as file:
            return self.read(file, "CellData/" + name)

    def areas(self) -> Array:
        """Areas of the triangles times their outward normals, [triangle, component]."""
        a, b, c = (self.points[self.triangles[:, k]].astype(float) for k in range(3))
        return 0.5 * numpy.cross(b - a, c - a)

    def mesh(self) -> "pyvista.PolyData":
        """The surface as a PyVista mesh of triangles, arrays are cell data."""
        try:
            import pyvista
        except ImportError:
            raise MissingPackage("pyvista", "Surface.mesh()", debian=False) from None
        faces = numpy.insert(self.triangles, 0, 3, axis=1).ravel()
        mesh = pyvista.PolyData(self.points, faces)
        for name in self.stored:
            mesh.cell_data[name] = self[name]
        return mesh

    def __repr__(self) -> str:
        return f"Surface({self.path!r}: step {self.step}, {len(self.triangles)} triangles, {', '.join(self.stored)})"
