/* Exchange of the populations that cross cuts; see halo.h. */
#include "solver/halo.h"

#include <limits.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "domain/decompose.h"
#include "solver/transport.h"

static const int velocities[Q][3] = LATTICE_VELOCITIES;

/* Cells whose populations travel along `direction`: the sender's last layer, or (ghost) the same
 * cells in the receiver's ghost layer. */
static struct box message_box(const struct view *v, int direction, bool ghost)
{
    struct box b;
    for (int a = 0; a < 3; a++) {
        const int c = velocities[direction][a];
        const int layer = ghost ? (c > 0 ? -1 : v->n[a]) : (c > 0 ? v->n[a] - 1 : 0);
        b.lo[a] = c ? layer : 0;
        b.hi[a] = c ? layer + 1 : v->n[a];
    }
    return b;
}

/* Allocates the messages through MPI on the backend and, if MPI sends from the host, their copies
 * there. */
static bool make_room(struct halo *h, enum transport transport)
{
    struct backend *const b = h->backend;
    if (!h->messages)
        return true;
    h->send = b->type->alloc(b, h->send_bytes, 1);
    h->receive = b->type->alloc(b, h->receive_bytes, 1);
    h->mpi_send = h->send;
    h->mpi_receive = h->receive;
    if (transport == TRANSPORT_host && !b->type->host_memory) {
        h->mpi_send = b->type->alloc_host(b, h->send_bytes);
        h->mpi_receive = b->type->alloc_host(b, h->receive_bytes);
    }
    return h->send && h->receive && h->mpi_send && h->mpi_receive;
}

static bool staged(const struct halo *h)
{
    return h->mpi_send != h->send;
}

/* Length of a message, in elements of the flow's populations; elements of other sets have the same
 * size or a multiple of it. */
static int count_of(const struct halo *h, int direction, const struct box *cells)
{
    return (int)(message_at(h->view, direction, box_cells(cells), h->view->sets) / h->size);
}

/* Bytes of a message, rounded up so that the next message is aligned for any element. */
static size_t room_of(const struct halo *h, int count)
{
    return ((size_t)count * h->size + 7) / 8 * 8;
}

/* Has the message more elements than fit an int (MPI's count), or more cells than cuts allow? */
static bool too_long(const struct view *v, const struct box *cells)
{
    const size_t bytes = message_at(v, 1, box_cells(cells), v->sets);
    return box_cells(cells) > DECOMPOSE_FACE || bytes / (v->set[SET_flow].bits / 8) > INT_MAX;
}

/* Bytes of the message that arrives along a direction; 0: none. */
static size_t bytes_in(const struct halo *h, const struct domain *d, int direction)
{
    const struct box cells = message_box(h->view, direction, true);
    return d->neighbour[opposite(direction)] == MPI_PROC_NULL
               ? 0
               : room_of(h, count_of(h, direction, &cells));
}

/* Looks for peers among the neighbours. bytes: of the message that arrives along each direction. */
static enum status find_peers(struct halo *h, const struct domain *d, const size_t bytes[Q])
{
    struct peer_message in[Q - 1], out[Q - 1];
    int ins = 0, outs = 0;
    for (const struct halo_message *m = h->message; m < h->message + h->count; m++) {
        if (m->from != MPI_PROC_NULL)
            in[ins++] = (struct peer_message){m->from, m->direction, bytes[m->direction]};
        if (m->to != MPI_PROC_NULL)
            out[outs++] = (struct peer_message){m->to, m->direction, 0};
    }
    return peers_create(&h->peers, d->comm, h->backend, QUEUE_SHELL, in, ins, out, outs);
}

