/* A block and its tags; see create.h. */
#include "tags/create.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/agree.h"
#include "base/message.h"
#include "base/signals.h"
#include "boundary.h"
#include "domain/balance.h"
#include "domain/decompose.h"
#include "domain/sparse.h"
#include "elementary.h"
#include "tags/bodies.h"
#include "tags/caps.h"
#include "tags/edges.h"
#include "tags/faces.h"
#include "tags/laws.h"
#include "tags/near_list.h"
#include "tags/resist.h"
#include "tags/scalars.h"
#include "tags/zones.h"

/* Sets the acceleration of a fluid cell type. */
static enum status drive_row(struct domain *d, const struct flow_case *c, struct tag_row *row)
{
    for (int a = 0; a < 3; a++) {
        row->acceleration[a] = c->acceleration[a];
        row->forced |= c->acceleration[a] != 0;
    }
    if (c->flow_rate.given) { /* the time function is its magnitude */
        row->acceleration[c->flow_rate.axis] = 1;
        row->forced = 1;
    }
    row->forced |= scalars_lift(c);
    const enum status s = domain_resist(d, c, NULL, row);
    if (s || !row->forced)
        return s;
    return domain_signal(d, c->flow_rate.given ? NULL : &c->force_signal, &row->force_signal);
}

static enum status make_rows(struct domain *d, const struct flow_case *c)
{
    d->rows[TAG_WALL] = (struct tag_row){.boundary = BOUNDARY_halfway};
    d->rows[TAG_FLUID] = (struct tag_row){
        .fluid = FLUID_swept,
        .boundary = BOUNDARY_none,
        .collision = (uint8_t)c->solver.collision,
        .omega_bulk = c->solver.rates.bulk,
        .omega_third = c->solver.rates.third,
        .omega_fourth = c->solver.rates.fourth,
    };
    tag_row_rates(&d->rows[TAG_FLUID], 3 * c->fluid.viscosity + 0.5, c->solver.magic);
    if (c->solver.subgrid == SUBGRID_smagorinsky)
        tag_row_smagorinsky(&d->rows[TAG_FLUID], SUBGRID_smagorinsky, c->solver.smagorinsky);
    /* The spin: to a cell beside it, its velocity is unknown (initial_beside() in initial.h). */
    d->rows[TAG_ABSENT] =
        (struct tag_row){.fluid = FLUID_none, .boundary = BOUNDARY_none, .spin = {1, 0, 0}};
    d->row_count = TAG_FIRST_FACE;
    const enum status status = domain_law(d, c, &d->rows[TAG_FLUID]);
    return status ? status : drive_row(d, c, &d->rows[TAG_FLUID]);
}

/* (1 - exp(-y+/26))^2 with y+ in wall units, y the distance of cell g to the nearer wall normal to
 * the axis (Van Driest, J. Aeronaut. Sci. 23:1007, 1956); 1 without a wall. */
static double wall_damping(const struct domain *d, const struct flow_case *c, int axis, int g)
{
    double y = INFINITY;
    if (c->faces[2 * axis].kind == FACE_wall)
        y = g + 0.5;
    if (c->faces[2 * axis + 1].kind == FACE_wall && d->cells[axis] - g - 0.5 < y)
        y = d->cells[axis] - g - 0.5;
    const double ratio = y * (c->solver.van_driest / c->fluid.viscosity) / 26;
    const double rest = ratio < 700 ? 1 - exact_exp(-ratio) : 1;
    return rest * rest;
}

/* Makes the damping factors for all fluid cell types with a subgrid model. */
static enum status damp_rows(struct domain *d, const struct flow_case *c)
{
    const int *const n = d->view.n;
    size_t place;
    if (c->solver.subgrid == SUBGRID_none || c->solver.van_driest <= 0)
        return STATUS_OK;
    const enum status s =
        domain_table(d, (size_t)n[0] + DAMPING_GUARD + (size_t)n[1] + (size_t)n[2], &place);
    if (s)
        return s;
    double *value = d->table + place;
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < n[a]; k++)
            *value++ = wall_damping(d, c, a, d->lo[a] + k);
        value += a == 0 ? DAMPING_GUARD : 0;
    }
    for (struct tag_row *row = d->rows; row < d->rows + d->row_count; row++) {
        row->damped = row->fluid && row->subgrid != SUBGRID_none;
        row->damping = (uint32_t)place;
    }
    return STATUS_OK;
}

