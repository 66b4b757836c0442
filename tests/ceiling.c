/* How fast this machine's memory lets anybody update 19 streams in place: the ceiling that rates of
 * tagflow's CPU kernels are set against. Every variant loads, changes and stores each number once,
 * block of cells by block of cells; the ceiling is the best median over pages x strides x blocks x
 * orders, the last line printed.
 *
 *   mpirun -n CORES ceiling NX NY NZ fp64|fp32|fp16 SECONDS
 *
 * with the cells of one rank, one rank a core. Memory swings by 2x within a minute on shared
 * machines: call it in turn with what it is compared to. Exit status: 0 done, 1 the machine failed,
 * 2 wrong usage. */
#define _DEFAULT_SOURCE
#include <mpi.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { Q = 19, LINE = 64, HUGE_PAGE = 2 << 20, BLOCK_MIN = 64, SWEEPS_MIN = 5, SWEEPS_MAX = 9999 };

#define UNROLL _Pragma("GCC unroll 19")

typedef uint64_t line_t __attribute__((vector_size(LINE), may_alias));

/* One sweep over 19 streams of `bytes` each, `stride` bytes apart, in blocks of `block` bytes.
 * The streams of a block are taken `group` at a time, `lines` cache lines of each: all of that is
 * loaded before any is stored (it fits the registers, and few open streams suit the hardware's
 * prefetcher). by_rows: a group goes through the whole block before the next group starts; else all
 * groups take their few lines of the same cells in turn. ahead > 0: prefetch so many lines ahead.
 * The change is an integer + 1: no rounding, no denormals, and the data tell how often it ran. */
