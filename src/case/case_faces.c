/* Sections of a case: faces and patches, the parts of them. What they may be, openings, has the
 * same keys in both. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/nearest.h"
#include "case/sections.h"

/* An inlet beyond is no flow that the method could represent. */
#define MACH_MAX 0.3

static const char *const shapes[] = {"rectangle", "disc", "mask", NULL};

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

/* The kind that a map names, as in {velocity: {value: ...}}, into *to, which is zeroed. `base`: the
 * pattern of the map. */
static enum status read_opening(const struct reader *r, const struct node *map, const char *base,
                                int face, const int cells[3], struct case_face *to)
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

/* A word in place of a map. */
static enum status read_word(const struct reader *r, const struct node *n, struct case_face *to)
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

/* One entry of `faces`, for one face or a pair of them. */
static enum status read_face(const struct reader *r, struct node *n, int first, int last,
                             struct flow_case *c)
{
    static const char row[] = "faces.<face>";
    enum status s = STATUS_OK;
    n->used = true;
    if (n->kind == NODE_SEQUENCE || (n->kind == NODE_SCALAR && !*n->text) ||
        (n->kind == NODE_MAPPING && !n->count))
        return value_wrong(r, n, row);
    for (int f = first; f <= last && !s; f++)
        s = n->kind == NODE_MAPPING ? read_opening(r, n, row, f, c->cells, &c->faces[f])
                                    : read_word(r, n, &c->faces[f]);
    return s;
}

/* Does flow along the face vanish there, as at a wall? */
static bool holds(const struct case_face *face)
{
    return face->kind == FACE_wall || face->kind == FACE_velocity;
}

/* Does what it gives vary with the distance from the edges? */
static bool has_profile(const struct case_face *face)
{
    return (face->kind == FACE_velocity || face->kind == FACE_pressure) &&
           face->profile != PROFILE_uniform && face->profile != PROFILE_table;
}

/* A profile needs an edge at which it vanishes. */
static enum status check_edges(const struct reader *r, const struct node *n,
                               const struct flow_case *c, int face, const struct case_face *what)
{
    char path[NODE_PATH];
    int axes[2];
    face_axes(face, axes);
    if (!has_profile(what))
        return STATUS_OK;
    for (int k = 0; k < 2; k++)
        if (holds(&c->faces[2 * axes[k]]) || holds(&c->faces[2 * axes[k] + 1]))
            return STATUS_OK;
    const struct node *map = node_get(n, key_face_kinds[what->kind]),
                      *profile = node_get(map, "profile");
    node_path(profile, path, sizeof path);
    return fail_at(r->document, profile->at,
                   "%s: there is neither a wall nor a velocity face beside %s at which it could "
                   "vanish (profile: uniform)",
                   path, key_faces[face]);
}

static bool is_wet(const struct case_face *face)
{
    return (face->kind == FACE_velocity || face->kind == FACE_pressure) &&
           face->rule == FACE_RULE_regularised;
}

static enum status check_pairs(const struct reader *r, const struct flow_case *c,
                               const struct node *const given[6])
{
    for (int f = 0; f < 6; f++) {
        const int a = f / 2;
        if (c->faces[f].kind == FACE_periodic && c->faces[f ^ 1].kind != FACE_periodic)
            return fail_at(r->document, given[f]->at,
                           "face %s is periodic but %s is not (for example %s: periodic)",
                           key_faces[f], key_faces[f ^ 1], key_axes[a]);
        if (is_wet(&c->faces[f]) && c->cells[a] < 2)
            return fail_at(r->document, given[f]->at,
                           "face %s is regularised, whose plane lies on cells, but there is only "
                           "one cell along %s (at least 2, or rule: links)",
                           key_faces[f], key_axes[a]);
        const enum status s = check_edges(r, given[f], c, f, &c->faces[f]);
        if (s)
            return s;
    }
    return STATUS_OK;
}

enum status section_faces(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "faces");
    const struct node *given[6] = {NULL};
    if (!map)
        return value_missing(r, NULL, "faces", "");
    for (struct node *n = map->first; n; n = n->next) {
        const int name = choice_index(key_faces, n->key); /* 0-5: a face, 6-8: a pair */
        const int first = name < 6 ? name : 2 * (name - 6), last = name < 6 ? name : first + 1;
        for (int f = first; f <= last; f++) {
            if (given[f])
                return fail_at(r->document, n->key_at,
                               "face %s is named twice, by %s and %s (keep one)", key_faces[f],
                               given[f]->key, n->key);
            given[f] = n;
        }
        const enum status s = read_face(r, n, first, last, c);
        if (s)
            return s;
    }
    for (int f = 0; f < 6; f++)
        if (!given[f])
            return fail_at(r->document, map->key_at,
                           "face %s is missing (for example faces: {%s: wall}; %s names both)",
                           key_faces[f], key_faces[f], key_axes[f / 2]);
    return check_pairs(r, c, given);
}

