/* Measures all rows, one after the other; see bench.h. */
#include "bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/cores.h"
#include "base/file.h"
#include "base/launcher.h"
#include "base/memory.h"
#include "base/message.h"
#include "bench/ceiling.h"
#include "base/machine.h"
#include "bench/plain.h"
#include "bench/row.h"
#include "case/keys.h"

bool bench_has(enum precision storage, enum precision arithmetic)
{
    return precisions_go(storage, arithmetic) &&
           plain_find(precision_bits(storage), precision_bits(arithmetic)) != NULL;
}

void bench_cells_text(const int cells[3], char *text, size_t size)
{
    if (cells[0] == cells[1] && cells[0] == cells[2])
        snprintf(text, size, "%d^3", cells[0]);
    else
        snprintf(text, size, "%dx%dx%d", cells[0], cells[1], cells[2]);
}

/* ---- the machine ---- */

static void look_at_host(struct bench *b)
{
    struct bench_host *const h = &b->host;
    const time_t now = time(NULL);
    MPI_Comm host;
    double all;
    int length, first;
    strftime(h->time, sizeof h->time, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    gethostname(h->name, sizeof h->name - 1);
    machine_processor(h->processor);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    snprintf(h->mpi, sizeof h->mpi, "%.255s", library);
    MPI_Comm_split_type(b->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &h->host_ranks);
    MPI_Comm_rank(host, &first);
    MPI_Comm_free(&host);
    int one = first == 0;
    MPI_Allreduce(&one, &h->hosts, 1, MPI_INT, MPI_SUM, b->comm);
    h->ranks = b->ranks;
    h->cores = machine_cores();
    memory_find(&h->memory, &all);
    struct cores cores;
    cores_find(b->comm, &cores);
    h->threads = b->options->threads ? b->options->threads : cores.share;
}

/* ---- the rows to measure ---- */

/* Choice k of the key solver.storage. */
static enum precision storage_of(int k)
{
    enum precision p = PRECISION_fp32;
    precision_find(key_storages[k], &p);
    return p;
}

/* Approximate bytes, on all ranks, of the largest table row with these cells. */
static double row_bytes(const struct bench_options *o, const int cells[3])
{
    double most = 0;
    for (int k = 0; key_storages[k]; k++)
        if (o->storages >> k & 1 && (double)precision_bytes(storage_of(k)) > most)
            most = (double)precision_bytes(storage_of(k));
    /* populations, the ceiling's two copies, the plain step's numbers, which are 4 bytes at least
     */
    return (double)cells[0] * cells[1] * cells[2] * Q * (3 * most + (most < 4 ? 4 : most));
}

static void default_size(const struct bench *b, int cells[3])
{
    int n = 128;
    double room = 0.5 * b->host.memory / b->host.host_ranks * b->ranks;
    MPI_Bcast(&room, 1, MPI_DOUBLE, 0, b->comm);
    while (room > 0 && n > 16 && row_bytes(b->options, (const int[3]){n, n, n}) > room)
        n /= 2;
    for (int a = 0; a < 3; a++)
        cells[a] = n;
}

/* All combinations that exist, NULL without memory. */
static struct bench_row *make_rows(const struct bench *b, int *count)
{
    const struct bench_options *const o = b->options;
    struct bench_row *rows = NULL;
    int room = 0;
    *count = 0;
    for (int size = 0; size < (o->size_count ? o->size_count : 1); size++) {
        struct bench_subject s = {.threads = b->host.threads};
        if (o->size_count)
            memcpy(s.cells, o->cells[size], sizeof s.cells);
        else
            default_size(b, s.cells);
        for (int k = 0; k < 32 * 32 * BENCH_CASES * COLLISIONS; k++) {
            const int collision = k % COLLISIONS, which = k / COLLISIONS % BENCH_CASES;
            const int arithmetic = k / COLLISIONS / BENCH_CASES % 32;
            const int storage = k / COLLISIONS / BENCH_CASES / 32;
            if (!(o->storages >> storage & 1) || !(o->cases >> which & 1) ||
                !(o->collisions >> collision & 1))
                continue;
            s.storage = storage_of(storage);
            s.arithmetic = (enum precision)arithmetic;
            if (o->arithmetics ? !(o->arithmetics >> arithmetic & 1)
                               : s.arithmetic != precision_computed(s.storage))
                continue;
            if (o->arithmetics && !bench_has(s.storage, s.arithmetic))
                continue;
            s.which = (enum bench_case)which;
            s.porosity = which == BENCH_CASE_rock ? o->porosity : 0;
            s.radius = which == BENCH_CASE_rock ? o->radius : 0;
            s.collision = (enum collision)collision;
            if (*count == room) {
                room = 2 * room + 16;
                struct bench_row *const more = realloc(rows, (size_t)room * sizeof *rows);
                if (!more) {
                    free(rows);
                    return NULL;
                }
                rows = more;
            }
            rows[(*count)++] = (struct bench_row){.subject = s, .joules = NAN};
        }
    }
    return rows;
}

/* Rank 0: can the file be written? It is left as it is. */
static enum status try_file(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return fail_machine("cannot write %s: it is a folder", path);
    char *const temporary = file_temporary(path);
    if (!temporary)
        return STATUS_MACHINE;
    enum status status = STATUS_OK;
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const int reason = errno;
    if (fd < 0)
        status = fail_machine("cannot write %s: %s", path, strerror(reason));
    else if (access(path, F_OK) == 0 && access(path, W_OK) != 0)
        status = fail_machine("cannot write %s: %s", path, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    free(temporary);
    return status;
}

/* ---- all rows ---- */

static enum status measure_all(struct bench *b, struct bench_row *rows, int count)
{
    const bool speaks = b->rank == 0;
    enum status status = STATUS_OK, written = STATUS_OK;
    for (int k = 0; k < count && !status; k++) {
        if (b->live) {
            char cells[64];
            bench_cells_text(rows[k].subject.cells, cells, sizeof cells);
            fprintf(stderr, "\r\033[Krow %d of %d: %s %s", k + 1, count,
                    bench_cases[rows[k].subject.which], cells);
            fflush(stderr);
        }
        status = bench_measure(b, &rows[k]);
        if (b->live)
            fputs("\r\033[K", stderr);
        if (status)
            break;
        if (speaks && k == 0) {
            table_host(b);
            table_head(rows, count);
        }
        if (speaks)
            table_row(rows, count, k);
        /* After each row: a job may end before the last one. */
        if (speaks && b->options->json && !written)
            written = json_write(b, rows, k + 1);
    }
    if (status)
        return status;
    int wrong = 0;
    for (int k = 0; k < count; k++)
        wrong += !rows[k].verified;
    if (speaks)
        table_tail(rows, count);
    status = written;
    if (speaks && wrong && !status)
        status =
            fail_machine("%d of %d rows did not pass their check and have no rate", wrong, count);
    return status_agree(b->comm, status);
}

enum status bench_run(const struct bench_options *o, MPI_Comm comm)
{
    struct bench b = {.options = o, .comm = comm};
    MPI_Comm_rank(comm, &b.rank);
    MPI_Comm_size(comm, &b.ranks);
    b.live = b.rank == 0 && isatty(STDERR_FILENO) && !launcher_found();
    enum status status = STATUS_OK;
    if (b.rank == 0 && o->json)
        status = try_file(o->json);
    status = status_agree(comm, status);
    if (status)
        return status;
    look_at_host(&b);
    int count;
    struct bench_row *const rows = make_rows(&b, &count);
    if (!rows && count == 0)
        status = fail_user("--storage and --arithmetic: this program has no such pair");
    else if (!rows)
        status = fail_machine("out of memory");
    status = status_agree(comm, status);
    if (!status)
        status = measure_all(&b, rows, count);
    ceiling_destroy(b.ceiling);
    for (int k = 0; k < count && rows; k++)
        bench_row_destroy(&rows[k]);
    free(rows);
    return status;
}
