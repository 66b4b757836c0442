/* Fuzz target: a case read, compared with itself, and made for a finer level, while one allocation
 * fails, which one the input decides. Linked with --wrap for the functions below and with the static
 * libyaml, so that its allocations count too. Leaks are found by the sanitizer. */
#include "fuzz.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
FILE *__real_open_memstream(char **text, size_t *size);
locale_t __real_newlocale(int mask, const char *name, locale_t base);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
FILE *__wrap_open_memstream(char **text, size_t *size);
locale_t __wrap_newlocale(int mask, const char *name, locale_t base);

static struct {
    bool counting;
    unsigned count, fails; /* the allocation with this number, from 1, fails; 0: none */
} memory;

static bool fails(void)
{
    if (!memory.counting || ++memory.count != memory.fails)
        return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

FILE *__wrap_open_memstream(char **text, size_t *size)
{
    return fails() ? NULL : __real_open_memstream(text, size);
}

locale_t __wrap_newlocale(int mask, const char *name, locale_t base)
{
    return fails() ? (locale_t)0 : __real_newlocale(mask, name, base);
}

static enum status try(const struct fuzz_input *in, unsigned fails_at)
{
    struct flow_case c;
    memory.count = 0;
    memory.fails = fails_at;
    memory.counting = true;
    enum status s = fuzz_read(in, &c);
    if (!s) {
        s = case_same_flow(c.resolved, c.resolved, "the checkpoint");
        said_check(s);
    }
    if (!s && c.levels > 1) {
        struct flow_case of;
        said_clear();
        s = case_of_level(&c, 1, &of);
        said_check(s);
        case_destroy(&of);
    }
    memory.counting = false;
    case_destroy(&c);
    return s;
}

/* FNV-1a, so that every change of the input moves the failure. */
static unsigned hash(const uint8_t *data, size_t size)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 16777619u;
    return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in;
    fuzz_cut(data, size, &in);
    if (try(&in, 0) == STATUS_MACHINE)
        fuzz_wrong("the machine does not fail here");
    const unsigned fails_at = 1 + hash(data, size) % memory.count;
    if (try(&in, fails_at) != STATUS_MACHINE)
        fuzz_wrong("allocation %u of a case fails, and nobody notices", fails_at);
    if (!strstr(said_text(), "memory"))
        fuzz_wrong("allocation %u of a case fails, and the message does not say so", fails_at);
    fuzz_cut_free(&in);
    return 0;
}
