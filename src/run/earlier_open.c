/* The content of a file with an earlier result; see earlier_open.h. */
#include "run/earlier_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"
#include "foreign/hdf5.h"
#include "io/h5read.h"
#include "io/seal.h"
#include "io/trailer.h"
#include "lattice.h"
#include "run/checkpoint.h"
#include "stored.h"

#define TAKE_A_LEVEL "(take a snapshot of the whole box with `levels: 0`, or of another level)"

enum file_kind { FILE_UNKNOWN, FILE_CHECKPOINT, FILE_SNAPSHOT };

/* XXH3 of the first `most` bytes of an open file, or of all if it has fewer; *words: the sum of the
 * bytes before the trailer. Returns 0 or errno. */
static int digest(int fd, int64_t most, const struct trailer *t, uint64_t *sum, uint64_t *words)
{
    enum { AT_ONCE = 1 << 20 };
    struct stat info;
    XXH3_state_t state;
    char *const buffer = malloc(AT_ONCE);
    int failed = !buffer ? ENOMEM : fstat(fd, &info) != 0 ? errno : 0;
    XXH3_64bits_reset(&state);
    *words = 0;
    const int64_t end = failed || info.st_size > most ? most : info.st_size;
    for (int64_t done = 0; done < end && !failed; done += AT_ONCE) {
        const size_t length = end - done < AT_ONCE ? (size_t)(end - done) : AT_ONCE;
        const int64_t before = t->bytes - done;
        failed = file_read_at(fd, buffer, length, done) != 0 ? errno : 0;
        if (!failed)
            XXH3_64bits_update(&state, buffer, length);
        if (!failed && before > 0)
            *words += trailer_sum(buffer, before < (int64_t)length ? (size_t)before : length, done);
    }
    free(buffer);
    *sum = XXH3_64bits_digest(&state);
    return failed;
}

/* Is the file whole? A snapshot that another program wrote or changed has no trailer: it is not
 * known. */
static int digest_snapshot(int fd, int64_t size, uint64_t *sum, bool *whole)
{
    struct trailer t;
    uint64_t words;
    const int found = trailer_read(fd, size, &t);
    const int failed = found < 0 ? errno : digest(fd, INT64_MAX, &t, sum, &words);
    *whole = failed || !found || (t.bytes == size - TRAILER_BYTES && t.sum == words);
    return failed;
}

/* Rank 0: the kind of the file, and a checksum. Of a checkpoint only the seal is summed: it holds
 * checksums of all the rest. *blame: file_blame()'s. */
static enum file_kind look(const char *path, uint64_t *sum, enum status *blame,
                           char reason[CASE_REASON])
{
    static const char seal[] = "tagflow checkpoint\n", hdf5[] = "\x89HDF\r\n\x1a\n";
    const struct trailer none = {0};
    enum file_kind kind = FILE_UNKNOWN;
    struct stat info;
    uint64_t words;
    bool whole = true;
    char begin[sizeof seal] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not block on a FIFO */
    int failed = fd < 0 || fstat(fd, &info) != 0 ? errno : 0;
    if (!failed && S_ISDIR(info.st_mode))
        failed = EISDIR;
    if (!failed && S_ISREG(info.st_mode) && info.st_size >= (off_t)sizeof begin)
        failed = file_read_at(fd, begin, sizeof begin, 0) != 0 ? errno : 0;
    if (!memcmp(begin, seal, sizeof seal - 1))
        kind = FILE_CHECKPOINT;
    else if (!memcmp(begin, hdf5, sizeof hdf5 - 1))
        kind = FILE_SNAPSHOT;
    if (!failed && kind == FILE_CHECKPOINT)
        failed = digest(fd, SEAL_BLOCK, &none, sum, &words);
    else if (!failed && kind)
        failed = digest_snapshot(fd, info.st_size, sum, &whole);
    if (fd >= 0)
        close(fd);
    *blame = file_blame(failed);
    if (failed)
        snprintf(reason, CASE_REASON, ": %s", strerror(failed));
    else if (!kind)
        snprintf(reason, CASE_REASON, " is neither a checkpoint nor a snapshot of tagflow");
    else if (!whole)
        snprintf(reason, CASE_REASON,
                 ": it is damaged: its bytes are not as written (take another snapshot)");
    return failed || !whole ? FILE_UNKNOWN : kind;
}

/* ---- checkpoints ---- */

/* Cells beside open faces hold state of the boundary rules in their populations: these layers are
 * not used. */
static void leave_out_nodes(struct earlier *e)
{
    for (int f = 0; f < 6; f++)
        if (e->facts.open[f] && e->size[f / 2] > 2) {
            e->lo[f / 2] += f % 2 == 0;
            e->hi[f / 2] -= f % 2;
        }
}

