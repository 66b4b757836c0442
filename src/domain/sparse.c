/* Populations of fluid cells alone; see sparse.h. */
#include "domain/sparse.h"

#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"

/* Largest share of places at which `auto` uses sparse storage (docs/performance.md). */
static const double pays = 0.65;

static const int velocity[Q][3] = LATTICE_VELOCITIES;

/* Index of the neighbour of a cell, owned or ghost, at c_i; false: it is beyond the ghost layer. */
static bool neighbour_at(const struct view *v, int i, const int at[3], size_t *there)
{
    for (int a = 0; a < 3; a++) {
        const int to = at[a] + velocity[i][a];
        if (v->ghost[a] && (to < -1 || to > v->n[a]))
            return false;
    }
    *there = view_index(v, at[0] + velocity[i][0], at[1] + velocity[i][1], at[2] + velocity[i][2]);
    return true;
}

/* Bit k: the cell's link of pair k leads into a cell that is not fluid. Ghost cells do not know
 * whether they are beside such cells. */
static uint32_t solid_links(const struct view *v, size_t cell, const int at[3])
{
    uint32_t links = 0;
    size_t there;
    bool ghost = false;
    for (int a = 0; a < 3; a++)
        ghost = ghost || at[a] < 0 || at[a] >= v->n[a];
    if (!ghost && !(v->tags[cell] & TAG_BESIDE))
        return 0;
    for (int k = 0; k < Q / 2; k++)
        if (neighbour_at(v, 2 * k + 1, at, &there) && !view_fluid(v, there))
            links |= 1u << k;
    return links;
}

/* Calls `use` for each fluid cell of a block, ghost cells included, in the order of their indices.
 */
typedef void cell_use(void *to, size_t cell, uint32_t links);
static void each_fluid(const struct view *v, cell_use *use, void *to)
{
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                const size_t cell = view_index(v, x, y, z);
                if (view_fluid(v, cell))
                    use(to, cell, solid_links(v, cell, (const int[3]){x, y, z}));
            }
}

static void count_cell(void *to, size_t cell, uint32_t links)
{
    struct sparse *const s = to;
    (void)cell;
    s->fluid++;
    for (int k = 0; k < Q / 2; k++)
        s->links[k] += links >> k & 1;
}

void sparse_survey(struct sparse *s, const struct domain *d)
{
    size_t most = 0;
    *s = (struct sparse){.cells = d->view.cells};
    each_fluid(&d->view, count_cell, s);
    for (int k = 0; k < Q / 2; k++)
        most = s->links[k] > most ? s->links[k] : most;
    s->places = s->fluid + most;
}

enum status sparse_survey_part(struct sparse *s, const struct domain *part,
                               const struct domain *whole)
{
    struct domain d = *part;
    struct view *const v = &d.view;
    *s = (struct sparse){0};
    d.tags = malloc(v->cells);
    if (!d.tags)
        return fail_machine("out of memory for the tags of %zu cells", v->cells);
    v->tags = d.tags;
    v->rows = whole->rows;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++)
                d.tags[view_index(v, x, y, z)] =
                    whole->view
                        .tags[view_index(&whole->view, d.lo[0] + x, d.lo[1] + y, d.lo[2] + z)];
    sparse_survey(s, &d);
    free(d.tags);
    return STATUS_OK;
}

/* Share of fluid cells in the whole box. */
static double fluid_share(const struct domain *d)
{
    return (double)d->fluid_cells /
           ((double)d->cells[0] * (double)d->cells[1] * (double)d->cells[2]);
}

bool sparse_wanted(enum sparse_use use, const struct domain *d, double places)
{
    return use == SPARSE_always || (use == SPARSE_auto && places <= pays && fluid_share(d) <= pays);
}

void sparse_layout(struct domain *d, const struct sparse *s)
{
    struct view *const v = &d->view;
    v->place_words = v->cells / 32 + 1;
    v->link_words = s->fluid / 32 + 1;
    d->places = s->places;
    v->set[SET_flow].stride = domain_stride(d->places, v->set[SET_flow].bits);
}

/* The words of a block as they are filled. */
struct words {
    struct place_word *place, *link;
    size_t link_words, fluid;
};

static void mark_cell(void *to, size_t cell, uint32_t links)
{
    struct words *const w = to;
    w->place[cell / 32].bits |= 1u << cell % 32;
    for (size_t k = 0; k < Q / 2; k++)
        w->link[k * w->link_words + w->fluid / 32].bits |= (links >> k & 1) << w->fluid % 32;
    w->fluid++;
}

/* Numbers the places of `count` words. */
static void number(struct place_word *words, size_t count, size_t first)
{
    for (size_t k = 0; k < count; k++) {
        words[k].first = (uint32_t)first;
        first += (size_t)__builtin_popcount(words[k].bits);
    }
}

enum status sparse_keep(struct domain *d, const struct sparse *s)
{
    struct view *const v = &d->view;
    sparse_layout(d, s);
    struct words w = {.place = calloc(v->place_words, sizeof *w.place),
                      .link = calloc(Q / 2 * v->link_words, sizeof *w.link),
                      .link_words = v->link_words};
    if (!w.place || !w.link || s->places > UINT32_MAX) {
        free(w.place);
        free(w.link);
        return s->places > UINT32_MAX
                   ? fail_machine("a rank has %zu fluid cells, more than memory for fluid cells "
                                  "alone can number (use more ranks, or run.sparse: never)",
                                  s->fluid)
                   : fail_machine("out of memory for the places of %zu cells", s->places);
    }
    each_fluid(v, mark_cell, &w);
    number(w.place, v->place_words, 0);
    for (size_t k = 0; k < Q / 2; k++)
        number(w.link + k * w.link_words, w.link_words, s->fluid);
    v->place = d->place = w.place;
    v->link = d->link = w.link;
    return STATUS_OK;
}

enum status sparse_choose(struct domain *d, const struct flow_case *c)
{
    struct sparse s;
    d->kept_share = 1;
    if (!sparse_wanted(c->run.sparse, d, 0)) /* most cases: nothing is counted */
        return STATUS_OK;
    sparse_survey(&s, d);
    int64_t places[2] = {(int64_t)s.places, (int64_t)s.cells};
    MPI_Allreduce(MPI_IN_PLACE, places, 2, MPI_INT64_T, MPI_SUM, d->comm);
    d->kept_share = (double)places[0] / (double)places[1];
    if (!sparse_wanted(c->run.sparse, d, d->kept_share))
        return STATUS_OK;
    return status_agree(d->comm, sparse_keep(d, &s));
}
