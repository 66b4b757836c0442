/* Connected parts of the fluid; see pores.h. */
#include "tags/pores.h"

#include <stdlib.h>
#include <string.h>

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
        for (int y = 0; y < d->view.n[1]; y++) {
            struct pore_run *end;
            for (struct pore_run *r = pore_labels_row(l, y, z, &end); r < end; r++) {
                p->fluid += r->x1 - r->x0;
                for (int x = r->x0; x < r->x1; x++)
                    p->plane[0][d->lo[0] + x - l->region.lo[0]]++;
                p->plane[1][d->lo[1] + y - l->region.lo[1]] += r->x1 - r->x0;
                p->plane[2][d->lo[2] + z - l->region.lo[2]] += r->x1 - r->x0;
            }
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

enum status pores_copy(const struct domain *d, const struct pores *from, struct pores *p,
                       const struct case_region *region)
{
    bool room = true;
    *p = *from;
    for (int a = 0; a < 3; a++) {
        const size_t bytes = (size_t)(region->hi[a] - region->lo[a]) * sizeof *p->plane[a];
        p->plane[a] = malloc(bytes);
        if (p->plane[a])
            memcpy(p->plane[a], from->plane[a], bytes);
        room = room && p->plane[a];
    }
    const enum status s = status_agree(
        d->comm, room ? STATUS_OK : fail_machine("out of memory for the pores of planes"));
    if (s)
        pores_destroy(p);
    return s;
}

void pores_destroy(struct pores *p)
{
    for (int a = 0; a < 3; a++)
        free(p->plane[a]);
    *p = (struct pores){0};
}

/* Labels isolated runs PORE_NONE, gives their cells in the region the cell type `row`, and returns
 * the number of these cells. */
static int64_t fill_block(struct pore_labels *l, struct domain *d, const struct case_region *region,
                          uint8_t row)
{
    int64_t filled = 0;
    for (int z = 0; z < d->view.n[2]; z++)
        for (int y = 0; y < d->view.n[1]; y++) {
            struct pore_run *end;
            for (struct pore_run *r = pore_labels_row(l, y, z, &end); r < end; r++) {
                if (!pore_labels_isolated(l, pore_labels_part(l, r->label)))
                    continue;
                r->label = PORE_NONE;
                for (int x = r->x0; x < r->x1; x++)
                    if (pore_labels_in(region,
                                       (int[3]){d->lo[0] + x, d->lo[1] + y, d->lo[2] + z})) {
                        d->tags[view_index(&d->view, x, y, z)] = row;
                        filled++;
                    }
            }
        }
    return filled;
}

/* The same for the ghost cells, after labels are exchanged. */
static void fill_ghosts(const struct pore_labels *l, struct domain *d,
                        const struct case_region *region, uint8_t row)
{
    const struct view *const v = &d->view;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++) {
            const bool owned = y >= 0 && y < v->n[1] && z >= 0 && z < v->n[2];
            const int step = owned ? v->n[0] + 1 : 1;
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x += step) {
                const int g[3] = {domain_wrap(d, 0, d->lo[0] + x), domain_wrap(d, 1, d->lo[1] + y),
                                  domain_wrap(d, 2, d->lo[2] + z)};
                if ((x < 0 || x >= v->n[0] || !owned) && pore_labels_in(region, g) &&
                    pore_labels_at(l, x, y, z) == PORE_NONE)
                    d->tags[view_index(v, x, y, z)] = row;
            }
        }
}

enum status pores_fill(struct domain *d, const struct flow_case *c,
                       const struct case_region *region, uint8_t row, int64_t *filled)
{
    const struct case_region box = {{0, 0, 0}, {c->cells[0], c->cells[1], c->cells[2]}};
    struct pore_labels l;
    int64_t largest;
    enum status s = pore_labels_make(&l, d, c, &box, &largest);
    if (s)
        return s;
    *filled = fill_block(&l, d, region, row);
    MPI_Allreduce(MPI_IN_PLACE, filled, 1, MPI_INT64_T, MPI_SUM, d->comm);
    s = pore_labels_exchange(&l);
    if (!s)
        fill_ghosts(&l, d, region, row);
    pore_labels_free(&l);
    return s;
}
