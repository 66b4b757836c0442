#!/usr/bin/python3
"""Velocities of Kovasznay's flow for configs/kovasznay.yaml, as files beside it.

    scripts/kovasznay.py            writes configs/kovasznay_{in,out}.csv

The flow behind a grid of cylinders one period apart, an exact solution of the Navier-Stokes equations
(Kovasznay, Math. Proc. Camb. Phil. Soc. 44:58, 1948): in periods, velocities over the mean one,

    u = 1 - exp(l x) cos(2 pi y),   v = l / (2 pi) exp(l x) sin(2 pi y),   p = (1 - exp(2 l x)) / 2,
    l = Re / 2 - sqrt(Re^2 / 4 + 4 pi^2).

A line of a file is a row of the face's cells, three components each.
"""
import argparse
import os

import numpy

REYNOLDS, CELLS, START, END = 40, 32, -0.5, 1.0


def flow(x, y, reynolds):
    """u, v and p at points."""
    rate = reynolds / 2 - numpy.sqrt(reynolds**2 / 4 + 4 * numpy.pi**2)
    e = numpy.exp(rate * x)
    return (1 - e * numpy.cos(2 * numpy.pi * y), rate / (2 * numpy.pi) * e * numpy.sin(2 * numpy.pi * y),
            0.5 * (1 - e * e) + 0 * y)


def write(path, velocities):
    """[cells of the second axis][cells of the first axis][3] as a profile."""
    with open(path, "w") as file:
        for row in velocities:
            file.write(",".join(f"{value:.17g}" for value in row.ravel()) + "\n")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    configs = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "configs")
    y = (numpy.arange(CELLS) + 0.5) / CELLS
    for name, x in ("in", START), ("out", END):
        u, v, _ = flow(x, y, REYNOLDS)
        write(os.path.join(configs, f"kovasznay_{name}.csv"), numpy.stack([u, v, numpy.zeros_like(u)], -1)[None])
