/* Checkpoints: writing; see checkpoint.h. */
#include "run/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/agree.h"
#include "base/file.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "io/seal.h"
#include "run/output_kind.h"
#include "stored.h"

/* About the bytes that are sent and written at a time, but at least one line of all components. */
enum { PIECE_BYTES = 4 << 20 };

static enum status register_set(struct state *state, struct grid *g, int level, int number)
{
    struct solver *const s = &g->level[level].solver;
    const struct domain *const d = s->domain;
    const struct population_set *const set = &s->view.set[number];
    struct box all;
    const enum sample sample = set->bits == 64   ? SAMPLE_float64
                               : set->bits == 32 ? SAMPLE_float32
                                                 : SAMPLE_float16;
    char name[STATE_NAME], definition[STATE_DEFINITION], of[16] = "";
    for (int a = 0; a < 3; a++) {
        all.lo[a] = d->at[a];
        all.hi[a] = d->at[a] + d->extent[a];
    }
    if (g->levels > 1)
        snprintf(of, sizeof of, "_%d", level);
    if (number == SET_flow)
        snprintf(name, sizeof name, "populations%s", of);
    else
        snprintf(name, sizeof name, "sets/%s%s", d->set_name[number], of);
    snprintf(definition, sizeof definition, "D3Q%d, stored %s as it arrives", set->q,
             number != SET_flow         ? "g_i"
             : sample == SAMPLE_float16 ? "2^15 (f_i - w_i)"
                                        : "f_i - w_i");
    const enum status status =
        state_add_cells(state, name, definition, sample, set->q, &all, s, NULL);
    if (!status)
        state->array[state->count - 1].set = number;
    return status;
}

enum status checkpoint_register_populations(struct state *state, struct grid *g)
{
    enum status status = STATUS_OK;
    for (int l = 0; l < g->levels; l++)
        for (int set = 0; set < g->level[l].solver.view.sets && !status; set++)
            status = register_set(state, g, l, set);
    return status;
}

/* ---- an array in cells, plane by plane ---- */

/* The ranks that share a range of z. Each plane is assembled by one of them, so that its checksum
 * covers the whole plane. */
struct slab {
    MPI_Comm comm;
    int rank, size;
    int (*part)[4]; /* of each rank: x0 x1 y0 y1 of the box that it owns, whole grid */
    int *count, *start;
};

/* The array that is being written. */
struct checkpoint_writer {
    const struct state_array *array;
    struct h5file *file;
    int dataset;
    size_t bytes; /* of a sample */
    int nx;       /* of the array's box */
    char *piece;  /* this rank's lines */
    char *rows;   /* lines of all ranks as received; `whole`: in order */
    char *whole;
    XXH3_state_t **sum; /* [components] */
    uint64_t *table;    /* [planes of the box][components] */
    uint64_t hash;      /* populations: this rank's part of the set's hash */
    struct fetch fetch; /* of populations */
};

/* This rank's part of the array's box, in the block's coordinates; may be empty. */
static struct box own_part(const struct domain *d, const struct state_array *array)
{
    return domain_part(d, array->box.lo, array->box.hi);
}

/* Is the array a set of populations? Such an array has no memory of its own. */
static bool is_set(const struct state_array *array)
{
    return array->in_cells && !array->data;
}

/* Copies between an array and a tightly packed piece of it: whole lines of this rank's part. */
static enum status copy_piece(const struct state_array *array, const struct domain *d,
                              const struct box *piece, char *packed, bool out)
{
    const struct box part = own_part(d, array);
    const size_t bytes = sample_bytes(array->sample);
    const size_t nx = (size_t)(part.hi[0] - part.lo[0]), ny = (size_t)(part.hi[1] - part.lo[1]),
                 nz = (size_t)(part.hi[2] - part.lo[2]);
    const size_t lines = (size_t)(piece->hi[1] - piece->lo[1]) * nx * bytes; /* of a plane */
    enum status status = STATUS_OK;
    assert(piece->lo[0] == part.lo[0] && piece->hi[0] == part.hi[0]);
    for (size_t k = 0; k < (size_t)array->components; k++)
        for (int z = piece->lo[2]; z < piece->hi[2] && !status; z++, packed += lines) {
            const size_t plane = k * nz + (size_t)(z - part.lo[2]);
            char *const own = (char *)array->data +
                              (plane * ny + (size_t)(piece->lo[1] - part.lo[1])) * nx * bytes;
            status = out ? solver_copy_out(array->solver, packed, own, lines)
                         : solver_copy_in(array->solver, own, packed, lines);
        }
    return status;
}

