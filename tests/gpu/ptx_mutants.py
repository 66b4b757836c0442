#!/usr/bin/python3
"""An error in one instruction of the translated PTX makes parity fail.

    ptx_mutants.py PARITY_PTX C PRECISION    the program, the C of a variant, as in fp16/fp32

tests/gpu/ptx.py makes the mutants: each kind of error in eight places, spread over all kernels of the variant. Some change
nothing, for example a difference that is squared. So of each kind two have to be noticed, and no more are tried. With
TAGFLOW_LONG in the environment all are tried.
"""
import collections
import os
import re
import subprocess
import sys

import ptx

LONG = "TAGFLOW_LONG" in os.environ
program, source, precision = sys.argv[1:]
with open(source) as file:
    text = {int(number): what for number, what in re.findall(r"^/\* mutant (\d+): (.*) \*/$", file.read(), re.M)}
kinds = collections.defaultdict(list)
for number in sorted(text):
    kinds[number // 100].append(number)


def noticed(mutant, one_in="7"):
    """Does parity fail, on one in so many of its blocks?"""
    try:
        done = subprocess.run([program, "--backend", "cuda", "--precision", precision, "--cells", "9,3,2", "--one-in", one_in, "--first"],
                              env=os.environ | {"TAGFLOW_PTX_MUTANT": str(mutant)}, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired: # a loop without end
        return True
    if mutant == 0 and done.returncode:
        sys.exit(f"FAIL without a mutant: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.returncode != 0


noticed(0)
failed = 0
for k, name in enumerate(ptx.MUTANTS, 1):
    found, missed = 0, []
    for number in kinds[k]:
        if found < 2 or LONG:
            if noticed(number):
                found += 1
            else:
                missed.append(number)
    for number in missed: # on all blocks, then
        if found < 2 or LONG:
            yes = noticed(number, "1")
            found += yes
            if LONG and not yes:
                print(f"     not noticed: {text[number]}")
    failed += found < 2
    print(f"{'ok  ' if found >= 2 else 'FAIL'} {name}: {found} noticed", flush=True)
sys.exit(failed > 0)
