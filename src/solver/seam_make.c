/* The lists of a seam, made once from the regions and the faces of the box; see seam.h.
 *
 * A rank has the links of its own fine cells and the groups of its own coarse cells. It needs
 * populations of coarse cells, and values that left the fine level, of any rank: it asks their
 * owners once, and they send them in each step. */
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"
#include "solver/seam_lists.h"
#include "solver/seam_paths.h"
#include "tags/faces.h"

/* Adds an element to an array of struct seam_made. */
#define ADD(m, name, element)                                                                      \
    (ARRAY_ADD((m)->name, (m)->name##_count, element) ? (void)0 : (void)((m)->full = true))

static int by_owner(const void *a, const void *b)
{
    const struct seam_need *const x = a, *const y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Sorts by owner and number, without duplicates. */
static void sort_needs(struct seam_needs *n)
{
    n->count = array_unique(n->need, n->count, sizeof *n->need, by_owner);
}

/* Notes a need of this rank. */
static void need(struct seam_needs *n, int owner, int64_t key)
{
    const struct seam_need more = {owner, key};
    n->full =
        n->full || !array_add_unique(&n->need, &n->count, &n->room, &more, sizeof more, by_owner);
}

size_t seam_needed(const struct seam_needs *n, int owner, int64_t key)
{
    const struct seam_need wanted = {owner, key};
    const struct seam_need *const found =
        n->count ? bsearch(&wanted, n->need, n->count, sizeof wanted, by_owner) : NULL;
    return found ? (size_t)(found - n->need) : SIZE_MAX;
}

/* ---- numbers of cells and links ---- */

static int64_t cell_key(const struct paths *p, const int at[3])
{
    const int *const n = p->r->level[p->level].cells;
    return ((int64_t)at[2] * n[1] + at[1]) * n[0] + at[0];
}

/* Cells of the box. Keys of populations are in the order of directions, then of cells, like their
 * slots in memory. */
static int64_t cells_of(const struct paths *p)
{
    const int *const n = p->r->level[p->level].cells;
    return (int64_t)n[0] * n[1] * n[2];
}

/* Key of the population that leaves a fine cell through its link i at a substep. */
static int64_t left_key(const struct paths *p, const int at[3], int i, int substep)
{
    return ((i - 1) * cells_of(p) + cell_key(p, at)) * 2 + (substep - 1);
}

static bool holds(const struct paths *p, const int at[3])
{
    return refined_holds(p->r, p->level, at[0], at[1], at[2]);
}

static void parent_of(const int fine[3], int coarse[3], int *s)
{
    *s = 0;
    for (int a = 0; a < 3; a++) {
        coarse[a] = fine[a] / 2;
        *s |= (fine[a] & 1) << a;
    }
}

/* ---- what a list needs ---- */

static void no_path(struct seam_made *m, const int at[3])
{
    if (!m->wrong)
        memcpy(m->where, at, sizeof m->where);
    m->wrong = true;
}

/* The set's directions end before this one. */
static int directions(const struct seam_made *m)
{
    return m->fine.d->view.set[m->set].q;
}

/* Is it a fluid cell of the coarse level? No body is near. */
static bool coarse_cell(const struct seam_made *m, const int at[3])
{
    const struct paths *const p = &m->coarse;
    bool in = true;
    for (int a = 0; a < 3; a++)
        in = in && at[a] >= 0 && at[a] < p->r->level[p->level].cells[a];
    return in && refined_has(p->r, p->level, at[0], at[1], at[2]);
}

/* The population i of a coarse cell's neighbour, for slopes; side: 0 to 5 for -x +x -y +y -z +z.
 * to: the cell that has it, along: its direction there; beyond a plane of symmetry it is the image
 * of one of the cell itself. False: there is no fluid. */
static bool neighbour_of(const struct seam_made *m, const int at[3], int i, int side, int to[3],
                         int *along)
{
    memcpy(to, at, 3 * sizeof *to);
    to[side / 2] += side % 2 ? 1 : -1;
    paths_wrap(&m->coarse, to);
    *along = i;
    if (coarse_cell(m, to))
        return true;
    const int n = m->coarse.r->level[m->coarse.level].cells[side / 2];
    if ((to[side / 2] >= 0 && to[side / 2] < n) || paths_plane(&m->coarse, to) < 0)
        return false;
    memcpy(to, at, 3 * sizeof *to);
    *along = mirrored(i, side / 2);
    return true;
}

static struct seam_origin sent_by(const struct seam_made *m, const int at[3], int i)
{
    return (struct seam_origin){.at = {at[0], at[1], at[2]},
                                .owner = domain_owner(m->coarse.d, at),
                                .key = (i - 1) * cells_of(&m->coarse) + cell_key(&m->coarse, at)};
}

static void need_sent(struct seam_made *m, const int at[3], int i)
{
    const struct seam_origin o = sent_by(m, at, i);
    if (m->wanted.fine)
        need(&m->sent, m->wanted.of * m->wanted.fine->ranks + domain_owner(m->wanted.coarse, at),
             o.key);
    else
        need(&m->sent, o.owner, o.key);
}

/* The number of a wall of the fine or the coarse level that moves the flow. */
static uint8_t wall_of(struct seam_made *m, bool coarse, uint8_t type, uint8_t into)
{
    struct seam_wall *const wall = m->wall + (coarse ? SEAM_WALLS : 0);
    int *const count = &m->walls[coarse], k = 1;
    if (type == TAG_NONE || m->set != SET_flow)
        return 0;
    while (k <= *count && (wall[k].type != type || wall[k].into != into))
        k++;
    if (k == SEAM_WALLS) {
        m->many = true;
        return 0;
    }
    if (k > *count)
        wall[++*count] = (struct seam_wall){type, into};
    return (uint8_t)k;
}

/* The entry that fine cell `fine` has of its coarse cell along i; `from` is set later. Notes that
 * the population is needed, and those of neighbours for its slopes. */
static struct seam_entry entry_of(struct seam_made *m, const int fine[3], int i, uint8_t wall,
                                  struct seam_origin *origin)
{
    struct seam_entry e = {.wall = wall};
    int s, at[3], to[3], along;
    parent_of(fine, at, &s);
    paths_offset(&m->fine, at, i, s, e.offset);
    if (!coarse_cell(m, at))
        no_path(m, at);
    need_sent(m, at, i);
    for (int side = 0; side < 6; side++)
        if (e.offset[side / 2] && neighbour_of(m, at, i, side, to, &along))
            need_sent(m, to, along);
    *origin = sent_by(m, at, i);
    return e;
}

/* The value that leaves fine cell `at` through link i. */
static struct seam_origin left_of(struct seam_made *m, const int at[3], int i, int substep)
{
    struct seam_origin o = {.at = {at[0], at[1], at[2]}};
    o.owner = domain_owner(m->fine.d, at);
    o.key = left_key(&m->fine, at, i, substep);
    if (m->wanted.fine)
        need(&m->left, m->wanted.of * m->wanted.fine->ranks + domain_owner(m->wanted.fine, at),
             o.key);
    else if (o.owner != m->fine.d->rank)
        need(&m->left, o.owner, o.key);
    return o;
}

/* ---- links of the fine level ---- */

/* The offset in the populations from which a cell reads what arrives along i before an even or odd
 * step. `bounce`: the link has its own slot. */
static uint64_t mailbox(const struct domain *d, int set, const int at[3], int odd, int i,
                        int bounce)
{
    return load_address(&d->view, set, odd, i, at[0] - d->lo[0], at[1] - d->lo[1], at[2] - d->lo[2],
                        bounce);
}

/* Adds the link along i of fine cell `at`, whose population comes from `before`, which is absent.
 */
static void add_link(struct seam_made *m, const int at[3], int i, const struct hop *before)
{
    const struct paths *const p = &m->fine;
    struct seam_link link = {.at = mailbox(p->d, m->set, at, 1, i, 1)};
    struct seam_link later = {.at = mailbox(p->d, m->set, at, 0, i, 1)};
    struct seam_origin origin[2];
    const struct hop second = paths_back(p, before->at, before->i);
    const struct hop out = paths_forward(p, before->at, opposite(before->i));
    if (m->wanted.fine)
        m->wanted.of = domain_owner(m->wanted.fine, at);
    link.entry =
        entry_of(m, before->at, before->i, wall_of(m, false, out.wall, out.into), &origin[0]);
    if (paths_enters(p, before->at, before->i) != 1)
        no_path(m, at);
    if (holds(p, second.at)) { /* it left the level at the first substep */
        later.entry.from = SEAM_HANDED;
        origin[1] = left_of(m, second.at, opposite(second.i), 1);
        if (m->wanted.fine)
            m->wanted.hands |= domain_owner(m->wanted.fine, second.at) != m->wanted.of;
        if (second.wall != TAG_NONE)
            no_path(m, at);
    } else {
        later.entry = entry_of(m, second.at, second.i, wall_of(m, false, second.wall, second.into),
                               &origin[1]);
        if (paths_enters(p, second.at, second.i) != 2)
            no_path(m, at);
    }
    ADD(m, link, link);
    ADD(m, later, later);
    ADD(m, link_origin, origin[0]);
    ADD(m, link_origin, origin[1]);
    ADD(m, link_key, left_key(p, at, i, 1));
}

/* The fluid cells of the fine level beside cells that are not fluid. */
static void list_beside(struct seam_made *m)
{
    const struct domain *const d = m->fine.d;
    const struct view *const v = &d->view;
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const size_t n = owned_index(v, x, y, z);
                if ((v->tags[n] & TAG_BESIDE) && view_fluid(v, n)) {
                    ADD(m, at, d->lo[0] + x);
                    ADD(m, at, d->lo[1] + y);
                    ADD(m, at, d->lo[2] + z);
                }
            }
}

static void make_links(struct seam_made *m)
{
    list_beside(m);
    for (int i = 1; i < directions(m); i++)
        for (size_t k = 0; k + 2 < m->at_count; k += 3) {
            const struct hop before = paths_back(&m->fine, m->at + k, i);
            if (!holds(&m->fine, before.at))
                add_link(m, m->at + k, i, &before);
        }
}

/* ---- groups of the coarse level ---- */

/* Did the population i that ends in fine cell number s of coarse cell `at` after the second substep
 * leave the fine level? *left: the link and substep at which it left. */
static bool leaves_to(struct seam_made *m, const int at[3], int i, int s, struct seam_origin *left)
{
    int fine[3];
    paths_child(at, s, fine);
    struct hop h = {{fine[0], fine[1], fine[2]}, i, TAG_NONE, 0};
    for (int substep = 2; substep >= 1; substep--) {
        h = paths_back(&m->fine, h.at, h.i);
        if (holds(&m->fine, h.at)) {
            *left = left_of(m, h.at, opposite(h.i), substep);
            return true;
        }
    }
    return false;
}

/* Sets `wall` to that which fine cell `at`'s population i meets on its way into the fine level, if
 * it meets one: its number on the coarse level, 0 at rest. */
static void wall_on_way(struct seam_made *m, const int at[3], int i, uint32_t *wall)
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    struct hop h = {{at[0], at[1], at[2]}, i, TAG_NONE, 0};
    for (int substep = 1; substep <= 2 && (substep == 1 || !holds(&m->fine, h.at)); substep++) {
        const struct hop before = h;
        h = paths_forward(&m->fine, before.at, before.i);
        if (h.i != opposite(before.i))
            continue;
        *wall = 0;
        if (h.wall != TAG_NONE) {
            int beyond[3];
            for (int a = 0; a < 3; a++) {
                const int fine = before.at[a] + velocity[h.into][a];
                beyond[a] = fine < 0 ? -1 : fine / 2;
            }
            paths_wrap(&m->coarse, beyond);
            *wall = wall_of(m, true, faces_beyond(m->coarse.d, m->coarse.c, beyond), h.into);
        }
        return;
    }
}

/* Adds what arrives in coarse cell `at` along i from the fine level, if anything does. */
static void add_group(struct seam_made *m, const int at[3], int i)
{
    const struct paths *const p = &m->coarse;
    const struct hop from = paths_back(p, at, i);
    const bool covered = holds(&m->fine, (int[3]){2 * from.at[0], 2 * from.at[1], 2 * from.at[2]});
    struct seam_group group = {.first = (uint32_t)m->exit_count,
                               .entries = (uint32_t)m->entry_count,
                               .wall = wall_of(m, true, from.wall, from.into)};
    int entries = 0, exits = 0;
    if (m->wanted.fine)
        m->wanted.of = domain_owner(m->wanted.coarse, at);
    for (int s = 0; s < 8; s++) {
        struct seam_origin left;
        int fine[3];
        if (leaves_to(m, at, i, s, &left)) {
            ADD(m, exit, left);
            exits++;
        }
        paths_child(from.at, s, fine);
        if (!covered && paths_enters(&m->fine, fine, from.i) > 0) {
            struct seam_origin origin;
            const struct seam_entry e = entry_of(m, fine, from.i, 0, &origin);
            /* Beside a corner, or beside the end of a moving wall, the fine path may meet another
             * wall than the coarse link. The coarse cell pays what the fine level got. */
            wall_on_way(m, fine, from.i, &group.wall);
            ADD(m, entry, e);
            ADD(m, entry_origin, origin);
            entries++;
        }
    }
    if (exits == 0 && entries == 0)
        return;
    if (covered ? exits != 8 : exits != entries || exits > 4)
        no_path(m, at);
    group.count = (uint32_t)exits;
    const int bounce = from.at[0] == at[0] && from.at[1] == at[1] && from.at[2] == at[2];
    const struct domain *const d = p->d;
    const int slips = !bounce && !covered && from.i != i;
    if (slips) { /* the neighbour along the plane of symmetry keeps it */
        int beside[3];
        slip_beside(i, from.i, at[0] - d->lo[0], at[1] - d->lo[1], at[2] - d->lo[2], beside);
        for (int odd = 0; odd < 2; odd++)
            group.at[odd] =
                load_address(&d->view, m->set, odd, from.i, beside[0], beside[1], beside[2], 0);
    } else {
        for (int odd = 0; odd < 2; odd++)
            group.at[odd] = mailbox(d, m->set, at, odd, i, bounce || covered);
    }
    ADD(m, group, group);
}

/* Is the fine level near the brick that begins at coarse cell `at`? */
static bool near_brick(const struct paths *fine, const struct paths *coarse, const int at[3])
{
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) {
                int to[3] = {at[0] + x * BRICK_PARENTS, at[1] + y * BRICK_PARENTS,
                             at[2] + z * BRICK_PARENTS};
                const int *const cells = coarse->r->level[coarse->level].cells;
                for (int a = 0; a < 3; a++) { /* the last brick may be smaller */
                    if (to[a] < 0 && coarse->r->periodic[a])
                        to[a] = cells[a] - 1;
                    if (to[a] >= cells[a] && coarse->r->periodic[a])
                        to[a] = 0;
                }
                if (holds(fine, (int[3]){2 * to[0], 2 * to[1], 2 * to[2]}))
                    return true;
            }
    return false;
}

