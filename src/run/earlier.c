/* An earlier result, interpolated to this grid; see earlier.h.
 *
 * The flow of a cell depends only on its position in the box and on the file, so that every cut
 * gives the same bits. Each rank reads the planes that its block needs and keeps two of them. */
#include "run/earlier.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "io/h5file.h"
#include "lattice.h"
#include "run/earlier_open.h"
#include "stored.h"

/* Largest |density - 1| and speed of an initial flow. */
static const double most_density = 0.5, most_velocity = 0.5;

enum { AT_ONCE = 4 << 20, FLOW = 4 /* numbers of a cell: density - 1 and velocity */ };

enum status earlier_header(void *context, const char *path, struct case_earlier *e,
                           char reason[CASE_REASON])
{
    MPI_Comm *const comm = context;
    struct earlier found;
    *reason = '\0';
    const enum status status = earlier_open(&found, *comm, path, false, reason);
    if (status)
        return status;
    char *const whole = realpath(path, NULL);
    e->file = whole ? whole : strdup(path);
    e->checksum = found.checksum;
    memcpy(e->cells, found.facts.cells, sizeof e->cells);
    int failed = !e->file;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, *comm);
    if (!failed)
        return STATUS_OK;
    snprintf(reason, CASE_REASON, ": no memory for the name of a file");
    return STATUS_MACHINE;
}

/* ---- position of each cell of the block, and of one layer around it, between the file's points
 * ---- */

struct between {
    int point[2];
    double weight; /* of the second point */
};

/* Fills `out` along one axis, for cells -1 .. n; lo: the block's first cell. */
static void place_cells(const struct earlier *e, const struct flow_case *c, int axis, int lo, int n,
                        struct between *out)
{
    const bool periodic = c->faces[2 * axis].kind == FACE_periodic;
    const int cells = c->cells[axis], then = e->facts.cells[axis];
    const int first = e->lo[axis], last = e->hi[axis] - 1;
    /* cells from the last point to the first one, its periodic neighbour */
    const double around = then - (double)last * e->stride;
    const bool wraps = periodic && first == 0 && last > 0 && last == (then - 1) / e->stride;
    for (int k = -1; k <= n; k++) {
        int g = lo + k;
        if (periodic)
            g = (g + cells) % cells;
        g = g < 0 ? 0 : g >= cells ? cells - 1 : g;
        const double at = (g + 0.5) * then / cells - 0.5; /* in cells of the file, 0: the first */
        const double point = floor(at / e->stride);
        struct between *const b = &out[k + 1];
        *b = (struct between){{(int)point, (int)point + 1}, at / e->stride - point};
        if (wraps && at < 0)
            *b = (struct between){{last, 0}, (at + around) / around};
        else if (wraps && point >= last)
            *b = (struct between){{last, 0}, (at - (double)last * e->stride) / around};
        else if (point < first)
            *b = (struct between){{first, first}, 0};
        else if (point >= last)
            *b = (struct between){{last, last}, 0};
    }
}

/* ---- planes of the file ---- */

struct reading {
    const struct earlier *e;
    const char *path;
    int fd;
    double velocity, level; /* factors from the file's lattice units to this case's */
    struct between *axis[3];
    int lo[2], n[2]; /* points kept of a plane, along x and y */
    struct plane {
        int z;       /* -1: none */
        double *sum; /* [y][x][FLOW] */
    } plane[2];
    char *bytes; /* AT_ONCE bytes, or a line if that is more */
    int rows;    /* lines of the file read at a time */
};

static double sample_value(int sample, const char *bytes, size_t place)
{
    struct half half;
    switch (sample) {
    case SAMPLE_float64:
        return ((const double *)(const void *)bytes)[place];
    case SAMPLE_float32:
        return (double)((const float *)(const void *)bytes)[place];
    default:
        memcpy(&half, bytes + 2 * place, 2);
        return (double)half_float(half);
    }
}

