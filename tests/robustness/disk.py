#!/usr/bin/python3
"""Disks that are full or read-only: exit status 1, one reason on stderr, no hang, nothing torn.

A disk of a few pages is made smaller step by step, so that it is full at every place where a run writes:
the folder, the resolved case, the log, the status, series, snapshots, images, checkpoints, the report. Which
files failed is collected, so that none of these places goes untested. Then a disk that is full, and folders that
vanish, while a run with checkpoints goes on: the checkpoints from before bring it to the same end. Needs a
mount name space of its own: without (neither root nor user name spaces) the test is skipped.
"""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

INSIDE = "TAGFLOW_OWN_MOUNTS"
if INSIDE not in os.environ:
    for options in ["-m"], ["-rm"]:
        unshare = ["unshare"] + options
        mount = unshare + ["mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"]
        if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp("unshare", unshare + [sys.executable] + sys.argv)
    print("skipped: no mount name space")
    sys.exit(77)

import runs
from runs import CASE, check, load, tagflow, write

write("case.yaml", CASE)
PAGE = 4096
FULL = "No space left on device"
# One kind of output alone, so that it is what fails; rows and lines enough for some pages.
LOG = runs.sets({"run.steps": 150, "checkpoint.every": 0, "output": {"log": {"every": 1}}})
SERIES = runs.sets({"run.steps": 150, "checkpoint.every": 0, "output": {"log": {"every": 0}, "series": {
    "flow": {"every": 1, "of": ["mass", "kinetic_energy", "enstrophy", "max_velocity"]}}}})
FIELDS = runs.sets({"checkpoint.every": 0, "output": {"log": {"every": 0}, "fields": {"main": {"every": 20, "of": "density"}}}})
IMAGES = runs.sets({"checkpoint.every": 0, "output": {"log": {"every": 0}, "images": {"mid": {"every": 5, "of": "speed"}}}})
CHECKPOINTS = runs.sets({"checkpoint": {"every": 10, "keep": 2}, "output": {"log": {"every": 0}}})


