#!/usr/bin/python3
"""Writes the triangle mesh of a bent, tapering body as binary STL: a horn whose axis is part of a
circle, round at both ends.

    scripts/make_mesh.py FILE [--around N] [--along N] [--bend DEGREES]

Its axis is an arc of length 1 in the plane of x and y; across it the body is an ellipse, of half
axes 0.16 sqrt(1 - (2 s - 1)^2) (1 - 0.4 s) times 1 in the plane and 0.7 across it, s from 0 to 1
along the axis. The same arguments give the same bytes."""
import argparse
import math
import struct
import sys


def point(s, angle, bend):
    """The point at s along the axis and `angle` around it."""
    radius = 0.16 * math.sqrt(max(0.0, 1 - (2 * s - 1) ** 2)) * (1 - 0.4 * s)
    turn = bend * (s - 0.5)
    across, up = radius * math.cos(angle), 0.7 * radius * math.sin(angle)
    if bend == 0:
        return (s - 0.5, across, up)
    arc = 1 / bend
    return ((arc - across) * math.sin(turn), arc - (arc - across) * math.cos(turn), up)


def triangles(around, along, bend):
    """Rings of points, closer at the ends, joined by triangles with their corners counterclockwise
    from outside."""
    rings = []
    for i in range(along + 1):
        s = 0.5 * (1 - math.cos(math.pi * i / along))
        if i in (0, along):
            rings.append([point(s, 0, bend)] * around)
        else:
            rings.append([point(s, 2 * math.pi * k / around, bend) for k in range(around)])
    for a, b, ends in zip(rings, rings[1:], range(along)):
        for k in range(around):
            n = (k + 1) % around
            if ends > 0:
                yield a[k], a[n], b[k]
            if ends < along - 1:
                yield a[n], b[n], b[k]


def write(path, mesh):
    with open(path, "wb") as file:
        file.write(b"horn, scripts/make_mesh.py".ljust(80, b" "))
        file.write(struct.pack("<I", len(mesh)))
        for corners in mesh:
            file.write(struct.pack("<12fH", 0, 0, 0, *[x for corner in corners for x in corner], 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--around", type=int, default=24, help="points around it (at least 3)")
    parser.add_argument("--along", type=int, default=20, help="rings along it (at least 2)")
    parser.add_argument("--bend", type=float, default=100.0, help="degrees of the arc")
    options = parser.parse_args()
    if options.around < 3 or options.along < 2:
        parser.error("a body has at least 3 points around it and 2 rings along it")
    if not abs(options.bend) <= 360:
        parser.error("--bend: -360 to 360")
    mesh = list(triangles(options.around, options.along, math.radians(options.bend)))
    try:
        write(options.file, mesh)
    except OSError as failure:
        sys.exit(f"make_mesh: {options.file}: {failure.strerror or failure}")


main()
