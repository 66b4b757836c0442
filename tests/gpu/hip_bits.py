#!/usr/bin/python3
"""The backend as it is compiled for AMD GPUs has the states that the program knows: hip_bits.py PROGRAM, on the stand-in by HIP's names.
`info` says HIP, so that it is that backend. selftest looks for GPUs in /dev, unless CUDA_VISIBLE_DEVICES names them."""
import os
import subprocess
import sys

program = os.path.abspath(sys.argv[1])


def said(*words):
    done = subprocess.run([program, *words], capture_output=True, text=True, env=os.environ | {"CUDA_VISIBLE_DEVICES": "0"})
    return done.returncode, done.stdout + done.stderr


failed = 0
for words, code, texts in ((("selftest",), 0, ("with backend cpu", "with backend cuda")), (("info",), 0, ("HIP",))):
    found, text = said(*words)
    if found != code or any(one not in text for one in texts):
        print(f"FAIL {words}: {found} {text}")
        failed += 1
sys.exit(failed > 0)
