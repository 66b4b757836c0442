/* Memory of the hosts; see memory.h. */
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Share of the available memory that ranks may take. */
static const double usable = 0.95;

enum { FOLDER = 2300, PATH = FOLDER + 64 }; /* lengths */

/* How a version of control groups calls its files. */
struct group_names {
    const char *folder, *limit, *used, *inactive;
};
static const struct group_names versions[] = {
    {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file %lf"},
    {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file %lf"},
};

/* Lowers *all and *available to what a control group allows and leaves. It counts the file cache as
 * used, so its inactive pages are added. */
static void limit_by_group(const char *folder, const struct group_names *names, double *available,
                           double *all)
{
    char path[PATH], line[256];
    double files;
    snprintf(path, sizeof path, "%.*s/%s", FOLDER, folder, names->limit);
    const double limit = file_number(path); /* "max", or far more than there is: none */
    if (limit < 0)
        return;
    snprintf(path, sizeof path, "%.*s/%s", FOLDER, folder, names->used);
    double left = limit - file_number(path);
    snprintf(path, sizeof path, "%.*s/memory.stat", FOLDER, folder);
    FILE *const file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, names->inactive, &files) == 1)
            left += files;
    if (file)
        fclose(file);
    if (left < *available)
        *available = left > 0 ? left : 1;
    if (limit < *all)
        *all = limit;
}

/* The same for a group and those around it. A container may not show the folder of its group, only
 * the root's folder. */
static void limit_by_groups(const char *root, const char *group, const struct group_names *names,
                            double *available, double *all)
{
    char folder[FOLDER + 1];
    snprintf(folder, sizeof folder, "%s%s", root, names->folder);
    const size_t top = strlen(folder);
    snprintf(folder + top, sizeof folder - top, "%s", group);
    for (;;) {
        limit_by_group(folder, names, available, all);
        char *const up = strrchr(folder, '/');
        if (up < folder + top)
            return;
        *up = '\0';
    }
}

/* The version of the control group that a line of /proc/self/cgroup names, "4:cpu,memory:/group" or
 * "0::/group", and where its name begins; NULL if it has nothing to do with memory. */
static const struct group_names *group_of(const char *line, const char **group)
{
    const char *word = strchr(line, ':');
    if (strncmp(line, "0::/", 4) == 0) {
        *group = line + 3;
        return &versions[1];
    }
    while (word && *word != '\0' && word[1] != '/') {
        const size_t length = strcspn(++word, ",:");
        const bool memory = length == 6 && strncmp(word, "memory", 6) == 0;
        word += length;
        if (memory) {
            *group = strchr(word, '/');
            return *group ? &versions[0] : NULL;
        }
    }
    return NULL;
}

void memory_find_below(const char *root, double *available, double *all)
{
    char path[PATH], line[2048];
    const char *group;
    double kib;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    FILE *file = fopen(path, "r");
    *available = *all = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %lf", &kib) == 1)
            *available = 1024 * kib;
        if (sscanf(line, "MemTotal: %lf", &kib) == 1)
            *all = 1024 * kib;
    }
    if (file)
        fclose(file);
    if (!(*available > 0 && *all > 0)) {
        *available = *all = 0;
        return;
    }
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const struct group_names *const names = group_of(line, &group);
        if (names)
            limit_by_groups(root, group, names, available, all);
    }
    if (file)
        fclose(file);
}

void memory_find(double *available, double *all)
{
    memory_find_below("", available, all);
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
