/* Messages between ranks; see exchange.h. */
#include "solver/exchange.h"

#include <limits.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"
#include "solver/transport.h"

/* Messages in memory of `direct` begin at multiples of so many bytes, for elements of any set. */
enum { ALIGNMENT = 8 };

/* ---- plan ---- */

void exchange_add(struct exchanges *x, bool sends, struct exchange_message m)
{
    const bool room =
        sends ? ARRAY_ADD(x->send, x->sends, m) : ARRAY_ADD(x->receive, x->receives, m);
    x->full = x->full || !room;
}

/* Can MPI count the elements of these messages? Its counts are int. */
static enum status check_lengths(const struct exchanges *x, const struct exchange_message *list,
                                 int count)
{
    for (const struct exchange_message *m = list; m < list + count; m++)
        if (m->bytes / x->size > INT_MAX)
            return fail_machine("one of the %s has %.4g GB: too long for MPI (use more ranks, or "
                                "other cuts: run.ranks)",
                                x->what, 1e-9 * (double)m->bytes);
    return STATUS_OK;
}

/* Notes which kinds have messages through MPI. `direct`: gives these places in memory, too. */
static void place(struct exchanges *x, struct exchange_message *list, int count)
{
    for (struct exchange_message *m = list; m < list + count; m++) {
        struct exchange_memory *const to = &x->kind[m->kind];
        if (m->peer[0])
            continue;
        to->messages = true;
        if (x->direct) {
            m->at = to->bytes;
            to->bytes += (m->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
    }
}

static enum status make_room(struct exchanges *x, struct exchange_memory *of)
{
    struct backend *const b = x->backend;
    if (x->direct && of->messages && !(of->memory = b->type->alloc(b, of->bytes, 1)))
        return backend_no_room(b, (double)of->bytes, x->what);
    of->host = of->memory;
    if (b->type->host_memory || x->transport == TRANSPORT_device || !of->messages)
        return STATUS_OK;
    of->host = b->type->alloc_host(b, of->bytes);
    return of->host ? STATUS_OK : backend_no_host_room((double)of->bytes, x->what);
}

enum status exchange_plan(struct exchanges *x)
{
    x->type = x->size == 8 ? MPI_UINT64_T : x->size == 4 ? MPI_UINT32_T : MPI_UINT16_T;
    const size_t most = (size_t)(x->sends + x->receives) + 1;
    x->request = calloc(most, sizeof *x->request);
    x->done = calloc(most, sizeof *x->done);
    enum status status = x->request && x->done && !x->full
                             ? STATUS_OK
                             : fail_machine("out of memory for %s", x->what);
    if (!status)
        status = check_lengths(x, x->send, x->sends);
    if (!status)
        status = check_lengths(x, x->receive, x->receives);
    if (x->backend->shares)
        status = status_agree(x->comm, status);
    if (!status)
        status = peers_create(&x->peers, x->comm, x->backend, x->queue, x->receive, x->receives,
                              x->send, x->sends);
    if (status)
        return status;
    place(x, x->send, x->sends);
    place(x, x->receive, x->receives);
    for (int k = 0; k < EXCHANGE_KINDS && !status; k++)
        status = make_room(x, &x->kind[k]);
    return status;
}

void exchange_destroy(struct exchanges *x)
{
    struct backend *const b = x->backend;
    peers_destroy(&x->peers);
    for (struct exchange_memory *of = x->kind; b && of < x->kind + EXCHANGE_KINDS; of++) {
        if (of->host != of->memory)
            b->type->free_host(b, of->host);
        if (x->direct)
            b->type->free(b, of->memory);
        free(of->spare);
    }
    free(x->send);
    free(x->receive);
    free(x->request);
    free(x->done);
    *x = (struct exchanges){0};
}

struct exchange_bytes exchange_bytes(const struct exchanges *x, const int times[EXCHANGE_KINDS])
{
    double bytes[2] = {0, 0};
    MPI_Comm node;
    MPI_Group all, here;
    MPI_Comm_split_type(x->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_group(x->comm, &all);
    MPI_Comm_group(node, &here);
    for (const struct exchange_message *m = x->send; m < x->send + x->sends; m++) {
        const double sent = m->peer[0] ? 0 : times[m->kind] * (double)m->bytes;
        int there;
        MPI_Group_translate_ranks(all, 1, &m->rank, here, &there);
        bytes[0] += sent;
        bytes[1] += there == MPI_UNDEFINED ? sent : 0;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    MPI_Comm_free(&node);
    MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, x->comm);
    return (struct exchange_bytes){bytes[0], bytes[1]};
}

/* ---- an exchange ---- */

static int half(const struct exchanges *x)
{
    return (int)(x->begun & 1);
}

void exchange_begin(struct exchanges *x, int kind)
{
    x->begun++;
    x->now = kind;
}

char *exchange_buffer(const struct exchanges *x, const struct exchange_message *m)
{
    return m->peer[half(x)] ? m->peer[half(x)] : x->kind[m->kind].memory + m->at;
}

/* Does the message go through MPI in the present exchange? */
static bool by_mpi(const struct exchanges *x, const struct exchange_message *m)
{
    return m->kind == x->now && !m->peer[half(x)];
}

/* May one copy bring both messages? They go through MPI and lie one after the other. Between
 * messages of `direct` is padding; in memory of the caller another one's bytes may be there. */
static bool follows(const struct exchanges *x, const struct exchange_message *m,
                    const struct exchange_message *next)
{
    const size_t end = m->at + m->bytes;
    return by_mpi(x, m) && by_mpi(x, next) && next->at >= end &&
           next->at - end < (x->direct ? ALIGNMENT : 1);
}

/* Copies messages between memory and where they are packed or unpacked: at peers, or on the host.
 */
static void copy_all(const struct exchanges *x, const struct exchange_message *list, int count,
                     bool out)
{
    struct backend *const b = x->backend;
    const struct exchange_memory *const of = &x->kind[x->now];
    for (const struct exchange_message *m = list, *last; m < list + count; m = last + 1) {
        const bool mpi = by_mpi(x, m);
        for (last = m; last + 1 < list + count && follows(x, last, last + 1); last++)
            ;
        if (m->kind != x->now || (mpi ? of->host == of->memory : x->direct))
            continue;
        char *const here = of->memory + m->at, *const there =
                                                   mpi ? of->host + m->at : m->peer[half(x)];
        b->type->copy(b, x->queue, out ? there : here, out ? here : there,
                      last->at + last->bytes - m->at);
    }
}

void exchange_put(struct exchanges *x)
{
    copy_all(x, x->send, x->sends, true);
}

enum status exchange_ready(struct exchanges *x)
{
    struct backend *const b = x->backend;
    enum status status = peers_tell(&x->peers, x->begun);
    if (x->kind[x->now].messages && b->type->wait(b, x->queue))
        status = STATUS_MACHINE;
    x->failed = x->failed || status;
    return status;
}

/* Where MPI receives. After a failure of the backend not in its memory, which may be lost. */
static char *receive_to(struct exchanges *x)
{
    struct exchange_memory *const of = &x->kind[x->now];
    if (!x->failed || of->host != of->memory || x->backend->type->host_memory)
        return of->host;
    if (!of->spare)
        of->spare = transport_spare(x->comm, of->bytes);
    return of->spare;
}

void exchange_post(struct exchanges *x)
{
    const struct exchange_memory *const of = &x->kind[x->now];
    char *const to = of->messages ? receive_to(x) : NULL;
    for (const struct exchange_message *m = x->receive; m < x->receive + x->receives; m++)
        if (by_mpi(x, m))
            MPI_Irecv(to + m->at, (int)(m->bytes / x->size), x->type, m->rank, x->tag + m->number,
                      x->comm, &x->request[x->requests++]);
    for (const struct exchange_message *m = x->send; m < x->send + x->sends; m++)
        if (by_mpi(x, m))
            MPI_Isend(of->host + m->at, x->failed ? 0 : (int)(m->bytes / x->size), x->type, m->rank,
                      x->tag + m->number, x->comm, &x->request[x->requests++]);
}

void exchange_progress(struct exchanges *x)
{
    int count;
    if (x->requests > 0)
        MPI_Testsome(x->requests, x->request, &count, x->done, MPI_STATUSES_IGNORE);
}

void exchange_wait(struct exchanges *x)
{
    MPI_Waitall(x->requests, x->request, MPI_STATUSES_IGNORE);
    x->requests = 0;
    peers_hear(&x->peers, x->begun);
}

void exchange_take(struct exchanges *x)
{
    copy_all(x, x->receive, x->receives, false);
}

enum status exchange_at_once(struct exchanges *x, int kind)
{
    exchange_begin(x, kind);
    exchange_put(x);
    const enum status status = exchange_ready(x);
    exchange_post(x);
    exchange_wait(x);
    exchange_take(x);
    return status;
}
