/* Series: CSV files that grow by a row every so many steps. Format: docs/formats.md. One rank only.
 */
#ifndef TAGFLOW_SERIES_H
#define TAGFLOW_SERIES_H

#include <stdint.h>

#include "base/status.h"

struct series;

/* Starts the file with a header line of `columns` names, the first of which is that of the step.
 * A file that was there is replaced. */
enum status series_create(struct series **out, const char *path, int columns,
                          const char *const *names);

/* Goes on with a file after a restart from last_step: rows of later steps, and a row that was
 * written in part, are dropped first. No such file: as series_create. Other columns: STATUS_USAGE.
 */
enum status series_resume(struct series **out, const char *path, int columns,
                          const char *const *names, int64_t last_step);

/* Adds a row of the step and columns - 1 values, in as few digits as read back the same, and hands
 * it to the system at once. On failure, reported once, the file ends with the row before, and this
 * and all further rows return STATUS_MACHINE. */
enum status series_append(struct series *series, int64_t step, const double *values);

/* All rows are on disk after this; to be called before a checkpoint that counts on them. */
enum status series_sync(struct series *series);

/* Syncs and closes; the worst status of the series. NULL: nothing. */
enum status series_close(struct series *series);

#endif
