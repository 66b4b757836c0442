/* Records come to the rank that they are for, by sender and in the sender's order, and joined ones
 * in the order of ranks; of any number, some ranks with none.
 *
 *     mpirun -n N records_ranks
 *
 * Exit status: 0 or 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/records.h"

enum { MOST = 40 };

struct sample {
    int from, number;
    char rest[3]; /* an odd size */
};

/* Records of a rank in a trial, and where one goes; -1: nowhere. */
static int count_of(int trial, int rank)
{
    return (trial * 7 + rank * 13) % 3 == 0 ? 0 : (trial * 11 + rank * 5) % MOST;
}

static int receiver(int from, int number, int ranks)
{
    return (from * 31 + number * number * 17) % (ranks + 1) - 1;
}

static int to(const void *record, int rank, int ranks)
{
    const struct sample *const s = record;
    return s->from == rank ? receiver(s->from, s->number, ranks) : -1;
}

static struct sample *make(int count, int rank)
{
    struct sample *const own = calloc(MOST, sizeof *own);
    for (int k = 0; own && k < count; k++)
        own[k] = (struct sample){rank, k, {(char)k, (char)rank, 1}};
    return own;
}

static int is(const struct sample *s, int from, int number)
{
    return s->from == from && s->number == number && s->rest[0] == (char)number &&
           s->rest[1] == (char)from && s->rest[2] == 1;
}

/* Is what came that which all ranks send here? */
static int sent_right(int trial, int rank, int ranks, const struct records *got)
{
    const struct sample *const s = got->record;
    int n = 0, right = 1;
    for (int from = 0; from < ranks; from++) {
        right &= got->first[from] == n;
        for (int k = 0; k < count_of(trial, from); k++)
            if (receiver(from, k, ranks) == rank) {
                right = right && (size_t)n < got->count && is(&s[n], from, k);
                n++;
            }
    }
    return right && got->first[ranks] == n && got->count == (size_t)n;
}

static int joined_right(int trial, int ranks, const struct sample *s, size_t count)
{
    size_t n = 0;
    int right = 1;
    for (int from = 0; from < ranks; from++)
        for (int k = 0; k < count_of(trial, from); k++, n++)
            right = right && n < count && is(&s[n], from, k);
    return right && n == count;
}

int main(int argc, char **argv)
{
    int rank, ranks, failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int trial = 0; trial < 60; trial++) {
        size_t count = (size_t)count_of(trial, rank);
        struct sample *own = make((int)count, rank);
        struct records got;
        int right = own && records_send(MPI_COMM_WORLD, own, count, sizeof *own, to, &got,
                                        "a test") == STATUS_OK;
        right = right && sent_right(trial, rank, ranks, &got);
        right = records_join(MPI_COMM_WORLD, &own, &count, sizeof *own, "a test") == STATUS_OK &&
                right && joined_right(trial, ranks, own, count);
        if (!right)
            printf("trial %d: rank %d of %d has wrong records\n", trial, rank, ranks);
        failures += !right;
        free(got.record);
        free(got.first);
        free(own);
    }
    MPI_Finalize();
    return failures > 0;
}
