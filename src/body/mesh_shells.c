/* Which triangles of a mesh belong together and which way they face; see mesh.h.
 *
 * A shell is made of triangles that are joined by edges of exactly two. Where shells touch, edges
 * have more. */
#include <stdlib.h>
#include <string.h>

#include "body/mesh.h"

/* Triangles at an edge, at most, for which shells are told apart. */
enum { MANY = 64 };

/* An edge of one triangle, by its vertices in ascending order. */
struct edge {
    uint32_t low, high;
    int direction; /* 1: from low to high */
    uint32_t triangle;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *const p = a, *const q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    return p->high < q->high ? -1 : p->high > q->high;
}

/* The edges of all triangles, sorted; to be freed. NULL: out of memory. */
static struct edge *edges_of(const struct stl *m)
{
    const size_t count = 3 * m->triangles;
    struct edge *const edge = malloc((count + 1) * sizeof *edge);
    for (size_t t = 0; edge && t < m->triangles; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t a = m->triangle[t][k], b = m->triangle[t][(k + 1) % 3], at = (uint32_t)t;
            edge[3 * t + (size_t)k] =
                a < b ? (struct edge){a, b, 1, at} : (struct edge){b, a, -1, at};
        }
    if (edge)
        qsort(edge, count, sizeof *edge, compare_edges);
    return edge;
}

/* The end of the entries of edge[begin]; *sum: of their directions. */
static size_t end_of(const struct edge *edge, size_t begin, size_t count, int *sum)
{
    size_t end = begin;
    *sum = 0;
    for (; end < count && !compare_edges(&edge[begin], &edge[end]); end++)
        *sum += edge[end].direction;
    return end;
}

/* Sets of triangles: each points to another one of its set, and notes whether it faces the other
 * way than that; the root points to itself. */
struct facing {
    uint32_t *parent;
    uint8_t *other;
};

static uint32_t root_of(const struct facing *s, uint32_t t, uint8_t *other)
{
    uint32_t root = t;
    uint8_t sum = 0;
    for (; s->parent[root] != root; root = s->parent[root])
        sum ^= s->other[root];
    *other = sum;
    while (s->parent[t] != root && t != root) { /* the way becomes short */
        const uint32_t next = s->parent[t];
        const uint8_t own = s->other[t];
        s->parent[t] = root;
        s->other[t] = sum;
        sum ^= own;
        t = next;
    }
    return root;
}

/* Joins the sets of two triangles, which face different ways if `differ`. False: they cannot, as on
 * a Moebius strip. */
static bool join(const struct facing *s, uint32_t a, uint32_t b, uint8_t differ)
{
    uint8_t of_a, of_b;
    const uint32_t p = root_of(s, a, &of_a), q = root_of(s, b, &of_b);
    if (p == q)
        return (of_a ^ of_b) == differ;
    s->parent[p < q ? q : p] = p < q ? p : q;
    s->other[p < q ? q : p] = of_a ^ of_b ^ differ;
    return true;
}

static bool facing_create(struct facing *s, size_t triangles)
{
    s->parent = malloc((triangles + 1) * sizeof *s->parent);
    s->other = calloc(triangles + 1, sizeof *s->other);
    for (size_t t = 0; s->parent && t < triangles; t++)
        s->parent[t] = (uint32_t)t;
    return s->parent && s->other;
}

static void facing_destroy(struct facing *s)
{
    free(s->parent);
    free(s->other);
}

/* Joins all triangles that share an edge of two. False: not all can face one way. */
static bool join_all(const struct facing *s, const struct edge *edge, size_t count)
{
    bool good = true;
    int sum;
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = end_of(edge, begin, count, &sum);
        if (end - begin == 2)
            good = join(s, edge[begin].triangle, edge[begin + 1].triangle, sum != 0) && good;
    }
    return good;
}

/* Turns the triangles of each set that face another way than most of it. Returns how many. */
static size_t turn_some(struct stl *m, const struct facing *s, int64_t *more)
{
    size_t turned = 0;
    uint8_t other;
    for (size_t t = 0; t < m->triangles; t++) {
        const uint32_t root = root_of(s, (uint32_t)t, &other);
        more[root] += other ? 1 : -1;
    }
    for (size_t t = 0; t < m->triangles; t++) {
        const uint32_t root = root_of(s, (uint32_t)t, &other);
        if (other == (more[root] > 0))
            continue;
        mesh_turn_triangle(m, t);
        turned++;
    }
    return turned;
}

void mesh_turn_triangle(struct stl *m, size_t t)
{
    uint32_t *const corner = m->triangle[t], keep = corner[1];
    corner[1] = corner[2];
    corner[2] = keep;
}

bool mesh_agree(struct stl *m, size_t *turned)
{
    struct facing s;
    struct edge *const edge = edges_of(m);
    int64_t *const more = calloc(m->triangles + 1, sizeof *more);
    const bool made = facing_create(&s, m->triangles) && edge && more;
    *turned = 0;
    if (made && join_all(&s, edge, 3 * m->triangles))
        *turned = turn_some(m, &s, more);
    facing_destroy(&s);
    free(more);
    free(edge);
    return made;
}

/* Is each shell closed? Where shells touch, every one goes as often up an edge as down. */
static bool are_closed(const struct edge *edge, size_t count, const uint32_t *shell)
{
    int sum;
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = end_of(edge, begin, count, &sum);
        for (size_t k = begin; k < end && end - begin > 2; k++) {
            sum = 0;
            for (size_t i = begin; i < end; i++)
                sum += shell[edge[i].triangle] == shell[edge[k].triangle] ? edge[i].direction : 0;
            if (sum != 0 || end - begin > MANY)
                return false;
        }
    }
    return true;
}

uint32_t *mesh_shells(const struct stl *m, uint32_t *count)
{
    struct facing s;
    struct edge *const edge = edges_of(m);
    uint32_t *shell = malloc((m->triangles + 1) * sizeof *shell);
    uint8_t other;
    *count = 0;
    const bool made = facing_create(&s, m->triangles) && edge && shell;
    if (made)
        join_all(&s, edge, 3 * m->triangles);
    for (size_t t = 0; made && t < m->triangles; t++) { /* a root is the first of its set */
        const uint32_t root = root_of(&s, (uint32_t)t, &other);
        shell[t] = root == t ? (*count)++ : shell[root];
    }
    const bool closed = made && are_closed(edge, 3 * m->triangles, shell);
    facing_destroy(&s);
    free(edge);
    if (closed)
        return shell;
    free(shell);
    return made ? mesh_parts(m->vertices, m->triangles, (const uint32_t(*)[3])m->triangle, count)
                : NULL;
}

bool mesh_look_at_edges(const struct stl *m, struct mesh_facts *facts)
{
    const size_t count = 3 * m->triangles;
    struct edge *const edge = edges_of(m);
    int sum;
    facts->open = facts->crowded = facts->turned = 0;
    for (size_t begin = 0, end; edge && begin < count; begin = end) {
        end = end_of(edge, begin, count, &sum);
        const size_t uses = end - begin;
        facts->open += uses % 2;
        facts->crowded += uses > 2;
        facts->turned += uses % 2 == 0 && sum != 0;
    }
    free(edge);
    return edge != NULL;
}
