#!/usr/bin/python3
"""Snapshots of regions with strides, vorticity and averages: the same bits on any number of ranks and any
cut, and the right values.

Every other file is held against the snapshots `all` of the whole box in fp64: a region with a stride is a
slice of them; vorticity the central differences of their velocity, operation by operation, so that not a bit
may differ; averages the plain means and covariances of all of them. Vorticity is also held against that of
Taylor-Green vortices, where the error of central differences must fall with the square of the cell.
"""
import concurrent.futures
import glob
import json
import os
import sys

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, tagflow, write

ARRAYS = "[velocity, density, pressure, vorticity, tags]"
# Regions that a cut goes through, that one rank has, that are one cell, at the box's ends; strides that do
# not divide them and that are larger than they are. Name: corners and stride.
REGIONS = {
    "all": ([0, 0, 0], [19, 13, 7], 1),
    "part": ([2, 1, 1], [18, 12, 6], 1),
    "sparse": ([1, 0, 2], [19, 13, 7], 3),
    "coarse": ([0, 0, 0], [19, 13, 7], 2),
    "cell": ([10, 6, 3], [11, 7, 4], 1),
    "first": ([0, 0, 0], [1, 1, 1], 5),
    "last": ([18, 12, 6], [19, 13, 7], 1),
    "wide": ([3, 2, 1], [8, 9, 6], 100),
    "wall": ([0, 12, 0], [19, 13, 7], 4),
    "slice": ([9, 0, 0], [10, 13, 7], 1),
}
# Name: corners, first and last step, steps between samples, arrays.
AVERAGES = {
    "mean": ([0, 0, 0], [19, 13, 7], 4, 16, 2, "[velocity, density, stress]"),
    "corner": ([16, 11, 5], [19, 13, 7], 0, 21, 3, "[stress, density]"),
    "point": ([10, 6, 3], [11, 7, 4], 5, 17, 4, "velocity"),  # ends at a step that is no sample
    "single": ([0, 5, 0], [19, 6, 7], 20, 20, 10, "[velocity, stress]"),
}
STEPS = 21


def output(scale=1):
    """The output section; corners times `scale` metres if it is not 1."""
    corner = (lambda c: c) if scale == 1 else (lambda c: [f"{i * scale:.9g} m" for i in c])
    fields = {name: {"every": 1 if name == "all" else 7, "of": ARRAYS, "stride": stride,
                     "precision": "fp64", "region": {"from": corner(lo), "to": corner(hi)}}
              for name, (lo, hi, stride) in REGIONS.items()}
    fields["narrow"] = {"every": 7, "of": ARRAYS}
    averages = {name: {"every": every, "from": first, "to": last, "of": of, "precision": "fp64",
                       "region": {"from": corner(lo), "to": corner(hi)}}
                for name, (lo, hi, first, last, every, of) in AVERAGES.items()}
    averages["narrow_mean"] = {"every": 2, "of": "[velocity, stress]"}
    text = json.dumps({"fields": fields, "averages": averages,
                       "series": {"flow": {"every": 1, "of": ["enstrophy"]}},
                       "images": {axis: {"every": 7, "of": "vorticity", "axis": axis} for axis in "xyz"}})
    for quoted in {ARRAYS, *(of for *_, of in AVERAGES.values()), "[velocity, stress]"}:
        text = text.replace(f'"{quoted}"', quoted)
    return f"output: {text}\nrun:    {{steps: {STEPS}}}\ncheck:  {{every: 7}}\n"


