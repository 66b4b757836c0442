"""Hosts on one machine, made of namespaces: each has its own network, addresses, host name, /dev/shm and System V shared
memory; they share the disk. Their links (veth) meet in a bridge that exists in a network of its own: nothing reaches the
machine's interfaces, and nothing is left when the test ends in any way, because all processes are in one process
namespace whose first process is the test.

    import cluster
    cluster.enter()  # starts the test again in there, or skips it with a reason
    import runs      # only now: it makes the temporary folder
    hosts = cluster.Cluster(3)

Open MPI starts its daemons on other hosts by a launch agent of three lines (AGENT) in place of ssh.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

INSIDE = "TAGFLOW_TEST_HOSTS"
NEEDED = ["unshare", "nsenter", "setpriv", "ip", "mount", "hostname", "mpirun"]
NAMESPACES = ["--net", "--uts", "--ipc", "--mount"]
SHARED = "/srv"  # the test's folder, under one name on all hosts
# mpirun: AGENT HOST COMMAND. It does as ssh does: it stays on the host of mpirun; answers 255 if the other one is down (has
# no file); and does not notice when that one dies.
AGENT = """\
#!/bin/sh
read -r pid <"/srv/.hosts/$1" || exit 255
shift
nsenter --target "$pid" --net --uts --ipc --mount --wd=/srv -- sh -c "$*"
status=$?
[ $status = 137 ] && exec setpriv --pdeathsig KILL sleep infinity
exit $status
"""
# Messages between hosts by TCP on their link, and nothing but shared memory within a host.
MCA = {"pml": "ob1", "btl": "self,vader,tcp", "btl_tcp_if_include": "eth0", "oob_tcp_if_include": "eth0",
       "plm_rsh_agent": SHARED + "/.hosts/agent"}


def _skip(why):
    print("skipped: " + why)
    sys.exit(77)


def enter():
    """Goes on in namespaces of its own, as their first process."""
    if INSIDE in os.environ:
        return
    if os.getuid() != 0:
        _skip("only root may make hosts of namespaces")
    for name in NEEDED:
        if not shutil.which(name):
            _skip(f"there is no program {name}")
    line = ["unshare", *NAMESPACES, "--pid", "--fork", "--kill-child", "--mount-proc"]
    # A trial, with all that the hosts need.
    script = f"ip link add v0 type veth peer name v1 && ip link add br0 type bridge && ip link set v0 master br0 up && mount -t tmpfs none {SHARED}"
    tried = subprocess.run(line + ["sh", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if tried.returncode:
        _skip("no namespaces with a network: " + " ".join(tried.stderr.split())[-300:])
    sys.stdout.flush()
    os.environ[INSIDE] = "1"
    os.execvp(line[0], line + [sys.executable, *sys.argv])


def ip(*words):
    subprocess.run(["ip", *words], stdin=subprocess.DEVNULL, check=True)


class Host:
    """One of them; up from the start."""

    def __init__(self, number):
        self.number, self.name, self.veth = number, f"node{number}", f"veth{number}"
        self.holder = None
        self.start()

    def command(self, *words, wd=SHARED):
        """A command line that runs on this host."""
        return ["nsenter", "--target", str(self.holder.pid), *NAMESPACES, "--wd=" + wd, "--", *map(str, words)]

    def start(self):
        self.holder = subprocess.Popen(["unshare", *NAMESPACES, "sh", "-c", "echo; exec sleep infinity"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        ip("link", "add", self.veth, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        ip("link", "set", self.veth, "master", "br0", "up")
        script = f"""\
