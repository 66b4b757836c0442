#!/usr/bin/python3
"""One case gives the same bits however it is run: any number of ranks, any cut, threads, instruction set,
without optimisation, and by the kernels for GPUs, on the stand-in for CUDA's runtime. Compared are the state hash, every dataset of every snapshot, the series byte
for byte, and the images' pixels; for fp32 and fp64, with and without force, walls, odd and flat boxes.

Most runs of a number of ranks share a few starts of MPI, which take longer than the runs.

    TAGFLOW_THOROUGH  set: every variant of every case; otherwise each case has a part of them, in turn
    TAGFLOW_OTHER     a program of another system that this machine runs: compared with TAGFLOW, in place of all other ways
"""
import glob
import json
import os
import re
import sys
import zlib

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, tagflow, write

OUTPUT = """\
check:   {every: 10, hang: none}
output:
  log:    {every: 0}
  series:
    flow: {every: 3, of: [mass, kinetic_energy, enstrophy, max_velocity, acceleration]}
  fields:
    main: {every: 14, of: [velocity, density, pressure, tags], precision: fp64}
    coarse: {every: 20, of: [velocity, density]}
  images:
    curl: {every: 20, of: vorticity}
    side: {every: 20, of: velocity_x, axis: x}
"""
# Odd numbers of steps, too: the two halves of in-place streaming store populations differently.
CASES = {
    "cavity": """\
domain:  {cells: [20, 12, 6]}
fluid:   {reynolds: 100, velocity: 0.1, length: 20}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.1, 0, 0.03]}}, z: wall}
run:     {steps: 20}
""",
    "vortices": """\
domain:  {cells: [12, 12, 12]}
fluid:   {viscosity: 0.003, velocity: 0.1, length: 12}
initial: {flow: taylor_green_3d}
faces:   {x: periodic, y: periodic, z: periodic}
run:     {steps: 21}
""",
    "channel": """\
domain:  {cells: [17, 5, 3]}
fluid:   {viscosity: 0.1}
solver:  {collision: bgk}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, y: wall, z: periodic}
force:   {acceleration: [1e-5, -2e-6, 3e-6]}
run:     {steps: 21}
""",
    "sheet": """\
domain:  {cells: [33, 9, 1]}
fluid:   {viscosity: 0.01, velocity: 0.05, length: 9}
initial: {flow: shear_layer}
faces:   {x: periodic, y: periodic, z: periodic}
run:     {steps: 20}
""",
    "duct": """\
units:   {dx: 1 mm, dt: 0.1 ms, density: 1.2 kg/m3}
domain:  {cells: [1, 7, 66]}
fluid:   {viscosity: 0.02}
faces:   {x: periodic, ymin: {wall: {velocity: [0.02, 0, 0]}}, ymax: wall, z: wall}
force:   {acceleration: [0, 0, 2 m/s2]}
run:     {steps: 21}
""",
}
# Open faces: all kinds, next to each other and as parts of walls, cut through by ranks.
CASES |= {
    "inlets": """\
domain:  {cells: [19, 13, 8]}
fluid:   {viscosity: 0.03}
faces:
  xmin: {velocity: {value: [0.05, 0.002, 0], profile: duct, sine: {period: 13.3, mean: 0.8, amplitude: 0.2}}}
  xmax: {nonreflecting: {reflection: 0.01}}
  ymin: wall
  ymax: slip
  z: wall
patches:
  jet:   {face: ymin, disc: {center: [9.2, 3.9], radius: 2.7}, velocity: {value: [0, 0.03, 0], profile: parabola, rule: links, ramp: 9}}
  drain: {face: zmax, mask: {file: mask.png}, pressure: {density: 0.998, rule: links}}
run:     {steps: 21}
""",
    "outlets": """\
domain:  {cells: [21, 11, 7]}
fluid:   {viscosity: 0.02}
solver:  {collision: rr}
initial: {flow: uniform, velocity: [0.03, 0.01, -0.01]}
faces:
  xmin: {velocity: {value: [0.03, 0.01, 0], profile: {file: profile.csv}}}
  xmax: outflow
  ymin: {velocity: {value: [0.02, 0.01, 0], rule: links}}
  ymax: {pressure: {density: 1.001}}
  zmin: nonreflecting
  zmax: {wall: {velocity: [0.03, 0, -0.004]}}
patches:
  hole: {face: xmax, rectangle: {from: [3, 2], to: [8, 6]}, nonreflecting: {reflection: 0.02, density: 1.002}}
  plug: {face: ymax, disc: {center: [12, 3], radius: 2}, wall: {}}
run:     {steps: 21}
""",
    "loop": """\
domain:  {cells: [15, 9, 10]}
fluid:   {viscosity: 0.02}
faces:   {x: periodic, ymin: wall, ymax: {pressure: {density: 1.002, sine: {period: 11}}}, z: slip}
force:   {flow_rate: {velocity: 0.02, axis: x, every: 4, time: 9}}
patches:
  in:    {face: ymin, rectangle: {from: [2, 0], to: [9, 5]}, velocity: {value: [0.01, 0.02, 0], profile: {power: 7}}}
  wind:  {face: ymin, rectangle: {from: [10, 0], to: [15, 10]}, velocity: {value: [0.01, 0.01, 0], profile: {log: {axis: x, from: 8, roughness: 0.1, reference: 5}}}}
  round: {face: ymin, disc: {center: [4, 7.6], radius: 2}, velocity: {value: [0, 0.02, 0], profile: {radius: {file: wind.csv}}}}
run:     {steps: 20}
""",
}
CASES |= {
    "shares": """\
domain:  {cells: [33, 12, 9]}
fluid:   {viscosity: 0.02}
initial: {flow: uniform, velocity: [0.03, 0.01, 0.01]}
faces:
  xmin: {velocity: {value: [0.03, 0, 0]}}
  xmax: {pressure: {density: 1.001, share: 0.2, share_time: 30}}
  ymin: wall
  ymax: {nonreflecting: {share: 0.3}}
  z: wall
patches:
  side: {face: zmin, rectangle: {from: [9, 3], to: [20, 10]}, pressure: {share: 0.1, rule: links}}
  free: {face: zmax, disc: {center: [19, 6], radius: 4}, pressure: {density: 0.999}}
run:     {steps: 43}
""",
    "driven": """\
domain:  {cells: [17, 5, 7]}
fluid:   {viscosity: 0.02}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, y: wall, z: periodic}
force:   {flow_rate: {velocity: -0.03, axis: z, every: 4, time: 9}}
run:     {steps: 21}
""",
    "regions": """\
domain:  {cells: [37, 11, 6]}
fluid:   {viscosity: 0.02, velocity: 0.02, length: 6}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01], relax: 3}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.01]}}, z: periodic}
force:   {acceleration: [1e-5, -2e-6, 3e-6], sine: {period: 13.3, phase: 0.2}}
regions:
  thick:  {box: {from: [3, 0, 0], to: [22, 8, 6]}, viscosity: 0.1, collision: bgk}
  along:  {box: {from: [20, 2, 1], to: [37, 11, 6]}, sponge: {towards: xmax, strength: 0.2, power: 2.5, velocity: [0.02, 0, 0]}}
  across: {box: {from: [0, 3, 3], to: [19, 11, 6]}, magic: 0.25, sponge: {towards: ymin, strength: 0.1, density: 1.01}}
  up:     {box: {from: [9, 0, 0], to: [13, 4, 5]}, sponge: {towards: zmin, strength: 0.3}}
run:     {steps: 21}
""",
}
# Cut where fluid is, not evenly; rows with walls at rest and moving ones between pores.
CASES |= {
    "bodies": """\
domain:  {cells: [37, 18, 14]}
fluid:   {viscosity: 0.05}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.02, 0, 0.01]}}, z: periodic}
force:   {acceleration: [1e-5, 0, 3e-6]}
bodies:
  big:   {shape: {sphere: {center: [30, 9, 3], radius: 7.6}}}
  low:   {shape: {box: {from: [0, 0, 0], to: [37, 18, 3.2]}}}
  small: {shape: {sphere: {center: [9.4, 12, 8], radius: 3.3}}}
  moves: {shape: {sphere: {center: [18, 6, 10], radius: 2.6}}, velocity: [0.01, 0, -0.02]}
run:     {steps: 21}
""",
}
# Rows that are longer on GPUs.
CASES |= {
    "long": """\
domain:  {cells: [131, 7, 5]}
fluid:   {viscosity: 0.04}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.01]}}, z: periodic}
bodies:
  low: {shape: {box: {from: [40, 0, 0], to: [71, 2, 3]}}}
run:     {steps: 21}
""",
}
# Surfaces anywhere on their links, sliding and turning, beyond periodic faces and across cuts, and the forces on them;
# bodies without ends that are not periodic.
CASES |= {
    "surfaces": """\
domain:  {cells: [21, 14, 13]}
fluid:   {viscosity: 0.02, velocity: 0.05, length: 6}
initial: {flow: uniform, velocity: [0.03, 0.002, -0.01]}
faces:   {x: periodic, ymin: wall, ymax: slip, z: periodic}
force:   {acceleration: [1e-5, 0, 3e-6]}
bodies:
  ball:  {shape: {sphere: {center: [0.7, 6.1, 11.4], radius: 3.3}}, wall: interpolated, velocity: [0.01, -0.02, 0.005], rotation: {rate: [0.004, -0.003, 0.01]}}
  rod:   {shape: {cylinder: {center: [7.2, 9.8, 6], axis: z, radius: 1.7}}, wall: interpolated, rotation: {rate: [0, 0, -0.02]}}
  wheel: {shape: {cylinder: {center: [13.6, 6.2, 5.9], axis: y, radius: 3.1, length: 4}}, rotation: {rate: [0, 0.02, 0], about: [13.4, 0, 6.1]}}
  brick: {shape: {box: {from: [10.1, 0, 9.7], to: [14.2, 3.4, 12.1]}}, velocity: [0.03, 0, 0.01]}
  post:  {shape: {box: {from: [17.2, 9.4, 3.3], to: [19.1, 11.6, 7.4]}}}
run:     {steps: 21}
""",
    "endless": """\
domain:  {cells: [20, 16, 12]}
fluid:   {viscosity: 0.05}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, y: wall, z: periodic}
bodies:
  slope: {shape: {half_space: {point: [0, 3, 0], normal: [0.1, 1, 0.2]}}, wall: interpolated, velocity: [0.02, 0, 0.01]}
  pack:
    shape:
      intersection:
        all:  {pack: {lattice: face_centred, length: 7, share: 0.3, center: [1, 1, 1]}}
        some: {half_space: {point: [0, 11, 0], normal: [0, -1, 0.3]}}
    velocity: [0, 0.01, 0]
run:     {steps: 21}
""",
}
# Mostly solid: most lines of cells have no populations.
CASES |= {
    "pores": """\
domain:  {cells: [70, 13, 11]}
fluid:   {viscosity: 0.05}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, y: periodic, z: wall}
force:   {acceleration: [1e-5, 0, 3e-6]}
bodies:
  rock:
    shape:
      complement:
        tube: {cylinder: {center: [0, 6, 5], axis: x, radius: 1.8}}
        one:  {sphere: {center: [19, 8, 5], radius: 4.2}}
        two:  {sphere: {center: [50.5, 1, 7], radius: 5.7}}
    wall: halfway
run:     {steps: 21}
""",
}
# Scalars whose values vary over faces and patches, with buoyancy; with the limiter and without.
CASES |= {
    "stratified": """\
domain:  {cells: [34, 9, 10]}
fluid:   {viscosity: 0.02}
initial: {flow: uniform, velocity: [0.03, 0, 0]}
force:   {gravity: [1e-4, 0, -1e-3]}
scalars:
  heat: {kind: heat, diffusivity: 0.03, reference: 290, expansion: 0.03}
  ink:  {diffusivity: 1e-3, expansion: 0.2, limiter: on}
faces:
  xmin: {velocity: {value: [0.03, 0, 0], scalars: {heat: {value: {height: {file: air.csv, axis: z}}}, ink: {value: {height: {file: wind.csv, axis: y}}, sine: {period: 9, mean: 1}}}}}
  xmax: {pressure: {scalars: {ink: {value: {radius: {file: wind.csv}}}}}}
  y: {wall: {scalars: {heat: {value: {height: {file: air.csv, axis: x, length: 4}, unit: K}}}}}
  zmin: {wall: {scalars: {ink: {value: {height: {file: wind.csv, axis: x, length: 5}}}}}}
  zmax: slip
patches:
  plate: {face: zmin, rectangle: {from: [5, 2], to: [27, 7]}, wall: {scalars: {heat: {value: {radius: {file: air.csv, length: 1.5}}, ramp: 30}}}}
run:     {steps: 21}
""",
}
# Series that cases have besides.
SERIES = {
    "stratified": """\
    heat:  {every: 3, of: scalar, scalar: heat}
    ink:   {every: 4, of: scalar, scalar: ink}
    in:    {every: 5, of: heat, scalar: heat, face: xmin}
    plate: {every: 5, of: heat, scalar: heat, patch: plate}
    wall:  {every: 10, of: line, from: [1, 0, 5], to: [33, 0, 5], points: 40}
""",
    "surfaces": """\
    ball:  {every: 3, of: forces, body: ball, area: 34.2}
    rod:   {every: 4, of: forces, body: rod, about: [3, 2, 1]}
    wheel: {every: 5, of: forces, body: wheel}
    brick: {every: 3, of: forces, body: brick}
    post:  {every: 1, of: forces, body: post}
""",
    "endless": """\
    slope: {every: 3, of: forces, body: slope}
    pack:  {every: 4, of: forces, body: pack}
""",
}
MASK = numpy.zeros((13, 19), numpy.uint8)
MASK[3:8, 5:16] = 255
MASK[5, 8:13] = 0
write("mask.png", runs.grey_png(MASK))
write("profile.csv", "".join(" ".join(f"{(1 + y % 3 + z) / 10:.1f}" for y in range(11)) + "\n" for z in range(7)))
write("wind.csv", "0 1\n1.3 0.7\n3 0.2\n")
write("air.csv", "0 285\n2.2 293\n7 291\n9 288\n")
# The cuts to try, besides what `auto` makes of 2, 3, 4, 6 and 8 ranks; those that do not fit are left out.
CUTS = [(2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 1), (1, 3, 1), (1, 1, 3), (2, 2, 1), (1, 2, 2), (2, 1, 2), (5, 1, 1),
        (2, 2, 2), (1, 4, 2), (6, 1, 1), (1, 5, 1), (1, 1, 6)]
