/* tagflow info: versions of the program and its libraries, and the backends on this machine; or the
 * contents of a checkpoint. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#include <omp.h>

#include "base/machine.h"
#include "base/message.h"
#include "cli/cli.h"
#include "run/checkpoint.h"
#include "solver/transport.h"
#include "version.h"

/* Verifies a checkpoint and logs its contents. */
static enum status describe_checkpoint(const char *path, MPI_Comm comm)
{
    struct checkpoint k;
    char reason[CHECKPOINT_REASON];
    if (!checkpoint_open(&k, comm, path, reason))
        return k.blame == STATUS_MACHINE ? fail_machine("cannot read %s: %s", path, reason)
                                         : fail_user("%s is no good: %s", path, reason);
    say("checkpoint  %s, whole: %" PRId64 " bytes verified", path, k.bytes);
    say("step        %" PRId64 ", time %.9g", k.step, k.time);
    say("grid        %d x %d x %d cells, %s", k.cells[0], k.cells[1], k.cells[2],
        precision_name((enum precision)k.precision));
    if (k.levels > 1)
        say("levels      %d, each with cells of half the width of the level before", k.levels);
    say("state       %016" PRIx64, k.hash);
    say("written     %s by %s (%s), %" PRId64 " rank%s, %s", k.date, k.program, k.commit, k.ranks,
        k.ranks == 1 ? "" : "s", k.backend);
    for (int i = 0; i < k.count; i++) {
        const struct checkpoint_array *const a = &k.array[i];
        if (a->in_cells)
            say("holds       %s: %d numbers a cell, cells %d to %d, %d to %d, %d to %d (%s)",
                a->name, a->components, a->lo[0], a->lo[0] + a->n[0] - 1, a->lo[1],
                a->lo[1] + a->n[1] - 1, a->lo[2], a->lo[2] + a->n[2] - 1, a->definition);
        else
            say("holds       %s: %d number%s (%s)", a->name, a->components,
                a->components == 1 ? "" : "s", a->definition);
    }
    char *rest = NULL;
    for (char *line = strtok_r(k.case_text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        say("case        %s", line);
    checkpoint_close(&k);
    return STATUS_OK;
}

enum status command_info(int count, char **arguments, MPI_Comm comm)
{
    static const char *const known[] = {NULL};
    struct arguments a = {.count = count, .argument = arguments};
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, ranks;
    unsigned major, minor, release;
    if (count > 1 || (count == 1 && arguments[0][0] == '-')) {
        a.next = count > 1 && arguments[0][0] != '-';
        return cli_unknown(&a, "info", known);
    }
    if (count == 1)
        return describe_checkpoint(arguments[0], comm);

    MPI_Comm_size(comm, &ranks);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    H5get_libversion(&major, &minor, &release);
    say("tagflow   %s, commit %s", TAGFLOW_VERSION, TAGFLOW_COMMIT);
    say("compiler  %s, %s build", TAGFLOW_COMPILER, TAGFLOW_BUILDTYPE);
    say("MPI       %s; %d rank%s", library, ranks, ranks == 1 ? "" : "s");
    say("HDF5      %u.%u.%u", major, minor, release);
    char processor[128];
    machine_processor(processor);
    say("processor %s", processor);
    for (const struct backend_type *const *b = backends; *b; b++) {
        char line[512];
        (*b)->describe(line);
        say("backend   %s", line);
    }
    if (backends[0] == &backend_cpu)
        say("          cuda: not built in");
    say("cores     %d allowed, %ld online", omp_get_num_procs(), sysconf(_SC_NPROCESSORS_ONLN));
    say("halos     through MPI; from GPUs %s",
        transport_aware() ? "out of their memory, which this MPI says it reads"
                          : "by way of host memory: this MPI does not read theirs");
    for (const struct backend_type *const *b = backends; *b; b++) {
        char line[128] = "";
        if ((*b)->describe_peers)
            (*b)->describe_peers(line);
        if (*line)
            say("          %s", line);
    }
    return STATUS_OK;
}
