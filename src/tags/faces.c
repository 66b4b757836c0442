/* Cell types and tags of the box's faces; see faces.h.
 *
 * They follow from the case and global coordinates only: all ranks have the same cell types, and a
 * cell has the same type in every decomposition. */
#include "tags/faces.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "boundary.h"
#include "exact.h"
#include "tags/profile.h"

/* A face or a part of one. */
struct opening {
    const struct case_face *what;
    int face;
    uint8_t beyond; /* type of the cells beyond it */
    uint32_t table; /* as in struct tag_row */
    uint8_t signal, signal_density;
    bool held; /* a controller sets the density */
};

/* The type of a node of open faces: fluid: its type before; row: its type as a node; openings:
 * those that it is a node of. */
struct node_row {
    uint8_t fluid, row;
    int count, openings[3];
};

struct faces {
    struct domain *d;
    const struct flow_case *c;
    int count; /* number of openings: the six faces, then the patches */
    struct opening *opening;
    struct node_row node[TAG_ROWS];
    int nodes;
};

/* Opening k; levels above 0 end before those that fluid can pass. */
static const struct case_face *opening_of(const struct domain *d, const struct flow_case *c, int k)
{
    static const struct case_face rest = {.kind = FACE_wall, .density = 1};
    const struct case_face *const what = case_opening(c, k);
    return d->level && face_open(what->kind) ? &rest : what;
}

int faces_opening_at(const struct domain *d, const struct flow_case *c, int face, const int g[3])
{
    int axes[2], at[2], found = face;
    face_axes(face, axes);
    for (int k = 0; k < 2; k++) {
        const int cells = c->cells[axes[k]];
        at[k] = domain_wrap(d, axes[k], g[axes[k]]);
        at[k] = at[k] < 0 ? 0 : at[k] >= cells ? cells - 1 : at[k];
    }
    for (int k = 0; k < c->patch_count; k++)
        if (c->patches[k].face == face && patch_holds(&c->patches[k], c->cells, at[0], at[1]))
            found = 6 + k;
    return found;
}

static int opening_at(const struct faces *f, int face, const int g[3])
{
    return faces_opening_at(f->d, f->c, face, g);
}

/* The rule of the cells beyond the face. */
static int rule_of(const struct case_face *what)
{
#define X(name, has, links, nodes) {BOUNDARY_##links, BOUNDARY_##nodes},
    static const struct {
        int links, nodes;
    } rules[] = {FACE_LIST(X)};
#undef X
    const bool moves = what->velocity[0] || what->velocity[1] || what->velocity[2];
    if (what->kind == FACE_wall && moves)
        return BOUNDARY_moving;
    return what->rule == FACE_RULE_links ? rules[what->kind].links : rules[what->kind].nodes;
}

/* Are the outermost fluid cells nodes of this opening? */
static bool has_nodes(const struct case_face *what)
{
    return boundary_is(rule_of(what)) & RULE_nodes;
}

/* Adds a cell type; *number is its index. */
static enum status add_row(struct domain *d, const struct tag_row *row, uint8_t *number)
{
    if (d->row_count == TAG_ROWS)
        return fail_user("faces, their parts and regions come together in more than %d ways",
                         TAG_ROWS - TAG_FIRST_FACE);
    *number = (uint8_t)d->row_count;
    d->rows[d->row_count++] = *row;
    return STATUS_OK;
}

/* Size of a face's table along its axes: the block's cells and one more on either side. */
static void table_size(const struct domain *d, const int axes[2], int n[2])
{
    for (int k = 0; k < 2; k++)
        n[k] = d->view.n[axes[k]] + 2;
}

/* Writes this block's part of the velocity over a face into its table; open: the part of the face
 * that is left, NULL: all. */
