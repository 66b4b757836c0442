#!/usr/bin/python3
"""valgrind over a short run: no invalid access, no use of what was not set, nothing of ours leaked.

The MPI library leaks at start-up and at exit; an error counts if the first function in its stack that
is not of the C library or of valgrind is tagflow's. On x86-64 the v3 kernels: valgrind knows no AVX-512.
"""
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TAGFLOW = os.environ["TAGFLOW"]
CASE = """
domain:  {cells: [19, 6, 5]}
fluid:   {viscosity: 0.05}
solver:  {collision: trt}
force:   {acceleration: [1e-5, 0, 0]}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}, z: wall}
run:     {steps: 5, isa: ISA}
output:
  series: {flow: {every: 1, of: [mass, kinetic_energy, enstrophy, max_velocity]}}
  fields: {main: {every: 5, of: [velocity, density, pressure, tags]}}
  images: {mid: {every: 5, of: vorticity, axis: z}}
""".replace("ISA", "v3" if platform.machine() == "x86_64" else "auto")
BELOW = ("/libc.so", "/libc-", "/vgpreload", "/libgomp", "/ld-linux")  # callers of these are to blame


def ours(error):
    """Is the function to blame tagflow's?"""
    if any(frame.findtext("fn", "").startswith("_dl_open") for frame in error.find("stack").iter("frame")):
        return False  # what the loader keeps of a library that stays, see src/base/plugins.h
    for frame in error.find("stack").iter("frame"):
        where = frame.findtext("obj", "")
        if not any(name in where for name in BELOW):
            return os.path.realpath(where) == os.path.realpath(TAGFLOW)
    return False


if not shutil.which("valgrind"):
    print("no valgrind")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("case.yaml", "w") as file:
        file.write(CASE)
    bad = 0
    for what in (["run", "case.yaml"], ["run", "case.yaml", "--overwrite", "--set", "solver.storage=fp64"],
                 ["check", "case.yaml"], ["run", "case.yaml", "--set", "run.stepps=1"], ["keys"]):
        code = subprocess.run(
            ["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--xml=yes", "--xml-file=found.xml",
             TAGFLOW, *what], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        errors = [e for e in xml.etree.ElementTree.parse("found.xml").getroot().iter("error") if ours(e)]
        print(f"{' '.join(what)}: exit {code}, {len(errors)} errors of ours")
        bad += len(errors) + (code != (2 if "run.stepps=1" in what else 0))
        for error in errors:
            stack = [f"{f.findtext('fn')} {f.findtext('file')}:{f.findtext('line')}" for f in error.find("stack")]
            print("  ", error.findtext("kind"), *stack[:6], sep="\n      ")
sys.exit(bad > 0)
