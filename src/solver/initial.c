/* Initial flows: populations at equilibrium plus, where the velocity gradient is known, the part of
 * first order in it (Chapman-Enskog):
 *
 *   f_i = f_i^eq(drho, u) - 3 w_i tau rho (c_i c_i - 1/3) : grad u
 *
 * Cells lie at (i + 1/2); lengths below are those of the box, k = 2 pi / L. Tables of one axis come
 * from base/elementary.h: the same bits on every machine and for every cut of the box.
 *
 * Where the pressure is not known it can be found before the first step (initial.relax; the idea is
 * that of Mei, Luo, Lallemand, d'Humieres, Computers & Fluids 35:855, 2006): populations at
 * equilibrium with the given velocity and the density so far are streamed by a step, which gives
 * the next density. Collisions leave an equilibrium alone, so that neither their operator nor the
 * viscosity matters. To the order of the scheme
 *
 *   rho' - rho = 1/6 (div grad rho + 3 div div (u u)) - div u,
 *
 * (with momentum u: that of rho u would carry the density along), which where div u = 0 comes to
 * rest at Poisson's equation for the pressure rho / 3, by a factor e in 3/2 (l / pi)^2 steps for
 * waves of length l; forces become hydrostatic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/elementary.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "boundary.h"
#include "solver/signal.h"
#include "solver/solver.h"
#include "stored.h"

static const double pi = 3.141592653589793;

/* sin, cos of k x and cos of 2 k x at the cells of one axis; the shear layer's profile along it. */
struct axis_table {
    double k;
    double *sine, *cosine, *cosine2; /* [cells] */
    double *profile, *slope;         /* [cells] shear_layer: tanh and its derivative, per cell */
};

/* What is wanted in one cell. */
struct cell_flow {
    double drho, u[3];
    double gradient[3][3]; /* [a][b] = d u_b / d x_a */
};

struct initial {
    const struct flow_case *c;
    double force[3]; /* acceleration of step 0 */
    struct axis_table axis[3];
};

static void shear_profile(const struct case_initial *f, int64_t i, int64_t cells, double *profile,
                          double *slope)
{
    const double y = (double)(2 * i + 1) / (double)(2 * cells);
    const bool lower = 2 * (2 * i + 1) <= 2 * cells;
    const double t = exact_tanh(f->thickness * (lower ? y - 0.25 : 0.75 - y));
    *profile = t;
    *slope = (lower ? 1 : -1) * f->thickness / (double)cells * (1 - t * t);
}

static bool make_tables(struct initial *in, const struct flow_case *c)
{
    in->c = c;
    for (int a = 0; a < 3; a++)
        in->force[a] = c->acceleration[a] * signal_at(&c->force_signal, 0);
    for (int a = 0; a < 3; a++) {
        struct axis_table *const t = &in->axis[a];
        const int64_t n = c->cells[a];
        double *const memory = calloc((size_t)(5 * n), sizeof *memory);
        if (!memory)
            return false;
        t->k = 2 * pi / (double)n;
        t->sine = memory;
        t->cosine = memory + n;
        t->cosine2 = memory + 2 * n;
        t->profile = memory + 3 * n;
        t->slope = memory + 4 * n;
        for (int64_t i = 0; i < n; i++) {
            t->sine[i] = sin_turns(2 * i + 1, 2 * n);
            t->cosine[i] = cos_turns(2 * i + 1, 2 * n);
            t->cosine2[i] = cos_turns(2 * i + 1, n);
            if (c->initial.flow == INITIAL_shear_layer)
                shear_profile(&c->initial, i, n, &t->profile[i], &t->slope[i]);
        }
    }
    return true;
}

static void destroy_tables(struct initial *in)
{
    for (int a = 0; a < 3; a++)
        free(in->axis[a].sine);
}

