#!/usr/bin/python3
"""scripts/permeability.py: its JSON and page beside numpy on the snapshots of its runs: tensor, Reynolds number, tortuosity,
distribution of the velocity, sub-volumes; with units and without, on ranks; and one line where it cannot."""
import json
import os
import shutil
import subprocess
import xml.etree.ElementTree

import numpy

import runs
from runs import ROOT, check, load, write

# Grains longer along x than along y and z, 5 um a voxel: smoothed noise, cut at its median.
random = numpy.random.default_rng(3)
noise = random.standard_normal((20, 16, 32))
for axis, times in (0, 2), (1, 2), (2, 8):
    for _ in range(times):
        noise = 0.5 * noise + 0.25 * (numpy.roll(noise, 1, axis) + numpy.roll(noise, -1, axis))
grains = (noise > numpy.quantile(noise, 0.55)).astype(numpy.uint8)
write("grains.raw", grains.tobytes())
CASE = """\
units:   {dx: 5 um}
domain:  {cells: [32, 16, 20]}
fluid:   {viscosity: 0.1666667}
solver:  {collision: trt, storage: fp64, arithmetic: fp64}
faces:   {x: periodic, y: periodic, z: periodic}
bodies:  {grains: {image: {file: grains.raw, size: [32, 16, 20], solid: [1]}}}
run:     {steps: 4000, stop: {of: permeability, change: 1e-6, every: 100}}
output:  {series: {k: {every: 100, of: permeability, axis: x}}}
"""
write("case.yaml", CASE)


def script(*arguments):
    return subprocess.run([ROOT + "/scripts/permeability.py", *arguments], capture_output=True, text=True, timeout=runs.HANGS,
                          env=os.environ | {"TAGFLOW": runs.TAGFLOW, "PYTHONDONTWRITEBYTECODE": "1"})


def near(a, b, tolerance):
    return numpy.allclose(a, b, rtol=tolerance, atol=0)


said = script("case.yaml", "--acceleration", "1e-5")
check(said.returncode == 0 and "warning" not in said.stderr, f"three runs: {said.stderr[-300:]}")
found = load(".", "case_permeability.json")
text = open("case_permeability.html").read()
page = xml.etree.ElementTree.fromstring(text.split("\n", 1)[1])
titles = [h.text for h in page.iter("{http://www.w3.org/1999/xhtml}h2")]
check(titles == ["Permeability", "Warnings", "Tensor", "Pores", "Convergence", "Velocities", "Sub-volumes", "Formulas", "Where it comes from"],
      f"the page has {titles}")
check("http:" not in text.replace("http://www.w3.org", "") and "https:" not in text and text.count("<svg") == 6,
      f"and {text.count('<svg')} charts, nothing from elsewhere")

fluid = grains == 0
check(found["porosity"] == load("case_x", "report.json")["pores"]["images"]["grains"]["porosity"] and near(found["porosity"], fluid.mean(), 1e-8)
      and found["sample"] == "grains", f"porosity {found['porosity']}")
