#!/usr/bin/python3
"""Damaged files as an earlier result (`initial.from`): changes of a snapshot, of levels, of an average and of a checkpoint, of a fixed
seed. Bytes change under a trailer that fits them, so that HDF5 meets them; attributes and arrays are others, gone or of another type.
Each `tagflow check` ends with exit status 0, or with 2 and one line that names the file, in a bounded time.

    earlier_damage.py [FIRST [NUMBER]]    these changes alone
"""
import collections
import concurrent.futures
import os
import random
import shutil
import sys

import runs
from changes import change_bytes, change_hdf5, change_place
from runs import check, tagflow, trailer_of, write

CHANGES = 600 if "TAGFLOW_LONG" in os.environ else 120
LIMIT = 60 * int(os.environ.get("TAGFLOW_SLOWER", "1"))

CASE = """\
units:   {dx: 2 mm, dt: 1 ms}
domain:  {cells: [16, 12, 6]}
fluid:   {viscosity: 0.05, velocity: 0.05, length: 12}
scalars: {smoke: {diffusivity: 0.05, initial: 0.2}}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}, z: periodic}
run:     {steps: 4}
checkpoint: {every: 4}
output:
  log: {every: 0}
  fields:   {main: {every: 4, of: [velocity, density, smoke, tags]}, bare: {every: 4, of: [velocity, pressure], stride: 2}}
  averages: {mean: {every: 1, of: [velocity, density]}}
"""
write("case.yaml", CASE)
said = tagflow("run", "case.yaml", "--output", "run")
check(said.code == 0, f"the earlier run: {said}")
FILES = [f"run/fields/{name}_0000000004.vtkhdf" for name in ("main", "bare", "mean")] + ["run/checkpoints/step_0000000004.h5"]
LATER = CASE[:CASE.index("checkpoint:")].replace("scalars: {smoke: {diffusivity: 0.05, initial: 0.2}}", "scalars: {smoke: {diffusivity: 0.05}}")
for path in FILES:
    write("later.yaml", LATER + f"initial: {{from: {path}}}\n")
    said = tagflow("check", "later.yaml")
    check(said.code == 0, f"{path}, as it is: {said}")


def change(number):
    """(the changed file, how)"""
    chance = random.Random(number)
    path = chance.choice(FILES)
    to = f"changed_{number}" + os.path.splitext(path)[1]
    shutil.copy(path, to)
    way = chance.choice([change_bytes, change_bytes, change_hdf5, change_hdf5, change_hdf5, change_place])
    how = f"{path}: {way.__name__}, {way(chance, to)}"
    if way is change_bytes and path.endswith(".vtkhdf") and chance.random() < 0.8:
        with open(to, "rb") as file:
            data = file.read()[:-48]
        write(to, data + trailer_of(data))
        how += ", a new trailer"
    return to, how


def attempt(number):
    path, how = change(number)
    write(f"case_{number}.yaml", LATER + f"initial: {{from: {path}}}\n")
    said = tagflow("check", f"case_{number}.yaml", limit=LIMIT)
    good = said.code == 0 or (said.code == 2 and len(said.errors) == 1 and len(said.errors[0]) < 1000 and path in said.errors[0])
    if not good or len(sys.argv) > 1:
        check(good, f"change {number}, {how}: {said}")
    shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) and not os.path.islink(path) else os.path.lexists(path) and os.remove(path)
    return said.code if good else None


first, number = int(sys.argv[1]) if len(sys.argv) > 1 else 0, int(sys.argv[2]) if len(sys.argv) > 2 else 1 if len(sys.argv) > 1 else CHANGES
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    codes = collections.Counter(pool.map(attempt, range(first, first + number)))
check(not codes[None] and (codes[2] > number / 3 and codes[0] or len(sys.argv) > 1), f"{number} changes: taken {codes[0]}, refused {codes[2]}, wrong {codes[None]}")

runs.finish()
