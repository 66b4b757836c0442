/* Series of a run. Their kinds are rows of functions, each in the file of its group. */
#ifndef TAGFLOW_RUN_SERIES_H
#define TAGFLOW_RUN_SERIES_H

#include "case/columns.h"
#include "io/series.h"
#include "run/output_kind.h"
#include "solver/levels.h"

#define X(name, ...) extern const struct table_kind series_##name;
SERIES_KIND_LIST(X)
#undef X

/* A step before all others. */
#define SERIES_NEVER (INT64_MIN / 2)

/* A series of the run. */
struct table {
    const struct flow_case *c;
    const struct case_series *series;
    struct grid *grid;
    struct levels levels;  /* of the grid */
    struct solver *solver; /* of level 0 */
    const struct table_kind *kind;
    void *own;   /* of its kind, zeroed at first */
    int points;  /* rows of a step: 1, or the points of a line or ring */
    int columns; /* step and time included */
    const char *names[SERIES_COLUMNS + 1];
    struct series_mark mark; /* of the file at the last checkpoint; rows -1: not known */
    struct state *state;
    bool root;                    /* this is rank 0 */
    struct series *file;          /* rank 0; NULL before it is started */
    double *rows;                 /* of the last step, [points][columns - 1]; right on rank 0 */
    const struct flow_sums *sums; /* at the step that is measured; zeros if no series needs them */
    bool due;                     /* false: the row is one only because the run ends here */
    bool needs_sample;            /* rows need sample() of the step before; true if there is one */
    struct grid_watch watch;      /* calls add_later() */
};

/* Functions are collective and return one status on all ranks, failures reported, if nothing else
 * is said; NULL: there is nothing to do. */
struct table_kind {
    size_t own;      /* bytes */
    bool needs_sums; /* over the flow */

    /* Prepare the measurement and register its state. */
    enum status (*create)(struct table *t);

    /* Measure at the solver's step, and put the values of all columns behind `time` into
     * table_row() of each point, in the units of the case; at least on rank 0. A rank may fail
     * alone. */
    enum status (*measure)(struct table *t);

    /* Measure what the rows of the next step need from this one; and what they need from the next
     * step of a level, later in the step of level 0. */
    enum status (*sample)(struct table *t);
    enum status (*add_later)(struct table *t, int level);

    /* Also after create() failed. */
    void (*destroy)(struct table *t);
};

static inline double *table_row(const struct table *t, int point)
{
    return t->rows + (size_t)point * (size_t)(t->columns - 1) + 1;
}

/* A value of the row just written, as in its file, of a series with one row a step; column 0 is the
 * step. Collective, the same on all ranks. */
double series_value(const struct output_entry *e, int column);

#endif
