#!/usr/bin/python3
"""What storage and arithmetic cost in accuracy: the tables of docs/physics.md, "Precision".

    scripts/precision.py [--quick] TAGFLOW [FLOW...]      (all: about ten minutes on two cores; --quick: one)

A FLOW is channels, vortices, cavity, mass, turbulence or rock; without, all. --quick takes small grids and leaves out the rock.
Results do not depend on the machine, to the bit. tests/physics/rounding.py runs the flows.
"""
import os
import subprocess
import sys

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "physics"))
import rounding
from reference import CAVITY_U, CAVITY_V
from rounding import PAIRS, relative


def head(*columns):
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)


def row(*columns):
    print("| " + " | ".join(columns) + " |", flush=True)


def title(pair):
    return f"{pair[0]}/{pair[1]}"


def rms(difference):
    return numpy.sqrt((difference**2).mean())


def channels(quick):
    """Relative error of the flow rate in steady straight flow."""
    head("flow", "H", "nu", "U", "H²/nu", *map(title, PAIRS))

    def line(name, flow, height, viscosity, speed, *more):
        error = []
        for pair in PAIRS:
            u, exact = flow(pair, height, viscosity, speed, *more)
            error.append(f"{u.sum() / exact.sum() - 1:.1e}")
        row(name, str(height), f"{viscosity:g}", f"{speed:g}", f"{height**2 / viscosity:.0f}", *error)

    heights = (8, 16) if quick else (8, 16, 32, 64)
    for height in heights:
        line("Poiseuille", rounding.channel, height, 0.1, 0.05)
    for speed in (1e-3,) if quick else (1e-3, 1e-5, 1e-7):
        line("Poiseuille", rounding.channel, 16, 0.1, speed)
    if not quick:
        line("Poiseuille", rounding.channel, 32, 0.4, 0.05)
        line("Poiseuille", rounding.channel, 32, 1.6, 0.05)
    line("Poiseuille, from twice the velocity", rounding.channel, heights[-2], 0.1, 0.05, 2)
    for height in heights[1:]:
        line("Couette", rounding.couette, height, 0.1, 0.05)


def vortices(quick):
    """Relative rms error of the velocity of decaying vortices: fp64 beside the exact one, the others beside fp64."""
    head("cells", "U", "L²/(8 pi² nu)", *map(title, PAIRS), "energy of the last")

    def line(cells, amplitude):
        u, base, _ = rounding.vortices(PAIRS[0], cells, amplitude)
        turn = 2 * numpy.pi * (numpy.arange(cells) + 0.5) / cells
        x, y = turn[:, None], turn[None]
        steps = cells**2 / (2 * 0.02 * (2 * numpy.pi)**2)
        exact = amplitude * numpy.exp(-round(steps) / steps) * numpy.stack(
            [-numpy.cos(x) * numpy.sin(y), numpy.sin(x) * numpy.cos(y)], axis=2)
        error = [relative(u, exact)]
        for pair in PAIRS[1:]:
            found, energy, _ = rounding.vortices(pair, cells, amplitude)
            error.append(relative(found, u))
        row(f"{cells}²", f"{amplitude:g}", f"{steps:.0f}", *(f"{e:.1e}" for e in error), f"{energy / base - 1:+.1e}")

    side = 32 if quick else 64
    for amplitude in (1e-1, 1e-3) if quick else (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        line(side, amplitude)
    for cells in (16,) if quick else (16, 32, 128, 256):
        line(cells, 1e-2)


def cavity(quick):
    """Re 1000: velocities on the centre lines, over the lid's."""
    cells = 48 if quick else 96
    head("pair", "u beside fp64: rms", "largest", "v beside fp64: rms", "largest", "u beside Botella and Peyret: rms", "v")
    base = None
    for pair in PAIRS:
        found = rounding.cavity(pair, cells, 1000 * cells)
        base = base or found
        columns = []
        for values, reference in zip(found, base):
            columns += [f"{rms(values - reference):.1e}", f"{numpy.abs(values - reference).max():.1e}"]
        columns += [f"{rms(found[0] - CAVITY_U[1:-1, 1]):.5f}", f"{rms(found[1] - CAVITY_V[1:-1, 1]):.5f}"]
        row(title(pair), *columns)


def mass(quick):
    """Relative change of the mass in a closed cube with a lid that moves, Re 100."""
    cells, steps = (16, 10000) if quick else (24, 100000)
    at = [steps // 100, steps // 10, steps]
    head("pair", *(f"after {step} steps" for step in at))
    for pair in PAIRS:
        change, _ = rounding.box(pair, cells, steps)
        row(title(pair), *(f"{change[step]:+.1e}" for step in at))


def turbulence(quick):
    """Taylor-Green, Re 1600, `rr`: relative changes of kinetic energy E and enstrophy Omega beside fp64, mass beside the start."""
    cells, end = 32 if quick else 64, 10.5
    head("pair", "E at t V/L = 10", "largest change of E", "largest Omega", "at t V/L", "largest -dE/dt", "mass")
    base = None
    for pair in PAIRS:
        v = rounding.turbulence(pair, cells, end, "rr")
        base = base or v
        error = [v.at(v.energy, 10) / base.at(base.energy, 10) - 1, numpy.abs(v.energy / base.energy - 1).max(),
                 v.enstrophy.max() / base.enstrophy.max() - 1, v.dissipation.max() / base.dissipation.max() - 1,
                 v.mass[-1] / v.mass[0] - 1]
        text = [f"{e:+.1e}" for e in error]
        row(title(pair), text[0], text[1][1:], text[2], f"{v.time[v.enstrophy.argmax()]:.2f}", *text[3:])


def rock(quick):
    """Permeability of configs/rock.yaml, lattice units."""
    head("pair", "k", "beside fp64")
    base = None
    for pair in PAIRS:
        k = rounding.rock(pair)
        base = base or k
        row(title(pair), f"{k:.6f}", f"{k / base - 1:+.1e}")


FLOWS = {f.__name__: f for f in (channels, vortices, cavity, mass, turbulence, rock)}


def main():
    words = [word for word in sys.argv[1:] if word != "--quick"]
    if not words or words[0].startswith("-"):
        print(__doc__)
        return 0 if words and words[0] in ("-h", "--help") else 2
    for word in words[1:]:
        if word not in FLOWS:
            print(f"precision.py: no flow {word} (one of {', '.join(FLOWS)})", file=sys.stderr)
            return 2
    tagflow = os.path.abspath(words[0])
    try:
        keys = subprocess.run([tagflow, "keys"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except OSError:
        keys = b""
    if b"fp16" not in keys:
        print(f"precision.py: {words[0]} is no tagflow, or one without fp16 (take build/tagflow)", file=sys.stderr)
        return 2
    os.environ["TAGFLOW"] = tagflow
    quick = "--quick" in sys.argv
    for name in words[1:] or [name for name in FLOWS if not (quick and name == "rock")]:
        print(f"\n{name}: {FLOWS[name].__doc__}")
        FLOWS[name](quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
