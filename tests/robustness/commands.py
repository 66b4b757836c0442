#!/usr/bin/python3
"""What the commands besides `run` say is true: help, keys, info, version, and check on cases of any size."""
import glob
import os
import re
import resource
import shutil
import subprocess
import time

import runs
from runs import CASE, check, tagflow, write

write("case.yaml", CASE)

# Help: on stdout, exit status 0, and every option that it names is known.
said = tagflow("--help")
commands = re.findall(r"^  tagflow (\w+)", said.out, re.M)
check(said.code == 0 and not said.err and commands == ["run", "launch", "check", "bench", "selftest", "keys", "info"], f"--help names {commands}")
for name in commands:
    said = tagflow(name, "--help")
    options = sorted(set(re.findall(r"--[a-z-]+", said.out)) - {"--help"})
    check(said.code == 0 and not said.err and f"tagflow {name}" in said.out, f"{name} --help, options {options}")
    for option in options:
        known = tagflow(name, option, "case.yaml", "--then-this-is-not")  # with or without a value; some take no case
        check("--then-this-is-not is not known" in known.err or f": {option} case.yaml: " in known.err or
              ": case.yaml is not known" in known.err,
              f"{name} {option}: {known}")
said = tagflow()
check(said.code == 2 and not said.out and "tagflow --help" in said.err, "without a command: the help, on stderr")
for example in re.findall(r"e\.g\. (?:tagflow keys )?(\S+(?: \S+=\S+)?)", tagflow("run", "--help").out):
    check(tagflow("check", "--verbose", "case.yaml", *example.rstrip(")").split()).code == 0, f"the example {example} is right")

# launch: what it would start here and in a Slurm job, and that it starts more ranks than there are cores, also for root.
BARE = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "OMP_", "SLURM_", "PMI", "HWLOC_"))}
ROOTS = " --allow-run-as-root" if os.geteuid() == 0 else ""


def launch(*arguments, env=()):
    done = subprocess.run([runs.TAGFLOW, "launch", *arguments], capture_output=True, text=True, env=BARE | dict(env), stdin=subprocess.DEVNULL)
    return runs.Said(done.returncode, done.stdout.replace(os.path.realpath(runs.TAGFLOW), "TAGFLOW"), done.stderr)


OPENCL, JOB = "HWLOC_COMPONENTS=-opencl,-gl ", {"SLURM_JOB_ID": "7", "SLURM_NNODES": "2"}
STARTED = {  # too many ranks; four and two threads in a job of Slurm; a job without tasks
    False: [f"mpirun -n 5000{ROOTS} --oversubscribe --bind-to none", f"mpirun -n 8{ROOTS} --map-by slot:PE=4", f"mpirun -n 8{ROOTS} --map-by slot:PE=2",
            f"mpirun -n 2{ROOTS} --map-by ppr:1:node --bind-to none"],
    True: ["mpiexec -n 5000", "mpiexec -n 8 -bind-to core:4", "mpiexec -n 8 -bind-to core:2", "mpiexec -n 2 -ppn 1"]}[runs.MPICH]
for arguments, env, line in [
        (["--ranks", "1"], {}, "TAGFLOW run case.yaml"),
        (["--ranks=1", "--threads", "3", "--set", "fluid={viscosity: 0.1}", "--output", "it's"], {},
         "TAGFLOW run case.yaml --set 'fluid={viscosity: 0.1}' --output 'it'\\''s' --set run.threads=3"),
        (["--ranks", "5000", "--overwrite"], {"HWLOC_COMPONENTS": "x"},
         f"{STARTED[0]} TAGFLOW run case.yaml --overwrite"),
        ([], JOB | {"SLURM_NTASKS": "8", "SLURM_CPUS_PER_TASK": "4"}, OPENCL + f"{STARTED[1]} TAGFLOW run case.yaml"),
        (["--threads", "2"], JOB | {"SLURM_NTASKS": "8", "SLURM_CPUS_PER_TASK": "4"},
         OPENCL + f"{STARTED[2]} TAGFLOW run case.yaml --set run.threads=2"),
        (["--backend", "cpu"], JOB, OPENCL + f"{STARTED[3]} TAGFLOW run case.yaml --backend cpu")]:
    said = launch("case.yaml", "--dry-run", *arguments, env=env)
    check(said.code == 0 and said.out == line + "\n" and not said.err, f"launch {arguments}, {env}: {said.out!r}, {line!r} {said}")
