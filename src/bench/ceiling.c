/* Pages, strides, blocks and orders, tried and timed; see ceiling.h. */
#include "bench/ceiling.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/agree.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/machine.h"
#include "bench/streams.h"

enum {
    PAGES = 2,
    STRIDES = 2,
    BLOCKS = 3,
    KEPT = 4,
    UNIT = 64, /* cells: the smallest block */
    HUGE_PAGE = 2 << 20,
    ROUNDS_CHOOSE = 3,
    ROUNDS_MEASURE = 5,
    ROUNDS_MOST = 199
};
static const char *const page_names[PAGES] = {"4k", "huge"};
static const char *const stride_names[STRIDES] = {"dense", "padded"};
static const size_t blocks[BLOCKS] = {64, 128, 512};

/* Shortest time of a measurement, about: a sweep of a small grid takes microseconds. */
static const double least_seconds = 2e-3;

/* Most bytes of one host's streams in one kind of pages, or 8 times its last-level caches if that
 * is more. A larger sweep is bound by memory in the same way and only takes longer; there are some
 * hundred ways to try. */
static const double most_bytes = 512.0 * 1024 * 1024;
static const double most_caches = 8;
/* Largest share of free memory for both kinds of pages. The second value applies where it is needed
 * for 8 times the caches: streams that fit into a cache do not measure the memory. */
static const double most_share = 0.4, utmost_share = 0.8;

struct way {
    int pages, stride, block, order;
    double seconds; /* median of a sweep */
};

struct ceiling {
    MPI_Comm comm;
    int threads;
    size_t number;  /* bytes of a number */
    double updates; /* cells of all ranks */
    size_t stream;  /* bytes of one */
    size_t stride[STRIDES];
    size_t size;       /* of base[] */
    char *base[PAGES]; /* the streams, twice: in pages of 4 KiB and in huge pages */
    char *mapped[PAGES];
    uint64_t sweeps[PAGES][STRIDES]; /* sweeps made so far */
    int repeats;                     /* sweeps of one timing */
    struct way *ways;                /* all ways, sorted by speed once they are timed */
    double *times;                   /* [way][ROUNDS_MOST] */
    int kept;                        /* number of ways kept, the first ones */
    char way[64];
};

/* Cells of this rank that are swept: all, or the share that the limits above allow. The share is
 * the same on all ranks, so that none waits for another. */
static size_t cells_swept(MPI_Comm comm, size_t cells, size_t number)
{
    MPI_Comm host;
    const double cache = most_caches * cache_host();
    double available, all;
    memory_find(&available, &all);
    double bytes = (double)STREAMS * (double)number * (double)cells;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, host);
    MPI_Comm_free(&host);
    double most = fmax(most_bytes, cache);
    if (available > 0)
        most = fmin(most, fmax(most_share / PAGES * available,
                               fmin(cache, utmost_share / PAGES * available)));
    double share = fmin(1, most / bytes);
    MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_MIN, comm);
    if (share < 1)
        cells = (size_t)(share * (double)cells);
    return cells < UNIT ? UNIT : (cells + UNIT - 1) / UNIT * UNIT;
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

/* Each number is first touched by the thread that will sweep it, so that it lies in that thread's
 * memory. */
static void fill(const struct ceiling *c, char *base)
{
    uint64_t *const words = (uint64_t *)base;
    const size_t word = sizeof *words, padded = c->stride[STRIDES - 1];
#pragma omp parallel num_threads(c->threads)
    {
        size_t lo, hi;
        my_bytes(c, &lo, &hi);
        if (hi == c->stream)
            hi = padded;
        for (size_t k = 0; k < STREAMS; k++)
            for (size_t n = (k * padded + lo) / word; n < (k * padded + hi) / word; n++)
                words[n] = initial_word(n);
    }
    for (size_t n = STREAMS * padded / word; n < c->size / word; n++)
        words[n] = initial_word(n);
}

static void unmap(struct ceiling *c, int pages)
{
    if (c->mapped[pages])
        munmap(c->mapped[pages], c->size + HUGE_PAGE);
    c->mapped[pages] = c->base[pages] = NULL;
}

