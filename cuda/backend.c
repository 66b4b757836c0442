/* The CUDA backend: one GPU per rank, ordinary device memory. Kernels are in kernels.cu, their
 * launches and streams in launch.c; device.c selects the GPU. */
#include "cuda_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TAGFLOW_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include "base/clock.h"
#include "base/message.h"
#include "classify.h"
#include "device.h"
#include "ipc.h"
#include "nvml.h"
#include "rows.h"
#include "subgrid.h"

/* Kernels use 32-bit indices of cells. */
static const double most_cells = 4294967295.0;

/* One line per compiled variant, made by Meson from its list. */
#define X(storage, arithmetic)                                                                     \
    extern struct cuda_variant cuda_variant_##storage##_##arithmetic(void);
#include "cuda_variants.h"
#undef X

static struct cuda_variant (*const variants[])(void) = {
#define X(storage, arithmetic) cuda_variant_##storage##_##arithmetic,
#include "cuda_variants.h"
#undef X
};

bool cuda_good(struct cuda_backend *b, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && b->shared->error == cudaSuccess) {
        b->shared->error = error;
        b->shared->failed = what;
    }
    return error == cudaSuccess;
}

static const char *remedy(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidKernelImage:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        return "; this driver cannot load the kernels of this build (a newer driver, or a build "
               "with -Dgpu_archs for this GPU; `tagflow info` names both)";
    default:
        return "";
    }
}

/* Do others use memory of this rank, on any level? */
static bool has_peers(const struct cuda_backend *b)
{
    bool any = false;
    for (const struct cuda_backend *user = b->shared->users; user; user = user->next)
        any = any || user->base.peers;
    return any;
}

/* Tells all peers that this rank has failed. From then on nothing is launched or freed. */
static void tell_all(struct cuda_backend *b)
{
    for (struct cuda_backend *user = b->shared->users; user; user = user->next) {
        user->base.lost = true;
        if (user->base.tell_peers)
            user->base.tell_peers(user->base.peers);
    }
}

static enum status report(struct cuda_backend *b)
{
    if (b->shared->told) /* everything fails from then on: one line is enough */
        return STATUS_MACHINE;
    b->shared->told = true;
    if (has_peers(b))
        tell_all(b);
    return fail_machine("the GPU failed: %s: %s (%s)%s", b->shared->failed,
                        cudaGetErrorString(b->shared->error), b->base.description,
                        remedy(b->shared->error));
}

/* Has a peer failed? Then what the streams were given may wait for it for ever, and so would any
 * call that waits for them. */
static bool lose(struct cuda_backend *b)
{
    bool failed = false;
    for (struct cuda_backend *user = b->shared->users; user; user = user->next)
        failed = failed || (user->base.peers && user->base.peer_failed(user->base.peers));
    if (!failed)
        return false;
    b->shared->told = true; /* by that rank */
    b->shared->error = cudaErrorUnknown;
    tell_all(b);
    return true;
}

static void free_arrays(struct cuda_backend *b)
{
    free(b->plane);
    b->plane = NULL;
    b->cells = NULL;
    b->base.lists = 0;
    while (b->arrays > 0)
        cudaFree((void *)(uintptr_t)b->array[--b->arrays]);
}

/* Takes the backend off the list; the last one destroys what they share. */
static void leave(struct cuda_backend *b)
{
    struct cuda_shared *const shared = b->shared;
    struct cuda_backend **at = &shared->users;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    if (shared->users)
        return;
    for (int q = 0; q < QUEUES; q++) {
        struct cuda_beside *const beside = &shared->beside[q];
        if (shared->order[q])
            cudaEventDestroy(shared->order[q]);
        if (beside->begin)
            cudaEventDestroy(beside->begin);
        if (beside->end)
            cudaEventDestroy(beside->end);
        if (beside->stream)
            cudaStreamDestroy(beside->stream);
        if (shared->stream[q])
            cudaStreamDestroy(shared->stream[q]);
    }
    free(shared);
}

static void cuda_close(struct backend *backend)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    if (!b || b->base.lost)
        return;
    free_arrays(b);
    for (int k = 0; k < PHASES; k++)
        for (int part = 0; part < PHASE_SEAM_PARTS; part++) {
            if (b->begin[k][part])
                cudaEventDestroy(b->begin[k][part]);
            if (b->end[k][part])
                cudaEventDestroy(b->end[k][part]);
        }
    leave(b);
    nvml_destroy(b->nvml);
    free(b);
}

