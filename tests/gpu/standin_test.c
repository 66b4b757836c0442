/* What the stand-in for CUDA's runtime promises (standin/standin.c). Every test runs in a process
 * of its own, for the options are read once and some of what is tested ends the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mpi-ext.h>

#include "standin_kernels.h"

typedef unsigned long long word;

static const word poison = ~0ULL;

/* In a child: said and seen by the parent. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

static char said[1 << 16]; /* on stderr, by the child */

/* The status of a process that did `body` with these options. */
static int status_of(const char *options, void (*body)(void))
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setenv("TAGFLOW_STANDIN", options, 1);
        /* cmocka's handlers would go on with the parent's tests. */
        static const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
            signal(signals[i], SIG_DFL);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        body();
        exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], said + length, sizeof said - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void passes(const char *options, void (*body)(void))
{
    const int status = status_of(options, body);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("with %s: status %d: %s", options, status, said);
}

static void dies(const char *options, void (*body)(void), const char *line)
{
    const int status = status_of(options, body);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(said, line))
        fail_msg("with %s: status %d, and not \"%s\": %s", options, status, line, said);
}

/* What the tests are made of. */

static dim3 dim(unsigned x, unsigned y, unsigned z)
{
    dim3 d;
    d.x = x;
    d.y = y;
    d.z = z;
    return d;
}

static cudaError_t launch(void (*kernel)(struct cuda_call), dim3 grid, dim3 block,
                          const void *parameters, size_t size, cudaStream_t stream)
{
    struct cuda_call call;
    void *arguments[] = {&call};
    const void *function;
    memset(&call, 0, sizeof call);
    memcpy(&call, parameters, size);
    memcpy(&function, &kernel, sizeof function);
    const cudaError_t error = cudaLaunchKernel(function, grid, block, arguments, 0, stream);
    memset(&call, 0x55, sizeof call); /* whoever reads it later is wrong */
    return error;
}

static cudaError_t digit(word *to, const word *from, word value, cudaStream_t stream)
{
    const struct digit d = {to, from, value};
    return launch(standin_digit, dim(1, 1, 1), dim(1, 1, 1), &d, sizeof d, stream);
}

static word *device_words(size_t count)
{
    void *at;
    OK(cudaMalloc(&at, count * sizeof(word)));
    return at;
}

static word *zero_words(size_t count)
{
    word *const at = device_words(count);
    OK(cudaMemset(at, 0, count * sizeof(word)));
    return at;
}

static word *pinned_words(size_t count)
{
    void *at;
    OK(cudaMallocHost(&at, count * sizeof(word)));
    return at;
}

