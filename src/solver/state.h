/* The state of a run: named arrays that a checkpoint holds and a restart restores. A module that
 * keeps data from step to step registers them here, once, before the restart. A checkpoint holds
 * only registered arrays; this includes the populations. */
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
    char definition[STATE_DEFINITION]; /* how it is computed; see state_add_cells */
    enum sample sample;
    int components; /* per cell; without cells: length of the array */
    bool in_cells;  /* false: the same on all ranks, and rank 0 writes it */
    bool optional;  /* no warning if a checkpoint lacks it */
    struct box box; /* cells of the whole grid that it covers */
    /* With cells: memory of the backend of `solver`, this rank's part of the box,
     * [components][z][y][x]; NULL: the populations of set `set` of `solver`. Without: on the host.
     */
    void *data;
    struct solver *solver;
    int set;
};

struct state {
    int count;
    struct state_array *array;
};

/* Registers an array. Its name must be new. `data` stays the caller's and must not move while the
 * state is used. STATUS_MACHINE, reported, when out of memory.
 *   definition: how the array is computed, as text. If a checkpoint has an array of this name with
 *   another definition, the restart does not load it (it says so; `data` stays unchanged)
 *   box: cells of the whole grid that the array covers; data: the part that this rank owns, from
 *   solver_alloc */
enum status state_add_cells(struct state *s, const char *name, const char *definition,
                            enum sample sample, int components, const struct box *box,
                            struct solver *solver, void *data);
enum status state_add_numbers(struct state *s, const char *name, const char *definition,
                              enum sample sample, int count, void *data);

/* Makes the last registered array optional: a checkpoint may lack it. */
void state_optional(struct state *s);

/* Bytes of all arrays, of all ranks together. */
double state_bytes(const struct state *s);

void state_destroy(struct state *s);

#endif
