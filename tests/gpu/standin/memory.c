/* The stand-in's memory. Device memory lies in one range of addresses that no host code can read
 * or write, except while the stand-in copies or runs a kernel; addresses are not used twice, so
 * that freed memory stays out of reach. Every allocation ends where a page ends (but for its
 * alignment), and the page after it is never accessible:
 *
 *     | 0xff  allocation  0xff | no access |
 *
 * What is 0xff there is looked at when the allocation is freed. */
#include "standin.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, POISON = 0xff };
#define PAGE ((size_t)sysconf(_SC_PAGESIZE)) /* 64 KiB on many aarch64 machines */

/* What the driver keeps for itself on a device, and the unit in which it gives memory out. */
static const size_t context_bytes = (size_t)32 << 20, large_unit = (size_t)2 << 20;

struct allocation {
    struct allocation *next;
    char *pages; /* mapped, `length` bytes, and a page without access after them */
    size_t length;
    char *at; /* given out, `size` bytes */
    size_t size;
    enum standin_where where;
    int device;
    /* Of memory that processes share: its file, how many others have it open (behind its pages). */
    bool foreign; /* another process's */
    int file, process;
    atomic_int *opened;
};

static struct allocation *allocations;
static size_t used[STANDIN_DEVICES], most;
static size_t stacks[STANDIN_DEVICES]; /* of kernels */
static char *arena, *arena_end, *arena_next;
static int unlocked; /* how often */
static volatile sig_atomic_t in_kernel;
static struct sigaction previous;

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    static const char host[] = "standin: the host touched device memory\n";
    static const char kernel[] = "standin: a kernel touched what is not its memory\n";
    const char *const at = info->si_addr;
    (void)number;
    (void)context;
    if (in_kernel || (at >= arena && at < arena_end)) {
        if (write(2, in_kernel ? kernel : host, in_kernel ? sizeof kernel - 1 : sizeof host - 1) <
            0)
            _exit(98);
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    /* Not ours: the instruction faults again, for whoever was asked before. */
    sigaction(SIGSEGV, &previous, NULL);
}

void standin_in_kernel(bool yes)
{
    in_kernel = yes;
}

static void make_arena(void)
{
    size_t length = (size_t)1 << 40;
    void *at;
    do {
        at = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        length = at == MAP_FAILED ? length / 2 : length;
    } while (at == MAP_FAILED && length >= (size_t)1 << 30);
    if (at == MAP_FAILED)
        standin_die("no range of addresses for device memory");
    arena = arena_next = at;
    arena_end = arena + length;
    /* Fewer pages to open and close for every operation; no harm where there are none so large. */
    (void)madvise(arena, length, MADV_HUGEPAGE);
}

void standin_memory_begin(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, &previous);
}

static void protect(const struct allocation *a, int protection)
{
    if (mprotect(a->pages, a->length, protection) != 0)
        standin_die("mprotect failed");
}

static void protect_all(int protection)
{
    for (const struct allocation *a = allocations; a; a = a->next)
        if (a->where == STANDIN_DEVICE)
            protect(a, protection);
}

void standin_unlock(void)
{
    if (unlocked++ == 0)
        protect_all(PROT_READ | PROT_WRITE);
}

void standin_lock(void)
{
    if (--unlocked == 0)
        protect_all(PROT_NONE);
}

/* Addresses of device memory for `length` bytes and a page without access. */
static char *next_pages(size_t length)
{
    if (!arena)
        make_arena();
    if ((size_t)(arena_end - arena_next) < length + PAGE)
        standin_die("no addresses left for device memory");
    char *const pages = arena_next;
    arena_next += length + PAGE;
    return pages;
}

/* NULL when there is no memory. */
static struct allocation *allocate(size_t size, enum standin_where where)
{
    const size_t length = round_up(size, PAGE);
    struct allocation *const a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    if (where == STANDIN_DEVICE) {
        a->pages = next_pages(length);
        if (mprotect(a->pages, length, PROT_READ | PROT_WRITE) != 0)
            standin_die("mprotect failed");
    } else {
        a->pages = mmap(NULL, length + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                        -1, 0);
        if (a->pages == MAP_FAILED || mprotect(a->pages, length, PROT_READ | PROT_WRITE) != 0)
            standin_die("no host memory");
    }
    a->length = length;
    a->size = size;
    a->at = a->pages + length - round_up(size, ALIGNMENT);
    a->where = where;
    a->device = standin_device;
    memset(a->pages, POISON, length);
    if (where == STANDIN_DEVICE && !unlocked)
        protect(a, PROT_NONE);
    a->next = allocations;
    allocations = a;
    return a;
}

