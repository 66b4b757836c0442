/* Memory of the hosts; see memory.h. */
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Share of the available memory that ranks may take. */
static const double usable = 0.95;

/* Lowers *all and *available to what a control group (version 2) allows and leaves. It counts the
 * file cache as used, so its inactive pages are added. */
static void limit_by_group(const char *folder, double *available, double *all)
{
    char path[2100], line[256];
    double files;
    snprintf(path, sizeof path, "%s/memory.max", folder);
    const double limit = file_number(path); /* "max": none */
    if (limit < 0)
        return;
    snprintf(path, sizeof path, "%s/memory.current", folder);
    double left = limit - file_number(path);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    FILE *const file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "inactive_file %lf", &files) == 1)
            left += files;
    if (file)
        fclose(file);
    if (left < *available)
        *available = left > 0 ? left : 1;
    if (limit < *all)
        *all = limit;
}

/* The same for the control groups of this process. */
static void limit_by_groups(double *available, double *all)
{
    char folder[2048] = "/sys/fs/cgroup", line[2048];
    const size_t root = strlen(folder);
    FILE *const file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "0::/", 4) == 0)
            snprintf(folder + root, sizeof folder - root, "%.*s", (int)strcspn(line + 3, "\n"),
                     line + 3);
    if (file)
        fclose(file);
    for (;;) {
        limit_by_group(folder, available, all);
        char *const up = strrchr(folder, '/');
        if (up < folder + root)
            return;
        *up = '\0';
    }
}

void memory_find(double *available, double *all)
{
    char line[256];
    double kib;
    FILE *const file = fopen("/proc/meminfo", "r");
    *available = *all = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %lf", &kib) == 1)
            *available = 1024 * kib;
        if (sscanf(line, "MemTotal: %lf", &kib) == 1)
            *all = 1024 * kib;
    }
    if (file)
        fclose(file);
    if (*available > 0 && *all > 0)
        limit_by_groups(available, all);
    else
        *available = *all = 0;
}

bool memory_lacks(double need, MPI_Comm comm, struct memory_lack *lack)
{
    MPI_Comm host;
    struct memory_lack mine = {.need = need};
    struct {
        double over;
        int rank;
    } own, worst;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &mine.ranks);
    MPI_Allreduce(MPI_IN_PLACE, &mine.need, 1, MPI_DOUBLE, MPI_SUM, host);
    memory_find(&mine.available, &mine.all);
    gethostname(mine.host, sizeof mine.host - 1);
    MPI_Comm_free(&host);
    own.over = mine.available > 0 ? mine.need - usable * mine.available : -1;
    MPI_Comm_rank(comm, &own.rank);
    MPI_Allreduce(&own, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    MPI_Bcast(&mine, sizeof mine, MPI_BYTE, worst.rank, comm);
    *lack = mine;
    return worst.over > 0;
}
