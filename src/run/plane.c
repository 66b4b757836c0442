/* Images of a plane of cells; see plane.h. */
#include "run/plane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "io/image.h"
#include "run/folder.h"
#include "run/output.h"
#include "version.h"

enum { PLANE_TAG = 100 };

/* Axes of the picture, across and up, for a plane across each axis. */
static const int across_axis[3] = {1, 0, 0}, up_axis[3] = {2, 2, 1};

/* Density - 1 and velocity of a whole plane on rank 0. */
struct plane {
    int axis, at, width, height;
    double *flow; /* [height][width][4]; NaN where a cell is not fluid */
};

/* This rank's part of the plane: an empty box if it has none. */
static struct box part_of(const struct domain *d, int axis, int at)
{
    struct box b = domain_all(d);
    b.lo[axis] = at - d->lo[axis];
    b.hi[axis] = b.lo[axis] + 1;
    if (b.lo[axis] < 0 || b.lo[axis] >= d->view.n[axis])
        b.hi[axis] = b.lo[axis];
    return b;
}

static enum status fetch_part(struct solver *s, const struct box *part, double *out)
{
    struct box piece;
    for (int number = 0; solver_piece(s, part, number, &piece); number++) {
        const double *const flow = solver_flow(s, &piece);
        if (!flow)
            return STATUS_MACHINE;
        memcpy(out, flow, 4 * box_cells(&piece) * sizeof *flow);
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, out += 4)
                    if (!view_fluid(&s->view, view_index(&s->view, x, y, z)))
                        out[0] = out[1] = out[2] = out[3] = NAN;
    }
    return STATUS_OK;
}

/* Put a part, cells x fastest, then y, z, in its place. */
static void place_part(struct plane *p, const int lo[3], const int n[3], const double *part)
{
    const int across = across_axis[p->axis], up = up_axis[p->axis];
    int g[3];
    for (g[2] = lo[2]; g[2] < lo[2] + n[2]; g[2]++)
        for (g[1] = lo[1]; g[1] < lo[1] + n[1]; g[1]++)
            for (g[0] = lo[0]; g[0] < lo[0] + n[0]; g[0]++, part += 4)
                memcpy(p->flow + 4 * ((size_t)g[up] * (size_t)p->width + (size_t)g[across]), part,
                       4 * sizeof *part);
}

/* Every rank that has a part sends it to rank 0: where it lies, then its values. */
static enum status gather(struct solver *s, struct plane *p)
{
    const struct domain *const d = s->domain;
    const struct box part = part_of(d, p->axis, p->at);
    const size_t cells = box_cells(&part);
    int where[6], total = 0, has = cells > 0;
    enum status status = STATUS_OK;
    double *const mine = malloc((4 * cells + 1) * sizeof *mine);
    if (!mine) {
        fail_machine("out of memory for a slice of %zu cells", cells);
        MPI_Abort(d->comm, STATUS_MACHINE); /* rank 0 waits for it */
    }
    status = fetch_part(s, &part, mine);
    for (int a = 0; a < 3; a++) {
        where[a] = d->lo[a] + part.lo[a];
        where[3 + a] = part.hi[a] - part.lo[a];
    }
    MPI_Reduce(&has, &total, 1, MPI_INT, MPI_SUM, 0, d->comm);
    if (d->rank != 0) {
        if (has) {
            MPI_Send(where, 6, MPI_INT, 0, PLANE_TAG, d->comm);
            MPI_Send(mine, (int)(4 * cells), MPI_DOUBLE, 0, PLANE_TAG + 1, d->comm);
        }
        free(mine);
        return status;
    }
    p->flow = malloc(4 * (size_t)p->width * (size_t)p->height * sizeof *p->flow);
    if (!p->flow) {
        fail_machine("out of memory for a slice of %d x %d cells", p->width, p->height);
        MPI_Abort(d->comm, STATUS_MACHINE); /* the others wait to send */
    }
    if (has)
        place_part(p, where, where + 3, mine);
    free(mine);
    for (int k = has; k < total; k++) {
        MPI_Status from;
        MPI_Recv(where, 6, MPI_INT, MPI_ANY_SOURCE, PLANE_TAG, d->comm, &from);
        const size_t count = 4 * (size_t)where[3] * (size_t)where[4] * (size_t)where[5];
        double *const theirs = malloc(count * sizeof *theirs);
        if (!theirs) {
            fail_machine("out of memory for a slice");
            MPI_Abort(d->comm, STATUS_MACHINE);
        }
        MPI_Recv(theirs, (int)count, MPI_DOUBLE, from.MPI_SOURCE, PLANE_TAG + 1, d->comm,
                 MPI_STATUS_IGNORE);
        place_part(p, where, where + 3, theirs);
        free(theirs);
    }
    return status;
}

/* Component b of the velocity of the cell (i, j) of the plane, one beyond it perhaps; beyond a wall
 * the value that puts the wall's velocity half-way to the cell (i0, j0). */
static double velocity_at(const struct plane *p, const struct flow_case *c, int i, int j, int i0,
                          int j0, int b)
{
    const int size[2] = {p->width, p->height};
    const int axis[2] = {across_axis[p->axis], up_axis[p->axis]};
    const double here = p->flow[4 * ((size_t)j0 * (size_t)p->width + (size_t)i0) + 1 + (size_t)b];
    int at[2] = {i, j};
    for (int k = 0; k < 2; k++) {
        if (at[k] >= 0 && at[k] < size[k])
            continue;
        const struct case_face *const face = &c->faces[2 * axis[k] + (at[k] >= size[k])];
        if (face->kind != FACE_periodic)
            return 2 * face->velocity[b] - here;
        at[k] = (at[k] + size[k]) % size[k];
    }
    const double there =
        p->flow[4 * ((size_t)at[1] * (size_t)p->width + (size_t)at[0]) + 1 + (size_t)b];
    return isnan(there) ? -here : there;
}

