/* Peers; see peers.h. */
#include "solver/peers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/clock.h"
#include "base/message.h"

enum { LOOKS = 100 };            /* looks at a flag between two calls of MPI */
enum { TRIAL = PEER_BLOCK / 2 }; /* most bytes of a message that are tried at once */

/* The last exchange that a rank told, alone in its cache line. */
struct flag {
    _Alignas(64) _Atomic int64_t told;
};
static const int64_t failed = INT64_MAX;

/* Data that a rank sends to the others of its host. */
struct host_offer {
    bool good;
    struct peer_handle handle;
    size_t half;
};

/* Has a peer failed, in any exchange of the backend? */
static bool any_failed(void *peers)
{
    bool any = false;
    for (const struct peers *p = peers; p; p = p->next)
        for (const struct peer_rank *w = p->with; w < p->with + p->count; w++)
            any = any || atomic_load(&w->flag->told) == failed;
    return any;
}

static void tell_failure(void *peers)
{
    for (struct peers *p = peers; p; p = p->next)
        atomic_store(&p->flag->told, failed);
}

static void enlist(struct peers *p)
{
    struct backend *const b = p->backend;
    p->next = b->peers;
    b->peers = p;
    b->peer_failed = any_failed;
    b->tell_peers = tell_failure;
}

/* If it is there. */
static void strike(struct peers *p)
{
    struct backend *const b = p->backend;
    struct peers *before = b->peers;
    while (before && before != p && before->next != p)
        before = before->next;
    if (before == p)
        b->peers = p->next;
    else if (before)
        before->next = p->next;
    if (!b->peers) {
        b->peer_failed = NULL;
        b->tell_peers = NULL;
    }
}

static const struct peer_rank *find(const struct peers *p, int rank)
{
    const struct peer_rank *w = p->with;
    while (w < p->with + p->count && w->rank != rank)
        w++;
    return w < p->with + p->count ? w : NULL;
}

/* Finds the ranks of messages among those of this host. */
static void find_places(const struct peers *p, MPI_Comm comm, struct exchange_message *list,
                        int count)
{
    MPI_Group all, near;
    MPI_Comm_group(comm, &all);
    MPI_Comm_group(p->node, &near);
    for (struct exchange_message *m = list; m < list + count; m++)
        MPI_Group_translate_ranks(all, 1, &m->rank, near, &m->place);
    MPI_Group_free(&all);
    MPI_Group_free(&near);
}

/* Adds the other ranks with messages, each once. */
static void list_ranks(struct peers *p, const struct exchange_message *list, int count)
{
    for (const struct exchange_message *m = list; m < list + count; m++)
        if (m->rank != p->rank && !find(p, m->rank))
            p->with[p->count++] = (struct peer_rank){.rank = m->rank, .place = m->place};
}

/* Those on this host stay in the list. */
static void keep_near(struct peers *p)
{
    const int listed = p->count;
    p->count = 0;
    for (int k = 0; k < listed; k++)
        if (p->with[k].place >= 0)
            p->with[p->count++] = p->with[k];
}

/* Has this rank messages to itself? */
static bool own_messages(const struct peers *p)
{
    bool own = false;
    for (int k = 0; k < p->ins; k++)
        own = own || p->in[k].rank == p->rank;
    return own;
}

static size_t all_bytes(const struct peers *p)
{
    return (2 * p->half + PEER_BLOCK - 1) / PEER_BLOCK * PEER_BLOCK;
}

/* Allocates the halves for messages from this host. A half has room for TRIAL bytes, which takes no
 * more memory. */
static enum status make_room(struct peers *p)
{
    if (p->count == 0 && !own_messages(p))
        return STATUS_OK;
    for (struct exchange_message *m = p->in; m < p->in + p->ins; m++)
        if (m->place >= 0) {
            m->there = p->half;
            p->half += (m->bytes + 7) / 8 * 8;
        }
    p->half = p->half < TRIAL ? TRIAL : p->half;
    p->half = (p->half + PEER_ALIGNMENT - 1) / PEER_ALIGNMENT * PEER_ALIGNMENT;
    p->memory = p->backend->type->alloc(p->backend, all_bytes(p), 1);
    return p->memory ? STATUS_OK
                     : backend_no_room(p->backend, (double)all_bytes(p), "messages within a host");
}

