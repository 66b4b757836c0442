/* Defects and measures of a mesh; see mesh.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sets.h"
#include "body/mesh.h"

/* Beyond all cells of any grid. */
#define FAR 20000000
const int mesh_everywhere[2][3] = {{-FAR, -FAR, -FAR}, {FAR, FAR, FAR}};

/* Largest cross-section, in cells, of a mesh whose cells are counted: each line takes 8 bytes. */
#define COUNTED 1e8
/* Smallest thickness of a part in cells, less rounding. */
#define THIN (2 - 1e-9)

/* A triangle, starting at its lowest vertex, and its position in the file. */
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

static int compare_places(const void *a, const void *b)
{
    const struct face *const p = a, *const q = b;
    return p->at < q->at ? -1 : p->at > q->at;
}

/* Keeps triangles with three different corners, each once, in the order of the file. */
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

bool mesh_look(struct stl *m, struct mesh_facts *facts)
{
    *facts = (struct mesh_facts){0};
    if (!clean(m, facts) || !mesh_look_at_edges(m, facts))
        return false;
    facts->triangles = m->triangles;
    if (!facts->turned || facts->open)
        return true;
    return mesh_agree(m, &facts->righted) && mesh_look_at_edges(m, facts);
}

uint32_t *mesh_parts(size_t vertices, size_t triangles, const uint32_t (*corner)[3],
                     uint32_t *count)
{
    uint32_t *const set = sets_create(vertices);
    uint32_t *const number = malloc((vertices + 1) * sizeof *number); /* of a root's part */
    uint32_t *part = malloc((triangles + 1) * sizeof *part);
    *count = 0;
    if (!set || !number || !part) {
        free(part);
        part = NULL;
        goto out;
    }
    for (size_t t = 0; t < triangles; t++)
        for (int k = 1; k < 3; k++)
            sets_join(set, corner[t][0], corner[t][k]);
    memset(number, 0xff, vertices * sizeof *number);
    for (size_t t = 0; t < triangles; t++) {
        const uint32_t root = sets_root(set, corner[t][0]);
        if (number[root] == UINT32_MAX)
            number[root] = (*count)++;
        part[t] = number[root];
    }
out:
    free(number);
    free(set);
    return part;
}

/* Volume, projected area along each axis, and cells of a part. */
struct mesh_part {
    double volume, shadow[3];
    int64_t cells;
};

/* Volume by the divergence theorem, relative to a corner of the box, so that little cancels. */
static void measure_parts(const struct triangles *t, const double origin[3], const uint32_t *number,
                          struct mesh_part *part, double *area)
{
    for (size_t k = 0; k < t->count; k++) {
        struct mesh_part *const to = &part[number[k]];
        const double *const p = t->vertex[t->corner[k][0]], *const q = t->vertex[t->corner[k][1]],
                            *const r = t->vertex[t->corner[k][2]];
        double square = 0;
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            const double n = (q[b] - p[b]) * (r[c] - p[c]) - (q[c] - p[c]) * (r[b] - p[b]);
            to->volume += (p[a] - origin[a]) * n / 6;
            to->shadow[a] += 0.25 * fabs(n); /* front and back */
            square += n * n;
        }
        *area += 0.5 * sqrt(square);
    }
}

bool mesh_sort(const struct triangles *t, const uint32_t *number, uint32_t parts,
               struct mesh_sorted *s)
{
    s->corner = malloc((t->count + 1) * sizeof *s->corner);
    s->begin = calloc((size_t)parts + 2, sizeof *s->begin);
    if (!s->corner || !s->begin)
        return false;
    for (size_t k = 0; k < t->count; k++)
        s->begin[number[k] + 2]++;
    for (uint32_t k = 0; k < parts; k++)
        s->begin[k + 2] += s->begin[k + 1];
    for (size_t k = 0; k < t->count; k++)
        memcpy(s->corner[s->begin[number[k] + 1]++], t->corner[k], sizeof *s->corner);
    return true;
}

struct triangles mesh_part(const struct triangles *t, const struct mesh_sorted *s, uint32_t k)
{
    return (struct triangles){t->vertices, s->begin[k + 1] - s->begin[k], t->vertex,
                              (const uint32_t(*)[3])(s->corner + s->begin[k])};
}

