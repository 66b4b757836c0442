#!/usr/bin/python3
"""The pages: links and anchors of all Markdown files lead somewhere, the gallery has every case, cases on the pages are right; and the
site that scripts/site.sh makes of them is whole, needs no other host, and shows no raw Markdown."""
import glob
import html.parser
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

import runs
from runs import ROOT, check, tagflow, write

sys.path[:0] = [ROOT + "/scripts/site", ROOT + "/scripts"]
sys.dont_write_bytecode = True
import gallery
from markdown_links import anchors, links, prose


def call(*line):
    return subprocess.run(line, capture_output=True, text=True, timeout=runs.HANGS, stdin=subprocess.DEVNULL,
                          env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})


def told(process):
    return f"{process.returncode} {process.stdout.strip()[-200:]!r} {process.stderr.strip()[-400:]!r}"


# Markdown -------------------------------------------------------------------------------------

SOURCES = sorted(os.path.relpath(path, ROOT) for path in glob.glob(ROOT + "/*.md") + glob.glob(ROOT + "/docs/**/*.md", recursive=True))
TEXTS = {}
for name in SOURCES:
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        TEXTS[name] = file.read()


def wrong_links(texts):
    """Links of Markdown files, {name: text}, that lead nowhere."""
    for name, text in texts.items():
        for line, target in links(text):
            if re.match(r"https?://\S+\.\S+|mailto:", target):
                continue
            path, _, anchor = target.partition("#")
            other = posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(path))) if path else name
            if other.startswith("../") or not os.path.isfile(os.path.join(ROOT, other)) and other not in texts:
                yield f"{name}:{line}: {target}: there is no such file"
            elif anchor and anchor not in anchors(texts.get(other, "")):
                yield f"{name}:{line}: {target}: there is no such heading"


count = sum(1 for text in TEXTS.values() for _ in links(text))
wrong = list(wrong_links(TEXTS))
check(count > 200 and not wrong, f"{count} links of {len(SOURCES)} Markdown files lead somewhere {wrong[:5]}")
planted = {"docs/a.md": "# A b\n\n[x](b.md) [y](#a-b) [z](#a-c) `[no](link.md)`\n```\n[no](link.md)\n```\n[w](../README.md#no-heading)\n"}
wrong = list(wrong_links(planted))
check([text.split(": ")[1] for text in wrong] == ["b.md", "#a-c", "../README.md#no-heading"], f"three wrong ones are found {wrong}")
# Python-Markdown needs an empty line before a list or a table, and four spaces for a list within a list.
raw = []
for name, text in TEXTS.items():
    before = ""
    for number, line in prose(text):
        starts = re.match(r"( *)([-*] |\d+\. |\|)", line)
        if starts and (before.strip() and not re.match(r" *([-*] |\d+\. |\|)| +\S", before) or len(starts[1]) in (1, 2, 3)):
            raw.append(f"{name}:{number}")
        before = line
check(not raw, f"lists and tables are what they are for MkDocs, too {raw[:5]}")

# The gallery and the commands are what their scripts write.
said = call(ROOT + "/scripts/gallery.py", "--check")
check(said.returncode == 0, f"the gallery has each case of configs/: {told(said)}")
sizes = {os.path.basename(path): os.path.getsize(path) for path in glob.glob(ROOT + "/docs/images/gallery/*.png")}
check(sizes and max(sizes.values()) <= 60000 and sum(sizes.values()) <= 1500000 and
      sizes.keys() == {os.path.basename(path)[:-5] + ".png" for path in glob.glob(ROOT + "/configs/*.yaml")},
      f"a picture of each, {len(sizes)}, {sum(sizes.values())} bytes in all, {max(sizes.values(), default=0)} at most")
