/* Work beside the main thread: one more thread, which does jobs one after the other. A job may not
 * call MPI, HDF5 or a backend; it may report failures (message.h). All functions are for the main
 * thread. */
#ifndef TAGFLOW_BACKGROUND_H
#define TAGFLOW_BACKGROUND_H

#include <stdbool.h>

#include "base/status.h"

struct background;
typedef enum status background_job(void *data);

/* Starts the thread. STATUS_MACHINE, reported, if there is none to be had. */
enum status background_create(struct background **out);

/* Appends a job; `data` is the job's until it is done. Without memory the job is done at once. */
void background_give(struct background *b, background_job *job, void *data);

/* Are there jobs that are not done? NULL: no. */
bool background_busy(struct background *b);

/* Waits until all jobs are done. Returns the worst of their statuses since the last call. */
enum status background_wait(struct background *b);

/* Waits for the jobs and ends the thread. NULL: nothing. */
void background_destroy(struct background *b);

#endif
