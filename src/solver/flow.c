/* Sums and extrema of the flow; see flow.h. */
#include "solver/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/message.h"

/* Beyond this a velocity or density is no flow any more, and would overflow the sums. */
static const double sane = 1e5;

enum { NO_CELL = -1 };

struct partial {
    struct exact_sum drho, energy, enstrophy;
    double max_square;
    int64_t max_index, bad_index; /* global index of a cell, NO_CELL: none */
};

static int64_t global_index(const struct domain *d, int x, int y, int z)
{
    return ((int64_t)(d->lo[2] + z) * d->cells[1] + (d->lo[1] + y)) * d->cells[0] + (d->lo[0] + x);
}

static void add_cell(struct partial *p, const double flow[4], int64_t index)
{
    const double drho = flow[0];
    const double square = flow[1] * flow[1] + flow[2] * flow[2] + flow[3] * flow[3];
    if (!(fabs(drho) < sane && square < sane)) {
        if (p->bad_index == NO_CELL || index < p->bad_index)
            p->bad_index = index;
        return;
    }
    exact_add(&p->drho, drho);
    exact_add(&p->energy, 0.5 * (1 + drho) * square);
    if (square > p->max_square || p->max_index == NO_CELL ||
        (square == p->max_square && index < p->max_index)) {
        p->max_square = square;
        p->max_index = index;
    }
}

static enum status add_all(struct solver *s, struct partial *p)
{
    const struct box all = domain_all(s->domain);
    struct box piece;
    for (int number = 0; solver_piece(s, &all, number, &piece); number++) {
        const double *flow = solver_flow(s, &piece);
        if (!flow)
            return STATUS_MACHINE;
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, flow += 4)
                    if (view_fluid(&s->view, view_index(&s->view, x, y, z)))
                        add_cell(p, flow, global_index(s->domain, x, y, z));
    }
    return STATUS_OK;
}

/* Velocities of the owned cells and one layer around them (where other ranks own it), plane by
 * plane: three planes at a time, and the layers across cuts, which neighbours sent. */
struct velocities {
    int nx, ny;
    double *plane[3]; /* [ny + 2][nx + 2][3] of z - 1, z, z + 1 */
    double *layer[6]; /* xmin xmax ymin ymax zmin zmax across a cut: [cells of the layer][3] */
};

static struct box face_layer(const struct view *v, int face)
{
    struct box b = {{0, 0, 0}, {v->n[0], v->n[1], v->n[2]}};
    const int a = face / 2;
    b.lo[a] = face % 2 ? v->n[a] - 1 : 0;
    b.hi[a] = b.lo[a] + 1;
    return b;
}

/* Velocities of a box into tightly packed memory. */
static enum status velocities_of(struct solver *s, const struct box *box, double *out)
{
    struct box piece;
    for (int number = 0; solver_piece(s, box, number, &piece); number++) {
        const double *const flow = solver_flow(s, &piece);
        const size_t cells = box_cells(&piece);
        if (!flow)
            return STATUS_MACHINE;
        for (size_t cell = 0; cell < cells; cell++, out += 3)
            memcpy(out, flow + 4 * cell + 1, 3 * sizeof *out);
    }
    return STATUS_OK;
}

/* Send this rank's outermost layers to the neighbours and receive theirs. */
static enum status exchange_layers(struct solver *s, struct velocities *u)
{
    const struct domain *const d = s->domain;
    enum status status = STATUS_OK;
    for (int face = 0; face < 6; face++) {
        /* direction 1 is +x, 2 is -x, ...: what leaves through a face arrives from the opposite one
         */
        const int outward = 2 * (face / 2) + (face % 2 ? 1 : 2);
        const int to = d->neighbour[outward], from = d->neighbour[opposite(outward)];
        if (to == MPI_PROC_NULL && from == MPI_PROC_NULL)
            continue;
        const struct box layer = face_layer(&s->view, face);
        const size_t values = 3 * box_cells(&layer);
        double *const mine = malloc(values * sizeof *mine);
        double *const theirs = malloc(values * sizeof *theirs);
        if (!mine || !theirs) {
            fail_machine("out of memory for the velocities of a layer");
            MPI_Abort(d->comm, STATUS_MACHINE); /* neighbours wait for them */
        }
        if (velocities_of(s, &layer, mine))
            status = STATUS_MACHINE;
        MPI_Sendrecv(mine, (int)values, MPI_DOUBLE, to, outward, theirs, (int)values, MPI_DOUBLE,
                     from, outward, d->comm, MPI_STATUS_IGNORE);
        free(mine);
        u->layer[face ^ 1] = theirs;
    }
    return status;
}

