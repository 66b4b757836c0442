/* What a face or a part of one may be: reading an opening, whose keys are the same in both. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/nearest.h"
#include "case/opening.h"

void face_axes(int face, int axes[2])
{
    const int normal = face / 2;
    axes[0] = normal == 0;
    axes[1] = normal == 2 ? 1 : 2;
}

static double magnitude(const double v[3])
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
    if (face->kind == FACE_velocity || face->kind == FACE_pressure)
        return profile_speed(face) * signal_peak(&face->signal);
    return face->kind == FACE_wall ? magnitude(face->velocity) : 0;
}

/* What comes through a face must be slow enough. */
static enum status check_speed(const struct reader *r, const struct node *value,
                               const struct case_face *face)
{
    char path[NODE_PATH];
    const double speed = face_speed(face), mach = speed * sqrt(3.0);
    if (mach <= MACH_MAX)
        return STATUS_OK;
    node_path(value, path, sizeof path);
    return fail_at(r->document, value->at,
                   "%s: what comes in is as fast as %.4g cells a step, Mach %.3g (at most Mach %g, "
                   "%.3g cells a step: %s)",
                   path, speed, mach, MACH_MAX, MACH_MAX / sqrt(3.0),
                   r->units.given ? "take a smaller units.dt"
                                  : "with a smaller viscosity the Reynolds number stays");
}

static enum status read_wall(const struct reader *r, const struct node *map, const char *base,
                             int face, struct case_face *to)
{
    const struct key_path row = keys_below(base, "wall.velocity");
    const enum status s = value_numbers(r, map, row.text, UNIT_VELOCITY, 3, to->velocity);
    if (s || to->velocity[face / 2] == 0)
        return s;
    return check_speed(r, value_find(map, row.text), to);
}

/* A number, or three, for every cell of the face. */
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
        return value_number(r, inner, power.text, &to->power);
    }
    to->profile = PROFILE_table;
    s = input_numbers(r, inner, profile.text, true, &n, &to->file, &to->dataset, &to->checksum);
    if (!s)
        s = take_table(r, inner, &n, size, to);
    free(n.value);
    return s;
}

static enum status read_velocity(const struct reader *r, const struct node *map, const char *base,
                                 const int size[2], struct case_face *to)
{
    const struct key_path value = keys_below(base, "velocity.value"),
                          rule = keys_below(base, "velocity.rule"),
                          signal = keys_below(base, "velocity");
    int rules = 0;
    enum status s;
    if ((s = value_numbers(r, map, value.text, UNIT_VELOCITY, 3, to->velocity)) ||
        (s = read_profile(r, map, signal.text, size, to)) ||
        (s = value_choice(r, map, rule.text, &rules)) ||
        (s = signal_read(r, map, signal.text, &to->signal)))
        return s;
    to->rule = (enum face_rule)rules;
    return check_speed(r, value_find(map, value.text), to);
}

/* The velocity along a face of given pressure: what crosses it is not the user's to say, and links
 * ask for none. */
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
        return fail_at(r->document, value->at,
                       "%s: links take the velocity along the face as it comes (leave it out, or "
                       "rule: regularised)",
                       path);
    if (to->velocity[face / 2] != 0)
        return fail_at(r->document, value->at,
                       "%s: the velocity along %s, across face %s, follows from the pressure (only "
                       "that along the face is given here: 0 for %s)",
                       path, key_axes[face / 2], key_faces[face], key_axes[face / 2]);
    return check_speed(r, value, to);
}

static enum status read_pressure(const struct reader *r, const struct node *map, const char *base,
                                 int face, const int size[2], struct case_face *to)
{
    char path[NODE_PATH];
    const struct key_path density = keys_below(base, "pressure.density"),
                          velocity = keys_below(base, "pressure.velocity"),
                          rule = keys_below(base, "pressure.rule"),
                          signal = keys_below(base, "pressure");
    int rules = 0;
    enum status s;
    if ((s = value_number(r, map, density.text, &to->density)) ||
        (s = value_numbers(r, map, velocity.text, UNIT_VELOCITY, 3, to->velocity)) ||
        (s = read_profile(r, map, signal.text, size, to)) ||
        (s = value_choice(r, map, rule.text, &rules)) ||
        (s = signal_read(r, map, signal.text, &to->signal)))
        return s;
    to->rule = (enum face_rule)rules;
    if ((s = check_along(r, map, value_find(map, velocity.text), face, to)))
        return s;
    if (to->signal.kind == SIGNAL_constant)
        return STATUS_OK;
    const struct node *n = value_find(map, density.text);
    const struct place at = n ? n->at : map->key_at;
    node_path(map, path, sizeof path);
    if (to->density == 1 && face_speed(to) == 0)
        return fail_at(r->document, at,
                       "%s: with density 1 it has no effect that it varies in time (give another "
                       "density, whose distance from 1 is scaled)",
                       path);
    /* a table or a sine may turn the distance round */
    const double distance = fabs(to->density - 1) * signal_peak(&to->signal);
    if (distance > 0.5)
        return fail_at(r->document, at,
                       "%s: the density would come as far as %g from 1 (at most 0.5)", path,
                       distance);
    return STATUS_OK;
}

