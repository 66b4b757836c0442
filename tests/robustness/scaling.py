#!/usr/bin/python3
"""The scripts for speed: compare.py, roofline.py and scaling.py, what they make of what tagflow bench writes, and what
they refuse.

    scaling.py HALO_PLAN     the program of tests/halo_plan.c
"""
import copy
import csv
import dataclasses
import importlib.util
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback

import matplotlib.image

import runs
import scaling_oracle as oracle
from runs import ROOT, TAGFLOW, check, write

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import compare  # noqa: E402
import roofline  # noqa: E402

HALO_PLAN = sys.argv[1]
PYTHON = "/usr/bin/python3"


def load(name):
    """A script that has the name of this test."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(ROOT, "scripts", name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAIN = {"compare": compare.main, "roofline": roofline.main, "scaling": load("scaling").main}


def script(name, *arguments):
    """Runs a script: forked from here, which saves the time of its imports. What it says fits into a pipe."""
    line = [os.path.join(ROOT, "scripts", name + ".py"), *map(str, arguments)]
    out, err = os.pipe(), os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.dup2(out[1], 1)
            os.dup2(err[1], 2)
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
    for read_end, write_end in (out, err):
        os.close(write_end)
        with open(read_end, encoding="utf-8", errors="replace") as file:
            said.append(file.read())
    return subprocess.CompletedProcess(line, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), *said)


def told(process):
    return f"{process.returncode}, {(process.stderr or process.stdout).strip()[-300:]!r}"


def refused(process, *words, code=2):
    """One line, none of Python's, that says what is wrong."""
    return process.returncode == code and not process.stdout and process.stderr.count("\n") == 1 and \
        "Traceback" not in process.stderr and all(word in process.stderr for word in words)


def gone(path):
    """Has the process whose number is in the file ended?"""
    with open(path) as file:
        pid = int(file.read())
    os.remove(path)
    end = time.monotonic() + runs.HANGS
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
        time.sleep(0.01)
    return not os.path.exists(f"/proc/{pid}")


# The model's cut and messages are the program's -------------------------------------------------


def plans(questions):
    """What tests/halo_plan.c answers: [(cut or None, [(interior, shell, bytes, [(direction, rank, populations)])])]"""
    text = "".join("%d %d %d %d %d\n" % question for question in questions)
    said = subprocess.run([HALO_PLAN], input=text, capture_output=True, text=True, timeout=runs.HANGS)
    check(said.returncode == 0, f"halo_plan: exit status {said.returncode}")
    found = []
    for line in said.stdout.splitlines():
        words = line.split()
        if words[0] == "cut":
            found.append((None if words[1] == "none" else tuple(map(int, words[1:])), []))
        else:
            sent = [tuple(map(int, word.split(":"))) for word in words[3:]]
            found[-1][1].append((*map(int, words[:3]), sent))
    return found


def model_of(cells, ranks, periodic):
    """The same by the oracle."""
    cuts = oracle.cut(cells, abs(ranks))
    if cuts is None or ranks < 0:
        return cuts, []
    found = []
    for rank in range(ranks):
        _, n = oracle.block(cells, cuts, rank)
        shell, interior = oracle.shell_boxes(n, cuts)
        sent = oracle.messages(cells, cuts, rank, [bool(periodic >> a & 1) for a in range(3)])
        # Each message begins where eight bytes do.
        found.append((interior, sum(shell), sum(4 * count + 7 & ~7 for _, _, count in sent), sent))
    return cuts, found


generator = random.Random(7)
questions = [(generator.randint(1, 70), generator.randint(1, 40), generator.randint(1, 40), generator.randint(1, 64),
              generator.randint(0, 7)) for _ in range(400)]
questions += [(n, n, n, ranks, 7) for n in (64, 65, 128) for ranks in (1, 2, 3, 4, 8, 27, 64)]
questions += [(n, n, n, -ranks, 7) for n in (64, 512, 1000, 1024, 2048, 4096, 8192)
              for ranks in (1, 2, 3, 7, 8, 12, 64, 100, 512, 1000, 4096, 5040)]
answers = plans(questions)
check(len(answers) == len(questions) and sum(cut is None for cut, _ in answers) > 3 and
      sum(len(ranks) for _, ranks in answers) > 5000, "the program says what it would exchange")
wrong = [question for question, answer in zip(questions, answers) if answer != model_of(question[:3], *question[3:])]
check(not wrong, f"cut, shell, messages and bytes are the program's in {len(questions)} boxes {wrong[:3]}")
# The model's steps are those of the oracle ---------------------------------------------------------
BOX = """\
domain: {{cells: [{}, {}, {}]}}
faces: {{x: periodic, y: periodic, z: periodic}}
fluid: {{viscosity: 0.1}}
solver: {{storage: {}}}
run: {{steps: 1}}
"""


