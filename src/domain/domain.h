/* One rank's part of the box: its block of cells, their tags, its neighbours. */
#ifndef TAGFLOW_DOMAIN_H
#define TAGFLOW_DOMAIN_H

#include <mpi.h>
#include <stdbool.h>

#include "case/case.h"
#include "domain/refined.h"
#include "slot.h"

/* Cell types of every case. Absent: the cell belongs to another level of a refined grid. */
enum { TAG_WALL = 0, TAG_FLUID = 1, TAG_ABSENT = 2, TAG_FIRST_FACE = 3 };

/* Opening: a face of the box or a patch of one, without what bodies and later patches cover. */
struct domain_opening {
    int64_t cells, open; /* cells: beside its whole shape; open: those that are fluid and not of
                          * a later patch */
    double inflow;       /* sum over open cells of the given velocity into the box, without its
                          * time function */
    int lo[2], hi[2];    /* bounds of the open cells along the face's axes */
    bool fitted;         /* its profile spans only these bounds */
    uint32_t table;      /* as in struct tag_row */
    uint8_t beyond;      /* type of the cells beyond it */
};

/* A cap on all ranks; of this level. */
struct domain_cap {
    int64_t cells, links; /* solid cells behind it, and links that cross it */
    double area;          /* that its links stand for, in faces of cells */
    double fastest;       /* largest velocity of a link, where its time function is 1 */
};

struct domain {
    MPI_Comm comm;
    int rank, ranks;
    int level;                     /* of a refined grid; all coordinates are in its cells */
    const struct refined *refined; /* NULL: one level, the whole box */
    int cells[3];                  /* of the whole box */
    /* The part of the box that is cut among the ranks: cells at <= g < at + extent. The whole box
     * at level 0, else the smallest box that holds the level. */
    int at[3], extent[3];
    int *cut[3];      /* [cuts + 1] global positions of the cuts; NULL: not kept */
    int grain;        /* cuts are at multiples of so many cells: with several levels 4, so that two
                       * cells beside the edge of a level have one owner */
    int cuts[3];      /* blocks along each axis */
    int lo[3];        /* global coordinates of the block's first cell */
    bool periodic[3]; /* the box is, and `extent` is all of it: the blocks at its ends are
                       * neighbours */
    bool box_periodic[3]; /* the box is */
    bool exchanged[3];    /* axes with exchange of halos: cut ones; periodic ones if run.exchange
                           * says so */
    int neighbour[Q];     /* rank in direction i, MPI_PROC_NULL: none */
    struct view view;     /* populations NULL until a solver allocates them */
    const char *set_name[SETS]; /* of the view's sets */
    uint8_t *tags;              /* [view.cells] */
    struct place_word *place;   /* view.place, NULL: all cells have populations */
    struct place_word *link;    /* view.link */
    size_t places;              /* of each slot, see view_place */
    size_t all_stride;          /* the flow's stride if all cells had populations */
    double kept_share;          /* share of places that fluid cells need on all ranks; 1: not
                                 * surveyed */
    struct tag_row rows[TAG_ROWS];
    int row_count;
    uint8_t row_listed[TAG_ROWS];  /* 1: the list's kernel steps cells of this type, not fluid */
    uint8_t row_opening[TAG_ROWS]; /* 1 + opening beyond which cells of this type lie; 0: none */
    uint8_t row_cap[TAG_ROWS];     /* 1 + cap behind which cells of this type lie; 0: none */
    struct domain_cap cap[CASE_CAPS];
    uint8_t row_part[TAG_ROWS];    /* part of their body, as case_body_wall */
    struct scalar_row *scalar;     /* view.scalars.row */
    struct scalar_given given[CASE_SCALARS];
    struct domain_opening *opening; /* [openings]: the six faces, then the patches */
    int openings;
    double *table; /* view.table */
    /* view.near.cell, the list of cells beside surfaces, in three groups: stepped with the shells,
     * stepped with the interior, needed only for sums. */
    struct near_cell *near;
    float *crossing, *facing, *speed;
    int near_shell, near_stepped; /* ends of the first two groups */
    /* Time functions of view.signal[k], which solvers set before each step. [0] is NULL: always 1,
     * as are unused ones. Another NULL belongs to a controller: its value is the acceleration
     * itself (solver/drive.h), or density - 1 of opening held[k] - 1 (solver/shares.h). At step t,
     * those of nodes and forces act at once; those of links and walls act on what arrives at t + 1.
     */
    const struct case_signal *signal[SIGNALS];
    uint8_t held[SIGNALS]; /* 1 + opening; 0: none */
    int signals;
    struct case_flow_rate flow_rate;
    int64_t fluid_cells;             /* of the whole box; of this level alone */
    int64_t filled_cells;            /* isolated pores of images, made solid */
    int64_t body_cells[CASE_BODIES]; /* cells of each body in the box, without later bodies and
                                      * filled pores; of this level alone */
    /* Faces of cells of each body that a scalar passes, less the body's true area there, in faces;
     * 0: not asked for, or equal. */
    double body_excess[CASE_SCALARS][CASE_BODIES];
    double imbalance; /* largest number of fluid cells of a rank, over the mean */
};

