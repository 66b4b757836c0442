/* The CPU backend: the variant of the kernels for this processor, OpenMP threads, ordinary memory.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <omp.h>

#include "base/cache.h"
#include "base/clock.h"
#include "base/cores.h"
#include "base/isa.h"
#include "base/message.h"
#include "base/rounding.h"
#include "cpu/energy.h"
#include "cpu/kernels.h"
#include "cpu/lists.h"
#include "cpu/sweep.h"
#include "solver/backend.h"

enum { HUGE_PAGE = 2 << 20 };

/* Padding in bytes: kernels read whole vectors, up to 15 values beyond the end of a row. */
enum { GUARD = 256 };

struct cpu_backend {
    struct backend base;
    const struct cpu_variant *variant;
    struct runs runs;
    struct sweep sweep;
    int threads, wanted_sweep;
    int ranks;                 /* of this run on this host */
    double cache;              /* bytes of the last-level cache for this rank */
    struct packages *packages; /* NULL: the host does not tell their energy */
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
    char have[ISA_TEXT];
    snprintf(line, 512, "cpu: kernels for %s; this processor has %s", isa_list(have),
             isa_name(isa_best()));
}

static enum status cpu_open(struct backend **out, const struct backend_wanted *wanted)
{
    const enum isa best = isa_best(), isa = wanted->isa == ISA_auto ? best : wanted->isa;
    struct cores cores;
    cores_find(wanted->comm, &cores); /* collective */
    if (!isa_runs(isa))
        return fail_machine(
            "this processor lacks the instruction set %s; it has %s (run.isa: auto)",
            isa_title(isa), isa_title(best));

    struct cpu_backend *const b = calloc(1, sizeof *b);
    if (!b)
        return fail_machine("out of memory");
    const int storage = precision_bits(wanted->storage);
    const int arithmetic = precision_bits(wanted->arithmetic);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (strcmp(variants[i]->isa, isa_name(isa)) == 0 && variants[i]->storage == storage &&
            variants[i]->arithmetic == arithmetic)
            b->variant = variants[i];
    if (!b->variant) {
        free(b);
        return fail_machine("this build has no kernels for %s with storage %s and arithmetic %s",
                            isa_title(isa), precision_name(wanted->storage),
                            precision_name(wanted->arithmetic));
    }
    b->threads = wanted->threads;
    b->wanted_sweep = wanted->sweep;
    b->ranks = cores.ranks;
    b->cache =
        fmin(cache_last(b->threads), cache_host() / cores.host * cores.allowed / cores.ranks);
    b->packages = wanted->beside ? NULL : packages_open(PACKAGES_FOLDER);
    omp_set_dynamic(0);
    omp_set_num_threads(b->threads);
    omp_set_max_active_levels(1); /* a kernel that sweep.c calls runs on the calling thread alone */
#pragma omp parallel
    rounding_exact();
    b->base.type = &backend_cpu;
    b->base.storage = wanted->storage;
    b->base.arithmetic = wanted->arithmetic;
    b->base.isa = isa;
    b->base.workers = b->threads;
    if (isa == ISA_generic && wanted->isa == ISA_auto)
        b->base.remark = "this processor has no instruction set for which this program has faster "
                         "kernels (run.isa: generic)";
    snprintf(b->base.description, sizeof b->base.description, "cpu, %s, %d thread%s a rank",
             isa_title(isa), b->threads, b->threads == 1 ? "" : "s");
    *out = &b->base;
    return STATUS_OK;
}

static enum status cpu_prepare(struct backend *backend, const struct view *v, struct view *kernels)
{
    struct cpu_backend *const b = (struct cpu_backend *)backend;
    *kernels = *v;
    view_derive(kernels);
    b->sweep = sweep_choose(v, b->threads, b->ranks, b->cache, b->wanted_sweep);
    b->base.sweep = b->sweep.steps;
    runs_destroy(&b->runs);
    const enum status s = runs_create(&b->runs, v);
    b->base.lists = s ? 0 : runs_held(&b->runs, v);
    return s;
}

/* 4 KiB on x86-64, also 16 or 64 KiB on aarch64. */
static size_t page_bytes(void)
{
    const long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? (size_t)bytes : 4096;
}

/* Where the page begins that holds a byte of the memory behind the guard. */
static size_t page_of(size_t byte)
{
    return (GUARD + byte) / page_bytes() * page_bytes();
}

/* Zeroed memory with a guard on both sides. Large blocks use huge pages where the system gives
 * them. Each thread touches its share of every slot first, and kernels give each thread the same
 * share of the cells: so a page lies in the memory of the processor that will use it. */
static void *cpu_alloc(struct backend *backend, size_t bytes, int slots)
{
    const size_t align = bytes >= 4 * (size_t)HUGE_PAGE ? HUGE_PAGE : page_bytes();
    const size_t whole = (bytes + 2 * GUARD + align - 1) / align * align;
    char *const memory = aligned_alloc(align, whole);
    (void)backend;
    if (!memory)
        return NULL;
    if (align == HUGE_PAGE)
        madvise(memory, whole, MADV_HUGEPAGE);
    const size_t slot = bytes / (size_t)slots;
#pragma omp parallel
    {
        const size_t thread = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
        for (size_t k = 0; k < (size_t)slots; k++) {
            const bool first = k == 0 && thread == 0;
            const bool last = k + 1 == (size_t)slots && thread + 1 == threads;
            const size_t from = first ? 0 : page_of(k * slot + slot * thread / threads);
            const size_t to = last ? whole : page_of(k * slot + slot * (thread + 1) / threads);
            memset(memory + from, 0, to - from);
        }
    }
    return memory + GUARD;
}

static void *cpu_alloc_host(struct backend *backend, size_t bytes)
{
    return cpu_alloc(backend, bytes, 1);
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
    cpu_kernel *const own = b->variant->kernel[kernel];
    cpu_kernel *const run = own ? own : b->variant->others[kernel];
    (void)queue;
    for (int k = 0; k < count; k++)
        if (box_cells(&work[k].box) > 0) {
            struct task task = work[k].task;
            task.open = 1;
            run(v, &b->runs, &work[k].box, task);
        }
}

static void cpu_sweep(struct backend *backend, const struct view *v, const struct box *cells,
                      int odd, int steps)
{
    const struct cpu_backend *const b = (const struct cpu_backend *)backend;
    sweep_steps(&b->sweep, b->variant->kernel[KERNEL_step], v, cells, &b->runs, odd, steps);
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

/* All packages of the host, whichever of them a rank runs on. */
static void cpu_device(const struct backend *backend, char name[64])
{
    (void)backend;
    snprintf(name, 64, "packages");
}

const struct backend_type backend_cpu = {
    .name = "cpu",
    .host_memory = true,
    .row_bytes = ROW_BYTES,
    .present = cpu_present,
    .describe = cpu_describe,
    .open = cpu_open,
    .close = cpu_close,
    .prepare = cpu_prepare,
    .list_bytes = runs_bytes,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .alloc_host = cpu_alloc_host,
    .free_host = cpu_free,
    .memory = cpu_memory,
    .launch = cpu_launch,
    .sweep = cpu_sweep,
    .copy = cpu_copy,
    .after = cpu_after,
    .wait = cpu_wait,
    .phase = cpu_phase,
    .phases = cpu_phases,
    .energy = cpu_energy,
    .device = cpu_device,
};
