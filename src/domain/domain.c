/* One rank's part of the box; see domain.h. */
#include "domain/domain.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/signal.h"
#include "domain/decompose.h"

/* Thickness in cells of the shell at a cut along x: rows are updated a vector at a time. */
enum { X_SHELL = 32 };

/* Bytes of a GPU's cache line, and of two of a CPU's. Populations of a direction begin with one. */
enum { CACHE_LINE = 128 };

/* Rows of at least LONG_ROW cells begin at multiples of the bytes that the backend wishes, if they
 * take at most a fifth more memory so. */
enum { LONG_ROW = 128 };

static const int velocities[Q][3] = LATTICE_VELOCITIES;

static int rank_at(const struct domain *d, const int block[3])
{
    return (block[2] * d->cuts[1] + block[1]) * d->cuts[0] + block[0];
}

/* An odd number of cache lines: with strides of multiples of 4 KiB the 19 streams of a cell would
 * compete for the same cache sets. */
size_t domain_stride(size_t cells, int bits)
{
    const size_t line = 8 * CACHE_LINE / (size_t)bits;
    const size_t lines = (cells + line - 1) / line + 1;
    return (lines + (lines % 2 == 0)) * line;
}

void domain_align_rows(struct domain *d, int bytes)
{
    struct view *const v = &d->view;
    const size_t element = v->set[SET_flow].bits / 8;
    view_lay_out(v, ROW_BYTES / element);
    const struct view narrow = *v;
    if (v->n[0] >= LONG_ROW)
        view_lay_out(v, (size_t)bytes / element);
    if (5 * v->row > 6 * narrow.row)
        *v = narrow;
    d->places = v->cells;
    for (struct population_set *set = v->set; set < v->set + v->sets; set++)
        set->stride = domain_stride(d->places, set->bits);
    d->all_stride = v->set[SET_flow].stride;
}

int domain_add_set(struct domain *d, const char *name, int q, int bits)
{
    assert(d->view.sets < SETS);
    d->set_name[d->view.sets] = name;
    d->view.set[d->view.sets] = (struct population_set){
        .stride = domain_stride(d->places, bits),
        .q = (uint8_t)q,
        .bits = (uint8_t)bits,
    };
    return d->view.sets++;
}

void domain_layout(struct domain *d, const struct flow_case *c, const int cuts[3], int rank)
{
    domain_layout_at(d, c, cuts, NULL, rank);
}

void domain_layout_at(struct domain *d, const struct flow_case *c, const int cuts[3],
                      int *const at[3], int rank)
{
    domain_layout_level(d, c, NULL, 0, cuts, at, rank);
}

/* The part of the box along an axis that is cut, and the block of this rank. */
static void lay_out_axis(struct domain *d, int a, const int *at, int block)
{
    struct view *const v = &d->view;
    const struct refined *const r = d->refined;
    d->at[a] = r ? r->level[d->level].lo[a] : 0;
    d->extent[a] = r ? r->level[d->level].hi[a] - d->at[a] : d->cells[a];
    if (d->grain == 1) {
        v->n[a] = block_cells(d->extent[a], d->cuts[a], block, &d->lo[a]);
        d->lo[a] += d->at[a];
    } else {
        int grain, next;
        const int grains = (d->extent[a] + d->grain - 1) / d->grain;
        const int n = block_cells(grains, d->cuts[a], block, &grain);
        next = (grain + n) * d->grain;
        d->lo[a] = d->at[a] + grain * d->grain;
        v->n[a] = (next < d->extent[a] ? next : d->extent[a]) - grain * d->grain;
    }
    if (at) {
        d->lo[a] = at[block];
        v->n[a] = at[block + 1] - d->lo[a];
    }
    v->lo[a] = d->lo[a];
}

enum status domain_keep_cuts(struct domain *d, int *const at[3])
{
    for (int a = 0; a < 3; a++) {
        int *const cut = malloc(((size_t)d->cuts[a] + 1) * sizeof *cut);
        if (!cut)
            return fail_machine("out of memory for %d cuts", d->cuts[a]);
        d->cut[a] = cut;
        cut_evenly_by(d->extent[a], d->cuts[a], d->grain, cut);
        for (int k = 0; k <= d->cuts[a]; k++)
            cut[k] = at ? at[a][k] : cut[k] + d->at[a];
    }
    return STATUS_OK;
}

