/* Which fluid cells are joined; see pores.h.
 *
 * Each rank labels the parts within its block by union-find (Hoshen and Kopelman, Phys. Rev. B 14,
 * 3438 (1976), for the sweep in rows). Labels of the layers beyond the block come from its
 * neighbours, and the pairs of labels that links across make go to all ranks, which join them
 * alike. Each pair carries through which ends of periodic axes its link goes; a part that is joined
 * to itself with a sum that is not 0 goes round (Machta et al., Phys. Rev. E 54, 1332 (1996)). */
#include "domain/pores.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "lattice.h"

enum { SOLID = 0, FORWARD = 9 };

/* No cell's place and no part's label. */
static const uint32_t none = UINT32_MAX;

/* Of each pair of opposite links one: those to cells that come later in a sweep. */
static const int forward[FORWARD][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {-1, 1, 0},
                                        {1, 0, 1}, {-1, 0, 1}, {0, 1, 1}, {0, -1, 1}};

/* What a part touches, bits: the lower and upper end of the region along axis a, 2 a and 2 a + 1;
 * an open face; and axes that it goes round, TOUCH_ROUND << a. */
enum { TOUCH_OPEN = 1 << 6, TOUCH_ROUND = 1 << 7, TOUCH_FLOW = TOUCH_OPEN | 7 * TOUCH_ROUND };

struct part {
    int64_t cells, cell; /* how many, and the first of them in the box */
    uint32_t touches;
};

/* A link across the edge of a block joins these labels; `shift`: how often it passes the end of the
 * box along each axis, as (s[0] + 1) + 3 (s[1] + 1) + 9 (s[2] + 1). */
struct pair {
    uint32_t from, to, shift;
};

/* Parts while they are joined: where a label lies from its parent, in boxes. */
struct joined {
    uint32_t parent;
    int shift[3];
};

struct labels {
    const struct domain *d;
    const struct flow_case *c;
    struct case_region region;
    size_t row, plane, all;
    uint32_t *label; /* [n[2] + 2][n[1] + 2][n[0] + 2]; from 1 on, those of all ranks are apart */
    uint32_t first, count; /* labels of this rank: first + 1 .. first + count */
    uint64_t total;        /* of all ranks */
    struct part *part;     /* [count] */
    struct pair *pairs;    /* of all ranks */
    size_t pair_count, room;
    uint32_t *node;        /* [nodes] the labels in pairs, ascending */
    struct joined *joined; /* [nodes] */
    struct part *whole;    /* [nodes] what the part is in all, at its root */
    size_t nodes;
    int64_t kept; /* first cell of a part that is not isolated although it looks so; -1 */
};

static size_t place(const struct labels *l, int x, int y, int z)
{
    return (size_t)(z + 1) * l->plane + (size_t)(y + 1) * l->row + (size_t)(x + 1);
}

static bool in_region(const struct case_region *region, const int g[3])
{
    bool in = true;
    for (int a = 0; a < 3; a++)
        in &= g[a] >= region->lo[a] && g[a] < region->hi[a];
    return in;
}

/* ---- within the block ---- */

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

/* Every cell becomes the place of one of its part, none later than itself: the root is the first.
 */
static void sweep(struct labels *l)
{
    const struct view *const v = &l->d->view;
    ptrdiff_t back[FORWARD];
    for (size_t k = 0; k < l->all; k++)
        l->label[k] = none;
    for (int i = 0; i < FORWARD; i++)
        back[i] = -(forward[i][0] + forward[i][1] * (ptrdiff_t)l->row +
                    forward[i][2] * (ptrdiff_t)l->plane);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const int g[3] = {l->d->lo[0] + x, l->d->lo[1] + y, l->d->lo[2] + z};
                if (!view_fluid(v, view_index(v, x, y, z)) || !in_region(&l->region, g))
                    continue;
                const uint32_t here = (uint32_t)place(l, x, y, z);
                l->label[here] = here;
                for (int i = 0; i < FORWARD; i++) {
                    const uint32_t there = (uint32_t)((ptrdiff_t)here + back[i]);
                    if (l->label[there] != none)
                        join(l->label, here, there);
                }
            }
}

/* Places become labels 1, 2, .. of the block. */
static void number(struct labels *l)
{
    for (size_t k = 0; k < l->all; k++)
        l->label[k] = l->label[k] == none          ? SOLID
                      : l->label[k] == (uint32_t)k ? ++l->count
                                                   : l->label[l->label[k]];
}

