/* Files that a case names: one rank reads them and hands them to the others. */
#ifndef TAGFLOW_INPUTS_H
#define TAGFLOW_INPUTS_H

#include <mpi.h>

#include "case/case.h"

/* For case_read_files, which all ranks of *comm then call together; NULL: this process alone,
 * without MPI. *comm must outlive its use. */
struct case_files inputs(MPI_Comm *comm);

#endif
