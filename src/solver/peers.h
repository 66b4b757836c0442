/* Peers: neighbours on the same host whose GPUs write into each other's memory (CUDA IPC).
 *
 * A rank has room for all messages that peers send to it, twice: exchange n uses half n & 1.
 *
 *     sender                                      receiver
 *     pack n into the receiver's half n & 1
 *     mark n & 1, in the same queue
 *     flag = n, in memory of the host    ------>  wait until flag >= n
 *                                                 queue: wait for the sender's mark n & 1
 *                                                 queue: unpack n from half n & 1
 *
 * A queue that is told to wait for a mark waits for the latest setting of it by then; hence the
 * flag. The host waits for other hosts, and in peers_tell for its own GPU to reach exchange n - 2.
 *
 * Why nobody overwrites a half that is still to be unpacked: peers send to each other, so a rank
 * unpacks n + 1 after the receiver's mark n + 1, which the receiver sets after it unpacked n; and
 * the rank packs n + 2 after it unpacked n + 1, in the same queue. For the same reason a mark is
 * not set again before the receiver's queue is told to wait for it.
 *
 * Before the first step exchange 0 tries all this with known numbers. If one does not arrive, the
 * host has no peers: some machines accept direct access between GPUs and lose what is written.
 *
 * A rank whose GPU fails sets its flag to the largest number. Its last marks may never come, and
 * work that waits for them never ends. So its peers look at its flag while they wait for their own
 * GPU, and give up, too. If a process dies, mpirun or the watchdog ends its peers. */
#ifndef TAGFLOW_PEERS_H
#define TAGFLOW_PEERS_H

#include <stdint.h>

#include "domain/domain.h"
#include "solver/backend.h"

struct flag;

struct peers {
    struct backend *backend; /* NULL: no peers are wanted */
    MPI_Comm node;           /* the ranks of this host */
    MPI_Win window;          /* the flags */
    struct flag *flag;       /* of this rank */
    int rank;
    char *memory;       /* where peers put messages: two halves; NULL: none do */
    size_t half, at[Q]; /* bytes; place in a half of the message that arrives along direction i */
    int count;          /* peers besides this rank */
    struct peer_rank {
        int rank, place; /* in the domain's communicator, among the ranks of the host */
        struct peer peer;
        const struct flag *flag;
        size_t half, at[Q];
    } with[Q - 1];
    /* Of the whole run: pairs of neighbours, those that are peers, why others of a host are not. */
    int pairs, open;
    char why[128];
};

/* bytes: of the message that arrives along direction i; 0: none. Neighbours that cannot be peers
 * are none, which is no error. A rank that is its own neighbour is its own peer. Collective. */
enum status peers_create(struct peers *p, const struct domain *d, struct backend *b,
                         const size_t bytes[Q]);

/* Collective; also after a failure. */
void peers_destroy(struct peers *p);

/* Where the message along `direction` to `rank` is packed, and where the one from `rank` is
 * unpacked, in exchanges of parity `half`. NULL: not a peer. */
char *peers_out(const struct peers *p, int rank, int direction, int half);
char *peers_in(const struct peers *p, int rank, int direction, int half);

/* After the packing of exchange n = 1, 2, .. was put into the shell's queue. STATUS_MACHINE,
 * reported, when this backend or that of a peer failed. */
enum status peers_tell(struct peers *p, int64_t n);

/* Before the unpacking of exchange n is put there. */
void peers_hear(struct peers *p, int64_t n);

#endif
