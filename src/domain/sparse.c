/* Populations only in lines of cells with fluid; see sparse.h. */
#include "domain/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"

/* Largest share of kept lines at which `auto` uses sparse storage. At 0.8 it saves a fifth of the
 * memory; it is as fast as full storage at 0.73, faster below (docs/performance.md). */
static const double pays = 0.8;

/* Is any of these cells fluid? */
static bool any_fluid(const struct view *v, const uint8_t *tags, size_t count)
{
    bool fluid = false;
    for (size_t k = 0; k < count; k++)
        fluid = fluid || v->rows[tags[k] & TAG_ROW].fluid;
    return fluid;
}

/* Marks the lines of one row, owned or ghost, in which fluid cells of the row at (y, z) keep
 * populations of links along c. fluid[k]: line k of the row at (y, z) has fluid; last[k]: its last
 * cell is fluid. */
static void mark_row(struct sparse *s, const struct domain *d, const bool *fluid, const bool *last,
                     int y, int z, const int c[3])
{
    const struct view *const v = &d->view;
    const int at[3] = {0, y + c[1], z + c[2]};
    size_t row = 0;
    for (int a = 2; a > 0; a--) {
        const int there = view_wrap(v, a, at[a]) + v->ghost[a];
        if (there < 0 || there >= v->n[a] + 2 * v->ghost[a])
            return;
        row = row * ((size_t)v->n[1] + 2 * (size_t)v->ghost[1]) + (size_t)there;
    }
    uint8_t *const keep = s->keep + row * s->row;
    for (size_t k = 0; k < s->row; k++)
        keep[k] |= fluid[k];
    for (size_t k = 1; c[0] && k < s->row; k++)
        keep[k] |= last[k - 1];
    /* the neighbour at + x of the last cell of a row that wraps */
    if (c[0] && !v->ghost[0])
        keep[0] |= v->rows[v->tags[view_index(v, v->n[0] - 1, y, z)] & TAG_ROW].fluid != FLUID_none;
}

/* Marks all lines in which fluid cells of a row keep populations. */
static void survey_row(struct sparse *s, const struct domain *d, bool *fluid, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct view *const v = &d->view;
    const size_t cells = (size_t)(v->n[0] + 2 * v->ghost[0]), line = (size_t)1 << s->line_bits;
    const uint8_t *const tags =
        v->tags + (ptrdiff_t)v->origin - v->ghost[0] + y * v->row + z * v->plane;
    bool *const last = fluid + s->row;
    bool any = false;
    for (size_t k = 0; k < s->row; k++) {
        const size_t from = k * line, to = from + line < cells ? from + line : cells;
        fluid[k] = from < to && any_fluid(v, tags + from, to - from);
        last[k] = to == from + line && any_fluid(v, tags + to - 1, 1);
        any = any || fluid[k];
    }
    if (!any)
        return;
    mark_row(s, d, fluid, last, y, z, c[0]);
    for (int i = 1; i < Q; i += 2)
        mark_row(s, d, fluid, last, y, z, c[i]);
}

enum status sparse_survey(struct sparse *s, const struct domain *d, enum precision storage)
{
    const struct view *const v = &d->view;
    const size_t rows =
        ((size_t)v->n[1] + 2 * (size_t)v->ghost[1]) * ((size_t)v->n[2] + 2 * (size_t)v->ghost[2]);
    *s = (struct sparse){.line_bits = storage == PRECISION_fp64   ? 3
                                      : storage == PRECISION_fp32 ? 4
                                                                  : 5};
    const size_t line = (size_t)1 << s->line_bits;
    s->row = ((size_t)v->n[0] + 2 * (size_t)v->ghost[0] + line - 1) / line;
    s->lines = rows * s->row;
    s->keep = calloc(s->lines, 1);
    bool *const fluid = calloc(2 * s->row, sizeof *fluid);
    if (!s->keep || !fluid) {
        free(fluid);
        sparse_destroy(s);
        return fail_machine("out of memory for marks of %zu lines of cells", s->lines);
    }
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            survey_row(s, d, fluid, y, z);
    free(fluid);
    for (size_t k = 0; k < s->lines; k++)
        s->kept += s->keep[k];
    return STATUS_OK;
}