static enum status fill_table(const struct faces *f, const struct opening *o,
                              const struct profile_open *open)
{
    struct domain *const d = f->d;
    const size_t place = o->table - 1;
    int axes[2], n[2];
    face_axes(o->face, axes);
    table_size(d, axes, n);
    const int *const cells = f->c->cells;
    double *const whole =
        malloc(3 * (size_t)cells[axes[0]] * (size_t)cells[axes[1]] * sizeof *whole);
    if (!whole)
        return fail_machine("out of memory for the velocities at face %s", face_name(o->face));
    const enum status status = profile_values(f->c, o->face, o->what, open, whole);
    for (int k = 0; !status && k < n[0] * n[1]; k++) {
        int at[2] = {d->lo[axes[0]] + k % n[0] - 1, d->lo[axes[1]] + k / n[0] - 1};
        for (int a = 0; a < 2; a++) {
            const int last = cells[axes[a]] - 1;
            at[a] = domain_wrap(d, axes[a], at[a]);
            at[a] = at[a] < 0 ? 0 : at[a] > last ? last : at[a];
        }
        memcpy(d->table + place + 3 * (size_t)k,
               whole + 3 * ((size_t)at[1] * (size_t)cells[axes[0]] + (size_t)at[0]),
               3 * sizeof *whole);
    }
    free(whole);
    return status;
}

static enum status make_table(struct faces *f, struct opening *o)
{
    size_t place;
    int axes[2], n[2];
    face_axes(o->face, axes);
    table_size(f->d, axes, n);
    const enum status status = domain_table(f->d, 3 * (size_t)n[0] * (size_t)n[1], &place);
    if (status)
        return status;
    o->table = (uint32_t)(place + 1);
    return fill_table(f, o, NULL);
}

/* Copies parameters of an opening to a cell type. */
static void put_velocity(const struct opening *o, struct tag_row *row)
{
    row->face = (uint8_t)o->face;
    row->table = o->table;
    row->signal_velocity = o->signal;
    tag_row_move(row, o->what->velocity);
}

static void put_density(const struct opening *o, struct tag_row *row)
{
    row->drho = o->held ? 1 : o->what->density - 1;
    row->signal_density = o->signal_density;
    row->reflection = o->what->reflection;
}

/* Does the opening do anything to scalars? */
static bool gives_scalars(const struct flow_case *c, const struct case_face *what)
{
    bool gives = false;
    for (int k = 0; k < c->scalar_count; k++)
        gives = gives || what->scalar[k].kind != SCALAR_WALL_adiabatic;
    return gives;
}

static enum status make_opening(struct faces *f, struct opening *o)
{
    const int rule = rule_of(o->what);
    struct tag_row row = {.boundary = (uint8_t)rule};
    enum status status = domain_signal(f->d, &o->what->signal, &o->signal);
    o->beyond = TAG_WALL;
    o->signal_density = o->signal;
    o->held = o->what->share > 0;
    if (!status && o->held)
        status = domain_held(f->d, (int)(o - f->opening), &o->signal_density);
    if (status || (boundary_is(rule) & RULE_as_sent && !gives_scalars(f->c, o->what)))
        return status;
    if (face_has(o->what->kind, FACE_HAS_profile) && o->what->profile != PROFILE_uniform)
        status = make_table(f, o);
    if (status)
        return status;
    put_velocity(o, &row);
    if (o->what->kind == FACE_wall) {
        row.face = 0;
        row.signal = o->signal;
    } else if (face_holds_density(o->what)) {
        put_density(o, &row);
    }
    status = add_row(f->d, &row, &o->beyond);
    f->d->row_opening[o->beyond] = (uint8_t)(1 + (o - f->opening));
    return status;
}

/* Openings that have cell g as a node, in the order of faces; returns their number. */
static int openings_of(const struct faces *f, const int g[3], int openings[3])
{
    int count = 0;
    for (int face = 0; face < 6; face++) {
        const int axis = face / 2, last = face & 1 ? f->c->cells[axis] - 1 : 0;
        if (f->d->box_periodic[axis] || g[axis] != last)
            continue;
        const int o = opening_at(f, face, g);
        if (has_nodes(f->opening[o].what) && count < 3)
            openings[count++] = o;
    }
    return count;
}

/* The velocity of a node where faces of given density meet. Across each face: the velocity that
 * another one of them gives along itself. Along all of them: the first one's. If one of them
 * varies over the face or in time, the whole velocity is the first one's: then nothing flows
 * across the others. */
