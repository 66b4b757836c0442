/* Sets the initial flow: the backend's kernel makes the populations by the formulas of initial.h.
 * A flow from an earlier result is on the host alone: there the same functions make them.
 *
 * If the pressure is not known, initial.relax finds it before the first step (idea: Mei, Luo,
 * Lallemand, d'Humieres, Computers & Fluids 35:855, 2006). An iteration sets the populations to
 * equilibrium with the given velocity and the present density, and does one step; this gives the
 * next density. A collision does not change an equilibrium, so neither the collision operator nor
 * the viscosity matters. To the order of the scheme
 *
 *   rho' - rho = 1/6 (div grad rho + 3 div div (u u)) - div u.
 *
 * The momentum is u here, since rho u would advect the density. Where div u = 0 this converges to
 * Poisson's equation for the pressure rho / 3. An error of wavelength l decreases by a factor e in
 * 3/2 (l / pi)^2 steps. A body force gives a hydrostatic pressure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "initial.h"
#include "solver/initial_make.h"
#include "solver/levels.h"
#include "solver/scalar.h"
#include "solver/step.h"
#include "stored.h"

static size_t block_cell(const struct view *v, int x, int y, int z)
{
    return ((size_t)z * (size_t)v->n[1] + (size_t)y) * (size_t)v->n[0] + (size_t)x;
}

/* Stores a population in the kernels' format. */
static void store_value(enum precision storage, void *to, size_t place, double value)
{
    if (storage == PRECISION_fp64)
        ((double *)to)[place] = value;
    else if (storage == PRECISION_fp32)
        ((float *)to)[place] = (float)value;
    else
        ((struct half *)to)[place] = half_of((float)value);
}

/* The initial flow in memory of the host and of the kernels. */
struct initial_filling {
    struct initial *in, *kernels;
    size_t bytes;
    const double *drho; /* [cells of the block], NULL: density of the initial flow */
    const struct flow_case *c;
    const struct given_flow *given; /* a flow from elsewhere, or NULL */
};

/* The velocity from elsewhere includes half a step's buoyancy by the scalars from there: takes it
 * from the momentum, as initial_equilibrium() does with a force. */
static void take_buoyancy(const struct initial_filling *how, size_t place, double f[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    double lift = 0, rho = 1;
    for (int k = 0; k < how->c->scalar_count; k++) {
        const double *const values = how->given->scalar[k];
        if (values && how->c->scalars[k].expansion != 0 && !isnan(values[place]))
            lift -= how->c->scalars[k].expansion * values[place];
    }
    for (int i = 0; i < Q && lift != 0; i++)
        rho += f[i];
    for (int i = 0; i < Q && lift != 0; i++) {
        double cg = 0;
        for (int a = 0; a < 3; a++)
            cg += c[i][a] * how->c->gravity[a];
        f[i] -= 1.5 * LATTICE_WEIGHT(double, i) * rho * lift * cg;
    }
}

/* Sets the populations of a piece with all threads, for a flow that is on the host alone. */
static enum status fill_on_host(struct solver *s, const struct initial_filling *how,
                                const struct box *piece, int threads)
{
    const struct view *const v = &s->domain->view;
    const size_t cells = box_cells(piece);
    const size_t nx = (size_t)(piece->hi[0] - piece->lo[0]),
                 ny = (size_t)(piece->hi[1] - piece->lo[1]);
    void *const host = solver_host(s);
#pragma omp parallel for collapse(2) num_threads(threads > 1 ? threads : 1)
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++) {
                const size_t row = (size_t)(z - piece->lo[2]) * ny + (size_t)(y - piece->lo[1]);
                const size_t cell = row * nx + (size_t)(x - piece->lo[0]);
                double values[Q];
                initial_populations(how->in, v,
                                    how->drho ? how->drho + block_cell(v, x, y, z) : NULL, x, y, z,
                                    values);
                take_buoyancy(how, given_place(how->given, x, y, z), values);
                for (size_t i = 0; i < Q; i++)
                    store_value(s->backend->storage, host, i * cells + cell, values[i]);
            }
    return solver_put(s, SET_flow, piece);
}

