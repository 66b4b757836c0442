"""What the tests of job chains share: Slurm's commands, and a chain made of a template of scripts/slurm.

For scripts that have tests/robustness in their path and run in a temporary folder (runs.py).
"""
import glob
import os
import re
import subprocess
import time

import runs
from runs import ROOT, check, load, tagflow, write

# Seconds after which something that must come is not waited for any longer. Slurm looks at time limits
# every half minute, and the machine may be busy.
PATIENCE = 300


def wait_for(what, condition):
    """Polls until it holds; its value, or a failure after PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.2)
    return value if value else check(False, f"waited {PATIENCE} s in vain: {what}")


def slurm(*line):
    """A Slurm command's output; with what mpirun needs in the environment, which jobs inherit."""
    done = subprocess.run(["sh", "-c", '. "$0"; exec "$@"', ROOT + "/scripts/environment.sh", *line],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        check(False, f"{' '.join(line)}: exit status {done.returncode}, {done.stdout.strip()}")
    return done.stdout.strip()


def torn(folder, temporary=False):
    """What is torn in a run's folder, checkpoints with it."""
    found = [fault for fault in runs.faults(folder, temporary) if not fault.startswith((".lock:", "step_"))]
    for path in glob.glob(folder + "/checkpoints/*.h5"):
        if (said := tagflow("info", os.path.abspath(path))).code:
            found.append(f"{path}: {said}")
    return found


class Chain:
    """A copy of a template, edited as its user would, and the jobs that come of it."""

    def __init__(self, template, name, ranks, *edits):
        self.name, self.log, self.folder = name, name + ".log", name
        with open(f"{ROOT}/scripts/slurm/chain_{template}.sbatch") as file:
            self.text = file.read()
        self.edit(("--job-name=.*", "--job-name=" + name), ("--ntasks-per-node=.*", f"--ntasks-per-node={ranks}"),
                  ("--time=.*", "--time=60"), ("^CASE=.*", f"CASE={name}.yaml"), ("^DIR=.*", f"DIR={name}"),
                  ("^TAGFLOW=.*", f"TAGFLOW='{runs.TAGFLOW}'"), ("^RETRY_AFTER=.*", "RETRY_AFTER=1"), *edits)

    def edit(self, *edits):
        for pattern, text in edits:
            # Comments have some of these words, too, but do not begin with #SBATCH.
            if pattern.startswith("--"):
                pattern, text = "^#SBATCH " + pattern, "#SBATCH " + text
            self.text, count = re.subn(pattern, lambda match, text=text: text, self.text, flags=re.MULTILINE)
            assert count == 1, pattern
        write(self.name + ".sbatch", self.text)

    def submit(self):
        return slurm("sbatch", "--parsable", self.name + ".sbatch")

    def said(self):
        """What the script itself said in all jobs."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, errors="replace") as file:
            return [line[7:].rstrip("\n") for line in file if line.startswith("chain: ")]

    def wait_for(self, words, times=1):
        """The line in which the script says this for the n-th time; None if it does not."""
        lines = wait_for(f"{self.name}: {words!r}, time {times}",
                         lambda: (found := [line for line in self.said() if words in line])[times - 1:] and found)
        return lines[times - 1] if lines else None

    def jobs(self, states="PENDING,RUNNING,COMPLETING"):
        return slurm("squeue", "--noheader", "--format=%A", "--name=" + self.name, "--states=" + states).split()

    def over(self):
        """Waits until no job of the chain is left."""
        return wait_for(f"{self.name}: all jobs end", lambda: not self.jobs())

    def checkpoints(self):
        folder = self.folder + "/checkpoints"
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return sorted(int(found[1]) for name in names if (found := re.fullmatch(r"step_(\d{10})\.h5", name)))

    def step(self):
        """Of the job that runs now."""
        try:
            status = load(self.folder, "status.json")
        except FileNotFoundError:
            return -1
        return status["step"] if status["state"] == "running" else -1

    def wait_beyond(self, step):
        """Until a job runs and has done some steps more than so many; its id."""
        wait_for(f"{self.name}: beyond step {step}", lambda: self.step() > step)
        running = self.jobs("RUNNING")
        return running[0] if check(len(running) == 1, f"{self.name}: one job runs: {running}") else None

    def show(self):
        for line in self.said():
            print("     " + line)
