/* The solver; see solver.h. */
#include "solver/solver.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/box.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "case/signal.h"
#include "solver/row_hash.h"

/* Cells of a piece of get, put and flow: 1/PIECE_PART of the block, but at least PIECE_CELLS and at
 * least a plane (checkpoints are written plane by plane); at most PIECE_BYTES or one line along x.
 * PIECE_LEAST: bytes of the smallest buffer. */
enum { PIECE_BYTES = 4 << 20, PIECE_PART = 16, PIECE_CELLS = 4096, PIECE_LEAST = 1024 };

void solver_signals_at(const struct solver *s, int64_t step, double signal[SIGNALS])
{
    const struct domain *const d = s->domain;
    const double driven = s->driven ? ldexp(*s->driven, -d->level) : 0;
    for (int k = 1; k < d->signals; k++)
        signal[k] = d->signal[k]            ? signal_at(d->signal[k], step)
                    : d->held[k] && s->held ? s->held[d->held[k] - 1]
                                            : driven;
}

void solver_signals(struct solver *s)
{
    if (s->signal_step != s->step)
        solver_signals_at(s, s->step, s->view.signal);
    s->signal_step = s->step;
}

/* A sweep of T steps needs SWEEP_PLANES (T - 1) planes between exchanged faces; its last step
 * leaves out 2 (T - 1) of them. */
enum { SWEEP_PLANES = 4 };

/* Cells of the largest piece. */
static size_t piece_cells(const struct view *v)
{
    const size_t bytes = view_cell_bytes(v);
    const size_t row = (size_t)v->n[0], all = row * (size_t)v->n[1] * (size_t)v->n[2];
    const size_t plane = row * (size_t)v->n[1];
    size_t cells = all / PIECE_PART > PIECE_CELLS ? all / PIECE_PART : PIECE_CELLS;
    cells = plane > cells ? plane : cells;
    if (cells > PIECE_BYTES / bytes)
        cells = PIECE_BYTES / bytes;
    return all < cells ? all : cells > row ? cells : row;
}

/* Bytes of a piece's buffer: room for the populations of the largest set, and for at least one
 * partial result of any sum. */
static size_t piece_bytes(const struct view *v)
{
    const size_t bytes = piece_cells(v) * view_cell_bytes(v);
    return bytes < PIECE_LEAST ? PIECE_LEAST : bytes;
}

static bool has_neighbours(const struct domain *d)
{
    bool any = false;
    for (int i = 1; i < Q; i++)
        any = any || d->neighbour[i] != MPI_PROC_NULL;
    return any;
}

static size_t set_bytes(const struct population_set *set)
{
    return set->stride * set->q * set->bits / 8;
}

double solver_bytes(const struct domain *d)
{
    double halo = 0, all = 0;
    for (int i = 1; i < Q; i++) {
        const struct box layer = domain_layer(&d->view, i, false);
        if (d->neighbour[i] != MPI_PROC_NULL)
            halo += 2 * ((double)message_at(&d->view, i, box_cells(&layer), d->view.sets) + 8);
    }
    for (const struct population_set *set = d->view.set; set < d->view.set + d->view.sets; set++)
        all += (double)set_bytes(set);
    return all + halo + 2 * (double)piece_bytes(&d->view) +
           (double)(d->view.cells + d->view.table_values * sizeof *d->view.table) +
           (double)((d->view.place_words + Q / 2 * d->view.link_words) * sizeof *d->view.place) +
           (double)(d->view.near.count * sizeof *d->view.near.cell +
                    d->view.near.crossings * sizeof *d->view.near.crossing +
                    (d->facing ? d->view.near.crossings * sizeof *d->facing : 0) +
                    (d->speed ? d->view.near.crossings * sizeof *d->speed : 0)) +
           (has_neighbours(d) ? (double)layers_bytes(&d->view) : 0);
}

