/* The CPU backend: a variant of the kernels for this processor, OpenMP threads, plain memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xmmintrin.h>

#include <omp.h>

#include "base/clock.h"
#include "base/message.h"
#include "cpu/energy.h"
#include "cpu/kernels.h"
#include "solver/backend.h"

enum { HUGE_PAGE = 2 << 20 };

/* Rows are read a whole vector at a time, up to 15 values beyond their end. */
enum { GUARD = 256 };

struct cpu_backend {
    struct backend base;
    const struct cpu_variant *variant;
    struct runs runs;
    int threads;
    struct packages *packages; /* NULL: the host does not tell what they use */
    double seconds[PHASES];
};

/* One line per compiled variant, made by Meson from its list. */
#define X(isa, storage, arithmetic)                                                                \
    extern const struct cpu_variant cpu_variant_##isa##_##storage##_##arithmetic;
#include "cpu_variants.h"
#undef X

static const struct cpu_variant *const variants[] = {
#define X(isa, storage, arithmetic) &cpu_variant_##isa##_##storage##_##arithmetic,
#include "cpu_variants.h"
#undef X
};

static bool processor_has(enum isa isa)
{
    __builtin_cpu_init();
    switch (isa) {
    case ISA_v4:
        return __builtin_cpu_supports("x86-64-v4");
    case ISA_v3:
        return __builtin_cpu_supports("x86-64-v3");
    default:
        return __builtin_cpu_supports("x86-64-v2");
    }
}

/* Denormal numbers are numbers: whatever a library's start-up code set, no flushing to zero. */
static void set_rounding(void)
{
    const unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040, rounding = 0x6000;
    _mm_setcsr(_mm_getcsr() & ~(flush_to_zero | denormals_are_zero | rounding));
}

static void cpu_close(struct backend *backend)
{
    struct cpu_backend *const b = (struct cpu_backend *)backend;
    if (!b)
        return;
    runs_destroy(&b->runs);
    packages_close(b->packages);
    free(b);
}

static bool cpu_present(MPI_Comm comm, char reason[256])
{
    (void)comm;
    (void)reason;
    return true;
}

static void cpu_describe(char line[512])
{
    const enum isa best = processor_has(ISA_v4) ? ISA_v4 : processor_has(ISA_v3) ? ISA_v3 : ISA_v2;
    snprintf(line, 512, "cpu: kernels for x86-64-v2, v3, v4; this processor has %s",
             isa_name(best));
}

static enum status cpu_open(struct backend **out, const struct backend_wanted *wanted)
{
    const struct flow_case *const c = wanted->c;
    enum isa isa = c->run.isa;
    if (isa == ISA_auto)
        isa = processor_has(ISA_v4) ? ISA_v4 : processor_has(ISA_v3) ? ISA_v3 : ISA_v2;
    if (!processor_has(isa))
        return fail_machine("this processor lacks the instruction set x86-64-%s (run.isa: auto)",
                            isa_name(isa));

    struct cpu_backend *const b = calloc(1, sizeof *b);
    if (!b)
        return fail_machine("out of memory");
    const int storage = c->solver.storage == PRECISION_fp64 ? 64 : 32;
    const int arithmetic = c->solver.arithmetic == PRECISION_fp64 ? 64 : 32;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (strcmp(variants[i]->isa, isa_name(isa)) == 0 && variants[i]->storage == storage &&
            variants[i]->arithmetic == arithmetic)
            b->variant = variants[i];
    if (!b->variant) {
        free(b);
        return fail_machine(
            "this build has no kernels for x86-64-%s with storage %s and arithmetic %s",
            isa_name(isa), precision_name(c->solver.storage), precision_name(c->solver.arithmetic));
    }
    b->threads = c->run.threads;
    b->packages = packages_open(PACKAGES_FOLDER);
    omp_set_dynamic(0);
    omp_set_num_threads(b->threads);
#pragma omp parallel
    set_rounding();
    b->base.type = &backend_cpu;
    b->base.storage = c->solver.storage;
    b->base.arithmetic = c->solver.arithmetic;
    b->base.workers = b->threads;
    snprintf(b->base.description, sizeof b->base.description, "cpu, x86-64-%s, %d thread%s a rank",
             b->variant->isa, b->threads, b->threads == 1 ? "" : "s");
    *out = &b->base;
    return STATUS_OK;
}

