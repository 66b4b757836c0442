/* Launcher of this process: mpirun or mpiexec of an MPI, srun, or none. The environment names
 * it. */
#ifndef TAGFLOW_LAUNCHER_H
#define TAGFLOW_LAUNCHER_H

#include <stdbool.h>

#include "base/status.h"

/* Read the environment. main calls it before MPI is initialised: Open MPI adds variables of its
 * launcher even in a program that was started alone. The functions below call it otherwise. */
void launcher_find(void);

/* Did a launcher start this process, as the only rank or as one of several? */
bool launcher_found(void);

/* Did the mpirun or mpiexec of an MPI? */
bool launcher_is_mpi(void);

/* Did the mpirun of Open MPI? */
bool launcher_is_openmpi(void);

/* The processes that the launcher started as one program; 0: not known. */
int launcher_ranks(void);

/* The rank that the launcher gave this process; 0 without a launcher. */
int launcher_rank(void);

/* Before MPI_Init, in which Open MPI ends a program that Slurm does not connect. One process goes
 * on alone. Several: STATUS_USAGE, reported by the launcher's rank 0. */
enum status launcher_check_before(void);

/* After MPI_Init: takes settings for it out of the environment, which other programs inherit. */
void launcher_started(void);

/* The launcher started several processes, and MPI_Comm_size is 1: each would run the whole case
 * alone, all in one folder. That is so where program and launcher belong to different MPIs.
 * STATUS_USAGE, reported by the launcher's rank 0. */
enum status launcher_check(int ranks);

#endif
