#!/usr/bin/python3
"""Draws what `tagflow bench --json` measured beside what the memory allows.

    scripts/roofline.py bench.json [MORE.json...] [-o roofline.png]

A lattice update is a fixed number of bytes moved, so the roof is drawn over them: a point for each row at its
bytes per update and its rate (updates of fluid cells), the ceiling measured beside it as a bar from least to most,
and a line of the highest ceiling's GB/s. What lies below its bar is what the program loses; no operations are
counted, hence there is no roof of computing: a row that is bound by that lies low.
"""
import os
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy
except ImportError as error:
    print(f"roofline: needs Python's matplotlib and numpy ({error}): apt install python3-matplotlib", file=sys.stderr)
    sys.exit(1)

from bench_file import ceiling_of, cells_text, read, rock_text
from command_line import Parser, Wrong, check_output, ended, quoted
from tagflow.files import write_whole

MARKERS = "osD^vP*X<>hp"
COLUMN = 0.5  # width of the rows of one storage, in factors of two of bytes


def shown(text):
    """A name as matplotlib draws it: no formula, not endless."""
    text = quoted(text)
    text = text if len(text) <= 48 else text[:45] + "..."
    return text.replace("\\", "\\\\").replace("$", r"\$") if "$" in text else text


def marker_style(k):
    """Colours first, then shapes: ten by twelve before any repeats."""
    return {"color": f"C{k % 10}", "marker": MARKERS[k // 10 % len(MARKERS)]}


def labelled_rows(files):
    """[(label, storage, bytes, MFLUPS, ceiling or None)] of the verified rows; what is the same for all is not in the labels."""
    rows = [(k, bench, row) for k, (_, bench) in enumerate(files) for row in bench["rows"] if row["verified"]]
    sizes = {cells_text(row["cells"]) for _, _, row in rows}
    rocks = {rock_text(row) for _, _, row in rows if row["case"] == "rock"}
    arithmetics = {}
    for _, _, row in rows:
        arithmetics.setdefault(row["storage"], set()).add(row["arithmetic"])
    labels = []
    for k, bench, row in rows:
        words = [row["case"], *([rock_text(row)] if row["case"] == "rock" and len(rocks) > 1 else []), row["collision"]] + ([cells_text(row["cells"])] if len(sizes) > 1 else [])
        if len(arithmetics[row["storage"]]) > 1:
            words.append(f"in {row['arithmetic']}")
        if len(files) > 1:
            words.append(f"({os.path.splitext(os.path.basename(files[k][0]))[0]})")
        labels.append((" ".join(words), row["storage"], row["bytes_per_update"], row["mflups"], ceiling_of(row)))
    return labels, sizes


def draw_roof(axis, left, right, gbs):
    """The line of constant GB/s."""
    axis.plot([left, right], [1e3 * gbs / left, 1e3 * gbs / right], color="0.5", linewidth=1, linestyle="--", zorder=1)
    axis.annotate(f"{gbs:.4g} GB/s, the highest ceiling", (left, 1e3 * gbs / left), xytext=(14, 0), textcoords="offset points",
                  va="center", fontsize=8.5, color="0.35")


def draw(files):
    rows, sizes = labelled_rows(files)
    if not rows:
        raise Wrong("no row is verified: there is nothing to draw")
    names = list(dict.fromkeys(label for label, *_ in rows))
    across = sorted({bytes_ for _, _, bytes_, _, _ in rows})
    left, right = across[0] / 1.45, across[-1] * 1.45
    figure, axis = plt.subplots(figsize=(9.5, 5.6), layout="constrained")
    bandwidths = {}
    for bytes_ in across:
        here = [row for row in rows if row[2] == bytes_]
        # Rows of the same bytes stand side by side, in the order of the file.
        at = bytes_ * 2 ** (COLUMN * (numpy.arange(len(here)) - (len(here) - 1) / 2) / max(len(here), 4))
        half = 2 ** (0.35 * COLUMN / max(len(here), 4))
        for x, (label, storage, _, rate, ceiling) in zip(at, here):
            style = marker_style(names.index(label))
            if ceiling:
                axis.fill_between([x / half, x * half], ceiling["least"], ceiling["most"], color="0.82", linewidth=0, zorder=2)
                axis.plot([x / half, x * half], [ceiling["median"]] * 2, color="0.35", linewidth=1.4, zorder=3)
                bandwidths.setdefault(bytes_, []).append(ceiling["median"] * bytes_ * 1e-3)
            axis.errorbar([x], [rate["median"]], [[rate["median"] - rate["least"]], [rate["most"] - rate["median"]]],
                          markersize=6, capsize=2, elinewidth=1, linestyle="none", zorder=4, **style)
    if bandwidths:
        draw_roof(axis, left, right, max(max(values) for values in bandwidths.values()))
    axis.set(xscale="log", yscale="log", xlim=(left, right), xlabel="bytes moved per lattice update, by the stated model",
             ylabel="million updates of fluid cells a second")
    storages = {bytes_: sorted({storage for _, storage, b, _, _ in rows if b == bytes_}) for bytes_ in across}
    ceilings = {key: f"\nceiling {numpy.median(values):.4g} GB/s" for key, values in bandwidths.items()}
    axis.set_xticks(across, [f"{bytes_:g}\n{shown(', '.join(storages[bytes_]))}{ceilings.get(bytes_, '')}" for bytes_ in across])
    axis.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    for ticks in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
        ticks(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_locator(matplotlib.ticker.LogLocator(subs=(2, 3, 5)))
    axis.grid(which="both", color="0.92", linewidth=0.6)
    axis.set_axisbelow(True)
    handles = [matplotlib.lines.Line2D([], [], linestyle="none", markersize=6, **marker_style(k)) for k in range(len(names))]
    handles.append(matplotlib.lines.Line2D([], [], color="0.35", linewidth=1.4))
    axis.legend(handles, [shown(name) for name in names] + ["ceiling of that row, least to most"], loc="center left",
                bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5)
    axis.set_title(title(files, sizes), fontsize=10)
    return figure, len(rows)


def title(files, sizes):
    """What it was measured on, a line for each file while there is room."""
    lines = []
    for path, bench in files[:4]:
        name = f"{os.path.basename(path)}: " if len(files) > 1 else ""
        words = [str(bench.get("processor") or "") if bench.get("backend") == "cpu" else "", str(bench.get("device") or ""),
                 f"{bench['ranks']} ranks" if bench["ranks"] > 1 else ""]
        lines.append(name + ", ".join(shown(word) for word in words if word))
    if len(files) > 4:
        lines.append(f"and {len(files) - 4} more")
    if len(sizes) == 1:
        lines[-1] += f"; {next(iter(sizes))} cells"
    return "\n".join(lines)


def roofline(arguments):
    files = [(path, read(path)) for path in arguments.files]
    output = arguments.output
    check_output(output, (".png", ".pdf", ".svg"))
    figure, drawn = draw(files)
    write_whole(output, lambda name: figure.savefig(name, format=os.path.splitext(output)[1][1:], dpi=110))
    left_out = sum(not row["verified"] for _, bench in files for row in bench["rows"])
    print(f"{quoted(output)}: {drawn} rows" + (f"; {left_out} not verified, left out" if left_out else ""))


def main():
    parser = Parser("roofline.py", __doc__, "files")
    parser.add_argument("files", metavar="FILE.json", nargs="+", help="what tagflow bench --json wrote")
    parser.add_argument("-o", "--output", metavar="FILE.png", default="roofline.png",
                        help="the picture, .png, .pdf or .svg (default: roofline.png)")
    return ended("roofline", "picture", lambda: roofline(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