/* Is this face open here? A later patch counts. i, j: cells along the face's axes, ascending. */
static bool is_open(const struct flow_case *c, int face, int i, int j)
{
    enum face_kind kind = c->faces[face].kind;
    for (const struct case_patch *p = c->patches; p < c->patches + c->patch_count; p++)
        if (p->face == face && patch_holds(p, c->cells, i, j))
            kind = p->opening.kind;
    return kind == FACE_velocity || kind == FACE_pressure || kind == FACE_outflow ||
           kind == FACE_nonreflecting;
}

static uint32_t touches(const struct labels *l, const int g[3])
{
    uint32_t bits = 0;
    for (int face = 0; face < 6; face++) {
        int axes[2];
        const int a = face / 2, end = face % 2 ? l->c->cells[a] - 1 : 0;
        if (g[a] == (face % 2 ? l->region.hi[a] - 1 : l->region.lo[a]))
            bits |= 1u << face;
        face_axes(face, axes);
        if (g[a] == end && is_open(l->c, face, g[axes[0]], g[axes[1]]))
            bits |= TOUCH_OPEN;
    }
    return bits;
}

/* Cells and ends of the parts in the block, and labels that are this rank's alone. */
static void measure(struct labels *l)
{
    const int *const n = l->d->view.n;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const int g[3] = {l->d->lo[0] + x, l->d->lo[1] + y, l->d->lo[2] + z};
                uint32_t *const label = &l->label[place(l, x, y, z)];
                if (*label == SOLID)
                    continue;
                struct part *const part = &l->part[*label - 1];
                if (!part->cells++)
                    part->cell = ((int64_t)g[2] * l->d->cells[1] + g[1]) * l->d->cells[0] + g[0];
                part->touches |= touches(l, g);
                *label += l->first;
            }
}

static enum status label_block(struct labels *l)
{
    const int *const n = l->d->view.n;
    enum status s = STATUS_OK;
    l->row = (size_t)n[0] + 2;
    l->plane = l->row * ((size_t)n[1] + 2);
    l->all = l->plane * ((size_t)n[2] + 2);
    if (l->all >= none)
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
    if (l->total >= none)
        return message_rank() ? STATUS_MACHINE
                              : fail_machine("the fluid is in more than 2^32 parts");
    measure(l);
    return STATUS_OK;
}

/* ---- across blocks ---- */

/* The rank beyond the block along an axis, this one where it is the block's own other end. */
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

/* A layer of labels across an axis to or from a row of numbers; of the axes before, ghost layers
 * belong to it. */
static int copy_layer(struct labels *l, int axis, int at, uint32_t *numbers, bool back)
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
                uint32_t *const label = &l->label[place(l, x, y, z)];
                if (back)
                    *label = numbers[count];
                else
                    numbers[count] = *label;
            }
    return count;
}

/* Labels beyond the block, axis after axis, so that those beyond edges come, too. */
static enum status exchange(struct labels *l)
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

static int by_pair(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->shift > b->shift) - (a->shift < b->shift);
}

/* Each pair once. */
static void reduce_pairs(struct labels *l)
{
    size_t kept = 0;
    if (l->pair_count)
        qsort(l->pairs, l->pair_count, sizeof *l->pairs, by_pair);
    for (size_t k = 0; k < l->pair_count; k++)
        if (!kept || by_pair(&l->pairs[kept - 1], &l->pairs[k]) != 0)
            l->pairs[kept++] = l->pairs[k];
    l->pair_count = kept;
}

static bool add_pair(struct labels *l, struct pair p)
{
    if (l->pair_count && by_pair(&l->pairs[l->pair_count - 1], &p) == 0)
        return true;
    if (l->pair_count == l->room)
        reduce_pairs(l);
    if (l->room - l->pair_count <= l->room / 4) {
        const size_t room = l->room ? 2 * l->room : 1024;
        struct pair *const more = realloc(l->pairs, room * sizeof *more);
        if (!more)
            return false;
        l->pairs = more;
        l->room = room;
    }
    l->pairs[l->pair_count++] = p;
    return true;
}

