/* Sections of a case: initial flow, force. */
#include <math.h>
#include <string.h>

#include "case/sections.h"

bool initial_is_flat(enum initial_flow flow)
{
    return flow == INITIAL_taylor_green_2d || flow == INITIAL_shear_layer;
}

bool initial_has_amplitude(enum initial_flow flow)
{
    return flow != INITIAL_rest && flow != INITIAL_uniform;
}

/* Keys of `initial` that this flow does not have. */
static enum status refuse_others(const struct reader *r, const struct node *map,
                                 enum initial_flow flow)
{
    const struct {
        const char *row;
        bool has;
    } keys[] = {
        {"initial.velocity", flow == INITIAL_uniform},
        {"initial.amplitude", initial_has_amplitude(flow)},
        {"initial.axis", initial_is_flat(flow)},
        {"initial.thickness", flow == INITIAL_shear_layer},
        {"initial.perturbation", flow == INITIAL_shear_layer},
    };
    char why[64];
    snprintf(why, sizeof why, "with flow %s", key_flows[flow]);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const enum status s = keys[i].has ? STATUS_OK : value_refuse(r, map, keys[i].row, why);
        if (s)
            return s;
    }
    return STATUS_OK;
}

/* The periodic flows need a box that they fit into. */
static enum status check_box(const struct reader *r, const struct node *flow,
                             const struct flow_case *c)
{
    const bool flat = initial_is_flat(c->initial.flow);
    const char *name = key_flows[c->initial.flow];
    for (int a = 0; a < 3; a++)
        if (c->faces[2 * a].kind != FACE_periodic && !(flat && a == c->initial.axis))
            return fail_at(r->document, flow->at,
                           "initial.flow %s needs periodic faces along %s (faces: {%s: periodic})",
                           name, key_axes[a], key_axes[a]);
    if (!flat && (c->cells[0] != c->cells[1] || c->cells[0] != c->cells[2]))
        return fail_at(r->document, flow->at,
                       "initial.flow %s needs a cube, not %d x %d x %d cells (for example "
                       "domain: {cells: [%d, %d, %d]})",
                       name, c->cells[0], c->cells[1], c->cells[2], c->cells[0], c->cells[0],
                       c->cells[0]);
    return STATUS_OK;
}

enum status section_initial(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "initial");
    struct case_initial *initial = &c->initial;
    int flow = 0;
    enum status s;
    if ((s = value_choice(r, map, "initial.flow", &flow)))
        return s;
    initial->flow = (enum initial_flow)flow;
    if ((s = refuse_others(r, map, initial->flow)) ||
        (s = value_numbers(r, map, "initial.velocity", UNIT_VELOCITY, 3, initial->velocity)) ||
        (s = value_choice(r, map, "initial.axis", &initial->axis)) ||
        (s = value_number(r, map, "initial.thickness", &initial->thickness)) ||
        (s = value_number(r, map, "initial.perturbation", &initial->perturbation)))
        return s;
    if (initial->flow == INITIAL_uniform && !value_find(map, "initial.velocity"))
        return value_missing(r, map, "initial.velocity", ", which flow uniform needs,");
    if (!initial_has_amplitude(initial->flow))
        return STATUS_OK;
    initial->amplitude = c->fluid.velocity;
    if ((s = value_number(r, map, "initial.amplitude", &initial->amplitude)))
        return s;
    if (initial->amplitude == 0)
        return value_missing(r, map, "initial.amplitude", " or fluid.velocity");
    return check_box(r, value_find(map, "initial.flow"), c);
}

enum status section_force(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "force");
    return value_numbers(r, map, "force.acceleration", UNIT_ACCELERATION, 3, c->acceleration);
}
