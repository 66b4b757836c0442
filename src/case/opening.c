/* Reads openings: the boundary conditions of faces and patches, which have the same keys. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/level.h"
#include "case/opening.h"
#include "case/record.h"

void face_axes(int face, int axes[2])
{
    const int normal = face / 2;
    axes[0] = normal == 0;
    axes[1] = normal == 2 ? 1 : 2;
}

double magnitude(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* The largest magnitude of the value times the profile. */
static double profile_speed(const struct case_face *face)
{
    const size_t cells = (size_t)face->table_size[0] * (size_t)face->table_size[1];
    const int step = face->table_components;
    double largest = 0;
    if (profile_has(face->profile, PROFILE_HAS_height | PROFILE_HAS_radius))
        return magnitude(face->velocity) * heights_peak(&face->heights);
    if (face->profile != PROFILE_table)
        return magnitude(face->velocity);
    for (size_t i = 0; i < cells; i++) {
        double v[3];
        for (int a = 0; a < 3; a++)
            v[a] = face->velocity[a] * face->table[i * (size_t)step + (size_t)(step == 3 ? a : 0)];
        largest = fmax(largest, magnitude(v));
    }
    return largest;
}

double face_speed(const struct case_face *face)
{
    if (face_has(face->kind, FACE_HAS_profile))
        return profile_speed(face) * signal_peak(&face->signal);
    return magnitude(face->velocity);
}

enum status check_mach(const struct reader *r, const struct node *value, double speed,
                       const char *what)
{
    const double mach = speed * sqrt(3.0);
    if (mach <= MACH_MAX)
        return STATUS_OK;
    return fail_value(r, value,
                      ": %s %.4g cells a step, Mach %.3g (at most Mach %g, %.3g cells a step: %s)",
                      what, speed, mach, MACH_MAX, MACH_MAX / sqrt(3.0),
                      r->c->units.given ? "take a smaller units.dt"
                                        : "with a smaller viscosity the Reynolds number stays");
}

/* An opening while it is read. */
struct opening_work {
    struct map map;    /* of its kind: {value: ..., profile: ...} */
    int face, size[2]; /* cells of the face along its axes */
    const struct opening_cells *cells;
    struct case_face *to;
};

static enum status check_speed(const struct opening_work *o, const struct node *value)
{
    return check_mach(o->map.r, value, face_speed(o->to), "the inflow has a velocity of");
}

static enum status read_wall(const struct opening_work *o)
{
    const struct scalar_place place = {.fallback = SCALAR_WALL_adiabatic, .cells = o->cells};
    enum status s = record_read(o->map, 0, o->to);
    if (s || (s = scalar_walls_read(o->map, place, o->to->scalar)) ||
        o->to->velocity[o->face / 2] == 0)
        return s;
    if (o->map.r->c->scalar_count)
        return fail_value(o->map.r, map_get(o->map, "velocity"),
                          ": the wall lets fluid through, but no scalars (take a velocity face)");
    return check_speed(o, map_get(o->map, "velocity"));
}

/* Scalars at an opening of given pressure or at an outlet that say nothing of them. */
static void scalars_default(const struct flow_case *c, struct case_face *to)
{
    for (int k = 0; k < c->scalar_count; k++)
        to->scalar[k].kind = SCALAR_WALL_outflow;
}

