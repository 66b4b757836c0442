/* An HDF5 file that all ranks fill together; see h5file.h. */
#include "io/h5file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/background.h"
#include "base/file.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "io/seal.h"
#include "io/trailer.h"

enum {
    FLUSH = 64 * 1024 * 1024, /* bytes written before the system is told to flush them to disk */
    ALIGNMENT = 4096,         /* of datasets from LARGE bytes on: no page on disk belongs to two */
    LARGE = 64 * 1024,
    METADATA = 1024 * 1024 /* bytes reserved on disk for metadata, beyond the datasets */
};

struct dataset {
    int axes;
    int64_t size[H5FILE_AXES];
    int64_t sample_bytes;
    int64_t offset, bytes; /* in the file */
    bool apart;            /* not covered by the seal */
};

struct h5file {
    MPI_Comm comm;
    int rank;
    char *path, *temporary;
    int fd;             /* of the temporary file; -1: this rank has written nothing yet */
    enum status status; /* the worst on this rank so far, reported */
    int64_t unflushed;  /* bytes written since the system was last told to flush */
    bool finished;      /* h5file_finish was called */
    const char *kind;   /* of the seal; NULL: none, but a trailer */
    int format;
    uint64_t sum; /* of what this rank has written, for the trailer */
    int datasets;
    struct dataset *dataset;
    /* Rank 0 only: the layout, which is the file as HDF5 sees it, without its data. */
    int layout_fd;
    hid_t layout;
};

size_t sample_bytes(enum sample sample)
{
    static const size_t bytes[] = {
#define X(name, c_type, hdf5_type) sizeof(c_type),
        SAMPLE_LIST(X)
#undef X
    };
    return bytes[sample];
}

/* Turns a copy of a 32-bit type into IEEE binary16, for which older versions of HDF5 have no name.
 * The fields must be set before the size. */
static bool make_half(hid_t type)
{
    return H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type, 2) >= 0 &&
           H5Tset_ebias(type, 15) >= 0;
}

int64_t sample_type(enum sample sample)
{
    const hid_t of[] = {
#define X(name, c_type, hdf5_type) hdf5_type,
        SAMPLE_LIST(X)
#undef X
    };
    const hid_t type = H5Tcopy(of[sample]);
    if (type < 0 || sample != SAMPLE_float16 || make_half(type))
        return type;
    H5Tclose(type);
    return H5I_INVALID_HID;
}

/* The innermost line of HDF5's error stack. */
static herr_t take_reason(unsigned level, const H5E_error2_t *error, void *reason)
{
    if (level == 0 && error->desc)
        snprintf(reason, 256, "%s", error->desc);
    return 0;
}

/* Call it directly after the HDF5 call that failed: the next HDF5 call empties the error stack. */
static void fail_hdf5(struct h5file *file, const char *verb, const char *what)
{
    char reason[256] = "unknown reason";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, reason);
    file->status = fail_machine("cannot %s %s in %s: %s", verb, what, file->path, reason);
}

static void fail_errno(struct h5file *file, const char *verb, const char *path, int reason)
{
    file->status = fail_machine("cannot %s %s: %s", verb, path, strerror(reason));
}

/* Returns 0 or -1 with errno. */
static int write_at(struct h5file *file, const void *data, size_t bytes, int64_t at)
{
    if (!file->kind)
        file->sum += trailer_sum(data, bytes, at);
    return file_write_at(file->fd, data, bytes, at);
}

/* Makes sure that the first `end` bytes of the file fit on the disk. A disk, quota or limit that is
 * too small fails here, before anything is computed or written. Returns 0 or errno. */
static int reserve(int fd, int64_t end)
{
    int failed;
    do
        failed = fallocate(fd, 0, 0, end) != 0 ? errno : 0;
    while (failed == EINTR);
    if (failed != EOPNOTSUPP && failed != ENOSYS)
        return failed;
    /* This file system cannot reserve space: at least check free space and the size limit. */
    struct stat info;
    struct statvfs system;
    if (fstat(fd, &info) != 0)
        return errno;
    if (fstatvfs(fd, &system) == 0 && system.f_blocks > 0 &&
        (double)end - 512.0 * (double)info.st_blocks >
            (double)system.f_bavail * (double)system.f_frsize)
        return ENOSPC;
    return info.st_size < end && ftruncate(fd, end) != 0 ? errno : 0;
}

/* Rank 0: creates the layout, a file in memory. It has holes at the places of the data; these take
 * no memory. It contains no times, so that equal results give equal files. */
