#!/usr/bin/python3
"""Initial flows from an earlier result: the same flow on the same grid, interpolated on others, as numpy does it; the same
bits for every cut; velocities in m/s where both cases have units; and every file that is no use is told of in one line with
nothing written. initial.flow: inlet carries the inlet's profile through the box.
"""
import os
import shutil

import h5py
import numpy

import runs
from runs import check, load, sets, tagflow, write

COARSE = """\
units:   {dx: 2 mm, dt: 1 ms, density: 1000 kg/m3}
domain:  {cells: [20, 12, 10]}
fluid:   {viscosity: 0.05}
solver:  {storage: fp64}
faces:
  xmin: {velocity: {value: [0.05, 0, 0], profile: duct}}
  xmax: pressure
  ymin: wall
  ymax: {wall: {velocity: [0.02, 0, 0]}}
  z: periodic
bodies:  {ball: {shape: {sphere: {center: [8, 6, 5], radius: 2.2}}}}
run:     {steps: 120}
checkpoint: {every: 120}
output:
  log:   {every: 0}
  fields:
    main: {every: 120, of: [velocity, pressure, tags], precision: fp64}
    thin: {every: 120, of: [velocity, density], stride: 2}
    part: {every: 120, of: [velocity, density], region: {from: [4, 0, 0]}}
    half: {every: 120, of: [velocity]}
  averages: {mean: {every: 10, of: [velocity, density], from: 120, precision: fp64}}
"""
write("coarse.yaml", COARSE)
CHECKPOINT, SNAPSHOT = "coarse/checkpoints/step_0000000120.h5", "coarse/fields/main_0000000120.vtkhdf"
DX, U = 2e-3, 2.0  # of the coarse case: m, and m/s of a lattice velocity


def run(folder, case, settings=(), ranks=0):
    said = tagflow("run", case, "--output", folder, *sets(dict(settings)), ranks=ranks)
    check(said.code == 0 and not said.errors, f"{folder}: {said}")
    return said


def fields(path):
    with h5py.File(path) as file:
        nx, ny, nz = file["provenance"].attrs["cells"]
        return {name: data[:nz, :ny, :nx] for name, data in file["VTKHDF/PointData"].items()}


def start_of(folder, name="main"):
    return fields(f"{folder}/fields/{name}_0000000000.vtkhdf")


run("coarse", "coarse.yaml")
then = fields(SNAPSHOT)
NOW = {"run.steps": 1, "checkpoint.every": 0, "output.averages": {}, "output.fields": {"main": {"every": 1, "of": ["velocity", "pressure", "tags"], "precision": "fp64"}}}

# The same grid: what was written, to a rounding; beside open faces a checkpoint has other things.
for name, path in ("snapshot", SNAPSHOT), ("average", "coarse/fields/mean_0000000120.vtkhdf"), ("checkpoint", CHECKPOINT):
    said = run(name, "coarse.yaml", NOW | {"initial.from": path})
    now, inner = start_of(name), slice(1, -1) if name == "checkpoint" else slice(None)
    error = [float(abs(now[k] - then[k])[:, :, inner].max()) for k in ("velocity", "pressure")]
    check(error[0] < 1e-15 * U * 8 and error[1] < 1e-15 * 1000 * U**2 * (1000 if name == "average" else 8) and
          f"initial flow: step 120 of {os.path.abspath(path)}, 20 x 12 x 10 cells\n" in said.out, f"{name}: errors {error}")
    resolved = open(f"{name}/case.yaml").read()
    check(f"  from: \"{os.path.abspath(path)}\"\n  checksum: " in resolved and "flow:" not in resolved.split("faces:")[0], f"{name}: resolved")
    # the resolved case begins with the same
    shutil.copy(f"{name}/case.yaml", "resolved.yaml")
    run(name + "_resolved", "resolved.yaml")
    check(load(name + "_resolved", "report.json")["state_hash"] == load(name, "report.json")["state_hash"], f"{name}: from its resolved case")
near, far = start_of("checkpoint"), then
check(abs(near["velocity"] - far["velocity"]).max() < 0.05 * U, "checkpoint: beside open faces it is the cell next to them")