static void check_around(const struct allocation *a)
{
    standin_unlock();
    for (size_t i = 0; i < a->length; i++)
        if (a->pages + i == a->at)
            i += a->size - 1;
        else if ((unsigned char)a->pages[i] != POISON)
            standin_die("something was written %s an allocation of %zu bytes",
                        a->pages + i < a->at ? "before" : "after", a->size);
    standin_lock();
}

static size_t charge(size_t size)
{
    return round_up(size, size < large_unit / 2 ? 512 : large_unit);
}

static void release(struct allocation **link)
{
    struct allocation *const a = *link;
    check_around(a);
    *link = a->next;
    if (a->opened && !a->foreign && *a->opened && !standin_sticky)
        standin_die("cudaFree: memory that another process has open");
    if (a->foreign)
        --*a->opened;
    if (a->opened) {
        munmap(a->opened, PAGE);
        if (!a->foreign)
            close(a->file);
    }
    if (a->where == STANDIN_DEVICE) {
        if (!a->foreign)
            used[a->device] -= charge(a->size);
        if (mmap(a->pages, a->length, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            standin_die("munmap failed");
        /* As the rest of the arena is, or the kernel would keep each as a mapping of its own, of
         * which there may be 65530. */
        (void)madvise(a->pages, a->length, MADV_HUGEPAGE);
    } else {
        munmap(a->pages, a->length + PAGE);
    }
    free(a);
}

void standin_take_stacks(void)
{
    stacks[standin_device] = standin_options.stacks;
}

static size_t unused_bytes(void)
{
    const size_t taken = context_bytes + used[standin_device] + stacks[standin_device];
    return standin_options.memory > taken ? standin_options.memory - taken : 0;
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
    const cudaError_t error = standin_enter(STANDIN_cudaMemGetInfo);
    if (!error) {
        *unused = unused_bytes();
        *total = standin_options.memory;
    }
    return standin_leave(error);
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    cudaError_t error = standin_enter(STANDIN_cudaMalloc);
    if (error)
        return standin_leave(error);
    *pointer = NULL;
    if (size == 0)
        return standin_leave(cudaSuccess);
    if (size > standin_options.memory || charge(size) > unused_bytes())
        return standin_leave(cudaErrorMemoryAllocation);
    const struct allocation *const a = allocate(size, STANDIN_DEVICE);
    if (!a)
        return standin_leave(cudaErrorMemoryAllocation);
    used[standin_device] += charge(size);
    most = used[standin_device] > most ? used[standin_device] : most;
    *pointer = a->at;
    return standin_leave(cudaSuccess);
}

static cudaError_t allocate_pinned(void **pointer, size_t size)
{
    *pointer = NULL;
    if (size == 0)
        return cudaSuccess;
    const struct allocation *const a = allocate(size, STANDIN_PINNED);
    if (!a)
        return cudaErrorMemoryAllocation;
    *pointer = a->at;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    const cudaError_t error = standin_enter(STANDIN_cudaMallocHost);
    return standin_leave(error ? error : allocate_pinned(pointer, size));
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags)
{
    cudaError_t error = standin_enter(STANDIN_cudaHostAlloc);
    if (!error &&
        (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)))
        error = cudaErrorInvalidValue;
    return standin_leave(error ? error : allocate_pinned(pointer, size));
}

/* Freeing waits for all that was given, as it does in practice. With an error it is done all the
 * same: the caller has no second try. */
static cudaError_t free_pointer(void *pointer, enum standin_where where, cudaError_t error)
{
    if (!pointer || error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice)
        return error;
    standin_run_all();
    for (struct allocation **link = &allocations; *link; link = &(*link)->next)
        if ((*link)->at == pointer && (*link)->where == where && !(*link)->foreign) {
            release(link);
            return error ? error : standin_sticky;
        }
    return error ? error : cudaErrorInvalidValue;
}

cudaError_t cudaFree(void *pointer)
{
    const cudaError_t error = standin_enter(STANDIN_cudaFree);
    return standin_leave(free_pointer(pointer, STANDIN_DEVICE, error));
}

cudaError_t cudaFreeHost(void *pointer)
{
    const cudaError_t error = standin_enter(STANDIN_cudaFreeHost);
    return standin_leave(free_pointer(pointer, STANDIN_PINNED, error));
}

/* Makes an allocation's pages those of a file, with their contents. */
static void export(struct allocation *a)
{
    a->file = standin_share(a->length + PAGE);
    char *const copy = standin_map(a->file, 0, a->length + PAGE, NULL, PROT_READ | PROT_WRITE);
    standin_copy(copy, a->pages, a->length);
    munmap(copy, a->length + PAGE);
    standin_map(a->file, 0, a->length, a->pages, unlocked ? PROT_READ | PROT_WRITE : PROT_NONE);
    a->opened = standin_map(a->file, a->length, PAGE, NULL, PROT_READ | PROT_WRITE);
}

/* A smaller allocation may share a block with others, and whoever opens it gets the block. */
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer)
{
    cudaError_t error = standin_enter(STANDIN_cudaIpcGetMemHandle);
    struct allocation *a = allocations;
    while (a && (a->at != pointer || a->where != STANDIN_DEVICE || a->foreign))
        a = a->next;
    if (!error && !standin_options.ipc)
        error = cudaErrorNotSupported;
    if (!error && !a)
        error = cudaErrorInvalidValue;
    if (error)
        return standin_leave(error);
    if (a->size % large_unit)
        standin_die("cudaIpcGetMemHandle: %zu bytes are not whole blocks of 2 MiB", a->size);
    if (!a->opened)
        export(a);
    standin_export(handle, STANDIN_MEMORY, a->file, a->length);
    return standin_leave(cudaSuccess);
}

