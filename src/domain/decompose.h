/* How the box of cells is cut among ranks: px x py x pz blocks as equal as whole cells allow. */
#ifndef TAGFLOW_DECOMPOSE_H
#define TAGFLOW_DECOMPOSE_H

#include <stdint.h>

#include "base/status.h"

/* Cells along one axis that part `index` of `parts` owns: [*lo, *lo + return value). */
int block_cells(int cells, int parts, int index, int *lo);

/* The same as positions: part k owns the cells at[k] to before at[k + 1]; [parts + 1]. */
void cut_evenly(int cells, int parts, int *at);

/* Positions such that the part with the most of what `count` says of each cell, [cells], all >= 0,
 * has as little as can be; every part has a cell at least. parts <= cells. */
void cut_fairly(const int64_t *count, int cells, int parts, int *at);

/* Cuts along x, y, z with cuts[0] cuts[1] cuts[2] = ranks and no block without a cell.
 * wanted: 0 0 0 lets the program choose: the least halo, cuts along x counted dearest (their cells
 * are apart in memory), then y; else the user's cuts. STATUS_USAGE, reported, when impossible. */
enum status decompose(const int cells[3], const int wanted[3], int ranks, int cuts[3]);

#endif
