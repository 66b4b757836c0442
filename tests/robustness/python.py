#!/usr/bin/python3
"""The Python package tagflow: what it reads of a run is what the files say, what it starts and sweeps, and its errors.

pandas, xarray and PyVista are left out where they are not installed; TAGFLOW_TYPES=1 asks mypy for the types, too.
"""
import ast
import copy
import csv
import glob
import json
import os
import re
import shutil
import stat
import subprocess
import sys

import h5py
import numpy

import runs
from runs import ROOT, TAGFLOW, check, load, tree, write

SOURCE = os.path.join(ROOT, "python", "src")
sys.dont_write_bytecode = True
sys.path.insert(0, SOURCE)
import tagflow
from tagflow import fields, refined, resolved, sweeps
from tagflow.units import array_unit, column_unit


def fails(kind, words, what, call):
    """Does the call raise an error of exactly this kind, in one line with these words?"""
    try:
        found = call()
    except tagflow.TagflowError as error:
        return check(type(error) is kind and words in str(error) and "\n" not in str(error), f"{what}: {type(error).__name__}: {error}")
    except Exception as error:
        return check(False, f"{what}: {type(error).__name__}: {error}")
    return check(False, f"{what}: no error, {found!r}")


# ---- the package itself ----

version = re.search(r"version: '([^']+)'", open(ROOT + "/meson.build").read())[1]
check(tagflow.__version__ == version and 'version = {attr = "tagflow._version.__version__"}' in open(ROOT + "/python/pyproject.toml").read(),
      f"its version is that of the project, {version}")
check(sorted(tagflow.__all__) == sorted(set(tagflow.__all__)) and all(getattr(tagflow, name) is not None for name in tagflow.__all__),
      f"all {len(tagflow.__all__)} names are there")
files = sorted(glob.glob(SOURCE + "/tagflow/*.py"))
for path in files:
    text = open(path, encoding="utf-8").read()
    tree_ = ast.parse(text, feature_version=(3, 9))
    names = {alias.name.split(".")[0] for node in ast.walk(tree_) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module.split(".")[0] for node in ast.walk(tree_) if isinstance(node, ast.ImportFrom) and not node.level}
    foreign = names - set(sys.stdlib_module_names) - {"numpy", "h5py", "pandas", "xarray", "pyvista"}
    check(not foreign, f"{os.path.basename(path)}: grammar of Python 3.9, no other packages {sorted(foreign)}")
listed = set(re.findall(r"'([\w.]+)'", open(ROOT + "/python/meson.build").read()))
check({os.path.basename(path) for path in files} | {"py.typed"} <= listed, "meson.build installs all its files")
said = subprocess.run([sys.executable, "-c", "import sys, tagflow; print(sorted({'numpy', 'h5py'} & set(sys.modules)))"], capture_output=True,
                      text=True, env=os.environ | {"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"})
check(said.stdout == "[]\n", f"importing it alone needs neither numpy nor h5py {said.stderr[-200:]}")
if os.environ.get("TAGFLOW_TYPES"):
    said = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-p", "tagflow"], capture_output=True, text=True, cwd=SOURCE)
    check(said.returncode == 0, f"mypy --strict: {said.stdout[-500:]}")

# ---- cases and runs ----

CASE = {
    "units": {"dx": "2 mm", "dt": "1 ms", "density": "1.2 kg/m3"},
    "domain": {"cells": numpy.array([16, 12, 5])},
    "fluid": {"viscosity": numpy.float64(0.05), "velocity": 0.05, "length": 16},
    "faces": {"x": "wall", "ymin": "wall", "ymax": {"wall": {"velocity": [0.05, 0, 0]}}, "z": "periodic"},
    "bodies": {"post": {"shape": {"cylinder": {"axis": "z", "center": [8, 4, 2.5], "radius": 2, "length": 100}}}},
    "run": {"steps": 40},
    "checkpoint": {"every": 20},
    "output": {
        "log": {"every": 10},
        "series": {"flow": {"every": 2, "of": ["mass", "kinetic_energy"]}, "drag": {"every": 2, "of": "forces", "body": "post", "area": 8,
                                                                                    "statistics": {"from": 10}},
                   "wake": {"every": 20, "of": "line", "from": [1, 9, 2.5], "to": [15, 9, 2.5], "points": 5}},
        "fields": {"main": {"every": 20, "of": ["velocity", "density", "tags"]}, "bare": {"every": 40, "of": "velocity", "stride": 2},
                   "wide": {"every": 40, "of": "pressure", "precision": "fp64"}},
        "averages": {"mean": {"every": 1, "of": ["velocity", "stress"], "from": 10, "to": 30}},
        "images": {"mid": {"every": 20, "of": "speed"}},
    },
}
checked = tagflow.check(CASE)
check({"cells": 960, "steps": 40, "viscosity": 0.05, "tau": 0.65, "dx": 0.002, "dt": 0.001}.items() <= checked.numbers.items() and
      abs(checked.numbers["Reynolds"] - 16) < 1e-9 and "ranks: 1 = 1 x 1 x 1" in checked.text and not tree(".") == [".tagflow"],
      f"a dict is checked: {checked.numbers}")
check(not [name for name in tree() if name.startswith(".tagflow")], "and no file is left")
check(tagflow.check(CASE, {"fluid.viscosity": 1e-4}).numbers["viscosity"] == 1e-4 and tagflow.check(CASE, ranks=4).lines["ranks"].startswith("4 = "),
      "with settings, for ranks")
