"""`scripts/scaling.py model`: predictions for many GPUs, and the model beside what was measured.

The model is that of `tagflow check --machine FILE --json FILE`, which is run for each row."""
import csv
import json
import math
import os
import shutil
import subprocess
import tempfile

from bench_file import POPULATION_BYTES, cells_text, read
from command_line import Wrong, quoted
from scaling_measure import read_measurement, weak_box
from tagflow.files import write_whole

COLUMNS = ("kind", "devices", "nx", "ny", "nz", "px", "py", "pz", "cells_a_device", "fits", "interior_us", "messages_us",
           "shell_us", "packing_us", "launches_us", "step_us", "glups", "efficiency", "halo_bytes", "halo_messages", "limit")
CASE = """\
domain: {{cells: [{}, {}, {}]}}
faces: {{x: periodic, y: periodic, z: periodic}}
fluid: {{viscosity: 0.1}}
solver: {{collision: bgk, storage: {}}}
run: {{steps: 1, ranks: {}}}
output: {{log: {{every: 1}}}}
"""


class Program:
    """Runs `tagflow check` in a folder of its own."""

    def __init__(self, path, folder, storage, machine):
        self.path, self.folder, self.storage = path, folder, storage
        self.machine = os.path.join(folder, "machine.yaml")
        with open(self.machine, "w", encoding="utf-8") as file:
            file.write(machine or "{}\n")

    def check(self, cells, ranks, cuts="auto"):
        """What it writes for a periodic box; Wrong, with what it says, if it refuses."""
        case, found = (os.path.join(self.folder, name) for name in ("case.yaml", "check.json"))
        with open(case, "w", encoding="utf-8") as file:
            file.write(CASE.format(*cells, self.storage, cuts))
        said = subprocess.run([self.path, "check", case, "--ranks", str(ranks), "--machine", self.machine, "--json", found],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if said.returncode:
            lines = [line for line in said.stderr.splitlines() if line.startswith("tagflow: ")]
            raise Wrong((quoted(lines[0][9:]) if lines else f"{quoted(self.path)} check: exit status {said.returncode}")
                        .replace(self.machine, "the machine").replace(case + ":", ""))
        with open(found, encoding="utf-8") as file:
            return json.load(file)


def measured_rate(path, storage):
    """(updates a second of one device, where from)"""
    found = read(path)
    if found["ranks"] != 1:
        raise Wrong(f"{quoted(path)} is of {found['ranks']} ranks: the model wants the speed of one device alone")
    rows = [row for row in found["rows"] if row["verified"] and row["case"] == "periodic" and row["collision"] == "bgk" and
            row["storage"] == storage]
    if not rows:
        raise Wrong(f"{quoted(path)} has no verified row of periodic, bgk, {storage}")
    row = max(rows, key=lambda row: math.prod(row["cells"]))
    return 1e6 * row["mlups"]["median"], (f"measured on {quoted(found.get('device', '?'))} with {cells_text(row['cells'])} cells "
                                          f"({quoted(path)})")


def machine_of(arguments):
    """(text of the machine file, where the device's rate comes from)"""
    given = [bool(arguments.bench), bool(arguments.glups)]
    text = ""
    if sum(given) > 1:
        raise Wrong("--bench and --glups: one of them, both tell how fast a device is")
    if arguments.machine:
        try:
            with open(arguments.machine, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise Wrong(f"{quoted(arguments.machine)}: {getattr(error, 'strerror', None) or 'no text'}") from None
        if text and not text.endswith("\n"):
            text += "\n"
    if arguments.bench:
        rate, source = measured_rate(arguments.bench, arguments.storage)
        return text + f"updates: {1e-6 * rate:.9g} MLUPS\n", source
    if arguments.glups:
        return text + f"updates: {arguments.glups:.9g} GLUPS\n", "as given"
    return text, None


def inputs(found, source, storage):
    """What the table is computed from, a line each."""
    m, size = found["machine"], POPULATION_BYTES[storage]
    update = 2 * 19 * size + 1
    rate = m["updates"] or m["bandwidth"] / update
    speed = f"{1e-9 * rate:.4g} GLUPS" if rate >= 1e9 else f"{1e-6 * rate:.4g} MLUPS"
    source = source or ("assumed, not measured" if m["assumed"] else "by the machine file")
    yield (f"one device: {speed} {storage} ({source}), {1e-9 * rate * update:.0f} GB/s; "
           f"shell and packing at {m['shell']:g} of that; {1e6 * m['launch']:g} us a launch")
    yield (f"nodes of {m['ranks_per_node']:g}: {1e-9 * m['node_bandwidth']:g} GB/s and {1e6 * m['node_latency']:g} us inside, "
           f"{1e-9 * m['network_bandwidth']:g} GB/s and {1e6 * m['network_latency']:g} us a device between them; "
           f"{m['reached']:g} of the bandwidth is reached; {1e6 * m['message']:g} us a message")


def predict(program, kind, devices, size):
    """One row: ({column: value}, what `check` wrote)"""
    cells = weak_box(size, devices) if kind == "weak" else size
    found = program.check(cells, devices)
    step, load = found["model"], found["model"]["load"]
    row = {"kind": kind, "devices": devices, "cells_a_device": round(load["interior"] + load["shell"]),
           "fits": found["largest_rank_bytes_on_gpu"] <= found["machine"]["memory"],
           "messages_us": 1e6 * (step["bandwidth"] + step["latency"]), "glups": step["glups"],
           "efficiency": step["efficiency"], "halo_bytes": load["bytes"], "halo_messages": load["messages"],
           "limit": step["limit"]}
    row |= {name + "_us": 1e6 * step[name] for name in ("interior", "shell", "packing", "launches", "step")}
    for k in range(3):
        row["n" + "xyz"[k]], row["p" + "xyz"[k]] = cells[k], found["cut"][k]
    return row, found


def table(rows):
    yield (f"{'GPUs':>5s} {'cells':>8s} {'cut':>13s} {'step':>7s} {'interior':>8s} {'messages':>8s} {'rest':>6s} {'GLUPS':>7s} "
           f"{'eff.':>5s}  limit")
    for row in rows:
        rest = row["shell_us"] + row["packing_us"] + row["launches_us"]
        cut = f"{row['px']} x {row['py']} x {row['pz']}"
        yield (f"{row['devices']:5d} {cells_text([row['nx'], row['ny'], row['nz']]):>8s} {cut:>13s} {row['step_us']:7.0f} "
               f"{row['interior_us']:8.0f} {row['messages_us']:8.0f} {rest:6.0f} {row['glups']:7.0f} "
               f"{100 * row['efficiency']:3.0f} %  {row['limit']}{'' if row['fits'] else ', no room'}")


def write_csv(rows):
    def write(path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()}
                             for row in rows)
    return write


def amounts(program, point):
    """What a rank does in a step of a measured point, the mean over ranks: cells of the interior, of the shell, bytes that
    packing and unpacking move, bytes of messages."""
    cells, cuts = ([int(point[letter + axis]) for axis in "xyz"] for letter in "np")
    mean = program.check(cells, math.prod(cuts), cuts)["mean"]
    return {"interior": mean["interior"], "shell": mean["shell"], "packing": 2 * mean["packed"], "messages": mean["bytes"]}


def seconds(point):
    """The same parts as measured, seconds of a step; messages are what was waited for."""
    step = 1e-6 * point["nx"] * point["ny"] * point["nz"] / point["mlups"]
    return {"interior": point["interior"] * step, "shell": point["shell"] * step,
            "packing": (point["pack"] + point["unpack"]) * step, "messages": point["wait"] * step}


def points_of(paths):
    """The points of several ranks in these files, and their storage."""
    points, storages = [], set()
    for path in paths:
        found = read_measurement(path)
        storages.add(found["storage"])
        points += [point for point in found["points"] if point["ranks"] > 1 and
                   all(isinstance(point.get(name), (int, float)) for name in ("interior", "shell", "pack", "unpack", "wait"))]
    if len(storages) > 1:
        raise Wrong(f"{', '.join(map(quoted, paths))} are of different storages: {', '.join(sorted(storages))}")
    if len(points) < 2:
        raise Wrong(f"{', '.join(map(quoted, paths))}: points of several ranks with phases: {len(points)}; two are needed, one to "
                    "learn from")
    return sorted(points, key=lambda point: (point["nx"] * point["ny"] * point["nz"], point["ranks"])), storages.pop()


def shares(parts):
    """(shell and packing, of the time in which the rank works; waiting, of the whole step), or None of a step of no time"""
    work = parts["interior"] + parts["shell"] + parts["packing"]
    return ((parts["shell"] + parts["packing"]) / work, parts["messages"] / (work + parts["messages"])) if work > 0 else None


def check(program, points):
    """The parts of a step of the largest box give the speed of each; with these, the others are predicted. Ranks that share a
    processor move messages themselves: nothing is hidden. Compared are shares of a step, not times, which change with the
    machine's mood; waiting apart from work, for on a machine that others use a rank waits for more than its messages."""
    known = points.pop()
    work, took = amounts(program, known), seconds(known)
    if took["interior"] <= 0 or work["interior"] <= 0:
        raise Wrong("the largest box has no interior: nothing to learn from")
    speed = {name: work[name] / took[name] if took[name] > 0 else math.inf for name in work}
    print(f"learnt from {cells_text([known['nx'], known['ny'], known['nz']])} on {known['ranks']} ranks: interior "
          f"{1e-6 * speed['interior']:.4g} MLUPS a rank, shell {speed['shell'] / speed['interior']:.2f} of that, packing "
          f"{1e-9 * speed['packing']:.3g} GB/s, messages {1e-9 * speed['messages']:.3g} GB/s")
    print(f"{'':32s} {'shell and packing':^27s}   {'waiting':^20s}")
    print(f"{'ranks':>5s} {'cells':>14s} {'cut':>11s}  {'model':>8s} {'measured':>9s} {'ratio':>7s}   {'model':>8s} {'measured':>9s}")
    for point in points:
        parts = shares(seconds(point))
        expected = shares({name: amount / speed[name] for name, amount in amounts(program, point).items()})
        if parts is None:
            raise Wrong(f"a point of {point['ranks']} ranks has no phases")
        ratio = f"{expected[0] / parts[0]:7.2f}" if parts[0] > 0 else f"{'-':>7s}"
        cut = f"{point['px']} x {point['py']} x {point['pz']}"
        print(f"{point['ranks']:5d} {cells_text([point['nx'], point['ny'], point['nz']]):>14s} {cut:>11s}  {100 * expected[0]:6.1f} % "
              f"{100 * parts[0]:7.1f} % {ratio}   {100 * expected[1]:6.1f} % {100 * parts[1]:7.1f} %")


def model(arguments):
    path = shutil.which(arguments.tagflow)
    if not path:
        raise Wrong(f"no program {quoted(arguments.tagflow)} (--tagflow PROGRAM)")
    with tempfile.TemporaryDirectory(prefix="scaling_") as folder:
        if arguments.check:
            points, storage = points_of(arguments.check)
            # Lines of a processor's cache are what its memory moves.
            check(Program(path, folder, storage, "sector: 64\n"), points)
        else:
            table_of(arguments, *machine_of(arguments), path, folder)


def table_of(arguments, machine, source, path, folder):
    program = Program(path, folder, arguments.storage, machine)
    kinds = [("weak", arguments.weak)] + [("strong", size) for size in arguments.strong or [(1024,) * 3, (2048,) * 3]]
    tables = [(kind, size, [predict(program, kind, devices, size) for devices in arguments.devices]) for kind, size in kinds]
    for line in inputs(tables[0][2][0][1], source, arguments.storage):
        print(line)
    for kind, size, rows in tables:
        print(f"\n{kind} scaling, {cells_text(list(size))} cells {'a device' if kind == 'weak' else 'in all'}; times in us; "
              "rest: shell, packing, launches")
        for line in table([row for row, _ in rows]):
            print(line)
    if arguments.csv:
        write_whole(arguments.csv, write_csv([row for _, _, rows in tables for row, _ in rows]))
