/* Two-lattice D3Q19 on the whole box; see reference.h. */
#include "reference.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/sparse.h"
#include "elementary.h"
#include "open.h"
#include "solver/transport.h"
#include "tags/create.h"
#include "tags/laws.h"

/* 0 rest; 1..6 = +x -x +y -y +z -z; then the diagonals, each followed by its opposite. */
const signed char reference_velocities[19][3] = {
    {0, 0, 0},                                          /* 0 */
    {+1, 0, 0},  {-1, 0, 0},  {0, +1, 0},  {0, -1, 0},  /* 1 .. 4 */
    {0, 0, +1},  {0, 0, -1},                            /* 5, 6 */
    {+1, +1, 0}, {-1, -1, 0}, {+1, 0, +1}, {-1, 0, -1}, /* 7 .. 10 */
    {0, +1, +1}, {0, -1, -1}, {+1, -1, 0}, {-1, +1, 0}, /* 11 .. 14 */
    {+1, 0, -1}, {-1, 0, +1}, {0, +1, -1}, {0, -1, +1}, /* 15 .. 18 */
};

int reference_opposite(int i)
{
    for (int j = 0; j < 19; j++)
        if (reference_velocity(j, 0) == -reference_velocity(i, 0) &&
            reference_velocity(j, 1) == -reference_velocity(i, 1) &&
            reference_velocity(j, 2) == -reference_velocity(i, 2))
            return j;
    return -1;
}

