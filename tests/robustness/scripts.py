#!/usr/bin/python3
"""scripts/join.py and scripts/plot.py: what they make of a run's results, and what they refuse. All scripts: --help."""
import concurrent.futures
import importlib.util
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback

import h5py
import matplotlib.image
import numpy

import runs
from runs import CASE, check, same_bits, snapshot, tagflow, tree, write

PYTHON = "/usr/bin/python3"
sys.path.insert(0, os.path.join(runs.ROOT, "scripts"))


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(runs.ROOT, "scripts", name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAIN = {name: load(name).main for name in ("join", "plot")}


def script(name, *arguments, cwd=None, env=None, preexec=None):
    """Runs a script: by itself if it needs another environment, else forked from here, which saves the time of its imports."""
    line = [os.path.join(runs.ROOT, "scripts", name + ".py"), *map(str, arguments)]
    if env is not None:
        return subprocess.run([PYTHON] + line, capture_output=True, text=True, timeout=runs.HANGS, cwd=cwd, env=os.environ | env)
    out, err = os.pipe(), os.pipe()  # what they say fits into a pipe
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.dup2(out[1], 1)
            os.dup2(err[1], 2)
            os.chdir(cwd or ".")
            if preexec:
                preexec()
            sys.argv = line
            code = MAIN[name]()
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    said = []
    for read, write_end in (out, err):
        os.close(write_end)
        with open(read, encoding="utf-8", errors="replace") as file:
            said.append(file.read())
    return subprocess.CompletedProcess(line, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), *said)


def done(process):
    return process.returncode == 0 and process.stdout.count("\n") == 1 and not process.stderr


def refused(process, *words, code=2):
    """One line, none of Python's, that says what is wrong."""
    return process.returncode == code and not process.stdout and process.stderr.count("\n") == 1 and \
        all(word in process.stderr for word in words)


def told(process):
    return f"{process.returncode}, {(process.stderr or process.stdout).strip()[-200:]!r}"


def run(folder, settings, ranks=0):
    said = tagflow("run", "case.yaml", "--output", folder, *runs.sets(settings), ranks=ranks)
    if not check(said.code == 0, f"a run into {folder}: {said}"):
        runs.finish()


write("case.yaml", CASE)
UNITS = {"units": "{dx: 2 mm, dt: 1 ms}"}
run("run", UNITS | {"output.fields.main.every": 2, "output.fields.fine": {"every": 10, "of": "velocity", "precision": "fp64"}}, ranks=2)
run("lattice", {})
run("other", UNITS | {"domain.cells": [16, 12, 5]})
run("finer", UNITS | {"units": "{dx: 1 mm, dt: 1 ms}"})
run("fewer", UNITS | {"output.fields.main.of": "[velocity, density]"})
run("wide", UNITS | {"output.fields.main.precision": "fp64"})


def name(step, folder="run", series="main"):
    return f"{folder}/fields/{series}_{step:010d}.vtkhdf"


# Joining ---------------------------------------------------------------------------------------


def points(path):
    """{array: values} of a snapshot, both points along an axis of one cell."""
    with h5py.File(path) as file:
        return {key: data[...] for key, data in file["VTKHDF/PointData"].items()}


def check_joined(path, names, what):
    """Is the file what docs/formats.md says, and equal to the snapshots named?"""
    with h5py.File(path) as file, h5py.File(names[0]) as source:
        root, one = file["VTKHDF"], source["VTKHDF"]
        steps = len(names)
        check(root.attrs["Version"].tolist() == [2, 0] and root.attrs["Type"] == b"ImageData" and
              file["VTKHDF"].attrs.get_id("Type").get_type().is_variable_str() is False and
              all(numpy.array_equal(root.attrs[key], one.attrs[key]) and root.attrs[key].dtype == one.attrs[key].dtype
                  for key in ("WholeExtent", "Origin", "Spacing", "Direction")), f"{what}: the attributes of VTKHDF")
        taken = [h5py.File(other)["provenance"].attrs for other in names]
        check(root["Steps"].attrs["NSteps"] == steps and root["Steps/Values"][...].tolist() == [a["time"] for a in taken] and
              file["provenance/step"][...].tolist() == [a["step"] for a in taken], f"{what}: {steps} steps and their times")
        check(root["Steps/PointDataOffsets"].keys() == root["PointData"].keys() == one["PointData"].keys() and
              all(data[...].tolist() == list(range(steps)) for data in root["Steps/PointDataOffsets"].values()), f"{what}: offsets")
        check(all(same_bits({key: data[t] for key, data in root["PointData"].items()}, points(other)) for t, other in enumerate(names)), f"{what}: the values are the snapshots', to the bit")
        about = file["provenance"].attrs
        check(about["case"] == taken[0]["case"] and "viscosity: 0.05" in about["case"] and about["program"] == taken[0]["program"] and
              about["commit"] == taken[0]["commit"], f"{what}: case, program and commit are kept")


