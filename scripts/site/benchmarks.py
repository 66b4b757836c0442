#!/usr/bin/python3
"""Makes docs/benchmarks.md from the files of benchmarks/, which `tagflow bench --json` and scripts/gpu_suite.sh wrote.

    scripts/site/benchmarks.py [--check]      --check writes nothing and ends with status 2 if the page differs
"""
import glob
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from bench_file import ceiling_of, cells_text, checked, load, precision_text
from command_line import Parser, Wrong, ended
from tagflow.files import write_text

PAGE = os.path.join(ROOT, "docs", "benchmarks.md")
FOLDER = os.path.join(ROOT, "benchmarks")
HEAD = """\
# All measurements

<!-- scripts/site/benchmarks.py made this page. Do not edit it. -->

Each file of `benchmarks/` as a table. [How fast](performance.md) says what the rates mean and what limits them.

- rate: millions of lattice updates a second, over all cells and ranks: the median of the repeats, and the least and the most
- ceiling: how many an in-place update of 19 streams reached in the same memory, measured in turn with the rate; on a GPU a copy
- share: the median of rate / ceiling
- memory: bytes that the backend holds for a cell of the box

## Add a measurement

```
tagflow bench --cells 256 --case periodic,cavity --collision bgk,trt,rr --seconds 1 --json benchmarks/MACHINE.json
scripts/site/benchmarks.py
```

Run it on an otherwise idle machine; the file has the program's commit, the processor, the compiler and every repeat. Name the machine
so that others know it (`zen5_2ranks.json`). For a GPU, `scripts/gpu_suite.sh` measures rates and more ([GPUs](gpu.md)).
Then send file and page as a change ([Changing tagflow](../CONTRIBUTING.md)). Files that are there stay as they were measured.
"""


def bench_of(path):
    """The object that `tagflow bench` wrote, or that a stage of the suite has; None: the suite measured no rates."""
    found = load(path)
    if "stages" not in found:
        return checked(found, path)
    speed = found["stages"].get("speed")
    if not isinstance(speed, dict) or not speed.get("rows"):
        return None
    facts = {"rows": speed["rows"], "driver": found.get("driver"), "device": found.get("device"), "command": "scripts/gpu_suite.sh # stage speed"}
    return checked(speed["bench"] | facts, path)


def machine(bench):
    if bench["backend"] == "cuda":
        return f"{bench['device']}, driver {bench['driver']}"
    ranks, threads = (f"{bench[name]} {name[:-1]}{'s' if bench[name] != 1 else ''}" for name in ("ranks", "threads"))
    return f"{bench['processor']}, {bench['isa']}, {ranks}, {threads} each, {bench['mpi']}"


def line(row):
    cells = [row["case"], cells_text(row.get("cells")), row.get("collision", ""), precision_text(row)]
    if not row["verified"]:
        return "| " + " | ".join(cells) + " | not verified | | | |"
    rate, ceiling, share = row["mlups"], ceiling_of(row), row.get("share")
    cells += [f"{rate['median']:.0f} ({rate['least']:.0f} to {rate['most']:.0f})", f"{ceiling['median']:.0f}" if ceiling else "-",
              f"{100 * share['median']:.0f} %" if share else "-", f"{row['bytes_per_cell']:.1f}" if row.get("bytes_per_cell") else "-"]
    return "| " + " | ".join(cells) + " |"


def section(path):
    bench = bench_of(path)
    if bench is None:
        return None
    head = (f"## {os.path.basename(path)}\n\n{machine(bench)}; {bench['compiler']}, {bench['buildtype']} build; commit {bench['commit']}, "
            f"{bench['time'][:10]}:\n\n```\n{bench['command']}\n```\n\n"
            "| case | cells | operator | storage | rate, MLUPS | ceiling | share | memory, B |\n|---|---|---|---|---|---|---|---|\n")
    return head + "\n".join(map(line, bench["rows"])) + "\n"


def page():
    paths = sorted(glob.glob(os.path.join(FOLDER, "*.json")))
    if not paths:
        raise Wrong("benchmarks/ has no file")
    return "\n".join([HEAD] + [text for text in map(section, paths) if text])


def main():
    parser = Parser("benchmarks.py", __doc__, "page")
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 2 if the page differs")

    def work():
        options = parser.parse_args()
        text = page()
        if options.check:
            with open(PAGE, encoding="utf-8") as file:
                if file.read() != text:
                    raise Wrong("docs/benchmarks.md differs from the files of benchmarks/: run scripts/site/benchmarks.py")
            return
        write_text(PAGE, text)
        print("docs/benchmarks.md")

    return ended("benchmarks", "page", work)


if __name__ == "__main__":
    sys.exit(main())
