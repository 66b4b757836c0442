/* Solid bodies; see bodies.h. */
#include "tags/bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/agree.h"
#include "base/message.h"
#include "base/signals.h"
#include "body/body.h"
#include "case/bare.h"
#include "tags/pores.h"

bool bodies_has_surface(const struct case_body *body)
{
    return body->wall == BODY_WALL_interpolated || body->spin[0] || body->spin[1] || body->spin[2];
}

/* Adds the cell type of a part of body number `body`, as case_body_wall. */
static enum status add_row(struct domain *d, const struct case_body *what, const struct body *b,
                           int body, int part)
{
    const bool moves = what->velocity[0] || what->velocity[1] || what->velocity[2];
    double lo[3], hi[3];
    if (d->row_count == TAG_ROWS)
        return fail_case(what->place,
                         "bodies.%s: faces, their parts, bodies and their labels together make "
                         "more than %d kinds of cells (fewer bodies, labels, or parts of faces)",
                         what->name, TAG_ROWS);
    d->row_part[d->row_count] = (uint8_t)part;
    struct tag_row *const row = &d->rows[d->row_count++];
    *row = (struct tag_row){.boundary = bodies_has_surface(what) ? BOUNDARY_surface
                                        : moves                  ? BOUNDARY_moving
                                                                 : BOUNDARY_halfway,
                            .body = (uint8_t)(1 + body)};
    tag_row_move(row, what->velocity);
    body_bounds(b, lo, hi);
    for (int a = 0; a < 3; a++) {
        const bool whole = isinf(lo[a]) || isinf(hi[a]);
        /* flat axes, too, are as long as on level 0 */
        const double longer = ldexp(1, d->level - refined_halved(d->refined, d->level, a));
        const double middle =
            whole ? 0.5 * d->cells[a] : 0.5 * (lo[a] + hi[a]) - 0.5 * (longer - 1);
        row->spin[a] = what->spin[a];
        row->pivot[a] = what->pivot_given ? what->pivot[a] : middle;
        row->period[a] = d->box_periodic[a] ? longer * d->cells[a] : 0;
    }
    return STATUS_OK;
}

void bodies_images(const struct domain *d, int axis, double lo, double hi, int *first, int *last)
{
    *first = *last = 0;
    if (d->box_periodic[axis] && isfinite(lo) && isfinite(hi))
        body_images(lo, hi, d->cells[axis], first, last);
}

/* Marks which of `count` cells of a row of the box, from x on, are inside the body or its periodic
 * images, by the values of body_row(). `inside` is 0 before. */
static void mark_cells(const struct domain *d, const struct body *b, int x, int count, int y, int z,
                       uint8_t *inside)
{
    double lo[3], hi[3];
    int first[3], last[3];
    body_bounds(b, lo, hi);
    for (int a = 0; a < 3; a++)
        bodies_images(d, a, lo[a], hi[a], &first[a], &last[a]);
    for (int k = first[2]; k <= last[2]; k++)
        for (int j = first[1]; j <= last[1]; j++) {
            const int at[2] = {y - j * d->cells[1], z - k * d->cells[2]};
            if (at[0] + 0.5 < lo[1] || at[0] + 0.5 > hi[1] || at[1] + 0.5 < lo[2] ||
                at[1] + 0.5 > hi[2])
                continue;
            for (int i = first[0]; i <= last[0]; i++)
                body_row(b, x - i * d->cells[0], count, at[0], at[1], inside);
        }
    for (int i = 0; i < count && body_surrounds(b->what); i++)
        inside[i] = !inside[i];
}

