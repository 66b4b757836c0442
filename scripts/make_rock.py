#!/usr/bin/python3
"""A small synthetic micro-CT image: grains that are overlapping spheres, or a random field that is cut at a level.

    scripts/make_rock.py rock.raw [--size 64] [--porosity 0.285] [--radius 7 11] [--seed 1] [--tile 1]
    scripts/make_rock.py rock.raw --kind field [--size 64] [--porosity 0.3] [--length 4] [--tilt 0] [--seed 1]

Spheres are placed in a periodic box. What a scanner makes of it is their share of each voxel, blurred and noisy, which
is smoothed again and cut by two thresholds: 0 is pore, 1 is grain, 2 is the denser mineral. Noise leaves loose voxels
and closed pores behind, as real images have them. There are as many spheres as the wanted porosity of the image needs.
In small boxes, where one sphere changes it by more than 0.008, the last sphere is smaller.

A field is white noise in a periodic box, smoothed by a Gaussian whose standard deviation is --length, in voxels.
The lowest values are pore, exactly the wanted share of all voxels; the others are grain. A straight line stays in a
pore for 3.1 lengths on average at a porosity of 0.3, for 4.5 at 0.5. Three lengths, along x, y and z, make a rock with
long grains, --tilt turns them about z. The same seed and options give the same image.

Both kinds are periodic: --tile repeats the image along each axis, for images that would take too long to make.

Writes unsigned 8-bit labels, x the fastest: raw, or HDF5 (dataset `labels`) or a TIFF stack by the file's name
(.h5, .tif); --type and --order say how else a label is stored.
"""
import argparse
import math
import os
import struct
import sys

import numpy as np

GRAIN, DENSE = 1.0, 1.6  # grey values; pores have 0
NEAR = 0.004  # from the wanted porosity


def arguments():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("file", help="file to write: .h5 and .tif are HDF5 and TIFF, all others raw")
    parser.add_argument("--size", type=int, nargs="+", default=[64], help="voxels along x, y, z, or along all (64)")
    parser.add_argument("--porosity", type=float, help="share of the voxels that are pore (spheres: 0.285, to 0.005; field: 0.3, exactly)")
    parser.add_argument("--kind", choices=["spheres", "field"], default="spheres")
    parser.add_argument("--length", type=float, nargs="+", help="field: width of the smoothing, or three along x, y, z (4)")
    parser.add_argument("--tilt", type=float, help="field: angle by which the lengths are turned about z, in degrees (0)")
    parser.add_argument("--radius", type=float, nargs=2, default=[7, 11], help="smallest and largest radius (7 11)")
    parser.add_argument("--dense", type=float, default=0.1, help="share of spheres of the denser mineral (0.1)")
    parser.add_argument("--noise", type=float, default=0.35, help="standard deviation of the grey values (0.35)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tile", type=int, nargs="+", default=[1], help="copies along x, y, z, or along all (1)")
    parser.add_argument("--type", choices=["uint8", "int8", "uint16", "int16"], default="uint8")
    parser.add_argument("--order", choices=["little", "big"], default="little", help="of the bytes of 16-bit labels")
    given = parser.parse_args()
    if len(given.size) not in (1, 3) or min(given.size) < 8:
        parser.error("--size: one number or three, at least 8")
    if len(given.tile) not in (1, 3) or min(given.tile) < 1:
        parser.error("--tile: one number or three, at least 1")
    if given.porosity is None:
        given.porosity = 0.285 if given.kind == "spheres" else 0.3
    if not 0.05 <= given.porosity < 1:
        parser.error("--porosity: 0.05 to 1")
    if not 1 <= given.radius[0] <= given.radius[1]:
        parser.error("--radius: 1 or more, the smaller one first")
    if given.kind == "spheres" and not (given.length is None and given.tilt is None):
        parser.error("--length and --tilt have no effect on spheres (--kind field)")
    given.length, given.tilt = given.length or [4], given.tilt or 0
    if len(given.length) not in (1, 3) or not all(0.5 <= length <= 1000 for length in given.length):
        parser.error("--length: one number or three, 0.5 to 1000")
    if not math.isfinite(given.tilt):
        parser.error("--tilt: an angle in degrees")
    given.length = given.length * 3 if len(given.length) == 1 else given.length
    given.size = given.size * 3 if len(given.size) == 1 else given.size
    given.tile = given.tile * 3 if len(given.tile) == 1 else given.tile
    return given


