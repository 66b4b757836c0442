/* The exchange between two levels; see seam.h. */
#include "solver/seam.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"
#include "solver/seam_lists.h"
#include "solver/transport.h"

/* Kinds of exchanges. Messages of set k have the numbers 2 k + the kind, and MPI tags from Q on;
 * tags of halos are directions. */
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

static enum status make_exchange(struct seam_exchange *x, int ranks, int sets)
{
    const size_t most = (size_t)ranks * (size_t)sets;
    x->send = calloc(most, sizeof *x->send);
    x->receive = calloc(most, sizeof *x->receive);
    x->request = calloc(2 * most, sizeof *x->request);
    return x->send && x->receive && x->request
               ? STATUS_OK
               : fail_machine("out of memory for messages between levels");
}

/* Adds messages of `bytes` for each of n elements: of what this rank needs, by owner, which lie
 * from byte `receive_at` on, and of what others asked for, from `send_at` on. */
static enum status add_messages(struct seam_exchange *x, MPI_Comm comm, int number,
                                const struct seam_needs *needs, const int *asked, size_t bytes,
                                size_t receive_at, size_t send_at)
{
    int rank, ranks;
    bool fit = true;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (size_t k = 0, end; k < needs->count; k = end) {
        const int owner = needs->need[k].owner;
        for (end = k; end < needs->count && needs->need[end].owner == owner; end++)
            ;
        if (owner != rank)
            x->receive[x->receives++] = (struct seam_message){.rank = owner,
                                                              .number = number,
                                                              .bytes = (end - k) * bytes,
                                                              .at = receive_at + k * bytes};
        fit = fit && (end - k) * bytes <= INT_MAX;
    }
    for (int k = 0; k < ranks; k++) {
        const size_t size = (size_t)(asked[k + 1] - asked[k]) * bytes;
        if (size > 0)
            x->send[x->sends++] = (struct seam_message){.rank = k,
                                                        .number = number,
                                                        .bytes = size,
                                                        .at = send_at + (size_t)asked[k] * bytes};
        fit = fit && size <= INT_MAX;
    }
    return fit ? STATUS_OK
               : fail_machine("a message between two levels has more than 2 GB (use more ranks)");
}

static void add_peers(struct peer_message *to, int *count, const struct seam_message *list,
                      int length)
{
    for (int k = 0; k < length; k++)
        to[(*count)++] = (struct peer_message){list[k].rank, list[k].number, list[k].bytes};
}

/* Looks for peers among the ranks with messages. Collective. */
static enum status find_peers(struct seam *s)
{
    const struct seam_exchange *const x[] = {[SENT] = &s->sent, [LEFT] = &s->left};
    const size_t room = (size_t)(s->sent.receives + s->left.receives + 1);
    struct peer_message *const in = calloc(room, sizeof *in);
    struct peer_message *const out =
        calloc((size_t)(s->sent.sends + s->left.sends + 1), sizeof *out);
    int ins = 0, outs = 0;
    enum status status = in && out ? STATUS_OK : fail_machine("out of memory for messages");
    status = status_agree(s->comm, status);
    for (int k = SENT; k <= LEFT && !status; k++) {
        add_peers(in, &ins, x[k]->receive, x[k]->receives);
        add_peers(out, &outs, x[k]->send, x[k]->sends);
    }
    if (!status)
        status =
            peers_create(&s->peers, s->comm, s->fine->backend, QUEUE_INTERIOR, in, ins, out, outs);
    s->bytes += peers_bytes(&s->peers);
    free(in);
    free(out);
    return status;
}

/* Gives messages to the peers concerned; what else MPI takes from the backend's memory, or from a
 * copy of it on the host. */
static enum status make_host(struct seam *s, struct seam_exchange *x)
{
    struct backend *const b = s->fine->backend;
    for (int half = 0; half < 2; half++) {
        for (int k = 0; k < x->sends; k++)
            x->send[k].peer[half] = peers_out(&s->peers, x->send[k].rank, x->send[k].number, half);
        for (int k = 0; k < x->receives; k++)
            x->receive[k].peer[half] =
                peers_in(&s->peers, x->receive[k].rank, x->receive[k].number, half);
    }
    for (int k = 0; k < x->sends; k++)
        x->messages = x->messages || !x->send[k].peer[0];
    for (int k = 0; k < x->receives; k++)
        x->messages = x->messages || !x->receive[k].peer[0];
    x->host = x->memory;
    if (b->type->host_memory || s->fine->transport == TRANSPORT_device || !x->messages)
        return STATUS_OK;
    x->host = b->type->alloc_host(b, x->bytes);
    return x->host ? STATUS_OK
                   : fail_machine("out of memory on the host: %.4g GB that is not swapped out, for "
                                  "messages between levels",
                                  1e-9 * (double)x->bytes);
}

