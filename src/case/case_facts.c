/* Facts of an earlier run, from its resolved case; see case_facts() in case.h. */
#include <string.h>

#include "case/sections.h"

static bool number_at(const struct node *n, double *value)
{
    struct quantity q;
    if (!n || n->kind != NODE_SCALAR || quantity_parse(n->text, &q))
        return false;
    *value = q.value;
    return true;
}

static bool numbers_at(const struct node *n, double value[3])
{
    int count = 0;
    for (const struct node *c = n ? n->first : NULL; c; c = c->next, count++)
        if (count == 3 || !number_at(c, &value[count]))
            return false;
    return count == 3;
}

static bool is_open(const char *kind)
{
    const int found = choice_index(key_face_kinds, kind);
    return found >= 0 && face_open((enum face_kind)found);
}

/* A face with patches counts as open, whatever their kind. */
static void find_faces(const struct node *root, struct case_facts *facts)
{
    const struct node *const faces = node_get(root, "faces"), *const patches =
                                                                  node_get(root, "patches");
    for (int f = 0; f < 6; f++) {
        const struct node *const n = node_get(faces, key_sides[f]);
        if (n && n->kind == NODE_SCALAR && !strcmp(n->text, "periodic"))
            facts->periodic[f / 2] = true;
        facts->open[f] = n && is_open(n->kind == NODE_SCALAR ? n->text
                                      : n->first             ? n->first->key
                                                             : "");
    }
    for (const struct node *p = patches ? patches->first : NULL; p; p = p->next) {
        const struct node *const face = node_get(p, "face");
        const int f = face && face->kind == NODE_SCALAR ? choice_index(key_sides, face->text) : -1;
        if (f >= 0)
            facts->open[f] = true;
    }
}

/* Takes only a constant force, or one with a ramp, which is assumed to be over. */
static void find_force(const struct node *root, struct case_facts *f)
{
    const struct node *const force = node_get(root, "force");
    if (!node_get(force, "sine") && !node_get(force, "table"))
        numbers_at(node_get(force, "acceleration"), f->acceleration);
    double rotation[3] = {0, 0, 0};
    numbers_at(node_get(force, "rotation"), rotation);
    f->resists = rotation[0] != 0 || rotation[1] != 0 || rotation[2] != 0;
    const struct node *const regions = node_get(root, "regions");
    for (const struct node *n = regions ? regions->first : NULL; n; n = n->next)
        f->resists = f->resists || node_get(n, "resistance") || node_get(n, "screen");
}

/* A choice or a name in a resolved case; "": none. */
static const char *text_at(const struct node *n)
{
    return n && n->kind == NODE_SCALAR ? n->text : "";
}

/* Adds what a body or a label conducts. */
static bool add_solid(const struct node *conduct, struct case_facts_scalar *s)
{
    double capacity, source;
    int k = 0;
    if (!number_at(node_get(conduct, "capacity"), &capacity) ||
        !number_at(node_get(conduct, "source"), &source) || !(capacity > 0))
        return false;
    while (k < s->solids && (s->solid[k].capacity != capacity || s->solid[k].source != source))
        k++;
    if (k == (int)(sizeof s->solid / sizeof *s->solid))
        return false;
    s->solid[k].capacity = capacity;
    s->solid[k].source = source;
    s->solids = k < s->solids ? s->solids : k + 1;
    return true;
}

/* The bodies, and the labels of images, that conduct a scalar. The smallest capacity of all is the
 * populations' unit. */
static bool find_solids(const struct node *root, struct case_facts_scalar *s)
{
    const struct node *const bodies = node_get(root, "bodies");
    bool good = true;
    s->everywhere = true;
    for (const struct node *b = bodies ? bodies->first : NULL; b && good; b = b->next) {
        const struct node *const labels = node_get(b, "labels");
        const struct node *part = b;
        while (part && good) {
            const struct node *const wall = node_get(node_get(part, "scalars"), s->name);
            const struct node *const conduct = node_get(wall, "conduct");
            if (part == b || wall) /* a label without an entry has the body's */
                s->everywhere = s->everywhere && conduct;
            good = !conduct || add_solid(conduct, s);
            part = part == b ? labels ? labels->first : NULL : part->next;
        }
    }
    return good;
}