said = launch("case.yaml", "--ranks", "3", "--output", "launched")
check(said.code == 0 and said.out.startswith("launch: ") and runs.load("launched", "report.json")["ranks"] == 3, f"launch of 3 ranks: {said}")
said = launch("case.yaml", "--ranks", "2", "--output", "launched")
check(said.code == 2 and "holds a run" in said.err, f"launch passes on the exit status: {said}")
shutil.rmtree("launched")
for arguments, env, word in [(["--ranks", "2"], {"PATH": "/nowhere"}, f"no {STARTED[0].split()[0]} in PATH"), ([], {"OMPI_COMM_WORLD_SIZE": "2"}, "without mpirun")]:
    said = launch("case.yaml", *arguments, env=env)
    check(said.code in (1, 2) and word in said.err and len(said.errors) == 1, f"launch {arguments}, {env}: {said}")

# Whoever reads it has enough: no reason for a message, or for another exit status.
for arguments, lines, ranks, code in [(["keys"], 1, 0, 0), (["keys"], 0, 0, 0), (["--help"], 0, 0, 0), (["--version"], 0, 0, 0),
                                      (["info"], 0, 0, 0), (["check", "case.yaml"], 0, 0, 0), (["check", "case.yaml"], 1, 2, 0),
                                      (["check", "none.yaml"], 0, 0, 2)]:
    for _ in range(5 if ranks else 1):  # mpirun dies if the reader leaves while it writes what it has already got
        said = runs.unread(*arguments, lines=lines, ranks=ranks)
        if said.code != 141:
            break
    check(said.code == code and len(said.lines) == len(said.errors) == (code != 0),
          f"{' '.join(arguments)}, of which {lines} lines are read, {ranks} ranks: {said}")

# A program that is started alone needs no folder for other ranks, and starts nothing beside it.
said = tagflow("check", "--verbose", "case.yaml", env={"OMPI_MCA_orte_tmpdir_base": "/dev/null/none"})
check(said.code == 0 and not said.err, f"no folder of Open MPI's for a program alone: {said}")

# Version and info.
said = tagflow("--version")
check(said.code == 0 and re.fullmatch(r"tagflow \d+\.\d+\.\d+ \(\S+\)\n", said.out), f"--version: {said.out!r}")
version = said.out.split()[1]
for ranks in 0, 2:
    said = tagflow("info", ranks=ranks)
    lines = dict(line.split(None, 1) for line in said.out.splitlines())
    check(said.code == 0 and lines["tagflow"].startswith(version) and
          {"compiler", "MPI", "HDF5", "backend", "cores", "halos"} < lines.keys() and
          lines["MPI"].endswith(f"; {max(ranks, 1)} rank" + "s" * (ranks > 1)), f"info on {ranks} ranks: {sorted(lines)}")

# Keys: all, a part, one, none.
said = tagflow("keys")
rows = re.findall(r"^([a-z]\S*)\n    (.+)\n    type: (.+)\n    default: (.+); example: (.+)$", said.out, re.M)
check(said.code == 0 and len(rows) == len(re.findall(r"^\S", said.out, re.M)) > 50, f"keys: {len(rows)} rows")
for prefix in "fluid", "output.fields", "faces.ymax.wall", "run.st", "run.steps":
    said = tagflow("keys", prefix)
    found = re.findall(r"^\S+", said.out, re.M)
    stem = prefix.replace("ymax", "<face>")
    check(said.code == 0 and found == [row[0] for row in rows if row[0].startswith(stem)] and found, f"keys {prefix}: {found}")
for words, first, more in [(["Outlets"], "faces.<face>.outflow", "tagflow keys 'faces.<face>.outflow'"), (["time", "step"], "units.dt", "m"),
                           (["drag"], "output.series.*.of: forces", "output.series.*.area"), (["restart"], "checkpoint", "--restart auto")]:
    said = tagflow("keys", "--search", *words)
    lines = said.out.splitlines()
    check(said.code == 0 and not said.err and lines[0].startswith(first + " ") and more in said.out and len(lines) <= 18, f"keys --search {words}: {said.out}")
said = tagflow("keys", "viscosity")
check(said.code == 2 and "fluid.viscosity" in said.err and not said.out, f"keys viscosity: {said}")

