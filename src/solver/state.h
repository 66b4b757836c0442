/* Everything that a run remembers from step to step: named arrays, which a checkpoint holds and a
 * restart brings back. Whoever keeps something registers it here, once, before the restart; there
 * is no other way into a checkpoint, the populations included. */
#ifndef TAGFLOW_STATE_H
#define TAGFLOW_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "io/h5file.h"
#include "slot.h"

enum { STATE_NAME = 96, STATE_DEFINITION = 256 };

struct solver;

struct state_array {
    char name[STATE_NAME];             /* "populations", "averages/upper" */
    char definition[STATE_DEFINITION]; /* how it was made: another definition, another array */
    enum sample sample;
    int components; /* of a cell, or without cells the length of the array */
    bool in_cells;  /* false: the same on all ranks, rank 0's is kept */
    struct box box; /* cells of the whole grid that it covers */
    /* On the host; of an array in cells this rank's part of the box, [components][z][y][x].
     * NULL: it is the populations of this solver. */
    void *data;
    struct solver *solver;
};

struct state {
    int count;
    struct state_array *array;
};

/* Register an array. Its name must be new; `data` stays the caller's, and must stay where it is as
 * long as the state is used. STATUS_MACHINE, reported, without memory.
 *   definition: how it was made, as text; one found in a checkpoint under this name with another
 *   definition is not taken up (the run says so, and the array starts as it is)
 *   box: the cells of the whole grid that it covers; data: those of them that this rank owns */
enum status state_add_cells(struct state *s, const char *name, const char *definition,
                            enum sample sample, int components, const struct box *box, void *data);
enum status state_add_numbers(struct state *s, const char *name, const char *definition,
                              enum sample sample, int count, void *data);

/* Bytes of all arrays, of all ranks together. */
double state_bytes(const struct state *s);

void state_destroy(struct state *s);

#endif
