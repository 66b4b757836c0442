/* Conditions of scalars at faces, patches, bodies: the keys `scalars` of an opening or a body. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/given.h"
#include "case/heights.h"
#include "case/opening.h"
#include "case/record.h"

bool scalar_wall_values(const struct case_scalar_wall *w, double range[2])
{
#define VALUE_none NULL
#define VALUE_value &w->value
#define VALUE_outside &w->outside
#define X(name, member, ...) VALUE_##member,
    const double *const members[] = {SCALAR_WALL_LIST(X)}, *const value = members[w->kind];
#undef X
    if (!value)
        return false;
    range[0] = w->profile ? w->heights.low : *value;
    range[1] = w->profile ? w->heights.high : *value;
    return true;
}

int case_conditions(const struct flow_case *c)
{
    int count = case_openings(c) + case_caps(c);
    for (int i = 0; i < c->body_count; i++)
        count += 1 + c->bodies[i].label_count;
    return count;
}

const struct case_scalar_wall *case_condition(const struct flow_case *c, int n, int scalar)
{
    const struct case_body *body = c->bodies;
    if (n < case_openings(c))
        return &case_opening(c, n)->scalar[scalar];
    n -= case_openings(c);
    if (n < case_caps(c))
        return &case_cap(c, n)->scalar[scalar];
    for (n -= case_caps(c); n > body->label_count; body++)
        n -= 1 + body->label_count;
    return case_body_wall(body, n, scalar);
}

double scalar_wall_at(const struct case_scalar_wall *w, int face, const double at[2])
{
    return w->profile ? heights_on_face(w->profile, &w->heights, face, at) : w->value;
}

bool scalar_wall_flux(enum scalar_wall kind)
{
    static const bool flux[] = {
#define X(name, member, flux) flux,
        SCALAR_WALL_LIST(X)
#undef X
    };
    return flux[kind];
}

static enum status read_transfer(struct map m, struct case_scalar_wall *to)
{
    double resistance = 0;
    enum status s = value_one_of(m, "coefficient", "resistance");
    if (s || (s = record_read(m, 0, to)))
        return s;
    if (map_get(m, "coefficient"))
        return value_read(m, "coefficient", &to->coefficient);
    s = value_read(m, "resistance", &resistance);
    to->coefficient = 1 / resistance;
    return s;
}

/* A time function multiplies something that is not 0. */
static enum status check_signal(struct map m, const struct case_scalar_wall *wall)
{
    double range[2] = {wall->flux, wall->flux};
    const bool value = scalar_wall_values(wall, range);
    if (wall->signal.kind == SIGNAL_constant || range[0] != 0 || range[1] != 0)
        return STATUS_OK;
    return fail_key(m.r, m.node,
                    ": a variation in time has no effect: it multiplies %s, which is 0",
                    value ? "the difference from the scalar's reference" : "the flux");
}

/* The one key of a map that says `what`, as value_kind(); example: said if there is none. */
static enum status find_kind(struct map m, const char *const *kinds, const char *what,
                             const char *example, struct map *found, int *kind)
{
    const enum status s = value_kind(m, kinds, "has both", "", found, kind);
    if (s || found->node)
        return s;
    return fail_key(m.r, m.node, " does not say %s (for example %s: %s)", what, m.node->key,
                    example);
}

/* Values by height or radius. */
static enum status read_profile(struct map m, const struct opening_cells *cells,
                                struct case_scalar_wall *to)
{
    static const char *const kinds[] = {"height", "radius", NULL};
    static const enum profile profiles[] = {PROFILE_height, PROFILE_radius};
    const bool heat = m.r->scalar->kind == SCALAR_KIND_heat, physical = map_get(m, "unit");
    struct map found;
    int kind = 0;
    enum status s = find_kind(m, kinds, "how it varies",
                              "{height: {file: air.csv, axis: z}}; or radius", &found, &kind);
    if (s)
        return s;
    if (!heat && (s = value_refuse(m, "unit", "with a species")))
        return s;
    if (physical && (s = value_read(m, "unit", &to->unit)))
        return s;
    if (heat && !physical && (s = given_file_unit(m)))
        return s;
    to->profile = profiles[kind];
    return heights_read_values(found, to->profile, cells, to->unit, physical, &to->heights);
}

static enum status read_value(struct map m, const struct opening_cells *cells,
                              struct case_scalar_wall *to)
{
    const struct map inner = map_below(m, "value");
    if (cells && inner.node && inner.node->kind == NODE_MAPPING)
        return read_profile(inner, cells, to);
    return value_read(m, "value", &to->value);
}

/* A wall with keys. */
static enum status read_map(struct map m, const char *example, const struct opening_cells *cells,
                            struct case_scalar_wall *to)
{
    static const char *const kinds[] = {"value", "flux", "transfer", "conduct", NULL};
    static const enum scalar_wall walls[] = {SCALAR_WALL_value, SCALAR_WALL_flux,
                                             SCALAR_WALL_transfer, SCALAR_WALL_conduct};
    static const char *const signals[] = {"ramp", "sine", "table", NULL};
    struct map found;
    int kind = 0;
    enum status s = find_kind(m, kinds, "what it meets there", example, &found, &kind);
    if (s)
        return s;
    to->kind = walls[kind];
    if (to->kind == SCALAR_WALL_conduct) {
        for (size_t k = 0; signals[k]; k++)
            if ((s = value_refuse(m, signals[k], "with conduct")))
                return s;
        return record_read(found, 0, to);
    }
    s = to->kind == SCALAR_WALL_transfer ? read_transfer(found, to)
        : to->kind == SCALAR_WALL_value  ? read_value(m, cells, to)
                                         : record_read(m, 1u << to->kind, to);
    if (s || (s = signal_read(m, &to->signal)))
        return s;
    return check_signal(m, to);
}

