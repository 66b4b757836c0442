/* Checkpoints: reading and verifying a file; see checkpoint.h. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/file.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "io/h5read.h"
#include "io/seal.h"
#include "run/checkpoint.h"
#include "stored.h"

enum { READ_BYTES = 4 << 20, MOST_ARRAYS = 2048 };

/* ---- rank 0: reading with HDF5 ---- */

/* The functions below return false when the file is not as checkpoint_write() makes it. Its seal
 * was verified before, so then another program has written it, or ours has a bug. */

static bool read_sums(hid_t file, struct checkpoint *k, struct checkpoint_array *a, hsize_t planes)
{
    char name[STATE_NAME + 16];
    hsize_t size[2];
    int sample;
    int64_t offset;
    snprintf(name, sizeof name, "/checksums/%s", a->name);
    if (!h5read_dataset(file, name, 2, size, &sample, &offset) || size[0] != planes ||
        size[1] != (hsize_t)a->components)
        return false;
    const size_t count = size[0] * size[1];
    uint64_t *const more = realloc(k->sum, ((size_t)k->sum_count + count) * sizeof *more);
    if (!more)
        return false;
    k->sum = more;
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const bool good = dataset >= 0 && H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL,
                                              H5P_DEFAULT, k->sum + k->sum_count) >= 0;
    if (dataset >= 0)
        H5Dclose(dataset);
    a->sums = k->sum_count;
    k->sum_count += (int64_t)count;
    return good;
}

static bool read_array(hid_t file, struct checkpoint *k, struct checkpoint_array *a)
{
    char name[STATE_NAME + 16];
    hsize_t size[4];
    snprintf(name, sizeof name, "/%s/%s", a->in_cells ? "cells" : "numbers", a->name);
    if (!h5read_dataset(file, name, a->in_cells ? 4 : 1, size, &a->sample, &a->offset) ||
        !h5read_short_text(file, name, "definition", a->definition, sizeof a->definition))
        return false;
    if (!a->in_cells) {
        a->components = (int)size[0];
        return size[0] <= INT_MAX &&
               a->offset + (int64_t)(size[0] * sample_bytes((enum sample)a->sample)) <= k->bytes;
    }
    if (size[0] > INT_MAX || size[1] > INT_MAX || size[2] > INT_MAX || size[3] > INT_MAX)
        return false;
    a->components = (int)size[1];
    a->n[0] = (int)size[3];
    a->n[1] = (int)size[2];
    a->n[2] = (int)size[0];
    const double bytes = (double)size[0] * (double)size[1] * (double)size[2] * (double)size[3] *
                         (double)sample_bytes((enum sample)a->sample);
    char hash[17], *end = hash;
    if (h5read_short_text(file, name, "hash", hash, sizeof hash)) {
        a->hash = strtoull(hash, &end, 16);
        if (end != hash + 16)
            return false;
    }
    return (double)a->offset + bytes <= (double)k->bytes &&
           h5read_numbers(file, name, "first_cell", H5T_NATIVE_INT, 3, a->lo) &&
           read_sums(file, k, a, size[0]);
}

/* Reads the arrays named in the file's list. */
static bool read_arrays(hid_t file, struct checkpoint *k)
{
    char *const list = h5read_text(file, "/", "arrays");
    bool good = list != NULL;
    char *rest = NULL;
    for (char *line = list ? strtok_r(list, "\n", &rest) : NULL; line && good;
         line = strtok_r(NULL, "\n", &rest)) {
        char *const space = strchr(line, ' ');
        struct checkpoint_array a = {0};
        good = space && strlen(space + 1) < sizeof a.name && k->count < MOST_ARRAYS;
        if (!good)
            break;
        strcpy(a.name, space + 1);
        *space = '\0';
        a.in_cells = strcmp(line, "cells") == 0;
        good = read_array(file, k, &a) && ARRAY_ADD(k->array, k->count, a);
    }
    free(list);
    return good && k->count > 0;
}