static void open_layout(struct h5file *file)
{
    file->layout_fd = memfd_create("tagflow-layout", MFD_CLOEXEC);
    if (file->layout_fd < 0) {
        fail_errno(file, "make a file in memory for", file->path, errno);
        return;
    }
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file->layout_fd);

    /* The stdio driver, because with sec2 HDF5 follows the link in /proc. */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    if (access < 0 || creation < 0 || H5Pset_obj_track_times(creation, false) < 0 ||
        (file->kind && H5Pset_userblock(creation, SEAL_BLOCK) < 0) ||
        H5Pset_fapl_stdio(access) < 0 || H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0 ||
        H5Pset_alignment(access, LARGE, ALIGNMENT) < 0 ||
        (file->layout = H5Fcreate(name, H5F_ACC_TRUNC, creation, access)) < 0)
        fail_hdf5(file, "start", "the layout");
    if (creation >= 0)
        H5Pclose(creation);
    if (access >= 0)
        H5Pclose(access);
}

static void release(struct h5file *file)
{
    if (file->layout >= 0)
        H5Fclose(file->layout); /* cannot fail: in memory and smaller than the reserved space */
    if (file->layout_fd >= 0)
        close(file->layout_fd);
    if (file->fd >= 0)
        close(file->fd);
    free(file->dataset);
    free(file->temporary);
    free(file->path);
    free(file);
}

enum status h5file_create(struct h5file **out, MPI_Comm comm, const char *path)
{
    return h5file_create_sealed(out, comm, path, NULL, 0);
}

void h5file_apart(struct h5file *file, int dataset)
{
    if (dataset < file->datasets)
        file->dataset[dataset].apart = true;
}

enum status h5file_create_sealed(struct h5file **out, MPI_Comm comm, const char *path,
                                 const char *kind, int format)
{
    struct h5file *file = calloc(1, sizeof *file);
    char *name = strdup(path), *temporary = file_temporary(path);
    bool memory = file && name && temporary;
    enum status status = memory ? STATUS_OK : fail_machine("no memory for %s", path);
    if (status_agree(comm, status) != STATUS_OK || !memory) {
        free(temporary);
        free(name);
        free(file);
        return STATUS_MACHINE;
    }
    *file = (struct h5file){.comm = comm,
                            .path = name,
                            .kind = kind,
                            .format = format,
                            .temporary = temporary,
                            .fd = -1,
                            .layout_fd = -1,
                            .layout = H5I_INVALID_HID};
    MPI_Comm_rank(comm, &file->rank);

    bool created = false;
    if (file->rank == 0) {
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* fail_hdf5 reports errors, in one line */
        file->fd = file_create_new(file->temporary);
        created = file->fd >= 0;
        int failed = created ? reserve(file->fd, METADATA) : errno;
        if (failed)
            fail_errno(file, "create", file->temporary, failed);
        else
            open_layout(file);
    }
    if (status_agree(comm, file->status) != STATUS_OK)
        goto remove_temporary;

    *out = file;
    return STATUS_OK;

remove_temporary:
    if (created)
        unlink(file->temporary);
    release(file);
    return STATUS_MACHINE;
}

/* Rank 0: adds the dataset to the layout and gets its offset. Reserves its place on disk first, so
 * that the layout cannot exceed the disk or the limit of the file size. */
static void lay_out(struct h5file *file, const char *name, enum sample sample, struct dataset *set)
{
    hsize_t size[H5FILE_AXES], end = 0;
    for (int axis = 0; axis < set->axes; ++axis)
        size[axis] = (hsize_t)set->size[axis];

    if (H5Fget_filesize(file->layout, &end) < 0) {
        fail_hdf5(file, "size", name);
        return;
    }
    int failed = reserve(file->fd, (int64_t)end + set->bytes + METADATA);
    if (failed) {
        file->status = fail_machine("no room for %s (%.3f GB) in %s: %s", name,
                                    1e-9 * (double)set->bytes, file->path, strerror(failed));
        return;
    }

    hid_t creation = H5Pcreate(H5P_DATASET_CREATE), link = H5Pcreate(H5P_LINK_CREATE);
    hid_t space = H5Screate_simple(set->axes, size, NULL), made = H5I_INVALID_HID;
    hid_t type = sample_type(sample);
    haddr_t offset = HADDR_UNDEF;
    if (creation < 0 || link < 0 || space < 0 || type < 0 ||
        H5Pset_obj_track_times(creation, false) < 0 ||
        H5Pset_layout(creation, H5D_CONTIGUOUS) < 0 ||
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY) < 0 ||
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) < 0 ||
        H5Pset_create_intermediate_group(link, 1) < 0 ||
        (made = H5Dcreate2(file->layout, name, type, space, link, creation, H5P_DEFAULT)) < 0 ||
        (offset = H5Dget_offset(made)) == HADDR_UNDEF)
        fail_hdf5(file, "add", name);
    set->offset = (int64_t)offset;
    if (made >= 0)
        H5Dclose(made);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (link >= 0)
        H5Pclose(link);
    if (creation >= 0)
        H5Pclose(creation);
}

