/* Edges of levels keep their distance; see edges.h. */
#include "tags/edges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/signals.h"
#include "tags/faces.h"
#include "tags/refine.h"

/* ---- open faces ---- */

/* Can fluid pass the face at cell (i, j) of it? */
static bool open_at(const struct flow_case *c, int face, int i, int j)
{
    const struct case_face *what = &c->faces[face];
    for (int k = 0; k < c->patch_count; k++)
        if (c->patches[k].face == face && patch_holds(&c->patches[k], c->cells, i, j))
            what = &c->patches[k].opening;
    return face_open(what->kind);
}

/* Can fluid pass any part of the face? */
static bool opens(const struct flow_case *c, int face)
{
    bool any = face_open(c->faces[face].kind);
    for (int k = 0; k < c->patch_count; k++)
        any = any || (c->patches[k].face == face && face_open(c->patches[k].opening.kind));
    return any;
}

/* Marks the cells of a face that fluid can pass; open: [cells along axes 1][axes 0]. */
static void mark_open(const struct flow_case *c, int face, const int axes[2], uint8_t *open)
{
    const int *const n = c->cells;
    for (int j = 0; j < n[axes[1]]; j++)
        for (int i = 0; i < n[axes[0]]; i++)
            open[(size_t)j * (size_t)n[axes[0]] + (size_t)i] = open_at(c, face, i, j);
}

/* Is an open cell of the face beside these cells of level 0, or nearer than REFINE_APART cells to
 * them along the face? */
static bool opens_beside(const struct refined *r, const int axes[2], const uint8_t *open,
                         const int lo[3], const int hi[3])
{
    const int *const n = r->level[0].cells;
    for (int j = lo[axes[1]] - REFINE_APART; j < hi[axes[1]] + REFINE_APART; j++)
        for (int i = lo[axes[0]] - REFINE_APART; i < hi[axes[0]] + REFINE_APART; i++) {
            int at[2] = {i, j};
            bool in = true;
            for (int k = 0; k < 2; k++) {
                const int cells = n[axes[k]];
                in = in && (r->periodic[axes[k]] || (at[k] >= 0 && at[k] < cells));
                at[k] = (at[k] % cells + cells) % cells;
            }
            if (in && open[(size_t)at[1] * (size_t)n[axes[0]] + (size_t)at[0]])
                return true;
        }
    return false;
}

static enum status touches(const struct flow_case *c, int face, const int lo[3], const int hi[3])
{
    return fail_case(
        c->refine_count == 1 ? c->refines[0].place : NULL,
        "refine: cells of level 1 at (%g, %g, %g) are within %d cells of an opening in face %s "
        "(let "
        "the regions end farther from it: each level reaches %d cells of its own beyond the next "
        "finer one, and is made of bricks of %d cells of the level before)",
        0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), 0.5 * (lo[2] + hi[2]), REFINE_APART,
        face_name(face), REFINE_APART, BRICK_PARENTS);
}

/* Checks the bricks of level 1 that are near the face. */
static enum status check_face(const struct refined *r, const struct flow_case *c, int face,
                              const uint8_t *open)
{
    const int *const first = r->level[1].first, *const n = r->level[1].n;
    const int axis = face / 2, side = face % 2;
    int axes[2], at[3];
    face_axes(face, axes);
    for (at[2] = first[2]; at[2] < first[2] + n[2]; at[2]++)
        for (at[1] = first[1]; at[1] < first[1] + n[1]; at[1]++)
            for (at[0] = first[0]; at[0] < first[0] + n[0]; at[0]++) {
                int lo[3], hi[3];
                for (int a = 0; a < 3; a++) {
                    lo[a] = at[a] * BRICK_PARENTS;
                    hi[a] = lo[a] + BRICK_PARENTS;
                    hi[a] = hi[a] < c->cells[a] ? hi[a] : c->cells[a];
                }
                const bool near =
                    side ? hi[axis] > c->cells[axis] - REFINE_APART : lo[axis] < REFINE_APART;
                if (near && refined_holds(r, 1, 2 * lo[0], 2 * lo[1], 2 * lo[2]) &&
                    opens_beside(r, axes, open, lo, hi))
                    return touches(c, face, lo, hi);
            }
    return STATUS_OK;
}

