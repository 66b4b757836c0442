/* Launches of a variant's kernels against what is to come out; see parity.h.
 *
 * All memory starts as random numbers, so that a kernel which reads or writes anything but what it
 * is to leaves another number somewhere: slots, the gaps between slots, buffers and the gaps
 * between buffers, and what lies before and behind both. */
#include "parity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/rounding.h"
#include "stored.h"

/* Bytes of ours before and behind the populations: as aligned as memory comes. */
enum { GUARD = 4096 };

/* A block on a backend, and what should be there. */
struct trial {
    const struct variant *variant;
    struct backend *backend;
    struct ground ground;
    struct view view; /* the ground's for launches, without populations */
    uint8_t *tags;    /* a copy of the ground's */
    size_t stored;
    struct plan *plan;          /* [KERNELS] */
    size_t set[SETS];           /* where the populations of each set begin */
    size_t size[2];             /* bytes of populations and buffers, with what surrounds them */
    char *memory[2];            /* of the backend */
    char *before[3];            /* of the host, for copies: what is in memory before a launch */
    char *listed;               /* the same as before[BUFFERS], with lists of a seam */
    char *after[2];             /* ... and what was left there */
    char *wanted[2];            /* what should have been */
    char *lifted;               /* populations before, in the order of lifted rows */
    struct initial *initial[2]; /* for begin: of the backend, of the host */
    enum state state;
    int odd;
    char about[160]; /* block, rows */
};
enum { POPULATIONS, BUFFERS, WIDE }; /* before[WIDE]: buffers of doubles */

/* Of one kernel and state. */
struct tally {
    long launches, different;
    char first[512];
};

/* ---- where a difference is ---- */

static size_t describe_number(char *text, size_t room, const void *at, size_t bytes)
{
    if (bytes == 8) {
        uint64_t bits;
        double value;
        memcpy(&bits, at, 8);
        memcpy(&value, at, 8);
        return (size_t)snprintf(text, room, "%.17g (%016llx)", value, (unsigned long long)bits);
    }
    if (bytes == 2) {
        struct half half;
        memcpy(&half, at, 2);
        return (size_t)snprintf(text, room, "%.9g (%04x)", (double)half_value(half),
                                (unsigned)half.bits);
    }
    uint32_t bits;
    float value;
    memcpy(&bits, at, 4);
    memcpy(&value, at, 4);
    return (size_t)snprintf(text, room, "%.9g (%08x)", (double)value, bits);
}

static void describe_population(const struct trial *t, size_t byte, char *text, size_t room)
{
    const struct view *const v = &t->ground.view;
    int set = 0;
    while (set + 1 < v->sets && byte >= t->set[set + 1] - GUARD)
        set++;
    const struct population_set *const of = &v->set[set];
    const int used = snprintf(text, room, "set %d: ", set);
    text += used;
    room -= (size_t)used;
    if (byte < t->set[set] || byte >= t->set[set] + set_cell_bytes(of) * of->stride) {
        snprintf(text, room, "%s the populations", byte < t->set[set] ? "before" : "behind");
        return;
    }
    const size_t place = (byte - t->set[set]) / (of->bits / 8), slot = place / of->stride,
                 cell = place % of->stride;
    if (cell >= t->ground.cells) {
        snprintf(text, room, "behind slot %zu", slot);
        return;
    }
    if (v->place) {
        snprintf(text, room, "slot %zu of place %zu", slot, cell);
        return;
    }
    const size_t number = cell - view_first(v); /* of the padding before it: a large one */
    const int x = (int)(number % (size_t)v->row) - v->ghost[0];
    const int y = (int)(number % (size_t)v->plane / (size_t)v->row) - v->ghost[1];
    const int z = (int)(number / (size_t)v->plane) - v->ghost[2];
    const struct tag_row *const row = &v->rows[t->tags[cell] & TAG_ROW];
    snprintf(text, room, "slot %zu of cell %d %d %d (%s%s)", slot, x, y, z,
             row->fluid ? "fluid" : "not fluid", t->tags[cell] & TAG_BESIDE ? ", beside" : "");
}

