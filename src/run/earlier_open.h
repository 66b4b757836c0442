/* The content of a file with an earlier result, and where it lies. */
#ifndef TAGFLOW_EARLIER_OPEN_H
#define TAGFLOW_EARLIER_OPEN_H

#include <mpi.h>

#include "case/case.h"

struct earlier_array {
    int sample;     /* enum sample */
    int64_t offset; /* in the file; 0: there is none */
};

struct earlier {
    int64_t step;
    uint64_t checksum;
    struct case_facts facts;
    int stride;       /* snapshot: points are every stride-th cell, from the first */
    int size[3];      /* of the arrays, x first */
    int lo[3], hi[3]; /* points that may be used along each axis */
    bool checkpoint;
    double scale;                     /* checkpoint: factor by which populations were multiplied */
    double acceleration[3];           /* checkpoint: half a step of it is part of the velocity */
    struct earlier_array populations; /* checkpoint: [z][Q][y][x] */
    struct earlier_array velocity;    /* snapshot: [z][y][x][3] */
    struct earlier_array level;       /* snapshot: [z][y][x] density or pressure */
    /* To lattice units of the file's case: velocity times velocity_unit; density - 1 is (level -
     * level_zero) times level_unit. */
    double velocity_unit, level_zero, level_unit;
    /* Scalars of `facts`. Checkpoint: [z][Q_AXES][y][x]; snapshot: [z][y][x], absolute. */
    struct earlier_array scalar[CASE_SCALARS];
};

/* Read it; verify every byte of a checkpoint if `verify`. Collective, the same on all ranks. Errors
 * are not reported; `reason` holds words that follow the file's name: STATUS_USAGE (the file is
 * wrong), STATUS_MACHINE, or STATUS_STOPPED (this process was asked to stop). */
enum status earlier_open(struct earlier *e, MPI_Comm comm, const char *path, bool verify,
                         char reason[CASE_REASON]);

/* Snapshots may be of other programs, so libhdf5 reads them in a second process (foreign/hdf5.h).
 * This command starts the program as that process. */
#define EARLIER_COMMAND "--earlier-snapshot"
int earlier_serve(int count, char **arguments);

#endif
