/* The exchange between two levels; see seam.h. */
#include "solver/seam.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"
#include "solver/seam_lists.h"

/* Kinds of exchanges. MPI tags are from Q on; those of halos are directions. */
enum { SENT, LEFT };

/* Lists that are made: those of the flow, and those that all scalars have. */
enum { MADE = 2 };

static const struct seam_made *made_for(const struct seam_made m[MADE], int set)
{
    return &m[set == SET_flow ? 0 : 1];
}

/* ---- memory ---- */

/* Memory of the backend, freed with the seam; *status is set on failure. */
static void *room_for(struct seam *s, size_t bytes, enum status *status)
{
    void *const memory =
        *status ? NULL : solver_alloc(s->fine, 1, 1, bytes ? bytes : 1, "the seam of two levels");
    if (!memory) {
        *status = STATUS_MACHINE;
        return NULL;
    }
    s->array[s->arrays++] = memory;
    s->bytes += (double)bytes;
    return memory;
}

/* A copy of an array in memory of the backend. */
static const void *put(struct seam *s, const void *from, size_t count, size_t bytes,
                       enum status *status)
{
    void *const memory = room_for(s, count * bytes, status);
    if (memory && count)
        *status = solver_copy_in(s->fine, memory, from, count * bytes);
    return memory;
}

static size_t stored_bytes(const struct view *v, int set)
{
    return v->set[set].bits / 8;
}

/* ---- messages ---- */

/* Adds messages of a set: of what this rank needs, by owner, which lies from byte `receive_at` of
 * the kind's memory on, and of what others asked for, from `send_at` on. */
static void add_messages(struct seam *s, int set, int kind, const struct seam_needs *needs,
                         const int *asked, size_t receive_at, size_t send_at)
{
    const size_t bytes = stored_bytes(&s->fine->view, set);
    struct exchange_message m = {.number = EXCHANGE_KINDS * set + kind, .kind = kind};
    int rank, ranks;
    MPI_Comm_rank(s->comm, &rank);
    MPI_Comm_size(s->comm, &ranks);
    for (size_t k = 0, end; k < needs->count; k = end) {
        m.rank = needs->need[k].owner;
        for (end = k; end < needs->count && needs->need[end].owner == m.rank; end++)
            ;
        m.bytes = (end - k) * bytes;
        m.at = receive_at + k * bytes;
        if (m.rank != rank)
            exchange_add(&s->exchange, false, m);
    }
    for (m.rank = 0; m.rank < ranks; m.rank++) {
        m.bytes = (size_t)(asked[m.rank + 1] - asked[m.rank]) * bytes;
        m.at = send_at + (size_t)asked[m.rank] * bytes;
        if (m.bytes > 0)
            exchange_add(&s->exchange, true, m);
    }
}

/* ---- create ---- */

/* Values in `sent` and `left` of a set. */
static size_t sent_values(const struct seam_made *m)
{
    return m->sent.count + m->sent_asked.count;
}

static size_t left_values(const struct seam_made *m)
{
    return 2 * m->link_count + m->left.count + m->left_asked.count;
}

/* Bytes of a set's part of the memory of an exchange: whole cache lines. */
static size_t part_bytes(size_t values, size_t stored)
{
    return (values * stored + 63) / 64 * 64;
}

/* Bytes of the lists that sets share. */
static double made_bytes(const struct seam_made *m)
{
    return (double)(m->values * sizeof *m->value + 6 * m->sent.count * sizeof *m->beside +
                    2 * m->link_count * sizeof *m->link + m->group_count * sizeof *m->group +
                    2 * SEAM_WALLS * sizeof *m->wall + m->exit_count * sizeof *m->exits +
                    m->entry_count * sizeof *m->entry + m->left_asked.count * sizeof *m->shared);
}

/* Bytes of all lists of the sets of a view. scalar: of a population in computations. */
static double all_bytes(const struct seam_made m[MADE], const struct view *v, size_t scalar)
{
    double bytes = 0;
    for (int set = 0; set < v->sets; set++) {
        const struct seam_made *const made = made_for(m, set);
        const size_t stored = stored_bytes(v, set);
        bytes += set < MADE ? made_bytes(made) : 0;
        bytes +=
            (double)(part_bytes(sent_values(made), stored) + part_bytes(left_values(made), stored) +
                     4 * made->sent.count * scalar + sizeof(struct seam_lists));
    }
    return bytes;
}

