#!/usr/bin/python3
"""The torture suite: flows that users begin with (torture_cases.py) x operators x precisions x axes.

    torture.py list  [PATTERN]                     names of the cases
    torture.py run   RESULTS [selection] [--jobs N] runs what RESULTS does not hold yet; can be stopped and goes on
    torture.py table RESULTS [--into FILE]         the table in Markdown, or put into FILE's section "Torture cases"
    torture.py sample                              a part of it with fewer steps, for CI

RESULTS has one line of JSON for each finished run; fields of finer runs lie in RESULTS.references. The selection: --case,
--operator, --precision, --along (each a list of patterns of the shell; --along=-y), --steps (20000). Small grids come first.

Each run ends in one of: right (all errors within bounds that the case fixes), wrong, or stopped (exit 3). `tagflow check`
has warned of it beforehand or has not. Wrong without a warning is the one thing that must not be.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

import numpy

import case
import torture_cases

OPERATORS = ("auto", "rr", "cumulant", "trt", "bgk", "hermite", "central_hermite", "gauss_hermite", "mrt", "central")
PRECISIONS = ("fp32", "fp64")
ALONG = ("+x", "-y", "+z")
HEADING = "## Torture cases"
_lock = threading.Lock()


_running = set()


def tagflow(*arguments):
    """Its exit status and what it wrote to standard error."""
    process = subprocess.Popen([os.environ["TAGFLOW"], *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    _running.add(process)
    text = process.communicate()[1]
    _running.discard(process)
    return process.returncode, text


def stop(*_):
    """A signal: runs that are not finished count for nothing."""
    for process in list(_running):
        process.kill()
    shutil.rmtree(case.scratch(), ignore_errors=True)
    os._exit(1)


def write_case(name, text, along, operator, precision):
    """The file's path, without its ending."""
    path = os.path.join(case.scratch(), re.sub(r"\W+", "_", f"{name}{along[0].replace('-', 'm')}{along[1]}{operator}{precision}"))
    with open(path + ".yaml", "w") as file:
        json.dump(torture_cases.turn(text, along) | {
            "solver": {"collision": operator, "storage": precision, "arithmetic": precision}}, file)
    return path


def reference(results, item):
    """The finer run's numbers, made once."""
    name, text, measure = item
    path = os.path.join(results + ".references", name + ".npy")
    with _lock_of(path):
        if not os.path.exists(path):
            file = write_case(name, text, "+x", "cumulant", "fp32")
            status, message = tagflow("run", file + ".yaml", "--output", file, "--overwrite")
            if status != 0:
                raise RuntimeError(f"reference {name}: exit status {status}: {message[-500:]}")
            value = measure(torture_cases.Result(case.Run(file), "+x"))
            shutil.rmtree(file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + ".part", "wb") as file:
                numpy.save(file, value)
            os.replace(path + ".part", path)
    return numpy.load(path)


_locks = {}


def _lock_of(path):
    with _lock:
        return _locks.setdefault(path, threading.Lock())


def judged(results, item, along, operator, precision):
    """One run: the row of the results."""
    path = write_case(item.name, item.text, along, operator, precision)
    _, checked = tagflow("check", path + ".yaml")
    row = {"case": item.name, "along": along, "operator": operator, "precision": precision,
           "steps": item.text["run"]["steps"], "warnings": re.findall("warning: (.*)", checked)}
    row["exit"], message = tagflow("run", path + ".yaml", "--output", path, "--overwrite")
    row["alarms"] = [said for said in re.findall("warning: (.*)", message) if said not in row["warnings"]]
    try:
        finished = case.Run(path)
        row |= {key: finished.report[key] for key in ("step", "seconds", "collision", "commit")}
    except (OSError, KeyError):
        finished = None
    if row["exit"] == 0:
        errors = item.judge(torture_cases.Result(finished, along), reference(results, item.reference) if item.reference else None)
        row["errors"] = {what: [float(f"{error:.3g}"), bound] for what, (error, bound) in errors.items()}
        row["verdict"] = "right" if all(error <= bound for error, bound in errors.values()) else "wrong"
    else:
        row["verdict"] = "stopped" if row["exit"] == 3 else "failed"
        row["message"] = message.strip()[-600:]
    shutil.rmtree(path, ignore_errors=True)
    return row


def identity(row):
    return tuple(row[key] for key in ("case", "along", "operator", "precision", "steps"))


def read(results):
    """Finished rows; a line that a stop cut off is none."""
    rows = {}
    if os.path.exists(results):
        with open(results) as file:
            for line in file:
                if line.endswith("\n"):
                    row = json.loads(line)
                    rows[identity(row)] = row
    return rows


