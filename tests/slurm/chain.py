#!/usr/bin/python3
"""The job chains of scripts/slurm carry a run through jobs that are cut off in every way, to the same
bits as a run in one piece: state hash, series, every dataset of every snapshot.

Each template is submitted to a Slurm of one node (setup.sh beside this file). Job 1 is cut off by Slurm
itself, before a time limit of a minute; job 2 by USR1 from the user; job 3 is cancelled by way of the
script, job 4 outright. These two end the chain, and it is submitted again by hand. Job 5 gets there.
How far jobs come depends on the machine: the run has no end until job 4 is over, and the run in one
piece is made last.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from chains import Chain, slurm, torn
from runs import ROOT, check, load, tagflow, write

SETUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "setup.sh")
CASE = """\
domain:     {cells: [48, 40, 24]}
fluid:      {viscosity: 0.02, velocity: 0.05, length: 40}
faces:
  x: periodic
  ymin: wall
  ymax: {wall: {velocity: [0.05, 0, 0.01]}}
  z: wall
run:        {steps: %d}
checkpoint: {every: %d}
check:      {every: 50}
output:
  log:    {every: 200}
  series: {flow: {every: 20, of: [mass, kinetic_energy, enstrophy, max_velocity]}}
  fields: {main: {every: 500, of: [velocity, density]}}
