/* Bodies on the grid; see body.h. */
#include "body/body.h"

#include <limits.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"

/* Cells that lines through a mesh are asked of: the box, and a layer about it, or far more along
 * periodic axes, where the body's images are the body elsewhere. */
static void reach(const struct flow_case *c, int lo[3], int hi[3])
{
    for (int a = 0; a < 3; a++) {
        const bool periodic = c->faces[2 * a].kind == FACE_periodic;
        lo[a] = periodic ? -(int)LINES_FAR : -1;
        hi[a] = periodic ? (int)LINES_FAR : c->cells[a] + 1;
    }
}

enum status body_open(struct body *b, const struct case_body *what, const struct flow_case *c,
                      const int lo[3], const int hi[3], MPI_Comm comm)
{
    int from[3], to[3];
    bool periodic[3];
    *b = (struct body){.what = what};
    for (int a = 0; a < 3; a++)
        periodic[a] = c->faces[2 * a].kind == FACE_periodic;
    if (what->image.file)
        return voxels_open(&b->voxels, &what->image, what->name, c->cells, periodic, lo, hi, comm);
    reach(c, from, to);
    const bool made = what->mesh.file ? mesh_create(&b->mesh, &what->mesh, from, to,
                                                    what->wall == BODY_WALL_interpolated)
                                      : shape_create(&b->shape, &what->shape);
    const enum status s = status_agree(
        comm, made ? STATUS_OK : fail_machine("out of memory for the body %s", what->name));
    if (s)
        body_close(b);
    return s;
}

void body_close(struct body *b)
{
    shape_destroy(&b->shape);
    mesh_destroy(&b->mesh);
    voxels_close(&b->voxels);
    *b = (struct body){0};
}

void body_bounds(const struct body *b, double lo[3], double hi[3])
{
    const bool mesh = b->what->mesh.file != NULL;
    if (b->what->image.file) {
        voxels_bounds(&b->voxels, lo, hi);
        return;
    }
    memcpy(lo, mesh ? b->mesh.lo : b->shape.lo, 3 * sizeof *lo);
    memcpy(hi, mesh ? b->mesh.hi : b->shape.hi, 3 * sizeof *hi);
}

void body_row(const struct body *b, int x, int count, int y, int z, uint8_t *inside)
{
    if (b->what->image.file)
        voxels_row(&b->voxels, x, count, y, z, inside);
    else if (b->what->mesh.file)
        mesh_row(&b->mesh, x, count, y, z, inside);
    else
        shape_row(&b->shape, x, count, y, z, inside);
}

double body_crossing(const struct body *b, const int cell[3], const int c[3])
{
    if (b->what->image.file)
        return 0.5; /* a voxel's face is half-way between centres */
    return b->what->mesh.file ? mesh_crossing(&b->mesh, cell, c)
                              : shape_crossing(&b->shape, cell, c);
}
