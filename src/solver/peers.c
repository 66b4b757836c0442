/* Peers; see peers.h. */
#include "solver/peers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/clock.h"
#include "base/message.h"

enum { LOOKS = 100 }; /* looks at a flag between two calls of MPI */

/* The last exchange that a rank told, alone in its cache line. */
struct flag {
    _Alignas(64) _Atomic int64_t told;
};
static const int64_t failed = INT64_MAX;

/* What a rank tells the others of its host. */
struct offer {
    bool good;
    struct peer_handle handle;
    size_t half, at[Q];
};

static bool any_failed(void *peers)
{
    const struct peers *const p = peers;
    bool any = false;
    for (const struct peer_rank *w = p->with; w < p->with + p->count; w++)
        any = any || atomic_load(&w->flag->told) == failed;
    return any;
}

static void tell_failure(void *peers)
{
    atomic_store(&((struct peers *)peers)->flag->told, failed);
}

static const struct peer_rank *find(const struct peers *p, int rank)
{
    const struct peer_rank *w = p->with;
    while (w < p->with + p->count && w->rank != rank)
        w++;
    return w < p->with + p->count ? w : NULL;
}

/* place[i]: of the neighbour in direction i among the ranks of this host; negative: none there. */
static void find_places(const struct peers *p, const struct domain *d, int place[Q])
{
    MPI_Group all, near;
    MPI_Comm_group(d->comm, &all);
    MPI_Comm_group(p->node, &near);
    MPI_Group_translate_ranks(all, Q, d->neighbour, near, place);
    place[0] = MPI_UNDEFINED;
    MPI_Group_free(&all);
    MPI_Group_free(&near);
}

/* Adds the neighbours on this host to the list, each once. */
static void list_neighbours(struct peers *p, const struct domain *d, const int place[Q])
{
    for (int i = 1; i < Q; i++) {
        bool known = place[i] < 0 || d->neighbour[i] == p->rank;
        for (int k = 0; k < p->count; k++)
            known = known || p->with[k].place == place[i];
        if (!known)
            p->with[p->count++] = (struct peer_rank){.rank = d->neighbour[i], .place = place[i]};
    }
}