static void velocity_between(const struct faces *f, const struct node_row *node,
                             struct tag_row *row)
{
    double u[3];
    for (int a = 0; a < 3; a++)
        u[a] = row->wall_velocity[a];
    for (int k = 0; k < node->count; k++)
        if (f->opening[node->openings[k]].table || f->opening[node->openings[k]].signal)
            return;
    for (int k = node->count - 1; k >= 0; k--)
        for (int other = 0; other < node->count; other++) {
            const int across = f->opening[node->openings[other]].face / 2;
            if (other != k)
                u[across] = f->opening[node->openings[k]].what->velocity[across];
        }
    tag_row_move(row, u);
}

/* May fluid leave through the opening? A profile from a file counts as an inlet. */
static bool lets_out(const struct opening *o)
{
    const double along = o->what->velocity[o->face / 2];
    return o->what->kind != FACE_velocity || (o->face & 1 ? along > 0 : along < 0);
}

/* The type of a fluid cell that is a node of some openings. Where they meet, the first one with a
 * given velocity sets the velocity, the first one with a given density the density. */
static struct tag_row node_row(const struct faces *f, const struct node_row *node)
{
    struct tag_row row = f->d->rows[node->fluid];
    const struct opening *velocity = NULL, *density = NULL, *sound = NULL;
    int densities = 0;
    for (int k = node->count - 1; k >= 0; k--) {
        const struct opening *const o = &f->opening[node->openings[k]];
        row.outside |= (uint8_t)(1 << o->face);
        row.shear_lost = f->c->levels > 1 && lets_out(o) ? 0.25 : 0;
        if (o->what->kind == FACE_velocity)
            velocity = o;
        else if (o->what->kind == FACE_pressure)
            density = o, densities++;
        else
            sound = o;
    }
    if (density) {
        put_velocity(density, &row);
        put_density(density, &row);
        row.boundary = (uint8_t)rule_of(density->what);
        if (velocity || densities > 1 || sound)
            row.boundary = BOUNDARY_edge_regularised;
        if (!velocity && (densities > 1 || sound))
            velocity_between(f, node, &row);
    } else if (!velocity) {
        put_velocity(sound, &row);
        put_density(sound, &row);
        row.boundary = (uint8_t)rule_of(sound->what);
    }
    if (velocity) {
        put_velocity(velocity, &row);
        row.boundary = (uint8_t)(density ? BOUNDARY_edge_regularised : rule_of(velocity->what));
    }
    return row;
}

/* Finds the type of fluid cell g, whose type was `fluid`, as a node; adds it if necessary. */
static enum status find_node(struct faces *f, uint8_t fluid, const int g[3], uint8_t *row)
{
    struct node_row node = {.fluid = fluid};
    node.count = openings_of(f, g, node.openings);
    *row = fluid;
    if (node.count == 0)
        return STATUS_OK;
    for (int k = 0; k < f->nodes; k++) {
        const struct node_row *const other = &f->node[k];
        if (other->fluid == fluid && other->count == node.count &&
            !memcmp(other->openings, node.openings, sizeof node.openings)) {
            *row = other->row;
            return STATUS_OK;
        }
    }
    const struct tag_row made = node_row(f, &node);
    const enum status status = add_row(f->d, &made, &node.row);
    if (!status) {
        f->node[f->nodes++] = node;
        *row = node.row;
    }
    return status;
}

/* Makes the types of all nodes of the box, so that all ranks have the same. */
static enum status make_nodes(struct faces *f, const uint8_t *fluid_rows, int count)
{
    enum status status = STATUS_OK;
    for (int face = 0; face < 6; face++) {
        int axes[2], g[3];
        bool any = has_nodes(f->opening[face].what);
        for (int k = 0; k < f->c->patch_count; k++)
            any = any || (f->c->patches[k].face == face && has_nodes(f->opening[6 + k].what));
        if (!any || f->d->box_periodic[face / 2])
            continue;
        if (f->c->cells[face / 2] == 1)
            return fail_user("the box is one cell wide behind face %s, whose nodes are on the face "
                             "(at least 2)",
                             face_name(face));
        face_axes(face, axes);
        g[face / 2] = face & 1 ? f->c->cells[face / 2] - 1 : 0;
        for (g[axes[1]] = 0; g[axes[1]] < f->c->cells[axes[1]]; g[axes[1]]++)
            for (g[axes[0]] = 0; g[axes[0]] < f->c->cells[axes[0]]; g[axes[0]]++)
                for (int k = 0; !status && k < count; k++) {
                    uint8_t row;
                    status = find_node(f, fluid_rows[k], g, &row);
                }
    }
    return status;
}

