#!/usr/bin/python3
"""scripts/report.py: the page of a run is whole HTML, holds what the run's files say, and comes of any state of a run."""
import base64
import glob
import html.parser
import importlib
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings as warnings_
import xml.etree.ElementTree

import numpy

import runs
from runs import ROOT, Job, check, load, tagflow, tree, write

PAGE = "{http://www.w3.org/1999/xhtml}"
write("case.yaml", """\
units:   {dx: 10 mm, dt: 1 ms, density: 1 kg/m3}
domain:  {cells: [40, 24, 16]}
fluid:   {viscosity: 1e-3 m2/s, velocity: 1.5 m/s, length: 60 mm}
initial: {flow: uniform, velocity: [1.5 m/s, 0, 0]}
faces:
  xmin: {velocity: {value: [1.5 m/s, 0, 0]}}
  xmax: pressure
  y: wall
  z: periodic
bodies:  {ball: {shape: {sphere: {center: [120 mm, 120 mm, 80 mm], radius: 30 mm}}}}
run:     {steps: 400, stop: {of: residual, change: 1e-12, every: 100}}
output:
  log:    {every: 50}
  series:
    drag: {every: 2, of: forces, body: ball, area: 0.0028 m2, statistics: {from: 100}}
    wake: {every: 50, of: line, from: [250 mm, 0 m, 80 mm], to: [250 mm, 240 mm, 80 mm], points: 13}
    ring: {every: 100, of: surface, body: ball, axis: z, points: 12}
    flow: {every: 5, of: [mass, kinetic_energy, max_velocity]}
    change: {every: 10, of: residual}
  images: {mid: {every: 20, of: speed}, side: {every: 200, of: vorticity, axis: y}}
""")
write("long.yaml", runs.CASE.replace("steps: 20", "steps: 100000000").replace("every: 10, of: [vel", "every: 100000000, of: [vel")
      .replace("every: 10, of: speed", "every: 20000, of: speed").replace("every: 2, of: [m", "every: 1000, of: [m")
      .replace("log:    {every: 5}", "log:    {every: 1000}"))


def script(*arguments, env=None, preexec=None):
    return subprocess.run([ROOT + "/scripts/report.py", *arguments], capture_output=True, text=True, timeout=runs.HANGS,
                          stdin=subprocess.DEVNULL, preexec_fn=preexec, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | (env or {}))


class Tags(html.parser.HTMLParser):
    """Are tags closed in order, as a browser reads them?"""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong = [], []
        self.feed(text)
        self.wrong += self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass  # <img/>: those without an end

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def page(what, *arguments, output=None, errors=0):
    """The page's root element, after it was looked at; errors: lines on stderr."""
    said = script(*arguments, *(["--output", output] if output else []))
    path = output or (os.path.basename(arguments[0]) + ".html" if len(arguments) == 1 else "report.html")
    good = said.returncode == 0 and said.stdout.count("\n") == 1 and said.stderr.count("\n") == errors and os.path.isfile(path)
    if not check(good, f"{what}: {said.returncode}, {said.stdout.strip()!r} {said.stderr.strip()[-300:]!r}"):
        return None
    text = open(path, encoding="utf-8").read()
    tags = Tags(text)
    check(text.startswith("<!DOCTYPE html>\n") and not tags.wrong, f"{what}: tags are closed in order {tags.wrong[:5]}")
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as error:
        check(False, f"{what}: the page is no XML: {error}")
        return None
    outside = [value for element in root.iter() for name, value in element.attrib.items()
               if name in ("src", "href", "data") and not value.startswith(("#", "data:image/png;base64,"))]
    check(not outside and "url(" not in re.sub(r"url\(#frame\d+\)", "", text) and "@import" not in text, f"{what}: it needs nothing else {outside}")
    return root


def text_of(element):
    return "".join(element.itertext())


def section(root, key):
    return root.find(f".//{PAGE}section[@id='{key}']")


