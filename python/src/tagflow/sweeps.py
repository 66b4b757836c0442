"""Many runs of one case with different settings: a folder each, and a table of results."""
from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import os
import re
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import numpy

from .cases import Case, Source, value_text
from .errors import CaseError, DivergedError, FileError, MissingPackage, UnknownName, UsageError, no_name, quoted
from .files import read_json, write_text
from .folder import Run, is_number
from .program import Program, run

if TYPE_CHECKING:
    import pandas

Settings = Mapping[str, Any]
Grid = Union[Mapping[str, Sequence[Any]], Sequence[Settings]]
Collect = Callable[[Run], Mapping[str, Any]]


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table to read: columns as wide as they have to be, each line without its end."""
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in [head, *rows])


class Table(Sequence[Dict[str, Any]]):
    """Rows as {column: value}; `table["state"]` is a column, None where a row has no such value."""

    def __init__(self, rows: Sequence[Dict[str, Any]]) -> None:
        self.rows = list(rows)

    @property
    def columns(self) -> List[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, str):
            return self.rows[index]
        if index not in self.columns:
            raise UnknownName(no_name("column", index, self.columns))
        return [row.get(index) for row in self.rows]

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.rows)

    def array(self, column: str) -> Any:
        """A column of numbers as a numpy array, nan where there is none."""
        return numpy.array([numpy.nan if value is None else value for value in self[column]], dtype=float)

    def csv(self) -> str:
        """The table as the text of a CSV file."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow(["" if row.get(name) is None else value_text(row[name]) for name in self.columns])
        return out.getvalue()

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the table as a CSV file."""
        write_text(os.fspath(path), self.csv())

    def dataframe(self) -> "pandas.DataFrame":
        """The table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise MissingPackage("pandas", "Table.dataframe()") from None
        return pandas.DataFrame(self.rows, columns=self.columns)

    def __str__(self) -> str:
        return text_table(self.columns, [[_cell(row.get(name)) for name in self.columns] for row in self.rows])


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    text = f"{value:.6g}" if isinstance(value, float) else value_text(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _map(value: Any) -> Dict[str, Any]:
    """An object of a JSON file; {}: it is something else."""
    return value if isinstance(value, dict) else {}


def _numbers(name: str, value: Any, keys: Sequence[str]) -> Dict[str, Any]:
    """{name.key: number} of those keys of an object of a JSON file that have one."""
    return {f"{name}.{key}": _map(value)[key] for key in keys if is_number(_map(value).get(key))}


def results(run: Run) -> Dict[str, Any]:
    """What a sweep collects of a run: state, step and time; the permeability; of series with `statistics` in the case mean,
    deviation, frequency and Strouhal number of each column; of others with one row a step the last row."""
    found: Dict[str, Any] = {"state": run.state, "step": run.step, "time": run.status["time"]}
    found.update(_numbers("permeability", run.report.get("permeability"), ("cells2", "m2", "millidarcy", "remaining")))
    statistics = _map(run.report.get("statistics"))
    for name, of in statistics.items():
        for column, numbers in _map(_map(of).get("columns")).items():
            found.update(_numbers(f"{name}.{column}", numbers, ("mean", "deviation", "frequency", "strouhal")))
    for name in run.series:
        try:
            series = run.series[name]
        except FileError:
            continue
        if name not in statistics and series.along is None:
            found.update({f"{name}.{column}": float(series[column][-1]) for column in series.drawn})
    return found


def points_of(grid: Grid) -> List[Dict[str, Any]]:
    """All combinations of the values of a grid, the last path fastest; a list of settings stays as it is."""
    if isinstance(grid, Mapping):
        for path, values in grid.items():
            if isinstance(values, (str, Mapping)) or not hasattr(values, "__iter__"):
                raise UsageError(f"{path}: a list of values is needed, not {quoted(repr(values))}")
        points = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    else:
        points = [dict(point) for point in grid]
    if not points or not all(points):
        raise UsageError("a sweep needs at least one key and one value")
    return points


def _short(paths: Sequence[str]) -> Dict[str, str]:
    """The shortest ends of paths that tell them apart."""
    found = {}
    for path in paths:
        words = path.split(".")
        for count in range(1, len(words) + 1):
            name = ".".join(words[-count:])
            if sum(other == name or other.endswith("." + name) for other in paths) == 1:
                break
        found[path] = name
    return found


def folder_names(points: Sequence[Settings]) -> List[str]:
    """A folder's name for each point, made of its values: `reynolds=100,cells=64x64x4`."""
    short = _short(list(dict.fromkeys(path for point in points for path in point)))
    names = []
    for point in points:
        exact, words = True, []
        for path, value in point.items():
            text = value_text(value)
            numbers = re.fullmatch(r"\[([-+\w.]+(?:, ?[-+\w.]+)*)\]", text)
            text = re.sub(r", ?", "x", numbers[1]) if numbers else text
            plain = re.sub(r"[^\w.+-]+", "_", text)[:60].strip("_")
            exact &= plain == text
            words.append(f"{short[path]}={plain}")
        name = ",".join(words)
        if not exact or len(name) > 200:
            digest = hashlib.sha256(json.dumps({path: value_text(value) for path, value in point.items()}).encode()).hexdigest()
            name = name[:200] + "_" + digest[:8]
        names.append(name)
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"a sweep has the same values twice: {name}")
    return names