def predicted(cells, ranks, machine, storage="fp32", *more):
    """What `tagflow check --json` writes for a periodic box on a machine of the oracle."""
    write("box.yaml", BOX.format(*cells, storage))
    write("machine.yaml", f"""\
updates: {1e-6 * machine.rate!r} MLUPS
shell: {machine.shell!r}
launch: {1e6 * machine.launch!r} us
sector: {machine.sector}
ranks_per_node: {machine.per_node}
node_bandwidth: {1e-9 * machine.node_bandwidth!r} GB/s
node_latency: {1e9 * machine.node_latency!r} ns
network_bandwidth: {1e-9 * machine.network_bandwidth!r} GB/s
network_latency: {1e3 * machine.network_latency!r} ms
message: {machine.message!r} s
reached: {machine.reached!r}
""")
    said = runs.tagflow("check", "box.yaml", "--ranks", ranks, "--machine", "machine.yaml", "--json", "check.json", *more)
    return runs.load(".", "check.json") if check(said.code == 0, f"check of {cells} on {ranks}: {said}") else None


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-18)


PARTS = ("interior", "shell", "packing", "launches", "bandwidth", "latency", "step")
for k in range(24):
    cells = [generator.randint(1, 90) for _ in range(3)] if k % 3 else [generator.choice((64, 512, 1024))] * 3
    ranks = generator.choice((1, 2, 3, 6, 8, 12, 16, 60, 64))
    storage = generator.choice(("fp16", "fp32", "fp64"))
    machine = oracle.Machine(rate=10 ** generator.uniform(8, 11), storage=storage, shell=generator.uniform(0.1, 1),
                             launch=10 ** generator.uniform(-7, -5), sector=generator.choice((32, 64)),
                             per_node=generator.choice((1, 4, 8)), node_bandwidth=10 ** generator.uniform(10, 12),
                             network_bandwidth=10 ** generator.uniform(9, 11), network_latency=10 ** generator.uniform(-6, -4),
                             message=10 ** generator.uniform(-7, -5), reached=generator.uniform(0.2, 1))
    cuts = oracle.cut(cells, ranks)
    if cuts is None:
        continue
    wanted = oracle.step(machine, tuple(cells), cuts)
    found = predicted(cells, ranks, machine, storage)
    check(found and tuple(found["cut"]) == cuts and all(near(found["model"][name], wanted[name]) for name in PARTS) and
          near(found["model"]["load"]["bytes"], wanted["bytes"]) and found["model"]["load"]["messages"] == wanted["messages"] and
          found["model"]["limit"] == oracle.limit(machine, wanted) and
          near(found["model"]["efficiency"], math.prod(cells) / ranks / machine.rate / wanted["step"]),
          f"the model's step of {cells} on {ranks} ranks, {storage}: {found and found['model']}, not {wanted}")

# A step by hand: 256 x 256 x 512 on two devices is cut across z, so that each sends two faces of 256 x 256 cells and
# has a shell of two layers; both ways to the same neighbour.
MACHINE = oracle.Machine(rate=2e9, shell=0.25, launch=1e-6, per_node=1, network_bandwidth=10e9, network_latency=4e-6,
                                message=0.5e-6, reached=0.5)
