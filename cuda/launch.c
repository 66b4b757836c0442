/* Launches of kernels: streams, grids of blocks, and arguments. */
#include "cuda_backend.h"

/* Older drivers take so many bytes of arguments. */
_Static_assert(sizeof(struct cuda_call) <= 4096, "an argument of a kernel");

enum { MOST_BLOCKS = 65535 }; /* of a grid along y and z */

static void record(struct cuda_backend *b, cudaEvent_t event, cudaStream_t stream)
{
    cuda_good(b, cudaEventRecord(event, stream), "recording an event");
}

static void wait_for(struct cuda_backend *b, cudaStream_t stream, cudaEvent_t event)
{
    cuda_good(b, cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}

cudaStream_t stream_of(struct cuda_backend *b, enum queue queue)
{
    struct cuda_beside *const beside = &b->shared->beside[queue];
    if (beside->user && !b->base.lost) {
        record(b, beside->end, beside->stream);
        wait_for(b, b->shared->stream[queue], beside->end);
    }
    beside->user = NULL;
    b->shared->put[queue]++;
    return b->shared->stream[queue];
}

/* For cells that are stepped before the next step of this backend is launched, or beside it. */
static cudaStream_t stream_beside(struct cuda_backend *b, enum queue queue)
{
    struct cuda_beside *const beside = &b->shared->beside[queue];
    if (!b->large || b->base.lost)
        return stream_of(b, queue);
    if (beside->user != b || beside->stepped) {
        record(b, beside->begin, stream_of(b, queue));
        wait_for(b, beside->stream, beside->begin);
        beside->user = b;
        beside->stepped = false;
    }
    b->shared->put[queue]++;
    return beside->stream;
}

/* For a step. */
static cudaStream_t stream_of_step(struct cuda_backend *b, enum queue queue)
{
    struct cuda_beside *const beside = &b->shared->beside[queue];
    if (beside->user != b || beside->stepped)
        return stream_of(b, queue);
    beside->stepped = true; /* counted in `put` with what it runs beside */
    return b->shared->stream[queue];
}

bool launch_kernel(struct cuda_backend *b, cudaStream_t stream, const void *kernel, dim3 grid,
                   dim3 block, struct cuda_call *call)
{
    void *arguments[] = {call};
    return !b->base.lost &&
           cuda_good(b, cudaLaunchKernel(kernel, grid, block, arguments, 0, stream),
                     "launching a kernel");
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
            launch_kernel(b, stream, step, grid, block, call);
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
        launch_kernel(l->backend, l->stream, l->step, (dim3){l->blocks, 1, 1},
                      (dim3){CUDA_BLOCK, 1, 1}, call);
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

/* Steps those cells of the boxes whose positions are from <= position < to: they lie in lines with
 * the same index steps along x. In plain rows these are all cells. */
static void launch_lines(struct step_launch *open, struct step_launch *step,
                         const struct work *work, int count, int from, int to)
{
    const struct view *const v = &step->call->view;
    open->call->along = step->call->along = line_steps(v, from);
    for (int k = 0; k < count; k++) {
        struct box box = work[k].box;
        box.lo[0] = between(from, box.lo[0], box.hi[0]);
        box.hi[0] = between(to, box.lo[0], box.hi[0]);
        steps_split(open, step, &box);
    }
    steps_launch(open);
    steps_launch(step);
}

/* One launch for all cells beside open boundaries, one for all others; of lifted rows three each.
 * Along x boxes are of positions: the cells x = 0 and n - 1 have these, too. */
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
    const int n = v->n[0], first = between(v->lifted.first, 0, n);
    const int last = between(v->lifted.last, first, n);
    launch_lines(&open, &step, work, count, 0, first);
    launch_lines(&open, &step, work, count, first, last);
    launch_lines(&open, &step, work, count, last, n);
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
        launch_kernel(l->backend, stream_of(l->backend, l->queue), l->kernel, grid, block, l->call);
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
 * difference from a cell to the one at which the population lies. In lifted rows the step along x
 * differs from cell to cell: if the box is long along x, *along says so, and the kernel adds it; if
 * it is thin there, it is part of the result. */
static uint32_t value_axes(const struct view *v, const struct box *b, int i,
                           struct value_axis axis[3], uint8_t *along)
{
    static const int velocities[Q][3] = LATTICE_VELOCITIES;
    const uint32_t step[3] = {1, (uint32_t)v->row, (uint32_t)v->plane};
    uint32_t shift = 0;
    int count = 0;
    *along = VALUES_even;
    for (int wide = 1; wide >= 0; wide--)
        for (int a = 0; a < 3; a++) {
            const int n = b->hi[a] - b->lo[a], c = i & 1 ? velocities[i][a] : 0;
            const int last = c > 0 ? v->n[a] - 1 : 0;
            const bool lifted = a == 0 && v->lifted.lines > 1;
            if ((n > 1) != wide)
                continue;
            if (lifted && wide)
                *along = c ? VALUES_next : VALUES_along;
            else if (lifted)
                shift += c ? value_next(v, b->lo[0]) : 0;
            else
                shift += (uint32_t)c * step[a];
            axis[count++] = (struct value_axis){
                (uint32_t)n, step[a],
                c && !v->ghost[a] && !lifted ? (uint32_t)(last - b->lo[a]) : NOWHERE,
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
    uint8_t along;
    const uint32_t shift = value_axes(v, &w->box, i, axis, &along);
    const int x = along == VALUES_even ? w->box.lo[0] : 0; /* of the first cell of a row */
    struct value_job job = {
        .slot = (char *)s->populations + (size_t)slot_store(w->task.odd, i) * s->stride * bytes,
        .buffer = (char *)w->task.buffer + message_at(v, w->task.direction, cells, set) +
                  (size_t)number * cells * bytes,
        .cell = (uint32_t)view_index(v, x, w->box.lo[1], w->box.lo[2]),
        .n = {axis[0].n, axis[1].n},
        .step = {axis[0].step, axis[1].step},
        .turn = {axis[0].turn, axis[1].turn},
        .jump = {axis[0].jump, axis[1].jump},
        .set = (uint8_t)set,
        .bytes = (uint8_t)bytes,
        .pair = (int8_t)(i & 1 ? i / 2 : -1),
        .along = along,
        .x = w->box.lo[0]};
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
        launch_kernel(b, kernel == KERNEL_near ? stream_beside(b, queue) : stream_of(b, queue),
                      b->variant.kernel[b->other][kernel], (dim3){blocks, 1, 1},
                      (dim3){CUDA_BLOCK, 1, 1}, &call);
}

void cuda_launch(struct backend *backend, enum queue queue, enum kernel kernel,
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