def share(row):
    """The largest error over its bound, infinite if one is not a number, and its name."""
    return max(((error / bound if error == error else numpy.inf, what) for what, (error, bound) in row["errors"].items()))


def text_of(row):
    if "errors" in row:
        what = share(row)[1]
        detail = "{} {:.3g} of {}".format(what, *row["errors"][what])
    else:
        detail = f"exit {row['exit']}, step {row.get('step')}"
    verdict = "SILENTLY WRONG" if row["verdict"] == "wrong" and not row["warnings"] else row["verdict"]
    return f"{verdict}{', warned' if row['warnings'] else ''}{', alarmed' if row.get('alarms') else ''}: {detail} ({row.get('seconds', 0):.1f} s)"


def selected(arguments):
    def fits(pattern, value):
        return pattern is None or any(fnmatch.fnmatch(value, p) for p in pattern)

    columns = [(precision, operator, along) for precision in PRECISIONS for operator in OPERATORS for along in ALONG]
    # The default along x first, then each operator; other axes and fp64 last.
    columns.sort(key=lambda column: (column[0] != "fp32", column[2] != "+x", OPERATORS.index(column[1])))
    items = sorted(torture_cases.cases(arguments.steps), key=lambda item: numpy.prod(item.text["domain"]["cells"]))
    for precision, operator, along in columns:
        for item in items:
            if (fits(arguments.case, item.name) and fits(arguments.operator, operator)
                    and fits(arguments.precision, precision) and fits(arguments.along, along)
                    and (item.open_faces or along == "+x")):
                yield item, along, operator, precision


