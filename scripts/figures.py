#!/usr/bin/python3
"""Pictures for the documentation: cavity.png, shear_layer.png and refined.png in docs/images.

    scripts/figures.py TAGFLOW [NAME...]            (about a minute on two cores)
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
parser.add_argument("names", nargs="*", help="cavity, shear_layer, refined; all without")
o = parser.parse_args()
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "physics"))
os.environ["TAGFLOW"] = os.path.abspath(o.tagflow)
import case
import refined
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


def vortex_on_an_edge():
    """Vorticity on one grid of fine cells, that on levels, and the box of level 1 in parts of the box."""
    cells = 96
    flow = refined.stream(cells, 6, [(1, [cells // 2, cells // 2, 0], [cells, cells, 1])])
    write = {"output.fields.main.of": "vorticity"}
    one = 2 * case.run("couette", refined.settings(refined.twice(flow)) | write).field("vorticity")[..., 2]
    levels = refined.vorticity(case.run("couette", refined.settings(flow) | write), flow)
    return one, [values[..., 2] for values in levels], (0.5, 0.5, 1, 1)


def layer_on_an_edge():
    one = refined.shear_layer(256, [], 30)[0][0].repeat(2, 2)
    return one, refined.shear_layer(128, [(1, [32, 0, 0], [64, 64, 1])], 30)[0], (0.25, 0, 0.5, 0.5)


def draw_refined():
    figure, axes = plt.subplots(2, 3, figsize=(11, 7.2), constrained_layout=True)
    for row, (one, levels, box) in zip(axes, (vortex_on_an_edge(), layer_on_an_edge())):
        # Beside a coarse cell stands the mean of the fine ones in it.
        same = refined.finest([refined.eight(one), numpy.where(numpy.isnan(levels[1]), numpy.nan, one)])
        one, same, two = (values[:, :, 0] / numpy.abs(one).max() for values in (one, same, refined.finest(levels)))
        for axis, what, title, limit, colors in ((row[0], one, "one grid", 1, "RdBu_r"), (row[1], two, "levels", 1, "RdBu_r"),
                                                 (row[2], 100 * (two - same), "difference", 4, "PuOr_r")):
            picture = axis.imshow(what.T, origin="lower", extent=(0, 1, 0, 1), cmap=colors, vmin=-limit, vmax=limit)
            axis.set(title=title, xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
            if axis is not row[0]:
                axis.add_patch(plt.Rectangle(box[:2], box[2] - box[0], box[3] - box[1], fill=False, color="k", linewidth=0.8))
            if axis is row[1]:
                figure.colorbar(picture, ax=row[:2], label="vorticity over its largest", shrink=0.9)
        figure.colorbar(picture, ax=row[2], label="% of the largest", shrink=0.9)
    save(figure, "refined.png")


DRAW = {"cavity": draw_cavities, "shear_layer": draw_shear_layer, "refined": draw_refined}
for name in o.names or DRAW:
    DRAW[name]()
