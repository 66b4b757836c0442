/* Blocks of cells for parity: layout, tags, states; see parity.h. */
#include "parity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boundary.h"
#include "domain/domain.h"
#include "domain/sparse.h"
#include "law.h"
#include "solver/initial_make.h"
#include "sponge.h"
#include "stored.h"

/* Rows of the table in use, the last that a tag can name among them. TAG_WALL is a wall at rest. */
enum { FLUIDS = 2 * COLLISIONS > 4 ? 2 * COLLISIONS : 4, FIRST_WALL = 32, FIRST_LISTED = 64 };
static uint8_t fluid_row(int k)
{
    return (uint8_t)(k == FLUIDS - 1 ? TAG_ROWS - 2 : 1 + k);
}

/* The same fluid where the kernel of the list steps it. */
static uint8_t listed_row(uint8_t fluid)
{
    return (uint8_t)(FIRST_LISTED + (fluid == TAG_ROWS - 2 ? FLUIDS - 1 : fluid - 1));
}

/* Rules of walls, and of cells that are absent from the level (none), and the body that each is
 * part of, 0: none. Of the surfaces that two bodies have one turns; the third body is a wall
 * half-way, part of it with a velocity. */
static const struct {
    uint8_t rule, body;
} wall_kinds[] = {
    {BOUNDARY_halfway, 0},       {BOUNDARY_moving, 0},         {BOUNDARY_surface, 1},
    {BOUNDARY_surface, 2},       {BOUNDARY_halfway, 3},        {BOUNDARY_moving, 3},
    {BOUNDARY_slip, 0},          {BOUNDARY_velocity_links, 0}, {BOUNDARY_pressure_links, 0},
    {BOUNDARY_none, 0},          {BOUNDARY_cap_velocity, 0},   {BOUNDARY_cap_pressure, 0},
    {BOUNDARY_nonreflecting, 0},
};
enum { WALLS = sizeof wall_kinds / sizeof *wall_kinds, TURNING = 2 };

static uint8_t wall_row(int k)
{
    return (uint8_t)(k == 0 ? TAG_WALL : k == WALLS - 1 ? TAG_ROWS - 1 : FIRST_WALL + k);
}