ALL = [name(step) for step in range(0, 21, 2)]
said = script("join", "all.vtkhdf", "run", "main")
if check(done(said) and "11 steps" in said.stdout, f"a series by its name: {told(said)}"):
    check_joined("all.vtkhdf", ALL, "all")
said = script("join", "some.vtkhdf", name(20), name(4), name(10))
if check(done(said), f"snapshots in any order: {told(said)}"):
    check_joined("some.vtkhdf", [name(4), name(10), name(20)], "some")
said = script("join", "only.vtkhdf", "run/fields", "fine")
if check(done(said), f"the folder of the fields: {told(said)}"):
    check_joined("only.vtkhdf", [name(step, series="fine") for step in (0, 10, 20)], "the other series")
said = script("join", "single.vtkhdf", "lattice")
check(done(said), f"the only series of a run needs no name: {told(said)}")
before = open("all.vtkhdf", "rb").read()
said = script("join", "all.vtkhdf", "run", "main")
check(refused(said, "all.vtkhdf", "--force") and open("all.vtkhdf", "rb").read() == before, f"a file that is there: {told(said)}")
said = script("join", "--force", "all.vtkhdf", "run", "fine")
if check(done(said), f"is replaced with --force: {told(said)}"):
    check_joined("all.vtkhdf", [name(step, series="fine") for step in (0, 10, 20)], "replaced")

# Of a refined grid in cells of one level: as the snapshots that tagflow writes with `levels: k`.
write("refined.yaml", """\
domain: {cells: [16, 12, 12]}
fluid: {viscosity: 0.05}
initial: {flow: uniform, velocity: [0.05, 0, 0.02]}
faces: {x: periodic, y: wall, z: periodic}
bodies: {ball: {shape: {sphere: {center: [8, 6, 6], radius: 1.2}}}}
refine: {near: {level: 1, box: {from: [4, 0, 0], to: [12, 12, 12]}}}
run: {steps: 4}
output:
  log: {every: 0}
  fields:
    all: {every: 2, of: [velocity, density, tags]}
    zero: {every: 2, of: [velocity, density, tags], levels: 0}
    one: {every: 2, of: [velocity, density, tags], levels: 1}
    thin: {every: 2, of: velocity, region: {from: [0, 0, 5], to: [16, 12, 6]}}
    thin_zero: {every: 2, of: velocity, levels: 0, region: {from: [0, 0, 5], to: [16, 12, 6]}}
""")
said = tagflow("run", "refined.yaml", "--output", "refined")
check(said.code == 0, f"a run on a refined grid: {said}")
for level, series, like in ((0, "all", "zero"), (1, "all", "one"), (0, "thin", "thin_zero")):
    said = script("join", "--level", level, f"{series}{level}.vtkhdf", "refined", series)
    if check(done(said) and "3 steps" in said.stdout, f"{series} of a refined grid in cells of level {level}: {told(said)}"):
        check_joined(f"{series}{level}.vtkhdf", [name(step, "refined", like) for step in (0, 2, 4)], f"level {level}")
        with h5py.File(f"{series}{level}.vtkhdf") as joined, h5py.File(name(0, "refined", like)) as source:
            check((joined["provenance"].attrs["cells"] == source["provenance"].attrs["cells"]).all(), "with its cells")
