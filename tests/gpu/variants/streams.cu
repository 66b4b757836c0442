/* What memory allows a step: streams of numbers, each loaded and stored once in place, some of them
 * shifted by one number as at x + 1. Nothing is computed but + 1, so that every number counts its
 * updates; a row whose numbers are wrong has no rate.
 *
 *   streams [--cells N] [--seconds S] [--json FILE] [--mutant K]
 *
 * N^3 numbers a stream. Exit status: 1 numbers are wrong or the machine failed, 2 wrong usage. */
#include "rates.h"
#include "touched.h"

#include <stdint.h>

enum { MODE_update, MODE_load, MODE_store };
enum { TURNS_arrays, TURNS_planes, TURNS_rows };

/* Argument of the kernels. */
struct streams_call {
    char *f;
    size_t stride;       /* bytes between streams */
    unsigned row, plane; /* numbers between rows and planes of a stream */
    int n;
    uint32_t never; /* a value that no sum of loads has, unknown to the compiler */
    /* Of the check: */
    int streams, shifted, size, wanted;
    unsigned long long *wrong;
#ifndef __CUDACC__
    int mutant;
#endif
};

#ifdef __CUDACC__
#define MUTANT(number, right, other) (right)
#else
#define MUTANT(number, right, other) (call.mutant == (number) ? (other) : (right))
enum { MUTANTS = 2 };
#endif

/* 16 bytes, four numbers. */
struct alignas(16) four {
    uint32_t at[4];
};

#ifdef __CUDACC__
#define INLINE static __device__ __forceinline__
#else
#define INLINE static inline
#endif
template <class T>
INLINE void count(T &v)
{
    v = (T)(v + 1);
}
INLINE void count(struct four &v)
{
    for (int k = 0; k < 4; k++)
        v.at[k]++;
}
template <class T>
INLINE uint32_t some_bits(const T &v)
{
    return (uint32_t)v;
}
INLINE uint32_t some_bits(const struct four &v)
{
    return v.at[0] | v.at[1] | v.at[2] | v.at[3];
}

/* Place of number (x, y, z) of stream s. */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline char *
    place(const struct streams_call &c, int size, int s, int shifted, int x, int y, int z)
{
    const unsigned at = (unsigned)x + (unsigned)y * c.row + (unsigned)z * c.plane;
    return c.f + (size_t)s * c.stride + (size_t)size * (at + (s < shifted));
}

/* Blocks on a multiprocessor, by the registers that the numbers of a thread take. */
template <class T, int S, int THREADS>
struct fit {
    enum { blocks = 128 * (S * sizeof(T) > 152 ? 3 : S * sizeof(T) > 80 ? 5 : 8) / THREADS };
};

template <class T, int S, int M, int MODE, int THREADS>
KERNEL(move, struct streams_call, __launch_bounds__(THREADS, fit<T, S, THREADS>::blocks))
{
    KERNEL_CALL(struct streams_call)
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y), z = (int)blockIdx.z;
    T v[S];
    uint32_t sum = 0;
    if (x >= call.n || y >= call.n)
        return;
    for (int s = 0; s < S; s++)
        v[s] = MODE == MODE_store ? T() : *(const T *)place(call, sizeof(T), s, M, x, y, z);
    for (int s = 0; s < S; s++) {
        count(v[s]);
        sum |= some_bits(v[s]);
    }
    if (MODE == MODE_load && sum != call.never)
        return;
    for (int s = 0; s < S - MUTANT(1, 0, 1); s++)
        *(T *)place(call, sizeof(T), s, M, MUTANT(2, x, x ? x : 1), y, z) = v[s];
}

/* Counts numbers that are not `wanted`, modulo their range. */
KERNEL(check, struct streams_call)
{
    KERNEL_CALL(struct streams_call)
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y), z = (int)blockIdx.z;
    if (x >= call.n || y >= call.n)
        return;
    for (int s = 0; s < call.streams; s++) {
        const char *const at = place(call, call.size, s, call.shifted, x, y, z);
        bool good = true;
        if (call.size == 2)
            good = *(const uint16_t *)at == (uint16_t)call.wanted;
        else /* numbers of 8 bytes are below 2^32: one word or two */
            good = *(const uint32_t *)at == (uint32_t)call.wanted;
        if (!good)
            atomicAdd(call.wrong, 1ULL);
    }
}

/* X(type, streams, shifted, mode, bytes at whose multiples rows begin, block along x, along y,
 *   streams take turns by), those that decide most first. */
