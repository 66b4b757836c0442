/* Part of a body in a case: bodies.*.caps, openings in a mesh that holds the fluid. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/record.h"
#include "case/sections.h"

/* The body that is being read. */
static const struct case_body *body_of(struct map m)
{
    return &m.r->c->bodies[m.r->c->body_count - 1];
}

/* A mean velocity becomes a flow rate. */
static enum status read_velocity(struct map m, struct case_cap *cap)
{
    const bool by_mean = map_get(m, "mean");
    double mean = 0;
    enum status s = record_read(m, 0, cap);
    if (s)
        return s;
    if (by_mean == (map_get(m, "flow_rate") != NULL))
        return by_mean ? value_one_of(m, "mean", "flow_rate")
                       : fail_key(m.r, m.node,
                                  ": how fast? (for example {mean: 0.02}, or a flow_rate)");
    s = by_mean ? value_read(m, "mean", &mean) : value_read(m, "flow_rate", &cap->flow_rate);
    if (by_mean)
        cap->flow_rate = mean * cap->at.area;
    const struct scalar_place place = {
        .fallback = SCALAR_WALL_value, .required = true, .outwards = cap->flow_rate < 0};
    if (s || (s = signal_read(m, &cap->signal)))
        return s;
    return scalar_walls_read(m, place, cap->scalar);
}

/* The density, given directly or by a pressure p as 1 + 3 p. */
static enum status read_pressure(struct map m, struct map inner, struct case_cap *cap)
{
    const struct scalar_place place = {.fallback = SCALAR_WALL_outflow};
    double p = 0;
    enum status s;
    if (inner.node->kind != NODE_MAPPING) {
        s = value_read(m, "pressure", &p);
        cap->density = 1 + 3 * p;
        for (int k = 0; k < m.r->c->scalar_count; k++)
            cap->scalar[k].kind = SCALAR_WALL_outflow;
        return s;
    }
    if (map_get(inner, "value") && map_get(inner, "density"))
        return value_one_of(inner, "density", "value");
    if ((s = value_read(inner, "value", &p)))
        return s;
    cap->density = 1 + 3 * p;
    if ((s = value_read(inner, "density", &cap->density)) ||
        (s = signal_read(inner, &cap->signal)) ||
        (s = scalar_walls_read(inner, place, cap->scalar)))
        return s;
    if (cap->signal.kind != SIGNAL_constant && cap->density == 1)
        return fail_key(m.r, inner.node,
                        ": with density 1 a variation in time has no effect: it scales the "
                        "density's distance from 1 (give another pressure)");
    if (fabs(cap->density - 1) * signal_peak(&cap->signal) > 0.5)
        return fail_key(m.r, inner.node,
                        ": the density would come as far as %g from 1 (at most 0.5)",
                        fabs(cap->density - 1) * signal_peak(&cap->signal));
    return STATUS_OK;
}

/* Finds the cap on the mesh. */
static enum status find(struct map m, struct case_cap *cap)
{
    const double cell = ldexp(1, m.r->level);
    if (!mesh_cap_find(&cap->at, &body_of(m)->mesh, cell))
        return fail_machine("no memory for a cap");
    if (cap->at.away > 2 * cell && !(cap->at.radius > 0 && cap->at.away <= cap->at.radius))
        return fail_value(m.r, map_get(m, "center"),
                          ": the surface of the mesh is %.4g cells away (the center is in cells of "
                          "the box, or has a unit)",
                          cap->at.away / cell);
    if (!(cap->at.area > 0))
        return fail_key(m.r, m.node, ": its disc has no part of the surface");
    for (int a = 0; a < 3; a++)
        if (cap->at.lo[a] < -0.5 || cap->at.hi[a] > m.r->c->cells[a] + 0.5 ||
            (m.r->c->faces[2 * a].kind == FACE_periodic &&
             (cap->at.lo[a] < 2 || cap->at.hi[a] > m.r->c->cells[a] - 2)))
            return fail_key(
                m.r, m.node,
                " reaches from %.4g to %.4g along %s, and the box from 0 to %d: it must "
                "lie in the box (a cap at a face of the box is an opening of the face; "
                "cells along %s make more room)",
                cap->at.lo[a], cap->at.hi[a], key_axes[a], m.r->c->cells[a], key_axes[a]);
    return STATUS_OK;
}

