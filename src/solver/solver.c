/* The flow itself; see solver.h. */
#include "solver/solver.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/watchdog.h"

/* A piece of get, put and flow is at most about this large, but at least one row. */
enum { PIECE_BYTES = 4 << 20 };

/* The interior is launched in this many slabs, between which MPI gets to work. */
enum { SLABS = 8 };

static size_t stored_bytes(const struct solver *s)
{
    return s->backend->storage == PRECISION_fp64 ? 8 : 4;
}

enum status solver_create(struct solver *s, struct domain *d, struct backend *b)
{
    const struct backend_type *const type = b->type;
    *s = (struct solver){.domain = d, .backend = b, .view = d->view};
    s->shells = domain_shell(d, s->shell, &s->interior);
    const size_t cell_bytes = Q * stored_bytes(s), row = (size_t)d->view.n[0];
    s->piece_cells = PIECE_BYTES / cell_bytes > row ? PIECE_BYTES / cell_bytes : row;

    enum status status = type->prepare(b, &s->view);
    const size_t bytes = Q * s->view.stride * stored_bytes(s);
    if (!status) {
        s->view.populations = type->alloc(b, bytes);
        s->buffer = type->alloc(b, s->piece_cells * cell_bytes);
        s->host = malloc(s->piece_cells * cell_bytes);
        if (!s->view.populations || !s->buffer || !s->host)
            status = fail_machine(
                "out of memory: %.3g GB for the populations of %zu cells (use more ranks or "
                "nodes, or solver.storage: fp32)",
                1e-9 * (double)bytes, d->view_cells);
    }
    if (!status)
        status = halo_create(&s->halo, d, &s->view, b);
    int mine = status, worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, d->comm);
    if (worst)
        solver_destroy(s);
    return (enum status)worst;
}

void solver_destroy(struct solver *s)
{
    if (s->backend) {
        halo_destroy(&s->halo);
        s->backend->type->free(s->backend, s->view.populations);
        s->backend->type->free(s->backend, s->buffer);
    }
    free(s->host);
    *s = (struct solver){0};
}

static void launch_step(struct solver *s, enum queue queue, const struct box *box)
{
    const struct task task = {.odd = (int)(s->step & 1)};
    s->backend->type->launch(s->backend, queue, KERNEL_step, &s->view, box, task);
}

enum status solver_step(struct solver *s)
{
    const int odd = (int)(s->step & 1);
    struct backend *const b = s->backend;
    enum status status = STATUS_OK;

    for (int k = 0; k < s->shells; k++)
        launch_step(s, QUEUE_SHELL, &s->shell[k]);
    if (s->halo.count == 0) {
        launch_step(s, QUEUE_INTERIOR, &s->interior);
        status = b->type->wait(b, QUEUE_INTERIOR);
        s->step++;
        return status;
    }
    status = halo_start(&s->halo, odd);
    const int lo = s->interior.lo[2], height = s->interior.hi[2] - lo;
    for (int k = 0; !status && k < SLABS; k++) {
        struct box slab = s->interior;
        slab.lo[2] = lo + height * k / SLABS;
        slab.hi[2] = lo + height * (k + 1) / SLABS;
        launch_step(s, QUEUE_INTERIOR, &slab);
        halo_progress(&s->halo);
    }
    if (!status)
        status = halo_finish(&s->halo, odd);
    if (!status)
        status = b->type->wait(b, QUEUE_INTERIOR);
    s->step++;
    return status;
}

bool solver_piece(const struct solver *s, const struct box *box, int number, struct box *piece)
{
    const int nx = box->hi[0] - box->lo[0], ny = box->hi[1] - box->lo[1],
              nz = box->hi[2] - box->lo[2];
    if (nx <= 0 || ny <= 0 || nz <= 0)
        return false;
    const size_t plane = (size_t)nx * (size_t)ny;
    *piece = *box;
    if (plane <= s->piece_cells) { /* whole planes */
        const int planes = (int)(s->piece_cells / plane), z = number * planes;
        if (number >= nz || z >= nz)
            return false;
        piece->lo[2] = box->lo[2] + z;
        piece->hi[2] = box->lo[2] + (z + planes < nz ? z + planes : nz);
        return true;
    }
    const int rows = (int)(s->piece_cells / (size_t)nx), pieces = (ny + rows - 1) / rows;
    const int z = number / pieces, y = number % pieces * rows;
    if (z >= nz)
        return false;
    piece->lo[2] = box->lo[2] + z;
    piece->hi[2] = piece->lo[2] + 1;
    piece->lo[1] = box->lo[1] + y;
    piece->hi[1] = box->lo[1] + (y + rows < ny ? y + rows : ny);
    return true;
}

