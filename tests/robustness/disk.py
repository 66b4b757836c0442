#!/usr/bin/python3
"""Disks that are full or read-only: exit status 1, one reason on stderr, no hang, nothing torn.

A disk of a few pages is made smaller step by step, so that it is full at every place where a run writes:
the folder, the resolved case, the log, the status, series, snapshots, images, the report. Which files
failed is collected, so that none of these places goes untested. Needs a mount name space of its own:
without (neither root nor user name spaces) the test is skipped.
"""
import collections
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
# No space, or a limit on the size of files.
FULL = r"No space left on device|File too large"
# 20 rows, 40 lines and so on are all smaller than a page; more of them, so that they meet the end, too.
MANY = runs.sets({"run.steps": 200, "output.log.every": 1, "output.series.flow.every": 1,
                  "output.fields.main.every": 200, "output.images.mid.every": 100})


def mount(pages, what="disk"):
    os.makedirs(what, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={pages * PAGE}", "none", what], check=True)


def umount(what="disk"):
    subprocess.run(["umount", what], check=True)


def attempt(pages, ranks, failed, arguments=()):
    """One run on a disk of so many pages; returns its exit status."""
    mount(pages)
    said = tagflow("run", "case.yaml", "--output", "disk/run", *MANY, *arguments, ranks=ranks)
    torn = runs.faults("disk")
    names = runs.tree("disk")
    sound = not torn and said.code in (0, 1)
    if said.code == 1:
        # One rank speaks, and once for every file that could not be written.
        sound = sound and 1 <= len(said.errors) <= 3 and all(re.search(FULL, line) for line in said.errors)
        for line in said.errors:
            what = re.search(r"run/(\S+?)[:\s]|(the log)|(the folder)", line + " ")
            name = next(filter(None, what.groups())) if what else "?"
            failed[re.sub(r"_\d{10}|\.tmp", "", name)] += 1
        if "run/report.json" in names:
            sound = sound and load("disk/run", "report.json")["state"] == "failed"
    else:
        sound = sound and not said.errors and load("disk/run", "report.json")["state"] == "done"
    if not sound or "-v" in sys.argv:
        check(sound, f"{pages} pages, {ranks} ranks: {said}, {torn}, {len(names)} entries")
    umount()
    return said.code


# All sizes on one process, every so many of them on several ranks.
for ranks, stride in [(0, 1), (1, 12), (2, 6), (4, 9)]:
    failed = collections.Counter()
    tried = 0
    pages = 2  # the disk's own folder takes one
    while attempt(pages, ranks, failed) != 0:
        tried += 1
        pages += stride
        if pages > 200:
            break
    check(pages <= 200 and tried > 3, f"{ranks} ranks: {tried} sizes are too small, {pages} pages are enough; "
                                      f"nothing torn, failed at {dict(failed)}")
    if stride == 1:
        wanted = {"case.yaml", "the log", "status.json", "series/flow.csv", "fields/main.vtkhdf", "images/mid.png"}
        check(wanted <= failed.keys(), f"every place failed once, missing: {wanted - failed.keys()}")

# A log alone, with nothing else that could fill the disk, and a report with a page less than it needs.
failed = collections.Counter()
alone = runs.sets({"output.series": {}, "output.fields": {}, "output.images": {}})
codes = [attempt(pages, 0, failed, alone) for pages in range(10, 22)]
check(0 in codes and 1 in codes and failed["the log"] > 1, f"a log alone: exit status {codes}, {dict(failed)}")

# An old run on a full disk: what was there stays sound.
mount(60)
said = tagflow("run", "case.yaml", "--output", "disk/run")
check(said.code == 0, f"room for a small run: {said}")
with open("disk/filler", "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(PAGE))
    except OSError:
        pass
said = tagflow("run", "case.yaml", "--output", "disk/other")
check(said.code == 1 and not runs.faults("disk/run") and re.search(FULL, said.err), f"a second one: {said}")
umount()

# Read-only, mounted so and by permission, with and without parents to make.
mount(60)
subprocess.run(["mount", "-o", "remount,ro", "disk"], check=True)
for ranks in [0, 2, 4]:
    for name in ["disk", "disk/run", "disk/deep/run"]:
        said = tagflow("run", "case.yaml", "--output", name, ranks=ranks)
        check(said.code == 1 and len(said.errors) == 1 and "Read-only file system" in said.err and name in said.err and
              not runs.tree("disk"), f"{name} is read-only, {ranks} ranks: {said}")
umount()
mount(60)
said = tagflow("run", "case.yaml", "--output", "disk/run")
subprocess.run(["mount", "-o", "remount,ro", "disk"], check=True)
said = tagflow("run", "case.yaml", "--output", "disk/run", "--overwrite")
check(said.code == 1 and len(said.errors) == 1 and not runs.faults("disk/run"), f"an old run is read-only: {said}")
umount()

# A limit on the size of files acts like a full disk.
os.makedirs("limited", exist_ok=True)
for ranks in [0, 2]:
    line = runs.command(["run", "case.yaml", "--output", f"limited/{ranks}"], ranks)
    process = subprocess.run(["sh", "-c", 'ulimit -f 8; exec "$@"', "sh"] + line, capture_output=True, text=True)
    said = runs.Said(process.returncode, process.stdout, process.stderr)
    check(said.code == 1 and said.errors and all("File too large" in line for line in said.errors) and
          not runs.faults(f"limited/{ranks}") and load(f"limited/{ranks}", "status.json")["state"] == "failed",
          f"files of at most 4 kB, {ranks} ranks: {said}")

runs.finish()
