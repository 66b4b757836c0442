#!/usr/bin/python3
"""Waves of a scalar in a stream: diffusivity and speed, along axes and diagonals; dispersion by shear; an eddy diffusivity.

A wave exp(i k.x) in a uniform stream u keeps its shape: its amplitude goes like exp(-(D k^2 + i k.u) t). The complex amplitude is read
before and after one decay time. The set's advection and diffusion are of second order: order at least 1.9 of both errors when u n is
kept; at 32 cells to a wave and |u| = 0.1, D to 1 % and the speed to 0.5 %. Without the tensor term, D would be 4 % (axes) and 8 % low.

Taylor dispersion between plates, Pe = U h/D = 10, 20 (h half the gap, 8 cells): the slowest mode exp(i k x) phi(y) of wave number 2 pi/128
decays by an eigenvalue of D (phi'' - k^2 phi) - i k u(y) phi, found here by finite differences on 400 cells, whose limit for small k is
Taylor's D (1 + 2/105 Pe^2): the real part to 1 and 3 %, the speed to 1 %.

A subgrid model gives the scalar nu_t / Pr_t besides: in Couette flow the shear G is uniform, nu_t = (constant)^2 G, and the parabola
of a uniform source between given values is S/(2 (D + nu_t/Pr_t)) y (H - y):
1e-5, as the flow's stress has normal parts of relative size (tau G)^2.

With the limiter, after one passage of the box: a square pulse oblique to the grid, at Peclet numbers of a cell of 11 to 1e6, keeps within
its values (to rounding) and its sum; L1 errors are those found in docs/lab/scalar_limiter.md, without it 1.0 and values 0.6 outside. A wave
that does not touch the bounds has order 1.9 and more at any Peclet number. Three storages, in 3-D, a species that turns into another one.
"""
import math

import numpy

import case
import heat


def amplitude(values, waves):
    """The complex amplitude of exp(2 pi i waves.x)."""
    phase = sum(numpy.arange(n).reshape([-1 if a == b else 1 for b in range(3)]) * (w / n)
                for a, (n, w) in enumerate(zip(values.shape, waves)))
    return (values * numpy.exp(-2j * math.pi * phase)).mean()


def wave(n, waves, u, d, **scalar):
    """Relative errors of the diffusivity and of the speed along the wave."""
    k2 = sum((2 * math.pi * w / n)**2 for w in waves)
    steps = int(0.6 / (d * k2)) // 2 * 2
    c = heat.settings([n if w else 1 for w in waves], heat.PERIODIC,
                      {"t": {"diffusivity": d, "initial": {"value": 0.3, "wave": {"amplitude": 1, "waves": waves, "phase": 0.1}}} | scalar},
                      initial={"flow": "uniform", "velocity": list(u)}, run={"steps": 2 * steps})
    result = heat.run(c, every=steps)
    rate = numpy.log(amplitude(result.value(number=-1), waves) / amplitude(result.value(number=-2), waves)) / steps
    turns = 2 * math.pi * sum(w * v for w, v in zip(waves, u)) / n
    # The phase is known up to whole turns.
    lag = -rate.imag * steps
    lag += 2 * math.pi * round((turns * steps - lag) / (2 * math.pi))
    return -rate.real / (d * k2) - 1, lag / steps / turns - 1 if turns else lag / steps


S2, S3 = math.sqrt(0.5), math.sqrt(1 / 3)
for waves, way in (([1, 0, 0], (1, 0, 0)), ([0, 1, 0], (0, 1, 0)), ([0, 0, 1], (0, 0, 1)), ([1, 0, 0], (-1, 0, 0)), ([1, 1, 0], (S2, S2, 0)),
                   ([1, 0, 1], (S2, 0, S2)), ([0, 1, 1], (0, S2, S2)), ([1, -1, 0], (S2, -S2, 0)), ([1, 0, 0], (S2, S2, 0)), ([1, 1, 0], (1, 0, 0))):
    found = wave(32, waves, [0.1 * w for w in way], 0.05)
    name = f"wave along {waves}, stream along {tuple(round(w, 2) for w in way)}, 32 cells"
    case.at_most(f"{name}: error of D", abs(found[0]), 0.01)
    case.at_most("     error of the speed", abs(found[1]), 0.005)