/* u_a = -U cos(ka a) sin(kb b), u_b = U ka/kb sin(ka a) cos(kb b), in the plane across the axis. */
static void taylor_green_2d(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const int a = (in->c->initial.axis + 1) % 3, b = (a + 1) % 3;
    const struct axis_table *const ta = &in->axis[a], *const tb = &in->axis[b];
    const double U = in->c->initial.amplitude, ratio = ta->k / tb->k;
    const double sa = ta->sine[g[a]], ca = ta->cosine[g[a]], sb = tb->sine[g[b]],
                 cb = tb->cosine[g[b]];
    f->u[a] = -U * ca * sb;
    f->u[b] = U * ratio * sa * cb;
    f->gradient[a][a] = U * ta->k * sa * sb;
    f->gradient[b][a] = -U * tb->k * ca * cb;
    f->gradient[a][b] = U * ratio * ta->k * ca * cb;
    f->gradient[b][b] = -f->gradient[a][a];
    f->drho = -0.75 * U * U * (ta->cosine2[g[a]] + ratio * ratio * tb->cosine2[g[b]]);
}

/* u = U (sin x cos y cos z, -cos x sin y cos z, 0), p = U^2/16 (cos 2x + cos 2y)(cos 2z + 2). */
static void taylor_green_3d(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const double U = in->c->initial.amplitude;
    double s[3], c[3], k[3];
    for (int a = 0; a < 3; a++) {
        s[a] = in->axis[a].sine[g[a]];
        c[a] = in->axis[a].cosine[g[a]];
        k[a] = in->axis[a].k;
    }
    f->u[0] = U * s[0] * c[1] * c[2];
    f->u[1] = -U * c[0] * s[1] * c[2];
    f->gradient[0][0] = U * k[0] * c[0] * c[1] * c[2];
    f->gradient[1][0] = -U * k[1] * s[0] * s[1] * c[2];
    f->gradient[2][0] = -U * k[2] * s[0] * c[1] * s[2];
    f->gradient[0][1] = U * k[0] * s[0] * s[1] * c[2];
    f->gradient[1][1] = -U * k[1] * c[0] * c[1] * c[2];
    f->gradient[2][1] = U * k[2] * c[0] * s[1] * s[2];
    f->drho = 3.0 / 16 * U * U * (in->axis[0].cosine2[g[0]] + in->axis[1].cosine2[g[1]]) *
              (in->axis[2].cosine2[g[2]] + 2);
}

/* u_a = U (sin(k c) + cos(k b)) for (a, b, c) cyclic: exact for all times but for its decay. */
static void abc(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const double U = in->c->initial.amplitude;
    double pressure = 0;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const struct axis_table *const tb = &in->axis[b], *const tc = &in->axis[c];
        f->u[a] = U * (tc->sine[g[c]] + tb->cosine[g[b]]);
        f->gradient[c][a] = U * tc->k * tc->cosine[g[c]];
        f->gradient[b][a] = -U * tb->k * tb->sine[g[b]];
        pressure -= U * U * tc->sine[g[c]] * tb->cosine[g[b]];
    }
    f->drho = 3 * pressure;
}

/* u_a = U tanh(kappa (b/L - 1/4)) below the middle, mirrored above; u_b = delta U sin(2 pi (a/L +
 * 1/4)) (Minion, Brown, J. Comput. Phys. 138:734, 1997). */
static void shear_layer(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const int a = (in->c->initial.axis + 1) % 3, b = (a + 1) % 3;
    const double U = in->c->initial.amplitude, delta = in->c->initial.perturbation;
    f->u[a] = U * in->axis[b].profile[g[b]];
    f->u[b] = delta * U * in->axis[a].cosine[g[a]];
    f->gradient[b][a] = U * in->axis[b].slope[g[b]];
    f->gradient[a][b] = -delta * U * in->axis[a].k * in->axis[a].sine[g[a]];
}

/* (1 - eta^2)^2, which vanishes at the walls with its slope, and that slope. */
static double bump(double eta)
{
    return (1 - eta * eta) * (1 - eta * eta);
}

static double bump_slope(double eta)
{
    return -4 * eta * (1 - eta * eta);
}

/* A wave number of this wavelength, at least one. */
static int64_t waves(int64_t cells, double wavelength)
{
    const int64_t count = (int64_t)((double)cells / wavelength + 0.5);
    return count > 0 ? count : 1;
}