static int rows_at_once(const struct state_array *array)
{
    /* For populations never more than a piece of the solver can hold. */
    const size_t cell = is_set(array) ? view_cell_bytes(&array->solver->view)
                                      : (size_t)array->components * sample_bytes(array->sample);
    const size_t row = (size_t)(array->box.hi[0] - array->box.lo[0]) * cell;
    const size_t rows = PIECE_BYTES / row, ny = (size_t)(array->box.hi[1] - array->box.lo[1]);
    return rows < 1 ? 1 : rows > ny ? (int)ny : (int)rows;
}

/* This rank's part of lines y0 <= y < y1 of plane z of the whole grid. */
static struct box own_rows(const struct domain *d, const struct state_array *array, int z, int y0,
                           int y1)
{
    const int *const lo = array->box.lo, *const hi = array->box.hi;
    return domain_part(d, (int[]){lo[0], y0, z}, (int[]){hi[0], y1, z + 1});
}

/* This rank's piece `number`, in the order in which write_planes() asks for them. */
static bool next_rows(const void *how, int number, struct box *piece)
{
    const struct checkpoint_writer *const w = how;
    const struct domain *const d = w->array->solver->domain;
    const struct box part = own_part(d, w->array);
    const int rows = rows_at_once(w->array), low = w->array->box.lo[1], high = w->array->box.hi[1];
    const int first = (d->lo[1] + part.lo[1] - low) / rows,
              last = (d->lo[1] + part.hi[1] - 1 - low) / rows;
    const int z = part.lo[2] + number / (last - first + 1),
              y = low + (first + number % (last - first + 1)) * rows;
    if (z >= part.hi[2])
        return false;
    *piece = own_rows(d, w->array, d->lo[2] + z, y, y + rows < high ? y + rows : high);
    return true;
}

/* Returns the piece, [components][cells]; NULL when the backend failed. */
static const char *get_piece(struct checkpoint_writer *w, const struct domain *d,
                             const struct box *piece)
{
    struct box fetched;
    if (!is_set(w->array))
        return copy_piece(w->array, d, piece, w->piece, true) ? NULL : w->piece;
    const char *const populations = fetch_next(&w->fetch, &fetched);
    assert(!populations || memcmp(&fetched, piece, sizeof fetched) == 0);
    if (populations)
        w->hash += solver_piece_hash(w->array->solver, w->array->set, piece, populations);
    return populations;
}

/* Puts the lines of all ranks of the slab, [rank][component][y][x], in order, [component][y][x]. */
static const char *in_order(const struct slab *slab, const struct checkpoint_writer *w, int y0,
                            int y1)
{
    const size_t rows = (size_t)(y1 - y0), row = (size_t)w->nx * w->bytes;
    for (int r = 0; r < slab->size; r++) {
        const int *const part = slab->part[r];
        const int from = part[2] > y0 ? part[2] : y0, to = part[3] < y1 ? part[3] : y1;
        const size_t length = (size_t)(part[1] - part[0]) * w->bytes;
        const char *at = w->rows + slab->start[r];
        for (size_t k = 0; k < (size_t)w->array->components; k++)
            for (int y = from; y < to; y++, at += length)
                memcpy(w->whole + (k * rows + (size_t)(y - y0)) * row +
                           (size_t)(part[0] - w->array->box.lo[0]) * w->bytes,
                       at, length);
    }
    return w->whole;
}

