/* Rows and tags of the box's faces; see faces.h.
 *
 * Everything is decided from the case and global coordinates: all ranks have the same rows, and any
 * cut gives a cell the same. */
#include "domain/faces.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "boundary.h"
#include "domain/profile.h"

/* A face or a part of one. */
struct opening {
    const struct case_face *what;
    int face;
    uint8_t beyond; /* row of the cells beyond it */
    uint32_t table; /* as in struct tag_row */
    uint8_t signal;
};

/* The row of a fluid cell that is a node of open faces: which it was and of which they are. */
struct node_row {
    uint8_t fluid, row;
    int count, openings[3];
};

struct faces {
    struct domain *d;
    const struct flow_case *c;
    int count; /* the six faces and the patches after them */
    struct opening *opening;
    struct node_row node[TAG_ROWS];
    int nodes;
};

/* The opening of a face beside the cell g, coordinates beyond the box moved into it. */
static int opening_at(const struct faces *f, int face, const int g[3])
{
    int axes[2], at[2], found = face;
    face_axes(face, axes);
    for (int k = 0; k < 2; k++) {
        const int cells = f->c->cells[axes[k]];
        at[k] = g[axes[k]];
        if (f->d->periodic[axes[k]])
            at[k] = (at[k] + cells) % cells;
        at[k] = at[k] < 0 ? 0 : at[k] >= cells ? cells - 1 : at[k];
    }
    for (int k = 0; k < f->c->patch_count; k++)
        if (f->c->patches[k].face == face &&
            patch_holds(&f->c->patches[k], f->c->cells, at[0], at[1]))
            found = 6 + k;
    return found;
}

/* Which rule it is to cells beyond the face. */
static int rule_of(const struct case_face *what)
{
    const bool moves = what->velocity[0] || what->velocity[1] || what->velocity[2];
    const bool links = what->rule == FACE_RULE_links;
    switch (what->kind) {
    case FACE_periodic:
        return BOUNDARY_none;
    case FACE_wall:
        return moves ? BOUNDARY_moving : BOUNDARY_halfway;
    case FACE_slip:
        return BOUNDARY_slip;
    case FACE_velocity:
        return links ? BOUNDARY_velocity_links : BOUNDARY_velocity_regularised;
    case FACE_pressure:
        return links ? BOUNDARY_pressure_links : BOUNDARY_pressure_regularised;
    case FACE_outflow:
        return BOUNDARY_outflow;
    case FACE_nonreflecting:
        return BOUNDARY_nonreflecting;
    }
    return BOUNDARY_halfway;
}

/* Are the outermost fluid cells its nodes? */
static bool has_nodes(int rule)
{
    return rule == BOUNDARY_velocity_regularised || rule == BOUNDARY_pressure_regularised ||
           rule == BOUNDARY_nonreflecting;
}

/* A new row, with its number. */
static enum status add_row(struct domain *d, const struct tag_row *row, uint8_t *number)
{
    if (d->row_count == TAG_ROWS)
        return fail_user("faces, their parts and regions come together in more than %d ways",
                         TAG_ROWS - TAG_FIRST_FACE);
    *number = (uint8_t)d->row_count;
    d->rows[d->row_count++] = *row;
    return STATUS_OK;
}

