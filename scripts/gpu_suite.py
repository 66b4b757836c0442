#!/usr/bin/env python3
"""The GPU suite; scripts/gpu_suite.sh starts it, docs/gpu.md says what it checks and what it writes.

Only Python's standard library: it runs where nothing can be installed.
"""
import argparse
import concurrent.futures
import csv
import datetime
import glob
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
Q = 19
BYTES = {"fp32": 4, "fp64": 8, "fp16": 2}
ARITHMETIC = {"fp16": "fp32"}  # else as stored
LARGEST_BOX = 1184  # cells along each axis, fp32: 129.5 GB on a GPU, 97 % of what tagflow check allows on 141 GB

# What small runs write: sums that must agree to the bit, and pixels.
SMALL_OUTPUT = ("{log: {every: 0}, series: {flow: {every: 5, of: [mass, kinetic_energy, enstrophy, max_velocity]}}, "
                "images: {mid: {every: 20, of: speed}, side: {every: 20, of: vorticity, axis: x}}}")
# Smaller bodies for cases that are too large to be run here.
SMALL = {"sphere": {"bodies.sphere.shape.sphere": {"center": [8, 7, 6], "radius": 3.3}},
         "sphere_levels": {"bodies.sphere.shape.sphere": {"center": [9, 6.2, 6], "radius": 1},
                           "refine.wake.box": {"from": [7, 4, 4], "to": [12, 9, 8]}, "refine.near.behind": 0.6, "refine.near.distance": 0.5},
         "cylinder_levels": {"initial.center": [6, 11, 3], "initial.width": 2,
                           "bodies.cylinder.shape.cylinder": {"center": [12, 10, 6], "axis": "z", "radius": 1},
                           "refine": {"near": {"level": 2, "around": "cylinder", "distance": 0.8},
                                      "wake": {"level": 1, "box": {"from": [8, 6, 0], "to": [20, 14, 12]}}}},
         "car_levels": {"bodies.car.mesh.scale": "0.25 m", "bodies.car.mesh.min": ["4.5 m", "2.3 m", "0.25 m"],
                        "refine.skin.level": 2, "refine.near.level": 1, "refine.near.behind": "0.5 m", "refine.wake.level": 1,
                        "refine.wake.behind": "1 m"}}
QUIET = {"output": "{log: {every: 0}}", "checkpoint.every": 0, "check.every": 0}

# A flow that moves everywhere from the first step on; `faces` and `initial` say in which box.
BOX = """\
domain:  {{cells: [{n}, {n}, {n}]}}
fluid:   {{viscosity: 0.02}}
solver:  {{collision: {collision}, storage: {precision}}}
initial: {initial}
faces:   {faces}
run:     {{steps: {steps}, threads: {threads}}}
check:   {{every: 0}}
checkpoint: {{every: 0}}
output:  {{log: {{every: {every}, wall_time: none}}}}
"""
KINDS = {
    "periodic": ("{flow: taylor_green_3d, amplitude: 0.05}", "{x: periodic, y: periodic, z: periodic}"),
    "cavity": ("{flow: uniform, velocity: [0.03, 0.02, 0.01]}",
               "{x: wall, z: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}}"),
}

# Seconds that a stage may take. Each call begins with info.
CALLS = {1: {"info": 20, "variants": 230, "speed": 130, "profile": 100, "peer": 90},
         2: {"info": 20, "parity": 60, "cases": 200, "restart": 70, "physics": 100, "sanitizer": 120},
         3: {"info": 20, "halo": 80, "memory": 100, "levels": 90, "operators": 280}}
LIMITS = {name: limit for call in CALLS.values() for name, limit in call.items()}


class OutOfTime(Exception):
    pass


class Said:
    """How a command ended and what it said."""

    def __init__(self, line, code, text, seconds):
        self.line, self.code, self.text, self.seconds = line, code, text, seconds

    def __str__(self):
        said = [line for line in self.text.splitlines() if line.strip()]
        complaints = [line for line in said if line.startswith("tagflow: ") and "warning" not in line]
        last = complaints[0] if complaints else said[-1] if said else "nothing said"
        return ("out of time" if self.code is None else f"exit status {self.code}") + f": {last[:200]}"


class Run:
    """A finished run of a case, and what of it may not depend on how it was run."""

    def __init__(self, said, folder):
        self.said, self.folder, self.report = said, folder, None
        if said.code == 0:
            with open(os.path.join(folder, "report.json")) as file:
                self.report = json.load(file)

    def results(self):
        """{name: value}"""
        found = {"state hash": self.report["state_hash"]}
        for path in sorted(glob.glob(glob.escape(self.folder) + "/series/*.csv")):
            with open(path, "rb") as file:
                found[os.path.basename(path)] = hashlib.sha256(file.read()).hexdigest()
        for path in sorted(glob.glob(glob.escape(self.folder) + "/images/*.png")):
            found[os.path.basename(path)] = pixels(path)
        return found

    def laps(self):
        """GLUPS of the intervals between lines of the log, the first, which warms up, left out; and the largest
        velocity at the end."""
        with open(os.path.join(self.folder, "log.txt")) as file:
            lines = re.findall(r"^step (\d+) .* ([0-9.]+) ([MG])LUPS .*max \|u\| (\S+)", file.read(), re.M)
        rates = [float(rate) * (1 if unit == "G" else 1e-3) for step, rate, unit, _ in lines if int(step) > 0]
        return rates[1:], float(lines[-1][3])


def pixels(path):
    """Digest of a PNG's size, palette and pixels, without the text that says where it comes from."""
    with open(path, "rb") as file:
        data = file.read()
    parts, at = {}, 8
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        kind = data[at + 4:at + 8]
        parts[kind] = parts.get(kind, b"") + data[at + 8:at + 8 + size]
        at += 12 + size
    return hashlib.sha256(parts[b"IHDR"] + parts.get(b"PLTE", b"") + zlib.decompress(parts[b"IDAT"])).hexdigest()


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "values": values}


def shrink(cells, most):
    """A smaller box; thin ones stay thin, and cubes cubes, which some flows need."""
    if len(set(cells)) == 1:
        return [min(cells[0], most[1])] * 3
    return [n if n <= 8 else min(n, limit) for n, limit in zip(cells, most)]


