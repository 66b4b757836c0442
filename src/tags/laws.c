/* Tables of viscosity laws; see laws.h. */
#include "tags/laws.h"

#include <math.h>

#include "case/case_law.h"
#include "law.h"
#include "subgrid.h"

/* With the eddies of Smagorinsky's model. */
static double viscosity_of(const struct flow_case *c, double g)
{
    const double constant = c->solver.smagorinsky; /* 0: no model */
    return case_viscosity_at(c, g) + constant * constant * g;
}

/* 1 / tau at a shear rate. */
static double rate_at(const struct flow_case *c, double g)
{
    return 1 / (3 * viscosity_of(c, g) + 0.5);
}

/* The left side grows with g if the stress does, as it does in all laws. */
double law_solve(const struct flow_case *c, double x)
{
    enum { HALVINGS = 80 };
    const double right = 3 * 0.70710678118654752440 * x;
    const double constant = c->solver.smagorinsky, eddies = constant * constant;
    double high = right / (3 * c->fluid.law.least + 0.5);
    double low = right / (3 * (c->fluid.law.most + eddies * high) + 0.5);
    for (int k = 0; k < HALVINGS; k++) {
        const double g = 0.5 * (low + high);
        if (g * (3 * viscosity_of(c, g) + 0.5) < right)
            low = g;
        else
            high = g;
    }
    return rate_at(c, 0.5 * (low + high));
}

typedef double rate_function(const struct flow_case *c, double x);

/* The parabola through three points of a segment; the straight line through its ends where that
 * leaves the values at them: a limit of the law makes an edge. */
static void make_segment(const struct flow_case *c, rate_function *rate, double start,
                         double length, double *to)
{
    const double step = 1.0 / LAW_SEGMENTS; /* in t */
    const double a = rate(c, start), b = rate(c, start + 0.5 * length), e = rate(c, start + length);
    to[0] = a;
    to[1] = (4 * (b - a) - (e - a)) / step;
    to[2] = 2 * ((e - b) - (b - a)) / (step * step);
    /* it turns inside the segment */
    if (to[1] * (to[1] + 2 * to[2] * step) < 0) {
        to[1] = (e - a) / step;
        to[2] = 0;
    }
}

static void make_table(const struct flow_case *c, rate_function *rate, double *table)
{
    for (int k = 0; k < LAW_INNER; k++) {
        const double octave = ldexp(1, LAW_LEAST + k / LAW_SEGMENTS),
                     length = octave / LAW_SEGMENTS;
        make_segment(c, rate, octave + k % LAW_SEGMENTS * length, length,
                     table + (size_t)(k + 1) * LAW_TERMS);
    }
    double *const behind = table + (size_t)(LAW_INNER + 1) * LAW_TERMS;
    for (int k = 0; k < LAW_TERMS; k++)
        table[k] = behind[k] = 0;
    table[0] = rate(c, ldexp(1, LAW_LEAST));
    behind[0] = rate(c, ldexp(1, LAW_LEAST + LAW_OCTAVES));
}

void law_table(const struct flow_case *c, double *table)
{
    make_table(c, law_solve, table);
    make_table(c, rate_at, table + LAW_TABLE);
}

enum status domain_law(struct domain *d, const struct flow_case *c, struct tag_row *row)
{
    size_t place;
    if (c->fluid.law.kind == LAW_constant)
        return STATUS_OK;
    const enum status s = domain_table(d, LAW_VALUES, &place);
    if (s)
        return s;
    law_table(c, d->table + place);
    row->subgrid = SUBGRID_law;
    row->law = 1 + (uint32_t)place;
    return STATUS_OK;
}