/* Links out of the block of the cell at x, y, z. */
static bool add_links(struct labels *l, const int at[3])
{
    const struct domain *const d = l->d;
    const uint32_t here = l->label[place(l, at[0], at[1], at[2])];
    bool ok = true;
    for (int i = 0; i < FORWARD && here != SOLID; i++) {
        struct pair p = {.from = here};
        bool out = false;
        int to[3];
        for (int a = 2; a >= 0; a--) {
            to[a] = at[a] + forward[i][a];
            out |= to[a] < 0 || to[a] >= d->view.n[a];
            const int g = d->lo[a] + to[a], shift = g < 0 ? -1 : g >= d->cells[a];
            p.shift = 3 * p.shift + (uint32_t)(shift + 1);
        }
        p.to = l->label[place(l, to[0], to[1], to[2])];
        if (out && p.to != SOLID)
            ok &= add_pair(l, p);
    }
    return ok;
}

/* Pairs that this rank's cells make. */
static bool own_pairs(struct labels *l)
{
    const int *const n = l->d->view.n;
    bool ok = true;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++) {
            const bool inner = z > 0 && z < n[2] - 1 && y > 0 && y < n[1] - 1;
            const int step = inner && n[0] > 1 ? n[0] - 1 : 1;
            for (int x = 0; x < n[0]; x += step)
                ok &= add_links(l, (int[3]){x, y, z});
        }
    reduce_pairs(l);
    return ok;
}

/* Everybody's pairs on every rank. */
static enum status gather_pairs(struct labels *l)
{
    const struct domain *const d = l->d;
    const size_t unit = sizeof *l->pairs / sizeof(uint32_t);
    int *const counts = malloc(2 * (size_t)d->ranks * sizeof *counts), *const starts =
                                                                           counts + d->ranks;
    uint64_t all = l->pair_count * unit;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, d->comm);
    struct pair *const pairs = malloc((size_t)all * sizeof(uint32_t) + 1);
    enum status s = STATUS_OK;
    if (!counts || !pairs || all > INT_MAX)
        s = fail_machine("no room for the %.3g links between parts of the fluid",
                         (double)all / (double)unit);
    if ((s = status_agree(d->comm, s)))
        goto done;
    int mine = (int)(l->pair_count * unit), start = 0;
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, d->comm);
    for (int k = 0; k < d->ranks; start += counts[k++])
        starts[k] = start;
    MPI_Allgatherv(l->pairs, mine, MPI_UINT32_T, pairs, counts, starts, MPI_UINT32_T, d->comm);
    free(l->pairs);
    l->pairs = pairs;
    l->pair_count = (size_t)all / unit;
    reduce_pairs(l);
done:
    if (s)
        free(pairs);
    free(counts);
    return s;
}

/* ---- joining ---- */

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Where a label is among the nodes; l->nodes: it is in no pair. */
static size_t node_of(const struct labels *l, uint32_t label)
{
    const uint32_t *const found =
        l->nodes ? bsearch(&label, l->node, l->nodes, sizeof label, by_number) : NULL;
    return found ? (size_t)(found - l->node) : l->nodes;
}

static enum status make_nodes(struct labels *l)
{
    const size_t ends = 2 * l->pair_count;
    l->node = malloc(ends * sizeof *l->node + 1);
    l->joined = malloc(ends * sizeof *l->joined + 1);
    l->whole = calloc(ends + 1, sizeof *l->whole);
    if (!l->node || !l->joined || !l->whole)
        return fail_machine("out of memory for %zu parts of the fluid", ends);
    for (size_t k = 0; k < l->pair_count; k++) {
        l->node[2 * k] = l->pairs[k].from;
        l->node[2 * k + 1] = l->pairs[k].to;
    }
    if (ends)
        qsort(l->node, ends, sizeof *l->node, by_number);
    for (size_t k = 0; k < ends; k++)
        if (!l->nodes || l->node[l->nodes - 1] != l->node[k])
            l->node[l->nodes++] = l->node[k];
    for (size_t k = 0; k < l->nodes; k++)
        l->joined[k] = (struct joined){.parent = (uint32_t)k};
    return STATUS_OK;
}

/* The root of a node; its shift is from there then. Paths are made short in two passes. */
static uint32_t joined_root(struct joined *j, uint32_t at)
{
    uint32_t root = at;
    int sum[3] = {0, 0, 0};
    for (; j[root].parent != root; root = j[root].parent)
        for (int a = 0; a < 3; a++)
            sum[a] += j[root].shift[a];
    while (j[at].parent != root && at != root) {
        const uint32_t next = j[at].parent;
        for (int a = 0; a < 3; a++) {
            const int step = j[at].shift[a];
            j[at].shift[a] = sum[a];
            sum[a] -= step;
        }
        j[at].parent = root;
        at = next;
    }
    return root;
}