/* False: the array is the set of a scalar, and it is not as its case says. */
static bool take_set(struct earlier *e, const struct checkpoint *k,
                     const struct checkpoint_array *array)
{
    for (int s = 0; s < e->facts.scalar_count; s++) {
        char name[STATE_NAME];
        snprintf(name, sizeof name, "sets/%s", e->facts.scalar[s].name);
        if (strcmp(array->name, name) != 0)
            continue;
        for (int a = 0; a < 3; a++)
            if (array->n[a] != k->cells[a])
                return false;
        if (array->components != Q_AXES ||
            (array->sample != SAMPLE_float32 && array->sample != SAMPLE_float64))
            return false;
        e->scalar[s] = (struct earlier_array){array->sample, array->offset};
    }
    return true;
}

static enum status take_checkpoint(struct earlier *e, MPI_Comm comm, const char *path, bool verify,
                                   char reason[CASE_REASON])
{
    struct checkpoint k;
    char why[CHECKPOINT_REASON];
    const struct checkpoint_array *populations = NULL;
    if (!(verify ? checkpoint_open : checkpoint_describe)(&k, comm, path, why)) {
        snprintf(reason, CASE_REASON, ": %.150s", why);
        return k.blame;
    }
    if (k.levels > 1) {
        snprintf(reason, CASE_REASON, " holds a flow on %d levels of cells " TAKE_A_LEVEL,
                 k.levels);
        checkpoint_close(&k);
        return STATUS_USAGE;
    }
    bool good = case_facts(k.case_text, &e->facts);
    if (good && e->facts.resists) {
        snprintf(reason, CASE_REASON,
                 " is a checkpoint of a flow with force.rotation or a resistance, whose velocities "
                 "it does not hold (take a snapshot)");
        checkpoint_close(&k);
        return STATUS_USAGE;
    }
    for (int i = 0; i < k.count; i++)
        if (!strcmp(k.array[i].name, "populations"))
            populations = &k.array[i];
    good = good && populations && populations->components == Q;
    for (int i = 0; i < k.count && good; i++)
        good = take_set(e, &k, &k.array[i]);
    for (int a = 0; a < 3 && good; a++) {
        e->size[a] = e->hi[a] = populations->n[a];
        good = e->size[a] == k.cells[a];
        e->acceleration[a] = e->facts.acceleration[a];
    }
    if (good) {
        e->checkpoint = true;
        e->step = k.step;
        e->scale = k.precision == PRECISION_fp16 ? (double)HALF_SCALE : 1;
        e->populations = (struct earlier_array){populations->sample, populations->offset};
        leave_out_nodes(e);
    } else {
        snprintf(reason, CASE_REASON, " is no checkpoint that this program understands");
    }
    checkpoint_close(&k);
    return good ? STATUS_OK : STATUS_USAGE;
}

/* ---- snapshots: the second process ---- */

struct snapshot_answer {
    bool good;
    struct earlier found;
    char reason[CASE_REASON];
};

/* Does the array lie inside the file? */
static bool is_inside(hid_t file, int axes, const hsize_t *size, const struct earlier_array *array)
{
    hsize_t end;
    double bytes = (double)sample_bytes((enum sample)array->sample);
    for (int a = 0; a < axes; a++)
        bytes *= (double)size[a];
    return H5Fget_filesize(file, &end) >= 0 && (double)array->offset + bytes <= (double)end;
}

/* Finds the array `name` of a snapshot, or `mean` of an average. */
static bool find_array(hid_t file, const char *name, const char *mean, int axes, hsize_t *size,
                       struct earlier_array *array)
{
    const char *const names[] = {name, mean};
    char path[CASE_NAME + 32];
    for (int k = 0; k < 2 && names[k]; k++) {
        snprintf(path, sizeof path, "/VTKHDF/PointData/%s", names[k]);
        if (H5Lexists(file, "/VTKHDF/PointData", H5P_DEFAULT) > 0 &&
            H5Lexists(file, path, H5P_DEFAULT) > 0 &&
            h5read_dataset(file, path, axes, size, &array->sample, &array->offset) &&
            (array->sample == SAMPLE_float32 || array->sample == SAMPLE_float64) &&
            is_inside(file, axes, size, array))
            return true;
    }
    *array = (struct earlier_array){0};
    return false;
}

/* Is it in chunks, as compressed arrays are? */
static bool is_chunked(hid_t file, const char *name)
{
    char path[CASE_NAME + 32];
    snprintf(path, sizeof path, "/VTKHDF/PointData/%s", name);
    const hid_t set = H5Lexists(file, "/VTKHDF/PointData", H5P_DEFAULT) > 0 &&
                              H5Lexists(file, path, H5P_DEFAULT) > 0
                          ? H5Dopen2(file, path, H5P_DEFAULT)
                          : H5I_INVALID_HID;
    const hid_t list = set < 0 ? H5I_INVALID_HID : H5Dget_create_plist(set);
    const bool chunked = list >= 0 && H5Pget_layout(list) == H5D_CHUNKED;
    if (list >= 0)
        H5Pclose(list);
    if (set >= 0)
        H5Dclose(set);
    return chunked;
}

