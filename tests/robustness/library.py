#!/usr/bin/python3
"""libtagflow from a C program: the same results as the program's, errors that leave the process alive, runs in sequence.

    tests/robustness/library.py LIBRARY LIBRARY_USER [LIBRARY_USER_WITH_THE_STAND_IN]
"""
import os
import re
import shutil
import subprocess
import sys

import runs
from runs import MPIRUN, ROOT, check, tagflow, write

LIBRARY, USER, *STANDIN = sys.argv[1:]
HEADER = ROOT + "/src/lib/tagflow.h"
STEERED = """\
domain:  {cells: [24, 12, 8]}
fluid:   {viscosity: 0.05}
faces:   {x: periodic, y: wall, z: periodic}
force:   {acceleration: [1e-5, 0, 0], steer: {name: pump, start: 0.5, max: 2}}
run:     {steps: 60}
output:  {series: {rate: {every: 5, of: flow_rate, axis: x}}}
"""
EMPTY = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def user(*arguments, ranks=0, program=USER, env=None):
    line = [*([MPIRUN, "-n", str(ranks)] if ranks else []), program, *map(str, arguments)]
    said = subprocess.run(line, capture_output=True, text=True, timeout=runs.HANGS, stdin=subprocess.DEVNULL, env=env)
    lines = said.stdout.splitlines()
    for line in lines:
        if line.startswith("FAIL"):
            check(False, f"{arguments[0]}, {ranks} ranks: {line}")
    good = sum(line.startswith("ok ") for line in lines)
    check(said.returncode == 0 and good > 0 and not said.stderr, f"{arguments[0]}, {ranks or 1} ranks: {good} checks, exit status {said.returncode} {said.stderr[-500:]}")
    return re.findall(r"^hash (\w+)$", said.stdout, re.M)


# ---- what it shows ----

with open(HEADER, encoding="utf-8") as file:
    header = file.read()
declared = set(re.findall(r"^\w[\w ]*[ *](tagflow_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.S), re.M))
said = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True)
shown = {re.sub("@.*", "", line.split()[-1]) for line in said.stdout.splitlines() if " A " not in line}
check(len(declared) > 20 and shown == declared, f"the library shows the {len(declared)} functions of its header and nothing else: {sorted(shown ^ declared)}")
for compiler, options in (("cc", ["-std=c99", "-Wextra", "-x", "c"]), ("g++", ["-std=c++20", "-x", "c++"])):
    if shutil.which(compiler):
        text = '#include "tagflow.h"\nint main(void) { struct tagflow_options o = TAGFLOW_OPTIONS; return o.file != 0; }\n'
        said = subprocess.run([compiler, *options, "-Wall", "-Wpedantic", "-Werror", "-fsyntax-only", "-I" + os.path.dirname(HEADER), "-"],
                              input=text, capture_output=True, text=True, env=EMPTY)
        check(said.returncode == 0, f"{compiler} {options[0]} takes the header: {said.stderr[-300:]}")

# ---- the same results ----

write("case.yaml", runs.CASE)
said = tagflow("run", "case.yaml", "--output", "plain")
expected = runs.results("plain") if check(said.code == 0, f"the program: {said}") else {}
for ranks, piece in ((0, 1), (0, 7), (2, 3), (3, 1000)):
    folder = f"pieces_{ranks}_{piece}"
    hashes = user("run", "case.yaml", folder, piece, ranks=ranks)
    different = runs.differences(runs.results(folder), expected)
    check(expected and not different and hashes == [expected["state_hash"]],
          f"{ranks or 1} ranks, pieces of {piece} steps: {'all results are those of the program' if not different else different}")

# A run that it leaves, and the program continues.
user("twice", "case.yaml", "twice", ranks=0)
user("twice", "case.yaml", "twice_2", ranks=2)

# ---- failures ----

user("wrong", "case.yaml", "wrong")
user("wrong", "case.yaml", "wrong_2", ranks=2)
user("diverge", "case.yaml", "diverge")
user("diverge", "case.yaml", "diverge_2", ranks=2)
user("stop", "case.yaml", "stop")
user("stop", "case.yaml", "stop_2", ranks=2)
state = runs.load("stop_2", "status.json")
check(state["state"] == "stopped" and state["reason"] == "tagflow_stop", f"a stopped run: {state}")

# ---- steering ----

write("steered.yaml", STEERED)
[steered] = user("steer", "steered.yaml", "steered") or [None]
check(user("steer", "steered.yaml", "steered_2", ranks=2) == [steered], "the same bits on 2 ranks")
said = tagflow("run", "steered.yaml", "--output", "alone")
check(said.code == 0 and runs.load("alone", "report.json")["state_hash"] != steered, "without being set it is another flow")
said = tagflow("run", "steered.yaml", "--output", "continued", "--restart", "steered/checkpoints/step_0000000040.h5")
check(said.code == 0 and runs.load("continued", "report.json")["state_hash"] == steered, f"the program goes on with the factor of a checkpoint, to the same bits: {said}")
for part, words in ((", steer: {name: a b}", "steer.name: it cannot be a name"), (", steer: {}", "steer.name is missing"),
                    (", steer: {name: a, min: 2}", "its start 1 is not between its min 2 and its max 1"),
                    (", steer: {name: a}, ramp: 5", "has both ramp and steer")):
    text = STEERED.replace(", steer: {name: pump, start: 0.5, max: 2}", part)
    said = tagflow("check", write("wrong.yaml", text))
    check(said.code == 2 and words in said.err and said.err.count("\n") == 1, f"{part}: {said.err.strip()}")
two = STEERED.replace("x: periodic", "xmin: {velocity: {value: [0.01, 0, 0], steer: {name: pump, max: 3}}}, xmax: outflow")
said = tagflow("check", write("wrong.yaml", two))
check(said.code == 2 and "another value has a steer of the name pump" in said.err, f"one name, two ranges: {said.err.strip()}")
# ---- the example of docs/library.md ----

if os.path.exists(ROOT + "/docs/library.md") and shutil.which("mpicc"):
    with open(ROOT + "/docs/library.md", encoding="utf-8") as file:
        [example] = re.findall(r"^```c\n(.*?)^```$", file.read(), re.M | re.S)
    shutil.copy(ROOT + "/configs/cavity_re100.yaml", ".")
    write("flow.c", example.replace("tagflow_step(run, 1000)", "tagflow_step(run, 10000)"))
    said = subprocess.run(["mpicc", "-Wall", "-Wextra", "-Werror", "-I" + os.path.dirname(HEADER), "flow.c", LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY), "-o", "flow"],
                          capture_output=True, text=True, env=EMPTY)
    check(said.returncode == 0, f"it compiles: {said.stderr[-400:]}")
    said = subprocess.run([MPIRUN, "-n", "2", "./flow"], capture_output=True, text=True, timeout=runs.HANGS)
    check(said.returncode == 0 and not said.stderr and said.stdout.count("step 20000: u = ") == 2, f"and runs on 2 ranks: {said.stdout.splitlines()[-2:]} {said.stderr[-300:]}")

# ---- memory of the backend ----

user("raw", "case.yaml", "raw", "cpu")
user("raw", "case.yaml", "raw_2", "cpu", ranks=2)
for program in STANDIN:
    for ranks in 0, 2:
        user("raw", "case.yaml", f"raw_cuda_{ranks}", "cuda", ranks=ranks, program=program, env=os.environ | {"TAGFLOW_STANDIN": "uuid=same"})

runs.finish()
