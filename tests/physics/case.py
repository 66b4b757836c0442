"""What the physics tests share: runs of tagflow in a temporary folder, and the verdict.

    TAGFLOW        the program (required)
    TAGFLOW_RANKS  ranks of the runs that are large (1)

A test runs cases of configs/ with a few values replaced, compares what they wrote with a reference,
and ends with finish(), whose exit status is 1 when a comparison failed.
"""
import atexit
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FP64 = {"solver.storage": "fp64", "solver.arithmetic": "fp64"}
FP32 = {"solver.storage": "fp32", "solver.arithmetic": "fp32"}

_folder = tempfile.mkdtemp(prefix="tagflow_physics_")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
_runs = 0
_failures = 0


class Run:
    """A finished run and what it wrote."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "report.json")) as file:
            self.report = json.load(file)

    def series(self, name="flow"):
        """Columns by name."""
        path = os.path.join(self.folder, "series", name + ".csv")
        return numpy.genfromtxt(path, delimiter=",", names=True)

    def _fields(self, name):
        return sorted(glob.glob(os.path.join(self.folder, "fields", name + "_*.vtkhdf")))

    def steps_of(self, name="main"):
        """The steps of the snapshots."""
        return [int(path[-len("0123456789.vtkhdf"):-len(".vtkhdf")]) for path in self._fields(name)]

    def field(self, array="velocity", name="main", number=-1):
        """Array of the number-th snapshot, the last unless told: [x, y, z] or [x, y, z, component]."""
        with h5py.File(self._fields(name)[number]) as file:
            nx, ny, nz = file["provenance"].attrs["cells"]  # a single layer is there twice
            return file["VTKHDF/PointData"][array][:nz, :ny, :nx].swapaxes(0, 2)

    def remove(self):
        shutil.rmtree(self.folder)


def scratch():
    """The folder of the runs, for files that they need."""
    return _folder


def run(case, settings, ranks=None, folder=None, large=False):
    """Run configs/<case>.yaml with the settings, {path: value}, on `ranks` ranks, else on one, or as many as a large run has."""
    global _runs
    _runs += 1
    folder = folder or os.path.join(_folder, f"{_runs}_{case}")
    ranks = ranks or (int(os.environ.get("TAGFLOW_RANKS", "1")) if large else 1)
    command = [os.environ["TAGFLOW"], "run", f"configs/{case}.yaml", "--output", folder, "--overwrite"]
    for path, value in settings.items():
        command += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    if ranks > 1:
        command = ["sh", "-c", '. scripts/environment.sh; mpi_run "$@"', "sh", str(ranks)] + command
    result = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        print(result.stdout)
        print(f"FAIL {case}: exit status {result.returncode}")
        sys.exit(1)
    return Run(folder)


def _verdict(good, text):
    global _failures
    _failures += not good
    print(("ok   " if good else "FAIL ") + text, flush=True)


def near(what, found, reference, tolerance):
    """Is |found - reference| at most the tolerance?"""
    difference = abs(found - reference)
    _verdict(difference <= tolerance,
             f"{what}: {found:.9g}, reference {reference:.9g}, off by {difference:.3g} (at most {tolerance:.3g})")


def at_most(what, found, limit):
    _verdict(found <= limit, f"{what}: {found:.4g} (at most {limit:.4g})")


def at_least(what, found, limit):
    _verdict(found >= limit, f"{what}: {found:.4g} (at least {limit:.4g})")


def order(cells, errors):
    """Order of convergence between the first and the last grid, after a line for each pair."""
    slopes = [numpy.log(errors[i] / errors[i + 1]) / numpy.log(cells[i + 1] / cells[i])
              for i in range(len(cells) - 1)]
    for i, slope in enumerate(slopes):
        print(f"     {cells[i]} -> {cells[i + 1]} cells: error {errors[i]:.4g} -> {errors[i + 1]:.4g}, "
              f"order {slope:.3f}")
    return min(slopes)


def finish():
    sys.exit(_failures > 0)
