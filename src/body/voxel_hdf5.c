/* Voxel images in HDF5 files: a dataset [z][y][x] of 8- or 16-bit integers, whatever its layout and
 * filters. Each rank opens the file for reading, which needs no word from the others, and reads
 * hyperslabs. */
#include <hdf5.h>

#include "body/voxel_file.h"

/* Chunks that are unpacked are kept up to so many bytes, so that one that several planes share is
 * unpacked once. */
enum { CHUNKS = 256 << 20 };

/* HDF5 is silent meanwhile: we say it ourselves, in one line. */
struct silence {
    H5E_auto2_t report;
    void *to;
};

static struct silence silence_begin(void)
{
    struct silence s;
    H5Eget_auto2(H5E_DEFAULT, &s.report, &s.to);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return s;
}

static void silence_end(struct silence s)
{
    H5Eset_auto2(H5E_DEFAULT, s.report, s.to);
}

/* Bytes of the chunks that a plane cuts; 0: the dataset has none. */
static size_t chunks_of_plane(hid_t dataset, int axes, const hsize_t *size, size_t bytes)
{
    hsize_t chunk[3];
    double all = (double)bytes;
    const hid_t how = H5Dget_create_plist(dataset);
    const bool chunked =
        how >= 0 && H5Pget_layout(how) == H5D_CHUNKED && H5Pget_chunk(how, 3, chunk) == axes;
    if (how >= 0)
        H5Pclose(how);
    if (!chunked)
        return 0;
    for (int a = 0; a < axes; a++)
        all *=
            (double)chunk[a] * (a < axes - 2 ? 1 : (double)((size[a] + chunk[a] - 1) / chunk[a]));
    return all < CHUNKS ? (size_t)all : CHUNKS;
}

/* Type and size of the dataset that is open. */
static enum status take_header(struct voxel_file *f, const char *name, size_t *chunks,
                               char reason[VOXEL_REASON])
{
    hsize_t size[3] = {1, 1, 1};
    const hid_t space = H5Dget_space(f->dataset), type = H5Dget_type(f->dataset);
    const int axes = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    const bool whole = type >= 0 && H5Tget_class(type) == H5T_INTEGER;
    const size_t bytes = whole ? H5Tget_size(type) : 0;
    const bool is_signed = whole && H5Tget_sign(type) != H5T_SGN_NONE;
    const bool sized = axes == 3 && H5Sget_simple_extent_dims(space, size, NULL) == 3;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (!whole)
        return voxel_file_wrong(reason, ": its dataset '%.60s' does not hold whole numbers", name);
    if (bytes != 1 && bytes != 2)
        return voxel_file_wrong(reason, ": its dataset '%.60s' holds numbers of %zu bits (8 or 16)",
                                name, 8 * bytes);
    if (!sized)
        return voxel_file_wrong(reason, ": its dataset '%.60s' has %d axes, not 3 (z, y, x)", name,
                                axes < 0 ? 0 : axes);
    for (int a = 0; a < 3; a++) {
        if (size[a] < 1 || size[a] > VOXEL_AXIS)
            return voxel_file_wrong(reason,
                                    ": its dataset '%.60s' has %.0f voxels along an axis (1 to %d)",
                                    name, (double)size[a], VOXEL_AXIS);
        f->size[2 - a] = (int)size[a];
    }
    f->type = bytes == 1 ? is_signed ? VOXEL_int8 : VOXEL_uint8
                         : (is_signed ? VOXEL_int16 : VOXEL_uint16);
    *chunks = chunks_of_plane(f->dataset, 3, size, bytes);
    return STATUS_OK;
}

/* The dataset again, with room for so many bytes of chunks. */
static enum status reopen(struct voxel_file *f, const char *name, size_t chunks,
                          char reason[VOXEL_REASON])
{
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    const bool set = access >= 0 && H5Pset_chunk_cache(access, 12421, chunks, 1) >= 0;
    if (set) {
        H5Dclose(f->dataset);
        f->dataset = H5Dopen2(f->handle, name, access);
    }
    if (access >= 0)
        H5Pclose(access);
    return set && f->dataset >= 0
               ? STATUS_OK
               : voxel_file_failed(reason, ": HDF5 opens its dataset '%.60s' only once", name);
}

static enum status open_dataset(struct voxel_file *f, const char *path, const char *name,
                                char reason[VOXEL_REASON])
{
    size_t chunks = 0;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    /* file systems without locks would refuse, and nothing is written */
    const bool set = access >= 0 && H5Pset_file_locking(access, 0, 1) >= 0 &&
                     /* no more than is asked for */
                     H5Pset_sieve_buf_size(access, 0) >= 0;
    f->handle = set ? H5Fopen(path, H5F_ACC_RDONLY, access) : -1;
    if (access >= 0)
        H5Pclose(access);
    if (f->handle < 0)
        return voxel_file_wrong(reason,
                                " cannot be read as an HDF5 file (is it one? is it whole?)");
    f->dataset = H5Dopen2(f->handle, name, H5P_DEFAULT);
    if (f->dataset < 0)
        return voxel_file_wrong(reason, " holds no dataset '%.60s'", name);
    const enum status s = take_header(f, name, &chunks, reason);
    return s || !chunks ? s : reopen(f, name, chunks, reason);
}

enum status voxel_hdf5_open(struct voxel_file *f, const char *path, const char *dataset,
                            char reason[VOXEL_REASON])
{
    const struct silence silence = silence_begin();
    const enum status s = open_dataset(f, path, dataset, reason);
    silence_end(silence);
    return s;
}

enum status voxel_hdf5_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON])
{
    const struct silence silence = silence_begin();
    const hsize_t start[3] = {(hsize_t)z, (hsize_t)lo[1], (hsize_t)lo[0]};
    const hsize_t count[3] = {1, (hsize_t)(hi[1] - lo[1]), (hsize_t)(hi[0] - lo[0])};
    const hid_t in_file = H5Dget_space(f->dataset), here = H5Screate_simple(3, count, NULL);
    const bool ok = in_file >= 0 && here >= 0 &&
                    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                    H5Dread(f->dataset, H5T_NATIVE_INT32, here, in_file, H5P_DEFAULT, labels) >= 0;
    if (in_file >= 0)
        H5Sclose(in_file);
    if (here >= 0)
        H5Sclose(here);
    silence_end(silence);
    return ok ? STATUS_OK
              : voxel_file_wrong(reason, ": HDF5 cannot read its plane %d (is it whole?)", z);
}

void voxel_hdf5_close(struct voxel_file *f)
{
    if (f->dataset >= 0)
        H5Dclose(f->dataset);
    if (f->handle >= 0)
        H5Fclose(f->handle);
    f->dataset = f->handle = -1;
}
