/* Reads attributes, and the places of datasets, of HDF5 files that this program wrote
 * (io/h5file.h). On one rank. False or NULL: missing, or not as expected; nothing is reported. */
#ifndef TAGFLOW_H5READ_H
#define TAGFLOW_H5READ_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/h5file.h"

/* An attribute of `count` numbers, as `type`. */
bool h5read_numbers(hid_t file, const char *object, const char *name, hid_t type, int count,
                    void *out);

/* A string attribute of fixed or variable length: allocated, or copied to `out` if it fits. */
char *h5read_text(hid_t file, const char *object, const char *name);
bool h5read_short_text(hid_t file, const char *object, const char *name, char *out, size_t size);

/* Sizes along the axes, type (enum sample) and offset in bytes of a contiguous dataset that has
 * `axes` axes. */
bool h5read_dataset(hid_t file, const char *name, int axes, hsize_t *size, int *sample,
                    int64_t *offset);

#endif
