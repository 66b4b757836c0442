/* Cuts the file of a series for a restart; a part of series.c. */
#ifndef TAGFLOW_SERIES_CUT_H
#define TAGFLOW_SERIES_CUT_H

#include <stdbool.h>

#include <sys/types.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/series.h"

enum {
    SERIES_NUMBER = 32,       /* room for a number and its comma, in characters */
    SERIES_CHUNK = 64 * 1024, /* bytes read at a time: a file may be larger than the memory */
};

/* Counts the rows in the first `bytes` bytes of a file, and adds these bytes to a checksum. Returns
 * 0 or errno. */
int series_take_in(int fd, off_t bytes, XXH3_state_t *sum, int64_t *rows);

/* Cuts an existing file so that it begins with `header` and ends with the last row up to last_step;
 * see series_resume. *anew: the file has only a part of its header, and nothing was done. */
enum status series_cut(const char *path, const char *header, int columns, int64_t last_step,
                       const struct series_mark *mark, bool *anew);

#endif
