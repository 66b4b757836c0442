#!/usr/bin/python3
"""Flows on refined grids that take minutes. Arguments after the reference's path: some of the names, in place of all.

- mass       100,000 steps with walls, a lid, concave regions, three levels. fp64: 1e-12. fp32: populations are rounded, so
             the mass wanders as it does on one grid, 1e-6.
- abc        ABC flow, box fine, 16, 32 and 48 cells: order 1.8; error at 48 at the end at most 1.5 times that of the coarse grid
             alone.
- cavity     Re 1000, 64 cells, 12 cells at each wall fine, rr: as close to Botella and Peyret (1998) on the centre lines as 128 cells
             alone, which are 0.0044 off; 64 cells alone 0.0105. 0.006.
- cylinders  Inner cylinder turns, outer one at rest, r1 = 16, r2 = 32 cells, the inner 6 cells of the gap on level 1:
             u = A r + B / r, 0.5 % of the wall's velocity; torque 4 pi nu B on both, 1 %; both the same to 1e-5, as tests/physics/cylinders.py
             has them.
- thin       DFG 2D-1, 41 cells across the channel, the cylinder on level 2, 39 cells across it: c_D 5.5795 within 0.5 %, c_L 0.010619
             within 0.0006, difference of the pressure 0.1175 within 0.5 % (Schaefer, Turek et al. 1996; Nabh 1998).
- cylinder   DFG 3D-1Z (tests/physics/cylinder.py), 20 cells across the channel, a half of it, the cylinder on level 2, 19.5 cells
             across it, and one grid of such cells: c_D 6.185 within 0.5 %, c_L from 0.008 to 0.010, difference of the pressure
             from 0.165 to 0.175.
- sphere     Re 100, a quarter between planes of symmetry, in a box of 15 x 9 x 9 D, rr, as a cell's Reynolds number is 12.5 on
             level 0. D = 16 cells of level 2: c_D within 0.5 % of one grid of such cells. D = 32: 1.087 (Johnson, Patel 1999) within 3 %.
"""
import math
import sys

import numpy

import case
import refined
from centre import at
from reference import CAVITY_U, CAVITY_V

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}