/* Sends lines y0 <= y < y1 of plane z (of the whole grid) to the rank that assembles the plane,
 * which writes them. */
static enum status write_rows(const struct domain *d, const struct slab *slab,
                              struct checkpoint_writer *w, int z, int y0, int y1)
{
    const struct state_array *const array = w->array;
    const int root = (z - d->lo[2]) % slab->size;
    const size_t components = (size_t)array->components, rows = (size_t)(y1 - y0);
    enum status status = STATUS_OK;
    const struct box piece = own_rows(d, array, z, y0, y1);
    int total = 0;

    for (int r = 0; r < slab->size; r++) {
        const int *const part = slab->part[r];
        const int from = part[2] > y0 ? part[2] : y0, to = part[3] < y1 ? part[3] : y1;
        slab->start[r] = total;
        slab->count[r] =
            to > from
                ? (int)((size_t)(to - from) * (size_t)(part[1] - part[0]) * components * w->bytes)
                : 0;
        total += slab->count[r];
    }
    const char *mine = w->piece;
    if (slab->count[slab->rank] > 0) {
        mine = get_piece(w, d, &piece);
        if (!mine) {
            status = STATUS_MACHINE; /* the others still wait for the message */
            memset(w->piece, 0, (size_t)slab->count[slab->rank]);
            mine = w->piece;
        }
    }
    const char *whole = mine;
    if (slab->size > 1) {
        MPI_Gatherv(mine, slab->count[slab->rank], MPI_BYTE, w->rows, slab->count, slab->start,
                    MPI_BYTE, root, slab->comm);
        if (slab->rank != root)
            return status;
        whole = in_order(slab, w, y0, y1);
    }
    const size_t block = rows * (size_t)w->nx * w->bytes;
    for (size_t k = 0; k < components; k++)
        XXH3_64bits_update(w->sum[k], whole + k * block, block);
    const int64_t at[4] = {z - array->box.lo[2], 0, y0 - array->box.lo[1], 0};
    const int64_t count[4] = {1, array->components, y1 - y0, w->nx};
    if (h5file_write(w->file, w->dataset, at, count, whole))
        status = STATUS_MACHINE;
    return status;
}

/* Writes all planes of this rank's slab. */
static enum status write_planes(const struct domain *d, const struct slab *slab,
                                struct checkpoint_writer *w)
{
    const struct box *const box = &w->array->box;
    const size_t components = (size_t)w->array->components;
    const int top = d->lo[2] + d->view.n[2];
    const int z0 = box->lo[2] > d->lo[2] ? box->lo[2] : d->lo[2],
              z1 = box->hi[2] < top ? box->hi[2] : top;
    const int rows = rows_at_once(w->array);
    enum status status = STATUS_OK;
    if (is_set(w->array))
        fetch_start_set(&w->fetch, w->array->solver, KERNEL_get, w->array->set, NULL, next_rows, w);
    for (int z = z0; z < z1; z++) {
        for (size_t k = 0; k < components; k++)
            XXH3_64bits_reset(w->sum[k]);
        for (int y = box->lo[1]; y < box->hi[1]; y += rows) {
            const int end = y + rows < box->hi[1] ? y + rows : box->hi[1];
            if (write_rows(d, slab, w, z, y, end))
                status = STATUS_MACHINE;
            watchdog_progress();
        }
        if (slab->rank == (z - d->lo[2]) % slab->size)
            for (size_t k = 0; k < components; k++)
                w->table[(size_t)(z - box->lo[2]) * components + k] = XXH3_64bits_digest(w->sum[k]);
    }
    if (is_set(w->array) && fetch_end(&w->fetch))
        status = STATUS_MACHINE;
    return status;
}

