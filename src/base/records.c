/* Records between ranks; see records.h. */
#include "base/records.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"

/* MPI counts with int. */
static enum status agree_room(MPI_Comm comm, size_t count, bool room, const char *what)
{
    return status_agree(comm, count > INT_MAX ? fail_machine("%.3g numbers are too many for %s",
                                                             (double)count, what)
                              : room          ? STATUS_OK
                                              : fail_machine("out of memory for %s", what));
}

/* Sets first[k], the sum of the counts before k; first[ranks]: of all. Returns it: it may exceed
 * an int. */
static size_t sum_up(const int *counts, int ranks, int *first)
{
    size_t all = 0;
    for (int k = 0; k <= ranks; k++) {
        first[k] = (int)all;
        all += k < ranks ? (size_t)counts[k] : 0;
    }
    return all;
}

static MPI_Datatype type_of(size_t size)
{
    MPI_Datatype type;
    MPI_Type_contiguous((int)size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

enum status records_send(MPI_Comm comm, const void *record, size_t count, size_t size,
                         record_to *to, struct records *got, const char *what)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const size_t room = (size_t)ranks + 1;
    int *const sent = calloc(4 * room, sizeof *sent), *const came = sent + room,
               *const at = came + room, *const next = at + room;
    char *const out = malloc(count * size + 1);
    *got = (struct records){.first = calloc(room, sizeof *got->first)};
    enum status status = agree_room(comm, count, sent && out && got->first, what);
    if (!status) {
        for (size_t k = 0; k < count; k++) {
            const int there = to((const char *)record + k * size, rank, ranks);
            sent[there < 0 ? ranks : there]++;
        }
        MPI_Alltoall(sent, 1, MPI_INT, came, 1, MPI_INT, comm);
        sum_up(sent, ranks, at);
        memcpy(next, at, room * sizeof *next); /* those that go nowhere come last */
        for (size_t k = 0; k < count; k++) {
            const char *const from = (const char *)record + k * size;
            const int there = to(from, rank, ranks);
            memcpy(out + (size_t)next[there < 0 ? ranks : there]++ * size, from, size);
        }
        got->count = sum_up(came, ranks, got->first);
        got->record = got->count <= INT_MAX ? malloc(got->count * size + 1) : NULL;
        status = agree_room(comm, got->count, got->record, what);
    }
    if (!status) {
        MPI_Datatype type = type_of(size);
        MPI_Alltoallv(out, sent, at, type, got->record, came, got->first, type, comm);
        MPI_Type_free(&type);
    }
    free(sent);
    free(out);
    return status;
}

enum status records_join(MPI_Comm comm, void *record, size_t *count, size_t size, const char *what)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    int *const counts = calloc(2 * (size_t)ranks + 1, sizeof *counts), *const first =
                                                                           counts + ranks;
    const int mine = (int)*count;
    void *own, *joined = NULL;
    memcpy(&own, record, sizeof own);
    enum status status = agree_room(comm, *count, counts, what);
    if (!status) {
        MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm);
        const size_t all = sum_up(counts, ranks, first);
        joined = all <= INT_MAX ? malloc(all * size + 1) : NULL;
        status = agree_room(comm, all, joined, what);
        *count = status ? *count : all;
    }
    if (!status) {
        MPI_Datatype type = type_of(size);
        MPI_Allgatherv(own, mine, type, joined, counts, first, type, comm);
        MPI_Type_free(&type);
        memcpy(record, &joined, sizeof joined);
        free(own);
    } else {
        free(joined);
    }
    free(counts);
    return status;
}
