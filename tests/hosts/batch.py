#!/usr/bin/python3
"""Slurm with several nodes: the chains of scripts/slurm on two of three nodes; a node that dies or is set down, a job that
makes place for another one; an array of jobs; srun with PMIx, and without.

    batch.py [srun|mpirun]...    the templates to try; both by default

The nodes are namespaces of this machine (cluster.py), each with a slurmd; slurmctld runs beside them. Skipped where Slurm is
not installed (tests/slurm/setup.sh start installs it).
"""
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "..", "robustness"), os.path.join(HERE, "..", "slurm")]
import cluster

cluster.enter()
import chains
import runs
from chains import Chain, slurm
from runs import check, differences, load, results, sets, tagflow, write

for program in "munged", "slurmctld", "slurmd":
    if not shutil.which(program):
        runs.skip(f"there is no program {program}")
TEMPLATES = sys.argv[1:] or ["srun", "mpirun"]
NODES = 3
HEAD = "10.77.0.254"
CONF = """\
ClusterName=tagflow
SlurmUser=root
SlurmctldHost=head({HEAD})
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir=/dev/shm/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile=/dev/shm/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.%h.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
MailProg=/bin/true
ReturnToService=1
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=1,sched_interval=5
KillWait=30
SlurmdTimeout=20
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
{nodes}
PartitionName=test Nodes=node[1-{NODES}] Default=YES MaxTime=INFINITE PriorityTier=1 State=UP
PartitionName=urgent Nodes=node[1-{NODES}] MaxTime=INFINITE PriorityTier=2 State=UP
"""
CASE = """\
domain:     {cells: [48, 40, 24]}
fluid:      {viscosity: 0.02, velocity: 0.05, length: 40}
faces:      {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.01]}}, z: wall}
run:        {steps: %d}
checkpoint: {every: %d}
check:      {every: 50, hang: 5 min}
output:
  log:    {every: 200}
  series: {flow: {every: 20, of: [mass, kinetic_energy, enstrophy, max_velocity]}}
"""

hosts = cluster.Cluster(NODES)
DIR = cluster.SHARED + "/.slurm"


def start_slurm():
    os.makedirs(DIR + "/state")
    subprocess.run(["hostname", "head"], check=True)
    cluster.ip("addr", "add", HEAD + "/24", "dev", "br0")
    with open(".hosts/names", "a") as file:
        file.write(HEAD + " head\n")
    nodes = "\n".join(f"NodeName=node{k} NodeAddr=10.77.0.{k} CPUs=2 RealMemory=1000 State=UNKNOWN" for k in range(1, NODES + 1))
    write(DIR + "/slurm.conf", CONF.format(dir=DIR, HEAD=HEAD, NODES=NODES, nodes=nodes))
    write(DIR + "/cgroup.conf", "CgroupPlugin=cgroup/v1\n")
    write(DIR + "/mpi.conf", "PMIxCliTmpDirBase=/dev/shm\n")  # nodes have /tmp in common here
    write(DIR + "/munge.key", os.urandom(128))
    os.chmod(DIR + "/munge.key", 0o600)
    os.environ["SLURM_CONF"] = DIR + "/slurm.conf"
    subprocess.run(["munged", "--force", f"--key-file={DIR}/munge.key", f"--socket={DIR}/munge.socket", f"--pid-file={DIR}/munged.pid",
                    f"--log-file={DIR}/munged.log", f"--seed-file={DIR}/munge.seed"], check=True)
    subprocess.run(["slurmctld"], check=True)
    for host in hosts.hosts:
        start_node(host)
    all_idle()


def start_node(host):
    os.makedirs(DIR + "/state", exist_ok=True)
    subprocess.run(host.command("sh", "-c", "mkdir -p /dev/shm/spool && exec slurmd"), check=True)


def all_idle():
    def idle():
        return subprocess.run(["sinfo", "--noheader", "--partition=test", "--format=%T %D"], capture_output=True, text=True,
                              check=False).stdout.split() == ["idle", str(NODES)]
    if not chains.wait_for(f"{NODES} idle nodes", idle):
        print(slurm("sinfo", "-R"), slurm("sinfo"))
        for name in os.listdir(DIR):
            if name.endswith(".log"):
                subprocess.run(["tail", "-n", "15", DIR + "/" + name], check=False)
        runs.finish()


def nodes_of(job):
    """Its nodes, the first one with the batch script."""
    return slurm("scontrol", "show", "hostnames", slurm("squeue", "--noheader", "--format=%N", "--jobs=" + job)).split()


def begun(chain, jobs):
    """A chain's job that goes on for the n-th time, beyond its second checkpoint; its nodes."""
    chain.wait_for("from checkpoint", jobs)
    before = chain.checkpoints()[-1:] or [0]
    chains.wait_for(f"{chain.name}: checkpoints", lambda: chain.step() > before[0] and chain.checkpoints()[-1:] > [before[0] + 50])
    running = chain.jobs("RUNNING")
    return running[0], nodes_of(running[0])


