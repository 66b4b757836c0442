/* Snapshots and averages of all levels; see levels_file.h. */
#include "run/levels_file.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/box.h"
#include "base/message.h"
#include "io/vtkamr.h"
#include "io/vtkhdf.h"

_Static_assert((int)VTKAMR_LEVELS >= (int)LEVELS, "a file has room for all levels");

enum { ROOM = 1 << 16 /* least cells that are packed at a time */ };

struct writer {
    const struct levels_file *content;
    struct cover cover;
    struct vtkamr amr;    /* of all levels */
    struct box *boxes;    /* of its levels, one level after the other */
    struct vtkhdf *image; /* of one level */
    int level;            /* of the image; CASE_LEVELS_all: no image */
    int at, after;        /* at .. after: arrays of the prepared quantity */
    void *out;            /* packed values in the file's type */
    size_t room;          /* for the values of so many cells */
    int box;              /* where the search for the box of a piece begins */
};

void levels_array_put(const struct levels_array *a, void *out, size_t place, double value)
{
    double shown = a->add + value;
    if (a->divide != 0)
        shown /= a->divide;
    for (const double *factor = a->scale; *factor != 0; factor++)
        shown *= *factor;
    if (a->sample == SAMPLE_float64)
        ((double *)out)[place] = shown;
    else if (a->sample == SAMPLE_float32)
        ((float *)out)[place] = (float)shown;
    else
        ((uint8_t *)out)[place] = (uint8_t)value;
}

/* The values of a piece of a level. */
struct piece {
    const struct domain *d;
    struct box box; /* global coordinates */
    const double *values;
    int components;
};

static const double *value_at(const struct piece *p, int x, int y, int z)
{
    const struct box *const b = &p->box;
    const size_t nx = (size_t)(b->hi[0] - b->lo[0]), ny = (size_t)(b->hi[1] - b->lo[1]);
    const size_t cell =
        ((size_t)(z - b->lo[2]) * ny + (size_t)(y - b->lo[1])) * nx + (size_t)(x - b->lo[0]);
    return p->values + cell * (size_t)p->components;
}

/* Readers want all levels halved along all axes. So files have the one cell of a level along a flat
 * axis 2^level times. How often cells of `level` are to be halved along each axis to those that a
 * file has of level `of`. */
static void shifts(const struct writer *w, int level, int of, int shift[3])
{
    for (int a = 0; a < 3; a++)
        shift[a] = of - refined_halved(&w->cover.grid->refined, level, a);
}

/* A box of cells of a level, in cells of the file. */
static struct box in_file(const struct box *cells, const int shift[3])
{
    struct box b;
    for (int a = 0; a < 3; a++) {
        b.lo[a] = cells->lo[a] << shift[a];
        b.hi[a] = cells->hi[a] << shift[a];
    }
    return b;
}

/* Packs an array's values at the points lo <= k < hi of a grid whose point k is cell
 * (first + stride k) / 2^shift of the piece's level, along each axis. */
static void pack(const struct writer *w, const struct levels_array *a, const struct piece *p,
                 const struct box *points, const int first[3], int stride, const int shift[3])
{
    size_t place = 0;
    for (int k = points->lo[2]; k < points->hi[2]; k++)
        for (int j = points->lo[1]; j < points->hi[1]; j++)
            for (int i = points->lo[0]; i < points->hi[0]; i++) {
                const double *const value = value_at(p, (first[0] + i * stride) >> shift[0],
                                                     (first[1] + j * stride) >> shift[1],
                                                     (first[2] + k * stride) >> shift[2]) +
                                            a->first;
                for (int n = 0; n < a->components; n++)
                    levels_array_put(a, w->out, place++, value[n]);
            }
}

/* Points of the image among the first `cells` cells of its level along an axis. */
static int points_in(const struct writer *w, int cells)
{
    return cells / w->content->stride + (cells % w->content->stride != 0);
}

/* Writes the points of the image in cells of its own or a coarser level. */
static enum status write_points(struct writer *w, int array, const struct piece *p, int level,
                                const struct box *part)
{
    struct box points, some;
    int first[3], count[3], shift[3];
    enum status status = STATUS_OK;
    shifts(w, level, w->level, shift);
    const struct box cells = in_file(part, shift);
    for (int a = 0; a < 3; a++) {
        first[a] = w->cover.lo[a] << w->level;
        points.lo[a] = points_in(w, cells.lo[a] - first[a]);
        points.hi[a] = points_in(w, cells.hi[a] - first[a]);
    }
    for (int n = 0; !status && box_piece(&points, w->room, n, &some); n++) {
        for (int a = 0; a < 3; a++)
            count[a] = some.hi[a] - some.lo[a];
        pack(w, &w->content->array[array], p, &some, first, w->content->stride, shift);
        status = vtkhdf_write(w->image, array, some.lo, count, w->out);
    }
    return status;
}