# Check: sizes, ranks, what fits; nothing is allocated or written for it.
CUBE = ["--set", "domain.cells=[2048, 2048, 2048]", "--set", "faces={x: periodic, y: periodic, z: periodic}"]


def bytes_of(text):
    number, unit = text.split()
    return float(number) * 1000 ** ["B", "kB", "MB", "GB", "TB", "PB"].index(unit)


for storage, each in [("fp32", 4), ("fp64", 8)]:
    for ranks in 1, 7, 64, 4096, 100000:
        start = time.monotonic()
        said = tagflow("check", "--verbose", "case.yaml", *CUBE, "--set", f"solver.storage={storage}", "--ranks", ranks)
        seconds = time.monotonic() - start
        cuts = re.search(r"ranks: (\d+) = (\d+) x (\d+) x (\d+)", said.out)
        memory = re.search(r"memory: (\S+ \S+) a rank, .*; (\S+ \S+) in all; this node has (\S+ \S+)\n", said.out)
        fits = re.search(r"does not fit on this node: it takes (\d+) nodes .* about (\d+) x (\d+) x (\d+)", said.out)
        if not check(said.code == 0 and cuts and memory, f"check, 2048^3, {storage}, {ranks} ranks, {seconds:.1f} s: {said}"):
            continue
        count, *n = map(int, cuts.groups())
        rank, whole, node = map(bytes_of, memory.groups())
        least = 2048**3 * (19 * each + 1)
        check(count == ranks == n[0] * n[1] * n[2] and "8589934592 cells" in said.out and
              least <= whole * 1.001 and whole < 1.5 * least and 0.99 < rank * ranks / whole < 1.05,
              f"{n}, {memory[1]} a rank, {memory[2]} in all, no less than the {least / 1e9:.1f} GB of the populations")
        boxes = re.findall(r"rank (\d+): cells \[(\d+), (\d+), (\d+)\] to \[(\d+), (\d+), (\d+)\]", said.out)
        check(len(boxes) == min(ranks, 8), f"{len(boxes)} boxes are shown")
        if fits:
            side = int(fits[2])
            check(side**3 * (19 * each + 1) < node and int(fits[1]) >= whole / node, f"what would fit in {memory[3]}: "
                  f"{side}^3, or {fits[1]} nodes")
        else:
            check("fits on this node" in said.out and whole < node, "it fits here")
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
check(peak < 500e3, f"none of this took more than {peak / 1e3:.0f} MB")

# A run that no host has room for is refused before anything is written, one for which too much is in use fails.
memory = dict(re.findall(r"^(MemTotal|MemAvailable): +(\d+) kB", open("/proc/meminfo").read(), re.M))
most = 1024 * int(memory["MemTotal"])
for share, code, words in [(1.1, 2, ["has", "GB (use more hosts"]), (0.985, 1, ["GB are free (end what else runs there"])]:
    side = int((share * most / 77 / 2) ** (1 / 3))
    for ranks in (0, 2) if code == 2 else (0,):
        said = tagflow("run", "case.yaml", "--output", "large", "--set", f"domain.cells=[{side},{side},{2 * side}]",
                       "--set", "solver.storage=fp32", "--set", "output={log: {every: 10}}", ranks=ranks)
        check(said.code == code and len(said.errors) == 1 and all(word in said.err for word in [*words, os.uname().nodename]) and
              not os.path.exists("large"), f"a run of {100 * share:g} % of this host's memory on {ranks or 1} ranks: {said}")
said = tagflow("run", "case.yaml", *CUBE, "--set", "domain.cells=[100000, 100000, 100000]", "--output", "large")
check(said.code == 2 and "the run needs" in said.err and not os.path.exists("large"), f"1e15 cells: {said}")
said = tagflow("run", "case.yaml", *CUBE, "--set", "domain.cells=[100000, 100000, 100000]", "--output", "large", "--set",
               "bodies.ball.shape.sphere={center: [50, 50, 50], radius: 9}")
check(said.code == 2 and "description of the box" in said.err and not os.path.exists("large"), f"with a body: {said}")