class _Record:
    """sweep.json: what each folder of the sweep was run with, so that a finished run is not started again."""

    def __init__(self, folder: str) -> None:
        self.path, self.lock = os.path.join(folder, "sweep.json"), threading.Lock()
        self.known: Dict[str, Any] = read_json(self.path)

    def same(self, name: str, key: str) -> bool:
        return self.known.get(name) == key

    def note(self, name: str, key: str) -> None:
        with self.lock:
            self.known[name] = key
            write_text(self.path, json.dumps(self.known, indent=1) + "\n")


def sweep(case: Source, grid: Grid, folder: Union[str, "os.PathLike[str]"], settings: Optional[Settings] = None, *,
          collect: Collect = results, ranks: int = 1, threads: Optional[int] = None, jobs: int = 1, overwrite: bool = False,
          options: Sequence[str] = (), program: Program = None, tell: Optional[Callable[[str], Any]] = None) -> Table:
    """Runs a case once for each combination of values; the table of results, a row each, which is also FOLDER/table.csv.

    grid      {path: list of values}, or a list of settings, {path: value} each
    folder    the runs are in folders below it, named for the values
    settings  of all runs
    collect   makes the results of a run; results() by default
    jobs      so many runs at a time, each with `ranks` and `threads`
    overwrite runs everything again
    tell      is called with a line of text when a run begins and ends, for example print

    The same call continues a sweep: a run that is done, or that diverged, is not started again; one that was stopped or killed
    goes on from its checkpoint. A run that diverges, or a case that tagflow refuses, is a row (`state` is "diverged" or
    "refused"); any other failure ends the sweep when the runs that go on are over, and the error is raised.
    """
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        raise UsageError(f"jobs: {jobs!r} is not a whole number above 0")
    base, where = Case(case, settings), os.fspath(folder)
    points = points_of(grid)
    names = folder_names(points)
    os.makedirs(where, exist_ok=True)
    if base.file is None:
        base = base.write(os.path.join(where, "case.json"))
    text = base.text()
    record = _Record(where)
    rows: List[Optional[Dict[str, Any]]] = [None] * len(points)

    def one(k: int) -> None:
        name, path = names[k], os.path.join(where, names[k])
        point = base.vary(points[k])
        key = hashlib.sha256(json.dumps([text, point.set_arguments(), list(options)]).encode("utf-8", "surrogateescape")).hexdigest()
        found: Dict[str, Any] = dict(points[k])
        ended = None if overwrite or not record.same(name, key) else _ended(path)
        try:
            if ended is None:
                _say(tell, f"{name}: starts")
                ended = run(point, path, ranks=ranks, threads=threads, overwrite=overwrite,
                            restart="auto" if os.path.exists(path) and not overwrite else None, options=options, program=program)
            else:
                _say(tell, f"{name}: is {ended.state} already")
            record.note(name, key)
            found.update(collect(ended))
        except DivergedError:
            record.note(name, key)
            found.update(collect(Run(path)))
        except CaseError as error:
            found.update(state="refused", error=str(error))
        rows[k] = {**found, "folder": name}
        _say(tell, f"{name}: {found.get('state', 'done')}")

    failure: Optional[BaseException] = None
    with ThreadPoolExecutor(jobs) as pool:
        waiting, going = list(range(len(points))), set()  # type: ignore[var-annotated]
        try:
            while waiting or going:
                while waiting and len(going) < jobs and failure is None:
                    going.add(pool.submit(one, waiting.pop(0)))
                done: "set[Future[None]]"
                done, going = wait(going, return_when=FIRST_COMPLETED)
                for future in done:
                    failure = failure or future.exception()
                Table([row for row in rows if row is not None]).write(os.path.join(where, "table.csv"))
                if failure is not None and not going:
                    raise failure
        except KeyboardInterrupt:
            waiting.clear()
            raise
    return Table([row for row in rows if row is not None])


def _ended(path: str) -> Optional[Run]:
    """The run in a folder if it is done or has diverged."""
    try:
        found = Run(path)
    except FileError:
        return None
    return found if found.state in ("done", "diverged") else None


def _say(tell: Optional[Callable[[str], Any]], line: str) -> None:
    if tell is not None:
        tell(line)