/* Stores one point of an array into `to`. */
typedef void take_fn(const struct reading *r, const double *value, int kind, double *to);

static enum status read_rows(struct reading *r, const struct earlier_array *from, int64_t row,
                             int components, take_fn *take, int kind, double *to)
{
    const size_t width = (size_t)r->e->size[0] * (size_t)components;
    const size_t bytes = width * sample_bytes((enum sample)from->sample);
    for (int y = 0; y < r->n[1]; y += r->rows) {
        const int rows = y + r->rows < r->n[1] ? r->rows : r->n[1] - y;
        const int64_t at = from->offset + (row + r->lo[1] + y) * (int64_t)bytes;
        if (file_read_at(r->fd, r->bytes, (size_t)rows * bytes, at) != 0)
            return fail_machine("cannot read %s: %s", r->path, strerror(errno));
        for (int k = 0; k < rows; k++)
            for (int x = 0; x < r->n[0]; x++) {
                double value[3] = {0, 0, 0};
                const size_t place =
                    (size_t)k * width + (size_t)(r->lo[0] + x) * (size_t)components;
                for (int a = 0; a < components; a++)
                    value[a] = sample_value(from->sample, r->bytes, place + (size_t)a);
                take(r, value, kind, to + FLOW * ((size_t)(y + k) * (size_t)r->n[0] + (size_t)x));
            }
        watchdog_progress();
    }
    return STATUS_OK;
}

static void take_population(const struct reading *r, const double *value, int i, double *to)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const double f = value[0] / r->e->scale;
    to[0] += f;
    for (int a = 0; a < 3; a++)
        to[1 + a] += c[i][a] * f;
}

static void take_velocity(const struct reading *r, const double *value, int kind, double *to)
{
    (void)kind;
    for (int a = 0; a < 3; a++)
        to[1 + a] = value[a] * r->e->velocity_unit;
}

static void take_level(const struct reading *r, const double *value, int kind, double *to)
{
    (void)kind;
    to[0] = (value[0] - r->e->level_zero) * r->e->level_unit;
}

static bool is_nothing(const double flow[FLOW])
{
    return flow[0] == 0 && flow[1] == 0 && flow[2] == 0 && flow[3] == 0;
}

/* Turns momenta into velocities; adds half a step's force. */
static void divide(const struct earlier *e, double flow[FLOW])
{
    for (int a = 0; a < 3; a++)
        flow[1 + a] = flow[1 + a] / (1 + flow[0]) + 0.5 * e->acceleration[a];
}

static enum status read_plane(struct reading *r, int z, struct plane *to)
{
    const struct earlier *const e = r->e;
    const size_t points = (size_t)r->n[0] * (size_t)r->n[1];
    enum status status = STATUS_OK;
    memset(to->sum, 0, points * FLOW * sizeof *to->sum);
    to->z = z;
    if (e->checkpoint)
        for (int i = 0; i < Q && !status; i++)
            status = read_rows(r, &e->populations, ((int64_t)z * Q + i) * e->size[1], 1,
                               take_population, i, to->sum);
    else {
        status = read_rows(r, &e->velocity, (int64_t)z * e->size[1], 3, take_velocity, 0, to->sum);
        if (!status)
            status = read_rows(r, &e->level, (int64_t)z * e->size[1], 1, take_level, 0, to->sum);
    }
    for (size_t n = 0; n < points; n++) {
        double *const flow = to->sum + FLOW * n;
        if (is_nothing(flow))
            continue;
        if (e->checkpoint)
            divide(e, flow);
        flow[0] *= r->level;
        for (int a = 0; a < 3; a++)
            flow[1 + a] *= r->velocity;
    }
    return status;
}