static bool make_event(struct cuda_backend *b, cudaEvent_t *event)
{
    return cuda_good(b, cudaEventCreateWithFlags(event, cudaEventDisableTiming),
                     "creating an event");
}

static bool make_stream(struct cuda_backend *b, cudaStream_t *stream, int priority)
{
    return cuda_good(b, cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority),
                     "creating a stream");
}

/* Creates what backends share. The shell's streams have the higher priority. */
static bool make_queues(struct cuda_backend *b)
{
    int low = 0, high = 0;
    bool ok = cuda_good(b, cudaDeviceGetStreamPriorityRange(&low, &high), "priorities of streams");
    for (int q = 0; q < QUEUES && ok; q++) {
        struct cuda_beside *const beside = &b->shared->beside[q];
        const int priority = q == QUEUE_SHELL ? high : low;
        ok = make_stream(b, &b->shared->stream[q], priority) &&
             make_stream(b, &beside->stream, priority) && make_event(b, &beside->begin) &&
             make_event(b, &beside->end) && make_event(b, &b->shared->order[q]);
    }
    return ok;
}

/* Parts of a phase in a step: each has its events. */
static int parts_of(enum phase phase)
{
    return phase == PHASE_seam ? PHASE_SEAM_PARTS : 1;
}

static bool make_phases(struct cuda_backend *b)
{
    bool ok = true;
    for (int k = 0; k < PHASES; k++)
        for (int part = 0; part < parts_of((enum phase)k) && ok; part++)
            ok = cuda_good(b, cudaEventCreate(&b->begin[k][part]), "creating an event") &&
                 cuda_good(b, cudaEventCreate(&b->end[k][part]), "creating an event");
    return ok;
}

/* Loads a kernel: launches it on an empty box. */
static bool load_one(struct cuda_backend *b, const void *kernel, const struct view *view)
{
    struct cuda_call call = {.view = *view, .count = 1};
    const dim3 one = {1, 1, 1};
    call.step.box[0].hi[0] = call.work[0].box.hi[0] = 1; /* one cell long, none high */
    return launch_kernel(b, stream_of(b, QUEUE_INTERIOR), kernel, one, one, &call);
}

/* Free bytes of the device; 0: not known. */
static double unused_bytes(void)
{
    size_t bytes = 0, total = 0;
    if (cudaMemGetInfo(&bytes, &total) == cudaSuccess)
        return (double)bytes;
    cudaGetLastError(); /* clear the error, or a later call returns it */
    return 0;
}

/* `unused`: free bytes before the kernels were loaded. */
static bool wait_loaded(struct cuda_backend *b, double unused)
{
    if (!cuda_good(b, cudaStreamSynchronize(b->shared->stream[QUEUE_INTERIOR]),
                   "loading the kernels"))
        return false;
    const double left = unused_bytes();
    if (left > 0 && left < unused)
        b->base.loaded += unused - left;
    return true;
}

static enum status cuda_open(struct backend **out, const struct backend_wanted *wanted)
{
    const int storage = precision_bits(wanted->storage);
    const int arithmetic = precision_bits(wanted->arithmetic);
    char description[128];
    const char *remark;
    unsigned char uuid[16];
    int number = 0;
    struct cuda_backend *const beside = (struct cuda_backend *)wanted->beside;
    enum status status = STATUS_OK;
    if (beside) {
        memcpy(description, beside->base.description, sizeof description);
        memcpy(uuid, beside->uuid, sizeof uuid);
        remark = beside->base.remark;
        number = beside->base.number;
    } else {
        status = device_choose(wanted->comm, wanted->share, description, &remark, uuid);
        if (!status && cudaGetDevice(&number) != cudaSuccess)
            status = fail_machine("the GPU failed: cudaGetDevice");
    }
    if (status)
        return status;
    struct cuda_backend *const b = calloc(1, sizeof *b);
    struct cuda_shared *const shared = beside ? beside->shared : calloc(1, sizeof *shared);
    if (!b || !shared) {
        free(b);
        if (!beside)
            free(shared);
        return fail_machine("out of memory");
    }
    b->base = (struct backend){.type = &backend_cuda,
                               .number = number,
                               .remark = remark,
                               .storage = wanted->storage,
                               .arithmetic = wanted->arithmetic,
                               .workers = CUDA_WORKERS,
                               .shares = wanted->peers};
    memcpy(b->base.description, description, sizeof description);
    memcpy(b->uuid, uuid, sizeof uuid);
    b->lift = wanted->lifted_rows;
    b->nvml = beside ? NULL : nvml_create(uuid);
    b->shared = shared;
    b->next = shared->users;
    shared->users = b;
    bool found = false;
    for (size_t i = 0; i < sizeof variants / sizeof *variants && !found; i++) {
        b->variant = variants[i]();
        found = b->variant.storage == storage && b->variant.arithmetic == arithmetic;
    }
    if (!found) {
        status = fail_machine("this build has no CUDA kernels with storage %s and arithmetic %s",
                              precision_name(wanted->storage), precision_name(wanted->arithmetic));
    } else {
        /* A kernel on an empty box: can the driver load the kernels of this build? */
        const struct view none = {.sets = 0};
        const bool queues = beside || make_queues(b);
        const double unused = queues && make_phases(b) ? unused_bytes() : 0;
        if (b->shared->error || !load_one(b, b->variant.kernel[0][KERNEL_sums], &none) ||
            !wait_loaded(b, unused))
            status = report(b);
    }
    if (status)
        cuda_close(&b->base);
    else
        *out = &b->base;
    return status;
}

