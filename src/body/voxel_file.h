/* Files with voxel images: raw, HDF5, TIFF, npy. Each process opens the file itself and reads only
 * the parts of planes that it needs. Reading is not collective: if the file ends too soon, only the
 * rank that notices has an error, and no rank waits for another.
 *
 * Errors are not reported here. STATUS_USAGE (the file is wrong), STATUS_MACHINE (reading or memory
 * failed) and STATUS_STOPPED come with a reason in words that follow the file's name (" has 3
 * axes"). */
#ifndef TAGFLOW_VOXEL_FILE_H
#define TAGFLOW_VOXEL_FILE_H

#include <stddef.h>

#include "base/status.h"
#include "body/voxel_image.h"

enum { VOXEL_REASON = 192 };

/* Most bytes that a TIFF may need at once: a strip or a tile, its directory. */
#ifndef VOXEL_TIFF_BYTES
#define VOXEL_TIFF_BYTES (1 << 30)
#endif

struct voxel_file {
    enum voxel_format format;
    int size[3];
    enum voxel_type type;
    bool white_zero; /* as of voxel_image */
    bool plain;      /* all voxels lie in order, from `skip` on, as in a raw file */
    bool big_endian; /* plain */
    int64_t skip;
    int block[2]; /* lines y and planes z that are unpacked together: see voxel_file_each */
    int fd;
    void *hdf5;      /* struct foreign, see foreign/hdf5.h */
    void *tiff;      /* struct voxel_tiff, see voxel_tiff.c */
    uint8_t *buffer; /* the last data read, as in the file */
    size_t buffer_bytes;
};

/* Open `path` and check that it fits the image. f->size and f->type are the file's; for raw they
 * are the image's, and the file must have exactly that length. A file that should be a TIFF may be
 * npy: f->format says so. After a failure it need not be closed. */
enum status voxel_file_open(struct voxel_file *f, const char *path, const struct voxel_image *image,
                            char reason[VOXEL_REASON]);
void voxel_file_close(struct voxel_file *f);

/* Call `take` for the voxels lo <= voxel < hi, in parts of planes: whole lines of this box, each
 * once, in an order in which nothing is unpacked twice. labels: room for a plane of the box.
 * Returns STATUS_STOPPED if this process is asked to stop. */
typedef enum status voxel_take(void *context, int z, const int lo[2], const int hi[2],
                               const int32_t *labels);
enum status voxel_file_each(struct voxel_file *f, const int lo[3], const int hi[3], int32_t *labels,
                            voxel_take *take, void *context, char reason[VOXEL_REASON]);

/* The labels of plane z with lo[0] <= x < hi[0], lo[1] <= y < hi[1], which lie in the image:
 * labels[hi[1] - lo[1]][hi[0] - lo[0]]. Planes in ascending order are read fastest. */
enum status voxel_file_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON]);

/* For the formats: make f->buffer at least this large. */
enum status voxel_file_buffer(struct voxel_file *f, size_t bytes, char reason[VOXEL_REASON]);
/* Bytes of a number. */
size_t voxel_file_bytes(enum voxel_type type);
/* Convert `count` numbers of f's type, in the byte order of this machine, to labels. STATUS_USAGE,
 * with a reason: one of them is no label. */
enum status voxel_file_labels(const struct voxel_file *f, const void *from, size_t count,
                              int32_t *labels, char reason[VOXEL_REASON]);
/* Has a file of `bytes` bytes just the numbers that f->size, f->type and f->skip say? */
enum status voxel_file_length(const struct voxel_file *f, int64_t bytes, const char *hint,
                              char reason[VOXEL_REASON]);
/* Set the reason and return STATUS_USAGE (wrong) or STATUS_MACHINE (failed). */
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
enum status voxel_npy_open(struct voxel_file *f, int64_t bytes, char reason[VOXEL_REASON]);

/* For TIFF: find f->size[2] of a file of so many pages and bytes, whose current page is the first
 * one: f->size and f->type are of that. If the planes of a single page follow each other, f is
 * plain then. `tiff`: of libtiff. */
enum status voxel_stack_find(struct voxel_file *f, void *tiff, int64_t bytes, int pages,
                             char reason[VOXEL_REASON]);

#endif
