"""The cases of the torture suite: flows that users begin with, on small grids, and what a right answer is.

Each case is a list of bounds fixed before the runs, with a reason beside each. Cases are written along +x; turn() lays them along
another axis. u is the largest velocity that the case sets, c = u / viscosity the Reynolds number of a cell.

OUTLETS are left at their defaults. Grids are small: at most 25,000 cells, 10,000 where possible.
"""
import math

import numpy

OUTLETS = {"nonreflecting": {"nonreflecting": {}}, "pressure": {"pressure": {}}, "outflow": {"outflow": {}}}
LETTERS = "xyz"
STREAM = 1e-3   # a uniform stream is an exact solution of the scheme: only rounding and sound may show
MASS = 1e-3     # change of the mass between half time and the end: what an outlet that holds the density allows
STEP = 8        # cells to the height of the backward step
BOX = 6         # cells to a side of the box, and of the rib
SPHERE = 8      # cells to the diameter
WIDTH = 10      # cells across the duct


class Case:
    """name; text: the case file, along +x; judge(result, reference): {what: (error, bound)}; reference: None or (name, text,
    measure) of a finer run, whose measure(result) is an array; open_faces: is it to be run along all axes?"""

    def __init__(self, name, text, judge, reference=None, open_faces=True):
        self.name, self.text, self.judge, self.reference, self.open_faces = name, text, judge, reference, open_faces

    def flow(self):
        return self.name.split(", ")[0]


