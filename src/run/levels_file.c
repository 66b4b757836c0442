/* Files of results on several levels; see levels_file.h. */
#include "run/levels_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "io/vtkamr.h"
#include "io/vtkhdf.h"

_Static_assert((int)VTKAMR_LEVELS >= (int)LEVELS, "a file has room for all levels");

enum { COPIES = 1 << 16 /* cells that are copied at a time, about */ };

struct writer {
    struct cover cover;
    struct vtkamr amr;     /* of all levels */
    struct vtkhdf *image;  /* of one level */
    int level;             /* of the image; CASE_LEVELS_all: no image */
    int arrays, at, after; /* at .. after: arrays of the prepared quantity */
    const struct levels_array *array;
    void *out; /* values of a piece in the file's type */
    int box;   /* where the search for the box of a piece begins */
};

/* Stores a value of the quantity in the file's type and units at out[place]. */
static void array_put(const struct levels_array *a, void *out, size_t place, double value)
{
    const double shown = (a->add + value) / a->divide * a->scale[0] * a->scale[1];
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
    int lo[3], hi[3]; /* global coordinates */
    const double *values;
};

static const double *value_at(const struct writer *w, const struct piece *p, int x, int y, int z)
{
    const size_t nx = (size_t)(p->hi[0] - p->lo[0]), ny = (size_t)(p->hi[1] - p->lo[1]);
    const size_t cell =
        ((size_t)(z - p->lo[2]) * ny + (size_t)(y - p->lo[1])) * nx + (size_t)(x - p->lo[0]);
    return p->values + cell * (size_t)w->array[w->at].of->components;
}

/* The part of a piece that is in a box of the level; false: none. */
static bool part_of(const struct piece *p, const struct box *box, struct box *part)
{
    bool any = true;
    for (int a = 0; a < 3; a++) {
        part->lo[a] = p->lo[a] > box->lo[a] ? p->lo[a] : box->lo[a];
        part->hi[a] = p->hi[a] < box->hi[a] ? p->hi[a] : box->hi[a];
        any = any && part->lo[a] < part->hi[a];
    }
    return any;
}

/* Packs an array's values of a part of a piece. */
static void pack(const struct writer *w, const struct levels_array *a, const struct piece *p,
                 const struct box *part)
{
    size_t place = 0;
    for (int z = part->lo[2]; z < part->hi[2]; z++)
        for (int y = part->lo[1]; y < part->hi[1]; y++) {
            const double *value = value_at(w, p, part->lo[0], y, z) + a->first;
            for (int x = part->lo[0]; x < part->hi[0]; x++, value += a->of->components)
                for (int k = 0; k < a->components; k++)
                    array_put(a, w->out, place++, value[k]);
        }
}

/* Writes cells of the image's own level. */
static enum status write_part(struct writer *w, int array, const struct box *part)
{
    int start[3], count[3];
    for (int a = 0; a < 3; a++) {
        start[a] = part->lo[a] - (w->cover.lo[a] << w->level);
        count[a] = part->hi[a] - part->lo[a];
    }
    return vtkhdf_write(w->image, array, start, count, w->out);
}

/* Writes cells x0 <= x < x1 of a coarser level, each into all cells of the image that it covers. */
static enum status write_copies(struct writer *w, int array, const struct piece *p, int level,
                                int x0, int x1, int y, int z)
{
    const struct levels_array *const a = &w->array[array];
    const int times = 1 << (w->level - level), shift = w->level - level;
    const int most = COPIES / times / times > 1 ? COPIES / times / times : 1;
    enum status status = STATUS_OK;
    for (int x = x0; x < x1 && !status; x += most) {
        const int cells = x1 - x < most ? x1 - x : most;
        const double *const values = value_at(w, p, x, y, z) + a->first;
        size_t place = 0;
        for (int row = 0; row < times; row++)
            for (int i = 0; i < cells * times; i++)
                for (int k = 0; k < a->components; k++)
                    array_put(a, w->out, place++, values[(i >> shift) * a->of->components + k]);
        const int count[3] = {cells * times, times, 1};
        int start[3] = {(x << shift) - (w->cover.lo[0] << w->level),
                        (y << shift) - (w->cover.lo[1] << w->level),
                        (z << shift) - (w->cover.lo[2] << w->level)};
        for (int copy = 0; copy < times && !status; copy++, start[2]++)
            status = vtkhdf_write(w->image, array, start, count, w->out);
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
                if (own)
                    status = write_copies(w, array, p, level, x, end, y, z);
            }
    return status;
}