CASES = {
    "lid": """\
domain:  {cells: [19, 13, 7]}
fluid:   {viscosity: 0.02, velocity: 0.1, length: 19}
initial: {flow: uniform, velocity: [0.02, 0.01, -0.03]}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.1, 0, 0.03]}}, z: periodic}
""",
    "vortices": """\
domain:  {cells: [19, 13, 7]}
fluid:   {viscosity: 0.003, velocity: 0.1, length: 19}
solver:  {storage: fp64, arithmetic: fp64}
initial: {flow: shear_layer}
faces:   {x: periodic, y: periodic, z: periodic}
force:   {acceleration: [1e-4, 0, 2e-5]}
""",
    "duct": """\
units:   {dx: 2 mm, dt: 0.5 ms, density: 1.2 kg/m3}
domain:  {cells: [19, 13, 7]}
fluid:   {viscosity: 0.03}
faces:   {x: periodic, y: wall, zmin: {wall: {velocity: [0.05, -0.02, 0]}}, zmax: wall}
force:   {acceleration: [3e-4, 0, 0]}
""",
}
WALLS = {  # velocity of the walls of each face, lattice units; None: periodic
    "lid": [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0.1, 0, 0.03], None, None],
    "vortices": [None] * 6,
    "duct": [None, None, [0, 0, 0], [0, 0, 0], [0.05, -0.02, 0], [0, 0, 0]],
}
UNITS = {"duct": (2e-3, 5e-4, 1.2)}  # dx, dt, density
# Ranks and the way to cut among them; None: the program's.
CUTS = [(2, None), (3, None), (4, None), (6, None), (2, (2, 1, 1)), (3, (3, 1, 1)), (5, (5, 1, 1)), (3, (1, 3, 1)),
        (7, (1, 1, 7)), (6, (2, 3, 1)), (6, (1, 2, 3)), (4, (2, 1, 2)), (8, (2, 2, 2)), (4, (1, 4, 1))]


def contents(path):
    """Every dataset, every attribute of the header, and what the provenance says but for ranks and date."""
    out = {}
    with h5py.File(path) as file:
        cells = file["provenance"].attrs["cells"]
        extent = file["VTKHDF"].attrs["WholeExtent"].reshape(3, 2)
        if list(extent[:, 1] + 1) != [max(n, 2) for n in cells]:
            raise ValueError(f"{path}: extent {extent.tolist()} of {cells} cells")
        for name, data in file["VTKHDF/PointData"].items():
            out[name] = data[...]
            for axis in range(3):  # a single layer of cells is there twice, on both faces
                if cells[2 - axis] == 1:
                    first, second = numpy.split(out[name], 2, axis)
                    if not numpy.array_equal(first, second):
                        raise ValueError(f"{path}: {name} differs between the faces of its one layer")
                    out[name] = first
        for name, value in file["VTKHDF"].attrs.items():
            out["header " + name] = numpy.asarray(value)
        for name, value in file["provenance"].attrs.items():
            if name not in ("ranks", "date", "backend", "case"):  # the case holds the cut
                out["provenance " + name] = numpy.asarray(value)
    return out


def same(a, b):
    return a.keys() == b.keys() and all(
        str(a[k]) == str(b[k]) if a[k].dtype.kind in "OSU" else runs.same_bits({k: a[k]}, {k: b[k]}) for k in a)


class Result:
    def __init__(self, folder):
        self.files = {os.path.basename(p): contents(p) for p in sorted(glob.glob(folder + "/fields/*"))}
        self.images = {}
        for path in sorted(glob.glob(folder + "/images/*.png")):
            with open(path, "rb") as file:
                data = file.read()
            self.images[os.path.basename(path)] = data[data.index(b"IDAT"):data.rindex(b"IDAT") + 1]
        self.series = runs.series_text(folder)
        self.hash = load(folder, "report.json")["state_hash"]

    def differs(self, other):
        out = [] if self.hash == other.hash else ["state hash"]
        out += [] if self.series == other.series else ["series"]
        out += [] if self.images == other.images else ["images"]
        out += ["names of files"] if self.files.keys() != other.files.keys() else \
            [name for name in self.files if not same(self.files[name], other.files[name])]
        return out


def run(case, folder, settings, ranks):
    said = tagflow("run", case, "--output", folder, *runs.sets(settings), ranks=ranks)
    return (Result(folder), "") if said.code == 0 else (None, str(said))


def vorticity(velocity, walls):
    """Central differences of velocity (z, y, x, 3) in lattice units, with 2 u_wall - u beyond a wall."""
    gradient = []
    for a in range(3):
        axis = 2 - a
        ahead, behind = numpy.roll(velocity, -1, axis), numpy.roll(velocity, 1, axis)
        for side, moved in (0, behind), (1, ahead):
            if walls[2 * a + side] is not None:
                end = [slice(None)] * 3
                end[axis] = -1 if side else 0
                moved[tuple(end)] = 2 * numpy.array(walls[2 * a + side], float) - velocity[tuple(end)]
        gradient.append(0.5 * (ahead - behind))
    return numpy.stack([gradient[1][..., 2] - gradient[2][..., 1], gradient[2][..., 0] - gradient[0][..., 2],
                        gradient[0][..., 1] - gradient[1][..., 0]], axis=-1)


