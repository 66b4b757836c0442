/* Statistics of series; see statistics.h. */
#include "io/statistics.h"

#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/message.h"

static const double pi = 3.141592653589793;

/* ---- rows ---- */

void series_rows_free(struct series_rows *rows)
{
    free(rows->value);
    *rows = (struct series_rows){0};
}

/* Reads the step of a line and the numbers after it; false: not a row with so many columns. */
static bool numbers_of(const char *line, int columns, int64_t *step, double *value)
{
    char *end;
    *step = strtoll(line, &end, 10);
    if (end == line)
        return false;
    for (int k = 0; k < columns - 1; k++) {
        const char *const begin = end + 1;
        if (*end != ',')
            return false;
        value[k] = strtod(begin, &end);
        if (end == begin)
            return false;
    }
    return *end == '\n';
}

static enum status read_rows(FILE *file, const char *path, struct series_rows *rows, int64_t from,
                             int64_t every)
{
    const size_t width = (size_t)rows->columns - 1;
    char *line = NULL;
    size_t size = 0;
    enum status status = STATUS_OK;
    bool header = true;
    while (!status && getline(&line, &size, file) > 0) {
        int64_t step = 0;
        if (!array_grow(&rows->value, rows->count, width * sizeof(double)))
            status = fail_machine("out of memory for the statistics of %s", path);
        else if (!header &&
                 !numbers_of(line, rows->columns, &step, rows->value + rows->count * width))
            status = fail_machine("%s: a line is no row: %.40s", path, line);
        if (!status && !header && step >= from && step % every == 0) {
            if (rows->count > 0 && step != rows->last + every) { /* a gap: drop earlier rows */
                memcpy(rows->value, rows->value + rows->count * width, width * sizeof(double));
                rows->count = 0;
            }
            if (rows->count++ == 0)
                rows->first = step;
            rows->last = step;
        }
        header = false;
    }
    if (!status && ferror(file))
        status = fail_machine("cannot read %s: %s", path, strerror(errno));
    free(line);
    return status;
}

enum status series_rows_read(struct series_rows *rows, const char *path, int columns, int64_t from,
                             int64_t every)
{
    *rows = (struct series_rows){.columns = columns};
    FILE *const file = fopen(path, "re");
    if (!file)
        return fail_machine("cannot read %s: %s", path, strerror(errno));
    const enum status status = read_rows(file, path, rows, from, every);
    fclose(file);
    if (status)
        series_rows_free(rows);
    return status;
}

/* ---- the dominant frequency ---- */

/* Fast Fourier transform in place; `count` is a power of 2, root[k] = exp(-2 pi i k / count) for k
 * < count / 2. */
static void transform(double complex *x, size_t count, const double complex *root)
{
    for (size_t i = 1, j = 0; i < count; i++) {
        size_t bit = count >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            const double complex swap = x[i];
            x[i] = x[j];
            x[j] = swap;
        }
    }
    for (size_t half = 1; half < count; half *= 2)
        for (size_t begin = 0; begin < count; begin += 2 * half)
            for (size_t k = begin; k < begin + half; k++) {
                const double complex odd = x[k + half] * root[(k - begin) * (count / (2 * half))];
                x[k + half] = x[k] - odd;
                x[k] += odd;
            }
}

/* Position and *height of the maximum of the parabola through three points at -1, 0 and 1, of which
 * the middle one is the highest. */
static double top(double left, double middle, double right, double *height)
{
    const double bend = left - 2 * middle + right;
    const double at = bend < 0 ? 0.5 * (left - right) / bend : 0;
    *height = middle - 0.25 * (left - right) * at;
    return at;
}

/* Sets frequency and amplitude from the highest |x[k]|; x[k] belongs to frequency k / size, k <=
 * size / 2. */
static void find_peak(const double complex *x, size_t size, size_t count, double weights,
                      struct column_statistics *s)
{
    size_t peak = 0;
    double height = 0;
    for (size_t k = 1; k < size / 2; k++)
        if (cabs(x[k]) > cabs(x[peak]) || peak == 0)
            peak = k;
    const double magnitude = cabs(x[peak]), lower = cabs(x[peak - 1]), upper = cabs(x[peak + 1]);
    if (!(lower > 0 && magnitude > 0 && upper > 0))
        return;
    const double at = (double)peak + top(log(lower), log(magnitude), log(upper), &height);
    if (at * (double)count < 2 * (double)size) /* less than two periods: a drift */
        return;
    s->frequency = at / (double)size;
    s->amplitude = 2 * exp(height) / weights;
}

static enum status find_frequency(const double *value, size_t count, struct column_statistics *s)
{
    size_t size = 4;
    double weights = 0;
    while (size < 4 * count)
        size *= 2;
    double complex *const x = calloc(size, sizeof *x), *const root = calloc(size / 2, sizeof *x);
    if (!x || !root) {
        free(x);
        free(root);
        return fail_machine("out of memory for the spectrum of %zu values", count);
    }
    for (size_t k = 0; k < count; k++) {
        const double weight = 0.5 - 0.5 * cos(2 * pi * ((double)k + 0.5) / (double)count);
        x[k] = weight * (value[k] - s->mean);
        weights += weight;
    }
    for (size_t k = 0; k < size / 2; k++) {
        const double angle = 2 * pi * (double)k / (double)size;
        root[k] = cos(angle) - sin(angle) * I;
    }
    transform(x, size, root);
    find_peak(x, size, count, weights, s);
    free(x);
    free(root);
    return STATUS_OK;
}

/* ---- all of them ---- */

enum status statistics_make(const double *value, size_t count, struct column_statistics *s)
{
    double sum = 0, squares = 0, differences = 0;
    *s = (struct column_statistics){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t k = 0; k < count; k++)
        if (!isfinite(value[k]))
            return STATUS_OK;
    if (count == 0)
        return STATUS_OK;
    s->min = s->max = value[0];
    for (size_t k = 0; k < count; k++) {
        sum += value[k] - value[0]; /* keeps the digits of small changes */
        squares += value[k] * value[k];
        s->min = fmin(s->min, value[k]);
        s->max = fmax(s->max, value[k]);
    }
    s->mean = value[0] + sum / (double)count;
    for (size_t k = 0; k < count; k++)
        differences += (value[k] - s->mean) * (value[k] - s->mean);
    s->rms = sqrt(squares / (double)count);
    s->deviation = sqrt(differences / (double)count);
    return s->max > s->min && count >= 8 ? find_frequency(value, count, s) : STATUS_OK;
}
