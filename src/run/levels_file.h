/* Files of results on one or several levels: OverlappingAMR with all of them, or ImageData with the
 * cells of one level, for which finer cells are averaged and coarser ones copied. Format:
 * docs/formats.md. */
#ifndef TAGFLOW_LEVELS_FILE_H
#define TAGFLOW_LEVELS_FILE_H

#include "io/h5file.h"
#include "run/cover.h"

/* An array of the file: components `first`, .. of a quantity, in the units of the case:
 * (add + value) / divide * scale[0] * scale[1]. */
struct levels_array {
    char name[CASE_NAME + 32];
    const struct cover_quantity *of; /* equal ones lie side by side */
    int first, components;
    enum sample sample; /* uint8, float32 or float64 */
    double add, divide, scale[2];
};

/* Writes the region lo <= cell < hi, in cells of level 0. levels: CASE_LEVELS_all, or the level of
 * an ImageData. dx: width of a cell of level 0. If *out was set, the caller adds attributes and
 * ends the file with h5file_close or h5file_leave, also if this failed. Collective: one status on
 * all ranks, failures reported. */
enum status levels_file_write(struct h5file **out, struct grid *g, const char *path,
                              const int lo[3], const int hi[3], double dx, int levels, int arrays,
                              const struct levels_array *array);

#endif
