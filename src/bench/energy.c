/* Energy of all ranks' devices; see energy.h. */
#include "bench/energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"

enum { DEVICE_NAME = 64 };

struct energy {
    const struct backend *backend;
    MPI_Comm comm;
    bool reads; /* this rank is the first one on its device */
    double first;
};

/* Is this the lowest rank of its host on this device? Collective; *known: false on all ranks
 * without memory to find out. */
static bool is_first(const struct backend *b, MPI_Comm comm, bool *known)
{
    MPI_Comm host;
    int rank, ranks;
    char mine[DEVICE_NAME] = "";
    bool first = true;
    if (b && b->type->device)
        b->type->device(b, mine);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_size(host, &ranks);
    char(*const all)[DEVICE_NAME] = calloc((size_t)ranks, sizeof *all);
    *known = status_agree(comm, all ? STATUS_OK : STATUS_MACHINE) == STATUS_OK;
    if (*known) {
        MPI_Allgather(mine, DEVICE_NAME, MPI_CHAR, all, DEVICE_NAME, MPI_CHAR, host);
        for (int k = 0; k < rank; k++)
            first = first && strncmp(all[k], mine, DEVICE_NAME) != 0;
    }
    free(all);
    MPI_Comm_free(&host);
    return first;
}

struct energy *energy_open(const struct backend *b, MPI_Comm comm)
{
    bool known;
    double first = 0;
    const bool reads = is_first(b, comm, &known);
    struct energy *const e = calloc(1, sizeof *e);
    if (reads && known)
        known = b && b->type->energy && b->type->energy(b, &first);
    if (status_agree(comm, e && known ? STATUS_OK : STATUS_MACHINE)) {
        free(e);
        return NULL;
    }
    *e = (struct energy){.backend = b, .comm = comm, .reads = reads, .first = first};
    return e;
}

double energy_joules(struct energy *e)
{
    double joules = 0;
    if (!e)
        return NAN;
    if (e->reads)
        joules = e->backend->type->energy(e->backend, &joules) ? joules - e->first : (double)NAN;
    MPI_Allreduce(MPI_IN_PLACE, &joules, 1, MPI_DOUBLE, MPI_SUM, e->comm); /* NAN stays NAN */
    return joules;
}

void energy_close(struct energy *e)
{
    free(e);
}