/* This block's part of a velocity over a face, one more cell on either side, into the table. */
static enum status fill_table(struct faces *f, struct opening *o)
{
    struct domain *const d = f->d;
    int axes[2];
    face_axes(o->face, axes);
    const int *const cells = f->c->cells;
    const int n[2] = {d->view.n[axes[0]] + 2, d->view.n[axes[1]] + 2};
    size_t place = 0;
    double *const whole =
        malloc(3 * (size_t)cells[axes[0]] * (size_t)cells[axes[1]] * sizeof *whole);
    if (!whole)
        return fail_machine("out of memory for the velocities at face %s", face_name(o->face));
    enum status status = profile_values(f->c, o->face, o->what, whole);
    if (!status)
        status = domain_table(d, 3 * (size_t)n[0] * (size_t)n[1], &place);
    for (int k = 0; !status && k < n[0] * n[1]; k++) {
        int at[2] = {d->lo[axes[0]] + k % n[0] - 1, d->lo[axes[1]] + k / n[0] - 1};
        for (int a = 0; a < 2; a++) {
            const int last = cells[axes[a]] - 1;
            if (d->periodic[axes[a]])
                at[a] = (at[a] + last + 1) % (last + 1);
            at[a] = at[a] < 0 ? 0 : at[a] > last ? last : at[a];
        }
        memcpy(d->table + place + 3 * (size_t)k,
               whole + 3 * ((size_t)at[1] * (size_t)cells[axes[0]] + (size_t)at[0]),
               3 * sizeof *whole);
    }
    free(whole);
    o->table = (uint32_t)(place + 1);
    return status;
}

/* Parameters of an opening in a row. */
static void put_velocity(const struct opening *o, struct tag_row *row)
{
    row->face = (uint8_t)o->face;
    row->table = o->table;
    row->signal_velocity = o->signal;
    tag_row_move(row, o->what->velocity);
}

static void put_density(const struct opening *o, struct tag_row *row)
{
    row->drho = o->what->density - 1;
    row->signal_density = o->signal;
    row->reflection = o->what->reflection;
}

static enum status make_opening(struct faces *f, struct opening *o)
{
    const int rule = rule_of(o->what);
    struct tag_row row = {.boundary = (uint8_t)rule};
    enum status status = domain_signal(f->d, &o->what->signal, &o->signal);
    o->beyond = TAG_WALL;
    if (status || rule == BOUNDARY_none || rule == BOUNDARY_halfway)
        return status;
    if ((o->what->kind == FACE_velocity || o->what->kind == FACE_pressure) &&
        o->what->profile != PROFILE_uniform)
        status = fill_table(f, o);
    if (status)
        return status;
    put_velocity(o, &row);
    if (rule == BOUNDARY_moving) {
        row.face = 0;
        row.signal = o->signal;
    } else if (o->what->kind == FACE_pressure || o->what->kind == FACE_nonreflecting) {
        put_density(o, &row);
    }
    return add_row(f->d, &row, &o->beyond);
}

/* Openings of whose nodes the cell g is one, faces in order; how many. */
static int openings_of(const struct faces *f, const int g[3], int openings[3])
{
    int count = 0;
    for (int face = 0; face < 6; face++) {
        const int axis = face / 2, last = face & 1 ? f->c->cells[axis] - 1 : 0;
        if (f->d->periodic[axis] || g[axis] != last)
            continue;
        const int o = opening_at(f, face, g);
        if (has_nodes(rule_of(f->opening[o].what)) && count < 3)
            openings[count++] = o;
    }
    return count;
}

/* The row of a fluid cell that is a node of some openings. Where they meet the velocity is that of
 * the first that gives one, the density of the first that gives one; where faces of given density
 * meet each says that nothing flows along it, so nothing flows. */
static struct tag_row node_row(const struct faces *f, const struct node_row *node)
{
    struct tag_row row = f->d->rows[node->fluid];
    const struct opening *velocity = NULL, *density = NULL, *sound = NULL;
    int densities = 0;
    for (int k = node->count - 1; k >= 0; k--) {
        const struct opening *const o = &f->opening[node->openings[k]];
        row.outside |= (uint8_t)(1 << o->face);
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
        row.boundary = BOUNDARY_pressure_regularised;
        if (velocity || densities > 1 || sound)
            row.boundary = BOUNDARY_edge_regularised;
    } else if (!velocity) {
        put_velocity(sound, &row);
        put_density(sound, &row);
        row.boundary = BOUNDARY_nonreflecting;
    }
    if (velocity) {
        put_velocity(velocity, &row);
        row.boundary = density ? BOUNDARY_edge_regularised : BOUNDARY_velocity_regularised;
    }
    return row;
}

