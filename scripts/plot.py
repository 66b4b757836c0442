#!/usr/bin/python3
"""Draws series of runs: a panel for every column, several files in the same panels.

    scripts/plot.py RUN/series/flow.csv                         writes flow.png here
    scripts/plot.py --columns mass,kinetic_energy a/series/flow.csv b/series/flow.csv --output both.png
    scripts/plot.py RUN/series/wake.csv --step 0,5000,10000     profiles along a line, at these steps
    scripts/plot.py RUN/series/drag.csv --from 20               and statistics of the rows from time 20 on

Series of kind `line` are drawn over the distance along the line, those of kind `surface` over the angle, at the last step
unless others are asked for. A file that
is still being written can be drawn. Units are those of the run: the case.yaml of its folder says whether it has any.

With --from the statistics of each column are printed, and its mean is drawn: mean, extremes, rms (root of the mean square),
deviation (the same of the difference from the mean), and of the dominant oscillation frequency and amplitude, as in
report.json (docs/formats.md says by what method). Strouhal numbers need the length and velocity of a series of forces.
"""
import argparse
import difflib
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

# Units of columns in a run with units; the first pattern that fits a whole name counts.
UNITS = [
    (r"time", "s"),
    (r"distance|[xyz]", "m"),
    (r"angle", "°"),
    (r"shear(_[xyz])?", "Pa"),
    (r"mass", "kg"),
    (r"kinetic_energy", "J"),
    (r"enstrophy", "m³/s²"),
    (r"(max_|mean_)?(velocity|speed)(_[xyz])?", "m/s"),
    (r"density", "kg/m³"),
    (r"(mean_)?pressure", "Pa"),
    (r"vorticity(_[xyz])?", "1/s"),
    (r"volume_flow", "m³/s"),
    (r"mass_flow", "kg/s"),
    (r"area|permeability", "m²"),
    (r"force(_[xyz])?", "N"),
    (r"torque(_[xyz])?", "N m"),
]
# What tells the rows apart and is not drawn for itself.
ROW = ("step", "time")
PLACE = ("distance", "angle", "x", "y", "z")
# Up to so many lines have an entry each in the legend, up to so many rows a dot each.
ENTRIES, DOTS = 12, 40
# matplotlib computes squares and differences, which must not overflow; a flow that diverges gets there.
LARGEST = 1e150
DASHES = ("-", "--", ":", "-.")


def step_color(part):
    """Colours from the first step (0) to the last (1); the map's palest end would not be seen on white."""
    return plt.get_cmap("viridis")(0.92 * numpy.asarray(part))


class Wrong(Exception):
    """The user's mistake, in one line."""


def quoted(path):
    """A name as one line of text, whatever is in it."""
    return path if path.isprintable() else ascii(path)


def shown(name):
    """A name as matplotlib draws it: no formula, and not hidden for its first letter."""
    name = quoted(name).replace("\\", "\\\\") if "$" in name else quoted(name)
    name = name if len(name) <= 60 else name[:28] + " … " + name[-28:]
    return (" " if name.startswith("_") else "") + name.replace("$", r"\$")


