#!/usr/bin/python3
"""Wrong usage and wrong cases: exit status 2, one line of ours that says what is wrong, and nothing written.

Each row below is a mistake and words that its message must hold. A part of them runs again under mpirun,
where there must still be one line.
"""
import concurrent.futures
import os
import tempfile
import zlib

import h5py
import numpy

import runs
from runs import CASE, check, tagflow, write

CHANNEL = """\
units:    {dx: 5 mm, dt: 1 ms, density: 1 kg/m3}
domain:   {size: [0.25 m, 0.04 m, 0.04 m]}
fluid:    {viscosity: 1e-3 m2/s, velocity: 0.2 m/s, length: 0.1 m}
solver:   {collision: trt, storage: fp64, arithmetic: fp64}
faces:
  x: periodic
  y: wall
  z: wall
force:    {acceleration: [0.04 m/s2, 0, 0]}
run:      {duration: 0.05 s}
output:
  series: {flow: {every: 0.01 s, of: [mass, max_velocity]}}
"""


def line(old, new, case=CASE):
    assert old in case
    return case.replace(old, new)


def after(addition, case=CASE):
    return case + addition


def run(keys):
    return line("steps: 20", "steps: 20, " + keys)


def outlets(one, other, inlet="{velocity: {value: [0.02, 0, 0]}}"):
    """A case with an inlet, a face and a patch."""
    case = line("  x: wall", f"  xmin: {inlet}\n  xmax: {one}")
    other = other if other.startswith("{") else f"{{{other}: {{}}}}"
    return after(f"patches: {{p: {{face: ymin, rectangle: {{from: [4, 0], to: [9, 4]}}, {other[1:-1]}}}}}\n", case)


def series(keys):
    return line("of: [mass, kinetic_energy, enstrophy, max_velocity]", keys)


def field(keys):
    return line("of: [velocity, density, pressure, tags]", "of: velocity, " + keys)


def average(entries):
    return after(f"  averages: {{{entries}}}\n")


def face(text):
    """xmin, which has 12 x 4 cells, opposite an outlet."""
    return line("  x: wall", "  xmin: " + text + "\n  xmax: pressure")


def inlet(keys):
    return face("{velocity: {value: [0.05, 0, 0], " + keys + "}}")


def patch(text):
    return after("patches:\n  p: {face: xmin, " + text + "}\n")


def region(keys):
    return after("regions:\n  r: {" + keys + "}\n")


def body(text):
    return after("bodies:\n  b: {" + text + "}\n")


BALL = "shape: {sphere: {center: [6, 6, 2], radius: 3}}, "


def drag(keys):
    """Of the forces on that ball."""
    return after("bodies:\n  b: {" + BALL + "wall: halfway}\n", series("of: forces, " + keys))


def mesh(file, keys="size: 4, center: [6, 6, 2]"):
    return body(f"mesh: {{file: {file}, {keys}}}")


def force(text):
    """Along x, which is periodic."""
    return after("force: " + text + "\n", line("  x: wall", "  x: periodic"))


def given(name, content):
    """A file that a case may name, beside none of the cases."""
    write(os.path.join("given", name), content)
    return os.path.join(runs.WORK, "given", name)


os.makedirs("given", exist_ok=True)
GOOD = given("good.csv", "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1\n" * 4)
SHORT = given("short.csv", "1, 1, 1, 1\n" * 12)
WORDS = given("words.csv", "y, z, factor\n0, 0, 1\n")
NAN = given("nan.csv", "1, nan, 1\n")
FACET = "facet normal 0 0 0 outer loop vertex {} vertex {} vertex {} endloop endfacet\n"
SIDES = [FACET.format(*c) for c in (("0 0 0", "0 1 0", "1 0 0"), ("0 0 0", "1 0 0", "0 0 1"),
                                    ("0 0 0", "0 0 1", "0 1 0"), ("1 0 0", "0 1 0", "0 0 1"))]
