/* Parts of a mesh that are inside out; see mesh.h.
 *
 * A part that is inside out is a cavity if most of it lies in a larger part that is not. Elsewhere
 * it is a mistake: with the larger part it would leave a closed hollow where both overlap. It is
 * turned then, with all that lies in it. How much of a part lies in another one is measured along
 * the lines through the centres of cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/mesh.h"

/* Most parts that are compared. */
enum { COMPARED = 4096 };

/* Shares of a part in another one: more is contained; less, or all but less, is rounding. */
#define CONTAINED 0.5
#define TOUCHES 1e-3

struct shell {
    uint32_t number;
    double volume, lo[3], hi[3];
    int solid; /* 1: what it should be; -1: a cavity */
    bool doubt;
};

/* Volume and bounding box of each shell; origin: see measure_parts(). */
static void measure(const struct triangles *t, const double origin[3], const uint32_t *number,
                    struct shell *shell)
{
    for (size_t k = 0; k < t->count; k++) {
        struct shell *const s = &shell[number[k]];
        const double *const p = t->vertex[t->corner[k][0]], *const q = t->vertex[t->corner[k][1]],
                            *const r = t->vertex[t->corner[k][2]];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            const double n = (q[b] - p[b]) * (r[c] - p[c]) - (q[c] - p[c]) * (r[b] - p[b]);
            s->volume += (p[a] - origin[a]) * n / 6;
            s->lo[a] = fmin(s->lo[a], fmin(p[a], fmin(q[a], r[a])));
            s->hi[a] = fmax(s->hi[a], fmax(p[a], fmax(q[a], r[a])));
        }
    }
}

/* Larger ones first. */
static int compare_shells(const void *a, const void *b)
{
    const struct shell *const p = a, *const q = b;
    const double one = fabs(p->volume), other = fabs(q->volume);
    if (one != other)
        return one > other ? -1 : 1;
    return p->number < q->number ? -1 : 1;
}

static bool boxes_meet(const struct shell *p, const struct shell *q)
{
    bool meet = true;
    for (int a = 0; a < 3; a++)
        meet = meet && p->lo[a] < q->hi[a] && q->lo[a] < p->hi[a];
    return meet;
}

/* The length of a line from `from` to `to` that is in a shell. */
static double length_in(const struct hit *hit, size_t count, double from, double to)
{
    double length = 0;
    int sum = 0;
    for (size_t h = 0; h + 1 < count; h++) {
        sum += hit[h].turn;
        const double low = fmax(hit[h].at, from), high = fmin(hit[h + 1].at, to);
        length += sum && low < high ? high - low : 0;
    }
    return length;
}

/* The share of one shell that is in another one. False: out of memory. */
static bool share_in(const struct triangles *one, const struct shell *shell,
                     const struct triangles *other, double *share)
{
    static const int x[3] = {1, 0, 0};
    struct lines mine, its;
    double all = 0, part = 0;
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        lo[a] = (int)floor(shell->lo[a]) - 1;
        hi[a] = (int)ceil(shell->hi[a]) + 1;
    }
    if (!lines_create(&mine, one, x, lo, hi))
        return false;
    if (!lines_create(&its, other, x, lo, hi)) {
        lines_destroy(&mine);
        return false;
    }
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++) {
            size_t count, others;
            int sum = 0;
            const struct hit *const hit = lines_at(&mine, (int[3]){0, y, z}, &count),
                                    *const there = lines_at(&its, (int[3]){0, y, z}, &others);
            for (size_t h = 0; h + 1 < count; h++) {
                sum += hit[h].turn;
                all += sum ? hit[h + 1].at - hit[h].at : 0;
                part += sum ? length_in(there, others, hit[h].at, hit[h + 1].at) : 0;
            }
        }
    lines_destroy(&mine);
    lines_destroy(&its);
    *share = all > 0 ? part / all : 0;
    return true;
}

