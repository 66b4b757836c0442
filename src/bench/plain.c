/* The reference lattice update; see plain.h. Compiled for each TAGFLOW_STORAGE and
 * TAGFLOW_ARITHMETIC. */
#include "bench/plain.h"

#include <string.h>

#include "collision.h"
#include "open.h"
#include "scalar.h"
#include "stored.h"
#include "surface.h"

/* 0 rest; 1 .. 6 = +x -x +y -y +z -z; then the diagonals, each followed by its opposite. */
static const signed char velocity[Q][3] = {
    {0, 0, 0},                                          /* 0 */
    {+1, 0, 0},  {-1, 0, 0},  {0, +1, 0},  {0, -1, 0},  /* 1 .. 4 */
    {0, 0, +1},  {0, 0, -1},                            /* 5, 6 */
    {+1, +1, 0}, {-1, -1, 0}, {+1, 0, +1}, {-1, 0, -1}, /* 7 .. 10 */
    {0, +1, +1}, {0, -1, -1}, {+1, -1, 0}, {-1, +1, 0}, /* 11 .. 14 */
    {+1, 0, -1}, {-1, 0, +1}, {0, +1, -1}, {0, -1, +1}, /* 15 .. 18 */
};

static int reverse(int i)
{
    return i == 0 ? 0 : i % 2 ? i + 1 : i - 1;
}

/* A population as a set stores it, in arithmetic. */
static number stored_value(int set, const void *populations, size_t place)
{
    return set ? (number)((const set_stored *)populations)[place]
               : value_of(((const stored *)populations)[place]);
}

static void take(struct plain *p, int set, const struct box *piece, const void *populations)
{
    const int nx = piece->hi[0] - piece->lo[0], ny = piece->hi[1] - piece->lo[1],
              nz = piece->hi[2] - piece->lo[2];
    const size_t cells = (size_t)nx * (size_t)ny * (size_t)nz;
    const size_t width = plain_width(p), first = plain_first(set), q = set ? Q_AXES : Q;
    real *const f = p->f;
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++) {
            const size_t row = ((size_t)z * (size_t)ny + (size_t)y) * (size_t)nx;
            real *to =
                f + first + width * plain_cell(p, piece->lo[0], piece->lo[1] + y, piece->lo[2] + z);
            for (int x = 0; x < nx; x++, to += width)
                for (size_t i = 0; i < q; i++)
                    to[i] = stored_value(set, populations, i * cells + row + (size_t)x);
        }
}

/* The cell type at a place; NULL: beyond a wall or a plane of symmetry. */
static const struct tag_row *type_at(const struct plain *p, size_t place)
{
    return p->what[place] < PLAIN_FACE ? &p->rows[p->what[place]] : NULL;
}

/* The place from which population i comes to a cell. */
static size_t upstream(const struct plain *p, const int at[3], int i)
{
    return plain_cell(p, at[0] - velocity[i][0], at[1] - velocity[i][1], at[2] - velocity[i][2]);
}

/* Fills in the walls beside a node of an open face. */
static void look_around(const struct plain *p, const int at[3], struct arriving *a)
{
    a->walls = 0;
    for (int i = 1; i < Q; i++) {
        const size_t there = upstream(p, at, i);
        const struct tag_row *const wall = type_at(p, there);
        const int c[3] = {-velocity[i][0], -velocity[i][1], -velocity[i][2]};
        double u[3] = {0, 0, 0};
        if (wall ? wall->fluid || boundary_open(wall->boundary)
                 : p->what[there] < PLAIN_EDGE && p->mirrors[p->what[there] - PLAIN_FACE])
            continue;
        a->walls |= i <= 6 ? 1 << (i - 1) : BESIDE_EDGE;
        if (i > 6)
            continue;
        if (wall)
            wall_half_way(p->view, wall, at, c, u);
        else if (p->what[there] < PLAIN_EDGE)
            memcpy(u, p->face_velocity[p->what[there] - PLAIN_FACE], sizeof u);
        for (int k = 0; k < 3; k++)
            a->wall_velocity[i - 1][k] = (real)u[k];
    }
}

/* The rule of a node of an open face makes the populations that arrive. */
static void arrive(const struct plain *p, const struct tag_row *row, const int at[3], real f[Q])
{
    struct arriving a = {.row = row,
                         .law = law_of(p->view, row),
                         .resist = resist_of(p->view, row),
                         .drho = given_drho(p->view, row)};
    double u[3];
    look_around(p, at, &a);
    given_velocity(p->view, row, at, u);
    for (int k = 0; k < 3; k++) {
        a.u[k] = (real)u[k];
        a.half[k] = a.pushed[k] = (real)(0.5 * view_acceleration(p->view, row, k));
    }
    open_arrive(f, &a);
}

