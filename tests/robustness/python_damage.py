#!/usr/bin/python3
"""The Python package with damaged folders: 300 changes of valid ones, of a fixed seed. Wrong bytes, numbers beyond all bounds, other
types, files cut or gone, FIFOs, links and folders in their place, attributes and arrays that are not what they were. Each reader ends
with the package's own error in one line, or with a result; of a snapshot whose bytes changed with the right one. Each change is read in
a process of its own, with limits of time and memory.

    python_damage.py [FIRST [NUMBER]]    these changes alone, with what was read
"""
import hashlib
import os
import random
import resource
import shutil
import signal
import sys
import traceback

import numpy

import runs
from changes import change_bytes, change_hdf5, change_json, change_place, change_words
from runs import ROOT, check, tagflow as program, write

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "python", "src"))
import tagflow
from tagflow.sweeps import results

CHANGES = 300
SECONDS = 30 * int(os.environ.get("TAGFLOW_SLOWER", "1"))
MEMORY = 1 << 30  # bytes, beside what the test has already
OURS, FOREIGN = 0, 1

CASE = """\
units:   {dx: 2 mm, dt: 1 ms, density: 1.2 kg/m3}
domain:  {cells: [16, 12, 6]}
fluid:   {viscosity: 0.05, velocity: 0.05, length: 12}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}, z: periodic}
bodies:  {post: {mesh: {file: tetra.stl, scale: 2 mm, center: [8, 5, 3]}}}
run:     {steps: 40}
checkpoint: {every: 20}
output:
  log: {every: 10}
  series:
    flow: {every: 2, of: [mass, kinetic_energy]}
    drag: {every: 2, of: forces, body: post, area: 8, statistics: {from: 10}}
    wake: {every: 20, of: line, from: [1, 9, 2.5], to: [15, 9, 2.5], points: 5}
  fields:   {main: {every: 20, of: [velocity, density, tags]}, bare: {every: 40, of: velocity, stride: 2}}
  averages: {mean: {every: 1, of: [velocity, stress], from: 10, to: 30}}
  surfaces: {skin: {every: 20, body: post, of: [pressure, shear_stress]}}
  images:   {mid: {every: 20, of: speed}}
"""
LEVELS = """\
domain:  {cells: [20, 16, 12]}
fluid:   {viscosity: 0.05, velocity: 0.05, length: 12}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}, z: periodic}
bodies:  {ball: {shape: {sphere: {center: [10, 8, 6], radius: 1.4}}}}
refine:  {near: {level: 1, box: {from: [6, 4, 2], to: [14, 12, 10]}}}
run:     {steps: 10}
output:  {log: {every: 5}, fields: {main: {every: 10, of: [velocity, tags]}}, series: {flow: {every: 2, of: mass}}}
"""
corners = [(0, 0, 0), (4, 0, 0), (0, 4, 0), (0, 0, 4)]
facets = "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex %g %g %g\n" % corners[k] for k in facet) + "endloop\nendfacet\n"
                 for facet in [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
write("tetra.stl", f"solid t\n{facets}endsolid t\n")
for name, text in ("grid", CASE), ("levels", LEVELS):
    write(name + ".yaml", text)
    said = program("run", name + ".yaml", "--output", name)
    if not check(said.code == 0, f"{name}: {said}"):
        runs.finish()

# ---- readers ----

arrays_read = {}  # {(file, array): digest}: of the folders as they were


def of_snapshot(snapshot, note):
    for name in snapshot.arrays:
        values = snapshot[name]
        note(snapshot.path, name, values)
        snapshot.unit(name)
    repr(snapshot), snapshot.case, snapshot.provenance
    snapshot.verify()
    if isinstance(snapshot, tagflow.Surface):
        snapshot.areas()
        return
    snapshot.coordinates(), snapshot.samples, snapshot.length_unit
    for axis in "xyz":
        snapshot.plane(snapshot.arrays[0], axis)
    if snapshot.step:  # at the first one no cell moves
        snapshot.fluid()
    if isinstance(snapshot, tagflow.Refined):
        for level in snapshot.levels:
            for box in level:
                box[snapshot.arrays[0]], box.coordinates(), box.covered(), repr(box)
        snapshot.part(0, x=(2, 9)), snapshot.cell_levels(), snapshot.plane_levels("z")


def of_series(series):
    for name in series:
        series[name], series.unit(name)
        if not series.along:
            series.statistics(name), series.statistics(name, x="time", begin=0)
    series.steps, series.table(int(series.steps[-1])), series.array(), series.units, series.begin(), series.physical, repr(series), series.run_name


def of_checkpoint(checkpoint):
    repr(checkpoint), checkpoint.case


def of_run(run):
    repr(run), run.state_text(), run.share(), run.silence(), run.gone(), run.log.progress, run.log.derived, run.images, run.report


def of_case(case):
    repr(case), case.dx, case.dt, case.density, case.physical, case.viscosity, case.get("domain.cells"), case.get("output.series")


def readers(folder, note):
    """(what, function) of all that the package reads in a folder; each may end with an error, and the next one is tried."""
    try:
        run = tagflow.open_run(folder)
    except tagflow.TagflowError as error:
        yield "open_run", lambda: one_line(error)
        return
    yield "run", lambda: of_run(run)
    yield "case", lambda: of_case(run.case)
    yield "results", lambda: results(run)
    for kind in "fields", "averages":
        for name in names(run, kind):
            yield kind, lambda: [of_snapshot(snapshot, note) for snapshot in getattr(run, kind)[name]]
    for name in names(run, "surfaces"):
        yield "surfaces", lambda: [of_snapshot(surface, note) for surface in run.surfaces[name].values()]
    for name in names(run, "series"):
        yield "series", lambda: of_series(run.series[name])
    yield "checkpoints", lambda: [of_checkpoint(checkpoint) for checkpoint in run.checkpoints]


def names(run, kind):
    try:
        return list(getattr(run, kind))
    except tagflow.TagflowError as error:
        one_line(error)
        return []


def one_line(error):
    if "\n" in str(error) or len(str(error)) > 2000 or not str(error).isprintable():
        raise AssertionError(f"not a line: {error!r}")


def read(folder, note):
    """What was said; any other error leaves it."""
    said = []
    for what, reader in readers(folder, note):
        try:
            reader()
        except tagflow.TagflowError as error:
            one_line(error)
            said.append(f"{what}: {error}")
    return said


def remember(path, name, values):
    arrays_read[path, name] = hashlib.sha256(numpy.ascontiguousarray(values).tobytes()).hexdigest()


for name in "grid", "levels":
    found = read(name, remember)
    check(not found, f"{name}, as it is: {found}")
check(len(arrays_read) > 10, f"{len(arrays_read)} arrays")

# ---- changes ----

def change(number):
    """(folder, what was changed, its path, or None if values may be others)."""
    chance = random.Random(number)
    kind = chance.choice(["grid", "grid", "levels"])
    folder = f"changed_{number}"
    shutil.copytree(kind, folder)
    path = os.path.join(folder, chance.choice([name for name in runs.tree(folder) if name != ".lock"]))
    ways = [change_place]
    if os.path.isfile(path):
        ways += [change_bytes, change_bytes]
        ending = os.path.splitext(path)[1]
        ways += {".json": [change_json] * 6, ".csv": [change_words] * 4, ".yaml": [change_words] * 4, ".txt": [change_words] * 3,
                 ".vtkhdf": [change_hdf5] * 4, ".h5": [change_hdf5] * 4}.get(ending, [])
    way = chance.choice(ways)
    return folder, kind, f"{path}: {way.__name__}, {way(chance, path)}", way is change_bytes


def try_change(number, loud):
    folder, kind, what, same = change(number)

    def compare(path, name, values):
        right = arrays_read.get((path.replace(folder, kind, 1), name))
        if same and hashlib.sha256(numpy.ascontiguousarray(values).tobytes()).hexdigest() != right:
            raise AssertionError(f"{path}, {name}: other values, and no error")

    told = f"{folder}.said"
    child = os.fork()
    if child == 0:
        with open("/proc/self/statm") as file:
            resource.setrlimit(resource.RLIMIT_AS, (int(file.read().split()[0]) * resource.getpagesize() + MEMORY,) * 2)
        signal.alarm(SECONDS)
        try:
            said, code = "; ".join(read(folder, compare)), OURS
        except BaseException:
            said, code = traceback.format_exc(), FOREIGN
        write(told, said)
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(told) if os.path.exists(told) else open(os.devnull) as file:
        said = file.read()
    if code != OURS or loud:
        check(code == OURS, f"change {number}, {what}: {code}, {said[-1500:]}")
    shutil.rmtree(folder, ignore_errors=True)
    return code == OURS, bool(said)


first, number = int(sys.argv[1]) if len(sys.argv) > 1 else 0, int(sys.argv[2]) if len(sys.argv) > 2 else 1 if len(sys.argv) > 1 else CHANGES
ended = [try_change(k, len(sys.argv) > 1) for k in range(first, first + number)]
good, told = (sum(column) for column in zip(*ended))
check(good == number and (told > number / 5 or len(sys.argv) > 1), f"{number} changes: {good} ended well, {told} of them told")

runs.finish()