static bool rows_open(const struct tag_row *rows)
{
    bool open = false;
    for (const struct tag_row *row = rows; row < rows + TAG_ROWS; row++)
        open = open || boundary_open(row->boundary);
    return open;
}

/* Do some cells have an acceleration that depends on their velocity? */
static bool rows_resist(const struct tag_row *rows)
{
    bool resist = false;
    for (const struct tag_row *row = rows; row < rows + TAG_ROWS; row++)
        resist = resist || row->resist;
    return resist;
}

/* Is there one scalar, which the fluid cells hold and no others, and have all cells places? */
static bool one_scalar(const struct view *v)
{
    bool one = v->scalars.row && v->sets == 2 && !v->place;
    for (int type = 0; type < TAG_ROWS && one; type++)
        one = (v->rows[type].fluid != FLUID_none) == (scalar_row(v, 1, type)->holds != HOLDS_none);
    return one;
}

/* The kernel that steps the view's cells, except those beside open boundaries. */
static const void *choose_step(const struct cuda_variant *variant, const struct view *v)
{
    const void *const mixed = variant->mixed[v->scalars.row != NULL][v->place != NULL];
    int collision = COLLISION_mixed;
    enum cuda_step step = CUDA_plain;
    for (const struct tag_row *row = v->rows; row < v->rows + TAG_ROWS; row++) {
        if (!row->fluid)
            continue;
        if (row->resist || (collision != COLLISION_mixed && collision != row->collision))
            return mixed;
        collision = row->collision;
        if (row->sponge || row->subgrid != SUBGRID_none)
            step = CUDA_full;
        else if (row->forced && step == CUDA_plain)
            step = CUDA_forced;
    }
    if (collision == COLLISION_mixed || (v->scalars.row && v->place))
        return mixed;
    step = one_scalar(v) ? CUDA_one : v->scalars.row ? CUDA_scalars : v->place ? CUDA_sparse : step;
    return variant->step[collision][step];
}

/* Is an open boundary beyond this face (2 * axis + side) of the block? */
static bool layer_open(const struct view *v, int face)
{
    const int axis = face / 2, a = (axis + 1) % 3, b = (axis + 2) % 3;
    bool open = false;
    int at[3];
    at[axis] = face & 1 ? v->n[axis] : -1;
    if (v->ghost[axis])
        for (at[a] = 0; at[a] < v->n[a]; at[a]++)
            for (at[b] = 0; at[b] < v->n[b]; at[b]++) {
                const uint8_t tag = v->tags[view_index(v, at[0], at[1], at[2])];
                open = open || boundary_open(v->rows[tag & TAG_ROW].boundary);
            }
    return open;
}

/* Is this cell, which the kernels for boxes step, a node of an open boundary, or is one of its
 * neighbours part of one? */
static bool cell_open(const struct view *v, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    bool open = false;
    for (int i = 0; i < Q && (tag & TAG_BESIDE) && type_in(&v->swept, tag); i++) {
        const uint8_t other = v->tags[view_index(v, x + c[i][0], y + c[i][1], z + c[i][2])];
        open = open || boundary_open(v->rows[other & TAG_ROW].boundary);
    }
    return open;
}

