/* Viscosity laws of a case; see case_law.h. */
#include "case/case_law.h"

#include <math.h>

#include "base/message.h"
#include "case/record.h"
#include "case/sections.h"
#include "elementary.h"

/* Defaults of the limits, relative to fluid.viscosity. */
#define LAW_RANGE 1000.0

/* The law's shear rate is at least this: the viscosities of most laws are infinite at rest. */
#define LAW_SHEAR 1e-30

/* Cells over which a flow may change by its fastest velocity: at least, and at most. */
#define LAW_FEWEST 4.0
#define LAW_MANY 64.0

/* base > 0; without an exponent it may be anything. */
static double power_of(double base, double exponent)
{
    return exponent == 0 ? 1 : exact_exp(fmax(-700, fmin(700, exponent * exact_log(base))));
}

static double unlimited(const struct case_fluid *f, double g)
{
    const struct case_law *const law = &f->law;
    switch (law->kind) {
    case LAW_power:
        return f->viscosity * power_of(g / law->shear_rate, law->index - 1);
    case LAW_carreau: {
        const double bend = 1 + power_of(law->time * g, law->transition);
        return law->infinite +
               (f->viscosity - law->infinite) * power_of(bend, (law->index - 1) / law->transition);
    }
    case LAW_casson: {
        const double root = sqrt(f->viscosity) + sqrt(law->yield / g);
        return root * root;
    }
    case LAW_herschel_bulkley:
        return law->yield / g + f->viscosity * power_of(g / law->shear_rate, law->index - 1);
    case LAW_constant:
        break;
    }
    return f->viscosity;
}

double case_viscosity_at(const struct flow_case *c, double shear_rate)
{
    const struct case_law *const law = &c->fluid.law;
    if (law->kind == LAW_constant)
        return c->fluid.viscosity;
    const double viscosity = unlimited(&c->fluid, fmax(shear_rate, LAW_SHEAR));
    return fmin(law->most, fmax(law->least, viscosity));
}

double case_viscosity_under(const struct flow_case *c, double stress)
{
    enum { HALVINGS = 80 };
    if (c->fluid.law.kind == LAW_constant)
        return c->fluid.viscosity;
    double low = stress / c->fluid.law.most, high = stress / c->fluid.law.least;
    for (int k = 0; k < HALVINGS && low < high; k++) {
        const double shear = 0.5 * (low + high);
        if (shear * case_viscosity_at(c, shear) < stress)
            low = shear;
        else
            high = shear;
    }
    return case_viscosity_at(c, high);
}

double case_thinnest(const struct flow_case *c)
{
    const double fastest = case_fastest_velocity(c);
    if (!(fastest > 0))
        return c->fluid.viscosity;
    return fmin(case_viscosity_at(c, fastest / LAW_FEWEST),
                case_viscosity_at(c, fastest / LAW_MANY));
}

/* Default limits. Carreau fluids have limits of their own; yield stresses make the viscosity
 * larger, never smaller. */
static void set_limits(struct case_fluid *f)
{
    struct case_law *const law = &f->law;
    const bool falls = law->kind == LAW_power || law->kind == LAW_herschel_bulkley;
    law->least = falls ? f->viscosity / LAW_RANGE : f->viscosity;
    law->most = f->viscosity * LAW_RANGE;
    if (law->kind == LAW_carreau) {
        law->least = fmin(f->viscosity, law->infinite);
        law->most = fmax(f->viscosity, law->infinite);
    }
    if (law->kind == LAW_herschel_bulkley && law->index == 1)
        law->least = f->viscosity;
}

static enum status read_limits(struct map m, struct case_law *law)
{
    enum status s;
    if ((s = value_read(m, "least", &law->least)) || (s = value_read(m, "most", &law->most)))
        return s;
    if (law->least <= law->most)
        return STATUS_OK;
    const struct case_units *const units = &m.r->c->units;
    const double unit = units->dx * units->dx / units->dt;
    const struct node *const n = map_get(m, "least") ? map_get(m, "least") : map_get(m, "most");
    return fail_value(m.r, n, ": the least viscosity is %g and the most is %g%s", law->least * unit,
                      law->most * unit, m.r->c->units.given ? " m2/s" : "");
}

