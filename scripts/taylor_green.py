#!/usr/bin/python3
"""Figure and table of the Taylor-Green vortex at Re 1600 against spectral data.

    scripts/taylor_green.py TAGFLOW [CELLS [SPEED [END [COLLISION]]]]   (128, 0.05, 20, bgk: about two minutes on two cores)

Writes docs/images/taylor_green.png and docs/images/vortices.png and prints the table of docs/validation.md.
scripts/operators.py compares all operators with less.
"""
import argparse
import os
import sys

import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tagflow", help="the program")
parser.add_argument("cells", type=int, nargs="?", default=128, help="along each axis (128)")
parser.add_argument("speed", type=float, nargs="?", default=0.05, help="V, cells a step (0.05)")
parser.add_argument("end", type=float, nargs="?", default=20, help="time of the end, L/V (20)")
parser.add_argument("collision", nargs="?", default="bgk", help="operator (bgk)")
o = parser.parse_args()
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "physics"))
os.environ["TAGFLOW"] = os.path.abspath(o.tagflow)
from reference import TAYLOR_GREEN
from vortex import REYNOLDS, Vortex

cells, speed, end, collision = o.cells, o.speed, o.end, o.collision

v = Vortex(cells, speed, end, {"collision": collision, "storage": "fp32"})
rate = 2 / REYNOLDS
time, energy, dissipation = TAYLOR_GREEN.T

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
left.plot(time, energy, "k.", label="spectral, $512^3$")
left.plot(v.time, v.energy, "C0", label=f"tagflow, {collision.upper()}, ${cells}^3$")
left.set(xlabel="$t\\,V/L$", ylabel="$E/V^2$", xlim=(0, 20), ylim=(0, None))
left.legend(frameon=False)
right.plot(time, dissipation, "k.", label="spectral, $512^3$")
right.plot(v.time, v.dissipation, "C0", label="$-dE/dt$")
right.plot(v.time, rate * v.enstrophy, "C1", label=r"$2\Omega/Re$, central differences")
right.plot(v.snapshot_time, rate * v.spectral, "C2+", label=r"$2\Omega/Re$, Fourier transform")
right.set(xlabel="$t\\,V/L$", ylabel="dissipation $L/V^3$", xlim=(0, 20), ylim=(0, 0.019))
right.legend(frameon=False)
figure.savefig(os.path.join(ROOT, "docs", "images", "taylor_green.png"), dpi=100)

figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), constrained_layout=True)
for axis, t in zip(axes, (2, 5, 9, 14)):
    u = v.run.field(number=numpy.argmin(numpy.abs(v.snapshot_time - t)))[:, :, 0] / speed
    curl = (numpy.gradient(u[..., 1], axis=0) - numpy.gradient(u[..., 0], axis=1)) * v.length
    picture = axis.imshow(curl.T, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu_r", vmin=-5, vmax=5)
    axis.set(title=f"$t\\,V/L$ = {t}", xticks=[], yticks=[])
figure.colorbar(picture, ax=axes, label="$\\omega_z\\,L/V$", shrink=0.9)
figure.savefig(os.path.join(ROOT, "docs", "images", "vortices.png"), dpi=100)

print("| t V/L | E | spectral | off | -dE/dt | spectral | off | 2 Omega/Re, central differences | off | "
      "2 Omega/Re, Fourier | off |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for t, e, d in TAYLOR_GREEN:
    if t > end or t % 1 > 0 or t == 0:
        continue
    found = v.at(v.energy, t), v.at(v.dissipation, t), rate * v.at(v.enstrophy, t), \
        rate * numpy.interp(t, v.snapshot_time, v.spectral)
    print(f"| {t:g} | {found[0]:.6f} | {e:.6f} | {100 * (found[0] / e - 1):+.2f} % | {found[1]:.6f} | {d:.6f} | "
          f"{100 * (found[1] / d - 1):+.1f} % | {found[2]:.6f} | {100 * (found[2] / d - 1):+.1f} % | "
          f"{found[3]:.6f} | {100 * (found[3] / d - 1):+.1f} % |")
for what, values in (("-dE/dt", v.dissipation), ("2 Omega/Re", rate * v.enstrophy)):
    top = numpy.argmax(values)
    print(f"largest {what}: {values[top]:.6f} at {v.time[top]:.2f} (spectral 0.0128575 at 8.97)")
print(f"seconds in the loop: {v.run.report['seconds']:.0f}")
