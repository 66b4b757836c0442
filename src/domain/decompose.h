/* Decomposition of the box among ranks: px x py x pz blocks, as equal as whole cells allow. */
#ifndef TAGFLOW_DECOMPOSE_H
#define TAGFLOW_DECOMPOSE_H

#include <limits.h>
#include <stdint.h>

#include "base/status.h"

/* Largest number of cells of a face between two blocks: a message has 5 populations of each, and
 * its length is an int. */
enum { DECOMPOSE_FACE = INT_MAX / 5 };

/* Cells along one axis that part `index` of `parts` owns: [*lo, *lo + return value). */
int block_cells(int cells, int parts, int index, int *lo);

/* All parts as positions, [parts + 1]: part k owns the cells at[k] <= cell < at[k + 1]. */
void cut_evenly(int cells, int parts, int *at);

/* The same at multiples of `grain` cells, of which there are at least as many as parts. */
void cut_evenly_by(int cells, int parts, int grain, int *at);

/* Positions that minimise the largest sum of `count` over a part; count: [cells], all >= 0. Every
 * part has at least one cell. parts <= cells. */
void cut_fairly(const int64_t *count, int cells, int parts, int *at);

/* The same at multiples of `grain` cells; changes `count`. */
void cut_fairly_by(int64_t *count, int cells, int parts, int grain, int *at);

/* Cuts along x, y, z with cuts[0] cuts[1] cuts[2] = ranks and at least one cell per block. wanted:
 * the user's cuts; 0 0 0: the program chooses the smallest halo, where cuts along x cost most
 * (their cells are apart in memory), then those along y. STATUS_USAGE, reported, when impossible.
 */
enum status decompose(const int cells[3], const int wanted[3], int ranks, int cuts[3]);

#endif
