#!/usr/bin/python3
"""Instructions that a warp issues for a step of fluid cells without walls, counted in the machine code of the step kernels:
the shortest way from a kernel's start to its end on which it stores populations. For kernels of two cells a thread it is
half of that. Needs cuobjdump and nvdisasm of CUDA's toolkit (on PATH, or in the folder of $CUOBJDUMP); without them it ends
with status 77.

    slots.py OBJECT...             kernels_*.o of the build: compares with tests/gpu/slots.json; more than 2 % above fail
    slots.py --record OBJECT...    writes tests/gpu/slots.json
    slots.py --table OBJECT...     the table of docs/performance.md
"""
import heapq
import json
import os
import re
import shutil
import subprocess
import sys

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slots.json")
ALLOWED = 1.02
STORE = {1: r"STG\.E", 2: r"STG\.E desc"}  # with two cells a thread: a store of both


def instructions(path):
    """name of kernel -> list of (address, instruction) for each architecture in the object."""
    path = os.path.abspath(path)
    tool = os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump")
    if not tool:
        print("no cuobjdump")
        sys.exit(77)
    env = dict(os.environ, PATH=os.path.dirname(tool) + ":" + os.environ["PATH"])
    said = subprocess.run([tool, "-sass", path], capture_output=True, text=True, env=env)
    if said.returncode:
        sys.exit(f"{tool}: {said.stderr.strip()}")
    kernels, code, arch = {}, None, None
    for line in said.stdout.splitlines():
        if found := re.match(r"arch = (sm_\d+)", line):
            arch = found.group(1)
        elif found := re.match(r"\s*Function : (\S+)", line):
            name = re.search(r"step_\w+?(?=9cuda_call)", found.group(1))
            code = kernels.setdefault((arch, name.group(0).removeprefix("step_")), []) if name else None
        elif code is not None and (found := re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)):
            code.append((int(found.group(1), 16), found.group(2)))
    return kernels


def follows(code, index, k):
    """Numbers of the instructions that may come after number k; none: the kernel's end."""
    text = code[k][1]
    guarded = text.startswith("@")
    words = re.sub(r"^@!?U?P\d+\s+", "", text)
    if words.startswith("EXIT"):
        return [k + 1] if guarded else []
    if words.startswith("BRA"):
        target = re.search(r"0x([0-9a-f]+)", words)
        guarded = guarded or re.match(r"BRA\S*\s+!?U?P\d", words)
        there = [index[int(target.group(1), 16)]] if target else []
        return there + ([k + 1] if guarded else [])
    return [k + 1]


def shortest(code, store):
    """Fewest instructions from the start to the end over a store."""
    index = {address: k for k, (address, _) in enumerate(code)}
    best, heap = {(0, False): 0}, [(0, 0, False)]
    while heap:
        slots, k, stored = heapq.heappop(heap)
        if k >= len(code) or slots > best[k, stored]:
            continue
        text = code[k][1]
        stored = stored or bool(re.search(store, text))
        if stored and "EXIT" in text:
            return slots + 1
        for other in follows(code, index, k):
            if slots + 1 < best.get((other, stored), 1 << 30):
                best[other, stored] = slots + 1
                heapq.heappush(heap, (slots + 1, other, stored))
    return None


def main(arguments):
    what = arguments.pop(0) if arguments[:1] in (["--record"], ["--table"]) else ""
    counts = {}
    for path in arguments:
        storage, arithmetic = re.search(r"kernels_(\d+)_(\d+)\.o$", path).groups()
        bits = "fp" + (storage if storage == arithmetic or storage == "16" else f"{storage}/{arithmetic}")
        for (arch, name), code in instructions(path).items():
            cells = 2 if storage == "16" and not re.search("mixed|sparse|open|scalars", name) else 1
            slots = shortest(code, STORE[cells])
            if slots is None:
                sys.exit(f"FAIL {name}, {bits}, {arch}: no way through its code stores populations")
            counts.setdefault(arch, {}).setdefault(bits, {})[name] = slots / cells
    if what == "--record":
        with open(RECORD, "w") as file:
            json.dump(counts, file, indent=1, sort_keys=True)
            file.write("\n")
        return 0
    if what == "--table":
        for arch, of in sorted(counts.items()):
            names = sorted({name for by_name in of.values() for name in by_name})
            print(f"| {arch} | " + " | ".join(of) + " |\n|---" + "|---" * len(of) + "|")
            for name in names:
                print(f"| {name} | " + " | ".join(f"{by_name[name]:.0f}" for by_name in of.values()) + " |")
        return 0
    with open(RECORD) as file:
        recorded = json.load(file)
    failed = compared = 0
    for arch, of in counts.items():
        for bits, by_name in of.items():
            for name, slots in by_name.items():
                before = recorded.get(arch, {}).get(bits, {}).get(name)
                compared += before is not None
                if before is not None and slots > ALLOWED * before:
                    print(f"FAIL {name}, {bits}, {arch}: {slots:.0f} instructions a cell, {before:.0f} before")
                    failed += 1
    print(f"{compared} kernels compared, {failed} failed")
    return failed > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