/* Allocates the populations and the buffers. */
static enum status make_room(struct solver *s)
{
    struct backend *const b = s->backend;
    const struct backend_type *const type = b->type;
    struct population_set *const set = s->view.set;
    static const char from_gpu[] = "what comes from the GPU";
    double bytes = 0;
    const size_t piece = piece_bytes(&s->view);
    bool room = true;
    for (int k = 0; k < 2; k++) {
        s->buffer[k] = type->alloc(b, piece, 1);
        s->host[k] = type->host_memory ? s->buffer[k] : type->alloc_host(b, piece);
        if (s->buffer[k] && !s->host[k])
            return backend_no_host_room((double)piece, from_gpu);
        room = room && s->buffer[k];
    }
    if (has_neighbours(s->domain)) {
        const size_t layers = layers_bytes(&s->view);
        s->view.layers = type->alloc(b, layers, 1);
        s->layers_host = type->host_memory ? s->view.layers : type->alloc_host(b, layers);
        if (s->view.layers && !s->layers_host)
            return backend_no_host_room((double)layers, from_gpu);
        room = room && s->view.layers;
    }
    for (int k = 0; k < s->view.sets; k++) {
        set[k].populations = room ? type->alloc(b, set_bytes(&set[k]), set[k].q) : NULL;
        room = set[k].populations;
        bytes += (double)set_bytes(&set[k]);
    }
    if (room)
        return STATUS_OK;
    char what[64];
    snprintf(what, sizeof what, "the populations of %zu cells", set[SET_flow].stride);
    return backend_no_room(b, bytes, what);
}

struct backend_wanted backend_wanted(const struct flow_case *c, MPI_Comm comm, bool share)
{
    return (struct backend_wanted){.storage = c->solver.storage,
                                   .arithmetic = c->solver.arithmetic,
                                   .isa = c->run.isa,
                                   .threads = c->run.threads > 0 ? c->run.threads : 1,
                                   .sweep = c->run.sweep,
                                   .lifted_rows = c->run.rows == ROW_ORDER_lifted,
                                   .comm = comm,
                                   .share = share,
                                   .peers = c->run.transport == TRANSPORT_auto ||
                                            c->run.transport == TRANSPORT_ipc};
}

/* The most steps that all ranks can make in a sweep. */
static void agree_on_sweep(struct solver *s)
{
    const struct domain *const d = s->domain;
    int steps = s->backend->type->sweep ? s->backend->sweep : 1;
    for (int a = 0; a < 3; a++)
        while (d->exchanged[a] && steps > 1 && d->view.n[a] < SWEEP_PLANES * (steps - 1))
            steps--;
    int least[2] = {steps, d->near_stepped > 0 ? 0 : 1};
    MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN, d->comm);
    s->listed = !least[1];
    s->sweep = s->listed ? 1 : least[0];
}

enum status solver_create(struct solver *s, struct domain *d, struct backend *b,
                          enum transport transport)
{
    *s = (struct solver){.domain = d, .backend = b, .signal_step = -1, .transport = transport};
    s->shells = domain_shell(d, s->shell, &s->interior);
    s->piece_cells = piece_cells(&d->view);

    enum status status = b->type->prepare(b, &d->view, &s->view);
    if (!status)
        status = make_room(s);
    status = status_agree(d->comm, status);
    if (!status)
        status = status_agree(d->comm, halo_create(&s->halo, d, &s->view, b, transport));
    if (!status)
        agree_on_sweep(s);
    if (status)
        solver_destroy(s);
    return status;
}

void solver_destroy(struct solver *s)
{
    struct backend *const b = s->backend;
    if (b) {
        exchange_destroy(&s->halo);
        for (int k = 0; k < s->view.sets; k++)
            b->type->free(b, s->view.set[k].populations);
        if (!b->type->host_memory)
            b->type->free_host(b, s->layers_host);
        b->type->free(b, s->view.layers);
        for (int k = 0; k < 2; k++) {
            if (!b->type->host_memory)
                b->type->free_host(b, s->host[k]);
            b->type->free(b, s->buffer[k]);
        }
    }
    *s = (struct solver){0};
}

enum status solver_wait(struct solver *s)
{
    struct backend *const b = s->backend;
    const enum status shell = b->type->wait(b, QUEUE_SHELL);
    const enum status interior = b->type->wait(b, QUEUE_INTERIOR);
    return shell ? shell : interior;
}

