# shellcheck shell=sh
# Sets what mpirun needs to start ranks on any machine; the scripts beside it source it. It sets variables, because every
# launcher ignores the variables of others: Open MPI 4 reads OMPI_MCA_*, Open MPI 5 reads PRTE_MCA_* and PMIX_MCA_*.

# The launcher of the MPI that tagflow was built with. The tests set it.
export TAGFLOW_MPIRUN="${TAGFLOW_MPIRUN:-mpirun}"

# Containers run as root, and Open MPI wants that confirmed twice.
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# More ranks than cores are fine for a trial; with enough cores nothing changes.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# hwloc's OpenCL plugin can swallow the signals that mpirun is to forward, and its GL plugin ends a program with status 1
# when an X server goes while it is asked for GPUs.
export HWLOC_COMPONENTS="${HWLOC_COMPONENTS:--opencl,-gl}"
# A chroot without /sys works, and hwloc need not say so once a rank.
[ -d /sys/devices/system/cpu ] || export HWLOC_HIDE_ERRORS=2
# Without a writable /dev/shm MPI_File_open fails, for the semaphore of shared file pointers: unused.
[ -w /dev/shm ] || export OMPI_MCA_sharedfp=^sm
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"

# mpi_run RANKS COMMAND...
mpi_run() {
    ranks=$1
    shift
    # Ranks are bound to one core each by default: with threads they would all sit on it.
    if [ "$OMP_NUM_THREADS" -gt 1 ]; then
        "$TAGFLOW_MPIRUN" --bind-to none -n "$ranks" "$@" </dev/null
    else
        "$TAGFLOW_MPIRUN" -n "$ranks" "$@" </dev/null
    fi
}
