/* Which GPU a rank uses; see device.h. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "base/agree.h"
#include "base/message.h"

/* Words and a call for which HIP has others. */
#ifndef GPU_ARCH
#define GPU_ARCH "sm_"
#define GPU_RUNTIME "CUDA"
#define GPU_MAKER "NVIDIA"
#define GPU_UUID(to, device, p) memcpy(to, (p)->uuid.bytes, sizeof(to))
#endif

/* Compute capabilities with kernels, times ten: 80 90 100; newer GPUs use PTX. */
static const int architectures[] = {TAGFLOW_GPU_ARCHS};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

enum { HOST_NAME = 256 };

static int oldest_architecture(void)
{
    int oldest = architectures[0];
    for (int i = 1; i < ARCHITECTURES; i++)
        oldest = architectures[i] < oldest ? architectures[i] : oldest;
    return oldest;
}

/* Number of GPUs that this rank sees; 0 with a reason. */
static int count_devices(char reason[256])
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return count;
    cudaGetLastError(); /* clear the error, or the next call returns it */
    if (error == cudaErrorInsufficientDriver)
        snprintf(reason, 256, "no " GPU_MAKER " driver, or one too old for " GPU_RUNTIME " %d.%d",
                 CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    else if (error == cudaErrorNoDevice || error == cudaSuccess)
        snprintf(reason, 256, "no " GPU_MAKER " GPU to be seen");
    else
        snprintf(reason, 256, "no GPU can be used: %s", cudaGetErrorString(error));
    return 0;
}

bool device_present(MPI_Comm comm, char reason[256])
{
    char mine[256] = "", host[HOST_NAME] = "?";
    int rank, ranks, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const bool here = count_devices(mine) > 0;
    first = here ? ranks : rank; /* first rank without a GPU */
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks)
        return true;
    if (ranks > 1 && rank == first) {
        char text[256];
        gethostname(host, sizeof host - 1);
        snprintf(text, sizeof text, "%.120s (rank %d on %.100s)", mine, rank, host);
        memcpy(mine, text, sizeof mine);
    }
    MPI_Bcast(mine, sizeof mine, MPI_CHAR, first, comm);
    memcpy(reason, mine, sizeof mine);
    return false;
}

void device_describe(char line[512])
{
    char reason[256];
    int driver = 0;
    const int count = count_devices(reason);
    size_t n = (size_t)snprintf(line, 512, "cuda: kernels for");
    for (int i = 0; i < ARCHITECTURES; i++)
        n += (size_t)snprintf(line + n, 512 - n, " " GPU_ARCH "%d", architectures[i]);
    cudaDriverGetVersion(&driver);
    n += (size_t)snprintf(line + n, 512 - n, ", " GPU_RUNTIME " %d.%d", CUDART_VERSION / 1000,
                          CUDART_VERSION % 1000 / 10);
    if (count == 0) {
        snprintf(line + n, 512 - n, "; %s", reason);
        return;
    }
    n += (size_t)snprintf(line + n, 512 - n, ", driver for %d.%d", driver / 1000,
                          driver % 1000 / 10);
    for (int k = 0; k < count && n < 400; k++) {
        struct cudaDeviceProp p;
        if (cudaGetDeviceProperties(&p, k) == cudaSuccess)
            n += (size_t)snprintf(line + n, 512 - n, "; GPU %d %.60s, " GPU_ARCH "%d%d, %.4g GB", k,
                                  p.name, p.major, p.minor, 1e-9 * (double)p.totalGlobalMem);
    }
}