static void describe_buffer(const struct launch *l, size_t byte, size_t element, char *text,
                            size_t room)
{
    for (int k = 0; k < l->count; k++)
        if (byte >= l->at[k] && byte < l->at[k] + l->bytes[k]) {
            snprintf(text, room, "number %zu of buffer %d", (byte - l->at[k]) / element, k);
            return;
        }
    snprintf(text, room, "between buffers, byte %zu", byte);
}

static bool is_nan(const char *at, size_t bytes)
{
    double wide;
    float single;
    struct half half;
    memcpy(bytes == 8 ? (void *)&wide : bytes == 4 ? (void *)&single : (void *)&half, at, bytes);
    return bytes == 8 ? isnan(wide) : isnan(bytes == 4 ? single : half_value(half));
}

/* The first byte that differs, rounded down to its number; SIZE_MAX: none. NaNs have many spellings
 * and are all the same: states have none, but 1 / 0 may come up. */
static size_t first_difference(const char *a, const char *b, size_t size, size_t bytes)
{
    if (memcmp(a, b, size) == 0)
        return SIZE_MAX;
    for (size_t at = 0; at < size; at += bytes) {
        if (memcmp(a + at, b + at, bytes) == 0)
            continue;
        if (is_nan(a + at, bytes) && is_nan(b + at, bytes))
            continue;
        return at;
    }
    return SIZE_MAX;
}

static struct seam_numbers seam_numbers(const struct trial *t)
{
    return (struct seam_numbers){(size_t)t->variant->expect->arithmetic / 8, t->state};
}

/* Compare everything with what should be there. */
static void compare(const struct trial *t, enum kernel kernel, const struct launch *l,
                    struct tally *tally)
{
    const struct view *const v = &t->ground.view;
    const size_t element = kernel_tests[kernel].element(v);
    const struct seam_numbers numbers = seam_numbers(t);
    bool different = false;
    for (int k = 0; k < l->count && kernel_tests[kernel].settle; k++)
        for (int which = 0; which < 2; which++)
            kernel_tests[kernel].settle(&l->work[k],
                                        (which ? t->wanted : t->after)[BUFFERS] + l->at[k]);
    for (int k = 0; k < l->count && takes_seam(kernel); k++)
        for (int which = 0; which < 2 && l->bytes[k]; which++)
            seam_settle(&l->work[k], v, &numbers,
                        (which ? t->wanted : t->after)[BUFFERS] + l->at[k]);
    /* The sets, each with what lies before it, then the buffers. */
    for (int set = 0; set <= v->sets; set++) {
        const bool buffers = set == v->sets;
        const int m = buffers ? BUFFERS : POPULATIONS;
        const size_t from = buffers || set == 0 ? 0 : t->set[set] - GUARD;
        const size_t end = buffers              ? l->whole
                           : set + 1 == v->sets ? t->size[POPULATIONS]
                                                : t->set[set + 1] - GUARD;
        const size_t bytes = buffers ? element : v->set[set].bits / 8;
        /* Eight bytes at a time where there is no number to show. */
        const size_t number = bytes < 2 || bytes > 8 ? 8 : bytes;
        size_t at = first_difference(t->after[m] + from, t->wanted[m] + from,
                                     (end - from) / number * number, number);
        if (at == SIZE_MAX)
            continue;
        at += from;
        if (tally->different == 0 && !different) {
            char where[160], is[48], wanted[48];
            if (buffers)
                describe_buffer(l, at, number, where, sizeof where);
            else
                describe_population(t, at, where, sizeof where);
            describe_number(is, sizeof is, t->after[m] + at, number);
            describe_number(wanted, sizeof wanted, t->wanted[m] + at, number);
            snprintf(tally->first, sizeof tally->first, "%s, %s, %s step: %s is %s, should be %s",
                     t->about, l->what, t->odd ? "odd" : "even", where, is, wanted);
        }
        different = true;
    }
    if (memcmp(t->tags, t->ground.tags, t->ground.cells) != 0) {
        if (tally->different == 0 && !different)
            snprintf(tally->first, sizeof tally->first, "%s, %s: tags were written", t->about,
                     l->what);
        different = true;
    }
    tally->launches++;
    tally->different += different;
}

/* ---- launches ---- */

