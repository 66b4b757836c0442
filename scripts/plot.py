#!/usr/bin/python3
"""Draws series of runs: a panel for every column, several files in the same panels.

    scripts/plot.py RUN/series/flow.csv                         writes flow.png here
    scripts/plot.py --columns mass,kinetic_energy a/series/flow.csv b/series/flow.csv --output both.png
    scripts/plot.py RUN/series/wake.csv --step 0,5000,10000     profiles along a line, at these steps
    scripts/plot.py RUN/series/drag.csv --begin "20 s"          and statistics of the rows from time 20 s on

Series of kind `line` are drawn over the distance along the line, those of kind `surface` over the angle, at the last step
unless others are asked for. A file that is still being written can be drawn. Units are those of the run: the case.yaml of
its folder says whether it has any.

If the start of a run goes far beyond all later values, the axis shows the range of the later values, and the panel says so.
--whole shows everything.

With --begin the statistics of each column are printed, and its mean is drawn: mean, extremes, rms (root of the mean square),
deviation (the same of the difference from the mean), and of the dominant oscillation frequency and amplitude, as in
report.json (docs/formats.md says by what method). Strouhal numbers need the length and velocity of a series of forces.
"""
import argparse
import math
import os
import re
import sys
import warnings

try:
    import matplotlib
    import numpy

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError as error:
    print(f"plot: needs Python's matplotlib and numpy ({error}): apt install python3-matplotlib", file=sys.stderr)
    sys.exit(1)

from command_line import Parser, Wrong, check_output, ended, quoted
from tagflow.errors import no_name
from tagflow.files import write_whole
from tagflow.series import LARGEST, Series, range_without_start, shared_unit

# Up to so many lines have an entry each in the legend, up to so many rows a dot each.
ENTRIES, DOTS = 12, 40
DASHES = ("-", "--", ":", "-.")


def step_color(part):
    """Colours from the first step (0) to the last (1); the map's palest end would not be seen on white."""
    return plt.get_cmap("viridis")(0.92 * numpy.asarray(part))


def shown(name):
    """A name as matplotlib draws it: no formula, and not hidden for its first letter."""
    name = quoted(name).replace("\\", "\\\\") if "$" in name else quoted(name)
    name = name if len(name) <= 60 else name[:28] + " … " + name[-28:]
    return (" " if name.startswith("_") else "") + name.replace("$", r"\$")


def names_of(files):
    """A short name for each file that tells it from the others."""
    runs, stems = [file.run_name for file in files], [file.name for file in files]
    both = [f"{run}: {stem}" for run, stem in zip(runs, stems)]
    for names, enough in ((runs, len(set(stems)) == 1), (stems, len(set(runs)) == 1), (both, True)):
        if enough and len(set(names)) == len(files):
            return names
    return [file.path for file in files]


def label(name, lines):
    """A column's name with its unit, if it is the same in all files."""
    text, unit = shown(name.replace("_", " ")), shared_unit([line.file for line in lines], name)
    return f"{text} [{unit}]" if unit else text


class Line:
    """Some rows of a file (of one step, if it is a series along a line), and how they are drawn."""

    def __init__(self, file, file_name, color, dashes, step=None):
        self.file, self.file_name, self.color, self.dashes, self.step = file, file_name, color, dashes, step
        self.rows = slice(None) if step is None else file["step"] == step
        self.name = file_name if step is None else ", ".join([file_name] * (file_name != "") + [f"step {step:.0f}"])