static enum status check_openings(const struct refined *r, const struct flow_case *c)
{
    enum status status = STATUS_OK;
    for (int face = 0; face < 6 && !status; face++) {
        int axes[2];
        if (!opens(c, face))
            continue;
        face_axes(face, axes);
        uint8_t *const open = malloc((size_t)c->cells[axes[0]] * (size_t)c->cells[axes[1]]);
        if (!open)
            return fail_machine("out of memory for the cells of face %s", face_name(face));
        mark_open(c, face, axes, open);
        status = check_face(r, c, face, open);
        free(open);
    }
    return status;
}

/* Level 0 must have cells. */
static enum status check_cover(const struct refined *r, const struct flow_case *c)
{
    int64_t all = 1;
    for (int a = 0; a < 3; a++)
        all *= (r->level[1].cells[a] - 1) / BRICK + 1;
    if (r->level[1].bricks < all)
        return STATUS_OK;
    return fail_case(c->refine_count == 1 ? c->refines[0].place : NULL,
                     "refine: level 1 covers the whole box, with the cells that keep finer levels "
                     "away from its edge (give `domain` finer cells and lower all levels by one, "
                     "or make the regions smaller)");
}

enum status edges_fit(const struct refined *r, const struct flow_case *c)
{
    enum status status = STATUS_OK;
    if (r->levels > 1)
        status = check_cover(r, c);
    if (r->levels > 1 && !status)
        status = check_openings(r, c);
    return status;
}

/* ---- parts of faces that move ---- */

/* Which opening of the face is beside cell g, by its number, see case_opening(). */
static int opening_beside(const struct flow_case *c, int face, const int g[3])
{
    int found = face, axes[2];
    face_axes(face, axes);
    for (int k = 0; k < c->patch_count; k++)
        if (c->patches[k].face == face &&
            patch_holds(&c->patches[k], c->cells, g[axes[0]], g[axes[1]]))
            found = 6 + k;
    return found;
}

/* A moving wall runs to this face of the box inside of a level. This counts as so many edges that
 * it crosses. Measured at walls and planes of symmetry (tests/robustness/refined_walls.py); mass
 * passes openings anyway. */
static double counts_at_end(const struct flow_case *c, int face, const int g[3])
{
    const enum face_kind kind = case_opening(c, opening_beside(c, face, g))->kind;
    return kind == FACE_wall ? 1 : kind == FACE_slip ? 2 : 0;
}

/* Velocity with which opening `number` moves out of the level, summed over the coarse cells at the
 * edge of a brick. The level holds the brick, which lies at the opening's face. */
static double moves_out(const struct refined *r, const struct flow_case *c, int level, int number,
                        const int brick[3])
{
    const struct case_face *const what = case_opening(c, number);
    const int face = case_opening_side(c, number);
    const int *const cells = r->level[level].cells;
    double sum = 0;
    int axes[2];
    face_axes(face, axes);
    for (int k = 0; k < 4; k++) {
        const int along = axes[k / 2], other = axes[1 - k / 2], side = k % 2;
        const double out = side ? what->velocity[along] : -what->velocity[along];
        const int first = brick[along] * BRICK;
        const int end = first + BRICK < cells[along] ? first + BRICK : cells[along];
        int at[3] = {brick[0] * BRICK, brick[1] * BRICK, brick[2] * BRICK}, beyond[3];
        at[along] = side ? end - 1 : first;
        for (int cell = 0; cell < BRICK_PARENTS; cell++, at[other] += 2) {
            if (at[other] >= cells[other])
                break;
            memcpy(beyond, at, sizeof beyond);
            beyond[along] = side ? end : first - 1;
            const bool ends =
                !r->periodic[along] && (beyond[along] < 0 || beyond[along] >= cells[along]);
            if (!ends && refined_holds(r, level, beyond[0], beyond[1], beyond[2]))
                break;
            int from[3], to[3];
            for (int a = 0; a < 3; a++) {
                from[a] = at[a] >> level;
                to[a] = ((beyond[a] >> level) + c->cells[a]) % c->cells[a];
            }
            const bool here = opening_beside(c, face, from) == number;
            if (ends)
                sum += here ? out * counts_at_end(c, 2 * along + side, from) : 0;
            else /* half where it ends at the edge */
                sum += out * 0.5 * (here + (opening_beside(c, face, to) == number));
        }
    }
    return sum;
}