def table_of(root, title):
    """{key: text} of the table below the summary with this title."""
    for details in root.iter(PAGE + "details"):
        if details.find(PAGE + "summary").text == title:
            return {row[0].text: text_of(row[1]) for row in details.iter(PAGE + "tr")}
    return {}


def last_rows(root):
    """{(run, series): numbers} of the last rows, exact."""
    found = {}
    for table in root.iter(PAGE + "table"):
        if table.get("class") == "last":
            cells = table.findall(f".//{PAGE}td")
            found[table.get("data-run"), table.get("data-series")] = [
                float(cell.find(PAGE + "span").get("title")) if cell.find(PAGE + "span") is not None else math.nan for cell in cells]
    return found


def rows(path):
    return numpy.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


# A run that is done.
said = tagflow("run", "case.yaml", "--output", "run")
if not check(said.code == 0, f"a run: {said}"):
    runs.finish()
root = page("a run that is done", "run")
status, report = load("run", "status.json"), load("run", "report.json")
for name, wanted in (("status.json", status), ("report.json", {k: v for k, v in report.items() if k != "statistics"})):
    found = table_of(root, name)
    check({key: json.loads(value) for key, value in found.items()} == wanted, f"it holds all {len(wanted)} entries of {name}")
overview, warnings = text_of(section(root, "overview")), text_of(section(root, "warnings"))
log = open("run/log.txt").read()
derived = dict(line.split(": ", 1) for line in log.splitlines() if re.match("(grid|units|relaxation|Mach|Reynolds): ", line))
check(len(derived) == 5 and all(value in overview for value in derived.values()), f"derived numbers: {derived}")
told = [line[len("warning: "):] for line in log.splitlines() if line.startswith("warning: ")]
check(told and all(line in warnings for line in told), f"{len(told)} warnings of the log")
checked = [line.split("warning: ", 1)[1] for line in tagflow("check", "run/case.yaml").err.splitlines() if "warning: " in line]
check(checked and all(line in warnings for line in checked) and warnings.count("(check)") == len(set(checked) - set(told)),
      f"{len(checked)} warnings of check, each once")
found = last_rows(root)
for path in sorted(glob.glob("run/series/*.csv")):
    name = os.path.basename(path)[:-4]
    check(numpy.array_equal(found.get(("run", name), []), rows(path)[-1], equal_nan=True), f"the last row of {name}")
pictures = {(image.get("data-step"), image.get("src")) for image in root.iter(PAGE + "img") if image.get("data-step")}
files = {(str(int(path[-14:-4])), "data:image/png;base64," + base64.b64encode(open(path, "rb").read()).decode())
         for path in glob.glob("run/images/*.png")}
check(len(files) == 24 and pictures == files, f"all {len(files)} pictures, byte for byte")
forces = section(root, "forces")
numbers = {row[0].text: [cell.find(PAGE + "span") for cell in row[1:]] for row in forces.iter(PAGE + "tr")}
for column in ("c_x", "c_y", "c_z"):
    wanted = report["statistics"]["drag"]["columns"][column]
    exact = [float(cell.get("title")) if cell is not None else None for cell in numbers[column][1:]]
    # Numbers that are 0 but for rounding differ by that; report.json has nine digits.
    scale = max(abs(wanted["max"]), abs(wanted["min"]))
    check(numbers[column][0].get("title") == "100" and all(
        (a is None) == (wanted[key] is None) and (a is None or abs(a - wanted[key]) <= 1e-6 * (abs(a) if key in ("frequency", "strouhal") else scale))
        for a, key in zip(exact, ("mean", "deviation", "min", "max", "frequency", "amplitude", "strouhal"))),
        f"statistics of {column} are those of report.json: {exact}")