/* clang-format off */
#define PLAN_LIST(X, type)                             \
    X(type, 19,  0, update, 128, 128, 1, arrays)       \
    X(type, 19,  0, update,  32, 128, 1, arrays)       \
    X(type, 19,  5, update, 128, 128, 1, arrays)       \
    X(type, 19,  5, update,  32, 128, 1, arrays)       \
    X(type, 19,  0, update,  64, 128, 1, arrays)       \
    X(type, 19, 10, update, 128, 128, 1, arrays)       \
    X(type, 19, 19, update, 128, 128, 1, arrays)       \
    X(type, 19,  0, update, 128, 128, 1, planes)       \
    X(type, 19,  0, update, 128, 128, 1, rows)         \
    X(type, 19,  5, update, 128, 128, 1, planes)       \
    X(type, 19,  5, update, 128, 128, 1, rows)         \
    X(type, 19,  0, update, 128,  32, 4, arrays)       \
    X(type, 19,  0, update, 128,  64, 2, arrays)       \
    X(type, 19,  0, update, 128, 256, 1, arrays)       \
    X(type, 10,  0, update, 128, 128, 1, arrays)       \
    X(type,  5,  0, update, 128, 128, 1, arrays)       \
    X(type,  1,  0, update, 128, 128, 1, arrays)       \
    X(type, 10,  0, update, 128, 128, 1, rows)         \
    X(type, 19,  0, load,   128, 128, 1, arrays)       \
    X(type, 19,  0, store,  128, 128, 1, arrays)
/* Types: 2 to 16 bytes an access. */
#define TYPE_LIST(X) X(uint32_t) X(uint16_t) X(uint64_t) X(four)
/* clang-format on */