static enum status map(struct ceiling *c)
{
    for (int pages = 0; pages < PAGES; pages++) {
        char *const raw = mmap(NULL, c->size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (raw == MAP_FAILED)
            return fail_machine("out of memory: %.4g GB for the streams of the memory's ceiling "
                                "(use fewer cells)",
                                1e-9 * PAGES * (double)(c->size + HUGE_PAGE));
        c->mapped[pages] = raw;
        c->base[pages] = raw + (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE);
        madvise(c->base[pages], c->size, pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    }
    return STATUS_OK;
}

/* Does the mapping at this address consist mostly of huge pages? True if unknown. */
static bool is_huge(const char *base)
{
    char line[512];
    unsigned long first, last, kib, resident = 0, huge = 0;
    bool inside = false;
    FILE *const file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
            inside = (uintptr_t)base >= first && (uintptr_t)base < last;
        else if (inside && sscanf(line, "Rss: %lu", &kib) == 1)
            resident = kib;
        else if (inside && sscanf(line, "AnonHugePages: %lu", &kib) == 1)
            huge = kib;
    }
    if (file)
        fclose(file);
    return resident == 0 || 2 * huge > resident;
}

/* Seconds of one sweep on the slowest rank. */
static double time_of(struct ceiling *c, const struct way *w)
{
    streams_sweep *const sweep = streams_order(w->order);
    MPI_Barrier(c->comm);
    const double start = clock_seconds();
#pragma omp parallel num_threads(c->threads)
    {
        size_t lo, hi;
        my_bytes(c, &lo, &hi);
        for (int k = 0; k < c->repeats; k++)
            sweep(c->base[w->pages], c->stride[w->stride], lo, hi, blocks[w->block] * c->number);
    }
    double seconds = clock_seconds() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, c->comm);
    c->sweeps[w->pages][w->stride] += (uint64_t)c->repeats;
    return seconds / c->repeats;
}

