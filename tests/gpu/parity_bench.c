/* How long each kernel of a variant takes, and a copy within the backend's memory; see parity.h.
 *
 * A sample is a batch of launches and one wait, so long that starting it does not matter. Rates are
 * set against bytes that have to move if nothing is fetched twice. */
#include "parity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/clock.h"
#include "base/message.h"

enum {
    SAMPLES_LEAST = 5,
    SAMPLES_MOST = 1000,
    BUFFER_MOST = 256 << 20, /* bytes; get, put and flow work in pieces */
    STAGE = 4 << 20,         /* bytes; state goes to the backend in such pieces */
};

/* A block on the backend. */
struct stand {
    const struct variant *variant;
    const struct bench *bench;
    struct backend *backend;
    struct ground ground;
    struct view view;     /* with populations */
    size_t stored, bytes; /* of a population, of all */
    char *buffer;
    size_t buffer_bytes;
    char *lists;                /* of a seam, or NULL */
    struct initial *initial[2]; /* for begin: of the backend, of the host */
};

/* What one launch does. */
struct job {
    const char *what; /* "step bgk" */
    enum kernel kernel;
    struct work work[WORK_MOST];
    int count;
    size_t copied; /* bytes: a copy, not a kernel */
    double moved;  /* bytes, if not those of the kernel's test; `model` says which */
    const char *model;
};

static enum status launch(struct stand *s, const struct job *j, int times)
{
    struct backend *const b = s->backend;
    struct work work[WORK_MOST];
    memcpy(work, j->work, sizeof work);
    for (int k = 0; k < times; k++) {
        for (int i = 0; i < j->count; i++)
            work[i].task.odd = k & 1;
        if (j->copied)
            b->type->copy(b, QUEUE_INTERIOR, (char *)s->view.set[SET_flow].populations + j->copied,
                          s->view.set[SET_flow].populations, j->copied);
        else
            b->type->launch(b, QUEUE_INTERIOR, j->kernel, &s->view, work, j->count);
    }
    return b->type->wait(b, QUEUE_INTERIOR);
}

/* Seconds a launch takes, in a batch of so many. */
static enum status sample(struct stand *s, const struct job *j, int times, double *seconds)
{
    const double begin = clock_seconds();
    const enum status status = launch(s, j, times);
    *seconds = (clock_seconds() - begin) / times;
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const struct stand *s, const struct job *j, int times, int samples,
                   const double *sorted)
{
    const double median =
        samples % 2 ? sorted[samples / 2] : (sorted[samples / 2 - 1] + sorted[samples / 2]) / 2;
    const int *const n = s->ground.view.n;
    double cells = 0, bytes = 2 * (double)j->copied;
    for (int k = 0; k < j->count; k++) {
        cells += (double)box_cells(&j->work[k].box);
        bytes += j->model ? j->moved : kernel_tests[j->kernel].moved(&j->work[k], &s->view);
    }
    printf("time  %-24s %-18s %4d x %d x %d  %10.3f us (%.3f to %.3f)", s->variant->name, j->what,
           n[0], n[1], n[2], 1e6 * median, 1e6 * sorted[0], 1e6 * sorted[samples - 1]);
    if (cells > 0)
        printf("  %10.2f Mcells/s", 1e-6 * cells / median);
    printf("  %8.2f GB/s\n", 1e-9 * bytes / median);
    fflush(stdout);
    json_array_append_new(
        s->bench->report,
        json_pack("{ss ss ss ss si si s[iii] sf sf si si s{sf sf sf} sf sf}", "variant",
                  s->variant->name, "device", s->backend->description, "kernel", j->what, "model",
                  j->copied  ? "bytes read and written"
                  : j->model ? j->model
                             : kernel_tests[j->kernel].model,
                  "storage", s->variant->expect->storage, "arithmetic",
                  s->variant->expect->arithmetic, "grid", n[0], n[1], n[2], "cells", cells, "bytes",
                  bytes, "batch", times, "samples", samples, "seconds", "median", median, "min",
                  sorted[0], "max", sorted[samples - 1], "cells/s", cells / median, "bytes/s",
                  bytes / median));
}

static enum status measure(struct stand *s, const struct job *j)
{
    static double seconds[SAMPLES_MOST];
    const double most = s->bench->seconds;
    double took = 0;
    int times = 1, samples = 0;
    enum status status = launch(s, j, 2); /* warm up: code, pages, clocks */
    while (!status) {
        status = sample(s, j, times, &took);
        if (took * times > most / 20 || times > 1 << 20)
            break;
        times *= 2;
    }
    const double begin = clock_seconds();
    while (!status && samples < SAMPLES_MOST &&
           (samples < SAMPLES_LEAST || clock_seconds() - begin < most))
        status = sample(s, j, times, &seconds[samples++]);
    if (status)
        return status;
    qsort(seconds, (size_t)samples, sizeof *seconds, ascending);
    report(s, j, times, samples, seconds);
    return STATUS_OK;
}

