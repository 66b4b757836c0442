/* A body at rest on a moving floor leaves a corner of fluid beside its foot: a cell with the floor
 * on one side and the body on a side of another axis. See standing.h. */
#include "advice/standing.h"

#include <stdio.h>

#include "base/message.h"
#include "tags/faces.h"

enum { ON_OPENING = 1, ON_BODY = 7 + CASE_PATCHES };

/* Does it move in its own plane? Fluid goes through one that moves across it. */
static bool slides(const struct flow_case *c, int opening)
{
    const struct case_face *const wall = case_opening(c, opening);
    return wall->kind == FACE_wall && face_speed(wall) > 0 &&
           wall->velocity[case_opening_side(c, opening) / 2] == 0;
}

/* Is the face a wall at rest, all of it? */
static bool is_fixed(const struct flow_case *c, int face)
{
    bool moves = false;
    for (int k = 0; k < case_openings(c); k++)
        moves = moves || (case_opening_side(c, k) == face && slides(c, k));
    return c->faces[face].kind == FACE_wall && face_speed(&c->faces[face]) == 0 && !moves;
}

/* Is the body part of the fixed walls? */
static bool touches_wall(const struct flow_case *c, const struct case_body *body)
{
    for (int f = 0; f < 6; f++) {
        const int a = f / 2;
        const bool reaches = f % 2 ? body->hi[a] > c->cells[a] - 0.5 : body->lo[a] < 0.5;
        if (reaches && is_fixed(c, f))
            return true;
    }
    return false;
}

static bool may_stand(const struct flow_case *c, const struct case_body *body)
{
    return body->speed == 0 && !body->turns && !body->image.file && !touches_wall(c, body);
}

/* The moving surface that the cell beside a fluid cell belongs to, as in struct standing; 0: none.
 * *rests: the body at rest that it belongs to; -1: none. */
static int surface_at(const struct domain *d, const struct flow_case *c, const int at[3], int axis,
                      int side, int *rests)
{
    const struct view *const v = &d->view;
    int there[3] = {at[0], at[1], at[2]};
    there[axis] += 2 * side - 1;
    const struct tag_row *const row =
        &v->rows[v->tags[view_index(v, there[0], there[1], there[2])] & TAG_ROW];
    *rests = -1;
    if (row->fluid)
        return 0;
    if (row->body) {
        const struct case_body *const body = &c->bodies[row->body - 1];
        if (body->speed > 0)
            return ON_BODY + row->body - 1;
        *rests = row->body - 1;
        return 0;
    }
    if (there[axis] + d->lo[axis] >= 0 && there[axis] + d->lo[axis] < d->cells[axis])
        return 0;
    const int g[3] = {d->lo[0] + at[0], d->lo[1] + at[1], d->lo[2] + at[2]};
    const int opening = faces_opening_at(d, c, 2 * axis + side, g);
    return slides(c, opening) ? ON_OPENING + opening : 0;
}

static void look_at_cell(struct standing *s, const struct domain *d, const struct flow_case *c,
                         const int at[3])
{
    int on[3] = {0, 0, 0}, rests[3][2];
    bool moves = false;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            const int found = surface_at(d, c, at, a, side, &rests[a][side]);
            on[a] = found ? found : on[a];
            moves = moves || found;
        }
    for (int a = 0; a < 3 && moves; a++)
        for (int k = 0; k < 4; k++) {
            const int body = rests[(a + 1 + k / 2) % 3][k % 2];
            if (on[a] && body >= 0 && on[a] > s->on[body])
                s->on[body] = on[a];
        }
}

void standing_find(struct standing *s, const struct domain *d, const struct flow_case *c)
{
    const struct view *const v = &d->view;
    bool moves = false, rests = false;
    *s = (struct standing){{0}};
    for (int k = 0; k < case_openings(c); k++)
        moves = moves || slides(c, k);
    for (int k = 0; k < c->body_count; k++) {
        moves = moves || c->bodies[k].speed > 0;
        rests = rests || may_stand(c, &c->bodies[k]);
    }
    if (!moves || !rests)
        return;
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++)
                if (view_fluid(v, view_index(v, x, y, z)))
                    look_at_cell(s, d, c, (const int[3]){x, y, z});
    MPI_Allreduce(MPI_IN_PLACE, s->on, CASE_BODIES, MPI_INT, MPI_MAX, d->comm);
}

void standing_warn(const struct standing *s, const struct flow_case *c)
{
    char what[FACES_NAME];
    for (int k = 0; k < c->body_count; k++) {
        const int on = s->on[k];
        if (!on || !may_stand(c, &c->bodies[k]))
            continue;
        if (on >= ON_BODY)
            snprintf(what, sizeof what, "bodies.%s", c->bodies[on - ON_BODY].name);
        else
            faces_name(c, on - ON_OPENING, what);
        warn("body_on_moving_wall",
             "bodies.%s is at rest and stands on %s, which moves with %.3g cells a step: the "
             "pressure where they meet, and forces on the body, grow on finer grids (give "
             "bodies.%s.velocity if it moves along, or leave a gap of 3 cells)",
             c->bodies[k].name, what,
             on >= ON_BODY ? c->bodies[on - ON_BODY].speed
                           : face_speed(case_opening(c, on - ON_OPENING)),
             c->bodies[k].name);
        return;
    }
}