class Spheres:
    """Sphere after sphere in a periodic box; the same random numbers give the same spheres."""

    def __init__(self, size, radius, dense, random):
        self.size, self.radius, self.dense, self.random = size, radius, dense, random
        self.axes = [np.arange(n) + 0.5 for n in size]
        self.start = random.bit_generator.state

    def placed(self, count, least=0, shrink=1):
        """Grey values [z][y][x] without noise, and the number of spheres: `count` of them, or as many as leave no more than the share
        `least` of the box. The last one has its radius times `shrink`."""
        size, random, radius = self.size, self.random, self.radius
        random.bit_generator.state = self.start
        grey = np.zeros(size[::-1])
        pore, n = grey.size, 0
        while n < count and pore > least * grey.size:
            n += 1
            centre, r = random.random(3) * size, radius[0] + (radius[1] - radius[0]) * random.random()
            r *= shrink if n == count else 1
            near, away = [], []
            for a in range(3):
                d = np.abs(self.axes[a] - centre[a])
                d = np.minimum(d, size[a] - d) ** 2  # the nearest image
                near.append(np.flatnonzero(d <= r * r))
                away.append(d[near[a]])
            part = np.ix_(near[2], near[1], near[0])
            inside = away[2][:, None, None] + away[1][None, :, None] + away[0][None, None, :] <= r * r
            old = grey[part]
            pore -= np.count_nonzero(inside & (old == 0))
            grey[part] = np.where(inside, DENSE if random.random() < self.dense else GRAIN, old)
        return grey, n


