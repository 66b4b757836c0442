#!/usr/bin/python3
"""Flows at random that carry scalars give the same bits however they are run: random_cases.py's flows with one to six scalars, which faces
and bodies give values, over faces also by height or radius, fluxes and heat transfer, and which some of the bodies conduct; with buoyancy, sources, decay, species that turn
into each other, time functions, with the limiter and without; some have an image whose labels give other conditions than the rest of it. Every set of populations is compared, with memory for all cells or fluid alone, any instruction set,
threads, ranks from 1 to 8, and after a restart at an odd step on other ranks. What the program refuses counts as an answer, too.

    random_heat.py FIRST COUNT     numbers of the flows; a number always gives the same flow
"""
import glob
import json
import os
import random
import sys

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, tagflow, write
from random_cases import flow

FIRST, COUNT = map(int, sys.argv[1:])
ODD = 17  # the step of the restart
write("heights.csv", "0 0.3\n1.7 0.9\n4 0.2\n9 0.6\n")
# name, settings, ranks
WAYS = [("all cells, generic", {"run.sparse": "never", "run.isa": "generic", "run.sweep": 1}, 0),
        ("fluid alone", {"run.sparse": "always"}, 0),
        ("fluid alone, generic, 2 threads", {"run.sparse": "always", "run.isa": "generic", "run.threads": 2}, 0),
        ("3 steps a sweep, 3 threads", {"run.sparse": "never", "run.sweep": 3, "run.threads": 3}, 0),
        ("2 ranks, 2 steps a sweep", {"run.sparse": "never", "run.sweep": 2}, 2),
        ("3 ranks, fluid alone", {"run.sparse": "always"}, 3),
        ("4 ranks, all halos", {"run.exchange": "all"}, 4),
        ("8 ranks", {}, 8)]
RESTARTS = [("restart on 1 rank", {"run.sparse": "never"}, 0), ("restart on 3 ranks, fluid alone", {"run.sparse": "always"}, 3),
            ("restart on 8 ranks", {}, 8)]


def time_function(r):
    return r.choice([{}, {}, {"ramp": r.choice([9, 200])}, {"sine": {"period": r.uniform(5, 40), "mean": 0.5, "phase": 0.1}}])


def wall(r, conduct=False):
    """What a scalar meets at a wall."""
    kinds = ["adiabatic", {"value": r.uniform(0.2, 1)} | time_function(r), {"flux": r.uniform(-0.02, 0.02)} | time_function(r),
             {"transfer": {"coefficient": r.uniform(0.01, 2), "outside": r.uniform(0.1, 1)}} | time_function(r)]
    if conduct:
        solid = {"conductivity": r.choice([0.001, 0.05, 2.0]), "capacity": r.choice([0.2, 1, 7]), "source": r.choice([0, 1e-3])}
        kinds += [{"conduct": solid}] * 4
    return r.choice(kinds)


def opened(kind, key, scalars):
    """The face with what scalars meet there."""
    inner = kind[key] if isinstance(kind, dict) else {}
    return {key: inner | {"scalars": scalars}}


def face(r, kind, names):
    key = next(iter(kind)) if isinstance(kind, dict) else kind
    if key in ("periodic", "slip", "outflow", "nonreflecting"):
        return kind
    if key == "wall":
        return opened(kind, key, {name: wall(r) for name in names if r.random() < 0.8})
    values = {name: {"value": r.uniform(0.1, 1)} | time_function(r) for name in names}
    return opened(kind, key, values if key == "velocity" else {name: v for name, v in values.items() if r.random() < 0.6})


def vary(number, faces):
    """Lets some of the values that faces give vary over them."""
    r = random.Random(f"heights {number}")
    path = os.path.abspath("heights.csv")
    for name, kind in faces.items():
        inner = next(iter(kind.values())) if isinstance(kind, dict) else {}
        for meets in inner.get("scalars", {}).values():
            if "value" in meets and r.random() < 0.5:
                axis = r.choice([a for a in "xyz" if a != name[0]])
                meets["value"] = r.choice([{"height": {"file": path, "axis": axis, "length": r.uniform(0.5, 3)}}, {"radius": {"file": path}}])


