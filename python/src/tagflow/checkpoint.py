"""What a checkpoint says of itself. `tagflow info FILE` verifies every byte of it; this reads its header alone."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Tuple, Union

from .errors import FileError, quoted
from .fields import h5py_module
from .files import open_regular
from .resolved import ResolvedCase


class Checkpoint:
    """step, time, cells (x, y, z), storage, state_hash, arrays and provenance of a checkpoint."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)
        try:
            with open_regular(self.path):
                pass
            with h5py_module().File(self.path, "r") as file:
                self.step, self.time = int(file.attrs["step"]), float(file.attrs["time"])
                nx, ny, nz = (int(n) for n in file.attrs["grid"])
                self.cells: Tuple[int, int, int] = (nx, ny, nz)
                self.storage, self.state_hash = (self._text(file.attrs[name]) for name in ("storage", "state_hash"))
                self.arrays: List[str] = self._text(file.attrs["arrays"]).split("\n")
                self.arrays = [line for line in self.arrays if line]
                self.provenance: Dict[str, Any] = dict(file["provenance"].attrs)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else "it is damaged or no HDF5 file"
            raise FileError(f"{quoted(self.path)}: {why}") from None
        except (KeyError, RuntimeError, ValueError, TypeError) as error:
            raise FileError(f"{quoted(self.path)} is no checkpoint of tagflow: {quoted(' '.join(str(error).split()))}") from None

    @staticmethod
    def _text(value: Any) -> str:
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    @property
    def case(self) -> Optional[ResolvedCase]:
        """The case of the run."""
        text = self.provenance.get("case")
        return ResolvedCase(self._text(text), f"{quoted(self.path)}: its case") if text is not None else None

    def __repr__(self) -> str:
        return f"Checkpoint({self.path!r}: step {self.step}, {' x '.join(map(str, self.cells))} cells, {self.storage})"
