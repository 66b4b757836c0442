#!/usr/bin/python3
"""A fluid at rest stays at rest near tau = 1/2: what a point-like pulse leaves does not grow, with any operator.

The pulse has waves of all lengths and directions, the collisions that follow are linear in it. The kinetic energy falls with
a stable operator, by 10 at least in 3000 steps: at most what it was in the first hundred is asked. An unstable one makes it grow
by the square of its largest eigenvalue each step, 1.0028 for raw moments at tau 0.502: 6300 times as much, and with
the populations of `rr` and `gauss_hermite` without their N_zz/6 the run diverges. Operators of which tagflow's log says that short
waves grow (docs/physics.md, "Where operators fail") must be seen to do so.
"""
import os
import re
import subprocess

import case

STEPS = 3000
keys = subprocess.run([os.environ["TAGFLOW"], "keys"], stdout=subprocess.PIPE, text=True, check=True).stdout
operators = re.search(r"^solver.collision\n.*\n +type: one of (.*)", keys, re.M)[1].split(", ")
for tau in 0.51, 0.502:
    for operator in operators:
        run = case.run("abc", {
            "domain.cells": [16, 16, 16], "fluid": {"viscosity": (tau - 0.5) / 3}, "run.steps": STEPS,
            "solver": {"collision": operator, "storage": "fp64"}, "check.max_velocity": 0.5,
            "initial": {"flow": "pulse", "width": 1, "density": 1e-6},
            "output": {"series": {"flow": {"every": 10, "of": ["kinetic_energy"]}}}})
        energy = run.series()["kinetic_energy"]
        growth = energy[-10:].max() / energy[:11].max()
        with open(run.folder + "/log.txt") as file:
            known = "short waves grow" in file.read()
        if known:
            case.at_least(f"tau {tau}, {operator}, known to be unstable: energy over that of the start", growth, 10)
        else:
            case.at_most(f"tau {tau}, {operator}: energy over that of the start", growth, 1)
case.finish()
