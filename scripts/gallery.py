#!/usr/bin/python3
"""Makes the gallery of cases, docs/gallery/, from the comments at the head of configs/*.yaml.

    scripts/gallery.py                          writes the pages
    scripts/gallery.py --check                  says which pages differ from what it would write
    scripts/gallery.py --pictures TAGFLOW [CASE ...]    runs these cases, or all, for docs/images/gallery/; then the pages

All pictures take about ten minutes on two cores. The head of a case is its title, what it is, and then paragraphs that begin
with `Expect:`, `Time:` and, where there is more to say, `Note:`.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap

from command_line import Parser, Wrong, ended, quoted
from tagflow.files import write_text, write_whole

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES, PAGES, PICTURES = (os.path.join(ROOT, *path) for path in (("configs",), ("docs", "gallery"), ("docs", "images", "gallery")))
LARGEST = 60000  # bytes of a picture
WIDTH = 640  # its pixels along x
MADE = "<!-- scripts/gallery.py made this page. Do not edit it. -->"


class Picture:
    """How the picture of a case is made: the file of the run that it is, or that scripts/plot.py draws with these options; and
    what is changed, where the whole case would take too long or writes nothing that can be shown."""

    def __init__(self, file, changes=None, plot=None):
        self.file, self.changes, self.plot = file, changes or {}, plot

    def settings(self):
        return [word for path, value in self.changes.items() for word in ("--set", f"{path}={value}")]

    def caption(self, name):
        run = "`" + shlex.join(["tagflow", "run", name + ".yaml"] + self.settings()) + "`"
        if self.plot is None:
            return f"`{self.file}` of {run}."
        return f"`{shlex.join(['scripts/plot.py', f'{name}/{self.file}'] + self.plot)}` after {run}."


SHOWN = {
    "abc": Picture("images/speed_0000000250.png"),
    "backward_step": Picture("images/flow_0000031000.png"),
    "car": Picture("images/side_0000016000.png"),
    "car_levels": Picture("images/side_0000000480.png"),
    "cavity": Picture("images/mid_0000060000.png", {"run.steps": 60000}),
    "cavity_cube": Picture("images/middle_0000016000.png", {"run.steps": 16000}),
    "cavity_re100": Picture("images/mid_0000020000.png"),
    "channel_180": Picture("images/streaks_0000016050.png", {"run.steps": 16050, "output.averages.mean.from": 10700}),
    "chip": Picture("images/side_0000040000.png"),
    "couette": Picture("images/mid_0000036000.png"),
    "cylinder": Picture("images/mid_0000003000.png", {"run.steps": 3000, "output.images.mid.every": "1 s"}),
    "duct": Picture("images/across_0000018000.png"),
    "flow_rate": Picture("series/flow.csv", plot=["--columns", "acceleration"]),
    "cylinder_levels": Picture("images/mid_0000004667.png", {
        "domain.cells": "[64, 64, 8]", "fluid.length": 2, "fluid.reynolds": 1500, "initial.center": "[21.2, 32.8, 2]", "initial.width": 1,
        "bodies.cylinder.shape.cylinder.center": "[24, 32, 4]", "bodies.cylinder.shape.cylinder.radius": 1,
        "refine.near.distance": 1, "refine.near.behind": 1, "refine.wake.box": "{from: [22, 30, 0], to: [33, 34, 8]}",
        "refine.far.box": "{from: [20, 28, 0], to: [45, 36, 8]}", "run.steps": 4667, "output.series": "{}", "output.images.mid.every": 4667}),
    "heated_cube": Picture("images/middle_0000120000.png", {
        "domain.cells": "[48, 48, 24]", "fluid.length": 48, "fluid.viscosity": 7.38e-4, "force.gravity": "[0, -6.936e-5, 0]", "run.steps": 120000,
        "output.images.middle.every": 120000, "output.images.middle.at": 23}),
    "horn": Picture("images/mid_0000004000.png"),
    "kovasznay": Picture("images/flow_0000060000.png"),
    "open_duct": Picture("images/middle_0000003000.png"),
    "pack": Picture("images/mid_0000005400.png"),
    "poiseuille": Picture("images/mid_0000036000.png"),
    "pulse": Picture("images/sound_0000000060.png"),
    "rock": Picture("images/mid_0000002000.png"),
    "roller": Picture("images/mid_0000012000.png"),
    "shear_layer": Picture("images/vorticity_0000005120.png"),
    "shear_layer_re10000": Picture("images/vorticity_0000002560.png"),
    "sphere": Picture("images/mid_0000003000.png", {
        "domain.cells": "[120, 72, 72]", "fluid.length": 8, "bodies.sphere.shape.sphere.center": "[36, 36, 36]",
        "bodies.sphere.shape.sphere.radius": 4, "run.steps": 3000, "output.images.mid.every": 1000}),
    "sphere_levels": Picture("images/mid_0000002000.png"),
    "sponge": Picture("series/pulse.csv", {
        "output.series.pulse": "{every: 100, of: line, from: [0.5, 0.5, 0.5], to: [399.5, 0.5, 0.5], points: 400}"},
                      ["--columns", "pressure", "--step", "0,300,400,500"]),
    "street": Picture("images/vorticity_0000016000.png"),
    "taylor_green_2d": Picture("images/vorticity_0000002075.png"),
    "taylor_green_3d": Picture("images/vorticity_0000001630.png", {"run.steps": 1630}),
    "vessel": Picture("images/middle_0000010000.png"),
    "womersley": Picture("series/profile.csv", plot=["--columns", "velocity_x", "--step", "15084,15503,15922,16341"]),
}

GROUPS = [
    ("Bodies", ["car", "car_levels", "sphere", "sphere_levels", "street", "cylinder", "cylinder_levels", "roller", "horn",
                "vessel"]),
    ("Pores", ["rock", "pack"]),
    ("Cavities", ["cavity", "cavity_cube", "cavity_re100"]),
    ("Turbulence, vortices and shear layers", ["channel_180", "taylor_green_3d", "shear_layer", "shear_layer_re10000", "taylor_green_2d",
                                               "abc"]),
    ("Inlets and outlets", ["backward_step", "open_duct", "kovasznay", "pulse", "sponge"]),
    ("Heat", ["chip", "heated_cube"]),
    ("Channels and ducts", ["poiseuille", "couette", "duct", "womersley", "flow_rate"]),
]


class Case:
    """The head of a case file: title, purpose, expected, time, note."""

    def __init__(self, name):
        self.name = name
        with open(os.path.join(CASES, name + ".yaml"), encoding="utf-8") as file:
            lines = re.match(r"(?:#.*\n)*", file.read())[0].splitlines()
        self.title = lines[0][1:].strip() if lines else ""
        parts = {"": []}
        part = parts[""]
        for line in lines[1:]:
            word = re.match(r"# (Expect|Time|Note): ?(.*)", line)
            if word:
                part = parts[word[1]] = [word[2]]
            else:
                part.append(line[2:])
        self.purpose, self.expected, self.time, self.note = ("\n".join(parts.get(word, [])).strip("\n")
                                                             for word in ("", "Expect", "Time", "Note"))
        for what, text in (("a title in its first line", self.title), ("a purpose", self.purpose), ("Expect:", self.expected),
                           ("Time:", self.time)):
            if not text.strip():
                raise Wrong(f"configs/{name}.yaml: its head lacks {what} (CONTRIBUTING.md, A case)")


# ---- the pages ----

# What the head of a case names: files of a run, of tests/ and scripts/ and beside the case, settings, keys.
NAMED = (r"(?:series|tests|scripts)/[\w./]*\w|report\.json|[a-z_0-9]+\.(?:stl|raw|csv)|--set (?:'[^']*'|[^\s,;]*\w)|"
         r"(?:initial|solver|refine|run|force|output|bodies)\.[a-z_.]*[a-z]|force: \{(?:[^{}]|\{[^}]*\})*\}")


def marked(text, before=""):
    """A part of a case's head as Markdown: names as code, pages as links, indented lines as a block of code."""
    blocks = []  # of code or of prose
    for line in text.split("\n"):
        is_code = line.startswith(" ")
        if not blocks or blocks[-1][0] != is_code:
            blocks.append((is_code, []))
        blocks[-1][1].append(line.strip())
    parts = []
    for is_code, lines in blocks:
        if is_code:
            parts.append("\n".join("    " + line for line in lines))
            continue
        words = re.split(r"(`[^`]*`)", " ".join(lines))  # every other one is code already
        for k in range(0, len(words), 2):
            words[k] = re.sub(rf"(?<![\w/])({NAMED})(?!\w)|([*<])|docs/(\w+)\.md", lambda found: f"`{found[1]}`" if found[1] else
                              "\\" + found[2] if found[2] else f"[{found[3]}.md](../{found[3]}.md)", words[k])
        parts.append("\n".join(textwrap.wrap(("" if parts else before) + "".join(words), 118, break_long_words=False,
                                             break_on_hyphens=False)))
    return "\n\n".join(parts)


