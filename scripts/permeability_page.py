"""The page of scripts/permeability.py: tensor, pores, convergence, velocities and sub-volumes, from its JSON and its runs."""
import os

import numpy

from report import Sections, esc, number, table
from svg_chart import COLORS, Curve, legend
from tagflow.errors import TagflowError
from tagflow.folder import Run

FORMULAS = (
    ("permeability tensor", "K_ij = nu &lt;u_i&gt; / g_j: mean velocity over all cells of the box in the run that is driven along j; g_j: "
     "acceleration and pressure drop over the length of the sample"),
    ("asymmetry", "largest |K_ij - K_ji| / 2 over the largest principal value: slow flow has a symmetric tensor, so this estimates how far "
     "the flow has settled and is slow; the errors of grid and image are not in it"),
    ("principal values", "eigenvalues and eigenvectors of (K + K^T) / 2"),
    ("Reynolds number", "&lt;u&gt; / porosity * d / nu, d = sqrt(32 k / porosity): the diameter of straight tubes of this porosity and permeability"),
    ("tortuosity", "mean |u| over the fluid / mean velocity along the axis over the fluid: the hydraulic tortuosity (Koponen, Kataja, Timonen, "
     "Phys. Rev. E 54:406, 1996). A value of 1 is a straight flow; vortices add to it"),
    ("sub-volumes", "k = nu &lt;u&gt; / g with the mean velocity of the sub-volume in the flow of the whole sample. Each one is taken to be "
     "driven by the same gradient g as the sample. Its faces are open to the flow around it: alone between walls, or repeated, it would have "
     "another permeability. So the mean over all parts is that of the sample; the spread is the result"),
)


