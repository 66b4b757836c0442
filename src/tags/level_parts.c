/* Parts of the fluid of a refined grid; see level_parts.h. */
#include "tags/level_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"
#include "base/sets.h"
#include "tags/pore_labels.h"

/* Faces of bricks whose labels the ranks exchange at a time. */
enum { BATCH = 1 << 14 };

/* Parts of two levels that meet. */
struct meeting {
    uint64_t coarse, fine;
};

/* Meetings are the same on all ranks. */
struct level_work {
    struct level_part *part; /* of this rank: of each level, by itself */
    size_t parts;
    struct meeting *meeting;
    size_t meetings, room;    /* meetings that fit */
    uint32_t label[BATCH][2]; /* beside faces of bricks: of the coarse and of the fine cell */
    int count;
};

static uint64_t name_of(int level, uint32_t label)
{
    return (uint64_t)level << 32 | label;
}

/* ---- where two levels meet ---- */

static int by_meeting(const void *left, const void *right)
{
    const struct meeting *a = left, *b = right;
    if (a->coarse != b->coarse)
        return a->coarse < b->coarse ? -1 : 1;
    return (a->fine > b->fine) - (a->fine < b->fine);
}

/* Removes those that are there twice. */
static void reduce(struct level_work *w)
{
    w->meetings = array_unique(w->meeting, w->meetings, sizeof *w->meeting, by_meeting);
}

static bool add(struct level_work *w, const struct meeting *m)
{
    if (w->meetings && by_meeting(&w->meeting[w->meetings - 1], m) == 0)
        return true;
    return array_add_unique(&w->meeting, &w->meetings, &w->room, m, sizeof *m, by_meeting);
}

/* Exchanges the labels of the batch, and adds what meets. Collective. */
static enum status finish_batch(struct level_work *w, const struct domain *fine)
{
    bool room = true;
    if (w->count)
        MPI_Allreduce(MPI_IN_PLACE, w->label, 2 * w->count, MPI_UINT32_T, MPI_MAX, fine->comm);
    for (int k = 0; k < w->count; k++) {
        const struct meeting m = {name_of(fine->level - 1, w->label[k][0]),
                                  name_of(fine->level, w->label[k][1])};
        if (w->label[k][0] != PORE_SOLID && w->label[k][1] != PORE_SOLID)
            room = add(w, &m) && room;
    }
    w->count = 0;
    return status_agree(fine->comm, room ? STATUS_OK
                                         : fail_machine("out of memory for parts of the fluid of "
                                                        "level %d",
                                                        fine->level));
}

/* The label of the whole part of a cell, if it is this rank's; else PORE_SOLID. */
static uint32_t label_of(const struct pore_labels *l, const int g[3])
{
    int at[3];
    for (int a = 0; a < 3; a++) {
        at[a] = g[a] - l->d->lo[a];
        if (at[a] < 0 || at[a] >= l->d->view.n[a])
            return PORE_SOLID;
    }
    const uint32_t label = pore_labels_at(l, at[0], at[1], at[2]);
    return label == PORE_SOLID ? label : pore_labels_whole(l, label);
}

/* Adds a face of the brick with cells lo <= cell < hi of the fine level, if the edge of the level
 * is there. One of its cells is enough: those beside it are alike. */
static void add_face(struct level_work *w, const struct pore_labels *coarse,
                     const struct pore_labels *fine, const int lo[3], const int hi[3], int face)
{
    const struct refined *const r = fine->d->refined;
    const int a = face / 2, level = fine->d->level;
    int inside[3] = {lo[0], lo[1], lo[2]}, outside[3] = {lo[0], lo[1], lo[2]};
    inside[a] = face % 2 ? hi[a] - 1 : lo[a];
    outside[a] = face % 2 ? hi[a] : lo[a] - 1;
    if (!r->periodic[a] && (outside[a] < 0 || outside[a] >= r->level[level].cells[a]))
        return;
    if (refined_holds(r, level, outside[0], outside[1], outside[2]))
        return;
    for (int k = 0; k < 3; k++) {
        const int n = r->level[level].cells[k];
        outside[k] = (outside[k] + n) % n / 2;
    }
    uint32_t *const label = w->label[w->count++];
    label[0] = label_of(coarse, outside);
    label[1] = label_of(fine, inside);
}