/* Marks the cells of a row of the block, with its ghosts: [ghost + n + ghost]. */
static void mark_row(const struct domain *d, const struct body *b, int y, int z, uint8_t *inside)
{
    const int n = d->view.n[0], ghost = d->view.ghost[0];
    y = domain_wrap(d, 1, d->lo[1] + y);
    z = domain_wrap(d, 2, d->lo[2] + z);
    mark_cells(d, b, d->lo[0], n, y, z, inside + ghost);
    if (ghost) {
        mark_cells(d, b, domain_wrap(d, 0, d->lo[0] - 1), 1, y, z, inside);
        mark_cells(d, b, domain_wrap(d, 0, d->lo[0] + n), 1, y, z, inside + 1 + n);
    }
}

/* Is this place of the block, along an axis, inside the box, not beyond a face? */
static bool in_box(const struct domain *d, int axis, int at)
{
    const int g = d->lo[axis] + at;
    return d->box_periodic[axis] || (g >= 0 && g < d->cells[axis]);
}

/* Bytes of a row's cells, ghost cells included. */
static size_t row_bytes(const struct domain *d)
{
    return (size_t)(d->view.n[0] + 2 * d->view.ghost[0]);
}

/* The type of a cell with this value of body_row(), not 0. Types of labels, if cells are told by
 * them, follow the body's. */
static uint8_t type_of(uint8_t row, bool apart, uint8_t inside)
{
    return (uint8_t)(row + (apart ? inside - 1 : 0));
}

/* Tags the cells of the body in a row of the block. Returns how many of them the block owns. */
static int64_t fill_row(struct domain *d, const struct body *b, uint8_t row, bool apart, int y,
                        int z, uint8_t *inside)
{
    const struct view *const v = &d->view;
    const int ghost = v->ghost[0], n = v->n[0];
    int64_t cells = 0;
    memset(inside, 0, row_bytes(d));
    mark_row(d, b, y, z, inside);
    uint8_t *const tags = d->tags + view_index(v, 0, y, z);
    for (int x = 0; x < n; x++) {
        tags[x] = inside[x + ghost] ? type_of(row, apart, inside[x + ghost]) : tags[x];
        cells += inside[x + ghost] != 0;
    }
    for (int x = -1; x <= n && ghost; x += n + 1)
        if (inside[x + 1] && in_box(d, 0, x))
            d->tags[view_index(v, x, y, z)] = type_of(row, apart, inside[x + 1]);
    return y >= 0 && y < v->n[1] && z >= 0 && z < v->n[2] ? cells : 0;
}

/* Tags the cells of the body, with all threads. Returns how many of them the block owns. inside:
 * [threads][row_bytes] */
static int64_t fill(struct domain *d, const struct body *b, uint8_t row, bool apart, int threads,
                    uint8_t *inside)
{
    const struct view *const v = &d->view;
    int64_t cells = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : cells) schedule(dynamic)
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1] && !signals_number(); y++)
            if (in_box(d, 1, y) && in_box(d, 2, z))
                cells += fill_row(d, b, row, apart, y, z,
                                  inside + (size_t)omp_get_thread_num() * row_bytes(d));
    return cells;
}

bool bodies_want_area(const struct flow_case *c, int body)
{
    bool wants = false;
    for (int k = 0; k < c->series_count; k++)
        wants = wants || (c->series[k].kind == SERIES_KIND_heat && c->series[k].opening < 0 &&
                          c->series[k].body == body);
    return wants && !case_straight(&c->bodies[body]);
}

/* Opens a body for the cells of the block and its ghost cells. Collective. */
static enum status open_body(struct body *b, const struct domain *d, const struct flow_case *c,
                             int number)
{
    int lo[3], hi[3];
    bool periodic[3];
    for (int a = 0; a < 3; a++) {
        lo[a] = d->lo[a] - d->view.ghost[a];
        hi[a] = d->lo[a] + d->view.n[a] + d->view.ghost[a];
        periodic[a] = c->faces[2 * a].kind == FACE_periodic;
    }
    return body_open(b, &c->bodies[number], c->cells, periodic, lo, hi,
                     case_oblique_flux(c, number) || bodies_want_area(c, number), d->comm);
}