/* Takes a table with one factor, or three, for every cell of the face. */
static enum status take_table(const struct opening_work *o, struct map map, struct case_numbers *n)
{
    struct case_face *const to = o->to;
    const int *const size = o->size;
    const bool flat = n->axes == 2, rows = n->size[0] == (size_t)size[1];
    const size_t columns = n->size[1], width = (size_t)size[0];
    const bool deep = n->axes == 3 && n->size[2] == 3;
    char given[96];
    if (flat)
        snprintf(given, sizeof given, "%zu x %zu", n->size[0], columns);
    else
        snprintf(given, sizeof given, "%zu x %zu x %zu", n->size[0], columns, n->size[2]);
    if (rows && columns == width && (flat || (n->axes == 3 && n->size[2] == 1)))
        to->table_components = 1;
    else if (rows && ((flat && !to->dataset && columns == 3 * width) || (deep && columns == width)))
        to->table_components = 3;
    else if (to->dataset)
        return input_wrong(map,
                           ": '%.60s' is of %s, but the face has %d x %d cells, for which it must "
                           "be of %d x %d or "
                           "%d x %d x 3, the face's second axis first",
                           to->dataset, given, size[0], size[1], size[1], size[0], size[1],
                           size[0]);
    else
        return input_wrong(
            map,
            " has %zu lines of %zu numbers, but the face has %d x %d cells (%d lines "
            "of %d, or of %.0f: three for each cell)",
            n->size[0], columns, size[0], size[1], size[1], size[0], 3.0 * size[0]);
    memcpy(to->table_size, size, sizeof to->table_size);
    to->table = n->value;
    n->value = NULL;
    return STATUS_OK;
}

/* A profile from a file, for each cell. */
static enum status read_cells(const struct opening_work *o, struct map inner)
{
    struct case_face *const to = o->to;
    struct case_numbers n = {0};
    if (o->map.r->origin)
        return level_profile(inner, o->size, to);
    enum status s = input_numbers(inner, true, &n, &to->file, &to->dataset, &to->checksum);
    if (!s)
        s = take_table(o, inner, &n);
    free(n.value);
    return s;
}

static enum status read_profile(const struct opening_work *o)
{
    struct case_face *const to = o->to;
    struct map inner, found;
    int kind = 0;
    enum status s = value_or_map(o->map, "profile", &inner);
    if (s)
        return s;
    if (!inner.node) {
        const struct node *word = map_get(o->map, "profile");
        to->profile = word ? (enum profile)choice_index(key_profiles, word->text) : PROFILE_uniform;
        return STATUS_OK;
    }
    if ((s = value_kind(inner, profile_heights, "has both", "", &found, &kind)))
        return s;
    if (found.node) {
        to->profile = (enum profile)(PROFILE_height + kind);
        return heights_read(found, to->profile, o->cells, &to->heights);
    }
    if ((s = value_one_of(inner, "power", "file")))
        return s;
    if (map_get(inner, "power")) {
        to->profile = PROFILE_power;
        return value_read(inner, "power", &to->power);
    }
    to->profile = PROFILE_table;
    return read_cells(o, inner);
}

/* The keys that velocity and pressure faces share. */
static enum status read_profiled(const struct opening_work *o)
{
    enum status s = record_read(o->map, ALL_KINDS, o->to);
    if (!s)
        s = read_profile(o);
    return s ? s : signal_read(o->map, &o->to->signal);
}

static enum status read_velocity(const struct opening_work *o)
{
    enum status s = read_profiled(o);
    if (s || (s = check_speed(o, map_get(o->map, "value"))))
        return s;
    const double normal = o->to->velocity[o->face / 2];
    const struct scalar_place place = {.fallback = SCALAR_WALL_value,
                                       .cells = o->cells,
                                       .required = true,
                                       .outwards = o->face % 2 ? normal > 0 : normal < 0};
    return scalar_walls_read(o->map, place, o->to->scalar);
}

/* The velocity of a pressure face must be tangential, since the pressure determines the normal one.
 * Links take none. */
static enum status check_along(const struct opening_work *o)
{
    char path[NODE_PATH];
    const struct case_face *const to = o->to;
    const struct document *const d = o->map.r->document;
    const bool moves = to->velocity[0] || to->velocity[1] || to->velocity[2];
    const struct node *value = map_get(o->map, "velocity");
    const struct node *profile = map_get(o->map, "profile");
    const int normal = o->face / 2;
    node_path(o->map.node, path, sizeof path);
    if (!moves && profile)
        return fail_at(d, profile->key_at,
                       "%s: there is a profile but no velocity that has it (for example velocity: "
                       "[%s, 0.01, 0.01])",
                       path, normal ? "0.01" : "0");
    if (!moves)
        return STATUS_OK;
    if (to->rule == FACE_RULE_links)
        return fail_at(
            d, value->at,
            "%s: rule links does not prescribe the velocity along the face (leave it out, or "
            "rule: regularised)",
            path);
    if (to->velocity[normal] != 0)
        return fail_at(d, value->at,
                       "%s: the velocity along %s, across face %s, follows from the pressure (only "
                       "that along the face is given here: 0 for %s)",
                       path, key_axes[normal], key_faces[o->face], key_axes[normal]);
    return check_speed(o, value);
}