/* A wall gives as much mass to what leaves it forward as it takes from what leaves it backward. At
 * an edge that it crosses the two differ by 1/12 of velocity times density a coarse cell; so they
 * do where a level ends with it. */
static void warn_moving(const struct refined *r, const struct flow_case *c, int number)
{
    const int face = case_opening_side(c, number), axis = face / 2;
    char name[FACES_NAME];
    double mass = 0, all = 0;
    for (int l = 1; l < r->levels; l++) {
        const int *const first = r->level[l].first, *const n = r->level[l].n;
        const int layer = face % 2 ? (r->level[l].cells[axis] - 1) / BRICK : 0;
        int at[3];
        for (at[2] = first[2]; at[2] < first[2] + n[2]; at[2]++)
            for (at[1] = first[1]; at[1] < first[1] + n[1]; at[1]++)
                for (at[0] = first[0]; at[0] < first[0] + n[0]; at[0]++) {
                    if (at[axis] != layer ||
                        !refined_holds(r, l, at[0] * BRICK, at[1] * BRICK, at[2] * BRICK))
                        continue;
                    const double out =
                        ldexp(moves_out(r, c, l, number, at), -refined_dimensions(r, 2) * (l - 1));
                    mass += out;
                    all += fabs(out);
                }
    }
    if (fabs(mass) <= 1e-9 * all)
        return;
    faces_name(c, number, name);
    warn("level_edge_moving",
         "%s: each step %s %.3g of a cell's mass where the moving wall leaves and enters finer "
         "levels (let it cross their edges in pairs, or end outside of them; no level may touch it "
         "at one plane of symmetry alone)",
         name, mass > 0 ? "adds" : "takes", fabs(mass) / 12);
}

/* Does a finer level cover this cell of the level? */
static bool is_covered(const struct refined *r, int level, const int at[3])
{
    return refined_holds(r, level + 1, 2 * at[0], 2 * at[1], 2 * at[2]);
}

/* Is a cell of the level, in the plane `at` normal to the axis and beside this face, beside a cell
 * along the axis that a finer level covers? */
static bool meets_edge(const struct refined *r, int level, int axis, int at, int face)
{
    const int beside = face / 2, along = 3 - axis - beside, *const n = r->level[level].cells;
    int cell[3];
    cell[axis] = at;
    cell[beside] = face % 2 ? n[beside] - 1 : 0;
    for (cell[along] = 0; cell[along] < n[along]; cell[along]++) {
        int before[3] = {cell[0], cell[1], cell[2]}, behind[3] = {cell[0], cell[1], cell[2]};
        before[axis]--;
        behind[axis]++;
        if (refined_holds(r, level, cell[0], cell[1], cell[2]) && !is_covered(r, level, cell) &&
            (is_covered(r, level, before) || is_covered(r, level, behind)))
            return true;
    }
    return false;
}

/* Warns of flow rates through a plane with coarse cells beside both an edge and a wall
 * (docs/lab/refinement.md, "Flow rates in coarse planes beside an edge"). */
static void warn_plane(const struct refined *r, const struct flow_case *c,
                       const struct case_series *what)
{
    bool any = false;
    for (int level = 0; level < r->levels - 1; level++)
        for (int layer = 0, halved = refined_halved(r, level, what->axis); layer < 1 << halved;
             layer++)
            for (int f = 0; f < 6; f++)
                any = any || (f / 2 != what->axis && c->faces[f].kind == FACE_wall &&
                              meets_edge(r, level, what->axis, (what->at << halved) + layer, f));
    if (any)
        warn("level_edge_plane",
             "output.series.%s: its plane is beside an edge of a level that meets a wall: the flow "
             "rate there is some tenths of a percent too low (take another plane)",
             what->name);
}

void edges_advise(const struct refined *r, const struct flow_case *c)
{
    for (int k = 0; k < c->series_count; k++)
        if (c->series[k].kind == SERIES_KIND_flow_rate ||
            c->series[k].kind == SERIES_KIND_mixing_cup)
            warn_plane(r, c, &c->series[k]);
    for (int k = 0; k < 6 + c->patch_count; k++) {
        const struct case_face *const what = case_opening(c, k);
        if (what->kind == FACE_wall && face_speed(what) > 0)
            warn_moving(r, c, k);
    }
}