/* Beyond an edge of the box, the rule with the larger precedence holds, with its velocity. Two
 * walls make a wall at rest: a lid does not push round the corner. Two planes of symmetry make a
 * wall too, which sends back what arrives. */
uint8_t faces_beyond(const struct domain *d, const struct flow_case *c, const int g[3])
{
    const struct case_face *best = NULL;
    uint8_t type = TAG_FLUID;
    int beyond = 0, walls = 0;
    for (int a = 0; a < 3; a++) {
        if (d->box_periodic[a] || (g[a] >= 0 && g[a] < d->cells[a]))
            continue;
        const int k = faces_opening_at(d, c, 2 * a + (g[a] >= d->cells[a]), g);
        const struct case_face *const what = opening_of(d, c, k);
        beyond++;
        walls += what->kind == FACE_wall;
        if (best && boundary_precedence(rule_of(what)) <= boundary_precedence(rule_of(best)))
            continue;
        best = what;
        type = d->opening[k].beyond;
    }
    if (beyond == 3 || walls > 1 || (beyond == 2 && best->kind == FACE_slip))
        return TAG_WALL;
    return type;
}

static enum status set_tags(struct faces *f)
{
    struct domain *const d = f->d;
    const struct view *const v = &d->view;
    enum status status = STATUS_OK;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                uint8_t *const tag = &d->tags[view_index(v, x, y, z)];
                const uint8_t beyond = faces_beyond(d, f->c, g);
                if (beyond != TAG_FLUID) {
                    *tag = beyond;
                    continue;
                }
                for (int a = 0; a < 3; a++)
                    g[a] = domain_wrap(d, a, g[a]);
                const bool inner = g[0] > 0 && g[1] > 0 && g[2] > 0 && g[0] < d->cells[0] - 1 &&
                                   g[1] < d->cells[1] - 1 && g[2] < d->cells[2] - 1;
                if (!inner && d->rows[*tag & TAG_ROW].fluid && !status)
                    status = find_node(f, *tag & TAG_ROW, g, tag);
                if (inner) /* to the last cell of the row */
                    x = d->cells[0] - 2 - d->lo[0];
            }
    return status;
}

static void name_opening(struct faces *f, int k, struct opening *o)
{
    const struct flow_case *const c = f->c;
    *o = (struct opening){.what = opening_of(f->d, c, k),
                          .face = case_opening_side(c, k),
                          .table = f->d->opening[k].table};
}

static enum status faces_open(struct faces *f, struct domain *d, const struct flow_case *c)
{
    *f = (struct faces){.d = d, .c = c, .count = case_openings(c)};
    f->opening = calloc((size_t)f->count, sizeof *f->opening);
    if (!f->opening)
        return fail_machine("out of memory for the faces");
    for (int k = 0; k < f->count; k++)
        name_opening(f, k, &f->opening[k]);
    return STATUS_OK;
}

/* Makes all openings with their cell types and tables. */
static enum status make_openings(struct faces *f, struct domain *d, const struct flow_case *c)
{
    *f = (struct faces){0};
    d->openings = case_openings(c);
    d->opening = calloc((size_t)d->openings, sizeof *d->opening);
    if (!d->opening)
        return fail_machine("out of memory for the faces");
    enum status status = faces_open(f, d, c);
    for (int k = 0; k < f->count && !status; k++) {
        status = make_opening(f, &f->opening[k]);
        d->opening[k].table = f->opening[k].table;
        d->opening[k].beyond = f->opening[k].beyond;
    }
    return status;
}

enum status domain_faces(struct domain *d, const struct flow_case *c)
{
    struct faces f;
    uint8_t fluid_rows[TAG_ROWS];
    int fluids = 0;
    enum status status = make_openings(&f, d, c);
    for (int row = 0; row < d->row_count; row++)
        if (d->rows[row].fluid)
            fluid_rows[fluids++] = (uint8_t)row;
    if (!status)
        status = make_nodes(&f, fluid_rows, fluids);
    if (!status)
        status = set_tags(&f);
    free(f.opening);
    return status;
}