/* splitmix64. */
uint64_t random_bits(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

int random_below(uint64_t *state, int n)
{
    return (int)((random_bits(state) >> 33) % (uint64_t)n);
}

double random_uniform(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-52 - 1;
}

struct mixture mixture(int number)
{
    const int scalars = number > MIXTURE_MIXED, one = scalars ? number - MIXTURE_MIXED - 1 : number;
    if (number >= MIXTURE_ONE)
        return (struct mixture){.collision = number - MIXTURE_ONE,
                                .forced = true,
                                .full = true,
                                .scalars = 1,
                                .one = true};
    if (number == MIXTURE_MIXED || one == COLLISIONS * (scalars ? 1 : 3))
        return (struct mixture){
            .collision = COLLISION_mixed, .forced = true, .full = true, .scalars = scalars};
    if (scalars)
        return (struct mixture){.collision = one, .forced = true, .full = true, .scalars = 1};
    return (struct mixture){
        .collision = number / 3, .forced = number % 3 > 0, .full = number % 3 > 1};
}

const char *mixture_name(struct mixture m)
{
    static const char *const names[COLLISIONS + 1][5] = {
#define X(name, ...) {#name, #name " forced", #name " full", #name " scalars", #name " one"},
        COLLISION_LIST(X)
#undef X
            {"mixed", "", "", "mixed scalars", ""}};
    const int collision = m.collision == COLLISION_mixed ? COLLISIONS : m.collision;
    return names[collision][m.one                     ? 4
                            : m.scalars               ? 3
                            : collision == COLLISIONS ? 0
                                                      : m.forced + m.full];
}

/* Relaxation rates over all that is stable, 1 and next to 2 among them. */
static double random_omega(uint64_t *random)
{
    switch (random_below(random, 6)) {
    case 0:
        return 1;
    case 1:
        return 1.9999;
    default:
        return 1 + 0.99 * random_uniform(random);
    }
}

/* Wall velocities along some axes, but for the row of walls at rest; turning about a point in the
 * block, with periodic images along some axes. */
static void make_walls(struct ground *g, struct mixture m, uint64_t *random)
{
    for (int k = 0; k < WALLS; k++) {
        struct tag_row row = {.boundary = wall_kinds[k].rule,
                              .body = wall_kinds[k].body,
                              .signal = (uint8_t)random_below(random, SIGNALS)};
        double velocity[3];
        for (int a = 0; a < 3; a++) {
            velocity[a] = random_below(random, 4) ? 0.1 * random_uniform(random) : 0;
            row.spin[a] = k == TURNING ? 0.02 * random_uniform(random) : 0;
            row.pivot[a] = g->view.lo[a] + 0.5 * g->view.n[a] * (1 + random_uniform(random));
            row.period[a] = random_below(random, 2) ? g->view.n[a] : 0;
        }
        if (m.closed && boundary_open(row.boundary))
            row.boundary = BOUNDARY_moving;
        if (row.boundary != BOUNDARY_halfway && row.boundary != BOUNDARY_none)
            tag_row_move(&row, velocity);
        g->rows[wall_row(k)] = row;
    }
}

static void make_rows(struct ground *g, struct mixture m, uint64_t *random)
{
#define X(name, ...) BOUNDARY_##name,
    static const enum boundary rules[] = {BOUNDARY_LIST(X)};
#undef X
    enum { RULES = sizeof rules / sizeof *rules };
    for (int k = 0; k < FLUIDS; k++) {
        struct tag_row *const row = &g->rows[fluid_row(k)];
        const bool mixed = m.collision == COLLISION_mixed;
        *row = (struct tag_row){
            .fluid = 1,
            .boundary = BOUNDARY_none,
            .collision = (uint8_t)(mixed ? k % COLLISIONS : m.collision),
            .forced = mixed ? k / COLLISIONS % 2 != 0 : m.forced && k > 0,
            .omega_even = random_omega(random),
            .omega_odd = random_omega(random),
            .omega_bulk = random_omega(random),
            .omega_third = random_omega(random),
            .omega_fourth = random_omega(random),
            .signal = (uint8_t)random_below(random, SIGNALS),
            .force_signal = (uint8_t)random_below(random, SIGNALS),
        };
        if (mixed ? k % 3 == 0 : m.full && k > 0)
            tag_row_smagorinsky(row, SUBGRID_smagorinsky, 0.2);
        if (row->subgrid && k % 2) { /* the table is the last one, see make_table */
            row->subgrid = SUBGRID_law;
            row->law = (uint32_t)(1 + g->view.table_values - LAW_VALUES);
        }
        if (mixed && row->forced && k % 4 != 2) /* only that step meets it */
            row->resist = (uint32_t)(1 + g->view.table_values - LAW_VALUES - RESIST_VALUES);
        for (int a = 0; a < 3 && row->forced; a++)
            row->acceleration[a] = random_below(random, 4) ? 1e-3 * random_uniform(random) : 0;
        if (m.full && k % 3 == 1)
            row->sponge = (uint8_t)(1 + random_below(random, 3));
        /* A rule of its own where populations arrive: what row loops leave to the cell's step. */
        if (mixed && k == FLUIDS - 1)
            row->boundary =
                rules[1 + random_below(random, m.closed ? BOUNDARY_LAST_WALL : RULES - 1)];
    }
    make_walls(g, m, random);
}

/* A quarter of the numbers is 0: what is not there is left out. */
static double perhaps(double value, uint64_t *random)
{
    return random_below(random, 4) ? value : 0;
}

static void random_rates(struct scalar_row *row, double capacity, uint64_t *random)
{
    const double k = 0.5 + 0.499 * random_uniform(random),
                 magic = random_below(random, 2) ? 0.25 : 1.0 / 6;
    row->conductivity = k;
    row->magic = magic;
    row->omega_odd = 1 / (4 * k + 0.5);
    row->omega_even = 4 * k / (magic + 2 * k);
    row->tensor = 16 * k * row->omega_odd;
    row->source = perhaps(0.01 * random_uniform(random), random);
    row->inverse = 1 / (capacity + 0.5 * row->decay);
    row->holds = 1;
}

/* In fluid: all scalars. Any scalar before a set may turn into it. */
static void fluid_scalar(struct scalar_row *row, int set, bool subgrid, bool lifts,
                         uint64_t *random)
{
    const double capacity = 1 + random_below(random, 3);
    *row = (struct scalar_row){.flow = capacity};
    row->decay = perhaps(0.05 * (1 + random_uniform(random)), random);
    row->from = (uint8_t)random_below(random, set);
    row->gain = row->from ? 0.05 * (1 + random_uniform(random)) : 0;
    row->turbulent = subgrid ? capacity / 0.85 : 0;
    row->buoyancy = lifts ? perhaps(random_uniform(random), random) : 0;
    row->slopes = random_below(random, 3) == 0;
    for (int a = 0; a < 3 && row->slopes; a++)
        row->gradient[a] = perhaps(0.1 * random_uniform(random), random);
    random_rates(row, capacity, random);
    row->per_flow = 1 / capacity;
    row->limited = random_below(random, 3) == 0;
}

/* Beyond walls: solids that hold a scalar where all cells have places, and each rule, some with
 * values over a face. */
static void wall_scalar(struct scalar_row *row, bool conducts, uint32_t table, uint64_t *random)
{
    *row = (struct scalar_row){.signal = (uint8_t)random_below(random, SIGNALS)};
    const int kind = random_below(random, 10);
    if (kind < 2 && conducts) {
        random_rates(row, 0.75 + random_below(random, 4), random);
        return;
    }
    row->wall = kind < 2 ? SCALAR_adiabatic : kind == 2 ? SCALAR_free : SCALAR_given;
    row->surface = kind == 3;
    if (kind == 4)
        row->wall = SCALAR_oblique;
    else if (kind >= 7)
        row->wall = kind < 9 ? SCALAR_layer : SCALAR_open;
    row->oblique = kind == 4 || kind == 7;
    row->a = kind == 3 ? -1 : random_uniform(random);
    row->b = 0.01 * random_uniform(random);
    row->across = (uint8_t)random_below(random, 3);
    row->table = random_below(random, 3) ? 0 : table;
}

/* The longest edge of the block. */
static int longest_of(const struct view *v)
{
    const int longest = v->n[0] > v->n[1] ? v->n[0] : v->n[1];
    return v->n[2] > longest ? v->n[2] : longest;
}

/* Where the values over a face begin in the table. */
static size_t face_place(const struct view *v)
{
    return (size_t)(Q + longest_of(v) + SPONGE_PAD);
}

static void make_scalars(struct ground *g, struct mixture m, uint64_t *random)
{
    struct view *const v = &g->view;
    const bool lifts = random_below(random, 3) > 0;
    v->scalars.row = g->scalar;
    for (int a = 0; a < 3; a++)
        v->scalars.gravity[a] = perhaps(1e-3 * random_uniform(random), random);
    for (int a = 0; a < 3; a++)
        v->scalars.mean_flow[a] = 0.1 * random_uniform(random);
    for (int set = 0; set < SETS; set++) {
        v->scalars.range[set].least = -0.02 * random_uniform(random);
        v->scalars.range[set].most = 0.02 * random_uniform(random);
    }
    for (int set = 1; set <= m.scalars; set++)
        for (int type = 0; type < TAG_ROWS; type++) {
            struct tag_row *const cells = &g->rows[type];
            struct scalar_row *const row = &g->scalar[(set - 1) * TAG_ROWS + type];
            if (cells->fluid) {
                fluid_scalar(row, set, cells->subgrid != SUBGRID_none, lifts, random);
                cells->forced |= lifts;
            } else {
                wall_scalar(row, !m.sparse && !m.one, (uint32_t)(1 + face_place(v)), random);
            }
        }
}

/* What the rows of sponges point to: a target, and strengths for any axis. Behind it values over a
 * face, a porous medium in a rotating frame, and a viscosity law. */
static bool make_table(struct ground *g)
{
    const int longest = longest_of(&g->view), face = longest * longest;
    uint64_t random = 7;
    g->view.table_values = face_place(&g->view) + (size_t)(face + RESIST_VALUES + LAW_VALUES);
    double *const table = g->table = calloc(g->view.table_values, sizeof *table);
    if (!table)
        return false;
    for (int k = 0; k < Q + longest; k++)
        table[k] = k < Q ? 0.01 * random_uniform(&random) : 0.5 + 0.5 * random_uniform(&random);
    for (int k = 0; k < face; k++)
        table[face_place(&g->view) + (size_t)k] = 0.01 * random_uniform(&random);
    double *const law = table + g->view.table_values - LAW_VALUES;
    for (int k = 0; k < LAW_VALUES; k++) /* the terms of t count as much as the first one */
        law[k] = k % LAW_TERMS ? 0.1 * random_uniform(&random) : 1 + 0.9 * random_uniform(&random);
    double *const resists = law - RESIST_VALUES;
    for (int a = 0; a < 3; a++) {
        resists[RESIST_D + a] = 0.1 + a;
        resists[RESIST_F + a] = resists[RESIST_LARGEST_F] = 1 + a;
        resists[RESIST_G + a] = a != 0;
        resists[RESIST_W + a] = 0.01 * (a - 2);
    }
    g->view.table = table;
    return true;
}

/* As domain_layout does it. */
static bool make_layout(struct ground *g, const int n[3], const int ghost[3], size_t bytes,
                        int scalars)
{
    struct view *const v = &g->view;
    for (int a = 0; a < 3; a++) {
        v->n[a] = n[a];
        v->ghost[a] = ghost[a];
        v->lo[a] = 7 * a; /* of use to turning surfaces alone */
    }
    view_lay_out(v, (size_t)(n[0] >= 30 ? GPU_ROW_BYTES : ROW_BYTES) / bytes);
    g->cells = v->cells;
    for (int k = 0; k < SIGNALS; k++)
        v->signal[k] = k == SIGNAL_one ? 1 : k - 0.4 * SIGNALS;
    v->set[SET_flow].stride = domain_stride(g->cells, (int)(8 * bytes));
    v->set[SET_flow].q = Q;
    v->set[SET_flow].bits = (uint8_t)(8 * bytes);
    for (v->sets = 1; v->sets <= scalars; v->sets++) {
        const uint8_t bits = bytes == 8 ? 64 : 32;
        v->set[v->sets] = (struct population_set){
            .stride = domain_stride(g->cells, bits), .q = Q_AXES, .bits = bits};
    }
    v->rows = g->rows;
    v->tags = g->tags = malloc(g->cells);
    return g->tags != NULL && make_table(g);
}

/* Owned and ghost cells alike in runs along x, some of them of walls. */
static void random_tags(struct ground *g, uint64_t *random)
{
    static const int one_of[] = {2, 4, 12, 60, 1 << 30};
    const int walls = one_of[random_below(random, sizeof one_of / sizeof *one_of)];
    const int longest = random_below(random, 2) ? 3 : 45, one_fluid = random_below(random, 2);
    uint8_t row = 0;
    for (size_t cell = 0, end = 0; cell < g->cells; cell++) {
        if (cell == end) {
            end += 1 + (size_t)random_below(random, longest);
            row = random_below(random, walls) == 0 ? wall_row(random_below(random, WALLS))
                                                   : fluid_row(random_below(random, FLUIDS));
        }
        /* A fluid that single obstacles stand in. */
        g->tags[cell] = !one_fluid                         ? row
                        : random_below(random, walls) == 0 ? wall_row(random_below(random, WALLS))
                                                           : fluid_row(1);
    }
}

/* What the ghosts of an axis' two sides are. */
enum side { SIDE_as_they_are, SIDE_fluid, SIDE_wall };

static void ghost_tags(struct ground *g, enum side side[3][2], uint8_t face[3][2])
{
    const struct view *const v = &g->view;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                const int at[3] = {x, y, z};
                uint8_t *const tag = &g->tags[view_index(v, x, y, z)];
                int walls = 0;
                for (int a = 0; a < 3; a++) {
                    const int beyond = at[a] >= v->n[a];
                    if (at[a] >= 0 && !beyond)
                        continue;
                    if (side[a][beyond] == SIDE_wall)
                        *tag = walls++ ? TAG_WALL : face[a][beyond];
                    else if (side[a][beyond] == SIDE_fluid && walls == 0)
                        *tag = fluid_row(0);
                }
            }
}