def interpolated(then, shape, periodic=(True, False, False), cells=(10, 12, 20), stride=1, scale=1):
    """Values [z][y][x][k] on a grid of that shape; cells with nothing but zeros are left out."""
    def along(axis):
        last, n = then.shape[axis] - 1, shape[axis]
        at = (numpy.arange(n) + 0.5) * cells[axis] / n - 0.5
        point = numpy.floor(at / stride).astype(int)
        weight, low, high = at / stride - point, point, point + 1
        around = cells[axis] - last * stride
        if periodic[axis]:
            weight = numpy.where(at < 0, (at + around) / around, numpy.where(point >= last, (at - last * stride) / around, weight))
            low, high = numpy.where((at < 0) | (point >= last), last, low), numpy.where((at < 0) | (point >= last), 0, high)
        else:
            weight = numpy.where((point < 0) | (point >= last), 0, weight)
            low, high = numpy.clip(low, 0, last), numpy.clip(high, 0, last)
        return low, high, weight

    axes = [along(a) for a in range(3)]
    total, sums = 0, 0
    fluid = (then != 0).any(axis=-1)
    for corner in numpy.ndindex(2, 2, 2):
        index = numpy.ix_(*[axes[a][corner[a]] for a in range(3)])
        w = [axes[a][2] if corner[a] else 1 - axes[a][2] for a in range(3)]
        weight = w[0][:, None, None] * w[1][None, :, None] * w[2][None, None, :] * fluid[index]
        total = total + weight
        sums = sums + weight[..., None] * then[index]
    return sums / numpy.where(total > 0, total, 1)[..., None] * scale


def lattice(f, density="pressure"):
    """[density - 1 and velocity] in lattice units of the coarse case."""
    drho = f["pressure"] * 3 / (1000 * U**2) if density == "pressure" else f["density"].astype(float) / 1000 - 1
    return numpy.concatenate([drho[..., None], f["velocity"].astype(float) / U], axis=-1)


# Other grids and precisions, of the same box in m or in lattice units.
for name, path, cells, dt, stride, storage in [
        ("finer", SNAPSHOT, (30, 18, 15), 0.5e-3, 1, "fp64"), ("twice", SNAPSHOT, (40, 24, 20), 0.5e-3, 1, "fp32"),
        ("coarser", SNAPSHOT, (13, 8, 7), 1e-3, 1, "fp64"), ("stride", "coarse/fields/thin_0000000120.vtkhdf", (40, 24, 20), None, 2, "fp64"),
        ("populations", CHECKPOINT, (40, 24, 20), None, 1, "fp16")]:
    size = {"domain": {"cells": cells}, "bodies.ball.shape.sphere": {"center": [0.4 * n for n in cells], "radius": 2},
            "solver.storage": storage, "initial.from": path, "run.steps": 3,
            "units": {"dx": f"{DX * 20 / cells[0]} m", "dt": f"{dt} s", "density": "500 kg/m3"} if dt else "{dx: 1 mm}"}
    said = run(name, "coarse.yaml", NOW | size)
    now = start_of(name)
    u = DX * 20 / cells[0] / dt if dt else 1
    scale = U / u if dt else 1
    source = lattice(fields(path), "density" if name == "stride" else "pressure") if name != "populations" else lattice(then)
    factor = numpy.array([scale**2, scale, scale, scale])
    want = interpolated(source, cells[::-1], stride=stride, scale=factor)
    fluid = now["tags"] != now["tags"][tuple(int(0.4 * n) for n in cells[::-1])]
    got = numpy.concatenate([now["pressure"][..., None] * 3 / ((500 if dt else 1) * u * u), now["velocity"] / u], axis=-1)
    # nodes of open faces follow their rules at once; of a checkpoint their neighbours are taken in their place
    inner = slice(4, -4) if name == "populations" else slice(1, -1)
    error = abs(got - want)[:, :, inner][fluid[:, :, inner]]
    tolerance = {"fp64": 1e-14, "fp32": 3e-7, "fp16": 3e-4}[storage]
    told = f"cells; velocities times {scale:.6g}, the same in m/s" in said.out
    check(error.max() < tolerance and told == (scale != 1) and fluid.sum() > 0.8 * fluid.size,
          f"{name}: {cells}, error {error.max():.3g}, velocities times {scale:.3g}")
    for ranks, cuts in (2, [2, 1, 1]), (4, [1, 2, 2]), (3, [1, 1, 3]):
        if name in ("finer", "populations"):
            run(f"{name}{ranks}", "coarse.yaml", NOW | size | {"run.ranks": cuts, "run.threads": 2, "initial.relax": 2}, ranks=ranks)
    if name in ("finer", "populations"):
        run(name + "1", "coarse.yaml", NOW | size | {"initial.relax": 2})
        check(len({load(f"{name}{ranks}", "report.json")["state_hash"] for ranks in (1, 2, 3, 4)}) == 1, f"{name}: one state for all cuts")

