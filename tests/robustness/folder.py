#!/usr/bin/python3
"""Where a run writes: nothing of the user's is lost, a run is replaced only when asked, any name will do."""
import os

import runs
from runs import CASE, check, tagflow, tree, write

write("case.yaml", CASE)
RESULTS = [".lock", "case.yaml", "checkpoints", "checkpoints/step_0000000020.h5", "fields", "fields/main_0000000000.vtkhdf", "fields/main_0000000010.vtkhdf",
           "fields/main_0000000020.vtkhdf", "images", "images/mid_0000000000.png", "images/mid_0000000010.png",
           "images/mid_0000000020.png", "log.txt", "report.json", "series", "series/flow.csv", "status.json"]


def run(*arguments, case="case.yaml", **more):
    return tagflow("run", case, *arguments, **more)


def refused(said, *words):
    return said.code == 2 and len(said.errors) == 1 and not said.out and all(word in said.err for word in words)


# Any name, also of folders that are not there yet.
LONG = "/".join(["deep"] * 60)
for name in ["plain", "slash/", "a/b/c", "a//b/./d", "../" + os.path.basename(runs.WORK) + "/up", runs.WORK + "/abs",
             "two words", "quote\"'\\", "%s%n%d", "-dash", "ü ß 流", "line\nfeed", "x" * 250, LONG, "existing"]:
    if name == "existing":
        os.mkdir(name)
    said = run("--output=" + name)
    check(said.code == 0 and tree(name) == RESULTS and not runs.faults(name),
          f"--output={name[:40]!r}: {said}, {len(tree(name)) if os.path.isdir(name) else 0} entries")

# By default the case's name; a case without an ending must not be taken for the folder.
os.mkdir("names")
for case, folder in [("cavity.yaml", "cavity"), ("a.b.yaml", "a.b"), ("two words.yml", "two words")]:
    write("names/" + case, CASE)
    said = run(case=case, cwd="names")
    check(said.code == 0 and tree("names/" + folder) == RESULTS, f"{case!r} runs in {folder!r}: {said}")
write("names/bare", CASE)
said = run(case="bare", cwd="names")
check(refused(said, "not a folder", "--output") and open("names/bare").read() == CASE, f"a case without ending: {said}")

# What cannot be a folder.
write("file", "mine\n")
for name in ["file", "file/below", "case.yaml", "x" * 300, "y/" * 3000]:
    said = run("--output", name)
    check(refused(said), f"--output {name[:40]!r}: {said}")
check(open("file").read() == "mine\n" and not os.path.exists("y"), "and nothing was written")

# A run is not written to again, unless asked; then nothing of the old one stays.
before = {name: os.stat("plain/" + name).st_mtime_ns for name in tree("plain")}
for name in ["plain", "plain/", "./plain"]:
    said = run("--output", name)
    check(refused(said, "holds a run", "--overwrite"), f"a folder with a run, {name!r}: {said}")
check(before == {name: os.stat("plain/" + name).st_mtime_ns for name in tree("plain")}, "and it was not touched")
write("plain/fields/main_0000000010.vtkhdf.tmp", "of a job that was killed")
write("plain/notes.txt", "mine\n")
write("plain/fields/notes.txt", "mine\n")
said = run("--output", "plain/", "--overwrite", "--set", "run.steps=4", "--set", "output.images={}")
check(said.code == 0 and runs.load("plain", "report.json")["step"] == 4, f"with --overwrite it is replaced: {said}")
check(tree("plain") == sorted([".lock", "case.yaml", "checkpoints", "checkpoints/step_0000000004.h5", "fields",
                               "fields/main_0000000000.vtkhdf", "fields/main_0000000004.vtkhdf",
                               "fields/notes.txt", "images", "log.txt", "notes.txt", "report.json", "series",
                               "series/flow.csv", "status.json"]),
      "and only what runs write was removed")

# Files of the user's own in folders that a run would use are not removed unasked.
for name in ["images/photo.png", "series/measured.csv", "fields/theirs.vtkhdf", "fields/part.tmp", "log.txt"]:
    folder = "own_" + os.path.basename(name)
    os.makedirs(os.path.dirname(folder + "/" + name), exist_ok=True)
    write(folder + "/" + name, "mine\n")
    said = run("--output", folder)
    check(refused(said, name, "--overwrite") and open(folder + "/" + name).read() == "mine\n",
          f"a folder with the user's {name}: {said}")
os.mkdir("own")
write("own/case.yaml", CASE)
for arguments in [["--output", "."], ["--output", ".", "--overwrite"], ["--output=" + runs.WORK + "/own", "--overwrite"]]:
    said = run(*arguments, cwd="own")
    check(refused(said) and open("own/case.yaml").read() == CASE and tree("own") == ["case.yaml"],
          f"the case itself is not replaced, {' '.join(arguments[-1:])}: {said}")

# The case as resolved gives the same run, and itself.
said = run("--output", "again", case="abs/case.yaml")
check(said.code == 0 and open("again/case.yaml").read() == open("abs/case.yaml").read(), f"the resolved case runs: {said}")
check(runs.load("again", "report.json")["state_hash"] == runs.load("abs", "report.json")["state_hash"],
      "with the same state hash")

runs.finish()