/* Is a cell of the block, in global coordinates, of its level and not covered? */
static bool is_own(const struct domain *d, int x, int y, int z)
{
    const size_t cell = view_index(&d->view, x - d->lo[0], y - d->lo[1], z - d->lo[2]);
    return (d->tags[cell] & TAG_ROW) != TAG_ABSENT;
}

/* Writes the cells of a coarser level that no finer one covers. */
static enum status write_coarser(struct writer *w, int array, const struct piece *p, int level,
                                 const struct box *part)
{
    enum status status = STATUS_OK;
    for (int z = part->lo[2]; z < part->hi[2]; z++)
        for (int y = part->lo[1]; y < part->hi[1]; y++)
            for (int x = part->lo[0], end; x < part->hi[0] && !status; x = end) {
                const bool own = is_own(p->d, x, y, z);
                for (end = x + 1; end < part->hi[0] && is_own(p->d, end, y, z) == own;)
                    end++;
                const struct box run = {{x, y, z}, {end, y + 1, z + 1}};
                if (own)
                    status = write_points(w, array, p, level, &run);
            }
    return status;
}

/* Writes the part of a piece that is in a box of the level to the file of all levels. */
static enum status write_cells(struct writer *w, int array, const struct piece *p, int level,
                               int box, const struct box *part)
{
    static const int zero[3] = {0, 0, 0};
    enum status status = STATUS_OK;
    struct box some;
    int shift[3];
    shifts(w, level, level, shift);
    const struct box cells = in_file(part, shift);
    for (int n = 0; !status && box_piece(&cells, w->room, n, &some); n++) {
        pack(w, &w->content->array[array], p, &some, zero, 1, shift);
        status = vtkamr_write(&w->amr, array, level, box, &some, w->out);
    }
    return status;
}

/* Writes the part of a piece that is in a box of the level, of all arrays of the quantity. */
static enum status write_in_box(struct writer *w, int level, const struct piece *p, int box,
                                const struct box *part)
{
    enum status status = STATUS_OK;
    for (int k = w->at; k < w->after && !status; k++)
        status = w->level < 0
                     ? write_cells(w, k, p, level, box, part)
                     : (level < w->level ? write_coarser : write_points)(w, k, p, level, part);
    return status;
}

static enum status write_piece(void *to, int level, const struct box *piece, const double *values)
{
    struct writer *const w = to;
    const struct domain *const d = &w->cover.grid->level[level].domain;
    const struct boxes *const boxes = &w->cover.level[level].boxes;
    const struct piece p = {.d = d,
                            .box = box_moved(piece, d->lo, 1),
                            .values = values,
                            .components = w->cover.of->components};
    enum status status = STATUS_OK;
    size_t left = box_cells(piece); /* cells that are not yet found in a box */
    /* Most pieces are in the box of the piece before, or in the next one. */
    for (int n = 0, first = w->box; n < boxes->count && left > 0 && !status; n++) {
        const int b = (first + n) % boxes->count;
        const struct box part = box_common(&p.box, &boxes->box[b]);
        if (box_is_empty(&part))
            continue;
        w->box = b;
        left -= box_cells(&part);
        status = write_in_box(w, level, &p, b, &part);
    }
    return status;
}

/* Writes all arrays, quantity by quantity. */
static enum status write_arrays(struct writer *w)
{
    MPI_Comm const comm = w->cover.grid->level[0].domain.comm;
    const struct levels_array *const array = w->content->array;
    const int arrays = w->content->arrays, last = w->cover.levels - 1;
    /* No level of the region reaches the image's: all its cells are copies. */
    const int finest = w->level >= 0 && w->level < last ? w->level : last;
    enum status status = STATUS_OK;
    for (w->at = 0; w->at < arrays && !status; w->at = w->after) {
        const struct cover_quantity *const q = array[w->at].of;
        for (w->after = w->at; w->after < arrays && array[w->after].of == q;)
            w->after++;
        status = cover_prepare(&w->cover, q, w->level >= 0 ? finest : 0);
        for (int l = 0; l <= finest && !status; l++) {
            w->box = 0;
            status = cover_each(&w->cover, l, write_piece, w);
        }
        status = status_agree(comm, status);
    }
    return status;
}

