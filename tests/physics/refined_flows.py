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
- The vorticity that the program writes, in the two coarse and four fine layers of cells at the interface, beside one grid of fine
  cells: at most 2 % of its largest. The vortex on the interface and on a corner of it (1.4, 1.6 %; with a radius of 4 coarse cells
  3.1 %), Taylor-Green (0.3 %), ABC flow (1.9 %). Differences to one side are the greater part of it.
- A spherical pulse of sound 6 coarse cells wide, into a box of finer cells: reflected at most -45 dB of what arrives (-47.2).
- Double shear layer at Re 10^4 (Minion, Brown, J. Comput. Phys. 138:734, 1997), kappa 30, an edge through the middle of a roller:
  two vortices, and the energy falls. With kappa 50 and more there is a third one (docs/lab/refinement.md).
"""
import numpy

import case
import refined
from reference import islands

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
    half = length // 2
    for name, alone, box, level in (("into", flow, (1, [half, 0, 0], [length, 1, 1]), 0),
                                    ("out of", refined.twice(flow), (1, [0, 0, 0], [half, 1, 1]), 1)):
        two = refined.run(flow | {"boxes": [box]})[0][-1][1][level]
        one = refined.run(alone)[0][-1][1][0]
        before = slice(0, (half - 4) << level)
        reflected = numpy.abs(two[before] - one[before])[..., 0].max() / density
        case.at_most(f"pulse {name} finer cells: reflected, dB", 20 * numpy.log10(reflected), -48)


def sphere(face=28, width=6, viscosity=5e-4):
    flow = {"cells": [60, 40, 40], "faces": PERIODIC, "tau": 3 * viscosity + 0.5, "steps": 48, "every": 8, "boxes": [],
            "initial": {"flow": "pulse", "center": [face - 2 * width, 20, 20], "width": width, "density": 1e-3}}
    one, two = (refined.run(flow | {"boxes": boxes})[0] for boxes in ([], [(1, [face, 8, 8], [face + 20, 32, 32])]))
    arrives = max(levels[0][face:, ..., 0].max() for _, levels in one)
    reflected = max(numpy.abs(a[0][:face - 4] - b[0][:face - 4])[..., 0].max() for (_, a), (_, b) in zip(one, two))
    case.at_most("spherical pulse into a box of finer cells: reflected, dB", 20 * numpy.log10(reflected / arrives), -45)


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


def belt():
    """A moving part of a wall, which crosses into finer cells and out of them."""
    flow = {"cells": [16, 16, 16], "faces": PERIODIC | {"y": ["wall", [0, 0, 0]]}, "tau": 0.56, "steps": 100,
            "boxes": [(1, [4, 0, 0], [12, 16, 16])]}
    part = {"face": "ymax", "rectangle": {"from": [2, 4], "to": [14, 12]}, "wall": {"velocity": [0.05, 0, 0.02]}}
    rows = refined.run(flow, **{"patches": {"belt": part}, "output.series": {"flow": {"every": 10, "of": "mass"}}})[1].series()
    case.at_most("belt through finer cells: relative change of mass in 100 steps", numpy.abs(rows["mass"] / rows["mass"][0] - 1).max(), 1e-12)


def crossing(cells=96):
    """Into the finer half, x > cells/2, from cells/4 to 3/4 of the box."""
    flow = refined.stream(cells, 6, [])
    flow["steps"] *= 2
    exact = refined.eight(refined.run(refined.twice(flow))[0][-1][1][0])
    coarse = refined.run(flow)[0][-1][1][0]
    two = refined.run(flow | {"boxes": [(1, [cells // 2, 0, 0], [cells, cells, 1])]})[0][-1][1]
    merged = numpy.where(numpy.isnan(two[0]), refined.eight(two[1]), two[0])
    velocity, peak = flow["initial"]["velocity"], flow["initial"]["amplitude"]
    scale = numpy.sqrt(((exact[..., 1:] - velocity)**2).mean())
    errors = [numpy.sqrt(((found - exact)[..., 1:]**2).mean()) / scale for found in (merged, coarse)]
    case.at_most("vortex into finer cells: velocity error over that of the coarse grid", errors[0] / errors[1], 1)
    far = numpy.abs(numpy.arange(cells) + 0.5 - cells / 2) > 30
    depth = 1.5 * peak**2 * numpy.e
    sound = numpy.abs(merged - coarse)[:, far, :, 0].max() / depth
    case.at_most("vortex into finer cells: sound beside it, parts of its depth", sound, 2e-3)


def vorticity(cells=64):
    half, waves = cells // 2, [32, 32, 32]
    across = refined.taylor_green(32, 0.05, 0.02, lambda size, axes: [refined.box_in_the_middle(size, axes)])[0]
    flows = {
        "vortex on the interface": refined.stream(cells, 6, [(1, [half, 0, 0], [cells, cells, 1])]),
        "vortex on a corner of it": refined.stream(cells, 6, [(1, [half, half, 0], [cells, cells, 1])]),
        "Taylor-Green, box": across | {"every": across["steps"]},
        "ABC flow, box": {"cells": waves, "faces": PERIODIC, "tau": 0.65, "steps": 40, "initial": {"flow": "abc", "amplitude": 0.01},
                          "boxes": [refined.box_in_the_middle(waves, range(3))]}}
    write = {"output.fields.main.of": "vorticity"}
    for name, flow in flows.items():
        one = 2 * case.run("couette", refined.settings(refined.twice(flow)) | write).field("vorticity")
        coarse, fine = refined.vorticity(case.run("couette", refined.settings(flow) | write), flow)
        finer = ~numpy.isnan(fine[..., 0])
        covered = finer[::2, ::2, ::2]
        off = max(numpy.abs(coarse - refined.eight(one))[refined.within(covered, 2) & ~covered].max(),
                  numpy.abs(fine - one)[refined.within(~finer, 4) & finer].max())
        case.at_most(f"{name}: vorticity beside it, off one grid's, of the largest", off / numpy.abs(one).max(), 0.02)


def vortices_in(vorticity, width=0.02):
    """How many vortices a periodic plane has: places with more than half of the largest vorticity, after a Gaussian filter. It takes
    away the layers between vortices, which are thin."""
    waves = numpy.add.outer(*[(n * numpy.fft.fftfreq(n))**2 for n in vorticity.shape])
    smooth = numpy.fft.ifft2(numpy.fft.fft2(vorticity) * numpy.exp(-2 * (numpy.pi * width)**2 * waves)).real
    return islands(numpy.abs(smooth) > numpy.abs(smooth).max() / 2)


def layers(cells=128, thickness=30):
    """The lower layer's roller stands at x = y = 1/4 of the box, on an edge."""
    levels, energy = refined.shear_layer(cells, [(1, [cells // 4, 0, 0], [cells // 2, cells // 2, 1])], thickness)
    case.near("shear layer, an edge in a roller: vortices", vortices_in(refined.finest(levels)[:, :, 0]), 2, 0)
    case.at_most("shear layer, an edge in a roller: largest relative increase of the energy", (energy[1:] / energy[:-1] - 1).max(), 0)


channels()
vortices()
pulses()
sphere()
sums()
belt()
crossing()
vorticity()
layers()
case.finish()