def carry(template):
    chain = Chain(template, "nodes_" + template, 1, ("--nodes=1", "--nodes=2"), ("--time=.*", "--time=60"),
                  ("^# module load openmpi hdf5", "export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_oob_tcp_if_include=eth0"))
    write(chain.name + ".yaml", CASE % (10 ** 9, 100))
    chain.submit()

    # The node beside that of the script is set down: Slurm queues the job again, which goes on, on other nodes.
    job, (first, second) = begun(chain, 1)
    at = time.monotonic()
    slurm("scontrol", "update", "nodename=" + second, "state=down", "reason=test")
    chain.wait_for("from checkpoint", 2)
    again, nodes = begun(chain, 2)
    check(again == job and second not in nodes and len(nodes) == 2,
          f"{template}: {second} set down: job {job} on {first}, {second} goes on as {again} on {nodes} after {time.monotonic() - at:.0f} s")
    slurm("scontrol", "update", "nodename=" + second, "state=resume")

    # A node dies; Slurm notices after SlurmdTimeout.
    at = time.monotonic()
    dead = nodes[1]
    hosts[int(dead[4:])].kill()
    chain.wait_for("from checkpoint", 3)
    job, nodes = begun(chain, 3)
    check(dead not in nodes, f"{template}: {dead} dies: goes on as {job} on {nodes} after {time.monotonic() - at:.0f} s")
    hosts[int(dead[4:])].start()
    start_node(hosts[int(dead[4:])])

    # A more urgent job needs the nodes.
    write("urgent.sbatch", "#!/bin/sh\n#SBATCH --job-name=urgent\nsleep 3\n")
    at = time.monotonic()
    slurm("sbatch", "--partition=urgent", "--nodes=3", "--exclusive", "urgent.sbatch")
    chain.wait_for("from checkpoint", 4)
    job, nodes = begun(chain, 4)
    check(len(nodes) == 2, f"{template}: made place, goes on as {job} on {nodes} after {time.monotonic() - at:.0f} s")

    # To its end.
    steps = chain.checkpoints()[-1] + 400
    slurm("scancel", "--batch", "--signal=TERM", job)
    chain.over()
    write(chain.name + ".yaml", CASE % (steps, 100))
    chain.submit()
    chain.wait_for("done", 1)
    chain.over()
    said = tagflow("run", chain.name + ".yaml", "--output", chain.name + "_whole", ranks=0)
    a, b = [load(name, "report.json")["state_hash"] for name in (chain.folder, chain.name + "_whole")] if said.code == 0 else (said, 0)
    check(a == b and not differences(results(chain.folder), results(chain.name + "_whole")),
          f"{template}: {steps} steps: {a}, in one piece {b}")
    chain.show()


def sweep():
    """An array of jobs, one for each value of a parameter."""
    write("sweep.yaml", CASE % (60, 0))
    write("sweep.sbatch", f"""\
#!/bin/sh
#SBATCH --job-name=sweep
#SBATCH --array=0-3
#SBATCH --ntasks=2
#SBATCH --output=sweep_%a.log
set -- 0.01 0.02 0.03 0.05
shift "$SLURM_ARRAY_TASK_ID"
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=eth0
exec srun --mpi=pmix {runs.TAGFLOW} run sweep.yaml --output "sweep_$SLURM_ARRAY_TASK_ID" --restart auto --set "fluid.viscosity=$1"
""")
    slurm("sbatch", "sweep.sbatch")
    chains.wait_for("an array", lambda: not slurm("squeue", "--noheader", "--name=sweep"))
    hashes = [load(f"sweep_{k}", "report.json")["state_hash"] for k in range(4) if os.path.exists(f"sweep_{k}/report.json")]
    said = tagflow("run", "sweep.yaml", "--output", "sweep_alone", *sets({"fluid.viscosity": 0.03}))
    check(len(set(hashes)) == 4 and said.code == 0 and load("sweep_alone", "report.json")["state_hash"] == hashes[2],
          f"an array of 4 jobs: {hashes}")


def srun(mpi, folder):
    """Two ranks on two nodes."""
    env = {"OMPI_MCA_btl": "self,vader,tcp", "OMPI_MCA_btl_tcp_if_include": "eth0", "OMPI_MCA_oob_tcp_if_include": "eth0"}
    line = hosts[1].command("srun", *mpi, "--nodes=2", "--ntasks=2", runs.TAGFLOW, "run", "sweep.yaml", "--output", folder)
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, env=os.environ | env, check=False)
    return runs.Said(done.returncode, done.stdout, done.stderr)


start_slurm()
for template in TEMPLATES:
    carry(template)
    all_idle()
sweep()
said = srun(["--mpi=pmix"], "by pmix")
check(said.code == 0 and load("by pmix", "report.json")["ranks"] == 2 and
      len(re.findall(r"^rank \d on node\d: ", said.out, re.M)) == 2, f"srun --mpi=pmix on two nodes: {said}")
said = srun(["--mpi=none"], "by none")
check(said.code == 2 and len(said.errors) == 1 and not os.path.exists("by none") and "srun started 2 processes, but they do not find" in said.err,
      f"srun --mpi=none on two nodes: {said}")
runs.finish()