/* Receivers tell senders on this host where their messages go. */
static void tell_places(struct peers *p, MPI_Request *request)
{
    int count = 0;
    for (struct exchange_message *m = p->out; m < p->out + p->outs; m++)
        if (m->place >= 0)
            MPI_Irecv(&m->there, sizeof m->there, MPI_BYTE, m->place, m->number, p->node,
                      &request[count++]);
    for (struct exchange_message *m = p->in; m < p->in + p->ins; m++)
        if (m->place >= 0)
            MPI_Isend(&m->there, sizeof m->there, MPI_BYTE, m->place, m->number, p->node,
                      &request[count++]);
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
}

/* Makes the flags; false: MPI has no memory that ranks share. */
static bool make_flags(struct peers *p)
{
    MPI_Comm_set_errhandler(p->node, MPI_ERRORS_RETURN);
    int good = MPI_Win_allocate_shared(sizeof(struct flag), 1, MPI_INFO_NULL, p->node, &p->flag,
                                       &p->window) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(p->node, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, p->node);
    if (!good)
        return false;
    atomic_store(&p->flag->told, -1);
    MPI_Barrier(p->node);
    for (struct peer_rank *w = p->with; w < p->with + p->count; w++) {
        struct flag *flag;
        MPI_Aint size;
        int unit;
        MPI_Win_shared_query(p->window, w->place, &size, &unit, &flag);
        w->flag = flag;
    }
    return true;
}

/* Opens what the listed neighbours offer. Those stay in the list that opened this rank's, too. */
static void open_peers(struct peers *p, const struct host_offer *all, bool good, int *mine,
                       int *theirs)
{
    struct backend *const b = p->backend;
    for (struct peer_rank *w = p->with; w < p->with + p->count; w++) {
        const struct host_offer *const offer = &all[w->place];
        w->half = offer->half;
        mine[w->place] =
            good && offer->good && b->type->peer_open(b, &offer->handle, &w->peer, p->why);
    }
    MPI_Alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, p->node);
    const int listed = p->count;
    p->count = 0;
    for (int k = 0; k < listed; k++) {
        const int place = p->with[k].place;
        if (mine[place] && theirs[place])
            p->with[p->count++] = p->with[k];
        else if (mine[place])
            b->type->peer_close(b, &p->with[k].peer);
    }
}

/* Where a message to or from a peer lies in exchanges of parity `half`. */
static char *memory_of(const struct peers *p, const struct exchange_message *m, bool out, int half)
{
    const struct peer_rank *const w = find(p, m->rank);
    if (!p->memory || (m->rank != p->rank && !w))
        return NULL;
    if (out && w)
        return (char *)w->peer.memory + (half ? w->half : 0) + m->there;
    return p->memory + (half ? p->half : 0) + m->there;
}

static void set_memory(const struct peers *p, struct exchange_message *list, int count, bool out)
{
    for (struct exchange_message *m = list; m < list + count; m++)
        for (int half = 0; half < 2; half++)
            m->peer[half] = memory_of(p, m, out, half);
}

/* Makes the words that a trial sends, from word `first` on. No two words of a place, a message or a
 * rank are equal, and none is 0. */
static void known_words(const struct exchange_message *m, int sender, size_t first, uint64_t *word,
                        size_t bytes)
{
    const uint64_t step = 0x9e3779b97f4a7c15u,
                   begin = ((uint64_t)sender + 1) * Q + (uint64_t)m->number;
    for (size_t k = 0; k < (bytes + sizeof *word - 1) / sizeof *word; k++) {
        const uint64_t z = ((begin << 40) + first + k + 1) * step;
        word[k] = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
    }
}

/* The bytes of a message to be tried at once, after the first `at`. */
static size_t trial_bytes(const struct exchange_message *m, size_t at)
{
    return m->bytes - at < TRIAL ? m->bytes - at : TRIAL;
}

/* Writes a message of known words into its receiver's half 0, by way of half 1 of this rank's own
 * memory. */
static enum status try_message(struct peers *p, const struct exchange_message *m, uint64_t *word)
{
    struct backend *const b = p->backend;
    char *const room = p->memory + p->half, *const to = memory_of(p, m, true, 0);
    enum status status = STATUS_OK;
    for (size_t at = 0, bytes; at < m->bytes && !status; at += bytes) {
        bytes = trial_bytes(m, at);
        known_words(m, p->rank, at / sizeof *word, word, bytes);
        b->type->copy(b, p->queue, room, word, bytes);
        b->type->copy(b, p->queue, to + at, room, bytes);
        status = b->type->wait(b, p->queue); /* `word` is used again */
    }
    return status;
}

