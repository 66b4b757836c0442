/* The list of cells beside surfaces; see near_list.h. */
#include "tags/near_list.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"
#include "base/signals.h"
#include "boundary.h"
#include "surface.h"

static const int velocities[Q][3] = LATTICE_VELOCITIES;

/* Steps of the components of normals. */
#define FACING 0x1p20

/* Why a fluid cell is in the list: for sums alone, or because the list's kernel steps it. */
enum reason { REASON_none, REASON_sums, REASON_step };

/* Purposes of the list. */
struct wants {
    bool sums[CASE_BODIES];    /* a series of the body's forces or heat */
    bool oblique[CASE_BODIES]; /* see case_oblique_flux() */
    bool area[CASE_BODIES];    /* see bodies_want_area() */
    bool facing;               /* any of the last two */
    /* A cell of the first type conducts a scalar of which the other gives an oblique flux. */
    bool contact[TAG_ROWS][TAG_ROWS];
    bool touch[TAG_ROWS]; /* of any other */
};

/* Condition of a scalar at cells of this type; NULL: they are in no body. */
static const struct case_scalar_wall *wall_of(const struct bodies *b, const struct domain *d,
                                              int type, int scalar)
{
    const int body = d->rows[type].body - 1;
    return body < 0 ? NULL : case_body_wall(&b->c->bodies[body], d->row_part[type], scalar);
}

/* Does a cell of this type conduct a scalar of which one of the other type gives an oblique flux?
 */
static bool meet(const struct bodies *b, const struct domain *d, const struct wants *wants,
                 int type, int other)
{
    bool any = false;
    for (int k = 0; k < b->c->scalar_count && d->rows[other].body; k++) {
        const struct case_scalar_wall *const w = wall_of(b, d, type, k);
        any = any ||
              (w && w->kind == SCALAR_WALL_conduct && wants->oblique[d->rows[other].body - 1] &&
               scalar_wall_flux(wall_of(b, d, other, k)->kind));
    }
    return any;
}

static void find_contacts(const struct bodies *b, const struct domain *d, struct wants *wants)
{
    for (int type = 0; type < d->row_count && wants->facing; type++)
        for (int other = 0; other < d->row_count; other++) {
            wants->contact[type][other] = meet(b, d, wants, type, other);
            wants->touch[type] = wants->touch[type] || wants->contact[type][other];
        }
}

static bool wants_forces(const struct flow_case *c, int body)
{
    bool wants = false;
    for (int k = 0; k < c->series_count; k++)
        wants = wants || (c->series[k].kind == SERIES_KIND_forces && c->series[k].body == body);
    return wants;
}

/* Finds the links of a cell from cells that are not fluid, and why the cell belongs in the list. */
static enum reason look_at(const struct domain *d, const struct wants *wants, int x, int y, int z,
                           uint32_t *links)
{
    const struct view *const v = &d->view;
    enum reason reason = REASON_none;
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    const bool fluid = v->rows[tag & TAG_ROW].fluid;
    *links = 0;
    if (fluid ? !(tag & TAG_BESIDE) : !wants->touch[tag & TAG_ROW])
        return REASON_none;
    for (int i = 1; i < Q; i++) {
        const size_t from =
            view_index(v, x - velocities[i][0], y - velocities[i][1], z - velocities[i][2]);
        const struct tag_row *const row = &v->rows[v->tags[from] & TAG_ROW];
        if (row->fluid)
            continue;
        *links |= 1u << i;
        if (!fluid) {
            if (i < Q_AXES && wants->contact[tag & TAG_ROW][v->tags[from] & TAG_ROW])
                reason = REASON_step;
            continue;
        }
        if (boundary_is(row->boundary) & RULE_listed ||
            (row->body && wants->oblique[row->body - 1]))
            reason = REASON_step;
        else if (row->body && wants->sums[row->body - 1] && reason == REASON_none)
            reason = REASON_sums;
    }
    return reason;
}

/* Where a link enters a body. */
struct body_entry {
    double crossing; /* fraction of the link; 2: it does not */
    int from[3];     /* the cell outside it, in the coordinates of the body itself */
};