static cudaStream_t new_stream(void)
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static cudaEvent_t new_event(void)
{
    cudaEvent_t event;
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

/* What is there now: waits for nothing. */
static word peek(const word *at)
{
    word value;
    OK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

/* Order. */

static void lazy_body(void)
{
    word *const at = zero_words(1), *const host = pinned_words(1);
    const cudaStream_t stream = new_stream();
    OK(digit(at, at, 1, stream));
    OK(digit(at, at, 2, stream));
    CHECK(peek(at) == 0);
    *host = 7;
    OK(cudaMemcpyAsync(at, host, sizeof *at, cudaMemcpyHostToDevice, stream));
    *host = 8; /* too early: this is what will be copied */
    OK(digit(at, at, 3, stream));
    OK(cudaMemcpyAsync(host, at, sizeof *at, cudaMemcpyDefault, stream));
    CHECK(*host == 8 && peek(at) == 0);
    OK(cudaStreamSynchronize(stream));
    CHECK(peek(at) == 83 && *host == 83);
    OK(cudaMemsetAsync(at, 0, sizeof *at, stream));
    CHECK(peek(at) == 83);
    OK(cudaDeviceSynchronize());
    CHECK(peek(at) == 0);
}

static void test_lazy_runs_nothing_before_it_must(void **state)
{
    (void)state;
    passes("", lazy_body);
}

static void eager_body(void)
{
    word *const at = zero_words(1), *const host = pinned_words(1);
    const cudaStream_t stream = new_stream();
    const cudaEvent_t event = new_event();
    OK(digit(at, at, 1, stream));
    CHECK(peek(at) == 1);
    *host = 7;
    OK(cudaMemcpyAsync(at, host, sizeof *at, cudaMemcpyHostToDevice, stream));
    *host = 8;
    CHECK(peek(at) == 7);
    OK(cudaEventRecord(event, stream));
    OK(cudaEventQuery(event));
    OK(cudaStreamQuery(stream));
}

static void test_eager_runs_everything_at_once(void **state)
{
    (void)state;
    passes("order=eager", eager_body);
}

static void others_body(void)
{
    word *const x = zero_words(1), *const y = zero_words(1), *const z = zero_words(1);
    const cudaStream_t a = new_stream(), b = new_stream();
    const cudaEvent_t event = new_event();
    OK(digit(y, x, 2, b));
    OK(digit(x, x, 1, a));
    OK(cudaStreamSynchronize(b)); /* reads x after the other */
    OK(digit(z, x, 3, b));
    OK(cudaEventRecord(event, b));
    OK(digit(x, x, 4, a));
    OK(cudaStreamWaitEvent(a, event, 0)); /* goes so far */
    OK(digit(x, x, 5, a));
    OK(cudaStreamSynchronize(b));
    CHECK(peek(y) == 12 && peek(z) == 143 && peek(x) == 145);
}

static void test_others_run_before_a_stream_goes_on(void **state)
{
    (void)state;
    passes("order=others", others_body);
}

/* Whether a launch had run at the next call, for each of 64 launches. */
static void random_body(void)
{
    word *const at = zero_words(2);
    const cudaStream_t a = new_stream(), b = new_stream();
    const cudaEvent_t event = new_event();
    for (int i = 0; i < 64; i++) {
        OK(cudaMemset(at, 0, 2 * sizeof *at));
        OK(digit(at, at, 1, a));
        fputc(peek(at) ? 'y' : 'n', stderr);
        OK(cudaEventRecord(event, a));
        OK(cudaStreamWaitEvent(b, event, 0));
        OK(digit(at + 1, at, 2, b)); /* never before the other */
        OK(cudaDeviceSynchronize());
        CHECK(peek(at + 1) == 12);
    }
}

static void test_random_differs_from_seed_to_seed(void **state)
{
    (void)state;
    char before[sizeof said] = "";
    int mixed = 0;
    for (int seed = 1; seed <= 4; seed++) {
        char options[64];
        snprintf(options, sizeof options, "order=random,seed=%d", seed);
        passes(options, random_body);
        mixed += strchr(said, 'y') && strchr(said, 'n');
        assert_string_not_equal(said, before);
        strcpy(before, said);
        passes(options, random_body);
        assert_string_equal(said, before); /* the same again */
    }
    assert_true(mixed >= 3);
}

/* A synchronisation runs what it needs and no more. */
static void event_body(void)
{
    word *const x = zero_words(1), *const y = zero_words(1), *const z = zero_words(1);
    const cudaStream_t a = new_stream(), b = new_stream(), c = new_stream();
    const cudaEvent_t event = new_event(), never = new_event();
    /* b: 1 in x, recorded, 2 in x; a waits for the record. */
    OK(digit(x, x, 1, b));
    OK(cudaEventRecord(event, b));
    OK(digit(x, x, 2, b));
    OK(cudaStreamWaitEvent(a, event, 0));
    OK(digit(y, x, 3, a));
    OK(digit(z, z, 4, c));
    /* A wait is for the latest record before it: this one is none of a's business. */
    OK(cudaEventRecord(event, b));
    OK(cudaStreamSynchronize(a));
    CHECK(peek(x) == 1 && peek(y) == 13 && peek(z) == 0);
    OK(cudaEventSynchronize(event));
    CHECK(peek(x) == 12 && peek(z) == 0);
    OK(cudaEventQuery(event));
    /* Nothing to wait for. */
    OK(cudaStreamWaitEvent(c, never, 0));
    OK(cudaEventSynchronize(never));
    OK(cudaEventQuery(never));
    CHECK(peek(z) == 0);
    /* A chain through three streams, from a destroyed event and in a destroyed stream. */
    OK(digit(x, x, 5, b));
    OK(cudaEventRecord(event, b));
    OK(cudaStreamWaitEvent(a, event, 0));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(b));
    OK(digit(y, x, 6, a));
    OK(cudaEventRecord(never, a));
    OK(cudaStreamWaitEvent(c, never, 0));
    OK(digit(z, y, 7, c));
    CHECK(peek(x) == 12);
    OK(cudaStreamSynchronize(c));
    CHECK(peek(x) == 125 && peek(y) == 1256 && peek(z) == 12567);
}

static void test_events_order_streams_and_nothing_else_does(void **state)
{
    (void)state;
    passes("", event_body);
}

static void query_body(void)
{
    word *const at = zero_words(1);
    const cudaStream_t stream = new_stream();
    const cudaEvent_t event = new_event();
    int times;
    OK(digit(at, at, 1, stream));
    OK(cudaEventRecord(event, stream));
    OK(digit(at, at, 2, stream));
    CHECK(cudaEventQuery(event) == cudaErrorNotReady && peek(at) == 0);
    CHECK(cudaPeekAtLastError() == cudaErrorNotReady);
    for (times = 0; times < 100 && cudaEventQuery(event) == cudaErrorNotReady; times++)
        ;
    CHECK(times < 100 && peek(at) == 1);
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    for (times = 0; times < 100 && cudaStreamQuery(stream) == cudaErrorNotReady; times++)
        ;
    CHECK(times < 100 && peek(at) == 12);
}

static void test_queries_are_not_ready_but_not_for_ever(void **state)
{
    (void)state;
    passes("", query_body);
}

static void full_body(void)
{
    word *const at = zero_words(1);
    const cudaStream_t stream = new_stream();
    OK(digit(at, at, 1, stream));
    for (int i = 1; i < 10000; i++)
        OK(cudaMemsetAsync(at + 0, 0, 1, stream));
    CHECK(peek(at) == 0);
    OK(cudaMemsetAsync(at, 0, 1, stream));
    CHECK(peek(at) == 1);
}

static void test_full_list_runs_its_oldest_operation(void **state)
{
    (void)state;
    passes("", full_body);
}

/* What a kernel in another stream finds of a copy and of a set on the default stream. */
static void late_body(void)
{
    word *const x = device_words(1), *const y = device_words(1), *const host = pinned_words(1);
    const cudaStream_t stream = new_stream();
    word one = 1;
    OK(cudaMemcpy(x, &one, sizeof one, cudaMemcpyHostToDevice));
    one = 2; /* was taken */
    OK(digit(y, x, 3, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpyAsync(x, y, sizeof *x, cudaMemcpyDeviceToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    fprintf(stderr, "%llu ", peek(y)); /* waits for the default stream */
    fprintf(stderr, "%llu ", peek(x));
    OK(cudaMemset(x, 0, sizeof *x));
    OK(digit(x, x, 4, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaDeviceSynchronize());
    fprintf(stderr, "%llu ", peek(x));
    OK(cudaMemcpy(x, y, sizeof *x, cudaMemcpyDeviceToDevice));
    *host = 5;
    OK(cudaMemcpy(y, host, sizeof *y, cudaMemcpyHostToDevice)); /* from pinned memory: at once */
    OK(digit(y, y, 6, stream));
    OK(cudaStreamSynchronize(stream));
    fprintf(stderr, "%llu", peek(y));
}

static void test_default_stream_is_late_when_told(void **state)
{
    (void)state;
    passes("", late_body);
    assert_string_equal(said, "13 13 4 56");
    passes("order=eager,late=1", late_body);
    assert_string_equal(said, "13 13 4 56");
    passes("late=1", late_body);
    /* Poison in y; x as copied after all; cleared after the kernel. */
    assert_string_equal(said, "18446744073709551609 1 0 56");
}

/* Launches. */

/* Launches a grid, checks that every thread ran once; the tickets are for the caller. */
static void visit(dim3 grid, dim3 block, cudaStream_t stream, word *tickets)
{
    const size_t n = (size_t)grid.x * grid.y * grid.z * block.x * block.y * block.z;
    const struct visit v = {zero_words(n), device_words(n), zero_words(1), zero_words(1)};
    word *const visits = malloc(n * sizeof *visits);
    CHECK(visits);
    OK(launch(standin_visit, grid, block, &v, sizeof v, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(visits, v.visits, n * sizeof(word), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(tickets, v.ticket, n * sizeof(word), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++)
        CHECK(visits[i] == 1 && tickets[i] < n);
    CHECK(peek(v.tickets) == n && peek(v.latest) == n - 1);
    free(visits);
    OK(cudaFree(v.visits));
    OK(cudaFree(v.ticket));
    OK(cudaFree(v.tickets));
    OK(cudaFree(v.latest));
}

static void permutation_body(void)
{
    const cudaStream_t stream = new_stream();
    word first[720], second[720];
    visit(dim(5, 3, 2), dim(4, 3, 2), stream, first);
    visit(dim(5, 3, 2), dim(4, 3, 2), stream, second);
    /* Not one order for all launches, and neither blocks nor the threads of a block in sequence:
     * threads x = 0, 1 of a block are beside each other, so are blocks 0 and 1, 4 threads on. */
    CHECK(memcmp(first, second, sizeof first) != 0);
    int threads = 0, blocks = 0;
    for (int i = 0; i < 720; i++) {
        threads += i % 4 < 3 && first[i + 1] == first[i] + 1; /* of 540 */
        blocks += i % 20 < 16 && first[i + 4] > first[i];     /* of 576 */
    }
    CHECK(threads < 270 && blocks < 500);
    fwrite(first, 1, 64, stderr);
    /* Sizes with few orders. */
    visit(dim(1, 1, 1), dim(1, 1, 1), stream, first);
    visit(dim(2, 1, 1), dim(1, 1, 2), stream, first);
    visit(dim(1, 1, 6), dim(64, 1, 1), stream, first);
    visit(dim(3, 1, 1), dim(1, 7, 9), stream, first);
}

static void test_every_thread_runs_once_in_a_random_order(void **state)
{
    (void)state;
    char before[64];
    passes("seed=1", permutation_body);
    memcpy(before, said, sizeof before);
    passes("seed=2", permutation_body);
    assert_memory_not_equal(before, said, sizeof before);
}

static void limits_body(void)
{
    static const struct {
        unsigned grid[3], block[3];
        cudaError_t error;
    } row[] = {
        {{1, 1, 1}, {1024, 1, 1}, cudaSuccess},
        {{1, 1, 1}, {1, 1024, 1}, cudaSuccess},
        {{1, 1, 1}, {1, 1, 64}, cudaSuccess},
        {{70000, 1, 1}, {1, 1, 1}, cudaSuccess},
        {{1, 65535, 1}, {1, 1, 1}, cudaSuccess},
        {{1, 1, 65535}, {1, 1, 1}, cudaSuccess},
        {{1, 1, 1}, {1025, 1, 1}, cudaErrorInvalidConfiguration},
        {{1, 1, 1}, {1, 1, 65}, cudaErrorInvalidConfiguration},
        {{1, 1, 1}, {32, 33, 1}, cudaErrorInvalidConfiguration},
        {{1u << 31, 1, 1}, {1, 1, 1}, cudaErrorInvalidConfiguration},
        {{1, 65536, 1}, {1, 1, 1}, cudaErrorInvalidConfiguration},
        {{1, 1, 65536}, {1, 1, 1}, cudaErrorInvalidConfiguration},
        {{0, 1, 1}, {1, 1, 1}, cudaErrorInvalidConfiguration},
        {{1, 0, 1}, {1, 1, 1}, cudaErrorInvalidConfiguration},
        {{1, 1, 1}, {1, 1, 0}, cudaErrorInvalidConfiguration},
    };
    void *at;
    OK(cudaMalloc(&at, 1));
    const cudaStream_t stream = new_stream();
    const struct touch t = {at};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const unsigned *const g = row[i].grid, *const b = row[i].block;
        CHECK(launch(standin_touch, dim(g[0], g[1], g[2]), dim(b[0], b[1], b[2]), &t, sizeof t,
                     stream) == row[i].error);
        CHECK(cudaGetLastError() == row[i].error && cudaGetLastError() == cudaSuccess);
        OK(cudaStreamSynchronize(stream));
    }
    CHECK(launch(NULL, dim(1, 1, 1), dim(1, 1, 1), &t, sizeof t, stream) ==
          cudaErrorInvalidDeviceFunction);
}

static void test_limits_of_grids_and_blocks(void **state)
{
    (void)state;
    passes("", limits_body);
}

/* Memory. */

static void poison_body(void)
{
    word *const device = device_words(1000), *const pinned = pinned_words(1000);
    CHECK((uintptr_t)device % 256 == 0);
    for (int i = 0; i < 1000; i++)
        CHECK(peek(device + i) == poison && pinned[i] == poison);
    const double nan = *(const double *)pinned;
    CHECK(nan != nan);
}

static void host_reads(void)
{
    const word *const at = device_words(1);
    CHECK(*(const volatile word *)at);
}

static void host_reads_after_a_copy(void)
{
    const word *const at = zero_words(1);
    CHECK(peek(at) == 0);
    CHECK(*(const volatile word *)at == 0);
}

static void host_writes_after_a_launch(void)
{
    word *const at = zero_words(1);
    const cudaStream_t stream = new_stream();
    OK(digit(at, at, 1, stream));
    OK(cudaStreamSynchronize(stream));
    *(volatile word *)at = 1;
}

static void host_reads_freed(void)
{
    word *const at = zero_words(1);
    OK(cudaFree(at));
    CHECK(*(const volatile word *)at);
}

static void touch_at(ptrdiff_t offset, bool free_first)
{
    void *at, *neighbour;
    OK(cudaMalloc(&at, 5000));
    OK(cudaMalloc(&neighbour, 5000));
    const cudaStream_t stream = new_stream();
    const struct touch t = {(unsigned char *)at + offset};
    if (free_first)
        OK(cudaFree(at));
    OK(launch(standin_touch, dim(1, 1, 1), dim(1, 1, 1), &t, sizeof t, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFree(at));
}

static void kernel_behind(void)
{
    touch_at(5120, false); /* 256 x 20 */
}

static void kernel_far_before(void)
{
    touch_at(-8192, false);
}

static void kernel_freed(void)
{
    touch_at(0, true);
}

static void kernel_just_behind(void)
{
    touch_at(5000, false);
}

static void kernel_just_before(void)
{
    touch_at(-1, false);
}

static void kernel_null(void)
{
    const cudaStream_t stream = new_stream();
    const struct touch t = {NULL};
    OK(launch(standin_touch, dim(1, 1, 1), dim(1, 1, 1), &t, sizeof t, stream));
    OK(cudaStreamSynchronize(stream));
}

static void host_behind_pinned(void)
{
    word *const at = pinned_words(1);
    ((unsigned char *)at)[sizeof *at] = 0;
    OK(cudaFreeHost(at));
}

static void test_memory_out_of_reach(void **state)
{
    (void)state;
    passes("", poison_body);
    dies("", host_reads, "standin: the host touched device memory\n");
    dies("", host_reads_after_a_copy, "standin: the host touched device memory\n");
    dies("", host_writes_after_a_launch, "standin: the host touched device memory\n");
    dies("order=eager", host_writes_after_a_launch, "standin: the host touched device memory\n");
    dies("", host_reads_freed, "standin: the host touched device memory\n");
    dies("", kernel_behind, "standin: a kernel touched what is not its memory\n");
    dies("", kernel_far_before, "standin: a kernel touched what is not its memory\n");
    dies("", kernel_null, "standin: a kernel touched what is not its memory\n");
    dies("", kernel_freed, "standin: ");
    dies("", kernel_just_behind, "standin: something was written after");
    dies("", kernel_just_before, "standin: something was written before");
    dies("", host_behind_pinned, "standin: something was written after");
}

/* A null pointer to something else is still a fault of its own. */
static void other_fault(void)
{
    const word *volatile nowhere = NULL;
    (void)device_words(1);
    signal(SIGABRT, SIG_IGN);
    CHECK(*(const volatile word *)nowhere);
}

static void test_other_faults_are_left_alone(void **state)
{
    (void)state;
    const int status = status_of("", other_fault);
    assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    assert_null(strstr(said, "standin:"));
    assert_null(strstr(said, "not so"));
}

static void amounts_body(void)
{
    size_t before, after, total;
    void *at, *more;
    OK(cudaMemGetInfo(&before, &total));
    CHECK(total == 300000000 && before < total && before > total / 2);
    OK(cudaMalloc(&at, 100000000));
    OK(cudaMemGetInfo(&after, &total));
    CHECK(before - after >= 100000000 && before - after < 103000000);
    CHECK(cudaMalloc(&more, after + 1) == cudaErrorMemoryAllocation && !more);
    CHECK(cudaMalloc(&more, SIZE_MAX) == cudaErrorMemoryAllocation);
    /* The other device has memory of its own. */
    OK(cudaSetDevice(1));
    OK(cudaMemGetInfo(&after, &total));
    CHECK(after == before);
    OK(cudaFree(at));
    OK(cudaSetDevice(0));
    OK(cudaMemGetInfo(&after, &total));
    CHECK(after == before);
    CHECK(cudaFree((char *)at) == cudaErrorInvalidValue);
    OK(cudaFree(NULL));
    OK(cudaMalloc(&at, 0));
    CHECK(!at);
}

static void test_memory_comes_to_an_end(void **state)
{
    (void)state;
    passes("memory=3e8,devices=2", amounts_body);
}

/* Freeing waits, as it does on devices. */
static void free_body(void)
{
    word *const x = zero_words(1), *const y = zero_words(1), *const host = pinned_words(1);
    const cudaStream_t stream = new_stream();
    OK(digit(x, y, 1, stream));
    OK(cudaFree(y));
    CHECK(peek(x) == 1);
    OK(cudaMemcpyAsync(host, x, sizeof *x, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeHost(host));
    OK(cudaStreamSynchronize(stream));
}

static void test_freeing_waits(void **state)
{
    (void)state;
    passes("", free_body);
}

/* Copies and the default stream. */

static word pageable[4];

static void copy_wrong_kind(void)
{
    (void)cudaMemcpy(device_words(1), pageable, 8, cudaMemcpyDeviceToHost);
}

static void copy_host_called_device(void)
{
    (void)cudaMemcpyAsync(pinned_words(1), pinned_words(1), 8, cudaMemcpyHostToDevice,
                          new_stream());
}

static void copy_pageable(void)
{
    (void)cudaMemcpyAsync(device_words(1), pageable, 8, cudaMemcpyHostToDevice, new_stream());
}

static void copy_to_pageable(void)
{
    (void)cudaMemcpyAsync(pageable, device_words(1), 8, cudaMemcpyDefault, new_stream());
}

static void copy_too_much(void)
{
    (void)cudaMemcpy(pageable, device_words(3), 32, cudaMemcpyDeviceToHost);
}

static void set_too_much(void)
{
    (void)cudaMemsetAsync(device_words(3), 0, 25, new_stream());
}

static void copy_on_default(void)
{
    (void)cudaMemcpyAsync(device_words(1), pinned_words(1), 8, cudaMemcpyHostToDevice, NULL);
}

static void launch_on_default(void)
{
    word *const at = device_words(1);
    (void)digit(at, at, 1, NULL);
}

static void record_on_default(void)
{
    (void)cudaEventRecord(new_event(), NULL);
}

static void synchronise_default(void)
{
    (void)cudaStreamSynchronize((cudaStream_t)1);
}

static void use_destroyed_stream(void)
{
    const cudaStream_t stream = new_stream();
    OK(cudaStreamDestroy(stream));
    (void)cudaStreamSynchronize(stream);
}

static void use_destroyed_event(void)
{
    const cudaEvent_t event = new_event();
    OK(cudaEventDestroy(event));
    (void)cudaEventSynchronize(event);
}

static void launch_with_stack(void)
{
    word value = 0;
    (void)digit(&value, &value, 1, new_stream());
}

static void launch_with_heap(void)
{
    word *const value = calloc(1, sizeof *value);
    (void)digit(device_words(1), value, 1, new_stream());
}

/* Pinned memory a kernel may use. */
static void launch_with_pinned(void)
{
    word *const at = pinned_words(1);
    const cudaStream_t stream = new_stream();
    *at = 1;
    OK(digit(at, at, 2, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(*at == 12);
}

static void test_misuse_ends_the_program(void **state)
{
    (void)state;
    dies("", copy_wrong_kind, "cudaMemcpy: called a copy from device to host, is one from host");
    dies("", copy_host_called_device,
         "called a copy from host to device, is one from host to host");
    dies("", copy_pageable, "an asynchronous copy of pageable memory");
    dies("", copy_to_pageable, "an asynchronous copy of pageable memory");
    dies("", copy_too_much, "cudaMemcpy: 32 bytes from byte 0 of an allocation of 24");
    dies("", set_too_much, "cudaMemsetAsync: 25 bytes from byte 0 of an allocation of 24");
    dies("", copy_on_default, "cudaMemcpyAsync: on the default stream");
    dies("", launch_on_default, "cudaLaunchKernel: on the default stream");
    dies("", record_on_default, "cudaEventRecord: on the default stream");
    dies("", synchronise_default, "cudaStreamSynchronize: on the default stream");
    dies("", use_destroyed_stream, "cudaStreamSynchronize: a stream that was destroyed");
    dies("", use_destroyed_event, "cudaEventSynchronize: an event that was destroyed");
    dies("", launch_with_stack, "byte 0 of the argument: an address of pageable memory");
    dies("", launch_with_heap, "byte 8 of the argument: an address of pageable memory");
    passes("", launch_with_pinned);
}

/* Failures. */

static void fail_body(void)
{
    void *at;
    OK(cudaMalloc(&at, 8));
    CHECK(cudaMalloc(&at, 8) == cudaErrorMemoryAllocation);
    CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    OK(cudaMalloc(&at, 8));
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
    CHECK(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "not enough memory") == 0);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -5));
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -5));
    /* What frees does so all the same. */
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(at));
    CHECK(cudaFree(at) == cudaErrorInvalidValue);
}

static void sticky_body(void)
{
    word *const at = zero_words(1);
    const cudaStream_t stream = new_stream();
    OK(digit(at, at, 1, stream));
    OK(digit(at, at, 2, stream));
    OK(digit(at, at, 3, stream));
    OK(cudaGetLastError());
    CHECK(peek(at) == 0);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    void *more;
    CHECK(cudaMalloc(&more, 1) == cudaErrorIllegalAddress);
    CHECK(digit(at, at, 4, stream) == cudaErrorIllegalAddress);
    CHECK(cudaFree(at) == cudaErrorIllegalAddress);
    CHECK(cudaStreamDestroy(stream) == cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    OK(cudaMalloc(&more, 1));
    OK(cudaFree(more));
}

/* An error that nobody saw before. */
static void sticky_free_body(void)
{
    word *const at = zero_words(1);
    const cudaStream_t stream = new_stream();
    OK(digit(at, at, 1, stream));
    CHECK(cudaFree(at) == cudaErrorIllegalAddress);
}

static void reset_body(void)
{
    (void)device_words(3);
    (void)new_stream();
    (void)new_event();
    OK(cudaDeviceReset());
}

static void test_calls_and_kernels_fail_when_told(void **state)
{
    (void)state;
    passes("fail=cudaMalloc:2,fail=cudaStreamCreateWithPriority:1,fail=cudaFree:1,"
           "fail=cudaStreamDestroy:1",
           fail_body);
    passes("fail=kernel:2,leaks=1", sticky_body);
    passes("fail=kernel:1", sticky_free_body);
    passes("leaks=1", reset_body);
}

/* Digits of what was done, in two streams with everything between them. */
static void skip_body(void)
{
    word *const x = zero_words(1), *const y = zero_words(1), *const host = pinned_words(1);
    const cudaStream_t a = new_stream(), b = new_stream();
    const cudaEvent_t event = new_event();
    *host = 1;
    OK(cudaMemcpyAsync(x, host, sizeof *x, cudaMemcpyHostToDevice, a));
    OK(digit(x, x, 2, a));
    OK(cudaEventRecord(event, a));
    OK(cudaStreamWaitEvent(b, event, 0));
    OK(digit(y, x, 3, b));
    OK(cudaStreamSynchronize(b));
    fprintf(stderr, "%llu ", peek(y));
    OK(cudaMemsetAsync(x, 0, sizeof *x, b));
    OK(cudaEventRecord(event, b));
    OK(cudaEventSynchronize(event));
    fprintf(stderr, "%llu ", peek(x));
    OK(digit(x, x, 4, b));
    OK(cudaDeviceSynchronize());
    fprintf(stderr, "%llu", peek(x));
}

static void test_calls_are_skipped_when_told(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        {"", "123 0 4"},
        {"skip=cudaMemcpyAsync:1", "23 0 4"},
        {"skip=cudaLaunchKernel:1", "13 0 4"},
        {"skip=cudaEventRecord:1", "3 0 12"},
        {"skip=cudaStreamWaitEvent:1", "3 0 12"},
        {"skip=cudaStreamSynchronize:1", "0 0 4"},
        {"skip=cudaEventRecord:2", "123 12 4"},
        {"skip=cudaEventSynchronize:1", "123 12 4"},
        {"skip=cudaMemsetAsync:1", "123 12 124"},
        {"skip=cudaDeviceSynchronize:1", "123 0 0"},
        {"skip=cudaDeviceSynchronize:2", "123 0 4"},
        {"skip=cudaMemcpyAsync:1,skip=cudaLaunchKernel:1", "3 0 4"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        passes(row[i][0], skip_body);
        if (strcmp(said, row[i][1]) != 0)
            fail_msg("%s: %s instead of %s", row[i][0], said, row[i][1]);
    }
}

static void leak_device(void)
{
    (void)device_words(1);
}

static void leak_others(void)
{
    (void)pinned_words(1);
    (void)new_stream();
    (void)new_event();
}

static void no_leak(void)
{
    void *host;
    OK(cudaFree(zero_words(1)));
    OK(cudaHostAlloc(&host, 100, cudaHostAllocPortable));
    OK(cudaFreeHost(host));
    OK(cudaStreamDestroy(new_stream()));
    OK(cudaEventDestroy(new_event()));
}

static void test_leaks_are_told_at_exit(void **state)
{
    (void)state;
    passes("", leak_device);
    passes("leaks=1", no_leak);
    assert_string_equal(said, "");
    int status = status_of("leaks=1", leak_device);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 99);
    assert_string_equal(said, "standin: 1 left\n");
    status = status_of("leaks=1", leak_others);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 99);
    assert_string_equal(said, "standin: 3 left\n");
}

static void test_calls_are_counted(void **state)
{
    (void)state;
    char path[] = "/tmp/tagflow-standin-XXXXXX", options[64], line[128];
    const int made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    snprintf(options, sizeof options, "count=%s", path);
    passes(options, lazy_body);
    passes(options, lazy_body); /* appended */
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    int mallocs = 0, kernels = 0, bytes = 0, lines = 0;
    while (fgets(line, sizeof line, file)) {
        lines++;
        mallocs += strcmp(line, "cudaMalloc 1\n") == 0;
        kernels += strcmp(line, "kernel 3\n") == 0;
        bytes += strcmp(line, "bytes 512\n") == 0;
    }
    fclose(file);
    remove(path);
    assert_int_equal(mallocs, 2);
    assert_int_equal(kernels, 2);
    assert_int_equal(bytes, 2);
    assert_int_equal(lines % 2, 0);
}

/* Devices. */

static void no_driver_body(void)
{
    int count = 7, version = 7;
    void *at;
    CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver && count == 0);
    OK(cudaDriverGetVersion(&version));
    fprintf(stderr, "%d", version);
    OK(cudaRuntimeGetVersion(&version));
    CHECK(version == 13000);
    CHECK(cudaSetDevice(0) == cudaErrorInsufficientDriver);
    CHECK(cudaMalloc(&at, 1) == cudaErrorInsufficientDriver);
}

static void no_device_body(void)
{
    int count = 7;
    CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0);
    CHECK(cudaSetDevice(0) == cudaErrorNoDevice);
}

static void device_body(void)
{
    int count, device, value, other, least, greatest;
    struct cudaDeviceProp p, q;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 3);
    CHECK(cudaSetDevice(3) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    OK(cudaSetDevice(2));
    OK(cudaGetDevice(&device));
    CHECK(device == 2);
    OK(cudaGetDeviceProperties(&p, 2));
    OK(cudaGetDeviceProperties(&q, 0));
    CHECK(p.major == 8 && p.minor == 6 && p.totalGlobalMem == 1000000000 && *p.name);
    CHECK(p.multiProcessorCount == 132);
    OK(cudaDeviceCanAccessPeer(&value, 0, 2));
    OK(cudaDeviceCanAccessPeer(&other, 1, 1));
    CHECK(value && !other && cudaDeviceCanAccessPeer(&other, 0, 3) == cudaErrorInvalidDevice);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 1));
    CHECK(value == 8);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrPciBusId, 2));
    OK(cudaDeviceGetAttribute(&other, cudaDevAttrPciBusId, 0));
    CHECK(value == p.pciBusID && other == q.pciBusID);
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest < least);
    fprintf(stderr, "%.16s %.16s", p.uuid.bytes, q.uuid.bytes);
    CHECK((memcmp(&p.uuid, &q.uuid, sizeof p.uuid) == 0) == (value == other));
    /* A stream belongs to a device. */
    word *const at = zero_words(1);
    const cudaStream_t stream = new_stream();
    const cudaEvent_t event = new_event();
    OK(digit(at, at, 1, stream));
    OK(cudaSetDevice(0));
    CHECK(digit(at, at, 1, stream) == cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(event, stream));
    CHECK(cudaEventRecord(new_event(), stream) == cudaErrorInvalidResourceHandle);
    OK(cudaDeviceSynchronize()); /* of device 0 */
    CHECK(peek(at) == 0);
}

