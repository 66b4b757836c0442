/* Random lists of a seam between two levels, for parity; see parity.h and include/seam.h.
 *
 * The lists of a work lie in its buffer: struct seam_lists, then its arrays, each with some bytes
 * behind it that nobody may touch. What kernels change (sent, left, later) keeps the numbers that
 * the buffer had. Pointers are made for the memory in which they are followed. */
#include "parity.h"

#include <string.h>

/* Lists are so much longer than the range that a work names. */
enum { LONGER = 5 };

/* Values of `left` from other ranks; cells of `sent` that nobody has places in. */
enum { RECEIVED = 9, UNSENT = 3 };

/* Bytes behind each array. */
enum { GAP = 24 };

bool takes_seam(enum kernel kernel)
{
    return kernel == KERNEL_gather || kernel == KERNEL_enter || kernel == KERNEL_share ||
           kernel == KERNEL_coalesce;
}

/* Lengths of all lists: the work's range may be of any of them. */
static size_t length(const struct work *w)
{
    return (size_t)w->box.hi[0] + LONGER;
}

/* Where an array of a buffer begins, in bytes; *at moves behind it. */
static size_t place_for(size_t *at, size_t count, size_t bytes)
{
    const size_t from = *at;
    *at += (count * bytes + GAP + 7) / 8 * 8;
    return from;
}

/* Where things are, in bytes from the first multiple of 8 in a buffer. */
struct layout {
    size_t cell, place, beside, link, group, exit, entry, shared, sent, left, later, end;
};

static struct layout lay_out(const struct work *w, const struct view *v)
{
    const size_t n = length(w), stored = v->set[SET_flow].bits / 8;
    size_t at = sizeof(struct seam_lists);
    struct layout l;
    l.cell = place_for(&at, 3 * n, sizeof(int32_t));
    l.place = place_for(&at, n, sizeof(uint32_t));
    l.beside = place_for(&at, 6 * n, sizeof(uint32_t));
    l.link = place_for(&at, n, sizeof(struct seam_link));
    l.group = place_for(&at, n, sizeof(struct seam_group));
    l.exit = place_for(&at, 8 * n, sizeof(uint32_t));
    l.entry = place_for(&at, 8 * n, sizeof(struct seam_entry));
    l.shared = place_for(&at, n, sizeof(uint32_t));
    l.sent = place_for(&at, (n + UNSENT) * SEAM_SENT, stored);
    l.left = place_for(&at, 2 * n + RECEIVED + n, stored);
    l.later = place_for(&at, n, stored);
    l.end = at;
    return l;
}

size_t seam_bytes(const struct work *w, const struct view *v)
{
    return lay_out(w, v).end + 8;
}

/* Bytes before the first multiple of 8. */
static size_t before_lists(const void *buffer)
{
    return (8 - (uintptr_t)buffer % 8) % 8;
}

const struct seam_lists *seam_of(const void *buffer)
{
    return (const struct seam_lists *)(const void *)((const char *)buffer + before_lists(buffer));
}

/* ---- what the lists have ---- */

/* A one-to-one map of the numbers below `count` to themselves. */
struct shuffle {
    size_t count, factor, first;
};

static struct shuffle shuffle_of(size_t count, uint64_t *random)
{
    struct shuffle s = {count, 0, (size_t)random_below(random, (int)count)};
    size_t divisor = 2;
    while (divisor != 1) {
        s.factor = 1 + (size_t)random_below(random, (int)count);
        divisor = s.factor;
        for (size_t rest = count; rest;) {
            const size_t next = divisor % rest;
            divisor = rest;
            rest = next;
        }
    }
    return s;
}

static size_t shuffled(const struct shuffle *s, size_t k)
{
    return (s->first + k * s->factor) % s->count;
}

/* A cell type of a wall, or of none. */
static uint8_t random_wall(const struct view *v, uint64_t *random)
{
    int type = random_below(random, TAG_ROWS);
    if (random_below(random, 2))
        return TAG_NONE;
    while (v->rows[type].fluid || v->rows[type].boundary == BOUNDARY_none)
        type = (type + 1) % TAG_ROWS;
    return (uint8_t)type;
}