enum status h5file_add(struct h5file *file, const char *name, enum sample sample, int axes,
                       const int64_t *size)
{
    assert(axes >= 1 && axes <= H5FILE_AXES);
    struct dataset set = {.axes = axes, .sample_bytes = (int64_t)sample_bytes(sample)};
    set.bytes = set.sample_bytes;
    bool too_large = false;
    for (int axis = 0; axis < axes; ++axis) {
        assert(size[axis] >= 1);
        set.size[axis] = size[axis];
        too_large |= __builtin_mul_overflow(set.bytes, size[axis], &set.bytes);
    }
    too_large |= set.bytes > INT64_MAX / 2; /* sums of offsets and sizes do not overflow */

    if (file->status == STATUS_OK && !ARRAY_ROOM(file->dataset, file->datasets))
        file->status = fail_machine("no memory for the dataset %s", name);
    if (file->status == STATUS_OK && too_large)
        file->status = fail_machine("the dataset %s is larger than any file", name);
    if (file->rank == 0 && file->status == STATUS_OK)
        lay_out(file, name, sample, &set);

    MPI_Bcast(&set.offset, 1, MPI_INT64_T, 0, file->comm);
    file->status = status_agree(file->comm, file->status);
    if (file->status == STATUS_OK)
        file->dataset[file->datasets++] = set;
    return file->status;
}

const int64_t *h5file_size(const struct h5file *file, int dataset, int *axes)
{
    if (dataset >= file->datasets)
        return NULL;
    *axes = file->dataset[dataset].axes;
    return file->dataset[dataset].size;
}