spectra = [svg.find(PAGE + "title").text for svg in forces.iter(PAGE + "svg") if svg.find(PAGE + "title").text.startswith("amplitude")]
check(spectra == [f"amplitude of {column} over frequency [1/s]" for column in ("c_x", "c_y", "c_z")], f"with a spectrum of each: {spectra}")
check(all(word in text_of(section(root, "profiles")) for word in ("wake", "ring", "velocity x [m/s]", "angle [°]", "step 400")), "profiles")
check("last change" in text_of(section(root, "convergence")), "the criterion of run.stop")
check(report["state_hash"] in text_of(section(root, "provenance")) and log.splitlines()[-1] in text_of(section(root, "log")),
      "state hash, and the end of the log")
check(f"{100 * report['phases']['interior'] / report['phases']['step']:.1f} %" in text_of(section(root, "speed")), "phases")


# A known curve is drawn where it belongs.
def curves(element):
    for svg in element.iter(PAGE + "svg"):
        box = next(r for r in svg.iter(PAGE + "rect") if r.get("class") == "frame")
        size = [float(box.get(name)) for name in ("x", "y", "width", "height")]
        x, y = ([float(v) for v in box.get(name).split()] for name in ("data-x", "data-y"))
        for path in (p for p in svg.iter(PAGE + "path") if p.get("class") == "curve"):
            points = numpy.array([[float(v) for v in part.split()] for part in re.findall(r"[ML]([^ML]+)", path.get("d"))])
            points[:, 0] = x[0] + (points[:, 0] - size[0]) / size[2] * (x[1] - x[0])
            points[:, 1] = y[1] - (points[:, 1] - size[1]) / size[3] * (y[1] - y[0])
            yield svg.find(PAGE + "title").text, points, (x[1] - x[0], y[1] - y[0]), path.get("d").count("M")


def like(name, steps):
    """A folder like run's, without its series and pictures, with one of our own: header and rows."""
    shutil.copytree("run", name, ignore=shutil.ignore_patterns("*.csv", "*.png", "*.h5"))
    with open(f"{name}/series/own.csv", "w") as file:
        file.write("step,time,a,b\n" + "".join(f"{k},{k},{a},{b}\n" for k, a, b in steps))


like("ramp", [(k, 2 + k / 100, "nan" if 40 < k < 60 else -k) for k in range(101)])
root = page("a known curve", "ramp")
drawn = {title: (points, span, pieces) for title, points, span, pieces in curves(section(root, "series"))}
points, span, pieces = drawn["a over time [s]"]
check(pieces == 1 and len(points) == 101 and abs(points[:, 0] - range(101)).max() < 0.2 / 434 * span[0] + 1e-9 and
      abs(points[:, 1] - 2 - points[:, 0] / 100).max() < span[1] / 1000, "is a straight line at its place")
points, span, pieces = drawn["b over time [s]"]
check(pieces == 2 and len(points) == 82, f"nan is a gap in it: {pieces} pieces, {len(points)} points")

# Numbers beside axes are whole where they are short, and no title has a factor.
like("close", [(k, 16384 + k * 1e-9, 1000 + k * 1e-4) for k in range(101)])
svgs = {svg.find(PAGE + "title").text: svg for svg in section(page("small changes", "close"), "series").iter(PAGE + "svg")}
heads = {key: next(t.text for t in svg.iter(PAGE + "text") if t.get("class") == "name") for key, svg in svgs.items()}
beside = {key: [t.text for t in svg.iter(PAGE + "text") if t.get("text-anchor") == "end"] for key, svg in svgs.items()}
check(heads == {"a over time [s]": "a, difference from 16384", "b over time [s]": "b"}, f"titles: {heads}")
check("1.0×10⁻⁷" in beside["a over time [s]"] and "1000.005" in beside["b over time [s]"], f"numbers: {beside}")

like("large", [(k, math.sin(k / 20000) + (50 if k == 77777 else 0), 1e300 * (-1) ** k) for k in range(200000)])
root = page("200,000 rows", "large")
points = next(points for title, points, _, _ in curves(section(root, "series")) if title.startswith("a over"))
check(len(points) <= 800 and os.path.getsize("large.html") < 300000 and points[:, 1].max() > 49,
      f"{len(points)} points are drawn of them, a single high one, {points[:, 1].max():.2f}, among them; {os.path.getsize('large.html')} bytes")