static enum status read_rectangle(const struct reader *r, const struct node *map,
                                  const int cells[3], const int axes[2], struct case_patch *p)
{
    char path[NODE_PATH];
    enum status s;
    if ((s = value_point(r, map, "patches.*.rectangle.from", cells, axes, p->from)) ||
        (s = value_point(r, map, "patches.*.rectangle.to", cells, axes, p->to)))
        return s;
    node_path(map, path, sizeof path);
    for (int k = 0; k < 2; k++) {
        if (p->from[k] > p->to[k])
            return fail_at(r->document, map->at, "%s: from %g is above to %g along %s (swap them)",
                           path, p->from[k], p->to[k], key_axes[axes[k]]);
        if (ceil(p->from[k] - 0.5) > floor(p->to[k] - 0.5))
            return fail_at(r->document, map->at,
                           "%s: no cell has its centre between %g and %g along %s (that of cell i "
                           "is i + 0.5)",
                           path, p->from[k], p->to[k], key_axes[axes[k]]);
    }
    return STATUS_OK;
}

static enum status read_disc(const struct reader *r, const struct node *map, const int cells[3],
                             const int axes[2], struct case_patch *p)
{
    char path[NODE_PATH];
    double nearest[2];
    enum status s;
    if ((s = value_point(r, map, "patches.*.disc.center", cells, axes, p->center)) ||
        (s = value_number(r, map, "patches.*.disc.radius", &p->radius)))
        return s;
    for (int k = 0; k < 2; k++)
        nearest[k] = floor(p->center[k]) + 0.5 - p->center[k];
    if (nearest[0] * nearest[0] + nearest[1] * nearest[1] <= p->radius * p->radius)
        return STATUS_OK;
    node_path(map, path, sizeof path);
    return fail_at(r->document, map->at,
                   "%s: no cell has its centre in it (that of cell i is i + 0.5)", path);
}

static enum status read_mask(const struct reader *r, const struct node *map, const int cells[3],
                             const int axes[2], struct case_patch *p)
{
    const int size[2] = {cells[axes[0]], cells[axes[1]]};
    const size_t all = (size_t)size[0] * (size_t)size[1];
    const enum status s =
        input_mask(r, map, "patches.*.mask", size, &p->mask, &p->file, &p->checksum);
    if (s || memchr(p->mask, 1, all))
        return s;
    return input_wrong(r, map, " has no white in it (what is white is inside)");
}

static enum status read_shape(const struct reader *r, const struct node *map, const int cells[3],
                              struct case_patch *p)
{
    char path[NODE_PATH];
    const struct node *found = NULL;
    int axes[2];
    face_axes(p->face, axes);
    for (int k = 0; shapes[k]; k++) {
        const struct node *n = node_get(map, shapes[k]);
        node_path(map, path, sizeof path);
        if (n && found)
            return fail_at(r->document, n->key_at, "%s has both %s and %s (keep one)", path,
                           found->key, n->key);
        if (n) {
            found = n;
            p->shape = (enum patch_shape)k;
        }
    }
    if (!found)
        return fail_at(r->document, map->key_at,
                       "%s has no shape (for example %s: {face: %s, disc: {center: [8, 8], radius: "
                       "4}, ...}; or rectangle or mask)",
                       path, map->key, key_faces[p->face]);
    return p->shape == PATCH_rectangle ? read_rectangle(r, found, cells, axes, p)
           : p->shape == PATCH_disc    ? read_disc(r, found, cells, axes, p)
                                       : read_mask(r, found, cells, axes, p);
}

/* What the patch's profile needs of its shape. */
static enum status check_profile(const struct reader *r, const struct node *map,
                                 const struct case_patch *p)
{
    char path[NODE_PATH];
    const enum profile profile = p->opening.profile;
    if (!has_profile(&p->opening) || p->shape == PATCH_rectangle ||
        (p->shape == PATCH_disc && profile != PROFILE_duct))
        return STATUS_OK;
    const struct node *n = node_get(node_get(map, key_face_kinds[p->opening.kind]), "profile");
    node_path(n, path, sizeof path);
    return fail_at(r->document, n->at, "%s: not over a %s (%s)", path, shapes[p->shape],
                   p->shape == PATCH_disc ? "parabola is that of a pipe; or uniform, power or file"
                                          : "uniform or file");
}