/* The fraction of a cell's link at which it meets a surface; half of it without one. */
static double crossing_of(const struct plain *p, const int at[3], int link)
{
    const uint32_t listed = p->listed ? p->listed[plain_own(p, at[0], at[1], at[2])] : 0;
    if (!listed)
        return 0.5;
    const struct near_cell *const cell = &p->view->near.cell[listed - 1];
    const uint32_t before = cell->links & ((1u << link) - 1);
    return (double)p->view->near.crossing[cell->first + (uint32_t)__builtin_popcount(before)];
}

/* The populations of one cell's step, and what its links into cells that are not fluid share. */
struct cell {
    const struct tag_row *row;
    struct collision_parameters parameters;
    struct moments m; /* of what arrived, with the force */
    struct rates rates;
    int at[3];
    real f[Q], out[Q];        /* arrived, collided */
    number value[SETS], lift; /* of each scalar, and the factor on gravity that they make */
};

/* The population that comes back through link `in` from a cell of type `beyond`. */
static real comes_back(const struct plain *p, const struct cell *cell, int in,
                       const struct tag_row *beyond)
{
    const int to = reverse(in);
    const int c[3] = {velocity[to][0], velocity[to][1], velocity[to][2]};
    const int wall[3] = {cell->at[0] + c[0], cell->at[1] + c[1], cell->at[2] + c[2]};
    const struct moments bare = moments(cell->f, cell->parameters, 0);
    struct leaving l = {.row = beyond,
                        .in = in,
                        .f_in = cell->f[in],
                        .f_out = cell->f[to],
                        .c_in = cell->out[in],
                        .c_out = cell->out[to],
                        .outside = cell->row->outside,
                        .drho = cell->m.drho,
                        .u = {cell->m.ux, cell->m.uy, cell->m.uz},
                        .j = {bare.jx, bare.jy, bare.jz}};
    double here[3], there[3];
    if (boundary_is(beyond->boundary) & RULE_listed) {
        const double q = crossing_of(p, cell->at, in);
        surface_arm(p->view, beyond, cell->at, c, q, here);
        surface_velocity(beyond, here, there);
        for (int k = 0; k < 3; k++)
            l.given_u[k] = (real)there[k];
        return surface_leave(&l, (real)q,
                             surface_rate(cell->row->collision, cell->parameters, cell->rates));
    }
    given_velocity(p->view, beyond, cell->at, here); /* the link crosses half-way between the two */
    given_velocity(p->view, beyond, wall, there);
    for (int k = 0; k < 3; k++)
        l.given_u[k] = (real)(0.5 * (here[k] + there[k]));
    l.given_drho = given_drho(p->view, beyond);
    return open_leave(&l);
}

/* ---- scalars ---- */

/* The values of all scalars in a cell: those that turn into others come before them. */
static void look_at_scalars(const struct plain *p, struct cell *cell, int type, const real *g)
{
    cell->lift = 0;
    for (int set = 1; set < p->sets; set++, g += Q_AXES) {
        const struct scalar_row *const row = scalar_row(p->view, set, type);
        cell->value[set] =
            scalar_value(g, scalar_parameters(row), row->from ? cell->value[row->from] : 0);
        if (p->view->scalars.lifts && row->buoyancy != 0)
            cell->lift = cell->lift - (number)row->buoyancy * cell->value[set];
    }
}

/* Population returned along link `in` by a place that is not fluid; out: the one that left. */
static set_stored scalar_from(const struct plain *p, int set, size_t beyond, int in, number out,
                              struct scalar_cell cell)
{
    const uint8_t what = p->what[beyond];
    if (what < PLAIN_FACE)
        return scalar_back(p->view, scalar_row(p->view, set, what), in, (set_stored)out, cell);
    const double *const rule = p->face_scalar[set - 1][what - PLAIN_FACE];
    return (set_stored)((number)rule[0] * out + (number)rule[1]);
}