/* Sets the populations of a piece, for a flow by a formula or of an inlet. Its density, if it is
 * given, goes to the kernel in the piece's buffer. */
static enum status fill_on_backend(struct solver *s, const struct initial_filling *how,
                                   const struct box *piece)
{
    const struct view *const v = &s->domain->view;
    double *to = solver_host(s);
    for (int z = piece->lo[2]; z < piece->hi[2] && how->drho; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++)
                *to++ = how->drho[block_cell(v, x, y, z)];
    return solver_begin(s, piece, how->kernels, how->drho != NULL);
}

static enum status fill(struct solver *s, const struct initial_filling *how, int threads)
{
    const struct box all = domain_all(s->domain);
    struct backend *const b = s->backend;
    struct box piece;
    enum status status = STATUS_OK;
    s->step = 0;
    b->type->copy(b, QUEUE_INTERIOR, how->kernels, how->in, how->bytes);
    for (int number = 0; !status && solver_piece(s, &all, number, &piece); number++) {
        watchdog_progress();
        status = how->in->given ? fill_on_host(s, how, &piece, threads)
                                : fill_on_backend(s, how, &piece);
    }
    status = status_agree(s->domain->comm, status);
    return status ? status : scalar_initialise(s, how->c, how->given);
}

/* drho: density - 1 of the block's cells; *change: largest difference from the previous drho. */
static enum status take_density(struct solver *s, double *drho, double *change)
{
    const struct view *const v = &s->domain->view;
    const struct box all = domain_all(s->domain);
    struct box piece;
    struct fetch f;
    const double *flow;
    *change = 0;
    for (fetch_start(&f, s, KERNEL_flow, &all); (flow = fetch_next(&f, &piece));)
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, flow += 4) {
                    double *const at = &drho[block_cell(v, x, y, z)];
                    *change = fmax(*change, fabs(flow[0] - *at));
                    *at = flow[0];
                }
    return status_agree(s->domain->comm, fetch_end(&f));
}

static enum status relax(struct solver *s, struct initial_filling *how, const struct flow_case *c)
{
    const struct view *const v = &s->domain->view;
    const size_t cells = (size_t)v->n[0] * (size_t)v->n[1] * (size_t)v->n[2];
    double *const drho = calloc(cells, sizeof *drho), change = 0;
    enum status status = STATUS_OK;
    if (!drho)
        status = fail_machine("out of memory for the initial density of %zu cells", cells);
    status = status_agree(s->domain->comm, status);
    if (!status)
        status = take_density(s, drho, &change);
    how->drho = drho;
    how->in->settling = 1;
    for (int64_t k = 0; k < c->initial.relax && !status; k++) {
        status = fill(s, how, c->run.threads);
        if (!status)
            status = status_agree(s->domain->comm, solver_advance(s));
        if (!status)
            status = take_density(s, drho, &change);
    }
    how->in->settling = 0;
    if (!status)
        status = fill(s, how, c->run.threads);
    free(drho);
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, s->domain->comm);
    if (!status)
        say("initial pressure: the last of %lld steps changed the density by at most %.3g",
            (long long)c->initial.relax, change);
    return status;
}

static enum status make_filling(struct initial_filling *how, struct solver *s,
                                const struct flow_case *c, const struct given_flow *given)
{
    struct backend *const b = s->backend;
    enum status status = STATUS_OK;
    *how = (struct initial_filling){.bytes = initial_bytes(c), .c = c, .given = given};
    how->in = b->type->alloc_host(b, how->bytes);
    how->kernels = b->type->alloc(b, how->bytes, 1);
    if (!how->in)
        status = fail_machine("out of memory for the initial flow");
    else if (!how->kernels)
        status = backend_no_room(b, (double)how->bytes, "the initial flow");
    if (!status)
        status = initial_make(how->in, c, given ? NULL : s->domain->opening);
    if (!status && given)
        how->in->given = given->value;
    return status_agree(s->domain->comm, status);
}

