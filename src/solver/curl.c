/* curl u by central differences; see curl.h. */
#include "solver/curl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"

static struct box face_layer(const struct view *v, int face)
{
    struct box b = {{0, 0, 0}, {v->n[0], v->n[1], v->n[2]}};
    const int a = face / 2;
    b.lo[a] = face % 2 ? v->n[a] - 1 : 0;
    b.hi[a] = b.lo[a] + 1;
    return b;
}

/* Velocities of a box: rows of it packed, `row` numbers from one row to the next along y; the box
 * is one plane across z, or row is its width. */
static enum status velocities_of(struct solver *s, const struct box *box, size_t row, double *out)
{
    const size_t width = (size_t)(box->hi[0] - box->lo[0]);
    struct box piece;
    struct fetch f;
    const double *flow;
    for (fetch_start(&f, s, KERNEL_flow, box); (flow = fetch_next(&f, &piece));)
        for (size_t rows = box_cells(&piece) / width; rows > 0; rows--, out += row)
            for (size_t x = 0; x < width; x++, flow += 4)
                memcpy(out + 3 * x, flow + 1, 3 * sizeof *out);
    return fetch_end(&f);
}

/* The rank that this one's layer at a face goes to, and the one whose layer comes at that time:
 * direction 1 is +x, 2 is -x, ..: what leaves through a face arrives from the opposite one. */
static int outward_of(int face)
{
    return 2 * (face / 2) + (face % 2 ? 1 : 2);
}

static bool exchanged(const struct domain *d, int face, int *to, int *from)
{
    *to = d->neighbour[outward_of(face)];
    *from = d->neighbour[opposite(outward_of(face))];
    return *to != MPI_PROC_NULL || *from != MPI_PROC_NULL;
}

/* Room for the planes, for the layers that come, and for one that goes. */
static enum status make_room(struct curl *c, double **mine)
{
    const struct domain *const d = c->solver->domain;
    const struct box *const b = &c->box;
    size_t most = 1;
    int to, from;
    bool room = true;
    for (int face = 0; face < 6; face++) {
        if (!exchanged(d, face, &to, &from))
            continue;
        const struct box layer = face_layer(&c->solver->view, face);
        const size_t values = 3 * box_cells(&layer);
        most = values > most ? values : most;
        if (from == MPI_PROC_NULL)
            continue;
        c->layer[face ^ 1] = malloc(values * sizeof(double));
        room = room && c->layer[face ^ 1];
    }
    *mine = malloc(most * sizeof **mine);
    room = room && *mine;
    for (int k = 0; k < 3 && box_cells(b) > 0; k++) {
        c->plane[k] = calloc(3 * c->width * (size_t)(b->hi[1] - b->lo[1] + 2), sizeof(double));
        room = room && c->plane[k];
    }
    return room ? STATUS_OK : fail_machine("out of memory for the velocities of a plane of cells");
}

/* Send this rank's outermost layers to the neighbours and receive theirs. */
static enum status exchange_layers(struct curl *c, double *mine)
{
    struct solver *const s = c->solver;
    enum status status = STATUS_OK;
    int to, from;
    for (int face = 0; face < 6; face++) {
        if (!exchanged(s->domain, face, &to, &from))
            continue;
        const struct box layer = face_layer(&s->view, face);
        const int values = (int)(3 * box_cells(&layer));
        if (to != MPI_PROC_NULL &&
            velocities_of(s, &layer, 3 * (size_t)(layer.hi[0] - layer.lo[0]), mine))
            status = STATUS_MACHINE; /* the neighbour waits nevertheless */
        MPI_Sendrecv(mine, to == MPI_PROC_NULL ? 0 : values, MPI_DOUBLE, to, outward_of(face),
                     c->layer[face ^ 1], from == MPI_PROC_NULL ? 0 : values, MPI_DOUBLE, from,
                     outward_of(face), s->domain->comm, MPI_STATUS_IGNORE);
    }
    return status;
}

enum status curl_start(struct curl *c, struct solver *s, const struct box *box)
{
    double *mine = NULL;
    *c = (struct curl){.solver = s, .box = *box, .width = (size_t)(box->hi[0] - box->lo[0] + 2)};
    enum status status = status_agree(s->domain->comm, make_room(c, &mine));
    if (!status)
        status = status_agree(s->domain->comm, exchange_layers(c, mine));
    free(mine);
    if (status)
        curl_end(c);
    return status;
}

void curl_end(struct curl *c)
{
    for (int k = 0; k < 3; k++)
        free(c->plane[k]);
    for (int face = 0; face < 6; face++)
        free(c->layer[face]);
    *c = (struct curl){0};
}

static double *velocity(const struct curl *c, int which, int x, int y)
{
    return c->plane[which] +
           3 * ((size_t)(y - c->box.lo[1] + 1) * c->width + (size_t)(x - c->box.lo[0] + 1));
}

/* The layer beyond the block into plane `which`: column x = -1 or nx along rows [lo, hi), or
 * row y = -1 or ny along columns [lo, hi). */
