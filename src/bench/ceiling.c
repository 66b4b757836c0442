/* Ways of sweeping the memory, tried and timed, and a device's copy; see ceiling.h. */
#include "bench/ceiling.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/agree.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/isa.h"
#include "base/memory.h"
#include "base/message.h"
#include "bench/streams.h"

enum {
    BLOCKS = 3,
    KEPT = 4,
    UNIT = 64, /* cells: the smallest block */
    HUGE_PAGE = 2 << 20,
    ROUNDS_CHOOSE = 3,
    ROUNDS_MEASURE = 5,
    ROUNDS_MOST = 199
};
static const size_t blocks[BLOCKS] = {64, 128, 512};

/* Shortest time of a measurement, about: a sweep of a small grid takes microseconds. */
static const double least_seconds = 2e-3;

/* Most bytes of one host's streams, or 8 times its last-level caches if that is more: a larger
 * sweep is bound by memory in the same way. At most this share of the free memory. */
static const double most_bytes = 512.0 * 1024 * 1024, most_caches = 8, most_share = 0.4;

struct way {
    int block;
    const struct streams_order *order;
    double seconds; /* median of a sweep */
};

struct ceiling {
    MPI_Comm comm;
    int threads;
    size_t number;         /* bytes of a number */
    double updates;        /* cells of all ranks */
    size_t stream, stride; /* bytes of one, bytes between two */
    char *base, *mapped;
    uint64_t sweeps;  /* made so far */
    int repeats;      /* sweeps of one timing */
    struct way *ways; /* all ways, sorted by speed once they are timed */
    double *times;    /* [way][ROUNDS_MOST] */
    char way[64];
};

const struct streams_order *streams_orders(void)
{
    static const struct streams_order *const orders[ISAS] = {
#define X(isa) [ISA_##isa] = STREAMS_ORDERS(isa),
#include "cpu_isas.h"
#undef X
    };
    return orders[isa_best()];
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ceiling_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* Cells of this rank that are swept: all, or the share that the limits above allow. The share is
 * the same on all ranks, so that none waits for another. */
static size_t cells_swept(MPI_Comm comm, size_t cells, size_t number)
{
    MPI_Comm host;
    double available, all, most = fmax(most_bytes, most_caches * cache_host());
    double bytes = (double)STREAMS * (double)number * (double)cells;
    memory_find(&available, &all);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, host);
    MPI_Comm_free(&host);
    if (available > 0)
        most = fmin(most, most_share * available);
    double share = fmin(1, most / bytes);
    MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_MIN, comm);
    if (share < 1)
        cells = (size_t)(share * (double)cells);
    return cells < UNIT ? UNIT : (cells + UNIT - 1) / UNIT * UNIT;
}

static size_t words_of(const struct ceiling *c)
{
    return STREAMS * c->stride / sizeof(uint64_t);
}

static uint64_t initial_word(size_t n)
{
    return (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* This thread's bytes of each stream: whole units, as evenly distributed as possible. */
static void my_bytes(const struct ceiling *c, size_t *lo, size_t *hi)
{
    const size_t unit = UNIT * c->number, units = c->stream / unit;
    const size_t thread = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
    *lo = units * thread / threads * unit;
    *hi = units * (thread + 1) / threads * unit;
}

/* Maps the streams in huge pages if the system has them. Each number is first touched by the thread
 * that will sweep it, so that it lies in that thread's memory. */
static enum status make(struct ceiling *c)
{
    const size_t size = STREAMS * c->stride + HUGE_PAGE;
    c->mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c->mapped == MAP_FAILED) {
        c->mapped = NULL;
        return fail_machine("out of memory: %.4g GB for the streams of the memory's ceiling (use "
                            "fewer cells)",
                            1e-9 * (double)size);
    }
    c->base = c->mapped + (HUGE_PAGE - (uintptr_t)c->mapped % HUGE_PAGE);
    madvise(c->base, STREAMS * c->stride, MADV_HUGEPAGE);
    uint64_t *const words = (uint64_t *)c->base;
    const size_t stride = c->stride / sizeof *words;
#pragma omp parallel num_threads(c->threads)
    {
        size_t lo, hi;
        my_bytes(c, &lo, &hi);
        if (hi == c->stream)
            hi = c->stride;
        for (size_t k = 0; k < STREAMS; k++)
            for (size_t n = k * stride + lo / sizeof *words; n < k * stride + hi / sizeof *words;
                 n++)
                words[n] = initial_word(n);
    }
    return STATUS_OK;
}

/* Seconds of one sweep on the slowest rank. */
static double time_of(struct ceiling *c, const struct way *w)
{
    MPI_Barrier(c->comm);
    const double start = clock_seconds();
#pragma omp parallel num_threads(c->threads)
    {
        size_t lo, hi;
        my_bytes(c, &lo, &hi);
        for (int k = 0; k < c->repeats; k++)
            w->order->sweep(c->base, c->stride, lo, hi, blocks[w->block] * c->number);
    }
    double seconds = clock_seconds() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, c->comm);
    c->sweeps += (uint64_t)c->repeats;
    return seconds / c->repeats;
}

