/* Foreign HDF5 files in the second process; see hdf5.h. Its requests come from the first process,
 * its data from the file. */
#include <hdf5.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foreign/hdf5_wire.h"

/* Largest size along an axis: the reader refuses smaller ones already, and sums of it do not
 * overflow. */
#define LARGEST ((hsize_t)1 << 50)

struct server {
    const char *name; /* of the dataset */
    enum foreign_as as;
    hid_t file, dataset, memory; /* the type of the numbers in memory */
    struct foreign found;
    struct foreign_answer answer;
    size_t chunks; /* bytes of chunks that are kept unpacked */
    void *out;
    size_t room;
};

static bool wrong(struct server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct server *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    s->answer.status = STATUS_USAGE;
    vsnprintf(s->answer.reason, sizeof s->answer.reason, format, list);
    va_end(list);
    for (char *c = s->answer.reason; *c; c++) /* names may hold anything */
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
    return false;
}

/* ---- files that are refused ---- */

/* Refuses a path that leads into another file. */
static herr_t refuse_link(const char *file, const char *group, const char *other,
                          const char *object, unsigned *flags, hid_t access, void *data)
{
    struct server *const s = data;
    (void)file, (void)group, (void)flags, (void)access;
    wrong(s, ": its dataset '%.50s' is '%.40s' in another file, %.50s (name that)", s->name, object,
          other);
    return -1;
}

static bool check_filters(struct server *s, hid_t how)
{
    const int count = H5Pget_nfilters(how);
    for (int k = 0; k < count; k++) {
        unsigned flags = 0, values[1], config = 0;
        size_t length = 1;
        char name[32] = "";
        const H5Z_filter_t filter =
            H5Pget_filter2(how, (unsigned)k, &flags, &length, values, sizeof name, name, &config);
        if (filter < 0 || H5Zfilter_avail(filter) <= 0)
            return wrong(s,
                         ": its dataset '%.50s' is packed with filter %d (%.31s), which this HDF5 "
                         "lacks (h5repack -f GZIP=4 where it has it)",
                         s->name, (int)filter, *name ? name : "no name");
    }
    return count >= 0;
}

/* A row of chunks along x must fit into memory. A block is one layer of chunks along z and as many
 * rows of chunks along y as are kept. */
static bool take_chunks(struct server *s, int axes, const hsize_t *chunk)
{
    struct foreign *const f = &s->found;
    const int64_t deep = axes > 2 ? (int64_t)chunk[0] : 1, high = (int64_t)chunk[axes - 2],
                  wide = (int64_t)chunk[axes - 1];
    const double one = (double)deep * (double)high * (double)wide * f->bytes,
                 row = one * (double)((f->size[2] + wide - 1) / wide);
    if (row > (double)((int64_t)FOREIGN_ROW << 20))
        return wrong(s,
                     ": its dataset '%.50s' has chunks of %.5g MiB, and %.5g MiB of them along x "
                     "(at most %d; h5repack -l CHUNK=64x64x64)",
                     s->name, one / (1 << 20), row / (1 << 20), FOREIGN_ROW);
    const double rows = (double)((int64_t)FOREIGN_CHUNKS << 20) / row;
    const int64_t most = (f->size[1] + high - 1) / high;
    const int64_t kept = rows < 1 || most < 1 ? 1 : rows < (double)most ? (int64_t)rows : most;
    f->block[0] = deep;
    f->block[1] = high * kept;
    s->chunks = (size_t)row * (size_t)kept;
    return true;
}

static bool check_layout(struct server *s, hid_t how)
{
    hsize_t chunk[3];
    const H5D_layout_t layout = H5Pget_layout(how);
    const int axes = s->found.axes;
    s->found.block[0] = 1;
    s->found.block[1] = s->found.size[1];
    if (H5Pget_external_count(how) > 0)
        return wrong(s,
                     ": its dataset '%.60s' has its values in another, external file, which is "
                     "not read (h5repack makes one of both)",
                     s->name);
    if (layout == H5D_VIRTUAL)
        return wrong(s,
                     ": its dataset '%.60s' is virtual, its values are in other files, which are "
                     "not read (h5repack makes one of all)",
                     s->name);
    if (!check_filters(s, how))
        return false;
    if (layout != H5D_CHUNKED || (axes != 2 && axes != 3))
        return layout >= 0;
    return H5Pget_chunk(how, 3, chunk) == axes && take_chunks(s, axes, chunk);
}

