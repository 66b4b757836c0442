#!/usr/bin/python3
"""A run that is ended and goes on gives the bits of one that was not, whatever its faces have to remember.

Outlets and what sound leaves behind are among the populations, in the slots of links that lead out of the fluid; the
controller's acceleration and last velocity are numbers of their own; signals know the step. In-place streaming stores
populations differently after odd and after even steps: runs are cut after both, once and twice, and go on on other
numbers of ranks, cut in other ways. Compared are state hash, series byte for byte and snapshots: there is no tolerance.

What the order of patches and regions decides is part of the case: it may not change on the way.
"""
import concurrent.futures
import os
import shutil

import runs
from runs import check, load, tagflow, write

OUTPUT = """\
run:     {steps: 45}
checkpoint: {every: 100}
output:
  log:    {every: 0}
  series:
    flow: {every: 1, of: [mass, kinetic_energy, max_velocity, acceleration]}
    in:   {every: 1, of: flow_rate, axis: x, at: 0}
  fields: {main: {every: 9, of: [velocity, density], precision: fp64}}
"""
CASES = {
    "outlets": """\
domain:  {cells: [18, 11, 8]}
fluid:   {viscosity: 0.03}
solver:  {storage: fp32, collision: rr}
faces:
  xmin: {velocity: {value: [0.05, 0, 0], profile: duct, sine: {period: 13.3, mean: 0.8, amplitude: 0.2}}}
  xmax: outflow
  ymin: {nonreflecting: {velocity: [0.05, 0, 0]}}
  ymax: {nonreflecting: {reflection: 0.05, density: 1.001, velocity: [0.05, 0, 0]}}
  zmin: {pressure: {density: 1.002, rule: links, sine: {period: 21}}}
  zmax: wall
""",
    "parts": """\
domain:  {cells: [16, 10, 9]}
fluid:   {viscosity: 0.02}
solver:  {storage: fp64, subgrid: {smagorinsky: {constant: 0.15}}}
faces:   {x: wall, y: wall, zmin: slip, zmax: wall}
patches:
  jet:   {face: xmin, disc: {center: [5, 4], radius: 3}, velocity: {value: [0.06, 0, 0], profile: parabola, ramp: 31}}
  side:  {face: ymin, rectangle: {from: [4, 2], to: [12, 8]}, velocity: {value: [0, 0.02, 0], rule: links, table: {file: pulse.csv}}}
  out:   {face: xmax, mask: {file: mask.png}, nonreflecting: {reflection: 0.01}}
  drain: {face: ymax, rectangle: {from: [1, 1], to: [9, 6]}, outflow: {}}
  hole:  {face: ymax, disc: {center: [8, 4], radius: 2}, pressure: {density: 0.999}}
""",
    "controller": """\
domain:  {cells: [15, 9, 10]}
fluid:   {viscosity: 0.02}
solver:  {storage: fp32, collision: cumulant}
faces:   {x: periodic, ymin: wall, ymax: {pressure: {density: 1.002, sine: {period: 11}}}, z: slip}
force:   {flow_rate: {velocity: 0.02, axis: x, every: 4, time: 9}}
patches: {in: {face: ymin, disc: {center: [7, 5], radius: 4}, velocity: {value: [0.01, 0.02, 0], sine: {period: 17}}}}
regions:
  thick: {box: {from: [2, 1, 1], to: [9, 8, 9]}, viscosity: 0.1, collision: bgk}
  soak:  {box: {from: [7, 0, 0]}, sponge: {towards: xmax, strength: 0.1, velocity: [0.02, 0, 0]}}
""",
}
CASES["surfaces"] = """\
domain:  {cells: [21, 14, 13]}
fluid:   {viscosity: 0.02}
solver:  {storage: fp32, collision: central}
initial: {flow: uniform, velocity: [0.03, 0.002, -0.01]}
faces:   {x: periodic, ymin: wall, ymax: slip, z: periodic}
bodies:
  ball:  {shape: {sphere: {center: [0.7, 6.1, 11.4], radius: 3.3}}, wall: interpolated, rotation: {rate: [0.004, -0.003, 0.01]}}
  wheel: {shape: {cylinder: {center: [13.6, 6.2, 5.9], axis: y, radius: 3.1, length: 4}}, rotation: {rate: [0, 0.02, 0]}}
  brick: {shape: {box: {from: [10.1, 0, 9.7], to: [14.2, 3.4, 12.1]}}, velocity: [0.03, 0, 0.01]}
"""
# Series that cases have besides.
MORE = {"surfaces": "".join(f"    {body}: {{every: 1, of: forces, body: {body}}}\n" for body in ("ball", "wheel", "brick"))}
# The steps at which the run is ended, and the ranks of each of its jobs, 0 without MPI.
WAYS = [([1], [0, [2, 1, 1]]), ([14], [[1, 2, 1], 0]), ([20, 33], [[1, 1, 2], [3, 1, 1], [2, 2, 1]]),
        ([7, 8], [[2, 1, 2], [1, 1, 3], 0])]