static int faster(const void *a, const void *b)
{
    return ascending(&((const struct way *)a)->seconds, &((const struct way *)b)->seconds);
}

/* Times the first ways and sorts them by their medians. Every round times all of them, so that a
 * slow moment of the machine affects all alike. The number of rounds is odd: a median is one of the
 * times. All ranks see the same times and hence do the same. */
static void time_ways(struct ceiling *c, int count, int least, double seconds)
{
    double spent = 0;
    int rounds = 0;
    do {
        for (int k = 0; k < count; k++) {
            const double once = time_of(c, &c->ways[k]);
            c->times[k * ROUNDS_MOST + rounds] = once;
            spent += once * c->repeats;
        }
        rounds++;
    } while (rounds < least || rounds % 2 == 0 || (spent < seconds && rounds < ROUNDS_MOST));
    for (int k = 0; k < count; k++)
        c->ways[k].seconds = ceiling_median(c->times + k * ROUNDS_MOST, rounds);
    qsort(c->ways, (size_t)count, sizeof *c->ways, faster);
}

enum status ceiling_create(struct ceiling **out, MPI_Comm comm, size_t cells, size_t bytes,
                           int threads, double seconds)
{
    int orders = 0;
    const struct streams_order *const order = streams_orders();
    while (order[orders].name)
        orders++;
    const size_t ways = BLOCKS * (size_t)orders;
    struct ceiling *const c = calloc(1, sizeof *c);
    cells = cells_swept(comm, cells, bytes);
    enum status status = STATUS_OK;
    if (c) {
        *c = (struct ceiling){.comm = comm, .threads = threads, .number = bytes, .repeats = 1};
        c->ways = calloc(ways, sizeof *c->ways);
        c->times = calloc(ways * ROUNDS_MOST, sizeof *c->times);
        c->stream = cells * bytes;
        c->stride = c->stream + STREAMS_LINE; /* not a multiple of 4 KiB: other cache sets */
        c->updates = (double)cells;
    }
    if (!c || !c->ways || !c->times)
        status = fail_machine("out of memory");
    else
        status = make(c);
    *out = NULL;
    if (status_agree(comm, status)) {
        ceiling_destroy(c);
        return STATUS_MACHINE;
    }
    MPI_Allreduce(MPI_IN_PLACE, &c->updates, 1, MPI_DOUBLE, MPI_SUM, comm);
    for (int k = 0; k < (int)ways; k++)
        c->ways[k] = (struct way){k % BLOCKS, &order[k / BLOCKS], 0};
    const double once = time_of(c, c->ways);
    c->repeats = once * 1000 < least_seconds ? 1000 : (int)ceil(least_seconds / once);
    time_ways(c, (int)ways, ROUNDS_CHOOSE, seconds);
    *out = c;
    return STATUS_OK;
}

double ceiling_measure(struct ceiling *c, double seconds)
{
    time_ways(c, KEPT, ROUNDS_MEASURE, seconds);
    snprintf(c->way, sizeof c->way, "%zu %s", blocks[c->ways->block], c->ways->order->name);
    return ceiling_right(c) ? c->updates / c->ways->seconds : -1;
}

const char *ceiling_way(const struct ceiling *c)
{
    return c->way;
}