def run(arguments):
    done = read(arguments.results)
    todo = [s for s in selected(arguments) if (s[0].name, s[1], s[2], s[3], arguments.steps) not in done]
    print(f"{len(todo)} runs to do, {len(done)} are in {arguments.results}", flush=True)
    if os.path.exists(arguments.results):
        with open(arguments.results, "rb+") as file:  # cut off what a stop left of a line
            file.truncate(file.read().rfind(b"\n") + 1)

    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, stop)

    def one(item):
        row = judged(arguments.results, *item)
        with _lock:
            with open(arguments.results, "a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{row['case']}, {row['along']}, {row['operator']}, {row['precision']}: {text_of(row)}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for finished in [pool.submit(one, item) for item in todo]:
            finished.result()


RANK = ("failed", "wrong", "wrong w", "stopped", "stopped w", "right w", "right")


def cell(rows):
    """The worst of the rows, those of other axes."""
    def rank(row):
        return RANK.index(row["verdict"] + (" w" if row["warnings"] and row["verdict"] != "failed" else ""))

    if not rows:
        return ""
    row = min(rows, key=rank)
    warned = " w" if row["warnings"] else ""
    if row["verdict"] in ("right", "wrong"):
        worst = max(share(r)[0] for r in rows if rank(r) == rank(row))
        number = "" if not numpy.isfinite(worst) else f" {worst:.2g}"
        text = row["verdict"] + number + warned
        return f"**SILENTLY {text.upper()}**" if row["verdict"] == "wrong" and not warned else text
    return ("stopped" + f" {row.get('step')}" if row["verdict"] == "stopped" else f"**exit {row['exit']}**") + warned


def table(rows, steps):
    """Markdown."""
    rows = [row for row in rows if row["steps"] == steps]
    lines = [HEADING, "", f"""`tests/physics/torture.py` runs flows of beginners, {steps} steps on small grids, with every operator.

- `c`: cell Reynolds number of the largest velocity that the case sets.
- `right x`: the largest error is x times its bound. The bounds were fixed before the runs, each with a reason
  (`tests/physics/torture_cases.py`).
- `wrong x`: the same with x above 1, and the run ended with exit status 0.
- `stopped n`: diverged at step n, exit status 3.
- `w`: `tagflow check` warns beforehand.
- Empty: not finished. Of runs along several axes the table has the worst.""", ""]
    lines += ["Commit of the program: " + ", ".join(sorted({row.get("commit", "unknown") for row in rows})) + ".", ""]
    for precision in PRECISIONS:
        of = [row for row in rows if row["precision"] == precision]
        if not of:
            lines += [f"{precision}: not run yet.", ""]
            continue
        operators = [o for o in OPERATORS if any(row["operator"] == o for row in of)]
        total = sum(len(OPERATORS) * (len(ALONG) if item.open_faces else 1) for item in torture_cases.cases(steps))
        lines += [f"{precision}: {len(of)} of {total} runs are finished (along +x {sum(row['along'] == '+x' for row in of)}, -y "
                  f"{sum(row['along'] == '-y' for row in of)}, +z {sum(row['along'] == '+z' for row in of)}).", ""]
        lines += ["| case | " + " | ".join(f"`{o}`" for o in operators) + " |", "|---" * (len(operators) + 1) + "|"]
        for item in torture_cases.cases(steps):
            cells = [cell([row for row in of if row["case"] == item.name and row["operator"] == o]) for o in operators]
            if any(cells):
                lines.append(f"| {item.name} | " + " | ".join(cells) + " |")
        lines.append("")
        begun = {row["case"] for row in of}
        rest = [item.name for item in torture_cases.cases(steps) if item.name not in begun]
        if rest:
            lines += [f"Not begun in {precision}: " + "; ".join(rest) + ".", ""]
    lines += ["`alarmed`: right, with a warning during the run.", "",
              "| operator | precision | runs | right | of these warned | alarmed | stopped | wrong, warned | silently wrong | failed |",
              "|---" * 10 + "|"]
    for precision in PRECISIONS:
        for operator in OPERATORS:
            of = [row for row in rows if (row["operator"], row["precision"]) == (operator, precision)]
            if of:
                def count(verdict, warned=None):
                    return sum(row["verdict"] == verdict and warned in (None, bool(row["warnings"])) for row in of)
                counts = (len(of), count("right"), count("right", True),
                          sum(row["verdict"] == "right" and bool(row.get("alarms")) for row in of), count("stopped"), count("wrong", True),
                          count("wrong", False), count("failed"))
                lines.append(f"| `{operator}` | {precision} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines) + "\n"


def put_into(path, section):
    with open(path) as file:
        text = file.read()
    if HEADING in text:
        start = text.index(HEADING)
        end = text.find("\n## ", start + 1)
        text = text[:start] + section + (text[end:] if end >= 0 else "")
    else:
        start = text.index("## Known limits")
        text = text[:start] + section + "\n" + text[start:]
    with open(path, "w") as file:
        file.write(text)


# case, along, operator, precision, steps, expected: what takes seconds and has its answer by then.
SAMPLE = [
    ("stream along a wall, c 100, nonreflecting", "-y", "auto", "fp32", 3000, "right"),
    ("stream along a wall, c 20, pressure, inlet by links", "+z", "auto", "fp32", 2000, "right"),
    ("free stream, c 100, nonreflecting on three sides", "+x", "cumulant", "fp32", 3000, "right"),
    ("free stream, c 100, pressure on three sides", "+z", "auto", "fp32", 3000, "right"),
    ("duct, c 20, nonreflecting", "+z", "auto", "fp32", 6000, "right"),
    ("backward step, Re 200 (c 18.8), nonreflecting", "-y", "auto", "fp32", 15000, "right"),
    ("vortex, c 20, nonreflecting", "-x", "auto", "fp64", 8000, "right"),
    ("lid, square, c 20", "+x", "auto", "fp32", 4000, "right"),
    ("lid, square, c 100", "+x", "trt", "fp32", 4000, "told"),
    ("shear layers, Re 1000 (c 15.6), 64 cells", "+x", "auto", "fp32", 1300, "right"),
]


def sample():
    """Each is right or, where that is expected, warned of beforehand and stopped."""
    for name, along, operator, precision, steps, expected in SAMPLE:
        item = next(item for item in torture_cases.cases(steps) if item.name == name)
        row = judged(os.path.join(case.scratch(), "sample"), item, along, operator, precision)
        name = f"{name}, {along}, {operator}, {precision}"
        if expected == "told":
            case.at_least(f"{name}: warnings", len(row["warnings"]), 1)
            case.near(f"{name}: exit status", row["exit"], 3, 0)
            continue
        case.near(f"{name}: exit status", row["exit"], 0, 0)
        for what, (error, bound) in row.get("errors", {}).items():
            case.at_most(f"{name}: {what}", error, bound)
    case.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("list", "run", "table", "sample"))
    parser.add_argument("results", nargs="?")
    for option in "case", "operator", "precision", "along":
        parser.add_argument("--" + option, nargs="+")
    parser.add_argument("--into")
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.command == "sample":
        sample()
    elif arguments.command == "list":
        print("\n".join(item.name for item in torture_cases.cases() if arguments.results is None
                        or fnmatch.fnmatch(item.name, arguments.results)))
    elif arguments.results is None:
        parser.error("which file of results?")
    elif arguments.command == "run":
        run(arguments)
    else:
        section = table(read(arguments.results).values(), arguments.steps)
        if arguments.into:
            put_into(arguments.into, section)
        else:
            print(section)


if __name__ == "__main__":
    main()