/* `to` lies `shift` boxes beyond `from`. */
static void join_pair(struct labels *l, const struct pair *p)
{
    const uint32_t from = (uint32_t)node_of(l, p->from), to = (uint32_t)node_of(l, p->to);
    const uint32_t a = joined_root(l->joined, from), b = joined_root(l->joined, to);
    const int digits[3] = {(int)(p->shift % 3), (int)(p->shift / 3 % 3), (int)(p->shift / 9)};
    for (int k = 0; k < 3; k++) {
        const int apart = l->joined[from].shift[k] + digits[k] - 1 - l->joined[to].shift[k];
        if (a != b)
            l->joined[b].shift[k] = apart;
        else if (apart)
            l->whole[a].touches |= TOUCH_ROUND << k;
    }
    if (a != b) {
        l->joined[b].parent = a;
        l->whole[a].touches |= l->whole[b].touches;
    }
}

/* Cells, ends and first cells of whole parts, at their roots, from what the ranks know of them. */
static enum status sum_wholes(struct labels *l)
{
    const int count = (int)l->nodes;
    int64_t *const cells = malloc(2 * l->nodes * sizeof *cells + 1), *const first = cells + count;
    uint32_t *const bits = malloc(l->nodes * sizeof *bits + 1);
    enum status s = STATUS_OK;
    if (!cells || !bits)
        s = fail_machine("out of memory for %zu parts of the fluid", l->nodes);
    s = status_agree(l->d->comm, s);
    for (size_t k = 0; k < l->nodes && !s; k++) {
        cells[k] = 0;
        first[k] = INT64_MAX;
        bits[k] = l->whole[k].touches;
    }
    for (size_t k = 0; k < l->nodes && !s; k++) {
        const uint32_t label = l->node[k], root = joined_root(l->joined, (uint32_t)k);
        if (label <= l->first || label > l->first + l->count)
            continue;
        const struct part *const part = &l->part[label - l->first - 1];
        cells[root] += part->cells;
        first[root] = part->cell < first[root] ? part->cell : first[root];
        bits[root] |= part->touches;
    }
    if (!s) {
        MPI_Allreduce(MPI_IN_PLACE, cells, count, MPI_INT64_T, MPI_SUM, l->d->comm);
        MPI_Allreduce(MPI_IN_PLACE, first, count, MPI_INT64_T, MPI_MIN, l->d->comm);
        MPI_Allreduce(MPI_IN_PLACE, bits, count, MPI_UINT32_T, MPI_BOR, l->d->comm);
    }
    for (size_t k = 0; k < l->nodes && !s; k++)
        l->whole[k] = (struct part){cells[k], first[k], bits[k]};
    free(cells);
    free(bits);
    return s;
}

static enum status join_all(struct labels *l)
{
    const enum status s = status_agree(l->d->comm, make_nodes(l));
    if (s)
        return s;
    for (size_t k = 0; k < l->pair_count; k++)
        join_pair(l, &l->pairs[k]);
    return sum_wholes(l);
}

/* ---- what comes of it ---- */

/* The whole part that a label of this rank belongs to. */
static const struct part *part_of(struct labels *l, uint32_t label)
{
    const size_t node = node_of(l, label);
    return node < l->nodes ? &l->whole[joined_root(l->joined, (uint32_t)node)]
                           : &l->part[label - l->first - 1];
}

static bool is_isolated(const struct labels *l, const struct part *part)
{
    return !(part->touches & TOUCH_FLOW) && part->cell != l->kept;
}

/* Every part once among all ranks: parts that cross no edge of a block on their rank, others on the
 * rank of their root's label. NULL: there are no more; *at begins as 0. */
static const struct part *next_part(struct labels *l, uint32_t *at)
{
    while (*at < l->count) {
        const uint32_t label = l->first + ++*at;
        const size_t node = node_of(l, label);
        if (node == l->nodes)
            return &l->part[label - l->first - 1];
        if (joined_root(l->joined, (uint32_t)node) == node)
            return &l->whole[node];
    }
    return NULL;
}

/* Where no part has flow through it the largest is kept, of equal ones the first. */
static void keep_largest(struct labels *l, int64_t *largest)
{
    uint32_t at = 0;
    int flows = 0;
    int64_t first = INT64_MAX;
    *largest = 0;
    for (const struct part *p; (p = next_part(l, &at));) {
        flows |= (p->touches & TOUCH_FLOW) != 0;
        *largest = p->cells > *largest ? p->cells : *largest;
    }
    MPI_Allreduce(MPI_IN_PLACE, &flows, 1, MPI_INT, MPI_MAX, l->d->comm);
    MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_INT64_T, MPI_MAX, l->d->comm);
    at = 0;
    for (const struct part *p; (p = next_part(l, &at));)
        if (p->cells == *largest && p->cell < first)
            first = p->cell;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, l->d->comm);
    l->kept = flows ? -1 : first;
}

