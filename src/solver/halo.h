/* Exchange of the populations that cross cuts: one round of messages with up to 18 neighbours.
 *
 * A message carries populations of all sets. Of the flow (D3Q19) a face carries the 5 populations
 * that leave through it, an edge 1; of a D3Q7 set a face carries 1, an edge none. Each message goes
 * directly to its receiver; corners exchange nothing. Sender and receiver both use store_address of
 * the sender's last-layer cells, which are the receiver's ghost cells. Message tag = direction.
 *
 * Messages to peers are packed into the receiver's memory and need no MPI; see peers.h. */
#ifndef TAGFLOW_HALO_H
#define TAGFLOW_HALO_H

#include "domain/domain.h"
#include "solver/backend.h"
#include "solver/peers.h"

struct halo_message {
    int direction, to, from; /* ranks for MPI; MPI_PROC_NULL: no message, or one of a peer */
    struct box send, receive;
    int send_count, receive_count; /* in elements of the flow's populations */
    size_t send_at, receive_at;    /* bytes from the start of all messages through MPI */
    char *out[2],
        *in[2]; /* packed to, unpacked from, by parity of the exchange; NULL: no message */
};

struct halo {
    MPI_Comm comm;
    MPI_Datatype type; /* an element of the flow's populations, `size` bytes */
    size_t size;
    struct backend *backend;
    const struct view *view;
    enum transport transport; /* of messages through MPI */
    int count;                /* directions in use; 0: this rank exchanges nothing */
    bool messages;            /* some go through MPI */
    int64_t exchanges;        /* begun */
    struct peers peers;
    struct halo_message message[Q - 1];
    MPI_Request request[2 * (Q - 1)];
    size_t send_bytes, receive_bytes;
    char *send, *receive; /* all messages through MPI, in the backend's memory */
    /* The buffers for MPI: the same, or copies of them on the host. */
    char *mpi_send, *mpi_receive;
    bool failed; /* the backend failed: contents of messages are meaningless */
    char *spare; /* on the host: receives messages after a GPU has failed */
};

/* transport: of messages through MPI. Collective, and so is halo_destroy, also after a failure. */
enum status halo_create(struct halo *h, const struct domain *d, const struct view *v,
                        struct backend *b, enum transport transport);
void halo_destroy(struct halo *h);

/* Bytes that all ranks send through MPI in a step, and those of them that go to other hosts.
 * Collective; the same on all ranks. */
struct halo_bytes {
    double all, between_hosts;
};
struct halo_bytes halo_bytes(const struct halo *h);
/* The same of any messages: bytes[count] from this rank to the ranks to[count]. */
struct halo_bytes halo_bytes_of(MPI_Comm comm, int count, const int *to, const double *bytes);

/* Puts the packing into the shell's queue, after the shell itself. odd: parity of the step. */
void halo_pack(struct halo *h, enum kernel pack, int odd);

/* Starts to send and receive: waits for the packing, or, if all goes to peers, makes later work of
 * the interior's queue wait for it. STATUS_MACHINE, reported, when the backend failed; the
 * neighbours still get (empty) messages, in this and all later steps. */
enum status halo_send(struct halo *h);

/* Lets MPI progress; call it now and then while computing. */
void halo_progress(struct halo *h);

/* Waits for all messages and puts their unpacking into the shell's queue. */
void halo_finish(struct halo *h, enum kernel unpack, int odd);

#endif