# Each case begins to run, as its picture was made, and is warned of nothing but what its head tells of.
TOLD = {"car_levels": "there is no model of the layers at walls", "heated_cube": "is 1.7 cells thick: about 8 % too little passes"}
for name, picture in gallery.SHOWN.items():
    changes = {path: value for path, value in picture.changes.items() if "averages" not in path} | {
        "run.steps": 3, "checkpoint.every": 0, "output": "{log: {every: 1}, images: {mid: {every: 3, of: speed}}}",
        "run.stop": "none", "check.every": 1}
    changes = {path: value for path, value in changes.items() if not path.startswith("output.")}
    said = tagflow("run", f"{ROOT}/configs/{name}.yaml", "--output", "short", *runs.sets(changes))
    known = said.lines and all("warning: " in line and TOLD.get(name, "\0") in line for line in said.lines)
    check(said.code == 0 and (known if name in TOLD else not said.lines) and os.path.exists("short/images/mid_0000000003.png"), f"{name} runs: {said}, {said.lines}")
    shutil.rmtree("short", ignore_errors=True)
said = call(ROOT + "/scripts/site/commands.py", runs.TAGFLOW, "--check")
check(said.returncode == 0, f"docs/commands.md is the help of the commands: {told(said)}")
with open(ROOT + "/paper/paper.md", encoding="utf-8") as text, open(ROOT + "/paper/paper.bib", encoding="utf-8") as bib:
    paper, entries = text.read(), set(re.findall(r"^@\w+\{(\w+),", bib.read(), re.M))
check(set(re.findall(r"@(\w+)", paper)) == entries and len(paper.split()) < 1000, f"the paper cites each entry of its references, {sorted(entries)}")
said = call(ROOT + "/scripts/site/benchmarks.py", "--check")
check(said.returncode == 0, f"docs/benchmarks.md has the files of benchmarks/: {told(said)}")

# Cases on the how-to pages are whole, and `tagflow check` has nothing against them.
tried = 0
for name in SOURCES:
    if not name.startswith("docs/howto/"):
        continue
    for script, words in re.findall(r'^"\$share/scripts/(make_rock.py|make_mesh.py)" (.*)$', TEXTS[name], re.M):
        said = call(ROOT + "/scripts/" + script, *words.split())
        check(said.returncode == 0, f"{name} makes an image or a mesh: {told(said)}")
    for case in re.findall(r"^```yaml\n(.*?)^```$", TEXTS[name], re.M | re.S):
        if re.search(r"^domain:", case, re.M):
            said = tagflow("check", "--verbose", write("case.yaml", case))
            tried += 1
            quoted = re.findall(r"^(?:  porosity|  pores|  fluid along|pores:) .*\n", TEXTS[name], re.M) if "image:" in case else []
            check(said.code == 0 and not said.lines and all(line in said.out for line in quoted),
                  f"{name}: {case.split(chr(10))[0]}: {said}, {said.lines}, {len(quoted)} lines that the page quotes")
check(tried >= 8, f"{tried} cases")

# The site ---------------------------------------------------------------------------------------

for arguments, words in (("a", "b"), "usage"), (("",), "no name"), (("--fast",), "no name"), ((ROOT + "/docs",), "something else"), \
        (("plain",), "something else"):
    write("plain", "no folder\n")
    said = call(ROOT + "/scripts/site.sh", *arguments)
    check(said.returncode == 2 and words in said.stderr and said.stderr.count("\n") == 1, f"site.sh {arguments}: {told(said)}")
check(os.path.exists(ROOT + "/docs/tutorial.md"), "and docs/ is still there")
if not shutil.which("mkdocs") or not os.path.isdir("/usr/share/mkdocs/themes/material"):
    if check(not os.environ.get("CI"), "mkdocs and mkdocs-material are missing: the site is not built"):
        runs.skip("mkdocs, mkdocs-material")
    runs.finish()
os.mkdir("site")
said = call(ROOT + "/scripts/site.sh", "site")
if not check(said.returncode == 0 and said.stdout.endswith("site/index.html\n") and not said.stderr, f"site.sh: {told(said)}"):
    runs.finish()


