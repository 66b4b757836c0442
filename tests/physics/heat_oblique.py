#!/usr/bin/python3
"""Bodies of given flux or heat transfer whose surface is oblique, and the area that series of heat take.

Plates of slope 1/2, periodic, one of given flux or transfer, one of given value (interpolated): the profile across is a line, which flux
keeps exactly, as each link gets its component of it: 1e-6 of the largest value (normals are stored in steps of 2^-20). A transfer takes the
value half-way between cells, not at the plates: 2.5 %.

A cylinder and a sphere of given flux in one of value 0 (interpolated), and an image and a mesh of the same sphere: heat by the formula, from
the slope of the profile; 0.5 %, r = 6 1 %, the image 2 %; the same where the heat goes into a body that conducts, or from one label of an image into
another. The flux that the series tells is the given one, and the area the true one: 1 %, the image 2 %.

A box on the grid gets its flux on each face of its cells: exact.
"""
import math
import os
import struct

import numpy

import case
import heat


def series(result, name="q"):
    return case.Run(result.folder).series(name)


def plate(c, thickness, length, slope):
    """A plate whose middle passes through c."""
    angle = math.degrees(math.atan(slope))
    return {"box": {"from": [c[0] - length / 2, c[1] - thickness / 2, -1], "to": [c[0] + length / 2, c[1] + thickness / 2, 5]}, "rotate": [0, 0, angle],
            "about": [c[0], c[1], 0]}


