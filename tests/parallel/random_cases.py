"""Flows at random, as cases: faces of all kinds, bodies anywhere, also across faces, an operator, a precision, perhaps a subgrid model
and a force. A number always gives the same flow.
"""
import random


LAWS = [{"power": {"index": 0.6, "shear_rate": 0.01}}, {"carreau": {"infinite": 0.02, "time": 200, "index": 0.4}},
        {"casson": {"yield": 1e-5}}, {"herschel_bulkley": {"yield": 1e-5, "index": 1.4, "shear_rate": 0.01}}]

def face(r, axis, side):
    into = [0.03 if a == axis else 0 for a in "xyz"]
    along = [0.02 if axis != "x" else 0, 0.01 if axis == "x" else 0, 0]
    first, last = ["wall", "wall", "slip", {"wall": {"velocity": along}}], [{"velocity": {"value": into}}]
    last += ["nonreflecting", {"pressure": {}}, "outflow"] if side == "max" else []
    return r.choice(first + last + last)


def body(r, cells):
    centre = [r.uniform(0.1, 0.9) * n for n in cells]
    radius = r.uniform(1.2, min(cells) / 2.2)
    shapes = [{"sphere": {"center": centre, "radius": radius}},
              {"cylinder": {"center": centre, "axis": r.choice("xyz"), "radius": radius}},
              {"box": {"from": [x - radius for x in centre], "to": [x + radius / 2 for x in centre]}}]
    return {"shape": r.choice(shapes), "wall": r.choice(["halfway", "interpolated"])}


def flow(number):
    """The case of this number."""
    r = random.Random(number)
    cells = [r.choice([17, 24, 33, 40, 47, 70]), r.choice([5, 8, 13, 19, 24]), r.choice([4, 7, 12, 18])]
    faces = {}
    for axis in "xyz":
        kind = r.choice(["periodic", "slip", "each", "each", "each"])
        faces |= {axis + side: face(r, axis, side) for side in ("min", "max")} if kind == "each" else {axis: kind}
    case = {"domain": {"cells": cells}, "fluid": {"viscosity": r.choice([0.02, 0.05, 0.1])},
            "solver": {"collision": r.choice(["auto", "bgk", "trt", "rr", "cumulant", "mrt"]),
                       "storage": r.choice(["fp16", "fp32", "fp64"])},
            "initial": {"flow": "uniform", "velocity": [0.02, 0, 0]}, "faces": faces, "run": {"steps": r.choice([37, 52])},
            "check": {"hang": "none"},
            "output": {"log": {"every": 0}, "series": {"flow": {"every": 10, "of": ["mass", "kinetic_energy"]}}}}
    if r.random() < 0.3:
        case["solver"]["subgrid"] = {"smagorinsky": {"constant": 0.15}}
    if r.random() < 0.4:
        case["force"] = {"acceleration": [1e-6, 2e-6, 0]}
    bodies = {f"body{k}": body(r, cells) for k in range(r.randrange(4))}
    if bodies:
        case["bodies"] = bodies
        if r.random() < 0.4:
            case["output"]["series"]["force"] = {"every": 5, "of": "forces", "body": "body0"}
    if r.random() < 0.25 and "subgrid" not in case["solver"]:  # with scalars one of them is refused
        case["fluid"]["law"] = r.choice(LAWS)
    if r.random() < 0.2:
        case.setdefault("force", {})["rotation"] = [0.001, -0.002, 0.003]
    if r.random() < 0.3:
        box = {"from": [r.randrange(n // 2) for n in cells], "to": [n - r.randrange(n // 3) for n in cells]}
        kinds = [{"screen": {"axis": r.choice("xyz"), "loss": 3}}, {"resistance": {"loss": [2, 30, 0.5]}}]
        if "law" not in case["fluid"]:
            kinds.append({"resistance": {"permeability": [0.5, 0.03, 20], "loss": 4}})
        case["regions"] = {"plug": {"box": box} | r.choice(kinds)}
    return case
