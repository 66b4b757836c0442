#!/usr/bin/python3
"""What a rank exchanges does not grow with the number of ranks, from the start of a run to its end. A preloaded library
(tests/mpi_counts.c) counts calls to MPI and bytes on each rank; blocks of the same size, of more and more ranks. With
TAGFLOW_LONG on 64 ranks, too.

    message_counts.py MPI_COUNTS_SO
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, tagflow, write

COUNTS = os.path.abspath(sys.argv[1])
BLOCK = 8
RANKS = (8, 27, 64) if os.environ.get("TAGFLOW_LONG") else (8, 27)
SIDE = {8: 2, 27: 3, 64: 4}
STEPS = 10
# Bytes of the reduction in which ranks agree after each batch of steps. The clock decides how many steps a batch has.
AGREEMENT = 64
CASE = """\
domain:  {{cells: [{n}, {n}, {n}]}}
faces:   {{x: periodic, y: periodic, z: periodic}}
fluid:   {{viscosity: 0.1}}
force:   {{acceleration: [1e-6, 0, 0]}}
bodies:
  ball:  {{shape: {{pack: {{lattice: simple, length: {block}, center: [4, 4, 4], share: 0.2}}}}, wall: interpolated}}
run:     {{steps: {steps}}}
check:   {{every: 1000}}
checkpoint: {{every: {checkpoint}}}
output:  {{{output}}}
"""
# What is asked for beside the steps.
OUTPUTS = {
    "steps": "log: {every: 0}",
    "series": "log: {every: 0}, series: {flow: {every: 1, of: [mass, kinetic_energy]}, drag: {every: 1, of: forces, body: ball}, "
              "point: {every: 1, of: probe, point: [3.5, 3.5, 1]}}",
    "files": "log: {every: 0}, fields: {main: {every: 10, of: velocity}}, averages: {mean: {every: 1, of: velocity}}",
}
# Bytes that may grow with the number of ranks or with the cells along an axis, of functions that exchange few; where in the
# code, tells docs/lab/hosts.md. Of each run: (a rank, a cell along the three axes together).
GROWS = {"Allreduce": (96, 8), "Allgather": (400, 0), "Allgatherv": (272, 0), "Bcast": (0, 400 / 3), "Reduce": (0, 400 / 3)}
ON_RANK_0 = {"Gather": 1024}


def counted(name, ranks, steps, output, checkpoint="0"):
    """{function: [(calls, bytes given, bytes got) of each rank]} of a run."""
    write(name + ".yaml", CASE.format(n=SIDE[ranks] * BLOCK, block=BLOCK, steps=steps, output=output, checkpoint=checkpoint))
    prefix = os.path.abspath(name + "_counts")
    said = tagflow("run", name + ".yaml", "--output", name, "--set", "run.ranks=[{0},{0},{0}]".format(SIDE[ranks]),
                   "--set", "run.threads=1", ranks=ranks, env={"LD_PRELOAD": COUNTS, "MPI_COUNTS": prefix})
    if not check(said.code == 0, f"{name}: {said}"):
        runs.finish()
    found = {}
    for rank in range(ranks):
        with open(f"{prefix}.{rank}") as file:
            for line in file:
                function, *numbers = line.split()
                found.setdefault(function, []).append(tuple(map(int, numbers)))
    return found


def most(found, function, what, ranks):
    """The largest number of calls (0), bytes given (1) or got (2) on these ranks."""
    return max(found[function][rank][what] for rank in ranks)


def limit(function, on_rank_0, ranks):
    """Bytes that it may exchange beyond those of the smallest run."""
    a_rank, a_cell = GROWS.get(function, (0, 0))
    if on_rank_0:
        a_rank += ON_RANK_0.get(function, 0)
    slack = STEPS * AGREEMENT if function == "Allreduce" else 0
    return (ranks - RANKS[0]) * a_rank + 3 * BLOCK * (SIDE[ranks] - SIDE[RANKS[0]]) * a_cell + slack


for kind, output in OUTPUTS.items():
    found = {ranks: counted(f"{kind}_{ranks}", ranks, STEPS, output, "5" if kind == "files" else "0") for ranks in RANKS}
    first = found[RANKS[0]]
    for function in first:
        if not any(numbers[0] for numbers in found[RANKS[-1]][function]):
            continue
        for name, who in ("rank 0", lambda ranks: range(1)), ("the others", lambda ranks: range(1, ranks)):
            calls, given, got = ([most(found[ranks], function, what, who(ranks)) for ranks in RANKS] for what in range(3))
            check(max(calls) - min(calls) <= STEPS * (function == "Allreduce"), f"{kind}: {function}, {name}: calls {calls}")
            if function == "Gatherv":  # planes of a checkpoint, each assembled by one rank; points of a series on rank 0
                continue
            check(all(some[k] - some[0] <= limit(function, name == "rank 0", RANKS[k]) for some in (given, got)
                      for k in range(len(RANKS))),
                  f"{kind}: {function}, {name}: bytes given {given}, got {got}")
runs.finish()