def mount(options, what="disk"):
    os.makedirs(what, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", what], check=True)


def umount(what="disk"):
    subprocess.run(["umount", what], check=True)


def attempt(disk, options, ranks, arguments, failed):
    """One run on a disk with these mount options; returns its exit status."""
    mount(options, disk)
    said = tagflow("run", "case.yaml", "--output", disk + "/run", *arguments, ranks=ranks)
    torn = runs.faults(disk)
    names = runs.tree(disk)
    sound = not torn and said.code in (0, 1)
    if said.code == 1:
        # The first reason, and perhaps that log, series, status and report cannot be written either.
        sound = sound and 1 <= len(said.errors) <= 4 and all(FULL in line for line in said.errors)
        what = re.search(re.escape(disk) + r"/run/([^\s:]+)|the log|the folder", said.err)
        failed[re.sub(r"_\d{10}|(\.[0-9a-f]{12,})?\.tmp", "", what[1] or what[0]) if what else "?"] += 1
        if "run/report.json" in names:
            # The report comes before the last status, which may be all that failed, with the log's line about it.
            late = "status.json" in said.errors[0] and all("cannot write the log" in line for line in said.errors[1:])
            sound = sound and load(disk + "/run", "report.json")["state"] in (["failed", "done"] if late else ["failed"])
    else:
        sound = sound and not said.errors and load(disk + "/run", "report.json")["state"] == "done"
    if not sound or "-v" in sys.argv:
        check(sound, f"{options}, {ranks} ranks: {said}, {torn}, {len(names)} entries")
    umount(disk)
    return said.code


def sweep(what, option, sizes, arguments, ranks, wanted=()):
    """Larger and larger disks until one is large enough; `wanted` are to fail first on one of them."""
    failed = collections.Counter()
    disk = f"{what}_{ranks}".replace(" ", "_")
    for size in sizes:
        if attempt(disk, option % size, ranks, arguments, failed) == 0:
            check(failed and set(wanted) <= failed.keys(), f"{what}, {ranks} ranks, enough is {option % size}; before, "
                  f"nothing torn at {dict(failed)}; missing {sorted(set(wanted) - failed.keys())}")
            return
    check(False, f"{what}, {ranks} ranks: even {option % size} is too small: {dict(failed)}")


with concurrent.futures.ThreadPoolExecutor(4) as pool:  # starting MPI is waiting mostly
    jobs = []

    def start(*arguments, wanted=()):
        jobs.append(pool.submit(sweep, *arguments, ranks, wanted if stride == 1 else ()))

    for ranks, stride in [(0, 1), (2, 6), (4, 7)]:
        start("pages for a log", "size=%dk", range(4, 400, 4 * stride), LOG, wanted=["status.json"])
        start("pages for rows", "size=%dk", range(4, 400, 4 * stride), SERIES, wanted=["series/flow.csv"])
        start("pages for images", "size=%dk", range(4, 400, 4 * stride), IMAGES, wanted=["images/mid.png"])
        # A snapshot asks for room beforehand, 1 MB more than its arrays, and gives back what it did not need.
        start("pages for snapshots", "size=%dk", range(1020, 1400, 8 * stride), FIELDS, wanted=["fields/main.vtkhdf"])
        # Checkpoints ask for it in the same way.
        start("pages for checkpoints", "size=%dk", range(1020, 1600, 12 * stride), CHECKPOINTS,
              wanted=["checkpoints/step.h5"])
        start("files", "size=9m,nr_inodes=%d", range(2, 40, stride), runs.sets({"checkpoint.every": 0}),
              wanted=["the folder", "case.yaml", "the log", "status.json", "series/flow.csv", "images/mid.png"])
    for job in jobs:
        job.result()

# ---- a disk that fills up while a run with checkpoints goes on ----

said = tagflow("run", "case.yaml", "--output", "undisturbed", *CHECKPOINTS, *runs.sets({"run.steps": 60}))
check(said.code == 0, f"undisturbed: {said}")
HASH = load("undisturbed", "report.json")["state_hash"]
OLD, NEW = "run/checkpoints/step_0000000020.h5", "run/checkpoints/step_0000000030.h5"


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def fill_up(disk, ranks, room):
    """Goes on from step 20 with so many pages left, and then with enough."""
    mount("size=9m", disk)
    said = tagflow("run", "case.yaml", "--output", disk + "/run", *CHECKPOINTS)
    before = bytes_of(f"{disk}/{OLD}")
    used = os.statvfs(disk)
    used = (used.f_blocks - used.f_bfree) * used.f_frsize
    subprocess.run(["mount", "-o", f"remount,size={used + room * PAGE}", disk], check=True)
    on = ["--restart", "auto", *CHECKPOINTS, *runs.sets({"run.steps": 60})]
    said = tagflow("run", "case.yaml", "--output", disk + "/run", *on, ranks=ranks)
    torn = runs.faults(disk)
    good = said.code == 1 and 1 <= len(said.errors) <= 3 and all(FULL in line for line in said.errors) and not torn
    kept = os.path.exists(f"{disk}/{OLD}") and bytes_of(f"{disk}/{OLD}") == before and not os.path.exists(f"{disk}/{NEW}")
    check(good and kept, f"{room} pages left, {ranks} ranks: {said}, {torn}, {runs.tree(disk + '/run/checkpoints')}")
    subprocess.run(["mount", "-o", "remount,size=9m", disk], check=True)
    said = tagflow("run", "case.yaml", "--output", disk + "/run", *on, ranks=ranks)
    check(said.code == 0 and load(disk + "/run", "report.json")["state_hash"] == HASH and not runs.faults(disk),
          f"with more room, to the same state: {said}")
    umount(disk)


# ---- what happens to a folder under a running job ----

ENDLESS = {"run.steps": 10**9, "checkpoint": {"every": 2000, "keep": 2}, "output": {"log": {"every": 1000}}}


def take_away(what, ranks, away, back, words):
    """The job runs, the folder goes; later it is there again, and so are the checkpoints."""
    folder = f"{what}_{ranks}".replace(" ", "_")
    job = runs.Job(folder, ENDLESS, ranks, restart=None)
    if not job.wait_for(lambda: len(runs.checkpoint_steps(folder)) == 2, "two checkpoints"):
        return
    away(folder)
    said = job.end()
    check(said.code == 1 and said.errors and all(re.search(words, line) for line in said.errors),
          f"{what} under a run, {ranks} ranks: {said}")
    if not back:
        return
    state = load(folder, "status.json")["state"]
    back(folder)
    steps = runs.checkpoint_steps(folder)
    torn = runs.faults(folder, temporary=True)
    check(state == "failed" and steps and not torn, f"failed, and the checkpoints stay: {state}, {steps}, {torn}")
    said = tagflow("run", "case.yaml", "--output", folder, "--restart", "auto", *runs.sets(ENDLESS | {"run.steps": steps[-1] + 100}))
    check(said.code == 0 and not runs.faults(folder), f"it goes on from there: {said}")


def remove(folder):
    while os.path.exists(folder):  # the run writes meanwhile
        shutil.rmtree(folder, ignore_errors=True)


def replace_by_file(folder):
    os.rename(folder + "/checkpoints", folder + ".checkpoints")
    write(folder + "/checkpoints", "no folder\n")


def put_back(folder):
    os.remove(folder + "/checkpoints")
    os.rename(folder + ".checkpoints", folder + "/checkpoints")


def make_read_only(folder):
    # Of the whole folder it is not possible, the log in it being open: the checkpoints' alone.
    subprocess.run(["mount", "--bind", folder + "/checkpoints", folder + "/checkpoints"], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", folder + "/checkpoints"], check=True)


with concurrent.futures.ThreadPoolExecutor(3) as pool:
    jobs = [pool.submit(fill_up, f"full_{ranks}_{room}", ranks, room) for ranks, room in
            [(0, 0), (0, 1), (0, 40), (2, 3), (4, 20), (0, 260), (2, 262), (4, 268)]]
    for ranks in 0, 2:
        jobs += [pool.submit(take_away, "removed", ranks, remove, None, "No such file or directory"),
                 pool.submit(take_away, "replaced", ranks, replace_by_file, put_back, "Not a directory"),
                 pool.submit(take_away, "read-only", ranks, make_read_only, lambda folder: umount(folder + "/checkpoints"),
                             "Read-only file system")]
    for job in jobs:
        job.result()

# An old run on a full disk: what was there stays sound.
mount("size=9m")
said = tagflow("run", "case.yaml", "--output", "disk/run")
check(said.code == 0, f"room for a small run: {said}")
with open("disk/filler", "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(PAGE))
    except OSError:
        pass
said = tagflow("run", "case.yaml", "--output", "disk/other")
check(said.code == 1 and not runs.faults("disk/run") and FULL in said.err, f"a second one: {said}")
umount()

# Read-only, mounted so and by permission, with and without parents to make.
mount("size=9m")
subprocess.run(["mount", "-o", "remount,bind,ro", "disk"], check=True)
for ranks in [0, 2, 4]:
    for name in ["disk", "disk/run", "disk/deep/run"]:
        said = tagflow("run", "case.yaml", "--output", name, ranks=ranks)
        check(said.code == 1 and len(said.errors) == 1 and "Read-only file system" in said.err and
              not runs.tree("disk"), f"{name} is read-only, {ranks} ranks: {said}")
umount()
mount("size=9m")
said = tagflow("run", "case.yaml", "--output", "disk/run")
subprocess.run(["mount", "-o", "remount,bind,ro", "disk"], check=True)
said = tagflow("run", "case.yaml", "--output", "disk/run", "--overwrite")
check(said.code == 1 and len(said.errors) == 1 and not runs.faults("disk/run"), f"an old run is read-only: {said}")
umount()

# A limit on the size of files acts like a full disk. (Starting MPI needs files of some MB.)
large = runs.sets({"domain.cells": [64, 64, 64], "fluid.length": 64, "output.fields.main.precision": "fp64"})
os.makedirs("limited")
for ranks in [0, 2]:
    folder = f"limited/{ranks}"
    line = runs.command(["run", "case.yaml", "--output", folder] + large, ranks)
    process = subprocess.run(["sh", "-c", 'ulimit -f 20480; exec "$@"', "sh"] + line, capture_output=True, text=True)
    said = runs.Said(process.returncode, process.stdout, process.stderr)
    check(said.code == 1 and len(said.errors) == 1 and "File too large" in said.err and not runs.faults(folder) and
          load(folder, "status.json")["state"] == load(folder, "report.json")["state"] == "failed",
          f"files of at most 10 MB, {ranks} ranks: {said}")
    folder = f"limited/checkpoint_{ranks}"
    some = runs.sets({"domain.cells": [64, 64, 64], "fluid.length": 64, "checkpoint.every": 10, "output": {"log": {"every": 0}}})
    said = tagflow("run", "case.yaml", "--output", folder, *some, *runs.sets({"run.steps": 10}))
    before = bytes_of(folder + "/checkpoints/step_0000000010.h5")
    line = runs.command(["run", "case.yaml", "--output", folder, "--restart", "auto"] + some, ranks)
    process = subprocess.run(["sh", "-c", 'ulimit -f 20480; exec "$@"', "sh"] + line, capture_output=True, text=True)
    said = runs.Said(process.returncode, process.stdout, process.stderr)
    check(said.code == 1 and len(said.errors) == 1 and "File too large" in said.err and not runs.faults(folder) and
          runs.checkpoint_steps(folder) == [10] and bytes_of(folder + "/checkpoints/step_0000000010.h5") == before,
          f"a checkpoint of at most 10 MB, {ranks} ranks: {said}")

runs.finish()
