/* The largest connected parts of the fluid; see chambers.h. */
#include "tags/chambers.h"

#include <stdlib.h>
#include <string.h>

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

/* MPI_User_function: the largest parts of two lists. */
static void merge_largest(void *given, void *kept, int *lists, MPI_Datatype *type)
{
    const struct chamber *from = given;
    struct chamber *to = kept, both[2 * CHAMBERS];
    (void)type;
    for (int k = 0; k < *lists; k++, from += CHAMBERS, to += CHAMBERS) {
        memcpy(both, from, CHAMBERS * sizeof *both);
        memcpy(both + CHAMBERS, to, CHAMBERS * sizeof *both);
        qsort(both, 2 * CHAMBERS, sizeof *both, by_size);
        memcpy(to, both, CHAMBERS * sizeof *both);
    }
}

/* The largest parts of all ranks; the bytes sent do not grow with their number. */
static void largest_of_all(MPI_Comm comm, struct chamber best[CHAMBERS])
{
    MPI_Datatype list;
    MPI_Op merge;
    MPI_Type_contiguous(3 * CHAMBERS, MPI_INT64_T, &list);
    MPI_Type_commit(&list);
    MPI_Op_create(merge_largest, 1, &merge);
    MPI_Allreduce(MPI_IN_PLACE, best, 1, list, merge, comm);
    MPI_Op_free(&merge);
    MPI_Type_free(&list);
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
    struct chamber best[CHAMBERS + 1];
    struct pore_labels l;
    int64_t largest;
    *found = (struct chambers){.count = 0};
    const enum status status = pore_labels_make(&l, d, c, &box, &largest);
    if (!status) {
        largest_here(&l, best);
        largest_of_all(d->comm, best);
        while (found->count < CHAMBERS && best[found->count].cells > 0) {
            found->cells[found->count] = best[found->count].cells;
            found->count++;
        }
        number_cells(&l, best, found->count, of_cell);
        pore_labels_free(&l);
    }
    return status;
}