/* Run a kernel that fills the buffer and bring the result to the host. */
static const void *fetch(struct solver *s, enum kernel kernel, const struct box *piece,
                         size_t cell_bytes)
{
    const struct backend_type *const type = s->backend->type;
    const struct task task = {.odd = (int)(s->step & 1), .buffer = s->buffer};
    watchdog_progress();
    type->launch(s->backend, QUEUE_INTERIOR, kernel, &s->view, piece, task);
    if (type->wait(s->backend, QUEUE_INTERIOR) ||
        type->copy(s->backend, s->host, s->buffer, box_cells(piece) * cell_bytes))
        return NULL;
    return s->host;
}

const void *solver_get(struct solver *s, const struct box *piece)
{
    return fetch(s, KERNEL_get, piece, Q * stored_bytes(s));
}

const double *solver_flow(struct solver *s, const struct box *piece)
{
    return fetch(s, KERNEL_flow, piece, 4 * sizeof(double));
}

void *solver_host(struct solver *s)
{
    return s->host;
}

enum status solver_put(struct solver *s, const struct box *piece)
{
    const struct backend_type *const type = s->backend->type;
    const struct task task = {.odd = (int)(s->step & 1), .buffer = s->buffer};
    enum status status =
        type->copy(s->backend, s->buffer, s->host, box_cells(piece) * Q * stored_bytes(s));
    if (status)
        return status;
    type->launch(s->backend, QUEUE_INTERIOR, KERNEL_put, &s->view, piece, task);
    return type->wait(s->backend, QUEUE_INTERIOR);
}

static inline uint64_t mix(uint64_t x) /* the finaliser of splitmix64 */
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A row of one population: `first` is 19 g + i + 1 of its first cell. Compiled for each instruction
 * set, for it is most of what a checkpoint costs beyond the disk. */
#define ROW_HASH(name, type)                                                                       \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static uint64_t  \
    name(const void *row, const uint8_t *tags, const uint8_t *fluid, int n, uint64_t first)        \
    {                                                                                              \
        const type *const value = row;                                                             \
        uint64_t sum = 0;                                                                          \
        for (int x = 0; x < n; x++)                                                                \
            sum += fluid[tags[x] & TAG_ROW] ? mix(value[x] ^ mix(first + 19 * (uint64_t)x)) : 0;   \
        return sum;                                                                                \
    }
ROW_HASH(row_hash_32, uint32_t)
ROW_HASH(row_hash_64, uint64_t)

uint64_t solver_piece_hash(const struct solver *s, const struct box *piece, const void *populations)
{
    const struct domain *const d = s->domain;
    const size_t cells = box_cells(piece), bytes = stored_bytes(s);
    const int nx = piece->hi[0] - piece->lo[0];
    uint8_t fluid[TAG_ROWS];
    uint64_t sum = 0;
    size_t cell = 0;
    for (int row = 0; row < TAG_ROWS; row++)
        fluid[row] = s->view.rows[row].fluid != 0;
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++, cell += (size_t)nx) {
            const uint8_t *const tags = s->view.tags + view_index(&s->view, piece->lo[0], y, z);
            const uint64_t g =
                ((uint64_t)(d->lo[2] + z) * (uint64_t)d->cells[1] + (uint64_t)(d->lo[1] + y)) *
                    (uint64_t)d->cells[0] +
                (uint64_t)(d->lo[0] + piece->lo[0]);
            for (size_t i = 0; i < Q; i++) {
                const char *const at = (const char *)populations + (i * cells + cell) * bytes;
                sum += (bytes == 8 ? row_hash_64 : row_hash_32)(at, tags, fluid, nx,
                                                                19 * g + (uint64_t)i + 1);
            }
        }
    return sum;
}

enum status solver_hash(struct solver *s, uint64_t *hash)
{
    const struct box all = domain_all(s->domain);
    struct box piece;
    uint64_t sum = 0;
    int failed = 0, anyone;
    for (int number = 0; !failed && solver_piece(s, &all, number, &piece); number++) {
        const void *const populations = solver_get(s, &piece);
        failed = !populations;
        if (populations)
            sum += solver_piece_hash(s, &piece, populations);
    }
    MPI_Allreduce(&failed, &anyone, 1, MPI_INT, MPI_MAX, s->domain->comm);
    MPI_Allreduce(&sum, hash, 1, MPI_UINT64_T, MPI_SUM, s->domain->comm);
    return anyone ? STATUS_MACHINE : STATUS_OK;
}
