/* Files that a case names: found beside it, read through struct case_files, checked, and known
 * again by the checksum of what they hold. */
#ifndef TAGFLOW_INPUT_H
#define TAGFLOW_INPUT_H

#include "case/value.h"

/* A table of numbers by the keys `file`, `dataset` (hdf5 only) and `checksum` of `map`, whose row
 * is `row`. On success *n, *file (its absolute path) and *dataset (NULL for CSV) are to be freed.
 */
enum status input_numbers(const struct reader *r, const struct node *map, const char *row,
                          bool hdf5, struct case_numbers *n, char **file, char **dataset,
                          uint64_t *checksum);

/* A mask of size[0] x size[1] cells by the keys `file` and `checksum`. */
enum status input_mask(const struct reader *r, const struct node *map, const char *row,
                       const int size[2], uint8_t **mask, char **file, uint64_t *checksum);

/* The path that the key `file` means, from the case file's folder on, allocated; files can be read.
 */
enum status input_path(const struct reader *r, const struct node *map, const char *row,
                       char **path);

/* What the file holds has this checksum: is it the one of the key `checksum`, if there is one? */
enum status input_checksum(const struct reader *r, const struct node *map, const char *row,
                           uint64_t checksum);

/* A mesh by the keys `file` and `checksum`; *stl, whose memory is to be freed too, and *file. */
struct stl;
enum status input_mesh(const struct reader *r, const struct node *map, const char *row,
                       struct stl **stl, char **file, uint64_t *checksum);

/* Report, at the key `file` of `map`, that what it holds is no use. */
enum status input_wrong(const struct reader *r, const struct node *map, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