like("odd", [(0, "inf", 1e308), (1, "-inf", -1e308), (2, "nan", 1e-320), (3, "nan", 5), (4, "nan", 5)])
check("no finite value" in text_of(section(page("nothing finite, and large numbers", "odd"), "series")), "says so")
with open("odd/log.txt", "ab") as file:
    file.write(b"warning: </pre></script><b> & \x1b[31m \x00 \xff\xfe ]]> \"quoted\"\nstep 5\n")
root = page("a log with anything in it", "odd")
check('</pre></script><b> & \ufffd[31m' in text_of(section(root, "warnings")), "is shown as it is")
root = page("at most three pictures", "run", "--pictures", "3", output="three.html")
steps = [sorted(int(image.get("data-step")) for image in kind.iter(PAGE + "img") if image.get("data-step"))
         for kind in root.iter(PAGE + "div") if kind.get("class") == "kind"]
check(steps == [[0, 200, 400], [0, 200, 400]], f"evenly chosen: {steps}")

# Several runs side by side.
check(tagflow("run", "case.yaml", "--output", "slow", "--set", "fluid.velocity=0.5 m/s", "--set", "faces.xmin.velocity.value=[0.5 m/s, 0, 0]",
              "--set", "initial.velocity=[0.5 m/s, 0, 0]").code == 0, "a second run")
os.makedirs("other")
shutil.copytree("run", "other/run")
root = page("two runs", "run", "slow")
names = {title: 0 for title in ("c_x over time [s]", "residual (relative change of the velocity field) over time [s]")}
for title, *_ in curves(root.find(PAGE + "body")):
    names[title] = names.get(title, 0) + 1
check(names["c_x over time [s]"] == 2 and names["residual (relative change of the velocity field) over time [s]"] == 2, "share the charts")
check(set(last_rows(root)) == {(run, name) for run in ("run", "slow") for name in ("change", "drag", "flow", "ring", "wake")}, "and have their values each")
root = page("two of the same name", "run", "other/run")
check({run for run, _ in last_rows(root)} == {os.path.basename(runs.WORK) + "/run", "other/run"}, "are told apart")
check(tagflow("run", "long.yaml", "--output", "lattice", "--set", "run.steps=2000").code == 0, "one in lattice units")
root = page("with units and without", "run", "lattice")
titles = {title for title, *_ in curves(root.find(PAGE + "body"))}
check({"mass [kg] over time [s]", "mass over step"} <= titles, "are not in the same chart")

# A run that goes on, with a page that is made until it has ended; one that was stopped; one that was killed.
job = Job("on", restart=None, case="long.yaml", more=["--backend", "cpu"])
job.wait_for(lambda: os.path.isfile("on/series/flow.csv") and open("on/series/flow.csv").read().count("\n") > 20 and
             os.path.isfile("on/status.json") and load("on", "status.json")["state"] == "running", "rows")