# A plane flow goes on as it was, on two axes of another thickness, too.
PLANE = """\
domain:  {cells: [1, 16, 1]}
fluid:   {viscosity: 0.05, velocity: 0.0064, length: 16}
solver:  {storage: fp64}
faces:   {x: periodic, y: wall, z: periodic}
force:   {acceleration: [1e-5, 0, 0]}
run:     {steps: 8000}
checkpoint: {every: 8000}
output:  {log: {every: 0}, fields: {main: {every: 8000, of: [velocity, density], precision: fp64}}}
"""
write("plane.yaml", PLANE)
run("plane", "plane.yaml")
steady = fields("plane/fields/main_0000008000.vtkhdf")["velocity"][0, :, 0, 0]
for path in "plane/fields/main_0000008000.vtkhdf", "plane/checkpoints/step_0000008000.h5":
    folder = "plane_" + path[-3:]
    run(folder, "plane.yaml", {"initial.from": path, "domain.cells": [5, 16, 3], "run.steps": 5, "output.fields.main.every": 1})
    changes = [abs(fields(f"{folder}/fields/main_{k:010d}.vtkhdf")["velocity"][..., 0] - steady[None, :, None]).max() / steady.max() for k in range(6)]
    check(changes[0] < 1e-14 and max(changes) < 1e-3, f"{folder}: it goes on as it was, to {max(changes):.2g} of the largest velocity")

# A snapshot of few values: refused where it has one along an axis on which the flow may vary, warned of where the flow between is a guess.
FEW = {f"output.fields.few{k}": f"{{every: 120, of: [velocity, density], stride: {k}}}" for k in (3, 5, 8, 10, 12, 20)}
run("few", "coarse.yaml", FEW)


def begin(path, settings):
    return tagflow("check", "--verbose", "coarse.yaml", *sets({"initial.from": path} | settings))


def few(k):
    return f"few/fields/few{k}_0000000120.vtkhdf"


for path, words in [(few(10), "one value along z, where its box has 10 cells, by its stride 10"), (few(12), "one value along y, where its box has 12 cells"),
                    (few(20), "by its stride 20 (take a snapshot without `stride`, or a checkpoint)")]:
    for settings in {}, {"domain.cells": [40, 24, 20], "bodies": {}}:
        said = begin(path, settings)
        check(said.code == 2 and len(said.errors) == 1 and words in said.err and "initial.from" in said.err, f"{path}: {said}")
said = tagflow("run", "coarse.yaml", "--output", "none", *sets({"initial.from": few(12)}), ranks=2)
check(said.code == 2 and len(said.errors) == 1 and not os.path.exists("none"), f"on ranks, too: {said}")
BALL = {"bodies.ball.shape.sphere": {"center": [16, 12, 10], "radius": 4.4}}
for path, settings, words in [(few(3), {}, "its values are 3 cells apart, by its stride of 3: for the box along y, of 12 cells at most 1.5"),
                              (few(3), {"domain.cells": [40, 24, 20]} | BALL, "its values are 6 cells apart, by its stride of 3"),
                              (few(3), {"bodies": {}}, "for the box along y, of 12 cells"),
                              (few(8), {}, "8 cells apart"), (SNAPSHOT, {}, None), (CHECKPOINT, {"domain.cells": [40, 24, 20]} | BALL, None)]:
    said = begin(path, settings)
    warnings = [line for line in said.lines if "initial.from" in line and "warning" in line]
    check(said.code == 0 and len(warnings) == bool(words) and all(words in line for line in warnings), f"{path} {settings}: {said}")
