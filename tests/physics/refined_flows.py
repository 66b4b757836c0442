#!/usr/bin/python3
"""Flows on refined grids, by the program alone; fp64, TRT unless told.

- Couette and Poiseuille flow between walls along each axis, the interface along the flow: exact, 1e-9 of the largest velocity.
- The same with a strip across the flow, with a box in it and with a box at the wall, 16 cells, viscosity 0.1: rms error 2e-3 of
  the largest velocity (at most 1.7e-3 found). The largest error is that of the coarse cell beside wall and interface and is of
  first order, so the rms is what is asked.
- Taylor-Green vortices across each axis, with a box and with half of the box fine: order 1.9 from 16 to 32 cells, by the rms
  over the run. Error with the box at the end, when sound of the start has died, at most 1.2 times that of the coarse grid alone.
- A plane pulse of sound 6 coarse cells wide, into finer cells and out of them: reflected at most -48 dB (-49.7 and -57.5).
- Mass in 2000 steps with walls, a lid and concave regions, and in 500 with three levels, on three ranks: 1e-12; the momentum in
  a periodic box, too.
- A vortex that crosses into finer cells, Mach number of the stream 0.17, rr: closer to a grid that is fine everywhere
  than the coarse grid alone is; sound that it sends out at most 2e-3 of the depth of its pressure.
"""
import numpy

import case
import refined

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}


def channels():
    for across in range(3):
        cells = [4, 4, 4]
        cells[across] = 16
        for name, how, largest in ("Couette", {"lid": 0.05}, 0.05), ("Poiseuille", {"acceleration": 1e-4}, 0.032):
            flow, exact = refined.driven(cells, across, (across + 1) % 3, 0.1, [refined.half_along(cells, across)], 9000, **how)
            case.at_most(f"{name} across {'xyz'[across]}, interface along the flow: worst relative error",
                         refined.worst(flow, refined.run(flow)[0][-1][1], exact) / largest, 1e-9)
    cells = [16, 16, 1]
    for where, box in (("strip", (1, [4, 0, 0], [12, 16, 1])), ("box", (1, [4, 4, 0], [12, 12, 1])), ("box at a wall", (1, [4, 8, 0], [12, 16, 1]))):
        for name, how, largest in ("Couette", {"lid": 0.05}, 0.05), ("Poiseuille", {"acceleration": 1e-4}, 0.032):
            flow, exact = refined.driven(cells, 1, 0, 0.1, [box], 6000, **how)
            case.at_most(f"{name}, {where}: rms relative error", refined.rms(flow, refined.run(flow)[0][-1][1], exact) / largest, 2e-3)


def vortices():
    kinds = {"none": lambda cells, axes: [],
             "box fine": lambda cells, axes: [refined.box_in_the_middle(cells, axes)],
             "half fine": lambda cells, axes: [refined.half_along(cells, axes[0])]}
    for axis in "xyz":
        last = {}
        for name, boxes in kinds.items():
            errors = []
            for cells in 16, 32:
                flow, exact = refined.taylor_green(cells, 0.05, 0.02, boxes, axis)
                states = refined.run(flow)[0]
                errors.append(refined.rms_in_time(flow, states, exact))
                last[name] = refined.rms_in_time(flow, [states[0], states[-1]], exact)
            if name != "none":
                case.at_least(f"Taylor-Green across {axis}, {name}: order", case.order([16, 32], errors), 1.9)
        case.at_most(f"Taylor-Green across {axis}, box fine: error at the end over that of the coarse grid", last["box fine"] / last["none"], 1.2)


def pulses(length=160, width=6, density=1e-4, viscosity=5e-4):
    flow = {"cells": [length, 1, 1], "faces": PERIODIC, "tau": 3 * viscosity + 0.5, "steps": 130, "boxes": [],
            "initial": {"flow": "wave", "axis": "x", "center": [length / 4, 0, 0], "width": width, "density": density}}
    fine = flow | {"cells": [2 * length, 2, 2], "tau": 6 * viscosity + 0.5, "steps": 260,
                   "initial": flow["initial"] | {"center": [length / 2, 0, 0], "width": 2 * width}}
    half = length // 2
    for name, alone, box, level in (("into", flow, (1, [half, 0, 0], [length, 1, 1]), 0), ("out of", fine, (1, [0, 0, 0], [half, 1, 1]), 1)):
        two = refined.run(flow | {"boxes": [box]})[0][-1][1][level]
        one = refined.run(alone)[0][-1][1][0]
        before = slice(0, (half - 4) << level)
        reflected = numpy.abs(two[before] - one[before])[..., 0].max() / density
        case.at_most(f"pulse {name} finer cells: reflected, dB", 20 * numpy.log10(reflected), -48)