class PermeabilityPage(Sections):
    """found: what the JSON file holds; runs: {axis: tagflow.Run}."""

    def __init__(self, found, runs):
        super().__init__()
        self.found, self.runs = found, runs
        self.color = {axis: COLORS[k] for k, axis in enumerate("xyz")}

    def axes(self):
        return legend([(f"driven along {axis}", self.color[axis]) for axis in self.runs]) if len(self.runs) > 1 else ""

    def summary(self):
        rows = [["driven along", "k, cells²", "m²", "mD", "settled to", "step", "Reynolds number", "tortuosity"]]
        for axis, one in self.found["runs"].items():
            rows.append([axis, number(one["cells2"]), number(one["m2"]), number(one["millidarcy"]), number(one["remaining"], 2),
                         number(one["step"]), number(one["reynolds"], 3), number(one["tortuosity"], 5)])
        tensor = self.found["tensor"]
        text = f"<p>Porosity {number(self.found['porosity'])}" + (
            f"; permeability from {number(tensor['principal'][-1]['cells2'])} to {number(tensor['principal'][0]['cells2'])} cells², "
            f"ratio {number(tensor['anisotropy'], 4)}; asymmetry {number(tensor['asymmetry'], 2)}." if tensor else ".") + "</p>"
        self.add("summary", "Permeability", text, table(rows))

    def warnings(self):
        self.add("warnings", "Warnings", "".join(f'<div class="warning">{esc(text)}</div>' for text in self.found["warnings"]) or "<p>None.</p>")

    def tensor(self):
        tensor = self.found["tensor"]
        if not tensor:
            self.add("tensor", "Tensor", "<p>The tensor needs runs along x, y and z.</p>")
            return
        out = []
        for unit, key in (("cells²", "cells2"), ("m²", "m2"), ("mD", "millidarcy")):
            if tensor[key] is not None:
                out.append(f"<h3>K in {unit}</h3>" + table([["flow", "driven along x", "y", "z"], *(
                    [axis, *map(number, row)] for axis, row in zip("xyz", tensor[key]))]))
        rows = [["principal value", "cells²", "m²", "mD", "direction x", "y", "z"]]
        for k, one in enumerate(tensor["principal"], 1):
            rows.append([str(k), number(one["cells2"]), number(one["m2"]), number(one["millidarcy"]), *(number(v, 4) for v in one["direction"])])
        out.append("<h3>Symmetric part</h3>" + table(rows)
                   + f"<p>Asymmetry {number(tensor['asymmetry'], 3)} of the largest principal value.</p>")
        self.add("tensor", "Tensor", *out)

    def of_pores(self):
        pores = self.found["pores"]
        self.add("pores", "Pores", self.pores(pores) if pores else "<p>report.json has no pores.</p>")

    def convergence(self):
        curves, rows = [], [["driven along", "run.stop", "last change", "estimated distance from the limit"]]
        for axis, run in self.runs.items():
            one = self.found["runs"][axis]
            rows.append([axis, "met" if one["met"] else "not met", number(one["last_change"], 2), number(one["remaining"], 2)])
            try:
                series = run.series[one["series"]]
                curves.append(Curve(series["step"], series["permeability"], axis, self.color[axis]))
            except (TagflowError, KeyError):
                pass  # the numbers above do not need it
        self.add("convergence", "Convergence", table(rows), self.axes(),
                 f'<div class="charts">{self.chart(curves, "step", "permeability, cells²")}</div>' if curves else "")

    def velocities(self):
        flows = {axis: one["velocities"] for axis, one in self.found["runs"].items() if one["velocities"]}
        if not flows:
            self.add("velocities", "Velocities", "<p>There is no snapshot of the velocity.</p>")
            return
        charts = []
        for key, label in (("along", "velocity along the axis / its mean"), ("speed", "|u| / mean velocity along the axis")):
            curves = []
            for axis, flow in flows.items():
                part = flow[key]
                middles = part["from"] + part["width"] * (numpy.arange(len(part["density"])) + 0.5)
                curves.append(Curve(middles, part["density"], axis, self.color[axis]))
            charts.append(self.chart(curves, label, "probability density over the fluid cells", log=True, floor=1e-6))
        rows = [["driven along", "backward", "slower than 1 % of the mean speed", "fastest / mean"]]
        for axis, flow in flows.items():
            rows.append([axis, f"{number(100 * flow['backward'], 3)} %", f"{number(100 * flow['slow'], 3)} %", number(flow["fastest"], 4)])
        self.add("velocities", "Velocities", self.axes(), f'<div class="charts">{"".join(charts)}</div>', table(rows),
                 "<p>Slow cells are pockets at the sides of pores, dead ends, and cells beside walls.</p>")

    def sub_volumes(self):
        charts, rows = [], [["driven along", "cells of a part", "parts", "k, mean", "deviation", "deviation / mean", "k, least", "greatest",
                             "porosity, mean", "deviation"]]
        found = {axis: one["sub_volumes"] for axis, one in self.found["runs"].items() if one["sub_volumes"]}
        for key, label in (("permeability", "k of the parts, cells²: mean, and mean ± deviation"),
                           ("porosity", "porosity: mean, and mean ± deviation")):
            curves = []
            for axis, levels in found.items():
                edges = numpy.array([numpy.cbrt(numpy.prod(level["edge"])) for level in levels])
                mean, off = (numpy.array([level[key][what] for level in levels]) for what in ("mean", "deviation"))
                curves += [Curve(edges, mean + sign * off, axis, self.color[axis], dashed=sign != 0) for sign in (0, 1, -1)]
            if curves:
                charts.append(self.chart(curves, "edge of a part, cells", label))
        for axis, levels in found.items():
            for level in levels:
                k, porosity = level["permeability"], level["porosity"]
                rows.append([axis, " × ".join(map(str, level["edge"])), number(level["count"]), number(k["mean"]), number(k["deviation"], 3),
                             number(k["deviation"] / abs(k["mean"]), 3) if k["mean"] else "-", number(k["min"], 4), number(k["max"], 4),
                             number(porosity["mean"]), number(porosity["deviation"], 3)])
        if found:
            self.add("parts", "Sub-volumes", "<p>Is the sample large enough? A part is representative if parts of its size hardly differ. "
                     "They are cut from the flow of the whole sample, and each is taken to be driven by the same gradient; see the formulas.</p>",
                     self.axes(), f'<div class="charts">{"".join(charts)}</div>', table(rows))

    def text(self, title):
        self.summary()
        self.warnings()
        self.tensor()
        self.of_pores()
        self.convergence()
        self.velocities()
        self.sub_volumes()
        self.add("formulas", "Formulas", table([[name, text] for name, text in FORMULAS], numeric=False, head=False))
        rows = [["case", esc(self.found["case"])], ["tagflow", esc(self.found["version"])]]
        rows += [[f"driven along {axis}", esc(os.path.abspath(run.folder)) + f", state {esc(run.report.get('state_hash'))}"]
                 for axis, run in self.runs.items()]
        self.add("provenance", "Where it comes from", table(rows, numeric=False, head=False))
        return self.document(title)


def page(found, runs, title):
    """The HTML text. runs: {axis: folder}."""
    return PermeabilityPage(found, {axis: Run(folder) for axis, folder in runs.items()}).text(title)
