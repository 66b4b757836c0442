/* Exchange of the populations that cross cuts: one round of messages with up to 18 neighbours.
 *
 * A message carries populations of all sets. Of the flow (D3Q19) a face carries the 5 populations
 * that leave through it, an edge 1; of a D3Q7 set a face carries 1, an edge none. Each message goes
 * directly to its receiver; corners exchange nothing. Sender and receiver both use store_address of
 * the sender's last-layer cells, which are the receiver's ghost cells. A message's number is its
 * direction. */
#ifndef TAGFLOW_HALO_H
#define TAGFLOW_HALO_H

#include "domain/domain.h"
#include "solver/exchange.h"

/* Describes and plans the messages of a block. transport: of messages through MPI. Collective;
 * exchange_destroy ends it, also after a failure. */
enum status halo_create(struct exchanges *h, const struct domain *d, const struct view *v,
                        struct backend *b, enum transport transport);

/* Puts the packing into the shell's queue, after the shell itself. odd: parity of the step. */
void halo_pack(struct exchanges *h, const struct view *v, enum kernel pack, int odd);

/* Starts to send and receive: waits for the packing, or, if all goes to peers, makes later work of
 * the interior's queue wait for it. Status as exchange_ready. */
enum status halo_send(struct exchanges *h);

/* Waits for all messages and puts their unpacking into the shell's queue. */
void halo_finish(struct exchanges *h, const struct view *v, enum kernel unpack, int odd);

#endif
