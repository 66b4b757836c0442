/* Sparse storage: in a block that is solid in large parts, only lines of cells that need
 * populations have them.
 *
 * A line has as many cells along x as a cache line holds populations: 32 in fp16, 16 in fp32, 8 in
 * fp64. It is kept if one of its cells is fluid, or is a neighbour in which a fluid cell keeps a
 * population (slot.h: at the cell itself, or at c_i of an odd direction i). Kept lines are stored
 * in the order of their cells; view.line has one number per line, its place. */
#ifndef TAGFLOW_DOMAIN_SPARSE_H
#define TAGFLOW_DOMAIN_SPARSE_H

#include "domain/domain.h"

struct sparse {
    int line_bits; /* a line is 2^line_bits cells */
    size_t row;    /* lines of a row of cells; each row begins with a new line */
    size_t lines;  /* lines of the block with its ghost layers */
    size_t kept;   /* lines that are kept */
    uint8_t *keep; /* [lines] */
};

/* Finds the lines to keep in a block with tags. STATUS_MACHINE, reported, when memory runs out. */
enum status sparse_survey(struct sparse *s, const struct domain *d, enum precision storage);
/* The same for a block without tags, from the tags of the whole box. */
enum status sparse_survey_part(struct sparse *s, const struct domain *part,
                               const struct domain *whole, enum precision storage);
void sparse_destroy(struct sparse *s);

/* Should storage be sparse, if this share of all lines would be kept? */
bool sparse_wanted(enum sparse_use use, double share);

/* Lays out the block in memory: rows of whole lines, and the stride of the kept lines. */
void sparse_layout(struct domain *d, const struct sparse *s);

/* The same with the table of places, and the tags in such rows. */
enum status sparse_keep(struct domain *d, const struct sparse *s);

/* Makes the storage of a block sparse if the case says so or it pays. After its tags are final,
 * before the solver is created. Collective. */
enum status sparse_choose(struct domain *d, const struct flow_case *c);

#endif