#define SWEEP(name, target_isa, group, lines, by_rows, ahead)                                      \
    target_isa static void name(char *base, size_t stride, size_t bytes, size_t block)             \
    {                                                                                              \
        for (size_t b = 0; b < bytes; b += block) {                                                \
            const size_t end = b + block < bytes ? b + block : bytes;                              \
            const size_t span = by_rows ? end - b : (lines)*LINE;                                  \
            for (size_t s = b; s < end; s += span) {                                               \
                UNROLL for (size_t g = 0; g < Q; g += group)                                       \
                {                                                                                  \
                    const size_t count = g + group < Q ? group : Q - g;                            \
                    for (size_t n = s; n < s + span; n += (lines)*LINE) {                          \
                        line_t kept[group][lines];                                                 \
                        UNROLL for (size_t k = 0; k < group; k++)                                  \
                        {                                                                          \
                            const line_t *p = (const line_t *)(base + (g + k) * stride + n);       \
                            for (size_t l = 0; k < count && l < lines; l++) {                      \
                                if (ahead)                                                         \
                                    __builtin_prefetch(p + l + (ahead));                           \
                                kept[k][l] = p[l];                                                 \
                            }                                                                      \
                        }                                                                          \
                        UNROLL for (size_t k = 0; k < group; k++)                                  \
                        {                                                                          \
                            line_t *p = (line_t *)(base + (g + k) * stride + n);                   \
                            for (size_t l = 0; k < count && l < lines; l++)                        \
                                p[l] = kept[k][l] + 1;                                             \
                        }                                                                          \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The fastest of some forty orders tried, and the plain one, a stream at a time, to compare with.
 *    order, group, lines, by_rows, ahead */
#define ORDER_LIST(ORDER)                                                                          \
    ORDER(row, 1, 2, true, 0)                                                                      \
    ORDER(5x1, 5, 1, false, 0)                                                                     \
    ORDER(5x1_ahead4, 5, 1, false, 4)                                                              \
    ORDER(5x2, 5, 2, false, 0)                                                                     \
    ORDER(10x1_rows_ahead4, 10, 1, true, 4)                                                        \
    ORDER(10x1_rows_ahead8, 10, 1, true, 8)

#define SWEEP_ANY(order, ...) SWEEP(sweep_any_##order, , __VA_ARGS__)
ORDER_LIST(SWEEP_ANY)
#ifdef __x86_64__
#define SWEEP_V3(order, ...)                                                                       \
    SWEEP(sweep_v3_##order, __attribute__((target("arch=x86-64-v3"))), __VA_ARGS__)
#define SWEEP_V4(order, ...)                                                                       \
    SWEEP(sweep_v4_##order, __attribute__((target("arch=x86-64-v4"))), __VA_ARGS__)
ORDER_LIST(SWEEP_V3)
ORDER_LIST(SWEEP_V4)
#define ORDER_ROW(order, ...) {#order, {sweep_any_##order, sweep_v3_##order, sweep_v4_##order}},
#else
#define ORDER_ROW(order, ...) {#order, {sweep_any_##order}},
#endif

static const struct {
    const char *name;
    void (*sweep[3])(char *base, size_t stride, size_t bytes, size_t block); /* [isa] */
} orders[] = {ORDER_LIST(ORDER_ROW)};

enum {
    PAGES_COUNT = 2,
    STRIDES_COUNT = 2,
    BLOCKS_COUNT = 3,
    ORDERS_COUNT = sizeof orders / sizeof orders[0],
    VARIANTS = PAGES_COUNT * STRIDES_COUNT * BLOCKS_COUNT * ORDERS_COUNT
};
static const char *const page_names[PAGES_COUNT] = {"4k", "huge"};
static const char *const stride_names[STRIDES_COUNT] = {"dense", "padded"};
static const int blocks[BLOCKS_COUNT] = {64, 128, 512};

static int isa_of_this_cpu(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return 2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        return 1;
#endif
    return 0;
}

/* One rank's streams, twice: in pages of 4 KiB and in huge ones. */
struct streams {
    char *base[PAGES_COUNT];
    size_t bytes;                 /* of one stream */
    size_t stride[STRIDES_COUNT]; /* bytes between streams */
    size_t size;                  /* of base[] */
    int sweeps[STRIDES_COUNT];    /* made so far, in either kind of pages */
};

struct variant {
    int pages, stride, block, order;
};

static void give_up(int status, const char *message)
{
    fprintf(stderr, "ceiling: %s\n", message);
    MPI_Abort(MPI_COMM_WORLD, status);
}

static uint64_t initial_word(size_t n)
{
    return (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void streams_create(struct streams *s, size_t cells, size_t size_of_number)
{
    s->bytes = cells * size_of_number;
    s->stride[0] = s->bytes;
    s->stride[1] = s->bytes + LINE; /* not a multiple of 4 KiB, where lines compete for one set */
    s->size = Q * s->stride[1];
    s->size += HUGE_PAGE - s->size % HUGE_PAGE;
    for (int pages = 0; pages < PAGES_COUNT; pages++) {
        char *raw = mmap(NULL, s->size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (raw == MAP_FAILED)
            give_up(1, "not enough memory (take fewer cells)");
        s->base[pages] = raw + (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE);
        /* A kernel without transparent huge pages refuses both; report_pages() then says so. */
        madvise(s->base[pages], s->size, pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        uint64_t *words = (uint64_t *)s->base[pages];
        for (size_t n = 0; n < s->size / sizeof *words; n++)
            words[n] = initial_word(n);
    }
}

/* Every word must have been changed once by each sweep whose streams hold it, and by no other. */
static bool streams_are_right(const struct streams *s)
{
    for (int pages = 0; pages < PAGES_COUNT; pages++) {
        const uint64_t *words = (const uint64_t *)s->base[pages];
        for (size_t n = 0; n < s->size / sizeof *words; n++) {
            uint64_t expected = initial_word(n);
            for (int k = 0; k < STRIDES_COUNT; k++) {
                const size_t at = n * sizeof *words;
                if (at / s->stride[k] < Q && at % s->stride[k] < s->bytes)
                    expected += (uint64_t)s->sweeps[k];
            }
            if (words[n] != expected)
                return false;
        }
    }
    return true;
}

static void report_pages(const struct streams *s)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    unsigned long kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    printf("# huge pages granted: %.0f %%\n", 100.0 * 1024.0 * (double)kib / (double)s->size);
}

/* Seconds of one sweep, that of the slowest rank. */
static double sweep(struct streams *s, const struct variant *v, int isa, size_t size_of_number)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    orders[v->order].sweep[isa](s->base[v->pages], s->stride[v->stride], s->bytes,
                                (size_t)blocks[v->block] * size_of_number);
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static long positive(const char *text)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    return errno || *end || end == text || value > INT32_MAX ? 0 : value;
}

int main(int argc, char **argv)
{
    static struct variant variants[VARIANTS];
    static double times[VARIANTS][SWEEPS_MAX];
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    long n[3] = {0, 0, 0};
    for (int axis = 0; argc == 6 && axis < 3; axis++)
        n[axis] = positive(argv[1 + axis]);
    const char *precision = argc == 6 ? argv[4] : "";
    const size_t size_of_number = !strcmp(precision, "fp64")   ? 8
                                  : !strcmp(precision, "fp32") ? 4
                                  : !strcmp(precision, "fp16") ? 2
                                                               : 0;
    const double seconds = argc == 6 ? (double)positive(argv[5]) : 0;
    if (!n[0] || !n[1] || !n[2] || !size_of_number || seconds <= 0) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: ceiling NX NY NZ fp64|fp32|fp16 SECONDS (whole numbers above 0)\n");
        MPI_Finalize();
        return 2;
    }
    /* Whole smallest blocks; what is swept is what is counted. */
    const size_t cells =
        ((size_t)n[0] * (size_t)n[1] * (size_t)n[2] + BLOCK_MIN - 1) / BLOCK_MIN * BLOCK_MIN;

    struct streams s = {.size = 0};
    streams_create(&s, cells, size_of_number);
    const int isa = isa_of_this_cpu();

    int count = 0;
    for (int p = 0; p < PAGES_COUNT; p++)
        for (int k = 0; k < STRIDES_COUNT; k++)
            for (int b = 0; b < BLOCKS_COUNT; b++)
                for (int o = 0; o < ORDERS_COUNT; o++)
                    variants[count++] = (struct variant){p, k, b, o};

    /* All variants in turn, round after round, so that a slow moment of the machine hits all alike.
     * Round -1 warms up; the number of rounds that count is odd. */
    int sweeps = 0;
    const double start = MPI_Wtime();
    for (int round = -1, more = 1; more; round++) {
        for (int v = 0; v < VARIANTS; v++) {
            const double t = sweep(&s, &variants[v], isa, size_of_number);
            if (round >= 0)
                times[v][round] = t;
        }
        for (int k = 0; k < STRIDES_COUNT; k++)
            s.sweeps[k] += VARIANTS / PAGES_COUNT / STRIDES_COUNT;
        sweeps = round + 1;
        more = sweeps < SWEEPS_MIN || sweeps % 2 == 0 ||
               (MPI_Wtime() - start < seconds && sweeps < SWEEPS_MAX);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    int right = streams_are_right(&s);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0 && !right)
        fprintf(stderr, "ceiling: wrong data after the sweeps, so no rate\n");
    if (rank == 0 && right) {
        const double mega_updates = 1e-6 * (double)cells * ranks;
        const double gigabytes = 1e-9 * 2 * Q * (double)size_of_number * (double)cells * ranks;
        int best = 0;
        report_pages(&s);
        printf("# %s, %d ranks of %zu cells, %d sweeps: MLUPS median (lowest, highest)\n",
               precision, ranks, cells, sweeps);
        for (int v = 0; v < VARIANTS; v++) {
            const struct variant *is = &variants[v];
            qsort(times[v], (size_t)sweeps, sizeof(double), compare);
            printf("%-4s %-6s %3d %-16s %7.1f (%.1f, %.1f)\n", page_names[is->pages],
                   stride_names[is->stride], blocks[is->block], orders[is->order].name,
                   mega_updates / times[v][sweeps / 2], mega_updates / times[v][sweeps - 1],
                   mega_updates / times[v][0]);
            if (times[v][sweeps / 2] < times[best][sweeps / 2])
                best = v;
        }
        const struct variant *is = &variants[best];
        const double median = times[best][sweeps / 2];
        printf("ceiling %s %.1f MLUPS %.1f GB/s pages=%s stride=%s block=%d order=%s sweeps=%d\n",
               precision, mega_updates / median, gigabytes / median, page_names[is->pages],
               stride_names[is->stride], blocks[is->block], orders[is->order].name, sweeps);
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
