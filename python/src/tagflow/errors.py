"""Errors of this package: one line of text each, and the exit status that a script ends with."""
from __future__ import annotations

import difflib
from typing import Iterable, List, Optional, Sequence

_WARNING = "tagflow: warning: "


def quoted(text: object) -> str:
    """A name as one line of text, whatever is in it."""
    name = str(text)
    name = name if len(name) <= 200 else name[:196] + " ..."
    return name if name.isprintable() else ascii(name)


def warnings_in(lines: Iterable[str]) -> List[str]:
    """The warnings among lines of standard error, each once."""
    return list(dict.fromkeys(line[len(_WARNING):] for line in lines if line.startswith(_WARNING)))


def no_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The text of an error: there is no such name, and which one may be meant."""
    known = list(known)
    near = difflib.get_close_matches(name, known, 1)
    hint = f" (did you mean {quoted(near[0])}?)" if near else f"; there are {', '.join(map(quoted, known))}" if known else "; there is none"
    return f"no {kind} {quoted(name)!r}{hint}"


class TagflowError(Exception):
    """Any error of this package."""

    exit_status = 2


class UsageError(TagflowError):
    """A wrong argument."""


class UnknownName(UsageError, KeyError):
    """A name that is not there: of a column, an array, a series, a key of the case."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it


class FileError(TagflowError):
    """A file or folder that is missing, damaged, or none of tagflow's."""


class OneLevel(FileError, AttributeError):
    """A file of one level was asked for its levels, which only files of all levels of a refined grid have."""


class NoRows(FileError):
    """A series that has no rows yet."""


class MissingPackage(TagflowError, ImportError):
    """A Python package that this method needs."""

    exit_status = 1

    def __init__(self, package: str, what: str, debian: bool = True) -> None:
        where = f"pip install {package}" + (f", or apt install python3-{package}" if debian else "")
        super().__init__(f"{what} needs Python's {package}: {where}")


class ProgramError(TagflowError):
    """The program tagflow, or what starts it, cannot be started."""

    exit_status = 1


class RunError(TagflowError):
    """tagflow ended with an exit status other than 0: `status`.

    said: the last lines of its standard error; warnings: those of them; text: the error; folder: the run's.
    """

    status: Optional[int] = None

    def __init__(self, status: int, said: Sequence[str], folder: Optional[str] = None) -> None:
        self.status, self.said, self.folder = status, list(said), folder
        self.exit_status = status if status > 0 else 128 - status
        ours = [line for line in self.said if line.startswith("tagflow: ") and not line.startswith(_WARNING)]
        self.warnings = warnings_in(self.said)
        others = [line for line in self.said if not line.startswith(_WARNING)]
        self.text = text = ours[-1][len("tagflow: "):] if ours else others[-1] if others else ""
        words = [quoted(folder)] if folder else []
        words += [] if text and status == 2 else [self.meaning(status)]
        super().__init__(": ".join([*words, *([text] if text else [])]))

    @staticmethod
    def meaning(status: int) -> str:
        return {1: "the machine failed", 2: "wrong case or usage", 3: "the flow diverged",
                75: "stopped early with a checkpoint"}.get(status, f"killed by signal {-status}" if status < 0 else f"exit status {status}")


class MachineError(RunError):
    """Exit status 1: the machine failed."""


class CaseError(RunError):
    """Exit status 2: wrong case, restart file or usage."""


class DivergedError(RunError):
    """Exit status 3: the flow diverged."""


class StoppedEarly(RunError):
    """Exit status 75: stopped early with a good checkpoint. Start the run again to continue it."""


class KilledError(RunError):
    """Killed by a signal, or any other exit status."""


def run_error(status: int, said: Sequence[str], folder: Optional[str] = None) -> RunError:
    """The error of an exit status."""
    kind = {1: MachineError, 2: CaseError, 3: DivergedError, 75: StoppedEarly}.get(status, KilledError)
    return kind(status, said, folder)