static void free_filling(struct initial_filling *how, struct solver *s)
{
    struct backend *const b = s->backend;
    b->type->free(b, how->kernels);
    b->type->free_host(b, how->in);
}

/* The flow of a level, without the pressure that balances buoyancy. */
static enum status begin(struct solver *s, struct initial_filling *how)
{
    memset(s->view.scalars.mean_flow, 0, sizeof s->view.scalars.mean_flow);
    s->signal_step = -1;
    const enum status status = fill(s, how, how->c->run.threads);
    return !status && how->c->initial.relax > 0 ? relax(s, how, how->c) : status;
}

/* Gives `drho` the density of the level's cells. */
static enum status begin_density(struct solver *s, const struct initial_filling *how, double **drho)
{
    const struct view *const v = &s->domain->view;
    const size_t cells = (size_t)v->n[0] * (size_t)v->n[1] * (size_t)v->n[2];
    double change;
    *drho = calloc(cells + 1, sizeof **drho);
    enum status status = STATUS_OK;
    if (!*drho)
        status = fail_machine("out of memory for the initial density of %zu cells", cells);
    status = status_agree(s->domain->comm, status);
    return !status && !how->given ? take_density(s, *drho, &change) : status;
}

/* Fills a level with this density plus the density of a flow from elsewhere. */
static enum status fill_density(struct solver *s, struct initial_filling *how, double *drho)
{
    const struct view *const v = &s->domain->view;
    for (int z = 0; how->given && z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++)
                drho[block_cell(v, x, y, z)] +=
                    how->given->value[4 * given_place(how->given, x, y, z)];
    how->drho = drho;
    const enum status status = fill(s, how, how->c->run.threads);
    how->drho = NULL;
    return status;
}

/* Adds the pressure that balances the mean buoyancy. */
static enum status balance(const struct levels *all, struct initial_filling how[],
                           const struct given_flow given[])
{
    const struct flow_case *c[LEVELS] = {NULL};
    double *drho[LEVELS] = {NULL};
    enum status status = STATUS_OK;
    for (int l = 0; l < all->count && !status; l++) {
        c[l] = how[l].c;
        status = begin_density(all->solver[l], &how[l], &drho[l]);
    }
    if (!status)
        status = scalar_balance(all, c, given, drho);
    for (int l = 0; l < all->count && !status; l++)
        status = fill_density(all->solver[l], &how[l], drho[l]);
    for (int l = 0; l < all->count; l++)
        free(drho[l]);
    return status;
}

enum status levels_initialise(const struct levels *all, const struct flow_case *const c[],
                              const struct given_flow given[])
{
    const bool balances = given ? given->lift != NULL : all->solver[0]->view.scalars.lifts;
    struct initial_filling how[LEVELS];
    enum status status = STATUS_OK;
    int made = 0;
    for (; made < all->count && !status; made++) {
        struct solver *const s = all->solver[made];
        status = make_filling(&how[made], s, c[made], given ? &given[made] : NULL);
        if (!status)
            status = begin(s, &how[made]);
    }
    if (!status && c[0]->initial.relax == 0 && balances && !c[0]->initial.level)
        status = balance(all, how, given);
    for (int l = 0; l < made; l++)
        free_filling(&how[l], all->solver[l]);
    if (!status)
        status = levels_adjust(all); /* for step 0 */
    return status_agree(all->solver[0]->domain->comm, status);
}

enum status solver_initialise(struct solver *s, const struct flow_case *c,
                              const struct given_flow *given)
{
    return levels_initialise(ONE_LEVEL(s), &c, given);
}
