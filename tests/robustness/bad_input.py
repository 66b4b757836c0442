#!/usr/bin/python3
"""Wrong usage and wrong cases: exit status 2, one line of ours that says what is wrong, and nothing written.

Each row below is a mistake and words that its message must hold. A part of them runs again under mpirun,
where there must still be one line.
"""
import concurrent.futures
import os
import tempfile

import runs
from runs import CASE, check, tagflow, write

CHANNEL = """\
units:    {dx: 5 mm, dt: 1 ms, density: 1 kg/m3}
domain:   {size: [0.25 m, 0.04 m, 0.04 m]}
fluid:    {viscosity: 1e-3 m2/s, velocity: 0.2 m/s, length: 0.1 m}
solver:   {collision: trt, storage: fp64, arithmetic: fp64}
faces:
  x: periodic
  y: wall
  z: wall
force:    {acceleration: [0.04 m/s2, 0, 0]}
run:      {duration: 0.05 s}
output:
  series: {flow: {every: 0.01 s, of: [mass, max_velocity]}}
"""


def line(old, new, case=CASE):
    assert old in case
    return case.replace(old, new)


def after(addition, case=CASE):
    return case + addition


# Contents of case.yaml, words of the message. `case.yaml:LINE:COLUMN` must be in it, too, if given.
CASES = [
    # keys
    (line("viscosity", "viscosty"), "case.yaml:2:11", "unknown key", "did you mean fluid.viscosity?"),
    (after("nonsense: 1\n"), "case.yaml:15:1", "unknown key 'nonsense'"),
    (line("{every: 10, of: speed}", "{every: 10, of: speed, axs: z}"), "did you mean output.images.mid.axis?"),
    (line("steps: 20", "steps: 20, steps: 30"), "case.yaml:8:22", "twice"),
    (after("run: {steps: 3}\n"), "case.yaml:15:1", "twice", "line 8"),
    (line("x: wall", "x: wall\n  xmin: wall"), "face xmin is named twice", "x and xmin"),
    (line("  x: wall\n", ""), "face xmin is missing"),
    (line("z: periodic", "zmin: periodic\n  zmax: wall"), "periodic"),
    (line("run:     {steps: 20}\n", ""), "run is missing"),
    (line("viscosity: 0.05", "viscosity: 0.05, reynolds: 100"), "both fluid.viscosity and fluid.reynolds"),
    (line("viscosity: 0.05, ", ""), "fluid.viscosity or fluid.reynolds is missing"),
    (after("solver: {collision: bgk, magic: 0.1}\n"), "solver.magic has no effect"),
    (after("initial: {flow: rest, amplitude: 0.1}\n"), "initial.amplitude has no effect"),
    (after("initial: {flow: taylor_green_3d}\n"), "periodic"),
    # types
    (line("steps: 20", "steps: many"), "case.yaml:8:18", "'many'", "whole number"),
    (line("steps: 20", "steps: 2.5"), "whole number"),
    (line("steps: 20", "steps: [20]"), "whole number"),
    (line("steps: 20", "steps: {a: 20}"), "run.steps"),
    (line("steps: 20", "steps: "), "run.steps"),
    (line("viscosity: 0.05", "viscosity: fast"), "'fast'", "a number"),
    (line("viscosity: 0.05", "viscosity: nan"), "'nan'"),
    (line("viscosity: 0.05", "viscosity: inf"), "'inf'"),
    (line("viscosity: 0.05", "viscosity: 0x1p-4"), "'0x1p-4'"),
    (line("viscosity: 0.05", "viscosity: 1e999"), "1e999"),
    (line("[16, 12, 4]", "[16, 12]"), "domain.cells", "three"),
    (line("[16, 12, 4]", "[16, 12, 4, 4]"), "domain.cells", "three"),
    (line("[16, 12, 4]", "16"), "domain.cells", "three"),
    (line("[16, 12, 4]", "[16, twelve, 4]"), "'twelve'"),
    (line("fluid:   {", "fluid:   [").replace("length: 16}", "length: 16]"), "fluid"),
    (line("of: speed", "of: sped"), "did you mean speed?"),
    (line("of: [mass, ", "of: [mass, mass, "), "mass"),
    (line("x: wall", "x: wal"), "did you mean wall?"),
    (line("{main: {", "{../main: {"), "'../main'"),
    (line("{main: {", "{a/b: {"), "'a/b'"),
    (line("{main: {", "{%s: {" % ("n" * 64)), "nnn"),
    # ranges
    (line("steps: 20", "steps: 0"), "out of range"),
    (line("steps: 20", "steps: -5"), "out of range"),
    (line("steps: 20", "steps: 99999999999999999999999"), "99999999999999999999999"),
    (line("[16, 12, 4]", "[0, 12, 4]"), "out of range"),
    (line("[16, 12, 4]", "[16, 12, -4]"), "out of range"),
    (line("[16, 12, 4]", "[2147483648, 1, 1]"), "2147483648"),
    (line("[16, 12, 4]", "[4194304, 2097152, 2097152]"), "cells", "out of range"),
    (line("viscosity: 0.05", "viscosity: 0"), "out of range"),
    (line("viscosity: 0.05", "viscosity: -0.05"), "out of range"),
    (line("velocity: 0.05", "velocity: 0.9"), "out of range"),
    (line("[0.05, 0, 0]", "[0.9, 0, 0]"), "out of range"),
    (line("[0.05, 0, 0]", "[0, 0.05, 0]"), "through itself"),
    (line("{every: 10, of: speed}", "{every: 0, of: speed}"), "out of range"),
    (line("{every: 10, of: speed}", "{every: 10, of: speed, at: 4}"), "output.images.mid.at"),
    (line("{every: 10, of: speed}", "{every: 10, of: speed, range: [1, 0]}"), "below"),
    (line("steps: 20", "steps: 20, threads: 0"), "out of range"),
    (line("steps: 20", "steps: 20, ranks: [17, 1, 1]"), "17 ranks along x for 16 cells"),
    (line("steps: 20", "steps: 20, ranks: [2, 2, 1]"), "4 ranks", "1 is started"),
    (line("steps: 20", "steps: 20, isa: v5"), "'v5'"),
    # units
    (line("viscosity: 0.05", "viscosity: 1e-3 m2/s"), "units"),
    (line("velocity: 0.05", "velocity: 0.05 m/s"), "units"),
    (line("1e-3 m2/s", "1e-3 m/s", CHANNEL), "'1e-3 m/s'", "viscosity"),
    (line("1e-3 m2/s", "1e-3 m2/sec", CHANNEL), "unknown unit"),
    (line("[0.25 m,", "[0.252 m,", CHANNEL), "no whole number"),
    (line("[0.25 m,", "[1e30 m,", CHANNEL), "at most"),
    (line("dt: 1 ms", "dt: 1 s", CHANNEL), "out of range"),
    (line("dt: 1 ms", "dt: 1", CHANNEL), "units.dt"),
    (line("dt: 1 ms, ", "", CHANNEL), "units.dt or units.velocity is missing"),
    (line("duration: 0.05 s", "duration: 1e30 s", CHANNEL), "steps"),
    (line("duration: 0.05 s", "duration: 0.05 s, steps: 50", CHANNEL), "both"),
    (line("size: [0.25 m, 0.04 m, 0.04 m]", "cells: [50, 8, 8], size: [0.25 m, 0.04 m, 0.04 m]", CHANNEL), "both"),
    # not YAML, or more than a case may have
    ("", "empty"),
    ("# nothing\n", "empty"),
    ("just text\n", "not a case"),
    ("- a\n- list\n", "not a case"),
    ("domain: {cells: [16, 12, 4]\nfluid: }\n", "not YAML"),
    ("\tdomain: 1\n", "case.yaml:1:1", "not YAML"),
    (b"domain: \xff\xfe\n", "not YAML"),
    (b"\x7fELF\x02\x01\x00\x00", "case.yaml:1:7", "NUL"),
    (after("---\na: 1\n"), "second document"),
    (line("{steps: 20}", "&a {steps: 20}"), "anchors"),
    (after("initial: *a\n"), "aliases"),
    (line("steps: 20", "steps: !!int 20"), "tags"),
    (after("? [a, b]\n: 1\n"), "key"),
    ("{a: " * 30000, "deep"),
    ("a: " + "[" * 50000, "deep"),
    ("# long\n" * 200000, "bytes"),
    (b"a" * (17 << 20), "larger"),
]

