#!/usr/bin/python3
"""Natural convection: the onset of Rayleigh-Benard convection, and the square and the cubic cavity heated from the side.

    heat_convection.py onset | cavity | cube

Onset: between rigid plates at wave number 3.117/H, a layer heated from below starts to move at Ra 1707.76 (Chandrasekhar 1961, table III). The
amplitude of the mode, the Fourier component of v and T along the layer, grows like exp(s t); s is read at two Ra beside the critical one
and interpolated to 0. The energy is no measure, as sound adds to it. 16 cells: 0.5 %. With TAGFLOW_LONG also 24 cells: order
1.8 of the error.

Cavity: mean Nu, largest u on x = 1/2 and largest v on y = 1/2 in D/L (de Vahl Davis, Int. J. Numer. Methods Fluids 3:249, 1983; Nu 1.118, 2.243,
4.519, 8.800 for Ra 1e3 to 1e6). Nu is the sum over the wall's links of what comes in minus what goes out, from the populations alone:
no gradient is taken. The walls' sums must agree with each other: steady. Nu 0.5 % at 64 cells to Ra 1e4, at 64 and 128 cells for 1e5 1 and
0.5 %; u and v 1 %; Ra 1e6 with TAGFLOW_LONG, 128 cells: 1 and 2 %.

Cube: the other walls are adiabatic. Overall Nu 1.085, 2.100, 4.361 for Ra 1e3 to 1e5 (Fusegi et al., Int. J. Heat Mass Transf. 34:1543, 1991);
these are 1 to 1.5 % above spectral results: 2 %.
"""
import math
import os
import sys

import numpy

import case
import heat

LONG = "TAGFLOW_LONG" in os.environ


def growth(n, ra, pr=0.71):
    """Growth rate of the mode over D / H^2, in a layer of n cells."""
    length = round(2 * math.pi / 3.117 * n)
    speed = 0.05  # sqrt(g beta dT H)
    nu = speed * n * math.sqrt(pr / ra)
    d = nu / pr
    gravity = speed**2 / n  # expansion 1, dT 1
    start = {"linear": {"from": [0, 0, 0], "to": [0, n, 0], "values": [0.5, -0.5]}, "wave": {"amplitude": 1e-4, "waves": [1, 0, 0], "phase": 0.25}}
    steps = int(0.25 * n * n / d) // 2 * 2
    c = heat.settings([length, n, 1], {"x": "periodic", "ymin": heat.wall(t={"value": 0.5}), "ymax": heat.wall(t={"value": -0.5}), "z": "periodic"},
                      {"t": {"kind": "heat", "diffusivity": d, "expansion": 1.0, "initial": start}}, fluid={"viscosity": nu},
                      force={"gravity": [0, -gravity, 0]}, run={"steps": 3 * steps})
    c["solver"] |= {"collision": "trt", "magic": 0.1875}
    result = heat.run(c, every=steps)
    way = numpy.cos(2 * math.pi * (numpy.arange(length) + 0.5) / length)[:, None]
    mode = [((result.value(number=k)[..., 0]) * way).sum(axis=0) @ numpy.sin(math.pi * (numpy.arange(n) + 0.5) / n) for k in range(3)]
    return math.log(mode[2] / mode[1]) / steps / (d / n**2)


def onset(n):
    low, high = 1680.0, 1740.0
    a, b = growth(n, low), growth(n, high)
    print(f"     {n} cells: growth rate {a:.5f} D/H^2 at Ra {low:.0f}, {b:.5f} at {high:.0f}")
    return low + (high - low) * a / (a - b)


def extreme(values, start=0.5):
    """Largest value on a line of cells, by the parabola through three."""
    k = int(numpy.argmax(values))
    a, b, c = values[k - 1:k + 2]
    return b + (a - c)**2 / (8 * (2 * b - a - c))


