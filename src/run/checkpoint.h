/* Checkpoints: the run's whole state (solver/state.h) in one HDF5 file in global order, which any
 * number of ranks can read. Format: docs/formats.md. Every plane of every component has an XXH3
 * checksum, computed from memory as it is written; all other bytes are under a seal (io/seal.h). A
 * file gets its final name only after it was read back and verified. */
#ifndef TAGFLOW_CHECKPOINT_H
#define TAGFLOW_CHECKPOINT_H

#include "solver/grid.h"
#include "solver/state.h"

enum { CHECKPOINT_FORMAT = 1, CHECKPOINT_REASON = 512 };

/* One array of a checkpoint. */
struct checkpoint_array {
    char name[STATE_NAME], definition[STATE_DEFINITION];
    int sample; /* enum sample */
    int components;
    int in_cells;
    int lo[3], n[3]; /* cells of the whole grid */
    int64_t offset;  /* in the file */
    int64_t sums;    /* index of its first checksum in `sum` */
    uint64_t hash; /* solver_hash of a set of populations; 0: of the flow, if there is one level */
};

struct checkpoint {
    int64_t step, ranks;
    double time;
    int cells[3];
    int levels;    /* of a refined grid; 1: none */
    int precision; /* enum precision of the populations */
    uint64_t hash; /* grid_hash of the flow */
    int64_t bytes;
    enum status blame; /* of one that was not opened: file_blame()'s */
    char program[64], commit[64], date[64], backend[128];
    char *case_text;
    int count;
    struct checkpoint_array *array;
    int64_t sum_count;
    uint64_t *sum; /* [arrays in cells][plane][component] */
};

/* Seconds until a checkpoint was on disk, and to read it back. */
struct checkpoint_times {
    double write, verify;
};

/* Write the present state to `path`. Collective, one status on all ranks. On failure, reported, an
 * earlier file stays as it was and nothing new is left. *times: the same on all ranks. */
enum status checkpoint_write(struct grid *g, const struct flow_case *c, const struct state *state,
                             const char *path, struct checkpoint_times *times);

/* Read the description of the checkpoint `path`, without verifying the arrays in cells; else as
 * checkpoint_open(). */
bool checkpoint_describe(struct checkpoint *k, MPI_Comm comm, const char *path,
                         char reason[CHECKPOINT_REASON]);

/* Read the checkpoint `path` and verify every byte of it. Collective. False, the same on all ranks,
 * with the reason in words ("it is damaged: ...") and k->blame if it is not a whole checkpoint. */
bool checkpoint_open(struct checkpoint *k, MPI_Comm comm, const char *path,
                     char reason[CHECKPOINT_REASON]);
void checkpoint_close(struct checkpoint *k);

/* Restore the state: populations, steps of all levels, and every array registered in `state` that
 * the file holds with the same definition. The case must be the file's (case_same_flow).
 * Collective; STATUS_USAGE, reported, when a level has other cells there; STATUS_MACHINE, reported,
 * when the file cannot be read any more or the loaded state has another hash than the written one.
 */
enum status checkpoint_load(const struct checkpoint *k, const char *path, struct grid *g,
                            struct state *state);

/* Register the populations of all sets in `state`: those of the flow as "populations", those of
 * another set as "sets/NAME"; with several levels those of level K as "populations_K" and
 * "sets/NAME_K", each of the smallest box of cells that holds the level. */
enum status checkpoint_register_populations(struct state *state, struct grid *g);

#endif
