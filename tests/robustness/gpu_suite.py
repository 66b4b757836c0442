#!/usr/bin/python3
"""scripts/gpu_suite.sh, tried on the CPU backend: it passes here, and finds what it is there to find. The programs
that it runs are replaced, one after the other, by some that are wrong in a certain way."""
import glob
import os
import signal
import subprocess
import time

import runs
from runs import ROOT, TAGFLOW, check, write

PARITY = next((path for path in (os.path.join(os.path.dirname(TAGFLOW), name) for name in ("parity", "tests/gpu/parity"))
               if os.access(path, os.X_OK)), None)

VARIANTS = os.path.join(os.path.dirname(TAGFLOW), "tests", "gpu", "variants")
HAS_VARIANTS = os.access(os.path.join(VARIANTS, "variants_32_standin"), os.X_OK)

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
    for what in ("streams_standin", "variants_32_standin") if HAS_VARIANTS else ():
        os.symlink(os.path.join(VARIANTS, what), os.path.join(name, what))
    return os.path.abspath(name)


def start(name, *arguments, folder=None, sanitizer=None, profiler=None):
    line = [ROOT + "/scripts/gpu_suite.sh", "--backend", "cpu", "--quick", "--out", name, "--build", folder or real, *arguments]
    env = {k: v for k, v in os.environ.items() if k not in ("COMPUTE_SANITIZER", "NCU")}
    for variable, path in ("COMPUTE_SANITIZER", sanitizer), ("NCU", profiler):
        if path:
            env[variable] = os.path.abspath(path)
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
                            env=env | {"TMPDIR": os.path.abspath("temporary")})


def suite(name, *arguments, call=None, **how):
    """Exit status, what it said, {stage: what the JSON holds of it}, the JSON, seconds."""
    begin = time.monotonic()
    more = ["--call", str(call)] if call else []
    process = start(name, *more, *arguments, **how)
    said, _ = process.communicate(timeout=600)
    file = f"gpu_suite_{call}.json" if call else "gpu_suite.json"
    report = runs.load(name, file) if os.path.exists(os.path.join(name, file)) else {"stages": {}}
    return process.returncode, said, report["stages"], report, time.monotonic() - begin


def failed(stages, name, words):
    return stages.get(name, {}).get("result") == "failed" and any(words in text for text in stages[name]["failures"])


real = build("real")
# One precision of parity is enough here: the test `parity` has all of them.
narrow = build("narrow", parity='exec REAL --precision fp32 "$@"\n') if PARITY else real
mute = 'echo "ok    one"\n'
SANITIZER = 'while [ "${1#--}" != "$1" ]; do shift 2; done\n"$@"; code=$?\necho "========= ERROR SUMMARY: %d errors"\nexit $code\n'
program("sanitizer", SANITIZER % 0)
program("sanitizer_3", SANITIZER % 3)

program("profiler", """\
while [ "${1##*/}" != tagflow ]; do shift; done
"$@" || exit
echo '==PROF== Disconnected from process 1'
echo '"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"'
echo '"0","1","step_bgk(cuda_call)","Launch Statistics","Registers Per Thread","register/thread","48"'
echo '"0","1","step_bgk(cuda_call)","Memory Workload Analysis","Memory Throughput","Tbyte/second","3.02"'
""")
program("peer", 'echo "$1 23.06 GLUPS"\nexit $2\n')
os.makedirs("temporary")

# As it should be: three calls into one folder.
CALLS = {1: ["info", "variants", "speed", "profile", "peer"], 2: ["info", "parity", "cases", "restart", "physics", "sanitizer"],
         3: ["info", "halo", "memory", "levels", "operators"]}
stages = {}
for call, names in CALLS.items():
    code, said, found, report, seconds = suite("good", call=call, folder=narrow if call == 2 else real, sanitizer="sanitizer", profiler="profiler",
                                               *(("--peer", f"'{os.path.abspath('peer')}' 'a b' 0") if call == 1 else ()))
    skipped = ([] if PARITY else ["parity"]) + ([] if HAS_VARIANTS else ["variants"])
    if not check(code == 0 and report.get("passed") is True and report["call"] == call, f"call {call} passes here: exit status {code}, {seconds:.0f} s"):
        print(said)
    check(list(found) == names and all(stage["result"] == ("skipped" if name in skipped else "ok") for name, stage in found.items()),
          f"{ {name: stage['result'] for name, stage in found.items()} }")
    check(list(report["limits"]) == names and 500 < sum(report["limits"].values()) < 600 and min(report["limits"].values()) > 0,
          f"the stages of call {call} take {sum(report['limits'].values())} s at most")
    check(said.count("\nok ") + said.startswith("ok ") == len(set(names) - set(skipped)), "a line for each stage")
    stages.update(found)
