/* Before a run takes its memory; see room.h. */
#include "run/room.h"

#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "solver/solver.h"

enum status room_check(const struct domain *d, const struct backend *b)
{
    const double there = memory_of_host();
    double bytes = solver_bytes(d);
    char host[256] = "?", text[512] = "";
    int ranks, first;
    MPI_Comm node;
    if (!b->type->host_memory)
        return STATUS_OK;
    MPI_Comm_split_type(d->comm, MPI_COMM_TYPE_SHARED, d->rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
    first = there > 0 && bytes > there ? d->rank : d->ranks;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, d->comm);
    if (first == d->ranks)
        return STATUS_OK;
    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text,
             "this run needs %.4g GB of memory on %s (ranks there: %d), which has %.4g GB for it "
             "(more hosts, fewer cells, or less storage: tagflow check tells more)",
             1e-9 * bytes, host, ranks, 1e-9 * there);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, d->comm);
    return fail_user("%s", text);
}