/* The density, given directly or by a pressure p as 1 + 3 p; default 1. `pressure`: its key. */
static enum status read_level(const struct opening_work *o, const char *pressure)
{
    const bool by_pressure = map_get(o->map, pressure);
    double p = 0;
    const enum status s = by_pressure && map_get(o->map, "density")
                              ? value_one_of(o->map, "density", pressure)
                              : value_read(o->map, pressure, &p);
    o->to->density = 1 + 3 * p;
    return s || by_pressure ? s : value_read(o->map, "density", &o->to->density);
}

/* A signal scales the density's distance from 1, which must not be 0, nor get too large. */
static enum status check_signal(const struct opening_work *o)
{
    char path[NODE_PATH];
    const struct case_face *const to = o->to;
    const struct document *const d = o->map.r->document;
    const struct node *n = map_get(o->map, "density");
    n = n ? n : map_get(o->map, "value");
    const struct place at = n ? n->at : o->map.node->key_at;
    node_path(o->map.node, path, sizeof path);
    if (to->signal.kind == SIGNAL_constant)
        return STATUS_OK;
    if (to->density == 1 && face_speed(to) == 0)
        return fail_at(
            d, at,
            "%s: with density 1 a variation in time has no effect: it scales the density's "
            "distance from 1 (give another density)",
            path);
    /* a table or a sine may change the sign of the distance */
    const double distance = fabs(to->density - 1) * signal_peak(&to->signal);
    if (distance > 0.5)
        return fail_at(d, at, "%s: the density would come as far as %g from 1 (at most 0.5)", path,
                       distance);
    return STATUS_OK;
}

static enum status read_pressure(const struct opening_work *o)
{
    const struct scalar_place place = {.fallback = SCALAR_WALL_outflow, .cells = o->cells};
    enum status s;
    if ((s = read_level(o, "value")) || (s = read_profiled(o)) || (s = check_along(o)) ||
        (s = scalar_walls_read(o->map, place, o->to->scalar)))
        return s;
    return check_signal(o);
}

/* Values that are not given; choose_reflection() replaces the reflection. */
static void outlet_default(struct case_face *to)
{
    to->density = 1;
    to->reflection = REFLECTION_AUTO;
}

static enum status read_outlet(const struct opening_work *o)
{
    const struct node *const velocity = map_get(o->map, "velocity");
    const int normal = o->face / 2;
    enum status s;
    outlet_default(o->to);
    scalars_default(o->map.r->c, o->to);
    if ((s = read_level(o, "pressure")) || (s = record_read(o->map, 0, o->to)) || !velocity)
        return s;
    if (o->to->velocity[normal] != 0)
        return fail_value(o->map.r, velocity,
                          ": the velocity along %s, across face %s, follows from the flow (only "
                          "that along the face is given here: 0 for %s)",
                          key_axes[normal], key_faces[o->face], key_axes[normal]);
    return check_speed(o, velocity);
}

