#!/usr/bin/python3
"""scripts/gpu_suite.sh, tried on the CPU backend: it passes here, and finds what it is there to find. The programs
that it runs are replaced, one after the other, by some that are wrong in a certain way."""
import json
import os
import shutil
import subprocess
import time

import runs
from runs import ROOT, TAGFLOW, check, write

PARITY = next((path for path in (os.path.join(os.path.dirname(TAGFLOW), name) for name in ("parity", "tests/gpu/parity"))
               if os.access(path, os.X_OK)), None)

BYTES = {"fp16": 77, "fp32": 153, "fp64": 305}  # an update, by the model


def program(path, text):
    write(path, "#!/bin/bash\n" + text)
    os.chmod(path, 0o755)


def build(name, tagflow=None, parity=None):
    """A build folder whose programs are the real ones, or these scripts."""
    os.makedirs(name)
    for what, real, script in (("tagflow", TAGFLOW, tagflow), ("parity", PARITY, parity)):
        if script:
            program(os.path.join(name, what), script.replace("REAL", f"'{real}'"))
        elif real:
            os.symlink(real, os.path.join(name, what))
    return os.path.abspath(name)


def suite(name, *arguments, folder=None, sanitizer=None):
    """Exit status, what it said, {stage: what the JSON holds of it}, the JSON, seconds."""
    line = [ROOT + "/scripts/gpu_suite.sh", "--backend", "cpu", "--quick", "--out", name, "--build", folder or real, *arguments]
    env = {k: v for k, v in os.environ.items() if k != "COMPUTE_SANITIZER"}
    if sanitizer:
        env["COMPUTE_SANITIZER"] = os.path.abspath(sanitizer)
    start = time.monotonic()
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env, timeout=600)
    report = runs.load(name, "gpu_suite.json") if os.path.exists(name + "/gpu_suite.json") else {"stages": {}}
    return done.returncode, done.stdout + done.stderr, report["stages"], report, time.monotonic() - start


def failed(stages, name, words):
    return stages.get(name, {}).get("result") == "failed" and any(words in text for text in stages[name]["failures"])


real = build("real")
SANITIZER = 'while [ "${1#--}" != "$1" ]; do shift 2; done\n"$@"; code=$?\necho "========= ERROR SUMMARY: %d errors"\nexit $code\n'
program("sanitizer", SANITIZER % 0)
program("sanitizer_3", SANITIZER % 3)

# As it should be.
code, said, stages, report, seconds = suite("good", sanitizer="sanitizer")
skipped = [] if PARITY else ["parity"]
if not check(code == 0 and report.get("passed") is True, f"passes here: exit status {code}, {seconds:.0f} s"):
    print(said)
check(list(stages) == ["info", "parity", "cases", "restart", "sanitizer", "physics", "halo", "memory", "speed"] and
      all(stage["result"] == ("skipped" if name in skipped else "ok") for name, stage in stages.items()),
      f"{ {name: stage['result'] for name, stage in stages.items()} }")
check(report["backend"] == "cpu" and report["commit"] and report["host"] and report["date"] and report["device"],
      "says what it was run on")
check(len(set(stages["cases"]["state_hash"].values())) == 9 and stages["cases"]["runs"] == 36, "three cases, three precisions")
check(stages["restart"]["chains"] == 6 and len(stages["physics"]["state_hash"]) == 16 and
      0 < stages["physics"]["energy_share"] < 1, "restarts and physics")
check(abs(stages["memory"]["off"]) <= 0.02 and stages["memory"]["used_bytes"] > 160**3 * 77 and stages["memory"]["at_step"] >= 3,
      f"memory of 160^3 cells, off by {stages['memory']['off']:+.4f}")
rows = stages["speed"]["rows"]
check({(r["case"], r["collision"], r["storage"]) for r in rows} >=
      {(case, collision, p) for p in BYTES for case, collision in (("cavity", "trt"), ("rock", "bgk"), ("sphere", "bgk"), ("channel", "bgk"))} and
      len(rows) == (4 + 5 + 1) * len(BYTES), f"{len(rows)} rows: three grids, five cases, two operators, three storages")
check(all(r["verified"] is True and len(r["mlups"]["all"]) == 5 and 0 < r["mlups"]["least"] <= r["mlups"]["median"] <= r["mlups"]["most"] and
          0 < r["share"]["median"] and r["bytes_per_update"] == BYTES[r["storage"]] for r in rows), "five repeats of each, verified; bytes by the model")
check(stages["speed"]["bench"]["tagflow"] == "bench" and stages["speed"]["bench"]["commit"], "what they were measured with")
check(all(stages["halo"][p]["phases_all"].keys() >= {"step", "interior", "shell", "pack", "exchange", "unpack", "wait"} and
          abs(1 - stages["halo"][p]["glups"]["all"]["median"] / stages["halo"][p]["glups"]["cut"]["median"] -
              stages["halo"][p]["share_lost"]) < 1e-9 for p in ("fp32", "fp64", "fp16")), "what an exchange costs")
check(sorted(os.listdir("good")) == ["gpu_suite.json", "gpu_suite.log"], f"leaves {sorted(os.listdir('good'))}")
check(said.count("\nok ") + said.startswith("ok ") == len(stages) - len(skipped), "a line for each stage")

