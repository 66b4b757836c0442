#!/usr/bin/python3
"""No kernel keeps anything in local memory, which is the GPU's own memory, or spills registers, on any architecture;
and so many threads of the step fit on a multiprocessor as its launch bounds say. Kernels for flows with open
boundaries may: their rules are functions with arrays of their own, called in the few cells that have them. So may those of
the list of cells beside bodies, those of scalars but the step, those that hold the mass, and the sums of a residual, whose parts are chosen by
exponents.

    registers.py [--table] REPORT...    what the assembler said of each variant: build/cuda/kernels_*.ptxas
                                        --table: the table of docs/performance.md instead
"""
import os
import re
import sys

REGISTERS, THREADS, BLOCK = 65536, 2048, 128
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def rows(path, name, columns):
    """The first columns of an X-macro's rows."""
    with open(os.path.join(SOURCE, path)) as file:
        text = re.search(rf"#define {name}\(X\)((?:.*\\\n)+.*)", file.read()).group(1)
    return [[word.strip() for word in row.split(",")[:columns]] for row in re.findall(r"X\(([^\n]*)", text)]


# Blocks of a step on a multiprocessor by the bits of arithmetic, or 16 for fp16, and the step's name.
STEPS = ["", "_forced", "_full", "_sparse", "_scalars", "_one"]
CLASSES = {name: [int(n) for n in blocks] for name, *blocks in
           [[*row[:18], row[18].split(")")[0]] for row in rows("cuda/kernels.h", "CUDA_STEP_LIST", 19)]}
OPERATORS = {row[0]: row[3] for row in rows("include/collision.h", "COLLISION_LIST", 4)}
BLOCKS = {bits: {"step_mixed": CLASSES["mixed"][first], "step_mixed_sparse": CLASSES["mixed"][first + 3],
                 "step_mixed_scalars": CLASSES["mixed"][first + 4], "step_mixed_scalars_sparse": CLASSES["mixed"][first + 4]} |
          {f"step_{name}{more}": CLASSES[of][first + k] for name, of in OPERATORS.items()
           for k, more in enumerate(STEPS)} for bits, first in [("32", 0), ("64", 6), ("16", 12)]}
failed = seen = 0
found_of = {} # step -> precision -> arch -> registers
wants_table = sys.argv[1:2] == ["--table"]
for path in sys.argv[1 + wants_table:]:
    storage, arithmetic = re.search(r"kernels_(\d+)_(\d+)\.ptxas$", path).groups()
    bits = storage if storage == arithmetic else f"{storage}/{arithmetic}"
    kernel = None
    steps, most, local = set(), {}, 0
    with open(path) as file:
        for line in file:
            if found := re.search(r"Compiling entry function '(\S+)' for '(\S+)'", line):
                kernel, arch = found.groups()
                name = re.search(r"(step|values|cells|sums|list)_\w+?(?=9cuda_call)", kernel)
                name = name.group(0) if name else kernel
            elif found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
                numbers = [int(n) for n in found.groups()]
                if name.endswith("open") or name == "step_open_scalars":
                    local = max(local, numbers[0])
                elif any(numbers):
                    print(f"FAIL {name}, {bits} bits, {arch}: {line.strip()}")
                    failed += 1
            elif kernel and (found := re.search(r"Used (\d+) registers", line)):
                registers = int(found.group(1))
                seen += 1
                kind = name.split("_")[0]
                if kind == "step":
                    found_of.setdefault(name.removeprefix("step_"), {}).setdefault(bits, {})[arch] = registers
                most[arch, kind] = max(most.get((arch, kind), 0), registers)
                if kind == "step" and not name.startswith("step_open"):
                    steps.add(name)
                    # Registers are given to warps in units of 256.
                    blocks = REGISTERS // (-(-registers * 32 // 256) * 256 * BLOCK // 32)
                    if blocks < BLOCKS["16" if storage == "16" else arithmetic][name]:
                        print(f"FAIL {name}, {bits} bits, {arch}: {registers} registers, {blocks} blocks")
                        failed += 1
                kernel = None
    if not wants_table:
        print(f"{bits} bits: {len(steps)} steps; registers at most: " +
              ", ".join(f"{arch} {kind} {n}" for (arch, kind), n in sorted(most.items())) +
              f"; local memory with open boundaries, surfaces and residuals: {local} bytes a thread")
    if steps != set(BLOCKS["32"]):
        print(f"FAIL {path}: these steps are there or are missing: {sorted(steps ^ set(BLOCKS['32']))}")
        failed += 1
if wants_table:
    print("| step | " + " | ".join(f"fp{bits}: {', '.join(sorted(of, key=lambda a: int(a[3:])))}"
                                  for bits, of in sorted(found_of["mixed"].items())) + " |\n|---|---|---|")
    for name in sorted(found_of):
        print(f"| {name} | " + " | ".join(", ".join(str(of[a]) for a in sorted(of, key=lambda a: int(a[3:])))
                                          for bits, of in sorted(found_of[name].items())) + " |")
print(f"{seen} kernels, {failed} failures", file=sys.stderr if wants_table else sys.stdout)
sys.exit(failed > 0 or not seen)
