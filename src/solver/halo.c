/* Exchange of the populations that cross cuts; see halo.h. */
#include "solver/halo.h"

#include "base/message.h"

static const int velocities[Q][3] = LATTICE_VELOCITIES;

/* Cells whose populations travel along `direction`: the sender's last layer, or the same cells as
 * the receiver sees them, in its ghost layer. */
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

enum status halo_create(struct halo *h, const struct domain *d, const struct view *v,
                        struct backend *b)
{
    const size_t size = b->storage == PRECISION_fp64 ? 8 : 4;
    bool ok = true;
    *h = (struct halo){.comm = d->comm, .backend = b, .view = v};
    h->type = b->storage == PRECISION_fp64 ? MPI_DOUBLE : MPI_FLOAT;
    for (int i = 1; i < Q; i++) {
        struct halo_message m = {
            .direction = i, .to = d->neighbour[i], .from = d->neighbour[opposite(i)]};
        if (m.to == MPI_PROC_NULL && m.from == MPI_PROC_NULL)
            continue;
        m.send = message_box(v, i, false);
        m.receive = message_box(v, i, true);
        if (m.to != MPI_PROC_NULL) {
            m.send_count = travellers(i) * (int)box_cells(&m.send);
            m.send_buffer = b->type->alloc(b, (size_t)m.send_count * size);
            ok = ok && m.send_buffer;
        }
        if (m.from != MPI_PROC_NULL) {
            m.receive_count = travellers(i) * (int)box_cells(&m.receive);
            m.receive_buffer = b->type->alloc(b, (size_t)m.receive_count * size);
            ok = ok && m.receive_buffer;
        }
        h->message[h->count++] = m;
    }
    for (int k = 0; k < 2 * (Q - 1); k++)
        h->request[k] = MPI_REQUEST_NULL;
    if (ok)
        return STATUS_OK;
    halo_destroy(h);
    return fail_machine("out of memory for the halo buffers");
}

void halo_destroy(struct halo *h)
{
    for (int k = 0; k < h->count; k++) {
        h->backend->type->free(h->backend, h->message[k].send_buffer);
        h->backend->type->free(h->backend, h->message[k].receive_buffer);
    }
    *h = (struct halo){0};
}

enum status halo_start(struct halo *h, int odd)
{
    struct backend *const b = h->backend;
    for (int k = 0; k < h->count; k++) {
        struct halo_message *const m = &h->message[k];
        MPI_Irecv(m->receive_buffer, m->receive_count, h->type, m->from, m->direction, h->comm,
                  &h->request[2 * k]);
        if (m->to != MPI_PROC_NULL)
            b->type->launch(
                b, QUEUE_SHELL, KERNEL_pack, h->view, &m->send,
                (struct task){.odd = odd, .direction = m->direction, .buffer = m->send_buffer});
    }
    const enum status status = b->type->wait(b, QUEUE_SHELL);
    if (status)
        return status;
    for (int k = 0; k < h->count; k++) {
        const struct halo_message *const m = &h->message[k];
        MPI_Isend(m->send_buffer, m->send_count, h->type, m->to, m->direction, h->comm,
                  &h->request[2 * k + 1]);
    }
    return STATUS_OK;
}

void halo_progress(struct halo *h)
{
    int done, which[2 * (Q - 1)];
    if (h->count)
        MPI_Testsome(2 * h->count, h->request, &done, which, MPI_STATUSES_IGNORE);
}

enum status halo_finish(struct halo *h, int odd)
{
    struct backend *const b = h->backend;
    MPI_Waitall(2 * h->count, h->request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < h->count; k++) {
        const struct halo_message *const m = &h->message[k];
        if (m->from != MPI_PROC_NULL)
            b->type->launch(
                b, QUEUE_SHELL, KERNEL_unpack, h->view, &m->receive,
                (struct task){.odd = odd, .direction = m->direction, .buffer = m->receive_buffer});
    }
    return b->type->wait(b, QUEUE_SHELL);
}