COUNTS = [2, 3, 4, 6, 8]


def pixels(path):
    """Size, palette and pixels of a PNG, without the text that says where it comes from."""
    with open(path, "rb") as file:
        data = file.read()
    parts, at = {}, 8
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        kind = data[at + 4:at + 8]
        parts[kind] = parts.get(kind, b"") + data[at + 8:at + 8 + size]
        at += 12 + size
    return parts[b"IHDR"], parts[b"PLTE"], zlib.decompress(parts[b"IDAT"])


class Result:
    """What a run left, as far as it must not depend on how it was run."""

    def __init__(self, folder):
        self.hash = load(folder, "report.json")["state_hash"]
        self.series = {os.path.basename(path)[:-4]: runs.series_text(folder, os.path.basename(path)[:-4])
                       for path in glob.glob(folder + "/series/*.csv")}
        self.fields = runs.snapshots(folder)
        self.images = {os.path.basename(path): pixels(path) for path in glob.glob(folder + "/images/*.png")}
        assert len(self.fields) >= 5 and len(self.images) >= 4 and self.series["flow"].count(b"\n") >= 7

    def differs(self, other):
        out = [] if self.hash == other.hash else [f"state hash {self.hash}, not {other.hash}"]
        out += [] if self.series.keys() == other.series.keys() else ["series' names"]
        out += [f"series {name}" for name in self.series if self.series[name] != other.series.get(name)]
        out += [] if self.images == other.images else ["images"]
        out += ["snapshots' names"] if self.fields.keys() != other.fields.keys() else \
            [name for name in self.fields if not runs.same_bits(self.fields[name], other.fields[name])]
        return out


