/* The levels of a grid, for `check`. Without `refine` there is one. */
#ifndef TAGFLOW_CLI_LEVELS_H
#define TAGFLOW_CLI_LEVELS_H

#include <jansson.h>

#include "advice/survey.h"
#include "cli/scale.h"
#include "solver/seam.h"

struct checked_level {
    const struct flow_case *c;   /* in units of the level */
    struct flow_case own, plain; /* levels above 0: c points to own; c for the ranks of `check` */
    bool cased;                  /* own exists */
    bool made;                   /* the tags exist, shared by the ranks of `check`: */
    struct domain domain;
    struct survey survey;
    struct seam_facts seam; /* to the level before; 0 if there are no tags */
    struct load *sends;     /* [ranks] messages of this seam in a step of the level before; NULL:
                             * not known, or none */
    int waits;              /* for these messages */
    struct parts parts;
    struct scale scale;
    double cells;                       /* that no finer level covers */
    double remembered, most_remembered; /* bytes of averages, of all ranks and of one */
};

struct checked_levels {
    const struct flow_case *c; /* of level 0 */
    struct refined refined;
    bool known; /* several levels: the tags of all were made */
    struct checked_level *level;
    struct case_body *bodies; /* one level: those of its `plain` */
    struct sampling sample;   /* one level whose box is too large for tags: */
    bool sampled;
};

/* Makes the levels, and their tags if the processes have room for them and they tell the run's
 * memory; logs what a run would log of bodies and faces. Fails as a run on so many ranks would.
 * Collective; one status on all ranks. Destroy it after errors, too. *c must outlive it. */
enum status levels_make(struct checked_levels *k, const struct flow_case *c, int ranks,
                        MPI_Comm comm);
void levels_destroy(struct checked_levels *k);

/* The part of levels_make() for one level: reports errors of bodies that depend on their cells, the
 * remaining fluid, the contents and porosity of voxel images and the axes along which flow can pass
 * them, the remaining parts of open faces, and whether the inflow can leave. In a box that is too
 * large for tags it samples the cells and tells the share of fluid alone. */
enum status check_one_level(struct checked_levels *k, MPI_Comm comm);

/* The same for the faces of a case without bodies. */
enum status check_faces(const struct flow_case *c);

/* Finds what the ranks need, in a step of level 0, of all levels: `sum`, which points into *k.
 * Collective. STATUS_MACHINE, reported. */
enum status levels_scale(struct checked_levels *k, int ranks, const struct cluster *cluster,
                         bool machine, struct scale *sum);

/* Bytes that a rank needs of all levels, with averages or without, on a CPU or a GPU. */
double levels_rank_bytes(const struct checked_levels *k, int rank, bool with_averages, bool on_gpu);

/* Cells of a region, in cells of level 0, in a file with `levels` and `stride`, see struct
 * case_field. */
double levels_written(const struct checked_levels *k, const struct case_region *region, int levels,
                      int stride);

/* Lattice updates of all cells in a step of level 0. */
double levels_updates(const struct checked_levels *k);

/* Time of the rank with most fluid cells over the mean; 1 if it is not known. */
double levels_imbalance(const struct checked_levels *k);

/* Several levels: logs their table, and one grid of the finest level beside it. */
void levels_say(const struct checked_levels *k, const struct scale *sum);

/* The levels for the file of --json. NULL: no memory. */
json_t *levels_json(const struct checked_levels *k);

#endif
