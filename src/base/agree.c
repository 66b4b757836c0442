/* Ranks act on a failure together; see agree.h. */
#include "base/agree.h"

#include <assert.h>

#include "base/message.h"
#include "base/signals.h"

static const enum status by_severity[] = {STATUS_OK, STATUS_STOPPED, STATUS_MACHINE, STATUS_USAGE,
                                          STATUS_DIVERGED};

enum { SEVERITIES = sizeof by_severity / sizeof *by_severity };

static int severity(enum status status)
{
    int k = SEVERITIES - 1;
    while (k > 0 && by_severity[k] != status)
        k--;
    assert(by_severity[k] == status);
    return k;
}

enum status status_worse(enum status a, enum status b)
{
    return severity(a) > severity(b) ? a : b;
}

enum status status_agree(MPI_Comm comm, enum status mine)
{
    int worst = severity(mine);
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm);
    return by_severity[worst];
}

enum status stop_agree(MPI_Comm comm)
{
    int number = signals_number();
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, comm);
    if (!number)
        return STATUS_OK;
    say("stopped before the run began: %s; nothing was written: start again", signals_name(number));
    return STATUS_STOPPED;
}