for arguments, words in ((["x.vtkhdf", "refined", "all"], ["all levels", "--level K", "0 to 1"]), (["--level", 2, "x.vtkhdf", "refined", "all"], ["no level 2"]),
                         (["--level", 0, "x.vtkhdf", "refined", "one"], ["has one level"]), (["--level", 1, "x.vtkhdf", name(0, "refined", "all"), name(2, "refined", "one")], ["has one level"])):
    said = script("join", *arguments)
    check(refused(said, *words) and not os.path.exists("x.vtkhdf"), f"join {' '.join(map(str, arguments))}: {told(said)}")

# Copies of scripts find the package beside their folder.
os.symlink(os.path.join(runs.ROOT, "python"), "python")

# Arrays that are larger than what is read at a time come out the same: pieces of a few rows.
os.mkdir("small")
shutil.copy(os.path.join(runs.ROOT, "scripts", "command_line.py"), "small")
text = open(os.path.join(runs.ROOT, "scripts", "join.py")).read()
check(text.count("PIECE = 64 << 20") == 1, "the size of a piece is where this test looks for it")
for size in (1, 16 * 4 * 5, 16 * 12 * 3 * 4 * 3):
    write("small/join.py", text.replace("PIECE = 64 << 20", f"PIECE = {size}"))
    process = subprocess.run([PYTHON, "small/join.py", "--force", "pieces.vtkhdf", "run", "main"], capture_output=True, text=True)
    check(done(process), f"in pieces of {size} bytes: {told(process)}")
    check_joined("pieces.vtkhdf", ALL, f"pieces of {size} bytes")


# A part of the box, as fields with a region are, and values that are not numbers.
def part(path, step, cells, origin):
    generator = numpy.random.default_rng(step)
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = numpy.array([1, 0])
        root.attrs.create("Type", numpy.bytes_("ImageData"), dtype=h5py.string_dtype("ascii", 9))
        root.attrs["WholeExtent"] = numpy.array([end for n in cells for end in (0, n - 1)], dtype=numpy.int32)
        root.attrs["Origin"] = numpy.array(origin)
        root.attrs["Spacing"] = numpy.array([0.25, 0.5, 0.125])
        root.attrs["Direction"] = numpy.eye(3).ravel()
        root["PointData/velocity"] = generator.standard_normal(cells[::-1] + (3,))
        root["PointData/velocity"][0, 0, 0] = numpy.nan, numpy.inf, -0.0
        root["PointData/tags"] = generator.integers(0, 255, cells[::-1]).astype(numpy.uint8)
        about = file.create_group("provenance").attrs
        about["step"], about["time"], about["case"], about["ranks"] = step, step * 0.5, f"viscosity: 0.05 # {step}", 3
        about["program"], about["commit"], about["cells"] = "tagflow", "none", numpy.array(cells, dtype=numpy.int32)


for cells in ((5, 4, 3), (5, 4, 2), (2, 2, 2)):
    files = [f"part_{step:010d}.vtkhdf" for step in (0, 7, 9999999999)]
    for file, step in zip(files, (0, 7, 9999999999)):
        part(file, step, cells, (10.125, 3, -1))
    said = script("join", "--force", "part.vtkhdf", ".", "part")
    what = "%d x %d x %d points of a region" % cells
    if not check(done(said), f"{what}: {told(said)}"):
        continue
    with h5py.File("part.vtkhdf") as file:
        root = file["VTKHDF"]
        check(root.attrs["WholeExtent"].tolist() == [end for n in cells for end in (0, n - 1)], f"{what}: extent")
        check(root.attrs["Origin"].tolist() == [10.125, 3, -1], f"{what}: where they are")
        same = True
        for t, other in enumerate(files):
            for key, values in snapshot(other).items():
                same &= same_bits({key: values}, {key: root["PointData"][key][t]})
        check(same, f"{what}: values to the bit")
        check(file["provenance/case"].asstr()[...].tolist() == [f"viscosity: 0.05 # {step}" for step in (0, 7, 9999999999)] and
              file["provenance"].attrs["ranks"] == 3, f"{what}: what differs between snapshots is kept for each")

