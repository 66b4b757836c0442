/* Ranks act on a failure together; see agree.h. */
#include "base/agree.h"

enum status status_agree(MPI_Comm comm, enum status mine)
{
    int worst = (int)mine;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm);
    return (enum status)worst;
}
