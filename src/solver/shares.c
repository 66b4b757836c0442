/* The controller of shares; see shares.h. */
#include "solver/shares.h"

#include <math.h>
#include <stdio.h>

#include "base/message.h"
#include "case/keys.h"

/* Bounds of a pressure, as those of pressures that vary in time: of the density - 1. */
static const double most_drho = 0.5;

void shares_create(struct outlet_shares *h, struct solver *s, const struct flow_case *c)
{
    *h = (struct outlet_shares){.count = 0};
    for (int k = 0; k < case_openings(c); k++) {
        h->count += case_opening(c, k)->share > 0;
        h->drho[k] = case_opening(c, k)->density - 1;
    }
    s->held = h->drho;
}

int64_t shares_next(const struct outlet_shares *h, int64_t step)
{
    return h->count ? SHARES_EVERY - step % SHARES_EVERY : 0;
}

/* Sets the pressure of opening k by its flow. */
static void adjust(struct outlet_shares *h, const struct flow_case *c, int k,
                   const struct outflow *all)
{
    const double impedance = 0.5 / sqrt(3.0), rate = SHARES_EVERY / case_share_time(c, k);
    const double velocity = all[k].mass / all[k].area,
                 wanted = case_opening(c, k)->share * outflow_leaves(c, all) / all[k].area;
    const double change = h->looks > 0 ? (velocity - h->velocity[k]) / SHARES_LOOKS : 0;
    const double drho = h->drho[k] + 3 * impedance * (change + rate * (velocity - wanted));
    if (!isfinite(drho)) /* reported later as divergence, with its cell */
        return;
    h->drho[k] = fmin(fmax(drho, -most_drho), most_drho);
    h->velocity[k] = h->looks > 0 ? h->velocity[k] + change : velocity;
}

enum status shares_adjust(struct outlet_shares *h, struct solver *s, const struct flow_case *c)
{
    struct outflow all[OUTFLOW_OPENINGS];
    if (!h->count || s->step % SHARES_EVERY != 0)
        return STATUS_OK;
    const enum status status = outflow_measure(s, c, all);
    for (int k = 0; k < case_openings(c); k++)
        if (case_opening(c, k)->share > 0)
            adjust(h, c, k, all);
    h->looks++;
    s->signal_step = -1; /* the time functions of this step are made anew */
    return status;
}

enum status shares_judge(const struct outlet_shares *h, struct solver *s, const struct flow_case *c)
{
    static const double close = 0.02;
    struct outflow all[OUTFLOW_OPENINGS];
    if (!h->count)
        return STATUS_OK;
    const enum status status = outflow_measure(s, c, all);
    for (int k = 0; k < case_openings(c) && !status; k++) {
        const double wanted = case_opening(c, k)->share, share = outflow_share(c, all, k);
        if (!(wanted > 0) || fabs(share - wanted) <= close)
            continue;
        warn("share_missed",
             "%s: a share of %.3g of the flow leaves there at the end, not %.3g (%s)",
             k < 6 ? key_faces[k] : c->patches[k - 6].name, share, wanted,
             fabs(h->drho[k]) < most_drho
                 ? "a longer run, or a shorter share_time"
                 : "its pressure is at its bound: a share that this flow can have");
    }
    return status;
}

enum status shares_register(struct outlet_shares *h, const struct flow_case *c, struct state *state)
{
    char definition[STATE_DEFINITION];
    const int count = case_openings(c);
    enum status status;
    if (!h->count)
        return STATUS_OK;
    snprintf(definition, sizeof definition, "of %d openings, every %d steps", count, SHARES_EVERY);
    status =
        state_add_numbers(state, "run/shares/density", definition, SAMPLE_float64, count, h->drho);
    if (!status)
        status = state_add_numbers(state, "run/shares/velocity", definition, SAMPLE_float64, count,
                                   h->velocity);
    return status ? status
                  : state_add_numbers(state, "run/shares/looks", definition, SAMPLE_float64, 1,
                                      &h->looks);
}
