/* Disjoint sets of numbers (union-find): parent[k] is another number of the set of k, and the root
 * of a set, its least number, is its own parent. */
#ifndef TAGFLOW_SETS_H
#define TAGFLOW_SETS_H

#include <stddef.h>
#include <stdint.h>

/* Sets of one number each; NULL: out of memory. */
uint32_t *sets_create(size_t count);

/* Least number of the set of k. */
uint32_t sets_root(uint32_t *parent, uint32_t k);

/* Joins the sets of a and b. */
void sets_join(uint32_t *parent, uint32_t a, uint32_t b);

#endif