static void set_unit(struct case_facts_scalar *s)
{
    double least = 1;
    for (int k = 0; k < s->solids; k++)
        least = s->solid[k].capacity < least ? s->solid[k].capacity : least;
    const double scale = 1 / least;
    s->capacity = scale;
    s->source *= scale;
    s->decay *= scale;
    s->rate *= scale;
    for (int k = 0; k < s->solids; k++) {
        s->solid[k].capacity *= scale;
        s->solid[k].source *= scale;
    }
}

/* A species that turns into this one lies before it in a resolved case, and decays with the rate.
 */
static bool find_origin(const struct node *n, struct case_facts *f, struct case_facts_scalar *s)
{
    const char *const from = text_at(node_get(n, "made_from"));
    s->made_from = -1;
    if (!*from)
        return true;
    for (int k = 0; k < f->scalar_count; k++)
        if (!strcmp(f->scalar[k].name, from))
            s->made_from = k;
    if (s->made_from < 0 || !number_at(node_get(n, "rate"), &s->rate))
        return false;
    f->scalar[s->made_from].decay += s->rate;
    return true;
}

static bool find_scalars(const struct node *root, struct case_facts *f)
{
    const struct node *const scalars = node_get(root, "scalars");
    for (const struct node *n = scalars ? scalars->first : NULL; n; n = n->next) {
        struct case_facts_scalar *const s = &f->scalar[f->scalar_count];
        if (f->scalar_count == CASE_SCALARS || strlen(n->key) >= sizeof s->name)
            return false;
        strcpy(s->name, n->key);
        s->kind = choice_index(key_scalar_kinds, text_at(node_get(n, "kind")));
        if (s->kind < 0 || !number_at(node_get(n, "reference"), &s->reference) ||
            !number_at(node_get(n, "expansion"), &s->expansion) ||
            !number_at(node_get(n, "source"), &s->source) ||
            !number_at(node_get(n, "decay"), &s->decay) || !find_origin(n, f, s) ||
            !find_solids(root, s))
            return false;
        f->scalar_count++;
    }
    for (int k = 0; k < f->scalar_count; k++)
        set_unit(&f->scalar[k]);
    numbers_at(node_get(node_get(root, "force"), "gravity"), f->gravity);
    return true;
}

static bool read_facts(const struct node *root, struct case_facts *f)
{
    const struct node *const units = node_get(root, "units");
    double cells[3];
    if (!numbers_at(node_get(node_get(root, "domain"), "cells"), cells))
        return false;
    for (int a = 0; a < 3; a++) {
        if (!(cells[a] >= 1 && cells[a] <= INT32_MAX))
            return false;
        f->cells[a] = (int)cells[a];
    }
    f->units = (struct case_units){.dx = 1, .dt = 1, .density = 1};
    if (number_at(node_get(units, "dt"), &f->units.dt)) {
        f->units.given = true;
        if (!number_at(node_get(units, "dx"), &f->units.dx) ||
            !number_at(node_get(units, "density"), &f->units.density))
            return false;
    }
    find_faces(root, f);
    find_force(root, f);
    return find_scalars(root, f) && f->units.dx > 0 && f->units.dt > 0 && f->units.density > 0;
}

bool case_facts(const char *resolved, struct case_facts *f)
{
    struct plain_locale locale;
    struct document document;
    *f = (struct case_facts){0};
    if (plain_locale_enter(&locale))
        return false;
    bool good =
        !document_read(&document, "the case of an earlier result", resolved, strlen(resolved));
    if (good) {
        good = read_facts(document.root, f);
        document_destroy(&document);
    }
    plain_locale_leave(&locale);
    return good;
}
