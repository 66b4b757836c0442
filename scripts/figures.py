#!/usr/bin/python3
"""Pictures for the documentation: docs/images/cavity.png and docs/images/shear_layer.png.

    scripts/figures.py TAGFLOW            (about a minute on two cores)
"""
import argparse
import os
import sys

import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tagflow", help="the program")
o = parser.parse_args()
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "physics"))
os.environ["TAGFLOW"] = os.path.abspath(o.tagflow)
import case
from reference import CAVITY_U, CAVITY_V


def save(figure, name):
    figure.savefig(os.path.join(ROOT, "docs", "images", name), dpi=100)
    plt.close(figure)


def square(run, speed):
    """Velocity in the plane z = 0, [x, y, component], and the places of the cells."""
    u = run.field()[:, :, 0] / speed
    return u, (numpy.arange(u.shape[0]) + 0.5) / u.shape[0]


def draw_cavities():
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), constrained_layout=True)
    for axis, name, reynolds, cells, steps in ((axes[0], "cavity_re100", 100, 64, 25000),
                                               (axes[1], "cavity", 1000, 128, 100000)):
        run = case.run(name, {"domain.cells": [cells, cells, 1], "run.steps": steps, "output": {
            "fields": {"main": {"every": steps, "of": "velocity"}}}})
        u, x = square(run, 0.1)
        picture = axis.imshow(numpy.hypot(u[..., 0], u[..., 1]).T, origin="lower", extent=(0, 1, 0, 1),
                              vmin=0, vmax=1, cmap="viridis")
        axis.streamplot(x, x, u[..., 0].T, u[..., 1].T, color="w", linewidth=0.5, arrowsize=0.5, density=1.6)
        axis.set(title=f"Re {reynolds}, ${cells}^2$ cells", xlabel="$x$", ylabel="$y$", xlim=(0, 1), ylim=(0, 1))
    figure.colorbar(picture, ax=axes[1], label="speed over the lid's", shrink=0.9)
    middle = len(x) // 2
    axes[2].plot(x, u[middle - 1:middle + 1, :, 0].mean(axis=0), "C0", label="$u$ along $y$")
    axes[2].plot(x, u[:, middle - 1:middle + 1, 1].mean(axis=1), "C1", label="$v$ along $x$")
    axes[2].plot(*CAVITY_U.T, "ko", markersize=3)
    axes[2].plot(*CAVITY_V.T, "ko", markersize=3, label="Botella, Peyret 1998")
    axes[2].set(title="Re 1000, centre lines", xlabel="$y$, $x$")
    axes[2].legend(frameon=False)
    save(figure, "cavity.png")


def draw_shear_layer():
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), constrained_layout=True)
    cells, speed = 256, 0.05
    run = case.run("shear_layer", {"domain.cells": [cells, cells, 1], "run.steps": 7680, "output": {
        "fields": {"main": {"every": 2560, "of": "velocity"}}}})
    for number, axis in enumerate(axes, 1):
        u = run.field(number=number)[:, :, 0] / speed
        vorticity = (numpy.gradient(u[..., 1], axis=0) - numpy.gradient(u[..., 0], axis=1)) * cells
        picture = axis.imshow(vorticity.T, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu_r", vmin=-50, vmax=50)
        axis.set(title=f"$t\\,U/L$ = {number / 2:g}", xlabel="$x$", ylabel="$y$" if number == 1 else None)
    figure.colorbar(picture, ax=axes, label="vorticity $L/U$", shrink=0.9)
    save(figure, "shear_layer.png")


draw_cavities()
draw_shear_layer()