# A flow in two dimensions on few cells, and one along whose periodic axis it is uniform.
write("flat.yaml", """\
domain:  {cells: [60, 40, 4]}
fluid:   {viscosity: 0.05, velocity: 0.02}
faces:   {x: periodic, y: periodic, z: periodic}
initial: {flow: shear_layer, amplitude: 0.02}
run:     {steps: 4}
output:  {log: {every: 0}, fields: {four: {every: 4, of: [velocity, density], stride: 4}, ten: {every: 4, of: [velocity, density], stride: 10},
          twelve: {every: 4, of: [velocity, density], stride: 12}}}
""")
run("flat", "flat.yaml")
said = tagflow("check", "--verbose", "flat.yaml", *sets({"initial": {"from": "flat/fields/four_0000000004.vtkhdf"}}))
check(said.code == 0 and "initial.from" not in said.err, f"a flow in two dimensions: {said}")
for name, warned in ("ten", False), ("twelve", True):
    said = tagflow("check", "--verbose", "flat.yaml", *sets({"initial": {"from": f"flat/fields/{name}_0000000004.vtkhdf"}}))
    check(said.code == 0 and ("for the box along y, of 40 cells" in said.err) == warned, f"{name} cells apart in a periodic box: {said}")

# The inlet's profile everywhere; a signal as it is at the beginning.
INLET = NOW | {"initial.flow": "inlet", "bodies": {}, "faces.xmin.velocity": {"value": [0.05, 0, 0.01], "profile": "duct", "sine": {"period": 9, "mean": 0.5, "phase": 0.25}}}
run("inlet", "coarse.yaml", INLET | {"output.fields.main.of": ["velocity", "density"]})
first = start_of("inlet")
y = (numpy.arange(12) + 0.5) / 12
profile = 4 * y * (1 - y) * 1.5
want = profile[None, :, None, None] * numpy.array([0.05, 0, 0.01]) * U
error = abs(first["velocity"] - want)[:, :, :-1].max() / U
check(error < 1e-15 and abs(first["density"] / 1000 - 1)[:, :, 1:-1].max() < 1e-15, f"inlet: its profile, error {error:.3g}")
run("inlet3", "coarse.yaml", INLET | {"run.steps": 3}, ranks=3)
run("inlet1", "coarse.yaml", INLET | {"run.steps": 3})
check(load("inlet1", "report.json")["state_hash"] == load("inlet3", "report.json")["state_hash"], "inlet: one state for all cuts")

# A restart: the file must be what it was; gone on, the flow is from the checkpoint.
both = {"initial.from": "copy.vtkhdf", "run.steps": 6, "checkpoint.every": 3, "output.fields": {}, "output.averages": {}}
shutil.copy(SNAPSHOT, "copy.vtkhdf")
run("whole", "coarse.yaml", both)
run("ended", "coarse.yaml", both | {"run.steps": 3})
shutil.copy("coarse/fields/thin_0000000120.vtkhdf", "copy.vtkhdf")
said = tagflow("run", "coarse.yaml", "--output", "ended", "--restart", "auto", *sets(both))
check(said.code == 2 and len(said.errors) == 1 and "initial.checksum is" in said.err, f"ended: another file is refused: {said}")
os.remove("copy.vtkhdf")
shutil.copytree("ended", "gone")
said = tagflow("run", "coarse.yaml", "--output", "gone", "--restart", "auto", *sets(both), ranks=2)
check(said.code == 0 and "initial flow:" not in said.out and
      load("gone", "report.json")["state_hash"] == load("whole", "report.json")["state_hash"], f"gone on without the file: {said}")
