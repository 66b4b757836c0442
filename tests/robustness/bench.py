#!/usr/bin/python3
"""`tagflow bench`: its table and its file say the same and all of it, wrong options are told in a line, and there is no
rate without a check that passed."""
import json
import math
import os
import re
import subprocess

import runs
from runs import check, tagflow

# Small and short: what is said is tested here, not speed.
QUICK = ["--cells", "16", "--seconds", "0.01", "--repeat", "3"]


def bench(*arguments, ranks=0, env=None):
    return tagflow("bench", *arguments, ranks=ranks, env=env)


def rows_of(table):
    """Of the first table: {(case, cells, collision, storage): the rest of the line}."""
    lines = table.split("least-most")[1].split("\n\n")[0].splitlines()[1:]
    return {tuple(line.split()[:4]): line.split(None, 4)[4] for line in lines if not line.startswith("  ")}


# The table, and the file beside it.
said = bench(*QUICK, "--case", "all", "--collision", "central_hermite", "--json", "all.json")
file = runs.load(".", "all.json") if check(said.code == 0 and not said.err, f"all cases: {said}") else {}
rows = rows_of(said.out)
check(len(rows) == 33 == len(file["rows"]), f"{len(rows)} rows in the table, {len(file['rows'])} in the file: 11 cases, 3 storages")
check(max(map(len, said.out.splitlines())) <= 100, "the table is at most 100 columns wide")
facts = {"tagflow": "bench", "format": 1, "backend": "cpu", "ranks": 1, "hosts": 1, "driver": None}
check(all(file[k] == v for k, v in facts.items()), f"the file says {facts}")
check(re.fullmatch(r"tagflow bench --cells 16 --seconds 0.01 --repeat 3 --case all --collision central_hermite --json "
                   "all.json", file["command"]), f"and how it was made: {file['command']}")
check(all(isinstance(file[k], str) and file[k] for k in
          ("version", "commit", "host", "compiler", "flags", "buildtype", "device", "processor", "mpi", "isa")) and
      re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", file["time"]) and "-ffp-contract=off" in file["flags"] and
      file["cores"] >= 1 and file["threads"] >= 1 and file["memory_gb"] > 0, "and on what")
for row in file["rows"]:
    name = (row["case"], "16^3", row["collision"], row["storage"])
    bytes_stored = int(row["storage"][2:]) / 8
    # Of 16^3 cells the middle 8^3 have half the width: 4096 - 512 + 4096 cells, the last with two updates in a step.
    refined = row["case"] == "refined"
    cells = 7680 if refined else 4096
    levels = (row.get("levels"), row.get("updates_per_step")) == ((2, 3584 + 2 * 4096) if refined else (None, None))
    spreads = [row["mlups"], row["mflups"], row["share"], row["ceiling"]["mlups"]]
    good = (row["verified"] and levels and row["cells"] == [16, 16, 16] == (row["verified_cells"] or [16, 16, 16]) and
            (row["verified_cells"] is None) == refined and row["steps"] >= 1 and
            row["repeats"] == 3 and name in rows and row["bytes_per_update"] == 2 * 19 * bytes_stored + 1 + (14 * max(4, bytes_stored) if row["case"] == "heat" else 0) and
            all(len(s["all"]) == 3 and s["least"] == min(s["all"]) and s["most"] == max(s["all"]) and
                s["median"] == sorted(s["all"])[1] and s["least"] > 0 for s in spreads) and
            all(math.isclose(r, f / c, rel_tol=1e-6) for r, f, c in
                zip(row["share"]["all"], row["mflups"]["all"], row["ceiling"]["mlups"]["all"])) and
            math.isclose(row["gbs"], row["mflups"]["median"] * row["bytes_per_update"] / 1e3, rel_tol=1e-6) and
            math.isclose(row["mflups"]["median"] / row["mlups"]["median"], row["fluid_cells"] / cells, rel_tol=1e-6) and
            row["ceiling"]["way"] and re.fullmatch("[0-9a-f]{16}", row["state_hash"]) and row["imbalance"] == 1 and
            row["sweep"] == 1 and row["share_of_sweep"] == row["share"] and
            row["bytes_per_cell"] > 19 * bytes_stored and row["phases"]["step"] == 1 and
            0 < row["phases"]["interior"] <= 1 and ("seam" in row["phases"]) == refined and
            (not refined or 0.9 < row["phases"]["interior"] + row["phases"]["seam"] <= 1 + 1e-6) and
            math.isclose(row["bytes_per_fluid_cell"] * row["fluid_cells"], row["bytes_per_cell"] * cells, rel_tol=1e-6) and
            row["mass_kept"] == (row["case"] not in ("inlet", "curved", "tunnel")) and ("rock" in row) == (row["case"] == "rock"))
    # The last columns of the table: the part of the periodic box's rate, GB/s, share of the ceiling, bytes a fluid cell, steps a sweep.
    box = next(other for other in file["rows"] if other["case"] == "periodic" and
               (other["collision"], other["storage"]) == (row["collision"], row["storage"]))
    shown = rows.get(name, "").split()
    part = 100 * row["mflups"]["median"] / box["mflups"]["median"]
    part = [] if row["case"] == "periodic" else [f"{part:.0f}%" if part < 999.5 else ">999%"]
    good = good and shown[3:-4] == part and shown[-2:] == [f"{row['bytes_per_fluid_cell']:.1f}", "1"]
    check(good, f"{' '.join(name)}: {row['fluid_cells']} fluid cells, what is in the file fits together: {shown}")
