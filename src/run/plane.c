/* Images of a plane of cells. Rank 0 gathers the plane, and the background draws it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/background.h"
#include "base/message.h"
#include "io/image.h"
#include "measure/curl.h"
#include "run/output_kind.h"
#include "run/plane_words.h"
#include "version.h"

enum { PLANE_TAG = 100, MOST_PIXELS = 1 << 24 /* of finer levels than 0 */ };

/* Marks cells of other levels, in messages: values that are not finite are shown as infinite, and
 * never as this. */
static const double absent = -INFINITY;

/* The image's quantity in a whole plane, on rank 0. Its pixels are cells of a level. */
struct plane {
    const struct refined *refined;
    int axis, at; /* of level 0 */
    int level, width, height;
    double *values;        /* [height][width], in the quantity's unit, as in struct image */
    unsigned char *coarse; /* [height][width]: levels between a pixel and its cell; NULL: none */
};

/* An image that waits to be drawn. */
struct drawing {
    char path[FOLDER_PATH];
    struct plane_words words;
    struct image_note notes[2];
    struct image picture;
    struct plane plane; /* of the picture */
};

static void plane_destroy(struct plane *p)
{
    free(p->values);
    free(p->coarse);
    p->values = NULL;
    p->coarse = NULL;
}

/* The quantity in one cell of a level, in its unit, from the values of its kernel. */
static double value_at(const struct flow_case *c, const struct case_image *image, int level,
                       const double *value)
{
    const struct shown_unit unit = plane_unit(c, image);
    switch (image->of) {
    case IMAGE_speed:
        return unit.scale * sqrt(value[1] * value[1] + value[2] * value[2] + value[3] * value[3]);
    case IMAGE_velocity_x:
        return unit.scale * value[1];
    case IMAGE_velocity_y:
        return unit.scale * value[2];
    case IMAGE_velocity_z:
        return unit.scale * value[3];
    case IMAGE_density:
        return unit.scale * (1 + value[0]);
    case IMAGE_pressure:
        return unit.scale * value[0] / 3;
    case IMAGE_vorticity:
        return ldexp(unit.scale, level) * value[image->axis];
    case IMAGE_scalar:
        return unit.zero + *value;
    }
    return NAN;
}

/* NaN marks cells that are not fluid, so values that are not finite become infinite. */
static double shown(double value)
{
    return isfinite(value) ? value : INFINITY;
}

/* Value shown for a cell that is not fluid. */
static double not_fluid(const struct view *v, size_t cell)
{
    return (v->tags[cell] & TAG_ROW) == TAG_ABSENT ? absent : NAN;
}

/* The quantity in the cells of a part. Collective, but a rank may fail alone. */
static enum status fetch_part(struct solver *s, const struct flow_case *c,
                              const struct case_image *image, const struct box *part, double *out)
{
    const bool curl = image->of == IMAGE_vorticity, scalar = image->of == IMAGE_scalar;
    const int set = scalar ? 1 + image->scalar : SET_flow, width = curl ? 3 : scalar ? 1 : 4;
    const struct view *const v = &s->domain->view;
    const enum status status = curl ? curl_prepare(s) : STATUS_OK;
    struct box piece;
    struct fetch f;
    const double *value;
    if (status)
        return status;
    fetch_start_set(&f, s,
                    curl     ? KERNEL_curl
                    : scalar ? KERNEL_scalar
                             : KERNEL_flow,
                    set, part, NULL, NULL);
    while ((value = fetch_next(&f, &piece)))
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, value += width) {
                    const size_t cell = view_index(v, x, y, z);
                    const bool has = scalar ? view_holds(v, set, cell) : view_fluid(v, cell);
                    *out++ = has ? shown(value_at(c, image, s->domain->level, value))
                                 : not_fluid(v, cell);
                }
    return fetch_end(&f);
}

/* The plane of cells of a level that the image shows: that above the middle of the cells of
 * level 0. */
static int plane_of(const struct plane *p, int level)
{
    const int halved = refined_halved(p->refined, level, p->axis);
    return (p->at << halved) + (1 << halved >> 1);
}

/* The pixels first .. after that show cell g[axis]; false: none does. Of finer cells than pixels, a
 * pixel shows those above its middle. */
