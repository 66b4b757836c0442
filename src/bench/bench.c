/* Measures all rows, one after the other; see bench.h. */
#include "bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/cores.h"
#include "base/launcher.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/message.h"
#include "bench/ceiling.h"
#include "bench/plain.h"
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

/* All combinations that exist, NULL without memory. */
static struct bench_row *make_rows(const struct bench *b, int *count)
{
    const struct bench_options *const o = b->options;
    const int pairs = 32 * 32 * BENCH_CASES * COLLISIONS;
    struct bench_row *rows = NULL;
    *count = 0;
    for (int n = 0; n < o->size_count * pairs; n++) {
        const int k = n % pairs, collision = k % COLLISIONS, which = k / COLLISIONS % BENCH_CASES;
        const int arithmetic = k / COLLISIONS / BENCH_CASES % 32;
        const int storage = k / COLLISIONS / BENCH_CASES / 32;
        if (!(o->storages >> storage & 1) || !(o->cases >> which & 1) ||
            !(o->collisions >> collision & 1))
            continue;
        struct bench_subject s = {.which = (enum bench_case)which,
                                  .collision = (enum collision)collision,
                                  .storage = storage_of(storage),
                                  .arithmetic = (enum precision)arithmetic,
                                  .threads = b->host.threads};
        if (o->arithmetics
                ? !(o->arithmetics >> arithmetic & 1) || !bench_has(s.storage, s.arithmetic)
                : s.arithmetic != precision_computed(s.storage))
            continue;
        memcpy(s.cells, o->cells[n / pairs], sizeof s.cells);
        if (which == BENCH_CASE_rock) {
            s.porosity = o->porosity;
            s.radius = o->radius;
        }
        struct bench_row *const more = realloc(rows, (size_t)(*count + 1) * sizeof *rows);
        if (!more) {
            free(rows);
            return NULL;
        }
        rows = more;
        rows[(*count)++] = (struct bench_row){.subject = s, .joules = NAN};
    }
    return rows;
}

/* Rank 0: can the file be written? It is left as it is. */
static enum status try_file(const char *path)
{
    struct stat info;
    const bool there = stat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode))
        return fail_machine("cannot write %s: it is a folder", path);
    FILE *const file = there ? NULL : fopen(path, "w");
    if (there ? access(path, W_OK) : !file)
        return fail_machine("cannot write %s: %s", path, strerror(errno));
    if (file) {
        fclose(file);
        unlink(path);
    }
    return STATUS_OK;
}

/* ---- all rows ---- */

static enum status measure_all(struct bench *b, struct bench_row *rows, int count)
{
    const bool speaks = b->rank == 0, live = speaks && isatty(STDERR_FILENO) && !launcher_found();
    enum status written = STATUS_OK;
    int wrong = 0;
    for (int k = 0; k < count; k++) {
        char cells[64], text[128];
        bench_cells_text(rows[k].subject.cells, cells, sizeof cells);
        snprintf(text, sizeof text, "row %d of %d: %s %s", k + 1, count,
                 bench_cases[rows[k].subject.which], cells);
        if (live)
            message_show(stderr, text);
        const enum status status = bench_measure(b, &rows[k]);
        if (live)
            message_show(stderr, "");
        if (status)
            return status;
        wrong += !rows[k].verified;
        if (speaks && k == 0)
            table_head(b, rows, count);
        if (speaks)
            table_row(rows, count, k);
        /* After each row: a job may end before the last one. */
        if (speaks && b->options->json && !written)
            written = json_write(b, rows, k + 1);
    }
    if (speaks)
        table_tail(rows, count);
    if (speaks && wrong && !written)
        written =
            fail_machine("%d of %d rows did not pass their check and have no rate", wrong, count);
    return status_agree(b->comm, written);
}

enum status bench_run(const struct bench_options *o, MPI_Comm comm)
{
    struct bench b = {.options = o, .comm = comm};
    MPI_Comm_rank(comm, &b.rank);
    MPI_Comm_size(comm, &b.ranks);
    enum status status = status_agree(comm, b.rank == 0 && o->json ? try_file(o->json) : STATUS_OK);
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
        free(rows[k].numbers);
    free(rows);
    return status;
}
