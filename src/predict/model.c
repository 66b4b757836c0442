/* The time of a step; see model.h. */
#include "predict/model.h"

#include <math.h>

#include "lattice.h"

/* Share of a step from which on the interior is the limit. */
static const double most_of_it = 0.9;

/* Bytes of an update: all populations read and written, and the tag. */
static double update_bytes(double populations)
{
    return 2 * populations + 1;
}

double model_rate(const struct cluster *c, double populations)
{
    return c->updates > 0 ? c->updates : c->bandwidth / update_bytes(populations);
}

struct model_step model_step(const struct cluster *c, double populations, const struct load *l)
{
    const double rate = model_rate(c, populations),
                 memory = rate * update_bytes(populations) * c->shell;
    struct model_step s = {
        .interior = l->interior / rate,
        .shell = l->shell / (rate * c->shell),
        .packing = 2 * l->packed / memory, /* and unpacking */
        .launches = (l->messages ? 3 : 1) * c->launch,
        .bandwidth =
            fmax(l->inside / c->node_bandwidth, l->outside / c->network_bandwidth) / c->reached,
    };
    if (l->messages)
        s.latency =
            (l->outside_messages ? c->network_latency : c->node_latency) + l->messages * c->message;
    s.step = s.launches + s.shell + s.packing + fmax(s.interior, s.bandwidth + s.latency);
    return s;
}

double model_seam(const struct cluster *c, const struct load *l, int waits)
{
    if (!l->messages)
        return 0;
    return fmax(l->inside / c->node_bandwidth, l->outside / c->network_bandwidth) / c->reached +
           waits * (l->outside_messages ? c->network_latency : c->node_latency) +
           l->messages * c->message;
}

enum limit model_limit(const struct cluster *c, double populations, const struct load *l,
                       const struct model_step *s)
{
    const double seen = fmax(0, s->bandwidth + s->latency - s->interior);
    const double gain[] = {
        [LIMIT_interior] = 0,
        [LIMIT_shell] = s->shell * (1 - c->shell),
        [LIMIT_packing] = s->packing,
        [LIMIT_launches] = s->launches,
        [LIMIT_network] = fmin(s->bandwidth, seen),
        [LIMIT_latency] = fmin(s->latency, seen),
    };
    enum limit limit = LIMIT_shell;
    if ((l->interior + l->shell) / model_rate(c, populations) >= most_of_it * s->step)
        return LIMIT_interior;
    for (int k = LIMIT_packing; k <= LIMIT_latency; k++)
        if (gain[k] > gain[limit])
            limit = (enum limit)k;
    return limit;
}

const char *model_limit_name(enum limit limit)
{
    static const char *const names[] = {
#define X(name) #name,
        LIMIT_LIST(X)
#undef X
    };
    return names[limit];
}
