#!/usr/bin/python3
"""Where a run writes: nothing of the user's is lost, a run is replaced only when asked, any name will do."""
import os

import runs
from runs import CASE, check, tagflow, tree, write

write("case.yaml", CASE)
RESULTS = [".lock", "case.yaml", "checkpoints", "checkpoints/step_0000000020.h5", "fields", "fields/main_0000000000.vtkhdf", "fields/main_0000000010.vtkhdf",
           "fields/main_0000000020.vtkhdf", "images", "images/mid_0000000000.png", "images/mid_0000000010.png",
           "images/mid_0000000020.png", "log.txt", "report.json", "series", "series/flow.csv", "status.json"]


def run(*arguments, case="case.yaml", **more):
    return tagflow("run", case, *arguments, **more)


def refused(said, *words):
    return said.code == 2 and len(said.errors) == 1 and not said.out and all(word in said.err for word in words)


# Any name, also of folders that are not there yet.
LONG = "/".join(["deep"] * 60)
for name in ["plain", "slash/", "a/b/c", "a//b/./d", "../" + os.path.basename(runs.WORK) + "/up", runs.WORK + "/abs",
             "two words", "quote\"'\\", "%s%n%d", "-dash", "ü ß 流", "line\nfeed", "x" * 250, LONG, "existing"]:
    if name == "existing":
        os.mkdir(name)
    said = run("--output=" + name)
    check(said.code == 0 and tree(name) == RESULTS and not runs.faults(name),
          f"--output={name[:40]!r}: {said}, {len(tree(name)) if os.path.isdir(name) else 0} entries")

# By default the case's name; a case without an ending must not be taken for the folder.
os.mkdir("names")
for case, folder in [("cavity.yaml", "cavity"), ("a.b.yaml", "a.b"), ("two words.yml", "two words")]:
    write("names/" + case, CASE)
    said = run(case=case, cwd="names")
    check(said.code == 0 and tree("names/" + folder) == RESULTS, f"{case!r} runs in {folder!r}: {said}")
write("names/bare", CASE)
said = run(case="bare", cwd="names")
check(refused(said, "not a folder", "--output") and open("names/bare").read() == CASE, f"a case without ending: {said}")

# What cannot be a folder.
write("file", "mine\n")
for name in ["file", "file/below", "case.yaml", "x" * 300, "y/" * 3000]:
    said = run("--output", name)
    check(refused(said), f"--output {name[:40]!r}: {said}")
check(open("file").read() == "mine\n" and not os.path.exists("y"), "and nothing was written")

# A run is not written to again, unless asked; then nothing of the old one stays.
before = {name: os.stat("plain/" + name).st_mtime_ns for name in tree("plain")}
for name in ["plain", "plain/", "./plain"]:
    said = run("--output", name)
    check(refused(said, "holds a run", "--overwrite"), f"a folder with a run, {name!r}: {said}")
check(before == {name: os.stat("plain/" + name).st_mtime_ns for name in tree("plain")}, "and it was not touched")
write("plain/fields/main_0000000010.vtkhdf.tmp", "of a job that was killed")
write("plain/notes.txt", "mine\n")
write("plain/fields/notes.txt", "mine\n")
said = run("--output", "plain/", "--overwrite", "--set", "run.steps=4", "--set", "output.images={}")
check(said.code == 0 and runs.load("plain", "report.json")["step"] == 4, f"with --overwrite it is replaced: {said}")
check(tree("plain") == sorted([".lock", "case.yaml", "checkpoints", "checkpoints/step_0000000004.h5", "fields",
                               "fields/main_0000000000.vtkhdf", "fields/main_0000000004.vtkhdf",
                               "fields/notes.txt", "images", "log.txt", "notes.txt", "report.json", "series",
                               "series/flow.csv", "status.json"]),
      "and only what runs write was removed")

# Files of the user's own in folders that a run would use are not removed unasked.
for name in ["images/photo.png", "series/measured.csv", "fields/theirs.vtkhdf", "fields/part.tmp", "log.txt"]:
    folder = "own_" + os.path.basename(name)
    os.makedirs(os.path.dirname(folder + "/" + name), exist_ok=True)
    write(folder + "/" + name, "mine\n")
    said = run("--output", folder)
    check(refused(said, name, "--overwrite") and open(folder + "/" + name).read() == "mine\n",
          f"a folder with the user's {name}: {said}")
os.mkdir("own")
write("own/case.yaml", CASE)
for arguments in [["--output", "."], ["--output", ".", "--overwrite"], ["--output=" + runs.WORK + "/own", "--overwrite"]]:
    said = run(*arguments, cwd="own")
    check(refused(said) and open("own/case.yaml").read() == CASE and tree("own") == ["case.yaml"],
          f"the case itself is not replaced, {' '.join(arguments[-1:])}: {said}")