/* The boxes of the levels in cells of the file. Collective. */
static enum status make_boxes(struct writer *w, struct vtkamr_level level[LEVELS], double dx)
{
    int count = 0;
    for (int l = 0; l < w->cover.levels; l++)
        count += w->cover.level[l].boxes.count;
    struct box *to = w->boxes = malloc((size_t)count * sizeof *w->boxes);
    const enum status status = to ? STATUS_OK : fail_machine("out of memory for %d boxes", count);
    for (int l = 0; l < w->cover.levels && to; l++) {
        const struct boxes *const boxes = &w->cover.level[l].boxes;
        int shift[3];
        shifts(w, l, l, shift);
        level[l] = (struct vtkamr_level){ldexp(dx, -l), boxes->count, to};
        for (int b = 0; b < boxes->count; b++)
            *to++ = in_file(&boxes->box[b], shift);
    }
    return status_agree(w->cover.grid->level[0].domain.comm, status);
}

/* Starts the file, without arrays. Collective. */
static enum status start(struct writer *w, struct h5file **out, const char *path, double dx)
{
    MPI_Comm const comm = w->cover.grid->level[0].domain.comm;
    static const double zero[3] = {0, 0, 0};
    struct vtkamr_level level[LEVELS];
    enum status status;
    if (w->level >= 0) {
        const double width = ldexp(dx, -w->level), distance = width * w->content->stride;
        double origin[3];
        int points[3];
        for (int a = 0; a < 3; a++) {
            points[a] = points_in(w, (w->cover.hi[a] - w->cover.lo[a]) << w->level);
            origin[a] = ((w->cover.lo[a] << w->level) + 0.5) * width;
        }
        status = vtkhdf_create(&w->image, comm, path, points, origin,
                               (const double[]){distance, distance, distance});
        if (!status)
            *out = vtkhdf_file(w->image);
        return status;
    }
    status = make_boxes(w, level, dx);
    if (status)
        return status;
    status = vtkamr_create(&w->amr, comm, path, zero, w->cover.levels, level);
    *out = w->amr.file;
    return status;
}

static enum status add_arrays(struct writer *w)
{
    enum status status = STATUS_OK;
    for (int k = 0; k < w->content->arrays && !status; k++) {
        const struct levels_array *const a = &w->content->array[k];
        status = w->image ? vtkhdf_add(w->image, a->name, a->components, a->sample)
                          : vtkamr_add(&w->amr, a->name, a->components, a->sample);
    }
    return status;
}

static enum status allocate(struct writer *w)
{
    size_t components = 1;
    w->room = ROOM;
    for (int l = 0; l < w->cover.levels; l++)
        if (w->cover.grid->level[l].solver.piece_cells > w->room)
            w->room = w->cover.grid->level[l].solver.piece_cells;
    for (int k = 0; k < w->content->arrays; k++)
        if ((size_t)w->content->array[k].components > components)
            components = (size_t)w->content->array[k].components;
    /* At least a line of the image is packed at a time. */
    const size_t line =
        w->level < 0 ? 0 : (size_t)points_in(w, (w->cover.hi[0] - w->cover.lo[0]) << w->level);
    w->room = line > w->room ? line : w->room;
    w->out = malloc(w->room * components * sizeof(double));
    return status_agree(w->cover.grid->level[0].domain.comm,
                        w->out ? STATUS_OK
                               : fail_machine("out of memory for a piece of a snapshot"));
}

enum status levels_file_write(struct h5file **out, const struct output_entry *e,
                              const struct levels_file *content)
{
    struct writer w = {.content = content, .level = e->grid->levels > 1 ? content->levels : 0};
    char path[FOLDER_PATH];
    *out = NULL;
    enum status status = output_path(e, path);
    if (!status)
        status = cover_create(&w.cover, e->grid, content->region, content->stride);
    if (status)
        return status;
    status = allocate(&w);
    if (!status)
        status = start(&w, out, path, e->c->units.dx);
    if (!status && content->provenance_first)
        output_provenance(*out, e->c, e->solver);
    if (!status)
        status = add_arrays(&w);
    if (!status)
        status = write_arrays(&w);
    if (!status && !content->provenance_first)
        output_provenance(*out, e->c, e->solver);
    free(w.out);
    cover_destroy(&w.cover);
    vtkamr_free(&w.amr);
    free(w.boxes);
    if (w.image)
        vtkhdf_release(w.image);
    return status;
}