static void test_devices_are_as_told(void **state)
{
    (void)state;
    passes("driver=0", no_driver_body);
    assert_string_equal(said, "0");
    passes("driver=12040", no_driver_body);
    assert_string_equal(said, "12040");
    passes("devices=0", no_device_body);
    passes("devices=3,capability=8.6,driver=13010", device_body);
    assert_memory_not_equal(said, said + 17, 16);
    passes("devices=3,capability=8.6,uuid=same", device_body);
    assert_memory_equal(said, said + 17, 16);
    char before[sizeof said];
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    passes("devices=3,capability=8.6,uuid=rank", device_body);
    strcpy(before, said);
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    passes("devices=3,capability=8.6,uuid=rank", device_body);
    assert_string_not_equal(said, before);
    passes("rank=0,devices=0,rank=1,devices=3,capability=8.6", device_body);
    passes("devices=3,capability=8.6,rank=0,devices=0", device_body);
    passes("devices=3,rank=1,devices=0", no_device_body);
    unsetenv("OMPI_COMM_WORLD_RANK");
}

static void elapsed_body(void)
{
    word *const at = zero_words(1);
    cudaEvent_t start, end;
    const cudaEvent_t untimed = new_event();
    const cudaStream_t stream = new_stream();
    float ms = -1;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(start, stream));
    const struct digit d = {at, at, 1};
    OK(launch(standin_digit, dim(1000, 10, 1), dim(100, 1, 1), &d, sizeof d, stream));
    OK(cudaEventRecord(end, stream));
    OK(cudaEventRecord(untimed, stream));
    CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorNotReady);
    OK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&ms, start, untimed) == cudaErrorInvalidResourceHandle);
    OK(cudaEventElapsedTime(&ms, start, end));
    CHECK(ms > 0.1F && ms < 1e5F); /* a million threads */
    float back;
    OK(cudaEventElapsedTime(&back, end, start));
    CHECK(back == -ms);
}