/* One scalar: a word or a map. */
static enum status read_one(struct map m, struct node *n, struct scalar_place place,
                            struct case_scalar_wall *to)
{
    const struct key *const key = keys_row(m.row);
    const char *const word = key->choices[0];
    n->used = true;
    if (n->kind == NODE_SEQUENCE || (n->kind == NODE_MAPPING && !n->count))
        return value_wrong(m.r, n, key);
    if (n->kind == NODE_MAPPING)
        return read_map(m,
                        strcmp(word, "outflow")
                            ? "{value: 310}; or flux, transfer, or the word adiabatic"
                            : "{value: 310}; or the word outflow",
                        place.cells, to);
    if (strcmp(n->text, word) != 0)
        return value_wrong(m.r, n, key);
    to->kind = strcmp(word, "outflow") ? SCALAR_WALL_adiabatic : SCALAR_WALL_outflow;
    if (place.required && !place.outwards)
        return fail_value(m.r, n,
                          ": the velocity does not point out of the box, so the value of the fluid "
                          "that comes in is needed (for example %s: {value: 300})",
                          n->key);
    return STATUS_OK;
}

enum status scalar_walls_read(struct map m, struct scalar_place place,
                              struct case_scalar_wall wall[CASE_SCALARS])
{
    const struct flow_case *const c = m.r->c;
    const struct map all = map_below(m, "scalars");
    const struct key_path row = keys_below(all.row, "*");
    for (struct node *n = all.node ? all.node->first : NULL; n; n = n->next)
        if (scalar_index(c, n->key) < 0)
            return value_no_scalar(m.r, n, n->key);
    for (int k = 0; k < c->scalar_count; k++) {
        struct reader r = *m.r;
        struct node *const n = node_get(all.node, c->scalars[k].name);
        char path[NODE_PATH];
        wall[k] = (struct case_scalar_wall){.kind = place.fallback};
        node_path(m.node, path, sizeof path);
        if (!n && place.required)
            return fail_at(m.r->document, m.node->key_at,
                           "%s.scalars.%s is missing, the value of the fluid that comes in (for "
                           "example scalars: {%s: {value: %s}})",
                           path, c->scalars[k].name, c->scalars[k].name,
                           c->scalars[k].kind == SCALAR_KIND_heat ? "300 K" : "1");
        r.scalar = &c->scalars[k];
        const enum status s =
            n ? read_one((struct map){&r, n, row.text}, n, place, &wall[k]) : STATUS_OK;
        if (s)
            return s;
    }
    return STATUS_OK;
}

void scalar_value_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_scalar_wall *const wall = from;
    if (!wall->profile) {
        write_key(w, keys_name(key));
        write_number(w, scalar_absolute(w->scalar, wall->value));
        write_end(w);
        return;
    }
    const char *const name = profile_heights[wall->profile - PROFILE_height];
    write_open(w, keys_name(key));
    write_open(w, name);
    record_write(w, heights_row(keys_below(key->path, name).text), 0, &wall->heights);
    write_close(w);
    if (w->scalar->kind == SCALAR_KIND_heat)
        write_word(w, "unit", key_temperature_units[wall->unit]);
    write_close(w);
}

/* The keys of one scalar, in braces. */
static void write_one(struct writer *w, const char *row, const struct case_scalar_wall *wall)
{
    static const char *const kinds[] = {
#define X(name, ...) #name,
        SCALAR_WALL_LIST(X)
#undef X
    };
    const char *const kind = kinds[wall->kind];
    write_open(w, w->scalar->name);
    if (wall->kind == SCALAR_WALL_transfer || wall->kind == SCALAR_WALL_conduct) {
        write_open(w, kind);
        record_write(w, keys_below(row, kind).text, 0, wall);
        write_close(w);
    }
    record_write(w, row, 1u << wall->kind, wall);
    write_close(w);
}

/* The member is an array of walls, or a pointer to one. */
void scalar_walls_write(struct writer *w, const struct key *key, const void *from)
{
    const char *const member = (const char *)from + key->at;
    const struct case_scalar_wall *wall = (const struct case_scalar_wall *)(const void *)member;
    const struct key_path row = keys_below(key->path, "*");
    const char *const word = keys_row(row.text)->choices[0];
    if (!w->c->scalar_count)
        return;
    if (key->size == sizeof wall)
        memcpy(&wall, member, sizeof wall);
    write_open(w, keys_name(key));
    for (int k = 0; k < w->c->scalar_count; k++, wall++) {
        w->scalar = &w->c->scalars[k];
        if (wall->kind == SCALAR_WALL_inherited)
            continue;
        if (wall->kind == SCALAR_WALL_adiabatic || wall->kind == SCALAR_WALL_outflow)
            write_word(w, w->scalar->name, word);
        else
            write_one(w, row.text, wall);
    }
    w->scalar = NULL;
    write_close(w);
}

void scalar_walls_destroy(struct case_scalar_wall wall[CASE_SCALARS])
{
    for (int k = 0; wall && k < CASE_SCALARS; k++) {
        signal_destroy(&wall[k].signal);
        heights_destroy(&wall[k].heights);
    }
}
