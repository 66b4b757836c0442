#!/usr/bin/python3
"""Checkpoints with a wrong bit, cut off, made longer, or not tagflow's at all: each is refused with the reason
in one line, is never restarted from, and the one before it is.

    damage.py CHECKPOINT_RANKS [COUNT]

CHECKPOINT_RANKS is built from tests/parallel/checkpoint_ranks.c: it opens 1,000 files with one wrong bit and
more than 200 of a wrong length in one process. The program itself meets COUNT of each kind (2).
"""
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys

import h5py
import numpy

import runs
from reseal import edited, regions, reseal, set_population
from runs import CASE, check, load, tagflow, write

OPENER = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 2
chance = random.Random(20)

write("case.yaml", CASE + "checkpoint: {every: 20, keep: 5}\n")
STEPS = {"run.steps": 40, "run.stop": {"of": "kinetic_energy", "change": 1e-12, "every": 5},
         "output.averages": {"mean": {"every": 1, "of": ["velocity", "density"]}}}
SETTINGS = runs.sets(STEPS)
LONGER = runs.sets(STEPS | {"run.steps": 60})
OLD, NEW = "checkpoints/step_0000000020.h5", "checkpoints/step_0000000040.h5"

said = tagflow("run", "case.yaml", "--output", "good", *SETTINGS)
check(said.code == 0, f"two checkpoints: {said}")
said = tagflow("run", "case.yaml", "--output", "undisturbed", *LONGER)
check(said.code == 0, f"undisturbed: {said}")
HASH = load("undisturbed", "report.json")["state_hash"]
GOOD = os.path.abspath("good/" + NEW)
SIZE = os.path.getsize(GOOD)
PARTS = regions(GOOD)


def bit_of(region):
    """A byte of a region, by chance, and a bit of it."""
    at = chance.randrange(sum(length for _, length in PARTS[region]))
    for offset, length in PARTS[region]:
        if at < length:
            return offset + at, chance.randrange(8)
        at -= length


# ---- one wrong bit, a wrong length, a wrong page: 1,200 and more ----

WANTED = {"seal": 200, "behind the seal": 60, "superblock": 60, "metadata": 200, "checksums": 120, "numbers": 60}
IN_CELLS = [region for region in PARTS if region.startswith("cells/")]
check({"cells/populations", "cells/averages/mean"} <= PARTS.keys() and WANTED.keys() <= PARTS.keys(), f"the file has {list(PARTS)}")
damages = []  # (region, line for the opener)
for region in list(WANTED) + IN_CELLS:
    rest = (1000 - sum(WANTED.values())) // len(IN_CELLS)
    drawn = set()
    while len(drawn) < min(WANTED.get(region, rest), 8 * sum(length for _, length in PARTS[region])):
        drawn.add(bit_of(region))
    damages += [(region, f"flip {offset} {bit}") for offset, bit in sorted(drawn)]
while len(damages) < 1000:  # the share of regions that have fewer bits
    damages.append(("cells/populations", "flip %d %d" % bit_of("cells/populations")))
check(len(damages) == 1000, f"bits: {dict(collections.Counter(region for region, _ in damages))}")

edges = {offset + d for parts in PARTS.values() for offset, length in parts for d in (-1, 0, 1)}
lengths = {length for length in edges | {0, 1, 512, SIZE - 8} if 0 <= length < SIZE}
while len(lengths) < 200:
    lengths.add(chance.randrange(SIZE))
damages += [("cut off", f"length {length}") for length in sorted(lengths)]
damages += [("longer", f"length {SIZE + more}") for more in [1, 7, 8, 4095, 4096, 65536, SIZE, 1 << 32]]
pages = range(0, SIZE - 4096, 4096)
damages += [("a page of " + ("zeros" if byte == 0 else "ones"), f"fill {page} 4096 {byte}")
            for page in pages for byte in (0, 255)]