class Result:
    """What a run wrote, turned back to +x. run: of case.py."""

    def __init__(self, run, along):
        self.run, self.axis, self.sign = run, LETTERS.index(along[1]), -1 if along[0] == "-" else 1
        self.order = [(k + self.axis) % 3 for k in range(3)]

    def velocity(self, number=-1):
        u = self.run.field("velocity", number=number).transpose(self.order + [3])[::self.sign][..., self.order]
        return u * [self.sign, 1, 1]

    def density(self, number=-1):
        return self.run.field("density", number=number).transpose(self.order)[::self.sign]

    def flux(self):
        """Mass through each plane of cells across the stream, and the field of it."""
        m = self.velocity()[..., 0] * self.density()
        return m.sum((1, 2)), m

    def mass(self):
        m = self.run.series()["mass"]
        return abs(m[-1] / m[len(m) // 2] - 1)

    def drag(self):
        """Mean drag coefficient of the last half."""
        series = self.run.series("drag")["c_" + LETTERS[self.axis]] * self.sign
        return series[len(series) // 2:].mean()


def turn(text, along):
    """The case along another axis: x becomes `along`, y and z the two that follow it."""
    axis, sign = LETTERS.index(along[1]), -1 if along[0] == "-" else 1
    cells = text["domain"]["cells"]

    def letter(name):
        return LETTERS[(LETTERS.index(name) + axis) % 3]

    def put(v):
        return [v[(k - axis) % 3] for k in range(3)]

    def vector(v):
        return put([sign * v[0]] + v[1:])

    def point(p):
        return put([cells[0] - p[0] if sign < 0 else p[0]] + p[1:])

    def face(name):
        end = name[1:]
        if name[0] == "x" and sign < 0 and end:
            end = {"min": "max", "max": "min"}[end]
        return letter(name[0]) + end

    def opening(what):
        if isinstance(what, str):
            return what
        return {kind: {key: vector(v) if key in ("value", "velocity") else v for key, v in settings.items()}
                for kind, settings in what.items()}

    def rectangle(r):  # of xmin or xmax: along y and z, in the order of the axes where they lie
        return {end: [put([0] + p)[k] for k in range(3) if k != axis] for end, p in r.items()}

    def shape(s):
        if "sphere" in s:
            return {"sphere": s["sphere"] | {"center": point(s["sphere"]["center"])}}
        a, b = point(s["box"]["from"]), point(s["box"]["to"])
        return {"box": {"from": [min(p) for p in zip(a, b)], "to": [max(p) for p in zip(a, b)]}}

    turned = dict(text)
    turned["domain"] = {"cells": put(cells)}
    turned["faces"] = {face(name): opening(what) for name, what in text["faces"].items()}
    if "initial" in text:
        change = {"velocity": vector, "center": point, "axis": letter}
        turned["initial"] = {key: change[key](v) if key in change else v for key, v in text["initial"].items()}
    if "patches" in text:
        turned["patches"] = {name: {"face": face(p["face"]), "rectangle": rectangle(p["rectangle"])} | opening(
            {"velocity": p["velocity"]}) for name, p in text["patches"].items()}
    if "bodies" in text:
        turned["bodies"] = {name: b | {"shape": shape(b["shape"])} for name, b in text["bodies"].items()}
    return turned


def base(cells, speed, c, steps, faces, **more):
    """A case file without operator and precision."""
    return {"domain": {"cells": cells}, "fluid": {"viscosity": speed / c}, "faces": faces, "run": {"steps": steps},
            "checkpoint": {"every": 0}, "check": {"every": 100}, "output": {
                "log": {"every": 0}, "series": {"flow": {"every": max(1, steps // 20), "of": ["mass", "kinetic_energy"]}},
                "fields": {"main": {"every": steps, "of": ["velocity", "density"]}}}} | more


def uniform(speed):
    def judge(result, _):
        return {"velocity": (abs(result.velocity() - [speed, 0, 0]).max() / speed, STREAM), "mass": (result.mass(), STREAM)}
    return judge


def stream_walls(c, outlet, rule, steps):
    u = 0.05
    text = base([32, 8, 4], u, c, steps, {
        "xmin": {"velocity": {"value": [u, 0, 0], "rule": rule}}, "xmax": OUTLETS[outlet],
        "ymin": {"wall": {"velocity": [u, 0, 0]}}, "ymax": "slip", "z": "slip"},
        initial={"flow": "uniform", "velocity": [u, 0, 0]})
    return Case(f"stream along a wall, c {c}, {outlet}" + (", inlet by links" if rule == "links" else ""), text, uniform(u))


def stream_free(c, outlet, sides, steps):
    u = 0.05
    side = {"pressure": {"velocity": [u, 0, 0]}} if outlet == "pressure" else OUTLETS[outlet]
    text = base([32, 24, 1], u, c, steps, {
        "xmin": {"velocity": {"value": [u, 0, 0]}}, "xmax": OUTLETS[outlet],
        "y": "slip" if sides == "slip" else side, "z": "periodic"},
        initial={"flow": "uniform", "velocity": [u, 0, 0]})
    return Case(f"free stream, c {c}, {outlet}" + ("" if sides == "slip" else " on three sides"), text, uniform(u))


def duct(c, outlet, steps):
    u, n = 0.05, WIDTH
    text = base([3 * n, n, n], u, c, steps, {
        "xmin": {"velocity": {"value": [u, 0, 0], "profile": "duct"}}, "xmax": OUTLETS[outlet], "y": "wall", "z": "wall"},
        initial={"flow": "uniform", "velocity": [u / 2, 0, 0]})

    def judge(result, _):
        # What flows in flows through every plane: the rules on nodes are off by less than 0.3 % at steady state. The profile is
        # the developed one, but each operator has its own error at walls (up to 2.5 % with 10 cells across), and mass flux is
        # taken since the density falls along a duct at small c.
        rate, flux = result.flux()
        return {"flow rate": (abs(rate[1:-1] / rate[1] - 1).max(), 0.01),
                "profile": (abs(flux[9 * n // 4] - flux[1]).max() / flux[1].max(), 0.03), "mass": (result.mass(), MASS)}
    return Case(f"duct, c {c}, {outlet}", text, judge)


# Reattachment in step heights, the inlet in the plane of the step; Re by the mean velocity and twice the height of the inlet.
# 100: backward_step.py; 200: its stream function with 8 and 12 cells (5.494, 5.453), extrapolated; 800: Gartling, Int. J. Numer.
# Meth. Fluids 11:953, 1990; 400: 8.24 with a channel before the step (Erturk 2008) and 0.4, which is what the channel takes at
# 200 and 800.
REATTACHMENT = {100: 3.24, 200: 5.42, 400: 8.6, 800: 12.2}


def backward_step(reynolds, outlet, steps):
    u, n = 0.08, STEP
    c = reynolds * 3 / (4 * n)
    text = base([24 * n, 2 * n, 1], u, c, steps, {"xmin": "wall", "xmax": OUTLETS[outlet], "y": "wall", "z": "periodic"},
                patches={"in": {"face": "xmin", "rectangle": {"from": [n, 0], "to": [2 * n, 1]},
                                "velocity": {"value": [u, 0, 0], "profile": "parabola", "ramp": 1000}}})

    def judge(result, _):
        # 8 cells to a step: 4.3 % off at Re 100 (backward_step.py), of first order by the corner. Twice that, and at Re 800 15 %:
        # there the flow still nears its steady state after 200 step heights over u, and the second eddy touches the outlet.
        rate, flux = result.flux()
        low = flux[:, 0, 0]
        turns = [i for i in range(n // 4, 20 * n) if low[i] <= 0 < low[i + 1]]
        at = (turns[-1] + 0.5 + low[turns[-1]] / (low[turns[-1]] - low[turns[-1] + 1])) / n if turns else math.nan
        return {"reattachment": (abs(at / REATTACHMENT[reynolds] - 1), 0.15 if reynolds >= 800 else 0.1),
                "flow rate": (abs(rate[-2] / rate[1] - 1), 0.01), "mass": (result.mass(), MASS)}
    return Case(f"backward step, Re {reynolds} (c {c:.3g}), {outlet}", text, judge)


def rib(c, outlet, steps, fine=1):
    """A square rib on a floor at rest: 25 % of the section."""
    u, n = 0.05, BOX * fine
    text = base([20 * n, 4 * n, 1], u, c / fine, steps, {
        "xmin": {"velocity": {"value": [u, 0, 0]}}, "xmax": OUTLETS[outlet], "ymin": "wall", "ymax": "slip", "z": "periodic"},
        initial={"flow": "uniform", "velocity": [u, 0, 0]},
        bodies={"rib": {"shape": {"box": {"from": [4 * n, 0, 0], "to": [5 * n, n, 1]}}}})
    text["output"]["series"]["drag"] = {"every": max(1, steps // 200), "of": "forces", "body": "rib", "area": n, "velocity": u}
    if fine > 1:
        return text

    def judge(result, reference):
        # Boxes of 6 cells: drag 9 to 11 % low with trt, 2 to 8 % high with the others beside finer grids. Above c 20 the flow
        # is unsteady and the shear layers are thinner than a cell: 25 %.
        return {"drag": (abs(result.drag() / reference[0] - 1), 0.15 if c <= 20 else 0.25), "mass": (result.mass(), MASS)}
    return Case(f"rib on a floor, c {c}, {outlet}", text, judge,
                (f"rib_{c}_{steps}", rib(c, "nonreflecting", 2 * steps, 2), lambda r: numpy.array([r.drag()])))


def box(c, outlet, steps, fine=1):
    """A cube its height above a floor that moves with the stream. If it stood on the floor its drag would have no limit:
    in the corner of a wall and a floor that moves into it the pressure grows as 1/r (Taylor, On scraping viscous fluid from a
    plane surface, 1962)."""
    u, n = 0.05, BOX * fine
    text = base([8 * n, 3 * n, 3 * n], u, c / fine, steps, {
        "xmin": {"velocity": {"value": [u, 0, 0]}}, "xmax": OUTLETS[outlet], "ymin": {"wall": {"velocity": [u, 0, 0]}},
        "ymax": "slip", "z": "slip"},
        initial={"flow": "uniform", "velocity": [u, 0, 0]},
        bodies={"box": {"shape": {"box": {"from": [2 * n, n, n], "to": [3 * n, 2 * n, 2 * n]}}}})
    text["output"]["series"]["drag"] = {"every": max(1, steps // 200), "of": "forces", "body": "box", "area": n * n, "velocity": u}
    if fine > 1:
        return text

    def judge(result, reference):  # as the rib
        return {"drag": (abs(result.drag() / reference[0] - 1), 0.15 if c <= 20 else 0.25), "mass": (result.mass(), MASS)}
    # Half of the time is enough for a mean: 8 lengths of the box.
    return Case(f"box above a floor, c {c}, {outlet}", text, judge,
                (f"box_{c}_{steps}", box(c, "nonreflecting", steps, 2), lambda r: numpy.array([r.drag()])))


def sphere(reynolds, outlet, steps):
    """A quarter of a sphere between planes of symmetry, interpolated wall."""
    u, d = 0.08, SPHERE
    text = base([9 * d, 9 * d // 4, 9 * d // 4], u, reynolds / d, steps, {
        "xmin": {"velocity": {"value": [u, 0, 0]}}, "xmax": OUTLETS[outlet], "y": "slip", "z": "slip"},
        initial={"flow": "uniform", "velocity": [u, 0, 0]},
        bodies={"sphere": {"shape": {"sphere": {"center": [3 * d, 0, 0], "radius": d / 2}}, "wall": "interpolated"}})
    text["output"]["series"]["drag"] = {"every": max(1, steps // 200), "of": "forces", "body": "sphere",
                                        "area": math.pi * d * d / 16, "velocity": u}
    # Schiller, Naumann 1933, good to 5 %; the planes of symmetry, with 4 % of the section in the sphere, add 4 to 8 %; an
    # interpolated wall with 6 cells to the diameter adds 10 to 16 %, less with 8. In all 20 %.
    formula = 24 / reynolds * (1 + 0.15 * reynolds**0.687)

    def judge(result, _):
        return {"drag": (abs(result.drag() / formula - 1), 0.2), "mass": (result.mass(), MASS)}
    return Case(f"sphere, Re {reynolds} (c {reynolds / d:.3g}), {outlet}", text, judge)


def vortex(c, outlet, steps):
    u = 0.08
    text = base([64, 48, 1], u, c, steps, {
        "xmin": {"velocity": {"value": [u, 0, 0]}}, "xmax": OUTLETS[outlet], "y": "periodic", "z": "periodic"},
        initial={"flow": "vortex", "velocity": [u, 0, 0], "amplitude": u / 2, "center": [32, 24, 0.5], "width": 8})

    def judge(result, _):
        # The stream has passed 25 times; 2 % of the vortex's velocity may be left.
        return {"velocity": (abs(result.velocity() - [u, 0, 0]).max() / u, 0.01), "mass": (result.mass(), MASS)}
    return Case(f"vortex, c {c}, {outlet}", text, judge)


def pulse(c, outlet, steps):
    u = 0.05
    text = base([96, 4, 1], u, c, steps, {
        "xmin": {"velocity": {"value": [u, 0, 0]}}, "xmax": OUTLETS[outlet], "y": "periodic", "z": "periodic"},
        initial={"flow": "wave", "velocity": [u, 0, 0], "density": 0.05, "axis": "x", "center": [48, 2, 0.5], "width": 8})

    def judge(result, _):
        # Sound of 5 % of the density, u' up to 0.029. Between a given velocity and a given pressure it may stay, but not
        # grow; the others let it go: some 100 passes later no more than 1 % of it.
        share = 1 if outlet == "pressure" else 0.01
        return {"density": (abs(result.density() - 1).max() / 0.05, share),
                "velocity": (abs(result.velocity() - [u, 0, 0]).max() / 0.029, share)}
    return Case(f"pulse, c {c}, {outlet}", text, judge)


def energy(result):
    return numpy.array([(result.velocity()**2).sum(-1).mean()])


def lid(c, dimensions, steps, fine=1):
    """From rest. Finer: squares 3 times, cubes 1.5 times and to half of the time, when they are steady already."""
    u, n = 0.05, round((32 if dimensions == 2 else 24) * fine)
    text = base([n, n, 1 if dimensions == 2 else n], u, c / fine, steps, {
        "x": "wall", "ymin": "wall", "ymax": {"wall": {"velocity": [u, 0, 0]}}, "z": "periodic" if dimensions == 2 else "wall"})
    if fine > 1:
        return text

    def judge(result, reference):
        # At c 10 to 12 trt is 9 % low, all that forget are 1 to 3 % low; wrong ones were 45 % and more. Beyond 20 the lid's
        # edges are not resolved: 20 %.
        return {"energy": (abs(energy(result)[0] / reference[0] - 1), 0.1 if c <= 20 else 0.2)}
    finer = lid(c, 2, 3 * steps, 3) if dimensions == 2 else lid(c, 3, 3 * steps // 4, 1.5)
    return Case(f"lid, {'square' if dimensions == 2 else 'cube'}, c {c}", text, judge,
                (f"lid_{dimensions}_{c}_{steps}", finer, energy), open_faces=False)


def layers(reynolds, n, steps, fine=1):
    """Double shear layer, kappa 80."""
    u, m = 0.05, n * fine
    turnover = round(m / u)
    text = base([m, m, 1], u, reynolds / m, turnover if fine > 1 else steps,
                {"x": "periodic", "y": "periodic", "z": "periodic"},
                initial={"flow": "shear_layer", "axis": "z", "amplitude": u, "thickness": 80, "perturbation": 0.05})
    text["output"]["fields"]["main"]["every"] = turnover

    def measure(result):
        v = result.velocity(number=result.run.steps_of().index(turnover))[:, :, 0, :2]
        return v if fine == 1 else v.reshape(n, fine, n, fine, 2).mean((1, 3))
    if fine > 1:
        return text, measure

    def judge(result, reference):
        # At t U/L = 1. Right ones are 1 to 6 % off; a second pair of vortices is 7 % and more. Energy never grows.
        k = result.run.series()["kinetic_energy"]
        error = numpy.sqrt(((measure(result) - reference)**2).sum(-1).mean() / (reference**2).sum(-1).mean())
        return {"velocity": (error, 0.065), "growth of energy": (max(0.0, (k[1:] / k[:-1] - 1).max()), 1e-4)}
    return Case(f"shear layers, Re {reynolds} (c {reynolds / n:.3g}), {n} cells", text, judge,
                (f"layers_{reynolds}_{n}",) + layers(reynolds, n, steps, 2), open_faces=False)


def cases(steps=20000):
    """All of them, in the order of the table."""
    every = []
    for outlet in OUTLETS:
        every += [stream_walls(c, outlet, "regularised", steps) for c in (2, 10, 20, 50, 100)]
        every += [stream_walls(c, outlet, "links", steps) for c in (20, 100)]
        every += [stream_free(c, outlet, sides, steps) for sides in ("slip", "open") for c in (20, 100)]
        every += [duct(c, outlet, steps) for c in (2, 10, 20, 50, 100)]
        every += [backward_step(r, outlet, steps) for r in (100, 200, 400, 800)]
        every += [rib(c, outlet, steps) for c in (10, 20, 50, 100)]
        every += [box(c, outlet, steps) for c in (20, 50)]
        every += [sphere(r, outlet, steps) for r in (100, 200, 300)]
        every += [vortex(c, outlet, steps) for c in (10, 20, 100)]
        every += [pulse(c, outlet, steps) for c in (20, 100)]
    every += [lid(c, 2, steps) for c in (2, 5, 10, 20, 40, 100)]
    every += [lid(c, 3, steps) for c in (2, 10, 20, 40)]
    every += [layers(r, n, steps) for r, n in ((1000, 64), (10000, 128), (10000, 64))]
    return every
