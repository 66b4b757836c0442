/* Facts about the host, from /proc and /sys; see machine.h. */
#include "bench/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text after "key :" or "key:" in a line of /proc; NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
    const size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    line += length;
    line += strspn(line, " \t");
    return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* The number with which a file begins; below 0 if there is none. */
static double number_in(const char *path)
{
    double value = -1;
    FILE *const file = fopen(path, "r");
    if (!file)
        return -1;
    if (fscanf(file, "%lf", &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

void machine_processor(char name[128])
{
    char line[512];
    snprintf(name, 128, "unknown processor");
    FILE *const file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *const found = value_of(line, "model name");
        if (!found || *found == '\n' || *found == '\0')
            continue;
        snprintf(name, 128, "%.*s", (int)strcspn(found, "\n"), found);
        break;
    }
    if (file)
        fclose(file);
}

int machine_cores(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

static void widen(double mhz, double *least, double *most)
{
    if (!(mhz > 0))
        return;
    *least = *most == 0 || mhz < *least ? mhz : *least;
    *most = mhz > *most ? mhz : *most;
}

bool machine_clocks(double *least, double *most)
{
    char line[512];
    *least = *most = 0;
    for (int core = 0; core < sysconf(_SC_NPROCESSORS_CONF); core++) {
        snprintf(line, sizeof line, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", core);
        widen(1e-3 * number_in(line), least, most);
    }
    FILE *const file = *most > 0 ? NULL : fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *const mhz = value_of(line, "cpu MHz");
        if (mhz)
            widen(strtod(mhz, NULL), least, most);
    }
    if (file)
        fclose(file);
    return *most > 0;
}