static enum status add_body(struct bodies *all, struct domain *d, int number, uint8_t *row,
                            uint8_t *inside)
{
    const struct case_body *const body = &all->c->bodies[number];
    struct body *const b = &all->body[number];
    char bare[256];
    enum status status = open_body(b, d, all->c, number);
    if (!status)
        all->count++;
    *row = (uint8_t)d->row_count;
    for (int part = 0; part <= body->label_count && !status; part++)
        status = add_row(d, body, b, number, part);
    if (status)
        return status;
    int64_t cells = fill(d, b, *row, body->label_count > 0, case_threads(all->c), inside);
    MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPI_INT64_T, MPI_SUM, d->comm);
    status = stop_agree(d->comm);
    if (!status && cells == 0 && body_surrounds(body))
        return fail_case(body->place,
                         "bodies.%s: its mesh holds the whole box, so that nothing is solid (is it "
                         "in another unit? else leave fluid: inside out)",
                         body->name);
    if (!status && cells == 0 && !d->refined)
        return fail_case(body->place,
                         "bodies.%s holds the centre of no cell: it is outside of the box, or "
                         "thinner than a cell (that of cell i is i + 0.5)%s",
                         body->name, bare_length_text(all->c, bare));
    return status;
}

enum status bodies_solid(struct domain *d, const struct flow_case *c)
{
    uint8_t *const inside = malloc((size_t)case_threads(c) * row_bytes(d));
    enum status status = inside ? STATUS_OK : fail_machine("out of memory for a row of cells");
    status = status_agree(d->comm, status);
    for (int k = 0; k < c->body_count && !status; k++) {
        struct body b;
        status = open_body(&b, d, c, k);
        if (status)
            break;
        fill(d, &b, TAG_WALL, false, case_threads(c), inside);
        body_close(&b);
    }
    free(inside);
    return status;
}

/* Does the cell of the block count for its body: does this level have it? */
static bool counts_cell(const struct domain *d, int x, int y, int z)
{
    return !d->refined ||
           refined_has(d->refined, d->level, d->lo[0] + x, d->lo[1] + y, d->lo[2] + z);
}

/* Counts the cells of each body that later bodies leave; `row`: the first type of each. */
static enum status count_bodies(struct domain *d, const struct flow_case *c, const uint8_t *row)
{
    const struct view *const v = &d->view;
    int64_t cells[TAG_ROWS] = {0};
#pragma omp parallel for num_threads(case_threads(c)) reduction(+ : cells)
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            const uint8_t *const tags = d->tags + view_index(v, 0, y, z);
            for (int x = 0; x < v->n[0]; x++)
                if (d->rows[tags[x] & TAG_ROW].body && counts_cell(d, x, y, z))
                    cells[tags[x] & TAG_ROW]++;
        }
    MPI_Allreduce(MPI_IN_PLACE, cells, TAG_ROWS, MPI_INT64_T, MPI_SUM, d->comm);
    for (int k = 0; k < c->body_count; k++) {
        const struct case_body *const body = &c->bodies[k];
        d->body_cells[k] = 0;
        for (int part = 0; part <= body->label_count; part++)
            d->body_cells[k] += cells[row[k] + part];
        if (d->refined) /* other levels may have them */
            continue;
        if (!d->body_cells[k])
            return fail_case(body->place,
                             "bodies.%s has no cell left: later bodies cover all of it (remove it, "
                             "or put it after them)",
                             body->name);
        for (int part = 1; part <= body->label_count; part++)
            if (!cells[row[k] + part])
                return fail_case(body->place,
                                 "bodies.%s.labels.%s has no cell left: later bodies cover all of "
                                 "it (remove it)",
                                 body->name, body->labels[part - 1].name);
    }
    return STATUS_OK;
}

/* Makes isolated pores of images solid where the case asks for it. After all bodies, as pores
 * depend on all of them. */
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
            d->filled_cells += filled;
    }
    return status;
}

