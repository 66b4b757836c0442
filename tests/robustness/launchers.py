#!/usr/bin/python3
"""Which MPI starts the ranks: processes that a launcher starts, but that do not find each other through tagflow's MPI, would
each run the whole case, all in one folder. They end with one line and exit status 2 instead, and nothing is written. Runs
that are meant to be alone go on: in a batch script, under a launcher of one process, or with TAGFLOW_ALONE.

The variables of launchers are set here by hand; where the launcher of another MPI is installed, it starts ranks, too.
"""
import os
import shutil
import subprocess

import runs
from runs import check, tagflow, tree, write

write("case.yaml", runs.CASE)
# The test itself may have been started by one of them.
for name in list(os.environ):
    if name.startswith(("OMPI_COMM_", "PMI", "SLURM_", "MPI_LOCAL", "HYDI_")):
        del os.environ[name]
OWN, OTHER = ("MPICH", "Open MPI") if runs.MPICH else ("Open MPI", "MPICH")
WRONG = {
    "OMPI": {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "0"},
    "PMI": {"PMI_SIZE": "2", "PMI_RANK": "0", "HYDI_CONTROL_FD": "7"},
    "srun": {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "7"},
}
WORDS = {"OMPI": ["mpirun of Open MPI started 3"], "PMI": ["mpiexec of MPICH started 2"], "srun": ["srun started 4", "srun --mpi=pmi"]}


def refused(said, words, what):
    check(said.code == 2 and len(said.errors) == 1 and not said.out and all(word in said.errors[0] for word in [*words, OWN, "TAGFLOW_ALONE"])
          and tree() == ["case.yaml"], f"{what}: {said} {tree()}")


for name, env in WRONG.items():
    if name == "PMI" and runs.MPICH:
        continue  # it looks for the mpiexec that these variables tell of
    for command in ["run", "check"]:
        refused(tagflow(command, "case.yaml", env=env), WORDS[name], f"{command}, {name}")
    # Only the launcher's rank 0 says it.
    other = {key: "1" if key.endswith(("RANK", "PROCID")) else value for key, value in env.items()}
    said = tagflow("check", "case.yaml", env=other)
    check(said.code == 2 and not said.lines and not said.out, f"check, {name}, rank 1: {said}")
    said = tagflow("check", "case.yaml", env=env | {"TAGFLOW_ALONE": "1"})
    check(said.code == 0 and not said.lines, f"check, {name}, meant to be alone: {said}")
    said = tagflow("launch", "case.yaml", env=env)
    check(said.code == 2 and "without mpirun or srun" in said.err and tree() == ["case.yaml"], f"launch, {name}: {said}")
if not runs.MPICH:  # a Slurm that offers PMIx: MPI_Init finds nobody there
    refused(tagflow("check", "case.yaml", env=WRONG["srun"] | {"PMIX_NAMESPACE": "slurm"}), WORDS["srun"], "check, srun with PMIx")

ALONE = {
    "a batch script": {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "7", "SLURM_NNODES": "2"},
    "srun of one process in a job of four": {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_ID": "0"},
    "a process that srun's process started anew": {"SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4"},  # as the Python package does
}
for name, env in ALONE.items():
    said = tagflow("check", "case.yaml", env=env)
    check(said.code == 0 and not said.lines, f"check, {name}: {said}")
for ranks in 1, 2:  # mpirun within a step of srun: its ranks inherit Slurm's variables
    said = tagflow("check", "case.yaml", env=WRONG["srun"], ranks=ranks)
    check(said.code == 0 and said.out.count("grid  ") == 1 and not said.lines, f"check, {ranks} ranks by mpirun within srun: {said}")

for other in ["mpirun.openmpi"] if runs.MPICH else ["mpiexec.mpich", "mpiexec.hydra"]:
    if not shutil.which(other):
        continue
    for ranks, code in [(3, 2), (1, 0)]:
        done = subprocess.run([other, "-n", str(ranks), runs.TAGFLOW, "check", "case.yaml"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                                                          "OMPI_MCA_rmaps_base_oversubscribe": "1"})
        said = runs.Said(done.returncode, done.stdout, done.stderr)
        if code:
            refused(said, [OTHER, "started 3"], f"check, {other} of {ranks}")
        else:
            check(said.code == 0 and not said.lines, f"check, {other} of one: {said}")

runs.finish()
