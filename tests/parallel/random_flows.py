#!/usr/bin/python3
"""Flows at random give the same bits however they are run: with memory for all cells or fluid alone, any instruction set,
threads, ranks, steps in a sweep, and by the kernels for GPUs, on the stand-in. A flow has faces of all kinds, bodies anywhere,
also across faces, an operator, a precision, perhaps a subgrid model and a force. What the program refuses counts as an
answer, too: the same line in every way.

    random_flows.py FIRST COUNT     numbers of the flows; a number always gives the same flow

TAGFLOW_OTHER: a program of another system that this machine runs; it is compared with TAGFLOW, in place of all other ways.
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, tagflow, write

FIRST, COUNT = map(int, sys.argv[1:])
OTHER = os.environ.get("TAGFLOW_OTHER")
STANDIN = None if OTHER else os.environ.get("TAGFLOW_STANDIN_PROGRAM")
SETTINGS = "leaks=1,late=1,uuid=same,order=random,aware=0"
# name, settings, ranks, on the stand-in for GPUs?
WAYS = [("all cells, generic", {"run.sparse": "never", "run.isa": "generic", "run.sweep": 1}, 0, False),
        ("fluid alone", {"run.sparse": "always"}, 0, False),
        ("fluid alone, generic, 2 threads", {"run.sparse": "always", "run.isa": "generic", "run.threads": 2}, 0, False),
        ("3 steps a sweep, 2 threads", {"run.sparse": "never", "run.sweep": 3, "run.threads": 2}, 0, False),
        ("2 ranks", {"run.sparse": "never"}, 2, False),
        ("3 ranks, fluid alone", {"run.sparse": "always"}, 3, False)]
WAYS += [("GPU", {"run.sparse": "never"}, 1, True), ("2 GPUs, fluid alone", {"run.sparse": "always"}, 2, True)] if STANDIN else []
WAYS = WAYS[:4] + WAYS[-1:] if OTHER else WAYS


def face(r, axis, side):
    into = [0.03 if a == axis else 0 for a in "xyz"]
    along = [0.02 if axis != "x" else 0, 0.01 if axis == "x" else 0, 0]
    first, last = ["wall", "wall", "slip", {"wall": {"velocity": along}}], [{"velocity": {"value": into}}]
    last += ["nonreflecting", {"pressure": {}}, "outflow"] if side == "max" else []
    return r.choice(first + last + last)


def body(r, cells):
    centre = [r.uniform(0.1, 0.9) * n for n in cells]
    radius = r.uniform(1.2, min(cells) / 2.2)
    shapes = [{"sphere": {"center": centre, "radius": radius}},
              {"cylinder": {"center": centre, "axis": r.choice("xyz"), "radius": radius}},
              {"box": {"from": [x - radius for x in centre], "to": [x + radius / 2 for x in centre]}}]
    return {"shape": r.choice(shapes), "wall": r.choice(["halfway", "interpolated"])}


def flow(number):
    """The case of this number; JSON is YAML."""
    r = random.Random(number)
    cells = [r.choice([17, 24, 33, 40, 47, 70]), r.choice([5, 8, 13, 19, 24]), r.choice([4, 7, 12, 18])]
    faces = {}
    for axis in "xyz":
        kind = r.choice(["periodic", "slip", "each", "each", "each"])
        faces |= {axis + side: face(r, axis, side) for side in ("min", "max")} if kind == "each" else {axis: kind}
    case = {"domain": {"cells": cells}, "fluid": {"viscosity": r.choice([0.02, 0.05, 0.1])},
            "solver": {"collision": r.choice(["auto", "bgk", "trt", "rr", "cumulant", "mrt"]),
                       "storage": r.choice(["fp16", "fp32", "fp64"])},
            "initial": {"flow": "uniform", "velocity": [0.02, 0, 0]}, "faces": faces, "run": {"steps": r.choice([37, 52])},
            "check": {"hang": "none"},
            "output": {"log": {"every": 0}, "series": {"flow": {"every": 10, "of": ["mass", "kinetic_energy"]}}}}
    if r.random() < 0.3:
        case["solver"]["subgrid"] = {"smagorinsky": {"constant": 0.15}}
    if r.random() < 0.4:
        case["force"] = {"acceleration": [1e-6, 2e-6, 0]}
    bodies = {f"body{k}": body(r, cells) for k in range(r.randrange(4))}
    if bodies:
        case["bodies"] = bodies
        if r.random() < 0.4:
            case["output"]["series"]["force"] = {"every": 5, "of": "forces", "body": "body0"}
    return json.dumps(case)


names, jobs, first = [], [], {}
for number in range(FIRST, FIRST + COUNT):
    case = write(f"flow{number}.yaml", flow(number))
    said = tagflow("run", case, "--output", f"first{number}")
    if said.code == 2:
        check(len(said.errors) == 1, f"flow {number} is refused: {said}")
        first[number] = None
    elif check(said.code in (0, 3), f"flow {number}: exit status {said.code} {said.errors}"):
        first[number] = load(f"first{number}", "report.json")["state_hash"] if said.code == 0 else said.errors
    for name, settings, ranks, gpu in WAYS:
        names.append((number, name))
        more = ["--backend", "cuda", "--share-gpu"] if gpu else []
        jobs.append(([case, *more, *runs.sets(settings), "--output", f"run_{len(jobs)}"], ranks, STANDIN if gpu else OTHER,
                     SETTINGS if gpu else None))
for k, ((number, name), (code, said)) in enumerate(zip(names, runs.together(jobs))):
    wanted = first.get(number, "no result")
    if wanted is None:
        check(code == 2, f"flow {number}, {name}: refused, exit status {code}")
    elif isinstance(wanted, list):
        check(code == 3, f"flow {number}, {name}: diverges, exit status {code}")
    else:
        found = load(f"run_{k}", "report.json")["state_hash"] if code == 0 else f"exit status {code}: {said}"
        check(found == wanted, f"flow {number}, {name}: {found}" + ("" if found == wanted else f", not {wanted}"))
answers = [answer for answer in first.values() if isinstance(answer, str)]
check(len(set(answers)) == len(answers) >= COUNT / 2, f"{len(answers)} of {COUNT} flows ran, with as many hashes")
runs.finish()