/* A box of cells that no open boundary touches: all but the layers beside open faces; empty if
 * there are open boundaries elsewhere. */
static struct box closed_cells(const struct view *v)
{
    struct box closed = {{0, 0, 0}, {v->n[0], v->n[1], v->n[2]}};
    if (!rows_open(v->rows))
        return closed;
    for (int axis = 0; axis < 3; axis++) {
        closed.lo[axis] += layer_open(v, 2 * axis);
        if (layer_open(v, 2 * axis + 1) && closed.hi[axis] > closed.lo[axis])
            closed.hi[axis]--;
    }
    int open = 0;
#pragma omp parallel for collapse(2) reduction(| : open)
    for (int z = closed.lo[2]; z < closed.hi[2]; z++)
        for (int y = closed.lo[1]; y < closed.hi[1]; y++)
            for (int x = closed.lo[0]; x < closed.hi[0] && !open; x++)
                open |= cell_open(v, x, y, z);
    return open ? (struct box){{0, 0, 0}, {0, 0, 0}} : closed;
}

/* Are at least seven of eight cells swept? Then a step loads the populations of all cells without
 * waiting for their kinds. Loads in the few other cells cost less than the wait. */
static bool mostly_swept(const struct view *v)
{
    const double cells = (double)v->n[0] * v->n[1] * v->n[2];
    double others = 0;
#pragma omp parallel for collapse(2) reduction(+ : others)
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            const uint8_t *const row = v->tags + owned_index(v, 0, y, z);
            for (int x = 0; x < v->n[0]; x++)
                others += !type_in(&v->swept, row[x]);
        }
    return 8 * others <= cells;
}

/* Copies an array to the device, which free_arrays frees, and adds its bytes to *total. NULL if it
 * is empty or on failure; *room becomes false if memory runs out. */
static const void *upload(struct cuda_backend *b, const void *from, size_t bytes, bool *room,
                          double *total)
{
    void *memory = NULL;
    *total += (double)bytes;
    if (bytes == 0 || b->shared->error || !*room)
        return NULL;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
        cudaGetLastError(); /* clear the error, or a later call returns it */
        *room = false;
        return NULL;
    }
    b->array[b->arrays++] = memory;
    cuda_good(b, cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice), "copying tags");
    return memory;
}

/* Lists the cells that have places: on the device for steps, and on the host where the planes
 * begin. */
static enum status list_cells(struct cuda_backend *b, const struct view *v, bool *room,
                              double *total)
{
    const size_t places = place_in(v->place, v->cells);
    uint32_t *const cells = malloc((places ? places : 1) * sizeof *cells);
    b->plane = malloc(((size_t)v->n[2] + 1) * sizeof *b->plane);
    if (!cells || !b->plane) {
        free(cells);
        return fail_machine("out of memory on the host for a list of %zu fluid cells", places);
    }
    for (int z = 0; z <= v->n[2]; z++)
        b->plane[z] =
            (unsigned)place_in(v->place, view_first(v) + (size_t)((z + v->ghost[2]) * v->plane));
#pragma omp parallel for
    for (size_t k = 0; k < places; k++)
        cells[k] = CUDA_GHOST;
#pragma omp parallel for collapse(2)
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const size_t cell = owned_index(v, x, y, z);
                if (has_place(v->place, cell))
                    cells[place_in(v->place, cell)] =
                        ((uint32_t)z * (uint32_t)v->n[1] + (uint32_t)y) * (uint32_t)v->n[0] +
                        (uint32_t)x;
            }
    b->base.lists += (double)(places * sizeof *cells);
    b->cells = upload(b, cells, places * sizeof *cells, room, total);
    if (!b->shared->error && *room)
        cuda_good(b, cudaDeviceSynchronize(), "copying a list of cells");
    free(cells);
    return STATUS_OK;
}

/* No memory on the host for a copy of what cells are. */
static enum status no_copy(const struct view *v)
{
    return fail_machine("out of memory on the host to reorder %zu cells (more hosts, or fewer "
                        "cells)",
                        v->cells);
}

/* Makes the kinds of the cells on the device. v: of the host, from view_derive; kernels: with the
 * rows of the kernels. */