check(any("Reynolds number of a cell" in line for line in tagflow.check(CASE, {"fluid.viscosity": 1e-6}).warnings), "warnings are there")
run = tagflow.run(CASE, "run")
check(run.state == "done" and run.step == 40 and json.load(open("run.yaml")) and run.case["domain.cells"] == [16, 12, 5] and
      run.case.physical and (run.case.dx, run.case.dt, run.case.density) == (0.002, 0.001, 1.2), f"a dict is run: {run}")
check(tagflow.check("run.yaml").numbers == checked.numbers and open("run.yaml").read().startswith('{\n"units": {"dx": "2 mm"'), "its file is a case file")
check(tagflow.run("run.yaml", "same").report["state_hash"] == run.report["state_hash"], "which is the same case")
two = tagflow.run("run.yaml", "two", ranks=2)
check(two.report["ranks"] == 2 and two.report["state_hash"] == run.report["state_hash"], "on two ranks")
check(tagflow.run("run.yaml", "threads", threads=2).report["threads"] == 2, "with two threads")
fails(tagflow.CaseError, "holds a run already", "a folder that holds a run", lambda: tagflow.run(CASE, "run"))
fails(tagflow.UsageError, "run.yaml is there", "another case of the same folder", lambda: tagflow.run({**CASE, "run": {"steps": 1}}, "run"))
check(tagflow.run(CASE, "run", {"run.steps": 60}, restart="auto").step == 60 and tagflow.run(CASE, "run", overwrite=True).step == 40,
      "continued, and replaced")
run = tagflow.open_run("run")

# ---- what the resolved case says ----

for path in sorted(glob.glob(ROOT + "/configs/*.yaml")):
    name = os.path.basename(path)
    line = [TAGFLOW, "run", path, "--output", "resolved", "--overwrite", "--set", "run.steps=1", "--set", "output={}"]
    if name in ("horn.yaml", "womersley.yaml"):
        said = subprocess.run(line, capture_output=True, text=True)
        found = resolved.parse(open("resolved/case.yaml").read()) if said.returncode == 0 else {}
        check(found.get("domain", {}).get("cells") and "steps" in found.get("run", {}) and "xmin" in found.get("faces", {}),
              f"{name}: its resolved case is read {said.stderr[-200:]}")
text = '# c\na: # d: 1\n  b: {c: "x, y\\U000000E4", d: [1, -2.5e-3, [a b, {}]], e: {}}\n  f: 1.5 m\ng: none\nh: true # "x\ni: []\nj: "a # b" # c\nk: a#b\n'
check(resolved.parse(text) == {"a": {"b": {"c": "x, yä", "d": [1, -0.0025, ["a b", {}]], "e": {}}, "f": "1.5 m"}, "g": "none", "h": True, "i": [],
                                 "j": "a # b", "k": "a#b"},
      "maps, lists, numbers, words, texts")
for text in ("a: [1, 2", "a: {b: 1", "a: {b}", "a", "a: 1 ]", "a: [1}", "- a", "a: }", 'a: "b'):
    try:
        found = resolved.parse(text)
    except ValueError:
        found = None
    check(found is None, f"{text!r} is no resolved case {found or ''}")
check(resolved.ResolvedCase("fluid:\n  reynolds: 10 # viscosity 0.2\n  velocity: 0.1\n  length: 20").viscosity == 0.2 == 4 * run.case.viscosity, "the viscosity by the Reynolds number")
check("fluid.viscosity" in run.case and "fluid.x" not in run.case and run.case.get("fluid.x", 7) == 7, "keys that are there, and not")
fails(tagflow.UnknownName, "did you mean viscosity?", "a key that is not there", lambda: run.case["fluid.viscosty"])

# ---- series ----

check(sorted(run.series) == ["drag", "flow", "wake"] and "flow" in run.series and len(run.series) == 3, f"series: {run.series}")
flow = run.series["flow"]
rows = list(csv.DictReader(open("run/series/flow.csv")))
check(flow.columns == list(rows[0]) and all((flow[name] == [float(row[name]) for row in rows]).all() for name in flow) and len(flow) == 21,
      "its columns are those of the file")
check(flow.array()["step"].dtype == numpy.int64 and flow.array()[-1]["mass"] == flow["mass"][-1] and flow.table()["time"] is not None and
      flow.units == {"step": "1", "time": "s", "mass": "kg", "kinetic_energy": "J"}, f"as a structured array, with units {flow.units}")
wake = run.series["wake"]
check(wake.along == "distance" and wake.steps.tolist() == [0, 20, 40] and len(wake.table(20)["pressure"]) == 5 and
      (wake.table(20)["step"] == 20).all(), "a series along a line, rows of a step")
known = load("run", "report.json")["statistics"]["drag"]["columns"]["c_x"]
found = run.series["drag"].statistics("c_x")
check(abs(found["mean"] - known["mean"]) < 1e-8 * abs(known["mean"]) and abs(found["deviation"] - known["deviation"]) < 1e-6 * abs(known["mean"]),
      f"statistics are those of report.json: {found['mean']}, {known['mean']}")
columns = set(re.findall(r"^\| ((?:`\w+`,? ?)+)", open(ROOT + "/docs/formats.md").read().split("## Series")[1].split("### Series after")[0], re.M))
columns = sorted({name for text in columns for name in re.findall(r"`(\w+)`", text)})
# Of a scalar they depend on its kind, which a name does not tell: the case does.
of_scalars = {"flux", "heat", "sum", "mixing_cup"} | {solid + name for solid in ("", "solid_") for name in ("mean", "minimum", "maximum", "variance")}
unknown = {name for name in columns if not column_unit(name)}
check(len(columns) > 30 and unknown == of_scalars, f"units of all {len(columns)} columns of docs/formats.md are known {unknown ^ of_scalars}")
warm = {"kind": "heat", "prandtl": 0.7, "reference": "300 K"}
series = {f"{what}_{scalar}": {"every": 20, "of": what, "scalar": scalar} | ({"face": "ymin"} if what == "heat" else {})
          for scalar in ("T", "s") for what in ("scalar", "heat", "mixing_cup")} | {"point": {"every": 20, "of": "probe", "point": [1, 1, 1]}}