/* The launch's works with their buffers in this memory, and the view's tags: parts have cells of
 * one. Velocities before lie behind the partial results. */
static void work_in(const struct launch *l, enum kernel kernel, int odd, const struct view *v,
                    const struct initial *initial, char *buffers, struct work *work)
{
    for (int k = 0; k < l->count; k++) {
        work[k] = l->work[k];
        struct task *const t = &work[k].task;
        t->odd = odd;
        t->open = 1;
        t->buffer = buffers + l->at[k];
        if (kernel == KERNEL_begin)
            t->initial = initial;
        if (kernel == KERNEL_change)
            t->change.before = (struct change *)t->buffer + t->workers;
        if ((kernel == KERNEL_mass || kernel == KERNEL_raise) && t->mass.parts)
            t->mass.parts = v->tags;
        if (takes_seam(kernel) && l->bytes[k])
            t->seam.lists = seam_of(t->buffer);
    }
}

/* Velocities beyond the block can be any numbers: populations. */
static void set_populations(const struct trial *t, struct view *v, char *memory)
{
    for (int set = 0; set < v->sets; set++)
        v->set[set].populations = memory + t->set[set];
    v->layers = v->set[SET_flow].populations;
}

/* ---- lifted rows ---- */

/* Puts the rows of all sets into the order of the launches' view, or back. */
static void reorder(const struct trial *t, char *memory, bool back)
{
    const struct view *const v = &t->ground.view;
    const size_t n = (size_t)v->n[0], rows = (t->ground.cells - view_first(v)) / (size_t)v->row;
    char *const row = malloc(n * sizeof(double));
    for (int set = 0; set < v->sets && row; set++) {
        const size_t bytes = v->set[set].bits / 8, slots = v->set[set].q;
        for (size_t k = 0; k < slots * rows; k++) {
            const size_t cell = view_first(v) + (size_t)v->ghost[0] + k % rows * (size_t)v->row;
            char *const at = memory + t->set[set] + (k / rows * v->set[set].stride + cell) * bytes;
            memcpy(row, at, n * bytes);
            for (size_t x = 0; x < n; x++) {
                const size_t p = (size_t)lifted_position(&t->view.lifted, (int)x);
                memcpy(at + (back ? x : p) * bytes, row + (back ? p : x) * bytes, bytes);
            }
        }
    }
    free(row);
}

/* Can a launch be compared? Boxes of the step have to divide the block, or its rows. Lists have
 * indices of plain rows. Parts have plain rows, too, and this test takes the lifted tags for them.
 */
static bool comparable(const struct trial *t, enum kernel kernel, const struct launch *l)
{
    const struct box all = ground_all(&t->ground);
    bool whole = true;
    size_t cells = 0;
    for (int k = 0; k < l->count; k++) {
        const struct work *const w = &l->work[k];
        whole = whole && w->box.lo[0] == 0 && w->box.hi[0] == all.hi[0];
        cells += box_cells(&w->box);
        if ((kernel == KERNEL_mass || kernel == KERNEL_raise) && w->task.mass.parts)
            return false;
    }
    return !takes_seam(kernel) && (kernel != KERNEL_step || whole || cells == box_cells(&all));
}

/* The same buffers with the lists of a launch, for memory `there`. */
static void write_lists(const struct trial *t, const struct launch *l, char *buffers,
                        const char *there)
{
    const struct seam_numbers numbers = seam_numbers(t);
    for (int k = 0; k < l->count; k++)
        if (l->bytes[k])
            seam_fill(l, k, &t->ground.view, &numbers, buffers + l->at[k], there + l->at[k]);
}

static enum status run_launch(struct trial *t, enum kernel kernel, const struct launch *l)
{
    struct backend *const b = t->backend;
    const struct backend_type *const type = b->type;
    const size_t size[2] = {t->size[POPULATIONS], l->whole};
    /* What a buffer of doubles holds are doubles in every precision. */
    const bool wide = kernel_tests[kernel].element(&t->view) == sizeof(double);
    const bool listed = takes_seam(kernel);
    const char *const before[2] = {t->before[POPULATIONS], listed ? t->listed
                                                           : wide ? t->before[WIDE]
                                                                  : t->before[BUFFERS]};
    struct work work[2 * WORK_MOST];
    struct view v = t->view;

