"""Reading and writing whole files of text, with errors of one line; the trailers of snapshots."""
from __future__ import annotations

import json
import os
import re
import stat
from typing import Any, BinaryIO, Callable, Dict, Optional

import numpy

from .errors import FileError, quoted

TRAILER = 48  # bytes


def reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error) or "cannot be read"


def open_regular(path: str) -> BinaryIO:
    """Opens a regular file, or one that a link leads to. OSError; FileError for a FIFO, a device or a socket: opening a FIFO
    waits for its other end, reading a device may never end."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise FileError(f"{quoted(path)} is no regular file")
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


def read_bytes(path: str) -> bytes:
    """The bytes of a regular file. Errors are those of open_regular()."""
    with open_regular(path) as file:
        try:
            return file.read()
        except MemoryError:
            raise FileError(f"{quoted(path)} does not fit into the memory") from None


def _words(block: bytes, first: int) -> int:
    """What these bytes add to the sum of a trailer (src/io/trailer.h); first: the number of their first 32-bit word."""
    words = numpy.frombuffer(block + b"\0" * (-len(block) % 4), dtype="<u4").astype(numpy.uint64)
    factor = numpy.arange(first, first + len(words), dtype=numpy.uint64) + numpy.uint64(0x9e3779b97f4a7c15)
    for shift, times in ((30, 0xbf58476d1ce4e5b9), (27, 0x94d049bb133111eb)):
        factor = (factor ^ factor >> numpy.uint64(shift)) * numpy.uint64(times)
    factor = (factor ^ factor >> numpy.uint64(31)) | numpy.uint64(1)
    return int((words * factor).sum(dtype=numpy.uint64))


def check_trailer(path: str, most: Optional[int] = None) -> None:
    """FileError if a byte of a snapshot is not as tagflow wrote it. A file of more than `most` bytes is not looked at, nor one
    that another program wrote or changed: it has no trailer."""
    with open_regular(path) as file:
        size, head = os.fstat(file.fileno()).st_size, file.read(48)
        if size < 48 or not head.startswith(b"\x89HDF\r\n\x1a\n") or (most is not None and size > most):
            return
        file.seek(size - TRAILER)
        said = re.fullmatch(rb"\ntagflow ([0-9]{21}) ([0-9a-f]{16})\n", file.read(TRAILER))
        if not said and (head[8] != 0 or not 48 <= int.from_bytes(head[40:48], "little") < size):
            return
        file.seek(0)
        left, place, total = int(said[1]) if said else 0, 0, 0
        while left > 0:
            block = file.read(min(left, 1 << 18))
            if not block:
                break
            total += _words(block, place // 4)
            place, left = place + len(block), left - len(block)
        if not said or place != size - TRAILER or total % 2**64 != int(said[2], 16):
            raise FileError(f"{quoted(path)} is damaged: its bytes are not as tagflow wrote them")


def read_text(path: str, missing: Optional[str] = None) -> Optional[str]:
    """The text of a file. There is no such file: an error that ends in `missing`, or None if `missing` is None."""
    try:
        return read_bytes(path).decode("utf-8", "replace").replace("\r\n", "\n")
    except FileNotFoundError:
        if missing is None:
            return None
        raise FileError(f"{quoted(path)}: there is no such file{missing}") from None
    except OSError as error:
        raise FileError(f"{quoted(path)}: {reason(error)}") from None


def read_json(path: str, missing: Optional[str] = None) -> Dict[str, Any]:
    """The object in a JSON file; {} if there is no such file and `missing` is None."""
    text = read_text(path, missing)
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise FileError(f"{quoted(path)} is damaged: it is no JSON") from None
    if not isinstance(found, dict):
        raise FileError(f"{quoted(path)} is damaged: it is no JSON object")
    return found


def write_whole(path: str, write: Callable[[str], object]) -> None:
    """write(name) writes a temporary file, which then gets this path: the file is whole or not there."""
    temporary = path + ".tmp"
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        if os.path.lexists(temporary):
            os.remove(temporary)


def write_text(path: str, text: str) -> None:
    """Writes a whole file of text."""

    def write(name: str) -> None:
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    write_whole(path, write)
