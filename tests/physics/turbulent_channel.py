#!/usr/bin/python3
"""A channel at Re_tau 180 on few cells: its waves grow turbulent fluctuations, and momentum is balanced at every height.

Statistics take far longer than a test may (docs/validation.md); this looks at the first 0.45 h / u_tau. The waves of the start
must draw momentum to the walls: -<u'v'>, of which they have little at first and a laminar flow none, exceeds half of the wall's
stress (1.43 found), and what goes across the flow must stay above u_tau (1.74; the start's waves have 2.9, turbulence 1.2).
Momentum between y and the middle changes by what force and stress do, whatever the flow:
    total stress = a (h - y) - d/dt integral of U from y to h,
exactly in the continuum, for averages over a window with the velocities at its two ends. 0.0125 u_tau^2 is found from the fifth
cell on, 0.02 asked: central differences over cells of 11 wall units, and samples every second step. Nearer to the wall, where the
profile bends most, they are too coarse (0.05).
"""
import os
import sys

import numpy

import case

sys.path.insert(0, os.path.join(case.ROOT, "scripts"))
from channel import Channel

HALF, FRICTION, CELLS = 16, 0.0045, [64, 32, 32]
BEGIN, END = 400, 1600

run = case.run("channel_180", {
    "domain.cells": CELLS, "fluid.length": HALF, "fluid.viscosity": FRICTION * HALF / 180,
    "force.acceleration": [FRICTION**2 / HALF, 0, 0], "run.steps": END, "solver.storage": "fp64",
    "output": {"fields": {"main": {"every": BEGIN, "of": "velocity", "precision": "fp64"}},
               "averages": {"mean": {"every": 2, "of": ["velocity", "stress"], "from": BEGIN, "precision": "fp64"}}}})
steps = run.steps_of()
velocity = {step: run.field(number=i).astype(float) for i, step in enumerate(steps)}
across = {step: numpy.sqrt((u[..., 1:]**2).sum(axis=-1).mean()) / FRICTION for step, u in velocity.items()}
print("     v' and w' over u_tau:", ", ".join(f"{value:.3f} at {step}" for step, value in across.items()))
case.at_least("v' and w' at the end over u_tau", across[END], 1)

found = Channel(run.folder)
case.at_least("largest -<u'v'> over u_tau^2", (-found.uv / found.wall).max(), 0.5)
profile = {step: velocity[step][..., 0].mean(axis=(0, 2)) for step in (BEGIN, END)}
change = (profile[END] - profile[BEGIN])[:HALF] / (END - BEGIN)
change = (change + ((profile[END] - profile[BEGIN])[::-1] / (END - BEGIN))[:HALF]) / 2
heights = numpy.arange(1, HALF)
needed = 1 - heights / HALF - numpy.array([change[y:].sum() for y in heights]) / FRICTION**2
off = numpy.abs(found.total() - needed)
print("     off, from the wall:", " ".join(f"{o:.4f}" for o in off))
case.at_most("momentum balance, largest error over u_tau^2", off[4:].max(), 0.02)
case.finish()