static bool pixels_of(const struct plane *p, int level, int axis, const int cell[3], int *first,
                      int *after)
{
    const int g = cell[axis], finer = refined_halved(p->refined, level, axis) - p->level;
    if (finer <= 0) {
        *first = g << -finer;
        *after = (g + 1) << -finer;
        return true;
    }
    *first = g >> finer;
    *after = *first + 1;
    return (g & ((1 << finer) - 1)) == 1 << (finer - 1);
}

/* Copies a part of a level (x fastest, then y, z) into the plane, without absent cells. */
static void place_part(struct plane *p, int level, const int lo[3], const int n[3],
                       const double *part)
{
    const int across = plane_across[p->axis], up = plane_up[p->axis];
    int g[3], x[2], y[2];
    for (g[2] = lo[2]; g[2] < lo[2] + n[2]; g[2]++)
        for (g[1] = lo[1]; g[1] < lo[1] + n[1]; g[1]++)
            for (g[0] = lo[0]; g[0] < lo[0] + n[0]; g[0]++, part++) {
                if (*part == absent || !pixels_of(p, level, across, g, &x[0], &x[1]) ||
                    !pixels_of(p, level, up, g, &y[0], &y[1]))
                    continue;
                for (int j = y[0]; j < y[1]; j++)
                    for (int i = x[0]; i < x[1]; i++) {
                        const size_t pixel = (size_t)j * (size_t)p->width + (size_t)i;
                        p->values[pixel] = *part;
                        if (p->coarse)
                            p->coarse[pixel] =
                                (unsigned char)(level < p->level ? p->level - level : 0);
                    }
            }
}

/* Every rank with a part of a level sends rank 0 its position and values. c: the case of the
 * run. */
static enum status gather(struct solver *s, const struct flow_case *c,
                          const struct case_image *image, struct plane *p)
{
    const struct domain *const d = s->domain;
    const int tag = PLANE_TAG + 2 * d->level; /* ranks may be at different levels */
    int lo[3] = {0, 0, 0}, hi[3] = {d->cells[0], d->cells[1], d->cells[2]};
    lo[p->axis] = plane_of(p, d->level);
    hi[p->axis] = lo[p->axis] + 1;
    const struct box part = domain_part(d, lo, hi);
    const size_t cells = box_cells(&part);
    int where[6], total = 0, has = cells > 0;
    double *const mine = calloc(cells + 1, sizeof *mine);
    if (!mine) {
        fail_machine("out of memory for a slice of %zu cells", cells);
        MPI_Abort(d->comm, STATUS_MACHINE); /* rank 0 waits for it */
    }
    const enum status status = fetch_part(s, c, image, &part, mine);
    for (int a = 0; a < 3; a++) {
        where[a] = d->lo[a] + part.lo[a];
        where[3 + a] = part.hi[a] - part.lo[a];
    }
    MPI_Reduce(&has, &total, 1, MPI_INT, MPI_SUM, 0, d->comm);
    if (d->rank != 0) {
        if (has) {
            MPI_Send(where, 6, MPI_INT, 0, tag, d->comm);
            MPI_Send(mine, (int)cells, MPI_DOUBLE, 0, tag + 1, d->comm);
        }
        free(mine);
        return status;
    }
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    if (!p->values) {
        p->values = malloc(pixels * sizeof *p->values);
        p->coarse = p->level ? calloc(pixels, 1) : NULL;
    }
    if (!p->values || (p->level && !p->coarse)) {
        fail_machine("out of memory for a slice of %d x %d cells", p->width, p->height);
        MPI_Abort(d->comm, STATUS_MACHINE); /* the others wait to send */
    }
    if (has)
        place_part(p, d->level, where, where + 3, mine);
    free(mine);
    for (int k = has; k < total; k++) {
        MPI_Status from;
        MPI_Recv(where, 6, MPI_INT, MPI_ANY_SOURCE, tag, d->comm, &from);
        const size_t count = (size_t)where[3] * (size_t)where[4] * (size_t)where[5];
        double *const theirs = malloc(count * sizeof *theirs);
        if (!theirs) {
            fail_machine("out of memory for a slice");
            MPI_Abort(d->comm, STATUS_MACHINE);
        }
        MPI_Recv(theirs, (int)count, MPI_DOUBLE, from.MPI_SOURCE, tag + 1, d->comm,
                 MPI_STATUS_IGNORE);
        place_part(p, d->level, where, where + 3, theirs);
        free(theirs);
    }
    return status;
}