parts = predicted((256, 256, 512), 2, MACHINE)["model"]
face = 5 * 256 * 256 * 4
touched = 5 * 256 * (256 * 4 // 32 + 1) * 32
wanted = {"interior": 256 * 256 * 254 / 2e9, "shell": 2 * 256 * 256 / 0.5e9, "packing": 2 * 2 * (face + touched) / (2e9 * 153 * 0.25),
          "launches": 3e-6, "bandwidth": 2 * face / 5e9, "latency": 4e-6 + 2 * 0.5e-6}
# Edges along x and y belong to axes that are not cut.
check(parts["load"]["messages"] == 2 and parts["load"]["bytes"] == 2 * face, f"two messages, {parts['load']} bytes")
check(all(near(parts[name], value) for name, value in wanted.items()), f"the parts of a step {parts}")
check(near(parts["step"], sum(wanted[name] for name in ("interior", "shell", "packing", "launches"))) and
      parts["limit"] == "interior",
      "messages are hidden behind a longer interior")
slow_network = dataclasses.replace(MACHINE, network_bandwidth=0.1e9)
slow = predicted((256, 256, 512), 2, slow_network)["model"]
check(near(slow["step"], sum(slow[name] for name in ("shell", "packing", "launches", "bandwidth", "latency"))) and
      slow["bandwidth"] > slow["interior"] and slow["limit"] == "network",
      "and are not, where they take longer")
inside = predicted((256, 256, 512), 2, dataclasses.replace(MACHINE, per_node=2))["model"]
check(inside["load"]["bytes_outside"] == 0 and near(inside["bandwidth"], 2 * face / 225e9), "nor leave the node, if both are in one")

# Files of bench ----------------------------------------------------------------------------------


def spread(median, width=0.01):
    return {"median": median, "least": median * (1 - width), "most": median * (1 + width), "all": [median] * 5}


def bench_row(**more):
    row = {"case": "periodic", "cells": [64, 64, 64], "fluid_cells": 64 ** 3, "collision": "bgk", "storage": "fp32",
           "arithmetic": "fp32", "steps": 100, "repeats": 5, "verified": True, "mlups": spread(300), "mflups": spread(300),
           "mlups_per_rank": 300, "bytes_per_update": 153, "gbs": 45.9, "ceiling": {"mlups": spread(400), "gbs": 61.2, "way": "x"},
           "share": spread(0.75), "phases": {"step": 1, "interior": 0.9, "shell": 0.04, "pack": 0.02, "exchange": 0.9, "unpack": 0.02,
                                             "wait": 0.02},
           "imbalance": 1, "cut": [1, 1, 2], "bytes_per_cell": 80, "joules_per_giga_update": None, "state_hash": "0" * 16}
    return row | more


def bench_file(path, rows, **more):
    found = {"tagflow": "bench", "format": 1, "version": "0", "ranks": 1, "threads": 1, "backend": "cpu",
             "device": "cpu, x86-64-v3, 1 thread", "processor": "A processor", "isa": "v3", "compiler": "gcc 12"}
    return write(path, json.dumps(found | more | {"rows": rows}))


FAILED = {"case": "rock", "cells": [64, 64, 64], "collision": "bgk", "storage": "fp32", "arithmetic": "fp32", "verified": False,
          "why": "cell 3, 4, 5: population 7 is wrong"}
ROWS = [bench_row(), bench_row(collision="trt"), bench_row(case="cavity"), bench_row(storage="fp64", arithmetic="fp64")]
bench_file("a.json", ROWS)


def compared(rows, *arguments, before="a.json", **more):
    """{row: verdict} and how the script ended, of a.json and a file of these rows."""
    bench_file("b.json", rows, **more)
    said = script("compare", *arguments, before, "b.json")
    found = {}
    for line in said.stdout.splitlines()[:-1]:
        words = line[14:].split("  ")[0].split(":")[0]
        found[words.strip()] = line[:14].strip()
    return found, said


found, said = compared(ROWS)
check(said.returncode == 0 and set(found.values()) == {"same"} and len(found) == 4 and not said.stderr,
      f"a file and itself: {told(said)}")
# (change of mlups, of share, width of the spread, arguments, verdict)
for rate, share, width, arguments, verdict in [
        (0.9, 0.9, 0.01, [], "slower"), (1.1, 1.1, 0.01, [], "faster"), (0.5, 1, 0.01, [], "same"), (1, 0.9, 0.01, [], "slower"),
        (0.5, 1, 0.01, ["--by", "mlups"], "slower"), (1, 0.9, 0.01, ["--by", "mlups"], "same"), (1, 0.9, 0.01, ["--by", "share"], "slower"),
        (0.9, 0.9, 0.2, [], "same"), (1.1, 1.1, 0.2, [], "same"), (0.9, 0.9, 0.01, ["--bound", "11"], "same"),
        (0.97, 0.97, 0.001, [], "same"), (0.97, 0.97, 0.001, ["--bound", "0"], "same"), (0.98, 0.98, 0.001, ["--bound", "0"], "slower")]:
    rows = copy.deepcopy(ROWS)
    rows[1] |= {"mlups": spread(300 * rate, width), "share": spread(0.75 * share, width)}
    if verdict == "same" and width == 0.001:
        rows[1]["mlups"]["most"], rows[1]["share"]["most"] = 300, 0.75  # intervals touch
    found, said = compared(rows, *arguments)
    check(found.pop("periodic 64^3 trt fp32") == verdict and set(found.values()) == {"same"} and
          said.returncode == (verdict == "slower"), f"rate x {rate}, share x {share}, spread {width}, {arguments}: {verdict}: {told(said)}")
without = [{key: value for key, value in row.items() if key not in ("share", "ceiling")} for row in ROWS]
without[0]["mlups"] = spread(200)
found, said = compared(without)
check(found["periodic 64^3 bgk fp32"] == "slower" and said.returncode == 1 and "MLUPS" in said.stdout, "without shares, rates")
found, said = compared(without, "--by", "share")
check(set(found.values()) == {"not compared"} and said.returncode == 0, "nothing else, if shares are asked for")
found, said = compared(ROWS[:2] + [bench_row(case="sphere")])
check(list(found.values()).count("missing") == 3 and "3 missing" in said.stdout and said.returncode == 0, f"missing rows: {told(said)}")
found, said = compared(ROWS[1:] + [FAILED | {"case": "periodic"}])
check(found["periodic 64^3 bgk fp32"] == "failed" and said.returncode == 1 and "population 7" in said.stdout,
      f"a row that is wrong now: {told(said)}")
bench_file("wrong.json", ROWS[1:] + [FAILED | {"case": "periodic"}])
found, said = compared(ROWS, before="wrong.json")
check(found["periodic 64^3 bgk fp32"] == "not compared" and said.returncode == 0, f"and one that is right now: {told(said)}")
rocks = [bench_row(case="rock", rock={"porosity_asked": 0.2, "radius": 12.0, "porosity": made}) for made in (0.19, 0.21)]
bench_file("rocks.json", ROWS + rocks[:1])
found, said = compared(ROWS + [rocks[1] | {"mlups": spread(100), "share": spread(0.25)}], before="rocks.json")
check(found["rock of porosity 0.2, radius 12.0 64^3 bgk fp32"] == "slower", f"the same rock: {told(said)}")
found, said = compared(ROWS + [bench_row(case="rock", rock={"porosity_asked": 0.3, "radius": 12.0})], before="rocks.json")
check(list(found.values()).count("missing") == 2, f"another rock is another row: {told(said)}")
found, said = compared(ROWS, device="cpu, x86-64-v4, 1 thread", isa="v4", compiler="clang 19")
check(said.returncode == 0 and said.stderr.count("warning") == 3 and "v4" in said.stderr and said.stderr.count("\n") == 3,
      f"other circumstances: {told(said)}")
found, said = compared([bench_row(case="a\nb\x1b[2J")] + ROWS)
check("\x1b" not in said.stdout and said.stdout.count("\n") == 6, "names are shown as one line")

# Damaged files, and some that are none of bench's; each script says so in one line.
good = json.loads(open("a.json").read())


def damaged(change, rows=None):
    broken = copy.deepcopy(good)
    change(broken if rows is None else broken["rows"][0])
    return json.dumps(broken)


def drop(*names):
    def act(thing):
        for name in names[:-1]:
            thing = thing[name]
        del thing[names[-1]]
    return act


def put(value, *names):
    def act(thing):
        for name in names[:-1]:
            thing = thing[name]
        thing[names[-1]] = value
    return act


FILES = {
    "empty": "", "text": "tagflow\n", "half": open("a.json").read()[:300], "list": "[]", "number": "3", "deep": "[" * 100000,
    "bytes": b"\xff\xfe{}", "suite": json.dumps({"passed": True, "stages": {}}), "scaling": json.dumps({"tagflow": "scaling"}),
    "format": damaged(put(2, "format")), "formats": damaged(put("1\n2", "format")), "no_rows": damaged(put([], "rows")),
    "rows": damaged(put({}, "rows")), "row": damaged(put([3], "rows")), "ranks": damaged(drop("ranks")),
    "ranks_0": damaged(put(0, "ranks")), "ranks_true": damaged(put(True, "ranks")), "twice": damaged(lambda b: b["rows"].append(b["rows"][0])),
    "nan": damaged(put(math.nan, "mlups", "median"), 0), "infinite": damaged(put(math.inf, "mlups", "most"), 0),
    "huge": damaged(put(0, "mlups", "most"), 0).replace('"most": 0,', '"most": 1e999,', 1), "zero": damaged(put(0, "mlups", "least"), 0),
    "below": damaged(put(-1, "share", "least"), 0), "order": damaged(put(1, "mlups", "median"), 0),
    "string": damaged(put("300", "mlups", "median"), 0), "all": damaged(put([1, "x"], "mlups", "all"), 0),
    "cells": damaged(put([64, 64], "cells"), 0), "cells_0": damaged(put([64, 64, 0], "cells"), 0), "no_rate": damaged(drop("mlups"), 0),
    "storage": damaged(drop("storage"), 0), "bytes_per_update": damaged(put(0, "bytes_per_update"), 0),
    "ceiling": damaged(put([], "ceiling"), 0), "ceiling_none": damaged(put({"mlups": {}}, "ceiling"), 0),
    "ceiling_nan": damaged(put({"mlups": spread(math.nan)}, "ceiling"), 0),
    "verified": damaged(put("yes", "verified"), 0), "phases": damaged(put([1], "phases"), 0),
    "phase": damaged(put("x", "phases", "wait"), 0), "rock": damaged(put({"radius": 3}, "rock"), 0)}
for name, text in FILES.items():
    write("bad.json", text)
    for line in (["compare", "a.json", "bad.json"], ["compare", "bad.json", "a.json"], ["roofline", "bad.json", "-o", "bad.png"],
                 ["scaling", "model", "--tagflow", TAGFLOW, "--bench", "bad.json"]):
        if name == "twice" and line[0] != "compare":
            continue
        said = script(*line)
        if not check(refused(said, line[0] + ": ", "bad.json"), f"{name}: {' '.join(line)}: {told(said)}"):
            break
check(not os.path.exists("bad.png"), "and no picture is made of them")

# A picture ---------------------------------------------------------------------------------------
bench_file("two.json", ROWS + [FAILED, bench_row(case="rock", rock={"porosity_asked": 0.2, "radius": 12.0, "porosity": 0.21})], ranks=2)
said = script("roofline", "a.json", "two.json", "-o", "roof.png")
image = matplotlib.image.imread("roof.png") if os.path.exists("roof.png") else None
check(said.returncode == 0 and image is not None and image.shape[0] > 300 and
      ((image[..., :3].max(axis=2) - image[..., :3].min(axis=2)) > 0.3).sum() > 300 and "1 not verified" in said.stdout,
      f"a roofline: {told(said)}")
write("none.json", json.dumps(good | {"rows": [FAILED]}))
bench_file("odd.json", [bench_row(case="$x^$\n", cells=[1, 2, 3], ceiling=None, share=None, phases=None)] +
           [bench_row(collision=f"c{k}") for k in range(25)])
said = script("roofline", "odd.json", "-o", "odd.svg")
check(said.returncode == 0 and open("odd.svg").read(5) == "<?xml", f"odd names, no ceiling, many rows: {told(said)}")
before = runs.tree()
for arguments, words in [
        ([], ["FILE.json"]), (["nowhere.json"], ["nowhere.json", "No such file"]), (["a.json", "-o", "x.gif"], ["x.gif", ".png"]),
        (["a.json", "-o", "no/x.png"], ["no such folder"]), (["none.json"], ["no row is verified"]), (["a.json", "--fast"], ["--fast"]),
        (["."], ["directory"])]:
    said = script("roofline", *arguments)
    check(refused(said, "roofline: ", *words), f"roofline {arguments}: {told(said)}")
for arguments, words in [
        ([], ["A.json"]), (["a.json"], ["B.json"]), (["a.json", "a.json", "a.json"], ["a.json"]), (["a.json", "none.json"], ["no row in common"]),
        (["a.json", "two.json"], ["no row in common", "ranks"]), (["--bound", "-1", "a.json", "a.json"], ["--bound"]),
        (["--bound", "nan", "a.json", "a.json"], ["--bound", "nan"]), (["--bound", "100", "a.json", "a.json"], ["100"]),
        (["--by", "luck", "a.json", "a.json"], ["luck"]), (["nowhere", "a.json"], ["nowhere"])]:
    said = script("compare", *arguments)
    check(refused(said, "compare: ", *words), f"compare {arguments}: {told(said)}")
check(runs.tree() == before, "and nothing was written")

# Measuring ---------------------------------------------------------------------------------------
# What takes the part of tagflow here knows its ranks from the launcher, `env RANKS={n}`, and goes wrong as MOOD says.
STANDIN = """\
#!/usr/bin/python3
import json, os, sys, time
arguments = dict(zip(sys.argv[2::2], sys.argv[3::2]))
ranks, mood = int(os.environ["RANKS"]), os.environ.get("MOOD", "")
with open("calls", "a") as file:
    file.write(" ".join([str(ranks)] + sys.argv[1:]) + "\\n")
if mood == "fails" and ranks > 1:
    print("----------\\nmpirun has lost a rank\\n----------\\n")
    print("tagflow: warning: it is late", file=sys.stderr)
    sys.exit("tagflow: out of memory on the host")
if mood == "silent":
    sys.exit(3)
if mood == "hangs":
    open("pid", "w").write(str(os.getpid()))
    time.sleep(600)
found = json.load(open("a.json"))
row = found["rows"][0]
row["cells"] = [int(n) for n in arguments["--cells"].split("x")]
cells = row["cells"][0] * row["cells"][1] * row["cells"][2]
rate = 100 * ranks ** 0.5 + cells / 1e6
row["mlups"] = {"median": rate, "least": 0.9 * rate, "most": 1.1 * rate, "all": [0.9 * rate, rate, 1.1 * rate]}
found["ranks"] = 1 if mood == "alone" else ranks
found["rows"] = [row, row] if mood == "rows" else [row]
if mood == "cells":
    row["cells"][0] += 1
if mood == "wrong":
    found["rows"] = [{"case": "periodic", "verified": False, "why": "population 3 of cell 1, 2, 3"}]
if mood != "nothing":
    text = json.dumps(found)
    open(arguments["--json"], "w").write(text[:99] if mood == "half" else text)
"""
write("tagflow", STANDIN)
os.chmod("tagflow", 0o755)


def measure(folder, *arguments, program="./tagflow", launcher="env RANKS={n}", ranks="1,2,4", weak="16", strong="32", mood=""):
    os.environ["MOOD"] = mood
    line = ["--output", folder] + ["--tagflow", program] * bool(program) + ["--launcher", launcher] * bool(launcher) + \
        ["--ranks", ranks] * bool(ranks) + ["--weak", weak] * bool(weak) + ["--strong", strong] * bool(strong)
    return script("scaling", "measure", *line, *arguments)


said = measure("m", "--seconds", "0.5", "--repeat", "7", "--rounds", "2", "--threads", "3", "--", "--backend", "cpu")
if check(said.returncode == 0 and not said.stderr and said.stdout.count("\n") == 7 and
         max(map(len, said.stdout.splitlines())) <= 100, f"weak and strong: {told(said)}"):
    with open("m/scaling.csv", newline="") as file:
        table = list(csv.DictReader(file))
    result = runs.load("m", "scaling.json")
    check([(row["kind"], row["ranks"], row["nx"], row["ny"], row["nz"]) for row in table] ==
          [("weak", "1", "16", "16", "16"), ("weak", "2", "16", "16", "32"), ("weak", "4", "16", "32", "32"),
           ("strong", "1", "32", "32", "32"), ("strong", "2", "32", "32", "32"), ("strong", "4", "32", "32", "32")],
          "the runs are those asked for")
    rate = {ranks: 100 * ranks ** 0.5 + 32 ** 3 / 1e6 for ranks in (1, 2, 4)}
    check(all(math.isclose(float(row["efficiency"]), rate[int(row["ranks"])] / int(row["ranks"]) / rate[1], rel_tol=1e-4) and
              math.isclose(float(row["efficiency_most"]), 1.1 * float(row["efficiency"]), rel_tol=1e-4) for row in table[3:]),
          "efficiency is the rate a rank beside one rank's")
    check(len(result["points"]) == 6 and result["points"][5]["mlups"] == rate[4] and result["storage"] == "fp32", "the JSON says the same")
    calls = open("calls").read().splitlines()
    check(len(calls) == 12 and calls[1].startswith("1 bench --cells 32x32x32 ") and calls[0].endswith(" --seconds 0.5 --repeat 7 --backend cpu") and
          " --threads 3 " in calls[0] and
          calls[:6] == calls[6:], f"each run twice, with all arguments: {calls[:2]}")
    image = matplotlib.image.imread("m/scaling.png")
    check(image.shape[0] > 300 and ((image[..., :3].max(axis=2) - image[..., :3].min(axis=2)) > 0.3).sum() > 300, "and there is a picture")
    check(sorted(os.listdir("m")) == ["scaling.csv", "scaling.json", "scaling.png"], "nothing else is left")
before = runs.bytes_of("m")
said = measure("m")
check(refused(said, "scaling: ", "--force") and runs.bytes_of("m") == before, f"a measurement that is there: {told(said)}")
said = measure("m", "--force", strong=None, ranks="2,1")
check(said.returncode == 0 and said.stdout.count("\n") == 3, f"is replaced with --force: {told(said)}")

for mood, words in [("fails", ["16x16x32 on 2 ranks", "exit status 1", "out of memory"]), ("silent", ["exit status 3", "nothing said"]),
                    ("alone", ["on 2 ranks: it ran on 1", "launcher"]), ("rows", ["2 rows"]), ("cells", ["it ran 17x16x16"]),
                    ("wrong", ["wrong", "population 3"]), ("nothing", ["no result", "No such file"]), ("half", ["no result", "no JSON"])]:
    said = measure("bad", mood=mood)
    check(refused(said, "scaling: ", *words, code=1) and os.listdir("bad") == [], f"a run that {mood}: {told(said)}")
said = measure("bad", "--timeout", "1", mood="hangs")
check(refused(said, "not done after 1 s", code=1), f"a run that hangs: {told(said)}")
check(gone("pid"), "and is not left behind")
process = subprocess.Popen([PYTHON, ROOT + "/scripts/scaling.py", "measure", "--tagflow", "./tagflow", "--launcher", "env RANKS={n}",
                            "--ranks", "1", "--weak", "8", "--output", "bad"], stderr=subprocess.PIPE)
while process.poll() is None and not (os.path.exists("pid") and os.path.getsize("pid")):
    time.sleep(0.01)
process.terminate()
error = process.communicate()[1]
check(process.returncode == 143 and not error and os.listdir("bad") == [] and gone("pid"), f"ended itself, it takes the run with it {error}")


def made_point(n, ranks, speed):
    """What a machine would give on which the model is exactly right."""
    cuts = oracle.cut((n,) * 3, ranks)
    work = [0.0] * 4
    for rank in range(ranks):
        _, block = oracle.block((n,) * 3, cuts, rank)
        shell, interior = oracle.shell_boxes(block, cuts)
        sent = [(i, count) for i, _, count in oracle.messages((n,) * 3, cuts, rank)]
        size = 4 * sum(count for _, count in sent)
        lines = sum(count * 64 if oracle.VELOCITIES[i][0] else count // block[0] * (math.ceil(block[0] * 4 / 64) + 1) * 64
                    for i, count in sent)
        for k, amount in enumerate((interior, sum(shell), 2 * (size + lines), size)):
            work[k] += amount / ranks / speed[k]
    step = sum(work)
    return {"kind": "strong", "ranks": ranks, "nx": n, "ny": n, "nz": n, "px": cuts[0], "py": cuts[1], "pz": cuts[2],
            "mlups": 1e-6 * n ** 3 / step, "interior": work[0] / step, "shell": work[1] / step, "pack": 0.6 * work[2] / step,
            "unpack": 0.4 * work[2] / step, "wait": work[3] / step}


def measurement(path, points, **more):
    return write(path, json.dumps({"tagflow": "scaling", "format": 1, "storage": "fp32", "points": points} | more))


SPEED = (3e8, 1e8, 5e9, 2e9)
measurement("made.json", [made_point(n, ranks, SPEED) for n, ranks in ((48, 2), (64, 4), (96, 3), (128, 8))])
measurement("half.json", [made_point(64, 2, (3e8, 1e8, 5e9, 1e9)), made_point(64, 1, SPEED)])
said = script("scaling", "model", "--tagflow", TAGFLOW, "--check", "made.json", "half.json")
lines = [re.findall(r"[\d.]+(?= %| *$)|\d\.\d\d(?= )", line[33:]) for line in said.stdout.splitlines()[3:]]
check(said.returncode == 0 and "interior 300 MLUPS" in said.stdout and len(lines) == 4 and
      all(line[0] == line[1] and line[2] == "1.00" and (line[3] == line[4]) == (k != 1) for k, line in enumerate(lines)) and
      float(lines[1][3]) < float(lines[1][4]), f"a machine as the model has it, and one with slower messages: {lines}")
measurement("small.json", [made_point(64, 2, SPEED)])
measurement("wide.json", [made_point(64, 2, SPEED)] * 2, storage="fp64")
for name, points in {"no": [], "none": [3], "point": [made_point(64, 2, SPEED) | {"mlups": 0}], "kind": [made_point(64, 2, SPEED) | {"kind": 1}],
                     "still": [made_point(64, 2, SPEED) | {"interior": 0}] * 2, "parts": [made_point(64, 2, SPEED) | {"wait": None}] * 2}.items():
    measurement("bad.json", points)
    said = script("scaling", "model", "--tagflow", TAGFLOW, "--check", "bad.json")
    check(refused(said, "scaling: "), f"a measurement with {name}: {told(said)}")
for files, words in [(["small.json"], ["two are needed"]), (["made.json", "wide.json"], ["different storages"]), (["nowhere"], ["nowhere"])]:
    said = script("scaling", "model", "--tagflow", TAGFLOW, "--check", *files)
    check(refused(said, "scaling: ", *words), f"--check {files}: {told(said)}")

# With tagflow itself, and ranks that mpirun starts.
said = script("scaling", "measure", "--tagflow", TAGFLOW, "--launcher", f"sh -c '. {ROOT}/scripts/environment.sh; exec $TAGFLOW_MPIRUN -n \"$@\"' - {{n}}",
              "--ranks", "1,2", "--weak", "16,8,8", "--strong", "16,12,20", "--seconds", "0.02", "--output", "real")
if check(said.returncode == 0 and not said.stderr, f"tagflow bench on 1 and 2 ranks: {told(said)}"):
    points = runs.load("real", "scaling.json")["points"]
    check([(p["kind"], p["ranks"], p["nz"]) for p in points] == [("weak", 1, 8), ("weak", 2, 16), ("strong", 1, 20), ("strong", 2, 20)] and
          all(p["mlups"] > 0 and p["share_of_ceiling"] > 0 for p in points), "has rates and shares")
    check(points[0]["wait"] == 0 and all(0 < sum(p[name] for name in ("interior", "shell", "pack", "unpack", "wait")) < 1.2 for p in points),
          "and phases")
    said = script("scaling", "model", "--tagflow", TAGFLOW, "--check", "real/scaling.json")
    check(said.returncode == 0 and said.stdout.count("\n") == 4 and "learnt from" in said.stdout, f"which the model is compared with: {told(said)}")
said = runs.tagflow("bench", "--cells", "12", "--case", "periodic,cavity", "--storage", "fp32,fp64", "--seconds", "0.02", "--json", "bench.json")
if check(said.code == 0, f"a file of tagflow bench: {said}"):
    said = script("compare", "bench.json", "bench.json")
    check(said.returncode == 0 and said.stdout.endswith("4 same\n"), f"is the same as itself: {told(said)}")
    said = script("roofline", "bench.json", "-o", "bench.png")
    check(said.returncode == 0 and "4 rows" in said.stdout, f"and drawn: {told(said)}")
said = script("scaling", "measure", "--tagflow", TAGFLOW, "--launcher", "env RANKS={n}", "--ranks", "1", "--weak", "8", "--case", "lake",
              "--output", "bad")
check(refused(said, "scaling: 8^3 on 1 rank: exit status 2", "lake", code=1), f"a case that there is not: {told(said)}")
write("file", "")
write("slow.yaml", "speed: 3 GB/s\n")
write("twice.yaml", "bandwidth: 1 TB/s\n")
before = runs.tree()
for arguments, words in [
        ({"ranks": None}, ["--ranks"]), ({"ranks": "0,1"}, ["'0'"]), ({"ranks": "2,2"}, ["twice"]), ({"ranks": "1;2"}, ["whole number"]),
        ({"ranks": "99999999999"}, ["whole number"]), ({"weak": None, "strong": None}, ["nothing to do"]), ({"weak": "12,13"}, ["NX,NY,NZ"]),
        ({"weak": "1e9"}, ["'1e9'"]), ({"strong": "2000000"}, ["more than"]),
        ({"launcher": "mpirun -n 2"}, ["{n}"]), ({"launcher": "'{n}"}, ["quotation"]), ({"launcher": "nothing_of_the_kind {n}"}, ["no program"]),
        ({"program": "./nowhere"}, ["./nowhere"])]:
    said = measure("more", **arguments)
    check(refused(said, "scaling: ", *words), f"measure {arguments}: {told(said)}")
for arguments, words in [(["--storage", "fp32,fp64"], ["one name"]), (["--collision", "all"], ["one name"]), (["--seconds", "nan"], ["nan"]),
                         (["--repeat", "-1"], ["--repeat"]), (["--rounds", "0"], ["'0'"]), (["--faster"], ["--faster"])]:
    said = measure("more", *arguments)
    check(refused(said, "scaling: ", *words), f"measure {arguments}: {told(said)}")
said = measure("file")
check(refused(said, "file is not a folder"), f"a file in the folder's place: {told(said)}")
for arguments, words in [([], ["measure|model"]), (["guess"], ["guess"]), (["model", "--tagflow", TAGFLOW, "--check", "a.json"], ["not what scaling.py measure"]),
                         *((["model", "--tagflow", TAGFLOW, *arguments], words) for arguments, words in [
                             (["--bench", "two.json"], ["2 ranks"]), (["--bench", "a.json", "--storage", "fp16"], ["fp16"]),
                             (["--bench", "a.json", "--glups", "3"], ["--glups"]), (["--glups", "inf"], ["inf"]),
                             (["--machine", "nowhere"], ["nowhere"]), (["--machine", "slow.yaml"], ["the machine:1:", "speed"]),
                             (["--machine", "twice.yaml", "--glups", "3"], ["bandwidth and updates"]),
                             (["--strong", "2", "--devices", "64"], ["64 ranks cannot be placed"]), (["--devices", "8,x"], ["'x'"])]),
                         (["model", "--tagflow", "./nothing"], ["./nothing"])]:
    said = script("scaling", *arguments)
    check(refused(said, "scaling: ", *words), f"scaling {arguments}: {told(said)}")
check(runs.tree() == before, "and nothing was written")

# Predicting --------------------------------------------------------------------------------------
said = script("scaling", "model", "--tagflow", TAGFLOW, "--csv", "model.csv")
with open("model.csv", newline="") as file:
    table = list(csv.DictReader(file))
check(said.returncode == 0 and len(table) == 12 and "assumed, not measured" in said.stdout and
      all(0 < float(row["efficiency"]) <= 1 for row in table), f"the prediction: {told(said)}")
check([float(row["efficiency"]) for row in table[4:8]] == sorted((float(row["efficiency"]) for row in table[4:8]), reverse=True),
      "strong scaling gets no better with more devices")
row = table[7]
check((row["devices"], row["nx"], row["px"], row["py"], row["pz"]) ==
      ("4096", "1024", *map(str, oracle.cut((1024,) * 3, 4096))), "by the program's cut")
check(max(len(line) for line in said.stdout.splitlines()[2:]) <= 100, "a table of at most 100 columns")
said = script("scaling", "model", "--tagflow", TAGFLOW, "--bench", "a.json")
check(said.returncode == 0 and "one device: 300 MLUPS" in said.stdout and "measured on cpu, x86-64-v3" in said.stdout, "with a measured speed")
write("small.yaml", "memory: 1 GB\n")
said = script("scaling", "model", "--tagflow", TAGFLOW, "--machine", "small.yaml")
check(said.returncode == 0 and ", no room" in said.stdout, "a box that memory has no room for is said to be one")

runs.finish()
