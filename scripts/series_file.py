"""Series of a run, read and checked, for the scripts beside this one: columns, their units, statistics of rows."""
import math
import os
import re

import numpy

from command_line import Wrong, quoted

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
    (r"area|permeability_m2", "m²"),
    (r"permeability_millidarcy", "mD"),
    (r"(force|pressure)_[xyz]", "N"),
    (r"torque(_[xyz])?", "N m"),
]
# What tells the rows apart and is not drawn for itself.
ROW = ("step", "time")
PLACE = ("distance", "angle", "x", "y", "z")
# Squares and differences must not overflow; a flow that diverges gets there.
LARGEST = 1e150


def unit_of(name):
    """The unit of a column in a run with units; None: it has none."""
    return next((unit for pattern, unit in UNITS if re.fullmatch(pattern, name)), None)


def has_units(case):
    """Has this resolved case a length of a step? With units.dx alone files are in lattice units."""
    return re.search(r"^units *:.*\n(?:  .*\n)*?  dt *:", case, re.M) is not None


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
                    return has_units(file.read())
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


def spectrum(values):
    """(amplitudes, number n of points): amplitude k is that of k/n periods a row, by Hann's window; n is at least 4 rows."""
    count = len(values)
    size = 4
    while size < 4 * count:
        size *= 2
    window = 0.5 - 0.5 * numpy.cos(2 * math.pi * (numpy.arange(count) + 0.5) / count)
    return 2 / window.sum() * abs(numpy.fft.rfft(window * (values - values.mean()), size)), size


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
    height, size = spectrum(values)
    peak = 1 + int(numpy.argmax(height[1:size // 2]))
    if height[peak - 1:peak + 2].min() <= 0:
        return found
    left, middle, right = numpy.log(height[peak - 1:peak + 2])
    bend = left - 2 * middle + right
    at = 0.5 * (left - right) / bend if bend < 0 else 0
    if (peak + at) * count >= 2 * size:  # at least two periods
        found["frequency"] = (peak + at) / size / interval
        found["amplitude"] = math.exp(middle - 0.25 * (left - right) * at)
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