/* Where MPI receives. After a failure of the backend not in its memory, which may be lost. */
static char *receive_to(const struct seam *s, struct seam_exchange *x, enum status status)
{
    if (!status || x->host != x->memory || s->fine->backend->type->host_memory)
        return x->host;
    if (!x->spare)
        x->spare = transport_spare(s->comm, x->bytes);
    return x->spare;
}

/* Sends and receives. After a failure of the backend others still get empty messages. */
static enum status exchange(struct seam *s, struct seam_exchange *x)
{
    struct backend *const b = s->fine->backend;
    const int half = (int)(++s->exchanges & 1);
    const bool staged = x->host != x->memory;
    int count = 0;
    if (x->sends + x->receives + s->peers.count == 0)
        return STATUS_OK;
    for (const struct seam_message *m = x->send; m < x->send + x->sends; m++)
        if (m->peer[half])
            b->type->copy(b, QUEUE_INTERIOR, m->peer[half], x->memory + m->at, m->bytes);
        else if (staged)
            b->type->copy(b, QUEUE_INTERIOR, x->host + m->at, x->memory + m->at, m->bytes);
    enum status status = peers_tell(&s->peers, s->exchanges);
    if (x->messages && b->type->wait(b, QUEUE_INTERIOR))
        status = STATUS_MACHINE;
    char *const receive = receive_to(s, x, status);
    for (const struct seam_message *m = x->receive; m < x->receive + x->receives; m++)
        if (!m->peer[half])
            MPI_Irecv(receive + m->at, (int)m->bytes, MPI_BYTE, m->rank, Q + m->number, s->comm,
                      &x->request[count++]);
    for (const struct seam_message *m = x->send; m < x->send + x->sends; m++)
        if (!m->peer[half])
            MPI_Isend(x->host + m->at, status ? 0 : (int)m->bytes, MPI_BYTE, m->rank, Q + m->number,
                      s->comm, &x->request[count++]);
    MPI_Waitall(count, x->request, MPI_STATUSES_IGNORE);
    peers_hear(&s->peers, s->exchanges);
    for (const struct seam_message *m = x->receive; m < x->receive + x->receives; m++)
        if (m->peer[half])
            b->type->copy(b, QUEUE_INTERIOR, x->memory + m->at, m->peer[half], m->bytes);
        else if (staged)
            b->type->copy(b, QUEUE_INTERIOR, x->memory + m->at, x->host + m->at, m->bytes);
    return status;
}