MASK = runs.numpy.zeros((9, 10), "uint8")
MASK[1:6, 2:9] = 255
MASK[3, 4:6] = 0
write("mask.png", runs.grey_png(MASK))
write("pulse.csv", "0 0\n10.5 1\n18 -0.5\n40 0.7\n")


def job(name, folder, steps, ranks):
    settings = {"run.steps": steps} | ({"run.ranks": ranks} if ranks else {})
    count = ranks[0] * ranks[1] * ranks[2] if ranks else 0
    return tagflow("run", name + ".yaml", "--output", folder, "--restart", "auto", *runs.sets(settings), ranks=count)


def go_on(name, number):
    """What was wrong with a run that was ended at the cuts, and which results are not those of the uncut one."""
    cuts, ranks = WAYS[number]
    for before, steps, cut in zip([0, *cuts], [*cuts, 45], ranks):
        said = job(name, f"{name} {number}", steps, cut)
        if said.code or said.out.count(f"step_{before:010}.h5, step {before}\n") != (before > 0):
            return f"not from step {before}: {said}"
    # A snapshot is written at each run's last step.
    more = {f"fields/main_{step:010}" for step in cuts}
    found = {key: value for key, value in runs.results(f"{name} {number}").items() if key.split(".")[0] not in more}
    return ", ".join(runs.differences(whole[name], found)[:5])


whole = {}
for name, text in CASES.items():
    write(name + ".yaml", text + OUTPUT.replace("  fields:", MORE.get(name, "") + "  fields:"))
    said = job(name, name, 45, 0)
    if check(said.code == 0, f"{name}, not cut: {said}"):
        whole[name] = runs.results(name)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    jobs = {(name, number): pool.submit(go_on, name, number) for name in whole for number in range(len(WAYS))}
for (name, number), answer in jobs.items():
    wrong = answer.result()
    check(not wrong, f"{name}, ended at {WAYS[number][0]}, ranks {WAYS[number][1]}: {wrong or 'the same'}")

# The later of two patches, or regions, that overlap counts.
for name, first, second in ("parts", "drain", "hole"), ("controller", "thick", "soak"):
    lines = CASES[name].splitlines(keepends=True)
    a, b = (next(i for i, line in enumerate(lines) if line.startswith(f"  {key}:")) for key in (first, second))
    lines[a], lines[b] = lines[b], lines[a]
    write(f"{name}_swapped.yaml", "".join(lines) + OUTPUT)
    said = job(f"{name}_swapped", name, 60, 0)
    check(said.code == 2 and len(said.errors) == 1 and first in said.err and "order" in said.err,
          f"{first} and {second} swapped: {said}")

# Files of series that something happened to between two jobs: what is lost is told, what is damaged is kept, what is good
# goes on. The name of one ends like that of a snapshot.
SERIES = runs.sets({"output.series": {"flow": {"every": 1, "of": "kinetic_energy"}, "p_0000000500": {"every": 2, "of": "mass"},
                                      "line": {"every": 5, "of": "line", "from": [1, 5, 4], "to": [17, 5, 4], "points": 3}}})
said = tagflow("run", "outlets.yaml", "--output", "rows", *SERIES)
check(said.code == 0, f"rows: {said}")
rows = {name: runs.series_text("rows", name).splitlines(keepends=True) for name in ("flow", "p_0000000500", "line")}


