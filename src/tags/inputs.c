/* Files that a case names; see inputs.h. */
#include "tags/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "body/voxel_survey.h"
#include "foreign/hdf5.h"

/* Is the text valid UTF-8? */
static bool is_utf8(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const int more = *c < 0x80   ? 0
                         : *c < 0xc2 ? -1
                         : *c < 0xe0 ? 1
                         : *c < 0xf0 ? 2
                         : *c < 0xf5 ? 3
                                     : -1;
        unsigned long code = more > 0 ? *c & (0x3fu >> more) : *c;
        c++;
        for (int i = 0; i < more; i++, c++) {
            if ((*c & 0xc0) != 0x80)
                return false;
            code = code << 6 | (*c & 0x3f);
        }
        if (more < 0 || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff ||
            (more == 2 && code < 0x800) || (more == 3 && code < 0x10000))
            return false;
    }
    return true;
}

/* The file's absolute path; the path as given if there is none in UTF-8. */
static char *absolute_path(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole && is_utf8(whole))
        return whole;
    free(whole);
    return strdup(path);
}

/* Reads a regular file only, as a pipe would block for ever. Returns 0 or errno; EINVAL: not a file
 * or folder. */
static int read_here(const char *path, size_t limit, char **bytes, size_t *length, char **absolute)
{
    struct stat info;
    int reason = 0;
    char *content = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    if (fstat(fd, &info) != 0)
        reason = errno;
    else if (S_ISDIR(info.st_mode))
        reason = EISDIR;
    else if (!S_ISREG(info.st_mode))
        reason = EINVAL;
    else if ((uintmax_t)info.st_size > limit)
        reason = EFBIG;
    if (!reason) {
        const size_t size = (size_t)info.st_size;
        content = malloc(size + 1);
        reason = !content ? ENOMEM : file_read_at(fd, content, size, 0) != 0 ? errno : 0;
        if (!reason)
            content[size] = '\0';
        *length = size;
    }
    close(fd);
    if (!reason && !(*absolute = absolute_path(path)))
        reason = ENOMEM;
    if (reason)
        free(content);
    else
        *bytes = content;
    return reason;
}

/* Broadcasts in pieces, as MPI's counts are int. */
static void share(char *bytes, size_t length, MPI_Comm comm)
{
    for (size_t done = 0; done < length;) {
        const size_t piece = length - done < INT_MAX ? length - done : INT_MAX;
        MPI_Bcast(bytes + done, (int)piece, MPI_CHAR, 0, comm);
        done += piece;
    }
}

static int read_input(void *context, const char *path, size_t limit, char **bytes, size_t *length,
                      char **absolute)
{
    const MPI_Comm *const comm = context;
    unsigned long long sizes[2] = {0, 0}; /* of the content and of the path */
    int rank = 0, reason = 0, worst;
    if (comm)
        MPI_Comm_rank(*comm, &rank);
    if (rank == 0)
        reason = read_here(path, limit, bytes, length, absolute);
    if (!comm)
        return reason;
    MPI_Bcast(&reason, 1, MPI_INT, 0, *comm);
    if (reason)
        return reason;
    if (rank == 0) {
        sizes[0] = *length;
        sizes[1] = strlen(*absolute);
    }
    MPI_Bcast(sizes, 2, MPI_UNSIGNED_LONG_LONG, 0, *comm);
    if (rank != 0) {
        *bytes = malloc(sizes[0] + 1);
        *absolute = malloc(sizes[1] + 1);
        *length = sizes[0];
    }
    reason = *bytes && *absolute ? 0 : ENOMEM;
    MPI_Allreduce(&reason, &worst, 1, MPI_INT, MPI_MAX, *comm);
    if (worst) {
        free(*bytes);
        free(*absolute);
        return worst;
    }
    share(*bytes, sizes[0] + 1, *comm);
    share(*absolute, sizes[1] + 1, *comm);
    return 0;
}

_Static_assert((int)FOREIGN_REASON == (int)CASE_REASON, "reasons are passed on");

