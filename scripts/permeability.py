#!/usr/bin/python3
"""Permeability tensor of a porous medium: three runs of one case, driven along x, y and z, and one page of the results.

    scripts/permeability.py CASE.yaml [--acceleration A] [--series NAME] [--output FOLDER] [--axes xyz] [--no-flow]
                            [--tagflow "mpirun -n 4 tagflow"] [-- OPTIONS OF tagflow run]

The case has a series of permeability (named k, or NAME) and run.stop: {of: permeability, ...}. Its force is
replaced: A (default 1e-6, cells a step squared) along the axis; faces across that axis have to be periodic or open.
Results are in FOLDER_x, FOLDER_y, FOLDER_z (FOLDER: the case's name), and in the table at the end. A folder that is
there is gone on with (--restart auto), so that a job that was killed is started again by the same line.

FOLDER_permeability.html and .json hold the tensor with principal values and asymmetry, porosity, Reynolds number,
convergence, tortuosity, distribution of the velocity, and sub-volumes. The last three need the velocity at the end of
each run: the script adds output.fields.pore_flow to the case. With --no-flow it does not.
"""
import json
import math
import os
import shlex
import sys

from command_line import Parser, Wrong, ended, quoted
import tagflow
from tagflow.files import write_text
from tagflow.sweeps import text_table

CREEPING = 0.3  # largest Reynolds number of slow flow: in configs/rock.yaml the permeability is then 0.1 % too low
ASYMMETRY = 0.01  # larger ones are warned of
SETTLED = 0.01  # so are larger distances from the limit
STOP = "(run: {stop: {of: permeability, change: 1e-5, every: 500}})"


class Stopped(Exception):
    """tagflow ended with this status and has said why."""


def force(o, axis):
    return [o.acceleration if a == axis else 0 for a in "xyz"]


def given(options):
    """{path: value} of --set among the options of tagflow."""
    words = [word for k, word in enumerate(options) if k > 0 and options[k - 1] == "--set"]
    words += [word[len("--set="):] for word in options if word.startswith("--set=")]
    return dict(word.split("=", 1) for word in words if "=" in word)


def look_at_axes(o, options):
    """Wrong if the faces of the case close an axis: before the first run, not after it. Bodies are not looked at."""
    for axis in o.axes:
        settings = {**given(options), "force": {"acceleration": force(o, axis)}, "bodies": {}, "run": {"steps": 1},
                    "output": {"series": {"k": {"every": 1, "of": "permeability", "axis": axis}}}}
        try:
            tagflow.check(o.case, settings, program=o.tagflow)
        except tagflow.RunError as error:
            mark = "output.series.k: "
            if mark in (error.text or ""):
                rest = f" (--axes leaves {axis} out)" if len(o.axes) > 1 else ""
                raise Wrong(f"{quoted(o.case)}: {error.text.split(mark, 1)[1]}{rest}") from None
            # Anything else the first run says itself, of the case as it is.


def run(o, axis, options):
    """The run along an axis, to its end."""
    folder = f"{o.output}_{axis}"
    settings = {"force.acceleration": force(o, axis), f"output.series.{o.series}.axis": axis}
    if o.flow:
        settings["output.fields.pore_flow"] = {"every": 9999999999, "of": ["velocity", "tags"]}
    try:
        found = tagflow.run(o.case, folder, settings, restart="auto" if os.path.exists(folder) else None, options=options,
                            program=o.tagflow, echo=True)
    except tagflow.RunError as error:
        raise Stopped(error.exit_status) from None
    if not found.report:
        print(f"permeability.py: {quoted(found.path('report.json'))}: No such file or directory", file=sys.stderr)
        raise Stopped(1)
    if "permeability" not in found.report:
        print(f"permeability.py: {quoted(folder)}: the case has no run.stop of permeability {STOP}", file=sys.stderr)
        raise Stopped(1)
    return found


def number(value):
    """A number of report.json; nan for null."""
    return math.nan if value is None else float(value)


def or_null(value):
    return value if value is not None and math.isfinite(value) else None


def sample_of(report):
    """(name, place) of the pores: of the image if there is one, else of the box; None if nothing is known."""
    pores = report.get("pores")
    if pores is None:
        return None, None
    images = pores["images"]
    return next(iter(images.items())) if len(images) == 1 else (None, pores["box"])


