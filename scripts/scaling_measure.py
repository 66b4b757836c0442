"""`scripts/scaling.py measure`: tagflow bench on several numbers of ranks, a table of it and a picture."""
import csv
import json
import math
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

from bench_file import POPULATION_BYTES, cells_text, load, number, read
from command_line import Wrong, quoted
from tagflow.files import write_whole

FORMAT = 1
FILES = ("scaling.csv", "scaling.json", "scaling.png")
# What of the first run's file goes into ours: on what it was measured.
MACHINE = ("version", "commit", "time", "host", "compiler", "flags", "buildtype", "backend", "device", "processor", "cores",
           "driver", "mpi", "hosts", "threads", "isa", "clocks_mhz", "memory_gb")
PHASES = ("interior", "shell", "pack", "unpack", "wait")
COLUMNS = ("kind", "ranks", "nx", "ny", "nz", "px", "py", "pz", "mlups", "mlups_least", "mlups_most", "mlups_per_rank",
           "efficiency", "efficiency_least", "efficiency_most", "share_of_ceiling", *PHASES)


class Failed(Exception):
    """A run or the machine failed, in one line."""


def last_complaint(error, code):
    """What a run that failed said, in few words; mpirun says much more around it."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("tagflow: ") and "warning" not in line]
    said = (ours or [line for line in lines if not set(line) <= set("-=*# ")] or ["nothing said"])[0]
    return f"exit status {code}: {quoted(said)}"


def run(line, timeout):
    """Runs a command to its end, its children with it if it has to be ended; (exit status, stdout and stderr)."""
    try:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace", start_new_session=True)
    except OSError as error:
        raise Failed(f"cannot start {quoted(line[0])}: {os.strerror(error.errno)}") from None
    try:
        said, _ = process.communicate(timeout=timeout)
        return process.returncode, said
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {timeout:g} s (--timeout): {quoted(shlex.join(line))}") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def bench(arguments, ranks, cells, folder):
    """One run: (its file, its row)."""
    path = os.path.join(folder, "bench.json")
    if os.path.exists(path):
        os.remove(path)
    launcher = [word.replace("{n}", str(ranks)) for word in arguments.launcher_words]
    line = launcher + [arguments.tagflow, "bench", "--cells", "x".join(map(str, cells)), "--case", arguments.case,
                       "--collision", arguments.collision, "--storage", arguments.storage,
                       "--threads", str(arguments.threads), "--json", path]
    for name in ("seconds", "repeat"):
        if getattr(arguments, name):
            line += ["--" + name, f"{getattr(arguments, name):g}"]
    code, said = run(line + arguments.more, arguments.timeout)
    what = f"{cells_text(list(cells))} on {ranks} {'rank' if ranks == 1 else 'ranks'}"
    if code:
        raise Failed(f"{what}: {last_complaint(said, code)}")
    try:
        found = read(path)
    except Wrong as error:
        raise Failed(f"{what}: it left no result: {error}") from None
    row = found["rows"][0]
    if len(found["rows"]) != 1:
        raise Failed(f"{what}: {len(found['rows'])} rows, not one")
    if not row["verified"]:
        raise Failed(f"{what}: its result is wrong: {quoted(row.get('why', 'no reason given'))}")
    if found["ranks"] != ranks:
        raise Failed(f"{what}: it ran on {found['ranks']}: is the launcher {quoted(arguments.launcher)!r} of the MPI that "
                     "tagflow was built with?")
    if row["cells"] != list(cells):
        raise Failed(f"{what}: it ran {cells_text(row['cells'])}")
    return found, row


def _divisors(n):
    low = [k for k in range(1, math.isqrt(n) + 1) if n % k == 0]
    return low + [n // k for k in reversed(low) if k * k != n]


def weak_box(cells, ranks):
    """The whole box when each rank has a block of `cells`: as near to a cube of blocks as can be."""
    best = min(((a, b, ranks // a // b) for a in _divisors(ranks) for b in _divisors(ranks // a)),
               key=lambda p: (max(p) / min(p), p))
    return tuple(cells[a] * best[a] for a in range(3))


def plan(arguments):
    """[(kind, ranks, cells)]"""
    if not arguments.weak and not arguments.strong:
        raise Wrong("nothing to do: --weak N, --strong N or both")
    runs = []
    for ranks in arguments.ranks:
        if arguments.weak:
            runs.append(("weak", ranks, weak_box(arguments.weak, ranks)))
        if arguments.strong:
            runs.append(("strong", ranks, arguments.strong))
    return runs


def check_usage(arguments):
    try:
        arguments.launcher_words = shlex.split(arguments.launcher)
    except ValueError as error:
        raise Wrong(f"--launcher {quoted(arguments.launcher)!r}: {quoted(error)}") from None
    if "{n}" not in arguments.launcher:
        raise Wrong(f"--launcher {quoted(arguments.launcher)!r} does not say where the number of ranks goes: {{n}}")
    if not shutil.which(arguments.launcher_words[0]):
        raise Wrong(f"--launcher: no program {quoted(arguments.launcher_words[0])}")
    if not shutil.which(arguments.tagflow):
        raise Wrong(f"no program {quoted(arguments.tagflow)} (--tagflow PROGRAM)")
    if os.sep in arguments.tagflow:
        arguments.tagflow = os.path.abspath(arguments.tagflow)
    if os.path.lexists(arguments.output) and not os.path.isdir(arguments.output):
        raise Wrong(f"--output {quoted(arguments.output)} is not a folder")
    there = [name for name in FILES if os.path.lexists(os.path.join(arguments.output, name))]
    if there and not arguments.force:
        raise Wrong(f"{quoted(os.path.join(arguments.output, there[0]))} is there already (--force replaces it)")
    os.makedirs(arguments.output, exist_ok=True)


def median_row(kind, ranks, cells, rows):
    """The rows of one point, of all rounds, as one: {column: value}; times as medians of the rounds."""
    rates = [rate for row in rows for rate in row["mlups"].get("all") or [row["mlups"]["median"]]]
    low, high = (pick(row["mlups"][key] for row in rows) for pick, key in ((min, "least"), (max, "most")))
    shares = [row["share"]["median"] for row in rows if row.get("share")]
    cuts = rows[0]["cut"]
    point = {"kind": kind, "ranks": ranks, "mlups": statistics.median(rates), "mlups_least": low, "mlups_most": high,
             "mlups_per_rank": statistics.median(rates) / ranks, "share_of_ceiling": statistics.median(shares) if shares else None}
    for k in range(3):
        point["n" + "xyz"[k]], point["p" + "xyz"[k]] = cells[k], cuts[k]
    for name in PHASES:
        found = [row["phases"][name] for row in rows if (row.get("phases") or {}).get(name) is not None]
        point[name] = statistics.median(found) if found else None
    return point


def add_efficiency(points):
    """Rate a rank beside that of the fewest ranks; the spread is that of the row alone."""
    base = {point["kind"]: point for point in reversed(points)}
    for point in points:
        per_rank = base[point["kind"]]["mlups"] / base[point["kind"]]["ranks"] * point["ranks"]
        for name in ("", "_least", "_most"):
            point["efficiency" + name] = point["mlups" + name] / per_rank


def table(points):
    yield (f"{'':6s} {'ranks':>5s} {'cells':>14s} {'cut':>11s}  {'MLUPS, least to most':>25s} {'a rank':>7s} {'efficiency':>10s} "
           "of ceiling")
    for p in points:
        rate = f"{p['mlups']:.5g} ({p['mlups_least']:.5g}-{p['mlups_most']:.5g})"
        ceiling = f"{100 * p['share_of_ceiling']:8.1f} %" if p["share_of_ceiling"] else f"{'-':>10s}"
        cut = f"{p['px']} x {p['py']} x {p['pz']}"
        yield (f"{p['kind']:6s} {p['ranks']:5d} {cells_text([p['nx'], p['ny'], p['nz']]):>14s} {cut:>11s}  {rate:>25s} "
               f"{p['mlups_per_rank']:7.4g} {100 * p['efficiency']:8.1f} % {ceiling}")


def write_csv(points):
    def write(path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows({name: f"{value:.6g}" if isinstance(value, float) else value for name, value in point.items()}
                             for point in points)
    return write


def write_json(arguments, first, points):
    about = {"tagflow": "scaling", "format": FORMAT, "command": shlex.join(sys.argv), "launcher": arguments.launcher,
             "case": arguments.case, "collision": arguments.collision, "storage": arguments.storage,
             "arithmetic": first["rows"][0]["arithmetic"], "rounds": arguments.rounds,
             "bytes_per_update": first["rows"][0]["bytes_per_update"]}
    about |= {name: first.get(name) for name in MACHINE} | {"points": points}

    def write(path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(about, file, indent=1)
            file.write("\n")
    return write


def draw(arguments, points, path):
    """Efficiency over ranks."""
    import matplotlib  # late: it takes a second, and the other command does without
    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker
    figure, axis = pyplot.subplots(figsize=(7, 4.4), layout="constrained")
    for k, kind in enumerate(("weak", "strong")):
        mine = [point for point in points if point["kind"] == kind]
        if not mine:
            continue
        size = arguments.weak if kind == "weak" else arguments.strong
        name = f"{kind}: {cells_text(list(size))}" + (" a rank" if kind == "weak" else " in all")
        values = [100 * point["efficiency"] for point in mine]
        spread = [[100 * abs(point["efficiency" + end] - point["efficiency"]) for point in mine] for end in ("_least", "_most")]
        axis.errorbar([point["ranks"] for point in mine], values, spread, marker="os"[k], capsize=3, linewidth=1.4, label=name)
    axis.axhline(100, color="0.6", linewidth=0.8, linestyle="--")
    axis.set(xscale="log", xlabel="ranks", ylabel="efficiency, %", ylim=(0, None))
    axis.set_xticks(arguments.ranks, [str(ranks) for ranks in arguments.ranks])
    axis.xaxis.set_minor_locator(ticker.NullLocator())
    axis.set_title(f"{arguments.case}, {arguments.collision}, {arguments.storage}", fontsize=10)
    axis.grid(color="0.9", linewidth=0.6)
    axis.legend(frameon=False)
    figure.savefig(path, format="png", dpi=110)
    pyplot.close(figure)


def measure(arguments):
    runs = plan(arguments)
    check_usage(arguments)
    rows = {item: [] for item in runs}
    first = None
    with tempfile.TemporaryDirectory(prefix=".bench_", dir=arguments.output) as folder:
        for _ in range(arguments.rounds):
            for item in runs:
                found, row = bench(arguments, item[1], item[2], os.path.abspath(folder))
                first = first or found
                rows[item].append(row)
    points = [median_row(*item, rows[item]) for item in runs]
    points.sort(key=lambda point: (point["kind"] != "weak", point["ranks"]))
    add_efficiency(points)
    for line in table(points):
        print(line)
    csv_path, json_path, png_path = (os.path.join(arguments.output, name) for name in FILES)
    write_whole(csv_path, write_csv(points))
    write_whole(json_path, write_json(arguments, first, points))
    try:
        write_whole(png_path, lambda path: draw(arguments, points, path))
    except ImportError as error:
        raise Failed(f"the tables are written, but the picture needs matplotlib ({quoted(error)}): "
                     "apt install python3-matplotlib") from None


def read_measurement(path):
    """What measure wrote, checked."""
    found = load(path)
    if found.get("tagflow") != "scaling" or found.get("format") != FORMAT:
        raise Wrong(f"{quoted(path)} is not what scaling.py measure writes")
    points = found.get("points")
    if not isinstance(points, list) or not points or found.get("storage") not in POPULATION_BYTES:
        raise Wrong(f"{quoted(path)} has no points, or no storage that the model knows")
    for k, point in enumerate(points):
        wanted = ("ranks", "nx", "ny", "nz", "px", "py", "pz", "mlups")
        if not isinstance(point, dict) or not all(number(point.get(name)) for name in wanted) or \
                point.get("kind") not in ("weak", "strong"):
            raise Wrong(f"{quoted(path)}: point {k + 1} is damaged")
    return found
