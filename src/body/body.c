/* Bodies on the grid; see body.h. */
#include "body/body.h"

#include "body/shape.h"

/* Halvings of a link in search of the surface. */
enum { HALVINGS = 40 };

enum status body_open(struct body *b, const struct case_body *what, const struct flow_case *c,
                      const int lo[3], const int hi[3], MPI_Comm comm)
{
    bool periodic[3];
    *b = (struct body){.what = what};
    for (int a = 0; a < 3; a++)
        periodic[a] = c->faces[2 * a].kind == FACE_periodic;
    if (what->image.file)
        return voxels_open(&b->voxels, &what->image, what->name, c->cells, periodic, lo, hi, comm);
    return STATUS_OK;
}

void body_close(struct body *b)
{
    voxels_close(&b->voxels);
    *b = (struct body){0};
}

void body_bounds(const struct body *b, double lo[3], double hi[3])
{
    if (b->what->image.file) {
        voxels_bounds(&b->voxels, lo, hi);
        return;
    }
    shape_bounds(&b->what->shape, lo, hi);
}

void body_row(const struct body *b, int x, int count, int y, int z, uint8_t *inside)
{
    if (b->what->image.file) {
        voxels_row(&b->voxels, x, count, y, z, inside);
        return;
    }
    for (int k = 0; k < count; k++) {
        const double at[3] = {x + k + 0.5, y + 0.5, z + 0.5};
        if (shape_holds(&b->what->shape, at))
            inside[k] = 1;
    }
}

double body_crossing(const struct body *b, const int cell[3], const int c[3])
{
    if (b->what->image.file)
        return 0.5; /* a voxel's face is half-way between centres */
    double out = 0, in = 1;
    for (int k = 0; k < HALVINGS; k++) {
        const double q = 0.5 * (out + in);
        const double at[3] = {cell[0] + 0.5 + q * c[0], cell[1] + 0.5 + q * c[1],
                              cell[2] + 0.5 + q * c[2]};
        if (shape_holds(&b->what->shape, at))
            in = q;
        else
            out = q;
    }
    return in;
}
