#!/usr/bin/env python3
"""The GPU suite; scripts/gpu_suite.sh starts it, docs/gpu.md says what it checks and what it writes.

Only Python's standard library: it runs where nothing can be installed.
"""
import argparse
import concurrent.futures
import datetime
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
Q = 19
BYTES = {"fp32": 4, "fp64": 8, "fp16": 2}
ARITHMETIC = {"fp16": "fp32"}  # else as stored

# What small runs write: sums that must agree to the bit, and pixels.
SMALL_OUTPUT = ("{log: {every: 0}, series: {flow: {every: 5, of: [mass, kinetic_energy, enstrophy, max_velocity]}}, "
                "images: {mid: {every: 20, of: speed}, side: {every: 20, of: vorticity, axis: x}}}")
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
output:  {{log: {{every: {every}}}}}
"""
KINDS = {
    "periodic": ("{flow: taylor_green_3d, amplitude: 0.05}", "{x: periodic, y: periodic, z: periodic}"),
    "cavity": ("{flow: uniform, velocity: [0.03, 0.02, 0.01]}",
               "{x: wall, z: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}}"),
}


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


def gigabytes(text):
    """'133.1 GB' in bytes."""
    number, unit = text.split()
    return float(number) * 1000 ** ["B", "kB", "MB", "GB", "TB", "PB"].index(unit)


def shrink(cells, most):
    """A smaller box; thin ones stay thin, and cubes cubes, which some flows need."""
    if len(set(cells)) == 1:
        return [min(cells[0], most[1])] * 3
    return [n if n <= 8 else min(n, limit) for n, limit in zip(cells, most)]


class Suite:
    def __init__(self, options):
        self.options = options
        self.gpu = options.backend == "cuda"
        self.out = os.path.abspath(options.out)
        self.work = os.path.join(self.out, "work")
        self.lock = threading.Lock()
        self.count = 0
        self.begin = time.monotonic()
        self.deadline = self.begin + options.seconds
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
            places = [self.options.build] if self.options.build else [os.path.join(ROOT, n) for n in ("build", "build-test")]
            programs = ["parity", "tests/gpu/parity"]
        self.folder = next((p for p in places if os.access(os.path.join(p, "tagflow"), os.X_OK)), None)
        if not self.folder:
            wrong_usage(f"there is no tagflow in {' or '.join(places)} (build it, or --build DIR)")
        self.tagflow = os.path.join(os.path.abspath(self.folder), "tagflow")
        found = [os.path.join(os.path.abspath(self.folder), name) for name in programs]
        self.parity = next((p for p in found if os.access(p, os.X_OK)), None)
        beside = os.path.join(ROOT, "bin", "mpirun")
        self.mpirun = beside if programs == ["parity"] and os.access(beside, os.X_OK) else shutil.which("mpirun")
        self.nvidia_smi = shutil.which("nvidia-smi")
        toolkit = "/usr/local/cuda/bin/compute-sanitizer" if self.gpu else None
        self.sanitizer = os.environ.get("COMPUTE_SANITIZER") or (shutil.which("compute-sanitizer") if self.gpu else None) or \
            (toolkit if toolkit and os.access(toolkit, os.X_OK) else None)

    def left(self):
        return self.stage_deadline - time.monotonic()

    def note(self, text):
        with self.lock:
            self.log.write(text.rstrip("\n") + "\n")
            self.log.flush()

    def call(self, line, limit=None, env=None):
        """Run it to its end, or until the stage's time is over; never raises for what the command does."""
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
            code = 0
            try:
                text, _ = process.communicate(timeout=limit)
                code = process.returncode
            except subprocess.TimeoutExpired:
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
        self.note(f"$ {' '.join(line)}\n{said.text[-4000:]}\n-> {said.code}, {said.seconds:.2f} s")
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
        commit = re.search(r"commit (\S+)", said.text)
        self.document.update(commit=commit[1] if commit else None, device=smi.get("name") or cpu_name(),
                             driver=smi.get("driver_version"), cuda=(re.search(r"CUDA ([0-9.]+)", mine or "") or [None, None])[1])
        return f"{self.document['device']}, driver {smi.get('driver_version')}, {mine}"

    def parity_stage(self):
        if not self.good(self.parity or not self.gpu, "there is no program parity beside tagflow"):
            return ""
        if not self.parity:
            raise NotHere("no program parity beside tagflow")
        lines = 0
        for seed in (1,) if self.options.quick else (1, 2, 3):
            said = self.call([self.parity, "--backend", self.options.backend, "--seed", seed] +
                             ([] if self.gpu else ["--cells", "17,5,3", "--one-in", "8"]))
            passed = len(re.findall(r"^ok\b", said.text, re.M))
            bad = re.findall(r"^FAIL\b.*", said.text, re.M)
            self.good(said.code == 0 and passed and not bad, f"parity, seed {seed}: {bad[0] if bad else said}")
            lines += passed
        self.data["comparisons"] = lines
        return f"{lines} comparisons with the plain cell functions"

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
        return (65, 40, 33) if self.gpu and not self.options.quick else (33, 20, 12)

    def variants(self):
        """{how: (ranks, settings)} besides one rank as it comes."""
        found = {"1 rank": (0, {}), "2 ranks": (2, {}), "4 ranks": (4, {}), "1 rank, exchange all": (0, {"run.exchange": "all"}),
                 "3 ranks, exchange all": (3, {"run.exchange": "all"})}
        if self.options.quick:
            found = {how: found[how] for how in ("1 rank", "2 ranks", "1 rank, exchange all")}
        found = {how: (ranks, {**settings, "run.transport": "host"}) for how, (ranks, settings) in found.items()}
        if self.reads_gpu_memory:
            found["2 ranks, MPI reads GPU memory"] = (2, {"run.transport": "device"})
        if self.gpu:
            found["3 ranks, CUDA IPC if possible"] = (3, {"run.transport": "ipc"})
        return found

    def backend_settings(self):
        # So that the suite tried on a CPU compares two different kernels, too.
        return {} if self.gpu else {"run.isa": "v2"}

    def small_settings(self, cells, precision):
        return {"domain.cells": shrink(cells, self.small_size()), "solver.storage": precision,
                "solver.arithmetic": ARITHMETIC.get(precision, precision),
                "run.steps": 21, "output": SMALL_OUTPUT, "checkpoint.every": 0}

    def try_case(self, name, path, cells, precision):
        """One case on the CPU, and in all ways on the backend: its hash, and how many runs."""
        settings = self.small_settings(cells, precision)
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
        if self.options.quick and not self.gpu:
            configs = [c for c in configs if c[0] in ("cavity", "duct", "taylor_green_3d")]
        with self.pool() as pool:
            jobs = [pool.submit(self.try_case, *config, precision) for config in configs for precision in BYTES]
        done = [job.result() for job in jobs]
        hashes = {f"{name} {precision}": found for name, precision, found, _ in done if found}
        self.data["state_hash"] = hashes
        self.good(len(set(hashes.values())) == len(jobs), f"{len(jobs)} cases gave {len(set(hashes.values()))} different hashes")
        runs = sum(count for *_, count in done)
        self.data["runs"] = runs
        return f"{runs} runs of {len(jobs)} cases, {len(self.variants())} ways each"

    def resume(self, name, path, cells, precision, way):
        """Begun on one backend, gone on with on the other, with other cuts."""
        settings = self.small_settings(cells, precision)
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
        wanted = ("cavity",) if self.options.quick else ("cavity", "poiseuille", "taylor_green_3d")
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
                [] if self.gpu else ["--one-in", "8"])
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
        if self.options.quick and self.gpu:
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

    def speed_plans(self):
        """What tagflow bench is asked for, what matters most first: (cells along each axis, cases, operators)."""
        if not self.gpu:
            return [(16, "periodic,cavity", "bgk,trt"), (12, "all", "bgk"), (8, "periodic", "bgk")]
        if self.options.quick:
            return [(256, "periodic,cavity", "bgk,trt"), (64, "periodic", "bgk")]
        return ([(512, "periodic,cavity", "bgk,trt,rr"), (256, "periodic", "all"), (256, "channel,sphere,rock", "bgk")] +
                [(n, "periodic", "bgk") for n in (64, 96, 128, 192, 384, 768, 1024)])

    def storages_that_fit(self, n):
        """Those whose populations leave a tenth of the memory for the rest."""
        total = self.query(["memory.total"]).get("memory.total") if self.gpu else None
        return [p for p in BYTES if not isinstance(total, float) or n**3 * (Q * BYTES[p] + 1) < 0.9 * total * 1048576]

    def bench(self, n, cases, operators):
        """One call of tagflow bench: its JSON; None if there was no time for it or it went wrong."""
        path = self.place("bench") + ".json"
        seconds = 0.4 if self.gpu else 0.02
        said = self.call([self.tagflow, "bench", "--backend", self.options.backend, "--cells", n, "--case", cases, "--collision", operators,
                          "--storage", ",".join(self.storages_that_fit(n)), "--seconds", seconds, "--threads", self.threads, "--json", path])
        if said.code is None:
            raise OutOfTime
        found = None
        if os.path.exists(path):
            with open(path) as file:
                found = json.load(file)
        wrong = [row for row in found["rows"] if not row["verified"]] if found else []
        self.good(said.code == 0 and found and not wrong, f"{n}^3, {cases}, {operators}: {said}" +
                  "".join(f"; {row['case']} {row['collision']} {row['storage']}: {row['why']}" for row in wrong))
        return found

    def speed(self):
        rows, plans, done = [], self.speed_plans(), 0
        try:
            for n, cases, operators in plans:
                found = self.bench(n, cases, operators)
                done += 1
                for row in found["rows"] if found else []:
                    if not row["verified"]:
                        continue
                    rows.append(row)
                    rate, share = row["mlups"], row["share"]
                    print(f"      {n:5d}^3 {row['case']:9s} {row['collision']:15s} {row['storage']} {1e-3 * rate['median']:8.3f} GLUPS "
                          f"({1e-3 * rate['least']:.3f} to {1e-3 * rate['most']:.3f}), {row['gbs']:7.0f} GB/s, "
                          f"{100 * share['median']:.1f} % of what {row['ceiling']['gbs']:.0f} GB/s allow", flush=True)
                if found:
                    self.data["bench"] = {key: value for key, value in found.items() if key != "rows"}
        except OutOfTime:  # what there is counts, if it is what matters most
            self.good(done, "out of time in the first measurement")
        clocks = self.query(["clocks.sm", "clocks.mem", "power.draw", "temperature.gpu"])
        self.data.update(rows=rows, clocks=clocks)
        late = [f"{n}^3 {cases} {operators}" for n, cases, operators in plans[done:]]
        return f"{len(rows)} rows of tagflow bench, all verified" + (f"; no time for {', '.join(late)}" if late else "")

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

    def memory(self):
        n = (1200 if not self.options.quick else 600) if self.gpu else 160
        if self.gpu:
            smi = self.query(["memory.total", "memory.used"])
            if not self.good(len(smi) == 2, "nvidia-smi does not say what memory there is"):
                return ""
            free = (smi["memory.total"] - smi["memory.used"]) * 1048576
            n = min(n, int((0.96 * free / (Q * 4 + 1.5)) ** (1 / 3)) // 8 * 8)
        # What does not belong to the grid, the driver's context above all, is there with the smallest grid, too.
        estimate, used = {}, {}
        for cells in (8, n):
            case = self.write("memory.yaml", self.box("periodic", "bgk", "fp32", cells, 10, 0))
            said = self.call([self.tagflow, "check", case])
            match = re.search(r"^memory: (\S+ \S+) a rank", said.text, re.M)
            if not self.good(said.code == 0 and match, f"tagflow check: {said}"):
                return ""
            estimate[cells] = gigabytes(match[1])
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
        n = 256 if self.gpu else 32
        lap, laps = (400, 5) if self.gpu else (20, 5)
        out = []
        for precision in BYTES:
            text = self.box("periodic", "bgk", precision, n, lap * (laps + 1), lap)
            found = {"cut": [], "all": []}
            for _ in range(1 if self.options.quick else 2):
                for how in found:
                    run = self.measured(f"halo_{precision}", text, lap, laps, {"run.exchange": how})
                    if run:
                        found[how].append(run)
            if not all(found.values()):
                continue
            self.good(len({r["state_hash"] for runs in found.values() for r in runs}) == 1, f"{precision}: exchange changes the state")
            rates = {how: spread([rate for run in runs for rate in run["glups"]]) for how, runs in found.items()}
            lost = 1 - rates["all"]["median"] / rates["cut"]["median"]
            phases = found["all"][-1]["phases"]
            self.data[precision] = {"glups": rates, "share_lost": lost, "phases_all": phases, "phases_cut": found["cut"][-1]["phases"]}
            self.good(phases, f"{precision}: no phases in report.json")
            out.append(f"{precision} {rates['cut']['median']:.3f} to {rates['all']['median']:.3f} GLUPS ({100 * lost:.1f} % lost)")
        return f"{n}^3, all faces exchanged with itself: " + ", ".join(out)

    # ---- all of it ----

    def stages(self):
        """name: (function, seconds it may take at most)"""
        return {"info": (self.info, 60), "parity": (self.parity_stage, 120), "cases": (self.cases, 150),
                "restart": (self.restart, 60), "sanitizer": (self.sanitizer_stage, 90), "physics": (self.physics, 90),
                "halo": (self.halo, 60), "memory": (self.memory, 120), "speed": (self.speed, 300)}

    def save(self):
        path = os.path.join(self.out, "gpu_suite.json")
        with open(path + ".new", "w") as file:
            json.dump(self.document, file, indent=1)
            file.write("\n")
        os.replace(path + ".new", path)

    def run_stage(self, name):
        function, limit = self.stages()[name]
        self.failures, self.data = [], {}
        start = time.monotonic()
        self.stage_deadline = min(start + limit, self.deadline)
        summary, result = "", "ok"
        self.note(f"==== {name}")
        try:
            summary = function()
        except OutOfTime:
            self.failures.append(f"out of time after {time.monotonic() - start:.0f} s")
        except NotHere as reason:
            summary, result = str(reason), "skipped"
        except Exception as error:  # those after it still have their turn
            self.failures.append(f"{type(error).__name__}: {error}")
            self.note(repr(error))
        seconds = time.monotonic() - start
        if self.failures:
            result = "failed"
        self.document["stages"][name] = {"result": result, "seconds": round(seconds, 2), "summary": summary,
                                         "failures": self.failures, **self.data}
        word = {"ok": "ok   ", "failed": "FAIL ", "skipped": "skip "}[result]
        print(f"{word} {name:10s} {seconds:6.1f} s  " + (f"{self.failures[0]}" if self.failures else summary or ""), flush=True)
        for failure in self.failures[1:6]:
            print(f"{'':27s}{failure}", flush=True)
        if len(self.failures) > 6:
            print(f"{'':27s}and {len(self.failures) - 6} more: gpu_suite.json", flush=True)
        self.save()
        return not self.failures

    def run_all(self):
        os.makedirs(self.work)
        self.document = {
            "backend": self.options.backend, "quick": self.options.quick, "date": datetime.datetime.now(
                datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "host": platform.node(), "system": platform.platform(),
            "cpu": cpu_name(), "cores": self.cores, "program": self.tagflow, "commit": None, "device": None, "driver": None,
            "cuda": None, "stages": {}}
        with open(os.path.join(self.out, "gpu_suite.log"), "w") as self.log:
            good = [self.run_stage(name) for name in self.options.stages]
        shutil.rmtree(self.work, ignore_errors=True)
        self.document["passed"] = all(good)
        self.document["seconds"] = round(time.monotonic() - self.begin, 1)
        self.save()
        skipped = sum(stage["result"] == "skipped" for stage in self.document["stages"].values())
        print(f"{sum(good) - skipped} stages passed, {len(good) - sum(good)} failed, {skipped} skipped: "
              f"{os.path.join(self.out, 'gpu_suite.json')}")
        return all(good)


class NotHere(Exception):
    """What a stage needs is not on this machine."""


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
    parser.add_argument("--out", default="gpu_suite", help="folder for gpu_suite.json and gpu_suite.log (gpu_suite)")
    parser.add_argument("--quick", action="store_true", help="smaller and fewer: about two minutes")
    parser.add_argument("--backend", choices=["cuda", "cpu"], default="cuda", help="cpu: tries the suite itself, on small grids")
    parser.add_argument("--build", help="build folder (build or build-test; in a bundle: the bundle)")
    parser.add_argument("--stages", help="only these, separated by commas")
    parser.add_argument("--seconds", type=float, default=570, help="time for all of it (570)")
    options = parser.parse_args()
    suite = Suite(options)
    names = list(suite.stages())
    options.stages = options.stages.split(",") if options.stages else names
    unknown = [name for name in options.stages if name not in names]
    if unknown:
        wrong_usage(f"there is no stage {unknown[0]!r} ({', '.join(names)})")
    if os.path.exists(os.path.join(suite.out, "work")):
        wrong_usage(f"{suite.out} is in use, or was left behind (remove it, or --out DIR)")
    try:
        os.makedirs(suite.out, exist_ok=True)
    except OSError as error:
        wrong_usage(f"--out {options.out}: {error.strerror}")
    sys.exit(0 if suite.run_all() else 1)


main()