/* Turns offsets in plain rows, as on the host, into those in the kernels' views. */
static void lift(const struct seam *s, const struct seam_made *m)
{
    const struct view *const fine = &s->fine->view, *const coarse = &s->coarse->view;
    for (size_t k = 0; k < m->link_count && fine->lifted.lines > 1; k++)
        m->link[k].at = lifted_address(fine, m->set, m->link[k].at);
    for (size_t k = 0; k < m->later_count && fine->lifted.lines > 1; k++)
        m->later[k].at = lifted_address(fine, m->set, m->later[k].at);
    for (int odd = 0; odd < 2 && coarse->lifted.lines > 1; odd++) {
        for (size_t k = 0; k < m->values; k++)
            m->value[k].at[odd] = lifted_address(coarse, m->set, m->value[k].at[odd]);
        for (size_t k = 0; k < m->group_count; k++)
            m->group[k].at[odd] = lifted_address(coarse, m->set, m->group[k].at[odd]);
    }
}

/* Lists on the host -> memory of the backend. */
static enum status put_made(struct seam *s, struct seam_lists *l, const struct seam_made *m)
{
    enum status status = STATUS_OK;
    lift(s, m);
    l->value = put(s, m->value, m->values, sizeof *m->value, &status);
    l->beside = put(s, m->beside, 6 * m->sent.count, sizeof *m->beside, &status);
    l->link[0] = put(s, m->link, m->link_count, sizeof *m->link, &status);
    l->link[1] = put(s, m->later, m->later_count, sizeof *m->later, &status);
    l->group = put(s, m->group, m->group_count, sizeof *m->group, &status);
    l->wall = put(s, m->wall, 2 * SEAM_WALLS, sizeof *m->wall, &status);
    l->exit = put(s, m->exits, m->exit_count, sizeof *m->exits, &status);
    l->entry = put(s, m->entry, m->entry_count, sizeof *m->entry, &status);
    l->shared = put(s, m->shared, m->left_asked.count, sizeof *m->shared, &status);
    l->links = (uint32_t)m->link_count;
    l->share_to = (uint32_t)(2 * m->link_count + m->left.count);
    return status;
}

/* The lists and messages of a set, whose parts of the memory of the kinds begin at these bytes. */
static enum status put_set(struct seam *s, int set, const struct seam_made *m,
                           const size_t at[EXCHANGE_KINDS])
{
    struct exchange_memory *const kind = s->exchange.kind;
    const size_t bytes = stored_bytes(&s->fine->view, set);
    const size_t scalar = (size_t)precision_bits(s->fine->backend->arithmetic) / 8;
    const struct scalar_row *const rows = s->fine->domain->scalar;
    struct seam_set *const to = &s->set[set];
    struct seam_lists *const l = &to->host;
    enum status status = STATUS_OK;
    if (set < MADE)
        status = put_made(s, l, m);
    else
        *l = s->set[MADE - 1].host;
    l->set = set;
    l->limited = set != SET_flow && rows[(set - 1) * TAG_ROWS + TAG_FLUID].limited;
    l->sent = kind[SENT].memory + at[SENT];
    l->left = kind[LEFT].memory + at[LEFT];
    l->spread = room_for(s, 4 * m->sent.count * scalar, &status);
    to->lists = put(s, l, 1, sizeof *l, &status);
    to->values = (int)m->values;
    to->needed = (int)m->sent.count;
    to->shared = (int)m->left_asked.count;
    to->links = (int)m->link_count;
    to->groups = (int)m->group_count;
    add_messages(s, set, SENT, &m->sent, m->sent_asked.first, at[SENT],
                 at[SENT] + m->sent.count * bytes);
    add_messages(s, set, LEFT, &m->left, m->left_asked.first, at[LEFT] + 2 * m->link_count * bytes,
                 at[LEFT] + l->share_to * bytes);
    return status;
}

/* Collective. */
static enum status put_lists(struct seam *s, const struct seam_made m[MADE])
{
    const struct view *const v = &s->fine->view;
    struct exchange_memory *const kind = s->exchange.kind;
    size_t at[SETS][EXCHANGE_KINDS];
    enum status status = STATUS_OK;
    for (int set = 0; set < s->sets; set++) {
        at[set][SENT] = kind[SENT].bytes;
        at[set][LEFT] = kind[LEFT].bytes;
        kind[SENT].bytes += part_bytes(sent_values(made_for(m, set)), stored_bytes(v, set));
        kind[LEFT].bytes += part_bytes(left_values(made_for(m, set)), stored_bytes(v, set));
    }
    for (int k = 0; k < EXCHANGE_KINDS; k++)
        kind[k].memory = room_for(s, kind[k].bytes, &status);
    for (int set = 0; set < s->sets && !status; set++)
        status = put_set(s, set, made_for(m, set), at[set]);
    assert(status || s->bytes == all_bytes(m, v, precision_bytes(s->fine->backend->arithmetic)));
    status = status_agree(s->comm, status);
    if (!status)
        status = exchange_plan(&s->exchange);
    s->bytes += peers_bytes(&s->exchange.peers);
    return status;
}

