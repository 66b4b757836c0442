/* What variants.cu and streams.cu share: the GPU, times of kernels beside a copy, and a file with a
 * line of JSON for each row, so that a call that is cut keeps its rows. On machines without a GPU
 * both run on the stand-in for CUDA's runtime. */
#ifndef TAGFLOW_VARIANT_RATES_H
#define TAGFLOW_VARIANT_RATES_H

#include <cuda_runtime.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef __CUDACC__
#include "kernels.h"
#endif

extern "C" {
#include "nvml.h"
}

enum { SAMPLES = 5 };

/* A kernel's argument. The stand-in gives every kernel a struct cuda_call, of which `type` is the
 * first part. */
#ifdef __CUDACC__
#define KERNEL(name, type, ...)                                                                    \
    static __global__ void __VA_ARGS__ name(const __grid_constant__ type call)
#define KERNEL_CALL(type)
#else
#define KERNEL(name, type, ...) static void name(const struct cuda_call argument)
#define KERNEL_CALL(type)                                                                          \
    type call;                                                                                     \
    static_assert(sizeof call <= sizeof argument, "more than the stand-in's argument");            \
    memcpy((void *)&call, (const void *)&argument, sizeof call);
#endif

#define GOOD(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess)                                                                 \
            fail("%s: %s", #call, cudaGetErrorString(error_));                                     \
    } while (0)

static const char *program;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void usage(const char *what, const char *source)
{
    fprintf(stderr, "%s: %s (see the first lines of %s)\n", program, what, source);
    exit(2);
}

static double wanted_number(const char *text, double least, double most)
{
    char *end;
    const double x = text ? strtod(text, &end) : 0;
    if (!text || end == text || *end || !(x >= least && x <= most))
        usage("a number is wrong", "its source");
    return x;
}

struct gpu {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    char *copy; /* two halves, for copies */
    size_t copy_bytes;
    struct nvml *nvml;
    FILE *json; /* NULL: none */
    char name[256];
};

/* Seconds of one execution; sorted. */
struct samples {
    double work[SAMPLES], copy[SAMPLES];
    double mhz[2], watts; /* 0: unknown */
};

static void gpu_create(struct gpu *g, const char *json)
{
    struct cudaDeviceProp about;
    memset(g, 0, sizeof *g);
    if (json && !(g->json = fopen(json, "w")))
        fail("%s: %s", json, strerror(errno));
    GOOD(cudaSetDevice(0));
    GOOD(cudaGetDeviceProperties(&about, 0));
    GOOD(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking));
    GOOD(cudaEventCreate(&g->begin));
    GOOD(cudaEventCreate(&g->end));
    g->nvml = nvml_create((const unsigned char *)about.uuid.bytes);
    snprintf(g->name, sizeof g->name, "%s", about.name);
    for (char *at = g->name; *at; at++)
        if (*at == '"' || *at == '\\' || *at < ' ')
            *at = ' ';
}

static void gpu_destroy(struct gpu *g)
{
    GOOD(cudaStreamSynchronize(g->stream));
    if (g->copy)
        GOOD(cudaFree(g->copy));
    GOOD(cudaEventDestroy(g->begin));
    GOOD(cudaEventDestroy(g->end));
    GOOD(cudaStreamDestroy(g->stream));
    nvml_destroy(g->nvml);
    if (g->json && fclose(g->json) != 0)
        fail("the JSON file: %s", strerror(errno));
}

/* Bytes of memory for copies beside a block of n^3 cells: at most 1 GiB, far more than a cache. */
static size_t copy_bytes(int n)
{
    const size_t cells = (size_t)n * (size_t)n * (size_t)n;
    return cells * 64 < (size_t)1 << 30 ? cells * 64 : (size_t)1 << 30;
}

/* Memory for copies: two halves. */
static void gpu_copies(struct gpu *g, size_t bytes)
{
    if (g->copy)
        GOOD(cudaFree(g->copy));
    g->copy_bytes = bytes / 512 * 512;
    GOOD(cudaMalloc((void **)&g->copy, g->copy_bytes));
    GOOD(cudaMemset(g->copy, 1, g->copy_bytes));
    GOOD(cudaDeviceSynchronize());
}

/* Part of a line of the JSON file. */
__attribute__((format(printf, 2, 3))) static void say(struct gpu *g, const char *format, ...)
{
    va_list arguments;
    if (!g->json)
        return;
    va_start(arguments, format);
    vfprintf(g->json, format, arguments);
    va_end(arguments);
}

static void say_end(struct gpu *g)
{
    if (g->json && (fputs("}\n", g->json) < 0 || fflush(g->json) != 0))
        fail("the JSON file: %s", strerror(errno));
}