check("The plain step has one level: steps of the case refined are not compared" in " ".join(said.out.split()),
      "it says that steps of refined grids are not compared")
solid = {row["case"]: 1 - row["fluid_cells"] / 4096 for row in file["rows"] if row["case"] != "refined"}
check(not any(solid[case] for case in ("periodic", "cavity", "heat", "channel", "slip", "inlet")) and
      0 < solid["sphere"] == solid["curved"] == solid["tunnel"] < 0.1 and abs(solid["rock"] - 0.6) < 0.02, f"solid parts {solid}")
check("The rules of these in the plain steps are the program's own" in " ".join(said.out.split()),
      "it says what the plain step of open faces is made of")

# Rock of another kind: what is asked for and what was made is in the table and in the file.
for porosity, radius, more in ("0.2", "5", []), ("0.95", "3.5", ["--set", "run.sparse=never"]), ("0.7", None, []):
    said = bench("--cells", "32,24,40", "--seconds", "0.01", "--repeat", "1", "--case", "rock", "--storage", "fp32", "--porosity",
                 porosity, *(["--radius", radius] if radius else []), *more, "--json", "rock.json")
    if not check(said.code == 0, f"rock of porosity {porosity} and radius {radius}: {said}"):
        continue
    row = runs.load(".", "rock.json")["rows"][0]
    rock, made = row["rock"], row["fluid_cells"] / (32 * 24 * 40)
    check(rock["porosity_asked"] == float(porosity) and rock["radius"] == float(radius or 2.4) and abs(made - float(porosity)) < 0.02 and
          math.isclose(rock["porosity"], made, rel_tol=1e-6) and f"Rock of 32x24x40: porosity {made:.4f} (asked for: {porosity}), "
          f"spheres of radius {radius or 2.4} cells." in said.out, f"asked for {porosity}, {radius}: made {rock}")
    # without the periodic box there is no part of its rate
    check(" box " not in said.out and row["sparse"] == (porosity == "0.2") and
          76 < row["bytes_per_fluid_cell"] and (row["bytes_per_fluid_cell"] < 76 / made) == row["sparse"], f"of sparse memory {row['sparse']}: {said.out}")
said = bench(*QUICK[2:], "--cells", "20", "--case", "rock", "--storage", "fp32", "--set", "run.sparse=always", "--json", "rock.json")
rock = runs.load(".", "rock.json")["rows"][0]["rock"]
check(said.code == 0 and rock["porosity_asked"] == 0.4 and rock["radius"] == 2, f"the default: {rock}")

# Each rank verifies its part.
said = bench("--cells", "18,13,12", *QUICK[2:], "--case", "tunnel,inlet,slip,curved,rock,heat", "--porosity", "0.6", "--threads", "1",
             "--storage", "fp32", "--json", "hash.json", ranks=2)
check(said.code == 0 and [row["verified"] for row in runs.load(".", "hash.json")["rows"]] == [True] * 6, f"on two ranks: {said}")