    if (listed) {
        memcpy(t->listed, t->before[BUFFERS], l->whole);
        write_lists(t, l, t->listed, t->memory[BUFFERS]);
    }
    const bool lifted = t->view.lifted.lines > 1;
    if (lifted) {
        memcpy(t->after[POPULATIONS], before[POPULATIONS], size[POPULATIONS]);
        reorder(t, t->after[POPULATIONS], false);
        memcpy(t->lifted, t->after[POPULATIONS], size[POPULATIONS]);
    }
    for (int m = 0; m < 2; m++)
        type->copy(b, QUEUE_INTERIOR, t->memory[m],
                   lifted && m == POPULATIONS ? t->after[m] : before[m], size[m]);
    type->after(b, QUEUE_SHELL, QUEUE_INTERIOR);
    set_populations(t, &v, t->memory[POPULATIONS]);
    work_in(l, kernel, t->odd, &v, t->initial[0], t->memory[BUFFERS], work);
    if (l->shell > 0)
        type->launch(b, QUEUE_SHELL, kernel, &v, work, l->shell);
    if (l->count > l->shell)
        type->launch(b, QUEUE_INTERIOR, kernel, &v, work + l->shell, l->count - l->shell);
    type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    for (int m = 0; m < 2; m++)
        type->copy(b, QUEUE_INTERIOR, t->after[m], t->memory[m], size[m]);

    for (int m = 0; m < 2; m++)
        memcpy(t->wanted[m], before[m], size[m]);
    if (listed)
        write_lists(t, l, t->wanted[BUFFERS], t->wanted[BUFFERS]);
    v = t->ground.view;
    set_populations(t, &v, t->wanted[POPULATIONS]);
    if (lifted)
        v.layers = (double *)(t->lifted + t->set[SET_flow]);
    work_in(l, kernel, t->odd, &v, t->initial[1], t->wanted[BUFFERS], work);
    const uint64_t mode = rounding_exact();
    for (int k = 0; k < l->count; k++)
        t->variant->expect->kernel[kernel](&v, &work[k]);
    rounding_set(mode);
    const enum status shell = type->wait(b, QUEUE_SHELL), interior = type->wait(b, QUEUE_INTERIOR);
    if (lifted)
        reorder(t, t->after[POPULATIONS], true);
    return shell ? shell : interior;
}

/* All launches of the kernels `first` to `last` on a block, in one state. */
static enum status run_plans(struct trial *t, int first, int last, struct tally tally[][STATES])
{
    for (int kernel = first; kernel <= last; kernel++)
        for (int k = 0; k < t->plan[kernel].count; k++)
            for (t->odd = 0; t->odd < 2; t->odd++) {
                const struct launch *const l = &t->plan[kernel].launch[k];
                if (t->view.lifted.lines > 1 && !comparable(t, (enum kernel)kernel, l))
                    continue;
                const enum status status = run_launch(t, (enum kernel)kernel, l);
                if (status)
                    return status;
                compare(t, (enum kernel)kernel, l, &tally[kernel][t->state]);
            }
    return STATUS_OK;
}

/* ---- blocks ---- */

static void trial_destroy(struct trial *t)
{
    struct backend *const b = t->backend;
    if (b) {
        b->type->free_host(b, t->before[WIDE]);
        b->type->free_host(b, t->listed);
    }
    for (int m = 0; m < 2 && b; m++) {
        b->type->free(b, t->memory[m]);
        b->type->free_host(b, t->before[m]);
        b->type->free_host(b, t->after[m]);
        free(t->wanted[m]);
    }
    if (b) {
        b->type->free(b, t->initial[0]);
        b->type->free_host(b, t->initial[1]);
        b->type->close(b);
    }
    free(t->plan);
    free(t->lifted);
    free(t->tags);
    ground_destroy(&t->ground);
}

