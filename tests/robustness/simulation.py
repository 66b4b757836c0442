#!/usr/bin/python3
"""tagflow.Simulation: fields beside snapshots, errors, signals, ranks, arrays of DLPack."""
import gc
import importlib.util
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import h5py
import numpy

import runs
from runs import MPIRUN, ROOT, check, write

SOURCE = ROOT + "/python/src"
sys.path.insert(0, SOURCE)
import tagflow  # noqa: E402
from tagflow import simulation  # noqa: E402

CASE = {
    "domain": {"cells": [16, 12, 8]}, "units": {"dx": "1 mm", "dt": "0.1 ms", "density": "1000 kg/m3"},
    "fluid": {"viscosity": "0.5 cm2/s"}, "run": {"steps": 40},
    "faces": {"x": {"wall": {"scalars": {"heat": "adiabatic", "salt": "adiabatic"}}}, "ymin": {"wall": {"scalars": {"heat": {"value": "300 K"}, "salt": "adiabatic"}}},
              "ymax": {"wall": {"velocity": ["0.3 m/s", 0, 0], "scalars": {"heat": {"value": "310 K"}, "salt": {"value": 1}}}}, "z": "periodic"},
    "scalars": {"heat": {"kind": "heat", "prandtl": 0.7, "reference": "300 K"}, "salt": {"diffusivity": "0.1 cm2/s"}},
    "bodies": {"ball": {"shape": {"sphere": {"center": ["8 mm", "5 mm", "4 mm"], "radius": "2.2 mm"}}, "scalars": {"heat": "adiabatic", "salt": "adiabatic"}}},
    "output": {"fields": {"all": {"every": 20, "of": ["velocity", "density", "pressure", "vorticity", "tags", "heat", "salt"], "precision": "fp64"}},
               "series": {"p": {"every": 20, "of": "probe", "point": ["3.3 mm", "11.9 mm", "4 mm"]}}},
}
NAMES = ("velocity", "density", "pressure", "vorticity", "tags", "heat", "salt")


def fails(kind, words, what, call):
    try:
        call()
    except kind as error:
        return check(words in str(error) and "\n" not in str(error), f"{what}: {type(error).__name__} {error}")
    return check(False, f"{what}: no {kind.__name__}")