def opened(path, lines, ranks):
    """What checkpoint_open says to each line."""
    line = runs.command([path], ranks, OPENER)
    if ranks:  # mpi_run gives the ranks an empty standard input
        line[2] = '. "$0"; "$TAGFLOW_MPIRUN" -n "$@"'
    process = subprocess.run(line, input="".join(line + "\n" for line in lines), capture_output=True, text=True)
    answers = process.stdout.splitlines()
    check(process.returncode == 0 and len(answers) == len(lines), f"{len(lines)} openings on {ranks} ranks: exit status "
          f"{process.returncode}, {len(answers)} answers {process.stderr[-500:]}")
    return answers


def finder(answer):
    """Who found it, in a word or two."""
    for words, who in [("does not begin", "first line"), ("has format", "format"), ("first 4096 bytes", "seal"),
                       (" of the ", "length"), ("describes its data", "checksum of the rest"), ("plane z", "plane's checksum")]:
        if words in answer:
            return who
    return answer


# A wrong byte in a page that holds what was there already, zeros mostly, is none.
with open(GOOD, "rb") as file:
    whole = file.read()
damages = [(region, line) for region, line in damages if not line.startswith("fill") or
           whole[int(line.split()[1]):][:4096] != bytes([int(line.split()[3])]) * 4096]

for ranks, some in [(0, damages), (3, chance.sample(damages, 150))]:
    path = shutil.copy(GOOD, f"opened_{ranks}.h5")
    answers = opened(path, ["as it is"] + [line for _, line in some] + ["as it is"], ranks)
    check(answers[0] == answers[-1] == "whole", "undamaged it is whole, before and after")
    found = collections.defaultdict(collections.Counter)
    for (region, line), answer in zip(some, answers[1:]):
        found[region][finder(answer)] += 1
        if not re.fullmatch(r"refused: it (is damaged: .*|is no checkpoint of tagflow .*|has format .*)", answer):
            check(False, f"{region}, {line}: {answer}")
    for region, who in found.items():
        print(f"     {ranks} ranks: {sum(who.values())} in {region}, found by {dict(who)}")
    check(sum(sum(who.values()) for who in found.values()) == len(some), f"{len(some)} damages are found on {ranks} ranks")


# ---- the program itself ----

def damaged(line, path):
    """A damage done to a file."""
    what, *numbers = line.split()
    numbers = [int(n) for n in numbers]
    with open(path, "r+b") as file:
        if what == "length":
            file.truncate(numbers[0])
        elif what == "flip":
            file.seek(numbers[0])
            file.write(bytes([whole[numbers[0]] ^ 1 << numbers[1]]))
        else:
            file.seek(numbers[0])
            file.write(bytes([numbers[2]]) * numbers[1])


def one_line(said, words):
    return len(said.errors) == 1 and re.search(words, said.errors[0])


def never_used(number, region, line):
    """A run whose newest checkpoint is damaged; what is wrong with what tagflow makes of it."""
    folder = f"damaged_{number}"
    shutil.copytree("good", folder)
    path = f"{folder}/{NEW}"
    damaged(line, path)
    ranks = [0, 0, 0, 2][number % 4]
    if COUNT > 2 or number % 2:
        said = tagflow("info", path)
        if said.code != 2 or not one_line(said, r"is no good: it "):
            return f"info: {said}"
    said = tagflow("run", "case.yaml", "--output", folder + "_file", "--restart", path, *LONGER, ranks=ranks)
    if said.code != 2 or not one_line(said, r"cannot restart from .*: it "):
        return f"--restart FILE: {said}"
    if any(os.path.isfile(os.path.join(folder + "_file", name)) and name != ".lock" for name in runs.tree(folder + "_file")):
        return f"--restart FILE leaves {runs.tree(folder + '_file')}"
    said = tagflow("run", "case.yaml", "--output", folder, "--restart", "auto", *LONGER, ranks=ranks)
    if said.code != 0 or said.errors:
        return f"--restart auto: {said}"
    if not any(NEW in line and " is not used: it " in line for line in said.lines) or "goes on from " not in said.out or \
            OLD not in said.out.split("goes on from ")[1].splitlines()[0]:
        return f"--restart auto does not say that it takes the older one: {said.lines}, {said.out}"
    if load(folder, "report.json")["state_hash"] != HASH:
        return "--restart auto: another state than the undisturbed run"
    shutil.rmtree(folder)
    shutil.rmtree(folder + "_file", ignore_errors=True)
    return ""


