#!/usr/bin/python3
"""Square duct driven by a force along x, y and z: alike, and against the series solution.

Reference: the series for the duct of side a = 2 h (White, Viscous Fluid Flow),

    u = 16 g h^2 / (pi^3 nu) sum over odd n of (-1)^((n-1)/2) [1 - cosh(n pi z / 2h) / cosh(n pi / 2)]
        cos(n pi y / 2h) / n^3,

0.07367135 g a^2 / nu on the axis and 0.03514425 g a^2 / nu on average.
Tolerances: the three orientations differ in the order of additions only, so 1e-12 of the largest
velocity. Against the series the scheme is of second order: at least 1.9 over three grids, and 0.1 % of
the largest velocity with 32 cells a side; a wall moved by a tenth of a cell would make 0.6 %.
Across the duct nothing should flow. D3Q19 lets a little flow in four pairs of eddies, because its
equilibrium is not isotropic beyond second order in the velocity (White, Chong, J. Comput. Phys.
230:6367, 2011): it must stay below 5e-4 of the velocity at 0.05, and be in proportion to its square.
"""
import numpy

import case

SPEED = 0.05
MAXIMUM, MEAN = 0.07367135, 0.03514425
AXES = "xyz"


def series(cells):
    """u nu / (g a^2) in the cells of the cross-section."""
    y = ((numpy.arange(cells) + 0.5) / cells - 0.5) * numpy.pi
    u = numpy.zeros((cells, cells))
    for n in range(1, 400, 2):
        # cosh(n z) / cosh(n pi / 2), which would overflow
        cosh = numpy.exp(n * (abs(y) - numpy.pi / 2)) * (1 + numpy.exp(-2 * n * abs(y))) / (1 + numpy.exp(-n * numpy.pi))
        u += (-1)**((n - 1) // 2) / n**3 * numpy.outer(numpy.cos(n * y), 1 - cosh)
    return 4 / numpy.pi**3 * u


def duct(axis, cells, speed=SPEED, viscosity=0.1):
    """Velocity over the largest: [along, across, across, component likewise], and u nu / (g a^2)."""
    force = speed * viscosity / (MAXIMUM * cells**2)
    acceleration = [0, 0, 0]
    acceleration[axis] = force
    extent = [cells] * 3
    extent[axis] = 4
    # From rest, exp(-2 pi^2 nu t / a^2) remains of what is missing: 1e-17 after 40 a^2 / (2 pi^2 nu).
    run = case.run("duct", case.FP64 | {
        "domain.cells": extent, "fluid": {"viscosity": viscosity}, "force.acceleration": acceleration,
        "faces": {name: "periodic" if a == axis else "wall" for a, name in enumerate(AXES)},
        "run.steps": int(2 * cells**2 / viscosity),
        "output": {"fields": {"main": {"every": 10**9, "of": "velocity", "precision": "fp64"}}}})
    order = [axis, (axis + 1) % 3, (axis + 2) % 3]
    velocity = run.field().transpose(order + [3])[..., order]
    return velocity / speed, velocity[..., 0] * viscosity / (force * cells**2)


CELLS = 8, 16, 32
errors = []
for cells in CELLS:
    _, u = duct(0, cells)
    errors.append(numpy.abs(u - series(cells)).max() / MAXIMUM)
case.at_least("order of convergence", case.order(CELLS, errors), 1.9)
case.at_most(f"relative error in the worst of {CELLS[-1]}^2 cells", errors[-1], 1e-3)
# The mean over cells is a midpoint rule's: of second order, too.
case.near("mean velocity, nu / (g a^2)", u.mean(), MEAN, 2e-3 * MEAN)

along = [duct(axis, 16)[0] for axis in range(3)]
for axis in 1, 2:
    case.at_most(f"relative difference between the ducts along x and {AXES[axis]}",
                 numpy.abs(along[axis] - along[0]).max(), 1e-12)
mirrored = along[0].swapaxes(1, 2)[..., [0, 2, 1]]
case.at_most("relative difference after y and z are swapped", numpy.abs(along[0] - mirrored).max(), 1e-12)

across = numpy.abs(along[0][..., 1:]).max()
slow = numpy.abs(duct(0, 16, SPEED / 10)[0][..., 1:]).max()
case.at_most("relative size of velocities across", across, 5e-4)
case.near("the same with a tenth of the velocity, as a part of it", slow / across, 0.1, 0.01)
case.finish()
