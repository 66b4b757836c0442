/* Energy of all ranks' devices; see energy.h. */
#include "bench/energy.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"

enum { DEVICE_NAME = 64 };

struct energy {
    const struct backend *backend;
    MPI_Comm comm;
    bool reads; /* this rank is the first one on its device */
    double first;
};

/* Is this the lowest rank of its host on this device? Collective. */
static bool is_first(const struct backend *b, MPI_Comm comm)
{
    MPI_Comm host, device;
    char name[DEVICE_NAME] = "";
    uint32_t color = 2166136261u; /* of the name: FNV-1a */
    int rank;
    if (b && b->type->device)
        b->type->device(b, name);
    for (int k = 0; k < DEVICE_NAME && name[k]; k++)
        color = (color ^ (unsigned char)name[k]) * 16777619u;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_split(host, (int)(color >> 1), 0, &device);
    MPI_Comm_rank(device, &rank);
    MPI_Comm_free(&device);
    MPI_Comm_free(&host);
    return rank == 0;
}

struct energy *energy_open(const struct backend *b, MPI_Comm comm)
{
    double first = 0;
    const bool reads = is_first(b, comm);
    struct energy *const e = calloc(1, sizeof *e);
    const bool known = e && (!reads || (b && b->type->energy && b->type->energy(b, &first)));
    if (status_agree(comm, known ? STATUS_OK : STATUS_MACHINE)) {
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
