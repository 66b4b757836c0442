/* Viscosity laws that the flow leaves at once, or of which two numbers may be swapped. */
#include "advice/advice.h"
#include "base/message.h"
#include "case/case_law.h"

/* What helps where the flow is at a limit. */
static const char *remedy_of(const struct case_law *law, bool at_most)
{
    if (law->kind == LAW_carreau)
        return "is fluid.law.carreau.time right?";
    if (law->yield > 0 && at_most)
        return "below its yield stress the fluid only creeps: a larger force or velocity, or a "
               "smaller yield";
    return "give fluid.viscosity at a shear_rate nearer to the flow's, or another limit";
}

void advise_law(const struct flow_case *c)
{
    static const double cells = 64, close = 1e-3;
    const struct case_law *const law = &c->fluid.law;
    const double fastest = case_fastest_velocity(c);
    const double viscosity = case_viscosity_at(c, fastest / cells);
    const bool falls = law->kind != LAW_casson && !(law->yield > 0 && law->index == 1);
    const bool at_most = viscosity >= law->most * (1 - close),
               at_least = falls && viscosity <= law->least * (1 + close);
    if (law->kind == LAW_carreau && law->infinite > c->fluid.viscosity)
        warn(
            "law_thickens",
            "fluid.law.carreau.infinite is above fluid.viscosity: the fluid is thicker where it is "
            "sheared (swap the two if it is to be thinner)");
    if (law->kind == LAW_constant || !(fastest > 0) || !(at_most || at_least))
        return;
    warn("law_limit",
         "fluid.law: where the velocity changes by %g over %g cells, the viscosity is at its limit "
         "`%s` (%s)",
         fastest, cells, at_most ? "most" : "least", remedy_of(law, at_most));
}