found = wave(16, [1, 1, 1], [0.1 * S3] * 3, 0.05)
case.at_most("wave along [1, 1, 1], stream along it, 16 cells: error of D", abs(found[0]), 0.02)
case.at_most("     error of the speed", abs(found[1]), 0.015)
found = wave(32, [1, 1, 0], [0.1, 0.1, 0], 0.05)
case.at_most("wave along [1, 1, 0], stream 0.14 along it, 32 cells: error of D", abs(found[0]), 0.01)
for waves, way in (([1, 0, 0], (1, 0, 0)), ([1, 1, 0], (S2, S2, 0))):
    grids = (16, 32, 64)
    found = [wave(n, waves, [1.6 / n * w for w in way], 0.05) for n in grids]
    for what, number in (("D", 0), ("the speed", 1)):
        print(f"     along {waves}: error of {what}: {[f[number] for f in found]}")
        case.at_least(f"wave along {waves}: order of {what}", case.order(grids, [abs(f[number]) for f in found]), 1.9)
for d in 0.002, 0.0049, 0.006, 0.02, 0.1:
    found = wave(32, [1, 0, 0], [0.05, 0, 0], d)
    print(f"     D {d}: error of D {found[0]:.4g}, of the speed {found[1]:.4g}")
    case.at_most(f"wave, D {d}, stream 0.05, 32 cells: error of D", abs(found[0]), 0.01)
case.at_most("wave at rest, D 0.1, 32 cells: error of D", abs(wave(32, [1, 0, 0], [0, 0, 0], 0.1)[0]), 0.002)


def mode(pe, h, d, k, cells=400):
    """Eigenvalue of the slowest mode."""
    y = (numpy.arange(cells) + 0.5) / cells * 2 - 1  # in h
    u = 1.5 * pe * d / h * (1 - y * y)
    second = numpy.diag(numpy.full(cells, -2.0)) + numpy.diag(numpy.ones(cells - 1), 1) + numpy.diag(numpy.ones(cells - 1), -1)
    second[0, 0] = second[-1, -1] = -1
    operator = d * (second * (cells / 2 / h)**2 - k * k * numpy.eye(cells)) - 1j * k * numpy.diag(u)
    values = numpy.linalg.eigvals(operator)
    return values[numpy.argmax(values.real)]