for folder, units, heat in [("units", CASE["units"] | {"heat_capacity": "1000 J/kg/K"}, ("J", "W", "W/m²")),
                            ("no_capacity", CASE["units"], ("K m³", "K m³/s", "K m/s"))]:
    of = {name: file.units for name, file in tagflow.run(CASE, folder, {
        "units": units, "scalars": {"T": warm, "s": {"schmidt": 1}}, "run.steps": 20, "output": {"series": series},
        "bodies.post.scalars.T.conduct.conductivity": "2 W/m/K" if "heat_capacity" in units else 0.1,
        "faces.ymin": {"wall": {"scalars": {"T": {"value": "310 K"}, "s": {"value": 1}}}}}).series.items()}
    columns = {column for units in of.values() for column in units}
    check(of_scalars <= columns and not [column for units in of.values() for column in units if not units[column]],
          f"{folder}: all columns of scalars have units: {[(name, column) for name, units in of.items() for column in units if not units[column]]}")
    check([of["scalar_T"][name] for name in ("mean", "solid_mean", "variance", "sum")] == ["K", "K", "K²", heat[0]] and
          (of["heat_T"]["heat"], of["heat_T"]["flux"]) == heat[1:] and (of["mixing_cup_T"]["mixing_cup"], of["point"]["T"]) == ("K", "K"),
          f"{folder}: of heat {of}")
    check([of["scalar_s"][name] for name in ("minimum", "variance", "sum")] == ["1", "1", "m³"] and
          (of["heat_s"]["heat"], of["heat_s"]["flux"]) == ("m³/s", "m/s") and (of["mixing_cup_s"]["mixing_cup"], of["point"]["s"]) == ("1", "1"),
          f"{folder}: of a species")
later = [flow.statistics("kinetic_energy", begin) for begin in (20, "20", "20 ms", "0.02 s", "19.6 ms")]
check(all(found == later[0] for found in later) and later[0]["min"] == flow["kinetic_energy"][10], "from a step on, or from a time on")
check(flow.statistics("kinetic_energy", 19) == later[0] != flow.statistics("kinetic_energy", 18), "and not from the row before")
fails(tagflow.UsageError, "neither a step nor a time", "a time in another unit", lambda: flow.statistics("mass", "2 days"))
fails(tagflow.UnknownName, "has no rows from 1 s on", "a time after the last row", lambda: flow.statistics("mass", "1 s"))
fails(tagflow.UnknownName, "did you mean mass?", "a column that is not there", lambda: flow["mas"])
fails(tagflow.UnknownName, "the nearest is 20", "a step that is not there", lambda: wake.table(21))
fails(tagflow.UnknownName, "along distance", "statistics along a line", lambda: wake.statistics("pressure"))

# ---- fields ----

check(sorted(run.fields) == ["bare", "main", "wide"] and list(run.averages) == ["mean"] and not run.surfaces and run.fields["main"].steps == [0, 20, 40],
      f"fields {run.fields}, averages {run.averages}")
last = run.fields["main"][-1]
with h5py.File("run/fields/main_0000000040.vtkhdf") as file:
    check(all((last[name] == file["VTKHDF/PointData"][name][...]).all() for name in last.arrays) and last["velocity"].shape == (5, 12, 16, 3) and
          last.step == 40 and last.time == 0.04, "arrays are those of the file")
check(last.cells == (16, 12, 5) and all(numpy.allclose(place, 0.002 * (numpy.arange(n) + 0.5)) for place, n in zip(last.coordinates(), last.cells)) and
      last.unit("velocity") == "m/s" and last.unit("tags") == "1" and last.length_unit == "m", "coordinates are the cells' centres, in m")
x, y = last.x[None, None, :] / 0.002, last.y[None, :, None] / 0.002
inside = (x - 8)**2 + (y - 4)**2 < 4
check((last.fluid() == ~numpy.broadcast_to(inside, last.fluid().shape)).all(), f"the mask of the fluid: {(~last.fluid()).sum()} cells are solid")
check((run.fields["bare"][-1].fluid() == last.fluid()[::2, ::2, ::2]).all(), "without tags and density it follows from the velocity")
check(all(numpy.allclose(file.bounds, ([0] * 3, numpy.array([16, 12, 5]) * 0.002)) for file in (last, run.fields["bare"][-1])) and run.fields["bare"][-1].width == 0.002,
      "it fills the box, with a stride, too")
check((run.fields["wide"][-1].fluid() == last.fluid()).all(), "or the pressure")
fails(tagflow.FileError, "no cell moves", "at the start it is not known", lambda: run.fields["main"][0].fluid())
for axis, at, cut in (("z", None, last["velocity"][2]), ("y", 0.0071, last["velocity"][:, 3]), ("x", 0, last["velocity"][:, :, 0])):
    values, place = last.plane("velocity", axis, at)
    check((values == cut).all() and abs(place - (at or place)) <= 0.00101, f"the plane across {axis} at {place}")
fails(tagflow.UnknownName, "outside the box", "a plane beyond the box", lambda: last.plane("velocity", "y", 1))
fails(tagflow.UnknownName, "did you mean velocity?", "an array that is not there", lambda: last["velocty"])
fails(tagflow.UnknownName, "the nearest is 20", "a snapshot that is not there", lambda: run.fields["main"].at(21))
mean = run.averages["mean"][-1]
check(mean.samples == 21 and mean["reynolds_stress"].shape == (5, 12, 16, 6) and mean.unit("reynolds_stress") == "m²/s²", "an average")
flat = tagflow.run(CASE, "flat", {"domain.cells": [16, 12, 1], "output.series": {}}).fields["main"][-1]
check(flat["velocity"].shape == (1, 12, 16, 3) and flat.cells == (16, 12, 1) and numpy.allclose(flat.z, [0.001]) and flat["density"].shape == (1, 12, 16),
      "a box of one cell has one layer, at its centre")
