#!/usr/bin/python3
"""Every collision operator on flows that the grid hardly resolves: tables and a picture for docs/validation.md.

    scripts/operators.py TAGFLOW shear_layer [CELLS [SPEED]] [OPERATOR...]      (128, 0.05: a minute on two cores)
    scripts/operators.py TAGFLOW taylor_green [CELLS [SPEED]] [OPERATOR...]     (64, 0.05: a few minutes; 128: an hour)

An OPERATOR is its name, settings of `solver` after commas: cumulant,rates.bulk=1.9. Without, all that
`TAGFLOW keys` lists and those of MORE. A run that diverges is a row of the table like others.
shear_layer writes docs/images/operators.png if all are run.
"""
import argparse
import os
import sys
import tempfile

import numpy

import command_line  # noqa: F401 (finds the package tagflow)
import tagflow

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "physics"))
from reference import TAYLOR_GREEN, islands

MORE = ["trt,magic=0.001", "cumulant,rates.bulk=1.9", "cumulant,rates.third=1.8,rates.fourth=1.8"]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tagflow", help="the program")
parser.add_argument("flow", choices=["shear_layer", "taylor_green"])
parser.add_argument("more", nargs="*", help="cells, speed, operators")
o = parser.parse_args()
flow, rest = o.flow, o.more
numbers = [float(word) for word in rest if word[0].isdigit()]
chosen = [word for word in rest if not word[0].isdigit()]
speed = numbers[1] if len(numbers) > 1 else 0.05
folder = tempfile.TemporaryDirectory(prefix="tagflow_operators_")


def operators():
    names = tagflow.keys(o.tagflow)["solver.collision"]["type"].removeprefix("one of ").split(", ")
    names.remove("auto")  # it is one of the others
    return chosen or names + MORE


def run(case, operator, settings):
    """The series flow, the run, and the step at which it diverged or None."""
    where = os.path.join(folder.name, f"{case}_{operator}")
    name, *own = operator.split(",")
    settings = settings | {"solver.collision": name} | {f"solver.{pair.split('=')[0]}": pair.split("=")[1] for pair in own}
    try:
        done = tagflow.run(f"{ROOT}/configs/{case}.yaml", where, settings, overwrite=True, program=o.tagflow)
    except tagflow.DivergedError:
        done = tagflow.open_run(where)
    return done.series["flow"], done, done.step if done.state == "diverged" else None


def title(operator):
    name, *own = operator.split(",")
    return f"`{name}`" + (f", {', '.join(pair.replace('rates.', '').replace('=', ' ') for pair in own)}" if own else "")


# ---- double shear layer, Re 10^4 ----

def fields(done):
    """Velocity [x, y, 2] of the snapshots, by step."""
    return {snapshot.step: snapshot["velocity"][0].swapaxes(0, 1)[..., :2].astype(float) for snapshot in done.fields["main"]}


def curl(u):
    """Vorticity of a periodic field [x, y, 2] by Fourier transform, in units of velocity over length."""
    k = 2j * numpy.pi * numpy.fft.fftfreq(len(u), 1 / len(u))
    u = numpy.fft.fft2(u, axes=(0, 1)) / speed
    return numpy.fft.ifft2(k[:, None] * u[..., 1] - k[None] * u[..., 0]).real


def vortices(vorticity):
    """Connected places in a periodic plane with a vorticity above 40 U/L, more than there is in the layers."""
    return islands(numpy.abs(vorticity) > 40)


