/* The seam between a level and the next finer one: lists of what passes between them, made once,
 * and the exchange in each step. See include/seam.h. */
#ifndef TAGFLOW_SOLVER_SEAM_H
#define TAGFLOW_SOLVER_SEAM_H

#include "domain/refined.h"
#include "seam.h"
#include "solver/solver.h"

enum { SEAM_ARRAYS = 2 * 9 + 2 * SETS + 2 };

/* Lists of one set. */
struct seam_set {
    struct seam_lists host;                    /* pointers of the backend, in memory of the host */
    const struct seam_lists *lists;            /* the same in memory of the backend */
    int values, needed, links, shared, groups; /* lengths of the lists */
};

struct seam {
    MPI_Comm comm;
    struct solver *coarse, *fine;
    struct seam_set set[SETS]; /* of the sets of the views; all scalars have the same lists */
    int sets;
    struct exchanges exchange; /* of `sent` and `left`, in kinds of these numbers */
    int64_t messages;          /* of all ranks, in an exchange of each kind */
    bool hands; /* what leaves the fine level at a rank enters it again at another one */
    void *array[SEAM_ARRAYS]; /* memory of the backend to free */
    int arrays;
    int64_t crossing; /* links of fine cells that cross the seam, of the flow and all ranks */
    double bytes;     /* of the backend, on this rank */
};

/* Makes the seam between two levels whose solvers exist. Collective. STATUS_MACHINE, reported;
 * STATUS_USAGE, reported: a path that the scheme does not know, with the cell. */
enum status seam_create(struct seam *s, const struct refined *r,
                        const struct flow_case *coarse_case, const struct flow_case *fine_case,
                        struct solver *coarse, struct solver *fine);
void seam_destroy(struct seam *s);

/* Size of the seam between two levels, found from their tags alone. */
struct seam_facts {
    int64_t crossing; /* as in struct seam */
    double bytes;     /* of all ranks of the domains */
};
/* Collective; errors as seam_create. */
enum status seam_look(struct seam_facts *f, const struct refined *r,
                      const struct flow_case *coarse_case, const struct flow_case *fine_case,
                      const struct domain *coarse, const struct domain *fine);

/* Messages from one rank to another in a step of the coarse level. */
struct seam_sends {
    int from, to;
    double bytes;
    int messages;
};
/* The messages of the seam between levels that are cut as blocks `coarse` and `fine` are, which
 * have cuts but need no tags; *list, [*count], is the same on all processes, and the caller's to
 * free. *waits: how often ranks wait for messages in such a step. The tags are those of the
 * processes' domains. Collective; errors as seam_create. */
enum status seam_look_at_sends(const struct refined *r, const struct flow_case *coarse_case,
                               const struct flow_case *fine_case, const struct domain *coarse_tags,
                               const struct domain *fine_tags, const struct domain *coarse,
                               const struct domain *fine, struct seam_sends **list, int *count,
                               int *waits);

/* After a step of the coarse level; after each substep (1, 2) of the fine one; after the second.
 * STATUS_MACHINE, reported, when the backend failed; messages are exchanged nevertheless. */
enum status seam_gathered(struct seam *s);
enum status seam_entered(struct seam *s, int substep);
enum status seam_coalesced(struct seam *s);

#endif
