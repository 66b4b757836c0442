/* Energy of GPUs that ranks share: each is counted once. On the stand-in for CUDA's runtime and the
 * one for NVML, which has GPUs use 1.5 J each time they are asked; an old one does not tell that,
 * and without any nothing is known, and nobody minds.
 *
 *   mpirun -n RANKS energy_ranks GPUS whole|old|none */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "bench/energy.h"

#define CHECK(what)                                                                                \
    do                                                                                             \
        if (!(what)) {                                                                             \
            fprintf(stderr, "energy_ranks: rank %d: not so: %s\n", message_rank(), #what);         \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    while (0)

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    CHECK(argc == 3);
    const int gpus = atoi(argv[1]);
    const bool whole = strcmp(argv[2], "whole") == 0, some = strcmp(argv[2], "none") != 0;

    const struct backend_type *type;
    struct backend *b;
    char reason[256], version[64] = "";
    double mhz[2] = {0, 0};
    CHECK(backend_choose("cuda", MPI_COMM_WORLD, &type, reason) == STATUS_OK);
    const struct backend_wanted wanted = {.storage = PRECISION_fp32,
                                          .arithmetic = PRECISION_fp32,
                                          .comm = MPI_COMM_WORLD,
                                          .share = true};
    CHECK(type->open(&b, &wanted) == STATUS_OK);
    struct energy *const e = energy_open(b, MPI_COMM_WORLD);
    CHECK((e != NULL) == whole);
    for (int k = 1; k <= 3 && whole; k++)
        CHECK(energy_joules(e) == 1.5 * gpus * k);
    CHECK(isnan(energy_joules(e)) == !whole);
    CHECK(type->clocks(b, mhz) == some && mhz[0] == (some ? 1980 : 0));
    CHECK(type->driver(b, version) == some && (strlen(version) > 3) == some);
    energy_close(e);
    type->close(b);
    MPI_Finalize();
    return 0;
}
