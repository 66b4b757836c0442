/* A stand-in for CUDA's runtime, for tests only: the backend of cuda/ runs on hosts without a GPU,
 * and what it may not rely on is not so.
 *
 * - Nothing runs when it is given to a stream, but when a synchronisation, a repeated query or an
 *   event makes it necessary, and then only what that needs (order=lazy). order=eager runs
 *   everything as soon as it may; order=random something that may run, at every call;
 *   order=others, before a stream goes on, all that may run in others.
 * - A launch runs its blocks, and the threads of a block, one after the other in a random order.
 * - Device memory and pinned memory begin full of 0xff. The host's touching device memory, and a
 *   kernel's leaving its allocations, end the program with a line on stderr. So do asynchronous
 *   copies that are not of pinned memory, copies whose kind is wrong, a kernel's argument that
 *   points to pageable memory, and the use of the default stream.
 *
 * TAGFLOW_STANDIN holds options, separated by commas:
 *   order=lazy|eager|random|others, seed=N
 *   devices=N, memory=BYTES, capability=9.0
 *   stacks=BYTES      memory of every device that the first launch takes
 *   driver=N          its version; 0: none is installed
 *   uuid=same|rank    all device numbers are one device; every rank has devices of its own
 *   unreadable=1      the driver cannot read the kernels
 *   aware=1           MPI takes device memory (standin_mpi.c), and says so
 *   says=0|1          after aware: MPI says this instead
 *   messages=error|hang|wrong
 *                     sends from device memory return an error, or never return; or what is
 *                     received there is wrong
 *   ipc=0             the driver shares no memory and no events between processes
 *   peers=0           no device reaches the memory of another, or of another process
 *   deaf=1|2          of what this process writes into another's memory nothing arrives, or only
 *                     the first 4096 bytes of each allocation
 *   late=1            cudaMemset, and cudaMemcpy to the device but from pinned memory, are done
 *                     when the default stream or the device is waited for, as they may be
 *   leaks=1           status 99 if at exit something was not freed or destroyed
 *   count=FILE        append how often every function was called, the most bytes that a device has
 *                     lost to allocations, and the bytes that were copied to the host
 *   rank=N            the options from here on are for rank N only
 *   fail=FUNCTION:N   its Nth call returns an error (it still frees or destroys)
 *   fail=kernel:N     the Nth launch ends in an error that stays, seen when it has run
 *   skip=FUNCTION:N   its Nth call does nothing: does a test notice?
 *
 * Memory and events may be shared by processes (cudaIpc..., ipc.c). What a stream waits for in
 * another process is done there when that process has to do it anyway, or when this one cannot go
 * on without it: a thread of the stand-in looks for such demands. The death of that process, or an
 * error that stays, leaves the stream waiting for ever.
 *
 * To be used from one thread. Files: standin.c (options, errors), device.c, memory.c, order.c
 * (streams, events, launches), ipc.c, standin_mpi.c. */
#include "standin.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum need { NOTHING, DRIVER, DEVICE };

static const struct {
    const char *name;
    enum need need;
    cudaError_t error;
} call_row[STANDIN_CALLS] = {
#define X(name, need, error) {#name, need, error},
    STANDIN_CALL_LIST(X)
#undef X
};

struct standin_options standin_options;
cudaError_t standin_sticky = cudaSuccess;

static long calls[STANDIN_CALLS];
static cudaError_t last_error = cudaSuccess;
static uint64_t random_state;
static bool begun;
static pthread_t owner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void standin_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("standin: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    fflush(NULL);
    abort();
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
uint64_t standin_random(uint64_t below)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

static double number(const char *name, const char *value, double low, double high)
{
    char *end;
    const double result = strtod(value, &end);
    if (end == value || *end || !(result >= low && result <= high))
        standin_die("TAGFLOW_STANDIN: %s=%s: a number from %g to %g is wanted", name, value, low,
                    high);
    return result;
}

static int choice(const char *name, const char *value, const char *const names[])
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], value) == 0)
            return i;
    standin_die("TAGFLOW_STANDIN: %s=%s: no such value", name, value);
}