enum status h5file_write_array(struct h5file *file, int dataset, int64_t first, int axes,
                               const int64_t *size, const int64_t *start, const int64_t *count,
                               const void *data)
{
    if (file->status != STATUS_OK)
        return file->status;
    assert(dataset >= 0 && dataset < file->datasets);
    const struct dataset *set = &file->dataset[dataset];
    watchdog_progress();
    /* Ranks that write nothing do not open the file: of thousands few may write. No O_CREAT: it
     * must be an error if the nodes do not share the folder. */
    if (file->fd < 0 && (file->fd = open(file->temporary, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)) < 0) {
        fail_errno(file, "open", file->temporary, errno);
        return file->status;
    }

    /* stride: bytes from one index to the next along each axis. run: contiguous bytes in the file.
     * A run covers axis `cut`, the last one along which the box is only a part of the array (or
     * axis 0), and all later axes. */
    int64_t stride[H5FILE_AXES], run = 0, runs = 1;
    int cut = -1;
    for (int axis = axes - 1; axis >= 0; --axis) {
        assert(start[axis] >= 0 && count[axis] >= 0 && start[axis] + count[axis] <= size[axis]);
        stride[axis] = axis + 1 == axes ? set->sample_bytes : stride[axis + 1] * size[axis + 1];
        if (cut < 0 && (count[axis] < size[axis] || axis == 0)) {
            cut = axis;
            run = count[axis] * stride[axis];
        } else if (cut >= 0) {
            runs *= count[axis];
        }
    }
    assert(first >= 0 && first * set->sample_bytes + size[0] * stride[0] <= set->bytes);
    if (run == 0)
        return STATUS_OK;

    const char *from = data;
    for (int64_t r = 0; r < runs; ++r, from += run) {
        int64_t offset = set->offset + first * set->sample_bytes + start[cut] * stride[cut];
        for (int64_t axis = cut - 1, rest = r; axis >= 0; --axis) {
            offset += (start[axis] + rest % count[axis]) * stride[axis];
            rest /= count[axis];
        }
        if (write_at(file, from, (size_t)run, offset) != 0) {
            fail_errno(file, "write", file->path, errno);
            break;
        }
    }
    file->unflushed += run * runs;
    if (file->unflushed >= FLUSH) { /* a hint: fsync returns its errors */
        sync_file_range(file->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
        file->unflushed = 0;
    }
    return file->status;
}

enum status h5file_write(struct h5file *file, int dataset, const int64_t *start,
                         const int64_t *count, const void *data)
{
    if (file->status != STATUS_OK)
        return file->status;
    assert(dataset >= 0 && dataset < file->datasets);
    const struct dataset *const set = &file->dataset[dataset];
    return h5file_write_array(file, dataset, 0, set->axes, set->size, start, count, data);
}

void h5file_group(struct h5file *file, const char *name)
{
    if (file->rank != 0 || file->status != STATUS_OK)
        return;
    hid_t creation = H5Pcreate(H5P_GROUP_CREATE), link = H5Pcreate(H5P_LINK_CREATE);
    hid_t group = H5I_INVALID_HID;
    if (creation < 0 || link < 0 || H5Pset_obj_track_times(creation, false) < 0 ||
        H5Pset_create_intermediate_group(link, 1) < 0 ||
        (group = H5Gcreate2(file->layout, name, link, creation, H5P_DEFAULT)) < 0)
        fail_hdf5(file, "add", name);
    if (group >= 0)
        H5Gclose(group);
    if (link >= 0)
        H5Pclose(link);
    if (creation >= 0)
        H5Pclose(creation);
}

/* Rank 0: writes one attribute. Checks that type and space are valid; the caller closes them. */
static void write_attribute(struct h5file *file, const char *object, const char *name, hid_t type,
                            hid_t space, const void *value)
{
    hid_t attribute = H5I_INVALID_HID;
    if (type < 0 || space < 0 ||
        (attribute = H5Acreate_by_name(file->layout, object, name, type, space, H5P_DEFAULT,
                                       H5P_DEFAULT, H5P_DEFAULT)) < 0 ||
        H5Awrite(attribute, type, value) < 0)
        fail_hdf5(file, "write attribute", name);
    if (attribute >= 0)
        H5Aclose(attribute);
}

/* Rank 0: writes a string attribute of fixed length (size) or of variable length (H5T_VARIABLE). */
static void write_string(struct h5file *file, const char *object, const char *name, size_t size,
                         H5T_cset_t set, const void *value)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    if (type < 0 || H5Tset_size(type, size) < 0 || H5Tset_cset(type, set) < 0 ||
        (size != H5T_VARIABLE && H5Tset_strpad(type, H5T_STR_NULLPAD) < 0))
        fail_hdf5(file, "write attribute", name);
    else
        write_attribute(file, object, name, type, space, value);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
}

void h5file_text(struct h5file *file, const char *object, const char *name, const char *utf8)
{
    if (file->rank == 0 && file->status == STATUS_OK)
        write_string(file, object, name, H5T_VARIABLE, H5T_CSET_UTF8, &utf8);
}

void h5file_word(struct h5file *file, const char *object, const char *name, const char *ascii)
{
    assert(*ascii);
    if (file->rank == 0 && file->status == STATUS_OK)
        write_string(file, object, name, strlen(ascii), H5T_CSET_ASCII, ascii);
}

void h5file_numbers(struct h5file *file, const char *object, const char *name, enum sample sample,
                    int count, const void *values)
{
    if (file->rank != 0 || file->status != STATUS_OK)
        return;
    hsize_t size = (hsize_t)count;
    hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
    const hid_t type = sample_type(sample);
    write_attribute(file, object, name, type, space, values);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
}