by_region = collections.defaultdict(list)
for region, line in damages:
    by_region[region].append(line)
some = [(region, line) for region, lines in by_region.items() for line in chance.sample(lines, min(COUNT, len(lines)))]
pool = concurrent.futures.ThreadPoolExecutor(4)  # starting MPI is waiting mostly
wrong = list(pool.map(lambda job: never_used(job[0], *job[1]), enumerate(some)))
for (region, line), text in zip(some, wrong):
    if text:
        check(False, f"{region}, {line}: {text}")
check(not any(wrong), f"info, --restart FILE and --restart auto with {len(some)} of them: exit 2, exit 2, the older one")

# ---- both are damaged: nothing is touched ----
shutil.copytree("good", "both")
for name in OLD, NEW:
    damaged(chance.choice(by_region["cells/populations"]), "both/" + name)
before = {name: os.stat("both/" + name).st_mtime_ns for name in runs.tree("both") if os.path.isfile("both/" + name)}
for ranks in 0, 2:
    said = tagflow("run", "case.yaml", "--output", "both", "--restart", "auto", *LONGER, ranks=ranks)
    after = {name: os.stat("both/" + name).st_mtime_ns for name in runs.tree("both") if os.path.isfile("both/" + name)}
    before.pop(".lock", None), after.pop(".lock", None)
    check(said.code == 1 and one_line(said, "none of the checkpoints in both is whole") and before == after,
          f"none is whole, {ranks} ranks: {said}, nothing is touched")

# ---- not what it should be ----


jobs = []


def refuse(what, path, words, settings, ranks, info):
    for n in ranks:
        folder = f"refused_{what}_{n}".replace("/", "_")
        said = tagflow("run", "case.yaml", "--output", folder, "--restart", path, *settings, ranks=n)
        check(said.code == 2 and one_line(said, words), f"{what}, {n} ranks: {said}")
        shutil.rmtree(folder, ignore_errors=True)
    if info:
        said = tagflow("info", path)
        check(said.code == 2 and one_line(said, words), f"{what}, info: {said}")


def refused(what, path, words, settings=LONGER, ranks=(0, 2), info=True):
    """--restart FILE, and info: exit 2 and the reason."""
    jobs.append(pool.submit(refuse, what, path, words, settings, ranks, info))


shutil.copytree("good/fields", "fields")
write("text", "This is no checkpoint.\n" * 500)
write("empty", "")
write("zeros", bytes(SIZE))
os.mkdir("folder")
os.mkfifo("fifo")
with h5py.File("foreign.h5", "w") as file:
    file["populations"] = numpy.zeros((4, 19, 12, 16), dtype="<f4")
for what, path, words in [
        ("a missing file", "missing.h5", "it cannot be opened: No such file or directory"),
        ("a name below a file", "text/file.h5", "it cannot be opened: Not a directory"),
        ("a folder", "folder", "it is no file"),
        ("a device", "/dev/null", "it is no file"),
        ("a FIFO", "fifo", "it is no file"),
        ("an empty file", "empty", "it is no checkpoint of tagflow"),
        ("zeros", "zeros", "it is no checkpoint of tagflow"),
        ("a text", "text", "it is no checkpoint of tagflow"),
        ("a case", "case.yaml", "it is no checkpoint of tagflow"),
        ("another program's HDF5", "foreign.h5", "it is no checkpoint of tagflow"),
        ("a snapshot", "fields/main_0000000020.vtkhdf", "it is no checkpoint of tagflow"),
        ("a name as long as names can be", "x" * 255, "it cannot be opened: No such file or directory"),
        ("a longer name", "y" * 5000, "name of the file is too long|File name too long")]:
    refused(what, path, words, ranks=(0, 2) if what in ("a FIFO", "a missing file") else (0,),
            info="longer" not in what)  # of which a message shows the beginning alone
