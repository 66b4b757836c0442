/* The case of a level above 0; see case_of_level() in case.h.
 *
 * The resolved case of level 0 is parsed, its numbers are multiplied by powers of 2^level, and it
 * is read again. So all checks are made anew, and all that follows from the numbers is derived
 * anew. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/stl.h"
#include "case/level.h"
#include "case/record.h"
#include "case/sections.h"

/* ---- rules ---- */

enum level_rule level_rule_of(const struct key *key)
{
    for (const struct key *k = key; k; k = keys_map(k)) {
        if (k->level)
            return k->level;
        if (k->refine)
            return LEVEL_ABSENT;
    }
    if (!type_is(key, TYPE_NUMBER))
        return LEVEL_SAME;
    return key->unit == UNIT_NONE ? LEVEL_UNKNOWN : LEVEL_UNIT;
}

/* A quantity Q of dimension m^a s^b kg^c is Q / (dx^a dt^b (density dx^3)^c) in lattice units. One
 * of a KEY_PHYSICAL is the SI value of such a unit. */
struct level_powers level_powers(const struct key *key)
{
    const struct dimension d = unit_info(key->unit)->dimension;
    const int sign = key->type == KEY_PHYSICAL ? -1 : 1;
    return (struct level_powers){sign * (d.m + 3 * d.kg), sign * d.s};
}

/* ---- the tree ---- */

struct scaling {
    struct document *document;
    const struct flow_case *c; /* of level 0 */
    int level, shorter;        /* as those of struct reader */
};

/* 1 - (1 - s)^(1 / 2^l) by square roots, without a difference of near numbers. */
static double share_of(double s, int shorter)
{
    for (int k = 0; k < shorter; k++)
        s /= 1 + sqrt(1 - s);
    for (int k = 0; k > shorter; k--)
        s *= 2 - s;
    return s;
}

static double scaled(const struct scaling *w, const struct key *key, enum level_rule rule,
                     double value)
{
    const struct level_powers power = level_powers(key);
    switch (rule) {
    case LEVEL_CELLS:
        value = ldexp(value, w->level);
        break;
    case LEVEL_STEPS:
        value = ceil(ldexp(value, w->shorter));
        break;
    case LEVEL_UNIT:
        value = ldexp(value, w->level * power.cells + w->shorter * power.steps);
        break;
    case LEVEL_SHARE:
        return share_of(value, w->shorter);
    case LEVEL_SAME:
    case LEVEL_UNKNOWN:
    case LEVEL_ABSENT:
        return value;
    }
    if (!type_is(key, TYPE_WHOLE))
        return value;
    /* whole numbers of steps, perhaps so many that no run reaches them */
    return fmin(ceil(value), key->range.high);
}

/* A scalar of the tree that is a number, with or without a unit behind it; a word stays. */
static enum status scale_scalar(const struct scaling *w, struct node *n, const struct key *key,
                                enum level_rule rule)
{
    char text[64], number[32];
    const char *end;
    double value;
    if (number_parse(n->text, &end, &value))
        return STATUS_OK;
    value = scaled(w, key, rule, value);
    if (strlen(end) > 16)
        return STATUS_OK; /* no number of a resolved case */
    snprintf(text, sizeof text, "%s%s", number_text(value, number), end);
    return document_change(w->document, n, text);
}

static enum status scale_map(const struct scaling *w, struct node *map, const char *pattern);

static enum status scale_node(const struct scaling *w, struct node *n, const char *pattern)
{
    const struct key *const key = keys_row(pattern);
    if (n->kind == NODE_MAPPING)
        return scale_map(w, n, pattern);
    const enum level_rule rule = level_rule_of(key);
    assert(rule != LEVEL_UNKNOWN);
    if (rule == LEVEL_SAME || rule == LEVEL_ABSENT || !type_is(key, TYPE_NUMBER))
        return STATUS_OK;
    if (n->kind == NODE_SCALAR)
        return scale_scalar(w, n, key, rule);
    enum status s = STATUS_OK;
    for (struct node *item = n->first; item && !s; item = item->next)
        s = item->kind == NODE_SCALAR ? scale_scalar(w, item, key, rule) : STATUS_OK;
    return s;
}

static enum status scale_map(const struct scaling *w, struct node *map, const char *pattern)
{
    enum status s = STATUS_OK;
    for (struct node *n = map->first, *next; n && !s; n = next) {
        char child[KEYS_PATH];
        next = n->next;
        if (!keys_step(pattern, n->key, child))
            continue; /* cannot be: the case was read */
        if (keys_row(child) && level_rule_of(keys_row(child)) == LEVEL_ABSENT)
            document_remove(map, n->key);
        else
            s = scale_node(w, n, child);
    }
    return s;
}