/* A job of the background. */
static enum status draw(void *data)
{
    struct drawing *const d = data;
    const enum status status = image_write(d->path, &d->picture);
    plane_destroy(&d->plane);
    free(d);
    return status;
}

/* Takes what the plane has, also on failure. */
static enum status give(struct plane *p, const struct output_entry *e)
{
    const struct flow_case *const c = e->c;
    const struct case_image *const image = e->what;
    struct drawing *const d = calloc(1, sizeof *d);
    const enum status status =
        d ? output_path(e, d->path) : fail_machine("out of memory for an image");
    if (!d || status) {
        plane_destroy(p);
        free(d);
        return status;
    }
    d->plane = *p;
    const struct shown_unit unit = plane_unit(c, image);
    const double zero = unit.zero, scale = image->of == IMAGE_scalar ? 1 : unit.scale;
    /* The diverging map shows 0 as white: only for quantities and ranges with both signs. */
    const bool is_signed = image->of != IMAGE_scalar && image->of != IMAGE_speed &&
                           image->of != IMAGE_density &&
                           !(image->fixed_range && image->range[0] * image->range[1] >= 0);
    d->notes[0] = (struct image_note){"Software", "tagflow " TAGFLOW_VERSION " " TAGFLOW_COMMIT};
    d->notes[1] = (struct image_note){"Comment", c->resolved};
    d->picture = (struct image){
        .width = p->width,
        .height = p->height,
        .values = p->values,
        .coarse = p->coarse,
        .map = is_signed ? COLORMAP_diverging : COLORMAP_sequential,
        .fixed_range = image->fixed_range,
        .range = {zero + image->range[0] * scale, zero + image->range[1] * scale},
        .notes = {2, d->notes},
    };
    const double middle = refined_place(p->refined, p->level, p->axis, plane_of(p, p->level) + 0.5);
    plane_words(c, image, middle, (long long)e->solver->step, &d->words, &d->picture);
    background_give(e->background, draw, d);
    return STATUS_OK;
}

/* Has a level above 0 a cell in the plane? */
static bool shows(const struct refined *r, int level, const struct plane *p)
{
    const int *const first = r->level[level].first, *const n = r->level[level].n;
    int lo[3] = {0, 0, 0}, hi[3] = {n[0], n[1], n[2]}, b[3];
    lo[p->axis] = plane_of(p, level) / BRICK - first[p->axis];
    hi[p->axis] = lo[p->axis] + 1;
    if (lo[p->axis] < 0 || lo[p->axis] >= n[p->axis])
        return false;
    for (b[2] = lo[2]; b[2] < hi[2]; b[2]++)
        for (b[1] = lo[1]; b[1] < hi[1]; b[1]++)
            for (b[0] = lo[0]; b[0] < hi[0]; b[0]++)
                if (refined_holds(r, level, BRICK * (first[0] + b[0]), BRICK * (first[1] + b[1]),
                                  BRICK * (first[2] + b[2])))
                    return true;
    return false;
}

/* Pixels are cells of the finest level in the plane; of a coarser one if these were too many. */
static void choose_pixels(const struct grid *g, const struct flow_case *c, struct plane *p)
{
    const double cells = (double)p->width * p->height;
    for (int l = 1; l < g->levels && shows(&g->refined, l, p); l++)
        if (ldexp(cells, 2 * l) <= MOST_PIXELS)
            p->level = l;
    p->width = c->cells[plane_across[p->axis]] << p->level;
    p->height = c->cells[plane_up[p->axis]] << p->level;
}

static enum status write(struct output_entry *e)
{
    MPI_Comm const comm = e->solver->domain->comm;
    const struct case_image *const image = e->what;
    struct plane p = {
        .refined = &e->grid->refined,
        .axis = image->axis,
        .at = image->at,
        .width = e->c->cells[plane_across[image->axis]],
        .height = e->c->cells[plane_up[image->axis]],
    };
    enum status status = STATUS_OK;
    choose_pixels(e->grid, e->c, &p);
    for (int l = 0; l < e->grid->levels; l++)
        if (gather(&e->grid->level[l].solver, e->c, image, &p))
            status = STATUS_MACHINE;
    status = status_agree(comm, status);
    if (e->solver->domain->rank == 0 && !status)
        status = give(&p, e);
    else
        plane_destroy(&p);
    return status_agree(comm, status);
}

const struct output_kind output_images = {
    OUTPUT_ENTRIES(images, case_image),
    .late = true,
    .write = write,
};