static void test_time_between_events(void **state)
{
    (void)state;
    passes("", elapsed_body);
}

static void any_call(void)
{
    int count;
    (void)cudaGetDeviceCount(&count);
}

/* Two processes. */

static int other; /* a socket to the other process */

static void tell(const void *what, size_t size)
{
    CHECK(write(other, what, size) == (ssize_t)size);
}

static void hear(void *what, size_t size)
{
    CHECK(recv(other, what, size, MSG_WAITALL) == (ssize_t)size);
}

/* Tells the other process to go on, or waits for that. */
static void tell_on(void)
{
    tell("", 1);
}

static void hear_on(void)
{
    char byte;
    hear(&byte, 1);
}

/* Does `second` in a child; its failure is ours, unless it is to be killed. */
static void both(void (*first)(void), void (*second)(void), bool killed)
{
    int ends[2], status;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    other = ends[child == 0];
    close(ends[child != 0]);
    if (child == 0) {
        second();
        exit(0);
    }
    first();
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

enum { BLOCK = 2 << 20 };

static word *tell_memory(void)
{
    void *at;
    cudaIpcMemHandle_t handle;
    OK(cudaMalloc(&at, BLOCK));
    OK(cudaMemset(at, 0, BLOCK));
    OK(cudaIpcGetMemHandle(&handle, at));
    tell(&handle, sizeof handle);
    return at;
}

static word *hear_memory(void)
{
    void *at;
    cudaIpcMemHandle_t handle;
    hear(&handle, sizeof handle);
    OK(cudaIpcOpenMemHandle(&at, handle, cudaIpcMemLazyEnablePeerAccess));
    return at;
}

static cudaEvent_t shared_event(void)
{
    cudaEvent_t event;
    OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    return event;
}

static cudaEvent_t tell_event(void)
{
    const cudaEvent_t event = shared_event();
    cudaIpcEventHandle_t handle;
    OK(cudaIpcGetEventHandle(&handle, event));
    tell(&handle, sizeof handle);
    return event;
}

static cudaEvent_t hear_event(void)
{
    cudaEvent_t event;
    cudaIpcEventHandle_t handle;
    hear(&handle, sizeof handle);
    OK(cudaIpcOpenEventHandle(&event, handle));
    return event;
}

/* The second writes into the first's memory when that needs it, and no more than it needs. */
static void order_first(void)
{
    word *const at = tell_memory(), *const own = zero_words(1);
    const cudaEvent_t event = hear_event();
    const cudaStream_t stream = new_stream();
    OK(cudaStreamWaitEvent(stream, event, 0)); /* for nothing */
    OK(digit(own, own, 1, stream));
    OK(cudaStreamSynchronize(stream));
    tell_on();
    hear_on();
    OK(cudaStreamWaitEvent(stream, event, 0)); /* for its record */
    tell_on();
    hear_on();
    usleep(2000);
    CHECK(peek(at) == 0);
    OK(digit(at, at, 4, stream));
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady && peek(at) == 0);
    OK(cudaStreamSynchronize(stream));
    CHECK(peek(at) == 24);
    tell_on();
    hear_on();
    CHECK(peek(at) == 243);
    OK(cudaEventDestroy(event));
    tell_on();
    hear_on();
    OK(cudaFree(at));
    OK(cudaFree(own));
    OK(cudaStreamDestroy(stream));
}