def script(text, ranks=0, status=0):
    """Runs it as a program of its own; what it printed, without the order of lines."""
    line = [*([MPIRUN, "-n", str(ranks)] if ranks else []), sys.executable, write("script.py", text)]
    said = subprocess.run(line, capture_output=True, text=True, timeout=runs.HANGS, stdin=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": SOURCE})
    check(said.returncode == status, f"{ranks or 1} ranks: exit status {said.returncode} {said.stderr[-600:]}")
    return sorted(said.stdout.splitlines())


# ---- fields, beside the snapshots of the program ----

reference = tagflow.run(CASE, "reference")
snapshot = reference.fields["all"].at(20)
with tagflow.Simulation(CASE) as flow:
    folder = flow.folder
    check(os.path.isdir(folder) and flow.step == 0 and not flow.over and flow.levels == 1, f"{flow}")
    check(flow.advance(20) == 20 and math.isclose(flow.time, 0.002), f"step {flow.step}, time {flow.time}")
    block = flow.block()
    check(block.first == (0, 0, 0) and block.count == block.cells == (16, 12, 8) and block.spacing == 0.001, f"{block}")
    check(all(numpy.allclose(a, b) for a, b in zip(block.coordinates(), snapshot.coordinates())), "coordinates")
    for name in NAMES:
        field, other = flow.field(name), snapshot[name]
        check(field.dtype == (numpy.uint8 if name == "tags" else float) and field.shape == other.shape and (field == other).all() and
              field.flags.c_contiguous and field.flags.owndata, f"{name}: {field.shape}, as in the snapshot")
        check(flow.unit(name).replace("m3", "m³") == ({"heat": "K", "salt": "1"}.get(name) or snapshot.unit(name)), f"its unit: {flow.unit(name)}")
    first = flow.field("velocity")
    again = numpy.full_like(first, numpy.nan)
    flow.advance(1)
    check(flow.field("velocity", out=again) is again and (again != first).any() and (first == snapshot["velocity"]).all(), "out= is filled, an earlier array is left alone")
    for bad in (numpy.empty(first.shape, numpy.float32), numpy.empty((3, *first.shape)), first[:, ::2], first.T):
        fails(tagflow.UsageError, "contiguous array of float64", f"out of the shape {bad.shape}", lambda bad=bad: flow.field("velocity", out=bad))
    flow.advance(19)
    at = [0.0033, 0.0119, 0.004]
    row = tagflow.Run(folder).series["p"].array()[-1]
    found = {name: flow.points(name, at) for name in ("velocity", "density", "pressure", "heat", "salt")}
    check(flow.over and all(found["velocity"][k] == row["velocity_" + "xyz"[k]] for k in range(3)) and
          all(found[name] == row[name] for name in ("density", "pressure", "heat", "salt")), f"points are those of the series: {found}")
    check(flow.points("velocity", numpy.full((2, 5, 3), 0.004)).shape == (2, 5, 3) and flow.points("heat", numpy.full((2, 5, 3), 0.002)).shape == (2, 5) and
          flow.points("heat", numpy.empty((0, 3))).shape == (0,), "many points")
    check(numpy.isnan(flow.points("heat", [0.008, 0.005, 0.004])), "nan within a body")
    check(flow.column("p.velocity_x") == row["velocity_x"], "a column")
    fluid = flow.field("tags") == 1
    check(fluid.sum() < fluid.size and all(abs(flow.mean(name) - flow.field(name)[fluid].mean()) < 1e-9 * abs(flow.mean(name)) for name in ("density", "heat", "salt")) and
          abs(flow.mean("heat", (0, 0, 0), (4, 3, 2)) - flow.field("heat")[:2, :3, :4].mean()) < 1e-9, f"means over the fluid: {flow.mean('heat')}")
    check(numpy.isnan(flow.mean("heat", (8, 5, 4), (9, 6, 5))), "nan where there is none")
    check(flow.state_hash == reference.report["state_hash"], "the state is that of the program")
    check(flow.run.state == "running", "its folder can be opened meanwhile")

    # ---- DLPack ----
    raw = flow.raw()
    view = numpy.from_dlpack(raw)
    unit = 0.001 / 0.0001
    check(view.shape == (8, 12, 16, 4) and view.__array_interface__["data"][0] == raw.address and raw.__dlpack_device__() == (1, 0) and
          numpy.allclose(view[..., 1:] * unit, flow.field("velocity"), rtol=1e-14, atol=0), "the raw flow without a copy")
    check(numpy.allclose(numpy.from_dlpack(flow.raw("heat"))[fluid] + 300, flow.field("heat")[fluid]), "a raw scalar")
    held = len(simulation._given)
    del view
    raw.__dlpack__()  # a capsule that nobody takes
    gc.collect()
    check(held == 1 and not simulation._given, f"{held} arrays are held as long as they are used")
    fails(tagflow.CaseError, "there is no raw array velocity", "a raw field", lambda: flow.raw("velocity"))
check(not os.path.exists(folder) and "closed" in repr(flow), "the temporary folder is gone")
for call in (lambda: flow.field("velocity"), flow.advance, raw.__dlpack__):
    fails(tagflow.UsageError, "is closed", "after its end", call)

# ---- levels ----

refined = {"domain": {"cells": [16, 12, 8]}, "fluid": {"viscosity": 0.05}, "run": {"steps": 10}, "refine": {"lid": {"level": 1, "box": {"from": [0, 8, 0], "to": [16, 12, 8]}}},
           "faces": {"x": "wall", "ymin": "wall", "ymax": {"wall": {"velocity": [0.05, 0, 0]}}, "z": "periodic"},
           "output": {"fields": {"all": {"every": 10, "of": ["velocity", "tags"], "precision": "fp64"}}}}
levels = tagflow.run(refined, "refined").fields["all"][-1].levels
with tagflow.Simulation(refined) as flow:
    flow.advance()
    check(flow.levels == 2, "two levels")
    for level in levels:
        block, field = flow.block(level.number), flow.field("velocity", level.number)
        seen = 0
        for box in level.boxes:
            low = [a - b for a, b in zip(box.first, block.first)]
            part = field[tuple(slice(low[a], low[a] + box.cells[a]) for a in (2, 1, 0))]
            seen += part.size
            check((part == box["velocity"]).all(), f"level {level.number}: a box of {box.cells} cells, as in the snapshot")
        check(numpy.isnan(field).sum() == field.size - seen, f"the other {(field.size - seen) // 3} cells of its block are nan")
    weights = [(8.0**-level.number, box, ~box.covered()) for level in levels for box in level.boxes]
    mean = sum(w * box["velocity"][own].sum(axis=0) for w, box, own in weights) / sum(w * own.sum() for w, box, own in weights)
    check(numpy.allclose(flow.mean("velocity"), mean, rtol=1e-12, atol=1e-18), f"the mean over both levels: {mean}")
    fails(tagflow.CaseError, "there is no level 2 (0 to 1)", "a level that is not there", lambda: flow.field("velocity", 2))

# Levels of a flow in two dimensions have one layer of cells, in the middle of the box; a snapshot repeats it.
plane = refined | {"domain": {"cells": [16, 12, 1]}, "refine": {"lid": {"level": 2, "box": {"from": [0, 9, 0], "to": [16, 12, 1]}}}}
levels = tagflow.run(plane, "plane").fields["all"][-1].levels
with tagflow.Simulation(plane) as flow:
    flow.advance()
    for level in levels:
        block, field = flow.block(level.number), flow.field("velocity", level.number)
        x, y, z = block.coordinates()
        check(field.shape[0] == 1 and z.tolist() == [0.5] and math.isclose(y[1] - y[0], block.spacing) and block.spacing == 0.5**level.number,
              f"level {level.number}: {block}")
        for box in level.boxes:
            part = field[:, box.first[1] - block.first[1]:, box.first[0] - block.first[0]:][:, :box.cells[1], :box.cells[0]]
            check(box.cells[2] == 2**level.number and (part == box["velocity"]).all(), f"level {level.number}: each layer of a box as in the snapshot")
    weights = [(8.0**-level.number, box, ~box.covered()) for level in levels for box in level.boxes]
    mean = sum(w * box["velocity"][own].sum(axis=0) for w, box, own in weights) / sum(w * own.sum() for w, box, own in weights)
    check(numpy.allclose(flow.mean("velocity"), mean, rtol=1e-12, atol=1e-18), f"the mean over all levels of a plane: {mean}")

# ---- errors ----

fails(tagflow.CaseError, "did you mean fluid.viscosity?", "a wrong key", lambda: tagflow.Simulation(CASE, settings={"fluid.viscosty": 1}))
fails(tagflow.CaseError, "nowhere.yaml: No such file", "no case", lambda: tagflow.Simulation("nowhere.yaml"))
fails(tagflow.CaseError, "--backend abacus", "no such backend", lambda: tagflow.Simulation(CASE, backend="abacus"))
fails(tagflow.UsageError, "no communicator of mpi4py", "another comm", lambda: tagflow.Simulation(CASE, comm=3))
with tagflow.Simulation(CASE) as flow:
    fails(tagflow.CaseError, "another run is open", "two at once", lambda: tagflow.Simulation(CASE))
    flow.advance(5)
    fails(tagflow.CaseError, "did you mean velocity?", "a wrong name", lambda: flow.field("velocty"))
    fails(tagflow.UsageError, "positions with 3 coordinates", "points with 2 coordinates", lambda: flow.points("heat", [1, 2]))
    check(flow.advance(5) == 10, "and it goes on")
diverging = tagflow.Simulation(CASE, "diverged", {"check.every": 1, "check.max_velocity": "1 cm/s"})
fails(tagflow.DivergedError, "diverged", "a flow that diverges", diverging.advance)
fails(tagflow.DivergedError, "diverged", "once more", diverging.advance)
fails(tagflow.DivergedError, "diverged", "and at its end", diverging.close)
check(tagflow.open_run("diverged").state == "diverged", "its folder says so")
fails(tagflow.CaseError, "holds a run", "a folder that is in use", lambda: tagflow.Simulation(CASE, "diverged"))

# ---- it is closed early, and goes on ----

flow = tagflow.Simulation(CASE, "early")
flow.advance(13)
flow.close()
flow.close()
check(tagflow.open_run("early").state == "stopped" and tagflow.open_run("early").checkpoints[-1].step == 13, "a run that is closed early has stopped with a checkpoint")
with tagflow.Simulation(CASE, "early", restart="auto") as flow:
    check(flow.step == 13, "it goes on")
    flow.advance()
    check(flow.state_hash == reference.report["state_hash"], "to the same bits")

# ---- the keyboard, signals, and a caller that takes its time ----

LONG = {"run.steps": 10**9, "output": {}, "checkpoint.every": 0}
with tagflow.Simulation(CASE, "keyboard", LONG) as flow:
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        flow.advance()
        check(False, "no KeyboardInterrupt")
    except KeyboardInterrupt:
        check(flow.step > 0 and not flow.over, f"KeyboardInterrupt at step {flow.step}")
    step = flow.step
    check(flow.advance(10) == step + 10, "and the run goes on")
    threading.Timer(0.5, flow.stop).start()
    fails(tagflow.StoppedEarly, "stopped early", "stop() of another thread", flow.advance)
    fails(tagflow.StoppedEarly, "stopped early", "and its end says so", flow.close)
handler = signal.getsignal(signal.SIGUSR1)
stopped = tagflow.Simulation(CASE, "signals", LONG, signals=True)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
fails(tagflow.StoppedEarly, "stopped early", "SIGUSR1", stopped.advance)
fails(tagflow.StoppedEarly, "stopped early", "and close says so", stopped.close)
check(tagflow.open_run("signals").status["reason"] == "SIGUSR1" and signal.getsignal(signal.SIGUSR1) == handler, "the reason, and the handler from before")
with tagflow.Simulation(CASE, settings={"check.hang": "1 s"}) as flow:
    flow.advance(10)
    time.sleep(2.5)
    flow.advance(10)
    time.sleep(1.5)
check(True, "check.hang does not count between the calls")
time.sleep(1.5)

# ---- files of others are read by the program beside the library ----

with h5py.File("profile.h5", "w") as file:
    file["u"] = numpy.outer(numpy.ones(8), numpy.sin(numpy.pi * (numpy.arange(12) + 0.5) / 12))
profile = {"domain": {"cells": [16, 12, 8]}, "fluid": {"viscosity": 0.05}, "run": {"steps": 20},
           "faces": {"xmin": {"velocity": {"value": [0.04, 0, 0], "profile": {"file": "profile.h5", "dataset": "u"}}}, "xmax": "pressure", "y": "wall", "z": "periodic"}}
with tagflow.Simulation(profile) as flow:
    flow.advance()
    check(flow.field("velocity")[4, 6, 0, 0] > 0.02, "a profile from HDF5")
os.makedirs("alone")
shutil.copy(simulation._places()[0], "alone/libtagflow.so.1")
said = subprocess.run([sys.executable, "-c", f"import tagflow; tagflow.Simulation({profile!r})"], capture_output=True, text=True,
                      env=os.environ | {"PYTHONPATH": SOURCE, "TAGFLOW_LIBRARY": os.path.abspath("alone/libtagflow.so.1")})
check(os.path.abspath("alone") + "/tagflow" in said.stderr.splitlines()[-1], f"without the program: {said.stderr.splitlines()[-1:]}")

# ---- ranks ----

BODY = f"""
import os
import tagflow


def tell(*words):  # a line at once, so that lines of ranks do not mix
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())


case = {CASE!r}
"""
ONE = BODY + """
with tagflow.Simulation(case) as flow:
    flow.advance()
    block = flow.block()
    tell(flow.state_hash, flow.mean("heat"), block.count[0] * block.count[1] * block.count[2])
"""
alone = script(ONE)
for ranks in 2, 3:
    lines = script(ONE, ranks)
    check([line.rsplit(" ", 1)[0] for line in lines] == ranks * [alone[0].rsplit(" ", 1)[0]] and
          sum(int(line.split()[-1]) for line in lines) == 16 * 12 * 8, f"{ranks} ranks without mpi4py: the same bits {lines}")
lines = script(BODY + """
try:
    tagflow.Simulation(case, settings={"fluid.viscosty": 1})
except tagflow.CaseError as error:
    tell(error)
""", 2)
check(len(lines) == 2 and lines[0] == lines[1] and "did you mean" in lines[0], f"both ranks have the error: {lines}")
if importlib.util.find_spec("mpi4py"):
    for before in (True, False):
        first, later = ("from mpi4py import MPI\n", "") if before else ("", "from mpi4py import MPI\n")
        lines = script(first + ONE + later + "tell(MPI.COMM_WORLD.size)\n", 2)
        check(lines[:2] == ["2", "2"] and lines[2].split()[0] == alone[0].split()[0], f"with mpi4py, imported {'before' if before else 'after'}: {lines}")
    lines = script("from mpi4py import MPI\n" + BODY + """
half = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
with tagflow.Simulation(case, settings={"fluid.viscosity": f"{0.5 + 0.1 * (MPI.COMM_WORLD.rank % 2)} cm2/s"}, comm=half) as flow:
    flow.advance()
    tell(MPI.COMM_WORLD.rank % 2, flow.state_hash)
""", 4)
    check(len(set(lines)) == 2 and lines[0] == lines[1] and lines[2] == lines[3] and lines[0] == "0 " + alone[0].split()[0],
          f"two runs at once, of two ranks each, by communicators: {sorted(set(lines))}")
else:
    print("note: no mpi4py here")

# ---- no library ----

said = subprocess.run([sys.executable, "-c", "import tagflow; tagflow.Simulation({})"], capture_output=True, text=True,
                      env=os.environ | {"PYTHONPATH": SOURCE, "TAGFLOW_LIBRARY": "/nowhere/libtagflow.so.1"})
check("ProgramError: libtagflow cannot be loaded: /nowhere/libtagflow.so.1" in said.stderr, f"no library: {said.stderr.splitlines()[-1:]}")
runs.finish()
