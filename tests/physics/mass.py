#!/usr/bin/python3
"""Mass of a cavity over 100,000 steps. Argument: fp64 | fp32.

Reference: the mass at step 0, walls and lid adding none. The series' mass is an exact sum of what the
cells hold, so what drifts is the rounding of the steps. Tolerance: 1e-12 of the mass in fp64 and 1e-6 in
fp32; a rounding error of one sign, 1.1e-16 and 6e-8 a step, would make 1e-11 and 6e-3. A lid whose
momentum is scaled with the cell's density adds mass: 7 % in 40,000 steps.
"""
import sys

import numpy

import case

precision = sys.argv[1]
CELLS = 16
run = case.run("cavity_cube", {
    "domain.cells": [CELLS] * 3, "fluid": {"reynolds": 100, "velocity": 0.1, "length": CELLS},
    "solver": {"collision": "trt", "storage": precision}, "run.steps": 100000,
    "output": {"series": {"flow": {"every": 5000, "of": ["mass", "kinetic_energy", "max_velocity"]}}}})
flow = run.series()
drift = numpy.abs(flow["mass"] - CELLS**3).max() / CELLS**3
case.at_most(f"largest relative change of mass, {precision}", drift, 1e-12 if precision == "fp64" else 1e-6)
case.at_least("largest velocity over the lid's: the fluid moves", flow["max_velocity"][-1] / 0.1, 0.5)
case.finish()