/* Between the walls at eta = -1 and 1, U (1 - eta^8) along the first of the other axes: blunt, as a
 * turbulent profile is. To that the curl of a vector potential is added, waves along the flow and
 * across it of the lengths that near-wall streaks and their undulations have at Re_tau = 180 (0.6
 * and 2.4 half widths), so that it is free of divergence and no slip is kept. */
static void channel(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const struct flow_case *const c = in->c;
    int n = 0;
    while (c->faces[2 * n].kind == FACE_periodic)
        n++;
    const int s = n == 0 ? 1 : 0, t = n == 2 ? 1 : 2;
    const int64_t cells_s = c->cells[s], cells_t = c->cells[t];
    const double U = c->initial.amplitude, half = 0.5 * c->cells[n];
    const double eta = (g[n] + 0.5) / half - 1, eta2 = eta * eta, eta4 = eta2 * eta2;
    const int64_t across = waves(cells_t, 0.6 * half), along = waves(cells_s, 2.4 * half);
    /* {waves along, waves across}: two of each component of the potential */
    const int64_t wave[4][2] = {{0, across}, {along, across + 1}, {along, -across}, {2 * along, 1}};
    double sine[4], d_s[4], d_t[4]; /* and derivatives along both axes */
    for (int k = 0; k < 4; k++) {
        const int64_t turns =
            wave[k][0] * (2 * g[s] + 1) * cells_t + wave[k][1] * (2 * g[t] + 1) * cells_s;
        const double cosine = cos_turns(turns, 2 * cells_s * cells_t);
        sine[k] = sin_turns(turns, 2 * cells_s * cells_t);
        d_s[k] = 2 * pi * (double)wave[k][0] / (double)cells_s * cosine;
        d_t[k] = 2 * pi * (double)wave[k][1] / (double)cells_t * cosine;
    }
    /* so that |u'| is about the perturbation's part of U */
    const double size = 0.1 * c->initial.perturbation * U * half;
    f->u[s] = U * (1 - eta4 * eta4) + size * bump_slope(eta) / half * (sine[2] + sine[3]);
    f->u[n] = size * bump(eta) * ((d_t[0] + d_t[1]) - (d_s[2] + d_s[3]));
    f->u[t] = -size * bump_slope(eta) / half * (sine[0] + sine[1]);
    f->gradient[n][s] = -8 * U * eta4 * eta2 * eta / half; /* of the profile alone */
}

/* r^2 / b^2 and the vector from the centre in units of b, of the cell's centre; not along `not`. */
static double from_center(const struct initial *in, const int g[3], int not, double d[3])
{
    const struct case_initial *const i = &in->c->initial;
    double square = 0;
    for (int a = 0; a < 3; a++) {
        d[a] = a == not ? 0 : (g[a] + 0.5 - i->center[a]) / i->width;
        square += d[a] * d[a];
    }
    return square;
}

static double gaussian(double square)
{
    return square < 700 ? exact_exp(-square) : 0;
}

/* u_theta = A r/b exp((1 - r^2/b^2)/2), at most A at r = b; p = -A^2/2 exp(1 - r^2/b^2) balances
 * it. */
static void vortex(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const struct case_initial *const i = &in->c->initial;
    const int a = (i->axis + 1) % 3, b = (a + 1) % 3;
    double d[3];
    const double square = from_center(in, g, i->axis, d), A = i->amplitude;
    const double e = square < 1400 ? exact_exp(0.5 * (1 - square)) : 0;
    f->u[a] = -A * d[b] * e;
    f->u[b] = A * d[a] * e;
    f->gradient[a][a] = A * d[a] * d[b] * e / i->width;
    f->gradient[b][a] = -A * (1 - d[b] * d[b]) * e / i->width;
    f->gradient[a][b] = A * (1 - d[a] * d[a]) * e / i->width;
    f->gradient[b][b] = -A * d[a] * d[b] * e / i->width;
    f->drho = -1.5 * A * A * e * e;
}

/* A plane wave along the axis, towards its upper end: drho = epsilon exp(-s^2/b^2), u = c_s drho.
 */
static void wave(const struct initial *in, const int g[3], struct cell_flow *f)
{
    static const double sound = 0.5773502691896258; /* 1 / sqrt(3) */
    const struct case_initial *const i = &in->c->initial;
    const double s = (g[i->axis] + 0.5 - i->center[i->axis]) / i->width;
    f->drho = i->density * gaussian(s * s);
    f->u[i->axis] = sound * f->drho;
    f->gradient[i->axis][i->axis] = -2 * s / i->width * sound * f->drho;
}