static enum status slab_create(struct slab *slab, const struct domain *d,
                               const struct state_array *array)
{
    const struct box part = own_part(d, array);
    const int mine[4] = {d->lo[0] + part.lo[0], d->lo[0] + part.hi[0], d->lo[1] + part.lo[1],
                         d->lo[1] + part.hi[1]};
    MPI_Comm_split(d->comm, d->lo[2], d->rank, &slab->comm);
    MPI_Comm_rank(slab->comm, &slab->rank);
    MPI_Comm_size(slab->comm, &slab->size);
    const size_t size = (size_t)slab->size;
    slab->part = calloc(size, sizeof *slab->part);
    slab->count = calloc(size, sizeof *slab->count);
    slab->start = calloc(size, sizeof *slab->start);
    const enum status status = slab->part && slab->count && slab->start
                                   ? STATUS_OK
                                   : fail_machine("out of memory for a checkpoint");
    if (status_agree(d->comm, status))
        return STATUS_MACHINE;
    MPI_Allgather(mine, 4, MPI_INT, slab->part, 4, MPI_INT, slab->comm);
    return STATUS_OK;
}

static void slab_destroy(struct slab *slab)
{
    MPI_Comm_free(&slab->comm);
    free(slab->part);
    free(slab->count);
    free(slab->start);
}

static enum status writer_create(struct checkpoint_writer *w, const struct domain *d, bool alone)
{
    const struct state_array *const a = w->array;
    const size_t components = (size_t)a->components, planes = (size_t)(a->box.hi[2] - a->box.lo[2]);
    const size_t piece = (size_t)rows_at_once(a) * (size_t)w->nx * components * w->bytes;
    bool memory = true;
    w->piece = malloc(piece);
    w->rows = alone ? NULL : malloc(piece);
    w->whole = alone ? NULL : malloc(piece);
    w->table = calloc(planes * components, sizeof *w->table);
    w->sum = calloc(components, sizeof *w->sum);
    for (size_t k = 0; w->sum && k < components; k++) {
        w->sum[k] = XXH3_createState();
        memory &= w->sum[k] != NULL;
    }
    memory &= w->piece && w->table && w->sum && (alone || (w->rows && w->whole));
    return status_agree(d->comm,
                        memory ? STATUS_OK : fail_machine("out of memory for a checkpoint"));
}

static void writer_destroy(struct checkpoint_writer *w)
{
    for (int k = 0; w->sum && k < w->array->components; k++)
        XXH3_freeState(w->sum[k]);
    free(w->sum);
    free(w->table);
    free(w->whole);
    free(w->rows);
    free(w->piece);
}

static void dataset_name(char *name, size_t size, const char *group, const char *array)
{
    snprintf(name, size, "/%s/%s", group, array);
}

/* Writes data and checksums of an array in cells; for populations also computes this rank's part of
 * the set's hash. */
static enum status write_cells(struct h5file *file, const struct domain *d,
                               const struct state_array *array, int dataset, int table,
                               uint64_t *hash)
{
    struct slab slab = {0};
    struct checkpoint_writer w = {.array = array, .file = file, .dataset = dataset};
    w.bytes = sample_bytes(array->sample);
    w.nx = array->box.hi[0] - array->box.lo[0];
    const int planes = array->box.hi[2] - array->box.lo[2];

    enum status status = slab_create(&slab, d, array);
    if (!status)
        status = writer_create(&w, d, slab.size == 1);
    if (!status) {
        status = write_planes(d, &slab, &w);
        *hash = w.hash;
        const int count = planes * array->components; /* each is set on one rank, 0 on the others */
        MPI_Reduce(d->rank == 0 ? MPI_IN_PLACE : w.table, w.table, count, MPI_UINT64_T, MPI_BOR, 0,
                   d->comm);
        const int64_t start[2] = {0, 0}, size[2] = {planes, array->components};
        if (d->rank == 0 && h5file_write(file, table, start, size, w.table))
            status = STATUS_MACHINE;
    }
    writer_destroy(&w);
    slab_destroy(&slab);
    return status_agree(d->comm, status);
}

/* ---- the whole file ---- */

/* The sets of populations and the residual of run.stop, on each level, and the averages and
 * residuals of the case. */
