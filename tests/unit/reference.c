/* Two-lattice D3Q19 on the whole box; see reference.h. */
#include "reference.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/transport.h"

/* 0 rest; 1..6 = +x -x +y -y +z -z; then the diagonals, each followed by its opposite. */
static const signed char velocity[19][3] = {
    {0, 0, 0},                                          /* 0 */
    {+1, 0, 0},  {-1, 0, 0},  {0, +1, 0},  {0, -1, 0},  /* 1 .. 4 */
    {0, 0, +1},  {0, 0, -1},                            /* 5, 6 */
    {+1, +1, 0}, {-1, -1, 0}, {+1, 0, +1}, {-1, 0, -1}, /* 7 .. 10 */
    {0, +1, +1}, {0, -1, -1}, {+1, -1, 0}, {-1, +1, 0}, /* 11 .. 14 */
    {+1, 0, -1}, {-1, 0, +1}, {0, +1, -1}, {0, -1, +1}, /* 15 .. 18 */
};

int reference_velocity(int i, int axis)
{
    return velocity[i][axis];
}

int reference_opposite(int i)
{
    for (int j = 0; j < 19; j++)
        if (velocity[j][0] == -velocity[i][0] && velocity[j][1] == -velocity[i][1] &&
            velocity[j][2] == -velocity[i][2])
            return j;
    return -1;
}

struct flow_case reference_case(int nx, int ny, int nz)
{
    struct flow_case c = {.name = "reference", .cells = {nx, ny, nz}};
    c.units.dx = c.units.dt = c.units.density = 1;
    c.fluid.viscosity = 0.05;
    c.solver.magic = 3.0 / 16;
    c.solver.storage = TAGFLOW_STORAGE == 64 ? PRECISION_fp64 : PRECISION_fp32;
    c.solver.arithmetic = TAGFLOW_ARITHMETIC == 64 ? PRECISION_fp64 : PRECISION_fp32;
    c.run.threads = 1;
    return c;
}

void reference_faces(struct flow_case *c, const char *letters)
{
    static const double speed[2][6] = {{0.05, -0.07, 0.03, 0.1, -0.04, 0.06},
                                       {-0.02, 0.08, 0.09, -0.05, 0.07, 0.01}};
    for (int face = 0; face < 6; face++) {
        const int first = face / 2 == 0 ? 1 : 0, second = face / 2 == 2 ? 1 : 2;
        struct case_face *const f = &c->faces[face];
        *f = (struct case_face){.kind = letters[face] == 'p' ? FACE_periodic : FACE_wall};
        if (letters[face] == 'a' || letters[face] == 'c')
            f->velocity[first] = speed[0][face];
        if (letters[face] == 'b' || letters[face] == 'c')
            f->velocity[second] = speed[1][face];
    }
}

uint64_t reference_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

