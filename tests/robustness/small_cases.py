"""The cases of configs/, smaller and of a few steps: for tests that run all of them."""
import glob
import os

from runs import ROOT, check, sets

PRECISIONS = {bits: {"solver.storage": bits, "solver.arithmetic": bits} for bits in ("fp32", "fp64")} | {
    "fp16": {"solver.storage": "fp16", "solver.arithmetic": "fp32"}, "fp32_64": {"solver.storage": "fp32", "solver.arithmetic": "fp64"}}
# Cells of each; steps are few.
CELLS = {
    "abc": [11, 11, 11], "backward_step": [192, 32, 1], "cavity": [20, 16, 4], "cavity_cube": [12, 11, 10], "cavity_re100": [33, 9, 4],
    "couette": [16, 12, 4], "duct": [8, 12, 11], "poiseuille": [16, 12, 4], "pulse": [24, 20, 1], "shear_layer": [24, 20, 4],
    "flow_rate": [4, 20, 4], "vessel": [56, 18, 14], "horn": [30, 20, 16], "rock": [24, 9, 8], "sponge": [400, 1, 1], "womersley": [4, 16, 4],
    "shear_layer_re10000": [20, 24, 1], "channel_180": [16, 12, 10],
    "kovasznay": [49, 32, 1], "open_duct": [33, 8, 7], "pack": [12, 12, 12], "cylinder": [30, 14, 6], "sphere": [24, 14, 13],
    "roller": [26, 18, 1], "car": [30, 14, 10], "chip": [32, 9, 12], "sphere_levels": [20, 12, 12], "car_levels": [20, 10, 8],
    "taylor_green_2d": [16, 18, 4], "taylor_green_3d": [12, 12, 12],
    "heated_cube": [12, 12, 8], "street": [40, 24, 1], "cylinder_levels": [32, 20, 12],
}
# What else a smaller or shorter case needs.
OWN = {
    "horn": {"bodies.horn.mesh.scale": 10, "bodies.horn.mesh.center": [12, 10, 8], "output.images.mid.at": 8},
    "vessel": {"bodies.vessel.mesh.scale": 6, "bodies.vessel.caps.inlet.center": [2.58, 11.7, 4.48],
               "bodies.vessel.caps.outlet.center": [52.3, 8.72, 7.72], "output.series.in.every": 3, "output.series.out.every": 3,
               "output.images.middle.at": 7},
    # a part of the image that has all labels
    "rock": {"bodies.rock.image.crop.from": [36, 27, 0], "bodies.rock.image.crop.to": [46, 36, 8],
             "output.series.k.length": 10, "output.images.mid.at": 4},
    "channel_180": {"output.averages.mean.from": 2, "output.averages.mean.every": 2},
    "cylinder": {"bodies.cylinder.shape.cylinder": {"center": [9.5, 6.8, 3], "axis": "z", "radius": 2.5},
                 "output.series.drag.every": 3, "output.series.front.point": [5.5, 6.8, 3], "output.series.back.point": [13.5, 6.8, 3]},
    "sphere": {"bodies.sphere.shape.sphere": {"center": [8, 7, 6.5], "radius": 3.3}, "output.series.drag.every": 3},
    "roller": {"bodies.roller.shape.cylinder": {"center": [9, 9, 0.5], "axis": "z", "radius": 3.2}, "output.series.drag.every": 3},
    "sphere_levels": {
        "bodies.sphere.shape.sphere": {"center": [9, 6.2, 6], "radius": 1}, "refine.wake.box": {"from": [7, 4, 4], "to": [12, 9, 8]},
        "refine.near.behind": 0.6, "refine.near.distance": 0.5, "output.series.drag.every": 3, "output.series.drag.statistics.from": 3},
    "pack": {"bodies.spheres.shape.pack": {"lattice": "simple", "length": 12, "center": [6, 6, 6], "share": 0.216}},
    "car": {"bodies.car.mesh.scale": "3.4 mm", "bodies.car.mesh.min": ["9 mm", "7 mm", "0 mm"], "output.series.drag.every": 3,
            "output.series.drag.statistics.from": 3, "output.series.wake.from": ["30 mm", "10 mm", "1 mm"],
            "output.series.wake.to": ["30 mm", "10 mm", "14 mm"], "output.images.top.at": 5},
    "car_levels": {
        "bodies.car.mesh.scale": "0.25 m", "bodies.car.mesh.min": ["4.5 m", "2.3 m", "0.25 m"], "refine.skin.level": 2,
        "refine.near.level": 1, "refine.near.behind": "0.5 m", "refine.wake.level": 1, "refine.wake.behind": "1 m",
        "output.series.drag.every": 3, "output.series.drag.statistics.from": 3},
    "chip": {"units.dx": "2 mm", "units.dt": "200 us", "output.images.side.at": 6, "output.images.top.at": 4,
             "output.images.flow.at": 4},
    "street": {"units.dx": "2.25 mm", "bodies.rod.shape.cylinder.center": ["27 mm", "26.3 mm", "1 mm"], "output.series.drag.every": 3},
    "heated_cube": {"output.series.hot.every": 3, "output.series.cold.every": 3, "output.images.middle.at": 7},
    "cylinder_levels": {
        "initial.center": [6, 11, 3], "initial.width": 2, "bodies.cylinder.shape.cylinder": {"center": [12, 10, 6], "axis": "z", "radius": 1},
        "refine": {"near": {"level": 2, "around": "cylinder", "distance": 0.8}, "wake": {"level": 1, "box": {"from": [8, 6, 0], "to": [20, 14, 12]}}},
        "output.series.drag.every": 3, "output.series.drag.statistics.from": 3, "output.series.wake.every": 3,
        "output.series.wake.from": [14, 10, 6], "output.series.wake.to": [22, 10, 6]},
    "open_duct": {"output.series.axis.from": [0.5, 4, 3], "output.series.axis.to": [32.5, 4, 3]},
}


def arguments_of(name, precision, folder, settings=()):
    """Of `tagflow run`: the case, smaller and shorter."""
    small = {"domain.cells": CELLS[name], "run.steps": 9, "check.hang": "none"} | PRECISIONS[precision]
    return [f"{ROOT}/configs/{name}.yaml", "--output", folder, *sets(small | OWN.get(name, {}) | dict(settings))]


check(set(CELLS) == {os.path.basename(path)[:-5] for path in glob.glob(ROOT + "/configs/*.yaml")},
      "every case of configs/ has a small form")
