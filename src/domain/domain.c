/* One rank's part of the flow; see domain.h. */
#include "domain/domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/elementary.h"
#include "base/message.h"
#include "boundary.h"
#include "domain/balance.h"
#include "domain/bodies.h"
#include "domain/decompose.h"
#include "domain/faces.h"
#include "domain/sparse.h"
#include "domain/zones.h"

/* Cells of the shell across a cut along x: rows are updated a vector at a time. */
enum { X_SHELL = 32 };

enum { CACHE_LINE = 64 };

static const int velocities[Q][3] = LATTICE_VELOCITIES;

static int rank_at(const struct domain *d, const int block[3])
{
    return (block[2] * d->cuts[1] + block[1]) * d->cuts[0] + block[0];
}

/* An odd number of cache lines: at multiples of 4 KiB the 19 streams of a cell would compete for
 * the same few places of the cache. */
size_t domain_stride(size_t cells, size_t line)
{
    const size_t lines = (cells + line - 1) / line + 1;
    return (lines + (lines % 2 == 0)) * line;
}

void domain_layout(struct domain *d, const struct flow_case *c, const int cuts[3], int rank)
{
    domain_layout_at(d, c, cuts, NULL, rank);
}

void domain_layout_at(struct domain *d, const struct flow_case *c, const int cuts[3],
                      int *const at[3], int rank)
{
    struct view *const v = &d->view;
    int block[3] = {rank % cuts[0], rank / cuts[0] % cuts[1], rank / cuts[0] / cuts[1]};
    size_t extent[3];

    *d = (struct domain){.comm = MPI_COMM_NULL, .rank = rank, .ranks = cuts[0] * cuts[1] * cuts[2]};
    for (int a = 0; a < 3; a++) {
        d->cells[a] = c->cells[a];
        d->cuts[a] = cuts[a];
        d->periodic[a] = c->faces[2 * a].kind == FACE_periodic;
        d->exchanged[a] = cuts[a] > 1 || (d->periodic[a] && c->run.exchange == EXCHANGE_all);
        v->n[a] = block_cells(c->cells[a], cuts[a], block[a], &d->lo[a]);
        if (at) {
            d->lo[a] = at[a][block[a]];
            v->n[a] = at[a][block[a] + 1] - d->lo[a];
        }
        v->lo[a] = d->lo[a];
        v->ghost[a] = d->exchanged[a] || !d->periodic[a];
        extent[a] = (size_t)v->n[a] + 2 * (size_t)v->ghost[a];
    }
    v->row = (ptrdiff_t)extent[0];
    v->plane = (ptrdiff_t)(extent[0] * extent[1]);
    v->origin = (size_t)(v->ghost[0] + v->ghost[1] * v->row + v->ghost[2] * v->plane);
    v->stride =
        domain_stride(view_cells(&d->view), CACHE_LINE / precision_bytes(c->solver.storage));
    d->all_stride = v->stride;
    v->rows = d->rows;
    for (int k = 0; k < SIGNALS; k++)
        v->signal[k] = 1;
    d->signals = 1;
    d->flow_rate = c->flow_rate;

    for (int i = 0; i < Q; i++) {
        int there[3];
        d->neighbour[i] = i == 0 ? MPI_PROC_NULL : 0;
        for (int a = 0; a < 3; a++) {
            there[a] = block[a] + velocities[i][a];
            if (velocities[i][a] && !d->exchanged[a])
                d->neighbour[i] = MPI_PROC_NULL;
            else if (there[a] < 0 || there[a] >= cuts[a]) {
                if (!d->periodic[a])
                    d->neighbour[i] = MPI_PROC_NULL;
                there[a] = (there[a] + cuts[a]) % cuts[a];
            }
        }
        if (d->neighbour[i] != MPI_PROC_NULL)
            d->neighbour[i] = rank_at(d, there);
    }
}

/* What drives the fluid cells of a row. */
static enum status drive_row(struct domain *d, const struct flow_case *c, struct tag_row *row)
{
    for (int a = 0; a < 3; a++) {
        row->acceleration[a] = c->acceleration[a];
        row->forced |= c->acceleration[a] != 0;
    }
    if (c->flow_rate.given) { /* the signal is its magnitude */
        row->acceleration[c->flow_rate.axis] = 1;
        row->forced = 1;
    }
    if (!row->forced)
        return STATUS_OK;
    return domain_signal(d, c->flow_rate.given ? NULL : &c->force_signal, &row->force_signal);
}