bool ceiling_right(struct ceiling *c)
{
    const uint64_t *const word = (const uint64_t *)c->base;
    const size_t stride = c->stride / sizeof *word, stream = c->stream / sizeof *word;
    uint64_t wrong = 0;
#pragma omp parallel for num_threads(c->threads) reduction(| : wrong)
    for (size_t k = 0; k < STREAMS; k++)
        for (size_t n = k * stride; n < (k + 1) * stride; n++)
            wrong |= word[n] - initial_word(n) - (n - k * stride < stream ? c->sweeps : 0);
    int right = !wrong;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, c->comm);
    return right;
}

uint64_t *ceiling_word(struct ceiling *c, size_t n)
{
    return (uint64_t *)c->base + n % words_of(c);
}

void ceiling_destroy(struct ceiling *c)
{
    if (!c)
        return;
    if (c->mapped)
        munmap(c->mapped, STREAMS * c->stride + HUGE_PAGE);
    free(c->ways);
    free(c->times);
    free(c);
}

/* ---- a device ---- */

enum { LOTS = 5, STAGE = 16 << 20 };

/* Bytes of each of the two pieces: many times the cache of any GPU, if there is enough memory. */
static size_t piece_bytes(struct backend *b, int sharing)
{
    double available, all, bytes = 2e9;
    b->type->memory(b, &available, &all);
    if (all > 0 && bytes > 0.3 * available / sharing)
        bytes = 0.3 * available / sharing;
    return (size_t)fmax(bytes, 1 << 20) / 256 * 256;
}

/* Makes `copies` copies; *seconds: of the slowest rank. */
static enum status lot(struct backend *b, MPI_Comm comm, char *const piece[2], size_t bytes,
                       int copies, double *seconds)
{
    MPI_Barrier(comm);
    const double start = clock_seconds();
    for (int k = 0; k < copies; k++)
        b->type->copy(b, QUEUE_INTERIOR, piece[k & 1], piece[!(k & 1)], bytes);
    const enum status status = b->type->wait(b, QUEUE_INTERIOR);
    *seconds = clock_seconds() - start;
    MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return status_agree(comm, status);
}

/* Fills the pieces with numbers at random: a memory may move zeros with less work. */
static enum status fill(struct backend *b, char *const piece[2], size_t bytes)
{
    const size_t most = bytes < STAGE ? bytes : STAGE;
    uint64_t *const stage = b->type->alloc_host(b, most);
    if (!stage)
        return fail_machine("out of memory on the host for %zu bytes", most);
    for (size_t k = 0; k < most / sizeof *stage; k++)
        stage[k] = initial_word(k);
    for (int k = 0; k < 2; k++)
        for (size_t at = 0; at < bytes; at += most)
            b->type->copy(b, QUEUE_INTERIOR, piece[k] + at, stage,
                          bytes - at < most ? bytes - at : most);
    const enum status status = b->type->wait(b, QUEUE_INTERIOR);
    b->type->free_host(b, stage);
    return status;
}

enum status copy_measure(struct backend *b, MPI_Comm comm, int sharing, double seconds,
                         double *bytes)
{
    const size_t size = piece_bytes(b, sharing);
    char *const piece[2] = {b->type->alloc(b, size, 1), b->type->alloc(b, size, 1)};
    double once, times[LOTS], all = 2 * (double)size;
    enum status status = STATUS_OK;
    if (!piece[0] || !piece[1])
        status = backend_no_room(b, 2 * (double)size, "the copy that is the ceiling");
    else
        status = fill(b, piece, size);
    status = status_agree(comm, status);
    for (int k = 0; k < 2 && !status; k++) /* the first one warms up pages and clocks */
        status = lot(b, comm, piece, size, 4, &once);
    const int copies = status ? 0 : (int)fmin(1e6, fmax(4, 4 * seconds / LOTS / fmax(once, 1e-9)));
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    for (int k = 0; k < LOTS && !status; k++)
        status = lot(b, comm, piece, size, copies, &times[k]);
    if (!status)
        *bytes = all * copies / ceiling_median(times, LOTS);
    for (int k = 0; k < 2; k++)
        b->type->free(b, piece[k]);
    return status;
}