# Boxes too large for tags, with bodies: cells are sampled.
PACK = """\
domain: {cells: [10000, 10000, 10000]}
faces: {x: periodic, y: periodic, z: periodic}
fluid: {viscosity: 0.1}
bodies: {spheres: {shape: {pack: {lattice: body_centred, length: 250, center: [32, 32, 32], share: 0.6}}}}
run: {steps: 1000}
"""
write("pack.yaml", PACK)
write("machine.yaml", "memory: 80 GB\ndisk: 100 GB/s\n")
said = tagflow("check", "--verbose", "pack.yaml", "--ranks", 100000, "--machine", "machine.yaml", "--json", "pack.json")
found = runs.load(".", "pack.json") if said.code == 0 else {}
check(found.get("sampled") and found["sparse"] and found["ranks"] == 100000 and abs(found["fluid_cells"] / 4e11 - 1) < 0.005 and
      found["model"]["efficiency"] > 0.3 and found["checkpoint_seconds"] == 760 and "(estimated)" in said.out and
      "a device of 80 GB has room" in said.out, f"1e12 cells of a pack on 100000 ranks: {said.out[-300:]} {said.err}")
for name in "pack.yaml", "machine.yaml", "pack.json":
    os.remove(name)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
check(peak < 500e3, f"in {peak / 1e3:.0f} MB")
said = tagflow("check", "--verbose", "case.yaml", *CUBE, "--ranks", "99991")
check(said.code == 2 and "99991 ranks cannot be placed" in said.err, f"a prime number of ranks: {said}")
said = tagflow("check", "--verbose", "case.yaml", "--set", "run.ranks=[2, 3, 1]")
check(said.code == 0 and "ranks: 6 = 2 x 3 x 1" in said.out, "without --ranks as many as run.ranks has")
said = tagflow("check", "--verbose", "case.yaml", "--ranks", "5", "--set", "run.ranks=[2, 3, 1]")
check(said.code == 2 and "makes 6 ranks" in said.err, f"--ranks against run.ranks: {said}")
said = tagflow("check", "--verbose", "case.yaml", ranks=3)
check(said.code == 0 and said.out.count("grid:") == 1 and "ranks: 3 = " in said.out, "under mpirun: its ranks, said once")
boxes = re.findall(r"cells \[(\d+), (\d+), (\d+)\] to \[(\d+), (\d+), (\d+)\]", said.out)
check(sum((int(b[3]) - int(b[0]) + 1) * (int(b[4]) - int(b[1]) + 1) * (int(b[5]) - int(b[2]) + 1) for b in boxes) ==
      16 * 12 * 4, "the boxes hold all cells")
check("output: fields.main: 3 files of 16.13 kB" in said.out and "series.flow: 11 rows" in said.out and
      "images.mid: 3 files" in said.out, "output volume: 768 cells of 21 bytes, 3 snapshots")

# What jobs and outputs take: 768 cells, of which averages remember 10 and a residual 3 numbers.
said = tagflow("check", "--verbose", "case.yaml", "--ranks", "3",
               "--set", "output.fields.main.region={from: [0, 0.6, 0], to: [16, 12, 3]}",
               "--set", "output.fields.main.stride=3", "--set", "output.fields.main.of=[vorticity, tags]",
               "--set", "output.averages.mean={every: 5, of: [density, stress], from: 1, region: {to: [8, 12, 4]}}",
               "--set", "output.series.change={every: 1, of: residual}",
               "--set", "output.series.line={every: 10, of: line, from: [0, 1, 1], to: [16, 1, 1], points: 5}",
               "--set", "checkpoint={every: 90 s, keep: 4}")
check(said.code == 0 and "fields.main: 3 files of 312 B" in said.out, "6 x 4 x 1 points of 13 bytes are written")
check("averages.mean: 4 samples, a file of 10.75 kB" in said.out, "samples at 5 10 15 20, 384 cells of 7 fp32")
check("series.line: 15 rows" in said.out, "5 points at 3 steps")
kept = 384 * 10 * 8 + 768 * 3 * 4
check(f"averages and residuals: {kept / 3e3:.4g} kB a rank, {kept / 1e3:.4g} kB in all" in said.out,
      f"averages and residuals take {kept} bytes")
one = 768 * 19 * 4 + kept
check(f"checkpoint: {one / 1e3:.4g} kB a file, at most 5 files at a time, {5 * one / 1e3:.4g} kB" in said.out and
      "every 90 s of wall time" in said.out, f"a checkpoint has {one} bytes, 4 and a new one are kept")
