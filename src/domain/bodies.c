/* Solids in the flow; see bodies.h. */
#include "domain/bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "body/body.h"
#include "boundary.h"
#include "domain/pores.h"

static enum status add_row(struct domain *d, const struct case_body *body, uint8_t *number)
{
    const bool moves = body->velocity[0] || body->velocity[1] || body->velocity[2];
    if (d->row_count == TAG_ROWS)
        return fail_user("bodies.%s: faces, their parts and bodies together make more than %d "
                         "kinds of cells (fewer bodies, or parts of faces)",
                         body->name, TAG_ROWS);
    *number = (uint8_t)d->row_count;
    struct tag_row *const row = &d->rows[d->row_count++];
    *row = (struct tag_row){.boundary = moves ? BOUNDARY_moving : BOUNDARY_halfway};
    tag_row_move(row, body->velocity);
    return STATUS_OK;
}

/* The shifts of a whole box along an axis at which a body, between lo and hi, has cells of the
 * block: 0, and the others where the axis is periodic. */
static void shifts_of(const struct domain *d, int axis, double lo, double hi, int *first, int *last)
{
    const int n = d->cells[axis], begin = d->lo[axis] - d->view.ghost[axis],
              end = d->lo[axis] + d->view.n[axis] + d->view.ghost[axis];
    *first = *last = 0;
    if (!d->periodic[axis])
        return;
    /* of what spans all of the axis one is enough */
    if (lo <= begin - n && hi >= end + n)
        return;
    *first = (int)ceil((begin - fmin(hi, end + n)) / n);
    *last = (int)floor((end - fmax(lo, begin - n)) / n);
}

/* Marks the cells of a row of the block, ghosts included, that the body or a periodic image of it
 * holds; [ghost + n + ghost]. Coordinates may lie beyond the box along periodic axes only. */
static void mark_row(const struct domain *d, const struct body *b, int y, int z, uint8_t *inside)
{
    const struct view *const v = &d->view;
    const int g[3] = {d->lo[0] - v->ghost[0], d->lo[1] + y, d->lo[2] + z};
    const int count = v->n[0] + 2 * v->ghost[0];
    double lo[3], hi[3];
    int first[3], last[3];
    body_bounds(b, lo, hi);
    for (int a = 0; a < 3; a++)
        shifts_of(d, a, lo[a], hi[a], &first[a], &last[a]);
    for (int k = first[2]; k <= last[2]; k++)
        for (int j = first[1]; j <= last[1]; j++) {
            const int at[2] = {g[1] - j * d->cells[1], g[2] - k * d->cells[2]};
            if (at[0] + 0.5 < lo[1] || at[0] + 0.5 > hi[1] || at[1] + 0.5 < lo[2] ||
                at[1] + 0.5 > hi[2])
                continue;
            for (int i = first[0]; i <= last[0]; i++)
                body_row(b, g[0] - i * d->cells[0], count, at[0], at[1], inside);
        }
}

/* Is there a cell of the box, not one beyond a face, at this place of the block along an axis? */
static bool in_box(const struct domain *d, int axis, int at)
{
    const int g = d->lo[axis] + at;
    return d->periodic[axis] || (g >= 0 && g < d->cells[axis]);
}

/* Cells of the block itself that it took. */
static int64_t fill(struct domain *d, const struct body *b, uint8_t row, uint8_t *inside)
{
    const struct view *const v = &d->view;
    int64_t cells = 0;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++) {
            if (!in_box(d, 1, y) || !in_box(d, 2, z))
                continue;
            memset(inside, 0, (size_t)(v->n[0] + 2 * v->ghost[0]));
            mark_row(d, b, y, z, inside);
            const bool owned = y >= 0 && y < v->n[1] && z >= 0 && z < v->n[2];
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                if (!inside[x + v->ghost[0]] || !in_box(d, 0, x))
                    continue;
                d->tags[view_index(v, x, y, z)] = row;
                cells += owned && x >= 0 && x < v->n[0];
            }
        }
    return cells;
}

static enum status add_body(struct domain *d, const struct flow_case *c,
                            const struct case_body *body, uint8_t *row, uint8_t *inside)
{
    const struct view *const v = &d->view;
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        lo[a] = d->lo[a] - v->ghost[a];
        hi[a] = d->lo[a] + v->n[a] + v->ghost[a];
    }
    struct body b;
    enum status status = add_row(d, body, row);
    if (!status)
        status = body_open(&b, body, c, lo, hi, d->comm);
    if (status)
        return status;
    int64_t cells = fill(d, &b, *row, inside);
    body_close(&b);
    MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPI_INT64_T, MPI_SUM, d->comm);
    if (cells == 0)
        return fail_user("bodies.%s holds the centre of no cell: it is outside of the box, or "
                         "thinner than a cell (that of cell i is i + 0.5)",
                         body->name);
    return STATUS_OK;
}

/* Pores of images that nothing flows through, where they are to be solid: when all bodies are
 * there, as they decide it together. */
static enum status fill_pores(struct domain *d, const struct flow_case *c, const uint8_t *row)
{
    enum status status = STATUS_OK;
    for (int k = 0; k < c->body_count && !status; k++) {
        const struct voxel_image *const v = &c->bodies[k].image;
        struct case_region region;
        int64_t filled;
        for (int a = 0; a < 3; a++) {
            region.lo[a] = v->at[a];
            region.hi[a] = v->at[a] + v->to[a] - v->from[a];
        }
        if (v->fill)
            status = pores_fill(d, c, &region, row[k], &filled);
        if (v->fill && !status)
            say("bodies.%s: %lld cells of isolated pores are made solid", c->bodies[k].name,
                (long long)filled);
    }
    return status;
}

enum status domain_bodies(struct domain *d, const struct flow_case *c)
{
    enum status status = STATUS_OK;
    if (!c->body_count)
        return STATUS_OK;
    uint8_t row[CASE_BODIES] = {0};
    uint8_t *const inside = malloc((size_t)(d->view.n[0] + 2 * d->view.ghost[0]));
    if (!inside)
        status = fail_machine("out of memory for a row of cells");
    status = status_agree(d->comm, status);
    for (int k = 0; k < c->body_count && !status; k++)
        status = add_body(d, c, &c->bodies[k], &row[k], inside);
    free(inside);
    if (!status)
        status = fill_pores(d, c, row);
    return status;
}