bool solver_piece(const struct solver *s, const struct box *box, int number, struct box *piece)
{
    return box_piece(box, s->piece_cells, number, piece);
}

/* ---- results to the host ---- */

/* Bytes that a kernel leaves in its buffer for each cell, or for each worker. */
static size_t result_bytes(enum kernel kernel, const struct population_set *set)
{
#define BYTES_step(result) result
#define BYTES_cells(result) result
#define BYTES_list(result) result
#define BYTES_values(result) result
#define BYTES_sums(result) sizeof(struct result)
#define BYTES_list_sums(result) sizeof(struct result)
    const size_t bytes_of[KERNELS] = {
#define X(name, loop, open, result) [KERNEL_##name] = BYTES_##loop(result),
        KERNEL_LIST(X)
#undef X
    };
    assert(bytes_of[kernel] > 0);
    return bytes_of[kernel];
}

/* Starts the next piece, into buffers k. Kernels and copies use different queues, so one piece is
 * copied while the next is computed. */
static void ask(struct fetch *f, int k)
{
    struct solver *const s = f->solver;
    const struct backend_type *const type = s->backend->type;
    f->there[k] = f->cut ? f->cut(f->how, f->number, &f->piece[k])
                         : solver_piece(s, &f->box, f->number, &f->piece[k]);
    if (!f->there[k])
        return;
    f->number++;
    assert(box_cells(&f->piece[k]) <= s->piece_cells);
    const struct work work = {f->piece[k],
                              {.odd = (int)(s->step & 1), .set = f->set, .buffer = s->buffer[k]}};
    solver_signals(s);
    type->after(s->backend, QUEUE_INTERIOR, QUEUE_SHELL); /* last copy of the buffer; the step */
    type->launch(s->backend, QUEUE_INTERIOR, f->kernel, &s->view, &work, 1);
    if (type->host_memory)
        return;
    type->after(s->backend, QUEUE_SHELL, QUEUE_INTERIOR);
    type->copy(s->backend, QUEUE_SHELL, s->host[k], s->buffer[k],
               box_cells(&f->piece[k]) * result_bytes(f->kernel, &s->view.set[f->set]));
}

static void start(struct fetch *f)
{
    assert(!f->solver->fetching);
    f->solver->fetching = true;
    ask(f, 0);
}

void fetch_start(struct fetch *f, struct solver *s, enum kernel kernel, const struct box *box)
{
    *f = (struct fetch){.solver = s, .kernel = kernel, .box = *box};
    start(f);
}

void fetch_start_set(struct fetch *f, struct solver *s, enum kernel kernel, int set,
                     const struct box *box, fetch_cut *cut, const void *how)
{
    *f = (struct fetch){.solver = s, .kernel = kernel, .set = set, .cut = cut, .how = how};
    if (box)
        f->box = *box;
    start(f);
}

const void *fetch_next(struct fetch *f, struct box *piece)
{
    struct solver *const s = f->solver;
    const int k = f->at;
    if (f->status || !f->there[k])
        return NULL;
    watchdog_progress();
    f->status = s->backend->type->wait(s->backend, QUEUE_SHELL);
    if (f->status)
        return NULL;
    f->at = !k;
    ask(f, !k);
    *piece = f->piece[k];
    return s->host[k];
}

enum status fetch_end(struct fetch *f)
{
    struct backend *const b = f->solver->backend;
    if (!f->status && f->there[f->at]) /* ended early: a copy to host[] is running */
        f->status = b->type->wait(b, QUEUE_SHELL);
    f->solver->fetching = false;
    return f->status;
}

/* Returns the only piece of a started fetch and ends it; NULL when the backend failed. */
static const void *fetch_only(struct fetch *f)
{
    struct box piece;
    const void *const result = fetch_next(f, &piece);
    assert(!result || !f->there[f->at]);
    return fetch_end(f) ? NULL : result;
}

const void *solver_get(struct solver *s, int set, const struct box *piece)
{
    struct fetch f;
    fetch_start_set(&f, s, KERNEL_get, set, piece, NULL, NULL);
    return fetch_only(&f);
}

const double *solver_flow(struct solver *s, const struct box *piece)
{
    struct fetch f;
    fetch_start(&f, s, KERNEL_flow, piece);
    return fetch_only(&f);
}

