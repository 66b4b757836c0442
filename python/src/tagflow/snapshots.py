"""The files of fields/: what they are, and those of one name in order of their steps."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Dict, List, Sequence, Tuple, Union, overload

from .errors import FileError, MissingPackage, UnknownName, quoted
from .fields import Snapshot, Surface, h5py_module
from .files import open_regular, reason
from .refined import Refined

if TYPE_CHECKING:
    import xarray


def file_kind(path: str) -> Tuple[str, bytes]:
    """What a file of fields/ is: "field", "average" or "surface", and its type in VTKHDF."""
    try:
        with open_regular(path):
            pass
        with h5py_module().File(path, "r") as file:
            kind = file["VTKHDF"].attrs["Type"]
            if kind == Surface.type:
                return "surface", kind
            return ("average" if "samples" in file["provenance"].attrs else "field"), kind
    except OSError as error:
        why = reason(error) if error.errno else "it is damaged or no HDF5 file"
        raise FileError(f"{quoted(path)}: {why}") from None
    except (KeyError, RuntimeError, ValueError) as error:
        raise FileError(f"{quoted(path)} is no snapshot of tagflow: {quoted(' '.join(str(error).split()))}") from None


def open_snapshot(path: Union[str, "os.PathLike[str]"]) -> Snapshot:
    """Opens a file of output.fields or output.averages: a Refined if it holds all levels of a refined grid."""
    name = os.fspath(path)
    return Refined(name) if file_kind(name)[1] == Refined.type else Snapshot(name)


class FieldSeries(Sequence[Snapshot]):
    """The snapshots of one name, in order of their steps: `series[-1]` is the last one, `series.at(20000)` that of a step."""

    def __init__(self, name: str, paths: Dict[int, str]) -> None:
        self.name, self.paths = name, dict(sorted(paths.items()))

    @property
    def steps(self) -> List[int]:
        return list(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, index: int) -> Snapshot: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Snapshot]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Snapshot, Sequence[Snapshot]]:
        if isinstance(index, slice):
            return [open_snapshot(self.paths[step]) for step in self.steps[index]]
        return open_snapshot(self.paths[self.steps[index]])

    def at(self, step: int) -> Snapshot:
        """The snapshot of a step."""
        if step not in self.paths:
            nearest = min(self.paths, key=lambda s: abs(s - step))
            raise UnknownName(f"{quoted(self.name)} has no snapshot of step {step}; the nearest is {nearest}")
        return open_snapshot(self.paths[step])

    def dataset(self) -> "xarray.Dataset":
        """All snapshots as one xarray Dataset with the dimension `time`. It reads all of them into memory."""
        try:
            import xarray
        except ImportError:
            raise MissingPackage("xarray", "FieldSeries.dataset()") from None
        parts = []
        for snapshot in self:
            unit = {"units": "s" if snapshot.physical else "steps"}
            part = snapshot.dataset().expand_dims(time=[snapshot.time]).assign_coords(step=("time", [snapshot.step]))
            part["time"].attrs.update(unit)
            parts.append(part)
        return xarray.concat(parts, "time")

    def __repr__(self) -> str:
        return f"FieldSeries({self.name!r}: steps {', '.join(map(str, self.steps))})"