/* The row of the fluid cell g, which was `fluid`; a new one if there is none. */
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

/* Rows of all nodes of the box, so that they are the same on all ranks. */
static enum status make_nodes(struct faces *f, const uint8_t *fluid_rows, int count)
{
    enum status status = STATUS_OK;
    for (int face = 0; face < 6; face++) {
        int axes[2], g[3];
        bool any = has_nodes(rule_of(f->opening[face].what));
        for (int k = 0; k < f->c->patch_count; k++)
            any = any ||
                  (f->c->patches[k].face == face && has_nodes(rule_of(&f->c->patches[k].opening)));
        if (!any || f->d->periodic[face / 2])
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

/* Of the rules of two faces that meet beyond an edge, that of what lies there. A wall at rest
 * wherever there is a wall: a lid does not push round the corner. Two planes of symmetry send back
 * what comes, as it does; one alone leaves it to the other. */
static int rank_of(const struct opening *o)
{
    switch (o->what->kind) {
    case FACE_velocity:
        return 4;
    case FACE_pressure:
        return 3;
    case FACE_nonreflecting:
        return 2;
    case FACE_outflow:
        return 1;
    default:
        return 0;
    }
}

/* The row of what lies at global coordinates of which one may be one beyond the box, or two. */
static uint8_t row_beyond(const struct faces *f, const int g[3])
{
    const struct opening *best = NULL;
    int beyond = 0;
    for (int a = 0; a < 3; a++) {
        if (f->d->periodic[a] || (g[a] >= 0 && g[a] < f->c->cells[a]))
            continue;
        const struct opening *const o =
            &f->opening[opening_at(f, 2 * a + (g[a] >= f->c->cells[a]), g)];
        beyond++;
        if (beyond > 1 && (o->what->kind == FACE_wall || best->what->kind == FACE_wall))
            return TAG_WALL;
        if (!best || rank_of(o) > rank_of(best))
            best = o;
    }
    if (beyond == 3 || (beyond == 2 && best->what->kind == FACE_slip))
        return TAG_WALL;
    return beyond ? best->beyond : TAG_FLUID;
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
                const uint8_t beyond = row_beyond(f, g);
                if (beyond != TAG_FLUID) {
                    *tag = beyond;
                    continue;
                }
                for (int a = 0; a < 3; a++)
                    if (d->periodic[a])
                        g[a] = (g[a] + d->cells[a]) % d->cells[a];
                const bool inner = g[0] > 0 && g[1] > 0 && g[2] > 0 && g[0] < d->cells[0] - 1 &&
                                   g[1] < d->cells[1] - 1 && g[2] < d->cells[2] - 1;
                if (!inner && d->rows[*tag & TAG_ROW].fluid && !status)
                    status = find_node(f, *tag & TAG_ROW, g, tag);
            }
    return status;
}

enum status domain_faces(struct domain *d, const struct flow_case *c)
{
    struct faces f = {.d = d, .c = c, .count = 6 + c->patch_count};
    uint8_t fluid_rows[TAG_ROWS];
    int fluids = 0;
    enum status status = STATUS_OK;
    f.opening = calloc((size_t)f.count, sizeof *f.opening);
    if (!f.opening)
        return fail_machine("out of memory for the faces");
    for (int row = 0; row < d->row_count; row++)
        if (d->rows[row].fluid)
            fluid_rows[fluids++] = (uint8_t)row;
    for (int k = 0; k < f.count && !status; k++) {
        f.opening[k].what = k < 6 ? &c->faces[k] : &c->patches[k - 6].opening;
        f.opening[k].face = k < 6 ? k : c->patches[k - 6].face;
        status = make_opening(&f, &f.opening[k]);
    }
    if (!status)
        status = make_nodes(&f, fluid_rows, fluids);
    if (!status)
        status = set_tags(&f);
    free(f.opening);
    return status;
}