/* Writes the reason; returns STATUS_USAGE. */
static enum status wrong(char reason[CASE_REASON], const char *dataset, const char *problem)
{
    snprintf(reason, CASE_REASON, ": its dataset '%.60s' %s", dataset, problem);
    return STATUS_USAGE;
}

/* Reads all planes of an open dataset, block by block, which is fastest. */
static enum status read_values(struct foreign *f, double *value, char reason[CASE_REASON])
{
    const int64_t *const n = f->size, *const block = f->block;
    enum status s = STATUS_OK;
    for (int64_t layer = 0; layer < n[0] && !s; layer += block[0])
        for (int64_t y = 0; y < n[1] && !s; y += block[1])
            for (int64_t z = layer; z < layer + block[0] && z < n[0] && !s; z++) {
                const int64_t lo[2] = {0, y},
                              hi[2] = {n[2], y + block[1] < n[1] ? y + block[1] : n[1]};
                s = foreign_plane(f, z, lo, hi, value + (z * n[1] + y) * n[2], reason);
            }
    return s;
}

/* Rank 0: checks and reads an open dataset. */
static enum status take_values(struct foreign *f, const char *dataset, struct case_numbers *n,
                               char reason[CASE_REASON])
{
    if (f->axes < 2 || f->axes > 3)
        return wrong(reason, dataset, "does not have 2 axes, or 3");
    if (f->type == FOREIGN_others)
        return wrong(reason, dataset, "does not hold numbers");
    const double count = (double)f->size[0] * (double)f->size[1] * (double)f->size[2];
    if (!(count >= 1 && count <= 1e9))
        return wrong(reason, dataset, "is empty or too large");
    n->axes = f->axes;
    for (int a = 0; a < f->axes; a++)
        n->size[a] = (size_t)f->size[3 - f->axes + a];
    n->value = malloc((size_t)count * sizeof *n->value);
    if (!n->value)
        return voxel_file_failed(reason, ": no memory for its dataset '%.60s'", dataset);
    const enum status s = read_values(f, n->value, reason);
    for (size_t i = 0; !s && i < (size_t)count; i++)
        if (n->value[i] - n->value[i] != 0)
            return wrong(reason, dataset, "holds what is not a finite number");
    return s;
}

/* Rank 0 reads the file and broadcasts the values or the error. */
static enum status read_hdf5(void *context, const char *path, const char *dataset,
                             struct case_numbers *n, char reason[CASE_REASON])
{
    MPI_Comm *const comm = context;
    struct {
        enum status status;
        int axes;
        size_t size[3];
        char reason[CASE_REASON];
    } found = {.status = STATUS_OK};
    struct foreign f;
    int rank = 0;
    size_t count = 1;
    *n = (struct case_numbers){0};
    if (comm)
        MPI_Comm_rank(*comm, &rank);
    if (rank == 0) {
        found.status = foreign_open(&f, path, dataset, FOREIGN_DOUBLES, found.reason);
        if (!found.status)
            found.status = take_values(&f, dataset, n, found.reason);
        foreign_close(&f);
        found.axes = n->axes;
        memcpy(found.size, n->size, sizeof found.size);
    }
    if (comm)
        MPI_Bcast(&found, sizeof found, MPI_BYTE, 0, *comm);
    enum status s = found.status;
    memcpy(reason, found.reason, CASE_REASON);
    n->axes = found.axes;
    memcpy(n->size, found.size, sizeof n->size);
    for (int a = 0; a < n->axes; a++)
        count *= n->size[a];
    if (!s && rank != 0 && !(n->value = malloc(count * sizeof *n->value)))
        s = voxel_file_failed(reason, ": no memory for its dataset '%.60s'", dataset);
    s = voxel_agree(comm, s, reason);
    if (!s && comm)
        share((char *)n->value, count * sizeof *n->value, *comm);
    if (s) {
        free(n->value);
        n->value = NULL;
    }
    return s;
}