for every, words in [("0", "only when the job is asked to stop"), ("7", "every 7 steps: a job that dies loses"),
                     ("20", "every 20 steps, which the run does not pass"), ("1h30m", "every 90 min of wall time")]:
    said = tagflow("check", "--verbose", "case.yaml", "--set", f"checkpoint.every={every}")
    check(said.code == 0 and words in said.out, f"checkpoint.every {every}: {words}")
check(runs.tree() == ["case.yaml"], "nothing was written")

# The cases that come with the program are warned of nothing, but one whose head tells of the warning.
TOLD = {"car_levels.yaml": "there is no model of the layers at walls"}
for path in sorted(glob.glob(os.path.join(runs.ROOT, "configs", "*.yaml"))):
    said = tagflow("check", "--verbose", path)
    words = TOLD.get(os.path.basename(path))
    check(said.code == 0 and bool(said.lines) == bool(words) and all("tagflow: warning: " in line and words in line for line in said.lines),
          f"{os.path.basename(path)}: {said}, {said.lines}")

# Warnings.
for settings, words in [({"faces.ymax.wall.velocity": "[0.11, 0, 0]"}, ["Mach is 0.191"]),
                        # k_a / k_b = 16: the other component is as much faster
                        ({"domain.cells": "[4, 64, 8]", "faces": "{x: periodic, y: periodic, z: periodic}", "fluid.viscosity": 0.1,
                          "initial": "{flow: taylor_green_2d, amplitude: 0.02}"}, ["Mach is 0.554"]),
                        ({"fluid.viscosity": 1e-4}, ["cell is 500, above 25: beside moving walls no operator"]),
                        ({"fluid.viscosity": 2e-3, "solver.collision": "bgk"}, ["cell is 25, above 8: bgk becomes noisy"]),
                        ({"fluid.viscosity": 2e-3, "solver.collision": "rr"}, []),
                        ({}, [])]:
    said = tagflow("check", "--verbose", "case.yaml", *runs.sets(settings))
    check(said.code == 0 and all(word in said.err for word in words) and len(said.lines) == bool(words) and
          not said.errors, f"{settings}: {said.lines}")

# Each warning has a name, which a page lists; those of check are in its JSON, and on standard output before all else.
calls, named = 0, set()
for path in glob.glob(os.path.join(runs.ROOT, "src", "**", "*.c"), recursive=True):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not path.endswith("base/message.c"):
        calls += len(re.findall(r"\bwarn(?:_at)?\(", text))
    named |= {(path, *words) for words in re.findall(r'\bwarn(?:_at)?\(\s*(?:[\w>.-]+,\s*)?"([a-z0-9_]+)",\s*("[^"]*")', text)}
with open(os.path.join(runs.ROOT, "docs", "warnings.md"), encoding="utf-8") as file:
    listed = re.findall(r"^\| `(\w+)` \| \S", file.read(), re.M)
check(len([1 for path, *_ in named if not path.endswith("base/message.c")]) == calls > 110 and len(listed) == len(set(listed)) and
      set(listed) == {name for _, name, _ in named},
      f"{calls} warnings, {len(listed)} names on the page; {set(listed) ^ {name for _, name, _ in named}}")
WARNED = runs.sets({"faces.ymax.wall.velocity": "[0.11, 0, 0]", "fluid.viscosity": 1e-4})
said = tagflow("check", "case.yaml", *WARNED, "--json", "warned.json")
found = runs.load(".", "warned.json")
texts = [line.split("warning: ", 1)[1] for line in said.lines]
check(said.code == 0 and [one["name"] for one in found["warnings"]] == ["mach", "moving_wall"] and [one["text"] for one in found["warnings"]] == texts and
      said.out.startswith(f"runs; 2 warnings\n1. {texts[0]} [mach]\n2. {texts[1]} [moving_wall]\n\n"), f"two warnings: {said.out[:300]}{said.err}")
