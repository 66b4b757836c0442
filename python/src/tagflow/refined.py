"""Snapshots and averages of refined grids: files that hold all levels (OverlappingAMR of VTKHDF)."""
from __future__ import annotations

import copy
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy

from .errors import FileError, UnknownName, UsageError, quoted
from .fields import ALL_LEVELS, Array, Snapshot, Where

PIECE = 1 << 20  # about so many cells of a box are read at a time
Range = Optional[Tuple[float, float]]


def free_memory() -> Optional[int]:
    """Bytes that the system can give; None: not known."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


class Box:
    """A box of cells of one level. `box["velocity"]` is [z, y, x, component], `box["density"]` is [z, y, x].

    first: its first cell along x, y, z, counted in cells of the level from the corner of the whole box. cells: along x, y, z.
    origin: the centre of its first cell. spacing: between cells.
    """

    def __init__(self, level: "Level", first: Array, cells: Array, start: int) -> None:
        self.level, self._start = level, start
        self.first: Tuple[int, ...] = tuple(int(n) for n in first)
        self.cells: Tuple[int, ...] = tuple(int(n) for n in cells)
        self.spacing = level.spacing
        self.origin: Array = level.corner + (first + 0.5) * level.spacing

    def __getitem__(self, name: str) -> Array:
        snapshot = self.level.snapshot
        snapshot.need(name)
        with snapshot.open() as file:
            return self._read(file, name, 0, self.cells[2])

    def _read(self, file: Any, name: str, z0: int, z1: int, y0: int = 0, y1: Optional[int] = None) -> Array:
        """An array of cells z0 <= z < z1 and y0 <= y < y1, all of them along y if it is not one plane."""
        nx, ny, _ = self.cells
        y1 = ny if y1 is None else y1
        begin, end = (self._start + (z * ny + y) * nx for z, y in ((z0, y0), (z1 - 1, y1)))
        flat = self.level.snapshot.read(file, f"Level{self.level.number}/CellData/{name}", slice(begin, end))
        return flat.reshape((z1 - z0, y1 - y0, nx) + flat.shape[1:])

    def coordinates(self) -> Tuple[Array, Array, Array]:
        """x, y, z of the cells' centres, one array an axis."""
        return tuple(self.origin[a] + self.spacing[a] * numpy.arange(self.cells[a]) for a in range(3))

    def covered(self) -> Array:
        """The mask [z, y, x] of cells that a finer level covers. Their values are means over the finer cells that are fluid; of a
        scalar, over those that hold it."""
        mask = numpy.zeros(self.cells[::-1], dtype=bool)
        finer = self.level.snapshot.levels[self.level.number + 1:][:1]
        for box in finer[0].boxes if finer else []:
            low = numpy.array(box.first) // 2 - self.first
            high = low + numpy.array(box.cells) // 2
            mask[tuple(slice(max(0, low[a]), max(0, high[a])) for a in (2, 1, 0))] = True
        return mask

    def __repr__(self) -> str:
        return f"Box(level {self.level.number}, first cell {self.first}, {' x '.join(map(str, self.cells))} cells)"


class Level:
    """A level: its number, spacing and boxes, which do not overlap. Iterate over it for the boxes."""

    def __init__(self, snapshot: "Refined", number: int, corner: Array, spacing: Array, bounds: Array) -> None:
        self.snapshot, self.number, self.corner, self.spacing = snapshot, number, corner, spacing
        self.boxes: List[Box] = []
        self.cells = 0  # of all its boxes, those included that a finer level covers
        for bound in bounds.astype(int):
            sizes = bound[1::2] - bound[::2] + 1
            self.boxes.append(Box(self, bound[::2], sizes, self.cells))
            self.cells += int(numpy.prod(sizes))

    def __iter__(self) -> Iterator[Box]:
        return iter(self.boxes)

    def __len__(self) -> int:
        return len(self.boxes)

    def __repr__(self) -> str:
        return f"Level({self.number}: {len(self.boxes)} boxes, {self.cells} cells, spacing {self.spacing[0]:g})"


