"""Checkpoints taken apart and put together again: where what lies in one, and a valid seal after an edit.

    with edited(path) as file:                  # h5py.File, to be changed at will
        file.attrs["step"] = 7
    set_population(path, x, y, z, i, value)     # one stored value, with the state hash that follows
    reseal(path, format=2)                      # only the seal

Damage is found by checksums. What is to be found by other means, a NaN or a wrong key, gets past them so.
"""
import contextlib
import os

import h5py
import numpy
import xxhash

BLOCK = 4096
MASK = (1 << 64) - 1


def mix(x):
    """The finaliser of splitmix64, as in the state hash."""
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def _cells(file):
    """{name: dataset} of the arrays in cells and then in numbers."""
    found = {}
    for group in "cells", "numbers":
        if group in file:
            file[group].visititems(lambda name, what: found.update({f"{group}/{name}": what})
                                   if isinstance(what, h5py.Dataset) else None)
    return found


def regions(path):
    """{name: [(offset, bytes), ..]}: everything in the file, each byte in one region."""
    size = os.path.getsize(path)
    with h5py.File(path) as file, open(path, "rb") as raw:
        text = len(raw.read(BLOCK).rstrip(b"\0"))
        sets = _cells(file)
        sets |= {"checksums/" + name[len("cells/"):]: file["checksums/" + name[len("cells/"):]]
                 for name in sets if name.startswith("cells/")}
        places = sorted((s.id.get_offset(), s.id.get_storage_size(), name) for name, s in sets.items())
    found = {"seal": [(0, text)], "behind the seal": [(text, BLOCK - text)], "superblock": [(BLOCK, 96)]}
    done = BLOCK + 96
    for offset, length, name in places:
        kind = name if name.startswith("cells/") else name.split("/")[0]
        if offset > done:
            found.setdefault("metadata", []).append((done, offset - done))
        found.setdefault(kind, []).append((offset, length))
        done = offset + length
    if size > done:
        found.setdefault("metadata", []).append((done, size - done))
    assert sum(length for parts in found.values() for _, length in parts) == size
    return found


def reseal(path, kind="checkpoint", format=1):
    """Checksums of all planes, and the seal, of what the file holds now."""
    with h5py.File(path, "r+") as file:
        spans = []
        for name, data in _cells(file).items():
            if not name.startswith("cells/"):
                continue
            sums = numpy.array([[xxhash.xxh3_64_intdigest(numpy.ascontiguousarray(part).tobytes()) for part in plane]
                                for plane in data[...]], dtype=numpy.uint64)
            file["checksums/" + name[len("cells/"):]][...] = sums
            spans.append((data.id.get_offset(), data.id.get_storage_size()))
    with open(path, "r+b") as raw:
        whole = raw.read()
        rest, done = xxhash.xxh3_64(), BLOCK
        for offset, length in sorted(spans) + [(len(whole), 0)]:
            rest.update(whole[done:offset])
            done = offset + length
        lines = f"tagflow {kind}\nformat {format}\nbytes {len(whole)}\n"
        lines += "".join(f"apart {offset} {length}\n" for offset, length in sorted(spans))
        lines += f"rest {rest.hexdigest()}\n"
        lines += f"seal {xxhash.xxh3_64(lines.encode()).hexdigest()}\n"
        raw.seek(0)
        raw.write(lines.encode().ljust(BLOCK, b"\0"))


@contextlib.contextmanager
def edited(path, **seal):
    with h5py.File(path, "r+") as file:
        yield file
    reseal(path, **seal)


def set_population(path, x, y, z, i, value):
    """Sets the stored f_i - w_i of a fluid cell."""
    with edited(path) as file:
        data = file["cells/populations"]
        nz, _, ny, nx = data.shape
        bits = "<u4" if data.dtype.itemsize == 4 else "<u8"
        key = mix(19 * ((z * ny + y) * nx + x) + i + 1)
        state = int(file.attrs["state_hash"], 16) - mix(int(data[z, i, y, x].view(bits)) ^ key)
        data[z, i, y, x] = value
        state += mix(int(data[z, i, y, x].view(bits)) ^ key)
        file.attrs.modify("state_hash", numpy.bytes_(f"{state & MASK:016x}"))