/* ---- blocks ---- */

static void stand_destroy(struct stand *s)
{
    struct backend *const b = s->backend;
    if (b) {
        b->type->free(b, s->view.set[SET_flow].populations);
        b->type->free(b, s->buffer);
        b->type->free(b, s->lists);
        b->type->free(b, s->initial[0]);
        b->type->free_host(b, s->initial[1]);
        b->type->close(b);
    }
    ground_destroy(&s->ground);
}

/* The same few numbers all over: a flow that stays finite and is nowhere denormal. */
static enum status put_state(struct stand *s)
{
    struct backend *const b = s->backend;
    char *const stage = b->type->alloc_host(b, STAGE);
    if (!stage)
        return fail_machine("out of memory");
    state_fill(stage, STAGE / s->stored, s->stored, STATE_random, 1);
    for (size_t at = 0; at < s->bytes; at += STAGE)
        b->type->copy(b, QUEUE_INTERIOR, (char *)s->view.set[SET_flow].populations + at, stage,
                      s->bytes - at < STAGE ? s->bytes - at : STAGE);
    for (size_t at = 0; at < s->buffer_bytes; at += STAGE)
        b->type->copy(b, QUEUE_INTERIOR, s->buffer + at, stage,
                      s->buffer_bytes - at < STAGE ? s->buffer_bytes - at : STAGE);
    const enum status status = b->type->wait(b, QUEUE_INTERIOR);
    b->type->free_host(b, stage);
    return status;
}

/* Cells along each axis of the largest cube that fits: on the host 128, elsewhere at most 512. */
static void choose_grid(const struct stand *s, int n[3])
{
    double available = 0, all = 0;
    int side = s->variant->type->host_memory ? 128 : 512;
    s->variant->type->memory(s->backend, &available, &all);
    while (side > 32 && available > 0 &&
           (Q * (double)s->stored + 1) * pow(side + 2, 3) + BUFFER_MOST > 0.9 * available)
        side -= 32;
    for (int a = 0; a < 3; a++)
        n[a] = s->bench->cells ? s->bench->cells[a] : side;
}

static enum status stand_create(struct stand *s, const struct variant *v, const struct bench *b,
                                bool ghosts, struct mixture m, enum scene scene)
{
    const int ghost[3] = {ghosts, ghosts, ghosts};
    int n[3];
    *s = (struct stand){.variant = v, .bench = b, .stored = (size_t)v->expect->storage / 8};
    enum status status = variant_open(&s->backend, v, omp_get_max_threads());
    if (status)
        return status;
    choose_grid(s, n);
    if (!ground_create(&s->ground, n, ghost, m, scene, s->stored, 1))
        return fail_machine("out of memory for tags");
    status = s->backend->type->prepare(s->backend, &s->ground.view, &s->view);
    if (status)
        return status;
    s->bytes = Q * s->view.set[SET_flow].stride * s->stored;
    s->buffer_bytes = BUFFER_MOST;
    s->view.set[SET_flow].populations = s->backend->type->alloc(s->backend, s->bytes, Q);
    s->view.layers = s->view.set[SET_flow].populations;
    s->buffer = s->backend->type->alloc(s->backend, s->buffer_bytes, 1);
    if (!s->view.set[SET_flow].populations || !s->buffer ||
        !initial_create(s->initial, s->backend, &s->view, INITIAL_uniform))
        return fail_machine("out of memory for %d x %d x %d cells (--cells)", n[0], n[1], n[2]);
    return put_state(s);
}

/* ---- jobs ---- */

/* Every message of a block with neighbours all round, in one launch. */
static void add_messages(struct job *j, const struct stand *s)
{
    size_t at = 0;
    for (int i = 1; i < Q; i++) {
        struct work *const w = &j->work[j->count++];
        *w = (struct work){message_box(&s->view, i, j->kernel == KERNEL_unpack),
                           {.direction = i, .buffer = s->buffer + at}};
        at += kernel_tests[j->kernel].buffer(w, &s->view);
    }
    if (at > s->buffer_bytes) /* of no use: blocks of 1000^3 have a tenth of that */
        j->count = 0;
}

/* Are its boxes stretches of the list of cells beside bodies? */
static bool takes_list(int kernel)
{
    return kernel == KERNEL_near || kernel == KERNEL_forces || kernel == KERNEL_cap_flow ||
           kernel == KERNEL_heat_near;
}

