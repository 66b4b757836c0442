/* tagflow info: what this program is made of and what it finds on this machine. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#include <omp.h>

#include "base/message.h"
#include "cli/cli.h"
#include "version.h"

enum status command_info(int count, char **arguments, MPI_Comm comm)
{
    static const char *const known[] = {NULL};
    struct arguments a = {.count = count, .argument = arguments};
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, ranks;
    unsigned major, minor, release;
    if (count > 0)
        return cli_unknown(&a, "info", known);

    MPI_Comm_size(comm, &ranks);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    H5get_libversion(&major, &minor, &release);
    say("tagflow   %s, commit %s", TAGFLOW_VERSION, TAGFLOW_COMMIT);
    say("compiler  %s, %s build", TAGFLOW_COMPILER, TAGFLOW_BUILDTYPE);
    say("MPI       %s; %d rank%s", library, ranks, ranks == 1 ? "" : "s");
    say("HDF5      %u.%u.%u", major, minor, release);
    say("CUDA      not built in");
    __builtin_cpu_init();
    say("backends  cpu: kernels for x86-64-v2%s%s; this processor has %s", ", v3", ", v4",
        __builtin_cpu_supports("x86-64-v4")   ? "v4"
        : __builtin_cpu_supports("x86-64-v3") ? "v3"
                                              : "v2");
    say("cores     %d allowed, %ld online", omp_get_num_procs(), sysconf(_SC_NPROCESSORS_ONLN));
    say("halos     through MPI, from host memory");
    return STATUS_OK;
}