struct flow_case reference_case(int nx, int ny, int nz)
{
    struct flow_case c = {.name = "reference", .cells = {nx, ny, nz}};
    c.units.dx = c.units.dt = c.units.density = 1;
    c.fluid.viscosity = 0.05;
    c.solver.magic = 3.0 / 16;
    c.solver.rates.bulk = 1.2;
    c.solver.rates.third = 0.8;
    c.solver.rates.fourth = 1.1;
    c.solver.storage = TAGFLOW_STORAGE == 64   ? PRECISION_fp64
                       : TAGFLOW_STORAGE == 32 ? PRECISION_fp32
                                               : PRECISION_fp16;
    c.solver.arithmetic = TAGFLOW_ARITHMETIC == 64 ? PRECISION_fp64 : PRECISION_fp32;
    c.run.threads = 1;
    c.run.sparse = (nx + ny + nz) % 2 ? SPARSE_always : SPARSE_never;
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
        f->kind = letters[face] == 's'                           ? FACE_slip
                  : letters[face] == 'v' || letters[face] == 'V' ? FACE_velocity
                  : letters[face] == 'd' || letters[face] == 'D' ? FACE_pressure
                  : letters[face] == 'o'                         ? FACE_outflow
                  : letters[face] == 'n'                         ? FACE_nonreflecting
                                                                 : f->kind;
        f->rule =
            letters[face] == 'v' || letters[face] == 'd' ? FACE_RULE_links : FACE_RULE_regularised;
        if (f->kind == FACE_velocity)
            for (int a = 0; a < 3; a++)
                f->velocity[a] = 0.01 * (face - 2) + 0.02 * a;
        if (face_holds_density(f))
            f->density = 1.01 - 0.003 * face;
        f->reflection = f->kind == FACE_nonreflecting ? 0.03 : f->kind == FACE_outflow ? 0.02 : 0;
        if (f->kind == FACE_nonreflecting)
            f->velocity[first] = 0.01 * (face + 1);
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

enum isa reference_isa(uint64_t index)
{
    enum isa runs[ISAS];
    size_t count = 0;
    for (int isa = ISA_FIRST; isa < ISAS; isa++)
        if (isa_runs((enum isa)isa))
            runs[count++] = (enum isa)isa;
    return runs[index % count];
}

double reference_uniform(uint64_t *state)
{
    return (double)(int64_t)reference_random(state) * 0x1p-63;
}

double reference_rounding(double population)
{
    const double half = TAGFLOW_STORAGE == 64 ? 0x1p-53 : TAGFLOW_STORAGE == 32 ? 0x1p-24 : 0x1p-11;
    return fabs(population) * half + (TAGFLOW_STORAGE == 16 ? 0x1p-40 : 0);
}

static void *need(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    if (!memory)
        abort();
    return memory;
}

const struct view reference_still = {.signal = {1}};

static struct tag_row face_row(const struct case_face *f, int face)
{
    struct tag_row row = {.face = (uint8_t)face, .reflection = f->reflection};
    const bool links = f->rule == FACE_RULE_links;
    tag_row_move(&row, f->velocity);
    row.drho = f->density - 1;
    row.boundary = f->kind == FACE_slip ? BOUNDARY_slip
                   : f->kind == FACE_velocity
                       ? (links ? BOUNDARY_velocity_links : BOUNDARY_velocity_regularised)
                   : f->kind == FACE_pressure
                       ? (links ? BOUNDARY_pressure_links : BOUNDARY_pressure_regularised)
                   : f->kind == FACE_outflow       ? BOUNDARY_outflow
                   : f->kind == FACE_nonreflecting ? BOUNDARY_nonreflecting
                                                   : BOUNDARY_halfway;
    return row;
}

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
    for (int face = 0; face < 6; face++) {
        memcpy(r->face_velocity[face], c->faces[face].velocity, sizeof r->face_velocity[face]);
        r->face_row[face] = face_row(&c->faces[face], face);
    }
    struct tag_row *const fluid = &r->row[TAG_FLUID];
    fluid->fluid = 1;
    fluid->collision = (uint8_t)c->solver.collision;
    fluid->omega_even = 1 / tau;
    fluid->omega_odd = 1 / (c->solver.magic / (tau - 0.5) + 0.5);
    fluid->omega_bulk = c->solver.rates.bulk;
    fluid->omega_third = c->solver.rates.third;
    fluid->omega_fourth = c->solver.rates.fourth;
    if (c->solver.subgrid == SUBGRID_smagorinsky)
        tag_row_smagorinsky(fluid, SUBGRID_smagorinsky, c->solver.smagorinsky);
    if (c->fluid.law.kind != LAW_constant) {
        law_table(c, r->law);
        fluid->subgrid = SUBGRID_law;
        fluid->law = 1;
        tag_row_magic(fluid);
    }
    for (int a = 0; a < 3; a++) {
        r->resist[RESIST_W + a] = 2 * c->rotation[a];
        fluid->resist = fluid->resist || c->rotation[a] != 0;
    }
    fluid->forced = fluid->resist != 0;
    r->wall_units = c->solver.van_driest / c->fluid.viscosity;
    fluid->damped = fluid->subgrid && c->solver.van_driest > 0;
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
                f += 3 * reference_velocity(i, a) * u[a];
            r->now[i * r->count + n] = fluid ? stored_of((number)(w * f)) : stored_of(0);
        }
    }
}

void reference_obstacles(struct reference *r, uint64_t seed, int one_of, bool regions)
{
    uint8_t rows[6] = {TAG_WALL, TAG_WALL};
    const uint64_t seed_given = seed;
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
    other.resist = other.forced ? other.resist : 0;
    other.damped = 0;
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
    for (int box = 0; box < 2 && seed_given % 3 == 1; box++) {
        int lo[3], hi[3];
        for (int a = 0; a < 3; a++) {
            const uint64_t half = (uint64_t)(r->cells[a] + 1) / 2;
            lo[a] = (int)(reference_random(&seed) % half);
            hi[a] = lo[a] + (int)(reference_random(&seed) % (half + 1));
        }
        for (int z = lo[2]; z < hi[2]; z++)
            for (int y = lo[1]; y < hi[1]; y++)
                for (int x = lo[0]; x < hi[0]; x++)
                    r->tag[reference_cell(r, x, y, z)] = rows[2 * box];
    }
}