static enum status make_rows(struct domain *d, const struct flow_case *c)
{
    const double omega = 1 / case_tau(c);
    d->rows[TAG_WALL] = (struct tag_row){.boundary = BOUNDARY_halfway};
    d->rows[TAG_FLUID] = (struct tag_row){
        .fluid = FLUID_swept,
        .boundary = BOUNDARY_none,
        .collision = (uint8_t)c->solver.collision,
        .omega_even = omega,
        /* (tau+ - 1/2)(tau- - 1/2) = magic */
        .omega_odd = 1 / (c->solver.magic / (case_tau(c) - 0.5) + 0.5),
        .omega_bulk = c->solver.rates.bulk,
        .omega_third = c->solver.rates.third,
        .omega_fourth = c->solver.rates.fourth,
    };
    if (c->solver.subgrid == SUBGRID_smagorinsky)
        tag_row_smagorinsky(&d->rows[TAG_FLUID], SUBGRID_smagorinsky, c->solver.smagorinsky);
    d->row_count = TAG_FIRST_FACE;
    return drive_row(d, c, &d->rows[TAG_FLUID]);
}

/* (1 - exp(-y+/26))^2 with y+ in wall units, y the distance of cell g from the nearer of the walls
 * across an axis (Van Driest, J. Aeronaut. Sci. 23:1007, 1956); 1 without a wall. */
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

/* The factors for all fluid rows that have a subgrid model. */
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

static void mark_beside(struct domain *d)
{
    struct view *const v = &d->view;
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                bool beside = false;
                for (int i = 1; i < Q && !beside; i++)
                    beside = view_bounces(v, i, x, y, z);
                if (beside)
                    d->tags[view_index(v, x, y, z)] |= TAG_BESIDE;
            }
}

/* This rank's part, cut there, evenly if that is NULL, and its tags. Collective. */
static enum status create_at(struct domain *d, const struct flow_case *c, MPI_Comm comm,
                             const int cuts[3], int *const at[3])
{
    int rank;
    enum status status;
    MPI_Comm_rank(comm, &rank);
    domain_layout_at(d, c, cuts, at, rank);
    d->comm = comm;
    d->tags = malloc(view_cells(&d->view));
    int failed = !d->tags, anyone;
    if (failed)
        fail_machine("out of memory for the tags of %zu cells", view_cells(&d->view));
    MPI_Allreduce(&failed, &anyone, 1, MPI_INT, MPI_MAX, comm);
    if (anyone) {
        domain_destroy(d);
        return STATUS_MACHINE;
    }
    d->view.tags = d->tags;
    status = make_rows(d, c);
    if (status) {
        domain_destroy(d);
        return status;
    }

    const struct view *const v = &d->view;
    int64_t fluid = 0;
    memset(d->tags, TAG_FLUID, view_cells(&d->view));
    status = status_agree(comm, domain_faces(d, c));
    struct bodies bodies = {0};
    if (!status)
        status = bodies_place(&bodies, d, c);
    if (!status && !(status = domain_zones(d, c)))
        status = damp_rows(d, c);
    status = status_agree(comm, status);
    if (!status) {
        mark_beside(d);
        status = bodies_list(&bodies, d);
    }
    bodies_close(&bodies);
    if (status) {
        domain_destroy(d);
        return status;
    }
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++)
                fluid += view_fluid(v, view_index(v, x, y, z));
    MPI_Allreduce(&fluid, &d->fluid_cells, 1, MPI_INT64_T, MPI_SUM, comm);
    if (d->fluid_cells == 0) {
        domain_destroy(d);
        return fail_user("the bodies leave no fluid cell");
    }
    d->imbalance = 1;
    return STATUS_OK;
}

enum status domain_whole(struct domain *d, const struct flow_case *c)
{
    static const int uncut[3] = {1, 1, 1};
    return create_at(d, c, MPI_COMM_SELF, uncut, NULL);
}

/* Cut for the fluid that the tags of even blocks show, and made anew if that calls for other cuts.
 */
