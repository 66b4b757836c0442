/* Files that a case names: one rank reads them and sends them to the others. */
#ifndef TAGFLOW_INPUTS_H
#define TAGFLOW_INPUTS_H

#include <mpi.h>

#include "case/case.h"

/* For case_read_files, a collective call on *comm. NULL: this process alone, without MPI. *comm
 * must outlive the result. */
struct case_files inputs(MPI_Comm *comm);

#endif