_Static_assert((SETS + 1) * LEVELS <= CASE_ARRAYS && (int)CASE_ARRAYS <= (int)SEAL_SPANS,
               "the seal has room for every array in cells");

static enum status add_array(struct h5file *file, const struct state_array *array, int *datasets)
{
    char name[STATE_NAME + 16];
    enum status status;
    if (!array->in_cells) {
        const int64_t size = array->components;
        dataset_name(name, sizeof name, "numbers", array->name);
        status = h5file_add(file, name, array->sample, 1, &size);
        h5file_text(file, name, "definition", array->definition);
        *datasets += 1;
        return status;
    }
    int64_t size[4] = {0, array->components, 0, 0};
    int32_t lo[3];
    for (int a = 0; a < 3; a++) {
        lo[a] = array->box.lo[a];
        size[a == 0 ? 3 : a == 1 ? 2 : 0] = array->box.hi[a] - array->box.lo[a];
    }
    dataset_name(name, sizeof name, "cells", array->name);
    status = h5file_add(file, name, array->sample, 4, size);
    if (status)
        return status;
    h5file_apart(file, *datasets); /* it has its own checksums */
    h5file_text(file, name, "definition", array->definition);
    h5file_numbers(file, name, "first_cell", SAMPLE_int32, 3, lo);
    dataset_name(name, sizeof name, "checksums", array->name);
    *datasets += 2;
    return h5file_add(file, name, SAMPLE_uint64, 2, size);
}

/* "cells populations\nnumbers run/ended\n", allocated. */
static char *array_list(const struct state *state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    for (int i = 0; i < state->count; i++)
        fprintf(to, "%s %s\n", state->array[i].in_cells ? "cells" : "numbers",
                state->array[i].name);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

static void write_hash(struct h5file *file, const char *object, const char *name, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    h5file_word(file, object, name, text);
}

/* The hash of a set, of which each rank has a part. The flow's hash is the state's, if there is
 * one level. Returns it for the flow, else 0. */
static uint64_t write_set_hash(struct h5file *file, MPI_Comm comm, const struct state_array *array,
                               int levels, uint64_t hash)
{
    char name[STATE_NAME + 16];
    MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UINT64_T, MPI_SUM, comm);
    dataset_name(name, sizeof name, "cells", array->name);
    if (array->set != SET_flow || levels > 1)
        write_hash(file, name, "hash", hash);
    else
        write_hash(file, "/", "state_hash", hash);
    return array->set == SET_flow ? hash : 0;
}

static enum status fill(struct h5file *file, struct grid *g, const struct flow_case *c,
                        const struct state *state)
{
    const struct solver *const s = &g->level[0].solver;
    const struct domain *const d = s->domain;
    const int32_t levels = g->levels;
    uint64_t all = 0; /* the state's hash */
    int datasets = 0;
    char *const list = array_list(state);
    enum status status = status_agree(d->comm, list ? STATUS_OK : fail_machine("out of memory"));
    if (!status) {
        const double time = (double)s->step * c->units.dt, scale = (double)HALF_SCALE;
        const int32_t cells[3] = {d->cells[0], d->cells[1], d->cells[2]};
        h5file_numbers(file, "/", "step", SAMPLE_int64, 1, &s->step);
        h5file_numbers(file, "/", "time", SAMPLE_float64, 1, &time);
        h5file_numbers(file, "/", "grid", SAMPLE_int32, 3, cells);
        if (levels > 1)
            h5file_numbers(file, "/", "levels", SAMPLE_int32, 1, &levels);
        h5file_word(file, "/", "storage", precision_name(s->backend->storage));
        if (s->backend->storage == PRECISION_fp16)
            h5file_numbers(file, "/", "scale", SAMPLE_float64, 1, &scale);
        h5file_text(file, "/", "arrays", list);
        h5file_group(file, "/provenance");
        output_provenance(file, c, s);
    }
    for (int i = 0; i < state->count && !status; i++)
        status = add_array(file, &state->array[i], &datasets);
    int dataset = 0;
    for (int i = 0; i < state->count && !status; i++) {
        const struct state_array *const array = &state->array[i];
        const int64_t zero = 0, count = array->components;
        if (array->in_cells) {
            uint64_t hash = 0;
            status = write_cells(file, array->solver->domain, array, dataset, dataset + 1, &hash);
            if (is_set(array))
                all += write_set_hash(file, d->comm, array, levels, hash);
            dataset += 2;
        } else {
            if (d->rank == 0)
                status = h5file_write(file, dataset, &zero, &count, array->data);
            status = status_agree(d->comm, status); /* all ranks go on to the next one, or none */
            dataset++;
        }
    }
    if (levels > 1)
        write_hash(file, "/", "state_hash", all);
    free(list);
    return status_agree(d->comm, status);
}