static enum status create_balanced(struct domain *d, const struct flow_case *c, MPI_Comm comm,
                                   const int cuts[3])
{
    struct balance b;
    enum status status = create_at(d, c, comm, cuts, NULL);
    if (status || cuts[0] * cuts[1] * cuts[2] == 1)
        return status;
    status = balance_create(&b, d, cuts);
    if (status) {
        domain_destroy(d);
        return status;
    }
    if (!b.even) {
        domain_destroy(d);
        status = create_at(d, c, comm, cuts, b.at);
    }
    if (!status)
        d->imbalance = b.imbalance;
    balance_destroy(&b);
    return status;
}

enum status domain_create(struct domain *d, const struct flow_case *c, MPI_Comm comm)
{
    int ranks, cuts[3];
    MPI_Comm_size(comm, &ranks);
    enum status status = decompose(c->cells, c->run.ranks, ranks, cuts);
    if (!status)
        status = create_balanced(d, c, comm, cuts);
    if (status)
        return status;
    status = sparse_choose(d, c);
    if (status)
        domain_destroy(d);
    return status;
}

void domain_destroy(struct domain *d)
{
    free(d->tags);
    free(d->table);
    free(d->line);
    free(d->near);
    free(d->crossing);
    *d = (struct domain){0};
}

enum status domain_table(struct domain *d, size_t values, size_t *place)
{
    double *const table = realloc(d->table, (d->view.table_values + values) * sizeof *table);
    if (!table)
        return fail_machine("out of memory for a table of %zu values", values);
    *place = d->view.table_values;
    memset(table + *place, 0, values * sizeof *table);
    d->view.table = d->table = table;
    d->view.table_values += values;
    return STATUS_OK;
}

static bool same_signal(const struct case_signal *a, const struct case_signal *b)
{
    if (!a || !b)
        return a == b;
    const size_t bytes = (size_t)a->points * sizeof(double);
    return a->kind == b->kind && a->duration == b->duration && a->period == b->period &&
           a->phase == b->phase && a->mean == b->mean && a->amplitude == b->amplitude &&
           a->points == b->points &&
           (bytes == 0 ||
            (!memcmp(a->times, b->times, bytes) && !memcmp(a->values, b->values, bytes)));
}

enum status domain_signal(struct domain *d, const struct case_signal *signal, uint8_t *number)
{
    int k = 1;
    *number = SIGNAL_one;
    if (signal && signal->kind == SIGNAL_constant)
        return STATUS_OK;
    while (k < d->signals && !same_signal(d->signal[k], signal))
        k++;
    if (k == SIGNALS)
        return fail_user("more than %d things that change differently in time", SIGNALS - 1);
    if (k == d->signals)
        d->signal[d->signals++] = signal;
    *number = (uint8_t)k;
    return STATUS_OK;
}

struct box domain_all(const struct domain *d)
{
    const int *const n = d->view.n;
    return (struct box){{0, 0, 0}, {n[0], n[1], n[2]}};
}

struct box domain_part(const struct domain *d, const int lo[3], const int hi[3])
{
    struct box part;
    for (int a = 0; a < 3; a++) {
        const int n = d->view.n[a], from = lo[a] - d->lo[a], to = hi[a] - d->lo[a];
        part.lo[a] = from < 0 ? 0 : from > n ? n : from;
        part.hi[a] = to > n ? n : to < part.lo[a] ? part.lo[a] : to;
    }
    return part;
}

int domain_shell(const struct domain *d, struct box shell[6], struct box *interior)
{
    static const int thickness[3] = {X_SHELL, 1, 1};
    int count = 0;
    *interior = domain_all(d);
    for (int a = 2; a >= 0; a--) {
        if (!d->exchanged[a])
            continue;
        for (int side = 0; side < 2; side++) {
            struct box b = *interior;
            if (b.hi[a] <= b.lo[a])
                continue;
            const int depth = b.hi[a] - b.lo[a] < thickness[a] ? b.hi[a] - b.lo[a] : thickness[a];
            if (side == 0)
                b.hi[a] = interior->lo[a] = b.lo[a] + depth;
            else
                b.lo[a] = interior->hi[a] = b.hi[a] - depth;
            shell[count++] = b;
        }
    }
    return count;
}