static void order_second(void)
{
    word *const at = hear_memory();
    const cudaEvent_t event = tell_event();
    const cudaStream_t stream = new_stream();
    hear_on();
    OK(digit(at, at, 2, stream));
    OK(cudaEventRecord(event, stream));
    tell_on();
    hear_on();
    OK(digit(at, at, 3, stream));
    tell_on();
    hear_on(); /* meanwhile the stand-in's thread runs what is needed */
    OK(cudaStreamSynchronize(stream));
    tell_on();
    hear_on();
    OK(cudaEventDestroy(event));
    OK(cudaIpcCloseMemHandle(at));
    tell_on();
    OK(cudaStreamDestroy(stream));
}

static void order_of_both(void)
{
    both(order_first, order_second, false);
}

static void test_events_order_streams_of_two_processes(void **state)
{
    (void)state;
    passes("leaks=1", order_of_both);
}

/* Each waits for the other's record before it makes its own of the next round. */
static void rounds(bool first)
{
    word *const at = first ? tell_memory() : hear_memory();
    enum { ROUNDS = 4 };
    cudaEvent_t a[ROUNDS], b[ROUNDS];
    const cudaStream_t stream = new_stream();
    for (int round = 0; round < ROUNDS; round++) {
        a[round] = first ? tell_event() : hear_event();
        b[round] = first ? hear_event() : tell_event();
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (round > 0 || !first) {
            hear_on();
            OK(cudaStreamWaitEvent(stream, first ? b[round - 1] : a[round], 0));
        }
        OK(digit(at, at, first ? 1 : 2, stream));
        OK(cudaEventRecord(first ? a[round] : b[round], stream));
        tell_on();
    }
    if (first)
        hear_on();
    OK(cudaStreamWaitEvent(stream, first ? b[ROUNDS - 1] : a[ROUNDS - 1], 0));
    OK(cudaStreamSynchronize(stream));
    CHECK(peek(at) == 12121212);
    tell_on();
    hear_on();
}