"""
ENDLESS = 10 ** 9


def carry(template):
    """A run through five jobs; returns the chain."""
    # Slurm signals up to half a minute late: after 15 s at the earliest, before 60 s at the latest.
    option = "--signal=B:USR1@" if template == "mpirun" else "--signal=USR1@"
    for attempt in range(3):
        chain = Chain(template, f"by_{template}_{attempt}", ranks, ("--time=.*", "--time=1"), (option + "120", option + "45"))
        write(chain.name + ".yaml", CASE % (ENDLESS, ENDLESS))
        chain.submit()
        # Slurm has a copy. The next jobs are cut off by us; they come from the script as it is then.
        chain.edit(("--time=1$", "--time=60"), (option + "45", option + "120"))

        line = chain.wait_for("goes on as job", 1)
        first = chain.checkpoints()
        if not line or "exit status 75" not in line or first:
            break
        # On a busy machine it may signal before the program has begun; then there is nothing to go on from.
        print(f"note: {chain.name}: signalled before the run began", flush=True)
        slurm("scancel", *chain.jobs())
        chain.over()

    if not check(line and "exit status 75" in line and len(first) == 1 and first[0] > 0,
                 f"{template}: job 1 stops before its time limit: checkpoints {first}"):
        return chain

    job = chain.wait_beyond(first[0])
    whole = ["--batch"] if template == "mpirun" else []
    slurm("scancel", *whole, "--signal=USR1", job)
    line = chain.wait_for("goes on as job", 2)
    second = chain.checkpoints()
    check(line and "exit status 75" in line and second[-1] > first[0], f"{template}: job 2 stops on USR1: {second}")

    job = chain.wait_beyond(second[-1])
    slurm("scancel", "--batch", "--signal=TERM", job)
    line = chain.wait_for("no next job", 1)
    chain.over()
    third = chain.checkpoints()
    check(line and "exit status 75" in line and third[-1] > second[-1],
          f"{template}: job 3 is cancelled with a checkpoint, and no other follows: {third}")

    chain.submit()
    job = chain.wait_beyond(third[-1])
    slurm("scancel", job)
    # The script may be killed before it says anything.
    chain.over()
    line = chain.said()[-1]
    fourth = chain.checkpoints()
    check("goes on" not in line and fourth[-1] >= third[-1],
          f"{template}: job 4 is cancelled outright: {fourth}; {line}")
    check(not (faults := torn(chain.folder, temporary=True)), f"{template}: nothing is torn: {faults}")

    # Now the run gets an end, and checkpoints on the way.
    write(chain.name + ".yaml", CASE % (fourth[-1] + 501, 300))
    chain.submit()
    line = chain.wait_for("done", 1)
    chain.over()
    report = load(chain.folder, "report.json")
    check(line and report["state"] == "done" and report["step"] == fourth[-1] + 501,
          f"{template}: job 5 gets there: {report['state']}, step {report['step']}")
    starts = [line for line in chain.said() if "from checkpoint" in line]
    check(len(starts) == 5 and len(set(starts)) == 5, f"{template}: {len(starts)} jobs")

    # Submitted once more, it has nothing to do.
    before = {name: os.stat(f"{chain.folder}/{name}").st_mtime_ns for name in ["report.json", "series/flow.csv"]}
    chain.submit()
    check(chain.wait_for("done", 2) and chain.over() and
          before == {name: os.stat(f"{chain.folder}/{name}").st_mtime_ns for name in before},
          f"{template}: a run that is done is left alone")
    return chain


def compare(chain):
    """With a run in one piece, on another number of ranks."""
    steps = load(chain.folder, "report.json")["step"]
    folder = chain.name + "_whole"
    said = tagflow("run", chain.name + ".yaml", "--output", folder, ranks=ranks + 1)
    if not check(said.code == 0, f"{chain.name}: {steps} steps in one piece: {said}"):
        return
    a, b = load(chain.folder, "report.json")["state_hash"], load(folder, "report.json")["state_hash"]
    check(a and a == b, f"{chain.name}: state hash {a}, in one piece {b}")
    check(runs.series_text(chain.folder) == runs.series_text(folder) and
          runs.series_text(folder).count(b"\n") >= steps // 20, f"{chain.name}: the same series")
    a, b = runs.snapshots(chain.folder), runs.snapshots(folder)
    check(a.keys() == b.keys() and len(a) >= 2 and all(runs.same_bits(a[name], b[name]) for name in a),
          f"{chain.name}: the same {len(b)} snapshots")
    check(not (faults := torn(chain.folder)), f"{chain.name}: nothing is torn: {faults}")


def give_up(template):
    """What cannot go on must not go on for ever."""
    chain = Chain(template, "wrong_" + template, ranks)
    write(chain.name + ".yaml", "domain: {cells: [4, 4]}\n")
    chain.submit()
    check(chain.wait_for("exit status 2") and chain.over() and len(chain.said()) == 2,
          f"{template}: a wrong case ends the chain")

    chain = Chain(template, "broken_" + template, ranks, ("^TAGFLOW=.*", "TAGFLOW=false"))
    chain.submit()
    line = chain.wait_for("the chain ends")
    chain.over()
    starts = [line for line in chain.said() if "from checkpoint" in line]
    check(line and "exit status 1" in line and len(starts) == 3,
          f"{template}: {len(starts)} fruitless jobs, then: {line}")

    # srun says 0 when a node has failed; `true` does, too.
    chain = Chain(template, "unfinished_" + template, ranks, ("^TAGFLOW=.*", "TAGFLOW=true"), ("^FRUITLESS=.*", "FRUITLESS=1"))
    chain.submit()
    check(chain.wait_for("the chain ends") and chain.over() and "is not done" in chain.said()[1],
          f"{template}: status 0 of a run that is not done is no end: {chain.said()[1:]}")

    chain = Chain(template, "missing_" + template, ranks, ("^TAGFLOW=.*", "TAGFLOW=/nowhere/tagflow"))
    chain.submit()
    check(chain.wait_for("no program /nowhere/tagflow") and chain.over() and len(chain.said()) == 1,
          f"{template}: a missing program ends the chain")


if os.getuid() != 0:
    runs.skip("only root can start a Slurm")
begun = subprocess.run([SETUP, "start"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
if begun.returncode:
    print(begun.stderr)
    runs.skip("no Slurm could be installed and started")
os.environ["SLURM_CONF"] = begun.stdout.split("SLURM_CONF=")[1].strip()
mine = "runs already" not in begun.stderr
try:
    ranks = min(2, int(slurm("sinfo", "--noheader", "--partition=test", "--format=%c").rstrip("+")))
    # What follows the user's own part of the templates is one and the same.
    parts = [open(f"{ROOT}/scripts/slurm/chain_{name}.sbatch").read().split("# ---- ") for name in ["srun", "mpirun"]]
    check(len(parts[0]) == len(parts[1]) == 2 and parts[0][1] == parts[1][1], "both templates end alike")
    for template in ["srun", "mpirun"]:
        give_up(template)
        chain = carry(template)
        chain.show()
        compare(chain)
finally:
    leftover = slurm("squeue", "--noheader", "--format=%A").split()
    if leftover:
        slurm("scancel", *leftover)
    if mine:
        subprocess.run([SETUP, "stop"], stdin=subprocess.DEVNULL, check=False)

runs.finish()