/* Copies [from, to) of the layout to the file. Returns 0 or errno. */
static int copy_layout(struct h5file *file, int64_t from, int64_t to)
{
    char buffer[16 * 1024];
    while (from < to) {
        size_t wanted = to - from < (int64_t)sizeof buffer ? (size_t)(to - from) : sizeof buffer;
        ssize_t got = pread(file->layout_fd, buffer, wanted, from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        if (write_at(file, buffer, (size_t)got, from) != 0)
            return errno;
        from += got;
    }
    return 0;
}

static int by_offset(const void *left, const void *right)
{
    const struct dataset *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Rank 0: closes the layout and copies it into the file, around the datasets. */
static void write_layout(struct h5file *file)
{
    hid_t layout = file->layout;
    file->layout = H5I_INVALID_HID;
    if (H5Fclose(layout) < 0) {
        fail_hdf5(file, "finish", "the layout");
        return;
    }
    struct stat info;
    if (fstat(file->layout_fd, &info) != 0) {
        fail_errno(file, "finish", file->path, errno);
        return;
    }
    int failed = 0;
    int64_t done = 0, end = info.st_size;
    if (file->datasets > 0)
        qsort(file->dataset, (size_t)file->datasets, sizeof *file->dataset, by_offset);
    for (int i = 0; i < file->datasets && !failed; ++i) {
        failed = copy_layout(file, done, file->dataset[i].offset);
        done = file->dataset[i].offset + file->dataset[i].bytes;
    }
    if (!failed)
        failed = copy_layout(file, done, end);
    if (!failed && ftruncate(file->fd, end) != 0) /* frees excess reserved space */
        failed = errno;
    if (failed)
        fail_errno(file, "write", file->path, failed);
}

/* Rank 0: writes the seal into the first block, after everything else. */
static void write_seal(struct h5file *file)
{
    struct seal seal = {.format = file->format};
    struct stat info;
    char block[SEAL_BLOCK];
    int failed = fstat(file->fd, &info) != 0 ? errno : 0;
    seal.bytes = info.st_size;
    for (int i = 0; i < file->datasets; ++i) /* write_layout sorted them by offset */
        if (file->dataset[i].apart) {
            assert(seal.spans < SEAL_SPANS);
            seal.span[seal.spans++] =
                (struct seal_span){file->dataset[i].offset, file->dataset[i].bytes};
        }
    if (!failed)
        failed = seal_digest(file->fd, &seal, &seal.rest);
    if (!failed) {
        seal_print(&seal, file->kind, block);
        failed = file_write_at(file->fd, block, sizeof block, 0) != 0 ? errno : 0;
    }
    if (failed)
        fail_errno(file, "write", file->path, failed);
}

/* Writes the trailer, after everything else; rank 0 has the sum of all ranks. */
static void write_trailer(struct h5file *file)
{
    struct trailer trailer = {0};
    struct stat info;
    char text[TRAILER_BYTES + 1];
    MPI_Reduce(&file->sum, &trailer.sum, 1, MPI_UINT64_T, MPI_SUM, 0, file->comm);
    if (file->rank != 0 || file->status != STATUS_OK)
        return;
    int failed = fstat(file->fd, &info) != 0 ? errno : 0;
    trailer.bytes = info.st_size;
    trailer_print(&trailer, text);
    if (!failed)
        failed = file_write_at(file->fd, text, TRAILER_BYTES, trailer.bytes) != 0 ? errno : 0;
    if (failed)
        fail_errno(file, "write", file->path, failed);
}

/* Writes everything that is still missing. False: a rank failed before. */
static bool complete(struct h5file *file)
{
    assert(!file->finished);
    file->finished = true;
    if (status_agree(file->comm, file->status) != STATUS_OK) {
        file->status = STATUS_MACHINE;
        return false;
    }
    if (file->rank == 0)
        write_layout(file);
    if (!file->kind)
        write_trailer(file);
    else if (file->rank == 0 && file->status == STATUS_OK)
        write_seal(file);
    return true;
}

/* Brings this rank's data to disk: until now they may be only in the memory of its node. Any thread
 * may do it. */
static enum status sync_file(void *data)
{
    struct h5file *const file = data;
    if (file->fd < 0)
        return file->status;
    if (fsync(file->fd) != 0 && file->status == STATUS_OK)
        fail_errno(file, "write", file->path, errno);
    if (close(file->fd) != 0 && file->status == STATUS_OK)
        fail_errno(file, "write", file->path, errno);
    file->fd = -1;
    return file->status;
}

const char *h5file_finish(struct h5file *file)
{
    if (!complete(file))
        return NULL;
    file->status = status_agree(file->comm, sync_file(file));
    return file->status == STATUS_OK ? file->temporary : NULL;
}

enum status h5file_leave(struct h5file *file, struct background *b)
{
    if (!complete(file))
        return h5file_close(file, false);
    background_give(b, sync_file, file);
    return STATUS_OK;
}

enum status h5file_close(struct h5file *file, bool ok)
{
    if (!file)
        return ok ? STATUS_OK : STATUS_MACHINE;
    if (!ok && file->status == STATUS_OK)
        file->status = STATUS_MACHINE; /* reported by the caller */
    if (!file->finished)
        h5file_finish(file);
    enum status status = status_agree(file->comm, file->status);
    if (file->rank == 0) {
        if (status == STATUS_OK)
            status = file_rename(file->temporary, file->path);
        else
            unlink(file->temporary);
    }
    int result = (int)status;
    MPI_Bcast(&result, 1, MPI_INT, 0, file->comm);
    release(file);
    return (enum status)result;
}