static void rounds_first(void)
{
    rounds(true);
}

static void rounds_second(void)
{
    rounds(false);
}

static void rounds_of_both(void)
{
    both(rounds_first, rounds_second, false);
}

static void test_streams_of_two_processes_take_turns(void **state)
{
    (void)state;
    passes("order=lazy", rounds_of_both);
    passes("order=random,seed=4", rounds_of_both);
}

/* The other process ends, or its device fails, before it makes its record. */
static void never_first(void)
{
    const cudaEvent_t event = hear_event();
    const cudaStream_t stream = new_stream();
    hear_on();
    OK(cudaStreamWaitEvent(stream, event, 0));
    tell_on();
    usleep(10000);
    for (int times = 0; times < 100; times++) {
        CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
        usleep(200);
    }
}

static void killed_second(void)
{
    const cudaEvent_t event = tell_event();
    const cudaStream_t stream = new_stream();
    OK(cudaEventRecord(event, stream));
    tell_on();
    hear_on();
    raise(SIGKILL);
}

static void never_killed(void)
{
    both(never_first, killed_second, true);
}

static void failed_second(void)
{
    setenv("TAGFLOW_STANDIN", "fail=kernel:1", 1);
    const cudaEvent_t event = tell_event();
    const cudaStream_t stream = new_stream();
    word *const at = zero_words(1);
    OK(digit(at, at, 1, stream));
    OK(cudaEventRecord(event, stream));
    tell_on();
    hear_on();
    CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
}

