"""`scripts/scaling.py model`: predictions for many GPUs, and the model beside what was measured."""
import csv
import math
import statistics

import scaling_model
from bench_file import cells_text, read
from command_line import Wrong, quoted
from scaling_measure import read_measurement
from scaling_model import Machine
from tagflow.files import write_whole

# Name of the option, what kind of value, its unit, help. Units are those of the data sheets; SCALE makes them SI.
ASSUMPTIONS = [
    ("shell", "share", "SHARE", "speed of the shell and of packing, as a share of the device's (default: 0.5, assumed)"),
    ("launch", "us", "US", "of a kernel launch (default: 5, assumed)"),
    ("per_node", "count", "N", "devices of a node (default: 8)"),
    ("node_bandwidth", "GB/s", "GB/S", "from a device to others of its node, each way (default: 450: NVLink 4, data sheet of "
                                       "H100 and H200)"),
    ("node_latency", "us", "US", "of it (default: 3, assumed)"),
    ("network_bandwidth", "GB/s", "GB/S", "from a device to other nodes, each way (default: 50: InfiniBand NDR, 400 Gb/s, one "
                                          "port a GPU, data sheet)"),
    ("network_latency", "us", "US", "of it (default: 5, assumed)"),
    ("message", "us", "US", "of the host for each message (default: 1, assumed)"),
    ("reached", "share", "SHARE", "of these bandwidths that messages get (default: 0.8, assumed)"),
    ("memory", "GB", "GB", "of a device (default: 141: H200, data sheet)"),
]
SCALE = {"us": 1e-6, "GB/s": 1e9, "GB": 1e9, "share": 1, "count": 1}
GLUPS = {"fp16": 47.0, "fp32": 25.0, "fp64": 12.5}  # of a device that moves 3.8 TB/s
COLUMNS = ("kind", "devices", "nx", "ny", "nz", "px", "py", "pz", "cells_a_device", "fits", "interior_us", "messages_us",
           "shell_us", "packing_us", "launches_us", "step_us", "glups", "efficiency", "halo_bytes", "halo_messages", "limit")


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
    """(the machine, where its speed comes from)"""
    given = {name: getattr(arguments, name) * SCALE[kind] for name, kind, _, _ in ASSUMPTIONS
             if getattr(arguments, name) is not None}
    if arguments.bench and arguments.glups:
        raise Wrong("--bench and --glups: one of them, both say how fast a device is")
    if arguments.bench:
        rate, source = measured_rate(arguments.bench, arguments.storage)
    elif arguments.glups:
        rate, source = 1e9 * arguments.glups, "as given"
    else:
        rate, source = 1e9 * GLUPS[arguments.storage], "assumed, not measured"
    return Machine(rate=rate, storage=arguments.storage, **given), source


def inputs(machine, source):
    """What the table is computed from, a line each."""
    speed = f"{1e-9 * machine.rate:.4g} GLUPS" if machine.rate >= 1e9 else f"{1e-6 * machine.rate:.4g} MLUPS"
    yield (f"one device: {speed} {machine.storage} ({source}), "
           f"{1e-9 * machine.rate * scaling_model.bytes_per_update(machine.storage):.0f} GB/s; "
           f"shell and packing at {machine.shell:g} of that; {1e6 * machine.launch:g} us a launch")
    yield (f"nodes of {machine.per_node}: {1e-9 * machine.node_bandwidth:g} GB/s and {1e6 * machine.node_latency:g} us inside, "
           f"{1e-9 * machine.network_bandwidth:g} GB/s and {1e6 * machine.network_latency:g} us a device between them; "
           f"{machine.reached:g} of the bandwidth is reached; {1e6 * machine.message:g} us a message")


