#!/usr/bin/python3
"""What large relaxation times do: the tables of docs/lab/large_tau.md (ten minutes on two cores).

    scripts/large_tau.py TAGFLOW [channel|couette|lid|spheres]

Creeping flow, 16 cells across (the lid 32), for 40 tau steps and as long as viscosity takes. Cases that the program refuses
are tables' "refused"; with TAGFLOW of before that rule they are numbers.
"""
import argparse
import math
import os
import sys
import tempfile

import command_line  # noqa: F401 (finds the package tagflow)
import tagflow

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tagflow", help="the program")
parser.add_argument("flow", nargs="*", help="channel, couette, lid or spheres; without, all")
o = parser.parse_args()
program, wanted = os.path.abspath(o.tagflow), o.flow
for name in wanted:
    if name not in ("channel", "couette", "lid", "spheres"):
        parser.error(f"{name}: no flow (channel, couette, lid or spheres)")
folder = tempfile.TemporaryDirectory(prefix="tagflow_tau_")
os.chdir(folder.name)
METHODS = [("bgk", "fp32"), ("rr", "fp32"), ("cumulant", "fp32"), ("trt", "fp16"), ("trt", "fp32"), ("trt", "fp64")]
TAUS = [1, 2, 5, 10, 20, 50, 100, 300, 1000, 3000, 10000]
U, H = 1e-4, 16


def last(tau, method, cells, faces, series, column, **more):
    """The last value of the column, a tilde behind it if it still moves by 1e-3; or how the run ended."""
    collision, storage = method
    steps = int(max(40 * max(cells) ** 2 / ((tau - 0.5) / 3) / math.pi**2, 40 * tau)) // 10 * 10 + 10
    case = {"domain": {"cells": cells}, "fluid": {"viscosity": (tau - 0.5) / 3}, "solver": {"collision": collision, "storage": storage},
            "faces": faces, **more, "run": {"steps": steps}, "check": {"every": 0},
            "output": {"log": {"every": 0}, "series": {"a": {"every": steps // 10, **series}}}}
    try:
        values = tagflow.run(case, "out", overwrite=True, program=program).series["a"][column]
    except tagflow.CaseError:
        return "refused"
    except tagflow.DivergedError:
        return "diverges"
    return values[-1], "" if abs(values[-1] - values[-2]) < 1e-3 * abs(values[-1]) else "~"


def shown(result, right):
    return result if isinstance(result, str) else f"{result[0] / right - 1:+.1g}{result[1]}"


def channel(tau, method):
    force = 8 * (tau - 0.5) / 3 * U / H**2
    result = last(tau, method, [4, H, 4], {"x": "periodic", "y": "wall", "z": "periodic"}, {"of": "flow_rate", "axis": "x"}, "volume_flow",
                  force={"acceleration": [force, 0, 0]})
    return shown(result, 2 / 3 * U * (1 + 0.5 / H**2) * H * 4)  # the sum over the cells of a parabola


def couette(tau, method):
    result = last(tau, method, [4, H, 4], {"x": "periodic", "ymin": "wall", "ymax": {"wall": {"velocity": [U, 0, 0]}}, "z": "periodic"},
                  {"of": "flow_rate", "axis": "x"}, "volume_flow")
    return shown(result, 0.5 * U * H * 4)


def lid(tau, method):
    result = last(tau, method, [32, 32, 1], {"x": "wall", "ymin": "wall", "ymax": {"wall": {"velocity": [U, 0, 0]}}, "z": "periodic"},
                  {"of": "kinetic_energy"}, "kinetic_energy")
    return shown(result, 33.667 * U**2)  # of TRT in fp64 at tau 1


def spheres(tau, method):
    result = last(tau, method, [16, 16, 16], dict.fromkeys("xyz", "periodic"), {"of": "permeability", "axis": "x"}, "permeability",
                  bodies={"s": {"shape": {"sphere": {"center": [8, 8, 8], "radius": 5}}}},
                  force={"acceleration": [1e-5 * (tau - 0.5) / 3 * U, 0, 0]})
    return shown(result, 9.1541)  # of TRT in fp64 at tau 1


try:
    for flow in channel, couette, lid, spheres:
        if wanted and flow.__name__ not in wanted:
            continue
        print(f"\n| {flow.__name__}: tau | " + " | ".join(f"{c} {s}" for c, s in METHODS) + " |\n|" + "---|" * (len(METHODS) + 1))
        for tau in TAUS:
            print(f"| {tau} | " + " | ".join(flow(tau, method) for method in METHODS) + " |", flush=True)
except tagflow.TagflowError as error:
    sys.exit(f"large_tau.py: {error}")
