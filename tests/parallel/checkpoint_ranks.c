/* Opens checkpoints that were damaged, on any number of ranks, many in one process: a start of MPI
 * for each would take longer than all the rest.
 *
 *     checkpoint_ranks FILE      FILE is changed, and restored, over and over
 *
 * Standard input of rank 0 has a line for each attempt, and standard output answers each by one:
 *
 *     flip OFFSET BIT            one bit of the byte at OFFSET
 *     fill OFFSET BYTES VALUE    a range of bytes
 *     length BYTES               cut off there, or made longer by zeros
 *     as it is
 *     ->
 *     whole
 *     refused: <the reason>
 *
 * Exit status: 0, or 1 when something else went wrong: ranks that do not agree, a descriptor or an
 * HDF5 handle that stays open, a file that is not as before. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "run/checkpoint.h"

enum { LINE = 256 };

/* The file as it was. */
struct original {
    const char *path;
    char *data;
    size_t length;
};

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Carries out one line on the file. False, and said, if it cannot be done. */
static bool damage(const struct original *o, const char *line)
{
    long long at, count;
    unsigned value;
    bool done = false;
    const int fd = open(o->path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && sscanf(line, "flip %lld %u", &at, &value) == 2 && at >= 0 &&
        (size_t)at < o->length && value < 8) {
        const char byte = (char)(o->data[at] ^ (1 << value));
        done = file_write_at(fd, &byte, 1, at) == 0;
    } else if (fd >= 0 && sscanf(line, "fill %lld %lld %u", &at, &count, &value) == 3 && at >= 0 &&
               count >= 0 && (size_t)(at + count) <= o->length && value < 256) {
        char *const bytes = malloc((size_t)count + 1);
        if (bytes) {
            memset(bytes, (int)value, (size_t)count);
            done = file_write_at(fd, bytes, (size_t)count, at) == 0;
        }
        free(bytes);
    } else if (fd >= 0 && sscanf(line, "length %lld", &at) == 1) {
        done = ftruncate(fd, at) == 0;
    } else {
        done = fd >= 0 && strcmp(line, "as it is") == 0;
    }
    if (fd >= 0)
        close(fd);
    if (!done)
        fail_machine("cannot do '%s' to %s: %s", line, o->path, strerror(errno));
    return done;
}

static bool restore(const struct original *o)
{
    const int fd = open(o->path, O_RDWR | O_CLOEXEC);
    const bool done = fd >= 0 && file_write_at(fd, o->data, o->length, 0) == 0 &&
                      ftruncate(fd, (off_t)o->length) == 0;
    if (fd >= 0)
        close(fd);
    if (!done)
        fail_machine("cannot restore %s: %s", o->path, strerror(errno));
    return done;
}

/* What checkpoint_open says. False, and said, if ranks do not agree or something stays open. */
static bool attempt(const char *path, int rank)
{
    static char reason[CHECKPOINT_REASON], others[CHECKPOINT_REASON];
    struct checkpoint k;
    const int before = open_descriptors();
    memset(reason, 0, sizeof reason);
    const int whole = checkpoint_open(&k, MPI_COMM_WORLD, path, reason);
    if (whole)
        checkpoint_close(&k);
    int least = whole, most = whole;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    memcpy(others, reason, sizeof others);
    MPI_Bcast(others, sizeof others, MPI_CHAR, 0, MPI_COMM_WORLD);
    const ssize_t handles = H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);
    if (rank == 0 && whole)
        puts("whole");
    else if (rank == 0)
        printf("refused: %s\n", reason);
    if (least != most || (!whole && strcmp(others, reason) != 0)) {
        fail_machine("ranks do not agree: %s, '%s' and '%s'", whole ? "whole" : "refused", reason,
                     others);
        return false;
    }
    if (!whole && (!*reason || strchr(reason, '\n') || k.count || k.array || k.sum)) {
        fail_machine("refused without a reason in one line, or with something kept: '%s'", reason);
        return false;
    }
    if (open_descriptors() != before || handles != 0) {
        fail_machine("%d descriptors before, %d behind, %d HDF5 handles", before,
                     open_descriptors(), (int)handles);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, good = argc == 2;
    struct original original = {0};
    char line[LINE];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    if (!good)
        fail_user("usage: checkpoint_ranks FILE");
    original.path = argc == 2 ? argv[1] : NULL;
    if (good && rank == 0)
        good = file_read(original.path, 1 << 30, &original.data, &original.length) == STATUS_OK;
    for (int more = 1; more;) {
        if (rank == 0) {
            more = good && fgets(line, sizeof line, stdin) != NULL;
            line[more ? strcspn(line, "\n") : 0] = '\0';
            good = good && (!more || damage(&original, line));
        }
        const int mine = good;
        MPI_Allreduce(&mine, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        more = more && good;
        if (more)
            good = attempt(argv[1], rank);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody reads any more */
        if (more && rank == 0)
            good = restore(&original) && good;
    }
    free(original.data);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Finalize();
    return good ? 0 : 1;
}