# Arguments behind the command, words of the message; case.yaml is sound.
ARGUMENTS = [
    (["run"], "which case?"),
    (["check"], "which case?"),
    (["run", "missing.yaml"], "missing.yaml", "No such file"),
    (["run", "missing/case.yaml"], "No such file"),
    (["run", "case.yaml/x"], "Not a directory"),
    (["run", "."], "is a folder"),
    (["run", ""], "No such file"),
    (["run", "/dev/null"], "empty"),
    (["run", "case.yaml", "other.yaml"], "other.yaml is not known here"),
    (["run", "case.yaml", "--outptu", "x"], "did you mean --output?"),
    (["run", "case.yaml", "-x"], "-x is not known here"),
    (["check", "case.yaml", "--output", "x"], "--output is not known here"),
    (["run", "case.yaml", "--set"], "--set needs a value"),
    (["run", "case.yaml", "--output"], "--output needs a value"),
    (["run", "case.yaml", "--output", "--overwrite"], "--output needs a value"),
    (["run", "case.yaml", "--output="], "--output"),
    (["run", "case.yaml", "--backend"], "--backend needs a value"),
    (["run", "case.yaml", "--backend", "abacus"], "auto, cpu or cuda"),
    (["check", "case.yaml", "--ranks"], "--ranks needs a value"),
    (["check", "case.yaml", "--ranks", "0"], "--ranks 0"),
    (["check", "case.yaml", "--ranks", "-1"], "--ranks -1"),
    (["check", "case.yaml", "--ranks", "two"], "--ranks two"),
    (["check", "case.yaml", "--ranks", "1e9"], "--ranks 1e9"),
    (["check", "case.yaml", "--ranks", "99999999999999999999"], "--ranks 9999"),
    (["check", "case.yaml", "--ranks", "100000"], "100000 ranks cannot be placed"),
    (["check", "case.yaml", "--ranks", "17"], "17 ranks cannot be placed"),
    (["run", "case.yaml", "--set", "run.stepps=3"], "--set 'run.stepps=3'", "did you mean run.steps?"),
    (["run", "case.yaml", "--set", "nonsense=3"], "unknown key 'nonsense'"),
    (["run", "case.yaml", "--set", "run.steps.more=3"], "run.steps.more"),
    (["run", "case.yaml", "--set", "run.steps"], "expected PATH=VALUE"),
    (["run", "case.yaml", "--set", "=3"], "expected PATH=VALUE"),
    (["run", "case.yaml", "--set", ""], "expected PATH=VALUE"),
    (["run", "case.yaml", "--set", "run.steps="], "no value"),
    (["run", "case.yaml", "--set", "run.steps=[1"], "not YAML"),
    (["run", "case.yaml", "--set", "run.steps=0"], "out of range"),
    (["run", "case.yaml", "--set", "run.steps=a\nb"], "run.steps"),
    (["run", "case.yaml", "--set", "run..steps=3"], "run..steps"),
    (["run", "case.yaml", "--set", "fluid.reynolds=100"], "both fluid.viscosity and fluid.reynolds"),
    (["run", "case.yaml", "--set", "faces.xmin=wall"], "named twice"),
    (["run", "case.yaml", "--set", "output.series.flow=3"], "output.series.flow"),
    (["run", "case.yaml", "--set", "output.images.new.of=speed"], "every"),
    (["run", "case.yaml", "--set", "x" * 5000 + "=1"], "too long"),
    (["run", "case.yaml", "--set", "run.steps=" + "9" * 5000], "run.steps"),
    (["run", "case.yaml"] + ["--set", "run.steps=1"] * 300, "--set"),
    (["keys", "nonsense"], "nonsense"),
    (["keys", "fluid", "more"], "more is not known here"),
    (["info", "more"], "more is not known here"),
    (["rum"], "did you mean run?"),
    (["nonsense"], "nonsense is not a command"),
    ([""], "is not a command"),
    (["--nonsense"], "--nonsense is not a command"),
]