static struct task task_for(const struct stand *s, enum kernel kernel, int workers)
{
    struct task t = {.workers = workers, .buffer = s->buffer};
    switch (kernel) {
    case KERNEL_begin:
        t.initial = s->initial[0];
        break;
    case KERNEL_average:
        t.average = (struct average_task){average_layout(1, 1, 1), 2};
        break;
    case KERNEL_change:
        t.change = (struct change_task){s->buffer + (size_t)workers * sizeof(struct change), 1};
        break;
    case KERNEL_forces:
        t.body = 1;
        break;
    default:
        break;
    }
    return t;
}

/* As many planes, or of one plane as many rows, as the buffer holds. */
static void add_piece(struct job *j, const struct stand *s)
{
    struct work *const w = &j->work[0];
    const struct kernel_test *const test = &kernel_tests[j->kernel];
    const bool list = takes_list(j->kernel);
    const struct box cells = list_range(0, (int)s->view.near.count);
    *w = (struct work){list ? cells : ground_all(&s->ground),
                       task_for(s, j->kernel, test->settle ? s->backend->workers : 0)};
    for (int a = 2; a > 0; a--)
        while (w->box.hi[a] > 1 && test->buffer(w, &s->view) > s->buffer_bytes)
            w->box.hi[a] = (w->box.hi[a] + 1) / 2;
    j->count = test->buffer(w, &s->view) <= s->buffer_bytes;
}

/* The copy has to be one: the last bytes of both. */
static enum status verify_copy(struct stand *s, size_t copied)
{
    struct backend *const b = s->backend;
    const size_t bytes = copied < STAGE ? copied : STAGE;
    char *const ends = b->type->alloc_host(b, 2 * bytes);
    if (!ends)
        return fail_machine("out of memory");
    for (size_t k = 0; k < 2; k++)
        b->type->copy(b, QUEUE_INTERIOR, ends + k * bytes,
                      (char *)s->view.set[SET_flow].populations + (k + 1) * copied - bytes, bytes);
    enum status status = b->type->wait(b, QUEUE_INTERIOR);
    if (!status && memcmp(ends, ends + bytes, bytes) != 0)
        status = fail_machine("%s: a copy within its memory is wrong", s->variant->name);
    b->type->free_host(b, ends);
    return status;
}

static bool wanted(const struct bench *b, const char *name)
{
    return !b->only || strcmp(b->only, name) == 0;
}

/* The same of a kernel between levels. */
static bool wanted_seam(const struct bench *b, enum kernel kernel)
{
    return takes_seam(kernel) &&
           (wanted(b, kernel_tests[kernel].name) || strcmp(b->only, "levels") == 0);
}

/* Steps with one kind of rows: periodic, or closed by walls. */
static enum status bench_step(const struct variant *v, const struct bench *b, struct mixture m,
                              enum scene scene)
{
    char what[64];
    struct stand s;
    snprintf(what, sizeof what, "step %s%s", mixture_name(m),
             scene == SCENE_closed ? " closed" : "");
    struct job j = {.what = what, .kernel = KERNEL_step};
    enum status status = stand_create(&s, v, b, scene == SCENE_closed, m, scene);
    if (!status) {
        add_piece(&j, &s);
        status = measure(&s, &j);
    }
    stand_destroy(&s);
    return status;
}

/* The kernels of the list, beside a ball whose surface turns. */
static enum status bench_list(const struct variant *v, const struct bench *b)
{
    struct stand s;
    enum status status = stand_create(&s, v, b, false, mixture(MIXTURE_MIXED), SCENE_body);
    for (int kernel = 0; kernel < KERNELS && !status; kernel++) {
        struct job j = {.what = kernel_tests[kernel].name, .kernel = (enum kernel)kernel};
        if (!takes_list(kernel) || !wanted(b, j.what) || s.view.near.count == 0)
            continue;
        add_piece(&j, &s);
        status = measure(&s, &j);
    }
    stand_destroy(&s);
    return status;
}

/* Puts lists of a seam with planes across an axis into the backend's memory. */
static enum status put_lists(struct stand *s, const struct work *w, int axis)
{
    struct backend *const b = s->backend;
    const size_t bytes = seam_bytes(w, &s->ground.view);
    char *const host = calloc(bytes, 1), *const stage = b->type->alloc_host(b, STAGE);
    enum status status = host && stage ? STATUS_OK : fail_machine("out of memory");
    if (!status)
        seam_fill_planes(w, &s->ground.view, axis, host, s->lists);
    for (size_t at = 0; at < bytes && !status; at += STAGE) {
        const size_t count = bytes - at < STAGE ? bytes - at : STAGE;
        memcpy(stage, host + at, count);
        b->type->copy(b, QUEUE_INTERIOR, s->lists + at, stage, count);
        status = b->type->wait(b, QUEUE_INTERIOR);
    }
    free(host);
    b->type->free_host(b, stage);
    return status;
}

