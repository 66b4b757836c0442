/* What there is to say of a mesh; see mesh.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/mesh.h"

/* An edge, by its vertices in ascending order, as one triangle has it. */
struct edge {
    uint32_t low, high;
    int direction; /* 1: from low to high */
};

/* A triangle from its lowest vertex on, and its place in the file. */
struct face {
    uint32_t corner[3], at;
};

static int compare_faces(const void *a, const void *b)
{
    const struct face *const p = a, *const q = b;
    for (int k = 0; k < 3; k++)
        if (p->corner[k] != q->corner[k])
            return p->corner[k] < q->corner[k] ? -1 : 1;
    return p->at < q->at ? -1 : p->at > q->at;
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *const p = a, *const q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    return p->high < q->high ? -1 : p->high > q->high;
}

static int compare_places(const void *a, const void *b)
{
    const struct face *const p = a, *const q = b;
    return p->at < q->at ? -1 : p->at > q->at;
}

/* Triangles with three different corners, each once, in the order of the file. */
static bool clean(struct stl *m, struct mesh_facts *facts)
{
    struct face *const face = malloc((m->triangles + 1) * sizeof *face);
    size_t count = 0, kept = 0;
    if (!face)
        return false;
    for (size_t t = 0; t < m->triangles; t++) {
        const uint32_t *const c = m->triangle[t];
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) {
            facts->flat++;
            continue;
        }
        const int first = c[0] < c[1] ? (c[0] < c[2] ? 0 : 2) : (c[1] < c[2] ? 1 : 2);
        face[count++] =
            (struct face){{c[first], c[(first + 1) % 3], c[(first + 2) % 3]}, (uint32_t)t};
    }
    qsort(face, count, sizeof *face, compare_faces);
    for (size_t k = 0; k < count; k++) {
        if (kept && !memcmp(face[k].corner, face[kept - 1].corner, sizeof face[k].corner))
            facts->twice++;
        else
            face[kept++] = face[k];
    }
    qsort(face, kept, sizeof *face, compare_places);
    for (size_t k = 0; k < kept; k++)
        memcpy(m->triangle[k], face[k].corner, sizeof m->triangle[k]);
    m->triangles = kept;
    free(face);
    return true;
}

static bool look_at_edges(const struct stl *m, struct mesh_facts *facts)
{
    const size_t count = 3 * m->triangles;
    struct edge *const edge = malloc((count + 1) * sizeof *edge);
    if (!edge)
        return false;
    for (size_t t = 0; t < m->triangles; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t a = m->triangle[t][k], b = m->triangle[t][(k + 1) % 3];
            edge[3 * t + (size_t)k] = a < b ? (struct edge){a, b, 1} : (struct edge){b, a, -1};
        }
    qsort(edge, count, sizeof *edge, compare_edges);
    for (size_t begin = 0, end; begin < count; begin = end) {
        int sum = 0;
        for (end = begin; end < count && !compare_edges(&edge[begin], &edge[end]); end++)
            sum += edge[end].direction;
        const size_t uses = end - begin;
        facts->open += uses % 2;
        facts->crowded += uses > 2;
        facts->turned += uses % 2 == 0 && sum != 0;
    }
    free(edge);
    return true;
}

/* Volume by the divergence theorem about a corner of the box, so that little cancels. */
static void measure(const struct stl *m, struct mesh_facts *facts)
{
    for (int a = 0; a < 3; a++) {
        facts->lo[a] = m->triangles ? INFINITY : 0;
        facts->hi[a] = m->triangles ? -INFINITY : 0;
    }
    for (size_t t = 0; t < m->triangles; t++)
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) {
                const double x = m->vertex[m->triangle[t][k]][a];
                facts->lo[a] = x < facts->lo[a] ? x : facts->lo[a];
                facts->hi[a] = x > facts->hi[a] ? x : facts->hi[a];
            }
    for (size_t t = 0; t < m->triangles; t++) {
        double p[3][3], n[3], square = 0;
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++)
                p[k][a] =
                    m->vertex[m->triangle[t][k]][a] - (k ? p[0][a] + facts->lo[a] : facts->lo[a]);
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            n[a] = p[1][b] * p[2][c] - p[1][c] * p[2][b];
            square += n[a] * n[a];
        }
        facts->area += 0.5 * sqrt(square);
        facts->volume += (p[0][0] * n[0] + p[0][1] * n[1] + p[0][2] * n[2]) / 6;
    }
}

bool mesh_look(struct stl *m, struct mesh_facts *facts)
{
    uint32_t *part;
    *facts = (struct mesh_facts){0};
    if (!clean(m, facts) || !look_at_edges(m, facts))
        return false;
    facts->triangles = m->triangles;
    measure(m, facts);
    part = mesh_parts(m->vertices, m->triangles, (const uint32_t(*)[3])m->triangle, &facts->parts);
    free(part);
    return part != NULL;
}

static uint32_t root_of(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

uint32_t *mesh_parts(size_t vertices, size_t triangles, const uint32_t (*corner)[3],
                     uint32_t *count)
{
    uint32_t *const parent = malloc((vertices + 1) * sizeof *parent);
    uint32_t *const number = malloc((vertices + 1) * sizeof *number); /* of a root's part */
    uint32_t *part = malloc((triangles + 1) * sizeof *part);
    *count = 0;
    if (!parent || !number || !part) {
        free(part);
        part = NULL;
        goto out;
    }
    for (size_t v = 0; v < vertices; v++)
        parent[v] = (uint32_t)v;
    for (size_t t = 0; t < triangles; t++)
        for (int k = 1; k < 3; k++) {
            const uint32_t a = root_of(parent, corner[t][0]), b = root_of(parent, corner[t][k]);
            parent[a < b ? b : a] = a < b ? a : b;
        }
    memset(number, 0xff, vertices * sizeof *number);
    for (size_t t = 0; t < triangles; t++) {
        const uint32_t root = root_of(parent, corner[t][0]);
        if (number[root] == UINT32_MAX)
            number[root] = (*count)++;
        part[t] = number[root];
    }
out:
    free(number);
    free(parent);
    return part;
}
