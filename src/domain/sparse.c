/* Populations of fluid cells alone; see sparse.h. */
#include "domain/sparse.h"

#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"

/* Largest share of places at which `auto` uses sparse storage (docs/performance.md). */
static const double pays_alone = 0.65, pays_with_scalars = 0.2;

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

/* Runs `body` for each fluid cell of row (y, z) of a block, ghost cells included, in the order of
 * their indices. */
#define EACH_FLUID(v, y, z, body)                                                                  \
    for (int x = -(v)->ghost[0]; x < (v)->n[0] + (v)->ghost[0]; x++) {                             \
        const size_t cell = view_index(v, x, y, z);                                                \
        if (view_fluid(v, cell))                                                                   \
            body;                                                                                  \
    }

void sparse_survey(struct sparse *s, const struct domain *d, int threads)
{
    const struct view *const v = &d->view;
    size_t most = 0;
    *s = (struct sparse){.cells = v->cells};
#pragma omp parallel num_threads(threads)
    {
        size_t fluid = 0, links[Q / 2] = {0};
#pragma omp for schedule(dynamic) nowait
        for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
            for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
                EACH_FLUID(v, y, z, {
                    const uint32_t solid = solid_links(v, cell, (const int[3]){x, y, z});
                    fluid++;
                    for (int k = 0; k < Q / 2 && solid; k++)
                        links[k] += solid >> k & 1;
                })
#pragma omp critical
                {
                    s->fluid += fluid;
                    for (int k = 0; k < Q / 2; k++)
                        s->links[k] += links[k];
                }
    }
    for (int k = 0; k < Q / 2; k++)
        most = s->links[k] > most ? s->links[k] : most;
    s->places = s->fluid + most;
}

/* Choice of the case; never where bodies conduct a scalar, as cells that are not fluid hold
 * populations, too. */
static enum sparse_use use_of(const struct flow_case *c)
{
    bool conduct = false;
    for (int k = 0; k < c->body_count; k++)
        for (int scalar = 0; scalar < c->scalar_count; scalar++)
            conduct = conduct || case_body_conducts(&c->bodies[k], scalar);
    return conduct ? SPARSE_never : c->run.sparse;
}

bool sparse_wanted(const struct flow_case *c, double fluid, double places)
{
    const enum sparse_use use = use_of(c);
    const double pays = c->scalar_count ? pays_with_scalars : pays_alone;
    return use == SPARSE_always || (use == SPARSE_auto && places <= pays && fluid <= pays);
}

void sparse_layout(struct domain *d, const struct sparse *s)
{
    struct view *const v = &d->view;
    v->place_words = v->cells / 32 + 1;
    v->link_words = s->fluid / 32 + 1;
    d->places = s->places;
    for (int k = 0; k < v->sets; k++)
        v->set[k].stride = domain_stride(d->places, v->set[k].bits);
}

/* A word that is being filled; other threads may fill the same one. */
struct word_filling {
    struct place_word *word;
    uint32_t bits;
};

static void flush(struct word_filling *f)
{
    if (f->bits) {
#pragma omp atomic
        f->word->bits |= f->bits;
    }
    f->bits = 0;
}

/* Sets bit k of the words if `set`. */
static void fill(struct word_filling *f, struct place_word *words, size_t k, uint32_t set)
{
    if (f->word != &words[k / 32]) {
        flush(f);
        f->word = &words[k / 32];
    }
    f->bits |= set << k % 32;
}

/* Sets the bits of the fluid cells. */
static void mark_cells(const struct view *v, struct place_word *place, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++) {
            struct word_filling f = {.bits = 0};
            EACH_FLUID(v, y, z, fill(&f, place, cell, 1))
            flush(&f);
        }
}

/* Sets the bits of the links, after the cells have their places. link: [Q / 2][words] */
static void mark_links(const struct view *v, const struct place_word *place,
                       struct place_word *link, size_t words, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++) {
            struct word_filling f[Q / 2] = {{.bits = 0}};
            size_t next = place_in(place, view_index(v, -v->ghost[0], y, z));
            EACH_FLUID(v, y, z, {
                const uint32_t links = solid_links(v, cell, (const int[3]){x, y, z});
                for (size_t k = 0; k < Q / 2 && links; k++)
                    fill(&f[k], link + k * words, next, links >> k & 1);
                next++;
            })
            for (int k = 0; k < Q / 2; k++)
                flush(&f[k]);
        }
}

/* Numbers the places of `count` words. */
static void number(struct place_word *words, size_t count, size_t first)
{
    for (size_t k = 0; k < count; k++) {
        words[k].first = (uint32_t)first;
        first += (size_t)__builtin_popcount(words[k].bits);
    }
}

enum status sparse_keep(struct domain *d, const struct sparse *s, int threads)
{
    struct view *const v = &d->view;
    sparse_layout(d, s);
    struct place_word *const place = calloc(v->place_words, sizeof *place);
    struct place_word *const link = calloc(Q / 2 * v->link_words, sizeof *link);
    if (!place || !link || s->places > UINT32_MAX) {
        free(place);
        free(link);
        return s->places > UINT32_MAX
                   ? fail_machine("a rank has %zu fluid cells, more than memory for fluid cells "
                                  "alone can number (use more ranks, or run.sparse: never)",
                                  s->fluid)
                   : fail_machine("out of memory for the places of %zu cells", s->places);
    }
    mark_cells(v, place, threads);
    number(place, v->place_words, 0);
    mark_links(v, place, link, v->link_words, threads);
#pragma omp parallel for num_threads(threads)
    for (int k = 0; k < Q / 2; k++)
        number(link + (size_t)k * v->link_words, v->link_words, s->fluid);
    v->place = d->place = place;
    v->link = d->link = link;
    return STATUS_OK;
}

enum status sparse_choose(struct domain *d, const struct flow_case *c)
{
    struct sparse s;
    d->kept_share = 1;
    if (!sparse_wanted(c, domain_fluid_share(d), 0)) /* most cases: nothing is counted */
        return STATUS_OK;
    sparse_survey(&s, d, case_threads(c));
    int64_t places[2] = {(int64_t)s.places, (int64_t)s.cells};
    MPI_Allreduce(MPI_IN_PLACE, places, 2, MPI_INT64_T, MPI_SUM, d->comm);
    d->kept_share = (double)places[0] / (double)places[1];
    if (!sparse_wanted(c, domain_fluid_share(d), d->kept_share))
        return STATUS_OK;
    return status_agree(d->comm, sparse_keep(d, &s, case_threads(c)));
}
