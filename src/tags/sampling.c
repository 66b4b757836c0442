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

/* A body, and its periodic images: moved by first[a] .. last[a] lengths of the box. */
struct images {
    const struct case_body *what;
    const struct body *body; /* of shapes and voxels */
    double lo[3], hi[3];     /* bounding box of the body itself */
    int first[3], last[3];
};

/* The samples begin <= k < end along an axis that the image moved by `shift` cells may hold. */
static bool samples_of(const struct sampling *s, const struct images *m, int axis, double shift,
                       int *begin, int *end)
{
    const double low = fmax(m->lo[axis] + shift, 0), high = m->hi[axis] + shift;
    if (low >= s->cells[axis] || high <= 0)
        return false;
    samples_in(s, axis, (int)low, (int)fmin(ceil(high), s->cells[axis]), begin, end);
    return true;
}

/* Marks the samples of plane k that the image holds; shift: cells. Returns how many are new. */
static int64_t mark_image(const struct sampling *s, const struct images *m, const int shift[3],
                          int k)
{
    int begin[3], end[3];
    int64_t marked = 0;
    for (int a = 0; a < 3; a++)
        if (!samples_of(s, m, a, shift[a], &begin[a], &end[a]))
            return 0;
    if (k < begin[2] || k >= end[2])
        return 0;
    for (int j = begin[1]; j < end[1]; j++) {
        uint8_t *const row = s->solid + ((size_t)k * (size_t)s->n[1] + (size_t)j) * (size_t)s->n[0];
        for (int i = begin[0]; i < end[0]; i++) {
            if (row[i])
                continue;
            body_row(m->body, cell_of(s, i) - shift[0], 1, cell_of(s, j) - shift[1],
                     cell_of(s, k) - shift[2], row + i);
            row[i] = row[i] != 0;
            marked += row[i];
        }
    }
    return marked;
}

/* Marks the samples of plane k that any image holds. Bodies much larger than the box have
 * thousands of images: nothing more is done once all samples are marked. */
static void mark_plane(const struct sampling *s, const struct images *m, int k)
{
    const int64_t all = (int64_t)s->n[0] * s->n[1];
    const uint8_t *const plane = s->solid + (size_t)k * (size_t)all;
    int64_t marked = 0;
    int t[3];
    for (int64_t i = 0; i < all; i++)
        marked += plane[i];
    for (t[2] = m->first[2]; t[2] <= m->last[2]; t[2]++)
        for (t[1] = m->first[1]; t[1] <= m->last[1]; t[1]++)
            for (t[0] = m->first[0]; t[0] <= m->last[0] && marked < all; t[0]++) {
                const int shift[3] = {t[0] * s->cells[0], t[1] * s->cells[1], t[2] * s->cells[2]};
                marked += mark_image(s, m, shift, k);
            }
}

/* Marks the samples of the planes share[0] <= k < share[1] that the image of a mesh holds: samples
 * are the cells of a grid that is coarser by `step`, and so is the mesh. */
static enum status mark_mesh(const struct sampling *s, const struct images *m, const int shift[3],
                             const int share[2])
{
    static const int origin[3] = {0, 0, 0};
    struct case_mesh coarse = m->what->mesh;
    struct mesh mesh;
    int begin[3], end[3];
    coarse.scale /= s->step;
    for (int a = 0; a < 3; a++) {
        coarse.center[a] = (coarse.center[a] + shift[a]) / s->step;
        if (!samples_of(s, m, a, shift[a], &begin[a], &end[a]))
            return STATUS_OK;
    }
    if (end[2] <= share[0] || begin[2] >= share[1])
        return STATUS_OK;
    if (!mesh_create(&mesh, &coarse, origin, s->n, MESH_LINKS_none))
        return fail_machine("out of memory for the body %s", m->what->name);
    for (int k = begin[2] > share[0] ? begin[2] : share[0]; k < end[2] && k < share[1]; k++)
        for (int j = begin[1]; j < end[1]; j++)
            mesh_row(&mesh, 0, s->n[0], j, k,
                     s->solid + ((size_t)k * (size_t)s->n[1] + (size_t)j) * (size_t)s->n[0]);
    mesh_destroy(&mesh);
    return STATUS_OK;
}

/* Marks the samples of the planes of this process in a body and its periodic images. */
static enum status mark_body(const struct sampling *s, const struct flow_case *c,
                             const struct case_body *what, const struct body *b, const int share[2])
{
    struct images m = {.what = what, .body = b};
    enum status status = STATUS_OK;
    int t[3];
    if (what->mesh.file)
        mesh_bounds(&what->mesh, m.lo, m.hi);
    else
        body_bounds(b, m.lo, m.hi);
    for (int a = 0; a < 3; a++)
        if (c->faces[2 * a].kind == FACE_periodic && isfinite(m.lo[a]) && isfinite(m.hi[a]))
            body_images(m.lo[a], m.hi[a], c->cells[a], &m.first[a], &m.last[a]);
    if (!what->mesh.file) {
#pragma omp parallel for num_threads(case_threads(c)) schedule(dynamic)
        for (int k = share[0]; k < share[1]; k++)
            mark_plane(s, &m, k);
        return STATUS_OK;
    }
    for (t[2] = m.first[2]; t[2] <= m.last[2]; t[2]++)
        for (t[1] = m.first[1]; t[1] <= m.last[1]; t[1]++)
            for (t[0] = m.first[0]; t[0] <= m.last[0] && !status; t[0]++) {
                const int shift[3] = {t[0] * s->cells[0], t[1] * s->cells[1], t[2] * s->cells[2]};
                status = mark_mesh(s, &m, shift, share);
            }
    return status;
}

/* Marks the samples of the planes of this process that a mesh and its images leave: those not
 * marked in a copy with the mesh alone. */
static enum status mark_around(const struct sampling *s, const struct flow_case *c,
                               const struct case_body *what, const struct body *b,
                               const int share[2])
{
    const size_t plane = (size_t)s->n[0] * (size_t)s->n[1];
    struct sampling alone = *s;
    alone.solid = calloc(plane * (size_t)s->n[2], 1);
    if (!alone.solid)
        return fail_machine("out of memory for the body %s", what->name);
    const enum status status = mark_body(&alone, c, what, b, share);
    for (size_t k = plane * (size_t)share[0]; k < plane * (size_t)share[1]; k++)
        s->solid[k] |= !alone.solid[k];
    free(alone.solid);
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
    if (body_surrounds(what))
        return status_agree(comm, mark_around(s, c, what, &b, share));
    if (what->mesh.file) /* mark_mesh() makes its own */
        return status_agree(comm, mark_body(s, c, what, &b, share));
    enum status status = body_open(&b, what, c->cells, periodic, origin, c->cells, false, comm);
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
    const int step = s->step;
    sampling_destroy(s);
    return fail_user("the bodies leave no fluid cell, as far as one cell in %d^3 tells", step);
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
    const struct balance_source source = {s, s->cells,     (int64_t)(s->share * all),
                                          1, count_planes, largest};
    return balance_by(b, &source, cuts);
}
