"""A second implementation of the model of docs/scaling.md, by which tests/robustness/scaling.py checks what
`tagflow check --machine` computes. Times in seconds, sizes in bytes, rates in updates or bytes a second.
"""
import dataclasses
import functools
import math

# The D3Q19 lattice, as include/lattice.h numbers it.
VELOCITIES = ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (1, 1, 0), (-1, -1, 0),
              (1, 0, 1), (-1, 0, -1), (0, 1, 1), (0, -1, -1), (1, -1, 0), (-1, 1, 0), (1, 0, -1), (-1, 0, 1), (0, 1, -1),
              (0, -1, 1))
Q = len(VELOCITIES)
POPULATION_BYTES = {"fp16": 2, "fp32": 4, "fp64": 8}
SHELL_THICKNESS = (32, 1, 1)
PRICE = (8, 1.25, 1)  # of a cut across x, y, z


def bytes_per_update(storage):
    """19 populations read and written, and the tag."""
    return 2 * Q * POPULATION_BYTES[storage] + 1


def _divisors(n):
    low = [k for k in range(1, math.isqrt(n) + 1) if n % k == 0]
    return low + [n // k for k in reversed(low) if k * k != n]


def _cost(cells, cuts):
    n = [float((cells[a] + cuts[a] - 1) // cuts[a]) for a in range(3)]
    volume = n[0] * n[1] * n[2]
    halo = 0.0
    for a in range(3):
        if cuts[a] > 1:
            halo += PRICE[a] * volume / n[a]
    return volume + halo


def cut(cells, ranks):
    """(px, py, pz) as the program chooses them; None if there is no way to place so many ranks."""
    best = None
    for pz in _divisors(ranks):
        for py in _divisors(ranks // pz):
            candidate = (ranks // pz // py, py, pz)
            if any(candidate[a] > cells[a] for a in range(3)):
                continue
            cost = _cost(cells, candidate)
            if best is None or cost < best[0]:
                best = (cost, candidate)
    return best and best[1]


def block(cells, cuts, rank):
    """((i, j, k) of the rank, (nx, ny, nz) of its block)"""
    at = (rank % cuts[0], rank // cuts[0] % cuts[1], rank // cuts[0] // cuts[1])
    return at, tuple(cells[a] * (at[a] + 1) // cuts[a] - cells[a] * at[a] // cuts[a] for a in range(3))


def travellers(direction):
    """Populations of a cell that leave through the face or edge."""
    return 5 if direction <= 6 else 1


def messages(cells, cuts, rank, periodic=(True, True, True)):
    """[(direction, rank it goes to, populations)] that a rank sends in a step. An axis that is not cut sends nothing."""
    at, n = block(cells, cuts, rank)
    found = []
    for i in range(1, Q):
        there, count = list(at), travellers(i)
        for a in range(3):
            there[a] += VELOCITIES[i][a]
            if VELOCITIES[i][a] == 0:
                count *= n[a]
            elif cuts[a] == 1 or (not 0 <= there[a] < cuts[a] and not periodic[a]):
                break
            there[a] %= cuts[a]
        else:
            found.append((i, (there[2] * cuts[1] + there[1]) * cuts[0] + there[0], count))
    return found


def shell_boxes(n, cuts):
    """(cells of each box of the shell, those other ranks wait for; cells of the interior)"""
    left, shell = list(n), []
    for a in (2, 1, 0):
        if cuts[a] == 1:
            continue
        for _ in range(2):
            if left[a] == 0:
                continue
            depth = min(left[a], SHELL_THICKNESS[a])
            shell.append(depth * math.prod(left[b] for b in range(3) if b != a))
            left[a] -= depth
    return [cells for cells in shell if cells], math.prod(left)


@dataclasses.dataclass(frozen=True)
class Machine:
    """One rank's device, and how messages leave it."""
    rate: float  # lattice updates a second of one device, none of it lost
    storage: str = "fp32"
    shell: float = 0.5  # the shell's and the packing's speed as a share of that: thin boxes, scattered memory
    launch: float = 5e-6  # a kernel launch
    sector: int = 32  # bytes that memory moves at least
    per_node: int = 8
    node_bandwidth: float = 450e9
    node_latency: float = 3e-6
    network_bandwidth: float = 50e9
    network_latency: float = 5e-6
    message: float = 1e-6  # of the host, for each message sent and received
    reached: float = 0.8  # share of the bandwidths that messages get

    def size(self):
        return POPULATION_BYTES[self.storage]


def touched_bytes(machine, direction, n, count):
    """What memory moves of the populations themselves to pack or unpack a message: whole sectors of each row along x,
    or one for each population where the message has a single cell of a row."""
    size = machine.size()
    if VELOCITIES[direction][0]:
        return count * max(machine.sector, size)
    return count // n[0] * (math.ceil(n[0] * size / machine.sector) + 1) * machine.sector


@functools.lru_cache(maxsize=None)
def _rank_parts(machine, n, cuts, counts, inside, outside):
    """See step(): of a rank with messages of these (direction, populations), so many bytes of them inside its node and
    outside."""
    size = machine.size()
    shell, interior = shell_boxes(n, cuts)
    memory = machine.rate * bytes_per_update(machine.storage) * machine.shell
    packing = sum(touched_bytes(machine, i, n, count) + count * size for i, count in counts) / memory
    bandwidth = max(inside / machine.node_bandwidth, outside / machine.network_bandwidth) / machine.reached
    latency = 0.0
    if counts:
        latency = (machine.network_latency if outside else machine.node_latency) + len(counts) * machine.message
    parts = {"interior": interior / machine.rate,
             "shell": sum(shell) / (machine.rate * machine.shell),
             "packing": 2 * packing,
             # The shell, packing and unpacking, one after the other; the interior's waits for none of them.
             "launches": (3 if counts else 1) * machine.launch,
             "bandwidth": bandwidth, "latency": latency}
    hidden = min(parts["interior"], bandwidth + latency)
    parts["step"] = sum(parts[name] for name in ("interior", "shell", "packing", "launches", "bandwidth", "latency")) - hidden
    return parts


def step(machine, cells, cuts):
    """A step of the rank that takes longest: {part: seconds}. `step` = launches + shell + packing (and unpacking) +
    max(interior, bandwidth + latency of the messages)."""
    slowest = None
    for rank in range(math.prod(cuts)):
        _, n = block(cells, cuts, rank)
        sent = messages(cells, cuts, rank)
        home = rank // machine.per_node
        inside = sum(count for _, to, count in sent if to // machine.per_node == home) * machine.size()
        outside = sum(count for _, to, count in sent if to // machine.per_node != home) * machine.size()
        parts = _rank_parts(machine, n, tuple(cuts), tuple((i, count) for i, _, count in sent), inside, outside)
        if slowest is None or parts["step"] > slowest["step"]:
            slowest = parts | {"cells": math.prod(n), "bytes": inside + outside, "outside": outside, "messages": len(sent)}
    return slowest


def limit(machine, parts):
    """What to improve first: the interior, that is the devices themselves, at an efficiency of 0.9 and more; else what
    would shorten the step most if it took no time (the shell: if it were as fast as the interior)."""
    if parts["cells"] / machine.rate >= 0.9 * parts["step"]:
        return "interior"
    wait = parts["bandwidth"] + parts["latency"]
    seen = max(wait - parts["interior"], 0)
    gain = {"shell": parts["shell"] * (1 - machine.shell), "packing": parts["packing"], "launches": parts["launches"],
            "network": min(parts["bandwidth"], seen), "latency": min(parts["latency"], seen)}
    return max(gain, key=gain.get)