/* Writes the part of a piece that is in a box of the level, of all arrays of the quantity. */
static enum status write_in_box(struct writer *w, int level, const struct piece *p, int box,
                                const struct box *part)
{
    enum status status = STATUS_OK;
    for (int k = w->at; k < w->after && !status; k++) {
        if (w->level >= 0 && level < w->level) {
            status = write_coarser(w, k, p, level, part);
            continue;
        }
        pack(w, &w->array[k], p, part);
        status = w->level >= 0 ? write_part(w, k, part)
                               : vtkamr_write(&w->amr, k, level, box, part, w->out);
    }
    return status;
}

static enum status write_piece(void *to, int level, const struct box *piece, const double *values)
{
    struct writer *const w = to;
    const struct domain *const d = &w->cover.grid->level[level].domain;
    const struct boxes *const boxes = &w->cover.level[level].boxes;
    struct piece p = {.d = d, .values = values};
    enum status status = STATUS_OK;
    size_t left = box_cells(piece); /* cells that are not yet found in a box */
    struct box part;
    for (int a = 0; a < 3; a++) {
        p.lo[a] = d->lo[a] + piece->lo[a];
        p.hi[a] = d->lo[a] + piece->hi[a];
    }
    /* Most pieces are in the box of the piece before, or in the next one. */
    for (int n = 0, first = w->box; n < boxes->count && left > 0 && !status; n++) {
        const int b = (first + n) % boxes->count;
        if (!part_of(&p, &boxes->box[b], &part))
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
    const int last = w->cover.levels - 1;
    /* No level of the region reaches the image's: all its cells are copies. */
    const int finest = w->level >= 0 && w->level < last ? w->level : last;
    enum status status = STATUS_OK;
    for (w->at = 0; w->at < w->arrays && !status; w->at = w->after) {
        const struct cover_quantity *const q = w->array[w->at].of;
        for (w->after = w->at; w->after < w->arrays && w->array[w->after].of == q;)
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

/* Starts the file and its arrays, without data. Collective. */
static enum status start(struct writer *w, struct h5file **out, const char *path, double dx)
{
    MPI_Comm const comm = w->cover.grid->level[0].domain.comm;
    static const double zero[3] = {0, 0, 0};
    struct vtkamr_level level[LEVELS];
    double width = dx;
    enum status status;
    if (w->level >= 0) {
        double origin[3], spacing[3];
        int cells[3];
        for (int l = 0; l < w->level; l++)
            width /= 2;
        for (int a = 0; a < 3; a++) {
            spacing[a] = width;
            cells[a] = (w->cover.hi[a] - w->cover.lo[a]) << w->level;
            origin[a] = ((w->cover.lo[a] << w->level) + 0.5) * width;
        }
        status = vtkhdf_create(&w->image, comm, path, cells, origin, spacing);
        if (!status)
            *out = vtkhdf_file(w->image);
        for (int k = 0; k < w->arrays && !status; k++)
            status =
                vtkhdf_add(w->image, w->array[k].name, w->array[k].components, w->array[k].sample);
        return status;
    }
    for (int l = 0; l < w->cover.levels; l++, width /= 2)
        level[l] = (struct vtkamr_level){width, w->cover.level[l].boxes.count,
                                         w->cover.level[l].boxes.box};
    status = vtkamr_create(&w->amr, comm, path, zero, w->cover.levels, level);
    *out = w->amr.file;
    for (int k = 0; k < w->arrays && !status; k++)
        status = vtkamr_add(&w->amr, w->array[k].name, w->array[k].components, w->array[k].sample);
    return status;
}

static enum status allocate(struct writer *w)
{
    size_t cells = COPIES, components = 1;
    for (int l = 0; l < w->cover.levels; l++)
        if (w->cover.grid->level[l].solver.piece_cells > cells)
            cells = w->cover.grid->level[l].solver.piece_cells;
    for (int l = 0; l < w->level; l++) /* at least one cell is copied at a time */
        cells = cells > (size_t)1 << 2 * (l + 1) ? cells : (size_t)1 << 2 * (l + 1);
    for (int k = 0; k < w->arrays; k++)
        if ((size_t)w->array[k].components > components)
            components = (size_t)w->array[k].components;
    w->out = malloc(cells * components * sizeof(double));
    return status_agree(w->cover.grid->level[0].domain.comm,
                        w->out ? STATUS_OK
                               : fail_machine("out of memory for a piece of a snapshot"));
}

enum status levels_file_write(struct h5file **out, struct grid *g, const char *path,
                              const int lo[3], const int hi[3], double dx, int levels, int arrays,
                              const struct levels_array *array)
{
    struct writer w = {.level = levels, .arrays = arrays, .array = array};
    *out = NULL;
    enum status status = cover_create(&w.cover, g, lo, hi);
    if (status)
        return status;
    status = allocate(&w);
    if (!status)
        status = start(&w, out, path, dx);
    if (!status)
        status = write_arrays(&w);
    free(w.out);
    cover_destroy(&w.cover);
    vtkamr_free(&w.amr);
    if (w.image)
        vtkhdf_release(w.image);
    return status;
}
