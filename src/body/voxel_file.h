/* Files that hold voxel images: raw, HDF5, TIFF. Each process opens the file for itself and reads
 * the parts of planes that it asks for, no more: reading is independent on every rank, so that a
 * file that ends too soon is an error of the rank that noticed, and nobody waits for it.
 *
 * Nothing here reports: STATUS_USAGE, the file is no good, or STATUS_MACHINE, reading or memory
 * failed, comes with a reason in words that follow the file's name (" has 3 axes"). */
#ifndef TAGFLOW_VOXEL_FILE_H
#define TAGFLOW_VOXEL_FILE_H

#include <stddef.h>

#include "base/status.h"
#include "body/voxel_image.h"

enum { VOXEL_REASON = 192 };

/* Bytes that a TIFF may ask for at once: a strip or a tile, its directory. */
#ifndef VOXEL_TIFF_BYTES
#define VOXEL_TIFF_BYTES (1 << 30)
#endif

struct voxel_file {
    enum voxel_format format;
    int size[3];
    enum voxel_type type;
    bool big_endian;
    int64_t skip;
    int fd;
    long long handle; /* hdf5: the file, a hid_t */
    long long dataset;
    void *tiff;      /* struct voxel_tiff, see voxel_tiff.c */
    uint8_t *buffer; /* what was read last, as the file has it */
    size_t buffer_bytes;
};

/* Open `path` and see that it is what the image says; for hdf5 and tiff, f->size and f->type are
 * the file's, for raw the image's, which the length of the file must fit exactly. A failed one need
 * not be closed. */
enum status voxel_file_open(struct voxel_file *f, const char *path, const struct voxel_image *image,
                            char reason[VOXEL_REASON]);
void voxel_file_close(struct voxel_file *f);

/* The labels of plane z with lo[0] <= x < hi[0], lo[1] <= y < hi[1], which lie in the image:
 * labels[hi[1] - lo[1]][hi[0] - lo[0]]. Planes in ascending order are read fastest. */
enum status voxel_file_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON]);

/* For the formats: at least so many bytes in f->buffer. */
enum status voxel_file_buffer(struct voxel_file *f, size_t bytes, char reason[VOXEL_REASON]);
/* `count` numbers of f's type, in the byte order of this machine, as labels. */
void voxel_file_labels(const struct voxel_file *f, const void *from, size_t count, int32_t *labels);
/* The reason, and which status it is. */
enum status voxel_file_wrong(char reason[VOXEL_REASON], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum status voxel_file_failed(char reason[VOXEL_REASON], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum status voxel_hdf5_open(struct voxel_file *f, const char *path, const char *dataset,
                            char reason[VOXEL_REASON]);
enum status voxel_hdf5_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON]);
void voxel_hdf5_close(struct voxel_file *f);
enum status voxel_tiff_open(struct voxel_file *f, char reason[VOXEL_REASON]);
enum status voxel_tiff_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON]);
void voxel_tiff_close(struct voxel_file *f);

#endif
