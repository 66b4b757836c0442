/* The lists of a seam for one set of populations while they are made, on the host. */
#ifndef TAGFLOW_SEAM_LISTS_H
#define TAGFLOW_SEAM_LISTS_H

#include <mpi.h>
#include <stdbool.h>

#include "base/records.h"
#include "solver/seam_paths.h"

/* A number that a rank has: of a population that leaves a coarse cell, or of a value that leaves
 * the fine level. */
struct seam_need {
    int owner;
    int64_t key;
};
struct seam_needs {
    struct seam_need *need; /* [count], by owner, then by key */
    size_t count, room;     /* elements that fit */
    bool full;              /* no memory */
};

/* Where a value comes from; `at`: of the cell, for messages. */
struct seam_origin {
    int at[3], owner;
    int64_t key;
};

#define SEAM_ARRAY(type, name)                                                                     \
    type *name;                                                                                    \
    size_t name##_count

struct seam_made {
    struct paths coarse, fine;
    int set;
    /* Ranks of another cut, whose needs are collected instead of this rank's: blocks with cuts, of
     * the coarse and the fine level. Then `owner` in struct seam_need is
     * wanted.of * ranks + owner. NULL: not so. */
    struct {
        const struct domain *coarse, *fine;
        int of;     /* the rank that needs */
        bool hands; /* as in struct seam */
    } wanted;
    SEAM_ARRAY(int, at);                         /* [][3] cells that may have links */
    SEAM_ARRAY(struct seam_link, link);          /* after substep 1 */
    SEAM_ARRAY(struct seam_link, later);         /* the same after substep 2 */
    SEAM_ARRAY(struct seam_origin, link_origin); /* [links][2] */
    SEAM_ARRAY(int64_t, link_key);               /* ascending */
    SEAM_ARRAY(struct seam_group, group);
    SEAM_ARRAY(struct seam_origin, exit);
    SEAM_ARRAY(struct seam_entry, entry);
    SEAM_ARRAY(struct seam_origin, entry_origin);
    struct seam_needs sent, left;          /* what this rank needs; left: of others only */
    struct records sent_asked, left_asked; /* struct seam_need: what others need of it */
    struct seam_value *value;              /* [values] */
    size_t values;
    uint32_t *exits, *beside, *shared;     /* as in struct seam_lists */
    struct seam_wall wall[2 * SEAM_WALLS]; /* the same */
    int walls[2];                          /* of the fine, the coarse level */
    bool full;                             /* no memory */
    bool many;                             /* more than numbers can say */
    bool wrong;                            /* no path was found */
    int where[3];
};

/* Makes all lists; coarse, fine and set are set. Collective. STATUS_MACHINE; STATUS_USAGE: the edge
 * of the level has an unknown shape; reported. Destroy it in any case. */
enum status seam_make(struct seam_made *m, MPI_Comm comm);
void seam_made_destroy(struct seam_made *m);

/* Finds the needs between ranks of another cut: fills `sent` and `left` from the tags of the
 * processes of comm; each need is on one process. `wanted` is set, too. Errors as above. */
enum status seam_make_needs(struct seam_made *m, MPI_Comm comm);

/* Index of a need; SIZE_MAX: it is not there. */
size_t seam_needed(const struct seam_needs *n, int owner, int64_t key);

#endif
