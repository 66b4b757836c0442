/* Bodies on the grid; see body.h. */
#include "body/body.h"

#include <math.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"

void body_images(double lo, double hi, int n, int *first, int *last)
{
    *first = (int)ceil(-hi / n);
    *last = (int)floor((n - lo) / n);
    if (*last - *first > 2 * BODY_IMAGES) {
        *first = *first > -BODY_IMAGES ? *first : -BODY_IMAGES;
        *last = *last < BODY_IMAGES ? *last : BODY_IMAGES;
    }
}

/* The cells for which lines through a mesh are needed: the box and a layer around it; along
 * periodic axes also the cells shifted by whole boxes, where images of the body are looked up. */
static void reach(const struct case_mesh *mesh, const int cells[3], const bool periodic[3],
                  int lo[3], int hi[3])
{
    double low[3], high[3];
    mesh_bounds(mesh, low, high);
    for (int a = 0; a < 3; a++) {
        const int n = cells[a];
        int first = 0, last = 0;
        if (periodic[a])
            body_images(low[a], high[a], n, &first, &last);
        lo[a] = -1 - last * n;
        hi[a] = n + 1 - first * n;
    }
}

enum status body_open(struct body *b, const struct case_body *what, const int cells[3],
                      const bool periodic[3], const int lo[3], const int hi[3], MPI_Comm comm)
{
    int from[3], to[3];
    *b = (struct body){.what = what};
    if (what->image.file)
        return voxels_open(&b->voxels, &what->image, what->name, cells, periodic, lo, hi, comm);
    if (what->mesh.file)
        reach(&what->mesh, cells, periodic, from, to);
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