static void never_failed(void)
{
    both(never_first, failed_second, false);
}

static void test_records_that_never_come_leave_streams_waiting(void **state)
{
    (void)state;
    passes("", never_failed);
    passes("", never_killed);
}

static void free_early_first(void)
{
    word *const at = tell_memory();
    hear_on();
    (void)cudaFree(at);
}

static void free_early_second(void)
{
    hear_memory();
    tell_on();
    hear_on();
}

static void free_early(void)
{
    both(free_early_first, free_early_second, false);
}

static void destroy_early_first(void)
{
    const cudaEvent_t event = tell_event();
    hear_on();
    (void)cudaEventDestroy(event);
}

static void destroy_early_second(void)
{
    hear_event();
    tell_on();
    hear_on();
}

static void destroy_early(void)
{
    both(destroy_early_first, destroy_early_second, false);
}

static void close_early_second(void)
{
    word *const at = hear_memory();
    const cudaStream_t stream = new_stream();
    OK(digit(at, at, 1, stream));
    OK(cudaIpcCloseMemHandle(at));
    (void)cudaStreamSynchronize(stream);
}

static void close_early_first(void)
{
    tell_memory();
    char byte;
    CHECK(recv(other, &byte, 1, 0) == 0); /* until the other ends */
}

static void close_early(void)
{
    both(close_early_second, close_early_first, false);
}

static void record_early_first(void)
{
    const cudaEvent_t event = tell_event();
    const cudaStream_t stream = new_stream();
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamSynchronize(stream));
    tell_on();
    hear_on();
    OK(cudaEventRecord(event, stream)); /* the wait for the first record has ended */
    tell_on();
    hear_on();
    (void)cudaEventRecord(event, stream);
}

static void record_early_second(void)
{
    const cudaEvent_t event = hear_event();
    const cudaStream_t stream = new_stream();
    hear_on();
    OK(cudaStreamWaitEvent(stream, event, 0));
    OK(cudaStreamSynchronize(stream));
    tell_on();
    hear_on();
    OK(cudaStreamWaitEvent(stream, event, 0));
    tell_on();
    hear_on();
}

static void record_early(void)
{
    both(record_early_first, record_early_second, false);
}

static void small_memory(void)
{
    cudaIpcMemHandle_t handle;
    (void)cudaIpcGetMemHandle(&handle, device_words(1));
}

static void refused_body(void)
{
    void *at, *opened;
    cudaEvent_t event;
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t handle;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess) == cudaErrorInvalidValue);
    CHECK(cudaIpcGetEventHandle(&handle, new_event()) == cudaErrorInvalidValue);
    OK(cudaMalloc(&at, BLOCK));
    CHECK(cudaIpcGetMemHandle(&memory, (char *)at + 8) == cudaErrorInvalidValue);
    OK(cudaIpcGetMemHandle(&memory, at));
    CHECK(cudaIpcOpenMemHandle(&opened, memory, 0) == cudaErrorInvalidValue);
    /* Not in the process that has it. */
    CHECK(cudaIpcOpenMemHandle(&opened, memory, cudaIpcMemLazyEnablePeerAccess) ==
          cudaErrorDeviceUninitialized);
    memcpy(&handle, &memory, sizeof handle);
    CHECK(cudaIpcOpenEventHandle(&event, handle) == cudaErrorInvalidValue);
    CHECK(cudaIpcCloseMemHandle(at) == cudaErrorInvalidValue);
}

static void unsupported_body(void)
{
    void *at;
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
    OK(cudaMalloc(&at, BLOCK));
    CHECK(cudaIpcGetMemHandle(&memory, at) == cudaErrorNotSupported);
    CHECK(cudaIpcGetEventHandle(&event, shared_event()) == cudaErrorNotSupported);
}

static void unreached_second(void)
{
    void *at;
    cudaIpcMemHandle_t handle;
    hear(&handle, sizeof handle);
    CHECK(cudaIpcOpenMemHandle(&at, handle, cudaIpcMemLazyEnablePeerAccess) ==
          cudaErrorMapBufferObjectFailed);
    tell_on();
}

static void unreached_first(void)
{
    tell_memory();
    hear_on();
}

static void unreached(void)
{
    both(unreached_first, unreached_second, false);
}

static void test_what_cannot_be_shared(void **state)
{
    (void)state;
    passes("", refused_body);
    passes("ipc=0", unsupported_body);
    passes("peers=0", unreached);
    dies("", small_memory, "not whole blocks of 2 MiB");
    dies("", free_early, "cudaFree: memory that another process has open");
    dies("", destroy_early, "cudaEventDestroy: an event that another process has open");
    dies("", record_early,
         "cudaEventRecord: an event for which a stream of another process still waits");
    dies("", close_early, "a kernel touched what is not its memory");
}

static void test_options_nobody_knows_are_refused(void **state)
{
    (void)state;
    dies("ordre=lazy", any_call, "TAGFLOW_STANDIN: ordre: no such option");
    dies("order=late", any_call, "order=late: no such value");
    dies("devices=two", any_call, "a number from 0 to");
    dies("fail=cudaMallok:1", any_call, "fail=cudaMallok: no such function");
    dies("fail=cudaMalloc", any_call, "FUNCTION:N is wanted");
    dies("skip=cudaMalloc:1", any_call, "skip=cudaMalloc: no such function");
    dies("leaks", any_call, "NAME=VALUE is wanted");
}

/* MPI, one rank that sends to itself. */