hostname {self.name} && ip link set lo up && ip addr add 10.77.0.{self.number}/24 dev eth0 && ip link set eth0 up &&
mount -t tmpfs none /dev/shm"""
        subprocess.run(self.command("sh", "-c", script), check=True)
        with open(f"{SHARED}/.hosts/{self.name}", "w") as file:
            file.write(f"{self.holder.pid}\n")

    @property
    def up(self):
        return self.holder is not None

    def pids(self):
        """Of all its processes."""
        mine, found = os.stat(f"/proc/{self.holder.pid}/ns/net").st_ino, []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.stat(f"/proc/{pid}/ns/net").st_ino == mine:
                    found.append(int(pid))
            except OSError:
                pass
        return found

    def kill(self):
        """It dies as by a power failure: nothing leaves it any more, no end of a connection either."""
        self.link(False)
        os.unlink(f"{SHARED}/.hosts/{self.name}")
        for _ in range(100):
            others = [pid for pid in self.pids() if pid != self.holder.pid]
            if not others:
                break
            for pid in others:
                _kill(pid)
            time.sleep(0.02)
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()
        self.holder = None
        for _ in range(250):  # its network goes with its last process, a moment later
            if not os.path.exists("/sys/class/net/" + self.veth) and self.veth not in _links():
                return
            time.sleep(0.02)
        ip("link", "del", self.veth)

    def link(self, up):
        ip("link", "set", self.veth, "up" if up else "down")

    def slow(self, rate):
        """Its link, in both directions; None: fast again. False: this kernel cannot do it."""
        line = ["tc", "qdisc", "replace" if rate else "del", "dev"]
        how = ["root", *(["tbf", "rate", rate, "burst", "16kb", "latency", "200ms"] if rate else [])]
        done = [subprocess.run(line + [self.veth] + how, capture_output=True, check=False),
                subprocess.run(self.command(*line, "eth0", *how), capture_output=True, check=False)]
        return not any(one.returncode for one in done)

    def sent(self):
        """Bytes and packets that have left it, from the bridge's end of its link."""
        with open("/proc/net/dev") as file:
            fields = next(line for line in file if line.strip().startswith(self.veth + ":")).split(":")[1].split()
        return int(fields[0]), int(fields[1])


def _links():
    with open("/proc/net/dev") as file:
        return re.findall(r"^\s*(\S+):", file.read(), re.M)


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Cluster:
    """Hosts node1, node2, ...; the test's folder is SHARED, the present one."""

    def __init__(self, hosts):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # else the first process would ignore it
        subprocess.run(["mount", "--bind", os.getcwd(), SHARED], check=True)
        os.chdir(SHARED)
        os.mkdir(".hosts")
        with open(".hosts/agent", "w") as file:
            file.write(AGENT)
        os.chmod(".hosts/agent", 0o755)
        with open(".hosts/names", "w") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"10.77.0.{k} node{k}\n" for k in range(1, hosts + 1)))
        subprocess.run(["mount", "--bind", ".hosts/names", "/etc/hosts"], check=True)
        ip("link", "set", "lo", "up")
        ip("link", "add", "br0", "type", "bridge")
        ip("link", "set", "br0", "up")
        self.hosts = [Host(k) for k in range(1, hosts + 1)]

    def __getitem__(self, number):
        return self.hosts[number - 1]

    def up(self):
        return [host for host in self.hosts if host.up]

    def mpirun(self, where, words, more=(), mca=()):
        """The command line of mpirun, on the first of {host number: ranks}."""
        head = self[next(iter(where))]
        settings = [word for name, value in (MCA | dict(mca)).items() for word in ("--mca", name, str(value))]
        places = ",".join(f"{self[k].name}:{n}" for k, n in where.items())
        return head.command("env", "TMPDIR=/dev/shm", "sh", "-c", '. "$0"; exec mpirun "$@"', ROOT + "/scripts/environment.sh",
                            *settings, "--host", places, "-n", sum(where.values()), *more, *words)


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def job_class(runs):
    """runs.Job on these hosts: `where` is {host number: ranks}."""

    class Job(runs.Job):
        def __init__(self, cluster, where, folder, settings=(), restart="auto", case="case.yaml", more=(), program=None, env=None,
                     options=(), mca=()):  # pylint: disable=super-init-not-called
            self.program = program or runs.TAGFLOW
            arguments = ["run", case, "--output", folder, *(["--restart", restart] if restart else []), *more,
                         *runs.sets(dict(settings))]
            self.folder, self.ranks = folder, sum(where.values())
            self.stuck = False
            self.out = os.path.abspath(f".out_{time.monotonic_ns()}")
            with open(self.out, "wb") as out, open(self.out + ".err", "wb") as err:
                self.process = subprocess.Popen(cluster.mpirun(where, [self.program] + arguments, options, mca), stdin=subprocess.DEVNULL,
                                                stdout=out, stderr=err, start_new_session=True,
                                                env=None if env is None else os.environ | env)
            self.started = time.monotonic()

        def processes(self):
            """[(pid, when it began)] of its processes on all hosts, in order of their ranks."""
            found = []
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        words = file.read().split(b"\0")
                except OSError:
                    continue
                if words[:2] == [self.program.encode(), b"run"] and self.folder.encode() in words:
                    began = runs._process(int(pid))[2]  # pylint: disable=protected-access
                    if began is not None:
                        found.append((runs._rank(pid), int(pid), began))  # pylint: disable=protected-access
            return [(pid, began) for _, pid, began in sorted(found)]

    return Job
