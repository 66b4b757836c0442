/* The stand-in's streams, events and launches: what was given is kept in a list for each stream,
 * and run as late (or early, or at random) as the rules of streams and events allow. */
#include "standin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    FULL = 10000, /* operations of a stream that can wait */
    PATIENCE = 3, /* queries in a row that may be told "not ready" */
};

/* One cudaEventRecord; the event refers to the latest, and every wait to the one before it. */
struct record {
    int references;
    bool done;
    int asked;
    struct CUstream_st *stream;
    uint64_t position;
    struct timespec time;
};

struct launch {
    standin_kernel *function;
    dim3 grid, block;
    bool fails;
    struct cuda_call call;
};

struct operation {
    struct operation *next;
    enum { COPY, SET, LAUNCH, RECORD, WAIT } kind;
    void *to; /* copy, set */
    const void *from;
    size_t count;
    int value;
    void *bytes; /* copy: what is to be copied, if it was taken from the host when given */
    struct record *record; /* record, wait */
    struct shared *shared; /* record: of an interprocess event; wait: for another process's */
    uint64_t number;       /* of the record, from 1 */
    struct launch *launch;
};

struct CUstream_st {
    struct CUstream_st *next;
    bool hidden;    /* a device's default stream */
    bool destroyed; /* kept: what it was given still runs */
    int device, asked;
    struct operation *first, **last;
    uint64_t given, done; /* operations */
};

/* An interprocess event, in memory of its process and of those that opened it: counts of records
 * that were asked for, that were made, and that another process cannot go on without; and of waits
 * that streams of other processes were given and have not ended. */
struct shared {
    _Atomic uint64_t recorded, done, wanted, waits;
    atomic_int opened;
};

struct CUevent_st {
    struct CUevent_st *next;
    bool destroyed, timed;
    int device;
    struct record *record; /* NULL: never recorded */
    struct shared *shared; /* NULL: for this process alone */
    int file;
    bool foreign; /* another process's */
    bool exported;
};

static struct CUstream_st *streams;
static struct CUevent_st *events;

/* What a kernel sees. */
struct uint3 threadIdx, blockIdx;
struct dim3 blockDim, gridDim;

standin_kernel *(*standin_find)(const void *function);

static void *make(size_t size)
{
    void *const made = calloc(1, size);
    if (!made)
        standin_die("no host memory");
    return made;
}

static void drop_record(struct record *record)
{
    if (record && --record->references == 0)
        free(record);
}

/* A stream or event that can be used. The default stream is nothing the backend has use for. */
static cudaError_t check_stream(cudaStream_t stream, const char *who)
{
    if ((uintptr_t)stream <= 2)
        standin_die("%s: on the default stream", who);
    for (const struct CUstream_st *s = streams; s; s = s->next)
        if (s == stream) {
            if (s->destroyed)
                standin_die("%s: a stream that was destroyed", who);
            return cudaSuccess;
        }
    return cudaErrorInvalidResourceHandle;
}