/* Adds 1 at each cell of the row at (y, z) that is not fluid; solid[x + 1] is cell x, -1 <= x <= n.
 */
static void add_solid(const struct view *v, const uint8_t fluid[TAG_ROWS], int y, int z,
                      uint8_t *solid)
{
    const int n = v->n[0];
    const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
    for (int x = 0; x < n; x++)
        solid[x + 1] |= !fluid[tags[x] & TAG_ROW];
    solid[0] |= !fluid[v->tags[view_index(v, -1, y, z)] & TAG_ROW];
    solid[n + 1] |= !fluid[v->tags[view_index(v, n, y, z)] & TAG_ROW];
}

/* Marks cells of a row of which a neighbour along the 18 directions is not fluid. lines: [3][n + 2]
 * bytes. */
static void mark_row(struct domain *d, const uint8_t fluid[TAG_ROWS], int y, int z, uint8_t *lines)
{
    const struct view *const v = &d->view;
    const size_t length = (size_t)v->n[0] + 2;
    uint8_t *const own = lines, *const beside = own + length, *const diagonal = beside + length;
    uint8_t *const tags = d->tags + view_index(v, 0, y, z);
    memset(lines, 0, 3 * length);
    for (int cz = -1; cz <= 1; cz++)
        for (int cy = -1; cy <= 1; cy++)
            add_solid(v, fluid, y + cy, z + cz, cy && cz ? diagonal : cy || cz ? beside : own);
    for (int x = 0; x < v->n[0]; x++) {
        const uint8_t any =
            own[x] | own[x + 2] | beside[x] | beside[x + 1] | beside[x + 2] | diagonal[x + 1];
        tags[x] |= any ? TAG_BESIDE : 0;
    }
}

/* Sets TAG_BESIDE and counts the fluid cells, with all threads. A thread may read a tag while
 * another one sets TAG_BESIDE in it: it looks at the other bits. */
static enum status mark_beside(struct domain *d, const struct flow_case *c, int64_t *fluid_cells)
{
    const struct view *const v = &d->view;
    const int threads = case_threads(c);
    const size_t length = 3 * ((size_t)v->n[0] + 2);
    uint8_t fluid[TAG_ROWS], *const lines = malloc((size_t)threads * length);
    int64_t count = 0;
    if (!lines)
        return fail_machine("out of memory for the tags");
    for (int row = 0; row < TAG_ROWS; row++)
        fluid[row] = d->rows[row].fluid != FLUID_none;
#pragma omp parallel for num_threads(threads) reduction(+ : count)
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1] && !signals_number(); y++) {
            const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
            mark_row(d, fluid, y, z, lines + (size_t)omp_get_thread_num() * length);
            for (int x = 0; x < v->n[0]; x++)
                count += fluid[tags[x] & TAG_ROW];
        }
    free(lines);
    *fluid_cells = count;
    return STATUS_OK;
}

/* Marks the cells of a row of the block, ghost cells included, that belong to another level. Cells
 * beyond the box keep their types. */
static void mark_absent_row(struct domain *d, int y, int z)
{
    const struct view *const v = &d->view;
    const int gy = domain_wrap(d, 1, d->lo[1] + y), gz = domain_wrap(d, 2, d->lo[2] + z);
    if (gy < 0 || gy >= d->cells[1] || gz < 0 || gz >= d->cells[2])
        return;
    for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0];) {
        const int gx = domain_wrap(d, 0, d->lo[0] + x);
        if (gx < 0 || gx >= d->cells[0]) {
            x++;
            continue;
        }
        /* The next cells to the end of a finer level's brick are alike. */
        int count = BRICK_PARENTS - gx % BRICK_PARENTS;
        count = count < d->cells[0] - gx ? count : d->cells[0] - gx;
        count = count < v->n[0] + v->ghost[0] - x ? count : v->n[0] + v->ghost[0] - x;
        if (!refined_has(d->refined, d->level, gx, gy, gz))
            for (int k = 0; k < count; k++)
                d->tags[view_index(v, x + k, y, z)] = TAG_ABSENT;
        x += count;
    }
}

