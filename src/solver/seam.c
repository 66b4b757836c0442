/* The exchange between two levels; see seam.h. */
#include "solver/seam.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"
#include "solver/seam_lists.h"
#include "solver/transport.h"

/* Exchanges: numbers of messages to peers, and MPI tags from Q on; tags of halos are directions. */
enum { SENT, LEFT };

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

static size_t stored_bytes(const struct seam *s)
{
    return s->fine->view.set[SET_flow].bits / 8;
}

/* ---- messages ---- */

/* Messages of `bytes` for each of n elements: of what this rank needs, by owner, which lie from
 * `receive_at` on, and of what others asked for, from `send_at` on. */
static enum status make_messages(struct seam_exchange *x, MPI_Comm comm,
                                 const struct seam_needs *needs, const int *asked, size_t bytes,
                                 size_t receive_at, size_t send_at)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    x->send = calloc((size_t)ranks, sizeof *x->send);
    x->receive = calloc((size_t)ranks, sizeof *x->receive);
    x->request = calloc(2 * (size_t)ranks, sizeof *x->request);
    if (!x->send || !x->receive || !x->request)
        return fail_machine("out of memory for messages between levels");
    for (size_t k = 0, end; k < needs->count; k = end) {
        const int owner = needs->need[k].owner;
        for (end = k; end < needs->count && needs->need[end].owner == owner; end++)
            ;
        if (owner != rank)
            x->receive[x->receives++] = (struct seam_message){
                .rank = owner, .bytes = (end - k) * bytes, .at = (receive_at + k) * bytes};
    }
    for (int k = 0; k < ranks; k++)
        if (asked[k + 1] > asked[k])
            x->send[x->sends++] =
                (struct seam_message){.rank = k,
                                      .bytes = (size_t)(asked[k + 1] - asked[k]) * bytes,
                                      .at = (send_at + (size_t)asked[k]) * bytes};
    bool fit = true;
    for (int k = 0; k < x->sends; k++)
        fit = fit && x->send[k].bytes <= INT_MAX;
    for (int k = 0; k < x->receives; k++)
        fit = fit && x->receive[k].bytes <= INT_MAX;
    return fit ? STATUS_OK
               : fail_machine("a message between two levels has more than 2 GB (use more ranks)");
}