/* Finds velocity, and pressure, or else density; pressure in float32 has more significant
 * digits. */
static bool find_arrays(struct earlier *e, hid_t file, char reason[CASE_REASON])
{
    const struct case_units *const units = &e->facts.units;
    const double u = units->dx / units->dt;
    hsize_t size[4], other[3];
    static const char *const names[] = {"velocity", "velocity_mean", "pressure", "density",
                                        "density_mean"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (is_chunked(file, names[k])) {
            snprintf(reason, CASE_REASON,
                     ": its %s is compressed or in chunks (h5repack -f NONE -l CONTI FILE NEW)",
                     names[k]);
            return false;
        }
    if (!find_array(file, "velocity", "velocity_mean", 4, size, &e->velocity) || size[3] != 3) {
        snprintf(reason, CASE_REASON,
                 " holds no velocity (output.fields: of: [velocity, density])");
        return false;
    }
    e->velocity_unit = 1 / u;
    if (find_array(file, "pressure", NULL, 3, other, &e->level)) {
        e->level_unit = 3 / (units->density * u * u);
    } else if (find_array(file, "density", "density_mean", 3, other, &e->level)) {
        e->level_zero = units->density;
        e->level_unit = 1 / units->density;
    } else {
        snprintf(reason, CASE_REASON,
                 " holds neither density nor pressure (output.fields: of: [velocity, density])");
        return false;
    }
    for (int a = 0; a < 3; a++) {
        if (size[2 - a] != other[2 - a] || size[2 - a] > INT32_MAX)
            return false;
        e->size[a] = (int)size[2 - a];
    }
    return true;
}

/* Finds the scalars: as the velocity, all with their own values or all with means. */
static bool find_scalars(struct earlier *e, hid_t file)
{
    struct earlier_array velocity;
    hsize_t size[4];
    const bool means = !find_array(file, "velocity", NULL, 4, size, &velocity);
    for (int k = 0; k < e->facts.scalar_count; k++) {
        char name[CASE_NAME + sizeof "_mean"];
        snprintf(name, sizeof name, "%s%s", e->facts.scalar[k].name, means ? "_mean" : "");
        if (!find_array(file, name, NULL, 3, size, &e->scalar[k]))
            continue;
        for (int a = 0; a < 3; a++)
            if (size[2 - a] != (hsize_t)e->size[a])
                return false;
    }
    return true;
}

/* Width of a cell, in units of `units.dx`. A snapshot of a refined grid may have cells of a level:
 * then the facts in cells are those of that level. middle: of the first cell, along an axis. */
static double take_level_of(struct case_facts *facts, double middle)
{
    const double finer = round(log2(facts->units.dx / (2 * middle)));
    bool known = finer >= 1 && finer < LEVELS;
    for (int a = 0; a < 3; a++)
        known = known && ldexp(facts->cells[a], (int)finer) <= INT_MAX;
    if (!known)
        return facts->units.dx;
    for (int a = 0; a < 3; a++) {
        facts->cells[a] = (int)ldexp(facts->cells[a], (int)finer);
        facts->gravity[a] = ldexp(facts->gravity[a], -(int)finer);
    }
    return ldexp(facts->units.dx, -(int)finer);
}

#define OF_A_REGION " holds a region of its box (take a snapshot of all of it)"

/* Does the file hold the whole box, every stride-th cell from the first? Along an axis of one cell
 * it has two points (io/vtkhdf.h). */
static bool find_points(struct earlier *e, hid_t file, char reason[CASE_REASON])
{
    double origin[3], spacing[3];
    int points[3];
    if (!h5read_numbers(file, "/VTKHDF", "Origin", H5T_NATIVE_DOUBLE, 3, origin) ||
        !h5read_numbers(file, "/VTKHDF", "Spacing", H5T_NATIVE_DOUBLE, 3, spacing) ||
        !h5read_numbers(file, "/provenance", "cells", H5T_NATIVE_INT, 3, points))
        return false;
    const double middle = origin[0] + (points[0] == 1 ? 0.5 * spacing[0] : 0);
    const double width = take_level_of(&e->facts, middle), stride = spacing[0] / width;
    if (stride > 0 && stride < 0.75) /* cells of a level, but not from the first */
        snprintf(reason, CASE_REASON, OF_A_REGION);
    if (!(stride >= 0.75 && stride < 1e9))
        return false;
    e->stride = (int)round(stride);
    for (int a = 0; a < 3; a++) {
        const bool thin = points[a] == 1;
        const double first = origin[a] / width + (thin ? 0.5 * stride : 0);
        if (points[a] < 1 || e->size[a] != (thin ? 2 : points[a]))
            return false;
        e->hi[a] = points[a];
        if (fabs(first - 0.5) > 1e-6 * e->facts.cells[a] ||
            points[a] != (e->facts.cells[a] - 1) / e->stride + 1) {
            snprintf(reason, CASE_REASON, OF_A_REGION);
            return false;
        }
    }
    return true;
}

/* Has the file the cells of one level? */
static bool is_image(hid_t file, char reason[CASE_REASON])
{
    char type[16];
    if (!h5read_short_text(file, "/VTKHDF", "Type", type, sizeof type))
        return false;
    if (!strcmp(type, "OverlappingAMR"))
        snprintf(reason, CASE_REASON, " holds a flow on several levels of cells " TAKE_A_LEVEL);
    return !strcmp(type, "ImageData");
}

static bool read_snapshot(struct earlier *e, hid_t file, char reason[CASE_REASON])
{
    char *const text = h5read_text(file, "/provenance", "case");
    const bool good = text && case_facts(text, &e->facts) && is_image(file, reason) &&
                      h5read_numbers(file, "/provenance", "step", H5T_NATIVE_INT64, 1, &e->step) &&
                      find_arrays(e, file, reason) && find_scalars(e, file) &&
                      find_points(e, file, reason);
    free(text);
    return good;
}

static bool open_snapshot(struct earlier *e, const char *path, char reason[CASE_REASON])
{
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0); /* not every file system has locks */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    *reason = '\0';
    const bool good = file >= 0 && read_snapshot(e, file, reason);
    if (file >= 0)
        H5Fclose(file);
    if (file < 0)
        snprintf(reason, CASE_REASON, " is an HDF5 file that cannot be read (is it damaged?)");
    else if (!good && !*reason)
        snprintf(reason, CASE_REASON, " is no snapshot of tagflow");
    return good;
}