static void mark_absent(struct domain *d, const struct flow_case *c)
{
    const struct view *const v = &d->view;
    if (!d->refined)
        return;
#pragma omp parallel for num_threads(case_threads(c))
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1] && !signals_number(); y++)
            mark_absent_row(d, y, z);
}

static enum status no_fluid(const struct domain *d)
{
    if (d->level == 0 && d->refined && d->refined->levels > 1)
        return fail_user(
            "the bodies and the regions of `refine` leave no fluid cell of level 0 (in "
            "place of a level that holds all of the fluid, a finer grid)");
    if (d->level == 0)
        return fail_user("the bodies leave no fluid cell");
    return fail_user("level %d has no fluid cell: its regions lie in bodies (move them, or remove "
                     "them)",
                     d->level);
}

/* Level to cut, and its cuts; at: positions of cuts, NULL: even ones. */
struct cuts {
    const struct refined *refined; /* NULL: one level */
    int level, cuts[3];
    int *const *at;
    int row_bytes;
};

/* Makes this rank's part and its tags. Collective. */
static enum status create_at(struct domain *d, const struct flow_case *c, MPI_Comm comm,
                             const struct cuts *by)
{
    int rank;
    enum status status;
    MPI_Comm_rank(comm, &rank);
    domain_layout_level(d, c, by->refined, by->level, by->cuts, by->at, rank);
    domain_align_rows(d, by->row_bytes);
    d->comm = comm;
    d->view.tags = d->tags = malloc(d->view.cells);
    status = d->tags ? domain_keep_cuts(d, by->at)
                     : fail_machine("out of memory for the tags of %zu cells", d->view.cells);
    status = status_agree(comm, status);
    if (status) {
        domain_destroy(d);
        return status;
    }
    status = make_rows(d, c);
    if (status) {
        domain_destroy(d);
        return status;
    }

    int64_t fluid = 0;
    memset(d->tags, TAG_FLUID, d->view.cells);
    status = status_agree(comm, domain_faces(d, c));
    struct bodies bodies = {0};
    if (!status)
        status = bodies_place(&bodies, d, c);
    if (!status)
        status = status_agree(comm, caps_place(&bodies, d));
    if (!status)
        status = faces_fit(d, c);
    if (!status && !(status = domain_zones(d, c)))
        status = damp_rows(d, c);
    status = status_agree(comm, status);
    if (!status)
        status = edges_clear(d, c);
    if (!status) {
        mark_absent(d, c);
        bodies_mirror(d, c);
        status = status_agree(comm, mark_beside(d, c, &fluid));
    }
    if (!status)
        status = near_list_make(&bodies, d);
    if (!status)
        status = caps_links(&bodies, d);
    bodies_close(&bodies);
    if (!status)
        status = status_agree(comm, scalars_rows(d, c));
    if (!status)
        status = stop_agree(comm);
    if (status) {
        domain_destroy(d);
        return status;
    }
    MPI_Allreduce(&fluid, &d->fluid_cells, 1, MPI_INT64_T, MPI_SUM, comm);
    if (d->fluid_cells == 0) {
        status = no_fluid(d);
        domain_destroy(d);
        return status;
    }
    d->imbalance = 1;
    return STATUS_OK;
}

enum status domain_whole(struct domain *d, const struct flow_case *c)
{
    return create_at(d, c, MPI_COMM_SELF,
                     &(struct cuts){.cuts = {1, 1, 1}, .row_bytes = ROW_BYTES});
}

