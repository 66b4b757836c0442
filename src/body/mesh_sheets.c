/* Sheets and needles of a mesh that are thinner than a cell; see mesh.h.
 *
 * Lines through the centres of cells, along x, y and z, cross the solid. Where both surfaces face
 * the line, the length of the crossing tells the thickness. A sharp edge is thinner than a cell,
 * too, but next to it there is as much surface of one to three cells: only what is more than that
 * counts, block by block. */
#include <math.h>
#include <stdlib.h>

#include "body/mesh.h"

/* Cells along a block, and most blocks. */
enum { EDGE = 16, BLOCKS = 1 << 22 };

/* Surfaces that face a line less are looked at along another axis: one of 1 / sqrt(3) at least is
 * always there. */
#define FACING 0.5
/* From one line to the next one the thickness at an edge grows by 2 sqrt(1 - FACING^2) at most. */
#define THICK 3

/* Below this a crossing is rounding: a cavity ends where the solid does. */
#define NOTHING 1e-4

struct blocks {
    double lo[3], edge;
    int n[3];
    float *thin, *next; /* area of one side: below a cell, from there to THICK */
};

static bool blocks_create(struct blocks *b, const double lo[3], const double hi[3])
{
    double count;
    *b = (struct blocks){.edge = EDGE};
    do {
        count = 1;
        for (int a = 0; a < 3; a++) {
            b->lo[a] = lo[a];
            b->n[a] = (int)((hi[a] - lo[a]) / b->edge) + 1;
            count *= b->n[a];
        }
        b->edge *= count > BLOCKS ? 2 : 1;
    } while (count > BLOCKS);
    b->thin = calloc((size_t)count, sizeof *b->thin);
    b->next = calloc((size_t)count, sizeof *b->next);
    return b->thin && b->next;
}

static size_t block_of(const struct blocks *b, const double at[3])
{
    size_t index = 0;
    for (int a = 2; a >= 0; a--) {
        const int k = (int)((at[a] - b->lo[a]) / b->edge);
        index = index * (size_t)b->n[a] + (size_t)(k < 0 ? 0 : k < b->n[a] ? k : b->n[a] - 1);
    }
    return index;
}

/* A crossing of line n, from one hit to another one. */
static void add_crossing(struct blocks *b, const struct lines *l, size_t n, const struct hit *from,
                         const struct hit *to)
{
    const double facing = 0.5 * (double)(from->facing + to->facing);
    const double thick = (to->at - from->at) * facing;
    double at[3];
    if (from->facing < (float)FACING || to->facing < (float)FACING || thick >= THICK ||
        thick < NOTHING)
        return;
    at[l->main] = 0.5 * (from->at + to->at);
    at[l->other[0]] = l->first[0] + (int)(n % (size_t)l->count[0]) + 0.5;
    at[l->other[1]] = l->first[1] + (int)(n / (size_t)l->count[0]) + 0.5;
    (thick < 1 - 1e-6 ? b->thin : b->next)[block_of(b, at)] += (float)facing;
}

static bool add_axis(struct blocks *b, const struct triangles *t, int axis,
                     const struct mesh_facts *facts)
{
    const int c[3] = {axis == 0, axis == 1, axis == 2};
    struct lines l;
    if (!lines_create(&l, t, c, mesh_everywhere[0], mesh_everywhere[1]))
        return false;
    const size_t lines = (size_t)l.count[0] * (size_t)l.count[1];
    for (size_t n = 0; n < lines; n++) {
        const struct hit *from = NULL;
        int sum = 0;
        for (size_t h = l.begin[n]; h < l.begin[n + 1]; h++) {
            sum += l.hit[h].turn;
            if (mesh_holds(facts, sum)) {
                from = from ? from : &l.hit[h];
            } else if (from) {
                add_crossing(b, &l, n, from, &l.hit[h]);
                from = NULL;
            }
        }
    }
    lines_destroy(&l);
    return true;
}

/* Area of thicker sheets in a block and around it. */
static double next_to(const struct blocks *b, int x, int y, int z)
{
    double sum = 0;
    for (int k = z - 1; k <= z + 1; k++)
        for (int j = y - 1; j <= y + 1; j++)
            for (int i = x - 1; i <= x + 1; i++)
                if (i >= 0 && j >= 0 && k >= 0 && i < b->n[0] && j < b->n[1] && k < b->n[2])
                    sum += (double)
                               b->next[((size_t)k * (size_t)b->n[1] + (size_t)j) * (size_t)b->n[0] +
                                       (size_t)i];
    return sum;
}

bool mesh_find_sheets(const struct triangles *t, const double lo[3], const double hi[3],
                      struct mesh_facts *facts)
{
    struct blocks b;
    bool done = blocks_create(&b, lo, hi);
    size_t n = 0;
    for (int axis = 0; axis < 3 && done; axis++)
        done = add_axis(&b, t, axis, facts);
    for (int z = 0; z < b.n[2] && done; z++)
        for (int y = 0; y < b.n[1]; y++)
            for (int x = 0; x < b.n[0]; x++, n++)
                if (b.thin[n] > 0)
                    facts->sheets += fmax((double)b.thin[n] - next_to(&b, x, y, z), 0);
    free(b.thin);
    free(b.next);
    return done;
}