def middle(values):
    n = len(values)
    return (values[n // 2 - 1] + values[n // 2]) / 2


def nusselt(result, d, n):
    """Heat through xmin and xmax over D dT, from the links of the walls: what came in at the last step minus what went out then.

    A wall of given value T_w returns g = T_w/4 - out: so 2 g - T_w/4 enters."""
    g = result.populations("t")
    return ((2 * g[0, :, :, 1] - 0.25 * 0.5).sum() / d, -(2 * g[-1, :, :, 2] + 0.25 * 0.5).sum() / d)


REFERENCE = {1e3: (1.118, 3.649, 3.697), 1e4: (2.243, 16.178, 19.617), 1e5: (4.519, 34.73, 68.59), 1e6: (8.800, 64.63, 219.36)}


def heated(ra, n, deep, turns, speed=0.1):
    """A cavity of n x n cells, with one cell along z, or a cube: the result and the diffusivity."""
    pr = 0.71
    nu = speed * n * math.sqrt(pr / ra)
    d = nu / pr
    c = heat.settings([n, n, n if deep else 1], {"xmin": heat.wall(t={"value": 0.5}), "xmax": heat.wall(t={"value": -0.5}), "y": "wall",
                                                 "z": "wall" if deep else "periodic"},
                      {"t": {"kind": "heat", "prandtl": pr, "expansion": 1.0}}, fluid={"viscosity": nu},
                      force={"gravity": [0, -speed**2 / n, 0]}, run={"steps": int(turns * n * n / d)},
                      output={"log": {"every": 0}, "fields": {"main": {"every": int(turns * n * n / d), "of": "velocity", "precision": "fp64"}}})
    c["solver"] |= {"collision": "trt", "magic": 0.1875}
    return heat.run(c), d


def cube(ra, n, turns):
    result, d = heated(ra, n, True, turns)
    hot, cold = (of / n for of in nusselt(result, d, n))
    reference = {1e3: 1.085, 1e4: 2.100, 1e5: 4.361}[ra]
    case.near(f"cube, Ra {ra:.0e}, {n} cells: Nu of the hot wall", hot, reference, 0.02 * reference)
    case.near("     of the cold wall, from it", cold, hot, 1e-3 * hot)


def cavity(ra, n, limits, turns):
    result, d = heated(ra, n, False, turns)
    u = result.velocity()[:, :, 0]
    found = nusselt(result, d, n)
    name = f"cavity, Ra {ra:.0e}, {n} cells"
    nu_ref, u_ref, v_ref = REFERENCE[ra]
    case.near(f"{name}: Nu of the hot wall", found[0], nu_ref, limits[0] * nu_ref)
    case.near("     of the cold wall, from it", found[1], found[0], 1e-4 * found[0])
    case.near("     u_max L/D", extreme(middle(u[..., 0])) * n / d, u_ref, limits[1] * u_ref)
    case.near("     v_max L/D", extreme(middle(u[..., 1].swapaxes(0, 1))) * n / d, v_ref, limits[1] * v_ref)


if sys.argv[1] == "onset":
    grids = (16, 24) if LONG else (16,)
    found = [onset(n) for n in grids]
    for n, ra in zip(grids, found):
        case.near(f"onset, {n} cells: critical Rayleigh number", ra, 1707.762, 0.005 * 1707.762)
    if LONG:
        case.at_least("     order", case.order(grids, [abs(ra - 1707.762) for ra in found]), 1.8)
elif sys.argv[1] == "cube":
    cube(1e3, 24, 0.7)
    cube(1e4, 32, 0.35)
    if LONG:
        cube(1e5, 64, 0.25)
else:
    cavity(1e3, 32, (0.005, 0.01), 1.0)
    cavity(1e4, 32, (0.01, 0.01), 0.6)
    cavity(1e5, 64, (0.01, 0.01), 0.35)
    if LONG:
        cavity(1e4, 64, (0.005, 0.005), 0.6)
        cavity(1e5, 128, (0.005, 0.005), 0.35)
        cavity(1e6, 128, (0.01, 0.02), 0.2)
case.finish()