enum status bodies_place(struct bodies *b, struct domain *d, const struct flow_case *c)
{
    enum status status = STATUS_OK;
    *b = (struct bodies){.c = c};
    if (!c->body_count)
        return STATUS_OK;
    uint8_t row[CASE_BODIES] = {0};
    uint8_t *const inside = malloc((size_t)case_threads(c) * row_bytes(d));
    b->body = calloc((size_t)c->body_count, sizeof *b->body);
    if (!inside || !b->body)
        status = fail_machine("out of memory for the bodies");
    status = status_agree(d->comm, status);
    for (int k = 0; k < c->body_count && !status; k++)
        status = add_body(b, d, k, &row[k], inside);
    free(inside);
    if (!status)
        status = count_bodies(d, c, row);
    if (!status)
        status = fill_pores(d, c, row);
    return status;
}

/* The place of the cell inside the box whose mirror image is at `at` of the block, beyond a plane
 * of symmetry; false if `at` is not beyond such a plane alone. */
static bool mirror_image(const struct domain *d, const int at[3], int image[3])
{
    const struct tag_row *const row =
        &d->rows[d->tags[view_index(&d->view, at[0], at[1], at[2])] & TAG_ROW];
    int beyond = 0;
    for (int a = 0; a < 3; a++) {
        const bool inside = in_box(d, a, at[a]);
        image[a] = inside ? at[a] : d->lo[a] + at[a] < 0 ? at[a] + 1 : at[a] - 1;
        beyond += !inside;
    }
    return beyond == 1 && !row->fluid && row->boundary == BOUNDARY_slip;
}

/* Does a solid cell of this type conduct a scalar? */
static bool conducts(const struct domain *d, const struct flow_case *c, int type)
{
    bool any = false;
    for (int k = 0; k < c->scalar_count; k++)
        any =
            any || case_body_wall(&c->bodies[d->rows[type].body - 1], d->row_part[type], k)->kind ==
                       SCALAR_WALL_conduct;
    return any;
}

void bodies_mirror(struct domain *d, const struct flow_case *c)
{
    const struct view *const v = &d->view;
    int at[3], image[3];
    bool solid[TAG_ROWS] = {false}, any = false;
    for (int row = 0; row < d->row_count; row++) {
        solid[row] = d->rows[row].body && !conducts(d, c, row);
        any = any || solid[row];
    }
    for (int a = 0; a < 3 && any; a++) /* the layers below and above the block */
        for (int side = 0; side < 2 && v->ghost[a]; side++) {
            const int b = (a + 1) % 3, e = (a + 2) % 3;
            at[a] = side ? v->n[a] : -1;
            if (in_box(d, a, at[a]))
                continue;
            for (at[e] = -v->ghost[e]; at[e] < v->n[e] + v->ghost[e]; at[e]++)
                for (at[b] = -v->ghost[b]; at[b] < v->n[b] + v->ghost[b]; at[b]++) {
                    if (!mirror_image(d, at, image))
                        continue;
                    const uint8_t tag = v->tags[view_index(v, image[0], image[1], image[2])];
                    if (solid[tag & TAG_ROW])
                        d->tags[view_index(v, at[0], at[1], at[2])] = tag & TAG_ROW;
                }
        }
}

enum status bodies_found(const struct flow_case *c, const int64_t cells[CASE_BODIES])
{
    for (int k = 0; k < c->body_count; k++)
        if (!cells[k])
            return fail_case(c->bodies[k].place,
                             "bodies.%s holds the centre of no cell of any level, or later bodies "
                             "cover all of it: it is outside of the box, or thinner than a cell "
                             "(refine the grid around it)",
                             c->bodies[k].name);
    return STATUS_OK;
}

void bodies_close(struct bodies *b)
{
    for (int k = 0; k < b->count; k++)
        body_close(&b->body[k]);
    free(b->body);
    *b = (struct bodies){0};
}