static void add_messages(struct peer_message *to, int *count, const struct seam_message *list,
                         int length, int number)
{
    for (int k = 0; k < length; k++)
        to[(*count)++] = (struct peer_message){list[k].rank, number, list[k].bytes};
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
        add_messages(in, &ins, x[k]->receive, x[k]->receives, k);
        add_messages(out, &outs, x[k]->send, x[k]->sends, k);
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
static enum status make_host(struct seam *s, struct seam_exchange *x, int number, void *memory,
                             size_t bytes)
{
    struct backend *const b = s->fine->backend;
    for (int half = 0; half < 2; half++) {
        for (int k = 0; k < x->sends; k++)
            x->send[k].peer[half] = peers_out(&s->peers, x->send[k].rank, number, half);
        for (int k = 0; k < x->receives; k++)
            x->receive[k].peer[half] = peers_in(&s->peers, x->receive[k].rank, number, half);
    }
    for (int k = 0; k < x->sends; k++)
        x->messages = x->messages || !x->send[k].peer[0];
    for (int k = 0; k < x->receives; k++)
        x->messages = x->messages || !x->receive[k].peer[0];
    x->memory = memory;
    x->host = memory;
    x->bytes = bytes;
    if (b->type->host_memory || s->fine->transport == TRANSPORT_device || !x->messages)
        return STATUS_OK;
    x->host = b->type->alloc_host(b, bytes);
    return x->host ? STATUS_OK
                   : fail_machine("out of memory on the host: %.4g GB that is not swapped out, for "
                                  "messages between levels",
                                  1e-9 * (double)bytes);
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
static enum status exchange(struct seam *s, int number)
{
    struct seam_exchange *const x = number == SENT ? &s->sent : &s->left;
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
            MPI_Irecv(receive + m->at, (int)m->bytes, MPI_BYTE, m->rank, Q + number, s->comm,
                      &x->request[count++]);
    for (const struct seam_message *m = x->send; m < x->send + x->sends; m++)
        if (!m->peer[half])
            MPI_Isend(x->host + m->at, status ? 0 : (int)m->bytes, MPI_BYTE, m->rank, Q + number,
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

/* Bytes of all lists. stored, scalar: of a population in memory and in computations. */
static double list_bytes(const struct seam_made *m, size_t stored, size_t scalar)
{
    const size_t sent = m->sent.count + m->sent_asked.count;
    const size_t left = 2 * m->link_count + m->left.count + m->left_asked.count;
    return (double)(m->values * sizeof *m->value + 6 * m->sent.count * sizeof *m->beside +
                    2 * m->link_count * sizeof *m->link + m->group_count * sizeof *m->group +
                    2 * SEAM_WALLS * sizeof *m->wall + m->exit_count * sizeof *m->exits +
                    m->entry_count * sizeof *m->entry + m->left_asked.count * sizeof *m->shared +
                    (sent + left) * stored + 4 * m->sent.count * scalar +
                    sizeof(struct seam_lists));
}

/* Collective. */
static enum status put_lists(struct seam *s, const struct seam_made *m)
{
    const size_t bytes = stored_bytes(s), sent = m->sent.count + m->sent_asked.count;
    const size_t left = 2 * m->link_count + m->left.count + m->left_asked.count;
    const size_t scalar = (size_t)precision_bits(s->fine->backend->arithmetic) / 8;
    enum status status = STATUS_OK;
    struct seam_lists *const l = &s->host;
    l->value = put(s, m->value, m->values, sizeof *m->value, &status);
    l->beside = put(s, m->beside, 6 * m->sent.count, sizeof *m->beside, &status);
    l->link[0] = put(s, m->link, m->link_count, sizeof *m->link, &status);
    l->link[1] = put(s, m->later, m->later_count, sizeof *m->later, &status);
    l->group = put(s, m->group, m->group_count, sizeof *m->group, &status);
    l->wall = put(s, m->wall, 2 * SEAM_WALLS, sizeof *m->wall, &status);
    l->exit = put(s, m->exits, m->exit_count, sizeof *m->exits, &status);
    l->entry = put(s, m->entry, m->entry_count, sizeof *m->entry, &status);
    l->shared = put(s, m->shared, m->left_asked.count, sizeof *m->shared, &status);
    l->sent = room_for(s, sent * bytes, &status);
    l->spread = room_for(s, 4 * m->sent.count * scalar, &status);
    l->left = room_for(s, left * bytes, &status);
    l->links = (uint32_t)m->link_count;
    l->share_to = (uint32_t)(2 * m->link_count + m->left.count);
    s->lists = put(s, l, 1, sizeof *l, &status);
    assert(status || s->bytes == list_bytes(m, bytes, scalar));
    s->values = (int)m->values;
    s->needed = (int)m->sent.count;
    s->shared = (int)m->left_asked.count;
    s->links = (int)m->link_count;
    s->groups = (int)m->group_count;
    if (!status)
        status = make_messages(&s->sent, s->comm, &m->sent, m->sent_first, bytes, 0, m->sent.count);
    if (!status)
        status = make_messages(&s->left, s->comm, &m->left, m->left_first, bytes, 2 * m->link_count,
                               l->share_to);
    status = status_agree(s->comm, status);
    if (!status)
        status = find_peers(s);
    if (!status)
        status = make_host(s, &s->sent, SENT, l->sent, sent * bytes);
    return status ? status : make_host(s, &s->left, LEFT, l->left, left * bytes);
}

/* Is a link of any rank handed what left the fine level at another rank? */
static bool hands(const struct seam_made *m, MPI_Comm comm)
{
    int any = 0;
    for (size_t k = 0; k < m->later_count; k++) {
        const uint32_t from = m->later[k].entry.from;
        any |= (from & SEAM_HANDED) && (from & ~SEAM_HANDED) >= 2 * m->link_count;
    }
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm);
    return any;
}

enum status seam_create(struct seam *s, const struct refined *r,
                        const struct flow_case *coarse_case, const struct flow_case *fine_case,
                        struct solver *coarse, struct solver *fine)
{
    const int level = coarse->domain->level;
    struct seam_made m = {.coarse = {r, level, coarse_case, coarse->domain},
                          .fine = {r, level + 1, fine_case, fine->domain}};
    *s = (struct seam){.comm = fine->domain->comm, .coarse = coarse, .fine = fine};
    enum status status = seam_make(&m, s->comm);
    if (!status)
        status = status_agree(s->comm, put_lists(s, &m));
    s->crossing = (int64_t)m.link_count;
    MPI_Allreduce(MPI_IN_PLACE, &s->crossing, 1, MPI_INT64_T, MPI_SUM, s->comm);
    s->messages = s->sent.sends + s->left.sends;
    MPI_Allreduce(MPI_IN_PLACE, &s->messages, 1, MPI_INT64_T, MPI_SUM, s->comm);
    s->hands = hands(&m, s->comm);
    seam_made_destroy(&m);
    if (status)
        seam_destroy(s);
    return status;
}

enum status seam_look(struct seam_facts *f, const struct refined *r,
                      const struct flow_case *coarse_case, const struct flow_case *fine_case,
                      const struct domain *coarse, const struct domain *fine)
{
    struct seam_made m = {.coarse = {r, coarse->level, coarse_case, coarse},
                          .fine = {r, fine->level, fine_case, fine}};
    const enum status status = seam_make(&m, fine->comm);
    f->crossing = (int64_t)m.link_count;
    f->bytes = list_bytes(&m, fine->view.set[SET_flow].bits / 8,
                          precision_bytes(fine_case->solver.arithmetic));
    seam_made_destroy(&m);
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
    struct seam_made m = {.coarse = {r, coarse_tags->level, coarse_case, coarse_tags},
                          .fine = {r, fine_tags->level, fine_case, fine_tags},
                          .wanted = {.coarse = coarse, .fine = fine}};
    const MPI_Comm comm = fine_tags->comm;
    const double bytes = (double)precision_bytes(fine_case->solver.storage);
    const int ranks = fine->ranks;
    size_t found = 0;
    *list = NULL;
    enum status status = seam_make_needs(&m, comm);
    const int times = m.wanted.hands ? 2 : 1;
    *waits = 1 + times;
    if (!status) {
        const bool room = add_sends(&m.sent, ranks, bytes, 1, list, &found) &&
                          add_sends(&m.left, ranks, bytes, times, list, &found);
        *count = (int)found;
        status = status_agree(
            comm, room ? STATUS_OK : fail_machine("out of memory for messages between levels"));
    }
    seam_made_destroy(&m);
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

/* Runs a kernel over a list, after all work on both levels. */
static void launch(const struct seam *s, struct solver *of, enum kernel kernel, int count, int odd,
                   int substep)
{
    struct backend *const b = of->backend;
    const struct work work = {{{0, 0, 0}, {count, 1, 1}},
                              {.odd = odd, .seam = s->lists, .substep = substep}};
    b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    if (count > 0)
        b->type->launch(b, QUEUE_INTERIOR, kernel, &of->view, &work, 1);
}

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
    launch(s, s->coarse, KERNEL_gather, s->values, odd, 0);
    const enum status status = exchange(s, SENT);
    launch(s, s->fine, KERNEL_slope, s->needed, 0, 0);
    phase(s, false);
    return status;
}

enum status seam_entered(struct seam *s, int substep)
{
    enum status status = STATUS_OK;
    phase(s, true);
    launch(s, s->fine, KERNEL_enter, s->links, 0, substep);
    if (substep == 1 && s->hands) {
        launch(s, s->fine, KERNEL_share, s->shared, 0, 0);
        status = exchange(s, LEFT);
    }
    phase(s, false);
    return status;
}

enum status seam_coalesced(struct seam *s)
{
    phase(s, true);
    launch(s, s->fine, KERNEL_share, s->shared, 0, 0);
    const enum status status = exchange(s, LEFT);
    launch(s, s->coarse, KERNEL_coalesce, s->groups, (int)(s->coarse->step & 1), 0);
    phase(s, false);
    return status;
}