/* Where walls are only round the block, only its outermost cells can be beside them. */
static void mark_beside(struct ground *g, bool outermost)
{
    const struct view *const v = &g->view;
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            const bool end = z == 0 || z == v->n[2] - 1 || y == 0 || y == v->n[1] - 1;
            const int step = outermost && !end && v->n[0] > 1 ? v->n[0] - 1 : 1;
            for (int x = 0; x < v->n[0]; x += step)
                for (int i = 1; i < Q; i++)
                    if (view_bounces(v, i, x, y, z))
                        g->tags[view_index(v, x, y, z)] |= TAG_BESIDE;
        }
}

/* ---- the list of cells beside bodies ---- */

/* What is beyond the links of a fluid cell. */
struct beside {
    uint32_t links;
    bool surface, body;
};

static struct beside look_beside(const struct view *v, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    struct beside b = {0};
    for (int i = 1; i < Q && (tag & TAG_BESIDE) && v->rows[tag & TAG_ROW].fluid; i++) {
        const size_t from = view_index(v, x - c[i][0], y - c[i][1], z - c[i][2]);
        const struct tag_row *const row = &v->rows[v->tags[from] & TAG_ROW];
        b.links |= row->fluid ? 0 : 1u << i;
        b.surface = b.surface || (!row->fluid && boundary_is(row->boundary) & RULE_listed);
        b.body = b.body || (!row->fluid && row->body);
    }
    return b;
}

