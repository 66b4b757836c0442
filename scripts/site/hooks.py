"""What MkDocs does for the site besides: links out of docs/, the gallery's pages, the table of keys, search without a server.

Pages are the files of docs/ and those of PAGES. A link to another file of the sources gets a copy of it on the site. So the
same links work in the sources and on the site.
"""
import glob
import json
import logging
import os
import posixpath
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from markdown_links import links, replace_links, slug

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ["CONTRIBUTING.md", "CHANGELOG.md"]
HOME = {"README.md": "docs/index.md"}  # who reads the site needs no page about the sources
log = logging.getLogger("mkdocs.tagflow")


def is_relative(target):
    return not re.match(r"[a-z][a-z0-9+.-]*:|#|/", target, re.I)


def source_of(page, target):
    """The file, below the sources, that a link of a page of the sources leads to, and its anchor."""
    path, _, anchor = target.partition("#")
    name = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    return HOME.get(name, name), anchor


def name_on_site(source):
    return source[len("docs/"):] if source.startswith("docs/") else source


def on_config(config):
    config["mdx_configs"]["toc"]["slugify"] = slug
    pages = sorted(os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "docs", "gallery", "*.md")))
    for entry in config["nav"]:
        if "Gallery" in entry:
            entry["Gallery"] = ["gallery/index.md"] + ["gallery/" + name for name in pages if name != "index.md"]
    return config


def on_files(files, config):
    for page in PAGES:
        files.append(File(page, ROOT, config["site_dir"], False))
    for page in list(files.documentation_pages()):
        source = os.path.relpath(page.abs_src_path, ROOT)
        with open(page.abs_src_path, encoding="utf-8") as file:
            text = file.read()
        for number, target in links(text):
            if not is_relative(target):
                continue
            other, _ = source_of(source, target)
            if not os.path.isfile(os.path.join(ROOT, other)) or other.startswith("../"):
                log.warning("%s:%d: there is no file %s", source, number, target)
            elif name_on_site(other) not in files:
                files.append(File(other, ROOT, config["site_dir"], False))
    return files


def on_page_markdown(markdown, page, config, files):
    source = os.path.relpath(page.file.abs_src_path, ROOT)

    def on_site(target):
        if not is_relative(target):
            return target
        other, anchor = source_of(source, target)
        path = posixpath.relpath(name_on_site(other), posixpath.dirname(page.file.src_uri) or ".")
        return path + ("#" + anchor if anchor else "")

    text = replace_links(markdown, on_site)
    if source == "docs/cases.md":
        return keys_as_sections(text)
    case = re.fullmatch(r"docs/gallery/(\w+)\.md", source)
    if case and case[1] != "index":
        with open(os.path.join(ROOT, "configs", case[1] + ".yaml"), encoding="utf-8") as file:
            text += "\n```yaml\n" + re.sub(r"\A(?:#.*\n)*", "", file.read()) + "```\n"  # its head is the page
    return text


def keys_as_sections(text):
    """The table of `tagflow keys`, one block of text in the file, as a heading for each key, which the search finds."""
    def sections(block):
        out, group = [], None
        for key, rest in re.findall(r"^(\S+)\n((?:    .*\n)+)", block, re.M):
            if key.split(".")[0] != group:
                group = key.split(".")[0]
                out.append(f"### The section `{group}`")
            meaning, *facts = (line.strip() for line in rest.splitlines())
            facts = [f"<div class=\"fact\">{escaped(fact)}</div>" for fact in facts]
            out.append(f"#### `{key}`\n\n{escaped(meaning)}\n\n" + "\n".join(facts))
        return "\n\n".join(out) + "\n"

    found = re.subn(r"(?<=## Every key\n)(.*?)```\n(.*?)```\n", lambda match: match[1] + sections(match[2]), text, flags=re.S)
    if found[1] != 1:
        log.warning("docs/cases.md: the table of keys is not where scripts/site/hooks.py looks for it")
    return found[0]


def escaped(text):
    """A line of plain text for Markdown: none of its characters has a meaning."""
    return re.sub(r"([\\`*_{}\[\]<>&|#])", lambda character: f"&#{ord(character[1])};", text)


def on_post_build(config):
    """Browsers let a page that is opened as a file neither fetch the index nor start the search's worker: a script has both."""
    site = config["site_dir"]
    worker, = glob.glob(os.path.join(site, "assets", "javascripts", "workers", "search.*.min.js"))
    with open(worker, encoding="utf-8") as file:
        program = file.read()
    with open(os.path.join(site, "search", "search_index.json"), encoding="utf-8") as file:
        index = json.load(file)
    with open(os.path.join(site, "search", "as_file.js"), "w", encoding="utf-8") as file:
        file.write("var __search = {index: Promise.resolve(" + json.dumps(index) + "),\n  worker: URL.createObjectURL(new Blob([" +
                   json.dumps(program) + "], {type: 'text/javascript'}))};\n")
