/* Memory of the hosts: how much there is, and whether ranks have room. The system kills processes
 * when memory runs out, so programs ask before. */
#ifndef TAGFLOW_MEMORY_H
#define TAGFLOW_MEMORY_H

#include <mpi.h>
#include <stdbool.h>

/* Bytes of this host, or of this process's control group where that is less: *all of them, and
 * those that can still be used without swapping. 0: not known. */
void memory_find(double *available, double *all);

/* The same by the files in root/proc and root/sys. */
void memory_find_below(const char *root, double *available, double *all);

/* A host on which ranks need more than is there. */
struct memory_lack {
    double need, available, all; /* bytes: of its ranks together; of the host */
    int ranks;                   /* of the host */
    char host[64];
};

/* Do the ranks of a host together need more than a share of what is available there? Finds the host
 * that lacks most. need: bytes of this rank. Collective; the same on all ranks. */
bool memory_lacks(double need, MPI_Comm comm, struct memory_lack *lack);

#endif