enum status ceiling_create(struct ceiling **out, MPI_Comm comm, size_t cells, size_t bytes,
                           int threads)
{
    *out = NULL;
    const size_t ways = PAGES * STRIDES * BLOCKS * (size_t)streams_orders();
    struct ceiling *const c = calloc(1, sizeof *c);
    if (c) {
        c->ways = calloc(ways, sizeof *c->ways);
        c->times = calloc(ways * ROUNDS_MOST, sizeof *c->times);
    }
    if (status_agree(comm, c && c->ways && c->times ? STATUS_OK : fail_machine("out of memory"))) {
        ceiling_destroy(c);
        return STATUS_MACHINE;
    }
    cells = cells_swept(comm, cells, bytes);
    c->comm = comm;
    c->threads = threads;
    c->number = bytes;
    c->stream = cells * bytes;
    c->stride[0] = c->stream;
    c->stride[1] = c->stream + STREAMS_LINE; /* not a multiple of 4 KiB: other cache sets */
    c->size = (STREAMS * c->stride[1] + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    c->updates = (double)cells;
    c->repeats = 1;
    MPI_Allreduce(MPI_IN_PLACE, &c->updates, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (status_agree(comm, map(c))) {
        ceiling_destroy(c);
        return STATUS_MACHINE;
    }
    for (int pages = 0; pages < PAGES; pages++)
        fill(c, c->base[pages]);
    int huge = is_huge(c->base[1]);
    MPI_Allreduce(MPI_IN_PLACE, &huge, 1, MPI_INT, MPI_MAX, comm);
    if (!huge) /* both kinds of pages are the same everywhere */
        unmap(c, 1);
    const double once = time_of(c, &(struct way){.pages = 0});
    c->repeats = once * 1000 < least_seconds ? 1000 : (int)ceil(least_seconds / once);
    *out = c;
    return STATUS_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_ways(const void *a, const void *b)
{
    return compare(&((const struct way *)a)->seconds, &((const struct way *)b)->seconds);
}

/* Times the ways and sorts them by their medians, the fastest first. Every round times all of them,
 * so that a slow moment of the machine affects all alike. The number of rounds is odd: a median is
 * one of the times. All ranks see the same times and hence do the same. */
static void time_ways(struct ceiling *c, struct way *ways, int count, int least, double seconds)
{
    double spent = 0;
    int rounds = 0;
    do {
        for (int k = 0; k < count; k++) {
            const double once = time_of(c, &ways[k]);
            c->times[k * ROUNDS_MOST + rounds] = once;
            spent += once * c->repeats;
        }
        rounds++;
    } while (rounds < least || rounds % 2 == 0 || (spent < seconds && rounds < ROUNDS_MOST));
    for (int k = 0; k < count; k++) {
        double *const times = c->times + k * ROUNDS_MOST;
        qsort(times, (size_t)rounds, sizeof *times, compare);
        ways[k].seconds = times[rounds / 2];
    }
    qsort(ways, (size_t)count, sizeof *ways, compare_ways);
}

void ceiling_choose(struct ceiling *c, double seconds)
{
    int count = 0;
    for (int pages = 0; pages < PAGES && c->base[pages]; pages++)
        for (int stride = 0; stride < STRIDES; stride++)
            for (int block = 0; block < BLOCKS; block++)
                for (int order = 0; order < streams_orders(); order++)
                    c->ways[count++] = (struct way){pages, stride, block, order, 0};
    time_ways(c, c->ways, count, ROUNDS_CHOOSE, seconds);
    c->kept = KEPT;
}

double ceiling_measure(struct ceiling *c, double seconds)
{
    if (c->kept == 0)
        ceiling_choose(c, 0);
    time_ways(c, c->ways, c->kept, ROUNDS_MEASURE, seconds);
    const struct way *const best = c->ways;
    snprintf(c->way, sizeof c->way, "%s %s %zu %s", page_names[best->pages],
             stride_names[best->stride], blocks[best->block], streams_order_name(best->order));
    return ceiling_right(c) ? c->updates / best->seconds : -1;
}

const char *ceiling_way(const struct ceiling *c)
{
    return c->way;
}

/* Have cache lines first <= line < last the right values? All words of a line belong to the same
 * streams: each sweep whose streams hold the line has changed each word once. */
static bool lines_right(const struct ceiling *c, int pages, size_t first, size_t last)
{
    const size_t words = STREAMS_LINE / sizeof(uint64_t);
    for (size_t line = first; line < last; line++) {
        uint64_t changes = 0, wrong = 0;
        for (int k = 0; k < STRIDES; k++) {
            const size_t at = line * STREAMS_LINE;
            if (at / c->stride[k] < STREAMS && at % c->stride[k] < c->stream)
                changes += c->sweeps[pages][k];
        }
        const uint64_t *const word = (const uint64_t *)c->base[pages] + line * words;
        for (size_t n = 0; n < words; n++)
            wrong |= word[n] - initial_word(line * words + n) - changes;
        if (wrong)
            return false;
    }
    return true;
}

bool ceiling_right(struct ceiling *c)
{
    const size_t lines = c->size / STREAMS_LINE;
    int right = 1;
    for (int pages = 0; pages < PAGES && c->base[pages]; pages++) {
#pragma omp parallel num_threads(c->threads) reduction(& : right)
        {
            const size_t thread = (size_t)omp_get_thread_num();
            const size_t threads = (size_t)omp_get_num_threads();
            right &=
                lines_right(c, pages, lines * thread / threads, lines * (thread + 1) / threads);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, c->comm);
    return right;
}

uint64_t *ceiling_word(struct ceiling *c, size_t n)
{
    const size_t words = c->size / sizeof(uint64_t), kinds = c->base[1] ? PAGES : 1;
    n %= kinds * words;
    return (uint64_t *)c->base[n / words] + n % words;
}

void ceiling_destroy(struct ceiling *c)
{
    if (!c)
        return;
    for (int pages = 0; pages < PAGES; pages++)
        unmap(c, pages);
    free(c->ways);
    free(c->times);
    free(c);
}