/* Some drivers open memory twice, others do not. */
static void check_new(const struct standin_handle *what)
{
    for (const struct allocation *a = allocations; a; a = a->next)
        if (a->foreign && a->process == what->process && a->file == what->file)
            standin_die("cudaIpcOpenMemHandle: memory that is open already");
}

cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned int flags)
{
    struct standin_handle what;
    cudaError_t error = standin_enter(STANDIN_cudaIpcOpenMemHandle);
    if (!error && flags != cudaIpcMemLazyEnablePeerAccess)
        error = cudaErrorInvalidValue;
    if (!error && !standin_options.peers)
        error = cudaErrorMapBufferObjectFailed;
    const int file = error ? -1 : standin_open(&handle, STANDIN_MEMORY, &what, &error);
    if (error)
        return standin_leave(error);
    check_new(&what);
    struct allocation *const a = malloc(sizeof *a);
    if (!a)
        standin_die("no host memory");
    *a = (struct allocation){.next = allocations,
                             .pages = next_pages(what.size),
                             .length = what.size,
                             .size = what.size,
                             .where = STANDIN_DEVICE,
                             .foreign = true,
                             .file = what.file,
                             .process = what.process};
    a->at = a->pages;
    standin_map(file, 0, a->length, a->pages, unlocked ? PROT_READ | PROT_WRITE : PROT_NONE);
    const size_t heard = standin_options.deaf == 2 ? PAGE : 0; /* bytes that arrive */
    if (standin_options.deaf &&
        mmap(a->pages + heard, a->length - heard, unlocked ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_PRIVATE | MAP_FIXED, file, (off_t)heard) == MAP_FAILED)
        standin_die("shared memory cannot be mapped");
    a->opened = standin_map(file, a->length, PAGE, NULL, PROT_READ | PROT_WRITE);
    ++*a->opened;
    close(file);
    allocations = a;
    *pointer = a->at;
    return standin_leave(cudaSuccess);
}

/* Does not wait: a kernel that needs it later ends the program. With an error it is done all the
 * same. */
cudaError_t cudaIpcCloseMemHandle(void *pointer)
{
    const cudaError_t error = standin_enter(STANDIN_cudaIpcCloseMemHandle);
    for (struct allocation **link = &allocations; *link; link = &(*link)->next)
        if ((*link)->at == pointer && (*link)->foreign) {
            release(link);
            return standin_leave(error);
        }
    return standin_leave(error ? error : cudaErrorInvalidValue);
}

void standin_memory_reset(int device)
{
    for (struct allocation **link = &allocations; *link;)
        if ((*link)->where == STANDIN_DEVICE && !(*link)->foreign && (*link)->device == device)
            release(link);
        else
            link = &(*link)->next;
}