static uint8_t random_direction(uint64_t *random)
{
    return (uint8_t)(1 + random_below(random, Q - 1));
}

static struct seam_entry random_entry(const struct view *v, size_t cells, uint64_t *random)
{
    enum { QUARTER = SEAM_PARTS / 4 };
    struct seam_entry e = {.from = (uint32_t)random_below(random, (int)cells),
                           .i = random_direction(random),
                           .wall = random_wall(v, random),
                           .into = random_direction(random)};
    const bool apart = random_below(random, 2); /* from the mean of eight */
    for (int a = 0; a < 3; a++) {
        const int at = QUARTER * (random_below(random, 5) - 2);
        e.offset[a] = (int8_t)(apart ? at - (random_below(random, 2 * QUARTER + 1) - QUARTER) : at);
    }
    return e;
}

/* A fluid cell, often one behind a wall; any cell if there is no fluid. */
static void random_cell(const struct view *v, int32_t at[3], uint64_t *random)
{
    const int *const n = v->n;
    const int cells = n[0] * n[1] * n[2];
    int cell = random_below(random, cells);
    for (int k = 0; k < cells; k++, cell = (cell + 1) % cells) {
        at[0] = cell % n[0];
        at[1] = cell / n[0] % n[1];
        at[2] = cell / n[0] / n[1];
        if (view_fluid(v, view_index(v, at[0], at[1], at[2])))
            return;
    }
}

static void write_cells(char *to, const struct layout *l, const struct view *v, size_t n,
                        uint64_t *random)
{
    int32_t *const cell = (int32_t *)(void *)(to + l->cell);
    uint32_t *const place = (uint32_t *)(void *)(to + l->place);
    uint32_t *const beside = (uint32_t *)(void *)(to + l->beside);
    const struct shuffle places = shuffle_of(n + UNSENT, random);
    for (size_t k = 0; k < n; k++) {
        random_cell(v, cell + 3 * k, random);
        place[k] = (uint32_t)shuffled(&places, k);
    }
    for (size_t k = 0; k < 6 * n; k++)
        beside[k] = random_below(random, 3) ? (uint32_t)random_below(random, (int)n) : SEAM_NONE;
}

/* What a link is handed left the level by a link without a wall, or came from another rank. */
static uint32_t random_handed(const struct seam_link *link, size_t n, uint64_t *random)
{
    size_t from = (size_t)random_below(random, (int)n);
    for (size_t k = 0; k < n; k++, from = (from + 1) % n)
        if (link[from].wall == TAG_NONE)
            return (uint32_t)from;
    return (uint32_t)(2 * n + (size_t)random_below(random, RECEIVED));
}

static void write_links(char *to, const struct layout *l, const struct view *v, size_t n,
                        uint64_t *random)
{
    struct seam_link *const link = (struct seam_link *)(void *)(to + l->link);
    for (size_t k = 0; k < n; k++) {
        memset(&link[k], 0, sizeof link[k]); /* what lies between its parts */
        link[k].wall = random_wall(v, random);
        link[k].into = random_direction(random);
        for (int e = 0; e < 2; e++)
            link[k].entry[e] = random_entry(v, n, random);
    }
    for (size_t k = 0; k < n; k++) {
        struct seam_entry *const second = &link[k].entry[1];
        second->handed = random_below(random, 2);
        if (second->handed)
            second->from = random_handed(link, n, random);
    }
}