static enum status put(const struct scaling *w, struct node *map, const char *key, const char *text)
{
    const struct place at = map->at;
    struct node *value;
    enum status s = document_value(w->document, NULL, text, &value);
    return s ? s : document_put(w->document, map, key, at, value);
}

/* Does the initial flow need the profile of an inlet? */
static bool needs_inlet(const struct flow_case *c)
{
    const struct case_face *const inlet = &c->faces[c->initial.inlet];
    return c->initial.flow == INITIAL_inlet &&
           (inlet->profile != PROFILE_uniform || inlet->signal.kind != SIGNAL_constant);
}

/* The velocity of a uniform inlet, everywhere. */
static enum status make_uniform(const struct scaling *w)
{
    char text[128], number[3][32];
    const double *const v = w->c->faces[w->c->initial.inlet].velocity;
    struct node *const initial = node_get(w->document->root, "initial");
    const enum status s = put(w, initial, "flow", "uniform");
    if (s)
        return s;
    snprintf(text, sizeof text, "[%s, %s, %s]", number_text(v[0], number[0]),
             number_text(v[1], number[1]), number_text(v[2], number[2]));
    return put(w, initial, "velocity", text);
}

/* Levels above 0 have no cell at an open face: it becomes a plane of symmetry, which no profile and
 * no other formula feels. */
static enum status close_faces(const struct scaling *w)
{
    struct node *const faces = node_get(w->document->root, "faces"), *const patches =
                                                                         node_get(w->document->root,
                                                                                  "patches");
    enum status s = w->c->initial.flow == INITIAL_inlet ? make_uniform(w) : STATUS_OK;
    for (int f = 0; f < 6 && !s; f++)
        if (face_open(w->c->faces[f].kind))
            s = put(w, faces, face_name(f), "slip");
    for (int k = 0; k < w->c->patch_count; k++)
        if (face_open(w->c->patches[k].opening.kind))
            document_remove(patches, w->c->patches[k].name);
    return s;
}

/* Positions in the case file, which the resolved text does not have. */
static enum status take_places(const struct flow_case *c, struct flow_case *to)
{
    bool done = true;
    for (int k = 0; k < to->body_count && done; k++) {
        free(to->bodies[k].place);
        to->bodies[k].place = c->bodies[k].place ? strdup(c->bodies[k].place) : NULL;
        done = to->bodies[k].place || !c->bodies[k].place;
    }
    for (int f = 0; f < 6 && done; f++) {
        free(to->faces[f].place);
        to->faces[f].place = c->faces[f].place ? strdup(c->faces[f].place) : NULL;
        done = to->faces[f].place || !c->faces[f].place;
    }
    return done ? STATUS_OK : fail_machine("no memory for the place of a key");
}

/* A scalar has the same magic number on all levels, and the limiter on all or none. Both orders of
 * scalars are the same. */
static void take_choices(const struct flow_case *c, struct flow_case *to)
{
    for (int k = 0; k < to->scalar_count; k++) {
        to->scalars[k].magic = scalar_magic(&c->scalars[k]);
        to->scalars[k].limiter = scalar_limited(c, k) ? LIMITER_on : LIMITER_none;
    }
}

/* Scales the resolved case, and reads it. whole: open faces stay. */
static enum status read_scaled(const struct scaling *w, bool whole, struct flow_case *to)
{
    const struct reader r = {.document = w->document,
                             .c = to,
                             .origin = w->c,
                             .level = w->level,
                             .shorter = w->shorter,
                             .whole = whole};
    enum status s = scale_map(w, w->document->root, "");
    if (!s && !whole && !needs_inlet(w->c))
        s = close_faces(w);
    if (!s)
        s = put(w, w->document->root, "output", "none");
    if (!s)
        s = case_read_tree(&r, to);
    return s ? s : take_places(w->c, to);
}

/* path: of the document, for messages. */
static enum status make_scaled(const struct flow_case *c, const char *path, int level, int shorter,
                               bool whole, struct flow_case *to)
{
    struct plain_locale locale;
    struct document document;
    *to = (struct flow_case){0};
    enum status s = plain_locale_enter(&locale);
    if (s)
        return s;
    memcpy(to->name, c->name, sizeof to->name);
    s = document_read(&document, path, c->resolved, strlen(c->resolved));
    if (!s) {
        s = read_scaled(&(struct scaling){&document, c, level, shorter}, whole, to);
        document_destroy(&document);
    }
    plain_locale_leave(&locale);
    if (s)
        case_destroy(to);
    return s;
}