/* Is a link of any rank handed what left the fine level at another rank? */
static bool hands(const struct seam_made m[MADE], MPI_Comm comm)
{
    int any = 0;
    for (int made = 0; made < MADE; made++)
        for (size_t k = 0; k < m[made].later_count; k++) {
            const uint32_t from = m[made].later[k].entry.from;
            any |= (from & SEAM_HANDED) && (from & ~SEAM_HANDED) >= 2 * m[made].link_count;
        }
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm);
    return any;
}

/* Makes the lists on the host. made: seam_make or seam_make_needs. Collective, errors as there. */
static enum status make_all(struct seam_made m[MADE], int sets, const struct seam_made *about,
                            MPI_Comm comm, enum status (*make)(struct seam_made *, MPI_Comm))
{
    enum status status = STATUS_OK;
    for (int set = 0; set < MADE; set++) {
        m[set] = *about;
        m[set].set = set;
        if (set < sets && !status)
            status = make(&m[set], comm);
    }
    return status;
}

static void destroy_all(struct seam_made m[MADE])
{
    for (int made = 0; made < MADE; made++)
        seam_made_destroy(&m[made]);
}

enum status seam_create(struct seam *s, const struct refined *r,
                        const struct flow_case *coarse_case, const struct flow_case *fine_case,
                        struct solver *coarse, struct solver *fine)
{
    const int level = coarse->domain->level;
    const struct seam_made about = {.coarse = {r, level, coarse_case, coarse->domain},
                                    .fine = {r, level + 1, fine_case, fine->domain}};
    struct seam_made m[MADE];
    *s = (struct seam){.comm = fine->domain->comm,
                       .coarse = coarse,
                       .fine = fine,
                       .sets = fine->view.sets,
                       .exchange = {.comm = fine->domain->comm,
                                    .backend = fine->backend,
                                    .queue = QUEUE_INTERIOR,
                                    .transport = fine->transport,
                                    .tag = Q,
                                    .size = stored_bytes(&fine->view, SET_flow),
                                    .what = "messages between levels"}};
    enum status status = make_all(m, s->sets, &about, s->comm, seam_make);
    if (!status)
        status = status_agree(s->comm, put_lists(s, m));
    s->crossing = (int64_t)m[SET_flow].link_count;
    MPI_Allreduce(MPI_IN_PLACE, &s->crossing, 1, MPI_INT64_T, MPI_SUM, s->comm);
    s->messages = s->exchange.sends;
    MPI_Allreduce(MPI_IN_PLACE, &s->messages, 1, MPI_INT64_T, MPI_SUM, s->comm);
    s->hands = hands(m, s->comm);
    destroy_all(m);
    if (status)
        seam_destroy(s);
    return status;
}

enum status seam_look(struct seam_facts *f, const struct refined *r,
                      const struct flow_case *coarse_case, const struct flow_case *fine_case,
                      const struct domain *coarse, const struct domain *fine)
{
    const struct seam_made about = {.coarse = {r, coarse->level, coarse_case, coarse},
                                    .fine = {r, fine->level, fine_case, fine}};
    struct seam_made m[MADE];
    const enum status status = make_all(m, fine->view.sets, &about, fine->comm, seam_make);
    f->crossing = (int64_t)m[SET_flow].link_count;
    f->bytes = all_bytes(m, &fine->view, precision_bytes(fine_case->solver.arithmetic));
    destroy_all(m);
    MPI_Allreduce(MPI_IN_PLACE, &f->crossing, 1, MPI_INT64_T, MPI_SUM, fine->comm);
    MPI_Allreduce(MPI_IN_PLACE, &f->bytes, 1, MPI_DOUBLE, MPI_SUM, fine->comm);
    return status;
}

/* Adds what this process counted: needs are by ranks. times: messages in a step. */
static bool add_sends(const struct seam_needs *needs, int ranks, double bytes, int times,
                      struct seam_sends **list, size_t *count)
{
    for (size_t k = 0, end; k < needs->count; k = end) {
        const int pair = needs->need[k].owner;
        for (end = k; end < needs->count && needs->need[end].owner == pair; end++)
            ;
        if (pair / ranks == pair % ranks)
            continue;
        const struct seam_sends sends = {.from = pair % ranks,
                                         .to = pair / ranks,
                                         .bytes = times * bytes * (double)(end - k),
                                         .messages = times};
        if (!ARRAY_ADD(*list, *count, sends))
            return false;
    }
    return true;
}

