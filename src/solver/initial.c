/* Initial flows: populations at equilibrium plus, where the velocity gradient is known, the part of
 * first order in it (Chapman-Enskog):
 *
 *   f_i = f_i^eq(drho, u) - 3 w_i tau rho (c_i c_i - 1/3) : grad u
 *
 * Cells lie at (i + 1/2); lengths below are those of the box, k = 2 pi / L. Tables of one axis come
 * from base/elementary.h: the same bits on every machine and for every cut of the box. */
#include <stdlib.h>

#include "base/elementary.h"
#include "base/message.h"
#include "solver/solver.h"

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

static struct cell_flow cell_flow_at(const struct initial *in, const int g[3])
{
    struct cell_flow f = {0};
    switch (in->c->initial.flow) {
    case INITIAL_rest:
        break;
    case INITIAL_uniform:
        for (int a = 0; a < 3; a++)
            f.u[a] = in->c->initial.velocity[a];
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
    }
    return f;
}

/* Shifted populations of a cell; the first moment lacks half of a step's force, which the velocity
 * of a forced fluid includes. */
static void populations_of(const struct flow_case *c, const struct cell_flow *f, double out[Q])
{
    static const int v[Q][3] = LATTICE_VELOCITIES;
    const double rho = 1 + f->drho, tau = case_tau(c);
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
            cf += v[i][a] * c->acceleration[a];
            for (int b = 0; b < 3; b++)
                strain += v[i][a] * v[i][b] * f->gradient[a][b];
        }
        out[i] = w * (f->drho + rho * (3 * cu + 4.5 * cu * cu - 1.5 * square)) -
                 3 * w * rho * (tau * strain + 0.5 * cf);
    }
}

/* By all threads: on the host of a GPU this is most of what a short run takes. */
static void fill_piece(struct solver *s, const struct initial *in, const struct box *piece)
{
    const int *const lo = s->domain->lo;
    const size_t cells = box_cells(piece);
    const int nx = piece->hi[0] - piece->lo[0], ny = piece->hi[1] - piece->lo[1];
    float *const narrow = solver_host(s);
    double *const wide = solver_host(s);
#pragma omp parallel for collapse(2) num_threads(in->c->run.threads)
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++) {
                const int g[3] = {lo[0] + x, lo[1] + y, lo[2] + z};
                const size_t row =
                    (size_t)(z - piece->lo[2]) * (size_t)ny + (size_t)(y - piece->lo[1]);
                const size_t cell = row * (size_t)nx + (size_t)(x - piece->lo[0]);
                const struct cell_flow f = cell_flow_at(in, g);
                double values[Q];
                populations_of(in->c, &f, values);
                for (size_t i = 0; i < Q; i++)
                    if (s->backend->storage == PRECISION_fp64)
                        wide[i * cells + cell] = values[i];
                    else
                        narrow[i * cells + cell] = (float)values[i];
            }
}

enum status solver_initialise(struct solver *s, const struct flow_case *c)
{
    const struct box all = domain_all(s->domain);
    struct initial in = {0};
    struct box piece;
    enum status status = STATUS_OK;
    s->step = 0;
    if (!make_tables(&in, c))
        status = fail_machine("out of memory for the initial flow");
    for (int number = 0; !status && solver_piece(s, &all, number, &piece); number++) {
        fill_piece(s, &in, &piece);
        status = solver_put(s, &piece);
    }
    destroy_tables(&in);
    int mine = status, worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, s->domain->comm);
    return (enum status)worst;
}
