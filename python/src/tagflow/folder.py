"""The folder of a run, also while the run goes on: state, numbers, case, log, series, fields, images, checkpoints."""
from __future__ import annotations

import calendar
import glob
import json
import math
import os
import re
import socket
import time
from typing import Any, Callable, Dict, Generic, Iterator, List, Mapping, Optional, Tuple, TypeVar, Union

from .checkpoint import Checkpoint
from .errors import FileError, UnknownName, no_name, quoted
from .fields import FILE_NAME, Surface
from .files import read_json, read_text
from .log import Log
from .resolved import ResolvedCase
from .series import Series
from .snapshots import FieldSeries, file_kind

STATES = ("starting", "running", "done", "stopped", "diverged", "failed")
SILENT = 600  # seconds after which a run that says it is running counts as silent

Thing = TypeVar("Thing")


class Named(Mapping[str, Thing], Generic[Thing]):
    """{name: thing} of a folder, in order of the names; a thing is read when it is asked for."""

    def __init__(self, kind: str, places: Dict[str, Any], read: Callable[[str, Any], Thing]) -> None:
        self._kind, self._places, self._read = kind, places, read

    def __getitem__(self, name: str) -> Thing:
        if name not in self._places:
            raise UnknownName(no_name(self._kind, name, self._places))
        return self._read(name, self._places[name])

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"{{{', '.join(self._places)}}}"


