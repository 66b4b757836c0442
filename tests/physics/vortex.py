"""The Taylor-Green vortex at Re 1600: a run and its dissipation, in units of velocity V and length L."""
import numpy

import case

REYNOLDS = 1600


def spectral_enstrophy(velocity):
    """Mean of |curl u|^2 / 2 of a periodic field [x, y, z, component], by Fourier transform."""
    n = velocity.shape[0]
    k, kz = 2j * numpy.pi * numpy.fft.fftfreq(n), 2j * numpy.pi * numpy.fft.rfftfreq(n)
    wave = k[:, None, None], k[:, None], kz
    u = [numpy.fft.rfftn(velocity[..., a]) for a in range(3)]
    twice = numpy.full(n // 2 + 1, 2.0)  # rfftn leaves out the other half, complex conjugates
    twice[0] = twice[-1] = 1
    total = 0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        total += (twice * numpy.abs(wave[b] * u[c] - wave[c] * u[b])**2).sum()
    return total / 2 / n**6


class Vortex:
    """A run to t V/L = end. By time: energy, its dissipation -dE/dt and 2 Omega/Re of the series' enstrophy
    (central differences); by snapshot_time: 2 Omega/Re by Fourier transform of snapshots."""

    def __init__(self, cells, speed, end, solver, folder=None):
        self.length = cells / (2 * numpy.pi)
        unit = self.length / speed  # steps
        tenth = 2 * round(unit / 20)
        snapshot = 2 * round(unit / 2)
        self.run = case.run("taylor_green_3d", {
            "domain.cells": [cells] * 3, "fluid": {"reynolds": REYNOLDS, "velocity": speed, "length": self.length},
            "solver": solver, "run.steps": round(end * unit),
            "output": {"series": {"flow": {"every": tenth, "of": ["mass", "kinetic_energy", "enstrophy"]},
                                  "snapshots": {"every": snapshot, "of": ["kinetic_energy", "enstrophy"]}},
                       "fields": {"main": {"every": snapshot, "of": "velocity"}},
                       "images": {"vorticity": {"every": snapshot, "of": "vorticity", "axis": "z", "at": 0}}}},
            folder=folder, large=True)
        flow = self.run.series()
        self.mass = flow["mass"] / cells**3
        self.time = flow["step"] / unit
        self.energy = flow["kinetic_energy"] / flow["mass"] / speed**2
        self.enstrophy = flow["enstrophy"] / cells**3 * (self.length / speed)**2
        # By a parabola through nine samples: sound makes the energy swing a little.
        self.dissipation = numpy.array([self._slope(i) for i in range(len(self.time))])
        steps = self.run.steps_of()
        self.snapshot_time = numpy.array(steps) / unit
        self.spectral = numpy.array([spectral_enstrophy(self.run.field(number=i)) * unit**2
                                     for i in range(len(steps))])

    def _slope(self, i, half=4):
        part = slice(max(0, i - half), i + half + 1)
        t = self.time[part] - self.time[i]
        return -numpy.polyfit(t, self.energy[part], 2)[1]

    def at(self, values, time):
        return numpy.interp(time, self.time, values)
