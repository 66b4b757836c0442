/* Snapshots and averages as VTKHDF: OverlappingAMR with all levels, or ImageData with the cells of
 * one level, for which finer cells are averaged and coarser ones copied. Format: docs/formats.md.
 */
#ifndef TAGFLOW_LEVELS_FILE_H
#define TAGFLOW_LEVELS_FILE_H

#include "io/h5file.h"
#include "run/cover.h"
#include "run/output_kind.h"

/* An array of the file: components `first`, .. of a quantity, in the units of the case:
 * (add + value) / divide * scale[0] * scale[1] ..; divide 0: no division, a scale of 0 ends it. */
struct levels_array {
    char name[CASE_NAME + 32];
    const struct cover_quantity *of; /* equal ones lie side by side */
    int first, components;
    enum sample sample; /* uint8, float32 or float64 */
    double add, divide, scale[4];
};

/* Stores a value of the quantity in the array's type and units at out[place]. */
void levels_array_put(const struct levels_array *a, void *out, size_t place, double value);

/* The content of a file. */
struct levels_file {
    const struct case_region *region;
    int levels; /* CASE_LEVELS_all, or the level of an ImageData; one grid has level 0 alone */
    int stride; /* ImageData: every stride-th cell of its level along each axis, from the first */
    int arrays;
    const struct levels_array *array;
    bool provenance_first; /* it comes before the arrays in the file, else after their data */
};

/* Writes the file of the solver's step. If *out was set, the caller may add attributes and ends the
 * file with h5file_close or h5file_leave, also if this failed. Collective: one status on all ranks,
 * failures reported. */
enum status levels_file_write(struct h5file **out, const struct output_entry *e,
                              const struct levels_file *content);

#endif