tensor = numpy.zeros((3, 3))
for a, axis in enumerate("xyz"):
    one, report = found["runs"][axis], load(f"case_{axis}", "report.json")
    u = runs.snapshot(f"case_{axis}/fields/pore_flow_{report['step']:010d}.vtkhdf")["velocity"].astype(float)
    check(not u[~fluid].any() and u[fluid].any(axis=-1).mean() > 0.9, f"{axis}: the mask of the image is that of the flow")
    tensor[:, a] = 0.1666667 * u.mean(axis=(0, 1, 2)) / 1e-5
    speed, mean = numpy.sqrt((u**2).sum(axis=-1))[fluid], u[fluid].mean(axis=0)
    check(near(one["tortuosity"], speed.mean() / mean[a], 1e-6) and one["tortuosity"] > 1, f"{axis}: tortuosity {one['tortuosity']}")
    k, phi = one["cells2"], fluid.mean()
    check(near(one["reynolds"], u[..., a].mean() / phi * (32 * k / phi)**0.5 / 0.1666667, 1e-6), f"{axis}: Reynolds number {one['reynolds']}")
    flow = one["velocities"]
    for name, values in ("along", u[..., a][fluid] / mean[a]), ("speed", speed / mean[a]):
        part = flow[name]
        edges = part["from"] + 0.1 * numpy.arange(len(part["density"]) + 1)
        wanted, _ = numpy.histogram(values, edges, density=True)
        check(near(sum(part["density"]) * 0.1, 1, 1e-12) and abs(wanted - part["density"]).sum() < 4 / fluid.sum() / 0.1 and
              edges[0] <= values.min() and values.max() <= edges[-1], f"{axis}: distribution of {name}, {len(part['density'])} classes")
    check(near(flow["fastest"], speed.max() / mean[a], 1e-6) and near(flow["backward"], (u[..., a][fluid] < 0).mean(), 1e-12) and
          near(flow["slow"], (speed < 0.01 * speed.mean()).mean(), 1e-12) and flow["slow"] > 0, f"{axis}: shares {flow['backward']}, {flow['slow']}")
    levels = one["sub_volumes"]
    check([level["edge"] for level in levels] == [[32, 16, 20], [16, 8, 10], [8, 4, 5]] and [level["count"] for level in levels] == [1, 8, 64],
          f"{axis}: sub-volumes {[level['edge'] for level in levels]}")
    for level in levels:
        p, (ex, ey, ez) = level["parts"], level["edge"]
        parts = [(slice(z * ez, z * ez + ez), slice(y * ey, y * ey + ey), slice(x * ex, x * ex + ex))
                 for z in range(p) for y in range(p) for x in range(p)]
        for name, values in (("permeability", [0.1666667 * u[part][..., a].mean() / 1e-5 for part in parts]),
                             ("porosity", [fluid[part].mean() for part in parts])):
            said = level[name]
            check(near([said["mean"], said["min"], said["max"]], [numpy.mean(values), min(values), max(values)], 1e-6) and
                  numpy.isclose(said["deviation"], numpy.std(values), rtol=1e-6, atol=1e-12), f"{axis}, {p} parts an edge: {name} {said}")
full = numpy.array(found["tensor"]["cells2"])
check(abs(full - tensor).max() < 1e-6 * tensor.max(), f"the tensor is that of the snapshots: {full.tolist()}")
values, vectors = numpy.linalg.eigh(0.5 * (full + full.T))
principal = found["tensor"]["principal"]
check(near([one["cells2"] for one in principal], values[::-1], 1e-12) and near(principal[0]["m2"], principal[0]["cells2"] * 25e-12, 1e-12) and
      near(principal[0]["millidarcy"], principal[0]["m2"] / 9.869233e-16, 1e-12), f"principal values {[one['cells2'] for one in principal]}")
check(all(abs(abs(numpy.dot(one["direction"], vectors[:, 2 - k])) - 1) < 1e-9 for k, one in enumerate(principal)) and
      abs(principal[0]["direction"][0]) > 0.9, f"the grains are long along x, the first direction is {principal[0]['direction']}")
check(found["tensor"]["asymmetry"] == abs(full - full.T).max() / 2 / values.max() < 1e-3, f"asymmetry {found['tensor']['asymmetry']}")

# The same with physical units of time, on two ranks: lengths and numbers without a unit stay.
again = script("case.yaml", "--acceleration", "1e-5", "--output", "si", "--tagflow", f"{runs.MPIRUN} -n 2 {runs.TAGFLOW}", "--", "--set", "units.dt=1 us",
               "--set", "fluid.viscosity=4.1666675e-06 m2/s", "--set", "force.acceleration=[0,0,0]")
