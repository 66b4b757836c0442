/* The largest connected parts of the fluid; see chambers.h. */
#include "tags/chambers.h"

#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "tags/pore_labels.h"

/* A part: its number of cells, the first of them, its label. */
struct chamber {
    int64_t cells, cell, label;
};

/* The largest first; of equal ones the one with the first cell. */
static int by_size(const void *left, const void *right)
{
    const struct chamber *const a = left, *const b = right;
    if (a->cells != b->cells)
        return a->cells > b->cells ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

/* The largest parts that this rank gives; unused ones have no cells. */
static void largest_here(struct pore_labels *l, struct chamber best[CHAMBERS + 1])
{
    uint32_t at = 0;
    memset(best, 0, (CHAMBERS + 1) * sizeof *best);
    for (const struct pore_part *p; (p = pore_labels_next(l, &at));) {
        best[CHAMBERS] = (struct chamber){p->cells, p->cell, l->first + at};
        if (p->cells >= best[CHAMBERS - 1].cells)
            qsort(best, CHAMBERS + 1, sizeof *best, by_size);
    }
}

/* The number of a label's chamber. */
static uint8_t number_of(const struct pore_labels *l, const struct chamber *all, int count,
                         uint32_t label)
{
    const int64_t whole = pore_labels_whole(l, label);
    for (int k = 0; k < count; k++)
        if (all[k].label == whole)
            return (uint8_t)k;
    return CHAMBER_NONE;
}

static void number_cells(const struct pore_labels *l, const struct chamber *all, int count,
                         uint8_t *of_cell)
{
    const struct view *const v = &l->d->view;
    memset(of_cell, CHAMBER_NONE, v->cells);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            struct pore_run *end;
            for (struct pore_run *r = pore_labels_row(l, y, z, &end); r < end; r++)
                memset(of_cell + view_index(v, r->x0, y, z), number_of(l, all, count, r->label),
                       (size_t)(r->x1 - r->x0));
        }
}

enum status chambers_find(const struct domain *d, const struct flow_case *c, struct chambers *found,
                          uint8_t *of_cell)
{
    const struct case_region box = {{0, 0, 0}, {c->cells[0], c->cells[1], c->cells[2]}};
    const size_t most = (size_t)d->ranks * CHAMBERS;
    struct chamber mine[CHAMBERS + 1], *const all = calloc(most, sizeof *all);
    struct pore_labels l;
    int64_t largest;
    *found = (struct chambers){.count = 0};
    enum status status = status_agree(
        d->comm, all ? STATUS_OK : fail_machine("out of memory for the parts of the fluid"));
    if (!status)
        status = pore_labels_make(&l, d, c, &box, &largest);
    if (!status) {
        largest_here(&l, mine);
        MPI_Allgather(mine, 3 * CHAMBERS, MPI_INT64_T, all, 3 * CHAMBERS, MPI_INT64_T, d->comm);
        qsort(all, most, sizeof *all, by_size);
        while (found->count < CHAMBERS && all[found->count].cells > 0) {
            found->cells[found->count] = all[found->count].cells;
            found->count++;
        }
        number_cells(&l, all, found->count, of_cell);
        pore_labels_free(&l);
    }
    free(all);
    return status;
}
