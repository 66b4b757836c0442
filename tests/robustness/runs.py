"""What the robustness tests share: running tagflow, what it said, and whether a folder is sound.

    TAGFLOW     the program (required)
    TAGFLOW_O0  the same, built without optimisation (optional, tests/parallel/hash_ranks.py)
    TAGFLOW_SHORT  some of many alike will do, see some()
    TAGFLOW_SLOWER  the program may be so many times slower, as under an emulator (default 1)

A test works in a temporary folder of its own, prints a line for each thing it checked, and ends with
finish(), whose exit status is 1 when a check failed. skip() ends it with 77.
"""
import atexit
import collections
import concurrent.futures
import csv
import glob
import hashlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

import h5py
import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TAGFLOW = os.path.abspath(os.environ["TAGFLOW"])
WORK = tempfile.mkdtemp(prefix="tagflow_robust_")
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
os.chdir(WORK)

# Under nohup, or behind a shell's "&", a program starts with signals ignored, and so would the runs.
for number in signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2:
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

# Ranks that wait let others have the core: other tests run beside this one.
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")

# A run that is not over after so many seconds hangs.
HANGS = 120 * int(os.environ.get("TAGFLOW_SLOWER", "1"))
# The same for one that is watched while it goes on.
JOB_HANGS = 400
# The mpirun of Open MPI 4.1.4 can lock itself up (in PMIx_server_finalize) when its ranks are killed as they start. That is
# none of ours: after so many seconds without ranks it is killed, as a batch system does in the end.
MPIRUN_HANGS = 60
# The launcher of the program's MPI: MPICH's is another program with other options, and has a process between it and ranks.
MPIRUN = os.environ.get("TAGFLOW_MPIRUN", "mpirun")
MPICH = "mpiexec" in os.path.basename(MPIRUN)
TAG_OUTPUT = "-l" if MPICH else "--tag-output"
# Runs of one start of MPI, where many share it.
TOGETHER = 12



def some(things, part):
    """One in `part` of things that are much alike, for scripts/test.sh; all of them with --all."""
    return list(things)[::part if "TAGFLOW_SHORT" in os.environ else 1]


# A case with something of everything that a run writes; replace() changes it.
CASE = """\
domain:  {cells: [16, 12, 4]}
fluid:   {viscosity: 0.05, velocity: 0.05, length: 16}
faces:
  x: wall
  ymin: wall
  ymax: {wall: {velocity: [0.05, 0, 0]}}
  z: periodic
run:     {steps: 20}
check:   {every: 5}
output:
  log:    {every: 5}
  series: {flow: {every: 2, of: [mass, kinetic_energy, enstrophy, max_velocity]}}
  fields: {main: {every: 10, of: [velocity, density, pressure, tags]}}
  images: {mid: {every: 10, of: speed}}
"""

# A case that takes seconds, with every kind of output that a run has to go on with after it was ended.
LONG_CASE = """\
domain:  {cells: [36, 28, 20]}
fluid:   {viscosity: 0.02, velocity: 0.08, length: 28}
faces:
  x: wall
  ymin: wall
  ymax: {wall: {velocity: [0.08, 0, 0]}}
  z: periodic
force:   {flow_rate: {velocity: 0.01, axis: z, every: 7, time: 200}}
run:     {steps: 2000}
check:   {every: 50}
checkpoint: {every: 500, keep: 2}
output:
  log:    {every: 10}
  series:
    flow: {every: 2, of: [mass, kinetic_energy, enstrophy, max_velocity, acceleration]}
    each: {every: 1, of: kinetic_energy}
    point: {every: 1, of: probe, point: [17.3, 20.1, 9.5]}
    line: {every: 7, of: line, from: [1, 14, 10], to: [35, 14, 10], points: 5}
    rate: {every: 3, of: flow_rate, axis: z}
    change: {every: 9, of: residual}
  fields:
    main: {every: 200, of: [velocity, density, pressure, tags]}
    wide: {every: 250, of: velocity, precision: fp64}
    part: {every: 50, of: vorticity, region: {from: [3, 5, 2], to: [30, 22, 17]}, stride: 2}
  averages:
    mean: {every: 3, of: [velocity, density, stress], from: 15, to: 280}
  images:
    mid:  {every: 25, of: speed}
    side: {every: 100, of: vorticity, axis: x}
"""

