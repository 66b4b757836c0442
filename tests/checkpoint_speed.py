#!/usr/bin/python3
"""What a checkpoint costs, beside what the disk does: run by hand, on a quiet machine.

    checkpoint_speed.py PROGRAM [FOLDER [CELLS [ROUNDS]]]

In turn, in the same folder: as many bytes as a checkpoint has, written in blocks of 4 MB and synced (what
`dd conv=fsync` does), and a run on 2 ranks that writes one checkpoint. Medians, spread, and the share of the
plain rate that the checkpoint reaches until it is on disk, without and with reading it back.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = tempfile.mkdtemp(prefix="tagflow_cost_", dir=sys.argv[2] if len(sys.argv) > 2 else None)
CELLS = int(sys.argv[3]) if len(sys.argv) > 3 else 256
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 5
CASE = f"""\
domain:     {{cells: [{CELLS}, {CELLS}, {CELLS}]}}
fluid:      {{viscosity: 0.05}}
initial:    {{flow: uniform, velocity: [0.01, 0.02, 0.03]}}
faces:      {{x: periodic, y: periodic, z: periodic}}
run:        {{steps: 2}}
"""


def plain(count):
    """Seconds to write and sync so many bytes."""
    path = os.path.join(FOLDER, "plain")
    block = bytes(4 << 20)
    start = time.monotonic()
    with open(path, "wb", buffering=0) as file:
        for _ in range(count // len(block)):
            file.write(block)
        file.write(block[:count % len(block)])
        os.fsync(file.fileno())
    seconds = time.monotonic() - start
    os.remove(path)
    return seconds


def checkpoint():
    """Seconds to write one and to read it back, as the log says; and its size."""
    out = os.path.join(FOLDER, "run")
    line = ["sh", "-c", '. "$0"; mpi_run 2 "$@"', ROOT + "/scripts/environment.sh", PROGRAM, "run",
            os.path.join(FOLDER, "case.yaml"), "--output", out]
    said = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.search(r"written in ([\d.e-]+) s, verified in ([\d.e-]+) s", said)
    size = os.path.getsize(os.path.join(out, "checkpoints/step_0000000002.h5"))
    shutil.rmtree(out)
    return float(found[1]), float(found[2]), size


def told(what, values):
    print(f"{what}: {statistics.median(values):.3g} s ({min(values):.3g} to {max(values):.3g})", flush=True)


try:
    with open(os.path.join(FOLDER, "case.yaml"), "w") as file:
        file.write(CASE)
    *_, size = checkpoint()
    plains, writes, verifies, shares, wholes = [], [], [], [], []
    for number in range(ROUNDS):
        before = plain(size)
        write, verify, _ = checkpoint()
        beside = (before + plain(size)) / 2  # of the disk's moods, those before and after
        plains.append(beside)
        writes.append(write)
        verifies.append(verify)
        shares.append(beside / write)
        wholes.append(beside / (write + verify))
    print(f"{size / 1e9:.3f} GB, {CELLS}^3 cells, 2 ranks, {ROUNDS} rounds; median (least to most)")
    told("plain write and sync", plains)
    told("checkpoint, on disk", writes)
    told("reading it back", verifies)
    print(f"share of the plain rate: {statistics.median(shares):.0%} ({min(shares):.0%} to {max(shares):.0%}), "
          f"read back as well {statistics.median(wholes):.0%}")
    cost = [a + b for a, b in zip(writes, verifies)]
    print(f"one every 10 minutes: {statistics.median(cost) / 6:.2f} % of the run (at most {max(cost) / 6:.2f} %)")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