/* Finds where the parts of two levels meet. Every rank knows all bricks. Collective. */
static enum status meet(struct level_work *w, const struct pore_labels *coarse,
                        const struct pore_labels *fine)
{
    const struct refined *const r = fine->d->refined;
    const int level = fine->d->level, *const n = r->level[level].n;
    enum status status = STATUS_OK;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const int brick[3] = {x, y, z};
                int lo[3], hi[3];
                for (int a = 0; a < 3; a++) {
                    const int cells = r->level[level].cells[a];
                    lo[a] = (r->level[level].first[a] + brick[a]) * BRICK;
                    hi[a] = lo[a] + BRICK < cells ? lo[a] + BRICK : cells;
                }
                if (!refined_holds(r, level, lo[0], lo[1], lo[2]))
                    continue;
                for (int face = 0; face < 6; face++)
                    add_face(w, coarse, fine, lo, hi, face);
                if (w->count + 6 > BATCH)
                    status = finish_batch(w, fine->d);
                if (status)
                    return status;
            }
    status = finish_batch(w, fine->d);
    reduce(w);
    return status;
}

/* ---- parts ---- */

/* Keeps the parts of a level that this rank has. Collective. */
static enum status keep(struct level_work *w, struct pore_labels *l)
{
    const int level = l->d->level;
    struct level_part *const more = realloc(w->part, (w->parts + l->count + 1) * sizeof *w->part);
    uint32_t at = 0;
    if (more)
        w->part = more;
    for (const struct pore_part *p; more && (p = pore_labels_next(l, &at));)
        w->part[w->parts++] = (struct level_part){
            .name = name_of(level, l->first + at),
            .cells = ldexp((double)p->cells, -refined_dimensions(l->d->refined, 3) * level),
            .cell = level ? INT64_MAX : p->cell,
            .inflow = p->inflow,
            .openings = p->openings};
    return status_agree(l->d->comm,
                        more ? STATUS_OK
                             : fail_machine("out of memory for %u parts of the fluid", l->count));
}

/* Parts of each level, and where they meet. The labels of two levels are kept at a time. */
static enum status find(struct level_work *w, const struct paths_level *level, int levels)
{
    struct pore_labels labels[2] = {{0}};
    enum status status = STATUS_OK;
    for (int l = 0; l < levels && !status; l++) {
        const int *const n = level[l].c->cells;
        const struct case_region all = {{0, 0, 0}, {n[0], n[1], n[2]}};
        struct pore_labels *const own = &labels[l % 2], *const coarse = &labels[1 - l % 2];
        int64_t largest;
        status = pore_labels_make(own, level[l].d, level[l].c, &all, &largest);
        if (!status && l > 0)
            status = meet(w, coarse, own);
        if (!status)
            status = keep(w, own);
        pore_labels_free(coarse);
    }
    for (int k = 0; k < 2; k++)
        pore_labels_free(&labels[k]);
    return status;
}

/* ---- join ---- */

/* The names that meet others, ascending; union-find over them; and, on rank 0, sums at roots. */
struct joined {
    size_t count;
    uint64_t *name;
    uint32_t *set;
    double *cells;
    int64_t *cell, *inflow;
    uint64_t *openings;
};

