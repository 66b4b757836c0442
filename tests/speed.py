#!/usr/bin/python3
"""Share of the memory ceiling that tagflow reaches here: ceiling and runs in turn, medians.

    tests/speed.py TAGFLOW CEILING [ROUNDS [CELLS]]

Two ranks, CELLS^3 cells (128): the periodic box with every collision operator, with BGK and
Smagorinsky's model, and the closed cavity, fp32 and fp64. TAGFLOW and CEILING are the programs that Meson builds. The machine should have nothing else
to do; a figure is worth what the spread beside it says.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

tagflow, ceiling = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
cells = int(sys.argv[4]) if len(sys.argv) > 4 else 128
steps = max(20, int(300 * 128**3 / cells**3))

BOX = """
domain:  {{cells: [{n}, {n}, {n}]}}
fluid:   {{viscosity: 0.02}}
solver:  {{collision: {collision}, storage: {precision}, arithmetic: {precision}{more}}}
initial: {{flow: {flow}, {amplitude}}}
faces:   {faces}
run:     {{steps: {steps}}}
check:   {{every: 0}}
"""


def case(kind, collision, precision):
    periodic = kind != "cavity"
    return BOX.format(
        n=cells,
        steps=steps,
        collision=collision,
        precision=precision,
        more=", subgrid: {smagorinsky: {constant: 0.1}}" if kind == "subgrid" else "",
        flow="taylor_green_3d" if periodic else "rest",
        amplitude="amplitude: 0.05" if periodic else "",
        faces="{x: periodic, y: periodic, z: periodic}"
        if periodic
        else "{x: wall, z: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}}",
    )


def measure_run(folder, text):
    path = os.path.join(folder, "case.yaml")
    with open(path, "w") as file:
        file.write(text)
    out = os.path.join(folder, "out")
    subprocess.run(
        ["mpirun", "-n", "2", tagflow, "run", path, "--output", out, "--overwrite"],
        check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    with open(os.path.join(out, "report.json")) as file:
        return json.load(file)["mlups"]


def measure_ceiling(precision):
    output = subprocess.run(
        ["mpirun", "-n", "2", ceiling, str(cells), str(cells), str(cells // 2), precision, "4"],
        check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    return float(re.search(rf"^ceiling {precision} ([0-9.]+) MLUPS", output, re.M).group(1))


keys = subprocess.run([tagflow, "keys", "solver.collision"], check=True, capture_output=True, text=True).stdout
operators = re.search(r"one of (.*)", keys).group(1).split(", ")
cases = [("periodic", name) for name in operators] + [("subgrid", "bgk"), ("cavity", "bgk")]

with tempfile.TemporaryDirectory() as folder:
    for precision in ("fp32", "fp64"):
        seen = {}
        for _ in range(rounds):
            seen.setdefault("ceiling", []).append(measure_ceiling(precision))
            for kind, collision in cases:
                text = case(kind, collision, precision)
                seen.setdefault(f"{kind} {collision}", []).append(measure_run(folder, text))
        top = statistics.median(seen["ceiling"])
        for name, values in seen.items():
            middle = statistics.median(values)
            print(f"{precision} {name:24s} {middle:7.1f} MLUPS ({min(values):.1f} to {max(values):.1f})"
                  f"  {100 * middle / top:5.1f} % of the ceiling", flush=True)