/* ---- flat axes ---- */

/* Keeps the first of `n` elements of each row of an array of [rows][n]. */
static void keep_first(void *array, size_t bytes, int n, int rows)
{
    for (int j = 1; j < rows; j++)
        memmove((char *)array + (size_t)j * bytes, (char *)array + (size_t)j * (size_t)n * bytes,
                bytes);
}

/* The axes of a face; k: which of them the flat one is. */
static void flatten_heights(struct case_heights *h, enum profile profile, int axis, int k,
                            double shift)
{
    h->center[k] -= shift;
    if (profile_has(profile, PROFILE_HAS_height) && h->axis == axis)
        h->from -= shift;
}

/* The profile of a face or a patch; p: the patch, or NULL. */
static void flatten_opening(const struct flow_case *c, int side, int axis, double shift,
                            struct case_face *face, struct case_patch *p)
{
    int axes[2];
    face_axes(side, axes);
    if (axes[0] != axis && axes[1] != axis)
        return;
    const int k = axes[1] == axis, rows = c->cells[axes[1]];
    flatten_heights(&face->heights, face->profile, axis, k, shift);
    for (int i = 0; i < c->scalar_count; i++)
        flatten_heights(&face->scalar[i].heights, face->scalar[i].profile, axis, k, shift);
    if (p) {
        p->center[k] -= shift;
        p->from[k] -= shift;
        p->to[k] -= shift;
    }
    if (p && p->mask && k == 0)
        keep_first(p->mask, 1, c->cells[axis], rows);
    if (face->table && k == 0)
        keep_first(face->table, (size_t)face->table_components * sizeof *face->table,
                   c->cells[axis], rows);
    if (face->table)
        face->table_size[k] = 1;
}

/* Gives a level the one cell that level 0 has along a flat axis. The case was read with 2^level
 * cells there, so that everything in the box of level 0 is in this one. Places shift, so that the
 * middle of the axis is the same place on all levels. */
static void flatten(struct flow_case *c, int axis)
{
    const double shift = 0.5 * (c->cells[axis] - 1);
    c->initial.center[axis] -= shift;
    for (int k = 0; k < c->body_count; k++) /* else bodies.c finds it. Caps do not go with this. */
        c->bodies[k].pivot[axis] -= c->bodies[k].pivot_given ? shift : 0;
    for (int f = 0; f < 6; f++)
        flatten_opening(c, f, axis, shift, &c->faces[f], NULL);
    for (int k = 0; k < c->patch_count; k++)
        flatten_opening(c, c->patches[k].face, axis, shift, &c->patches[k].opening, &c->patches[k]);
    c->cells[axis] = 1;
}

enum status case_of_level(const struct flow_case *c, int level, struct flow_case *of_level)
{
    char path[CASE_NAME + 32];
    snprintf(path, sizeof path, "%s on level %d", c->name, level);
    const enum status s = make_scaled(c, path, level, level, false, of_level);
    if (s)
        return s;
    of_level->run.steps = c->run.steps << level; /* may be out of the key's range */
    take_choices(c, of_level);
    for (int a = 0; a < 3; a++)
        if (case_flat(c, a))
            flatten(of_level, a);
    return STATUS_OK;
}

enum status case_with_steps(const struct flow_case *c, int finer, int shorter, struct flow_case *to)
{
    return make_scaled(c, c->name, finer, shorter, true, to);
}

/* ---- what level 0 read from files ---- */

static const struct case_body *body_at(const struct reader *r, const struct node *n)
{
    const struct flow_case *const c = r->origin;
    for (int k = 0; k < c->body_count; k++)
        if (!strcmp(c->bodies[k].name, n->key))
            return &c->bodies[k];
    assert(!"a level has the bodies of level 0");
    return NULL;
}

static const struct case_body *body_of(struct map m)
{
    return body_at(m.r, m.node->parent);
}

/* The patch that the node is directly below; NULL: none. */
static const struct case_patch *patch_of(const struct reader *r, const struct node *n)
{
    const struct flow_case *const c = r->origin;
    for (int k = 0; k < c->patch_count; k++)
        if (n->key && !strcmp(c->patches[k].name, n->key))
            return &c->patches[k];
    return NULL;
}

/* The opening whose map {kind: {...}} the node is. */
static const struct case_face *opening_of(const struct reader *r, const struct node *n)
{
    const int face = choice_index(key_sides, n->key);
    if (!strcmp(n->parent->key, "faces") && face >= 0)
        return &r->origin->faces[face];
    const struct case_patch *const patch = patch_of(r, n);
    assert(patch);
    return &patch->opening;
}

