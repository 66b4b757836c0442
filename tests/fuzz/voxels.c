/* Fuzz target: files of voxels. The first bytes say what is asked for; the rest is the content of a
 * raw file, which is cut or drawn out to the length that its size asks for, or of a dataset of an
 * HDF5 file that the target makes with any type and shape. What is read is what was written, and
 * what is refused has a reason. Of small images a part is surveyed and made a body, whose cells are
 * what the voxels say, flipped and beyond periodic faces, too. Bytes of some HDF5 files are
 * changed: libhdf5 may do with them what it likes, in the second process; this one always has
 * labels or a reason. */
#include "fuzz.h"

#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "body/voxel_file.h"
#include "body/voxel_survey.h"
#include "body/voxels.h"
#include "foreign/hdf5.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 16, LONGEST = 1 << 16, LARGEST = 1 << 26 };

static void check_reason(enum status s, const char *reason)
{
    if (s != STATUS_USAGE && s != STATUS_MACHINE)
        fuzz_wrong("status %d", s);
    if (!*reason || strlen(reason) >= VOXEL_REASON)
        fuzz_wrong("refused without a reason");
    for (const char *c = reason; *c; c++)
        if (*c < ' ' || *c > '~')
            fuzz_wrong("a reason holds byte 0x%02x", (unsigned char)*c);
}

/* The label of a voxel by its number. */
static int label_of(const uint8_t *bytes, size_t number, enum voxel_type type, bool big)
{
    if (type == VOXEL_uint8 || type == VOXEL_int8)
        return type == VOXEL_uint8 ? bytes[number] : (int8_t)bytes[number];
    const uint8_t *const two = bytes + 2 * number;
    const unsigned wide = big ? two[0] * 256u + two[1] : two[1] * 256u + two[0];
    return type == VOXEL_uint16 ? (int)wide : (int16_t)wide;
}

/* A box of every plane, the last plane first. */
static void check_planes(struct voxel_file *f, const uint8_t *bytes, bool big, const int lo[2],
                         const int hi[2])
{
    const size_t width = (size_t)(hi[0] - lo[0]), height = (size_t)(hi[1] - lo[1]);
    int32_t *const labels = malloc(width * height * sizeof *labels);
    char reason[VOXEL_REASON] = "";
    if (!labels)
        fuzz_wrong("no memory");
    for (int z = f->size[2] - 1; z >= 0; z--) {
        const enum status s = voxel_file_plane(f, z, lo, hi, labels, reason);
        if (s)
            fuzz_wrong("plane %d:%s", z, reason);
        for (size_t k = 0; k < width * height; k++) {
            const size_t x = (size_t)lo[0] + k % width, y = (size_t)lo[1] + k / width;
            const size_t number = ((size_t)z * (size_t)f->size[1] + y) * (size_t)f->size[0] + x;
            const int expected = label_of(bytes, number, f->type, big);
            if (labels[k] != expected)
                fuzz_wrong("voxel %zu is %d, not %d", number, labels[k], expected);
        }
    }
    free(labels);
}

/* One process: what voxels.c asks of MPI is there already. */
int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *ranks)
{
    (void)comm;
    *ranks = 1;
    return MPI_SUCCESS;
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int room,
                  MPI_Datatype other, MPI_Comm comm)
{
    (void)other, (void)comm;
    if (type != MPI_BYTE || count != room)
        fuzz_wrong("not as many bytes as are wanted");
    memcpy(to, from, (size_t)count);
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    (void)to, (void)count, (void)type, (void)op, (void)comm;
    if (from != MPI_IN_PLACE)
        fuzz_wrong("a reduction that is not in place");
    return MPI_SUCCESS;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    (void)data, (void)count, (void)type, (void)root, (void)comm;
    return MPI_SUCCESS;
}

/* The second process: a copy of this one, which is faster under the sanitizers than to start it
 * anew. Crashes in it are libhdf5's own business. */
int __wrap_child_start(struct child *c, const char *const *arguments);
int __wrap_child_start(struct child *c, const char *const *arguments)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    int requests[2], answers[2];
    if (pipe(requests) != 0 || pipe(answers) != 0)
        fuzz_wrong("no pipes");
    const pid_t pid = fork();
    if (pid < 0)
        fuzz_wrong("no second process");
    if (pid == 0) {
        for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++)
            signal(crashes[k], SIG_DFL);
        dup2(requests[0], STDIN_FILENO);
        dup2(answers[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        _exit(foreign_serve(3, (char **)(uintptr_t)(arguments + 2)));
    }
    close(requests[0]);
    close(answers[1]);
    *c = (struct child){.pid = pid, .to = requests[1], .from = answers[0]};
    return 0;
}

