/* Records of one size that ranks give each other: each record to one rank, or all to all ranks.
 * Collective. STATUS_MACHINE, reported, the same on all ranks. what: "what ranks ask for" */
#ifndef TAGFLOW_RECORDS_H
#define TAGFLOW_RECORDS_H

#include <mpi.h>
#include <stddef.h>

#include "base/status.h"

/* The rank that gets a record; negative: none. */
typedef int record_to(const void *record, int rank, int ranks);

/* Records that came, by sender, in the sender's order. The caller frees both, after a failure, too:
 * then they may be NULL. */
struct records {
    void *record;
    int *first; /* [ranks + 1]: rank k sent the records first[k] to first[k + 1] - 1 */
    size_t count;
};
enum status records_send(MPI_Comm comm, const void *record, size_t count, size_t size,
                         record_to *to, struct records *got, const char *what);

/* Joins the records of all ranks, in the order of ranks; they replace this rank's. record: the
 * address of the pointer to the first one. */
enum status records_join(MPI_Comm comm, void *record, size_t *count, size_t size, const char *what);

#endif
