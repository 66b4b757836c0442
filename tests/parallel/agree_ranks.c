/* Ranks agree on the worst of what they say, in the order that agree.h states, whoever says it:
 * every combination of three statuses.
 *
 *     mpirun -n 3 agree_ranks
 *
 * Exit status: 0 or 1. */
#include <mpi.h>
#include <stdio.h>

#include "base/agree.h"

enum { RANKS = 3 };

int main(int argc, char **argv)
{
    static const enum status order[] = {STATUS_OK, STATUS_STOPPED, STATUS_MACHINE, STATUS_USAGE,
                                        STATUS_DIVERGED};
    enum { COUNT = sizeof order / sizeof *order };
    int rank, ranks, failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int k = 0; k < COUNT * COUNT * COUNT; k++) {
        const int said[RANKS] = {k % COUNT, k / COUNT % COUNT, k / COUNT / COUNT};
        int worst = said[0];
        for (int r = 1; r < RANKS; r++)
            worst = said[r] > worst ? said[r] : worst;
        const enum status agreed = status_agree(MPI_COMM_WORLD, order[said[rank]]);
        const enum status two = status_worse(order[said[0]], order[said[1]]);
        if (agreed != order[worst] || two != order[said[said[0] < said[1]]]) {
            printf("ranks say %d %d %d: rank %d hears %d, not %d\n", order[said[0]], order[said[1]],
                   order[said[2]], rank, agreed, order[worst]);
            failures++;
        }
    }
    MPI_Finalize();
    return failures > 0;
}