class Series:
    """One CSV file."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            raise Wrong(f"{quoted(path)}: {os.strerror(error.errno)}") from None
        except UnicodeDecodeError:
            raise Wrong(f"{quoted(path)} is no CSV file") from None
        # A line that a running job has not ended yet is left out.
        lines = text[:text.rfind("\n") + 1].splitlines()
        if not lines:
            raise Wrong(f"{quoted(path)} is empty")
        self.columns = lines[0].split(",")
        if self.columns[:2] != ["step", "time"] or len(set(self.columns)) < len(self.columns):
            raise Wrong(f"{quoted(path)} is no series of tagflow: its header is not step,time,...")
        if len(lines) == 1:
            raise Wrong(f"{quoted(path)} has no rows yet")
        self.values = self._numbers(lines[1:])
        self.along = next((name for name in ("distance", "angle") if name in self.columns), None)
        self.along_line = self.along is not None
        self.drawn = [name for name in self.columns if name not in ROW + (PLACE if self.along_line else ())]
        if not self.drawn:
            raise Wrong(f"{quoted(path)} has no columns but {', '.join(self.columns)}")
        self.physical = self._has_units()

    def _numbers(self, lines):
        try:
            values = numpy.loadtxt(lines, delimiter=",", ndmin=2, comments=None)
            if values.shape[1] == len(self.columns):
                return values
        except ValueError:
            pass
        # It is not as it should be: find the place.
        for number, line in enumerate(lines, 2):
            fields = line.split(",")
            if len(fields) != len(self.columns):
                raise Wrong(f"{quoted(self.path)}:{number}: {len(fields)} values, not {len(self.columns)}")
            for name, field in zip(self.columns, fields):
                try:
                    float(field)
                except ValueError:
                    raise Wrong(f"{quoted(self.path)}:{number}: {name}: {field[:40]!r} is no number") from None
        raise Wrong(f"{quoted(self.path)} is no table of numbers")

    def _has_units(self):
        """Does the run have units? None: its case is not there to say so."""
        folder = os.path.dirname(os.path.abspath(self.path))
        for place in (os.path.dirname(folder), folder):
            try:
                with open(os.path.join(place, "case.yaml"), encoding="utf-8") as file:
                    return re.search(r"^units *:", file.read(), re.M) is not None
            except (OSError, UnicodeDecodeError):
                pass
        return None

    def column(self, name):
        return self.values[:, self.columns.index(name)]

    def scales(self):
        """(length / velocity in steps, time of a step) of a series of forces, by its case; None: not known."""
        folder = os.path.dirname(os.path.dirname(os.path.abspath(self.path)))
        try:
            with open(os.path.join(folder, "case.yaml"), encoding="utf-8") as file:
                case = file.read()
        except (OSError, UnicodeDecodeError):
            return None
        entry = re.search(rf"^    {re.escape(self.stem())}: {{every: \d+, of: forces,.*}}$", case, re.M)
        length, velocity = (re.search(rf", {name}: ([^,}}]+)", entry[0]) if entry else None for name in ("length", "velocity"))
        step = re.search(r"^units:\n.*\n  dt: (\S+) s$", case, re.M)
        return (float(length[1]) / float(velocity[1]), float(step[1]) if step else 1) if length and velocity else None

    def run(self):
        """The name of the run's folder."""
        folder = os.path.dirname(os.path.abspath(self.path))
        return os.path.basename(os.path.dirname(folder) if os.path.basename(folder) == "series" else folder)

    def stem(self):
        return os.path.splitext(os.path.basename(self.path))[0]


def names_of(files):
    """A short name for each file that tells it from the others."""
    runs, stems = [file.run() for file in files], [file.stem() for file in files]
    both = [f"{run}: {stem}" for run, stem in zip(runs, stems)]
    for names, enough in ((runs, len(set(stems)) == 1), (stems, len(set(runs)) == 1), (both, True)):
        if enough and len(set(names)) == len(files):
            return names
    return [file.path for file in files]


def label(name, physical):
    """A column's name with its unit; physical: True, False or None, not known."""
    text = shown(name.replace("_", " "))
    if name == "step" or not physical:
        return text
    unit = next((unit for pattern, unit in UNITS if re.fullmatch(pattern, name)), None)
    return f"{text} [{unit}]" if unit else text


class Line:
    """Some rows of a file (of one step, if it is a series along a line), and how they are drawn."""

    def __init__(self, file, file_name, color, dashes, step=None):
        self.file, self.file_name, self.color, self.dashes, self.step = file, file_name, color, dashes, step
        self.rows = slice(None) if step is None else file.column("step") == step
        self.name = file_name if step is None else ", ".join([file_name] * (file_name != "") + [f"step {step:.0f}"])


