/* Can MPI read the memory of GPUs? See transport_trial.h. */
#include "solver/transport_trial.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/message.h"

/* Numbers in a message: MPI sends short ones at once, and long ones when the receiver is ready. */
enum { SHORT = 256, LONG = 1 << 17 };

/* Rank 0 ends first: the launcher then ends the others before they write the same line. */
enum { LATER = 15 };

enum cause { FAULTED, ABORTED, SILENT, REFUSED, CHANGED, CAUSES };

/* Written before the first message: afterwards a signal handler may need them. */
static char last_words[CAUSES][512];
static unsigned later;

static void prepare_words(void)
{
    static const char *const how[CAUSES] = {"ended in a memory fault", "made MPI abort",
                                            "did not arrive", "was refused", "arrived changed"};
    char host[256] = "?";
    gethostname(host, sizeof host - 1);
    for (int k = 0; k < CAUSES; k++)
        snprintf(last_words[k], sizeof last_words[k],
                 "tagflow: rank %d on %.200s: MPI cannot read the memory of GPUs: a test "
                 "message %s (run.transport: host, or an MPI with GPU support)\n",
                 message_rank(), host, how[k]);
    later = message_rank() > 0 ? LATER : 0;
}

/* Also called by the signal handler. */
static void give_up(enum cause cause)
{
    alarm(0);
    while (later > 0)
        later = sleep(later);
    const ssize_t ignored = write(STDERR_FILENO, last_words[cause], strlen(last_words[cause]));
    (void)ignored;
    _exit(STATUS_MACHINE);
}

static void on_signal(int number)
{
    give_up(number == SIGALRM ? SILENT : number == SIGABRT ? ABORTED : FAULTED);
}

static const int caught[] = {SIGSEGV, SIGBUS, SIGABRT, SIGALRM};
enum { CAUGHT = sizeof caught / sizeof *caught };

/* The number at place k of a message of this rank. */
static uint32_t content(int rank, int k)
{
    return (uint32_t)(rank + 1) * UINT32_C(2654435761) + (uint32_t)k;
}

struct trial {
    struct backend *backend;
    MPI_Comm comm;
    int rank, ranks;
    uint32_t *send, *receive, *host;
};

/* Exchanges `count` numbers with the ranks `shift` further on and back. */
static enum status exchange(const struct trial *t, int shift, int count)
{
    const size_t bytes = (size_t)count * sizeof *t->host;
    const int to = (t->rank + shift) % t->ranks, from = (t->rank - shift + t->ranks) % t->ranks;
    const struct backend_type *const type = t->backend->type;
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (int k = 0; k < count; k++)
        t->host[k] = content(t->rank, k);
    type->copy(t->backend, QUEUE_SHELL, t->send, t->host, bytes);
    enum status status = type->wait(t->backend, QUEUE_SHELL);
    if (status_agree(t->comm, status))
        return STATUS_MACHINE;
    if (MPI_Irecv(t->receive, count, MPI_UINT32_T, from, 0, t->comm, &request[0]) ||
        MPI_Isend(t->send, count, MPI_UINT32_T, to, 0, t->comm, &request[1]) ||
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE))
        give_up(REFUSED);
    type->copy(t->backend, QUEUE_SHELL, t->host, t->receive, bytes);
    status = type->wait(t->backend, QUEUE_SHELL);
    for (int k = 0; k < count && !status; k++)
        if (t->host[k] != content(from, k))
            give_up(CHANGED);
    return status_agree(t->comm, status);
}

enum status transport_trial(struct backend *b, MPI_Comm comm, bool to_self, double seconds)
{
    static const int counts[] = {SHORT, LONG};
    const size_t bytes = LONG * sizeof(uint32_t);
    struct trial t = {.backend = b,
                      .send = b->type->alloc(b, bytes, 1),
                      .receive = b->type->alloc(b, bytes, 1),
                      .host = b->type->alloc_host(b, bytes)};
    struct sigaction before[CAUGHT], action = {.sa_handler = on_signal};
    enum status status = STATUS_OK;
    if (!t.send || !t.receive || !t.host)
        status = backend_no_room(b, 2 * (double)bytes, "a trial of run.transport");
    MPI_Comm_dup(comm, &t.comm);
    MPI_Comm_set_errhandler(t.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &t.rank);
    MPI_Comm_size(comm, &t.ranks);
    status = status_agree(comm, status);
    prepare_words();
    for (int k = 0; k < CAUGHT; k++)
        sigaction(caught[k], &action, &before[k]);
    alarm((unsigned)ceil(seconds));
    for (int shift = to_self ? 0 : 1; shift < t.ranks && !status; shift = shift ? 2 * shift : 1)
        for (int k = 0; k < 2 && !status; k++)
            status = exchange(&t, shift, counts[k]);
    alarm(0);
    for (int k = 0; k < CAUGHT; k++)
        sigaction(caught[k], &before[k], NULL);
    MPI_Comm_free(&t.comm);
    b->type->free(b, t.send);
    b->type->free(b, t.receive);
    b->type->free_host(b, t.host);
    return status;
}