/* ---- when bodies are there ---- */

double faces_inward(const struct domain *d, const struct flow_case *c, int opening, int face,
                    const int g[3])
{
    const struct case_face *const what = opening_of(d, c, opening);
    const uint32_t table = d->opening[opening].table;
    const int axis = face / 2;
    int axes[2], n[2];
    if (what->kind != FACE_velocity && what->kind != FACE_wall)
        return 0;
    double u = what->velocity[axis];
    if (table) {
        face_axes(face, axes);
        table_size(d, axes, n);
        const int i = g[axes[0]] - d->lo[axes[0]] + 1, j = g[axes[1]] - d->lo[axes[1]] + 1;
        u = d->table[table - 1 + 3 * ((size_t)j * (size_t)n[0] + (size_t)i) + (size_t)axis];
    }
    return face % 2 ? -u : u;
}

/* Runs `body` for each cell of the block at a face that is not periodic; `o` is its opening. */
#define EACH_FACE_CELL(body)                                                                       \
    for (int face = 0; face < 6; face++) {                                                         \
        int axes[2], g[3];                                                                         \
        const int axis = face / 2, end = face % 2 ? d->cells[axis] - 1 : 0;                        \
        face_axes(face, axes);                                                                     \
        if (d->box_periodic[axis] || end < d->lo[axis] || end >= d->lo[axis] + d->view.n[axis])    \
            continue;                                                                              \
        g[axis] = end;                                                                             \
        for (int j = 0; j < d->view.n[axes[1]]; j++)                                               \
            for (int i = 0; i < d->view.n[axes[0]]; i++) {                                         \
                g[axes[0]] = d->lo[axes[0]] + i;                                                   \
                g[axes[1]] = d->lo[axes[1]] + j;                                                   \
                const int o = faces_opening_at(d, c, face, g);                                     \
                body;                                                                              \
            }                                                                                      \
    }

/* Without tags all cells are fluid. */
static bool is_fluid(const struct domain *d, const int g[3])
{
    return !d->tags || view_fluid(&d->view, view_index(&d->view, g[0] - d->lo[0], g[1] - d->lo[1],
                                                       g[2] - d->lo[2]));
}

/* Counts a cell of the face that is not covered. */
static void count_open(struct domain_opening *n, const int axes[2], const int g[3])
{
    n->open++;
    for (int k = 0; k < 2; k++) {
        const int at = g[axes[k]];
        n->lo[k] = at < n->lo[k] ? at : n->lo[k];
        n->hi[k] = at + 1 > n->hi[k] ? at + 1 : n->hi[k];
    }
}

/* Counts a cell for its face and for all patches whose shape contains it. */
static void count_all(const struct flow_case *c, struct domain_opening *opening, int face, int i,
                      int j)
{
    opening[face].cells++;
    for (int k = 0; k < c->patch_count; k++)
        if (c->patches[k].face == face && patch_holds(&c->patches[k], c->cells, i, j))
            opening[6 + k].cells++;
}

/* Counts the cells of all openings, the same on all ranks. */
static void count_cells(struct domain *d, const struct flow_case *c)
{
    struct domain_opening *const all = d->opening;
    for (int k = 0; k < d->openings; k++)
        all[k].lo[0] = all[k].lo[1] = INT_MAX;
    EACH_FACE_CELL({
        count_all(c, all, face, g[axes[0]], g[axes[1]]);
        if (is_fluid(d, g))
            count_open(&all[o], axes, g);
    })
    for (int k = 0; k < d->openings; k++) {
        MPI_Allreduce(MPI_IN_PLACE, &all[k].cells, 1, MPI_INT64_T, MPI_SUM, d->comm);
        MPI_Allreduce(MPI_IN_PLACE, &all[k].open, 1, MPI_INT64_T, MPI_SUM, d->comm);
        MPI_Allreduce(MPI_IN_PLACE, all[k].lo, 2, MPI_INT, MPI_MIN, d->comm);
        MPI_Allreduce(MPI_IN_PLACE, all[k].hi, 2, MPI_INT, MPI_MAX, d->comm);
    }
}

