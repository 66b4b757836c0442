/* Samples of a box; see sampling.h. */
#include "tags/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "body/body.h"

/* The first cell that is a sample is step / 2. */
static int cell_of(const struct sampling *s, int i)
{
    return s->step / 2 + i * s->step;
}

/* The samples first <= i < end along an axis that lie in lo <= cell < hi; the nearest one if none
 * does. */
static void samples_in(const struct sampling *s, int axis, int lo, int hi, int *first, int *end)
{
    *first = (lo - s->step / 2 + s->step - 1) / s->step;
    *end = (hi - s->step / 2 + s->step - 1) / s->step;
    *first = *first < 0 ? 0 : *first < s->n[axis] ? *first : s->n[axis] - 1;
    *end = *end > *first ? *end : *first + 1;
    *end = *end < s->n[axis] ? *end : s->n[axis];
}

/* An image of a body: moved by whole boxes along periodic axes. */
struct image {
    const struct case_body *what;
    const struct body *body; /* shapes and voxels */
    int shift[3];            /* cells */
    int first[3], end[3];    /* samples in its bounding box */
};

/* Marks the samples of plane k in an image of a shape, or of voxels. */
static void mark_plane(const struct sampling *s, const struct image *m, int k)
{
    const int z = cell_of(s, k) - m->shift[2];
    for (int j = m->first[1]; j < m->end[1]; j++) {
        uint8_t *const row = s->solid + ((size_t)k * (size_t)s->n[1] + (size_t)j) * (size_t)s->n[0];
        for (int i = m->first[0]; i < m->end[0]; i++)
            body_row(m->body, cell_of(s, i) - m->shift[0], 1, cell_of(s, j) - m->shift[1], z,
                     row + i);
    }
}

/* Marks the samples planes[0] <= k < planes[1] in an image of a mesh: samples are the cells of a
 * grid that is coarser by `step`, and so is the mesh. */
static enum status mark_mesh(const struct sampling *s, const struct image *m, const int planes[2])
{
    static const int origin[3] = {0, 0, 0};
    struct case_mesh coarse = m->what->mesh;
    struct mesh mesh;
    coarse.scale /= s->step;
    for (int a = 0; a < 3; a++)
        coarse.center[a] = (coarse.center[a] + m->shift[a]) / s->step;
    if (!mesh_create(&mesh, &coarse, origin, s->n, false))
        return fail_machine("out of memory for the body %s", m->what->name);
    for (int k = planes[0]; k < planes[1]; k++)
        for (int j = m->first[1]; j < m->end[1]; j++)
            mesh_row(&mesh, 0, s->n[0], j, k,
                     s->solid + ((size_t)k * (size_t)s->n[1] + (size_t)j) * (size_t)s->n[0]);
    mesh_destroy(&mesh);
    return STATUS_OK;
}

static enum status mark_image(const struct sampling *s, struct image *m, const double lo[3],
                              const double hi[3], const int share[2], int threads)
{
    int planes[2];
    for (int a = 0; a < 3; a++) {
        const double low = fmax(lo[a] + m->shift[a], 0), high = hi[a] + m->shift[a];
        if (low >= s->cells[a] || high <= 0)
            return STATUS_OK;
        samples_in(s, a, (int)low, (int)fmin(ceil(high), s->cells[a]), &m->first[a], &m->end[a]);
    }
    planes[0] = m->first[2] > share[0] ? m->first[2] : share[0];
    planes[1] = m->end[2] < share[1] ? m->end[2] : share[1];
    if (planes[0] >= planes[1])
        return STATUS_OK;
    if (m->what->mesh.file)
        return mark_mesh(s, m, planes);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int k = planes[0]; k < planes[1]; k++)
        mark_plane(s, m, k);
    return STATUS_OK;
}

/* Marks the samples of the planes of this process in a body and its periodic images. */
static enum status mark_body(const struct sampling *s, const struct flow_case *c,
                             const struct case_body *what, const struct body *b, const int share[2])
{
    double lo[3], hi[3];
    int first[3] = {0, 0, 0}, last[3] = {0, 0, 0}, k[3];
    enum status status = STATUS_OK;
    if (what->mesh.file)
        mesh_bounds(&what->mesh, lo, hi);
    else
        body_bounds(b, lo, hi);
    for (int a = 0; a < 3; a++)
        if (c->faces[2 * a].kind == FACE_periodic && isfinite(lo[a]) && isfinite(hi[a]))
            body_images(lo[a], hi[a], c->cells[a], &first[a], &last[a]);
    for (k[2] = first[2]; k[2] <= last[2]; k[2]++)
        for (k[1] = first[1]; k[1] <= last[1]; k[1]++)
            for (k[0] = first[0]; k[0] <= last[0] && !status; k[0]++) {
                struct image m = {.what = what, .body = b};
                for (int a = 0; a < 3; a++)
                    m.shift[a] = k[a] * c->cells[a];
                status = mark_image(s, &m, lo, hi, share, case_threads(c));
            }
    return status;
}

