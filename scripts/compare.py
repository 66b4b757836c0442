#!/usr/bin/env python3
"""Says what became faster or slower from one `tagflow bench --json` file to another, beyond the spread.

    scripts/compare.py before.json after.json
    scripts/compare.py --bound 5 before.json after.json

Rows are the same if case, cells, collision, storage, arithmetic, ranks and threads are. Compared are the shares
of the ceiling, which was measured beside each repeat, so that the machine's mood cancels out; MLUPS where a file
has no shares, or with --by mlups. A row is faster or slower if the intervals from least to most of the two files
do not overlap and the medians differ by more than the bound.
"""
import argparse
import sys

from bench_file import name_of, number, read, rows_by_key
from command_line import Wrong, quoted

# What should be the same for a comparison to mean anything; shares of a ceiling survive some of it.
CIRCUMSTANCES = ("backend", "device", "processor", "isa", "cores", "compiler", "flags", "buildtype", "driver", "mpi", "hosts")
SHOWN = 40  # characters of a circumstance


def brief(value):
    text = quoted(value)
    return text if len(text) <= SHOWN else text[:SHOWN - 3] + "..."


def warnings(a, b):
    """What else differs, a line each."""
    for name in CIRCUMSTANCES:
        if a.get(name) != b.get(name):
            yield f"{name} differs: {brief(a.get(name))} before, {brief(b.get(name))} after"


def verdict(a, b, bound):
    """('faster', 'slower' or 'same', the change of the median in percent); a and b are {median, least, most}."""
    change = 100 * (b["median"] / a["median"] - 1)
    if change > bound and b["least"] > a["most"]:
        return "faster", change
    if change < -bound and b["most"] < a["least"]:
        return "slower", change
    return "same", change


def values_text(values, scale):
    return "%.4g (%.4g-%.4g)" % tuple(scale * values[key] for key in ("median", "least", "most"))


def compare_rows(a, b, by, bound):
    """One row of both files: (verdict, the rest of its line)."""
    for row, what in ((a, "before"), (b, "after")):
        if not row["verified"]:
            # Wrong results are no speed; that they were right before is worse than any percentage.
            said = "failed" if what == "after" and a["verified"] else "not compared"
            return said, f"not verified {what}: {brief(row.get('why', 'no reason given'))}"
    share = by != "mlups" and "share" in a and "share" in b and a["share"] and b["share"]
    if by == "share" and not share:
        return "not compared", "no share of a ceiling on both sides"
    name, scale, unit = ("share", 100, "% of ceiling") if share else ("mlups", 1, "MLUPS")
    said, change = verdict(a[name], b[name], bound)
    return said, f"{change:+6.1f} %  {values_text(a[name], scale)} -> {values_text(b[name], scale)} {unit}"


def compare(path_a, path_b, by, bound):
    """Prints the comparison; how many rows became slower or fail now."""
    a, b = read(path_a), read(path_b)
    rows_a, rows_b = rows_by_key(a, path_a), rows_by_key(b, path_b)
    common = [key for key in rows_a if key in rows_b]
    if not common:
        raise Wrong(f"{quoted(path_a)} and {quoted(path_b)} have no row in common "
                    "(case, cells, collision, storage, arithmetic, ranks and threads have to be the same)")
    for line in warnings(a, b):
        print(f"compare: warning: {line}", file=sys.stderr)
    count = {}
    width = max(len(name_of(a, rows_a[key])) for key in common)
    for key in common:
        said, text = compare_rows(rows_a[key], rows_b[key], by, bound)
        count[said] = count.get(said, 0) + 1
        print(f"{said:12s}  {name_of(a, rows_a[key]):{width}s}  {text}")
    for rows, others, bench, path in ((rows_a, rows_b, a, path_b), (rows_b, rows_a, b, path_a)):
        for key in rows:
            if key not in others:
                count["missing"] = count.get("missing", 0) + 1
                print(f"{'missing':12s}  {name_of(bench, rows[key])}: not in {quoted(path)}")
    order = ("faster", "slower", "same", "failed", "not compared", "missing")
    print("; ".join(f"{count[name]} {name}" for name in order if name in count))
    return count.get("slower", 0) + count.get("failed", 0)


def percent(text):
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not (number(value) or value == 0) or value >= 100:
        raise argparse.ArgumentTypeError(f"{quoted(text)!r} is not a percentage from 0 to below 100")
    return value


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Wrong(f"{' '.join(message.split())} (see --help)")


def main():
    parser = Parser(prog="compare.py", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__,
                    epilog="Exit status: 0 nothing became slower, 1 something did, or a row fails now that was right, "
                           "2 wrong usage or files.")
    parser.add_argument("before", metavar="A.json")
    parser.add_argument("after", metavar="B.json")
    parser.add_argument("--bound", metavar="PERCENT", type=percent, default=2.0,
                        help="medians that differ by no more are the same (default: 2)")
    parser.add_argument("--by", choices=("auto", "share", "mlups"), default="auto",
                        help="what is compared: the share of the ceiling, MLUPS, or the share where there is one (auto)")
    try:
        arguments = parser.parse_args()
        return 1 if compare(arguments.before, arguments.after, arguments.by, arguments.bound) else 0
    except Wrong as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