root = page("a run that goes on", "on")
check("running" in text_of(section(root, "overview")) and "left" in text_of(section(root, "overview")), "says so, and how long it will take")
check(not root.findall(f".//{PAGE}meta[@http-equiv='refresh']") and table_of(root, "report.json") == {}, "and has nothing of an end")
last = last_rows(root)["on", "flow"]
check(any(numpy.array_equal(last, row) for row in rows("on/series/flow.csv")) and last[0] >= 19000, f"it has a late row, of step {last[0]:.0f}")
follow = subprocess.Popen([ROOT + "/scripts/report.py", "on", "--follow", "0.2", "--output", "followed.html", "--no-check"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while follow.poll() is None and not os.path.isfile("followed.html"):
    time.sleep(0.01)
check('http-equiv="refresh"' in open("followed.html").read(), "with --follow the page reloads itself")
job.process.send_signal(signal.SIGTERM)
check(job.end().code == 75, "the run is stopped")
out, errors = follow.communicate(timeout=runs.HANGS)
check(follow.returncode == 0 and not errors and out.splitlines()[-1].startswith("followed.html: on stopped"), f"and so the page ends: {out.splitlines()[-1:]}")
check("refresh" not in open("followed.html").read(), "and does not reload any more")
root = page("a run that was stopped", "on")
check("SIGTERM" in text_of(section(root, "overview")), "says by what")
job = Job("dead", restart=None, case="long.yaml")
job.wait_for(lambda: os.path.isfile("dead/status.json") and load("dead", "status.json")["state"] == "running", "its start")
job.process.kill()
job.process.wait()
root = page("a run that was killed", "dead")
check("is not there any more" in text_of(section(root, "warnings")), "says that its process is gone")
shutil.copytree("dead", "far")
write("far/status.json", json.dumps(load("dead", "status.json") | {"host": "elsewhere", "updated": "2020-01-01T00:00:00Z"}))
check("no sign of life" in text_of(section(page("a run on another machine that is silent for years", "far"), "warnings")), "says so")
said = tagflow("run", "long.yaml", "--output", "wild", "--set", "fluid.viscosity=1e-5", "--set", "solver.collision=bgk", "--set",
               "faces.ymax.wall.velocity=[0.5, 0, 0]", "--set", "run.steps=100000")
check(said.code == 3, f"a flow that diverges: {said.code}")
root = page("it", "wild")
check("the flow diverged" in text_of(section(root, "warnings")), "is told first")

# Parts that are damaged are left out, and said.
shutil.copytree("run", "torn")
write("torn/series/flow.csv", "step,time,mass\n0,0,1\n1,1,x\n")
data = open("torn/images/mid_0000000400.png", "rb").read()
write("torn/images/mid_0000000400.png", data[:-20])
write("torn/images/mid_0000000380.png", b"")
os.remove("torn/log.txt")
root = page("a run with damaged files", "torn", errors=3)
check(all(word in text_of(section(root, "warnings")) for word in ("flow.csv:3: mass: 'x' is no number", "mid_0000000400.png is damaged")) and
      ("torn", "drag") in last_rows(root) and section(root, "log") is None, "shows all others, and says what is not shown")
said = script("run", "--output", "unasked.html", env={"TAGFLOW": "no/such/program"})
check(said.returncode == 0 and "check was not asked" in open("unasked.html").read(), "without the program check is not asked")

# A folder from someone else: a script in any field stays text, and a value of any kind ends no page.
SCRIPT = "<img src=x onerror=alert('1')>\"'<script>&amp;\x07"
WRONG = (SCRIPT, [SCRIPT], {SCRIPT: SCRIPT}, 10**400, -10**400, 1e308, 1e-320, math.inf, math.nan, -1, 0, True, None, [], {}, [[1, 2], [3]])
sys.dont_write_bytecode = True
sys.path.insert(0, ROOT + "/scripts")
maker = importlib.import_module("report")
PLACE = {"from": [0, 0, 0], "to": [4, 4, 4], "cells": 64, "fluid_cells": 32, "porosity": 0.5, "parts": 1, "largest": 32,
         **{axis: {"connected": 20, "dead_end": 8, "closed": 4, "planes": [8, 8, 8, 8]} for axis in "xyz"}}
FULL = report | {"pores": {"images": {"rock": PLACE}}, "permeability": {"axis": "x", "cells2": 1.5, "m2": 1e-12, "millidarcy": 1.0, "remaining": 0.01},
                 "statistics": {"drag": {"columns": {"c_x": {"mean": 1.5}}}},  # the others have the same keys
                 "stop": {"of": "residual", "change": 1e-9, "over": 100, "met": False, "last_change": 1e-8}}


def text_in(*folders):
    """The page, made here, or None for what is refused in one line."""
    try:
        shown = [maker.Shown(folder) for folder in folders]
        return maker.Page(shown, 3, None, {}).text()
    except maker.Wrong as wrong:
        assert str(wrong).isprintable(), repr(wrong)
        return None


def without_script(text):
    clean = not any(part in text.replace(maker.PROGRAM, "") for part in ("<img src=x", "'<script>", "\x07"))
    return clean and xml.etree.ElementTree.fromstring(text) is not None


def changed(value, path=()):
    """(path, the same value with one thing changed): every part by every wrong one, every key by a script."""
    for wrong in WRONG:
        yield path, wrong
    if isinstance(value, dict):
        for key, part in value.items():
            yield path + (key, "the key"), {SCRIPT if k == key else k: v for k, v in value.items()}
            for where, other in changed(part, path + (key,)):
                yield where, value | {key: other}
    elif isinstance(value, list):
        for k, part in enumerate(value[:3]):
            for where, other in changed(part, path + (k,)):
                yield where, value[:k] + [other] + value[k + 1:]


def harmless(what, *folders):
    """None, or how the page of these folders goes wrong."""
    try:
        with warnings_.catch_warnings():
            warnings_.simplefilter("error")
            text = text_in(*folders)
        return None if text is None or without_script(text) else f"{what}: a script stands in the page"
    except Exception as error:
        return f"{what}: {type(error).__name__}: {error}"


def foreign(name, **files):
    shutil.copytree("run", name, ignore=shutil.ignore_patterns("*.csv", "*.png", "*.h5", "*.vtkhdf"))
    write(name + "/report.json", json.dumps(FULL))
    return name


foreign("foreign")
check("Porosity" in text_in("foreign"), "it has every part of a report")
for name, whole in (("status.json", status), ("report.json", FULL)):
    found, count = [], 0
    for where, other in changed(whole):
        write("foreign/" + name, json.dumps(other))
        found.append(harmless(f"{name} {where}", "foreign"))
    write("foreign/" + name, json.dumps(whole))
    check(not any(found) and len(found) > 100, f"{len(found)} changes of {name} {[f for f in found if f][:3]}")

# Every name and every line.
evil = foreign(SCRIPT.replace("/", ""))
for name in os.listdir("run/series"):
    shutil.copy("run/series/" + name, f"{evil}/series/{SCRIPT} {name}")
header, *lines = open("run/series/flow.csv").read().splitlines(keepends=True)
write(f"{evil}/series/columns.csv", "step,time," + ",".join(f"{SCRIPT} {k}" for k in range(header.count(",") - 1)) + "\n" + "".join(lines))
shutil.copy("run/images/mid_0000000400.png", f"{evil}/images/{SCRIPT}_0000000400.png")
case = open("run/case.yaml").read()
write(evil + "/case.yaml", case.replace("drag:", f'"{SCRIPT}":').replace("ball", SCRIPT) + f"# {SCRIPT}\n")
write(evil + "/log.txt", "".join(f"{SCRIPT}{line}\n{line}{SCRIPT}\nwarning: {SCRIPT}\n{line.replace(': ', f'{SCRIPT}: {SCRIPT}', 1)}\n" for line in log.splitlines()))
for folders in ([evil], [evil, "run"]):
    found = harmless("names", *folders)
    check(found is None and SCRIPT[:10].replace("<", "&lt;") in text_in(*folders), f"a script in every name and line of {len(folders)} runs {found}")

# One byte of a text is another one.
shutil.copytree("run", "bytes", ignore=shutil.ignore_patterns("*.png", "*.h5", "*.vtkhdf"))
for name in ("log.txt", "status.json", "report.json", "case.yaml", "series/flow.csv", "series/wake.csv"):
    whole, found = open("run/" + name, "rb").read(), []
    for k in range(25):
        at = k * 7919 % min(len(whole), 6000)  # spread over its beginning
        write("bytes/" + name, whole[:at] + b",-.9e\xff\x00\n"[k % 8:k % 8 + 1] * (1 + k % 3 * 200) + whole[at + 1:])
        found.append(harmless(f"{name}, byte {at}", "bytes"))
    write("bytes/" + name, whole)
    check(not any(found), f"wrong bytes in {name} {[f for f in found if f][:3]}")

# No reading of what is no regular file, and no waiting for it.
DEVICE = {"a FIFO": os.mkfifo, "a device": lambda path: os.symlink("/dev/zero", path), "a terminal": lambda path: os.symlink("/dev/tty", path),
          "a link to itself": lambda path: os.symlink(os.path.basename(path), path), "a folder": os.mkdir}
for kind, make in DEVICE.items():
    name = "with " + kind
    shutil.copytree("run", name, ignore=shutil.ignore_patterns("*.h5", "*.vtkhdf"))
    for path in ("series/new.csv", "images/mid_0000000500.png"):
        make(f"{name}/{path}")
    root = page(kind, name, "--no-check", output="made.html", errors=2)
    check(root is not None and all(word in text_of(section(root, "warnings")) for word in ("new.csv", "mid_0000000500.png")), f"{kind} in series and images is said")
    for path in ("case.yaml", "log.txt", "report.json", "status.json"):
        os.remove(f"{name}/{path}")
        make(f"{name}/{path}")
        said = script(name, "--output", "none.html", "--no-check")
        check(said.returncode == 2 and said.stderr.count("\n") == 1 and path in said.stderr, f"{kind} as {path}: {said.stderr!r}")
        os.rmdir(f"{name}/{path}") if kind == "a folder" else os.remove(f"{name}/{path}")
        shutil.copy("run/" + path, f"{name}/{path}")

# What is no run ends in one line, with status 2, and no page.
os.makedirs("empty")
write("file", "x")
for name, text in (("cut", open("run/status.json").read()[:100]), ("list", "[]"), ("bytes", b"\xff\xfe\x00"), ("state", json.dumps(status | {"state": "x"})),
                   ("number", json.dumps(status | {"step": "4"})), ("none", "")):
    os.makedirs("bad_" + name)
    write(f"bad_{name}/status.json", text)
shutil.copytree("run", "bad_report")
write("bad_report/report.json", "{")
before = tree()
for arguments, words in [
        ([], ["RUN"]), (["nowhere"], ["nowhere", "no such folder"]), (["file"], ["file is not the folder of a run"]),
        (["empty"], ["empty/status.json", "holds no run"]), (["bad_cut"], ["bad_cut/status.json is damaged"]), (["bad_list"], ["damaged"]),
        (["bad_bytes"], ["damaged"]), (["bad_state"], ["damaged", "state"]), (["bad_number"], ["damaged", "step"]), (["bad_none"], ["damaged"]),
        (["bad_report"], ["bad_report/report.json is damaged"]), (["run", "empty"], ["empty/status.json"]), (["run", "run/"], ["given twice"]),
        (["run", "--output", "x.txt"], ["x.txt", ".html"]), (["run", "--output", "no/x.html"], ["no/x.html", "no such folder"]),
        (["run", "--pictures", "0"], ["--pictures"]), (["run", "--follow", "-1"], ["--follow"]), (["run", "--folow", "1"], ["--folow"])]:
    said = script(*arguments)
    check(said.returncode == 2 and not said.stdout and said.stderr.count("\n") == 1 and said.stderr.startswith("report: ") and
          all(word in said.stderr for word in words), f"report {' '.join(arguments)}: {said.returncode}, {said.stderr.strip()[-200:]!r}")


def limit():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))


said = script("run", "--output", "full.html", "--no-check", preexec=limit)
check(said.returncode == 1 and said.stderr == "report: cannot write the page: File too large\n", f"a full disk: {said.stderr!r}")
check(tree() == before, "and nothing is written")
os.makedirs("small")
write("small/numpy.py", "raise ImportError(\"No module named 'numpy'\")\n")
said = script("run", env={"PYTHONPATH": os.path.join(runs.WORK, "small")})
check(said.returncode == 1 and "apt install python3-numpy" in said.stderr and said.stderr.count("\n") == 1, f"without numpy: {said.stderr!r}")

runs.finish()
