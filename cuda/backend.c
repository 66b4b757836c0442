/* The CUDA backend: one GPU per rank, two streams, ordinary device memory. Kernels are in
 * kernels.cu; device.c selects the GPU. */
#include "solver/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>
#ifdef TAGFLOW_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include "base/clock.h"
#include "base/message.h"
#include "classify.h"
#include "device.h"
#include "ipc.h"
#include "kernels.h"
#include "nvml.h"
#include "subgrid.h"

/* Older drivers take so many bytes of arguments. */
_Static_assert(sizeof(struct cuda_call) <= 4096, "an argument of a kernel");

/* Limits: kernels use 32-bit indices of cells, and a grid has at most 65,535 blocks along y and z.
 */
static const double most_cells = 4294967295.0;
enum { MOST_BLOCKS = 65535 };

enum { ARRAYS = 12 };

/* Least number of cells of a block whose cells in lists and beside open boundaries are stepped
 * beside the others: in smaller blocks the events would take longer than is gained. */
#ifndef CUDA_BESIDE
#define CUDA_BESIDE (1 << 20)
#endif

/* A second stream of a queue. Cells of one step may be stepped in any order: those that take long,
 * but are few, run in this stream beside the step that is launched next. */
struct beside {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    struct cuda_backend
        *user;    /* it runs beside the next step of this backend; NULL: nothing runs */
    bool stepped; /* that step was launched */
};

/* Shared by all backends of a run: queues, and a failure in one is a failure in all. */
struct shared {
    cudaStream_t stream[QUEUES]; /* see stream_of */
    struct beside beside[QUEUES];
    cudaEvent_t order[QUEUES];  /* events recorded for `after` */
    cudaError_t error;          /* first error */
    const char *failed;         /* what failed */
    bool told;                  /* the error was reported */
    struct cuda_backend *users; /* a list */
};

struct cuda_backend {
    struct backend base;
    struct shared *shared;
    struct cuda_backend *next; /* user of the same */
    struct cuda_variant variant;
    const void *step;          /* step kernel for the operators of the case */
    int step_cells;            /* cells along x that its thread does */
    const void *open_step;     /* the same beside open boundaries */
    bool open;                 /* the case has open boundaries */
    bool other;                /* it takes the kernels for these, or for scalars */
    bool large;                /* the block has CUDA_BESIDE cells */
    struct box closed;         /* cells that no open boundary touches */
    const void *array[ARRAYS]; /* arrays of the view, kinds and `cells`, on the device */
    const uint32_t *cells;     /* of cuda_call; NULL: all cells have places */
    struct cell_kinds kinds;   /* of the cells */
    unsigned *plane;           /* [n[2] + 1] the first place of each plane of cells */
    unsigned char uuid[16];
    struct nvml *nvml; /* NULL: nothing is known of energy, clocks and driver */
    cudaEvent_t begin[PHASES][PHASE_SEAM_PARTS], end[PHASES][PHASE_SEAM_PARTS];
    int timed[PHASES];      /* how often a phase began */
    double seconds[PHASES]; /* of phases on the host */
};

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

/* Remember the first error until `wait` reports it: launches and copies return nothing. */
static bool good(struct cuda_backend *b, cudaError_t error, const char *what)
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
    for (int k = 0; k < ARRAYS; k++) {
        cudaFree((void *)(uintptr_t)b->array[k]);
        b->array[k] = NULL;
    }
}

/* Takes the backend off the list; the last one destroys what they share. */
static void leave(struct cuda_backend *b)
{
    struct shared *const shared = b->shared;
    struct cuda_backend **at = &shared->users;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    if (shared->users)
        return;
    for (int q = 0; q < QUEUES; q++) {
        struct beside *const beside = &shared->beside[q];
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
    return good(b, cudaEventCreateWithFlags(event, cudaEventDisableTiming), "creating an event");
}

static bool make_stream(struct cuda_backend *b, cudaStream_t *stream, int priority)
{
    return good(b, cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority),
                "creating a stream");
}