/* ---- opening ---- */

static hid_t dataset_access(struct server *s)
{
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    if (access >= 0 && H5Pset_elink_cb(access, refuse_link, s) >= 0 &&
        (!s->chunks || H5Pset_chunk_cache(access, 12421, s->chunks, 1) >= 0))
        return access;
    if (access >= 0)
        H5Pclose(access);
    return -1;
}

static bool open_dataset(struct server *s)
{
    const hid_t access = dataset_access(s);
    s->dataset = access < 0 ? -1 : H5Dopen2(s->file, s->name, access);
    if (access >= 0)
        H5Pclose(access);
    if (s->dataset < 0 && !s->answer.status)
        wrong(s, " holds no dataset '%.60s'", s->name);
    return s->dataset >= 0;
}

static bool open_file(struct server *s, const char *path)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    /* without locks: some file systems have none, and nothing is written */
    const bool set = access >= 0 && H5Pset_file_locking(access, 0, 1) >= 0 &&
                     /* reads no more than requested */
                     H5Pset_sieve_buf_size(access, 0) >= 0;
    s->file = set ? H5Fopen(path, H5F_ACC_RDONLY, access) : -1;
    if (access >= 0)
        H5Pclose(access);
    return s->file >= 0 || wrong(s, " cannot be read as an HDF5 file (is it one? is it whole?)");
}

/* HDF5's type of the numbers handed over; negative: none. */
static hid_t memory_type(const struct foreign *f, enum foreign_as as, H5T_class_t class)
{
    if (as == FOREIGN_DOUBLES)
        return H5T_NATIVE_DOUBLE;
    if (class == H5T_BITFIELD) /* is not converted */
        return f->bytes == 1 ? H5T_NATIVE_B8 : f->bytes == 2 ? H5T_NATIVE_B16 : -1;
    if (class == H5T_FLOAT)
        return f->bytes <= 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    return f->bytes == 1   ? f->is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8
           : f->bytes == 2 ? f->is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16
           : f->bytes <= 4 ? f->is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32
           : f->is_signed  ? H5T_NATIVE_INT64
                           : H5T_NATIVE_UINT64;
}

/* The type of the numbers. */
static bool take_type(struct server *s)
{
    struct foreign *const f = &s->found;
    hid_t type = H5Dget_type(s->dataset);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    if (class == H5T_ENUM) {
        const hid_t integer = H5Tget_super(type);
        H5Tclose(type);
        type = integer;
        class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    }
    if (type < 0)
        return false;
    f->bytes = (int)H5Tget_size(type);
    f->is_signed = class == H5T_INTEGER && H5Tget_sign(type) != H5T_SGN_NONE;
    const bool bits = class == H5T_BITFIELD && f->bytes <= 2 && s->as == FOREIGN_AS_THEY_ARE;
    f->type = class == H5T_INTEGER || bits ? FOREIGN_integers
              : class == H5T_FLOAT         ? FOREIGN_reals
                                           : FOREIGN_others;
    H5Tclose(type);
    s->memory = f->type == FOREIGN_others ? -1 : memory_type(f, s->as, class);
    f->each = s->memory < 0 ? 0 : H5Tget_size(s->memory);
    return true;
}