static bool read_description(struct checkpoint *k, const char *path)
{
    char storage[16] = "", hash[17] = "", *end = hash;
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0); /* not every file system has locks */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return false;
    bool good = h5read_numbers(file, "/", "step", H5T_NATIVE_INT64, 1, &k->step) && k->step >= 0 &&
                h5read_numbers(file, "/", "time", H5T_NATIVE_DOUBLE, 1, &k->time) &&
                h5read_numbers(file, "/", "grid", H5T_NATIVE_INT, 3, k->cells) &&
                h5read_short_text(file, "/", "storage", storage, sizeof storage) &&
                h5read_short_text(file, "/", "state_hash", hash, sizeof hash) &&
                h5read_numbers(file, "/provenance", "ranks", H5T_NATIVE_INT64, 1, &k->ranks) &&
                h5read_short_text(file, "/provenance", "program", k->program, sizeof k->program) &&
                h5read_short_text(file, "/provenance", "commit", k->commit, sizeof k->commit) &&
                h5read_short_text(file, "/provenance", "date", k->date, sizeof k->date) &&
                h5read_short_text(file, "/provenance", "backend", k->backend, sizeof k->backend) &&
                (k->case_text = h5read_text(file, "/provenance", "case")) != NULL &&
                read_arrays(file, k);
    enum precision precision = PRECISION_fp32;
    good = good && precision_find(storage, &precision);
    k->precision = (int)precision;
    double scale = 0;
    if (good && precision == PRECISION_fp16)
        good = h5read_numbers(file, "/", "scale", H5T_NATIVE_DOUBLE, 1, &scale) &&
               scale == (double)HALF_SCALE;
    k->hash = strtoull(hash, &end, 16);
    good = good && end == hash + 16;
    k->levels = 1;
    if (good && H5Aexists(file, "levels") > 0)
        good = h5read_numbers(file, "/", "levels", H5T_NATIVE_INT, 1, &k->levels) && k->levels > 1;
    H5Fclose(file);
    return good;
}

/* ---- all ranks ---- */

/* Sends rank 0's description to all ranks. False without memory. */
static bool share(struct checkpoint *k, MPI_Comm comm)
{
    int rank, failed = 0;
    MPI_Comm_rank(comm, &rank);
    struct checkpoint all = *k;
    int64_t text = rank == 0 ? (int64_t)strlen(k->case_text) + 1 : 0;
    MPI_Bcast(&all, sizeof all, MPI_BYTE, 0, comm);
    MPI_Bcast(&text, 1, MPI_INT64_T, 0, comm);
    if (rank != 0) {
        *k = all;
        k->case_text = calloc((size_t)text, 1);
        k->array = calloc((size_t)k->count, sizeof *k->array);
        k->sum = calloc((size_t)k->sum_count + 1, sizeof *k->sum);
        failed = !k->case_text || !k->array || !k->sum;
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    if (failed)
        return false;
    MPI_Bcast(k->case_text, (int)text, MPI_CHAR, 0, comm);
    MPI_Bcast(k->array, (int)sizeof *k->array * k->count, MPI_BYTE, 0, comm);
    for (int64_t done = 0; done < k->sum_count; done += 1 << 20) { /* counts are int */
        const int64_t left = k->sum_count - done;
        MPI_Bcast(k->sum + done, (int)(left < 1 << 20 ? left : 1 << 20), MPI_UINT64_T, 0, comm);
    }
    return true;
}

/* The first damaged plane, if any. */
struct finding {
    int64_t plane; /* index among all planes of all components; INT64_MAX: none */
    int failed;    /* errno */
};

static struct finding verify_plane(int fd, const struct checkpoint *k,
                                   const struct checkpoint_array *a, int64_t plane, char *buffer)
{
    const size_t bytes = sample_bytes((enum sample)a->sample) * (size_t)a->n[0] * (size_t)a->n[1];
    for (int64_t c = 0; c < a->components; c++) {
        const int64_t number = a->sums + plane * a->components + c;
        const int64_t at = a->offset + (plane * a->components + c) * (int64_t)bytes;
        XXH3_state_t state;
        XXH3_64bits_reset(&state);
        for (size_t done = 0; done < bytes; done += READ_BYTES) {
            const size_t length = bytes - done < READ_BYTES ? bytes - done : READ_BYTES;
            if (file_read_at(fd, buffer, length, at + (int64_t)done) != 0)
                return (struct finding){number, errno};
            XXH3_64bits_update(&state, buffer, length);
            watchdog_progress();
        }
        if (XXH3_64bits_digest(&state) != k->sum[number])
            return (struct finding){number, 0};
    }
    return (struct finding){INT64_MAX, 0};
}

/* Verifies this rank's share of all planes. Another rank wrote most of them, so that on several
 * nodes they are read from disk, not from this node's cache. */
static struct finding verify_share(int fd, const struct checkpoint *k, int rank, int ranks,
                                   char *buffer)
{
    struct finding found = {INT64_MAX, 0};
    int64_t planes = 0, number = 0;
    for (int i = 0; i < k->count; i++)
        planes += k->array[i].in_cells ? k->array[i].n[2] : 0;
    const int64_t share = (rank + ranks / 2) % ranks;
    const int64_t from = planes * share / ranks, to = planes * (share + 1) / ranks;
    for (int i = 0; i < k->count && found.plane == INT64_MAX; i++) {
        const struct checkpoint_array *const a = &k->array[i];
        for (int64_t z = 0; a->in_cells && z < a->n[2]; z++, number++)
            if (number >= from && number < to && found.plane == INT64_MAX)
                found = verify_plane(fd, k, a, z, buffer);
    }
    return found;
}

/* "it is damaged: populations, component 3, plane z = 17, ..." */
static void describe(const struct checkpoint *k, int64_t number, char reason[CHECKPOINT_REASON])
{
    for (int i = 0; i < k->count; i++) {
        const struct checkpoint_array *const a = &k->array[i];
        const int64_t in = number - a->sums;
        if (a->in_cells && in >= 0 && in < (int64_t)a->n[2] * a->components)
            snprintf(reason, CHECKPOINT_REASON,
                     "it is damaged: %s, component %" PRId64 " of plane z = %" PRId64
                     " is not as written",
                     a->name, in % a->components, a->lo[2] + in / a->components);
    }
}

static bool verify(struct checkpoint *k, MPI_Comm comm, const char *path,
                   char reason[CHECKPOINT_REASON])
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    char *const buffer = malloc(READ_BYTES);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct finding found = {INT64_MAX, fd < 0 ? errno : 0};
    if (!buffer)
        found.failed = ENOMEM;
    if (!found.failed)
        found = verify_share(fd, k, rank, ranks, buffer);
    if (fd >= 0)
        close(fd);
    free(buffer);
    MPI_Allreduce(MPI_IN_PLACE, &found.plane, 1, MPI_INT64_T, MPI_MIN, comm);
    MPI_Allreduce(MPI_IN_PLACE, &found.failed, 1, MPI_INT, MPI_MAX, comm);
    k->blame = file_blame(found.failed);
    if (found.failed)
        snprintf(reason, CHECKPOINT_REASON, "it cannot be read: %s", strerror(found.failed));
    else if (found.plane != INT64_MAX)
        describe(k, found.plane, reason);
    return !found.failed && found.plane == INT64_MAX;
}