/* Collides all scalars of a cell, whose flow is collided. */
static void collide_scalars(const struct plain *p, const struct cell *cell, int type, real *g)
{
    const struct tag_row *const flow = cell->row;
    const real u[3] = {cell->m.ux, cell->m.uy, cell->m.uz};
    const int subgrid = flow->subgrid != SUBGRID_none;
    const real eddy = subgrid ? eddy_viscosity(cell->parameters, cell->rates.even) : 0;
    for (int set = 1; set < p->sets; set++, g += Q_AXES) {
        const struct scalar_row *const row = scalar_row(p->view, set, type);
        const struct scalar_parameters q = scalar_parameters(row);
        const number value = cell->value[set];
        real out[Q_AXES];
        const struct scalar_cell here =
            scalar_cell(q, 0, value, scalar_conductivity(q, subgrid, eddy), u); /* no table */
        scalar_leave(g, out, q, scalar_rates(q, subgrid, eddy), scalar_range(p->view, set), value,
                     row->from ? cell->value[row->from] : 0, 1, u);
        for (int i = 0; i < Q_AXES; i++)
            g[i] = (number)(set_stored)out[i];
        for (int in = 1; in < Q_AXES; in++) {
            const size_t there = upstream(p, cell->at, in);
            const struct tag_row *const beyond = type_at(p, there);
            if (!beyond || !beyond->fluid)
                g[reverse(in)] = (number)scalar_from(p, set, there, in, g[reverse(in)], here);
        }
    }
}

/* Population i of a scalar in a cell after the step. */
static set_stored scalar_arriving(const struct plain *p, int set, const int at[3], int i)
{
    const real *const g = (const real *)p->f + plain_first(set);
    const size_t there = upstream(p, at, i), width = plain_width(p);
    const struct tag_row *const from = type_at(p, there);
    if (from && from->fluid)
        return (set_stored)g[width * there + (size_t)i];
    return (set_stored)g[width * plain_cell(p, at[0], at[1], at[2]) + (size_t)reverse(i)];
}

static void collide_cell(const struct plain *p, int x, int y, int z)
{
    const size_t place = plain_cell(p, x, y, z);
    real *const f = (real *)p->f + plain_width(p) * place;
    struct cell cell = {.row = type_at(p, place), .at = {x, y, z}};
    const struct tag_row *const row = cell.row;
    if (!row->fluid)
        return;
    if (boundary_open(row->boundary))
        arrive(p, row, cell.at, f);
    cell.parameters = collision_parameters(p->view, row);
    look_at_scalars(p, &cell, p->what[place], f + Q);
    if (p->view->scalars.lifts)
        accelerate(&cell.parameters, p->view, cell.lift);
    cell.m = moments(f, cell.parameters, row->forced);
    if (row->resist)
        resist(&cell.parameters, &cell.m, resist_of(p->view, row));
    cell.rates = subgrid_rates(row->subgrid, f, cell.m, cell.parameters, 1, row->forced);
    collide(row->collision, f, cell.out, cell.m, cell.parameters, cell.rates, row->forced);
    memcpy(cell.f, f, sizeof cell.f);
    memcpy(f, cell.out, sizeof cell.out);
    collide_scalars(p, &cell, p->what[place], f + Q);
    for (int in = 1; in < Q; in++) {
        const struct tag_row *const beyond = type_at(p, upstream(p, cell.at, in));
        if (beyond && !beyond->fluid &&
            (boundary_open(beyond->boundary) || boundary_is(beyond->boundary) & RULE_listed))
            f[reverse(in)] = comes_back(p, &cell, in, beyond);
    }
}

static void collide_all(struct plain *p)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < p->n[2]; z++)
        for (int y = 0; y < p->n[1]; y++)
            for (int x = 0; x < p->n[0]; x++)
                collide_cell(p, x, y, z);
}

/* 6 w_i c_i . u for a wall with density 1: u / 3 for an axis direction, u / 6 for a diagonal. */
static number wall_gain(int i, const double u[3])
{
    number sum = 0;
    bool first = true;
    for (int a = 0; a < 3; a++) {
        const number sixth = (number)(u[a] / 6);
        if (velocity[i][a] == 0)
            continue;
        const number term = velocity[i][a] < 0 ? -sixth : sixth;
        sum = first ? term : sum + term;
        first = false;
    }
    return i <= 6 ? 2 * sum : sum;
}

