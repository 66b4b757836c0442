/* Faces, patches and caps as one kind of thing. */
#include <stdio.h>

#include "case/sections.h"

int case_gates(const struct flow_case *c)
{
    return case_openings(c) + case_caps(c);
}

static struct case_gate of_cap(const struct case_cap *cap)
{
    struct case_gate gate = {.side = -1,
                             .open = true,
                             .gives = cap->kind == CAP_velocity,
                             .holds = cap->kind == CAP_pressure,
                             .speed = cap_speed(cap),
                             .signal = &cap->signal,
                             .scalar = cap->scalar};
    if (gate.holds)
        gate.drho = (cap->density - 1) * signal_peak(&cap->signal);
    snprintf(gate.name, sizeof gate.name, "caps.%s", cap->name);
    return gate;
}

struct case_gate case_gate(const struct flow_case *c, int k)
{
    if (k >= case_openings(c))
        return of_cap(case_cap(c, k - case_openings(c)));
    const struct case_face *const what = case_opening(c, k);
    struct case_gate gate = {.side = case_opening_side(c, k),
                             .open = face_open(what->kind),
                             .gives = what->kind == FACE_velocity,
                             .holds = face_holds_density(what),
                             .speed = face_speed(what),
                             .signal = &what->signal,
                             .scalar = what->scalar};
    if (gate.holds)
        gate.drho =
            (what->density - 1) * (what->kind == FACE_pressure ? signal_peak(&what->signal) : 1);
    snprintf(gate.name, sizeof gate.name, "%s.%s", k < 6 ? "faces" : "patches",
             k < 6 ? face_name(k) : c->patches[k - 6].name);
    return gate;
}
