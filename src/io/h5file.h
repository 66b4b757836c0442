/* An HDF5 file that all ranks fill together.
 *
 * HDF5 cannot close a file whose last pages did not fit on the disk, and a collective MPI-IO write
 * waits for ever for a rank that failed. So HDF5 only makes the layout of the file, in memory on
 * rank 0. Datasets are contiguous; h5file_add reserves their places on disk, and each rank writes
 * its boxes there itself. So a failure is an errno on the rank where it happens, and the file gets
 * its name only after every rank has everything on disk.
 *
 *     h5file_create .. h5file_group, h5file_add, h5file_text .. h5file_write .. h5file_close
 *
 * A file that was created must be closed, also if a call in between failed. */
#ifndef TAGFLOW_H5FILE_H
#define TAGFLOW_H5FILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Types of a dataset's or an attribute's elements: name here, C type, HDF5's name. */
#define SAMPLE_LIST(X)                                                                             \
    X(float16, uint16_t, H5T_IEEE_F32LE) /* becomes binary16 */                                    \
    X(float32, float, H5T_NATIVE_FLOAT)                                                            \
    X(float64, double, H5T_NATIVE_DOUBLE)                                                          \
    X(uint8, uint8_t, H5T_NATIVE_UINT8)                                                            \
    X(uint16, uint16_t, H5T_NATIVE_UINT16)                                                         \
    X(int32, int32_t, H5T_NATIVE_INT32)                                                            \
    X(uint32, uint32_t, H5T_NATIVE_UINT32)                                                         \
    X(int64, int64_t, H5T_NATIVE_INT64)                                                            \
    X(uint64, uint64_t, H5T_NATIVE_UINT64)
enum sample {
#define X(name, c_type, hdf5_type) SAMPLE_##name,
    SAMPLE_LIST(X)
#undef X
};

/* Bytes of one element. */
size_t sample_bytes(enum sample sample);

/* HDF5's type of one element (an hid_t); close it with H5Tclose. Negative: HDF5 failed. */
int64_t sample_type(enum sample sample);

enum { H5FILE_AXES = 5 }; /* most axes of a dataset */

struct h5file;

/* Starts the file `path`. Until it is closed its name is `path` with FILE_TEMPORARY appended. It
 * gets a trailer (io/trailer.h): no byte may be written twice.
 * Collective: one status on all ranks; *out is set only on success. */
enum status h5file_create(struct h5file **out, MPI_Comm comm, const char *path);

/* The same, with a seal at the start of the file (io/seal.h) and no trailer. */
enum status h5file_create_sealed(struct h5file **out, MPI_Comm comm, const char *path,
                                 const char *kind, int format);

/* Leaves a dataset of a sealed file out of the seal; for data with separate checksums. Call it on
 * all ranks, for at most SEAL_SPANS datasets. */
void h5file_apart(struct h5file *file, int dataset);

/* Adds a dataset of size[0] x .. x size[axes - 1] elements, the last axis the fastest, every size
 * at least 1, and reserves its place on disk. Creates missing groups of its path. Datasets are
 * numbered 0, 1, .. in the order of the calls. Collective: one status on all ranks. */
enum status h5file_add(struct h5file *file, const char *name, enum sample sample, int axes,
                       const int64_t *size);

/* Writes a box of a dataset: start and count along its axes, data tightly packed in the same
 * order. Not collective: any number of times on any rank, or never. Elements that no rank writes
 * are undefined. On failure, reported once, this and all later writes return STATUS_MACHINE. */
enum status h5file_write(struct h5file *file, int dataset, const int64_t *start,
                         const int64_t *count, const void *data);

/* The same for a dataset that holds several arrays one after the other: writes a box of the array
 * of size[0] x .. x size[axes - 1] elements whose first element is number `first` of the
 * dataset. */
enum status h5file_write_array(struct h5file *file, int dataset, int64_t first, int axes,
                               const int64_t *size, const int64_t *start, const int64_t *count,
                               const void *data);

/* The sizes of a dataset along its axes, as given to h5file_add; *axes: number of axes. NULL: no
 * such dataset, because h5file_add failed. */
const int64_t *h5file_size(const struct h5file *file, int dataset, int *axes);

/* Add groups and attributes. Rank 0 writes them; calls on other ranks do nothing. Not collective. A
 * failure is reported here and returned by h5file_close. `object` is a group, "/" or a dataset. */
void h5file_group(struct h5file *file, const char *name);
void h5file_text(struct h5file *file, const char *object, const char *name, const char *utf8);
void h5file_word(struct h5file *file, const char *object, const char *name, const char *ascii);
void h5file_numbers(struct h5file *file, const char *object, const char *name, enum sample sample,
                    int count, const void *values); /* count 1: a scalar */

/* Brings everything to disk and returns the temporary name, which the file still has. After this
 * nothing can be added or written. Collective. NULL: failed, reported. */
const char *h5file_finish(struct h5file *file);

/* Completes the file, and gives `b` the job to bring it to disk. h5file_close must follow after
 * background_wait; nothing can be added or written before. Collective: one status on all ranks;
 * STATUS_MACHINE, reported: it failed, as h5file_close(file, false) does. */
struct background;
enum status h5file_leave(struct h5file *file, struct background *b);

/* Ends the file. If `ok` and nothing failed on any rank, the file is on disk under its name; else
 * it is deleted. Collective: one status on all ranks, STATUS_OK only if the file exists. NULL: does
 * nothing. */
enum status h5file_close(struct h5file *file, bool ok);

#endif