/* 0 < q <= 1; the ends and the middle among them. */
static float random_crossing(uint64_t *random)
{
    switch (random_below(random, 8)) {
    case 0:
        return 1;
    case 1:
        return 0.5f;
    case 2:
        return 0x1p-24f;
    default:
        return (float)(0.50390625 + 0.49609375 * random_uniform(random));
    }
}

static bool add_near(struct ground *g, int x, int y, int z, uint32_t links, uint64_t *random)
{
    struct view *const v = &g->view;
    if (v->near.count == g->near_space) {
        const size_t space = 2 * g->near_space + 64;
        struct near_cell *const near = realloc(g->near, space * sizeof *near);
        g->near = near ? near : g->near;
        float *const crossing = realloc(g->crossing, space * (Q - 1) * sizeof *crossing);
        g->crossing = crossing ? crossing : g->crossing;
        float *const facing = realloc(g->facing, space * (Q - 1) * sizeof *facing);
        g->facing = facing ? facing : g->facing;
        float *const speed = realloc(g->speed, space * (Q - 1) * sizeof *speed);
        g->speed = speed ? speed : g->speed;
        if (!near || !crossing || !facing || !speed)
            return false;
        g->near_space = space;
        v->near.cell = g->near;
        v->near.crossing = g->crossing;
        v->near.facing = g->facing;
        v->near.speed = g->speed;
    }
    g->near[v->near.count++] = (struct near_cell){{x, y, z}, links, (uint32_t)v->near.crossings};
    for (uint32_t left = links; left; left &= left - 1) {
        g->speed[v->near.crossings] = (float)random_uniform(random);
        g->facing[v->near.crossings] = (float)fabs(random_uniform(random));
        g->crossing[v->near.crossings++] = random_crossing(random);
    }
    return true;
}