check(sorted(os.listdir("good")) == sorted(f"gpu_suite_{call}.{ending}" for call in CALLS for ending in ("json", "log")) and
      not glob.glob("temporary/gpu_suite_*"), f"leaves {sorted(os.listdir('good'))}")
check(all(stages["profile"][p]["kernel"].startswith("step_bgk") and stages["profile"][p]["Launch Statistics"]["Registers Per Thread"] ==
          "48 register/thread" for p in BYTES), "figures of Nsight Compute")
check(stages["peer"]["exit_status"] == 0 and stages["peer"]["output"] == ["a b 23.06 GLUPS"] and
      [row["storage"] for row in stages["peer"]["rows"]] == ["fp16", "fp32"], "a peer's output, and the same box by tagflow")
check(report["backend"] == "cpu" and report["commit"] and report["host"] and report["date"] and report["device"],
      "says what it was run on")
check(len(set(stages["cases"]["state_hash"].values())) == 9 and stages["cases"]["runs"] == 36, "three cases, three precisions")
check(stages["restart"]["chains"] == 6 and len(stages["physics"]["state_hash"]) == 16 and
      0 < stages["physics"]["energy_share"] < 1, "restarts and physics")
check(abs(stages["memory"]["off"]) <= 0.02 and stages["memory"]["used_bytes"] > 160**3 * 77 and stages["memory"]["at_step"] >= 3,
      f"memory of 160^3 cells, off by {stages['memory']['off']:+.4f}")
if HAS_VARIANTS:
    rows, streams = stages["variants"]["rows"], stages["variants"]["streams"]
    done = [row for row in rows if "left_out" not in row]
    check(len(rows) > 60 and {row["flow"] for row in done} == {"periodic", "box"} and all(row["bits_equal"] and row["glups"]["median"] > 0 for row in done) and
          len(streams) > 60 and all(row["verified"] for row in streams), f"{len(done)} rates of variants, {len(rows) - len(done)} left out; {len(streams)} of streams")
rows = stages["speed"]["rows"] + stages["operators"]["rows"]
check({(r["case"], r["collision"], r["storage"]) for r in rows} >=
      {(case, collision, p) for p in BYTES for case, collision in (("cavity", "bgk"), ("periodic", "trt"), ("rock", "bgk"), ("sphere", "bgk"), ("channel", "bgk"), ("tunnel", "bgk"))} and
      len(rows) == (4 + 4 + 1 + 1) * len(BYTES), f"{len(rows)} rows: three grids, six cases, two operators, three storages")
check(all(r["verified"] is True and len(r["mlups"]["all"]) == 3 and 0 < r["mlups"]["least"] <= r["mlups"]["median"] <= r["mlups"]["most"] and
          0 < r["share"]["median"] and r["bytes_per_update"] == BYTES[r["storage"]] for r in rows), "three repeats of each, verified; bytes by the model")
rows = stages["levels"]["rows"]
check({(r["case"], r["storage"]) for r in rows} == {(case, p) for case in ("periodic", "refined") for p in BYTES} and all(r["verified"] is True for r in rows),
      "rates of refined grids")
if PARITY:
    kernels = stages["levels"]["kernels"]
    check({row["kernel"] for row in kernels} == {f"{name} across {axis}" for name in ("gather", "slope", "enter", "share", "coalesce") for axis in "xz"} and
          all(row["bytes"] > 0 and row["seconds"]["median"] > 0 for row in kernels), f"{len(kernels)} times of kernels between levels")
check(stages["speed"]["bench"]["tagflow"] == "bench" and stages["speed"]["bench"]["commit"], "what they were measured with")
check(all(stages["halo"][p]["phases"][how].keys() >= {"step", "interior", "shell", "pack", "exchange", "unpack", "wait"} and
          abs(1 - stages["halo"][p]["glups"][how]["median"] / stages["halo"][p]["glups"]["cut"]["median"] -
              stages["halo"][p]["share_lost"].get(how, 0)) < 1e-9 for p in ("fp32", "fp64", "fp16") for how in ("cut", "z", "yz", "all")),
      "what an exchange costs")

# Without --call: all stages, those that matter most first.
nothing = build("nothing", tagflow="exit 1\n", parity="exit 1\n")
code, said, stages, report, _ = suite("nothing_out", folder=nothing)
check(code == 1 and list(stages) == ["info", "variants", "parity", "speed", "cases", "restart", "physics", "halo", "memory", "levels", "operators", "sanitizer",
                                     "profile", "peer"] and report["passed"] is False and failed(stages, "speed", "exit status 1"),
      f"all stages: {list(stages)}")