static enum status make_kinds(struct cuda_backend *b, const struct view *v,
                              const struct view *kernels, bool *room, double *total)
{
    struct kinds k;
    enum status status = kinds_create(&k, v);
    if (!status && !rows_permute(kernels, k.number, (size_t)k.bytes)) {
        kinds_destroy(&k);
        status = no_copy(v);
    }
    if (status)
        return status;
    const size_t more = k.count > KINDS_AT_HAND ? k.count - KINDS_AT_HAND : 0;
    const size_t bytes = k.places * (size_t)k.bytes;
    b->kinds = (struct cell_kinds){.bytes = k.bytes};
    memcpy(b->kinds.at_hand, k.kind, (k.count - more) * sizeof *k.kind);
    b->kinds.at_hand[KINDS_AT_HAND].is = KIND_MORE;
    b->kinds.type = k.type;
    b->kinds.row = v->rows[k.type];
    if (v->scalars.row)
        b->kinds.scalar = *scalar_row(v, 1, k.type);
    b->kinds.number = upload(b, k.number, bytes, room, total);
    b->kinds.more =
        upload(b, more ? k.kind + KINDS_AT_HAND : NULL, more * sizeof *k.kind, room, total);
    b->base.lists += (double)bytes + (double)(more * sizeof *k.kind);
    if (!b->shared->error && *room)
        cuda_good(b, cudaDeviceSynchronize(), "copying kinds of cells");
    kinds_destroy(&k);
    return STATUS_OK;
}

/* Loads each kernel that the case may use. CUDA does this, and takes device memory for the stacks
 * of its threads, at the first launch: here, before populations fill the memory. */
static void load_kernels(struct cuda_backend *b, const struct view *kernels)
{
    const double unused = unused_bytes();
    load_one(b, b->step, kernels);
    if (b->open)
        load_one(b, b->open_step, kernels);
    for (int k = 0; k < KERNELS; k++)
        if (k != KERNEL_step)
            load_one(b, b->variant.kernel[b->other][k], kernels);
    wait_loaded(b, unused);
}

/* Copies the tags to the device, in the rows of the kernels. */
static enum status upload_tags(struct cuda_backend *b, const struct view *v, struct view *kernels,
                               bool *room, double *total)
{
    if (kernels->lifted.lines == 1) {
        kernels->tags = upload(b, v->tags, v->cells, room, total);
        return STATUS_OK;
    }
    uint8_t *const tags = malloc(v->cells);
    if (tags)
        memcpy(tags, v->tags, v->cells);
    if (!tags || !rows_permute(kernels, tags, sizeof *tags)) {
        free(tags);
        return no_copy(v);
    }
    kernels->tags = upload(b, tags, v->cells, room, total);
    if (!b->shared->error && *room)
        cuda_good(b, cudaDeviceSynchronize(), "copying tags");
    free(tags);
    return STATUS_OK;
}

static enum status cuda_prepare(struct backend *backend, const struct view *v, struct view *kernels)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    double bytes = 0;
    if ((double)v->cells > most_cells)
        return fail_machine("a GPU takes at most %.0f cells, and a rank has %.0f (use more ranks)",
                            most_cells, (double)v->cells);
    free_arrays(b);
    b->step = choose_step(&b->variant, v);
    const bool one_cell = v->place || (v->scalars.row && !one_scalar(v)) ||
                          b->step == b->variant.mixed[0][0] || b->step == b->variant.mixed[1][0];
    b->step_cells = one_cell ? 1 : b->variant.step_cells;
    b->open_step = b->variant.open[v->scalars.row != NULL];
    b->open = rows_open(v->rows);
    bool room = true;
    *kernels = *v;
    view_derive(kernels);
    b->other = b->open || v->scalars.row || rows_resist(v->rows);
    b->closed = closed_cells(kernels); /* with rows as on the host, so far */
    kernels->early = mostly_swept(kernels);
    b->large = (double)v->n[0] * v->n[1] * v->n[2] >= CUDA_BESIDE;
    const struct view derived = *kernels;
    const char *const plain = b->lift ? rows_lift(kernels, b->variant.storage) : NULL;
    if (b->lift)
        snprintf(b->base.rows, sizeof b->base.rows, plain ? "plain (%s)" : "lifted", plain);
    enum status status = make_kinds(b, &derived, kernels, &room, &bytes);
    if (!status)
        status = upload_tags(b, v, kernels, &room, &bytes);
    if (status)
        return status;