enum status seam_look_at_sends(const struct refined *r, const struct flow_case *coarse_case,
                               const struct flow_case *fine_case, const struct domain *coarse_tags,
                               const struct domain *fine_tags, const struct domain *coarse,
                               const struct domain *fine, struct seam_sends **list, int *count,
                               int *waits)
{
    const struct seam_made about = {.coarse = {r, coarse_tags->level, coarse_case, coarse_tags},
                                    .fine = {r, fine_tags->level, fine_case, fine_tags},
                                    .wanted = {.coarse = coarse, .fine = fine}};
    const MPI_Comm comm = fine_tags->comm;
    const struct view *const v = &fine_tags->view;
    const int ranks = fine->ranks;
    struct seam_made m[MADE];
    size_t found = 0;
    *list = NULL;
    enum status status = make_all(m, v->sets, &about, comm, seam_make_needs);
    const int times = m[0].wanted.hands || m[1].wanted.hands ? 2 : 1;
    *waits = 1 + times;
    if (!status) {
        bool room = true;
        for (int set = 0; set < v->sets; set++) {
            const struct seam_made *const made = made_for(m, set);
            const double bytes = (double)stored_bytes(v, set);
            room = room && add_sends(&made->sent, ranks, bytes, 1, list, &found) &&
                   add_sends(&made->left, ranks, bytes, times, list, &found);
        }
        status = status_agree(
            comm, room ? STATUS_OK : fail_machine("out of memory for messages between levels"));
    }
    destroy_all(m);
    if (!status)
        status = records_join(comm, list, &found, sizeof **list, "messages between levels");
    *count = (int)found;
    if (status) {
        free(*list);
        *list = NULL;
    }
    return status;
}

void seam_destroy(struct seam *s)
{
    struct backend *const b = s->fine ? s->fine->backend : NULL;
    exchange_destroy(&s->exchange);
    for (int k = 0; k < s->arrays; k++)
        b->type->free(b, s->array[k]);
    *s = (struct seam){0};
}

/* ---- a step ---- */

/* Runs a kernel over the lists of all sets, after all work on both levels. Lengths: of struct
 * seam_set, at `length`. */
static void launch(const struct seam *s, struct solver *of, enum kernel kernel, size_t length,
                   int odd, int substep)
{
    struct backend *const b = of->backend;
    struct work work[SETS];
    int lists = 0;
    b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    for (const struct seam_set *set = s->set; set < s->set + s->sets; set++) {
        const int count = *(const int *)(const void *)((const char *)set + length);
        if (count > 0)
            work[lists++] =
                (struct work){list_range(0, count), {.odd = odd, .seam = {set->lists, substep}}};
    }
    if (lists > 0)
        b->type->launch(b, QUEUE_INTERIOR, kernel, &of->view, work, lists);
}
#define LENGTH(list) offsetof(struct seam_set, list)

/* Begins or ends a part of the phase, which counts as time of the coarse level. */
static void phase(const struct seam *s, bool begin)
{
    struct backend *const b = s->coarse->backend;
    if (begin && b->timing) /* as launch() does: waiting for the levels is no part of it */
        b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    b->type->phase(b, QUEUE_INTERIOR, PHASE_seam, begin);
}

enum status seam_gathered(struct seam *s)
{
    const int odd = (int)((s->coarse->step - 1) & 1); /* of the step that was done */
    phase(s, true);
    launch(s, s->coarse, KERNEL_gather, LENGTH(values), odd, 0);
    const enum status status = exchange_at_once(&s->exchange, SENT);
    launch(s, s->fine, KERNEL_slope, LENGTH(needed), 0, 0);
    phase(s, false);
    return status;
}

enum status seam_entered(struct seam *s, int substep)
{
    enum status status = STATUS_OK;
    phase(s, true);
    launch(s, s->fine, KERNEL_enter, LENGTH(links), 0, substep);
    if (substep == 1 && s->hands) {
        launch(s, s->fine, KERNEL_share, LENGTH(shared), 0, 0);
        status = exchange_at_once(&s->exchange, LEFT);
    }
    phase(s, false);
    return status;
}

enum status seam_coalesced(struct seam *s)
{
    phase(s, true);
    launch(s, s->fine, KERNEL_share, LENGTH(shared), 0, 0);
    const enum status status = exchange_at_once(&s->exchange, LEFT);
    launch(s, s->coarse, KERNEL_coalesce, LENGTH(groups), (int)(s->coarse->step & 1), 0);
    phase(s, false);
    return status;
}
