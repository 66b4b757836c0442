/* How much memory the host has; see memory.h. */
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GROUP = 2048 };

/* The least limit of a group and those above it, at most `most`. folder: where groups are mounted,
 * and behind `root` bytes the group; it is shortened. file: has the limit, a number if there is
 * one. */
static double least_limit(char *folder, size_t root, const char *file, double most)
{
    for (;;) {
        char path[GROUP + 64];
        double limit = 0;
        snprintf(path, sizeof path, "%s/%s", folder, file);
        FILE *const from = fopen(path, "r");
        if (from && fscanf(from, "%lf", &limit) == 1 && limit > 0 && limit < most)
            most = limit;
        if (from)
            fclose(from);
        char *const up = strrchr(folder, '/');
        if (!up || up < folder + root)
            return most;
        *up = '\0';
    }
}

double memory_of_host(void)
{
    static const struct {
        const char *controllers, *mounted,
            *file; /* control groups of version 2, and of version 1 */
    } kinds[] = {{"::", "/sys/fs/cgroup", "memory.max"},
                 {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"}};
    double most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char line[GROUP];
    FILE *const groups = most > 0 ? fopen("/proc/self/cgroup", "r") : NULL;
    while (groups && fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = '\0';
        for (int k = 0; k < 2; k++) {
            char folder[GROUP + 32];
            const char *const found = strstr(line, kinds[k].controllers);
            if (!found || found != strchr(line, ':'))
                continue;
            snprintf(folder, sizeof folder, "%s%s", kinds[k].mounted,
                     found + strlen(kinds[k].controllers));
            most = least_limit(folder, strlen(kinds[k].mounted), kinds[k].file, most);
        }
    }
    if (groups)
        fclose(groups);
    return most > 0 ? most : 0;
}
