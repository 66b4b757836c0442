#!/usr/bin/python3
"""`meson install` puts a program, cases, scripts, man page and completion in place, and they work from there.

    tests/robustness/install.py BUILD PAGE      PAGE: the man page in the build folder
"""
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys

import runs
from runs import ROOT, check, tagflow, write

BUILD, PAGE = sys.argv[1:]
# Those that need the sources: for who changes tagflow. Every other file of scripts/ is installed.
SOURCES = {"bundle.sh", "chroot.sh", "figures.py", "gallery.py", "golden.sh", "gpu_suite.py", "gpu_suite.sh", "kovasznay.py", "large_tau.py", "meson.build", "operators.py",
           "packages.sh", "libraries.sh", "precision.py", "quickstart.sh", "setup.sh", "site.sh", "site/benchmarks.py", "site/commands.py", "site/hooks.py", "site/markdown_links.py",
           "site/mkdocs.yml", "site/theme/assets/site.css", "site/theme/main.html", "taylor_green.py", "test.sh", "validate_gpu.py", "wheel.sh"}

if not os.path.exists(PAGE):
    runs.skip(f"{PAGE} is not built (ninja -C {BUILD})")
if not shutil.which("meson"):
    runs.skip("needs meson")


def call(*line, **more):
    return subprocess.run(line, capture_output=True, text=True, timeout=runs.HANGS, stdin=subprocess.DEVNULL, **more)


said = call("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", os.path.join(runs.WORK, "to"))
if not check(said.returncode == 0, f"meson install: {said.returncode} {said.stderr[-300:]}"):
    runs.finish()
prefix = os.path.dirname(os.path.dirname(next(os.path.join(folder, "tagflow") for folder, _, names in os.walk("to")
                                              if folder.endswith("/bin") and "tagflow" in names)))
prefix = os.path.abspath(prefix)
share = os.path.join(prefix, "share", "tagflow")


def names(folder):
    """Files below a folder, {path: executable?}, without what running Python left."""
    return {os.path.relpath(os.path.join(where, name), folder): os.access(os.path.join(where, name), os.X_OK)
            for where, _, files in os.walk(folder) for name in files if "__pycache__" not in where}


check(names(share + "/configs").keys() == names(ROOT + "/configs").keys(), f"all {len(names(share + '/configs'))} files of configs/")
here, there = names(ROOT + "/scripts"), names(share + "/scripts")
SOURCES |= {name for name in here if name.startswith("systems/")}
check(there == {name: here[name] for name in here.keys() - SOURCES} and SOURCES < here.keys(),
      f"scripts: all but {len(SOURCES)} that need the sources, executable as here: {sorted(there)}")
sources = {name for name in names(ROOT + "/python/src/tagflow") if not name.endswith(".pyc")}
check(names(share + "/python/src/tagflow").keys() == sources and {"pyproject.toml", "README.md"} <= names(share + "/python").keys(),
      f"the Python package, all {len(sources)} files")
[library] = glob.glob(prefix + "/lib*/**/libtagflow.so.1", recursive=True)
check(os.path.exists(library) and os.path.exists(library[:-2]), f"the library, {os.path.relpath(library, prefix)}")
check(names(share + "/notebooks").keys() == {name for name in names(ROOT + "/notebooks") if name.endswith(".ipynb")}, "notebooks")
[pc] = glob.glob(prefix + "/lib*/**/tagflow.pc", recursive=True)
for path, mode in (("include/tagflow.h", 0o644), (os.path.relpath(pc, prefix), 0o644), ("bin/tagflow", 0o755), ("bin/tagflow-bench", 0o755), ("share/doc/tagflow/LICENSE", 0o644), ("share/man/man1/tagflow.1", 0o644),
                   ("share/bash-completion/completions/tagflow", 0o644)):
    found = os.path.join(prefix, path)
    check(os.path.isfile(found) and os.stat(found).st_mode & 0o777 == mode, f"{path}, mode {mode:o}")



def lacks(said):
    """Did a script say which package to install, and is that package really not there?"""
    absent = [name for name in ("matplotlib", "vtkmodules") if importlib.util.find_spec(name) is None]
    return said.returncode == 1 and any(f"No module named '{name}'): apt install python3-" in said.stderr for name in absent)


# The program and the scripts, with this folder in PATH and nothing of the sources in the environment.
env = {name: value for name, value in os.environ.items() if not name.startswith("TAGFLOW")}
env["PATH"] = os.path.join(prefix, "bin") + ":" + env["PATH"]
said = call("tagflow", "run", share + "/configs/cavity_re100.yaml", "--set", "run.steps=200", "--set",
            "output={series: {flow: {every: 50, of: kinetic_energy}}}", "--output", "cavity", env=env)
