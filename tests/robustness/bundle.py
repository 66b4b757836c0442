#!/usr/bin/python3
"""scripts/bundle.sh: what it makes runs from another place, whose name has a space, read-only, with nothing else to be
found: one rank and several, to the same bits, checkpoints too. Neither as linked nor as it runs is any library
taken from outside but glibc's."""
import os
import re
import shutil
import stat
import subprocess

import runs
from runs import ROOT, TAGFLOW, check, tagflow, write

OWN = re.compile(r"(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util)|libcuda|libnvidia-.*)\.so(\..*)?|linux-vdso\.so\.1")
MOST = 90 * 1024 * 1024  # 56.8 MiB were found with kernels for one kind of GPU, which hardly get smaller in the archive: 34.3 MiB


def make(*arguments, env=None, cwd=None):
    done = subprocess.run([ROOT + "/scripts/bundle.sh", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env=None if env is None else os.environ | env, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def elf_files(folder):
    for where, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(where, name)
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def read_only(folder, yes):
    for where, folders, files in os.walk(folder):
        for path in [where] + [os.path.join(where, name) for name in files]:
            mode = os.stat(path).st_mode
            os.chmod(path, mode & ~0o222 if yes else mode | stat.S_IWUSR)


build = os.path.dirname(TAGFLOW)
code, out, err = make("--tgz", "made", build)
if not check(code == 0, f"makes a bundle: {out or err}"):
    runs.finish()
size = sum(os.lstat(os.path.join(where, name)).st_size for where, _, names in os.walk("made") for name in names)
check(size < MOST and "MiB" in out, f"{size / 1048576:.1f} MiB")
check(os.path.getsize("made.tgz") < 0.7 * size, f"{os.path.getsize('made.tgz') / 1048576:.1f} MiB as one file")
os.makedirs("another place")
subprocess.run(["tar", "-xzf", "../made.tgz"], cwd="another place", check=True)
os.rename("another place/made", "another place/tag flow")
shutil.rmtree("made")
os.remove("made.tgz")
bundle = os.path.abspath("another place/tag flow")
for name in ("bin/tagflow", "bin/mpirun", "bin/orted", "README.txt", "LICENSE", "configs/cavity.yaml", "scripts/gpu_suite.sh",
             "scripts/gpu_suite.py", "scripts/validate_gpu.py", "scripts/environment.sh", "scripts/slurm/chain_mpirun.sbatch"):
    check(os.path.isfile(os.path.join(bundle, name)), f"holds {name}")
with open(os.path.join(bundle, "README.txt")) as file:
    needs = re.search(r"glibc (2\.\d+) or newer", file.read())
# What the files ask for is what README.txt says.
asked = set()
for path in elf_files(bundle):
    said = subprocess.run(["readelf", "-V", path], capture_output=True, text=True).stdout
    asked |= {int(n) for n in re.findall(r"Name: GLIBC_2\.(\d+)", said)}
check(needs and needs[1] == f"2.{max(asked)}", f"README.txt asks for glibc {needs and needs[1]}")

# As linked.
libraries = f"{bundle}/lib:{bundle}/lib/tagflow"
outside = set()
for path in elf_files(bundle):
    said = subprocess.run(["ldd", path], capture_output=True, text=True, env={"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": libraries})
    for name, at in re.findall(r"^\s*(\S+) => (.*?)(?: \(0x[0-9a-f]+\))?$", said.stdout, re.M):
        if not OWN.fullmatch(name) and not at.startswith(bundle + "/"):
            outside.add(f"{os.path.basename(path)} takes {name} from {at}")
check(not outside, f"libraries from elsewhere: {sorted(outside)[:5]}")
# Symbols, too: functions of libraries that were replaced.
said = subprocess.run(["ldd", "-r", bundle + "/libexec/tagflow"], capture_output=True, text=True,
                      env={"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": libraries})
check(said.returncode == 0 and "undefined" not in said.stdout + said.stderr and "no version" not in said.stdout + said.stderr,
      "nothing is undefined")

# As it runs: nothing but the bundle can be found.
read_only(bundle, True)
ENV = {"PATH": bundle + "/bin", "HOME": os.getcwd(), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
if not os.path.isdir("/sys/devices/system/cpu"):
    ENV["HWLOC_HIDE_ERRORS"] = "2"


def run(*arguments, ranks=0):
    line = [bundle + "/bin/tagflow", *arguments]
    if ranks:
        line = [bundle + "/bin/mpirun", "-n", str(ranks), "tagflow", *arguments]
    done = subprocess.run(line, env=ENV, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=runs.HANGS)
    return done.returncode, done.stdout, done.stderr


code, out, err = run("info")
check(code == 0 and not err and out == tagflow("info").out, f"info says what the program says: {err[:300]}")
code, out, err = run("selftest")
check(code == 0 and out.count(" ok\n") == 12 and not err, f"selftest: {code} {out[-300:]} {err[:300]}")
code, out, err = run("bench", "--backend", "cpu", "--cells", "8", "--storage", "fp32", "--steps", "2", "--repeat", "1", ranks=2)
check(code == 0 and "2 ranks on 1 host" in out, f"bench: {code} {out[-300:]} {err[:300]}")
os.symlink(bundle + "/bin/tagflow", "by_link")
done = subprocess.run(["./by_link", "--version"], env=ENV | {"PATH": os.environ["PATH"]}, capture_output=True, text=True)
check(done.returncode == 0, f"through a link: {done.stdout or done.stderr}")

for name in "streams", "variants_16", "variants_32", "variants_64":
    if os.path.exists(os.path.join(build, "tests/gpu/variants", name)):
        done = subprocess.run([bundle + "/libexec/" + name, "--cells", "none"], env=ENV, capture_output=True, text=True)
        check(done.returncode == 2 and done.stderr.count("\n") == 1, f"{name} is in it: {done.stderr}")
if os.path.exists(os.path.join(build, "tests/gpu/tagflow_parity")):
    done = subprocess.run([bundle + "/bin/parity", "--list"], env=ENV, capture_output=True, text=True)
    check(done.returncode == 0 and "\nkernel " in done.stdout and not done.stderr, f"parity is in it: {done.stdout[:60]}{done.stderr}")

write("case.yaml", runs.CASE)
said = tagflow("run", "case.yaml", "--output", "plain", "--backend", "cpu")
expected = runs.results("plain") if check(said.code == 0, f"the program itself: {said}") else {}
for ranks in 0, 1, 2, 4:
    code, out, err = run("run", "case.yaml", "--output", f"ranks_{ranks}", "--backend", "cpu", ranks=ranks)
    if check(code == 0, f"{ranks} ranks: {code} {err[:300]}"):
        different = runs.differences(runs.results(f"ranks_{ranks}"), expected)
        check(expected and not different, f"{ranks} ranks: {'the same results' if not different else different}")
    unexpected = [line for line in err.splitlines() if line and "warning" not in line]
    check(not unexpected, f"{ranks} ranks: says nothing else: {unexpected[:3]}")
code, out, err = run("run", "case.yaml", "--output", "two", "--backend", "cpu", "--set", "run.steps=11", ranks=2)
check(code == 0, "two ranks to step 11")
code, out, err = run("run", "case.yaml", "--output", "two", "--backend", "cpu", "--restart", "auto", ranks=4)
check(code == 0 and "goes on from" in out and
      runs.load("two", "report.json")["state_hash"] == expected.get("state_hash"), "four go on from its checkpoint, to the same state")

# What is mapped into the ranks of a run, plugins too.
write("long.yaml", runs.CASE.replace("steps: 20", "steps: 100000000") + "checkpoint: {every: 0}\n")
process = subprocess.Popen([bundle + "/bin/mpirun", "-n", "2", "tagflow", "run", "long.yaml", "--output", "long", "--backend", "cpu",
                            "--set", "output={log: {every: 5}}"], env=ENV, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
for line in process.stdout:
    if line.startswith("step 5 "):
        break
mapped = {}
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        if int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1]) == process.pid or int(pid) == process.pid:
            mapped[pid] = {line.split(None, 5)[5].strip() for line in open(f"/proc/{pid}/maps") if line.count("/") and ".so" in line}
    except (OSError, IndexError):
        pass
process.kill()
for pid in mapped:
    try:
        os.kill(int(pid), 9)
    except ProcessLookupError:
        pass
process.stdout.read()
process.wait()
outside = {path for paths in mapped.values() for path in paths if not path.startswith(bundle + "/") and
           not OWN.fullmatch(os.path.basename(path))}
plugins = {os.path.basename(path) for paths in mapped.values() for path in paths if "/openmpi3/" in path}
check(len(mapped) == 3 and len(plugins) > 10 and "mca_pml_ob1.so" in plugins and not outside,
      f"mpirun and 2 ranks, {len(plugins)} plugins, of others: {sorted(outside)}")
read_only(bundle, False)

# The GPU suite, from the bundle.
done = subprocess.run([bundle + "/scripts/gpu_suite.sh", "--backend", "cpu", "--quick", "--stages", "info,restart", "--out", "suite"],
                      capture_output=True, text=True, stdin=subprocess.DEVNULL)
check(done.returncode == 0 and runs.load("suite", "gpu_suite.json")["program"] == bundle + "/bin/tagflow",
      f"the suite runs from it: {done.stdout[-300:] if done.returncode else 'passed'}")

# What is no bundle.
os.makedirs("empty")
os.makedirs("full")
write("full/file", "")
write("file", "")
os.makedirs("halved")
os.symlink(TAGFLOW, "halved/tagflow")
# A machine without a tool that it takes.
os.makedirs("tools")
for tool in ("bash", "dirname", "ls", "uname", "sh", "rm", "mktemp", "mkdir"):
    os.symlink(shutil.which(tool), "tools/" + tool)
for arguments, env, want, words in [((), None, 2, "usage"), (("a", "b", "c"), None, 2, "usage"), (("",), None, 2, "usage"), (("--tgz",), None, 2, "usage"),
                                    (("new", "nowhere"), None, 2, "no build folder nowhere"), (("new", "empty"), None, 2, "no tagflow in empty"),
                                    (("full", build), None, 2, "full is not empty"), (("file", build), None, 2, "file is not a folder"),
                                    (("/proc/new", build), None, 1, "cannot make /proc/new"),
                                    (("new", build), {"PATH": os.getcwd() + "/tools"}, 1, "needs readelf")]:
    code, out, err = make(*arguments, env=env)
    check(code == want and len(err.splitlines()) == 1 and err.startswith("bundle: ") and words in err and not os.path.exists("new"),
          f"{' '.join(arguments)}: {code}, {err.strip()}")
check(os.listdir("full") == ["file"], "what was in the folder stays")

runs.finish()
