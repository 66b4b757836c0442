/* Values between walls and the cells beside them; see at_wall.h. */
#include "measure/at_wall.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/message.h"
#include "case/signal.h"
#include "measure/probe.h"
#include "tags/faces.h"

/* The share of a wall at a face in the value at a position; <= 0: it is not beside the face. */
static double share_of(const double at[3], int face, int cells, int level)
{
    const double from = face & 1 ? cells - at[face / 2] : at[face / 2];
    return 1 - 2 * ldexp(from, level);
}

/* Adds the walls beside one position. */
static enum status add_walls(struct at_wall *w, const struct levels *all, const struct flow_case *c,
                             int point, const double at[3])
{
    const struct domain *const d = all->solver[0]->domain;
    const int level = probe_level(all, at);
    const size_t first = w->count;
    int g[3];
    for (int a = 0; a < 3; a++)
        g[a] = at[a] < c->cells[a] ? (int)at[a] : c->cells[a] - 1;
    for (int face = 0; face < 6; face++) {
        const int k = faces_opening_at(d, c, face, g);
        const struct case_face *const what = case_opening(c, k);
        int axes[2];
        face_axes(face, axes);
        const struct wall_share s = {point,
                                     k,
                                     face,
                                     {at[axes[0]], at[axes[1]]},
                                     share_of(at, face, c->cells[face / 2], level)};
        if (what->kind != FACE_wall || s.share <= 0)
            continue;
        if (!ARRAY_ADD(w->shares, w->count, s))
            return fail_machine("out of memory for the walls beside a probe or line");
        for (size_t n = w->count - 1; n > first; n--) {
            struct wall_share *const pair = w->shares + n - 1;
            if (face_speed(case_opening(c, pair[0].opening)) >= face_speed(what))
                break;
            pair[1] = pair[0];
            pair[0] = s;
        }
    }
    return STATUS_OK;
}

enum status at_wall_create(struct at_wall *w, const struct levels *all, const struct flow_case *c,
                           int points, const double *at)
{
    enum status s = STATUS_OK;
    *w = (struct at_wall){0};
    for (int k = 0; k < points && !s; k++)
        s = add_walls(w, all, c, k, at + 3 * (size_t)k);
    return s;
}

void at_wall_destroy(struct at_wall *w)
{
    free(w->shares);
    *w = (struct at_wall){0};
}

/* Where there is no value, there is none beside the wall. */
static void mix(double *value, double wall, double share)
{
    *value = (1 - share) * *value + share * wall;
}

void at_wall_flow(const struct at_wall *w, const struct flow_case *c, double *values)
{
    for (size_t n = 0; n < w->count; n++) {
        const struct wall_share *const s = &w->shares[n];
        for (int a = 0; a < 3; a++)
            mix(&values[4 * (size_t)s->point + 1 + (size_t)a],
                case_opening(c, s->opening)->velocity[a], s->share);
    }
}

void at_wall_scalar(const struct at_wall *w, const struct flow_case *c, int scalar, int64_t step,
                    double *values)
{
    for (size_t n = 0; n < w->count; n++) {
        const struct wall_share *const s = &w->shares[n];
        const struct case_scalar_wall *const wall = &case_opening(c, s->opening)->scalar[scalar];
        if (wall->kind == SCALAR_WALL_value)
            mix(&values[s->point],
                scalar_wall_at(wall, s->face, s->at) * signal_at(&wall->signal, step), s->share);
    }
}