/* What the survey says of the part that is taken: how many voxels are solid. */
static void check_survey(struct voxel_image *v, const uint8_t *bytes, enum voxel_type type,
                         bool big)
{
    char reason[VOXEL_REASON] = "";
    int64_t all = 0, solid = 0, expected = 0, count = 0;
    const enum status s = voxel_survey(v, NULL, reason);
    if (s)
        fuzz_wrong("no survey:%s", reason);
    for (int k = 0; k < v->label_count; k++) {
        if (k && v->labels[k].label <= v->labels[k - 1].label)
            fuzz_wrong("labels do not ascend");
        all += v->labels[k].voxels;
        solid += v->labels[k].solid ? v->labels[k].voxels : 0;
    }
    for (int z = v->from[2]; z < v->to[2]; z++)
        for (int y = v->from[1]; y < v->to[1]; y++)
            for (int x = v->from[0]; x < v->to[0]; x++, count++) {
                const size_t number =
                    ((size_t)z * (size_t)v->size[1] + (size_t)y) * (size_t)v->size[0] + (size_t)x;
                expected += label_of(bytes, number, type, big) == v->solid[0];
            }
    if (all != count || solid != expected)
        fuzz_wrong("%lld of %lld voxels are solid, not %lld of %lld", (long long)solid,
                   (long long)all, (long long)expected, (long long)count);
}

/* The value of cell g of a box, which periodic axes go on beyond; -1: it is none. */
static int expected_cell(const struct voxel_image *v, const uint8_t *bytes, enum voxel_type type,
                         bool big, const int cells[3], const bool periodic[3], int g[3])
{
    int at[3];
    bool in = true;
    for (int a = 0; a < 3; a++) {
        if (!periodic[a] && (g[a] < 0 || g[a] >= cells[a]))
            return -1;
        g[a] = (g[a] + cells[a]) % cells[a];
        const int voxel = g[a] - v->at[a];
        in = in && voxel >= 0 && voxel < v->to[a] - v->from[a];
        at[a] = v->flip >> a & 1 ? v->to[a] - 1 - voxel : v->from[a] + voxel;
    }
    if (!in)
        return 0;
    const size_t number =
        ((size_t)at[2] * (size_t)v->size[1] + (size_t)at[1]) * (size_t)v->size[0] + (size_t)at[0];
    return label_of(bytes, number, type, big) != v->solid[0] ? 0 : v->apart_count ? 2 : 1;
}

/* A part of the image in a box, and a block of that with a layer about it. */
static void check_body(const struct voxel_image *image, const struct voxel_file *f,
                       const char *path, const uint8_t *bytes, bool big, const uint8_t *head)
{
    static char name[64];
    struct voxel_image v = *image;
    struct voxels body;
    int cells[3], lo[3], hi[3];
    bool periodic[3];
    snprintf(name, sizeof name, "%s", path);
    v.file = name;
    v.flip = head[14] & 7u;
    memcpy(v.size, f->size, sizeof v.size);
    for (int a = 0; a < 3; a++) {
        v.from[a] = head[a] % f->size[a];
        v.to[a] = v.from[a] + 1 + head[a + 1] / 8 % (f->size[a] - v.from[a]);
        v.at[a] = head[14] / 16 % 3;
        cells[a] = v.at[a] + v.to[a] - v.from[a] + head[15] / 4 % 3;
        periodic[a] = head[15] >> (4 + a) & 1;
        lo[a] = head[a + 2] % cells[a];
        hi[a] = lo[a] + 2 + head[a + 3] % (cells[a] - lo[a]);
        lo[a]--;
    }
    const size_t first =
        ((size_t)v.from[2] * (size_t)v.size[1] + (size_t)v.from[1]) * (size_t)v.size[0] +
        (size_t)v.from[0];
    v.solid[0] = label_of(bytes, first, f->type, big);
    v.solid_count = 1;
    v.apart[0] = v.solid[0];
    v.apart_count = head[14] >> 3 & 1;
    check_survey(&v, bytes, f->type, big);
    if (voxels_open(&body, &v, "a", cells, periodic, lo, hi, MPI_COMM_SELF))
        fuzz_wrong("the body of an image that is good");
    double low[3], high[3];
    voxels_bounds(&body, low, high);
    for (int a = 0; a < 3; a++)
        if (low[a] != v.at[a] || high[a] != v.at[a] + v.to[a] - v.from[a])
            fuzz_wrong("it lies from %g to %g", low[a], high[a]);
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++) {
                int g[3] = {x, y, z};
                uint8_t inside = 0;
                const int expected = expected_cell(&v, bytes, f->type, big, cells, periodic, g);
                if (expected < 0)
                    continue;
                voxels_row(&body, g[0], 1, g[1], g[2], &inside);
                if (inside != expected)
                    fuzz_wrong("cell %d %d %d is %d", x, y, z, inside);
            }
    voxels_close(&body);
    free(v.labels);
    free(v.kept);
}