/* `"name": {"median": .., "least": .., "most": ..}` of amount / seconds. */
static void say_rates(struct gpu *g, const char *name, double amount, const double seconds[SAMPLES])
{
    say(g, ", \"%s\": {\"median\": %.6g, \"least\": %.6g, \"most\": %.6g}", name,
        amount / seconds[SAMPLES / 2], amount / seconds[SAMPLES - 1], amount / seconds[0]);
}

/* Of a warp; none in rows shorter than a warp. */
static void say_touched(struct gpu *g, double requests, double sectors)
{
    if (requests > 0)
        say(g, ", \"requests\": %.2f, \"sectors\": %.2f", requests, sectors);
}

/* A kernel's registers of a thread, blocks on a multiprocessor and bytes of local memory of a
 * thread; 0 on the stand-in. */
struct resources {
    int registers, blocks, local;
};

static struct resources resources_of(const void *kernel, int threads)
{
    struct resources r = {0, 0, 0};
#ifdef __CUDACC__
    cudaFuncAttributes about;
    GOOD(cudaFuncGetAttributes(&about, kernel));
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&r.blocks, kernel, threads, 0));
    r.registers = about.numRegs;
    r.local = (int)about.localSizeBytes;
#else
    (void)kernel, (void)threads;
#endif
    return r;
}

static void say_conditions(struct gpu *g, const struct samples *s, struct resources r)
{
    say(g, ", \"registers\": %d, \"blocks\": %d, \"local_bytes\": %d", r.registers, r.blocks,
        r.local);
    if (s->mhz[0] > 0)
        say(g, ", \"mhz\": [%.0f, %.0f]", s->mhz[0], s->mhz[1]);
    if (s->watts > 0)
        say(g, ", \"watts\": %.0f", s->watts);
}

static void launch(struct gpu *g, const void *kernel, const int cells[3], const int block[2],
                   const void *argument, size_t bytes)
{
    const dim3 grid((unsigned)((cells[0] + block[0] - 1) / block[0]),
                    (unsigned)((cells[1] + block[1] - 1) / block[1]), (unsigned)cells[2]);
#ifdef __CUDACC__
    void *const given = (void *)argument;
    (void)bytes;
#else
    static char room[sizeof(struct cuda_call)];
    void *const given = memcpy(memset(room, 0, sizeof room), argument, bytes);
#endif
    void *arguments[] = {given};
    GOOD(cudaLaunchKernel(kernel, grid, dim3((unsigned)block[0], (unsigned)block[1], 1), arguments,
                          0, g->stream));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int sample_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds that `times` executions take. look: clocks, read while they run. */
template <class F>
static double timed(struct gpu *g, int times, F work, double *look)
{
    float milliseconds = 0;
    GOOD(cudaEventRecord(g->begin, g->stream));
    for (int k = 0; k < times; k++)
        work();
    GOOD(cudaEventRecord(g->end, g->stream));
    if (look && !nvml_clocks(g->nvml, look))
        look[0] = look[1] = 0;
    GOOD(cudaEventSynchronize(g->end));
    GOOD(cudaEventElapsedTime(&milliseconds, g->begin, g->end));
    return 1e-3 * (double)milliseconds;
}

/* Samples of the work and of a copy in turn, about `seconds` for all of the work. */
template <class F>
static struct samples measure(struct gpu *g, double seconds, F work)
{
    struct samples s;
    double joules[2];
    int times = 2;
    const auto copy = [g] {
        GOOD(cudaMemcpyAsync(g->copy + g->copy_bytes / 2, g->copy, g->copy_bytes / 2,
                             cudaMemcpyDeviceToDevice, g->stream));
    };
    memset(&s, 0, sizeof s);
    while (timed(g, times, work, NULL) < seconds / SAMPLES && times < 1 << 20)
        times *= 2;
    const double one = timed(g, 1, copy, NULL);
    const int copies =
        one > 0 && seconds / SAMPLES / one < 1 << 20 ? 2 + (int)(seconds / SAMPLES / one) : 2;
    const double start = now();
    const bool power = nvml_energy(g->nvml, &joules[0]);
    for (int k = 0; k < SAMPLES; k++) {
        s.work[k] = timed(g, times, work, s.mhz) / times;
        s.copy[k] = timed(g, copies, copy, NULL) / copies;
    }
    if (power && nvml_energy(g->nvml, &joules[1]))
        s.watts = (joules[1] - joules[0]) / (now() - start);
    qsort(s.work, SAMPLES, sizeof *s.work, sample_order);
    qsort(s.copy, SAMPLES, sizeof *s.copy, sample_order);
    return s;
}

#endif