enum status domain_tile(struct domain *d, const struct flow_case *c, const int lo[3],
                        const int hi[3])
{
    int at[3][4], *const place[3] = {at[0], at[1], at[2]}, cuts[3], part[3];
    int64_t fluid;
    for (int a = 0; a < 3; a++) {
        const bool whole = lo[a] == 0 && hi[a] == c->cells[a];
        cuts[a] = whole ? 1 : 3;
        part[a] = whole ? 0 : 1;
        at[a][0] = 0;
        at[a][1] = whole ? hi[a] : lo[a];
        at[a][2] = hi[a];
        at[a][3] = c->cells[a];
    }
    domain_layout_at(d, c, cuts, place, (part[2] * cuts[1] + part[1]) * cuts[0] + part[0]);
    d->comm = MPI_COMM_SELF;
    d->view.tags = d->tags = malloc(d->view.cells);
    if (!d->tags)
        return fail_machine("out of memory for the tags of %zu cells", d->view.cells);
    memset(d->tags, TAG_FLUID, d->view.cells);
    enum status status = make_rows(d, c);
    if (!status)
        status = bodies_solid(d, c);
    if (!status)
        status = mark_beside(d, c, &fluid);
    if (status)
        domain_destroy(d);
    else
        d->fluid_cells = fluid;
    return status;
}

/* Makes even blocks first, then cuts anew if their tags show that other cuts balance the fluid
 * better. */
static enum status create_balanced(struct domain *d, const struct flow_case *c, MPI_Comm comm,
                                   struct cuts *by)
{
    struct balance b;
    enum status status = create_at(d, c, comm, by);
    if (status || by->cuts[0] * by->cuts[1] * by->cuts[2] == 1)
        return status;
    status = balance_create(&b, d, by->cuts);
    if (status) {
        domain_destroy(d);
        return status;
    }
    if (!b.even) {
        domain_destroy(d);
        by->at = b.at;
        status = create_at(d, c, comm, by);
    }
    if (!status)
        d->imbalance = b.imbalance;
    balance_destroy(&b);
    return status;
}

/* Can so many blocks of at least one cell be cut? */
static bool has_room(const int cells[3], int ranks)
{
    for (int pz = 1; pz <= ranks && pz <= cells[2]; pz++)
        for (int py = 1; ranks % pz == 0 && py <= ranks / pz && py <= cells[1]; py++)
            if (ranks / pz % py == 0 && ranks / pz / py <= cells[0])
                return true;
    return false;
}

/* Takes the cuts of the case where they fit a level. Cuts are between groups of cells. */
enum status domain_cuts(const struct flow_case *c, const struct refined *r, int level, int ranks,
                        int cuts[3])
{
    int extent[3], wanted[3];
    bool fits = true;
    if (!r || r->levels == 1)
        return decompose(c->cells, c->run.ranks, ranks, cuts);
    for (int a = 0; a < 3; a++) {
        const int cells = r->level[level].hi[a] - r->level[level].lo[a];
        extent[a] = (cells + BRICK_PARENTS - 1) / BRICK_PARENTS;
        fits = fits && c->run.ranks[a] <= extent[a];
    }
    for (int a = 0; a < 3; a++)
        wanted[a] = fits ? c->run.ranks[a] : 0;
    if (!has_room(extent, ranks))
        return fail_user("level %d of the refined grid spans %d x %d x %d groups of 4^3 cells, too "
                         "few to cut them among %d ranks (start fewer ranks, or refine a larger "
                         "region)",
                         level, extent[0], extent[1], extent[2], ranks);
    return decompose(extent, wanted, ranks, cuts);
}

enum status domain_create(struct domain *d, const struct flow_case *c, MPI_Comm comm)
{
    return domain_create_level(d, c, NULL, 0, ROW_BYTES, comm);
}

enum status domain_create_level(struct domain *d, const struct flow_case *c,
                                const struct refined *r, int level, int row_bytes, MPI_Comm comm)
{
    int ranks;
    struct cuts by = {.refined = r, .level = level, .row_bytes = row_bytes};
    MPI_Comm_size(comm, &ranks);
    enum status status = domain_cuts(c, r, level, ranks, by.cuts);
    if (!status)
        status = create_balanced(d, c, comm, &by);
    if (status)
        return status;
    status = sparse_choose(d, c);
    if (status)
        domain_destroy(d);
    return status;
}
