#!/usr/bin/python3
"""Instructions that a warp issues for a step, and how often it waits for loads, counted in the machine code of the step
kernels on two ways from a kernel's start to its end:

    inner        the shortest way on which it stores populations: of fluid cells without walls; loads under a condition are
                 not done. Of steps with one scalar the shortest of those with fewest loads: of the most frequent type
    beside       of the shortest ways over each other load that with most loads: of cells beside walls; loads under a
                 condition are done. Branches off it are not counted

A wait is an instruction that needs a value, or a register, of a load that is under way. Instructions are issued in order, so
all loads before it are waited for at once. Loads of a kernel's argument (LDC) are not counted: they take tens of cycles, and
as often as a warp's cells have different kinds. For kernels of two cells a thread instructions are halved. Needs cuobjdump and
nvdisasm of CUDA's toolkit (on PATH, or in the folder of $CUOBJDUMP); without them it ends with status 77.

    slots.py OBJECT...             kernels_*.o of the build: compares with tests/gpu/slots.json; more than 2 % more
                                   instructions, or more waits, fail
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
STORE_SET = {1: r"STG\.E", 2: r"STG\.E\.64"}  # the same of a scalar


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


def distances(starts, follows_of, count, cost=lambda k: 1):
    """The least cost of the way from any of the starts to each of `count` instructions, and the one before on that way."""
    best, before, heap = [None] * count, [None] * count, []
    for k in starts:
        best[k] = 0
        heap.append((0, k))
    while heap:
        steps, k = heapq.heappop(heap)
        for other in follows_of(k) if steps == best[k] else []:
            there = steps + cost(other)
            if best[other] is None or there < best[other]:
                best[other], before[other] = there, k
                heapq.heappush(heap, (there, other))
    return best, before


def chain(before, k):
    """The instructions from k back to where the way began."""
    way = [k]
    while before[way[-1]] is not None:
        way.append(before[way[-1]])
    return way


def bare(text):
    return re.sub(r"^@!?U?P\d+\s+", "", text)


def is_load(text):
    return bare(text).startswith(("LDG", "LD.E", "LDL"))


def registers(text):
    return {int(r) + more for r, wide in re.findall(r"\bR(\d+)(\.64)?", text) for more in range(2 if wide else 1)}


def reads_and_writes(text):
    """Registers of an instruction."""
    words = bare(text)
    op = words.split()[0]
    operands = words[len(op):].split(",")
    none = op.startswith(("STG", "ST.E", "STL", "BRA", "EXIT", "BSSY", "BSYNC")) or re.match(r"\s*(U?P\d|PT)", operands[0])
    writes = set() if none else registers(operands[0])
    reads = registers(",".join(operands if none else operands[1:]))
    double = op[:4] in ("DADD", "DMUL", "DFMA", "DSET")
    if double or ".64" in op or ".WIDE" in op:
        writes |= {r + 1 for r in writes}
    return reads | ({r + 1 for r in reads} if double else set()), writes


def waits(code, way, conditional):
    """How often the way waits for loads; conditional: are loads under a condition done?"""
    pending, count = set(), 0
    for k in way:
        text = code[k][1]
        reads, writes = reads_and_writes(text)
        if pending & (reads | (set() if text.startswith("@") else writes)):
            count += 1
            pending = set()
        if is_load(text) and (conditional or not text.startswith("@")):
            pending |= writes
    return count


def ways(code, store, a_load):
    """The inner way and the one beside walls, as lists of instructions; None: none stores. a_load: cost of a load."""
    index, count = {address: k for k, (address, _) in enumerate(code)}, len(code)
    after = [[other for other in follows(code, index, k) if other < count] for k in range(count)]
    earlier = [[] for _ in range(count)]
    for k, others in enumerate(after):
        for other in others:
            earlier[other].append(k)
    stores = [k for k in range(count) if re.search(store, code[k][1])]
    ends = [k for k in range(count) if "EXIT" in code[k][1]]
    from_start, before = distances([0], lambda k: after[k], count)
    to_end, behind = distances(ends, lambda k: earlier[k], count)
    stores = [k for k in stores if from_start[k] is not None and to_end[k] is not None]
    if not stores:
        return None

    def over(k):
        """The shortest way over instruction k, or None."""
        if k in stored:
            return chain(before, k)[::-1] + chain(behind, k)[1:]
        if from_start[k] is None or to_store[k] is None:
            return None
        there = chain(next_of, k)
        return chain(before, k)[::-1] + there[1:] + chain(behind, there[-1])[1:]

    stored = set(stores)
    to_store, next_of = distances(stores, lambda k: earlier[k], count)
    cost = lambda k: a_load if is_load(code[k][1]) and not code[k][1].startswith("@") else 1
    there, way_there = distances([0], lambda k: after[k], count, cost)
    back, way_back = distances(ends, lambda k: earlier[k], count, cost)
    k = min(stores, key=lambda k: there[k] + back[k])
    inner = chain(way_there, k)[::-1] + chain(way_back, k)[1:]
    loads = [k for k in range(count) if is_load(code[k][1]) and k not in set(inner)]
    others = [way for way in map(over, loads) if way]
    return inner, max(others + [inner], key=lambda way: (sum(is_load(code[k][1]) for k in way), -len(way)))


def counted(code, name, cells):
    """Instructions a cell and waits on both ways; None: none stores."""
    one = name.endswith("_one")
    both = ways(code, (STORE_SET if one else STORE)[cells], 1000 if one else 1)
    return both and {name: [len(way) / cells, waits(code, way, name == "beside")] for name, way in zip(("inner", "beside"), both)}


def main(arguments):
    what = arguments.pop(0) if arguments[:1] in (["--record"], ["--table"]) else ""
    counts = {}
    for path in arguments:
        storage, arithmetic = re.search(r"kernels_(\d+)_(\d+)\.o$", path).groups()
        bits = "fp" + (storage if storage == arithmetic or storage == "16" else f"{storage}/{arithmetic}")
        for (arch, name), code in instructions(path).items():
            cells = 2 if storage == "16" and not re.search("mixed|sparse|open|scalars", name) else 1
            found = counted(code, name, cells)
            if not found:
                sys.exit(f"FAIL {name}, {bits}, {arch}: no way through its code stores populations")
            counts.setdefault(arch, {}).setdefault(bits, {})[name] = found
    if what == "--record":
        with open(RECORD, "w") as file:
            file.write(re.sub(r"\[\s+([^][]*?)\s+\]", lambda m: "[" + " ".join(m.group(1).split()) + "]",
                              json.dumps(counts, indent=1, sort_keys=True)) + "\n")
        return 0
    if what == "--table":
        for arch, of in sorted(counts.items()):
            names = sorted({name for by_name in of.values() for name in by_name})
            print(f"| {arch} | " + " | ".join(of) + " |\n|---" + "|---" * len(of) + "|")
            for name in names:
                print(f"| {name} | " + " | ".join(
                    f"{by_name[name]['inner'][0]:.0f}, {by_name[name]['inner'][1]}; {by_name[name]['beside'][0]:.0f}, {by_name[name]['beside'][1]}"
                    for by_name in of.values()) + " |")
        return 0
    with open(RECORD) as file:
        recorded = json.load(file)
    failed = compared = 0
    for arch, of in counts.items():
        for bits, by_name in of.items():
            for name, found in by_name.items():
                before = recorded.get(arch, {}).get(bits, {}).get(name)
                compared += before is not None
                for way in found if before else ():
                    if found[way][0] > ALLOWED * before[way][0] or found[way][1] > before[way][1]:
                        print(f"FAIL {name}, {bits}, {arch}, {way}: {found[way][0]:.0f} instructions a cell and {found[way][1]} waits, "
                              f"{before[way][0]:.0f} and {before[way][1]} before")
                        failed += 1
    print(f"{compared} kernels compared, {failed} failed")
    return failed > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