static enum status read_nonreflecting(const struct reader *r, const struct node *map,
                                      const char *base, struct case_face *to)
{
    const struct key_path density = keys_below(base, "nonreflecting.density"),
                          reflection = keys_below(base, "nonreflecting.reflection");
    const enum status s = value_number(r, map, density.text, &to->density);
    return s ? s : value_number(r, map, reflection.text, &to->reflection);
}

enum status opening_read(const struct reader *r, const struct node *map, const char *base, int face,
                         const int cells[3], struct case_face *to)
{
    char path[NODE_PATH];
    const struct node *found = NULL;
    int axes[2];
    face_axes(face, axes);
    const int size[2] = {cells[axes[0]], cells[axes[1]]};
    for (int k = 0; key_face_kinds[k]; k++) {
        const struct node *n = node_get(map, key_face_kinds[k]);
        if (n && found) {
            node_path(map, path, sizeof path);
            return fail_at(r->document, n->key_at, "%s is both %s and %s (keep one)", path,
                           found->key, n->key);
        }
        if (n) {
            found = n;
            to->kind = (enum face_kind)k;
        }
    }
    if (!found) {
        node_path(map, path, sizeof path);
        return fail_at(r->document, map->key_at,
                       "%s does not say what it is (for example %s: {velocity: {value: [0.05, 0, "
                       "0]}}; or wall, slip, pressure, outflow, nonreflecting)",
                       path, map->key);
    }
    const struct key_path row = keys_below(base, found->key);
    if (keys_row(row.text)->type == KEY_EMPTY)
        return value_empty(r, map, row.text);
    if (found->kind != NODE_MAPPING)
        return value_wrong(r, found, row.text);
    switch (to->kind) {
    case FACE_wall:
        return read_wall(r, found, base, face, to);
    case FACE_velocity:
        return read_velocity(r, found, base, size, to);
    case FACE_pressure:
        return read_pressure(r, found, base, face, size, to);
    case FACE_nonreflecting:
        return read_nonreflecting(r, found, base, to);
    case FACE_periodic:
    case FACE_slip:
    case FACE_outflow:
        break;
    }
    return STATUS_OK;
}

enum status opening_read_word(const struct reader *r, const struct node *n, struct case_face *to)
{
    char path[NODE_PATH], quoted[DOCUMENT_QUOTE], known[256];
    const int kind = choice_index(key_face_kinds, n->text);
    node_path(n, path, sizeof path);
    if (kind < 0) {
        const char *near = nearest_choice(key_face_kinds, n->text);
        choice_text(key_face_kinds, known, sizeof known);
        return fail_at(r->document, n->at, "%s: %s is none of %s%s%s%s", path,
                       quote_text(n->text, quoted), known, near ? " (did you mean " : "",
                       near ? near : "", near ? "?)" : "");
    }
    if (kind == FACE_velocity)
        return fail_at(r->document, n->at,
                       "%s: which velocity? (for example %s: {velocity: {value: [0.05, 0, 0]}})",
                       path, n->key);
    to->kind = (enum face_kind)kind;
    if (kind == FACE_pressure || kind == FACE_nonreflecting)
        to->density = 1;
    return STATUS_OK;
}

bool opening_has_profile(const struct case_face *face)
{
    return (face->kind == FACE_velocity || face->kind == FACE_pressure) &&
           face->profile != PROFILE_uniform && face->profile != PROFILE_table;
}

bool opening_wet(const struct case_face *face)
{
    return (face->kind == FACE_velocity || face->kind == FACE_pressure) &&
           face->rule == FACE_RULE_regularised;
}

void face_destroy(struct case_face *face)
{
    free(face->file);
    free(face->dataset);
    free(face->table);
    signal_destroy(&face->signal);
    *face = (struct case_face){0};
}