void domain_layout_level(struct domain *d, const struct flow_case *c, const struct refined *r,
                         int level, const int cuts[3], int *const at[3], int rank)
{
    struct view *const v = &d->view;
    int block[3] = {rank % cuts[0], rank / cuts[0] % cuts[1], rank / cuts[0] / cuts[1]};

    *d = (struct domain){.comm = MPI_COMM_NULL,
                         .rank = rank,
                         .ranks = cuts[0] * cuts[1] * cuts[2],
                         .level = level,
                         .refined = r,
                         .grain = r && r->levels > 1 ? BRICK_PARENTS : 1};
    for (int a = 0; a < 3; a++) {
        d->cells[a] = c->cells[a];
        d->cuts[a] = cuts[a];
        lay_out_axis(d, a, at ? at[a] : NULL, block[a]);
        d->box_periodic[a] = c->faces[2 * a].kind == FACE_periodic;
        d->periodic[a] = d->box_periodic[a] && d->extent[a] == d->cells[a];
        d->exchanged[a] =
            cuts[a] > 1 || (d->periodic[a] && c->run.exchange & (1u << a | EXCHANGE_all));
        v->ghost[a] = d->exchanged[a] || !d->periodic[a];
    }
    domain_add_set(d, "flow", Q, precision_bits(c->solver.storage));
    for (int k = 0; k < c->scalar_count; k++)
        domain_add_set(d, c->scalars[k].name, Q_AXES,
                       c->solver.storage == PRECISION_fp64 ? 64 : 32);
    memcpy(v->scalars.gravity, c->gravity, sizeof v->scalars.gravity);
    domain_align_rows(d, ROW_BYTES);
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

void domain_destroy(struct domain *d)
{
    free(d->tags);
    free(d->opening);
    free(d->table);
    free(d->place);
    free(d->link);
    free(d->near);
    free(d->crossing);
    free(d->facing);
    free(d->speed);
    free(d->scalar);
    for (int a = 0; a < 3; a++)
        free(d->cut[a]);
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

static enum status find_signal(struct domain *d, const struct case_signal *signal, int held,
                               uint8_t *number)
{
    int k = 1;
    while (k < d->signals && !(d->held[k] == held && signal_same(d->signal[k], signal)))
        k++;
    if (k == SIGNALS)
        return fail_user(
            "more than %d time functions: ramps, sines, tables, steers and shares of outlets that "
            "differ (give several faces the same one)",
            SIGNALS - 1);
    if (k == d->signals) {
        d->held[k] = (uint8_t)held;
        d->signal[d->signals++] = signal;
    }
    *number = (uint8_t)k;
    return STATUS_OK;
}

enum status domain_signal(struct domain *d, const struct case_signal *signal, uint8_t *number)
{
    *number = SIGNAL_one;
    return signal && signal->kind == SIGNAL_constant ? STATUS_OK
                                                     : find_signal(d, signal, 0, number);
}

enum status domain_held(struct domain *d, int opening, uint8_t *number)
{
    return find_signal(d, NULL, 1 + opening, number);
}

int domain_wrap(const struct domain *d, int axis, int at)
{
    const int n = d->cells[axis];
    return d->box_periodic[axis] ? (at % n + n) % n : at;
}

int domain_owner(const struct domain *d, const int g[3])
{
    int block[3];
    for (int a = 0; a < 3; a++) {
        int low = 0, high = d->cuts[a]; /* cut[low] <= g < cut[high] */
        if (g[a] < d->cut[a][low] || g[a] >= d->cut[a][high])
            return MPI_PROC_NULL;
        while (high - low > 1) {
            const int middle = low + (high - low) / 2;
            *(g[a] < d->cut[a][middle] ? &high : &low) = middle;
        }
        block[a] = low;
    }
    return rank_at(d, block);
}

double domain_fluid_share(const struct domain *d)
{
    return (double)d->fluid_cells /
           ((double)d->extent[0] * (double)d->extent[1] * (double)d->extent[2]);
}

struct box domain_all(const struct domain *d)
{
    const int *const n = d->view.n;
    return (struct box){{0, 0, 0}, {n[0], n[1], n[2]}};
}

struct box domain_layer(const struct view *v, int direction, bool ghost)
{
    struct box b;
    for (int a = 0; a < 3; a++) {
        const int c = velocities[direction][a];
        const int layer = ghost ? (c > 0 ? -1 : v->n[a]) : (c > 0 ? v->n[a] - 1 : 0);
        b.lo[a] = c ? layer : 0;
        b.hi[a] = c ? layer + 1 : v->n[a];
    }
    return b;
}

int64_t domain_global_index(const struct domain *d, int64_t cell)
{
    const int *const n = d->view.n;
    if (cell == INT64_MAX)
        return cell;
    const int64_t x = cell % n[0], y = cell / n[0] % n[1], z = cell / n[0] / n[1];
    return ((d->lo[2] + z) * d->cells[1] + d->lo[1] + y) * d->cells[0] + d->lo[0] + x;
}

void domain_coordinates(const struct domain *d, int64_t index, int cell[3])
{
    cell[0] = (int)(index % d->cells[0]);
    cell[1] = (int)(index / d->cells[0] % d->cells[1]);
    cell[2] = (int)(index / d->cells[0] / d->cells[1]);
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

static int split_shell(const struct domain *d, const int thickness[3], struct box shell[6],
                       struct box *interior)
{
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

int domain_shell(const struct domain *d, struct box shell[6], struct box *interior)
{
    return split_shell(d, (const int[]){X_SHELL, 1, 1}, shell, interior);
}

int domain_layers(const struct domain *d, int depth, struct box shell[6], struct box *interior)
{
    return split_shell(d, (const int[]){depth, depth, depth}, shell, interior);
}