uint64_t reference_random(uint64_t *state)
{
    return reference_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

double reference_uniform(uint64_t *state)
{
    return (double)(int64_t)reference_random(state) * 0x1p-63;
}

static void *need(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    if (!memory)
        abort();
    return memory;
}

const struct view reference_still = {.signal = {1}};

void reference_create(struct reference *r, const struct flow_case *c)
{
    const double tau = 3 * c->fluid.viscosity + 0.5;
    *r = (struct reference){.rows = REFERENCE_ROWS};
    r->count = 1;
    for (int a = 0; a < 3; a++) {
        r->cells[a] = c->cells[a];
        r->periodic[a] = c->faces[2 * a].kind == FACE_periodic;
        r->count *= (size_t)c->cells[a];
    }
    for (int face = 0; face < 6; face++)
        memcpy(r->face_velocity[face], c->faces[face].velocity, sizeof r->face_velocity[face]);
    struct tag_row *const fluid = &r->row[TAG_FLUID];
    fluid->fluid = 1;
    fluid->collision = (uint8_t)c->solver.collision;
    fluid->omega_even = 1 / tau;
    fluid->omega_odd = 1 / (c->solver.magic / (tau - 0.5) + 0.5);
    for (int a = 0; a < 3; a++) {
        fluid->acceleration[a] = c->acceleration[a];
        if (c->acceleration[a] != 0)
            fluid->forced = 1;
    }
    r->row[TAG_WALL].boundary = BOUNDARY_halfway;
    r->tag = need(r->count, 1);
    memset(r->tag, TAG_FLUID, r->count);
    r->now = need(19 * r->count, sizeof *r->now);
    r->next = need(19 * r->count, sizeof *r->next);
}

void reference_destroy(struct reference *r)
{
    free(r->tag);
    free(r->now);
    free(r->next);
    *r = (struct reference){0};
}

uint8_t reference_row(struct reference *r, struct tag_row row)
{
    r->row[r->rows] = row;
    return (uint8_t)r->rows++;
}

size_t reference_cell(const struct reference *r, int x, int y, int z)
{
    return ((size_t)z * (size_t)r->cells[1] + (size_t)y) * (size_t)r->cells[0] + (size_t)x;
}

void reference_fill(struct reference *r, uint64_t seed)
{
    for (size_t n = 0; n < r->count; n++) {
        const bool fluid = r->row[r->tag[n]].fluid;
        double u[3];
        for (int a = 0; a < 3; a++)
            u[a] = 0.05 * reference_uniform(&seed);
        for (size_t i = 0; i < 19; i++) {
            const double w = i == 0 ? 1.0 / 3 : i <= 6 ? 1.0 / 18 : 1.0 / 36;
            double f = 0.02 * reference_uniform(&seed);
            for (int a = 0; a < 3; a++)
                f += 3 * velocity[i][a] * u[a];
            r->now[i * r->count + n] = fluid ? (stored)(w * f) : 0;
        }
    }
}

void reference_obstacles(struct reference *r, uint64_t seed, int one_of, bool regions)
{
    uint8_t rows[6] = {TAG_WALL, TAG_WALL};
    const int kinds = regions ? 6 : 5;
    for (int k = 2; k < 5; k++) {
        struct tag_row moving = {.boundary = BOUNDARY_moving};
        double speed[3];
        for (int a = 0; a < 3; a++)
            speed[a] = 0.1 * reference_uniform(&seed);
        tag_row_move(&moving, speed);
        rows[k] = reference_row(r, moving);
    }
    struct tag_row other = r->row[TAG_FLUID];
    other.omega_even = 1.3;
    other.omega_odd = 0.9;
    other.collision = (uint8_t)((other.collision + 1) % COLLISIONS);
    other.forced = !other.forced;
    for (int a = 0; a < 3; a++)
        other.acceleration[a] = other.forced ? 1e-3 * (a + 1) : 0;
    rows[5] = reference_row(r, other);

    for (int z = 0; z < r->cells[2]; z++)
        for (int y = 0; y < r->cells[1]; y++)
            for (int x = 0; x < r->cells[0]; x++) {
                const uint64_t draw = reference_random(&seed) >> 8;
                if (draw % (uint64_t)one_of)
                    continue;
                const uint8_t row = rows[(draw >> 20) % (uint64_t)kinds];
                const int shape = (int)(draw >> 32) % 4;
                const int size[3] = {shape == 0   ? 1
                                     : shape == 1 ? 20
                                                  : 2,
                                     shape < 2 ? 1 : 2, shape == 3 ? 2 : 1};
                for (int k = z; k < z + size[2] && k < r->cells[2]; k++)
                    for (int j = y; j < y + size[1] && j < r->cells[1]; j++)
                        for (int i = x; i < x + size[0] && i < r->cells[0]; i++)
                            r->tag[reference_cell(r, i, j, k)] = row;
            }
}

const double *reference_wall(const struct reference *r, const int at[3], size_t *cell)
{
    static const double rest[3] = {0, 0, 0};
    int inside[3], outside = 0, face = 0;
    for (int a = 0; a < 3; a++) {
        inside[a] = at[a];
        if (at[a] >= 0 && at[a] < r->cells[a])
            continue;
        if (r->periodic[a])
            inside[a] = at[a] < 0 ? r->cells[a] - 1 : 0;
        else {
            outside++;
            face = at[a] < 0 ? 2 * a : 2 * a + 1;
        }
    }
    if (outside)
        return outside == 1 ? r->face_velocity[face] : rest;
    *cell = reference_cell(r, inside[0], inside[1], inside[2]);
    const struct tag_row *const row = &r->row[r->tag[*cell]];
    return row->fluid ? NULL : row->wall_velocity;
}

/* 6 w_i c_i . u, the density of the wall being 1: u of an axis direction / 3, of a diagonal / 6. */
static scalar wall_gain(int i, const double u[3])
{
    scalar sum = 0;
    for (int a = 0, first = 1; a < 3; a++) {
        const scalar sixth = (scalar)(u[a] / 6);
        if (velocity[i][a] == 0)
            continue;
        const scalar term = velocity[i][a] < 0 ? -sixth : sixth;
        sum = first ? term : sum + term;
        first = 0;
    }
    return i <= 6 ? 2 * sum : sum;
}

void reference_step(struct reference *r)
{
    int at[3];
    for (at[2] = 0; at[2] < r->cells[2]; at[2]++)
        for (at[1] = 0; at[1] < r->cells[1]; at[1]++)
            for (at[0] = 0; at[0] < r->cells[0]; at[0]++) {
                const size_t here = reference_cell(r, at[0], at[1], at[2]);
                const struct tag_row *const row = &r->row[r->tag[here]];
                if (!row->fluid)
                    continue;
                real f[19], out[19];
                for (size_t i = 0; i < 19; i++)
                    f[i] = (real)r->now[i * r->count + here];
                const struct collision_parameters p = collision_parameters(&reference_still, row);
                collide(row->collision, f, out, moments(f, p, row->forced), p, row->forced);
                for (int i = 0; i < 19; i++) {
                    const int to[3] = {at[0] + velocity[i][0], at[1] + velocity[i][1],
                                       at[2] + velocity[i][2]};
                    size_t there;
                    const double *const u = reference_wall(r, to, &there);
                    if (!u) {
                        r->next[(size_t)i * r->count + there] = (stored)out[i];
                        continue;
                    }
                    const int back = reference_opposite(i);
                    const bool moves = u[0] != 0 || u[1] != 0 || u[2] != 0;
                    const real value = moves ? out[i] + wall_gain(back, u) : out[i];
                    r->next[(size_t)back * r->count + here] = (stored)value;
                }
            }
    stored *const swap = r->now;
    r->now = r->next;
    r->next = swap;
}

uint64_t reference_hash(const struct reference *r)
{
    uint64_t sum = 0;
    for (uint64_t g = 0; g < r->count; g++)
        for (uint64_t i = 0; i < 19 && r->row[r->tag[g]].fluid; i++) {
            const stored value = r->now[i * r->count + g];
            uint64_t bits = 0;
            memcpy(&bits, &value, sizeof value); /* little-endian: zero-extended */
            sum += reference_mix(bits ^ reference_mix(19 * g + i + 1));
        }
    return sum;
}

static int wrapped(int at, int cells)
{
    return (at + cells) % cells;
}

void reference_tags(const struct reference *r, struct domain *d)
{
    const struct view *const v = &d->view;
    for (int k = REFERENCE_ROWS; k < r->rows; k++)
        d->rows[k] = r->row[k];
    d->row_count = r->rows;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                int at[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                bool outside = false, beside = false;
                for (int a = 0; a < 3; a++) {
                    if (r->periodic[a])
                        at[a] = wrapped(at[a], r->cells[a]);
                    outside = outside || at[a] < 0 || at[a] >= r->cells[a];
                }
                if (outside)
                    continue; /* the faces' rows stay */
                for (int i = 1; i < 19; i++) {
                    size_t cell;
                    const int to[3] = {at[0] + velocity[i][0], at[1] + velocity[i][1],
                                       at[2] + velocity[i][2]};
                    beside = beside || reference_wall(r, to, &cell);
                }
                const size_t here = (size_t)((ptrdiff_t)v->origin + x + y * v->row + z * v->plane);
                d->tags[here] = r->tag[reference_cell(r, at[0], at[1], at[2])];
                if (beside)
                    d->tags[here] |= TAG_BESIDE;
            }
    d->fluid_cells = 0;
    for (size_t n = 0; n < r->count; n++)
        d->fluid_cells += r->row[r->tag[n]].fluid;
}

enum status reference_open(struct backend **b, const struct flow_case *c, MPI_Comm comm)
{
    const struct backend_wanted wanted = {.c = c, .comm = comm, .share = true};
    return TAGFLOW_BACKEND.open(b, &wanted);
}

enum status reference_solver(struct solver *s, struct domain *d, struct backend *b,
                             const struct flow_case *c)
{
    enum transport transport;
    char why[128];
    const enum status status = transport_choose(c, b, d->comm, &transport, why);
    return status ? status : solver_create(s, d, b, transport);
}

/* By way of memory that the backend copies to and from; nothing else may be under way. */
static void transfer(struct backend *b, char *host, char *memory, size_t bytes, bool get)
{
    const size_t most = bytes < 1 << 20 ? bytes : 1 << 20;
    char *const room = b->type->alloc_host(b, most);
    for (size_t at = 0; at < bytes; at += most) {
        const size_t some = bytes - at < most ? bytes - at : most;
        if (!get)
            memcpy(room, host + at, some);
        b->type->copy(b, QUEUE_INTERIOR, get ? room : memory + at, get ? memory + at : room, some);
        if (b->type->wait(b, QUEUE_INTERIOR))
            abort();
        if (get)
            memcpy(host + at, room, some);
    }
    b->type->free_host(b, room);
}

void reference_memory_get(struct backend *b, void *host, const void *memory, size_t bytes)
{
    if (b->type->wait(b, QUEUE_SHELL) || b->type->wait(b, QUEUE_INTERIOR))
        abort();
    transfer(b, host, (char *)(uintptr_t)memory, bytes, true);
}

void reference_memory_put(struct backend *b, void *memory, const void *host, size_t bytes)
{
    if (b->type->wait(b, QUEUE_SHELL) || b->type->wait(b, QUEUE_INTERIOR))
        abort();
    transfer(b, (char *)(uintptr_t)host, memory, bytes, false);
}

void reference_poison(struct solver *s)
{
    const size_t count = 19 * s->view.stride;
    stored *const values = need(count, sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = (stored)NAN;
    reference_memory_put(s->backend, s->view.populations, values, count * sizeof *values);
    free(values);
}

void reference_put(const struct reference *r, struct solver *s)
{
    const int *const lo = s->domain->lo;
    const struct box all = domain_all(s->domain);
    struct box b;
    for (int number = 0; solver_piece(s, &all, number, &b); number++) {
        stored *const host = solver_host(s);
        const size_t cells = box_cells(&b);
        size_t n = 0;
        for (int z = b.lo[2]; z < b.hi[2]; z++)
            for (int y = b.lo[1]; y < b.hi[1]; y++)
                for (int x = b.lo[0]; x < b.hi[0]; x++, n++) {
                    const size_t g = reference_cell(r, lo[0] + x, lo[1] + y, lo[2] + z);
                    for (size_t i = 0; i < 19; i++)
                        host[i * cells + n] =
                            r->row[r->tag[g]].fluid ? r->now[i * r->count + g] : (stored)NAN;
                }
        if (solver_put(s, &b))
            abort();
    }
}

bool reference_same(const struct reference *r, struct solver *s, char *where, size_t size)
{
    const int *const lo = s->domain->lo;
    const struct box all = domain_all(s->domain);
    struct box b;
    size_t seen = 0;
    for (int number = 0; solver_piece(s, &all, number, &b); number++) {
        const stored *const got = solver_get(s, &b);
        const size_t cells = box_cells(&b);
        size_t n = 0;
        for (int z = b.lo[2]; z < b.hi[2]; z++)
            for (int y = b.lo[1]; y < b.hi[1]; y++)
                for (int x = b.lo[0]; x < b.hi[0]; x++, n++, seen++) {
                    const size_t g = reference_cell(r, lo[0] + x, lo[1] + y, lo[2] + z);
                    for (size_t i = 0; i < 19; i++) {
                        const stored *const a = &got[i * cells + n], *const e =
                                                                         &r->now[i * r->count + g];
                        if (memcmp(a, e, sizeof *a) == 0)
                            continue;
                        snprintf(where, size, "population %zu of cell %d %d %d is %.17g, not %.17g",
                                 i, lo[0] + x, lo[1] + y, lo[2] + z, (double)*a, (double)*e);
                        return false;
                    }
                }
    }
    if (seen == box_cells(&all))
        return true;
    snprintf(where, size, "the pieces hold %zu cells of %zu", seen, box_cells(&all));
    return false;
}