def spheres(size, porosity, radius, dense, noise, random):
    """Labels [z][y][x] with this porosity: by bisection of the number of spheres, and of the radius of the last one."""
    box = Spheres(size, radius, dense, random)
    seen = {}

    def image(count, shrink=1):
        """Labels, and how far their porosity is above the wanted one."""
        labels = scan(box.placed(count, shrink=shrink)[0], noise, random)
        return labels, np.count_nonzero(labels == 0) / labels.size - porosity

    def above(count):
        if count not in seen:
            seen[count] = image(count)[1]
        return seen[count]

    # The share that the spheres leave is near the porosity of the image.
    low = high = max(1, box.placed(math.inf, porosity)[1])
    step = max(1, high // 64)
    while above(high) > 0 and high < 1e6:
        low, high, step = high, high + step, 2 * step
    while low > 0 and above(low) <= 0:
        low, high, step = max(0, low - step), low, 2 * step
    while high - low > 1 and min(map(abs, seen.values())) > NEAR / 8:
        middle = (low + high) // 2
        low, high = (middle, high) if above(middle) > 0 else (low, middle)
    best = min(seen, key=lambda count: abs(seen[count]))
    if abs(seen[best]) <= NEAR:
        return image(best)[0]
    # The sphere that is one too many, but smaller.
    shrink = [0.0, 1.0]
    for _ in range(12):
        labels, off = image(high, sum(shrink) / 2)
        if abs(off) <= NEAR / 2:
            break
        shrink[off < 0] = sum(shrink) / 2
    return labels


def smooth(grey):
    """Weights 1/4, 1/2, 1/4 along each axis."""
    for axis in range(3):
        grey = 0.5 * grey + 0.25 * (np.roll(grey, 1, axis) + np.roll(grey, -1, axis))
    return grey


def scan(grey, noise, random):
    """Labels of what a scanner sees."""
    seen = smooth(grey) + noise * random.standard_normal(grey.shape)
    return np.digitize(smooth(seen), [0.5 * GRAIN, 0.5 * (GRAIN + DENSE)])


def field(size, porosity, length, tilt, random):
    """Labels [z][y][x]: the lowest values of smoothed noise are pore."""
    values = np.fft.rfftn(random.standard_normal(size[::-1]))
    kz, ky, kx = np.meshgrid(*(2 * np.pi * np.fft.fftfreq(n) for n in (size[2], size[1])), 2 * np.pi * np.fft.rfftfreq(size[0]),
                             indexing="ij", sparse=True)
    c, s = math.cos(math.radians(tilt)), math.sin(math.radians(tilt))
    along = (length[0] * (c * kx + s * ky))**2 + (length[1] * (c * ky - s * kx))**2 + (length[2] * kz)**2
    values = np.fft.irfftn(values * np.exp(-0.5 * along), size[::-1], axes=(0, 1, 2)).ravel()
    labels = np.ones(values.size, dtype=int)
    labels[np.argsort(values, kind="stable")[:round(porosity * values.size)]] = 0
    return labels.reshape(size[::-1])


def write_tiff(path, labels, order):
    """Pages of one strip each, without compression."""
    mark = "<" if order == "little" else ">"
    bits, kind = 8 * labels.itemsize, 2 if labels.dtype.kind == "i" else 1
    nz, ny, nx = labels.shape
    page = nx * ny * labels.itemsize
    room = 2 + 10 * 12 + 4
    with open(path, "wb") as to:
        to.write(struct.pack(mark + "2sHI", b"II" if order == "little" else b"MM", 42, 8))
        for z in range(nz):
            at = to.tell()
            after = at + room + page + page % 2
            entries = [(256, 4, nx), (257, 4, ny), (258, 3, bits), (259, 3, 1), (262, 3, 1), (273, 4, at + room),
                       (277, 3, 1), (278, 4, ny), (279, 4, page), (339, 3, kind)]
            to.write(struct.pack(mark + "H", len(entries)))
            for tag, form, value in entries:
                to.write(struct.pack(mark + ("HHIHxx" if form == 3 else "HHII"), tag, form, 1, value))
            to.write(struct.pack(mark + "I", after if z + 1 < nz else 0))
            to.write(labels[z].tobytes() + b"\0" * (page % 2))


def write(path, labels, given):
    kind = np.dtype(given.type).newbyteorder("<" if given.order == "little" else ">")
    labels = labels.astype(kind)
    end = os.path.splitext(path)[1]
    if end in (".h5", ".hdf5"):
        import h5py  # only needed here
        with h5py.File(path, "w") as to:
            to.create_dataset("labels", data=labels)
    elif end in (".tif", ".tiff"):
        write_tiff(path, labels, given.order)
    else:
        labels.tofile(path)


def main():
    given = arguments()
    random = np.random.default_rng(given.seed)
    if given.kind == "field":
        labels = field(given.size, given.porosity, given.length, given.tilt, random)
    else:
        labels = spheres(np.array(given.size), given.porosity, given.radius, given.dense, given.noise, random)
    labels = np.tile(labels.astype(np.uint8), given.tile[::-1])
    try:
        write(given.file, labels, given)
    except (OSError, ImportError) as failure:
        sys.exit(f"make_rock: {given.file}: {getattr(failure, 'strerror', None) or failure}")
    except struct.error:
        sys.exit(f"make_rock: {given.file}: a TIFF file holds at most 4 GiB (write HDF5 or raw)")
    counts = [np.count_nonzero(labels == k) for k in range(3)]
    if abs(counts[0] / labels.size - given.porosity) > 0.005:
        print(f"make_rock: {given.file}: porosity {counts[0] / labels.size:.4f} instead of {given.porosity:g}: the noise makes pores, or the box is too small",
              file=sys.stderr)
    print(f"{given.file}: {' x '.join(map(str, labels.shape[::-1]))} voxels of {given.type}, {counts[0]} pore, "
          f"{counts[1]} grain, {counts[2]} dense; porosity {counts[0] / labels.size:.4f}")


main()
