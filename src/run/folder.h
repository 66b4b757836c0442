/* A run's folder: what is in it and what it is called. */
#ifndef TAGFLOW_FOLDER_H
#define TAGFLOW_FOLDER_H

#include <stdbool.h>

#include "base/status.h"

enum { FOLDER_PATH = 4096 };

/* dir/name, where name may have parts; false if it does not fit. */
bool folder_path(char path[FOLDER_PATH], const char *dir, const char *name);

/* Make the folder, those that it is in, and those in it (fields, images, series). One that holds a
 * run, or anything that a run would replace, is not written to again (STATUS_USAGE, reported)
 * unless `overwrite`: then what the earlier run left is removed, but not if the case itself, the
 * file case_path, is among it. On one rank. */
enum status folder_open(const char *dir, bool overwrite, const char *case_path);

#endif
