#!/usr/bin/python3
"""The kernels compile for AMD GPUs, and steps of one operator keep nothing in scratch memory but arrays of a scalar.

    hip.py [--table] [ARCH...]    architectures; default: gfx90a gfx908. --table: registers, scratch and waves of each step

Compiles fp32, which takes some minutes for each architecture. Exit status 77: there is no hipcc.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
if not shutil.which("hipcc"):
    print("no hipcc")
    sys.exit(77)
wants_table = "--table" in sys.argv[1:]
archs = [word for word in sys.argv[1:] if word != "--table"] or ["gfx90a", "gfx908"]
failed = 0
with tempfile.TemporaryDirectory() as folder:
    for arch in archs:
        report = os.path.join(folder, arch)
        command = ["hipcc", "-O3", "-std=c++17", "-ffp-contract=off", "-fno-exceptions", "-x", "hip", "-I", "cuda/hip", "-I", "cuda", "-I", "include",
                   "-Rpass-analysis=kernel-resource-usage", f"--offload-arch={arch}", "-DTAGFLOW_STORAGE=32", "-DTAGFLOW_ARITHMETIC=32",
                   "-c", "cuda/kernels.cu", "-o", report + ".o"]
        found = subprocess.run(["cuda/hip/compile.sh", report, *command], cwd=SOURCE, capture_output=True, text=True)
        if found.returncode or found.stderr:
            print(f"FAIL {arch}: {found.stderr[:2000]}")
            failed += 1
            continue
        numbers, name = {}, None
        with open(report) as file:
            for line in file:
                if of := re.search(r"Function Name: \S*?((?:step|cells|values|sums|list)_\w+?)9cuda_call", line):
                    name = of.group(1)
                    numbers[name] = {}
                elif name and (of := re.search(r"remark:\s+([^:\[]+)[^:]*: (\d+)", line)):
                    numbers[name][of.group(1).strip()] = int(of.group(2))
        steps = {name: of for name, of in numbers.items() if name.startswith("step_")}
        if len(steps) < 50:
            print(f"FAIL {arch}: {len(steps)} steps")
            failed += 1
        for name, of in steps.items():
            apart = re.search("_(open|mixed|one|scalars)", name)  # these have arrays
            if of["VGPRs Spill"] or (of["ScratchSize"] and not apart):
                print(f"FAIL {arch}, {name}: {of}")
                failed += 1
            if wants_table:
                print(f"{arch} {name}: {of['VGPRs']} registers, {of['ScratchSize']} bytes of scratch, {of['Occupancy']} waves")
        print(f"ok   {arch}: {len(numbers)} kernels, steps of {min(of['VGPRs'] for of in steps.values())} to "
              f"{max(of['VGPRs'] for of in steps.values())} vector registers")
sys.exit(failed > 0)
