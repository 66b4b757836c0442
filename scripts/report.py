#!/usr/bin/python3
"""Makes one HTML page of a run, or of several side by side, also while they go on.

    scripts/report.py RUN [RUN ...] [--output FILE.html] [--pictures N] [--follow SECONDS] [--no-check]

RUN is the folder of a run. The page holds its state and derived numbers, the warnings of the log and of `tagflow check`,
convergence, pictures, forces with mean and spectrum, all series, speed, where the run comes from and the end of its log. It
is one file that needs no network: pictures are inside. Series of the same name are drawn in the same charts.

Without --output the page is <name of the run>.html here, or report.html for several runs. --follow makes it again every
so many seconds until all runs have ended; the page then reloads itself.
"""
import argparse
import base64
import hashlib
import json
import math
import os
import signal
import sys
import time

try:
    import numpy
except ImportError as error:
    print(f"report: needs Python's numpy ({error}): apt install python3-numpy", file=sys.stderr)
    sys.exit(1)

from command_line import Parser, Wrong, check_output, ended, quoted
import tagflow
from svg_chart import COLORS, Curve, chart, esc, legend, ramp
from tagflow.files import read_bytes, reason, write_text
from tagflow.folder import Run, is_number
from tagflow.series import LARGEST, shared_unit, spectrum

PICTURES = 24  # of each kind of picture and run, unless --pictures says so
PROFILES = 5  # steps of a series along a line
LOG_LINES = 60
CHECK_SECONDS = 60
# What a page may do, whatever text came into it: pictures from inside the page and the one program below, nothing else.
POLICY = ("default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-{}'")
PARTS = ("pressure_", "torque_", "c_torque_", "shear_")  # columns that are shown on demand

STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; padding: 16px 24px 60px; max-width: 1280px; background: #fff; color: #1a1d21;
       font: 15px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 24px; margin: 8px 0 12px; } h2 { font-size: 18px; margin: 30px 0 8px; border-bottom: 1px solid #d7dbe0; padding-bottom: 4px; }
h3 { font-size: 15px; margin: 16px 0 4px; } p { margin: 6px 0; } a { color: #0a5ca8; }
nav { font-size: 13px; color: #59626d; } nav a { margin-right: 12px; white-space: nowrap; }
table { border-collapse: collapse; font-size: 13.5px; margin: 6px 0; } td, th { padding: 3px 12px 3px 0; text-align: left; vertical-align: top; }
tr + tr td, tr + tr th { border-top: 1px solid #edf0f2; } th { font-weight: 600; color: #434b55; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; }
.run { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
.badge { display: inline-block; padding: 0 9px; border-radius: 10px; color: #fff; font-size: 13px; background: #59626d; }
.done { background: #1a7f37; } .running, .starting { background: #0a5ca8; } .stopped { background: #9a6700; }
.failed, .diverged, .killed, .silent { background: #b3261e; }
.bar { height: 6px; background: #e6e9ec; border-radius: 3px; overflow: hidden; max-width: 340px; } .bar i { display: block; height: 100%; background: #0a5ca8; }
.warning { background: #fff6e0; border-left: 4px solid #d99a00; padding: 5px 10px; margin: 5px 0; overflow-wrap: anywhere; }
.error { background: #fdeceb; border-left-color: #b3261e; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(390px, 1fr)); gap: 10px 18px; }
.chart { width: 100%; height: auto; display: block; font-size: 11px; } .chart text { fill: #434b55; } .chart .name { font-weight: 600; font-size: 12px; fill: #1a1d21; }
.chart .note { fill: #9a6700; } .grid { stroke: #e9ecef; } .frame { fill: none; stroke: #c3c9cf; pointer-events: all; } .curve { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
.level { stroke: #1a1d21; stroke-width: 1.4; stroke-dasharray: 2 3; } .legend { font-size: 12.5px; } .legend span { margin-right: 14px; white-space: nowrap; }
.legend i { display: inline-block; width: 14px; height: 3px; margin: 0 5px 3px 0; }
.films { display: grid; grid-template-columns: repeat(auto-fit, minmax(380px, 1fr)); gap: 14px; } .film { min-width: 0; }
.film .big { max-width: 100%; max-height: 560px; display: block; image-rendering: auto; border: 1px solid #d7dbe0; } .strip { display: flex; gap: 4px; overflow-x: auto; padding: 6px 0; }
.strip img { height: 62px; border: 2px solid transparent; cursor: pointer; flex: none; } .strip img.now { border-color: #0a5ca8; }
.slide { display: flex; align-items: center; gap: 10px; max-width: 640px; } .slide input { flex: 1; }
.phases { display: flex; height: 22px; border-radius: 3px; overflow: hidden; background: #e6e9ec; margin: 4px 0; max-width: 760px; } .phases i { display: block; }
pre { background: #f6f7f9; padding: 10px; overflow-x: auto; font-size: 12.5px; line-height: 1.35; border-radius: 4px; } summary { cursor: pointer; color: #0a5ca8; margin: 6px 0; }
#value { position: fixed; display: none; background: #1a1d21; color: #fff; font-size: 12px; padding: 2px 7px; border-radius: 3px; pointer-events: none; z-index: 2; }
"""

# A slider moves the pictures of all runs of one kind to the nearest step; the pointer in a chart is told its place.
PROGRAM = """//<![CDATA[
document.querySelectorAll('.kind').forEach(function (kind) {
  var steps = JSON.parse(kind.dataset.steps), slider = kind.querySelector('input'), text = kind.querySelector('output');
  function show(step) {
    kind.querySelectorAll('.film').forEach(function (film) {
      var best = null;
      film.querySelectorAll('.strip img').forEach(function (small) {
        small.classList.remove('now');
        var off = Math.abs(small.dataset.step - step);
        if (best === null || Math.abs(best.dataset.step - step) > off) { best = small; }
      });
      if (best !== null) {
        best.classList.add('now');
        film.querySelector('.big').src = best.src;
        film.querySelector('figcaption').textContent = film.dataset.name + 'step ' + best.dataset.step;
        var strip = best.parentNode;
        strip.scrollLeft = best.offsetLeft - strip.offsetLeft - strip.clientWidth / 2 + best.clientWidth / 2;
      }
    });
    text.textContent = 'step ' + step;
  }
  slider.addEventListener('input', function () { show(steps[slider.value]); });
  kind.querySelectorAll('.strip img').forEach(function (small) {
    small.addEventListener('click', function () { slider.value = steps.indexOf(Number(small.dataset.step)); show(Number(small.dataset.step)); });
  });
  show(steps[slider.value]);
});
var value = document.getElementById('value');
document.querySelectorAll('.frame').forEach(function (frame) {
  frame.addEventListener('mousemove', function (event) {
    var box = frame.getBoundingClientRect(), x = frame.dataset.x.split(' ').map(Number), y = frame.dataset.y.split(' ').map(Number);
    var across = (event.clientX - box.left) / box.width, up = 1 - (event.clientY - box.top) / box.height;
    var at = x[0] + across * (x[1] - x[0]);
    var high = frame.dataset.log === '1' ? y[0] * Math.pow(y[1] / y[0], up) : y[0] + up * (y[1] - y[0]);
    value.textContent = Number(at.toPrecision(5)) + ', ' + Number(high.toPrecision(5));
    value.style.left = event.clientX + 12 + 'px'; value.style.top = event.clientY - 26 + 'px'; value.style.display = 'block';
  });
  frame.addEventListener('mouseleave', function () { value.style.display = 'none'; });
});
//]]>"""


def number(value, digits=6):
    """A number to read; the exact one is in the title."""
    if value is None or isinstance(value, float) and math.isnan(value):
        return "-"
    return f'<span title="{esc(repr(value))}">{esc(f"{value:.{digits}g}" if isinstance(value, float) else value)}</span>'


def numbers(found, count=None):
    """A list of so many numbers in a JSON file, else ValueError."""
    if not isinstance(found, list) or not all(map(is_number, found)) or count not in (None, len(found)):
        raise ValueError("no list of numbers")
    return found


def seconds_text(seconds):
    return f"{1e6 * seconds:.3g} µs" if seconds < 1e-3 else f"{1e3 * seconds:.4g} ms" if seconds < 1 else f"{seconds:.4g} s"


def table(rows, numeric=True, head=True):
    """rows: lists of HTML; the first one is the head, the first of each row its name."""
    if not rows:
        return ""
    out = ['<div class="scroll"><table>']
    for k, row in enumerate(rows):
        cells = []
        for n, cell in enumerate(row):
            tag = "th" if (head and k == 0) or n == 0 else "td"
            mark = ' class="n"' if numeric and n > 0 else ""
            cells.append(f"<{tag}{mark}>{cell}</{tag}>")
        out.append("<tr>" + "".join(cells) + "</tr>")
    return "".join(out) + "</table></div>"


class Shown(Run):
    """A run with the series that can be read. What cannot be read of series and pictures is in `troubles`, a line each;
    series without rows yet are in `waiting`."""

    def __init__(self, folder):
        super().__init__(folder)
        self.troubles, self.waiting, self.read = [], [], {}
        every = self.series
        for name in every:
            try:
                self.read[name] = every[name]
            except Wrong as wrong:
                if isinstance(wrong, tagflow.NoRows) and self.goes_on():
                    self.waiting.append(name)
                else:
                    self.troubles.append(str(wrong))

    def picture(self, path):
        """The bytes of a picture, None if it is no whole PNG file."""
        try:
            data = read_bytes(path)
        except (OSError, Wrong) as error:
            self.troubles.append(str(error) if isinstance(error, Wrong) else f"{quoted(path)}: {reason(error)}")
            return None
        if not data.startswith(b"\x89PNG\r\n\x1a\n") or data[-8:-4] != b"IEND":
            self.troubles.append(f"{quoted(path)} is damaged: it is no whole PNG file")
            return None
        return data


class Sections:
    """The parts of a page, and the page that they make."""

    def __init__(self):
        self.sections, self.charts = [], 0

    def add(self, key, title, *parts):
        body = "".join(parts)
        if body:
            self.sections.append((key, title, body))

    def chart(self, curves, x, y, log=False, floor=1e-12):
        self.charts += 1
        return f"<div>{chart(curves, x, y, log, floor, self.charts)}</div>"

    def document(self, title, head=""):
        made = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        body = "".join(f'<section id="{key}"><h2>{title_}</h2>{part}</section>' for key, title_, part in self.sections)
        policy = POLICY.format(base64.b64encode(hashlib.sha256(PROGRAM.encode()).digest()).decode())
        links = "".join(f'<a href="#{key}">{title_}</a>' for key, title_, _ in self.sections)
        return ('<!DOCTYPE html>\n<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/>'
                f'<meta http-equiv="Content-Security-Policy" content="{esc(policy)}"/>'
                '<meta name="viewport" content="width=device-width, initial-scale=1"/>' + head
                + f"<title>{esc(title)}: tagflow</title><style>{STYLE}</style></head><body><h1>{esc(title)}</h1>"
                f'<nav>{links}<span>made {made}</span></nav>{body}<div id="value"></div><script>{PROGRAM}</script></body></html>\n')

    def pores(self, place):
        """What report.json says of the pores of a place: a table, and the porosity of its planes."""
        along = [axis for axis in "xyz" if isinstance(place.get(axis), dict)]
        begin, end = numbers(place["from"], 3), numbers(place["to"], 3)
        numbers([place[key] for key in ("cells", "fluid_cells", "porosity", "parts", "largest")], 5)
        rows = [["along", "fluid cells that connect the ends", "that reach an end only", "that reach none"]]
        for axis in along:
            counts = numbers([place[axis][key] for key in ("connected", "dead_end", "closed")], 3)
            rows.append([axis, *(f"{number(count)} ({100 * count / max(1, place['fluid_cells']):.4g} %)" for count in counts)])
        curves = []
        for k, axis in enumerate(along):
            planes = numpy.array(numbers(place[axis]["planes"]), float)
            curves.append(Curve((numpy.arange(len(planes)) + 0.5) / len(planes), planes * len(planes) / max(1, place["cells"]), axis, COLORS[k]))
        where = esc(f"cells {begin} to {[to - 1 for to in end]}")
        return (f"<p>Porosity {number(place['porosity'])}: {number(place['fluid_cells'])} of {number(place['cells'])} cells are fluid ({where}). "
                f"They are in {number(place['parts'])} connected parts; the largest has {number(place['largest'])} cells.</p>"
                + table(rows) + legend([(f"along {curve.name}", curve.color) for curve in curves])
                + f'<div class="charts">{self.chart(curves, "place along the axis, as a part of the length", "porosity of a plane across the axis")}</div>')


class Page(Sections):
    """The page, part after part. runs have distinct names and colours."""

    def __init__(self, runs, pictures, reload, checks):
        super().__init__()
        self.runs, self.pictures, self.reload, self.checks = runs, pictures, reload, checks
        self.several = len(runs) > 1
        self.color = {run: COLORS[k % len(COLORS)] for k, run in enumerate(runs)}

    def name(self, run):
        return f'<span class="run" style="background:{self.color[run]}"></span>{esc(run.name)}' if self.several else esc(run.name)

    def of_runs(self, runs):
        """The legend of charts whose colours are those of runs; none for one run."""
        return legend([(run.name, self.color[run]) for run in runs]) if self.several else ""

    def label(self, column, members=()):
        """With the unit, if it is the same in all members, [(run, series)]."""
        unit = shared_unit([series for _, series in members], column)
        return (column if column.startswith("c_") else column.replace("_", " ")) + (f" [{unit}]" if unit else "")

    # ---- what the page is made of ----

    def overview(self):
        rows = [["", *map(self.name, self.runs)]] if self.several else []
        words = [run.state_text() for run in self.runs]
        rows.append(["state", *(f'<span class="badge {word}">{word}</span> {esc(text)}' for word, text in words)])
        rows.append(["progress", *(f'<div class="bar"><i style="width:{100 * r.share():.1f}%"></i></div>' for r in self.runs)])
        rows.append(["time", *(number(r.status["time"]) + (" s" if r.physical else " steps") for r in self.runs)])

        def given(name, what):
            values = [what(run) for run in self.runs]
            if any(value is not None for value in values):
                rows.append([name, *("-" if value is None else value for value in values)])

        given("operator", lambda r: esc(f"{r.report['collision']}, {r.report['storage']} stored, {r.report['arithmetic']} arithmetic")
              if {"collision", "storage", "arithmetic"} <= r.report.keys() else None)
        names = list(dict.fromkeys(name for run in self.runs for name in run.log.derived))
        for name in names:
            given(esc(name), lambda r, name=name: esc(r.log.derived[name]) if name in r.log.derived else None)
        given("permeability", lambda r: self.permeability(r.report.get("permeability")))
        self.add("overview", "Case and derived numbers", table(rows, numeric=False, head=self.several))

    def permeability(self, found):
        if not isinstance(found, dict):
            return None
        names = (("cells2", "cells²"), ("m2", "m²"), ("millidarcy", "mD"))
        text = ", ".join(f"{number(found[key])} {unit}" for key, unit in names if is_number(found.get(key)))
        return f"{text} along {esc(found.get('axis'))}" + (
            f"; estimated relative distance from its limit {number(found['remaining'], 2)}" if is_number(found.get("remaining")) else "")

    def warnings(self):
        out = []
        for run in self.runs:
            name = esc(run.name) + ": " if self.several else ""
            word, text = run.state_text()
            if word in ("failed", "diverged", "killed", "silent"):
                out.append(f'<div class="warning error">{name}{word}: {esc(text)}</div>')
            checked, remark = self.checks.get(run, ([], None))
            for text in run.log.warnings:
                out.append(f'<div class="warning">{name}{esc(text)} <em>(log)</em></div>')
            for text in checked:
                if text not in run.log.warnings:
                    out.append(f'<div class="warning">{name}{esc(text)} <em>(check)</em></div>')
            for text in run.troubles:
                out.append(f'<div class="warning error">{name}not shown: {esc(text)}</div>')
            if remark:
                out.append(f"<p>{name}{esc(remark)}</p>")
            if run.waiting:
                out.append(f"<p>{name}no rows yet: {esc(', '.join(run.waiting))}</p>")
        self.add("warnings", "Warnings", "".join(out) or "<p>None, neither in the log nor of check.</p>")

    def films(self):
        out = []
        for kind in sorted({name for run in self.runs for name in run.images}):
            films, steps = [], set()
            for run in self.runs:
                there = run.images.get(kind, {})
                chosen = sorted(there)
                if len(chosen) > self.pictures:
                    chosen = [chosen[i] for i in numpy.unique(numpy.linspace(0, len(chosen) - 1, self.pictures).round().astype(int))]
                small = []
                for step in chosen:
                    data = run.picture(there[step])
                    if data:
                        steps.add(step)
                        small.append(f'<img data-step="{step}" alt="step {step}" title="step {step}" '
                                     f'src="data:image/png;base64,{base64.b64encode(data).decode()}"/>')
                if not small:
                    continue
                more = f", {len(small)} of {len(there)} pictures" if len(small) < len(there) else ""
                caption = (run.name + more + ", " if self.several else more[2:] + ", " if more else "")
                films.append(f'<figure class="film" style="margin:0" data-name="{esc(caption)}"><figcaption>{esc(caption)}step {chosen[-1]}'
                             f'</figcaption><img class="big" alt="{esc(kind)}"/><div class="strip">{"".join(small)}</div></figure>')
            if films:
                ordered = sorted(steps)
                out.append(f'<div class="kind" data-steps="{json.dumps(ordered)}"><h3>{esc(kind)}</h3><div class="slide"><input type="range" '
                           f'min="0" max="{len(ordered) - 1}" value="{len(ordered) - 1}" aria-label="step"/><output></output></div>'
                           f'<div class="films">{"".join(films)}</div></div>')
        self.add("pictures", "Pictures", *out)

    def convergence(self):
        out, rows = [], []
        for run in self.runs:
            stop = run.report.get("stop")
            if isinstance(stop, dict):
                met = "met" if stop.get("met") else "not met"
                change = number(stop["last_change"], 3) if is_number(stop.get("last_change")) else "not known"
                out.append(f"<p>{self.name(run) + ': ' if self.several else ''}run.stop: change of {esc(stop.get('of'))} below "
                           f"{number(stop.get('change'), 3)} over {esc(stop.get('over'))} steps; {met}, last change {change}.</p>")
        charts = []
        residuals = [Curve(*self.xy(run, series, "residual"), f"{run.name} {name}" if self.several else name, self.color[run])
                     for run in self.runs for name, series in run.read.items() if "residual" in series.columns and not series.along]
        if residuals:
            charts.append(self.chart(residuals, self.x_label(self.runs[0]), "residual (relative change of the velocity field)", log=True))
        if any(run.log.progress for run in self.runs):
            for index, what in ((2, "kinetic energy in the log"), (3, "largest velocity in the log")):
                curves = [Curve([p[0] for p in run.log.progress], [p[index] for p in run.log.progress], run.name, self.color[run])
                          for run in self.runs if run.log.progress]
                charts.append(self.chart(curves, "step", what))
        for run in self.runs:
            for name, series in run.read.items():
                if series.along:
                    continue
                for column in series.drawn:
                    values = series[column]
                    quarter = len(values) // 4
                    if quarter < 2 or column.startswith(PARTS):
                        continue
                    before, last = values[-2 * quarter:-quarter], values[-quarter:]
                    if not (abs(values[-2 * quarter:]) < LARGEST).all():
                        continue
                    spread, mean = last.std(), last.mean()
                    change = mean - before.mean()
                    relative = abs(change / mean) if mean else math.nan
                    rows.append([(self.name(run) + " " if self.several else "") + esc(f"{name}: {column}"), number(float(mean)), number(float(spread), 3),
                                 number(float(change), 3), number(float(relative), 2)])
        if rows:
            rows.insert(0, ["mean of the last quarter of the rows", "mean", "deviation", "change from the quarter before", "relative"])
            out.append("<details" + (" open=\"open\"" if len(rows) <= 16 else "") + "><summary>Is it settled? Quarters of the rows compared</summary>"
                       + table(rows) + "</details>")
        self.add("convergence", "Convergence", self.of_runs(self.runs) if charts else "",
                 f'<div class="charts">{"".join(charts)}</div>' if charts else "", *out)

    def of_pores(self):
        out = []
        for run in self.runs:
            found = run.report.get("pores")
            if found is None:
                continue
            try:
                places = found["images"] or {"the box": found["box"]}
                out += [f"<h3>{self.name(run) + ': ' if self.several else ''}{esc(name)}</h3>" + self.pores(place) for name, place in places.items()]
            except (KeyError, TypeError, ValueError, AttributeError):
                run.troubles.append("report.json is damaged: pores")
        self.add("pores", "Pores", *out)

    def xy(self, run, series, column):
        return series["time" if run.physical else "step"], series[column]

    def x_label(self, run):
        return "time [s]" if run.physical else "step"

    def grouped(self, wanted):
        """Series of the same name and kind of units in several runs: [(name, physical, [(run, series)])]."""
        groups = {}
        for run in self.runs:
            for name, series in run.read.items():
                if wanted(series):
                    groups.setdefault((name, run.physical), []).append((run, series))
        return [(name, physical, members) for (name, physical), members in groups.items()]

    def forces(self):
        out = []
        for name, physical, members in self.grouped(lambda s: "force_x" in s.columns):
            columns = list(dict.fromkeys(column for _, series in members for column in series.drawn))
            coefficients = [c for c in columns if c in ("c_x", "c_y", "c_z")]
            main = coefficients or [c for c in columns if c.startswith("force_")]
            found, rows = {}, [["", "from step", "mean", "deviation", "least", "greatest", "frequency", "amplitude"]]
            if any(series.strouhal_scale() for _, series in members):
                rows[0].append("Strouhal number")
            for run, series in members:
                begin = series.begin()[0]
                try:
                    chosen = series.rows_from(begin)
                except Wrong:
                    continue
                at = self.xy(run, series, "step")[0][chosen]
                interval = (at[-1] - at[0]) / max(len(chosen) - 1, 1)
                for column in main:
                    if column not in series.columns:
                        continue
                    values = series[column][chosen]
                    numbers = series.statistics(column, begin) if interval > 0 else {}
                    found[run, column] = (at, values, numbers, interval)
                    row = [(self.name(run) + " " if self.several else "") + esc(column), number(int(series["step"][chosen[0]]))]
                    row += [number(float(numbers.get(key, math.nan))) for key in ("mean", "deviation", "min", "max", "frequency", "amplitude")]
                    if len(rows[0]) > len(row):
                        row.append(number(float(numbers.get("strouhal", math.nan))))
                    rows.append(row)
            charts, spectra = [], []
            for column in main:
                curves, lines = [], []
                for run, series in members:
                    if column not in series.columns:
                        continue
                    x, y = self.xy(run, series, column)
                    at, values, numbers, interval = found.get((run, column), ([], [], {}, 0))
                    level = (at[0], at[-1], numbers["mean"]) if len(at) and not math.isnan(numbers.get("mean", math.nan)) else None
                    curves.append(Curve(x, y, run.name, self.color[run], level))
                    if len(values) >= 16 and interval > 0 and (abs(values) < LARGEST).all() and values.min() < values.max():
                        heights, size = spectrum(values)
                        frequencies = numpy.arange(len(heights)) / size / interval
                        dominant = numbers.get("frequency", math.nan)
                        shown = frequencies > 0
                        if not math.isnan(dominant):
                            shown &= frequencies <= 10 * dominant
                        lines.append(Curve(frequencies[shown], heights[shown], run.name, self.color[run]))
                charts.append(self.chart(curves, self.x_label(members[0][0]), self.label(column, members)))
                if lines:
                    spectra.append(self.chart(lines, "frequency [1/s]" if physical else "frequency [1/step]",
                                              "amplitude of " + self.label(column, members), log=True, floor=1e-6))
            chosen = members[0][1].begin()[1]
            out.append(f"<h3>{esc(name)}</h3>" + self.of_runs([run for run, _ in members]) + f'<div class="charts">{"".join(charts)}</div>'
                       + (f"<p>Mean (dotted) and statistics of the rows from the stated step on ({chosen}):</p>" + table(rows) if len(rows) > 1 else "")
                       + (f'<h3>Spectrum of {esc(name)}</h3><div class="charts">{"".join(spectra)}</div>' if spectra else ""))
            more = [c for c in columns if c not in main]
            if more:
                out.append("<details><summary>" + esc(", ".join(self.label(c) for c in more)) + '</summary><div class="charts">'
                           + "".join(self.columns(members, more)) + "</div></details>")
        self.add("forces", "Forces", *out)

    def columns(self, members, names):
        for column in names:
            curves = [Curve(*self.xy(run, series, column), run.name, self.color[run]) for run, series in members if column in series.columns]
            yield self.chart(curves, self.x_label(members[0][0]), self.label(column, members))

    def others(self):
        out = []
        for name, physical, members in self.grouped(lambda s: not s.along and "force_x" not in s.columns):
            columns = list(dict.fromkeys(column for _, series in members for column in series.drawn))
            columns = [c for c in columns if c != "residual"]  # it is in the part on convergence
            if columns and max(len(series.values) for _, series in members) < 2:
                out.append(f"<p>{esc(name)}: one row so far, see the last values.</p>")
            elif columns:
                out.append(f'<h3>{esc(name)}</h3>{self.of_runs([run for run, _ in members])}<div class="charts">'
                           f'{"".join(self.columns(members, columns))}</div>')
        self.add("series", "Series", *out)

    def profiles(self):
        out = []
        for name, physical, members in self.grouped(lambda s: s.along):
            charts, entries = [], {}
            columns = list(dict.fromkeys(column for _, series in members for column in series.drawn))
            along = members[0][1].along
            for column in columns:
                curves = []
                for run, series in members:
                    if column not in series.columns or series.along != along:
                        continue
                    steps = numpy.unique(series["step"])
                    count = 1 if len(members) > 1 else PROFILES
                    chosen = steps[numpy.unique(numpy.linspace(len(steps) - 1, 0, count).round().astype(int))]
                    for k, step in enumerate(chosen):
                        rows = series["step"] == step
                        color = self.color[run] if len(members) > 1 else ramp(k / max(1, len(chosen) - 1))
                        curves.append(Curve(series[along][rows], series[column][rows],
                                            (f"{run.name}, " if len(members) > 1 else "") + f"step {step:.0f}", color))
                charts.append(self.chart(curves, self.label(along, members), self.label(column, members)))
                entries |= {curve.name: curve.color for curve in curves}
            out.append(f'<h3>{esc(name)}</h3>{legend(list(entries.items()))}<div class="charts">{"".join(charts)}</div>')
        self.add("profiles", "Profiles", *out)

    def last_values(self):
        """The last row of every series, exact in the titles."""
        out = []
        for run in self.runs:
            for name, series in run.read.items():
                last = series.values[-1]
                values = [number(int(v)) if c == "step" and math.isfinite(v) else number(float(v)) if not math.isnan(v) else "nan"
                          for c, v in zip(series.columns, last)]
                labels = [esc(self.label(c, [(run, series)])) for c in series.columns]
                out.append(f"<h3>{self.name(run) + ': ' if self.several else ''}{esc(name)}, {len(series.values)} rows</h3>"
                           + f'<div class="scroll"><table class="last" data-series="{esc(name)}" data-run="{esc(run.name)}"><tr>'
                           + "".join(f'<th class="n">{label}</th>' for label in labels) + "</tr><tr>"
                           + "".join(f'<td class="n">{value}</td>' for value in values) + "</tr></table></div>")
        self.add("last", "Last values of all series", f"<details><summary>{len(out)} series</summary>{''.join(out)}</details>" if out else "")

    def speed(self):
        out = []
        if any(len(run.log.progress) > 1 for run in self.runs):
            curves = [Curve([p[0] for p in run.log.progress[1:]], [p[1] for p in run.log.progress[1:]], run.name, self.color[run])
                      for run in self.runs if len(run.log.progress) > 1]
            out.append(self.of_runs(self.runs) + f'<div class="charts">{self.chart(curves, "step", "million cell updates a second (MLUPS), by the log")}</div>')
        keys = (("mlups", "MLUPS, all cells"), ("mflups", "MLUPS, fluid cells"), ("bandwidth_gbs", "GB/s"), ("bytes_per_update", "bytes an update"),
                ("seconds", "seconds of this job's steps"), ("steps", "steps of this job"), ("imbalance", "largest load over the mean"))
        rows = [["", *map(self.name, self.runs)]] if self.several else []
        for key, text in keys:
            if any(is_number(run.report.get(key)) for run in self.runs):
                rows.append([text, *(number(run.report.get(key)) if is_number(run.report.get(key)) else "-" for run in self.runs)])
        out.append(table(rows, head=self.several))
        for run in self.runs:
            phases = run.report.get("phases")
            if not isinstance(phases, dict) or not is_number(phases.get("step")) or phases["step"] <= 0:
                continue
            parts = [(name, value) for name, value in phases.items() if name != "step" and is_number(value) and value > 0]
            bars = "".join(f'<i title="{esc(name)}" style="width:{100 * value / phases["step"]:.2f}%;background:{COLORS[k % len(COLORS)]}"></i>'
                           for k, (name, value) in enumerate(parts))
            names = "".join(f'<span><i style="background:{COLORS[k % len(COLORS)]}"></i>{esc(name)} {100 * value / phases["step"]:.1f} % '
                            f"({seconds_text(value)})</span>" for k, (name, value) in enumerate(parts))
            out.append(f"<h3>{self.name(run) + ': ' if self.several else ''}Phases of a step of {seconds_text(phases['step'])}</h3>"
                       f'<div class="phases">{bars}</div><div class="legend">{names}</div>')
        self.add("speed", "Speed", *out)

    def provenance(self):
        out = []
        for run in self.runs:
            if self.several:
                out.append(f"<h3>{self.name(run)}</h3>")
            rows = [["folder", esc(os.path.abspath(run.folder))]]
            for job in run.log.jobs:
                rows.append(["job", esc(f"{job['date']}, tagflow {job['version']} ({job['commit']})")])
            for host in run.log.jobs[-1]["hosts"][:8] if run.log.jobs else []:
                rows.append(["", esc(host)])
            for key in ("backend", "device", "ranks", "threads", "state_hash"):
                if key in run.report:
                    rows.append([key.replace("_", " "), esc(run.report[key])])
            out.append(table(rows, numeric=False, head=False))
            for title, found in (("status.json", run.status), ("report.json", run.report)):
                rows = [[esc(key), esc(json.dumps(value))] for key, value in found.items() if not (title == "report.json" and key in ("statistics", "pores"))]
                if rows:
                    out.append(f"<details><summary>{title}</summary>" + table(rows, numeric=False, head=False) + "</details>")
            if run.case_text:
                out.append(f"<details><summary>case.yaml</summary><pre>{esc(run.case_text)}</pre></details>")
        self.add("provenance", "Where it comes from", *out)

    def log(self):
        out = []
        for run in self.runs:
            if run.log.lines:
                lines = run.log.lines[-LOG_LINES:]
                title = f"{run.name}: " if self.several else ""
                out.append(f"<details open=\"open\"><summary>{esc(title)}last {len(lines)} of {len(run.log.lines)} lines of log.txt</summary>"
                           f'<pre>{esc(chr(10).join(lines))}</pre></details>')
        self.add("log", "End of the log", *out)

    def text(self):
        self.overview()
        self.warnings()
        self.films()
        self.convergence()
        self.of_pores()
        self.forces()
        self.profiles()
        self.others()
        self.last_values()
        self.speed()
        self.provenance()
        self.log()
        # Pictures that could not be read are known only now.
        self.sections = [part for part in self.sections if part[0] != "warnings"]
        self.warnings()
        self.sections.insert(1, self.sections.pop())
        running = any(run.goes_on() for run in self.runs)
        reload = f'<meta http-equiv="refresh" content="{max(1, round(self.reload))}"/>' if self.reload and running else ""
        return self.document(", ".join(run.name for run in self.runs), reload)


def warnings_of_check(run, program):
    """(warnings of `tagflow check` on the run's case, a remark or None)"""
    if not run.case_text:
        return [], "check was not asked: there is no case.yaml"
    try:
        return tagflow.check(run.path("case.yaml"), program=program, timeout=CHECK_SECONDS).warnings, None
    except tagflow.ProgramError as error:
        return [], f"check was not asked: {error} (--tagflow says where it is)"
    except TimeoutError:
        return [], f"check was not asked: it takes more than {CHECK_SECONDS} s here"
    except tagflow.RunError as error:
        return error.warnings, f"check: {error.text or f'exit status {error.status}'}"


def distinct_names(runs):
    """Names that tell the runs from each other: longer parts of their paths where the last ones are the same."""
    paths = [os.path.abspath(run.folder).split(os.sep) for run in runs]
    for depth in range(1, max(map(len, paths)) + 1):
        names = ["/".join(path[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            for run, name in zip(runs, names):
                run.name = name
            return
    raise Wrong("a run is given twice")


def make(o, output, checks):
    """Writes the page once; returns whether a run goes on."""
    runs = [Shown(folder) for folder in o.runs]
    distinct_names(runs)
    for run in runs:
        if o.check and run.folder not in checks:
            checks[run.folder] = warnings_of_check(run, o.tagflow)
    page = Page(runs, o.pictures, o.follow, {run: checks[run.folder] for run in runs if run.folder in checks})
    text = page.text()
    write_text(output, text)
    for run in runs:
        for trouble in run.troubles:
            print(f"report: warning: {trouble}", file=sys.stderr)
    states = ", ".join(f"{run.name} {run.state_text()[0]}" for run in runs)
    print(f"{quoted(output)}: {states}, {page.charts} charts, {len(text.encode()) / 1e6:.1f} MB", flush=True)
    return any(run.goes_on() and not run.gone() for run in runs)


def positive(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def count(text):
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 1000")
    return int(text)


def arguments():
    parser = Parser("report.py", __doc__, "a folder that holds no run or a damaged one")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="folder of a run")
    parser.add_argument("--output", metavar="FILE.html", help="the page")
    parser.add_argument("--pictures", metavar="N", type=count, default=PICTURES,
                        help=f"at most so many pictures of each kind and run, evenly chosen ({PICTURES})")
    parser.add_argument("--follow", metavar="SECONDS", type=positive, help="make the page again until all runs have ended")
    parser.add_argument("--no-check", dest="check", action="store_false", help="do not ask `tagflow check` for its warnings")
    parser.add_argument("--tagflow", metavar="PROGRAM", help="the program to ask ($TAGFLOW, else tagflow)")
    return parser.parse_args()


def work():
    o = arguments()
    o.runs = [folder.rstrip("/") or "/" for folder in o.runs]
    output = o.output or (os.path.basename(os.path.abspath(o.runs[0])) if len(o.runs) == 1 else "report") + ".html"
    check_output(output, (".html",))
    checks = {}
    while make(o, output, checks) and o.follow:
        time.sleep(o.follow)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return ended("report", "page", work)


if __name__ == "__main__":
    sys.exit(main())