/* Does a crossing replace the one found before: is it nearer, or with `last` farther? */
static bool counts_entry(const struct body_entry *e, double q, bool last)
{
    return q <= 1 && (e->crossing > 1 || (last ? q > e->crossing : q < e->crossing));
}

/* Where the link of cell g of the box along c enters the body; of all periodic images that contain
 * the link's other end the nearest. A body that surrounds the fluid is entered where the link
 * leaves the last image of its mesh. */
static struct body_entry entry_of(const struct domain *d, const struct body *b, const int g[3],
                                  const int c[3])
{
    const bool around = body_surrounds(b->what);
    struct body_entry e = {.crossing = 2};
    double lo[3], hi[3];
    int first[3], last[3], shift[3];
    body_bounds(b, lo, hi);
    for (int a = 0; a < 3; a++)
        bodies_images(d, a, lo[a], hi[a], &first[a], &last[a]);
    for (shift[2] = first[2]; shift[2] <= last[2]; shift[2]++)
        for (shift[1] = first[1]; shift[1] <= last[1]; shift[1]++)
            for (shift[0] = first[0]; shift[0] <= last[0]; shift[0]++) {
                int from[3];
                uint8_t inside = 0;
                for (int a = 0; a < 3; a++)
                    from[a] = domain_wrap(d, a, g[a] + c[a]) - c[a] - shift[a] * d->cells[a];
                body_row(b, from[0] + c[0], 1, from[1] + c[1], from[2] + c[2], &inside);
                if (around && inside)
                    return (struct body_entry){.crossing = 2};
                const double q = inside || around ? body_crossing(b, from, c) : 2;
                if (counts_entry(&e, q, around)) {
                    e.crossing = q;
                    memcpy(e.from, from, sizeof from);
                }
            }
    return e;
}

/* Where the link of cell g along c enters the body; 2: it does not. Beyond a plane of symmetry the
 * body is its mirror image, which the mirrored link meets inside the box. */
static double crossing_of(const struct domain *d, const struct body *b, const int g[3],
                          const int c[3])
{
    const double q = entry_of(d, b, g, c).crossing;
    int image[3], back[3];
    bool beyond = false;
    for (int a = 0; a < 3; a++) {
        const bool out = !d->box_periodic[a] && (g[a] + c[a] < 0 || g[a] + c[a] >= d->cells[a]);
        image[a] = out ? g[a] + c[a] : g[a];
        back[a] = out ? -c[a] : c[a];
        beyond = beyond || out;
    }
    return beyond && q > 0.5 ? fmax(0.5, entry_of(d, b, image, back).crossing) : q;
}

/* The first crossing with any interpolated body: where bodies overlap, the wall is the first
 * surface met, even if the solid cell belongs to another body. Half-way if no body contains that
 * cell, as in filled pores. */
static double first_crossing(const struct bodies *b, const struct domain *d, const int g[3],
                             const int c[3])
{
    double q = 2;
    for (int k = 0; k < b->count; k++)
        if (b->c->bodies[k].wall == BODY_WALL_interpolated)
            q = fmin(q, crossing_of(d, &b->body[k], g, c));
    return q > 1 ? 0.5 : q;
}

/* Where the link meets the surface of the body with caps. */
static double cap_crossing(const struct bodies *b, const struct domain *d, const int g[3],
                           const int c[3])
{
    double q = 2;
    for (int k = 0; k < b->count; k++)
        if (b->c->bodies[k].cap_count)
            q = entry_of(d, &b->body[k], g, c).crossing;
    return q > 1 ? 0.5 : q;
}

static uint8_t *tag_of(const struct domain *d, const struct near_cell *cell)
{
    return &d->tags[view_index(&d->view, cell->at[0], cell->at[1], cell->at[2])];
}

/* The cell type beyond a cell's link along c. */
static int type_beyond(const struct domain *d, const struct near_cell *cell, const int c[3])
{
    const struct view *const v = &d->view;
    return v->tags[view_index(v, cell->at[0] + c[0], cell->at[1] + c[1], cell->at[2] + c[2])] &
           TAG_ROW;
}