void device_describe_peers(char line[128])
{
    char reason[256];
    const int count = count_devices(reason), pairs = count * (count - 1) / 2;
    int good = 0;
    *line = '\0';
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) {
            int there = 0, back = 0;
            if (cudaDeviceCanAccessPeer(&there, a, b) != cudaSuccess ||
                cudaDeviceCanAccessPeer(&back, b, a) != cudaSuccess)
                cudaGetLastError(); /* clear the error, or the next call returns it */
            good += there && back;
        }
    if (count == 1)
        snprintf(line, 128, "by CUDA IPC: one GPU is seen here, so there are no pairs");
    else if (count > 1 && good == 0)
        snprintf(line, 128, "not by CUDA IPC: no two of these GPUs reach each other's memory");
    else if (count > 1)
        snprintf(line, 128,
                 "by CUDA IPC between %d of %d pairs of these GPUs, if a run's trial succeeds",
                 good, pairs);
}

/* Choice of a rank, for the others of its node. */
struct choice {
    int rank, device, count;
    unsigned char uuid[16];
};

/* Reports two ranks of this node with the same GPU: rank 0 of the node finds the first such rank.
 */
static enum status check_shared(MPI_Comm node, const struct choice *mine, const char *name,
                                const char **remark)
{
    int rank, ranks;
    enum status status = STATUS_OK;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &ranks);
    struct choice *const all = calloc((size_t)ranks, sizeof *all);
    if (status_agree(node, all ? STATUS_OK : fail_machine("out of memory"))) {
        free(all);
        return STATUS_MACHINE;
    }
    MPI_Allgather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, node);
    int different = 0, alone = mine->count == 1;
    const struct choice *twin = NULL;
    for (int r = 0; r < ranks; r++) {
        bool seen = false;
        for (int k = 0; k < r; k++)
            seen = seen || memcmp(all[k].uuid, all[r].uuid, sizeof all[r].uuid) == 0;
        different += !seen;
        alone = alone && all[r].count == 1;
        if (seen && !twin)
            twin = &all[r];
    }
    if (twin && rank == 0) {
        char host[HOST_NAME] = "?";
        gethostname(host, sizeof host - 1);
        status = fail_machine("%d ranks on %s and %d GPU%s for them (%s): rank %d would share one "
                              "(one rank a GPU, or --share-gpu)",
                              ranks, host, different, different == 1 ? "" : "s", name, twin->rank);
    } else if (!twin && alone && ranks > 1) {
        *remark = "each rank sees a GPU of its own only: where MPI could copy from one to another "
                  "directly, it cannot now (srun --gpus-per-node=N --gpu-bind=none lets it)";
    }
    free(all);
    return status_agree(node, status);
}

enum status device_choose(MPI_Comm comm, bool share, char description[128], const char **remark,
                          unsigned char uuid[16])
{
    struct choice mine = {0};
    struct cudaDeviceProp p;
    char reason[256];
    int on_node;
    MPI_Comm node;
    enum status status = STATUS_OK;
    *remark = NULL;
    MPI_Comm_rank(comm, &mine.rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, mine.rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &on_node);
    mine.count = count_devices(reason);
    mine.device = mine.count ? on_node % mine.count : 0;
    cudaError_t error = mine.count ? cudaGetDeviceProperties(&p, mine.device) : cudaErrorNoDevice;
    if (error == cudaSuccess)
        error = cudaSetDevice(mine.device);
    if (error != cudaSuccess)
        status = fail_machine("GPU %d cannot be used: %s", mine.device, cudaGetErrorString(error));
    else if (10 * p.major + p.minor < oldest_architecture())
        status = fail_machine("GPU %d, %s, is too old: it is " GPU_ARCH
                              "%d%d, and there are kernels for " GPU_ARCH
                              "%d and newer (meson -Dgpu_archs)",
                              mine.device, p.name, p.major, p.minor, oldest_architecture());
    status = status_agree(comm, status);
    if (!status) {
        GPU_UUID(mine.uuid, mine.device, &p);
        memcpy(uuid, mine.uuid, sizeof mine.uuid);
        if (!share)
            status = check_shared(node, &mine, p.name, remark);
        status = status_agree(comm, status);
        snprintf(description, 128, "cuda, GPU %d: %.80s, " GPU_ARCH "%d%d", mine.device, p.name,
                 p.major, p.minor);
    }
    MPI_Comm_free(&node);
    return status;
}