def attack(folder, ranks, change):
    """The job after one to step 20 whose rows were changed: it must end well; how it ended, and the rows."""
    said = tagflow("run", "outlets.yaml", "--output", folder, *SERIES, "--set", "run.steps=20")
    check(said.code == 0, f"{folder}, the first job: {said}")
    change(folder + "/series/")
    said = tagflow("run", "outlets.yaml", "--output", folder, "--restart", "auto", *SERIES, ranks=ranks)
    check(said.code == 0 and not said.errors and not runs.faults(folder) and
          runs.load(folder, "report.json")["state_hash"] == runs.load("rows", "report.json")["state_hash"], f"{folder}: {said}")
    about = [line for line in said.lines if "/series/" in line]  # not the advice on the case
    return about, {name: runs.series_text(folder, name).splitlines(keepends=True) for name in rows}


def spoil(name, old, new):
    def change(folder):
        with open(folder + name + ".csv", "rb") as file:
            text = file.read()
        assert old in text
        write(folder + name + ".csv", text.replace(old, new, 1))
    return change


about, found = attack("untouched", 2, lambda folder: None)
check(found == rows and not about, f"no file was touched: {about}")
about, found = attack("a damaged line", 2, spoil("flow", b"\n7,", b"\n\x87,"))
aside = bytes(runs.bytes_of("a damaged line/series")["flow.csv.aside"])
check(found == rows | {"flow": rows["flow"][:8] + rows["flow"][9:]} and len(about) == 1 and
      "series/flow.csv: line 9 is damaged; 20 of 21 rows up to step 20 stay" in about[0] and
      aside == b"".join(rows["flow"][:22]).replace(b"\n7,", b"\n\x87,"), f"a damaged line: {about}")
about, found = attack("rows are missing", 0, spoil("line", b"".join(rows["line"][4:7]), b""))
check(found == rows | {"line": rows["line"][:4] + rows["line"][7:]} and len(about) == 1 and
      "series/line.csv has 12 rows up to step 20, and had 15 when" in about[0], f"rows are missing: {about}")
about, found = attack("a file is missing", 2, lambda folder: os.remove(folder + "p_0000000500.csv"))
check(found == rows | {"p_0000000500": rows["p_0000000500"][:1] + rows["p_0000000500"][12:]} and
      "\n".join(about).count("series/p_0000000500.csv is not there: its 11 rows up to step 20 are missing") == 1,
      f"a file is missing: {about}")
with open("a file is missing/log.txt") as log:
    check("warning: a file is missing/series/p_0000000500.csv is not there" in log.read(), "the log says it, too")

# Snapshots and images that were lost or cut before the checkpoint: a line for each output, once, and the run goes on.
PICTURES = runs.sets({"output.images": {"i": {"every": 5, "of": "speed"}}, "output.averages": {"mean": {"every": 1, "of": "velocity", "to": 10}}})


def lose(folder, change, *words, restart="auto", ranks=0, more=()):
    """The job after one to step 20 whose files were changed, and a third one."""
    said = tagflow("run", "outlets.yaml", "--output", folder, *PICTURES, "--set", "run.steps=20")
    check(said.code == 0, f"{folder}, the first job: {said}")
    change(folder + "/")
    said = tagflow("run", "outlets.yaml", "--output", folder, "--restart", restart, *PICTURES, "--set", "run.steps=30", *more, ranks=ranks)
    about = [line for line in said.lines if ": " in line and any(word in line for word in ("/fields: ", "/images: "))]
    again = tagflow("run", "outlets.yaml", "--output", folder, "--restart", "auto", *PICTURES, "--set", "run.steps=33", *more)
    check(said.code == 0 and again.code == 0 and len(about) == len(words) and all(word in line for word, line in zip(words, about)) and
          "/fields: " not in again.err and "/images: " not in again.err, f"{folder}: {about}, {said}, {again}")


def cut(name):
    return lambda folder: os.truncate(folder + name, 100)