# What does not fit, is damaged or makes no sense; nothing is left behind.
write("no.vtkhdf", "no HDF5 file\n")
data = open(name(4), "rb").read()
write("torn_0000000004.vtkhdf", data[:len(data) // 2])
shutil.copy(name(4), "twin.vtkhdf")
shutil.copy(name(4), "later.vtkhdf")
with h5py.File("later.vtkhdf", "r+") as file:
    file["provenance"].attrs["step"] = 6
shutil.copy(name(4), "bare.vtkhdf")
with h5py.File("bare.vtkhdf", "r+") as file:
    del file["provenance"]
shutil.copy(name(4), "missing.vtkhdf")
with h5py.File("missing.vtkhdf", "r+") as file:
    file["provenance"].attrs["step"] = 6
    file["provenance"].attrs["time"] = 0.006
    del file["VTKHDF/PointData/velocity"]
    file["VTKHDF/PointData/velocity"] = numpy.zeros((4, 12, 15, 3), dtype=numpy.float32)
os.mkdir("empty")
os.mkdir("folder.vtkhdf")
before = tree()
for arguments, words in [
        ([], ["OUT"]), (["x.vtkhdf"], ["SNAPSHOT"]), (["x.vtkhdf", "--faster", "run"], ["--faster"]),
        (["x.vtkhdf", name(4)], ["only one snapshot"]), (["x.vtkhdf", "nowhere"], ["nowhere", "No such file"]),
        (["x.vtkhdf", "empty"], ["no snapshots", "empty"]), (["x.vtkhdf", "run"], ["which", "fine, main"]),
        (["x.vtkhdf", "run", "mian"], ["mian", "fine, main"]), (["x.vtkhdf", "run", "main", "fine"], ["one name"]),
        (["x.h5", "run", "main"], ["x.h5", ".vtkhdf"]), (["nowhere/x.vtkhdf", "run", "main"], ["no folder", "nowhere"]),
        (["folder.vtkhdf", "run", "main"], ["is a folder"]), (["--force", "folder.vtkhdf", "run", "main"], ["is a folder"]),
        (["--force"] + ALL, [ALL[0], "a snapshot's name"]), (ALL, [ALL[0], "a snapshot's name"]),
        (["--force", "twin.vtkhdf", name(2), "twin.vtkhdf"], ["twin.vtkhdf", "a snapshot's name"]),
        (["x.vtkhdf", name(2), name(4), name(2)], ["given twice"]), (["x.vtkhdf", name(2), name(4), "run/../" + name(2)], ["given twice"]),
        (["x.vtkhdf", name(4), "twin.vtkhdf"], [name(4), "twin.vtkhdf", "both of step 4"]),
        (["x.vtkhdf", name(4), "later.vtkhdf"], ["step 6 at time 0.004, step 4 at 0.004"]),
        (["x.vtkhdf", name(2), "bare.vtkhdf"], ["bare.vtkhdf is no snapshot"]),
        (["x.vtkhdf", name(2), "missing.vtkhdf"], ["missing.vtkhdf", "velocity", "shape"]),
        (["x.vtkhdf", name(2), "no.vtkhdf"], ["no.vtkhdf", "no HDF5 file"]),
        (["x.vtkhdf", name(2), "torn_0000000004.vtkhdf"], ["torn_0000000004.vtkhdf", "damaged"]),
        (["x.vtkhdf", name(2), "some.vtkhdf"], ["some.vtkhdf is no snapshot", "static"]),
        (["x.vtkhdf", name(2), name(10, "other")], [name(10, "other"), "16 x 12 x 5 points, not 16 x 12 x 4"]),
        (["x.vtkhdf", name(2), name(10, "finer")], [name(10, "finer"), "Origin"]),
        (["x.vtkhdf", name(2), name(10, "fewer")], [name(10, "fewer"), "other arrays: density, velocity, not"]),
        (["x.vtkhdf", name(2), name(10, "wide")], [name(10, "wide"), "float64", "not float32"]),
        (["x.vtkhdf", name(2), name(10, series="fine")], ["other arrays"])]:
    said = script("join", *arguments)
    check(refused(said, "join: ", *words), f"join {' '.join(arguments)[:60]}: {told(said)}")
check(tree() == before, "and nothing was written")

# The disk is full: status 1, the file that was there is as it was, nothing is left.
before = open("all.vtkhdf", "rb").read()
for most in (0, 1000, 20000, 100000):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    said = script("join", "--force", "all.vtkhdf", "run", "main", preexec=limit)
    check(refused(said, "join: cannot write", "File too large", code=1) and open("all.vtkhdf", "rb").read() == before and
          not os.path.exists("all.vtkhdf.tmp"), f"no more than {most} bytes: {told(said)}")

# A job that is ended while it writes leaves nothing either.
write("small/join.py", text.replace("PIECE = 64 << 20", "PIECE = 1"))  # which takes its time
for k in range(30):
    part(f"long_{k:010d}.vtkhdf", k, (40, 40, 40), (0, 0, 0))
process = subprocess.Popen([PYTHON, "small/join.py", "long.vtkhdf", ".", "long"], stderr=subprocess.PIPE)
while process.poll() is None and not (os.path.exists("long.vtkhdf.tmp") and os.path.getsize("long.vtkhdf.tmp") > 1 << 20):
    time.sleep(0.001)
process.terminate()
error = process.communicate()[1]
check(process.returncode == 143 and not error and not os.path.exists("long.vtkhdf.tmp") and not os.path.exists("long.vtkhdf"),
      f"ended while it writes: exit status {process.returncode}, nothing is left {error.decode()[-200:]}")

# Plotting --------------------------------------------------------------------------------------


def picture(path):
    """[y, x, 3] colours, 0 to 1."""
    image = matplotlib.image.imread(path)[..., :3]
    os.remove(path)
    return image


def colored(image):
    """How many pixels are neither white, grey nor black."""
    return int(((image.max(axis=2) - image.min(axis=2)) > 0.3).sum())


def plot(*arguments, output="x.png", what):
    said = script("plot", *arguments, "--output", output)
    if not check(done(said) and os.path.isfile(output), f"{what}: {told(said)}"):
        return None
    return picture(output) if output.endswith(".png") else None


full = plot("run/series/flow.csv", what="a series")
one = plot("run/series/flow.csv", "--columns", "mass", what="one of its columns")
check(full is not None and one is not None and full.shape[1] > one.shape[1] and colored(full) > colored(one) > 100,
      "four columns are more panels than one")
said = script("plot", "run/series/flow.csv", cwd="empty", env={"PYTHONPATH": ""})
check(refused(said, "run/series/flow.csv", "No such file"), f"a file that is not there: {told(said)}")
said = script("plot", "../run/series/flow.csv", cwd="empty")
check(done(said) and tree("empty") == ["flow.png"] and "over time" in said.stdout, f"without --output it is named for the series: {told(said)}")
said = script("plot", "lattice/series/flow.csv", "--output", "x.png")
check(done(said) and "over step" in said.stdout, f"without units it is over the step: {told(said)}")
for kind, head in (("pdf", b"%PDF"), ("svg", b"<?xml")):
    plot("run/series/flow.csv", output="x." + kind, what=f"as {kind}")
    check(open("x." + kind, "rb").read().startswith(head), f"it is {kind}")
# What is written in the picture is text in SVG.
svg = {}
for folder in ("run", "lattice"):
    script("plot", f"{folder}/series/flow.csv", "--output", "text.svg", env={"MPLCONFIGDIR": runs.WORK, "MATPLOTLIBRC": write(
        "matplotlibrc", "svg.fonttype: none\n")})
    svg[folder] = open("text.svg").read()
check(all(unit in svg["run"] for unit in ("mass [kg]", "kinetic energy [J]", "enstrophy [m³/s²]", "max velocity [m/s]", "time [s]")),
      "with units: axes in kg, J, m3/s2, m/s, s")
check("[" not in "".join(line for line in svg["lattice"].splitlines() if "</text>" in line) and "(lattice units)" in svg["lattice"],
      "without: lattice units")
for scalar, kind in ("T", "{kind: heat, prandtl: 0.7, reference: 300 K}"), ("s", "{schmidt: 1}"):
    run(f"warm_{scalar}", UNITS | {f"scalars.{scalar}": kind, "run.steps": 4, "output": "{series: {warm: {every: 2, of: scalar, scalar: " + scalar + "}}}"})
    script("plot", f"warm_{scalar}/series/warm.csv", "--output", "text.svg", env={"MATPLOTLIBRC": "matplotlibrc"})
    svg[scalar] = open("text.svg").read()
check(all(f">{label}</text>" in svg["T"] for label in ("mean [K]", "variance [K²]", "sum [K m³]")) and
      all(f">{label}</text>" in svg["s"] for label in ("mean", "variance", "sum [m³]")), "columns of scalars have the units of their kind")
script("plot", "run/series/flow.csv", "finer/series/flow.csv", "--columns", "mass", "--output", "text.svg", env={"MATPLOTLIBRC": "matplotlibrc"})
check(all(f">{word}</text>" in open("text.svg").read() for word in ("run", "finer", "flow")), "several files: a legend with the runs' names")


def series(path, header, rows, end="\n"):
    return write(path, "\n".join([header] + [",".join(map(str, row)) for row in rows]) + end)


# A known curve: y goes from 0 to 1, in the picture from the lower left to the upper right.
image = plot(series("ramp.csv", "step,time,a", [(k, k, k / 100) for k in range(101)]), what="a ramp")
if image is not None:
    rows, columns = numpy.nonzero((image[..., 2] - image[..., 0]) > 0.4)
    line = numpy.polyfit(columns, rows, 1)
    check(line[0] < 0 and abs(numpy.polyval(line, columns) - rows).max() < 4, f"{len(rows)} pixels on a straight line upwards")
    gap = plot(series("gap.csv", "step,time,a", [(k, k, "nan" if 30 < k < 60 else k / 100) for k in range(101)]), what="with nan")
    found = numpy.nonzero((gap[..., 2] - gap[..., 0]) > 0.4)[1]
    check(numpy.diff(numpy.unique(found)).max() > 0.2 * (found.max() - found.min()), "nan is a gap in it")
for what, header, rows in [
        ("a single row", "step,time,a", [(5, 5, 0.25)]), ("nothing but nan", "step,time,a", [(0, 0, "nan"), (1, 1, "-nan")]),
        ("infinities and large numbers", "step,time,a", [(0, 0, "inf"), (1, 1, "-inf"), (2, 2, 1e308), (3, 3, -1e308), (4, 4, 1)]),
        ("a constant", "step,time,a", [(k, k, 0) for k in range(5)]), ("large steps", "step,time,a", [(9999999990 + k, k, k) for k in range(9)]),
        ("many columns", "step,time," + ",".join(f"a{k}" for k in range(23)), [(k, k) + (k,) * 23 for k in range(5)]),
        ("a name with signs", "step,time,$_^{x}$", [(k, k, k) for k in range(5)])]:
    series("odd.csv", header, rows)
    plot("odd.csv", what=what)
    plot("odd.csv", "--log", what=f"{what}, logarithmic")
    said = script("plot", "odd.csv", "--begin", "0", "--output", "x.png")
    check(said.returncode == 0 and not said.stderr and f"\n  {header.split(',')[-1]}: " in said.stdout, f"{what}, statistics: {told(said)}")
plot(series("growing.csv", "step,time,a", [(0, 0, 1), (1, 1, 2), (2, 2)], end=""), what="a row that is being written is left out")
write("_$r^\\lé%s.csv", open("ramp.csv").read())
plot("_$r^\\lé%s.csv", "ramp.csv", what="odd names of files")
check(colored(plot("ramp.csv", *[series(f"r{k}.csv", "step,time,b", [(0, 0, k), (9, 9, -k)]) for k in range(25)], what="26 files, other columns")) >
      1000, "are all drawn")

# A start that goes far beyond all later values is left out of the axis, and the panel says so.
spike = [(k + 1000, k + 1000, 100 * 0.5**k + numpy.sin(k / 9)) for k in range(200)]
tops = {}
for name_, rows, options in (("spike", spike, []), ("spike", spike, ["--whole"]), ("spike", spike, ["--log"]), ("wave", spike[20:], [])):
    series(name_ + ".csv", "step,time,a", rows)
    said = script("plot", name_ + ".csv", "--output", "text.svg", *options, env={"MATPLOTLIBRC": "matplotlibrc"})
    labels = [float(label.replace("−", "-")) for label in re.findall(r">(−?[\d.]+)</text>", open("text.svg").read())]
    tops[name_, *options] = max((label for label in labels if label < 1000), default=0), "the start is beyond the frame" in open("text.svg").read()
check(0 < tops["spike",][0] < 5 and tops["spike",][1] and tops["spike", "--whole"] == (100, False) and not tops["spike", "--log"][1] and not tops["wave",][1],
      f"a start far beyond the later values is left out, and said so: {tops}")

# A series along a line.
HEADER = "step,time,distance,x,y,z,velocity_x,velocity_y,velocity_z,density,pressure"
profile = [(step, step, d, d, 2, 3, step * d, 0, 0, 1, "nan" if d > 7 else d) for step in range(0, 2000, 100) for d in range(10)]
series("line.csv", HEADER, profile)
for arguments, lines in (([], "1 line "), (["--step", "100"], "1 line "), (["--step", "300,100"], "2 lines "), (["--step", "all"], "20 lines ")):
    said = script("plot", "line.csv", "--output", "x.png", *arguments)
    check(done(said) and "velocity_x, velocity_y, velocity_z, density, pressure over distance, " + lines in said.stdout,
          f"profiles {' '.join(arguments)}: {told(said)}")
plot("line.csv", "line.csv", "--step", "all", what="of two files")
os.makedirs("line/series")
write("line/case.yaml", open("run/case.yaml").read())
series("line/series/wake.csv", HEADER, profile)
script("plot", "line/series/wake.csv", "--step", "0,500", "--output", "text.svg", env={"MATPLOTLIBRC": "matplotlibrc"})
check(all(word in open("text.svg").read() for word in ("distance [m]", "velocity x [m/s]", "density [kg/m³]", "pressure [Pa]", ">step 0<", ">step 500<")),
      "profiles have units, and a legend with the steps")

series("header.csv", "step,time,a", [])
series("word.csv", "step,time,a", [(0, 0, 1), (1, 1, "x")])
series("short.csv", "step,time,a", [(0, 0, 1), (1, 1)])
series("twice.csv", "step,time,a,a", [(0, 0, 1, 1)])
series("nothing.csv", "step,time", [(0, 0)])
series("foreign.csv", "x,y", [(0, 0)])
write("void.csv", "")
write("bytes.csv", b"step,time,a\n\xff\xfe\n")
before = tree()
for arguments, words in [
        ([], ["FILE.csv"]), (["header.csv"], ["header.csv has no rows"]), (["void.csv"], ["void.csv is empty"]),
        (["word.csv"], ["word.csv:3: a: 'x' is no number"]), (["short.csv"], ["short.csv:3: 2 values, not 3"]),
        (["twice.csv"], ["twice.csv is no series"]), (["nothing.csv"], ["nothing.csv has no columns"]), (["foreign.csv"], ["foreign.csv is no series"]),
        (["bytes.csv"], ["bytes.csv is no CSV"]), (["run"], ["run", "Is a directory"]), (["case.yaml"], ["case.yaml is no series"]),
        (["run/series/flow.csv", "--columns", "maas"], ["maas", "did you mean mass?"]),
        (["run/series/flow.csv", "--columns", "q"], ["'q'", "mass, kinetic_energy, enstrophy, max_velocity"]),
        (["run/series/flow.csv", "--x", "mass"], ["--x", "mass"]), (["run/series/flow.csv", "--step", "2"], ["--step has no effect"]),
        (["line.csv", "--x", "time"], ["--x has no effect"]), (["line.csv", "--step", "140"], ["no step 140", "nearest is 100"]),
        (["line.csv", "--begin", "1"], ["--begin has no effect"]), (["ramp.csv", "--begin", "101"], ["ramp.csv has no rows from 101 on"]),
        (["ramp.csv", "--begin", "5 furlongs"], ["neither a step nor a time"]), (["lattice/series/flow.csv", "--begin", "1 s"], ["must be a step"]),
        (["line.csv", "--step", "-1"], ["--step"]), (["line.csv", "ramp.csv"], ["along lines"]),
        (["run/series/flow.csv", "lattice/series/flow.csv"], ["run/series/flow.csv", "physical", "lattice/series/flow.csv", "lattice units"]),
        (["ramp.csv", "--output", "ramp.csv"], ["ramp.csv", ".png"]), (["ramp.csv", "--output", "nowhere/x.png"], ["nowhere/x.png", "no such folder"])]:
    said = script("plot", *arguments)
    check(refused(said, "plot: ", *words), f"plot {' '.join(arguments)[:60]}: {told(said)}")
said = script("plot", "ramp.csv", "--output", "x.png", preexec=limit)
check(done(said), f"a picture of less than {most} bytes: {told(said)}")
most = 1000
os.remove("x.png")
said = script("plot", "ramp.csv", "--output", "y.png", preexec=limit)
check(refused(said, "plot: cannot write", "File too large", code=1), f"of less than {most}: {told(said)}")
check(set(tree()) <= set(before), "and nothing was written")

# Without a package they say which; help is there.
write("small/h5py.py", "raise ImportError(\"No module named 'h5py'\")\n")
write("small/matplotlib.py", "raise ImportError(\"No module named 'matplotlib'\")\n")
for tool, package in (("join", "python3-h5py"), ("plot", "python3-matplotlib")):
    said = script(tool, "x", "y", env={"PYTHONPATH": os.path.join(runs.WORK, "small")})
    check(refused(said, "apt install " + package, code=1), f"{tool} without {package}: {told(said)}")
    said = script(tool, "--help")
    check(said.returncode == 0 and "usage:" in said.stdout and "Exit status" in said.stdout and not said.stderr, f"{tool} --help")

# Every script answers --help and does nothing else: in a copy of the repository where each change shows, with programs
# that tell when they are called.
shutil.copytree(os.path.join(runs.ROOT, "scripts"), "copy/scripts", ignore=shutil.ignore_patterns("__pycache__"))
for folder in ("configs", "docs/images", "python/src", "tests/physics"):
    shutil.copytree(os.path.join(runs.ROOT, folder), "copy/" + folder, ignore=shutil.ignore_patterns("__pycache__"))
os.makedirs("programs")
for program in ("apt-get", "cc", "dpkg-query", "mpirun", "ninja", "meson", "srun", "tagflow"):
    os.chmod(write("programs/" + program, f"#!/bin/sh\necho {program} >>{runs.WORK}/called\n"), 0o755)
helped = sorted(entry.name for entry in os.scandir("copy/scripts") if entry.is_file() and os.access(entry.path, os.X_OK))
shebang = sorted(entry.name for entry in os.scandir("copy/scripts") if entry.is_file() and open(entry.path).read(2) == "#!")
check(helped == shebang and len(helped) > 20, f"{len(helped)} scripts begin with #!, and these are executable")


def stamps():
    return {os.path.join(folder, name): os.stat(os.path.join(folder, name)).st_mtime_ns
            for folder, _, names in os.walk("copy") for name in names}


def answer(name):
    return subprocess.run([os.path.join(runs.WORK, "copy/scripts", name), "--help"], capture_output=True, text=True, cwd="copy",
                          timeout=runs.HANGS, stdin=subprocess.DEVNULL, env=os.environ | {
                              "PATH": f"{runs.WORK}/programs:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"})


before = stamps()
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for name, said in zip(helped, pool.map(answer, helped)):
        check(said.returncode == 0 and not said.stderr and name.removesuffix(".py").removesuffix(".sh") in said.stdout,
              f"{name} --help: {told(said)}")
check(stamps() == before and not os.path.exists("called"), "and no file is written or touched, and no other program is started")

runs.finish()
