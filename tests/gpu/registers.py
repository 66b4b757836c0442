#!/usr/bin/python3
"""No kernel keeps anything in local memory, which is the GPU's own memory, or spills registers, on any architecture;
and so many threads of the step fit on a multiprocessor as its launch bounds say. Kernels for flows with open
boundaries may: their rules are functions with arrays of their own, called in the few cells that have them. So may those of
the list of cells beside bodies.

    registers.py [--table] REPORT...    what the assembler said of each variant: build/cuda/kernels_*.ptxas
                                        --table: the table of docs/performance.md instead
"""
import re
import sys

REGISTERS, THREADS, BLOCK = 65536, 2048, 128
# Blocks of a step on a multiprocessor by the bits of arithmetic, the first whose pattern fits: cuda/kernels.cu.
BLOCKS = {
    "32": {r"_(mixed|sparse)$": 4, r"_(bgk|trt)_subgrid$": 8, r"_(bgk|trt)(_forced)?$": 10, r"_(forced|subgrid)$": 5,
           r"_(central|central_hermite|cumulant)$": 6, "": 8},
    "64": {r"_(mixed|sparse)$": 2, r"_(bgk|trt)_subgrid$": 4, r"_(bgk|trt)(_forced)?$": 5, r"_(forced|subgrid)$": 2,
           r"_(central|central_hermite|cumulant)$": 3, "": 4},
}
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
                name = re.search(r"(step|cells|sums)_\w+?(?=9cuda_call)", kernel)
                name = name.group(0) if name else kernel
            elif found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
                numbers = [int(n) for n in found.groups()]
                if name.endswith("open") or name in ("cells_near", "sums_forces"):
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
                if kind == "step" and name != "step_open":
                    steps.add(name)
                    # Registers are given to warps in units of 256.
                    blocks = REGISTERS // (-(-registers * 32 // 256) * 256 * BLOCK // 32)
                    if blocks < next(n for pattern, n in BLOCKS[arithmetic].items() if re.search(pattern, name)):
                        print(f"FAIL {name}, {bits} bits, {arch}: {registers} registers, {blocks} blocks")
                        failed += 1
                kernel = None
    if not wants_table:
        print(f"{bits} bits: {len(steps)} steps; registers at most: " +
              ", ".join(f"{arch} {kind} {n}" for (arch, kind), n in sorted(most.items())) +
              f"; local memory with open boundaries and surfaces: {local} bytes a thread")
    if len(steps) < 4:
        print(f"FAIL {path}: only these steps: {steps}")
        failed += 1
if wants_table:
    print("| step | " + " | ".join(f"fp{bits}: {', '.join(sorted(of, key=lambda a: int(a[3:])))}"
                                  for bits, of in sorted(found_of["mixed"].items())) + " |\n|---|---|---|")
    for name in sorted(found_of):
        print(f"| {name} | " + " | ".join(", ".join(str(of[a]) for a in sorted(of, key=lambda a: int(a[3:])))
                                          for bits, of in sorted(found_of[name].items())) + " |")
print(f"{seen} kernels, {failed} failures", file=sys.stderr if wants_table else sys.stdout)
sys.exit(failed > 0 or not seen)