# The state is that of the steps, not of the machine: the same for threads and ranks.
hashes = set()
for ranks, more in (0, ["--threads", "1"]), (0, ["--threads", "2"]), (0, ["--threads", "2", "--set", "run.sweep=3"]), (2, []), (3, []):
    said = bench("--cells", "12,20,9", "--steps", "7", "--repeat", "2", "--case", "cavity", "--collision", "rr", *more,
                 "--storage", "fp32", "--json", "hash.json", ranks=ranks)
    if not check(said.code == 0, f"{ranks} ranks {more}: {said}"):
        continue
    file = runs.load(".", "hash.json")
    row = file["rows"][0]
    hashes.add((row["state_hash"], row["state_step"], row["steps"]))
    check(file["ranks"] == max(ranks, 1) and len(file["rows"]) == 1 and said.out.count("MFLUPS:") == 1 and
          math.isclose(row["mlups_per_rank"] * file["ranks"], row["mlups"]["median"], rel_tol=1e-6),
          f"{file['ranks']} ranks of {file['threads']} threads: one table, one file")
check(len(hashes) == 1, f"state, its step and the steps of a repeat: {hashes}")

# Sizes: several, odd ones, the smallest.
said = bench("--cells", "1", "--cells", "1,1,40", "--cells=3x17x2", "--case", "periodic,cavity,channel", "--seconds", "0.001",
             "--repeat", "1", "--storage", "fp64")
rows = rows_of(said.out)
check(said.code == 0 and len(rows) == 9 and ("channel", "3x17x2", "bgk", "fp64") in rows, f"cells of all kinds: {said}")
said = bench("--cells", "4,1,1", *QUICK[2:], "--case", "periodic,cavity", "--storage", "fp32,fp64", ranks=4)
check(said.code == 0 and said.out.count("periodic 4x1x1") == 4, f"one cell a rank: {said}")

# A grid too large for plain steps is verified on a smaller one, and that is said.
said = bench("--cells", "136,136,120", "--steps", "2", "--repeat", "1", "--case", "periodic", "--storage", "fp32", "--json",
             "long.json")
row = runs.load(".", "long.json")["rows"][0]
check(said.code == 0 and row["verified"] and row["verified_cells"] != row["cells"] and "smaller grid" in " ".join(said.out.split()),
      f"2.2 million cells, verified on {row.get('verified_cells')}: {said}")

# What is not right, or cannot be known to be, has no rate and ends with exit status 1.
said = bench(*QUICK, "--case", "cavity,channel", "--set", "regions={a: {box: {from: [0, 0, 0], to: [4, 4, 4]}, collision: rr}}",
             "--storage", "fp32", "--json", "wrong.json")
rows = runs.load(".", "wrong.json")["rows"]
check(said.code == 1 and "2 of 2 rows did not pass" in said.errors[-1] and len(said.lines) == 1, f"regions: {said}")
check(said.out.count("no rate") == 2 and "does not know" in said.out and "MFLUPS:" not in said.out, "their rows have no rate")
check([sorted(row) for row in rows] ==
      [sorted(["case", "cells", "collision", "storage", "arithmetic", "verified", "why"])] * 2 and
      not any(row["verified"] for row in rows), "nor in the file")
said = bench(*QUICK, "--case", "channel", "--set", "force.acceleration=[0.1, 0, 0]", "--steps", "300", "--storage", "fp32")
check(said.code == 2 and "--steps and --seconds" in said.err, "--steps and --seconds together")
said = bench("--cells", "16", "--repeat", "2", "--case", "channel", "--set", "force.acceleration=[0.1, 0, 0]", "--steps",
             "300", "--storage", "fp32", ranks=2)
check(said.code == 1 and "no rate" in said.out and "not finite or out of range" in said.out, f"a flow that diverges: {said}")

# Flow that does not fit what comes in, where no mass can be compared.
said = bench(*QUICK, "--case", "tunnel", "--set", "initial={flow: uniform, velocity: [0.01, 0, 0]}", "--storage", "fp32")
check(said.code == 1 and "no rate" in said.out and "comes in" in said.out, f"a tunnel in which little flows: {said}")
said = bench("--cells", "16", "--repeat", "1", "--case", "inlet", "--set", "faces.xmax={pressure: {density: 1.05}}", "--storage",
             "fp32", "--steps", "400")
check(said.code == 1 and "no rate" in said.out and ("mean density" in said.out or "comes in" in said.out),
      f"an outlet of density 1.05: {said}")

