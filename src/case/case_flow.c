/* Sections of a case: initial flow, force. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/record.h"
#include "case/sections.h"

unsigned initial_has(enum initial_flow flow)
{
#define X(name, keys) keys,
    static const unsigned has[] = {INITIAL_LIST(X)};
#undef X
    return has[flow];
}

/* Some flows need periodic faces, a cube or a channel. */
static enum status check_box(const struct reader *r, const struct node *flow,
                             const struct flow_case *c)
{
    const enum initial_flow kind = c->initial.flow;
    const bool flat = kind == INITIAL_taylor_green_2d || kind == INITIAL_shear_layer;
    const bool cube = kind == INITIAL_taylor_green_3d || kind == INITIAL_abc;
    const char *name = key_flows[kind];
    int closed = 0;
    for (int a = 0; a < 3; a++) {
        const bool periodic = c->faces[2 * a].kind == FACE_periodic;
        closed += c->faces[2 * a].kind == FACE_wall && c->faces[2 * a + 1].kind == FACE_wall;
        if (!periodic && (cube || (flat && a != c->initial.axis)))
            return fail_value(r, flow, " %s needs periodic faces along %s (faces: {%s: periodic})",
                              name, key_axes[a], key_axes[a]);
        if (flat && a != c->initial.axis && c->cells[a] == 1)
            return fail_value(r, flow,
                              " %s varies along %s, and the box has one cell along it "
                              "(initial: {axis: %s}, or more cells)",
                              name, key_axes[a], key_axes[a]);
    }
    if (cube && (c->cells[0] != c->cells[1] || c->cells[0] != c->cells[2]))
        return fail_value(r, flow,
                          " %s needs a cube, not %d x %d x %d cells (for example "
                          "domain: {cells: [%d, %d, %d]})",
                          name, c->cells[0], c->cells[1], c->cells[2], c->cells[0], c->cells[0],
                          c->cells[0]);
    if (kind == INITIAL_channel && closed != 1)
        return fail_value(r, flow,
                          " channel needs walls at both ends of one axis, and there are "
                          "%d such axes (faces: {x: periodic, y: wall, z: periodic})",
                          closed);
    return STATUS_OK;
}

/* Has the box of an earlier result the same proportions, up to rounding to whole cells? An axis
 * that was a single cell long fits any length: the flow is uniform along it. */
static enum status check_shape(const struct reader *r, const struct node *n,
                               const struct flow_case *c)
{
    char what[CASE_REASON];
    const int *const then = c->initial.from.cells, *const now = c->cells;
    int longest = 0;
    bool same = true;
    for (int a = 1; a < 3; a++)
        longest = then[a] > then[longest] ? a : longest;
    const double finer = (double)now[longest] / then[longest];
    for (int a = 0; a < 3; a++)
        same = same && (then[a] == 1 || fabs(now[a] - finer * then[a]) < 1);
    if (same)
        return STATUS_OK;
    snprintf(
        what, sizeof what,
        " has a box of %d x %d x %d cells, with other proportions than this one of %d x %d x %d "
        "cells (%.4g x %.4g x %.4g would fit)",
        then[0], then[1], then[2], now[0], now[1], now[2], finer * then[0], finer * then[1],
        finer * then[2]);
    return input_wrong_at(r, n, what);
}

double initial_fastest(const struct flow_case *c)
{
    const struct case_initial *const i = &c->initial;
    const int a = (i->axis + 1) % 3, b = (a + 1) % 3;
    const double uniform = magnitude(i->velocity);
    switch (i->flow) {
    case INITIAL_taylor_green_2d: /* u_b is ka / kb times u_a */
        return i->amplitude * fmax(1, (double)c->cells[b] / c->cells[a]);
    case INITIAL_abc: /* where all sines and cosines are sqrt(1/2) */
        return i->amplitude * sqrt(6);
    default:
        return fmax(i->amplitude, uniform);
    }
}