static struct cell_flow cell_flow_at(const struct initial *in, const int g[3])
{
    const struct case_initial *const i = &in->c->initial;
    struct cell_flow f = {0};
    double d[3];
    switch (i->flow) {
    case INITIAL_rest:
    case INITIAL_uniform:
        break;
    case INITIAL_taylor_green_2d:
        taylor_green_2d(in, g, &f);
        break;
    case INITIAL_taylor_green_3d:
        taylor_green_3d(in, g, &f);
        break;
    case INITIAL_abc:
        abc(in, g, &f);
        break;
    case INITIAL_shear_layer:
        shear_layer(in, g, &f);
        break;
    case INITIAL_channel:
        channel(in, g, &f);
        break;
    case INITIAL_vortex:
        vortex(in, g, &f);
        break;
    case INITIAL_pulse:
        f.drho = i->density * gaussian(from_center(in, g, -1, d));
        break;
    case INITIAL_wave:
        wave(in, g, &f);
        break;
    }
    for (int a = 0; a < 3; a++)
        f.u[a] += i->velocity[a];
    if (in->c->initial.level)
        f.drho = 0;
    return f;
}

/* Shifted populations of a cell; the first moment lacks half of a step's force, which the velocity
 * of a forced fluid includes. */
static void populations_of(const struct initial *in, const struct cell_flow *f, double rho,
                           double omega, double out[Q])
{
    static const int v[Q][3] = LATTICE_VELOCITIES;
    const double tau = 1 / omega;
    double square = 0, divergence = 0;
    for (int a = 0; a < 3; a++) {
        square += f->u[a] * f->u[a];
        divergence += f->gradient[a][a];
    }
    for (int i = 0; i < Q; i++) {
        const double w = i == 0 ? 1.0 / 3 : i <= 6 ? 1.0 / 18 : 1.0 / 36;
        double cu = 0, cf = 0, strain = -divergence / 3;
        for (int a = 0; a < 3; a++) {
            cu += v[i][a] * f->u[a];
            cf += v[i][a] * in->force[a];
            for (int b = 0; b < 3; b++)
                strain += v[i][a] * v[i][b] * f->gradient[a][b];
        }
        out[i] = w * (f->drho + rho * (3 * cu + 4.5 * cu * cu - 1.5 * square)) -
                 3 * w * rho * (tau * strain + 0.5 * cf);
    }
}

/* Links into open boundaries keep other things in their slots than what arrives: what their rules
 * would have left there if the flow had been so before. */