/* Lays out the block of one rank without tags (view.tags NULL): `check` uses it for any number of
 * ranks. */
void domain_layout(struct domain *d, const struct flow_case *c, const int cuts[3], int rank);
/* The same with cuts at positions at[axis][0 .. cuts[axis]]. */
void domain_layout_at(struct domain *d, const struct flow_case *c, const int cuts[3],
                      int *const at[3], int rank);
/* The same for a level of a refined grid; c: the case in units of the level, whose cells are the
 * whole box. at: global positions, from the begin to the end of the level's smallest box; NULL:
 * even cuts. r NULL: one level. *r must outlive *d. */
void domain_layout_level(struct domain *d, const struct flow_case *c, const struct refined *r,
                         int level, const int cuts[3], int *const at[3], int rank);

/* Makes long rows begin at multiples of `bytes`, unless that takes much more memory. bytes: a
 * multiple of ROW_BYTES, at which all other rows begin. To be called before there are tags. */
void domain_align_rows(struct domain *d, int bytes);

/* Keeps the positions of the cuts in d->cut; at: as given to the layout. STATUS_MACHINE,
 * reported. */
enum status domain_keep_cuts(struct domain *d, int *const at[3]);
/* The rank that owns a cell of the box; MPI_PROC_NULL: it is outside of the part that is cut. After
 * domain_keep_cuts(). */
int domain_owner(const struct domain *d, const int g[3]);

/* Elements of `bits` bits between slots of `cells` cells: whole cache lines of a GPU. */
size_t domain_stride(size_t cells, int bits);

/* Adds a set of populations, q per fluid cell with `bits` bits each; returns its number. Before the
 * solver is created. Set SET_flow exists already. Checkpoints call the set by `name`, which must
 * outlive the domain. */
int domain_add_set(struct domain *d, const char *name, int q, int bits);

void domain_destroy(struct domain *d);

/* Appends zeros to the table, which may move; *place: index of the first. STATUS_MACHINE, reported.
 * Before the solver is created. */
enum status domain_table(struct domain *d, size_t values, size_t *place);

/* The number of a time function of the case, which must outlive the domain; equal ones share a
 * number. NULL: the flow-rate controller's. STATUS_USAGE, reported: there are too many. */
enum status domain_signal(struct domain *d, const struct case_signal *signal, uint8_t *number);

/* The number of the time function by which a controller holds density - 1 of an opening. Errors as
 * before. */
enum status domain_held(struct domain *d, int opening, uint8_t *number);

/* A global coordinate, wrapped into the box along its periodic axes. */
int domain_wrap(const struct domain *d, int axis, int at);

/* Share of the cells of the part of the box that is cut among the ranks that are fluid. */
double domain_fluid_share(const struct domain *d);

/* All owned cells. */
struct box domain_all(const struct domain *d);
/* Cells whose populations travel along a direction from one block to the next: the sender's last
 * layer; ghost: the same cells in the receiver's ghost layer. */
struct box domain_layer(const struct view *v, int direction, bool ghost);
/* Index in the whole grid, (z ny + y) nx + x, of cell number `cell` of domain_all(). INT64_MAX
 * (NO_CELL in sums.h) remains. */
int64_t domain_global_index(const struct domain *d, int64_t cell);
/* Coordinates of the cell with this index in the whole grid. */
void domain_coordinates(const struct domain *d, int64_t index, int cell[3]);
/* This rank's part of the cells lo <= cell < hi of the whole grid; empty if it has none. */
struct box domain_part(const struct domain *d, const int lo[3], const int hi[3]);
/* Splits the owned cells: `shell`, those that other ranks wait for (at most 6 boxes, returns how
 * many), and `interior`, the others (may be empty). */
int domain_shell(const struct domain *d, struct box shell[6], struct box *interior);
/* Splits them into `depth` layers of cells at exchanged faces, and the rest. */
int domain_layers(const struct domain *d, int depth, struct box shell[6], struct box *interior);

#endif
