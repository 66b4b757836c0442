/* Series: CSV files that grow by one or several rows at regular steps. Format: docs/formats.md. One
 * rank only. */
#ifndef TAGFLOW_SERIES_H
#define TAGFLOW_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct series;

/* Starts the file with a header line of `columns` names; the first is the name of the step column.
 * Replaces an existing file. */
enum status series_create(struct series **out, const char *path, int columns,
                          const char *const *names);

/* Content of the file at some time. A checkpoint stores it, so that a restart can check the file.
 */
struct series_mark {
    int64_t rows, bytes, sum; /* sum: the bits of XXH3 of the first `bytes` bytes */
};
void series_mark(const struct series *series, struct series_mark *mark);

/* Continues a file after a restart from last_step. mark: its content at that step; NULL: unknown.
 *
 * Cuts off rows of later steps and anything after the last whole row; does not touch a file that
 * needs no cut. If the process is killed at any moment, the file can still be resumed. If the file
 * does not exist, or has only a part of its header: as series_create. If it has other columns:
 * STATUS_USAGE, and the file is not touched.
 *
 * If the file is damaged, this warns, leaves out lines that are not rows, and keeps the good rows
 * before and after them. The original file stays, with .aside appended to its name (the next free
 * one of .aside, .2.aside ..). With a mark it also detects missing rows and changed values. */
enum status series_resume(struct series **out, const char *path, int columns,
                          const char *const *names, int64_t last_step,
                          const struct series_mark *mark);

/* Gives the file another name (.aside appended, as above), with a warning, if it has rows up to
 * last_step, which measure `was` (NULL: not known), not `is` as the rows to come. *anew: it did.
 */
enum status series_put_aside(const char *path, int64_t last_step, const char *was, int was_length,
                             const char *is, int is_length, bool *anew);

/* Adds rows of one step and passes them to the system at once. Values have as few digits as needed
 * to read back the same number. values: [rows][columns - 1]. On failure, reported once, the file
 * ends with the earlier rows, and this and all later calls return STATUS_MACHINE. */
enum status series_append(struct series *series, int64_t step, int rows, const double *values);

/* Brings all rows to disk. Call it before a checkpoint that relies on them. */
enum status series_sync(struct series *series);

/* Syncs and closes; returns the worst status of the series. NULL: does nothing. */
enum status series_close(struct series *series);

#endif
