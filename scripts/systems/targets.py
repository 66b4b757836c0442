#!/usr/bin/python3
"""What to build for tests of some suites: targets.py BUILD SUITE... prints the names of the targets, for ninja.

The whole build has those of the other suites, too, and takes twice as long.
"""
import json
import os
import subprocess
import sys

build, suites = os.path.realpath(sys.argv[1]), set(sys.argv[2:])


def introspect(what):
    return json.loads(subprocess.run(["meson", "introspect", "--" + what, build], check=True, capture_output=True, text=True).stdout)


made = {target["id"]: target["filename"] for target in introspect("targets")}
files = {file for some in made.values() for file in some}
needed = {os.path.join(build, "tagflow")}
for test in introspect("tests"):
    if suites & {suite.split(":")[-1] for suite in test["suite"]}:
        needed |= files & set(test["env"].values())  # what is preloaded
        for target in test["depends"]:
            needed |= set(made[target])
print(*sorted(os.path.relpath(file, build) for file in needed))
