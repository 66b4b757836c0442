/* A run's folder: what is in it and what it is called. */
#ifndef TAGFLOW_FOLDER_H
#define TAGFLOW_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { FOLDER_PATH = 4096 };

enum folder_mode {
    FOLDER_NEW,       /* one that holds a run, or anything a run would replace, is not touched */
    FOLDER_OVERWRITE, /* what an earlier run left is removed */
    FOLDER_RESUME,    /* it stays */
};

/* dir/name, where name may have parts; false if it does not fit. */
bool folder_path(char path[FOLDER_PATH], const char *dir, const char *name);

/* Make the folder, those that it is in, and those in it (fields, images, series, checkpoints), and
 * lock it: *lock is for lock_release. STATUS_USAGE, reported, if the mode forbids it, if another
 * run has the lock, or if the case itself, the file case_path, is among what would be replaced. On
 * one rank. */
enum status folder_open(const char *dir, enum folder_mode mode, const char *case_path, int *lock);

/* Does the folder hold a run already? Its first file then, for a message. */
bool folder_holds_run(const char *dir, char name[FOLDER_PATH]);

/* Remove all that an earlier run left. */
enum status folder_empty(const char *dir);

/* Before a run goes on after `step`: remove what a dead job left half written, and snapshots and
 * images of later steps, which will come again. Checkpoints of later steps are no good any more
 * (they were damaged, or the user went back behind them): they get .aside behind their names. */
enum status folder_rewind(const char *dir, int64_t step);

/* checkpoints/step_<10 digits>.h5 in dir; its part behind dir alone is folder_checkpoint_name. */
bool folder_checkpoint(char path[FOLDER_PATH], const char *dir, int64_t step);
enum { FOLDER_CHECKPOINT_NAME = 64 };
void folder_checkpoint_name(char name[FOLDER_CHECKPOINT_NAME], int64_t step);

/* The steps of the checkpoints in dir, newest first, allocated; how many there are, or -1 when the
 * folder could not be read (reported). Without the folder there are none. */
int folder_checkpoints(const char *dir, int64_t **steps);

/* Remove all checkpoints but the newest `keep`. */
enum status folder_prune(const char *dir, int keep);

#endif
