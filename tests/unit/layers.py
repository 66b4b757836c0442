#!/usr/bin/python3
"""Folders of the source use those before them in USES alone, and solver/backend.h nothing of the case."""
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
    "io": "base",
    "solver": "base body case domain tags io",
    "measure": "base body case domain tags io solver",
    "cpu": "base solver",
    "cuda": "base solver",
    "bench": "base case domain tags solver measure cpu",
    "run": "base foreign body case domain tags io solver measure",
    "predict": "base case domain",
    "cli": "base body case domain tags io solver measure bench run predict",
    ".": "base foreign case solver run cli",
}
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


wrong += [f"solver/backend.h includes {header}, by others" for header in sorted(all_of("solver/backend.h", set()))
          if header.startswith("case/")]
print("\n".join(wrong) or f"{len(files)} files, no include that goes up")
sys.exit(len(files) < 100 or bool(wrong))
