#!/usr/bin/python3
"""Heat by conduction between walls that give a value, a flux or a heat transfer, and through solids that conduct.

Plates, 16 cells apart, along x, y and z. With magic 1/6 a wall of given value lies exactly half-way, also for the parabola of a uniform
source (Ginzburg, Adv. Water Resour. 28:1171, 2005), and lines are exact for any wall. So the steady profiles have no error but
rounding and what is left of the transient: 1e-12 of the largest value in fp64, 5e-6 in fp32 (rounding adds up over
the steps in which a layer loses its memory). Magic 1/4 must miss the parabola: by at least 1e-3. Decay makes cosh, of second order.

Slabs of fluid and solid, k ratio 10 and 100, C ratio 1 and 5: the flux and T are continuous, two lines: 1e-10.

Half-spaces in contact, k 5, C 2, from T 1 and 0: T = contact + (end - contact) erf(distance / sqrt(4 a t)), contact temperature
e1/(e1 + e2), e = sqrt(k C) (Carslaw, Jaeger 1959, 2.14): 1e-3 at 64 cells.

Cylinders of given value, radii R and 2 R, interpolated walls: T = ln(r / 2R) / ln(1/2). Largest error in a cell at R = 10: 7e-3, order
from R = 5 at least 1.7. Half-way walls are staircases, worse.
"""
import math

import numpy

import case
import heat

N, D = 16, 1.0
FP32 = {"storage": "fp32", "arithmetic": "fp32"}
X = numpy.arange(N) + 0.5


def steady(axis, low, high, steps=3500, solver=None, **scalar):
    more = {"solver": solver} if solver else {}
    result = heat.run(heat.settings(heat.along(axis, N, 2, 3), heat.plates(axis, low, high),
                                    {"t": {"kind": "heat", "diffusivity": D} | scalar}, run={"steps": steps}, **more))
    values, across = heat.line(result.value(source=scalar.get("source", 0)), axis)
    return values, across


def compare(what, axis, low, high, exact, **more):
    values, across = steady(axis, low, high, **more)
    limit = 5e-6 if "solver" in more else 1e-12
    case.at_most(f"{what}, along {'xyz'[axis]}{', fp32' if 'solver' in more else ''}: largest error over the largest value",
                 abs(values - exact).max() / abs(exact).max(), limit)
    case.at_most("     difference in a plane", across, limit * abs(exact).max())


S, Q, H, OUT = 3e-3, 6e-3, 0.15, 0.8
# name, walls, exact profile, more
parabola = S / (2 * D) * X * (N - X)
r = 1 / H
through = (OUT - 0.2) / (r + N / D)  # flux from outside to the wall at 0.2
CASES = [("given values", {"value": 1}, {"value": -0.5}, 1 - 1.5 * X / N, {}),
         ("source between given values", {"value": 0}, {"value": 0}, parabola, {"source": S}),
         ("flux and given value", {"flux": Q}, {"value": 0.1}, 0.1 + Q / D * (N - X), {}),
         ("source, flux and given value", {"flux": Q}, {"value": 0.1}, 0.1 + Q / D * (N - X) + S / (2 * D) * (N * N - X * X), {"source": S}),
         ("adiabatic, source and given value", "adiabatic", {"value": 0}, S / (2 * D) * (N * N - X * X), {"source": S}),
         ("heat transfer and given value", {"transfer": {"coefficient": H, "outside": OUT}}, {"value": 0.2}, 0.2 + through / D * (N - X), {}),
         ("a layer that resists", {"transfer": {"resistance": r, "outside": OUT}}, {"value": 0.2}, 0.2 + through / D * (N - X), {})]
for what, low, high, exact, more in CASES:
    for axis in range(3):
        compare(what, axis, low, high, exact, **more)
    compare(what + ", walls exchanged", 0, high, low, exact[::-1], **more)
    compare(what, 0, low, high, exact, solver=FP32, **more)

errors = []
for n in (16, 32):
    k = math.sqrt(0.006 / D)  # cosh, no polynomial: second order
    result = heat.run(heat.settings([n, 1, 1], heat.plates(0, {"value": 1}, {"value": 1}), {"t": {"diffusivity": D, "decay": 0.006 * 256 / n**2}},
                                    run={"steps": 6 * n * n}))
    exact = numpy.cosh(k * N * ((numpy.arange(n) + 0.5) / n - 0.5)) / math.cosh(k * N / 2)
    errors.append(abs(result.value(decay=0.006 * 256 / n**2)[:, 0, 0] - exact).max())
case.at_most("decay between given values, 16 cells: largest error", errors[0], 1e-3)
case.at_least("     order", case.order((16, 32), errors), 1.9)

values, _ = steady(0, {"value": 0}, {"value": 0}, source=S, magic=0.25)
case.at_least("source, magic 1/4: largest error over the largest value", abs(values - parabola).max() / parabola.max(), 1e-3)