class Page(html.parser.HTMLParser):
    """Anchors, links, files that the page loads, and the text of its paragraphs, items and cells."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads, self.texts, self.inside, self.code = set(), [], [], [], 0, 0
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("img", "script", "iframe", "source") and found.get("src"):
            self.loads.append(found["src"])
        if tag == "link" and found.get("href") and found.get("rel") != "canonical":
            self.loads.append(found["href"])
        self.inside += tag == "article"
        self.code += tag in ("code", "pre", "script", "style")

    def handle_endtag(self, tag):
        self.inside -= tag == "article"
        self.code -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data):
        if self.inside and not self.code:
            self.texts.append(data)


PAGES = {os.path.relpath(path, "site"): Page(path) for path in glob.glob("site/**/*.html", recursive=True)}
wrong, foreign, raw = [], [], []
for name, page in PAGES.items():
    for target in page.links + page.loads:
        parts = urllib.parse.urlsplit(target)
        if parts.scheme or parts.netloc:
            if target in page.loads or parts.scheme not in ("http", "https", "mailto"):
                foreign.append(f"{name}: {target}")
            continue
        if name == "404.html":
            continue  # its links begin at the root of the server
        path = urllib.parse.unquote(parts.path)
        other = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        anchor = urllib.parse.unquote(parts.fragment)
        if not os.path.isfile(os.path.join("site", other)):
            wrong.append(f"{name}: {target}")
        elif anchor and other in PAGES and anchor not in PAGES[other].anchors and anchor != "__search":
            wrong.append(f"{name}: {target}")
    for text in page.texts:
        if re.search(r"\]\(|\*\*|^\s*(\||[-*] |#)|``|\n([-*] |\|)", text):
            raw.append(f"{name}: {text.strip()[:60]}")
check(len(PAGES) > 50 and not wrong, f"all links of {len(PAGES)} pages lead somewhere {wrong[:5]}")
for path in glob.glob("site/**/*.css", recursive=True):
    with open(path, encoding="utf-8") as file:
        foreign += [f"{path}: {url}" for url in re.findall(r"(?:url\(|@import )\W?(?:https?:)?//[^)\s]*", file.read())]
check(not foreign, f"nothing is loaded from other hosts {foreign[:5]}")
check(not raw, f"no raw Markdown is left {raw[:5]}")
listed = {posixpath.normpath(urllib.parse.unquote(target)) for target in PAGES["index.html"].links if "#" not in target}
check(PAGES.keys() - {"404.html"} <= listed, f"each page is in the navigation {sorted(PAGES.keys() - listed)}")

# The search finds keys one by one, and works on a page that is opened as a file.
with open("site/search/search_index.json", encoding="utf-8") as file:
    index = json.load(file)
places = {entry["location"] for entry in index["docs"]}
keys = re.findall(r"^[a-z]\S*", tagflow("keys").out, re.M)
missing = [key for key in keys if "cases.html#" + re.sub(r"[^\w-]", "", key) not in places]
check(len(keys) > 50 and not missing, f"{len(keys)} keys are found by the search {missing[:5]}")
with open("site/search/as_file.js", encoding="utf-8") as file:
    program = file.read()
check(json.dumps(index["docs"][0]["text"]) in program and len(program) > os.path.getsize("site/search/search_index.json") + 10000,
      "index and search are there as a script, too")
with open("site/index.html", encoding="utf-8") as file:
    check('search/as_file.js' in file.read(), "which the pages load")

# A second time: the old site goes, but not when the new one fails.
write("site/old.html", "old")
said = call(ROOT + "/scripts/site.sh", "site")
check(said.returncode == 0 and not os.path.exists("site/old.html"), f"again, the old site is replaced: {told(said)}")
copy = os.path.join(runs.WORK, "copy")
for folder in "docs", "scripts", "configs":
    shutil.copytree(os.path.join(ROOT, folder), os.path.join(copy, folder))
for name in "CONTRIBUTING.md", "CHANGELOG.md", "README.md", "LICENSE":
    shutil.copy(os.path.join(ROOT, name), copy)
with open(copy + "/docs/gpu.md", "a", encoding="utf-8") as file:
    file.write("\nSee [this](missing.md) and [that](../configs/missing.yaml).\n")
said = call(copy + "/scripts/site.sh", "site")
check(said.returncode == 1 and "missing.md" in said.stderr and "missing.yaml" in said.stderr and os.path.exists("site/index.html") and
      sorted(name for name in os.listdir(".") if name.startswith("site")) == ["site"], f"links to nothing are refused, and the old site stays: {told(said)}")
runs.finish()