def cut(array, lo, hi, stride=1):
    return array[lo[2]:hi[2]:stride, lo[1]:hi[1]:stride, lo[0]:hi[0]:stride]


def near(what, found, expected, tolerance):
    error = abs(found - expected).max()
    check(found.shape == expected.shape and error <= tolerance, f"{what}: off by {error:.2g} (at most {tolerance:.2g})")


def check_fields(name, result):
    dx, dt, _ = UNITS.get(name, (1, 1, 1))
    for field, (lo, hi, stride) in REGIONS.items():
        for step in range(0, STEPS + 1, 1 if field == "all" else 7):
            whole, own = result.files[f"all_{step:010}.vtkhdf"], result.files[f"{field}_{step:010}.vtkhdf"]
            good = all(numpy.array_equal(cut(whole[a], lo, hi, stride), own[a])
                       for a in ("velocity", "density", "pressure", "vorticity", "tags"))
            size = own["tags"].shape[::-1]
            thin = 0.5 * stride * (numpy.array(size) == 1)  # there are points on both faces of such a layer
            good &= numpy.allclose(own["header Origin"], (numpy.array(lo) + 0.5 - thin) * dx, rtol=1e-14, atol=1e-14 * dx)
            good &= numpy.allclose(own["header Spacing"], stride * dx, rtol=1e-14)
            last = [max(n, 2) - 1 for n in size]
            good &= list(own["header WholeExtent"]) == [0, last[0], 0, last[1], 0, last[2]]
            if not good or step == 21:
                check(good, f"{name}, {field} at step {step}: a slice of the whole, {size}")
    rows = result.series.decode().splitlines()[1:]
    worst_curl = worst_sum = 0
    for step in range(STEPS + 1):
        whole = result.files[f"all_{step:010}.vtkhdf"]
        own = whole["vorticity"] * dt
        expected = vorticity(whole["velocity"] * dt / dx, WALLS[name])
        worst_curl = max(worst_curl, abs(own - expected).max() / abs(expected).max() if expected.any() else abs(own).max())
        total = (0.5 * whole["vorticity"]**2).sum() * dx**3
        worst_sum = max(worst_sum, abs(float(rows[step].split(",")[2]) - total) / total if total else 0)
    # without units nothing is rounded on the way: to the bit
    limit = 2e-15 if name in UNITS else 0
    check(worst_curl <= limit, f"{name}: vorticity is that of the velocity: off by {worst_curl:.2g} (at most {limit:.2g})")
    check(worst_sum <= 1e-13, f"{name}: enstrophy is its sum: off by {worst_sum:.2g}")
    check(abs(whole["vorticity"]).min(axis=(0, 1, 2)).max() < abs(whole["vorticity"]).max(), f"{name}: vorticity varies")
    for array in "velocity", "vorticity":
        narrow = result.files[f"narrow_{STEPS:010}.vtkhdf"][array]
        check(narrow.dtype == numpy.float32 and numpy.array_equal(narrow, whole[array].astype(numpy.float32)),
              f"{name}: {array} in fp32 is that in fp64, rounded")


