/* Fuzz target: the input as an STL file, and as the triangles of a binary one whose head is right.
 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/stl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_mesh(const struct stl *m)
{
    if (!m->triangles || !m->vertices || m->vertices > 3 * m->triangles)
        fuzz_wrong("%zu triangles of %zu vertices", m->triangles, m->vertices);
    for (size_t v = 0; v < m->vertices; v++) {
        int order = 0;
        for (int a = 0; a < 3; a++) {
            if (!isfinite(m->vertex[v][a]) || (m->vertex[v][a] == 0 && signbit(m->vertex[v][a])))
                fuzz_wrong("vertex %zu is at %g", v, m->vertex[v][a]);
            if (v && !order)
                order = (m->vertex[v][a] > m->vertex[v - 1][a]) -
                        (m->vertex[v][a] < m->vertex[v - 1][a]);
        }
        if (v && order <= 0)
            fuzz_wrong("vertex %zu does not come after the one before", v);
    }
    for (size_t t = 0; t < m->triangles; t++)
        for (int k = 0; k < 3; k++)
            if (m->triangle[t][k] >= m->vertices)
                fuzz_wrong("triangle %zu has no corner %d", t, k);
}

static void try_stl(const char *bytes, size_t length)
{
    struct stl m;
    char reason[STL_REASON];
    memset(&m, 0xa5, sizeof m);
    if (stl_read(bytes, length, &m, reason)) {
        check_mesh(&m);
        stl_destroy(&m);
        return;
    }
    if (!*reason || strlen(reason) >= sizeof reason || m.vertex || m.triangle)
        fuzz_wrong("refused without a reason");
    for (const char *c = reason; *c; c++)
        if (*c < ' ' || *c > '~')
            fuzz_wrong("the reason holds byte 0x%02x", (unsigned char)*c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 84, FACET = 50 };
    char *const bytes = malloc(HEAD + size + 1);
    if (!bytes)
        fuzz_wrong("no memory");
    if (size)
        memcpy(bytes, data, size);
    bytes[size] = '\0';
    try_stl(bytes, size);

    const uint32_t n = (uint32_t)(size / FACET);
    memset(bytes, 's', HEAD);
    for (int k = 0; k < 4; k++)
        bytes[HEAD - 4 + k] = (char)(n >> 8 * k);
    if (size)
        memcpy(bytes + HEAD, data, size);
    bytes[HEAD + FACET * (size_t)n] = '\0';
    try_stl(bytes, HEAD + FACET * (size_t)n);
    free(bytes);
    return 0;
}
