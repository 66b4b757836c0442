"""Runs of tagflow from Python: open them, vary and start them, sweep a parameter. docs/python.md describes it.

    import tagflow

    run = tagflow.run("cavity.yaml", "cavity", {"fluid.reynolds": 400})
    energy = run.series["flow"]["kinetic_energy"]
    velocity = run.fields["main"][-1]["velocity"]      # [z, y, x, component]

Needs numpy and h5py; pandas, xarray and PyVista where a method returns their objects.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

from ._version import __version__
from .errors import (CaseError, DivergedError, FileError, KilledError, MachineError, MissingPackage, NoRows, OneLevel, ProgramError, RunError,
                     StoppedEarly, TagflowError, UnknownName, UsageError)

if TYPE_CHECKING:
    from .cases import Case
    from .checkpoint import Checkpoint
    from .fields import Snapshot, Surface
    from .folder import Run, open_run
    from .log import Log
    from .program import Checked, Job, check, find_program, keys, run, start
    from .refined import Box, Level, Refined
    from .resolved import ResolvedCase
    from .series import Series, spectrum, statistics
    from .simulation import Block, Simulation
    from .snapshots import FieldSeries, open_snapshot
    from .sweeps import Table, results, sweep

__all__ = [
    "Block", "Box", "Case", "CaseError", "Checked", "Checkpoint", "DivergedError", "FieldSeries", "FileError", "Job", "KilledError", "Level", "Log",
    "MachineError", "MissingPackage", "NoRows", "OneLevel", "ProgramError", "Refined", "ResolvedCase", "Run", "RunError", "Series", "Simulation",
    "Snapshot",
    "StoppedEarly", "Surface", "Table", "TagflowError", "UnknownName", "UsageError", "__version__", "check", "find_program", "keys",
    "open_run", "open_snapshot", "results", "run", "spectrum", "start", "statistics", "sweep",
]

# Read when they are asked for: scripts that need the errors alone then need no numpy.
_MODULES = {
    "Block": "simulation", "Box": "refined", "Case": "cases", "Checked": "program", "Checkpoint": "checkpoint", "FieldSeries": "snapshots", "Job": "program",
    "Level": "refined", "Log": "log", "Refined": "refined", "ResolvedCase": "resolved", "Run": "folder", "Series": "series",
    "Simulation": "simulation", "Snapshot": "fields", "Surface": "fields", "Table": "sweeps", "check": "program", "find_program": "program", "keys": "program",
    "open_run": "folder", "open_snapshot": "snapshots", "results": "sweeps", "run": "program", "spectrum": "series", "start": "program",
    "statistics": "series", "sweep": "sweeps",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'tagflow' has no attribute {name!r}")
    found = getattr(importlib.import_module("." + _MODULES[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> List[str]:
    return sorted(set(__all__) | set(globals()))
