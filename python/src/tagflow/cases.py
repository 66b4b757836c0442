"""Cases to run: a case file, or a dict, and settings that replace values of it."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Union

import numpy

from .errors import UsageError, quoted
from .files import write_text

Source = Union[str, "os.PathLike[str]", Mapping[str, Any], "Case"]


def _plain(value: Any) -> Any:
    """What json does not know: numpy's numbers and arrays."""
    if isinstance(value, (numpy.generic, numpy.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} is no value of a case")


def value_text(value: Any) -> str:
    """A value as the text of --set: text stays as it is (YAML: "2 mm", "{every: 10}"), everything else becomes JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"no value of a case: {quoted(repr(value))} ({error})") from None


class Case:
    """A case: the name of a case file, or a dict with the same keys, and `settings`, {path: value}, that replace values.

        Case("cavity.yaml", {"fluid.reynolds": 400})
        Case({"domain": {"cells": [64, 64, 1]}, "fluid": {...}, "faces": {...}, "run": {"steps": 1000}})

    A value is a number, a list, a dict, or a text as in the case file ("2 mm").
    """

    def __init__(self, source: Source, settings: Optional[Mapping[str, Any]] = None) -> None:
        self.settings: Dict[str, Any] = {}
        self.file: Optional[str] = None
        self.values: Optional[Mapping[str, Any]] = None
        if isinstance(source, Case):
            self.file, self.values = source.file, source.values
            self.settings.update(source.settings)
        elif isinstance(source, Mapping):
            self.values = source
            value_text(dict(source))  # it has to be possible to write it
        else:
            self.file = os.fspath(source)
        for path, value in (settings or {}).items():
            if not path or "=" in path:
                raise UsageError(f"{quoted(path)!r} is no path of a case's key")
            value_text(value)
            self.settings.pop(path, None)  # the last one is the last on the command line, too
            self.settings[path] = value

    def vary(self, settings: Mapping[str, Any]) -> "Case":
        """The same case with more settings."""
        return Case(self, settings)

    @property
    def name(self) -> Optional[str]:
        """The case file's name without folder and ending; None of a dict."""
        return os.path.splitext(os.path.basename(self.file))[0] if self.file is not None else None

    def text(self) -> str:
        """The text of the case without the settings; of a dict it is JSON, which is YAML, too."""
        if self.file is None:
            sections = [value_text({key: value})[1:-1] for key, value in (self.values or {}).items()]
            return "{\n" + ",\n".join(sections) + "\n}\n"  # a section on each line, so that messages with a line say more
        try:
            with open(self.file, encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except OSError as error:
            raise UsageError(f"{quoted(self.file)}: {error.strerror}") from None

    def write(self, path: Union[str, "os.PathLike[str]"]) -> "Case":
        """Writes a dict as a case file; returns the case that has this file. Files that it names are looked for beside it."""
        if self.values is None:
            raise UsageError(f"{quoted(self.file)} is a file already; tagflow run writes the case with its settings as case.yaml")
        write_text(os.fspath(path), self.text())
        return Case(path, self.settings)

    def arguments(self) -> List[str]:
        """The case file and the settings as arguments of tagflow."""
        if self.file is None:
            raise UsageError("a case that is a dict has no file yet: write() makes one")
        if self.file.startswith("-"):
            return [os.path.join(".", self.file), *self.set_arguments()]
        return [self.file, *self.set_arguments()]

    def set_arguments(self) -> List[str]:
        return [word for path, value in self.settings.items() for word in ("--set", f"{path}={value_text(value)}")]

    def __repr__(self) -> str:
        source = repr(self.file) if self.file is not None else "{...}"
        return f"Case({source}, {self.settings!r})" if self.settings else f"Case({source})"