/* The list's kernel steps all cells beside surfaces and caps, of 8 beside other bodies 2, of 8
 * beside other walls 1; of those beside bodies some more are there for forces alone. Where the
 * whole scene is one body: all. */
static bool make_list(struct ground *g, enum scene scene, uint64_t *random)
{
    struct view *const v = &g->view;
    for (int row = 0; row < TAG_ROWS; row++)
        if (g->rows[row].fluid == FLUID_swept) {
            g->rows[listed_row((uint8_t)row)] = g->rows[row];
            g->rows[listed_row((uint8_t)row)].fluid = FLUID_listed;
            for (int k = 0; k < v->sets - 1; k++)
                g->scalar[k * TAG_ROWS + listed_row((uint8_t)row)] = g->scalar[k * TAG_ROWS + row];
        }
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                uint8_t *const tag = &g->tags[view_index(v, x, y, z)];
                const struct beside b = look_beside(v, x, y, z);
                const int of_8 = scene == SCENE_body ? 0 : b.links ? random_below(random, 8) : 8;
                const bool steps = b.links && of_8 < (b.surface ? 8 : b.body ? 2 : 1);
                if (steps)
                    *tag = (uint8_t)(listed_row(*tag & TAG_ROW) | TAG_BESIDE);
                if ((steps || (b.body && of_8 < 6)) && !add_near(g, x, y, z, b.links, random))
                    return false;
            }
    return true;
}

