/* The memory and the descriptors that a run needs, and whether hosts and devices have them. */
#ifndef TAGFLOW_ROOM_H
#define TAGFLOW_ROOM_H

#include "solver/grid.h"

/* Numbers per cell of an average: means, and sums of products of deviations from them. A file holds
 * only those that were asked for; in memory the stress also needs the mean velocity. */
int room_average_numbers(const struct case_average *a, bool in_file);

/* Bytes of backend memory that averages and residuals need for a block of n cells of a level that
 * begins at `lo`. c: the case of level 0; lo NULL: an upper bound for a block anywhere. A checkpoint
 * holds the same bytes. */
double room_remembered(const struct flow_case *c, int level, const int *lo, const int n[3]);

/* Raises the limit of open files for the series, or refuses what is beyond it. Refuses a box that
 * is far too large before its tags are made: compares the memory of the hosts with the size of
 * the tags; on the CPU, if storage cannot be sparse, with the size of the whole run. Collective;
 * fails like room_check. */
enum status room_before_tags(const struct flow_case *c, const struct backend_type *type,
                             MPI_Comm comm);

/* Have hosts and devices room for the run? Call it after grid_open. STATUS_USAGE, reported: a host
 * or device has too little memory. STATUS_MACHINE: other programs use too much of it, even after
 * some seconds. */
enum status room_check(const struct grid *g);

#endif