check(said.returncode == 0 and os.path.isfile("cavity/series/flow.csv"), f"the installed program runs an installed case: {said.stderr[-200:]}")
for ranks, launcher in (1, []), (2, [runs.MPIRUN, "-n", "2"]):
    said = call(*launcher, "tagflow", "bench", "--backend", "cpu", "--cells", "8", "--storage", "fp32", "--steps", "2", "--repeat", "1", env=env)
    check(said.returncode == 0 and said.stdout.count(" 8^3 ") == 4 and f"\n{ranks} rank" in said.stdout,
          f"and measures its speed on {ranks} ranks: {said.stdout[-200:]}{said.stderr[-200:]}")
os.makedirs("alone")
shutil.copy(prefix + "/bin/tagflow", "alone/tagflow")
said = call("alone/tagflow", "bench", env=env)
check(said.returncode == 2 and not said.stdout and said.stderr.count("\n") == 1 and f"{os.path.realpath('alone')}/tagflow-bench is not installed" in said.stderr,
      f"without the program of the benchmark: {said.stderr}")
said = call(share + "/scripts/plot.py", "cavity/series/flow.csv", env=env)
check(lacks(said) or said.returncode == 0 and os.path.getsize("flow.png") > 1000, f"an installed script draws its series: {said.stderr[-200:]}")
said = call("/usr/bin/python3", "-c", "import tagflow; print(tagflow.check('cavity/case.yaml').numbers['steps'], tagflow.find_program()[0], "
            "len(tagflow.open_run('cavity').series['flow']))", env=env | {"PYTHONPATH": share + "/python/src", "PATH": "/usr/bin:/bin"})
check(said.stdout == f"200.0 {prefix}/bin/tagflow 5\n", f"the package finds the program that is installed with it: {said.stdout}{said.stderr[-200:]}")
said = call("/usr/bin/python3", "-c", "import tagflow; flow = tagflow.Simulation('cavity/case.yaml', settings={'run.steps': 5}, threads=1); "
            "print(flow.advance()); flow.close()", env=env | {"PYTHONPATH": share + "/python/src", "PATH": "/usr/bin:/bin"})
check(said.stdout == "5\n", f"and the library: {said.stdout}{said.stderr[-300:]}")
for name in (name for name, program in there.items() if program and "/" not in name):
    said = call(os.path.join(share, "scripts", name), "--help", env=env)
    check(lacks(said) or said.returncode == 0 and name in said.stdout, f"installed {name} --help {said.stderr[-200:]}")