def grains(number, cells, names, conduct):
    """A body that is an image of grains with labels 0 to 4, some of which have conditions of their own; the image may cover the whole box."""
    r = random.Random(f"grains {number}")
    size = [r.randrange(1, n + 1) for n in cells] if r.random() < 0.7 else list(cells)
    labels = numpy.random.default_rng(number).integers(0, 5, [-(-n // 3) for n in reversed(size)], dtype=numpy.uint8)
    labels[numpy.random.default_rng(number + 1).random(labels.shape) < 0.6] = 0
    labels = numpy.kron(labels, numpy.ones((3, 3, 3), numpy.uint8))[:size[2], :size[1], :size[0]]
    solid = [int(label) for label in numpy.unique(labels) if label]
    if not solid:
        return None
    path = os.path.abspath(f"grains{number}.raw")
    labels.tofile(path)
    image = {"file": path, "size": size, "solid": solid, "at": [r.randrange(n - m + 1) for n, m in zip(cells, size)],
             "flip": [a for a in "xyz" if r.random() < 0.3], "isolated": r.choice(["keep", "fill"])}
    apart = r.sample(solid, r.randrange(1, len(solid) + 1))
    return {"image": image if image["flip"] else {key: value for key, value in image.items() if key != "flip"},
            "scalars": {name: wall(r, conduct) for name in names if r.random() < 0.8},
            "labels": {str(label): {"scalars": {name: wall(r, conduct) for name in names if name == names[0] or r.random() < 0.7}}
                       for label in apart}}


def heated(number):
    """The flow of this number, with scalars."""
    r = random.Random(f"heat {number}")
    case = flow(number)
    if r.random() < 0.5:
        case["solver"]["arithmetic"] = "fp64" if case["solver"]["storage"] == "fp64" else "fp32"
    names = r.sample(["alpha", "beta", "gas", "heat", "salt", "zinc"], r.choice([1, 1, 2, 3, 6]))
    scalars, species = {}, []
    for name in names:
        kind = r.choice(["heat", "species"])
        s = {"kind": kind, "diffusivity": r.choice([0.0005, 0.004, 0.03, 0.3]), "initial": {"value": r.uniform(0, 1), "shapes": {
            "part": {"sphere": {"center": [n * r.random() for n in case["domain"]["cells"]], "radius": 5}, "value": 0.7}}}}
        if r.random() < 0.4:
            s["expansion"] = r.uniform(0, 1)
            case.setdefault("force", {})["gravity"] = [1e-5, -1e-4, 0]
        if r.random() < 0.3:
            s["source"] = 1e-4
        if r.random() < 0.3:
            s["decay"] = 0.003
        if r.random() < 0.3:
            s["reference"] = 0.5
        if s["diffusivity"] < 0.1 and (number + len(scalars)) % 2:
            s["limiter"] = "on"  # elsewhere auto
        if kind == "species":
            if species and r.random() < 0.7:
                s |= {"made_from": r.choice(species), "rate": 0.01}
            species.append(name)
        scalars[name] = s
    case["scalars"] = scalars
    case["faces"] = {name: face(r, kind, names) for name, kind in case["faces"].items()}
    vary(number, case["faces"])
    conduct = r.random() < 0.5  # else there may be memory for fluid alone
    for body in case.get("bodies", {}).values():
        if r.random() < 0.3:
            body["velocity"] = [0.02, -0.01, 0.01]
        body["scalars"] = {name: wall(r, conduct) for name in names if r.random() < 0.8}
    rock = grains(number, case["domain"]["cells"], names, conduct) if number % 2 else None
    if rock:  # before the bodies, which may cover a part of it
        case["bodies"] = {"rock": rock} | case.get("bodies", {})
    return case


def settings_for(text, settings):
    """What a way sets: memory for fluid alone cannot be where solids conduct."""
    return settings | {"run.sparse": "auto"} if '"conduct"' in text and settings.get("run.sparse") == "always" else settings


def mix(x):
    x = (x ^ x >> numpy.uint64(30)) * numpy.uint64(0xbf58476d1ce4e5b9)
    x = (x ^ x >> numpy.uint64(27)) * numpy.uint64(0x94d049bb133111eb)
    return x ^ x >> numpy.uint64(31)


def sets(folder):
    """What the last checkpoint holds: for each set a hash, made here from its populations; and are those of the file the same?"""
    path = sorted(glob.glob(f"{folder}/checkpoints/*.h5"))[-1]
    found = {}
    with h5py.File(path) as file:
        found["flow"] = file.attrs["state_hash"].decode()
        for name, data in file["cells/sets"].items():
            values = data[...].transpose(0, 2, 3, 1)  # [z, y, x, i]
            bits = values.view(numpy.uint64 if values.dtype.itemsize == 8 else numpy.uint32).astype(numpy.uint64).reshape(-1, 7)
            number = numpy.arange(len(bits), dtype=numpy.uint64)[:, None] * numpy.uint64(7) + numpy.arange(1, 8, dtype=numpy.uint64)
            holds = (values.reshape(-1, 7) != 0).any(axis=1)  # cells that hold the set
            with numpy.errstate(over="ignore"):
                found[name] = f"{int(mix(bits ^ mix(number))[holds].sum(dtype=numpy.uint64)):016x}"
            if found[name] != data.attrs["hash"].decode():
                found[name] += ", in the file " + data.attrs["hash"].decode()
            found[name] += f" {numpy.isfinite(values).all()}"
    return found


names, jobs, first = [], [], {}
for number in range(FIRST, FIRST + COUNT):
    text = json.dumps(heated(number))  # JSON is YAML
    case = write(f"heat{number}.yaml", text)
    said = tagflow("run", case, "--output", f"first{number}")
    if said.code == 2:
        check(len(said.errors) == 1, f"flow {number} is refused: {said}")
        first[number] = None
    elif check(said.code in (0, 3), f"flow {number}: exit status {said.code} {said.errors}"):
        first[number] = sets(f"first{number}") if said.code == 0 else said.errors
    if isinstance(first.get(number), dict):
        check(not any("False" in h or "file" in h for h in first[number].values()), f"flow {number}: {len(first[number]) - 1} scalars, finite, hashes as defined")
    for name, settings, ranks in WAYS:
        names.append((number, name))
        jobs.append(([case, *runs.sets(settings_for(text, settings)), "--output", f"run_{len(jobs)}"], ranks, None, None))
    if isinstance(first.get(number), dict):
        check(tagflow("run", case, "--set", f"run.steps={ODD}", "--output", f"odd{number}", ranks=2).code == 0, f"flow {number} to step {ODD} on 2 ranks")
        for name, settings, ranks in RESTARTS:
            names.append((number, name))
            jobs.append(([case, *runs.sets(settings_for(text, settings)), "--restart", glob.glob(f"odd{number}/checkpoints/*.h5")[0], "--output", f"run_{len(jobs)}"], ranks, None, None))
for k, ((number, name), (code, said)) in enumerate(zip(names, runs.together(jobs))):
    wanted = first.get(number, "no result")
    if wanted is None:
        check(code == 2, f"flow {number}, {name}: refused, exit status {code}")
    elif isinstance(wanted, list):
        check(code == 3, f"flow {number}, {name}: diverges, exit status {code}")
    else:
        found = sets(f"run_{k}") if code == 0 else f"exit status {code}: {said}"
        check(found == wanted, f"flow {number}, {name}: {len(wanted)} sets" + ("" if found == wanted else f": {found}, not {wanted}"))
answers = [answer for answer in first.values() if isinstance(answer, dict)]
check(len({json.dumps(answer) for answer in answers}) == len(answers) >= COUNT / 2, f"{len(answers)} of {COUNT} flows ran, with as many hashes")
runs.finish()