_failures = 0


def check(good, text):
    """Counts and prints one comparison; returns whether it was good."""
    global _failures
    _failures += not good
    print(("ok   " if good else "FAIL ") + text, flush=True)
    return good


def finish():
    sys.exit(_failures > 0)


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def write(path, text):
    """Puts text or bytes into a file and returns its name."""
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def grey_png(pixels):
    """The file of a grey picture, [row, column] of bytes, the first row on top."""
    def chunk(kind, body):
        return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")

    head = pixels.shape[1].to_bytes(4, "big") + pixels.shape[0].to_bytes(4, "big") + b"\x08\0\0\0\0"
    rows = b"".join(b"\0" + row.astype("uint8").tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Said:
    """How a command ended and what it said."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.lines = [line for line in err.splitlines() if line.startswith("tagflow: ")]
        self.errors = [line for line in self.lines if not line.startswith("tagflow: warning: ")]

    def __str__(self):
        return f"exit status {self.code}, {self.errors if self.errors else self.err[-1500:]!r}"


def command(arguments, ranks=0, program=None):
    """The command line: by itself (ranks 0), or under mpirun."""
    line = [program or TAGFLOW] + [str(a) for a in arguments]
    if ranks:
        line = ["sh", "-c", '. "$0"; mpi_run "$@"', ROOT + "/scripts/environment.sh", str(ranks)] + line
    return line


def tagflow(*arguments, ranks=0, cwd=None, env=None, program=None, limit=HANGS):
    """Runs it to its end; killed with all its ranks, and a failure, if it hangs. Once more if MPI could not start it, or did not
    come back from MPI_Init. On a loaded machine mpirun and its ranks can miss each other: then a rank ends with 1
    before it is ours, without a line."""
    said = _tagflow(arguments, ranks, cwd, env, program, limit, again=True)
    if said is None or ranks and said.code == 1 and not said.lines and not said.out and "mpirun" in said.err:
        print(f"note: MPI did not start {ranks} ranks: {said and said.err!r}", flush=True)
        said = _tagflow(arguments, ranks, cwd, env, program, limit)
    return said


def together(jobs):
    """Many runs, several in one start of MPI (tests/several.c beside the program): [(exit status, what was said)]; None: a
    run that was not reached. jobs: [(arguments of `tagflow run`, ranks, program, options of the stand-in for CUDA or None)].
    Their cases need `check.hang: none`."""
    groups = collections.defaultdict(list)
    for number, (_, *how) in enumerate(jobs):
        groups[tuple(how)].append(number)
    starts = [(how, numbers[k:k + TOGETHER]) for how, numbers in sorted(groups.items(), key=lambda group: -group[0][0])
              for k in range(0, len(numbers), TOGETHER)]

    def start(seed):
        (ranks, program, options), numbers = starts[seed]
        folder, name = os.path.split(program or TAGFLOW)
        several = os.path.join(folder, "several_standin" if name == "tagflow_standin" else "tests/several")
        with tempfile.NamedTemporaryFile("w", dir=WORK, prefix="several_", delete=False) as file:
            file.writelines("\t".join(map(str, jobs[number][0])) + "\n" for number in numbers)
        said = tagflow(file.name, ranks=ranks, env={"TAGFLOW_STANDIN": f"{options},seed={seed}"} if options else None,
                       program=several, limit=HANGS * len(numbers))
        codes = dict(map(int, line.split()[1:]) for line in said.out.splitlines() if line.startswith("several: "))
        codes = [codes.get(k) for k in range(1, len(numbers) + 1)]
        # All ended well, and not the process: the stand-in says at its end what they did not free.
        late = said.code if not any(codes) and None not in codes else 0
        return {number: (late if code == 0 else code, said) for number, code in zip(numbers, codes)}

    done = {}
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # ranks wait for each other, mostly
        for some in pool.map(start, range(len(starts))):
            done |= some
    return [done[number] for number in range(len(jobs))]


def _tagflow(arguments, ranks, cwd, env, program, limit, again=False):
    """`again`: None, and no failure, if it hangs inside of MPI_Init."""
    process = subprocess.Popen(command(arguments, ranks, program), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
                               env=None if env is None else os.environ | env)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        in_mpi = stacks(process.pid)
        os.killpg(process.pid, 9)
        out, err = process.communicate()
        if in_mpi and again:
            return None
        check(False, f"hangs: tagflow {' '.join(map(str, arguments))} on {ranks} ranks")
    return Said(process.returncode, out, err)


def stacks(group):
    """Prints where all processes of this group are, and those that they started, as eu-stack of elfutils says. Is every one of
    the program's inside of MPI_Init, or has ended? Then MPI hangs. (From MPI_Finalize the program frees itself.)"""
    ours = []
    for pid in sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
        try:
            name, parent, _ = _process(pid)
            if name is None or group not in (os.getpgid(pid), os.getpgid(parent) if parent else None):
                continue
            said = subprocess.run(["eu-stack", "-m", "-p", str(pid)], capture_output=True, text=True, timeout=20).stdout
        except (OSError, subprocess.TimeoutExpired) as error:
            said = f"{error}\n"
        print(f"process {pid}, {name}:\n{said}", end="", flush=True)
        if name.startswith("tagflow"):
            ours.append(re.search("(?i)mpi_init", said) is not None)
    return all(ours)


def unread(*arguments, ranks=0, lines=0):
    """Runs it to its end while whoever reads its standard output leaves after so many lines, as `| head` does."""
    out, to = os.pipe()
    reader = open(out, "rb", buffering=0)
    if not lines:
        reader.close()
    process = subprocess.Popen(command(arguments, ranks), stdin=subprocess.DEVNULL, stdout=to, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True)
    os.close(to)
    if lines:
        with reader:
            read = b"".join(reader.readline() for _ in range(lines)).decode()
    try:
        err = process.communicate(timeout=HANGS)[1]
    except subprocess.TimeoutExpired:
        stacks(process.pid)
        os.killpg(process.pid, 9)
        err = process.communicate()[1]
        check(False, f"hangs: tagflow {' '.join(map(str, arguments))} on {ranks} ranks, unread")
    return Said(process.returncode, read if lines else "", err)


def sets(settings):
    """Arguments for {path: value}; a value is text in YAML or anything that JSON can say."""
    out = []
    for path, value in settings.items():
        out += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    return out


def load(folder, name):
    with open(os.path.join(folder, name)) as file:
        return json.load(file)


def run(name, case, *more, ranks=0):
    """Runs a case that is a map, in a folder of its name; was it good?"""
    said = tagflow("run", write(name + ".yaml", json.dumps(case)), "--output", name, *more, ranks=ranks)
    return check(said.code == 0, f"{name}: {said}")


def table(folder, name):
    """A series, by the names of its columns."""
    return numpy.genfromtxt(f"{folder}/series/{name}.csv", delimiter=",", names=True)


def near(what, one, other, tolerance):
    """Checks numbers relative to the largest of the others."""
    one, other = numpy.asarray(one), numpy.asarray(other)
    worst = numpy.abs(one - other).max() / numpy.abs(other).max()
    check(worst < tolerance, f"{what}: {worst:.2e} of the largest, below {tolerance:g}")


def tree(folder="."):
    """Every name below the folder."""
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, folders, files in os.walk(folder) for name in folders + files)


