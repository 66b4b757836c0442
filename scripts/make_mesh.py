#!/usr/bin/python3
"""Writes the closed triangle mesh of a body as binary STL.

    scripts/make_mesh.py FILE [--shape horn] [--around N] [--along N] [--bend DEGREES]
    scripts/make_mesh.py FILE --shape car
    scripts/make_mesh.py FILE --shape vessel [--around N] [--bend DEGREES]
    scripts/make_mesh.py FILE --shape aorta [--around N]

horn: a bent, tapering body, round at both ends. Its axis is an arc of length 1 in the plane of x and y; across it the body is
an ellipse, of half axes 0.16 sqrt(1 - (2 s - 1)^2) (1 - 0.4 s) times 1 in the plane and 0.7 across it, s from 0 to 1 along
the axis.

car: a plain saloon of flat faces, in metres: 4.4 long along x with the front at x = 0, 1.8 wide about y = 0, 1.53 high, on
four wheels that stand on z = 0.

vessel: the inside of a tube of diameter 1 with flat ends: a leg of 3, an arc about a radius of 3, a leg of 4. No part of it is
along an axis, so both ends are oblique.

aorta: the inside of a vessel of diameter 1 that rises, turns round in an arch and goes down, with two branches of 0.55 and 0.45
on the arch: one inlet, three outlets. Its parts overlap.

Of the last two the middles of the flat ends are printed, for `caps`. Their coordinates are positive.

The same arguments give the same bytes."""
import argparse
import bisect
import math
import struct
import sys


def skin(rings):
    """Triangles between rings of points, their corners counterclockwise from outside. Points of a ring that coincide make
    triangles without area, which are left out: the mesh stays closed."""
    for a, b in zip(rings, rings[1:]):
        for k in range(len(a)):
            n = (k + 1) % len(a)
            for corners in ((a[k], a[n], b[k]), (a[n], b[n], b[k])):
                if len(set(corners)) == 3:
                    yield corners


# ---- horn ----

def horn_point(s, angle, bend):
    """The point at s along the axis and `angle` around it."""
    radius = 0.16 * math.sqrt(max(0.0, 1 - (2 * s - 1) ** 2)) * (1 - 0.4 * s)
    turn = bend * (s - 0.5)
    across, up = radius * math.cos(angle), 0.7 * radius * math.sin(angle)
    if bend == 0:
        return (s - 0.5, across, up)
    arc = 1 / bend
    return ((arc - across) * math.sin(turn), arc - (arc - across) * math.cos(turn), up)


def horn(around, along, bend):
    """Rings of points, closer at the ends, where they are a point each."""
    rings = []
    for i in range(along + 1):
        s = 0.5 * (1 - math.cos(math.pi * i / along))
        if i in (0, along):
            rings.append([horn_point(s, 0, bend)] * around)
        else:
            rings.append([horn_point(s, 2 * math.pi * k / around, bend) for k in range(around)])
    return list(skin(rings))


# ---- car ----

#          x: front ..       bonnet      windscreen  roof        rear window boot        .. back
STATIONS = (0.00,     0.10,       1.25,       1.95,       2.90,       3.75,       4.30,       4.40)
TOP =      (0.70,     0.80,       1.03,       1.51,       1.53,       1.16,       1.10,       1.04)
SHOULDER = (0.62,     0.72,       0.94,       0.98,       1.01,       1.03,       1.02,       0.96)  # height of the widest line
HALF_TOP = (0.52,     0.68,       0.74,       0.58,       0.58,       0.70,       0.72,       0.66)
HALF =     (0.62,     0.80,       0.90,       0.90,       0.90,       0.89,       0.84,       0.78)
SILL =     (0.42,     0.38,       0.36,       0.36,       0.36,       0.38,       0.44,       0.48)  # where the sides begin
UNDER =    (0.34,     0.28,       0.26,       0.26,       0.26,       0.28,       0.36,       0.38)  # height of the floor
AXLES = (0.86, 3.44)
# Of a wheel: (x from its axle, height of its tread above the ground; None: at the floor). It is steep: a wedge of air between
# tread and road would be finer than any grid.
TREAD = ((-0.30, None), (-0.22, 0.0), (0.22, 0.0), (0.30, None))
WHEEL_INSIDE, WHEEL_OUTSIDE = 0.60, 0.80  # of its width, distances from the middle of the car


def at(x, values):
    """Linear between the stations."""
    k = min(max(bisect.bisect_right(STATIONS, x) - 1, 0), len(STATIONS) - 2)
    part = (x - STATIONS[k]) / (STATIONS[k + 1] - STATIONS[k])
    return values[k] + part * (values[k + 1] - values[k])


def car():
    treads = {round(axle + off, 6): height for axle in AXLES for off, height in TREAD}
    rings = []
    for x in sorted({*STATIONS, *treads}):
        under, sill = at(x, UNDER), at(x, SILL)
        tread = treads.get(x)
        tread = under if tread is None else tread
        inside, outside = (min(width, at(x, HALF) - 0.04) for width in (WHEEL_INSIDE, WHEEL_OUTSIDE))
        inside = min(inside, outside - 0.1)
        half = [(inside, under), (inside, tread), (outside, tread), (at(x, HALF), sill), (at(x, HALF), at(x, SHOULDER)),
                (at(x, HALF_TOP), at(x, TOP))]
        rings.append([(x, y, z) for y, z in half] + [(x, -y, z) for y, z in reversed(half)])
    # Seen along +x the points go from the floor by +y to the roof and back by -y.
    mesh = list(skin(rings))
    for ring, turn in ((rings[0], -1), (rings[-1], 1)):
        middle = (ring[0][0], 0.0, (min(p[2] for p in ring) + max(p[2] for p in ring)) / 2)
        for k, point in enumerate(ring):
            corners = (point, ring[(k + 1) % len(ring)], middle)
            if len(set(corners)) == 3:
                mesh.append(corners[::turn])
    return mesh


