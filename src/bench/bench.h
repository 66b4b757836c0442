/* `tagflow bench`: verified speeds of this machine, compared with the ceiling of its memory. */
#ifndef TAGFLOW_BENCH_BENCH_H
#define TAGFLOW_BENCH_BENCH_H

#include <mpi.h>

#include "bench/cases.h"
#include "solver/backend.h"

enum { BENCH_SIZES = 16 };

struct bench_options {
    int size_count; /* 0: 128^3, or less where memory is short */
    int cells[BENCH_SIZES][3];
    /* Bit k: choice k of the key's list, or of bench_cases, is wanted; arithmetics 0: each
     * storage's own. */
    unsigned cases, storages, arithmetics, collisions;
    int steps;      /* of a repeat; 0: as many as take `seconds` */
    double seconds; /* of a repeat */
    int repeat;
    double porosity, radius; /* of the rock; 0: its default */
    int threads;             /* of a rank; 0: as many as there are cores for it */
    const struct backend_type *backend;
    bool share_gpu;
    int set_count;
    const char *const *sets; /* --set PATH=VALUE for all cases */
    const char *json;        /* file to write; NULL: none */
    const char *command;     /* command line, for the file */
};

/* Has this program kernels for this pair of precisions? */
bool bench_has(enum precision storage, enum precision arithmetic);

/* Measure every combination, one row after the other; the table goes to stdout. Collective; the
 * same status on all ranks. STATUS_USAGE, reported, when a case cannot be made; STATUS_MACHINE,
 * reported, when something failed, or when a row did not pass its check and so has no rate. */
enum status bench_run(const struct bench_options *o, MPI_Comm comm);

#endif
