/* Statistics of the columns of a series, from the rows of its file. */
#ifndef TAGFLOW_STATISTICS_H
#define TAGFLOW_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Statistics of one column; NaN: unknown. All are NaN if a value is not finite. */
struct column_statistics {
    double mean, min, max;
    double rms;       /* root of the mean square */
    double deviation; /* root of the mean square of the difference from the mean */
    double frequency; /* the dominant one, per row; NaN for fewer than two periods */
    double amplitude; /* of that oscillation */
};

/* The rows whose steps are at least `from` and multiples of `every`; if rows are missing, only
 * those after the last gap. */
struct series_rows {
    int64_t first, last; /* steps */
    size_t count;
    double *value; /* [rows][columns - 1], without the step */
    int columns;
};

/* Reads these rows from a file of so many columns. STATUS_MACHINE, reported. */
enum status series_rows_read(struct series_rows *rows, const char *path, int columns, int64_t from,
                             int64_t every);
void series_rows_free(struct series_rows *rows);

/* Statistics of `count` values at equal distances. The dominant frequency is the maximum of the
 * spectrum: the Fourier transform of the values minus their mean, times Hann's window, padded with
 * zeros to at least four times their number. Between its points a parabola through the logarithms
 * of three magnitudes gives the maximum. STATUS_MACHINE, reported, when out of memory. */
enum status statistics_make(const double *value, size_t count, struct column_statistics *s);

#endif
