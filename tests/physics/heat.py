"""What the tests of scalars share: cases as maps, and the values of scalars, read from checkpoints.

A checkpoint holds the 7 populations g_i of a scalar's set as they arrive in each cell. Their sum E is the enthalpy, in units in
which the smallest heat capacity C of the case is 1, and the value relative to the reference is T = (E + S/2)/(C + decay/2).
"""
import glob
import json
import os
import subprocess
import sys

import h5py
import numpy

import case

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
_runs = 0


class Result:
    """A finished run of a case with scalars."""

    def __init__(self, folder, text):
        self.folder, self.text = folder, text

    def _files(self):
        return sorted(glob.glob(os.path.join(self.folder, "checkpoints", "*.h5")))

    def steps(self):
        return [int(os.path.basename(path)[len("step_"):-len(".h5")]) for path in self._files()]

    def populations(self, name, number=-1):
        """[x, y, z, i] of the number-th checkpoint; name: of a scalar, or None for the flow."""
        with h5py.File(self._files()[number]) as file:
            data = file["cells/sets/" + name if name else "cells/populations"][...].astype(float)
        return data.transpose(3, 2, 0, 1)

    def sums(self, name, number=-1):
        """The enthalpy of each cell."""
        return self.populations(name, number).sum(axis=3)

    def value(self, name="t", number=-1, capacity=1.0, source=0.0, decay=0.0):
        """Relative to the reference; capacity and so on: a number, or an array [x, y, z], in the populations' units."""
        return (self.sums(name, number) + source / 2) / (capacity + decay / 2)

    def velocity(self, number=-1):
        """Of the number-th snapshot `main`, [x, y, z, component]."""
        return case.Run(self.folder).field("velocity", "main", number)


def settings(cells, faces, scalars, **more):
    """A case in fp64 without outputs; `more`: its other sections."""
    text = {"domain": {"cells": list(cells)}, "fluid": {"viscosity": 0.1}, "solver": {"storage": "fp64", "arithmetic": "fp64"},
            "faces": faces, "scalars": scalars, "output": {"log": {"every": 0}}, "check": {"hang": "none"}}
    return text | more


def run(text, every=None):
    """Runs the case; every: interval of checkpoints, one is written at the end in any case."""
    global _runs
    _runs += 1
    text = dict(text)
    if every:
        text["checkpoint"] = {"every": every, "keep": 1000000}
    path = os.path.join(case.scratch(), f"heat{_runs}")
    with open(path + ".yaml", "w") as file:
        json.dump(text, file)  # JSON is YAML
    done = subprocess.run([os.environ["TAGFLOW"], "run", path + ".yaml", "--output", path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(json.dumps(text))
        print(done.stdout[-2000:])
        sys.exit(f"FAIL: exit status {done.returncode}")
    return Result(path, text)


def along(axis, first, second, third):
    """Three things, the first of them along the axis, the others in the order of the other axes."""
    others = [second, third]
    return [first if a == axis else others.pop(0) for a in range(3)]


def wall(**scalars):
    return {"wall": {"scalars": {name: value for name, value in scalars.items()}}}


def plates(axis, low, high):
    """Faces: two walls across the axis, periodic along the others."""
    letters = "xyz"
    return {f"{letters[axis]}min": wall(t=low), f"{letters[axis]}max": wall(t=high)} | {
        letters[a]: "periodic" for a in range(3) if a != axis}


def line(values, axis):
    """The values along the axis, and how far the worst cell is from the first of its plane."""
    moved = numpy.moveaxis(values, axis, 0)
    first = moved[:, 0, 0]
    return first, abs(moved - first[:, None, None]).max()
