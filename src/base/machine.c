/* Facts about the host, from /proc and /sys; see machine.h. */
#include "base/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

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

/* Processors of aarch64 in computers for science: Linux tells their numbers (registers MIDR_EL1),
 * not their names. Part -1: all others of that maker. */
static const struct {
    int maker, part;
    const char *name;
} arm_processors[] = {
    {0x41, 0xd07, "Arm Cortex-A57"},
    {0x41, 0xd08, "Arm Cortex-A72"},
    {0x41, 0xd0b, "Arm Cortex-A76"},
    {0x41, 0xd0c, "Arm Neoverse N1"},
    {0x41, 0xd40, "Arm Neoverse V1"},
    {0x41, 0xd42, "Arm Cortex-A78AE"},
    {0x41, 0xd49, "Arm Neoverse N2"},
    {0x41, 0xd4f, "Arm Neoverse V2"},
    {0x41, 0xd84, "Arm Neoverse V3"},
    {0x41, 0xd8e, "Arm Neoverse N3"},
    {0x41, -1, "Arm"},
    {0x42, 0x516, "Broadcom Vulcan (ThunderX2)"},
    {0x42, -1, "Broadcom"},
    {0x43, 0x0a1, "Cavium ThunderX"},
    {0x43, 0x0af, "Cavium ThunderX2"},
    {0x43, -1, "Cavium"},
    {0x46, 0x001, "Fujitsu A64FX"},
    {0x46, -1, "Fujitsu"},
    {0x48, 0xd01, "HiSilicon Kunpeng 920"},
    {0x48, -1, "HiSilicon"},
    {0x4e, 0x004, "NVIDIA Carmel"},
    {0x4e, -1, "NVIDIA"},
    {0x50, -1, "APM"},
    {0x51, -1, "Qualcomm"},
    {0x61, -1, "Apple"},
    {0x6d, -1, "Microsoft"},
    {0xc0, 0xac3, "Ampere AmpereOne"},
    {0xc0, -1, "Ampere"},
};

static void arm_name(int maker, int part, char name[128])
{
    snprintf(name, 128, "processor of maker 0x%02x, part 0x%03x", (unsigned)maker, (unsigned)part);
    for (size_t k = 0; k < sizeof arm_processors / sizeof *arm_processors; k++)
        if (arm_processors[k].maker == maker && arm_processors[k].part == part) {
            snprintf(name, 128, "%s", arm_processors[k].name);
            return;
        } else if (arm_processors[k].maker == maker && arm_processors[k].part < 0)
            snprintf(name, 128, "%s processor, part 0x%03x", arm_processors[k].name,
                     (unsigned)part);
}

/* The first line of a file, without what ends it; false: there is none. */
static bool text_in(const char *path, char text[128])
{
    FILE *const file = fopen(path, "r");
    const bool found = file && fgets(text, 128, file);
    if (file)
        fclose(file);
    if (found)
        text[strcspn(text, "\n")] = '\0';
    return found && *text;
}

/* One key has the name on x86-64, others elsewhere. */
bool machine_processor_in(const char *cpuinfo, char name[128])
{
    static const char *const keys[] = {"model name", "cpu model", "uarch", "cpu"};
    char line[512], found[sizeof keys / sizeof *keys][128] = {""};
    int maker = -1, part = -1;
    FILE *const file = fopen(cpuinfo, "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *value;
        line[strcspn(line, "\n")] = '\0';
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (!*found[k] && (value = value_of(line, keys[k])))
                snprintf(found[k], 128, "%.127s", value);
        if (maker < 0 && (value = value_of(line, "CPU implementer")))
            maker = (int)strtol(value, NULL, 0);
        if (part < 0 && (value = value_of(line, "CPU part")))
            part = (int)strtol(value, NULL, 0);
    }
    if (file)
        fclose(file);
    *name = '\0';
    if (maker >= 0 && part >= 0)
        arm_name(maker, part, name);
    for (size_t k = 0; k < sizeof keys / sizeof *keys && !*name; k++)
        memcpy(name, found[k], sizeof found[k]);
    return *name;
}

void machine_processor(char name[128])
{
    if (!machine_processor_in("/proc/cpuinfo", name) &&
        !text_in("/sys/firmware/devicetree/base/model", name))
        snprintf(name, 128, "unknown processor");
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
        widen(1e-3 * file_number(line), least, most);
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
