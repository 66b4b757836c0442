/* Fuzz target: the input as one of the files that a case names, by its first byte: a profile and a
 * table (CSV), a mask (PNG), a mesh (STL), heights (CSV). What is refused has a line with its
 * place; what is taken is in range, and the resolved case, with its checksums, reads back to
 * itself. */
#include "fuzz.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tags/inputs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 5 };

static const char text[] =
    "domain: {cells: [8, 5, 4]}\n"
    "fluid: {viscosity: 0.05}\n"
    "faces:\n"
    "  xmin: {velocity: {value: [0.05, 0.01, 0], profile: {file: a}, table: {file: b}}}\n"
    "  xmax: {velocity: {value: [0.05, 0, 0], profile: {height: {file: e, axis: z}}}}\n"
    "  y: wall\n"
    "  z: wall\n"
    "patches: {vent: {face: ymin, mask: {file: c}, velocity: {value: [0, 0.01, 0]}}}\n"
    "bodies: {m: {mesh: {file: d, center: [4, 3, 2]}}}\n"
    "run: {steps: 2}\n";

/* Good files, of which the input replaces one. */
static const char profile[] = "1 1 1 1 1\n1 1 1 1 1\n1 2 1 1 1\n1 1 1 1 1\n";
static const char table[] = "0 1\n5 2\n";
static const char heights[] = "0 1\n1.5 -0.5\n3 2\n";
static const unsigned char mask[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44,
    0x52, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x04, 0x08, 0x00, 0x00, 0x00, 0x00, 0x96,
    0xa6, 0x21, 0x2c, 0x00, 0x00, 0x00, 0x11, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60,
    0x40, 0x80, 0xff, 0x40, 0x80, 0xca, 0x80, 0x00, 0x00, 0x8f, 0x94, 0x07, 0xf9, 0xd4, 0x77,
    0xd1, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
static const char mesh[] =
    "solid t\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 3 0\nvertex 3 0 0\nendloop\n"
    "endfacet\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 3 0 0\nvertex 0 0 3\nendloop\n"
    "endfacet\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 3\nvertex 0 3 0\nendloop\n"
    "endfacet\nfacet normal 0 0 0\nouter loop\nvertex 3 0 0\nvertex 0 3 0\nvertex 0 0 3\nendloop\n"
    "endfacet\nendsolid t\n";

struct content {
    const void *bytes;
    size_t length;
};

static char *copy(const void *bytes, size_t length)
{
    char *const to = malloc(length + 1);
    if (!to)
        fuzz_wrong("no memory");
    memcpy(to, bytes, length);
    to[length] = '\0';
    return to;
}

static int read_file(void *context, const char *path, size_t limit, char **bytes, size_t *length,
                     char **absolute)
{
    const int which = path[strlen(path) - 1] - 'a';
    const struct content *const all = context;
    char name[] = "/a";
    if (which < 0 || which >= FILES)
        return ENOENT;
    if (all[which].length > limit)
        return EFBIG;
    name[1] = (char)('a' + which);
    *bytes = copy(all[which].bytes, all[which].length);
    *length = all[which].length;
    *absolute = copy(name, 2);
    return 0;
}

static enum status no_hdf5(void *context, const char *path, const char *dataset,
                           struct case_numbers *n, char reason[CASE_REASON])
{
    (void)context, (void)path, (void)dataset, (void)n;
    snprintf(reason, CASE_REASON, " is not read here");
    return STATUS_USAGE;
}

static void check_numbers(const struct flow_case *c)
{
    const struct case_face *const in = &c->faces[0];
    for (int k = 0; k < 5 * 4 * in->table_components; k++)
        if (!isfinite(in->table[k]))
            fuzz_wrong("a number of the profile is none");
    for (int k = 0; k < in->signal.points; k++)
        if (!isfinite(in->signal.times[k]) || !isfinite(in->signal.values[k]))
            fuzz_wrong("a number of the table is none");
    const struct case_heights *const h = &c->faces[1].heights;
    for (int k = 0; k < h->points; k++)
        if (!isfinite(h->at[k]) || !isfinite(h->value[k]) || (k && h->at[k] <= h->at[k - 1]))
            fuzz_wrong("a height is none, or not above the one before");
    if (!isfinite(h->low) || !isfinite(h->high))
        fuzz_wrong("the factors are from %g to %g", h->low, h->high);
    for (int k = 0; k < 8 * 4; k++)
        if (c->patches[0].mask[k] > 1)
            fuzz_wrong("a pixel of the mask is %d", c->patches[0].mask[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct content all[FILES] = {{profile, sizeof profile - 1},
                                 {table, sizeof table - 1},
                                 {mask, sizeof mask},
                                 {mesh, sizeof mesh - 1},
                                 {heights, sizeof heights - 1}};
    struct case_files files = {
        .context = all, .read = read_file, .hdf5 = no_hdf5, .png = inputs(NULL).png};
    struct flow_case c, again;
    if (!size)
        return 0;
    all[data[0] % FILES] = (struct content){data + 1, size - 1};
    said_clear();
    const enum status s = case_read_files(FUZZ_PATH, text, (long)strlen(text), 0, NULL, &files, &c);
    said_check(s);
    if (s == STATUS_MACHINE)
        fuzz_wrong("the machine does not fail here");
    if (s) {
        said_check_place(text, strlen(text));
        return 0;
    }
    check_numbers(&c);
    if (case_read_files(FUZZ_PATH, c.resolved, (long)strlen(c.resolved), 0, NULL, &files, &again))
        fuzz_wrong("the resolved text does not read back:\n%s", c.resolved);
    if (strcmp(c.resolved, again.resolved) != 0)
        fuzz_wrong("resolved:\n%sresolves to:\n%s", c.resolved, again.resolved);
    case_destroy(&again);
    case_destroy(&c);
    return 0;
}
