/* Remedies for grids that are too coarse; see remedy.h. */
#include "advice/remedy.h"

#include <stdio.h>
#include <string.h>

#include "case/sections.h"

const char *finer_text(const struct flow_case *c, double times, char text[REMEDY])
{
    static const double much = 8; /* 4096 times the work */
    if (times >= much && c->solver.subgrid == SUBGRID_none)
        snprintf(text, REMEDY, "%s%s instead of a %.0f times finer grid", SUBGRID_MODEL,
                 collision_on_pairs(c->solver.collision) ? " with solver.collision rr" : "", times);
    else if (c->units.given)
        snprintf(text, REMEDY, "a finer grid with units.dx %.2g m at the same Mach number",
                 c->units.dx / times);
    else
        snprintf(text, REMEDY, "a finer grid");
    return text;
}

const char *model_text(const struct flow_case *c, double times, char text[REMEDY])
{
    finer_text(c, times, text);
    const size_t length = strlen(text);
    if (!strstr(text, SUBGRID_MODEL))
        snprintf(text + length, REMEDY - length, " or " SUBGRID_MODEL);
    return text;
}

const char *slower_text(const struct flow_case *c, double times, char text[REMEDY])
{
    char step[TIME_STEP_TEXT], tau[32];
    *text = '\0';
    if (c->units.given)
        snprintf(text, REMEDY, "%s, which makes tau %s", time_step_text(c, times, step),
                 case_tau_text(tau, 0.5 + (case_tau(c) - 0.5) * times, 4));
    return text;
}
