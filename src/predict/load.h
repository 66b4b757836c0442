/* Work of a rank in a step: cells that it updates, messages that it sends. All of it follows from
 * its block, so that it is known for any number of ranks without starting them. */
#ifndef TAGFLOW_LOAD_H
#define TAGFLOW_LOAD_H

#include "domain/domain.h"

/* Numbers of a step. */
struct load {
    double interior, shell; /* cells; the shell is what other ranks wait for */
    int messages;           /* to other ranks */
    int outside_messages;   /* to ranks of other nodes */
    double inside, outside; /* bytes of messages within the node, and to other nodes */
    double packed;          /* bytes that memory moves to pack the messages */
};

/* The load of a block with tags or without: d->view.tags are not looked at. Ranks fill one node
 * after the other, `per_node` in each. sector: bytes that the memory moves at least. */
void load_find(struct load *l, const struct domain *d, int per_node, int sector);

/* Adds `times` a load, but for its messages, which are whole numbers. */
void load_add(struct load *sum, const struct load *l, double times);

#endif
