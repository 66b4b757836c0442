"""Series of a run (series/*.csv): columns as numpy arrays, their units, statistics of rows."""
from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy

from .errors import FileError, MissingPackage, NoRows, UnknownName, UsageError, no_name, quoted
from .files import read_bytes, reason
from .resolved import ResolvedCase
from .units import column_unit, scalar_unit, seconds

if TYPE_CHECKING:
    import pandas

# Squares and differences must not overflow; a flow that diverges gets there.
LARGEST = 1e150
# What tells the rows apart and is not a result.
_ROW = ("step", "time")
_PLACE = ("distance", "angle", "x", "y", "z")

Array = Any  # numpy.ndarray: its parameters differ between the versions of numpy


class Series:
    """One CSV file. `series["mass"]` is a column; `columns` are their names, `values` is [row, column].

    along: the column along which a series has several rows a step ("distance" of a line, "angle" of a surface), else None.
    drawn: the columns that are results. A row that a running job has not ended yet is left out.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)
        try:
            text = read_bytes(self.path).decode("utf-8")
        except OSError as error:
            raise FileError(f"{quoted(self.path)}: {reason(error)}") from None
        except UnicodeDecodeError:
            raise FileError(f"{quoted(self.path)} is no CSV file") from None
        lines = text[:text.rfind("\n") + 1].splitlines()
        if not lines:
            raise NoRows(f"{quoted(self.path)} is empty")
        self.columns: List[str] = lines[0].split(",")
        if self.columns[:2] != ["step", "time"] or len(set(self.columns)) < len(self.columns):
            raise FileError(f"{quoted(self.path)} is no series of tagflow: its header is not step,time,...")
        if len(lines) == 1:
            raise NoRows(f"{quoted(self.path)} has no rows yet")
        self.values: Array = self._numbers(lines[1:])
        self.along: Optional[str] = next((name for name in ("distance", "angle") if name in self.columns), None)
        self.drawn = [name for name in self.columns if name not in _ROW + (_PLACE if self.along else ())]
        if not self.drawn:
            raise FileError(f"{quoted(self.path)} has no columns but {', '.join(self.columns)}")
        self.case = self._find_case()

    def _numbers(self, lines: Sequence[str]) -> Array:
        try:
            values = numpy.loadtxt(lines, delimiter=",", ndmin=2, comments=None)
            if values.shape[1] == len(self.columns):
                return values
        except ValueError:
            pass
        # It is not as it should be: find the place.
        for number, line in enumerate(lines, 2):
            fields = line.split(",")
            if len(fields) != len(self.columns):
                raise FileError(f"{quoted(self.path)}:{number}: {len(fields)} values, not {len(self.columns)}")
            for name, field in zip(self.columns, fields):
                try:
                    float(field)
                except ValueError:
                    raise FileError(f"{quoted(self.path)}:{number}: {name}: {field[:40]!r} is no number") from None
        raise FileError(f"{quoted(self.path)} is no table of numbers")

    def _find_case(self) -> Optional[ResolvedCase]:
        """The case of the run; None if it is not there."""
        folder = os.path.dirname(os.path.abspath(self.path))
        for place in (os.path.dirname(folder), folder):
            try:
                return ResolvedCase(read_bytes(os.path.join(place, "case.yaml")).decode("utf-8"))
            except (OSError, UnicodeDecodeError, FileError):
                pass
        return None

    @property
    def physical(self) -> Optional[bool]:
        """Has the run units? None: its case is not there to say so."""
        return self.case.physical if self.case else None

    def unit(self, name: str) -> Optional[str]:
        """The unit of a column: "m/s", or "1" of a plain number; None in lattice units, or if it is not known."""
        self._check(name)
        unit = self._scalar_unit(name) or column_unit(name)
        return unit if self.physical or unit in ("1", "cells²", "m²", "mD") and name != "area" else None

    def _scalar_unit(self, name: str) -> Optional[str]:
        """Of a scalar at points, or of a column that depends on the series' scalar."""
        if not self.case:
            return None
        kind = self.case.get(f"scalars.{name}.kind")
        if kind is not None and self._entry.get("of") in ("probe", "line"):
            return "K" if kind == "heat" else "1"
        kind = self.case.get(f"scalars.{self._entry.get('scalar')}.kind")
        return None if kind is None else scalar_unit(name, kind == "heat", "units.heat_capacity" in self.case)

    @property
    def _entry(self) -> Dict[str, Any]:
        """The series in the case; empty if it is not there."""
        entry = self.case.get(f"output.series.{self.name}") if self.case else None
        return entry if isinstance(entry, dict) else {}

    @property
    def units(self) -> Dict[str, Optional[str]]:
        """The units of all columns."""
        return {name: self.unit(name) for name in self.columns}

    def _check(self, name: str) -> None:
        if name not in self.columns:
            raise UnknownName(f"{quoted(self.path)}: {no_name('column', name, self.columns)}")

    def __getitem__(self, name: str) -> Array:
        self._check(name)
        return self.values[:, self.columns.index(name)]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.values)

    @property
    def steps(self) -> Array:
        """The steps of the rows, each once, as whole numbers."""
        steps = numpy.unique(self["step"])
        if not numpy.isfinite(steps).all():
            raise FileError(f"{quoted(self.path)}: a step is not a number")
        return steps.astype(numpy.int64)

    def table(self, step: Optional[int] = None) -> Dict[str, Array]:
        """{column: values}, of all rows or of one step."""
        rows = slice(None) if step is None else self.rows_at(step)
        return {name: self.values[rows, k] for k, name in enumerate(self.columns)}

    def rows_at(self, step: int) -> Array:
        """Which rows are those of a step: of a line or a surface its points."""
        rows = self["step"] == step
        if not rows.any():
            steps = self["step"]
            nearest = steps[numpy.argmin(numpy.abs(steps - step))]
            raise UnknownName(f"{quoted(self.path)} has no step {step}; the nearest is {nearest:.0f}")
        return rows

    def array(self) -> Array:
        """All rows as a structured array: `array["mass"]`, `array[-1]`. `step` is int64, the others are float64."""
        found = numpy.empty(len(self), [(name, numpy.int64 if name == "step" else numpy.float64) for name in self.columns])
        for name in self.columns:
            found[name] = self[name]
        return found

    def dataframe(self) -> "pandas.DataFrame":
        """All rows as a pandas DataFrame, with the units in `attrs["units"]`."""
        try:
            import pandas
        except ImportError:
            raise MissingPackage("pandas", "Series.dataframe()") from None
        frame = pandas.DataFrame({name: self.array()[name] for name in self.columns})
        frame.attrs["units"] = self.units
        return frame

    @property
    def name(self) -> str:
        """The name of the series in the case."""
        return os.path.splitext(os.path.basename(self.path))[0]

    @property
    def run_name(self) -> str:
        """The name of the run's folder."""
        folder = os.path.dirname(os.path.abspath(self.path))
        return os.path.basename(os.path.dirname(folder) if os.path.basename(folder) == "series" else folder)

    # ---- statistics ----

    def step_of(self, begin: Union[float, str]) -> float:
        """The step of `begin`: a step, or a time with a unit, as text ("20 s"), as for `statistics: {from: ...}` in a case."""
        if not isinstance(begin, str):
            return begin
        try:
            return float(begin)
        except ValueError:
            time = seconds(begin)
        if time is None:
            raise UsageError(f"{begin!r} is neither a step nor a time with a unit (for example '20 s')")
        if self.physical is False:
            raise UsageError(f"{quoted(self.path)} is of a run in lattice units: {begin!r} must be a step")
        last = numpy.argmax(self["step"])
        length = self["time"][last] / self["step"][last] if self["step"][last] > 0 else math.inf
        return math.floor(time / length + 0.5)

    def rows_from(self, begin: Union[float, str]) -> Array:
        """The rows from `begin` on, see step_of(), as far as they are evenly spaced: the last row of a run that ended early is not."""
        step = self["step"]
        rows = numpy.flatnonzero(step >= self.step_of(begin))
        if len(rows) > 2:
            apart = numpy.diff(step[rows])
            if apart[-1] != apart[-2]:
                rows, apart = rows[:-1], apart[:-1]
            gaps = numpy.flatnonzero(apart != apart[-1])
            rows = rows[gaps[-1] + 1:] if len(gaps) else rows
        if not len(rows):
            raise UnknownName(f"{quoted(self.path)} has no rows from {begin if isinstance(begin, str) else f'step {begin:.10g}'} on")
        return rows

    def begin(self) -> Tuple[int, str]:
        """(first step of the rows that statistics are made of, how it was chosen): as the case says, else half of them."""
        steps = self["step"]
        asked = self.case.get(f"output.series.{self.name}.statistics.from") if self.case else None
        if isinstance(asked, int) and 0 <= asked < 2**63 and asked <= steps[-1]:
            return asked, "as the case says"
        return steps[0] + 0.5 * (steps[-1] - steps[0]), "second half of the rows"

    def strouhal_scale(self) -> Optional[float]:
        """Length over velocity, in steps, of a series of forces; None: not known."""
        entry = self._entry
        if entry.get("of") != "forces":
            return None
        length, velocity = entry.get("length"), entry.get("velocity")
        return length / velocity if all(isinstance(n, (int, float)) and 0 < abs(n) < LARGEST for n in (length, velocity)) else None

    def statistics(self, name: str, begin: Union[float, str, None] = None, x: Optional[str] = None) -> Dict[str, float]:
        """Statistics of a column: mean, min, max, rms, deviation, frequency, amplitude, and strouhal for forces with a length.

        The rows are those from `begin` on: a step, or a time with a unit ("20 s"); by default from the step that the case says,
        else the second half. The frequency is in 1/s in a run with units, else in 1/step; x="time" or x="step" says in which.
        A number that is not known is nan. The method is that of `statistics` in report.json.
        """
        if self.along:
            raise UnknownName(f"{quoted(self.path)}: statistics need one row a step; this series has rows along {self.along}")
        rows = self.rows_from(self.begin()[0] if begin is None else begin)
        at, steps = self[x or "time"][rows], self["step"][rows]
        interval = (at[-1] - at[0]) / max(len(rows) - 1, 1)
        found = statistics(self[name][rows], interval)
        scale = self.strouhal_scale()
        if scale is not None and not math.isnan(found["frequency"]):
            found["strouhal"] = found["frequency"] * (at[-1] - at[0]) / (steps[-1] - steps[0]) * scale
        return found

    def __repr__(self) -> str:
        return f"Series({self.path!r}: {len(self)} rows of {', '.join(self.columns)})"