/* Links of the seam that is measured: so many that lists exceed a cache. */
static int seam_links(const struct stand *s)
{
    const struct view *const v = &s->view;
    double available = 0, all = 0, links = s->backend->type->host_memory ? 1 << 18 : 1 << 22;
    s->backend->type->memory(s->backend, &available, &all);
    while (available > 0 && links > 1024 && 300 * links > 0.5 * available)
        links /= 2;
    const double most = 5.0 * v->n[0] * v->n[1] * v->n[2] / 4;
    return (int)(links < most ? links : most);
}

/* The kernels between two levels: the lists of all, then each. A group takes the values of four
 * links. */
static enum status bench_seam(const struct variant *v, const struct bench *b)
{
    static const enum kernel kernels[] = {KERNEL_gather, KERNEL_slope, KERNEL_enter, KERNEL_share,
                                          KERNEL_coalesce};
    struct stand s;
    enum status status = stand_create(&s, v, b, true, mixture(0), SCENE_open);
    struct work all = {list_range(0, 0), {.seam.substep = 1}};
    if (!status) {
        all.box.hi[0] = seam_links(&s);
        s.lists = s.backend->type->alloc(s.backend, seam_bytes(&all, &s.view), 1);
        if (!s.lists)
            status = fail_machine("out of memory for lists of %d links", all.box.hi[0]);
    }
    for (int axis = 2; axis >= 0 && !status; axis -= 2) {
        status = put_lists(&s, &all, axis);
        for (int k = 0; k < 5 && !status; k++) {
            char what[64];
            const enum kernel kernel = kernels[k];
            struct job j = {.what = what, .kernel = kernel, .count = 1, .work = {all}};
            if (!wanted_seam(b, kernel))
                continue;
            snprintf(what, sizeof what, "%s across %c", kernel_tests[kernel].name, "xyz"[axis]);
            j.work[0].task.seam.lists = seam_of(s.lists);
            if (kernel == KERNEL_coalesce)
                j.work[0].box.hi[0] = (all.box.hi[0] + 3) / 4;
            j.moved = seam_moved(kernel, &j.work[0], &s.view, (size_t)v->expect->arithmetic / 8);
            j.model = "each value, number and list once";
            status = measure(&s, &j);
        }
    }
    stand_destroy(&s);
    return status;
}

/* All other kernels but the step, and the copy. */
static enum status bench_others(const struct variant *v, const struct bench *b)
{
    struct stand s;
    enum status status = stand_create(&s, v, b, true, mixture(MIXTURE_MIXED), SCENE_open);
    for (int kernel = 0; kernel < KERNELS && !status; kernel++) {
        struct job j = {.what = kernel_tests[kernel].name, .kernel = (enum kernel)kernel};
        if (kernel == KERNEL_step || takes_list(kernel) || takes_seam(j.kernel) ||
            !wanted(b, j.what))
            continue;
        if (kernel == KERNEL_pack || kernel == KERNEL_unpack)
            add_messages(&j, &s);
        else
            add_piece(&j, &s);
        status = j.count ? measure(&s, &j)
                         : fail_machine("%s: no buffer is as large as one row", j.what);
    }
    if (!status && wanted(b, "copy")) {
        const struct job copy = {.what = "copy", .copied = s.bytes / 2 / 64 * 64};
        status = launch(&s, &copy, 1);
        if (!status)
            status = verify_copy(&s, copy.copied);
        if (!status)
            status = measure(&s, &copy);
    }
    stand_destroy(&s);
    return status;
}

enum status bench_variant(const struct variant *v, const struct bench *b)
{
    enum status status = STATUS_OK;
    const bool step = wanted(b, kernel_tests[KERNEL_step].name);
    for (int k = 0; step && k < MIXTURES && !status; k++)
        status = bench_step(v, b, mixture(k), SCENE_open);
    for (int k = 0; step && k < MIXTURES - 1 && !status;
         k += 3) /* walls have to do with no force */
        status = bench_step(v, b, mixture(k), SCENE_closed);
    const bool others = !step || !b->only;
    bool seam = false;
    for (int k = 0; k < KERNELS; k++)
        seam = seam || wanted_seam(b, (enum kernel)k);
    if (!status && seam)
        status = bench_seam(v, b);
    if (status || !others || (seam && b->only))
        return status;
    status = bench_list(v, b);
    return status ? status : bench_others(v, b);
}
