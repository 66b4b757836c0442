#!/usr/bin/python3
"""An error in one instruction of the translated PTX makes parity fail.

    ptx_mutants.py PARITY_PTX C PRECISION    the program, the C of a variant, as in fp16/fp32

tests/gpu/ptx.py makes the mutants: each kind of error in some places, spread over all kernels of the variant. A mutant can
be the same kernel in effect: a product with itself, a branch to the next line. So of each kind half have to be noticed.
With TAGFLOW_LONG in the environment all are tried, without it two of each kind.
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


def noticed(mutant):
    """Does parity fail?"""
    try:
        done = subprocess.run([program, "--backend", "cuda", "--precision", precision, "--cells", "9,3,2", "--one-in", "3"],
                              env=os.environ | {"TAGFLOW_PTX_MUTANT": str(mutant)}, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired: # a loop without end
        return True
    if mutant == 0 and done.returncode:
        sys.exit(f"FAIL without a mutant: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.returncode != 0


noticed(0)
failed = 0
for k, name in enumerate(ptx.MUTANTS, 1):
    numbers = kinds[k] if LONG else kinds[k][len(kinds[k]) // 4::len(kinds[k]) // 2 or 1]
    found = {number: noticed(number) for number in numbers}
    enough = 2 * sum(found.values()) >= len(found) > 0
    failed += not enough
    print(f"{'ok  ' if enough else 'FAIL'} {name}: {sum(found.values())} of {len(found)} noticed", flush=True)
    for number in numbers:
        if not found[number]:
            print(f"     not noticed: {text[number]}")
sys.exit(failed > 0)
