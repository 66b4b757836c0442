#!/usr/bin/python3
"""The age of the fluid: a scalar with a source of 1 per time that comes in with 0 (docs/scalars.md), in a plane channel of developed flow.

All that the source gives upstream of a plane passes it: with the flow Q through the plane and the volume V between inlet and plane,
Q mixing-cup mean - D area d(mean)/dx = V, less what diffuses out through the inlet. 5e-4 of V was set, 2e-4 found: velocities and
values are those of cells, the flux that is exact is that of links. With the limiter nothing diffuses through the inlet, and what leaves
through the outlet is the volume of the channel to 1e-9: over the flow rate it is the mean residence time. In units it is in seconds.
"""
import numpy

import case
import heat

N, H, D, U = 60, 16, 0.02, 0.05


def channel(limiter, units=None, **source):
    planes = {f"x{k}": {"every": 60000, "of": "mixing_cup", "scalar": "age", "axis": "x", "at": k} for k in range(18, 43)}
    dx, dt = units or (1, 1)
    settings = heat.settings([N, H, 1], {"xmin": {"velocity": {"value": [U, 0, 0], "profile": "duct", "scalars": {"age": {"value": 0}}}},
                                         "xmax": "nonreflecting", "y": "wall", "z": "periodic"},
                             {"age": {"diffusivity": D, "limiter": limiter} | source}, fluid={"viscosity": 0.05}, run={"steps": 60000})
    if units:
        settings["units"] = {"dx": f"{dx} m", "dt": f"{dt} s"}
    settings["output"] = {"log": {"every": 0}, "series": planes | {
        "out": {"every": 60000, "of": "outlet", "face": "xmax"}, "left": {"every": 60000, "of": "heat", "scalar": "age", "face": "xmax"},
        "lost": {"every": 60000, "of": "heat", "scalar": "age", "face": "xmin"}}}
    folder = heat.run(settings).folder
    tables = {name: numpy.genfromtxt(f"{folder}/series/{name}.csv", delimiter=",", names=True) for name in settings["output"]["series"]}
    return {name: {column: float(table[column][-1]) for column in table.dtype.names} for name, table in tables.items()}


for limiter in "none", "on":
    last = channel(limiter, source=1)
    lost = -last["lost"]["heat"]
    if limiter == "on":
        case.at_most("limiter on: what diffuses out through the inlet", abs(lost), 1e-12)
    else:
        case.at_least("limiter none: what diffuses out through the inlet", lost, 5)
    worst = 0
    for k in range(19, 42):
        plane, volume = last[f"x{k}"], (k + 0.5) * H
        diffusive = D * H * (last[f"x{k + 1}"]["mean"] - last[f"x{k - 1}"]["mean"]) / 2
        worst = max(worst, abs(plane["mixing_cup"] * plane["volume_flow"] - diffusive + lost - volume) / volume)
    case.at_most(f"limiter {limiter}: balance of age at planes, relative to the volume upstream", worst, 5e-4)
    residence = N * H / last["out"]["volume_flow"]
    case.at_most(f"limiter {limiter}: age that leaves over the flow, beside volume over flow rate {residence:.6g}",
                 abs((-last["left"]["heat"] + lost) / last["out"]["volume_flow"] / residence - 1), 1e-9)
    if limiter == "on":
        steps = last
dx, dt = 2e-3, 5e-4
last = channel("on", (dx, dt), source="1 1/s")
case.at_most("in units: seconds in place of steps", max(abs(last[f"x{k}"]["mixing_cup"] / dt / steps[f"x{k}"]["mixing_cup"] - 1) for k in (20, 40)), 1e-12)
case.at_most("in units: what leaves is the volume in m3",
             abs(-last["left"]["heat"] / (N * H * dx**3) - 1), 1e-9)
case.finish()