/* Returns plane z. If neither buffer holds it, reads it into the one that is not `other`. */
static enum status get_plane(struct reading *r, int z, const struct plane *other,
                             const struct plane **plane)
{
    struct plane *to = &r->plane[0] == other ? &r->plane[1] : &r->plane[0];
    for (int k = 0; k < 2; k++)
        if (r->plane[k].z == z) {
            *plane = &r->plane[k];
            return STATUS_OK;
        }
    *plane = to;
    return read_plane(r, z, to);
}

/* ---- this grid ---- */

static void interpolate(const struct reading *r, const struct plane *const plane[2],
                        const struct between at[3], double out[FLOW])
{
    double total = 0;
    for (int k = 0; k < FLOW; k++)
        out[k] = 0;
    for (int corner = 0; corner < 8; corner++) {
        const int side[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        double weight = 1;
        for (int a = 0; a < 3; a++)
            weight *= side[a] ? at[a].weight : 1 - at[a].weight;
        if (weight == 0)
            continue;
        const size_t x = (size_t)(at[0].point[side[0]] - r->lo[0]);
        const size_t y = (size_t)(at[1].point[side[1]] - r->lo[1]);
        const double *const flow = plane[side[2]]->sum + FLOW * (y * (size_t)r->n[0] + x);
        if (is_nothing(flow))
            continue;
        total += weight;
        for (int k = 0; k < FLOW; k++)
            out[k] += weight * flow[k];
    }
    for (int k = 0; k < FLOW && total > 0; k++)
        out[k] /= total;
}

/* Lowest point and number of the points used along an axis. */
static void range_of(const struct between *b, int count, int *lo, int *n)
{
    int low = b[0].point[0], high = low;
    for (int k = 0; k < 2 * count; k++) {
        const int point = b[k / 2].point[k % 2];
        low = point < low ? point : low;
        high = point > high ? point : high;
    }
    *lo = low;
    *n = high - low + 1;
}

static enum status prepare(struct reading *r, const struct flow_case *c, const struct domain *d)
{
    const struct earlier *const e = r->e;
    const size_t row = (size_t)e->size[0] * 3 * sizeof(double);
    const int *const n = d->view.n;
    for (int a = 0; a < 3; a++) {
        r->axis[a] = calloc((size_t)n[a] + 2, sizeof *r->axis[a]);
        if (!r->axis[a])
            return fail_machine("out of memory for the initial flow");
        place_cells(e, c, a, d->lo[a], n[a], r->axis[a]);
        if (a < 2)
            range_of(r->axis[a], n[a] + 2, &r->lo[a], &r->n[a]);
    }
    r->rows = row < AT_ONCE ? (int)(AT_ONCE / row) : 1;
    r->bytes = malloc(row * (size_t)r->rows);
    for (int k = 0; k < 2; k++) {
        r->plane[k].z = -1;
        r->plane[k].sum = malloc((size_t)r->n[0] * (size_t)r->n[1] * FLOW * sizeof(double));
    }
    if (!r->bytes || !r->plane[0].sum || !r->plane[1].sum)
        return fail_machine("out of memory to read %s", r->path);
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
    return r->fd < 0 ? fail_machine("cannot open %s: %s", r->path, strerror(errno)) : STATUS_OK;
}

static void finish(struct reading *r)
{
    if (r->fd >= 0)
        close(r->fd);
    free(r->bytes);
    for (int k = 0; k < 2; k++)
        free(r->plane[k].sum);
    for (int a = 0; a < 3; a++)
        free(r->axis[a]);
}

/* Interpolates this rank's block; most[2]: the largest |density - 1| and speed, infinite if a value
 * is not finite. */
static enum status fill(struct reading *r, const int n[3], double *to, double most[2])
{
    const struct plane *plane[2] = {NULL, NULL};
    for (int z = 0; z < n[2] + 2; z++) {
        const struct between *const at = &r->axis[2][z];
        enum status status = get_plane(r, at->point[0], NULL, &plane[0]);
        plane[1] = plane[0];
        if (!status && at->point[1] != at->point[0] && at->weight > 0)
            status = get_plane(r, at->point[1], plane[0], &plane[1]);
        if (status)
            return status;
        for (int y = 0; y < n[1] + 2; y++)
            for (int x = 0; x < n[0] + 2; x++, to += FLOW) {
                interpolate(r, plane, (struct between[3]){r->axis[0][x], r->axis[1][y], *at}, to);
                const double speed = sqrt(to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
                most[0] = fmax(most[0], isfinite(to[0]) ? fabs(to[0]) : INFINITY);
                most[1] = fmax(most[1], isfinite(speed) ? speed : INFINITY);
            }
    }
    return STATUS_OK;
}

static enum status check_most(const struct flow_case *c, double most[2], MPI_Comm comm)
{
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, comm);
    if (most[0] <= most_density && most[1] <= most_velocity)
        return STATUS_OK;
    return fail_user("initial.from: %s would begin with densities as far as %.3g from 1 and "
                     "velocities up to %.3g in lattice units (at most %g and %g; take a smaller "
                     "units.dt)",
                     c->initial.from.file, most[0], most[1], most_density, most_velocity);
}

/* Ratio of the velocity units. Pressure over density scales with its square. */
static double velocity_ratio(const struct case_units *then, const struct case_units *now)
{
    return then->given && now->given ? (then->dx / then->dt) / (now->dx / now->dt) : 1;
}

static void say_origin(const struct earlier *e, const char *path, double velocity)
{
    char scaled[80] = "";
    if (velocity != 1)
        snprintf(scaled, sizeof scaled, "; velocities times %.6g, the same in m/s", velocity);
    say("initial flow: step %lld of %s, %d x %d x %d cells%s", (long long)e->step, path,
        e->facts.cells[0], e->facts.cells[1], e->facts.cells[2], scaled);
}

static enum status refuse(enum status status, const char *path, const char *reason, int rank)
{
    if (status == STATUS_USAGE)
        return fail_user("initial.from: %s%s", path, reason);
    if (status == STATUS_STOPPED)
        say("initial.from: %s%s; nothing was written: start again", path, reason);
    else if (rank == 0)
        fail_machine("initial.from: %s%s", path, reason);
    return status;
}

enum status earlier_load(const struct flow_case *c, const struct domain *d, struct given_flow *flow)
{
    const int *const n = d->view.n;
    const size_t cells = ((size_t)n[0] + 2) * ((size_t)n[1] + 2) * ((size_t)n[2] + 2);
    const char *const path = c->initial.from.file;
    char reason[CASE_REASON];
    struct earlier e;
    *flow = (struct given_flow){.n = {n[0] + 2, n[1] + 2, n[2] + 2}};
    enum status status = earlier_open(&e, d->comm, path, true, reason);
    if (status)
        return refuse(status, path, reason, d->rank);
    struct reading r = {.e = &e, .path = path, .fd = -1};
    double most[2] = {0, 0};
    r.velocity = velocity_ratio(&e.facts.units, &c->units);
    r.level = r.velocity * r.velocity;
    flow->value = malloc(cells * FLOW * sizeof *flow->value);
    status = flow->value ? prepare(&r, c, d)
                         : fail_machine("out of memory: %.3g GB for the initial flow "
                                        "(use more ranks or nodes)",
                                        1e-9 * (double)cells * FLOW * sizeof(double));
    if (!status)
        status = fill(&r, n, flow->value, most);
    finish(&r);
    status = status_agree(d->comm, status);
    if (!status)
        status = check_most(c, most, d->comm);
    if (status)
        earlier_free(flow);
    else
        say_origin(&e, path, r.velocity);
    if (!status && c->scalar_count)
        say("scalars begin with the initial values of the case: initial.from gives the flow alone");
    return status;
}

void earlier_free(struct given_flow *flow)
{
    free(flow->value);
    *flow = (struct given_flow){.value = NULL};
}