size_t standin_memory_most(void)
{
    return most;
}

int standin_memory_left(void)
{
    int left = 0;
    for (const struct allocation *a = allocations; a; a = a->next) {
        check_around(a);
        left++;
    }
    return left;
}

enum standin_where standin_where(const void *pointer, size_t size, const char *who)
{
    const char *const at = pointer;
    for (const struct allocation *a = allocations; a; a = a->next)
        if (at >= a->at && at < a->at + a->size) {
            if (size > (size_t)(a->at + a->size - at))
                standin_die("%s: %zu bytes from byte %zu of an allocation of %zu", who, size,
                            (size_t)(at - a->at), a->size);
            return a->where;
        }
    if (at >= arena && at < arena_end)
        standin_die("%s: an address of device memory that is not allocated", who);
    return STANDIN_PAGEABLE;
}

void standin_copy(void *to, const void *from, size_t count)
{
    standin_unlock();
    memmove(to, from, count);
    standin_lock();
}

void standin_set(void *to, int value, size_t count)
{
    standin_unlock();
    memset(to, value, count);
    standin_lock();
}

/* A pair of ints can look like an address, but hardly like one up there, where the addresses of the
 * program, its heap, its libraries and its stack are, and be mapped. A small int and the padding
 * behind it can: padding holds remains of the stack. */
void standin_check_argument(const void *argument, size_t size)
{
    const uint64_t low = UINT64_C(0x500000000000), high = UINT64_C(0x7fffffffffff);
    for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
        uint64_t word;
        unsigned char resident;
        memcpy(&word, (const char *)argument + i, sizeof word);
        if (word < low || word > high || (uint32_t)word < PAGE)
            continue;
        void *const address = (void *)(uintptr_t)word;
        if ((char *)address >= arena && (char *)address < arena_end)
            continue;
        if (standin_where(address, 1, "cudaLaunchKernel") != STANDIN_PAGEABLE)
            continue;
        if (mincore((void *)(uintptr_t)(word / PAGE * PAGE), 1, &resident) == 0)
            standin_die("cudaLaunchKernel: byte %zu of the argument: an address of pageable memory",
                        i);
    }
}

static size_t fetched;

size_t standin_memory_fetched(void)
{
    return fetched;
}

/* A copy's direction has to be where its ends really are. */
static void check_copy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                       bool asynchronous, const char *who)
{
    static const char *const names[] = {
#define X(name, value, text) [name] = text,
        STANDIN_MEMCPY_LIST(X)
#undef X
    };
    const enum standin_where t = standin_where(to, count, who), f = standin_where(from, count, who);
    const int really = 2 * (f == STANDIN_DEVICE) + (t == STANDIN_DEVICE);
    if (kind != cudaMemcpyDefault && (int)kind != really)
        standin_die("%s: called a copy from %s, is one from %s", who,
                    (unsigned)kind <= cudaMemcpyDefault ? names[kind] : "nowhere", names[really]);
    if (f == STANDIN_DEVICE && t != STANDIN_DEVICE)
        fetched += count;
    if (asynchronous && (t == STANDIN_PAGEABLE || f == STANDIN_PAGEABLE))
        standin_die("%s: an asynchronous copy of pageable memory", who);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    const cudaError_t error = standin_enter(STANDIN_cudaMemcpy);
    if (error || count == 0)
        return standin_leave(error);
    check_copy(to, from, count, kind, false, "cudaMemcpy");
    standin_default_stream(to, from, 0, count,
                           standin_where(from, count, "cudaMemcpy") != STANDIN_PINNED &&
                               standin_where(to, count, "cudaMemcpy") == STANDIN_DEVICE);
    return standin_leave(cudaSuccess);
}

cudaError_t cudaMemset(void *pointer, int value, size_t count)
{
    const cudaError_t error = standin_enter(STANDIN_cudaMemset);
    if (error || count == 0)
        return standin_leave(error);
    if (standin_where(pointer, count, "cudaMemset") != STANDIN_DEVICE)
        standin_die("cudaMemset: not device memory");
    standin_default_stream(pointer, NULL, value, count, true);
    return standin_leave(cudaSuccess);
}

void standin_check_async_copy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    check_copy(to, from, count, kind, true, "cudaMemcpyAsync");
}
