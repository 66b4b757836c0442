/* Reads openings: the boundary conditions of faces and patches, which have the same keys. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
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

/* Inflow must stay below MACH_MAX. */
static enum status check_speed(const struct reader *r, const struct node *value,
                               const struct case_face *face)
{
    const double speed = face_speed(face), mach = speed * sqrt(3.0);
    if (mach <= MACH_MAX)
        return STATUS_OK;
    return fail_value(
        r, value,
        ": the inflow has a velocity of %.4g cells a step, Mach %.3g (at most Mach %g, "
        "%.3g cells a step: %s)",
        speed, mach, MACH_MAX, MACH_MAX / sqrt(3.0),
        r->c->units.given ? "take a smaller units.dt"
                          : "with a smaller viscosity the Reynolds number stays");
}

static enum status read_wall(const struct reader *r, const struct node *map, const char *row,
                             int face, struct case_face *to)
{
    const enum status s = record_read(r, map, row, 0, to);
    if (s || to->velocity[face / 2] == 0)
        return s;
    return check_speed(r, node_get(map, "velocity"), to);
}

/* Takes a table with one factor, or three, for every cell of the face. */
static enum status take_table(const struct reader *r, const struct node *map,
                              struct case_numbers *n, const int size[2], struct case_face *to)
{
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
        return input_wrong(r, map,
                           ": '%.60s' is of %s, but the face has %d x %d cells, for which it must "
                           "be of %d x %d or "
                           "%d x %d x 3, the face's second axis first",
                           to->dataset, given, size[0], size[1], size[1], size[0], size[1],
                           size[0]);
    else
        return input_wrong(
            r, map,
            " has %zu lines of %zu numbers, but the face has %d x %d cells (%d lines "
            "of %d, or of %.0f: three for each cell)",
            n->size[0], columns, size[0], size[1], size[1], size[0], 3.0 * size[0]);
    memcpy(to->table_size, size, sizeof to->table_size);
    to->table = n->value;
    n->value = NULL;
    return STATUS_OK;
}

/* `base`: the pattern of the map. */
static enum status read_profile(const struct reader *r, const struct node *map, const char *base,
                                const int size[2], struct case_face *to)
{
    const struct key_path profile = keys_below(base, "profile"),
                          power = keys_below(base, "profile.power"),
                          file = keys_below(base, "profile.file");
    const struct node *inner;
    struct case_numbers n = {0};
    enum status s = value_or_map(r, map, profile.text, &inner);
    if (s)
        return s;
    if (!inner) {
        const struct node *word = value_find(map, profile.text);
        to->profile = word ? (enum profile)choice_index(key_profiles, word->text) : PROFILE_uniform;
        return STATUS_OK;
    }
    if ((s = value_one_of(r, inner, power.text, file.text)))
        return s;
    if (value_find(inner, power.text)) {
        to->profile = PROFILE_power;
        return value_read(r, inner, power.text, &to->power);
    }
    to->profile = PROFILE_table;
    s = input_numbers(r, inner, profile.text, true, &n, &to->file, &to->dataset, &to->checksum);
    if (!s)
        s = take_table(r, inner, &n, size, to);
    free(n.value);
    return s;
}

static enum status read_velocity(const struct reader *r, const struct node *map, const char *row,
                                 const int size[2], struct case_face *to)
{
    enum status s;
    if ((s = record_read(r, map, row, ALL_KINDS, to)) ||
        (s = read_profile(r, map, row, size, to)) || (s = signal_read(r, map, row, &to->signal)))
        return s;
    return check_speed(r, node_get(map, "value"), to);
}

/* The velocity of a pressure face must be tangential, since the pressure determines the normal one.
 * Links take none. */
static enum status check_along(const struct reader *r, const struct node *map,
                               const struct node *value, int face, const struct case_face *to)
{
    char path[NODE_PATH];
    const bool moves = to->velocity[0] || to->velocity[1] || to->velocity[2];
    const struct node *profile = node_get(map, "profile");
    node_path(map, path, sizeof path);
    if (!moves && profile)
        return fail_at(r->document, profile->key_at,
                       "%s: there is a profile but no velocity that has it (for example velocity: "
                       "[%s, 0.01, 0.01])",
                       path, face / 2 ? "0.01" : "0");
    if (!moves)
        return STATUS_OK;
    if (to->rule == FACE_RULE_links)
        return fail_at(
            r->document, value->at,
            "%s: rule links does not prescribe the velocity along the face (leave it out, or "
            "rule: regularised)",
            path);
    if (to->velocity[face / 2] != 0)
        return fail_at(r->document, value->at,
                       "%s: the velocity along %s, across face %s, follows from the pressure (only "
                       "that along the face is given here: 0 for %s)",
                       path, key_axes[face / 2], key_faces[face], key_axes[face / 2]);
    return check_speed(r, value, to);
}

