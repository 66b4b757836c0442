/* Energy of the processor's packages; see energy.h. Files and their meaning: Linux,
 * Documentation/power/powercap/powercap.rst. */
#include "cpu/energy.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKAGES_MOST = 64, PATH_LENGTH = 512 };

struct package {
    char path[PATH_LENGTH]; /* path of the counter */
    uint64_t range, last;   /* microjoules; the counter wraps from `range` to 0 */
};

struct packages {
    struct package package[PACKAGES_MOST];
    int count;
    uint64_t used; /* microjoules */
    bool lost;     /* a read of a counter failed: the energy is no longer known */
};

static bool read_text(const char *path, char *text, int size)
{
    FILE *const file = fopen(path, "r");
    const bool read = file && fgets(text, size, file);
    if (file)
        fclose(file);
    return read;
}

static bool read_number(const char *path, uint64_t *number)
{
    char text[64], after;
    return read_text(path, text, sizeof text) && *text >= '0' && *text <= '9' &&
           sscanf(text, "%" SCNu64 "%c", number, &after) == 2 && after == '\n';
}

/* Is this a package? "intel-rapl:0" is one (on AMD's processors too); its parts, "intel-rapl:0:1",
 * are not. The name must begin with "package": "intel-rapl:1" may be "psys", the whole platform,
 * which includes the packages. */
static bool is_package(const char *folder, const char *entry)
{
    char path[PATH_LENGTH], name[64];
    int number, length = 0;
    if (sscanf(entry, "intel-rapl:%d%n", &number, &length) != 1 || entry[length] != '\0')
        return false;
    snprintf(path, sizeof path, "%s/%.64s/name", folder, entry);
    return read_text(path, name, sizeof name) && strncmp(name, "package", 7) == 0;
}

static bool package_open(struct package *p, const char *folder, const char *entry)
{
    char path[PATH_LENGTH];
    snprintf(path, sizeof path, "%s/%.64s/max_energy_range_uj", folder, entry);
    const int length = snprintf(p->path, sizeof p->path, "%s/%.64s/energy_uj", folder, entry);
    return length < PATH_LENGTH && read_number(path, &p->range) && read_number(p->path, &p->last) &&
           p->last <= p->range;
}

struct packages *packages_open(const char *folder)
{
    DIR *const entries = opendir(folder);
    struct packages *const p = entries ? calloc(1, sizeof *p) : NULL;
    bool all = p != NULL; /* all packages or none: a part would give a wrong sum */
    for (struct dirent *entry; all && (entry = readdir(entries));)
        if (is_package(folder, entry->d_name))
            all = p->count < PACKAGES_MOST &&
                  package_open(&p->package[p->count++], folder, entry->d_name);
    if (entries)
        closedir(entries);
    if (all && p->count > 0)
        return p;
    free(p);
    return NULL;
}

bool packages_joules(struct packages *p, double *joules)
{
    for (struct package *k = p->package; k < p->package + p->count && !p->lost; k++) {
        uint64_t now;
        if (!read_number(k->path, &now) || now > k->range) {
            p->lost = true;
            break;
        }
        p->used += now >= k->last ? now - k->last : k->range - k->last + now + 1;
        k->last = now;
    }
    *joules = 1e-6 * (double)p->used;
    return !p->lost;
}

void packages_close(struct packages *p)
{
    free(p);
}
