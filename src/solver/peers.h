/* Peers: ranks of one host whose GPUs write into each other's memory (CUDA IPC), for the messages
 * of halos or between two levels.
 *
 * A rank has room for all messages that peers send to it, twice: exchange n uses half n & 1.
 *
 *     sender                                      receiver
 *     pack n into the receiver's half n & 1
 *     mark n mod 4, in the same queue
 *     flag = n, in memory of the host    ------>  wait until flag >= n
 *                                                 queue: wait for the sender's mark n mod 4
 *                                                 queue: unpack n from half n & 1
 *
 * All this is work of one queue. Two ranks are peers in both directions, even if messages go in one
 * only: both mark and wait in every exchange.
 *
 * A queue that is told to wait for a mark waits for the latest setting of it by then; hence the
 * flag. The host waits for other hosts, and in peers_tell for its own GPU to reach exchange n - 2.
 *
 * Why nobody overwrites a half that is still to be unpacked: a rank's queue waits for the
 * receiver's mark n + 1, which the receiver sets after it unpacked n; and the rank packs n + 2
 * after this wait, in the same queue.
 *
 * Why a mark is not set again while a queue may still wait for its setting before: the host sets
 * mark n after its GPU has reached mark n - 2. Before that mark the GPU's queue waited for the
 * peer's mark n - 3, which the peer's queue set after it had waited for mark n - 4, the setting
 * before. With three marks this would not hold.
 *
 * Before the first step exchange 0 tries all this with whole messages of known words. If a byte
 * does not arrive, the host has no peers: some machines accept direct access between GPUs and lose
 * part or all of the bytes.
 *
 * A rank whose GPU fails sets its flag to the largest number. Its last marks may never come, and
 * work that waits for them never ends. So its peers look at its flag while they wait for their own
 * GPU, and give up, too. If a process dies, mpirun or the watchdog ends its peers. */
#ifndef TAGFLOW_PEERS_H
#define TAGFLOW_PEERS_H

#include <mpi.h>
#include <stdint.h>

#include "solver/backend.h"

struct flag;

/* A message that two ranks exchange again and again; see exchange.h. */
struct exchange_message {
    int rank;         /* the other one */
    int number;       /* below Q; it tells messages between two ranks apart */
    int kind;         /* of exchanges that have it */
    size_t bytes, at; /* at: in the memory of its kind */
    /* Memory in which a peer's message is packed and unpacked, by parity of the exchange; NULL:
     * not a peer. */
    char *peer[2];
    int place;    /* of the rank among those of the host; negative: elsewhere */
    size_t there; /* in a half of the receiver's memory */
};

struct peers {
    struct backend *backend; /* NULL: no peers are wanted */
    struct peers *next;      /* of the same backend */
    enum queue queue;
    MPI_Comm node;     /* the ranks of this host */
    MPI_Win window;    /* the flags */
    struct flag *flag; /* of this rank */
    int rank;
    char *memory;    /* where peers put messages: two halves; NULL: none do */
    size_t half;     /* bytes */
    struct peer own; /* its marks */
    int ins, outs;
    struct exchange_message *in, *out; /* [ins], [outs] messages that arrive, and that this rank
                                        * sends; of the exchange */
    int count;                         /* peers besides this rank */
    struct peer_rank {
        int rank, place; /* in the communicator, among the ranks of the host */
        struct peer peer;
        const struct flag *flag;
        size_t half;
    } * with;
    /* In the whole run: pairs of ranks with messages, those that are peers, why others of a host
     * are not. */
    int pairs, open;
    char why[128];
};

/* in, out: messages from and to ranks of `comm`; each is in a list here and in one there. Sets
 * their `peer`. Ranks that cannot be peers are none, which is no error. A rank with messages to
 * itself is its own peer. queue: of packing and unpacking. STATUS_MACHINE, reported. Collective. */
enum status peers_create(struct peers *p, MPI_Comm comm, struct backend *b, enum queue queue,
                         struct exchange_message *in, int ins, struct exchange_message *out,
                         int outs);

/* Collective; also after a failure. */
void peers_destroy(struct peers *p);

/* Bytes of the backend's memory. */
double peers_bytes(const struct peers *p);

enum { PEERS_TEXT = 320 };
/* How messages travel, a line for the log, the same on all ranks. mpi: transport_choose's line. */
void peers_describe(const struct peers *p, const char *mpi, char text[PEERS_TEXT]);

/* After the packing of exchange n = 1, 2, .. was put into the queue. STATUS_MACHINE,
 * reported, when this backend or a peer's failed. */
enum status peers_tell(struct peers *p, int64_t n);

/* Before the unpacking of exchange n is put there. */
void peers_hear(struct peers *p, int64_t n);

#endif