def bytes_of(folder):
    """{name: bytes} of every file below the folder; not of the lock, which is no result."""
    found = {}
    for name in tree(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and name != ".lock":
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


class Job:
    """A run that goes on meanwhile, by itself (ranks 0) or under mpirun, whose process is then `process`."""

    def __init__(self, folder, settings=(), ranks=0, restart="auto", case="case.yaml", more=(), program=None, env=None):
        arguments = ["run", case, "--output", folder, *(["--restart", restart] if restart else []), *more, *sets(dict(settings))]
        self.program = program or TAGFLOW
        line = [self.program] + arguments
        if ranks:
            line = ["sh", "-c", '. "$0"; exec "$TAGFLOW_MPIRUN" -n "$@"', ROOT + "/scripts/environment.sh", str(ranks)] + line
        self.folder, self.ranks = folder, ranks
        self.stuck = False  # had mpirun to be killed when all its ranks had long ended?
        self.out = tempfile.NamedTemporaryFile(dir=WORK, prefix="out_", delete=False).name
        with open(self.out, "wb") as out, open(self.out + ".err", "wb") as err:
            self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                            env=None if env is None else os.environ | env)
        self.started = time.monotonic()

    def processes(self):
        """[(pid, when it began)] of the program's processes, in order of their ranks."""
        if not self.ranks:
            return [(self.process.pid, _process(self.process.pid)[2])]
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            name, parent, began = _process(int(pid))
            above = _process(parent)
            # Not those that ranks start themselves, to read files of others.
            if name == os.path.basename(self.program)[:15] and (
                    parent == self.process.pid or (above[0] != name and above[1] == self.process.pid)):
                found.append((_rank(pid), int(pid), began))
        return [(pid, began) for _, pid, began in sorted(found)]

    def signal(self, which, pids):
        """To processes, some of which may be gone."""
        for pid in pids:
            try:
                os.kill(pid, which)
            except ProcessLookupError:
                pass

    def signal_rank(self, which, rank):
        self.signal(which, [self.processes()[rank][0]])

    def signal_ranks(self, which):
        self.signal(which, [pid for pid, _ in self.processes()])

    def text(self):
        with open(self.out, errors="replace") as file:
            return file.read()

    def wait_for(self, good, what):
        """Until good() is true; False, and a failure, if the job has ended before or it never comes."""
        while True:
            ended = self.process.poll() is not None
            if good():
                return True
            if ended or time.monotonic() > self.started + JOB_HANGS:
                return check(False, f"{self.folder}: waiting for {what}, {'the job ended' if ended else 'in vain'}: {self.end()}")
            time.sleep(0.005)

    def wait_for_line(self, begin):
        """Until it has said a line that begins so."""
        return self.wait_for(lambda: "\n" + begin in "\n" + self.text(), repr(begin))

    def end(self):
        """Waits for its end: how it ended and what it said. Killed with all its ranks, and a failure, if it hangs."""
        limit = time.monotonic() + JOB_HANGS
        idle = None  # since when mpirun has no ranks any more
        while self.process.poll() is None and time.monotonic() < limit and not self.stuck:
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                idle = (idle or time.monotonic()) if self.ranks and not self.processes() else None
                self.stuck = idle is not None and time.monotonic() > idle + MPIRUN_HANGS
        if self.process.poll() is None and self.stuck:
            self.process.kill()
            self.process.wait()
        elif self.process.poll() is None:
            stacks(self.process.pid)
            self.signal(signal.SIGKILL, [pid for pid, _ in self.processes()] + [self.process.pid])
            self.process.wait()
            check(False, f"{self.folder} hangs on {self.ranks} ranks")
        with open(self.out + ".err", errors="replace") as file:
            return Said(self.process.returncode, self.text(), file.read())


