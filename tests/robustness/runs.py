"""What the robustness tests share: running tagflow, what it said, and whether a folder is sound.

    TAGFLOW     the program (required)
    TAGFLOW_O0  the same, built without optimisation (optional, tests/parallel/hash_ranks.py)

A test works in a temporary folder of its own, prints a line for each thing it checked, and ends with
finish(), whose exit status is 1 when a check failed. skip() ends it with 77.
"""
import atexit
import csv
import glob
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

import h5py
import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TAGFLOW = os.path.abspath(os.environ["TAGFLOW"])
WORK = tempfile.mkdtemp(prefix="tagflow_robust_")
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
os.chdir(WORK)

# A run that is not over after so many seconds hangs.
HANGS = 120

# A case with something of everything that a run writes; replace() changes it.
CASE = """\
domain:  {cells: [16, 12, 4]}
fluid:   {viscosity: 0.05, velocity: 0.05, length: 16}
faces:
  x: wall
  ymin: wall
  ymax: {wall: {velocity: [0.05, 0, 0]}}
  z: periodic
run:     {steps: 20}
check:   {every: 5}
output:
  log:    {every: 5}
  series: {flow: {every: 2, of: [mass, kinetic_energy, enstrophy, max_velocity]}}
  fields: {main: {every: 10, of: [velocity, density, pressure, tags]}}
  images: {mid: {every: 10, of: speed}}
"""

_failures = 0


def check(good, text):
    """Counts and prints one comparison; returns whether it was good."""
    global _failures
    _failures += not good
    print(("ok   " if good else "FAIL ") + text, flush=True)
    return good


def finish():
    sys.exit(_failures > 0)


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def write(path, text):
    """Puts text or bytes into a file and returns its name."""
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


class Said:
    """How a command ended and what it said."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.lines = [line for line in err.splitlines() if line.startswith("tagflow: ")]
        self.errors = [line for line in self.lines if not line.startswith("tagflow: warning: ")]

    def __str__(self):
        return f"exit status {self.code}, {self.errors if self.errors else self.err[-300:]!r}"


def command(arguments, ranks=0, program=None):
    """The command line: by itself (ranks 0), or under mpirun."""
    line = [program or TAGFLOW] + [str(a) for a in arguments]
    if ranks:
        line = ["sh", "-c", '. "$0"; mpi_run "$@"', ROOT + "/scripts/environment.sh", str(ranks)] + line
    return line


def tagflow(*arguments, ranks=0, cwd=None, env=None, program=None):
    """Runs it to its end; killed with all its ranks, and a failure, if it hangs."""
    process = subprocess.Popen(command(arguments, ranks, program), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
                               env=None if env is None else os.environ | env)
    try:
        out, err = process.communicate(timeout=HANGS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        out, err = process.communicate()
        check(False, f"hangs: tagflow {' '.join(map(str, arguments))} on {ranks} ranks")
    return Said(process.returncode, out, err)


def sets(settings):
    """Arguments for {path: value}; a value is text in YAML or anything that JSON can say."""
    out = []
    for path, value in settings.items():
        out += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    return out


def load(folder, name):
    with open(os.path.join(folder, name)) as file:
        return json.load(file)


def tree(folder="."):
    """Every name below the folder."""
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, folders, files in os.walk(folder) for name in folders + files)


def series_text(folder, name="flow"):
    with open(os.path.join(folder, "series", name + ".csv"), "rb") as file:
        return file.read()


def snapshot(path):
    """{array: values} of a snapshot."""
    with h5py.File(path) as file:
        return {name: data[...] for name, data in file["VTKHDF/PointData"].items()}


def snapshots(folder):
    """{file: {array: values}} of all snapshots of a run."""
    return {os.path.basename(path): snapshot(path)
            for path in sorted(glob.glob(os.path.join(folder, "fields", "*.vtkhdf")))}


def same_bits(a, b):
    """Are two {name: array} equal in names, types, shapes and bytes?"""
    return a.keys() == b.keys() and all(a[name].dtype == b[name].dtype and a[name].shape == b[name].shape and
                                        a[name].tobytes() == b[name].tobytes() for name in a)


def _png_fault(data):
    """Chunks whole, checksums right, pixels there, an end."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return "no PNG"
    at, kinds, pixels = 8, [], b""
    while at + 12 <= len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        kind, body, checksum = data[at + 4:at + 8], data[at + 8:at + 8 + size], data[at + 8 + size:at + 12 + size]
        if zlib.crc32(kind + body) != int.from_bytes(checksum, "big"):
            return "a chunk is damaged"
        kinds.append(kind)
        pixels += body if kind == b"IDAT" else b""
        at += 12 + size
    if at != len(data) or not kinds or kinds[-1] != b"IEND":
        return "no end"
    return "" if zlib.decompress(pixels) else "no pixels"


def _csv_fault(text):
    if not text.endswith("\n"):
        return "its last row is cut"
    rows = list(csv.reader(text.splitlines()))
    if any(len(row) != len(rows[0]) for row in rows):
        return "a row is cut"
    return "" if all(math.isfinite(float(value)) for row in rows[1:] for value in row) else "a value is not finite"


def _field_fault(path):
    for name, values in snapshot(path).items():
        if not values.size:
            return f"{name} is empty"
        if not numpy.isfinite(values).all():
            return f"{name} is not finite"
        if name == "density" and not (values > 0.1).all():
            return "density is not written everywhere"
    return ""


def _fault(path):
    """What is wrong with one file of a run."""
    with open(path, "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    try:
        if name.endswith(".json"):
            return "" if isinstance(json.loads(data), dict) else "no object"
        if name.endswith(".csv"):
            return _csv_fault(data.decode())
        if name.endswith(".png"):
            return _png_fault(data)
        if name.endswith(".vtkhdf"):
            return _field_fault(path)
        if name == "case.yaml":
            return "" if tagflow("check", os.path.abspath(path)).code == 0 else "is no case"
        if name == "log.txt":
            return "" if not data or data.endswith(b"\n") else "its last line is cut"
    except (ValueError, OSError, zlib.error, UnicodeDecodeError) as error:
        return str(error)
    return "is not what a run writes"


def faults(folder, temporary=False):
    """What is torn in a run's folder, a text each: nothing, one hopes. temporary: may *.tmp be there?"""
    found = []
    for where, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".tmp"):
                found += [] if temporary else [name + " was left behind"]
            elif fault := _fault(os.path.join(where, name)):
                found.append(f"{name}: {fault}")
    return found
