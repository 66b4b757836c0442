/* Series: CSV files that grow by one row or several every so many steps. Format: docs/formats.md.
 * One rank only. */
#ifndef TAGFLOW_SERIES_H
#define TAGFLOW_SERIES_H

#include <stdint.h>

#include "base/status.h"

struct series;

/* Starts the file with a header line of `columns` names, the first of which is that of the step.
 * A file that was there is replaced. */
enum status series_create(struct series **out, const char *path, int columns,
                          const char *const *names);

/* Goes on with a file after a restart from last_step: rows of later steps, and whatever follows the
 * last whole row, are cut off first; a file that needs no cut is not touched. Killed at any
 * instant, it leaves a file that can be resumed again. No such file, or one with a part of its
 * header only: as series_create. Other columns: STATUS_USAGE, and the file is not touched. */
enum status series_resume(struct series **out, const char *path, int columns,
                          const char *const *names, int64_t last_step);

/* Adds so many rows of one step, in as few digits as read back the same, and hands them to the
 * system at once. values: [rows][columns - 1]. On failure, reported once, the file ends with the
 * rows before, and this and all further rows return STATUS_MACHINE. */
enum status series_append(struct series *series, int64_t step, int rows, const double *values);

/* All rows are on disk after this; to be called before a checkpoint that counts on them. */
enum status series_sync(struct series *series);

/* Syncs and closes; the worst status of the series. NULL: nothing. */
enum status series_close(struct series *series);

#endif