bool checkpoint_describe(struct checkpoint *k, MPI_Comm comm, const char *path,
                         char reason[CHECKPOINT_REASON])
{
    int rank, good = 1, blame = STATUS_USAGE;
    *k = (struct checkpoint){0};
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        struct seal seal;
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not block on a FIFO */
        if (fd < 0)
            snprintf(reason, CHECKPOINT_REASON, "it cannot be opened: %s", strerror(errno));
        good = fd >= 0 && seal_check(fd, "checkpoint", CHECKPOINT_FORMAT, &seal, reason);
        blame = good ? blame : (int)file_blame(errno);
        if (fd >= 0)
            close(fd);
        if (good) {
            k->bytes = seal.bytes;
            errno = 0; /* HDF5 sets it when a read fails */
            good = read_description(k, path);
            if (!good && errno)
                snprintf(reason, CHECKPOINT_REASON, "it cannot be read: %s", strerror(errno));
            else if (!good)
                snprintf(reason, CHECKPOINT_REASON,
                         "it is no checkpoint that this program understands");
            blame = (int)file_blame(errno);
        }
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, comm);
    if (!good)
        MPI_Bcast(reason, CHECKPOINT_REASON, MPI_CHAR, 0, comm);
    MPI_Bcast(&blame, 1, MPI_INT, 0, comm);
    if (good && !share(k, comm)) {
        snprintf(reason, CHECKPOINT_REASON, "there is no memory to read it");
        blame = STATUS_MACHINE;
        good = 0;
    }
    k->blame = (enum status)blame;
    if (!good)
        checkpoint_close(k);
    return good;
}

bool checkpoint_open(struct checkpoint *k, MPI_Comm comm, const char *path,
                     char reason[CHECKPOINT_REASON])
{
    const bool good = checkpoint_describe(k, comm, path, reason) && verify(k, comm, path, reason);
    if (!good)
        checkpoint_close(k);
    return good;
}

void checkpoint_close(struct checkpoint *k)
{
    free(k->case_text);
    free(k->array);
    free(k->sum);
    *k = (struct checkpoint){.blame = k->blame};
}