/* The component of curl u along the plane's axis, central differences. */
static double vorticity_at(const struct plane *p, const struct flow_case *c, int i, int j)
{
    const int across = across_axis[p->axis], up = up_axis[p->axis];
    const double du =
        velocity_at(p, c, i, j + 1, i, j, across) - velocity_at(p, c, i, j - 1, i, j, across);
    const double dv = velocity_at(p, c, i + 1, j, i, j, up) - velocity_at(p, c, i - 1, j, i, j, up);
    /* (x, z) seen along y is left-handed */
    return (p->axis == 1 ? -0.5 : 0.5) * (dv - du);
}

/* Value of the image's quantity in one cell, and its unit. */
static double value_at(const struct plane *p, const struct flow_case *c, enum image_quantity of,
                       int i, int j)
{
    const double *const flow = p->flow + 4 * ((size_t)j * (size_t)p->width + (size_t)i);
    const double u = output_velocity_unit(c), rho = c->units.density;
    if (isnan(flow[0]) && isnan(flow[1]))
        return NAN;
    switch (of) {
    case IMAGE_speed:
        return u * sqrt(flow[1] * flow[1] + flow[2] * flow[2] + flow[3] * flow[3]);
    case IMAGE_velocity_x:
        return u * flow[1];
    case IMAGE_velocity_y:
        return u * flow[2];
    case IMAGE_velocity_z:
        return u * flow[3];
    case IMAGE_density:
        return rho * (1 + flow[0]);
    case IMAGE_pressure:
        return rho * u * u * flow[0] / 3;
    case IMAGE_vorticity:
        return u / c->units.dx * vorticity_at(p, c, i, j);
    }
    return NAN;
}

static double unit_of(const struct flow_case *c, enum image_quantity of, const char **name)
{
    const double u = output_velocity_unit(c);
    switch (of) {
    case IMAGE_density:
        *name = "kg/m3";
        return c->units.density;
    case IMAGE_pressure:
        *name = "Pa";
        return c->units.density * u * u;
    case IMAGE_vorticity:
        *name = "1/s";
        return u / c->units.dx;
    default:
        *name = "m/s";
        return u;
    }
}

static enum status draw(const struct plane *p, const struct solver *s, const struct flow_case *c,
                        const struct case_image *image, const char *dir)
{
    static const char *const names[3] = {"x", "y", "z"};
    const size_t cells = (size_t)p->width * (size_t)p->height;
    char path[FOLDER_PATH], file[CASE_NAME + 64], title[160], when[64];
    const char *unit;
    const double scale = unit_of(c, image->of, &unit);
    double *const values = malloc(cells * sizeof *values);
    if (!values)
        return fail_machine("out of memory for an image of %d x %d cells", p->width, p->height);
    for (int j = 0; j < p->height; j++)
        for (int i = 0; i < p->width; i++)
            values[(size_t)j * (size_t)p->width + (size_t)i] = value_at(p, c, image->of, i, j);

    snprintf(file, sizeof file, "images/%s_%010lld.png", image->name, (long long)s->step);
    if (c->units.given)
        snprintf(when, sizeof when, "%g s", (double)s->step * c->units.dt);
    else
        snprintf(when, sizeof when, "step %lld", (long long)s->step);
    snprintf(title, sizeof title, "%s%s%s%s  %s=%d  %s", image_name(image->of),
             c->units.given ? " (" : "", c->units.given ? unit : "", c->units.given ? ")" : "",
             names[p->axis], p->at, when);
    /* White is zero: only for a quantity and a range that have both signs. */
    const bool is_signed = image->of != IMAGE_speed && image->of != IMAGE_density &&
                           !(image->fixed_range && image->range[0] * image->range[1] >= 0);
    const struct image_note notes[] = {{"Software", "tagflow " TAGFLOW_VERSION " " TAGFLOW_COMMIT},
                                       {"Comment", c->resolved}};
    const struct image picture = {
        .width = p->width,
        .height = p->height,
        .values = values,
        .map = is_signed ? COLORMAP_diverging : COLORMAP_sequential,
        .fixed_range = image->fixed_range,
        .range = {image->range[0] * scale, image->range[1] * scale},
        .title = title,
        .across = names[across_axis[p->axis]],
        .up = names[up_axis[p->axis]],
        .notes = 2,
        .note = notes,
    };
    const enum status status = folder_path(path, dir, file)
                                   ? image_write(path, &picture)
                                   : fail_user("the name of the output folder is too long");
    free(values);
    return status;
}

enum status plane_image(struct solver *s, const struct flow_case *c, const struct case_image *image,
                        const char *dir)
{
    struct plane p = {
        .axis = image->axis,
        .at = image->at,
        .width = c->cells[across_axis[image->axis]],
        .height = c->cells[up_axis[image->axis]],
    };
    enum status status = gather(s, &p);
    if (s->domain->rank == 0 && !status)
        status = draw(&p, s, c, image, dir);
    free(p.flow);
    return status;
}
