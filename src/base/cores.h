/* The cores that a job may use. A core counts once, however many hardware threads it has: a second
 * one hardly adds memory bandwidth. */
#ifndef TAGFLOW_CORES_H
#define TAGFLOW_CORES_H

#include <mpi.h>

struct cores {
    int host;    /* cores of this host */
    int nodes;   /* its memory nodes (NUMA), if the job may use all these cores; else 1 */
    int allowed; /* of them the ranks of this host may use, all together */
    int own;     /* this rank may use (affinity) */
    int ranks;   /* ranks of the job on this host */
    int share;   /* for each rank, if ranks share what they may use; at least 1; the least of all
                  * ranks of the job */
};

/* Collective. Counts the affinity that mpirun, Slurm or taskset gave, and the quota of the control
 * group, as containers have. */
void cores_find(MPI_Comm comm, struct cores *c);

/* The same for this process alone, without MPI. */
void cores_find_alone(struct cores *c);

/* Start the program again, once, with threads that sleep after a short wait for each other. GNU's
 * OpenMP lets them keep their cores longer by default, and reads the environment before main()
 * alone. Nothing is done if the user has set OMP_NUM_THREADS, OMP_WAIT_POLICY or GOMP_SPINCOUNT.
 * docs/performance.md has what it is good for. */
void cores_wait_briefly(char **arguments);

#endif
