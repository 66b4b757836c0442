"""Reading and writing whole files of text, with errors of one line."""
from __future__ import annotations

import json
import os
import stat
from typing import Any, BinaryIO, Callable, Dict, Optional

from .errors import FileError, quoted


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