def tensor_of(runs, units):
    """K and what follows from it; None if a run has no mean velocity, or an axis is missing."""
    import numpy

    if sorted(runs) != ["x", "y", "z"]:
        return None
    columns = []
    for axis in "xyz":
        k = runs[axis].report["permeability"]
        columns.append([number(k["viscosity"]) * number(u) / (number(k["gradient"]) or math.nan) for u in k["mean_velocity"]])
    tensor = numpy.array(columns).T  # [flow, driven along]
    if not numpy.isfinite(tensor).all():
        return None
    values, vectors = numpy.linalg.eigh(0.5 * (tensor + tensor.T))
    found = {key: (tensor * unit).tolist() if unit else None for key, unit in units.items()}
    found["principal"] = []
    for k in (2, 1, 0):
        direction = vectors[:, k] * (1 if vectors[abs(vectors[:, k]).argmax(), k] > 0 else -1)
        found["principal"].append({**{key: float(values[k] * unit) if unit else None for key, unit in units.items()},
                                   "direction": (direction + 0.0).round(12).tolist()})
    found["asymmetry"] = float(abs(tensor - tensor.T).max() / 2 / abs(values).max()) if values.any() else 0.0
    found["anisotropy"] = or_null(float(values[2] / values[0])) if values[0] > 0 else None
    return found


def result_of(axis, found, place, warnings):
    """What the JSON file holds of one run."""
    from pore_flow import PoreFlow, find_snapshot

    k, stop, report = found.report["permeability"], found.report["stop"], found.report
    porosity = place["porosity"] if place else report["fluid_cells"] / math.prod(report["cells"])
    one = {key: k[key] for key in ("cells2", "m2", "millidarcy", "remaining", "series", "mean_velocity", "gradient", "viscosity")}
    value, along = number(k["cells2"]), number(k["mean_velocity"]["xyz".index(axis)])
    one["reynolds"] = or_null(abs(along) / porosity * math.sqrt(32 * max(value, 0) / porosity) / k["viscosity"])
    one |= {"folder": found.folder, "step": report["step"], "met": stop["met"], "last_change": stop["last_change"], "tortuosity": None,
            "velocities": None, "sub_volumes": None}
    if one["reynolds"] is not None and one["reynolds"] > CREEPING:
        warnings.append(f"along {axis} the Reynolds number of the pores is {one['reynolds']:.3g}: the flow is not creeping, and the permeability "
                        f"depends on the force (a smaller --acceleration)")
    if not stop["met"]:
        warnings.append(f"along {axis} run.stop was not met: the flow has not settled (larger run.steps)")
    elif k["remaining"] is not None and k["remaining"] > SETTLED:
        warnings.append(f"along {axis} the permeability is still about {100 * k['remaining']:.2g} % from its limit (a smaller run.stop.change)")
    if place and not place[axis]["through"]:
        warnings.append(f"along {axis} no pores lead from end to end")
    try:
        flow = PoreFlow(find_snapshot(found, report["step"]), "xyz".index(axis), *(
            (place["from"], place["to"]) if place else ([0, 0, 0], report["cells"])))
    except Wrong as wrong:
        warnings.append(f"along {axis} there is no tortuosity, distribution and sub-volume: {wrong}")
        return one
    return one | {"tortuosity": flow.tortuosity, "velocities": flow.distribution(),
                  "sub_volumes": flow.sub_volumes(k["viscosity"], k["gradient"]) if k["gradient"] else None}


def results(o, runs):
    """What the JSON file holds."""
    warnings, first = [], next(iter(runs.values()))
    for axis, found in runs.items():
        if "mean_velocity" not in found.report["permeability"]:
            raise Wrong(f"{quoted(found.path('report.json'))} has no mean velocity: an earlier version made it "
                        "(remove the folder, and start again)")
    name, place = sample_of(first.report)
    box = first.report.get("pores", {}).get("box")
    if place and place["cells"] < box["cells"]:
        warnings.append(f"the box has cells beside the image {name}, {place['cells']} of {box['cells']} cells are the image's: the flow beside it "
                        "counts in the tensor (take a box that the image fills)")
    cell = first.case.dx if "units.dx" in first.case else None
    units = {"cells2": 1.0, "m2": cell and cell**2, "millidarcy": cell and cell**2 / 9.869233e-16}
    found = {"case": o.case, "version": first.report["version"], "acceleration": o.acceleration, "axes": o.axes, "cell": cell,
             "sample": name, "porosity": place["porosity"] if place else first.report["fluid_cells"] / math.prod(first.report["cells"]),
             "pores": place, "tensor": tensor_of(runs, units), "warnings": warnings,
             "runs": {axis: result_of(axis, one, place, warnings) for axis, one in runs.items()}}
    tensor = found["tensor"]
    if tensor and tensor["asymmetry"] > ASYMMETRY:
        warnings.append(f"the tensor is not symmetric: half the difference of two opposite elements is {100 * tensor['asymmetry']:.2g} % of "
                        "the largest principal value (a smaller run.stop.change, a smaller force, faces that are all periodic)")
    if tensor and min(one["cells2"] for one in tensor["principal"]) <= 0:
        warnings.append("a principal value is not positive: the tensor is wrong, or nothing flows in that direction")
    return found