#define UPLOAD(name, count)                                                                        \
    kernels->name = upload(b, v->name, (count) * sizeof *v->name, &room, &bytes)
    UPLOAD(rows, TAG_ROWS);
    UPLOAD(table, v->table_values);
    UPLOAD(place, v->place_words);
    UPLOAD(link, Q / 2 * v->link_words);
    UPLOAD(near.cell, v->near.count);
    UPLOAD(near.crossing, v->near.crossings);
    UPLOAD(near.speed, v->near.speed ? v->near.crossings : 0);
    UPLOAD(near.facing, v->near.facing ? v->near.crossings : 0);
    UPLOAD(scalars.row, v->scalars.row ? (size_t)(v->sets - 1) * TAG_ROWS : 0);
#undef UPLOAD
    status = v->place ? list_cells(b, &derived, &room, &bytes) : STATUS_OK;
    if (status)
        return status;
    if (!room)
        return backend_no_room(backend, bytes, "tags");
    /* Copies from unpinned memory may not have finished yet, and the streams do not wait for them.
     */
    cuda_good(b, cudaDeviceSynchronize(), "copying tags");
    load_kernels(b, kernels);
    return b->shared->error ? report(b) : STATUS_OK;
}

static void *cuda_alloc(struct backend *backend, size_t bytes, int slots)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    (void)slots;
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes ? bytes : 1) != cudaSuccess) {
        cudaGetLastError(); /* the caller reports what the memory was for */
        return NULL;
    }
    if (cuda_good(b, cudaMemsetAsync(memory, 0, bytes, b->shared->stream[QUEUE_INTERIOR]),
                  "clearing memory"))
        cuda_good(b, cudaStreamSynchronize(b->shared->stream[QUEUE_INTERIOR]), "clearing memory");
    return memory;
}

static void cuda_free(struct backend *backend, void *memory)
{
    if (!backend->lost)
        cudaFree(memory);
}

static void *cuda_alloc_host(struct backend *backend, size_t bytes)
{
    void *memory = NULL;
    (void)backend;
    if (cudaMallocHost(&memory, bytes ? bytes : 1) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    memset(memory, 0, bytes);
    return memory;
}

static void cuda_free_host(struct backend *backend, void *memory)
{
    if (!backend->lost)
        cudaFreeHost(memory);
}

static void cuda_memory(struct backend *backend, double *available, double *all)
{
    size_t bytes = 0, total = 0;
    (void)backend;
    if (cudaMemGetInfo(&bytes, &total) != cudaSuccess)
        cudaGetLastError(); /* clear the error, or a later call returns it */
    *available = (double)bytes;
    *all = (double)total;
}

static void cuda_copy(struct backend *backend, enum queue queue, void *to, const void *from,
                      size_t bytes)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    if (!b->base.lost)
        cuda_good(b, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(b, queue)),
                  "a copy");
}

/* Between levels most calls find nothing new in the other queue: an event would cost microseconds.
 */
static void cuda_after(struct backend *backend, enum queue queue, enum queue other)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    struct cuda_shared *const shared = b->shared;
    if (b->base.lost || shared->waited[queue][other] == shared->put[other])
        return;
    if (cuda_good(b, cudaEventRecord(shared->order[other], stream_of(b, other)),
                  "recording an event"))
        cuda_good(b, cudaStreamWaitEvent(stream_of(b, queue), shared->order[other], 0),
                  "waiting for an event");
    shared->waited[queue][other] = shared->put[other];
}

static enum status cuda_wait(struct backend *backend, enum queue queue)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    cudaError_t error = cudaErrorNotReady;
    int looks = 0;
    if (!has_peers(b) && !b->base.lost)
        error = cudaStreamSynchronize(stream_of(b, queue));
    while (error == cudaErrorNotReady && !b->base.lost) {
        error = cudaStreamQuery(stream_of(b, queue));
        if (error == cudaErrorNotReady && !lose(b))
            clock_rest(&looks);
    }
    cuda_good(b, error, "waiting for a kernel or a copy");
    return b->shared->error ? report(b) : STATUS_OK;
}

static bool cuda_share(struct backend *backend, void *memory, struct peer *own,
                       struct peer_handle *handle, char why[128])
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    bool made = true;
    *own = (struct peer){.memory = NULL};
    for (int k = 0; k < PEER_MARKS && made; k++) {
        cudaEvent_t event = NULL;
        made = cuda_good(
            b, cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming),
            "creating an event");
        own->mark[k] = event;
    }
    return made && ipc_share(memory, own, handle, why);
}

