/* Cores that a job may use; see cores.h. */
#include "base/cores.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER = 4096 }; /* bytes of the path of a control group */

/* The first of the hardware threads of a processor's core; itself if that is not known. */
static int core_of(int processor)
{
    char path[96];
    int core = processor;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             processor);
    FILE *const file = fopen(path, "r");
    if (file && fscanf(file, "%d", &core) != 1)
        core = processor;
    if (file)
        fclose(file);
    return core >= 0 && core < CPU_SETSIZE ? core : processor;
}

/* The cores of all processors that are online. */
static void host_cores(cpu_set_t *cores)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN), most = sysconf(_SC_NPROCESSORS_CONF);
    char path[96];
    CPU_ZERO(cores);
    for (int k = 0; k < most && k < CPU_SETSIZE; k++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology", k);
        if (online == most || access(path, F_OK) == 0)
            CPU_SET(core_of(k), cores);
    }
    if (!CPU_COUNT(cores))
        CPU_SET(0, cores);
}

/* The cores that this process may use. */
static void own_cores(const cpu_set_t *host, cpu_set_t *cores)
{
    cpu_set_t processors;
    *cores = *host;
    if (sched_getaffinity(0, sizeof processors, &processors))
        return;
    CPU_ZERO(cores);
    for (int k = 0; k < CPU_SETSIZE; k++)
        if (CPU_ISSET(k, &processors))
            CPU_SET(core_of(k), cores);
}

/* A number in a file of the control groups, or two of them; how many there are. */
static int numbers_in(const char *folder, const char *name, double *first, double *second)
{
    char path[FOLDER + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "r");
    const int found = file ? fscanf(file, "%lf %lf", first, second) : 0;
    if (file)
        fclose(file);
    return found > 0 ? found : 0;
}

/* Processors of the quota of the group in `folder` or of one above it, down to `root` bytes of the
 * path. */
static double folder_quota(char *folder, size_t root)
{
    double least = INFINITY;
    for (;;) {
        double quota = 0, period = 0, rest;
        bool found = numbers_in(folder, "cpu.max", &quota, &period) == 2; /* "max 100000": none */
        if (!found)
            found = numbers_in(folder, "cpu.cfs_quota_us", &quota, &rest) == 1 &&
                    numbers_in(folder, "cpu.cfs_period_us", &period, &rest) == 1;
        if (found && quota > 0 && period > 0)
            least = fmin(least, quota / period);
        char *const up = strrchr(folder, '/');
        if (!up || up < folder + root)
            return least;
        *up = '\0';
    }
}

/* Processors that the control groups of this process allow; INFINITY: no limit. */
static double group_quota(void)
{
    static const char top[] = "/sys/fs/cgroup";
    char line[FOLDER / 2], folder[FOLDER];
    double least = INFINITY;
    FILE *const file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) { /* "0::/a/b", or "4:cpu,cpuacct:/a/b" */
        char *const names = strchr(line, ':');
        char *const path = names ? strchr(names + 1, ':') : NULL;
        if (!path)
            continue;
        line[strcspn(line, "\n")] = '\0';
        *path = '\0';
        const bool second = !names[1];
        if (!second && strcmp(names + 1, "cpu") != 0 && strncmp(names + 1, "cpu,", 4) != 0)
            continue;
        const int root =
            snprintf(folder, sizeof folder, "%s%s%s", top, second ? "" : "/", names + 1);
        snprintf(folder + root, sizeof folder - (size_t)root, "%s", path + 1);
        least = fmin(least, folder_quota(folder, (size_t)root));
    }
    if (file)
        fclose(file);
    return least;
}

void cores_wait_briefly(char **arguments)
{
    char path[FOLDER];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (getenv("OMP_NUM_THREADS") || getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") ||
        length <= 0)
        return;
    path[length] = '\0';
    if (!setenv("GOMP_SPINCOUNT", "10000", 1))
        execv(path, arguments); /* returns if it failed: then threads wait as they do by default */
}

/* Memory nodes that have processors; at least 1. */
static int memory_nodes(void)
{
    char path[96];
    int nodes = 0;
    for (int k = 0; k < CPU_SETSIZE; k++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", k);
        FILE *const file = fopen(path, "r");
        int first;
        nodes += file && fscanf(file, "%d", &first) == 1;
        if (file)
            fclose(file);
    }
    return nodes > 0 ? nodes : 1;
}

static int at_most(int count, double limit)
{
    const int cores = count < limit ? count : (int)limit;
    return cores > 1 ? cores : 1;
}

/* users[k]: ranks of this host that may use core k. All ranks that may use a core
 * have the same share of it. */
static void find(struct cores *c, const cpu_set_t *host, const cpu_set_t *own,
                 const int users[CPU_SETSIZE])
{
    const double quota = group_quota();
    double share = 0;
    int together = 0;
    for (int k = 0; k < CPU_SETSIZE; k++) {
        together += users[k] > 0;
        share += CPU_ISSET(k, own) ? 1.0 / users[k] : 0;
    }
    c->host = CPU_COUNT(host);
    c->own = CPU_COUNT(own);
    c->allowed = at_most(together, quota);
    c->nodes = c->allowed == c->host ? memory_nodes() : 1;
    c->share = at_most((int)(share + 1e-6), quota / c->ranks);
}

static void find_own(cpu_set_t *host, cpu_set_t *own, int users[CPU_SETSIZE])
{
    host_cores(host);
    own_cores(host, own);
    for (int k = 0; k < CPU_SETSIZE; k++)
        users[k] = CPU_ISSET(k, own) != 0;
}

void cores_find_alone(struct cores *c)
{
    cpu_set_t host, own;
    int users[CPU_SETSIZE];
    find_own(&host, &own, users);
    *c = (struct cores){.ranks = 1};
    find(c, &host, &own, users);
}

void cores_find(MPI_Comm comm, struct cores *c)
{
    cpu_set_t host, own;
    int users[CPU_SETSIZE];
    MPI_Comm node;
    *c = (struct cores){0};
    find_own(&host, &own, users);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &c->ranks);
    MPI_Allreduce(MPI_IN_PLACE, users, CPU_SETSIZE, MPI_INT, MPI_SUM, node);
    MPI_Comm_free(&node);
    find(c, &host, &own, users);
    MPI_Allreduce(MPI_IN_PLACE, &c->share, 1, MPI_INT, MPI_MIN, comm);
}