# ---- vessels ----

def unit(v):
    length = math.sqrt(sum(x * x for x in v))
    return tuple(x / length for x in v)


def across(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def walk(start, way, parts):
    """Points and tangents along an axis: parts are (length,) of a straight leg, or (angle, radius, normal) of an arc."""
    place, way = start, unit(way)
    line = [(place, way)]
    for part in parts:
        steps = 24 if len(part) == 3 else 8
        for k in range(steps):
            if len(part) == 1:
                place = tuple(x + part[0] / steps * w for x, w in zip(place, way))
            else:
                angle, radius, normal = part
                turn, side = angle / steps, across(normal, way)
                chord, half = 2 * radius * math.sin(turn / 2), turn / 2
                place = tuple(x + chord * (math.cos(half) * w + math.sin(half) * s) for x, w, s in zip(place, way, side))
                way = unit(tuple(math.cos(turn) * w + math.sin(turn) * s for w, s in zip(way, side)))
            line.append((place, way))
    return line


def tube(line, radius, around):
    """The closed surface of a tube about an axis, with flat ends. Its sections are polygons with the area of the circle."""
    reach = radius * math.sqrt(2 * math.pi / around / math.sin(2 * math.pi / around))
    side = unit(across(line[0][1], (0.3, 0.4, 1.0)))
    rings = [[line[0][0]] * around]
    for place, way in line:
        side = unit(across(across(way, side), way))
        other = across(way, side)
        rings.append([tuple(x + reach * (math.cos(a) * s + math.sin(a) * o) for x, s, o in zip(place, side, other))
                      for a in (2 * math.pi * k / around for k in range(around))])
    return list(skin(rings + [[line[-1][0]] * around]))


def moved(meshes, ends):
    """Meshes and ends, so that the least coordinates are 0.25."""
    shift = [0.25 - min(p[a] for mesh in meshes for triangle in mesh for p in triangle) for a in range(3)]

    def move(p):
        return tuple(x + s for x, s in zip(p, shift))

    return [tuple(map(move, triangle)) for mesh in meshes for triangle in mesh], {name: move(end) for name, end in ends.items()}


def vessel(around, bend):
    way = (math.cos(math.radians(20)), -math.sin(math.radians(20)), 0.12)
    normal = unit(across(unit(way), (0.1, 1.0, -0.2)))
    line = walk((0, 0, 0), way, [(3,), (bend, 3, normal), (4,)] if bend else [(7,)])
    return moved([tube(line, 0.5, around)], {"inlet": line[0][0], "outlet": line[-1][0]})


def aorta(around):
    way = unit((0.15, 1.0, 0.1))
    normal = unit(across(way, (1.0, 0.0, 0.25)))
    line = walk((0, 0, 0), way, [(1.5,), (math.pi, 1.2, normal), (2.5,)])
    left, right = (walk(line[8 + k][0], direction, [(length,)]) for k, direction, length in
                   ((9, (-0.35, 1.0, 0.2), 2.2), (15, (0.3, 1.0, -0.1), 2.3)))
    return moved([tube(line, 0.5, around), tube(left, 0.275, around), tube(right, 0.225, around)],
                 {"inlet": line[0][0], "descending": line[-1][0], "left": left[-1][0], "right": right[-1][0]})


def write(path, name, mesh):
    with open(path, "wb") as file:
        file.write(f"{name}, scripts/make_mesh.py".encode().ljust(80, b" "))
        file.write(struct.pack("<I", len(mesh)))
        for corners in mesh:
            file.write(struct.pack("<12fH", 0, 0, 0, *[x for corner in corners for x in corner], 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--shape", choices=("horn", "car", "vessel", "aorta"), default="horn")
    parser.add_argument("--around", type=int, help="points around it (at least 3; 24, of vessel and aorta 48)")
    parser.add_argument("--along", type=int, help="horn: rings along it (at least 2; 20)")
    parser.add_argument("--bend", type=float, help="horn, vessel: degrees of the arc (100, of vessel 30)")
    options = parser.parse_args()
    has = {"horn": ("around", "along", "bend"), "car": (), "vessel": ("around", "bend"), "aorta": ("around",)}[options.shape]
    for name in ("around", "along", "bend"):
        if getattr(options, name) is not None and name not in has:
            parser.error(f"--{name} has no effect on {'an' if options.shape == 'aorta' else 'a'} {options.shape}")
    vessels, ends = options.shape in ("vessel", "aorta"), {}
    if options.shape == "car":
        mesh = car()
    else:
        around, along, bend = (default if value is None else value for value, default in
                               ((options.around, 48 if vessels else 24), (options.along, 20), (options.bend, 30.0 if vessels else 100.0)))
        if around < 3 or along < 2:
            parser.error("a body has at least 3 points around it and 2 rings along it")
        if not abs(bend) <= 360:
            parser.error("--bend: -360 to 360")
        if options.shape == "horn":
            mesh = horn(around, along, math.radians(bend))
        else:
            mesh, ends = vessel(around, math.radians(bend)) if options.shape == "vessel" else aorta(around)
    try:
        write(options.file, options.shape, mesh)
    except OSError as failure:
        sys.exit(f"make_mesh: {options.file}: {failure.strerror or failure}")
    for name, end in ends.items():
        print(f"{name} [{', '.join(f'{x:.4f}' for x in end)}]")
    if ends:
        print("highest", [round(max(p[a] for triangle in mesh for p in triangle), 4) for a in range(3)])


if __name__ == "__main__":
    main()