# Results are not removed unasked, and files of the user's own never. MINE: names that no output can have written.
MINE = ["fields/notes.txt", "fields/other_2026112701.vtkhdf", "fields/part.tmp", "images/mid_2026112701.png", "images/fig_0000000015.png",
        "images/mid_0000000015.jpg", "series/measured.csv", "series/measured.csv.aside", "checkpoints/copy.h5"]
KEEPS = runs.sets({"checkpoint.every": 10, "checkpoint.keep": 5})


def kept(folder, what, good=lambda said: said.code == 0):
    """Runs `what`: its end must be good, and all of MINE still there."""
    said = run("--output", folder, *KEEPS, *what)
    return check(good(said) and all(open(f"{folder}/{name}").read() == "mine\n" for name in MINE), f"{folder}, {' '.join(map(str, what))}: {said}")


def begin(folder, *more):
    """A run of 20 steps, with files of the user's own."""
    said = run("--output", folder, *KEEPS, *more)
    check(said.code == 0, f"{folder}: {said}")
    for name in MINE:
        write(f"{folder}/{name}", "mine\n")


def untouched(folder, what, *words):
    """`what` is refused, and changes nothing."""
    before = runs.bytes_of(folder)
    kept(folder, what, lambda said: refused(said, *words) and runs.bytes_of(folder) == before)


begin("mine")
kept("mine", ["--restart", "auto", "--set", "run.steps=40"])
kept("mine", ["--restart", "mine/checkpoints/step_0000000010.h5", "--set", "run.steps=15"])
check([name for name in tree("mine/images") if name.startswith("mid_00")] == ["mid_0000000000.png", "mid_0000000010.png", "mid_0000000015.jpg",
      "mid_0000000015.png", *(f"mid_00000000{step}.png.aside" for step in (20, 30, 40))] and
      "step_0000000040.h5.aside" in tree("mine/checkpoints"), f"pictures that will not be drawn again stay: {tree('mine/images')}")
kept("mine", ["--overwrite", "--set", "output.images={}"])
check({*tree("mine")} == {*MINE, "checkpoints/step_0000000010.h5", *(name for name in RESULTS if not name.startswith("images/"))},
      f"replaced, it holds the new run: {tree('mine')}")

# A run without checkpoints cannot go on: what it has written stays.
begin("none", "--set", "checkpoint.every=0")
for file in tree("mine/checkpoints"):
    if file.startswith("step_"):
        os.remove("mine/checkpoints/" + file)
for folder in "none", "mine":
    kept(folder, ["--restart", "auto"], lambda said: said.code == 0 and "is done at step 20" in said.out)
    for more in {"run.steps": 40}, {"run.steps": 40, "output.fields": {}}:
        untouched(folder, ["--restart", "auto", *runs.sets(more)], "is done at step 20", "no checkpoint", "--overwrite", "--output")
    status = open(folder + "/status.json").read()
    for state, other in [("running", '"checkpoint": {"step": 10}'), ("stopped", '"checkpoint": null'), ("done", '"checkpoint": null')]:
        write(folder + "/status.json", f'{{"state": "{state}", "step": 10, "steps": 20, {other}}}')
        untouched(folder, ["--restart", "auto"], "no checkpoint")
    for broken in "", "{", '{"state": "running", "step": "x", "steps": 20, "checkpoint": null}':
        write(folder + "/status.json", broken)
        untouched(folder, ["--restart", "auto"], "holds results of a run, for example", "no checkpoint")
    os.remove(folder + "/status.json")
    os.mkfifo(folder + "/status.json")  # nothing waits for it
    kept(folder, ["--restart", "auto"], lambda said: refused(said, "no checkpoint"))
    os.remove(folder + "/status.json")
    write(folder + "/status.json", status)
# A job that died before its first checkpoint, or while it removed an earlier run that was to be replaced: all is written again.
os.remove("none/report.json")
write("none/status.json", '{"state": "running", "step": 7, "steps": 20, "checkpoint": null}')
kept("none", ["--restart", "auto"])
check(runs.load("none", "report.json")["state_hash"] == runs.load("abs", "report.json")["state_hash"] and
      runs.series_text("none") == runs.series_text("abs"), "it gives the same")

# status.json alone does not decide that a run has ended.
begin("other")
for name, wrong in [("done", {"state": "done", "step": 20}), ("diverged", {"state": "diverged", "step": 14}), ("early", {"state": "done", "step": 3}),
                    ("text", {"state": "done", "step": "x"})]:
    said = run("--output", name, *KEEPS, "--set", "run.steps=10")
    write(name + "/status.json", runs.json.dumps(runs.load(name, "status.json") | wrong))
    said = run("--output", name, *KEEPS, "--restart", "auto")
    check(said.code == 0 and "\ngoes on from" in said.out and runs.load(name, "report.json")["step"] == 20 and
          ("not taken as ended" in said.err) == (name != "text"), f"a status.json that says {wrong}: {said}")