/* Does a link from a cell of one type into a body of the other need the body's normal? */
static bool needs_normal(const struct domain *d, const struct wants *wants, int type, int other)
{
    const int body = d->rows[other].body - 1;
    if (!d->rows[type].fluid)
        return wants->contact[type][other];
    return body >= 0 && (wants->oblique[body] || wants->area[body]);
}

/* Writes what the list has of a cell's link along c. facing: NULL where it is not needed. */
static void put_link(const struct bodies *b, const struct domain *d, const struct near_cell *cell,
                     const int c[3], const struct wants *wants, float *crossing, float *facing)
{
    const int type = *tag_of(d, cell) & TAG_ROW, other = type_beyond(d, cell, c);
    const int body = d->rows[other].body - 1;
    const bool axis = abs(c[0]) + abs(c[1]) + abs(c[2]) == 1;
    int g[3];
    for (int a = 0; a < 3; a++)
        g[a] = d->lo[a] + cell->at[a];
    *crossing = 0.5f;
    if (d->row_cap[other])
        *crossing = (float)cap_crossing(b, d, g, c);
    if (body >= 0 && b->c->bodies[body].wall == BODY_WALL_interpolated && d->rows[type].fluid)
        *crossing = (float)first_crossing(b, d, g, c);
    if (!facing)
        return;
    *facing = 1;
    if (!axis || !needs_normal(d, wants, type, other))
        return;
    const struct body_entry e = entry_of(d, &b->body[body], g, c);
    if (e.crossing <= 1) /* rounded: sums of it are exact in any order */
        *facing = (float)(floor(body_facing(&b->body[body], e.from, c) * FACING + 0.5) / FACING);
}

/* Adds, for each type of cell that the list's kernel steps, a copy with FLUID_listed or row_listed.
 * The same on all ranks. */
static enum status add_listed_rows(struct domain *d, const uint8_t met[TAG_ROWS],
                                   uint8_t listed[TAG_ROWS])
{
    const int rows = d->row_count;
    for (int row = 0; row < rows; row++) {
        if (!met[row])
            continue;
        if (d->row_count == TAG_ROWS)
            return fail_user("faces, regions, bodies and their labels together make more than %d "
                             "kinds of cells (fewer labels, bodies or regions)",
                             TAG_ROWS);
        listed[row] = (uint8_t)d->row_count++;
        d->rows[listed[row]] = d->rows[row];
        d->row_part[listed[row]] = d->row_part[row];
        d->row_listed[listed[row]] = !d->rows[row].fluid;
        if (d->rows[row].fluid)
            d->rows[listed[row]].fluid = FLUID_listed;
    }
    return STATUS_OK;
}

/* Cells of the block that belong in the list, in the order found. */
struct found {
    struct near_cell *cell;
    uint8_t *group; /* 0: stepped with the shell, 1: with the interior, 2: for sums alone */
    size_t count, crossings;
};

static bool add_found(struct found *f, struct near_cell cell, uint8_t group)
{
    if (!ARRAY_ROOM(f->cell, f->count) || !ARRAY_ROOM(f->group, f->count))
        return false;
    f->cell[f->count] = cell;
    f->group[f->count++] = group;
    f->crossings += (size_t)__builtin_popcount(cell.links);
    return true;
}

static bool find_near(const struct domain *d, const struct wants *wants, struct found *f)
{
    const int *const n = d->view.n;
    struct box shell[6], interior;
    domain_shell(d, shell, &interior);
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1] && !signals_number(); y++)
            for (int x = 0; x < n[0]; x++) {
                struct near_cell cell = {.at = {x, y, z}};
                const enum reason reason = look_at(d, wants, x, y, z, &cell.links);
                bool inner = true;
                for (int a = 0; a < 3; a++)
                    inner = inner && cell.at[a] >= interior.lo[a] && cell.at[a] < interior.hi[a];
                if (reason != REASON_none && !add_found(f, cell, reason == REASON_sums ? 2 : inner))
                    return false;
            }
    return true;
}

