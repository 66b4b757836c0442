#!/usr/bin/python3
"""Messages between ranks may come late, whatever is computed meanwhile: the same bits. A preloaded library
(tests/slow_link.c) holds each message for a time, and until then shows NaN where it will be; it says how many it
held. A step takes at least as long as a message: bounds from below, which no load can break.

    slow_link.py SLOW_LINK_SO
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import check, load, tagflow, write

LINK = os.path.abspath(sys.argv[1])
STEPS = 41
BOXES = {
    "periodic": """\
domain:  {cells: [17, 17, 17]}
fluid:   {viscosity: 0.01, velocity: 0.08, length: 17}
initial: {flow: taylor_green_3d}
faces:   {x: periodic, y: periodic, z: periodic}
""",
    "walls": """\
domain:  {cells: [18, 17, 16]}
fluid:   {viscosity: 0.02, velocity: 0.08, length: 16}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.08, 0, 0.02]}}, z: wall}
""",
}
# Cuts, and the messages that each rank gets in a step: one a face, one an edge where two axes are cut.
TRIED = [
    ("periodic", [1, 1, 2], [2, 2]),
    ("periodic", [1, 1, 3], [2, 2, 2]),
    ("periodic", [1, 2, 2], [8, 8, 8, 8]),
    ("walls", [1, 1, 3], [1, 2, 1]),
    ("walls", [3, 1, 1], [1, 2, 1]),
    ("walls", [1, 2, 2], [3, 3, 3, 3]),
]


def run(box, folder, cut=None, steps=STEPS, more=None, **slow):
    """How it ended, the state hash, seconds from its start to its end, and what the library saw on each rank."""
    env = {f"SLOW_LINK_{name.upper()}": str(value) for name, value in slow.items()}
    if slow:
        env |= {"LD_PRELOAD": LINK, "SLOW_LINK_COUNTS": os.path.abspath(folder + "_counts")}
    ranks = cut[0] * cut[1] * cut[2] if cut else 0
    settings = {"run.steps": steps, "check.every": 7, "output": {"log": {"every": 0}}}
    settings |= {"run.ranks": cut} if cut else {}
    begin = time.monotonic()
    said = tagflow("run", box + ".yaml", "--output", folder, *runs.sets(settings | (more or {})), ranks=ranks, env=env)
    seconds = time.monotonic() - begin
    if said.code != 0:
        return said, None, seconds, []
    seen = [load(".", f"{folder}_counts.{rank}") for rank in range(ranks)] if "seconds" in slow else []
    return said, load(folder, "report.json")["state_hash"], seconds, seen


def held(box, cut, delay, messages, hashes):
    """A run with that delay: the same bits; every message held, for at least that time; no step shorter than it."""
    name = f"{box} {'x'.join(map(str, cut))}, messages of {1e3 * delay:g} ms"
    said, state, seconds, seen = run(box, f"{box}_{cut}_{delay}".replace(" ", ""), cut, seconds=delay)
    if not check(said.code == 0 and state == hashes[box], f"{name}: the same bits: {said}"):
        return
    counts = [rank["messages"] for rank in seen]
    check(counts == [STEPS * count for count in messages], f"{name}: held {counts}")
    soonest = min(rank["soonest"] for rank in seen)
    check(soonest >= delay - 1e-8, f"{name}: the soonest took {1e3 * soonest:.4f} ms")
    # Each step's messages are sent after those of the step before came, on the other rank if not on this one.
    span = min(rank["span"] for rank in seen)
    check(span >= (STEPS - 1) * delay and seconds >= STEPS * delay,
          f"{name}: {STEPS} steps in {span:.3f} s, the whole run {seconds:.3f} s")
    if delay:
        waits = [rank["waits"] for rank in seen]
        check(all(0 < count <= STEPS for count in waits), f"{name}: ranks waited in {waits} steps")


for box, text in BOXES.items():
    write(box + ".yaml", text + "run: {steps: 1}\n")
hashes = {}
for box in BOXES:
    said, hashes[box], _, _ = run(box, box)
    check(said.code == 0 and hashes[box], f"{box}, one rank: {said}")

for box, cut, messages in TRIED:
    for delay in (0, 0.02):
        held(box, cut, delay, messages, hashes)

# All periodic axes exchange, the uncut ones with the rank itself.
said, state, _, seen = run("periodic", "itself", [1, 1, 2], more={"run.exchange": "all"}, seconds=0.01)
check(said.code == 0 and state == hashes["periodic"], f"messages to itself as well: the same bits: {said}")
check([rank["messages"] for rank in seen] == [18 * STEPS] * 2, f"messages to itself as well: {seen}")

# Without the time, and with one that is none.
said, state, _, _ = run("periodic", "idle", [1, 1, 2], preloaded="alone")
check(said.code == 0 and state == hashes["periodic"] and not os.path.exists("idle_counts.0"),
      f"preloaded, but idle: {said}")
for bad in ("-1", "soon", "nan", ""):
    said, _, _, _ = run("periodic", "bad", [1, 1, 2], seconds=bad)
    # Which status mpirun then ends with is its own affair.
    check(said.code != 0 and "SLOW_LINK_SECONDS is no time" in said.err,
          f"SLOW_LINK_SECONDS {bad!r}: exit status {said.code}, {said.err.splitlines()[:1]}")

runs.finish()
