/* Numbers without a unit in a case with units. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/bare.h"
#include "case/sections.h"

void advise_bare(const struct flow_case *c)
{
    for (int unit = 0; unit < CASE_UNITS; unit++) {
        const struct case_bare *const b = &c->unitless.bare[unit];
        char more[32] = "", others[sizeof b->others + 64] = "";
        if (!b->count || !(b->sure || c->unitless.others))
            continue;
        const struct unit_info *const info = unit_info((enum key_unit)unit);
        if (b->count - 1 > b->listed)
            snprintf(more, sizeof more, " and %d more", b->count - 1 - b->listed);
        if (b->count > 1)
            snprintf(others, sizeof others, " (as %s%s)", b->others, more);
        const double one = lattice_unit(&c->units, (enum key_unit)unit);
        if (one > 0 && isfinite(one))
            warn("unit_missing",
                 "%s is %g without a unit%s: that is in %s, here %.3g %s (write %g %s if you mean "
                 "that)",
                 b->key, b->value, others, unit_lattice_text((enum key_unit)unit), b->value * one,
                 info->symbol, b->value, info->symbol);
        else
            warn("unit_missing",
                 "%s is %g without a unit%s: that is in %s (write %g %s if you mean that, with "
                 "units.heat_capacity)",
                 b->key, b->value, others, unit_lattice_text((enum key_unit)unit), b->value,
                 info->symbol);
    }
}