static bool cuda_peer_open(struct backend *backend, const struct peer_handle *handle,
                           struct peer *peer, char why[128])
{
    (void)backend;
    return ipc_open(handle, peer, why);
}

static void cuda_peer_close(struct backend *backend, struct peer *peer)
{
    if (!backend->lost)
        ipc_close(peer);
}

static enum status cuda_mark(struct backend *backend, enum queue queue, const struct peer *own,
                             int mark, int reached)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    cudaError_t error = cudaErrorNotReady;
    int looks = 0;
    while (error == cudaErrorNotReady && !b->base.lost) {
        error = cudaEventQuery(own->mark[reached]);
        if (error == cudaErrorNotReady && !lose(b))
            clock_rest(&looks);
    }
    if (cuda_good(b, error, "waiting for an event"))
        cuda_good(b, cudaEventRecord(own->mark[mark], stream_of(b, queue)), "recording an event");
    return b->shared->error ? report(b) : STATUS_OK;
}

static void cuda_after_peer(struct backend *backend, enum queue queue, const struct peer *peer,
                            int mark)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    if (!b->base.lost)
        cuda_good(b, cudaStreamWaitEvent(stream_of(b, queue), peer->mark[mark], 0),
                  "waiting for another GPU's event");
}

static bool on_host(enum phase phase)
{
    return phase == PHASE_step || phase == PHASE_exchange || phase == PHASE_wait;
}

static void cuda_phase(struct backend *backend, enum queue queue, enum phase phase, bool begin)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
#ifdef TAGFLOW_NVTX
    static const char *const names[] = {
#define X(name) #name,
        PHASE_LIST(X)
#undef X
    };
    if (begin)
        nvtxRangePushA(names[phase]);
    else
        nvtxRangePop();
#endif
    if (!backend->timing || b->base.lost)
        return;
    if (on_host(phase)) {
        b->seconds[phase] += begin ? -clock_seconds() : clock_seconds();
    } else {
        b->timed[phase] += begin;
        const int part = (b->timed[phase] - 1) % parts_of(phase);
        cuda_good(b, cudaEventRecord((begin ? b->begin : b->end)[phase][part], stream_of(b, queue)),
                  "recording an event");
    }
}

static void cuda_phases(struct backend *backend, double seconds[PHASES])
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    for (int k = 0; k < PHASES; k++) {
        seconds[k] = b->seconds[k];
        for (int part = 0; part < parts_of((enum phase)k) && part < b->timed[k]; part++) {
            float ms = 0;
            cuda_good(b, cudaEventElapsedTime(&ms, b->begin[k][part], b->end[k][part]),
                      "timing a phase");
            seconds[k] += 1e-3 * (double)ms;
        }
        b->seconds[k] = 0;
        b->timed[k] = 0;
    }
}

static bool cuda_energy(const struct backend *backend, double *joules)
{
    return nvml_energy(((const struct cuda_backend *)backend)->nvml, joules);
}

static void cuda_device(const struct backend *backend, char name[64])
{
    const struct cuda_backend *const b = (const struct cuda_backend *)backend;
    for (int k = 0; k < 16; k++)
        snprintf(name + 2 * k, 3, "%02x", b->uuid[k]);
}

static bool cuda_clocks(const struct backend *backend, double mhz[2])
{
    return nvml_clocks(((const struct cuda_backend *)backend)->nvml, mhz);
}

static bool cuda_driver(const struct backend *backend, char version[64])
{
    return nvml_driver(((const struct cuda_backend *)backend)->nvml, version);
}

const struct backend_type backend_cuda = {
    .name = "cuda",
    .row_bytes = GPU_ROW_BYTES,
    .asynchronous = true,
    .present = device_present,
    .describe = device_describe,
    .describe_peers = device_describe_peers,
    .open = cuda_open,
    .close = cuda_close,
    .prepare = cuda_prepare,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .alloc_host = cuda_alloc_host,
    .free_host = cuda_free_host,
    .memory = cuda_memory,
    .launch = cuda_launch,
    .copy = cuda_copy,
    .after = cuda_after,
    .wait = cuda_wait,
    .share = cuda_share,
    .peer_open = cuda_peer_open,
    .peer_close = cuda_peer_close,
    .mark = cuda_mark,
    .after_peer = cuda_after_peer,
    .phase = cuda_phase,
    .phases = cuda_phases,
    .energy = cuda_energy,
    .device = cuda_device,
    .clocks = cuda_clocks,
    .driver = cuda_driver,
};
