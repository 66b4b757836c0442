#!/usr/bin/python3
"""Whole runs of the program with the CUDA backend on the stand-in for CUDA's runtime: what they write is what the CPU
writes, bit by bit, on any number of ranks; one backend goes on where the other ended; which GPU a rank takes, and what
is said where there is none, one too old or one too small; and whatever call of the runtime fails, the run ends with exit
status 1 and a line, and can be gone on with.

    TAGFLOW_STANDIN_PROGRAM  the program with the stand-in (required)
    TAGFLOW_THOROUGH         set: every case in every variant, every call on two ranks as well
"""
import concurrent.futures
import itertools
import json
import os
import random
import re
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
import runs
from runs import Job, check, differences, load, results, sets, tagflow, write
from small_cases import CELLS, PRECISIONS, arguments_of

PROGRAM = os.environ["TAGFLOW_STANDIN_PROGRAM"]
THOROUGH = "TAGFLOW_THOROUGH" in os.environ
# How an error begins.
WHO = r"tagflow: (rank \d+ on \S+: )?"
os.environ["OMP_WAIT_POLICY"] = "passive"
os.environ["OMP_NUM_THREADS"] = "1"


def standin(options):
    """What nothing may rely on, and what was asked for."""
    return {"TAGFLOW_STANDIN": "leaks=1,late=1" + ("," + options if options else "")}


def gpu(command, *arguments, ranks=0, options="", backend="cuda"):
    """A command of the program on the stand-in."""
    more = ["--backend", backend] if command == "run" else []
    return tagflow(command, *arguments, *more, ranks=ranks, env=standin(options), program=PROGRAM)


def on_gpu(folder):
    return load(folder, "report.json")["backend"] == "cuda"


def together(function, jobs):
    """[(its arguments, what it gave)]: starting MPI is waiting mostly."""
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        return list(zip(jobs, pool.map(lambda job: function(*job), jobs)))


# ---- the cases that come with it: the CPU's bits ----