/* ---- bodies ---- */

/* Cells from one that is looked at to the next, so that none of the bricks is passed over: they
 * have `brick` cells, but the last one of an axis may have less, an even number of cells of its own
 * level. */
static int stride(int cells, int brick, int reach)
{
    const int least = brick == BRICK ? 2 : 1;
    return cells % brick ? least : reach < brick ? reach : brick;
}

/* Are all cells of the box within `reach` of the cell in the level `held` (all), or is one (any)?
 * Coordinates are of level d->level. */
static bool look_around(const struct domain *d, const int g[3], int reach, int held, bool any)
{
    const int shift = held - d->level;
    int step[3], o[3];
    for (int a = 0; a < 3; a++)
        step[a] = stride(d->cells[a], BRICK >> shift, reach);
    for (o[2] = -reach; o[2] <= reach; o[2] += step[2])
        for (o[1] = -reach; o[1] <= reach; o[1] += step[1])
            for (o[0] = -reach; o[0] <= reach; o[0] += step[0]) {
                int at[3];
                bool in = true;
                for (int a = 0; a < 3; a++) {
                    at[a] = g[a] + o[a];
                    in = in && (d->box_periodic[a] || (at[a] >= 0 && at[a] < d->cells[a]));
                }
                if (in && refined_holds(d->refined, held, at[0] << shift, at[1] << shift,
                                        at[2] << shift) == any)
                    return any;
            }
    return !any;
}

/* Does the cell touch fluid along an axis? */
static bool beside_fluid(const struct domain *d, int x, int y, int z)
{
    const struct view *const v = &d->view;
    const int at[3] = {x, y, z};
    for (int a = 0; a < 3; a++)
        for (int side = -1; side <= 1; side += 2) {
            int to[3] = {x, y, z};
            to[a] = at[a] + side;
            if (view_fluid(v, view_index(v, to[0], to[1], to[2])))
                return true;
        }
    return false;
}

/* Does the body hold a scalar? Then its inside must keep the distance, too. */
static bool conducts(const struct flow_case *c, int body)
{
    bool any = false;
    for (int k = 0; k < c->scalar_count; k++)
        any = any || case_body_conducts(&c->bodies[body], k);
    return any;
}

/* Levels whose edge is too near to the cell of a body: 0: none; else 1 + the level. */
static int edge_near(const struct domain *d, const struct flow_case *c, int body, const int g[3])
{
    (void)c;
    (void)body;
    const int level = d->level;
    if (!refined_has(d->refined, level, g[0], g[1], g[2]))
        return 0;
    if (level > 0 && !look_around(d, g, EDGES_INSIDE, level, false))
        return 1 + level;
    if (level + 1 < d->refined->levels && look_around(d, g, EDGES_OUTSIDE, level + 1, true))
        return 2 + level;
    return 0;
}

/* The region whose edge it is, by its place and name. */
static const struct case_refine *region_of(const struct refined *r, int level, int body)
{
    const struct case_refine *found = NULL;
    for (int k = 0; k < r->regions; k++) {
        const struct case_refine *const what = &r->region[k];
        const bool own = what->of == REFINE_around && what->body == body;
        if (what->level == level && (own || !found || found->level != level))
            found = what;
        else if (what->level > level && !found) /* it made the level grow */
            found = what;
    }
    return found;
}

static enum status report(const struct domain *d, const struct flow_case *c, int64_t cell,
                          int level, int body)
{
    const struct case_refine *const region = region_of(d->refined, level, body);
    const bool inside = level == d->level;
    int g[3];
    domain_coordinates(d, cell, g);
    return fail_case(
        c->bodies[body].place,
        "bodies.%s comes within %d %s cells of the edge of level %d at (%g, %g, %g) "
        "(enlarge refine.%s, or let it end %d cells before the body; in place of a floor that has "
        "no end, a wall face)",
        c->bodies[body].name, inside ? EDGES_INSIDE : EDGES_OUTSIDE, inside ? "fine" : "coarse",
        level, refined_place(d->refined, d->level, 0, g[0] + 0.5),
        refined_place(d->refined, d->level, 1, g[1] + 0.5),
        refined_place(d->refined, d->level, 2, g[2] + 0.5), region ? region->name : "*",
        EDGES_OUTSIDE + 1);
}