said = tagflow("check", "case.yaml", "--json", "warned.json")
check(said.out.startswith("runs\n\ngrid ") and runs.load(".", "warned.json")["warnings"] == [], f"none: {said.out[:100]}")
os.remove("warned.json")
done = subprocess.run([runs.TAGFLOW, "check", "case.yaml", *WARNED], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
check(done.returncode == 0 and [done.stdout.count(text) for text in texts] == [1, 1] and "warning: " not in done.stdout,
      f"standard output and error are one pipe: each warning once: {done.stdout[:300]}")
done = subprocess.run(runs.command(["check", "case.yaml", *WARNED], 2), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
check(done.returncode == 0 and [done.stdout.count(text) for text in texts] == [1, 1], f"the same under mpirun: {done.stdout[:300]}")
done = subprocess.run([runs.TAGFLOW, "check", "case.yaml", *WARNED, "--set", "run.ranks=[99, 1, 1]"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
check(done.returncode == 2 and done.stdout.startswith("tagflow: ") and "runs" not in done.stdout, f"a case that is refused has no verdict: {done.stdout[:300]}")

# The short form is one screen; with --verbose follow the lines of before.
for path in sorted(glob.glob(os.path.join(runs.ROOT, "configs", "*.yaml"))):
    said = tagflow("check", path)
    screen = sum(max(1, -(-len(line) // 80)) for line in said.out.splitlines())
    check(said.code == 0 and said.out.startswith("runs") and screen <= 24, f"{os.path.basename(path)}: {screen} lines of 80 characters")

# Other time steps and cells: their numbers are those of the case with them.
UNITS = runs.sets({"units": "{dx: 1 mm, dt: 2 ms, density: 1000 kg/m3}", "fluid": "{viscosity: 1e-5 m2/s}", "run": "{duration: 8 s}", "output": "none",
                   "faces.ymax.wall.velocity": "[0.03 m/s, 0, 0]", "scalars": "{dye: {diffusivity: 4e-6 m2/s, initial: 1}}"})
LATTICE = runs.sets({"scalars": "{dye: {diffusivity: 0.01, initial: 1}}", "output": "none"})
HALF = runs.sets({"fluid.viscosity": 0.025, "fluid.velocity": 0.025, "faces.ymax.wall.velocity": "[0.025, 0, 0]", "scalars.dye.diffusivity": 0.005, "run.steps": 40})


def choices(*settings):
    said = tagflow("check", "case.yaml", *settings, "--json", "choices.json")
    found = runs.load(".", "choices.json")["choices"] if said.code == 0 else []
    names = [one.pop("name") for one in found]
    check(said.code == 0 and names and all(re.search("^" + re.escape(name) + " ", said.out, re.M) for name in names), f"{names}: {said} {said.out}")
    return names, found


def same(one, other, but=()):
    one, other = ({**found, **found["cell_peclet"]} for found in (one, other))
    return all(abs(one[key] / other[key] - 1) < 1e-6 for key in one.keys() - {"cell_peclet", *but})


names, wanted = choices(*UNITS)
step = choices(*UNITS, "--set", f"units.dt={wanted[1]['dt']!r} s")[1][0]
finer = choices(*UNITS, "--set", f"units.dt={wanted[2]['dt']!r} s", "--set", f"units.dx={wanted[2]['dx']!r} m", "--set", "domain.cells=[32, 24, 8]")[1][0]
check(names[0] == "now" and names[1].startswith("dt ") and same(wanted[1], step) and same(wanted[2], finer) and
      abs(wanted[1]["mach"] / wanted[0]["mach"] - wanted[1]["dt"] / wanted[0]["dt"]) < 1e-6 and abs(wanted[2]["mach"] / wanted[0]["mach"] - 1) < 1e-6 and
      abs(wanted[0]["density_error"] / wanted[0]["mach"]**2 - 0.5) < 1e-6, f"{names}: {wanted}, {step}, {finer}")
names, wanted = choices(*LATTICE)
half = choices(*LATTICE, *HALF)[1][0]
check(names[1] == "dt/2" and same(wanted[1], half, ["dt"]) and wanted[1]["dt"] == 0.5, f"{names}: {wanted[1]}, {half}")
os.remove("choices.json")

# The layers of a heated cube on a coarse grid: the run has 15.1 for 16.34.
said = tagflow("check", "--verbose", os.path.join(runs.ROOT, "configs", "heated_cube.yaml"),
               *runs.sets({"domain.cells": [48, 48, 24], "fluid": "{viscosity: 7.38e-4, velocity: 0.0173, length: 48}",
                           "force.gravity": [0, -6.936e-5, 0], "output": "{}"}))
check(said.code == 0 and len(said.lines) == 1 and "is 1.7 cells thick: about 8 % too little passes" in said.lines[0], f"a coarse heated cube: {said.lines}")

runs.finish()