def _process(pid):
    """Name, parent and beginning of a process; of one that is gone, or only waits to be forgotten, None."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
    except (OSError, IndexError):
        return None, None, None
    fields = rest.split()
    return (None, None, None) if fields[0] in "ZX" else (name, int(fields[1]), int(fields[19]))


def _rank(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            found = [x for x in file.read().split(b"\0") if x.startswith((b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK="))]
    except OSError:
        found = []
    return int(found[0].split(b"=")[1]) if found else 0


def all_gone(processes):
    """Are these [(pid, when it began)] gone, now or soon?"""
    end = time.monotonic() + JOB_HANGS
    while any(began is not None and _process(pid)[2] == began for pid, began in processes):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def checkpoint_steps(folder):
    """Steps of the checkpoints in a folder."""
    return [int(os.path.basename(path)[5:15]) for path in
            sorted(glob.glob(os.path.join(folder, "checkpoints", "step_" + "[0-9]" * 10 + ".h5")))]


def _digest(*parts):
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()


def _datasets(path):
    """{name: digest} of all datasets of an HDF5 file, and of what says where they lie in space."""
    found = {}

    def visit(name, thing):
        if isinstance(thing, h5py.Dataset):
            found[name] = _digest(f"{thing.dtype} {thing.shape} ".encode(), thing[...].tobytes())
        if not name.startswith("provenance"):
            for key, value in thing.attrs.items():
                found[name + "@" + key] = repr(value)

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def results(folder):
    """{name: digest} of what a run has computed: it must not depend on ranks, or on how often the run was ended. Of
    images the pixels, of HDF5 files each dataset: dates and ranks are in both."""
    found = {"state": load(folder, "report.json")["state"], "state_hash": load(folder, "report.json")["state_hash"]}
    for kind in "series", "fields", "images":
        for name in tree(os.path.join(folder, kind)):
            path = os.path.join(folder, kind, name)
            key = kind + "/" + name
            with open(path, "rb") as file:
                data = file.read()
            if name.endswith(".vtkhdf"):
                if fault := trailer_fault(path):
                    check(False, f"{path}: {fault}")
                found |= {key + ":" + dataset: digest for dataset, digest in _datasets(path).items()}
            elif name.endswith(".png"):
                found[key] = _digest(*png_pixels(data))
            else:
                found[key] = _digest(data)
    return found


def differences(a, b):
    """Names whose values are not the same in both."""
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def series_text(folder, name="flow"):
    with open(os.path.join(folder, "series", name + ".csv"), "rb") as file:
        return file.read()


def snapshot(path):
    """{array: values} of a snapshot."""
    with h5py.File(path) as file:
        nx, ny, nz = file["provenance"].attrs["cells"]  # a single layer is there twice
        return {name: data[:nz, :ny, :nx] for name, data in file["VTKHDF/PointData"].items()}


def snapshots(folder):
    """{file: {array: values}} of all snapshots of a run."""
    return {os.path.basename(path): snapshot(path)
            for path in sorted(glob.glob(os.path.join(folder, "fields", "*.vtkhdf")))}


def same_bits(a, b):
    """Are two {name: array} equal in names, types, shapes and bytes?"""
    return a.keys() == b.keys() and all(a[name].dtype == b[name].dtype and a[name].shape == b[name].shape and
                                        a[name].tobytes() == b[name].tobytes() for name in a)


def _png_chunks(data):
    """[(kind, body)]; ValueError if it is torn."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    at, chunks = 8, []
    while at + 12 <= len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        kind, body, checksum = data[at + 4:at + 8], data[at + 8:at + 8 + size], data[at + 8 + size:at + 12 + size]
        if zlib.crc32(kind + body) != int.from_bytes(checksum, "big"):
            raise ValueError("a chunk is damaged")
        chunks.append((kind, body))
        at += 12 + size
    if at != len(data) or not chunks or chunks[-1][0] != b"IEND":
        raise ValueError("no end")
    return chunks


