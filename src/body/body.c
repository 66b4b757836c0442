/* Bodies on the grid; see body.h. */
#include "body/body.h"

#include "body/shape.h"

/* Halvings of a link in search of the surface. */
enum { HALVINGS = 40 };

enum status body_open(struct body *b, const struct case_body *what, const struct flow_case *c,
                      MPI_Comm comm)
{
    (void)c, (void)comm;
    *b = (struct body){.what = what};
    return STATUS_OK;
}

void body_close(struct body *b)
{
    *b = (struct body){0};
}

void body_bounds(const struct body *b, double lo[3], double hi[3])
{
    shape_bounds(&b->what->shape, lo, hi);
}

void body_row(const struct body *b, int x, int count, int y, int z, uint8_t *inside)
{
    for (int k = 0; k < count; k++) {
        const double at[3] = {x + k + 0.5, y + 0.5, z + 0.5};
        if (shape_holds(&b->what->shape, at))
            inside[k] = 1;
    }
}

double body_crossing(const struct body *b, const int cell[3], const int c[3])
{
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