/* Gives a message to the peers concerned, or a place among those through MPI. */
static void place(struct halo *h, struct halo_message *m)
{
    for (int half = 0; half < 2; half++) {
        m->out[half] = peers_out(&h->peers, m->to, m->direction, half);
        m->in[half] = peers_in(&h->peers, m->from, m->direction, half);
    }
    if (m->out[0])
        m->to = MPI_PROC_NULL;
    if (m->in[0])
        m->from = MPI_PROC_NULL;
    m->send_at = h->send_bytes;
    m->receive_at = h->receive_bytes;
    if (m->to != MPI_PROC_NULL) {
        m->send_count = count_of(h, m->direction, &m->send);
        h->send_bytes += room_of(h, m->send_count);
    }
    if (m->from != MPI_PROC_NULL) {
        m->receive_count = count_of(h, m->direction, &m->receive);
        h->receive_bytes += room_of(h, m->receive_count);
    }
    h->messages = h->messages || m->to != MPI_PROC_NULL || m->from != MPI_PROC_NULL;
}

enum status halo_create(struct halo *h, const struct domain *d, const struct view *v,
                        struct backend *b, enum transport transport)
{
    size_t bytes[Q] = {0};
    enum status status = STATUS_OK;
    *h = (struct halo){.comm = d->comm, .backend = b, .view = v, .transport = transport};
    h->size = (size_t)v->set[SET_flow].bits / 8;
    h->type = h->size == 8 ? MPI_UINT64_T : h->size == 4 ? MPI_UINT32_T : MPI_UINT16_T;
    for (int k = 0; k < 2 * (Q - 1); k++)
        h->request[k] = MPI_REQUEST_NULL;
    for (int i = 1; i < Q; i++) {
        struct halo_message m = {
            .direction = i, .to = d->neighbour[i], .from = d->neighbour[opposite(i)]};
        if (m.to == MPI_PROC_NULL && m.from == MPI_PROC_NULL)
            continue;
        m.send = message_box(v, i, false);
        m.receive = message_box(v, i, true);
        if (too_long(v, &m.send) && !status) /* with run.exchange, or blocks of unequal sizes */
            status = fail_machine("a message with the populations of %zu cells is too long (cut "
                                  "the box along other axes: run.ranks)",
                                  box_cells(&m.send));
        bytes[i] = status ? 0 : bytes_in(h, d, i);
        h->message[h->count++] = m;
    }
    if (b->shares)
        status = status_agree(d->comm, status);
    if (!status)
        status = find_peers(h, d, bytes);
    if (status)
        return status;
    for (struct halo_message *m = h->message; m < h->message + h->count; m++)
        place(h, m);
    if (!make_room(h, transport)) {
        const double all = (double)(h->send_bytes + h->receive_bytes);
        if (!h->send || !h->receive)
            return backend_no_room(b, all, "the messages with neighbours");
        return fail_machine("out of memory on the host: %.4g GB that is not swapped out, for the "
                            "messages with neighbours",
                            1e-9 * all);
    }
    for (struct halo_message *m = h->message; m < h->message + h->count; m++)
        for (int half = 0; half < 2; half++) {
            if (m->to != MPI_PROC_NULL)
                m->out[half] = h->send + m->send_at;
            if (m->from != MPI_PROC_NULL)
                m->in[half] = h->receive + m->receive_at;
        }
    return STATUS_OK;
}

void halo_destroy(struct halo *h)
{
    struct backend *const b = h->backend;
    peers_destroy(&h->peers);
    if (b && staged(h)) {
        b->type->free_host(b, h->mpi_send);
        b->type->free_host(b, h->mpi_receive);
    }
    if (b) {
        b->type->free(b, h->send);
        b->type->free(b, h->receive);
    }
    free(h->spare);
    *h = (struct halo){0};
}

struct halo_bytes halo_bytes_of(MPI_Comm comm, int count, const int *to, const double *sent)
{
    double bytes[2] = {0, 0};
    MPI_Comm node;
    MPI_Group all, here;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_group(comm, &all);
    MPI_Comm_group(node, &here);
    for (int k = 0; k < count; k++) {
        int there;
        MPI_Group_translate_ranks(all, 1, &to[k], here, &there);
        bytes[0] += sent[k];
        bytes[1] += there == MPI_UNDEFINED ? sent[k] : 0;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    MPI_Comm_free(&node);
    MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, comm);
    return (struct halo_bytes){bytes[0], bytes[1]};
}