static void put(int fd, const void *bytes, size_t length, int64_t at)
{
    if (file_write_at(fd, bytes, length, at) != 0)
        fuzz_wrong("no memory");
}

/* As far as the image is small enough to be read whole. */
static void try_file(const struct voxel_image *image, const char *path, const uint8_t *bytes,
                     bool big, const uint8_t *head)
{
    char reason[VOXEL_REASON] = "";
    struct voxel_file f;
    const enum status s = voxel_file_open(&f, path, image, reason);
    if (s) {
        check_reason(s, reason);
        return;
    }
    int lo[2], hi[2];
    for (int a = 0; a < 2; a++) {
        lo[a] = head[a] % f.size[a];
        hi[a] = lo[a] + 1 + head[a + 2] % (f.size[a] - lo[a]);
    }
    if (bytes)
        check_planes(&f, bytes, big, lo, hi);
    if (bytes && head[14] & 8)
        check_body(image, &f, path, bytes, big, head);
    voxel_file_close(&f);
}

/* What is no file, and a file that ends where it did not before. */
static void try_odd(const struct voxel_image *image, int fd, const char *path, const uint8_t *head)
{
    static const char *const odd[] = {"/proc/self/fd/none", "/proc/self", "/dev/null"};
    char reason[VOXEL_REASON] = "";
    int32_t label;
    struct voxel_file f;
    enum status s = voxel_file_open(&f, odd[head[13] / 8 % 3], image, reason);
    check_reason(s, reason);
    if (voxel_file_open(&f, path, image, reason))
        return;
    const int lo[2] = {f.size[0] - 1, f.size[1] - 1};
    if (ftruncate(fd, image->skip) != 0)
        fuzz_wrong("no memory");
    s = voxel_file_plane(&f, f.size[2] - 1, lo, f.size, &label, reason);
    check_reason(s, reason);
    voxel_file_close(&f);
}

static void try_raw(const uint8_t *head, const uint8_t *data, size_t size)
{
    static const int bytes_of[] = {1, 1, 2, 2};
    char path[64];
    struct voxel_image image = {.format = VOXEL_raw,
                                .type = (enum voxel_type)(head[4] % 4),
                                .big_endian = head[5] & 1,
                                .skip = head[6],
                                .size = {1 + head[7] % 32, 1 + head[8] % 32, 1 + head[9] % 8}};
    for (int a = 0; a < 3; a++)
        if (head[5] & 16 << a) /* up to 2^31 */
            image.size[a] = (int)((unsigned)head[10] << 23 | (unsigned)head[11] << 14 | 1);
    if (head[5] & 4)
        image.skip = (int64_t)((uint64_t)(head[11] & 127) << 56 | head[12]);
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        fuzz_wrong("no memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const double wanted = (double)image.skip + (double)bytes_of[image.type] * image.size[0] *
                                                   image.size[1] * image.size[2];
    const bool fits = wanted <= LONGEST && !(head[5] & 8);
    uint8_t *const content = calloc(1, fits ? (size_t)wanted + 1 : size + 1);
    if (!content)
        fuzz_wrong("no memory");
    const size_t length = fits ? (size_t)wanted : size;
    if (size)
        memcpy(content, data, size < length ? size : length);
    put(fd, content, length, 0);
    if (!fits && wanted <= LARGEST && ftruncate(fd, (off_t)wanted) != 0)
        fuzz_wrong("no memory");
    const bool whole = (double)length == wanted;
    try_file(&image, path, whole ? content + image.skip : NULL, image.big_endian, head);
    if (head[13] % 8 == 7)
        try_odd(&image, fd, path, head);
    free(content);
    close(fd);
}

/* An HDF5 file with a dataset of the kind that `head` says, in memory; its bytes are `data`. */
static size_t make_hdf5(const uint8_t *head, uint8_t *content, int fd)
{
    const hid_t types[] = {H5T_STD_U8LE,  H5T_STD_I8LE,  H5T_STD_U16LE, H5T_STD_I16LE,
                           H5T_STD_U16LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_IEEE_F32LE,
                           H5T_C_S1,      H5T_STD_U64LE};
    const hid_t type = types[head[4] % 10];
    const int axes = head[5] % 8 > 5 ? head[5] % 5 : 3;
    hsize_t size[4], chunk[4];
    for (int a = 0; a < 4; a++) {
        size[a] = head[6 + a] % 13u + (head[6 + a] % 16 != 15);
        chunk[a] = 1 + head[6 + a] % 5;
    }
    const bool lazy = head[10] & 4; /* claims much and holds nothing */
    if (lazy)
        size[head[10] % 3] = (hsize_t)1 << (head[11] % 40);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fapl_core(access, 1 << 14, 0);
    const hid_t file = H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = axes ? H5Screate_simple(axes, size, NULL) : H5Screate(H5S_SCALAR);
    if (lazy || head[10] & 8)
        H5Pset_chunk(how, axes ? axes : 1, chunk);
    const hid_t set = H5Dcreate2(file, head[12] % 16 ? "labels" : "other", type, space, H5P_DEFAULT,
                                 axes ? how : H5P_DEFAULT, H5P_DEFAULT);
    if (set >= 0 && !lazy)
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, content);
    if (set >= 0)
        H5Dclose(set);
    H5Sclose(space);
    H5Pclose(how);
    H5Pclose(access);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const ssize_t length = H5Fget_file_image(file, NULL, 0);
    uint8_t *const image = malloc(length > 0 ? (size_t)length : 1);
    if (!image || length <= 0 || H5Fget_file_image(file, image, (size_t)length) < 0)
        fuzz_wrong("no HDF5 file");
    H5Fclose(file);
    put(fd, image, (size_t)length, 0);
    free(image);
    return lazy || axes != 3 || head[4] % 10 > 5 ? 0 : 1;
}

