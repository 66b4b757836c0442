#!/usr/bin/python3
"""Flows at random give the same bits however they are run: with memory for all cells or fluid alone, any instruction set,
threads, ranks, steps in a sweep. With TAGFLOW_STANDIN_PROGRAM: by the kernels for GPUs, on the stand-in. A flow has faces of all kinds, bodies anywhere,
also across faces, an operator, a precision, perhaps a subgrid model and a force. What the program refuses counts as an
answer, too: the same line in every way.

    random_flows.py FIRST COUNT     numbers of the flows; a number always gives the same flow

TAGFLOW_OTHER: a program of another system that this machine runs; it is compared with TAGFLOW, in place of all other ways.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, tagflow, write
from random_cases import flow

FIRST, COUNT = map(int, sys.argv[1:])
OTHER = os.environ.get("TAGFLOW_OTHER")
STANDIN = None if OTHER else os.environ.get("TAGFLOW_STANDIN_PROGRAM")
SETTINGS = "leaks=1,late=1,uuid=same,order=random,aware=0"
# name, settings, ranks, on the stand-in for GPUs?
WAYS = [("all cells, generic", {"run.sparse": "never", "run.isa": "generic", "run.sweep": 1}, 0, False),
        ("fluid alone", {"run.sparse": "always"}, 0, False),
        ("fluid alone, generic, 2 threads", {"run.sparse": "always", "run.isa": "generic", "run.threads": 2}, 0, False),
        ("3 steps a sweep, 2 threads", {"run.sparse": "never", "run.sweep": 3, "run.threads": 2}, 0, False),
        ("2 ranks, 2 steps a sweep", {"run.sparse": "never", "run.sweep": 2}, 2, False),
        ("3 ranks, fluid alone", {"run.sparse": "always"}, 3, False)]
if STANDIN:
    WAYS = [("GPU", {"run.sparse": "never"}, 1, True), ("2 GPUs, fluid alone", {"run.sparse": "always"}, 2, True)]
WAYS = WAYS[:4] + WAYS[-1:] if OTHER else WAYS

names, jobs, first = [], [], {}
for number in range(FIRST, FIRST + COUNT):
    case = write(f"flow{number}.yaml", json.dumps(flow(number)))  # JSON is YAML
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
