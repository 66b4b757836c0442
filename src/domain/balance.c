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

/* The tags of all ranks, and room for `largest`. */
struct tags {
    const struct domain *d;
    int *part[3];    /* one per plane */
    int64_t *blocks; /* one per block */
};

/* The block's first planes, counted from the begin of the part that is cut. */
static void first_plane(const struct domain *d, int lo[3])
{
    for (int a = 0; a < 3; a++)
        lo[a] = d->lo[a] - d->at[a];
}

/* Fluid cells of each plane of the part that is cut, normal to each axis, count[a]: [extent[a]];
 * collective. */
static void count_planes(const void *context, int64_t *const count[3])
{
    const struct domain *const d = ((const struct tags *)context)->d;
    const struct view *const v = &d->view;
    uint8_t fluid[TAG_ROWS];
    int lo[3];
    first_plane(d, lo);
    fluid_types(v, fluid);
    for (int a = 0; a < 3; a++)
        memset(count[a], 0, (size_t)d->extent[a] * sizeof *count[a]);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
            int row = 0;
            for (int x = 0; x < v->n[0]; x++) {
                const int is = fluid[tags[x] & TAG_ROW];
                count[0][lo[0] + x] += is;
                row += is;
            }
            count[1][lo[1] + y] += row;
            count[2][lo[2] + z] += row;
        }
    for (int a = 0; a < 3; a++)
        MPI_Allreduce(MPI_IN_PLACE, count[a], d->extent[a], MPI_INT64_T, MPI_SUM, d->comm);
}

/* Sets part[g], the number of the part that plane g belongs to. */
static void number_planes(const int *at, int parts, int *part)
{
    for (int k = 0; k < parts; k++)
        for (int g = at[k]; g < at[k + 1]; g++)
            part[g] = k;
}

/* The largest number of fluid cells in a block with these cuts; collective. */
static int64_t largest(const void *context, const int cuts[3], int *const at[3])
{
    const struct tags *const t = context;
    const struct domain *const d = t->d;
    const struct view *const v = &d->view;
    int *const *const part = t->part;
    int64_t *const blocks = t->blocks;
    const int count = cuts[0] * cuts[1] * cuts[2];
    uint8_t fluid[TAG_ROWS];
    int64_t most = 0;
    int lo[3];
    first_plane(d, lo);
    fluid_types(v, fluid);
    for (int a = 0; a < 3; a++)
        number_planes(at[a], cuts[a], part[a]);
    memset(blocks, 0, (size_t)count * sizeof *blocks);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            const int row = (part[2][lo[2] + z] * cuts[1] + part[1][lo[1] + y]) * cuts[0];
            const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
            for (int x = 0; x < v->n[0]; x++)
                blocks[row + part[0][lo[0] + x]] += fluid[tags[x] & TAG_ROW];
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

static enum status no_room(const int cuts[3])
{
    return fail_machine("out of memory for the cuts of %d x %d x %d blocks", cuts[0], cuts[1],
                        cuts[2]);
}

/* Takes the fair cuts if they make the largest block smaller, else even ones. */
static void choose(struct balance *b, const struct balance_source *from, const int cuts[3],
                   int *fair[3], int64_t *const count[3])
{
    from->planes(from->context, count);
    for (int a = 0; a < 3; a++) {
        cut_evenly_by(from->cells[a], cuts[a], from->grain, b->at[a]);
        cut_fairly_by(count[a], from->cells[a], cuts[a], from->grain, fair[a]);
    }
    b->most = from->largest(from->context, cuts, b->at);
    const int64_t most = from->largest(from->context, cuts, fair);
    b->even = (double)most >= gain * (double)b->most;
    if (!b->even) {
        swap(b->at, fair);
        b->most = most;
    }
    b->imbalance = (double)b->most * cuts[0] * cuts[1] * cuts[2] / (double)from->fluid;
}

/* Cuts the box if every rank has room. comm: of the ranks, MPI_COMM_SELF: this one decides. */
static enum status cut(struct balance *b, const struct balance_source *from, const int cuts[3],
                       bool room, MPI_Comm comm)
{
    int *fair[3];
    int64_t *count[3];
    *b = (struct balance){0};
    for (int a = 0; a < 3; a++) {
        b->at[a] = calloc((size_t)cuts[a] + 1, sizeof *b->at[a]);
        fair[a] = calloc((size_t)cuts[a] + 1, sizeof *fair[a]);
        count[a] = calloc((size_t)from->cells[a], sizeof *count[a]);
        room = room && b->at[a] && fair[a] && count[a];
    }
    const enum status status = status_agree(comm, room ? STATUS_OK : no_room(cuts));
    if (!status)
        choose(b, from, cuts, fair, count);
    for (int a = 0; a < 3; a++) {
        free(fair[a]);
        free(count[a]);
    }
    if (status)
        balance_destroy(b);
    return status;
}

enum status balance_by(struct balance *b, const struct balance_source *from, const int cuts[3])
{
    return cut(b, from, cuts, true, MPI_COMM_SELF);
}

enum status balance_create(struct balance *b, const struct domain *d, const int cuts[3])
{
    struct tags t = {.d = d};
    const struct balance_source from = {&t,       d->extent,    d->fluid_cells,
                                        d->grain, count_planes, largest};
    t.blocks = calloc((size_t)cuts[0] * (size_t)cuts[1] * (size_t)cuts[2], sizeof *t.blocks);
    bool room = t.blocks;
    for (int a = 0; a < 3; a++) {
        t.part[a] = calloc((size_t)d->extent[a], sizeof *t.part[a]);
        room = room && t.part[a];
    }
    const enum status status = cut(b, &from, cuts, room, d->comm);
    for (int a = 0; a < 3 && !status; a++)
        for (int k = 0; k <= cuts[a]; k++)
            b->at[a][k] += d->at[a];
    for (int a = 0; a < 3; a++)
        free(t.part[a]);
    free(t.blocks);
    return status;
}

void balance_destroy(struct balance *b)
{
    for (int a = 0; a < 3; a++)
        free(b->at[a]);
    *b = (struct balance){0};
}