def text(value, form):
    return "-" if value is None else format(value, form)


def work(o, options):
    look_at_axes(o, options)
    runs, rows = {}, []
    for axis in o.axes:
        runs[axis] = run(o, axis, options)
        k = runs[axis].report["permeability"]
        rows.append([axis, text(k["cells2"], ".6g"), text(k["m2"], ".6g"), text(k["millidarcy"], ".6g"),
                     text(k["remaining"], ".1e"), str(runs[axis].report["step"])])
    print(text_table(["axis", "cells^2", "m2", "mD", "settled to", "step"], rows))
    print(k["formula"])
    from permeability_page import page

    found, name = results(o, runs), o.output + "_permeability"
    write_text(name + ".json", json.dumps(found, indent=1, allow_nan=False) + "\n")
    write_text(name + ".html", page(found, {axis: one.folder for axis, one in runs.items()}, os.path.basename(o.output) + ": permeability"))
    tensor = found["tensor"]
    if tensor:
        print("K [cells^2], column: driven along x, y, z")
        print(text_table(["flow", "x", "y", "z"], [[axis, *(format(v, ".6g") for v in row)] for axis, row in zip("xyz", tensor["cells2"])]))
        print("principal values [cells^2]: " + ", ".join(f"{one['cells2']:.6g} along ({', '.join(f'{v:.3f}' for v in one['direction'])})"
                                                         for one in tensor["principal"]))
        print(f"asymmetry {tensor['asymmetry']:.1e} of the largest")
    for warning in found["warnings"]:
        print(f"permeability.py: warning: {warning}", file=sys.stderr)
    print(f"{quoted(name)}.html, {quoted(name)}.json")


def main():
    words, options = sys.argv[1:], []
    if "--" in words:
        at = words.index("--")
        words, options = words[:at], words[at + 1:]
    parser = Parser("permeability.py", __doc__, "case file")
    parser.add_argument("case", metavar="CASE.yaml")
    parser.add_argument("--acceleration", metavar="A", type=float, default=1e-6, help="cells a step squared (1e-6)")
    parser.add_argument("--series", metavar="NAME", default="k", help="the series of permeability in the case (k)")
    parser.add_argument("--output", metavar="FOLDER", help="begin of the names of all results (the case's name)")
    parser.add_argument("--axes", default="xyz", help="letters of the axes (xyz); the tensor needs all three")
    parser.add_argument("--no-flow", dest="flow", action="store_false", help="write no snapshot of the velocity")
    parser.add_argument("--tagflow", metavar="PROGRAM", help="the program, and what starts its ranks ($TAGFLOW, else tagflow)")

    status = 0

    def all_of_it():
        o = parser.parse_args(words)
        o.output = o.output or os.path.splitext(os.path.basename(o.case))[0]
        if not o.axes or set(o.axes) - set("xyz") or len(set(o.axes)) < len(o.axes):
            raise Wrong(f"--axes {o.axes}: letters x, y, z")
        if not math.isfinite(o.acceleration) or o.acceleration == 0:
            raise Wrong(f"--acceleration {o.acceleration}: a number other than 0")
        if o.tagflow is not None and not shlex.split(o.tagflow):
            raise Wrong("--tagflow: what to start")
        try:
            work(o, options)
        except tagflow.ProgramError as error:
            print(f"permeability.py: {error} (--tagflow says what to start)", file=sys.stderr)
            raise Stopped(1) from None

    try:
        status = ended("permeability.py", "page", all_of_it)
    except Stopped as stopped:
        status = stopped.args[0]
    return status


if __name__ == "__main__":
    sys.exit(main())