enum status sparse_survey_part(struct sparse *s, const struct domain *part,
                               const struct domain *whole, enum precision storage)
{
    struct domain d = *part;
    struct view *const v = &d.view;
    *s = (struct sparse){0};
    d.tags = malloc(v->cells);
    if (!d.tags)
        return fail_machine("out of memory for the tags of %zu cells", v->cells);
    v->tags = d.tags;
    v->rows = whole->rows;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++)
                d.tags[view_index(v, x, y, z)] =
                    whole->view
                        .tags[view_index(&whole->view, d.lo[0] + x, d.lo[1] + y, d.lo[2] + z)];
    const enum status status = sparse_survey(s, &d, storage);
    free(d.tags);
    return status;
}

void sparse_destroy(struct sparse *s)
{
    free(s->keep);
    *s = (struct sparse){0};
}

bool sparse_wanted(enum sparse_use use, double share)
{
    return use == SPARSE_always || (use == SPARSE_auto && share <= pays);
}

void sparse_layout(struct domain *d, const struct sparse *s)
{
    struct view *const v = &d->view;
    const size_t line = (size_t)1 << s->line_bits;
    v->line_bits = s->line_bits;
    v->row = (ptrdiff_t)(s->row * line);
    v->plane = v->row * (v->n[1] + 2 * v->ghost[1]);
    v->cells = s->lines * line;
    v->origin = (size_t)(v->ghost[0] + v->ghost[1] * v->row + v->ghost[2] * v->plane);
    d->places = s->kept * line;
    v->set[SET_flow].stride = domain_stride(d->places, v->set[SET_flow].bits);
}

enum status sparse_keep(struct domain *d, const struct sparse *s)
{
    struct view *const v = &d->view;
    const size_t row = s->row << s->line_bits, rows = s->lines / s->row;
    const size_t before = (size_t)v->row, cells = (size_t)(v->n[0] + 2 * v->ghost[0]);
    const uint8_t *const from = d->tags + view_first(v);
    uint8_t *const tags = malloc(rows * row);
    uint32_t *const place = malloc(s->lines * sizeof *place);
    if (!tags || !place || s->kept >= (uint32_t)LINE_DROPPED) {
        free(tags);
        free(place);
        return fail_machine("out of memory for the places of %zu lines of cells", s->lines);
    }
    memset(tags, TAG_WALL, rows * row);
    for (size_t k = 0; k < rows; k++)
        memcpy(tags + k * row, from + k * before, cells);
    uint32_t next = 0;
    for (size_t k = 0; k < s->lines; k++) {
        place[k] = s->keep[k] ? next : (uint32_t)LINE_DROPPED;
        next += s->keep[k];
    }
    free(d->tags);
    v->tags = d->tags = tags;
    v->line = d->line = place;
    sparse_layout(d, s);
    return STATUS_OK;
}

enum status sparse_choose(struct domain *d, const struct flow_case *c)
{
    struct sparse s = {0};
    d->kept_share = 1;
    if (c->run.sparse == SPARSE_never)
        return STATUS_OK;
    enum status status = status_agree(d->comm, sparse_survey(&s, d, c->solver.storage));
    if (!status) {
        int64_t lines[2] = {(int64_t)s.kept, (int64_t)s.lines};
        MPI_Allreduce(MPI_IN_PLACE, lines, 2, MPI_INT64_T, MPI_SUM, d->comm);
        d->kept_share = (double)lines[0] / (double)lines[1];
        if (sparse_wanted(c->run.sparse, d->kept_share))
            status = status_agree(d->comm, sparse_keep(d, &s));
    }
    sparse_destroy(&s);
    return status;
}
