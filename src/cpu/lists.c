/* Makes the lists of all rows with all threads; see runs.h and lists.h. */
#include "cpu/lists.h"

#include <stdlib.h>
#include <string.h>

#include <omp.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/message.h"
#include "base/signals.h"
#include "cpu/cut.h"

/* Lengths of the lists. */
struct lengths {
    size_t run, bounce, stretch, piece, from_wall, to_wall, idle, links, ruled;
};

static struct lengths lengths_of(const struct runs *r)
{
    return (struct lengths){r->run_count,
                            r->bounce_count,
                            r->stretch_count,
                            r->piece_count,
                            r->from_count,
                            r->to_count,
                            r->idle_count,
                            r->mask_count ? r->mask_count - BLOCK : 0,
                            r->rule_count ? r->rule_count - BLOCK : 0};
}

static void add_lengths(struct lengths *to, const struct lengths *l)
{
    to->run += l->run;
    to->bounce += l->bounce;
    to->stretch += l->stretch;
    to->piece += l->piece;
    to->from_wall += l->from_wall;
    to->to_wall += l->to_wall;
    to->idle += l->idle;
    to->links += l->links;
    to->ruled += l->ruled;
}

/* Threads make the lists in two passes: the first finds their lengths, the second fills them. Each
 * row is cut on its own. Rows are shared out in chunks, whose number does not depend on the
 * threads. */
enum { CHUNKS = 1024 };

struct cutting {
    const struct view *v;
    struct runs *runs;          /* with all groups */
    struct group_table *groups; /* of runs; complete, so that threads only look up */
    size_t rows, lists;
    uint32_t *row_of; /* [lists] the row that list is made of; NULL: list and row are the same */
    struct lengths before[CHUNKS + 1]; /* lengths of the lists of earlier chunks */
    bool measured;                     /* `before` is known */
    bool only_counts;                  /* no lists are made: a request to stop ends it early */
    int threads;
};

/* Memory of a thread that cuts a row. */
struct scratch {
    struct cell_links *links; /* [n[0]] */
    struct runs one;          /* the lists of one row */
};

static size_t chunk_begin(size_t lists, size_t chunk)
{
    return lists * chunk / CHUNKS;
}

/* Finds all groups. Each thread finds the groups of its rows. They are then joined in the order of
 * the threads, so the groups are numbered in the order of the rows. */
static bool find_groups(struct cutting *c)
{
    struct runs *const found = calloc((size_t)c->threads, sizeof *found);
    const size_t width = (size_t)c->v->n[0];
    int ok = found != NULL;
    if (!has_groups(c->v) || !ok) {
        free(found);
        return ok;
    }
#pragma omp parallel for num_threads(c->threads) reduction(& : ok) schedule(static, 1)
    for (int t = 0; t < c->threads; t++) {
        const size_t part = (size_t)t, parts = (size_t)c->threads;
        struct cell_links *const links = calloc(width, sizeof *links);
        struct group_table *const groups = calloc(1, sizeof *groups);
        ok &= links && groups;
        if (groups)
            groups->runs = &found[t];
        for (size_t r = c->rows * part / parts; r < c->rows * (part + 1) / parts && ok; r++)
            ok &= look_at_row(c->v, groups, r, links);
        free(groups ? groups->next : NULL);
        free(groups);
        free(links);
    }
    for (int t = 0; t < c->threads; t++) {
        for (size_t k = 0; k < found[t].group_count && ok; k++) {
            uint32_t number;
            ok = find_group(c->groups, &found[t].group[k], &number);
        }
        free(found[t].group);
    }
    free(found);
    return ok;
}