const double *reference_wall(const struct reference *r, const int at[3], size_t *cell)
{
    static const double rest[3] = {0, 0, 0};
    int inside[3], outside = 0, walls = 0, face = 0, wall = 0;
    for (int a = 0; a < 3; a++) {
        inside[a] = at[a];
        if (at[a] >= 0 && at[a] < r->cells[a])
            continue;
        if (r->periodic[a])
            inside[a] = at[a] < 0 ? r->cells[a] - 1 : 0;
        else {
            outside++;
            face = at[a] < 0 ? 2 * a : 2 * a + 1;
            if (r->face_row[face].boundary == BOUNDARY_halfway) {
                walls++;
                wall = face;
            }
        }
    }
    if (outside)
        return outside == 1                 ? r->face_velocity[face]
               : outside == 2 && walls == 1 ? r->face_velocity[wall]
                                            : rest;
    *cell = reference_cell(r, inside[0], inside[1], inside[2]);
    const struct tag_row *const row = &r->row[r->tag[*cell]];
    return row->fluid ? NULL : row->wall_velocity;
}

/* 6 w_i c_i . u, the density of the wall being 1: u of an axis direction / 3, of a diagonal / 6. */
static number wall_gain(int i, const double u[3])
{
    number sum = 0;
    for (int a = 0, first = 1; a < 3; a++) {
        const number sixth = (number)(u[a] / 6);
        if (reference_velocity(i, a) == 0)
            continue;
        const number term = reference_velocity(i, a) < 0 ? -sixth : sixth;
        sum = first ? term : sum + term;
        first = 0;
    }
    return i <= 6 ? 2 * sum : sum;
}

static bool is_wall(const struct reference *r, int face)
{
    return !r->periodic[face / 2] && r->face_row[face].boundary == BOUNDARY_halfway;
}

/* Product over the axes of (1 - exp(-y+/26))^2 with y to the nearest wall across the axis. */
static number reference_damping(const struct reference *r, const struct tag_row *row,
                                const int at[3])
{
    number factor[3] = {1, 1, 1};
    for (int a = 0; a < 3; a++) {
        const int far = r->cells[a] - 1 - at[a];
        const bool below = is_wall(r, 2 * a), above = is_wall(r, 2 * a + 1);
        const double y = (below && (!above || at[a] < far) ? at[a] : far) + 0.5;
        if (!row->damped || (!below && !above))
            continue;
        const double rest = 1 - exact_exp(-(y * r->wall_units / 26));
        factor[a] = (number)(rest * rest);
    }
    return factor[1] * factor[2] * factor[0];
}

/* The rule that holds beyond the box at these coordinates: where faces meet a wall wins, then a
 * velocity, a density, nonreflecting, outflow, the first of two alike; two planes of symmetry and
 * corners give back what comes. NULL: none but a wall's. */
static const struct tag_row *open_rule(const struct reference *r, const int at[3])
{
    static const int order[BOUNDARY_RULES] = {
        [BOUNDARY_halfway] = 9,        [BOUNDARY_velocity_links] = 8,
        [BOUNDARY_pressure_links] = 6, [BOUNDARY_velocity_regularised] = 8,
        [BOUNDARY_outflow] = 4,        [BOUNDARY_pressure_regularised] = 6,
        [BOUNDARY_nonreflecting] = 5,  [BOUNDARY_slip] = 1,
    };
    const struct tag_row *first = NULL;
    int outside = 0;
    for (int a = 0; a < 3; a++) {
        if (r->periodic[a] || (at[a] >= 0 && at[a] < r->cells[a]))
            continue;
        const struct tag_row *const row = &r->face_row[2 * a + (at[a] >= r->cells[a])];
        if (!first || order[row->boundary] > order[first->boundary])
            first = row;
        outside++;
    }
    if (outside == 0 || outside == 3 || first->boundary == BOUNDARY_halfway ||
        (outside == 2 && first->boundary == BOUNDARY_slip))
        return NULL;
    return first;
}