# A backend that computes something else: what it is compared with runs as it comes, itself with run.isa=generic.
wrong = build("wrong", tagflow='case "$*" in *isa=generic*) exec REAL "$@" --set "force.acceleration=[1e-4, 0, 0]" ;; esac\nexec REAL "$@"\n')
code, said, stages, report, _ = suite("wrong_out", "--stages", "cases,restart,physics,info", folder=wrong)
check(code == 1 and report["passed"] is False and failed(stages, "cases", "state hash") and failed(stages, "restart", "") and
      failed(stages, "physics", "state hash") and stages["info"]["result"] == "ok", "other results: found, and the next stage has its turn")
# Right populations and wrong sums.
wrong = build("sums", tagflow='REAL "$@" || exit\nwhile [ "$1" != --output ]; do shift; done\nif [ -e "$2"/series/flow.csv ] && '
              'grep -q "isa: generic" "$2"/case.yaml; then sed -i "\\$s/[0-9],/7,/" "$2"/series/flow.csv; fi\n')
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
# A suite that is killed in a measurement keeps the rows that were complete; one that is told to end ends what it started.
wrong = build("cut", tagflow=f'[ $1 = bench ] || exec REAL "$@"\nREAL "$@"\necho $$ >"{os.getcwd()}/sleeper"\nexec sleep 1000\n', parity=mute)
for which, state in (signal.SIGKILL, "running"), (signal.SIGTERM, "ok"):
    process = start("cut_out", "--call", "1", folder=wrong)
    rows, limit = [], time.monotonic() + 300
    while (len(rows) < 6 or not os.path.exists("sleeper")) and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.1)
        try:
            rows = runs.load("cut_out", "gpu_suite_1.json")["stages"]["speed"]["rows"]
        except (OSError, KeyError):
            rows = []
    process.send_signal(which)
    said, _ = process.communicate(timeout=60)
    with open("sleeper") as file:
        sleeper = int(file.read())
    report = runs.load("cut_out", "gpu_suite_1.json")
    speed = report["stages"]["speed"]
    check(len(rows) == 6 and speed["rows"] == rows and speed["result"] == state,
          f"{which.name}: {len(rows)} rows stay, {speed['result']}")
    if which == signal.SIGKILL:
        check(report["passed"] is None and process.returncode == -which, f"{which.name}: {report['passed']}")
        os.kill(sleeper, which)
        os.remove("cut_out/gpu_suite_1.json")
        os.remove("sleeper")
        continue
    check(process.returncode == 1 and report["passed"] is False and report["ended_by"] == "SIGTERM" and
          failed(report["stages"], "profile", "ended by SIGTERM"), f"SIGTERM: {process.returncode}, {report['ended_by']}")
    check(not os.path.exists(f"/proc/{sleeper}"), "SIGTERM: ends what it started")
check(len(glob.glob("temporary/gpu_suite_*")) == 1, "nothing temporary but of the one killed")
# More memory than the program says that it takes.
wrong = build("memory", tagflow='REAL "$@" || exit\nfor file; do :; done\n[ $1 != check ] || '
              'sed -E -i "s/(largest_rank_bytes_on_gpu.: )3[0-9]{8}/\\1300000000/" "$file"\n')
code, said, stages, _, _ = suite("memory_out", "--stages", "memory", folder=wrong)
check(code == 1 and failed(stages, "memory", "from the"), f"memory: {stages['memory']['failures']}")
# The largest box that tagflow check has room for: on a device of 200 MB, on none, and on an H200.
wrong = build("little", tagflow='case "$*" in *--machine*) echo "memory: 200 MB" >"$4" ;; esac\nexec REAL "$@"\n')
code, said, stages, _, _ = suite("little_out", "--stages", "memory", folder=wrong)
check(code == 0 and stages["memory"]["cells"] == 128 and abs(stages["memory"]["off"]) <= 0.02, f"memory on 200 MB: {stages['memory']}")
wrong = build("none", tagflow='case "$*" in *--machine*) echo "memory: 1 kB" >"$4" ;; esac\nexec REAL "$@"\n')
code, said, stages, _, _ = suite("none_out", "--stages", "memory", folder=wrong)
check(code == 1 and failed(stages, "memory", "finds no box that fits"), f"memory on nothing: {stages['memory']['failures']}")
with open(ROOT + "/scripts/gpu_suite.py") as file:
    largest = next(int(line.split()[2]) for line in file if line.startswith("LARGEST_BOX = "))
write("h200.yaml", "memory: 141 GB\n")
write("box.yaml", f"domain: {{cells: [{largest}, {largest}, {largest}]}}\nfluid: {{viscosity: 0.02}}\nsolver: {{collision: bgk, storage: fp32}}\n"
      "initial: {flow: uniform, velocity: [0.03, 0.02, 0.01]}\nfaces: {x: periodic, y: periodic, z: periodic}\nrun: {steps: 10}\n")
