/* An HDF5 file that all ranks fill together.
 *
 * HDF5 cannot close a file whose last pages did not fit on the disk, and a collective MPI-IO write
 * waits for ever for a rank that failed. So here HDF5 only lays the file out, in memory on rank 0;
 * datasets are contiguous, their places are reserved on disk as they are added, and each rank
 * writes its boxes there by itself. What goes wrong is then an errno, on the rank where it went
 * wrong, and the file appears under its name only when every rank has everything on disk.
 *
 *     h5file_create .. h5file_group, h5file_add, h5file_text .. h5file_write .. h5file_close
 *
 * A file that was created must be closed, whatever the calls between returned. */
#ifndef TAGFLOW_H5FILE_H
#define TAGFLOW_H5FILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* What a dataset or an attribute is made of: name here, C type, HDF5's name. */
#define SAMPLE_LIST(X)                                                                             \
    X(float16, uint16_t, H5T_IEEE_F32LE) /* made of that */                                        \
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

/* Bytes of one. */
size_t sample_bytes(enum sample sample);

/* HDF5's type of one (an hid_t), to be closed with H5Tclose. Negative: HDF5 failed. */
int64_t sample_type(enum sample sample);

enum { H5FILE_AXES = 5 }; /* a dataset has at most so many */

struct h5file;

/* Starts the file path, under path with FILE_TEMPORARY behind it until it is closed. Collective.
 * The same status on all ranks; *out is set only on success. */
enum status h5file_create(struct h5file **out, MPI_Comm comm, const char *path);

/* The same with a seal before it (io/seal.h). */
enum status h5file_create_sealed(struct h5file **out, MPI_Comm comm, const char *path,
                                 const char *kind, int format);

/* Leave a dataset of a sealed file out of the seal: it has checksums of its own. On all ranks, at
 * most SEAL_SPANS times. */
void h5file_apart(struct h5file *file, int dataset);

/* Adds a dataset of size[0] x .. x size[axes - 1] samples, the last axis the fastest, every size
 * at least 1, and reserves its place on disk. Groups on the way are made. Datasets are numbered
 * 0, 1, .. as they are added. Collective; the same status on all ranks. */
enum status h5file_add(struct h5file *file, const char *name, enum sample sample, int axes,
                       const int64_t *size);

/* Writes a box of a dataset: start and count along its axes, data tightly packed in the same
 * order. Not collective: any number of times on any rank, or never. What nobody writes is not
 * defined. On failure, reported once, this and all further writes return STATUS_MACHINE. */
enum status h5file_write(struct h5file *file, int dataset, const int64_t *start,
                         const int64_t *count, const void *data);

/* The sizes of a dataset along its axes, as they were given; *axes says how many. NULL: there
 * is no such dataset, because adding it failed. */
const int64_t *h5file_size(const struct h5file *file, int dataset, int *axes);

/* Groups and attributes. What rank 0 gives counts, other ranks may call or not; nobody waits. A
 * failure is reported and comes back from h5file_close. `object` is a group, "/" or a dataset. */
void h5file_group(struct h5file *file, const char *name);
void h5file_text(struct h5file *file, const char *object, const char *name, const char *utf8);
void h5file_word(struct h5file *file, const char *object, const char *name, const char *ascii);
void h5file_numbers(struct h5file *file, const char *object, const char *name, enum sample sample,
                    int count, const void *values); /* count 1: a scalar */

/* Everything to disk, still under the temporary name, which this returns; nothing can be added or
 * written any more. Collective. NULL: failed, reported. */
const char *h5file_finish(struct h5file *file);

/* Ends the file: on disk and under its name if `ok` and all went well on all ranks, gone otherwise.
 * Collective; the same status on all ranks, STATUS_OK only if the file is there. NULL: nothing. */
enum status h5file_close(struct h5file *file, bool ok);

#endif