/* The cap whose node it is; NULL: it is the node of another thing. */
static const struct case_cap *cap_at(const struct reader *r, const struct node *n)
{
    const struct node *const caps = n->parent, *const body = caps->parent;
    int k = 0;
    if (!caps->key || strcmp(caps->key, "caps") != 0 || !body || !body->parent ||
        !body->parent->key || strcmp(body->parent->key, "bodies") != 0)
        return NULL;
    const struct case_body *const of = body_at(r, body);
    while (strcmp(of->caps[k].name, n->key) != 0)
        k++;
    return &of->caps[k];
}

/* The time function of the map `of`: of the force, of a flow or of what a scalar meets. */
static const struct case_signal *signal_of(const struct reader *r, const struct node *of)
{
    const struct flow_case *const c = r->origin;
    int k = 0;
    if (!strcmp(of->key, "force"))
        return &c->force_signal;
    const struct case_cap *cap = cap_at(r, of->parent);
    if (cap)
        return &cap->signal;
    if (strcmp(of->parent->key, "scalars") != 0)
        return &opening_of(r, of->parent)->signal;
    while (strcmp(c->scalars[k].name, of->key) != 0)
        k++;
    const struct node *const thing = of->parent->parent;
    if ((cap = cap_at(r, thing->parent)))
        return &cap->scalar[k].signal;
    if (!strcmp(thing->parent->key, "bodies"))
        return &body_at(r, thing)->scalar[k].signal;
    if (strcmp(thing->parent->key, "labels") != 0)
        return &opening_of(r, thing->parent)->scalar[k].signal;
    const struct case_body *const body = body_at(r, thing->parent->parent);
    int label = 0;
    while (strcmp(body->labels[label].name, thing->key) != 0)
        label++;
    return &body->labels[label].scalar[k].signal;
}

static enum status no_memory(const char *what)
{
    return fail_machine("no memory for %s on another level", what);
}

enum status level_mesh(struct map m, struct stl **stl, char **file, uint64_t *checksum)
{
    const struct case_mesh *const from = &body_of(m)->mesh;
    const size_t vertices = from->stl->vertices * sizeof *from->stl->vertex,
                 triangles = from->stl->triangles * sizeof *from->stl->triangle;
    const char *unused;
    struct stl *const to = *stl = calloc(1, sizeof *to);
    if (!to)
        return no_memory("a mesh");
    to->vertex = malloc(vertices);
    to->triangle = malloc(triangles);
    *file = strdup(from->file);
    if (!to->vertex || !to->triangle || !*file)
        return no_memory("a mesh");
    memcpy(to->vertex, from->stl->vertex, vertices);
    memcpy(to->triangle, from->stl->triangle, triangles);
    to->vertices = from->stl->vertices;
    to->triangles = from->stl->triangles;
    *checksum = from->checksum;
    const enum status s = value_text(m, "file", &unused);
    return s ? s : value_text(m, "checksum", &unused);
}

enum status level_image(struct map m, struct voxel_image *to)
{
    static const char *const late[] = {"file", "checksum"};
    const struct voxel_image *const from = &body_of(m)->image;
    const size_t labels = (size_t)from->label_count * sizeof *from->labels;
    const struct map crop = map_below(m, "crop");
    const char *unused;
    int corner[3];
    *to = *from;
    to->kept = NULL;
    to->level = m.r->level;
    to->width = ldexp(from->width, m.r->level);
    for (int a = 0; a < 3; a++)
        to->at[a] <<= m.r->level;
    to->file = strdup(from->file);
    to->dataset = from->dataset ? strdup(from->dataset) : NULL;
    to->labels = malloc(labels + 1);
    if (!to->file || (from->dataset && !to->dataset) || !to->labels)
        return no_memory("an image");
    memcpy(to->labels, from->labels, labels);
    struct voxel_image again = *to; /* its keys are read, and give the same values */
    enum status s = record_read(m, 1u << from->format, &again);
    if (again.dataset != to->dataset)
        free(again.dataset);
    for (size_t k = 0; k < sizeof late / sizeof *late && !s; k++)
        s = value_text(m, late[k], &unused);
    if (!s && crop.node)
        s = value_read(crop, "from", corner);
    return s || !crop.node ? s : value_read(crop, "to", corner);
}

struct mesh_facts level_facts(struct map m)
{
    return body_of(m)->mesh.facts;
}

