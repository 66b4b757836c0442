/* How the ranks of a run would share the box, and what each of them needs: for `check`. */
#ifndef TAGFLOW_PARTS_H
#define TAGFLOW_PARTS_H

#include "domain/balance.h"
#include "tags/sampling.h"

/* Memory and cells of a rank. */
struct needs {
    double dense, sparse; /* bytes of the backend's memory if all cells, or fluid cells alone, have
                           * populations */
    double lists;         /* bytes of lists of the CPU's loops */
    double own;           /* fluid cells of the block */
    double fluid;         /* the same with ghost cells */
    double places, cells; /* of sparse storage; of the block with ghost cells */
};

/* The decomposition of the box. */
struct parts {
    int ranks, cuts[3];
    struct balance balance;
    const struct flow_case *c;
    const struct refined *refined;
    int level;                     /* of it, in whose cells all coordinates are */
    const struct domain *box;      /* this process' part of the tags, or NULL */
    const struct sampling *sample; /* the box is too large for tags; or NULL */
    struct needs *needs;           /* [ranks] if there are tags */
    bool sparse;
    double kept_share;                   /* of all places, see sparse.h */
    double tile_places, tile_list_bytes; /* with a sample: per fluid cell, from tiles of the box */
};

/* Finds the cuts of a level of a grid, whether storage is sparse, and what the ranks need. c: the
 * case in units of the level. box, sample: NULL both, then fluid cells and their memory are
 * estimates, as if no body were there, and cuts are even; not both. Collective. Destroy it after
 * errors, too. */
enum status parts_create(struct parts *p, const struct flow_case *c, const struct refined *r,
                         int level, int ranks, const struct domain *box,
                         const struct sampling *sample);
void parts_destroy(struct parts *p);

/* The block of a rank, without tags, and what it needs. */
void parts_of(const struct parts *p, int rank, struct domain *block, struct needs *needs);

/* Bytes of a rank, without averages and residuals. */
double parts_bytes(const struct parts *p, const struct needs *needs);
/* Bytes on a GPU less those on a CPU: rows are longer, there are kinds and a list of cells, and no
 * lists of the CPU's loops. */
double parts_bytes_more(const struct parts *p, const struct domain *block,
                        const struct needs *needs);

#endif