heated = tagflow.run(CASE, "heated", {"scalars": {"T": {"kind": "heat", "prandtl": 0.7, "reference": "300 K"}, "s": {"schmidt": 1}},
                                      "output": {"fields": {"main": {"every": 20, "of": ["T", "s"]}}}}).fields["main"][-1]
check((heated.unit("T"), heated.unit("s")) == ("K", "1") and abs(heated["T"] - 300).max() < 1e-3, "scalars have their units")
lattice = tagflow.run({**CASE, "units": {"dx": "2 mm"}}, "lattice")
check(not lattice.physical and lattice.fields["main"][-1].unit("velocity") is None and numpy.allclose(lattice.fields["main"][-1].x[:2], [0.5, 1.5]) and
      lattice.series["flow"].unit("mass") is None and lattice.series["flow"].unit("step") == "1", "with units.dx alone all is in lattice units")
for name in {"velocity", "density", "pressure", "vorticity", "tags", "velocity_mean", "density_mean", "reynolds_stress", "shear_stress"}:
    check(array_unit(name) is not None, f"the unit of {name}")

for module, call, test in (
        ("pandas", lambda: flow.dataframe(), lambda f: (f["mass"] == flow["mass"]).all() and f.attrs["units"]["mass"] == "kg"),
        ("xarray", lambda: last.dataset(), lambda d: d["velocity"].dims == ("z", "y", "x", "component") and d["velocity"].attrs["units"] == "m/s" and
         float(d["velocity"].sel(x=0.003, y=0.021, z=0.005, component="x", method=None).sel()) == last["velocity"][2, 10, 1, 0]),
        ("xarray", lambda: run.fields["main"].dataset(), lambda d: d["density"].dims[0] == "time" and d["step"].values.tolist() == [0, 20, 40]),
        ("pyvista", lambda: last.mesh(), lambda m: m.dimensions == (16, 12, 5) and (m.point_data["velocity"] == last["velocity"].reshape(-1, 3)).all() and
         numpy.allclose(m.points[1], [last.x[1], last.y[0], last.z[0]]))):
    try:
        __import__(module)
    except ImportError:
        fails(tagflow.MissingPackage, f"pip install {module}", f"without {module}", call)
        continue
    check(test(call()), f"with {module}")

# ---- fields of refined grids ----

AROUND = {"from": [2, 3, 1], "to": [19, 11, 9]}
LEVELS = {
    "units": {"dx": "2 mm", "dt": "1 ms", "density": "1.2 kg/m3"},
    "domain": {"cells": [24, 20, 16]},
    "fluid": {"viscosity": 0.05},
    "initial": {"flow": "uniform", "velocity": [0.05, 0.01, 0]},
    "faces": {"xmin": {"velocity": {"value": [0.05, 0, 0]}}, "xmax": "pressure", "y": "wall", "z": "periodic"},
    "bodies": {"ball": {"shape": {"sphere": {"center": [12, 10, 8], "radius": 1.2}}}},
    "refine": {"wide": {"level": 1, "box": {"from": [4, 4, 0], "to": [20, 16, 16]}}, "top": {"level": 1, "box": {"from": [8, 16, 4], "to": [16, 20, 12]}},
               "ball": {"level": 2, "box": {"from": [8, 6, 4], "to": [16, 14, 12]}}},
    "run": {"steps": 6},
    "output": {
        "log": {"every": 0},
        "fields": {"all": {"every": 3, "of": ["velocity", "density", "tags"]}, "bare": {"every": 6, "of": "velocity"},
                   "part": {"every": 6, "of": ["velocity", "density", "tags"], "region": AROUND}}
        | {f"level{k}": {"every": 6, "of": ["velocity", "density", "tags"], "levels": k} for k in range(3)}
        | {"part2": {"every": 6, "of": ["velocity", "density", "tags"], "levels": 2, "region": AROUND}},
        "averages": {"mean": {"every": 2, "of": ["velocity", "stress"]}, "mean1": {"every": 2, "of": ["velocity", "stress"], "levels": 1}},
    },
}
levels = tagflow.run(LEVELS, "levels")
every = levels.fields["all"][-1]
check(isinstance(every, tagflow.Refined) and isinstance(tagflow.open_snapshot(every.path), tagflow.Refined) and every.step == 6 and
      levels.fields["all"].steps == [0, 3, 6] and every.cells == (96, 80, 64) and every.level == 2 and numpy.allclose(every.spacing, 0.0005) and
      numpy.allclose(every.origin, 0.00025) and every.unit("velocity") == "m/s", f"a file of all levels: {every}")


def same(found, stored):
    """Are the cells, their places and all values those of a file that tagflow wrote in cells of this level?"""
    return (found.cells == stored.cells and numpy.allclose(found.origin, stored.origin, rtol=1e-13) and found.points == stored.points and
            all(numpy.allclose(found.geometry[name], stored.geometry[name], rtol=1e-13) for name in fields.GEOMETRY) and
            all((found[name] == stored[name]).all() for name in stored) and found.stored == stored.stored)


for k in range(3):
    stored = levels.fields[f"level{k}"][-1]
    check(type(stored) is tagflow.Snapshot and same(every.part(k), stored), f"in cells of level {k}: the finest cell there is, or means")
