/* Sparse storage: in a block that is solid in large parts, only fluid cells have populations.
 *
 * Fluid cells, ghost cells included, are numbered in the order of their indices: this is their
 * place in each slot. A link from a fluid cell to a neighbour at c_i, i odd, that is not fluid has
 * a place behind those of the cells, because it has populations there (slot.h). For each of the
 * nine pairs the links are numbered on their own, in the order of their cells. Two bits a cell of
 * the block, and 18 bits a fluid cell, tell these places (view_place). */
#ifndef TAGFLOW_DOMAIN_SPARSE_H
#define TAGFLOW_DOMAIN_SPARSE_H

#include "domain/domain.h"

struct sparse {
    size_t fluid;         /* fluid cells of the block with its ghost layers */
    size_t links[Q / 2];  /* links that have places */
    size_t cells, places; /* cells of the block; places of a slot: fluid, and most of `links` */
};

/* Counts the places that a block with tags, TAG_BESIDE included, needs. */
void sparse_survey(struct sparse *s, const struct domain *d, int threads);

/* Should storage be sparse, if these shares of the box's cells are fluid and of the places of all
 * cells are needed? Narrow ducts, whose ghost cells take much of the memory, stay dense. */
bool sparse_wanted(const struct flow_case *c, double fluid, double places);

/* Sets the sizes of a block's memory: the stride of the places, and the number of the words that
 * tell them. */
void sparse_layout(struct domain *d, const struct sparse *s);

/* The same with these words, which do not depend on the number of threads. STATUS_MACHINE,
 * reported, when memory runs out. */
enum status sparse_keep(struct domain *d, const struct sparse *s, int threads);

/* Makes the storage of a block sparse if the case says so or it pays. After its tags are final,
 * before the solver is created. Collective. */
enum status sparse_choose(struct domain *d, const struct flow_case *c);

#endif
