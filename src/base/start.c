/* Start of MPI; see start.h. */
#include "base/start.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/agree.h"
#include "base/launcher.h"
#include "base/message.h"
#include "base/plugins.h"

/* Plugins of Open MPI take its functions from the program. A library that was loaded at run time,
 * as by Python, keeps those of its own libraries to itself otherwise. */
static void show_mpi(void)
{
    Dl_info found;
    int (*const function)(int *) = MPI_Initialized;
    void *address;
    memcpy(&address, &function, sizeof address);
    if (dladdr(address, &found) && found.dli_fname)
        dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

static enum status initialise(bool *ours, int *provided)
{
    int ranks;
    launcher_find();
    enum status status = launcher_check_before();
    if (status)
        return status;
    /* MPI asks hwloc, whose GL plugin asks X servers for GPUs: if one goes meanwhile, the plugin
     * ends the program. */
    setenv("HWLOC_COMPONENTS", "-opencl,-gl", 0);
    show_mpi();
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, provided);
    *ours = true;
    launcher_started();
    plugins_keep();
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return launcher_check(ranks);
}

enum status start_mpi(bool *ours, MPI_Comm comm)
{
    int rank, ranks, initialised, provided = MPI_THREAD_SINGLE;
    enum status status = STATUS_OK;
    *ours = false;
    MPI_Initialized(&initialised);
    if (initialised)
        MPI_Query_thread(&provided);
    else
        status = initialise(ours, &provided);
    if (status)
        return status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    if (provided < MPI_THREAD_FUNNELED && initialised)
        status = fail_user("MPI was initialised without threads: call MPI_Init_thread with "
                           "MPI_THREAD_FUNNELED, or leave it to tagflow_open");
    else if (provided < MPI_THREAD_FUNNELED && rank == 0)
        status = fail_machine("this MPI does not allow threads (MPI_THREAD_FUNNELED): it was built "
                              "without them, or a setting forbids them");
    return status_agree(*ours ? MPI_COMM_WORLD : comm, status);
}