/* Creates what backends share. The shell's streams have the higher priority. */
static bool make_queues(struct cuda_backend *b)
{
    int low = 0, high = 0;
    bool ok = good(b, cudaDeviceGetStreamPriorityRange(&low, &high), "priorities of streams");
    for (int q = 0; q < QUEUES && ok; q++) {
        struct beside *const beside = &b->shared->beside[q];
        const int priority = q == QUEUE_SHELL ? high : low;
        ok = make_stream(b, &b->shared->stream[q], priority) &&
             make_stream(b, &beside->stream, priority) && make_event(b, &beside->begin) &&
             make_event(b, &beside->end) && make_event(b, &b->shared->order[q]);
    }
    return ok;
}

static void record(struct cuda_backend *b, cudaEvent_t event, cudaStream_t stream)
{
    good(b, cudaEventRecord(event, stream), "recording an event");
}

static void wait_for(struct cuda_backend *b, cudaStream_t stream, cudaEvent_t event)
{
    good(b, cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}

/* The queue's stream, for work behind all that was launched. */
static cudaStream_t stream_of(struct cuda_backend *b, enum queue queue)
{
    struct beside *const beside = &b->shared->beside[queue];
    if (beside->user && !b->base.lost) {
        record(b, beside->end, beside->stream);
        wait_for(b, b->shared->stream[queue], beside->end);
    }
    beside->user = NULL;
    return b->shared->stream[queue];
}

/* For cells that are stepped before the next step of this backend is launched, or beside it. */
static cudaStream_t stream_beside(struct cuda_backend *b, enum queue queue)
{
    struct beside *const beside = &b->shared->beside[queue];
    if (!b->large || b->base.lost)
        return stream_of(b, queue);
    if (beside->user != b || beside->stepped) {
        record(b, beside->begin, stream_of(b, queue));
        wait_for(b, beside->stream, beside->begin);
        beside->user = b;
        beside->stepped = false;
    }
    return beside->stream;
}

/* For a step. */
static cudaStream_t stream_of_step(struct cuda_backend *b, enum queue queue)
{
    struct beside *const beside = &b->shared->beside[queue];
    if (beside->user != b || beside->stepped)
        return stream_of(b, queue);
    beside->stepped = true;
    return b->shared->stream[queue];
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
            ok = good(b, cudaEventCreate(&b->begin[k][part]), "creating an event") &&
                 good(b, cudaEventCreate(&b->end[k][part]), "creating an event");
    return ok;
}

static bool launch(struct cuda_backend *b, cudaStream_t stream, const void *kernel, dim3 grid,
                   dim3 block, struct cuda_call *call)
{
    void *arguments[] = {call};
    return !b->base.lost && good(b, cudaLaunchKernel(kernel, grid, block, arguments, 0, stream),
                                 "launching a kernel");
}

/* Loads a kernel: launches it on an empty box. */
static bool load_one(struct cuda_backend *b, const void *kernel, const struct view *view)
{
    struct cuda_call call = {.view = *view, .count = 1};
    const dim3 one = {1, 1, 1};
    call.step.box[0].hi[0] = call.work[0].box.hi[0] = 1; /* one cell long, none high */
    return launch(b, stream_of(b, QUEUE_INTERIOR), kernel, one, one, &call);
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
    if (!good(b, cudaStreamSynchronize(b->shared->stream[QUEUE_INTERIOR]), "loading the kernels"))
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
    struct cuda_backend *const beside = (struct cuda_backend *)wanted->beside;
    enum status status = STATUS_OK;
    if (beside) {
        memcpy(description, beside->base.description, sizeof description);
        memcpy(uuid, beside->uuid, sizeof uuid);
        remark = beside->base.remark;
    } else {
        status = device_choose(wanted->comm, wanted->share, description, &remark, uuid);
    }
    if (status)
        return status;
    struct cuda_backend *const b = calloc(1, sizeof *b);
    struct shared *const shared = beside ? beside->shared : calloc(1, sizeof *shared);
    if (!b || !shared) {
        free(b);
        if (!beside)
            free(shared);
        return fail_machine("out of memory");
    }
    b->base = (struct backend){.type = &backend_cuda,
                               .remark = remark,
                               .storage = wanted->storage,
                               .arithmetic = wanted->arithmetic,
                               .workers = CUDA_WORKERS,
                               .shares = wanted->peers};
    memcpy(b->base.description, description, sizeof description);
    memcpy(b->uuid, uuid, sizeof uuid);
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

/* The kernel that steps the view's cells, except those beside open boundaries. */
static const void *choose_step(const struct cuda_variant *variant, const struct view *v)
{
    const void *const mixed = variant->mixed[v->scalars.row != NULL][v->place != NULL];
    int collision = COLLISION_mixed;
    enum cuda_step step = CUDA_plain;
    for (const struct tag_row *row = v->rows; row < v->rows + TAG_ROWS; row++) {
        if (!row->fluid)
            continue;
        if (collision != COLLISION_mixed && collision != row->collision)
            return mixed;
        collision = row->collision;
        if (row->sponge || row->subgrid != SUBGRID_none)
            step = CUDA_full;
        else if (row->forced && step == CUDA_plain)
            step = CUDA_forced;
    }
    if (collision == COLLISION_mixed || (v->scalars.row && v->place))
        return mixed;
    step = v->scalars.row ? CUDA_scalars : v->place ? CUDA_sparse : step;
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

/* Is this fluid cell a node of an open boundary, or is one of its neighbours part of one? */
static bool cell_open(const struct view *v, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    bool open = false;
    for (int i = 0; i < Q && (tag & TAG_BESIDE) && v->rows[tag & TAG_ROW].fluid; i++) {
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

/* Copies an array of a view to the device and adds its bytes to *total. NULL if it is empty or on
 * failure; *room becomes false if memory runs out. */
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
    good(b, cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice), "copying tags");
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
    b->cells = b->array[7] = upload(b, cells, places * sizeof *cells, room, total);
    if (!b->shared->error && *room)
        good(b, cudaDeviceSynchronize(), "copying a list of cells");
    free(cells);
    return STATUS_OK;
}

/* Makes the kinds of the cells on the device. v: of the host, from view_derive. */
static enum status make_kinds(struct cuda_backend *b, const struct view *v, bool *room,
                              double *total)
{
    struct kinds k;
    const enum status status = kinds_create(&k, v);
    if (status)
        return status;
    const size_t more = k.count > KINDS_AT_HAND ? k.count - KINDS_AT_HAND : 0;
    const size_t bytes = v->cells * (size_t)k.bytes;
    b->kinds = (struct cell_kinds){.bytes = k.bytes};
    memcpy(b->kinds.at_hand, k.kind, (k.count - more) * sizeof *k.kind);
    b->kinds.at_hand[KINDS_AT_HAND].is = KIND_MORE;
    b->kinds.type = k.type;
    b->kinds.row = v->rows[k.type];
    b->kinds.number = b->array[10] = upload(b, k.number, bytes, room, total);
    b->kinds.more = b->array[11] =
        upload(b, k.kind + KINDS_AT_HAND, more * sizeof *k.kind, room, total);
    b->base.lists += (double)bytes + (double)(more * sizeof *k.kind);
    if (!b->shared->error && *room)
        good(b, cudaDeviceSynchronize(), "copying kinds of cells");
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

static enum status cuda_prepare(struct backend *backend, const struct view *v, struct view *kernels)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    const size_t cells = v->cells;
    double bytes = 0;
    if ((double)cells > most_cells)
        return fail_machine("a GPU takes at most %.0f cells, and a rank has %.0f (use more ranks)",
                            most_cells, (double)cells);
    free_arrays(b);
    b->step = choose_step(&b->variant, v);
    const bool one_cell = v->place || v->scalars.row || b->step == b->variant.mixed[0][0];
    b->step_cells = one_cell ? 1 : b->variant.step_cells;
    b->open_step = b->variant.open[v->scalars.row != NULL];
    b->open = rows_open(v->rows);
    b->closed = closed_cells(v);
    bool room = true;
    *kernels = *v;
    view_derive(kernels);
    b->other = b->open || v->scalars.row;
    kernels->early = mostly_swept(kernels);
    b->large = (double)v->n[0] * v->n[1] * v->n[2] >= CUDA_BESIDE;
    enum status status = make_kinds(b, kernels, &room, &bytes);
    if (status)
        return status;
#define UPLOAD(k, name, count)                                                                     \
    b->array[k] = upload(b, v->name, (count) * sizeof *v->name, &room, &bytes);                    \
    kernels->name = b->array[k]
    UPLOAD(0, tags, cells);
    UPLOAD(1, rows, TAG_ROWS);
    UPLOAD(2, table, v->table_values);
    UPLOAD(3, place, v->place_words);
    UPLOAD(4, link, Q / 2 * v->link_words);
    UPLOAD(5, near.cell, v->near.count);
    UPLOAD(6, near.crossing, v->near.crossings);
    UPLOAD(9, near.facing, v->near.facing ? v->near.crossings : 0);
    UPLOAD(8, scalars.row, v->scalars.row ? (size_t)(v->sets - 1) * TAG_ROWS : 0);
#undef UPLOAD
    status = v->place ? list_cells(b, v, &room, &bytes) : STATUS_OK;
    if (status)
        return status;
    if (!room)
        return backend_no_room(backend, bytes, "tags");
    /* Copies from unpinned memory may not have finished yet, and the streams do not wait for them.
     */
    good(b, cudaDeviceSynchronize(), "copying tags");
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
    if (good(b, cudaMemsetAsync(memory, 0, bytes, b->shared->stream[QUEUE_INTERIOR]),
             "clearing memory"))
        good(b, cudaStreamSynchronize(b->shared->stream[QUEUE_INTERIOR]), "clearing memory");
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

/* Smallest power of two not below n; at most `most`. */
static unsigned power_of_two(unsigned n, unsigned most)
{
    unsigned p = 1;
    while (p < n && p < most)
        p *= 2;
    return p;
}

/* Threads of a block along x, y and z. Along x: the number that wastes the fewest threads; whole
 * warps if there are enough cells. */
static dim3 block_shape(const unsigned n[3])
{
    unsigned best = power_of_two(n[0], 32), waste = (n[0] + best - 1) / best * best;
    for (unsigned x = 2 * best; x <= CUDA_BLOCK && best >= 32; x *= 2)
        if ((n[0] + x - 1) / x * x <= waste) {
            best = x;
            waste = (n[0] + x - 1) / x * x;
        }
    const unsigned y = power_of_two(n[1], CUDA_BLOCK / best);
    const unsigned z = power_of_two(n[2], CUDA_BLOCK / best / y < 64 ? CUDA_BLOCK / best / y : 64);
    return (dim3){best, y, z};
}

/* Steps a box, in pieces that fit the limits of a grid along y and z. A thread does `cells` cells
 * along x, beginning at a multiple of them. */
static void launch_box(struct cuda_backend *b, cudaStream_t stream, const void *step, int cells,
                       struct cuda_call *call, const struct box *all)
{
    struct box *const box = &call->step.box[0];
    unsigned n[3];
    for (int a = 0; a < 3; a++)
        n[a] = (unsigned)(all->hi[a] - all->lo[a]);
    n[0] = (unsigned)((all->hi[0] + cells - 1) / cells - all->lo[0] / cells);
    const dim3 block = block_shape(n);
    const int dy = MOST_BLOCKS * (int)block.y, dz = MOST_BLOCKS * (int)block.z;
    for (int z = all->lo[2]; z < all->hi[2]; z += dz)
        for (int y = all->lo[1]; y < all->hi[1]; y += dy) {
            *box = *all;
            box->lo[1] = y;
            box->lo[2] = z;
            box->hi[1] = all->hi[1] - y < dy ? all->hi[1] : y + dy;
            box->hi[2] = all->hi[2] - z < dz ? all->hi[2] : z + dz;
            const dim3 grid = {(n[0] + block.x - 1) / block.x,
                               ((unsigned)(box->hi[1] - y) + block.y - 1) / block.y,
                               ((unsigned)(box->hi[2] - z) + block.z - 1) / block.z};
            launch(b, stream, step, grid, block, call);
        }
}

static int between(int x, int least, int most)
{
    return x < least ? least : x > most ? most : x;
}

/* The places among which a box's cells are, if they are fewer than the box's cells. */
static struct cuda_places places_of_box(const struct cuda_backend *b, const struct box *box)
{
    struct cuda_places p = {0, 0};
    if (b->cells)
        p = (struct cuda_places){b->plane[box->lo[2]], b->plane[box->hi[2]]};
    return p.end - p.begin < box_cells(box) ? p : (struct cuda_places){0, 0};
}

/* Boxes for one launch of a step. */
struct step_launch {
    struct cuda_backend *backend;
    cudaStream_t stream;
    const void *step;
    int cells;      /* of a thread */
    bool by_places; /* the kernel knows cuda_call.places */
    struct cuda_call *call;
    unsigned blocks;
};

/* Launches the boxes that were added. */
static void steps_launch(struct step_launch *l)
{
    struct cuda_call *const call = l->call;
    if (call->count == 1 && call->places[0].begin == call->places[0].end) {
        const struct box all = call->step.box[0];
        launch_box(l->backend, l->stream, l->step, l->cells, call, &all);
    } else if (call->count > 0) {
        launch(l->backend, l->stream, l->step, (dim3){l->blocks, 1, 1}, (dim3){CUDA_BLOCK, 1, 1},
               call);
    }
    call->count = 0;
    l->blocks = 0;
}

static void steps_add(struct step_launch *l, const struct box *box)
{
    struct cuda_call *const call = l->call;
    const int first = box->lo[0] / l->cells, end = (box->hi[0] + l->cells - 1) / l->cells;
    const struct cuda_places places =
        l->by_places ? places_of_box(l->backend, box) : (struct cuda_places){0, 0};
    size_t threads = (size_t)(end - first) * (size_t)(box->hi[1] - box->lo[1]) *
                     (size_t)(box->hi[2] - box->lo[2]);
    if (box_cells(box) == 0)
        return;
    if (places.begin != places.end)
        threads = places.end - cuda_first_place(places);
    if (call->count == WORK_MOST)
        steps_launch(l);
    call->first[call->count] = l->blocks;
    call->places[call->count] = places;
    call->step.box[call->count++] = *box;
    l->blocks += (unsigned)((threads + CUDA_BLOCK - 1) / CUDA_BLOCK);
}

/* Cuts the layers beside open boundaries off a box, one after the other, and adds them to `open`.
 * Adds the rest to `step`, so that an inlet slows down only the cells beside it. */
static void steps_split(struct step_launch *open, struct step_launch *step, const struct box *all)
{
    const struct box *const closed = &step->backend->closed;
    struct box rest = *all;
    for (int face = 0; face < 6; face++) {
        const int axis = face / 2;
        struct box layer = rest;
        if (face & 1)
            layer.lo[axis] = rest.hi[axis] =
                between(closed->hi[axis], rest.lo[axis], rest.hi[axis]);
        else
            layer.hi[axis] = rest.lo[axis] =
                between(closed->lo[axis], rest.lo[axis], rest.hi[axis]);
        steps_add(open, &layer);
    }
    steps_add(step, &rest);
}

/* One launch for all cells beside open boundaries, one for all others. */
static void launch_steps(struct cuda_backend *b, enum queue queue, enum kernel kernel,
                         const struct view *v, const struct work *work, int count)
{
    (void)kernel;
    struct cuda_call calls[2] = {{.view = *v}};
    if (count == 0)
        return;
    calls[0].slots = slots_at(v, work[0].task.odd, precision_bytes(b->base.storage));
    calls[0].odd = work[0].task.odd;
    calls[0].step.kinds = b->kinds;
    calls[0].cells = b->cells;
    calls[1] = calls[0];
    const cudaStream_t beside = b->open ? stream_beside(b, queue) : NULL; /* first */
    const cudaStream_t stream = stream_of_step(b, queue);
    struct step_launch open = {b, beside, b->open_step, 1, false, &calls[0], 0};
    struct step_launch step = {b, stream, b->step, b->step_cells, b->cells != NULL, &calls[1], 0};
    for (int k = 0; k < count; k++)
        steps_split(&open, &step, &work[k].box);
    steps_launch(&open);
    steps_launch(&step);
}

/* No cell of a box. */
#define NOWHERE (UINT32_MAX / 2)

/* Jobs for one launch of a kernel of values. */
struct value_launch {
    struct cuda_backend *backend;
    enum queue queue;
    const void *kernel;
    struct cuda_call *call;
    unsigned most[2]; /* values of the longest row; rows */
};

/* Launches the jobs that were added. */
static void values_launch(struct value_launch *l)
{
    const unsigned jobs = (unsigned)l->call->count;
    const dim3 block = block_shape((const unsigned[]){l->most[0], l->most[1], 1});
    const dim3 grid = {(l->most[0] + block.x - 1) / block.x, (l->most[1] + block.y - 1) / block.y,
                       jobs};
    if (jobs > 0)
        launch(l->backend, stream_of(l->backend, l->queue), l->kernel, grid, block, l->call);
    l->call->count = 0;
    l->most[0] = l->most[1] = 0;
}

/* In pieces that fit the limit of a grid along y. */
static void values_add(struct value_launch *l, struct value_job job)
{
    const unsigned rows = job.n[1];
    for (unsigned from = 0; from < rows; from += MOST_BLOCKS) {
        job.n[1] = rows - from < MOST_BLOCKS ? rows - from : MOST_BLOCKS;
        if (l->call->count == VALUES_MOST)
            values_launch(l);
        l->call->job[l->call->count++] = job;
        for (int a = 0; a < 2; a++)
            l->most[a] = job.n[a] > l->most[a] ? job.n[a] : l->most[a];
        job.buffer += (size_t)job.n[0] * job.n[1] * job.bytes;
        job.cell += job.n[1] * job.step[1];
        job.turn[1] -= job.n[1];
    }
}

/* An axis of a box: its cells, index step; from this cell of the box the population's
 * neighbour is on the other side of the block, and its index differs by `jump` more. */
struct value_axis {
    uint32_t n, step, turn, jump;
};

/* The axes for population i, the first one along which the box is long first. Returns the index
 * difference from a cell to the one at which the population lies. */
static uint32_t value_axes(const struct view *v, const struct box *b, int i,
                           struct value_axis axis[3])
{
    static const int velocities[Q][3] = LATTICE_VELOCITIES;
    const uint32_t step[3] = {1, (uint32_t)v->row, (uint32_t)v->plane};
    uint32_t shift = 0;
    int count = 0;
    for (int wide = 1; wide >= 0; wide--)
        for (int a = 0; a < 3; a++) {
            const int n = b->hi[a] - b->lo[a], c = i & 1 ? velocities[i][a] : 0;
            const int last = c > 0 ? v->n[a] - 1 : 0;
            if ((n > 1) != wide)
                continue;
            shift += (uint32_t)c * step[a];
            axis[count++] = (struct value_axis){
                (uint32_t)n, step[a], c && !v->ghost[a] ? (uint32_t)(last - b->lo[a]) : NOWHERE,
                (uint32_t)(-c * v->n[a]) * step[a]};
        }
    return shift;
}

/* Adds the jobs of population i of a set; `number` populations of the set lie before it in the
 * message. One job, unless the box is long along three axes. */
static void values_of(struct value_launch *l, const struct work *w, int set, int i, int number)
{
    const struct view *const v = &l->call->view;
    const struct population_set *const s = &v->set[set];
    const size_t cells = box_cells(&w->box), bytes = s->bits / 8;
    struct value_axis axis[3];
    const uint32_t shift = value_axes(v, &w->box, i, axis);
    struct value_job job = {
        .slot = (char *)s->populations + (size_t)slot_store(w->task.odd, i) * s->stride * bytes,
        .buffer = (char *)w->task.buffer + message_at(v, w->task.direction, cells, set) +
                  (size_t)number * cells * bytes,
        .cell = (uint32_t)view_index(v, w->box.lo[0], w->box.lo[1], w->box.lo[2]),
        .n = {axis[0].n, axis[1].n},
        .step = {axis[0].step, axis[1].step},
        .turn = {axis[0].turn, axis[1].turn},
        .jump = {axis[0].jump, axis[1].jump},
        .set = (uint8_t)set,
        .bytes = (uint8_t)bytes,
        .pair = (int8_t)(i & 1 ? i / 2 : -1)};
    for (uint32_t layer = 0; layer < axis[2].n; layer++) {
        job.shift = shift + (layer == axis[2].turn ? axis[2].jump : 0);
        values_add(l, job);
        job.cell += axis[2].step;
        job.buffer += (size_t)job.n[0] * job.n[1] * bytes;
    }
}

static void launch_values(struct cuda_backend *b, enum queue queue, enum kernel kernel,
                          const struct view *v, const struct work *work, int count)
{
    struct cuda_call call = {.view = *v};
    struct value_launch l = {b, queue, b->variant.kernel[b->other][kernel], &call, {0, 0}};
    for (const struct work *w = work; w < work + count; w++) {
        const int direction = w->task.direction;
        int number = 0;
        for (int i = 1; i < Q && box_cells(&w->box) > 0; i++)
            if (travels(direction, i))
                values_of(&l, w, SET_flow, i, number++);
        for (int set = 1; set < v->sets && box_cells(&w->box) > 0; set++)
            if (direction < v->set[set].q)
                values_of(&l, w, set, direction, 0);
    }
    values_launch(&l);
}

/* Boxes, or ranges of a list, in one launch; or a box for workers. */
static void launch_boxes(struct cuda_backend *b, enum queue queue, enum kernel kernel,
                         const struct view *v, const struct work *work, int count)
{
    struct cuda_call call = {.view = *v};
    unsigned blocks = 0;
    for (int k = 0; k < count; k++) {
        const size_t cells = box_cells(&work[k].box);
        if (cells == 0)
            continue;
        const int workers = work[k].task.workers;
        const size_t threads = workers > 0 ? (size_t)workers : cells;
        call.first[call.count] = blocks;
        call.work[call.count++] = work[k];
        blocks += (unsigned)((threads + CUDA_BLOCK - 1) / CUDA_BLOCK);
    }
    if (blocks > 0)
        launch(b, kernel == KERNEL_near ? stream_beside(b, queue) : stream_of(b, queue),
               b->variant.kernel[b->other][kernel], (dim3){blocks, 1, 1}, (dim3){CUDA_BLOCK, 1, 1},
               &call);
}

static void cuda_launch(struct backend *backend, enum queue queue, enum kernel kernel,
                        const struct view *v, const struct work *work, int count)
{
    typedef void launcher(struct cuda_backend *, enum queue, enum kernel, const struct view *,
                          const struct work *, int);
    static launcher *const launchers[KERNELS] = {
#define LAUNCH_step launch_steps
#define LAUNCH_values launch_values
#define LAUNCH_cells launch_boxes
#define LAUNCH_list launch_boxes
#define LAUNCH_sums launch_boxes
#define LAUNCH_list_sums launch_boxes
#define X(name, loop, ...) [KERNEL_##name] = LAUNCH_##loop,
        KERNEL_LIST(X)
#undef X
    };
    launchers[kernel]((struct cuda_backend *)backend, queue, kernel, v, work, count);
}

static void cuda_copy(struct backend *backend, enum queue queue, void *to, const void *from,
                      size_t bytes)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    if (!b->base.lost)
        good(b, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(b, queue)), "a copy");
}

static void cuda_after(struct backend *backend, enum queue queue, enum queue other)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    if (!b->base.lost && good(b, cudaEventRecord(b->shared->order[other], stream_of(b, other)),
                              "recording an event"))
        good(b, cudaStreamWaitEvent(stream_of(b, queue), b->shared->order[other], 0),
             "waiting for an event");
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
    good(b, error, "waiting for a kernel or a copy");
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
        made = good(
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
    if (good(b, error, "waiting for an event"))
        good(b, cudaEventRecord(own->mark[mark], stream_of(b, queue)), "recording an event");
    return b->shared->error ? report(b) : STATUS_OK;
}

static void cuda_after_peer(struct backend *backend, enum queue queue, const struct peer *peer,
                            int mark)
{
    struct cuda_backend *const b = (struct cuda_backend *)backend;
    if (!b->base.lost)
        good(b, cudaStreamWaitEvent(stream_of(b, queue), peer->mark[mark], 0),
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
        good(b, cudaEventRecord((begin ? b->begin : b->end)[phase][part], stream_of(b, queue)),
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
            good(b, cudaEventElapsedTime(&ms, b->begin[k][part], b->end[k][part]),
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