lose("all files are there", lambda folder: None, ranks=2)
lose("fields are lost", lambda folder: shutil.rmtree(folder + "fields"), "4 of the 4 files of main up to step 20 are not there", "1 of the 1 files of mean")
lose("a picture is lost", lambda folder: os.remove(folder + "images/i_0000000005.png"), "1 of the 5 files of i up to step 20 are not there", ranks=2)
lose("a picture is cut", cut("images/i_0000000000.png"), "the files of i up to step 20 have")
lose("a snapshot is cut", cut("fields/main_0000000020.vtkhdf"), "the files of main up to step 20 have")
# The same where the run is done already, also without checkpoints, and by an older program, whose report.json does not count.
LOST = [("nothing", lambda folder: None, None), ("a picture", cut("images/i_0000000000.png"), "the files of i up to step 20 have"),
        ("the last picture", cut("images/i_0000000020.png"), "the files of i up to step 20 have"),
        ("snapshots", lambda folder: shutil.rmtree(folder + "fields"), "4 of the 4 files of main up to step 20 are not there")]
BARE = [*PICTURES, "--set", "checkpoint.every=0"]
for done, more in ("done", PICTURES), ("bare", BARE):
    said = tagflow("run", "outlets.yaml", "--output", done, *more, "--set", "run.steps=20")
    files = load(done, "report.json").get("files", {})
    sizes = [os.path.getsize(f"{done}/images/i_{step:010}.png") for step in range(0, 21, 5)]
    check(said.code == 0 and files.get("images/i") == {"files": 5, "bytes": sum(sizes), "last": 20, "last_bytes": sizes[-1]} and
          set(files) == {"fields/main", "fields/mean", "images/i"}, f"{done}: {said}, {files}")
shutil.copytree("done", "old")
write("old/report.json", runs.json.dumps({key: value for key, value in load("done", "report.json").items() if key != "files"}))
for done, more, (what, change, words) in [(*run, lost) for run in (("done", PICTURES), ("bare", BARE), ("old", PICTURES)) for lost in LOST]:
    folder = f"{done}, {what} lost"
    shutil.copytree(done, folder)
    change(folder + "/")
    for ranks in 0, 2:
        said = tagflow("run", "outlets.yaml", "--output", folder, "--restart", "auto", *more, "--set", "run.steps=20", ranks=ranks)
        about = [line for line in said.lines if "/fields: " in line or "/images: " in line]
        check(said.code == 0 and "is done at step 20" in said.out and (words in about[0] if words and about else not about and not words),
              f"{folder}: {said}, {about}")
# From an older checkpoint: the run writes later files and rows again. It puts later files aside that it does not reach, and warns of files lost before.
KEEP = [*PICTURES, "--set", "checkpoint={every: 10, keep: 9}"]
said = tagflow("run", "outlets.yaml", "--output", "kept", *KEEP, "--set", "run.steps=20")
for steps, words in (20, None), (15, None), (20, "1 of the 3 files of i up to step 10 are not there"):
    folder = f"from step 10 to {steps}, {words}"
    shutil.copytree("kept", folder)
    for name in ["images/i_0000000020.png", *(["images/i_0000000005.png"] if words else [])]:
        os.remove(f"{folder}/{name}")
    said = tagflow("run", "outlets.yaml", "--output", folder, "--restart", f"{folder}/checkpoints/step_0000000010.h5", *KEEP, "--set", f"run.steps={steps}")
    about = [line for line in said.lines if "/fields: " in line or "/images: " in line]
    left = [name for name in runs.tree(folder) if name.endswith(".aside")]
    check(said.code == 0 and len(about) == bool(words) and (not words or words in about[0]) and
          all(int(name.split("_")[-1][:10]) > (15 if steps == 15 else 10) for name in left) and
          not [fault for fault in runs.faults(folder, quick=True) if ".aside" not in fault], f"{folder}: {said}, {left}")
    if steps == 20 and not words:
        check(not runs.differences(runs.results("kept"), runs.results(folder)), f"{folder}: the same results")
lose("an output is new", lambda folder: None, more=runs.sets({"output.images.j": {"every": 5, "of": "density"}}))
said = tagflow("run", "outlets.yaml", "--output", "moved", "--restart", "a picture is cut/checkpoints/step_0000000033.h5", *PICTURES)
check(said.code == 0 and "/fields: " not in said.err and "/images: " not in said.err, f"in another folder, they may have been moved: {said}")

