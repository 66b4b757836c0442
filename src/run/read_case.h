/* The case of a run: its file or text, read once for all ranks. */
#ifndef TAGFLOW_READ_CASE_H
#define TAGFLOW_READ_CASE_H

#include <mpi.h>
#include <stdbool.h>

#include "case/case.h"

struct case_source {
    const char *path; /* of the case file; with a text its name in messages */
    const char *text; /* NULL: what is in the file */
    int set_count;
    const char *const *sets; /* --set PATH=VALUE */
    bool goes_on;            /* with a run that has a checkpoint, if there is one */
    const char *folder;      /* of that run; NULL: the case's name */
};

/* Rank 0 reads the file and sends its text to all ranks; each rank then reads the case from it.
 * Collective: one status on all ranks. A rank of several that has no memory for a file that the
 * case names ends the job: the others wait for it. */
enum status read_case(const struct case_source *source, MPI_Comm comm, struct flow_case *c);

#endif
