/* A run: from the case or a checkpoint to its last step. */
#ifndef TAGFLOW_RUN_H
#define TAGFLOW_RUN_H

#include <mpi.h>

#include "case/case.h"
#include "run/threads.h"
#include "solver/backend.h"

struct run_options {
    const char *dir;       /* the run's folder */
    const char *case_path; /* the file the case came from */
    const char *restart;   /* "auto", a checkpoint's file, or NULL: from the beginning */
    bool overwrite;
    bool silent;    /* nothing is shown on a terminal */
    bool temporary; /* the folder will be removed: closing early needs no checkpoint */
    const struct backend_type *backend;
    char backend_reason[256]; /* why this is not the preferred backend, or "" */
    bool share_gpu;           /* several ranks may use one GPU */
    struct threads threads;   /* how c->run.threads came about, see threads_choose() */
    /* Asked after each batch of steps, about ten times a second, on each rank: is run_advance() to
     * return? NULL: never. */
    bool (*interrupted)(void *asked);
    void *asked;
};

struct run;

/* Open the run's folder and set up its flow, at step 0 or at that of a checkpoint; what is due at
 * this step is written. *c and the texts of *options must outlive the run. A run that `restart`
 * finds done has nothing to do: run_over() is true. All functions with a status are collective and
 * return one status on all ranks, the program's exit status, failures reported. */
enum status run_open(struct run **out, const struct flow_case *c, const struct run_options *options,
                     MPI_Comm comm);

/* Advance to step `until` at most, with all that is due on the way. It returns earlier when the run
 * is over, when it is asked to stop (STATUS_STOPPED, with a checkpoint) or interrupted on any rank
 * (STATUS_OK). A failure ends the run: later calls return it again. */
enum status run_advance(struct run *r, int64_t until);

/* Write a checkpoint of the present step, unless there is one. */
enum status run_checkpoint(struct run *r);

/* Ask the run to stop at its next step, as a signal to one rank does. Not collective, and may be
 * called from a signal handler or another thread. */
void run_ask_to_stop(struct run *r);

/* End the run and write its reports. A run that is not over has stopped, with a checkpoint; that is
 * no failure. Returns the run's status. NULL: nothing. */
enum status run_close(struct run *r);

bool run_over(const struct run *r);
/* Is there no flow to look at: it was done before, or has failed? */
bool run_ended(const struct run *r);
int64_t run_step(const struct run *r);
struct grid *run_grid(struct run *r);
const char *run_folder(const struct run *r);
/* Set the factor of a value of the case that has `steer`, from the next step on; steer.h has the
 * errors. run_steered(): the present one; NULL: there is no such name. */
enum status run_steer(struct run *r, const char *name, double factor);
const double *run_steered(const struct run *r, const char *name);
/* The value of a column in the last row of a series that has one row a step, on all ranks. NAN:
 * this job has not written one yet. Collective. */
double run_value(const struct run *r, int series, int column);

#endif