enum status checkpoint_write(struct grid *g, const struct flow_case *c, const struct state *state,
                             const char *path, struct checkpoint_times *times)
{
    MPI_Comm const comm = g->level[0].solver.domain->comm;
    const double start = MPI_Wtime();
    char reason[CHECKPOINT_REASON];
    struct checkpoint written;
    struct h5file *file;
    enum status status = h5file_create_sealed(&file, comm, path, "checkpoint", CHECKPOINT_FORMAT);
    if (status)
        return status;
    const char *temporary = fill(file, g, c, state) ? NULL : h5file_finish(file);
    times->write = MPI_Wtime() - start;
    bool whole = temporary != NULL;
    if (temporary) {
        whole = checkpoint_open(&written, comm, temporary, reason);
        if (!whole && g->level[0].solver.domain->rank == 0)
            fail_machine("%s was written, but %s", path, reason);
        checkpoint_close(&written);
    }
    status = h5file_close(file, whole);
    times->verify = MPI_Wtime() - start - times->write;
    MPI_Bcast(times, 2, MPI_DOUBLE, 0, comm);
    return status;
}

/* ---- restoring ---- */

static const struct checkpoint_array *find(const struct checkpoint *k, const char *name)
{
    for (int i = 0; i < k->count; i++)
        if (strcmp(k->array[i].name, name) == 0)
            return &k->array[i];
    return NULL;
}

/* Has the file's array of this name the same layout and definition? */
static bool same_array(const struct checkpoint_array *found, const struct state_array *array)
{
    bool same = found->in_cells == array->in_cells && found->components == array->components &&
                found->sample == (int)array->sample &&
                strcmp(found->definition, array->definition) == 0;
    for (int a = 0; a < 3 && array->in_cells; a++)
        same = same && found->lo[a] == array->box.lo[a] &&
               found->lo[a] + found->n[a] == array->box.hi[a];
    return same;
}

/* Reads lines of one plane, [components][y][x], from the file. */
static int read_rows(int fd, const struct checkpoint_array *from, const struct domain *d,
                     const struct box *piece, char *to)
{
    const int64_t bytes = (int64_t)sample_bytes((enum sample)from->sample);
    const int64_t x = d->lo[0] + piece->lo[0] - from->lo[0],
                  y = d->lo[1] + piece->lo[1] - from->lo[1],
                  z = d->lo[2] + piece->lo[2] - from->lo[2];
    const int nx = piece->hi[0] - piece->lo[0], ny = piece->hi[1] - piece->lo[1];
    const bool whole = nx == from->n[0];
    const size_t length = (size_t)nx * (size_t)bytes * (whole ? (size_t)ny : 1);
    for (int k = 0; k < from->components; k++)
        for (int row = 0; row < (whole ? 1 : ny); row++, to += length) {
            const int64_t at = ((z * from->components + k) * from->n[1] + y + row) * from->n[0] + x;
            if (file_read_at(fd, to, length, from->offset + at * bytes) != 0)
                return errno;
        }
    return 0;
}

