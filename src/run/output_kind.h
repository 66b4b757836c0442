/* Kinds of output: the maps of `output` in a case. A kind is a row of functions, in its own file;
 * output.c calls them. */
#ifndef TAGFLOW_OUTPUT_KIND_H
#define TAGFLOW_OUTPUT_KIND_H

#include <stddef.h>

#include "measure/flow.h"
#include "run/folder.h"
#include "solver/grid.h"
#include "solver/state.h"

#define X(name, ...) extern const struct output_kind output_##name;
OUTPUT_KIND_LIST(X)
#undef X

/* Files of an output so far, as a checkpoint holds it; see tally.h. */
struct output_files {
    int64_t count, bytes; /* count -1: not known */
    int64_t last;         /* step of the newest file; -1: none */
    int64_t last_bytes;
};

/* An output of the run: an entry of such a map. */
struct output_entry {
    const struct output_kind *kind;
    const void *what; /* struct case_field, ..: as its kind has it in the case */
    void *own;        /* of its kind, zeroed at first */
    const char *name;
    enum results_part part; /* its folder */
    int64_t every;
    const struct flow_case *c;
    struct grid *grid;
    struct solver *solver; /* of level 0 */
    const char *dir;
    struct state *state;
    struct background *background;
    struct h5file *left; /* a file that the background brings to disk */
    int64_t pending;     /* step of a file that is not complete yet; -1: none */
    struct output_files files;
};

/* Where a run begins, or continues after a restart. */
struct output_start {
    int64_t resumed;    /* step of the checkpoint; -1: a new run */
    const char *before; /* resolved case of the checkpoint; NULL: none */
    bool here;          /* the checkpoint is one of this folder */
    bool over;          /* the run has no more steps */
};

/* Functions are collective and return one status on all ranks, failures reported, if nothing else
 * is said; NULL: there is nothing to do. Outputs in the folder `series` have rows, others a file
 * for each step. */
struct output_kind {
    size_t first, count, size, every; /* the entries in struct flow_case; `every` in an entry */
    bool late;  /* its files come to disk, or images are drawn, beside the next steps */
    size_t own; /* bytes */

    /* Prepare it and register its state. */
    enum status (*create)(struct output_entry *e);

    /* Start or continue its files. A rank may fail alone. */
    enum status (*start)(struct output_entry *e, const struct output_start *from);

    /* Is it due at `step`, and how many steps are there to the next one at which it needs the flow
     * (INT64_MAX: none)? NULL: by its interval. */
    bool (*due)(const struct output_entry *e, int64_t step);
    int64_t (*next)(const struct output_entry *e, int64_t step);

    /* Is a file written at the last `step` of the run, if none is due? NULL: yes. */
    bool (*ends)(const struct output_entry *e, int64_t step);

    /* If a sample for the files of later steps is due, take it. The backend may fail later. */
    void (*sample)(struct output_entry *e);

    /* Write the file of the solver's step. */
    enum status (*write)(struct output_entry *e);

    /* Before the solver leaves a step: measure what the rows of the next step need from it. */
    enum status (*prepare)(struct output_entry *e);

    /* Do the rows need sums over the flow, and enstrophy among them? Sets *enstrophy, or leaves it
     * alone. */
    bool (*needs_sums)(const struct output_entry *e, bool *enstrophy);

    /* Write the rows of the solver's step; `due`: false if only because it is the last one. A rank
     * may fail alone: all go on, and agree at the end. */
    enum status (*write_rows)(struct output_entry *e, const struct flow_sums *sums, bool due);

    /* Put all rows on disk. A rank may fail alone, as in close(), which follows create() even if
     * that failed. */
    enum status (*sync)(struct output_entry *e);
    enum status (*close)(struct output_entry *e);
};

/* Where the case has the entries of a kind. */
#define OUTPUT_ENTRIES(list, type)                                                                 \
    .first = offsetof(struct flow_case, list), .count = offsetof(struct flow_case, list##_count),  \
    .size = sizeof(struct type), .every = offsetof(struct type, every)

/* The file of the solver's step; of a series, the file of all steps. STATUS_USAGE, reported: too
 * long. */
enum status output_path(const struct output_entry *e, char path[FOLDER_PATH]);

/* One lattice unit of velocity in m/s: 1 for a case without units. */
double output_velocity_unit(const struct flow_case *c);

/* Attributes of an HDF5 file's origin, in its group /provenance: program, commit, case, backend,
 * date, ranks, step, time. The values of rank 0 count. */
struct h5file;
void output_provenance(struct h5file *file, const struct flow_case *c, const struct solver *s);

#endif
