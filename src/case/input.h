/* Files that a case names. Their paths are relative to the case file; struct case_files reads them;
 * checksums of their content show whether they have changed. */
#ifndef TAGFLOW_INPUT_H
#define TAGFLOW_INPUT_H

#include "case/value.h"

/* The three readers below take the outputs zeroed. The caller frees them, also after an error.
 * *file: the absolute path. */

/* Read a table of numbers by the keys `file`, `dataset` (hdf5 only) and `checksum`. *dataset is
 * NULL for CSV. */
enum status input_numbers(struct map m, bool hdf5, struct case_numbers *n, char **file,
                          char **dataset, uint64_t *checksum);

/* Read a mask of size[0] x size[1] cells by the keys `file` and `checksum`. */
enum status input_mask(struct map m, const int size[2], uint8_t **mask, char **file,
                       uint64_t *checksum);

/* Read a mesh by the keys `file` and `checksum`. *stl: its content and its memory are freed. */
struct stl;
enum status input_mesh(struct map m, struct stl **stl, char **file, uint64_t *checksum);

/* The path given by a key, relative to the case file's folder; allocated. An error if files cannot
 * be read here. */
enum status input_path(struct map m, const char *key, char **path);

/* Compares the checksum of a file's content with the key `checksum`, if that is given. */
enum status input_checksum(struct map m, uint64_t checksum);

/* Report that the content of a file is wrong, at the key `file`, or at the node n that names the
 * file. */
enum status input_wrong(struct map m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum status input_wrong_at(const struct reader *r, const struct node *n, const char *what);

/* Report the status of a callback of struct case_files, with its reason if it is not STATUS_OK. */
enum status input_said(struct map m, enum status s, const char *reason);

#endif
