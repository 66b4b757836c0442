/* Report on faces and bodies; see survey.h. */
#include "advice/survey.h"

#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "advice/caps.h"
#include "advice/idle_force.h"
#include "advice/thin.h"
#include "base/agree.h"
#include "base/message.h"
#include "tags/paths.h"

/* Does this cell, of the block or beside it, belong to a body that is not an image? */
static bool is_body(const struct domain *d, const struct flow_case *c, const int at[3])
{
    const struct view *const v = &d->view;
    const uint8_t tag = v->tags[view_index(v, at[0], at[1], at[2])];
    const int body = v->rows[tag & TAG_ROW].body;
    return body && !c->bodies[body - 1].image.file;
}

/* Finds where bodies begin or end between two layers of the block; the outer layer is `depth` cells
 * from the face. */
static void look_at_layer(struct survey *s, const struct domain *d, const struct flow_case *c,
                          int face, int depth)
{
    const int axis = face / 2, outer = face % 2 ? d->cells[axis] - 1 - depth : depth;
    int axes[2], at[3], next[3], g[3];
    face_axes(face, axes);
    at[axis] = outer - d->lo[axis];
    if (at[axis] < 0 || at[axis] >= d->view.n[axis] || depth + 1 >= d->cells[axis])
        return;
    next[axis] = at[axis] + (face % 2 ? -1 : 1);
    for (int j = 0; j < d->view.n[axes[1]]; j++)
        for (int i = 0; i < d->view.n[axes[0]]; i++) {
            at[axes[0]] = next[axes[0]] = i;
            at[axes[1]] = next[axes[1]] = j;
            const bool outside = is_body(d, c, at), inside = is_body(d, c, next);
            if (outside == inside || (inside && depth + 1 == SURVEY_NEAR))
                continue;
            for (int a = 0; a < 3; a++)
                g[a] = d->lo[a] + at[a];
            struct gaps *const near = &s->near[faces_opening_at(d, c, face, g)];
            const int64_t cell = ((int64_t)g[2] * d->cells[1] + g[1]) * d->cells[0] + g[0];
            near->cells++;
            near->first = cell < near->first ? cell : near->first;
        }
}

static void find_near(struct survey *s, const struct domain *d, const struct flow_case *c)
{
    for (int k = 0; k < SURVEY_OPENINGS; k++)
        s->near[k].first = INT64_MAX;
    for (int face = 0; face < 6; face++)
        for (int depth = 0; depth < SURVEY_NEAR && !d->periodic[face / 2]; depth++)
            look_at_layer(s, d, c, face, depth);
    for (int k = 0; k < d->openings; k++) {
        MPI_Allreduce(MPI_IN_PLACE, &s->near[k].cells, 1, MPI_INT64_T, MPI_SUM, d->comm);
        MPI_Allreduce(MPI_IN_PLACE, &s->near[k].first, 1, MPI_INT64_T, MPI_MIN, d->comm);
    }
}

/* Bodies, by the cells of a level. */
static enum status look_at_bodies(struct survey *s, const struct paths_level *level)
{
    if (!level->c->body_count)
        return STATUS_OK;
    standing_find(&s->standing, level->d, level->c);
    edges_look(level->d, level->c, &s->close);
    return gaps_find(level->d, level->c, &s->shapes, &s->images);
}

enum status survey_make(struct survey *const survey[], const struct paths_level *level, int levels)
{
    for (int l = 0; l < levels; l++)
        *survey[l] = (struct survey){.close.cell = INT64_MAX};
    enum status status = paths_check(level, levels);
    if (!status)
        status = stop_agree(level->d->comm);
    if (!status)
        status = idle_force_find(level->d, level->c, &survey[0]->idle_force);
    if (!status)
        status = narrow_find(&survey[0]->narrow, level, levels);
    if (!status && level->c->body_count)
        find_near(survey[0], level->d, level->c);
    for (int l = 0; l < levels && !status; l++) {
        status = look_at_bodies(survey[l], &level[l]);
        if (!status)
            status = stop_agree(level->d->comm);
    }
    return status;
}

static const char *cell_text(char text[64], const struct domain *d, int64_t cell)
{
    snprintf(text, 64, "[%d, %d, %d]", (int)(cell % d->cells[0]),
             (int)(cell / d->cells[0] % d->cells[1]), (int)(cell / d->cells[0] / d->cells[1]));
    return text;
}