const double *solver_scalar(struct solver *s, int set, const struct box *piece)
{
    struct fetch f;
    fetch_start_set(&f, s, KERNEL_scalar, set, piece, NULL, NULL);
    return fetch_only(&f);
}

const void *solver_partials(struct solver *s, enum kernel kernel, const struct box *box,
                            struct task task, int *workers)
{
    struct backend *const b = s->backend;
    const size_t cells = box_cells(box), bytes = result_bytes(kernel, s->view.set);
    const size_t room = piece_bytes(&s->view) / bytes;
    const size_t most = cells < room ? cells : room;
    struct work work = {*box, task};
    assert(!s->fetching && most > 0);
    work.task.odd = (int)(s->step & 1);
    work.task.buffer = s->buffer[0];
    work.task.workers = most < (size_t)b->workers ? (int)most : b->workers;
    watchdog_progress();
    solver_signals(s);
    b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    b->type->launch(b, QUEUE_INTERIOR, kernel, &s->view, &work, 1);
    if (!b->type->host_memory)
        b->type->copy(b, QUEUE_INTERIOR, s->host[0], s->buffer[0],
                      (size_t)work.task.workers * bytes);
    if (b->type->wait(b, QUEUE_INTERIOR))
        return NULL;
    watchdog_progress();
    *workers = work.task.workers;
    return s->host[0];
}

void solver_launch(struct solver *s, enum kernel kernel, const struct box *box, struct task task)
{
    struct backend *const b = s->backend;
    struct work work = {*box, task};
    work.task.odd = (int)(s->step & 1);
    solver_signals(s);
    b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    b->type->launch(b, QUEUE_INTERIOR, kernel, &s->view, &work, 1);
}

void *solver_alloc(struct solver *s, size_t cells, int components, size_t bytes, const char *what)
{
    const size_t all = cells * (size_t)components * bytes;
    void *const memory = s->backend->type->alloc(s->backend, all, components);
    if (!memory)
        backend_no_room(s->backend, (double)all, what);
    return memory;
}

enum status solver_copy_out(struct solver *s, void *to, const void *from, size_t bytes)
{
    struct backend *const b = s->backend;
    const size_t most = piece_bytes(&s->view);
    enum status status = STATUS_OK;
    assert(!s->fetching);
    if (b->type->host_memory) {
        memcpy(to, from, bytes);
        return status;
    }
    for (size_t at = 0; at < bytes && !status; at += most) {
        const size_t count = bytes - at < most ? bytes - at : most;
        b->type->copy(b, QUEUE_INTERIOR, s->host[0], (const char *)from + at, count);
        status = b->type->wait(b, QUEUE_INTERIOR);
        memcpy((char *)to + at, s->host[0], count);
    }
    return status;
}

enum status solver_copy_in(struct solver *s, void *to, const void *from, size_t bytes)
{
    struct backend *const b = s->backend;
    const size_t most = piece_bytes(&s->view);
    enum status status = STATUS_OK;
    assert(!s->fetching);
    if (b->type->host_memory) {
        memcpy(to, from, bytes);
        return status;
    }
    for (size_t at = 0; at < bytes && !status; at += most) {
        const size_t count = bytes - at < most ? bytes - at : most;
        memcpy(s->host[0], (const char *)from + at, count);
        b->type->copy(b, QUEUE_INTERIOR, (char *)to + at, s->host[0], count);
        status = b->type->wait(b, QUEUE_INTERIOR);
    }
    return status;
}

void *solver_host(struct solver *s)
{
    return s->host[0];
}

/* Has the kernel store a piece of a set from the solver's buffer, which has `bytes` a cell. */
static enum status put_piece(struct solver *s, enum kernel kernel, int set, const struct box *piece,
                             size_t bytes)
{
    struct backend *const b = s->backend;
    const struct work work = {*piece,
                              {.odd = (int)(s->step & 1), .set = set, .buffer = s->buffer[0]}};
    assert(box_cells(piece) <= s->piece_cells);
    b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    if (!b->type->host_memory)
        b->type->copy(b, QUEUE_INTERIOR, s->buffer[0], s->host[0], box_cells(piece) * bytes);
    b->type->launch(b, QUEUE_INTERIOR, kernel, &s->view, &work, 1);
    return b->type->wait(b, QUEUE_INTERIOR);
}

