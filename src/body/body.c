/* Bodies on the grid; see body.h. */
#include "body/body.h"

#include <math.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"

/* Limits lo <= cell < hi, a range of a periodic axis of n cells with one more on either side, to
 * where images of a mesh from `low` to `high` are looked up: moved by whole boxes to the mesh. */
static void reach_images(double low, double high, int n, int *lo, int *hi)
{
    int first, last;
    body_images(low, high, n, &first, &last);
    const double from = ceil((low - 1 - *hi) / n), to = floor((high + 1 - *lo) / n);
    const double begin = fmax(*lo + from * n, -1.0 - (double)last * n);
    const double end = fmin(*hi + to * n, n + 1.0 - (double)first * n);
    *lo = begin < end ? (int)begin : 0;
    *hi = begin < end ? (int)end : 0;
}

/* The cells for which lines through a mesh are needed: lo <= cell < hi, a layer around them, and
 * along periodic axes the same cells moved by whole boxes. */
static void reach(const struct case_mesh *mesh, const int cells[3], const bool periodic[3],
                  const int lo[3], const int hi[3], int from[3], int to[3])
{
    double low[3], high[3];
    mesh_bounds(mesh, low, high);
    for (int a = 0; a < 3; a++) {
        from[a] = lo[a] - 1;
        to[a] = hi[a] + 1;
        if (periodic[a])
            reach_images(low[a], high[a], cells[a], &from[a], &to[a]);
    }
}

enum status body_open(struct body *b, const struct case_body *what, const int cells[3],
                      const bool periodic[3], const int lo[3], const int hi[3], bool normals,
                      MPI_Comm comm)
{
    const enum mesh_links links = what->wall == BODY_WALL_interpolated || what->cap_count ? MESH_LINKS_all
                                  : normals                            ? MESH_LINKS_axes
                                                                       : MESH_LINKS_none;
    int from[3], to[3];
    *b = (struct body){.what = what};
    for (int a = 0; a < 3; a++) {
        from[a] = normals ? lo[a] - VOXELS_REACH : lo[a];
        to[a] = normals ? hi[a] + VOXELS_REACH : hi[a];
    }
    if (what->image.file)
        return voxels_open(&b->voxels, &what->image, what->name, cells, periodic, from, to, comm);
    if (what->mesh.file)
        reach(&what->mesh, cells, periodic, lo, hi, from, to);
    const bool made = what->mesh.file ? mesh_create(&b->mesh, &what->mesh, from, to, links)
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
    if (body_surrounds(b->what))
        return mesh_leaving(&b->mesh, cell, c);
    return b->what->mesh.file ? mesh_crossing(&b->mesh, cell, c)
                              : shape_crossing(&b->shape, cell, c);
}

double body_facing(const struct body *b, const int cell[3], const int c[3])
{
    const int axis = c[0] ? 0 : c[1] ? 1 : 2;
    double at[3];
    if (b->what->image.file)
        return voxels_facing(&b->voxels, cell, c);
    if (b->what->mesh.file)
        return mesh_facing(&b->mesh, cell, c);
    for (int a = 0; a < 3; a++)
        at[a] = cell[a] + 0.5 + shape_crossing(&b->shape, cell, c) * c[a];
    return shape_facing(&b->shape, at, axis);
}