/* Decides what shell k should be, from the larger ones before it. */
static bool decide(const struct triangles *t, const struct mesh_sorted *sorted, struct shell *shell,
                   uint32_t k)
{
    struct shell *const own = &shell[k];
    const struct triangles mine = mesh_part(t, sorted, own->number);
    own->solid = 1;
    for (uint32_t i = 0; i < k; i++) {
        const struct triangles its = mesh_part(t, sorted, shell[i].number);
        const bool differ = (own->volume < 0) != (shell[i].volume < 0);
        double share;
        if (!boxes_meet(own, &shell[i]))
            continue;
        if (!share_in(&mine, own, &its, &share))
            return false;
        if (share > CONTAINED) /* the smallest one counts */
            own->solid = differ ? -shell[i].solid : shell[i].solid;
        own->doubt = own->doubt || (differ && share > TOUCHES && share < 1 - TOUCHES);
    }
    return true;
}

/* Turns the shells that are not what they should be; by their numbers. */
static void turn(struct stl *m, const uint32_t *number, const struct shell *shell, uint32_t count,
                 bool *turned, struct mesh_facts *facts)
{
    for (uint32_t k = 0; k < count; k++) {
        turned[shell[k].number] = (shell[k].volume < 0) != (shell[k].solid < 0);
        facts->inverted += turned[shell[k].number];
        facts->hollow = facts->hollow || shell[k].solid < 0;
    }
    for (size_t t = 0; t < m->triangles; t++)
        if (turned[number[t]])
            mesh_turn_triangle(m, t);
}

/* Describes the first shell in doubt. */
static void note_doubt(const struct mesh_sorted *sorted, const struct shell *shell, uint32_t count,
                       struct mesh_doubt *doubt)
{
    for (uint32_t k = 0; k < count; k++) {
        const struct shell *const s = &shell[k];
        if (!s->doubt || doubt->parts++)
            continue;
        doubt->triangles = sorted->begin[s->number + 1] - sorted->begin[s->number];
        doubt->cavity = s->solid < 0;
        memcpy(doubt->lo, s->lo, sizeof s->lo);
        memcpy(doubt->hi, s->hi, sizeof s->hi);
    }
}

/* Do some shells enclose a positive volume, and some a negative one? */
static bool are_mixed(const struct shell *shell, uint32_t count)
{
    bool some = false, others = false;
    for (uint32_t k = 0; k < count; k++) {
        some = some || shell[k].volume > 0;
        others = others || shell[k].volume < 0;
    }
    return some && others;
}

static bool turn_shells(struct case_mesh *mesh, const struct triangles *t, const double lo[3],
                        const uint32_t *number, uint32_t count)
{
    struct mesh_sorted sorted = {0};
    struct shell *const shell = calloc((size_t)count + 1, sizeof *shell);
    bool *const turned = calloc((size_t)count + 1, sizeof *turned);
    bool done = shell && turned && mesh_sort(t, number, count, &sorted);
    for (uint32_t k = 0; done && k < count; k++)
        shell[k] = (struct shell){.number = k,
                                  .lo = {INFINITY, INFINITY, INFINITY},
                                  .hi = {-INFINITY, -INFINITY, -INFINITY}};
    if (done)
        measure(t, lo, number, shell);
    if (done && are_mixed(shell, count)) {
        qsort(shell, count, sizeof *shell, compare_shells);
        for (uint32_t k = 0; done && k < count; k++)
            done = decide(t, &sorted, shell, k);
        if (done) {
            note_doubt(&sorted, shell, count, &mesh->facts.doubt);
            turn(mesh->stl, number, shell, count, turned, &mesh->facts);
        }
    }
    mesh_sorted_free(&sorted);
    free(turned);
    free(shell);
    return done;
}

bool mesh_turn_parts(struct case_mesh *mesh)
{
    struct stl *const m = mesh->stl;
    double lo[3], hi[3];
    uint32_t count = 0;
    double(*const vertex)[3] = mesh_place(mesh, lo, hi);
    const struct triangles t = {m->vertices, m->triangles, (const double(*)[3])vertex,
                                (const uint32_t(*)[3])m->triangle};
    uint32_t *const number = mesh_shells(m, &count);
    bool done = vertex && number;
    if (done && mesh_small(&mesh->facts, lo, hi) && count > 1 && count <= COMPARED)
        done = turn_shells(mesh, &t, lo, number, count);
    free(number);
    free(vertex);
    return done;
}