/* Allocates the halves for messages from this host. */
static enum status make_room(struct peers *p, const int place[Q], const size_t bytes[Q])
{
    for (int i = 1; i < Q; i++)
        if (place[opposite(i)] >= 0) {
            p->at[i] = p->half;
            p->half += bytes[i];
        }
    p->half = (p->half + PEER_ALIGNMENT - 1) / PEER_ALIGNMENT * PEER_ALIGNMENT;
    if (p->half == 0)
        return STATUS_OK;
    const size_t all = (2 * p->half + PEER_BLOCK - 1) / PEER_BLOCK * PEER_BLOCK;
    p->memory = p->backend->type->alloc(p->backend, all, 1);
    return p->memory ? STATUS_OK
                     : backend_no_room(p->backend, (double)all, "the messages with neighbours");
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
static void open_peers(struct peers *p, const struct offer *all, bool good, int *mine, int *theirs)
{
    struct backend *const b = p->backend;
    for (struct peer_rank *w = p->with; w < p->with + p->count; w++) {
        const struct offer *const offer = &all[w->place];
        w->half = offer->half;
        memcpy(w->at, offer->at, sizeof w->at);
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

/* A number that no other message has, nor memory that was never written. */
static uint64_t known(int rank, int direction)
{
    return 0x9e3779b97f4a7c15u * (uint64_t)(Q * (rank + 1) + direction);
}

/* Exchange 0: the first numbers of all messages, by the way that messages take. *good: they
 * arrived. Uses half 1 of this rank's memory as room for what it sends. */
static enum status try_peers(struct peers *p, const struct domain *d, bool *good)
{
    struct backend *const b = p->backend;
    uint64_t *const out = b->type->alloc_host(b, 2 * Q * sizeof *out), *const in = out + Q;
    uint64_t *const room = (uint64_t *)(p->memory + p->half);
    if (!out) {
        tell_failure(p); /* or the peers would wait for this exchange */
        return fail_machine("out of memory on the host, to try what GPUs send each other");
    }
    for (int i = 1; i < Q; i++) {
        out[i] = known(p->rank, i);
        if (find(p, d->neighbour[i])) {
            b->type->copy(b, QUEUE_SHELL, room + i, out + i, sizeof *out);
            b->type->copy(b, QUEUE_SHELL, peers_out(p, d->neighbour[i], i, 0), room + i,
                          sizeof *out);
        }
    }
    enum status status = peers_tell(p, 0);
    peers_hear(p, 0);
    for (int i = 1; i < Q; i++)
        if (find(p, d->neighbour[opposite(i)]))
            b->type->copy(b, QUEUE_SHELL, in + i, p->memory + p->at[i], sizeof *in);
    if (b->type->wait(b, QUEUE_SHELL))
        status = STATUS_MACHINE;
    for (int i = 1; i < Q; i++) {
        const int from = d->neighbour[opposite(i)];
        *good = *good && (!find(p, from) || in[i] == known(from, i));
    }
    b->type->free_host(b, out);
    return status;
}

/* Ends all use of peers on this host if what one of them sent did not arrive. */
static enum status check_peers(struct peers *p, const struct domain *d)
{
    struct backend *const b = p->backend;
    bool good = true;
    const enum status status =
        status_agree(p->node, p->count > 0 ? try_peers(p, d, &good) : STATUS_OK);
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

static bool own_neighbour(const struct domain *d)
{
    bool own = false;
    for (int i = 1; i < Q; i++)
        own = own || d->neighbour[i] == d->rank;
    return own;
}

static void count_pairs(struct peers *p, const struct domain *d)
{
    int neighbours = 0, refused, first, sum[2];
    for (int i = 1; i < Q; i++) {
        bool new = d->neighbour[i] != MPI_PROC_NULL && d->neighbour[i] != p->rank;
        for (int k = 1; k < i; k++)
            new = new && d->neighbour[k] != d->neighbour[i];
        neighbours += new;
    }
    MPI_Allreduce((int[2]){neighbours, p->count}, sum, 2, MPI_INT, MPI_SUM, d->comm);
    p->pairs = sum[0] / 2;
    p->open = sum[1] / 2;
    refused = *p->why ? d->rank : d->ranks;
    MPI_Allreduce(&refused, &first, 1, MPI_INT, MPI_MIN, d->comm);
    if (first < d->ranks)
        MPI_Bcast(p->why, sizeof p->why, MPI_CHAR, first, d->comm);
}

enum status peers_create(struct peers *p, const struct domain *d, struct backend *b,
                         const size_t bytes[Q])
{
    int ranks, place[Q];
    *p = (struct peers){.rank = d->rank, .window = MPI_WIN_NULL};
    if (!b->shares)
        return STATUS_OK;
    p->backend = b;
    MPI_Comm_split_type(d->comm, MPI_COMM_TYPE_SHARED, d->rank, MPI_INFO_NULL, &p->node);
    MPI_Comm_size(p->node, &ranks);
    find_places(p, d, place);
    list_neighbours(p, d, place);
    struct offer offer = {.good = false}, *const all = calloc((size_t)ranks, sizeof *all);
    int *const opened = calloc((size_t)ranks, 2 * sizeof *opened);
    enum status status = all && opened ? make_room(p, place, bytes) : fail_machine("out of memory");
    status = status_agree(d->comm, status);
    if (!status && make_flags(p)) {
        offer.half = p->half;
        memcpy(offer.at, p->at, sizeof offer.at);
        offer.good = p->count > 0 && b->type->share(b, p->memory, &offer.handle, p->why);
    } else if (!status) {
        snprintf(p->why, sizeof p->why, "MPI shares no memory of the host");
    }
    if (!status) {
        MPI_Allgather(&offer, sizeof offer, MPI_BYTE, all, sizeof offer, MPI_BYTE, p->node);
        open_peers(p, all, offer.good, opened, opened + ranks);
        if (p->count > 0) {
            b->peers = p;
            b->peer_failed = any_failed;
            b->tell_peers = tell_failure;
        }
        status = status_agree(d->comm, check_peers(p, d));
        count_pairs(p, d);
        if (!status && p->count == 0 && !own_neighbour(d)) { /* now nobody has it open */
            b->type->free(b, p->memory);
            p->memory = NULL;
        }
    }
    free(all);
    free(opened);
    return status;
}

void peers_destroy(struct peers *p)
{
    struct backend *const b = p->backend;
    if (!b)
        return;
    b->type->wait(b, QUEUE_SHELL); /* it may still write to peers and wait for their marks */
    int lost = b->lost;
    MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_INT, MPI_MAX, p->node);
    b->lost = lost;
    if (b->peers == p) {
        b->peers = NULL;
        b->peer_failed = NULL;
        b->tell_peers = NULL;
    }
    for (struct peer_rank *w = p->with; w < p->with + p->count; w++)
        b->type->peer_close(b, &w->peer);
    MPI_Barrier(p->node); /* now no peer has this memory open */
    b->type->free(b, p->memory);
    if (p->window != MPI_WIN_NULL)
        MPI_Win_free(&p->window);
    MPI_Comm_free(&p->node);
    *p = (struct peers){0};
}

char *peers_out(const struct peers *p, int rank, int direction, int half)
{
    if (p->memory && rank == p->rank)
        return peers_in(p, rank, direction, half);
    const struct peer_rank *const w = find(p, rank);
    return w ? (char *)w->peer.memory + (half ? w->half : 0) + w->at[direction] : NULL;
}

char *peers_in(const struct peers *p, int rank, int direction, int half)
{
    if (!p->memory || (rank != p->rank && !find(p, rank)))
        return NULL;
    return p->memory + (half ? p->half : 0) + p->at[direction];
}

enum status peers_tell(struct peers *p, int64_t n)
{
    if (p->count == 0)
        return STATUS_OK;
    const enum status status = p->backend->type->mark(p->backend, QUEUE_SHELL, (int)(n & 1));
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
        b->type->after_peer(b, QUEUE_SHELL, &w->peer, (int)(n & 1));
    }
}