# A backend that computes something else: what it is compared with runs as it comes, itself with run.isa=v2.
wrong = build("wrong", tagflow='case "$*" in *isa=v2*) exec REAL "$@" --set "force.acceleration=[1e-4, 0, 0]" ;; esac\nexec REAL "$@"\n')
code, said, stages, report, _ = suite("wrong_out", "--stages", "cases,restart,physics,info", folder=wrong)
check(code == 1 and report["passed"] is False and failed(stages, "cases", "state hash") and failed(stages, "restart", "") and
      failed(stages, "physics", "state hash") and stages["info"]["result"] == "ok", "other results: found, and the next stage has its turn")
# Right populations and wrong sums.
wrong = build("sums", tagflow='REAL "$@" || exit\nwhile [ "$1" != --output ]; do shift; done\nif [ -e "$2"/series/flow.csv ] && '
              'grep -q "isa: v2" "$2"/case.yaml; then sed -i "\\$s/[0-9],/7,/" "$2"/series/flow.csv; fi\n')
code, said, stages, _, _ = suite("sums_out", "--stages", "physics", folder=wrong)
check(code == 1 and failed(stages, "physics", "flow.csv") and not failed(stages, "physics", "state hash"), "other sums: found")
# A backend that quietly is another one.
wrong = build("other", tagflow='REAL "$@" || exit\nwhile [ "$1" != --output ]; do [ $# -gt 0 ] || exit 0; shift; done\n'
              'sed -i "s/\\"backend\\": \\"cpu\\"/\\"backend\\": \\"auto\\"/" "$2"/report.json\n')
code, said, stages, _, _ = suite("other_out", "--stages", "physics", folder=wrong)
check(code == 1 and failed(stages, "physics", "asked for cpu, ran on auto"), "another backend: found")
# Runs that hang are ended, and so is the suite.
wrong = build("hang", tagflow='case $1 in run) sleep 1000 ;; esac\nexec REAL "$@"\n')
code, said, stages, _, seconds = suite("hang_out", "--stages", "info,physics,halo", "--seconds", "6", folder=wrong)
check(code == 1 and stages["info"]["result"] == "ok" and failed(stages, "physics", "out of time") and
      failed(stages, "halo", "out of time") and seconds < 30, f"runs that hang: ended after {seconds:.0f} s")
# More memory than the program says that it takes.
wrong = build("memory", tagflow='if [ $1 = check ]; then REAL "$@" | sed "s/^memory: 3[0-9.]* MB/memory: 300 MB/"; else exec REAL "$@"; fi\n')
code, said, stages, _, _ = suite("memory_out", "--stages", "memory", folder=wrong)
check(code == 1 and failed(stages, "memory", "from the"), f"memory: {stages['memory']['failures']}")
# Steps that are not what they should be have no rate.
wrong = build("unknown", tagflow='REAL "$@" || exit\n[ "$1" = bench ] || exit 0\nfor file; do :; done\n'
              r'sed -i "s/\"verified\": true/\"verified\": false, \"why\": \"one bit\"/" "$file"' "\nexit 1\n")
code, said, stages, _, _ = suite("unknown_out", "--stages", "speed", folder=wrong)
check(code == 1 and failed(stages, "speed", "one bit") and not stages["speed"]["rows"], "steps not verified: no rate")
# A flow that stands still has no speed.
wrong = build("still", tagflow='exec REAL "$@" --set "initial={flow: rest}" --set "faces={x: wall, y: wall, z: wall}"\n')
code, said, stages, _, _ = suite("still_out", "--stages", "halo", folder=wrong)
check(code == 1 and failed(stages, "halo", "max |u|"), "a flow at rest: no speed")
# Errors that the sanitizer sees, and a sanitizer that says nothing.
code, said, stages, _, _ = suite("sanitizer_out", "--stages", "sanitizer", sanitizer="sanitizer_3")
check(code == 1 and failed(stages, "sanitizer", "[3]"), "errors of the sanitizer")
program("sanitizer_mute", "exit 0\n")
code, said, stages, _, _ = suite("mute_out", "--stages", "sanitizer", sanitizer="sanitizer_mute")
check(code == 1 and failed(stages, "sanitizer", "no summary"), "a sanitizer without a summary")
# Parity: a difference, and nothing compared.
for name, script, words in [("parity_bad", 'echo "ok    one"\necho "FAIL  two"\nexit 1\n', "FAIL  two"), ("parity_mute", "exit 0\n", "nothing said")]:
    code, said, stages, _, _ = suite(name + "_out", "--stages", "parity", folder=build(name, parity=script))
    check(code == 1 and failed(stages, "parity", words), f"{name}: {stages['parity']['failures']}")

# Usage.
os.makedirs("empty")
shutil.rmtree("good")
os.makedirs("good/work")
write("file", "")
for arguments, words in [(("--stages", "info,sped"), "there is no stage 'sped'"), (("--build", "empty"), "there is no tagflow in"),
                         (("--out", "good"), "in use"), (("--out", "file/x"), "file/x: Not a directory"), (("--nonsense",), "--nonsense"),
                         (("--seconds", "soon"), "--seconds")]:
    code, said, _, _, _ = suite("usage", *arguments)
    check(code == 2 and words in said and "Traceback" not in said, f"{' '.join(arguments)}: {code}, {said.splitlines()[-1]}")

runs.finish()
