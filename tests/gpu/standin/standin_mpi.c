/* An MPI that takes device memory, for the stand-in (aware=1): messages go through host memory.
 *
 * What is sent is read when the send is called, and has to be the same when it completes: MPI may
 * read it at any time between. What is received is in device memory when the call that completes it
 * returns; until then there is 0xff, for MPI may write at any time between.
 *
 * Without aware=1, and in all calls that are not here, addresses of device memory go to MPI as they
 * are, which ends the program. */
#include "standin.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi-ext.h>

/* A message under way between device memory and `host`. */
struct stage {
    struct stage *next;
    MPI_Request request;
    bool receives;
    void *device, *host;
    size_t size;
};

static struct stage *stages;

static bool on_device(const void *buffer)
{
    return standin_options.aware && buffer && standin_where(buffer, 0, "MPI") == STANDIN_DEVICE;
}

static struct stage *create(const void *buffer, int count, MPI_Datatype type, int peer,
                            bool receives)
{
    if (count == 0 || peer == MPI_PROC_NULL || !on_device(buffer))
        return NULL;
    int bytes;
    MPI_Aint low, extent;
    PMPI_Type_size(type, &bytes);
    PMPI_Type_get_extent(type, &low, &extent);
    if (low != 0 || extent != bytes)
        standin_die("MPI: device memory with a type that has gaps");
    struct stage *const s = malloc(sizeof *s);
    if (!s)
        standin_die("no host memory");
    *s = (struct stage){.receives = receives, .request = MPI_REQUEST_NULL};
    s->size = (size_t)count * (size_t)bytes;
    memcpy(&s->device, &buffer, sizeof buffer); /* what is sent is not written to */
    s->host = malloc(s->size);
    if (!s->host)
        standin_die("no host memory");
    standin_where(buffer, s->size, "MPI");
    standin_happens(STANDIN_staged);
    if (receives)
        standin_set(s->device, 0xff, s->size);
    else
        standin_copy(s->host, s->device, s->size);
    return s;
}

/* NULL when the message is none of device memory. */
static struct stage *stage_create(const void *buffer, int count, MPI_Datatype type, int peer,
                                  bool receives)
{
    standin_begin();
    standin_hold();
    struct stage *const s = create(buffer, count, type, peer, receives);
    standin_release();
    return s;
}

static void stage_start(struct stage *s, MPI_Request request)
{
    s->request = request;
    s->next = stages;
    stages = s;
}

static void stage_finish(struct stage *s, const MPI_Status *status)
{
    standin_hold();
    standin_where(s->device, s->size, "MPI: the end of a message");
    if (s->receives) {
        int bytes;
        PMPI_Get_count(status, MPI_BYTE, &bytes);
        /* More than there was room for is an error that MPI reports. */
        const size_t received = bytes < 0 || (size_t)bytes > s->size ? s->size : (size_t)bytes;
        if (standin_options.messages == STANDIN_WRONG)
            ((char *)s->host)[received / 2] ^= 1;
        standin_copy(s->device, s->host, received);
    } else {
        standin_unlock();
        if (memcmp(s->device, s->host, s->size) != 0)
            standin_die("MPI: what is being sent was changed before the send was complete");
        standin_lock();
    }
    standin_release();
    free(s->host);
    free(s);
}

/* A request that was `request` is complete. */
static void complete(MPI_Request request, const MPI_Status *status)
{
    for (struct stage **link = &stages; *link; link = &(*link)->next)
        if (request != MPI_REQUEST_NULL && (*link)->request == request) {
            struct stage *const s = *link;
            *link = s->next;
            stage_finish(s, status);
            return;
        }
}

/* The requests before a call that completes some, and room for their statuses. */
struct pending {
    MPI_Request *request;
    MPI_Status *status;
};

static struct pending pending_create(int count, const MPI_Request *requests)
{
    const size_t n = count > 0 ? (size_t)count : 1;
    struct pending p = {malloc(n * sizeof *p.request), malloc(n * sizeof *p.status)};
    if (!p.request || !p.status)
        standin_die("no host memory");
    if (count > 0)
        memcpy(p.request, requests, (size_t)count * sizeof *requests);
    return p;
}

static void pending_destroy(struct pending *p, int count, MPI_Status *statuses)
{
    if (statuses != MPI_STATUSES_IGNORE && count > 0)
        memcpy(statuses, p->status, (size_t)count * sizeof *statuses);
    free(p->request);
    free(p->status);
}

int MPIX_Query_cuda_support(void)
{
    standin_begin();
    return standin_options.says;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    struct stage *const s = stage_create(buffer, count, type, to, false);
    if (s && standin_options.messages == STANDIN_ERROR)
        return MPI_ERR_OTHER;
    while (s && standin_options.messages == STANDIN_HANG)
        pause();
    const int error = PMPI_Isend(s ? s->host : buffer, count, type, to, tag, comm, request);
    if (s)
        stage_start(s, *request);
    return error;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    struct stage *const s = stage_create(buffer, count, type, from, true);
    const int error = PMPI_Irecv(s ? s->host : buffer, count, type, from, tag, comm, request);
    if (s)
        stage_start(s, *request);
    return error;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    struct stage *const s = stage_create(buffer, count, type, to, false);
    const int error = PMPI_Send(s ? s->host : buffer, count, type, to, tag, comm);
    if (s)
        stage_finish(s, MPI_STATUS_IGNORE);
    return error;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    struct stage *const s = stage_create(buffer, count, type, from, true);
    MPI_Status own;
    const int error = PMPI_Recv(s ? s->host : buffer, count, type, from, tag, comm, &own);
    if (s)
        stage_finish(s, &own);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return error;
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    struct stage *const s = stage_create(out, out_count, out_type, to, false);
    struct stage *const r = stage_create(in, in_count, in_type, from, true);
    MPI_Status own;
    const int error = PMPI_Sendrecv(s ? s->host : out, out_count, out_type, to, out_tag,
                                    r ? r->host : in, in_count, in_type, from, in_tag, comm, &own);
    if (s)
        stage_finish(s, MPI_STATUS_IGNORE);
    if (r)
        stage_finish(r, &own);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return error;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const MPI_Request before = *request;
    MPI_Status own;
    const int error = PMPI_Wait(request, &own);
    complete(before, &own);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return error;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct pending p = pending_create(count, requests);
    const int error = PMPI_Waitall(count, requests, p.status);
    for (int i = 0; i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL)
            complete(p.request[i], &p.status[i]);
    pending_destroy(&p, count, statuses);
    return error;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    const MPI_Request before = *request;
    MPI_Status own;
    const int error = PMPI_Test(request, done, &own);
    if (*done) {
        complete(before, &own);
        if (status != MPI_STATUS_IGNORE)
            *status = own;
    }
    return error;
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[])
{
    struct pending p = pending_create(count, requests);
    const int error = PMPI_Testall(count, requests, done, p.status);
    for (int i = 0; *done && i < count; i++)
        complete(p.request[i], &p.status[i]);
    pending_destroy(&p, *done ? count : 0, statuses);
    return error;
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int which[], MPI_Status statuses[])
{
    struct pending p = pending_create(count, requests);
    const int error = PMPI_Testsome(count, requests, done, which, p.status);
    const int completed = *done == MPI_UNDEFINED ? 0 : *done;
    for (int i = 0; i < completed; i++)
        complete(p.request[which[i]], &p.status[i]);
    pending_destroy(&p, completed, statuses);
    return error;
}
