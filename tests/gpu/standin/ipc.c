/* What processes share: memory in a file without a name, which another process opens by way of
 * /proc. It goes with the last process that has it open, however that ends. */
#include "standin.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct standin_handle) <= sizeof(cudaIpcMemHandle_t), "handles are small");

int standin_share(size_t size)
{
    const int file = memfd_create("standin", MFD_CLOEXEC);
    if (file <= 0 || ftruncate(file, (off_t)size) != 0)
        standin_die("no shared memory");
    return file;
}

void *standin_map(int file, size_t offset, size_t size, void *at, int protection)
{
    void *const memory =
        mmap(at, size, protection, MAP_SHARED | (at ? MAP_FIXED : 0), file, (off_t)offset);
    if (memory == MAP_FAILED)
        standin_die("shared memory cannot be mapped");
    return memory;
}

void standin_export(void *handle, enum standin_kind kind, int file, size_t size)
{
    const struct standin_handle mine = {kind, getpid(), file, size};
    memset(handle, 0, sizeof(cudaIpcMemHandle_t));
    memcpy(handle, &mine, sizeof mine);
}

int standin_open(const void *handle, enum standin_kind kind, struct standin_handle *what,
                 cudaError_t *error)
{
    char path[64];
    memcpy(what, handle, sizeof *what);
    *error = what->kind != kind                 ? cudaErrorInvalidValue
             : !standin_options.ipc             ? cudaErrorNotSupported
             : (pid_t)what->process == getpid() ? cudaErrorDeviceUninitialized
                                                : cudaSuccess;
    if (*error)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", what->process, what->file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        *error = cudaErrorMapBufferObjectFailed;
    return file;
}
