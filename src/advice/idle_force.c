/* Forces that can drive no flow; see idle_force.h. */
#include "advice/idle_force.h"

#include "base/message.h"
#include "tags/pore_labels.h"

/* The axes along which the case pushes the fluid. */
struct push {
    bool along[3];
    bool any;
};

static struct push push_of(const struct flow_case *c)
{
    struct push p = {.any = false};
    for (int a = 0; a < 3; a++) {
        p.along[a] = c->acceleration[a] != 0 || (c->flow_rate.given && c->flow_rate.axis == a);
        p.any = p.any || p.along[a];
    }
    return p;
}

/* Does something else than the force set the fluid in motion? A scalar diffuses in a fluid at rest,
 * too, so that its case makes sense. */
static bool moves_otherwise(const struct flow_case *c)
{
    bool moves =
        case_caps(c) > 0 || c->initial.flow != INITIAL_rest || c->initial.from.file != NULL || c->scalar_count > 0;
    for (int k = 0; k < case_openings(c); k++)
        moves = moves || face_speed(case_opening(c, k)) > 0;
    for (int i = 0; i < c->body_count; i++)
        moves = moves || c->bodies[i].speed > 0;
    for (int i = 0; i < c->zone_count; i++)
        moves = moves || c->zones[i].sponge.given;
    return moves;
}

/* Openings with open cells that hold a density. */
static uint64_t outlets_of(const struct domain *d, const struct flow_case *c)
{
    uint64_t bits = 0;
    for (int k = 0; k < d->openings; k++)
        if (d->opening[k].open && face_holds_density(case_opening(c, k)))
            bits |= (uint64_t)1 << k;
    return bits;
}

/* Has fluid that goes round the axes of `round`, and touches these outlets, a way along the force?
 * Outlets on one face, normal to the force, are at one height. */
static bool is_driven(const struct flow_case *c, const struct push *p, const bool round[3],
                      uint64_t outlets)
{
    int side = -1;
    bool driven = false;
    for (int a = 0; a < 3; a++)
        driven = driven || (p->along[a] && round[a]);
    for (int k = 0; outlets >> k && !driven; k++) {
        if (!(outlets >> k & 1))
            continue;
        driven = side >= 0 && side != case_opening_side(c, k);
        side = case_opening_side(c, k);
    }
    for (int a = 0; a < 3 && side >= 0; a++)
        driven = driven || (p->along[a] && a != side / 2);
    return driven;
}

/* The same of each part of the fluid. */
static enum status look_at_parts(const struct domain *d, const struct flow_case *c,
                                 const struct push *p, bool *idle)
{
    const struct case_region all = {{0, 0, 0}, {c->cells[0], c->cells[1], c->cells[2]}};
    const uint64_t outlets = outlets_of(d, c);
    struct pore_labels l;
    int64_t largest;
    uint32_t at = 0;
    int driven = 0;
    const enum status status = pore_labels_make(&l, d, c, &all, &largest);
    if (status)
        return status;
    for (const struct pore_part *part; (part = pore_labels_next(&l, &at));) {
        bool round[3];
        for (int a = 0; a < 3; a++)
            round[a] = part->touches & (uint32_t)TOUCH_ROUND << a;
        driven |= is_driven(c, p, round, part->openings & outlets);
    }
    pore_labels_free(&l);
    MPI_Allreduce(MPI_IN_PLACE, &driven, 1, MPI_INT, MPI_MAX, d->comm);
    *idle = !driven;
    return STATUS_OK;
}

enum status idle_force_find(const struct domain *d, const struct flow_case *c, bool *idle)
{
    const struct push p = push_of(c);
    bool round[3];
    for (int a = 0; a < 3; a++)
        round[a] = c->faces[2 * a].kind == FACE_periodic;
    *idle = p.any && (c->flow_rate.given || !moves_otherwise(c));
    if (!*idle)
        return STATUS_OK;
    *idle = !is_driven(c, &p, round, outlets_of(d, c));
    return *idle || d->refined || !c->body_count ? STATUS_OK : look_at_parts(d, c, &p, idle);
}

void idle_force_warn(const struct flow_case *c)
{
    warn("force_idle",
         "force.%s drives no flow: no fluid leads round a periodic axis along it or from one "
         "opening to another, so the pressure balances it and the fluid stays at rest (make the "
         "axis periodic, or give it openings; bodies must leave a way)",
         c->flow_rate.given ? "flow_rate" : "acceleration");
}
