#!/usr/bin/python3
"""Mean profile and total stress of a turbulent channel from the averages of a run of configs/channel_180.yaml.

    scripts/channel.py FOLDER [PICTURE.png]

Walls are the ymin and ymax faces, half a cell beyond the outermost cells, the flow is along x. The wall's stress is that
which the force needs, u_tau^2 = a h; if it is 0 or from a controller, that of the first cell. In units of it the total stress
-<u'v'> + nu dU/dy is 1 - y/h when the averages have converged (no parameter, no model), with a subgrid model less its part.
"""
import argparse

import numpy

import command_line  # noqa: F401 (finds the package tagflow)
import tagflow

# y+ and U+ of chan180.means: Moser, Kim, Mansour, Phys. Fluids 11:943, 1999 (Re_tau 178.12).
DNS = numpy.array([
    (0.4826, 0.48197), (0.8577, 0.85555), (1.9279, 1.9148), (2.6224, 2.5939), (5.3381, 5.1133), (6.4523, 6.0493),
    (8.9902, 7.9052), (10.412, 8.7741), (13.559, 10.311), (17.102, 11.550), (19.019, 12.066), (25.342, 13.276),
    (30.019, 13.870), (32.492, 14.121), (37.701, 14.557), (46.143, 15.101), (55.300, 15.569), (65.123, 15.993),
    (75.559, 16.389), (86.550, 16.756), (98.037, 17.094), (109.96, 17.400), (122.25, 17.672), (134.84, 17.911),
    (147.67, 18.103), (160.66, 18.235), (173.75, 18.297), (178.12, 18.301)])


class Channel:
    """Profiles over y, [cells], of both halves folded into one: y, mean velocity, <u'v'> (that of the lower half)."""

    def __init__(self, folder, name="mean"):
        average = tagflow.open_run(folder).averages[name][-1]
        if average.case.get("refine"):
            raise tagflow.UsageError(f"{average.path} is of a refined grid, whose cells at the wall this script does not know")
        unit = average.case.dx / average.case.dt if average.physical else 1  # m/s; what follows is in lattice units
        velocity = average["velocity_mean"].astype(float) / unit
        u, v = velocity[..., 0], velocity[..., 1]
        stress = average["reynolds_stress"][..., :4].astype(float) / unit**2
        # Covariances over time in each cell, and those over the plane of what is left in its mean
        mean = u.mean(axis=(0, 2))
        covariance = stress.mean(axis=(0, 2))
        uv = covariance[:, 3] + (u * v).mean(axis=(0, 2)) - mean * v.mean(axis=(0, 2))
        self.rms = numpy.sqrt(covariance[:, :3])[:len(mean) // 2]
        n = len(mean) // 2
        self.h = len(mean) / 2
        self.y = numpy.arange(n) + 0.5
        self.u = (mean[:n] + mean[::-1][:n]) / 2
        self.uv = (uv[:n] - uv[::-1][:n]) / 2
        self.viscosity = average.case.viscosity
        force = average.case.get("force.acceleration", [0])[0]
        self.wall = force * self.h if force > 0 else self.viscosity * self.u[0] / 0.5

    def total(self):
        """Total stress between cells, at y = 1, 2, ...: -<u'v'> + nu dU/dy, over that of the wall."""
        return (-(self.uv[1:] + self.uv[:-1]) / 2 + self.viscosity * numpy.diff(self.u)) / self.wall


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of the run")
    parser.add_argument("picture", nargs="?", help="file to draw the profiles into")
    o = parser.parse_args()
    try:
        c = Channel(o.folder)
    except tagflow.UnknownName as failure:
        parser.error(f"{o.folder}: {failure} (output.averages writes fields/mean_*.vtkhdf at the end of its window)")
    except tagflow.TagflowError as failure:
        parser.exit(2, f"channel.py: {failure}\n")
    friction = numpy.sqrt(c.wall)
    plus = friction / c.viscosity
    found, between = c.total(), numpy.arange(1, len(c.y))
    off = found - (1 - between / c.h)
    log_law = numpy.log(c.y * plus) / 0.41 + 5.2
    print(f"u_tau {friction:.6g}, Re_tau {plus * c.h:.4g}, mean velocity {c.u.mean() / friction:.3f} u_tau (15.68)")
    print(f"total stress: largest distance from 1 - y/h {abs(off).max():.4f}, rms {numpy.sqrt((off**2).mean()):.4f}")
    print("    y+      U+     DNS  y+ or log law   u'+     v'+     w'+    -uv+   total  1 - y/h")
    for i, y in enumerate(c.y):
        law = y * plus if y * plus < 11 else log_law[i]
        total = f"{found[i]:7.4f} {1 - between[i] / c.h:8.4f}" if i < len(found) else ""
        print(f"{y * plus:7.2f} {c.u[i] / friction:7.3f} {numpy.interp(y * plus, *DNS.T):7.3f} {law:12.3f} "
              + " ".join(f"{r / friction:7.3f}" for r in c.rms[i]) + f" {-c.uv[i] / c.wall:7.4f} {total}")
    if o.picture:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
        left.semilogx(*DNS.T, "k.", label="Moser, Kim, Mansour 1999")
        left.semilogx(c.y * plus, c.u / friction, "C0", label="tagflow")
        left.set(xlabel="$y^+$", ylabel="$U^+$")
        left.legend(frameon=False)
        right.plot(between / c.h, found, "C0", label="total")
        right.plot(c.y / c.h, -c.uv / c.wall, "C1", label="$-\\langle u'v'\\rangle$")
        right.plot((0, 1), (1, 0), "k:", label="$1 - y/h$")
        right.set(xlabel="$y/h$", ylabel="stress over the wall's")
        right.legend(frameon=False)
        figure.savefig(o.picture, dpi=100)
