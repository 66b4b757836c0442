"""What `tagflow bench --json FILE` wrote, read and checked, for the scripts beside this one.

Only Python's standard library.
"""
import json
import math
import os

from command_line import Wrong, quoted

FORMAT = 1
POPULATION_BYTES = {"fp16": 2, "fp32": 4, "fp64": 8}
# What tells rows apart, ranks and threads of the whole file besides.
ROW_KEY = ("case", "cells", "collision", "storage", "arithmetic")


def whole(value, least=1):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 1 << 62


def number(value, least=0.0):
    """A finite number above `least`? No measured rate is 0."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300 and \
        math.isfinite(value) and value > least


def _constant(text):
    raise ValueError(f"{text} is no number that JSON has")


def load(path):
    """The object in a JSON file; Wrong, in one line, when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file, parse_constant=_constant)
    except OSError as error:
        raise Wrong(f"{quoted(path)}: {os.strerror(error.errno)}") from None
    except (ValueError, RecursionError) as error:
        raise Wrong(f"{quoted(path)} is no JSON file: {quoted(error)}") from None
    if not isinstance(found, dict):
        raise Wrong(f"{quoted(path)} is not what tagflow bench --json writes")
    return found


def _spread(row, name, where, wanted=True):
    """Checks {median, least, most}, and `all` if it is there."""
    values = row.get(name)
    if values is None and not wanted:
        return
    if not isinstance(values, dict) or not all(number(values.get(key)) for key in ("least", "median", "most")):
        raise Wrong(f"{where}: {name} has no median, least and most above 0")
    if not values["least"] <= values["median"] <= values["most"]:
        raise Wrong(f"{where}: the median of {name} is not between least and most")
    every = values.get("all", [])
    if not isinstance(every, list) or not all(map(number, every)):
        raise Wrong(f"{where}: {name}: all is no list of numbers above 0")


def ceiling_of(row):
    """MLUPS of the ceiling beside a row, {median, least, most}; None without one."""
    return row["ceiling"].get("mlups") if row.get("ceiling") else None


def _check_row(row, where):
    if not isinstance(row, dict) or not isinstance(row.get("case"), str) or not isinstance(row.get("verified"), bool):
        raise Wrong(f"{where}: no case, or not said whether it is verified")
    if not row["verified"]:
        return
    for name in ROW_KEY:
        if name != "cells" and not isinstance(row.get(name), str):
            raise Wrong(f"{where}: no {name}")
    cells = row.get("cells")
    if not isinstance(cells, list) or len(cells) != 3 or not all(map(whole, cells)):
        raise Wrong(f"{where}: cells is not [nx, ny, nz]")
    cut = row.get("cut", [1, 1, 1])
    if not isinstance(cut, list) or len(cut) != 3 or not all(map(whole, cut)):
        raise Wrong(f"{where}: cut is not [px, py, pz]")
    _spread(row, "mlups", where)
    _spread(row, "mflups", where)
    _spread(row, "share", where, wanted=False)
    if not number(row.get("bytes_per_update")):
        raise Wrong(f"{where}: no bytes_per_update")
    if row.get("ceiling") is not None:
        if not isinstance(row["ceiling"], dict):
            raise Wrong(f"{where}: ceiling is no object")
        _spread(row["ceiling"], "mlups", where + ", ceiling")
    phases = row.get("phases") or {}
    rock = row.get("rock")
    if rock is not None and (not isinstance(rock, dict) or not all(number(rock.get(key)) for key in ("porosity_asked", "radius"))):
        raise Wrong(f"{where}: rock has no porosity_asked and radius")
    if not isinstance(phases, dict) or not all(value is None or value == 0 or number(value) for value in phases.values()):
        raise Wrong(f"{where}: phases are no numbers")


def read(path):
    """The file's object, checked as far as the scripts use it; Wrong when it is none of ours or damaged."""
    return checked(load(path), path)


def checked(bench, path):
    """The same of an object; path: for messages."""
    if bench.get("tagflow") != "bench":
        raise Wrong(f"{quoted(path)} is not what tagflow bench --json writes")
    if bench.get("format") != FORMAT:
        raise Wrong(f"{quoted(path)}: format {quoted(bench.get('format'))}; this script reads format {FORMAT}")
    for name in ("ranks", "threads"):
        if not whole(bench.get(name)):
            raise Wrong(f"{quoted(path)}: {name} is not how many there were")
    rows = bench.get("rows")
    if not isinstance(rows, list) or not rows:
        raise Wrong(f"{quoted(path)} has no rows")
    for k, row in enumerate(rows):
        _check_row(row, f"{quoted(path)}: row {k + 1}")
    return bench


def key_of(bench, row):
    """What a row measured, to find it in another file: hashable, the same for the same work."""
    return tuple(str(row.get(name)) for name in ROW_KEY) + (rock_text(row), bench["ranks"], bench["threads"])


def rows_by_key(bench, path):
    """{key: row}"""
    found = {}
    for row in bench["rows"]:
        key = key_of(bench, row)
        if key in found:
            raise Wrong(f"{quoted(path)} has two rows of {name_of(bench, row)}")
        found[key] = row
    return found


def cells_text(cells):
    """'128^3' or '128x64x64'; '?' of a row that failed before it had any."""
    if not isinstance(cells, list) or len(cells) != 3:
        return "?"
    return f"{cells[0]}^3" if len(set(map(str, cells))) == 1 else "x".join(map(str, cells))


def precision_text(row):
    """Storage, and arithmetic where it is another."""
    storage, arithmetic = row.get("storage", "?"), row.get("arithmetic", "?")
    return storage if storage == arithmetic else f"{storage}/{arithmetic}"


def rock_text(row):
    """What rock it was to be; '' of a row without one."""
    rock = row.get("rock")
    return f"of porosity {rock.get('porosity_asked')}, radius {rock.get('radius')}" if isinstance(rock, dict) else ""


def name_of(bench, row):
    """A row in words; on how many ranks and threads where that is more than one."""
    words = [row["case"], *filter(None, [rock_text(row)]), cells_text(row.get("cells")), row.get("collision", "?"), precision_text(row)]
    words += [f"{bench[what]} {what}" for what in ("ranks", "threads") if bench[what] > 1]
    return quoted(" ".join(map(str, words)))
