/* Labels of the parts of the fluid within a block; see pore_labels.h. */
#include "tags/pore_labels.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "tags/faces.h"

bool pore_labels_in(const struct case_region *region, const int g[3])
{
    bool in = true;
    for (int a = 0; a < 3; a++)
        in &= g[a] >= region->lo[a] && g[a] < region->hi[a];
    return in;
}

struct pore_run *pore_labels_row(const struct pore_labels *l, int y, int z, struct pore_run **end)
{
    const size_t row = (size_t)z * (size_t)l->d->view.n[1] + (size_t)y;
    *end = l->run + l->row[row + 1];
    return l->run + l->row[row];
}

uint32_t pore_labels_at(const struct pore_labels *l, int x, int y, int z)
{
    const int *const n = l->d->view.n;
    if (x < 0 || x >= n[0] || y < 0 || y >= n[1] || z < 0 || z >= n[2])
        return beyond_at(&l->beyond, x, y, z);
    struct pore_run *end, *first = pore_labels_row(l, y, z, &end);
    while (first < end) {
        struct pore_run *const middle = first + (end - first) / 2;
        if (x >= middle->x0 && x < middle->x1)
            return middle->label;
        if (x < middle->x0)
            end = middle;
        else
            first = middle + 1;
    }
    return PORE_SOLID;
}

/* Finds the runs of a row; returns their number. run: NULL: only counts. */
static size_t cut_row(const struct pore_labels *l, int y, int z, struct pore_run *run)
{
    const struct view *const v = &l->d->view;
    const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
    const int g[3] = {l->region.lo[0], l->d->lo[1] + y, l->d->lo[2] + z};
    const int lo = l->region.lo[0] - l->d->lo[0], hi = l->region.hi[0] - l->d->lo[0];
    const int last = !pore_labels_in(&l->region, g) ? 0 : hi < v->n[0] ? hi : v->n[0];
    size_t count = 0;
    bool fluid = false;
    for (int x = lo > 0 ? lo : 0; x < last; x++) {
        const bool before = fluid;
        fluid = l->fluid[tags[x] & TAG_ROW];
        if (fluid && !before && run)
            run[count] = (struct pore_run){.x0 = x};
        count += fluid && !before;
        if (fluid && run)
            run[count - 1].x1 = x + 1;
    }
    return count;
}

/* Cuts all rows of the block into runs. */
static enum status cut_rows(struct pore_labels *l)
{
    const int *const n = l->d->view.n;
    const size_t rows = (size_t)n[1] * (size_t)n[2];
    size_t runs = 0;
    for (int type = 0; type < TAG_ROWS; type++)
        l->fluid[type] = l->d->view.rows[type].fluid != FLUID_none;
    l->row = calloc(rows + 1, sizeof *l->row);
    if (!l->row)
        return fail_machine("out of memory for the pores in %zu rows", rows);
    for (size_t r = 0; r < rows; r++) {
        l->row[r] = runs;
        runs += cut_row(l, (int)(r % (size_t)n[1]), (int)(r / (size_t)n[1]), NULL);
    }
    l->row[rows] = runs;
    if (runs >= PORE_NONE)
        return fail_machine("a block with %zu runs of fluid is too large to look for pores in "
                            "(more ranks)",
                            runs);
    l->run = malloc((runs + 1) * sizeof *l->run);
    if (!l->run)
        return fail_machine("out of memory for the pores of %zu runs of cells", runs);
    for (size_t r = 0; r < rows; r++)
        cut_row(l, (int)(r % (size_t)n[1]), (int)(r / (size_t)n[1]), l->run + l->row[r]);
    return STATUS_OK;
}

static uint32_t root_of(struct pore_run *run, uint32_t at)
{
    while (run[at].label != at) {
        run[at].label = run[run[at].label].label;
        at = run[at].label;
    }
    return at;
}

static void join(struct pore_run *run, uint32_t a, uint32_t b)
{
    const uint32_t x = root_of(run, a), y = root_of(run, b);
    const uint32_t lower = x < y ? x : y;
    run[x].label = run[y].label = lower;
}

/* Joins runs of two rows that links connect. A link reaches at most `reach` cells along x, to both
 * sides. */
