#!/usr/bin/python3
"""The template of scripts/slurm for scaling, edited as its user would, on a Slurm of one node: srun and mpirun start as
many ranks as they are told, and the tables are there."""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from chains import slurm
from runs import ROOT, TAGFLOW, check, write

SETUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "setup.sh")
PATIENCE = 600
OVER = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL")


def edited(**changes):
    """The template with other values; each is there to be edited exactly once."""
    with open(ROOT + "/scripts/slurm/scaling.sbatch") as file:
        text = file.read()
    for name, value in {"SCALING": ROOT + "/scripts/scaling.py", "WEAK": "12", "STRONG": "16", "TAGFLOW": f"'{TAGFLOW}'",
                        "SETTINGS": "(--seconds 0.02 --timeout 300)", "BENCH": "(--backend cpu)", **changes}.items():
        text, count = re.subn(f"^{name}=.*", lambda match: f"{name}={value}", text, flags=re.M)
        check(count == 1, f"{name}= is in the template")
    for name, value in {"nodes": "1", "ntasks-per-node": str(most), "time": "20"}.items():
        text, count = re.subn(f"^#SBATCH --{name}=.*", f"#SBATCH --{name}={value}", text, flags=re.M)
        check(count == 1, f"--{name}= is in the template")
    return text


def submit(name, **changes):
    """Runs it to its end: (state, what it said)"""
    job = slurm("sbatch", "--parsable", write(name + ".sbatch", edited(OUTPUT=name, **changes)))
    end = time.monotonic() + PATIENCE
    state = "none"
    while state not in OVER and time.monotonic() < end:
        time.sleep(0.5)
        found = re.search(r"JobState=(\S+)", slurm("scontrol", "show", "job", job))
        state = found.group(1) if found else "gone"
    with open(f"tagflow_scaling_{job}.log") as file:
        return state, file.read()


if os.getuid() != 0:
    runs.skip("only root can start a Slurm")
begun = subprocess.run([SETUP, "start"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
if begun.returncode:
    print(begun.stderr)
    runs.skip("no Slurm could be installed and started")
os.environ["SLURM_CONF"] = begun.stdout.split("SLURM_CONF=")[1].strip()
mine = "runs already" not in begun.stderr
try:
    most = min(2, int(slurm("sinfo", "--noheader", "--partition=test", "--format=%c").rstrip("+")))
    numbers = ",".join(str(n + 1) for n in range(most))
    for name, changes in (("srun", {}), ("mpirun", {"LAUNCHER": "'mpirun -n {n}'"})):
        state, said = submit(name, RANKS=numbers, **changes)
        points = runs.load(name, "scaling.json")["points"] if os.path.exists(name + "/scaling.json") else []
        check(state == "COMPLETED" and sorted(point["ranks"] for point in points) == sorted(2 * list(range(1, most + 1))),
              f"{name}: {state}, {len(points)} runs: {said[-400:]}")
    state, said = submit("wrong", RANKS=numbers, TAGFLOW="no_such_program")
    check(state == "FAILED" and "no program no_such_program" in said, f"a program that is not there: {state}, {said}")
finally:
    if mine:
        subprocess.run([SETUP, "stop"], stdin=subprocess.DEVNULL, check=False)

runs.finish()