static enum status load_cells(int fd, const struct checkpoint_array *from, const struct domain *d,
                              struct state_array *array, const char *path)
{
    const struct box part = own_part(d, array);
    const int rows = rows_at_once(array);
    char *const room = is_set(array)
                           ? solver_host(array->solver)
                           : malloc((size_t)rows * (size_t)from->n[0] * (size_t)from->components *
                                    sample_bytes(array->sample));
    enum status status = room ? STATUS_OK : fail_machine("out of memory to read %s", path);
    if (part.lo[0] == part.hi[0])
        goto free_room;
    for (int z = part.lo[2]; z < part.hi[2] && !status; z++)
        for (int y = part.lo[1]; y < part.hi[1] && !status; y += rows) {
            struct box piece = part;
            piece.lo[2] = z;
            piece.hi[2] = z + 1;
            piece.lo[1] = y;
            piece.hi[1] = y + rows < part.hi[1] ? y + rows : part.hi[1];
            const int failed = read_rows(fd, from, d, &piece, room);
            if (failed)
                status = fail_machine("cannot read %s: %s", path, strerror(failed));
            else if (is_set(array))
                status = solver_put(array->solver, array->set, &piece);
            else
                status = copy_piece(array, d, &piece, room, false);
            watchdog_progress();
        }
free_room:
    if (!is_set(array))
        free(room);
    return status;
}

static enum status load_numbers(int fd, const struct checkpoint_array *from,
                                struct state_array *array, const char *path)
{
    const size_t bytes = (size_t)from->components * sample_bytes(array->sample);
    if (file_read_at(fd, array->data, bytes, from->offset) != 0)
        return fail_machine("cannot read %s: %s", path, strerror(errno));
    return STATUS_OK;
}

/* Has every set that was loaded the hash that was written? Collective. */
static enum status verify_hashes(const struct checkpoint *k, const char *path,
                                 const struct state *state, const struct domain *d)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < state->count && !status; i++) {
        const struct state_array *const array = &state->array[i];
        const struct checkpoint_array *const from = find(k, array->name);
        uint64_t hash, written = k->hash;
        if (!is_set(array))
            continue;
        if ((array->set != SET_flow || k->levels > 1) && (!from || !same_array(from, array)))
            continue;
        if (array->set != SET_flow || k->levels > 1)
            written = from->hash;
        status = solver_hash(array->solver, array->set, &hash);
        if (!status && hash != written && d->rank == 0)
            status = fail_machine("%s was read, but the hash of %s is %016" PRIx64
                                  ", not %016" PRIx64 " as written",
                                  path, array->name, hash, written);
        status = status_agree(d->comm, status);
    }
    return status;
}

enum status checkpoint_load(const struct checkpoint *k, const char *path, struct grid *g,
                            struct state *state)
{
    const struct domain *const d = g->level[0].solver.domain;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum status status =
        fd < 0 ? fail_machine("cannot open %s: %s", path, strerror(errno)) : STATUS_OK;
    for (int l = 0; l < g->levels; l++) /* a level makes two steps in one of the level before */
        g->level[l].solver.step = k->step << l;
    for (int i = 0; i < state->count && !status; i++) {
        struct state_array *const array = &state->array[i];
        const struct checkpoint_array *const from = find(k, array->name);
        if (!from || !same_array(from, array)) {
            if (array->in_cells && !array->data) { /* populations */
                status = fail_user("cannot restart from %s: its %s are not of the cells that the "
                                   "case has: another version of tagflow made it (go on with that "
                                   "version, or start from the beginning with --overwrite)",
                                   path, array->name);
                continue;
            }
            if (from || !array->optional)
                warn("state_new", "%s starts anew: %s", array->name,
                     from ? "the checkpoint holds another one of that name"
                          : "the checkpoint does not hold it");
            continue;
        }
        status = array->in_cells ? load_cells(fd, from, array->solver->domain, array, path)
                                 : load_numbers(fd, from, array, path);
    }
    if (fd >= 0)
        close(fd);
    grid_resume(g);
    status = status_agree(d->comm, status);
    return status ? status : verify_hashes(k, path, state, d);
}