def series_lines(files):
    return [Line(file, name, f"C{k % 10}", DASHES[k // 10 % 4])
            for k, (file, name) in enumerate(zip(files, names_of(files)))]


def steps_to_draw(file, wanted):
    """The steps of a file among those asked for: None is the last, "all" are all."""
    steps = numpy.unique(file.column("step"))
    if not numpy.isfinite(steps).all():
        raise Wrong(f"{quoted(file.path)}: a step is not a number")
    if wanted is None:
        return steps[-1:]
    if wanted == "all":
        return steps
    for step in wanted:
        if step not in steps:
            nearest = steps[numpy.argmin(numpy.abs(steps - step))]
            raise Wrong(f"{quoted(file.path)} has no step {step}; the nearest is {nearest:.0f}")
    return numpy.array(wanted, dtype=float)


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


def draw_panel(axis, lines, x, column, log):
    """One column of all files that have it; says what of it cannot be drawn."""
    lost, low, drawn, least, high, large = 0, 0, 0, math.inf, 0, False
    for line in lines:
        if column not in line.file.columns:
            continue
        at, values = (line.file.column(name)[line.rows] for name in (x, column))
        bad = ~((abs(values) < LARGEST) & (abs(at) < LARGEST))  # nan is not below anything either
        large |= (bad & numpy.isfinite(values) & numpy.isfinite(at)).any()
        below = ~bad & (values <= 0) if log else numpy.zeros_like(bad)
        lost, low, drawn = lost + bad.sum(), low + below.sum(), drawn + (~bad & ~below).sum()
        least = min(least, values[~bad & ~below].min(initial=math.inf))
        high = max(high, values[~bad & ~below].max(initial=0))
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


def draw(lines, x, columns, physical, log, title):
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
        draw_panel(axis, lines, x, column, log)
        axis.set_ylabel(label(column, physical))
        axis.tick_params(labelbottom=False)
    for axis in axes[len(columns):]:
        axis.remove()
    # The lowest panel of every column of panels carries the numbers of the shared axis.
    for axis in {axes[min(k + down, len(columns)) - 1] for k in range(0, down * across, down)}:
        axis.tick_params(labelbottom=True)
        axis.set_xlabel(label(x, physical))
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


def statistics(values, interval):
    """{name: number} of values at equal intervals; as in src/io/statistics.c."""
    count = len(values)
    found = dict.fromkeys(("mean", "min", "max", "rms", "deviation", "frequency", "amplitude"), math.nan)
    if not (abs(values) < LARGEST).all():
        return found
    mean = values.mean()
    found |= {"mean": mean, "min": values.min(), "max": values.max(), "rms": math.sqrt((values**2).mean()), "deviation": values.std()}
    if count < 8 or found["max"] == found["min"]:
        return found
    size = 4
    while size < 4 * count:
        size *= 2
    window = 0.5 - 0.5 * numpy.cos(2 * math.pi * (numpy.arange(count) + 0.5) / count)
    height = abs(numpy.fft.rfft(window * (values - mean), size))
    peak = 1 + int(numpy.argmax(height[1:size // 2]))
    if height[peak - 1:peak + 2].min() <= 0:
        return found
    left, middle, right = numpy.log(height[peak - 1:peak + 2])
    bend = left - 2 * middle + right
    at = 0.5 * (left - right) / bend if bend < 0 else 0
    if (peak + at) * count >= 2 * size:  # at least two periods
        found["frequency"] = (peak + at) / size / interval
        found["amplitude"] = 2 * math.exp(middle - 0.25 * (left - right) * at) / window.sum()
    return found


def rows_from(file, x, begin):
    """The rows of a file from there on, as far as they are evenly spaced: the last one of a run that ended early is not."""
    step = file.column("step")
    rows = numpy.flatnonzero(file.column(x) >= begin)
    if len(rows) > 2:
        apart = numpy.diff(step[rows])
        if apart[-1] != apart[-2]:
            rows, apart = rows[:-1], apart[:-1]
        gaps = numpy.flatnonzero(apart != apart[-1])
        rows = rows[gaps[-1] + 1:] if len(gaps) else rows
    if not len(rows):
        raise Wrong(f"{quoted(file.path)} has no rows from {x} {begin:g} on")
    return rows


def tell_statistics(lines, x, columns, begin, axes):
    """Prints them and draws means."""
    for line in lines:
        file, rows = line.file, rows_from(line.file, x, begin)
        at, scales = file.column(x)[rows], file.scales()
        print(f"{quoted(file.path)}: {len(rows)} rows, {x} {at[0]:.10g} to {at[-1]:.10g}")
        interval = (at[-1] - at[0]) / max(len(rows) - 1, 1)
        for column, axis in zip(columns, axes):
            if column not in file.columns:
                continue
            found = statistics(file.column(column)[rows], interval)
            if scales and not math.isnan(found["frequency"]):
                found["strouhal"] = found["frequency"] * scales[0] * (scales[1] if x == "time" else 1)
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
            near = difflib.get_close_matches(name, there, 1)
            hint = f" (did you mean {near[0]}?)" if near else f"; there are {', '.join(there)}"
            raise Wrong(f"no column {quoted(name)!r}{hint}")
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
    if files[0].along_line:
        if arguments.x:
            raise Wrong(f"--x has no effect on series along lines and surfaces: they are drawn over the {files[0].along}")
        if arguments.begin is not None:
            raise Wrong("--from has no effect on series along lines")
        x, lines = files[0].along, line_lines(files, arguments.step)
    else:
        if arguments.step is not None:
            raise Wrong("--step has no effect here: this is no series along a line")
        x, lines = arguments.x or ("time" if physical else "step"), series_lines(files)
    output = arguments.output or files[0].stem() + ".png"
    ending = os.path.splitext(output)[1]
    if ending not in (".png", ".pdf", ".svg"):
        raise Wrong(f"--output {quoted(output)}: its name must end in .png, .pdf or .svg")
    if os.path.isdir(output) or not os.path.isdir(os.path.dirname(output) or "."):
        raise Wrong(f"--output {quoted(output)}: " + ("is a folder" if os.path.isdir(output) else "there is no such folder"))
    stems = list(dict.fromkeys(file.stem() for file in files))
    title = f"{files[0].run()}: {files[0].stem()}" if len(files) == 1 else ", ".join(stems)
    if files[0].along_line and len(lines) == 1:
        title += ", " + lines[0].name
    figure, axes = draw(lines, x, columns, physical, arguments.log, title)
    if arguments.begin is not None:
        tell_statistics(lines, x, columns, arguments.begin, axes)
    temporary = output + ".tmp"
    try:
        figure.savefig(temporary, format=ending[1:], dpi=110)
        os.rename(temporary, output)
    finally:
        if os.path.lexists(temporary):
            os.remove(temporary)
    print(f"{quoted(output)}: {', '.join(columns)} over {x}, {len(lines)} {'line' if len(lines) == 1 else 'lines'} a panel")


def step_list(text):
    if text == "all":
        return text
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither whole numbers with commas between nor all")
    return sorted({int(word) for word in text.split(",")})


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Wrong(f"{' '.join(message.split())} (see --help)")


def main():
    parser = Parser(prog="plot.py", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__,
                    epilog="Exit status: 0 done, 1 the machine failed, 2 wrong usage or a file that cannot be drawn.")
    parser.add_argument("files", metavar="FILE.csv", nargs="+", help="series of runs")
    parser.add_argument("--columns", metavar="A,B,...", help="these columns, in this order; all unless given")
    parser.add_argument("--x", choices=("step", "time"),
                        help="along the lower axis: step, or time, which is what runs with units have")
    parser.add_argument("--step", metavar="N,...", type=step_list,
                        help="series along lines: these steps, or all; the last unless given")
    parser.add_argument("--from", metavar="X", type=float, dest="begin",
                        help="statistics of the rows from this step on, or this time where the lower axis is time")
    parser.add_argument("--log", action="store_true",
                        help="logarithmic axes of the values, where they differ by a factor of 2 or more")
    parser.add_argument("--output", metavar="FILE.png",
                        help="the picture, .png, .pdf or .svg; <name of the first file>.png here unless given")
    # Letters that the fonts lack are drawn as boxes; that need not be said.
    warnings.filterwarnings("ignore", message="Glyph .* missing")
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="matplotlib")
    try:
        plot(parser.parse_args())
    except Wrong as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or error or "out of memory"
        print(f"plot: cannot write the picture: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
