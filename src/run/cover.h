/* The cells that files show, level by level: cells of the level with their own values, and cells
 * that a finer level covers with the means of their finer cells.
 *
 *     cover_create .. cover_prepare .. cover_each for the levels wanted .. cover_destroy
 *
 * A mean is over those of the 8 finer cells that have the quantity: fluid ones, or those that hold
 * a scalar; 0 if none has it. Means of means follow level by level. No cut among ranks changes a
 * mean. */
#ifndef TAGFLOW_COVER_H
#define TAGFLOW_COVER_H

#include "domain/boxes.h"
#include "solver/grid.h"

struct cover;

/* Function of a quantity or a file: gets a piece of the level, in coordinates of this rank's block,
 * and its values, [cells][components]. A piece may hold cells that are not of the level:
 * their values are 0. Returns a status, which ends the loop if it is not STATUS_OK. */
typedef enum status cover_use(void *to, int level, const struct box *piece, const double *values);

/* A quantity in the cells of all levels. */
struct cover_quantity {
    int components;
    int set;      /* whose cells have it: SET_flow: fluid ones, or a scalar's */
    bool is_tag;  /* one component; of covered cells: the first fluid one of the finer cells has it,
                   * else the first */
    bool is_rate; /* in units of each level's cells: becomes one in cells of level 0 */
    /* Passes all cells of this rank's part of a level to `use`. cells are those of cover_box(). */
    enum status (*read)(const struct cover_quantity *q, const struct cover *c, int level,
                        cover_use *use, void *to);
    enum kernel kernel; /* that has it */
    const void *how;
};

/* Density - 1 and velocity [4], curl of the velocity [3], cell types [1]. */
extern const struct cover_quantity quantity_flow, quantity_curl, quantity_tags;

/* The value of a scalar, relative to its reference. */
struct cover_quantity quantity_scalar(int set);

/* Values of the cells of a level that a finer one covers. */
struct covered {
    struct box box; /* global coordinates of the level; may be empty */
    double *value;  /* [z][y][x][components + 1], the last: COVERED_ */
};

struct cover {
    struct grid *grid;
    int lo[3], hi[3]; /* the region, in cells of level 0 */
    int stride;       /* see cover_create() */
    int levels;       /* that have cells in it */
    struct {
        struct boxes boxes; /* cells of the level, covered ones too */
        struct box *part;   /* [parts] they make up this rank's part of the boxes, in coordinates of
                             * its block; each fits the buffers of the solver */
        int parts;
        struct covered covered;
        double *values; /* room for a piece */
    } level[LEVELS];
    const struct cover_quantity *of; /* as prepared */
};

/* region: in cells of level 0. stride: on a grid of one level, reads
 * every stride-th plane across z, from the region's first one. Collective. STATUS_MACHINE,
 * reported: no memory. */
enum status cover_create(struct cover *c, struct grid *g, const struct case_region *region,
                         int stride);
void cover_destroy(struct cover *c);

/* Makes the values of covered cells on level `lowest` and finer ones. Collective; STATUS_MACHINE,
 * reported, when memory or the backend failed. */
enum status cover_prepare(struct cover *c, const struct cover_quantity *q, int lowest);

/* Passes this rank's cells of a level of the prepared quantity to `use`; covered cells need a
 * level that was prepared. Not collective. STATUS_MACHINE, reported, when the backend failed; else
 * what `use` returns. */
enum status cover_each(struct cover *c, int level, cover_use *use, void *to);

/* This rank's part of a level within the region, in coordinates of its block; may be empty. */
struct box cover_box(const struct cover *c, int level);

#endif