/* Adds the groups of this rank's cells in a brick. */
static void brick_groups(struct seam_made *m, const int lo[3], const int hi[3])
{
    const struct domain *const d = m->coarse.d;
    const struct view *const v = &d->view;
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++) {
                const int at[3] = {x, y, z};
                if (view_fluid(v, owned_index(v, x - d->lo[0], y - d->lo[1], z - d->lo[2])))
                    for (int i = 1; i < directions(m); i++)
                        add_group(m, at, i);
            }
}

static int from_brick(int at)
{
    return at / BRICK_PARENTS * BRICK_PARENTS;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void make_groups(struct seam_made *m)
{
    const struct domain *const d = m->coarse.d;
    const int *const n = d->view.n;
    int at[3];
    for (at[2] = from_brick(d->lo[2]); at[2] < d->lo[2] + n[2]; at[2] += BRICK_PARENTS)
        for (at[1] = from_brick(d->lo[1]); at[1] < d->lo[1] + n[1]; at[1] += BRICK_PARENTS)
            for (at[0] = from_brick(d->lo[0]); at[0] < d->lo[0] + n[0]; at[0] += BRICK_PARENTS) {
                int lo[3], hi[3];
                if (holds(&m->fine, (int[3]){2 * at[0], 2 * at[1], 2 * at[2]}) ||
                    !near_brick(&m->fine, &m->coarse, at))
                    continue;
                for (int a = 0; a < 3; a++) {
                    lo[a] = most(at[a], d->lo[a]);
                    hi[a] = least(at[a] + BRICK_PARENTS, d->lo[a] + n[a]);
                }
                brick_groups(m, lo, hi);
            }
}

/* ---- ranks ---- */

/* The ranks that get a need: its owner; the process that counts those of its rank. */
static int owner_of(const void *need, int rank, int ranks)
{
    const int owner = ((const struct seam_need *)need)->owner;
    (void)ranks;
    return owner == rank ? -1 : owner;
}

static int counter_of(const void *need, int rank, int ranks)
{
    (void)rank;
    return ((const struct seam_need *)need)->owner % ranks;
}

static enum status send_needs(const struct seam_needs *n, MPI_Comm comm, record_to *to,
                              struct records *got)
{
    return records_send(comm, n->need, n->count, sizeof *n->need, to, got,
                        "the lists between two levels");
}

static int by_key(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The number of this rank's link; SIZE_MAX: none. */
static size_t link_number(const struct seam_made *m, int64_t key)
{
    const int64_t first = key / 2 * 2; /* of substep 1 */
    const int64_t *const found =
        m->link_key_count ? bsearch(&first, m->link_key, m->link_key_count, sizeof first, by_key)
                          : NULL;
    return found ? (size_t)(found - m->link_key) : SIZE_MAX;
}

/* The number in `left` of a value. */
static uint32_t left_number(struct seam_made *m, const struct seam_origin *o)
{
    size_t n;
    if (o->owner == m->fine.d->rank) {
        n = link_number(m, o->key);
        if (n == SIZE_MAX)
            no_path(m, o->at);
        return (uint32_t)(n + (size_t)(o->key & 1) * m->link_count);
    }
    n = seam_needed(&m->left, o->owner, o->key);
    if (n == SIZE_MAX)
        no_path(m, o->at);
    return (uint32_t)(n + 2 * m->link_count);
}

static uint32_t sent_number(struct seam_made *m, const struct seam_origin *o)
{
    const size_t n = seam_needed(&m->sent, o->owner, o->key);
    if (n == SIZE_MAX)
        no_path(m, o->at);
    return (uint32_t)n;
}

/* Replaces keys by numbers. */
static void number_all(struct seam_made *m)
{
    for (size_t k = 0; k < m->link_count; k++)
        for (int e = 0; e < 2; e++) {
            struct seam_entry *const entry = e == 0 ? &m->link[k].entry : &m->later[k].entry;
            const struct seam_origin *const o = &m->link_origin[2 * k + (size_t)e];
            entry->from =
                entry->from & SEAM_HANDED ? SEAM_HANDED | left_number(m, o) : sent_number(m, o);
        }
    for (size_t k = 0; k < m->entry_count; k++)
        m->entry[k].from = sent_number(m, &m->entry_origin[k]);
    for (size_t k = 0; k < m->exit_count; k++)
        m->exits[k] = left_number(m, &m->exit[k]);
}

/* The coarse cell and direction of a number in `sent`. */
static int sent_of_key(const struct paths *p, int64_t key, int at[3])
{
    const int *const n = p->r->level[p->level].cells;
    const int64_t cells = cells_of(p), cell = key % cells;
    at[0] = (int)(cell % n[0]);
    at[1] = (int)(cell / n[0] % n[1]);
    at[2] = (int)(cell / n[0] / n[1]);
    return 1 + (int)(key / cells);
}

/* The neighbours of the needed populations, for slopes. */
static void number_neighbours(struct seam_made *m)
{
    for (size_t k = 0; k < m->sent.count; k++) {
        int at[3], to[3], along;
        const int i = sent_of_key(&m->coarse, m->sent.need[k].key, at);
        for (int side = 0; side < 6; side++) {
            size_t n = SIZE_MAX;
            if (neighbour_of(m, at, i, side, to, &along)) {
                const struct seam_origin o = sent_by(m, to, along);
                n = seam_needed(&m->sent, o.owner, o.key);
            }
            m->beside[6 * k + (size_t)side] = n == SIZE_MAX ? SEAM_NONE : (uint32_t)n;
        }
    }
}

/* Adds a population that this rank sends, to itself or to others. */
static void add_value(struct seam_made *m, int64_t key, size_t place)
{
    const struct domain *const d = m->coarse.d;
    int at[3];
    const int i = sent_of_key(&m->coarse, key, at);
    const struct hop to = paths_forward(&m->coarse, at, i);
    struct seam_value value = {.place = (uint32_t)place,
                               .wall = wall_of(m, true, to.wall, to.into)};
    for (int odd = 0; odd < 2; odd++)
        value.at[odd] = store_address(&d->view, m->set, odd, i, at[0] - d->lo[0], at[1] - d->lo[1],
                                      at[2] - d->lo[2]);
    m->value[m->values++] = value;
}

static void list_values(struct seam_made *m)
{
    const struct seam_need *const asked = m->sent_asked.record;
    for (size_t k = 0; k < m->sent.count; k++)
        if (m->sent.need[k].owner == m->coarse.d->rank)
            add_value(m, m->sent.need[k].key, k);
    for (size_t k = 0; k < m->sent_asked.count; k++)
        add_value(m, asked[k].key, m->sent.count + k);
}

static void list_shared(struct seam_made *m)
{
    const struct seam_need *const asked = m->left_asked.record;
    for (size_t k = 0; k < m->left_asked.count; k++) {
        const int64_t key = asked[k].key;
        const size_t n = link_number(m, key);
        if (n == SIZE_MAX)
            m->wrong = true;
        m->shared[k] = (uint32_t)(n + (size_t)(key & 1) * m->link_count);
    }
}

static void *array(struct seam_made *m, size_t count, size_t bytes)
{
    void *const memory = malloc((count ? count : 1) * bytes);
    m->full = m->full || !memory;
    return memory;
}

static enum status no_room(void)
{
    return fail_machine("out of memory for the lists between two levels");
}

/* Fails on all ranks if any has no memory or met a path that the scheme does not know. */
static enum status agree_lists(const struct seam_made *m, MPI_Comm comm)
{
    enum status status = STATUS_OK;
    if (m->full || m->sent.full || m->left.full)
        status = no_room();
    else if (m->many)
        status = fail_user("more populations cross the edge of level %d on a rank than its lists "
                           "can number, or they meet more than %d moving walls (take more ranks)",
                           m->fine.level, SEAM_WALLS - 1);
    else if (m->wrong)
        status = fail_user("no path is known for a population beside cell (%d, %d, %d) of level "
                           "%d: this edge of a region has a shape that is not supported (move or "
                           "enlarge the region; a part of a face that crosses the edge must end "
                           "at whole cells of level %d)",
                           m->where[0], m->where[1], m->where[2], m->coarse.level, m->coarse.level);
    return status_agree(comm, status);
}

enum status seam_make(struct seam_made *m, MPI_Comm comm)
{
    make_links(m);
    make_groups(m);
    sort_needs(&m->sent);
    sort_needs(&m->left);
    const double values = 2 * (double)m->link_count + (double)m->left.count;
    if (values >= (double)(UINT32_MAX / 2) || (double)m->sent.count >= (double)(UINT32_MAX / 2))
        m->many = true;
    enum status status = agree_lists(m, comm);
    if (!status)
        status = send_needs(&m->sent, comm, owner_of, &m->sent_asked);
    if (!status)
        status = send_needs(&m->left, comm, owner_of, &m->left_asked);
    if (status)
        return status;
    m->exits = array(m, m->exit_count, sizeof *m->exits);
    m->beside = array(m, 6 * m->sent.count, sizeof *m->beside);
    m->value = array(m, m->sent.count + m->sent_asked.count, sizeof *m->value);
    m->shared = array(m, m->left_asked.count, sizeof *m->shared);
    if (!m->full) {
        number_all(m);
        number_neighbours(m);
        list_values(m);
        list_shared(m);
    }
    return agree_lists(m, comm);
}

/* Sends each need to the process that counts those of its ranks, and drops what is there twice. */
static enum status collect(struct seam_needs *n, MPI_Comm comm)
{
    struct records got;
    const enum status status = send_needs(n, comm, counter_of, &got);
    free(got.first);
    free(n->need);
    n->need = got.record;
    n->count = n->room = status ? 0 : got.count;
    sort_needs(n);
    return status;
}

enum status seam_make_needs(struct seam_made *m, MPI_Comm comm)
{
    make_links(m);
    make_groups(m);
    sort_needs(&m->sent);
    sort_needs(&m->left);
    enum status status = agree_lists(m, comm);
    if (!status)
        status = collect(&m->sent, comm);
    if (!status)
        status = collect(&m->left, comm);
    MPI_Allreduce(MPI_IN_PLACE, &m->wanted.hands, 1, MPI_C_BOOL, MPI_LOR, comm);
    return status;
}

void seam_made_destroy(struct seam_made *m)
{
    free(m->sent.need);
    free(m->left.need);
    free(m->sent_asked.record);
    free(m->left_asked.record);
    free(m->sent_asked.first);
    free(m->left_asked.first);
    free(m->at);
    free(m->link);
    free(m->later);
    free(m->link_origin);
    free(m->link_key);
    free(m->group);
    free(m->exit);
    free(m->exits);
    free(m->entry);
    free(m->entry_origin);
    free(m->beside);
    free(m->value);
    free(m->shared);
    *m = (struct seam_made){0};
}
