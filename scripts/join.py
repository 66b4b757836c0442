#!/usr/bin/python3
"""Joins the snapshots of one file series into one temporal VTKHDF file, for VTK 9.3, ParaView 5.12 and newer.

    scripts/join.py OUT.vtkhdf RUN NAME                         RUN/fields/NAME_<step>.vtkhdf, all of them
    scripts/join.py OUT.vtkhdf RUN/fields/NAME_*.vtkhdf         those that are named
    scripts/join.py --level 1 OUT.vtkhdf RUN NAME               of a refined grid: in cells of level 1

What is in the file: docs/formats.md.
"""
import os
import signal
import sys

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"join: needs Python's h5py and numpy ({error}): apt install python3-h5py", file=sys.stderr)
    sys.exit(1)

from command_line import Parser, Wrong, ended, quoted
from tagflow.fields import FILE_NAME, GEOMETRY
from tagflow.refined import Refined
from tagflow.snapshots import open_snapshot

# So much of an array is in memory at a time.
PIECE = 64 << 20


def find_snapshots(arguments):
    """The files that the arguments mean: names of files, or a folder and the name of a series in it."""
    if not os.path.isdir(arguments[0]):
        if len(set(map(os.path.realpath, arguments))) < len(arguments):
            raise Wrong("a snapshot is given twice")
        return arguments
    if len(arguments) > 2:
        raise Wrong(f"{quoted(arguments[0])} is a folder; one name of a series must follow, not {len(arguments) - 1}")
    folder = os.path.join(arguments[0], "fields")
    folder = folder if os.path.isdir(folder) else arguments[0]
    series = {}
    for name in sorted(os.listdir(folder)):
        if match := FILE_NAME.fullmatch(name):
            series.setdefault(match[1], []).append(os.path.join(folder, name))
    if not series:
        raise Wrong(f"no snapshots in {quoted(folder)}")
    known = "it holds " + ", ".join(map(quoted, series))
    if len(arguments) == 1 and len(series) > 1:
        raise Wrong(f"which series of {quoted(folder)}? {known}")
    name = arguments[1] if len(arguments) > 1 else next(iter(series))
    if name not in series:
        raise Wrong(f"no series {quoted(name)} in {quoted(folder)}; {known}")
    return series[name]


def opened(path, level):
    """The snapshot: of a refined grid in cells of the level."""
    snapshot = open_snapshot(path)
    refined = isinstance(snapshot, Refined)
    if refined and level is None:
        raise Wrong(f"{quoted(path)} holds all levels of a refined grid: --level K joins them in cells of level K, 0 to {snapshot.level}")
    if level is not None and not refined:
        raise Wrong(f"--level {level}: {quoted(path)} has one level")
    return snapshot.part(level) if refined else snapshot


def difference(snapshot, other):
    """In what a snapshot cannot be in one file with another one; "" if in nothing."""
    if snapshot.points != other.points:
        return "%d x %d x %d points, not %d x %d x %d" % (snapshot.points[::-1] + other.points[::-1])
    for name in GEOMETRY:
        if not numpy.array_equal(snapshot.geometry[name], other.geometry[name]):
            return f"another {name}: {snapshot.geometry[name].tolist()}, not {other.geometry[name].tolist()}"
    if snapshot.stored.keys() != other.stored.keys():
        return f"other arrays: {', '.join(snapshot.stored)}, not {', '.join(other.stored)}"
    for name, (dtype, shape) in snapshot.stored.items():
        if other.stored[name] != (dtype, shape):
            return "array {}: {} {}, not {} {}".format(name, dtype, shape, *other.stored[name])
    return ""