class Refined(Snapshot):
    """A file of fields or averages of a refined grid: one array of the whole box in cells of the finest level, or part() of it.

    `snapshot["velocity"]` is [z, y, x, component], as of any Snapshot: where a level is missing, cells of the finest level there is
    are copied. cells, origin and spacing belong to this array; level is the level of its cells. levels has the boxes of each level.
    """

    type = ALL_LEVELS

    def _read_cells(self, root: Any) -> None:
        self._known: Dict[str, Any] = {}  # what was found out of the whole file; all parts share it
        self.levels: List[Level] = []
        tails: Dict[str, Tuple[Any, Tuple[int, ...]]] = {}  # of arrays: type, components
        while f"Level{len(self.levels)}" in root:
            group, number = root[f"Level{len(self.levels)}"], len(self.levels)
            bounds, spacing = group["AMRBox"][...], numpy.array(group.attrs["Spacing"], dtype=float)
            if bounds.ndim != 2 or bounds.shape[1] != 6 or not len(bounds) or (bounds[:, 1::2] < bounds[:, ::2]).any() or bounds.min() < 0:
                raise ValueError(f"level {number} has wrong boxes")
            if spacing.shape != (3,) or (number and not numpy.allclose(spacing, self.levels[0].spacing / 2**number, rtol=1e-12)):
                raise ValueError(f"level {number} has another spacing than half the one before")
            level = Level(self, number, numpy.array(root.attrs["Origin"], dtype=float), spacing, bounds)
            found = {name: (data.dtype, data.shape[1:]) for name, data in group["CellData"].items()}
            if any(len(data.shape) not in (1, 2) or data.shape[0] != level.cells for data in group["CellData"].values()):
                raise ValueError(f"an array of level {number} has not one value for each cell")
            if number and found != tails:
                raise ValueError(f"level {number} has other arrays than level 0")
            tails = found
            self.levels.append(level)
        if not self.levels or not tails:
            raise ValueError("it has no levels" if not self.levels else "it has no arrays")
        if len(self.levels[0].boxes) != 1:
            raise ValueError("level 0 has more than one box")
        self._tails = tails
        box, finest = self.levels[0].boxes[0], len(self.levels) - 1
        low = numpy.array(box.first)
        self._take(finest, low << finest, low + box.cells << finest)

    def _take(self, level: int, low: Array, high: Array) -> None:
        """Takes cells low <= (x, y, z) < high of a level, counted as Box.first."""
        self.level = level
        self.first: Tuple[int, ...] = tuple(int(n) for n in low)
        self.cells = tuple(int(n) for n in high - low)
        self.points = tuple(max(2, n) for n in self.cells[::-1])  # as a file of one level has them
        self.spacing = self.levels[level].spacing
        self.origin = self.levels[level].corner + (low + 0.5) * self.spacing
        self.stored = {name: (dtype, self.points + tail) for name, (dtype, tail) in self._tails.items()}
        single = numpy.where(numpy.array(self.cells) == 1, 0.5, 0)
        self.geometry = {"WholeExtent": numpy.array([n for size in self.points[::-1] for n in (0, size - 1)], dtype=numpy.int32),
                         "Origin": self.origin - single * self.spacing, "Spacing": self.spacing, "Direction": numpy.eye(3).ravel()}

    @property
    def width(self) -> float:
        """The side of a cell."""
        return float(self.spacing[0])

    def part(self, level: Optional[int] = None, x: Range = None, y: Range = None, z: Range = None) -> "Refined":
        """The same in cells of another level, and those alone whose centres are between two places along x, y, z.

        Where the file has finer cells, the values are means (see Box.covered()). Where it has coarser cells, they are copied.
        """
        level = self.level if level is None else level
        if isinstance(level, bool) or not isinstance(level, (int, numpy.integer)) or not 0 <= level < len(self.levels):
            raise UnknownName(f"{quoted(self.path)} has no level {level!r}; it has levels 0 to {len(self.levels) - 1}")
        width, first, after = self.levels[level].spacing, numpy.array(self.first), numpy.array(self.first) + self.cells
        if level >= self.level:
            low, high = first << level - self.level, after << level - self.level
        else:  # the coarser cells that hold these
            low, high = first >> self.level - level, -(-after >> self.level - level)
        for a, ends in enumerate((x, y, z)):
            if ends is None:
                continue
            places = self.levels[level].corner[a] + (numpy.arange(low[a], high[a]) + 0.5) * width[a]
            inside = numpy.flatnonzero((places >= ends[0] - 1e-9 * width[a]) & (places <= ends[1] + 1e-9 * width[a]))
            if not len(inside):
                raise UsageError(f"{quoted(self.path)}: no cell of level {level} has its centre between {'xyz'[a]} = {ends[0]:g} and "
                                 f"{ends[1]:g}; they are from {places[0]:g} to {places[-1]:g}")
            low[a], high[a] = low[a] + inside[0], low[a] + inside[-1] + 1
        found = copy.copy(self)
        found._take(int(level), low, high)
        return found

    def cut(self, name: str, where: Where) -> Array:
        """A part of an array, and no other boxes are read. where: a slice or a number for each of z, y, x, in cells."""
        self.need(name)
        return self._cut(name, where)

    def cell_levels(self) -> Array:
        """[z, y, x]: from which level each cell is. A cell of a finer level than this array's counts as of this level."""
        return self._cut(None, tuple(slice(n) for n in self.cells[::-1]))

    def plane_levels(self, axis: str, at: Optional[float] = None) -> Array:
        """cell_levels() in the plane of cells that plane() gives."""
        return self._cut(None, self._plane(axis, at)[0])

    def _cut(self, name: Optional[str], where: Where) -> Array:
        """A part of an array; None: of the cells' levels."""
        low, high = self._bounds(where)
        dtype, tail = self._tails[name] if name is not None else (numpy.dtype(numpy.uint8), ())
        shape = tuple((high - low)[::-1]) + tail
        self._need_memory(int(numpy.prod(shape, dtype=float)) * dtype.itemsize)
        found = numpy.empty(shape, dtype)
        with self.open() as file:
            for level in self.levels[:self.level + 1]:
                by = self.level - level.number
                for box in level.boxes:
                    first: Array = numpy.maximum(low, numpy.array(box.first) << by)
                    last: Array = numpy.minimum(high, numpy.array(box.first) + box.cells << by)
                    if (first >= last).any():
                        continue
                    to = found[tuple(slice(first[a] - low[a], last[a] - low[a]) for a in (2, 1, 0))]
                    if name is None:
                        to[...] = level.number
                        continue
                    # The box's cell for each cell of `to`, along x, y, z.
                    cells = [(numpy.arange(first[a], last[a]) >> by) - box.first[a] for a in range(3)]
                    self._fill(file, name, box, cells, to)
        return found[tuple(slice(None) if isinstance(place, slice) else 0 for place in where)]

    def _bounds(self, where: Where) -> Tuple[Array, Array]:
        """The cells low <= (x, y, z) < high, counted as Box.first, of a part of the array."""
        low, high = numpy.zeros(3, int), numpy.zeros(3, int)
        for k, (place, count) in enumerate(zip(where, self.cells[::-1])):
            begin, end, step = place.indices(count) if isinstance(place, slice) else (int(place), int(place) + 1, 1)
            if step != 1 or not 0 <= begin < end <= count:
                raise UsageError(f"{place} is no part of {count} cells")
            low[2 - k], high[2 - k] = begin + self.first[2 - k], end + self.first[2 - k]
        return low, high

    @staticmethod
    def _fill(file: Any, name: str, box: Box, cells: Sequence[Array], to: Array) -> None:
        """Copies a box's cells, some planes at a time; of planes whose lines are not all needed, those lines alone are read."""
        x, y, z = cells
        whole = y[0] == 0 and y[-1] == box.cells[1] - 1
        planes = max(1, PIECE // (box.cells[0] * box.cells[1])) if whole else 1
        y0, y1 = int(y[0]), int(y[-1]) + 1
        for z0 in range(int(z[0]), int(z[-1]) + 1, planes):
            z1 = min(z0 + planes, int(z[-1]) + 1)
            for plane, place in zip(box._read(file, name, z0, z1, y0, y1), range(z0, z1)):
                begin, end = numpy.searchsorted(z, (place, place + 1))
                to[begin:end] = plane.take(x, axis=1).take(y - y0, axis=0)

    def _need_memory(self, size: int) -> None:
        """FileError if an array of so many bytes does not fit: the system would end the process."""
        free = free_memory()
        if free is not None and size > free:
            raise FileError(f"{quoted(self.path)}: an array in cells of level {self.level} has {size / 1e9:.3g} GB, and {free / 1e9:.3g} GB are "
                            "free: part() takes a coarser level or a smaller box")

    # ---- the fluid ----

    def _fluid_tags(self) -> List[Array]:
        """The tags of cells that move, of each level, which has its own numbers; without `tags` empty. FileError if no cell moves."""
        if "fluid" not in self._known:
            found = []
            any_moves = False
            for level in self.levels:
                tags = numpy.zeros(256, dtype=bool)
                for box in level.boxes:
                    own = ~box.covered()
                    planes = max(1, PIECE // (box.cells[0] * box.cells[1]))
                    with self.open() as file:
                        for z0 in range(0, box.cells[2], planes):
                            z1 = min(z0 + planes, box.cells[2])
                            moves = self._moving(lambda name: box._read(file, name, z0, z1))
                            if moves is not None and moves.any():
                                any_moves = True
                                if "tags" in self.stored:
                                    tags[numpy.unique(box._read(file, "tags", z0, z1)[moves & own[z0:z1]])] = True
                found.append(numpy.flatnonzero(tags))
            if not any_moves:
                raise self._no_fluid()
            self._known["fluid"] = found
        known: List[Array] = self._known["fluid"]
        return known

    def _mask(self, where: Where) -> Array:
        """fluid() of the cells of a part of the array."""
        tags = self._fluid_tags()
        if "tags" not in self.stored:
            return self._moving(lambda name: self._cut(name, where))
        found = self._mask_of(self.level, *self._bounds(where), tags)
        return found[tuple(slice(None) if isinstance(place, slice) else 0 for place in where)]

    def _mask_of(self, level: int, low: Array, high: Array, tags: List[Array]) -> Array:
        """Of cells low <= (x, y, z) < high of a level, by their tags. Those that finer cells cover are fluid if one of these is."""
        part = copy.copy(self)
        part._take(level, low, high)
        stored, levels = part["tags"], part.cell_levels()
        mask = numpy.zeros(stored.shape, dtype=bool)
        for number in range(level + 1):
            mask |= (levels == number) & numpy.isin(stored, tags[number])
        for box in self.levels[level + 1].boxes if level + 1 < len(self.levels) else []:
            first: Array = numpy.maximum(low, numpy.array(box.first) // 2)
            last: Array = numpy.minimum(high, (numpy.array(box.first) + box.cells) // 2)
            if (first < last).all():
                nx, ny, nz = last - first
                finer = self._mask_of(level + 1, 2 * first, 2 * last, tags).reshape(nz, 2, ny, 2, nx, 2)
                mask[tuple(slice(first[a] - low[a], last[a] - low[a]) for a in (2, 1, 0))] = finer.any(axis=(1, 3, 5))
        return mask

    def fluid(self) -> Array:
        """The mask [z, y, x] of the fluid cells, as Snapshot.fluid(); a cell that finer ones cover is fluid if one of them is."""
        return self._mask(tuple(slice(n) for n in self.cells[::-1]))

    def fluid_plane(self, axis: str, at: Optional[float] = None) -> Array:
        """fluid() in the plane of cells that plane() gives."""
        return self._mask(self._plane(axis, at)[0])

    def __repr__(self) -> str:
        cells = " x ".join(map(str, self.cells))
        return f"Refined({self.path!r}: step {self.step}, levels 0 to {len(self.levels) - 1}, {cells} cells of level {self.level}, " + \
            f"{', '.join(self.stored)})"
