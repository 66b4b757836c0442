/* Cuts for equal numbers of fluid cells; see balance.h. */
#include "domain/balance.h"

#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "domain/decompose.h"

/* New cuts must reduce the largest block to less than this fraction: blocks of equal length suit
 * vectors and messages. */
static const double gain = 0.98;

/* The types of cells that are fluid. */
static void fluid_types(const struct view *v, uint8_t fluid[TAG_ROWS])
{
    for (int type = 0; type < TAG_ROWS; type++)
        fluid[type] = v->rows[type].fluid != FLUID_none;
}

/* Fluid cells of each plane of the whole box normal to each axis, count[a]: [cells[a]]; collective.
 */
static void count_planes(const struct domain *d, int64_t *count[3])
{
    const struct view *const v = &d->view;
    uint8_t fluid[TAG_ROWS];
    fluid_types(v, fluid);
    for (int a = 0; a < 3; a++)
        memset(count[a], 0, (size_t)d->cells[a] * sizeof *count[a]);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
            int row = 0;
            for (int x = 0; x < v->n[0]; x++) {
                const int is = fluid[tags[x] & TAG_ROW];
                count[0][d->lo[0] + x] += is;
                row += is;
            }
            count[1][d->lo[1] + y] += row;
            count[2][d->lo[2] + z] += row;
        }
    for (int a = 0; a < 3; a++)
        MPI_Allreduce(MPI_IN_PLACE, count[a], d->cells[a], MPI_INT64_T, MPI_SUM, d->comm);
}

/* Sets part[g], the number of the part that plane g belongs to. */
static void number_planes(const int *at, int parts, int *part)
{
    for (int k = 0; k < parts; k++)
        for (int g = at[k]; g < at[k + 1]; g++)
            part[g] = k;
}

/* The largest number of fluid cells in a block with these cuts; collective. `blocks` has room for
 * one number per block, part[a] for one per plane. */
static int64_t largest(const struct domain *d, const int cuts[3], int *const at[3],
                       int *const part[3], int64_t *blocks)
{
    const struct view *const v = &d->view;
    const int count = cuts[0] * cuts[1] * cuts[2];
    uint8_t fluid[TAG_ROWS];
    int64_t most = 0;
    fluid_types(v, fluid);
    for (int a = 0; a < 3; a++)
        number_planes(at[a], cuts[a], part[a]);
    memset(blocks, 0, (size_t)count * sizeof *blocks);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            const int row = (part[2][d->lo[2] + z] * cuts[1] + part[1][d->lo[1] + y]) * cuts[0];
            const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
            for (int x = 0; x < v->n[0]; x++)
                blocks[row + part[0][d->lo[0] + x]] += fluid[tags[x] & TAG_ROW];
        }
    MPI_Allreduce(MPI_IN_PLACE, blocks, count, MPI_INT64_T, MPI_SUM, d->comm);
    for (int k = 0; k < count; k++)
        most = blocks[k] > most ? blocks[k] : most;
    return most;
}

static void swap(int *a[3], int *b[3])
{
    for (int k = 0; k < 3; k++) {
        int *const other = a[k];
        a[k] = b[k];
        b[k] = other;
    }
}

/* Allocates on this rank. */
static bool make_room(struct balance *b, const struct domain *d, const int cuts[3], int *fair[3],
                      int *part[3], int64_t *count[3], int64_t **blocks)
{
    bool room = true;
    for (int a = 0; a < 3; a++) {
        b->at[a] = calloc((size_t)cuts[a] + 1, sizeof *b->at[a]);
        fair[a] = calloc((size_t)cuts[a] + 1, sizeof *fair[a]);
        part[a] = calloc((size_t)d->cells[a], sizeof *part[a]);
        count[a] = calloc((size_t)d->cells[a], sizeof *count[a]);
        room = room && b->at[a] && fair[a] && part[a] && count[a];
    }
    *blocks = calloc((size_t)cuts[0] * (size_t)cuts[1] * (size_t)cuts[2], sizeof **blocks);
    return room && *blocks;
}

enum status balance_create(struct balance *b, const struct domain *d, const int cuts[3])
{
    int *fair[3], *part[3];
    int64_t *count[3], *blocks;
    *b = (struct balance){0};
    enum status status = make_room(b, d, cuts, fair, part, count, &blocks)
                             ? STATUS_OK
                             : fail_machine("out of memory for the cuts of %d x %d x %d blocks",
                                            cuts[0], cuts[1], cuts[2]);
    status = status_agree(d->comm, status);
    if (!status)
        count_planes(d, count);
    for (int a = 0; a < 3 && !status; a++) {
        cut_evenly(d->cells[a], cuts[a], b->at[a]);
        cut_fairly(count[a], d->cells[a], cuts[a], fair[a]);
    }
    if (!status) {
        b->most = largest(d, cuts, b->at, part, blocks);
        const int64_t most = largest(d, cuts, fair, part, blocks);
        b->even = (double)most >= gain * (double)b->most;
        if (!b->even) {
            swap(b->at, fair);
            b->most = most;
        }
        b->imbalance = (double)b->most * cuts[0] * cuts[1] * cuts[2] / (double)d->fluid_cells;
    }
    free(blocks);
    for (int a = 0; a < 3; a++) {
        free(fair[a]);
        free(part[a]);
        free(count[a]);
    }
    if (status)
        balance_destroy(b);
    return status;
}

enum status balance_evenly(struct balance *b, const int cells[3], const int cuts[3])
{
    *b = (struct balance){.even = true};
    for (int a = 0; a < 3; a++) {
        b->at[a] = calloc((size_t)cuts[a] + 1, sizeof *b->at[a]);
        if (!b->at[a]) {
            balance_destroy(b);
            return fail_machine("out of memory for the cuts of %d x %d x %d blocks", cuts[0],
                                cuts[1], cuts[2]);
        }
        cut_evenly(cells[a], cuts[a], b->at[a]);
    }
    return STATUS_OK;
}

void balance_destroy(struct balance *b)
{
    for (int a = 0; a < 3; a++)
        free(b->at[a]);
    *b = (struct balance){0};
}