/* Memory of the list. */
static enum status make_room(struct domain *d, const struct found *f, bool facing)
{
    const size_t cells = f->count ? f->count : 1, links = f->crossings ? f->crossings : 1;
    if (f->count > INT_MAX || f->crossings > UINT32_MAX)
        return fail_machine("%zu cells beside bodies are too many for a rank (more ranks)",
                            f->count);
    d->near = malloc(cells * sizeof *d->near);
    d->crossing = malloc(links * sizeof *d->crossing);
    d->facing = facing ? malloc(links * sizeof *d->facing) : NULL;
    if (!d->near || !d->crossing || (facing && !d->facing))
        return fail_machine("out of memory for %zu cells beside bodies", f->count);
    d->view.near.cell = d->near;
    d->view.near.crossing = d->crossing;
    d->view.near.facing = d->facing;
    return STATUS_OK;
}

/* Writes what the list has of the links of a cell. */
static void put_links(const struct bodies *b, struct domain *d, const struct near_cell *cell,
                      const struct wants *wants)
{
    size_t at = cell->first;
    for (int i = 1; i < Q; i++)
        if (cell->links >> i & 1) {
            put_link(b, d, cell, velocities[opposite(i)], wants, &d->crossing[at],
                     d->facing ? &d->facing[at] : NULL);
            at++;
        }
}

/* Stores the list sorted by group, with its links. */
static enum status keep_found(const struct bodies *b, struct domain *d, const struct wants *wants,
                              const struct found *f)
{
    struct view *const v = &d->view;
    const enum status status = make_room(d, f, wants->facing);
    if (status)
        return status;
    for (uint8_t group = 0; group < 3; group++) {
        for (size_t k = 0; k < f->count; k++) {
            if (f->group[k] != group)
                continue;
            struct near_cell *const cell = &d->near[v->near.count++];
            *cell = f->cell[k];
            cell->first = (uint32_t)v->near.crossings;
            v->near.crossings += (size_t)__builtin_popcount(cell->links);
        }
        if (group == 0)
            d->near_shell = (int)v->near.count;
        if (group == 1)
            d->near_stepped = (int)v->near.count;
    }
#pragma omp parallel for num_threads(case_threads(b->c)) schedule(dynamic, 64)
    for (size_t k = 0; k < v->near.count; k++)
        if (!signals_number())
            put_links(b, d, &d->near[k], wants);
    return STATUS_OK;
}

/* Does a series of heat count a link from a cell of one type into a body of the other where the
 * cell is in the list? Links of a body into itself, and between bodies that both conduct, it counts
 * at other cells or not at all. */
static bool counts_link(const struct bodies *b, const struct domain *d, int type, int other,
                        int scalar)
{
    const struct case_scalar_wall *const here = wall_of(b, d, type, scalar);
    if (d->rows[type].fluid)
        return true;
    return here && here->kind == SCALAR_WALL_conduct && d->rows[type].body != d->rows[other].body &&
           wall_of(b, d, other, scalar)->kind != SCALAR_WALL_conduct;
}

/* Sums, over the links of axes into each body, the area of a cell's face minus the area of the
 * surface it stands for. Collective. */