static void mpi_begin(void)
{
    CHECK(MPI_Init(NULL, NULL) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static const int bytes = 40000 * (int)sizeof(word); /* more than an eager message has */

static void aware_body(void)
{
    const MPI_Comm self = MPI_COMM_SELF;
    MPI_Request request[4];
    MPI_Status status[4];
    int done, which[4], count;
    mpi_begin();
    CHECK(MPIX_Query_cuda_support() == 1);
    word *const a = device_words(40000), *const b = device_words(40000);
    OK(cudaMemset(a, 1, (size_t)bytes));
    const word one = 0x0101010101010101ULL, two = 2 * one, three = 3 * one, four = 4 * one;

    /* Posted first: nothing there before the call that completes it. */
    OK(cudaMemset(b, 0, (size_t)bytes));
    MPI_Irecv(b, bytes, MPI_BYTE, 0, 1, self, &request[0]);
    MPI_Isend(a, bytes, MPI_BYTE, 0, 1, self, &request[1]);
    CHECK(peek(b) == poison && peek(b + 39999) == poison);
    MPI_Waitall(2, request, status);
    CHECK(peek(b) == one && peek(b + 39999) == one);
    CHECK(request[0] == MPI_REQUEST_NULL && request[1] == MPI_REQUEST_NULL);
    MPI_Get_count(&status[0], MPI_BYTE, &count);
    CHECK(count == bytes && status[0].MPI_TAG == 1);

    /* A message shorter than the room for it; a host buffer beside it. */
    word host = 0;
    MPI_Irecv(b, bytes, MPI_BYTE, 0, 2, self, &request[0]);
    MPI_Irecv(&host, 8, MPI_BYTE, 0, 3, self, &request[1]);
    MPI_Isend(a, 16, MPI_BYTE, 0, 2, self, &request[2]);
    MPI_Isend(a + 5, 8, MPI_BYTE, 0, 3, self, &request[3]);
    int left = 4;
    for (int tries = 0; left && tries < 1000000; tries++) {
        MPI_Testsome(4, request, &done, which, MPI_STATUSES_IGNORE);
        CHECK(done != MPI_UNDEFINED && done >= 0);
        left -= done;
        for (int i = 0; i < done; i++)
            CHECK(which[i] != 0 || peek(b + 1) == one);
    }
    CHECK(left == 0 && host == one && peek(b + 1) == one && peek(b + 2) == poison);
    MPI_Testsome(4, request, &done, which, MPI_STATUSES_IGNORE);
    CHECK(done == MPI_UNDEFINED);

    /* The second before the first. */
    MPI_Irecv(b, 8, MPI_BYTE, 0, 10, self, &request[0]);
    MPI_Irecv(b + 1, 8, MPI_BYTE, 0, 11, self, &request[1]);
    MPI_Send(a, 8, MPI_BYTE, 0, 11, self);
    done = 0;
    for (int tries = 0; done == 0 && tries < 1000000; tries++)
        MPI_Testsome(2, request, &done, which, status);
    CHECK(done == 1 && which[0] == 1 && status[0].MPI_TAG == 11);
    CHECK(peek(b) == poison && peek(b + 1) == one);
    MPI_Send(a, 8, MPI_BYTE, 0, 10, self);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK(peek(b) == one);

    /* The others. */
    OK(cudaMemset(a, 2, (size_t)bytes));
    MPI_Irecv(b, bytes, MPI_BYTE, 0, 4, self, &request[0]);
    MPI_Send(a, bytes, MPI_BYTE, 0, 4, self);
    CHECK(peek(b) == poison);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    CHECK(peek(b) == two && peek(b + 39999) == two);
    OK(cudaMemset(a, 3, (size_t)bytes));
    MPI_Isend(a, 16, MPI_BYTE, 0, 5, self, &request[0]);
    CHECK(MPI_Recv(b, 1, MPI_UINT64_T, 0, 5, self, MPI_STATUS_IGNORE) == MPI_ERR_TRUNCATE);
    CHECK(peek(b + 1) == two);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Isend(a, bytes, MPI_BYTE, 0, 5, self, &request[0]);
    MPI_Recv(b, 40000, MPI_UINT64_T, 0, 5, self, &status[1]);
    CHECK(peek(b) == three && peek(b + 39999) == three && status[1].MPI_TAG == 5);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    OK(cudaMemset(a, 4, (size_t)bytes));
    MPI_Sendrecv(a, bytes, MPI_BYTE, 0, 6, b, bytes, MPI_BYTE, 0, 6, self, MPI_STATUS_IGNORE);
    CHECK(peek(b) == four && peek(b + 39999) == four);
    MPI_Irecv(b, 8, MPI_BYTE, 0, 7, self, &request[0]);
    for (int i = 0; i < 10; i++) {
        MPI_Testall(1, request, &done, MPI_STATUSES_IGNORE);
        CHECK(!done && peek(b) == poison);
        MPI_Test(&request[0], &done, MPI_STATUS_IGNORE);
        CHECK(!done && peek(b) == poison);
    }
    MPI_Send(a, 8, MPI_BYTE, 0, 7, self);
    for (int tries = 0; !done && tries < 1000000; tries++)
        MPI_Testall(1, request, &done, MPI_STATUSES_IGNORE);
    CHECK(done && peek(b) == four);
    OK(cudaMemset(b, 0, 8));
    MPI_Irecv(b, 8, MPI_BYTE, 0, 8, self, &request[0]);
    MPI_Send(a, 8, MPI_BYTE, 0, 8, self);
    done = 0;
    for (int tries = 0; !done && tries < 1000000; tries++)
        MPI_Test(&request[0], &done, &status[0]);
    CHECK(done && peek(b) == four && status[0].MPI_TAG == 8);

    /* Nobody: nothing is written. */
    MPI_Irecv(b, 8, MPI_BYTE, MPI_PROC_NULL, 9, self, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    CHECK(peek(b) == four);
    MPI_Finalize();
}

static void changed_body(void)
{
    MPI_Request request[2];
    mpi_begin();
    word *const a = zero_words(40000), *const b = zero_words(40000);
    MPI_Irecv(b, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request[0]);
    MPI_Isend(a, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request[1]);
    OK(cudaMemset(a, 1, 1));
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void unaware_body(void)
{
    word host[2];
    mpi_begin();
    CHECK(MPIX_Query_cuda_support() == 0);
    word *const a = zero_words(1);
    MPI_Sendrecv(&host[0], 8, MPI_BYTE, 0, 1, &host[1], 8, MPI_BYTE, 0, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, 8, MPI_BYTE, 0, 1, host, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void test_mpi_takes_device_memory_when_told(void **state)
{
    (void)state;
    passes("aware=1", aware_body);
    dies("aware=1", changed_body, "what is being sent was changed");
    dies("", unaware_body, "the host touched device memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lazy_runs_nothing_before_it_must),
        cmocka_unit_test(test_eager_runs_everything_at_once),
        cmocka_unit_test(test_others_run_before_a_stream_goes_on),
        cmocka_unit_test(test_random_differs_from_seed_to_seed),
        cmocka_unit_test(test_events_order_streams_and_nothing_else_does),
        cmocka_unit_test(test_queries_are_not_ready_but_not_for_ever),
        cmocka_unit_test(test_full_list_runs_its_oldest_operation),
        cmocka_unit_test(test_default_stream_is_late_when_told),
        cmocka_unit_test(test_every_thread_runs_once_in_a_random_order),
        cmocka_unit_test(test_limits_of_grids_and_blocks),
        cmocka_unit_test(test_memory_out_of_reach),
        cmocka_unit_test(test_other_faults_are_left_alone),
        cmocka_unit_test(test_memory_comes_to_an_end),
        cmocka_unit_test(test_freeing_waits),
        cmocka_unit_test(test_misuse_ends_the_program),
        cmocka_unit_test(test_calls_and_kernels_fail_when_told),
        cmocka_unit_test(test_calls_are_skipped_when_told),
        cmocka_unit_test(test_leaks_are_told_at_exit),
        cmocka_unit_test(test_calls_are_counted),
        cmocka_unit_test(test_devices_are_as_told),
        cmocka_unit_test(test_time_between_events),
        cmocka_unit_test(test_events_order_streams_of_two_processes),
        cmocka_unit_test(test_streams_of_two_processes_take_turns),
        cmocka_unit_test(test_records_that_never_come_leave_streams_waiting),
        cmocka_unit_test(test_what_cannot_be_shared),
        cmocka_unit_test(test_options_nobody_knows_are_refused),
        cmocka_unit_test(test_mpi_takes_device_memory_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