def slab(k_ratio, c_ratio, k=0.1):
    """Solid below 7, fluid above."""
    solid, n = 7, 16
    c = heat.settings([n, 2, 2], heat.plates(0, {"value": 1}, {"value": 0}), {"t": {"kind": "heat", "diffusivity": k}},
                      bodies={"slab": {"shape": {"box": {"from": [0, 0, 0], "to": [solid, 2, 2]}},
                                       "scalars": {"t": {"conduct": {"conductivity": k * k_ratio, "capacity": c_ratio}}}}},
                      run={"steps": int(6 * n * n / k * max(1, c_ratio / k_ratio))})
    least = min(1, c_ratio)
    x = numpy.arange(n) + 0.5
    capacity = numpy.where(x < solid, c_ratio, 1)[:, None, None] / least
    values, across = heat.line(heat.run(c).value(capacity=capacity), 0)
    flux = 1 / (solid / (k * k_ratio) + (n - solid) / k)
    exact = numpy.where(x < solid, 1 - flux * x / (k * k_ratio), flux * (n - x) / k)
    case.at_most(f"solid and fluid, k {k_ratio}, C {c_ratio}: largest error", abs(values - exact).max(), 1e-10)
    case.at_most("     difference in a plane", across, 1e-12)


for ratios in (10, 1), (10, 5), (100, 1), (100, 5), (10, 0.4), (0.1, 1, 1), (0.1, 0.4, 1):
    slab(*ratios)


def contact(n, k_ratio, c_ratio):
    k, steps = 0.1, 100 * (n // 64)**2
    box = {"box": {"from": [0, 0, 0], "to": [n // 2, 1, 1]}}
    faces = {"x": "wall", "y": "periodic", "z": "periodic"}
    c = heat.settings([n, 1, 1], faces, {"t": {"kind": "heat", "diffusivity": k, "initial": {"value": 0, "shapes": {"hot": box | {"value": 1}}}}},
                      bodies={"half": {"shape": box, "scalars": {"t": {"conduct": {"conductivity": k * k_ratio, "capacity": c_ratio}}}}},
                      run={"steps": steps})
    x = numpy.arange(n) + 0.5 - n / 2
    solid = x < 0
    least = min(1, c_ratio)
    values = heat.run(c).value(capacity=numpy.where(solid, c_ratio, 1)[:, None, None] / least)[:, 0, 0]
    e = math.sqrt(k_ratio * c_ratio)
    middle = e / (e + 1)
    spread = numpy.where(solid, k * k_ratio / c_ratio, k)
    exact = middle + (numpy.where(solid, 1.0, 0.0) - middle) * numpy.vectorize(math.erf)(abs(x) / numpy.sqrt(4 * spread * steps))
    return abs(values - exact).max()


case.at_most("half-spaces in contact, k 5, C 2, 64 cells: largest error", contact(64, 5, 2), 1e-3)
case.at_most("half-spaces in contact, k 0.5, C 0.5, 64 cells: largest error", contact(64, 0.5, 0.5), 1e-3)


def cylinders(radius, wall, scale=1.0):
    n = int(4 * radius) + 8
    centre = [n / 2 + 0.13, n / 2 - 0.21, 0.5]
    rod = {"cylinder": {"center": centre, "axis": "z", "radius": radius}}
    hole = {"complement": {"outside": {"cylinder": {"center": centre, "axis": "z", "radius": 2 * radius}}}}
    c = heat.settings([n, n, 1], {"x": "wall", "y": "wall", "z": "periodic"}, {"t": {"kind": "heat", "diffusivity": 0.4}},
                      bodies={"rod": {"shape": rod, "wall": wall, "scalars": {"t": {"value": 1}}},
                              "hole": {"shape": hole, "wall": wall, "scalars": {"t": {"value": 0}}}},
                      run={"steps": int(12 * radius * radius)})
    x, y = numpy.meshgrid(numpy.arange(n) + 0.5 - centre[0], numpy.arange(n) + 0.5 - centre[1], indexing="ij")
    distance = numpy.hypot(x, y)
    fluid = (distance > radius) & (distance < 2 * radius)
    exact = numpy.log(distance / (2 * radius)) / math.log(0.5)
    values = heat.run(c).value()[..., 0]
    return abs(values - exact)[fluid].max(), math.sqrt(((values - exact)[fluid]**2).mean())


found = {wall: [cylinders(radius, wall) for radius in (5, 10)] for wall in ("interpolated", "halfway")}
for wall, errors in found.items():
    print(f"     cylinders, {wall}: largest and rms error {errors}")
case.at_most("cylinders of given value, interpolated, radii 10 and 20: largest error", found["interpolated"][1][0], 7e-3)
case.at_least("     order of the rms error", case.order((5, 10), [e[1] for e in found["interpolated"]]), 1.7)
case.at_least("     half-way walls: largest error", found["halfway"][1][0], 5 * found["interpolated"][1][0])
case.finish()