static enum status cpu_prepare(struct backend *backend, const struct view *v)
{
    struct cpu_backend *const b = (struct cpu_backend *)backend;
    runs_destroy(&b->runs);
    return runs_create(&b->runs, v);
}

/* A guard on both sides; large blocks in huge pages where the system gives them, first touched by
 * the thread that will use them. */
static void *cpu_alloc(struct backend *backend, size_t bytes)
{
    const size_t align = bytes >= 4 * (size_t)HUGE_PAGE ? HUGE_PAGE : 4096;
    const size_t whole = (bytes + 2 * GUARD + align - 1) / align * align;
    char *const memory = aligned_alloc(align, whole);
    (void)backend;
    if (!memory)
        return NULL;
    if (align == HUGE_PAGE)
        madvise(memory, whole, MADV_HUGEPAGE);
    const ptrdiff_t pieces = (ptrdiff_t)(whole / 4096);
#pragma omp parallel for schedule(static)
    for (ptrdiff_t i = 0; i < pieces; i++)
        memset(memory + i * 4096, 0, 4096);
    return memory + GUARD;
}

static void cpu_free(struct backend *backend, void *memory)
{
    (void)backend;
    if (memory)
        free((char *)memory - GUARD);
}

static void cpu_memory(struct backend *backend, double *available, double *all)
{
    (void)backend;
    *available = *all = 0;
}

static void cpu_launch(struct backend *backend, enum queue queue, enum kernel kernel,
                       const struct view *v, const struct work *work, int count)
{
    const struct cpu_backend *const b = (const struct cpu_backend *)backend;
    (void)queue;
    for (int k = 0; k < count; k++)
        if (box_cells(&work[k].box) > 0) {
            struct task task = work[k].task;
            task.open = 1;
            b->variant->kernel[kernel](v, &b->runs, &work[k].box, task);
        }
}

static void cpu_copy(struct backend *backend, enum queue queue, void *to, const void *from,
                     size_t bytes)
{
    (void)backend;
    (void)queue;
    memcpy(to, from, bytes);
}

static void cpu_after(struct backend *backend, enum queue queue, enum queue other)
{
    (void)backend;
    (void)queue;
    (void)other;
}

static enum status cpu_wait(struct backend *backend, enum queue queue)
{
    (void)backend;
    (void)queue;
    return STATUS_OK;
}

static void cpu_phase(struct backend *backend, enum queue queue, enum phase phase, bool begin)
{
    struct cpu_backend *const b = (struct cpu_backend *)backend;
    (void)queue;
    if (backend->timing)
        b->seconds[phase] += begin ? -clock_seconds() : clock_seconds();
}

static void cpu_phases(struct backend *backend, double seconds[PHASES])
{
    struct cpu_backend *const b = (struct cpu_backend *)backend;
    memcpy(seconds, b->seconds, sizeof b->seconds);
    memset(b->seconds, 0, sizeof b->seconds);
}

static bool cpu_energy(const struct backend *backend, double *joules)
{
    const struct cpu_backend *const b = (const struct cpu_backend *)backend;
    return b->packages && packages_joules(b->packages, joules);
}

/* All of the host's packages: whichever a rank runs on. */
static void cpu_device(const struct backend *backend, char name[64])
{
    (void)backend;
    snprintf(name, 64, "packages");
}

const struct backend_type backend_cpu = {
    .name = "cpu",
    .host_memory = true,
    .present = cpu_present,
    .describe = cpu_describe,
    .open = cpu_open,
    .close = cpu_close,
    .prepare = cpu_prepare,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .alloc_host = cpu_alloc,
    .free_host = cpu_free,
    .memory = cpu_memory,
    .launch = cpu_launch,
    .copy = cpu_copy,
    .after = cpu_after,
    .wait = cpu_wait,
    .phase = cpu_phase,
    .phases = cpu_phases,
    .energy = cpu_energy,
    .device = cpu_device,
};