static double *velocity(const struct velocities *u, int which, int x, int y)
{
    return u->plane[which] + 3 * ((size_t)(y + 1) * (size_t)(u->nx + 2) + (size_t)(x + 1));
}

/* Fill plane `which` with the owned or received velocities at height z of the block. */
static enum status fill_plane(struct solver *s, struct velocities *u, int which, int z)
{
    const struct view *const v = &s->view;
    const int n2 = v->n[2];
    const double *from = NULL;
    double *own = NULL;
    if (z < 0 || z >= n2) {
        if (!v->ghost[2])
            z = view_wrap(v, 2, z);
        else
            from = u->layer[z < 0 ? 4 : 5];
        if (v->ghost[2] && !from)
            return STATUS_OK; /* a wall: never looked at */
    }
    if (!from) {
        const struct box plane = {{0, 0, z}, {u->nx, u->ny, z + 1}};
        own = malloc(3 * box_cells(&plane) * sizeof *own);
        if (!own)
            return fail_machine("out of memory for the velocities of a plane");
        if (velocities_of(s, &plane, own)) {
            free(own);
            return STATUS_MACHINE;
        }
        from = own;
    }
    for (int y = 0; y < u->ny; y++)
        memcpy(velocity(u, which, 0, y), from + 3 * (size_t)y * (size_t)u->nx,
               3 * (size_t)u->nx * sizeof *from);
    free(own);
    if (z < 0 || z >= n2)
        return STATUS_OK; /* only differences along z look there */
    for (int y = 0; y < u->ny; y++)
        for (int side = 0; side < 2; side++) {
            const double *const layer = u->layer[side];
            const int beyond = side ? u->nx : -1;
            const double *const value = !v->ghost[0] ? velocity(u, which, side ? 0 : u->nx - 1, y)
                                        : layer
                                            ? layer + 3 * ((size_t)z * (size_t)u->ny + (size_t)y)
                                            : NULL;
            if (value)
                memcpy(velocity(u, which, beyond, y), value, 3 * sizeof *value);
        }
    for (int x = 0; x < u->nx; x++)
        for (int side = 0; side < 2; side++) {
            const double *const layer = u->layer[2 + side];
            const int beyond = side ? u->ny : -1;
            const double *const value = !v->ghost[1] ? velocity(u, which, x, side ? 0 : u->ny - 1)
                                        : layer
                                            ? layer + 3 * ((size_t)z * (size_t)u->nx + (size_t)x)
                                            : NULL;
            if (value)
                memcpy(velocity(u, which, x, beyond), value, 3 * sizeof *value);
        }
    return STATUS_OK;
}

/* |curl u|^2 / 2 in a fluid cell. */
static double half_square_curl(const struct solver *s, const struct velocities *u, int x, int y,
                               int z)
{
    const struct view *const v = &s->view;
    const double *const here = velocity(u, 1, x, y);
    double gradient[3][3]; /* [a][b] = d u_b / d x_a */
    for (int a = 0; a < 3; a++) {
        double side[2][3];
        for (int k = 0; k < 2; k++) {
            const int step = k ? 1 : -1;
            const int to[3] = {x + (a == 0) * step, y + (a == 1) * step, z + (a == 2) * step};
            const uint8_t row = v->tags[view_index(v, to[0], to[1], to[2])] & TAG_ROW;
            const double *const there = velocity(u, a == 2 ? 1 + step : 1, to[0], to[1]);
            for (int b = 0; b < 3; b++)
                side[k][b] =
                    v->rows[row].fluid ? there[b] : 2 * v->rows[row].wall_velocity[b] - here[b];
        }
        for (int b = 0; b < 3; b++)
            gradient[a][b] = 0.5 * (side[1][b] - side[0][b]);
    }
    const double wx = gradient[1][2] - gradient[2][1], wy = gradient[2][0] - gradient[0][2],
                 wz = gradient[0][1] - gradient[1][0];
    return 0.5 * (wx * wx + wy * wy + wz * wz);
}