os.environ["OMP_NUM_THREADS"] = "1"  # what a case says comes first
os.environ["OMP_WAIT_POLICY"] = "passive"
OTHER = os.environ.get("TAGFLOW_OTHER")
STANDIN = None if OTHER else os.environ.get("TAGFLOW_STANDIN_PROGRAM")


def gpu_variants(cells):
    """The same on GPUs: ranks, cuts, the order in which work is done, and how halos travel."""
    number = 0
    for cut in [(1, 1, 1)] + CUTS:
        if all(p <= n for p, n in zip(cut, cells)) and cut[0] * cut[1] * cut[2] <= 4:
            number += 1
            order = ["lazy", "random", "eager"][number % 3]
            how = ["host", "device", "ipc", "ipc"][number % 4]
            settings = {"run.ranks": list(cut), "run.exchange": ["cut", "all"][number // 4 % 2], "run.transport": how}
            standin = f"leaks=1,late=1,uuid=same,order={order},aware={int(how == 'device')}"
            yield f"GPU {settings} {standin}", settings, cut[0] * cut[1] * cut[2], STANDIN, standin


def other_variants():
    """Every instruction set of the other program, its ranks and threads."""
    for isa in sets_of(OTHER):
        yield f"other program, {isa}", {"run.isa": isa, "run.threads": 2}, 0, OTHER, None
    yield "other program, 3 ranks", {}, 3, OTHER, None


def variants(cells):
    """Name, settings, ranks, program, the stand-in's options of every way to run a case."""
    if OTHER:
        yield from other_variants()
        return
    if STANDIN:
        yield from gpu_variants(cells)
        return
    for v in cpu_variants(cells):
        yield *v, None


def cpu_variants(cells):
    for isa in instruction_sets:
        yield isa, {"run.isa": isa}, 0, None
    for ranks in COUNTS:
        yield f"{ranks} ranks", {}, ranks, None
    for number, cut in enumerate(CUTS):
        if all(p <= n for p, n in zip(cut, cells)):
            settings = {"run.ranks": list(cut)} | [{"run.threads": 2}, {"run.isa": "generic"}, {}][number % 3]
            yield str(settings), settings, cut[0] * cut[1] * cut[2], None
    yield "2 threads", {"run.threads": 2}, 0, None
    if "TAGFLOW_O0" in os.environ:
        yield "not optimised, 3 ranks", {"run.isa": "generic"}, 3, os.environ["TAGFLOW_O0"]


def sets_of(program):
    """The instruction sets that this processor has: `info` says those of the program and the best."""
    kernels, best = re.search(r"kernels for (.*) \(.*\); this processor has (\w+)", tagflow("info", program=program).out).groups()
    kernels = kernels.split(", ")
    return kernels[:kernels.index(best) + 1]


instruction_sets = sets_of(None)

# Of the first two there are more runs.
PRECISIONS = {"fp32": {"solver.storage": "fp32"}, "fp64": {"solver.storage": "fp64"}, "fp16": {"solver.storage": "fp16"},
              "fp32 under fp64": {"solver.storage": "fp32", "solver.arithmetic": "fp64"}}
OFTEN = 9 // len(runs.some(range(3), 3))  # one in so many
results, turn = {}, 0
names, jobs = [], []  # the first run of a case and what differs from it; for runs.together


def later(first, what, case, settings, ranks, program, standin=None):
    more = ["--backend", "cuda", "--share-gpu"] if standin else []
    names.append((first, what))
    jobs.append(([case, *more, *runs.sets(settings), "--output", f"run_{len(jobs)}"], ranks, program, standin))


for name, text in CASES.items():
    case = write(name + ".yaml", text + OUTPUT.replace("  fields:", SERIES.get(name, "") + "  fields:"))
    cells = json.loads(text.split("cells: ")[1].split("}")[0])
    for number, (precision, settings) in enumerate(PRECISIONS.items()):
        first = f"{name}_{precision}"
        said = tagflow("run", case, "--output", first, *runs.sets(settings))
        if not check(said.code == 0, f"{name}, {precision}: {said}"):
            continue
        results[first] = Result(first)
        # Each case in one precision, in turn; with TAGFLOW_LONG in all.
        if "TAGFLOW_O0" in os.environ and (list(CASES).index(name) % len(PRECISIONS) == number or "TAGFLOW_LONG" in os.environ):
            later(first, "not optimised", case, settings, 0, os.environ["TAGFLOW_O0"])
        for what, more, ranks, program, standin in variants(cells):
            turn += 1
            if OTHER or turn % (OFTEN if number < 2 else 3 * OFTEN) == 0 or "TAGFLOW_THOROUGH" in os.environ:
                more = more | {"run.sparse": ["always", "never", "auto"][len(jobs) % 3]}
                later(first, f"{what}, sparse: {more['run.sparse']}", case, settings | more, ranks, program, standin)
for number, ((first, what), (code, said)) in enumerate(zip(names, runs.together(jobs))):
    wrong = f"exit status {code}: {said}" if code != 0 else "; ".join(Result(f"run_{number}").differs(results[first]))
    check(not wrong, f"{first}, {what}: {wrong or 'the same'}")
hashes = {result.hash for result in results.values()}

# And what differs, differs: else all of this would compare nothing.
check(len(hashes) == len(PRECISIONS) * len(CASES), f"{len(hashes)} cases, as many hashes")
a, b = runs.snapshots("cavity_fp32"), runs.snapshots("cavity_fp64")
check(a.keys() == b.keys() and not runs.same_bits(a["main_0000000020.vtkhdf"], b["main_0000000020.vtkhdf"]) and
      runs.series_text("cavity_fp32") != runs.series_text("cavity_fp64"), "fp32 and fp64 do differ")

runs.finish()