static void say_opening(const struct domain *d, const struct flow_case *c, int k)
{
    const struct domain_opening *const o = &d->opening[k];
    const struct case_face *const what = case_opening(c, k);
    const double dx = c->units.dx;
    char name[FACES_NAME], rate[64] = "";
    const bool given = what->kind == FACE_velocity;
    if (!face_open(what->kind) || !o->open || (o->open == o->cells && !given))
        return;
    faces_name(c, k, name);
    if (given && o->inflow == 0)
        snprintf(rate, sizeof rate, ", flow rate 0");
    else if (given)
        snprintf(rate, sizeof rate, ", flow rate %s %.5g %s", o->inflow > 0 ? "in" : "out",
                 fabs(o->inflow) * dx * dx * dx / c->units.dt,
                 c->units.given ? "m3/s" : "cells^3 a step");
    say("%s: %lld of %lld cells open%s", name, (long long)o->open, (long long)o->cells, rate);
}

static void warn_near(const struct survey *s, const struct domain *d, const struct flow_case *c,
                      int k)
{
    char name[FACES_NAME], cell[64];
    if (!s->near[k].cells || !face_open(case_opening(c, k)->kind))
        return;
    faces_name(c, k, name);
    warn("body_near_face",
         "%s: a body begins or ends within %d cells of it, first at cell %s: the flow that it "
         "turns aside meets the face, which may become unstable (leave %d cells, or let the body "
         "go straight on)",
         name, SURVEY_NEAR, cell_text(cell, d, s->near[k].first), SURVEY_NEAR);
}

/* docs/lab/refinement.md, "Bodies close to an edge". */
static void warn_close(const struct survey *s, const struct domain *d, const struct flow_case *c)
{
    int g[3];
    if (s->close.cell == INT64_MAX)
        return;
    domain_coordinates(d, s->close.cell, g);
    warn(
        "level_edge_near",
        "bodies.%s is close to the edge of level %d, first at (%g, %g, %g): its drag may be 1 to 2 "
        "%% too high (leave %d cells of level %d between it and that edge)",
        c->bodies[s->close.body].name, d->level, refined_place(d->refined, d->level, 0, g[0] + 0.5),
        refined_place(d->refined, d->level, 1, g[1] + 0.5),
        refined_place(d->refined, d->level, 2, g[2] + 0.5), s->close.least, d->level - 1);
}

void survey_say_finer(const struct survey *s, const struct domain *d, const struct flow_case *c)
{
    char cell[64], level[32] = "";
    standing_warn(&s->standing, c);
    warn_close(s, d, c);
    if (d->refined)
        snprintf(level, sizeof level, " of level %d", d->level);
    if (s->shapes.cells)
        warn("gaps",
             "%lld fluid cells%s are in gaps of one or two cells between walls, the first at %s: "
             "flow there is not resolved (a finer grid, or no gap)",
             (long long)s->shapes.cells, level, cell_text(cell, d, s->shapes.first));
}

enum { BODIES_SHOWN = 16 };

void survey_say_bodies(const struct paths_level *level, int levels, const char *lead)
{
    const struct flow_case *const c = level->c;
    for (int k = 0; k < c->body_count; k++) {
        char cells[LEVELS * 48] = "", mesh[512] = "";
        int length = 0, finest = 0;
        double volume = 0;
        for (int l = 0; l < levels; l++) {
            const int64_t count = level[l].d->body_cells[k];
            volume += ldexp((double)count, -refined_dimensions(level[l].d->refined, 3) * l);
            if (!count)
                continue;
            length += snprintf(cells + length, sizeof cells - (size_t)length,
                               "%s%lld cells of level %d", length ? ", " : "", (long long)count, l);
            finest = l;
        }
        if (c->bodies[k].mesh.file)
            mesh_text(&level[finest].c->bodies[k].mesh, mesh, sizeof mesh);
        if (k < BODIES_SHOWN)
            say("%sbody %s: %s%s%s", lead, c->bodies[k].name, cells, *mesh ? "; " : "", mesh);
        advice_outside(c, &c->bodies[k], volume);
        thin_warn(&level[finest].c->bodies[k]);
    }
    if (c->body_count > BODIES_SHOWN)
        say("%s... and %d more bodies", lead, c->body_count - BODIES_SHOWN);
}

void survey_say(const struct survey *s, const struct domain *d, const struct flow_case *c)
{
    for (int k = 0; k < d->openings; k++)
        say_opening(d, c, k);
    caps_say(d, c);
    for (int k = 0; k < d->openings; k++)
        warn_near(s, d, c, k);
    if (s->idle_force)
        idle_force_warn(c);
    narrow_warn(&s->narrow, c);
    advice_cells(d, c);
    survey_say_finer(s, d, c);
}
