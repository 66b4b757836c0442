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

enum {
    AT_ONCE = 4 << 20,
    FLOW = 4,  /* numbers of a cell: density - 1 and velocity */
    SCALAR = 2 /* of a scalar: its value; of a checkpoint first both sums of take_set() */
};

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
    e->scalar_count = 0;
    for (int k = 0; k < found.facts.scalar_count; k++)
        if (found.scalar[k].offset) {
            e->scalar[e->scalar_count].kind = found.facts.scalar[k].kind;
            memcpy(e->scalar[e->scalar_count++].name, found.facts.scalar[k].name, CASE_NAME);
        }
    memcpy(e->cells, found.facts.cells, sizeof e->cells);
    e->stride = found.stride;
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
    bool scalars;           /* values of scalars are needed */
    struct between *axis[3];
    int lo[2], n[2]; /* points kept of a plane, along x and y */
    struct plane {
        int z;                        /* -1: none */
        double *sum;                  /* [y][x][FLOW] */
        double *scalar[CASE_SCALARS]; /* [y][x][SCALAR], relative to the file's reference; NaN: the
                                       * point does not hold it. NULL: not read */
    } plane[2];
    double most[CASE_SCALARS]; /* largest |value|; infinite if one is not finite */
    char *bytes;               /* AT_ONCE bytes, or a line if that is more */
    int rows;                  /* lines of the file read at a time */
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