static void populations_left(const struct view *v, int x, int y, int z, double f[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    double sent[Q], drho = 0;
    for (int i = 0; i < Q; i++) {
        sent[i] = f[i];
        drho += f[i];
    }
    for (int i = 1; i < Q; i++) {
        const struct tag_row *const row =
            &v->rows[v->tags[view_index(v, x - c[i][0], y - c[i][1], z - c[i][2])] & TAG_ROW];
        double jn = 0; /* outward */
        if (!row->fluid && row->boundary == BOUNDARY_nonreflecting && i == row->face + 1) {
            for (int k = 0; k < Q; k++)
                jn -= sent[k] * (c[k][0] * c[i][0] + c[k][1] * c[i][1] + c[k][2] * c[i][2]);
            f[i] = 0.57735026918962576 * drho - jn / (1 + drho);
        }
    }
}

static size_t block_cell(const struct view *v, int x, int y, int z)
{
    return ((size_t)z * (size_t)v->n[1] + (size_t)y) * (size_t)v->n[0] + (size_t)x;
}

/* A population as the kernels would store it. */
static void store_value(enum precision storage, void *to, size_t place, double value)
{
    if (storage == PRECISION_fp64)
        ((double *)to)[place] = value;
    else if (storage == PRECISION_fp32)
        ((float *)to)[place] = (float)value;
    else
        ((struct half *)to)[place] = half_of((float)value);
}

/* What cells begin with. */
struct filling {
    const double *drho; /* [cells of the block], NULL: that of the flow */
    bool settling; /* without the part of first order in the gradient, and momentum u, not rho u */
};

/* By all threads: on the host of a GPU this is most of what a short run takes. */
static void fill_piece(struct solver *s, const struct initial *in, struct filling how,
                       const struct box *piece)
{
    const struct view *const v = &s->view;
    const int *const lo = s->domain->lo;
    const size_t cells = box_cells(piece);
    const int nx = piece->hi[0] - piece->lo[0], ny = piece->hi[1] - piece->lo[1];
    void *const host = solver_host(s);
#pragma omp parallel for collapse(2) num_threads(in->c->run.threads)
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++) {
                const int g[3] = {lo[0] + x, lo[1] + y, lo[2] + z};
                const size_t row =
                    (size_t)(z - piece->lo[2]) * (size_t)ny + (size_t)(y - piece->lo[1]);
                const size_t cell = row * (size_t)nx + (size_t)(x - piece->lo[0]);
                const struct tag_row *const tag =
                    &v->rows[v->tags[view_index(v, x, y, z)] & TAG_ROW];
                struct cell_flow f = cell_flow_at(in, g);
                double values[Q];
                if (how.drho)
                    f.drho = how.drho[block_cell(v, x, y, z)];
                if (how.settling)
                    memset(f.gradient, 0, sizeof f.gradient);
                populations_of(in, &f, how.settling ? 1 : 1 + f.drho,
                               tag->fluid ? tag->omega_even : 1, values);
                if (v->tags[view_index(v, x, y, z)] & TAG_BESIDE)
                    populations_left(v, x, y, z, values);
                for (size_t i = 0; i < Q; i++)
                    store_value(s->backend->storage, host, i * cells + cell, values[i]);
            }
}

static enum status fill(struct solver *s, const struct initial *in, struct filling how)
{
    const struct box all = domain_all(s->domain);
    struct box piece;
    enum status status = STATUS_OK;
    s->step = 0;
    for (int number = 0; !status && solver_piece(s, &all, number, &piece); number++) {
        fill_piece(s, in, how, &piece);
        status = solver_put(s, &piece);
    }
    return status_agree(s->domain->comm, status);
}

/* Density - 1 of the block's cells; *change: by how much it differs at most from what was there. */
static enum status take_density(struct solver *s, double *drho, double *change)
{
    const struct view *const v = &s->view;
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

static enum status relax(struct solver *s, const struct initial *in)
{
    const struct view *const v = &s->view;
    const size_t cells = (size_t)v->n[0] * (size_t)v->n[1] * (size_t)v->n[2];
    double *const drho = calloc(cells, sizeof *drho), change = 0;
    enum status status = STATUS_OK;
    if (!drho)
        status = fail_machine("out of memory for the initial density of %zu cells", cells);
    status = status_agree(s->domain->comm, status);
    if (!status)
        status = take_density(s, drho, &change);
    for (int64_t k = 0; k < in->c->initial.relax && !status; k++) {
        watchdog_progress();
        status = fill(s, in, (struct filling){drho, true});
        if (!status)
            status = status_agree(s->domain->comm, solver_advance(s));
        if (!status)
            status = take_density(s, drho, &change);
    }
    if (!status)
        status = fill(s, in, (struct filling){drho, false});
    free(drho);
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, s->domain->comm);
    if (!status)
        say("initial pressure: the last of %lld steps changed the density by at most %.3g",
            (long long)in->c->initial.relax, change);
    return status;
}

enum status solver_initialise(struct solver *s, const struct flow_case *c)
{
    struct initial in = {0};
    enum status status = STATUS_OK;
    s->drive = (struct drive){0};
    s->signal_step = -1;
    if (!make_tables(&in, c))
        status = fail_machine("out of memory for the initial flow");
    status = status_agree(s->domain->comm, status);
    if (!status)
        status = fill(s, &in, (struct filling){NULL, false});
    if (!status && c->initial.relax > 0)
        status = relax(s, &in);
    destroy_tables(&in);
    if (status)
        return status;
    return status_agree(s->domain->comm, drive_adjust(s)); /* what acts at step 0 */
}