static bool read_png(const char *bytes, size_t length, const int size[2], uint8_t **mask,
                     char reason[CASE_REASON])
{
    static const png_color black = {0, 0, 0};
    const size_t width = (size_t)size[0], height = (size_t)size[1];
    png_image image = {.version = PNG_IMAGE_VERSION};
    uint8_t *rows = NULL, *upright = NULL;
    bool ok = false;
    if (!png_image_begin_read_from_memory(&image, bytes, length)) {
        snprintf(reason, CASE_REASON, " is not a PNG picture (%s)", image.message);
        goto done;
    }
    if (image.width != width || image.height != height) {
        snprintf(reason, CASE_REASON,
                 " has %u x %u pixels, but the face has %d x %d cells (a pixel for each)",
                 (unsigned)image.width, (unsigned)image.height, size[0], size[1]);
        goto done;
    }
    if (image.format & PNG_FORMAT_FLAG_COLOR) {
        snprintf(reason, CASE_REASON, " is a picture in colour, not in grey");
        goto done;
    }
    image.format = PNG_FORMAT_GRAY;
    rows = malloc(width * height);
    upright = malloc(width * height);
    *reason = '\0';
    if (!rows || !upright)
        goto done;
    if (!png_image_finish_read(&image, &black, rows, (png_int_32)width, NULL)) {
        snprintf(reason, CASE_REASON, " is a damaged picture (%s)", image.message);
        goto done;
    }
    for (size_t j = 0; j < height; j++)
        for (size_t i = 0; i < width; i++)
            upright[j * width + i] = rows[(height - 1 - j) * width + i] >= 128;
    *mask = upright;
    upright = NULL;
    ok = true;
done:
    png_image_free(&image);
    free(rows);
    free(upright);
    return ok;
}

_Static_assert((int)VOXEL_REASON == (int)CASE_REASON, "reasons are passed on");

/* Rank 0 reads the file's header and broadcasts it or the error. */
static enum status read_voxel_header(void *context, const char *path, struct voxel_image *v,
                                     char reason[CASE_REASON])
{
    MPI_Comm *const comm = context;
    struct {
        enum status status;
        int size[3];
        enum voxel_format format;
        enum voxel_type type;
        bool white_zero;
        size_t length;
        char reason[CASE_REASON];
    } found = {.status = STATUS_OK};
    int rank = 0;
    if (comm)
        MPI_Comm_rank(*comm, &rank);
    if (rank == 0) {
        struct voxel_file f;
        found.status = voxel_file_open(&f, path, v, found.reason);
        if (!found.status) {
            memcpy(found.size, f.size, sizeof found.size);
            found.format = f.format;
            found.type = f.type;
            found.white_zero = f.white_zero;
            voxel_file_close(&f);
            v->file = absolute_path(path);
            found.length = v->file ? strlen(v->file) : 0;
        }
    }
    if (comm)
        MPI_Bcast(&found, sizeof found, MPI_BYTE, 0, *comm);
    memcpy(reason, found.reason, CASE_REASON);
    if (found.status)
        return found.status;
    memcpy(v->size, found.size, sizeof v->size);
    v->format = found.format;
    v->type = found.type;
    v->white_zero = found.white_zero;
    if (rank != 0)
        v->file = malloc(found.length + 1);
    enum status s = STATUS_OK;
    if (!v->file || !found.length)
        s = voxel_file_failed(reason, ": no memory for the name of a file");
    s = voxel_agree(comm, s, reason);
    if (!s && comm)
        share(v->file, found.length + 1, *comm);
    return s;
}

static enum status survey_voxels(void *context, struct voxel_image *v, char reason[CASE_REASON])
{
    return voxel_survey(v, context, reason);
}

struct case_files inputs(MPI_Comm *comm)
{
    return (struct case_files){.context = comm,
                               .read = read_input,
                               .hdf5 = read_hdf5,
                               .png = read_png,
                               .voxel_header = read_voxel_header,
                               .voxel_survey = survey_voxels};
}
