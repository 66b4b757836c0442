/* Tags of any block, from the ranks that have them; see part.h. */
#include "tags/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/box.h"
#include "base/message.h"

/* Most bytes of a message, and shifts of a block by lengths of the box. */
enum { MESSAGE = 1 << 30, SHIFTS = 27 };

bool part_same(const struct domain *part, const struct domain *d)
{
    bool same = true;
    for (int a = 0; a < 3; a++)
        same = same && part->lo[a] == d->lo[a] && part->view.n[a] == d->view.n[a] &&
               part->view.ghost[a] == d->view.ghost[a];
    return same;
}

/* The cells whose tags a rank gives: its own, and those beyond faces of the box, or of the part of
 * it that is cut. */
static struct box given_by(const struct domain *d)
{
    struct box c;
    for (int a = 0; a < 3; a++) {
        c.lo[a] = d->lo[a];
        c.hi[a] = d->lo[a] + d->view.n[a];
        c.lo[a] -= c.lo[a] == d->at[a] && !d->periodic[a];
        c.hi[a] += c.hi[a] == d->at[a] + d->extent[a] && !d->periodic[a];
    }
    return c;
}

/* The cells of planes `first` to `first` + `planes` - 1 of a part with its ghost layers. */
static struct box wanted_by(const struct domain *part, int64_t first, int planes)
{
    struct box c = {.lo = {0, 0, 0}};
    for (int a = 0; a < 3 && part; a++) {
        c.lo[a] = part->lo[a] - part->view.ghost[a];
        c.hi[a] = part->lo[a] + part->view.n[a] + part->view.ghost[a];
    }
    if (part && c.lo[2] + first < c.hi[2]) {
        c.lo[2] += (int)first;
        c.hi[2] = c.lo[2] + planes < c.hi[2] ? c.lo[2] + planes : c.hi[2];
    } else {
        c.hi[2] = c.lo[2];
    }
    return c;
}

/* The given cells that are wanted, when those are shifted by whole boxes along periodic axes. */
static bool overlap(const struct domain *d, const struct box *given, const struct box *wanted,
                    int number, struct box *both, int shift[3])
{
    bool allowed = true;
    for (int a = 0, rest = number; a < 3; a++, rest /= 3) {
        shift[a] = (rest % 3 - 1) * d->cells[a];
        allowed = allowed && (!shift[a] || d->periodic[a]);
    }
    const struct box moved = box_moved(wanted, shift, 1);
    *both = box_common(&moved, given);
    return allowed && !box_is_empty(both);
}

/* The tags of a block's cells as an MPI type, and the first of them. */
static uint8_t *tags_of(const struct domain *d, const struct box *c, const int shift[3],
                        MPI_Datatype *type)
{
    const struct view *const v = &d->view;
    int at[3], n[3];
    MPI_Datatype plane;
    for (int a = 0; a < 3; a++) {
        at[a] = c->lo[a] - shift[a] - d->lo[a];
        n[a] = c->hi[a] - c->lo[a];
    }
    MPI_Type_create_hvector(n[1], n[0], (MPI_Aint)v->row, MPI_BYTE, &plane);
    MPI_Type_create_hvector(n[2], 1, (MPI_Aint)v->plane, plane, type);
    MPI_Type_commit(type);
    MPI_Type_free(&plane);
    return d->tags + owned_index(v, at[0], at[1], at[2]);
}

/* Exchanges the tags of these cells of each rank's part. requests: room for 2 SHIFTS a rank */
static void exchange(const struct domain *part, const struct domain *d, const struct box *given,
                     const struct box *wanted, MPI_Request *requests)
{
    static const int none[3] = {0, 0, 0};
    struct box both;
    MPI_Datatype type;
    int shift[3], count = 0;
    for (int rank = 0; rank < d->ranks; rank++)
        for (int k = 0; k < SHIFTS; k++) {
            if (overlap(d, &given[rank], &wanted[d->rank], k, &both, shift)) {
                uint8_t *const to = tags_of(part, &both, shift, &type);
                MPI_Irecv(to, 1, type, rank, k, d->comm, &requests[count++]);
                MPI_Type_free(&type);
            }
            if (overlap(d, &given[d->rank], &wanted[rank], k, &both, shift)) {
                const uint8_t *const from = tags_of(d, &both, none, &type);
                MPI_Isend(from, 1, type, rank, k, d->comm, &requests[count++]);
                MPI_Type_free(&type);
            }
        }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

enum status part_tags(struct domain *part, const struct domain *d)
{
    const size_t ranks = (size_t)d->ranks;
    struct box *const given = malloc(2 * ranks * sizeof *given), *const wanted = given + ranks;
    MPI_Request *const requests = malloc(2 * SHIFTS * ranks * sizeof *requests);
    enum status s =
        status_agree(d->comm, given && requests ? STATUS_OK
                                                : fail_machine("out of memory for the parts of %d "
                                                               "ranks",
                                                               d->ranks));
    int64_t planes = 0, deep = MESSAGE;
    if (part) {
        const struct view *const v = &part->view;
        planes = v->n[2] + 2 * v->ghost[2];
        deep = MESSAGE / (v->plane > 0 ? v->plane : 1);
        memset(part->tags, TAG_FLUID, v->cells);
    }
    deep = deep > 1 ? deep : 1;
    MPI_Allreduce(MPI_IN_PLACE, &planes, 1, MPI_INT64_T, MPI_MAX, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, &deep, 1, MPI_INT64_T, MPI_MIN, d->comm);
    for (int64_t first = 0; first < planes && !s; first += deep) {
        const struct box own[2] = {given_by(d), wanted_by(part, first, (int)deep)};
        MPI_Allgather(&own[0], sizeof *own, MPI_BYTE, given, sizeof *own, MPI_BYTE, d->comm);
        MPI_Allgather(&own[1], sizeof *own, MPI_BYTE, wanted, sizeof *own, MPI_BYTE, d->comm);
        exchange(part, d, given, wanted, requests);
    }
    free(given);
    free(requests);
    return s;
}
