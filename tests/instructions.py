#!/usr/bin/python3
"""Instructions an update takes: a guard of speed that does not depend on the machine's mood.

    TAGFLOW=build/tagflow tests/instructions.py              compares with instructions.json (exit 0, 1; 77: skipped)
    TAGFLOW=build/tagflow tests/instructions.py --record     writes instructions.json anew
    TAGFLOW=build/tagflow tests/instructions.py --where NAME shows in which functions NAME spends them

Runs small cases under callgrind, which counts what the processor would execute, with the kernels for x86-64-v3 (valgrind
knows no AVX-512), and collects inside solver_step alone: no set-up, no output. The count belongs to the program, not to the
processor, its load or its memory; two counts differ by less than 0.1 %: libgomp asks for memory at the first step of a
process, and how long malloc looks depends on what was freed before. It sees what a compiler or a change makes of the loops, not what memory
does: docs/performance.md.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
MORE, LESS, NOISE = 0.01, 0.05, 0.001  # off the record by so much: slower; faster, to be recorded; the same
STEPS = 4  # populations lie differently after odd and after even ones
SKIP = 77
PLAIN = ("fp32", "fp32")
WALLED = "{x: wall, z: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}}"
PERIODIC = "{x: periodic, y: periodic, z: periodic}"
OPEN = "{xmin: {velocity: {value: [0.05, 0, 0], profile: duct}}, xmax: pressure, y: wall, z: wall}"
SLIP = "{x: periodic, y: slip, z: slip}"
TUNNEL = "{xmin: {velocity: {value: [0.05, 0, 0]}}, xmax: pressure, y: slip, z: slip}"
BALL = "bodies: {ball: {shape: {sphere: {center: [32.3, 12.1, 11.7], radius: 6.2}}, wall: %s}}"
BASE = """
domain:  {{cells: {cells}}}
fluid:   {{viscosity: 0.02}}
solver:  {{collision: {collision}, storage: {storage}, arithmetic: {arithmetic}{solver}}}
initial: {{flow: {flow}}}
faces:   {faces}
run:     {{steps: {steps}, isa: v3}}
check:   {{every: 0, hang: none}}
checkpoint: {{every: 0}}
output:  {{log: {{every: 0}}}}
{more}
"""


def rock():
    """Overlapping spheres, the same each time."""
    numbers = random.Random(7)
    spheres = [f"s{k}: {{shape: {{sphere: {{center: [{x:.2f}, {y:.2f}, {z:.2f}], radius: 7}}}}}}" for k, (x, y, z) in
               enumerate([[numbers.random() * n for n in (64, 24, 24)] for _ in range(26)])]
    return "bodies: {" + ", ".join(spheres) + "}"


# Rows of the box are long, so that the loop over whole vectors is most of the count; the others are for what is beside it.
BOX = {"cells": [256, 8, 8], "faces": PERIODIC,
       "flow": "wave, velocity: [0.03, 0.01, 0.02], axis: x, width: 12"}
CASES = {
    # what, whether with every operator (else bgk) and with every precision (else fp32), and what of the case
    "box": (True, True, BOX),
    "forced": (True, False, BOX | {"more": "force: {acceleration: [1e-5, 0, 0]}"}),
    "subgrid": (True, False, BOX | {"solver": ", subgrid: {smagorinsky: {constant: 0.1}}"}),
    "cavity": (False, True, {"cells": [64, 24, 24], "faces": WALLED}),
    "channel": (False, True, {"cells": [64, 24, 24], "faces": OPEN}),
    "slip": (False, True, {"cells": [64, 24, 24], "faces": SLIP}),
    "tunnel": (False, True, {"cells": [64, 24, 24], "faces": TUNNEL, "more": BALL % "interpolated"}),
    "sphere": (False, True, {"cells": [64, 24, 24], "faces": PERIODIC, "more": BALL % "halfway"}),
    "curved": (False, True, {"cells": [64, 24, 24], "faces": PERIODIC, "more": BALL % "interpolated"}),
    "rock": (False, True, {"cells": [64, 24, 24], "faces": PERIODIC, "more": rock()}),
}


class Broken(Exception):
    """No count could be made; the text says why."""


def ask(*arguments):
    found = subprocess.run([TAGFLOW, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return found.returncode, found.stdout, found.stderr.strip()


def choices(key):
    """What a case file may have there."""
    code, text, error = ask("keys", key)
    found = re.search(r"^ *type: one of (.*)", text, re.M)
    if code or not found:
        raise Broken(f"`tagflow keys {key}`: exit status {code} {error}")
    return found.group(1).split(", ")


def write_case(folder, what, collision, pair):
    """The text of the case as a file of its own; returns its path."""
    values = {"flow": "rest", "more": "", "solver": "", "steps": STEPS} | CASES[what][2]
    values |= {"collision": collision, "storage": pair[0], "arithmetic": pair[1]}
    path = os.path.join(folder, "case.yaml")
    with open(path, "w") as file:
        file.write(BASE.format(**values))
    return path


def all_cases(folder):
    """{name: (what, operator, pair)}: every operator and pair that this program offers."""
    operators, pairs, refused = choices("solver.collision"), [], {}
    for pair in [(s, a) for s in choices("solver.storage") for a in choices("solver.arithmetic")]:
        code, _, error = ask("check", write_case(folder, "box", "bgk", pair))
        if code not in (0, 2):
            raise Broken(f"`tagflow check`: exit status {code}: {error}")
        if code == 0:
            pairs.append(pair)
        else:
            refused[pair] = error
    if PLAIN not in pairs:
        raise Broken(f"`tagflow check` refuses the case that all others are made of: {refused.get(PLAIN, 'no fp32')}")
    return {f"{what} {operator} {pair[0]}/{pair[1]}": (what, operator, pair)
            for what, (every_operator, every_pair, _) in CASES.items()
            for operator in (operators if every_operator else ["bgk"])
            for pair in (pairs if every_pair else [PLAIN])}


def count_together(folder, cases):
    """{name: (instructions an update of a fluid cell takes, callgrind's file that says where)}, or what went wrong in its
    place. One process runs all cases: under callgrind its start takes longer than they do."""
    folder, found = tempfile.mkdtemp(dir=folder), {}
    lines, log, profile = [os.path.join(folder, n) for n in ("lines", "log", "profile")]
    with open(lines, "w") as file:
        for number, case in enumerate(cases.values(), 1):
            os.mkdir(os.path.join(folder, str(number)))
            file.write(f"{write_case(os.path.join(folder, str(number)), *case)}\t--output\t{folder}/{number}/out\n")
    said = subprocess.run(
        ["valgrind", "--tool=callgrind", "--toggle-collect=solver_step", "--dump-after=command_run",
         "--callgrind-out-file=" + profile, "--log-file=" + log, SEVERAL, lines],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    codes = dict(re.findall(r"^several: (\d+) (\d+)$", said.stdout, re.M))
    errors = " ".join(line for line in said.stderr.splitlines() if line.startswith("tagflow")) or said.stderr[-500:]
    for number, name in enumerate(cases, 1):
        if codes.get(str(number)) != "0":
            found[name] = f"exit status {codes.get(str(number), said.returncode)} under callgrind: {errors}"
            continue
        with open(f"{profile}.{number}") as file:
            collected = re.search(r"^totals: (\d+)", file.read(), re.M)
        with open(f"{folder}/{number}/out/report.json") as file:
            report = json.load(file)
        if not collected or int(collected.group(1)) == 0:
            found[name] = "callgrind saw no call of solver_step (src/solver/step.c): was it renamed or inlined?"
        else:
            found[name] = int(collected.group(1)) / (report["fluid_cells"] * report["steps"]), f"{profile}.{number}"
    return found


def functions(profile, total):
    """Lines of text: the functions that take most, each by its own instructions, as parts of that total."""
    text = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", profile], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True).stdout
    found = re.findall(r"^ *([\d,]+) \(.*?\) +[^:\n]*:(\S+)", text, re.M)
    found = [(int(number.replace(",", "")), name) for number, name in found]
    everything = sum(number for number, _ in found)
    return [f"    {number / everything * total:9.2f}  {name}" for number, name in found if number > 0.005 * everything]


def count_all(folder, cases):
    """{name: (count, lines of functions)}; the text of what went wrong in the place of a count."""
    cores, names, found = len(os.sched_getaffinity(0)), list(cases), {}
    with concurrent.futures.ThreadPoolExecutor(cores) as jobs:
        for some in jobs.map(lambda k: count_together(folder, {name: cases[name] for name in names[k::cores]}), range(cores)):
            found |= some
        lines = dict(zip(names, jobs.map(lambda name: [] if isinstance(found[name], str) else
                                         functions(found[name][1], found[name][0]), names)))
    return {name: (found[name] if isinstance(found[name], str) else found[name][0], lines[name]) for name in names}


def compare(found, record):
    """Prints what is not as recorded; returns how many are not."""
    slower, other, broken = [], [], [name for name, (number, _) in found.items() if isinstance(number, str)]
    for name, (number, lines) in found.items():
        if name in broken:
            print(f"FAIL {name}: {number}")
            continue
        if name not in record:
            print(f"FAIL {name}: {number:.2f} instructions an update, nothing recorded")
            other.append(name)
            continue
        change = number / record[name] - 1
        off = change > MORE or change < -LESS
        (slower if change > MORE else other if off else []).append(name)
        print(f"{'FAIL' if off else 'ok  '} {name}: {number:.2f} instructions an update, "
              f"{record[name]:.2f} recorded, {100 * change:+.1f} %")
        if off:
            print("\n".join(lines))
    for name in sorted(set(record) - set(found)):
        print(f"FAIL {name}: recorded, but no such case now")
        other.append(name)
    if slower:
        print(f"{len(slower)} of {len(found)} take over {100 * MORE:.0f} % more instructions than recorded."
              "\nIn which function: the lines above, beside those of the program before the change:"
              f"\n    TAGFLOW=THAT_PROGRAM tests/instructions.py --where '{slower[0]}'"
              "\nIf it is meant, say why in the commit, and record it:")
    if other:
        print(f"{len(other)} new, gone or by over {100 * LESS:.0f} % less than recorded."
              " Record it, so that it stays so:")
    if slower or other:
        print(f"    TAGFLOW={TAGFLOW} tests/instructions.py --record")
    return len(slower) + len(other) + len(broken)


def read_record():
    """{"compiler": NAME VERSION, "instructions": {name: count}}, or None if there is none."""
    if not os.path.exists(RECORD):
        return None
    try:
        with open(RECORD) as file:
            record = json.load(file)
        record["compiler"] + ""
        sum(record["instructions"].values())
        return record
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Broken(f"{RECORD}: not a record ({type(error).__name__}: {error});"
                     " take it from git, or remove it and --record") from error


def write_record(found, compiler, old):
    """What hardly differs stays as it is: the difference between two records is what changed."""
    broken = {name: number for name, (number, _) in found.items() if isinstance(number, str)}
    for name, text in broken.items():
        print(f"FAIL {name}: {text}; nothing was recorded")
    if broken:
        return 1
    numbers = old["instructions"] if old and old["compiler"] == compiler else {}
    new = {name: numbers[name] if name in numbers and abs(number / numbers[name] - 1) <= NOISE else round(number, 2)
           for name, (number, _) in found.items()}
    with open(RECORD, "w") as file:
        json.dump({"compiler": compiler, "instructions": new}, file, indent=1)
        file.write("\n")
    for name in sorted(set(new) | set(numbers)):
        if new.get(name) != numbers.get(name):
            print(f"{name}: {numbers.get(name, 'nothing')} -> {new.get(name, 'gone')}")
    print(f"{len(new)} recorded")
    return 0


def reason_to_skip(info, compiler, record):
    """Why counts of this program here say nothing, or None. No record: one is being made."""
    with open(TAGFLOW, "rb") as file:
        program = file.read()
    if not shutil.which("valgrind") or not shutil.which("callgrind_annotate"):
        return "no valgrind"
    if "release build" not in info:
        return "not a release build"
    if any(word in program for word in (b"__asan_init", b"__ubsan_handle", b"__tsan_init", b"__gcov_")):
        return "built with a sanitizer or for coverage"
    if not re.search(r"this processor has v[34]", info):
        return "this processor lacks x86-64-v3"
    if record and record["compiler"] != compiler:
        return f"the record is of {record['compiler']}, this program was compiled by {compiler}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Instructions an update takes, beside those of tests/instructions.json.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--record", action="store_true", help="write what is counted into instructions.json")
    what.add_argument("--where", metavar="NAME", help="the functions of one case, for example 'box bgk fp32/fp32'")
    given = parser.parse_args()
    code, info, error = ask("info")
    compiler = re.search(r"^compiler +(\S+ \S+?),", info, re.M)
    if code or not compiler:
        raise Broken(f"`tagflow info`: exit status {code} {error}")
    compiler, record = compiler.group(1), None
    if not given.where:
        record = read_record()
    if not record and not given.record and not given.where:
        raise Broken(f"no {RECORD}: make it with --record")
    reason = reason_to_skip(info, compiler, None if given.record or given.where else record)
    if reason:
        print(("nothing counted: " if given.record or given.where else "skipped: ") + reason)
        return 1 if given.record or given.where else SKIP
    with tempfile.TemporaryDirectory(prefix="tagflow_count_") as folder:
        cases = all_cases(folder)
        if given.where:
            if given.where not in cases:
                raise Broken(f"no case '{given.where}'; there are: {', '.join(cases)}")
            number, lines = count_all(folder, {given.where: cases[given.where]})[given.where]
            if isinstance(number, str):
                raise Broken(f"{given.where}: {number}")
            print(f"{given.where}: {number:.2f} instructions an update, by function:", *lines, sep="\n")
            return 0
        found = count_all(folder, cases)
        return write_record(found, compiler, record) if given.record else compare(found, record["instructions"]) > 0


try:
    if not os.environ.get("TAGFLOW"):
        raise Broken("TAGFLOW is not set to the program: TAGFLOW=build/tagflow tests/instructions.py")
    TAGFLOW = os.path.abspath(os.environ["TAGFLOW"])
    SEVERAL = os.path.join(os.path.dirname(TAGFLOW), "tests/several")  # the same in one process for several cases
    sys.exit(main())
except (Broken, OSError) as error:
    sys.exit(f"FAIL {error}")
