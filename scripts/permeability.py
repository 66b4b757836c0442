#!/usr/bin/python3
"""Permeability along x, y and z: three runs of one case, each driven along its axis.

    scripts/permeability.py CASE.yaml [--acceleration A] [--series NAME] [--output FOLDER] [--axes xyz]
                            [--tagflow "mpirun -n 4 tagflow"] [-- OPTIONS OF tagflow run]

The case has a series of permeability (named k, or NAME) and run.stop: {of: permeability, ...}. Its force is
replaced: A (default 1e-6, cells a step squared) along the axis; faces across that axis have to be periodic or open.
Results are in FOLDER_x, FOLDER_y, FOLDER_z (FOLDER: the case's name), and in the table at the end. A folder that is
there is gone on with (--restart auto), so that a job that was killed is started again by the same line.
"""
import argparse
import errno
import math
import os
import shlex
import sys

import command_line  # noqa: F401 (finds the package tagflow)
import tagflow
from tagflow.sweeps import text_table


def run(o, axis, options):
    """report.json of the run along an axis; ends with the exit status of tagflow if it fails."""
    folder = f"{o.output}_{axis}"
    settings = {"force.acceleration": [o.acceleration if a == axis else 0 for a in "xyz"], f"output.series.{o.series}.axis": axis}
    try:
        report = tagflow.run(o.case, folder, settings, restart="auto" if os.path.exists(folder) else None, options=options,
                             program=o.tagflow, echo=True).report
    except tagflow.RunError as error:
        sys.exit(error.exit_status)  # tagflow has said why
    except tagflow.ProgramError as error:
        sys.exit(f"permeability.py: {error} (--tagflow says what to start)")
    if not report:
        sys.exit(f"permeability.py: {folder}/report.json: {os.strerror(errno.ENOENT)}")
    if "permeability" not in report:
        sys.exit(f"permeability.py: {folder}: the case has no run.stop of permeability (run: {{stop: {{of: permeability, "
                 "change: 1e-5, every: 500}})")
    return report


def text(value, form):
    return "-" if value is None else format(value, form)


def main():
    arguments, options = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, options = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case")
    parser.add_argument("--acceleration", type=float, default=1e-6)
    parser.add_argument("--series", default="k")
    parser.add_argument("--output")
    parser.add_argument("--axes", default="xyz")
    parser.add_argument("--tagflow", metavar="PROGRAM")
    o = parser.parse_args(arguments)
    o.output = o.output or os.path.splitext(os.path.basename(o.case))[0]
    if not o.axes or set(o.axes) - set("xyz"):
        parser.error(f"--axes {o.axes}: letters x, y, z")
    if not math.isfinite(o.acceleration) or o.acceleration == 0:
        parser.error(f"--acceleration {o.acceleration}: a number other than 0")
    if o.tagflow is not None and not shlex.split(o.tagflow):
        parser.error("--tagflow: what to start")
    rows = []
    for axis in o.axes:
        report = run(o, axis, options)
        k = report["permeability"]
        rows.append([axis, text(k["cells2"], ".6g"), text(k["m2"], ".6g"), text(k["millidarcy"], ".6g"),
                     text(k["remaining"], ".1e"), str(report["step"])])
    print(text_table(["axis", "cells^2", "m2", "mD", "settled to", "step"], rows))
    print(k["formula"])


if __name__ == "__main__":
    main()