# The user's mistakes and the machine's: one line each, before anything is measured.
for code, words, arguments in [
        (2, "not a number of cells", ["--cells", "0"]), (2, "not a number of cells", ["--cells", "4x4"]),
        (2, "not a number of cells", ["--cells", "1,2,3,4"]), (2, "not a number of cells", ["--cells", "1,2x3"]),
        (2, "not a number of cells", ["--cells", "99999999999"]), (2, "out of range", ["--cells", "2147483647"]),
        (2, "did you mean cavity", ["--case", "cavty"]), (2, "an empty name", ["--case", "periodic,"]),
        (2, "or all", ["--storage", "float"]), (2, "needs a value", ["--json"]), (2, "needs the name", ["--json="]),
        (2, "whole number", ["--repeat", "0"]), (2, "whole number", ["--steps", "1.5"]), (2, "whole number", ["--threads", "0"]),
        (2, "number of seconds", ["--seconds", "nan"]), (2, "not a backend", ["--backend", "gpu"]),
        (2, "did you mean --json", ["--jsn", "x"]), (2, "not known here", ["case.yaml"]),
        (2, "unknown key", ["--set", "foo=1"]), (2, "--cells alone", ["--set", "domain.cells=[3, 3, 3]"]),
        (2, "--collision alone", ["--storage", "fp32", "--set", "solver.collision=rr"]),
        (2, "no such pair", ["--storage", "fp64", "--arithmetic", "fp32"]),
        (2, "needs at least 8", ["--case", "rock", "--cells", "7"]), (2, "needs at least 8", ["--case", "tunnel", "--cells", "7"]),
        (2, "not a number from 0.05 to 0.95", ["--case", "rock", "--porosity", "0"]), (2, "needs a value", ["--porosity"]),
        (2, "not a number from 0.05 to 0.95", ["--case", "rock", "--porosity", "20%"]),
        (2, "not a number from 0.05 to 0.95", ["--case", "rock", "--porosity=nan"]),
        (2, "not a number of cells from 1 to 10000", ["--case", "rock", "--radius", "0.5"]),
        (2, "not a number of cells from 1 to 10000", ["--case", "rock", "--radius="]),
        (2, "at most a radius of 8", ["--case", "rock", "--cells", "16", "--radius", "8.5"]),
        (2, "at most 7200: at least --radius 2.7", ["--case", "rock", "--cells", "64", "--porosity", "0.2", "--radius", "1.5"]),
        (2, "--porosity is of the rock alone", ["--case", "tunnel", "--porosity", "0.2"]),
        (2, "--radius is of the rock alone", ["--radius", "4"]),
        (1, "free (give less --cells", ["--cells", "20000"]),
        (1, "No such file", ["--json", "none/of.json"]), (1, "is a folder", ["--json", "."])]:
    for ranks in [0, 2] if code == 1 or "foo=1" in arguments or "8.5" in arguments else [0]:
        said = bench("--backend", "cpu", *arguments, ranks=ranks)  # auto says first why it is not the GPU
        check(said.code == code and len(said.lines) == 1 and words in said.err and not said.out, f"{arguments}, {ranks}: {said}")
with open("kept.json", "w") as kept:
    kept.write("{}")
said = bench("--cells", "8", "--case", "rock", "--set", "run.ranks=[2, 1, 1]", "--json", "kept.json")
check(said.code == 2 and open("kept.json").read() == "{}", f"a bench that fails leaves the file of another alone: {said}")
check(sorted(runs.tree()) == sorted(["all.json", "hash.json", "long.json", "wrong.json", "kept.json", "rock.json"]), f"nothing else is written: {runs.tree()}")
if os.path.exists("/dev/full"):
    with open("/dev/full", "w") as full:
        process = subprocess.run([runs.TAGFLOW, "bench", *QUICK, "--storage", "fp32"], stdout=full, stderr=subprocess.PIPE, text=True)
    check(process.returncode == 1 and "standard output" in process.stderr, "a table that cannot be written is told")
said = runs.unread("bench", *QUICK, "--storage", "fp32", "--json", "unread.json")
check(said.code == 0 and not said.err and runs.load(".", "unread.json")["rows"], f"one that nobody reads is no failure: {said}")

runs.finish()
