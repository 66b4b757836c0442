/* Which thread touches each page of the populations first when they are allocated, and which in a
 * step: on a machine with several memories a page lies in that of the thread that touched it first.
 *
 *     first_touch        exit status 0, or 1 after a line that says what is wrong
 *
 * The populations' memory is this program's: no page of it can be touched until a fault, whose
 * handler notes the thread. */
#include <omp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/message.h"
#include "reference.h"

enum { PAGES = 1 << 15, MOST = 128 << 20, LARGE = 8 << 20 };

static char *memory;
static size_t page_bytes, pages;
static unsigned char owner[PAGES]; /* 1 + the thread; 0: not touched */

void *aligned_alloc(size_t align, size_t bytes)
{
    void *block = NULL;
    if (bytes < LARGE || memory)
        return posix_memalign(&block, align, bytes) ? NULL : block;
    if (bytes > MOST || bytes / page_bytes > PAGES)
        abort();
    char *const room = mmap(NULL, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    memory = room + (align - (uintptr_t)room % align) % align;
    pages = bytes / page_bytes;
    return memory;
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    const size_t page = (size_t)((char *)info->si_addr - memory) / page_bytes;
    (void)signal_number;
    (void)context;
    if (!memory || (char *)info->si_addr < memory || page >= pages)
        _exit(2);
    /* kernels of a sweep have a region of one thread within that of the threads */
    const int thread = omp_get_level() > 0 ? omp_get_ancestor_thread_num(1) : 0;
    __atomic_store_n(&owner[page], (unsigned char)(1 + thread), __ATOMIC_RELAXED);
    mprotect(memory + page * page_bytes, page_bytes, PROT_READ | PROT_WRITE);
}

/* The share of the pages that a sweep touches whose thread is the one that touched them first. */
static double same_share(int threads, const char *faces, int sweep)
{
    static unsigned char first[PAGES];
    struct flow_case c = reference_case(72, 70, 66);
    struct reference r;
    struct domain d;
    struct backend *b;
    struct solver s;
    size_t touched = 0, same = 0;
    c.run.threads = threads;
    c.run.sweep = sweep;
    reference_faces(&c, faces);
    reference_create(&r, &c);
    memory = NULL;
    memset(owner, 0, sizeof owner);
    if (reference_domain(&r, &d, &c, MPI_COMM_WORLD) || reference_open(&b, &c, MPI_COMM_WORLD) ||
        reference_solver(&s, &d, b, &c) || !memory)
        exit(fail_machine("no populations of %d bytes or more were allocated", (int)LARGE));
    memcpy(first, owner, sizeof first);
    memset(owner, 0, sizeof owner);
    mprotect(memory, pages * page_bytes, PROT_NONE);
    if (s.sweep != sweep || solver_sweep(&s, sweep) || solver_wait(&s))
        exit(fail_machine("no sweep of %d steps", sweep));
    for (size_t k = 0; k < pages; k++) {
        if (first[k] == 0)
            exit(fail_machine("page %zu is not touched when memory is allocated", k));
        touched += owner[k] != 0;
        same += owner[k] == first[k];
    }
    reference_destroy(&r); /* the solver's memory cannot be freed: the process ends soon */
    return (double)same / (double)touched;
}

int main(int count, char **arguments)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    int failed = 0;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    sigaction(SIGSEGV, &action, NULL);
    MPI_Init(&count, &arguments);
    for (int threads = 2; threads <= 4; threads++)
        for (int kind = 0; kind < 4; kind++) {
            const bool walls = kind & 1;
            const int sweep = kind & 2 ? 3 : 1;
            const double share = same_share(threads, walls ? "wwwwww" : "pppppp", sweep);
            printf("%d threads, faces %s, steps in a sweep %d: %.1f %% of the pages\n", threads,
                   walls ? "walls" : "periodic", sweep, 100 * share);
            failed |= share < 0.9;
        }
    MPI_Finalize();
    return failed;
}
