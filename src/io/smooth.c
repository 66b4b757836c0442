/* Values between the centres of cells; see smooth.h. */
#include "io/smooth.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/message.h"

/* The value of a cell; outside of the plane that of the nearest one in it. */
static double value_at(const struct smooth_plane *plane, int x, int y)
{
    x = x < 0 ? 0 : x < plane->width ? x : plane->width - 1;
    y = y < 0 ? 0 : y < plane->height ? y : plane->height - 1;
    return plane->values[(size_t)y * (size_t)plane->width + (size_t)x];
}

/* The four cells around a place, that of the place first, then its neighbours along x, along y, and
 * along both; and the weights of their centres. */
struct around {
    int x[4], y[4];
    double value[4], weight[4];
};

static struct around around_of(const struct smooth_plane *plane, double x, double y)
{
    const int own[2] = {(int)floor(x), (int)floor(y)};
    const double off[2] = {x - own[0] - 0.5, y - own[1] - 0.5};
    const double part[2] = {fabs(off[0]), fabs(off[1])};
    struct around a;
    for (int k = 0; k < 4; k++) {
        a.x[k] = own[0] + (k & 1 ? (off[0] < 0 ? -1 : 1) : 0);
        a.y[k] = own[1] + (k & 2 ? (off[1] < 0 ? -1 : 1) : 0);
        a.value[k] = value_at(plane, a.x[k], a.y[k]);
        a.weight[k] = (k & 1 ? part[0] : 1 - part[0]) * (k & 2 ? part[1] : 1 - part[1]);
    }
    return a;
}

static bool solid_at(const struct smooth_plane *plane, int x, int y)
{
    return isnan(value_at(plane, x, y));
}

/* A number whose level 1/2 between the cells' centres is the surface of the solid: the mean over a
 * cell and its neighbours, so that stairs become slopes, but above 1/2 in all solid cells, below in
 * all others. Walls and gaps of one cell keep their width. */
static double mask_at(const struct smooth_plane *plane, int x, int y)
{
    const bool own = solid_at(plane, x, y);
    double sum = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            sum += solid_at(plane, x + i, y + j) * (i ? 1 : 2) * (j ? 1 : 2);
    const bool left = solid_at(plane, x - 1, y), right = solid_at(plane, x + 1, y);
    const bool below = solid_at(plane, x, y - 1), above = solid_at(plane, x, y + 1);
    const bool thin = (left != own && right != own && below == above) ||
                      (below != own && above != own && left == right);
    const double least = thin ? 0.75 : 0.65;
    return own ? fmax(sum / 16, least) : fmin(sum / 16, 1 - least);
}

static bool is_solid(const struct smooth_plane *plane, const struct around *a)
{
    const bool own = isnan(a->value[0]);
    bool same = true;
    double mask = 0;
    for (int k = 1; k < 4; k++)
        same = same && isnan(a->value[k]) == own;
    if (same)
        return own;
    for (int k = 0; k < 4; k++)
        mask += a->weight[k] * mask_at(plane, a->x[k], a->y[k]);
    return mask > (own ? 0.5 - 1e-9 : 0.5 + 1e-9);
}

/* The cell whose value is nearest: that of the place, or the neighbour with the largest weight. */
static int nearest_of(const struct around *a)
{
    int nearest = 0;
    for (int k = 1; k < 4; k++)
        if (isnan(a->value[nearest]) ||
            (isnan(a->value[0]) && !isnan(a->value[k]) && a->weight[k] > a->weight[nearest]))
            nearest = k;
    return nearest;
}

double smooth_at(const struct smooth_plane *plane, double x, double y)
{
    const struct around a = around_of(plane, x, y);
    if (is_solid(plane, &a))
        return NAN;
    const int own = nearest_of(&a);
    if (!isfinite(a.value[own]))
        return a.value[own];
    double weight = 0, sum = 0;
    for (int k = 0; k < 4; k++) {
        /* The opposite cell is joined through one of the other two. */
        const bool joined =
            (k ^ own) != 3 || isfinite(a.value[own ^ 1]) || isfinite(a.value[own ^ 2]);
        if (isfinite(a.value[k]) && joined) {
            weight += a.weight[k];
            sum += a.weight[k] * a.value[k];
        }
    }
    return sum / weight;
}

static int within(int k, int count)
{
    return k < 0 ? 0 : k < count ? k : count - 1;
}

void smooth_row(const struct smooth_plane *plane, int per_cell, double y, int count, double *out)
{
    const int own = (int)floor(y), by = y - own < 0.5 ? -1 : 1;
    const double up = fabs(y - own - 0.5);
    const double *const a = plane->values + (size_t)own * (size_t)plane->width;
    const double *const b =
        plane->values + (size_t)within(own + by, plane->height) * (size_t)plane->width;
    /* From the middle of a cell to the middle of the next one. */
    for (int k = 0, cell = -1, end = per_cell / 2; k < count; cell++, end += per_cell) {
        const int left = within(cell, plane->width), right = within(cell + 1, plane->width);
        const double first = (1 - up) * a[left] + up * b[left];
        const double last = (1 - up) * a[right] + up * b[right];
        const bool whole = isfinite(first) && isfinite(last);
        for (; k < end && k < count; k++) {
            const double x = (k + 0.5) / per_cell, part = x - 0.5 - cell;
            out[k] = whole ? (1 - part) * first + part * last : smooth_at(plane, x, y);
        }
    }
}

/* The mean of the finite ones of four entries; NaN: none is. */
static double mean_of(const struct smooth_plane *fine, int x, int y)
{
    double sum = 0;
    int count = 0;
    for (int k = 0; k < 4; k++) {
        const double value = value_at(fine, 2 * x + (k & 1), 2 * y + (k >> 1));
        if (isfinite(value)) {
            sum += value;
            count++;
        }
    }
    return count ? sum / count : NAN;
}

/* Smooths cells of 2^level entries and larger. fine: a plane of cells of this level, with the mean
 * values of finer ones, in values[]. */
static enum status smooth_level(const struct smooth_plane *fine, int level, int largest,
                                const unsigned char *coarse, double *values)
{
    if (level >= largest)
        return STATUS_OK;
    const int width = fine->width / 2, height = fine->height / 2;
    double *const means = malloc((size_t)width * (size_t)height * sizeof *means);
    if (!means)
        return fail_machine("no memory for an image of %d x %d cells", width, height);
    const struct smooth_plane half = {width, height, means};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            means[(size_t)y * (size_t)width + (size_t)x] = mean_of(fine, x, y);
    const enum status status = smooth_level(&half, level + 1, largest, coarse, means);
    const size_t stride = (size_t)fine->width << level; /* of coarse[] */
    for (int y = 0; !status && y < fine->height; y++)
        for (int x = 0; x < fine->width; x++) {
            double *const value = values + (size_t)y * (size_t)fine->width + (size_t)x;
            if (coarse[((size_t)y << level) * stride + ((size_t)x << level)] > level &&
                isfinite(*value))
                *value = smooth_at(&half, (x + 0.5) / 2, (y + 0.5) / 2);
        }
    free(means);
    return status;
}

enum status smooth_coarse(const struct smooth_plane *plane, const unsigned char *coarse,
                          double *values)
{
    int largest = 0;
    const size_t entries = (size_t)plane->width * (size_t)plane->height;
    const struct smooth_plane fine = {plane->width, plane->height, values};
    for (size_t i = 0; i < entries; i++)
        largest = coarse[i] > largest ? coarse[i] : largest;
    return smooth_level(&fine, 0, largest, coarse, values);
}
