#!/usr/bin/python3
"""scripts/wheel.sh: the wheel holds what it needs, pip installs it into an empty environment, and what it holds runs there.

    tests/robustness/wheel.py BUILD
"""
import base64
import csv
import glob
import hashlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile

import runs
from runs import MPIRUN, ROOT, check, tagflow, write

BUILD = sys.argv[1]
SCRIPT = ROOT + "/scripts/wheel.sh"
# What a wheel takes of the machine: glibc, libstdc++, zlib, and MPI with its libraries.
MACHINE = re.compile(r"(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libutil|libstdc\+\+|libgcc_s|libz|libmpi|libmpich|libopen-\w+)\.so.*")
# As a user has it: nothing of the tests, nothing of the sources.
ENV = {name: value for name, value in os.environ.items() if not name.startswith(("TAGFLOW", "LD_PRELOAD", "PYTHON"))}

for module in ("venv", "ensurepip"):
    if importlib.util.find_spec(module) is None:
        runs.skip(f"no Python module {module} (python3-venv)")
if not shutil.which("readelf") or not shutil.which("cc"):
    runs.skip("needs readelf and cc")


def call(*line, env=None):
    return subprocess.run(line, capture_output=True, text=True, timeout=runs.HANGS, stdin=subprocess.DEVNULL, env=ENV if env is None else env)


for arguments, code, words in ((("a", "b", "c"), 2, "usage"), (("",), 2, "usage"), (("nowhere", BUILD), 2, "nowhere is not a folder"),
                               ((".", "nowhere"), 2, "no build folder nowhere"), ((".", "."), 2, "there is no tagflow in .")):
    said = call(SCRIPT, *arguments)
    check(said.returncode == code and said.stderr.startswith("wheel: ") and words in said.stderr and said.stderr.count("\n") == 1 and not glob.glob("*.whl*"),
          f"{' '.join(arguments)}: {said.returncode}, {said.stderr.strip()}")

said = call(SCRIPT, ".", BUILD)
if not check(said.returncode == 0 and not said.stderr and len(glob.glob("*.whl")) == 1, f"it is made: {said.stdout.strip()} {said.stderr[-300:]}"):
    runs.finish()
[path] = glob.glob("*.whl")
with zipfile.ZipFile(path) as wheel:
    content = {name: wheel.read(name) for name in wheel.namelist()}
[info] = {name.split("/")[0] for name in content if ".dist-info/" in name}
record = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(content[info + "/RECORD"].decode()))}
digest = {name: "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for name, data in content.items()}
check(record.keys() == content.keys() and all(record[name] == (digest[name], str(len(data))) for name, data in content.items() if name != info + "/RECORD"),
      f"RECORD has all {len(record)} files")
sources = {"tagflow/" + name for name in os.listdir(ROOT + "/python/src/tagflow") if name.endswith((".py", ".typed"))}
check(sources == {name for name in content if name.startswith("tagflow/") and "/lib/" not in name}, "the whole package")
check(sum(name.startswith(info + "/licenses/") for name in content) > 5, "licences of what was copied")
shutil.move(path, "first")
call(SCRIPT, ".", BUILD)
with open("first", "rb") as one, open(path, "rb") as other:
    check(one.read() == other.read(), "it is made again with the same bytes")

# Into an environment that has the machine's numpy and h5py and nothing else.
said = call("/usr/bin/python3", "-m", "venv", "--system-site-packages", "venv")
said = call("venv/bin/pip", "install", "--no-index", "--no-deps", path)
if not check(said.returncode == 0, f"pip installs it: {said.stdout[-200:]} {said.stderr[-300:]}"):
    runs.finish()
os.remove(path)
[package] = glob.glob("venv/lib/python3*/site-packages/tagflow")
package = os.path.abspath(package)
outside = set()
for name in os.listdir(package + "/lib"):
    said = call("readelf", "-d", f"{package}/lib/{name}")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said.stdout)
    outside |= {need for need in needed if not MACHINE.fullmatch(need) and not os.path.exists(f"{package}/lib/{need}")}
    if name.startswith("lib") and name != "libtagflow.so.1":
        outside.add(name + ", whose name others have")
check(not outside, f"libraries that are neither in it nor the machine's: {sorted(outside)}")

BIN = ENV | {"PATH": os.path.abspath("venv/bin") + ":" + ENV["PATH"]}
write("case.yaml", runs.CASE)
said = tagflow("run", "case.yaml", "--output", "plain", "--backend", "cpu")
expected = runs.results("plain") if check(said.code == 0, f"the program itself: {said}") else {}
for ranks in 0, 2:
    said = call(*([MPIRUN, "-n", str(ranks)] if ranks else []), "venv/bin/tagflow", "run", "case.yaml", "--output", f"ranks_{ranks}", "--backend", "cpu", env=BIN)
    check(said.returncode == 0 and not runs.differences(runs.results(f"ranks_{ranks}"), expected), f"its program on {ranks or 1} ranks: the same results {said.stderr[-300:]}")
said = call("venv/bin/tagflow", "bench", "--backend", "cpu", "--cells", "8", "--storage", "fp32", "--steps", "2", "--repeat", "1", env=BIN)
check(said.returncode == 0 and " 8^3 " in said.stdout, f"bench: {said.stderr[-300:]}")
write("inside.py", f"""
import os
import tagflow
with tagflow.Simulation("case.yaml", backend="cpu") as flow:
    flow.advance()
    os.write(1, (flow.state_hash + "\\n").encode())
import ctypes, hashlib, lzma, ssl  # other packages get the machine's libraries, not the wheel's
assert ssl.OPENSSL_VERSION and lzma.decompress(lzma.compress(b"a")) == b"a"
import h5py
assert tagflow.find_program() == [{package!r} + "/lib/tagflow"] or "venv" in tagflow.find_program()[0]
assert h5py.version.hdf5_version
""")
for ranks in 0, 2:
    said = call(*([MPIRUN, "-n", str(ranks)] if ranks else []), "venv/bin/python", "inside.py")
    check(said.returncode == 0 and said.stdout.split() == [expected["state_hash"]] * (ranks or 1), f"in process on {ranks or 1} ranks: {said.stdout.split()} {said.stderr[-600:]}")
runs.finish()
