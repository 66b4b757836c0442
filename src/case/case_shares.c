/* Shares of the flow that leave through openings: checks of those of a case. */
#include <math.h>

#include "base/message.h"
#include "case/sections.h"

double case_share_time(const struct flow_case *c, int k)
{
    const double given = case_opening(c, k)->share_time;
    const int *const n = c->cells;
    return given > 0 ? given : 8 * sqrt(3.0) * fmax(n[0], fmax(n[1], n[2]));
}

/* The key of opening k below the whole case. */
static const struct node *node_of(const struct reader *r, const struct flow_case *c, int k)
{
    static const char axes[3][2] = {"x", "y", "z"};
    const struct node *const faces = node_get(r->document->root, "faces");
    if (k >= 6)
        return node_get(node_get(r->document->root, "patches"), c->patches[k - 6].name);
    const struct node *const face = node_get(faces, key_faces[k]);
    return face ? face : node_get(faces, axes[k / 2]);
}

/* A time function and a controller cannot both give the pressure. */
static enum status check_one(const struct reader *r, const struct flow_case *c, int k)
{
    const struct case_face *const what = case_opening(c, k);
    const struct node *const n = node_of(r, c, k);
    const struct node *const map = node_get(n, key_face_kinds[what->kind]);
    if (what->share == 0 && what->share_time > 0)
        return fail_value(r, node_get(map, "share_time"), " has no effect without share");
    if (what->share > 0 && what->signal.kind != SIGNAL_constant)
        return fail_value(r, node_get(map, "share"),
                          ": the pressure varies in time here, but a share sets it itself (remove "
                          "the time function, or the share)");
    if (what->share > 0 && what->kind == FACE_nonreflecting && what->reflection == 0)
        return fail_value(r, node_get(map, "reflection"),
                          ": 0 holds no pressure, so that a share has no effect (remove it)");
    return STATUS_OK;
}

enum status shares_check(struct map m, struct flow_case *c)
{
    int last = -1, free = 0;
    double sum = 0;
    bool inlet = false;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        const enum status s = check_one(m.r, c, k);
        if (s)
            return s;
        if (what->share > 0) {
            sum += what->share;
            last = k;
        } else if (face_holds_density(what)) {
            free++;
        } else if (case_opening_passes(c, k)) {
            inlet = true;
        }
    }
    if (last < 0 || m.r->origin)
        return STATUS_OK;
    const struct case_face *const what = case_opening(c, last);
    const struct node *const share =
        node_get(node_get(node_of(m.r, c, last), key_face_kinds[what->kind]), "share");
    if (sum >= 1)
        return fail_value(m.r, share,
                          ": the shares of all outlets add up to %.10g (below 1: the rest leaves "
                          "through an outlet without a share)",
                          sum);
    if (free < (inlet ? 1 : 2))
        return fail_value(m.r, share,
                          ": no outlet is free to take the rest of the flow, %.10g (%s)", 1 - sum,
                          inlet ? "leave out one share"
                                : "fluid comes in through the only opening without a share: leave "
                                  "out one share");
    return STATUS_OK;
}
