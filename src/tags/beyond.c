/* Numbers of the cells one beyond a block; see beyond.h. */
#include "tags/beyond.h"

#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"

/* The cells of the layers of an axis, at coordinate `at`: lo <= cell < hi. Returns their number. */
static size_t layer(const struct domain *d, int axis, int at, int lo[3], int hi[3])
{
    size_t cells = 1;
    for (int a = 0; a < 3; a++) {
        lo[a] = a == axis ? at : a < axis ? -1 : 0;
        hi[a] = a == axis ? at + 1 : d->view.n[a] + (a < axis);
        cells *= (size_t)(hi[a] - lo[a]);
    }
    return cells;
}

uint32_t beyond_at(const struct beyond *b, int x, int y, int z)
{
    const int at[3] = {x, y, z}, *const n = b->d->view.n;
    int lo[3], hi[3], axis = 2;
    while (axis > 0 && at[axis] >= 0 && at[axis] < n[axis])
        axis--;
    layer(b->d, axis, at[axis], lo, hi);
    const size_t row = (size_t)(hi[0] - lo[0]), plane = row * (size_t)(hi[1] - lo[1]);
    return b->side[2 * axis + (at[axis] >= 0)]
                  [(size_t)(z - lo[2]) * plane + (size_t)(y - lo[1]) * row + (size_t)(x - lo[0])];
}

/* The rank beyond the block along an axis; this rank itself if the axis is periodic and not cut. */
static int rank_beyond(const struct domain *d, int axis, int side)
{
    int at[3] = {d->lo[0], d->lo[1], d->lo[2]};
    at[axis] = domain_wrap(d, axis, at[axis] + (side < 0 ? -1 : d->view.n[axis]));
    return domain_owner(d, at);
}

/* Sends the owned layer of a side, and receives the layer beyond the other side. */
static void exchange_side(struct beyond *b, int axis, int side, beyond_own *own,
                          const void *context, uint32_t *out)
{
    const struct domain *const d = b->d;
    const int *const n = d->view.n;
    int lo[3], hi[3], count = 0;
    layer(d, axis, side < 0 ? 0 : n[axis] - 1, lo, hi);
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++) {
                const bool inside = x >= 0 && x < n[0] && y >= 0 && y < n[1] && z >= 0 && z < n[2];
                out[count++] = inside ? own(context, x, y, z) : beyond_at(b, x, y, z);
            }
    MPI_Sendrecv(out, count, MPI_UINT32_T, rank_beyond(d, axis, side), axis,
                 b->side[2 * axis + (side < 0)], count, MPI_UINT32_T, rank_beyond(d, axis, -side),
                 axis, d->comm, MPI_STATUS_IGNORE);
}

enum status beyond_exchange(struct beyond *b, const struct domain *d, beyond_own *own,
                            const void *context)
{
    size_t most = 0;
    bool room = true;
    int lo[3], hi[3];
    *b = (struct beyond){.d = d};
    for (int side = 0; side < 6; side++) {
        const size_t cells = layer(d, side / 2, 0, lo, hi);
        most = cells > most ? cells : most;
        room = (b->side[side] = calloc(cells, sizeof *b->side[side])) && room;
    }
    uint32_t *const out = malloc(most * sizeof *out);
    const enum status s = status_agree(
        d->comm,
        room && out ? STATUS_OK : fail_machine("out of memory for a layer of %zu cells", most));
    for (int a = 0; a < 3 && !s; a++)
        for (int side = -1; side <= 1; side += 2)
            exchange_side(b, a, side, own, context, out);
    free(out);
    if (s)
        beyond_free(b);
    return s;
}

void beyond_free(struct beyond *b)
{
    for (int side = 0; side < 6; side++)
        free(b->side[side]);
    *b = (struct beyond){0};
}