def is_number(value: Any) -> bool:
    """Is it a number that can be calculated with? JSON also gives nan, inf and whole numbers of any length."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


class Run:
    """One run. What it holds is that of the moment when it was opened; refresh() looks again.

    status and report are the objects of status.json and report.json (report is {} while the run goes on).
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        self.folder = os.fspath(folder)
        if not os.path.exists(self.folder):
            raise FileError(f"{quoted(self.folder)}: there is no such folder")
        if not os.path.isdir(self.folder):
            raise FileError(f"{quoted(self.folder)} is not the folder of a run")
        self.name = os.path.basename(os.path.abspath(self.folder))
        self.refresh()

    def refresh(self) -> "Run":
        """Looks at the folder again; returns the run itself."""
        self.status: Dict[str, Any] = read_json(self.path("status.json"), "; the folder holds no run of tagflow")
        for key in ("step", "steps", "time"):
            if not is_number(self.status.get(key)):
                raise FileError(f"{quoted(self.folder)}/status.json is damaged: it has no number `{key}`, or one beyond 1e300")
        if self.status.get("state") not in STATES:
            raise FileError(f"{quoted(self.folder)}/status.json is damaged: state {json.dumps(self.status.get('state'))[:60]}")
        self.state: str = self.status["state"]
        self.step: int = self.status["step"]
        self.report: Dict[str, Any] = {} if self.goes_on() else read_json(self.path("report.json"))  # else of an earlier job
        self.case_text: str = read_text(self.path("case.yaml")) or ""
        self.log = Log(read_text(self.path("log.txt")))
        self._case: Optional[ResolvedCase] = None
        return self

    def path(self, *names: str) -> str:
        """A path in the folder."""
        return os.path.join(self.folder, *names)

    def _files(self, folder: str, ending: str) -> List[str]:
        return sorted(glob.glob(glob.escape(self.path(folder)) + "/*" + ending))

    @property
    def case(self) -> ResolvedCase:
        """The case as tagflow resolved it, in lattice units: `run.case["fluid.viscosity"]`."""
        if not self.case_text:
            raise FileError(f"{quoted(self.path('case.yaml'))}: there is no such file")
        if self._case is None:
            self._case = ResolvedCase(self.case_text, quoted(self.path("case.yaml")))
        return self._case

    @property
    def physical(self) -> bool:
        """Are its files in m, s and kg? Else they are in lattice units."""
        try:
            return self.case.physical
        except FileError:
            return False

    @property
    def series(self) -> Mapping[str, Series]:
        """{name: series}."""
        return Named("series", {os.path.basename(path)[:-len(".csv")]: path for path in self._files("series", ".csv")},
                     lambda name, path: Series(path))

    def _snapshots(self, kind: str) -> Dict[str, Dict[int, str]]:
        """{name: {step: path}} of the files of fields/ of a kind."""
        found: Dict[str, Dict[int, str]] = {}
        for path in self._files("fields", ".vtkhdf"):
            if match := FILE_NAME.fullmatch(os.path.basename(path)):
                found.setdefault(match[1], {})[int(match[2])] = path
        return {name: paths for name, paths in found.items() if file_kind(next(iter(paths.values())))[0] == kind}

    @property
    def fields(self) -> Mapping[str, FieldSeries]:
        """{name: snapshots} of output.fields."""
        return Named("fields", self._snapshots("field"), FieldSeries)

    @property
    def averages(self) -> Mapping[str, FieldSeries]:
        """{name: averages} of output.averages."""
        return Named("averages", self._snapshots("average"), FieldSeries)

    @property
    def surfaces(self) -> Mapping[str, Dict[int, Surface]]:
        """{name: {step: surface}} of output.surfaces."""
        return Named("surfaces", self._snapshots("surface"),
                     lambda name, paths: {step: Surface(path) for step, path in paths.items()})

    @property
    def images(self) -> Dict[str, Dict[int, str]]:
        """{name: {step: path}} of the PNG files of output.images."""
        found: Dict[str, Dict[int, str]] = {}
        for path in self._files("images", ".png"):
            name = re.fullmatch(r"(.+)_(\d{10})\.png", os.path.basename(path))
            if name:
                found.setdefault(name[1], {})[int(name[2])] = path
        return found

    @property
    def checkpoints(self) -> List[Checkpoint]:
        """The checkpoints, in order of their steps."""
        return [Checkpoint(path) for path in self._files("checkpoints", ".h5")
                if re.fullmatch(r"step_\d{10}\.h5", os.path.basename(path))]

    # ---- the state ----

    def goes_on(self) -> bool:
        """Does status.json say that it goes on?"""
        return self.state in ("starting", "running")

    def silence(self) -> Optional[float]:
        """Seconds since status.json was written by a run that goes on; None: it does not, or the time is not there."""
        if not self.goes_on():
            return None
        try:
            then = calendar.timegm(time.strptime(self.status.get("updated", ""), "%Y-%m-%dT%H:%M:%SZ"))
        except (TypeError, ValueError):
            return None
        return max(0.0, time.time() - then)

    def gone(self) -> bool:
        """Is the process of a run that says that it goes on not there any more? Only known on its own host."""
        if not self.goes_on() or self.status.get("host") != socket.gethostname() or not isinstance(self.status.get("pid"), int):
            return False
        return not os.path.exists(f"/proc/{self.status['pid']}") and os.path.isdir("/proc/self")

    def state_text(self) -> Tuple[str, str]:
        """(a word: the state, "killed" or "silent"; a sentence)"""
        step, steps, left = self.status["step"], self.status["steps"], self.status.get("eta_seconds")
        share = f"step {step} of {steps}"
        if self.gone():
            return "killed", f"{share}; status.json says {self.state}, but process {self.status['pid']} is not there any more"
        if self.goes_on():
            words = share + (f", {duration(left)} left" if left is not None and is_number(left) else "")
            silence = self.silence()
            if silence is not None and silence > SILENT:
                return "silent", f"{words}; no sign of life for {duration(silence)}"
            return self.state, words
        reason = self.status.get("reason")
        words = share + (f"; {reason}" if reason else "")
        return self.state, words + f"; exit status {self.status.get('exit_status')}"

    def share(self) -> float:
        """What is done of the run, 0 to 1."""
        return 1.0 if self.state == "done" else max(0.0, min(1.0, self.status["step"] / max(1, self.status["steps"])))

    def __repr__(self) -> str:
        return f"Run({self.folder!r}: {self.state}, step {self.step})"


def open_run(folder: Union[str, "os.PathLike[str]"]) -> Run:
    """Opens the folder of a run."""
    return Run(folder)


def duration(seconds: float) -> str:
    """A time to read."""
    if not math.isfinite(seconds):
        return "-"
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    if seconds < 172800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"