bool axis_is_free(const struct flow_case *c, int axis)
{
    bool is_free = true;
    for (int side = 0; side < 2; side++) {
        const enum face_kind kind = c->faces[2 * axis + side].kind;
        is_free = is_free && (kind == FACE_periodic || kind == FACE_slip);
    }
    return is_free;
}

/* Along an axis on which the file has a single value the flow would be uniform. This is right where
 * it has few cells and nothing at their ends: a flow in two dimensions. */
static enum status check_values(const struct reader *r, const struct node *n,
                                const struct flow_case *c)
{
    static const int few = 4;
    const struct case_earlier *const e = &c->initial.from;
    char what[CASE_REASON];
    for (int a = 0; a < 3; a++) {
        const bool flat = e->cells[a] <= few && axis_is_free(c, a);
        if (e->cells[a] == 1 || e->stride < e->cells[a] || flat)
            continue;
        snprintf(what, sizeof what,
                 " has one value along %s, where its box has %d cells, by its stride %d (take a "
                 "snapshot without `stride`, or a checkpoint)",
                 key_axes[a], e->cells[a], e->stride);
        return input_wrong_at(r, n, what);
    }
    return STATUS_OK;
}

/* Which scalars take their initial values from the file? Those that it holds, unless the case gives
 * them itself. */
static enum status take_scalars(struct map m, const struct node *n, struct flow_case *c)
{
    static const char *const kinds[] = {
        [SCALAR_KIND_heat] = "heat", [SCALAR_KIND_species] = "species"};
    const struct case_earlier *const e = &c->initial.from;
    char what[2 * CASE_REASON];
    for (int i = 0; i < e->scalar_count; i++)
        for (int k = 0; k < c->scalar_count; k++) {
            struct case_scalar *const s = &c->scalars[k];
            if (strcmp(s->name, e->scalar[i].name) != 0 || s->initial.given ||
                scalar_has_gradient(s))
                continue;
            if (e->scalar[i].kind != (int)s->kind) {
                snprintf(what, sizeof what,
                         " has %s of the kind %s, which is %s here (give scalars.%s.initial, or "
                         "another name)",
                         s->name, kinds[e->scalar[i].kind], kinds[s->kind], s->name);
                return input_wrong_at(m.r, n, what);
            }
            s->initial.earlier = true;
        }
    return STATUS_OK;
}

static enum status read_earlier(struct map m, struct flow_case *c)
{
    const struct node *const n = map_get(m, "from");
    char reason[CASE_REASON] = "", *path = NULL;
    enum status s = record_refuse(m, INITIAL_HAS_from, "with from");
    if (s || (s = input_path(m, "from", &path)))
        return s;
    if (m.r->files->earlier)
        s = m.r->files->earlier(m.r->files->context, path, &c->initial.from, reason);
    else
        s = input_wrong_at(m.r, n, ": files cannot be read here");
    if (s == STATUS_USAGE && m.r->files->before &&
        case_recall_earlier(m.r->files->before, c, path, &c->initial.from))
        s = STATUS_OK;
    free(path);
    if (s == STATUS_USAGE && *reason)
        return input_wrong_at(m.r, n, reason);
    if (s == STATUS_STOPPED)
        say("initial.from%s; nothing was written: start again", reason);
    else if (s && *reason && message_rank() == 0)
        return fail_machine("initial.from%s", reason);
    if (s || (s = check_shape(m.r, n, c)) || (s = check_values(m.r, n, c)) ||
        (s = take_scalars(m, n, c)))
        return s;
    return input_checksum(m, c->initial.from.checksum);
}