enum status cap_read(struct map m, void *thing)
{
    struct case_cap *const cap = thing;
    struct map found;
    int kind = 0;
    enum status s;
    if (!(cap->place = place_text(m.r->document, m.node->key_at)))
        return STATUS_MACHINE;
    if ((s = value_kind(m, key_cap_kinds, "is both", "", &found, &kind)) ||
        (s = record_read(m, 0, cap)))
        return s;
    if (!found.node)
        return fail_key(m.r, m.node,
                        " does not say what holds there (for example %s: {velocity: {mean: 0.02}}, "
                        "or pressure: 0)",
                        m.node->key);
    cap->kind = (enum cap_kind)kind;
    cap->density = 1;
    if ((s = find(m, cap)))
        return s;
    s = cap->kind == CAP_pressure          ? read_pressure(m, found, cap)
        : found.node->kind != NODE_MAPPING ? value_wrong(m.r, found.node, keys_row(found.row))
                                           : read_velocity(found, cap);
    return s ? s : check_mach(m.r, found.node, cap_speed(cap), "fluid comes in with a velocity of");
}

enum status caps_read(struct map m, struct case_body *body)
{
    const struct map caps = map_below(m, "caps");
    if (!caps.node)
        return STATUS_OK;
    if (!body_surrounds(body))
        return fail_key(
            m.r, caps.node,
            ": caps are openings of a mesh that holds the fluid (mesh: {fluid: inside})");
    enum status s = things_read(caps, body);
    for (int k = 0; k < body->cap_count && !s; k++)
        for (int i = 0; i < k && !s; i++)
            if (mesh_cap_meets(&body->caps[i].at, &body->caps[k].at))
                s = fail_key(
                    m.r, node_get(caps.node, body->caps[k].name),
                    " is the same flat part of the surface as %s (move its center, or give "
                    "both a radius)",
                    body->caps[i].name);
    return s;
}

void caps_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_body *const body = from;
    if (!body->cap_count)
        return;
    write_open(w, keys_name(key));
    for (int k = 0; k < body->cap_count; k++) {
        const struct case_cap *const cap = &body->caps[k];
        write_open(w, cap->name);
        record_write(w, "bodies.*.caps.*", 0, cap);
        write_open(w, key_cap_kinds[cap->kind]);
        record_write(
            w, cap->kind == CAP_velocity ? "bodies.*.caps.*.velocity" : "bodies.*.caps.*.pressure",
            0, cap);
        write_close(w);
        write_close(w);
    }
    write_close(w);
}

void caps_destroy(struct case_body *body)
{
    for (int k = 0; k < body->cap_count; k++) {
        free(body->caps[k].place);
        mesh_cap_free(&body->caps[k].at);
        signal_destroy(&body->caps[k].signal);
        scalar_walls_destroy(body->caps[k].scalar);
    }
    free(body->caps);
}

static const struct case_body *surrounding(const struct flow_case *c)
{
    const struct case_body *found = NULL;
    for (int k = 0; k < c->body_count; k++)
        found = c->bodies[k].cap_count ? &c->bodies[k] : found;
    return found;
}

int case_caps(const struct flow_case *c)
{
    const struct case_body *const body = surrounding(c);
    return body ? body->cap_count : 0;
}

const struct case_cap *case_cap(const struct flow_case *c, int k)
{
    return &surrounding(c)->caps[k];
}

double cap_speed(const struct case_cap *cap)
{
    if (cap->kind != CAP_velocity)
        return 0;
    return (cap->profile == CAP_PROFILE_parabola ? 2 : 1) * fabs(cap->flow_rate) / cap->at.area *
           signal_peak(&cap->signal);
}