enum status opening_read(struct map m, const struct opening_cells *cells, struct case_face *to)
{
    struct map found;
    int axes[2], kind = 0;
    enum status s = value_kind(m, key_face_kinds, "is both", "", &found, &kind);
    if (s)
        return s;
    if (!found.node)
        return fail_key(m.r, m.node,
                        " does not say what it is (for example %s: {velocity: {value: [0.05, 0, "
                        "0]}}; or wall, slip, pressure, outflow, nonreflecting)",
                        m.node->key);
    to->kind = (enum face_kind)kind;
    face_axes(cells->face, axes);
    const struct opening_work o = {.map = found,
                                   .face = cells->face,
                                   .size = {m.r->c->cells[axes[0]], m.r->c->cells[axes[1]]},
                                   .cells = cells,
                                   .to = to};
    if (keys_row(found.row)->type == KEY_EMPTY)
        return value_read(m, found.node->key, NULL);
    if (found.node->kind != NODE_MAPPING && to->kind == FACE_pressure) {
        double p = 0;
        s = value_read(m, found.node->key, &p);
        to->density = 1 + 3 * p;
        scalars_default(m.r->c, to);
        return s;
    }
    if (found.node->kind != NODE_MAPPING)
        return value_wrong(m.r, found.node, keys_row(found.row));
    switch (to->kind) {
    case FACE_wall:
        return read_wall(&o);
    case FACE_velocity:
        return read_velocity(&o);
    case FACE_pressure:
        return read_pressure(&o);
    case FACE_nonreflecting:
    case FACE_outflow:
        return read_outlet(&o);
    case FACE_periodic:
    case FACE_slip:
        break;
    }
    return STATUS_OK;
}

enum status opening_read_word(const struct reader *r, const struct node *n, struct case_face *to)
{
    const int kind = choice_index(key_face_kinds, n->text);
    if (kind < 0)
        return value_no_choice(r, n, keys_row("faces.<face>"));
    if (kind == FACE_velocity)
        return fail_value(
            r, n, ": which velocity? (for example %s: {velocity: {value: [0.05, 0, 0]}})", n->key);
    to->kind = (enum face_kind)kind;
    if (kind == FACE_pressure)
        to->density = 1;
    if (kind == FACE_outflow || kind == FACE_nonreflecting)
        outlet_default(to);
    if (face_open(to->kind))
        scalars_default(r->c, to);
    return STATUS_OK;
}

int case_openings(const struct flow_case *c)
{
    return 6 + c->patch_count;
}

const struct case_face *case_opening(const struct flow_case *c, int k)
{
    return k < 6 ? &c->faces[k] : &c->patches[k - 6].opening;
}

int case_opening_side(const struct flow_case *c, int k)
{
    return k < 6 ? k : c->patches[k - 6].face;
}

bool face_has(enum face_kind kind, unsigned properties)
{
#define X(name, has, ...) has,
    static const unsigned table[] = {FACE_LIST(X)};
#undef X
    return table[kind] & properties;
}

bool face_open(enum face_kind kind)
{
    return face_has(kind, FACE_HAS_flow);
}

bool case_opening_passes(const struct flow_case *c, int k)
{
    const struct case_face *const what = case_opening(c, k);
    return face_open(what->kind) || what->velocity[case_opening_side(c, k) / 2] != 0;
}

bool case_is_open(const struct flow_case *c)
{
    bool open = false;
    for (int k = 0; k < case_gates(c); k++)
        open = open || case_gate(c, k).open;
    return open;
}

bool case_holds_density(const struct flow_case *c)
{
    bool held = false;
    for (int k = 0; k < case_gates(c); k++)
        held = held || case_gate(c, k).holds;
    for (int k = 0; k < c->zone_count; k++)
        held = held || c->zones[k].sponge.given;
    return held;
}

bool face_holds_density(const struct case_face *face)
{
    return face_has(face->kind, FACE_HAS_density);
}

bool face_on_nodes(const struct case_face *face)
{
    return face_has(face->kind, FACE_HAS_profile) && face->rule == FACE_RULE_regularised;
}

bool profile_has(enum profile profile, unsigned properties)
{
#define X(name, has) has,
    static const unsigned table[] = {PROFILE_LIST(X)};
#undef X
    return table[profile] & properties;
}

bool opening_has_profile(const struct case_face *face)
{
    return face_has(face->kind, FACE_HAS_profile) && profile_has(face->profile, PROFILE_HAS_edges);
}

void face_destroy(struct case_face *face)
{
    free(face->place);
    free(face->file);
    free(face->dataset);
    free(face->table);
    heights_destroy(&face->heights);
    signal_destroy(&face->signal);
    scalar_walls_destroy(face->scalar);
    *face = (struct case_face){0};
}