/* Lets equal rows share a list. Of a view with places each row has its own. */
static bool share_lists(struct cutting *c)
{
    size_t buckets = 64; /* hash table of lists, keyed by the cell_links of their rows */
    const size_t width = (size_t)c->v->n[0];
    c->lists = c->rows;
    for (size_t r = 0; r < c->rows && c->v->place; r++)
        c->runs->row_list[r] = (uint32_t)r;
    if (c->v->place)
        return true;
    while (buckets < 2 * c->rows)
        buckets *= 2;
    uint32_t *const bucket = calloc(buckets, sizeof *bucket); /* list + 1; 0: empty */
    XXH128_hash_t *const hash = malloc((c->rows + 1) * sizeof *hash);
    c->row_of = malloc((c->rows + 1) * sizeof *c->row_of);
    const bool room = bucket && hash && c->row_of;
    int ok = room;
#pragma omp parallel num_threads(c->threads) reduction(& : ok) /* a thread begins with all bits */
    {
        struct cell_links *const links = calloc(width, sizeof *links);
        ok &= room && links;
#pragma omp for schedule(static)
        for (size_t r = 0; r < c->rows; r++)
            if (ok && (ok &= look_at_row(c->v, c->groups, r, links)))
                hash[r] = XXH3_128bits(links, width * sizeof *links);
        free(links);
    }
    c->lists = 0;
    for (size_t r = 0; r < c->rows && ok; r++) {
        size_t b = hash[r].low64 & (buckets - 1);
        while (bucket[b] && !XXH128_isEqual(hash[c->row_of[bucket[b] - 1]], hash[r]))
            b = (b + 1) & (buckets - 1);
        if (!bucket[b]) {
            c->row_of[c->lists++] = (uint32_t)r;
            bucket[b] = (uint32_t)c->lists;
        }
        c->runs->row_list[r] = bucket[b] - 1;
    }
    free(bucket);
    free(hash);
    return ok;
}

/* Cuts the row of a list into s->one. */
static bool cut_list(const struct cutting *c, size_t list, struct scratch *s)
{
    const struct view *const v = c->v;
    struct runs *const one = &s->one;
    const size_t row = c->row_of ? c->row_of[list] : list;
    one->run_count = one->bounce_count = one->mask_count = one->rule_count = 0;
    one->stretch_count = one->piece_count = one->from_count = one->to_count = one->idle_count = 0;
    return look_at_row(v, c->groups, row, s->links) &&
           (v->place ? cut_pores(one, v, s->links, (int)(row % (size_t)v->n[1]),
                                 (int)(row / (size_t)v->n[1]))
                     : cut_row(one, s->links, v->n[0], !v->ghost[0]));
}

/* Calls `use` for each list of each chunk, with all threads. False: out of memory. */
typedef void list_use(struct cutting *c, size_t chunk, size_t list, const struct runs *one,
                      struct lengths *at);
static bool each_list(struct cutting *c, list_use *use)
{
    int ok = 1;
#pragma omp parallel num_threads(c->threads) reduction(& : ok)
    {
        struct scratch s = {.links = calloc((size_t)c->v->n[0], sizeof *s.links)};
        ok &= s.links != NULL;
#pragma omp for schedule(dynamic)
        for (size_t chunk = 0; chunk < CHUNKS; chunk++) {
            struct lengths at = c->measured ? c->before[chunk] : (struct lengths){0};
            for (size_t list = chunk_begin(c->lists, chunk);
                 list < chunk_begin(c->lists, chunk + 1) && ok &&
                 !(c->only_counts && signals_number());
                 list++)
                if ((ok &= cut_list(c, list, &s)))
                    use(c, chunk, list, &s.one, &at);
        }
        free(s.links);
        runs_destroy(&s.one);
    }
    return ok;
}

static void count_list(struct cutting *c, size_t chunk, size_t list, const struct runs *one,
                       struct lengths *at)
{
    const struct lengths l = lengths_of(one);
    (void)list;
    (void)at;
    add_lengths(&c->before[chunk + 1], &l);
}

/* Finds groups, lists and their lengths. */
static bool measure(struct cutting *c)
{
    bool ok = find_groups(c) && share_lists(c) && each_list(c, count_list);
    for (size_t chunk = 0; chunk < CHUNKS; chunk++)
        add_lengths(&c->before[chunk + 1], &c->before[chunk]);
    c->measured = true;
    return ok;
}

/* An array of struct runs. */
struct list {
    void **array;
    size_t count, size;
};
enum { LISTS = 14 };