static char hdf5_path[64];

static void remove_hdf5(void)
{
    unlink(hdf5_path);
}

/* An empty file under a name of its own: HDF5 looks for where links lead, which is nowhere for a
 * file in memory. */
static int hdf5_file(void)
{
    if (!*hdf5_path) {
        snprintf(hdf5_path, sizeof hdf5_path, "%s/tagflow_fuzz_%ld.h5",
                 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
        atexit(remove_hdf5);
    }
    return open(hdf5_path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
}

/* A file of which bytes were changed: everything of it that can be read, and no promise of what.
 * The sanitizer may end the second process, with an exit status. */
static void try_damaged(const struct voxel_image *image, const uint8_t *head)
{
    char reason[VOXEL_REASON] = "";
    struct voxel_file f;
    enum status s = voxel_file_open(&f, hdf5_path, image, reason);
    if (s) {
        check_reason(s, reason);
        return;
    }
    const int lo[2] = {0, 0},
              hi[2] = {f.size[0] < 64 ? f.size[0] : 64, f.size[1] < 64 ? f.size[1] : 64};
    int32_t *const labels = malloc((size_t)hi[0] * (size_t)hi[1] * sizeof *labels);
    if (!labels)
        fuzz_wrong("no memory");
    for (int z = 0; z < f.size[2] && z < 16 && !s; z++)
        s = voxel_file_plane(&f, (z + head[0]) % f.size[2], lo, hi, labels, reason);
    if (s)
        check_reason(s, reason);
    free(labels);
    voxel_file_close(&f);
}

/* As many bytes as `head` says become others, where HDF5 keeps what it knows of the data above all.
 */
static void damage(int fd, const uint8_t *head, const uint8_t *data, size_t size)
{
    const off_t length = lseek(fd, 0, SEEK_END);
    for (size_t k = 0; k < 1u + head[1] % 8u && 3 * k + 3 <= size && length > 0; k++) {
        const uint8_t *const three = data + size - 3 * k - 3;
        put(fd, three + 2, 1, (three[0] * 256 + three[1]) % length);
    }
}

static void try_hdf5(const uint8_t *head, const uint8_t *data, size_t size)
{
    static uint8_t content[13 * 13 * 13 * 13 * 8 + 8];
    static char name[] = "labels";
    const struct voxel_image image = {.format = VOXEL_hdf5, .dataset = name};
    const int fd = hdf5_file();
    if (fd < 0)
        fuzz_wrong("no memory");
    memset(content, 0, sizeof content);
    if (size)
        memcpy(content, data, size < sizeof content ? size : sizeof content);
    const size_t whole = make_hdf5(head, content, fd);
    if (head[13] % 4 == 3) {
        damage(fd, head, data, size);
        try_damaged(&image, head);
    } else {
        try_file(&image, hdf5_path, whole ? content : NULL, false, head);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t head[HEAD] = {0};
    const size_t taken = size < HEAD ? size : HEAD;
    if (size)
        memcpy(head, data, taken);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (head[15] % 4 == 3)
        try_hdf5(head, data + taken, size - taken);
    else
        try_raw(head, data + taken, size - taken);
    return 0;
}
