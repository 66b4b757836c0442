#!/usr/bin/python3
"""Flow past a row of cylinders, Reynolds number 20, at four places between the cells: what the walls lend to the forces.

Reference: none but symmetry. There is no lift, and the drag is the same wherever the cylinder lies between the cells. On 6.1
cells to the diameter neither holds: docs/bodies.md ("How many cells") says why and has the table that this makes. Asked for
is what tells a wall where the surface is from a staircase: c_L with interpolated walls, rms over the places, at most 0.08, where
0.057 was found, and with half-way walls twice that at least, found 2.5 times; the scatter of c_D, its standard deviation, at
most 0.01 (found 0.003) and three times that with half-way walls at least (found 0.05).

The box is 11.5 D x 4.9 D and one layer of cells, its axis 4.3 D behind the inlet. The last tenth of the run is taken: sound between
inlet and outlet, which both reflect it, then swings c_L by less than 0.01, half-way by 0.02.

    row.py 1.5,45,interpolated,0.1875 ...        rows of the table: D over 6.1, Reynolds number, wall, magic
"""
import sys

import numpy

import case

PLACES = (0.13, 0.85), (0.76, 0.26), (0.5, 0.45), (0.99, 0.195)


def forces_on(place, times, reynolds, wall, magic):
    """c_D, c_L of a cylinder of 6.1 cells or `times` as many, and by how much c_L still swings."""
    viscosity, d, cells = 0.0108, 6.1 * times, [round(70 * times), round(30 * times), 1]
    speed, steps = reynolds * viscosity / d, int(14000 * times**2)
    if speed > 0.09:
        sys.exit(f"row.py: Reynolds number {reynolds} takes more cells: the velocity would be {speed:.3g}")
    centre = [26 * times + place[0], 15 * times + place[1], 0.5]
    run = case.run("cylinder", case.FP64 | {
        "units": {"dx": "1 m", "dt": "1 s"}, "domain.cells": cells, "solver.magic": magic,
        "fluid": {"viscosity": viscosity, "velocity": speed, "length": d}, "initial.velocity": [speed, 0, 0],
        "faces": {"xmin": {"velocity": {"value": [speed, 0, 0]}}, "xmax": "pressure", "y": "periodic", "z": "periodic"},
        "bodies.cylinder": {"shape": {"cylinder": {"center": centre, "axis": "z", "radius": d / 2}}, "wall": wall},
        "run": {"steps": steps},
        "output": {"log": {"every": 0}, "series": {"drag": {"every": 50, "of": "forces", "body": "cylinder", "area": d}}}})
    forces = run.series("drag")
    run.remove()
    last = forces["step"] > 0.9 * steps
    return forces["c_x"][last].mean(), forces["c_y"][last].mean(), numpy.ptp(forces["c_y"][last])


def row(times, reynolds, wall, magic):
    """Scatter of c_D, rms of c_L over the places."""
    drag, lift, swing = numpy.array([forces_on(place, times, reynolds, wall, magic) for place in PLACES]).T
    rms = numpy.sqrt((lift**2).mean())
    print(f"     {wall}, magic {magic:g}, D = {6.1 * times:.3g}, Re {reynolds:g}, u/nu {reynolds / 6.1 / times:.3g}: c_D {drag.mean():.4f}, "
          f"scatter {drag.std():.4f}; c_L {rms:.4f} rms, {abs(lift).max():.4f} at most; swings by {swing.max():.1e}", flush=True)
    return drag.std(), rms


if len(sys.argv) > 1:
    for words in sys.argv[1:]:
        times, reynolds, wall, magic = words.split(",")
        row(float(times), float(reynolds), wall, float(magic))
    sys.exit()
good, stairs = (row(1, 20, wall, 3 / 16) for wall in ("interpolated", "halfway"))
case.at_most("interpolated: scatter of the drag coefficient", good[0], 0.01)
case.at_most("interpolated: lift coefficient, rms", good[1], 0.08)
case.at_least("half-way: scatter of the drag coefficient over that", stairs[0] / good[0], 3)
case.at_least("half-way: lift coefficient over that", stairs[1] / good[1], 2)
case.finish()