os.symlink("loop", "loop")
refused("a link to itself", "loop", "it cannot be opened: Too many levels", ranks=(0,))

# Whole for the seal, and still another thing.


def copy(name):
    return shutil.copy(GOOD, name)


said = tagflow("run", "case.yaml", "--output", "link", "--restart", os.path.relpath(GOOD), *LONGER)
check(said.code == 0 and load("link", "report.json")["state_hash"] == HASH, f"undamaged, into a new folder: {said}")
reseal(copy("resealed.h5"))
with open("resealed.h5", "rb") as file:
    check(file.read() == whole, "sealed again it has the same bytes")
reseal(copy("format.h5"), format=2)
said = tagflow("info", GOOD)
check(said.code == 0 and not said.errors and "whole" in said.out, f"undamaged, info: {said}")
refused("another format", "format.h5", "it has format 2, and this program reads format 1")
reseal(copy("kind.h5"), kind="snapshot")
refused("another kind", "kind.h5", "it is no checkpoint of tagflow")

NOT_OURS = "it is no checkpoint that this program understands"


def edit(name, change):
    with edited(copy(name)) as file:
        change(file)
    return name


def set_attribute(object, name, value):
    return lambda file: file[object].attrs.__setitem__(name, value)


def drop_attribute(object, name):
    return lambda file: file[object].attrs.__delitem__(name)


for number, (what, change) in enumerate([
        ("no step", drop_attribute("/", "step")),
        ("a step before the first", set_attribute("/", "step", -1)),
        ("a word for a step", set_attribute("/", "step", "20")),
        ("three steps", set_attribute("/", "step", [20, 30, 40])),
        ("no grid", drop_attribute("/", "grid")),
        ("a flat grid", set_attribute("/", "grid", [16, 12])),
        ("an unknown storage", set_attribute("/", "storage", "fp8")),
        ("no state hash", drop_attribute("/", "state_hash")),
        ("a state hash that is none", set_attribute("/", "state_hash", "0123456789abcdeg")),
        ("no list of arrays", drop_attribute("/", "arrays")),
        ("an empty list of arrays", set_attribute("/", "arrays", "")),
        ("arrays that are missing", set_attribute("/", "arrays", "cells populations\ncells other\n")),
        ("a list without kinds", set_attribute("/", "arrays", "populations\n")),
        ("no definition", drop_attribute("cells/populations", "definition")),
        ("no first cell", drop_attribute("cells/populations", "first_cell")),
        ("no case", drop_attribute("provenance", "case")),
        ("no program", drop_attribute("provenance", "program"))]):
    refused(what, edit(f"edited_{number}.h5", change), NOT_OURS, ranks=(2,) if number % 4 == 0 else (0,))

# Of another case: each kind of key that may not change, and a case that changes nothing.
for settings, words in [
        ({"domain.cells": [16, 12, 5]}, "grid of 16 x 12 x 4 cells, and the case has 16 x 12 x 5"),
        ({"domain.cells": [12, 16, 4]}, "grid of 16 x 12 x 4 cells, and the case has 12 x 16 x 4"),
        ({"solver.storage": "fp64", "solver.arithmetic": "fp64"}, r"solver\.\w+ is fp64, but .* was made with fp32"),
        ({"solver.collision": "bgk", "solver.magic": None}, r"solver\.\w+ "),
        ({"fluid.viscosity": 0.0625}, r"fluid\.viscosity is 0\.0625, but .* was made with 0\.05"),
        ({"faces.ymax.wall.velocity": [0.06, 0, 0]}, r"faces\.ymax\.wall\.velocity is \[0\.06, 0, 0\], but .* was made with"),
        ({"faces.ymax": "wall"}, r"faces\.ymax"),
        ({"faces.x": "periodic"}, r"faces\.xm\w+ is periodic, but .* was made with \{wall"),
        ({"force.acceleration": [1e-6, 0, 0]}, r"force"),
        ({"initial.flow": "uniform", "initial.velocity": [0.01, 0, 0]}, r"initial\.\w+ "),
        ({"units": {"dx": "1 mm", "dt": "1 ms"}}, r"units"),
        ({"run.steps": 30}, "it is of step 40, and the case ends at step 30")]:
    settings = {key: value for key, value in settings.items() if value is not None}
    refused(f"of another case, {sorted(settings)}", GOOD, words, runs.sets(STEPS | {"run.steps": 60} | settings), (0,), False)