static void join_rows(struct pore_labels *l, size_t row, size_t earlier, int reach)
{
    size_t k = l->row[row], e = l->row[earlier];
    while (k < l->row[row + 1] && e < l->row[earlier + 1]) {
        const struct pore_run *const here = &l->run[k], *const there = &l->run[e];
        if (there->x0 < here->x1 + reach && here->x0 < there->x1 + reach)
            join(l->run, (uint32_t)k, (uint32_t)e);
        if (here->x1 < there->x1)
            k++;
        else
            e++;
    }
}

/* Labels every run with the number of a run of its part that does not come later; the root is the
 * first run of the part. */
static void sweep(struct pore_labels *l)
{
    const int *const n = l->d->view.n;
    const size_t plane = (size_t)n[1];
    const int aside = l->faces ? 0 : 1;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++) {
            const size_t row = (size_t)z * plane + (size_t)y;
            for (size_t k = l->row[row]; k < l->row[row + 1]; k++)
                l->run[k].label = (uint32_t)k;
            if (y > 0)
                join_rows(l, row, row - 1, aside);
            if (z > 0)
                join_rows(l, row, row - plane, aside);
            if (z > 0 && y > 0 && !l->faces)
                join_rows(l, row, row - plane - 1, 0);
            if (z > 0 && y + 1 < n[1] && !l->faces)
                join_rows(l, row, row - plane + 1, 0);
        }
}

/* Replaces numbers of runs by labels 1, 2, .. of the block. */
static void number(struct pore_labels *l)
{
    const size_t runs = l->row[(size_t)l->d->view.n[1] * (size_t)l->d->view.n[2]];
    for (size_t k = 0; k < runs; k++)
        l->run[k].label =
            l->run[k].label == (uint32_t)k ? ++l->count : l->run[l->run[k].label].label;
}

/* Adds to the part what it touches at cell g of the box, one of this block's. */
static void touch(const struct pore_labels *l, const int g[3], struct pore_part *part)
{
    for (int face = 0; face < 6; face++) {
        const int a = face / 2, end = face % 2 ? l->c->cells[a] - 1 : 0;
        if (g[a] == (face % 2 ? l->region.hi[a] - 1 : l->region.lo[a]))
            part->touches |= 1u << face;
        if (g[a] != end || l->d->periodic[a])
            continue;
        const int opening = faces_opening_at(l->d, l->c, face, g);
        const struct case_face *const what = case_opening(l->c, opening);
        if (face_open(what->kind))
            part->touches |= TOUCH_OPEN;
        if (l->d->level) /* all openings are on level 0 */
            continue;
        part->openings |= (uint64_t)1 << opening;
        part->inflow += (int64_t)(faces_inward(l->d, l->c, opening, face, g) *
                                  signal_mean(&what->signal, l->c->run.steps) * 0x1p30);
    }
}

/* Is there more to see in each cell of a row than in its ends, as it lies at a face of the box? */
static bool at_face(const struct pore_labels *l, int y, int z)
{
    const int g[3] = {0, l->d->lo[1] + y, l->d->lo[2] + z};
    bool is = false;
    for (int a = 1; a < 3; a++)
        is = is || (!l->d->periodic[a] && (g[a] == 0 || g[a] == l->d->cells[a] - 1));
    return is;
}

/* Measures the parts within the block, and makes labels unique among ranks. */
static void measure(struct pore_labels *l)
{
    const int *const n = l->d->view.n;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++) {
            const bool all = at_face(l, y, z);
            struct pore_run *end;
            for (struct pore_run *r = pore_labels_row(l, y, z, &end); r < end; r++) {
                struct pore_part *const part = &l->part[r->label - 1];
                int g[3] = {l->d->lo[0] + r->x0, l->d->lo[1] + y, l->d->lo[2] + z};
                if (!part->cells)
                    part->cell = ((int64_t)g[2] * l->d->cells[1] + g[1]) * l->d->cells[0] + g[0];
                part->cells += r->x1 - r->x0;
                for (int x = r->x0; x < r->x1; x += all || x == r->x1 - 1 ? 1 : r->x1 - 1 - x) {
                    g[0] = l->d->lo[0] + x;
                    touch(l, g, part);
                }
                r->label += l->first;
            }
        }
}

/* Adds to the parts of this rank what they get through links into caps; the list of cells beside
 * surfaces has them, once it is made. */