def predict(machine, kind, devices, size):
    """One row: {column: value}; None when the box cannot be cut so."""
    cells = scaling_model.weak_box(size, devices) if kind == "weak" else size
    cuts = scaling_model.cut(cells, devices)
    if cuts is None:
        return None
    parts = scaling_model.step(machine, cells, cuts)
    total = math.prod(cells)
    row = {"kind": kind, "devices": devices, "cells_a_device": parts["cells"],
           "fits": parts["cells"] * scaling_model.bytes_per_cell(machine.storage) <= machine.memory,
           "messages_us": 1e6 * (parts["bandwidth"] + parts["latency"]), "glups": 1e-9 * total / parts["step"],
           "efficiency": total / devices / machine.rate / parts["step"], "halo_bytes": parts["bytes"],
           "halo_messages": parts["messages"], "limit": scaling_model.limit(machine, parts)}
    row |= {name + "_us": 1e6 * parts[name] for name in ("interior", "shell", "packing", "launches", "step")}
    for k in range(3):
        row["n" + "xyz"[k]], row["p" + "xyz"[k]] = cells[k], cuts[k]
    return row


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


def amounts(point, storage):
    """What a rank does in a step of a measured point: cells of the interior, of the shell, bytes that packing and unpacking
    move, bytes of messages."""
    cells, cuts = (tuple(int(point[letter + axis]) for axis in "xyz") for letter in "np")
    machine = Machine(rate=1, storage=storage, sector=64)  # lines of a processor's cache
    ranks = range(math.prod(cuts))
    found = []
    for rank in ranks:
        _, n = scaling_model.block(cells, cuts, rank)
        shell, interior = scaling_model.shell_boxes(n, cuts)
        sent = scaling_model.messages(cells, cuts, rank)
        size = sum(count for _, _, count in sent) * machine.size()
        moved = 2 * size + 2 * sum(scaling_model.touched_bytes(machine, i, n, count) for i, _, count in sent)
        found.append({"interior": interior, "shell": sum(shell), "packing": moved, "messages": size})
    return {name: statistics.mean(rank[name] for rank in found) for name in found[0]}


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


def check(paths):
    """The parts of a step of the largest box give the speed of each; with these, the others are predicted. Ranks that share a
    processor move messages themselves: nothing is hidden. Compared are shares of a step, not times, which change with the
    machine's mood; waiting apart from work, for on a machine that others use a rank waits for more than its messages."""
    points, storage = points_of(paths)
    known = points.pop()
    work, took = amounts(known, storage), seconds(known)
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
        expected = shares({name: amount / speed[name] for name, amount in amounts(point, storage).items()})
        if parts is None:
            raise Wrong(f"a point of {point['ranks']} ranks has no phases")
        ratio = f"{expected[0] / parts[0]:7.2f}" if parts[0] > 0 else f"{'-':>7s}"
        cut = f"{point['px']} x {point['py']} x {point['pz']}"
        print(f"{point['ranks']:5d} {cells_text([point['nx'], point['ny'], point['nz']]):>14s} {cut:>11s}  {100 * expected[0]:6.1f} % "
              f"{100 * parts[0]:7.1f} % {ratio}   {100 * expected[1]:6.1f} % {100 * parts[1]:7.1f} %")


def model(arguments):
    if arguments.check:
        check(arguments.check)
        return
    machine, source = machine_of(arguments)
    kinds = [("weak", arguments.weak)] + [("strong", size) for size in arguments.strong or [(1024,) * 3, (2048,) * 3]]
    tables = []
    for kind, size in kinds:
        rows = [predict(machine, kind, devices, size) for devices in arguments.devices]
        if None in rows:
            raise Wrong(f"{cells_text(list(size))} cells cannot be shared by {arguments.devices[rows.index(None)]} devices")
        tables.append((kind, size, rows))
    for line in inputs(machine, source):
        print(line)
    for kind, size, rows in tables:
        print(f"\n{kind} scaling, {cells_text(list(size))} cells {'a device' if kind == 'weak' else 'in all'}; times in us; "
              "rest: shell, packing, launches")
        for line in table(rows):
            print(line)
    if arguments.csv:
        write_whole(arguments.csv, write_csv([row for _, _, rows in tables for row in rows]))
