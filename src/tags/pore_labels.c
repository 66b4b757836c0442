/* Labels of the parts of the fluid within a block and its ghost layers; see pore_labels.h. */
#include "tags/pore_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "tags/faces.h"

static const int forward[PORE_FORWARD][3] = PORE_LINKS;

bool pore_labels_in(const struct case_region *region, const int g[3])
{
    bool in = true;
    for (int a = 0; a < 3; a++)
        in &= g[a] >= region->lo[a] && g[a] < region->hi[a];
    return in;
}

static uint32_t root_of(uint32_t *label, uint32_t at)
{
    while (label[at] != at) {
        label[at] = label[label[at]];
        at = label[at];
    }
    return at;
}

static uint32_t join(uint32_t *label, uint32_t a, uint32_t b)
{
    const uint32_t x = root_of(label, a), y = root_of(label, b);
    const uint32_t lower = x < y ? x : y;
    label[x] = label[y] = lower;
    return lower;
}

/* Labels every fluid cell with the place of a cell of its part that does not come later; the root
 * is the first cell of the part. */
static void sweep(struct pore_labels *l)
{
    const struct view *const v = &l->d->view;
    ptrdiff_t back[PORE_FORWARD];
    for (size_t k = 0; k < l->all; k++)
        l->label[k] = PORE_NONE;
    for (int i = 0; i < PORE_FORWARD; i++)
        back[i] = -(forward[i][0] + forward[i][1] * (ptrdiff_t)l->row +
                    forward[i][2] * (ptrdiff_t)l->plane);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const int g[3] = {l->d->lo[0] + x, l->d->lo[1] + y, l->d->lo[2] + z};
                if (!view_fluid(v, view_index(v, x, y, z)) || !pore_labels_in(&l->region, g))
                    continue;
                const uint32_t here = (uint32_t)pore_labels_place(l, x, y, z);
                l->label[here] = here;
                for (int i = 0; i < PORE_FORWARD; i++) {
                    const uint32_t there = (uint32_t)((ptrdiff_t)here + back[i]);
                    if (l->label[there] != PORE_NONE)
                        join(l->label, here, there);
                }
            }
}

/* Replaces places by labels 1, 2, .. of the block. */
static void number(struct pore_labels *l)
{
    for (size_t k = 0; k < l->all; k++)
        l->label[k] = l->label[k] == PORE_NONE     ? PORE_SOLID
                      : l->label[k] == (uint32_t)k ? ++l->count
                                                   : l->label[l->label[k]];
}

/* Adds to the part what it touches at cell g of the box, one of this block's. */
static void touch(const struct pore_labels *l, const int g[3], struct pore_part *part)
{
    for (int face = 0; face < 6; face++) {
        const int a = face / 2, end = face % 2 ? l->c->cells[a] - 1 : 0;
        if (g[a] == (face % 2 ? l->region.hi[a] - 1 : l->region.lo[a]))
            part->touches |= 1u << face;
        if (g[a] != end || l->d->periodic[a])
            continue;
        const int opening = faces_opening_at(l->d, l->c, face, g);
        const struct case_face *const what = case_opening(l->c, opening);
        if (face_open(what->kind))
            part->touches |= TOUCH_OPEN;
        part->openings |= (uint64_t)1 << opening;
        part->inflow += (int64_t)(faces_inward(l->d, l->c, opening, face, g) *
                                  signal_mean(&what->signal, l->c->run.steps) * 0x1p30);
    }
}

/* Measures the parts within the block, and makes labels unique among ranks. */
static void measure(struct pore_labels *l)
{
    const int *const n = l->d->view.n;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const int g[3] = {l->d->lo[0] + x, l->d->lo[1] + y, l->d->lo[2] + z};
                uint32_t *const label = &l->label[pore_labels_place(l, x, y, z)];
                if (*label == PORE_SOLID)
                    continue;
                struct pore_part *const part = &l->part[*label - 1];
                if (!part->cells++)
                    part->cell = ((int64_t)g[2] * l->d->cells[1] + g[1]) * l->d->cells[0] + g[0];
                touch(l, g, part);
                *label += l->first;
            }
}

void pore_labels_size(struct pore_labels *l)
{
    const int *const n = l->d->view.n;
    l->row = (size_t)n[0] + 2;
    l->plane = l->row * ((size_t)n[1] + 2);
    l->all = l->plane * ((size_t)n[2] + 2);
}