/* A ball in the middle, a quarter of the shortest axis in radius. */
static void put_ball(struct ground *g)
{
    const struct view *const v = &g->view;
    int shortest = v->n[0] < v->n[1] ? v->n[0] : v->n[1];
    shortest = v->n[2] < shortest ? v->n[2] : shortest;
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const double at[3] = {x + 0.5 - 0.5 * v->n[0], y + 0.5 - 0.5 * v->n[1],
                                      z + 0.5 - 0.5 * v->n[2]};
                if (16 * (at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) <
                    1.0 * shortest * shortest)
                    g->tags[view_index(v, x, y, z)] = wall_row(TURNING);
            }
}

/* Makes walls of a third of the stretches of eight cells. */
static void make_stretches(struct ground *g, uint64_t *random)
{
    enum { STRETCH = 8 };
    for (size_t cell = 0; cell < g->cells; cell += STRETCH)
        if (random_below(random, 3) == 0)
            for (size_t k = cell; k < cell + STRETCH && k < g->cells; k++)
                g->tags[k] = TAG_WALL;
}

/* Gives places to fluid cells alone. */
static bool keep_fluid(struct ground *g)
{
    struct domain d = {.view = g->view, .tags = g->tags};
    struct sparse s;
    sparse_survey(&s, &d, 2);
    const bool kept = !sparse_keep(&d, &s, 2);
    g->view = d.view;
    g->place = d.place;
    g->link = d.link;
    return kept;
}

bool ground_create(struct ground *g, const int n[3], const int ghost[3], struct mixture m,
                   enum scene scene, size_t bytes, uint64_t seed)
{
    uint64_t random = seed;
    enum side side[3][2];
    uint8_t face[3][2];
    *g = (struct ground){0};
    if (!make_layout(g, n, ghost, bytes, m.scalars))
        return false;
    make_rows(g, m, &random);
    if (m.scalars)
        make_scalars(g, m, &random);
    if (scene == SCENE_random)
        random_tags(g, &random);
    else /* the fluids by turns, or one of those with one operator */
        for (size_t plane = (size_t)g->view.plane, z = 0; z < g->cells / plane; z++)
            memset(g->tags + z * plane,
                   fluid_row(m.collision != COLLISION_mixed ? 1 : (int)(z % (FLUIDS - 1))), plane);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 2; k++) {
            side[a][k] = scene == SCENE_closed   ? SIDE_wall
                         : scene != SCENE_random ? SIDE_as_they_are
                                                 : (enum side)random_below(&random, 3);
            face[a][k] = scene == SCENE_closed ? TAG_WALL : wall_row(random_below(&random, WALLS));
        }
    ghost_tags(g, side, face);
    if (m.sparse)
        make_stretches(g, &random);
    if (scene == SCENE_body)
        put_ball(g);
    mark_beside(g, scene == SCENE_open || scene == SCENE_closed);
    if (m.sparse && !keep_fluid(g))
        return false;
    const bool listed =
        (scene != SCENE_random && scene != SCENE_body) || make_list(g, scene, &random);
    view_derive(&g->view);
    return listed;
}