void faces_name(const struct flow_case *c, int opening, char name[FACES_NAME])
{
    if (opening < 6)
        snprintf(name, FACES_NAME, "faces.%s", face_name(opening));
    else
        snprintf(name, FACES_NAME, "patches.%s", c->patches[opening - 6].name);
}

/* Fits the profile of an opening to the part that is left. */
static enum status fit_profile(const struct faces *f, int k)
{
    const struct opening *const o = &f->opening[k];
    const struct case_patch *const patch = k < 6 ? NULL : &f->c->patches[k - 6];
    struct domain_opening *const n = &f->d->opening[k];
    const struct profile_open open = {{n->lo[0], n->lo[1]}, {n->hi[0], n->hi[1]}};
    const int64_t rectangle = (int64_t)(n->hi[0] - n->lo[0]) * (n->hi[1] - n->lo[1]);
    char name[FACES_NAME];
    if (n->open == n->cells || !o->table || !profile_has(o->what->profile, PROFILE_HAS_edges))
        return STATUS_OK;
    n->fitted = rectangle == n->open && (!patch || patch->shape == PATCH_rectangle);
    if (n->fitted)
        return fill_table(f, o, &open);
    faces_name(f->c, k, name);
    return fail_case(o->what->place,
                     "%s: bodies or later patches leave %lld of its %lld cells, which are no "
                     "rectangle that its profile could span (make the open part a patch of its "
                     "own, for example patches: {inlet: {face: %s, disc: {...}, %s: {...}}}; or "
                     "profile: uniform)",
                     name, (long long)n->open, (long long)n->cells, face_name(o->face),
                     o->what->kind == FACE_velocity ? "velocity" : "pressure");
}

/* Sums the given inflow through each opening. */
static void sum_inflow(struct domain *d, const struct flow_case *c)
{
    struct exact_sum sum[6 + CASE_PATCHES] = {{0}};
    int64_t parts[6 + CASE_PATCHES][3];
    EACH_FACE_CELL({
        if (is_fluid(d, g))
            exact_add(&sum[o], faces_inward(d, c, o, face, g));
    })
    for (int k = 0; k < d->openings; k++)
        exact_split(&sum[k], parts[k]);
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * d->openings, MPI_INT64_T, MPI_SUM, d->comm);
    for (int k = 0; k < d->openings; k++) {
        sum[k] = exact_join(parts[k]);
        d->opening[k].inflow = exact_value(&sum[k]);
    }
}

enum status faces_fit(struct domain *d, const struct flow_case *c)
{
    struct faces f;
    if (d->level) /* it has no openings */
        return STATUS_OK;
    enum status status = status_agree(d->comm, faces_open(&f, d, c));
    if (!status)
        count_cells(d, c);
    for (int k = 0; k < d->openings && !status; k++) {
        const struct opening *const o = &f.opening[k];
        char name[FACES_NAME];
        faces_name(c, k, name);
        if (face_open(o->what->kind) && !d->opening[k].open)
            status = fail_case(o->what->place,
                               "%s: bodies or later patches cover all of its %lld cells (leave "
                               "some open, or remove it)",
                               name, (long long)d->opening[k].cells);
        else
            status = fit_profile(&f, k);
    }
    free(f.opening);
    status = status_agree(d->comm, status);
    if (!status)
        sum_inflow(d, c);
    return status;
}

/* ---- without tags ---- */

/* Are all faces small enough to count their cells, and make tables, on one process? */
static bool is_small(const struct flow_case *c)
{
    static const double counted = 0x1p26, tabled = 0x1p22;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        const double most = what->profile == PROFILE_uniform ? counted : tabled;
        int axes[2];
        face_axes(case_opening_side(c, k), axes);
        if ((double)c->cells[axes[0]] * c->cells[axes[1]] > most)
            return false;
    }
    return true;
}

enum status faces_alone(struct domain *d, const struct flow_case *c, bool *known)
{
    static const int uncut[3] = {1, 1, 1};
    struct faces f;
    domain_layout(d, c, uncut, 0);
    *known = is_small(c);
    if (!*known)
        return STATUS_OK;
    d->comm = MPI_COMM_SELF;
    d->fluid_cells = (int64_t)c->cells[0] * c->cells[1] * c->cells[2];
    enum status status = make_openings(&f, d, c);
    free(f.opening);
    return status ? status : faces_fit(d, c);
}