/* The cell of the box at coordinates that periodic axes move into it. */
static size_t moved_in(const struct reference *r, const int at[3])
{
    int in[3];
    for (int a = 0; a < 3; a++)
        in[a] = r->periodic[a] ? (at[a] + r->cells[a]) % r->cells[a] : at[a];
    return reference_cell(r, in[0], in[1], in[2]);
}

/* The cell that gets what is sent along i from `at` into the plane of symmetry `rule`, mirrored;
 * false if it comes back instead. */
static bool mirrors(const struct reference *r, const struct tag_row *rule, const int at[3], int i,
                    size_t *there, int *as)
{
    const int axis = rule->face / 2;
    int to[3], above[3], sent[3];
    for (int a = 0; a < 3; a++) {
        to[a] = a == axis ? at[a] : at[a] + reference_velocity(i, a);
        above[a] = a == axis ? at[a] + reference_velocity(i, a) : at[a];
        sent[a] = a == axis ? -reference_velocity(i, a) : reference_velocity(i, a);
        if (!r->periodic[a] && (to[a] < 0 || to[a] >= r->cells[a]))
            return false;
    }
    *there = moved_in(r, to);
    for (int k = 1; k < 19; k++)
        if (reference_velocity(k, 0) == sent[0] && reference_velocity(k, 1) == sent[1] &&
            reference_velocity(k, 2) == sent[2])
            *as = k;
    return r->row[r->tag[*there]].fluid && open_rule(r, above) == rule;
}

/* The faces of which the cell is a node; bits as in struct tag_row. */
static int node_of(const struct reference *r, const int at[3])
{
    int outside = 0;
    for (int face = 0; face < 6; face++) {
        const int rule = r->face_row[face].boundary, axis = face / 2;
        const bool node = rule == BOUNDARY_velocity_regularised ||
                          rule == BOUNDARY_pressure_regularised || rule == BOUNDARY_nonreflecting;
        if (node && !r->periodic[axis] && at[axis] == (face & 1 ? r->cells[axis] - 1 : 0))
            outside |= 1 << face;
    }
    return outside;
}

/* The rule that makes the populations of a node of open faces: what the faces give, joined. */
static void at_nodes(const struct reference *r, const int at[3], const struct tag_row *fluid,
                     real f[19])
{
    struct tag_row row = *fluid;
    struct arriving a = {
        .row = &row, .law = row.law ? r->law : NULL, .resist = row.resist ? r->resist : NULL};
    int velocities = 0, densities = 0, sounds = 0, sound = 0;
    for (int face = 5; face >= 0; face--) {
        const struct tag_row *const rule = &r->face_row[face];
        if (r->periodic[face / 2] || at[face / 2] != (face & 1 ? r->cells[face / 2] - 1 : 0))
            continue;
        if (rule->boundary == BOUNDARY_velocity_regularised) {
            velocities++;
            for (int k = 0; k < 3; k++)
                a.u[k] = (real)rule->wall_velocity[k];
        } else if (rule->boundary == BOUNDARY_pressure_regularised) {
            densities++;
            a.drho = (real)rule->drho;
        } else if (rule->boundary == BOUNDARY_nonreflecting) {
            sounds++;
            sound = face;
        } else {
            continue;
        }
        row.face = (uint8_t)face;
    }
    row.outside = (uint8_t)node_of(r, at);
    if (!row.outside)
        return;
    row.boundary = velocities && densities     ? BOUNDARY_edge_regularised
                   : velocities                ? BOUNDARY_velocity_regularised
                   : densities == 1 && !sounds ? BOUNDARY_pressure_regularised
                   : densities                 ? BOUNDARY_edge_regularised
                                               : BOUNDARY_nonreflecting;
    for (int k = 0; k < 3 && sounds && !velocities && !densities; k++)
        a.u[k] = (real)r->face_row[sound].wall_velocity[k];
    /* Faces of given density meet: across each one the velocity is that of the first other one. */
    for (int face = 0; face < 6 && densities && !velocities; face++)
        for (int other = 5; other >= 0; other--)
            if ((row.outside >> face & 1) && (row.outside >> other & 1) && face != other)
                a.u[face / 2] = (real)r->face_row[other].wall_velocity[face / 2];
    for (int k = 0; k < 3; k++)
        a.half[k] = a.pushed[k] = (real)(0.5 * fluid->acceleration[k]);
    for (int i = 1; i < 19; i++) { /* from where population i comes */
        const int from[3] = {at[0] - reference_velocity(i, 0), at[1] - reference_velocity(i, 1),
                             at[2] - reference_velocity(i, 2)};
        size_t there;
        const double *const u = reference_wall(r, from, &there);
        if (!u || open_rule(r, from))
            continue;
        a.walls |= i <= 6 ? 1 << (i - 1) : BESIDE_EDGE;
        for (int k = 0; i <= 6 && k < 3; k++)
            a.wall_velocity[i - 1][k] = (real)u[k];
    }
    open_arrive(f, &a);
}