static int by_name(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* j->count: it meets no other level. */
static uint32_t place_of(const struct joined *j, uint64_t name)
{
    const uint64_t *const found =
        j->count ? bsearch(&name, j->name, j->count, sizeof name, by_name) : NULL;
    return (uint32_t)(found ? (size_t)(found - j->name) : j->count);
}

static void joined_free(struct joined *j)
{
    free(j->name);
    free(j->set);
    free(j->cells);
    free(j->cell);
}

static enum status join(struct joined *j, const struct level_work *w)
{
    const size_t ends = 2 * w->meetings;
    *j = (struct joined){.name = malloc(ends * sizeof *j->name + 1),
                         .set = sets_create(ends),
                         .cells = calloc(ends + 1, sizeof *j->cells),
                         .cell = calloc(3 * ends + 1, sizeof *j->cell)};
    if (!j->name || !j->set || !j->cells || !j->cell)
        return fail_machine("out of memory for %zu parts of the fluid", ends);
    j->inflow = j->cell + ends;
    j->openings = (uint64_t *)(j->cell + 2 * ends);
    for (size_t k = 0; k < w->meetings; k++) {
        j->name[2 * k] = w->meeting[k].coarse;
        j->name[2 * k + 1] = w->meeting[k].fine;
    }
    j->count = array_unique(j->name, ends, sizeof *j->name, by_name);
    for (size_t k = 0; k < j->count; k++)
        j->cell[k] = INT64_MAX;
    for (size_t k = 0; k < w->meetings; k++)
        sets_join(j->set, place_of(j, w->meeting[k].coarse), place_of(j, w->meeting[k].fine));
    return STATUS_OK;
}

/* Moves the parts that meet others to the sums, which rank 0 appends to its parts. Each name is on
 * one rank, so that rank 0 has room for all that it had and gets. */
static enum status sum(struct level_work *w, struct joined *j, MPI_Comm comm)
{
    size_t kept = 0;
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (size_t k = 0; k < w->parts; k++) {
        const struct level_part *const p = &w->part[k];
        const size_t place = place_of(j, p->name);
        if (place == j->count) {
            w->part[kept++] = *p;
            continue;
        }
        const size_t root = sets_root(j->set, (uint32_t)place);
        j->cells[root] += p->cells;
        j->inflow[root] += p->inflow;
        j->openings[root] |= p->openings;
        j->cell[root] = p->cell < j->cell[root] ? p->cell : j->cell[root];
    }
    w->parts = kept;
    const void *const in = MPI_IN_PLACE;
    const int count = (int)j->count;
    MPI_Reduce(rank ? j->cells : in, j->cells, count, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Reduce(rank ? j->inflow : in, j->inflow, count, MPI_INT64_T, MPI_SUM, 0, comm);
    MPI_Reduce(rank ? j->openings : in, j->openings, count, MPI_UINT64_T, MPI_BOR, 0, comm);
    MPI_Reduce(rank ? j->cell : in, j->cell, count, MPI_INT64_T, MPI_MIN, 0, comm);
    struct level_part *const more =
        rank ? w->part : realloc(w->part, (kept + j->count + 1) * sizeof *w->part);
    if (more)
        w->part = more;
    for (size_t k = 0; k < j->count && more && rank == 0; k++)
        if (j->set[k] == k)
            w->part[w->parts++] = (struct level_part){.name = j->name[k],
                                                      .cells = j->cells[k],
                                                      .cell = j->cell[k],
                                                      .inflow = j->inflow[k],
                                                      .openings = j->openings[k]};
    return status_agree(comm,
                        more ? STATUS_OK
                             : fail_machine("out of memory for %zu parts of the fluid", j->count));
}

/* Keeps the names that meet others, with the name of the part that each belongs to. */
static enum status keep_names(struct joined_parts *p, struct joined *j)
{
    p->whole = malloc(j->count * sizeof *p->whole + 1);
    if (!p->whole)
        return fail_machine("out of memory for %zu parts of the fluid", j->count);
    for (size_t k = 0; k < j->count; k++)
        p->whole[k] = j->name[sets_root(j->set, (uint32_t)k)];
    p->name = j->name;
    p->names = j->count;
    j->name = NULL;
    return STATUS_OK;
}

enum status level_parts_make(const struct paths_level *level, int levels, struct joined_parts *p)
{
    const MPI_Comm comm = level->d->comm;
    struct level_work *const w = calloc(1, sizeof *w);
    struct joined j = {0};
    *p = (struct joined_parts){.count = 0};
    enum status status = status_agree(
        comm, w ? STATUS_OK : fail_machine("out of memory for the parts of the fluid"));
    if (!status)
        status = find(w, level, levels);
    if (!status)
        status = status_agree(comm, join(&j, w));
    if (!status)
        status = sum(w, &j, comm);
    if (!status)
        status = status_agree(comm, keep_names(p, &j));
    joined_free(&j);
    if (w) {
        p->part = w->part;
        p->count = w->parts;
        free(w->meeting);
    }
    free(w);
    if (status)
        level_parts_free(p);
    return status;
}

void level_parts_free(struct joined_parts *p)
{
    free(p->part);
    free(p->name);
    free(p->whole);
    *p = (struct joined_parts){.count = 0};
}

uint64_t level_parts_name(const struct joined_parts *p, int level, uint32_t label)
{
    const uint64_t name = name_of(level, label), *const found =
                                                     p->names ? bsearch(&name, p->name, p->names,
                                                                        sizeof name, by_name)
                                                              : NULL;
    return found ? p->whole[found - p->name] : name;
}
