#!/usr/bin/python3
"""The backend as it is compiled for AMD GPUs has the states that the program knows: hip_bits.py PROGRAM, on the stand-in by HIP's names.
`info` says HIP, and one line without a GPU is HIP's, so that it is that backend."""
import os
import subprocess
import sys

program = os.path.abspath(sys.argv[1])


def said(*words, **more):
    done = subprocess.run([program, *words], capture_output=True, text=True, env=os.environ | more)
    return done.returncode, done.stdout + done.stderr


failed = 0
for words, code, texts in ((("selftest",), 0, ("with backend cpu", "with backend cuda")), (("info",), 0, ("HIP",))):
    found, text = said(*words)
    if found != code or any(one not in text for one in texts):
        print(f"FAIL {words}: {found} {text}")
        failed += 1
sys.exit(failed > 0)
