/* Random lists of a seam between two levels, for parity; see parity.h and include/seam.h.
 *
 * The lists of a work lie in its buffer: struct seam_lists, then its arrays, each with some bytes
 * behind it that nobody may touch. What kernels change (sent, left) keeps the numbers that
 * the buffer had, which are the flow's; those of scalars, and `spread`, get numbers of their type.
 * Pointers are made for the memory in which they are followed. */
#include "parity.h"

#include <math.h>
#include <string.h>

/* Lists are so much longer than the range that a work names. */
enum { LONGER = 5 };

/* Values of `left` from other ranks; places of `sent` that no value has. */
enum { RECEIVED = 9, UNSENT = 3 };

/* Bytes behind each array. */
enum { GAP = 24 };

bool takes_seam(enum kernel kernel)
{
    return kernel == KERNEL_gather || kernel == KERNEL_slope || kernel == KERNEL_enter ||
           kernel == KERNEL_share || kernel == KERNEL_coalesce;
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
    size_t value, beside, link[2], group, exit, entry, shared, wall, sent, spread, left, end;
};

static struct layout lay_out(const struct work *w, const struct view *v)
{
    const size_t n = length(w), stored = v->sets > 1 ? sizeof(double) : v->set[SET_flow].bits / 8;
    size_t at = sizeof(struct seam_lists);
    struct layout l;
    l.value = place_for(&at, n, sizeof(struct seam_value));
    l.beside = place_for(&at, 6 * n, sizeof(uint32_t));
    for (int k = 0; k < 2; k++)
        l.link[k] = place_for(&at, n, sizeof(struct seam_link));
    l.group = place_for(&at, n, sizeof(struct seam_group));
    l.exit = place_for(&at, 8 * n, sizeof(uint32_t));
    l.entry = place_for(&at, 8 * n, sizeof(struct seam_entry));
    l.shared = place_for(&at, n, sizeof(uint32_t));
    l.wall = place_for(&at, (size_t)2 * SEAM_WALLS, sizeof(struct seam_wall));
    l.sent = place_for(&at, n + UNSENT, stored);
    l.spread = place_for(&at, 4 * n, sizeof(double));
    l.left = place_for(&at, 2 * n + RECEIVED + n, stored);
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

/* Every number has a wall, also 0, which stands for none; half of them are walls that move. */
static void write_walls(char *to, const struct layout *l, const struct view *v, uint64_t *random)
{
    struct seam_wall *const wall = (struct seam_wall *)(void *)(to + l->wall);
    for (int k = 0; k < 2 * SEAM_WALLS; k++) {
        const bool moves = random_below(random, 2);
        int type = random_below(random, TAG_ROWS);
        while (v->rows[type].fluid || v->rows[type].boundary == BOUNDARY_none ||
               (moves && v->rows[type].boundary != BOUNDARY_moving))
            type = (type + 1) % TAG_ROWS;
        wall[k].type = (uint8_t)type;
        wall[k].into = (uint8_t)(1 + random_below(random, Q - 1));
    }
}

static uint8_t random_wall(uint64_t *random)
{
    static const uint8_t ends[] = {0, 0, 1, SEAM_WALLS - 1};
    return random_below(random, 2) ? ends[random_below(random, sizeof ends)]
                                   : (uint8_t)random_below(random, SEAM_WALLS);
}

static struct seam_entry random_entry(size_t needed, uint64_t *random)
{
    enum { QUARTER = SEAM_PARTS / 4 };
    struct seam_entry e = {.from = (uint32_t)random_below(random, (int)needed),
                           .wall = random_wall(random)};
    const bool apart = random_below(random, 2); /* from the mean of eight */
    for (int a = 0; a < 3; a++) {
        const int at = QUARTER * (random_below(random, 5) - 2);
        e.offset[a] = (int8_t)(apart ? at - (random_below(random, 2 * QUARTER + 1) - QUARTER) : at);
    }
    return e;
}

/* The set of all works of a launch. */
static int set_of(const struct launch *launch, const struct view *v)
{
    return (int)(launch->seed % (uint64_t)v->sets);
}

static void write_values(char *to, const struct layout *l, const struct population_set *set,
                         size_t n, uint64_t *random)
{
    struct seam_value *const value = (struct seam_value *)(void *)(to + l->value);
    uint32_t *const beside = (uint32_t *)(void *)(to + l->beside);
    const struct shuffle places = shuffle_of(n + UNSENT, random);
    for (size_t k = 0; k < n; k++) {
        for (int odd = 0; odd < 2; odd++)
            value[k].at[odd] = (uint64_t)random_below(random, (int)(set->q * set->stride));
        value[k].place = (uint32_t)shuffled(&places, k);
        value[k].wall = random_wall(random);
    }
    for (size_t k = 0; k < 6 * n; k++)
        beside[k] =
            random_below(random, 3) ? (uint32_t)random_below(random, (int)(n + UNSENT)) : SEAM_NONE;
}

/* What a link is handed left the level after substep 1, or came from another rank. */
static uint32_t random_handed(size_t n, uint64_t *random)
{
    const bool own = random_below(random, 2);
    return (uint32_t)(own ? (size_t)random_below(random, (int)n)
                          : 2 * n + (size_t)random_below(random, RECEIVED)) |
           SEAM_HANDED;
}

static void write_links(char *to, const struct layout *l, size_t n, uint64_t *random)
{
    for (int e = 0; e < 2; e++) {
        struct seam_link *const link = (struct seam_link *)(void *)(to + l->link[e]);
        for (size_t k = 0; k < n; k++) {
            link[k].entry = random_entry(n, random);
            if (e == 1 && random_below(random, 2))
                link[k].entry.from = random_handed(n, random);
        }
    }
}

static void write_groups(char *to, const struct layout *l, size_t n, uint64_t *random)
{
    struct seam_group *const group = (struct seam_group *)(void *)(to + l->group);
    struct seam_entry *const entry = (struct seam_entry *)(void *)(to + l->entry);
    uint32_t *const out = (uint32_t *)(void *)(to + l->exit);
    uint32_t *const shared = (uint32_t *)(void *)(to + l->shared);
    for (size_t k = 0; k < n; k++) {
        const uint32_t count = random_below(random, 2) ? 8 : 2;
        group[k].count = count;
        group[k].first = (uint32_t)random_below(random, (int)(8 * n - count + 1));
        group[k].entries = (uint32_t)random_below(random, (int)(8 * n - count + 1));
        group[k].wall = random_wall(random);
    }
    for (size_t k = 0; k < 8 * n; k++) {
        entry[k] = random_entry(n, random);
        out[k] = (uint32_t)random_below(random, (int)(2 * n + RECEIVED));
    }
    for (size_t k = 0; k < n; k++)
        shared[k] = (uint32_t)random_below(random, (int)(2 * n));
}

/* Mailboxes: elements of the populations, each of one link and group of all works of the launch. */
static void write_mailboxes(char *to, const struct layout *l, const struct launch *launch,
                            int number, const struct population_set *set, size_t n)
{
    struct seam_group *const group = (struct seam_group *)(void *)(to + l->group);
    const size_t elements = set->q * set->stride;
    uint64_t random = launch->seed;
    size_t before = 0;
    for (int k = 0; k < number; k++)
        before += launch->bytes[k] ? length(&launch->work[k]) : 0;
    for (int odd = 0; odd < 2; odd++) {
        const struct shuffle s = shuffle_of(elements, &random);
        struct seam_link *const link = (struct seam_link *)(void *)(to + l->link[odd]);
        for (size_t k = 0; k < n; k++)
            link[k].at = group[k].at[odd] = shuffled(&s, before + k);
    }
}

/* Writes where the lists are in memory `at`. */
static void point_to(const struct layout *l, size_t n, int set, int limited, const char *at,
                     char *to)
{
    struct seam_lists lists;
    memset(&lists, 0, sizeof lists);
    lists.set = set;
    lists.limited = limited;
    lists.value = (const void *)(at + l->value);
    lists.beside = (const void *)(at + l->beside);
    for (int k = 0; k < 2; k++)
        lists.link[k] = (const void *)(at + l->link[k]);
    lists.group = (const void *)(at + l->group);
    lists.exit = (const void *)(at + l->exit);
    lists.entry = (const void *)(at + l->entry);
    lists.shared = (const void *)(at + l->shared);
    lists.wall = (const void *)(at + l->wall);
    lists.sent = (void *)(uintptr_t)(at + l->sent);
    lists.spread = (void *)(uintptr_t)(at + l->spread);
    lists.left = (void *)(uintptr_t)(at + l->left);
    lists.links = (uint32_t)n;
    lists.share_to = (uint32_t)(2 * n + RECEIVED);
    memcpy(to, &lists, sizeof lists);
}

void seam_fill(const struct launch *launch, int number, const struct view *v,
               const struct seam_numbers *numbers, void *buffer, const void *there)
{
    const struct work *const w = &launch->work[number];
    const size_t n = length(w);
    const int set = set_of(launch, v);
    const struct population_set *const of = &v->set[set];
    const struct layout l = lay_out(w, v);
    char *const to = (char *)buffer + before_lists(buffer);
    const char *const at = (const char *)there + before_lists(there);
    uint64_t random = launch->seed + 1 + (uint64_t)number;
    write_walls(to, &l, v, &random);
    write_values(to, &l, of, n, &random);
    write_links(to, &l, n, &random);
    write_groups(to, &l, n, &random);
    write_mailboxes(to, &l, launch, number, of, n);
    state_fill(to + l.spread, 4 * n, numbers->scalar, numbers->state, random);
    for (int k = 0; k < 2 && set != SET_flow; k++)
        state_fill(to + (k ? l.left : l.sent), k ? 3 * n + RECEIVED : n + UNSENT, of->bits / 8,
                   numbers->state, random + 1 + (uint64_t)k);
    point_to(&l, n, set, set != SET_flow && random_below(&random, 2), at, to);
}

/* ---- for measurements ---- */

/* Number k of the populations that cross planes across an axis: of one direction of five after the
 * other, along x first, then of a plane further on. */
static uint64_t crossing(const struct view *v, int axis, size_t k)
{
    const struct population_set *const flow = &v->set[SET_flow];
    const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    const size_t cells = (size_t)v->n[a] * (size_t)v->n[b];
    const size_t direction = k / cells % 5, plane = k / (5 * cells);
    int at[3];
    at[a] = (int)(k % cells % (size_t)v->n[a]);
    at[b] = (int)(k % cells / (size_t)v->n[a]);
    at[axis] = (int)(plane % (size_t)v->n[axis]);
    return (1 + direction) * flow->stride + owned_index(v, at[0], at[1], at[2]);
}

void seam_fill_planes(const struct work *w, const struct view *v, int axis, void *buffer,
                      const void *there)
{
    const size_t n = length(w), line = (size_t)v->n[axis == 0 ? 1 : 0];
    const struct layout l = lay_out(w, v);
    char *const to = (char *)buffer + before_lists(buffer);
    struct seam_value *const value = (struct seam_value *)(void *)(to + l.value);
    uint32_t *const beside = (uint32_t *)(void *)(to + l.beside);
    struct seam_link *const link[2] = {(struct seam_link *)(void *)(to + l.link[0]),
                                       (struct seam_link *)(void *)(to + l.link[1])};
    struct seam_group *const group = (struct seam_group *)(void *)(to + l.group);
    uint32_t *const out = (uint32_t *)(void *)(to + l.exit);
    uint32_t *const shared = (uint32_t *)(void *)(to + l.shared);
    memset(to + l.wall, 0, 2 * SEAM_WALLS * sizeof(struct seam_wall));
    for (size_t k = 0; k < n; k++) {
        const uint64_t at = crossing(v, axis, k);
        const struct seam_entry entry = {.from = (uint32_t)(k / 4), .offset = {8, 0, -8}};
        value[k] = (struct seam_value){.at = {at, at}, .place = (uint32_t)k};
        link[0][k] = link[1][k] = (struct seam_link){.at = at, .entry = entry};
        group[k] = (struct seam_group){
            .at = {at, at}, .first = (uint32_t)(8 * k % (2 * n - 7)), .count = 8};
        shared[k] = (uint32_t)k;
        for (int a = 0; a < 3; a++) {
            const size_t step = a == 0 ? 1 : line;
            beside[6 * k + (size_t)(2 * a)] = a < 2 && k >= step ? (uint32_t)(k - step) : SEAM_NONE;
            beside[6 * k + (size_t)(2 * a + 1)] =
                a < 2 && k + step < n ? (uint32_t)(k + step) : SEAM_NONE;
        }
    }
    for (size_t k = 0; k < 8 * n; k++)
        out[k] = (uint32_t)(k % (2 * n));
    point_to(&l, n, SET_flow, 0, (const char *)there + before_lists(there), to);
}

double seam_moved(enum kernel kernel, const struct work *w, const struct view *v, size_t scalar)
{
    const double stored = v->set[SET_flow].bits / 8, number = (double)scalar;
    const double count = (double)box_cells(&w->box), index = sizeof(uint32_t);
    switch (kernel) {
    case KERNEL_gather: /* a population, its place */
        return count * (2 * stored + sizeof(struct seam_value));
    case KERNEL_slope: /* each value once */
        return count * (stored + 4 * number + 6 * index);
    case KERNEL_enter: /* mailbox to left and the other way; a coarse population for four links */
        return count * (3 * stored + 4 * number / 4 + sizeof(struct seam_link));
    case KERNEL_share:
        return count * (2 * stored + index);
    case KERNEL_coalesce: /* eight values, a population */
        return count * (9 * stored + 8 * index + sizeof(struct seam_group));
    default:
        return 0;
    }
}

/* All NaNs of an array are the same. */
static void settle_numbers(char *at, size_t count, size_t bytes)
{
    for (size_t k = 0; k < count; k++) {
        double wide = 0;
        float single = 0;
        memcpy(bytes == sizeof wide ? (void *)&wide : (void *)&single, at + k * bytes, bytes);
        if (isnan(wide) || isnan(single))
            memset(at + k * bytes, 0xff, bytes);
    }
}

/* An address as its distance from another one. */
#define APART(lists, name)                                                                         \
    ((lists).name = (void *)((uintptr_t)(lists).name - (uintptr_t)(lists).value))

void seam_settle(const struct work *w, const struct view *v, const struct seam_numbers *numbers,
                 void *buffer)
{
    struct seam_lists lists;
    char *const at = (char *)buffer + before_lists(buffer);
    settle_numbers(at + lay_out(w, v).spread, 4 * length(w), numbers->scalar);
    memcpy(&lists, at, sizeof lists);
    APART(lists, beside);
    APART(lists, link[0]);
    APART(lists, link[1]);
    APART(lists, group);
    APART(lists, exit);
    APART(lists, entry);
    APART(lists, shared);
    APART(lists, wall);
    APART(lists, sent);
    APART(lists, spread);
    APART(lists, left);
    lists.value = NULL;
    memcpy(at, &lists, sizeof lists);
}
