/* Velocity that alternates from step to step; see alternation.h. */
#include "measure/alternation.h"

#include <math.h>
#include <stdlib.h>

#include "base/message.h"
#include "exact.h"
#include "sums.h"

enum { MIDDLE = ALTERNATION_STRIDE / 2 };

static bool is_sampled(const struct domain *d, int axis, int global)
{
    return d->cells[axis] < 2 * ALTERNATION_STRIDE || global % ALTERNATION_STRIDE == MIDDLE;
}

static size_t sampled(const struct domain *d, int axis)
{
    size_t count = 0;
    for (int k = 0; k < d->view.n[axis]; k++)
        count += is_sampled(d, axis, d->lo[axis] + k);
    return count;
}

enum status alternation_create(struct alternation *a, const struct solver *s)
{
    const struct domain *const d = s->domain;
    int failed = 0;
    *a = (struct alternation){.cells = sampled(d, 0) * sampled(d, 1) * sampled(d, 2)};
    for (int k = 0; k < ALTERNATION_TIMES; k++) {
        a->velocity[k] = malloc(3 * (a->cells + 1) * sizeof(float));
        failed = failed || !a->velocity[k];
    }
    if (failed)
        fail_machine("out of memory for a sample of %zu velocities", a->cells);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, d->comm);
    return failed ? STATUS_MACHINE : STATUS_OK;
}

void alternation_destroy(struct alternation *a)
{
    for (int k = 0; k < ALTERNATION_TIMES; k++)
        free(a->velocity[k]);
    *a = (struct alternation){0};
}

/* Adds the sampled cells of rows y to y + rows - 1 of plane z of the block. */
static enum status take(struct alternation *a, struct solver *s, int y, int rows, int z, float **to)
{
    const struct domain *const d = s->domain;
    const struct box box = {{0, y, z}, {d->view.n[0], y + rows, z + 1}};
    struct box piece;
    struct fetch f;
    const double *flow;
    for (fetch_start(&f, s, KERNEL_flow, &box); (flow = fetch_next(&f, &piece));)
        for (int py = piece.lo[1]; py < piece.hi[1]; py++)
            for (int px = piece.lo[0]; px < piece.hi[0]; px++, flow += 4) {
                if (!is_sampled(d, 1, d->lo[1] + py) || !is_sampled(d, 0, d->lo[0] + px))
                    continue;
                const double deviation = fabs(flow[0]);
                a->density = deviation > a->density ? deviation : a->density;
                for (int k = 0; k < 3; k++)
                    *(*to)++ = (float)flow[1 + k];
            }
    return fetch_end(&f);
}

enum status alternation_sample(struct alternation *a, struct solver *s)
{
    const struct domain *const d = s->domain;
    const bool planes = d->cells[2] >= 2 * ALTERNATION_STRIDE; /* else row by row */
    float *const oldest = a->velocity[ALTERNATION_TIMES - 1], *to = oldest;
    enum status status = STATUS_OK;
    a->density = 0;
    for (int z = 0; z < d->view.n[2] && !status; z++) {
        if (!is_sampled(d, 2, d->lo[2] + z))
            continue;
        if (planes)
            status = take(a, s, 0, d->view.n[1], z, &to);
        for (int y = 0; y < d->view.n[1] && !planes && !status; y++)
            if (is_sampled(d, 1, d->lo[1] + y))
                status = take(a, s, y, 1, z, &to);
    }
    for (int k = ALTERNATION_TIMES - 1; k > 0; k--)
        a->velocity[k] = a->velocity[k - 1];
    a->velocity[0] = oldest;
    a->known = a->known == 0 || s->step != a->step + 1 ? 1
               : a->known < ALTERNATION_TIMES          ? a->known + 1
                                                       : ALTERNATION_TIMES;
    a->step = s->step;
    return status;
}

/* Index in the whole grid of cell n of the sample. */
static int64_t global_index(const struct domain *d, size_t n)
{
    size_t left = n;
    int64_t index = 0, scale = 1;
    for (int axis = 0; axis < 3; axis++) {
        const size_t count = sampled(d, axis);
        size_t wanted = left % count;
        int k = 0;
        left /= count;
        for (; k < d->view.n[axis]; k++)
            if (is_sampled(d, axis, d->lo[axis] + k) && wanted-- == 0)
                break;
        index += (d->lo[axis] + k) * scale;
        scale *= d->cells[axis];
    }
    return index;
}

enum status alternation_measure(const struct alternation *a, const struct solver *s,
                                struct alternation_found *found)
{
    const struct domain *const d = s->domain;
    struct exact_sum change = {0}, whole = {0};
    double most[2] = {0, a->density};
    size_t place = 0;
    int64_t parts[7], first;
    for (size_t n = 0; n < a->cells && a->known == ALTERNATION_TIMES; n++) {
        double turned = 0, square = 0;
        for (size_t k = 3 * n; k < 3 * n + 3; k++) {
            const double now = (double)a->velocity[0][k];
            const double second = now - 2 * (double)a->velocity[1][k] + (double)a->velocity[2][k];
            turned += second * second;
            square += now * now;
        }
        if (!(turned < FLOW_SANE && square < FLOW_SANE)) /* reported as divergence */
            continue;
        exact_add(&change, turned);
        exact_add(&whole, square);
        if (turned > most[0]) {
            most[0] = turned;
            place = n;
        }
    }
    const double mine = most[0];
    exact_split(&change, parts);
    exact_split(&whole, parts + 3);
    parts[6] = (int64_t)a->cells;
    MPI_Allreduce(MPI_IN_PLACE, parts, 7, MPI_INT64_T, MPI_SUM, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, d->comm);
    first = a->cells && mine == most[0] ? global_index(d, place) : NO_CELL;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, d->comm);
    change = exact_join(parts);
    whole = exact_join(parts + 3);
    *found = (struct alternation_found){.share = NAN, .density = most[1]};
    found->rms = sqrt(exact_value(&whole) / (double)parts[6]);
    if (a->known == ALTERNATION_TIMES && exact_value(&whole) > 0)
        found->share = sqrt(exact_value(&change) / exact_value(&whole)) / 4;
    if (first != NO_CELL) {
        found->cell[0] = (int)(first % d->cells[0]);
        found->cell[1] = (int)(first / d->cells[0] % d->cells[1]);
        found->cell[2] = (int)(first / d->cells[0] / d->cells[1]);
    }
    return STATUS_OK;
}
