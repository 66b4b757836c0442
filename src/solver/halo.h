/* Exchange of the populations that cross cuts: one round of messages with up to 18 neighbours.
 *
 * Faces carry the 5 populations that leave through them, edges 1, each sent straight to the rank it
 * is for; corners exchange nothing. Sender and receiver both use store_address of the sender's
 * last-layer cells, which are the receiver's ghost cells. Message tag = direction. */
#ifndef TAGFLOW_HALO_H
#define TAGFLOW_HALO_H

#include "domain/domain.h"
#include "solver/backend.h"

struct halo_message {
    int direction, to, from; /* ranks; MPI_PROC_NULL: nothing that way */
    struct box send, receive;
    int send_count, receive_count; /* populations */
    size_t send_at, receive_at;    /* bytes from the start of all messages */
};

struct halo {
    MPI_Comm comm;
    MPI_Datatype type;
    struct backend *backend;
    const struct view *view;
    int count; /* directions in use; 0: this rank exchanges nothing */
    struct halo_message message[Q - 1];
    MPI_Request request[2 * (Q - 1)];
    size_t send_bytes, receive_bytes;
    char *send, *receive; /* all messages, of the backend */
    /* What MPI gets: the same, or, through the host, copies of them. */
    char *mpi_send, *mpi_receive;
    bool failed; /* the backend: messages mean nothing any more */
    char *spare; /* of the host: where they go then, rather than to a GPU */
};

enum status halo_create(struct halo *h, const struct domain *d, const struct view *v,
                        struct backend *b, enum transport transport);
void halo_destroy(struct halo *h);

/* Of the step of that parity: put packing into the shell's queue, after the shell itself. */
void halo_pack(struct halo *h, int odd);

/* Send what was packed, as soon as it is, and be ready to receive. STATUS_MACHINE, reported, when
 * the backend failed; the neighbours get messages all the same, then and in all steps to come. */
enum status halo_send(struct halo *h);

/* Let MPI move messages; call now and then while computing. */
void halo_progress(struct halo *h);

/* Wait for all messages and put their unpacking into the shell's queue. */
void halo_finish(struct halo *h, int odd);

#endif