static cudaError_t check_event(cudaEvent_t event, const char *who)
{
    for (const struct CUevent_st *e = events; e; e = e->next)
        if (e == event) {
            if (e->destroyed)
                standin_die("%s: an event that was destroyed", who);
            return cudaSuccess;
        }
    return cudaErrorInvalidResourceHandle;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* 0 .. count - 1 in the order first, first + step, first + 2 step, ... modulo count. */
struct permutation {
    uint64_t count, step, at;
};

/* Neither one after the other nor backwards, unless there is no other step. */
static struct permutation permutation_create(uint64_t count)
{
    struct permutation p = {.count = count};
    do
        p.step = 1 + standin_random(count);
    while (common_divisor(p.step, count) != 1 ||
           ((p.step == 1 || p.step == count - 1) && count > 6));
    p.step %= count;
    p.at = standin_random(count);
    return p;
}

static void permutation_next(struct permutation *p)
{
    p->at = p->at >= p->count - p->step ? p->at - (p->count - p->step) : p->at + p->step;
}

static void place(struct uint3 *index, uint64_t number, dim3 extent)
{
    index->x = (unsigned)(number % extent.x);
    index->y = (unsigned)(number / extent.x % extent.y);
    index->z = (unsigned)(number / extent.x / extent.y);
}

static void run_launch(const struct launch *launch)
{
    if (launch->fails) {
        standin_sticky = cudaErrorIllegalAddress;
        return;
    }
    gridDim = launch->grid;
    blockDim = launch->block;
    const uint64_t threads = (uint64_t)blockDim.x * blockDim.y * blockDim.z;
    struct permutation block = permutation_create((uint64_t)gridDim.x * gridDim.y * gridDim.z);
    struct permutation thread = permutation_create(threads);
    standin_in_kernel(true);
    for (uint64_t b = 0; b < block.count; b++) {
        place(&blockIdx, block.at, gridDim);
        permutation_next(&block);
        thread.at = (thread.at + b) % threads; /* begins elsewhere in every block */
        for (uint64_t t = 0; t < threads; t++) {
            place(&threadIdx, thread.at, blockDim);
            permutation_next(&thread);
            launch->function(launch->call);
        }
    }
    standin_in_kernel(false);
}

static bool fulfilled(const struct operation *wait)
{
    return wait->shared ? wait->shared->done >= wait->number : wait->record->done;
}

static bool may_run(const struct CUstream_st *stream)
{
    const struct operation *const o = stream->first;
    return o && (o->kind != WAIT || fulfilled(o));
}

/* The oldest operation of a stream, which may run. After the error that stays, none does anything,
 * and other processes see no more records. */
static void run_one(struct CUstream_st *stream)
{
    struct operation *const o = stream->first;
    stream->first = o->next;
    if (!stream->first)
        stream->last = &stream->first;
    switch (o->kind) {
    case COPY:
        if (!standin_sticky)
            memmove(o->to, o->from, o->count);
        free(o->bytes);
        break;
    case SET:
        if (!standin_sticky)
            memset(o->to, o->value, o->count);
        break;
    case LAUNCH:
        if (!standin_sticky)
            run_launch(o->launch);
        free(o->launch);
        break;
    case RECORD:
        o->record->done = true;
        clock_gettime(CLOCK_MONOTONIC, &o->record->time);
        if (o->shared && !standin_sticky)
            o->shared->done = o->number;
        drop_record(o->record);
        break;
    case WAIT:
        if (o->shared)
            o->shared->waits--;
        drop_record(o->record);
        break;
    }
    free(o);
    stream->done++;
}

static void want(struct shared *shared, uint64_t record)
{
    uint64_t wanted = shared->wanted;
    while (wanted < record && !atomic_compare_exchange_weak(&shared->wanted, &wanted, record))
        ;
}

/* Runs what a position of a stream needs; false: this must wait for another process, which is now
 * asked for it. Records are made before the waits for them, so this comes to an end. */
static bool run_towards(struct CUstream_st *stream, uint64_t position)
{
    while (stream->done < position) {
        const struct operation *const o = stream->first;
        if (may_run(stream)) {
            run_one(stream);
        } else if (o->shared) {
            want(o->shared, o->number);
            return false;
        } else if (!run_towards(o->record->stream, o->record->position)) {
            return false;
        }
    }
    return true;
}

/* Runs what may run in other streams. */
static void run_others(const struct CUstream_st *stream)
{
    for (struct CUstream_st *s = streams; s; s = s->next)
        while (s != stream && may_run(s))
            run_one(s);
}

static bool try_to(struct CUstream_st *stream, uint64_t position)
{
    if (stream->done >= position)
        return true;
    standin_unlock();
    if (standin_options.order == STANDIN_OTHERS)
        run_others(stream);
    const bool there = run_towards(stream, position);
    standin_lock();
    return there;
}

static void nap(void)
{
    standin_release();
    usleep(50);
    standin_hold();
}

static void run_to(struct CUstream_st *stream, uint64_t position)
{
    while (!try_to(stream, position))
        nap();
}

/* The answer to a query: is that position reached? At first not, though nothing is in the way. */
static bool is_there(struct CUstream_st *stream, uint64_t position, int *asked)
{
    if ((*asked)++ < PATIENCE)
        return false;
    const bool there = try_to(stream, position);
    if (!there)
        nap(); /* whoever asks again and again takes time from the process that is waited for */
    return there;
}

void standin_run_all(void)
{
    for (struct CUstream_st *s = streams; s; s = s->next)
        run_to(s, s->given);
}

void standin_run_some(void)
{
    static uint64_t haste; /* of 8; one for all calls, so that seeds differ in it */
    if (!haste)
        haste = 1 + standin_random(6);
    while (standin_random(8) < haste) {
        uint64_t ready = 0;
        for (struct CUstream_st *s = streams; s; s = s->next)
            ready += may_run(s);
        if (!ready)
            return;
        uint64_t chosen = standin_random(ready);
        for (struct CUstream_st *s = streams; s; s = s->next)
            if (may_run(s) && chosen-- == 0) {
                run_to(s, s->done + 1);
                break;
            }
    }
}

static void give(struct CUstream_st *stream, struct operation operation)
{
    struct operation *const o = make(sizeof *o);
    *o = operation;
    *stream->last = o;
    stream->last = &o->next;
    stream->given++;
    if (standin_options.order == STANDIN_EAGER)
        run_to(stream, stream->given);
    else if (stream->given - stream->done > FULL)
        run_to(stream, stream->given - FULL);
}

/* The current device's default stream; it and the others do not wait for each other. */
void standin_default_stream(void *to, const void *from, int value, size_t count, bool later)
{
    struct CUstream_st *s = streams;
    while (s && !(s->hidden && s->device == standin_device && !s->destroyed))
        s = s->next;
    if (!s) {
        s = make(sizeof *s);
        *s = (struct CUstream_st){
            .next = streams, .hidden = true, .device = standin_device, .last = &s->first};
        streams = s;
    }
    struct operation o = {.kind = from ? COPY : SET, .to = to, .value = value, .count = count};
    o.from = from;
    later = later && standin_options.late;
    if (later && from && standin_where(from, count, "cudaMemcpy") == STANDIN_PAGEABLE) {
        o.from = o.bytes = make(count);
        memcpy(o.bytes, from, count);
    }
    give(s, o);
    if (!later)
        run_to(s, s->given);
}

/* Streams. */

static cudaError_t create_stream(cudaStream_t *stream, unsigned flags)
{
    if (flags & ~(unsigned)cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    struct CUstream_st *const s = make(sizeof *s);
    s->device = standin_device;
    s->last = &s->first;
    s->next = streams;
    streams = s;
    *stream = s;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    const cudaError_t error = standin_enter(STANDIN_cudaStreamCreateWithFlags);
    return standin_leave(error ? error : create_stream(stream, flags));
}

/* Any priority is put into the range; here none has an effect, as a device may choose. */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    const cudaError_t error = standin_enter(STANDIN_cudaStreamCreateWithPriority);
    (void)priority;
    return standin_leave(error ? error : create_stream(stream, flags));
}

/* What the stream was given runs all the same, when somebody needs it. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const cudaError_t error = standin_enter(STANDIN_cudaStreamDestroy);
    if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice)
        return standin_leave(error);
    const cudaError_t wrong = check_stream(stream, "cudaStreamDestroy");
    if (!wrong)
        stream->destroyed = true;
    return standin_leave(error ? error : wrong);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = standin_enter(STANDIN_cudaStreamSynchronize);
    if (!error)
        error = check_stream(stream, "cudaStreamSynchronize");
    if (error || standin_skipped(STANDIN_cudaStreamSynchronize))
        return standin_leave(error);
    run_to(stream, stream->given);
    return standin_leave(standin_sticky);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    cudaError_t error = standin_enter(STANDIN_cudaStreamQuery);
    if (!error)
        error = check_stream(stream, "cudaStreamQuery");
    if (error)
        return standin_leave(error);
    if (stream->done < stream->given) {
        if (!is_there(stream, stream->given, &stream->asked))
            return standin_leave(cudaErrorNotReady);
    }
    stream->asked = 0;
    return standin_leave(standin_sticky);
}

cudaError_t cudaDeviceSynchronize(void)
{
    const cudaError_t error = standin_enter(STANDIN_cudaDeviceSynchronize);
    if (error || standin_skipped(STANDIN_cudaDeviceSynchronize))
        return standin_leave(error);
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (s->device == standin_device)
            run_to(s, s->given);
    return standin_leave(standin_sticky);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaError_t error = standin_enter(STANDIN_cudaStreamWaitEvent);
    if (!error)
        error = check_stream(stream, "cudaStreamWaitEvent");
    if (!error)
        error = check_event(event, "cudaStreamWaitEvent");
    if (!error && flags != cudaEventWaitDefault)
        error = cudaErrorInvalidValue;
    if (error || standin_skipped(STANDIN_cudaStreamWaitEvent))
        return standin_leave(error);
    if (event->foreign) {
        const uint64_t number = event->shared->recorded;
        if (number) {
            event->shared->waits++;
            give(stream,
                 (struct operation){.kind = WAIT, .shared = event->shared, .number = number});
        }
        return standin_leave(cudaSuccess);
    }
    if (!event->record)
        return standin_leave(cudaSuccess);
    event->record->references++;
    give(stream, (struct operation){.kind = WAIT, .record = event->record});
    return standin_leave(cudaSuccess);
}

/* Events. */

static cudaError_t create_event(cudaEvent_t *event, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (flags & ~known || (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)))
        return cudaErrorInvalidValue;
    struct CUevent_st *const e = make(sizeof *e);
    e->device = standin_device;
    if (flags & cudaEventInterprocess) {
        e->file = standin_share(sizeof *e->shared);
        e->shared = standin_map(e->file, 0, sizeof *e->shared, NULL, PROT_READ | PROT_WRITE);
    }
    e->timed = !(flags & cudaEventDisableTiming);
    e->next = events;
    events = e;
    *event = e;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    const cudaError_t error = standin_enter(STANDIN_cudaEventCreate);
    return standin_leave(error ? error : create_event(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    const cudaError_t error = standin_enter(STANDIN_cudaEventCreateWithFlags);
    return standin_leave(error ? error : create_event(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    const cudaError_t error = standin_enter(STANDIN_cudaEventDestroy);
    if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice)
        return standin_leave(error);
    const cudaError_t wrong = check_event(event, "cudaEventDestroy");
    if (!wrong) {
        if (event->foreign)
            event->shared->opened--;
        else if (event->exported && event->shared->opened && !standin_sticky)
            standin_die("cudaEventDestroy: an event that another process has open");
        event->destroyed = true;
        drop_record(event->record);
        event->record = NULL;
    }
    return standin_leave(error ? error : wrong);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = standin_enter(STANDIN_cudaEventRecord);
    if (!error)
        error = check_event(event, "cudaEventRecord");
    if (!error)
        error = check_stream(stream, "cudaEventRecord");
    if (!error && event->device != stream->device)
        error = cudaErrorInvalidResourceHandle;
    if (error || standin_skipped(STANDIN_cudaEventRecord))
        return standin_leave(error);
    if (event->foreign)
        standin_die("cudaEventRecord: an event of another process");
    struct record *const record = make(sizeof *record);
    *record = (struct record){.references = 2, .stream = stream, .position = stream->given + 1};
    drop_record(event->record);
    event->record = record;
    struct operation o = {.kind = RECORD, .record = record, .shared = event->shared};
    if (o.shared && o.shared->waits && !standin_sticky)
        standin_die("cudaEventRecord: an event for which a stream of another process still waits");
    if (o.shared)
        o.number = ++o.shared->recorded;
    give(stream, o);
    return standin_leave(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = standin_enter(STANDIN_cudaEventSynchronize);
    if (!error)
        error = check_event(event, "cudaEventSynchronize");
    if (error || standin_skipped(STANDIN_cudaEventSynchronize))
        return standin_leave(error);
    if (event->foreign)
        standin_die("cudaEventSynchronize: an event of another process");
    if (event->record && !event->record->done)
        run_to(event->record->stream, event->record->position);
    return standin_leave(standin_sticky);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error = standin_enter(STANDIN_cudaEventQuery);
    if (!error)
        error = check_event(event, "cudaEventQuery");
    if (error)
        return standin_leave(error);
    if (event->foreign)
        standin_die("cudaEventQuery: an event of another process");
    struct record *const record = event->record;
    if (record && !record->done) {
        if (!is_there(record->stream, record->position, &record->asked))
            return standin_leave(cudaErrorNotReady);
    }
    return standin_leave(standin_sticky);
}

/* Makes the records of an event that other processes cannot go on without, and no others. */
static void satisfy(const struct CUevent_st *event)
{
    struct CUstream_st *const stream = event->record->stream;
    while (event->shared->done < event->shared->wanted && stream->first &&
           try_to(stream, stream->done + 1))
        ;
}

static void *serve(void *unused)
{
    for (;;) {
        usleep(100);
        standin_hold();
        for (struct CUevent_st *e = events; e; e = e->next)
            if (e->exported && !e->destroyed && e->record)
                satisfy(e);
        standin_release();
    }
    return unused;
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    static bool serving;
    cudaError_t error = standin_enter(STANDIN_cudaIpcGetEventHandle);
    if (!error)
        error = check_event(event, "cudaIpcGetEventHandle");
    if (!error && !standin_options.ipc)
        error = cudaErrorNotSupported;
    if (!error && (!event->shared || event->foreign))
        error = cudaErrorInvalidValue;
    if (error)
        return standin_leave(error);
    event->exported = true;
    standin_export(handle, STANDIN_EVENT, event->file, sizeof *event->shared);
    pthread_t thread;
    if (!serving && pthread_create(&thread, NULL, serve, NULL) != 0)
        standin_die("no thread");
    serving = true;
    return standin_leave(cudaSuccess);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    struct standin_handle what;
    cudaError_t error = standin_enter(STANDIN_cudaIpcOpenEventHandle);
    const int file = error ? -1 : standin_open(&handle, STANDIN_EVENT, &what, &error);
    if (error)
        return standin_leave(error);
    struct CUevent_st *const e = make(sizeof *e);
    *e = (struct CUevent_st){.next = events, .device = standin_device, .foreign = true};
    e->shared = standin_map(file, 0, sizeof *e->shared, NULL, PROT_READ | PROT_WRITE);
    e->shared->opened++;
    close(file);
    events = e;
    *event = e;
    return standin_leave(cudaSuccess);
}

/* On the host's clock, when the records were run. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    cudaError_t error = standin_enter(STANDIN_cudaEventElapsedTime);
    if (!error)
        error = check_event(start, "cudaEventElapsedTime");
    if (!error)
        error = check_event(end, "cudaEventElapsedTime");
    if (!error && (!start->timed || !end->timed || !start->record || !end->record))
        error = cudaErrorInvalidResourceHandle;
    if (!error && (!start->record->done || !end->record->done))
        error = cudaErrorNotReady;
    if (!error) {
        const struct timespec *const a = &start->record->time, *const b = &end->record->time;
        *milliseconds = (float)(1e3 * (double)(b->tv_sec - a->tv_sec) +
                                1e-6 * (double)(b->tv_nsec - a->tv_nsec));
    }
    return standin_leave(error);
}

/* What streams are given. */

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    cudaError_t error = standin_enter(STANDIN_cudaMemcpyAsync);
    if (!error)
        error = check_stream(stream, "cudaMemcpyAsync");
    if (error || count == 0)
        return standin_leave(error);
    standin_check_async_copy(to, from, count, kind);
    if (!standin_skipped(STANDIN_cudaMemcpyAsync))
        give(stream, (struct operation){.kind = COPY, .to = to, .from = from, .count = count});
    return standin_leave(cudaSuccess);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t count, cudaStream_t stream)
{
    cudaError_t error = standin_enter(STANDIN_cudaMemsetAsync);
    if (!error)
        error = check_stream(stream, "cudaMemsetAsync");
    if (error || count == 0)
        return standin_leave(error);
    if (standin_where(pointer, count, "cudaMemsetAsync") != STANDIN_DEVICE)
        standin_die("cudaMemsetAsync: not device memory");
    if (!standin_skipped(STANDIN_cudaMemsetAsync))
        give(stream,
             (struct operation){.kind = SET, .to = pointer, .value = value, .count = count});
    return standin_leave(cudaSuccess);
}

static bool can_launch(dim3 grid, dim3 block)
{
    return grid.x > 0 && grid.x <= 2147483647 && grid.y > 0 && grid.y <= 65535 && grid.z > 0 &&
           grid.z <= 65535 && block.x > 0 && block.x <= 1024 && block.y > 0 && block.y <= 1024 &&
           block.z > 0 && block.z <= 64 && (uint64_t)block.x * block.y * block.z <= 1024;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream)
{
    _Static_assert(sizeof(struct cuda_call) <= 4096, "more than a kernel's arguments may take");
    cudaError_t error = standin_enter(STANDIN_cudaLaunchKernel);
    if (!error && !function)
        error = cudaErrorInvalidDeviceFunction;
    if (!error && standin_options.unreadable)
        error = cudaErrorInvalidKernelImage;
    if (!error)
        error = check_stream(stream, "cudaLaunchKernel");
    if (!error && stream->device != standin_device)
        error = cudaErrorInvalidResourceHandle;
    if (!error && !can_launch(grid, block))
        error = cudaErrorInvalidConfiguration;
    if (error)
        return standin_leave(error);
    if (shared_bytes)
        standin_die("cudaLaunchKernel: shared memory, which there is none of here");
    struct launch *const launch = make(sizeof *launch);
    launch->grid = grid;
    launch->block = block;
    if (standin_find)
        launch->function = standin_find(function);
    else
        memcpy(&launch->function, &function, sizeof function);
    memcpy(&launch->call, arguments[0], sizeof launch->call);
    standin_check_argument(&launch->call, sizeof launch->call);
    if (standin_skipped(STANDIN_cudaLaunchKernel)) {
        free(launch);
        return standin_leave(cudaSuccess);
    }
    standin_take_stacks();
    launch->fails = standin_happens(STANDIN_kernel);
    give(stream, (struct operation){.kind = LAUNCH, .launch = launch});
    return standin_leave(cudaSuccess);
}

void standin_streams_reset(int device)
{
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (s->device == device) {
            run_to(s, s->given);
            s->destroyed = true;
        }
    for (struct CUevent_st *e = events; e; e = e->next)
        if (e->device == device)
            e->destroyed = true;
}

int standin_streams_left(void)
{
    int left = 0;
    for (const struct CUstream_st *s = streams; s; s = s->next)
        left += !s->destroyed && !s->hidden;
    for (const struct CUevent_st *e = events; e; e = e->next)
        left += !e->destroyed;
    return left;
}
