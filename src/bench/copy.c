/* The ceiling of a device; see copy.h. */
#include "bench/copy.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/clock.h"
#include "base/message.h"

enum { LOTS = 5, STAGE = 16 << 20 };

/* Bytes of each of the two pieces: many times the cache of any GPU, if there is enough memory. */
static size_t piece_bytes(struct backend *b, int sharing)
{
    double available, all, bytes = 2e9;
    b->type->memory(b, &available, &all);
    if (all > 0 && bytes > 0.3 * available / sharing)
        bytes = 0.3 * available / sharing;
    return (size_t)fmax(bytes, 1 << 20) / 256 * 256;
}

/* Makes `copies` copies; *seconds: of the slowest rank. */
static enum status lot(struct backend *b, MPI_Comm comm, char *const piece[2], size_t bytes,
                       int copies, double *seconds)
{
    MPI_Barrier(comm);
    const double start = clock_seconds();
    for (int k = 0; k < copies; k++)
        b->type->copy(b, QUEUE_INTERIOR, piece[k & 1], piece[!(k & 1)], bytes);
    const enum status status = b->type->wait(b, QUEUE_INTERIOR);
    *seconds = clock_seconds() - start;
    MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return status_agree(comm, status);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum status lots(struct backend *b, MPI_Comm comm, char *const piece[2], size_t bytes,
                        double wanted, double *rate)
{
    double seconds, rates[LOTS], all = 2 * (double)bytes;
    enum status status = lot(b, comm, piece, bytes, 2, &seconds); /* warms up pages and clocks */
    if (!status)
        status = lot(b, comm, piece, bytes, 4, &seconds);
    const double copies = 4 * wanted / LOTS / fmax(seconds, 1e-9);
    const int count = copies < 4 ? 4 : copies > 1e6 ? 1000000 : (int)copies;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    for (int k = 0; k < LOTS && !status; k++) {
        status = lot(b, comm, piece, bytes, count, &seconds);
        rates[k] = all * count / seconds;
    }
    if (status)
        return status;
    qsort(rates, LOTS, sizeof *rates, ascending);
    *rate = rates[LOTS / 2];
    return STATUS_OK;
}

/* Fills the pieces with random numbers: a memory may move zeros with less work. */
static enum status fill(struct backend *b, char *const piece[2], size_t bytes)
{
    const size_t most = bytes < STAGE ? bytes : STAGE;
    uint64_t *const stage = b->type->alloc_host(b, most);
    uint64_t x = 88172645463325252u;
    if (!stage)
        return fail_machine("out of memory on the host for %zu bytes", most);
    for (size_t k = 0; k < most / sizeof *stage; k++) { /* xorshift (Marsaglia 2003) */
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        stage[k] = x;
    }
    for (int k = 0; k < 2; k++)
        for (size_t at = 0; at < bytes; at += most)
            b->type->copy(b, QUEUE_INTERIOR, piece[k] + at, stage,
                          bytes - at < most ? bytes - at : most);
    const enum status status = b->type->wait(b, QUEUE_INTERIOR);
    b->type->free_host(b, stage);
    return status;
}

enum status copy_measure(struct backend *b, MPI_Comm comm, int sharing, double seconds,
                         double *bytes)
{
    const size_t size = piece_bytes(b, sharing);
    char *piece[2];
    for (int k = 0; k < 2; k++)
        piece[k] = b->type->alloc(b, size, 1);
    enum status status = STATUS_OK;
    if (!piece[0] || !piece[1])
        status = backend_no_room(b, 2 * (double)size, "the copy that is the ceiling");
    else
        status = fill(b, piece, size);
    status = status_agree(comm, status);
    if (!status)
        status = lots(b, comm, piece, size, seconds, bytes);
    for (int k = 0; k < 2; k++)
        b->type->free(b, piece[k]);
    return status;
}
