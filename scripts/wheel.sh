#!/bin/bash
# Makes a wheel for Python: the package tagflow with the library, the program and the libraries that they need, for
# `pip install`. Of the machine it takes glibc, libstdc++, zlib and the MPI with which it was built (Debian: openmpi-bin).
#   scripts/wheel.sh [FOLDER] [BUILD]
# The wheel is written to FOLDER, by default the present one. BUILD is a build folder, by default build, build-all or
# build-test.
# Exit status: 1 the machine failed, 2 wrong usage.
set -euo pipefail
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac

. "$(dirname -- "$0")/libraries.sh"
[ $# -le 2 ] || say_no 2 "usage: scripts/wheel.sh [FOLDER] [BUILD]"
case ${1-.} in '' | -*) say_no 2 "usage: scripts/wheel.sh [FOLDER] [BUILD]" ;; esac
folder=${1-.}
library=src/lib/libtagflow.so.1
find_build "${2-}" tagflow tagflow-bench $library
library=$build/$library
[ -d "$folder" ] || say_no 2 "$folder is not a folder"
needs readelf ldd strip nm cc "binutils, gcc"

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
# Of the machine: MPI, because it belongs to the launcher; what Python's other packages have, too.
is_there() {
    case $1 in
    libmpi.so.* | libmpich.so.* | libopen-* | libpmi* | libstdc++.so.* | libgcc_s.so.* | libz.so.*) return 0 ;;
    esac
    [ -e "$2/$1" ]
}

package=$work/wheel/tagflow
mkdir -p "$package/lib" "$work/licenses"
cp "$here/python/src/tagflow/"*.py "$here/python/src/tagflow/py.typed" "$package/"
install -m 755 "$build/tagflow" "$build/tagflow-bench" "$library" "$package/lib/"
strip --strip-unneeded "$package/lib/"*
: >"$work/origins"
add_libraries "$package/lib" "$build/tagflow" "$library"
copy_licences "$work/licenses"

/usr/bin/python3 - "$here" "$work" "$folder" <<'END'
"""Makes the libraries find each other, and packs the wheel."""
import base64
import hashlib
import os
import platform
import re
import struct
import sys
import sysconfig
import zipfile

here, work, folder = sys.argv[1:]
package = os.path.join(work, "wheel", "tagflow")


def text_of(*path):
    with open(os.path.join(here, *path), encoding="utf-8") as file:
        return file.read()


