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
    void *send_buffer, *receive_buffer;
};

struct halo {
    MPI_Comm comm;
    MPI_Datatype type;
    struct backend *backend;
    const struct view *view;
    int count; /* directions in use; 0: this rank exchanges nothing */
    struct halo_message message[Q - 1];
    MPI_Request request[2 * (Q - 1)];
};

enum status halo_create(struct halo *h, const struct domain *d, const struct view *v,
                        struct backend *b);
void halo_destroy(struct halo *h);

/* After the shell of a step of that parity has been launched: pack and send, and be ready to
 * receive. */
enum status halo_start(struct halo *h, int odd);

/* Let MPI move messages; call now and then while computing. */
void halo_progress(struct halo *h);

/* Wait for all messages of halo_start and unpack them. */
enum status halo_finish(struct halo *h, int odd);

#endif
