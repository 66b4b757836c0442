"""The flow in pores, from one snapshot: tortuosity, distribution of the velocity, permeability and porosity of sub-volumes."""
import math

import numpy

from command_line import Wrong, quoted

WIDTH = 0.1  # of a class of the distribution, in mean velocities
FASTEST = 100  # mean velocities; faster cells are in the last class
SLOW = 0.01  # of the mean speed: slower cells count as stagnant
CHUNK = 1 << 22  # cells that are read at a time
SMALLEST = 4  # cells along the edge of a sub-volume


class PoreFlow:
    """One snapshot of the velocity in a box of cells, read in pieces of some planes.

    axis: 0, 1, 2, along which the flow is driven. begin, end: first cell of the box of cells and the one after its last, x, y, z.
    """

    def __init__(self, snapshot, axis, begin, end):
        self.snapshot, self.axis, self.begin, self.end = snapshot, axis, begin, end
        self.cells = [b - a for a, b in zip(begin, end)]
        case = snapshot.case
        self.lattice = case.dt / case.dx if snapshot.physical else 1.0  # velocity in cells a step / velocity in the file
        snapshot.need("velocity")
        if list(snapshot.cells) != list(case["domain.cells"]):
            raise Wrong(f"{quoted(snapshot.path)} holds a part of the box: its velocity has to be that of all cells")
        self._sum()

    def _chunks(self, breaks=()):
        """(first plane, velocity, tags or None) of pieces along z, none of which goes beyond a plane in `breaks`."""
        x, y = (slice(self.begin[a], self.end[a]) for a in (0, 1))
        most = max(1, CHUNK // (self.cells[0] * self.cells[1]))
        stops = sorted({*breaks, self.cells[2]})
        with self.snapshot.open() as file:
            at = 0
            while at < self.cells[2]:
                to = min(at + most, next(stop for stop in stops if stop > at))
                where = (slice(self.begin[2] + at, self.begin[2] + to), y, x)
                velocity = self.snapshot.read(file, "PointData/velocity", where).astype(float) * self.lattice
                if not numpy.isfinite(velocity).all():
                    raise Wrong(f"{quoted(self.snapshot.path)}: a velocity is not finite")
                yield at, velocity, self.snapshot.read(file, "PointData/tags", where) if "tags" in self.snapshot else None
                at = to

    def _sum(self):
        """Sums over the fluid, and which tags are fluid: those of cells that move. Cells that are not fluid have velocity 0."""
        tags, moving, self.moves, sums, speeds, self.fastest = numpy.zeros(256, int), numpy.zeros(256, bool), 0, numpy.zeros(3), 0.0, 0.0
        for _, velocity, tag in self._chunks():
            speed = numpy.sqrt((velocity**2).sum(axis=-1))
            sums += velocity.sum(axis=(0, 1, 2))
            speeds += speed.sum()
            self.fastest = max(self.fastest, float(speed.max()))
            self.moves += int((speed > 0).sum())
            if tag is not None:
                tags += numpy.bincount(tag.ravel(), minlength=256)
                moving[numpy.unique(tag[speed > 0])] = True
        self.fluid_tags = numpy.flatnonzero(moving)
        self.fluid_cells = int(tags[moving].sum()) if "tags" in self.snapshot else self.moves
        if not self.moves or sums[self.axis] == 0:
            raise Wrong(f"{quoted(self.snapshot.path)}: nothing flows along {'xyz'[self.axis]}")
        self.mean = sums / self.fluid_cells
        self.speed = speeds / self.fluid_cells

    def _fluid(self, velocity, tag):
        return numpy.isin(tag, self.fluid_tags) if tag is not None else (velocity != 0).any(axis=-1)

    @property
    def tortuosity(self):
        """Mean speed over mean velocity along the axis (Koponen, Kataja, Timonen, Phys. Rev. E 54:406, 1996)."""
        return float(self.speed / abs(self.mean[self.axis]))

    def distribution(self):
        """Classes of the velocity along the axis and of the speed, both over the mean velocity along the axis: {"along": {"from", "width",
        "density"}, "speed": ..., "backward": share of the fluid cells, "slow": .., "fastest": ..}; densities have the integral 1."""
        scale = self.mean[self.axis]
        counts = {name: numpy.zeros(round(2 * FASTEST / WIDTH), int) for name in ("along", "speed")}
        backward = slow = 0
        for _, velocity, tag in self._chunks():
            fluid = self._fluid(velocity, tag)
            along = velocity[..., self.axis][fluid] / scale
            speed = numpy.sqrt((velocity**2).sum(axis=-1))[fluid] / abs(scale)
            backward += int((along < 0).sum())
            slow += int((speed < SLOW * self.speed / abs(scale)).sum())
            for name, values in ("along", along), ("speed", speed):
                classes = numpy.clip(numpy.floor(values / WIDTH).astype(int) + len(counts[name]) // 2, 0, len(counts[name]) - 1)
                counts[name] += numpy.bincount(classes, minlength=len(counts[name]))
        found = {"backward": backward / self.fluid_cells, "slow": slow / self.fluid_cells, "fastest": self.fastest / abs(float(scale))}
        for name, count in counts.items():
            used = numpy.flatnonzero(count)
            part = count[used[0]:used[-1] + 1]
            found[name] = {"from": round((int(used[0]) - len(count) // 2) * WIDTH, 6), "width": WIDTH,
                           "density": (part / (self.fluid_cells * WIDTH)).tolist()}
        return found

    def sub_volumes(self, viscosity, gradient):
        """Permeability and porosity of parts of a half, a quarter and an eighth of the edges, [{"parts", "edge", "count", "permeability": {..},
        "porosity": {..}}], the whole first. Each part is taken to be driven by the same gradient. Cells left over at the high ends are left out."""
        parts = next((p for p in (8, 4, 2) if min(self.cells) // p >= SMALLEST), 1)
        edge = [n // parts for n in self.cells]
        flow, fluid = numpy.zeros((parts,) * 3), numpy.zeros((parts,) * 3, int)  # [z, y, x]
        inner = tuple(slice(parts * edge[a]) for a in (1, 0))
        for at, velocity, tag in self._chunks([k * edge[2] for k in range(1, parts + 1)]):
            if at >= parts * edge[2]:
                break
            shape = (-1, parts, edge[1], parts, edge[0])
            flow[at // edge[2]] += velocity[(slice(None), *inner, self.axis)].reshape(shape).sum(axis=(0, 2, 4))
            fluid[at // edge[2]] += self._fluid(velocity, tag)[(slice(None), *inner)].reshape(shape).sum(axis=(0, 2, 4))
        whole = numpy.array(self.mean[self.axis] * self.fluid_cells), numpy.array(self.fluid_cells)
        found = [self._level([1, *self.cells], *whole, viscosity, gradient)]
        for p in (2, 4, 8)[:round(math.log2(parts))]:
            shape = (p, parts // p) * 3
            sums = [values.reshape(shape).sum(axis=(1, 3, 5)) for values in (flow, fluid)]
            found.append(self._level([p, *(n * parts // p for n in edge)], *sums, viscosity, gradient))
        return found

    @staticmethod
    def _level(size, flow, fluid, viscosity, gradient):
        cells = size[1] * size[2] * size[3]
        values = {"permeability": viscosity * flow / cells / gradient, "porosity": fluid / cells}
        found = {"parts": size[0], "edge": size[1:], "count": int(flow.size)}
        for name, value in values.items():
            found[name] = {"mean": float(value.mean()), "deviation": float(value.std()), "min": float(value.min()), "max": float(value.max())}
        return found


def find_snapshot(run, step):
    """The snapshot of a run that holds the velocity of the whole box at a step; Wrong if there is none."""
    partial = None
    for name, snapshots in sorted(run.fields.items(), key=lambda item: item[0] != "pore_flow"):
        if step in snapshots.steps:
            snapshot = snapshots.at(step)
            if "velocity" in snapshot and list(snapshot.cells) == list(run.case["domain.cells"]):
                return snapshot
            partial = name
    raise Wrong(f"{quoted(run.folder)} has no snapshot of the velocity at its last step, {step}"
                + (f" ({partial} holds a part of the box, or other arrays)" if partial else ""))