static void write_groups(char *to, const struct layout *l, const struct view *v, size_t n,
                         uint64_t *random)
{
    static const uint8_t counts[] = {8, 2, 8, 2, 4};
    struct seam_group *const group = (struct seam_group *)(void *)(to + l->group);
    struct seam_entry *const entry = (struct seam_entry *)(void *)(to + l->entry);
    uint32_t *const out = (uint32_t *)(void *)(to + l->exit);
    uint32_t *const shared = (uint32_t *)(void *)(to + l->shared);
    for (size_t k = 0; k < n; k++) {
        memset(&group[k], 0, sizeof group[k]);
        group[k].count = counts[random_below(random, sizeof counts)];
        group[k].first = (uint32_t)random_below(random, (int)(8 * n - group[k].count + 1));
        group[k].entries = (uint32_t)random_below(random, (int)(8 * n - group[k].count + 1));
        group[k].wall = random_wall(v, random);
        group[k].into = random_direction(random);
    }
    for (size_t k = 0; k < 8 * n; k++) {
        entry[k] = random_entry(v, n, random);
        out[k] = (uint32_t)random_below(random, (int)(2 * n + RECEIVED));
    }
    for (size_t k = 0; k < n; k++)
        shared[k] = (uint32_t)random_below(random, (int)(2 * n));
}

/* Mailboxes: elements of the populations, each of one link and group of all works of the launch. */
static void write_mailboxes(char *to, const struct layout *l, const struct launch *launch,
                            int number, const struct view *v, size_t n)
{
    struct seam_link *const link = (struct seam_link *)(void *)(to + l->link);
    struct seam_group *const group = (struct seam_group *)(void *)(to + l->group);
    const size_t elements = v->set[SET_flow].q * v->set[SET_flow].stride;
    uint64_t random = launch->seed;
    size_t before = 0;
    for (int k = 0; k < number; k++)
        before += launch->bytes[k] ? length(&launch->work[k]) : 0;
    for (int odd = 0; odd < 2; odd++) {
        const struct shuffle s = shuffle_of(elements, &random);
        for (size_t k = 0; k < n; k++)
            link[k].at[odd] = group[k].at[odd] = shuffled(&s, before + k);
    }
}

void seam_write(const struct launch *launch, int number, const struct view *v, void *buffer,
                const void *there)
{
    const struct work *const w = &launch->work[number];
    const size_t n = length(w);
    const struct layout l = lay_out(w, v);
    char *const to = (char *)buffer + before_lists(buffer);
    const char *const at = (const char *)there + before_lists(there);
    struct seam_lists lists;
    uint64_t random = launch->seed + 1 + (uint64_t)number;
    write_cells(to, &l, v, n, &random);
    write_links(to, &l, v, n, &random);
    write_groups(to, &l, v, n, &random);
    write_mailboxes(to, &l, launch, number, v, n);
    memset(&lists, 0, sizeof lists);
    lists.cell = (const void *)(at + l.cell);
    lists.place = (const void *)(at + l.place);
    lists.beside = (const void *)(at + l.beside);
    lists.link = (const void *)(at + l.link);
    lists.group = (const void *)(at + l.group);
    lists.exit = (const void *)(at + l.exit);
    lists.entry = (const void *)(at + l.entry);
    lists.shared = (const void *)(at + l.shared);
    lists.sent = (void *)(uintptr_t)(at + l.sent);
    lists.left = (void *)(uintptr_t)(at + l.left);
    lists.later = (void *)(uintptr_t)(at + l.later);
    lists.links = (uint32_t)n;
    lists.share_to = (uint32_t)(2 * n + RECEIVED);
    memcpy(to, &lists, sizeof lists);
}

/* An address as its distance from another one. */
#define APART(lists, name)                                                                         \
    ((lists).name = (void *)((uintptr_t)(lists).name - (uintptr_t)(lists).cell))

void seam_settle(void *buffer)
{
    struct seam_lists lists;
    char *const at = (char *)buffer + before_lists(buffer);
    memcpy(&lists, at, sizeof lists);
    APART(lists, place);
    APART(lists, beside);
    APART(lists, link);
    APART(lists, group);
    APART(lists, exit);
    APART(lists, entry);
    APART(lists, shared);
    APART(lists, sent);
    APART(lists, left);
    APART(lists, later);
    lists.cell = NULL;
    memcpy(at, &lists, sizeof lists);
}
