"""Changes by chance of the files of a run, for tests that read them: change_*(chance, path) changes the file and says how.

chance: a random.Random. Files may be changed in any way: bytes, words of a text, values of JSON, attributes and arrays of HDF5, or
something else is in their place.
"""
import json
import math
import os
import shutil

import h5py
import numpy

ODD = [None, True, "", "x" * 70, "\x1b[2J\n", [], {}, [1, [2]], {"a": {"b": None}}, -1, 0, 1e308, -1e308, 10**400, 2**63, 0.5, math.nan, math.inf, "1e999"]
WORDS = ["", "nan", "inf", "-1", "1e999", "9" * 400, "[", "{", "]}", "x: y: z", "~", "\t", "\x00", "- 1", "&a *a", "'", '"', ",,,", "1_000", "0x10", "é"]


def walk(value, place=()):
    """Places of all values below an object of JSON."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield place + (key,)
        yield from walk(value[key], place + (key,))


def change_json(chance, path):
    with open(path) as file:
        root = json.load(file)
    place = chance.choice(list(walk(root)))
    at = root
    for key in place[:-1]:
        at = at[key]
    if chance.random() < 0.2:
        del at[place[-1]]
        what = "gone"
    else:
        at[place[-1]] = chance.choice(ODD)
        what = repr(at[place[-1]])[:40]
    with open(path, "w") as file:
        json.dump(root, file)
    return f"{place} {what}"


def change_words(chance, path):
    """A word, a number, a separator of a text becomes another one."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    ends = sorted(chance.sample(range(len(text) + 1), 2))
    start = chance.randrange(len(text))
    size = chance.choice([0, 1, 1, 3, 8, ends[1] - ends[0]])
    word = chance.choice(WORDS)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:start] + word + text[start + size:])
    return f"{size} characters at {start} become {word[:20]!r}"


def change_hdf5(chance, path):
    """An attribute, a dataset is changed, removed or of another type. The trailer is gone then, or of other bytes."""
    with h5py.File(path, "r+") as file:
        things = [file]
        file.visititems(lambda name, thing: things.append(thing))
        thing = chance.choice(things)
        value = chance.choice([numpy.array([], "f8"), numpy.array([1, 2, 3, 4, 5, 6, 7], "i8"), numpy.float64(1e308), numpy.int64(-1), numpy.int64(2**62), "text",
                               numpy.bytes_(b"\xff\xfe"), numpy.nan, numpy.full(6, 2**40), numpy.full(3, -2**31), numpy.zeros((2, 3)), h5py.Empty("f4")])
        if len(thing.attrs) and (chance.random() < 0.7 or not thing.name.strip("/")):
            name = chance.choice(sorted(thing.attrs))
            del thing.attrs[name]
            if chance.random() < 0.8:
                thing.attrs[name] = value
            return f"attribute {name} of {thing.name}: {value!r:.60}"
        name = thing.name
        if name.strip("/"):
            del file[name]
            if chance.random() < 0.8:
                file[name] = value
        return f"{name}: {value!r:.60}"


def change_bytes(chance, path):
    size = os.path.getsize(path)
    what = chance.choice(["flip", "flips", "cut", "random", "append", "empty", "zeros"])
    with open(path, "r+b") as file:
        if what in ("flip", "flips"):
            for _ in range(1 if what == "flip" else 20):
                at = chance.choice([chance.randrange(size), chance.randrange(min(size, 4096))])
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1 << chance.randrange(8)]))
        elif what == "cut":
            file.truncate(chance.randrange(size))
        elif what == "random":
            file.write(chance.randbytes(min(size, 100000)))
        elif what == "append":
            file.seek(size)
            file.write(chance.randbytes(chance.choice([1, 48, 5000])))
        elif what == "zeros":
            file.write(bytes(min(size, 512)))
        else:
            file.truncate(0)
    return what


def change_place(chance, path):
    """Something else is where a file or a folder was."""
    what = chance.choice(["gone", "FIFO", "device", "loop", "folder", "nowhere", "huge", "socket"])
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    if what == "FIFO":
        os.mkfifo(path)
    elif what == "device":
        os.symlink("/dev/zero", path)
    elif what == "loop":
        os.symlink(os.path.basename(path), path)
    elif what == "folder":
        os.mkdir(path)
    elif what == "nowhere":
        os.symlink("nowhere", path)
    elif what == "huge":
        with open(path, "wb") as file:
            file.truncate(1 << 40)
    elif what == "socket":
        os.mknod(path, 0o140644)
    return what
