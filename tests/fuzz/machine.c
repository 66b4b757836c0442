/* Fuzz target: the input as a machine file of `tagflow check --machine`. What is refused has a
 * line, and numbers that are taken can be calculated with. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "predict/cluster.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cluster c;
    char path[64];
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || file_write_at(fd, data, size, 0) != 0)
        fuzz_wrong("no memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    said_clear();
    const enum status s = cluster_read(&c, path);
    said_check(s);
    if (s == STATUS_MACHINE)
        fuzz_wrong("the machine does not fail here");
#define X(name, unit, value, meaning)                                                              \
    if (!s && !(isfinite(c.name) && c.name >= 0))                                                  \
        fuzz_wrong("%s is %g", #name, c.name);
    CLUSTER_LIST(X)
#undef X
    close(fd);
    return 0;
}