static enum status label_block(struct pore_labels *l)
{
    enum status s = STATUS_OK;
    pore_labels_size(l);
    if (l->all >= PORE_NONE)
        s = fail_machine("a block of %zu cells is too large to look for pores in (more ranks)",
                         l->all);
    else if (!(l->label = malloc(l->all * sizeof *l->label)))
        s = fail_machine("out of memory for the pores of %zu cells", l->all);
    if (!s) {
        sweep(l);
        number(l);
        l->part = calloc((size_t)l->count + 1, sizeof *l->part);
        if (!l->part)
            s = fail_machine("out of memory for %u parts of the fluid", l->count);
    }
    if ((s = status_agree(l->d->comm, s)))
        return s;
    uint64_t mine = l->count, before = 0;
    MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, l->d->comm);
    MPI_Allreduce(&mine, &l->total, 1, MPI_UINT64_T, MPI_SUM, l->d->comm);
    l->first = l->d->rank ? (uint32_t)before : 0;
    if (l->total >= PORE_NONE)
        return message_rank() ? STATUS_MACHINE
                              : fail_machine("the fluid is in more than 2^32 parts");
    measure(l);
    return STATUS_OK;
}

/* The rank beyond the block along an axis; this rank itself if the axis is periodic and not cut. */
static int rank_beyond(const struct domain *d, int axis, int side)
{
    int block[3] = {d->rank % d->cuts[0], d->rank / d->cuts[0] % d->cuts[1],
                    d->rank / d->cuts[0] / d->cuts[1]};
    block[axis] += side;
    if (block[axis] < 0 || block[axis] >= d->cuts[axis]) {
        if (!d->periodic[axis])
            return MPI_PROC_NULL;
        block[axis] = (block[axis] + d->cuts[axis]) % d->cuts[axis];
    }
    return (block[2] * d->cuts[1] + block[1]) * d->cuts[0] + block[0];
}

/* Copies a layer of labels normal to an axis to `numbers`, or back. The layer includes ghost layers
 * along lower axes. Returns the number of labels. */
static int copy_layer(struct pore_labels *l, int axis, int at, uint32_t *numbers, bool back)
{
    const int *const n = l->d->view.n;
    int lo[3], hi[3], count = 0;
    for (int a = 0; a < 3; a++) {
        lo[a] = a == axis ? at : a < axis ? -1 : 0;
        hi[a] = a == axis ? at + 1 : n[a] + (a < axis);
    }
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++, count++) {
                uint32_t *const label = &l->label[pore_labels_place(l, x, y, z)];
                if (back)
                    *label = numbers[count];
                else
                    numbers[count] = *label;
            }
    return count;
}

enum status pore_labels_exchange(struct pore_labels *l)
{
    const struct domain *const d = l->d;
    const int *const n = d->view.n;
    size_t most = 0;
    for (int a = 0; a < 3; a++) {
        const size_t layer = (size_t)(n[(a + 1) % 3] + 2) * (size_t)(n[(a + 2) % 3] + 2);
        most = layer > most ? layer : most;
    }
    uint32_t *const out = malloc(2 * most * sizeof *out), *const in = out + most;
    enum status s = out ? STATUS_OK : fail_machine("out of memory for a layer of %zu cells", most);
    s = status_agree(d->comm, s);
    for (int a = 0; a < 3 && !s; a++)
        for (int side = -1; side <= 1; side += 2) {
            const int to = rank_beyond(d, a, side), from = rank_beyond(d, a, -side);
            const int count = copy_layer(l, a, side < 0 ? 0 : n[a] - 1, out, false);
            memset(in, 0, (size_t)count * sizeof *in);
            MPI_Sendrecv(out, count, MPI_UINT32_T, to, a, in, count, MPI_UINT32_T, from, a, d->comm,
                         MPI_STATUS_IGNORE);
            copy_layer(l, a, side < 0 ? n[a] : -1, in, true);
        }
    free(out);
    return s;
}

/* If no part has flow through it, the largest is kept; of equal ones the first. */
static void keep_largest(struct pore_labels *l, int64_t *largest)
{
    uint32_t at = 0;
    int flows = 0;
    int64_t first = INT64_MAX;
    *largest = 0;
    for (const struct pore_part *p; (p = pore_labels_next(l, &at));) {
        flows |= (p->touches & TOUCH_FLOW) != 0;
        *largest = p->cells > *largest ? p->cells : *largest;
    }
    MPI_Allreduce(MPI_IN_PLACE, &flows, 1, MPI_INT, MPI_MAX, l->d->comm);
    MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_INT64_T, MPI_MAX, l->d->comm);
    at = 0;
    for (const struct pore_part *p; (p = pore_labels_next(l, &at));)
        if (p->cells == *largest && p->cell < first)
            first = p->cell;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, l->d->comm);
    l->kept = flows ? -1 : first;
}

void pore_labels_free(struct pore_labels *l)
{
    free(l->label);
    free(l->part);
    free(l->pairs);
    free(l->node);
    free(l->joined);
    free(l->whole);
    *l = (struct pore_labels){0};
}

enum status pore_labels_make(struct pore_labels *l, const struct domain *d,
                             const struct flow_case *c, const struct case_region *region,
                             int64_t *largest)
{
    *l = (struct pore_labels){.d = d, .c = c, .region = *region};
    enum status s = label_block(l);
    if (!s)
        s = pore_labels_exchange(l);
    if (!s)
        s = pore_labels_join(l);
    if (s)
        pore_labels_free(l);
    else
        keep_largest(l, largest);
    return s;
}
