/* Walls that pump; see pumped.h. */
#include "tags/pumped.h"

#include "boundary.h"
#include "surface.h"

/* Mass that link i of a cell from a wall of this type adds. */
static double link_adds(const struct view *v, const struct tag_row *wall, const int at[3], int i)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    double arm[3], u[3];
    surface_arm(v, wall, at, c[opposite(i)], 0.5, arm);
    surface_velocity(wall, arm, u);
    return 6 * LATTICE_WEIGHT(double, i) * (c[i][0] * u[0] + c[i][1] * u[1] + c[i][2] * u[2]);
}

static void add_cell(const struct view *v, const int at[3], struct exact_sum *sum)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    for (int i = 1; i < Q; i++) {
        const size_t wall = view_index(v, at[0] - c[i][0], at[1] - c[i][1], at[2] - c[i][2]);
        const struct tag_row *const row = &v->rows[v->tags[wall] & TAG_ROW];
        if (!row->fluid && (row->boundary == BOUNDARY_moving || row->boundary == BOUNDARY_surface))
            exact_add(sum, link_adds(v, row, at, i));
    }
}

void pumped_add(const struct domain *d, struct exact_sum *sum)
{
    const struct view *const v = &d->view;
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const int at[3] = {x, y, z};
                const uint8_t tag = v->tags[owned_index(v, x, y, z)];
                if (v->rows[tag & TAG_ROW].fluid && tag & TAG_BESIDE)
                    add_cell(v, at, sum);
            }
}
