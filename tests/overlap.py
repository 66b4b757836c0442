#!/usr/bin/python3
"""What of its messages a step hides: two ranks, and a link that is made slower and slower.

    tests/overlap.py TAGFLOW SLOW_LINK_SO [--cells N] [--precision P] [--steps S] [--rounds R] [--launch COMMAND]

A periodic box of N^3 cells, each message held for d (tests/slow_link.c). The time of a step should be

    max(interior, d) + shell + pack + unpack,

the phases as report.json has them at d = 0 in the same round, of whose interior d is a share. Runs in turn, medians
of the rounds. The state hash must be the same for all runs, or no figure is printed;
the exit status is 1 if a median is more than 10 % off. The machine should have nothing else to do; --launch says how
to start each rank otherwise, for example "chrt -f 50".
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARES = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2]
OFF = 0.10

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("tagflow", type=os.path.abspath)
parser.add_argument("slow_link", type=os.path.abspath)
parser.add_argument("--cells", type=int, default=64)
parser.add_argument("--precision", choices=["fp32", "fp64"], default="fp32")
parser.add_argument("--steps", type=int, default=0, help="a run; default: as many as update 80 million cells, 60 at least")
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--launch", type=shlex.split, default=[], metavar="COMMAND")
args = parser.parse_args()
if args.cells < 8 or args.rounds < 1 or args.steps < 0:
    parser.error("it takes 8 cells, 1 round and 1 step at least")
for path in (args.tagflow, args.slow_link):
    if not os.access(path, os.X_OK):
        parser.error(f"{path} is not there, or not to be run")
steps = args.steps or max(60, round(80e6 / args.cells**3))

# The look for divergence ends a batch of steps, of which the last has its phases measured.
CASE = f"""\
domain:  {{cells: [{args.cells}, {args.cells}, {args.cells}]}}
fluid:   {{viscosity: 0.02}}
solver:  {{storage: {args.precision}, arithmetic: {args.precision}}}
initial: {{flow: taylor_green_3d, amplitude: 0.05}}
faces:   {{x: periodic, y: periodic, z: periodic}}
run:     {{steps: {steps}, ranks: [1, 1, 2]}}
check:   {{every: 10}}
output:  {{log: {{every: 0}}}}
"""


def run(folder, delay):
    """Seconds of a step (`all`) and of its phases, with messages of so many seconds; None: without the library."""
    case, out, counts = (os.path.join(folder, name) for name in ("case.yaml", "out", "counts"))
    with open(case, "w") as file:
        file.write(CASE)
    for rank in range(2):
        if os.path.exists(f"{counts}.{rank}"):
            os.remove(f"{counts}.{rank}")
    line = list(args.launch)
    if delay is not None:
        line += ["env", "LD_PRELOAD=" + args.slow_link, f"SLOW_LINK_SECONDS={delay:.9f}", "SLOW_LINK_COUNTS=" + counts]
    line += [args.tagflow, "run", case, "--output", out, "--overwrite"]
    done = subprocess.run(["sh", "-c", '. "$0"; mpi_run 2 "$@"', ROOT + "/scripts/environment.sh"] + line,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"overlap.py: exit status {done.returncode}: {done.stderr.strip()}")
    with open(os.path.join(out, "report.json")) as file:
        report = json.load(file)
    for rank in range(2) if delay is not None else ():
        try:
            with open(f"{counts}.{rank}") as file:
                seen = json.load(file)
        except FileNotFoundError:
            sys.exit(f"overlap.py: {args.slow_link} was not loaded by rank {rank}")
        if seen["messages"] != 2 * steps or seen["soonest"] < delay - 1e-8:
            sys.exit(f"overlap.py: the messages were not held: {seen}")
    hashes.add(report["state_hash"])
    return report["phases"] | {"all": report["seconds"] / report["steps"]}


def expected(phases, delay):
    return max(phases["interior"], delay) + phases["shell"] + phases["pack"] + phases["unpack"]


def told(values, scale=1e3, digits=3):
    middle, least, most = (f"{scale * value:.{digits}f}" for value in
                           (statistics.median(values), min(values), max(values)))
    return f"{middle} ({least} to {most})"


hashes = set()
seen = {share: [] for share in [None] + SHARES}
with tempfile.TemporaryDirectory(prefix="tagflow_overlap_") as folder:
    for _ in range(args.rounds):
        for share in seen:
            seen[share].append(run(folder, share and share * seen[0][-1]["interior"]))
if len(hashes) != 1:
    sys.exit(f"overlap.py: not the same state with every delay: {sorted(hashes)}")

quick = seen[0]
print(f"{args.cells}^3 cells, {args.precision}, 2 ranks, {steps} steps a run, {args.rounds} rounds; ms, median (least to "
      f"most); state hash {hashes.pop()} in all runs\n")
print("phases of a step at d = 0: " + ", ".join(
    f"{name} {told([phases[name] for phases in quick])}" for name in ("interior", "shell", "pack", "unpack", "wait")))
print(f"a step without the library: {told([phases['all'] for phases in seen[None]])}\n")
print("| d / interior | d | step | of which waiting | max(interior, d) + shell + pack + unpack | step / that |")
print("|---|---|---|---|---|---|")
worst = 0
for share in SHARES:
    delays = [share * phases["interior"] for phases in quick]
    wanted = [expected(phases, delay) for phases, delay in zip(quick, delays)]
    ratios = [phases["all"] / want for phases, want in zip(seen[share], wanted)]
    worst = max(worst, abs(statistics.median(ratios) - 1))
    print(f"| {share:g} | {1e3 * statistics.median(delays):.3f} | {told([phases['all'] for phases in seen[share]])} | "
          f"{told([phases['wait'] for phases in seen[share]])} | {told(wanted)} | {told(ratios, 1, 2)} |")
print(f"\nat most {worst:.1%} off")
sys.exit(worst > OFF)