enum status level_mask(struct map m, const int size[2], uint8_t **mask, char **file,
                       uint64_t *checksum)
{
    const struct case_patch *const from = patch_of(m.r, m.node->parent);
    const size_t width = (size_t)size[0] >> m.r->level;
    const char *unused;
    *mask = malloc((size_t)size[0] * (size_t)size[1]);
    *file = strdup(from->file);
    if (!*mask || !*file)
        return no_memory("a mask");
    for (size_t j = 0; j < (size_t)size[1]; j++)
        for (size_t i = 0; i < (size_t)size[0]; i++)
            (*mask)[j * (size_t)size[0] + i] =
                from->mask[(j >> m.r->level) * width + (i >> m.r->level)];
    *checksum = from->checksum;
    const enum status s = value_text(m, "file", &unused);
    return s ? s : value_text(m, "checksum", &unused);
}

/* A file with two columns, positions that are scaled by 2^finer and values: what level 0 read. */
static enum status copy_columns(struct map m, int points, const double *at, const double *value,
                                const char *file, int finer, double **to_at, double **to_value,
                                char **to_file)
{
    const size_t bytes = (size_t)points * sizeof *at;
    const char *unused;
    *to_at = malloc(bytes);
    *to_value = malloc(bytes);
    *to_file = strdup(file);
    if (!*to_at || !*to_value || !*to_file)
        return no_memory("a table");
    for (int i = 0; i < points; i++)
        (*to_at)[i] = ldexp(at[i], finer);
    memcpy(*to_value, value, bytes);
    const enum status s = value_text(m, "file", &unused);
    return s ? s : value_text(m, "checksum", &unused);
}

enum status level_table(struct map m, struct case_signal *s)
{
    const struct case_signal *const from = signal_of(m.r, m.node->parent);
    s->points = from->points;
    s->checksum = from->checksum;
    return copy_columns(m, from->points, from->times, from->values, from->file, m.r->shorter,
                        &s->times, &s->values, &s->file);
}

/* The heights of the map `height` or `radius`: below the key `profile` of an opening, or `value` of
 * a scalar there. */
static const struct case_heights *heights_of(const struct reader *r, const struct node *n)
{
    const struct node *const above = n->parent->parent;
    if (!strcmp(n->parent->key, "profile"))
        return &opening_of(r, above->parent)->heights;
    return &opening_of(r, above->parent->parent->parent)
                ->scalar[scalar_index(r->origin, above->key)]
                .heights;
}

enum status level_heights(struct map m, struct case_heights *to)
{
    const struct case_heights *const from = heights_of(m.r, m.node);
    to->points = from->points;
    to->checksum = from->checksum;
    return copy_columns(m, from->points, from->at, from->value, from->file, m.r->level, &to->at,
                        &to->value, &to->file);
}

/* Two cells of level 0, of n, and the weight of the second, for cell i of the level. */
struct between {
    size_t cell[2];
    double weight;
};

static struct between between(int i, int n, int level)
{
    const double at = fmin(fmax(ldexp(i + 0.5, -level) - 0.5, 0), n - 1);
    const double first = fmin(floor(at), n > 1 ? n - 2 : 0);
    return (struct between){{(size_t)first, (size_t)first + (n > 1)}, at - first};
}

enum status level_profile(struct map m, const int size[2], struct case_face *to)
{
    const struct case_face *const from = opening_of(m.r, m.node->parent->parent);
    const int *const n = from->table_size;
    const size_t components = (size_t)from->table_components;
    const char *unused;
    to->table = malloc((size_t)size[0] * (size_t)size[1] * components * sizeof *to->table);
    to->file = strdup(from->file);
    to->dataset = from->dataset ? strdup(from->dataset) : NULL;
    if (!to->table || !to->file || (from->dataset && !to->dataset))
        return no_memory("a profile");
    for (int j = 0; j < size[1]; j++) {
        const struct between y = between(j, n[1], m.r->level);
        for (int i = 0; i < size[0]; i++) {
            const struct between x = between(i, n[0], m.r->level);
            for (size_t k = 0; k < components; k++) {
                double line[2];
                for (int b = 0; b < 2; b++) {
                    const double *const row =
                        from->table + y.cell[b] * (size_t)n[0] * components + k;
                    line[b] = row[x.cell[0] * components] * (1 - x.weight) +
                              row[x.cell[1] * components] * x.weight;
                }
                to->table[((size_t)j * (size_t)size[0] + (size_t)i) * components + k] =
                    line[0] * (1 - y.weight) + line[1] * y.weight;
            }
        }
    }
    memcpy(to->table_size, size, sizeof to->table_size);
    to->table_components = from->table_components;
    to->checksum = from->checksum;
    enum status s = value_text(m, "file", &unused);
    s = s ? s : value_text(m, "dataset", &unused);
    return s ? s : value_text(m, "checksum", &unused);
}