static enum status add_enstrophy(struct solver *s, struct partial *p)
{
    const struct view *const v = &s->view;
    struct velocities u = {.nx = v->n[0], .ny = v->n[1]};
    enum status status = exchange_layers(s, &u);
    for (int k = 0; k < 3; k++) {
        u.plane[k] = calloc((size_t)(u.nx + 2) * (size_t)(u.ny + 2) * 3, sizeof(double));
        if (!status && !u.plane[k])
            status = fail_machine("out of memory for the velocities of a plane");
    }
    if (!status)
        status = fill_plane(s, &u, 1, -1);
    if (!status)
        status = fill_plane(s, &u, 2, 0);
    for (int z = 0; !status && z < v->n[2]; z++) {
        double *const first = u.plane[0];
        u.plane[0] = u.plane[1];
        u.plane[1] = u.plane[2];
        u.plane[2] = first;
        status = fill_plane(s, &u, 2, z + 1);
        for (int y = 0; !status && y < u.ny; y++)
            for (int x = 0; x < u.nx; x++) {
                if (!view_fluid(v, view_index(v, x, y, z)))
                    continue;
                const double e = half_square_curl(s, &u, x, y, z);
                if (e < sane)
                    exact_add(&p->enstrophy, e);
            }
    }
    for (int k = 0; k < 3; k++)
        free(u.plane[k]);
    for (int face = 0; face < 6; face++)
        free(u.layer[face]);
    return status;
}

static void cell_of(const struct domain *d, int64_t index, int cell[3])
{
    cell[0] = (int)(index % d->cells[0]);
    cell[1] = (int)(index / d->cells[0] % d->cells[1]);
    cell[2] = (int)(index / d->cells[0] / d->cells[1]);
}

enum status flow_measure(struct solver *s, bool enstrophy, struct flow_sums *sums)
{
    const struct domain *const d = s->domain;
    struct partial p = {.max_index = NO_CELL, .bad_index = NO_CELL};
    int status = add_all(s, &p);
    if (enstrophy && add_enstrophy(s, &p))
        status = STATUS_MACHINE;

    int64_t parts[3][3];
    exact_split(&p.drho, parts[0]);
    exact_split(&p.energy, parts[1]);
    exact_split(&p.enstrophy, parts[2]);
    MPI_Allreduce(MPI_IN_PLACE, parts, 9, MPI_INT64_T, MPI_SUM, d->comm);
    p.drho = exact_join(parts[0]);
    p.energy = exact_join(parts[1]);
    p.enstrophy = exact_join(parts[2]);
    double max_square = p.max_square;
    MPI_Allreduce(MPI_IN_PLACE, &max_square, 1, MPI_DOUBLE, MPI_MAX, d->comm);
    int64_t first[2] = {INT64_MAX, p.bad_index == NO_CELL ? INT64_MAX : p.bad_index};
    if (p.max_index != NO_CELL && p.max_square == max_square)
        first[0] = p.max_index;
    MPI_Allreduce(MPI_IN_PLACE, first, 2, MPI_INT64_T, MPI_MIN, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, d->comm);

    *sums = (struct flow_sums){.max_velocity = sqrt(max_square), .finite = first[1] == INT64_MAX};
    sums->mass = (double)d->fluid_cells + exact_value(&p.drho);
    sums->kinetic_energy = exact_value(&p.energy);
    sums->enstrophy = exact_value(&p.enstrophy);
    if (first[0] != INT64_MAX)
        cell_of(d, first[0], sums->max_cell);
    if (!sums->finite)
        cell_of(d, first[1], sums->bad_cell);
    return (enum status)status;
}