static void exchange_destroy(struct seam *s, struct seam_exchange *x)
{
    struct backend *const b = s->fine ? s->fine->backend : NULL;
    if (b && x->host != x->memory)
        b->type->free_host(b, x->host);
    free(x->send);
    free(x->receive);
    free(x->request);
    free(x->spare);
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

/* Lists on the host -> memory of the backend. */
static enum status put_made(struct seam *s, struct seam_lists *l, const struct seam_made *m)
{
    enum status status = STATUS_OK;
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

/* The lists and messages of a set, whose parts of the memory of the exchanges begin at these bytes.
 */
static enum status put_set(struct seam *s, int set, const struct seam_made *m, size_t sent_at,
                           size_t left_at)
{
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
    l->sent = s->sent.memory + sent_at;
    l->left = s->left.memory + left_at;
    l->spread = room_for(s, 4 * m->sent.count * scalar, &status);
    to->lists = put(s, l, 1, sizeof *l, &status);
    to->values = (int)m->values;
    to->needed = (int)m->sent.count;
    to->shared = (int)m->left_asked.count;
    to->links = (int)m->link_count;
    to->groups = (int)m->group_count;
    if (!status)
        status = add_messages(&s->sent, s->comm, 2 * set + SENT, &m->sent, m->sent_first, bytes,
                              sent_at, sent_at + m->sent.count * bytes);
    if (!status)
        status = add_messages(&s->left, s->comm, 2 * set + LEFT, &m->left, m->left_first, bytes,
                              left_at + 2 * m->link_count * bytes, left_at + l->share_to * bytes);
    return status;
}

/* Collective. */
static enum status put_lists(struct seam *s, const struct seam_made m[MADE])
{
    const struct view *const v = &s->fine->view;
    size_t sent_at = 0, left_at = 0;
    enum status status = STATUS_OK;
    int ranks;
    MPI_Comm_size(s->comm, &ranks);
    for (int set = 0; set < s->sets; set++) {
        s->sent.bytes += part_bytes(sent_values(made_for(m, set)), stored_bytes(v, set));
        s->left.bytes += part_bytes(left_values(made_for(m, set)), stored_bytes(v, set));
    }
    s->sent.memory = room_for(s, s->sent.bytes, &status);
    s->left.memory = room_for(s, s->left.bytes, &status);
    if (!status)
        status = make_exchange(&s->sent, ranks, s->sets);
    if (!status)
        status = make_exchange(&s->left, ranks, s->sets);
    for (int set = 0; set < s->sets && !status; set++) {
        status = put_set(s, set, made_for(m, set), sent_at, left_at);
        sent_at += part_bytes(sent_values(made_for(m, set)), stored_bytes(v, set));
        left_at += part_bytes(left_values(made_for(m, set)), stored_bytes(v, set));
    }
    assert(status || s->bytes == all_bytes(m, v, precision_bytes(s->fine->backend->arithmetic)));
    status = status_agree(s->comm, status);
    if (!status)
        status = find_peers(s);
    if (!status)
        status = make_host(s, &s->sent);
    return status ? status : make_host(s, &s->left);
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
    *s = (struct seam){
        .comm = fine->domain->comm, .coarse = coarse, .fine = fine, .sets = fine->view.sets};
    enum status status = make_all(m, s->sets, &about, s->comm, seam_make);
    if (!status)
        status = status_agree(s->comm, put_lists(s, m));
    s->crossing = (int64_t)m[SET_flow].link_count;
    MPI_Allreduce(MPI_IN_PLACE, &s->crossing, 1, MPI_INT64_T, MPI_SUM, s->comm);
    s->messages = s->sent.sends + s->left.sends;
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

/* Gives all processes what each of them counted. */
static enum status share_sends(struct seam_sends **list, int *count, MPI_Comm comm)
{
    int processes;
    MPI_Comm_size(comm, &processes);
    int *const counts = calloc(2 * (size_t)processes, sizeof *counts), all = 0,
               mine = *count * (int)sizeof **list;
    enum status status = status_agree(
        comm, counts ? STATUS_OK : fail_machine("out of memory for messages between levels"));
    if (status) {
        free(counts);
        return status;
    }
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm);
    for (int k = 0; k < processes; all += counts[k++])
        counts[processes + k] = all;
    struct seam_sends *const joined = malloc((size_t)all + 1);
    status = status_agree(comm, joined ? STATUS_OK
                                       : fail_machine("out of memory for messages between levels"));
    if (!status) {
        MPI_Allgatherv(*list, mine, MPI_BYTE, joined, counts, counts + processes, MPI_BYTE, comm);
        free(*list);
        *list = joined;
        *count = all / (int)sizeof *joined;
    } else {
        free(joined);
    }
    free(counts);
    return status;
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
        *count = (int)found;
        status = status_agree(
            comm, room ? STATUS_OK : fail_machine("out of memory for messages between levels"));
    }
    destroy_all(m);
    if (!status)
        status = share_sends(list, count, comm);
    if (status) {
        free(*list);
        *list = NULL;
    }
    return status;
}

void seam_destroy(struct seam *s)
{
    struct backend *const b = s->fine ? s->fine->backend : NULL;
    peers_destroy(&s->peers);
    exchange_destroy(s, &s->sent);
    exchange_destroy(s, &s->left);
    for (int k = 0; k < s->arrays; k++)
        b->type->free(b, s->array[k]);
    *s = (struct seam){0};
}

/* ---- a step ---- */

/* Runs a kernel over a list of each set, after all work on both levels. Lengths: of struct
 * seam_set, at `length`. */
static void launch(const struct seam *s, struct solver *of, enum kernel kernel, size_t length,
                   int odd, int substep)
{
    struct backend *const b = of->backend;
    b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    for (const struct seam_set *set = s->set; set < s->set + s->sets; set++) {
        const int count = *(const int *)(const void *)((const char *)set + length);
        const struct work work = {{{0, 0, 0}, {count, 1, 1}},
                                  {.odd = odd, .seam = set->lists, .substep = substep}};
        if (count > 0)
            b->type->launch(b, QUEUE_INTERIOR, kernel, &of->view, &work, 1);
    }
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
    const enum status status = exchange(s, &s->sent);
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
        status = exchange(s, &s->left);
    }
    phase(s, false);
    return status;
}

enum status seam_coalesced(struct seam *s)
{
    phase(s, true);
    launch(s, s->fine, KERNEL_share, LENGTH(shared), 0, 0);
    const enum status status = exchange(s, &s->left);
    launch(s, s->coarse, KERNEL_coalesce, LENGTH(groups), (int)(s->coarse->step & 1), 0);
    phase(s, false);
    return status;
}