H, LENGTH, NU, U = 8, 128, 0.5, 0.05
k0 = 1e-3 / H
for pe, limit in ((10, 0.01), (20, 0.03)):
    d = U * H / pe
    case.near(f"Pe {pe}: the reference for long waves, D_eff/D", -mode(pe, H, d, k0).real / (d * k0**2), 1 + 2 / 105 * pe**2, 2e-3)
    k = 2 * math.pi / LENGTH
    exact = mode(pe, H, d, k)
    start, steps = int(1.5 * H * H / d), 600
    c = heat.settings([LENGTH, 2 * H, 1], {"x": "periodic", "y": "wall", "z": "periodic"},
                      {"t": {"diffusivity": d, "initial": {"value": 0, "wave": {"amplitude": 1, "waves": [1, 0, 0]}}}},
                      fluid={"viscosity": NU}, force={"acceleration": [3 * NU * U / H**2, 0, 0]}, run={"steps": 2 * ((start + 1) // 2) + steps})
    c["solver"] |= {"collision": "trt", "magic": 0.1875}
    result = heat.run(c, every=steps)
    numbers = result.steps()
    values = [amplitude(result.value(number=n).mean(axis=1, keepdims=True), [1, 0, 0]) for n in (-2, -1)]
    rate = numpy.log(values[1] / values[0]) / (numbers[-1] - numbers[-2])
    lag = -rate.imag * (numbers[-1] - numbers[-2])
    lag += 2 * math.pi * round((-exact.imag * (numbers[-1] - numbers[-2]) - lag) / (2 * math.pi))
    case.near(f"Taylor dispersion, Pe {pe}, 16 cells: rate of decay over D k^2", -rate.real / (d * k * k), -exact.real / (d * k * k), limit * -exact.real / (d * k * k))
    case.near("     speed of the mode", lag / (numbers[-1] - numbers[-2]) / k, -exact.imag / k, 0.01 * U)



def pulse(peclet, cells, u, **more):
    """Largest way outside of the values, change of the sum, and the values of a square pulse after one passage along x."""
    lo, hi = [n // 4 for n in cells], [n // 2 for n in cells]
    box = {"from": [lo[0], lo[1], 0 if cells[2] == 1 else lo[2]], "to": [hi[0], hi[1], 1 if cells[2] == 1 else hi[2]]}
    d = math.sqrt(sum(v * v for v in u)) / peclet
    scalars = {"t": {"diffusivity": d, "initial": {"value": 0, "shapes": {"pulse": {"box": box, "value": 1}}}}} | more.pop("scalars", {})
    result = heat.run(heat.settings(cells, heat.PERIODIC, scalars, initial={"flow": "uniform", "velocity": u},
                                    run={"steps": round(cells[0] / u[0])}, **more))
    values, volume = result.value(), math.prod(b - a for a, b in zip(box["from"], box["to"]))
    return max(-values.min(), values.max() - 1), values.sum() / volume - 1, result


for peclet in 11, 1e3, 1e6:
    for storage, rounding in ("fp64", 1e-14), ("fp32", 1e-6), ("fp16", 2e-6):
        outside, change, _ = pulse(peclet, [48, 48, 1], [0.05, 0.03, 0], solver={"storage": storage})
        case.at_most(f"square pulse, Peclet {peclet:g}, {storage}: outside of its values", outside, rounding)
        case.at_most("     change of its sum", abs(change), 10 * rounding)
outside, change, _ = pulse(1e5, [24, 24, 24], [0.08, -0.06, 0.03], solver={"storage": "fp32"})
case.at_most("square pulse in 3-D, Peclet 1e5: outside of its values", outside, 1e-6)
case.at_most("     change of its sum", abs(change), 1e-5)
reaction = {"ash": {"diffusivity": 1e-6, "made_from": "t", "rate": 1e-3}}
outside, change, result = pulse(1e5, [24, 24, 24], [0.08, -0.06, 0.03], scalars=reaction)
both = result.sums("t") + result.sums("ash")
case.at_most("square pulse that turns into another: outside of its values", outside, 1e-14)
case.at_most("     change of the sum of both", abs(both.sum() / 6**3 - 1), 1e-12)
case.at_most("     least of the other, from 0", -result.sums("ash").min(), 1e-14)


def limited(n, peclet):
    """L1 error of a wave after a passage, relative; the walls' values are far from the wave's."""
    u, far = 0.05, [{"wall": {"velocity": [0.05, 0, 0], "scalars": {"t": {"transfer": {"coefficient": 1e-30, "outside": v}}}}} for v in (-2, 2)]
    d, k, steps = u / peclet, 2 * math.pi / n, round(n / u)
    result = heat.run(heat.settings([n, 4, 1], {"x": "periodic", "ymin": far[0], "ymax": far[1], "z": "periodic"},
                                    {"t": {"diffusivity": d, "initial": {"value": 0, "wave": {"amplitude": 1, "waves": [1, 0, 0]}}}},
                                    initial={"flow": "uniform", "velocity": [u, 0, 0]}, run={"steps": steps}))
    exact = numpy.sin(k * (numpy.arange(n) + 0.5)) * math.exp(-d * k * k * steps)
    return abs(result.value()[:, 0, 0] - exact).mean() / abs(exact).mean()


for peclet in 11, 1e6:
    grids = (12, 24, 48)
    errors = [limited(n, peclet) for n in grids]
    print(f"     wave with the limiter, Peclet {peclet:g}: errors {errors}")
    case.at_least(f"wave with the limiter, Peclet {peclet:g}: order", case.order(grids, errors), 1.9)

CONSTANT, SPEED, N, SOURCE = 0.5, 0.05, 16, 1e-5
for pr in None, 0.5:
    c = heat.settings([1, N, 1], {"x": "periodic", "ymin": {"wall": {"velocity": [-SPEED, 0, 0], "scalars": {"t": {"value": 0}}}},
                                  "ymax": {"wall": {"velocity": [SPEED, 0, 0], "scalars": {"t": {"value": 0}}}}, "z": "periodic"},
                      {"t": {"kind": "heat", "diffusivity": 0.002, "source": SOURCE, "magic": 1 / 6, "limiter": "none"} | ({"turbulent_prandtl": pr} if pr else {})},
                      fluid={"viscosity": 0.005}, run={"steps": 150000})
    c["solver"] |= {"collision": "bgk", "subgrid": {"smagorinsky": {"constant": CONSTANT}}}
    y = numpy.arange(N) + 0.5
    total = 0.002 + CONSTANT**2 * (2 * SPEED / N) / (pr or 0.85)
    exact = SOURCE / (2 * total) * y * (N - y)
    values = heat.run(c).value(source=SOURCE)[0, :, 0]
    case.at_most(f"subgrid model, Pr_t {pr or 'default, 0.85'}: largest error of the parabola, over the largest value", abs(values - exact).max() / exact.max(), 1e-5)
    print(f"     D + nu_t/Pr_t = {total:.5g}")
case.finish()