static void labels_free(struct labels *l)
{
    free(l->label);
    free(l->part);
    free(l->pairs);
    free(l->node);
    free(l->joined);
    free(l->whole);
    *l = (struct labels){0};
}

static enum status labels_make(struct labels *l, const struct domain *d, const struct flow_case *c,
                               const struct case_region *region, int64_t *largest)
{
    *l = (struct labels){.d = d, .c = c, .region = *region};
    enum status s = label_block(l);
    if (!s)
        s = exchange(l);
    if (!s)
        s = status_agree(d->comm, own_pairs(l)
                                      ? STATUS_OK
                                      : fail_machine("out of memory for links between pores"));
    if (!s)
        s = gather_pairs(l);
    if (!s)
        s = join_all(l);
    if (s)
        labels_free(l);
    else
        keep_largest(l, largest);
    return s;
}

/* Parts and their cells, and which ends they join. */
static void count_parts(struct labels *l, struct pores *p)
{
    int64_t sums[3] = {0, 0, 0};
    int through[3] = {0, 0, 0};
    uint32_t at = 0;
    for (const struct part *part; (part = next_part(l, &at));) {
        const bool isolated = is_isolated(l, part);
        sums[0]++;
        sums[1] += isolated;
        sums[2] += isolated ? part->cells : 0;
        for (int a = 0; a < 3; a++) {
            const bool whole =
                l->d->periodic[a] && l->region.lo[a] == 0 && l->region.hi[a] == l->d->cells[a];
            const uint32_t needed = whole ? (uint32_t)TOUCH_ROUND << a : 3u << (2 * a);
            through[a] |= (part->touches & needed) == needed;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT64_T, MPI_SUM, l->d->comm);
    MPI_Allreduce(MPI_IN_PLACE, through, 3, MPI_INT, MPI_MAX, l->d->comm);
    p->parts = sums[0];
    p->isolated_parts = sums[1];
    p->isolated_cells = sums[2];
    for (int a = 0; a < 3; a++)
        p->through[a] = through[a];
}

/* Fluid cells of every plane. */
static enum status count_planes(struct labels *l, struct pores *p)
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
                if (l->label[place(l, x, y, z)] == SOLID)
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
    struct labels l;
    *p = (struct pores){0};
    enum status s = labels_make(&l, d, c, region, &p->largest);
    if (s)
        return s;
    s = count_planes(&l, p);
    if (!s)
        count_parts(&l, p);
    else
        pores_destroy(p);
    labels_free(&l);
    return s;
}

void pores_destroy(struct pores *p)
{
    for (int a = 0; a < 3; a++)
        free(p->plane[a]);
    *p = (struct pores){0};
}

/* Isolated cells of the region in the block become the label `none`, the others' stay. */
static int64_t mark_isolated(struct labels *l, const struct case_region *region)
{
    const struct domain *const d = l->d;
    int64_t marked = 0;
    for (int z = 0; z < d->view.n[2]; z++)
        for (int y = 0; y < d->view.n[1]; y++)
            for (int x = 0; x < d->view.n[0]; x++) {
                const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                uint32_t *const label = &l->label[place(l, x, y, z)];
                if (*label == SOLID || !in_region(region, g) || !is_isolated(l, part_of(l, *label)))
                    continue;
                *label = none;
                marked++;
            }
    return marked;
}

enum status pores_fill(struct domain *d, const struct flow_case *c,
                       const struct case_region *region, uint8_t row, int64_t *filled)
{
    const struct case_region box = {{0, 0, 0}, {c->cells[0], c->cells[1], c->cells[2]}};
    const struct view *const v = &d->view;
    struct labels l;
    int64_t largest;
    enum status s = labels_make(&l, d, c, &box, &largest);
    if (s)
        return s;
    *filled = mark_isolated(&l, region);
    MPI_Allreduce(MPI_IN_PLACE, filled, 1, MPI_INT64_T, MPI_SUM, d->comm);
    s = exchange(&l);
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2] && !s; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++)
                if (l.label[place(&l, x, y, z)] == none)
                    d->tags[view_index(v, x, y, z)] = row;
    labels_free(&l);
    return s;
}