/* What a link into an open boundary gives back. */
static real given_back(const struct reference *r, const struct tag_row *rule, int i,
                       const real f[19], const real out[19], const struct tag_row *row, int outside)
{
    const int back = reference_opposite(i);
    struct collision_parameters p = collision_parameters(&reference_still, row);
    const struct moments bare = moments(f, p, 0);
    struct moments m = moments(f, p, row->forced);
    if (row->resist)
        resist(&p, &m, r->resist);
    struct leaving l = {.row = rule,
                        .in = back,
                        .f_in = f[back],
                        .f_out = f[i],
                        .c_in = out[back],
                        .c_out = out[i],
                        .outside = outside,
                        .drho = m.drho,
                        .u = {m.ux, m.uy, m.uz},
                        .j = {bare.jx, bare.jy, bare.jz},
                        .given_drho = (real)rule->drho};
    for (int a = 0; a < 3; a++)
        l.given_u[a] = (real)rule->wall_velocity[a];
    return open_leave(&l);
}

void reference_arrived(const struct reference *r, const int at[3], real f[19])
{
    const size_t here = reference_cell(r, at[0], at[1], at[2]);
    for (size_t i = 0; i < 19; i++)
        f[i] = value_of(r->now[i * r->count + here]);
    at_nodes(r, at, &r->row[r->tag[here]], f);
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
                reference_arrived(r, at, f);
                struct collision_parameters p = collision_parameters(&reference_still, row);
                p.law = r->law;
                struct moments m = moments(f, p, row->forced);
                if (row->resist)
                    resist(&p, &m, r->resist);
                const real damping = (real)reference_damping(r, row, at);
                const struct rates rates =
                    subgrid_rates(row->subgrid, f, m, p, damping, row->forced);
                collide(row->collision, f, out, m, p, rates, row->forced);
                for (int i = 0; i < 19; i++) {
                    const int to[3] = {at[0] + reference_velocity(i, 0),
                                       at[1] + reference_velocity(i, 1),
                                       at[2] + reference_velocity(i, 2)};
                    size_t there;
                    const double *const u = reference_wall(r, to, &there);
                    if (!u) {
                        r->next[(size_t)i * r->count + there] = stored_of(out[i]);
                        continue;
                    }
                    int back = reference_opposite(i);
                    const struct tag_row *const rule = open_rule(r, to);
                    if (rule && rule->boundary == BOUNDARY_slip) {
                        if (!mirrors(r, rule, at, i, &there, &back)) {
                            there = here;
                            back = reference_opposite(i);
                        }
                        r->next[(size_t)back * r->count + there] = stored_of(out[i]);
                        continue;
                    }
                    const bool moves = u[0] != 0 || u[1] != 0 || u[2] != 0;
                    const real value = rule    ? given_back(r, rule, i, f, out, row, node_of(r, at))
                                       : moves ? out[i] + wall_gain(back, u)
                                               : out[i];
                    r->next[(size_t)back * r->count + here] = stored_of(value);
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
                    const int to[3] = {at[0] + reference_velocity(i, 0),
                                       at[1] + reference_velocity(i, 1),
                                       at[2] + reference_velocity(i, 2)};
                    beside = beside || reference_wall(r, to, &cell);
                }
                const size_t here = (size_t)((ptrdiff_t)v->origin + x + y * v->row + z * v->plane);
                const uint8_t tag = r->tag[reference_cell(r, at[0], at[1], at[2])];
                if (tag != TAG_FLUID) /* nodes of open faces keep the domain's rows */
                    d->tags[here] = tag;
                d->tags[here] &= TAG_ROW;
                if (beside)
                    d->tags[here] |= TAG_BESIDE;
            }
    d->fluid_cells = 0;
    for (size_t n = 0; n < r->count; n++)
        d->fluid_cells += r->row[r->tag[n]].fluid;
}