static enum status read_patch(const struct reader *r, const struct node *map, struct flow_case *c,
                              struct case_patch *p)
{
    enum status s = value_choice(r, map, "patches.*.face", &p->face);
    if (s)
        return s;
    if (c->faces[p->face].kind == FACE_periodic)
        return fail_at(r->document, value_find(map, "patches.*.face")->at,
                       "patches.%s.face: %s is periodic, so it can have no parts", p->name,
                       key_faces[p->face]);
    if ((s = read_shape(r, map, c->cells, p)) ||
        (s = read_opening(r, map, "patches.*", p->face, c->cells, &p->opening)))
        return s;
    if (is_wet(&p->opening) && c->cells[p->face / 2] < 2)
        return fail_at(r->document, map->key_at,
                       "patches.%s is regularised, whose plane lies on cells, but there is only "
                       "one cell along %s (at least 2, or rule: links)",
                       p->name, key_axes[p->face / 2]);
    return check_profile(r, map, p);
}

enum status section_patches(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "patches");
    enum status s = STATUS_OK;
    if (!map || !map->count)
        return STATUS_OK;
    if (map->count > CASE_PATCHES)
        return fail_at(r->document, map->key_at, "patches has %d entries (at most %d)", map->count,
                       CASE_PATCHES);
    c->patches = calloc((size_t)map->count, sizeof *c->patches);
    if (!c->patches)
        return fail_machine("no memory for the case's patches");
    for (const struct node *n = map->first; n && !s; n = n->next) {
        struct case_patch *p = &c->patches[c->patch_count++];
        snprintf(p->name, sizeof p->name, "%s", n->key);
        s = read_patch(r, n, c, p);
    }
    return s;
}

bool patch_holds(const struct case_patch *p, const int cells[3], int i, int j)
{
    int axes[2];
    face_axes(p->face, axes);
    const double x = i + 0.5, y = j + 0.5, dx = x - p->center[0], dy = y - p->center[1];
    switch (p->shape) {
    case PATCH_rectangle:
        return x >= p->from[0] && x <= p->to[0] && y >= p->from[1] && y <= p->to[1];
    case PATCH_disc:
        return dx * dx + dy * dy <= p->radius * p->radius;
    case PATCH_mask:
        return p->mask[(size_t)j * (size_t)cells[axes[0]] + (size_t)i];
    }
    return false;
}

static const char *plane_text(enum face_rule rule)
{
    return rule == FACE_RULE_regularised ? "regularised, plane on the outermost cells' centres"
                                         : "by links, plane half a cell beyond the cells";
}

static void signal_text(const struct case_signal *s, char *text, size_t size)
{
    *text = '\0';
    switch (s->kind) {
    case SIGNAL_constant:
        break;
    case SIGNAL_ramp:
        snprintf(text, size, ", smooth start in %g steps", s->duration);
        break;
    case SIGNAL_sine:
        snprintf(text, size, ", times %g + %g sin with a period of %g steps", s->mean, s->amplitude,
                 s->period);
        break;
    case SIGNAL_table:
        snprintf(text, size, ", times a table from step %g to step %g", s->times[0],
                 s->times[s->points - 1]);
        break;
    }
}

static const char *profile_text(const struct case_face *face)
{
    return face->profile == PROFILE_power   ? "of a power"
           : face->profile == PROFILE_table ? "from a file"
                                            : key_profiles[face->profile];
}

void face_text(const struct case_face *face, char *text, size_t size)
{
    const double *v = face->velocity, speed = face_speed(face);
    char signal[128], along[128] = "";
    signal_text(&face->signal, signal, sizeof signal);
    switch (face->kind) {
    case FACE_periodic:
        snprintf(text, size, "periodic");
        break;
    case FACE_wall:
        snprintf(text, size, "%swall", v[0] || v[1] || v[2] ? "moving " : "");
        break;
    case FACE_slip:
        snprintf(text, size, "free slip, plane half a cell beyond the cells");
        break;
    case FACE_velocity:
        snprintf(text, size, "velocity, at most %g (Mach %.3g), profile %s, %s%s", speed,
                 speed * sqrt(3.0), profile_text(face), plane_text(face->rule), signal);
        break;
    case FACE_pressure:
        if (speed > 0)
            snprintf(along, sizeof along, ", velocity along it at most %g, profile %s", speed,
                     profile_text(face));
        snprintf(text, size, "pressure, density %.10g%s, %s%s", face->density, along,
                 plane_text(face->rule), signal);
        break;
    case FACE_outflow:
        snprintf(text, size, "convective outlet");
        break;
    case FACE_nonreflecting:
        snprintf(text, size, "non-reflecting outlet, density %.10g, reflection %g", face->density,
                 face->reflection);
        break;
    }
}