enum status law_read(struct map m, struct flow_case *c)
{
#define X(name) #name,
    static const char *const kinds[] = {LAW_LIST(X) NULL};
#undef X
    struct case_law *const law = &c->fluid.law;
    struct map found;
    int kind = 0;
    enum status s = value_kind(m, kinds, "has both", "", &found, &kind);
    if (s)
        return s;
    if (!found.node && m.node)
        return fail_value(m.r, m.node, ": which law? (power, carreau, casson or herschel_bulkley)");
    law->kind = found.node ? (enum law)(1 + kind) : LAW_constant;
    if (law->kind == LAW_constant)
        return STATUS_OK;
    if ((s = record_read(found, 0, law)))
        return s;
    if (law->kind == LAW_herschel_bulkley && law->index != 1 && !map_get(found, "shear_rate"))
        return value_missing(found, "shear_rate", ", which an index other than 1 needs,");
    if (law->kind == LAW_herschel_bulkley && law->index == 1 &&
        (s = value_refuse(found, "shear_rate", "with index 1")))
        return s;
    set_limits(&c->fluid);
    return read_limits(m, law);
}

bool law_mixes(const struct flow_case *c)
{
    return c->fluid.law.kind == LAW_constant || !c->scalar_count;
}

enum status law_region(struct map m)
{
    return m.r->c->fluid.law.kind == LAW_constant ? STATUS_OK
                                                  : value_refuse(m, "viscosity", "with fluid.law");
}

enum status law_subgrid(const struct flow_case *c, struct map solver, struct map model)
{
    if (c->fluid.law.kind == LAW_constant)
        return STATUS_OK;
    return law_mixes(c) ? value_refuse(model, "van_driest", "with fluid.law")
                        : value_refuse(solver, "subgrid",
                                       "with fluid.law and scalars, which such eddies do not mix");
}

void law_write(struct writer *w, const struct key *key, const void *from)
{
#define X(name) [LAW_##name] = {#name, "fluid.law." #name},
    static const struct {
        const char *name, *row;
    } kinds[] = {LAW_LIST(X)};
#undef X
    const struct case_law *const law = &((const struct flow_case *)from)->fluid.law;
    (void)key;
    if (law->kind == LAW_constant)
        return;
    write_open(w, "law");
    write_open(w, kinds[law->kind].name);
    record_write(w, kinds[law->kind].row, 0, law);
    write_close(w);
    write_key(w, "least");
    write_number(w, law->least);
    write_key(w, "most");
    write_number(w, law->most);
    write_close(w);
}

const char *law_reynolds(const struct flow_case *c)
{
    return c->fluid.law.kind == LAW_constant ? "" : " by fluid.viscosity";
}

void law_say(const struct flow_case *c)
{
    const double fastest = case_fastest_velocity(c);
    char tau[2][32];
    if (c->fluid.law.kind == LAW_constant)
        return;
    say("viscosity law: limits %g and %g, tau %s and %s", c->fluid.law.least, c->fluid.law.most,
        case_tau_text(tau[0], 3 * c->fluid.law.least + 0.5, 6),
        case_tau_text(tau[1], 3 * c->fluid.law.most + 0.5, 6));
    for (int k = 0; k < 2 && fastest > 0; k++) {
        const double cells = k ? LAW_FEWEST : LAW_MANY;
        const double viscosity = case_viscosity_at(c, fastest / cells);
        say("viscosity law: %g, tau %s, where the velocity changes by %g over %g cells", viscosity,
            case_tau_text(tau[0], 3 * viscosity + 0.5, 6), fastest, cells);
    }
}
