/* A slow link: preloaded into a program (LD_PRELOAD), it holds every message that the program sends
 * with MPI_Isend and receives with MPI_Irecv until a time after it was sent, as if all went over a
 * wire of that latency and of endless width. For ranks of one node, whose clocks are one. What
 * waits on a wire takes no processor; so it is here, but for the copy below.
 *
 *     SLOW_LINK_SECONDS  the delay; 0: none, but all the rest; not set: nothing is done at all
 *
 *     SLOW_LINK_COUNTS   for what was seen: files whose names begin so and end in . and the rank
 *
 * Senders write down when they send, in memory that all ranks see; number n between two ranks with
 * one tag is number n on both sides, for such messages do not overtake each other. A message is
 * received into memory of our own and is put where it belongs when its time has come; until then
 * there is nothing but NaN. A program that looks too early, or waits for less than all, has another
 * result. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

/* A sender is at most two messages ahead of what is received: it needs an answer to go on. */
enum { TAGS = 32, RING = 8, HELD = 64 };

struct slot {
    _Atomic uint64_t number; /* of the message that was sent at that time, from 1 */
    double sent;
};

struct held {
    MPI_Request request;
    const struct slot *slot; /* the sender's, for this message */
    uint64_t number;
    void *to;
    size_t bytes;
    char *room; /* where it is received; kept for others */
    size_t room_bytes;
};

static struct slow {
    bool on;
    double delay;
    int ranks, rank;
    MPI_Comm node, comm; /* comm: of all messages */
    MPI_Win window;
    struct slot **slots; /* of each rank as the sender: [to][tag][RING] */
    uint64_t *sent;      /* how many, [to][tag] */
    uint64_t *received;  /* [from][tag] */
    int *rank_of;        /* in MPI_COMM_WORLD, of ranks of comm */
    struct held held[HELD];
    int count; /* of those */
    /* Seen: */
    uint64_t messages, withheld, waits;
    double first, last, waited, soonest;
} slow;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *why)
{
    fprintf(stderr, "slow_link: %s\n", why);
    PMPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

static void *room(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    if (!memory)
        stop("out of memory");
    return memory;
}

/* ---- start and end ---- */

/* Before MPI begins: each rank ends by itself. */
static double read_delay(const char *text)
{
    char *end;
    errno = 0;
    const double delay = strtod(text, &end);
    if (end == text || *end || errno || !(delay >= 0 && delay < 1e3)) {
        fprintf(stderr, "slow_link: SLOW_LINK_SECONDS is no time in seconds, from 0 to 1000\n");
        exit(3);
    }
    return delay;
}

static void start(void)
{
    PMPI_Comm_size(MPI_COMM_WORLD, &slow.ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &slow.rank);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, slow.rank, MPI_INFO_NULL,
                         &slow.node);
    int here;
    PMPI_Comm_size(slow.node, &here);
    if (here != slow.ranks)
        stop("not all ranks are on one node");

    const size_t pairs = (size_t)slow.ranks * TAGS;
    struct slot *own;
    PMPI_Win_allocate_shared((MPI_Aint)(pairs * RING * sizeof *own), 1, MPI_INFO_NULL, slow.node,
                             &own, &slow.window);
    memset(own, 0, pairs * RING * sizeof *own);
    slow.slots = room((size_t)slow.ranks, sizeof *slow.slots);
    for (int k = 0; k < slow.ranks; k++) {
        MPI_Aint bytes;
        int unit;
        PMPI_Win_shared_query(slow.window, k, &bytes, &unit, &slow.slots[k]);
    }
    slow.sent = room(pairs, sizeof *slow.sent);
    slow.received = room(pairs, sizeof *slow.received);
    slow.rank_of = room((size_t)slow.ranks, sizeof *slow.rank_of);
    slow.comm = MPI_COMM_NULL;
    slow.soonest = INFINITY;
    PMPI_Barrier(MPI_COMM_WORLD);
    slow.on = true;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const char *const text = getenv("SLOW_LINK_SECONDS");
    slow.delay = text ? read_delay(text) : 0;
    const int result = PMPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS && text)
        start();
    return result;
}

static void write_counts(const char *names)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", names, slow.rank);
    FILE *const file = fopen(path, "w");
    if (!file)
        stop("no file for what was seen can be written");
    fprintf(file,
            "{\"messages\": %llu, \"withheld\": %llu, \"waits\": %llu, \"waited\": %.9f, "
            "\"span\": %.9f, \"soonest\": %.9f}\n",
            (unsigned long long)slow.messages, (unsigned long long)slow.withheld,
            (unsigned long long)slow.waits, slow.waited, slow.last - slow.first,
            slow.messages ? slow.soonest : 0.0);
    if (fclose(file) != 0)
        stop("what was seen cannot be written");
}

int MPI_Finalize(void)
{
    const char *const names = getenv("SLOW_LINK_COUNTS");
    if (slow.on) {
        if (slow.count > 0)
            stop("a message was waited for by a call that is not known here");
        if (names)
            write_counts(names);
        PMPI_Win_free(&slow.window);
        PMPI_Comm_free(&slow.node);
        for (int k = 0; k < HELD; k++)
            free(slow.held[k].room);
        free(slow.slots);
        free(slow.sent);
        free(slow.received);
        free(slow.rank_of);
        slow.on = false;
    }
    return PMPI_Finalize();
}

/* ---- messages ---- */