said = tagflow("run", "coarse.yaml", "--output", "gone", "--overwrite", *sets(both))
check(said.code == 2 and "No such file" in said.err and load("gone", "status.json")["state"] == "done", f"it is needed for step 0: {said}")
shutil.copy(SNAPSHOT, "moved.vtkhdf")
said = tagflow("run", "coarse.yaml", "--output", "ended", "--restart", "auto", *sets(both | {"initial.from": "moved.vtkhdf"}))
check(said.code == 0 and "initial flow:" not in said.out and
      load("ended", "report.json")["state_hash"] == load("whole", "report.json")["state_hash"], f"ended: gone on with the file elsewhere: {said}")

# What is no use.
write("empty.h5", "")
write("text.h5", "tagflow is no checkpoint, nor is this text, which is long enough to look at\n")
write("short.h5", b"\x89HDF\r\n\x1a\n" + bytes(100))
with h5py.File("foreign.h5", "w") as file:
    file["velocity"] = numpy.zeros((4, 4, 4, 3))
for name, change in [
        ("temporal", lambda f: f["VTKHDF"].attrs.__setitem__("Type", numpy.bytes_("UnstructuredGrid"))),
        ("no_density", lambda f: f["VTKHDF/PointData"].__delitem__("pressure")),
        ("no_velocity", lambda f: f["VTKHDF/PointData"].__delitem__("velocity")),
        ("integers", lambda f: (f["VTKHDF/PointData"].__delitem__("velocity"), f["VTKHDF/PointData"].__setitem__("velocity", numpy.zeros((10, 12, 20, 3), int)))),
        ("packed", lambda f: (f["VTKHDF/PointData"].__delitem__("velocity"), f["VTKHDF/PointData"].create_dataset("velocity", data=then["velocity"], compression="gzip"))),
        ("small", lambda f: (f["VTKHDF/PointData"].__delitem__("velocity"), f["VTKHDF/PointData"].__setitem__("velocity", then["velocity"][1:]))),
        ("no_case", lambda f: f["provenance"].attrs.__delitem__("case")),
        ("other_case", lambda f: f["provenance"].attrs.__setitem__("case", "domain: {cells: 3}\n")),
        ("nan", lambda f: f["VTKHDF/PointData/velocity"].__setitem__((4, 4, 4, 1), numpy.nan))]:
    shutil.copy(SNAPSHOT, name + ".h5")
    with h5py.File(name + ".h5", "r+") as file:
        change(file)