def png_pixels(data):
    """Size, colours and pixels."""
    chunks = _png_chunks(data)
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    return [body for kind, body in chunks if kind in (b"IHDR", b"PLTE")] + [pixels]


def _png_fault(data):
    """Chunks whole, checksums right, pixels there, an end."""
    return "" if png_pixels(data)[-1] else "no pixels"


def _csv_fault(text):
    if not text.endswith("\n"):
        return "its last row is cut"
    rows = list(csv.reader(text.splitlines()))
    if any(len(row) != len(rows[0]) for row in rows):
        return "a row is cut"
    # The first row of a residual has nothing before it.
    finite = all(math.isfinite(float(value)) or (name == "residual" and row is rows[1])
                 for row in rows[1:] for name, value in zip(rows[0], row))
    return "" if finite else "a value is not finite"


def _arrays(path):
    """[(array, values)] of a snapshot of one level, of several, or of a surface."""
    with h5py.File(path) as file:
        levels = [group for name, group in file["VTKHDF"].items() if name.startswith("Level")]
        if levels:
            return [(name, data[...]) for group in levels for name, data in group["CellData"].items()]
        if "CellData" in file["VTKHDF"]:  # of a surface
            return [(name, data[...]) for name, data in file["VTKHDF/CellData"].items()]
    return snapshot(path).items()