/* A block as random as its seed. */
static enum status trial_create(struct trial *t, const struct variant *v, const int n[3],
                                const int ghost[3], struct mixture m, uint64_t seed)
{
    uint64_t random = seed;
    const int threads = 1 + random_below(&random, 2);
    *t = (struct trial){.variant = v, .stored = (size_t)v->expect->storage / 8};
    snprintf(t->about, sizeof t->about, "%d x %d x %d cells, ghosts %d%d%d, %s%s%s (block %llu)",
             n[0], n[1], n[2], ghost[0], ghost[1], ghost[2], mixture_name(m),
             m.closed ? ", closed" : "", m.sparse ? ", sparse" : "", (unsigned long long)seed);
    const enum status status = variant_open(&t->backend, v, threads);
    if (status)
        return status;
    t->plan = calloc(KERNELS, sizeof *t->plan);
    bool ok = t->plan && ground_create(&t->ground, n, ghost, m, SCENE_random, t->stored, random);
    t->tags = ok ? malloc(t->ground.cells) : NULL;
    ok = ok && t->tags;
    if (!ok)
        return fail_machine("out of memory");
    memcpy(t->tags, t->ground.tags, t->ground.cells);
    if (!initial_create(t->initial, t->backend, &t->ground.view, seed))
        return fail_machine("out of memory for an initial flow");
    t->size[POPULATIONS] = GUARD;
    for (int set = 0; set < t->ground.view.sets; set++) {
        const struct population_set *const of = &t->ground.view.set[set];
        t->set[set] = t->size[POPULATIONS];
        t->size[POPULATIONS] += (set_cell_bytes(of) * of->stride + 63) / 64 * 64 + GUARD;
    }
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        plan_make(&t->plan[kernel], (enum kernel)kernel, &t->ground, random);
        for (int k = 0; k < t->plan[kernel].count; k++)
            if (t->plan[kernel].launch[k].whole > t->size[BUFFERS])
                t->size[BUFFERS] = t->plan[kernel].launch[k].whole;
    }
    for (int which = 0; which < 2; which++) {
        const size_t bytes = t->size[which] = (t->size[which] + 7) / 8 * 8;
        t->memory[which] = t->backend->type->alloc(t->backend, bytes, 1);
        t->before[which] = t->backend->type->alloc_host(t->backend, bytes);
        t->after[which] = t->backend->type->alloc_host(t->backend, bytes);
        t->wanted[which] = malloc(bytes);
        ok = ok && t->memory[which] && t->before[which] && t->after[which] && t->wanted[which];
    }
    t->before[WIDE] = t->backend->type->alloc_host(t->backend, t->size[BUFFERS]);
    t->listed = t->backend->type->alloc_host(t->backend, t->size[BUFFERS]);
    t->lifted = malloc(t->size[POPULATIONS]);
    ok = ok && t->before[WIDE] && t->listed && t->lifted;
    if (!ok)
        return fail_machine("out of memory for %s", t->about);
    return t->backend->type->prepare(t->backend, &t->ground.view, &t->view);
}

/* Numbers of the state everywhere: in a set and before it those of its kind. */
static void fill(const struct trial *t, uint64_t seed)
{
    const struct view *const v = &t->ground.view;
    for (int set = 0; set < v->sets; set++) {
        const size_t bytes = v->set[set].bits / 8, from = set ? t->set[set] - GUARD : 0;
        const size_t end = set + 1 < v->sets ? t->set[set + 1] - GUARD : t->size[POPULATIONS];
        state_fill(t->before[POPULATIONS] + from, (end - from) / bytes, bytes, t->state,
                   seed + 1000 * (uint64_t)set);
    }
    state_fill(t->before[BUFFERS], t->size[BUFFERS] / t->stored, t->stored, t->state, seed + 1);
    state_fill(t->before[WIDE], t->size[BUFFERS] / 8, 8, t->state, seed + 1);
}

static bool differs(struct tally tally[][STATES])
{
    bool any = false;
    for (int kernel = 0; kernel < KERNELS; kernel++)
        for (int state = 0; state < STATES; state++)
            any = any || tally[kernel][state].different > 0;
    return any;
}

/* The step with each operator alone and with all; the others do not know operators. Blocks with and
 * without open boundaries take turns, and of those without some are sparse: `turn` counts blocks,
 * and each three of them have everything. */