data = bytearray(open(CHECKPOINT, "rb").read())
data[len(data) // 2] ^= 1
write("damaged.h5", bytes(data))
before = runs.tree()
for path, words, ranks in [
        ("nowhere.h5", ["'nowhere.h5': No such file"], 0), ("coarse", ["'coarse': Is a directory"], 0), ("empty.h5", ["neither a checkpoint nor a snapshot"], 2),
        ("text.h5", ["neither a checkpoint nor a snapshot"], 0), ("short.h5", ["HDF5 file that cannot be read"], 2), ("foreign.h5", ["no snapshot of tagflow"], 0),
        ("temporal.h5", ["no snapshot of tagflow"], 0), ("no_density.h5", ["neither density nor pressure"], 0), ("no_velocity.h5", ["holds no velocity"], 2),
        ("integers.h5", ["holds no velocity"], 0), ("packed.h5", ["its velocity is compressed", "h5repack"], 0), ("small.h5", ["no snapshot of tagflow"], 0),
        ("no_case.h5", ["no snapshot of tagflow"], 0), ("other_case.h5", ["no snapshot of tagflow"], 0), ("coarse/fields/part_0000000120.vtkhdf", ["a region of its box"], 0),
        ("coarse/fields/half_0000000120.vtkhdf", ["neither density nor pressure"], 0), ("damaged.h5", ["damaged.h5: it is damaged: populations"], 2),
        ("nan.h5", ["velocities up to inf"], 3)]:
    said = tagflow("run", "coarse.yaml", "--output", "none", *sets({"initial.from": path}), ranks=ranks)
    check(said.code == 2 and len(said.errors) == 1 and "initial.from: " in said.errors[0] and all(word in said.errors[0] for word in words) and
          runs.tree() == before, f"{path}: {said}")
# Any byte of a snapshot that is not as written, also where HDF5 does not look; a file that ends in zeros, as after a power loss.
whole = open(SNAPSHOT, "rb").read()
random = numpy.random.default_rng(1)
damages = [(place, whole[:place] + bytes([whole[place] ^ 1 << int(random.integers(8))]) + whole[place + 1:])
           for place in [0, 40, len(whole) - 49, len(whole) - 20] + random.integers(len(whole) - 48, size=8).tolist()]
for place, data in damages + [("the last page", whole[:-4096] + bytes(4096)), ("nothing", whole)]:
    write("flipped.h5", data)
    said = tagflow("check", "--verbose", "coarse.yaml", *sets({"initial.from": "flipped.h5"}))
    # The first byte says what kind of file it is; the 40th is where HDF5 ends.
    word = "neither a checkpoint nor" if place == 0 else "flipped.h5': it is damaged: its bytes are not as written"
    good = said.code == 0 if place == "nothing" else said.code == 2 and len(said.errors) == 1 and word in said.errors[0]
    check(good, f"a snapshot with a wrong byte, {place}: {said}")
os.remove("flipped.h5")
# Of another program, without a trailer. Some of these crash libhdf5 1.10: a second process reads them. First the length of
# the case's text.
whole = whole[:-48]
text = whole.index(b"# as resolved by tagflow")
places = [(text - 7, whole[text - 7] | 128)] + [(int(random.choice([text - 40, 0])) + int(random.integers(40)), int(random.integers(256))) for _ in range(24)]
for place, byte in places:
    write("mutant.h5", whole[:place] + bytes([byte]) + whole[place + 1:])
    said = tagflow("check", "--verbose", "coarse.yaml", *sets({"initial.from": "mutant.h5"}))
    good = said.code == 2 and len(said.errors) == 1 and "initial.from: " in said.errors[0]
    os.remove("mutant.h5")
    check(good or (place, byte) != places[0] and said.code == 0, f"mutant, byte {place} is {byte}: {said}")
for settings, words in [
        ({"domain.cells": [40, 24, 10]}, ["has a box of 20 x 12 x 10 cells, with other proportions than this one of 40 x 24 x 10 cells (40 x 24 x 20 would fit)"]),
        ({"domain.cells": [20, 14, 10]}, ["(20 x 12 x 10 would fit)"]), ({"initial.flow": "rest"}, ["initial.flow has no effect with from"]),
        ({"initial.velocity": [0, 0, 0]}, ["initial.velocity has no effect with from"]), ({"initial.checksum": "0123456789abcdef"}, ["initial.checksum", "it has changed"]),
        ({"units.dt": "1 us"}, [])]:
    said = tagflow("run", "coarse.yaml", "--output", "none", *sets({"initial.from": SNAPSHOT} | settings))
    good = said.code == (2 if words else 0)
    if not words:
        shutil.rmtree("none", ignore_errors=True)
    check(good and len(said.errors) == bool(words) and all(word in said.errors[0] for word in words) and runs.tree() == before, f"{settings}: {said}")
said = tagflow("run", "coarse.yaml", "--output", "none", *sets({"initial.from": SNAPSHOT, "units.dt": "100 ms"}))
check(said.code == 2 and "take a smaller units.dt" in said.err and runs.tree() == before, f"a step that is too long: {said}")
for faces, words in [
        ({"faces.xmin": "wall"}, ["needs one face of kind velocity through which fluid comes in, and there are 0 (a part"]),
        ({"faces.xmax": {"velocity": {"value": [-0.05, 0, 0]}}}, ["there are 2 (xmin, xmax)"]),
        ({"faces.xmin.velocity.ramp": 100}, ["faces.xmin.velocity has a ramp"])]:
    said = tagflow("check", "--verbose", "coarse.yaml", *sets({"initial.flow": "inlet"} | faces))
    check(said.code == 2 and len(said.errors) == 1 and all(word in said.errors[0] for word in words), f"inlet, {faces}: {said}")

runs.finish()