def pieces(shape, itemsize):
    """Cuts an array of z, y and what is behind into pairs of slices (z, y) of bounded size."""
    row = itemsize * int(numpy.prod(shape[2:]))
    rows = max(1, PIECE // row)
    planes = max(1, rows // shape[1])
    for z in range(0, shape[0], planes):
        for y in range(0, shape[1], rows):
            yield slice(z, min(z + planes, shape[0])), slice(y, min(y + rows, shape[1]))


def cells_of(snapshot, name, where):
    """The values at points. Both points along an axis of one cell have the cell's value."""
    one = [count == 1 for count in snapshot.cells[::-1]]
    return snapshot.cut(name, tuple(slice(1) if alone else place for place, alone in zip(where, one)))


def note_provenance(group, snapshots):
    """What all snapshots say alike as attributes, what changes as datasets with one entry a snapshot."""
    for name in snapshots[-1].provenance:
        values = [snapshot.provenance.get(name) for snapshot in snapshots]
        if any(type(value) is not type(values[0]) for value in values):
            continue
        if all(numpy.array_equal(value, values[0]) for value in values) and name not in ("step", "time"):
            group.attrs[name] = values[0]
        elif isinstance(values[0], str):
            group.create_dataset(name, data=values, dtype=h5py.string_dtype("utf-8"))
        else:
            group[name] = numpy.array(values)


def write_joined(file, snapshots, sink):
    """Fills an empty HDF5 file, whose bytes go to the sink."""
    first = snapshots[0]
    root = file.create_group("VTKHDF")
    root.attrs["Version"] = numpy.array([2, 0], dtype=numpy.int64)
    root.attrs.create("Type", numpy.bytes_("ImageData"), dtype=h5py.string_dtype("ascii", len("ImageData")))
    for name, value in first.geometry.items():
        root.attrs[name] = value
    note_provenance(file.create_group("provenance"), snapshots)
    if isinstance(first, Refined):
        file["provenance"].attrs["cells"] = numpy.array(first.cells, dtype=numpy.int64)

    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = numpy.int64(len(snapshots))
    steps["Values"] = numpy.array([snapshot.time for snapshot in snapshots])
    offsets, arrays = steps.create_group("PointDataOffsets"), root.create_group("PointData")
    for name, (dtype, shape) in first.stored.items():
        offsets[name] = numpy.arange(len(snapshots), dtype=numpy.int64)
        arrays.create_dataset(name, (len(snapshots),) + shape, dtype)

    for t, snapshot in enumerate(snapshots):
        for name, (dtype, shape) in first.stored.items():
            for where in pieces(shape, dtype.itemsize):
                arrays[name][(t, *where)] = cells_of(snapshot, name, (*where, slice(shape[2])))
                sink.check()


class Sink:
    """The file that HDF5 writes, which keeps a failure of the disk from HDF5: at its next attempt, on closing, it would end
    the process. check() raises it."""

    def __init__(self, path):
        self.file = open(path, "wb+", buffering=0)
        self.error = None

    def check(self):
        if self.error:
            raise self.error

    def seek(self, offset, whence=os.SEEK_SET):
        return self.file.seek(offset, whence)

    def tell(self):
        return self.file.tell()

    def read(self, size=-1):
        return self.file.read(size)

    def readinto(self, buffer):
        return self.file.readinto(buffer)

    def write(self, data):
        data = memoryview(data).cast("B")
        done = 0
        try:
            while not self.error and done < len(data):
                done += self.file.write(data[done:])
        except OSError as error:
            self.error = error
        return len(data)

    def truncate(self, size):
        try:
            self.file.truncate(size)
        except OSError as error:
            self.error = self.error or error
        return size

    def flush(self):
        pass

    def close(self):
        """All is on disk, or an error is raised."""
        with self.file:
            self.check()
            os.fsync(self.file.fileno())


def write_file(path, snapshots):
    """The joined file is whole and on disk when it is there under its name."""
    temporary = path + ".tmp"
    try:
        sink = Sink(temporary)
        try:
            with h5py.File(sink, "w") as file:
                write_joined(file, snapshots, sink)
        finally:
            sink.close()
        size = os.path.getsize(temporary)
        os.rename(temporary, path)
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        return size
    finally:
        if os.path.lexists(temporary):
            os.remove(temporary)


def check_output(path, snapshots, force):
    if not path.endswith(".vtkhdf"):
        raise Wrong(f"{quoted(path)}: the file to write comes first, and its name must end in .vtkhdf")
    if FILE_NAME.fullmatch(os.path.basename(path)) or os.path.realpath(path) in map(os.path.realpath, snapshots):
        raise Wrong(f"{quoted(path)}: the file to write comes first, and this is a snapshot's name")
    if os.path.isdir(path):
        raise Wrong(f"{quoted(path)} is a folder")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise Wrong(f"there is no folder {quoted(os.path.dirname(path))}")
    if os.path.lexists(path) and not force:
        raise Wrong(f"{quoted(path)} exists; --force replaces it")


def join(arguments):
    check_output(arguments.out, [], arguments.force)
    paths = find_snapshots(arguments.snapshots)
    check_output(arguments.out, paths, arguments.force)
    snapshots = sorted((opened(path, arguments.level) for path in paths), key=lambda snapshot: snapshot.step)
    if len(snapshots) < 2:
        raise Wrong("there is only one snapshot; a temporal file needs two or more")
    for before, snapshot in zip(snapshots, snapshots[1:]):
        if snapshot.step == before.step:
            raise Wrong(f"{quoted(snapshot.path)} and {quoted(before.path)} are both of step {snapshot.step}")
        if unlike := difference(snapshot, before):
            raise Wrong(f"{quoted(snapshot.path)} does not fit {quoted(before.path)}: {unlike}")
        if not snapshot.time > before.time:
            raise Wrong(f"{quoted(snapshot.path)} does not fit {quoted(before.path)}: "
                        f"step {snapshot.step} at time {snapshot.time:g}, step {before.step} at {before.time:g}")
    size = write_file(arguments.out, snapshots)
    first, last = snapshots[0], snapshots[-1]
    print(f"{quoted(arguments.out)}: {len(snapshots)} steps, {first.step} to {last.step}, time {first.time:g} to "
          f"{last.time:g}, {', '.join(first.stored)}, {size / 1e6:.3g} MB")


def main():
    parser = Parser("join.py", __doc__, "snapshots that do not fit together")
    parser.usage = "join.py [--force] [--level K] OUT.vtkhdf {SNAPSHOT... | RUN [NAME]}"
    parser.add_argument("out", metavar="OUT.vtkhdf", help="the file to write")
    parser.add_argument("snapshots", metavar="SNAPSHOT", nargs="+",
                        help="snapshots in any order, or a run's folder and the name of a series of its output.fields "
                             "(which may be left out if there is only one)")
    parser.add_argument("--level", metavar="K", type=int, help="of a refined grid: in cells of this level; finer cells are means, coarser ones copied")
    parser.add_argument("--force", action="store_true", help="replace OUT.vtkhdf if it exists")
    # So that a job that is ended removes what it has begun.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return ended("join", "joined file", lambda: join(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
