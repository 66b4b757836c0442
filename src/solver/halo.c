/* Exchange of the populations that cross cuts; see halo.h. */
#include "solver/halo.h"

enum status halo_create(struct exchanges *h, const struct domain *d, const struct view *v,
                        struct backend *b, enum transport transport)
{
    /* Elements of other sets have the flow's size or a multiple of it. */
    *h = (struct exchanges){.comm = d->comm,
                            .backend = b,
                            .queue = QUEUE_SHELL,
                            .transport = transport,
                            .direct = true,
                            .size = (size_t)v->set[SET_flow].bits / 8,
                            .what = "messages with neighbours"};
    for (int i = 1; i < Q; i++)
        for (int out = 0; out < 2; out++) {
            const struct box cells = domain_layer(v, i, !out);
            const struct exchange_message m = {
                .rank = d->neighbour[out ? i : opposite(i)],
                .number = i,
                .bytes = message_at(v, i, box_cells(&cells), v->sets),
            };
            if (m.rank != MPI_PROC_NULL)
                exchange_add(h, out, m);
        }
    return exchange_plan(h);
}

/* Launches packing or unpacking of these messages. */
static void launch(const struct exchanges *h, const struct view *v, enum kernel kernel, int odd,
                   const struct exchange_message *list, int count)
{
    struct work work[Q - 1];
    for (int k = 0; k < count; k++)
        work[k] = (struct work){
            domain_layer(v, list[k].number, list == h->receive),
            {.odd = odd, .direction = list[k].number, .buffer = exchange_buffer(h, &list[k])}};
    h->backend->type->launch(h->backend, QUEUE_SHELL, kernel, v, work, count);
}

void halo_pack(struct exchanges *h, const struct view *v, enum kernel pack, int odd)
{
    struct backend *const b = h->backend;
    exchange_begin(h, 0);
    b->type->phase(b, QUEUE_SHELL, PHASE_pack, true);
    launch(h, v, pack, odd, h->send, h->sends);
    exchange_put(h);
    b->type->phase(b, QUEUE_SHELL, PHASE_pack, false);
}

enum status halo_send(struct exchanges *h)
{
    struct backend *const b = h->backend;
    const enum status status = exchange_ready(h);
    if (!h->kind[0].messages)
        b->type->after(b, QUEUE_INTERIOR, QUEUE_SHELL);
    b->type->phase(b, QUEUE_SHELL, PHASE_exchange, true);
    exchange_post(h);
    return status;
}

void halo_finish(struct exchanges *h, const struct view *v, enum kernel unpack, int odd)
{
    struct backend *const b = h->backend;
    b->type->phase(b, QUEUE_SHELL, PHASE_wait, true);
    exchange_wait(h);
    b->type->phase(b, QUEUE_SHELL, PHASE_wait, false);
    b->type->phase(b, QUEUE_SHELL, PHASE_exchange, false);
    b->type->phase(b, QUEUE_SHELL, PHASE_unpack, true);
    exchange_take(h);
    launch(h, v, unpack, odd, h->receive, h->receives);
    b->type->phase(b, QUEUE_SHELL, PHASE_unpack, false);
}
