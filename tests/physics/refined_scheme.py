#!/usr/bin/python3
"""tagflow on refined grids beside refined_reference.c, a program that does the same the plain way: with two lattices and transit
cells.

Fluid has TRT, in one case BGK; storage and arithmetic are fp64. Density and velocity are compared in each cell of each level
after some tens of steps, so that sound has crossed the box and the interface: 1e-13, for rounding alone (densities and velocities
have rounding errors of 1e-16 a step). The cells of each level must be the same. Coarse cells under finer ones have the mean of
these.
"""
import numpy

import case
import refined

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
REST = ["wall", [0, 0, 0]]
CHANNEL = {"x": "periodic", "y": REST, "z": "periodic"}
LID = {"x": REST, "ymin": REST, "ymax": ["wall", [0.05, 0, 0.02]], "z": "periodic"}
BOX = {"x": REST, "y": REST, "z": REST}
ABC = {"flow": "abc", "amplitude": 0.03}
STREAM = {"flow": "uniform", "velocity": [0.04, 0.01, -0.03]}
VORTICES = {"flow": "taylor_green_2d", "amplitude": 0.05, "axis": "z"}
PULSE = {"flow": "pulse", "density": 0.01, "center": [5, 6, 7], "width": 3, "velocity": [0.03, 0.02, -0.01]}


def compare(name, cells, faces, boxes, initial, steps=30, ranks=1, **more):
    flow = {"cells": cells, "faces": faces, "boxes": boxes, "initial": initial, "steps": steps, "tau": 0.6} | more
    reference = refined.Reference(flow)
    step, written = refined.snapshots(case.run("couette", refined.settings(flow), ranks=ranks), flow)[-1]
    found = refined.uncovered(flow, written)
    case.near(f"{name}: step", step, steps, 0)
    for level, (mine, other) in enumerate(zip(reference.levels, found)):
        there, also = ~numpy.isnan(mine[..., 0]), ~numpy.isnan(other[..., 0])
        case.at_most(f"{name}: cells of level {level} that only one of both has, of {there.sum()}", (there != also).sum(), 0)
        if numpy.array_equal(there, also):
            difference = numpy.abs(mine - other)
            where = numpy.unravel_index(numpy.nanargmax(difference), difference.shape)
            case.at_most(f"{name}: level {level}, largest difference (cell {where[:3]}, {'ruvw'[where[3]]})", difference[where], 1e-13)
    for level in range(len(written) - 1):
        fine = written[level + 1]
        shape = [n << level for n in cells]
        mean = fine.reshape(shape[0], 2, shape[1], 2, shape[2], 2, 4).mean(axis=(1, 3, 5))
        under = ~numpy.isnan(mean[..., 0])
        case.at_most(f"{name}: level {level} under finer cells, less their mean",
                     numpy.abs(written[level] - mean)[under].max(), 1e-15)


compare("one region", [16, 12, 16], PERIODIC, [(1, [4, 4, 4], [12, 8, 12])], PULSE)
compare("cube", [16, 16, 16], PERIODIC, [(1, [4, 4, 4], [12, 12, 12])], ABC, ranks=2)
compare("two regions", [24, 12, 12], PERIODIC, [(1, [0, 4, 4], [8, 8, 8]), (1, [16, 0, 0], [20, 8, 4])], PULSE)
compare("L", [16, 16, 12], PERIODIC, [(1, [4, 4, 4], [12, 8, 8]), (1, [4, 4, 4], [8, 12, 8])], PULSE, ranks=3)
compare("bricks that touch at edges and corners", [16, 16, 16], PERIODIC,
        [(1, [4, 4, 4], [8, 8, 8]), (1, [8, 8, 4], [12, 12, 8]), (1, [0, 8, 8], [4, 12, 12])], ABC)
compare("three levels", [12, 12, 12], PERIODIC, [(1, [0, 0, 0], [8, 8, 8]), (2, [4, 4, 4], [12, 12, 12])], ABC, steps=16)
compare("three levels at a wall", [12, 8, 12], CHANNEL, [(1, [0, 0, 0], [8, 8, 8]), (2, [4, 0, 4], [12, 8, 12])], STREAM, steps=16,
        ranks=2)
compare("at a wall", [16, 12, 12], CHANNEL, [(1, [4, 0, 4], [12, 4, 8])], STREAM, acceleration=[1e-4, -2e-5, 3e-5])
compare("beside a wall", [16, 12, 12], CHANNEL, [(1, [4, 4, 4], [12, 8, 8])], STREAM)
compare("in a corner", [12, 12, 12], BOX, [(1, [0, 0, 0], [4, 4, 4]), (1, [8, 4, 0], [12, 8, 8])], STREAM)
compare("lid across a seam", [16, 12, 8], LID, [(1, [4, 8, 4], [12, 12, 8])], {"flow": "rest"}, ranks=2)
compare("lid, fine corner", [12, 12, 8], LID, [(1, [0, 8, 0], [4, 12, 8])], {"flow": "rest"})
compare("slip across a seam", [16, 12, 12], {"x": "periodic", "y": "slip", "z": "periodic"},
        [(1, [4, 0, 4], [12, 4, 8]), (1, [12, 8, 4], [16, 12, 12])], PULSE)
compare("slip and wall, edges", [12, 12, 12], {"x": "slip", "ymin": REST, "ymax": "slip", "zmin": "slip", "zmax": ["wall", [0, 0.03, 0]]},
        [(1, [0, 0, 0], [4, 4, 8]), (1, [8, 8, 4], [12, 12, 12])], PULSE)
compare("round a periodic face", [16, 12, 12], PERIODIC, [(1, [0, 4, 4], [4, 8, 8]), (1, [12, 4, 4], [16, 8, 8])], PULSE, ranks=2)
compare("strip", [16, 12, 8], PERIODIC, [(1, [4, 0, 0], [12, 12, 8])], PULSE)
compare("strip between walls", [16, 12, 4], CHANNEL, [(1, [4, 0, 0], [12, 12, 4])], STREAM, acceleration=[1e-4, 0, 0])
compare("thin", [16, 16, 1], PERIODIC, [(1, [4, 4, 0], [12, 12, 1])], VORTICES, steps=60)
compare("thin, half", [16, 16, 1], PERIODIC, [(1, [0, 0, 0], [16, 8, 1])], VORTICES, steps=60, ranks=2)
compare("thin lid", [15, 14, 1], LID, [(1, [0, 8, 0], [15, 14, 1])], {"flow": "rest"}, steps=60)
compare("two cells", [2, 16, 2], CHANNEL, [(1, [0, 0, 0], [2, 8, 2])], {"flow": "rest"}, acceleration=[1e-4, 0, 1e-5], steps=60)
compare("bgk", [16, 16, 1], PERIODIC, [(1, [4, 4, 0], [12, 12, 1])], VORTICES, collision="bgk", tau=0.8)
compare("shear layer", [24, 24, 1], PERIODIC, [(1, [4, 0, 0], [12, 16, 1])],
        {"flow": "shear_layer", "amplitude": 0.04, "axis": "z", "thickness": 20, "perturbation": 0.05}, magic=0.25, tau=0.52, steps=60)
for number in range(10, 19):
    flow = refined.random_flow(number)
    compare(f"random {number}", flow.pop("cells"), flow.pop("faces"), flow.pop("boxes"), PULSE, steps=8, ranks=1 + number % 2 * 2, **flow)
case.finish()