static void touch_caps(const struct pore_labels *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct view *const v = &l->d->view;
    for (size_t n = 0; n < v->near.count && v->near.speed; n++) {
        const struct near_cell *const cell = &v->near.cell[n];
        const int *const at = cell->at;
        const float *speed = v->near.speed + cell->first;
        const uint32_t label = pore_labels_at(l, at[0], at[1], at[2]);
        for (int i = 1; i < Q; i++) {
            if (!(cell->links >> i & 1))
                continue;
            const double u = (double)*speed++;
            const size_t from = view_index(v, at[0] - c[i][0], at[1] - c[i][1], at[2] - c[i][2]);
            const int type = v->tags[from] & TAG_ROW, cap = l->d->row_cap[type] - 1;
            if (cap < 0 || label == PORE_SOLID)
                continue;
            struct pore_part *const part = &l->part[label - l->first - 1];
            const struct case_cap *const what = case_cap(l->c, cap);
            double along = 0;
            for (int a = 0; a < 3; a++)
                along += c[i][a] * what->at.normal[a];
            part->touches |= TOUCH_OPEN;
            part->openings |= (uint64_t)1 << (PORE_CAP - cap);
            if (what->kind == CAP_velocity)
                part->inflow += (int64_t)ldexp(6 * LATTICE_WEIGHT(double, i) * along * u *
                                                   signal_mean(&what->signal, l->c->run.steps),
                                               30 - 2 * l->d->level);
        }
    }
}

static enum status label_block(struct pore_labels *l)
{
    enum status s = cut_rows(l);
    if (!s) {
        sweep(l);
        number(l);
        l->part = calloc((size_t)l->count + 1, sizeof *l->part);
        if (!l->part)
            s = fail_machine("out of memory for %u parts of the fluid", l->count);
    }
    if ((s = status_agree(l->d->comm, s)))
        return s;
    uint64_t mine = l->count, before = 0;
    MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, l->d->comm);
    MPI_Allreduce(&mine, &l->total, 1, MPI_UINT64_T, MPI_SUM, l->d->comm);
    l->first = l->d->rank ? (uint32_t)before : 0;
    if (l->total >= PORE_NONE)
        return message_rank() ? STATUS_MACHINE
                              : fail_machine("the fluid is in more than 2^32 parts");
    measure(l);
    touch_caps(l);
    return STATUS_OK;
}

static uint32_t own_label(const void *context, int x, int y, int z)
{
    return pore_labels_at(context, x, y, z);
}

enum status pore_labels_exchange(struct pore_labels *l)
{
    beyond_free(&l->beyond);
    return beyond_exchange(&l->beyond, l->d, own_label, l);
}

/* If no part has flow through it, the largest is kept; of equal ones the first. */
static void keep_largest(struct pore_labels *l, int64_t *largest)
{
    uint32_t at = 0;
    int flows = 0;
    int64_t first = INT64_MAX;
    *largest = 0;
    for (const struct pore_part *p; (p = pore_labels_next(l, &at));) {
        flows |= (p->touches & TOUCH_FLOW) != 0;
        *largest = p->cells > *largest ? p->cells : *largest;
    }
    MPI_Allreduce(MPI_IN_PLACE, &flows, 1, MPI_INT, MPI_MAX, l->d->comm);
    MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_INT64_T, MPI_MAX, l->d->comm);
    at = 0;
    for (const struct pore_part *p; (p = pore_labels_next(l, &at));)
        if (p->cells == *largest && p->cell < first)
            first = p->cell;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, l->d->comm);
    l->kept = flows ? -1 : first;
}

void pore_labels_free(struct pore_labels *l)
{
    free(l->row);
    free(l->run);
    beyond_free(&l->beyond);
    free(l->part);
    free(l->pairs);
    free(l->node);
    free(l->joined);
    free(l->whole);
    *l = (struct pore_labels){0};
}

enum status pore_labels_make(struct pore_labels *l, const struct domain *d,
                             const struct flow_case *c, const struct case_region *region,
                             int64_t *largest)
{
    *l = (struct pore_labels){.d = d, .c = c, .region = *region};
    for (int k = 0; k < c->scalar_count; k++)
        l->faces = l->faces || scalar_has_gradient(&c->scalars[k]);
    enum status s = label_block(l);
    if (!s)
        s = pore_labels_exchange(l);
    if (!s)
        s = pore_labels_join(l);
    if (s)
        pore_labels_free(l);
    else
        keep_largest(l, largest);
    return s;
}