def variants():
    """Ranks, settings and the stand-in's options, in turn."""
    number = 0
    while True:
        number += 1
        ranks = [0, 2, 3, 4, 1][number % 5]
        how = ["host", "device", "ipc"][number // 2 % 3]
        settings = {"run.exchange": ["cut", "all"][number % 2], "run.transport": how}
        order = ["lazy", "random", "random"][number % 3]
        yield ranks, settings, f"uuid=same,aware={int(how == 'device')},order={order}"


def faults_of(name, precision, variant, folder, code, said):
    """What is wrong with a run on GPUs: differences from the one on the CPU, or another way of halos than was asked for."""
    ranks, settings, _ = variant
    if code != 0:
        return f"exit status {code}: {said}"
    log = open(folder + "/log.txt").read()
    halos = re.search("^halos: (.*)", log, re.M)
    where = {"host": "by way of host memory", "device": "from GPU memory", "ipc": "by CUDA IPC, all|within the memory of the GPU"}
    where = where[settings["run.transport"]]
    if not on_gpu(folder) or (halos is None and ranks > 1) or (halos and not re.search(where, halos[1])):
        return f"not on GPUs, or halos not {where}: {halos and halos[1]}"
    return differences(results(f"{name}_{precision}"), results(folder))[:5]


turn = variants()
# Refined ones in one precision, once: all ways of refined grids are below.
pairs = [(name, precision) for name in CELLS for precision in PRECISIONS if precision == "fp32" or not name.endswith("_levels")]
for (name, precision), (code, said) in zip(pairs, runs.together(
        [(arguments_of(name, precision, f"{name}_{precision}"), 0, None, None) for name, precision in pairs])):
    check(code == 0, f"{name}, {precision}, on the CPU: {code}, {said if code else ''}")
hashes = {load(f"{name}_{precision}", "report.json")["state_hash"] for name, precision in pairs}
check(len(hashes) == len(pairs), f"{len(pairs)} runs, {len(hashes)} hashes: what differs, differs")
jobs = [(name, precision, next(turn)) for name, precision in pairs for _ in range(10 if THOROUGH else 2 if precision == "fp32" and not name.endswith("_levels") else 1)]
made = runs.together([([*arguments_of(name, precision, f"pair_{number}", variant[1]), "--backend", "cuda", "--share-gpu"], variant[0],
                       PROGRAM, "leaks=1,late=1," + variant[2]) for number, (name, precision, variant) in enumerate(jobs)])
for number, ((name, precision, variant), (code, said)) in enumerate(zip(jobs, made)):
    wrong = faults_of(name, precision, variant, f"pair_{number}", code, said)
    check(not wrong, f"{name}, {precision}, {variant}: {wrong or 'as on the CPU'}")

# ---- scalars: the CPU's bits in every set ----

WARM = {"heat": """\
domain:  {cells: [24, 14, 8]}
fluid:   {viscosity: 0.03}
solver:  {collision: rr, subgrid: {smagorinsky: {constant: 0.1}}}
force:   {gravity: [0, -1.0e-3, 0]}
scalars:
  temperature: {kind: heat, prandtl: 0.71, expansion: 0.5, initial: {value: 0, wave: {amplitude: 0.1, waves: [1, 1, 0]}}}
  dye:     {schmidt: 2, decay: 1.0e-3, initial: 1}
  product: {schmidt: 1, made_from: dye, rate: 1.0e-3}
bodies:
  block:
    shape: {sphere: {center: [12, 6.5, 4], radius: 3.2}}
    scalars: {temperature: {conduct: {conductivity: 0.2, capacity: 2, source: 1.0e-4}}}
faces:
  xmin: {wall: {scalars: {temperature: {value: 0.5}}}}
  xmax: {wall: {scalars: {temperature: {value: -0.5}, dye: {flux: 1.0e-3}}}}
  ymin: wall
  ymax: {wall: {velocity: [0.05, 0, 0], scalars: {temperature: {transfer: {coefficient: 0.1, outside: 0.2}}}}}
  z: periodic
run:     {steps: 21}
checkpoint: {every: 21}
""", "stream": """\
domain:  {cells: [26, 14, 9]}
fluid:   {viscosity: 0.03}
force:   {gravity: [0, 1.0e-3, 0]}
scalars:
  temperature: {kind: heat, diffusivity: 0.02, expansion: 0.3, initial: 0.2}
  dye: {diffusivity: 0.01, source: 1.0e-4}
bodies:
  ball:
    shape: {sphere: {center: [9, 7.2, 4.4], radius: 2.7}}
    wall: interpolated
    scalars: {temperature: {value: 1}}
faces:
  xmin: {velocity: {value: [0.04, 0, 0], scalars: {temperature: {value: 0}, dye: {value: 1}}}}
  xmax: nonreflecting
  y: wall
  z: periodic
run:     {steps: 21}
checkpoint: {every: 21}
""", "grains": """\
domain:  {cells: [26, 14, 9]}
fluid:   {viscosity: 0.03}
initial: {flow: uniform, velocity: [0.05, 0.02, -0.01]}
scalars:
  along: {diffusivity: 0.02, gradient: [1.0e-3, 0, 2.0e-3]}
  dye: {diffusivity: 0.01, gradient: [0, 1.0e-3, 0]}
bodies:
  ball: {shape: {sphere: {center: [9, 7.2, 4.4], radius: 2.7}}, wall: interpolated}
  block: {shape: {box: {from: [18, 0, 0], to: [22, 9, 6]}}}
faces:   {x: periodic, y: periodic, z: periodic}
run:     {steps: 21}
checkpoint: {every: 21}
""", "plume": """\
domain:  {cells: [27, 14, 9]}
fluid:   {viscosity: 0.03}
solver:  {collision: trt}
force:   {gravity: [0, -1.0e-3, 0]}
scalars:
  temperature: {kind: heat, prandtl: 0.71, expansion: 0.5, initial: {value: 0, wave: {amplitude: 0.1, waves: [1, 1, 0]}}}
bodies:
  block: {shape: {box: {from: [18, 0, 2], to: [22, 5, 6]}}, scalars: {temperature: {value: 0.3}}}
faces:
  xmin: {wall: {scalars: {temperature: {value: 0.5}}}}
  xmax: {wall: {velocity: [0, 0.03, 0.02]}}
  ymin: {wall: {scalars: {temperature: {flux: 1.0e-3}}}}
  ymax: {wall: {velocity: [0.05, 0, 0], scalars: {temperature: {transfer: {coefficient: 0.1, outside: 0.2}}}}}
  z: periodic
run:     {steps: 21}
checkpoint: {every: 21}
"""}


def sets_in(folder):
    """Bytes of each set in the last checkpoint."""
    with runs.h5py.File(f"{folder}/checkpoints/step_{21:010}.h5") as file:
        found = {"flow": file["cells/populations"][()].tobytes()}
        return found | {name: data[()].tobytes() for name, data in file["cells/sets"].items()}


def warm(name, precision, number, variant=None):
    """A run on the CPU, or in that variant on GPUs."""
    ranks, settings, options = variant or (0, {}, "")
    arguments = ["run", f"{name}.yaml", "--output", f"{name}_{precision}_{number}",
                 *sets(PRECISIONS[precision] | settings |
                        {"run.sparse": ["never", "auto" if name in ("heat", "plume") else "always"][number % 2]})]
    if variant is None:
        return tagflow(*arguments)
    return gpu(*arguments, "--share-gpu", ranks=ranks, options=options)


for name, text in WARM.items():
    write(name + ".yaml", text)
turn = variants()
jobs = [(name, precision, number, None if number == 0 else next(turn))
        for name in WARM for precision in PRECISIONS for number in range(6 if THOROUGH else 3)]
for (name, precision, number, variant), said in together(warm, jobs):
    here, wanted = f"{name}_{precision}_{number}", f"{name}_{precision}_0"
    wrong = [str(said)] if said.code else differences(sets_in(wanted), sets_in(here))
    check(not wrong and (variant is None or on_gpu(here)), f"{here}, {variant}: {wrong or 'as on the CPU'}")
check(all(len(set(sets_in(f"{name}_fp32_0").values())) == {"heat": 4, "plume": 2}.get(name, 3) for name in WARM), "sets differ")

# ---- refined grids: the CPU's bits on every level ----

# A wall that moves, one at rest and planes of symmetry across a seam; a body in the third level, faces that are open.
REFINED = {"lid": """\
domain:  {cells: [24, 20, 16]}
fluid:   {viscosity: 0.02, law: {carreau: {infinite: 0.005, time: 300, index: 0.4}}}
solver:  {collision: rr, subgrid: {smagorinsky: {constant: 0.15}}}
initial: {flow: uniform, velocity: [0.02, 0.01, 0]}
faces:   {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.03]}}, z: slip}
refine:
  lid:   {level: 1, box: {from: [6, 12, 0], to: [14, 20, 8]}}
run:     {steps: 7}
""", "ball": """\
domain:  {cells: [24, 18, 18]}
fluid:   {viscosity: 0.02}
solver:  {collision: cumulant}
faces:   {xmin: {velocity: {value: [0.04, 0, 0]}}, xmax: {pressure: {}}, y: periodic, z: wall}
bodies:  {ball: {shape: {sphere: {center: [10, 9, 9], radius: 1.5}}, wall: interpolated}}
refine:
  ball:  {level: 2, around: ball, distance: 1.6}
run:     {steps: 3}
"""}
# One cell thick, a scalar in fp16, six ranks: less than 8 bytes of a rank's own values lie between those of two others.
GAP = """\
domain:  {cells: [32, 16, 1]}
fluid:   {viscosity: 0.02}
initial: {flow: uniform, velocity: [0.03, 0.02, 0]}
scalars: {t: {diffusivity: 0.02, initial: {value: 1, wave: {amplitude: 0.5, waves: [1, 1, 0]}}}}
faces:   {x: periodic, y: periodic, z: periodic}
refine:
  r:     {level: 1, box: {from: [8, 0, 0], to: [12, 12, 1]}}
run:     {steps: 6}
"""
REFINED_OUTPUT = """\
check:   {hang: none}
output:
  log: {every: 0}
  series: {flow: {every: 1, of: [mass, kinetic_energy, enstrophy, max_velocity]}}
  fields: {all: {every: 2, of: [velocity, vorticity]}}
"""


def refined(name, precision, number, way=None):
    """A run on the CPU, or in that way on GPUs."""
    folder = f"{name}_{precision}_{number}"
    if way is None:
        return tagflow("run", f"{name}.yaml", "--output", folder, *sets(PRECISIONS[precision]))
    ranks, exchange, how, order, sparse = way
    settings = {"run.exchange": exchange, "run.transport": how, "run.sparse": sparse}
    return gpu("run", f"{name}.yaml", "--output", folder, *sets(PRECISIONS[precision] | settings), "--share-gpu", ranks=ranks,
               options=f"uuid=same,aware={int(how == 'device')},order={order}")


def refined_faults(wanted, here, way):
    """Differences, or messages between levels that took another way."""
    report = load(here, "report.json")
    told = re.findall("^messages between levels: (.*)", open(here + "/log.txt").read(), re.M)
    words = {"host": "through MPI, by way of host memory", "device": "through MPI, from GPU memory", "ipc": "by CUDA IPC, all "}[way[2]]
    wrong = [] if report["backend"] == "cuda" and report["transport"] == way[2] else [f"{report['backend']}, {report['transport']}"]
    wrong += [] if len(told) == (way[0] > 1) and all(line.startswith(words) for line in told) else [f"between levels: {told}"]
    return wrong + differences(results(wanted), results(here))[:5]


for name, text in (REFINED | {"gap": GAP}).items():
    write(name + ".yaml", text + REFINED_OUTPUT)
# Ranks, exchange, transport, order, sparse.
WAYS = [(2, "all", "ipc", "lazy", "never"), (3, "cut", "device", "random", "always"), (4, "cut", "ipc", "random", "never"),
        (2, "cut", "host", "others", "always"), (0, "all", "device", "lazy", "always")]
turn = itertools.cycle(WAYS)
names = itertools.cycle(REFINED)
kinds = [(name, precision) for precision in PRECISIONS for name in (REFINED if THOROUGH else [next(names)])]
jobs = [(name, precision, number, None if number == 0 else next(turn))
        for name, precision in kinds for number in range(6 if THOROUGH else 3 if precision == "fp32" else 2)]
kinds += [("gap", "fp16")]
jobs += [("gap", "fp16", 0, None), ("gap", "fp16", 1, (6, "cut", "host", "random", "auto"))]
for (name, precision, number, way), said in together(refined, jobs):
    here, wanted = f"{name}_{precision}_{number}", f"{name}_{precision}_0"
    wrong = [str(said)] if said.code else refined_faults(wanted, here, way) if way else []
    check(not wrong, f"{here}, {way}: {wrong or 'as on the CPU'}")
hashes = {load(f"{name}_{precision}_0", "report.json")["state_hash"] for name, precision in kinds}
check(len(hashes) == len(kinds), "refined grids differ")

# ---- all that a run writes; going on where another backend ended ----

STEPS = 90
write("long.yaml", runs.LONG_CASE)
LONG = {"run.steps": STEPS, "checkpoint": {"every": 35, "keep": 2}, "check.every": 25, "output.averages.mean.to": 80,
        "output.fields.main.every": 30, "output.fields.wide.every": 45, "output.images.side.every": 30}


def long_run(folder, ranks=0, options=None, settings=(), more=()):
    """options: the stand-in's; None: on the CPU."""
    arguments = ["run", "long.yaml", "--output", folder, *more, *sets(LONG | dict(settings))]
    if options is None:
        return tagflow(*arguments, ranks=ranks)
    return gpu(*arguments, "--share-gpu", ranks=ranks, options="uuid=same," + options)


def as_undisturbed(folder, said, what):
    wrong = [str(said)] if said.code else differences(undisturbed, results(folder))[:5] + runs.faults(folder)
    check(not wrong, f"{what}: {wrong or 'as the run on the CPU'}")


jobs = [("cpu",), ("gpu", 0, "order=lazy"), ("gpu_3", 3, "order=random,seed=5", {"run.ranks": [1, 3, 1]})]
said = dict((job[0], said) for job, said in together(long_run, jobs))
check(said["cpu"].code == 0 and runs.checkpoint_steps("cpu") == [70, 90], f"the run on the CPU: {said['cpu']}")
undisturbed = results("cpu")
check(len(undisturbed) > 40, f"{len(undisturbed)} results")
as_undisturbed("gpu", said["gpu"], "on a GPU")
as_undisturbed("gpu_3", said["gpu_3"], "on 3 ranks with GPUs")


def go_on(name, start, ranks, options, cut):
    """As from the job before, killed between its last two checkpoints."""
    shutil.copytree(start, name)
    write(name + "/status.json", json.dumps(load(name, "status.json") | {"state": "running"}))
    os.remove(name + "/report.json")
    os.remove(name + f"/checkpoints/step_{STEPS:010}.h5")
    return long_run(name, ranks, options, {"run.ranks": cut}, ["--restart", "auto"])


jobs = [("cpu, then GPUs", "cpu", 3, "order=random,seed=2", [1, 1, 3]), ("GPU, then cpu", "gpu", 2, None, [2, 1, 1]),
        ("GPUs, then a GPU", "gpu_3", 0, "order=lazy", [1, 1, 1]), ("GPUs, then cpu", "gpu_3", 0, None, [1, 1, 1])]
for (name, _, _, options, _), said in together(go_on, jobs):
    resumed = "goes on from" in said.out and "step 70" in said.out
    check(resumed and on_gpu(name) == (options is not None), f"{name}: goes on from step 70: {said}")
    as_undisturbed(name, said, name)

# Stopped in the middle, on two ranks; goes on elsewhere.
job = Job("stopped", LONG, 2, case="long.yaml", more=["--backend", "cuda", "--share-gpu"], program=PROGRAM,
          env=standin("uuid=same,order=random,seed=3"))
if job.wait_for_line("step 20 "):
    job.signal_rank(signal.SIGTERM, 1)
said = job.end()
status = load("stopped", "status.json")
check(said.code == 75 and status["state"] == "stopped" and 20 <= status["step"] < STEPS and
      runs.checkpoint_steps("stopped")[-1] == status["step"] and not runs.faults("stopped", quick=True),
      f"SIGTERM: stopped at step {status['step']}: {said}")
shutil.copytree("stopped", "stopped, then cpu")
as_undisturbed("stopped, then cpu", long_run("stopped, then cpu", 3, None, {"run.ranks": [3, 1, 1]}, ["--restart", "auto"]),
               "then on 3 ranks of the CPU")
as_undisturbed("stopped", long_run("stopped", 4, "order=lazy", {"run.ranks": [1, 2, 2]}, ["--restart", "auto"]),
               "then on 4 ranks with GPUs")

# ---- which GPU; none, too old, too small ----

write("case.yaml", runs.CASE)
said = tagflow("run", "case.yaml", "--output", "case")
state_hash = load("case", "report.json")["state_hash"]
NONE = "no NVIDIA GPU to be seen"
GPU_LESS = r"^backend cpu: no GPU is used \("
NO_DRIVER = r"no NVIDIA driver, or one too old for CUDA \d+\.\d+"
OLD = r"GPU 0, .*, is too old: it is sm_70, and there are kernels for sm_80 and newer"
TRIAL = "MPI cannot read the memory of GPUs: a test message "
ALONE = "each rank sees a GPU of its own only"
# The stand-in's options, ranks, backend asked for, more arguments: exit status, backend, and, of these, what the log says,
# what it says not, and errors, each once from as many ranks as there are texts.
CHOICES = [
    ("devices=2", 2, "auto", [], 0, "cuda", [r"^rank 0 on \S+ cuda, GPU 0: .*sm_90$", r"^rank 1 on \S+ cuda, GPU 1: "], [ALONE], []),
    ("devices=3", 4, "cuda", ["--share-gpu"], 0, "cuda", [r"^rank 3 on \S+ cuda, GPU 0: "], [ALONE], []),
    ("devices=3", 4, "cuda", [], 1, None, [], [], [r"4 ranks on \S+ and 3 GPUs for them \(.*\): rank 3 .*--share-gpu"]),
    ("devices=1,uuid=rank", 2, "cuda", [], 0, "cuda", [ALONE, r"^ranks 0 to 1 on \S+ cuda, GPU 0: "], [], []),
    ("devices=1,uuid=rank", 0, "cuda", [], 0, "cuda", [], [ALONE], []),
    ("devices=2,uuid=same", 2, "auto", [], 1, None, [], [], [r"2 ranks on \S+ and 1 GPU for them \(.*\): rank 1 .*--share-gpu"]),
    ("devices=1", 2, "cuda", [], 1, None, [], [], [r"2 ranks on \S+ and 1 GPU for them \(.*\): rank 1 .*--share-gpu"]),
    ("devices=1", 2, "cuda", ["--share-gpu"], 0, "cuda", [r"^ranks 0 to 1 on \S+ cuda, GPU 0: "], [ALONE], []),
    ("driver=0", 0, "auto", [], 0, "cpu", [GPU_LESS + NO_DRIVER + r"\)$"], [], []),
    ("driver=12040", 2, "auto", [], 0, "cpu", [GPU_LESS + NO_DRIVER + r" \(rank 0 on \S+\)\)$"], [], []),
    ("driver=0", 2, "cuda", [], 1, None, [], [], ["--backend cuda: " + NO_DRIVER]),
    ("devices=0", 0, "auto", [], 0, "cpu", [GPU_LESS + NONE + r"\)$"], [], []),
    ("devices=0", 0, "cuda", [], 1, None, [], [], ["--backend cuda: " + NONE]),
    ("devices=2,rank=1,devices=0", 2, "auto", [], 0, "cpu", [GPU_LESS + NONE + r" \(rank 1 on \S+\)\)$"], [], []),
    ("devices=2,rank=1,devices=0", 2, "cuda", [], 1, None, [], [], ["--backend cuda: " + NONE + r" \(rank 1 on \S+\)"]),
    ("devices=0", 0, "cpu", [], 0, "cpu", [], ["^backend "], []),
    ("unreadable=1", 0, "auto", [], 1, None, [], [], [r"the GPU failed: .*; this driver cannot load the kernels of this build"]),
    ("capability=7.0", 0, "auto", [], 1, None, [], [], [OLD]),
    ("capability=7.0", 0, "cuda", [], 1, None, [], [], [OLD]),
    ("devices=2,rank=1,capability=7.0", 2, "auto", [], 1, None, [], [], [OLD.replace("GPU 0", "GPU 1")]),
    ("devices=2,stacks=2e8", 2, "auto", [], 0, "cuda", [r"^GPU memory besides, for kernels .* threads: 0\.2 GB a rank$"], [], []),
    ("devices=1", 0, "auto", [], 0, "cuda", [], ["^GPU memory besides"], []),
    ("capability=12.1", 0, "auto", [], 0, "cuda", [r"sm_121$"], [], []),
    ("devices=2,aware=1,says=0", 2, "auto", ["--set", "run.transport=device"], 0, "cuda", [r"^halos: .*from GPU memory: this MPI does not"], [], []),
    ("aware=1,says=0", 0, "auto", ["--set", "run.transport=device", "--set", "run.exchange=all"], 0, "cuda", [], [], []),
    ("devices=2", 2, "auto", ["--set", "run.transport=device"], 1, None, [], [], [TRIAL + "ended in a memory fault"]),
    ("says=1", 0, "auto", ["--set", "run.exchange=all"], 1, None, [], [], [TRIAL + "ended in a memory fault"]),
    ("devices=2,says=1", 2, "auto", [], 1, None, [], [], [TRIAL + "ended in a memory fault"]),
    ("devices=2,says=1", 2, "auto", ["--set", "run.transport=host"], 0, "cuda", [r"^halos: .*by way of host memory: run.transport is"], [], []),
    ("devices=2,aware=1,says=0,messages=error", 2, "auto", ["--set", "run.transport=device"], 1, None, [], [], [TRIAL + "was refused"]),
    ("devices=2,aware=1,says=0,messages=hang", 2, "auto", ["--set", "run.transport=device", "--set", "check.hang=2 s"], 1, None, [], [],
     [TRIAL + "did not arrive"]),
    ("devices=2,aware=1,messages=wrong", 2, "auto", [], 1, None, [], [], [TRIAL + "arrived changed"]),
    ("devices=3,rank=2,aware=1,messages=wrong", 3, "auto", ["--set", "run.transport=device"], 1, None, [], [], [TRIAL + ".*"]),
    ("devices=2,aware=1", 2, "auto", ["--set", "run.transport=device"], 0, "cuda", [r"^halos: .*from GPU memory"], [], []),
    ("devices=2,aware=1,ipc=0", 2, "auto", [], 0, "cuda", [r"^halos: .*from GPU memory"], [], []),
    ("devices=2,ipc=0", 2, "auto", [], 0, "cuda", [r"^halos: .*by way of host memory: this MPI does not"], [], []),
    ("devices=2,aware=1", 2, "auto", [], 0, "cuda", [r"^halos: by CUDA IPC, all 1 pairs of ranks$"], [], []),
]


def choose(number, choice):
    options, ranks, backend, more, code, used, said_words, unsaid, errors = choice
    folder = f"choice_{number}"
    said = gpu("run", "case.yaml", "--output", folder, *more, ranks=ranks, options=options, backend=backend)
    wrong = [] if said.code == code else [f"exit status {said.code}"]
    wrong += [f"not said once: {words}" for words in said_words if len(re.findall(words, said.out, re.M)) != 1]
    wrong += [f"said: {words}" for words in unsaid if re.search(words, said.out, re.M)]
    # Where mpirun has not ended the other ranks after 15 s, as on a loaded machine, they say it, too.
    lines = {re.sub(r"rank \d+", "rank", line) if TRIAL in line else line for line in said.errors}
    wrong += [f"errors {said.errors}"] if len(lines) != len(errors) else []
    wrong += [f"no error {words}" for words in errors if not any(re.match(WHO + words, line) for line in said.errors)]
    if code == 0 and said.code == 0:
        report = load(folder, "report.json")
        with open(folder + "/log.txt") as file:
            log = file.read()
        wrong += [f"not in log.txt: {words}" for words in said_words if not re.search(words, log, re.M)]
        wrong += [] if (report["backend"], report["state_hash"]) == (used, state_hash) else [f"{report}"]
    elif os.path.exists(folder):  # nothing was begun
        wrong += [f"left {runs.tree(folder)}"]
    return wrong


for (number, choice), wrong in together(choose, list(enumerate(CHOICES))):
    check(not wrong, f"{choice[:4]}: {wrong or f'exit status {choice[4]}, {choice[5]}'}")

# `info` says the same.
DEVICE = r"GPU {}[^;]*, sm_{}, {} GB"
INFO = {
    "driver=0": "; " + NO_DRIVER + "$",
    "driver=12040": "; " + NO_DRIVER + "$",
    "devices=0": "; " + NONE + "$",
    "capability=7.0": r", driver for \d+\.\d+; " + DEVICE.format(0, 70, 1) + "$",
    "devices=2,memory=80000000000": "; " + DEVICE.format(0, 90, 80) + "; " + DEVICE.format(1, 90, 80) + "$",
    "fail=cudaGetDeviceCount:1": "; " + NONE + "$",
    "fail=cudaGetDeviceProperties:1": r", driver for \d+\.\d+$",
    "devices=64": "; " + DEVICE.format(5, 90, 1),
}
for options, words in INFO.items():
    said = gpu("info", options=options)
    lines = [line for line in said.out.splitlines() if line.startswith("backend   cuda: kernels for sm_80 ")]
    check(said.code == 0 and not said.errors and len(lines) == 1 and re.search(words, lines[0]), f"info, {options}: {lines}")
for aware, words in (0, "by way of host memory"), (1, "out of their memory"):
    said = gpu("info", options=f"aware={aware}")
    check(re.search("^halos .*" + words, said.out, re.M), f"info, aware={aware}: {words}")
for options, words in ("devices=0", None), ("driver=0", None), ("devices=1", "by CUDA IPC: one GPU is seen here"), \
        ("devices=3", "by CUDA IPC between 3 of 3 pairs"), ("devices=2,peers=0", "not by CUDA IPC: no two"), \
        ("devices=3,fail=cudaDeviceCanAccessPeer:1", "by CUDA IPC between 2 of 3 pairs"):
    lines = re.findall("^ +(.*CUDA IPC.*)$", gpu("info", options=options).out, re.M)
    check(len(lines) == (words is not None) and all(line.startswith(words) for line in lines), f"info, {options}: {lines}")

# Too little memory: how much it takes and how much there is. The folder is that of a run that failed at once.
context = 32 << 20
LEFT = ["case.yaml", "log.txt", "report.json", "status.json"]
AVERAGE = {"output.averages": {"small": {"every": 2, "of": ["velocity", "density", "stress"]}}}
for memory, ranks, backend, needs, more in [
        (context + 5000, 0, "auto", "for tags", {}), (context + 1400000, 2, "cuda", "for the populations", {}),
        (context + 1000000, 0, "auto", "for the populations", {}), (context + 6000000, 0, "cuda", "for the average small", AVERAGE)]:
    folder = f"small_{memory}"
    settings = sets({"domain.cells": [32, 32, 32], "run.steps": 10} | more)
    said = gpu("run", "case.yaml", "--output", folder, *settings, ranks=ranks, options=f"devices=2,memory={memory}",
               backend=backend)
    good = re.compile(WHO + r"out of memory: ([\d.e-]+) GB " + needs + r".*, of ([\d.e-]+) GB there are ([\d.e-]+) free ")
    found = [good.match(line) for line in said.errors]
    numbers = [list(map(float, match.groups()[1:])) for match in found if match]
    check(said.code == 1 and len(numbers) == len(found) == (ranks or 1) and
          all(abs(n[1] - 1e-9 * memory) < 1e-3 * n[1] and n[2] < n[0] < n[1] + 1 for n in numbers),
          f"memory of {memory} bytes: {said}")
    left = [name for name in runs.tree(folder) if os.path.isfile(folder + "/" + name) and name != ".lock"]
    check(left == LEFT and load(folder, "status.json")["state"] == load(folder, "report.json")["state"] == "failed",
          f"left: {left}")
    again = gpu("run", "case.yaml", "--output", folder, "--restart", "auto", *settings, ranks=ranks, options="devices=2")
    check(again.code == 0, f"with enough memory: {again}")

# What `check` says it takes is what it takes.
with open(os.path.join(runs.ROOT, "include/kernel.h")) as file:
    LOADED = 1 + len(re.findall(r"^    X\(", file.read(), re.M))  # launches without cells: one kernel when a GPU is opened, then all
BIG = {"run.steps": 1, "output": {"log": {"every": 0}}, "check.every": 0,
       "checkpoint.every": 0}
REMEMBERED = {"output": {"log": {"every": 0}, "series": {"change": {"every": 9, "of": "residual"}},
                         "averages": {"part": {"every": 1, "of": ["velocity", "stress"],
                                               "region": {"from": [0, 0, 0], "to": [200, 160, 48]}}}}}


def measure(precision, ranks):
    """A run, what `check` says, and what was lost. One is run to its end; the others have all their memory when they
    launch their first kernel on cells, which ends them, and they have an average and a residual."""
    whole = (precision, ranks) == ("fp32", 1)
    settings = sets(BIG | ({} if whole else REMEMBERED) | PRECISIONS[precision] | {"domain.cells": [200, 160, 96 * ranks]})
    said = gpu("check", "--verbose", "case.yaml", "--ranks", ranks, *settings)
    told = re.search(r"^memory: .*?(\S+) (MB|GB)(?: on a GPU| a rank, on its GPU)", said.out, re.M)
    counts = os.path.abspath(f"counts_{precision}_{ranks}")
    ran = gpu("run", "case.yaml", "--output", f"big_{precision}_{ranks}", *settings, ranks=0 if ranks == 1 else ranks,
              options=f"devices=2,memory=4000000000,leaks={int(ranks == 1)},count={counts}{'' if whole else f',fail=cudaLaunchKernel:{LOADED + 1}'}")
    lost = [int(n) for n in re.findall(r"^bytes (\d+)$", open(counts).read(), re.M)]
    check(ran.code == (0 if whole else 1), f"a large grid: {ran}")
    return float(told[1]) * {"MB": 1e6, "GB": 1e9}[told[2]], lost


for precision, ranks in [("fp32", 1), ("fp64", 1), ("fp16", 1), ("fp32", 2), ("fp64", 2)]:
    told, lost = measure(precision, ranks)
    check(len(lost) == ranks and abs(told / max(lost) - 1) < 0.02,
          f"memory, {precision}, {ranks} ranks: check says {told / 1e6:.1f} MB, lost are "
          f"{[round(n / 1e6, 1) for n in lost]} MB")

# Samples of averages stay where the populations are: only the file's values leave, however many samples there are.
fetched = []
for every in 1, 20:
    counts = os.path.abspath(f"counts_average_{every}")
    average = {"every": every, "of": ["velocity", "density", "stress"], "to": 20}
    said = gpu("run", "case.yaml", "--output", f"average_{every}", options=f"count={counts}",
               *sets({"run.steps": 20, "check.every": 0, "checkpoint.every": 0,
                      "output": {"log": {"every": 0}, "averages": {"mean": average}}}))
    fetched.append(re.findall(r"^fetched (\d+)$", open(counts).read(), re.M))
    check(said.code == 0, f"an average: {said}")
check(fetched[0] == fetched[1], f"more samples of an average fetch more bytes: {fetched}")

# ---- calls that fail ----

write("short.yaml", """\
domain:  {cells: [16, 12, 4]}
fluid:   {viscosity: 0.05, velocity: 0.05, length: 16}
faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}, z: periodic}
run:     {steps: 8}
check:   {every: 2}
checkpoint: {every: 4}
output:
  log:    {every: 2}
  series:
    flow: {every: 2, of: [mass, enstrophy, max_velocity]}
    point: {every: 2, of: probe, point: [7.3, 5.1, 1.5]}
    change: {every: 4, of: residual}
  fields: {main: {every: 8, of: velocity}}
  averages: {mean: {every: 2, of: velocity, to: 8}}
  images: {mid: {every: 4, of: speed}}
""")
said = tagflow("run", "short.yaml", "--output", "short")
wanted = results("short")
# Those whose failing does no harm: what is freed at the end is the driver's then.
HARMLESS = {"cudaMemGetInfo", "cudaFree", "cudaFreeHost", "cudaEventDestroy", "cudaStreamDestroy", "cudaIpcCloseMemHandle"}
# Those without which halos go through MPI.
HARMLESS |= {"cudaIpcGetMemHandle", "cudaIpcOpenMemHandle", "cudaIpcGetEventHandle", "cudaIpcOpenEventHandle"}
TOLD = re.compile(WHO + "(the GPU failed: |GPU . cannot be used: |--backend cuda: no NVIDIA |out of memory)")


def counted(path):
    """{function: how often it was called by the rank that counts}"""
    with open(path) as file:
        return {name: int(n) for name, n in (line.split() for line in file) if name not in ("bytes", "fetched", "staged") and n != "0"}


def calls(ranks, how):
    """The same of a run in which nothing fails."""
    path = os.path.abspath(f"calls_{ranks}_{how}")
    last = max(ranks - 1, 0)
    said = gpu("run", "short.yaml", "--output", path + "_run", *sets({"run.transport": how}),
               ranks=ranks, options=f"devices=2,aware={int(how == 'device')},rank={last},count={path}")
    counts = counted(path)
    check(said.code == 0 and not differences(wanted, results(path + "_run")) and counts["kernel"] > 20, f"{ranks} ranks: {said}")
    return counts


def fail(name, number, ranks, how, whom):
    """A run in which that call fails, and one that goes on: what is wrong."""
    folder = f"fail_{name}_{number}_{ranks}_{how}_{whom}"
    rank, count = (f"rank={ranks - 1},", ranks - 1) if whom == "last" else ("", max(ranks - 1, 0))
    settings = sets({"run.transport": how})
    # A rank whose peer failed leaves what may be in use for ever.
    options = f"devices=2,aware={int(how == 'device')}" + (",leaks=0" if how == "ipc" else "")
    order = ["lazy", "random"][number % 2]
    said = gpu("run", "short.yaml", "--output", folder, *settings, ranks=ranks,
               options=f"{options},order={order},seed={number},{rank}fail={name}:{number},rank={count},count={os.path.abspath(folder)}_calls")
    if said.code == 0 and counted(folder + "_calls").get(name, 0) < number:
        return None  # more steps between two looks than in the run that was counted, which was slow
    if said.code == 0 and name in HARMLESS:
        return differences(wanted, results(folder))[:3]
    wrong = [] if said.code == 1 and name not in HARMLESS else [str(said)]
    wrong += [] if said.errors and all(TOLD.match(line) for line in said.errors) else [f"says {said.errors}"]
    if len(said.errors) > max(ranks, 1) or (whom == "last" and len(said.errors) != 1):
        wrong += [f"says it {len(said.errors)} times"]
    if os.path.exists(folder):
        state = load(folder, "status.json")["state"]
        wrong += [] if state == "failed" else [f"status {state}"]
        wrong += runs.faults(folder, quick=True)
    before = runs.checkpoint_steps(folder)
    if not before and number > 1:
        return wrong
    again = tagflow("run", "short.yaml", "--output", folder, "--restart", "auto", *settings)
    if before and f", step {before[-1]}" not in again.out:
        wrong += [f"does not go on from {before[-1]}"]
    wrong += [str(again)] if again.code else differences(wanted, results(folder))[:3]
    return wrong


jobs = []
for case, (ranks, how) in enumerate([(0, "host"), (2, "host"), (2, "device"), (2, "ipc")]):
    count = calls(ranks, how)
    for turn, (name, n) in enumerate(count.items()):
        chosen = sorted({1, (n + 1) // 2, n} if THOROUGH or n > 20 else {1, n})
        if ranks and not THOROUGH:
            chosen = chosen[(turn + case) % len(chosen)::2]
        jobs += [(name, number, ranks, how, "last" if ranks and (number + case) % 2 else "all") for number in chosen]
answers = together(fail, jobs)
for job, wrong in answers:
    check(not wrong, f"fail={job[0]}:{job[1]}, {job[2]} ranks, {job[3]}, {job[4]}: "
          f"{wrong or ('not reached' if wrong is None else 'said, and gone on with')}")
missed = [job[:3] for job, wrong in answers if wrong is None]
check(len(missed) < len(answers) / 10, f"{len(answers)} calls failed, {len(missed)} did not come: {missed}")


# One rank's GPU fails in the middle of many steps, far from the next look at the flow: the others are told soon.
def fail_alone(what, how):
    folder = f"alone_{what}_{how}"
    steps = 1000000
    said = gpu("run", "case.yaml", "--output", folder, ranks=3, options=f"devices=3,aware={int(how == 'device')},rank=1,fail={what}",
               *sets({"run.steps": steps, "check.every": 0, "checkpoint.every": 0, "output": {"log": {"every": 0}},
                      "run.transport": how}))
    status = load(folder, "status.json")
    good = said.code == 1 and len(said.errors) == 1 and TOLD.match(said.errors[0])
    return "" if good and status["state"] == "failed" and 0 < status["step"] < steps / 2 else f"{said}, {status}"


for job, wrong in together(fail_alone, [("kernel:1500", "host"), ("cudaStreamSynchronize:1600", "device"), ("cudaLaunchKernel:1700", "host")]):
    check(not wrong, f"one of three fails between looks, {job}: {wrong or 'all end'}")

# No numbers for the message, then. Before, free memory is asked for around the loading of kernels, and for the check of room.
said = gpu("run", "short.yaml", "--output", "unknown", options="fail=cudaMalloc:5,fail=cudaMemGetInfo:6")
check(said.code == 1 and len(said.errors) == 1 and re.search(r"cells \(use more ranks", said.err), f"no cudaMemGetInfo: {said}")

# ---- more kinds of cells than two bytes number ----

noise = random.Random(3)
with open("noise.raw", "wb") as file:
    file.write(bytes(noise.getrandbits(1) for _ in range(80 * 72 * 64)))
write("noise.yaml", """\
domain:  {cells: [80, 72, 64]}
fluid:   {viscosity: 0.1}
initial: {flow: uniform, velocity: [0.01, 0.002, -0.01]}
faces:   {x: periodic, y: periodic, z: periodic}
bodies:
  noise: {image: {file: noise.raw, size: [80, 72, 64], type: uint8, order: little, skip: 0, solid: [1]}}
run:     {steps: 3, sparse: never}
""")
for precision in "fp32", "fp16":
    both = [tagflow("run", "noise.yaml", "--output", f"noise_{precision}", *sets(PRECISIONS[precision])),
            gpu("run", "noise.yaml", "--output", f"noise_gpu_{precision}", *sets(PRECISIONS[precision]))]
    noisy = [load(folder, "report.json")["state_hash"] for folder in (f"noise_{precision}", f"noise_gpu_{precision}")]
    check(all(said.code == 0 for said in both) and noisy[0] == noisy[1], f"a cell in two is solid, {precision}: {noisy}")

# ---- a flow that diverges ----

LOUD = {"faces.ymax.wall.velocity": [0.5, 0, 0.2], "fluid.viscosity": 1e-6, "run.steps": 300, "check.every": 300,
        "output": {"log": {"every": 0}}}
loud = [tagflow("run", "case.yaml", "--output", "loud", *sets(LOUD))]
for ranks in 0, 3:
    loud += [gpu("run", "case.yaml", "--output", f"loud_{ranks}", *sets(LOUD), ranks=ranks, options="devices=3,order=random")]
check(all(said.code == 3 and len(said.errors) == 1 and said.errors == loud[0].errors for said in loud) and
      "not a finite number at step 300" in loud[0].err and
      all(load(folder, "status.json")["state"] == "diverged" for folder in ("loud", "loud_0", "loud_3")),
      f"diverges: {[str(said) for said in loud]}")

runs.finish()