enum status reference_domain(const struct reference *r, struct domain *d, const struct flow_case *c,
                             MPI_Comm comm)
{
    static struct flow_case dense; /* a domain keeps pointers to time functions of its case */
    dense = *c;
    dense.run.sparse = SPARSE_never;
    enum status status = domain_create(d, &dense, comm);
    if (status)
        return status;
    reference_tags(r, d);
    return sparse_choose(d, c);
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
    const size_t count = 19 * s->view.set[SET_flow].stride;
    stored *const values = need(count, sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = stored_of((number)NAN);
    reference_memory_put(s->backend, s->view.set[SET_flow].populations, values,
                         count * sizeof *values);
    free(values);
}

void reference_put(const struct reference *r, struct solver *s)
{
    const int *const lo = s->domain->lo;
    const struct box all = domain_all(s->domain);
    struct box b;
    for (int index = 0; solver_piece(s, &all, index, &b); index++) {
        stored *const host = solver_host(s);
        const size_t cells = box_cells(&b);
        size_t n = 0;
        for (int z = b.lo[2]; z < b.hi[2]; z++)
            for (int y = b.lo[1]; y < b.hi[1]; y++)
                for (int x = b.lo[0]; x < b.hi[0]; x++, n++) {
                    const size_t g = reference_cell(r, lo[0] + x, lo[1] + y, lo[2] + z);
                    for (size_t i = 0; i < 19; i++)
                        host[i * cells + n] = r->row[r->tag[g]].fluid ? r->now[i * r->count + g]
                                                                      : stored_of((number)NAN);
                }
        if (solver_put(s, SET_flow, &b))
            abort();
    }
}

bool reference_same(const struct reference *r, struct solver *s, char *where, size_t size)
{
    const int *const lo = s->domain->lo;
    const struct box all = domain_all(s->domain);
    struct box b;
    size_t seen = 0;
    for (int index = 0; solver_piece(s, &all, index, &b); index++) {
        const stored *const got = solver_get(s, SET_flow, &b);
        const size_t cells = box_cells(&b);
        size_t n = 0;
        for (int z = b.lo[2]; z < b.hi[2]; z++)
            for (int y = b.lo[1]; y < b.hi[1]; y++)
                for (int x = b.lo[0]; x < b.hi[0]; x++, n++, seen++) {
                    const size_t g = reference_cell(r, lo[0] + x, lo[1] + y, lo[2] + z);
                    for (size_t i = 0; i < 19; i++) {
                        const stored *const a = &got[i * cells + n], *const e =
                                                                         &r->now[i * r->count + g];
                        /* of a NaN only that it is one: its sign is that of an operand or the
                         * processor's choice */
                        const double is = (double)value_of(*a), wanted = (double)value_of(*e);
                        if (memcmp(a, e, sizeof *a) == 0 || (isnan(is) && isnan(wanted)))
                            continue;
                        snprintf(where, size, "population %zu of cell %d %d %d is %.17g, not %.17g",
                                 i, lo[0] + x, lo[1] + y, lo[2] + z, is, wanted);
                        return false;
                    }
                }
    }
    if (seen == box_cells(&all))
        return true;
    snprintf(where, size, "the pieces hold %zu cells of %zu", seen, box_cells(&all));
    return false;
}
