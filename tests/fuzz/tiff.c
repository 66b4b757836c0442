/* Fuzz target: the input as a TIFF stack or a .npy file, of which parts of some planes are read
 * twice; both times they are the same, and what is refused has a reason. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "body/voxel_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EDGE = 32, PLANES = 4 };

static void check_reason(enum status s, const char *reason)
{
    if (s != STATUS_USAGE && s != STATUS_MACHINE)
        fuzz_wrong("status %d", s);
    if (!*reason || strlen(reason) >= VOXEL_REASON)
        fuzz_wrong("refused without a reason");
    for (const char *c = reason; *c; c++)
        if (*c < ' ' || *c > '~')
            fuzz_wrong("a reason holds byte 0x%02x", (unsigned char)*c);
}

static void check_range(const struct voxel_file *f, const int32_t *labels, size_t count)
{
    static const int range[][2] = {
#define X(name, number, lowest, highest) {lowest, highest},
        VOXEL_TYPE_LIST(X)
#undef X
    };
    for (size_t k = 0; k < count; k++)
        if (labels[k] < range[f->type][0] || labels[k] > range[f->type][1])
            fuzz_wrong("label %d", labels[k]);
}

/* The corner of plane z with the highest coordinates, or an inner part of it. */
static enum status read_part(struct voxel_file *f, int z, bool inner, int32_t *labels)
{
    char reason[VOXEL_REASON] = "";
    int lo[2], hi[2];
    for (int a = 0; a < 2; a++) {
        hi[a] = f->size[a] - (inner && f->size[a] > 8 ? 3 : 0);
        lo[a] = hi[a] > EDGE ? hi[a] - EDGE : 0;
    }
    memset(labels, 0, EDGE * EDGE * sizeof *labels);
    const enum status s = voxel_file_plane(f, z, lo, hi, labels, reason);
    if (s)
        check_reason(s, reason);
    else
        check_range(f, labels, (size_t)(hi[0] - lo[0]) * (size_t)(hi[1] - lo[1]));
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int32_t first[PLANES][EDGE * EDGE], again[EDGE * EDGE];
    enum status status[PLANES];
    const struct voxel_image image = {.format = VOXEL_tiff};
    char path[64], reason[VOXEL_REASON] = "";
    struct voxel_file f;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || file_write_at(fd, data, size, 0) != 0)
        fuzz_wrong("no memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const enum status s = voxel_file_open(&f, path, &image, reason);
    if (s) {
        check_reason(s, reason);
        close(fd);
        return 0;
    }
    const int planes = f.size[2] < PLANES ? f.size[2] : PLANES;
    for (int z = 0; z < planes; z++)
        status[z] = read_part(&f, z, size % 2, first[z]);
    for (int z = planes - 1; z >= 0; z--) {
        const enum status second = read_part(&f, z, size % 2, again);
        if (second != status[z] || (!second && memcmp(again, first[z], sizeof again) != 0))
            fuzz_wrong("plane %d is another the second time", z);
    }
    voxel_file_close(&f);
    close(fd);
    return 0;
}