static void write_profile(FILE *to, const struct case_face *face)
{
    fprintf(to, ", profile: ");
    if (face->profile == PROFILE_power) {
        put_number(to, "{power: ", face->power, "}");
    } else if (face->profile == PROFILE_table) {
        fprintf(to, "{file: ");
        put_text(to, face->file);
        if (face->dataset) {
            fprintf(to, ", dataset: ");
            put_text(to, face->dataset);
        }
        put_checksum(to, face->checksum);
        fputc('}', to);
    } else {
        fprintf(to, "%s", key_profiles[face->profile]);
    }
}

static void write_velocity(FILE *to, const struct case_face *face)
{
    fprintf(to, "velocity: {value: ");
    put_vector(to, face->velocity);
    write_profile(to, face);
    fprintf(to, ", rule: %s", key_face_rules[face->rule]);
    signal_write(to, ", ", &face->signal);
    fputc('}', to);
}

static void write_pressure(FILE *to, const struct case_face *face)
{
    put_number(to, "pressure: {density: ", face->density, "");
    if (face->velocity[0] || face->velocity[1] || face->velocity[2]) {
        fprintf(to, ", velocity: ");
        put_vector(to, face->velocity);
        write_profile(to, face);
    }
    fprintf(to, ", rule: %s", key_face_rules[face->rule]);
    signal_write(to, ", ", &face->signal);
    fputc('}', to);
}

/* kind: {...} */
static void write_opening(FILE *to, const struct case_face *face)
{
    switch (face->kind) {
    case FACE_wall:
        fprintf(to, "wall: {velocity: ");
        put_vector(to, face->velocity);
        fputc('}', to);
        break;
    case FACE_velocity:
        write_velocity(to, face);
        break;
    case FACE_pressure:
        write_pressure(to, face);
        break;
    case FACE_nonreflecting:
        put_number(to, "nonreflecting: {density: ", face->density, "");
        put_number(to, ", reflection: ", face->reflection, "}");
        break;
    case FACE_slip:
    case FACE_outflow:
    case FACE_periodic:
        fprintf(to, "%s: {}", key_face_kinds[face->kind]);
        break;
    }
}

static void put_pair(FILE *to, const char *before, const double v[2])
{
    put_number(to, before, v[0], ", ");
    put_number(to, "", v[1], "]");
}

static void write_patch(FILE *to, const struct case_patch *p)
{
    fprintf(to, "  %s: {face: %s, ", p->name, key_faces[p->face]);
    switch (p->shape) {
    case PATCH_rectangle:
        put_pair(to, "rectangle: {from: [", p->from);
        put_pair(to, ", to: [", p->to);
        break;
    case PATCH_disc:
        put_pair(to, "disc: {center: [", p->center);
        put_number(to, ", radius: ", p->radius, "");
        break;
    case PATCH_mask:
        fprintf(to, "mask: {file: ");
        put_text(to, p->file);
        put_checksum(to, p->checksum);
        break;
    }
    fprintf(to, "}, ");
    write_opening(to, &p->opening);
    fprintf(to, "}\n");
}

void faces_write(FILE *to, const struct flow_case *c)
{
    fprintf(to, "faces:\n");
    for (int f = 0; f < 6; f++) {
        const enum face_kind kind = c->faces[f].kind;
        fprintf(to, "  %s: ", key_faces[f]);
        if (kind == FACE_periodic || kind == FACE_slip || kind == FACE_outflow) {
            fprintf(to, "%s\n", key_face_kinds[kind]);
            continue;
        }
        fputc('{', to);
        write_opening(to, &c->faces[f]);
        fprintf(to, "}\n");
    }
    if (c->patch_count)
        fprintf(to, "patches:\n");
    for (int i = 0; i < c->patch_count; i++)
        write_patch(to, &c->patches[i]);
}

void face_destroy(struct case_face *face)
{
    free(face->file);
    free(face->dataset);
    free(face->table);
    signal_destroy(&face->signal);
    *face = (struct case_face){0};
}

void patch_destroy(struct case_patch *patch)
{
    face_destroy(&patch->opening);
    free(patch->file);
    free(patch->mask);
    *patch = (struct case_patch){0};
}