/* Type, axes and sizes. */
static bool take_shape(struct server *s)
{
    struct foreign *const f = &s->found;
    hsize_t size[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(s->dataset);
    f->axes = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    const bool good =
        take_type(s) && f->axes >= 0 && H5Sget_simple_extent_dims(space, size, NULL) == f->axes;
    for (int a = 0; a < 3; a++)
        f->size[a] = 1;
    for (int a = 0; good && (f->axes == 2 || f->axes == 3) && a < f->axes; a++)
        f->size[3 - f->axes + a] = size[a] < LARGEST ? (int64_t)size[a] : (int64_t)LARGEST;
    if (space >= 0)
        H5Sclose(space);
    return good || wrong(s, ": its dataset '%.60s' cannot be read (is it damaged?)", s->name);
}

static bool open_all(struct server *s, const char *path)
{
    if (!open_file(s, path) || !open_dataset(s) || !take_shape(s))
        return false;
    const hid_t how = H5Dget_create_plist(s->dataset);
    const bool good = how >= 0 && check_layout(s, how);
    if (how >= 0)
        H5Pclose(how);
    if (!good && !s->answer.status)
        wrong(s, ": its dataset '%.60s' cannot be read (is it damaged?)", s->name);
    if (!good || !s->chunks)
        return good;
    H5Dclose(s->dataset); /* reopened with a cache for its chunks */
    return open_dataset(s);
}

/* ---- reading ---- */

static bool read_plane(struct server *s, const struct foreign_request *r, size_t bytes)
{
    const hsize_t start[3] = {(hsize_t)r->z, (hsize_t)r->lo[1], (hsize_t)r->lo[0]};
    const hsize_t count[3] = {1, (hsize_t)(r->hi[1] - r->lo[1]), (hsize_t)(r->hi[0] - r->lo[0])};
    const int axes = s->found.axes, from = 3 - axes;
    if (bytes > s->room) {
        free(s->out);
        s->out = malloc(bytes);
        s->room = s->out ? bytes : 0;
    }
    const hid_t type = s->memory, here = H5Screate_simple(axes, count + from, NULL),
                in_file = H5Dget_space(s->dataset);
    const bool good =
        s->room >= bytes && type >= 0 && here >= 0 && in_file >= 0 &&
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start + from, NULL, count + from, NULL) >= 0 &&
        H5Dread(s->dataset, type, here, in_file, H5P_DEFAULT, s->out) >= 0;
    if (in_file >= 0)
        H5Sclose(in_file);
    if (here >= 0)
        H5Sclose(here);
    return good || wrong(s, ": HDF5 cannot read its plane %lld (is it whole?)", (long long)r->z);
}

/* Answers requests until the pipe is closed. */
static int serve(struct server *s, struct child *parent)
{
    struct foreign_request r;
    const size_t each = s->found.each;
    while (child_read(parent, &r, sizeof r) == CHILD_THERE) {
        const size_t bytes = (size_t)(r.hi[0] - r.lo[0]) * (size_t)(r.hi[1] - r.lo[1]) * each;
        /* a packed chunk, two unpacked copies, and one in the cache */
        child_limit(((size_t)FOREIGN_OPEN << 19) + 4 * s->chunks + 2 * bytes, FOREIGN_SECONDS);
        s->answer = (struct foreign_answer){.status = STATUS_OK};
        const bool good = read_plane(s, &r, bytes);
        if (child_write(parent, &s->answer, sizeof s->answer) != CHILD_THERE ||
            (good && child_write(parent, s->out, bytes) != CHILD_THERE))
            break;
    }
    return 0;
}

void foreign_limit(void)
{
    child_limit((size_t)FOREIGN_OPEN << 20, FOREIGN_SECONDS);
}

int foreign_serve(int count, char **arguments)
{
    struct server s = {.file = -1, .dataset = -1};
    struct foreign_header header;
    struct child parent;
    if (count != 3)
        return STATUS_USAGE;
    child_begin(&parent);
    foreign_limit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the first process reports errors, in one line */
    s.as = strcmp(arguments[0], "doubles") == 0 ? FOREIGN_DOUBLES : FOREIGN_AS_THEY_ARE;
    s.name = arguments[2];
    const bool good = open_all(&s, arguments[1]);
    memset(&header, 0, sizeof header);
    header.answer = s.answer;
    header.found = s.found;
    if (child_write(&parent, &header, sizeof header) != CHILD_THERE || !good)
        _exit(0); /* skips HDF5's own cleanup, which may crash on a damaged file */
    serve(&s, &parent);
    _exit(0);
}