may = {"run.threads": 2, "check.every": 7, "check.max_velocity": 0.3, "checkpoint.keep": 1, "output.log.every": 10,
       "output.images": {}, "output.averages": {}}
said = tagflow("run", "case.yaml", "--output", "other", "--restart", GOOD, *runs.sets(STEPS | {"run.steps": 60} | may))
check(said.code == 0 and load("other", "report.json")["state_hash"] == HASH, f"keys that may change, {sorted(may)}: {said}")

# A value that is not the hash's; nothing but the hash can tell.
with edited(copy("value.h5")) as file:
    file["cells/populations"][1, 3, 4, 5] += numpy.float32(1e-3)
for ranks in 0, 2:
    said = tagflow("run", "case.yaml", "--output", "value", "--restart", "value.h5", *LONGER, ranks=ranks)
    check(said.code == 1 and one_line(said, "value.h5 was read, but the hash of populations is"), f"another value, sealed: {said}")
    shutil.rmtree("value")
set_population(copy("same.h5"), 5, 4, 1, 3, float(h5py.File(GOOD)["cells/populations"][1, 3, 4, 5]))
with open("same.h5", "rb") as file:
    check(file.read() == whole, "the same value set again changes no byte")

# Permission: not for root, who may read everything.
if os.getuid() == 0 and shutil.which("setpriv"):
    copy("/tmp/tagflow_damage_%d.h5" % os.getpid())
    path = "/tmp/tagflow_damage_%d.h5" % os.getpid()
    os.chmod(path, 0)
    line = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", runs.TAGFLOW, "info", path]
    process = subprocess.run(line, capture_output=True, text=True, cwd="/")
    said = runs.Said(process.returncode, process.stdout, process.stderr)
    os.remove(path)
    if "tagflow: " in said.err:  # else the program itself is out of reach for that user
        check(said.code == 2 and one_line(said, "it cannot be opened: Permission denied"), f"no permission: {said}")
elif os.getuid() != 0:
    os.chmod(copy("forbidden.h5"), 0)
    refused("no permission", "forbidden.h5", "it cannot be opened: Permission denied", ranks=(0,))

# ---- what docs/formats.md says of the file ----

with open(runs.ROOT + "/docs/formats.md") as file:
    chapter = file.read().split("\n## Checkpoints\n")[1].split("\n## ")[0]
snippets = [part.split("\n```")[0] for part in chapter.split("```python\n")[1:]]
check(len(snippets) == 2, f"{len(snippets)} snippets in the documentation")
for path, good in [(GOOD, True), (shutil.copy(GOOD, "plane.h5"), False), (shutil.copy(GOOD, "number.h5"), False)]:
    if not good:
        damaged("flip %d 3" % PARTS["cells/populations" if "plane" in path else "numbers"][0][0], path)
    names = {}
    try:
        for snippet in snippets:
            exec(re.sub(r'"checkpoints/step_\d+\.h5"', "DAMAGED", snippet), {"print": lambda *_: None, "DAMAGED": path} | names, names)
        whole_too = True
    except AssertionError as error:
        whole_too = False
        print(f"     the documentation's snippet on {os.path.basename(path)}: {error}")
    check(whole_too == good, f"the documentation's snippets find {'nothing wrong' if good else 'the damage'}")
    if good:
        fields = runs.snapshot("good/fields/main_0000000040.vtkhdf")
        check(numpy.abs(names["density"] - fields["density"]).max() < 1e-6 and
              numpy.abs(names["velocity"] - fields["velocity"]).max() < 1e-6, "density and velocity are those of the snapshot")

for job in jobs:
    job.result()
runs.finish()