/* FUNCTION:N */
static void add_rule(bool skip, const char *name, char *value)
{
    /* What is noticed when it does nothing; the others have results that somebody reads. */
    static const enum standin_call skippable[] = {
        STANDIN_cudaStreamWaitEvent,   STANDIN_cudaEventRecord,  STANDIN_cudaStreamSynchronize,
        STANDIN_cudaEventSynchronize,  STANDIN_cudaMemcpyAsync,  STANDIN_cudaMemsetAsync,
        STANDIN_cudaDeviceSynchronize, STANDIN_cudaLaunchKernel,
    };
    struct standin_options *const o = &standin_options;
    char *const colon = strchr(value, ':');
    if (!colon)
        standin_die("TAGFLOW_STANDIN: %s=%s: FUNCTION:N is wanted", name, value);
    *colon = '\0';
    if (o->rules == STANDIN_RULES)
        standin_die("TAGFLOW_STANDIN: more than %d of fail and skip", STANDIN_RULES);
    struct standin_rule *const rule = &o->rule[o->rules++];
    *rule = (struct standin_rule){.skip = skip, .call = STANDIN_CALLS};
    for (int i = 0; i < STANDIN_CALLS; i++)
        if (strcmp(call_row[i].name, value) == 0)
            rule->call = (enum standin_call)i;
    bool known = rule->call < STANDIN_CALLS && !skip;
    for (size_t i = 0; skip && i < sizeof skippable / sizeof *skippable; i++)
        known = known || rule->call == skippable[i];
    if (!known)
        standin_die("TAGFLOW_STANDIN: %s=%s: no such function", name, value);
    rule->number = (long)number(name, colon + 1, 1, 1e15);
}

static void set_option(const char *name, char *value)
{
    static const char *const orders[] = {"lazy", "eager", "random", "others", NULL};
    static const char *const messages[] = {"good", "error", "hang", "wrong", NULL};
    static const char *const uuids[] = {"device", "same", "rank", NULL};
    struct standin_options *const o = &standin_options;
    if (strcmp(name, "order") == 0) {
        o->order = (enum standin_order)choice(name, value, orders);
    } else if (strcmp(name, "uuid") == 0) {
        o->uuid = (enum standin_uuid)choice(name, value, uuids);
    } else if (strcmp(name, "seed") == 0) {
        o->seed = (uint64_t)number(name, value, 0, 1e15);
    } else if (strcmp(name, "devices") == 0) {
        o->devices = (int)number(name, value, 0, STANDIN_DEVICES);
    } else if (strcmp(name, "memory") == 0) {
        o->memory = (size_t)number(name, value, 0, 1e15);
    } else if (strcmp(name, "stacks") == 0) {
        o->stacks = (size_t)number(name, value, 0, 1e15);
    } else if (strcmp(name, "capability") == 0) {
        const double capability = number(name, value, 1, 99);
        o->major = (int)capability;
        o->minor = (int)((capability - o->major) * 10 + 0.5);
    } else if (strcmp(name, "driver") == 0) {
        o->driver = (int)number(name, value, 0, 1e6);
    } else if (strcmp(name, "aware") == 0) {
        o->aware = o->says = number(name, value, 0, 1) != 0;
    } else if (strcmp(name, "says") == 0) {
        o->says = number(name, value, 0, 1) != 0;
    } else if (strcmp(name, "messages") == 0) {
        o->messages = (enum standin_messages)choice(name, value, messages);
    } else if (strcmp(name, "ipc") == 0) {
        o->ipc = number(name, value, 0, 1) != 0;
    } else if (strcmp(name, "peers") == 0) {
        o->peers = number(name, value, 0, 1) != 0;
    } else if (strcmp(name, "deaf") == 0) {
        o->deaf = (int)number(name, value, 0, 2);
    } else if (strcmp(name, "unreadable") == 0) {
        o->unreadable = number(name, value, 0, 1) != 0;
    } else if (strcmp(name, "late") == 0) {
        o->late = number(name, value, 0, 1) != 0;
    } else if (strcmp(name, "leaks") == 0) {
        o->leaks = number(name, value, 0, 1) != 0;
    } else if (strcmp(name, "count") == 0) {
        if (strlen(value) >= sizeof o->count)
            standin_die("TAGFLOW_STANDIN: count: too long a path");
        strcpy(o->count, value);
    } else if (strcmp(name, "fail") == 0 || strcmp(name, "skip") == 0) {
        add_rule(*name == 's', name, value);
    } else {
        standin_die("TAGFLOW_STANDIN: %s: no such option", name);
    }
}