# The tutorial: what it copies is installed, and `tagflow check` says what it quotes.
tutorial = open(ROOT + "/docs/tutorial.md", encoding="utf-8").read()
blocks = [text for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", tutorial, re.M | re.S) if not kind]
named = sorted(set(re.findall(r'"\$share(/[\w/.]+)"|"\$share"(/[\w/.*]+)', tutorial)))
check(len(named) > 8 and all(glob.glob(share + (a or b)) for a, b in named), f"it names {[a or b for a, b in named]}")
os.makedirs("tutorial")
said = ""
for block in blocks:
    for line in re.findall(r'^(?:cp |"\$share/scripts/make_mesh|tagflow check ).*', block, re.M):
        done = call("bash", "-c", line, cwd="tutorial", env=env | {"share": share})
        wrong = "fluid.reynold=" in line
        check(done.returncode == (2 if wrong else 0) and (wrong or "warning" not in done.stderr), f"{line}: {done.returncode} {done.stderr.strip()[-200:]}")
        said += done.stdout + done.stderr
quoted = [line for block in blocks for line in block.splitlines() if re.match(r"tagflow: |  body |  porosity |  pores |pores: ", line)]
check(len(quoted) == 5 and all(line + "\n" in said for line in quoted), f"{len(quoted)} lines that it quotes are what check says")

# The pages say what the help says: every command and every option.
page = open(prefix + "/share/man/man1/tagflow.1", encoding="utf-8").read()
plain = re.sub(r"\\[ &]", " ", page.replace("\\-", "-"))
options = {}
for name in re.findall(r"^  tagflow (\w+)", tagflow("--help").out, re.M):
    said = tagflow(name, "--help").out
    options[name] = sorted(set(re.findall(r"--[a-z-]+", said)) - {"--help"})
    part = re.search(rf"^\.SS tagflow {name}$(.*?)^\.S[SH] ", plain, re.M | re.S)
    described = sorted(set(re.findall(r"^  (--[a-z-]+)", said, re.M)))
    check(part and all(re.search(rf"^\.BI? {option}\b", part[1], re.M) for option in described),
          f"the man page describes {name} {described}")
    check(all(option in plain for option in options[name]), f"and has {options[name]}")
check(all(f".B {code}\n" in page for code in (0, 1, 2, 3, 75)), "and the exit status")
version = re.search(r"tagflow (\S+)", tagflow("--version").out)[1]
check(f'"tagflow {version}"' in page, f"and the version, {version}")
changes = open(prefix + "/share/doc/tagflow/CHANGELOG.md", encoding="utf-8").read()
check(re.search(r"^## \[(\S+)\]", changes, re.M)[1] == version, f"the newest version in CHANGELOG.md is {version}")
citation = open(prefix + "/share/doc/tagflow/CITATION.cff", encoding="utf-8").read()
check(f"\nversion: {version}\n" in citation and citation.startswith("cff-version: 1.2.0\n"), "and that of CITATION.cff")
if shutil.which("groff"):
    said = call("groff", "-man", "-Tutf8", "-ww", "-z", prefix + "/share/man/man1/tagflow.1")
    check(said.returncode == 0 and not said.stderr and not said.stdout, f"groff has no warning {said.stderr[-300:]}")
if shutil.which("man"):
    said = call("man", "-l", prefix + "/share/man/man1/tagflow.1", env=env | {"MANPAGER": "cat", "MANWIDTH": "80"})
    check(said.returncode == 0 and "EXIT STATUS" in said.stdout and "restart auto" in said.stdout, f"man -l shows it {said.stderr[-200:]}")

# Completion: words as bash cuts them, the last one is completed.
write("complete.sh", f"""
. '{prefix}/share/bash-completion/completions/tagflow'
compopt() {{ :; }}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tagflow
printf '%s\\n' "${{COMPREPLY[@]}}"
""")
for name in ("x.yaml", "y.h5", "z.txt"):
    write(name, "")


def completed(*words):
    said = call("bash", "complete.sh", "tagflow", *words)
    check(said.returncode == 0 and not said.stderr, f"completing {words} says no more {said.stderr[-200:]}")
    return sorted(set(said.stdout.split()))


check(completed("") == sorted([*options, "--help", "--version"]), f"commands: {completed('')}")
for name, known in options.items():
    found = completed(name, "--")
    check(found == sorted([*known, "--help"]), f"{name} --: {found}")
for words, expected in [(["ru"], ["run"]), (["run", "--ba"], ["--backend"]), (["run", "--backend", ""], ["auto", "cpu", "cuda"]),
                        (["run", "--backend", "=", "cu"], ["cuda"]), (["run", "x"], ["x.yaml"]), (["info", "y"], ["y.h5"]),
                        (["run", "--output", "cav"], ["cavity"]), (["run", "--restart", "au"], ["auto"]),
                        (["bench", "--case", "per"], ["periodic"]), (["bench", "--storage", ""], ["all", "fp16", "fp32", "fp64"]),
                        (["run", "x.yaml", "--set", "run.ste"], ["run.steps="]), (["keys", "run.stop.o"], ["run.stop.of", "run.stop.over"]),
                        (["run", "--set", "faces.xmin.pressure.ru"], ["faces.xmin.pressure.rule="]),
                        (["run", "--set", "faces.xmin.pressure.rule", "="], ["links", "regularised"]),
                        (["run", "--set", "faces.xmin", "=", "peri"], ["periodic"]),
                        (["run", "--set", "faces.xmin.wall.velocity", "=", "peri"], []),
                        (["run", "--set", "output.series.drag.ax"], ["output.series.drag.axis="]),
                        (["run", "--set", "output.series.drag.axis", "=", "y"], ["y"])]:
    found = completed(*words)
    check(found == expected, f"{' '.join(words)}: {found}")

# It reads what the program says: with one that says nothing, or something else, no page is made.
for name, text in (("silent", "exit 0"), ("failing", "exit 1"), ("other", "echo hello; echo; echo 'Exit status: 0 done'")):
    write(name, "#!/bin/sh\n" + text + "\n")
    os.chmod(name, 0o755)
    said = call("/usr/bin/python3", ROOT + "/src/cli/pages.py", "./" + name, "1", "m", "c")
    check(said.returncode == 1 and said.stderr.startswith("pages.py: ") and said.stderr.count("\n") == 1 and not os.path.exists("m"),
          f"a program that is {name}: {said.stderr!r}")

runs.finish()