def attempt(arguments, words, ranks=0, case=CASE):
    """Runs it in a folder that holds case.yaml alone; what is wrong with how it ended, and its message."""
    with tempfile.TemporaryDirectory(dir=runs.WORK) as folder:
        write(os.path.join(folder, "case.yaml"), case)
        said = tagflow(*arguments, ranks=ranks, cwd=folder)
        wrong = [] if said.code == 2 else [f"exit status {said.code}"]
        if len(said.errors) != 1:
            wrong.append(f"{len(said.errors)} lines: {said.err[:300]!r}")
        if not ranks and len(said.err.splitlines()) != len(said.lines):
            wrong.append("lines that are not ours")
        if arguments[0] == "run" and said.out:
            wrong.append("something on stdout")
        wrong += [f"no {word!r}" for word in words if word not in said.err]
        if runs.tree(folder) != ["case.yaml"]:
            wrong.append(f"wrote {runs.tree(folder)}")
        return wrong, said.errors[0] if said.errors else ""


def show(what, result):
    wrong, message = result
    what = what if len(what) < 70 else what[:67] + "..."
    check(not wrong, f"{what!r}: {'; '.join(wrong) + ': ' if wrong else ''}{message[:200]}")


with concurrent.futures.ThreadPoolExecutor(4) as pool:  # starting MPI is waiting mostly
    jobs = [(" ".join(arguments), pool.submit(attempt, arguments, words)) for arguments, *words in ARGUMENTS]
    for case, *words in CASES:
        text = case if isinstance(case, str) else repr(case[:20])
        base = CHANNEL if "units:" in text else CASE
        changed = [part for part in text[:3000].splitlines() if part not in base.splitlines()]
        # `check` must say the same as `run`, but for what only starting tells
        command = "run" if "1 is started" in words or len(jobs) % 2 else "check"
        jobs.append((changed[0] if changed else "lines missing",
                     pool.submit(attempt, [command, "case.yaml"], words, case=case)))
    for what, job in jobs:
        show(what, job.result())

for arguments, *words in [(["run", "case.yaml", "--set", "run.stepps=3"], "did you mean run.steps?"),
                          (["run", "missing.yaml"], "No such file"),
                          (["run", "case.yaml", "--nonsense"], "--nonsense is not known here"),
                          (["run", "case.yaml", "--set", "run.ranks=[2, 1, 1]"], "makes 2 ranks, but 3 are started"),
                          (["run", "case.yaml", "--set", "domain.cells=[2, 1, 1]"], "3 ranks cannot be placed"),
                          (["run", "case.yaml", "--output", "case.yaml"], "not a folder"),
                          (["nonsense"], "nonsense is not a command")]:
    show("mpirun -n 3: " + " ".join(arguments), attempt(arguments, words, ranks=3))

write("channel.yaml", CHANNEL)
said = tagflow("run", "channel.yaml")
check(said.code == 0 and not said.lines, f"the channel in physical units itself runs: {said}")

runs.finish()