def momentum(levels):
    return sum(numpy.nansum((1 + v[..., :1]) * v[..., 1:], axis=(0, 1, 2)) / 8**level for level, v in enumerate(levels))


def sums():
    series = {"output.series": {"flow": {"every": 50, "of": ["mass"]}}}
    pulse = {"flow": "pulse", "density": 0.02, "center": [5, 6, 7], "width": 3, "velocity": [0.03, 0.02, -0.01]}
    walls = {"x": ["wall", [0, 0, 0]], "ymin": ["wall", [0, 0, 0]], "ymax": ["wall", [0.08, 0, 0]], "z": "periodic"}
    concave = [(1, [0, 0, 4], [8, 4, 8]), (1, [0, 0, 4], [4, 8, 8]), (1, [8, 8, 0], [12, 12, 4])]
    deep = [(1, [0, 4, 0], [8, 12, 8]), (2, [0, 16, 4], [8, 24, 12])]
    for name, faces, boxes, steps in (("lid, concave regions", walls, concave, 2000), ("lid, three levels", walls, deep, 500),
                                      ("periodic", PERIODIC, concave, 2000)):
        flow = {"cells": [12, 12, 12], "faces": faces, "tau": 0.55, "steps": steps, "boxes": boxes, "initial": pulse}
        states, done = refined.run(flow, ranks=3, **series)
        rows = done.series()
        case.at_most(f"{name}: relative change of mass in {steps} steps", numpy.abs(rows["mass"] / rows["mass"][0] - 1).max(), 1e-12)
        if faces is PERIODIC:
            first, last = momentum(states[0][1]), momentum(states[-1][1])
            case.at_most(f"{name}: change of momentum, relative", numpy.abs(last - first).max() / numpy.abs(first).max(), 1e-12)


def crossing(cells=96, radius=6, speed=0.1, viscosity=1e-3):
    """Into the finer half, x > cells/2, from cells/4 to 3/4 of the box."""
    peak, steps = 0.03, round(cells / 2 / speed)
    flow = {"cells": [cells, cells, 1], "faces": PERIODIC, "tau": 3 * viscosity + 0.5, "steps": steps, "collision": "rr",
            "boxes": [], "initial": {"flow": "vortex", "axis": "z", "amplitude": peak, "velocity": [speed, 0, 0],
                                     "center": [cells / 4, cells / 2, 0.5], "width": radius}}
    fine = flow | {"cells": [2 * cells, 2 * cells, 2], "tau": 6 * viscosity + 0.5, "steps": 2 * steps,
                   "initial": flow["initial"] | {"center": [cells / 2, cells, 1], "width": 2 * radius}}
    exact = refined.run(fine)[0][-1][1][0]
    exact = exact.reshape(cells, 2, cells, 2, 1, 2, 4).mean(axis=(1, 3, 5))
    coarse = refined.run(flow)[0][-1][1][0]
    two = refined.run(flow | {"boxes": [(1, [cells // 2, 0, 0], [cells, cells, 1])]})[0][-1][1]
    mean = two[1].reshape(cells, 2, cells, 2, 1, 2, 4).mean(axis=(1, 3, 5))
    merged = numpy.where(numpy.isnan(two[0]), mean, two[0])
    stream = numpy.array([speed, 0, 0])
    scale = numpy.sqrt(((exact[..., 1:] - stream)**2).mean())
    errors = [numpy.sqrt(((found - exact)[..., 1:]**2).mean()) / scale for found in (merged, coarse)]
    case.at_most("vortex into finer cells: velocity error over that of the coarse grid", errors[0] / errors[1], 1)
    far = numpy.abs(numpy.arange(cells) + 0.5 - cells / 2) > 30
    depth = 1.5 * peak**2 * numpy.e
    sound = numpy.abs(merged - coarse)[:, far, :, 0].max() / depth
    case.at_most("vortex into finer cells: sound beside it, parts of its depth", sound, 2e-3)


channels()
vortices()
pulses()
sums()
crossing()
case.finish()