check(again.returncode == 2 and "nothing drives the flow" in again.stderr, f"an option takes the force away: {again.stderr[-300:]}")
again = script("case.yaml", "--axes", "x", "--acceleration", "1e-5", "--output", "si", "--tagflow", f"{runs.MPIRUN} -n 2 {runs.TAGFLOW}", "--", "--set",
               "units.dt=1 us", "--set", "fluid.viscosity=4.1666675e-06 m2/s")
si = load(".", "si_permeability.json") if again.returncode == 0 else {"runs": {"x": {}}}
one = si["runs"]["x"]
wanted = found["runs"]["x"]
check(again.returncode == 0 and near(one["cells2"], wanted["cells2"], 1e-4) and near(one["tortuosity"], wanted["tortuosity"], 1e-4)
      and near(one["sub_volumes"][1]["permeability"]["deviation"], wanted["sub_volumes"][1]["permeability"]["deviation"], 1e-4)
      and si["tensor"] is None, f"in m and s: {one.get('cells2')}, {one.get('reynolds')}: {again.stderr[-300:]}")

# What it warns of.
few = script("case.yaml", "--axes", "x", "--acceleration", "1e-3", "--output", "few", "--no-flow", "--", "--set", "run.steps=150")
said = load(".", "few_permeability.json")
check(few.returncode == 0 and not os.path.isdir("few_x/fields") or not os.listdir("few_x/fields"), "--no-flow writes no snapshot")
check(len(said["warnings"]) == 2 + (said["runs"]["x"]["reynolds"] > 0.3) and "run.stop was not met" in few.stderr and
      "no snapshot of the velocity at its last step, 150" in few.stderr and said["runs"]["x"]["tortuosity"] is None, f"it warns: {said['warnings']}")
fast = script("case.yaml", "--axes", "x", "--acceleration", "1e-2", "--output", "fast", "--no-flow", "--", "--set", "run.stop.change=1e-3")
said = load(".", "fast_permeability.json")
check(fast.returncode == 0 and "the flow is not creeping" in fast.stderr and said["runs"]["x"]["reynolds"] > 0.3,
      f"Reynolds number {said['runs']['x']['reynolds']}: {said['warnings']}")
beside = script("case.yaml", "--axes", "x", "--output", "beside", "--", "--set", "domain.cells=[40,16,20]", "--set", "run.stop.change=1e-2")
check(beside.returncode == 0 and "10240 of 12800 cells are the image's" in beside.stderr, f"planes of fluid beside the image: {beside.stderr[-300:]}")


def refuses(words, code, *arguments):
    said = script(*arguments)
    lines = said.stderr.splitlines() or [""]
    check(said.returncode == code and words in lines[-1] and "Traceback" not in said.stderr,
          f"permeability.py {' '.join(arguments)}: exit status {said.returncode}, {lines[-1]}")


refuses("case.yaml: nothing flows through the box along y, as face ymin is of kind wall (both must be periodic or open) (--axes leaves y out)", 2,
        "case.yaml", "--output", "closed", "--", "--set", "faces.y=wall")
check(not os.path.exists("closed_x"), "and no run has begun")
refuses("may not change", 2, "case.yaml", "--acceleration", "1e-5", "--", "--set", "fluid.viscosity=0.1")
write("file_x", "not a folder")
refuses("file_x", 2, "case.yaml", "--output", "file")
refuses("--axes xx: letters x, y, z", 2, "case.yaml", "--axes", "xx")
refuses("unrecognized arguments: --speed (see --help)", 2, "case.yaml", "--speed")
report = load("case_x", "report.json")
del report["permeability"]["mean_velocity"]
shutil.copytree("case_x", "old_x")
write("old_x/report.json", json.dumps(report))
refuses("old_x/report.json has no mean velocity: an earlier version made it (remove the folder, and start again)", 2, "case.yaml",
        "--acceleration", "1e-5", "--axes", "x", "--output", "old")
runs.finish()