/* Compares every byte of a message that a peer wrote. */
static enum status check_message(struct peers *p, const struct exchange_message *m, uint64_t *word,
                                 bool *good)
{
    struct backend *const b = p->backend;
    uint64_t *const wanted = word + TRIAL / sizeof *word;
    enum status status = STATUS_OK;
    for (size_t at = 0, bytes; at < m->bytes && !status; at += bytes) {
        bytes = trial_bytes(m, at);
        b->type->copy(b, p->queue, word, p->memory + m->there + at, bytes);
        status = b->type->wait(b, p->queue);
        known_words(m, m->rank, at / sizeof *word, wanted, bytes);
        *good = *good && (status || memcmp(word, wanted, bytes) == 0);
    }
    return status;
}

/* Exchange 0: all messages, whole, between the halves 0. *good: every byte arrived. */
static enum status try_peers(struct peers *p, bool *good)
{
    struct backend *const b = p->backend;
    uint64_t *const word = b->type->alloc_host(b, 2 * TRIAL);
    enum status status = STATUS_OK;
    if (!word) {
        atomic_store(&p->flag->told, failed); /* or the peers would wait for this exchange */
        return fail_machine("out of memory on the host, to try what GPUs send each other");
    }
    for (int k = 0; k < p->outs && !status; k++)
        if (find(p, p->out[k].rank))
            status = try_message(p, &p->out[k], word);
    const enum status told = peers_tell(p, 0);
    status = status ? status : told;
    peers_hear(p, 0);
    for (int k = 0; k < p->ins && !status; k++)
        if (find(p, p->in[k].rank))
            status = check_message(p, &p->in[k], word, good);
    b->type->free_host(b, word);
    return status;
}

/* Ends all use of peers on this host if what one of them sent did not arrive. */
static enum status check_peers(struct peers *p)
{
    struct backend *const b = p->backend;
    bool good = true;
    const enum status status =
        status_agree(p->node, p->count > 0 ? try_peers(p, &good) : STATUS_OK);
    int all = good;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, p->node);
    if (all || status)
        return status;
    if (!good)
        snprintf(p->why, sizeof p->why, "what one GPU wrote did not reach another's memory");
    for (struct peer_rank *w = p->with; w < p->with + p->count; w++)
        b->type->peer_close(b, &w->peer);
    p->count = 0;
    return STATUS_OK;
}

/* others: ranks with which this one has messages. */
static void count_pairs(struct peers *p, MPI_Comm comm, int others)
{
    int ranks, refused, first, sum[2];
    MPI_Comm_size(comm, &ranks);
    MPI_Allreduce((int[2]){others, p->count}, sum, 2, MPI_INT, MPI_SUM, comm);
    p->pairs = sum[0] / 2;
    p->open = sum[1] / 2;
    refused = *p->why ? p->rank : ranks;
    MPI_Allreduce(&refused, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first < ranks)
        MPI_Bcast(p->why, sizeof p->why, MPI_CHAR, first, comm);
}

/* Shares this rank's memory and opens the memory of the others. */
static enum status open_all(struct peers *p, struct host_offer *all, int *opened, int ranks)
{
    struct backend *const b = p->backend;
    struct host_offer offer = {.good = false, .half = p->half};
    if (make_flags(p))
        offer.good = p->count > 0 && b->type->share(b, p->memory, &p->own, &offer.handle, p->why);
    else
        snprintf(p->why, sizeof p->why, "MPI shares no memory of the host");
    MPI_Allgather(&offer, sizeof offer, MPI_BYTE, all, sizeof offer, MPI_BYTE, p->node);
    open_peers(p, all, offer.good, opened, opened + ranks);
    if (p->count > 0)
        enlist(p);
    return check_peers(p);
}

