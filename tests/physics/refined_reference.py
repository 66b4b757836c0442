#!/usr/bin/python3
"""The reference of refined grids by itself: refined_reference.c, with which refined_scheme.py compares the program.

- Random regions of up to four boxes, up to three levels, with periodic axes, walls, a lid or planes of symmetry, from noise of
  1e-2: each coarse link enters the fine level by 0, 2, 4 or 8 paths, as many leave it, and no cell meets a population that nobody
  wrote (the program stops if not). In 500 steps, 100 with three levels, the mass changes by rounding alone, at most 1e-14 a cell (4e-17 found); so
  does the momentum in periodic boxes.
- Couette and Poiseuille flow with the interface along the flow are exact: 1e-9 of the largest velocity.
- Taylor-Green vortices with half of the box fine and with a box in the middle: order 1.9 from 16 to 32 cells (1.93 to 1.99).
- A lid across a seam, 200 steps: two levels agree with a grid that is fine everywhere to 3 % of the lid's velocity; mass exact.
"""
import numpy

import case
import refined


def mass(number):
    flow = refined.random_flow(number) | {"noise": [1e-2, number]} | dict.fromkeys(["steps", "every"], 100 if number % 3 == 0 else 500)
    table = refined.Reference(flow).table
    cells = numpy.prod(flow["cells"])
    case.at_most(f"random region {number}: change of mass a cell", abs(table[-1, 1] - table[0, 1]) / cells, 1e-14)
    if set(map(str, flow["faces"].values())) == {"periodic"}:
        case.at_most(f"random region {number}: change of momentum a cell", abs(table[-1, 2:] - table[0, 2:]).max() / cells, 1e-14)


def along(across):
    """The interface along the flow: the lower half fine."""
    cells = [1, 1, 1]
    cells[across] = 16
    flow_axis, boxes = (across + 1) % 3, [refined.half_along(cells, across)]
    for name, how, largest in ("Couette", {"lid": 0.05}, 0.05), ("Poiseuille", {"acceleration": 1e-4}, 0.032):
        flow, exact = refined.driven(cells, across, flow_axis, 0.1, boxes, 12000, **how)
        error = refined.worst(flow, refined.Reference(flow).levels, exact) / largest
        case.at_most(f"{name} across {'xyz'[across]}, interface along the flow: worst relative error", error, 1e-9)


def order(name, boxes, axis):
    errors = []
    for cells in 16, 32:
        flow, exact = refined.taylor_green(cells, 0.05, 0.01, boxes, axis)
        found = refined.Reference(flow)
        errors.append(refined.rms_in_time(flow, list(zip(found.table[:, 0], found.states)), exact))
    case.at_least(f"Taylor-Green across {axis}, {name}: order", case.order([16, 32], errors), 1.9)


def lid():
    flow = {"cells": [16, 16, 4], "faces": {"x": ["wall", [0, 0, 0]], "ymin": ["wall", [0, 0, 0]], "ymax": ["wall", [0.1, 0, 0]],
                                            "z": "periodic"},
            "tau": 0.8, "boxes": [(1, [4, 8, 0], [12, 16, 4])], "steps": 200, "every": 200}
    two = refined.Reference(flow)
    fine = refined.Reference(flow | {"boxes": [(1, [0, 0, 0], [16, 16, 4])]})
    mean = fine.levels[1].reshape(16, 2, 16, 2, 4, 2, 4).mean(axis=(1, 3, 5))
    difference = numpy.nanmax(numpy.abs(two.levels[0] - mean)[..., 1:])
    inside = numpy.nanmax(numpy.abs(two.levels[1] - fine.levels[1])[..., 1:])
    case.at_most("lid across a seam: coarse velocity beside a fine grid", difference / 0.1, 0.03)
    case.at_most("lid across a seam: fine velocity beside a fine grid", inside / 0.1, 0.03)
    case.at_most("lid across a seam: change of mass a cell", abs(two.table[-1, 1] - two.table[0, 1]) / 1024, 1e-14)


for number in range(7):
    mass(number)
for axis in range(3):
    along(axis)
order("half fine", lambda cells, axes: [refined.half_along(cells, axes[0])], "z")
order("box fine", lambda cells, axes: [refined.box_in_the_middle(cells, axes)], "y")
lid()
case.finish()