static void sum_excess(const struct bodies *b, struct domain *d)
{
    int64_t excess[CASE_SCALARS][CASE_BODIES] = {{0}};
    for (size_t n = 0; n < d->view.near.count && d->facing; n++) {
        const struct near_cell *const cell = &d->near[n];
        const float *facing = d->facing + cell->first;
        for (int i = 1; i < Q_AXES; i++) {
            if (!(cell->links >> i & 1))
                continue;
            const int type = *tag_of(d, cell) & TAG_ROW,
                      other = type_beyond(d, cell, velocities[opposite(i)]);
            const int64_t part = (int64_t)((1 - *facing++) * (float)FACING);
            for (int k = 0; k < b->c->scalar_count && d->rows[other].body && part; k++)
                if (counts_link(b, d, type, other, k))
                    excess[k][d->rows[other].body - 1] += part;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, excess, CASE_SCALARS * CASE_BODIES, MPI_INT64_T, MPI_SUM, d->comm);
    for (int k = 0; k < CASE_SCALARS; k++)
        for (int body = 0; body < CASE_BODIES; body++)
            d->body_excess[k][body] = (double)excess[k][body] / FACING;
}

/* The speed of a body's surface where the link of cell `at` of the block along c meets it. */
static double surface_speed(const struct view *v, const struct tag_row *row, const int32_t at[3],
                            const int c[3], double q)
{
    double arm[3], u[3];
    surface_arm(v, row, at, c, q, arm);
    surface_velocity(row, arm, u);
    return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

/* Surfaces have the same speed limit as inflow through faces, MACH_MAX. Collective. */
static enum status check_speeds(const struct bodies *b, const struct domain *d)
{
    const struct view *const v = &d->view;
    double fastest[CASE_BODIES] = {0};
    for (size_t k = 0; k < v->near.count; k++) {
        const struct near_cell *const cell = &d->near[k];
        const float *crossing = d->crossing + cell->first;
        const bool fluid = v->rows[*tag_of(d, cell) & TAG_ROW].fluid;
        for (int i = 1; i < Q && fluid; i++) {
            const int c[3] = {-velocities[i][0], -velocities[i][1], -velocities[i][2]};
            if (!(cell->links >> i & 1))
                continue;
            const double q = (double)*crossing++;
            const uint8_t tag =
                v->tags[view_index(v, cell->at[0] + c[0], cell->at[1] + c[1], cell->at[2] + c[2])];
            const struct tag_row *const row = &v->rows[tag & TAG_ROW];
            if (row->body)
                fastest[row->body - 1] =
                    fmax(fastest[row->body - 1], surface_speed(v, row, cell->at, c, q));
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, fastest, b->count, MPI_DOUBLE, MPI_MAX, d->comm);
    for (int k = 0; k < b->count; k++)
        if (fastest[k] * sqrt(3.0) > MACH_MAX)
            return fail_case(b->c->bodies[k].place,
                             "bodies.%s: its surface is as fast as %.4g cells a step, Mach %.3g, "
                             "where it is farthest from its axis (at most Mach %g, %.3g cells a "
                             "step: turn it more slowly, with a smaller viscosity the Reynolds "
                             "number stays)",
                             b->c->bodies[k].name, fastest[k], fastest[k] * sqrt(3.0), MACH_MAX,
                             MACH_MAX / sqrt(3.0));
    return STATUS_OK;
}

enum status near_list_make(const struct bodies *b, struct domain *d)
{
    uint8_t met[TAG_ROWS] = {0}, listed[TAG_ROWS] = {0};
    struct wants wants = {.facing = false};
    bool any = false;
    struct found found = {0};
    enum status status = STATUS_OK;
    for (int k = 0; k < b->count; k++) {
        wants.oblique[k] = case_oblique_flux(b->c, k);
        wants.area[k] = bodies_want_area(b->c, k);
        wants.sums[k] = wants_forces(b->c, k) || wants.area[k];
        wants.facing = wants.facing || wants.oblique[k] || wants.area[k];
        any = any || wants.sums[k] || wants.oblique[k] || bodies_has_surface(&b->c->bodies[k]) ||
              b->c->bodies[k].cap_count;
    }
    if (!any)
        return STATUS_OK;
    find_contacts(b, d, &wants);
    if (!find_near(d, &wants, &found))
        status = fail_machine("out of memory for the cells beside bodies");
    for (size_t k = 0; k < found.count && !status; k++)
        if (found.group[k] < 2)
            met[*tag_of(d, &found.cell[k]) & TAG_ROW] = 1;
    MPI_Allreduce(MPI_IN_PLACE, met, TAG_ROWS, MPI_UINT8_T, MPI_MAX, d->comm);
    if (!status)
        status = add_listed_rows(d, met, listed);
    if (!status)
        status = keep_found(b, d, &wants, &found);
    for (int k = 0; k < d->near_stepped && !status; k++) {
        uint8_t *const tag = tag_of(d, &d->near[k]);
        *tag = (uint8_t)(listed[*tag & TAG_ROW] | (*tag & ~TAG_ROW));
    }
    free(found.cell);
    free(found.group);
    status = status_agree(d->comm, status);
    if (!status)
        status = stop_agree(d->comm);
    if (status)
        return status;
    if (wants.facing)
        sum_excess(b, d);
    return check_speeds(b, d);
}