/* The velocity of the wall at a place; NULL: at rest. */
static const double *wall_velocity(const struct plain *p, uint8_t what)
{
    const double *const u = what == PLAIN_EDGE   ? NULL
                            : what >= PLAIN_FACE ? p->face_velocity[what - PLAIN_FACE]
                            : p->rows[what].boundary == BOUNDARY_moving
                                ? p->rows[what].wall_velocity
                                : NULL; /* other rules have changed what comes back */
    return u && (u[0] != 0 || u[1] != 0 || u[2] != 0) ? u : NULL;
}

/* Direction i mirrored at a plane of symmetry normal to the axis. */
static int mirror(int i, int axis)
{
    for (int k = 1; k < Q; k++) {
        bool same = true;
        for (int a = 0; a < 3; a++)
            same = same && velocity[k][a] == (a == axis ? -velocity[i][a] : velocity[i][a]);
        if (same)
            return k;
    }
    return 0;
}

/* Population i of a cell after the step. */
static stored arriving(const struct plain *p, int x, int y, int z, int i)
{
    const real *const f = p->f;
    const int at[3] = {x, y, z};
    const size_t here = plain_cell(p, x, y, z), there = upstream(p, at, i);
    const size_t width = plain_width(p);
    const uint8_t what = p->what[there];
    if (what < PLAIN_FACE && p->rows[what].fluid)
        return stored_of(f[width * there + (size_t)i]);
    const real sent = f[width * here + (size_t)reverse(i)];
    if (what >= PLAIN_FACE && what < PLAIN_EDGE && p->mirrors[what - PLAIN_FACE]) {
        /* from the mirror image of that place, which is in the box, if there is fluid */
        const int axis = (what - PLAIN_FACE) / 2, from = mirror(i, axis);
        const size_t image =
            plain_cell(p, axis == 0 ? x : x - velocity[i][0], axis == 1 ? y : y - velocity[i][1],
                       axis == 2 ? z : z - velocity[i][2]);
        const bool fluid = p->what[image] < PLAIN_FACE && p->rows[p->what[image]].fluid;
        return stored_of(fluid ? f[width * image + (size_t)from] : sent);
    }
    const double *const u = wall_velocity(p, what);
    return stored_of(u ? sent + wall_gain(i, u) : sent);
}

/* Compares population fault->i of cell fault->at with the plain steps, and notes both values. */
static bool is_right(const struct plain *p, const void *got, size_t place,
                     struct plain_fault *fault)
{
    const int *const at = fault->at;
    fault->is = (double)stored_value(fault->set, got, place);
    if (fault->set) {
        const set_stored wanted = scalar_arriving(p, fault->set, at, fault->i);
        fault->was_to_be = (double)wanted;
        return memcmp(&wanted, (const set_stored *)got + place, sizeof wanted) == 0;
    }
    const stored wanted = arriving(p, at[0], at[1], at[2], fault->i);
    fault->was_to_be = (double)value_of(wanted);
    return memcmp(&wanted, (const stored *)got + place, sizeof wanted) == 0;
}

static size_t compare(const struct plain *p, int set, const struct box *piece,
                      const void *populations, struct plain_fault *fault)
{
    const int nx = piece->hi[0] - piece->lo[0], ny = piece->hi[1] - piece->lo[1],
              nz = piece->hi[2] - piece->lo[2], q = set ? Q_AXES : Q;
    const size_t cells = (size_t)nx * (size_t)ny * (size_t)nz;
    size_t wrong = 0, first = cells;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (size_t place = 0; place < cells; place++) {
        const int row = (int)(place / (size_t)nx);
        struct plain_fault here = {.set = set,
                                   .at = {piece->lo[0] + (int)(place % (size_t)nx),
                                          piece->lo[1] + row % ny, piece->lo[2] + row / ny}};
        if (!p->rows[p->what[plain_cell(p, here.at[0], here.at[1], here.at[2])]].fluid)
            continue;
        for (here.i = 0; here.i < q; here.i++) {
            if (is_right(p, populations, (size_t)here.i * cells + place, &here))
                continue;
            wrong++;
#pragma omp critical
            if (place < first) {
                first = place;
                *fault = here;
            }
        }
    }
    return wrong;
}

#define JOINED(storage, arithmetic) plain_step_##storage##_##arithmetic
#define NAMED(storage, arithmetic) JOINED(storage, arithmetic)

extern const struct plain_step NAMED(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC);
const struct plain_step NAMED(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC) = {
    .storage = TAGFLOW_STORAGE,
    .arithmetic = TAGFLOW_ARITHMETIC,
    .real = sizeof(real),
    .take = take,
    .collide = collide_all,
    .compare = compare,
};
