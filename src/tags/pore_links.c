/* Joins parts of the fluid across blocks; see pore_labels.h. */
#include <stdlib.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"
#include "base/records.h"
#include "tags/pore_labels.h"

static const int forward[PORE_FORWARD][3] = PORE_LINKS;

static int by_pair(const void *left, const void *right)
{
    const struct pore_pair *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->shift > b->shift) - (a->shift < b->shift);
}

/* Removes duplicate pairs. */
static void reduce_pairs(struct pore_labels *l)
{
    l->pair_count = array_unique(l->pairs, l->pair_count, sizeof *l->pairs, by_pair);
}

static bool add_pair(struct pore_labels *l, struct pore_pair p)
{
    if (l->pair_count && by_pair(&l->pairs[l->pair_count - 1], &p) == 0)
        return true;
    return array_add_unique(&l->pairs, &l->pair_count, &l->pair_room, &p, sizeof p, by_pair);
}

/* Adds the links of a cell that lead out of the block. */
static bool add_links(struct pore_labels *l, const int at[3])
{
    const struct domain *const d = l->d;
    const uint32_t here = pore_labels_at(l, at[0], at[1], at[2]);
    bool ok = true;
    for (int i = 0; i < PORE_FORWARD && here != PORE_SOLID; i++) {
        struct pore_pair p = {.from = here};
        bool out = false;
        int to[3], steps = 0;
        for (int a = 2; a >= 0; a--) {
            to[a] = at[a] + forward[i][a];
            steps += forward[i][a] != 0;
            out |= to[a] < 0 || to[a] >= d->view.n[a];
            const int g = d->lo[a] + to[a], shift = g < 0 ? -1 : g >= d->cells[a];
            p.shift = 3 * p.shift + (uint32_t)(shift + 1);
        }
        p.to =
            out && (steps == 1 || !l->faces) ? pore_labels_at(l, to[0], to[1], to[2]) : PORE_SOLID;
        if (p.to != PORE_SOLID)
            ok &= add_pair(l, p);
    }
    return ok;
}

/* Collects the pairs of this rank's cells. */
static bool own_pairs(struct pore_labels *l)
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

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Index of a label among the nodes; l->nodes: it is in no pair. */
static size_t node_of(const struct pore_labels *l, uint32_t label)
{
    const uint32_t *const found =
        l->nodes ? bsearch(&label, l->node, l->nodes, sizeof label, by_number) : NULL;
    return found ? (size_t)(found - l->node) : l->nodes;
}

static enum status make_nodes(struct pore_labels *l)
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
    l->nodes = array_unique(l->node, ends, sizeof *l->node, by_number);
    for (size_t k = 0; k < l->nodes; k++)
        l->joined[k] = (struct pore_joined){.parent = (uint32_t)k};
    return STATUS_OK;
}

/* The root of a node. Afterwards the node's shift is relative to the root: path compression, in two
 * passes. */
static uint32_t joined_root(struct pore_joined *j, uint32_t at)
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
static void join_pair(struct pore_labels *l, const struct pore_pair *p)
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

/* This rank's share of whole parts, at their roots. */
struct known {
    int64_t *cells, *inflow, *first; /* [nodes] */
    uint64_t *openings;
    uint32_t *bits;
};

static void know(struct pore_labels *l, struct known *k)
{
    for (size_t n = 0; n < l->nodes; n++) {
        k->first[n] = INT64_MAX;
        k->bits[n] = l->whole[n].touches;
    }
    for (size_t n = 0; n < l->nodes; n++) {
        const uint32_t label = l->node[n], root = joined_root(l->joined, (uint32_t)n);
        if (label <= l->first || label > l->first + l->count)
            continue;
        const struct pore_part *const part = &l->part[label - l->first - 1];
        k->cells[root] += part->cells;
        k->inflow[root] += part->inflow;
        k->first[root] = part->cell < k->first[root] ? part->cell : k->first[root];
        k->openings[root] |= part->openings;
        k->bits[root] |= part->touches;
    }
}

/* Sums the shares of all ranks into whole parts, at their roots. */
static enum status sum_wholes(struct pore_labels *l)
{
    const int count = (int)l->nodes;
    int64_t *const numbers = calloc(4 * l->nodes + 1, sizeof *numbers);
    struct known k = {.cells = numbers,
                      .inflow = numbers + count,
                      .first = numbers + 2 * count,
                      .openings = (uint64_t *)(numbers + 3 * count),
                      .bits = malloc(l->nodes * sizeof *k.bits + 1)};
    enum status s = STATUS_OK;
    if (!numbers || !k.bits)
        s = fail_machine("out of memory for %zu parts of the fluid", l->nodes);
    s = status_agree(l->d->comm, s);
    if (!s) {
        know(l, &k);
        MPI_Allreduce(MPI_IN_PLACE, k.cells, count, MPI_INT64_T, MPI_SUM, l->d->comm);
        MPI_Allreduce(MPI_IN_PLACE, k.inflow, count, MPI_INT64_T, MPI_SUM, l->d->comm);
        MPI_Allreduce(MPI_IN_PLACE, k.first, count, MPI_INT64_T, MPI_MIN, l->d->comm);
        MPI_Allreduce(MPI_IN_PLACE, k.openings, count, MPI_UINT64_T, MPI_BOR, l->d->comm);
        MPI_Allreduce(MPI_IN_PLACE, k.bits, count, MPI_UINT32_T, MPI_BOR, l->d->comm);
    }
    for (size_t n = 0; n < l->nodes && !s; n++)
        l->whole[n] = (struct pore_part){.cells = k.cells[n],
                                         .cell = k.first[n],
                                         .inflow = k.inflow[n],
                                         .openings = k.openings[n],
                                         .touches = k.bits[n]};
    free(numbers);
    free(k.bits);
    return s;
}

enum status pore_labels_join(struct pore_labels *l)
{
    enum status s =
        own_pairs(l) ? STATUS_OK : fail_machine("out of memory for links between pores");
    s = status_agree(l->d->comm, s);
    if (!s)
        s = records_join(l->d->comm, &l->pairs, &l->pair_count, sizeof *l->pairs,
                         "the links between parts of the fluid");
    if (s)
        return s;
    reduce_pairs(l);
    s = status_agree(l->d->comm, make_nodes(l));
    if (s)
        return s;
    for (size_t k = 0; k < l->pair_count; k++)
        join_pair(l, &l->pairs[k]);
    return sum_wholes(l);
}

const struct pore_part *pore_labels_part(struct pore_labels *l, uint32_t label)
{
    const size_t node = node_of(l, label);
    return node < l->nodes ? &l->whole[joined_root(l->joined, (uint32_t)node)]
                           : &l->part[label - l->first - 1];
}

uint32_t pore_labels_whole(const struct pore_labels *l, uint32_t label)
{
    const size_t node = node_of(l, label);
    return node < l->nodes ? l->node[joined_root(l->joined, (uint32_t)node)] : label;
}

bool pore_labels_isolated(const struct pore_labels *l, const struct pore_part *part)
{
    return !(part->touches & TOUCH_FLOW) && part->cell != l->kept;
}

const struct pore_part *pore_labels_next(struct pore_labels *l, uint32_t *at)
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
