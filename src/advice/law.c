/* Viscosity laws that the flow leaves at once. */
#include "advice/advice.h"
#include "base/message.h"
#include "case/case_law.h"

void advise_law(const struct flow_case *c)
{
    static const double cells = 64;
    const struct case_law *const law = &c->fluid.law;
    const double fastest = case_fastest_velocity(c);
    const double viscosity = case_viscosity_at(c, fastest / cells);
    if ((law->kind != LAW_power && law->kind != LAW_herschel_bulkley) || !(fastest > 0) ||
        law->index == 1 || (viscosity > law->least && viscosity < law->most))
        return;
    warn("law_limit",
         "fluid.law: where the velocity changes by %g over %g cells, the viscosity is at its limit "
         "`%s` (give fluid.viscosity at a shear_rate nearer to the flow's, or another limit)",
         fastest, cells, viscosity > law->least ? "most" : "least");
}