# A series that measures something else after a restart begins a new file, and so do its statistics; one whose rows come
# more often goes on.
write("bodies.yaml", CASES["surfaces"].replace("fluid:   {", "fluid:   {velocity: 0.03, ") + OUTPUT)
FIRST = {"force": {"every": 5, "of": "forces", "body": "ball", "statistics": {"from": 0}}, "rate": {"every": 5, "of": "flow_rate", "axis": "x", "at": 3},
         "probe": {"every": 5, "of": "probe", "point": [3, 12, 2]}, "same": {"every": 5, "of": "forces", "body": "wheel"}}
said = tagflow("run", "bodies.yaml", "--output", "bodies", *runs.sets({"output.series": FIRST, "run.steps": 20}))
check(said.code == 0, f"bodies: {said}")
old = {name: runs.series_text("bodies", name) for name in FIRST}
CHANGES = {"force": [{"body": "wheel"}, {"area": 20}, {"about": [1, 2, 3]}], "rate": [{"at": 4}, {"axis": "y"}], "probe": [{"point": [3, 12, 3]}],
           "same": [{"every": 1}, {"statistics": {"from": 10}}]}
for name, change in [(name, change) for name, changes in CHANGES.items() for change in changes]:
    folder = f"{name} {change}"
    shutil.copytree("bodies", folder)
    series = FIRST | {name: FIRST[name] | change}
    said = tagflow("run", "bodies.yaml", "--output", folder, "--restart", "auto", *runs.sets({"output.series": series}))
    about = [line for line in said.lines if "/series/" in line]
    aside = runs.bytes_of(folder + "/series").get(name + ".csv.aside")
    steps = [int(row.split(b",")[0]) for row in runs.series_text(folder, name).splitlines()[1:]]
    anew = name != "same"
    check(said.code == 0 and not runs.faults(folder) and len(about) == anew == (aside == old[name]) and
          (not anew or "of another series" in about[0]) and steps[0] == (25 if anew else 0) and steps[-1] == 45, f"{folder}: {steps}, {said}, {about}")
    if name == "force":
        check(runs.load(folder, "report.json")["statistics"]["force"]["rows"] == 5, f"{folder}: its statistics have the new rows alone")
# Job after job, killed before its checkpoint: what is kept is kept once.
folder = "force " + str(CHANGES["force"][0])
for name in "checkpoints/step_0000000045.h5", "report.json":
    os.remove(folder + "/" + name)
write(folder + "/status.json", '{"state": "running", "step": 30, "steps": 45, "checkpoint": {"step": 20}}')
said = tagflow("run", "bodies.yaml", "--output", folder, "--restart", "auto", *runs.sets({"output.series": FIRST | {"force": FIRST["force"] | CHANGES["force"][0]}}))
check(said.code == 0 and [name for name in runs.tree(folder + "/series") if "aside" in name] == ["force.csv.aside"] and
      b"\n25," in runs.series_text(folder, "force"), f"again: {said}")
# One that the checkpoint's case has not.
for number, some in enumerate(({"rate": FIRST["rate"]}, FIRST)):
    said = tagflow("run", "bodies.yaml", "--output", "bodies", "--restart", "auto", *runs.sets({"output.series": some, "run.steps": 30 + 10 * number}))
check(said.code == 0 and said.err.count("has no such series: it is kept as") == 3 and runs.bytes_of("bodies/series")["force.csv.aside"] == old["force"],
      f"left out and taken up again: {said}")
# What run.stop remembers of it counts no more.
STOP = {"run.stop": {"of": "force.force_x", "change": 1e-9, "over": 15}}
for number, body in enumerate(("ball", "ball", "brick")):
    said = tagflow("run", "bodies.yaml", "--output", "stop", "--restart", "auto",
                   *runs.sets(STOP | {"output.series": {"force": FIRST["force"] | {"body": body}}, "run.steps": 20 + 10 * number}))
    check(said.code == 0 and ("run.stop starts anew" in said.err) == (body == "brick"), f"run.stop, {body}: {said}")

runs.finish()
