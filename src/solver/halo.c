/* Exchange of the populations that cross cuts; see halo.h. */
#include "solver/halo.h"

#include <limits.h>
#include <stdlib.h>

#include "base/message.h"
#include "domain/decompose.h"

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

/* Allocates all messages on the backend and, if MPI sends from the host, their copies there. */
static bool make_room(struct halo *h, enum transport transport)
{
    struct backend *const b = h->backend;
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

enum status halo_create(struct halo *h, const struct domain *d, const struct view *v,
                        struct backend *b, enum transport transport)
{
    *h = (struct halo){.comm = d->comm, .backend = b, .view = v};
    h->size = (size_t)v->set[SET_flow].bits / 8;
    h->type = h->size == 8 ? MPI_UINT64_T : h->size == 4 ? MPI_UINT32_T : MPI_UINT16_T;
    for (int k = 0; k < 2 * (Q - 1); k++)
        h->request[k] = MPI_REQUEST_NULL;
    for (int i = 1; i < Q; i++) {
        struct halo_message m = {.direction = i,
                                 .to = d->neighbour[i],
                                 .from = d->neighbour[opposite(i)],
                                 .send_at = h->send_bytes,
                                 .receive_at = h->receive_bytes};
        if (m.to == MPI_PROC_NULL && m.from == MPI_PROC_NULL)
            continue;
        m.send = message_box(v, i, false);
        m.receive = message_box(v, i, true);
        if (too_long(v, &m.send)) /* with run.exchange, or blocks of unequal sizes */
            return fail_machine("a message with the populations of %zu cells is too long (cut the "
                                "box along other axes: run.ranks)",
                                box_cells(&m.send));
        if (m.to != MPI_PROC_NULL)
            m.send_count = count_of(h, i, &m.send);
        if (m.from != MPI_PROC_NULL)
            m.receive_count = count_of(h, i, &m.receive);
        h->send_bytes += room_of(h, m.send_count);
        h->receive_bytes += room_of(h, m.receive_count);
        h->message[h->count++] = m;
    }
    if (h->count == 0 || make_room(h, transport))
        return STATUS_OK;
    const double bytes = (double)(h->send_bytes + h->receive_bytes);
    const bool host = h->send && h->receive;
    halo_destroy(h);
    if (host)
        return fail_machine("out of memory on the host: %.4g GB that is not swapped out, for the "
                            "messages with neighbours",
                            1e-9 * bytes);
    return backend_no_room(b, bytes, "the messages with neighbours");
}

void halo_destroy(struct halo *h)
{
    struct backend *const b = h->backend;
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

void halo_pack(struct halo *h, enum kernel pack, int odd)
{
    struct backend *const b = h->backend;
    struct work work[Q - 1];
    int count = 0;
    for (const struct halo_message *m = h->message; m < h->message + h->count; m++)
        if (m->to != MPI_PROC_NULL)
            work[count++] = (struct work){
                m->send, {.odd = odd, .direction = m->direction, .buffer = h->send + m->send_at}};
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
    if (staged(h) || h->backend->type->host_memory)
        return;
    h->spare = malloc(h->receive_bytes);
    if (!h->spare)
        MPI_Abort(h->comm, (int)fail_machine("out of memory"));
}

enum status halo_send(struct halo *h)
{
    struct backend *const b = h->backend;
    /* Wait for the packing, and for the previous step's unpacking: it reads the buffers of the
     * receives below. */
    const enum status status = b->type->wait(b, QUEUE_SHELL);
    if (status && !h->failed)
        give_up(h);
    char *const receive = h->spare ? h->spare : h->mpi_receive;
    b->type->phase(b, QUEUE_SHELL, PHASE_exchange, true);
    for (int k = 0; k < h->count; k++) {
        const struct halo_message *const m = &h->message[k];
        MPI_Irecv(receive + m->receive_at, m->receive_count, h->type, m->from, m->direction,
                  h->comm, &h->request[2 * k]);
    }
    for (int k = 0; k < h->count; k++) {
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
    b->type->phase(b, QUEUE_SHELL, PHASE_wait, true);
    MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE);
    b->type->phase(b, QUEUE_SHELL, PHASE_wait, false);
    b->type->phase(b, QUEUE_SHELL, PHASE_exchange, false);
    for (const struct halo_message *m = h->message; m < h->message + h->count; m++)
        if (m->from != MPI_PROC_NULL)
            work[count++] = (struct work){
                m->receive,
                {.odd = odd, .direction = m->direction, .buffer = h->receive + m->receive_at}};
    b->type->phase(b, QUEUE_SHELL, PHASE_unpack, true);
    if (staged(h))
        b->type->copy(b, QUEUE_SHELL, h->receive, h->mpi_receive, h->receive_bytes);
    b->type->launch(b, QUEUE_SHELL, unpack, h->view, work, count);
    b->type->phase(b, QUEUE_SHELL, PHASE_unpack, false);
}
