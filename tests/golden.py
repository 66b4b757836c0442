#!/usr/bin/python3
"""What a build says and computes, as text: for a change that is to change nothing. Started by scripts/golden.sh.

    golden.py BUILD FOLDER [cpu]    writes the files of FOLDER, which must not exist, by the programs in BUILD; cpu: without the
                                    stand-in for a GPU

Of every case of configs/, smaller and of a few steps (tests/robustness/small_cases.py):

    runs/NAME.txt      digests of state, series, fields and images in each precision, on the CPU on 1 and 3 ranks and on the
                       stand-in for a GPU
    folders/NAME.txt   log, report and tables of the run in fp32 on one rank, without times and rates
    check/NAME.txt     what `check` says of the case as it is
    resolved/NAME.txt  the resolved case of the run

and keys.txt, of `tagflow keys`. The tests `instructions`, `registers` and `slots` watch the rest.
"""
import os
import re
import subprocess
import sys

if len(sys.argv) != 3 and sys.argv[3:] != ["cpu"]:
    sys.exit(__doc__)
BUILD, FOLDER = map(os.path.abspath, sys.argv[1:3])
os.environ["TAGFLOW"] = BUILD + "/tagflow"
STANDIN = BUILD + "/tests/gpu/tagflow_standin"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "robustness"))
import runs
from small_cases import CELLS, PRECISIONS, arguments_of

# Of the machine, the build or the moment.
PASSING = [
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d( UTC|Z)?", "DATE"),
    (r"\(?\b[0-9a-f]{12}\b(-dirty)?\)?", "COMMIT"),
    (r"  [\d.]+ M?LUPS  left .*?(?=  )", "  RATE"),
    (r"[\d.e+-]+ (MLUPS|GLUPS|MFLUPS|GB/s|ms|us|s|min|h)\b", r"N \1"),
    (r"(ranks? [\d to]+ on )\S+:.*", r"\1HOST"),
    (r'"(seconds|mlups|mflups|bandwidth_gbs|device|commit|step_seconds|phases|energy|host|hosts|created|date)": (\{[^}]*\}|[^,\n]*)', r'"\1": -'),
]


def lasting(text):
    for pattern, instead in PASSING:
        text = re.sub(pattern, instead, text)
    return text.replace(runs.WORK, "WORK").replace(runs.ROOT, "SOURCE")


def save(name, text):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def said(*arguments):
    found = subprocess.run([runs.TAGFLOW, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return lasting(f"{found.stdout}{found.stderr}exit {found.returncode}\n")


def text_of(folder):
    names = ["log.txt", "report.json"] + sorted("series/" + name for name in runs.tree(folder + "/series") if name.endswith(".csv"))
    return "".join(f"==== {name}\n{lasting(open(os.path.join(folder, name)).read())}" for name in names)


WAYS = [(1, None, None), (3, None, None), (3, STANDIN, "leaks=1,late=1,uuid=same,order=random")]
if sys.argv[3:]:
    WAYS.pop()
elif not os.path.exists(STANDIN):
    sys.exit(f"golden.py: {STANDIN} is not there: build the tests")
os.mkdir(FOLDER)
made = [(name, precision, ranks, program) for name in CELLS for precision in PRECISIONS for ranks, program, _ in WAYS]
jobs = [([*arguments_of(name, precision, f"{name}_{precision}_{ranks}_{bool(program)}"),
          *(["--backend", "cuda", "--share-gpu"] if program else [])], ranks, program, options)
        for name in CELLS for precision in PRECISIONS for ranks, program, options in WAYS]
lines = {name: [] for name in CELLS}
for (name, precision, ranks, program), (code, what) in zip(made, runs.together(jobs)):
    folder, where = f"{name}_{precision}_{ranks}_{bool(program)}", "standin" if program else "cpu"
    lines[name].append(f"{precision} {where} {ranks} ranks: exit {code}\n" if code else "".join(
        f"{precision} {where} {ranks} ranks: {key} {value}\n" for key, value in sorted(runs.results(folder).items())))
    runs.check(code == 0, f"{folder}: {code} {what if code else ''}")
for name in CELLS:
    folder = f"{name}_fp32_1_False"
    save(f"runs/{name}.txt", "".join(lines[name]))
    save(f"folders/{name}.txt", text_of(folder))
    save(f"resolved/{name}.txt", lasting(open(folder + "/case.yaml").read()))
    save(f"check/{name}.txt", said("check", f"{runs.ROOT}/configs/{name}.yaml"))
save("keys.txt", said("keys"))
runs.finish()