def series_lines(files):
    return [Line(file, name, f"C{k % 10}", DASHES[k // 10 % 4])
            for k, (file, name) in enumerate(zip(files, names_of(files)))]


def steps_to_draw(file, wanted):
    """The steps of a file among those asked for: None is the last, "all" are all."""
    if wanted is None:
        return file.steps[-1:]
    if wanted == "all":
        return file.steps
    for step in wanted:
        file.rows_at(step)  # it has to be there
    return numpy.array(wanted)


def line_lines(files, wanted):
    """A line for each file and step, coloured by file, or by step if there are several."""
    names = names_of(files) if len(files) > 1 else [""]
    steps = [steps_to_draw(file, wanted) for file in files]
    every = numpy.unique(numpy.concatenate(steps))
    several = max(map(len, steps)) > 1
    # Colours by the step's value, so that they mean the same as those of the scale.
    span = max(every[-1] - every[0], 1)
    lines = []
    for k, (file, name) in enumerate(zip(files, names)):
        for step in steps[k]:
            color = step_color((step - every[0]) / span) if several else f"C{k % 10}"
            lines.append(Line(file, name, color, DASHES[k % 4] if several else "-", step))
    return lines


def draw_panel(axis, lines, x, column, log, whole):
    """One column of all files that have it; says what of it cannot be drawn."""
    lost, low, drawn, least, high, large = 0, 0, 0, math.inf, 0, False
    curves = []
    for line in lines:
        if column not in line.file.columns:
            continue
        at, values = (line.file[name][line.rows] for name in (x, column))
        bad = ~((abs(values) < LARGEST) & (abs(at) < LARGEST))  # nan is not below anything either
        large |= (bad & numpy.isfinite(values) & numpy.isfinite(at)).any()
        below = ~bad & (values <= 0) if log else numpy.zeros_like(bad)
        lost, low, drawn = lost + bad.sum(), low + below.sum(), drawn + (~bad & ~below).sum()
        least = min(least, values[~bad & ~below].min(initial=math.inf))
        high = max(high, values[~bad & ~below].max(initial=0))
        curves.append(values[~bad & ~below])
        axis.plot(at, numpy.where(bad | below, numpy.nan, values), color=line.color, linestyle=line.dashes, linewidth=1.3,
                  marker="o" if len(at) <= DOTS else None, markersize=3)
        # Between gaps a single row would not be seen as a line.
        good = numpy.concatenate([[False], ~bad & ~below, [False]])
        alone = good[1:-1] & ~good[:-2] & ~good[2:]
        if len(at) > DOTS and alone.any():
            axis.plot(at[alone], values[alone], "o", color=line.color, markersize=3)
    said = []
    if lost:
        said.append(f"{lost} not finite" + (" or too large" if large else ""))
    if low:
        said.append(f"{low} not above 0")
    if drawn == 0:
        axis.set(yticks=[])
        said.insert(0, "nothing to draw")
    elif log and high >= 2 * least:
        axis.set_yscale("log")
    elif not whole and x in ("step", "time") and (later := range_without_start(curves)):
        axis.set_ylim(*later)
        said.append("scaled by the later values: the start is beyond the frame")
    if said:
        axis.text(0.99, 0.96, ", ".join(said), transform=axis.transAxes, ha="right", va="top", fontsize=8, color="0.4")
    axis.grid(color="0.9", linewidth=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def legend_of(lines):
    """Entries (name, colour, dashes) of the legend, and a scale of colours for the steps or None."""
    steps = sorted({line.step for line in lines if line.step is not None})
    if len(lines) == 1:
        return [], None
    if len(steps) < 2 or len(lines) <= ENTRIES:
        return [(line.name, line.color, line.dashes) for line in lines], None
    files = {line.file: (line.file_name, "0.3", line.dashes) for line in lines}
    scale = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(steps[0], steps[-1]),
                                         matplotlib.colors.ListedColormap(step_color(numpy.linspace(0, 1, 256))))
    return list(files.values()) if len(files) > 1 else [], scale


def draw(lines, x, columns, physical, log, title, whole):
    """The figure, and the panel of each column."""
    across = 1 if len(columns) <= 3 else 2
    down = math.ceil(len(columns) / across)
    width = 8 if across == 1 else 12
    entries, scale = legend_of(lines)
    longest = max((len(shown(name)) for name, _, _ in entries), default=0)
    entries_across = max(1, min(len(entries), int(width / (0.6 + 0.085 * longest))))
    head = 0.4 + (0.22 * math.ceil(len(entries) / entries_across) + 0.1 if entries else 0)
    height = head + 0.5 + (2.6 if down < 3 else 2.1) * down
    figure, axes = plt.subplots(down, across, sharex=True, squeeze=False, figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - head / height), h_pad=0.06, w_pad=0.08)
    axes = axes.T.ravel()
    for axis, column in zip(axes, columns):
        draw_panel(axis, lines, x, column, log, whole)
        axis.set_ylabel(label(column, lines))
        axis.tick_params(labelbottom=False)
    for axis in axes[len(columns):]:
        axis.remove()
    # The lowest panel of every column of panels carries the numbers of the shared axis.
    for axis in {axes[min(k + down, len(columns)) - 1] for k in range(0, down * across, down)}:
        axis.tick_params(labelbottom=True)
        axis.set_xlabel(label(x, lines))
    axes[0].margins(x=0.02)
    figure.suptitle(shown(title) + ("" if physical is not False else "   (lattice units)"), fontsize=11, y=1 - 0.1 / height)
    figure.align_ylabels(axes[:len(columns)])
    if entries:
        handles = [matplotlib.lines.Line2D([], [], color=color, linestyle=dashes) for _, color, dashes in entries]
        figure.legend(handles, [shown(name) for name, _, _ in entries], loc="upper center", ncol=entries_across,
                      frameon=False, bbox_to_anchor=(0.5, 1 - 0.34 / height), fontsize=9, borderaxespad=0)
    if scale:
        figure.colorbar(scale, ax=list(axes[:len(columns)]), label="step", aspect=40, pad=0.02)
    return figure, axes[:len(columns)]


def tell_statistics(lines, x, columns, begin, axes):
    """Prints them and draws means."""
    for line in lines:
        file = line.file
        at = file[x][file.rows_from(begin)]
        print(f"{quoted(file.path)}: {len(at)} rows, {x} {at[0]:.10g} to {at[-1]:.10g}")
        for column, axis in zip(columns, axes):
            if column not in file.columns:
                continue
            found = file.statistics(column, begin, x)
            known = [f"{name} {value:.9g}" for name, value in found.items() if not math.isnan(value)]
            print(f"  {column}: {', '.join(known) or 'not finite, or too large'}")
            if abs(found["mean"]) < LARGEST:
                axis.plot(at[[0, -1]], [found["mean"]] * 2, color=line.color, linestyle=":", linewidth=1)


def choose_columns(files, wanted):
    there = list(dict.fromkeys(name for file in files for name in file.drawn))
    if wanted is None:
        return there
    columns = list(dict.fromkeys(name.strip() for name in wanted.split(",")))
    for name in columns:
        if name not in there:
            raise Wrong(no_name("column", name, there))
    return columns


def plot(arguments):
    files = [Series(path) for path in arguments.files]
    if len({file.along for file in files}) > 1:
        raise Wrong("series along lines, around surfaces and others cannot be in one picture")
    kinds = {file.physical for file in files}
    if {True, False} <= kinds:
        some, other = (next(file for file in files if file.physical is kind) for kind in (True, False))
        raise Wrong(f"{quoted(some.path)} is in physical units, {quoted(other.path)} in lattice units")
    physical = kinds.pop() if len(kinds) == 1 else None
    columns = choose_columns(files, arguments.columns)
    if files[0].along:
        if arguments.x:
            raise Wrong(f"--x has no effect on series along lines and surfaces: they are drawn over the {files[0].along}")
        if arguments.begin is not None:
            raise Wrong("--begin has no effect on series along lines")
        x, lines = files[0].along, line_lines(files, arguments.step)
    else:
        if arguments.step is not None:
            raise Wrong("--step has no effect here: this is no series along a line")
        x, lines = arguments.x or ("time" if physical else "step"), series_lines(files)
    output = arguments.output or files[0].name + ".png"
    check_output(output, (".png", ".pdf", ".svg"))
    stems = list(dict.fromkeys(file.name for file in files))
    title = f"{files[0].run_name}: {files[0].name}" if len(files) == 1 else ", ".join(stems)
    if files[0].along and len(lines) == 1:
        title += ", " + lines[0].name
    figure, axes = draw(lines, x, columns, physical, arguments.log, title, arguments.whole)
    if arguments.begin is not None:
        tell_statistics(lines, x, columns, arguments.begin, axes)
    write_whole(output, lambda path: figure.savefig(path, format=os.path.splitext(output)[1][1:], dpi=110))
    print(f"{quoted(output)}: {', '.join(columns)} over {x}, {len(lines)} {'line' if len(lines) == 1 else 'lines'} a panel")


def step_list(text):
    if text == "all":
        return text
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither whole numbers with commas between nor all")
    return sorted({int(word) for word in text.split(",")})


def main():
    parser = Parser("plot.py", __doc__, "a file that cannot be drawn")
    parser.add_argument("files", metavar="FILE.csv", nargs="+", help="series of runs")
    parser.add_argument("--columns", metavar="A,B,...", help="these columns, in this order; all unless given")
    parser.add_argument("--x", choices=("step", "time"),
                        help="along the lower axis: step, or time, which is what runs with units have")
    parser.add_argument("--step", metavar="N,...", type=step_list,
                        help="series along lines: these steps, or all; the last unless given")
    parser.add_argument("--begin", metavar="X",
                        help="statistics of the rows from here on: a step, or a time with a unit, such as \"20 s\"")
    parser.add_argument("--log", action="store_true",
                        help="logarithmic axes of the values, where they differ by a factor of 2 or more")
    parser.add_argument("--whole", action="store_true", help="show the start, too, if it goes far beyond the later values")
    parser.add_argument("--output", metavar="FILE.png",
                        help="the picture, .png, .pdf or .svg; <name of the first file>.png here unless given")
    # Letters that the fonts lack are drawn as boxes; that need not be said.
    warnings.filterwarnings("ignore", message="Glyph .* missing")
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="matplotlib")
    return ended("plot", "picture", lambda: plot(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