def plates(what, shift):
    n, d, tilt = 40, 0.4, math.cos(math.atan(0.5))
    low, high, thick = [20, 3 + shift], [20, 11 + shift], 3.2
    length = 1.5 * n / tilt
    c = heat.settings([n, n // 2, 3], {"x": "periodic", "y": "periodic", "z": "periodic"}, {"t": {"kind": "heat", "diffusivity": d}},
                      bodies={"low": {"shape": plate(low, thick, length, 0.5), "scalars": {"t": what}},
                              "high": {"shape": plate(high, 2 * thick, length, 0.5), "wall": "interpolated", "scalars": {"t": {"value": 0}}}},
                      run={"steps": 2500}, output={"log": {"every": 0}, "series": {"q": {"every": 2500, "of": "heat", "scalar": "t", "body": "low"}}})
    result = heat.run(c)
    x, y = numpy.meshgrid(numpy.arange(n) + 0.5, numpy.arange(n // 2) + 0.5, indexing="ij")
    # distance from the wall of `low`, into the gap below `high`
    across = ((y - low[1] - (x - low[0]) / 2) * tilt - thick / 2) % (n // 2 * tilt)
    gap = 8 * tilt - 1.5 * thick
    other = n // 2 * tilt - thick - 2 * thick - gap  # on the other side of `low`
    t = result.value()[..., 1]
    return result, d, across, gap, other, t, (n // 2) * tilt - thick


def check_plates(name, what, exact, shift, limit):
    result, d, across, gap, other, t, period = plates(what, shift)
    inside = (across > 0) & (across < gap)
    behind = (across > period - other) & (across < period)
    for where, far, width in ((inside, across, gap), (behind, period - across, other)):
        found, line = t[where], exact(d, far[where], width)
        case.at_most(f"{name}, slope 1/2, moved by {shift}, gap {width:.2f}: largest error over the largest value",
                     abs(found - line).max() / abs(line).max(), limit)
    return result


Q, H, OUT = 1e-3, 0.05, 2.0
for shift in 0, 0.37:
    result = check_plates("flux", {"flux": Q}, lambda d, s, g: Q / d * (g - s), shift, 1e-6)
    table = series(result)
    case.near("     flux of the series over the given one", table["flux"][-1] / Q, 1, 1e-9)
    area = 2 * 3 * math.hypot(40, 20)
    case.near("     area of the series over the true one", table["heat"][-1] / table["flux"][-1] / area, 1, 0.01)
    check_plates("transfer", {"transfer": {"coefficient": H, "outside": OUT}}, lambda d, s, g: OUT / (1 / H + g / d) / d * (g - s), shift, 0.025)


def round_body(name, radius, shape, limit, outer, area, exact, cells, centre, between=None):
    d, q = 0.4, 1e-3
    body = {"scalars": {"t": {"flux": q}}} | shape
    c = heat.settings(cells, {"x": "wall", "y": "wall", "z": "periodic" if cells[2] == 1 else "wall"}, {"t": {"kind": "heat", "diffusivity": d}},
                      bodies={"hole": {"shape": {"complement": {"outside": outer}}, "wall": "interpolated", "scalars": {"t": {"value": 0}}}} | (between or {}) | {"body": body},
                      run={"steps": int(20 * radius * radius)},
                      output={"log": {"every": 0}, "series": {"q": {"every": 100, "of": "heat", "scalar": "t", "body": "body"}}})
    result = heat.run(c)
    values = result.value()
    grid = numpy.meshgrid(*[numpy.arange(n) + 0.5 - x for n, x in zip(cells, centre)], indexing="ij")
    r = numpy.sqrt(sum(g * g for g in grid[:2 if cells[2] == 1 else 3]))
    ring = (r > 1.3 * radius) & (r < 1.8 * radius)
    slope = numpy.polyfit(exact(r[ring]), values[ring], 1)[0]
    table = series(result)
    case.near(f"{name}: heat from the profile, over flux times surface", slope * d / q, 1, limit[0])
    if limit[1] is None:  # the series has the surface of all labels
        return
    case.near("     flux of the series over the given one", table["flux"][-1] / q, 1, limit[1])
    case.near("     area of the series over the true one", table["heat"][-1] / table["flux"][-1] / area, 1, limit[1])


R = 10
n = 4 * R + 8
centre = [n / 2 + 0.13, n / 2 - 0.21, 0.5]
ring = lambda radius: {"cylinder": {"center": centre, "axis": "z", "radius": radius}}
round_body("cylinder, r 10", R, {"shape": ring(R)}, (0.005, 0.01), ring(2 * R), 2 * math.pi * R, lambda r: R * numpy.log(2 * R / r), [n, n, 1], centre)

solid = {"pipe": {"shape": ring(1.95 * R), "scalars": {"t": {"conduct": {"conductivity": 0.4, "capacity": 0.8}}}}}
round_body("the cylinder in a pipe that conducts", R, {"shape": ring(R)}, (0.005, 0.01), ring(2 * R), 2 * math.pi * R, lambda r: R * numpy.log(2 * R / r),
           [n, n, 1], centre, solid)

R = 6
n = 4 * R + 6
centre = [n / 2 + 0.13, n / 2 - 0.21, n / 2 + 0.08]
ball = lambda radius: {"sphere": {"center": centre, "radius": radius}}
profile = lambda r: R * R * (1 / r - 1 / (2 * R))
area = 4 * math.pi * R * R
round_body("sphere, r 6", R, {"shape": ball(R)}, (0.01, 0.01), ball(2 * R), area, profile, [n] * 3, centre)

# The same as an image and as a mesh.
grid = numpy.meshgrid(*[numpy.arange(n) + 0.5 - x for x in centre], indexing="ij")
solid = (sum(g * g for g in grid) <= R * R).astype(numpy.uint8)
image = os.path.join(case.scratch(), "ball.raw")
solid.transpose(2, 1, 0).tofile(image)
round_body("image of the sphere", R, {"image": {"file": image, "size": [n] * 3, "type": "uint8", "solid": 1}}, (0.02, 0.02), ball(2 * R), area, profile,
           [n] * 3, centre)


labels = numpy.where(solid, 1, numpy.where(sum(g * g for g in grid) <= (1.95 * R)**2, 2, 0)).astype(numpy.uint8)
image = os.path.join(case.scratch(), "shells.raw")
labels.transpose(2, 1, 0).tofile(image)
round_body("label of an image in one that conducts", R, {"image": {"file": image, "size": [n] * 3, "type": "uint8", "solid": [1, 2]},
                                                         "labels": {2: {"scalars": {"t": {"conduct": {"conductivity": 0.4}}}}}},
           (0.02, None), ball(2 * R), area, profile, [n] * 3, centre)


def mesh(path, parts=48):
    """A sphere of triangles."""
    def at(i, j):
        a, b = math.pi * i / parts, 2 * math.pi * (j % parts) / parts
        s = 0 if i in (0, parts) else math.sin(a)
        return [R * s * math.cos(b), R * s * math.sin(b), R * math.cos(a)]
    with open(path, "wb") as file:
        triangles = [t for i in range(parts) for j in range(parts)
                     for t in ((at(i, j), at(i + 1, j), at(i + 1, j + 1)), (at(i, j), at(i + 1, j + 1), at(i, j + 1)))
                     if t[0] != t[1] and t[1] != t[2] and t[0] != t[2]]
        file.write(bytes(80) + struct.pack("<I", len(triangles)))
        for t in triangles:
            file.write(struct.pack("<12fH", 0, 0, 0, *t[0], *t[1], *t[2], 0))


stl = os.path.join(case.scratch(), "ball.stl")
mesh(stl)
round_body("mesh of the sphere", R, {"mesh": {"file": stl, "center": centre, "scale": 1}}, (0.01, 0.01), ball(2 * R), area, profile, [n] * 3, centre)

# A box: each face of its cells. The same as an image.
solid = numpy.zeros([16, 16, 16], numpy.uint8)
solid[4:9, 5:11, :4] = 1
image = os.path.join(case.scratch(), "box.raw")
solid.transpose(2, 1, 0).tofile(image)
for name, body in (("box", {"shape": {"box": {"from": [4, 5, 0], "to": [9, 11, 4]}}}), ("image of a box", {"image": {"file": image, "size": [16] * 3, "solid": 1}})):
    c = heat.settings([16, 16, 16], {"x": "wall", "y": "wall", "z": "wall"}, {"t": {"kind": "heat", "diffusivity": 0.1}},
                      bodies={"chip": body | {"scalars": {"t": {"flux": Q}}}}, run={"steps": 3})
    case.near(f"{name} of given flux: sum after 3 steps over the given", math.fsum(heat.run(c).sums("t").flat) / (3 * Q * (5 * 6 + 2 * 4 * (5 + 6))),
              1, 1e-12)
case.finish()
