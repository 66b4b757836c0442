#!/usr/bin/python3
"""Makes docs/commands.md from the help of tagflow and of the scripts that `meson install` installs.

    scripts/site/commands.py TAGFLOW [--check]      --check writes nothing and ends with status 2 if the page differs
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from command_line import Parser, Wrong, ended
from tagflow.files import write_text

PAGE = os.path.join(ROOT, "docs", "commands.md")
MADE = "<!-- scripts/site/commands.py made this page. Do not edit it. -->"


def said(*command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise Wrong(f"{command[0]}: {error.strerror}") from None
    if done.returncode or not done.stdout:
        raise Wrong(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout.rstrip() + "\n"


def purpose(script):
    """The first sentence of a script's text."""
    with open(os.path.join(ROOT, "scripts", script), encoding="utf-8") as file:
        text = re.match(r'#!.*\n"""((?:.+\n)+)', file.read())
    if not text:
        raise Wrong(f"scripts/{script} does not begin with a text")
    return re.match(r"(.+?[.:])(?:\s|$)", text[1].replace("\n", " "))[1].rstrip(":.") + "."


def page(tagflow):
    help_text = said(tagflow, "--help")
    commands = re.findall(r"^  tagflow (\w+) ", help_text, re.M)
    parts = ["# Commands", MADE, "`tagflow COMMAND --help` prints the text of a command below. `run`, `check`, `bench` and `info` also work under "
             "`mpirun`\nand `srun`.", f"```\n{help_text}```"]
    for command in commands:
        parts.append(f"## tagflow {command}\n\n```\n{said(tagflow, command, '--help')}```")
    with open(os.path.join(ROOT, "scripts", "meson.build"), encoding="utf-8") as file:
        scripts = re.findall(r"'(\w+\.py)'", re.search(r"^programs = \[(.*?)\]", file.read(), re.M | re.S)[1])
    rows = "".join(f"| `{script}` | {purpose(script)} |\n" for script in scripts)
    parts.append("## Scripts\n\n`meson install` puts them into `share/tagflow/scripts`. Each answers `--help`.\n\n| script | what it does |\n"
                 f"|---|---|\n{rows}".rstrip())
    return "\n\n".join(parts) + "\n"


def main():
    parser = Parser("commands.py", __doc__, "page")
    parser.add_argument("tagflow", help="the program")
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 2 if the page differs")

    def work():
        options = parser.parse_args()
        text = page(os.path.abspath(options.tagflow))
        if options.check:
            with open(PAGE, encoding="utf-8") as file:
                if file.read() != text:
                    raise Wrong("docs/commands.md differs from the help: run scripts/site/commands.py TAGFLOW")
            return
        write_text(PAGE, text)
        print("docs/commands.md")

    return ended("commands", "page", work)


if __name__ == "__main__":
    sys.exit(main())