int earlier_serve(int count, char **arguments)
{
    struct snapshot_answer answer;
    struct child parent;
    if (count != 1)
        return STATUS_USAGE;
    child_begin(&parent);
    foreign_limit();
    memset(&answer, 0, sizeof answer);
    answer.found = (struct earlier){.stride = 1, .scale = 1};
    answer.good = open_snapshot(&answer.found, arguments[0], answer.reason);
    child_write(&parent, &answer, sizeof answer);
    _exit(0); /* skips HDF5's own cleanup, which may crash on a damaged file */
}

/* ---- snapshots: rank 0 ---- */

static enum status take_snapshot(struct earlier *e, const char *path, char reason[CASE_REASON])
{
    const char *const arguments[] = {"tagflow", EARLIER_COMMAND, path, NULL};
    const uint64_t checksum = e->checksum;
    struct snapshot_answer said;
    struct child child;
    char why[FOREIGN_REASON] = "";
    const int failed = child_start(&child, arguments);
    if (failed) {
        snprintf(reason, CASE_REASON, ": cannot start %.120s to read it: %s", child_name(),
                 strerror(failed));
        return STATUS_MACHINE;
    }
    const enum child_answer answer = child_read(&child, &said, sizeof said);
    if (answer != CHILD_THERE) {
        const enum status status = foreign_explain(&child, answer, why);
        snprintf(reason, CASE_REASON, "%s", why);
        return status;
    }
    child_end(&child);
    *e = said.found;
    e->checksum = checksum;
    memcpy(reason, said.reason, CASE_REASON);
    return said.good ? STATUS_OK : STATUS_USAGE;
}

/* ---- both ---- */

enum status earlier_open(struct earlier *e, MPI_Comm comm, const char *path, bool verify,
                         char reason[CASE_REASON])
{
    struct {
        enum file_kind kind;
        enum status status;
        struct earlier e;
        char reason[CASE_REASON];
    } found = {.kind = FILE_UNKNOWN, .status = STATUS_USAGE};
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        found.e = (struct earlier){.stride = 1, .scale = 1};
        found.kind = look(path, &found.e.checksum, &found.status, found.reason);
        if (found.kind == FILE_SNAPSHOT)
            found.status = take_snapshot(&found.e, path, found.reason);
    }
    MPI_Bcast(&found, sizeof found, MPI_BYTE, 0, comm);
    if (found.kind == FILE_CHECKPOINT)
        found.status = take_checkpoint(&found.e, comm, path, verify, found.reason);
    *e = found.e;
    memcpy(reason, found.reason, CASE_REASON);
    return found.status;
}