static enum status fill_beyond(struct curl *c, int which, int z, int axis, int side)
{
    struct solver *const s = c->solver;
    const struct view *const v = &s->view;
    const int other = 1 - axis, beyond = side ? v->n[axis] : -1;
    const double *const layer = c->layer[2 * axis + side];
    const int lo = c->box.lo[other], hi = c->box.hi[other];
    if (beyond < c->box.lo[axis] - 1 || beyond > c->box.hi[axis])
        return STATUS_OK; /* not beside the box */
    const int from = side ? 0 : v->n[axis] - 1;
    if (!v->ghost[axis] && (from < c->box.lo[axis] || from >= c->box.hi[axis])) {
        struct box strip = {{lo, lo, z}, {hi, hi, z + 1}};
        strip.lo[axis] = from;
        strip.hi[axis] = from + 1;
        return velocities_of(s, &strip, 3 * c->width,
                             axis ? velocity(c, which, lo, beyond)
                                  : velocity(c, which, beyond, lo));
    }
    for (int k = lo; k < hi; k++) {
        const double *value = NULL; /* a wall: never looked at */
        if (!v->ghost[axis])
            value = axis ? velocity(c, which, k, from) : velocity(c, which, from, k);
        else if (layer)
            value = layer + 3 * ((size_t)z * (size_t)v->n[other] + (size_t)k);
        if (value)
            memcpy(axis ? velocity(c, which, k, beyond) : velocity(c, which, beyond, k), value,
                   3 * sizeof *value);
    }
    return STATUS_OK;
}

/* Fill plane `which` with the velocities at height z, which may be one beyond the block. */
static enum status fill_plane(struct curl *c, int which, int z)
{
    struct solver *const s = c->solver;
    const struct view *const v = &s->view;
    struct box owned = c->box; /* and the cells of the block around it */
    /* Only differences along z look at a plane that the box does not reach. */
    const bool around = z >= c->box.lo[2] && z < c->box.hi[2];
    if (z < 0 || z >= v->n[2]) {
        if (v->ghost[2]) {
            const double *const layer = c->layer[z < 0 ? 4 : 5];
            for (int y = owned.lo[1]; layer && y < owned.hi[1]; y++)
                memcpy(velocity(c, which, owned.lo[0], y),
                       layer + 3 * ((size_t)y * (size_t)v->n[0] + (size_t)owned.lo[0]),
                       3 * (size_t)(owned.hi[0] - owned.lo[0]) * sizeof *layer);
            return STATUS_OK; /* without a layer a wall: never looked at */
        }
        z = view_wrap(v, 2, z);
    }
    for (int a = 0; a < 2 && around; a++) {
        owned.lo[a] -= owned.lo[a] > 0;
        owned.hi[a] += owned.hi[a] < v->n[a];
    }
    owned.lo[2] = z;
    owned.hi[2] = z + 1;
    enum status status =
        velocities_of(s, &owned, 3 * c->width, velocity(c, which, owned.lo[0], owned.lo[1]));
    for (int k = 0; k < 4 && around && !status; k++)
        status = fill_beyond(c, which, z, k / 2, k % 2);
    return status;
}

enum status curl_plane(struct curl *c, int z)
{
    enum status status = STATUS_OK;
    assert(z >= c->box.lo[2] && z < c->box.hi[2]);
    if (c->filled && z == c->z)
        return status;
    const bool next = c->filled && z == c->z + 1;
    c->filled = false;
    if (next) {
        double *const first = c->plane[0];
        c->plane[0] = c->plane[1];
        c->plane[1] = c->plane[2];
        c->plane[2] = first;
    } else {
        status = fill_plane(c, 0, z - 1);
        if (!status)
            status = fill_plane(c, 1, z);
    }
    if (!status)
        status = fill_plane(c, 2, z + 1);
    c->z = z;
    c->filled = !status;
    return status;
}

void curl_at(const struct curl *c, int x, int y, double curl[3])
{
    const struct view *const v = &c->solver->view;
    const double *const here = velocity(c, 1, x, y);
    const bool beside = v->tags[view_index(v, x, y, c->z)] & TAG_BESIDE;
    double gradient[3][3]; /* [a][b] = d u_b / d x_a */
    for (int a = 0; a < 3; a++) {
        double side[2][3];
        for (int k = 0; k < 2; k++) {
            const int step = k ? 1 : -1;
            const int to[3] = {x + (a == 0) * step, y + (a == 1) * step, c->z + (a == 2) * step};
            memcpy(side[k], velocity(c, a == 2 ? 1 + step : 1, to[0], to[1]), sizeof side[k]);
            if (!beside)
                continue;
            const uint8_t row = v->tags[view_index(v, to[0], to[1], to[2])] & TAG_ROW;
            for (int b = 0; b < 3 && !v->rows[row].fluid; b++)
                side[k][b] = 2 * v->rows[row].wall_velocity[b] - here[b];
        }
        for (int b = 0; b < 3; b++)
            gradient[a][b] = 0.5 * (side[1][b] - side[0][b]);
    }
    curl[0] = gradient[1][2] - gradient[2][1];
    curl[1] = gradient[2][0] - gradient[0][2];
    curl[2] = gradient[0][1] - gradient[1][0];
}