check(same(levels.fields["part"][-1], levels.fields["part2"][-1]), "a region of the file, with its places")
check(same(levels.averages["mean"][-1].part(1), levels.averages["mean1"][-1]) and levels.averages["mean"][-1].samples == 4, "averages")
two = levels.fields["level2"][-1]
for axis in "xyz":
    for at in (None, 0.0131, 0.021):
        found, stored = every.plane("velocity", axis, at), two.plane("velocity", axis, at)
        check((found[0] == stored[0]).all() and found[1] == stored[1] and (every.fluid_plane(axis, at) == two.fluid_plane(axis, at)).all(),
              f"the plane across {axis} at {found[1]:g}, and its fluid cells")
ball = sum((numpy.arange(n).reshape([-1 if a == b else 1 for b in (2, 1, 0)]) / 4 + 0.125 - middle)**2
           for a, (n, middle) in enumerate(zip(every.cells, (12, 10, 8)))) < 1.2**2
beside = ball.reshape(16, 4, 20, 4, 24, 4)  # of level 0, whose types of cells have other numbers than those of level 2
solid_too = numpy.intersect1d(every["tags"][ball], every.levels[0].boxes[0]["tags"][~beside.any(axis=(1, 3, 5))])
check(len(solid_too) and (every.part(1).fluid() == ~ball.reshape(32, 2, 40, 2, 48, 2).all(axis=(1, 3, 5))).all() and
      (every.part(0).fluid() == ~beside.all(axis=(1, 3, 5))).all(), f"the mask in coarser cells; the number {solid_too} of solid cells is another type on level 0")
check((every.fluid() == ~ball).all() and (two.fluid() == ~ball).all() and (levels.fields["bare"][-1].fluid() == ~ball).all(),
      f"the mask of the fluid, with tags and without: {ball.sum()} cells are solid")
fails(tagflow.FileError, "no cell moves", "at rest it is not known", lambda: tagflow.run(LEVELS, "rest", {"initial": {}, "faces": {"x": "periodic", "y": "wall", "z": "periodic"}, "run.steps": 1}).fields["all"][0].fluid())
some = every.part(1, x=(0.0101, 0.0189), z=(0.003, 0.008))
inside = [numpy.flatnonzero((places >= a) & (places <= b)) for places, (a, b) in zip(every.part(1).coordinates(), ((0.0101, 0.0189), (0, 1), (0.003, 0.008)))]
check(some.cells == tuple(map(len, inside)) and numpy.allclose(some.x, every.part(1).x[inside[0]]) and
      (some["velocity"] == every.part(1)["velocity"][numpy.ix_(*inside[::-1])]).all() and (some.plane("tags", "z", 0.0052)[0] == some["tags"][2]).all(),
      f"a part of the box: {some}")
check(some.part(2).cells == tuple(2 * n for n in some.cells) and (some.part(2)["velocity"][::2, ::2, ::2] == some["velocity"]).mean() > 0.2 and
      every.part(2, x=(0.0102, 0.0103)).cells == (1, 80, 64) and same(every.part(2, x=(0.01, 0.0119)).part(0), every.part(0, x=(0.01, 0.012))),
      "a part of a part")
found = every.cell_levels()
held = numpy.zeros((64, 80, 96), int)
for number, level in enumerate(every.levels):
    check(level.number == number and numpy.allclose(level.spacing, 0.002 / 2**number) and level.cells == sum(numpy.prod(box.cells) for box in level) and
          (number == 0) == (level.cells == 24 * 20 * 16), f"{level}")
    for box in level:
        where = tuple(slice(box.first[a], box.first[a] + box.cells[a]) for a in (2, 1, 0))
        held[tuple(slice(s.start * 4 >> number, s.stop * 4 >> number) for s in where)] = number
        check((box["velocity"] == every.part(number)["velocity"][where]).all() and box["tags"].dtype == numpy.uint8 and
              all(numpy.allclose(places, every.part(number).coordinates()[a][where[2 - a]]) for a, places in enumerate(box.coordinates())) and
              (box.covered() == (every.part(min(2, number + 1)).cell_levels()[::2, ::2, ::2][where] > number if number < 2 else False)).all(), f"{box}")
check((found == held).all() and (every.plane_levels("z", 0.016) == held[32]).all() and len(every.levels[1]) > 1 and
      (every.part(1).cell_levels() == numpy.minimum(held, 1)[::2, ::2, ::2]).all(), "from which level cells are")
mass = sum(box["density"][~box.covered()].astype(float).sum() / 8**level.number for level in every.levels for box in level)
check(abs(mass / every["density"].astype(float).sum() * 64 - 1) < 1e-13, "cells of boxes that are not covered fill the box once")
for name in "part", "levels", "level", "first", "cell_levels", "plane_levels":
    fails(tagflow.OneLevel, f"has cells of one level, so it has no '{name}'", f"{name} of a file of one level", lambda: getattr(two, name))
