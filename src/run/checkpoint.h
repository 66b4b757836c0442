/* Checkpoints: all that a run remembers (solver/state.h), in one HDF5 file in global order, which
 * any number of ranks can read. Format: docs/formats.md.
 *
 * Every plane of every component has an XXH3 checksum, made from memory as it is written; all other
 * bytes are under a seal (io/seal.h). A file gets its name only after it was read back and found
 * whole. */
#ifndef TAGFLOW_CHECKPOINT_H
#define TAGFLOW_CHECKPOINT_H

#include "solver/solver.h"
#include "solver/state.h"

enum { CHECKPOINT_FORMAT = 1, CHECKPOINT_REASON = 512 };

/* One that was read, and found whole. */
struct checkpoint_array {
    char name[STATE_NAME], definition[STATE_DEFINITION];
    int sample; /* enum sample */
    int components;
    int in_cells;
    int lo[3], n[3]; /* cells of the whole grid */
    int64_t offset;  /* in the file */
    int64_t sums;    /* its first in `sum` */
};

struct checkpoint {
    int64_t step, ranks;
    double time;
    int cells[3];
    int precision; /* enum precision of the populations */
    uint64_t hash;
    int64_t bytes;
    char program[64], commit[64], date[64], backend[128];
    char *case_text;
    int count;
    struct checkpoint_array *array;
    int64_t sum_count;
    uint64_t *sum; /* [arrays in cells][plane][component] */
};

/* What a checkpoint took: seconds until all was on disk, and to read it back. */
struct checkpoint_times {
    double write, verify;
};

/* Write the present state to `path`. Collective, one status on all ranks; on failure, reported,
 * nothing is left but what was there before. *times: the same on all ranks. */
enum status checkpoint_write(struct solver *s, const struct flow_case *c, const struct state *state,
                             const char *path, struct checkpoint_times *times);

/* Read what `path` holds and verify every byte of it. Collective. False, the same on all ranks,
 * with the reason in words ("it is damaged: ...") if it is not a whole checkpoint. */
bool checkpoint_open(struct checkpoint *k, MPI_Comm comm, const char *path,
                     char reason[CHECKPOINT_REASON]);
void checkpoint_close(struct checkpoint *k);

/* Bring back the state: populations, step, and every array registered in `state` that the file
 * holds with the same definition. The case must be that of the file
 * (case_same_flow). Collective; STATUS_MACHINE, reported, when it cannot be read any more or what
 * was loaded has not the hash that was written. */
enum status checkpoint_load(const struct checkpoint *k, const char *path, struct solver *s,
                            struct state *state);

/* The populations, for the registry. */
enum status checkpoint_register_populations(struct state *state, struct solver *s);

#endif