/* Finds the one velocity face through which fluid comes in. */
static enum status find_inlet(const struct reader *r, const struct node *flow, struct flow_case *c)
{
    char found[64] = "";
    int count = 0;
    for (int f = 0; f < 6; f++) {
        const struct case_face *const face = &c->faces[f];
        if (face->kind != FACE_velocity || !((f & 1 ? -1 : 1) * face->velocity[f / 2] > 0))
            continue;
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", count ? ", " : "",
                 key_sides[f]);
        c->initial.inlet = f;
        count++;
    }
    if (count != 1)
        return fail_value(r, flow,
                          " inlet needs one face of kind velocity through which fluid "
                          "comes in, and there are %d%s%s%s (a part of a face does not count)",
                          count, count ? " (" : "", found, count ? ")" : "");
    if (c->faces[c->initial.inlet].signal.kind == SIGNAL_ramp)
        return fail_value(r, flow,
                          " inlet: faces.%s.velocity has a ramp, so that nothing comes in "
                          "at step 0 (remove the ramp, or take flow: rest)",
                          key_sides[c->initial.inlet]);
    return STATUS_OK;
}

enum status initial_read(struct map m, struct flow_case *c)
{
    struct case_initial *initial = &c->initial;
    const bool earlier = map_get(m, "from");
    char why[64];
    int flow = 0;
    enum status s;
    if (earlier && (s = read_earlier(m, c)))
        return s;
    if (!earlier &&
        ((s = value_refuse(m, "checksum", "without from")) || (s = value_read(m, "flow", &flow))))
        return s;
    initial->flow = (enum initial_flow)flow;
    const unsigned has =
        initial_has(initial->flow) | (earlier ? INITIAL_HAS_from : INITIAL_HAS_flow);
    snprintf(why, sizeof why, "with flow %s", key_flows[flow]);
    for (int a = 0; a < 3 && has & INITIAL_HAS_center; a++)
        initial->center[a] = 0.5 * c->cells[a];
    if (has & INITIAL_HAS_amplitude)
        initial->amplitude = c->fluid.velocity;
    if ((s = record_refuse(m, has, why)) || (s = record_read(m, has, initial)))
        return s;
    if (initial->flow == INITIAL_uniform && !map_get(m, "velocity"))
        return value_missing(m, "velocity", ", which flow uniform needs,");
    if (has & INITIAL_HAS_width && initial->width == 0)
        return value_missing(m, "width", ", which this flow needs,");
    if (has & INITIAL_HAS_amplitude && initial->amplitude == 0)
        return value_missing(m, "amplitude", " or fluid.velocity");
    const struct node *const n = map_get(m, "flow");
    return initial->flow == INITIAL_inlet ? find_inlet(m.r, n, c) : check_box(m.r, n, c);
}

/* The flow rate can be held only along a periodic axis. Its control time must not be shorter than
 * the interval between measurements. */
static enum status check_flow_rate(struct map m)
{
    const struct case_flow_rate *const wanted = &m.r->c->flow_rate;
    if (m.r->c->faces[2 * wanted->axis].kind != FACE_periodic)
        return fail_key(m.r, m.node,
                        " holds the flow along %s, which is not periodic (faces: {%s: periodic}, "
                        "or another axis; between walls two patches are a pump: one gives with a "
                        "velocity, one draws with pressure)",
                        key_axes[wanted->axis], key_axes[wanted->axis]);
    if (wanted->time < (double)wanted->every)
        return fail_key(m.r, m.node,
                        ": time %g is shorter than the %lld steps between measurements (the flow "
                        "would oscillate)",
                        wanted->time, (long long)wanted->every);
    return STATUS_OK;
}

enum status force_read(struct map m, struct flow_case *c)
{
    const struct map wanted = map_below(m, "flow_rate");
    static const char *const signals[] = {"ramp", "sine", "table"};
    enum status s;
    if (wanted.node &&
        (s = value_refuse(m, "acceleration", "with force.flow_rate, which makes its own")))
        return s;
    if ((s = record_read(m, FORCE_UNIFORM, c)) || (s = signal_read(m, &c->force_signal)))
        return s;
    for (size_t i = 0; i < 3 && !map_get(m, "acceleration"); i++)
        if ((s = value_refuse(m, signals[i], "without force.acceleration")))
            return s;
    return wanted.node ? check_flow_rate(wanted) : STATUS_OK;
}