/* All arrays, of the present counts. */
static void lists_of(struct runs *r, const struct view *v, struct list all[LISTS])
{
    const struct list found[LISTS] = {
        {(void **)&r->row_list, (size_t)v->n[1] * (size_t)v->n[2], sizeof *r->row_list},
        {(void **)&r->group, r->group_count, sizeof *r->group},
        {(void **)&r->first, r->list_count + 1, sizeof *r->first},
        {(void **)&r->run, r->run_count, sizeof *r->run},
        {(void **)&r->bounce, r->bounce_count, sizeof *r->bounce},
        {(void **)&r->stretch, r->stretch_count + (r->stretch_count > 0), sizeof *r->stretch},
        {(void **)&r->piece, r->piece_count, sizeof *r->piece},
        {(void **)&r->from_wall, r->from_count, sizeof *r->from_wall},
        {(void **)&r->to_wall, r->to_count, sizeof *r->to_wall},
        {(void **)&r->idle, r->idle_count, sizeof *r->idle},
        {(void **)&r->near_row, v->near.count, sizeof *r->near_row},
        {(void **)&r->beyond, v->near.crossings, sizeof *r->beyond},
        {(void **)&r->links, r->mask_count ? r->mask_count + BLOCK : 0, sizeof *r->links},
        {(void **)&r->ruled, r->rule_count ? r->rule_count + BLOCK : 0, sizeof *r->ruled},
    };
    memcpy(all, found, sizeof found);
}

double runs_held(const struct runs *runs, const struct view *v)
{
    struct runs r = *runs;
    struct list all[LISTS];
    double bytes = 0;
    lists_of(&r, v, all);
    for (int k = 0; k < LISTS; k++)
        bytes += (double)(all[k].count * all[k].size);
    return bytes;
}

/* Sets the counts of the lists. */
static void set_counts(struct cutting *c)
{
    struct runs *const r = c->runs;
    const struct lengths *const all = &c->before[CHUNKS];
    r->run_count = all->run;
    r->bounce_count = all->bounce;
    r->stretch_count = all->stretch;
    r->piece_count = all->piece;
    r->from_count = all->from_wall;
    r->to_count = all->to_wall;
    r->idle_count = all->idle;
    r->mask_count = all->links ? BLOCK + all->links : 0;
    r->rule_count = all->ruled ? BLOCK + all->ruled : 0;
    r->list_count = c->lists;
}

/* Zeros before and behind the masks. */
static void clear_ends(uint32_t *masks, size_t used)
{
    if (!used)
        return;
    memset(masks, 0, BLOCK * sizeof *masks);
    memset(masks + used, 0, BLOCK * sizeof *masks);
}

/* Allocates the lists that are not there yet, and sets what belongs to no row. */
static bool make_lists(struct cutting *c)
{
    struct runs *const r = c->runs;
    struct list all[LISTS];
    lists_of(r, c->v, all);
    for (int k = 0; k < LISTS; k++)
        if (!*all[k].array && all[k].count && !(*all[k].array = malloc(all[k].count * all[k].size)))
            return false;
    list_near(r, c->v);
    clear_ends(r->links, r->mask_count);
    clear_ends(r->ruled, r->rule_count);
    r->first[0] = 0;
    if (r->stretch_count)
        r->stretch[r->stretch_count] = (struct pore_stretch){.piece = r->piece_count,
                                                             .from_wall = r->from_count,
                                                             .to_wall = r->to_count,
                                                             .idle = r->idle_count};
    return true;
}

static void copy(void *to, size_t at, const void *from, size_t count, size_t size)
{
    if (count)
        memcpy((char *)to + at * size, from, count * size);
}