void mesh_sorted_free(struct mesh_sorted *s)
{
    free(s->corner);
    free(s->begin);
}

/* Counts cells whose centres a part encloses: on each line the index of the first cell beyond an
 * exit, less the index of the first cell beyond an entry. */
static bool count_part(const struct triangles *t, int64_t *cells)
{
    static const int x[3] = {1, 0, 0};
    struct lines l;
    if (!lines_create(&l, t, x, mesh_everywhere[0], mesh_everywhere[1]))
        return false;
    const size_t hits = l.begin[(size_t)l.count[0] * (size_t)l.count[1]];
    for (size_t h = 0; h < hits; h++)
        *cells -= l.hit[h].turn * lines_cell(l.hit[h].at);
    lines_destroy(&l);
    return true;
}

static bool count_parts(const struct triangles *t, const uint32_t *number, uint32_t parts,
                        struct mesh_part *part)
{
    struct mesh_sorted sorted = {0};
    bool done = mesh_sort(t, number, parts, &sorted);
    for (uint32_t k = 0; done && k < parts; k++) {
        const struct triangles of = mesh_part(t, &sorted, k);
        done = count_part(&of, &part[k].cells);
    }
    mesh_sorted_free(&sorted);
    return done;
}

/* Counts the cells of all parts together, and those that are in several. */
static bool count_cells(const struct triangles *t, struct mesh_facts *facts)
{
    static const int x[3] = {1, 0, 0};
    struct lines l;
    if (!lines_create(&l, t, x, mesh_everywhere[0], mesh_everywhere[1]))
        return false;
    const size_t lines = (size_t)l.count[0] * (size_t)l.count[1];
    for (size_t n = 0; n < lines; n++) {
        int sum = 0;
        for (size_t h = l.begin[n]; h + 1 < l.begin[n + 1]; h++) {
            sum += l.hit[h].turn;
            const int64_t cells = lines_cell(l.hit[h + 1].at) - lines_cell(l.hit[h].at);
            facts->cells += mesh_holds(facts, sum) ? cells : 0;
            facts->shared += abs(sum) > 1 ? cells : 0;
        }
    }
    lines_destroy(&l);
    return true;
}

/* Counts thin parts, and parts that hold no cell centre. */
static void judge_parts(const struct mesh_part *part, struct mesh_facts *facts)
{
    for (uint32_t k = 0; k < facts->parts; k++) {
        const double *const s = part[k].shadow;
        const double widest = fmax(s[0], fmax(s[1], s[2]));
        facts->lost += part[k].cells == 0;
        facts->thin += part[k].cells != 0 && fabs(part[k].volume) < THIN * widest;
    }
}

bool mesh_small(const struct mesh_facts *facts, const double lo[3], const double hi[3])
{
    const double size[3] = {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]};
    return !facts->open && !facts->turned && size[1] * size[2] < COUNTED &&
           size[2] * size[0] < COUNTED && size[0] * size[1] < COUNTED;
}

bool mesh_measure(struct case_mesh *mesh)
{
    struct mesh_facts *const facts = &mesh->facts;
    double lo[3], hi[3];
    double(*const vertex)[3] = mesh_place(mesh, lo, hi);
    const struct triangles t = {mesh->stl->vertices, mesh->stl->triangles,
                                (const double(*)[3])vertex,
                                (const uint32_t(*)[3])mesh->stl->triangle};
    uint32_t *const number = mesh_parts(t.vertices, t.count, t.corner, &facts->parts);
    struct mesh_part *const part = calloc((size_t)facts->parts + 1, sizeof *part);
    bool done = vertex && number && part;
    facts->volume = facts->area = facts->sheets = 0;
    facts->thin = facts->lost = 0;
    facts->cells = facts->shared = 0;
    if (done)
        measure_parts(&t, lo, number, part, &facts->area);
    for (uint32_t k = 0; done && k < facts->parts; k++)
        facts->volume += part[k].volume;
    if (done && mesh_small(facts, lo, hi)) {
        done = count_parts(&t, number, facts->parts, part) && count_cells(&t, facts) &&
               mesh_find_sheets(&t, lo, hi, facts);
        judge_parts(part, facts);
    }
    free(part);
    free(number);
    free(vertex);
    return done;
}