CLOSED = given("closed.stl", "solid\n" + "".join(SIDES) + "endsolid\n")
OPEN = given("open.stl", "solid\n" + "".join(SIDES[1:]) + "endsolid\n")
CUT = given("cut.stl", "solid\n" + SIDES[0] + SIDES[1][:50])
FLAT = given("flat.stl", "solid\n" + SIDES[0] + FACET.format("0 0 0", "1 0 0", "0 1 0") + "endsolid\n")
EMPTY = given("empty.stl", "")
HDF5 = given("broken.h5", b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
BACK = given("back.csv", "0 0\n10 1\n5 0\n")
FAST = given("fast.csv", "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4\n" * 4)
THREE = given("three.csv", "0 1 2\n5 1 2\n")
RAGGED = given("ragged.csv", "1, 2\n1\n")
LARGE = given("large.csv", "1, 1e999\n")
NOTHING = given("nothing.csv", "# none\n")
TURNED = given("turned.png", runs.grey_png(numpy.full((12, 4), 255)))
BLACK = given("black.png", runs.grey_png(numpy.zeros((4, 12))))
PIPE = os.path.join(runs.WORK, "given", "pipe")
os.mkfifo(PIPE)
HUGE = given("huge.csv", "")
os.truncate(HUGE, 3 << 30)  # of which the disk holds nothing


RAW = given("rock.raw", bytes(k % 3 for k in range(4 * 4 * 4)))


def image(keys, file=RAW):
    """Of 4 x 4 x 4 voxels, labels 0 to 2, in 16 x 12 x 4 cells."""
    return after(f"bodies:\n  rock: {{image: {{file: {file}, {keys}}}}}\n")


MANY = given("many.raw", bytes(range(64)))


def labels(keys, file=RAW, scalars="scalars: {t: {diffusivity: 0.1}}\n", more=""):
    """The same with conditions of labels; 1 and 2 are solid."""
    return after(f"{scalars}bodies:\n  rock: {{image: {{file: {file}, size: [4, 4, 4], solid: [1, 2]}}, labels: {{{keys}}}{more}}}\n")


def hdf5(name, **datasets):
    path = os.path.join(runs.WORK, "given", name)
    with h5py.File(path, "w") as file:
        for key, values in datasets.items():
            file[key] = values
    return path


LABELS = hdf5("labels.h5", labels=numpy.ones((4, 4, 4), "u1"), flat=numpy.ones((4, 4), "u1"), real=numpy.full((4, 4, 4), 0.5))
# The other ways in which HDF5 keeps values, or does not: elsewhere, packed by who knows whom, in chunks of any size.
ELSEWHERE = os.path.join(runs.WORK, "given", "elsewhere.h5")
with h5py.File(ELSEWHERE, "w") as file:
    file.create_dataset("external", (4, 4, 4), "u1", external=[(RAW, 0, 64)])
    source = h5py.VirtualSource(LABELS, "labels", shape=(4, 4, 4))
    layout = h5py.VirtualLayout((4, 4, 4), "u1")
    layout[...] = source
    file.create_virtual_dataset("virtual", layout)
    file["link"] = h5py.ExternalLink(LABELS, "labels")
    file.create_dataset("large", (4, 4, 4), "u1", maxshape=(None, None, None), chunks=(1024, 1024, 1025))
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((4, 4, 4))
    how.set_filter(305, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    h5py.h5d.create(file.id, b"packed", h5py.h5t.NATIVE_UINT8, h5py.h5s.create_simple((4, 4, 4)), how)
    # a small chunk that is unpacked to 4 GiB
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((4, 4, 4))
    how.set_deflate(1)
    how.set_deflate(1)
    bomb = h5py.h5d.create(file.id, b"bomb", h5py.h5t.NATIVE_UINT8, h5py.h5s.create_simple((4, 4, 4)), how)
    pack = zlib.compressobj(9)
    packed = b"".join(pack.compress(bytes(1 << 24)) for _ in range(256)) + pack.flush()
    bomb.write_direct_chunk((0, 0, 0), zlib.compress(packed))
# libhdf5 1.10 crashes on it; found by changing bytes of a good one.
DAMAGED = os.path.join(runs.ROOT, "tests", "robustness", "damaged.h5")
CUT_TIFF = given("cut.tif", b"II*\0\x08\0\0\0")


TABLES = hdf5("tables.h5", profile=numpy.ones((12, 4)), three=numpy.ones((4, 12, 2)), line=numpy.ones(48), text=b"text",
              nan=numpy.full((4, 12), numpy.nan), complex=numpy.ones((4, 12), complex), none=numpy.ones((0, 12)))

# Contents of case.yaml, words of the message. `case.yaml:LINE:COLUMN` must be in it, too, if given.
CASES = [
    # keys
    (line("viscosity", "viscosty"), "case.yaml:2:11", "unknown key", "did you mean fluid.viscosity?"),
    (after("nonsense: 1\n"), "case.yaml:15:1", "unknown key 'nonsense'"),
    (line("{every: 10, of: speed}", "{every: 10, of: speed, axs: z}"), "did you mean output.images.mid.axis?"),
    (line("steps: 20", "steps: 20, steps: 30"), "case.yaml:8:22", "twice"),
    (after("run: {steps: 3}\n"), "case.yaml:15:1", "twice", "line 8"),
    (line("x: wall", "x: wall\n  xmin: wall"), "face xmin is named twice", "x and xmin"),
    (line("  x: wall\n", ""), "face xmin is missing"),
    (line("z: periodic", "zmin: periodic\n  zmax: wall"), "periodic"),
    (line("run:     {steps: 20}\n", ""), "run is missing"),
    (line("viscosity: 0.05", "viscosity: 0.05, reynolds: 100"), "both fluid.viscosity and fluid.reynolds"),
    (line("viscosity: 0.05, ", ""), "fluid.viscosity or fluid.reynolds is missing"),
    (after("solver: {collision: bgk, magic: 0.1}\n"), "solver.magic has no effect"),
    (after("initial: {flow: rest, amplitude: 0.1}\n"), "initial.amplitude has no effect"),
    (after("initial: {flow: taylor_green_3d}\n"), "periodic"),
    # faces, parts of them, profiles and signals
    (face("inlet"), "case.yaml:4:9", "'inlet' is none of periodic, wall, slip, velocity"),
    (face("velocity"), "which velocity?"),
    (face("{outflow: {}, slip: {}}"), "faces.xmin is both"),
    (line("  x: wall", "  xmin: periodic\n  xmax: outflow"), "xmin is periodic but xmax is not"),
    (face("{velocity: {value: [0.2, 0, 0]}}"), "case.yaml:4:28", "Mach 0.346 (at most Mach 0.3"),
    (inlet("sine: {period: 10, mean: 4, amplitude: 1}"), "0.25 cells a step"),
    (face("{velocity: {profile: duct}}"), "faces.xmin.velocity.value is missing"),
    (face("{wall: {profile: duct}}"), "unknown key 'faces.xmin.wall.profile'"),
    (face("{pressure: {density: 0}}"), "out of range (0.5 to 1.5"),
    (face("{pressure: {ramp: 10}}"), "with density 1 a variation in time has no effect"),
    (inlet("profile: turbulent"), "uniform, parabola, duct"),
    (inlet("profile: {power: -7}"), "out of range"),
    (inlet("profile: {file: missing.csv}"), "'missing.csv': No such file"),
    (inlet(f"profile: {{file: {SHORT}}}"), "has 12 lines of 4 numbers, but the face has 12 x 4 cells"),
    (inlet(f"profile: {{file: {WORDS}}}"), ":1:1: 'y' is not a number"),
    (inlet(f"profile: {{file: {NAN}}}"), ":1:4: 'nan' is not a number"),
    (inlet(f"profile: {{file: {HDF5}}}"), "cannot be read as an HDF5 file"),
    (inlet(f"profile: {{file: {GOOD}, dataset: a}}"), "no effect with a CSV file"),
    (inlet(f"profile: {{file: {GOOD}, checksum: 0000000000000000}}"), "it has changed"),
    (inlet(f"table: {{file: {BACK}}}"), "time 5 is not after the one before, 10"),
    (inlet("ramp: 1 s"), "needs units"),
    (inlet("ramp: 10, sine: {period: 10}"), "both ramp and sine"),
    (line("  x: wall", "  xmin: {velocity: {value: [0.05, 0, 0]}}\n  xmax: periodic"), "case.yaml:5:9", "xmax is periodic but xmin is not"),
    (line("  x: wall", "  x: [wall, slip]"), "faces.x is a list"),
    (face("{periodic: {}, velocity: {value: [0.05, 0, 0]}}"), "unknown key 'faces.xmin.periodic'"),
    (face("{velocity: {value: [0.05, 0, 0]}, pressure: {}}"), "case.yaml:4:43", "both velocity and pressure"),
    (face("{velocity: {value: [0.05, 0, 0], rule: [links, regularised]}}"), "rule is a list of 2"),
    (face("{velocity: {value: [nan, 0, 0]}}"), "'nan'"),
    (face("{velocity: {value: [0.1, 0.1, 0.12]}}"), "Mach 0.321"),
    (face("{wall: {velocity: [0.2, 0, 0]}}"), "case.yaml:4:27", "faces.xmin.wall.velocity", "Mach 0.346"),
    (face("{pressure: {density: -1}}"), "case.yaml:4:30: faces.xmin.pressure.density: '-1' is out of range"),
    (face("{pressure: {density: 1e-300}}"), "out of range"),
    (face("{pressure: {density: 1.4, sine: {period: 10, mean: 0, amplitude: 2}}}"), "as far as 0.8 from 1"),
    (face("{nonreflecting: {density: 0}}"), "out of range"),
    (face("{nonreflecting: {reflection: 2}}"), "out of range (0 to 1)"),
    (face("{outflow: {speed: 1}}"), "unknown key"),
    (inlet("sine: {period: 0}"), "case.yaml:4:57: faces.xmin.velocity.sine.period: '0' is out of range (at least 2"),
    (inlet("sine: {period: 1e-300}"), "out of range"),
    (inlet("sine: {period: nan}"), "'nan'"),
    (inlet("sine: {}"), "period is missing"),
    (inlet("sine: {period: 10, phase: 1e300}"), "out of range"),
    (inlet("ramp: 0"), "out of range (above 0"),
    (inlet(f"table: {{file: {THREE}}}"), "3 numbers in a line, not 2"),
    (inlet(f"table: {{file: {TABLES}}}"), "is an HDF5 file, not CSV"),
    (inlet(f"table: {{file: {PIPE}}}"), "is not a file"),
    (inlet(f"table: {{file: {BACK}, time: 0}}"), "out of range (above 0"),
    (inlet("table: {time: 1}"), "table.file is missing"),
    (inlet(f"profile: {{file: {FAST}}}"), "case.yaml:4:28", "Mach 0.346"),
    (inlet(f"profile: {{file: {RAGGED}}}"), ":2:1: a line of 1 numbers after lines of 2"),
    (inlet(f"profile: {{file: {LARGE}}}"), ":1:4: '1e999' is too large"),
    (inlet(f"profile: {{file: {NOTHING}}}"), "holds no numbers"),
    (inlet(f"profile: {{file: {PIPE}}}"), "is not a file"),
    (inlet("profile: {file: /dev/zero}"), "is not a file"),
    (inlet(f"profile: {{file: {runs.WORK}/given}}"), "Is a directory"),
    (inlet(f"profile: {{file: {HUGE}}}"), "is larger than 1024 MiB"),
    (inlet(f"profile: {{file: {TABLES}}}"), "case.yaml:4:58", "of 12 x 4, but the face has 12 x 4 cells, for which it must be of 4 x 12"),
    (inlet(f"profile: {{file: {TABLES}, dataset: three}}"), "'three' is of 4 x 12 x 2"),
    (inlet(f"profile: {{file: {TABLES}, dataset: line}}"), "does not have 2 axes"),
    (inlet(f"profile: {{file: {TABLES}, dataset: text}}"), "does not have 2 axes"),
    (inlet(f"profile: {{file: {TABLES}, dataset: nan}}"), "not a finite number"),
    (inlet(f"profile: {{file: {TABLES}, dataset: complex}}"), "does not hold numbers"),
    (inlet(f"profile: {{file: {TABLES}, dataset: none}}"), "is empty"),
    (inlet(f"profile: {{file: {TABLES}, dataset: missing}}"), "holds no dataset 'missing'"),
    (inlet(f"profile: {{file: {GOOD}, power: 7}}"), "both faces.xmin.velocity.profile.power"),
    (inlet(f"profile: {{height: {{file: {RAGGED}, axis: z}}}}"), ":2:1: a line of 1 numbers after lines of 2"),
    (inlet(f"profile: {{height: {{file: {GOOD}, axis: y}}}}"), "numbers in a line, not 2: a height and a factor"),
    (inlet("profile: {log: {axis: x, roughness: 0.1, reference: 3}}"), "x is across face xmin (y or z)"),
    (inlet("profile: {shear: {axis: z, exponent: 0.14}}"), "shear.reference is missing"),
    (mesh(OPEN), "bodies.b.mesh.file", "is open: 3 of its edges"),
    (mesh(CLOSED, "size: 4, center: [26, 6, 2]"), "bodies.b.mesh is outside of the box: it reaches from 24 to 28 along x"),
    (mesh(CLOSED, "size: 4, scale: 2"), "both bodies.b.mesh.scale and bodies.b.mesh.size"),
    (mesh(CLOSED, "center: [6, 6, 2], min: [6, 6, 2]"), "both bodies.b.mesh.center and bodies.b.mesh.min"),
    (mesh(CLOSED, "scale: 1e7"), "bodies.b.mesh reaches from [0, 0, 0] to [1e+07, 1e+07, 1e+07], which is far larger than the box"),
    (body("shape: {box: {from: [-1, -1, -1], to: [17, 13, 5]}}"), "the bodies leave no fluid cell"),
    (mesh(CLOSED, "scale: 4000"), "far larger than the box of 16 x 12 x 4 cells (1000 times smaller it would fit: is a length of 1 in the file a "
     "unit of mm, not of m?)"),
    (mesh(CLOSED, "scale: 4e-3, center: [6, 6, 2]"), "less than a cell of the box of 16 x 12 x 4 cells (1000 times larger it would fit: is a length of 1 "
     "in the file a unit of m, not of mm?)"),
    (mesh(CLOSED, "scale: 100, center: [6, 6, 2]"), "far larger than the box of 16 x 12 x 4 cells (25.4 times smaller it would fit: is a length of 1 in the "
     "file a unit of mm, not of inches?)"),
    (mesh(CLOSED, "size: 0.5, center: [6, 6, 2]"), "bodies.b holds the centre of no cell"),
    (mesh(CLOSED, "checksum: 0123456789abcdef"), "has changed"),
    (mesh(EMPTY), "is empty"),
    (mesh(CUT), "ends in the middle, in line 3"),
    (mesh(FLAT), "encloses nothing"),
    (mesh(SHORT), "and is not text"),
    (mesh("none.stl"), "No such file"),
    (body("velocity: [0, 0, 0]"), "bodies.b.shape or bodies.b.mesh or bodies.b.image is missing"),
    (body("shape: {sphere: {center: [6, 6, 2], radius: 0}}"), "is out of range (above 0"),
    (body("shape: {sphere: {center: [36, 6, 2], radius: 3}}"), "bodies.b.shape is outside of the box"),
    (body("shape: {union: {a: {sphere: {center: [6, 6, 2], radius: 3}, scale: 1e7}, b: {box: {from: [1, 1, 1], to: [3, 3, 3]}}}, scale: 1e7}"),
     "bodies.b.shape would reach from -3", "at most 1e+08 cells from 0"),
    (body("shape: {sphere: {center: [6, 6, 2], radius: 0.4}}"), "bodies.b holds the centre of no cell"),
    (body("shape: {ellipsoid: {center: [6, 6, 2], radii: [1, 0, 1]}}"), "0 along y is out of range"),
    (body("shape: {cylinder: {center: [6, 6, 2], radius: 1, axis: [0, 0, 0]}}"), "no direction"),
    (body("shape: {cylinder: {center: [6, 6, 2], radius: 1, axis: w}}"), "'w' is none of x, y, z"),
    (body("shape: {pack: {length: 4, share: 0.99}}"), "fill at most 0.965"),
    (body("shape: {pack: {length: 4}}"), "bodies.b.shape.pack.radius or bodies.b.shape.pack.share is missing"),
    (body("shape: {box: {from: [1, 1, 1], to: [3, 3, 3]}, about: [1, 1, 1]}"), "has no effect without rotate or scale"),
    (body("shape: {union: {}}"), "has no parts"),
    (body("shape: {union: {a: {box: {from: [1, 1, 1], to: [3, 3, 3]}}}}"), "has only one part"),
    (body("shape: {union: {a: {ball: {}}, b: {box: {from: [1, 1, 1], to: [3, 3, 3]}}}}"), "unknown key 'bodies.b.shape.union.a.ball'"),
    (body("shape: {intersection: {a: {box: {from: [1, 1, 1], to: [3, 3, 3]}}, b: {box: {from: [5, 1, 1], to: [7, 3, 3]}}}}"),
     "is empty: its parts do not meet along x"),
    (body("shape: {complement: {a: {box: {from: [1, 1, 1], to: [3, 3, 3]}}}, rotate: [0, 0, 9]}"), "need about"),
    (body("shape: {box: {from: [1, 1, 1], to: [3, 3, 3]}, sphere: {center: [6, 6, 2], radius: 2}}"), "is both box and sphere"),
    (body(BALL + "wall: smooth"), "'smooth' is none of halfway, interpolated"),
    (body(BALL + "velocity: [0.2, 0, 0]"), "case.yaml:16:", "bodies.b.velocity: the surface is as fast as 0.2 cells a step, Mach 0.346"),
    (body(BALL + "rotation: {about: [6, 6, 2]}"), "bodies.b.rotation.rate is missing"),
    (body(BALL + "about: [6, 6, 2]"), "unknown key 'bodies.b.about'"),
    (body(BALL + "rotation: {rate: [0, 0, 2]}"), "bodies.b.rotation.rate", "is out of range"),
    # its surface is at most 3 cells from the axis, then 6 more
    (body(BALL + "rotation: {rate: [0, 0, 0.07]}"), "bodies.b: its surface is as fast as 0.2", "at most Mach 0.3"),
    (body(BALL + "wall: interpolated, rotation: {rate: [0, 0, 0.025], about: [12, 6, 2]}"), "bodies.b: its surface is as fast as 0.2"),
    (drag("body: c"), "output.series.flow.body: there is no body 'c' (for example b)"),
    (series("of: forces, body: b"), "there is no body 'b' (bodies is empty)"),
    (drag("area: 12"), "output.series.flow.body, which of: forces needs, is missing"),
    (drag("body: b, area: 0"), "output.series.flow.area", "is out of range (above 0 in lattice units)"),
    (drag("body: b, area: -1"), "output.series.flow.area", "is out of range (above 0 in lattice units)"),
    (drag("body: b, velocity: 0"), "output.series.flow.velocity", "is out of range"),
    (drag("body: b, about: [6, 6]"), "output.series.flow.about"),
    (drag("body: [b]"), "output.series.flow.body"),
    (series("of: mass, body: b"), "output.series.flow.body", "only with of: forces"),
    (series("of: mass, area: 12"), "output.series.flow.area", "only with of: forces"),
    (patch("disc: {center: [3, 2], radius: 1}"), "patches.p does not say what it is"),
    (patch("disc: {center: [3, 2], radius: 1}, periodic: {}"), "unknown key 'patches.p.periodic'"),
    (patch("disc: {center: [3, 2], radius: 1}, velocity: {value: [0.2, 0, 0]}"), "case.yaml:16:72", "Mach 0.346"),
    (patch("disc: {center: [3, 2], radius: 1}, velocity: {value: [0.02, 0, 0], profile: duct}"), "not over a disc"),
    (patch("disc: {center: [3, 2], radius: 1}, outflow: {}, wall: {}"), "both wall and outflow"),
    (patch("disc: {center: [3, 2], radius: nan}, outflow: {}"), "'nan'"),
    (patch("disc: {center: [3, 2], radius: -2}, outflow: {}"), "out of range"),
    (patch("rectangle: {from: [4, 0], to: [20, 4]}, outflow: {}"), "'20' is outside the box (0 to 12 along y)"),
    (patch("rectangle: {from: [1, 0]}, outflow: {}"), "patches.p.rectangle.to is missing"),
    (patch("rectangle: {from: [1, 0], to: [2, 2]}, disc: {center: [3, 2], radius: 1}, outflow: {}"), "both rectangle and disc"),
    (patch(f"mask: {{file: {TURNED}}}, outflow: {{}}"), "has 4 x 12 pixels, but the face has 12 x 4 cells"),
    (patch(f"mask: {{file: {BLACK}}}, outflow: {{}}"), "has no white in it"),
    (patch(f"mask: {{file: {PIPE}}}, outflow: {{}}"), "is not a file"),
    (patch(f"mask: {{file: {HUGE}}}, outflow: {{}}"), "is larger than"),
    (after("patches: {p: {face: top, disc: {center: [3, 2], radius: 1}, slip: {}}}\n"), "'top' is none of xmin"),
    (after("patches: {p: wall}\n"), "expected a map"),
    (after("patches: []\n"), "a map from names to maps"),
    # forces and regions
    (force("{flow_rate: {velocity: 0.01, axis: y}}"), "case.yaml:15:9: force.flow_rate", "y, which is not periodic"),
    (after("force: {flow_rate: {velocity: 0.01}}\n"), "x, which is not periodic"),
    (force("{flow_rate: {axis: x}}"), "flow_rate.velocity is missing"),
    (force("{flow_rate: {velocity: 0.2}}"), "case.yaml:15:31", "out of range (-0.173 to 0.173"),
    (force("{flow_rate: {velocity: 0.01, every: 0}}"), "out of range"),
    (force("{flow_rate: {velocity: 0.01, time: 0}}"), "out of range"),
    (force("{flow_rate: {velocity: 0.01}, acceleration: [1e-6, 0, 0]}"), "no effect with force.flow_rate"),
    (force("{ramp: 10}"), "no effect without force.acceleration"),
    (force("{acceleration: [1e-6, 0, 0], sine: {period: 0}}"), "out of range (at least 2"),
    (force(f"{{acceleration: [1e-6, 0, 0], table: {{file: {BACK}}}}}"), "time 5 is not after the one before, 10"),
    (region("box: {from: [0, 0, 0], to: [17, 4, 4]}"), "case.yaml:16:35: regions.r.box.to: '17' is outside the box"),
    (region("box: {from: [-3, 0, 0]}, sponge: {towards: xmax, strength: 0.1}"), "'-3' is outside the box"),
    (region("box: {from: [4, 0, 0], to: [2, 4, 4]}"), "swap them"),
    (region("box: {from: [2.6, 0, 0], to: [3.4, 4, 4]}"), "no cell has its centre"),
    (region("viscosity: 0.1"), "regions.r.box is missing"),
    (region("box: all, viscosity: 0"), "out of range"),
    (region("box: all, collision: bgk, magic: 0.1"), "regions.r.magic has no effect"),
    (region("box: all, sponge: {towards: xmax}"), "strength is missing"),
    (region("box: all, sponge: {towards: x, strength: 0.1}"), "'x' is none of xmin"),
    (region("box: all, sponge: {towards: xmax, strength: 2}"), "out of range (above 0, at most 1"),
    (region("box: all, sponge: {towards: xmax, strength: 0.1, power: 0}"), "out of range (1 to 8"),
    (patch("outflow: {}"), "patches.p has no shape"),
    (patch("disc: {center: [30, 2], radius: 1}, outflow: {}"), "'30' is outside the box"),
    (patch("disc: {center: [3, 2], radius: 0.1}, outflow: {}"), "no cell has its centre in it"),
    (patch("rectangle: {from: [4, 0], to: [2, 4]}, outflow: {}"), "swap them"),
    (patch(f"mask: {{file: {GOOD}}}, outflow: {{}}"), "is not a PNG picture"),
    (after("patches: {p: {face: zmin, disc: {center: [3, 2], radius: 1}, slip: {}}}\n"),
     "zmin is periodic, so it can have no parts"),
    # types
    (line("steps: 20", "steps: many"), "case.yaml:8:18", "'many'", "whole number"),
    (line("steps: 20", "steps: 2.5"), "whole number"),
    (line("steps: 20", "steps: [20]"), "whole number"),
    (line("steps: 20", "steps: {a: 20}"), "run.steps"),
    (line("steps: 20", "steps: "), "run.steps"),
    (line("viscosity: 0.05", "viscosity: fast"), "'fast'", "a number"),
    (line("viscosity: 0.05", "viscosity: nan"), "'nan'"),
    (line("viscosity: 0.05", "viscosity: inf"), "'inf'"),
    (line("viscosity: 0.05", "viscosity: 0x1p-4"), "'0x1p-4'"),
    (line("viscosity: 0.05", "viscosity: 1e999"), "1e999"),
    (line("[16, 12, 4]", "[16, 12]"), "domain.cells", "three"),
    (line("[16, 12, 4]", "[16, 12, 4, 4]"), "domain.cells", "three"),
    (line("[16, 12, 4]", "16"), "domain.cells", "three"),
    (line("[16, 12, 4]", "[16, twelve, 4]"), "'twelve'"),
    (line("fluid:   {", "fluid:   [").replace("length: 16}", "length: 16]"), "fluid"),
    (line("of: speed", "of: sped"), "did you mean speed?"),
    (line("of: [mass, ", "of: [mass, mass, "), "mass"),
    (line("x: wall", "x: wal"), "did you mean wall?"),
    (line("x: wall", "x: symmetry"), "'symmetry' is none of", "(a plane of symmetry is slip)"),
    (face("{inlet: {velocity: [0.05, 0, 0]}}"), "unknown key 'faces.xmin.inlet' (an inlet is {velocity: {value:"),
    (after("temperature: 300 K\n"), "unknown key 'temperature' (a temperature is a scalar: scalars:"),
    (series("of: drag"), "'drag' is none of", "did you mean forces?"),
    (line("{main: {", "{../main: {"), "'../main'"),
    (line("{main: {", "{a/b: {"), "'a/b'"),
    (line("{main: {", "{%s: {" % ("n" * 64)), "nnn"),
    # ranges
    (line("steps: 20", "steps: 0"), "out of range"),
    (line("steps: 20", "steps: -5"), "out of range"),
    (line("steps: 20", "steps: 99999999999999999999999"), "99999999999999999999999"),
    (line("[16, 12, 4]", "[0, 12, 4]"), "out of range"),
    (line("[16, 12, 4]", "[16, 12, -4]"), "out of range"),
    (line("[16, 12, 4]", "[2147483648, 1, 1]"), "2147483648"),
    (line("[16, 12, 4]", "[4194304, 2097152, 2097152]"), "cells", "out of range"),
    (line("viscosity: 0.05", "viscosity: 0"), "out of range"),
    (line("viscosity: 0.05", "viscosity: -0.05"), "out of range"),
    (line("velocity: 0.05", "velocity: 0.9"), "out of range"),
    (line("[0.05, 0, 0]", "[0.9, 0, 0]"), "out of range"),
    (line("[0.05, 0, 0]", "[0, 0.2, 0]"), "faces.ymax.wall.velocity", "Mach 0.346"),
    (line("{every: 10, of: speed}", "{every: 0, of: speed}"), "out of range"),
    (line("{every: 10, of: speed}", "{every: 10, of: speed, at: 4}"), "output.images.mid.at"),
    (line("{every: 10, of: speed}", "{every: 10, of: speed, range: [1, 0]}"), "below"),
    (line("steps: 20", "steps: 20, threads: 0"), "out of range"),
    (line("steps: 20", "steps: 20, ranks: [17, 1, 1]"), "17 ranks along x for 16 cells"),
    (line("steps: 20", "steps: 20, ranks: [2, 2, 1]"), "4 ranks", "1 is started"),
    (line("steps: 20", "steps: 20, isa: v5"), "'v5'"),
    # what jobs need: wall times, checkpoints, stop
    (run("time_limit: 30"), "case.yaml:8:34", "'30' has no unit", "11h50m", "or none"),
    (run("time_limit: 0"), "has no unit"),
    (run("time_limit: -1 h"), "out of range", "above 0"),
    (run("time_limit: 0 s"), "out of range"),
    (run("time_limit: nan"), "'nan'", "wall time"),
    (run("time_limit: nan s"), "'nan s'", "a wall time"),
    (run("time_limit: 1e400 h"), "too large"),
    (run("time_limit: 1e300 h"), "out of range"),
    (run("time_limit: 11:60:00"), "HH:MM:SS"),
    (run("time_limit: " + "9" * 4000 + ":00"), "too large"),
    (run("time_limit: 50m11h"), "wrong order"),
    (run("time_limit: 1h30"), "without a unit"),
    (run("time_limit: 5 km"), "unknown unit", "11h50m"),
    (run("time_limit: [1 h]"), "a list of 1"),
    (run("time_limit: {}"), "a map"),
    (run("time_limit: "), "nothing"),
    (after("checkpoint: {every: -1}\n"), "case.yaml:15:21", "out of range"),
    (after("checkpoint: {every: 10000000000}\n"), "out of range"),
    (after("checkpoint: {every: 99999999999999999999999}\n"), "out of range"),
    (after("checkpoint: {every: often}\n"), "'often'", "steps or a wall time"),
    (after("checkpoint: {every: 0.5}\n"), "'0.5'"),
    (after("checkpoint: {every: [[1]]}\n"), "a list of 1"),
    (after("checkpoint: {keep: 0}\n"), "out of range"),
    (after("checkpoint: {keep: 1e400}\n"), "whole number"),
    (after("checkpoint: [1, 2]\n"), "a map"),
    (line("{every: 5}\noutput", "{hang: 600}\noutput"), "'600' has no unit"),
    (line("{every: 5}\noutput", "{hang: never}\noutput"), "'never'", "none"),
    (run("stop: {}"), "empty map"),
    (run("stop: now"), "'now'", "none or a map"),
    (run("stop: [residual]"), "none or a map"),
    (run("stop: {of: residual}"), "run.stop.change is missing"),
    (run("stop: {change: 0.1}"), "run.stop.of is missing"),
    (run("stop: {of: mass, change: 0.1}"), "'mass'"),
    (run("stop: {of: residual, change: nan}"), "'nan'"),
    (run("stop: {of: residual, change: -1}"), "out of range"),
    (run("stop: {of: residual, change: 1e400}"), "too large"),
    (run("stop: {of: residual, change: 1e-400}"), "out of range"),
    (run("stop: {of: residual, change: 0.1, every: 0}"), "out of range"),
    (run("stop: {of: residual, change: 0.1, every: 99999999999999999999}"), "out of range"),
    # series of other kinds, regions, averages
    (series("of: [probe, mass]"), "'probe' stands alone"),
    (series("of: [residual]"), "'residual' stands alone"),
    (series("of: []"), "a list of 0"),
    (series("of: {}"), "a map"),
    (series("of: flow"), "'flow' is none of"),
    (series("of: prob, point: [1, 1, 1]"), "did you mean probe?"),
    (series("of: probe"), "output.series.flow.point", "missing"),
    (series("of: mass, point: [1, 1, 1]"), "output.series.flow.point has no effect"),
    (series("of: residual, axis: x"), "output.series.flow.axis has no effect"),
    (series("of: probe, point: [1, 1, 1], points: 3"), "output.series.flow.points has no effect"),
    (series("of: probe, point: [17, 1, 1]"), "'17' is outside the box"),
    (series("of: probe, point: [1, -0.001, 1]"), "outside the box"),
    (series("of: probe, point: [1, 1, nan]"), "'nan'"),
    (series("of: probe, point: [1, 1, 1e400]"), "too large"),
    (series("of: probe, point: [1, 1, 1e300]"), "outside the box"),
    (series("of: probe, point: [1, 1, [1]]"), "a list of 1"),
    (series("of: probe, point: [1, 1]"), "a list of 2"),
    (series("of: probe, point: {x: 1}"), "a map"),
    (series("of: probe, point: [1 m, 1, 1]"), "units"),
    (series("of: line, from: [0, 0, 0], to: [0, 0, 0], points: 5"), "ends must differ"),
    (series("of: line, from: [0, 0, 0], points: 5"), "output.series.flow.to", "missing"),
    (series("of: line, from: [0, 0, 0], to: [1, 1, 1], points: 1"), "out of range"),
    (series("of: line, from: [0, 0, 0], to: [1, 1, 1], points: 100001"), "out of range"),
    (series("of: line, from: [0, 0, 0], to: [1, 1, 1], points: 99999999999999999999"), "out of range"),
    (series("of: flow_rate, at: 16"), "plane 16 is outside the box"),
    (series("of: flow_rate, axis: y, at: 12"), "plane 12 is outside the box"),
    (series("of: flow_rate, at: 99999999999999999999"), "out of range"),
    (outlets("{pressure: {share: 0.3, sine: {period: 9}, density: 1.01}}", "pressure"), "faces.xmax.pressure.share: the pressure varies in time"),
    (outlets("{pressure: {share: 0.6}}", "{pressure: {share: 0.4}}"), "patches.p.pressure.share: the shares of all outlets add up to 1 (below 1"),
    (outlets("{pressure: {share: 0.6}}", "{nonreflecting: {share: 0.3}}"),
     "patches.p.nonreflecting.share: no outlet is free to take the rest of the flow, 0.1 (leave out one share)"),
    (outlets("{pressure: {share: 0.6}}", "{wall: {}}", "pressure"), "faces.xmax.pressure.share", "no outlet is free", "the only opening without a share"),
    (outlets("{pressure: {share: 1}}", "pressure"), "faces.xmax.pressure.share: '1' is out of range"),
    (outlets("{pressure: {share: 0}}", "pressure"), "out of range"),
    (outlets("{pressure: {share: -0.3}}", "pressure"), "out of range"),
    (outlets("{pressure: {share_time: 300}}", "pressure"), "faces.xmax.pressure.share_time", "has no effect without share"),
    (outlets("{pressure: {share: 0.3, share_time: 0}}", "pressure"), "out of range"),
    (outlets("{pressure: {share: 0.3}}", "pressure", "{velocity: {value: [0.02, 0, 0], share: 0.3}}"), "unknown key 'faces.xmin.velocity.share'"),
    (outlets("{wall: {share: 0.3}}", "pressure"), "unknown key 'faces.xmax.wall.share'"),
    (outlets("{outflow: {share: 0.3}}", "pressure"), "unknown key 'faces.xmax.outflow.share'"),
    (series("of: flow_rate, second: 3"), "output.series.flow.second has no effect with of: flow_rate, only with of: pressure_drop"),
    (series("of: pressure_drop, at: 3"), "output.series.flow.second, which of: pressure_drop needs, is missing"),
    (series("of: pressure_drop, second: 3"), "output.series.flow.at, which of: pressure_drop needs, is missing"),
    (series("of: pressure_drop, at: 3, second: 16"), "plane 16 is outside the box"),
    (series("of: pressure_drop, axis: y, at: 3, second: 3"), "is the first plane, too"),
    (series("of: mixing_cup, axis: y, at: 3"), "output.series.flow.scalar, which of: mixing_cup needs, is missing"),
    (series("of: outlet"), "output.series.flow.face, patch or cap, which of: outlet needs, is missing"),
    (series("of: outlet, face: xmin"), "no flow leaves the box there, as it is of kind wall"),
    (series("of: outlet, face: zmin"), "no flow leaves the box there, as it is of kind periodic"),
    (series("of: outlet, patch: p"), "there is no patch 'p'"),
    (series("of: outlet, face: xmin, patch: p"), "both output.series.flow.face and output.series.flow.patch are given"),
    (series("of: outlet, body: b"), "output.series.flow.body has no effect"),
    (after("patches: {p: {face: xmin, disc: {center: [3, 2], radius: 1}, outflow: {}}}\n", series("of: outlet, face: xmin")),
     "no flow passes the face outside of its patches", "write `patch: p`"),
    (line("of: [mass, max_velocity]", "of: probe, point: [0.251 m, 0 m, 0 m]", CHANNEL),
     "'0.251 m', 50.2 cells, is outside the box"),
    (line("of: [mass, max_velocity]", "of: probe, point: [1 s, 0 m, 0 m]", CHANNEL), "is not a length"),
    (field("region: {}"), "empty map"),
    (field("region: none"), "'none'", "all or a map"),
    (field("region: [all]"), "all or a map"),
    (field("region: "), "nothing"),
    (field("region: {from: [2, 0, 0], to: [1, 12, 4]}"), "from 2 is above to 1 along x"),
    (field("region: {from: [1.6, 0, 0], to: [2.4, 12, 4]}"), "no cell has its centre"),
    (field("region: {from: [0, 0, 0], to: [0, 0, 0]}"), "no cell has its centre"),
    (field("region: {to: [16, 12, 4.5]}"), "outside the box"),
    (field("region: {to: [16, 12, nan]}"), "'nan'"),
    (field("region: {to: [16, 12]}"), "a list of 2"),
    (field("region: {upto: [16, 12, 4]}"), "unknown key"),
    (field("stride: 0"), "out of range"),
    (field("stride: -2"), "out of range"),
    (field("stride: 99999999999999999999"), "out of range"),
    (field("stride: [2, 2, 2]"), "a whole number"),
    (average("main: {every: 1, of: velocity}"), "have the same name"),
    (average("a: {of: velocity}"), "every is missing"),
    (average("a: {every: 1}"), "of is missing"),
    (average("a: {every: 0, of: velocity}"), "out of range"),
    (average("a: {every: 1, of: tags}"), "'tags' is none of"),
    (average("a: {every: 1, of: velocity, from: -1}"), "out of range"),
    (average("a: {every: 1, of: velocity, from: 99999999999999999999}"), "out of range"),
    (average("a: {every: 1, of: velocity, from: 21}"), "from step 21 to step 20"),
    (average("a: {every: 1, of: velocity, to: 21}"), "step 21 is after the last one, 20"),
    (average("a: {every: 1, of: velocity, from: 6, to: 5}"), "from step 6 to step 5"),
    (average("a: {every: 7, of: velocity, from: 8, to: 13}"), "no multiple of every"),
    (average("a: {every: 9999999999, of: velocity, from: 1}"), "no multiple of every"),
    (average("a: "), "nothing"),
    (average("../a: {every: 1, of: velocity}"), "'../a'"),
    (average(", ".join(f"a{i}: {{every: 1, of: velocity}}" for i in range(1024))), "at most 1024"),
    # voxel images
    (image("size: [4, 4, 5], solid: 1"), "case.yaml:16:24", "has 64 bytes, but 4 x 4 x 5 voxels of uint8 make 80"),
    (image("size: [4, 4, 4], skip: 1, solid: 1"), "has 64 bytes, but 4 x 4 x 4 voxels of uint8 after 1 bytes make 65"),
    (image("size: [4, 4, 4], type: int16, solid: 1"), "has 64 bytes, but 4 x 4 x 4 voxels of int16 make 128"),
    (image("size: [4, 4, 4], solid: [1, 3]"), "rock.image.solid: label 3 does not occur", "(it has 0, 1, 2)"),
    (image("size: [4, 4, 4], solid: [1, 1]"), "1 is named twice"),
    (labels("3: {scalars: {t: {value: 1}}}"), "case.yaml:17:", "bodies.rock.labels.3: label 3 does not occur in the image"),
    (labels("-1: {scalars: {t: {value: 1}}}"), "bodies.rock.labels.-1: label -1 does not occur in the image"),
    (labels("0: {scalars: {t: {value: 1}}}"), "bodies.rock.labels.0: the voxels with label 0 are fluid", "image.solid"),
    (labels("1: {scalars: {u: {value: 1}}}"), "bodies.rock.labels.1.scalars.u", "there is no scalar 'u'"),
    (labels("1: {scalars: {}}"), "bodies.rock.labels.1 gives no condition"),
    (labels("1: {}"), "bodies.rock.labels.1 gives no condition"),
    (labels("1: {scalars: {t: adiabatic}}, 1: {scalars: {t: {value: 1}}}"), "key '1' is given twice"),
    (labels("1: {scalars: {t: adiabatic}}, 01: {scalars: {t: {value: 1}}}"), "bodies.rock.labels.01", "not the number of a label"),
    (labels("1: {scalars: {t: {value: 1}}, solid: 2}"), "unknown key 'bodies.rock.labels.1.solid'"),
    (labels("1: {scalars: {t: {conduct: {conductivity: 1}}}}", more=", velocity: [0.01, 0, 0]"), "rock.labels.1.scalars.t", "its surface moves"),
    (labels("1: {scalars: {t: {value: 1}}}", more="}\n  over: {shape: {box: {from: [0, 0, 0], to: [4, 4, 4]}}"),
     "bodies.rock has no cell left"),
    (labels("1: {scalars: {t: {value: 1}}}", file=given("corner.raw", bytes([1] + 63 * [2])), more="}\n  over: {shape: {box: {from: [0, 0, 0], to: [1, 1, 1]}}"),
     "bodies.rock.labels.1 has no cell left"),
    (labels("1: {scalars: {t: {value: 1}}}", scalars=""), "bodies.rock.labels.1.scalars.t.value has no effect in this case"),
    (labels(", ".join(f"{k}: {{scalars: {{t: {{value: 1}}}}}}" for k in range(1, 66)), file=MANY), "bodies.rock.labels has 65 entries (at most 64)"),
    (after("scalars: {t: {diffusivity: 0.1}}\nbodies:\n" + "".join(
        f"  rock{n}: {{image: {{file: {MANY}, size: [4, 4, 4], solid: {list(range(1, 64))}, at: [{4 * n}, 0, 0]}}, labels: {{"
        + ", ".join(f"{k}: {{scalars: {{t: {{value: 1}}}}}}" for k in range(1, 63)) + "}}\n" for n in range(2))),
     "bodies.rock1: faces, their parts, bodies and their labels together make more than 128 kinds of cells"),
    (body("shape: {sphere: {center: [4, 4, 2], radius: 1}}, labels: {1: {scalars: {t: {value: 1}}}}"), "bodies.b.labels has no effect without an image"),
    (image("size: [4, 4, 4], solid: []"), "a list of 0", "a whole number or a list of them"),
    (image("size: [4, 4, 4], solid: grain"), "'grain'", "a whole number"),
    (image("size: [4, 4, 4], solid: 70000"), "'70000' is out of range (-32768 to 65535)"),
    (image("size: [4, 4, 4]"), "bodies.rock.image.solid is missing"),
    (image("size: [4, 4], solid: 1"), "a list of 2"),
    (image("size: [4, 4, 0], solid: 1"), "out of range"),
    (image("size: [4, 4, 4], type: uint24, solid: 1"), "'uint24' is none of uint8, int8, uint16, int16"),
    (image("size: [4, 4, 4], order: middle, solid: 1"), "'middle' is none of little, big"),
    (image("size: [4, 4, 4], solid: 1, at: [13, 0, 0]"), "reaches 1 cells beyond xmax: its 4 voxels along x begin in cell 13, and the box has 16"),
    (image("size: [4, 4, 4], solid: 1, at: [-1, 0, 0]"), "out of range"),
    (image("size: [4, 4, 4], solid: 1, crop: {to: [4, 5, 4]}"), "to 5 along y is beyond the image, which has 4 x 4 x 4 voxels"),
    (image("size: [4, 4, 4], solid: 1, crop: {from: [0, 0, 4]}"), "from 4 is not below to 4 along z"),
    (image("size: [4, 4, 4], solid: 1, flip: [w]"), "'w' is none of x, y, z"),
    (image("size: [4, 4, 4], solid: 1, isolated: drop"), "'drop' is none of keep, fill"),
    (image("size: [4, 4, 4], solid: 1, checksum: 0123456789abcdef"), "'0123456789abcdef', but that of the file is now"),
    (image("size: [4, 4, 4], dataset: labels, solid: 1"), "image.dataset has no effect with a size"),
    (image("type: uint8, solid: 1"), "image.type has no effect with a TIFF stack"),
    (image("solid: 1"), "rock.raw' is not a TIFF file"),
    (image("dataset: labels, solid: 1"), "rock.raw' cannot be read as an HDF5 file"),
    (image("dataset: other, solid: 1", LABELS), "labels.h5' holds no dataset 'other'"),
    (image("dataset: labels, skip: 4, solid: 1", LABELS), "image.skip has no effect with a dataset"),
    (image("dataset: flat, solid: 1", LABELS), "its dataset 'flat' has 2 axes, not 3"),
    (image("dataset: real, solid: 1", LABELS), "labels.h5': one of its voxels is 0.5, which is no label (whole numbers from -32768 to 65535"),
    (image("dataset: labels, solid: 1", HDF5), "broken.h5' cannot be read as an HDF5 file"),
    (image("dataset: external, solid: 1", ELSEWHERE), "its dataset 'external' has its values in another, external file"),
    (image("dataset: virtual, solid: 1", ELSEWHERE), "its dataset 'virtual' is virtual"),
    (image("dataset: link, solid: 1", ELSEWHERE), "its dataset 'link' is 'labels' in another file", "(name that)"),
    (image("dataset: packed, solid: 1", ELSEWHERE), "its dataset 'packed' is packed with filter 305"),
    (image("dataset: large, solid: 1", ELSEWHERE), "its dataset 'large' has chunks of 1025 MiB", "at most 1024"),
    (image("dataset: bomb, solid: 1", ELSEWHERE), "bodies.rock.image"),  # memory has no limit under the address sanitizer
    (line("[16, 12, 4]", "[16, 12, 8]", image("dataset: labels, solid: 1", DAMAGED)), "damaged.h5'", "HDF5"),
    (inlet(f"profile: {{file: {DAMAGED}, dataset: labels}}"), "damaged.h5'", "HDF5"),
    (inlet(f"profile: {{file: {ELSEWHERE}, dataset: external}}"), "external file"),
    (image("solid: 1", CUT_TIFF), "cut.tif' is not a TIFF file"),
    (image("size: [4, 4, 4], solid: 1", PIPE), "is a device or a pipe, not a file"),
    (image("size: [4, 4, 4], solid: 1", "none.raw"), "'none.raw': No such file or directory"),
    (image("size: [1000000, 1000000, 1000000], type: int16, solid: 1"), "make 2000000000000000000"),
    # units
    (line("viscosity: 0.05", "viscosity: 1e-3 m2/s"), "units"),
    (line("velocity: 0.05", "velocity: 0.05 m/s"), "units"),
    (line("1e-3 m2/s", "1e-3 m/s", CHANNEL), "'1e-3 m/s'", "viscosity"),
    (line("1e-3 m2/s", "1e-3 m2/sec", CHANNEL), "'1e-3 m2/sec' has an unknown unit (write 1e-3 m2/s)"),
    (line("1e-3 m2/s", "1e-3 Pa s", CHANNEL), "'1e-3 Pa s' is a dynamic viscosity", "divide it by the density"),
    (line("1e-3 m2/s", "1e-3 parsec", CHANNEL), "unknown unit (known: m cm"),
    (line("0.04 m/s2", "16 Pa", CHANNEL), "'16 Pa' is a pressure, not an acceleration (divide it by density and length)"),
    (line("[0.25 m,", "[0.252 m,", CHANNEL), "no whole number"),
    (line("[0.25 m,", "[1e30 m,", CHANNEL), "at most"),
    (line("dt: 1 ms", "dt: 1 s", CHANNEL), "out of range"),
    (line("dt: 1 ms", "dt: 1", CHANNEL), "units.dt"),
    (line("dt: 1 ms, ", "", CHANNEL), "units.density has no effect where no unit of time is given"),
    (line("domain:", "units: {dx: 1 mm}\ndomain:").replace("viscosity: 0.05", "viscosity: 1 m2/s"), "has a unit, which needs units"),
    (line("dx: 5 mm, ", "", CHANNEL), "units.dx is missing"),
    (line("dx: 5 mm", "dx: 0 mm", CHANNEL), "'0 mm' is out of range (above 0)"),
    (line("dt: 1 ms", "dt: 1 ms, velocity: {physical: 1 m/s, lattice: 0.1}", CHANNEL), "both units.dt and units.velocity"),
    (line("duration: 0.05 s", "duration: 1e30 s", CHANNEL), "steps"),
    (line("duration: 0.05 s", "duration: 0.05 s, steps: 50", CHANNEL), "both"),
    (line("size: [0.25 m, 0.04 m, 0.04 m]", "cells: [50, 8, 8], size: [0.25 m, 0.04 m, 0.04 m]", CHANNEL), "both"),
    # not YAML, or more than a case may have
    ("", "empty"),
    ("# nothing\n", "empty"),
    ("just text\n", "not a case"),
    ("- a\n- list\n", "not a case"),
    ("domain: {cells: [16, 12, 4]\nfluid: }\n", "not YAML"),
    ("\tdomain: 1\n", "case.yaml:1:1", "not YAML"),
    (b"domain: \xff\xfe\n", "not YAML"),
    (b"\x7fELF\x02\x01\x00\x00", "case.yaml:1:7", "NUL"),
    (after("---\na: 1\n"), "second document"),
    (line("{steps: 20}", "&a {steps: 20}"), "anchors"),
    (after("initial: *a\n"), "aliases"),
    (line("steps: 20", "steps: !!int 20"), "tags"),
    (after("? [a, b]\n: 1\n"), "key"),
    ("{a: " * 30000, "deep"),
    ("a: " + "[" * 50000, "deep"),
    ("# long\n" * 200000, "bytes"),
    (b"a" * (17 << 20), "larger"),
]

# Arguments behind the command, words of the message; case.yaml is sound.
ARGUMENTS = [
    (["run"], "which case?"),
    (["check"], "which case?"),
    (["run", "missing.yaml"], "missing.yaml", "No such file"),
    (["run", "missing/case.yaml"], "No such file"),
    (["run", "case.yaml/x"], "Not a directory"),
    (["run", "."], "is a folder"),
    (["run", ""], "No such file"),
    (["run", "/dev/null"], "empty"),
    (["run", "case.yaml", "other.yaml"], "other.yaml is not known here"),
    (["run", "case.yaml", "--outptu", "x"], "did you mean --output?"),
    (["run", "case.yaml", "-x"], "-x is not known here"),
    (["check", "case.yaml", "--output", "x"], "--output is not known here"),
    (["run", "case.yaml", "--set"], "--set needs a value"),
    (["run", "case.yaml", "--output"], "--output needs a value"),
    (["run", "case.yaml", "--output", "--overwrite"], "--output needs a value"),
    (["run", "case.yaml", "--output="], "--output"),
    (["run", "case.yaml", "--backend"], "--backend needs a value"),
    (["run", "case.yaml", "--backend", "abacus"], "auto, cpu or cuda"),
    (["check", "case.yaml", "--ranks"], "--ranks needs a value"),
    (["check", "case.yaml", "--ranks", "0"], "--ranks 0"),
    (["check", "case.yaml", "--ranks", "-1"], "--ranks -1"),
    (["check", "case.yaml", "--ranks", "two"], "--ranks two"),
    (["check", "case.yaml", "--ranks", "1e9"], "--ranks 1e9"),
    (["check", "case.yaml", "--ranks", "99999999999999999999"], "--ranks 9999"),
    (["check", "case.yaml", "--ranks", "100000"], "100000 ranks cannot be placed"),
    (["check", "case.yaml", "--ranks", "17"], "17 ranks cannot be placed"),
    (["run", "case.yaml", "--set", "run.stepps=3"], "--set 'run.stepps=3'", "did you mean run.steps?"),
    (["run", "case.yaml", "--set", "nonsense=3"], "unknown key 'nonsense'"),
    (["run", "case.yaml", "--set", "run.steps.more=3"], "run.steps.more"),
    (["run", "case.yaml", "--set", "run.steps"], "expected PATH=VALUE"),
    (["run", "case.yaml", "--set", "=3"], "expected PATH=VALUE"),
    (["run", "case.yaml", "--set", ""], "expected PATH=VALUE"),
    (["run", "case.yaml", "--set", "run.steps="], "no value"),
    (["run", "case.yaml", "--set", "run.steps=[1"], "not YAML"),
    (["run", "case.yaml", "--set", "run.steps=0"], "out of range"),
    (["run", "case.yaml", "--set", "run.steps=a\nb"], "run.steps"),
    (["run", "case.yaml", "--set", "run..steps=3"], "run..steps"),
    (["run", "case.yaml", "--set", "fluid.reynolds=100"], "both fluid.viscosity and fluid.reynolds"),
    (["run", "case.yaml", "--set", "faces.xmin=wall"], "named twice"),
    (["run", "case.yaml", "--set", "output.series.flow=3"], "output.series.flow"),
    (["run", "case.yaml", "--set", "output.images.new.of=speed"], "every"),
    (["run", "case.yaml", "--set", "run.time_limit=30"], "--set 'run.time_limit=30'", "has no unit"),
    (["run", "case.yaml", "--set", "run.stop.of=residual"], "run.stop.change is missing"),
    (["run", "case.yaml", "--set", "output.fields.main.region.to=[0, 0, 0]"], "no cell has its centre"),
    (["run", "case.yaml", "--set", "output.fields.main.region.to.x=3"], "unknown key"),
    (["run", "case.yaml", "--set", "output.averages.main={every: 1, of: velocity}"], "have the same name"),
    (["run", "case.yaml", "--set", "x" * 5000 + "=1"], "too long"),
    (["run", "case.yaml", "--set", "run.steps=" + "9" * 5000], "run.steps"),
    (["run", "case.yaml"] + ["--set", "run.steps=1"] * 300, "--set"),
    (["keys", "nonsense"], "nonsense"),
    (["keys", "outlets"], "no key starts with outlets"),
    (["keys", "lift"], "forces are a series: output:"),
    (["keys", "--search"], "--search needs a word"),
    (["keys", "--search", "viscousity"], "no key is found for 'viscousity' (did you mean viscosity?)"),
    (["keys", "--search", "outlet", "qqqq"], "no key is found for 'qqqq'"),
    (["keys", "--search", "outlet", "magic"], "for all 2 words together"),
    (["keys", "--search", "free", "surface"], "no key is found: one fluid fills the box"),
    (["keys", "--search", "!"], "there is no word to search for"),
    (["keys", "--search", "qqqq outlet"], "no key is found for 'qqqq'"),
    (["keys", "--serch", "outlet"], "did you mean --search?"),
    (["keys", "fluid", "more"], "more is not known here"),
    (["info", "missing.h5"], "missing.h5 is no good: it cannot be opened"),
    (["info", "a", "more"], "more is not known here"),
    (["info", "--more"], "--more is not known here"),
    (["rum"], "did you mean run?"),
    (["nonsense"], "nonsense is not a command"),
    ([""], "is not a command"),
    (["--nonsense"], "--nonsense is not a command"),
]


def attempt(arguments, words, ranks=0, case=CASE):
    """Runs it in a folder that holds case.yaml alone; what is wrong with how it ended, and its message."""
    with tempfile.TemporaryDirectory(dir=runs.WORK) as folder:
        write(os.path.join(folder, "case.yaml"), case)
        said = tagflow(*arguments, ranks=ranks, cwd=folder)
        wrong = [] if said.code == 2 else [f"exit status {said.code}"]
        if len(said.errors) != 1:
            wrong.append(f"{len(said.errors)} lines: {said.err[:300]!r}")
        if not ranks and len(said.err.splitlines()) != len(said.lines):
            wrong.append("lines that are not ours")
        if arguments[0] == "run" and said.out:
            wrong.append("something on stdout")
        wrong += [f"no {word!r}" for word in words if word not in said.err]
        if runs.tree(folder) != ["case.yaml"]:
            wrong.append(f"wrote {runs.tree(folder)}")
        return wrong, said.errors[0] if said.errors else ""


def show(what, result):
    wrong, message = result
    what = what if len(what) < 70 else what[:67] + "..."
    check(not wrong, f"{what!r}: {'; '.join(wrong) + ': ' if wrong else ''}{message[:200]}")


with concurrent.futures.ThreadPoolExecutor(4) as pool:  # starting MPI is waiting mostly
    jobs = [(" ".join(arguments), pool.submit(attempt, arguments, words)) for arguments, *words in ARGUMENTS]
    for case, *words in runs.some(CASES, 2):
        text = case if isinstance(case, str) else repr(case[:20])
        base = CHANNEL if "units:" in text else CASE
        changed = [part for part in text[:3000].splitlines() if part not in base.splitlines()]
        # `check` must say the same as `run`, but for what only starting tells
        commands = ["run" if "1 is started" in words or len(jobs) % 2 else "check"]
        if "bodies:" in text:  # some of it is known when the cells in them are
            commands = ["run", "check"]
        jobs += [(changed[0] if changed else "lines missing",
                  pool.submit(attempt, [command, "case.yaml"], words, case=case)) for command in commands]
    for what, job in jobs:
        show(what, job.result())

for arguments, *words in [(["run", "case.yaml", "--set", "run.stepps=3"], "did you mean run.steps?"),
                          (["run", "missing.yaml"], "No such file"),
                          (["run", "case.yaml", "--nonsense"], "--nonsense is not known here"),
                          (["run", "case.yaml", "--set", "run.ranks=[2, 1, 1]"], "makes 2 ranks, but 3 are started"),
                          (["run", "case.yaml", "--set", "domain.cells=[2, 1, 1]"], "3 ranks cannot be placed"),
                          (["run", "case.yaml", "--output", "case.yaml"], "not a folder"),
                          (["run", "case.yaml", "--set",
                            f"bodies.r.image={{file: {RAW}, size: [4, 4, 4], solid: [7]}}"],
                           "label 7 does not occur"),
                          (["run", "case.yaml", "--set",
                            f"bodies.r.image={{file: {RAW}, size: [4, 4, 3], solid: [1]}}"],
                           "has 64 bytes"),
                          (["run", "case.yaml", "--set",
                            f"bodies.r.image={{file: {DAMAGED}, dataset: labels, solid: [1]}}", "--set", "domain.cells=[16, 12, 8]"],
                           "damaged.h5'", "HDF5"),
                          (["run", "case.yaml", "--set", "patches.p={face: xmin, mask: {file: no.png}, slip: {}}"],
                           "'no.png': No such file"),
                          (["nonsense"], "nonsense is not a command")]:
    # mpirun may lose what a process prints before it ends with an error: on a busy machine one line in 15.
    for _ in range(3):
        result = attempt(arguments, words, ranks=3)
        if result[1]:
            break
    show("mpirun -n 3: " + " ".join(arguments), result)

write("channel.yaml", CHANNEL)
said = tagflow("run", "channel.yaml")
check(said.code == 0 and not said.lines, f"the channel in physical units itself runs: {said}")

runs.finish()
