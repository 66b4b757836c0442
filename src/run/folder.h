/* A run's folder: its files and their names. */
#ifndef TAGFLOW_FOLDER_H
#define TAGFLOW_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "run/results.h"

enum { FOLDER_PATH = 4096 };

enum folder_mode {
    FOLDER_NEW,       /* refuses a folder with a run, or with anything a run would replace */
    FOLDER_OVERWRITE, /* the caller removes the files of an earlier run */
    FOLDER_RESUME,    /* keeps the files of an earlier run */
};

/* dir/name, where name may contain folders; false if it does not fit. */
bool folder_path(char path[FOLDER_PATH], const char *dir, const char *name);

/* dir/fields/NAME_<10 digits of the step>.vtkhdf, and so in the other folders of results; of a
 * series without a step. STATUS_USAGE, reported: it does not fit. */
enum status folder_file(char path[FOLDER_PATH], const char *dir, enum results_part part,
                        const char *name, int64_t step);

/* Make the folder, its parents and its subfolders (fields, images, series, checkpoints), and lock
 * it: *lock is for lock_release(). STATUS_USAGE, reported, if the mode forbids it, if another run
 * has the folder, or if the run would replace the case file case_path itself; but STATUS_STOPPED if
 * a run that is resumed finds another one in it: a later job may go on. On one rank. */
struct lock;
enum status folder_open(const char *dir, enum folder_mode mode, const char *case_path,
                        struct lock **lock);

/* Does the folder hold a run already? Then `name` is its first file, for a message. */
bool folder_holds_run(const char *dir, char name[FOLDER_PATH]);

/* Add the outputs of the case in the folder, if there is one. */
enum status folder_learn(const char *dir, struct results *r);

/* Find any series, snapshot or image; path is "" if there is none. */
enum status folder_result(const char *dir, const struct results *r, char path[FOLDER_PATH]);

/* Remove all files of an earlier run: first what says how it ended, or half of its results would
 * count as all of them; then the rest. */
enum status folder_forget_end(const char *dir);
enum status folder_empty(const char *dir, const struct results *r);

/* Before a run starts or continues: remove temporary files of a dead job beside the folders. */
enum status folder_tidy(const char *dir);

/* Before a run continues after `step` (-1: begins anew): remove temporary files of a dead job in
 * the folders, and snapshots and images of later steps, which will be written again. Those that
 * this case does not write again get .aside appended to their names, and so do checkpoints of later
 * steps, which must not be used any more (they were damaged, or the user restarted from an earlier
 * one). */
enum status folder_rewind(const char *dir, const struct results *r, int64_t step);

/* dir/checkpoints/step_<10 digits>.h5; folder_checkpoint_name() gives it without dir. */
bool folder_checkpoint(char path[FOLDER_PATH], const char *dir, int64_t step);
enum { FOLDER_CHECKPOINT_NAME = 64 };
void folder_checkpoint_name(char name[FOLDER_CHECKPOINT_NAME], int64_t step);

/* The steps of the checkpoints in dir, newest first, allocated. Returns their number (0 without the
 * folder), or -1 when the folder could not be read (reported). */
int folder_checkpoints(const char *dir, int64_t **steps);

/* Remove all checkpoints but the newest `keep`. */
enum status folder_prune(const char *dir, int keep);

#endif
