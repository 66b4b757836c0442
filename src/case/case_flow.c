/* Sections of a case: initial flow, force. */
#include <math.h>
#include <string.h>

#include "case/sections.h"

bool initial_has(enum initial_flow flow, enum initial_keys key)
{
#define X(name, keys) keys,
    static const unsigned has[] = {INITIAL_LIST(X)};
#undef X
    return has[flow] & key;
}

/* Keys of `initial` that this flow does not have. */
static enum status refuse_others(const struct reader *r, const struct node *map,
                                 enum initial_flow flow)
{
    static const struct {
        const char *row;
        enum initial_keys key;
    } rows[] = {
        {"initial.velocity", INITIAL_HAS_velocity},
        {"initial.amplitude", INITIAL_HAS_amplitude},
        {"initial.axis", INITIAL_HAS_axis},
        {"initial.thickness", INITIAL_HAS_thickness},
        {"initial.perturbation", INITIAL_HAS_perturbation},
        {"initial.density", INITIAL_HAS_density},
        {"initial.center", INITIAL_HAS_center},
        {"initial.width", INITIAL_HAS_width},
    };
    char why[64];
    snprintf(why, sizeof why, "with flow %s", key_flows[flow]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const enum status s =
            initial_has(flow, rows[i].key) ? STATUS_OK : value_refuse(r, map, rows[i].row, why);
        if (s)
            return s;
    }
    return STATUS_OK;
}

/* Some flows need a box that they fit into. */
static enum status check_box(const struct reader *r, const struct node *flow,
                             const struct flow_case *c)
{
    const enum initial_flow kind = c->initial.flow;
    const bool flat = kind == INITIAL_taylor_green_2d || kind == INITIAL_shear_layer;
    const bool cube = kind == INITIAL_taylor_green_3d || kind == INITIAL_abc;
    const char *name = key_flows[kind];
    int closed = 0;
    for (int a = 0; a < 3; a++) {
        const bool periodic = c->faces[2 * a].kind == FACE_periodic;
        closed += c->faces[2 * a].kind == FACE_wall && c->faces[2 * a + 1].kind == FACE_wall;
        if (!periodic && (cube || (flat && a != c->initial.axis)))
            return fail_at(r->document, flow->at,
                           "initial.flow %s needs periodic faces along %s (faces: {%s: periodic})",
                           name, key_axes[a], key_axes[a]);
    }
    if (cube && (c->cells[0] != c->cells[1] || c->cells[0] != c->cells[2]))
        return fail_at(r->document, flow->at,
                       "initial.flow %s needs a cube, not %d x %d x %d cells (for example "
                       "domain: {cells: [%d, %d, %d]})",
                       name, c->cells[0], c->cells[1], c->cells[2], c->cells[0], c->cells[0],
                       c->cells[0]);
    if (kind == INITIAL_channel && closed != 1)
        return fail_at(r->document, flow->at,
                       "initial.flow channel needs walls at both ends of one axis, and there are "
                       "%d such axes (faces: {x: periodic, y: wall, z: periodic})",
                       closed);
    return STATUS_OK;
}

enum status section_initial(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "initial");
    struct case_initial *initial = &c->initial;
    int flow = 0, level = 0;
    enum status s;
    if ((s = value_choice(r, map, "initial.flow", &flow)))
        return s;
    initial->flow = (enum initial_flow)flow;
    for (int a = 0; a < 3 && initial_has(initial->flow, INITIAL_HAS_center); a++)
        initial->center[a] = 0.5 * c->cells[a];
    if ((s = refuse_others(r, map, initial->flow)) ||
        (s = value_numbers(r, map, "initial.velocity", UNIT_VELOCITY, 3, initial->velocity)) ||
        (s = value_choice(r, map, "initial.axis", &initial->axis)) ||
        (s = value_number(r, map, "initial.thickness", &initial->thickness)) ||
        (s = value_number(r, map, "initial.perturbation", &initial->perturbation)) ||
        (s = value_number(r, map, "initial.density", &initial->density)) ||
        (s = value_position(r, map, "initial.center", c->cells, initial->center)) ||
        (s = value_number(r, map, "initial.width", &initial->width)) ||
        (s = value_choice(r, map, "initial.pressure", &level)) ||
        (s = value_integer(r, map, "initial.relax", &initial->relax)))
        return s;
    initial->level = level;
    if (initial->flow == INITIAL_uniform && !value_find(map, "initial.velocity"))
        return value_missing(r, map, "initial.velocity", ", which flow uniform needs,");
    if (initial_has(initial->flow, INITIAL_HAS_width) && initial->width == 0)
        return value_missing(r, map, "initial.width", ", which this flow needs,");
    if (initial_has(initial->flow, INITIAL_HAS_amplitude)) {
        initial->amplitude = c->fluid.velocity;
        if ((s = value_number(r, map, "initial.amplitude", &initial->amplitude)))
            return s;
        if (initial->amplitude == 0)
            return value_missing(r, map, "initial.amplitude", " or fluid.velocity");
    }
    return check_box(r, value_find(map, "initial.flow"), c);
}

static enum status read_flow_rate(const struct reader *r, const struct node *force,
                                  struct flow_case *c)
{
    struct case_flow_rate *const wanted = &c->flow_rate;
    const struct node *const map = value_find(force, "force.flow_rate");
    char path[NODE_PATH];
    enum status s;
    if (!map)
        return STATUS_OK;
    if ((s = value_refuse(r, force, "force.acceleration",
                          "with force.flow_rate, which makes its own")) ||
        (s = value_number(r, map, "force.flow_rate.velocity", &wanted->velocity)) ||
        (s = value_choice(r, map, "force.flow_rate.axis", &wanted->axis)) ||
        (s = value_interval(r, map, "force.flow_rate.every", &wanted->every)) ||
        (s = value_number(r, map, "force.flow_rate.time", &wanted->time)))
        return s;
    node_path(map, path, sizeof path);
    if (c->faces[2 * wanted->axis].kind != FACE_periodic)
        return fail_at(r->document, map->key_at,
                       "%s holds the flow along %s, which is not periodic (faces: {%s: periodic}, "
                       "or another axis)",
                       path, key_axes[wanted->axis], key_axes[wanted->axis]);
    if (wanted->time < (double)wanted->every)
        return fail_at(r->document, map->key_at,
                       "%s: time %g is shorter than the %lld steps between looks (a flow that is "
                       "set right faster than it is looked at swings)",
                       path, wanted->time, (long long)wanted->every);
    wanted->given = true;
    return STATUS_OK;
}

enum status section_force(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "force");
    enum status s;
    if ((s = value_numbers(r, map, "force.acceleration", UNIT_ACCELERATION, 3, c->acceleration)) ||
        (s = signal_read(r, map, "force", &c->force_signal)))
        return s;
    const char *const rows[] = {"force.ramp", "force.sine", "force.table"};
    for (size_t i = 0; i < 3 && !value_find(map, "force.acceleration"); i++)
        if ((s = value_refuse(r, map, rows[i], "without force.acceleration")))
            return s;
    return read_flow_rate(r, map, c);
}