struct plan {
    const char *type;
    const void *kernel;
    int size, streams, shifted, mode, align, block[2], turns;
};
#define X(type, streams, shifted, mode, align, bx, by, turns)                                      \
    {#type,        (const void *)move<type, streams, shifted, MODE_##mode, (bx) * (by)>,           \
     sizeof(type), streams,                                                                        \
     shifted,      MODE_##mode,                                                                    \
     align,        {bx, by},                                                                       \
     TURNS_##turns},
#define PLANS_OF(type) {PLAN_LIST(X, type)},
#define ONE(...) 1 +
enum { PLANS = PLAN_LIST(ONE, ) 0, TYPES = TYPE_LIST(ONE) 0 };
static const struct plan plans[TYPES][PLANS] = {TYPE_LIST(PLANS_OF)};
#undef X

static const char *const mode_name[] = {"update", "load", "store"};
static const char *const turns_name[] = {"arrays", "planes", "rows"};

/* Geometry of a plan; returns the bytes that it takes. */
static size_t lay_out(struct streams_call *c, const struct plan *p, int n)
{
    const size_t size = (size_t)p->size, cells = (size_t)n;
    /* Rows at 64 or 32 bytes begin in each part of a line in turn. */
    const size_t row = (cells * size + REQUEST - 1) / REQUEST * REQUEST +
                       (size_t)(p->align < REQUEST ? p->align : 0);
    const size_t streams = (size_t)p->streams, slack = 2 * REQUEST;
    memset((void *)c, 0, sizeof *c);
    c->n = n;
    c->never = 0xdeadbeef;
    c->streams = p->streams;
    c->shifted = p->shifted;
    c->size = p->size;
    c->row = (unsigned)(row / size);
    c->plane = (unsigned)(row * cells / size);
    size_t plane = row * cells;
    if (p->turns == TURNS_arrays) { /* an odd number of lines */
        c->stride = (plane * cells / REQUEST | 1) * REQUEST + slack;
        return c->stride * streams;
    }
    if (p->turns == TURNS_planes) {
        c->stride = (plane / REQUEST | 1) * REQUEST + slack;
        c->plane = (unsigned)(c->stride * streams / size);
        return c->stride * streams * cells;
    }
    c->stride = row + (row % REQUEST == 0 && p->shifted ? REQUEST : 0); /* room for the shift */
    c->row = (unsigned)(c->stride * streams / size);
    plane = c->stride * streams * cells;
    c->plane = (unsigned)(plane / size);
    return plane * cells + slack;
}

/* Mean requests and sectors of a warp that begins in row y of the first plane. */
static void count_touched(const struct streams_call *c, const struct plan *p, double touched[2])
{
    static struct accesses a;
    int warps = 0;
    touched[0] = touched[1] = 0;
    for (int y = 0; y < 8 && y < c->n; y++)
        for (int x = 0; x + 32 <= c->n; x += 32) {
            for (int s = 0; s < p->streams; s++) {
                a.count = 0;
                for (int lane = 0; lane < 32; lane++)
                    accesses_add(&a, place(*c, p->size, s, p->shifted, x + lane, y, 0), p->size);
                const int times = p->mode == MODE_update ? 2 : 1;
                touched[0] += times * accesses_touch(&a, REQUEST);
                touched[1] += times * accesses_touch(&a, SECTOR);
            }
            warps++;
        }
    for (int k = 0; k < 2 && warps; k++)
        touched[k] /= warps;
}

static unsigned long long wrong_numbers(struct gpu *g, struct streams_call *c, int wanted)
{
    static const int block[2] = {32, 4};
    const int cells[3] = {c->n, c->n, c->n};
    unsigned long long wrong;
    c->wanted = wanted;
    GOOD(cudaStreamSynchronize(g->stream));
    GOOD(cudaMemset(c->wrong, 0, sizeof wrong));
    GOOD(cudaDeviceSynchronize());
    launch(g, (const void *)check, cells, block, c, sizeof *c);
    GOOD(cudaStreamSynchronize(g->stream));
    GOOD(cudaMemcpy(&wrong, c->wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    return wrong;
}

/* One row; returns 1 if numbers are wrong. */
static int row(struct gpu *g, const struct plan *p, int n, double seconds, int mutant)
{
    struct streams_call c;
    size_t unused, all;
    int times = 0;
    double touched[2];
    const size_t bytes = lay_out(&c, p, n);
    const int cells[3] = {n, n, n};
    say(g,
        "{\"type\": \"%s\", \"bytes\": %d, \"streams\": %d, \"shifted\": %d, \"mode\": \"%s\", "
        "\"row_bytes\": %d, \"block\": [%d, %d], \"turns\": \"%s\", \"cells\": [%d, %d, %d]",
        p->type, p->size, p->streams, p->shifted, mode_name[p->mode], p->align, p->block[0],
        p->block[1], turns_name[p->turns], n, n, n);
    printf("%-8s %2d streams by %-6s %2d shifted, rows at %3d B, block %3dx%d, %-6s ", p->type,
           p->streams, turns_name[p->turns], p->shifted, p->align, p->block[0], p->block[1],
           mode_name[p->mode]);
    GOOD(cudaMemGetInfo(&unused, &all));
    if (bytes + REQUEST > unused || (double)bytes / p->size > 4e9) {
        printf("left out: %.1f GB\n", 1e-9 * (double)bytes);
        say(g, ", \"left_out\": \"memory\"");
        say_end(g);
        return 0;
    }
    GOOD(cudaMalloc((void **)&c.f, bytes));
    GOOD(cudaMalloc((void **)&c.wrong, sizeof *c.wrong));
    GOOD(cudaMemset(c.f, 0, bytes));
    GOOD(cudaDeviceSynchronize());
#ifndef __CUDACC__
    c.mutant = mutant;
#else
    (void)mutant;
#endif
    count_touched(&c, p, touched);
    const struct samples s = measure(g, seconds, [&] {
        launch(g, p->kernel, cells, p->block, &c, sizeof c);
        times++;
    });
    const int wanted = p->mode == MODE_update ? times : p->mode == MODE_store;
    const unsigned long long wrong = wrong_numbers(g, &c, wanted);
    say(g, ", \"verified\": %s", wrong ? "false" : "true");
    say_touched(g, touched[0], touched[1]);
    if (wrong) {
        printf("%llu NUMBERS ARE WRONG\n", wrong);
    } else {
        const double moved =
            (p->mode == MODE_update ? 2e-9 : 1e-9) * p->streams * p->size * n * n * n;
        const double gbs = moved / s.work[SAMPLES / 2];
        const double copy = 1e-9 * (double)g->copy_bytes / s.copy[SAMPLES / 2];
        say_rates(g, "gbs", moved, s.work);
        say_rates(g, "copy_gbs", 1e-9 * (double)g->copy_bytes, s.copy);
        say(g, ", \"share\": %.4f", gbs / copy);
        say_conditions(g, &s, resources_of(p->kernel, p->block[0] * p->block[1]));
        printf("%7.1f GB/s, %5.1f %% of a copy's %6.1f, %5.1f requests, %5.1f sectors a warp\n",
               gbs, 100 * gbs / copy, copy, touched[0], touched[1]);
    }
    fflush(stdout);
    say_end(g);
    GOOD(cudaFree(c.f));
    GOOD(cudaFree(c.wrong));
    return wrong != 0;
}

int main(int argc, char **argv)
{
    const char *json = NULL;
    int n = 256, mutant = 0, wrong = 0;
    double seconds = 0.05;
    program = "streams";
    for (int k = 1; k < argc; k += 2) {
        const char *const value = k + 1 < argc ? argv[k + 1] : NULL;
        if (value && strcmp(argv[k], "--cells") == 0)
            n = (int)wanted_number(value, 1, 1024);
        else if (value && strcmp(argv[k], "--seconds") == 0)
            seconds = wanted_number(value, 1e-9, 1000);
        else if (value && strcmp(argv[k], "--json") == 0)
            json = value;
#ifndef __CUDACC__
        else if (value && strcmp(argv[k], "--mutant") == 0)
            mutant = (int)wanted_number(value, 0, MUTANTS);
#endif
        else
            usage(argv[k], "streams.cu");
    }
    struct gpu g;
    gpu_create(&g, json);
    say(&g, "{\"program\": \"streams\", \"device\": \"%s\"", g.name);
    say_end(&g);
    gpu_copies(&g, copy_bytes(n));
    for (int plan = 0; plan < PLANS; plan++)
        for (int type = 0; type < TYPES; type++)
            wrong += row(&g, &plans[type][plan], n, seconds, mutant);
    gpu_destroy(&g);
    printf("%d rows, %d wrong\n", PLANS * TYPES, wrong);
    return wrong != 0;
}