check(not hasattr(two, "levels") and hasattr(every, "levels") and copy.copy(two).cells == two.cells, "a file of one level has no levels")
fails(tagflow.UnknownName, "has levels 0 to 2", "a level that is not there", lambda: every.part(3))
fails(tagflow.UsageError, "no cell of level 0 has its centre between x = 1 and 2", "a part that is not there", lambda: every.part(0, x=(1, 2)))
fails(tagflow.UnknownName, "did you mean velocity?", "an array that is not there", lambda: every.levels[1].boxes[0]["velocty"])
fails(tagflow.FileError, "tagflow.open_snapshot() reads it", "as a file of one level", lambda: tagflow.Snapshot(every.path))
known, refined.free_memory = refined.free_memory, lambda: 100000
fails(tagflow.FileError, "level 2 has 0.0059 GB, and 0.0001 GB are free", "an array that does not fit into the memory", lambda: every["velocity"])
check(every.part(2, x=(0.0102, 0.0103))["velocity"].shape == (64, 80, 1, 3), "but a part of it")
refined.free_memory = known
check(known() > 100000, f"{known()} bytes are free here")
for what, change in (("AMRBox", lambda file: file["VTKHDF/Level1/AMRBox"].__setitem__((0, 1), 99)), ("Spacing", lambda file: file["VTKHDF/Level2"].attrs.modify("Spacing", [1, 1, 1.0])),
                     ("another array", lambda file: file.move("VTKHDF/Level1/CellData/tags", "VTKHDF/Level1/CellData/tag")), ("level 0", lambda file: file.move("VTKHDF/Level0", "VTKHDF/x"))):
    shutil.copy(every.path, "changed.vtkhdf")
    with h5py.File("changed.vtkhdf", "r+") as file:
        change(file)
    fails(tagflow.FileError, "is no snapshot of tagflow", f"{what} of a file changed", lambda: tagflow.open_snapshot("changed.vtkhdf"))

point = run.checkpoints[-1]
check([c.step for c in run.checkpoints] == [20, 40] and point.cells == (16, 12, 5) and point.storage == "fp32" and
      point.state_hash == run.report["state_hash"] and "cells populations" in point.arrays and point.case.dt == 0.001, f"checkpoints: {point}")
check(sorted(run.images) == ["mid"] and sorted(run.images["mid"]) == [0, 20, 40], "images")
check(len(run.log.jobs) == 1 and run.log.derived["grid"].startswith("16 x 12 x 5") and run.log.progress[-1][0] == 40, "the log")

# ---- files that are damaged or none of ours ----

fails(tagflow.FileError, "there is no such folder", "no folder", lambda: tagflow.open_run("nowhere"))
fails(tagflow.FileError, "is not the folder of a run", "a file", lambda: tagflow.open_run("run.yaml"))
fails(tagflow.FileError, "holds no run of tagflow", "another folder", lambda: tagflow.open_run("."))
shutil.copytree("run", "damaged")
for name, text, words, call in (
        ("status.json", "{", "it is no JSON", lambda r: r.refresh()), ("series/flow.csv", "step,time,a\n1,2\n", ":2: 2 values, not 3", lambda r: r.series["flow"]),
        ("series/flow.csv", "x,y\n", "is no series", lambda r: r.series["flow"]), ("case.yaml", "a: [", "is no case", lambda r: r.case),
        ("fields/main_0000000040.vtkhdf", "x", "damaged or no HDF5", lambda r: r.fields["main"][-1]),
        ("checkpoints/step_0000000040.h5", "x", "damaged or no HDF5", lambda r: r.checkpoints)):
    broken = tagflow.open_run("damaged")
    before = open("damaged/" + name, "rb").read()
    write("damaged/" + name, text)
    fails(tagflow.FileError, words, f"{name} damaged", lambda: call(broken if name == "status.json" else tagflow.open_run("damaged")))
    write("damaged/" + name, before)
name = "damaged/fields/main_0000000040.vtkhdf"
before = open(name, "rb").read()
for place in 60, len(before) // 2, len(before) - 60, len(before) - 10:
    write(name, before[:place] + bytes([before[place] ^ 16]) + before[place + 1:])
    fails(tagflow.FileError, "is damaged: its bytes are not as", f"byte {place} of a snapshot", lambda: tagflow.open_snapshot(name))
write(name, before)
tagflow.open_snapshot(name).verify()
shutil.copy(name, "edited.vtkhdf")
with h5py.File("edited.vtkhdf", "r+") as file:
    file["VTKHDF/PointData/velocity"][0, 0, 0, 0] = 0.25
check(tagflow.open_snapshot("edited.vtkhdf")["velocity"][0, 0, 0, 0] == 0.25, "a snapshot that was changed by means of HDF5")
write("damaged/series/flow.csv", "step,time,mass\n")
fails(tagflow.NoRows, "has no rows yet", "a series without rows", lambda: tagflow.open_run("damaged").series["flow"])
before = open("damaged/status.json").read()
for number in ("1" + 400 * "0", "1e999", "NaN"):
    write("damaged/status.json", re.sub('"step": *[0-9]+', f'"step": {number}', before))
    fails(tagflow.FileError, "no number `step`", f"step {number[:5]}", lambda: tagflow.open_run("damaged"))
write("damaged/status.json", before)
write("damaged/log.txt", open("run/log.txt").read().replace("energy ", "energy 3,9", 1))
check(len(tagflow.open_run("damaged").log.progress) == len(run.log.progress) - 1, "a line of the log with a wrong byte is left out")
write("damaged/case.yaml", "domain: " + 100000 * "[")
fails(tagflow.FileError, "is no case", "a case of brackets", lambda: tagflow.open_run("damaged").case)
for name, call in (("status.json", lambda r: r.refresh()), ("log.txt", lambda r: r.refresh()), ("series/flow.csv", lambda r: r.series["flow"]),
                   ("fields/main_0000000040.vtkhdf", lambda r: tagflow.open_snapshot(r.path("fields", "main_0000000040.vtkhdf"))),
                   ("fields/main_0000000000.vtkhdf", lambda r: r.fields), ("checkpoints/step_0000000040.h5", lambda r: r.checkpoints)):
    for kind, make in (("a FIFO", os.mkfifo), ("a link to a device", lambda path: os.symlink("/dev/zero", path))):
        broken = tagflow.open_run("damaged")
        os.rename("damaged/" + name, "kept")
        make("damaged/" + name)
        fails(tagflow.FileError, "is no regular file", f"{kind} as {name}", lambda: call(broken))
        os.rename("kept", "damaged/" + name)