class Suite:
    def __init__(self, options):
        self.options = options
        self.gpu = options.backend == "cuda"
        self.quick = options.quick or options.call == 2
        self.out = os.path.join(os.path.abspath(options.out), "gpu_suite" + (f"_{options.call}" if options.call else ""))
        self.lock = threading.Lock()
        self.count = 0
        self.begin = time.monotonic()
        self.ended_by = None
        self.failures = []
        self.data = {}
        self.cores = len(os.sched_getaffinity(0))
        # On a GPU the host's threads only make the initial flow.
        self.threads = self.cores if self.gpu else min(2, self.cores)
        self.reads_gpu_memory = False
        self.find_programs()

    # ---- programs ----

    def find_programs(self):
        if os.path.exists(os.path.join(ROOT, "libexec", "tagflow")) and not self.options.build:
            places, programs = [os.path.join(ROOT, "bin")], ["parity"]
        else:
            places = [self.options.build] if self.options.build else [os.path.join(ROOT, n) for n in ("build", "build-all", "build-test")]
            programs = ["parity", "tests/gpu/parity"]
        self.folder = next((p for p in places if os.access(os.path.join(p, "tagflow"), os.X_OK)), None)
        if not self.folder:
            wrong_usage(f"there is no tagflow in {' or '.join(places)} (build it, or --build DIR)")
        self.tagflow = os.path.join(os.path.abspath(self.folder), "tagflow")
        found = [os.path.join(os.path.abspath(self.folder), name) for name in programs]
        self.parity = next((p for p in found if os.access(p, os.X_OK)), None)
        beside = os.path.join(ROOT, "bin", "mpirun")
        self.measuring = os.path.join(ROOT, "libexec") if programs == ["parity"] else self.folder
        self.mpirun = beside if programs == ["parity"] and os.access(beside, os.X_OK) else shutil.which("mpirun")
        self.nvidia_smi = shutil.which("nvidia-smi")
        self.sanitizer = self.toolkit("compute-sanitizer", "COMPUTE_SANITIZER")
        self.profiler = self.toolkit("ncu", "NCU")

    def toolkit(self, name, variable):
        """A program of NVIDIA's toolkit; the environment's variable replaces it. None: it is not here."""
        places = glob.glob("/usr/local/cuda*/bin/" + name) + glob.glob("/opt/nvidia/nsight-compute/*/" + name)
        found = [shutil.which(name)] + [path for path in places if os.access(path, os.X_OK)] if self.gpu else []
        return os.environ.get(variable) or next(filter(None, found), None)

    def left(self):
        return self.stage_deadline - time.monotonic()

    def note(self, text):
        with self.lock:
            self.log.write(text.rstrip("\n") + "\n")
            self.log.flush()

    def call(self, line, limit=None, env=None, watch=None):
        """Run it to its end, or until the stage's time is over; never raises for what the command does. watch() is
        called each second."""
        limit = min(limit or 1e9, self.left())
        if limit <= 0:
            raise OutOfTime
        line = [str(word) for word in line]
        start = time.monotonic()
        try:
            process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, errors="replace", start_new_session=True,
                                       env=None if env is None else {**os.environ, **env})
        except OSError as error:
            said = Said(line, 127, str(error), 0)
        else:
            text = None
            while text is None and time.monotonic() < start + limit and self.left() > 0:
                try:
                    text, _ = process.communicate(timeout=max(0.01, min(1, start + limit - time.monotonic())))
                except subprocess.TimeoutExpired:
                    if watch:
                        watch()
            code = process.returncode
            if text is None:
                if line[0] == self.mpirun:  # which takes its ranks along
                    process.terminate()
                    try:
                        process.wait(5)
                    except subprocess.TimeoutExpired:
                        pass
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                text, _ = process.communicate()
                code = None
            said = Said(line, code, text, time.monotonic() - start)
        self.note(f"$ {shlex.join(line)}\n{said.text[-4000:]}\n-> {said.code}, {said.seconds:.2f} s")
        return said

    def place(self, stem):
        with self.lock:
            self.count += 1
            return os.path.join(self.work, f"{stem}_{self.count}")

    def run_line(self, case, settings, backend, folder, ranks=0, more=()):
        line = [self.tagflow, "run", case, "--output", folder, "--backend", backend, *more]
        if backend == "cuda":
            line.append("--share-gpu")
        for path, value in settings.items():
            line += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
        # Several jobs at once would each bind their ranks to the same first cores.
        return [self.mpirun, "--bind-to", "none", "-n", ranks] + line if ranks else line

    def run(self, case, settings, backend=None, ranks=0, folder=None, more=()):
        backend = backend or self.options.backend
        folder = folder or self.place(os.path.basename(case).split(".")[0])
        run = Run(self.call(self.run_line(case, settings, backend, folder, ranks, more)), folder)
        if run.report and run.report["backend"] != backend:
            raise AssertionError(f"asked for {backend}, ran on {run.report['backend']}")
        return run

    def write(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def good(self, condition, text):
        """One comparison; those that fail are listed."""
        if not condition:
            with self.lock:
                self.failures.append(text)
            self.note("FAIL " + text)
        return bool(condition)

    def same(self, run, reference, what):
        """Did both end well with the same results?"""
        if not self.good(run.report, f"{what}: {run.said}"):
            return False
        a, b = run.results(), reference
        different = [f"{name} {a.get(name)}, not {b.get(name)}" for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]
        return self.good(not different, f"{what}: {'; '.join(different)}")

    # ---- what the device says ----

    def query(self, fields):
        """{field: value} of the first GPU, or {}."""
        if not self.nvidia_smi:
            return {}
        said = self.call([self.nvidia_smi, "--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits"], 30)
        if said.code != 0 or not said.text.strip():
            return {}
        values = [value.strip() for value in said.text.splitlines()[0].split(",")]
        return dict(zip(fields, (number_or_text(value) for value in values)))

    def info(self):
        said = self.call([self.tagflow, "info"])
        self.good(said.code == 0, f"tagflow info: {said}")
        self.data["tagflow"] = said.text.splitlines()
        about = {}
        for line in said.text.splitlines():
            name, _, rest = line.partition(" ")
            about.setdefault(name, []).append(rest.strip())
        mine = next((line for line in about.get("backend", []) if line.startswith(self.options.backend + ":")), None)
        self.good(mine, f"this tagflow has no backend {self.options.backend}")
        if self.gpu:
            self.good(mine and "; GPU 0 " in mine, f"tagflow finds no GPU: {mine}")
        self.reads_gpu_memory = self.gpu and any("out of their memory" in line for line in about.get("halos", []))
        fields = ["name", "driver_version", "memory.total", "memory.used", "clocks.sm", "clocks.max.sm", "clocks.mem",
                  "clocks.max.mem", "power.draw", "power.limit", "temperature.gpu", "compute_cap", "mig.mode.current"]
        self.data["nvidia_smi"] = smi = self.query(fields)
        if self.nvidia_smi:
            self.call([self.nvidia_smi])  # for the log
        commit = re.search(r"commit (\S+)", said.text)
        self.document.update(commit=commit[1] if commit else None, device=smi.get("name") or cpu_name(),
                             driver=smi.get("driver_version"), cuda=(re.search(r"CUDA ([0-9.]+)", mine or "") or [None, None])[1])
        return f"{self.document['device']}, driver {smi.get('driver_version')}, {mine}"

    def parity_stage(self):
        if not self.good(self.parity or not self.gpu, "there is no program parity beside tagflow"):
            return ""
        if not self.parity:
            raise NotHere("no program parity beside tagflow")
        lines, seconds = 0, 0
        # Each seed takes other blocks, one in eight, and all kernels.
        for seed in range(1, 2 if self.options.quick else 9 if self.gpu else 4):
            if self.left() < 1.5 * seconds:
                break
            said = self.call([self.parity, "--backend", self.options.backend, "--seed", seed] +
                             ["--one-in", "8"] + ([] if self.gpu else ["--cells", "17,5,3"]))
            passed = len(re.findall(r"^ok\b", said.text, re.M))
            bad = re.findall(r"^FAIL\b.*", said.text, re.M)
            lines, seconds = lines + passed, said.seconds
            self.data.update(comparisons=lines, seeds=seed)
            self.good(said.code == 0 and passed and not bad, f"parity, seed {seed}: {bad[0] if bad else said}")
        return f"{lines} comparisons with the plain cell functions, seeds 1 to {self.data['seeds']}"

    def measuring_program(self, name):
        """The path of streams or variants_<bits>, for a GPU or for the stand-in."""
        name += "" if self.gpu else "_standin"
        found = (os.path.join(os.path.abspath(self.measuring), place, name) for place in ("", "tests/gpu/variants"))
        path = next((p for p in found if os.access(p, os.X_OK)), None)
        if not path:
            raise NotHere(f"no program {name} (built with tests for one architecture: -Dgpu_archs=90)")
        return path

    def measure_rows(self, name, rows, arguments):
        """One call of streams or variants. Its rows are added to `rows` as soon as they are written, and saved."""
        path = self.place(name) + ".json"

        def look():
            if not os.path.exists(path):
                return
            with open(path) as file:
                lines = file.read().split("\n")[1:-1]  # without what they were measured on, and what is not complete
            new = [json.loads(line) for line in lines[look.seen:]]
            look.seen += len(new)
            rows.extend(new)
            for row in new:
                print("      " + row_text(row), flush=True)
            if new:
                self.keep_stage()

        look.seen = 0
        said = self.call([self.measuring_program(name), "--json", path, *arguments], watch=look)
        look()
        if said.code is None:
            raise OutOfTime
        wrong = [row for row in rows[len(rows) - look.seen:] if False in (row.get("bits_equal"), row.get("states_equal"), row.get("verified"))]
        self.good(said.code == 0 and look.seen and not wrong, f"{name}: {said}" + "".join(f"; {row_text(row)}" for row in wrong))

    def variants_stage(self):
        """Rates of variants of the step and of streams of memory, the most important first."""
        rows, streams = self.data["rows"], self.data["streams"] = [], []
        n, seconds, variants = (256, 0.1, ("variants_32", "variants_16", "variants_64")) if self.gpu else (8, 1e-6, ("variants_32",))
        plans = [("streams", streams, n, 0.5 * seconds, [])] + [(name, rows, n, seconds, []) for name in variants]
        if self.gpu and not self.quick:
            plans += [(name, rows, 512, seconds, ["--only", "lifted"]) for name in variants]
        late = []
        for name, into, cells, long, more in plans:
            try:
                self.measure_rows(name, into, ["--cells", cells, "--seconds", long, *more])
            except OutOfTime:  # the rows so far count
                late.append(f"{name} {cells}^3")
        self.good(rows, "out of time before the first row of variants")
        return f"{len(rows)} rows of variants, {len(streams)} of streams" + (f"; no time for all of {', '.join(late)}" if late else "")

    def configs(self):
        """[(name, path, cells)] of the cases that come with tagflow."""
        found = []
        for path in sorted(glob.glob(glob.escape(os.path.join(ROOT, "configs")) + "/*.yaml")):
            with open(path) as file:
                cells = re.search(r"^domain:\s*\{cells: \[(\d+), (\d+), (\d+)\]", file.read(), re.M)
            if self.good(cells, f"{path}: cannot tell domain.cells"):
                found.append((os.path.basename(path)[:-5], path, [int(n) for n in cells.groups()]))
        self.good(found, f"no case in {ROOT}/configs")
        return found

    def small_size(self):
        return (65, 40, 33) if self.gpu and not self.quick else (33, 20, 12)

    def variants(self):
        """{how: (ranks, settings)} besides one rank as it comes."""
        found = {"1 rank": (0, {}), "2 ranks": (2, {}), "4 ranks": (4, {}), "1 rank, exchange all": (0, {"run.exchange": "all"}),
                 "3 ranks, exchange all": (3, {"run.exchange": "all"})}
        if self.quick:
            found = {how: found[how] for how in ("1 rank", "2 ranks", "1 rank, exchange all")}
        found = {how: (ranks, {**settings, "run.transport": "host"}) for how, (ranks, settings) in found.items()}
        if self.reads_gpu_memory:
            found["2 ranks, MPI reads GPU memory"] = (2, {"run.transport": "device"})
        if self.gpu:
            found["3 ranks, CUDA IPC if possible"] = (3, {"run.transport": "ipc"})
        return found

    def backend_settings(self):
        # So that the suite tried on a CPU compares two different kernels, too.
        return {} if self.gpu else {"run.isa": "generic"}

    def small_settings(self, name, cells, precision):
        return {**SMALL.get(name, {}), "domain.cells": shrink(cells, self.small_size()), "run.stop": "none", "solver.storage": precision,
                "solver.arithmetic": ARITHMETIC.get(precision, precision),
                "run.steps": 21, "output": SMALL_OUTPUT, "checkpoint.every": 0}

    def try_case(self, name, path, cells, precision):
        """One case on the CPU, and in all ways on the backend: its hash, and how many runs."""
        settings = self.small_settings(name, cells, precision)
        reference = self.run(path, settings, "cpu")
        if reference.said.code == 2:  # a box that bodies or profiles do not fit into
            del settings["domain.cells"]
            reference = self.run(path, settings, "cpu")
        if not self.good(reference.report, f"{name}, {precision}, cpu: {reference.said}"):
            return name, precision, None, 1
        expected = reference.results()
        self.good(len(expected) >= 4, f"{name}, {precision}: only {', '.join(expected)} to compare")
        runs = 1
        for how, (ranks, more) in self.variants().items():
            run = self.run(path, {**settings, **self.backend_settings(), **more}, None, ranks)
            self.same(run, expected, f"{name}, {precision}, {how}")
            shutil.rmtree(run.folder, ignore_errors=True)
            runs += 1
        return name, precision, expected["state hash"], runs

    def pool(self):
        """So many runs at a time: starting is most of what they take."""
        return concurrent.futures.ThreadPoolExecutor(4 if self.cores >= 8 else 2)

    def cases(self):
        configs = self.configs()
        if self.quick and not self.gpu:
            configs = [c for c in configs if c[0] in ("cavity", "duct", "taylor_green_3d")]
        with self.pool() as pool:
            jobs = [pool.submit(self.try_case, *config, precision) for config in configs for precision in BYTES]
        done = [job.result() for job in jobs if not isinstance(job.exception(), OutOfTime)]
        hashes = {f"{name} {precision}": found for name, precision, found, _ in done if found}
        runs = sum(count for *_, count in done)
        self.data.update(state_hash=hashes, runs=runs)
        if len(done) < len(jobs):
            raise OutOfTime(f"{len(done)} of {len(jobs)} cases compared")
        self.good(len(set(hashes.values())) == len(jobs), f"{len(jobs)} cases gave {len(set(hashes.values()))} different hashes")
        return f"{runs} runs of {len(jobs)} cases, {len(self.variants())} ways each"

    def resume(self, name, path, cells, precision, way):
        """Begun on one backend, gone on with on the other, with other cuts."""
        settings = self.small_settings(name, cells, precision)
        settings["output"] = "{log: {every: 0}, series: {flow: {every: 5, of: [mass, kinetic_energy]}}}"
        ours = self.backend_settings()
        reference = self.run(path, settings, "cpu")
        if not self.good(reference.report, f"{name}, {precision}, cpu: {reference.said}"):
            return
        first, then = (("cpu", {}), (self.options.backend, ours))[::1 if way == "there" else -1]
        folder = self.place(name)
        checkpoint = {"checkpoint.every": 100}  # one at the end, then
        half = self.run(path, {**settings, **checkpoint, **first[1], "run.steps": 11}, first[0], 2, folder)
        what = f"{name}, {precision}, {first[0]} to {then[0]}"
        if not self.good(half.report, f"{what}, first half: {half.said}"):
            return
        self.good(half.report["step"] == 11, f"{what}: the first half ends at step {half.report['step']}")
        whole = self.run(path, {**settings, **checkpoint, **then[1]}, then[0], 3, folder, ["--restart", "auto"])
        if self.same(whole, reference.results(), what):
            self.good(whole.report["steps"] == 10, f"{what}: {whole.report['steps']} steps after step 11")

    def restart(self):
        wanted = ("cavity",) if self.quick else ("cavity", "poiseuille", "taylor_green_3d")
        with self.pool() as pool:
            jobs = [pool.submit(self.resume, *config, precision, way) for config in self.configs() if config[0] in wanted
                    for precision in BYTES for way in ("there", "back")]
        for job in jobs:
            job.result()
        self.data["chains"] = len(jobs)
        return f"{len(jobs)} runs begun on one backend and ended on the other"

    def sanitizer_stage(self):
        if not self.sanitizer:
            raise NotHere("no compute-sanitizer")
        case = self.write("sanitized.yaml", self.box("cavity", "trt", "fp32", 17, 5, 5))
        commands = {"run": lambda: self.run_line(case, {**QUIET, "run.exchange": "all", "run.threads": 1}, self.options.backend,
                                                 self.place("sanitized"))}
        commands["run, periodic"] = lambda: self.run_line(
            case, {**QUIET, "faces": KINDS["periodic"][1], "run.threads": 1, "solver.storage": "fp64", "solver.arithmetic": "fp64"},
            self.options.backend, self.place("sanitized"))
        if self.parity:
            commands["parity"] = lambda: [self.parity, "--backend", self.options.backend, "--cells", "17,5,3"] + (
                ["--one-in", "8"] if self.quick or not self.gpu else [])
        count = 0
        for tool in ("memcheck", "initcheck"):
            for what, line in commands.items():
                said = self.call([self.sanitizer, "--tool", tool, "--target-processes", "all"] + line())
                errors = [int(n) for n in re.findall(r"ERROR SUMMARY: (\d+) error", said.text)]
                self.data[f"{tool}, {what}"] = {"errors": sum(errors) if errors else None, "seconds": said.seconds}
                self.good(said.code == 0 and errors and not sum(errors), f"{tool}, {what}: {errors or 'no summary'}; {said}")
                count += 1
        return f"{count} programs, 0 errors"

    def physics(self):
        cells, steps = (128, 8149) if self.gpu else (32, 200)
        if self.quick and self.gpu:
            steps = 2000
        path = os.path.join(ROOT, "configs", "taylor_green_3d.yaml")
        every = max(1, steps // 40)
        settings = {**QUIET, "domain.cells": [cells] * 3, "fluid.length": cells / 6.283185307179586, "run.steps": steps, "solver.collision": "bgk",
                    "output": f"{{log: {{every: 0}}, series: {{flow: {{every: {every}, of: [mass, kinetic_energy, enstrophy]}}}}}}"}
        device = self.run(path, {**settings, **self.backend_settings()})
        host = self.run(path, {**settings, "run.threads": min(16, self.cores)}, "cpu")
        if not (self.good(device.report, f"{self.options.backend}: {device.said}") and self.good(host.report, f"cpu: {host.said}")):
            return ""
        self.same(device, host.results(), "Taylor-Green vortex")
        with open(os.path.join(device.folder, "series", "flow.csv")) as file:
            rows = [line.split(",") for line in file.read().splitlines()]
        names = [re.split(r"[ \[(]", name.strip().strip('"'))[0] for name in rows[0]]
        energy = names.index("kinetic_energy")
        first, last = float(rows[1][energy]), float(rows[-1][energy])
        self.good(0 < last < first, f"kinetic energy {first} to {last}")
        self.data.update(cells=cells, steps=steps, state_hash=device.report["state_hash"], energy_share=last / first,
                         seconds_backend=device.report["seconds"], seconds_cpu=host.report["seconds"])
        return f"{cells}^3, {steps} steps, state {device.report['state_hash']} on both, energy down to {last / first:.6f}"

    def box(self, kind, collision, precision, n, steps, every):
        initial, faces = KINDS[kind]
        return BOX.format(n=n, collision=collision, precision=precision, initial=initial, faces=faces, steps=steps,
                          threads=self.threads, every=every)

    def measured(self, name, text, lap, laps, settings=None):
        """One run with its laps: None if it went wrong."""
        run = self.run(self.write(name + ".yaml", text), settings or {})
        if not self.good(run.report, f"{name}: {run.said}"):
            return None
        rates, velocity = run.laps()
        shutil.rmtree(run.folder, ignore_errors=True)
        # No rate without a flow that is one.
        if not self.good(len(rates) == laps and min(rates) > 0 and 0 < velocity < 0.2,
                         f"{name}: {len(rates)} laps of {lap} steps, not {laps}, or max |u| {velocity}"):
            return None
        return {"glups": rates, "state_hash": run.report["state_hash"], "phases": run.report.get("phases"),
                "wall_seconds": run.said.seconds}

    def storages_that_fit(self, n):
        """Those whose populations leave a tenth of the memory for the rest."""
        total = self.query(["memory.total"]).get("memory.total") if self.gpu else None
        return [p for p in BYTES if not isinstance(total, float) or n**3 * (Q * BYTES[p] + 1) < 0.9 * total * 1048576]

    def bench(self, n, cases, operators, rows, storages=None):
        """One call of tagflow bench. Its verified rows are added to `rows` as soon as they are measured, and saved."""
        path = self.place("bench") + ".json"
        seconds = 0.3 if self.gpu else 0.02
        before = len(rows)

        def look():
            if not os.path.exists(path):
                return None
            with open(path) as file:  # bench replaces it after each row
                found = json.load(file)
            new = [row for row in found["rows"] if row["verified"]][len(rows) - before:]
            for row in new:
                rate, share = row["mlups"], row["share"]
                print(f"      {n:5d}^3 {row['case']:9s} {row['collision']:15s} {row['storage']} {1e-3 * rate['median']:8.3f} GLUPS "
                      f"({1e-3 * rate['least']:.3f} to {1e-3 * rate['most']:.3f}), {row['gbs']:7.0f} GB/s, "
                      f"{100 * share['median']:.1f} % of what {row['ceiling']['gbs']:.0f} GB/s allow", flush=True)
            if new:
                rows.extend(new)
                self.data["bench"] = {key: value for key, value in found.items() if key != "rows"}
                self.keep_stage()
            return found

        said = self.call([self.tagflow, "bench", "--backend", self.options.backend, "--cells", n, "--case", cases, "--collision", operators,
                          "--storage", ",".join(storages or self.storages_that_fit(n)), "--seconds", seconds, "--repeat", 3,
                          "--threads", self.threads, "--json", path], watch=look)
        found = look()
        if said.code is None:
            raise OutOfTime
        wrong = [row for row in found["rows"] if not row["verified"]] if found else []
        self.good(said.code == 0 and found and not wrong, f"{n}^3, {cases}, {operators}: {said}" +
                  "".join(f"; {row['case']} {row['collision']} {row['storage']}: {row['why']}" for row in wrong))

    def measure(self, plans):
        """Rows of tagflow bench for plans of (cells along each axis, cases, operators), the most important first."""
        rows = self.data["rows"] = []
        done = 0
        try:
            for plan in plans:
                self.bench(*plan, rows)
                done += 1
        except OutOfTime:  # the rows so far count
            self.good(rows, "out of time in the first measurement")
        self.data["clocks"] = self.query(["clocks.sm", "clocks.mem", "power.draw", "temperature.gpu"]) if self.left() > 0 else {}
        late = [f"{n}^3 {cases} {operators}" for n, cases, operators in plans[done:]]
        return f"{len(rows)} rows of tagflow bench, all verified" + (f"; no time for all of {', '.join(late)}" if late else "")

    def speed(self):
        return self.measure([(n, "periodic,cavity", "bgk") for n in ((256, 512) if self.gpu else (12, 16))])

    def operators(self):
        if not self.gpu:
            return self.measure([(12, "rock,channel,sphere,tunnel", "bgk"), (12, "periodic", "trt"), (8, "periodic", "bgk")])
        if self.quick:
            return self.measure([(256, "periodic", "trt,cumulant"), (64, "periodic", "bgk")])
        return self.measure([(256, "periodic", "trt,rr,cumulant"), (256, "rock,channel,sphere,tunnel", "bgk")] +
                            [(n, "periodic", "bgk") for n in (64, 128, 1024, 96, 192, 384, 768)] +
                            [(512, "periodic,cavity", "trt,rr"), (256, "periodic", "all")])

    def levels(self):
        """Times of the kernels between two levels, and rates of refined grids."""
        self.data["kernels"] = []
        path = self.place("kernels") + ".json"
        for precision in ([] if not self.parity else ["fp32", "fp16/fp32", "fp64"] if self.gpu else ["fp32"]):
            said = self.call([self.parity, "--backend", self.options.backend, "--precision", precision, "--bench", "--kernel", "levels",
                              "--seconds", 0.1 if self.gpu else 0.01, "--json", path] + ([] if self.gpu else ["--cells", "32,16,16"]))
            if self.good(said.code == 0, f"parity --bench, {precision}: {said}"):
                with open(path) as file:
                    self.data["kernels"] += json.load(file)["bench"]
                self.keep_stage()
        for row in self.data["kernels"]:
            print(f"      {row['variant']:24s} {row['kernel']:18s} {1e6 * row['seconds']['median']:10.2f} us, {1e-6 * row['bytes']:8.2f} MB, "
                  f"{1e-9 * row['bytes/s']:7.0f} GB/s", flush=True)
        n = 256 if self.gpu else 16
        told = self.measure([(n, "periodic,refined", "bgk")] + ([] if self.quick or not self.gpu else [(128, "refined", "bgk"), (n, "refined", "rr")]))
        return f"{len(self.data['kernels'])} times of kernels between levels; {told}"

    def profile(self):
        """Nsight Compute's figures of one step kernel of each precision."""
        if not self.profiler:
            raise NotHere("no Nsight Compute (ncu)")
        n = 256 if self.gpu else 16
        for precision in ("fp32", "fp16", "fp64"):
            case = self.write(f"profile_{precision}.yaml", self.box("periodic", "bgk", precision, n, 10, 0))
            # The first launch only loads the kernel.
            said = self.call([self.profiler, "--csv", "--page", "details", "--set", "full", "--clock-control", "none", "--kernel-name",
                              "regex:step_", "--launch-skip", 3, "--launch-count", 1, "--target-processes", "all"] +
                             self.run_line(case, QUIET, self.options.backend, self.place("profile")))
            if "ERR_NVGPUCTRPERM" in said.text:
                raise NotHere("this user may not read the GPU's counters (ERR_NVGPUCTRPERM)")
            figures = ncu_figures(said.text)
            if self.good(said.code == 0 and figures, f"{precision}: {said}"):
                self.data[precision] = figures
                self.keep_stage()
        return "one step kernel each of " + ", ".join(p for p in BYTES if p in self.data)

    def peer(self):
        """Another program's benchmark, and the same box by tagflow, each after a pause."""
        if not self.options.peer:
            raise NotHere("no --peer COMMAND")
        environment = self.opencl() if self.gpu else {}
        fields = ["temperature.gpu", "clocks.sm", "clocks.mem", "power.draw"]
        self.rest()
        self.data.update(command=self.options.peer, environment=environment, before=self.query(fields))
        said = self.call(shlex.split(self.options.peer), 50, environment)
        self.data.update(exit_status=said.code, seconds_of_peer=said.seconds, output=said.text[-20000:].splitlines(), after=self.query(fields))
        self.good(said.code == 0, f"--peer: {said}")
        self.keep_stage()
        self.rest()
        rows = self.data["rows"] = []
        self.bench(256 if self.gpu else 12, "periodic", "bgk", rows, ["fp32", "fp16"])
        return f"exit status {said.code} after {said.seconds:.0f} s, {len(self.data['output'])} lines; {len(rows)} rows of tagflow bench"

    def opencl(self):
        """The environment in which OpenCL's loader finds the driver's library, also where /etc/OpenCL/vendors is empty."""
        said = self.call(["find", "/", "-path", "/proc", "-prune", "-o", "-path", "/sys", "-prune", "-o",
                          "-name", "libnvidia-opencl.so*", "-print"], 20)
        found = [line for line in said.text.splitlines() if line.startswith("/") and is_library(line)]
        if not found:
            raise NotHere("the driver's OpenCL library (libnvidia-opencl.so) is not here")
        folder = os.path.join(self.work, "vendors")
        os.makedirs(folder)
        self.write("vendors/nvidia.icd", found[0] + "\n")
        self.data["opencl"] = found[0]
        return {"OCL_ICD_VENDORS": folder}

    def rest(self):
        """The GPU is idle for a while, so that the next program begins with its highest clock."""
        time.sleep(max(0, min(5 if self.gpu else 0, self.left())))

    def used_bytes(self, pid):
        """What is in use on the GPU, or by the process on a CPU."""
        if self.gpu:
            used = self.query(["memory.used"]).get("memory.used")
            return used * 1048576 if isinstance(used, float) else None
        with open(f"/proc/{pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024

    def memory_at(self, n):
        """Bytes in use while a periodic box of n^3 fp32 cells steps: (bytes, step it was seen at, wall seconds)."""
        case = self.write(f"memory_{n}.yaml", self.box("periodic", "bgk", "fp32", n, 1000000000, 3))
        folder = self.place("memory")
        line = self.run_line(case, {"initial": "{flow: uniform, velocity: [0.03, 0.02, 0.01]}"}, self.options.backend, folder)
        start = time.monotonic()
        self.note("$ " + " ".join(map(str, line)))
        with open(folder + ".out", "w") as out:
            process = subprocess.Popen([str(word) for word in line], stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        used = step = None
        try:
            while used is None and process.poll() is None and self.left() > 0:
                time.sleep(0.2)
                try:
                    with open(os.path.join(folder, "status.json")) as file:
                        status = json.load(file)
                except (OSError, ValueError):
                    continue
                if status["state"] == "running" and status["step"] >= 3:
                    step, used = status["step"], self.used_bytes(status["pid"])
        finally:
            # Not by SIGTERM: it would write a checkpoint of all that.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        with open(folder + ".out") as file:
            said = file.read()
        self.note(said)
        if used is None:
            self.good(False, f"{n}^3: " + str(Said(line, process.returncode if self.left() > 0 else None, said, 0)))
        return used, step, time.monotonic() - start

    def checked(self, *arguments):
        """(how `tagflow check` ended, what it wrote for programs or {})"""
        found = os.path.join(self.folder, "check.json")
        said = self.call([self.tagflow, "check", *arguments, "--json", found])
        if said.code:
            return said, {}
        with open(found, encoding="utf-8") as file:
            return said, json.load(file)

    def largest_cube(self, most, memory):
        """The largest cube of n^3 fp32 cells, n a multiple of 32, that a device with so many bytes has room for by tagflow
        check; None if there is none."""
        machine = self.write("machine.yaml", f"memory: {memory / 1e9:.3f} GB\n")
        said = None
        for n in range(most // 32 * 32, 0, -32):
            case = self.write("memory.yaml", self.box("periodic", "bgk", "fp32", n, 10, 0))
            said, found = self.checked(case, "--machine", machine)
            if found.get("fits"):
                return n
            if said.code != 0:
                break
        self.good(False, f"tagflow check finds no box that fits into {memory / 1e9:.1f} GB: {said}")
        return None

    def memory(self):
        if self.gpu:
            smi = self.query(["memory.total", "memory.used"])
            if not self.good(len(smi) == 2, "nvidia-smi does not say what memory there is"):
                return ""
            n = self.largest_cube(LARGEST_BOX if not self.quick else 608, (smi["memory.total"] - smi["memory.used"]) * 1048576)
        else:
            with open("/proc/meminfo") as file:
                n = self.largest_cube(160, int(re.search(r"MemAvailable:\s+(\d+) kB", file.read())[1]) * 1024)
        if n is None:
            return ""
        # What does not belong to the grid, the driver's context above all, is there with the smallest grid, too.
        estimate, used = {}, {}
        for cells in (8, n):
            case = self.write("memory.yaml", self.box("periodic", "bgk", "fp32", cells, 10, 0))
            said, found = self.checked(case)
            if not self.good(said.code == 0, f"tagflow check: {said}"):
                return ""
            estimate[cells] = found["largest_rank_bytes_on_gpu"]
            used[cells], step, seconds = self.memory_at(cells)
            if used[cells] is None:
                return ""
        expected, grid = estimate[n] - estimate[8], used[n] - used[8]
        off = grid / expected - 1
        self.data.update(cells=n, estimate_bytes=estimate[n], used_bytes=used[n], used_by_8_cubed_bytes=used[8], off=off,
                         at_step=step, wall_seconds=seconds)
        self.good(abs(off) <= 0.02, f"{grid:.5g} bytes more than for 8^3, {100 * off:+.2f} % from the {expected:.5g} of tagflow check")
        return f"{n}^3, {1e-9 * used[n]:.2f} GB in use; tagflow check is off by {100 * off:+.2f} %"

    def halo(self):
        """Exchange with itself: across the faces that GPUs are cut at (z; y and z), and across all."""
        n = 256 if self.gpu else 32
        lap, laps = (200, 5) if self.gpu else (20, 5)
        axes = {"cut": "cut", "z": ["z"], "yz": ["y", "z"], "all": "all"}
        out = []
        for precision in BYTES:
            text = self.box("periodic", "bgk", precision, n, lap * (laps + 1), lap)
            found = {how: [] for how in axes}
            for _ in range(1 if self.quick else 2):
                for how in found:
                    run = self.measured(f"halo_{precision}", text, lap, laps, {"run.exchange": axes[how]})
                    if run:
                        found[how].append(run)
            if not all(found.values()):
                continue
            self.good(len({r["state_hash"] for runs in found.values() for r in runs}) == 1, f"{precision}: exchange changes the state")
            rates = {how: spread([rate for run in runs for rate in run["glups"]]) for how, runs in found.items()}
            lost = {how: 1 - rates[how]["median"] / rates["cut"]["median"] for how in axes if how != "cut"}
            phases = {how: runs[-1]["phases"] for how, runs in found.items()}
            self.data[precision] = {"glups": rates, "share_lost": lost, "phases": phases}
            self.good(all(phases.values()), f"{precision}: no phases in report.json")
            out.append(f"{precision} {rates['cut']['median']:.3f} GLUPS, lost " + ", ".join(f"{how} {100 * lost[how]:.1f} %" for how in lost))
        return f"{n}^3, faces exchanged with itself: " + "; ".join(out)

    # ---- all of it ----

    def stages(self):
        """{name: function}, the most important first."""
        return {"info": self.info, "variants": self.variants_stage, "parity": self.parity_stage, "speed": self.speed, "cases": self.cases, "restart": self.restart,
                "physics": self.physics, "halo": self.halo, "memory": self.memory, "levels": self.levels, "operators": self.operators,
                "sanitizer": self.sanitizer_stage, "profile": self.profile, "peer": self.peer}

    def save(self):
        path = self.out + ".json"
        with open(path + ".new", "w") as file:
            json.dump(self.document, file, indent=1)
            file.write("\n")
        os.replace(path + ".new", path)

    def keep_stage(self, result="running", summary=""):
        """Put the figures of the stage so far into the file: the suite may be killed before its end."""
        self.document["stages"][self.stage] = {"result": result, "seconds": round(time.monotonic() - self.stage_begin, 2),
                                               "summary": summary, "failures": self.failures, **self.data}
        self.document["seconds"] = round(time.monotonic() - self.begin, 1)
        self.save()

    def run_stage(self, name, limit):
        self.failures, self.data, self.stage = [], {}, name
        self.stage_begin = start = time.monotonic()
        self.stage_deadline = min(start + limit, self.deadline)
        summary, result = "", "ok"
        self.note(f"==== {name}, at most {limit:.0f} s")
        self.keep_stage()
        try:
            if limit <= 0:
                raise OutOfTime
            summary = self.stages()[name]()
        except OutOfTime as what:
            why = f"ended by {self.ended_by}" if self.ended_by else "out of time"
            self.failures.append(f"{why} after {time.monotonic() - start:.0f} s" + (f": {what}" if str(what) else ""))
        except NotHere as reason:
            summary, result = str(reason), "skipped"
        except Exception as error:  # later stages still run
            self.failures.append(f"{type(error).__name__}: {error}")
            self.note(repr(error))
        seconds = time.monotonic() - start
        if self.failures:
            result = "failed"
        word = {"ok": "ok   ", "failed": "FAIL ", "skipped": "skip "}[result]
        print(f"{word} {name:10s} {seconds:6.1f} s  " + (f"{self.failures[0]}" if self.failures else summary or ""), flush=True)
        for failure in self.failures[1:6]:
            print(f"{'':27s}{failure}", flush=True)
        if len(self.failures) > 6:
            print(f"{'':27s}and {len(self.failures) - 6} more: {os.path.basename(self.out)}.json", flush=True)
        self.keep_stage(result, summary)
        return not self.failures

    def end_early(self, number, _):
        """A signal: no command has time left, and the stages end as if out of time."""
        self.ended_by = signal.Signals(number).name
        self.deadline = self.stage_deadline = 0

    def run_stages(self):
        """Each takes no more than its limit, and leaves to those after it the time that is theirs."""
        good, names = [], self.options.stages
        for k, name in enumerate(names):
            share = (self.deadline - time.monotonic()) / sum(LIMITS[later] for later in names[k:])
            if name == "info":  # the others need it
                share = 1
            good.append(self.run_stage(name, LIMITS[name] * min(1, share)))
        return good

    def run_all(self):
        self.document = {
            "backend": self.options.backend, "call": self.options.call, "quick": self.quick, "date": datetime.datetime.now(
                datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "host": platform.node(), "system": platform.platform(),
            "cpu": cpu_name(), "cores": self.cores, "program": self.tagflow, "commit": None, "device": None, "driver": None,
            "cuda": None, "passed": None, "ended_by": None, "seconds": 0, "limits": {name: LIMITS[name] for name in self.options.stages}, "stages": {}}
        self.deadline = self.begin + (self.options.seconds or sum(LIMITS[name] for name in self.options.stages))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.end_early)
        with open(self.out + ".log", "w") as self.log, tempfile.TemporaryDirectory(prefix="gpu_suite_") as self.work:
            good = self.run_stages()
        passed = all(good) and not self.ended_by
        self.document.update(passed=passed, ended_by=self.ended_by)
        self.save()
        skipped = sum(stage["result"] == "skipped" for stage in self.document["stages"].values())
        print(f"{sum(good) - skipped} stages passed, {len(good) - sum(good)} failed, {skipped} skipped: {self.out}.json")
        return passed


class NotHere(Exception):
    """What a stage needs is not on this machine."""


def row_text(row):
    """A row of streams or variants for the screen."""
    if "variant" in row:
        text = f"{row['cells'][0]:5d}^3 {row['precision']} {row['flow']:9s} {row['variant']:26s}"
        rate = f"{row['glups']['median']:8.3f} GLUPS" if "glups" in row else ""
    else:
        text = (f"{row['type']:9s} {row['streams']:2d} streams by {row['turns']}, {row['shifted']} shifted, rows at {row['row_bytes']} B, block "
                f"{row['block'][0]}x{row['block'][1]}, {row['mode']}:")
        rate = f"{row['gbs']['median']:7.0f} GB/s" if "gbs" in row else ""
    if "left_out" in row:
        return f"{text} left out: {row['left_out']}"
    if not rate:
        return f"{text} WRONG"
    requests = f", {row['requests']:.0f} requests a warp" if "requests" in row else ""
    return f"{text} {rate}, {100 * row['share']:.1f} % of a copy{requests}"


def ncu_figures(text):
    """{section: {figure: value and unit}} of ncu --csv --page details, with the kernel's name; {} without such a table."""
    lines = text.splitlines()
    first = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    figures = {}
    for row in csv.DictReader(line for line in lines[first:] if line.startswith('"')):
        if row.get("Metric Name"):
            section = figures.setdefault(row["Section Name"], {})
            section[row["Metric Name"]] = f"{row['Metric Value']} {row.get('Metric Unit') or ''}".strip()
        figures["kernel"] = row["Kernel Name"]
    return figures if len(figures) > 1 else {}


def is_library(path):
    """Is it ELF of 64 bits?"""
    try:
        with open(path, "rb") as file:
            return file.read(5) == b"\x7fELF\x02"
    except OSError:
        return False


def number_or_text(text):
    try:
        return float(text)
    except ValueError:
        return text


def cpu_name():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"^model name\s*: (.*)", file.read(), re.M)
    return found[1] if found else platform.machine()


def wrong_usage(text):
    print(f"gpu_suite: {text}", file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(prog="scripts/gpu_suite.sh", description="Checks and measures tagflow on a GPU; docs/gpu.md.")
    parser.add_argument("--out", default="gpu_suite", help="folder for the JSON and the log, the only files written there (gpu_suite)")
    parser.add_argument("--call", type=int, choices=list(CALLS), help="one of three parts, each below ten minutes; its files are named after it")
    parser.add_argument("--quick", action="store_true", help="smaller and fewer; call 2 is quick anyway")
    parser.add_argument("--backend", choices=["cuda", "cpu"], default="cuda", help="cpu: tries the suite itself, on small grids")
    parser.add_argument("--build", help="build folder (build, build-all or build-test; in a bundle: the bundle)")
    parser.add_argument("--stages", help="only these, separated by commas")
    parser.add_argument("--peer", metavar="COMMAND", help="another program's benchmark (OpenCL), to be run beside tagflow's")
    parser.add_argument("--seconds", type=float, help="time for all of it (the sum of the stages' limits, 570 for a call)")
    options = parser.parse_args()
    suite = Suite(options)
    names = list(suite.stages())
    if options.call and options.stages:
        wrong_usage("--call has its own stages (leave out --stages)")
    options.stages = options.stages.split(",") if options.stages else list(CALLS[options.call]) if options.call else names
    unknown = [name for name in options.stages if name not in names]
    if unknown:
        wrong_usage(f"there is no stage {unknown[0]!r} ({', '.join(names)})")
    try:
        shlex.split(options.peer or "")
        os.makedirs(options.out, exist_ok=True)
    except ValueError as error:
        wrong_usage(f"--peer {options.peer}: {error}")
    except OSError as error:
        wrong_usage(f"--out {options.out}: {error.strerror}")
    sys.exit(0 if suite.run_all() else 1)


main()