enum status peers_create(struct peers *p, MPI_Comm comm, struct backend *b, enum queue queue,
                         struct exchange_message *in, int ins, struct exchange_message *out,
                         int outs)
{
    int ranks, others = 0;
    *p = (struct peers){.queue = queue, .window = MPI_WIN_NULL};
    if (!b->shares)
        return STATUS_OK;
    p->backend = b;
    MPI_Comm_rank(comm, &p->rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, p->rank, MPI_INFO_NULL, &p->node);
    MPI_Comm_size(p->node, &ranks);
    p->ins = ins;
    p->outs = outs;
    p->in = in;
    p->out = out;
    find_places(p, comm, in, ins);
    find_places(p, comm, out, outs);
    p->with = calloc((size_t)(ins + outs) + 1, sizeof *p->with);
    struct host_offer *const all = calloc((size_t)ranks, sizeof *all);
    int *const opened = calloc((size_t)ranks, 2 * sizeof *opened);
    MPI_Request *const request = calloc((size_t)(ins + outs) + 1, sizeof *request);
    enum status status = STATUS_OK;
    if (p->with && all && opened && request) {
        list_ranks(p, p->in, ins);
        list_ranks(p, p->out, outs);
        others = p->count;
        keep_near(p);
        status = make_room(p);
    } else {
        status = fail_machine("out of memory");
    }
    status = status_agree(comm, status);
    if (!status) {
        tell_places(p, request);
        status = status_agree(comm, open_all(p, all, opened, ranks));
        count_pairs(p, comm, others);
        if (!status && p->count == 0 && !own_messages(p)) { /* now nobody has it open */
            b->type->free(b, p->memory);
            p->memory = NULL;
        }
        set_memory(p, in, ins, false);
        set_memory(p, out, outs, true);
    }
    free(all);
    free(opened);
    free(request);
    return status;
}

void peers_destroy(struct peers *p)
{
    struct backend *const b = p->backend;
    if (!b)
        return;
    if (!b->lost) /* it may still write to peers and wait for their marks */
        b->type->wait(b, p->queue);
    int lost = b->lost;
    MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_INT, MPI_MAX, p->node);
    b->lost = lost;
    strike(p);
    for (struct peer_rank *w = p->with; w < p->with + p->count; w++)
        b->type->peer_close(b, &w->peer);
    MPI_Barrier(p->node); /* now no peer has this memory or these marks open */
    b->type->free(b, p->memory);
    b->type->peer_close(b, &p->own);
    if (p->window != MPI_WIN_NULL)
        MPI_Win_free(&p->window);
    MPI_Comm_free(&p->node);
    free(p->with);
    *p = (struct peers){0};
}

double peers_bytes(const struct peers *p)
{
    return p->memory ? (double)all_bytes(p) : 0;
}

void peers_describe(const struct peers *p, const char *mpi, char text[PEERS_TEXT])
{
    if (p->backend && p->open == p->pairs)
        snprintf(text, PEERS_TEXT,
                 p->pairs ? "by CUDA IPC, all %d pairs of ranks" : "within the memory of the GPU",
                 p->pairs);
    else if (p->open > 0)
        snprintf(text, PEERS_TEXT, "by CUDA IPC, %d of %d pairs of ranks; others %s", p->open,
                 p->pairs, mpi);
    else if (p->backend && *p->why)
        snprintf(text, PEERS_TEXT, "%s; not by CUDA IPC: %s", mpi, p->why);
    else
        snprintf(text, PEERS_TEXT, "%s", mpi);
}

/* The mark of exchange n >= -2. */
static int mark_of(int64_t n)
{
    return (int)((n + PEER_MARKS) % PEER_MARKS);
}

enum status peers_tell(struct peers *p, int64_t n)
{
    if (p->count == 0)
        return STATUS_OK;
    const enum status status =
        p->backend->type->mark(p->backend, p->queue, &p->own, mark_of(n), mark_of(n - 2));
    atomic_store(&p->flag->told, status ? failed : n);
    return status;
}

void peers_hear(struct peers *p, int64_t n)
{
    struct backend *const b = p->backend;
    for (const struct peer_rank *w = p->with; w < p->with + p->count; w++) {
        for (int looks = 0; atomic_load(&w->flag->told) < n; clock_rest(&looks))
            if (looks % LOOKS == LOOKS - 1) { /* MPI may have something of ours to do for them */
                int any;
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->node, &any, MPI_STATUS_IGNORE);
            }
        b->type->after_peer(b, p->queue, &w->peer, mark_of(n));
    }
}