with h5py.File("foreign.vtkhdf", "w") as file:
    file["a"] = 1
fails(tagflow.FileError, "is no snapshot of tagflow", "another HDF5 file", lambda: tagflow.Snapshot("foreign.vtkhdf"))
fails(tagflow.FileError, "is no checkpoint of tagflow", "as a checkpoint", lambda: tagflow.Checkpoint("foreign.vtkhdf"))

# ---- errors by exit status, jobs ----

fails(tagflow.CaseError, "did you mean fluid.reynolds?", "a wrong key", lambda: tagflow.run("run.yaml", "wrong", {"fluid.reynold": 3}))
fails(tagflow.CaseError, "nowhere.yaml: No such file", "no case", lambda: tagflow.run("nowhere.yaml"))
fails(tagflow.CaseError, "the case:4:11: unknown key 'fluid.viscosty'", "in check, too", lambda: tagflow.check({**CASE, "fluid": {"viscosty": 1}}))
fails(tagflow.DivergedError, "diverged", "a flow that diverges",
      lambda: tagflow.run("run.yaml", "diverged", {"check.every": 1, "check.max_velocity": 0.01}))
try:
    tagflow.run("run.yaml", "diverged", restart="auto", settings={"check.every": 1, "check.max_velocity": 0.01})
except tagflow.RunError as error:
    check((error.status, error.exit_status, error.folder) == (3, 3, "diverged") and tagflow.open_run("diverged").state == "diverged", "its status is 3")
LONG = {"run.steps": 10**9, "output": {"log": {"every": 10**6}}, "checkpoint.every": 0}
job = tagflow.start("run.yaml", "long", LONG)
check(job.begin().state == "running" and job.run.goes_on() and not job.run.report and not job.run.gone() and job.run.state_text()[0] == "running", f"a run that goes on: {job.run.state_text()}")
try:
    job.wait(0.01)
    check(False, "wait with a limit")
except TimeoutError as error:
    check("goes on after 0.01 s" in str(error), f"wait with a limit: {error}")
job.stop()
fails(tagflow.StoppedEarly, "stopped early with a checkpoint", "it is stopped", lambda: job.wait())
check(job.run.state == "stopped" and job.run.checkpoints[-1].step == job.run.step, "with a checkpoint of its last step")
job = tagflow.start("run.yaml", "long", LONG, restart="auto")
check(job.begin(60).step >= tagflow.open_run("long").checkpoints[-1].step, "it goes on from there")
job.process.kill()
fails(tagflow.KilledError, "killed by signal 9", "it is killed", lambda: job.wait())
for status, kind in ((1, tagflow.MachineError), (2, tagflow.CaseError), (3, tagflow.DivergedError), (75, tagflow.StoppedEarly), (9, tagflow.KilledError)):
    os.chmod(write("fake", f"#!/bin/sh\necho 'tagflow: warning: careful' >&2\necho 'tagflow: it was {status}' >&2\nexit {status}\n"), 0o755)
    if fails(kind, f"it was {status}", f"exit status {status}", lambda: tagflow.run("run.yaml", "fake_run", program="./fake")):
        try:
            tagflow.run("run.yaml", "fake_run", program=["./fake", "more"])
        except tagflow.RunError as error:
            check(error.warnings == ["careful"] and error.exit_status == status, "with its warnings")

# ---- where the program is ----

env = {name: os.environ.pop(name) for name in ("TAGFLOW", "PATH")}
os.makedirs("bin")
os.symlink(TAGFLOW, "bin/tagflow")
beside = glob.glob(ROOT + "/build/tagflow")
os.environ["PATH"] = "/nowhere"
if not beside:
    fails(tagflow.ProgramError, "there is no program tagflow here", "no program", lambda: tagflow.find_program())
else:
    check(tagflow.find_program() == [ROOT + "/build/tagflow"], "beside the package")
os.environ["PATH"] = os.path.abspath("bin")
check(tagflow.find_program() == [os.path.abspath("bin/tagflow")], "in PATH")
launcher = os.environ.pop("TAGFLOW_MPIRUN", None)
fails(tagflow.ProgramError, "there is no mpirun here", "no mpirun", lambda: tagflow.run("run.yaml", "x", ranks=2))
os.environ |= {"TAGFLOW_MPIRUN": launcher} if launcher else {}
os.environ["TAGFLOW"] = TAGFLOW
check(tagflow.find_program() == [TAGFLOW] and tagflow.find_program("bin/tagflow") == ["bin/tagflow"], "$TAGFLOW before it, the argument before that")
os.environ.update(env)
check(tagflow.find_program(f"env A=b {TAGFLOW}") == [shutil.which("env"), "A=b", TAGFLOW], "words before it")
fails(tagflow.ProgramError, "No such file", "a program that is not there", lambda: tagflow.find_program("nix"))
fails(tagflow.ProgramError, "not executable", "a program that is none", lambda: tagflow.find_program("run.yaml"))
fails(tagflow.UsageError, "what to start", "no words", lambda: tagflow.find_program(" "))
fails(tagflow.UsageError, "give one of them", "ranks and words before it", lambda: tagflow.run("run.yaml", "x", ranks=2, program=["env", TAGFLOW]))
for bad in (0, -1, 1.5, True, "2"):
    fails(tagflow.UsageError, "whole number above 0", f"ranks {bad!r}", lambda: tagflow.run("run.yaml", "x", ranks=bad))
fails(tagflow.UsageError, "no name", "a dict without a folder", lambda: tagflow.run(CASE))
for bad in ({"a": float("nan")}, {"a": object()}, {"a": {1, 2}}):
    fails(tagflow.UsageError, "no value of a case", f"{bad}", lambda: tagflow.Case(bad))