def mass(steps=100000):
    for precision, limit in ("fp64", 1e-12), ("fp32", 1e-6):
        for name, boxes in (("concave", [(1, [0, 0, 4], [8, 4, 8]), (1, [0, 0, 4], [4, 8, 8])]),
                            ("three levels", [(1, [0, 4, 0], [4, 12, 8]), (2, [0, 16, 0], [4, 24, 8])])):
            flow = {"cells": [8, 12, 8], "tau": 0.55, "steps": steps, "boxes": boxes,
                    "faces": {"x": ["wall", [0, 0, 0]], "ymin": ["wall", [0, 0, 0]], "ymax": ["wall", [0.08, 0, 0]], "z": "periodic"},
                    "initial": {"flow": "pulse", "density": 0.02, "center": [5, 6, 7], "width": 3}}
            rows = case.run("couette", refined.settings(flow) | {"solver.storage": precision, "solver.arithmetic": precision, "output": {
                "log": {"every": 0}, "series": {"flow": {"every": steps // 100, "of": ["mass"]}}}}).series()
            case.at_most(f"lid, {name}, {precision}, {steps} steps: relative change of mass",
                         numpy.abs(rows["mass"] / rows["mass"][0] - 1).max(), limit)


def abc():
    found = {}
    for name in "none", "box":
        errors = []
        for cells in 16, 32, 48:
            viscosity, amplitude, steps = 0.05, 0.16 / cells, round(0.02 * cells**2 / 0.05)
            flow = {"cells": [cells] * 3, "faces": PERIODIC, "tau": 3 * viscosity + 0.5, "steps": steps, "every": max(1, steps // 20),
                    "boxes": [refined.box_in_the_middle([cells] * 3, range(3))], "initial": {"flow": "abc", "amplitude": amplitude}}
            if name == "none":
                flow["boxes"] = []
            k = 2 * numpy.pi / cells

            def exact(x, step):
                decay = amplitude * numpy.exp(-viscosity * k * k * step)
                s, c = numpy.sin(k * x), numpy.cos(k * x)
                return decay * numpy.stack([s[..., (a + 2) % 3] + c[..., (a + 1) % 3] for a in range(3)], axis=-1)

            states = refined.run(flow, ranks=None, large=True)[0]
            errors.append(refined.rms_in_time(flow, states, exact))
        print(f"     {name}:")
        found[name] = refined.rms_in_time(flow, [states[0], states[-1]], exact), case.order([16, 32, 48], errors)
    case.at_least("ABC flow, box fine: order", found["box"][1], 1.8)
    case.at_most("ABC flow, box fine: error at the end over that of the coarse grid", found["box"][0] / found["none"][0], 1.5)


def cavity(cells=64, ring=12):
    boxes = [(1, [0, 0, 0], [cells, ring, 1]), (1, [0, cells - ring, 0], [cells, cells, 1]), (1, [0, ring, 0], [ring, cells - ring, 1]),
             (1, [cells - ring, ring, 0], [cells, cells - ring, 1])]
    still = ["wall", [0, 0, 0]]
    flow = {"cells": [cells, cells, 1], "faces": {"x": still, "ymin": still, "ymax": ["wall", [0.1, 0, 0]], "z": "periodic"},
            "tau": 3 * 0.1 * cells / 1000 + 0.5, "collision": "rr", "boxes": boxes, "steps": 30000}
    levels = refined.run(flow, ranks=None, large=True)[0][-1][1]
    for what, table, component, along, wall in (("u", CAVITY_U, 1, 1, 1), ("v", CAVITY_V, 2, 0, 0)):
        points = [(0, 0), (1, wall)]
        for level, values in enumerate(levels):
            n = cells << level
            middle = numpy.moveaxis(values[..., component], along, 0)[:, n // 2 - 1:n // 2 + 1].mean(axis=(1, 2)) / 0.1
            points += [((k + 0.5) / n, v) for k, v in enumerate(middle) if not math.isnan(v)]
        place, found = numpy.array(sorted(points)).T
        error = at(table[1:-1, 0], (place, found)) - table[1:-1, 1]
        case.at_most(f"cavity: {what} on the centre line, largest error", numpy.abs(error).max(), 0.006)


def cylinders(radius=16, speed=0.03):
    viscosity, cells = speed * radius / 3, 4 * radius + 16
    centre = [cells / 2 + 0.13, cells / 2 - 0.21, 0]
    cylinder = {"center": centre, "axis": "z"}
    steps = int(2.4 * radius**2 / viscosity)
    inner = {"shape": {"cylinder": cylinder | {"radius": radius}}, "wall": "interpolated",
             "rotation": {"rate": [0, 0, speed / radius], "about": centre}}
    outer = {"shape": {"complement": {"hole": {"cylinder": cylinder | {"radius": 2 * radius}}}}, "wall": "interpolated"}
    series = {name: {"every": steps, "of": "forces", "body": name, "about": centre} for name in ("inner", "outer")}
    flow = {"cells": [cells, cells, 1], "boxes": [(1, None, None)]}
    run = case.run("couette", case.FP64 | {
        "domain.cells": flow["cells"], "fluid": {"viscosity": viscosity}, "solver.collision": "trt",
        "faces": {"x": "wall", "y": "wall", "z": "periodic"}, "run.steps": steps, "bodies": {"inner": inner, "outer": outer},
        "refine": {"gap": {"level": 1, "around": "inner", "distance": 5}},
        "output": {"series": series, "log": {"every": 0}, "fields": {"main": {
            "every": steps, "of": ["density", "velocity"], "precision": "fp64"}}}})
    b, off = speed * radius * 4 / 3, 0
    for level, values in enumerate(refined.uncovered(flow, refined.snapshots(run, flow)[-1][1])):
        x = refined.centres(flow, level) - numpy.array(centre)
        r = numpy.hypot(x[..., 0], x[..., 1])
        exact = b / r - b / (4 * radius**2) * r
        gap = (r > radius) & (r < 2 * radius) & ~numpy.isnan(values[..., 0])
        print(f"     level {level}: {gap.sum()} cells in the gap")
        off = max(off, numpy.hypot(values[..., 1] + exact * x[..., 1] / r, values[..., 2] - exact * x[..., 0] / r)[gap].max() / speed)
    torque = [run.series(name)["torque_z"][-1] / (4 * math.pi * viscosity * b) for name in ("inner", "outer")]
    case.at_most("cylinders: u in the worst cell, of the wall's velocity", off, 0.005)
    case.near("cylinders: torque on the inner one", torque[0], -1, 0.01)
    case.near("cylinders: torque on the outer one", torque[1], 1, 0.01)
    case.at_most("cylinders: sum of both", abs(sum(torque)), 1e-5)


def channel(cells, deep, level, fastest, near, wake, behind, steps):
    """A cylinder of diameter 0.1 in a channel 0.41 high, Re 20, axis 0.2 above the floor and 0.2 (0.5 in 3-D: `deep`, a half of it,
    below a plane of symmetry) from the inlet, `cells` of level 0 across the channel. Lengths `near`, `wake` from the surface to
    the edges of the finest level and of level 1, upstream and downstream, and the length `behind` the axis are those of the
    benchmark. The outlet lets sound leave, and coefficients use the density at the inlet: with the reference density, and a pressure
    outlet, c_D has 0.6 % of compressibility more and rings by 1 %. Returns c_D, c_L, difference of the pressure."""
    h = 0.41 / cells
    mean, d = fastest * (4 / 9 if deep else 2 / 3), 0.1 / h
    depth, x, y = cells // 2 if deep else 1, (0.5 if deep else 0.2) / h + 0.5, 0.2 / h  # the inlet is on the centres of its cells
    middle = depth - 0.01 if deep else 0.5
    peak = fastest / (1 + 0.5 / cells**2)**(2 if deep else 1)  # cell centres find more than the mean of a parabola
    regions = {"wake": {"level": 1, "box": {"from": [x - d / 2 - wake[0] / h, 0, 0], "to": [x + d / 2 + wake[1] / h, cells, depth]}},
               "near": {"level": level, "around": "cylinder", "distance": near[0] / h, "behind": near[1] / h}}
    series = {name: {"every": 20, "of": "forces", "body": "cylinder", "area": d * depth, "density": density}
              for name, density in (("drag", "xmin"), ("plain", "reference"))}
    for side in -1, 1:  # three points before the surface and behind it, a cell apart
        for k in 1, 2, 3:
            series[f"at{side * k % 7}"] = {"every": 20, "of": "probe", "point": [x + side * (d / 2 + k / 2**level), y, middle]}
    run = case.run("cylinder", {
        "units": {"dx": "1 m", "dt": "1 s"}, "solver": {"collision": "trt", "magic": 3 / 16, "storage": "fp32"},
        "domain.cells": [round(behind / h + x), cells, depth], "initial": {"flow": "inlet"},
        "fluid": {"viscosity": mean * d / 20, "velocity": mean, "length": d},
        "faces": {"xmin": {"velocity": {"value": [peak, 0, 0], "profile": "parabola"}}, "xmax": "nonreflecting", "y": "wall",
                  **({"zmin": "wall", "zmax": "slip"} if deep else {"z": "periodic"})},
        "bodies.cylinder": {"shape": {"cylinder": {"center": [x, y, 0], "axis": "z", "radius": d / 2}}, "wall": "interpolated"},
        **({"refine": regions} if level else {}),
        "run": {"steps": steps}, "output": {"log": {"every": 0}, "series": series}}, large=True)

    def late(name, column):  # mean over the last fifth: sound across the channel still moves c_L
        return run.series(name)[column][-(steps // 100):].mean()

    def pressure(side):
        first, second, third = (late(f"at{side * k % 7}", "density") for k in (1, 2, 3))
        return (3 * first - 3 * second + third) / 3

    drag = late("drag", "c_x")
    found = drag, late("drag", "c_y"), (pressure(-1) - pressure(1)) * (0.2 / mean)**2 * drag / late("plain", "c_x")
    print(f"     {cells} cells, level {level}: c_D {found[0]:.5f}, c_L {found[1]:.6f}, pressure {found[2]:.5f}, "
          f"{run.report['mlups']:.1f} MLUPS", flush=True)
    return found


def thin():
    drag, lift, pressure = channel(41, False, 2, 0.0488, [0.05, 0.1], [0.11, 0.5], 2, 9000)
    case.near("DFG 2D-1: drag coefficient", drag, 5.57953, 0.005 * 5.57953)
    case.near("DFG 2D-1: lift coefficient", lift, 0.010619, 0.0006)
    case.near("DFG 2D-1: difference of the pressure", pressure, 0.11752, 0.005 * 0.11752)


def cylinder():
    for cells, level in (20, 2), (80, 0):
        drag, lift, pressure = channel(cells, True, level, 0.0667, [0.05, 0.1], [0.15, 0.3], 0.75, 100 * cells)
        case.near("DFG 3D-1Z: drag coefficient", drag, 6.185, 0.005 * 6.185)
        case.near("DFG 3D-1Z: lift coefficient", lift, 0.009, 0.001)
        case.near("DFG 3D-1Z: difference of the pressure", pressure, 0.170, 0.005)


def drag_of_sphere(diameter, levels, speed=0.08):
    """`diameter` in cells of level 0."""
    cells = [15 * diameter, 9 * diameter // 2, 9 * diameter // 2]
    x, steps = 5 * diameter, int(2 * 15 * diameter / speed)
    regions = {"wake": {"level": 1, "box": {"from": [x - 2 * diameter, 0, 0], "to": [x + 4 * diameter, 2 * diameter, 2 * diameter]}},
               "near": {"level": 2, "box": {"from": [x - diameter, 0, 0], "to": [x + 2 * diameter, diameter, diameter]}}}
    run = case.run("sphere", {
        "solver.collision": "rr", "domain.cells": cells, "fluid": {"reynolds": 100, "velocity": speed, "length": diameter},
        "initial.velocity": [speed, 0, 0], "faces.xmin": {"velocity": {"value": [speed, 0, 0]}},
        "bodies.sphere": {"shape": {"sphere": {"center": [x, 0, 0], "radius": diameter / 2}}, "wall": "interpolated"},
        **({"refine": regions} if levels else {}),
        "run.steps": steps, "output": {"log": {"every": 0}, "series": {
            "drag": {"every": 20, "of": "forces", "body": "sphere", "area": math.pi * diameter**2 / 16}}}}, large=True)
    forces = run.series("drag")
    last = forces["step"] > 0.75 * steps
    case.near(f"sphere, D = {diameter} on level 0: force along y over that along z",
              forces["c_y"][last].mean() / forces["c_z"][last].mean(), 1, 1e-5)
    return forces["c_x"][last].mean()


def sphere():
    one, three = drag_of_sphere(16, False), drag_of_sphere(4, True)
    case.near("sphere, D = 16 on level 2, beside one grid: drag coefficient", three, one, 0.005 * one)
    case.near("sphere, D = 32 on level 2: drag coefficient", drag_of_sphere(8, True), 1.087, 0.03 * 1.087)


TESTS = {test.__name__: test for test in (mass, abc, cavity, cylinders, thin, cylinder, sphere)}
for name in sys.argv[2:] or TESTS:
    TESTS[name]()
case.finish()