_STATISTICS = ("mean", "min", "max", "rms", "deviation", "frequency", "amplitude")


def spectrum(values: Array) -> Tuple[Array, int]:
    """(amplitudes, number n of points): amplitude k is that of k/n periods a row, by Hann's window; n is at least 4 rows."""
    count = len(values)
    size = 4
    while size < 4 * count:
        size *= 2
    window = 0.5 - 0.5 * numpy.cos(2 * math.pi * (numpy.arange(count) + 0.5) / count)
    return 2 / window.sum() * abs(numpy.fft.rfft(window * (values - values.mean()), size)), size


def statistics(values: Array, interval: float) -> Dict[str, float]:
    """{name: number} of values at equal intervals; as in src/io/statistics.c."""
    count = len(values)
    found = dict.fromkeys(_STATISTICS, math.nan)
    if not (abs(values) < LARGEST).all():
        return found
    mean = values.mean()
    found.update(mean=mean, min=values.min(), max=values.max(), rms=math.sqrt((values**2).mean()), deviation=values.std())
    if count < 8 or found["max"] == found["min"]:
        return found
    height, size = spectrum(values)
    peak = 1 + int(numpy.argmax(height[1:size // 2]))
    if height[peak - 1:peak + 2].min() <= 0:
        return found
    left, middle, right = numpy.log(height[peak - 1:peak + 2])
    bend = left - 2 * middle + right
    at = 0.5 * (left - right) / bend if bend < 0 else 0
    if (peak + at) * count >= 2 * size:  # at least two periods
        found["frequency"] = (peak + at) / size / interval
        found["amplitude"] = math.exp(middle - 0.25 * (left - right) * at)
    return found


def shared_unit(files: Sequence[Series], name: str) -> Optional[str]:
    """The unit of a column in all series that have it; None: they differ, it has none, or a plain number."""
    units = {file.unit(name) for file in files if name in file.columns}
    unit = units.pop() if len(units) == 1 else None
    return unit if unit != "1" else None


def range_without_start(curves: Sequence[Array]) -> Optional[Tuple[float, float]]:
    """The range of curves' finite values without their start, if the start goes far beyond all that follows; else None."""
    if not curves or any(len(values) < 30 for values in curves):
        return None
    whole = numpy.concatenate(list(curves))
    for share in (0.15, 0.1, 0.05):
        rest = numpy.concatenate([values[round(share * len(values)):] for values in curves])
        span = rest.max() - rest.min()
        if whole.max() - whole.min() > 4 * span > 1e-9 * abs(rest).max():
            return rest.min() - 0.3 * span, rest.max() + 0.3 * span
    return None