def check_averages(name, result):
    """To the round-off of a sum of a dozen terms of the size of the largest."""
    for average, (lo, hi, first, last, every, of) in AVERAGES.items():
        steps = [s for s in range(0, STEPS + 1, every) if first <= s <= last]
        file = result.files[f"{average}_{last:010}.vtkhdf"]
        u = numpy.stack([cut(result.files[f"all_{s:010}.vtkhdf"]["velocity"], lo, hi) for s in steps])
        rho = numpy.stack([cut(result.files[f"all_{s:010}.vtkhdf"]["density"], lo, hi) for s in steps])
        found = [int(file["provenance " + k]) for k in ("samples", "first_step", "last_step", "step")]
        check(found == [len(steps), steps[0], steps[-1], last], f"{name}, {average}: samples, steps {found}")
        arrays = {"velocity": "velocity_mean", "density": "density_mean", "stress": "reynolds_stress"}
        check({a for a in file if " " not in a} == {arrays[a] for a in arrays if a in of}, f"{name}, {average}: arrays")
        mean, scale = u.mean(axis=0), abs(u).max()
        if "velocity" in of:
            near(f"{name}, {average}: mean velocity", file["velocity_mean"], mean, 1e-14 * scale)
        if "density" in of:
            near(f"{name}, {average}: mean density", file["density_mean"], rho.mean(axis=0), 1e-14 * rho.max())
        if "stress" in of:
            off = u - mean
            pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
            expected = numpy.stack([(off[..., i] * off[..., j]).mean(axis=0) for i, j in pairs], axis=-1)
            check(expected.any() == (len(steps) > 1), f"{name}, {average}: {len(steps)} samples have stresses")
            near(f"{name}, {average}: stresses", file["reynolds_stress"], expected, 1e-14 * scale * max(abs(off).max(), 1e-300))
    check(not any(f.startswith(tuple(a + "_0" for a in AVERAGES)) and int(f.split("_")[1][:10]) not in
                  (v[3] for v in AVERAGES.values()) for f in result.files), f"{name}: averages are written once")


def check_order():
    """u = U (-cos kx sin ky, sin kx cos ky, 0), k = 2 pi / n: curl u = 2 U k cos kx cos ky along z."""
    speed, errors = 0.05, []
    for n in 16, 32, 64:
        case = write(f"green_{n}.yaml", f"""\
domain:  {{cells: [{n}, {n}, 1]}}
fluid:   {{viscosity: 0.01, velocity: {speed}, length: {n}}}
solver:  {{storage: fp64, arithmetic: fp64}}
initial: {{flow: taylor_green_2d}}
faces:   {{x: periodic, y: periodic, z: periodic}}
run:     {{steps: 1}}
output:  {{fields: {{all: {{every: 1, of: [velocity, vorticity], precision: fp64}}}}}}
""")
        said = tagflow("run", case, "--output", f"green_{n}", ranks=2)
        if not check(said.code == 0, f"Taylor-Green vortices, {n} cells: {said}"):
            return
        found = runs.snapshot(f"green_{n}/fields/all_0000000000.vtkhdf")["vorticity"]
        k = 2 * numpy.pi / n
        wave = numpy.cos(k * (numpy.arange(n) + 0.5))
        curl = 2 * speed * k * wave[:, None] * wave
        errors.append(abs(found[0, :, :, 2] - curl).max() / abs(curl).max())
        check(abs(found[..., :2]).max() < 1e-15, f"{n} cells: none along x and y")
        # Differences of a wave: sin(k)/k in place of 1. Round-off of u over that of its difference: 1e-16/k.
        expected = 1 - numpy.sin(k) / k
        check(abs(errors[-1] - expected) < 1e-14, f"{n} cells: error of vorticity {errors[-1]:.6g}, by theory {expected:.6g}")
    orders = [float(numpy.log2(errors[i] / errors[i + 1])) for i in range(2)]
    # k^2/6 - k^4/120 ..: 0.008 below 2 from 16 to 32 cells.
    check(all(abs(order - 2) < 0.01 for order in orders), f"order of the error: {orders[0]:.4f}, {orders[1]:.4f}")


check_order()
for number, (name, text) in enumerate(CASES.items()):
    case = write(name + ".yaml", text + output(UNITS.get(name, (1,))[0]))
    first, why = run(case, name, {}, 0)
    if not check(first is not None, f"{name}: {why or first.hash}"):
        continue
    check_fields(name, first)
    check_averages(name, first)
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for ranks, blocks in runs.some(CUTS[number % 2::2], 2):  # each cut in every second case
            what = f"{ranks} ranks" + (f", {blocks}" if blocks else "")
            settings = {"run.ranks": list(blocks)} if blocks else {}
            jobs[what] = pool.submit(run, case, f"{name}_{len(jobs)}", settings, ranks)
    jobs["3 threads"] = None
    for what, job in jobs.items():
        other, why = job.result() if job else run(case, name + "_threads", {"run.threads": 3}, 0)
        wrong = why or "; ".join(other.differs(first))
        check(not wrong, f"{name}, {what}: {wrong or 'the same'}")

runs.finish()
