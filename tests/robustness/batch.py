#!/usr/bin/python3
"""The batch scripts for PBS and LSF, with programs that stand in for qsub, bsub and mpirun: when a chain goes on, and when
it ends. (tests/slurm/chain.py runs those for Slurm on a real one.)"""
import os
import re
import shutil
import subprocess

import runs
from runs import CASE, ROOT, TAGFLOW, check, write

# What the stand-ins do: mpirun runs its program alone; tagflow ends as MOOD says; a submission is written down.
PROGRAMS = {
    "mpirun": 'echo "mpirun $*" >>calls\nwhile [ "$1" != tagflow ]; do shift; done\nexec "$@"\n',
    "tagflow": """\
echo "tagflow $*" >>calls
mkdir -p mine/checkpoints
echo '{"state": "running"}' >mine/status.json
[ "${MOOD#new_}" = "$MOOD" ] || touch mine/checkpoints/step_$(date +%s%N).h5
[ "$MOOD" != 0 ] || echo '{"state": "done"}' >mine/status.json
[ "$MOOD" != lies ] || exit 0
exit "${MOOD#new_}"
""",
    "qsub": '[ "$1" != -a ] || { echo "$2" >later; shift 2; }\necho "qsub $*" >>calls\n[ "$BROKEN" ] && exit 1\necho 12.server\n',
    "bsub": '[ "$1" != -b ] || { echo "$2" >later; shift 2; }\necho "bsub $* with ${CHAIN_FRUITLESS-none}, of $(grep -c LSB_DJOB_NUMPROC) lines" >>calls\n[ "$BROKEN" ] && exit 1\n'
            'echo "Job <12> is submitted to default queue <normal>."\n',
}
os.mkdir("bin")
for name, text in PROGRAMS.items():
    write("bin/" + name, "#!/bin/sh\n" + text)
    os.chmod("bin/" + name, 0o755)
write("nodes", "node1\nnode1\nnode2\nnode2\n")
write("mine.yaml", CASE)
SYSTEMS = {
    "pbs": ("chain.pbs", {"PBS_JOBID": "11.server", "PBS_O_WORKDIR": os.getcwd(), "PBS_NODEFILE": "nodes"}),
    "lsf": ("chain.lsf", {"LSB_JOBID": "11", "LSB_DJOB_NUMPROC": "4"}),
}


def job(system, mood, fruitless=None, broken="", inside=True, path=None):
    """(exit status, what it said, calls) of one job."""
    script, variables = SYSTEMS[system]
    shutil.copy(os.path.join(ROOT, "scripts", system, script), "mine." + system)
    if os.path.exists("calls"):
        os.remove("calls")
    env = {"PATH": path or os.path.abspath("bin") + ":" + os.environ["PATH"], "MOOD": mood, "BROKEN": broken}
    env |= variables if inside else {}
    env |= {"CHAIN_FRUITLESS": str(fruitless)} if fruitless is not None else {}
    said = subprocess.run(["/bin/bash", "mine." + system], env=env, capture_output=True, text=True, timeout=runs.HANGS)
    calls = open("calls").read().splitlines() if os.path.exists("calls") else []
    return said.returncode, said.stdout + said.stderr, calls


for system in SYSTEMS:
    submits = "qsub -W depend=afterany:11.server -v CHAIN_FRUITLESS={} mine.pbs" if system == "pbs" else \
        "bsub -w ended(11) with {}, of 1 lines"
    for mood, fruitless, code, next_count, words in [
            ("0", None, 0, None, "done: the chain ends"), ("2", None, 2, None, "the chain ends"), ("3", None, 3, None, "diverged"),
            ("new_75", None, 75, 0, "goes on as job 12"), ("new_75", 2, 75, 0, "goes on as job 12"), ("75", None, 75, 1, "goes on"),
            ("1", 1, 1, 2, "goes on"), ("75", 2, 75, None, "3 jobs left no checkpoint newer"), ("new_1", 2, 1, 0, "goes on"),
            ("137", None, 137, 1, "goes on"), ("lies", None, 1, 1, "but the run is not done")]:
        shutil.rmtree("mine", ignore_errors=True)
        found, said, calls = job(system, mood, fruitless)
        wanted = [] if next_count is None else [submits.format(next_count)]
        check(found == code and words in said and calls[2:] == wanted, f"{system}, exit status {mood}, {fruitless} before: {found}, "
              f"{calls[2:]}, {said.splitlines()[-1:]}")
        late = "later" if os.path.exists("later") else ""
        check(bool(late) == bool(next_count) and (not late or re.fullmatch(r"[\d:]{12,16}\n", open(late).read())),
              f"{system}, {mood}: the next job waits if this one left no checkpoint")
        if late:
            os.remove(late)
        check(len(calls) > 1 and re.match(r"mpirun -n 4 .*tagflow run mine.yaml --output mine --restart auto", calls[0]) and
              "--set run.time_limit=11h50m" in calls[1], f"{system} starts {calls[:1]}")
    found, said, calls = job(system, "new_75", broken="yes")
    check(found == 1 and "was not accepted" in said, f"{system}: no next job: {found}, {said.splitlines()[-1:]}")
    found, said, calls = job(system, "0", inside=False)
    check(found == 2 and "this is a batch script" in said and not calls, f"{system}, outside of a job: {said!r}")
    found, said, calls = job(system, "0", path="/usr/bin:/bin")
    check(found == 2 and "no program tagflow" in said and not calls, f"{system}, without tagflow: {said!r}")

# With tagflow itself.
os.remove("bin/tagflow")
os.symlink(TAGFLOW, "bin/tagflow")
shutil.rmtree("mine")
for k in range(2):
    found, said, calls = job("pbs", "")
    check(found == 0 and "done: the chain ends" in said and runs.load("mine", "status.json")["state"] == "done",
          f"tagflow in a job, run {k + 1}: {found}, {said[-200:]!r}")
runs.finish()