def page(case):
    parts = [f"# {case.title}", MADE, f"![{case.title}](../images/gallery/{case.name}.png)", "Picture: " +
             SHOWN[case.name].caption(case.name), marked(case.purpose), marked(case.expected, "**Expect:** "),
             marked(case.time, "**Time:** ")]
    if case.note:
        parts.append(marked(case.note, "**Note:** "))
    parts.append(f"The case: [configs/{case.name}.yaml](../../configs/{case.name}.yaml)")
    return "\n\n".join(parts) + "\n"


def overview(cases):
    parts = ["# Gallery", MADE, "These cases come with the program, in `configs/`. Each page shows what a case computes, which numbers to expect "
             "and how\nlong it takes. To run one:", "```\ntagflow check cavity.yaml\ntagflow run cavity.yaml\n```"]
    for title, names in GROUPS:
        parts.append(f"## {title}\n\n<div class=\"gallery\" markdown=\"1\">")
        for name in names:
            parts.append(f"<div markdown=\"1\">\n[![{cases[name].title}](../images/gallery/{name}.png)]({name}.md)\n\n"
                         f"[{cases[name].title}]({name}.md)\n</div>")
        parts.append("</div>")
    return "\n\n".join(parts) + "\n"


def wanted():
    """{path: text} of all pages."""
    names = sorted(os.path.basename(path)[:-len(".yaml")] for path in glob.glob(os.path.join(CASES, "*.yaml")))
    grouped = [name for _, group in GROUPS for name in group]
    for what, table in (("GROUPS", grouped), ("SHOWN", SHOWN)):
        wrong = sorted(set(names) ^ set(table))
        if wrong:
            raise Wrong(f"{what} in scripts/gallery.py and configs/*.yaml differ: {', '.join(wrong)}")
    cases = {name: Case(name) for name in names}
    for name in names:
        picture = os.path.join(PICTURES, name + ".png")
        if not os.path.exists(picture):
            raise Wrong(f"docs/images/gallery/{name}.png is missing (scripts/gallery.py --pictures TAGFLOW {name})")
    pages = {name: page(case) for name, case in cases.items()} | {"index": overview(cases)}
    return {os.path.join(PAGES, name + ".md"): text for name, text in pages.items()}