/* [rank][tag] of the other side; ranks are counted in MPI_COMM_WORLD. */
static size_t pair_of(int other, int tag, MPI_Comm comm)
{
    if (slow.comm == MPI_COMM_NULL) {
        MPI_Group group, world;
        int size, all[1024];
        PMPI_Comm_size(comm, &size);
        if (size > (int)(sizeof all / sizeof *all))
            stop("more ranks than it can tell apart");
        for (int k = 0; k < size; k++)
            all[k] = k;
        PMPI_Comm_group(comm, &group);
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        PMPI_Group_translate_ranks(group, size, all, world, slow.rank_of);
        PMPI_Group_free(&group);
        PMPI_Group_free(&world);
        slow.comm = comm;
    }
    if (comm != slow.comm || other < 0 || tag < 0 || tag >= TAGS)
        stop("messages of more than one communicator, from any rank or with other tags");
    return (size_t)slow.rank_of[other] * TAGS + (size_t)tag;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (slow.on && to != MPI_PROC_NULL) {
        const size_t pair = pair_of(to, tag, comm);
        const uint64_t number = ++slow.sent[pair];
        struct slot *const slot = &slow.slots[slow.rank][pair * RING + number % RING];
        const double t = now();
        if (slow.first == 0)
            slow.first = t;
        slot->sent = t;
        atomic_store_explicit(&slot->number, number, memory_order_release);
    }
    return PMPI_Isend(from, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (!slow.on || from == MPI_PROC_NULL)
        return PMPI_Irecv(to, count, type, from, tag, comm, request);
    const size_t pair = pair_of(from, tag, comm);
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    if (slow.count == HELD)
        stop("more messages under way than it has room for");
    struct held *const h = &slow.held[slow.count++];
    const size_t sender = (size_t)slow.rank_of[from], own = pair % TAGS + (size_t)slow.rank * TAGS;
    h->number = ++slow.received[pair];
    h->slot = &slow.slots[sender][own * RING + h->number % RING];
    h->bytes = (size_t)count * (size_t)extent;
    h->to = to;
    if (h->room_bytes < h->bytes) {
        free(h->room);
        h->room = room(1, h->bytes);
        h->room_bytes = h->bytes;
    }
    memset(to, 0xff, h->bytes);
    const int result = PMPI_Irecv(h->room, count, type, from, tag, comm, request);
    h->request = *request;
    return result;
}

static struct held *find(MPI_Request request)
{
    for (int k = 0; request != MPI_REQUEST_NULL && k < slow.count; k++)
        if (slow.held[k].request == request)
            return &slow.held[k];
    return NULL;
}

/* When it arrives; infinity: it was not sent yet. */
static double due(const struct held *h)
{
    const uint64_t number = atomic_load_explicit(&h->slot->number, memory_order_acquire);
    if (number > h->number)
        stop("lost count of messages");
    return number == h->number ? h->slot->sent + slow.delay : INFINITY;
}

/* It has come, and may be seen. */
static void deliver(struct held *h)
{
    const double t = now(), after = t - h->slot->sent;
    memcpy(h->to, h->room, h->bytes);
    slow.messages++;
    slow.last = t;
    slow.soonest = after < slow.soonest ? after : slow.soonest;
    const struct held done = *h;
    *h = slow.held[--slow.count];
    slow.held[slow.count] = done;
}

/* Of these, those that could be complete; MPI gets to work on the others. */
int MPI_Testsome(int count, MPI_Request requests[], int *done, int which[], MPI_Status statuses[])
{
    MPI_Request some[2 * HELD];
    int at[2 * HELD], asked = 0, active = 0, flag;
    if (!slow.on)
        return PMPI_Testsome(count, requests, done, which, statuses);
    if (count > 2 * HELD)
        stop("more requests than it has room for");
    for (int k = 0; k < count; k++) {
        const struct held *const h = find(requests[k]);
        active += requests[k] != MPI_REQUEST_NULL;
        if (h && now() < due(h)) {
            PMPI_Request_get_status(requests[k], &flag, MPI_STATUS_IGNORE);
            slow.withheld++;
            continue;
        }
        at[asked] = k;
        some[asked++] = requests[k];
    }
    const int result = PMPI_Testsome(asked, some, done, which, statuses);
    if (*done == MPI_UNDEFINED && active > 0)
        *done = 0;
    for (int k = 0; *done != MPI_UNDEFINED && k < *done; k++) {
        const int own = at[which[k]];
        struct held *const h = find(requests[own]);
        if (h)
            deliver(h);
        requests[own] = some[which[k]];
        which[k] = own;
    }
    return result;
}

/* Sleep ends late: the last of it is waited for awake. */
static void wait_until(double t)
{
    const double begin = now(), awake = 1e-3;
    double left = t - begin;
    slow.waits += left > 0;
    for (; left > 0; left = t - now()) {
        const double sleep = left - awake;
        const struct timespec most = {(time_t)sleep, (long)(1e9 * (sleep - (double)(time_t)sleep))};
        if (sleep > 0)
            nanosleep(&most, NULL);
        else
            sched_yield();
    }
    slow.waited += now() - begin;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct held *mine[HELD];
    MPI_Request names[HELD];
    int waited = 0;
    for (int k = 0; slow.on && k < count; k++)
        if ((mine[waited] = find(requests[k])))
            names[waited++] = requests[k];
    const int result = PMPI_Waitall(count, requests, statuses);
    double last = 0;
    for (int k = 0; k < waited; k++)
        last = fmax(last, due(mine[k]));
    if (waited > 0)
        wait_until(last);
    for (int k = 0; k < waited; k++)
        deliver(find(names[k]));
    return result;
}