def trailer_of(data):
    """The trailer of a snapshot of these bytes (src/io/trailer.h), computed here from the definition."""
    words = numpy.frombuffer(data + bytes(-len(data) % 4), "<u4").astype("u8")
    z = numpy.arange(len(words), dtype="u8") + numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> numpy.uint64(30)) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> numpy.uint64(27)) * numpy.uint64(0x94D049BB133111EB)
    odd = (z ^ z >> numpy.uint64(31)) | numpy.uint64(1)
    return b"\ntagflow %021d %016x\n" % (len(data), int((words * odd).sum(dtype="u8")))


def trailer_fault(path):
    """Is a snapshot's trailer the one of its bytes?"""
    with open(path, "rb") as file:
        data = file.read()
    data, trailer = data[:-48], data[-48:]
    right = trailer_of(data)
    return "" if trailer == right else f"its trailer is {trailer}, not {right}"


def _field_fault(path):
    if fault := trailer_fault(path):
        return fault
    for name, values in _arrays(path):
        if not values.size:
            return f"{name} is empty"
        if not numpy.isfinite(values).all():
            return f"{name} is not finite"
        if name == "density" and not (values > 0.1).all():
            return "density is not written everywhere"
    return ""


def _fault(path):
    """What is wrong with one file of a run."""
    with open(path, "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    where = os.path.basename(os.path.dirname(path))
    try:
        if name == ".lock" or (where in ("checkpoints", "series") and name.endswith(".aside")):
            return ""
        if where == "checkpoints" and name.endswith(".h5"):
            return "" if tagflow("info", os.path.abspath(path)).code == 0 else "does not verify"
        if name.endswith(".json"):
            return "" if isinstance(json.loads(data), dict) else "no object"
        if name.endswith(".csv"):
            return _csv_fault(data.decode())
        if name.endswith(".png"):
            return _png_fault(data)
        if name.endswith(".vtkhdf"):
            return _field_fault(path)
        if name == "case.yaml":
            return "" if tagflow("check", os.path.abspath(path)).code == 0 else "is no case"
        if name == "log.txt":
            return "" if not data or data.endswith(b"\n") else "its last line is cut"
    except (ValueError, OSError, zlib.error, UnicodeDecodeError) as error:
        return str(error)
    return "is not what a run writes"


def faults(folder, temporary=False, quick=False):
    """What is torn in a run's folder, a text each: nothing, one hopes. temporary: may *.tmp be there? quick: without
    what the program would have to be asked about."""
    found = []
    for where, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".tmp"):
                found += [] if temporary else [name + " was left behind"]
            elif quick and (name == "case.yaml" or os.path.basename(where) == "checkpoints"):
                continue
            elif fault := _fault(os.path.join(where, name)):
                found.append(f"{name}: {fault}")
    return found