def different(pages):
    """Pages that are not there, are another text, or belong to no case."""
    found = []
    for path in sorted(pages.keys() | set(glob.glob(os.path.join(PAGES, "*.md")))):
        try:
            with open(path, encoding="utf-8") as file:
                same = pages.get(path) == file.read()
        except FileNotFoundError:
            same = False
        if not same:
            found.append(path)
    return found


# ---- the pictures ----

def draw(tagflow, name):
    """Runs the case and makes its picture."""
    picture = SHOWN[name]
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, name)
        call([tagflow, "run", os.path.join(CASES, name + ".yaml"), "--output", run] + picture.settings())
        made = os.path.join(run, picture.file)
        if picture.plot is not None:
            drawn = os.path.join(folder, "plot.png")
            call([os.path.join(ROOT, "scripts", "plot.py"), made, "--output", drawn] + picture.plot)
            made = drawn
        if not os.path.exists(made):
            raise Wrong(f"{name}: the run wrote no {picture.file}")
        shrink(made)
        os.makedirs(PICTURES, exist_ok=True)
        write_whole(os.path.join(PICTURES, name + ".png"), lambda path: shutil.copyfile(made, path))


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Wrong(f"{shlex.join(command)}: exit status {done.returncode}: {done.stdout.strip()[-300:]}")


def shrink(path):
    """Makes a picture of at most LARGEST bytes: WIDTH pixels wide, with fewer colours."""
    if os.path.getsize(path) <= LARGEST:
        return
    from PIL import Image

    for colours in 128, 64, 32, 16:
        with Image.open(path) as image:
            small = image.convert("RGB")
        if small.width > WIDTH:
            small = small.resize((WIDTH, round(small.height * WIDTH / small.width)), Image.LANCZOS)
        small.quantize(colours, dither=Image.Dither.NONE).save(path + ".small", "PNG", optimize=True)
        if os.path.getsize(path + ".small") <= LARGEST:
            break
    os.replace(path + ".small", path)


def main():
    parser = Parser("gallery.py", __doc__, "case")
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 2 if a page differs")
    parser.add_argument("--pictures", nargs="+", metavar=("TAGFLOW", "CASE"), help="make the pictures of these cases, or of all")

    def work():
        options = parser.parse_args()
        if options.pictures:
            program, *names = options.pictures
            for name in names or sorted(SHOWN):
                if name not in SHOWN:
                    raise Wrong(f"there is no case {quoted(name)} (known: {', '.join(sorted(SHOWN))})")
                draw(os.path.abspath(program), name)
                print(f"docs/images/gallery/{name}.png")
        pages = wanted()
        wrong = different(pages)
        if options.check and wrong:
            raise Wrong("run scripts/gallery.py: these pages differ: " + ", ".join(os.path.relpath(path, ROOT) for path in wrong))
        for path in wrong:
            if path in pages:
                os.makedirs(PAGES, exist_ok=True)
                write_text(path, pages[path])
            else:
                os.remove(path)
        print(f"{len(pages)} pages, {len(wrong)} {'differ' if options.check else 'written'}")

    return ended("gallery", "gallery", work)


if __name__ == "__main__":
    sys.exit(main())