static enum status check_block(const struct variant *v, const int n[3], const int ghost[3],
                               uint64_t seed, int turn, bool first, struct tally tally[][STATES])
{
    enum status status = STATUS_OK;
    for (int k = 0; k < MIXTURES && !status && !(first && differs(tally)); k++) {
        struct mixture m = mixture(k);
        const int third = (turn + (m.collision != COLLISION_mixed)) % 3;
        m.closed = m.full ? third > 0 || m.one : (turn + k) % 2;
        m.sparse = m.full && third == 2 && !m.one;
        m.scalars = m.scalars && !m.one ? 1 + (turn + k) % SCALARS_MOST : m.scalars;
        struct trial t;
        status = trial_create(&t, v, n, ghost, m, seed + (uint64_t)k);
        for (int state = 0; state < STATES && !status && !(first && differs(tally)); state++) {
            /* states and expectations are made so, whatever mode the kernels run in */
            const uint64_t mode = rounding_exact();
            t.state = (enum state)state;
            fill(&t, seed + (uint64_t)(2 * state));
            rounding_set(mode);
            status = m.collision == COLLISION_mixed
                         ? run_plans(&t, 0, KERNELS - 1, tally)
                         : run_plans(&t, KERNEL_step, KERNEL_step, tally);
        }
        trial_destroy(&t);
    }
    return status;
}

/* All sizes with all kinds of axes, wrapped and with ghosts. */
static enum status check_blocks(const struct variant *v, const struct check *c,
                                struct tally tally[][STATES])
{
    static const int lengths[] = {1, 2, 3, 31, 32, 33, 65, 130}; /* about vectors and warps */
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    uint64_t random = c->seed;
    enum status status = STATUS_OK;
    int turn = 0;
    for (int length = 0; length < LENGTHS && !status; length++) {
        if (c->first && differs(tally))
            break;
        if (c->cells ? length > 0 : c->quick && lengths[length] != 33)
            continue;
        for (int axes = 0; axes < 8 && !status; axes++) {
            const int ghost[3] = {axes & 1, axes >> 1 & 1, axes >> 2};
            int n[3] = {lengths[length], 1 + random_below(&random, 5),
                        1 + random_below(&random, 4)};
            if (c->cells)
                memcpy(n, c->cells, sizeof n);
            const uint64_t seed = random_bits(&random) >> 40;
            /* Of a single size the block that has ghosts along all axes is tried in any case. */
            const int first = c->cells ? 0 : length + c->number;
            if (c->quick ? axes % 7 == 0 : (first + 7 - axes) % c->one_in == 0)
                status = check_block(v, n, ghost, seed, turn++, c->first, tally);
        }
    }
    return status;
}

enum status check_variant(const struct variant *v, const struct check *c, int *failed)
{
    struct tally tally[KERNELS][STATES] = {0};
    const enum status status = check_blocks(v, c, tally);
    const bool ended = status || (c->first && differs(tally));
    for (int kernel = 0; kernel < KERNELS; kernel++)
        for (int state = 0; state < STATES; state++) {
            const struct tally *const t = &tally[kernel][state];
            /* What the backend failed in before its turn is no result, nor what had no turn. */
            if (ended && t->different == 0)
                continue;
            if (v->lifted && takes_seam((enum kernel)kernel))
                continue;
            const bool bad = t->different > 0 || t->launches == 0;
            *failed += bad;
            if (c->quick && !bad)
                continue;
            printf("%-4s  %-24s %-8s %-10s %6ld launches", bad ? "FAIL" : "ok", v->name,
                   kernel_tests[kernel].name, state_names[state], t->launches);
            if (bad)
                printf(", %ld differ; first difference: %s", t->different,
                       t->launches ? t->first : "nothing was tried");
            printf("\n");
            json_array_append_new(
                c->report, json_pack("{ss ss ss sI sI ss}", "variant", v->name, "kernel",
                                     kernel_tests[kernel].name, "state", state_names[state],
                                     "launches", (json_int_t)t->launches, "different",
                                     (json_int_t)t->different, "first difference", t->first));
        }
    if (status) {
        printf("FAIL  %-24s the backend failed\n", v->name);
        ++*failed;
    }
    fflush(stdout);
    return status;
}
