/* Section of a case: faces. */
#include "base/message.h"
#include "case/opening.h"

/* One entry of `faces`, for one face or a pair of them. */
static enum status read_face(const struct reader *r, struct node *n, int first, int last,
                             struct flow_case *c)
{
    const struct map m = {r, n, "faces.<face>"};
    enum status s = STATUS_OK;
    n->used = true;
    if (n->kind == NODE_SEQUENCE || (n->kind == NODE_SCALAR && !*n->text) ||
        (n->kind == NODE_MAPPING && !n->count))
        return value_wrong(r, n, keys_row(m.row));
    for (int f = first; f <= last && !s; f++) {
        struct opening_cells cells = {.face = f};
        int axes[2];
        face_axes(f, axes);
        for (int k = 0; k < 2; k++) {
            cells.hi[k] = c->cells[axes[k]];
            cells.center[k] = 0.5 * c->cells[axes[k]];
        }
        c->faces[f].place = place_text(r->document, n->key_at);
        s = !c->faces[f].place        ? STATUS_MACHINE
            : n->kind == NODE_MAPPING ? opening_read(m, &cells, &c->faces[f])
                                      : opening_read_word(r, n, &c->faces[f]);
    }
    return s;
}

/* A profile needs an edge at which it vanishes. */
static enum status check_edges(const struct reader *r, const struct node *n,
                               const struct flow_case *c, int face, const struct case_face *what)
{
    int axes[2];
    face_axes(face, axes);
    if (!opening_has_profile(what))
        return STATUS_OK;
    for (int k = 0; k < 2; k++)
        if (face_has(c->faces[2 * axes[k]].kind, FACE_HAS_edge) ||
            face_has(c->faces[2 * axes[k] + 1].kind, FACE_HAS_edge))
            return STATUS_OK;
    const struct node *map = node_get(n, key_face_kinds[what->kind]),
                      *profile = node_get(map, "profile");
    return fail_value(r, profile,
                      ": there is neither a wall nor a velocity face beside %s at which it could "
                      "vanish (profile: uniform)",
                      key_faces[face]);
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
        if (face_on_nodes(&c->faces[f]) && c->cells[a] < 2)
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

enum status faces_read(struct map m, struct flow_case *c)
{
    const struct node *given[6] = {NULL};
    for (struct node *n = m.node->first; n; n = n->next) {
        const int name = choice_index(key_faces, n->key); /* 0-5: a face, 6-8: a pair */
        const int first = name < 6 ? name : 2 * (name - 6), last = name < 6 ? name : first + 1;
        for (int f = first; f <= last; f++) {
            if (given[f])
                return fail_at(m.r->document, n->key_at,
                               "face %s is named twice, by %s and %s (keep one)", key_faces[f],
                               given[f]->key, n->key);
            given[f] = n;
        }
        const enum status s = read_face(m.r, n, first, last, c);
        if (s)
            return s;
    }
    for (int f = 0; f < 6; f++)
        if (!given[f])
            return fail_at(m.r->document, m.node->key_at,
                           "face %s is missing (for example faces: {%s: wall}; %s names both)",
                           key_faces[f], key_faces[f], key_axes[f / 2]);
    return check_pairs(m.r, c, given);
}

void faces_write(struct writer *w)
{
    fprintf(w->to, "faces:\n");
    for (int f = 0; f < 6; f++) {
        const struct case_face *const face = &w->c->faces[f];
        if (face->kind == FACE_periodic || face->kind == FACE_slip) {
            fprintf(w->to, "  %s: %s\n", key_faces[f], key_face_kinds[face->kind]);
            continue;
        }
        write_open(w, key_faces[f]);
        opening_write(w, face);
        write_close(w);
    }
}