/* Does the body go through the whole box along an axis, as a cylinder does? */
static bool goes_through(const struct flow_case *c, const struct case_body *body)
{
    bool any = false;
    for (int a = 0; a < 3; a++)
        any = any || (body->lo[a] <= 0 && body->hi[a] >= c->cells[a]);
    return any;
}

/* Cells of the coarser level that ought to be between the level's edge and a body inside, so that
 * the drag is off by less than 1 %. With `rr` it was off by 17 % over the product of this distance
 * and the size of a sphere in cells of the level, 9 % of a cylinder (docs/lab/refinement.md). 0:
 * none, or not known. */
static int least_distance(const struct flow_case *c, int body)
{
    enum { MOST = 3 };
    const double error = goes_through(c, &c->bodies[body]) ? 9 : 17;
    const double size = case_body_size(c, &c->bodies[body]);
    return size > 0 && !collision_on_pairs(c->solver.collision)
               ? (int)fmin(ceil(error / size), MOST)
               : 0;
}

/* The same if the edge of the cell's level is nearer, else 0. */
static int edge_close(const struct domain *d, const struct flow_case *c, int body, const int g[3])
{
    const int least = least_distance(c, body);
    return d->level > 0 && 2 * least > EDGES_INSIDE &&
                   refined_has(d->refined, d->level, g[0], g[1], g[2]) &&
                   !look_around(d, g, 2 * least, d->level, false)
               ? least
               : 0;
}

/* 1 + number of the body that a cell of this type belongs to, or is behind a cap of; 0: none. */
static int body_of(const struct domain *d, const struct flow_case *c, int type)
{
    int body = d->rows[type].body;
    for (int k = 0; k < c->body_count && d->row_cap[type]; k++)
        body = c->bodies[k].cap_count ? 1 + k : body;
    return body;
}

/* The first cell of a body that is near an edge, INT64_MAX: there is none; what: its near(), and
 * its body. Collective. */
static int64_t first_near(const struct domain *d, const struct flow_case *c,
                          int (*near)(const struct domain *d, const struct flow_case *c, int body,
                                      const int g[3]),
                          int what[2])
{
    const struct view *const v = &d->view;
    int64_t first = INT64_MAX, mine;
#pragma omp parallel for num_threads(case_threads(c)) schedule(dynamic) reduction(min : first)
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1] && !signals_number(); y++) {
            const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
            for (int x = 0; x < v->n[0]; x++) {
                const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                const int body = body_of(d, c, tags[x] & TAG_ROW);
                if (!body || (!beside_fluid(d, x, y, z) && !conducts(c, body - 1)) ||
                    !near(d, c, body - 1, g))
                    continue;
                const int64_t cell =
                    ((int64_t)g[2] * d->cells[1] + g[1]) * (int64_t)d->cells[0] + g[0];
                first = cell < first ? cell : first;
            }
        }
    mine = first;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, d->comm);
    what[0] = what[1] = 0;
    if (first == INT64_MAX)
        return first;
    if (first == mine) {
        int g[3];
        domain_coordinates(d, first, g);
        const size_t cell = view_index(v, g[0] - d->lo[0], g[1] - d->lo[1], g[2] - d->lo[2]);
        what[1] = body_of(d, c, v->tags[cell] & TAG_ROW) - 1;
        what[0] = near(d, c, what[1], g);
    }
    MPI_Allreduce(MPI_IN_PLACE, what, 2, MPI_INT, MPI_MAX, d->comm);
    return first;
}

static bool has_edges(const struct domain *d, const struct flow_case *c)
{
    return d->refined && d->refined->levels > 1 && c->body_count;
}

enum status edges_clear(const struct domain *d, const struct flow_case *c)
{
    int what[2];
    const int64_t first = has_edges(d, c) ? first_near(d, c, edge_near, what) : INT64_MAX;
    return first == INT64_MAX ? STATUS_OK : report(d, c, first, what[0] - 1, what[1]);
}

void edges_look(const struct domain *d, const struct flow_case *c, struct edges_close *close)
{
    int what[2] = {0, 0};
    close->cell = has_edges(d, c) ? first_near(d, c, edge_close, what) : INT64_MAX;
    close->least = what[0];
    close->body = what[1];
}