/* Copies a row's lists to their places, which begin at `at`. */
static void put_list(struct cutting *c, size_t chunk, size_t list, const struct runs *one,
                     struct lengths *at)
{
    struct runs *const r = c->runs;
    const struct lengths l = lengths_of(one);
    (void)chunk;
    copy(r->run, at->run, one->run, l.run, sizeof *r->run);
    for (struct row_run *run = r->run + at->run; run < r->run + at->run + l.run; run++) {
        if (run->kind == RUN_PORES)
            run->group += (uint32_t)at->stretch;
        if (run->kind == RUN_MIXED)
            run->masks += at->links;
        if ((run->kind == RUN_MIXED || run->kind == RUN_RULED) && run->wall)
            run->rules += at->ruled;
        if (!c->v->place) {
            run->bounce += at->bounce;
            run->mirror += at->bounce;
            run->bounce_end += at->bounce;
        }
    }
    copy(r->stretch, at->stretch, one->stretch, l.stretch, sizeof *r->stretch);
    for (size_t k = at->stretch; k < at->stretch + l.stretch; k++) {
        r->stretch[k].piece += at->piece;
        r->stretch[k].from_wall += at->from_wall;
        r->stretch[k].to_wall += at->to_wall;
        r->stretch[k].idle += at->idle;
    }
    copy(r->bounce, at->bounce, one->bounce, l.bounce, sizeof *r->bounce);
    copy(r->piece, at->piece, one->piece, l.piece, sizeof *r->piece);
    copy(r->from_wall, at->from_wall, one->from_wall, l.from_wall, sizeof *r->from_wall);
    copy(r->to_wall, at->to_wall, one->to_wall, l.to_wall, sizeof *r->to_wall);
    copy(r->idle, at->idle, one->idle, l.idle, 1);
    if (l.links)
        copy(r->links, BLOCK + at->links, one->links + BLOCK, l.links, sizeof *r->links);
    if (l.ruled)
        copy(r->ruled, BLOCK + at->ruled, one->ruled + BLOCK, l.ruled, sizeof *r->ruled);
    add_lengths(at, &l);
    r->first[list + 1] = (uint32_t)at->run;
}

/* Makes the lists; or only their counts, groups and list of rows. */
static bool cut(struct runs *runs, const struct view *v, int threads, bool all)
{
    struct cutting *const c = calloc(1, sizeof *c);
    struct group_table *const groups = calloc(1, sizeof *groups);
    bool ok = c && groups;
    *runs = (struct runs){0};
    if (ok) {
        groups->runs = runs;
        c->v = v;
        c->runs = runs;
        c->groups = groups;
        c->rows = (size_t)v->n[1] * (size_t)v->n[2];
        c->threads = threads;
        c->only_counts = !all;
        runs->row_list = calloc(c->rows, sizeof *runs->row_list);
        ok = runs->row_list && measure(c);
        set_counts(c);
        if (ok && all)
            ok = make_lists(c) && each_list(c, put_list);
        free(c->row_of);
        free(groups->next);
    }
    free(groups);
    free(c);
    return ok;
}

static enum status no_room(const struct view *v)
{
    return fail_machine("out of memory for the lists of cell runs of %zu rows",
                        (size_t)v->n[1] * (size_t)v->n[2]);
}

enum status runs_create(struct runs *runs, const struct view *v)
{
    bool ok = cut(runs, v, omp_get_max_threads(), true);
    if (ok && v->scalars.row) {
        const size_t threads = (size_t)omp_get_max_threads();
        runs->room = aligned_alloc(64, threads * runs_room(v));
        ok = runs->room;
        if (ok)
            memset(runs->room, 0, threads * runs_room(v));
    }
    if (ok)
        return STATUS_OK;
    runs_destroy(runs);
    return no_room(v);
}

enum status runs_bytes(const struct view *v, int threads, double *bytes)
{
    struct runs runs;
    const bool ok = cut(&runs, v, threads, false);
    *bytes = runs_held(&runs, v);
    runs_destroy(&runs);
    return ok ? STATUS_OK : no_room(v);
}

void runs_destroy(struct runs *runs)
{
    free(runs->run);
    free(runs->bounce);
    free(runs->group);
    free(runs->stretch);
    free(runs->piece);
    free(runs->from_wall);
    free(runs->to_wall);
    free(runs->idle);
    free(runs->near_row);
    free(runs->beyond);
    free(runs->links);
    free(runs->ruled);
    free(runs->first);
    free(runs->row_list);
    free(runs->room);
    *runs = (struct runs){0};
}