/* width: numbers of a point in `to`. */
static enum status read_rows(struct reading *r, const struct earlier_array *from, int64_t row,
                             int components, take_fn *take, int kind, int width, double *to)
{
    const size_t length = (size_t)r->e->size[0] * (size_t)components;
    const size_t bytes = length * sample_bytes((enum sample)from->sample);
    for (int y = 0; y < r->n[1]; y += r->rows) {
        const int rows = y + r->rows < r->n[1] ? r->rows : r->n[1] - y;
        const int64_t at = from->offset + (row + r->lo[1] + y) * (int64_t)bytes;
        if (file_read_at(r->fd, r->bytes, (size_t)rows * bytes, at) != 0)
            return fail_machine("cannot read %s: %s", r->path, strerror(errno));
        for (int k = 0; k < rows; k++)
            for (int x = 0; x < r->n[0]; x++) {
                double value[3] = {0, 0, 0};
                const size_t place =
                    (size_t)k * length + (size_t)(r->lo[0] + x) * (size_t)components;
                const size_t point = (size_t)(y + k) * (size_t)r->n[0] + (size_t)x;
                for (int a = 0; a < components; a++)
                    value[a] = sample_value(from->sample, r->bytes, place + (size_t)a);
                take(r, value, kind, to + (size_t)width * point);
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

/* The sum of a scalar's populations, and the sum of those that move. */
static void take_set(const struct reading *r, const double *value, int i, double *to)
{
    (void)r;
    to[0] += value[0];
    if (i > 0)
        to[1] += value[0];
}

static void take_scalar(const struct reading *r, const double *value, int kind, double *to)
{
    (void)r;
    (void)kind;
    to[0] = value[0];
}

static bool is_nothing(const double flow[FLOW])
{
    return flow[0] == 0 && flow[1] == 0 && flow[2] == 0 && flow[3] == 0;
}

/* ---- scalars of a point ---- */

/* The value of a scalar by its enthalpy. A point with a flow is fluid; another one may be a fluid
 * at rest or one of the materials that conduct. Near equilibrium the populations that move sum to
 * 3/4 of the value in all of them: the material whose value is nearest to that counts. other: value
 * of the scalar that it is made from. */
static double value_by_enthalpy(const struct case_facts_scalar *s, const double sums[SCALAR],
                                bool fluid, double other)
{
    const double near = 4 * sums[1] / 3;
    double value =
        (sums[0] + 0.5 * s->source + 0.5 * s->rate * other) / (s->capacity + 0.5 * s->decay);
    for (int k = 0; k < s->solids && !fluid; k++) {
        const double there = (sums[0] + 0.5 * s->solid[k].source) / s->solid[k].capacity;
        if (fabs(there - near) < fabs(value - near))
            value = there;
    }
    return value;
}

/* Turns what was read at point n into values relative to the file's references. Files have a
 * scalar's reference at points that do not hold it: this counts where there is no flow either,
 * unless all bodies conduct the scalar. */
static void take_values(struct reading *r, struct plane *p, size_t n)
{
    const struct earlier *const e = r->e;
    const bool fluid = !is_nothing(p->sum + FLOW * n);
    for (int k = 0; k < e->facts.scalar_count; k++) {
        const struct case_facts_scalar *const s = &e->facts.scalar[k];
        double *const to = p->scalar[k] ? p->scalar[k] + SCALAR * n : NULL;
        if (!to)
            continue;
        const double zero =
            e->scalar[k].sample == SAMPLE_float32 ? (double)(float)s->reference : s->reference;
        const bool empty = e->checkpoint ? to[0] == 0 && to[1] == 0 : to[0] == zero;
        const double *const from = s->made_from < 0 ? NULL : p->scalar[s->made_from];
        const double other = from && !isnan(from[SCALAR * n]) ? from[SCALAR * n] : 0;
        const double value =
            e->checkpoint ? value_by_enthalpy(s, to, fluid, other) : to[0] - s->reference;
        r->most[k] = fmax(r->most[k], isfinite(value) ? fabs(value) : INFINITY);
        to[0] = empty && !fluid && !s->everywhere ? NAN : value;
    }
}

/* The factor on the file's gravity of its buoyancy; values: [scalar], NaN: none. */
static double lift_of(const struct case_facts *facts, const double values[CASE_SCALARS])
{
    double lift = 0;
    for (int k = 0; k < facts->scalar_count; k++)
        if (facts->scalar[k].expansion != 0 && !isnan(values[k]))
            lift -= facts->scalar[k].expansion * values[k];
    return lift;
}

static void values_at(const struct reading *r, const struct plane *p, size_t n,
                      double values[CASE_SCALARS])
{
    for (int k = 0; k < CASE_SCALARS; k++)
        values[k] = k < r->e->facts.scalar_count && p->scalar[k] ? p->scalar[k][SCALAR * n] : NAN;
}

/* Turns momenta into velocities; adds half a step's force. */
static void divide(const struct earlier *e, double lift, double flow[FLOW])
{
    for (int a = 0; a < 3; a++)
        flow[1 + a] =
            flow[1 + a] / (1 + flow[0]) + 0.5 * (e->acceleration[a] + lift * e->facts.gravity[a]);
}

/* ---- planes ---- */

static enum status read_flow(struct reading *r, int64_t z, double *to)
{
    const struct earlier *const e = r->e;
    enum status status = STATUS_OK;
    if (!e->checkpoint) {
        status = read_rows(r, &e->velocity, z * e->size[1], 3, take_velocity, 0, FLOW, to);
        return status ? status
                      : read_rows(r, &e->level, z * e->size[1], 1, take_level, 0, FLOW, to);
    }
    for (int i = 0; i < Q && !status; i++)
        status = read_rows(r, &e->populations, (z * Q + i) * e->size[1], 1, take_population, i,
                           FLOW, to);
    return status;
}

static enum status read_scalar(struct reading *r, int64_t z, const struct earlier_array *from,
                               double *to)
{
    const struct earlier *const e = r->e;
    enum status status = STATUS_OK;
    if (!e->checkpoint)
        return read_rows(r, from, z * e->size[1], 1, take_scalar, 0, SCALAR, to);
    for (int i = 0; i < Q_AXES && !status; i++)
        status = read_rows(r, from, (z * Q_AXES + i) * e->size[1], 1, take_set, i, SCALAR, to);
    return status;
}

static enum status read_plane(struct reading *r, int z, struct plane *to)
{
    const struct earlier *const e = r->e;
    const size_t points = (size_t)r->n[0] * (size_t)r->n[1];
    memset(to->sum, 0, points * FLOW * sizeof *to->sum);
    to->z = z;
    enum status status = read_flow(r, z, to->sum);
    for (int k = 0; k < CASE_SCALARS && !status; k++)
        if (to->scalar[k]) {
            memset(to->scalar[k], 0, points * SCALAR * sizeof *to->scalar[k]);
            status = read_scalar(r, z, &e->scalar[k], to->scalar[k]);
        }
    for (size_t n = 0; n < points && !status; n++) {
        double *const flow = to->sum + FLOW * n, values[CASE_SCALARS];
        take_values(r, to, n);
        if (is_nothing(flow))
            continue;
        values_at(r, to, n, values);
        if (e->checkpoint)
            divide(e, lift_of(&e->facts, values), flow);
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

/* Values of this grid's cells. */
struct filling {
    struct given_flow *flow;
    const int *takes;           /* of each scalar of the file: index of this case's, or -1 */
    double shift[CASE_SCALARS]; /* reference of the file minus reference of this case */
    double most[2]; /* largest |density - 1| and speed, infinite if a value is not finite */
};

/* out: the flow; values: of the file's scalars, NaN where there is none. */
static void interpolate(const struct reading *r, const struct plane *const plane[2],
                        const struct between at[3], double out[FLOW], double values[CASE_SCALARS])
{
    double total = 0, held[CASE_SCALARS] = {0}, sum[CASE_SCALARS] = {0};
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
        const size_t n = y * (size_t)r->n[0] + x;
        const double *const flow = plane[side[2]]->sum + FLOW * n;
        if (r->scalars)
            values_at(r, plane[side[2]], n, values);
        for (int k = 0; k < CASE_SCALARS && r->scalars; k++)
            if (!isnan(values[k])) {
                held[k] += weight;
                sum[k] += weight * values[k];
            }
        if (is_nothing(flow))
            continue;
        total += weight;
        for (int k = 0; k < FLOW; k++)
            out[k] += weight * flow[k];
    }
    for (int k = 0; k < FLOW && total > 0; k++)
        out[k] /= total;
    for (int k = 0; k < CASE_SCALARS; k++)
        values[k] = held[k] > 0 ? sum[k] / held[k] : NAN;
}

/* Sets a cell of this grid. */
static void fill_cell(const struct reading *r, struct filling *to, size_t cell,
                      const struct plane *const plane[2], const struct between at[3])
{
    struct given_flow *const given = to->flow;
    double *const flow = given->value + FLOW * cell, values[CASE_SCALARS];
    interpolate(r, plane, at, flow, values);
    const double speed = sqrt(flow[1] * flow[1] + flow[2] * flow[2] + flow[3] * flow[3]);
    to->most[0] = fmax(to->most[0], isfinite(flow[0]) ? fabs(flow[0]) : INFINITY);
    to->most[1] = fmax(to->most[1], isfinite(speed) ? speed : INFINITY);
    for (int k = 0; k < r->e->facts.scalar_count; k++)
        if (to->takes[k] >= 0)
            given->scalar[to->takes[k]][cell] = values[k] + to->shift[k];
    if (given->lift)
        given->lift[cell] = lift_of(&r->e->facts, values);
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

static bool room_for_plane(const struct reading *r, struct plane *p)
{
    const size_t points = (size_t)r->n[0] * (size_t)r->n[1];
    bool good = true;
    p->z = -1;
    p->sum = malloc(points * FLOW * sizeof *p->sum);
    for (int k = 0; k < CASE_SCALARS && r->scalars; k++)
        if (r->e->scalar[k].offset) {
            p->scalar[k] = malloc(points * SCALAR * sizeof *p->scalar[k]);
            good = good && p->scalar[k];
        }
    return good && p->sum;
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
    const bool room = room_for_plane(r, &r->plane[0]) && room_for_plane(r, &r->plane[1]);
    if (!r->bytes || !room)
        return fail_machine("out of memory to read %s", r->path);
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
    return r->fd < 0 ? fail_machine("cannot open %s: %s", r->path, strerror(errno)) : STATUS_OK;
}

static void finish(struct reading *r)
{
    if (r->fd >= 0)
        close(r->fd);
    free(r->bytes);
    for (int p = 0; p < 2; p++) {
        free(r->plane[p].sum);
        for (int k = 0; k < CASE_SCALARS; k++)
            free(r->plane[p].scalar[k]);
    }
    for (int a = 0; a < 3; a++)
        free(r->axis[a]);
}

/* Interpolates this rank's block. */
static enum status fill(struct reading *r, const int n[3], struct filling *to)
{
    const struct plane *plane[2] = {NULL, NULL};
    size_t cell = 0;
    for (int z = 0; z < n[2] + 2; z++) {
        const struct between *const at = &r->axis[2][z];
        enum status status = get_plane(r, at->point[0], NULL, &plane[0]);
        plane[1] = plane[0];
        if (!status && at->point[1] != at->point[0] && at->weight > 0)
            status = get_plane(r, at->point[1], plane[0], &plane[1]);
        if (status)
            return status;
        for (int y = 0; y < n[1] + 2; y++)
            for (int x = 0; x < n[0] + 2; x++)
                fill_cell(r, to, cell++, plane,
                          (struct between[3]){r->axis[0][x], r->axis[1][y], *at});
    }
    return STATUS_OK;
}

static enum status check_most(const char *path, double most[2], MPI_Comm comm)
{
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, comm);
    if (most[0] <= most_density && most[1] <= most_velocity)
        return STATUS_OK;
    return fail_user("initial.from: %s would begin with densities as far as %.3g from 1 and "
                     "velocities up to %.3g in lattice units (at most %g and %g; take a smaller "
                     "units.dt)",
                     path, most[0], most[1], most_density, most_velocity);
}

static enum status check_scalars(struct reading *r, MPI_Comm comm)
{
    MPI_Allreduce(MPI_IN_PLACE, r->most, CASE_SCALARS, MPI_DOUBLE, MPI_MAX, comm);
    for (int k = 0; k < r->e->facts.scalar_count; k++)
        if (!(r->most[k] <= SCALAR_MAX))
            return fail_user("initial.from: %s has values of %s as far as %.3g from their "
                             "reference (at most %g)",
                             r->path, r->e->facts.scalar[k].name, r->most[k], SCALAR_MAX);
    return STATUS_OK;
}

/* Ratio of the velocity units. Pressure over density scales with its square. */
static double velocity_ratio(const struct case_units *then, const struct case_units *now)
{
    return then->given && now->given ? (then->dx / then->dt) / (now->dx / now->dt) : 1;
}

/* ---- buoyancy ---- */

/* An acceleration of the file along an axis, whose pressure this grid has, in this case's units.
 * Along a periodic axis the pressure balances nothing. */
static double gravity_then(const struct reading *r, const struct flow_case *c, int axis)
{
    const struct case_facts *const then = &r->e->facts;
    const double apart = (double)then->cells[axis] / c->cells[axis];
    return then->periodic[axis] ? 0 : then->gravity[axis] * r->level * apart;
}

static bool is_same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Does the pressure of the file fit this case's buoyancy? It does if all scalars that make buoyancy
 * come from the file and make the same. */
static bool pressure_fits(const struct reading *r, const struct flow_case *c, const int *takes,
                          const double *shift)
{
    const struct case_facts *const then = &r->e->facts;
    bool taken[CASE_SCALARS] = {false}, fits = true;
    for (int axis = 0; axis < 3; axis++) {
        const double now = c->gravity[axis], before = gravity_then(r, c, axis);
        if (c->faces[2 * axis].kind == FACE_periodic)
            continue;
        for (int k = 0; k < then->scalar_count; k++) {
            const struct case_scalar *const s = takes[k] < 0 ? NULL : &c->scalars[takes[k]];
            const double lift = s ? s->expansion * now : 0;
            fits = fits && is_same(lift, then->scalar[k].expansion * before) &&
                   (lift == 0 || shift[k] == 0);
            if (s)
                taken[takes[k]] = true;
        }
        for (int k = 0; k < c->scalar_count; k++)
            fits = fits && (taken[k] || c->scalars[k].expansion * now == 0);
    }
    return fits;
}

/* A scalar that made buoyancy then and whose values the file does not hold; NULL: none. */
static const char *unknown_lift(const struct earlier *e)
{
    const double *const g = e->facts.gravity;
    for (int k = 0; k < e->facts.scalar_count; k++)
        if (e->facts.scalar[k].expansion != 0 && !e->scalar[k].offset &&
            (g[0] != 0 || g[1] != 0 || g[2] != 0))
            return e->facts.scalar[k].name;
    return NULL;
}

/* ---- loading ---- */

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

/* Which scalar of this case takes the values of each of the file's: takes[], -1: none. */
static enum status match_scalars(const struct reading *r, const struct flow_case *c,
                                 int takes[CASE_SCALARS], double shift[CASE_SCALARS])
{
    const struct case_facts *const then = &r->e->facts;
    int found = 0, wanted = 0;
    for (int k = 0; k < CASE_SCALARS; k++) {
        takes[k] = -1;
        shift[k] = 0;
    }
    for (int i = 0; i < c->scalar_count; i++) {
        wanted += c->scalars[i].initial.earlier;
        for (int k = 0; k < then->scalar_count; k++)
            if (c->scalars[i].initial.earlier && r->e->scalar[k].offset &&
                then->scalar[k].kind == (int)c->scalars[i].kind &&
                !strcmp(then->scalar[k].name, c->scalars[i].name)) {
                takes[k] = i;
                shift[k] = then->scalar[k].reference - c->scalars[i].reference;
                found++;
            }
    }
    return found == wanted ? STATUS_OK
                           : fail_user("initial.from: %s has other scalars than before: it has "
                                       "changed",
                                       r->path);
}

/* Room for the block: the flow, the scalars that are taken, and the earlier buoyancy if `lift`. */
static enum status room_for_cells(struct given_flow *flow, const int *takes, bool lift)
{
    const size_t cells = (size_t)flow->n[0] * (size_t)flow->n[1] * (size_t)flow->n[2];
    int numbers = FLOW;
    flow->value = malloc(cells * FLOW * sizeof *flow->value);
    bool good = flow->value;
    for (int k = 0; k < CASE_SCALARS; k++)
        if (takes[k] >= 0) {
            double *const to = malloc(cells * sizeof *to);
            flow->scalar[takes[k]] = to;
            good = good && to;
            numbers++;
        }
    if (lift) {
        flow->lift = malloc(cells * sizeof *flow->lift);
        good = good && flow->lift;
        numbers++;
    }
    return good ? STATUS_OK
                : fail_machine("out of memory: %.3g GB for the initial flow (use more ranks or "
                               "nodes)",
                               1e-9 * (double)cells * numbers * sizeof(double));
}

/* A scalar that is taken from a checkpoint whose cells at rest may be of materials that differ in
 * more than the value; NULL: none. */
static const char *guessed_scalar(const struct earlier *e, const int takes[CASE_SCALARS])
{
    const char *found = NULL;
    for (int k = 0; k < e->facts.scalar_count && e->checkpoint; k++) {
        const struct case_facts_scalar *const s = &e->facts.scalar[k];
        for (int i = 0; i < s->solids && takes[k] >= 0; i++)
            if (s->solid[i].capacity != s->capacity || s->solid[i].source != s->source)
                found = s->name;
    }
    return found;
}

/* Warns of values that the file does not hold. */
static void warn_unknown(const struct earlier *e, const struct flow_case *c, const char *unknown,
                         const int takes[CASE_SCALARS])
{
    const char *const path = c->initial.from.file, *const guessed = guessed_scalar(e, takes);
    if (unknown && !c->initial.level && c->initial.relax == 0)
        warn("initial_pressure",
             "initial.from: the pressure in %s balances a buoyancy by %s, whose values the file "
             "does not hold: it may not fit, and sound runs through the box (take a checkpoint, or "
             "initial.relax)",
             path, unknown);
    if (guessed)
        warn("initial_materials",
             "initial.from: a checkpoint does not tell which material conducts %s in a cell; where "
             "%s changes fast, in space or time, values in bodies may be wrong by some per cent of "
             "its range (take a snapshot that has %s)",
             guessed, guessed, guessed);
}

/* Interpolates this rank's block of a level. */
static enum status load_level(const struct earlier *e, const struct grid *g, int l,
                              struct given_flow *flow)
{
    const struct flow_case *const c = g->level[l].c;
    const struct domain *const d = &g->level[l].domain;
    const int *const n = d->view.n;
    int takes[CASE_SCALARS];
    *flow = (struct given_flow){.n = {n[0] + 2, n[1] + 2, n[2] + 2}};
    struct reading r = {.e = e, .path = g->level->c->initial.from.file, .fd = -1};
    struct filling to = {.flow = flow, .takes = takes};
    r.velocity = velocity_ratio(&e->facts.units, &c->units);
    r.level = r.velocity * r.velocity;
    /* level 0 knows which scalars come from the file; all levels have them in the same order */
    enum status status = match_scalars(&r, g->level->c, takes, to.shift);
    if (status)
        return status;
    const bool fits = pressure_fits(&r, c, takes, to.shift);
    const char *const unknown = fits ? NULL : unknown_lift(e);
    for (int k = 0; k < e->facts.scalar_count; k++)
        r.scalars = r.scalars || takes[k] >= 0 || e->facts.scalar[k].expansion != 0;
    for (int a = 0; a < 3; a++)
        flow->gravity[a] = gravity_then(&r, c, a);
    status = room_for_cells(flow, takes, !fits && !unknown);
    if (!status)
        status = prepare(&r, c, d);
    if (!status)
        status = fill(&r, n, &to);
    finish(&r);
    status = status_agree(d->comm, status);
    if (!status)
        status = check_most(r.path, to.most, d->comm);
    if (!status)
        status = check_scalars(&r, d->comm);
    if (!status && l == 0) {
        say_origin(e, r.path, r.velocity);
        warn_unknown(e, c, unknown, takes);
    }
    return status;
}

enum status earlier_load(const struct grid *g, struct given_flow flow[])
{
    const struct flow_case *const c = g->level->c;
    const struct domain *const d = &g->level->domain;
    char reason[CASE_REASON];
    struct earlier e;
    enum status status = earlier_open(&e, d->comm, c->initial.from.file, true, reason);
    if (status)
        return refuse(status, c->initial.from.file, reason, d->rank);
    for (int l = 0; l < g->levels && !status; l++)
        status = load_level(&e, g, l, &flow[l]);
    if (status)
        earlier_free(flow);
    return status;
}

void earlier_free(struct given_flow flow[])
{
    for (int l = 0; l < LEVELS; l++) {
        free(flow[l].value);
        free(flow[l].lift);
        for (int k = 0; k < CASE_SCALARS; k++)
            free(flow[l].scalar[k]);
        flow[l] = (struct given_flow){.value = NULL};
    }
}
