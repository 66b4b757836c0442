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
static void find_open_faces(const struct node *root, bool open[6])
{
    const struct node *const faces = node_get(root, "faces"), *const patches =
                                                                  node_get(root, "patches");
    for (int f = 0; f < 6; f++) {
        const struct node *const n = node_get(faces, key_sides[f]);
        open[f] = n && is_open(n->kind == NODE_SCALAR ? n->text : n->first ? n->first->key : "");
    }
    for (const struct node *p = patches ? patches->first : NULL; p; p = p->next) {
        const struct node *const face = node_get(p, "face");
        const int f = face && face->kind == NODE_SCALAR ? choice_index(key_sides, face->text) : -1;
        if (f >= 0)
            open[f] = true;
    }
}

/* Takes only a constant force, or one with a ramp, which is assumed to be over. */
static void find_force(const struct node *root, struct case_facts *f)
{
    const struct node *const force = node_get(root, "force");
    if (!node_get(force, "sine") && !node_get(force, "table"))
        numbers_at(node_get(force, "acceleration"), f->acceleration);
}

static bool read_facts(const struct node *root, struct case_facts *f)
{
    const struct node *const units = node_get(root, "units");
    double cells[3];
    if (!numbers_at(node_get(node_get(root, "domain"), "cells"), cells))
        return false;
    for (int a = 0; a < 3; a++)
        f->cells[a] = (int)cells[a];
    f->units = (struct case_units){.dx = 1, .dt = 1, .density = 1};
    if (number_at(node_get(units, "dt"), &f->units.dt)) {
        f->units.given = true;
        if (!number_at(node_get(units, "dx"), &f->units.dx) ||
            !number_at(node_get(units, "density"), &f->units.density))
            return false;
    }
    find_open_faces(root, f->open);
    find_force(root, f);
    return f->cells[0] > 0 && f->cells[1] > 0 && f->cells[2] > 0 && f->units.dx > 0 &&
           f->units.dt > 0 && f->units.density > 0;
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
