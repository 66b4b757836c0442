/* A run as libtagflow has it. */
#ifndef TAGFLOW_LIBRARY_H
#define TAGFLOW_LIBRARY_H

#include <mpi.h>

#include "lib/tagflow.h"
#include "run/field.h"
#include "run/run.h"
#include "solver/grid.h"

/* Arrays of one level that were asked for, by their place in the list of all names. */
enum { LIBRARY_FIELDS = 8 * sizeof(unsigned) + CASE_SCALARS, LIBRARY_ERROR = 2048 };

struct tagflow_run {
    struct flow_case c;
    struct run_options options;
    struct run *run;
    MPI_Comm comm;
    char *folder, *restart; /* copies; folder: also of a temporary one */
    bool signals;           /* they are handled, and restored at the end */
    int (*interrupted)(void *own);
    void *own;
    void *field[LEVELS][LIBRARY_FIELDS];
    void *raw[LEVELS][1 + CASE_SCALARS]; /* memory of the level's backend */
    char error[LIBRARY_ERROR];           /* why the run has ended */
};

/* Begins a call: what was said before is forgotten. */
void library_enter(void);

/* Ends it: all ranks get the text of a failure. Returns the status. Collective if it is not
 * STATUS_OK. */
int library_leave(struct tagflow_run *r, enum status status);

/* A field that was asked for. */
struct asked {
    int number; /* of FIELD_LIST, and then the scalars */
    struct cover_quantity scalar[CASE_SCALARS];
    struct levels_array array[FIELD_ARRAYS]; /* the first one */
};

/* Finds a field. STATUS_USAGE, reported: there is none of this name, or no flow. */
enum status library_field(struct tagflow_run *r, const char *name, struct asked *q);

/* Sets shape, strides and place of an array of this rank's block; its type is set. */
void library_shape(const struct tagflow_run *r, const struct domain *d, int components,
                   struct tagflow_array *array);

/* Frees the arrays; those of backends while these are open. */
void library_free_fields(struct tagflow_run *r);
void library_free_raw(struct tagflow_run *r);

#endif