def layer(operator, cells):
    """A run to t = 1.5: velocity over U by step, energy and enstrophy over those of t = 0 by t U/L, when it diverged."""
    unit = round(cells / speed)
    series, done, died = run("shear_layer_re10000", operator, {
        "domain.cells": [cells, cells, 1], "fluid.length": cells, "fluid.velocity": speed, "solver.storage": "fp64",
        "run.steps": round(1.5 * unit), "check.every": unit // 64, "output": {"log": {"every": unit // 2}, "series": {"flow": {
            "every": unit // 64, "of": ["kinetic_energy", "enstrophy"]}},
            "fields": {"main": {"every": unit // 2, "of": "velocity", "precision": "fp64"}}}})
    return fields(done), series, died, unit


def half(u):
    """On half as many cells a side, means of four."""
    return (u[::2, ::2] + u[1::2, ::2] + u[::2, 1::2] + u[1::2, 1::2]) / 4


def shear_layer(cells):
    fine, series, _, unit = layer("bgk", 4 * cells)
    fine = half(half(fine[unit]))
    print("| `solver.collision` | goes on to t U/L | E(1)/E(0) | Omega(1)/Omega(0) | error of u | vortices |\n|---|---|---|---|---|---|")
    pictures = [(f"BGK, ${4 * cells}^2$ cells", curl(fine))]

    def row(name, series, died, unit, u):
        text = []
        for column in "kinetic_energy", "enstrophy":
            text.append(f"{series[column][64] / series[column][0]:.4f}" if len(series) > 64 else "-")
        error = f"{100 * numpy.sqrt(((u - fine)**2).sum() / (fine**2).sum()):.1f} %" if u is not None else "-"
        print(f"| {name} | {'1.5' if not died else f'{died / unit:.2f}, diverges'} | {text[0]} | {text[1]} | {error} | "
              f"{vortices(curl(u)) if u is not None else '-'} |", flush=True)

    row(f"`bgk`, {4 * cells}² cells", series, None, unit, fine)
    for operator in operators():
        found, series, died, unit = layer(operator, cells)
        row(title(operator), series, died, unit, found.get(unit))
        if operator in ("bgk", "trt", "rr", "cumulant"):
            pictures.append((operator.upper() if len(operator) < 4 else operator, curl(found[unit]) if unit in found else None))
    return pictures


def draw(pictures):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, len(pictures), figsize=(2.6 * len(pictures) + 0.8, 3), constrained_layout=True)
    for axis, (name, vorticity) in zip(axes, pictures):
        axis.set(title=name, xticks=[], yticks=[])
        if vorticity is None:
            axis.text(0.5, 0.5, "diverged", ha="center", transform=axis.transAxes)
        else:
            shown = axis.imshow(vorticity.T, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu_r", vmin=-50, vmax=50)
    figure.colorbar(shown, ax=axes, label="vorticity $L/U$", shrink=0.9)
    figure.savefig(os.path.join(ROOT, "docs", "images", "operators.png"), dpi=100)


# ---- Taylor-Green vortex, Re 1600 ----

def taylor_green(cells):
    length = cells / (2 * numpy.pi)
    unit = length / speed
    tenth = 2 * round(unit / 20)
    print("| `solver.collision` | goes on to t V/L | largest -dE/dt | off | at t V/L | rms error to t = 10 |\n|---|---|---|---|---|---|")
    for operator in operators():
        series, _, died = run("taylor_green_3d", operator, {
            "domain.cells": [cells] * 3, "fluid.length": length, "fluid.velocity": speed, "run.steps": round(10.5 * unit),
            "check.every": tenth, "output": {"log": {"every": tenth * 10}, "series": {"flow": {
                "every": tenth, "of": ["mass", "kinetic_energy"]}}}})
        time, energy = series["step"] / unit, series["kinetic_energy"] / series["mass"] / speed**2
        # by a parabola through nine samples, as vortex.py does: sound makes the energy swing a little
        slope = [-numpy.polyfit(time[i - 4:i + 5] - time[i], energy[i - 4:i + 5], 2)[1] for i in range(4, len(time) - 4)]
        slope, time = numpy.array(slope), time[4:-4]
        print(f"| {title(operator)} | " + judge(time, slope, died and died / unit) + " |", flush=True)


def judge(time, slope, died):
    """The columns of a row: the largest dissipation and the error of the curve relative to the reference's largest."""
    if died:
        return f"{died:.2f}, diverges | - | - | - | -"
    t, _, wanted = TAYLOR_GREEN[(TAYLOR_GREEN[:, 0] % 0.5 == 0) & (TAYLOR_GREEN[:, 0] > 0) & (TAYLOR_GREEN[:, 0] <= 10)].T
    top, best = slope.argmax(), 0.0128575
    error = numpy.sqrt(((numpy.interp(t, time, slope) - wanted)**2).mean()) / best
    return f"10 | {slope[top]:.6f} | {100 * (slope[top] / best - 1):+.1f} % | {time[top]:.2f} | {100 * error:.1f} %"


try:
    if flow == "shear_layer":
        pictures = shear_layer(int(numbers[0]) if numbers else 128)
        if not chosen:
            draw(pictures)
    else:
        taylor_green(int(numbers[0]) if numbers else 64)
except tagflow.TagflowError as error:
    print(f"operators.py: {error}", file=sys.stderr)
    sys.exit(error.exit_status)
