/* Fuzz target: the input as an STL file, and as the triangles of a binary one whose head is right;
 * what is read is a body in a small box. */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/mesh.h"
#include "body/stl.h"
#include "lattice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BOX = 13 }; /* cells along each axis */

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

/* Every cell of a box about the mesh, and every link into one that is inside. */
static void check_cells(const struct mesh *m, const int cells[3])
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    uint8_t inside[BOX] = {0};
    for (int z = 0; z < cells[2]; z++)
        for (int y = 0; y < cells[1]; y++) {
            memset(inside, 0, sizeof inside);
            mesh_row(m, 0, cells[0], y, z, inside);
            for (int x = 0; x < cells[0]; x++) {
                uint8_t again = 0;
                mesh_row(m, x, 1, y, z, &again);
                if (again != inside[x])
                    fuzz_wrong("cell %d %d %d is %d in its row, %d alone", x, y, z, inside[x],
                               again);
                for (int i = 1; i < Q && again; i++) {
                    const int from[3] = {x - velocity[i][0], y - velocity[i][1],
                                         z - velocity[i][2]};
                    const double q = mesh_crossing(m, from, velocity[i]);
                    if (!(q > 0 && q <= 1))
                        fuzz_wrong("link %d into cell %d %d %d is cut at %g", i, x, y, z, q);
                }
            }
        }
}

/* As the case has a mesh: looked at, scaled into the box, refused where it has no extent. */
static void check_body(struct stl *m)
{
    const int least[3] = {-1, -1, -1}, most[3] = {BOX + 1, BOX + 1, BOX + 1};
    const int cells[3] = {BOX, BOX, BOX};
    struct case_mesh from = {.stl = m, .rotate = {0, 10, 90}, .center = {6, 6.5, 6.25}};
    const size_t before = m->triangles;
    double lo[3], hi[3];
    struct mesh body;
    if (!mesh_look(m, &from.facts))
        fuzz_wrong("no memory");
    if (m->triangles + from.facts.flat + from.facts.twice != before)
        fuzz_wrong("%zu triangles of %zu", m->triangles, before);
    if (!m->triangles)
        return;
    mesh_extent(m, from.rotate, lo, hi);
    const double longest = fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
    from.scale = 10 / longest;
    if (!(longest > 0 && isfinite(from.scale) && from.scale > 0))
        return;
    mesh_bounds(&from, lo, hi);
    for (int a = 0; a < 3; a++)
        if (!(lo[a] >= -LINES_FAR && hi[a] <= LINES_FAR))
            return;
    if (!mesh_turn_parts(&from) || !mesh_measure(&from) ||
        !mesh_create(&body, &from, least, most, MESH_LINKS_all))
        fuzz_wrong("no memory");
    if (!from.facts.parts || from.facts.parts > m->triangles || from.facts.lost > from.facts.parts)
        fuzz_wrong("%u parts, %u lost", from.facts.parts, from.facts.lost);
    check_cells(&body, cells);
    mesh_destroy(&body);
}

static void try_stl(const char *bytes, size_t length)
{
    struct stl m;
    char reason[STL_REASON];
    memset(&m, 0xa5, sizeof m);
    if (stl_read(bytes, length, &m, reason)) {
        check_mesh(&m);
        check_body(&m);
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