enum status solver_put(struct solver *s, int set, const struct box *piece)
{
    return put_piece(s, KERNEL_put, set, piece, set_cell_bytes(&s->view.set[set]));
}

enum status solver_put_scalar(struct solver *s, int set, const struct box *piece)
{
    return put_piece(s, KERNEL_scalar_put, set, piece, sizeof(double));
}

enum status solver_begin(struct solver *s, const struct box *piece, const struct initial *in,
                         bool density)
{
    struct backend *const b = s->backend;
    const struct work work = {
        *piece,
        {.odd = (int)(s->step & 1), .initial = in, .buffer = density ? s->buffer[0] : NULL}};
    assert(box_cells(piece) <= s->piece_cells);
    b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    if (!b->type->host_memory && density)
        b->type->copy(b, QUEUE_INTERIOR, s->buffer[0], s->host[0],
                      box_cells(piece) * sizeof(double));
    b->type->launch(b, QUEUE_INTERIOR, KERNEL_begin, &s->view, &work, 1);
    return b->type->wait(b, QUEUE_INTERIOR);
}

static row_hash *const *const row_hashes[ISAS] = {
#define X(isa) [ISA_##isa] = ROW_HASHES(isa),
#include "cpu_isas.h"
#undef X
};

/* Cells of the boxes of all coarser levels. */
static uint64_t cells_before(const struct domain *d)
{
    uint64_t sum = 0;
    for (int k = 1; k <= d->level; k++) {
        uint64_t cells = 1;
        for (int a = 0; a < 3; a++)
            cells *= (uint64_t)(d->cells[a] >> refined_halved(d->refined, k, a));
        sum += cells;
    }
    return sum;
}

uint64_t solver_piece_hash(const struct solver *s, int set, const struct box *piece,
                           const void *populations)
{
    const struct domain *const d = s->domain;
    const size_t cells = box_cells(piece), bytes = s->view.set[set].bits / 8;
    row_hash *const hash = row_hashes[isa_best()][bytes == 8 ? 2 : bytes == 4];
    const uint64_t q = s->view.set[set].q, before = cells_before(d);
    const int nx = piece->hi[0] - piece->lo[0];
    uint8_t fluid[TAG_ROWS];
    uint64_t sum = 0;
    size_t cell = 0;
    for (int row = 0; row < TAG_ROWS; row++)
        fluid[row] = (uint8_t)(type_holds(&d->view, set, row) != 0);
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++, cell += (size_t)nx) {
            const uint8_t *const tags = d->tags + view_index(&d->view, piece->lo[0], y, z);
            const uint64_t g =
                before +
                ((uint64_t)(d->lo[2] + z) * (uint64_t)d->cells[1] + (uint64_t)(d->lo[1] + y)) *
                    (uint64_t)d->cells[0] +
                (uint64_t)(d->lo[0] + piece->lo[0]);
            for (size_t i = 0; i < q; i++) {
                const char *const at = (const char *)populations + (i * cells + cell) * bytes;
                sum += hash(at, tags, fluid, nx, q, q * g + (uint64_t)i + 1);
            }
        }
    return sum;
}

enum status solver_hash(struct solver *s, int set, uint64_t *hash)
{
    const struct box all = domain_all(s->domain);
    struct box piece;
    struct fetch f;
    const void *populations;
    uint64_t sum = 0;
    for (fetch_start_set(&f, s, KERNEL_get, set, &all, NULL, NULL);
         (populations = fetch_next(&f, &piece));)
        sum += solver_piece_hash(s, set, &piece, populations);
    int failed = fetch_end(&f) != STATUS_OK, anyone;
    MPI_Allreduce(&failed, &anyone, 1, MPI_INT, MPI_MAX, s->domain->comm);
    MPI_Allreduce(&sum, hash, 1, MPI_UINT64_T, MPI_SUM, s->domain->comm);
    return anyone ? STATUS_MACHINE : STATUS_OK;
}