/* In one piece, so that the lines of several ranks do not mix. */
static void write_counts(void)
{
    char text[8192];
    size_t length = 0;
    for (int i = 0; i < STANDIN_CALLS; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %ld\n",
                                   call_row[i].name, calls[i]);
    length += (size_t)snprintf(text + length, sizeof text - length, "bytes %zu\nfetched %zu\n",
                               standin_memory_most(), standin_memory_fetched());
    const int file = open(standin_options.count, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0 || write(file, text, length) != (ssize_t)length)
        standin_die("%s: %s", standin_options.count, strerror(errno));
    close(file);
}

static void at_exit(void)
{
    if (*standin_options.count)
        write_counts();
    standin_hold();
    const int left = standin_memory_left() + standin_streams_left();
    standin_release();
    if (standin_options.leaks && left) {
        fflush(NULL);
        fprintf(stderr, "standin: %d left\n", left);
        _exit(99);
    }
}

void standin_begin(void)
{
    if (begun) {
        if (!pthread_equal(owner, pthread_self()))
            standin_die("used by two threads, which it cannot do");
        return;
    }
    begun = true;
    owner = pthread_self();
    standin_options = (struct standin_options){.seed = 1,
                                               .devices = 1,
                                               .memory = 1000000000,
                                               .major = 9,
                                               .driver = CUDART_VERSION,
                                               .ipc = true,
                                               .peers = true};
    const char *const given = getenv("TAGFLOW_STANDIN");
    char *const copy = strdup(given ? given : "");
    if (!copy)
        standin_die("no memory");
    bool mine = true;
    char *rest, *option = strtok_r(copy, ",", &rest);
    for (; option; option = strtok_r(NULL, ",", &rest)) {
        char *const equals = strchr(option, '=');
        if (!equals)
            standin_die("TAGFLOW_STANDIN: %s: NAME=VALUE is wanted", option);
        *equals = '\0';
        if (strcmp(option, "rank") == 0)
            mine = (int)number(option, equals + 1, 0, 1e6) == standin_rank();
        else if (mine)
            set_option(option, equals + 1);
    }
    free(copy);
    random_state = standin_options.seed;
    standin_memory_begin();
    if (atexit(at_exit) != 0)
        standin_die("atexit failed");
}

/* Whether a rule is for the latest call. */
static bool ruled(enum standin_call call, bool skip)
{
    for (int i = 0; i < standin_options.rules; i++) {
        const struct standin_rule *const rule = &standin_options.rule[i];
        if (rule->call == call && rule->skip == skip && rule->number == calls[call])
            return true;
    }
    return false;
}

bool standin_happens(enum standin_call call)
{
    calls[call]++;
    return ruled(call, false);
}

bool standin_skipped(enum standin_call call)
{
    return ruled(call, true);
}

void standin_hold(void)
{
    pthread_mutex_lock(&lock);
}

void standin_release(void)
{
    pthread_mutex_unlock(&lock);
}

cudaError_t standin_enter(enum standin_call call)
{
    standin_begin();
    standin_hold();
    const bool fails = standin_happens(call);
    const enum need need = call_row[call].need;
    if (standin_options.order == STANDIN_RANDOM && need == DEVICE)
        standin_run_some();
    /* A runtime works with drivers of its own major version or a later one. */
    if (need >= DRIVER && standin_options.driver / 1000 < CUDART_VERSION / 1000)
        return cudaErrorInsufficientDriver;
    if (need == DEVICE && standin_options.devices == 0)
        return cudaErrorNoDevice;
    if (need == DEVICE && standin_sticky)
        return standin_sticky;
    return fails ? call_row[call].error : cudaSuccess;
}

cudaError_t standin_leave(cudaError_t error)
{
    if (error)
        last_error = error;
    standin_release();
    return error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = standin_enter(STANDIN_cudaGetLastError);
    if (!error)
        error = standin_sticky ? standin_sticky : last_error;
    last_error = cudaSuccess;
    standin_release();
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    const cudaError_t error = standin_enter(STANDIN_cudaPeekAtLastError);
    standin_release();
    return error ? error : standin_sticky ? standin_sticky : last_error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define X(name, value, text)                                                                       \
    case name:                                                                                     \
        return text;
        STANDIN_ERROR_LIST(X)
#undef X
    }
    return "no such error";
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define X(name, value, text)                                                                       \
    case name:                                                                                     \
        return #name;
        STANDIN_ERROR_LIST(X)
#undef X
    }
    return "no such error";
}
