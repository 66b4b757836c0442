/* Connected parts of the fluid; see pores.h. */
#include "tags/pores.h"

#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "tags/pore_labels.h"

enum { CONNECTED, DEAD_END, CLOSED };

/* Counts parts and their cells, and finds which ends of the region they join. */
static void count_parts(struct pore_labels *l, struct pores *p)
{
    int64_t sums[3] = {0, 0, 0}, cells[3][3] = {{0}}; /* cells: [axis][class] */
    int through[3] = {0, 0, 0};
    uint32_t at = 0;
    for (const struct pore_part *part; (part = pore_labels_next(l, &at));) {
        const bool isolated = pore_labels_isolated(l, part);
        sums[0]++;
        sums[1] += isolated;
        sums[2] += isolated ? part->cells : 0;
        for (int a = 0; a < 3; a++) {
            const bool whole =
                l->d->periodic[a] && l->region.lo[a] == 0 && l->region.hi[a] == l->d->cells[a];
            const uint32_t ends = 3u << (2 * a);
            const uint32_t needed = whole ? (uint32_t)TOUCH_ROUND << a : ends;
            const bool joins = (part->touches & needed) == needed;
            through[a] |= joins;
            cells[a][joins ? CONNECTED : part->touches & ends ? DEAD_END : CLOSED] += part->cells;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT64_T, MPI_SUM, l->d->comm);
    MPI_Allreduce(MPI_IN_PLACE, cells, 9, MPI_INT64_T, MPI_SUM, l->d->comm);
    MPI_Allreduce(MPI_IN_PLACE, through, 3, MPI_INT, MPI_MAX, l->d->comm);
    p->parts = sums[0];
    p->isolated_parts = sums[1];
    p->isolated_cells = sums[2];
    for (int a = 0; a < 3; a++) {
        p->through[a] = through[a];
        p->connected[a] = cells[a][CONNECTED];
        p->dead_end[a] = cells[a][DEAD_END];
        p->closed[a] = cells[a][CLOSED];
    }
}

/* Counts the fluid cells of every plane. */
static enum status count_planes(struct pore_labels *l, struct pores *p)
{
    const struct domain *const d = l->d;
    enum status s = STATUS_OK;
    p->cells = 1;
    for (int a = 0; a < 3; a++) {
        const int planes = l->region.hi[a] - l->region.lo[a];
        p->cells *= planes;
        if (!(p->plane[a] = calloc((size_t)planes, sizeof *p->plane[a])))
            s = fail_machine("out of memory for %d numbers", planes);
    }
    if ((s = status_agree(d->comm, s)))
        return s;
    for (int z = 0; z < d->view.n[2]; z++)
        for (int y = 0; y < d->view.n[1]; y++)
            for (int x = 0; x < d->view.n[0]; x++) {
                if (l->label[pore_labels_place(l, x, y, z)] == PORE_SOLID)
                    continue;
                p->fluid++;
                p->plane[0][d->lo[0] + x - l->region.lo[0]]++;
                p->plane[1][d->lo[1] + y - l->region.lo[1]]++;
                p->plane[2][d->lo[2] + z - l->region.lo[2]]++;
            }
    for (int a = 0; a < 3; a++)
        MPI_Allreduce(MPI_IN_PLACE, p->plane[a], l->region.hi[a] - l->region.lo[a], MPI_INT64_T,
                      MPI_SUM, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, &p->fluid, 1, MPI_INT64_T, MPI_SUM, d->comm);
    return s;
}

enum status pores_find(const struct domain *d, const struct flow_case *c,
                       const struct case_region *region, struct pores *p)
{
    struct pore_labels l;
    *p = (struct pores){0};
    enum status s = pore_labels_make(&l, d, c, region, &p->largest);
    if (s)
        return s;
    s = count_planes(&l, p);
    if (!s)
        count_parts(&l, p);
    else
        pores_destroy(p);
    pore_labels_free(&l);
    return s;
}

void pores_destroy(struct pores *p)
{
    for (int a = 0; a < 3; a++)
        free(p->plane[a]);
    *p = (struct pores){0};
}

/* Labels isolated cells of the region in the block PORE_NONE; other labels stay. Returns their
 * number. */
static int64_t mark_isolated(struct pore_labels *l, const struct case_region *region)
{
    const struct domain *const d = l->d;
    int64_t marked = 0;
    for (int z = 0; z < d->view.n[2]; z++)
        for (int y = 0; y < d->view.n[1]; y++)
            for (int x = 0; x < d->view.n[0]; x++) {
                const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                uint32_t *const label = &l->label[pore_labels_place(l, x, y, z)];
                if (*label == PORE_SOLID || !pore_labels_in(region, g) ||
                    !pore_labels_isolated(l, pore_labels_part(l, *label)))
                    continue;
                *label = PORE_NONE;
                marked++;
            }
    return marked;
}

enum status pores_fill(struct domain *d, const struct flow_case *c,
                       const struct case_region *region, uint8_t row, int64_t *filled)
{
    const struct case_region box = {{0, 0, 0}, {c->cells[0], c->cells[1], c->cells[2]}};
    const struct view *const v = &d->view;
    struct pore_labels l;
    int64_t largest;
    enum status s = pore_labels_make(&l, d, c, &box, &largest);
    if (s)
        return s;
    *filled = mark_isolated(&l, region);
    MPI_Allreduce(MPI_IN_PLACE, filled, 1, MPI_INT64_T, MPI_SUM, d->comm);
    s = pore_labels_exchange(&l);
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2] && !s; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++)
                if (l.label[pore_labels_place(&l, x, y, z)] == PORE_NONE)
                    d->tags[view_index(v, x, y, z)] = row;
    pore_labels_free(&l);
    return s;
}
