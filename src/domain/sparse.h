/* Memory for fluid alone: of a block that is solid in large parts, only those lines of cells have
 * populations that need them.
 *
 * A line is as many cells along x as have a cache line of populations: 32 in fp16, 16 in fp32, 8 in
 * fp64. It is kept when one of its cells is fluid, or is a neighbour in which a fluid cell keeps a
 * population (slot.h: at the cell itself, or at c_i of an odd direction i). Lines that are kept
 * follow each other in the order of their cells; a table of one number a line (view.line) has their
 * places. */
#ifndef TAGFLOW_DOMAIN_SPARSE_H
#define TAGFLOW_DOMAIN_SPARSE_H

#include "domain/domain.h"

struct sparse {
    int line_bits; /* a line is 2^line_bits cells */
    size_t row;    /* lines of a row of cells: rows begin with a line */
    size_t lines;  /* of the block, ghost layers and all */
    size_t kept;   /* of these */
    uint8_t *keep; /* [lines] */
};

/* Which lines of a block with tags are to be kept. STATUS_MACHINE, reported, when memory runs out.
 */
enum status sparse_survey(struct sparse *s, const struct domain *d, enum precision storage);
/* The same of a block that is laid out only, by the tags of the whole box. */
enum status sparse_survey_part(struct sparse *s, const struct domain *part,
                               const struct domain *whole, enum precision storage);
void sparse_destroy(struct sparse *s);

/* Is it to be, if that share of all lines would be kept? */
bool sparse_wanted(enum sparse_use use, double share);

/* The block's layout in memory: rows of whole lines, and the stride of those that are kept. */
void sparse_layout(struct domain *d, const struct sparse *s);

/* Keep the populations of a block whose tags are final, before the solver is created, in such
 * lines if the case says so or it pays. Collective. */
enum status sparse_choose(struct domain *d, const struct flow_case *c);

#endif