class Library:
    """A 64-bit ELF file: its dynamic section and the strings of it."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        self.order = "<" if self.data[5] == 1 else ">"
        start, (size, count) = self.unpack("Q", 32)[0], self.unpack("HH", 54)
        self.headers = [self.unpack("IIQQQQQQ", start + k * size) for k in range(count)]
        self.entries = []  # place, tag, value
        _, _, at, *_ = next(h for h in self.headers if h[0] == 2)  # the dynamic section
        while not self.entries or self.entries[-1][1]:
            self.entries.append((at, *self.unpack("QQ", at)))
            at += 16
        self.strings = self.place_of(self.value_of(5))

    def unpack(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)

    def value_of(self, tag):
        return next((value for _, kind, value in self.entries if kind == tag), None)

    def place_of(self, address):
        load = next(h for h in self.headers if h[0] == 1 and h[3] <= address < h[3] + h[5])
        return address - load[3] + load[2]

    def put(self, offset, text):
        """Replaces a string, by one that is not longer."""
        place = self.strings + offset
        end = self.data.index(0, place)
        if len(text) > end - place:
            sys.exit(f"wheel: {self.path}: no room for {text} in place of {self.data[place:end]}")
        self.data[place:end] = text.encode().ljust(end - place, b"\0")

    def rename(self, names):
        """Its name and those of what it needs. Names of the versions that it needs are the same strings."""
        for _, tag, offset in self.entries:
            if tag in (1, 14):  # needed, own name
                place = self.strings + offset
                name = self.data[place:self.data.index(0, place)].decode()
                if name in names:
                    self.put(offset, names[name])

    def look_beside(self):
        """It, and what it needs, looks for libraries in its own folder: the RUNPATH of the linker becomes an RPATH."""
        at, _, offset = next((e for e in self.entries if e[1] in (15, 29)), None) or sys.exit(f"wheel: {self.path} has no RUNPATH")
        self.put(offset, "$ORIGIN")
        struct.pack_into(self.order + "Q", self.data, at, 15)

    def write(self):
        with open(self.path, "wb") as file:
            file.write(self.data)


# Copied libraries get names of their own: the process has others of the same names, perhaps of another version.
OURS = ("tagflow", "tagflow-bench", "libtagflow.so.1")
libraries = os.path.join(package, "lib")
names = {name: "ltf" + name[3:] for name in os.listdir(libraries) if name not in OURS}
for name in os.listdir(libraries):
    library = Library(os.path.join(libraries, name))
    library.rename(names)
    if name in OURS:
        library.look_beside()
    library.write()
for name, other in names.items():
    os.rename(os.path.join(libraries, name), os.path.join(libraries, other))

version = re.search(r'__version__ = "(.*)"', text_of("python", "src", "tagflow", "_version.py"))[1]
project = text_of("python", "pyproject.toml")
needs = re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*)\]", project, re.M)[1])
tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
metadata = f"""\
Metadata-Version: 2.1
Name: tagflow
Version: {version}
Summary: {re.search(r'^description = "(.*)"', project, re.M)[1]}, in this process too
License: BSD-3-Clause
Platform: {platform.system()}
Requires-Python: {re.search(r'^requires-python = "(.*)"', project, re.M)[1]}
{"".join(f"Requires-Dist: {name}" + chr(10) for name in needs)}\
Requires-External: openmpi-bin
Description-Content-Type: text/markdown

{text_of("python", "README.md")}"""
# pip writes its Python into the first line. exec keeps the process, so that mpirun has the rank that it started.
start = """\
#!python
import os
import sys

import tagflow

program = os.path.join(os.path.dirname(tagflow.__file__), "lib", "{0}")
os.execv(program, [program, *sys.argv[1:]])
"""
info, data = f"tagflow-{version}.dist-info", f"tagflow-{version}.data"
files = [(f"tagflow/{os.path.relpath(os.path.join(where, name), package)}", os.path.join(where, name), 0)
         for where, _, names in os.walk(package) for name in names]
files += [(f"{info}/licenses/{name}", os.path.join(work, "licenses", name), 0) for name in os.listdir(os.path.join(work, "licenses"))]
files += [(f"{info}/licenses/LICENSE", os.path.join(here, "LICENSE"), 0)]
texts = [(f"{data}/scripts/{name}", start.format(name), 0o755) for name in ("tagflow", "tagflow-bench")]
texts += [(f"{info}/METADATA", metadata, 0o644), (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: tagflow\nRoot-Is-Purelib: false\nTag: {tag}\n", 0o644)]
record = []
path = os.path.join(folder, f"tagflow-{version}-{tag}.whl")
try:
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))  # the same files give the same wheel
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}\n")

        for name, source, _ in sorted(files):
            with open(source, "rb") as file:
                content = file.read()
            add(name, content, 0o755 if os.access(source, os.X_OK) else 0o644)
        for name, text, mode in texts:
            add(name, text.encode(), mode)
        entry = zipfile.ZipInfo(f"{info}/RECORD", (2000, 1, 1, 0, 0, 0))
        entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
        wheel.writestr(entry, "".join(record) + f"{info}/RECORD,,\n")
    os.replace(path + ".part", path)
except OSError as error:
    sys.exit(f"wheel: cannot write {path}: {error.strerror}")
print(f"wheel: {path}, {os.path.getsize(path) / 2**20:.1f} MiB")
END
