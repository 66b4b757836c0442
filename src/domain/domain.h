/* One rank's part of the flow: its block of cells, their tags, its neighbours. */
#ifndef TAGFLOW_DOMAIN_H
#define TAGFLOW_DOMAIN_H

#include <mpi.h>
#include <stdbool.h>

#include "case/case.h"
#include "slot.h"

/* Rows that every case has. */
enum { TAG_WALL = 0, TAG_FLUID = 1, TAG_FIRST_FACE = 2 };

struct domain {
    MPI_Comm comm;
    int rank, ranks;
    int cells[3]; /* of the whole box */
    int cuts[3];  /* blocks along each axis */
    int lo[3];    /* global coordinates of the block's first cell */
    bool periodic[3];
    bool exchanged[3]; /* axes with neighbours: those cut; with run.exchange: all, periodic ones */
    int neighbour[Q];  /* rank beyond direction i, MPI_PROC_NULL: none */
    struct view view;  /* populations NULL until a solver allocates them */
    uint8_t *tags;     /* [view_cells(&view)] */
    uint32_t *line;    /* the view's, NULL: all cells have populations */
    size_t all_stride; /* what view.stride would be if all cells had populations */
    double kept_share; /* lines that are kept, or would be, of all ranks' lines; 1: never looked */
    struct tag_row rows[TAG_ROWS];
    int row_count;
    double *table; /* the view's */
    /* The list of cells beside surfaces, the view's: those of the shells that its kernel steps, of
     * the interior, and those that are there for the forces on bodies alone. */
    struct near_cell *near;
    float *crossing;
    int near_shell, near_stepped; /* ends of the first two */
    /* Of view.signal[k], which solvers set before each step; [0] is NULL: always 1, and so are
     * those that nobody asked for. Another NULL is the flow-rate controller's, whose signal is the
     * acceleration itself (solver/drive.h). Those of nodes and forces act in step t, those of links
     * and walls on what arrives at t + 1. */
    const struct case_signal *signal[SIGNALS];
    int signals;
    struct case_flow_rate flow_rate; /* as the case says */
    int64_t fluid_cells;             /* of the whole box */
    int64_t filled_cells;            /* of isolated pores of images, made solid */
    double imbalance;                /* those of the rank that has most, over the mean */
};

/* The block of one rank without tags (view.tags NULL): what `check` can say about any rank count.
 */
void domain_layout(struct domain *d, const struct flow_case *c, const int cuts[3], int rank);
/* The same, cut at at[axis][0 .. cuts[axis]], not evenly. */
void domain_layout_at(struct domain *d, const struct flow_case *c, const int cuts[3],
                      int *const at[3], int rank);

/* Elements between the slots of so many cells, in whole cache lines of `line` elements. */
size_t domain_stride(size_t cells, size_t line);

/* Cut the box among the ranks of comm, for equal numbers of fluid cells if these are not
 * everywhere, and make this rank's tags from the case. */
enum status domain_create(struct domain *d, const struct flow_case *c, MPI_Comm comm);
/* All of the box on this process alone, whatever the case says of ranks. */
enum status domain_whole(struct domain *d, const struct flow_case *c);
void domain_destroy(struct domain *d);

/* Append so many zeros to the table, which may move; their place is there, or STATUS_MACHINE,
 * reported. Before the solver is created. */
enum status domain_table(struct domain *d, size_t values, size_t *place);

/* The number of a signal of the case, which has to outlive the domain; a new one if it differs from
 * those before. NULL: the controller's. STATUS_USAGE, reported: there are too many. */
enum status domain_signal(struct domain *d, const struct case_signal *signal, uint8_t *number);

/* Boxes of the view: all owned cells; those that other ranks wait for
 * (shell, at most 6 boxes, returns how many); the rest (interior, may be empty). */
struct box domain_all(const struct domain *d);
/* This rank's part of the cells lo <= cell < hi of the whole grid; empty if it has none. */
struct box domain_part(const struct domain *d, const int lo[3], const int hi[3]);
int domain_shell(const struct domain *d, struct box shell[6], struct box *interior);

#endif
