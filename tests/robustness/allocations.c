/* Memory that is refused once: preloaded into a program (LD_PRELOAD), it makes one allocation that
 * the program's own code asks for return NULL. Those that libraries ask for are not counted, nor
 * those before main(): the CUDA runtime is part of the program, and begins there.
 *
 *     ALLOCATION_OF    the first argument of the program whose allocations count, as "run": it may
 *                      start others
 *     ALLOCATION_RANK  on which rank of mpirun; none: on all
 *     ALLOCATION_AT    which of them fails, from 1; none: none does
 *     ALLOCATION_HIT   a file to which a byte is written when it fails
 *     ALLOCATION_LIST  a file to which the callers of each are written, a line each: its number,
 *                      and the program's addresses on the stack */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The C library's own names, which need no look-up: dlsym() allocates. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

enum { DEEP = 32 };

static uintptr_t base, begin, end; /* of the program, and of its code; 0: nothing counts */
static int at, list = -1;
static atomic_int calls;
static bool in_main;

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);
static main_function *program;

static int begin_main(int count, char **arguments, char **environment)
{
    in_main = true;
    return program(count, arguments, environment);
}

/* The C library's, which calls constructors and then main(). */
start_function __libc_start_main;
int __libc_start_main(main_function *main, int count, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack)
{
    start_function *const next = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return next(begin_main, count, arguments, init, fini, loader_fini, stack);
}

/* The first thing that the loader lists is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *none)
{
    (void)size, (void)none;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[k];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            base = info->dlpi_addr;
            begin = base + part->p_vaddr;
            end = begin + part->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void start(int count, char **arguments)
{
    const char *const of = getenv("ALLOCATION_OF"), *const rank = getenv("ALLOCATION_RANK"),
                      *const which = getenv("ALLOCATION_AT"),
                      *const path = getenv("ALLOCATION_LIST"),
                      *const own = getenv(getenv("PMI_RANK") ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK");
    void *frame[2];
    if (!of || count < 2 || strcmp(arguments[1], of) != 0 ||
        (rank && strcmp(rank, own ? own : "0") != 0))
        return;
    at = which ? atoi(which) : 0;
    list = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    backtrace(frame, 2); /* it loads a library the first time */
    dl_iterate_phdr(find_program, NULL);
}

/* Writes the number of an allocation, and its callers. */
static void note(int number)
{
    void *frame[DEEP];
    char line[32 + 17 * DEEP];
    const int deep = backtrace(frame, DEEP);
    size_t length = (size_t)snprintf(line, sizeof line, "%d", number);
    for (int k = 0; k < deep; k++)
        if ((uintptr_t)frame[k] - begin < end - begin)
            length += (size_t)snprintf(line + length, sizeof line - length, " %" PRIxPTR,
                                       (uintptr_t)frame[k] - base);
    line[length++] = '\n';
    if (write(list, line, length) != (ssize_t)length)
        abort();
}

/* Does this allocation fail? */
static bool fails(const void *caller)
{
    static _Thread_local bool within;
    if (!in_main || (uintptr_t)caller - begin >= end - begin || within)
        return false;
    within = true;
    const int number = atomic_fetch_add(&calls, 1) + 1;
    if (list >= 0)
        note(number);
    if (number == at) {
        const char *const hit = getenv("ALLOCATION_HIT");
        const int mark = hit ? open(hit, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
        if (mark >= 0 && write(mark, "x", 1) == 1)
            close(mark);
        errno = ENOMEM;
    }
    within = false;
    return number == at;
}

#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t size)
{
    return FAILS ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return FAILS ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return FAILS ? NULL : __libc_memalign(align, size);
}

#undef strdup
char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *const copy = FAILS ? NULL : __libc_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
