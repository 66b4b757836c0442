#!/usr/bin/python3
"""Folders of the source use those before them in USES alone, solver/backend.h nothing of the case, and no file of a folder
includes another one that includes it, whether directly or through others."""
import os
import re
import sys

# Folder: those whose headers its files may include; every folder uses include/.
USES = {
    "base": "",
    "foreign": "base",
    "body": "base foreign",
    "case": "base body",
    "domain": "base case",
    "tags": "base foreign body case domain",
    "advice": "base body case domain tags",
    "io": "base",
    "solver": "base body case domain tags io",
    "measure": "base body case domain tags io solver",
    "cpu": "base solver",
    "cuda": "base solver",
    "run": "base foreign body case domain tags advice io solver measure",
    "lib": "base foreign case domain solver measure run",
    "predict": "base case domain",
    "cli": "base foreign body case domain tags advice io solver measure run lib predict",
    "bench": "base case domain tags solver measure cpu cli",
    ".": "base case solver cli",
}
# Files of a folder that may include each other. New ones get a file below them for what both need.
CYCLES = [frozenset(cycle.split()) for cycle in (
    "base/file base/launcher base/message",
    "case/bare case/case case/given case/outline case/record case/sections case/value",
    "cli/levels cli/scale",
    "cpu/cut cpu/runs",
    "cpu/rows cpu/scalars",
    "foreign/hdf5 foreign/hdf5_wire",
    "io/series io/series_cut",
    "solver/drive solver/grid solver/hold",
    "tags/edges tags/refine",
)]
root = os.environ.get("TAGFLOW_SOURCE_ROOT", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
files = {}  # "case/case.h": the headers of src/ that it includes
for folder in USES:
    where = os.path.join(root, folder if folder == "cuda" else os.path.join("src", folder))
    for name in os.listdir(where):
        if re.search(r"\.(c|h|cu)$", name):
            with open(os.path.join(where, name)) as file:
                found = re.findall(r'^#include "([^"]+)"', file.read(), re.M)
            files[os.path.normpath(os.path.join(folder, name))] = [f for f in found if os.path.exists(os.path.join(root, "src", f))]

wrong = []
order = list(USES)
for folder, used in USES.items():
    wrong += [f"USES: {folder} comes before {other}" for other in used.split() if order.index(other) >= order.index(folder)]
for file, headers in files.items():
    folder = os.path.dirname(file) or "."
    allowed = USES[folder].split() + [folder]
    wrong += [f"{file} includes {header}" for header in headers if (os.path.dirname(header) or ".") not in allowed]


def all_of(file, seen):
    for header in files.get(file, []):
        if header not in seen:
            seen.add(header)
            all_of(header, seen)
    return seen


def unit(file):
    """A file's .c and .h together."""
    return os.path.splitext(file)[0]


# A unit: the others of its folder that it includes.
units = {}
for file, headers in files.items():
    units.setdefault(unit(file), set()).update(unit(h) for h in headers if os.path.dirname(h) == os.path.dirname(file) and unit(h) != unit(file))


def reached(start):
    seen, left = set(), [start]
    while left:
        new = units.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


cycles = {frozenset(u for u in reached(start) if start in reached(u)) for start in units} - {frozenset()}
wrong += [f"include each other: {' '.join(sorted(cycle))}" for cycle in cycles if cycle not in CYCLES]
wrong += [f"CYCLES: there is none of {' '.join(sorted(cycle))}" for cycle in CYCLES if cycle not in cycles]
wrong += [f"solver/backend.h includes {header}, by others" for header in sorted(all_of("solver/backend.h", set()))
          if header.startswith("case/")]
print("\n".join(wrong) or f"{len(files)} files, no include that goes up")
sys.exit(len(files) < 100 or bool(wrong))