void ground_destroy(struct ground *g)
{
    free(g->tags);
    free(g->place);
    free(g->link);
    free(g->table);
    free(g->near);
    free(g->crossing);
    free(g->facing);
    free(g->speed);
    *g = (struct ground){0};
}

struct box ground_all(const struct ground *g)
{
    return (struct box){{0, 0, 0}, {g->view.n[0], g->view.n[1], g->view.n[2]}};
}

const char *const state_names[STATES] = {
#define X(name) #name,
    STATE_LIST(X)
#undef X
};

/* Denormal numbers of the storage, numbers about the smallest normal one, and zeros: of fp16 as
 * they are with its scale. */
static double draw_denormal(size_t bytes, uint64_t *random)
{
    const double normal = bytes == 8 ? 0x1p-1022 : bytes == 4 ? 0x1p-126 : 0x1p-29;
    const double denormal = 0.01 * normal;
    const double least = bytes == 8 ? 0x1p-1074 : bytes == 4 ? 0x1p-149 : 0x1p-39;
    const double sign = random_below(random, 2) ? 1 : -1;
    switch (random_below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return -0.0;
    case 2:
        return sign * least;
    case 3:
        return sign * normal;
    case 4:
        return 4 * normal * random_uniform(random);
    default:
        return denormal * random_uniform(random);
    }
}

static double draw(enum state state, size_t bytes, uint64_t *random)
{
    switch (state) {
    case STATE_denormal:
        return draw_denormal(bytes, random);
    case STATE_large:
        return (bytes == 2 ? 1.9 : 1e3) * random_uniform(random); /* fp16 ends at 2 */
    case STATE_cancelling: {
        const double unit = bytes == 8 ? 0x1p-52 : bytes == 4 ? 0x1p-23 : 0x1p-10;
        const double value = (random_below(random, 2) ? 0x1p-7 : 0x1.8p-7) *
                             (1 + (double)random_below(random, 5) * unit);
        return random_below(random, 2) ? value : -value;
    }
    default:
        return 0.01 * random_uniform(random);
    }
}

void state_fill(void *memory, size_t count, size_t bytes, enum state state, uint64_t seed)
{
    for (size_t k = 0; k < count; k++) {
        const double value = draw(state, bytes, &seed);
        if (bytes == 8)
            ((double *)memory)[k] = value;
        else if (bytes == 4)
            ((float *)memory)[k] = (float)value;
        else
            ((struct half *)memory)[k] = half_of((float)value);
    }
}

bool initial_create(struct initial *initial[2], struct backend *b, const struct view *v,
                    uint64_t seed)
{
    struct flow_case c = {.initial = {.flow = (enum initial_flow)(seed % INITIAL_FLOWS),
                                      .velocity = {0.01, -0.02, 0.03},
                                      .amplitude = 0.05,
                                      .axis = (int)(seed / 16 % 3),
                                      .thickness = 80,
                                      .perturbation = 0.05,
                                      .density = 0.01,
                                      .center = {3, 2, 1},
                                      .width = 4},
                          .acceleration = {1e-4, 0, -2e-4}};
    struct domain_opening openings[6] = {{.fitted = false}};
    c.initial.inlet = 2 * c.initial.axis;
    c.faces[c.initial.inlet] =
        (struct case_face){.kind = FACE_velocity, .velocity = {0.02, 0.01, -0.01}};
    for (int a = 0; a < 3; a++)
        c.cells[a] = v->lo[a] + v->n[a];
    const size_t bytes = initial_bytes(&c);
    initial[0] = b->type->alloc(b, bytes, 1);
    initial[1] = b->type->alloc_host(b, bytes);
    if (!initial[0] || !initial[1] || initial_make(initial[1], &c, openings))
        return false;
    initial[1]->settling = (int)(seed / 64 % 2);
    b->type->copy(b, QUEUE_INTERIOR, initial[0], initial[1], bytes);
    return true;
}