fails(tagflow.UsageError, "no path", "a path with =", lambda: tagflow.Case("run.yaml", {"a=b": 1}))

# ---- a sweep ----

GRID = {"fluid.viscosity": [0.05, 0.1], "domain.cells": [[8, 6, 1], [12, 6, 1]]}
SMALL = {"bodies": {}, "output": {"series": {"flow": {"every": 10, "of": "kinetic_energy"}}}, "run.steps": 20, "checkpoint.every": 0}
lines = []
table = tagflow.sweep("run.yaml", GRID, "sweep", SMALL, tell=lines.append)
folders = ["viscosity=0.05,cells=8x6x1", "viscosity=0.05,cells=12x6x1", "viscosity=0.1,cells=8x6x1", "viscosity=0.1,cells=12x6x1"]
check(table["folder"] == folders and table["state"] == ["done"] * 4 and table["domain.cells"][1] == [12, 6, 1] and
      (table.array("flow.kinetic_energy") == [tagflow.open_run("sweep/" + name).series["flow"]["kinetic_energy"][-1] for name in folders]).all() and
      [tagflow.open_run("sweep/" + name).case["fluid.viscosity"] for name in folders] == [0.05, 0.05, 0.1, 0.1], f"four runs:\n{table}")
found = list(csv.DictReader(open("sweep/table.csv")))
check([row["folder"] for row in found] == folders and [float(row["flow.kinetic_energy"]) for row in found] == table["flow.kinetic_energy"], "table.csv")
stamps = {name: os.stat(f"sweep/{name}/report.json").st_mtime_ns for name in folders}
os.remove(f"sweep/{folders[1]}/report.json")
write(f"sweep/{folders[1]}/status.json", json.dumps(load(f"sweep/{folders[1]}", "status.json") | {"state": "running", "step": 10}))  # killed
shutil.rmtree(f"sweep/{folders[2]}")
lines.clear()
again = tagflow.sweep("run.yaml", GRID, "sweep", SMALL, tell=lines.append, jobs=2)
check(again.rows == table.rows and sorted(line.split(": ")[0] for line in lines if line.endswith(": starts")) == sorted(folders[1:3]) and
      all(os.stat(f"sweep/{folders[k]}/report.json").st_mtime_ns == stamps[folders[k]] for k in (0, 3)),
      f"again, two at a time: only those that are not done are started {lines}")
fails_before = tagflow.sweep("run.yaml", {"fluid.viscosity": [0.05, -1, 0.051]}, "odd", SMALL | {"check.every": 1, "check.max_velocity": 0.01},
                             collect=lambda r: {"state": r.state, "steps": r.step})
check(fails_before["state"] == ["diverged", "refused", "diverged"] and "out of range" in fails_before["error"][1] and fails_before["error"][0] is None,
      f"what diverges or is refused is a row:\n{fails_before}")
table = tagflow.sweep(CASE, [{"run.steps": 2}, {"run.steps": 3, "fluid.viscosity": 0.2}], "list", SMALL)
check(table["step"] == [2, 3] and table["folder"] == ["steps=2", "steps=3,viscosity=0.2"] and os.path.exists("list/case.json"), "a list of settings, of a dict")
changed = tagflow.sweep(CASE, [{"run.steps": 2}], "list", SMALL | {"fluid.viscosity": 0.3})
check(changed["state"] == ["refused"] and "may not change on a restart" in changed["error"][0], "another case in the same folder is not taken for the same")
check(tagflow.sweep(CASE, [{"run.steps": 2}], "list", SMALL | {"fluid.viscosity": 0.3}, overwrite=True)["state"] == ["done"], "but replaced on demand")
os.chmod(write("second", f"#!/bin/sh\ncase $* in *=0.1\\ *) echo 'tagflow: disk full' >&2; exit 1;; esac\nexec {TAGFLOW} \"$@\"\n"), 0o755)
fails(tagflow.MachineError, "disk full", "a machine that fails ends the sweep", lambda: tagflow.sweep("run.yaml", GRID, "ends", SMALL, program="./second"))
check(len(list(csv.DictReader(open("ends/table.csv")))) == 2, "its table has what was done")
for values, words in (({}, "at least one"), ({"a": 5}, "a list of values"), ({"a": "xy"}, "a list of values"), ({"a": []}, "at least one"),
                      ({"run.steps": [1, 1]}, "the same values twice")):
    fails(tagflow.UsageError, words, f"a grid {values}", lambda: tagflow.sweep("run.yaml", values, "none"))
names = sweeps.folder_names([{"a.b": "x y/../z", "c.b": {"d": 1}}, {"a.b": "x y/ /z", "c.b": {"d": 1}}, {"a.b": -1.5e-7, "c.b": True}])
check(len(set(names)) == 3 and not any("/" in name or name.startswith(".") for name in names) and names[2] == "a.b=-1.5e-07,c.b=true", f"names of folders: {names}")

# ---- the example of docs/python.md ----

if os.path.exists(ROOT + "/docs/python.md"):
    blocks = re.findall(r"^```python\n(.*?)^```$", open(ROOT + "/docs/python.md", encoding="utf-8").read(), re.M | re.S)
    shutil.copy(ROOT + "/configs/cavity_re100.yaml", ".")
    script = "\n".join(blocks).replace("run.steps\": 20000", "run.steps\": 2000")
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=runs.HANGS,
                          env=os.environ | {"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"})
    check(said.returncode == 0 and len(blocks) > 3, f"all {len(blocks)} pieces of docs/python.md run, one after the other: {said.stdout[-300:]} {said.stderr[-600:]}")

runs.finish()
