"""The case of a run as tagflow resolved it (case.yaml, or `case` in the provenance of a file): values by their paths.

tagflow writes this text itself, in a small part of YAML: maps by indentation, maps and lists in brackets, words, numbers,
texts in double quotes. This reader knows that part and no more.
"""
from __future__ import annotations

import re
from typing import Any, Dict, List, Tuple

from .errors import FileError, UnknownName, no_name, quoted

_TOKEN = re.compile(r'\s*(?:([{}\[\],])|"((?:[^"\\]|\\.)*)"|([^{}\[\],"\s](?:[^{}\[\],"]*[^{}\[\],"\s])?))')
_COMMENT = re.compile(r'^((?:[^"#]|"(?:[^"\\]|\\.)*"|(?<=\S)#)*)(?<!\S)#.*$')  # behind a blank, outside of texts
_ESCAPE = re.compile(r"\\(?:U([0-9A-Fa-f]{8})|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))")
_INTEGER = re.compile(r"[-+]?\d+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def _plain(word: str) -> Any:
    """A word as what it means."""
    if _INTEGER.fullmatch(word):
        return int(word)
    if _NUMBER.fullmatch(word):
        return float(word)
    return {"true": True, "false": False, "null": None}.get(word, word)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1] or m[2] or m[3], 16)) if m[4] is None else {"n": "\n", "t": "\t"}.get(m[4], m[4]), text)


class _Flow:
    """Reads one value that stands on a line: {..}, [..], a word or a text."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def next(self) -> Tuple[str, str]:
        """(kind, text) of the next token; kind: a bracket or comma, "text", "word", or "" at the end."""
        match = _TOKEN.match(self.text, self.at)
        if not match:
            if self.text[self.at:].strip():
                raise ValueError(self.text[self.at:].strip())
            return "", ""
        self.at = match.end()
        if match[1]:
            return match[1], match[1]
        return ("text", _unescaped(match[2])) if match[2] is not None else ("word", match[3])

    def value(self) -> Any:
        kind, text = self.next()
        if kind == "[":
            return self.list()
        if kind == "{":
            return self.map()
        if kind in ("text", "word"):
            return text if kind == "text" else _plain(text)
        raise ValueError(f"{kind or 'the end'} in place of a value")

    def list(self) -> List[Any]:
        found: List[Any] = []
        start = self.at
        if self.next()[0] == "]":
            return found
        self.at = start
        while True:
            found.append(self.value())
            kind = self.next()[0]
            if kind == "]":
                return found
            if kind != ",":
                raise ValueError("a list without an end")

    def map(self) -> Dict[str, Any]:
        found: Dict[str, Any] = {}
        while True:
            kind, text = self.next()
            if kind == "}" and not found:
                return found
            if kind not in ("word", "text"):
                raise ValueError("a map without a key")
            # The word before a bracket ends in a colon; before a word or number the two are one token.
            key, colon, rest = text.partition(":")
            if not colon:
                raise ValueError(f"{text}: no value")
            found[key.strip()] = _plain(rest.strip()) if rest.strip() else self.value()
            kind = self.next()[0]
            if kind == "}":
                return found
            if kind != ",":
                raise ValueError("a map without an end")


def _value(text: str) -> Any:
    flow = _Flow(text)
    found = flow.value()
    if flow.next()[0]:
        raise ValueError(f"{text}: more than one value")
    return found


def parse(text: str) -> Dict[str, Any]:
    """The maps of a resolved case; ValueError if it is none."""
    root: Dict[str, Any] = {}
    maps = [(-1, root)]  # (indentation of the line that opened it, the map)
    for number, line in enumerate(text.splitlines(), 1):
        body = _COMMENT.sub(r"\1", line).strip()
        if not body:
            continue
        indent = len(line) - len(line.lstrip(" "))
        while indent <= maps[-1][0]:
            maps.pop()
        key, colon, rest = body.partition(":")
        if not colon or not re.fullmatch(r"[\w.-]+", key):
            raise ValueError(f"line {number}: {body[:40]!r} is no key with a value")
        if rest.strip():
            try:
                maps[-1][1][key] = _value(rest)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
        else:
            inner: Dict[str, Any] = {}
            maps[-1][1][key] = inner
            maps.append((indent, inner))
    return root


class ResolvedCase:
    """The case of a run, in lattice units, with every default: `case["fluid.viscosity"]`, `case["output.series.drag"]`."""

    def __init__(self, text: str, name: str = "case.yaml") -> None:
        self.text, self.name = text, name
        try:
            self.values: Dict[str, Any] = parse(text)
        except (ValueError, OverflowError, RecursionError) as error:
            raise FileError(f"{name} is no case as tagflow resolves it: {quoted(error)}") from None

    def __getitem__(self, path: str) -> Any:
        """The value of a key by its path."""
        found: Any = self.values
        for word in path.split("."):
            if not isinstance(found, dict) or word not in found:
                known = found if isinstance(found, dict) else ()
                raise UnknownName(f"{path}: {no_name('key', word, known)}")
            found = found[word]
        return found

    def get(self, path: str, default: Any = None) -> Any:
        """The same; `default` if the case has no such key."""
        try:
            return self[path]
        except UnknownName:
            return default

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.get(path, self) is not self

    def _number(self, path: str, unit: str) -> float:
        """A number before a unit; tagflow writes m, s and kg/m3 alone. 1 if the case has no such key."""
        text = self.get(path)
        match = re.fullmatch(rf"(\S+) {unit}", text) if isinstance(text, str) else None
        try:
            return float(match[1]) if match else 1.0
        except ValueError:
            raise FileError(f"{self.name}: {path} is no number in {unit}") from None

    @property
    def physical(self) -> bool:
        """Are the run's files in m, s and kg? They are in lattice units without `units`, or with `units.dx` alone."""
        return "units.dt" in self

    @property
    def dx(self) -> float:
        """The side of a cell in m; 1 without units."""
        return self._number("units.dx", "m")

    @property
    def dt(self) -> float:
        """The length of a step in s; 1 without units."""
        return self._number("units.dt", "s")

    @property
    def viscosity(self) -> float:
        """The kinematic viscosity in cells^2 a step, also of a case that gives `fluid.reynolds`."""
        fluid = self["fluid"]
        try:
            return float(fluid["viscosity"] if "viscosity" in fluid else fluid["velocity"] * fluid["length"] / fluid["reynolds"])
        except (ArithmeticError, KeyError, TypeError, ValueError):
            raise FileError(f"{self.name}: fluid tells no viscosity") from None

    @property
    def density(self) -> float:
        """The reference density in kg/m3; 1 without units."""
        return self._number("units.density", "kg/m3") if self.physical else 1.0

    def __repr__(self) -> str:
        return f"ResolvedCase({self.name!r})"