struct halo_bytes halo_bytes(const struct halo *h)
{
    int to[Q], count = 0;
    double bytes[Q];
    for (const struct halo_message *m = h->message; m < h->message + h->count; m++)
        if (m->to != MPI_PROC_NULL) {
            to[count] = m->to;
            bytes[count++] = (double)m->send_count * (double)h->size;
        }
    return halo_bytes_of(h->comm, count, to, bytes);
}

void halo_pack(struct halo *h, enum kernel pack, int odd)
{
    struct backend *const b = h->backend;
    struct work work[Q - 1];
    int count = 0;
    const int half = (int)(++h->exchanges & 1);
    for (const struct halo_message *m = h->message; m < h->message + h->count; m++)
        if (m->out[half])
            work[count++] = (struct work){
                m->send, {.odd = odd, .direction = m->direction, .buffer = m->out[half]}};
    b->type->phase(b, QUEUE_SHELL, PHASE_pack, true);
    b->type->launch(b, QUEUE_SHELL, pack, h->view, work, count);
    if (staged(h))
        b->type->copy(b, QUEUE_SHELL, h->mpi_send, h->send, h->send_bytes);
    b->type->phase(b, QUEUE_SHELL, PHASE_pack, false);
}

/* After a failure of the backend. The neighbours would wait for ever for this rank's messages, so
 * it sends empty ones: MPI then does not read a GPU that may be lost. Messages to this rank are
 * received on the host. */
static void give_up(struct halo *h)
{
    h->failed = true;
    if (staged(h) || h->backend->type->host_memory || !h->messages)
        return;
    h->spare = transport_spare(h->comm, h->receive_bytes);
}

enum status halo_send(struct halo *h)
{
    struct backend *const b = h->backend;
    enum status status = peers_tell(&h->peers, h->exchanges);
    /* Wait for the packing, and for the previous step's unpacking: it reads the buffers of the
     * receives below. */
    if (!h->messages)
        b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    else if (b->type->wait(b, QUEUE_SHELL))
        status = STATUS_MACHINE;
    if (status && !h->failed)
        give_up(h);
    char *const receive = h->spare ? h->spare : h->mpi_receive;
    b->type->phase(b, QUEUE_SHELL, PHASE_exchange, true);
    for (int k = 0; k < h->count && h->messages; k++) {
        const struct halo_message *const m = &h->message[k];
        MPI_Irecv(receive + m->receive_at, m->receive_count, h->type, m->from, m->direction,
                  h->comm, &h->request[2 * k]);
    }
    for (int k = 0; k < h->count && h->messages; k++) {
        const struct halo_message *const m = &h->message[k];
        MPI_Isend(h->mpi_send + m->send_at, h->failed ? 0 : m->send_count, h->type, m->to,
                  m->direction, h->comm, &h->request[2 * k + 1]);
    }
    return status;
}

void halo_progress(struct halo *h)
{
    int done, which[2 * (Q - 1)];
    if (h->count)
        MPI_Testsome(2 * h->count, h->request, &done, which, MPI_STATUSES_IGNORE);
}

void halo_finish(struct halo *h, enum kernel unpack, int odd)
{
    struct backend *const b = h->backend;
    struct work work[Q - 1];
    int count = 0;
    const int half = (int)(h->exchanges & 1);
    b->type->phase(b, QUEUE_SHELL, PHASE_wait, true);
    MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE);
    peers_hear(&h->peers, h->exchanges);
    b->type->phase(b, QUEUE_SHELL, PHASE_wait, false);
    b->type->phase(b, QUEUE_SHELL, PHASE_exchange, false);
    for (const struct halo_message *m = h->message; m < h->message + h->count; m++)
        if (m->in[half])
            work[count++] = (struct work){
                m->receive, {.odd = odd, .direction = m->direction, .buffer = m->in[half]}};
    b->type->phase(b, QUEUE_SHELL, PHASE_unpack, true);
    if (staged(h))
        b->type->copy(b, QUEUE_SHELL, h->receive, h->mpi_receive, h->receive_bytes);
    b->type->launch(b, QUEUE_SHELL, unpack, h->view, work, count);
    b->type->phase(b, QUEUE_SHELL, PHASE_unpack, false);
}
