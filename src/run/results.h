/* Which files in a run's folder are the run's own: those whose names are made of the name of an
 * output, of this case or of an earlier job's. All others are the user's, and nobody touches
 * them. */
#ifndef TAGFLOW_RESULTS_H
#define TAGFLOW_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* The folders of results, and the endings of their files. */
#define RESULTS_LIST(X)                                                                            \
    X(fields, ".vtkhdf")                                                                           \
    X(images, ".png")                                                                              \
    X(series, ".csv")                                                                              \
    X(checkpoints, ".h5")
enum results_part {
#define X(name, ending) RESULTS_##name,
    RESULTS_LIST(X)
#undef X
        RESULTS_PARTS
};

/* Kinds of output (output_kind.h), as maps of `output` are called, and the folders of their files.
 * In the order in which they register their state and are written. */
#define OUTPUT_KIND_LIST(X)                                                                        \
    X(series, series)                                                                              \
    X(fields, fields)                                                                              \
    X(averages, fields)                                                                            \
    X(surfaces, fields)                                                                            \
    X(images, images)

const char *results_folder(enum results_part part);
const char *results_ending(enum results_part part);

/* Appended to the name of a file that must not be used any more. */
#define RESULTS_ASIDE ".aside"
enum { RESULTS_DIGITS = 10 }; /* of a step in a file's name */

struct results {
    int count;
    struct results_name *name;
    int64_t steps; /* of this run */
    int64_t last;  /* step of all runs */
};

/* Adds the outputs of a resolved case; of this run's case first. STATUS_MACHINE, reported: no
 * memory. */
enum status results_add(struct results *r, const char *resolved);
void results_free(struct results *r);

enum results_kind {
    RESULTS_FOREIGN,
    RESULTS_WHOLE,
    RESULTS_TEMPORARY, /* of a job that was killed */
    RESULTS_PUT_ASIDE
};
struct results_file {
    enum results_part part;
    enum results_kind kind;
    int64_t step; /* in the name, of snapshots, images and checkpoints; -1: of a series */
    bool again;   /* a snapshot or an image that this run writes again */
};

/* Identifies the file of this name in a folder. */
struct results_file results_look(const struct results *r, enum results_part part, const char *file);

#endif