/* The density, given directly or by a pressure p as 1 + 3 p; default 1. */
static enum status read_level(const struct reader *r, const struct node *map, const char *density,
                              const char *pressure, double *level)
{
    const bool by_pressure = value_find(map, pressure);
    double p = 0;
    enum status s = by_pressure && value_find(map, density)
                        ? value_one_of(r, map, density, pressure)
                        : value_read(r, map, pressure, &p);
    *level = 1 + 3 * p;
    return s || by_pressure ? s : value_read(r, map, density, level);
}

static enum status read_pressure(const struct reader *r, const struct node *map, const char *row,
                                 int face, const int size[2], struct case_face *to)
{
    char path[NODE_PATH];
    enum status s;
    if ((s = read_level(r, map, keys_below(row, "density").text, keys_below(row, "value").text,
                        &to->density)) ||
        (s = record_read(r, map, row, ALL_KINDS, to)) ||
        (s = read_profile(r, map, row, size, to)) || (s = signal_read(r, map, row, &to->signal)) ||
        (s = check_along(r, map, node_get(map, "velocity"), face, to)))
        return s;
    if (to->signal.kind == SIGNAL_constant)
        return STATUS_OK;
    const struct node *n = node_get(map, "density");
    n = n ? n : node_get(map, "value");
    const struct place at = n ? n->at : map->key_at;
    node_path(map, path, sizeof path);
    if (to->density == 1 && face_speed(to) == 0)
        return fail_at(
            r->document, at,
            "%s: with density 1 a variation in time has no effect: it scales the density's "
            "distance from 1 (give another density)",
            path);
    /* a table or a sine may change the sign of the distance */
    const double distance = fabs(to->density - 1) * signal_peak(&to->signal);
    if (distance > 0.5)
        return fail_at(r->document, at,
                       "%s: the density would come as far as %g from 1 (at most 0.5)", path,
                       distance);
    return STATUS_OK;
}

/* choose_reflection() replaces a reflection that is not given. */
static void outlet_default(struct case_face *to)
{
    to->density = 1;
    to->reflection = REFLECTION_AUTO;
}

static enum status read_outlet(const struct reader *r, const struct node *map, const char *row,
                               int face, struct case_face *to)
{
    const struct node *const velocity = node_get(map, "velocity");
    enum status s;
    outlet_default(to);
    if ((s = read_level(r, map, keys_below(row, "density").text, keys_below(row, "pressure").text,
                        &to->density)) ||
        (s = record_read(r, map, row, 0, to)) || !velocity)
        return s;
    if (to->velocity[face / 2] != 0)
        return fail_value(r, velocity,
                          ": the velocity along %s, across face %s, follows from the flow (only "
                          "that along the face is given here: 0 for %s)",
                          key_axes[face / 2], key_faces[face], key_axes[face / 2]);
    return check_speed(r, velocity, to);
}

enum status opening_read(const struct reader *r, const struct node *map, const char *base, int face,
                         struct case_face *to)
{
    const struct node *found;
    int axes[2], kind = 0;
    face_axes(face, axes);
    const int size[2] = {r->c->cells[axes[0]], r->c->cells[axes[1]]};
    enum status s = value_kind(r, map, key_face_kinds, "is both", "", &found, &kind);
    if (s)
        return s;
    if (!found)
        return fail_key(r, map,
                        " does not say what it is (for example %s: {velocity: {value: [0.05, 0, "
                        "0]}}; or wall, slip, pressure, outflow, nonreflecting)",
                        map->key);
    to->kind = (enum face_kind)kind;
    const struct key_path row = keys_below(base, found->key);
    if (keys_row(row.text)->type == KEY_EMPTY)
        return value_read(r, map, row.text, NULL);
    if (found->kind != NODE_MAPPING && to->kind == FACE_pressure) {
        double p = 0;
        s = value_read(r, map, row.text, &p);
        to->density = 1 + 3 * p;
        return s;
    }
    if (found->kind != NODE_MAPPING)
        return value_wrong(r, found, row.text);
    switch (to->kind) {
    case FACE_wall:
        return read_wall(r, found, row.text, face, to);
    case FACE_velocity:
        return read_velocity(r, found, row.text, size, to);
    case FACE_pressure:
        return read_pressure(r, found, row.text, face, size, to);
    case FACE_nonreflecting:
    case FACE_outflow:
        return read_outlet(r, found, row.text, face, to);
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

bool face_holds_density(const struct case_face *face)
{
    return face_has(face->kind, FACE_HAS_density);
}

bool face_on_nodes(const struct case_face *face)
{
    return face_has(face->kind, FACE_HAS_profile) && face->rule == FACE_RULE_regularised;
}

bool opening_has_profile(const struct case_face *face)
{
    return face_has(face->kind, FACE_HAS_profile) && face->profile != PROFILE_uniform &&
           face->profile != PROFILE_table;
}

void face_destroy(struct case_face *face)
{
    free(face->place);
    free(face->file);
    free(face->dataset);
    free(face->table);
    signal_destroy(&face->signal);
    *face = (struct case_face){0};
}
