/* The largest connected parts of the fluid; see chambers.h. */
#include "tags/chambers.h"

#include <stdlib.h>
#include <string.h>

#include "tags/pore_labels.h"

struct chamber {
    double cells;  /* in cells of level 0 */
    int64_t cell;  /* first cell on level 0 */
    uint64_t name; /* see level_parts.h */
};

/* The largest first; of equal ones the one with the first cell, or with the first name, if there is
 * no cell of level 0. */
static int by_size(const void *left, const void *right)
{
    const struct chamber *const a = left, *const b = right;
    if (a->cells != b->cells)
        return a->cells > b->cells ? -1 : 1;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

/* The largest parts that this rank gives; unused ones have no cells. */
static void largest_here(const struct joined_parts *p, struct chamber best[CHAMBERS + 1])
{
    memset(best, 0, (CHAMBERS + 1) * sizeof *best);
    for (size_t k = 0; k < p->count; k++) {
        best[CHAMBERS] = (struct chamber){p->part[k].cells, p->part[k].cell, p->part[k].name};
        if (p->part[k].cells >= best[CHAMBERS - 1].cells)
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
    MPI_Type_contiguous(CHAMBERS * (int)sizeof *best, MPI_BYTE, &list);
    MPI_Type_commit(&list);
    MPI_Op_create(merge_largest, 1, &merge);
    MPI_Allreduce(MPI_IN_PLACE, best, 1, list, merge, comm);
    MPI_Op_free(&merge);
    MPI_Type_free(&list);
}

/* The number of a label's chamber. */
static uint8_t number_of(const struct chambers *all, const struct pore_labels *l, uint32_t label)
{
    const uint64_t name = level_parts_name(&all->parts, l->d->level, pore_labels_whole(l, label));
    for (int k = 0; k < all->count; k++)
        if (all->name[k] == name)
            return (uint8_t)k;
    return CHAMBER_NONE;
}

enum status chambers_number(const struct chambers *found, const struct paths_level *level,
                            uint8_t *of_cell)
{
    const struct view *const v = &level->d->view;
    const int *const n = level->c->cells;
    const struct case_region box = {{0, 0, 0}, {n[0], n[1], n[2]}};
    struct pore_labels l;
    int64_t largest;
    const enum status status = pore_labels_make(&l, level->d, level->c, &box, &largest);
    if (status)
        return status;
    memset(of_cell, CHAMBER_NONE, v->cells);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            struct pore_run *end;
            for (struct pore_run *r = pore_labels_row(&l, y, z, &end); r < end; r++)
                memset(of_cell + view_index(v, r->x0, y, z), number_of(found, &l, r->label),
                       (size_t)(r->x1 - r->x0));
        }
    pore_labels_free(&l);
    return STATUS_OK;
}

enum status chambers_find(const struct paths_level *level, int levels, struct chambers *found)
{
    struct chamber best[CHAMBERS + 1];
    *found = (struct chambers){.count = 0};
    const enum status status = level_parts_make(level, levels, &found->parts);
    if (status)
        return status;
    largest_here(&found->parts, best);
    largest_of_all(level->d->comm, best);
    for (int *const k = &found->count; *k < CHAMBERS && best[*k].cells > 0; ++*k) {
        found->cells[*k] = best[*k].cells;
        found->name[*k] = best[*k].name;
    }
    return STATUS_OK;
}

void chambers_free(struct chambers *found)
{
    level_parts_free(&found->parts);
}
