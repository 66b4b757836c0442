#!/usr/bin/python3
"""A disk that fails at one call: every write, read, fsync, close, open, reservation and rename of a checkpoint
in turn, on each of two ranks. Exit status 1, one reason, no hang; the checkpoint before it stays as it was, and
the run goes on from there, to the same state, when the disk is well again.

    failing.py FAILING_SO [all]     FAILING_SO is built from tests/robustness/failing.c; of the reads, which
                                    are many and alike, one in some without `all`
"""
import concurrent.futures
import os
import shutil
import sys

import runs
from runs import CASE, check, load, tagflow, write

SHIM = os.path.abspath(sys.argv[1])
MOST = 400  # calls of one kind on one rank, of which a checkpoint of this size needs fewer
# What is said when HDF5 cannot read what lay under a seal that was whole.
HDF5 = "it is no checkpoint that this program understands"
OLD, NEW = "checkpoints/step_0000000020.h5", "checkpoints/step_0000000040.h5"

write("case.yaml", CASE + "checkpoint: {every: 20, keep: 3}\n")
# The mean lies behind numbers in the file: ranks that do not fail must not wait there for one that does.
SETTINGS = runs.sets({"output": {"log": {"every": 0}, "averages": {"mean": {"every": 1, "of": ["velocity"]}}}})
LONGER = SETTINGS + runs.sets({"run.steps": 40})
said = tagflow("run", "case.yaml", "--output", "good", *SETTINGS)
check(said.code == 0, f"a checkpoint: {said}")
said = tagflow("run", "case.yaml", "--output", "undisturbed", *LONGER)
check(said.code == 0, f"undisturbed: {said}")
HASH = load("undisturbed", "report.json")["state_hash"]
with open("good/" + OLD, "rb") as file:
    BEFORE = file.read()


def attempt(call, at, rank, number):
    """The run goes on while the disk fails. None: no such call any more; else how it ended and what is wrong."""
    folder, hit = f"{call}_{rank}_{at}", os.path.abspath(f"{call}_{rank}_{at}.hit")
    shutil.copytree("good", folder)
    said = tagflow("run", "case.yaml", "--output", folder, "--restart", "auto", *LONGER, ranks=2, env={
        "LD_PRELOAD": SHIM, "FAIL_IN": "/checkpoints", "FAIL_CALL": call, "FAIL_AT": str(at), "FAIL_RANK": str(rank),
        "FAIL_WITH": str(number), "FAIL_COUNT": hit})
    wrong = ""
    left = [name for name in runs.tree(folder) if name.endswith(".tmp")]
    with open(f"{folder}/{OLD}", "rb") as file:
        if file.read() != BEFORE:
            wrong += "; the checkpoint before is not as it was"
    if left and call != "name":  # what cannot be renamed is removed as well
        wrong += f"; left behind: {left}"
    if os.path.exists(f"{folder}/{NEW}") and tagflow("info", f"{folder}/{NEW}").code != 0:
        wrong += "; the new checkpoint is not whole"
    if said.code == 1:
        # Of a checkpoint that cannot be read, the reason is a warning, and then there is none to go on from.
        if not 1 <= len(said.errors) <= 2 or not any(
                os.strerror(number) in line or call in ("read", "open") and HDF5 in line for line in said.lines):
            wrong += "; not a reason in a line"
        if load(folder, "status.json")["state"] not in ("failed", "done"):
            wrong += f"; its state is {load(folder, 'status.json')['state']}"
    elif said.code != 0 or said.errors or load(folder, "report.json")["state_hash"] != HASH:
        wrong += "; neither failed nor right"
    if at % 4 == 1:
        again = tagflow("run", "case.yaml", "--output", folder, "--restart", "auto", *LONGER)
        if again.code != 0 or load(folder, "report.json")["state"] != "done" or \
                said.code == 1 and load(folder, "report.json")["state_hash"] != HASH:
            wrong += f"; on a disk that is well again: {again}"
    was_hit = os.path.exists(hit)
    shutil.rmtree(folder)
    if wrong or "-v" in sys.argv:
        check(not wrong, f"{call} {at} on rank {rank}: {said}{wrong} {said.lines}")
    return said.code if was_hit else None


def every_call(call, rank, least, stride=1):
    """Each call in turn, or one in `stride`: a plane's reads are all alike."""
    codes, at = [], 1
    while at < MOST:
        code = attempt(call, at, rank, 5 if call != "room" else 28)
        if code is None:
            break
        codes.append(code)
        at += 1 if "all" in sys.argv else stride
    check(at < MOST and codes.count(1) >= least, f"{call} on rank {rank}: {len(codes)} times, "
          f"{codes.count(1)} of them told and {codes.count(0)} of no consequence")


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    jobs = [pool.submit(every_call, *job) for job in [
        # call, rank, how many at least must be told
        ("read", 0, 4, 8), ("read", 1, 2, 9), ("write", 0, 4), ("write", 1, 1), ("sync", 0, 2), ("sync", 1, 1), ("close", 0, 1),
        ("close", 1, 1), ("room", 0, 3), ("open", 0, 4), ("open", 1, 3), ("name", 0, 1)]]
    for job in jobs:
        job.result()

# An MPI without threads.
for ranks in 0, 2:
    said = tagflow("check", "case.yaml", ranks=ranks, env={"LD_PRELOAD": SHIM, "FAIL_IN": "MPI", "FAIL_CALL": "threads", "FAIL_AT": "1"})
    check(said.code == 1 and len(said.errors) == 1 and "does not allow threads" in said.err and not said.out,
          f"an MPI without threads, {ranks} ranks: {said}")

runs.finish()