said = run("--output", "both", *KEEPS, "--set", "run.steps=10")
for name in "status.json", "report.json":
    write("both/" + name, open("other/" + name).read())
said = run("--output", "both", *KEEPS, "--restart", "auto")
check(said.code == 0 and "\ngoes on from" in said.out, f"both files of another run: {said}")

# A folder from someone else holds links, names of files elsewhere, or pipes: nothing behind them changes, nothing waits.
write("victim", "precious\n")
for name, words in [(".lock", "no lock of tagflow"), ("series", "is a link"), ("fields", "is a link"), ("log.txt", ""), ("status.json", ""), ("report.json", ""),
                    ("case.yaml.tmp", ""), ("status.json.tmp", ""), ("series/flow.csv.tmp", ""), ("fields/main_0000000000.vtkhdf.tmp", "")]:
    for make in os.symlink, os.link, lambda _, path: os.mkfifo(path):
        if make is not os.symlink and (words == "is a link" or name.endswith(".tmp")):
            continue
        folder = f"from {name.replace('/', ' ')} {tree().count('victim') + len(os.listdir())}"
        os.makedirs(folder + "/series")
        os.makedirs(folder + "/fields")
        if name in ("series", "fields"):
            os.rmdir(folder + "/" + name)
            os.makedirs("elsewhere", exist_ok=True)
        make(os.path.abspath("elsewhere" if name in ("series", "fields") else "victim"), folder + "/" + name)
        for arguments in [["--overwrite"] if name in ("log.txt", "report.json") else []]:
            said = run("--output", folder, *arguments)
            check(said.code in (0, 1, 2) and (said.code == 0) == (not said.errors) and (words in said.err or said.code == 1) and
                  open("victim").read() == "precious\n" and (not os.path.isdir("elsewhere") or not os.listdir("elsewhere")),
                  f"{make.__name__} {name} {arguments}: {said}")
for name in "log.txt", "series/flow.csv", "status.json", "case.yaml":
    for make in os.link, os.symlink:
        folder = f"go on {name.replace('/', ' ')} {make.__name__}"
        said = run("--output", folder, "--set", "run.steps=10")
        os.rename(f"{folder}/{name}", "elsewhere.txt")
        before = open("elsewhere.txt").read()
        make(os.path.abspath("elsewhere.txt"), f"{folder}/{name}")
        said = run("--output", folder, "--restart", "auto")
        check(open("elsewhere.txt").read() == before and said.code == (1 if make is os.symlink and name in ("log.txt", "series/flow.csv") else 0) and
              (said.code == 1 or not runs.faults(folder)), f"{make.__name__} {name}: {said}")
        os.remove("elsewhere.txt")
write("own_lock", "")
os.mkdir("locked")
write("locked/.lock", "mine\n")
said = run("--output", "locked")
check(refused(said, "no lock of tagflow") and open("locked/.lock").read() == "mine\n", f"another file named .lock: {said}")

# Names: none leads out of the folder, none is obeyed by a terminal.
for name in "...yaml", "..yaml", "....":
    os.makedirs("dots/deep", exist_ok=True)
    write("dots/deep/" + name, CASE)
    said = run(case=name, cwd="dots/deep")
    check(said.code == 0 and "results in case" in said.out and os.listdir("dots") == ["deep"], f"{name}: {said}")
    runs.shutil.rmtree("dots/deep/case")
for name in "c1\u009b31m", "esc\033[31m", "bel\a":
    write(name + ".yaml", CASE)
    said = run(case=name + ".yaml")
    dry = tagflow("launch", name + ".yaml", "--dry-run")
    check(said.code == 0 and dry.code == 0 and not any(c in said.out + said.err + dry.out for c in "\u009b\033\a"), f"{name!r}: {said}")
    shown = dry.out.split("$'")[1].split("'")[0] if "$'" in dry.out else ""
    check(runs.subprocess.run(["bash", "-c", f"printf %s $'{shown}'"], capture_output=True, text=True).stdout == name + ".yaml", f"{name!r} can be copied: {dry.out!r}")

# A message does not tell what a file holds that a case names.
write("secret", "token:abcdef0123456789:secret\n")
said = tagflow("check", "--verbose", "case.yaml", *runs.sets({"force": {"acceleration": [1e-5, 0, 0], "table": {"file": "secret"}}}))
check(said.code == 2 and "abcdef" not in said.err and "'secret':1:1: the word here is not a number" in said.err, f"a secret: {said}")

# The case as resolved gives the same run, and itself.
said = run("--output", "again", case="abs/case.yaml")
check(said.code == 0 and open("again/case.yaml").read() == open("abs/case.yaml").read(), f"the resolved case runs: {said}")
check(runs.load("again", "report.json")["state_hash"] == runs.load("abs", "report.json")["state_hash"],
      "with the same state hash")

runs.finish()