said = runs.tagflow("check", "box.yaml", "--machine", "h200.yaml", "--json", "box.json")
share = runs.load(".", "box.json")["largest_rank_bytes_on_gpu"] / (0.95 * 141e9) if said.code == 0 else 0
check("fits on a device of 141 GB" in said.out and 0.95 < share < 0.98, f"memory of {largest}^3 cells: {share:.3f} of the room on an H200")
with open(ROOT + "/docs/gpu.md") as file:
    check(f"a grid of {largest}^3 fp32 cells" in file.read(), "docs/gpu.md names this size")
# Variants with other bits, and streams with wrong numbers.
if HAS_VARIANTS:
    wrong = build("variants")
    for what, mutant in ("variants_32", 11), ("streams", 2):
        os.remove(f"variants/{what}_standin")
        program(f"variants/{what}_standin", f"exec '{VARIANTS}/{what}_standin' \"$@\" --mutant {mutant}\n")
    code, said, stages, _, _ = suite("variants_out", "--stages", "variants", folder=wrong)
    found = stages["variants"]
    check(code == 1 and failed(stages, "variants", "streams: ") and failed(stages, "variants", "variants_32: ") and len(found["rows"]) > 60 and
          not any("glups" in row for row in found["rows"] if not row.get("bits_equal", True)), f"other bits and wrong numbers: {[text[:80] for text in found['failures']]}")
# Steps that are not what they should be have no rate.
wrong = build("unknown", tagflow='[ "$1" = bench ] || exec REAL "$@"\nfor file; do :; done\nREAL "${@:1:$#-1}" "$file.right" || exit\n'
              r'sed "s/\"verified\": true/\"verified\": false, \"why\": \"one bit\"/" "$file.right" >"$file"' "\nexit 1\n")
code, said, stages, _, _ = suite("unknown_out", "--stages", "speed", folder=wrong)
check(code == 1 and failed(stages, "speed", "one bit") and not stages["speed"]["rows"], "steps not verified: no rate")
# A flow that stands still has no speed.
wrong = build("still", tagflow='exec REAL "$@" --set "initial={flow: rest}" --set "faces={x: wall, y: wall, z: wall}"\n')
code, said, stages, _, _ = suite("still_out", "--stages", "halo", folder=wrong)
check(code == 1 and failed(stages, "halo", "max |u|"), "a flow at rest: no speed")
# Errors that the sanitizer sees, and a sanitizer that says nothing.
code, said, stages, _, _ = suite("sanitizer_out", "--stages", "sanitizer", folder=build("sanitized", parity=mute), sanitizer="sanitizer_3")
check(code == 1 and failed(stages, "sanitizer", "[3]"), "errors of the sanitizer")
program("sanitizer_mute", "exit 0\n")
code, said, stages, _, _ = suite("mute_out", "--stages", "sanitizer", sanitizer="sanitizer_mute")
check(code == 1 and failed(stages, "sanitizer", "no summary"), "a sanitizer without a summary")
# A peer that fails, one that is not here, and a profiler that says nothing.
for command, words in (f"'{os.path.abspath('peer')}' slow 3", "exit status 3: slow 23.06 GLUPS"), ("./no_peer", "exit status 127"):
    code, said, stages, _, _ = suite("peer_out", "--stages", "peer", "--peer", command)
    check(code == 1 and failed(stages, "peer", words) and len(stages["peer"]["rows"]) == 2, f"{command}: {stages['peer']['failures']}")
code, said, stages, _, _ = suite("profiler_out", "--stages", "profile", profiler="sanitizer_mute")
check(code == 1 and failed(stages, "profile", "nothing said"), f"a profiler without figures: {stages['profile']['failures']}")
# Parity: a difference, and nothing compared.
for name, script, words in [("parity_bad", 'echo "ok    one"\necho "FAIL  two"\nexit 1\n', "FAIL  two"), ("parity_mute", "exit 0\n", "nothing said")]:
    code, said, stages, _, _ = suite(name + "_out", "--stages", "parity", folder=build(name, parity=script))
    check(code == 1 and failed(stages, "parity", words), f"{name}: {stages['parity']['failures']}")

# Usage.
os.makedirs("empty")
write("file", "")
for arguments, words in [(("--stages", "info,sped"), "there is no stage 'sped'"), (("--build", "empty"), "there is no tagflow in"),
                         (("--call", "4"), "--call"), (("--call", "1", "--stages", "info"), "leave out --stages"),
                         (("--peer", "'a"), "No closing quotation"), (("--out", "file/x"), "file/x: Not a directory"), (("--nonsense",), "--nonsense"),
                         (("--seconds", "soon"), "--seconds")]:
    code, said, _, _, _ = suite("usage", *arguments)
    check(code == 2 and words in said and "Traceback" not in said, f"{' '.join(arguments)}: {code}, {said.splitlines()[-1]}")

runs.finish()
