/* Messages that ranks exchange again and again: halos (halo.h), and values between levels (seam.h).
 *
 * - Description: exchange_add() for each message, on the rank that sends and on the one that
 *   receives.
 * - Plan: exchange_plan(), once: which messages go to peers (peers.h), which through MPI, and from
 *   which memory.
 * - Handle, in each exchange: begin, pack, put, ready, post, wait, take, unpack.
 *
 * Messages lie in memory of the caller, from where they are copied to peers; or `direct`: kernels
 * pack them where their receiver unpacks them. MPI sends from the backend's memory, or from a copy
 * of it on the host. */
#ifndef TAGFLOW_EXCHANGE_H
#define TAGFLOW_EXCHANGE_H

#include "case/case.h"
#include "solver/backend.h"
#include "solver/peers.h"

/* An exchange is of one kind. Kinds have messages and memory of their own, and share the peers. */
enum { EXCHANGE_KINDS = 2 };

struct exchanges {
    /* Set by the caller. */
    MPI_Comm comm;
    struct backend *backend;
    enum queue queue;         /* of packing and unpacking */
    enum transport transport; /* of messages through MPI: device or host */
    bool direct;
    int tag;          /* of MPI: this and the message's number */
    size_t size;      /* bytes of an element; a message has a whole number of them */
    const char *what; /* for errors: "messages with neighbours" */
    struct exchange_memory {
        char *memory; /* of the backend: of the caller; `direct`: messages through MPI */
        size_t bytes;
        char *host;    /* what MPI uses: `memory`, or a copy of it on the host */
        char *spare;   /* on the host: receives messages after a GPU has failed */
        bool messages; /* some go through MPI */
    } kind[EXCHANGE_KINDS];

    struct exchange_message *send, *receive; /* [sends], [receives] */
    int sends, receives;                     /* both 0: this rank exchanges nothing */
    bool full;                               /* no memory for the lists */
    struct peers peers;
    MPI_Datatype type; /* an element */
    MPI_Request *request;
    int *done;     /* [sends + receives] for MPI_Testsome */
    int requests;  /* that were posted */
    int now;       /* the kind of the present exchange */
    int64_t begun; /* exchanges of all kinds */
    bool failed;   /* the backend failed: contents of messages are meaningless */
};

/* Adds a message that this rank sends or receives. */
void exchange_add(struct exchanges *x, bool sends, struct exchange_message m);

/* STATUS_MACHINE, reported. Collective, and so is exchange_destroy, also after a failure. *x may
 * not move afterwards. */
enum status exchange_plan(struct exchanges *x);
void exchange_destroy(struct exchanges *x); /* all zero: nothing */

/* Does this rank exchange anything? */
static inline bool exchange_any(const struct exchanges *x)
{
    return x->sends + x->receives > 0;
}

/* Bytes that all ranks send through MPI, and those of them that go to other hosts, in so many
 * exchanges of each kind. Collective; the same on all ranks. */
struct exchange_bytes {
    double all, between_hosts;
};
struct exchange_bytes exchange_bytes(const struct exchanges *x, const int times[EXCHANGE_KINDS]);

/* The next exchange begins. */
void exchange_begin(struct exchanges *x, int kind);

/* Where a message is packed or unpacked in the present exchange, if `direct`. */
char *exchange_buffer(const struct exchanges *x, const struct exchange_message *m);

/* After the packing was put into the queue: puts the copies that are needed there. */
void exchange_put(struct exchanges *x);

/* Tells peers, and waits for the queue if messages go through MPI: for packing, and for the
 * previous unpacking. STATUS_MACHINE, reported, when the backend failed; the other ranks still get
 * (empty) messages, in this and all later exchanges. */
enum status exchange_ready(struct exchanges *x);

/* Starts to send and receive. */
void exchange_post(struct exchanges *x);

/* Lets MPI progress; call it now and then while computing. */
void exchange_progress(struct exchanges *x);

/* Waits for the messages. */
void exchange_wait(struct exchanges *x);

/* Puts the copies back into the queue, before the unpacking. */
void exchange_take(struct exchanges *x);

/* All of that, from begin to take. Status as exchange_ready. */
enum status exchange_at_once(struct exchanges *x, int kind);

#endif