static enum status look_at(const struct sampling *s, const struct flow_case *c,
                           const struct case_body *what, const int share[2], MPI_Comm comm)
{
    static const int origin[3] = {0, 0, 0};
    bool periodic[3];
    struct body b = {.what = what};
    for (int a = 0; a < 3; a++)
        periodic[a] = c->faces[2 * a].kind == FACE_periodic;
    if (what->mesh.file) /* mark_mesh() makes its own */
        return status_agree(comm, mark_body(s, c, what, &b, share));
    enum status status = body_open(&b, what, c->cells, periodic, origin, c->cells, comm);
    if (status)
        return status;
    status = status_agree(comm, mark_body(s, c, what, &b, share));
    body_close(&b);
    return status;
}

enum status sampling_create(struct sampling *s, const struct flow_case *c, double most,
                            MPI_Comm comm)
{
    const double all = (double)c->cells[0] * c->cells[1] * c->cells[2];
    int rank, ranks, share[2];
    *s = (struct sampling){.step = (int)ceil(cbrt(all / most)) | 1};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int a = 0; a < 3; a++) {
        s->cells[a] = c->cells[a];
        s->step = s->step < c->cells[a] ? s->step : (c->cells[a] - 1) | 1;
    }
    for (int a = 0; a < 3; a++)
        s->n[a] = (c->cells[a] - s->step / 2 + s->step - 1) / s->step;
    const size_t plane = (size_t)s->n[0] * (size_t)s->n[1], count = plane * (size_t)s->n[2];
    for (int k = 0; k < 2; k++)
        share[k] = (int)((int64_t)s->n[2] * (rank + k) / ranks);
    s->solid = calloc(count, 1);
    enum status status =
        s->solid ? STATUS_OK : fail_machine("out of memory for %zu samples of the box", count);
    status = status_agree(comm, status);
    for (int k = 0; k < c->body_count && !status; k++)
        status = look_at(s, c, &c->bodies[k], share, comm);
    if (status) {
        sampling_destroy(s);
        return status;
    }
    int64_t solid = 0;
    for (int k = 0; k < s->n[2]; k++)
        MPI_Allreduce(MPI_IN_PLACE, s->solid + (size_t)k * plane, (int)plane, MPI_UINT8_T, MPI_BOR,
                      comm);
    for (size_t k = 0; k < count; k++)
        solid += s->solid[k];
    s->share = 1 - (double)solid / (double)count;
    if ((size_t)solid < count)
        return STATUS_OK;
    sampling_destroy(s);
    return fail_user("the bodies leave no fluid cell, as far as one cell in %d^3 tells", s->step);
}

void sampling_destroy(struct sampling *s)
{
    free(s->solid);
    *s = (struct sampling){.step = 0};
}

double sampling_share(const struct sampling *s, const int lo[3], const int hi[3])
{
    int first[3], end[3];
    int64_t solid = 0, all = 1;
    for (int a = 0; a < 3; a++) {
        samples_in(s, a, lo[a], hi[a], &first[a], &end[a]);
        all *= end[a] - first[a];
    }
    for (int k = first[2]; k < end[2]; k++)
        for (int j = first[1]; j < end[1]; j++) {
            const uint8_t *const row =
                s->solid + ((size_t)k * (size_t)s->n[1] + (size_t)j) * (size_t)s->n[0];
            for (int i = first[0]; i < end[0]; i++)
                solid += row[i];
        }
    return 1 - (double)solid / (double)all;
}

/* ---- cuts ---- */

/* Estimates the fluid cells of each plane across each axis, count[a]: [cells[a]]. */
static void count_planes(const void *context, int64_t *const count[3])
{
    const struct sampling *const s = context;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const double area = (double)s->cells[b] * s->cells[c];
        int lo[3] = {0, 0, 0}, hi[3] = {s->cells[0], s->cells[1], s->cells[2]};
        for (int i = 0; i < s->n[a]; i++) {
            const int end = i + 1 < s->n[a] ? (i + 1) * s->step : s->cells[a];
            lo[a] = cell_of(s, i);
            hi[a] = lo[a] + 1;
            const int64_t fluid = (int64_t)(sampling_share(s, lo, hi) * area);
            for (int g = i * s->step; g < end; g++)
                count[a][g] = fluid;
        }
    }
}

/* Estimates the largest number of fluid cells in a block. */
static int64_t largest(const void *context, const int cuts[3], int *const at[3])
{
    const struct sampling *const s = context;
    double most = 0;
    for (int k = 0; k < cuts[0] * cuts[1] * cuts[2]; k++) {
        const int part[3] = {k % cuts[0], k / cuts[0] % cuts[1], k / cuts[0] / cuts[1]};
        int lo[3], hi[3];
        double cells = 1;
        for (int a = 0; a < 3; a++) {
            lo[a] = at[a][part[a]];
            hi[a] = at[a][part[a] + 1];
            cells *= hi[a] - lo[a];
        }
        most = fmax(most, cells * sampling_share(s, lo, hi));
    }
    return (int64_t)ceil(most);
}

enum status sampling_balance(const struct sampling *s, struct balance *b, const int cuts[3])
{
    const double all = (double)s->cells[0] * s->cells[1] * s->cells[2];
    const struct balance_source source = {s, s->cells, (int64_t)(s->share * all), count_planes,
                                          largest};
    return balance_by(b, &source, cuts);
}
