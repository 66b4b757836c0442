#!/usr/bin/python3
"""Disks that are full or read-only: exit status 1, one reason on stderr, no hang, nothing torn.

A disk of a few pages is made smaller step by step, so that it is full at every place where a run writes:
the folder, the resolved case, the log, the status, series, snapshots, images, the report. Which files
failed is collected, so that none of these places goes untested. Needs a mount name space of its own:
without (neither root nor user name spaces) the test is skipped.
"""
import collections
import concurrent.futures
import os
import re
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
LOG = runs.sets({"run.steps": 150, "output": {"log": {"every": 1}}})
SERIES = runs.sets({"run.steps": 150, "output": {"log": {"every": 0}, "series": {
    "flow": {"every": 1, "of": ["mass", "kinetic_energy", "enstrophy", "max_velocity"]}}}})
FIELDS = runs.sets({"output": {"log": {"every": 0}, "fields": {"main": {"every": 20, "of": "density"}}}})
IMAGES = runs.sets({"output": {"log": {"every": 0}, "images": {"mid": {"every": 5, "of": "speed"}}}})


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
        # The first reason, and perhaps that the status and the report cannot be written either.
        sound = sound and 1 <= len(said.errors) <= 3 and all(FULL in line for line in said.errors)
        what = re.search(r"/run/([^\s:]+)|the log|the folder", said.err)
        failed[re.sub(r"_\d{10}|\.tmp", "", what[1] or what[0]) if what else "?"] += 1
        if "run/report.json" in names:
            sound = sound and load(disk + "/run", "report.json")["state"] == "failed"
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
        start("files", "size=9m,nr_inodes=%d", range(2, 40, stride), [],
              wanted=["the folder", "case.yaml", "the log", "status.json", "series/flow.csv", "images/mid.png"])
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

runs.finish()
