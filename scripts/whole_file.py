"""Files that are whole or not there."""
import os


def write_whole(path, write):
    """write(name) writes a temporary file, which then gets this path."""
    temporary = path + ".tmp"
    try:
        write(temporary)
        os.rename(temporary, path)
    finally:
        if os.path.lexists(temporary):
            os.remove(temporary)
